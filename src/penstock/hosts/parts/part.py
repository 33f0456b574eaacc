"""What must a module offer that puts one part of Penstock into a host's configuration, and what is it given for that (H-3)?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.catalogue import ConfigFile, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path, Remembered

NAME = "penstock"
"""The name of our MCP server in every host."""
GATEWAY_ADDRESS = "http://127.0.0.1:4000"
"""Where `penstock gateway` listens by default."""


class Reach(NamedTuple):
    """How a host reaches Penstock."""

    program: Sequence[str]
    """The words that start it."""
    address: str = GATEWAY_ADDRESS
    """The gateway's address, without the prefix of a host's own paths."""


class StartLine(NamedTuple):
    """How a host starts a part: the words of a command line, and its environment variables."""

    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


class Part(Protocol):
    """One thing that can be installed: implemented by the modules of this folder."""

    def file_of(self, host: HostConfig) -> ConfigFile | None:
        """Return the host's file that the part goes into; None if the host has no place for it."""
        ...

    def containers(self, host: HostConfig) -> list[Path]:
        """Return the paths of the objects and lists that the part goes into; only for a host that has a place for it."""
        ...

    def add(
        self, document: Document, host: HostConfig, reach: Reach, known: Remembered, *, is_renewed: bool
    ) -> list[str]:
        """Add the part to a configuration if it is not there yet.

        Args:
            document: The configuration; it is changed.
            host: Whose it is; it has a place for the part.
            reach: How it is to reach Penstock.
            known: The configuration's earlier values.
            is_renewed: Whether the existing part is ours, and is to reach Penstock where it is now.

        Returns:
            What a person should know: that something of theirs is in the way.

        Raises:
            CannotEditError: It has no place for the part.
        """
        ...

    def take(self, document: Document, host: HostConfig, known: Remembered) -> bool:
        """Take the part out of a configuration. Returns whether it was there; raises CannotEditError if that is not safe."""
        ...

    def has(self, document: Document, host: HostConfig, known: Remembered) -> bool:
        """Return whether a configuration has the part."""
        ...

    def start_lines(self, document: Document, host: HostConfig) -> list[StartLine]:
        """Return how a host starts the part: nothing for rules, one line per server behind a relay, the gateway's address."""
        ...
