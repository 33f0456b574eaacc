"""The folder that documents go to: each is written whole or not at all, and what is there already and says the same is left alone.

A file that is left alone keeps its time, so that a second run over an unchanged estate changes nothing that a backup, a web
server or a `git status` would see. Several runs may write there at once: of each file, what came last stays. Law: nothing
outside the folder is written, no link within it is followed. Keeps out: what is written.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.text import escape
from penstock.workspace.root import Root
from penstock.workspace.system import read_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.workspace.system import Folder

_TRIES = 10  # of one file, where somebody else writes it at the same time


class Output:
    """A folder for documents, made where there is none; `written` counts the files that changed.

    Raises:
        CallerError: The folder cannot be made.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.written = 0
        self._was_there = os.path.isdir(self.path)
        try:
            os.makedirs(self.path, exist_ok=True)
        except OSError as error:
            raise CallerError(f"Documents cannot be written to {escape.clip(path)}: {error.strerror}") from error
        self._root = Root(self.path)

    def leave(self) -> None:
        """Take the folder away again, where it was made for this and nothing was written."""
        if not self._was_there:
            with suppress(OSError):  # somebody else has put something there by now
                os.rmdir(self.path)

    def folder(self, name: str) -> str:
        """Return the path of a folder beneath it."""
        return os.path.join(self.path, name)

    def write(self, path: str, text: str) -> None:
        """Give the file at a path beneath the folder its text.

        Raises:
            CallerError: What the disk says.
        """
        self.write_beside([(path, text)])

    def write_beside(self, files: Sequence[tuple[str, str]]) -> None:
        """Give files directly in one folder their texts, each at its path.

        Raises:
            CallerError: What the disk says.
        """
        waiting = [(os.fsencode(path), text.encode("utf-8", "backslashreplace")) for path, text in files]
        # Between the look at what is there and its replacement somebody else may write the same file: then `replace_file`
        # refuses, and we look again. Two runs that go on like that for ten turns are not two runs.
        tries_left = _TRIES - 1
        while waiting:
            try:
                with self._root.alone_with(waiting[0][0]) as folder:
                    while waiting:
                        self._write(*waiting[0], folder)
                        del waiting[0]
                        tries_left = _TRIES - 1
            except ToolError as error:
                if error.code != "stale" or not tries_left:
                    raise CallerError(error.message) from error
                tries_left -= 1

    def _write(self, relative: bytes, content: bytes, folder: Folder | None) -> None:
        """Write one file of a folder that is held, where what is there says something else."""
        known = self._known(relative, folder)
        if known != content:
            # Not flushed: a document that a power cut takes is made again by the next run, which looks at what is there. Two
            # flushes a file were more than half of a run's time on a disk.
            self._root.replace_file(relative, content, known, flushes=False, folder=folder)
            self.written += 1

    def _known(self, relative: bytes, folder: Folder | None) -> bytes | None:
        """Return what is there; None where nothing is."""
        try:
            if folder is not None:  # in most runs there is nothing, and to say so in words takes longer than to look
                try:
                    self._root.status_in(folder, relative.rpartition(b"/")[2])
                except FileNotFoundError:
                    return None
            file = self._root.open_file(relative)
        except ToolError as error:
            if error.code == "not_found":
                return None
            raise
        try:
            parts = []
            at = 0
            while part := read_at(file.descriptor, 1 << 20, at):
                parts.append(part)
                at += len(part)
            return b"".join(parts)
        finally:
            file.close()
