"""How does a file get new content durably? After a crash at any instant it holds the old or the new (S-16).

The content is written next to the file, flushed, and renamed; then the folder is flushed. Anyone else who writes the same file is
another party and may write at any instant. Penstock's own processes hold the lock of the folder (`alone_in`) from reading to
writing. Against all others, the new file and the current one swap names, and what was displaced is then examined: it must be, to
the byte, what the new content was made from, and nobody may have it open for writing. Otherwise the swap is undone.

    read ── decide ── write beside ── flush ── swap ──┬── displaced is what was read ── remove it: done
                                                      └── it is not ── swap back ──┬── displaced is ours: refused, as it was
                                                                                   └── somebody saved once more: theirs goes
                                                                                       back, the older of theirs is kept

Law: a version that somebody else wrote is never displaced and then lost. What it cannot do: keep others from overwriting
acknowledged content, see a writer where the system has no leases, or swap where the file system cannot; there the last check comes
right before the rename. Leaves to others: which file may be replaced (`writing`, `own_files`).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from penstock.errors import ToolError
from penstock.workspace import attributes, leases, locks, renames, system
from penstock.workspace.refusals import shown, unwritten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LOCK_SECONDS = 30.0
"""How long an edit waits for other Penstock processes in the same folder; each takes milliseconds."""
_SWAPS = 20
"""How often files saved by others may be swapped back in one edit, before the last is left next to the file: each takes one save of
theirs.
"""
_NAME_BYTES = 200
"""How much of a file's own name its temporary name repeats: a name has at most 255 bytes."""


def replace(folder: system.Folder, name: bytes | str, content: bytes, mode: int) -> None:
    """Write `content` to a temporary file and rename it over whatever is at `name`. For files that no other party writes.

    Args:
        folder: The open folder.
        name: The file's name in it.
        content: All of the new content.
        mode: The new file's permissions.

    Raises:
        OSError: It could not be written; nothing is left next to it.
    """
    with _beside(folder, os.fsencode(name), content, mode) as (beside, _):
        _rename_over(folder, beside, os.fsencode(name))
    system.flush_folder(folder)


def create(folder: system.Folder, name: bytes, content: bytes, mode: int = 0o666, *, flushes: bool = True) -> None:
    """Create a file, with the permissions that the process's umask leaves; an existing file is left alone.

    Args:
        folder: The open folder.
        name: The file's name in it.
        content: All of its content.
        mode: Its permissions, before the umask.
        flushes: Whether it survives a power cut.

    Raises:
        FileExistsError: The name is taken.
        OSError: It could not be written; nothing is left next to it.
    """
    with _beside(folder, name, content, mode, flushes=flushes) as (beside, _):
        renames.take_name(folder, beside, name)
    if flushes:
        system.flush_folder(folder)


def replace_known(
    folder: system.Folder, name: bytes, content: bytes, known: bytes, relative: bytes, *, flushes: bool = True
) -> tuple[str, ...]:
    """Replace a file's content if it still holds, to the byte, what the new content was made from; owner, mode and attributes stay.

    Args:
        folder: The open folder.
        name: The file's name in it.
        content: All of the new content.
        known: What the new content was made from.
        relative: The path as refusals name it.
        flushes: Whether it survives a power cut.

    Returns:
        Which metadata of the old file could not be copied to the new one, in words.

    Raises:
        ToolError: `stale`: somebody else has changed the file, or is writing it. It is as they left it.
        OSError: It could not be written; it is as it was.
    """
    path, at = system.entry_path(folder, name)
    if not _may_be_written(path, at):  # renaming over it would not check this
        raise _unwritable(folder, name, relative)
    try:
        lost = _swapped(folder, name, content, known, relative, flushes=flushes)
    except OSError as error:
        # A file that is itself a mount, as single files in containers are, cannot be replaced by name: only its content can change.
        if error.errno != errno.EBUSY:
            raise
        _write_into(folder, name, content, known, relative)
        lost = ()
    if flushes:
        system.flush_folder(folder)
    return lost


def _may_be_written(path: bytes | str, at: int | None) -> bool:
    """Return whether we may write a file: an access check alone lets root write what nobody may."""
    with suppress(FileNotFoundError):
        return os.access(path, os.W_OK, dir_fd=at) and bool(os.lstat(path, dir_fd=at).st_mode & 0o222)
    return False


def _unwritable(folder: system.Folder, name: bytes, relative: bytes) -> Exception:
    """Return why a file cannot be written, which an access check does not say: gone, on a read-only medium, or protected."""
    path, at = system.entry_path(folder, name)
    try:
        os.lstat(path, dir_fd=at)
        is_medium = sys.platform != "win32" and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except FileNotFoundError:  # removed by somebody who is about to give the name to a new file
        return _stale(relative)
    number = errno.EROFS if is_medium else errno.EACCES
    return OSError(number, os.strerror(number))


def _swapped(
    folder: system.Folder, name: bytes, content: bytes, known: bytes, relative: bytes, *, flushes: bool
) -> tuple[str, ...]:
    """Replace a file's content by swapping names, and return which metadata of the old file could not be copied."""
    with _beside(folder, name, content, 0o600, is_like=True, flushes=flushes) as (beside, lost):
        # Most changes are detected without displacing anything.
        if (found := _displaced(folder, name, known)) != "same":
            raise _stale(relative, found)
        ours = _inode(folder, beside)
        if not renames.exchange(folder, beside, name):
            # Swapping is not supported here: the check above is the last one, and a change between it and this is lost.
            _rename_over(folder, beside, name)
        else:
            try:
                if (found := _displaced(folder, beside, known, is_removed=True)) != "same":
                    kept = _put_back(folder, beside, name, content)
                    raise _stale(relative, found, kept, is_ours=_inode(folder, name) == ours)
            except OSError as error:
                raise NotTakenBack(error, relative, beside, is_there=_inode(folder, name) == ours) from error
    return lost


class NotTakenBack(ToolError):
    """The error if names were swapped and the folder then allowed nothing more: a right was revoked, a disk failed.

    Attributes:
        is_there: whether the file is the new one.
    """

    def __init__(self, error: OSError, relative: bytes, beside: str, *, is_there: bool) -> None:
        self.is_there = is_there
        where = "is there" if is_there else "may be there"
        super().__init__(
            unwritten(error, relative).code,
            f"{shown(relative)}: {error.strerror}, in the moment of this edit. What the edit wrote {where}, and what was there "
            f"before is kept next to it as {shown(os.fsencode(beside))}. Look at both.",
        )


def _write_into(folder: system.Folder, name: bytes, content: bytes, known: bytes, relative: bytes) -> None:
    """Overwrite a file in place; its old content is restored if there is no room.

    Raises:
        ToolError: `stale`: the file is not what it was known to be.
        OSError: It could not be written.
    """
    path, at = system.entry_path(folder, name)
    descriptor = os.open(path, os.O_RDWR | system.PRIVATE | system.NOFOLLOW, dir_fd=at)
    try:
        if not _holds(descriptor, known):
            raise _stale(relative)
        try:
            _overwrite(descriptor, content)
        except OSError:
            _overwrite(descriptor, known)
            raise
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int, content: bytes) -> None:
    view, at = memoryview(content), 0
    while at < len(content):
        at += system.write_at(descriptor, view[at:], at)
    os.ftruncate(descriptor, len(content))
    system.flush(descriptor)


def remove_known(folder: system.Folder, name: bytes, known: bytes, relative: bytes) -> None:
    """Remove a file if it holds, to the byte, what it is known to hold.

    Raises:
        ToolError: `stale`: the file has changed, or somebody is writing it. It is as they left it.
        OSError: It could not be removed.
    """
    # Moved away first, for the same reason as above: a file at a name that nobody else knows cannot be changed unseen.
    beside = _name_beside(name)
    old, at = system.entry_path(folder, name)
    new, _ = system.entry_path(folder, beside)
    os.rename(old, new, src_dir_fd=at, dst_dir_fd=at)
    if (found := _displaced(folder, beside, known, is_removed=True)) != "same":
        kept = ""
        try:
            renames.take_name(folder, beside, name)
        except FileExistsError:  # somebody has created a new one meanwhile
            kept = beside
        except OSError as error:
            said = f"{shown(relative)}: {error.strerror}. It is kept next to it, as {shown(os.fsencode(beside))}."
            raise ToolError(unwritten(error, relative).code, said) from error
        raise _stale(relative, found, kept)
    system.flush_folder(folder)


@contextmanager
def alone_in(folder: system.Folder) -> Iterator[None]:
    """Hold a folder against all other Penstock processes and threads that write in it, waiting for them first.

    The lock is that of the open folder itself: it needs no file, and ends with the process. If folders cannot be locked (on
    Windows, on some network file systems), a file in the temporary folder is locked instead.

    Raises:
        ToolError: `busy`: others hold it for longer than `LOCK_SECONDS`.
    """
    descriptor, is_own = _lock_of(folder)
    try:
        end = time.monotonic() + LOCK_SECONDS
        pause = 0.001
        while not locks.acquire(descriptor):
            if time.monotonic() > end:
                raise ToolError(
                    "busy", "Somebody else is writing in the same folder, and does not end. Try again later."
                )
            time.sleep(pause)
            pause = min(0.02, 2 * pause)
        try:
            yield
        finally:
            locks.release(descriptor)
    finally:
        if is_own:
            os.close(descriptor)


def _lock_of(folder: system.Folder) -> tuple[int, bool]:
    """Return an open descriptor to lock for a folder, and whether it was opened here."""
    if isinstance(folder, int):
        status = os.fstat(folder)
        with suppress(OSError):  # a file system without such locks
            locks.acquire(folder)  # takes the lock if it is free; locking again changes nothing
            return folder, False
    else:
        status = os.stat(folder)
    import tempfile

    path = os.path.join(tempfile.gettempdir(), f"penstock-{status.st_dev:x}-{status.st_ino:x}.lock")
    return os.open(path, os.O_RDWR | os.O_CREAT | system.NOFOLLOW | system.PRIVATE, 0o600), True


# ── the displaced file ───────────────────────────────────────────────────────────────────────────────────────────

Found = Literal["same", "changed", "open"]
"""What a displaced file is: `same` as it was read, `changed` since, or `open` for writing by somebody."""


def _displaced(folder: system.Folder, name: bytes | str, content: bytes, *, is_removed: bool = False) -> Found:
    """Return whether a file is what it was thought to be, and nobody is writing it.

    Args:
        folder: The open folder.
        name: The file.
        content: What it is thought to hold.
        is_removed: Whether it is removed if it is the same, while nobody can begin to write it.
    """
    path, at = system.entry_path(folder, name)
    try:
        descriptor = os.open(path, system.READ | system.NOFOLLOW, dir_fd=at)
    except OSError:  # gone, a link, a special file, or unreadable: not what was read before
        return "changed"
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "changed"
        if leases.take(descriptor) == "refused":
            return "open"
        if not _holds(descriptor, content):
            return "changed"
        if is_removed and sys.platform != "win32":
            os.unlink(path, dir_fd=at)
    finally:
        os.close(descriptor)
    if is_removed and sys.platform == "win32":  # Windows removes no open file
        os.unlink(path)
    return "same"


def _holds(descriptor: int, content: bytes) -> bool:
    """Return whether an open file holds exactly this content."""
    at = 0
    while part := system.read_at(descriptor, 1 << 20, at):
        if content[at : at + len(part)] != part:
            return False
        at += len(part)
    return at == len(content)


def _put_back(folder: system.Folder, beside: str, name: bytes, ours: bytes) -> str:
    """Give somebody else's file its name back, and remove ours; return the name of what had to be kept next to it.

    While ours had the name, somebody may have saved once more: over ours, or into it. Their file is then put back, as it is the
    newest, and it displaces the one that we were about to put back, an older version of theirs. That one is kept, because it might
    be all that is left of what they wrote.
    """
    expected, is_ours = _inode(folder, name), True
    for _ in range(_SWAPS):
        placed = _inode(folder, beside)
        try:
            renames.exchange(folder, beside, name)
        except FileNotFoundError:  # somebody has removed ours, or moved it away
            try:
                renames.take_name(folder, beside, name)
            except FileExistsError:  # and has created a new one since
                return beside
            return ""
        found = _inode(folder, beside)
        if found == expected and not is_ours:
            return beside
        if found == expected and _displaced(folder, beside, ours) == "same":
            return ""  # ours is removed with the refusal, like any temporary file
        expected, is_ours = placed, False
    return beside


# ── temporary files ──────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _opened(folder: system.Folder, name: bytes) -> Iterator[int]:
    """Open a file for reading. Raises OSError, also for a link."""
    path, at = system.entry_path(folder, name)
    descriptor = os.open(path, system.READ | system.NOFOLLOW, dir_fd=at)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _beside(
    folder: system.Folder, name: bytes, content: bytes, mode: int, *, is_like: bool = False, flushes: bool = True
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Write a flushed temporary file next to another; on an error it is removed if it is still ours.

    Written, flushed, renamed, folder flushed, in this order. If it were renamed before the flush, a power cut could leave the new
    name without content; without the second flush it could bring the old one back after success was reported.

    Args:
        folder: The open folder.
        name: The file that it will replace.
        content: All of its content.
        mode: Its permissions, unless it gets those of the other file.
        is_like: Whether it gets the owner, the permissions and the attributes of that file.
        flushes: Whether it is flushed: what can be made again need not be.

    Yields:
        Its name, and which metadata of the old file could not be copied to it.
    """
    beside = _name_beside(name)
    path, at = system.entry_path(folder, beside)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.PRIVATE, mode, dir_fd=at)
    ours = os.fstat(descriptor)
    held: int | None = None
    try:
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            lost: tuple[str, ...] = ()
            if is_like:  # closed again before the names change: Windows renames nothing over an open file
                with _opened(folder, name) as old:
                    lost = attributes.give(descriptor, old)
            if flushes:
                system.flush(descriptor)
            if sys.platform != "win32":
                # Held until the end: otherwise its inode number could be given to what somebody saves over it, which would then be
                # taken for ours. An `O_PATH` descriptor does not count as open when a lease is requested.
                held = os.open(path, (system.PATH or os.O_RDONLY) | system.NOFOLLOW | system.PRIVATE, dir_fd=at)
        finally:
            os.close(descriptor)
        yield beside, lost
    except NotTakenBack:
        raise
    except BaseException as error:
        # After a swap the name leads to what somebody else wrote, which is never removed here.
        try:
            if os.path.samestat(os.lstat(path, dir_fd=at), ours):
                os.unlink(path, dir_fd=at)
        except FileNotFoundError:
            pass
        except OSError:  # the folder can no longer be written
            error.add_note(f"What was to be written is left next to it as {shown(os.fsencode(beside))}.")
        raise
    finally:
        if held is not None:
            os.close(held)


def _name_beside(name: bytes) -> str:
    """Return a free name that shows its origin: a kill between two steps may leave the file."""
    own = os.fsdecode(name[:_NAME_BYTES])
    return f".{own}.penstock-{os.urandom(8).hex()}"


def clear_left(folder: system.Folder, name: bytes, digests: Collection[str]) -> list[str]:
    """Remove the temporary files that a killed edit of a file left, if they hold what it read or was to write.

    Whatever else one holds may be all that is left of what somebody saved in that moment.

    Args:
        folder: The open folder, held by `alone_in`: otherwise such a file may belong to an edit that is being made.
        name: The file's name in it.
        digests: The SHA-256 of the contents that are kept elsewhere, in hexadecimal.

    Returns:
        The names of those that hold something else, or cannot be read, which are left.
    """
    left = []
    own = re.escape(os.fsdecode(name[:_NAME_BYTES]))
    for entry in sorted(os.listdir(folder)):
        if not re.fullmatch(rf"\.{own}\.penstock-[0-9a-f]{{16}}", entry):
            continue
        try:
            with _opened(folder, os.fsencode(entry)) as descriptor, open(descriptor, "rb", closefd=False) as file:
                is_known = hashlib.file_digest(file, "sha256").hexdigest() in digests
        except OSError:  # it cannot be read, or is a folder or a link: a person has to look at it
            is_known = False
        if not is_known:
            left.append(entry)
            continue
        with suppress(OSError):  # a folder that is read-only by now: nothing is lost if the file stays
            path, at = system.entry_path(folder, entry)
            os.unlink(path, dir_fd=at)
    return left


def _rename_over(folder: system.Folder, beside: str, name: bytes) -> None:
    """Rename a file over whatever is at a name. Raises OSError."""
    old, at = system.entry_path(folder, beside)
    new, _ = system.entry_path(folder, name)
    os.replace(old, new, src_dir_fd=at, dst_dir_fd=at)


def _inode(folder: system.Folder, name: bytes | str) -> tuple[int, int] | None:
    """Return what distinguishes the file at a name from any other; None if there is none."""
    path, at = system.entry_path(folder, name)
    try:
        status = os.lstat(path, dir_fd=at)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _stale(relative: bytes, found: Found = "changed", kept: str = "", *, is_ours: bool = False) -> ToolError:
    """Return the refusal of a file that somebody else writes too; `is_ours` if they wrote into what this edit had put there."""
    if is_ours:
        said = (
            f"{shown(relative)} was saved by others in the moment of this edit, and what the edit had put there was written into: "
            f"it is there with whatever they made of it, and what came before is kept next to it as {shown(os.fsencode(kept))}"
        )
        return ToolError("stale", f"{said}. Read both.")
    said = "is open for writing in another program" if found == "open" else "was changed by someone else meanwhile"
    if kept:
        said = (
            "was saved by others more than once in this moment: what came last is there, and what came before is kept "
            f"next to it as {shown(os.fsencode(kept))}"
        )
    return ToolError("stale", f"{shown(relative)} {said}. This edit was not made. Read it again.")
