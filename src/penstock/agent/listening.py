"""Where in a folder does a program listen on a socket? A socket is a file, but who may write to it may ask for anything.

A network of its own does not divide sockets that have a name in the file system: whoever sees the file reaches the program. In a
home that is the agent that holds the keys, or a container engine that gives everything; in a project, a terminal or an editor
that can be told what to run. Law: a file that nobody listens on, as a test leaves it behind, is not among them. Leaves to others:
how a command is kept from them (`sandbox`). Source: unix(7), proc(5) on `/proc/net/unix`.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Seven columns of numbers, then the name, in which anything may stand; `@` is in front of a name that is no file's.
_NAME = re.compile(rb"^(?:\S+ +){7}([^@\n].*)", re.MULTILINE)


def listening(folders: Iterable[str]) -> list[str]:
    """Return the sockets beneath folders that have a program at their other end.

    A program in another network, such as a container's, is not seen.

    Args:
        folders: absolute, without links in their paths.
    """
    within = tuple(f"{folder.rstrip('/')}/" for folder in folders)
    named = _named()
    # The table has the names as the programs gave them, so one without a `/` in front counts from where such a program is.
    here = {*_current_folders(), *within} if any(not name.startswith("/") for name in named) else {"/"}
    found = {_without_links(os.path.join(folder, name)) for name in named for folder in here}
    return sorted(path for path in found if path.startswith(within) and _is_socket(path))


def _named() -> set[str]:
    """Return the names of all sockets that have one in the file system."""
    from penstock.workspace.own_files import open_own

    try:
        with open_own("/proc/net/unix") as file:
            file.readline()  # the heads of the columns
            return set(map(os.fsdecode, _NAME.findall(file.read())))
    except OSError:  # there is no /proc, or none with it
        return set()


def _current_folders() -> Iterator[str]:
    """Yield the current folders of the user's processes."""
    for process in os.listdir("/proc"):
        if process.isdecimal():
            try:
                yield os.readlink(f"/proc/{process}/cwd")
            except OSError:  # another user's, or it has ended
                continue


def _without_links(path: str) -> str:
    """Return the path of an entry with its folder resolved; the entry itself may be anything."""
    folder, name = os.path.split(os.path.normpath(path))
    return os.path.join(os.path.realpath(folder), name)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
