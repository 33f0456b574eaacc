"""Which programs of an estate does a called name lead to, and what makes that doubtful?

Leaves to others: which of several programs a caller means (`scope`), and which names a program calls (`programs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..scope import NamedEntry, ProgramNames, ProgramPlace
from .values import NodeId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..estate.members import Member
    from .values import ProgramEntry, ProgramPart


_REGIONS = frozenset({"DLITCBL", "DLITPLI", "DLITASM"})
"""The entries by which IMS enters the program of a region: they are no names of it."""


class Callees:
    """The programs that names lead to.

    Args:
        parts: The parts of the estate, with unique names.
    """

    def __init__(self, parts: Sequence[ProgramPart]) -> None:
        self._at = {part.path: part.name for part in parts}
        above = {part.own_name: part.inherits for part in parts if part.inherits}
        entries = (
            NamedEntry(part.own_name if entry.name == part.name else entry.name, _place(part), (number, entry))
            for number, part in enumerate(parts)
            if part.kind == "program"
            for entry in part.entries
            if entry.name not in _REGIONS
        )
        self._names: ProgramNames[tuple[int, ProgramEntry]] = ProgramNames(entries, above)

    def names(self) -> set[str]:
        """Return the names of all entries, and of the files that have them."""
        return self._names.names()

    def in_cl(self, member: Member) -> NodeId:
        """Return the node of a CL program, which others of its name may be told apart from."""
        return NodeId("program", self._at.get(member.path, member.name.upper()))

    def called(self, name: str, caller: ProgramPart | None = None) -> list[tuple[int, ProgramEntry]]:
        """Return the entries that a called name leads to, each with the number of its part.

        Args:
            name: The name, in capitals.
            caller: The calling program, which decides between programs of one name; None for a job or a transaction.
        """
        return self._names.called(name, None if caller is None else _place(caller))

    def run(self, name: str) -> list[tuple[int, ProgramEntry]]:
        """Return the entries that a command of the system may run by a name in capitals, each with the number of its part."""
        return self._names.run(name)

    def reached(self, name: str) -> str:
        """Return the name that a called name resolves to: for an inherited method, that of the class which has it."""
        return self._names.reached(name)

    def hidden(self, name: str) -> str:
        """Return why a name that leads to no entry does not lead to the programs of that name; "" if there are none."""
        outside = self._names.outside(name)
        return f"the {name} that is here is contained in {outside}, and known in that alone" if outside else ""

    def is_file(self, name: str) -> bool:
        """Return whether a called name leads to programs only because their files have it."""
        return self._names.is_file(name)

    def doubt(self, name: str, found: Sequence[tuple[int, ProgramEntry]]) -> str:
        """Return why a called name may not mean a program that it leads to: only its file has that name, or several have it; ""
        otherwise.

        Args:
            name: The name, in capitals.
            found: What `called` returns for it.
        """
        if self.is_file(name):
            return f"no program is called {name}, a file is"
        return f"several programs are called {name}" if len({number for number, _ in found}) > 1 else ""


def _place(part: ProgramPart) -> ProgramPlace:
    """Return where a program is, under the name by which it is called."""
    return ProgramPlace(part.path, part.own_name, part.around, part.is_common, part.has_external_name)
