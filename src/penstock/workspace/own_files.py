"""Which files are Penstock's own? Those outside any root: settings, tokens, stores, and what a command line names.

Their paths are trusted. What Penstock keeps there is private (0600 in a folder of 0700) and belongs to the user. Leaves to others:
what a model may name (`root`), and what goes with its process (`scratch`).
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.workspace import system

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

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
_DRAWN_BYTES = 5  # `<!doc`, `<svg `
# ext2 to ext4 (one number), XFS, Btrfs.
_CARRY_NAMES = {0xEF53, 0x58465342, 0x9123683E}


class IrregularFileError(OSError):
    """A path that the user named leads to a folder, a pipe or a device where a file is expected."""


def home_folder(environment: Mapping[str, str] | None = None) -> str:
    """Return the user's home folder: HOME, or the one the system knows if HOME is empty or not set.

    Args:
        environment: The variables to use; None for those of this process.

    Raises:
        CallerError: Neither gives a home folder.
    """
    home = (os.environ if environment is None else environment).get("HOME")
    if home or sys.platform == "win32":
        return home or os.path.expanduser("~")
    import pwd

    # If HOME is empty, `~` would expand to the file system root.
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError as error:
        raise CallerError("HOME is not set, and the system knows no home folder of this user: set HOME") from error


def state_folder(environment: Mapping[str, str] | None = None) -> str:
    """Return the folder of the user's programs for their state: `XDG_STATE_HOME`, else `.local/state` in the home folder.

    Args:
        environment: The variables to use; None for those of this process.

    Raises:
        CallerError: There is no home folder.
    """
    return _xdg_folder("XDG_STATE_HOME", os.path.join(".local", "state"), environment)


def cache_folder(environment: Mapping[str, str] | None = None) -> str:
    """Return the folder of the user's programs for what can be made again: `XDG_CACHE_HOME`, else `.cache` in the home folder.

    Args:
        environment: The variables to use; None for those of this process.

    Raises:
        CallerError: There is no home folder.
    """
    return _xdg_folder("XDG_CACHE_HOME", ".cache", environment)


def _xdg_folder(variable: str, in_home: str, environment: Mapping[str, str] | None) -> str:
    """Return the folder that a variable of the XDG Base Directory specification names, or the one in the home folder."""
    named = (os.environ if environment is None else environment).get(variable) or ""
    # The specification says to ignore relative paths.
    return named if os.path.isabs(named) else os.path.join(home_folder(environment), in_home)


def read_own(path: str, limit_bytes: int = 1 << 20) -> bytes | None:
    """Return the content of a small file of the user's own (settings, a token); None if there is none.

    Args:
        path: A path that is trusted, outside any root.
        limit_bytes: How many bytes are read at most.

    Raises:
        CallerError: The file cannot be read or is not a regular file.
    """
    try:
        # `READ` includes O_NONBLOCK: a FIFO in place of the settings does not block the start of the program.
        descriptor = os.open(path, system.READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CallerError(f"{path} cannot be read: {error.strerror}") from error
    status = os.fstat(descriptor)
    # Checked before Python opens it as a file, because Python's error for a folder does not name it.
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        said = f"{path} is not a regular file"
        raise CallerError(said) from IrregularFileError(said)
    with os.fdopen(descriptor, "rb") as file:
        # Memory for the requested size is allocated before anything is read: a gigabyte for a file of some kilobytes takes longer
        # than reading it. Files that the kernel generates have no size.
        return file.read(min(limit_bytes, status.st_size or limit_bytes))


def own_files_like(folder: str, pattern: str) -> Iterator[str]:
    """Yield the paths of the files beneath a folder that match a shell pattern, in no order; none if the folder is missing."""
    import glob  # a start that keeps nothing does without it

    for path in glob.iglob(pattern, root_dir=folder):
        yield os.path.join(folder, path)


def open_own(path: str) -> BinaryIO:
    """Return a file that the user named on the command line, open for reading; it may be a pipe. Raises OSError."""
    return os.fdopen(os.open(path, os.O_RDONLY | system.PRIVATE), "rb")


def open_regular(path: str) -> BinaryIO:
    """Return a file that another program of the user's named, open for reading.

    Raises:
        OSError: The file cannot be opened, or is not a regular file: a pipe without a writer would block its reader.
    """
    descriptor = os.open(path, system.READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IrregularFileError(f"{path} is not a regular file")
    return os.fdopen(descriptor, "rb")


def write_to_system(path: str, content: bytes) -> None:
    """Write to an existing kernel file: a limit, a process number. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | system.PRIVATE)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def create_own(path: str, content: bytes) -> bool:
    """Create a private file (mode 0600) with all of its content; False if something already exists there. Raises OSError."""
    from penstock.workspace import replacing

    with suppress(FileExistsError), _own_folder(os.path.dirname(path)) as folder:
        replacing.create(folder, os.fsencode(os.path.basename(path)), content, 0o600, flushes=False)
        return True
    return False


def extend_own(path: str, content: bytes) -> None:
    """Append to a private file (mode 0600), which is created if missing. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | system.NOFOLLOW | system.PRIVATE
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def append_own(path: str, content: bytes, known: tuple[int, int, int, int]) -> bool:
    """Append to a file of the user's durably; False if it is no longer what it was.

    Args:
        path: The file, outside any root.
        content: What is appended, whole or not at all.
        known: What the file was: device, inode, size in bytes, and modification time in nanoseconds.

    Raises:
        OSError: It could not be written; the file is as it was.
        ToolError: `busy`: another process of Penstock holds its folder.
    """
    with alone_in_own(os.path.dirname(path)):
        # O_RDONLY is 0, so `READ` adds only what keeps a FIFO or a terminal from blocking.
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | system.READ)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns) != known:
                return False
            written = 0
            try:
                while written < len(content):  # a full disk accepts a part first, and then reports the error
                    written += file.write(content[written:]) or 0
                system.flush(descriptor)
            except OSError:
                # What others have appended meanwhile stays.
                if os.fstat(descriptor).st_size == status.st_size + written:
                    os.ftruncate(descriptor, status.st_size)
                raise
    return True


def replace_own(path: str, content: bytes) -> None:
    """Durably replace the content of a private file (0600) of the user's: after a crash at any instant it holds the old or the new.

    The content is flushed before the rename, and the name after it. Whatever has the name is replaced, even a link.

    Raises:
        OSError: The file could not be written; nothing is left next to it.
    """
    # Loaded here: a hook that only counts writes nothing this way, and is one process per call (H-5).
    from penstock.workspace import replacing

    with _own_folder(os.path.dirname(path)) as folder:
        replacing.replace(folder, os.path.basename(path), content, 0o600)


def replace_drawn(path: str, content: bytes) -> None:
    """Replace a page or a picture that the user named, as `replace_own` does; a file of another kind is left alone.

    Args:
        path: The file, or a link to it.
        content: All of the new content; an existing file must begin the same way.

    Raises:
        CallerError: Something else is at the path.
        OSError: The file could not be written; it is as it was.
    """
    path = os.path.realpath(path)
    begins = content[:_DRAWN_BYTES].lower()
    if os.path.lexists(path):
        try:
            with open_regular(path) as file:
                first = file.read(_DRAWN_BYTES).lower()
        except OSError as error:
            raise CallerError(f"{path} cannot be replaced: {error.strerror or error}. Name another file.") from None
        if first not in {b"", begins}:
            raise CallerError(f"{path} exists and is not such a page or picture. It stays as it is: name another file.")
    replace_own(path, content)


def change_own(path: str, content: bytes | None, known: bytes | None, mode: int = 0o666) -> tuple[str, ...]:
    """Replace the content of a user's file if it still holds, to the byte, what the new content was made from.

    Args:
        path: The file itself, not a link to it, outside any root.
        content: All of the new content; None removes the file.
        known: What the file holds; None if there is none yet.
        mode: The permissions of a new file; an existing one keeps its own.

    Returns:
        Which metadata of the old file could not be copied to the new one, in words.

    Raises:
        ToolError: `stale`: somebody else has changed the file, or is writing it. It is as they left it.
        OSError: The file could not be written; it is as it was.
    """
    from penstock.workspace import replacing

    name = os.fsencode(os.path.basename(path))
    with _own_folder(os.path.dirname(path)) as folder, replacing.alone_in(folder):
        if known is None and content is not None:
            try:
                replacing.create(folder, name, content, mode)
            except FileExistsError:
                raise ToolError("stale", f"{path} was made by someone else meanwhile. It stays as it is.") from None
        elif known is not None and content is not None:
            return replacing.replace_known(folder, name, content, known, os.fsencode(path))
        elif known is not None:
            replacing.remove_known(folder, name, known, os.fsencode(path))
        return ()


@contextmanager
def alone_in_own(path: str) -> Iterator[None]:
    """Hold a folder of the user's own against other processes of Penstock.

    Raises:
        ToolError: `busy`: others hold it for too long.
        OSError: There is no such folder.
    """
    from penstock.workspace import replacing

    with _own_folder(path) as folder, replacing.alone_in(folder):
        yield


def make_folders(path: str) -> list[str]:
    """Create a folder and its missing parents. Returns the new ones, the outermost first; raises OSError."""
    missing: list[str] = []
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        missing.insert(0, path)
        path = os.path.dirname(path)
    for folder in missing:
        with suppress(FileExistsError):
            os.mkdir(folder)
    return missing


def remove_empty_folders(paths: Sequence[str]) -> None:
    """Remove those of the folders that are empty, the last first."""
    for path in reversed(paths):
        with suppress(OSError):
            os.rmdir(path)


@contextmanager
def _own_folder(path: str) -> Iterator[system.Folder]:
    """Hold a folder outside any root open for the block; an empty path is the working directory. Raises OSError."""
    folder = _open_own_folder(path or ".")
    try:
        yield folder
    finally:
        system.close_folder(folder)


def _open_own_folder(path: str) -> system.Folder:
    """Return a folder outside any root, whose path is trusted. Raises OSError."""
    if system.HAS_FOLDER_DESCRIPTORS:
        return os.open(path, system.FOLDER)
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    # A later change of the working directory must not move this folder.
    return os.path.abspath(path)


class NotAFolder(CallerError):
    """What should be a folder of ours, or contain one, is a file or a dangling link."""


def expect_room(path: str) -> str:
    """Return the folder in which a folder of ours would be created, or the folder itself if it exists.

    A missing home is not created: `/nonexistent` is how systems say that a user has none.

    Raises:
        CallerError: The home folder above it is missing.
        NotAFolder: Something above it is not a folder.
    """
    home = os.path.abspath(home_folder())
    if f"{path}{os.sep}".startswith(f"{home}{os.sep}") and not os.path.isdir(home):
        raise CallerError(
            f"The home folder {home} is not there: set HOME or XDG_STATE_HOME to a folder that is, or make it"
        )
    there = path
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        raise NotAFolder(
            f"{there} is a {'file' if os.path.exists(there) else 'link to nothing'}, not a folder: name another"
        )
    return there


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user; always true on Windows, which has no such owner."""
    return sys.platform == "win32" or not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


class OwnFolder:
    """A private folder of Penstock's own (mode 0700), created if missing; files in it are private too (0600).

    The owner is checked; after that only the descriptor is used and no link is followed.

    Raises:
        OSError: What the disk reports.
        CallerError: The folder is another user's, shared, or on a network; a file has its name; the user's home is missing.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        if not os.path.isdir(self.path):
            expect_room(self.path)
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(self.path, 0o700)
        self._folder = _open_own_folder(self.path)
        self.descriptor = self._folder if isinstance(self._folder, int) else -1
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Raise `CallerError` for a folder in which private files or locks cannot be relied on."""
        if sys.platform == "win32" or isinstance(self._folder, str):  # Windows has no such owners or modes
            if self.path.startswith(("\\\\", "//")):
                raise CallerError(f"{self.path} is on a network, where locks and flushes cannot be relied on")
            return
        status = os.fstat(self.descriptor)
        if status.st_uid != os.geteuid():
            raise CallerError(f"{self.path} belongs to another user: name another folder")
        # An empty folder that `mkdir` or a person made is accepted and closed to others. One with content is not: nobody knows who
        # has read or planted it.
        if status.st_mode & 0o077:
            if os.listdir(self.descriptor):
                raise CallerError(f"{self.path} is open to others and not empty: give an empty folder, or chmod 700 it")
            os.fchmod(self.descriptor, 0o700)
        kind = _NETWORKS.get(system.file_system(self.descriptor))
        if kind is not None:
            raise CallerError(f"{self.path} is on {kind}, where locks and flushes cannot be relied on")

    def close(self) -> None:
        """Close the descriptor."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor != -1:
            os.close(descriptor)
            self._folder = -1

    def create(self, name: str) -> int:
        """Return a new file, open for reading and writing. Raises OSError if it already exists."""
        path, at = system.entry_path(self._folder, name)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.PRIVATE, 0o600, dir_fd=at)

    def open(self, name: str, *, writable: bool = False) -> int:
        """Return an existing file of ours, open. Raises OSError; `CallerError` if it is not a regular file of this user."""
        path, at = system.entry_path(self._folder, name)
        # O_RDONLY is 0, so that the reading flags combined with O_RDWR give O_RDWR.
        descriptor = os.open(path, system.READ | system.NOFOLLOW | (os.O_RDWR if writable else 0), dir_fd=at)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_own(status):
            os.close(descriptor)
            raise CallerError(f"{os.path.join(self.path, name)} is not a regular file of this user")
        return descriptor

    def read(self, name: str, limit_bytes: int) -> bytes:
        """Return the content of a file of ours, at most so many bytes. Raises as `open` does."""
        with os.fdopen(self.open(name), "rb") as file:
            # As in `read_own`: memory for the requested size is allocated before anything is read.
            return file.read(min(limit_bytes, os.fstat(file.fileno()).st_size))

    def replace(self, name: str, parts: Iterable[bytes]) -> None:
        """Write a file in place of whatever is at the name, whole or not at all; not flushed. Raises OSError."""
        new = f"{os.urandom(16).hex()}.new"
        try:
            with os.fdopen(self.create(new), "wb") as file:
                file.writelines(parts)
            self.rename(new, name)
        except OSError:
            with suppress(OSError):
                self.remove(new)
            raise

    def hold_room(self, name: str, size_bytes: int) -> None:
        """Reserve that many bytes of the disk for a file, all or none. Raises OSError if there is no room."""
        try:
            descriptor = self.create(name)
        except FileExistsError:
            return
        try:
            if sys.platform == "linux":
                os.posix_fallocate(descriptor, 0, size_bytes)
            else:
                os.write(descriptor, bytes(size_bytes))
        except OSError:
            self.remove(name)
            raise
        finally:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the names of the entries in the folder, sorted. Raises OSError if the folder is closed."""
        if self._folder == -1:  # `os.listdir(-1)` would list the current folder
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.path)
        return sorted(os.listdir(self._folder))

    def rename(self, old: str, new: str) -> None:
        """Rename a file over whatever is at `new`; `flush` makes it durable."""
        (source, at), (target, _) = system.entry_path(self._folder, old), system.entry_path(self._folder, new)
        os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)

    def remove(self, name: str) -> None:
        """Remove a file; does nothing if there is none."""
        path, at = system.entry_path(self._folder, name)
        with suppress(FileNotFoundError):
            os.unlink(path, dir_fd=at)

    def flush(self, *names: str) -> None:
        """Make files and their names survive a power cut. Raises OSError.

        On ext4, XFS and Btrfs flushing the file also carries the rename before it: that changed the file's own inode, and the log
        is written up to its last change. Elsewhere the folder is flushed too, once (ADR 9).
        """
        for name in names:
            # Windows flushes nothing that is not writable.
            descriptor = self.open(name, writable=sys.platform == "win32")
            try:
                system.flush(descriptor)
            finally:
                os.close(descriptor)
        if self.descriptor == -1 or system.file_system(self.descriptor) not in _CARRY_NAMES:
            system.flush_folder(self._folder)


def discard_output() -> None:
    """Redirect standard output to nowhere from here on: its reader has gone, and the interpreter's last flush must not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
