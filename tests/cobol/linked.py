"""A small estate of texts, linked as `penstock document` links it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.graph import EstateGraph, Inventory, Located, part_of
from penstock.scribe.surroundings import Around, Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.cobol import Format
    from penstock.cobol.estate import Member


class LinkedEstate:
    """Some members and the programs of some texts, each with its path; a path may come again."""

    def __init__(
        self, members: Iterable[Member], texts: Iterable[tuple[str, str | bytes]], source_format: Format | None = None
    ) -> None:
        self.programs: list[Located] = []
        for path, text in texts:
            source = scan(text, source_format=source_format)
            for one in source:
                said = facts(source, one)
                self.programs.append(Located(part_of(said, one, path), said))
        self.graph = EstateGraph((one.part for one in self.programs), members)
        self.inventory = Inventory(self.graph, self.programs)
        written = {(one.part.path, one.part.line): one.facts.program for one in self.programs}
        self._surroundings = Surroundings(self.graph, written)

    def around(self, program: str, path: str | None = None) -> Around:
        """Return what surrounds the first program of a name, in a file or anywhere."""
        (part, *_) = [
            one.part for one in self.programs if one.facts.program == program and path in {None, one.part.path}
        ]
        return self._surroundings.of(part.path, part.line)

    def callers(self, program: str, path: str | None = None) -> list[str]:
        """Return who calls the first program of a name, in a file or anywhere."""
        return list(self.around(program, path).called_by)

    def called_on(self, program: str, path: str) -> list[int]:
        """Return the lines of the calls of the program of a name and file."""
        return sorted(
            place.line
            for edge in self.graph.edges()
            if edge.verb == "calls" and edge.target.name in {program, f"{program}@{path}"}
            for place in edge.citations
        )
