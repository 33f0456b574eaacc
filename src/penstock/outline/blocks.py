r"""How is a stream cut into blocks of whole lines, the same for every chunking of the same bytes?

A newline is put in front of the stream, so that every line, even the first, begins with one: a pattern that starts with
a newline is searched at the speed of memory. A block is `\n` line `\n` line ...; the newline that ends its last line
begins the next block. Leaves to others: what lines mean.

Law: the blocks depend only on the bytes of the stream, never on where it was cut into chunks; memory is two blocks and
a chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_BYTES = 256 * 1024
"""The most bytes of a block, and the widest line that is examined: of a wider one only this much is scanned."""

_BOM = b"\n\xef\xbb\xbf"


class Blocks:
    """Cuts chunks into blocks, and knows whether the last line has a newline.

    Args:
        whole_lines: Whether a block ends at the end of a line; otherwise it may be cut anywhere.
    """

    __slots__ = ("_first", "_held", "_skipping", "_whole_lines", "ends_in_line")

    def __init__(self, *, whole_lines: bool = True) -> None:
        self._held = b"\n"
        self._first = True
        self._skipping = False
        self._whole_lines = whole_lines
        self.ends_in_line = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the blocks that `chunk` completes."""
        if not chunk:
            return
        self.ends_in_line = not chunk.endswith(b"\n")
        data = self._held + chunk
        start = 0
        while True:
            if self._skipping:
                line = data.find(b"\n", start)
                if line < 0:
                    start = len(data)
                    break
                start = line
                self._skipping = False
            # A block is made only once all of its bytes are there: its end is then decided by the bytes, not by how many
            # of them came at once.
            if len(data) - start < BLOCK_BYTES:
                break
            end = start + BLOCK_BYTES
            if self._whole_lines:
                # From start + 1: the newline at `start` begins this block. Without another one the line is wider than a
                # block; what comes after its first BLOCK_BYTES is skipped up to the next newline.
                cut = data.rfind(b"\n", start + 1, end)
                if cut < 0:
                    self._skipping = True
                else:
                    end = cut
            yield self._block(data[start:end])
            start = end
        self._held = data[start:]

    def close(self) -> Iterator[bytes]:
        """Yield what is left at the end of the stream."""
        if self._held:
            yield self._block(self._held)
        self._held = b""

    def _block(self, block: bytes) -> bytes:
        """Return a block, the first one without its byte order mark."""
        if self._first:
            self._first = False
            if block.startswith(_BOM):
                return b"\n" + block[len(_BOM) :]
        return block


def find_line(block: bytes, position: int, word: bytes) -> int:
    """Return where the first whole line after `position` ends that is `word` between blanks; -1 if there is none.

    Args:
        block: Lines, each with its newline in front.
        position: An offset into it; the line that contains it does not count.
        word: What the line holds, such as the end of a here-document; a `;`, `,` or `)` may follow it.
    """
    size = len(block)
    while True:
        begin = block.find(b"\n", position)
        if begin < 0:
            return -1
        # The word is searched for and the line around it examined; going line by line would cost a step for each line of
        # a long here-document.
        found = block.find(word, begin)
        if found < 0:
            return -1
        begin = block.rfind(b"\n", begin, found)
        end = block.find(b"\n", found)
        if end < 0:
            end = size
        if block[begin:end].strip(b" \t\r\n;,)") == word:
            return end
        position = end
