"""What a module that writes a host's sessions has to offer, and which hosts have one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile

WRITERS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi")
"""The hosts whose sessions can be written."""
IMPORTERS = ("opencode",)
"""Writers for hosts that have to take the new file in first: their module has `prepare` too, as `Importer` says."""
APPENDERS = ("claude", "codex")
"""Writers for hosts whose file takes a compaction from us: their module has `appended` too, as `Appender` says."""


class Writer(Protocol):
    """Writes a session of one host: a module `penstock.hosts.rescue.HOST` is one."""

    def new_session(self, path: str) -> tuple[str, str]:
        """Return a new id, and the path of its file beside another's."""
        ...

    def resume(self, session: str) -> list[str]:
        """Return the host's command that goes on with a session, in its folder."""
        ...

    def records(self, file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
        """Yield the records of a new session, which are written one a line.

        Args:
            file: the old session.
            lines: the messages, in order.
            session: the new id.
            now: the time, as ISO 8601 has it.
        """
        ...


class Importer(Writer, Protocol):
    """Writes a session of a host that reads no file by itself."""

    def prepare(self, path: str) -> list[str]:
        """Return the host's command that takes a file in; it comes before the one that goes on."""
        ...


class Appender(Protocol):
    """Writes what a host's file goes on with after a compaction: a module `penstock.hosts.rescue.HOST` may be one."""

    def appended(
        self, file: SessionFile, lines: Sequence[SessionLine], tokens: tuple[int, int], now: str
    ) -> Iterator[Record]:
        """Yield records that replace all that was said so far, to stand behind the last of a file.

        Args:
            file: the session.
            lines: the messages, in order.
            tokens: about what they took, and what they take now.
            now: the time, as ISO 8601 has it.
        """
        ...


def writer_of(host: str) -> Writer:
    """Return the module that writes a host's sessions."""
    return cast("Writer", import_module(f"penstock.hosts.rescue.{host}"))


def importer_of(host: str) -> Importer:
    """Return the module that writes what a host takes in."""
    return cast("Importer", import_module(f"penstock.hosts.rescue.{host}"))


def appender_of(host: str) -> Appender:
    """Return the module that appends to a host's sessions."""
    return cast("Appender", import_module(f"penstock.hosts.rescue.{host}"))
