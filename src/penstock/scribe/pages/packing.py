"""What a page tells as data: JSON, compressed, in letters that stand anywhere; the script of the page makes elements of it.

A million lines have tables of half a gigabyte as HTML, and a fortieth of that here; a page from disk can load a script, and
inflate, but fetch nothing. Law: what is unpacked is what was packed, with every text inert: nothing in it acts on who reads it.
Keeps out: what a page tells, and what its script makes of it (`static`).
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import TYPE_CHECKING

from penstock.scribe.pages.blocks import BELOW
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# Of the levels of zlib, on the pages of examples/cobol: 1 leaves 16 % more than 6 in half of the time, 4 leaves 4 % more. Of
# processor time and room (C-19, C-20), time is what an estate is short of.
_LEVEL = 1
_SHOWN = re.compile(r"\\u(?:00(?:a[1-9a-cef]|[b-f][0-9a-f])|2026)")
"""What is shown as it is, as JSON of ASCII writes it: letters and signs of Latin-1, but for U+00AD, and our ellipsis."""
_RAW = -15
"""No header and no checksum: the browser's `deflate-raw`."""

# No value holds itself: to look whether one does takes as long as to write half of it.
_told = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def packed(value: Json) -> str:
    """Return a value packed, in the letters of base64.

    Args:
        value: Lists, tuples, dictionaries, texts and numbers; what has a name in it is a text, and is made inert.
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
    """Return whether JSON of ASCII holds nothing but letters that can be printed: no escape but of a quote, itself or `_SHOWN`.

    Looked at as a whole, because to look at each of a hundred thousand texts takes longer than to pack them.
    """
    rest = text.replace(r"\\", "").replace(r"\"", "").replace(json.dumps(BELOW), "")
    if "\\" in rest:  # as where there are umlauts, or a text was cut
        rest = _SHOWN.sub("", rest)
    return "\\" not in rest and "\x7f" not in rest


def _inert(value: Json) -> Json:
    if isinstance(value, str):
        return value if value == BELOW else escape.show_text(value)
    if isinstance(value, list | tuple):
        return [_inert(one) for one in value]
    if isinstance(value, dict):
        return {_inert(name): _inert(one) for name, one in value.items()}
    return value
