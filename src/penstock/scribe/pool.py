"""Questions carried to the model: a few at once, each until it is answered or there is a reason why not.

What passes by itself is waited for: a rate limit holds all of them back, for as long as the provider asks. What would come again is
not tried again: a key that is not taken ends the asking for everybody. Law: every piece of work has an outcome, also after an
interrupt; nothing is sent once it is stopped. Keeps out: what is asked, and what is made of the answers.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from penstock.errors import CallerError, Refusal
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from penstock.models import Model
    from penstock.overflow import Diagnosis, Overflow
    from penstock.scribe.prompts import Prompt
    from penstock.text.json_access import Json

ATTEMPTS = 5
"""How often one question is sent; the waits between are 1, 2, 4 and 8 seconds where the provider names none."""
LONGEST_WAIT_SECONDS = 300.0
"""The longest wait that a provider may ask for: one that asks for more has no room for us today."""
REPLY_TOKENS = 8_192
"""The most tokens of a reply: forty paragraphs of two claims, and as many conditions."""
MIN_REPLY_TOKENS = 1_024
"""The fewest tokens of a reply that are asked for: less is no answer on a chunk, however small."""
_SMALLER = 0.5  # of a prompt that was refused without a number
_MARGIN = 0.9  # of what a provider's own count leaves, which is not ours
# Of what was refused: the next try is smaller by a fifth at least, or it might be refused for our own error in counting, and no
# smaller than a tenth, whatever number a provider names.
_LARGEST_SHARE, _SMALLEST_SHARE = 0.8, 0.1
_NOT_FOUND = 404  # no such model, or no such address: it will not be there for the next chunk
_LOOK_SECONDS = 0.1  # between two looks at what is done, so that an interrupt is noticed

_FORBIDDEN = 403  # which a firewall before the model says to one prompt, too
_FORBIDDEN_PROMPTS = 8  # in a row, each another: that is the key, and not what is asked

Task = TypeVar("Task")
Made = TypeVar("Made")


class Unanswered(Refusal):
    """A model that asks nobody knows why there is no answer: it says so in the words of whoever asked."""


class PoolReply(NamedTuple):
    """What came of a question, and how many requests it took.

    `too_large`: the provider takes about `fitting_tokens`; `stopped`: nobody waits for it any more; `failed`: `reason` says why.
    """

    outcome: Literal["answered", "too_large", "failed", "stopped"]
    words: str = ""
    reason: str = ""
    sent: int = 0
    """How many requests went out for it."""
    fitting_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: chunks that are done, of how many, how many of them failed, and the seconds that are left at this pace.

    The total grows when a chunk turns into smaller ones.
    """

    done: int
    total: int
    failed: int
    left_seconds: float


class ModelPool:
    """One model as all threads ask it: what one learns of its limits, and of its mood, holds for all.

    Args:
        model: Who is asked.
        reply_tokens: The most tokens of a reply, until the provider says that it has fewer.
        attempts: How often one question is sent.
        is_draining: Says that nothing more is sent, though an answer that is under way is waited for. None for a pool that is only
            ever stopped.
        clock: Seconds that only grow.
        pause: Waits so many seconds, or less once `stop` is called.
    """

    def __init__(
        self,
        model: Model,
        *,
        reply_tokens: int = REPLY_TOKENS,
        attempts: int = ATTEMPTS,
        is_draining: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self._model, self._reply_tokens, self._attempts, self._clock = model, reply_tokens, attempts, clock
        self._refused: tuple[int, int] | None = None  # the smallest prompt that was too large, and what would fit
        self._stopped = threading.Event()
        self._is_draining = is_draining
        self._pause = pause or self._stopped.wait
        self._lock = threading.Lock()
        self._not_before = clock()
        self._useless = self._too_large = ""
        self._forbidden: set[str] = set()  # prompts that a key may not send, since the last that was answered
        self.useless: Diagnosis | None = None
        """Why no other question would fare better: the key is not taken, or there is no such model; None where none is known."""
        self._takes_cancelled = "cancelled" in signature(model.send).parameters

    def stop(self) -> None:
        """End what is under way, and send nothing more; every question that is open returns as stopped."""
        self._stopped.set()

    def ask(self, prompt: Prompt, size_tokens: int) -> PoolReply:
        """Return what the model answers to a prompt, after as many tries as there are.

        A refusal is read (`overflow.diagnose`) and decides what comes next: a shorter reply, a smaller prompt, a wait for
        everybody, or the end for everybody. Whatever else a model raises counts as a refusal of unknown kind.

        Args:
            prompt: What is sent.
            size_tokens: How large we count it to be; known to be too large once a smaller one was refused for its size.

        Raises:
            AssertionError: A scripted model of a test says that it was asked something else than its script has.
        """
        # Only where somebody is asked: they are a third of what a process loads that documents what the code says.
        from penstock.models import Cancelled
        from penstock.overflow import diagnose
        from penstock.wires import answer_words

        reason, sent = "", 0
        while sent < self._attempts:
            if self._useless:
                return PoolReply("failed", reason=self._useless, sent=sent)
            if self._refused is not None and size_tokens >= self._refused[0]:
                return PoolReply("too_large", reason=self._too_large, sent=sent, fitting_tokens=self._refused[1])
            if not self._wait_turn():
                return PoolReply("stopped", sent=sent)
            reply_tokens = self._reply_tokens
            try:
                body = self._sent(_request(prompt, self._model, reply_tokens))
                self._forbidden.clear()
                return PoolReply("answered", answer_words(body, self._model.wire), sent=sent + 1)
            except Cancelled:
                return PoolReply("stopped", sent=sent + 1)
            except AssertionError:
                raise
            except Unanswered as error:
                return PoolReply("failed", reason=str(error), sent=sent)
            except Exception as error:  # noqa: BLE001 - whatever a model raises is read as a refusal
                sent += 1
                told = diagnose(error)
                reason = _reason(told, error)
                # In this order: a cap on replies is told apart first, because shrinking the prompt would not cure it. What
                # neither shrinking nor waiting cures ends this question, and with a key or a model that is not taken, all of
                # them.
                if told.kind == "output_cap" and reply_tokens > MIN_REPLY_TOKENS:
                    self._shorten(reply_tokens // 2)
                elif told.kind != "output_cap" and told.recovery in {"shrink_input", "shrink_output", "shrink_payload"}:
                    self._learn(told.overflow, size_tokens, reply_tokens, reason)
                elif not self._may_pass(told, error):
                    if self._is_for_all(told, getattr(error, "status_code", None), prompt):
                        self._useless, self.useless = reason, told
                    return PoolReply("failed", reason=reason, sent=sent)
                else:
                    self._hold_back(told.retry_after_seconds, sent - 1)
        return PoolReply("failed", reason=f"{reason}, {sent} times", sent=sent)

    def _is_for_all(self, told: Diagnosis, status: object, prompt: Prompt) -> bool:
        """Return whether a refusal is for every question: one forbidden prompt says nothing of the key, eight in a row do."""
        if status == _FORBIDDEN and told.kind == "auth":
            self._forbidden.add(prompt.user)
            return len(self._forbidden) >= _FORBIDDEN_PROMPTS
        return told.kind in {"auth", "quota"} or status == _NOT_FOUND

    def _shorten(self, reply_tokens: int) -> None:
        """Ask for shorter replies from now on: the model has a cap, and seldom says which, so that the half of each is tried."""
        with self._lock:
            self._reply_tokens = min(self._reply_tokens, max(reply_tokens, MIN_REPLY_TOKENS))

    def _learn(self, overflow: Overflow | None, size_tokens: int, reply_tokens: int, reason: str) -> None:
        """Learn from a refusal for size: shorter replies for all where that is enough, else that such a prompt is too large.

        A window holds prompt and reply. Where the provider says exactly how large the prompt was and the rest still has room for an
        answer, shortening replies costs nothing; else the prompt has to shrink, by the provider's own proportion, because its count
        and ours may differ by any factor that stays the same.
        """
        limit = overflow.limit if overflow is not None else None
        given = overflow.input if overflow is not None and overflow.bound == "exact" else None
        with self._lock:
            if limit is not None and given is not None and limit - given >= MIN_REPLY_TOKENS < reply_tokens:
                self._reply_tokens = min(self._reply_tokens, limit - given - MIN_REPLY_TOKENS // 8, reply_tokens - 1)
                return
            share = _SMALLER
            if limit is not None and given:
                share = min(_LARGEST_SHARE, max(_SMALLEST_SHARE, _MARGIN * (limit - MIN_REPLY_TOKENS) / given))
            if self._refused is None or size_tokens < self._refused[0]:
                self._too_large = reason
                self._refused = size_tokens, int(size_tokens * share)

    # Models of the package end a request when they are told; one of a stranger may not know how, and is waited for.
    def _sent(self, request: dict[str, Json]) -> dict[str, Json]:
        if not self._takes_cancelled:
            return self._model.send(request)
        send: Any = self._model.send
        body: dict[str, Json] = send(request, cancelled=self._stopped)
        return body

    def _may_pass(self, told: Diagnosis, error: Exception) -> bool:
        # A gateway may send its own page under status 200, and the model's answer a moment later.
        if isinstance(error, CallerError) and told.kind == "unknown":  # an answer that holds no message
            return True
        longest = told.retry_after_seconds or 0.0
        return told.recovery in {"wait", "retry"} and longest <= LONGEST_WAIT_SECONDS

    def _hold_back(self, asked_seconds: float | None, attempt: int) -> None:
        """Let nobody send before a time: a rate limit is one of the key, and others would only meet it again."""
        seconds = 2.0**attempt if asked_seconds is None else asked_seconds
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    def _wait_turn(self) -> bool:
        """Return whether something may be sent, once it is time for it; not once all is stopped, or nothing more is begun."""
        while not self._stopped.is_set() and not (self._is_draining is not None and self._is_draining()):
            left = self._not_before - self._clock()
            if left <= 0:
                return True
            # A provider may want to be left alone for minutes, and whoever is to end looks up before.
            self._pause(left if self._is_draining is None else min(left, _LOOK_SECONDS))
        return False


def _request(prompt: Prompt, model: Model, reply_tokens: int) -> dict[str, Json]:
    """Return one question on the wire of the model, its instructions where that wire has them."""
    from penstock.wires import begin, compose_request

    return compose_request(begin(model.wire, system=prompt.system, prompt=prompt.user), model.name, reply_tokens)


def _reason(told: Diagnosis, error: Exception) -> str:
    """Return why there is no answer, for a person: short, and inert, since a provider's words are a stranger's."""
    return f"{told.kind.replace('_', ' ')}: {escape.clip(str(error), 200)}"


class Pool(Generic[Task, Made]):
    """Pieces of work, done at most `jobs` at a time; a piece may turn into smaller ones.

    Args:
        work: Does a piece, on a thread, and returns what it made with the smaller pieces that the piece turned into.
        jobs: How many threads there are.
        stop: Ends what the threads wait for.
        progress: Told after every piece how far the work is.
        is_failed: Whether what was made counts as failed.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        work: Callable[[Task], tuple[Made, list[Task]]],
        *,
        jobs: int,
        stop: Callable[[], None],
        progress: Callable[[Progress], None] | None = None,
        is_failed: Callable[[Made], bool] = lambda _: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if jobs < 1:
            raise CallerError(f"jobs is 1 at least, not {jobs}")
        self._work, self._jobs, self._stop, self._progress = work, jobs, stop, progress
        self._is_failed, self._clock = is_failed, clock
        self.was_interrupted = False

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[Task, Made, list[Task]], None, None]:
        """Yield each piece with what was made of it and the smaller ones that it turned into, as they are done.

        An interrupt stops the work; what is done by then is given. Smaller pieces come next, before those that wait: whoever asked
        for the first file should see it complete first.
        """
        # A stack with the first piece on top: smaller pieces put upon it come next.
        waiting = list(tasks)[::-1]
        total, done, failed = len(waiting), 0, 0
        begun = self._clock()
        running: dict[Future[tuple[Made, list[Task]]], Task] = {}
        with ThreadPoolExecutor(self._jobs, "penstock-scribe") as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < self._jobs:
                        task = waiting.pop()
                        running[pool.submit(self._work, task)] = task
                    for future in self._ready(running):
                        task = running.pop(future)
                        made, smaller = future.result()
                        done, total, failed = done + 1, total + len(smaller), failed + self._is_failed(made)
                        waiting += smaller[::-1]
                        yield task, made, smaller
                        if self._progress is not None:
                            left = (self._clock() - begun) / done * (total - done)
                            self._progress(Progress(done, total, failed, left))
            except BaseException:
                self._stop()  # nobody takes what comes now
                raise

    def _ready(self, running: Iterable[Future[tuple[Made, list[Task]]]]) -> Iterable[Future[tuple[Made, list[Task]]]]:
        """Return what is done by now; after an interrupt every piece that is left ends at once, and says that it was stopped.

        A second interrupt is for those that do not: it is raised.
        """
        # Looked at again and again, because a wait without an end is not interrupted on every platform.
        try:
            return wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED).done
        except KeyboardInterrupt:
            if self.was_interrupted:
                raise
            self.was_interrupted = True
            self._stop()
            return ()
