"""How does a page carry data? As compressed JSON, in characters that are safe anywhere; the page's script makes elements of it.

The tables of a million lines take half a gigabyte as HTML, and a fortieth of that here; a page from disk can load a script and
inflate data, but fetch nothing. Law: what is unpacked is what was packed, with every text inert: nothing in it acts on its reader.
Leaves to others: what a page says, and what its script makes of it (`static`).
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from functools import cache
from typing import TYPE_CHECKING

from penstock.scribe.pages.blocks import BELOW
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# The level of zlib, measured on the pages of examples/cobol: 1 leaves 16 % more than 6 in half of the time, 4 leaves 4 % more.
# Between processor time and space (C-19, C-20), time is the scarcer on an estate.
_LEVEL = 1
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")
"""A character in ASCII JSON that is not ASCII; one beyond U+FFFF is two."""
_RAW = -15
"""No header and no checksum: the browser's `deflate-raw`."""

# Values have no cycles: checking for them takes half as long as writing.
_told = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def packed(value: Json) -> str:
    """Return a value packed, in base64.

    Args:
        value: Lists, tuples, dictionaries, texts and numbers; names are texts, and are made inert.
    """
    text = _told(value)
    if not _is_plain(text):
        text = _told(_inert(value))
    squeezing = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return base64.b64encode(squeezing.compress(text.encode()) + squeezing.flush()).decode()


def unpacked(text: str) -> Json:
    """Return the value of a packed text."""
    return json.loads(zlib.decompress(base64.b64decode(text), _RAW))


def _is_plain(text: str) -> bool:
    """Return whether every character of ASCII JSON is shown as it is.

    Checked as a whole, because checking each of a hundred thousand texts takes longer than packing them.
    """
    rest = text.replace(r"\\", "").replace(r"\"", "").replace(json.dumps(BELOW), "")
    if "\\" in rest and all(map(_is_shown, set(_ESCAPED.findall(rest)))):  # umlauts, Japanese, a text that was cut
        rest = _ESCAPED.sub("", rest)
    return "\\" not in rest and "\x7f" not in rest


@cache
def _is_shown(code: str) -> bool:
    """Return whether the character of a code in hexadecimal is shown as it is, whatever is around it."""
    return escape.show_text(chr(int(code, 16))) == chr(int(code, 16))


def _inert(value: Json) -> Json:
    if isinstance(value, str):
        return value if value == BELOW else escape.show_text(value)
    if isinstance(value, list | tuple):
        return [_inert(one) for one in value]
    if isinstance(value, dict):
        return {_inert(name): _inert(one) for name, one in value.items()}
    return value
