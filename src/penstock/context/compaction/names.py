"""What did a text name that nobody can make up? Numbers of orders, customers and flights, dates, addresses of mail.

A model that no longer sees what was said can write code again, or read a file again, but not guess an identifier: its next
call has to name the very one. So what takes the place of a conversation, or of what a foreign tool returned, names them.
Law: what is given is inert and never longer than asked. Leaves to others: which texts (`spans`, `views`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# With a digit, and a letter or a hyphen, or five digits: no counts, no times, no decimals. Longer ones are digests.
_NAME = re.compile(
    r"(?<![\w.])[@#]?(?=[\w.@/#+-]*\d)(?=[\w.@/#+-]*[A-Za-z-]|\d{5})\w[\w.@/#+-]{2,38}\w(?!\w|\.\w)", re.ASCII
)


def names_in(texts: Iterable[str], max_chars: int) -> str:
    """Return the identifiers in some texts, each once, the newest where there is no room for all.

    Args:
        texts: what was said, oldest first.
        max_chars: the most characters.
    """
    found: dict[str, None] = {}
    for text in texts:
        for name in _NAME.findall(text):
            found.pop(name, None)
            found[name] = None
    kept: list[str] = []
    for name in reversed(found):
        max_chars -= len(name) + 2
        if max_chars < -2:
            break
        kept.append(name)
    return ", ".join(reversed(kept))
