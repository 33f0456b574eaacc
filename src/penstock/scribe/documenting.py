"""How does a source become documents? Scanned, its facts taken, its chunks asked about, verified and merged: one for each program.

    found = subject(data, "cbl/ACCT01.cbl", copybooks=copybooks)
    work = run([found], model=load_model("anthropic:NAME"), results=Folder("out/.penstock"), jobs=4)

Without a model the documents hold what the code says, and the chunks that wait for whoever asks about them. Law: every line of a
source is in a chunk that was answered, or in one that is listed as failed; equal answers give equal documents, in whatever order
they come. Keeps out: which files there are, and where documents go (`penstock.scribe`).
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from penstock.chunk import Overhead, plan
from penstock.chunk.chunks import joined
from penstock.chunk.merging import merge
from penstock.chunk.template import Template
from penstock.cobol import ScannedSource, scan
from penstock.cobol.facts import facts as facts_of
from penstock.errors import CallerError
from penstock.scribe import prompts
from penstock.scribe.asking import Answered, Question, Told, asked, told
from penstock.scribe.documents import About, ChunkFailure, Coverage, Ticket, document_of
from penstock.scribe.filling import Part
from penstock.scribe.pool import ATTEMPTS, MIN_REPLY_TOKENS, REPLY_TOKENS, ModelPool, Pool
from penstock.scribe.reconciling import reconciled
from penstock.scribe.results import key_of
from penstock.scribe.verification import shown
from penstock.text.tokens import best_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.chunk import Chunk, ChunkPlan
    from penstock.chunk.chunks import Span
    from penstock.cobol import Format
    from penstock.models import Model
    from penstock.scribe.documents import Status, TicketState, TicketType
    from penstock.scribe.pool import Progress
    from penstock.scribe.results import Results
    from penstock.scribe.verification import Known, Shown
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter

MAX_PROMPT_TOKENS = 15_000  # the seed's, SCRIBE_MAX_PROMPT_TOKENS
JOBS = 4
_REPLY_SHARE = 4  # of a window that is known, at most one part of so many is for the reply
_MAX_SPLITS = 4
_SEAM_TOKENS = 4  # between the body of a prompt and its notes
_MAX_BYTES_PER_TOKEN = 16  # of a source: blanks to column 80 come to nine


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A file with programs, scanned and understood. `about` is what is known of each program from outside, in their order."""

    file_name: str
    source: ScannedSource
    parts: tuple[Part, ...]
    about: tuple[About, ...]
    copybooks: Mapping[str, ScannedSource] = field(default_factory=dict, repr=False)
    names: frozenset[str] = frozenset()
    """What else there is around the programs: jobs, transactions, programs that call them."""


def subject(
    content: bytes | str | ScannedSource,
    file_name: str,
    *,
    copybooks: Mapping[str, ScannedSource] | None = None,
    paths: Mapping[str, str] | None = None,
    source_format: Format | None = None,
    debug_lines: bool = False,
) -> Subject:
    """What a file says. `copybooks` are sources by their names in capitals, `paths` where they were found."""
    if not isinstance(content, ScannedSource):
        content = scan(content, source_format=source_format, debug_lines=debug_lines)
    source = content
    books = copybooks or {}
    parts = tuple(
        Part(program, facts_of(source, program, copybooks=books), source, paths) for program in source.programs
    )
    warnings = tuple(f"line {warning.line}: {warning.text}" for warning in source.warnings)
    about = About(file_name=file_name, format=source.format, encoding=source.encoding, warnings=warnings)
    return Subject(file_name=file_name, source=source, parts=parts, about=(about,) * len(parts), copybooks=books)


@dataclass(slots=True, kw_only=True)
class DocumentingRun:
    """What was made, and what it took. `documents` are those that nobody else was told of.

    `calls` are requests that went out, `resent` chunks that were asked about although an earlier run knew their file, `reused`
    those whose answer was there.
    """

    documents: list[tuple[Subject, list[dict[str, Json]]]] = field(default_factory=list)
    calls: int = 0
    chunks: int = 0
    resent: int = 0
    reused: int = 0
    failed: int = 0
    accepted: int = 0
    relocated: int = 0
    rejected: int = 0
    contradicted: int = 0
    was_interrupted: bool = False

    def to_dict(self) -> dict[str, Json]:
        """The figures, as JSON."""
        names = ("calls", "chunks", "resent", "reused", "failed", "accepted", "relocated", "rejected", "contradicted")
        return {**{name: getattr(self, name) for name in names}, "interrupted": self.was_interrupted}


def run(
    subjects: Iterable[Subject],
    *,
    model: Model | None = None,
    results: Results | None = None,
    jobs: int = JOBS,
    max_prompt_tokens: int = MAX_PROMPT_TOKENS,
    adaptive: bool = False,
    reconcile: bool = False,
    attempts: int = ATTEMPTS,
    progress: Callable[[Progress], None] | None = None,
    finished: Callable[[Subject, list[dict[str, Json]]], None] | None = None,
    pause: Callable[[float], object] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> DocumentingRun:
    """Documents every subject. `finished` is told of each as soon as its last chunk is done; an interrupt keeps what is there.

    Without a model one subject is taken at a time, and nothing of it is kept where `finished` takes it. With `reconcile` the
    model is asked once more about a program of several chunks, to say in one wording what they said alike.
    Raises `CallerError` where a budget has no room for a line.
    """
    budget = _Budget.of(model, max_prompt_tokens, adaptive=adaptive)
    name = f"{model.wire}:{model.name}" if model is not None else ""
    made = DocumentingRun()

    def complete(file: _File, reword: _Reword | None = None) -> None:
        documents = file.documents(reword)
        if finished is not None:
            finished(file.subject, documents)
        else:
            made.documents.append((file.subject, documents))

    files = []
    for one in subjects:
        file = _File(one, budget, results, name)
        made.chunks += len(file.plan.chunks)
        if file.tasks:
            files.append(file)
        else:
            complete(file)
    if model is None:
        return made
    desk = ModelPool(model, reply_tokens=budget.reply_tokens, attempts=attempts, clock=clock, pause=pause)

    def work(task: _Task) -> tuple[Answered, list[_Task]]:
        return task.file.perform(task, desk, name)

    pool = Pool(
        work,
        jobs=jobs,
        stop=desk.stop,
        progress=progress,
        is_failed=lambda answered: answered.outcome == "failed",
        clock=clock,
    )
    for task, answered, smaller in pool.run(task for file in files for task in file.tasks):
        task.file.open += len(smaller) - 1
        _count(made, task.file, answered)
        if not task.file.open:
            complete(task.file, _Reword(desk, budget, results, name, made) if reconcile else None)
    made.was_interrupted = pool.was_interrupted
    return made


def _count(made: DocumentingRun, file: _File, answered: Answered) -> None:
    made.calls += answered.calls
    made.reused += answered.was_kept
    made.resent += bool(answered.calls and file.was_known)
    made.failed += answered.outcome == "failed"
    for verdict in answered.verdicts:
        made.accepted += verdict.outcome == "accepted"
        made.relocated += verdict.outcome == "relocated"
        made.rejected += verdict.outcome == "rejected"
        made.contradicted += verdict.outcome == "contradicted"


class _Budget(NamedTuple):
    """How large prompts and replies may be, and who counts."""

    prompt_tokens: int
    reply_tokens: int
    counter: TokenCounter
    adaptive: bool

    @classmethod
    def of(cls, model: Model | None, max_prompt_tokens: int, *, adaptive: bool) -> _Budget:
        window = model.window_tokens if model is not None else None
        reply = REPLY_TOKENS
        if window is not None:
            reply = min(reply, max(window // _REPLY_SHARE, MIN_REPLY_TOKENS))
            max_prompt_tokens = min(max_prompt_tokens, max(window - reply, 1))
        return cls(max_prompt_tokens, reply, best_counter(model.name if model is not None else "o200k"), adaptive)


def planned(
    subject: Subject, *, model: Model | None = None, max_prompt_tokens: int = MAX_PROMPT_TOKENS, adaptive: bool = False
) -> tuple[ChunkPlan, Callable[[str], prompts.Prompt]]:
    """The chunks that `run` would ask about, and by the id of each the prompt exactly as it would be sent."""
    file = _File(subject, _Budget.of(model, max_prompt_tokens, adaptive=adaptive), None, "")
    made = file.plan

    def prompt_of(chunk_id: str) -> prompts.Prompt:
        for number, chunk in enumerate(made.chunks, 1):
            if chunk.id == chunk_id and chunk.id in made.prompts:
                return file.question(chunk, made, (number, len(made.chunks))).prompt()
        raise CallerError(f"{chunk_id!r} is no chunk that can be sent")

    return made, prompt_of


class _Reword(NamedTuple):
    """Asks for a wording; an answer that was kept is not asked for again."""

    desk: ModelPool
    budget: _Budget
    results: Results | None
    model: str
    made: DocumentingRun

    def fits(self, prompt: prompts.Prompt) -> bool:
        """Whether it may be sent."""
        counted = sum(self.budget.counter.count(text).high for text in prompt)
        return Overhead().frame_tokens + counted <= self.budget.prompt_tokens

    def ask(self, prompt: prompts.Prompt) -> str:
        """The words of the model, empty where there are none."""
        key = key_of("wording", self.model, *prompt)
        kept = self.results.get(key) if self.results is not None else None
        if isinstance(kept, str):
            return kept
        reply = self.desk.ask(prompt, self.budget.prompt_tokens)
        self.made.calls += reply.sent
        if reply.outcome == "answered" and self.results is not None:
            self.results.put(key, reply.words)
        return reply.words


class _Task(NamedTuple):
    """A chunk to be asked about; `depth` is how often it was made smaller."""

    file: _File
    chunk: Chunk
    plan: ChunkPlan
    place: tuple[int, int]
    depth: int = 0


class _Done(NamedTuple):
    """What came of a chunk, and what was held against its claims."""

    chunk: Chunk
    answered: Answered
    held: Shown | None = None


class _File:
    """The work on one subject: its chunks, what came of them, and in the end its documents."""

    def __init__(self, subject: Subject, budget: _Budget, results: Results | None, model: str) -> None:
        self.subject = subject
        is_asked = bool(model and subject.parts)
        self._budget, self._results = budget, results if is_asked else None
        key = key_of("assignment", subject.file_name, f"{budget.prompt_tokens} {budget.adaptive}", model)
        previous = self._results.get(key) if self._results is not None else None
        self.was_known = isinstance(previous, dict)
        self.plan = self._planned(budget.prompt_tokens, previous if self.was_known else None)
        if self._results is not None:
            self._results.put(key, dict(self.plan.assignment))
        self._lock = threading.Lock()
        self._smaller: dict[tuple[int, int], ChunkPlan] = {}  # by the id of the plan that was too large, and tokens
        self._done: list[_Done] = []
        self._known: Known | None = None
        self.tasks = _tasks(self, self.plan, self.plan.chunks) if is_asked else []
        self.open = len(self.tasks)

    # ── plans ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _planned(self, prompt_tokens: int, previous: Mapping[str, str] | None) -> ChunkPlan:
        """In one piece where that fits, with notes in whatever room is left; else with room for notes in every prompt."""
        if len(self.subject.source.data) <= prompt_tokens * _MAX_BYTES_PER_TOKEN:
            made = self._cut(prompt_tokens, 0, None)
            if len(made.chunks) < 2:
                return made
        return self._cut(prompt_tokens, prompts.room_for_notes(prompt_tokens), previous)

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
            overhead=Overhead(texts=(prompts.SYSTEM,), reserve_tokens=reserve_tokens),
            counter=self._budget.counter,
            previous=previous,
            adaptive=self._budget.adaptive,
            copybooks=self.subject.copybooks,
            refines=refines,
        )

    def _split(self, task: _Task, tokens: int) -> list[_Task]:
        """The lines of a chunk that is too large, in chunks of a smaller budget; none where it was made smaller too often."""
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

    def perform(self, task: _Task, desk: ModelPool, model: str) -> tuple[Answered, list[_Task]]:
        """Asks about a chunk; one that is too large turns into smaller ones."""
        chunk = task.chunk
        if chunk.id not in task.plan.prompts:
            return self._end(
                _Done(chunk, Answered("failed", reason="one statement that is larger than a prompt may be"))
            )
        question = self.question(chunk, task.plan, task.place)
        if not question.held.numbers:  # comments alone: nothing that could be said of them can be proved
            return self._end(_Done(chunk, Answered("answered"), question.held))
        answered = asked(question, desk, model, self._results)
        if answered.outcome != "too_large":
            return self._end(_Done(chunk, answered, question.held))
        if smaller := self._split(task, answered.fitting_tokens):
            return answered, smaller
        return self._end(_Done(chunk, answered._replace(outcome="failed"), question.held))

    def _end(self, done: _Done) -> tuple[Answered, list[_Task]]:
        with self._lock:
            self._done.append(done)
        return done.answered, []

    def known(self) -> Known:
        """What claims may speak of."""
        if self._known is None:
            self._known = prompts.known(self.subject.parts, self.subject.source.code, self.subject.names)
        return self._known

    def question(self, chunk: Chunk, made: ChunkPlan, place: tuple[int, int]) -> Question:
        """What is asked about a chunk."""
        items = prompts.items_of(self.subject.parts, chunk.spans)
        room = made.budget_tokens - (chunk.prompt_tokens or 0) - _SEAM_TOKENS
        counter = self._budget.counter

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

    def documents(self, reword: _Reword | None = None) -> list[dict[str, Json]]:
        """The documents of all programs in the file."""
        done = sorted(self._done, key=lambda one: one.chunk.spans)
        return [self._document(number, done, reword) for number in range(len(self.subject.parts))]

    def _document(self, number: int, done: Sequence[_Done], reword: _Reword | None) -> dict[str, Json]:
        part, about = self.subject.parts[number], self.subject.about[number]
        lines = part.program.start_line, part.program.end_line
        of_program = [one for one in done if _touches(one.chunk, lines)]
        accounts = {one.chunk.id: _told(one, number) for one in of_program}
        template = merge([part.template, *(account.template for account in accounts.values())])
        if reword is not None and len(of_program) > 1:
            template = reconciled(template, self.known(), reword.ask, reword.fits)
        coverage = self._coverage(lines, of_program, accounts)
        return document_of(template, part.facts, self.subject.source, about, coverage)

    def _coverage(self, lines: Span, done: Sequence[_Done], accounts: Mapping[str, Told]) -> Coverage:
        by_outcome: dict[str, list[_Done]] = {}
        for one in done:
            by_outcome.setdefault(one.answered.outcome, []).append(one)
        waiting = [chunk for chunk in self.plan.chunks if _touches(chunk, lines)] if not self.tasks else []
        failed = [*by_outcome.get("failed", ()), *by_outcome.get("stopped", ())]
        status: Status = "code only"
        if self.tasks:
            status = "interrupted" if "stopped" in by_outcome else "partial" if failed else "complete"
        grades: dict[str, tuple[int, int]] = {}
        for account in accounts.values():
            for section, (good, bad) in account.grades.items():
                before = grades.get(section, (0, 0))
                grades[section] = (before[0] + good, before[1] + bad)
        described = [span for one in by_outcome.get("answered", ()) for span in _within(one.chunk.spans, lines)]
        return Coverage(
            status=status,
            chunks=len(done) or len(waiting),
            documented=joined(described),
            failed=tuple(
                ChunkFailure(
                    one.chunk.id, _within(one.chunk.spans, lines), one.answered.reason or "stopped before it was asked"
                )
                for one in failed
            ),
            tickets=tuple(_tickets(done, waiting, lines)),
            grades=grades,
            chunk_grades={
                name: (sum(good for good, _ in made), sum(bad for _, bad in made))
                for name, account in accounts.items()
                if (made := list(account.grades.values()))
            },
        )


def _tasks(file: _File, made: ChunkPlan, chunks: Sequence[Chunk], depth: int = 0) -> list[_Task]:
    return [_Task(file, chunk, made, (number, len(chunks)), depth) for number, chunk in enumerate(chunks, 1)]


def _told(done: _Done, program: int) -> Told:
    if done.held is None:
        return Told(Template(), {})
    return told(done.answered.verdicts, done.held, done.chunk.id, program)


def _touches(chunk: Chunk, lines: Span) -> bool:
    return bool(_within(chunk.spans, lines))


def _within(spans: Sequence[Span], lines: Span) -> tuple[Span, ...]:
    """What of some spans, which are in order, lies between two lines."""
    begin = bisect_left(spans, lines[0], key=itemgetter(1))
    end = bisect_right(spans, lines[1], key=itemgetter(0))
    return tuple((max(first, lines[0]), min(last, lines[1])) for first, last in spans[begin:end])


_STATES: Mapping[str, TicketState] = {"answered": "done", "failed": "failed", "stopped": "open"}


def _tickets(done: Sequence[_Done], waiting: Sequence[Chunk], lines: Span) -> Iterator[Ticket]:
    """What was to be done on a program, and what is still: its chunks, their synthesis, and what claims left open."""
    work: list[tuple[Chunk, TicketState, str | None]] = [(chunk, "open", None) for chunk in waiting]
    work += [(one.chunk, _STATES[one.answered.outcome], one.answered.reason or None) for one in done]
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
            yield Ticket(f"validation:{one.chunk.id}", "validation", state, one.chunk.id, spans, reason)
        for number, verdict in enumerate((one for one in verdicts if one.outcome == "contradicted"), 1):
            cited = tuple((proof.first_line, proof.last_line) for proof in verdict.citations)
            if _within(joined(cited), lines):
                name = f"clarification:{one.chunk.id}.{number}"
                reason = prompts.reason_of(verdict.reason)
                yield Ticket(name, "clarification", "open", one.chunk.id, cited, reason)
