"""How are answers kept for later runs? Under the hash of everything that they depend on, in files of one folder.

A result is kept as soon as it exists, so that a run that was killed continues where it stopped. Lines in it are counted within its
chunk: if a program grows above a paragraph, the answer about that paragraph still applies. Law: what is read is what was put, or
nothing; what was damaged is nothing. Leaves to others: whether a result is true, which is checked each time (`verification`).
"""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from penstock.errors import CallerError
from penstock.text.json_access import parsed
from penstock.workspace import own_files

if TYPE_CHECKING:
    from penstock.text.json_access import Json

MAX_BYTES = 8 << 20
"""The largest result that is read: no answer is larger."""
_NAME = re.compile(r"[0-9a-f]{64}")


class Results(Protocol):
    """A store of results; threads share one."""

    def get(self, key: str, /) -> Json:
        """Return what was put under a key, or None."""
        ...

    def put(self, key: str, value: Json, /) -> None:
        """Keep a value: once this returns, a kill does not lose it."""
        ...


def key_of(*parts: str) -> str:
    """Return a key for what depends on these parts: a hash of them, unambiguous about where each ends."""
    return sha256(json.dumps(parts).encode()).hexdigest()


class Folder:
    """Results in a private folder, made when the first is kept.

    The folder is private because answers repeat what a program says. Several runs may share it: each result is one file, written
    completely.

    Args:
        path: The folder.
        fresh: Whether earlier results are not read; new ones are still written.
    """

    def __init__(self, path: str, *, fresh: bool = False) -> None:
        above, name = os.path.split(os.path.abspath(path))
        self._path = os.path.join(os.path.realpath(above), name)
        self._is_fresh = fresh

    def get(self, key: str, /) -> Json:
        """Return what was put under a key; None for nothing and for what was damaged."""
        # Not even this run's own results: a question that occurs twice in it is asked twice.
        if self._is_fresh:
            return None
        content = own_files.read_own(self._file(key), MAX_BYTES)
        if content is None:
            return None
        digest, _, text = content.decode("utf-8", "replace").partition("\n")
        is_json, value = parsed(text)
        return value if is_json and digest == sha256(text.encode()).hexdigest() else None

    def put(self, key: str, value: Json, /) -> None:
        """Keep a value permanently.

        Raises:
            CallerError: The folder cannot be written, or a link leads out of it.
        """
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        # The hash is before the text, so that a read notices if a file system kept the name and lost the end of the data.
        content = f"{sha256(text.encode()).hexdigest()}\n{text}".encode()
        path = self._file(key)
        folder = os.path.dirname(path)
        # The folder is below the documents, where an untrusted repository may have put a link; what is above it is the user's own.
        if os.path.realpath(folder) != folder:
            raise CallerError(f"Results cannot be kept at {self._path}: a link there leads elsewhere")
        try:
            for made in (self._path, folder):  # the mode applies only to the last folder
                os.makedirs(made, mode=0o700, exist_ok=True)
            own_files.replace_own(path, content)
        except OSError as error:
            raise CallerError(f"Results cannot be kept at {self._path}: {error.strerror}") from error

    # One folder for each leading pair of digits, so that no folder has more files than tools handle well.
    def _file(self, key: str) -> str:
        if _NAME.fullmatch(key) is None:
            raise CallerError(f"{key!r} is not a key of a result")
        return os.path.join(self._path, key[:2], key)
