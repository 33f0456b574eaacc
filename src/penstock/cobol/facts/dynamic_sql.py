"""Which SQL does a program prepare or run from data, by EXECUTE IMMEDIATE or PREPARE of a host variable?

The text is what the item can hold at the statement, or what a STRING composes in it, or a MOVE of a group whose parts spell it
out, with a `?` for each part that is data; an item used as a table name is replaced by each value that it can have there.
Leaves to others: how a statement is read (`sql`). Law: every text comes from the source, with its line; a reason says why there may
be others.
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from .composing import composed
from .execs import body, tokens
from .reaching import MAX_VALUES
from .resolving import literal
from .resources import Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .code import Block, Code, ReadStatement
    from .naming import DataNames
    from .reaching import Reaching

_DATA = "?"
"""The placeholder for a part of a text that is data."""
_MARK = "\0"
_MARKED = re.compile(f"{_MARK}([^{_MARK}]+){_MARK}")
_RUN = rf"(?:{_MARK}[^{_MARK}]+{_MARK}\.?)"
_BEFORE_TABLE = re.compile(rf"\b(?:INTO|FROM|JOIN|TABLE|UPDATE)\s+{_RUN}*$", re.IGNORECASE)
_TABLE = re.compile(rf"\b(?:INTO|FROM|JOIN|TABLE|UPDATE)\s+({_RUN}+)", re.IGNORECASE)
"""Items that are sent in the position of a table name: the name, or its schema and the name."""
_MOST_PARTS = 400
"""The maximum number of parts of a group that spells a text: an INSERT has two for each column."""
_MOST_LETTERS = 2_097_152
"""The length of the longest statement that Db2 takes, in bytes; a longer group spells no text."""
_NEAR = 500
"""The number of letters before an item that tell whether it is a table: the keyword, and a schema."""
_VERBS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "WITH"})
_MOST_TEXTS = 16
"""The maximum number of texts taken from one statement."""
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
        self._given: dict[str, str] = {}  # the VALUEs of named parts of groups, with their blanks
        self._spelled: dict[int, str] = {}  # the parts of groups
        self._composed: dict[tuple[int, str | None], list[Resolved]] = {}
        if self._held:
            strings = [(said, "".join(composed(said, self._sent))) for said in code.of("STRING")]
            moves = [(said, self._moved(said)) for said in code.of("MOVE")]
            are_sql = {text: self._is_sql(text) for text in {text for _, text in moves}}
            spelled = [*strings, *((said, text) for said, text in moves if are_sql[text])]
            tables_of = {text: self._tables(text) for text in {text for _, text in spelled}}
            tables = {name for found in tables_of.values() for name in found}
            given = {name for text in tables_of for name in _MARKED.findall(text) if name in self._given}
            reaching.follow([*self._held.values(), *sorted(tables | given)])
            for said, text in spelled:
                texts = self._composed.setdefault((said.line, said.copybook), [])
                texts += [
                    Resolved(one, "STRING", said.line, said.copybook)
                    for one in self._texts(said, text, tables_of[text])
                ]

    def of(self, block: Block) -> SqlText | None:
        """Return the possible texts of a statement; None if its text is not data."""
        held = self._held.get((block.copybook, block.exec.line))
        if held is None:
            return None
        reached = self._reaching.at_block(held, block)
        strung = [text for place in sorted(reached.strung, key=_in_order) for text in self._composed.get(place, ())]
        texts = list({text.value: text for text in (*reached.values, *strung)}.values())
        unknown = f"more than {MAX_VALUES} texts are possible" if len(texts) > MAX_VALUES else reached.unknown
        return SqlText(tuple(texts[:MAX_VALUES]), reached.is_sure and not reached.strung, unknown)

    def _letters(self, name: str) -> str:
        """Return the item that holds the characters of a text, qualified: the second part of a text of varying length."""
        index = self._names.one(name)
        parts = self._names.children.get(index, []) if index is not None else []
        return f"{self._names.items[parts[1]].name} OF {name}" if len(parts) == _TEXT else name

    def _sent(self, name: str) -> str:
        """Return what stands for an item that a STRING sends: the parts of a group with VALUEs, or the marked name."""
        return self._parts(self._names.one(name)) or _marked(name)

    def _moved(self, said: ReadStatement) -> str:
        """Return the parts of the group that a MOVE sends; "" if it sends no group with VALUEs."""
        to = said.keys.index("TO") if "TO" in said.keys else 0
        return self._parts(self._names.one(" ".join(said.texts[1:to])))

    def _parts(self, group: int | None) -> str:
        """Return the parts of a group, one after another: the text of a FILLER, and the marked names of others.

        "" if no part has a VALUE, or there are too many: then it spells nothing.
        """
        if group is None:
            return ""
        text = self._spelled.get(group)
        if text is None:
            text = self._spelled[group] = self._joined(group)
        return text

    def _joined(self, group: int) -> str:
        """Return the parts of a group, as `_parts` does."""
        parts = self._names.children.get(group, [])
        if len(parts) > _MOST_PARTS:
            return ""
        text = ""
        has_value = False
        for at in parts:
            part = self._names.items[at]
            if part.redefines is not None:
                continue
            if len(text) + (part.bytes or 1) > _MOST_LETTERS:
                return ""
            value = None if part.value is None else (literal(part.value) or "").ljust(part.bytes or 1)
            has_value = has_value or bool(value)
            if part.usage == "GROUP":
                piece = self._parts(at) or _DATA
                has_value = has_value or piece != _DATA
            elif part.name not in {"", "FILLER"}:
                name = self._names.qualified(at)
                piece = _marked(name)
                if value is not None:
                    self._given[name] = value
            else:
                piece = value if value is not None else _DATA
            # An item ends with blanks of its own.
            text += f" {piece}" if text.endswith(_MARK) and piece[:1].isalnum() else piece
        return text if has_value else ""

    def _tables(self, marked: str) -> set[str]:
        """Return the items in the positions of table names, if the others have their VALUEs."""
        found = set()
        said = ""
        for at, part in enumerate(marked.split(_MARK)):
            if at % 2 == 0:
                said += part
            elif _BEFORE_TABLE.search(said[-_NEAR:]):
                said += _marked(part)
                found.add(part)
            else:
                said += self._given.get(part, _DATA)
        return found

    def _is_sql(self, marked: str) -> bool:
        """Return whether a text begins with the verb of a statement on tables, as far as VALUEs tell."""
        words = _MARKED.sub(lambda found: self._given.get(found[1], _DATA), marked).split(maxsplit=1)
        return bool(words) and words[0].upper() in _VERBS

    def _texts(self, said: ReadStatement, marked: str, tables: set[str]) -> Iterator[str]:
        """Yield the texts that a statement composes, one for each combination of tables that it may name."""
        sure = {
            name: self._given[name]
            for name in _MARKED.findall(marked)
            if name in self._given and name not in tables and self._is_kept(name, said)
        }
        marked = _MARKED.sub(lambda found: sure.get(found[1], found[0]), marked)
        runs = list(dict.fromkeys(_TABLE.findall(marked)))
        names = list(dict.fromkeys(name for run in runs for name in _MARKED.findall(run)))
        for values in islice(product(*(self._values(name, said) for name in names)), _MOST_TEXTS):
            known = dict(zip(names, values, strict=True))
            text = marked
            for run in runs:
                # A schema that is data is left out: the name alone tells the table.
                table = _MARKED.sub(lambda found: known[found[1]], run)  # noqa: B023
                text = text.replace(run, table.rpartition(_DATA)[2].lstrip(".") or _DATA)
            yield _MARKED.sub(_DATA, text).strip()

    def _is_kept(self, name: str, said: ReadStatement) -> bool:
        """Return whether an item certainly has its VALUE at a statement."""
        reached = self._reaching.at(name, said.site)
        return reached.is_sure and reached.values[0].value == self._given[name].strip()

    def _values(self, name: str, said: ReadStatement) -> list[str]:
        """Return the values that an item can have at a statement; the placeholder if they are not known, or it is a group."""
        index = self._names.one(name)
        if index is None or self._names.items[index].usage == "GROUP":
            return [_DATA]
        return [value.value for value in self._reaching.at(name, said.site).values] or [_DATA]


def _in_order(place: tuple[int, str | None]) -> tuple[str, int]:
    """Return the key that sorts lines by copybook and number, those of the program first."""
    line, copybook = place
    return copybook or "", line


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
