"""What was derived from a journal? A summary kept next to it, valid as long as the journal is the one it was made from.

A summary is sealed with the hash of the newest record, and returned only after every record has been checked: nothing else leads to
that hash. Law: what is returned is what would be made again, whatever was added, removed or damaged since. It is removed with its
session, in the same transaction; nothing kept is removed to make room for it. Leaves to others: what is made of a journal, and by
which version.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.store.kept import StoreFault
from penstock.store.records import JournalTables

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST_SHARE = 4  # a summary takes at most a fourth of what its session takes


class SummaryTables(JournalTables):
    """Journals in the tables of a database, and summaries of them; `Database` has the arguments."""

    def newest_hash(self, session: str) -> str:
        """Return the hash of the newest record of a session, "" without one; `Store.newest_hash` says more."""
        rows = self._read("SELECT sha256 FROM records WHERE session = ? ORDER BY seq DESC LIMIT 1", (session,))
        return str(rows[0][0]) if rows else ""

    def summary(self, session: str) -> str | None:
        """Return the summary of a journal that has not changed since; `Store.summary` says more."""
        # A faulty summary can be rebuilt and concerns nobody; whoever reads the journal is told of its faults.
        with suppress(StoreFault, ToolError):
            rows = self._read("SELECT text, seal FROM summaries WHERE session = ?", (session,))
            if rows and rows[0][1] == _seal(self.newest_hash(session), rows[0][0]):
                newest = ""
                for row in self._checked(session):
                    newest = row.sha256
                if rows[0][1] == _seal(newest, rows[0][0]):
                    return str(rows[0][0])
        return None

    def keep_summaries(self, made: Mapping[str, tuple[str, str]]) -> None:
        """Keep the summaries of some sessions; `Store.keep_summaries` says more."""
        with self._writing() as execute:
            for session, (newest, text) in made.items():
                # A session may have been removed meanwhile: its summary would stay.
                taken = execute("SELECT bytes FROM sessions WHERE session = ?", (session,))
                if taken and len(text) * _LARGEST_SHARE <= taken[0][0]:
                    execute("DELETE FROM summaries WHERE session = ?", (session,))
                    row = (session, text, _seal(newest, text))
                    execute("INSERT INTO summaries VALUES (?, ?, ?)", row)

    def _summary_bytes(self) -> int:
        """Return what the summaries take, roughly."""
        return int(self._read("SELECT COALESCE(SUM(LENGTH(text)), 0) FROM summaries")[0][0])


def _seal(newest_hash: str, text: str) -> str:
    """Return the seal that a summary must carry; no other session has the record's hash."""
    return sha256(f"{newest_hash}\n{text}".encode()).hexdigest()
