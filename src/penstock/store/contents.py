"""Where does a store in a folder keep content? Small content in a row, other content in a file of its own, named by its digest.

A file is written under a name that no row knows, renamed, and flushed with its name before the row that names it is committed; a
row is deleted before its file is removed (`database` says why). Small content is a row of the database and is committed or deleted
in the same transaction as the row that names it: a file, with its name and its flush, costs many times as much. Law: a kill leaves
at most a file that no row names, which `prune` removes. Leaves to others: the tables, the lock, and how both are opened (`sqlite`).
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
from abc import abstractmethod
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.errors import CallerError
from penstock.store import pieces
from penstock.store.database import Staged
from penstock.store.kept import Damaged, StoreFault
from penstock.store.tables import Tables
from penstock.workspace import locks
from penstock.workspace.system import flush, read_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from penstock.store.database import Execute
    from penstock.workspace.own_files import OwnFolder

ROW_BYTES: Final = 16 << 10
"""The largest content that is kept as a row: it is written to the log twice, and read in one go."""
_ROW = "row:"
# Names of content that is being written begin with this; other names are digests.
_PENDING = "pending-"
_COMPRESSED = ".z"
_WRITE_BACK_BYTES = 16 << 20


class FileTables(Tables):
    """Tables whose contents are files; whoever opens the folder sets these.

    Attributes:
        path: The folder of the store.
    """

    path: str
    _contents: OwnFolder | None
    _broken: str
    """Why nothing more can be written; empty while writing works."""
    _read_only: bool
    _pending: dict[str, int]
    """Content that is written and not published yet, open and locked: the lock keeps other processes from pruning it."""
    _small_staged: dict[str, bytes]
    """Small content that is not published yet."""

    @abstractmethod
    def _expect_writable(self) -> None:
        """Raise `StoreFault` if nothing can be written."""

    @abstractmethod
    def _exclusive(self) -> AbstractContextManager[None]:
        """Hold the lock of the folder, among all processes. Raises `StoreFault`."""

    def _stage(self, content: bytes | Iterable[bytes], limit_bytes: int) -> Staged:
        """Write content to its own file, at most `limit_bytes` of it, and measure it meanwhile."""
        written: list[pieces.Content] = []

        def fill(write: Callable[[bytes], None]) -> None:
            left = limit_bytes

            def bounded(piece: bytes) -> None:
                nonlocal left
                left -= len(piece)
                if left < 0:
                    raise StoreFault("full", f"More than the {limit_bytes} bytes that {self.path} may hold.")
                write(piece)

            written.append(pieces.intake(content, bounded))

        return Staged(self._staged(fill), written[0])

    def _stage_pieces(self, stored: Iterable[bytes]) -> str:
        """Write pieces to their own file, unchanged."""

        def fill(write: Callable[[bytes], None]) -> None:
            for piece in stored:
                write(piece)

        return self._staged(fill)

    def _staged(self, fill: Callable[[Callable[[bytes], None]], None]) -> str:
        """Return the name of what `fill` has written: held in memory if small, else a file, flushed if large.

        A file stays open and locked until it is published or discarded, so that no pruning mistakes it for a leftover.
        """
        self._expect_writable()
        folder = self._kept()
        name = _PENDING + secrets.token_hex(8)
        held = bytearray()
        descriptor = -1
        written = flushed = 0

        def write(piece: bytes) -> None:
            nonlocal descriptor, written, flushed
            if descriptor < 0:
                held.extend(piece)
                if len(held) <= ROW_BYTES:
                    return
                descriptor = self._lasting(partial(self._created, name))
                piece = bytes(held)
            _write(descriptor, piece)
            written += len(piece)
            if written - flushed >= _WRITE_BACK_BYTES:  # the disk works while more arrives
                _start_write_back(descriptor, flushed, written - flushed)
                flushed = written

        try:
            fill(write)
            if flushed:  # a small file is flushed once, when it is published
                self._flush(lambda: flush(descriptor))
        except BaseException as error:
            if descriptor >= 0:
                os.close(descriptor)
                folder.remove(name)
            if isinstance(error, OSError):
                raise fault_of(error) from error
            raise
        if descriptor < 0:
            self._small_staged[name] = bytes(held)
        else:
            self._pending[name] = descriptor
        return name

    def _created(self, name: str) -> int:
        """Create a file for content, and lock it before a pruning can see it: that holds the lock of the folder while it looks."""
        with self._lock, self._exclusive():
            descriptor = self._kept().create(name)
            locks.acquire(descriptor, is_shared=True)
            return descriptor

    def _unlock(self, place: str) -> None:
        """Close a staged file, which releases its lock; does nothing for any other."""
        descriptor = self._pending.pop(place, -1)
        if descriptor >= 0:
            os.close(descriptor)

    def _flush(self, flush: Callable[[], None]) -> None:
        """Flush, and stop writing for good if that failed for a reason other than lack of room."""
        try:
            flush()
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                self._broken = f"a flush failed ({error.strerror}); open the store again and check it"
            raise

    def _publish(self, execute: Execute, staged: Staged) -> str:
        """Insert content held in memory, or give a staged file its final name, and flush it with that name."""
        if staged.place in self._small_staged:
            return _inserted(execute, self._small_staged.pop(staged.place))
        folder = self._kept()
        # Plain and compressed content have different names, so that one can replace the other while both exist.
        is_short = staged.content.stored_bytes < staged.content.bytes
        place = staged.content.digest + (_COMPRESSED if is_short else "")
        # Under the writer's lock, which pruning takes too, so that nothing comes between. Windows renames no open file.
        self._unlock(staged.place)
        try:
            # One flush for content and name if the file system allows it: `OwnFolder.flush` says where.
            folder.rename(staged.place, place)
            self._flush(lambda: folder.flush(place))
        except OSError as error:
            raise fault_of(error) from error
        return place

    def _write(self, execute: Execute, contents: Sequence[tuple[bytes, pieces.Content]]) -> list[str]:
        """Insert small contents; give each other one a file with its final name, and flush all of these together."""
        folder = self._kept()
        places: list[str] = []
        # A file that is being written needs no lock here: only pruning removes such files, and it waits for the writer's lock.
        name = _PENDING + secrets.token_hex(8)
        try:
            for data, measured in contents:
                if len(data) <= ROW_BYTES:
                    places.append(_inserted(execute, data))
                    continue
                descriptor = folder.create(name)
                try:
                    _write(descriptor, data)
                    _start_write_back(descriptor, 0, 0)
                finally:
                    os.close(descriptor)
                folder.rename(name, measured.digest)
                places.append(measured.digest)
            # The disk has been working since the first file: these flushes wait for one write rather than for each in turn.
            if files := [place for place in places if not _is_row(place)]:
                self._flush(lambda: folder.flush(*files))
        except BaseException as error:
            for place in (name, *(place for place in places if not _is_row(place))):
                with suppress(OSError):
                    folder.remove(place)
            if isinstance(error, OSError):
                raise fault_of(error) from error
            raise
        return places

    def _discard(self, place: str) -> None:
        """Remove what was staged."""
        if self._small_staged.pop(place, None) is not None:
            return
        self._unlock(place)
        with suppress(OSError):
            self._kept().remove(place)

    def _delete(self, execute: Execute, digest: str) -> list[str]:
        """Delete the row of a content, and the row with the content itself if it is small; return its place."""
        places = super()._delete(execute, digest)
        for place in filter(_is_row, places):
            execute("DELETE FROM small_contents WHERE number = ?", (_number(place),))
        return places

    def _remove(self, places: list[str]) -> StoreFault | None:
        """Remove files that no row names any more; return why one is still there, which the next pruning removes."""
        left: StoreFault | None = None
        places = [place for place in places if not _is_row(place)]
        if not places:
            return left
        try:
            with self._lock, self._exclusive():
                for place in places:
                    # The same content may have been added again meanwhile.
                    digest = place.removesuffix(_COMPRESSED)
                    if not self._read("SELECT 1 FROM contents WHERE digest = ? AND place = ?", (digest, place)):
                        try:
                            self._kept().remove(place)
                        except OSError as error:
                            left = fault_of(error)
        except StoreFault as fault:
            left = fault
        return left

    def _stored(self, place: str, number: int, start: int, count: int) -> bytes | None:
        """Return one piece from its row or file; None if that is missing or the disk cannot read it."""
        del number
        if _is_row(place):
            try:
                found = self._read("SELECT data FROM small_contents WHERE number = ?", (_number(place),))
            except Damaged:  # damage to this content; the check of the database names its pages
                return None
            data = found[0][0] if found else None
            # A large text that compressed to so little has several pieces.
            return data[start : start + count] if isinstance(data, bytes) else None
        try:
            descriptor = self._kept().open(place)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise fault_of(error) from error
        try:
            return read_at(descriptor, count, start)
        except OSError as error:
            # A bad sector is damage to this piece, and is reported as that; the store keeps working.
            if error.errno == errno.EIO:
                return None
            raise fault_of(error) from error
        finally:
            os.close(descriptor)

    def _orphans(self, execute: Execute) -> list[str]:
        """Return the files that no row names and that nobody is writing."""
        named = {place for (place,) in execute("SELECT place FROM contents")}
        found = []
        try:
            names = self._kept().names()
        except OSError as error:
            raise fault_of(error) from error
        for name in names:
            if name in named:
                continue
            # Other names need no check: they are published under the writer's lock, which pruning holds now.
            if name.startswith(_PENDING) and self._is_being_written(name):
                continue
            found.append(name)
        return found

    def _is_being_written(self, name: str) -> bool:
        """Return whether the process that writes a pending file is alive: it holds a lock on the file, which would end with it."""
        try:
            descriptor = self._kept().open(name)
        except FileNotFoundError:
            return False
        except OSError:  # cannot be determined now: it stays for the next pruning
            return True
        try:
            return not locks.acquire(descriptor)
        except OSError:
            return True
        finally:
            os.close(descriptor)

    def _kept(self) -> OwnFolder:
        """Return the folder of contents. Raises `CallerError` if the store is closed."""
        if self._contents is None:
            raise CallerError("The store is closed.")
        return self._contents


def _is_row(place: str) -> bool:
    """Return whether a content lies in a row: names of files have no colon."""
    return place.startswith(_ROW)


def _number(place: str) -> int:
    """Return the row number in a place; if damage made it invalid, 0, which no row has."""
    digits = place.removeprefix(_ROW)
    return int(digits) if digits.isdecimal() else 0


def _inserted(execute: Execute, data: bytes) -> str:
    """Return the place of small content, inserted as a row of this transaction."""
    ((number,),) = execute("INSERT INTO small_contents (data) VALUES (?) RETURNING number", (data,))
    return f"{_ROW}{number}"


def _write(descriptor: int, piece: bytes) -> None:
    """Write all of a piece: one call may write less."""
    view = memoryview(piece)
    while view:
        view = view[os.write(descriptor, view) :]


def _start_write_back(descriptor: int, start_byte: int, count: int) -> None:
    """Let the disk begin with a part of a file (a count of 0 means all that follows): the flush later finds most of it done."""
    if sys.platform == "linux":  # where `DONTNEED` for dirty pages starts to write them
        os.posix_fadvise(descriptor, start_byte, count, os.POSIX_FADV_DONTNEED)


_DISK = {
    errno.ENOSPC: ("disk_full", "The disk is full"),
    errno.EDQUOT: ("disk_full", "The quota of the disk is used up"),
    errno.EROFS: ("read_only", "The store can only be read"),
    errno.EACCES: ("read_only", "The store may not be written"),
    errno.EPERM: ("read_only", "The store may not be written"),
}


def fault_of(error: OSError) -> StoreFault:
    """Return a system error as a fault, classified by who can fix it."""
    code, said = _DISK.get(error.errno or 0, ("io_error", "The store failed"))
    where = f" ({error.filename})" if error.filename else ""
    return StoreFault(code, f"{said}: {error.strerror or error}{where}.")
