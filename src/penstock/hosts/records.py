"""What did Penstock put into which configuration, and what did that hold before? One private file each, next to the user's store
(H-3).

A record is written before its configuration: a kill in between leaves a record of something absent, which is detected, and never an
unrecorded change. Leaves to others: what is put there (`parts`).
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from penstock.errors import CallerError, PenstockError
from penstock.workspace import own_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_BYTES = 256 << 20


@dataclass(frozen=True, kw_only=True)
class Record:
    """What was done to one file.

    Attributes:
        path: The file, links followed.
        base: Its content without anything of ours; None for no file.
        last: What we left.
        parts: The parts that we put there, each with the hosts that it is for.
        folders: The folders that we created for it, the outermost first.
    """

    path: str
    base: str | None
    last: str | None
    parts: Mapping[str, tuple[str, ...]]
    folders: tuple[str, ...] = field(default=())


class CannotRememberError(PenstockError):
    """A change cannot be recorded, and is not made."""


class InstallRecords:
    """All records of a user, in a folder of their own."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> InstallRecords:
        """Return the records of the user whose environment this is, next to the user's store."""
        return cls(os.path.join(own_files.state_folder(environment), "penstock-hosts"))

    def backup(self, path: str) -> str:
        """Return the path of a file's original content, as a file that a person can copy back."""
        return os.path.join(self.folder, f"{_name(path)}.before")

    def find(self, path: str) -> Record | None:
        """Return the record of a file; None if there is none, or it cannot be read."""
        raw = own_files.read_own(os.path.join(self.folder, f"{_name(path)}.json"), _MAX_BYTES)
        try:
            value = json.loads(raw or b"")
            if value["path"] != path:
                return None
            parts = {str(part): tuple(map(str, hosts)) for part, hosts in value["parts"].items()}
            folders = tuple(value["folders"])
            return Record(path=path, base=value["base"], last=value["last"], parts=parts, folders=folders)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, record: Record) -> None:
        """Write a record and the backup. Raises CannotRememberError or CallerError; then nothing else was done."""
        raw = json.dumps({"format": 1, **asdict(record)}).encode()
        if len(raw) >= _MAX_BYTES:
            raise CallerError(f"{record.path} is too large")
        try:
            if record.base is not None:
                own_files.replace_own(self.backup(record.path), record.base.encode())
            own_files.replace_own(os.path.join(self.folder, f"{_name(record.path)}.json"), raw)
        except OSError as error:
            raise self._cannot(error) from error

    def forget(self, path: str) -> None:
        """Remove the record of a file and its backup."""
        with closing(own_files.OwnFolder(self.folder)) as folder:
            folder.remove(f"{_name(path)}.json")
            folder.remove(f"{_name(path)}.before")

    def remains(self) -> list[str]:
        """Return the names of files left by a killed process: a backup without a record, a half-written file."""
        try:
            names = set(os.listdir(self.folder))
        except OSError:
            return []
        return [
            name
            for name in names
            if name.startswith(".")
            or (name.endswith(".before") and f"{name.removesuffix('.before')}.json" not in names)
        ]

    def tidy(self) -> None:
        """Remove what a killed process has left; the folder's lock is held."""
        if remains := self.remains():
            with closing(own_files.OwnFolder(self.folder)) as folder:
                for name in remains:
                    folder.remove(name)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder, created if missing, against other processes of Penstock.

        Raises:
            CannotRememberError: It cannot be created.
            CallerError: It cannot be trusted: it belongs to another user, or is open to others.
            ToolError: `busy`: others hold it for too long.
        """
        try:
            with closing(own_files.OwnFolder(self.folder)):
                pass
        except OSError as error:
            raise self._cannot(error) from error
        with own_files.alone_in_own(self.folder):
            yield

    def _cannot(self, error: OSError) -> CannotRememberError:
        said = f"{self.folder}: {error.strerror}. What was there before cannot be kept, so nothing more is changed."
        return CannotRememberError(said)


def _name(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:24]
