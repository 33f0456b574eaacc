"""Which names may a file have if a data item names it: those moved to the item, composed in it, or told by the parts of a group
that is it or is moved to it? Queues and transactions are named by items in the same ways.

Leaves to others: whether a name is that of a file or of a DD (`estate`). Law: every name comes from the source, with its line;
data in a composed name is `*`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..program import key
from .composing import composed
from .group_texts import DATA, GroupTexts
from .resolving import literal
from .resources import Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .code import Code, ReadStatement
    from .naming import DataNames
    from .reaching import Reaching
    from .resolving import Values

_MARKS = re.compile(r"\*+")
# The last part of its path identifies a file: `*/*_*.WRK` identifies none.
_SAYS_WHICH = re.compile(r"(?s)(?:.*[/\\])?[^/\\.]*[A-Za-z0-9]{2}[^/\\]*")


class FileNames:
    """The file names that a program holds in data items, found on demand.

    Args:
        code: The statements, including those of copybooks.
        names: The items that names mean.
        values: The values that items may have.
        reaching: The values that items can have at a statement.
        constants: The text of each level 78, by its name in capitals.
    """

    def __init__(
        self, code: Code, names: DataNames, values: Values, reaching: Reaching, constants: Mapping[str, Resolved]
    ) -> None:
        self._code, self._names, self._values, self._constants = code, names, values, constants
        self._groups = GroupTexts(names, reaching)
        self._composed: dict[str, list[Resolved]] | None = None
        self._moves: dict[str, list[ReadStatement]] | None = None
        self._found: dict[str, tuple[Resolved, ...]] = {}

    def of(self, text: str) -> tuple[Resolved, ...]:
        """Return the names that an item may hold, as that of an ASSIGN; empty if nothing gives it one."""
        # Kept, because n commands may name one item to which n groups are moved.
        if text not in self._found:
            self._found[text] = self._all(text)
        return self._found[text]

    def _all(self, text: str) -> tuple[Resolved, ...]:
        """Return the values of one item, found anew."""
        name = key(text)
        constant = self._constants.get(name)
        if constant is not None:
            return (constant,)
        found = self._values.of(text) if self._names.mean(name) else self._moved(name)
        told = dict(self._told(text, name))
        # The VALUEs of a group's first parts are no name of their own: the other parts continue them.
        begun = {value.value for group in told for value in self._values.initial(group)}
        whole = (one for one in found if one.value not in begun)
        if self._composed is None:
            self._composed = {}
            for said in self._code.of("STRING"):
                self._compose(said, self._composed)
        parts = (one for names in told.values() for one in names)
        return tuple({one.value: one for one in (*whole, *parts, *self._composed.get(name, ()))}.values())

    def _moves_to(self, name: str) -> Sequence[ReadStatement]:
        """Return the MOVEs that name an item behind TO, or among its qualifiers or subscripts."""
        # Found for all names at once: otherwise a program with n files and n MOVEs would be read n times.
        if self._moves is None:
            self._moves = {}
            for said in self._code.of("MOVE"):
                to = said.keys.index("TO") + 1 if "TO" in said.keys else len(said.keys)
                for target in dict.fromkeys(said.keys[to:]):
                    self._moves.setdefault(target, []).append(said)
        return self._moves.get(name, ())

    def _moved(self, name: str) -> Iterator[Resolved]:
        """Yield the literals that are moved to an undeclared name: in Micro Focus COBOL, ASSIGN itself declares it."""
        for said in self._moves_to(name):
            if said.keys[2] == "TO" and (value := literal(said.keys[1])) is not None:
                yield Resolved(value, "MOVE", said.line, said.copybook)

    def _told(self, text: str, name: str) -> Iterator[tuple[int, list[Resolved]]]:
        """Yield the groups that an item is or gets by a MOVE, each with the names that its parts tell."""
        index = self._names.one(text)
        own = None if index is None else self._groups.group(index)
        if own is not None:
            said_by = {one: self._groups.first_part(own, one) for one in self._telling(self._groups.at(own, None))}
            items = ((one, self._names.items[at]) for one, at in said_by.items())
            yield own, [Resolved(one, "VALUE", item.line, item.copybook) for one, item in items]
        by_group: dict[int, list[Resolved]] = {}
        for said in self._moves_to(name):
            group = self._sent(said, name)
            if group is not None:
                names = self._telling(self._groups.at(group, said.site))
                by_group.setdefault(group, []).extend(Resolved(one, "MOVE", said.line, said.copybook) for one in names)
        yield from by_group.items()

    def _sent(self, said: ReadStatement, name: str) -> int | None:
        """Return the group that a MOVE sends as a whole to all of an item; None if it sends no group, or a part."""
        to = said.keys.index("TO")
        at = said.keys.index(name, to)
        if "(" in said.keys[1:to] or said.keys[at + 1 : at + 2] == ("(",) or said.keys[at - 1] in {"OF", "IN", "("}:
            return None
        sender = self._names.one(" ".join(said.texts[1:to]))
        return None if sender is None else self._groups.group(sender)

    @staticmethod
    def _telling(texts: Sequence[str]) -> Iterator[str]:
        """Yield those texts that are names of files: without blanks inside, and with letters in the last part."""
        for text in texts:
            name = _MARKS.sub(DATA, text)
            if " " not in name and _SAYS_WHICH.fullmatch(name):
                yield name

    def _compose(self, said: ReadStatement, found: dict[str, list[Resolved]]) -> None:
        """Record the name that a STRING composes, if its literals identify the file."""
        keys = said.keys
        into = keys.index("INTO") + 1 if "INTO" in keys else len(keys)
        if into >= len(keys):
            return
        text = _MARKS.sub(DATA, "".join(composed(said, self._data))).strip()
        if _SAYS_WHICH.fullmatch(text):
            found.setdefault(keys[into], []).append(Resolved(text, "STRING", said.line, said.copybook))

    def _data(self, name: str) -> str:
        """Return the piece for a data name in a composed file name: the text of a constant, or the placeholder."""
        constant = self._constants.get(name)
        return DATA if constant is None else constant.value
