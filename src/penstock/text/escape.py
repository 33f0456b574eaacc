r"""How is foreign text shown so that it can only be read? Everything that hides, steers a terminal or reverses the
reading order is escaped (L-10).

File contents and file names are written by strangers. Invalid bytes, controls, bidirectional and invisible characters
become `\xNN` or `\u{…}`, and are counted. Printable characters, tabs and line ends stay as they are. Laws: the shown
form holds no character of the escaped set; `parse_name(show_name(n)) == n` for every name. Leaves to others: which text
is shown, and what is said about it.
"""

from __future__ import annotations

import re
from functools import cache

# Controls, zero-width and bidirectional characters, the byte order mark and surrogates; then their kin: separators that some
# viewers take for a line end, characters that Unicode says to display as nothing (Default_Ignorable_Code_Point), and the Braille
# blank. Whole instructions have been written in variation selectors, sixteen of which make a byte: of these only the two that
# choose between text and emoji stay, and only directly after a character that has both forms (`❤️`, `1️⃣`).
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"  # zero width, bidirectional
    "\ufeff\U000e0000-\U000e0fff"  # BOM inside; tags, variation selectors supplement, and code points reserved for such
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2028\u2029\u2065\u206a-\u206f\u3164\uffa0\ufff0-\ufffb"
    "\u180b-\u180d\u180f\u2800\ufe00-\ufe0d"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\ud800-\udfff"  # surrogates: bytes that were not UTF-8, or halves of UTF-16
)
_EMOJI_OR_TEXT = r"(?<![#*0-9\xa9\xae\u203c-\u27ff\u2900-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
_IN_LINE = "\t\n" + _HIDDEN
_IN_NAME = r"\\" + _IN_LINE
_ESCAPE_CUT_OFF = r"\\(?:x[0-9a-f]?|u(?:\{[0-9a-f]{0,6})?)?$"
_ESCAPE_IN_NAME = r"\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\})"
_PLAIN = bytes(code if code in b"\t\n" or 0x20 <= code < 0x7F else 0x80 for code in range(256))  # shown as it is
_PLAIN_IN_NAME = bytes(code if 0x20 <= code < 0x7F and code != 0x5C else 0x80 for code in range(256))


@cache
def _any_of(characters: str) -> re.Pattern[str]:
    """Return a pattern of any of the characters, and of an emoji or text selector without a character to choose for.

    Compiled when first needed: most text is plain, and each class costs a millisecond.
    """
    return re.compile(f"([{characters}]|{_EMOJI_OR_TEXT})")


@cache
def _escape(character: str) -> str:
    r"""Return the escape of one character: `\xNN` for ASCII and for bytes that were not UTF-8, `\u{…}` for all others."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: the byte itself
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


def _escape_any(characters: str, text: str) -> str:
    """Return a text with those characters escaped."""
    # Split, mapped and joined: a substitution with a callback for each match takes three times as long.
    parts = _any_of(characters).split(text)
    parts[1::2] = map(_escape, parts[1::2])
    return "".join(parts)


def _is_plain(text: str, plain: bytes) -> bool:
    """Return whether all of a text is ASCII that needs no escaping check: ten times as fast as the pattern."""
    if not text.isascii():
        return False
    data = text.encode("ascii")
    return data.translate(plain) == data


def show(text: str) -> tuple[str, int]:
    """Return a text made inert, and how many characters were escaped.

    A carriage return before a line feed is part of a line end, and is not counted.
    """
    shown = show_text(text)
    return shown, count_escapes(text, shown)


def show_text(text: str) -> str:
    """Return a text made inert, line by line: a text of some of its lines is shown as the same lines."""
    if (text.isascii() and text.isprintable()) or _is_plain(text, _PLAIN):  # as nearly all lines are
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.isascii():
        return _show_ascii(text)
    return _escape_any(_HIDDEN, text)


def count_escapes(text: str, shown: str) -> int:
    """Return how many characters of a text are escaped in its shown form.

    Args:
        text: the original.
        shown: what `show_text` made of it.
    """
    # Each escape adds one backslash, and none is removed.
    return 0 if shown == text else shown.count("\\") - text.count("\\")


def _show_ascii(text: str) -> str:
    """Return ASCII text made inert by Python's own escaping, which writes control characters as we do and costs next to
    nothing.

    It also escapes backslashes, tabs and line ends, which stay as they are here. In its output each run of backslashes
    consists of doubled ones and at most one more that begins an escape, so pairs taken from the left are the doubled ones.
    They are replaced by NUL, which no longer occurs there, until the others are undone.
    """
    escaped = text.encode("unicode_escape")
    for character, written, stays in (("\\", rb"\\", b"\0"), ("\t", rb"\t", b"\t"), ("\r", rb"\r", rb"\x0d")):
        if character in text:  # searching for a pair among many backslashes costs twice as much as the escaping
            escaped = escaped.replace(written, stays)
    # Every page has line ends, but few: in that case the pattern is three times as fast as `bytes.replace`.
    return re.sub(rb"\\n", b"\n", escaped).replace(b"\0", b"\\").decode("ascii")


def show_name(name: bytes | str) -> str:
    r"""Return a file name as one inert line; `parse_name` restores the name.

    Backslashes are escaped too, so that no two names look alike.

    Args:
        name: the name as the system has it; bytes that are not UTF-8 become `\xNN`.
    """
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    return text if _is_plain(text, _PLAIN_IN_NAME) else _escape_any(_IN_NAME, text)


def show_argument(text: str) -> str:
    """Return an argument as a printed call repeats it: inert, with existing escapes left unchanged."""
    return text if _is_plain(text, _PLAIN_IN_NAME) else _escape_any(_IN_LINE, text)


def parse_name(shown: str) -> bytes:
    """Return the bytes of the name with this shown form: escapes of `show_name` are undone, everything else is unchanged."""

    def unescaped(match: re.Match[str]) -> str:
        byte, point = match.groups()
        if byte is not None:
            code = int(byte, 16)
            # A byte of 0x80 and above goes through its surrogate, so that encoding restores the byte.
            return chr(code) if code < 0x80 else chr(0xDC00 + code)
        code = int(point, 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match.group()

    return re.sub(_ESCAPE_IN_NAME, unescaped, shown).encode("utf-8", "surrogateescape")


def clip(text: str, limit_bytes: int = 256) -> str:
    """Return what an error echoes of an argument: inert, on one line, at most `limit_bytes` of it.

    Args:
        text: anything that a stranger wrote.
        limit_bytes: the most bytes of UTF-8, without the ellipsis.
    """
    return shorten(show_name(text[: limit_bytes + 1]), limit_bytes)


def shorten(shown: str, limit_bytes: int = 256) -> str:
    """Return at most `limit_bytes` of a text that is already inert, cut between characters and between escapes."""
    raw = shown.encode("utf-8")
    if len(raw) <= limit_bytes:
        return shown
    return re.sub(_ESCAPE_CUT_OFF, "", raw[:limit_bytes].decode("utf-8", "ignore")) + "…"
