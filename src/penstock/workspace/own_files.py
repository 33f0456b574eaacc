"""Which files are Penstock's own? Those outside any root: settings, tokens, stores, scratch files, and what a command line names.

Their paths are trusted. What Penstock keeps there is private (0600 in a folder of 0700) and belongs to the user. Leaves to others:
what a model may name (`root`).
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.workspace import system

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO, Self

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
_PRIVATE = ".penstock-"
_MOST_LOOKED_AT = 10_000
"""How many entries of a folder are looked at for what killed processes left."""
_DRAWN_BYTES = 5  # `<!doc`, `<svg `
# ext2 to ext4 (one number), XFS, Btrfs.
_CARRY_NAMES = {0xEF53, 0x58465342, 0x9123683E}


class IrregularFileError(OSError):
    """What stands at a path that the user named is a folder, a pipe or a device, where a file is read."""


def home_folder(environment: Mapping[str, str] | None = None) -> str:
    """Return the user's home folder: HOME, or what the system knows where that is empty or not set.

    Args:
        environment: The variables to look at; None for those of this process.

    Raises:
        CallerError: Neither says where it is.
    """
    home = (os.environ if environment is None else environment).get("HOME")
    if home or sys.platform == "win32":
        return home or os.path.expanduser("~")
    import pwd

    # `~` would be the root of all files where HOME is empty.
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError as error:
        raise CallerError("HOME is not set, and the system knows no home folder of this user: set HOME") from error


def read_own(path: str, limit_bytes: int = 1 << 20) -> bytes | None:
    """Return the content of a small file of the user's own (settings, a token), None when there is none.

    Args:
        path: A path that is trusted, outside any root.
        limit_bytes: What lies behind so many bytes is not read.

    Raises:
        CallerError: It cannot be read or is no regular file.
    """
    try:
        # `READ` holds O_NONBLOCK: a FIFO where the settings should be does not stop the start of the program.
        descriptor = os.open(path, system.READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CallerError(f"{path} cannot be read: {error.strerror}") from error
    status = os.fstat(descriptor)
    # Looked at before it is opened as a file of Python's, which refuses a folder in words without its name.
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        said = f"{path} is not a regular file"
        raise CallerError(said) from IrregularFileError(said)
    with os.fdopen(descriptor, "rb") as file:
        # As much as is asked for is set aside before anything is read: a gigabyte for a file of some kilobytes takes longer than
        # reading it. What the kernel makes up has no size.
        return file.read(min(limit_bytes, status.st_size or limit_bytes))


def own_files_like(folder: str, pattern: str) -> Iterator[str]:
    """Yield the paths of the files beneath a folder that a shell's pattern matches, in no order; none where there is no folder."""
    import glob  # which a start that keeps nothing does without

    for path in glob.iglob(pattern, root_dir=folder):
        yield os.path.join(folder, path)


def open_own(path: str) -> BinaryIO:
    """Return a file that the user named on the command line, open for reading; it may be a pipe. Raises OSError."""
    return os.fdopen(os.open(path, os.O_RDONLY | system.PRIVATE), "rb")


def open_regular(path: str) -> BinaryIO:
    """Return a file that another program of the user's named, open for reading.

    Raises:
        OSError: It cannot be opened, or is no regular file: a pipe with no writer would hold up who reads it.
    """
    descriptor = os.open(path, system.READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IrregularFileError(f"{path} is no regular file")
    return os.fdopen(descriptor, "rb")


def write_to_system(path: str, content: bytes) -> None:
    """Write to a file of the kernel's that is there: a limit, a number of a process. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | system.PRIVATE)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def create_own(path: str, content: bytes) -> bool:
    """Make a new private file (mode 0600); False when something stands there already. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.PRIVATE, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return True


def extend_own(path: str, content: bytes) -> None:
    """Write behind the last byte of a private file (mode 0600), made where there is none. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | system.NOFOLLOW | system.PRIVATE
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def append_own(path: str, content: bytes, known: tuple[int, int, int, int]) -> bool:
    """Write behind the last byte of a file of the user's, for good; False where it is no longer what it was.

    Args:
        path: The file, outside any root.
        content: What comes behind it, whole or not at all.
        known: What it was: device, inode, size in bytes, and when it was changed, in nanoseconds.

    Raises:
        OSError: It could not be written; it is as it was.
        ToolError: `busy`: another process of Penstock holds its folder.
    """
    with alone_in_own(os.path.dirname(path) or "."):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | system.PRIVATE | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns) != known:
                return False
            written = 0
            try:
                while written < len(content):  # a disk that is full takes a part first, and then says so
                    written += file.write(content[written:]) or 0
                system.flush(descriptor)
            except OSError:
                # What others wrote behind it meanwhile stays.
                if os.fstat(descriptor).st_size == status.st_size + written:
                    os.ftruncate(descriptor, status.st_size)
                raise
    return True


def replace_own(path: str, content: bytes) -> None:
    """Give a private file (0600) of the user's own new content, for good: after a crash at any instant it holds the old
    or the new.

    The content is flushed before it takes the name, and the name after that. What stood there is replaced, a link too.

    Raises:
        OSError: It could not be written; nothing is left beside it.
    """
    # Loaded here: a hook that only counts writes nothing so, and is a process a call (H-5).
    from penstock.workspace import replacing

    folder = _open_own_folder(os.path.dirname(path) or ".")
    try:
        replacing.replace(folder, os.path.basename(path), content, 0o600)
    finally:
        system.close_folder(folder)


def replace_drawn(path: str, content: bytes) -> None:
    """Give a page or a picture that the user named new content, as `replace_own` does; what is none stays as it is.

    Args:
        path: The file, or a link to it.
        content: All of the new content; what is there already has to begin as it does.

    Raises:
        CallerError: Something else stands there.
        OSError: It could not be written; it is as it was.
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
            raise CallerError(f"{path} is there, and is no such page or picture. It stays as it is: name another file.")
    replace_own(path, content)


def change_own(path: str, content: bytes | None, known: bytes | None, mode: int = 0o666) -> tuple[str, ...]:
    """Give a file of the user's new content if it holds, to the byte, what that was made from.

    Args:
        path: The file itself, no link to it, outside any root.
        content: All of the new content; None removes the file.
        known: What it holds; None where there is none yet.
        mode: The permissions of a new file; one that is there keeps its own.

    Returns:
        What of the old file the new one could not be given, in words.

    Raises:
        ToolError: `stale`: somebody else has changed the file, or is writing it. It is as they left it.
        OSError: It could not be written; it is as it was.
    """
    from penstock.workspace import replacing

    folder, name = _open_own_folder(os.path.dirname(path) or "."), os.fsencode(os.path.basename(path))
    try:
        with replacing.alone_in(folder):
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
    finally:
        system.close_folder(folder)


@contextmanager
def alone_in_own(path: str) -> Iterator[None]:
    """Hold a folder of the user's own against other processes of Penstock.

    Raises:
        ToolError: `busy`: others hold it for too long.
        OSError: There is no such folder.
    """
    from penstock.workspace import replacing

    folder = _open_own_folder(path)
    try:
        with replacing.alone_in(folder):
            yield
    finally:
        system.close_folder(folder)


def make_folders(path: str) -> list[str]:
    """Make a folder and those above it that are missing. Returns the new ones, the outermost first; raises OSError."""
    missing: list[str] = []
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        missing.insert(0, path)
        path = os.path.dirname(path)
    for folder in missing:
        with suppress(FileExistsError):
            os.mkdir(folder)
    return missing


def remove_empty_folders(paths: Sequence[str]) -> None:
    """Remove those folders that hold nothing, the last first."""
    for path in reversed(paths):
        with suppress(OSError):
            os.rmdir(path)


def _open_own_folder(path: str) -> system.Folder:
    """Return a folder outside any root, whose path is trusted. Raises OSError."""
    if system.HAS_FOLDER_DESCRIPTORS:
        return os.open(path, system.FOLDER)
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    # Whoever changes the working directory later must not move this folder.
    return os.path.abspath(path)


class NotAFolder(CallerError):
    """What a folder of ours would be, or lie in, is a file, or a link to nothing."""


def expect_room(path: str) -> str:
    """Return the folder in which a folder of ours would be made, or itself where it is there.

    A home that is not there is not made: `/nonexistent` is how systems write that a user has none.

    Raises:
        CallerError: Such a home stands above it.
        NotAFolder: What is no folder does.
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
    """Return whether a file belongs to this user; Windows does not say it so, and there it is always true."""
    return sys.platform == "win32" or not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


class OwnFolder:
    """A private folder of Penstock's own (mode 0700), made where there is none; files in it are private too (0600).

    The owner is checked; after that only the descriptor is used and no link is followed.

    Raises:
        OSError: What the disk says.
        CallerError: The folder is another user's, shared, or on a network; a file has its name; the user's home is not there.
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
        if sys.platform == "win32" or isinstance(self._folder, str):  # it has neither owners nor modes of this kind
            if self.path.startswith(("\\\\", "//")):
                raise CallerError(f"{self.path} is on a network, where locks and flushes cannot be relied on")
            return
        status = os.fstat(self.descriptor)
        if status.st_uid != os.geteuid():
            raise CallerError(f"{self.path} belongs to another user: name another folder")
        # An empty folder that `mkdir` or a person made is taken and closed to others. One with content is not: who
        # knows who has read or planted it.
        if status.st_mode & 0o077:
            if os.listdir(self.descriptor):
                raise CallerError(f"{self.path} is open to others and not empty: give an empty folder, or chmod 700 it")
            os.fchmod(self.descriptor, 0o700)
        kind = _NETWORKS.get(system.file_system(self.descriptor))
        if kind is not None:
            raise CallerError(f"{self.path} is on {kind}, where locks and flushes cannot be relied on")

    def close(self) -> None:
        """Give the descriptor back."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor != -1:
            os.close(descriptor)
            self._folder = -1

    def create(self, name: str) -> int:
        """Return a new file, open for reading and writing. Raises OSError where one is already."""
        path, at = system.entry_path(self._folder, name)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.PRIVATE, 0o600, dir_fd=at)

    def open(self, name: str, *, writable: bool = False) -> int:
        """Return a file of ours that is there, open. Raises OSError; `CallerError` when it is no regular file of our own."""
        path, at = system.entry_path(self._folder, name)
        # O_RDONLY is 0, so that the flags of reading and O_RDWR add up to O_RDWR.
        descriptor = os.open(path, system.READ | system.NOFOLLOW | (os.O_RDWR if writable else 0), dir_fd=at)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_own(status):
            os.close(descriptor)
            raise CallerError(f"{os.path.join(self.path, name)} is no regular file of this user")
        return descriptor

    def hold_room(self, name: str, size_bytes: int) -> None:
        """Let a file take so many bytes of the disk, all or none. Raises OSError where there is no room."""
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
        """Return the names of what lies in it, sorted. Raises OSError for a folder that is closed."""
        if self._folder == -1:  # which `os.listdir` takes for the current one
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.path)
        return sorted(os.listdir(self._folder))

    def rename(self, old: str, new: str) -> None:
        """Rename a file over what stands at `new`, if anything; `flush` makes it last."""
        (source, at), (target, _) = system.entry_path(self._folder, old), system.entry_path(self._folder, new)
        os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)

    def remove(self, name: str) -> None:
        """Take a file away; nothing happens when there is none."""
        path, at = system.entry_path(self._folder, name)
        with suppress(FileNotFoundError):
            os.unlink(path, dir_fd=at)

    def flush(self, *names: str) -> None:
        """Make files and their names survive a power cut. Raises OSError.

        On ext4, XFS and Btrfs a system.flush of the file carries the rename before it: that changed the file's own inode, and
        the log is written up to its last change. Elsewhere the folder is flushed too, once (ADR 9).
        """
        for name in names:
            descriptor = self.open(
                name, writable=sys.platform == "win32"
            )  # which flushes nothing that may not be written
            try:
                system.flush(descriptor)
            finally:
                os.close(descriptor)
        if self.descriptor == -1 or system.file_system(self.descriptor) not in _CARRY_NAMES:
            system.flush_folder(self._folder)


class PrivateFolder:
    """A new folder that only its owner may enter; it goes, with what is in it, at `close` or at the end of a `with`.

    It is made and not found, so that nobody can have prepared it. One that a killed process left goes when the next is made: only
    one of this user that is shut to others, and only where nobody holds its lock, which ends with its process however that ends,
    and is seen from other containers, as a process number is not. Where folders cannot be locked, what was left stays.

    Args:
        above: The folder that it is made in.
        prefix: How its name begins, and the names of those that may be left.

    Raises:
        OSError: It cannot be made.
    """

    path: str
    """Where the folder is, from the root of all folders."""

    def __init__(self, above: str, prefix: str = _PRIVATE) -> None:
        for left in _folders_left(above, prefix):
            with suppress(OSError):
                descriptor, is_ours = _hold(left)
                if is_ours:
                    _remove_folder(left)
                _let_go(descriptor)
        is_ours = False
        while is_ours is False:  # somebody took it for one that was left, in the moment before it was locked
            self.path = os.path.join(above, f"{prefix}{os.urandom(8).hex()}")
            os.mkdir(self.path, 0o700)
            self._descriptor, is_ours = _hold(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder, with all that is in it. What cannot be removed stays."""
        descriptor, self._descriptor = self._descriptor, -1
        _remove_folder(self.path)
        _let_go(descriptor)


def _folders_left(above: str, prefix: str) -> list[str]:
    """Return the folders in another that may be private ones of this user, by their names, owners and modes."""
    found: list[str] = []
    if not system.HAS_FOLDER_DESCRIPTORS:
        return found
    with suppress(OSError), os.scandir(above) as entries:
        for entry in islice(entries, _MOST_LOOKED_AT):
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if not status.st_mode & 0o077 and is_own(status):
                    found.append(entry.path)
    return found


def _hold(folder: str) -> tuple[int, bool | None]:
    """Return a folder open, -1 for none, and whether it is there and its lock is ours; None where there are no locks.

    Raises:
        OSError: It cannot be opened, though it is there.
    """
    from penstock.workspace import locks

    if not system.HAS_FOLDER_DESCRIPTORS:
        return -1, None
    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY | system.FOLDER_ONLY | system.NOFOLLOW | system.PRIVATE)
        try:
            is_locked = locks.acquire(descriptor)
        except OSError:
            return descriptor, None
        if is_locked and os.path.samestat(os.lstat(folder), os.fstat(descriptor)):
            return descriptor, True
    except FileNotFoundError:
        pass  # another process that sweeps came first
    _let_go(descriptor)
    return -1, False


def _let_go(descriptor: int) -> None:
    if descriptor != -1:
        os.close(descriptor)


def _remove_folder(folder: str) -> None:
    """Remove a folder with all that is in it, links not followed, whoever swaps what for one; what cannot be removed stays."""
    import shutil  # few commands have such a folder, and every start would pay for it

    with suppress(OSError, RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        os.chmod(folder, 0o700)  # a command may have shut a part of what was its HOME
        for at, names, _ in os.walk(folder):
            for inner in (os.path.join(at, name) for name in names):
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)
        shutil.rmtree(folder, ignore_errors=True)


def scratch_file() -> int:
    """Return a file without a name, open for reading and writing: it is gone when it is closed. Raises OSError.

    It lies in `/var/tmp` where that can be written, since `/tmp` is often memory.
    """
    import tempfile

    if (
        gone_when_closed := getattr(os, "O_TEMPORARY", 0)
    ) or not system.HAS_FOLDER_DESCRIPTORS:  # Windows removes nothing that is open
        path = os.path.join(tempfile.gettempdir(), f"penstock-{os.urandom(8).hex()}")
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.PRIVATE | gone_when_closed, 0o600)
    large = "/var/tmp"  # noqa: S108 - the name is random, made exclusively, and removed at once
    descriptor, path = tempfile.mkstemp(prefix="penstock-", dir=large if os.access(large, os.W_OK | os.X_OK) else None)
    os.unlink(path)
    return descriptor


def discard_output() -> None:
    """Lead standard output nowhere from here on: whoever read it has gone, and the interpreter's last flush must not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
