"""What confines a serving process if `root` has a hole? A second wall, built by the kernel.

Landlock (Linux 5.13 and newer) permanently takes rights away from this thread and all that it starts: files may be read beneath the
root and where Python's own modules are, nothing but the store may be written, and no TCP connection may be made or accepted. Law:
after `apply`, nothing outside the given paths can be opened. Leaves to others: when to apply it (`mcp_server`: only a serving
process does, never a library call).
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from penstock.workspace.system import path_handle, prctl, syscall

if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_PR_SET_NO_NEW_PRIVS = 38
_VERSION, _PATH_BENEATH = 1, 1

# linux/landlock.h: how many file rights each ABI knows; rights unknown to a kernel must not be requested.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
EXECUTE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
"""The rights to run a file, to read it, and to list a folder."""
MAKE_DEVICES, CONTROL_DEVICES = 1 << 6 | 1 << 11, 1 << 15
"""The rights to make character and block devices, and to control those that are there."""
_OF_FILES = READ_FILE | 1 << 1 | 1 << 14  # only read, write and truncate apply to a file
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1  # ABI 4
_ABSTRACT_UNIX_SOCKETS, _SIGNALS = 1 << 0, 1 << 1  # ABI 6


class _Denied(ctypes.Structure):
    """`struct landlock_ruleset_attr`: which rights are taken away unless a rule grants them."""

    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    """`struct landlock_path_beneath_attr`: the rights that a rule grants for a folder and everything beneath it."""

    _pack_ = 1
    _layout_ = "ms"  # the layout of a packed structure; Python 3.19 requires it
    _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]


class Status(NamedTuple):
    """Whether the wall is up, as `penstock doctor` prints it."""

    abi: int
    """The version of Landlock that the kernel offers; 0 means none."""
    in_force: bool
    reason: str
    """Why the wall is not up; "" if it is."""


_in_force = False


def abi() -> int:
    """Return the version of Landlock that this kernel offers; 0 if it offers none."""
    if sys.platform != "linux":
        return 0
    try:
        return syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


class Ruleset:
    """A wall in the making: every right that this kernel knows is taken away, except where `allow` grants it.

    Attributes:
        file_rights: all rights to files that this kernel knows.

    Raises:
        OSError: The kernel refuses it.
    """

    def __init__(self) -> None:
        offered = abi()
        # What is named here is forbidden unless a rule allows it, so all rights that this kernel knows are named. Unknown bits make
        # it refuse the whole ruleset.
        self.file_rights = (1 << _FILE_RIGHTS[min(offered, 5)]) - 1
        denied = _Denied(
            self.file_rights,
            _BIND_TCP | _CONNECT_TCP if offered >= 4 else 0,
            _ABSTRACT_UNIX_SOCKETS | _SIGNALS if offered >= 6 else 0,
        )
        # The structure grew with each version; an older kernel refuses a longer one with anything set in the rest.
        size = 24 if offered >= 6 else 16 if offered >= 4 else 8
        self._descriptor = syscall(_CREATE_RULESET, ctypes.byref(denied), size, 0)

    def allow(self, paths: Iterable[str | int], rights: int) -> None:
        """Grant rights at paths or open folders, with everything beneath them. A missing path gets no rule, and so no rights."""
        for path in paths:
            with suppress(OSError):
                self._allow(path, rights)

    def _allow(self, path: str | int, rights: int) -> None:
        """Add a rule for one path, with those of the rights that apply to it. Raises OSError."""
        handle = path if isinstance(path, int) else path_handle(path)
        try:
            if not stat.S_ISDIR(os.fstat(handle).st_mode):
                rights &= _OF_FILES
            syscall(_ADD_RULE, self._descriptor, _PATH_BENEATH, ctypes.byref(_Beneath(rights, handle)), 0)
        finally:
            if handle != path:
                os.close(handle)

    def enforce(self) -> None:
        """Put the wall up around this thread and all that it starts, permanently. Raises OSError."""
        # Landlock requires this of processes without CAP_SYS_ADMIN: otherwise a set-user-id program could get around the wall.
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        syscall(_RESTRICT_SELF, self._descriptor, 0)

    def close(self) -> None:
        """Close the ruleset; a wall that is up stays up."""
        os.close(self._descriptor)


def status() -> Status:
    """Return whether the wall is up in this process, and if not, why."""
    offered = abi()
    if _in_force:
        return Status(offered, in_force=True, reason="")
    if offered == 0:
        return Status(0, in_force=False, reason="this kernel offers no Landlock")
    return Status(offered, in_force=False, reason="only `penstock mcp` puts it up, in its own process")


def apply(readable: Iterable[str | int], writable: Iterable[str | int] = ()) -> Status:
    """Permanently take every right but the given ones away from this process.

    Call it once, after imports and before threads: a thread that is already running keeps its rights. What cannot be done on this
    kernel is reported, never raised.

    Args:
        readable: Paths or open folders that may be read, with everything beneath them.
        writable: Paths or open folders beneath which files may be created, changed and removed; nothing may be executed there.

    Returns:
        Whether the wall is up now, and if not, why.
    """
    global _in_force  # noqa: PLW0603  the wall belongs to the process, not to an object
    offered = abi()
    if offered == 0:
        return status()
    try:
        with closing(Ruleset()) as rules:
            rules.allow(readable, READ_FILE | READ_FOLDER)
            rules.allow(writable, rules.file_rights & ~EXECUTE & ~CONTROL_DEVICES)
            rules.enforce()
    except OSError as error:
        return Status(offered, in_force=False, reason=f"the kernel refused it: {error.strerror}")
    _in_force = True
    return status()


def import_paths() -> list[str]:
    """Return the folders from which modules and their libraries come: what a running Python may still have to read.

    Only those entries of `sys.path` count from which a module was loaded, so that a person's current folder is not let in.
    """
    folders = {os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    folders.update(
        path for path in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib") if os.path.isdir(path)
    )
    searched = {os.path.realpath(entry) for entry in sys.path}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and "." not in name:
            folder = os.path.dirname(os.path.realpath(file))
            folders.update({os.path.dirname(folder) if hasattr(module, "__path__") else folder} & searched)
    return sorted(folders)
