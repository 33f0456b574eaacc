"""How do sources become documents? Several chunks are asked about at once, and a file is done as soon as its last chunk is.

    found = subject(data, "cbl/ACCT01.cbl", copybooks=copybooks)
    work = run([found], model=load_model("anthropic:NAME"), results=Folder("out/.penstock"), jobs=4)

Without a model, documents contain what the code says, and a ticket for whoever asks about the rest. Law: every line of a source is
in a chunk that was answered, or in one listed as failed; equal answers give equal documents, in whatever order they arrive. Leaves
to others: what is done with one file (`file_work`), how a model is asked (`pool`), which files there are, and where documents go
(`penstock.scribe`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from penstock.chunk import Overhead
from penstock.errors import CallerError
from penstock.scribe.file_work import FileWork, PromptBudget, ScannedFile, subject
from penstock.scribe.pool import ATTEMPTS, ModelPool, Pool
from penstock.scribe.results import key_of
from penstock.text.tokens import best_counter, family

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.chunk import ChunkPlan
    from penstock.models import Model
    from penstock.scribe import prompts
    from penstock.scribe.asking import Answered
    from penstock.scribe.file_work import ChunkTask
    from penstock.scribe.pool import Progress
    from penstock.scribe.results import Results
    from penstock.text.json_access import Json
    from penstock.text.tokens import Mode

MAX_PROMPT_TOKENS = 15_000
"""The most tokens of a whole prompt, including instructions and notes; SCRIBE_MAX_PROMPT_TOKENS changes it."""
JOBS = 4
"""How many chunks are asked about at once."""
_NAMED_CHUNKS = 5
"""How many chunks are named to somebody who asks for one that is not there."""

__all__ = ["JOBS", "MAX_PROMPT_TOKENS", "DocumentingRun", "ScannedFile", "planned", "run", "subject"]


@dataclass(slots=True, kw_only=True)
class DocumentingRun:
    """The outcome of a run, and its figures.

    `documents` are those that were not passed to `finished`. `calls` counts the requests sent, `resent` the chunks that were asked
    about although an earlier run knew their file, `reused` those whose answer was kept, `failed` those without an answer. The last
    four count claims by verdict (`verification`).
    """

    documents: list[tuple[ScannedFile, list[dict[str, Json]]]] = field(default_factory=list)
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
    counter: str = ""
    """The tokenizer that counted the prompts, and whether it was exact."""

    def to_dict(self) -> dict[str, Json]:
        """Return the figures, under the keys of `run.json`."""
        names = ("calls", "chunks", "resent", "reused", "failed", "accepted", "relocated", "rejected", "contradicted")
        return {
            **{name: getattr(self, name) for name in names},
            "interrupted": self.was_interrupted,
            "counter": self.counter,
        }


class AskingOptions(TypedDict, total=False):
    """How `run` asks a model, for callers that pass it on; what is left out has its default."""

    jobs: int
    max_prompt_tokens: int
    adaptive: bool
    tokenizer: str | None
    reconcile: bool
    counting: Mode | None
    progress: Callable[[Progress], None] | None


def run(
    subjects: Iterable[ScannedFile],
    *,
    model: Model | None = None,
    results: Results | None = None,
    jobs: int = JOBS,
    max_prompt_tokens: int = MAX_PROMPT_TOKENS,
    adaptive: bool = False,
    tokenizer: str | None = None,
    reconcile: bool = False,
    attempts: int = ATTEMPTS,
    counting: Mode | None = None,
    progress: Callable[[Progress], None] | None = None,
    finished: Callable[[ScannedFile, list[dict[str, Json]]], None] | None = None,
    pause: Callable[[float], object] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> DocumentingRun:
    """Document every subject; an interrupt keeps what is done.

    Args:
        subjects: The files with programs, scanned.
        model: The model to ask; None for documents from the code alone.
        results: Where answers are kept for the next run.
        jobs: How many chunks are asked about at once.
        max_prompt_tokens: The most tokens of a whole prompt; fewer for a model with a smaller window.
        adaptive: Whether chunks are smaller where the code branches more.
        tokenizer: The model or family whose tokenizer counts; the model's own by default.
        reconcile: Whether the model merges similar statements from several chunks of a program into one wording.
        attempts: How often a request is sent that fails for a transient reason.
        counting: How tokens are counted; None for the best way available.
        progress: Called after every chunk with how far the work is.
        finished: Called with each subject and its documents as soon as its last chunk is done.
        pause: Waits for a number of seconds; tests do not wait.
        clock: A monotonic clock in seconds.

    Returns:
        The figures of the run, with the documents if there is no `finished` to take them.

    Raises:
        CallerError: A budget has no room for one line, or `jobs` is less than 1.
    """
    budget = PromptBudget.of(model, max_prompt_tokens, adaptive=adaptive, tokenizer=tokenizer, counting=counting)
    name = f"{model.wire}:{model.name}" if model is not None else ""
    made = DocumentingRun(counter=counter_name(tokenizer or (model.name if model is not None else "o200k")))

    def complete(file: FileWork, reword: _Reword | None = None) -> None:
        documents = file.documents(reword)
        if finished is not None:
            finished(file.subject, documents)
        else:
            made.documents.append((file.subject, documents))

    files = _planned((FileWork(one, budget, results, name) for one in subjects), complete)
    if model is None:
        return made
    made.chunks = sum(len(file.tasks) for file in files)
    desk = ModelPool(model, reply_tokens=budget.reply_tokens, attempts=attempts, clock=clock, pause=pause)

    def work(task: ChunkTask) -> tuple[Answered, list[ChunkTask]]:
        return task.file.perform(task, desk, name)

    pool = Pool(work, jobs=jobs, stop=desk.stop, progress=progress, is_failed=_is_failed, clock=clock)
    for task, answered, smaller in pool.run(task for file in files for task in file.tasks):
        # A chunk that was too large became smaller ones, which are open in its place. Only this thread counts, so that a file is
        # completed exactly once.
        task.file.open += len(smaller) - 1
        _count(made, task.file, answered)
        if not task.file.open:
            complete(task.file, _Reword(desk, budget, results, name, made) if reconcile else None)
    made.was_interrupted = pool.was_interrupted
    return made


def _planned(works: Iterable[FileWork], complete: Callable[[FileWork], None]) -> list[FileWork]:
    """Return the files that have chunks to ask about; those without are completed at once."""
    # Everything is planned before anything is asked. Chunks of all files then wait in one queue, and no worker is idle at the end
    # of a file; the price is that all sources with chunks stay in memory.
    files = []
    for file in works:
        if file.tasks:
            files.append(file)
        else:
            complete(file)  # without a model one subject is in memory at a time, whatever the size of the estate
    return files


def counter_name(model: str) -> str:
    """Return the tokenizer that counts for a model, and whether it is exact: `o200k, exact`."""
    return f"{family(model)}, {'exact' if best_counter(model).mode == 'exact' else 'estimated'}"


def _count(made: DocumentingRun, file: FileWork, answered: Answered) -> None:
    made.calls += answered.calls
    made.reused += answered.was_kept
    made.resent += bool(answered.calls and file.was_known)
    made.failed += answered.outcome == "failed"
    for verdict in answered.verdicts:
        made.accepted += verdict.outcome == "accepted"
        made.relocated += verdict.outcome == "relocated"
        made.rejected += verdict.outcome == "rejected"
        made.contradicted += verdict.outcome == "contradicted"


def _is_failed(answered: Answered) -> bool:
    """Return whether a chunk has ended without an answer."""
    return answered.outcome == "failed"


def planned(
    subject: ScannedFile,
    *,
    model: Model | None = None,
    max_prompt_tokens: int = MAX_PROMPT_TOKENS,
    adaptive: bool = False,
    tokenizer: str | None = None,
) -> tuple[ChunkPlan, Callable[[str], prompts.Prompt]]:
    """Return the chunks that `run` would ask about, and a function from a chunk's id to its prompt exactly as it would be sent.

    A caller that drives its own workers, or wants to see the price first, gets the same cuts and texts as `run`.
    """
    file = FileWork(
        subject, PromptBudget.of(model, max_prompt_tokens, adaptive=adaptive, tokenizer=tokenizer), None, ""
    )
    made = file.plan

    def prompt_of(chunk_id: str) -> prompts.Prompt:
        for number, chunk in enumerate(made.chunks, 1):
            if chunk.id == chunk_id and chunk.id in made.prompts:
                return file.question(chunk, made, (number, len(made.chunks))).prompt()
        sendable = [chunk.id for chunk in made.chunks if chunk.id in made.prompts][:_NAMED_CHUNKS]
        first = ", ".join(sendable) or "none"
        raise CallerError(f"There is no chunk {chunk_id!r} that can be sent; the first of them: {first}")

    return made, prompt_of


class _Reword(NamedTuple):
    """The model as the author of one wording for several statements; an answer that was kept is not asked for again."""

    desk: ModelPool
    budget: PromptBudget
    results: Results | None
    model: str
    made: DocumentingRun

    def fits(self, prompt: prompts.Prompt) -> bool:
        """Return whether a prompt may be sent, counted with the frame that every wire puts around it."""
        counted = sum(self.budget.counter.count(text).high for text in prompt)
        return Overhead().frame_tokens + counted <= self.budget.prompt_tokens

    def ask(self, prompt: prompts.Prompt) -> str:
        """Return the model's words; empty if there are none, in which case the statements stay as they are."""
        key = key_of("wording", self.model, *prompt)
        kept = self.results.get(key) if self.results is not None else None
        if isinstance(kept, str):
            return kept
        reply = self.desk.ask(prompt, self.budget.prompt_tokens)
        self.made.calls += reply.sent
        if reply.outcome == "answered" and self.results is not None:
            self.results.put(key, reply.words)
        return reply.words
