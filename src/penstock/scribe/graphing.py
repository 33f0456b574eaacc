"""How is the graph of an estate drawn? The files at some paths become parts, and the parts a graph.

A file is scanned, drawn and released, in any process: only its parts are kept, and its bytes, from which citations are shown. For
the next question, its parts may also be kept on disk, with the copybooks that were looked up while it was drawn: what a file adds
depends on its bytes and on the answers to these alone, so that as long as every answer is the same, the parts are, too.

Law: the same files give the same graph, whatever the number of processes and whatever was kept; a file that could not be read is
named.
Leaves to others: what is drawn (`cobol.graph`), where parts are kept (`kept`), and how an impact is printed (`cli.impacts`).
"""

from __future__ import annotations

import gzip
import json
import os
import re
from contextlib import closing, nullcontext
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol import scan
from penstock.cobol.estate import COBOL_KINDS, DOCUMENTED_KINDS, Copybooks, Member, ddl, declaring, kind_of, member
from penstock.cobol.estate.kinds import decoded
from penstock.cobol.facts import data, facts, hosted
from penstock.cobol.facts.interface import says_something
from penstock.cobol.graph import EstateGraph, ProgramPart, part_of
from penstock.cobol.program import key
from penstock.scribe.columns import Column, column
from penstock.scribe.gathering import Skipped, gather
from penstock.scribe.kept import Kept
from penstock.scribe.scanning import scanned
from penstock.scribe.workers import Lost, Workers, processes_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.cobol import Format, ScannedSource
    from penstock.cobol.estate.ddl import Table
    from penstock.cobol.facts import Facts
    from penstock.cobol.graph import CitedLine
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
    keeps: bool = False,
    warn: Callable[[str], None] | None = None,
) -> DrawnEstate:
    """Return the graph of the files at and below some paths.

    Args:
        root: The folder that paths are relative to; no file outside of it is read.
        paths: Files and folders, relative to `root`.
        source_format: The reference format, if detection from the columns would get it wrong.
        processes: How many processes read; None for as many as the processors allow and the sources justify.
        tells_apart: Whether different uses of one field are told apart, which only growth needs.
        step: Called with what is being done, how many are done, and of how many (0: unknown).
        keeps: Whether what was kept of the previous question is used, and what is read is kept for the next.
        warn: Told in one sentence why what was kept is not used, or nothing is kept.

    Raises:
        ToolError: A path does not exist.
    """
    paths = list(paths)
    tell = step or (lambda _what, _done, _total: None)
    found = gather(root, paths, kind_of, lambda count: tell("files", count, 0))
    members = [member(one.path, one.kind, one.data) for one in found.files if one.kind != "cobol"]
    shelf = Copybooks(found.files, members)
    sources = [one for one in found.files if one.kind in DOCUMENTED_KINDS]
    setup = _Setup(sources, shelf, source_format, tells_apart, keeps)
    parts: list[ProgramPart] = []
    lost: list[Skipped] = []
    # What was kept for one way of reading is not asked for in another.
    real = [os.path.realpath(os.path.join(os.fsdecode(root.path), path)) for path in paths]
    how = (str(source_format), str(tells_apart))
    with Kept(real, how, warn or (lambda _said: None)) if keeps else nullcontext() as kept:
        for file, drawn in zip(sources, _each(setup, kept, processes, tell), strict=True):
            if isinstance(drawn, Lost):
                lost.append(Skipped(file.path, drawn.reason))
                continue
            parts += drawn.parts
            members += drawn.declaring(file.path)
    tell("graph", 0, 0)
    files = {one.path: one for one in found.files}
    return DrawnEstate(EstateGraph(parts, members), files, (*found.skipped, *lost), source_format)


class DrawnFile(NamedTuple):
    """What one file adds to the graph."""

    parts: tuple[ProgramPart, ...]
    lines: int = 0
    """How many lines it has, if its programs declare tables."""
    tables: tuple[Table, ...] = ()
    """The tables that its programs declare."""
    consulted: tuple[tuple[str, str | None, str], ...] = ()
    """The name and library of each copybook that was looked up, with the identity of what was found, "" for nothing."""

    def declaring(self, path: str) -> tuple[Member, ...]:
        """Return the file, by its path, as a member that declares tables, as a DCLGEN does; nothing if it declares none."""
        return (Member(path, "dclgen", self.lines, tables=self.tables),) if self.tables else ()


class _Setup(NamedTuple):
    """What reading needs: the files that may hold programs, where copybooks are looked up, and whether the result is to be kept."""

    sources: Sequence[GatheredFile]
    shelf: Copybooks
    source_format: Format | None
    tells_apart: bool
    keeps: bool = False


class _Reader:
    """Draws files by their numbers in the setup."""

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup

    def __call__(self, number: int) -> tuple[DrawnFile, bytes | None]:
        """Return what a file adds to the graph, and the entry that keeps it; None if it is not kept."""
        sources, shelf, source_format, tells_apart, keeps = self._setup
        drawn = drawn_file(sources[number], shelf, source_format, tells_apart=tells_apart)
        return drawn, _entry(drawn) if keeps else None


def _each(
    setup: _Setup, kept: Kept | None, processes: int | None, tell: Callable[[str, int, int], None]
) -> Iterator[DrawnFile | Lost]:
    """Yield what each file adds to the graph, in their order: from what was kept, or else read."""
    sources, shelf = setup.sources, setup.shelf
    keys = [_key(one, shelf) for one in sources] if kept is not None else []
    known: dict[int, DrawnFile] = {}
    for number, one in enumerate(keys):
        tell("kept", number, len(keys))
        entry = kept.get(one) if kept is not None else None
        if entry is not None and _holds(was := _drawn(entry), sources[number].path, shelf):
            known[number] = was
    unread = [number for number in range(len(sources)) if number not in known]
    count = processes_for(sum(len(sources[number].data) for number in unread), processes)
    with Workers(count) as workers, closing(workers.each(_Reader, setup, unread)) as read:
        for number in range(len(sources)):
            tell("reading", number, len(sources))
            drawn: DrawnFile | Lost | None = known.get(number)
            entry = kept.get(keys[number]) if kept is not None else None
            if drawn is None:
                made = next(read)
                drawn, entry = (made, None) if isinstance(made, Lost) else made
            if kept is not None and entry is not None:
                kept.put(keys[number], entry)
            yield drawn


def _key(file: GatheredFile, shelf: Copybooks) -> str:
    """Return the key of the entry of a file: a hash of what it adds depends on, besides the copybooks that it names."""
    described = shelf.identity_of_described(file.path) if file.kind == "dds" else ""
    return sha256(json.dumps([file.path, file.kind, described]).encode() + b"\n" + file.data).hexdigest()


@cache
def _column() -> Column:
    """Return how drawn files are written."""
    return column(DrawnFile, {**vars(data), **vars(hosted), **vars(ddl)})


def _entry(drawn: DrawnFile) -> bytes | None:
    """Return a line that keeps what a file adds; None if it cannot be written, such as a number of 5,000 digits."""
    try:
        text = json.dumps(_column().pack([drawn]), separators=(",", ":"))
    except (ValueError, TypeError):  # a value that is not of its declared type would be read as another
        return None
    return gzip.compress(f"{text}\n".encode(), 1, mtime=0)


def _drawn(entry: bytes) -> DrawnFile:
    """Return what a file adds from its entry."""
    drawn: DrawnFile
    (drawn,) = _column().unpack(json.loads(gzip.decompress(entry)))
    return drawn


def _holds(drawn: DrawnFile, path: str, shelf: Copybooks) -> bool:
    """Return whether every copybook that a file looked up is still the same, and those that it did not find are still missing."""
    return all(shelf.identity(name, library, path) == found for name, library, found in drawn.consulted)


def drawn_file(
    file: GatheredFile,
    shelf: Copybooks,
    source_format: Format | None = None,
    *,
    tells_apart: bool = False,
) -> DrawnFile:
    """Return what the programs of one file add to the graph, or the records that a DDS describes.

    Args:
        file: The file.
        shelf: Where copybooks are looked up.
        source_format: The reference format, if detection from the columns would get it wrong.
        tells_apart: Whether different uses of one field are told apart, which only growth needs.
    """
    books = _Noted(shelf, file.path)
    source = shelf.described(file.path, file.data) if file.kind == "dds" else scanned(file, books, source_format)
    parts = []
    operations: set[str] = set()
    for program in source:
        said = facts(source, program, copybooks=books, tells_apart=tells_apart)
        operations |= {one.operation for one in said.sql}
        # What a copybook for FILE-CONTROL names is bound by the programs that copy it.
        has_nodes = said.type != "copybook" or said.items or program.copies or program.paragraphs
        if has_nodes and says_something(said, program):
            parts.append(part_of(said, program, file.path, copybooks=_paths(said, books)))
    made = declaring(file.path, file.kind, source.code, operations)
    return DrawnFile(tuple(parts), made.lines if made else 0, made.tables if made else (), books.consulted)


class _Noted:
    """The lookup of copybooks of one file, which notes what it is asked for and what it finds.

    Args:
        shelf: Where copybooks are looked up.
        path: The path of the file.
    """

    def __init__(self, shelf: Copybooks, path: str) -> None:
        self._shelf, self._path = shelf, path
        self._beside = shelf.beside(path)
        self._found: dict[tuple[str, str | None], str] = {}

    def __call__(self, name: str, library: str | None) -> ScannedSource | None:
        """Return a copybook, scanned; None if there is none."""
        self._note(name, library)
        return self._beside(name, library)

    def path(self, name: str, library: str | None) -> str | None:
        """Return the path of a copybook; None if there is none."""
        self._note(name, library)
        return self._shelf.path(name, library, self._path)

    @property
    def consulted(self) -> tuple[tuple[str, str | None, str], ...]:
        """What was noted, as in `DrawnFile`."""
        return tuple((name, library, found) for (name, library), found in self._found.items())

    def _note(self, name: str, library: str | None) -> None:
        if (name, library) not in self._found:
            self._found[name, library] = self._shelf.identity(name, library, self._path)


def _paths(said: Facts, books: _Noted) -> dict[str, str]:
    """Return the paths of a program's copybooks, by their names in capitals."""
    found = {key(use.told): books.path(use.name, use.library) for use in said.copybooks if use.found}
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
