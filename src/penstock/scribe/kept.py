"""Where is what was read of an estate kept until the next question? In a sealed file of the user's own, one for each estate.

A file holds entries under keys, and a seal: a hash of all of it with a secret that is kept in another folder of the user's. So
nothing that was damaged, cut, brought from another machine or planted is ever taken for ours; it is discarded as a whole, with a
line that says so. Whoever asks for an entry names all that it depends on in its key.

Law: what is returned is what was kept under that key, or nothing. Nothing that goes wrong here fails a question: a folder that
cannot be used, a full disk, another process that writes the same file. Leaves to others: what an entry says (`graphing`).
"""

from __future__ import annotations

import gzip
import hmac
import json
import os
import secrets
import sys
import time
import zlib
from contextlib import closing, suppress
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from penstock import version
from penstock.errors import CallerError
from penstock.workspace.own_files import OwnFolder, cache_folder, create_own, read_own, replace_own, state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_BYTES = 256 << 20
"""The most that all estates may take, some 25 of a million lines: beyond it, those go that were not asked about for longest."""
MAX_DAYS = 30
"""After how many days without a question an estate goes."""
_READING = ("cobol", "text", "scribe")
"""The rooms whose code decides what is read of a file."""
_SECRET_BYTES = 32
_DAY_SECONDS = 86_400


_NAME = "penstock-impact"


def _expect_beside(folder: str, paths: Sequence[str]) -> None:
    """Raise CallerError if a folder is one of some paths, or within one."""
    real = os.path.join(os.path.realpath(folder), "")
    if any(real.startswith(os.path.join(path, "")) for path in paths):
        raise CallerError(
            f"{folder} is within what is read; XDG_CACHE_HOME and XDG_STATE_HOME may name folders elsewhere"
        )


class Kept:
    """The entries of one estate, from the last question about it and for the next.

    A context manager: what was found and what was added is kept at its end, and nothing else; after an error nothing changes.

    Args:
        paths: The files and folders that are read, real and absolute; nothing is kept within them.
        how: What else tells this reading from others. Another version of this program finds nothing.
        warn: Told in one sentence why something is not used or not kept.
    """

    def __init__(self, paths: Sequence[str], how: Sequence[str], warn: Callable[[str], None]) -> None:
        self._paths, self._warn = paths, warn
        self._how = (*paths, *how)
        self._folder = self._name = ""
        self._secret: bytes | None = None
        self._found: dict[str, bytes] = {}
        self._next: dict[str, bytes] = {}

    def __enter__(self) -> Kept:
        """Read what was kept."""
        try:
            self._folder = os.path.join(cache_folder(), _NAME)
            key_folder = os.path.join(state_folder(), _NAME)
            for folder in (self._folder, key_folder):
                _expect_beside(folder, self._paths)
            self._name = f"{_hash(json.dumps([*self._how, _this_version()]).encode())[:32]}.gz"
            self._secret = _secret(key_folder)
            with closing(OwnFolder(self._folder)) as own:
                self._found = self._read(own)
        except (OSError, CallerError) as error:
            self._give_up(error)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Keep what the next question may ask for."""
        if kind is not None or self._secret is None:
            return
        try:
            with closing(OwnFolder(self._folder)) as folder:
                if self._next == self._found:
                    with suppress(FileNotFoundError):  # another process may have removed it
                        os.utime(os.path.join(folder.path, self._name))
                else:
                    self._write(folder)
        except (OSError, CallerError) as error:
            self._give_up(error)

    def get(self, key: str) -> bytes | None:
        """Return the entry under a key; None if there is none."""
        return self._found.get(key)

    def put(self, key: str, entry: bytes) -> None:
        """Keep an entry for the next question; one that was found and is not put again goes."""
        self._next[key] = entry

    def _give_up(self, error: OSError | CallerError) -> None:
        """Keep nothing, and say why."""
        self._secret = None
        reason = str(error)
        if isinstance(error, OSError):
            reason = f"{error.filename or self._folder}: {error.strerror or error}"
        self._warn(f"The next question reads everything again, because nothing can be kept: {reason}")

    def _read(self, folder: OwnFolder) -> dict[str, bytes]:
        """Return the entries of the estate; none if its file is not as we left it."""
        try:
            content = folder.read(self._name, MAX_BYTES)
        except FileNotFoundError:
            return {}
        entries, seal = content[:-_SEAL_BYTES], content[-_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(entries)):
            path = os.path.join(folder.path, self._name)
            self._warn(f"Everything is read again, because what was kept is damaged or not from here: {path}")
            return {}
        first = zlib.decompressobj(wbits=_GZIP)
        listed = json.loads(first.decompress(entries))
        begin = len(entries) - len(first.unused_data)
        found = {}
        for key, size in listed:
            found[key] = entries[begin : begin + size]
            begin += size
        return found

    def _write(self, folder: OwnFolder) -> None:
        """Replace the file of the estate, and remove what is too old or too much. Raises OSError."""
        listed = json.dumps([(key, len(entry)) for key, entry in self._next.items()])
        entries = b"".join([_line(listed), *self._next.values()])
        if len(entries) + _SEAL_BYTES > MAX_BYTES:
            raise CallerError(f"it would take {len(entries)} bytes, more than {MAX_BYTES}")
        # Not flushed: a power cut may cost an entry, and the seal shows it.
        folder.replace(self._name, [entries, self._seal(entries)])
        _remove_old(folder, self._name)

    def _seal(self, entries: bytes) -> bytes:
        """Return the seal of some entries as those of this estate, in as many bytes as any other."""
        secret = self._secret or b""
        sealed = hmac.digest(secret, self._name.encode() + b"\n" + entries, "sha256").hex()
        return gzip.compress(f"{sealed}\n".encode(), 0, mtime=0)


_GZIP = 31  # zlib's number for a stream with the head and tail of gzip
_SEAL_BYTES = len(gzip.compress(b"0" * 64 + b"\n", 0, mtime=0))


def _line(text: str) -> bytes:
    """Return a line, compressed: several of them, joined, are a file that `zcat` shows."""
    return gzip.compress(f"{text}\n".encode(), 1, mtime=0)


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def _remove_old(folder: OwnFolder, newest: str) -> None:
    """Remove the files that no question has used for long, and the oldest while all together are too large."""
    room = MAX_BYTES
    oldest = time.time() - MAX_DAYS * _DAY_SECONDS
    found = []
    for name in folder.names():
        with suppress(FileNotFoundError):  # another process does the same
            status = os.lstat(os.path.join(folder.path, name))
            found.append((name == newest, status.st_mtime, status.st_size, name))
    for is_newest, used, size_bytes, name in sorted(found, reverse=True):
        room -= size_bytes
        if not is_newest and (room < 0 or used < oldest):
            with suppress(OSError):
                folder.remove(name)


def _secret(folder: str) -> bytes:
    """Return the secret of this user's seals, made at first use. Raises OSError, and CallerError for a folder of somebody else."""
    path = os.path.join(folder, "key")
    with closing(OwnFolder(folder)):
        for _ in range(2):
            secret = read_own(path)
            if secret is not None and len(secret) == _SECRET_BYTES:
                return secret
            if secret is None:
                create_own(path, secrets.token_bytes(_SECRET_BYTES))  # a second process reads the first's
            else:
                replace_own(path, secrets.token_bytes(_SECRET_BYTES))
        raise CallerError(f"{path} is not what was written to it")


@cache
def _this_version() -> str:
    """Return what tells this program from others that may read a file otherwise: its number, its code, and that of the language."""
    digest = sha256(f"{version.__version__} {sys.version}".encode())
    here = os.path.dirname(version.__file__)
    for room in _READING:
        for folder, _, names in sorted(os.walk(os.path.join(here, room))):
            for name in sorted(names):
                if name.endswith(".py"):
                    content = read_own(os.path.join(folder, name), MAX_BYTES) or b""
                    digest.update(f"{folder.removeprefix(here)}/{name} {len(content)}\n".encode())
                    digest.update(content)
    return digest.hexdigest()
