"""How are the bytes of an open file read? By position: never the whole file, never through a memory map.

A file may shrink, grow or be rewritten while it is read; a short read ends the answer there, and nothing can raise SIGBUS, as a map
of a shrinking file would. A file that reports no size although it has content (`/proc`) is read once, up to one hard cap, and then
consists of those bytes. Leaves to others: what the bytes mean.
"""

from __future__ import annotations

import errno
import functools
import os
from typing import TYPE_CHECKING

from penstock.text import window
from penstock.workspace.system import read_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.workspace.root import OpenFile

_SHRANK = "the file shrank during the read"


def _unsized(read_bytes: int) -> str:
    """Return the notice about a file whose size was unknown."""
    return f"the file system states no size: {read_bytes} bytes were read"


class FileSource:
    """A `ByteSource` over an open regular file.

    Args:
        file: The file; whoever opened it closes it.
    """

    def __init__(self, file: OpenFile) -> None:
        self.file = file
        self.status = file.status
        self.size_bytes = file.status.st_size
        """The file's size when it was opened: what is added later belongs to another page."""
        self.shrank = False
        """Whether a read found fewer bytes than that."""
        self._held: bytes | None = None
        if not self.size_bytes:
            held = read_at(file.descriptor, window.HARD_MAX_BYTES, 0)
            if held:
                self._held, self.size_bytes = held, len(held)

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        """Return up to `count_bytes` from `start_byte` on; fewer at the end. Raises OSError for a disk error."""
        wanted = min(count_bytes, self.size_bytes - start_byte)
        if wanted <= 0:
            return b""
        if self._held is not None:
            return self._held[start_byte : start_byte + wanted]
        parts: list[bytes] = []
        while wanted > 0:
            part = read_at(self.file.descriptor, wanted, start_byte)
            if not part:
                self.shrank = True
                break
            parts.append(part)
            start_byte += len(part)
            wanted -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def blocks(self, size_bytes: int, start_byte: int = 0) -> Iterator[bytes]:
        """Yield the file from `start_byte` on in blocks, none empty. Raises OSError for a disk error."""
        while block := self.read(start_byte, size_bytes):
            yield block
            start_byte += len(block)

    def next_data(self, start_byte: int) -> int:
        """Return the first byte from `start_byte` on that is not in a hole of a sparse file."""
        data = getattr(os, "SEEK_DATA", None)
        if data is None:  # the system does not report holes
            return start_byte
        try:
            return os.lseek(self.file.descriptor, start_byte, data)
        except OSError as error:
            # ENXIO: from there on there is only a hole (lseek(2)). Other errors mean that the file system knows no holes.
            return self.size_bytes if error.errno == errno.ENXIO else start_byte

    def notices(self) -> tuple[str, ...]:
        """Return the notices about the file itself."""
        said = (_SHRANK,) if self.shrank else ()
        return said if self._held is None else (*said, _unsized(len(self._held)))

    @functools.cached_property
    def head(self) -> bytes:
        """The first 8 KiB, which identify the kind of file."""
        return self.read(0, window.BINARY_PROBE_BYTES)

    def encoding(self) -> window.Encoding | None:
        """Return the encoding that the first bytes indicate; None for binary."""
        return window.detect(self.head)
