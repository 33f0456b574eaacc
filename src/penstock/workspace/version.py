"""Is this still the file that an earlier page showed? A short token that says which version a page belongs to.

A token holds the size, the place where the page ended, and hashes of the file's identity, of its times, and of the 4 KiB
before that place: times alone miss a write through a memory map, and names say nothing (reliability.md, H5 and H6).
Law: two tokens of an untouched file are `SAME`, whatever place they were made for. Keeps out: what a reader does about it.
"""

from __future__ import annotations

import enum
import hashlib
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError

if TYPE_CHECKING:
    import os

    from penstock.window import ByteSource

ANCHOR_BYTES = 4096
_IDENTITY, _TIMES, _ANCHOR = 4, 4, 8  # characters of base64 each: 24, 24 and 48 bits


class Change(enum.Enum):
    """What became of a file since a token was made."""

    SAME = "same"
    GREW = "grew"
    TIMES = "was written to: its time stamps changed, its size did not"
    SHRANK = "shrank"
    RESIZED = "was rewritten: its size changed and the text before this place too"
    REWRITTEN = "was rewritten: the text before this place changed"
    REPLACED = "was replaced by another file"


class Version(NamedTuple):
    """A parsed token. `cursor_byte` is where the page that carried it ended."""

    size_bytes: int
    cursor_byte: int
    identity: str
    times: str
    anchor: str

    def __str__(self) -> str:
        return f"{_base36(self.size_bytes)}.{_base36(self.cursor_byte)}.{self.identity}{self.times}{self.anchor}"


def of(source: ByteSource, status: os.stat_result, cursor_byte: int, *, before: bytes | None = None) -> Version:
    """The version of an open file for a page that ends at `cursor_byte`. `before` saves a read: bytes that end there."""
    cursor = min(cursor_byte, status.st_size)
    count = min(ANCHOR_BYTES, cursor)
    if before is None or len(before) < count:
        before = source.read(cursor - count, count)
    return Version(
        size_bytes=status.st_size,
        cursor_byte=cursor,
        identity=_digest(b"%d:%d" % (status.st_dev, status.st_ino), _IDENTITY),
        times=_digest(b"%d:%d" % (status.st_mtime_ns, status.st_ctime_ns), _TIMES),
        anchor=_digest(before[len(before) - count :], _ANCHOR),
    )


def compare(earlier: Version, source: ByteSource, status: os.stat_result) -> Change:
    """What happened to the file since `earlier`, judged at the place where that page ended."""
    now = of(source, status, earlier.cursor_byte)
    if now.identity != earlier.identity:
        return Change.REPLACED
    if now.size_bytes < earlier.size_bytes:
        return Change.SHRANK
    anchored = now.anchor == earlier.anchor
    if now.size_bytes > earlier.size_bytes:
        return Change.GREW if anchored else Change.RESIZED
    if not anchored:
        return Change.REWRITTEN
    return Change.SAME if now.times == earlier.times else Change.TIMES


def parse(token: str) -> Version:
    """The version that `str` wrote. Raises `ToolError` for anything else."""
    size, _, rest = token.partition(".")
    cursor, _, digest = rest.partition(".")
    width = _IDENTITY + _TIMES + _ANCHOR
    if len(digest) == width and digest.replace("-", "a").replace("_", "a").isalnum() and len(token) < 64:
        try:
            return Version(
                size_bytes=int(size, 36),
                cursor_byte=int(cursor, 36),
                identity=digest[:_IDENTITY],
                times=digest[_IDENTITY : _IDENTITY + _TIMES],
                anchor=digest[_IDENTITY + _TIMES :],
            )
        except ValueError:
            pass
    raise ToolError(
        "bad_argument", "version: not one that a page printed. Copy it from the page before, or leave it out."
    )


def _digest(data: bytes, characters: int) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()[:12]).decode("ascii")[:characters]


def _base36(number: int) -> str:
    digits = ""
    while number >= 36:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return "0123456789abcdefghijklmnopqrstuvwxyz"[number] + digits
