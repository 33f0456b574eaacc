"""Another system's Python, as far as removing names from this one can imitate it: for tests that start their own process.

`pose("darwin")` removes what only Linux has; `pose("win32")` also removes folder descriptors, users, modes, forks and the modules
of POSIX, and makes the remaining calls fail as on Windows: an open file cannot be removed, an existing name cannot be renamed onto,
a read-only descriptor cannot be flushed. It cannot imitate other separators, drives, or the real file systems.
"""

from __future__ import annotations

import asyncio  # noqa: F401 - what is loaded before `pose` keeps working
import concurrent.futures  # noqa: F401
import ctypes
import errno
import importlib
import importlib.metadata
import logging.handlers  # noqa: F401
import os
import platform
import select
import signal
import socket
import sqlite3  # noqa: F401
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import types
from contextlib import suppress
from typing import Any

_LINUX = """
    O_PATH O_TMPFILE pidfd_open memfd_create posix_fadvise pipe2 eventfd splice copy_file_range getrandom fdatasync
    sched_setaffinity sched_getaffinity setxattr getxattr listxattr
"""
_POSIX = """
    O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_NOCTTY O_CLOEXEC SEEK_DATA SEEK_HOLE WNOHANG fork forkpty posix_spawn posix_spawnp
    getuid geteuid getgid getegid setsid killpg getpgid setpgid wait3 wait4 nice uname sysconf chroot fchdir
    fchmod fchown chown lchown pread pwrite preadv pwritev readv writev statvfs fstatvfs mkfifo mknod openpty
"""
_SIGNALS = """
    SIGKILL SIGHUP SIGPIPE SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGSTOP SIGCONT SIGXFSZ SIGQUIT setitimer alarm
"""
_MODULES = ("resource", "pwd", "grp", "termios", "tty", "pty", "fcntl")
_OTHERS = (
    "aiohttp",
    "click",
    "mcp",
    "anyio",
    "uvicorn",
    "starlette",
    "pydantic",
    "httpx2",
    "msgspec",
    "rich",
    "prompt_toolkit",
    "jinja2",
)


def pose(system: str) -> None:
    """Make this process look like `darwin` or `win32` to everything imported from here on."""
    import fcntl

    for library in _OTHERS:  # third-party libraries keep this system's features
        with suppress(ImportError):
            importlib.import_module(library)
    sys.platform = system
    for name in _LINUX.split():
        _take(os, name)
    _take(select, "epoll")

    def no_library(*_: object, **__: object) -> Any:
        raise OSError("there is no such library here")

    ctypes.CDLL = no_library  # type: ignore[assignment, misc]
    _without_proc()
    if system == "darwin":
        fcntl.F_FULLFSYNC = 51  # type: ignore[attr-defined]
        return
    locked = fcntl.flock

    def locking(descriptor: int, mode: int, _: int) -> None:
        try:
            locked(descriptor, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    is_writable = {os.O_WRONLY, os.O_RDWR}
    access = fcntl.fcntl, fcntl.F_GETFL
    runtime = types.ModuleType("msvcrt")
    runtime.locking, runtime.LK_NBLCK, runtime.LK_UNLCK = locking, 2, 0  # type: ignore[attr-defined]
    sys.modules["msvcrt"] = runtime
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        if access[0](descriptor, access[1]) & os.O_ACCMODE not in is_writable:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flush(descriptor)

    os.fsync = fsync  # type: ignore[assignment]
    _without_folder_descriptors()
    for name in _POSIX.split():
        _take(os, name)
    for name in _SIGNALS.split():
        _take(signal, name)
    _take(select, "poll")
    _take(platform, "os.uname")
    ready = select.select

    def sockets_only(*lists: Any) -> Any:
        if any(not isinstance(one, socket.socket) for waited in lists[:3] for one in waited):
            raise OSError(10038, "An operation was attempted on something that is not a socket")
        return ready(*lists)

    select.select = sockets_only


def _take(owner: object, name: str) -> None:
    if hasattr(owner, name):
        delattr(owner, name)


def _without_proc() -> None:
    opened, followed = os.open, os.readlink

    def is_proc(path: object) -> bool:
        return isinstance(path, str | bytes) and os.fsencode(path).startswith(b"/proc")

    def open_(path: Any, *arguments: Any, **options: Any) -> int:
        if is_proc(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return opened(path, *arguments, **options)

    def readlink(path: Any, **options: Any) -> Any:
        if is_proc(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return followed(path, **options)

    os.supports_dir_fd.add(open_)
    os.open, os.readlink = open_, readlink


def _without_folder_descriptors() -> None:
    """Remove `dir_fd` and opening folders; make renaming onto an existing file and removing an open file fail."""
    os.supports_dir_fd.clear()
    os.supports_fd.clear()
    links, listing = os.readlink, os.listdir
    held = [f"/{'proc'}/self/fd/", listing]
    del links

    def is_open(path: Any) -> bool:
        real = os.path.realpath(path)
        for name in held[1](held[0]):  # type: ignore[operator]
            try:
                if os.path.realpath(f"{held[0]}{name}") == os.fsdecode(real):
                    return True
            except OSError:
                continue
        return False

    def plain(real: Any, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if any(options.pop(key, None) is not None for key in ("dir_fd", "src_dir_fd", "dst_dir_fd")):
                raise NotImplementedError(f"{name}: dir_fd unavailable on this platform")
            if name in {"scandir", "listdir"} and arguments and isinstance(arguments[0], int):
                raise TypeError(f"{name}: path should be string, bytes, os.PathLike or None, not int")
            if name == "open" and os.path.isdir(arguments[0]):
                raise PermissionError(errno.EACCES, "Permission denied", arguments[0])
            if name == "rename" and os.path.exists(arguments[1]):
                raise FileExistsError(errno.EEXIST, "File exists", arguments[1])
            if name in {"unlink", "remove", "replace", "rename"} and any(is_open(path) for path in arguments[:2]):
                raise PermissionError(errno.EACCES, "it is open", arguments[0])
            return real(*arguments, **options)

        return call

    for name in (
        "open",
        "stat",
        "access",
        "mkdir",
        "rename",
        "replace",
        "unlink",
        "remove",
        "scandir",
        "listdir",
        "chmod",
    ):
        setattr(os, name, plain(getattr(os, name), name))
