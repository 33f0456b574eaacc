"""The context-window layer for LLM agents: read anything, overflow never, lose nothing."""

__version__ = "0.1.0"
