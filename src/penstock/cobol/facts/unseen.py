"""Which values may an item have that only a copybook declares which is not here?

`MOVE 'PAY01' TO LNK-PGM` and `CALL LNK-PGM` say which program is called, whatever declares LNK-PGM. A value that is moved to the
name right before a statement is there, others of the program may be.

Leaves to others: items that are declared (`reaching`), and names of a copybook's own code, which each program that copies it may
declare.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..program import key
from .grouping import outermost
from .resolving import literal
from .resources import ReachedValues, Resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .code import Code, ReadStatement, Site
    from .naming import DataNames

    _Reached = Callable[[str, Site], ReachedValues]

UNDECLARED = "the name is not declared here, or means several items"
_QUIET = frozenset({"DISPLAY", "CONTINUE"})
"""The verbs that write no item, and after which the next statement runs."""


class Unseen:
    """The values that a program moves to names that nothing declares.

    Args:
        code: The statements.
        names: The declared names.
    """

    def __init__(self, code: Code, names: DataNames) -> None:
        self._code, self._names = code, names

    def at(self, text: str, site: Site, reached: _Reached) -> ReachedValues:
        """Return the values that a name may have before a statement; none if something declares it.

        Args:
            text: The name as written.
            site: The statement.
            reached: Returns the values of a declared item before a statement.
        """
        if not text.replace("-", "").isalnum() or self._names.mean(text) or self._code.program.kind == "copybook":
            return ReachedValues((), False, UNDECLARED)
        name = key(text)
        moves = self._moves.get(name, [])
        before = self._right_before(name, site) if moves else None
        if before is not None and (found := self._sent(before, reached)).is_sure:
            return found
        values = {one.value: one for said in moves for one in self._sent(said, reached).values}
        return ReachedValues(tuple(values.values()), False, UNDECLARED)

    @cached_property
    def _moves(self) -> dict[str, list[ReadStatement]]:
        """The MOVEs to each undeclared name."""
        found: dict[str, list[ReadStatement]] = {}
        for said in self._code.of("MOVE"):
            for name in self._undeclared(said):
                found.setdefault(name, []).append(said)
        return found

    def _undeclared(self, said: ReadStatement) -> Iterator[str]:
        """Yield the undeclared names that a MOVE of one literal or item fills, without parts and occurrences."""
        if said.keys[2:3] != ("TO",):
            return
        for at, word in outermost(said.keys, 3):
            beside = {*said.keys[at - 1 : at], *said.keys[at + 1 : at + 2]}
            is_name = said.kinds[at] == "word" and not beside & {"OF", "IN", "("}
            if is_name and word not in {"OF", "IN"} and not self._names.mean(word):
                yield word

    def _right_before(self, name: str, site: Site) -> ReadStatement | None:
        """Return the MOVE to a name after which a statement certainly runs, with nothing in between that could change it."""
        said_of = self._code.said
        at = self._code.places[site]
        here = said_of[at]
        for said in (said_of[place] for place in range(at - 1, -1, -1)):
            if (said.copybook, said.paragraph, said.header) != (here.copybook, here.paragraph, here.header):
                return None
            if said.copybook is not None and said.line != here.line:
                return None
            if said.verb == "MOVE" and name in self._undeclared(said):
                is_sure = said.depth == 0 or (said.depth, said.sentence) == (here.depth, here.sentence)
                return said if is_sure else None
            # A name that nothing declares may be a group of the one that is asked for.
            is_other = said.verb == "MOVE" and all(map(self._is_known, said.keys[said.keys.index("TO") + 1 :]))
            if said.verb not in _QUIET and not is_other:
                return None
        return None

    def _is_known(self, word: str) -> bool:
        """Return whether a word behind TO is a declared name or no name."""
        return bool(self._names.mean(word)) or not word[:1].isalpha() or word in {"OF", "IN"}

    def _sent(self, said: ReadStatement, reached: _Reached) -> ReachedValues:
        """Return the values that a MOVE brings."""
        word = said.keys[1]
        if said.kinds[1] == "literal":
            text = literal(word)
            found = (Resolved(text, "MOVE", said.line, said.copybook),) if text else ()
            return ReachedValues(found, bool(found), "")
        if self._names.one(word) is None:
            return ReachedValues((), False, UNDECLARED)
        return reached(said.texts[1], said.site)
