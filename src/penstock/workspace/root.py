"""How are files beneath one root opened, and nothing else? Whatever a model or a person names is opened here.

Resolving a path and opening it are one kernel call (`openat2` beneath the root's descriptor), so that nobody who replaces folders
with links in between can lead it elsewhere; where the kernel lacks the call, a walk of descriptors that follows no link does the
work. A check (`O_PATH`) comes before the open: a FIFO, a socket or a device is never opened, because opening one may block forever
or trigger something. After that only descriptors are used, never paths.

Off Linux there is less. macOS and the BSDs have folder descriptors, so the same walk follows no link there; without `O_PATH` the
check is a `stat`, and the opened file must be the one that was checked. Windows has only paths: a path whose real form differs is
refused, before and after it is opened, and the opened file must be the one at that path. `Root.confinement` says which applies.

Law: no descriptor handed out here belongs to a file outside the root. Nothing else in the package opens a file, except for
Penstock's own (`own_files`; `tests/workspace/test_only_root_opens.py`). Leaves to others: how each system opens (`system`), what is
read from a descriptor, what is said about it, and how a file is written (`writing`).

Why not check first and then open: in between, anyone who may write in the tree can put a link there. Raced in that way, tools that
resolve a path, compare it with the root and open it read outside in 5 to 15 of 100 reads (`docs/reliability.md`, R1).
"""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

from penstock.errors import CallerError
from penstock.text import escape
from penstock.workspace import system
from penstock.workspace.paths import beneath, encoded
from penstock.workspace.refusals import irregular, not_a_folder, refusal, secret
from penstock.workspace.secret_names import above_of, has_secret_name

_PATH_MAX = 4000  # below the kernel's 4,096, its NUL and our margin


class OpenFile(NamedTuple):
    """A regular file that is open for reading: `close` it."""

    descriptor: int
    status: os.stat_result
    """The status of the file when it was opened."""
    relative: bytes
    """The path by which it was requested, relative to the root."""

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.descriptor)


class Root:
    """A folder that confines every open to what lies beneath it.

    Args:
        path: The folder; links in it are followed once, here.
        allow_mounts: Whether a path may cross into another file system.
        allow_secrets: Whether files may be read whose names suggest that they hold credentials.
        confinement: `openat2`; `walk`, which follows no link; `paths`, which follows none either, but whoever swaps folders while
            they are read can have names of others listed, never content read; or `auto`, the first of these that the system has.

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
        self.confinement = system.strongest() if confinement == "auto" else confinement
        given = os.fsencode(path)
        try:
            self.path = os.path.realpath(given)
            if self.confinement == "paths":
                os.scandir(self.path).close()  # or it is not a folder, or cannot be read
                self.descriptor, status = -1, os.stat(self.path)
            else:
                # Opened once: whatever is renamed above it later, this remains the intended folder.
                self.descriptor = os.open(given, system.FOLDER | system.PATH)
                status = os.fstat(self.descriptor)
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or error  # an OSError's own text ends with the name as bytes
            raise CallerError(f"The root {escape.clip(os.fsdecode(given))} cannot be used: {said}.") from error
        self._given = os.path.abspath(given)
        self._above = above_of(os.fsencode(self.path))
        self.device = status.st_dev
        self.allow_mounts = allow_mounts
        self.allow_secrets = allow_secrets
        self._resolve = system.BENEATH | system.NO_MAGIC_LINKS | (0 if allow_mounts else system.NO_MOUNTS)

    def close(self) -> None:
        """Close the descriptor; nothing can be opened after that. A root that nobody references closes itself."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor != -1:
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
            path: Relative to the root, or absolute and beneath it; the escaped forms that listings show are accepted too. `..` is
                resolved by name, so the folder need not exist.

        Raises:
            ToolError: The path is empty, too long, holds a NUL or a lone UTF-16 surrogate, or leads out of the root.
        """
        literal, bases = encoded(path), (self.path, self._given)
        # A name whose bytes are not text is shown as `\xNN` in listings, and must open by that form.
        if "\\" in path:
            unescaped = beneath(escape.parse_name(path), bases, path)
            if unescaped != (plain := beneath(literal, bases, path)):
                # The shown form wins, because every listing prints it; a name that really contains it is the rare case.
                return unescaped if b"\0" not in unescaped and self._exists(unescaped) else plain
        return beneath(literal, bases, path)

    def tied(self, glob: str, path: str) -> str:
        """Return an absolute glob within a folder as one anchored to the folder; any other unchanged.

            >>> Root("/usr").tied("/usr/share/*.txt", "share")
            '*.txt'

        Args:
            glob: As a model wrote it: some write all paths out.
            path: The folder that is listed.

        Raises:
            ToolError: As for `relative`.
        """
        if glob.startswith("/"):
            inside = self.relative(path)
            for base in (self.path, self._given):
                folder = os.fsdecode(os.path.normpath(os.path.join(base, inside))).rstrip("/") + "/"
                if glob.startswith(folder) and glob != folder:
                    return glob[len(folder) :]
        return glob

    def is_secret(self, relative: bytes) -> bool:
        """Return whether the name suggests that the content is a credential, and those are not allowed."""
        return not self.allow_secrets and has_secret_name(relative, self._above)

    def resolved(self, descriptor: int) -> bytes | None:
        """Return where an open file really lies, relative to the root; None if the kernel does not say."""
        try:
            base = os.readlink(b"/proc/self/fd/%d" % self.descriptor)  # read again: the root may have been renamed
            real = os.readlink(b"/proc/self/fd/%d" % descriptor)
            # For a file that has lost its name since, as when somebody saves by renaming, the kernel reports `NAME (deleted)`.
            if not os.fstat(descriptor).st_nlink:
                real = real.removesuffix(b" (deleted)")
        except OSError:
            return None
        base = base.rstrip(b"/") + b"/"
        return real[len(base) :] if real.startswith(base) else None

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────

    def look(self, relative: bytes) -> os.stat_result:
        """Return the status of what is at a path, without opening it.

        Links inside the root are followed by `openat2` only. Raises OSError.
        """
        if system.PATH and self.confinement != "paths":
            handle = self._handle(relative)
            try:
                return os.fstat(handle)
            finally:
                os.close(handle)
        folder, name = self._parent(relative)
        try:
            return self._looked(folder, name)
        finally:
            system.close_folder(folder)

    def is_folder(self, relative: bytes) -> bool:
        """Return whether a path that was named is a folder.

        Raises:
            ToolError: Nothing is there, or it cannot be looked at.
        """
        try:
            return stat.S_ISDIR(self.look(relative).st_mode)
        except OSError as error:
            raise refusal(error, relative) from error

    def open_file(self, relative: bytes) -> OpenFile:
        """Return the regular file at `relative`, open for reading.

        It never blocks: only a regular file is opened.

        Raises:
            ToolError: The file is missing, is a folder or a special file, leads out of the root, is a secret, or may not be read.
        """
        if self.is_secret(relative):
            raise secret(relative)
        try:
            if system.PATH and self.confinement != "paths":
                return self._open_by_handle(relative)
            folder, name = self._parent(relative)
            try:
                status = self._looked(folder, name)
                if not stat.S_ISREG(status.st_mode):
                    raise irregular(status, relative)
                return OpenFile(self._open_seen(folder, name, status), status, relative)
            finally:
                system.close_folder(folder)
        except OSError as error:
            raise refusal(error, relative) from error

    def _open_by_handle(self, relative: bytes) -> OpenFile:
        """Open the file that an `O_PATH` handle holds: the handle is the check, and nobody can put another file under it."""
        handle = self._handle(relative)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise irregular(status, relative)
            # A link `notes.txt` to `.env` has an innocent name: the name of its target counts too.
            real = self.resolved(handle)
            if real is not None and real != relative and self.is_secret(real):
                raise secret(relative)
            return OpenFile(self._reopen(handle, status, relative), status, relative)
        finally:
            os.close(handle)

    def open_folder(self, relative: bytes) -> system.Folder:
        """Return the folder at `relative`, open: `close_folder` it. Raises `ToolError`."""
        try:
            if self.confinement == "paths":
                self._need_folder(self.look(relative), relative)
                return self._real(relative)
            if not system.PATH:
                folder, name = self._parent(relative)
                try:
                    self._need_folder(self._looked(folder, name), relative)
                    return self.open_subfolder(folder, name)
                finally:
                    system.close_folder(folder)
            handle = self._handle(relative)
            try:
                self._need_folder(os.fstat(handle), relative)
                return os.open(b".", system.FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise refusal(error, relative) from error

    def _need_folder(self, status: os.stat_result, relative: bytes) -> None:
        """Raise `ToolError` unless it is a folder."""
        if not stat.S_ISDIR(status.st_mode):
            is_readable = stat.S_ISREG(status.st_mode) and not self.is_secret(relative)
            raise not_a_folder(relative, is_readable=is_readable)

    def open_subfolder(self, folder: system.Folder, name: bytes | str) -> system.Folder:
        """Return a folder directly in another open folder: no link is followed, no mount crossed. Raises OSError."""
        if isinstance(folder, str):
            status = self._looked(folder, name)
            if not stat.S_ISDIR(status.st_mode):
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return os.path.join(folder, os.fsdecode(name))
        descriptor = os.open(name, system.FOLDER | system.NOFOLLOW, dir_fd=folder)
        if not self.allow_mounts and os.fstat(descriptor).st_dev != self.device:
            os.close(descriptor)
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return descriptor

    def open_entry(self, folder: system.Folder, name: bytes | str) -> int:
        """Return a descriptor of a file directly in an open folder, for a walk that listed it as regular. Raises OSError.

        The listing was the check; if someone has put a FIFO there since, the open does not block and is undone.
        """
        if isinstance(folder, str):
            status = self.status_in(folder, name)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            return self._open_seen(folder, name, status)
        descriptor = os.open(name, system.READ | system.NOFOLLOW, dir_fd=folder)
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and (self.allow_mounts or status.st_dev == self.device):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")

    def open_listed(self, folder: system.Folder, name: str, relative: bytes) -> int:
        """Return a descriptor of a file that a walk has listed, whose path is `relative`. Raises `ToolError`."""
        if self.is_secret(relative):
            raise secret(relative)
        try:
            return self.open_entry(folder, name)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise refusal(error, relative) from error
        return self.open_file(relative).descriptor  # a link; the walk has checked that it stays inside

    def status_in(self, folder: system.Folder, name: bytes | str) -> os.stat_result:
        """Return the status of an entry of an open folder, of a link itself. Raises OSError."""
        if isinstance(folder, str):
            return os.lstat(os.path.join(folder, os.fsdecode(name)))
        return os.stat(name, dir_fd=folder, follow_symlinks=False)  # a count calls this for every file

    def _looked(self, folder: system.Folder, name: bytes | str) -> os.stat_result:
        """Return the status of an entry that is not a link or on another mount. Raises OSError for those."""
        status = self.status_in(folder, name)
        if system.is_link(status) or (status.st_dev != self.device and not self.allow_mounts):
            raise OSError(errno.EXDEV, "a link or a mount")
        return status

    def _open_seen(self, folder: system.Folder, name: bytes | str, status: os.stat_result) -> int:
        """Open the regular file that was checked, and no other that has taken its place since. Raises OSError."""
        path, at = system.entry_path(folder, name)
        descriptor = os.open(path, system.READ | system.NOFOLLOW, dir_fd=at)
        again = os.fstat(descriptor)
        is_same = stat.S_ISREG(again.st_mode) and os.path.samestat(again, status)
        if is_same and isinstance(folder, str):  # the folders above are only a path: it must still lead to this file
            try:
                system.expect_real(os.fsdecode(path))
                is_same = os.path.samestat(os.lstat(path), again)
            except OSError:
                is_same = False
        if is_same:
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EAGAIN, "the path is changing")

    def _exists(self, relative: bytes) -> bool:
        """Return whether something reachable is there."""
        try:
            self.look(relative)
        except OSError:
            return False
        return True

    def _handle(self, relative: bytes) -> int:
        """Return an `O_PATH` handle of what is at a path. Raises OSError."""
        if self.confinement == "walk":
            return self._walk(relative)
        # A long path is resolved in pieces, each beneath the folder where the previous one ended, and each by the same rules: what
        # is beneath a folder beneath the root is beneath the root.
        folder, rest = self.descriptor, relative
        try:
            while len(rest) > _PATH_MAX:  # deeper than the kernel accepts in one call
                cut = rest[:_PATH_MAX].rfind(b"/")  # -1 if a name is that long, which the kernel refuses
                inner = system.openat2(folder, rest[:cut], system.LOOK | system.FOLDER_ONLY, self._resolve)
                if folder != self.descriptor:
                    os.close(folder)
                folder, rest = inner, rest[cut + 1 :]
            return system.openat2(folder, rest, system.LOOK, self._resolve)
        finally:
            if folder != self.descriptor:
                os.close(folder)

    def _walk(self, relative: bytes) -> int:
        """Return an `O_PATH` handle of what is at a path, following no link: one open for each part of it. Raises OSError."""
        folder, name = self._parent(relative)
        assert isinstance(folder, int)  # noqa: S101 - a walk has descriptors
        try:
            handle = os.open(name, system.LOOK | system.NOFOLLOW, dir_fd=folder)
        finally:
            os.close(folder)
        status = os.fstat(handle)
        # `O_PATH` with `O_NOFOLLOW` opens a link itself instead of failing.
        if stat.S_ISLNK(status.st_mode) or (status.st_dev != self.device and not self.allow_mounts):
            os.close(handle)
            raise OSError(errno.EXDEV, "a link or a mount")
        return handle

    def _parent(self, relative: bytes) -> tuple[system.Folder, bytes]:
        """Return the open folder that contains a path, and the name in it; no link is followed on the way. Raises OSError."""
        *above, name = relative.split(b"/")
        if self.confinement == "paths":
            return self._real(b"/".join(above) or b"."), name
        folder = os.open(b".", system.FOLDER | system.PATH, dir_fd=self.descriptor)
        for part in above:
            try:
                inner = os.open(part, system.FOLDER | system.PATH | system.NOFOLLOW, dir_fd=folder)
            except OSError:
                # Each system reports it differently.
                if system.is_link(os.stat(part, dir_fd=folder, follow_symlinks=False)):
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
        """Return the absolute path, if no part of it is a link. Raises OSError otherwise."""
        parts = [] if relative == b"." else os.fsdecode(relative).split("/")
        path = os.path.join(os.fsdecode(self.path), *parts)
        system.expect_real(path)
        return path

    def _reopen(self, handle: int, status: os.stat_result, relative: bytes) -> int:
        """Open for reading what an `O_PATH` handle holds. Raises OSError.

        Through /proc/self/fd, which leads to that very file wherever it has been moved. If /proc is not mounted, the path is
        resolved once more, and the result must have the device and inode of the handle.
        """
        try:
            return os.open(b"/proc/self/fd/%d" % handle, system.READ)
        except FileNotFoundError:  # no /proc: resolve once more and accept only the same file
            if self.confinement == "walk":
                folder, name = self._parent(relative)
                assert isinstance(folder, int)  # noqa: S101 - a walk has descriptors
                try:
                    descriptor = os.open(name, system.READ | system.NOFOLLOW, dir_fd=folder)
                finally:
                    os.close(folder)
            else:
                descriptor = system.openat2(self.descriptor, relative, system.READ, self._resolve)
            again = os.fstat(descriptor)
            if (again.st_dev, again.st_ino) == (status.st_dev, status.st_ino):
                return descriptor
            os.close(descriptor)
            raise OSError(errno.EAGAIN, "the path is changing") from None
