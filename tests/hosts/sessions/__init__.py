"""The readers of other agents' session files."""
