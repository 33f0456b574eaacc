"""What must a module offer that writes a host's sessions, and which hosts have one?"""

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
"""Writers for hosts that must import the new file first: their module also has `prepare`, as in `Importer`."""
APPENDERS = ("claude", "codex")
"""Writers for hosts whose file accepts an appended compaction: their module also has `appended`, as in `Appender`."""


class Writer(Protocol):
    """Writes a session of one host: implemented by a module `penstock.hosts.rescue.HOST`."""

    def new_session(self, path: str) -> tuple[str, str]:
        """Return a new id, and the path of its file next to another's."""
        ...

    def resume(self, session: str) -> list[str]:
        """Return the host's command that resumes a session, in its folder."""
        ...

    def records(self, file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
        """Yield the records of a new session, which are written one per line.

        Args:
            file: the old session.
            lines: the messages, in order.
            session: the new id.
            now: the time in ISO 8601.
        """
        ...


class Importer(Writer, Protocol):
    """Writes a session of a host that does not read files by itself."""

    def prepare(self, path: str) -> list[str]:
        """Return the host's command that imports a file; it precedes the one that resumes."""
        ...


class Appender(Protocol):
    """Writes what follows a compaction in a host's file: implemented by some modules `penstock.hosts.rescue.HOST`."""

    def appended(
        self, file: SessionFile, lines: Sequence[SessionLine], tokens: tuple[int, int], now: str
    ) -> Iterator[Record]:
        """Yield records that replace everything said so far, to be appended to a file.

        Args:
            file: the session.
            lines: the messages, in order.
            tokens: their approximate size before and now.
            now: the time in ISO 8601.
        """
        ...


def writer_of(host: str) -> Writer:
    """Return the module that writes a host's sessions."""
    return cast("Writer", import_module(f"penstock.hosts.rescue.{host}"))


def importer_of(host: str) -> Importer:
    """Return the module that writes files for a host's import."""
    return cast("Importer", import_module(f"penstock.hosts.rescue.{host}"))


def appender_of(host: str) -> Appender:
    """Return the module that appends to a host's sessions."""
    return cast("Appender", import_module(f"penstock.hosts.rescue.{host}"))
