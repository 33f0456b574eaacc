"""What did a text name that nobody can make up? Numbers of orders, customers and flights, dates, addresses of mail.

A model that no longer sees what was said can write code again, or read a file again, but not guess an identifier: its next
call has to name the very one. So what takes the place of a conversation, or of what a foreign tool returned, names them.
Laws: what is given is inert and never longer than asked, and never longer than `MAX_NAMES_CHARS`; no more than
`_LOOK_CHARS` are read for it, so that a result of a hundred megabytes costs what one of a page does. Leaves to others:
which texts (`spans`, `views`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAMES_CHARS = 2_000
"""The most characters of names in one stand-in: without a bound, a table of numbers would be repeated in its own stub."""
_LOOK_CHARS = 20_000
"""How much of what was said is looked at, the newest: ten times what may be named."""
# With a digit, and a letter or a hyphen, or five digits: no counts, no times, no decimals. Longer ones are digests. Every
# repeat is bounded: base64 has a place to begin at each of its slashes, and would be read to its end from each of them.
_NAME = re.compile(
    r"(?<![\w.])[@#]?(?=\w)(?=[\w.@/#+-]{0,39}\d)(?=[\w.@/#+-]{0,39}[A-Za-z-]|\d{5})"
    r"\w[\w.@/#+-]{2,38}\w(?!\w|\.\w)",
    re.ASCII,
)


def names_in(texts: Sequence[str], max_chars: int) -> str:
    """Return the identifiers in some texts, each once, the newest where there is no room for all.

    Args:
        texts: what was said, oldest first.
        max_chars: the most characters; above `MAX_NAMES_CHARS` it is that many.
    """
    left_chars, look_chars = min(max_chars, MAX_NAMES_CHARS) + len(_BETWEEN), _LOOK_CHARS
    kept: dict[str, None] = {}
    # Backwards, so that the newest mention of a name decides its place, and reading ends where the room or the look does.
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
    """Return the end of a text from a space on: half of a name would be a name that nobody has."""
    if len(text) <= max_chars:
        return text
    cut = text[-max_chars:]
    space = _SPACE.search(cut)
    return cut[space.end() :] if space else ""


def _joined(newest_first: dict[str, None]) -> str:
    """Return names in the order in which they came."""
    return _BETWEEN.join(reversed(newest_first))
