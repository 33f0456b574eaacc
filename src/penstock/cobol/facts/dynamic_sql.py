"""Which SQL does a program prepare or run from data, by EXECUTE IMMEDIATE or PREPARE of a host variable?

The text is what the item can hold at the statement, or what a STRING composes in it, with a `?` for each part that is data;
an item used as a table name is replaced by each value that it can have there.
Leaves to others: how a statement is read (`sql`). Law: every text comes from the source, with its line; a reason says why there may
be others.
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from .composing import composed
from .execs import body, tokens
from .values import Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .code import Block, Code, ReadStatement
    from .naming import DataNames
    from .reaching import Reaching

_DATA = "?"
"""The placeholder for a part of a text that is data."""
_MARK = "\0"
_MARKED = re.compile(f"{_MARK}([^{_MARK}]+){_MARK}")
_TABLE = re.compile(rf"\b(?:INTO|FROM|JOIN|TABLE|UPDATE)\s+{_MARKED.pattern}", re.IGNORECASE)
"""An item that a STRING sends in the position of a table name."""
_MOST_TEXTS = 16
"""The maximum number of texts taken from one STRING."""
_TEXT = 2  # a text of varying length is a group of two items: its length and its characters


class SqlText(NamedTuple):
    """The possible texts of a statement; `unknown` is why there may be others, "" if there are none."""

    texts: tuple[Resolved, ...]
    is_sure: bool
    unknown: str


class DynamicSql:
    """The texts of a program's statements that prepare or run SQL from data.

    Args:
        code: The statements and EXEC blocks.
        names: The items that names mean.
        reaching: The values that items can have at a statement.
    """

    def __init__(self, code: Code, names: DataNames, reaching: Reaching) -> None:
        self._names, self._reaching = names, reaching
        self._held: dict[tuple[str | None, int], str] = {}
        for block in code.blocks:
            if (name := _variable(block)) is not None:
                self._held[block.copybook, block.exec.line] = self._letters(name)
        self._composed: dict[int, list[Resolved]] = {}
        if self._held:
            strings = [(said, "".join(composed(said, _marked))) for said in code.of("STRING")]
            tables = [name for _, text in strings for name in _TABLE.findall(text)]
            reaching.follow([*self._held.values(), *tables])
            for said, text in strings:
                self._compose(said, text)

    def of(self, block: Block) -> SqlText | None:
        """Return the possible texts of a statement; None if its text is not data."""
        held = self._held.get((block.copybook, block.exec.line))
        if held is None:
            return None
        reached = self._reaching.at_block(held, block)
        index = self._names.one(held)
        composed = self._composed.get(index, []) if index is not None else []
        strung = [text for text in composed if (text.line, text.copybook) in reached.strung]
        texts = {text.value: text for text in (*reached.values, *strung)}
        return SqlText(tuple(texts.values()), reached.is_sure, reached.unknown)

    def _letters(self, name: str) -> str:
        """Return the item that holds the characters of a text, qualified: the second part of a text of varying length."""
        index = self._names.one(name)
        parts = self._names.children.get(index, []) if index is not None else []
        return f"{self._names.items[parts[1]].name} OF {name}" if len(parts) == _TEXT else name

    def _compose(self, said: ReadStatement, marked: str) -> None:
        """Record the texts that a STRING composes, if its INTO names an item."""
        keys = said.keys
        if "INTO" not in keys:
            return
        into = keys.index("INTO")
        names = said.texts[into + 1 : into + 4 if keys[into + 2 : into + 3] == ("OF",) else into + 2]
        index = self._names.one(" ".join(names))
        if index is not None:
            # INTO may name a text of varying length, or the item of its characters.
            parts = self._names.children.get(index, [])
            texts = self._composed.setdefault(parts[1] if len(parts) == _TEXT else index, [])
            texts += [Resolved(text, "STRING", said.line, said.copybook) for text in self._texts(said, marked)]

    def _texts(self, said: ReadStatement, marked: str) -> Iterator[str]:
        """Yield the texts that a STRING composes, one for each combination of tables that it may name."""
        tables = dict.fromkeys(_TABLE.findall(marked))
        for values in islice(product(*(self._values(name, said) for name in tables)), _MOST_TEXTS):
            known = dict(zip(tables, values, strict=True))
            yield _MARKED.sub(lambda found: known.get(found[1], _DATA), marked).strip()  # noqa: B023

    def _values(self, name: str, said: ReadStatement) -> list[str]:
        """Return the values that an item can have at a statement; the placeholder if they are not known, or it is a group."""
        index = self._names.one(name)
        if index is None or self._names.items[index].usage == "GROUP":
            return [_DATA]
        return [value.value for value in self._reaching.at(name, said.site).values] or [_DATA]


def _marked(name: str) -> str:
    """Return a name that is sent, marked so that it differs from literal text."""
    return f"{_MARK}{name}{_MARK}"


def _variable(block: Block) -> str | None:
    """Return the host variable that holds the text of a statement, as COBOL names it; None if there is none."""
    if not block.exec.kind.startswith("SQL"):
        return None
    words = [word for word in tokens(body(block.exec.text)) if word != ":"]
    upper = [word.upper() for word in words]
    if upper[:2] == ["EXECUTE", "IMMEDIATE"]:
        at = 2
    elif upper[:1] == ["PREPARE"] and "FROM" in upper:
        at = upper.index("FROM") + 1
    else:
        return None
    if at >= len(words) or words[at][0] in "'\"":
        return None
    return " OF ".join(reversed(words[at].lstrip(":").split(".")))
