"""How is the graph of an estate drawn? The files at some paths become parts, and the parts a graph.

A file is scanned, drawn and released, in any process: only its parts are kept, and its bytes, from which citations are shown. Law:
the same files give the same graph, whatever the number of processes; a file that could not be read is named.
Leaves to others: what is drawn (`cobol.graph`), and how an impact is printed (`cli.impacts`).
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol import scan
from penstock.cobol.estate import COBOL_KINDS, DOCUMENTED_KINDS, Copybooks, declaring, kind_of, member
from penstock.cobol.estate.kinds import decoded
from penstock.cobol.facts import facts
from penstock.cobol.graph import EstateGraph, part_of
from penstock.cobol.program import key
from penstock.scribe.gathering import Skipped, gather
from penstock.scribe.workers import Lost, Workers, processes_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock.cobol import Format
    from penstock.cobol.estate import Member
    from penstock.cobol.facts import Facts
    from penstock.cobol.graph import CitedLine, ProgramPart
    from penstock.scribe.gathering import GatheredFile
    from penstock.workspace.root import Root


_BEGUN = re.compile(r"EXEC(?:UTE)?\s+\w+", re.IGNORECASE)


class DrawnEstate(NamedTuple):
    """An estate with its graph."""

    graph: EstateGraph
    files: Mapping[str, GatheredFile]
    """The files that were read, by their paths."""
    skipped: tuple[Skipped, ...]
    source_format: Format | None


def draw(
    root: Root,
    paths: Iterable[str],
    *,
    source_format: Format | None = None,
    processes: int | None = None,
    tells_apart: bool = False,
    step: Callable[[str, int, int], None] | None = None,
) -> DrawnEstate:
    """Return the graph of the files at and below some paths.

    Args:
        root: The folder that paths are relative to; no file outside of it is read.
        paths: Files and folders, relative to `root`.
        source_format: The reference format, if detection from the columns would get it wrong.
        processes: How many processes read; None for as many as the processors allow and the sources justify.
        tells_apart: Whether different uses of one field are told apart, which only growth needs.
        step: Called with what is being done, how many are done, and of how many (0: unknown).

    Raises:
        ToolError: A path does not exist.
    """
    tell = step or (lambda _what, _done, _total: None)
    found = gather(root, paths, kind_of, lambda count: tell("files", count, 0))
    members = [member(one.path, one.kind, one.data) for one in found.files if one.kind != "cobol"]
    shelf = Copybooks(found.files, members)
    sources = [one for one in found.files if one.kind in DOCUMENTED_KINDS]
    parts: list[ProgramPart] = []
    lost: list[Skipped] = []
    count = processes_for(sum(len(one.data) for one in sources), processes)
    with (
        Workers(count) as workers,
        closing(workers.each(_Reader, _Setup(sources, shelf, source_format, tells_apart), range(len(sources)))) as read,
    ):
        for number, (file, drawn) in enumerate(zip(sources, read, strict=True)):
            tell("reading", number, len(sources))
            if isinstance(drawn, Lost):
                lost.append(Skipped(file.path, drawn.reason))
                continue
            parts += drawn.parts
            if drawn.declares is not None:
                members.append(drawn.declares)
    tell("graph", 0, 0)
    files = {one.path: one for one in found.files}
    return DrawnEstate(EstateGraph(parts, members), files, (*found.skipped, *lost), source_format)


class DrawnFile(NamedTuple):
    """What one file adds to the graph."""

    parts: tuple[ProgramPart, ...]
    declares: Member | None
    """The tables that its programs declare; None if they declare none."""


class _Setup(NamedTuple):
    """What reading needs: the files that may hold programs, and where copybooks are looked up."""

    sources: Sequence[GatheredFile]
    shelf: Copybooks
    source_format: Format | None
    tells_apart: bool


class _Reader:
    """Draws files by their numbers in the setup."""

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup

    def __call__(self, number: int) -> DrawnFile:
        """Return what a file adds to the graph."""
        sources, shelf, source_format, tells_apart = self._setup
        return drawn_file(sources[number], shelf, source_format, tells_apart=tells_apart)


def drawn_file(
    file: GatheredFile, shelf: Copybooks, source_format: Format | None = None, *, tells_apart: bool = False
) -> DrawnFile:
    """Return what the programs of one file add to the graph, or the records that a DDS describes.

    Args:
        file: The file.
        shelf: Where copybooks are looked up.
        source_format: The reference format, if detection from the columns would get it wrong.
        tells_apart: Whether different uses of one field are told apart, which only growth needs.
    """
    beside = shelf.beside(file.path)
    if file.kind == "dds":
        source = shelf.described(file.path, file.data)
    else:
        source = scan(file.data, source_format=source_format, copybooks=beside)
    parts = []
    declares = False
    for program in source:
        said = facts(source, program, copybooks=beside, tells_apart=tells_apart)
        declares = declares or any(one.operation == "DECLARE TABLE" for one in said.sql)
        # A file may hold neither a program nor a record.
        if said.type != "copybook" or said.items or program.copies or program.paragraphs:
            parts.append(part_of(said, program, file.path, copybooks=_paths(said, shelf, file.path)))
    # A copybook that declares tables is a member already.
    is_new = declares and file.kind == "cobol"
    return DrawnFile(tuple(parts), declaring(file.path, source.code) if is_new else None)


def _paths(said: Facts, shelf: Copybooks, path: str) -> dict[str, str]:
    """Return the paths of a program's copybooks, by their names in capitals."""
    found = {key(use.told): shelf.path(use.name, use.library, path) for use in said.copybooks if use.found}
    return {name: path for name, path in found.items() if path is not None}


class CitedText:
    """The text of cited lines; each file is decoded when it is first cited.

    Args:
        estate: The estate.
    """

    def __init__(self, estate: DrawnEstate) -> None:
        self._estate = estate
        self._shown: dict[str, Callable[[int], str]] = {}

    def text(self, citation: CitedLine) -> str:
        """Return a cited line without the blanks around it, "" if its file was not read."""
        show = self._shown.get(citation.path)
        if show is None:
            show = self._shown[citation.path] = self._reader(citation.path)
        return show(citation.line).strip()

    def statement(self, citation: CitedLine) -> str:
        """Return the text of a citation: its line, and the next one too if the first has only EXEC SQL or the like."""
        said = self.text(citation)
        return (
            f"{said} {self.text(citation._replace(line=citation.line + 1))}".strip() if _BEGUN.fullmatch(said) else said
        )

    def _reader(self, path: str) -> Callable[[int], str]:
        """Return the function that shows a line of a file."""
        file = self._estate.files.get(path)
        if file is None:
            return lambda _line: ""
        if file.kind in COBOL_KINDS:
            source = scan(file.data, source_format=self._estate.source_format)
            return lambda line: source.shown(line) if 0 < line <= source.lines else ""
        lines = decoded(file.data).split("\n")
        return lambda line: lines[line - 1] if 0 < line <= len(lines) else ""
