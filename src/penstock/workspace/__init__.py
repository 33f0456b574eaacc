"""What is on disk? One root, the only opens in the package."""
