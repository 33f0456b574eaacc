"""Which names did a text mention that nobody can make up? Order, customer and flight numbers, dates, mail addresses.

A model that no longer sees what was said can write code again or read a file again, but it cannot guess an identifier, and
its next call has to name exactly that one. So the text that replaces a conversation, or a foreign tool's result, names them.
Laws: the names are inert, never longer than asked, and never longer than `MAX_NAMES_CHARS`; at most `_LOOK_CHARS` are read
for them, so that a result of a hundred megabytes costs as much as one of a page. Leaves to others: which texts (`spans`,
`views`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAMES_CHARS = 2_000
"""The most characters of names in one replacement text: otherwise a table of numbers would be repeated in its own stub."""
_LOOK_CHARS = 20_000
"""How many of the newest characters are searched: ten times what may be named."""
# With a digit and a letter or a hyphen, or with five digits: no counts, times or decimals. Longer ones are digests. Every
# repeat is bounded: in base64 a match can start at each slash, and would read to the end from each of them.
_NAME = re.compile(
    r"(?<![\w.])[@#]?(?=\w)(?=[\w.@/#+-]{0,39}\d)(?=[\w.@/#+-]{0,39}[A-Za-z-]|\d{5})"
    r"\w[\w.@/#+-]{2,38}\w(?!\w|\.\w)",
    re.ASCII,
)


def names_in(texts: Sequence[str], max_chars: int) -> str:
    """Return the identifiers in some texts, each once; the newest if there is no room for all.

    Args:
        texts: what was said, oldest first.
        max_chars: the most characters; capped at `MAX_NAMES_CHARS`.
    """
    left_chars, look_chars = min(max_chars, MAX_NAMES_CHARS) + len(_BETWEEN), _LOOK_CHARS
    kept: dict[str, None] = {}
    # Backwards, so that the newest mention of a name decides its position, and reading stops when the room or the limit is used up.
    for text in reversed(texts):
        for name in reversed(_NAME.findall(_end(text, look_chars))):
            if name in kept:
                continue
            left_chars -= len(name) + len(_BETWEEN)
            if left_chars < 0:
                return _joined(kept)
            kept[name] = None
        look_chars -= len(text)
        if look_chars <= 0:
            break
    return _joined(kept)


_BETWEEN = ", "
_SPACE = re.compile(r"\s")


def _end(text: str, max_chars: int) -> str:
    """Return the end of a text, starting after a space: half of a name would be a name that does not exist."""
    if len(text) <= max_chars:
        return text
    cut = text[-max_chars:]
    space = _SPACE.search(cut)
    return cut[space.end() :] if space else ""


def _joined(newest_first: dict[str, None]) -> str:
    """Return names in their original order."""
    return _BETWEEN.join(reversed(newest_first))
