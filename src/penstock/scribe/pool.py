"""How do questions get to the model? Several at once, each until it is answered or there is a reason why not.

Transient failures are waited for: a rate limit holds all of them back, for as long as the provider asks. Permanent ones are not
retried: a key that is rejected ends the asking for everybody. Law: every piece of work has an outcome, even after an interrupt;
nothing is sent after a stop. Leaves to others: what is asked, and what is done with the answers.
"""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from penstock.errors import CallerError, Refusal
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from types import FrameType

    from penstock.models import Model
    from penstock.overflow import Diagnosis, Overflow
    from penstock.scribe.prompts import Prompt
    from penstock.text.json_access import Json

ATTEMPTS = 5
"""How often one question is sent; the waits between are 1, 2, 4 and 8 seconds unless the provider names one."""
LONGEST_WAIT_SECONDS = 300.0
"""The longest wait that a provider may ask for: one that asks for more has no capacity for us today."""
REPLY_TOKENS = 8_192
"""The most tokens of a reply: enough for forty paragraphs with two claims each, and as many conditions."""
MIN_REPLY_TOKENS = 1_024
"""The fewest tokens of a reply that are asked for: fewer cannot answer even a small chunk."""
_SMALLER = 0.5  # of a prompt that was refused without a number
_MARGIN = 0.9  # of the limit as the provider counts, which is not how we count
# Shares of what was refused: the next prompt is smaller by at least a fifth, or our own error in counting might get it refused
# again, and is at least a tenth, whatever number a provider names.
_LARGEST_SHARE, _SMALLEST_SHARE = 0.8, 0.1
_NOT_FOUND = 404  # no such model, or no such address: it will not be there for the next chunk
_LOOK_SECONDS = 0.1  # between two looks at what is done, so that an interrupt is noticed

_FORBIDDEN = 403  # which a firewall in front of the model may also say to one prompt
_FORBIDDEN_PROMPTS = 8  # different ones in a row: then it is the key, not the question

Task = TypeVar("Task")
Made = TypeVar("Made")


class Unanswered(Refusal):
    """A question stays unanswered, for the reason given: raised by a model that does not ask anybody."""


class PoolReply(NamedTuple):
    """The outcome of a question, and how many requests it took.

    `too_large`: the provider takes about `fitting_tokens`; `stopped`: nobody waits for it any more; `failed`: `reason` says why.
    """

    outcome: Literal["answered", "too_large", "failed", "stopped"]
    words: str = ""
    reason: str = ""
    sent: int = 0
    """How many requests were sent for it."""
    fitting_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: chunks done, of how many, how many of them failed, and the seconds left at this pace.

    The total grows when a chunk is split into smaller ones.
    """

    done: int
    total: int
    failed: int
    left_seconds: float


class ModelPool:
    """One model, shared by all threads: what one learns about its limits and failures applies to all.

    Args:
        model: The model to ask.
        reply_tokens: The most tokens of a reply, until the provider turns out to allow fewer.
        attempts: How often one question is sent.
        is_draining: Returns whether nothing more may be sent, although answers under way are waited for. None for a pool that is
            only ever stopped.
        clock: A monotonic clock in seconds.
        pause: Waits for a number of seconds, or less once `stop` is called.
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
        """Why every other question would fail too: the key is rejected, or there is no such model; None if no reason is known."""
        self._takes_cancelled = "cancelled" in signature(model.send).parameters

    def stop(self) -> None:
        """End what is under way, and send nothing more; every open question returns as stopped."""
        self._stopped.set()

    def ask(self, prompt: Prompt, size_tokens: int) -> PoolReply:
        """Return the model's answer to a prompt, after as many tries as allowed.

        A refusal is read (`overflow.diagnose`) and decides what comes next: a shorter reply, a smaller prompt, a wait for
        everybody, or the end for everybody. Whatever else a model raises counts as a refusal of unknown kind.

        Args:
            prompt: What is sent.
            size_tokens: Its size by our count; a prompt is too large if a smaller one was already refused for its size.

        Raises:
            AssertionError: A test's scripted model was asked something that is not in its script.
        """
        # Imported only when a model is asked: they are a third of what a process loads that documents only what the code says.
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
                # In this order: a cap on replies is recognised first, because a smaller prompt would not cure it. What neither
                # shrinking nor waiting cures ends this question, and if the key or the model is rejected, all of them.
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
        """Return whether a refusal is for every question: one forbidden prompt says nothing about the key, eight in a row do."""
        if status == _FORBIDDEN and told.kind == "auth":
            self._forbidden.add(prompt.user)
            return len(self._forbidden) >= _FORBIDDEN_PROMPTS
        # Without other certificates or another proxy, no question gets a connection.
        is_unreachable = (told.kind, told.recovery) == ("connection", "none")
        return is_unreachable or told.kind in {"auth", "quota"} or status == _NOT_FOUND

    def _shorten(self, reply_tokens: int) -> None:
        """Ask for shorter replies from now on: a model with a cap seldom says which, so half is tried each time."""
        with self._lock:
            self._reply_tokens = min(self._reply_tokens, max(reply_tokens, MIN_REPLY_TOKENS))

    def _learn(self, overflow: Overflow | None, size_tokens: int, reply_tokens: int, reason: str) -> None:
        """Learn from a refusal for size: shorter replies for all if that is enough, else that such a prompt is too large.

        A window holds prompt and reply. If the provider says exactly how large the prompt was and the rest still has room for an
        answer, shorter replies cost nothing; else the prompt must shrink, in the provider's own proportion, because its count and
        ours may differ by any constant factor.
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

    # The package's own models end a request when told to; others may not be able to, and are waited for.
    def _sent(self, request: dict[str, Json]) -> dict[str, Json]:
        if not self._takes_cancelled:
            return self._model.send(request)
        send: Any = self._model.send
        body: dict[str, Json] = send(request, cancelled=self._stopped)
        return body

    def _may_pass(self, told: Diagnosis, error: Exception) -> bool:
        # A gateway may send its own page under status 200, and the model's answer a moment later.
        if isinstance(error, CallerError) and told.kind == "unknown":  # an answer without a message
            return True
        longest = told.retry_after_seconds or 0.0
        return told.recovery in {"wait", "retry"} and longest <= LONGEST_WAIT_SECONDS

    def _hold_back(self, asked_seconds: float | None, attempt: int) -> None:
        """Let nobody send before a time: a rate limit belongs to the key, and other threads would only hit it again."""
        seconds = 2.0**attempt if asked_seconds is None else asked_seconds
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    def _wait_turn(self) -> bool:
        """Return true when it is time to send; false once everything is stopped, or nothing more may begin."""
        while not self._stopped.is_set() and not (self._is_draining is not None and self._is_draining()):
            left = self._not_before - self._clock()
            if left <= 0:
                return True
            # A provider may want to be left alone for minutes; a pool that may be drained checks for that in between.
            self._pause(left if self._is_draining is None else min(left, _LOOK_SECONDS))
        return False


def _request(prompt: Prompt, model: Model, reply_tokens: int) -> dict[str, Json]:
    """Return one question on the model's wire, with the instructions where that wire has them."""
    from penstock.wires import begin, compose_request

    return compose_request(begin(model.wire, system=prompt.system, prompt=prompt.user), model.name, reply_tokens)


def _reason(told: Diagnosis, error: Exception) -> str:
    """Return why there is no answer, for a person: short, and inert, since a provider's words are untrusted."""
    return f"{told.kind.replace('_', ' ')}: {escape.clip(str(error), 200)}"


class Pool(Generic[Task, Made]):
    """Pieces of work, at most `jobs` at a time; a piece may be split into smaller ones.

    Args:
        work: Does a piece, on a thread, and returns its result with the smaller pieces that replace it.
        jobs: How many threads there are.
        stop: Ends what the threads wait for.
        progress: Called after every piece with how far the work is.
        is_failed: Returns whether a result counts as failed.
        clock: A monotonic clock in seconds.
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
        """Yield each piece with its result and the smaller ones that replace it, as they are done.

        An interrupt stops the work, also one that comes while the caller handles a piece: every remaining piece ends at once, as
        stopped. A second interrupt, for pieces that do not end, is raised. Smaller pieces come next, before those that wait:
        whoever waits for the first file should see it complete first.
        """
        # A stack with the first piece on top: smaller pieces pushed onto it come next.
        waiting = list(tasks)[::-1]
        total, done, failed = len(waiting), 0, 0
        begun = self._clock()
        running: dict[Future[tuple[Made, list[Task]]], Task] = {}
        with self._stopped_by_an_interrupt(), ThreadPoolExecutor(self._jobs, "penstock-scribe") as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < self._jobs:
                        task = waiting.pop()
                        running[pool.submit(self._work, task)] = task
                    # Polled, because a wait without a timeout cannot be interrupted on every platform.
                    for future in wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED).done:
                        task = running.pop(future)
                        made, smaller = future.result()
                        done, total, failed = done + 1, total + len(smaller), failed + self._is_failed(made)
                        waiting += smaller[::-1]
                        yield task, made, smaller
                        if self._progress is not None:
                            left = (self._clock() - begun) / done * (total - done)
                            self._progress(Progress(done, total, failed, left))
            except BaseException:
                self._stop()  # nobody takes further results
                raise

    @contextmanager
    def _stopped_by_an_interrupt(self) -> Iterator[None]:
        """Let the first interrupt stop the work; the handler that was there before receives the second one."""
        earlier = signal.getsignal(signal.SIGINT)
        # Only the main thread is interrupted. A program that ignores interrupts, or leaves them to the system, does so here too.
        if threading.current_thread() is not threading.main_thread() or not callable(earlier):
            yield
            return

        # As an exception it could come between any two steps here or in the caller, and lose a piece that was just taken.
        def stop(_number: int, _frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, earlier)
            self.was_interrupted = True
            self._stop()

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, earlier)
