"""What is an estate, to a page? Plain values: the documents of its programs, and what lies around them.

All of it is JSON, as the inventory and the scribe give it. Keeps out: how it was found (`penstock.cobol.estate`), and how it looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from penstock.scribe.pages.blocks import Code, Node, Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.scribe.pages.blocks import Piece
    from penstock.transcript.shapes import Json


class Dd(TypedDict):
    """A DD statement with the data sets behind it."""

    name: str
    datasets: Sequence[str]


class Step(TypedDict):
    """A step of a job: the programs that it runs, also those that DB2 or IMS runs for it, or a procedure."""

    name: str
    programs: Sequence[str]
    procedure: str | None
    line: int
    dds: Sequence[Dd]


class Job(TypedDict):
    """A job or a procedure. `runs` are all programs that it comes to, through procedures, too."""

    name: str
    kind: Literal["job", "procedure"]
    path: str
    steps: Sequence[Step]
    runs: Sequence[str]


class DataSet(TypedDict):
    """A data set as a program sees it in a step."""

    dataset: str
    program: str
    file: str
    dd: str
    job: str
    step: str


class Mapset(TypedDict):
    """A set of maps; `used_by` are ids of programs."""

    name: str
    path: str
    maps: Sequence[str]
    used_by: Sequence[str]


class Copybook(TypedDict):
    """A copybook; `path` is None where it was not found, `system` where it comes with CICS, DB2 or the like."""

    name: str
    path: str | None
    system: bool
    used_by: Sequence[str]


class DbTable(TypedDict):
    """A table of a database; `path` is where it is defined, None where nothing here does."""

    name: str
    path: str | None
    columns: Sequence[str]
    used_by: Sequence[str]


class Transaction(TypedDict):
    """A transaction and the program it starts."""

    name: str
    program: str | None
    path: str
    line: int


class Missing(TypedDict):
    """What is named and not here: a program, copybook, procedure or transaction, and who names it."""

    name: str
    kind: str
    named_by: Sequence[str]


class Estate(TypedDict):
    """A tree of programs with what belongs to them. `programs` are documents, each under the id that its files are named by.

    Whoever uses something is named by the id of a program's page, or, where there is none, by what it is called.
    """

    name: str
    programs: Mapping[str, Json]
    jobs: Sequence[Job]
    maps: Sequence[Mapset]
    copybooks: Sequence[Copybook]
    tables: Sequence[DbTable]
    transactions: Sequence[Transaction]
    data_sets: Sequence[DataSet]
    missing: Sequence[Missing]


class Names:
    """Who is meant by a name: a program with a page, or somebody outside. Other entries of a program are names of it, too."""

    def __init__(self, programs: Mapping[str, Json]) -> None:
        self._names: dict[str, str] = {}
        self._pages: dict[str, str] = {}
        entries: list[tuple[str, str]] = []
        for page, document in programs.items():
            name = document["header"]["program_id"]
            self._names[page] = name
            self._pages.setdefault(name.upper(), page)
            entries += [(entry["name"], page) for entry in document["calling_context"]["entry_points"]]
        for name, page in entries:
            self._pages.setdefault(name.strip("'\"").upper(), page)

    def is_here(self, name: str) -> bool:
        """Whether there is a page of that program."""
        return name.upper() in self._pages

    def piece(self, name: str) -> Piece:
        """The name of a program, as a link where there is a page."""
        page = self._pages.get(name.upper())
        return Code(name) if page is None else Program(name, page)

    def piece_of(self, page: str) -> Piece:
        """A program by the id of its page."""
        return Program(self._names[page], page) if page in self._names else Code(page)

    def own(self, page: str) -> Node:
        """The box of the program that a page is about."""
        return Node(f"program {page}", self._names[page], "program", page=page)

    def program(self, name: str) -> Node:
        """The box of whatever program has that name."""
        page = self._pages.get(name.upper())
        return Node(f"outside {name.upper()}", name, "outside") if page is None else self.own(page)

    def called(self, call: Json) -> Node:
        """The box of what a call reaches: a program, or a transaction for START and RETURN TRANSID."""
        name = call["program_name"]
        return self.entrance("transaction", name) if call["call_type"] in TO_TRANSACTION else self.program(name)

    def entrance(self, kind: str, name: str) -> Node:
        """The box of a job or a transaction."""
        return Node(f"{kind} {name.upper()}", name, "job" if kind == "job" else "transaction")


TO_TRANSACTION = frozenset({"start", "return_transid"})
"""Calls whose target is a transaction."""
