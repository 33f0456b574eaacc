"""Which names may a file have if its ASSIGN names a data item: those moved to the item, or composed in it?

Leaves to others: whether a name is that of a file or of a DD (`estate`). Law: every name comes from the source, with its line;
data in a composed name is `*`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..program import key
from .composing import composed
from .resolving import literal
from .resources import Resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .code import Code, ReadStatement
    from .naming import DataNames
    from .resolving import Values

DATA = "*"
"""The placeholder for data in a composed name."""
_MARKS = re.compile(r"\*+")
# The last part of its path identifies a file: `*/*_*.WRK` identifies none.
_SAYS_WHICH = re.compile(r"(?s)(?:.*[/\\])?[^/\\.]*[A-Za-z0-9]{2}[^/\\]*")


class FileNames:
    """The file names that a program holds in data items, found on demand.

    Args:
        code: The statements, including those of copybooks.
        names: The items that names mean.
        values: The values that items may have.
        constants: The text of each level 78, by its name in capitals.
    """

    def __init__(self, code: Code, names: DataNames, values: Values, constants: Mapping[str, Resolved]) -> None:
        self._code, self._names, self._values, self._constants = code, names, values, constants
        self._composed: dict[str, list[Resolved]] | None = None
        self._literals: dict[str, list[Resolved]] | None = None

    def of(self, text: str) -> tuple[Resolved, ...]:
        """Return the values that the item named by an ASSIGN may have; empty if nothing gives it one."""
        name = key(text)
        constant = self._constants.get(name)
        if constant is not None:
            return (constant,)
        found = self._values.of(text) if self._names.mean(name) else self._moved(name)
        if self._composed is None:
            self._composed = {}
            for said in self._code.of("STRING"):
                self._compose(said, self._composed)
        return tuple({one.value: one for one in (*found, *self._composed.get(name, ()))}.values())

    def _moved(self, name: str) -> Sequence[Resolved]:
        """Return the literals that are moved to an undeclared name: in Micro Focus COBOL, ASSIGN itself declares it."""
        # Found for all names at once: otherwise a program with n files and n MOVEs would be read n times.
        if self._literals is None:
            self._literals = {}
            for said in self._code.of("MOVE"):
                keys = said.keys
                if keys[2:3] == ("TO",) and (value := literal(keys[1])) is not None:
                    for target in dict.fromkeys(keys[3:]):
                        held = Resolved(value, "MOVE", said.line, said.copybook)
                        self._literals.setdefault(target, []).append(held)
        return self._literals.get(name, ())

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
