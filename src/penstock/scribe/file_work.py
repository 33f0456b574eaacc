"""How is the work on one file done? It is planned, asked about chunk by chunk, and made into the documents of its programs.

A file is cut into chunks as a whole, because programs in one file share lines and copybooks; a chunk may belong to several
programs, and each document takes from it what is within its own lines. Threads perform chunks, and one thread reads their outcomes.
Law: every chunk ends once, answered, failed or stopped, or is replaced by smaller ones that cover its lines.
Leaves to others: how a question is sent (`pool`), answered (`asking`) and verified against the source (`verification`).
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from penstock.chunk import Overhead, plan
from penstock.chunk.chunks import joined
from penstock.chunk.merging import merge
from penstock.chunk.template import Template
from penstock.cobol import ScannedSource, scan
from penstock.cobol.facts import facts as facts_of
from penstock.cobol.facts import lookup
from penstock.errors import CallerError
from penstock.scribe import prompts
from penstock.scribe.asking import Answered, Question, Told, asked, told
from penstock.scribe.documents import About, ChunkFailure, Coverage, Ticket, document_of
from penstock.scribe.filling import Part
from penstock.scribe.pool import MIN_REPLY_TOKENS, REPLY_TOKENS, ModelPool
from penstock.scribe.reconciling import Rewording, reconciled
from penstock.scribe.results import key_of
from penstock.scribe.verification import shown
from penstock.text.tokens import Tokens, best_counter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.chunk import Chunk, ChunkPlan
    from penstock.chunk.chunks import Span
    from penstock.cobol import Format
    from penstock.models import Model
    from penstock.scribe.documents import Status, TicketState, TicketType
    from penstock.scribe.results import Results
    from penstock.scribe.verification import Known, Shown
    from penstock.text.json_access import Json
    from penstock.text.tokens import Mode

# The reply gets at most one part in so many of a known window: the question needs the larger part.
_REPLY_SHARE = 4
# How often a chunk may be made smaller: a provider that refuses even the last of these has another reason than size.
_MAX_SPLITS = 4
_SEAM_TOKENS = 4  # between the body of a prompt and its notes
_MAX_BYTES_PER_TOKEN = 16  # of a source: blanks up to column 80 reach nine


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedFile:
    """A file with programs, scanned and analysed.

    `parts` are its programs, in the order of their lines, and `about` is what is known of all of them. `copybooks` are those that
    were found, by their names in capitals.
    """

    file_name: str
    source: ScannedSource
    parts: tuple[Part, ...]
    about: About
    copybooks: Mapping[str, ScannedSource] = field(default_factory=dict, repr=False)
    names: frozenset[str] = frozenset()
    """Other names around the programs: jobs, transactions, programs that call them."""


def subject(
    content: bytes | str | ScannedSource,
    file_name: str,
    *,
    copybooks: Mapping[str, ScannedSource] | None = None,
    paths: Mapping[str, str] | None = None,
    source_format: Format | None = None,
    debug_lines: bool = False,
) -> ScannedFile:
    """Return the scan of a file.

    Args:
        content: Its bytes, its text, or a finished scan.
        file_name: Its name in documents: its path from the root.
        copybooks: The sources of copybooks, by their names in capitals.
        paths: The paths of those copybooks, by the same names.
        source_format: The reference format, if detection from the columns would get it wrong.
        debug_lines: Whether lines with a D in the indicator area are code.
    """
    if not isinstance(content, ScannedSource):
        content = scan(content, source_format=source_format, debug_lines=debug_lines)
    source = content
    books = copybooks or {}
    find = lookup(books)
    parts = tuple(
        Part(program, facts_of(source, program, copybooks=find), source, paths) for program in source.programs
    )
    about = About(file_name=file_name, format=source.format, encoding=source.encoding, warnings=source.warnings)
    return ScannedFile(file_name=file_name, source=source, parts=parts, about=about, copybooks=books)


class PromptBudget(NamedTuple):
    """How large prompts and replies may be, in tokens, and who counts them."""

    prompt_tokens: int
    reply_tokens: int
    counter: Tokens
    adaptive: bool

    # A model's window holds the prompt and the reply. An unknown window is not guessed: a refusal reveals it, and chunks that were
    # too large are then made smaller.
    @classmethod
    def of(
        cls,
        model: Model | None,
        max_prompt_tokens: int,
        *,
        adaptive: bool,
        tokenizer: str | None = None,
        counting: Mode | None = None,
    ) -> PromptBudget:
        """Return the budget of a model's prompts, counted by its own tokenizer unless another is named.

        An unknown name is counted conservatively, which makes chunks half as large; callers who know the tokenizer should name it.
        `counting` is the way of counting; None for the best available.
        """
        window = model.window_tokens if model is not None else None
        reply = REPLY_TOKENS
        if window is not None:
            reply = min(reply, max(window // _REPLY_SHARE, MIN_REPLY_TOKENS))
            max_prompt_tokens = min(max_prompt_tokens, max(window - reply, 1))
        name = tokenizer or (model.name if model is not None else "o200k")
        counter = best_counter(name) if counting is None else Tokens(model=name, mode=counting)
        return cls(max_prompt_tokens, reply, counter, adaptive)


@cache
def _instruction_tokens(counter: Tokens) -> int:
    """Return the tokens of the fixed instructions of every prompt, counted once: they are as long as a small program."""
    return counter.count(prompts.SYSTEM).high


def assignment_key(file_name: str, budget: PromptBudget, model: str) -> str:
    """Return the key under which results keep which lines of a file were in which chunk, so that the next plan keeps to it."""
    return key_of("assignment", file_name, f"{budget.prompt_tokens} {budget.adaptive}", model)


class ChunkTask(NamedTuple):
    """A chunk that has to be asked about.

    `place` is its number and the number of all chunks, which the notes tell the model; `depth` is how often it was made smaller.
    """

    file: FileWork
    chunk: Chunk
    plan: ChunkPlan
    place: tuple[int, int]
    depth: int = 0


class ChunkDone(NamedTuple):
    """The outcome of a chunk, and what its claims were verified against; None for a chunk that was never asked about."""

    chunk: Chunk
    answered: Answered
    held: Shown | None = None


class FileWork:
    """The work on one subject: its chunks, their outcomes, and in the end its documents.

    Args:
        subject: The file.
        budget: How large its prompts may be.
        results: Where answers and the plan of the previous run are kept.
        model: The name of the model, wire included; empty for none.
        planned: A plan of the same source for the same budget, which is then not made again.
    """

    def __init__(
        self,
        subject: ScannedFile,
        budget: PromptBudget,
        results: Results | None,
        model: str,
        *,
        planned: ChunkPlan | None = None,
    ) -> None:
        self.subject = subject
        self._is_asked = bool(model and subject.parts)
        self._budget, self._results = budget, results if self._is_asked else None
        self._key = assignment_key(subject.file_name, budget, model)
        previous = self._results.get(self._key) if self._results is not None else None
        self._previous: Mapping[str, str] | None = previous if isinstance(previous, dict) else None
        self.was_known = self._previous is not None
        self._lock = threading.Lock()
        self._smaller: dict[tuple[int, int], ChunkPlan] = {}  # by the id of the plan that was too large, and the tokens
        self._done: list[ChunkDone] = []
        self._known: Known | None = None
        if planned is not None:
            self.plan = planned
        self.open = len(self.tasks)

    @property
    def tasks(self) -> list[ChunkTask]:
        """Return the chunks to ask about, made again each time.

        If they were kept, a file and its tasks would refer to each other, and 50 times the bytes of its source would stay in memory
        until the cycle collector runs.
        """
        return _tasks(self, self.plan, self.plan.chunks) if self._is_asked else []

    def task(self, number: int) -> ChunkTask:
        """Return the task for one chunk of the plan, counted from 0."""
        return ChunkTask(self, self.plan.chunks[number], self.plan, (number + 1, len(self.plan.chunks)))

    # ── plans ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def plan(self) -> ChunkPlan:
        """Return the chunks of the file, cut on first use: a run without a model never waits for them."""
        made = self._planned(self._budget.prompt_tokens, self._previous)
        if self._results is not None:
            self._results.put(self._key, dict(made.assignment))
        return made

    def _planned(self, prompt_tokens: int, previous: Mapping[str, str] | None) -> ChunkPlan:
        """Return the file in one piece if that fits with its notes; else in several, with room for notes in each prompt.

        The check of the bytes avoids counting a large file in vain.
        """
        whole = None
        if len(self.subject.source.data) <= prompt_tokens * _MAX_BYTES_PER_TOKEN:
            made = self._cut(prompt_tokens, 0, None)
            whole = made if len(made.chunks) < 2 else None
        if whole is not None and self._has_room_for_notes(whole):
            return whole
        try:
            several = self._cut(prompt_tokens, prompts.room_for_notes(prompt_tokens), previous)
        except CallerError:
            if whole is None:
                raise
            return whole
        # A statement that alone fills a prompt is asked about without notes rather than not at all.
        return several if whole is None or len(several.prompts) == len(several.chunks) else whole

    def _has_room_for_notes(self, whole: ChunkPlan) -> bool:
        """Return whether a file in one piece leaves as much room as each of several chunks has, or as all of its notes need.

        A model that is given no ids cannot answer, and the file would fail in each run because it only just fits.
        """
        for chunk in whole.chunks:
            room = self._room_tokens(chunk, whole)
            if room < prompts.room_for_notes(whole.budget_tokens):
                items = prompts.items_of(self.subject.parts, chunk.spans)
                everything = prompts.notes(items, (1, 1), lambda _: True)
                return self._budget.counter.count(everything).high <= room
        return True

    def _room_tokens(self, chunk: Chunk, made: ChunkPlan) -> int:
        """Return how many tokens are left for notes in a prompt."""
        return made.budget_tokens - (chunk.prompt_tokens or 0) - _SEAM_TOKENS

    def _cut(
        self,
        prompt_tokens: int,
        reserve_tokens: int,
        previous: Mapping[str, str] | None,
        refines: ChunkPlan | None = None,
    ) -> ChunkPlan:
        return plan(
            self.subject.source,
            prompt_tokens=prompt_tokens,
            overhead=Overhead(
                frame_tokens=Overhead().frame_tokens + _instruction_tokens(self._budget.counter),
                reserve_tokens=reserve_tokens,
            ),
            counter=self._budget.counter,
            previous=previous,
            adaptive=self._budget.adaptive,
            copybooks=self.subject.copybooks,
            refines=refines,
        )

    def _split(self, task: ChunkTask, tokens: int) -> list[ChunkTask]:
        """Return a chunk that is too large as chunks of a smaller budget; none if it was made smaller too often.

        All chunks of a plan that are too large for the same budget share one smaller plan: it refines the first, so that each of
        its chunks is within one of them, and a chunk takes those that begin in its own lines.
        """
        if task.depth >= _MAX_SPLITS:
            return []
        with self._lock:
            smaller = self._smaller.get((id(task.plan), tokens))
            if smaller is None:
                try:
                    smaller = self._cut(tokens, prompts.room_for_notes(tokens), None, task.plan)
                except CallerError:  # no line fits into so little
                    return []
                self._smaller[id(task.plan), tokens] = smaller
        chunks = [chunk for chunk in smaller.chunks if chunk.spans[0][0] in task.chunk]
        return _tasks(self, smaller, chunks, task.depth + 1)

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def perform(self, task: ChunkTask, desk: ModelPool, model: str) -> tuple[Answered, list[ChunkTask]]:
        """Ask about a chunk, and return its outcome with the smaller chunks that replace it, if any; called by threads."""
        chunk = task.chunk
        if chunk.id not in task.plan.prompts:
            return self._end(
                ChunkDone(chunk, Answered("failed", reason="one statement that is larger than a prompt may be"))
            )
        question = self.question(chunk, task.plan, task.place)
        if not question.held.numbers:  # only comments: nothing said about them could be proved
            return self._end(ChunkDone(chunk, Answered("answered"), question.held))
        answered = asked(question, desk, model, self._results)
        if answered.outcome != "too_large":
            return self._end(ChunkDone(chunk, answered, question.held))
        if smaller := self._split(task, answered.fitting_tokens):
            return answered, smaller
        return self._end(ChunkDone(chunk, answered._replace(outcome="failed"), question.held))

    def _end(self, done: ChunkDone) -> tuple[Answered, list[ChunkTask]]:
        with self._lock:
            self._done.append(done)
        return done.answered, []

    def known(self) -> Known:
        """Return what claims may refer to; computed once, because it reads every word of the file."""
        if self._known is None:
            self._known = prompts.known(self.subject.parts, self.subject.source.code, self.subject.names)
        return self._known

    def question(self, chunk: Chunk, made: ChunkPlan, place: tuple[int, int]) -> Question:
        """Return the question about a chunk: its text, and as many notes as fit in the prompt."""
        items = prompts.items_of(self.subject.parts, chunk.spans)
        room, counter = self._room_tokens(chunk, made), self._budget.counter

        def fits(text: str) -> bool:
            return counter.count(text).high <= room

        return Question(
            chunk=chunk,
            body=made.prompts[chunk.id],
            notes=prompts.notes(items, place, fits),
            held=shown(self.subject.source, (*chunk.spans, *chunk.context_spans), items, self.known()),
            fits=fits,
        )

    # ── documents ────────────────────────────────────────────────────────────────────────────────────────────────

    def documents(self, reword: Rewording | None = None) -> list[dict[str, Json]]:
        """Return the documents of all programs in the file.

        Outcomes are first put into the order of their lines: threads end in any order, and equal answers must give equal documents.
        """
        if not self.tasks:
            return documents_of_code(self.subject)
        done = sorted(self._done, key=lambda one: one.chunk.spans)
        return [self._document(number, done, reword) for number in range(len(self.subject.parts))]

    def _document(self, number: int, done: Sequence[ChunkDone], reword: Rewording | None) -> dict[str, Json]:
        part = self.subject.parts[number]
        lines = part.program.start_line, part.program.end_line
        of_program = [one for one in done if _touches(one.chunk, lines)]
        accounts = {one.chunk.id: _told(one, number) for one in of_program}
        # The code's own template comes first: merging keeps its values, and adds a model's words to them.
        template = merge([part.template, *(account.template for account in accounts.values())])
        if reword is not None and len(of_program) > 1:
            template = reconciled(template, self.known(), reword.ask, reword.fits)
        coverage = self._coverage(lines, of_program, accounts)
        return document_of(template, part.facts, self.subject.source, self.subject.about, coverage)

    # How much of a program was described. Stopped chunks count as failed to readers of the document, but the status tells them
    # apart: an interrupted run continues when it is started again, and a failed chunk needs attention.
    def _coverage(self, lines: Span, done: Sequence[ChunkDone], accounts: Mapping[str, Told]) -> Coverage:
        by_outcome: dict[str, list[ChunkDone]] = {}
        for one in done:
            by_outcome.setdefault(one.answered.outcome, []).append(one)
        failed = [*by_outcome.get("failed", ()), *by_outcome.get("stopped", ())]
        status: Status = "interrupted" if "stopped" in by_outcome else "partial" if failed else "complete"
        # Good and bad claims are counted over all chunks and divided at the end: shares of chunks cannot be added.
        grades: dict[str, tuple[int, int]] = {}
        for account in accounts.values():
            for section, (good, bad) in account.grades.items():
                before = grades.get(section, (0, 0))
                grades[section] = (before[0] + good, before[1] + bad)
        described = [span for one in by_outcome.get("answered", ()) for span in _within(one.chunk.spans, lines)]
        return Coverage(
            status=status,
            chunks=len(done),
            documented=joined(described),
            failed=tuple(
                ChunkFailure(
                    one.chunk.id, _within(one.chunk.spans, lines), one.answered.reason or "stopped before it was asked"
                )
                for one in failed
            ),
            tickets=tuple(_tickets(done, lines)),
            grades=grades,
            chunk_grades={
                name: (sum(good for good, _ in made), sum(bad for _, bad in made))
                for name, account in accounts.items()
                if (made := list(account.grades.values()))
            },
        )


def documents_of_code(subject: ScannedFile) -> list[dict[str, Json]]:
    """Return the documents of all programs in a file as its code alone gives them.

    Each whole program waits under one ticket: how it is cut into chunks depends on the window of the model that will be asked, and
    `penstock chunk` reports it.
    """
    documents = []
    for part in subject.parts:
        waiting = Ticket(
            "documentation", "documentation", "open", None, ((part.program.start_line, part.program.end_line),)
        )
        coverage = Coverage(tickets=(waiting,))
        documents.append(document_of(merge([part.template]), part.facts, subject.source, subject.about, coverage))
    return documents


def _tasks(file: FileWork, made: ChunkPlan, chunks: Sequence[Chunk], depth: int = 0) -> list[ChunkTask]:
    return [ChunkTask(file, chunk, made, (number, len(chunks)), depth) for number, chunk in enumerate(chunks, 1)]


def _told(done: ChunkDone, program: int) -> Told:
    if done.held is None:
        return Told(Template(), {})
    return told(done.answered.verdicts, done.held, done.chunk.id, program)


def _touches(chunk: Chunk, lines: Span) -> bool:
    return bool(_within(chunk.spans, lines))


def _within(spans: Sequence[Span], lines: Span) -> tuple[Span, ...]:
    """Return the parts of some spans, which are sorted and do not overlap, that are between two lines."""
    begin = bisect_left(spans, lines[0], key=itemgetter(1))
    end = bisect_right(spans, lines[1], key=itemgetter(0))
    return tuple((max(first, lines[0]), min(last, lines[1])) for first, last in spans[begin:end])


_STATES: Mapping[str, TicketState] = {"answered": "done", "failed": "failed", "stopped": "open"}


def _tickets(done: Sequence[ChunkDone], lines: Span) -> Iterator[Ticket]:
    """Yield the work on a program, done and open: its chunks, their synthesis, and what claims left open.

    A program in one chunk needs one ticket; one in several has a continuation for each and a synthesis, which is done when all of
    them are. A validation is for claims that were asked for again, a clarification for a claim that the code contradicts.
    """
    work: list[tuple[Chunk, TicketState, str | None]] = [
        (one.chunk, _STATES[one.answered.outcome], one.answered.reason or None) for one in done
    ]
    kind: TicketType = "documentation" if len(work) == 1 else "chunk_continuation"
    for chunk, state, reason in work:
        yield Ticket(f"{kind}:{chunk.id}", kind, state, chunk.id, _within(chunk.spans, lines), reason)
    if len(work) > 1:
        is_done = all(state == "done" for _, state, _ in work)
        yield Ticket("chunk_synthesis", "chunk_synthesis", "done" if is_done else "open", None, (lines,))
    for one in done:
        spans = _within(one.chunk.spans, lines)
        verdicts = one.answered.verdicts
        rejected = sum(verdict.outcome == "rejected" for verdict in verdicts)
        if rejected or one.answered.retried:
            state = "failed" if rejected else "done"
            reason = f"{rejected} of {len(verdicts)} claims were not borne out"
            if one.answered.unmended:
                reason += f"; nobody answered when they were asked for again: {one.answered.unmended}"
            yield Ticket(f"validation:{one.chunk.id}", "validation", state, one.chunk.id, spans, reason)
        for number, verdict in enumerate((one for one in verdicts if one.outcome == "contradicted"), 1):
            cited = tuple((proof.first_line, proof.last_line) for proof in verdict.citations)
            if _within(joined(cited), lines):
                name = f"clarification:{one.chunk.id}.{number}"
                reason = prompts.reason_of(verdict.reason)
                yield Ticket(name, "clarification", "open", one.chunk.id, cited, reason)
