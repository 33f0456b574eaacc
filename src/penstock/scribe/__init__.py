"""Documents of programs: the files of an estate become documents, pages and a site, with or without a model.

    done = document(["cbl"], root="estate", out="docs")          # what the code says
    done = document(["cbl"], out="docs", model=load_model("anthropic:NAME"))

Documents are written as soon as each is done; an interrupt or a kill keeps them, and the next run asks only for what is missing.
Law: nothing is written but beneath `out`; every file that was found is documented, linked, or named with the reason why not.
Keeps out: what is asked and verified (`documenting`), and how pages look (`pages`).
"""

from __future__ import annotations

import json
import os
import re
from collections import deque
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.program import key
from penstock.scribe.documenting import JOBS, MAX_PROMPT_TOKENS, run, subject
from penstock.scribe.gathering import HEAD_BYTES, Skipped, gather
from penstock.scribe.output import Output
from penstock.scribe.results import Folder
from penstock.text import window
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.cobol import Format, ScannedSource
    from penstock.cobol.estate import Copybooks, Estate, Member
    from penstock.models import Model
    from penstock.scribe.documenting import DocumentingRun, Subject
    from penstock.scribe.gathering import Gathered, GatheredFile
    from penstock.scribe.pages.estate import EstateView
    from penstock.scribe.pool import Progress
    from penstock.scribe.results import Results
    from penstock.text.json_access import Json
    from penstock.workspace.root import Root

__all__ = [
    "JOBS",
    "MAX_PROMPT_TOKENS",
    "Around",
    "Documented",
    "around",
    "document",
    "document_gathered",
    "is_copybook",
    "says_anything",
    "situated",
    "subject_of",
    "subjects",
    "title_of",
]

MOST_SHOWN = 1_000
"""The most letters of a line in a listing: four times what a line of COBOL may have."""
RESULTS = ".penstock"
"""The folder beneath `out` that keeps answers for the next run."""
# Letters that a file name keeps, on every system; `#`, `@` and `$` are letters of the host. What is longer than sixty of them
# is cut, so that with its hash and suffix it is a name anywhere.
_UNSAFE = re.compile(r"[^\w#@$-]+", re.ASCII)
_MOST_LETTERS = 60
_HASH_LETTERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """What came of an estate: its programs and copybooks by the ids of their files, what was not read, and what the run took."""

    programs: Mapping[str, dict[str, Json]]
    copybooks: Mapping[str, dict[str, Json]]
    members: int
    """Files beside programs and copybooks that tell of them: jobs, maps, tables;"""
    others: int
    """files of no kind;"""
    skipped: tuple[Skipped, ...]
    empty: tuple[Skipped, ...]
    """Files that were taken for COBOL and have none;"""
    run: DocumentingRun
    written: int = 0

    def to_dict(self) -> dict[str, Json]:
        """Return what `run.json` says: the figures of the run, and what was left out."""
        return {
            "penstock_version": __version__,
            **self.run.to_dict(),
            "programs": len(self.programs),
            "copybooks": len(self.copybooks),
            "members": self.members,
            "others": self.others,
            "skipped": [one._asdict() for one in self.skipped],
            "empty": [one._asdict() for one in self.empty],
        }


def document(
    paths: Iterable[str],
    *,
    root: Root,
    out: str,
    model: Model | None = None,
    jobs: int = JOBS,
    max_prompt_tokens: int = MAX_PROMPT_TOKENS,
    adaptive: bool = False,
    reconcile: bool = False,
    fresh: bool = False,
    source_format: Format | None = None,
    step: Callable[[str, int, int], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Documented:
    """Document the files at and beneath some paths, and write documents, pages and a site.

    Args:
        paths: Files and folders, relative to `root`.
        root: Where paths begin, and what nothing leaves that is read.
        out: The folder that all is written to.
        model: Who says what the code does not; None for documents of what the code says.
        jobs: How many chunks are asked about at once.
        max_prompt_tokens: The most tokens of a whole prompt.
        adaptive: Whether chunks are smaller where the code branches more.
        reconcile: Whether the model says in one wording what several chunks of a program said alike.
        fresh: Whether the model is asked again about everything.
        source_format: The reference format, where the columns would say something else.
        step: Told what is being done, how many are done, and of how many (0: nobody knows).
        progress: Told how far the chunks are.

    Raises:
        ToolError: A path is not there.
        CallerError: `out` cannot be written, or a budget has no room.
    """
    from penstock.cobol.estate import kind_of

    tell = step or _untold
    output = Output(out)  # before anything is read: a folder that cannot be written is told at once
    found = gather(root, paths, kind_of, lambda files: tell("files", files, 0))
    return document_gathered(
        found,
        title_of(found.files, os.fsdecode(root.path)),
        output,
        model=model,
        results=Folder(output.folder(RESULTS), fresh=fresh),
        jobs=jobs,
        max_prompt_tokens=max_prompt_tokens,
        adaptive=adaptive,
        reconcile=reconcile,
        source_format=source_format,
        step=step,
        progress=progress,
    )


def document_gathered(
    found: Gathered,
    title: str,
    output: Output,
    *,
    model: Model | None,
    results: Results,
    jobs: int = JOBS,
    max_prompt_tokens: int = MAX_PROMPT_TOKENS,
    adaptive: bool = False,
    reconcile: bool = False,
    source_format: Format | None = None,
    step: Callable[[str, int, int], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Documented:
    """Document files that were gathered before, as `document` does.

    Args:
        found: The files, wherever they come from.
        title: What the estate is called.
        output: Where documents go.
        model: Who says what the code does not; None for documents of what the code says.
        results: Where answers are kept.
        jobs: How many chunks are asked about at once.
        max_prompt_tokens: The most tokens of a whole prompt.
        adaptive: Whether chunks are smaller where the code branches more.
        reconcile: Whether the model says in one wording what several chunks of a program said alike.
        source_format: The reference format, where the columns would say something else.
        step: Told what is being done, how many are done, and of how many (0: nobody knows).
        progress: Told how far the chunks are.

    Raises:
        CallerError: `output` cannot be written, or a budget has no room.
    """
    tell = step or _untold
    estate = _Files(found, source_format, tell)
    made: dict[str, dict[str, Json]] = {}
    listings: dict[str, list[tuple[int, str]]] = {}

    # Each document is written when it is made. A run over a large estate takes hours, and whoever looks, or pulls the plug, has
    # what is done by then. Pages come at the end: they link to each other, and who calls whom is only known when all is read.
    def finished(one: Subject, documents: list[dict[str, Json]]) -> None:
        for page, told, listing in zip(estate.pages[one.file_name], documents, _listings(one), strict=True):
            made[page] = told
            listings[f"programs/{page}"] = listing
            output.write(f"programs/{page}.json", _json(told))

    done = run(
        estate.taken(tell),
        model=model,
        results=results,
        jobs=jobs,
        max_prompt_tokens=max_prompt_tokens,
        adaptive=adaptive,
        reconcile=reconcile,
        progress=progress,
        finished=finished,
    )
    documented = Documented(
        programs={page: made[page] for ids in estate.pages.values() for page in ids if page in made},
        copybooks=_copybooks(estate, output, listings),
        members=estate.beside,
        others=found.others,
        skipped=found.skipped,
        empty=tuple(estate.empty),
        run=done,
    )
    _write_pages(title, documented, estate.linked, listings, output, tell)
    output.write("run.json", _json(documented.to_dict()))
    return replace(documented, written=output.written)


def _untold(_what: str, _done: int, _total: int) -> None:
    """Do nothing: nobody wants to know how far it is."""


def _write_pages(
    title: str,
    documented: Documented,
    linked: Estate,
    listings: Mapping[str, Sequence[tuple[int, str]]],
    output: Output,
    tell: Callable[[str, int, int], None],
) -> None:
    """Write what people read: Markdown beside the JSON of programs and copybooks, the index, and the site."""
    from penstock.scribe import pages

    told = pages.estate_of(title, documented.programs, documented.copybooks, linked)
    for number, (path, text) in enumerate(_pages(told, listings)):
        tell("pages", number, 0)
        output.write(path, text)


def _pages(told: EstateView, listings: Mapping[str, Sequence[tuple[int, str]]]) -> Iterator[tuple[str, str]]:
    """Yield what people read, path by path: Markdown beside the JSON of programs and copybooks, the index, and the site."""
    from penstock.scribe import pages

    names = pages.NameIndex(told["programs"], told["layouts"])
    for page, document in told["programs"].items():
        yield f"programs/{page}.md", pages.program_markdown(document, page, names)
    for page, document in told["layouts"].items():
        yield f"copybooks/{page}.md", pages.copybook_markdown(document, page, names)
    yield "index.md", pages.index_markdown(told)
    yield "index.json", pages.index_json(told)
    yield from pages.site(told, listings)


def subjects(found: Sequence[GatheredFile], paths: Iterable[str], source_format: Format | None = None) -> list[Subject]:
    """Return what the files at some paths say, with the copybooks among all that were found."""
    shelf = _shelf(found, _members(found))
    wanted = {os.path.normpath(path) for path in paths}
    return [subject_of(one, shelf, source_format) for one in found if one.path in wanted]


def _members(found: Iterable[GatheredFile]) -> list[Member]:
    from penstock.cobol.estate import member

    return [member(one.path, one.kind, one.data) for one in found if one.kind != "cobol"]


def _shelf(found: Sequence[GatheredFile], members: Iterable[Member]) -> Copybooks:
    from penstock.cobol.estate import Copybooks

    return Copybooks(found, [(one.path, mapset) for one in members for mapset in one.mapsets])


class _Files:
    """What was found, read and linked: sources with programs, copybooks, and what lies around them.

    A file is read for what its name and head say, and then judged by what is in it: a member of a copybook library may be a
    program, and a file called `.cbl` may be empty. Ids of pages are given in the order of the paths, before anything is asked.
    """

    def __init__(self, found: Gathered, source_format: Format | None, tell: Callable[[str, int, int], None]) -> None:
        from penstock.cobol.estate import Estate, Located

        members = _members(found.files)
        sources = [one for one in found.files if one.kind in {"cobol", "copybook", "dclgen"}]
        ids = _Ids()
        programs: list[Located] = []
        self.shelf = _shelf(found.files, members)
        self.empty: list[Skipped] = []
        self.copybooks: list[Subject] = []
        self.pages: dict[str, list[str]] = {}
        """The ids of the programs in each file, in their order."""
        self._read: deque[Subject] = deque()
        for number, file in enumerate(sources):
            tell("reading", number, len(sources))
            one = subject_of(file, self.shelf, source_format)
            if not says_anything(one):
                self.empty.append(_empty(file, one))
            elif is_copybook(one):
                self.copybooks.append(one)
            else:
                self._read.append(one)
                self.pages[one.file_name] = [ids.of(part.facts.program, one.file_name) for part in one.parts]
                programs += [Located(one.file_name, part.facts) for part in one.parts]
        self.linked = Estate(members, programs)
        told = {one.path for one in self.empty} | {one.file_name for one in self.copybooks}
        self.beside = sum(one.path not in told for one in members)
        """How many files are neither: jobs, maps, tables and the like."""

    def taken(self, tell: Callable[[str, int, int], None]) -> Iterator[Subject]:
        """Yield the files with programs, once: whoever takes one may forget it, and then nobody keeps it."""
        # Taken from the left of a queue and not iterated: a list would hold every scanned file to the end of the run.
        for number in range(len(self._read)):
            tell("documenting", number, len(self.pages))
            yield _situated(self._read.popleft(), self.linked)


def subject_of(found: GatheredFile, shelf: Copybooks, source_format: Format | None) -> Subject:
    """Return what a file says, with those of the copybooks on a shelf that it names."""
    from penstock.cobol import scan

    source = scan(found.data, source_format=source_format)
    books, paths = _books(source, shelf)
    return subject(source, found.path, copybooks=books, paths=paths)


def _books(source: ScannedSource, shelf: Copybooks) -> tuple[dict[str, ScannedSource], dict[str, str]]:
    """Return the copybooks that a source names, and those that they name; and where each stands.

    One is taken once for each name, so that copybooks which copy each other end here.
    """
    books: dict[str, ScannedSource] = {}
    paths: dict[str, str] = {}
    waiting = [source]
    while waiting:
        for program in waiting.pop():
            for copy in program.copies:
                name = key(copy.name)
                if name not in books and (book := shelf(copy.name, copy.library)) is not None:
                    books[name], paths[name] = book, shelf.path(copy.name, copy.library) or ""
                    waiting.append(book)
    return books, paths


def is_copybook(one: Subject) -> bool:
    """Return whether there is no program in a file: its data is documented where programs use it."""
    return all(part.program.kind == "copybook" for part in one.parts)


def says_anything(one: Subject) -> bool:
    """Return whether there is a program, or data: any other text has something that looks like a sentence of COBOL."""
    return not is_copybook(one) or any(
        part.facts.items or part.program.copies or part.program.paragraphs for part in one.parts
    )


def _empty(file: GatheredFile, one: Subject) -> Skipped:
    """Return why a file that was taken for COBOL has none, from the reason that explains most."""
    head = file.data[:HEAD_BYTES]
    if not head:
        said = "it is empty"
    elif window.detect(head) is None:
        said = f"it is binary: {window.kind_of(head)}"
    elif set(one.source.kinds) <= {"comment", "blank"}:
        said = "it holds comments and no code"
    else:
        said = "there is no COBOL in it"
    return Skipped(file.path, said)


class Around(NamedTuple):
    """The names of what calls, starts and runs a program."""

    called_by: tuple[str, ...] = ()
    transactions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


def around(program: str, linked: Estate) -> Around:
    """Return what calls, starts and runs a program, by its name, each name once."""
    return Around(
        tuple(dict.fromkeys(caller.program for caller in linked.called_by(program))),
        tuple(dict.fromkeys(start.name for start in linked.transactions(program))),
        tuple(dict.fromkeys(step.job for step in linked.runs(program))),
    )


def _situated(one: Subject, linked: Estate) -> Subject:
    return situated(one, [around(part.facts.program, linked) for part in one.parts])


def situated(one: Subject, neighbours: Iterable[Around]) -> Subject:
    """Return a subject with what is around each of its programs, in their order."""
    about = [replace(known, **found._asdict()) for known, found in zip(one.about, neighbours, strict=True)]
    # Claims may name them: "runs in the daily job" is no invention.
    around = {name for known in about for name in (*known.called_by, *known.transactions, *known.jobs)}
    return replace(one, about=tuple(about), names=frozenset(around))


def _copybooks(
    estate: _Files, output: Output, listings: dict[str, list[tuple[int, str]]]
) -> dict[str, dict[str, Json]]:
    """Document copybooks, which no model is asked about, and put their lines to the other listings.

    A copybook means nothing for sure by itself: what its fields are for is said where a program uses them.
    """
    made: dict[str, dict[str, Json]] = {}
    ids = _Ids()
    for one, documents in run(estate.copybooks).documents:
        for told, listing in zip(documents, _listings(one), strict=True):
            page = ids.of(told["header"]["program_id"], one.file_name)
            made[page] = told
            listings[f"copybooks/{page}"] = listing
            output.write(f"copybooks/{page}.json", _json(told))
    return made


def _listings(one: Subject) -> list[list[tuple[int, str]]]:
    """Return the lines of each program, without those inside of a program that is within it: that one has a page of its own."""
    # Programs come in the order of their first lines, so that an inner one overwrites its part of the outer one. Its first and last
    # line stay with both: the reader of the outer program sees where the inner one is.
    rows = [{part.program.start_line, part.program.end_line} for part in one.parts]
    within: list[int | None] = [None] * (one.source.lines + 1)
    for number, part in enumerate(one.parts):
        first, last = part.program.start_line, part.program.end_line
        within[first + 1 : last] = [number] * max(0, last - first - 1)
    for line, owner in enumerate(within):
        if owner is not None:
            rows[owner].add(line)
    return [[(line, _cut(one.source.shown(line))) for line in sorted(row)] for row in rows]


def _cut(line: str) -> str:
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}…"


class _Ids:
    """The ids that pages are named by: names of programs, told apart by a hash of their paths where two have one name.

    The same files have the same ids whenever they are documented. Names are told apart without regard to case, because file systems
    of Windows and macOS do not tell more.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._digests: dict[tuple[str, str], str] = {}  # the last of a name and path

    def of(self, program: str, path: str) -> str:
        """Return the id of a program in a file."""
        stem = path.rpartition("/")[2].partition(".")[0]
        name = (_UNSAFE.sub("_", program.strip("'\"")) or _UNSAFE.sub("_", stem) or "UNNAMED")[:_MOST_LETTERS]
        made, digest = name, self._digests.get((key(name), path), path)
        while key(made) in self._taken:
            # A hash of the hash, and so on: two programs of one name in one file have the same path.
            digest = sha256(digest.encode("utf-8", "surrogateescape")).hexdigest()
            made = f"{name}.{digest[:_HASH_LETTERS]}"
        self._digests[key(name), path] = digest
        self._taken.add(key(made))
        return made


def title_of(files: Sequence[GatheredFile], root: str) -> str:
    """Return what an estate is called: the name of the folder that holds all of its files."""
    folders = [os.path.join(root, os.path.dirname(one.path)) for one in files]
    return os.path.basename(os.path.commonpath(folders or [root])) or "Programs"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
