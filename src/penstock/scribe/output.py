"""Where do documents go? To a folder: each is written completely or not at all, and a file with the same content is left alone.

A file that is left alone keeps its time, so that a second run over an unchanged estate changes nothing that a backup, a web server
or `git status` would see. Several runs may write there at once: the last version of each file stays. Law: nothing outside the
folder is written, and no link in it is followed. Leaves to others: what is written.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.text import escape
from penstock.workspace import writing
from penstock.workspace.root import Root
from penstock.workspace.system import read_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.workspace.system import Folder

SITE_FILES = (
    *("run.json", "index.json", "index.md", "index.html", "resources.html", "data.html", "parts.html", "flows.html"),
    *("style.css", "site.js", "graph.js", "search.js", "estate.js"),
)
"""The files of a site that are directly in its folder; others are in folders of their own."""
_SITE_SIGNS = ("estate.js", "index.json", "site.js")
_PAGE_FOLDERS = ("programs/", "copybooks/")
_PAGE_SUFFIXES = (".html", ".md", ".js", ".json", ".css", ".csv", ".svg", ".graphml")
# `index.json` is the first of them that a run writes and `run.json` the last: a run that was killed leaves one that shows whose
# they are, or none.
_SIGNS = {"run.json": {"penstock_version"}, "index.json": {"programs", "jobs"}}
_TRIES = 10  # per file, if another process writes it at the same time


def without_sites(paths: Sequence[str]) -> Iterator[str]:
    """Yield the paths of files without those of sites that earlier runs have written.

    A site may lie among its sources (`penstock document . --out docs`). Its files say nothing of the estate, and a COPY would find
    a page of its name.

    Args:
        paths: All files of some folders.
    """
    known = set(paths)
    ends = [path.removesuffix(_SITE_SIGNS[0]) for path in paths if path.endswith(_SITE_SIGNS[0])]
    sites = [folder for folder in ends if all(folder + name in known for name in _SITE_SIGNS)]
    written = {folder + inner for folder in sites for inner in ("", *_PAGE_FOLDERS)}
    for path in paths:
        if path[: path.rfind("/") + 1] not in written or not path.endswith(_PAGE_SUFFIXES):
            yield path


class Output:
    """A folder for documents, made if it does not exist; `written` counts the files that changed.

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
        # A program may be called PASSWORD, and its document is PASSWORD.json: all that is read here was written here.
        self._root = Root(self.path, allow_secrets=True)

    def leave(self) -> None:
        """Remove the folder if it was made for this run and nothing was written."""
        if not self._was_there:
            with suppress(OSError):  # another process has put something there by now
                os.rmdir(self.path)

    def expect_own(self) -> None:
        """Refuse a folder in which somebody else's files have the names of a site's.

        Raises:
            CallerError: A file there would be replaced that no earlier run has written.
        """
        theirs = next((name for name in SITE_FILES if os.path.lexists(self.folder(name))), None)
        if theirs is None or any(keys <= self._keys(name) for name, keys in _SIGNS.items()):
            return
        raise CallerError(
            f"{escape.clip(self.folder(theirs), 400)} was not written by `penstock document`, which would replace it: name "
            "another folder with --out, or move that file away"
        )

    def _keys(self, name: str) -> set[str]:
        """Return the keys of a file that is a JSON object; none if it is anything else."""
        try:
            value = json.loads(self._known(os.fsencode(name), None) or b"")
        except (ToolError, ValueError, RecursionError):
            return set()
        return set(value) if isinstance(value, dict) else set()

    def folder(self, name: str) -> str:
        """Return the path of a folder below this one."""
        return os.path.join(self.path, name)

    def write(self, path: str, text: str) -> None:
        """Write a text to the file at a path below the folder.

        Raises:
            CallerError: The file cannot be written; the message is the disk's.
        """
        self.write_beside([(path, text)])

    def write_beside(self, files: Sequence[tuple[str, str]]) -> None:
        """Write texts to files that are all directly in one folder, each at its path.

        Raises:
            CallerError: A file cannot be written; the message is the disk's.
        """
        waiting = [(os.fsencode(path), text.encode("utf-8", "backslashreplace")) for path, text in files]
        # Between the look at a file and its replacement another process may write it: then `replace_file` refuses, and we look
        # again. Two runs that do so for ten turns are not two runs.
        tries_left = _TRIES - 1
        while waiting:
            try:
                with writing.alone_with(self._root, waiting[0][0]) as folder:
                    while waiting:
                        self._write(*waiting[0], folder)
                        del waiting[0]
                        tries_left = _TRIES - 1
            except ToolError as error:
                if error.code != "stale" or not tries_left:
                    raise CallerError(error.message) from error
                tries_left -= 1

    def _write(self, relative: bytes, content: bytes, folder: Folder | None) -> None:
        """Write one file of a folder that is held open, if its content differs."""
        known = self._known(relative, folder)
        if known != content:
            # Not flushed: a document lost in a power cut is made again by the next run, which looks at what is there. Two flushes
            # per file took more than half of a run's time on a disk.
            writing.replace_file(self._root, relative, content, known, flushes=False, folder=folder)
            self.written += 1

    def _known(self, relative: bytes, folder: Folder | None) -> bytes | None:
        """Return the present content of a file; None if there is no file."""
        try:
            if folder is not None:  # mostly there is no file, and making that error's message takes longer than a look
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
