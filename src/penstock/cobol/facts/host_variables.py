"""Which host variables does an EXEC SQL read, and which does it write?

Leaves to others: which items they are (`references`), and what the statement does with tables (`sql`).
"""

from __future__ import annotations

import re

from ..lexing import WIDE
from .execs import body, tokens

_SQL_INTO_ENDS = frozenset({"FROM", "WHERE", "USING", "ORDER", "FOR", "GROUP", "VALUES", "SELECT", ";"})
_NAME = rf"[^\W_][\w$#@{WIDE}-]*+"
_HOST = re.compile(rf":\s*({_NAME}(?:\.{_NAME})?)")
_QUALIFIED = re.compile(rf"(?i)(?<=:)(\s*+)({_NAME})\s++OF\s++({_NAME})")


def dotted(text: str) -> str:
    """Return an SQL statement with host variables qualified as in DB2: NonStop SQL says `:ITEM OF GROUP`, DB2 `:GROUP.ITEM`."""
    return _QUALIFIED.sub(r"\1\3.\2", text)


def host_variables(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the host variables that an EXEC SQL reads, and those that it writes.

    It writes those after INTO (except in INSERT INTO and MERGE INTO, which name a table) and on the left side of SET :X = ...;
    indicator variables count like the variables they belong to. Names are as written, without their colon, each once.

    Example:
        >>> host_variables("EXEC SQL SELECT NAME INTO :WS-NAME FROM CLERK WHERE ID = :WS-ID END-EXEC")
        (('WS-ID',), ('WS-NAME',))
    """
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    into = False
    words = tokens(dotted(body(text)))
    first = words[0].upper() if words else ""
    if first == "WHENEVER":
        return (), ()  # a colon may precede the name of a paragraph
    for at, word in enumerate(words):
        upper = word.upper()
        if upper == "INTO" and first not in {"INSERT", "MERGE"}:
            into = True
        elif upper in _SQL_INTO_ENDS:
            into = False
        elif ":" in word and word[0] not in "'\"":
            text_ = word if word != ":" else word + (words[at + 1] if at + 1 < len(words) else "")
            for name in _HOST.findall(text_):
                (writes if into or (first == "SET" and "=" not in words[:at]) else reads).setdefault(name)
    return tuple(reads), tuple(writes)
