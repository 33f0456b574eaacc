"""What Penstock put into which configuration, and what that held before: one private file for each, beside the user's store (H-3).

A record is written before the configuration that it is about: a kill between both leaves a record of what is not there, which is
seen, and never a change that nobody remembers. Keeps out: what is put there (`parts`).
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.workspace import own_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

_MAX_BYTES = 256 << 20


@dataclass(frozen=True, kw_only=True)
class Record:
    """What was done to one file.

    Attributes:
        path: The file, links followed.
        base: What it holds without anything of ours; None for no file.
        last: What we left.
        parts: The parts that we put there, each with the hosts that it was put there for.
        folders: The folders that we made for it, the outermost first.
    """

    path: str
    base: str | None
    last: str | None
    parts: Mapping[str, tuple[str, ...]]
    folders: tuple[str, ...] = field(default=())


class Records:
    """All records of a user, in a folder of their own."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @classmethod
    def of(cls, home: str, environment: Mapping[str, str]) -> Records:
        """Return those of a user, beside the folder of the user's store."""
        state = environment.get("XDG_STATE_HOME") or ""
        if not os.path.isabs(state):  # the XDG specification: relative ones are to be ignored
            state = os.path.join(home, ".local", "state")
        return cls(os.path.join(state, "penstock-hosts"))

    def backup(self, path: str) -> str:
        """Return where the content of a file lies as it was before us, as a file that a person can copy back."""
        return os.path.join(self.folder, f"{_name(path)}.before")

    def find(self, path: str) -> Record | None:
        """Return the record of a file, None where there is none, or none that can be read."""
        raw = own_files.read_own(os.path.join(self.folder, f"{_name(path)}.json"), _MAX_BYTES)
        try:
            value = json.loads(raw or b"")
            parts = {str(part): tuple(map(str, hosts)) for part, hosts in value["parts"].items()}
            record = Record(path=value["path"], base=value["base"], last=value["last"], parts=parts)
            return None if record.path != path else Record(**{**vars(record), "folders": tuple(value["folders"])})
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, record: Record) -> None:
        """Write a record and the backup. Raises OSError or CallerError; nothing else was done then."""
        with closing(own_files.OwnFolder(self.folder)):  # makes it, and looks whether it is private
            pass
        if record.base is not None:
            own_files.replace_own(self.backup(record.path), record.base.encode())
        raw = json.dumps({"format": 1, **asdict(record)}).encode()
        if len(raw) >= _MAX_BYTES:
            raise CallerError(f"{record.path} is too large")
        own_files.replace_own(os.path.join(self.folder, f"{_name(record.path)}.json"), raw)

    def forget(self, path: str) -> None:
        """Remove the record of a file and its backup."""
        with closing(own_files.OwnFolder(self.folder)) as folder:
            folder.remove(f"{_name(path)}.json")
            folder.remove(f"{_name(path)}.before")

    def lock(self) -> AbstractContextManager[None]:
        """Return a context in which no other process of Penstock installs or uninstalls."""
        with closing(own_files.OwnFolder(self.folder)):
            pass
        return own_files.alone_in_own(self.folder)


def _name(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:24]
