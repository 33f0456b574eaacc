"""How are the files of an estate documented? They become documents, pages and a site, with or without a model.

    done = document(["cbl"], root="estate", out="docs")          # what the code says
    done = document(["cbl"], out="docs", model=load_model("anthropic:NAME"))

Each document is written as soon as it is done; an interrupt or a kill keeps it, and the next run asks only for what is missing.
Law: nothing is written outside `out`; every file found is documented, linked, or named with the reason why not.
Leaves to others: what is asked and verified (`documenting`), and how pages look (`pages`).
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Unpack

from penstock.scribe.documenting import JOBS, MAX_PROMPT_TOKENS, AskingOptions, DocumentingRun, run
from penstock.scribe.estate_reading import (
    FileReader,
    ReadSetup,
    is_copybook,
    members_of,
    says_anything,
    situated,
    subject_of,
)
from penstock.scribe.gathering import Skipped, gather
from penstock.scribe.json_lines import json_lines
from penstock.scribe.output import Output
from penstock.scribe.pages.estate import program_path
from penstock.scribe.pages.summary import summary_of
from penstock.scribe.results import Folder
from penstock.scribe.spool import spooled
from penstock.scribe.surroundings import Around, Surroundings, situate
from penstock.scribe.workers import Lost, Workers, processes_for
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.cobol import Format
    from penstock.models import Model
    from penstock.scribe.documenting import ScannedFile
    from penstock.scribe.estate_found import FoundEstate, Listed
    from penstock.scribe.gathering import Gathered, GatheredFile, LeftOut
    from penstock.scribe.pool import Progress
    from penstock.scribe.results import Results
    from penstock.scribe.spool import Spool
    from penstock.text.json_access import Json
    from penstock.workspace.root import Root

__all__ = [
    "JOBS",
    "MAX_PROMPT_TOKENS",
    "Around",
    "Documented",
    "Surroundings",
    "document",
    "document_gathered",
    "is_copybook",
    "says_anything",
    "situated",
    "subject_of",
    "subjects",
    "title_of",
]

RESULTS = ".penstock"
"""The folder below `out` that keeps answers for the next run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """The result for an estate: its programs and copybooks by the ids of their pages, what was not read, and the run's figures."""

    programs: Mapping[str, dict[str, Json]]
    copybooks: Mapping[str, dict[str, Json]]
    members: int
    """Files other than programs and copybooks that describe them: jobs, maps, tables."""
    left_out: tuple[LeftOut, ...]
    """Files of no known kind, by suffix."""
    skipped: tuple[Skipped, ...]
    empty: tuple[Skipped, ...]
    """Files that were taken for COBOL but contain none."""
    run: DocumentingRun
    written: int = 0

    @property
    def others(self) -> int:
        """How many files are of no known kind."""
        return sum(one.files for one in self.left_out)

    def to_dict(self) -> dict[str, Json]:
        """Return the content of `run.json`: the figures of the run, and what was left out."""
        return {
            "penstock_version": __version__,
            **self.run.to_dict(),
            "programs": len(self.programs),
            "copybooks": len(self.copybooks),
            "members": self.members,
            "others": self.others,
            "left_out": [one._asdict() for one in self.left_out],
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
    tokenizer: str | None = None,
    reconcile: bool = False,
    fresh: bool = False,
    source_format: Format | None = None,
    processes: int | None = None,
    step: Callable[[str, int, int], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Documented:
    """Document the files at and below some paths, and write documents, pages and a site.

    Args:
        paths: Files and folders, relative to `root`.
        root: The folder that paths are relative to; no file outside of it is read.
        out: The folder that everything is written to.
        model: The model that adds what the code does not say; None for documents from the code alone.
        jobs: How many chunks are asked about at once.
        max_prompt_tokens: The most tokens of a whole prompt.
        adaptive: Whether chunks are smaller where the code branches more.
        tokenizer: The model or family whose tokenizer counts prompts; the model's own by default.
        reconcile: Whether the model merges similar statements from several chunks of a program into one wording.
        fresh: Whether the model is asked again about everything.
        source_format: The reference format, if detection from the columns would get it wrong.
        processes: How many processes read and write; None for as many as the processors allow and the sources justify.
        step: Called with what is being done, how many are done, and of how many (0: unknown).
        progress: Called with how far the chunks are.

    Raises:
        ToolError: A path does not exist.
        CallerError: `out` cannot be written, or holds somebody else's site; or a budget is too small.
    """
    from penstock.cobol.estate import kind_of

    tell = step or _untold
    output = Output(out)  # before anything is read, so that an unwritable folder is reported at once
    output.expect_own()
    gathered = [gather(root, paths, kind_of, lambda files: tell("files", files, 0))]
    title = title_of(gathered[0].files, os.fsdecode(root.path))
    # Each option by its name: a call with `**` keeps a tuple of its arguments until it returns, and with it all sources.
    return document_gathered(
        gathered.pop(),  # the only reference, so that sources are freed once they are read
        title,
        output,
        model=model,
        results=Folder(output.folder(RESULTS), fresh=fresh),
        jobs=jobs,
        max_prompt_tokens=max_prompt_tokens,
        adaptive=adaptive,
        tokenizer=tokenizer,
        reconcile=reconcile,
        source_format=source_format,
        processes=processes,
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
    source_format: Format | None = None,
    processes: int | None = None,
    counted: Callable[[DocumentingRun], None] | None = None,
    step: Callable[[str, int, int], None] | None = None,
    **asking: Unpack[AskingOptions],
) -> Documented:
    """Document files that were already gathered, as `document` does.

    Args:
        found: The files, from any origin.
        title: What the estate is called.
        output: Where documents go.
        model: The model that adds what the code does not say; None for documents from the code alone.
        results: Where answers are kept.
        source_format: The reference format, if detection from the columns would get it wrong.
        processes: How many processes read and write; None for as many as the processors allow and the sources justify.
        counted: Called with the figures of the run before they are written, so that others' share can be added.
        step: Called with what is being done, how many are done, and of how many (0: unknown).
        **asking: How the model is asked.

    Raises:
        CallerError: `output` cannot be written, or a budget is too small.
    """
    from penstock.cobol.estate import DOCUMENTED_KINDS
    from penstock.scribe.estate_found import FoundEstate

    tell = step or _untold
    members, others = members_of(found.files), found._replace(files=())
    sources = [one for one in found.files if one.kind in DOCUMENTED_KINDS]
    count = processes_for(sum(len(one.data) for one in sources), processes)
    with spooled(output.path) as spool, Workers(count) as workers:
        # A model adds words to documents, so with a model they are made after it has answered; what programs call is read first.
        setup = ReadSetup(files=sources, members=members, source_format=source_format, spool=spool.folder)
        if model is not None:
            setup = replace(setup, makes_documents=False)
        with closing(workers.each(FileReader, setup, range(len(sources)))) as read:
            estate = FoundEstate(sources, members, read, tell)
        if model is None:
            done = DocumentingRun()
            del found, sources, setup  # pages take their lines from the spool
        else:
            asked = _Asked(estate, FileReader(setup), output, spool, tell)
            done = run(asked.subjects(), model=model, results=results, finished=asked.finished, **asking)
            estate.settle()
        if counted is not None:
            counted(done)
        is_there = bool(estate.programs or estate.layouts or estate.beside)
        if is_there:
            written, unwritten = _write(title, estate, output, spool, workers, tell)
        else:
            written, unwritten = 0, []
    documented = _documented(others, estate, unwritten, done)
    if not is_there:  # a mistyped path must not replace an earlier site with an empty one
        output.leave()
        return documented
    output.write("run.json", json_lines(documented.to_dict()))
    return replace(documented, written=output.written + written)


def _documented(
    others: Gathered, estate: FoundEstate, unwritten: Iterable[Skipped], done: DocumentingRun
) -> Documented:
    """Return the result for the files of an estate."""
    return Documented(
        programs=estate.summaries,
        copybooks=estate.layouts,
        members=estate.beside,
        left_out=others.left_out,
        skipped=(*others.skipped, *estate.lost, *unwritten),
        empty=tuple(estate.empty),
        run=done,
    )


def _untold(_what: str, _done: int, _total: int) -> None:
    """Do nothing: no caller asked for progress."""


class _Asked:
    """The programs of an estate for a model: each is read again, and goes to the spool as soon as its last chunk is done.

    Each document is written when it is made: a run over a large estate takes hours, and whoever looks or stops it has what is done
    so far.
    """

    def __init__(
        self,
        estate: FoundEstate,
        reader: FileReader,
        output: Output,
        spool: Spool,
        tell: Callable[[str, int, int], None],
    ) -> None:
        self._estate, self._reader, self._output, self._spool, self._tell = estate, reader, output, spool, tell
        self._of_file: dict[str, list[Listed]] = {}

    def subjects(self) -> Iterator[ScannedFile]:
        """Yield the files with programs, complete, with who calls and runs them."""
        by_number: dict[int, list[Listed]] = {}
        for one in self._estate.programs:
            by_number.setdefault(one.file, []).append(one)
        for at, (number, listed) in enumerate(by_number.items()):
            self._tell("planning", at, len(by_number))
            subject = self._reader.subject(number)
            self._of_file[subject.file_name] = listed
            yield situated(subject, map(self._estate.around, listed))

    def finished(self, subject: ScannedFile, documents: list[dict[str, Json]]) -> None:
        """Take the documents of a file."""
        listed = self._of_file[subject.file_name]
        for one, told in zip(listed, documents, strict=True):
            situate(told, self._estate.around(one))
            self._output.write(f"{program_path(one.page)}.json", json_lines(told))
            self._estate.wait_for(one, self._spool.put(told), summary_of(told))


def _write(
    title: str,
    estate: FoundEstate,
    output: Output,
    spool: Spool,
    workers: Workers,
    tell: Callable[[str, int, int], None],
) -> tuple[int, list[Skipped]]:
    """Write pages and index; return how many files page processes changed (not `output`), and which pages could not be written."""
    from penstock.scribe import pages
    from penstock.scribe.page_writing import CopyTask, PageSetup, PageTask, PageWriter
    from penstock.scribe.pages.copies import MOST_COPIES, near_copies

    around = {one: estate.around(one) for one in estate.programs}
    for listed, near in around.items():
        if listed in estate.documents:
            estate.summaries.situate(listed.page, near)
    told = pages.estate_of(title, estate.summaries, estate.layouts, estate.inventory(), estate.terms())
    flows = pages.EstateFlows(estate.graph, near_copies(estate.sketches), estate.pages)
    frame = pages.SiteFrame.of(told, flows)
    by_page = {one.page: one for one in estate.programs if one in estate.documents}
    copies = {
        by_page[page]: tuple(
            CopyTask(other.program, program_path(other.page), other.listing, one.share)
            for one in found[:MOST_COPIES]
            if (other := by_page.get(one.page)) is not None
        )
        for page, found in flows.copies.items()
        if page in by_page
    }
    tasks = [
        PageTask(estate.documents[one], one.listing, path, around.get(one), copies.get(one, ()))
        for one, path in estate.paths().items()
    ]
    setup = PageSetup(spool=spool.folder, out=output.path, frame=frame)
    written, lost = 0, []
    with closing(workers.each(PageWriter, setup, tasks)) as made:
        for number, (task, one) in enumerate(zip(tasks, made, strict=True)):
            tell("pages", number, len(tasks))
            if isinstance(one, Lost):
                lost.append(Skipped(task.path, one.reason))
            else:
                written += one
    tell("index", 0, 0)
    output.write("index.json", pages.index_json(told, frame.names))
    for path, text in chain(pages.estate_markdown(told, frame.names), pages.of_estate(told, frame, flows)):
        output.write(path, text)
    return written, lost


def subjects(
    found: Sequence[GatheredFile], paths: Iterable[str], source_format: Format | None = None
) -> list[ScannedFile]:
    """Return the scans of the files at some paths, with copybooks looked up among all files found."""
    reader = FileReader(ReadSetup(files=found, members=members_of(found), source_format=source_format))
    wanted = {os.path.normpath(path) for path in paths}
    return [reader.subject(number) for number, one in enumerate(found) if one.path in wanted]


def title_of(files: Sequence[GatheredFile], root: str) -> str:
    """Return the name of an estate: that of the innermost folder that contains all of its files."""
    folders = [os.path.join(root, os.path.dirname(one.path)) for one in files]
    return os.path.basename(os.path.commonpath(folders or [root])) or "Programs"
