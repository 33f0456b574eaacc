"""Is a file still the one that an earlier page showed? A short token identifies the version that a page belongs to.

A token holds the size, the position where the page ended, and hashes of the file's identity, of its times, and of the 4 KiB before
that position: times alone miss a write through a memory map, and names say nothing (ADR 1). It is short, because every page carries
it. Law: two tokens of an untouched file are `SAME`, whatever positions they were made for. Leaves to others: how a reader reacts to
a change (`texts`).
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL first: 3 ms of a command that takes 60
except ImportError:
    from hashlib import blake2b

from penstock.errors import ToolError

if TYPE_CHECKING:
    import os

    from penstock.call import Call
    from penstock.workspace.source import FileSource

ANCHOR_BYTES = 4096
"""How many bytes before the end of a page are hashed."""
# Decimal digits of each hash: tokenizers take three at a time, so 21 always cost seven tokens; base64 of as many bits costs 5 to
# 11, hexadecimal 5 to 14 (o200k, 400 random ones each).
_IDENTITY, _TIMES, _ANCHOR = 5, 6, 10
_FORM = r"([0-9]{1,19})\.([0-9]{1,19})\.([0-9]{5})([0-9]{6})([0-9]{10})"


class FileStamp(NamedTuple):
    """What a write to a file changes in its status: the same stamp, the same content, except for a write through a memory map."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    """The time of the last change of content, name, owner or permissions; no program can set it."""

    @classmethod
    def of(cls, status: os.stat_result) -> FileStamp:
        """Return the stamp of a file with this status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class VersionChange(enum.Enum):
    """How a file has changed since a token was made."""

    SAME = "same"
    """Nothing that a token records has changed."""
    GREW = "grew"
    """Longer, and the same before the position where the page ended, as a log is."""
    TIMES = "may have been rewritten: its time stamps changed, its size did not"
    SHRANK = "shrank"
    RESIZED = "was rewritten: its size changed and the text before this place too"
    REWRITTEN = "was rewritten: the text before this place changed"
    REPLACED = "was replaced by another file"


class Version(NamedTuple):
    """The version of a file that a page belongs to: a parsed token `SIZE.PLACE.HASHES`, all of it decimal digits."""

    size_bytes: int
    cursor_byte: int
    """Where the page that carried the version ended."""
    identity: str
    """A hash of device and inode, five digits."""
    times: str
    """A hash of the modification and change times, six digits."""
    anchor: str
    """A hash of the bytes before `cursor_byte`, ten digits."""

    def __str__(self) -> str:
        return f"{self.size_bytes}.{self.cursor_byte}.{self.identity}{self.times}{self.anchor}"


def of(source: FileSource, cursor_byte: int, *, before: bytes | None = None) -> Version:
    """Return the version of an open file for a page that ends at `cursor_byte`; `before`, the bytes up to there, saves a read."""
    status = source.status
    cursor = min(cursor_byte, source.size_bytes)
    count = min(ANCHOR_BYTES, cursor)
    if before is None or len(before) < count:
        before = source.read(cursor - count, count)
    return Version(
        size_bytes=source.size_bytes,
        cursor_byte=cursor,
        identity=_mark(status.st_dev, status.st_ino, _IDENTITY),
        times=_mark(status.st_mtime_ns, status.st_ctime_ns, _TIMES),
        anchor=_digest(before[len(before) - count :], _ANCHOR),
    )


def compare(earlier: Version, source: FileSource) -> VersionChange:
    """Return what happened to the file since `earlier`, judged at the position where that page ended."""
    # From the strongest sign to the weakest. The anchor is read at the old position, whatever page is requested now.
    now = of(source, earlier.cursor_byte)
    if now.identity != earlier.identity:
        return VersionChange.REPLACED
    if now.size_bytes < earlier.size_bytes:
        return VersionChange.SHRANK
    anchored = now.anchor == earlier.anchor
    if now.size_bytes > earlier.size_bytes:
        return VersionChange.GREW if anchored else VersionChange.RESIZED
    if not anchored:
        return VersionChange.REWRITTEN
    return VersionChange.SAME if now.times == earlier.times else VersionChange.TIMES


def parse(token: str, *ways: Call) -> Version:
    """Return the version that `str` wrote.

    Args:
        token: What a page printed.
        ways: Calls that work if no page printed the token: the call without it.

    Raises:
        ToolError: No page printed it.
    """
    match = re.fullmatch(_FORM, token)
    if match is not None:
        size, cursor, identity, times, anchor = match.groups()
        return Version(size_bytes=int(size), cursor_byte=int(cursor), identity=identity, times=times, anchor=anchor)
    raise ToolError(
        "bad_argument", "version: not one that a page printed. Copy it from the page before, or leave it out.", *ways
    )


@lru_cache(maxsize=256)
def _mark(first: int, second: int, digits: int) -> str:
    """Return a hash of two numbers of a file; a page asks for that of one file up to three times, and so does the next."""
    return _digest(b"%d:%d" % (first, second), digits)


def _digest(data: bytes, digits: int) -> str:
    """Return a hash of some bytes in that many decimal digits."""
    return f"{int.from_bytes(blake2b(data, digest_size=8).digest()) % 10**digits:0{digits}}"
