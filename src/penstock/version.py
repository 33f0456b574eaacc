"""Which version is this? The number that commands, servers, requests and documents name."""

__version__ = "0.1.0"
