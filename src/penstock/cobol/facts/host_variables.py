"""Which host variables does an EXEC SQL read, and which does it write?

Leaves to others: which items they are (`references`), and what the statement does with tables (`sql`).
"""

from __future__ import annotations

import re

from ..lexing import WIDE
from .execs import body, tokens

_SQL_INTO_ENDS = frozenset({"FROM", "WHERE", "USING", "ORDER", "FOR", "GROUP", "VALUES", "SELECT", ";"})
_RETURNING = frozenset({"RETURN", "RETURNING"})
_NAME = rf"[^\W_][\w$#@{WIDE}-]*+"
_HOST = re.compile(rf":\s*({_NAME}(?:\.{_NAME})?)")
_QUALIFIED = re.compile(rf"(?i)(?<=:)(\s*+)({_NAME})\s++OF\s++({_NAME})")


def dotted(text: str) -> str:
    """Return an SQL statement with host variables qualified as in DB2: NonStop SQL says `:ITEM OF GROUP`, DB2 `:GROUP.ITEM`."""
    return _QUALIFIED.sub(r"\1\3.\2", text)


def host_variables(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the host variables that an EXEC SQL reads, and those that it writes.

    It writes those after INTO (except in INSERT INTO and MERGE INTO, which name a table), those that an assignment fills
    (SET, GET, and := of a PL/SQL block), and the locators of ASSOCIATE; indicator variables count like the variables they
    belong to. Names are as written, without their colon, each once.

    Example:
        >>> host_variables("EXEC SQL SELECT NAME INTO :WS-NAME FROM CLERK WHERE ID = :WS-ID END-EXEC")
        (('WS-ID',), ('WS-NAME',))
    """
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    into = is_returning = False
    words = tokens(dotted(body(text)))
    first = words[0].upper() if words else ""
    if first == "WHENEVER":
        return (), ()  # a colon may precede the name of a paragraph
    targets = _targets(words, first)
    for at, word in enumerate(words):
        upper = word.upper()
        is_returning = is_returning or upper in _RETURNING
        if upper == "INTO" and (is_returning or first not in {"INSERT", "MERGE"}):
            into = True
        elif upper in _SQL_INTO_ENDS:
            into = False
        elif ":" in word and word[0] not in "'\"":
            text_ = word if word != ":" else word + (words[at + 1] if at + 1 < len(words) else "")
            for name in _HOST.findall(text_):
                (writes if into or at in targets else reads).setdefault(name)
    return tuple(reads), tuple(writes)


def _targets(words: list[str], first: str) -> set[int]:
    """Return where the host variables are that a statement fills by an assignment, and the locators that ASSOCIATE does.

    SET may assign several at once, `SET (:A, :B) = …, :C = …`; the words before a variable in GET, and any before one in SET
    (`SET DESCRIPTOR :D VALUE 1 DATA = :X`), are not targets.
    """
    found: set[int] = set()
    left: list[int] = []
    depth, is_left = 0, True
    for at, word in enumerate(words[1:], 1):
        if word == "=" and words[at - 1] == ":":
            found.add(at - 2)
        elif word == "=" and is_left and first in {"SET", "GET"}:
            found.update(left if first == "SET" else left[-1:])
            is_left = False
        elif word[0] == ":":
            left.append(at)
        elif word in {"(", ")"}:
            depth += 1 if word == "(" else -1
        elif word == "," and not depth:
            left, is_left = [], True
        elif word.upper() == "WITH" and first == "ASSOCIATE":
            found.update(left)
        elif first == "SET" and words[at - 1] != ":" and word not in {",", "INDICATOR"}:
            is_left = False
    return found
