"""What are the lines of a file, given its bytes: by its encoding, and by its record separators?

Law: no file is refused, and the text of line n is the bytes from offset n to offset n + 1. Leaves to others: which part of a line
is code (`reading`).
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from .program import Warned

RECORD_BYTES = 80
"""The length of a card in bytes, and of a record of a data set member that was copied without its record ends."""
AREA_A, IDENTIFICATION = 7, 72
"""The columns of a card where code begins and ends, counted from 0."""
TAB = 8


def _is_kana(runs: list[bytes]) -> bool:
    """Return whether runs of bytes beyond ASCII are words in kana of one byte, which files of old Japanese systems may have alone.

    In other codecs such bytes are capitals with accents, which stand alone; Cyrillic or Greek capitals, nearly all from 0xC0 on, or
    in ISO 8859-5 nearly all before 0xD0; lines of boxes, of which one is the most frequent; or halves of letters, and then their
    number is even.
    """
    letters = b"".join(runs)
    often = Counter(letters)
    return (
        _KANA.fullmatch(letters) is not None
        and any(len(run) > 2 and len(run) % 2 for run in runs)
        and 2 * len(runs) < len(letters)
        and 3 * max(often.values()) <= len(letters)
        and 6 * sum(often[byte] for byte in range(0xA6, 0xC0)) > len(letters)
        and 16 * sum(often[byte] for byte in range(0xD0, 0xE0)) > len(letters)
    )


def _is_turkish(data: bytes, runs: list[bytes]) -> bool:
    """Return whether the bytes beyond ASCII are letters of Turkish, whose codec differs from Latin-1 in six of them.

    Where Turkish has the dotless i, the s with a cedilla and the soft g, Latin-1 has letters of Icelandic. Icelandic has other
    vowels with accents as well, and its eth is far more frequent than its y with an accent, while in Turkish the i is. Czech has
    this y, too, but not the others.
    """
    own = b"".join(_OF_TURKISH.findall(data))
    dotless, soft = (sum(map(own.count, letters)) for letters in (b"\xdd\xfd", b"\xd0\xf0"))
    return len(own) >= _LETTERS_OF_TURKISH and len(own) > dotless > 2 * soft and all(map(_TURKISH.fullmatch, runs))


# In EBCDIC a record may end with NEL or with LF, depending on the tool that transferred it.
_RECORD_MARKS = {"cp037": (b"\x15", b"\x25")}
_UNREAD = "\ufffd"
"""The replacement for a byte that its codec cannot decode: one for each, so that columns and lines stay right."""
_LETTERS_OF_DAMAGE = 10
"""How many letters a codec must decode for each byte that it cannot, to count as the codec of a file."""
# Two-byte letters, whose first bytes distinguish the codecs, and which of those are common: signs, kana, and the first
# thousands of kanji. JIS of 2004 includes the signs that vendors added to EUC.
_PAIRS_OF_BYTES = {
    "cp932": re.compile(rb"(?>(?:[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc])+)"),
    "euc_jis_2004": re.compile(rb"(?>(?:[\xa1-\xfe][\xa1-\xfe])+)"),
}
_USUAL_LEADS = {"cp932": range(0x81, 0x99), "euc_jis_2004": (*range(0xA1, 0xA9), *range(0xB0, 0xD0))}
_EUC_KANA = b"\xa4\xa5"
"""The leads of kana in EUC: Korean and Chinese share the others."""
_LETTERS_OF_A_KANA = 50
_KANA = re.compile(rb"[\xa1-\xdf]++")
_SIGNS = re.compile(rb"(?<![A-Za-z])(?>(?:\x81[\x40-\x7e\x80-\xfc])+)(?![A-Za-z])")
"""Signs of Shift-JIS such as arrows and circles, which a program may have alone: in DOS this lead is a letter within words, and
elsewhere it is a control."""
_TURKISH = re.compile(
    rb"[\x91-\x94\xa0\xa7\xab\xb0\xb4\xbb\xc2\xc7\xce\xd0\xd6\xdb-\xde\xe2\xe7\xee\xf0\xf6\xfb-\xfe]++"
)
"""The letters of Turkish beyond ASCII, and signs that may stand beside them."""
_OF_TURKISH = re.compile(rb"(?<=[A-Za-z])[\xd0\xdd\xde\xf0\xfd\xfe]|[\xd0\xdd\xde\xf0\xfd\xfe](?=[A-Za-z])")
"""In a word, the letters that Turkish has in place of others of Latin-1."""
_LETTERS_OF_TURKISH = 3
# What Latin-1 text does not contain: runs of two-byte letters, the box characters of DOS, or a letter of UTF-8.
_HIGH = re.compile(rb"[\x80-\xff]++")
_OF_DOS = re.compile(rb"(?<=[A-Za-z])[\x81\x82\x84\x87\x8d\x8f\x90\x98\x9d](?=[A-Za-z])")
"""Within a word, letters of DOS: in Latin-1 they are controls, and to Windows signs that stand between words, or nothing."""
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}  # by the mark that they begin with
# Between shift-out and shift-in a byte is half a letter, even if it is the byte of a quote.
_SHIFTED = re.compile("\x0e([^\x0f\n]*+)\x0f")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_CARDS = frozenset(b" *-/Dd")  # what column 7 of a card holds
_NOTHING = {0: " ", 0x1A: " "}  # the padding of records, and the old end-of-file mark


class Records(NamedTuple):
    """The lines of a file, decoded, and their offsets in its bytes."""

    encoding: str
    lines: list[str]
    offsets: tuple[int, ...]
    """Where each line begins in the bytes."""
    warnings: list[Warned]


def records(data: bytes) -> Records:
    """Return the lines of a file, whatever its encoding and record separators."""
    encoding, doubt = _encoding(data)
    lines, offsets = _records(data, encoding)
    warnings = _unended(data, lines, encoding)
    if doubt:
        warnings.append(Warned(next(n for n, line in enumerate(lines, 1) if _is_doubtful(line, encoding)), doubt))
    return Records(encoding, lines, offsets, warnings)


def in_columns(lines: list[str], encoding: str) -> list[str]:
    """Return lines of cards in which a letter takes as many columns as it has bytes in its codec."""
    if encoding not in _PAIRS_OF_BYTES:
        return lines
    return [line if line.isascii() else _widened(line, encoding) for line in lines]


def doubled(lines: list[str], encoding: str) -> list[str]:
    """Return lines in which each letter is repeated for each column that it takes, so that it can be seen what column 72 cuts."""
    if encoding not in _PAIRS_OF_BYTES:
        return lines

    def wide(letter: re.Match[str]) -> str:
        return letter[0] * len(letter[0].encode(encoding, "replace"))

    return [line if line.isascii() else _BEYOND_ASCII.sub(wide, line) for line in lines]


def begins(lines: list[bytes] | list[str]) -> tuple[int, ...]:
    """Return the offset of each line, with one character between two lines."""
    return (0, *accumulate([length + 1 for length in map(len, lines)]))[: len(lines)]


def _encoding(data: bytes) -> tuple[str, str]:
    """Return the codec of a file, judged by its bytes alone, and what is doubtful about it, "" for nothing.

    No file is refused: what is neither UTF-16 by its mark, nor EBCDIC by its blanks, nor UTF-8, nor Japanese by its pairs
    of bytes, nor Turkish by its letters is Latin-1, which decodes every byte to one character and so keeps the columns. A few
    undecodable bytes do not change the codec of a file.
    """
    if data.isascii():
        return "utf-8", ""
    # The mark alone is not enough: with an odd byte at the end the file is not UTF-16, and decoding must not fail later.
    if data[:2] in _WIDE and _damage(data, _WIDE[data[:2]]) == 0:
        return _WIDE[data[:2]], ""
    # In EBCDIC a blank is 0x40 and capitals are above 0xC0; 0x20 is a control character.
    sample = data[:65_536]
    if sample.count(b"\x40") > max(len(sample) // 20, 4 * sample.count(b"\x20")):
        return "cp037", ""
    for encoding in ("utf-8", *_PAIRS_OF_BYTES):
        damage = _damage(data, encoding) if encoding == "utf-8" or _is_japanese(data, encoding) else None
        if damage is not None:
            return (
                encoding,
                f"bytes that are not letters of {encoding}: {damage}, each read as {_UNREAD}" if damage else "",
            )
    high = _HIGH.findall(data)
    if _is_kana(high) or (high and _SIGNS.sub(b"", data).isascii()):
        return "cp932", ""
    if _is_turkish(data, high):
        return "iso8859-9", ""
    paired = [run for run in high if len(run) > 3 and len(set(run)) > 1] or _UTF_8.findall(data)
    if 2 * sum(map(len, paired)) > sum(map(len, high)) or _OF_DOS.search(data):
        return "latin-1", "letters of an encoding that is not known: each byte is read as a letter of latin-1"
    return "latin-1", ""


def _is_doubtful(line: str, encoding: str) -> bool:
    """Return whether a line is one that the doubt about an encoding refers to."""
    return not line.isascii() if encoding == "latin-1" else _UNREAD in line


def _is_japanese(data: bytes, encoding: str) -> bool:
    """Return whether a file that is not UTF-8 may be in a Japanese codec: its pairs are adjacent and are common letters.

    An accented letter forms such a pair with the letter after it, but only a single pair, and with other lead bytes: the common
    ones of Shift-JIS are controls in Latin-1, or the quotes of Windows.
    """
    runs = _PAIRS_OF_BYTES[encoding].findall(data)
    leads = b"".join([run[::2] for run in runs])
    together = sum(len(run) // 2 for run in runs if len(run) > 2)
    usual = sum(map(leads.count, _USUAL_LEADS[encoding]))
    kana = sum(map(leads.count, _EUC_KANA)) if encoding != "cp932" else len(leads)
    return together * 2 > len(leads) and usual * 4 > len(leads) * 3 and kana * _LETTERS_OF_A_KANA > len(leads)


def _damage(data: bytes, encoding: str) -> int | None:
    """Return how many bytes a codec cannot decode; None if it decodes too few others to be the codec of the file."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        damage = text.count(_UNREAD)
        letters = len(text) - len(text.encode("ascii", "ignore")) - damage
        return damage if letters >= damage * _LETTERS_OF_DAMAGE else None
    return 0


def _records(data: bytes, encoding: str) -> tuple[list[str], tuple[int, ...]]:
    r"""Return the lines of a file without their ends, and the byte offset of each.

    The two must agree: line n of the text is the bytes from offset n to offset n + 1, because citations
    are checked in the text and chunks are cut in the bytes. So bytes are split first, or the text in a codec in which a
    newline is always one byte that means nothing else; only "\n" ends a line, not everything that `str.splitlines` accepts
    (form feed, U+2028). In a file without "\n", "\r" does.
    """
    if not data:
        return [], ()
    if encoding in _WIDE.values():
        # UTF-16 is split after decoding: the two bytes of a newline also occur across two letters, as in U+0A0A.
        text = data.decode(encoding)
        end = "\n" if "\n" in text else "\r"
        lines = text.removesuffix(end).split(end)
        units = [line.encode(encoding)[::2] for line in lines]  # a byte for each unit of two
        lines[0] = lines[0].removeprefix("\ufeff")
        return [line.translate(_NOTHING).rstrip("\r") for line in lines], tuple(2 * at for at in begins(units))
    marks = _RECORD_MARKS.get(encoding, (b"\n", b"\r") if b"\n" not in data else (b"\n",))
    # Only one of the two ends records; any occurrence of the other is data.
    mark = max(marks, key=data.count)
    is_cards = mark not in data and _is_cards(data, encoding)
    if is_cards:
        records = [data[at : at + RECORD_BYTES] for at in range(0, len(data), RECORD_BYTES)]
        offsets = tuple(range(0, len(data), RECORD_BYTES))
    else:
        records = data.split(mark)
        if not records[-1]:
            records.pop()
        offsets = begins(records)
    if encoding == "cp037":
        lines = [
            _SHIFTED.sub(_double_bytes, record.decode(encoding).rstrip("\n\x85").replace("\n", " "))
            for record in records
        ]
    else:
        if is_cards:
            lines = [record.decode(encoding, "replace") for record in records]
        else:
            lines = data.decode(encoding, "replace").split(mark.decode())[: len(records)]
        lines[0] = lines[0].removeprefix("\ufeff")
    if b"\0" in data or b"\x1a" in data:
        lines = [line.translate(_NOTHING) for line in lines]
    if b"\r" in data or encoding == "cp037":
        lines = [line.rstrip("\r\x85") for line in lines]
    return lines, offsets


def _is_cards(data: bytes, encoding: str) -> bool:
    """Return whether a file without line ends has the length of whole cards: a data set member that was downloaded in binary.

    In EBCDIC that is enough. In a translated file, column 7 of every card must also hold an indicator, or the NUL of an empty one.
    """
    if len(data) % RECORD_BYTES:
        return False
    return encoding in _RECORD_MARKS or (
        len(data) > RECORD_BYTES and set(data[AREA_A - 1 :: RECORD_BYTES].translate(None, b"\0")) <= _CARDS
    )


def _unended(data: bytes, lines: list[str], encoding: str) -> list[Warned]:
    """Return a warning if the lines of a file end in a way that is unknown here, or that other tools do not know."""
    returned = next((number for number, line in enumerate(lines, 1) if "\r" in line), 0) if b"\r" in data else 0
    if returned:
        return [Warned(returned, "carriage returns alone end no line: what follows them is read as the same one")]
    if len(lines) == 1 and len(data) > RECORD_BYTES and encoding == "cp037":
        return [Warned(1, f"neither ends of records nor records of {RECORD_BYTES} bytes: all is read as one line")]
    if len(lines) > 1 and b"\n" not in data and encoding not in _RECORD_MARKS:
        ends = (
            "carriage returns alone end the lines" if b"\r" in data else f"records of {RECORD_BYTES} bytes without ends"
        )
        return [Warned(1, f"{ends}: each is read as a line, and to who knows newlines alone all are one")]
    return []


def _double_bytes(shifted: re.Match[str]) -> str:
    """Return a shifted stretch of EBCDIC with an underscore for every byte, because there is no table for its letters here."""
    return f"\x0e{'_' * len(shifted[1])}\x0f"


def _widened(line: str, encoding: str) -> str:
    """Return a line in which what is past column 72 by bytes is also past it by letters."""
    # An unencodable letter becomes "?", which does not matter: only the number of letters that fit is needed.
    code = line.encode(encoding, "replace")[:IDENTIFICATION].decode(encoding, "ignore")
    fits = line[: len(code)]
    return line if len(fits) == len(line) else fits.ljust(IDENTIFICATION) + line[len(fits) :]
