"""Open files beneath one root, and nothing else: every open of the package stands here.

Resolving a path and opening it are one kernel call (`openat2` beneath the root's descriptor), so that nobody who swaps
folders for links in between can lead it elsewhere; where the kernel lacks the call, a walk of descriptors that follows
no link at all does the work. A look (`O_PATH`) comes before the open: a FIFO, a socket or a device is never opened,
because opening one may block for ever or set something off. After that only descriptors are used, never paths again.

Off Linux there is less. macOS and the BSDs have descriptors of folders, so the same walk follows no link there; without
`O_PATH` the look is a `stat`, and what is opened has to be what was looked at. Windows has paths only: a path whose
real form is another one is refused, before and after it is opened, and what is open has to be what stands there.
`Root.confinement` says which it is.

Law: no descriptor handed out here belongs to a file outside the root. Nothing else in the package opens a file
(`tests/workspace/test_only_root_opens.py`). What is read from a descriptor, and what is said about it, is decided
elsewhere.

Why not check first and open then: between the two anyone who may write in the tree can put a link there. Raced in that
way, tools that resolve a path, compare it with the root and open it read outside in 5 to 15 of 100 reads
(`docs/reliability.md`, R1).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import stat
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError, ToolError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from _typeshed import ReadableBuffer as Buffer

MAX_PATH_BYTES = 1 << 16
"""The longest path that is taken, in bytes: deep trees are read, a megabyte of path is a mistake."""
_PATH_MAX = 4000  # below the kernel's 4,096, its NUL and our margin
_RETRIES = 8  # EAGAIN: a rename or a mount raced the resolution of a `..`, which comes from a link

# linux/openat2.h; Python has no function for the call. BENEATH refuses `..` and links that lead above the starting
# folder, NO_MAGICLINKS those of /proc, which lead anywhere.
_SYS_OPENAT2 = 437
_RESOLVE_NO_XDEV, _RESOLVE_NO_MAGICLINKS, _RESOLVE_BENEATH = 0x01, 0x02, 0x08

# What a system lacks is 0: every open below names all that it wants, and is as strict as the system can be. `O_BINARY` is of
# Windows, which changes line ends without it.
_PRIVATE: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_PATH: int = getattr(os, "O_PATH", 0)
_READ: int = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _PRIVATE
_LOOK: int = _PATH | _PRIVATE
_FOLDER_ONLY: int = getattr(os, "O_DIRECTORY", 0)
_FOLDER: int = os.O_RDONLY | _FOLDER_ONLY | _PRIVATE
_HAS_FOLDER_DESCRIPTORS = bool(_NOFOLLOW) and {os.open, os.stat, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd
_HAS_BACKSLASHES = os.sep == "\\"
_NAME_SURROGATE = 0x2000_0000  # winnt.h: a reparse point that stands for another name, such as a junction

Folder = int | str
"""An open folder: a descriptor; where there are none, its real path."""

# Refused by name unless allowed: asked for, or reached through a link. Case does not matter, because some disks ignore it.
_SECRET = re.compile(
    rb"(?:^|/)(?:\.env[^/]*|[^/]*\.(?:pem|key|p12|pfx|keystore|jks)|id_[^/.]+|\.netrc|\.pgpass|\.pypirc|\.npmrc"
    rb"|\.git-credentials|\.git/config|\.(?:aws|ssh|gnupg)/[^/]+(?:/.*)?)\Z",
    re.DOTALL | re.IGNORECASE,
)


class _OpenHow(ctypes.Structure):
    """`struct open_how` of linux/openat2.h."""

    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


@cache
def _syscall() -> ctypes._NamedFuncPointer:
    """Return libc's `syscall`, which reports its error through `ctypes.get_errno`."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def _openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    """Open `path` beneath the folder `folder`, resolved in the kernel under the rules in `resolve`. Raises OSError."""
    how = _OpenHow(flags, 0, resolve)
    number, at, size = ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder), ctypes.c_size_t(24)
    for _ in range(_RETRIES):
        descriptor = int(_syscall()(number, at, path, ctypes.byref(how), size))
        if descriptor >= 0:
            return descriptor
        # Somebody who renames all the time can make this fail, with EAGAIN, but not succeed wrongly.
        if ctypes.get_errno() not in {errno.EAGAIN, errno.EINTR}:
            break
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code))


def openat2_works() -> bool:
    """Return whether this kernel, with the filters of its containers, resolves beneath a descriptor."""
    if sys.platform != "linux":  # the number means another call there
        return False
    try:
        # -100 is AT_FDCWD. Containers may forbid the call (seccomp) on kernels that have it.
        os.close(_openat2(-100, b".", _LOOK, 0))
    except OSError:
        return False
    return True


def strongest() -> str:
    """Return the confinement that `auto` takes on this system: `openat2`, `walk` or `paths`."""
    return "openat2" if openat2_works() else "walk" if _HAS_FOLDER_DESCRIPTORS else "paths"


class OpenFile(NamedTuple):
    """A regular file that is open for reading: `close` it."""

    descriptor: int
    status: os.stat_result
    """Its status when it was opened."""
    relative: bytes
    """The path by which it was asked for, relative to the root."""

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)


class Root:
    """A folder that confines every open to what lies beneath it.

    Args:
        path: The folder; links in it are followed once, here.
        allow_mounts: Whether a path may cross into another file system.
        allow_secrets: Whether files that look like credentials by their names are read.
        confinement: `openat2`; `walk`, in which no link is followed; `paths`, in which none is either, but whoever
            swaps folders while they are read can have names of others listed, never content read; or `auto`, the first
            of these that the system has.

    Raises:
        CallerError: There is no such folder, it cannot be read, or `confinement` is none of these.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        allow_mounts: bool = False,
        allow_secrets: bool = False,
        confinement: str = "auto",
    ) -> None:
        if confinement not in {"auto", "openat2", "walk", "paths"}:
            raise CallerError(f"confinement={confinement!r}: openat2, walk, paths or auto")
        self.confinement = strongest() if confinement == "auto" else confinement
        given = os.fsencode(path)
        try:
            self.path = os.path.realpath(given)
            if self.confinement == "paths":
                os.scandir(self.path).close()  # or it is no folder, or one that cannot be read
                self.descriptor, status = -1, os.stat(self.path)
            else:
                # Opened once: whatever is renamed above it later, this is the folder that was meant.
                self.descriptor = os.open(given, _FOLDER | _PATH)
                status = os.fstat(self.descriptor)
        except (OSError, ValueError) as error:
            raise CallerError(f"The root {escape.clip(os.fsdecode(given))} cannot be used: {error}") from error
        self._given = os.path.abspath(given)
        self.device = status.st_dev
        self.allow_mounts = allow_mounts
        self.allow_secrets = allow_secrets
        self._resolve = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | (0 if allow_mounts else _RESOLVE_NO_XDEV)

    def close(self) -> None:
        """Give the descriptor back; nothing can be opened after that. A root that nobody holds does it by itself."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            self.close()

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────

    def relative(self, path: str) -> bytes:
        """Return a path as bytes relative to the root, `.` for the root itself; nothing is opened.

            >>> Root("/usr").relative("lib/../share/")
            b'share'

        Args:
            path: Relative to the root, or absolute and beneath it; the escaped forms that listings show are taken too.
                `..` is resolved by name, so it needs no folder to be there.

        Raises:
            ToolError: The path is empty, too long, holds a NUL or half of a UTF-16 pair, or leads out of the root.
        """
        if not path:
            raise ToolError("bad_argument", 'The path is empty. Give a path relative to the root, or "." for the root.')
        if "\0" in path:
            raise ToolError("bad_argument", "A path cannot hold a NUL character.")
        try:
            literal = path.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ToolError("bad_argument", f"Not a path: {escape.clip(path)} holds half of a UTF-16 pair.") from None
        if len(literal) > MAX_PATH_BYTES:
            raise ToolError("path_too_long", f"A path has at most {MAX_PATH_BYTES} bytes; this one has {len(literal)}.")
        # A name of bytes that are no text is shown as `\xNN` in listings, and has to open by that.
        if "\\" in path:
            unescaped = self._beneath(escape.parse_name(path), path)
            if unescaped != (plain := self._beneath(literal, path)):
                # The shown form wins, because every listing prints it; a name that is written so is the rare twin.
                return unescaped if b"\0" not in unescaped and self._exists(unescaped) else plain
        return self._beneath(literal, path)

    def _beneath(self, raw: bytes, path: str) -> bytes:
        """Return `raw` without the root before it and without `.` and `..`; `path` is how it was given, for the refusal."""
        if _HAS_BACKSLASHES:
            raw = raw.replace(b"\\", b"/")
        if raw.startswith(b"/") or (_HAS_BACKSLASHES and raw[1:2] == b":"):
            # Both forms: a person names the root as it was given, listings of other programs as it really is.
            for prefix in (self.path, self._given):
                base = (prefix.replace(b"\\", b"/") if _HAS_BACKSLASHES else prefix).rstrip(b"/") + b"/"
                if _same_case(raw + b"/").startswith(_same_case(base)):
                    raw = raw[len(base) :]
                    break
            else:
                raise outside(path)
        parts: list[bytes] = []
        for part in raw.split(b"/"):
            if part == b"..":
                if not parts:
                    raise outside(path)
                parts.pop()
            elif part not in {b"", b"."}:
                if _HAS_BACKSLASHES and _OTHER_NAME.search(part):
                    raise ToolError(
                        "not_found", f"{escape.clip(path)} names no file: Windows gives it another meaning."
                    )
                parts.append(part)
        return b"/".join(parts) or b"."

    def is_secret(self, relative: bytes) -> bool:
        """Return whether the name says that the content is a credential, and nobody allowed those."""
        return not self.allow_secrets and _SECRET.search(relative) is not None

    def resolved(self, descriptor: int) -> bytes | None:
        """Return where an open file really lies, relative to the root; None where the kernel does not say."""
        try:
            base = os.readlink(b"/proc/self/fd/%d" % self.descriptor)  # asked anew: the root may have been renamed
            real = os.readlink(b"/proc/self/fd/%d" % descriptor)
        except OSError:
            return None
        base = base.rstrip(b"/") + b"/"
        return real[len(base) :] if real.startswith(base) else None

    # ── opens ────────────────────────────────────────────────────────────────────────────────────────────────

    def look(self, relative: bytes) -> os.stat_result:
        """Return the status of what is there, without opening it.

        Links inside the root are followed by `openat2`, by nothing else. Raises OSError.
        """
        if _PATH and self.confinement != "paths":
            handle = self._handle(relative)
            try:
                return os.fstat(handle)
            finally:
                os.close(handle)
        folder, name = self._parent(relative)
        try:
            return self._looked(folder, name)
        finally:
            close_folder(folder)

    def open_file(self, relative: bytes) -> OpenFile:
        """Return the regular file at `relative`, open for reading.

        It never blocks: what is no regular file is not opened.

        Raises:
            ToolError: There is none, it is a folder or a special file, it leads out of the root, it is a secret, or it
                may not be read.
        """
        if self.is_secret(relative):
            raise secret(relative)
        try:
            if _PATH and self.confinement != "paths":
                return self._open_by_handle(relative)
            folder, name = self._parent(relative)
            try:
                status = self._looked(folder, name)
                if not stat.S_ISREG(status.st_mode):
                    raise irregular(status, relative)
                return OpenFile(self._open_seen(folder, name, status), status, relative)
            finally:
                close_folder(folder)
        except OSError as error:
            raise refusal(error, relative) from error

    def _open_by_handle(self, relative: bytes) -> OpenFile:
        """Open the file that an `O_PATH` handle holds: the handle is the look, and nobody can put another file under it."""
        handle = self._handle(relative)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise irregular(status, relative)
            # A link `notes.txt` to `.env` has an innocent name: the name of where it leads counts too.
            real = self.resolved(handle)
            if real is not None and real != relative and self.is_secret(real):
                raise secret(relative)
            return OpenFile(self._reopen(handle, status, relative, _READ), status, relative)
        finally:
            os.close(handle)

    def open_folder(self, relative: bytes) -> Folder:
        """Return the folder at `relative`, open: `close_folder` it. Raises `ToolError`."""
        try:
            if self.confinement == "paths":
                if not stat.S_ISDIR(self.look(relative).st_mode):
                    raise not_a_folder(relative)
                return self._real(relative)
            if not _PATH:
                folder, name = self._parent(relative)
                try:
                    if not stat.S_ISDIR(self._looked(folder, name).st_mode):
                        raise not_a_folder(relative)
                    return self.open_subfolder(folder, name)
                finally:
                    close_folder(folder)
            handle = self._handle(relative)
            try:
                if not stat.S_ISDIR(os.fstat(handle).st_mode):
                    raise not_a_folder(relative)
                return os.open(b".", _FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise refusal(error, relative) from error

    def replace_file(self, relative: bytes, content: bytes, known: os.stat_result | None) -> None:
        """Give the file at `relative` new content, for good: after a crash at any instant it holds the old or the new.

        No link is followed on the way, and what stands there by now and is another file is left alone.

        Args:
            relative: The path, as `relative` returns it.
            content: All of the new content.
            known: The file that `content` was made from, which keeps its mode and its owner; None makes a new one, and
                the folders above it.

        Raises:
            ToolError: It is a secret, has changed (`stale`), or cannot be written; all is then as it was, but for
                folders that were made.
        """
        if self.is_secret(relative):
            raise secret(relative)
        *folders, name = relative.split(b"/")

        def prepare(descriptor: int) -> None:
            if known is not None and sys.platform != "win32":
                if (known.st_uid, known.st_gid) != (os.geteuid(), os.getegid()):
                    with suppress(PermissionError):  # only root gives files away
                        os.fchown(descriptor, known.st_uid, known.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(known.st_mode))
            # The last look before the rename: what somebody wrote since `known` was read is found here. What is written
            # between this look and the rename is not.
            _expect(known, folder, name, relative)

        try:
            folder = self.open_folder(b".")
            try:
                # Down by descriptors and never by `openat2`, which would follow links inside the root: what is written
                # through a link is not what was read at the path.
                for part in folders:
                    inner = self._subfolder(folder, part, make=known is None)
                    close_folder(folder)
                    folder = inner
                _expect(known, folder, name, relative)
                path, at = _in(folder, name)
                if known is not None and not os.access(path, os.W_OK, dir_fd=at):  # renaming over it would not ask
                    raise OSError(errno.EACCES, os.strerror(errno.EACCES))
                _replace(folder, name, content, 0o666 if known is None else 0o600, prepare)
            finally:
                close_folder(folder)
        except OSError as error:
            raise unwritten(error, relative) from error

    def _subfolder(self, folder: Folder, name: bytes, *, make: bool) -> Folder:
        """Return a folder in an open folder, made where there is none and `make` says so. Raises OSError."""
        try:
            return self.open_subfolder(folder, name)
        except FileNotFoundError:
            if not make:
                raise
        path, at = _in(folder, name)
        with suppress(FileExistsError):
            os.mkdir(path, dir_fd=at)
        _flush_folder(folder)
        return self.open_subfolder(folder, name)

    def open_subfolder(self, folder: Folder, name: bytes | str) -> Folder:
        """Return a folder directly in another open folder: no link is followed, no mount crossed. Raises OSError."""
        if isinstance(folder, str):
            status = self._looked(folder, name)
            if not stat.S_ISDIR(status.st_mode):
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return os.path.join(folder, os.fsdecode(name))
        descriptor = os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)
        if not self.allow_mounts and os.fstat(descriptor).st_dev != self.device:
            os.close(descriptor)
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return descriptor

    def open_entry(self, folder: Folder, name: bytes | str) -> int:
        """Return a descriptor of a file directly in an open folder, for a walk whose listing said that it is regular.
        Raises OSError.

        The listing was the look; should someone put a FIFO there since, the open does not block and is undone.
        """
        if isinstance(folder, str):
            status = self.status_in(folder, name)
            if stat.S_ISLNK(status.st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            return self._open_seen(folder, name, status)
        descriptor = os.open(name, _READ | _NOFOLLOW, dir_fd=folder)
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and (self.allow_mounts or status.st_dev == self.device):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")

    def status_in(self, folder: Folder, name: bytes | str) -> os.stat_result:
        """Return the status of an entry of an open folder, of a link itself. Raises OSError."""
        if isinstance(folder, str):
            return os.lstat(os.path.join(folder, os.fsdecode(name)))
        return os.stat(name, dir_fd=folder, follow_symlinks=False)  # a count asks this of every file

    def _looked(self, folder: Folder, name: bytes | str) -> os.stat_result:
        """Return the status of an entry that is no link and lies on no other mount. Raises OSError for those."""
        status = self.status_in(folder, name)
        if _is_link(status) or (status.st_dev != self.device and not self.allow_mounts):
            raise OSError(errno.EXDEV, "a link or a mount")
        return status

    def _open_seen(self, folder: Folder, name: bytes | str, status: os.stat_result) -> int:
        """Open the regular file that was looked at, and no other that stands there since. Raises OSError."""
        path, at = _in(folder, name)
        descriptor = os.open(path, _READ | _NOFOLLOW, dir_fd=at)
        again = os.fstat(descriptor)
        is_same = stat.S_ISREG(again.st_mode) and os.path.samestat(again, status)
        if is_same and isinstance(folder, str):  # the folders above are only a path: it has to lead to this file still
            try:
                _expect_real(os.fsdecode(path))
                is_same = os.path.samestat(os.lstat(path), again)
            except OSError:
                is_same = False
        if is_same:
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EAGAIN, "the path is changing")

    def _exists(self, relative: bytes) -> bool:
        """Return whether something is there that can be reached."""
        try:
            self.look(relative)
        except OSError:
            return False
        return True

    def _handle(self, relative: bytes) -> int:
        """Return an `O_PATH` handle of what is there. Raises OSError."""
        if self.confinement == "walk":
            return self._walk(relative)
        # A long path is taken in pieces, each beneath the folder that the one before ended in, and each by the same
        # rules: what is beneath a folder beneath the root is beneath the root.
        folder, rest = self.descriptor, relative
        try:
            while len(rest) > _PATH_MAX:  # deeper than the kernel takes in one call
                cut = rest.rfind(b"/", 0, _PATH_MAX)
                if cut < 0:
                    raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
                inner = _openat2(folder, rest[:cut], _LOOK | _FOLDER_ONLY, self._resolve)
                if folder != self.descriptor:
                    os.close(folder)
                folder, rest = inner, rest[cut + 1 :]
            return _openat2(folder, rest, _LOOK, self._resolve)
        finally:
            if folder != self.descriptor:
                os.close(folder)

    def _walk(self, relative: bytes) -> int:
        """Return an `O_PATH` handle of what is there, no link followed: one open for each part of the path. Raises OSError."""
        folder, name = self._parent(relative)
        assert isinstance(folder, int)  # noqa: S101 - a walk has descriptors
        try:
            handle = os.open(name, _LOOK | _NOFOLLOW, dir_fd=folder)
        finally:
            os.close(folder)
        status = os.fstat(handle)
        # `O_PATH` with `O_NOFOLLOW` opens a link itself instead of failing.
        if stat.S_ISLNK(status.st_mode) or (status.st_dev != self.device and not self.allow_mounts):
            os.close(handle)
            raise OSError(errno.EXDEV, "a link or a mount")
        return handle

    def _parent(self, relative: bytes) -> tuple[Folder, bytes]:
        """Return the folder of what is asked for, open, and its name there; no link is followed on the way. Raises OSError."""
        *above, name = relative.split(b"/")
        if self.confinement == "paths":
            return self._real(b"/".join(above) or b"."), name
        folder = os.open(b".", _FOLDER | _PATH, dir_fd=self.descriptor)
        for part in above:
            try:
                inner = os.open(part, _FOLDER | _PATH | _NOFOLLOW, dir_fd=folder)
            except OSError:
                if _is_link(os.stat(part, dir_fd=folder, follow_symlinks=False)):  # each system says so in its own way
                    raise OSError(errno.EXDEV, "a link or a mount") from None
                raise
            finally:
                os.close(folder)
            folder = inner
            if not self.allow_mounts and os.fstat(folder).st_dev != self.device:
                os.close(folder)
                raise OSError(errno.EXDEV, "a link or a mount")
        return folder, name

    def _real(self, relative: bytes) -> str:
        """Return the absolute path of what is asked for, if no part of it is a link. Raises OSError otherwise."""
        path = (
            os.path.join(os.fsdecode(self.path), *os.fsdecode(relative).split("/")) if relative != b"." else self.path
        )
        _expect_real(os.fsdecode(path))
        return os.fsdecode(path)

    def _reopen(self, handle: int, status: os.stat_result, relative: bytes, flags: int) -> int:
        """Open for reading what an `O_PATH` handle holds. Raises OSError.

        Through /proc/self/fd, which leads to that very file wherever it was moved since. Where /proc is not mounted the
        path is resolved once more, and what is found has to have the device and inode of the handle.
        """
        try:
            return os.open(b"/proc/self/fd/%d" % handle, flags)
        except FileNotFoundError:  # no /proc: resolve once more and take it only if it is the same file
            if self.confinement == "walk":
                folder, name = self._parent(relative)
                assert isinstance(folder, int)  # noqa: S101 - a walk has descriptors
                try:
                    descriptor = os.open(name, flags | _NOFOLLOW, dir_fd=folder)
                finally:
                    os.close(folder)
            else:
                descriptor = _openat2(self.descriptor, relative, flags, self._resolve)
            again = os.fstat(descriptor)
            if (again.st_dev, again.st_ino) == (status.st_dev, status.st_ino):
                return descriptor
            os.close(descriptor)
            raise OSError(errno.EAGAIN, "the path is changing") from None


_OTHER_NAME = re.compile(  # on Windows: streams and drives, devices, and what it takes off the end of a name
    rb"[:\x00-\x1f]|[. ]\Z|\A(?:con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE
)


def _same_case(path: bytes) -> bytes:
    """Return a path in a form in which two that Windows takes for one are equal; elsewhere as it is."""
    return os.fsencode(os.fsdecode(path).casefold()) if _HAS_BACKSLASHES else path


def _is_link(status: os.stat_result) -> bool:
    """Return whether a status is that of a link, or of what Windows has of that kind: a junction, a mount in a folder."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_reparse_tag", 0) & _NAME_SURROGATE)


def _expect_real(path: str) -> None:
    """Raise OSError for a path that leads elsewhere than it says, or nowhere."""
    if os.path.normcase(os.path.realpath(path, strict=True)) != os.path.normcase(path):
        raise OSError(errno.EXDEV, "a link or a mount")


def _in(folder: Folder, name: bytes | str) -> tuple[bytes | str, int | None]:
    """Return how an entry of an open folder is named to the system: the path, and the descriptor that it is relative
    to, if any.
    """
    return (name, folder) if isinstance(folder, int) else (os.path.join(folder, os.fsdecode(name)), None)


def scan_folder(folder: Folder) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
    """Return the entries of an open folder, to be used as a context. Raises OSError."""
    entries = os.scandir(folder)
    if isinstance(folder, str):
        try:
            _expect_real(folder)  # it was opened by its path: is that still its own?
        except BaseException:
            entries.close()
            raise
    return entries


def close_folder(folder: Folder) -> None:
    """Give an open folder back."""
    if isinstance(folder, int):
        os.close(folder)


def _flush_folder(folder: Folder) -> None:
    """Make the names in a folder survive a power cut, where the system lets folders be flushed. Raises OSError."""
    if isinstance(folder, int):
        os.fsync(folder)


def flush(descriptor: int) -> None:
    """Make the content of an open file survive a power cut. Raises OSError."""
    os.fsync(descriptor)
    if sys.platform == "darwin":  # where `fsync` stops at the drive's own memory
        import fcntl

        with suppress(OSError):  # not every file system knows it
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)


def _read_at(descriptor: int, count: int, start_byte: int) -> bytes:
    """Do what `os.pread` does, where there is none; the position in the file is put back."""
    here = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, start_byte, os.SEEK_SET)
        return os.read(descriptor, count)
    finally:
        os.lseek(descriptor, here, os.SEEK_SET)


def _write_at(descriptor: int, data: Buffer, start_byte: int) -> int:
    """Do what `os.pwrite` does, where there is none; the position in the file moves."""
    os.lseek(descriptor, start_byte, os.SEEK_SET)
    return os.write(descriptor, data)


read_at: Callable[[int, int, int], bytes] = getattr(os, "pread", _read_at)
"""`os.pread(descriptor, count, start_byte)`: at most so many bytes from a place on.

Where the system lacks it, one thread at a time may read a descriptor.
"""
write_at: Callable[[int, Buffer, int], int] = getattr(os, "pwrite", _write_at)
"""`os.pwrite(descriptor, data, start_byte)`: writes at a place and returns how much was written."""


# ── Penstock's own files, outside any root ───────────────────────────────────────────────────────────────────────


def read_own(path: str, limit_bytes: int = 1 << 20) -> bytes | None:
    """Return the content of a small file of the user's own (settings, a token), None when there is none.

    Args:
        path: A path that is trusted, outside any root.
        limit_bytes: What lies behind so many bytes is not read.

    Raises:
        CallerError: It cannot be read or is no regular file.
    """
    try:
        # `_READ` holds O_NONBLOCK: a FIFO where the settings should be does not stop the start of the program.
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CallerError(f"{path} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CallerError(f"{path} is not a regular file")
        return file.read(limit_bytes)


def open_own(path: str) -> BinaryIO:
    """Return a file that the user named on the command line, open for reading; it may be a pipe. Raises OSError."""
    return os.fdopen(os.open(path, os.O_RDONLY | _PRIVATE), "rb")


def create_own(path: str, content: bytes) -> bool:
    """Make a new private file (mode 0600); False when something stands there already. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _PRIVATE, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return True


def replace_own(path: str, content: bytes) -> None:
    """Give a private file (0600) of the user's own new content, for good: after a crash at any instant it holds the old
    or the new.

    The content is flushed before it takes the name, and the name after that. What stood there is replaced, a link too.

    Raises:
        OSError: It could not be written; nothing is left beside it.
    """
    folder = _open_own_folder(os.path.dirname(path) or ".")
    try:
        _replace(folder, os.path.basename(path), content, 0o600)
    finally:
        close_folder(folder)


def _open_own_folder(path: str) -> Folder:
    """Return a folder outside any root, whose path is trusted. Raises OSError."""
    if _HAS_FOLDER_DESCRIPTORS:
        return os.open(path, _FOLDER)
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    # Whoever changes the working directory later must not move this folder.
    return os.path.abspath(path)


def _replace(
    folder: Folder, name: bytes | str, content: bytes, mode: int, prepare: Callable[[int], None] = lambda _: None
) -> None:
    """Write `content` to a file beside `name` and rename it over that; `prepare` has the last word before the rename.

    Written, flushed, renamed, folder flushed, in this order. Renamed before the flush, a power cut leaves the new name
    with no content; without the second flush it may bring back the old one after the caller was told.
    """
    beside = f".penstock-{os.urandom(8).hex()}"
    new, at = _in(folder, beside)
    old, _ = _in(folder, name)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _PRIVATE, mode, dir_fd=at)
    try:
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            prepare(descriptor)
            flush(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, old, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=at)
        raise
    _flush_folder(folder)


def _expect(known: os.stat_result | None, folder: Folder, name: bytes, relative: bytes) -> None:
    """Raise `ToolError` (stale) when what stands there is not what is thought to be there, OSError for a link."""
    try:
        path, at = _in(folder, name)
        now = os.stat(path, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if now is not None and _is_link(now):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if _identity(now) != _identity(known):
        raise ToolError("stale", f"{shown(relative)} was changed by someone else meanwhile. Read it again.")


def _identity(status: os.stat_result | None) -> tuple[int, ...]:
    """Return what tells versions of a file apart: device, inode, size and time of change."""
    return () if status is None else (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user; Windows does not say it so, and there it is always true."""
    return sys.platform == "win32" or not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


class OwnFolder:
    """A private folder of Penstock's own (mode 0700), made where there is none; files in it are private too (0600).

    The owner is checked; after that only the descriptor is used and no link is followed.

    Raises:
        OSError: What the disk says.
        CallerError: The folder is another user's, shared, or on a network, or a file has its name.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(self.path, 0o700)
        try:
            self._folder = _open_own_folder(self.path)
        except NotADirectoryError:
            raise CallerError(f"{self.path} is a file, not a folder") from None
        self.descriptor = self._folder if isinstance(self._folder, int) else -1
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Raise `CallerError` for a folder in which private files or locks cannot be relied on."""
        if sys.platform == "win32" or isinstance(self._folder, str):  # it has neither owners nor modes of this kind
            if self.path.startswith(("\\\\", "//")):
                raise CallerError(f"{self.path} is on a network, where locks and flushes cannot be relied on")
            return
        status = os.fstat(self.descriptor)
        if status.st_uid != os.geteuid():
            raise CallerError(f"{self.path} belongs to another user")
        # An empty folder that `mkdir` or a person made is taken and closed to others. One with content is not: who
        # knows who has read or planted it.
        if status.st_mode & 0o077:
            if os.listdir(self.descriptor):
                raise CallerError(f"{self.path} is open to others and not empty: give an empty folder, or chmod 700 it")
            os.fchmod(self.descriptor, 0o700)
        kind = _NETWORKS.get(_file_system(self.descriptor))
        if kind is not None:
            raise CallerError(f"{self.path} is on {kind}, where locks and flushes cannot be relied on")

    def close(self) -> None:
        """Give the descriptor back."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
            self._folder = -1

    def create(self, name: str) -> int:
        """Return a new file, open for reading and writing. Raises OSError where one is already."""
        path, at = _in(self._folder, name)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _PRIVATE, 0o600, dir_fd=at)

    def open(self, name: str, *, writable: bool = False) -> int:
        """Return a file of ours that is there, open. Raises OSError; `CallerError` when it is no regular file of our own."""
        path, at = _in(self._folder, name)
        # O_RDONLY is 0, so that the flags of reading and O_RDWR add up to O_RDWR.
        descriptor = os.open(path, _READ | _NOFOLLOW | (os.O_RDWR if writable else 0), dir_fd=at)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_own(status):
            os.close(descriptor)
            raise CallerError(f"{os.path.join(self.path, name)} is no regular file of this user")
        return descriptor

    def names(self) -> list[str]:
        """Return the names of what lies in it, sorted."""
        return sorted(os.listdir(self._folder))

    def rename(self, old: str, new: str) -> None:
        """Rename a file over what stands at `new`, if anything; `flush` makes it last."""
        (source, at), (target, _) = _in(self._folder, old), _in(self._folder, new)
        os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)

    def remove(self, name: str) -> None:
        """Take a file away; nothing happens when there is none."""
        path, at = _in(self._folder, name)
        with suppress(FileNotFoundError):
            os.unlink(path, dir_fd=at)

    def flush(self, name: str) -> None:
        """Make a file and its name survive a power cut. Raises OSError.

        On ext4, XFS and Btrfs a flush of the file carries the rename before it: that changed the file's own inode, and
        the log is written up to its last change. Elsewhere the folder is flushed too (ADR 9).
        """
        descriptor = self.open(name, writable=sys.platform == "win32")  # which flushes nothing that may not be written
        try:
            flush(descriptor)
        finally:
            os.close(descriptor)
        if self.descriptor < 0 or _file_system(self.descriptor) not in _CARRY_NAMES:
            _flush_folder(self._folder)


_NETWORKS = {  # statfs(2) types of file systems without dependable locks or flushes
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB",
    0x5346414F: "AFS",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
    0x01021997: "9P",
}


# ext2 to ext4 (one number), XFS, Btrfs.
_CARRY_NAMES = {0xEF53, 0x58465342, 0x9123683E}


def _file_system(descriptor: int) -> int:
    """Return the type of the file system that an open file lies on (statfs(2)); 0 where the system does not say."""
    if sys.platform != "linux":
        return 0
    buffer = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None, use_errno=True).fstatfs(descriptor, buffer) != 0:
        return 0
    return int.from_bytes(buffer.raw[: ctypes.sizeof(ctypes.c_long)], sys.byteorder) & 0xFFFFFFFF


def scratch_file() -> int:
    """Return a file without a name, open for reading and writing: it is gone when it is closed. Raises OSError.

    It lies in `/var/tmp` where that can be written, since `/tmp` is often memory.
    """
    import tempfile

    if (
        gone_when_closed := getattr(os, "O_TEMPORARY", 0)
    ) or not _HAS_FOLDER_DESCRIPTORS:  # Windows removes nothing that is open
        path = os.path.join(tempfile.gettempdir(), f"penstock-{os.urandom(8).hex()}")
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _PRIVATE | gone_when_closed, 0o600)
    large = "/var/tmp"  # noqa: S108 - the name is random, made exclusively, and removed at once
    descriptor, path = tempfile.mkstemp(prefix="penstock-", dir=large if os.access(large, os.W_OK | os.X_OK) else None)
    os.unlink(path)
    return descriptor


def discard_output() -> None:
    """Lead standard output nowhere from here on: whoever read it has gone, and the interpreter's last flush must not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def path_handle(path: str) -> int:
    """Return an `O_PATH` handle, which gives no access to content: what Landlock rules are made of. Raises OSError."""
    return os.open(path, _LOOK)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────

_KINDS = {
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def shown(relative: bytes) -> str:
    """Return a relative path as an error may echo it: inert, and clipped."""
    return escape.clip(relative.decode("utf-8", "surrogateescape"))


def outside(path: str) -> ToolError:
    """Return the refusal of a path that leads out of the root."""
    return ToolError(
        "outside_root",
        f"{escape.clip(path)} is outside the root. Paths are relative to the root and stay beneath it.",
    )


def secret(relative: bytes) -> ToolError:
    """Return the refusal of a file whose name says that it holds credentials."""
    return ToolError(
        "secret",
        f"{shown(relative)} is refused: by its name it holds credentials. Start with allow_secrets to read it.",
    )


def irregular(status: os.stat_result, relative: bytes) -> ToolError:
    """Return the refusal of what is no regular file, with its kind."""
    if stat.S_ISDIR(status.st_mode):
        return ToolError("is_directory", f"{shown(relative)} is a folder, not a file.")
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "special file")
    return ToolError("not_regular_file", f"not_regular_file: {kind}. {shown(relative)} was not opened.")


def not_a_folder(relative: bytes) -> ToolError:
    """Return the refusal of a file where a folder is needed."""
    return ToolError("not_directory", f"{shown(relative)} is a file, not a folder.")


_REFUSALS = {
    errno.ENOENT: ("not_found", "There is no {}."),
    errno.ENOTDIR: ("not_found", "There is no {}: a part of the path is a file, not a folder."),
    errno.EXDEV: ("outside_root", "{} leads elsewhere, by a link or a mount that is not followed. It was not opened."),
    errno.ELOOP: (
        "link_loop",
        "{} is a loop of symbolic links, or links where none is followed. It was not opened.",
    ),
    errno.EACCES: ("denied", "Permission denied: {}."),
    errno.EPERM: ("denied", "Permission denied: {}."),
    errno.ENAMETOOLONG: ("path_too_long", "A part of {} is longer than the file system takes."),
    errno.EAGAIN: ("path_changing", "The path {} is changing while it is opened. Try again."),
    errno.ENXIO: ("not_regular_file", "not_regular_file: {} was not opened."),
}


def refusal(error: OSError, relative: bytes) -> ToolError:
    """Return the `ToolError` for what the operating system said of a path."""
    code, sentence = _REFUSALS.get(error.errno or 0, ("io_error", f"{{}} cannot be read: {error.strerror}."))
    return ToolError(code, sentence.format(shown(relative)))


def unwritten(error: OSError, relative: bytes) -> ToolError:
    """Return the `ToolError` for what the operating system said of a file that was to be written."""
    if error.errno in _REFUSALS:
        return refusal(error, relative)
    return ToolError("io_error", f"{shown(relative)} cannot be written: {error.strerror}. It is as it was.")
