"""What reaches a framework's model? Its history as a request that fits, and the results of its tools within bounds.

A framework keeps its whole history and sends all of it at every call. What is cleared here stays cleared while that history grows:
what was shown is remembered, so that the beginning of the prompt stays the same, and with it the provider's cache. Histories have
no names in most frameworks, so a history is recognised by its beginning.

The framework's messages make a round trip: the adapter writes them as a request of a wire (`parts`), the request is loaded, planned
and cut as anywhere else in Penstock, and what is left of it is mapped back to the framework's own objects; untouched messages are
the very same objects.

Laws: after refusals a request is sent again at most `MAX_CALLS` - 1 times, smaller each time; the next prompt works, whatever
happened; the framework's own history is never changed. Leaves to others: the frameworks' own types (a module each), how a request
is made smaller (`context.compaction`, `context.recovery`).
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from penstock.carrier.memory import Memory
from penstock.context.answers import faults_of, overflow_in, taken_by
from penstock.context.bill import counter_for
from penstock.context.compaction import GROWN, apply, plan
from penstock.context.provider_counts import Observation, stated
from penstock.context.recovery import (
    MAX_CALLS,
    Attempt,
    Irreducible,
    SendSmaller,
    Situation,
    SummaryWanted,
    decide,
    give_up,
    trim,
)
from penstock.context.sized import ESTIMATOR, Sized
from penstock.context.standstill import EQUAL_BEFORE
from penstock.errors import CallerError
from penstock.guard.output import TurnBudget, default_allowance, default_store
from penstock.store.texts import put_texts
from penstock.text.allowance import Allowance, Budget
from penstock.text.calls import mcp
from penstock.text.fitting import CHARS_PER_TOKEN
from penstock.text.redaction import redacted
from penstock.tools import TOOLS, Tools
from penstock.wires import dump, load_request, messages_of, reply_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Sequence

    from penstock.context.compaction import Plan
    from penstock.overflow import Overflow
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires import Transcript

M = TypeVar("M")
R = TypeVar("R")

RESERVE_TOKENS = 8_000
"""How much is kept for the reply if nothing says how long it may be; in a small window an eighth (S-8)."""
RESULT_SHARE = 4
"""A tool result takes at most the window divided by this: the question about it has to fit as well."""
REMEMBERED = 64
"""How many conversations are remembered at a time; a forgotten one is planned anew."""
# Agents themselves use the names `page` and `find`: as over MCP, the tools are ctx_page and ctx_find.
DIALECT = mcp()
"""The syntax of the calls that notices and stubs print."""


def _nothing_said(answer: object) -> Json:
    """Return nothing for an answer that is not examined, such as a stream."""
    del answer


class _Known(NamedTuple):
    """A history that was sent, and how it was shown."""

    written: Sequence[Json]
    """All of the framework's messages, in the wire's form."""
    transcript: Transcript
    """The same history with what was cleared."""


class _Raised(NamedTuple):
    """What ends a turn instead of an answer.

    It is returned rather than raised: a generator would turn a `StopIteration` of the framework's into a `RuntimeError`.
    """

    error: Exception
    cause: Exception | None = None


def _returned(end: R | _Raised) -> R:
    """Return the answer with which a turn has ended.

    Raises:
        Exception: what ended it instead of an answer.
    """
    if not isinstance(end, _Raised):
        return end
    if end.cause is not None:
        raise end.error from end.cause
    raise end.error


class Fitting(Generic[M]):
    """The history of an agent of any framework, fitted into a window; one for any number of conversations and threads.

    Args:
        wire: the wire on which the framework's messages are written.
        read: `read(shown, written, messages)` returns the framework's messages behind those of a request, where `written` are
            `messages` on the wire, and `shown` is what is left of them.
        window_tokens: how many tokens a request may have, the reply included. A refusal lowers it to what the provider states, for
            a day (R-5).
        reserve_tokens: kept for the reply if a request does not say how long that may be.
        store: where removed content goes; the user's default store if omitted.
        said: returns the answer of `send` as the body of an answer on the wire, so that an empty or truncated answer, or one to a
            silently cut request, is detected (R-6); None for a stream.
        watched: returns a stream that passes on the body of its answer when it has ended: problems with it are logged.
        clock: seconds since 1970; for tests.

    Raises:
        CallerError: for an unknown wire, and a window that is not a whole number above 0.
    """

    def __init__(
        self,
        wire: str,
        read: Callable[[Sequence[Json], Sequence[Json], Sequence[M]], list[M]],
        window_tokens: int,
        *,
        reserve_tokens: int | None = None,
        store: Store | None = None,
        said: Callable[[Any], Json] = _nothing_said,
        watched: Callable[[Any, Callable[[Json], Any]], Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if type(window_tokens) is not int or window_tokens < 1:
            raise CallerError(f"window_tokens is a whole number above 0, not {window_tokens!r}")
        self._promised_tokens = window_tokens
        self._clock = clock
        self._wire, self._read, self._store = wire, read, store
        self._said, self._watched = said, watched
        self._reserve_tokens = reserve_tokens
        self._memory = Memory()
        self._answered: tuple[Observation, ...] = ()  # what the newest answers reported about their input
        self._known: list[_Known] = []
        self._lock = threading.Lock()

    @property
    def window_tokens(self) -> int:
        """How many tokens a request may have at present: as promised, or as refusals have shown."""
        return self._memory.believed_at(self._clock()).window(self._promised_tokens)

    # ── tool results ─────────────────────────────────────────────────────────────────────────────────────────────

    def guard(self, texts: Iterable[str], tool_name: str) -> list[str]:
        """Return the texts of one result, together within what a result may take; the whole of what is cut is kept.

        Args:
            texts: the text parts of the result, in order.
            tool_name: the tool that returned them, for the notice.

        Returns:
            As many texts, the largest cut first.
        """
        # A separate budget for each result, since a framework's hook sees one result at a time.
        turn = TurnBudget(self._allowance, store=self._store, dialect=DIALECT)
        return [str(text) for text in turn.guard([(tool_name, text) for text in texts])]

    def tools(self) -> list[Callable[..., str]]:
        """Return the functions `ctx_page` and `ctx_find`, with which a model reads what was cut or cleared.

        Their docstrings are written from the tools' records, because frameworks derive a tool's description from them.
        """
        kept = Tools(store=self._store or default_store, dialect=DIALECT)

        def ctx_page(
            handle: str,
            offset: int | None = None,
            limit: int | None = None,
            start_byte: int | None = None,
            max_bytes: int | None = None,
        ) -> str:
            given = {"offset": offset, "limit": limit, "start_byte": start_byte, "max_bytes": max_bytes}
            return kept.call("page", {"handle": handle, **given}, allowance=self._allowance).text

        def ctx_find(handle: str, pattern: str, limit: int = 50) -> str:
            given = {"handle": handle, "pattern": pattern, "limit": limit}
            return kept.call("find", given, allowance=self._allowance).text

        described = {tool.name: tool for tool in TOOLS}
        for function, tool in ((ctx_page, described["page"]), (ctx_find, described["find"])):
            arguments = "".join(f"\n    {parameter.name}: {parameter.description}" for parameter in tool.parameters)
            function.__doc__ = f"{tool.description}\n\nArgs:{arguments}"
        return [ctx_page, ctx_find]

    @property
    def _allowance(self) -> Allowance:
        """What one result may take: the guard's own limit, or a share of a small window; never too little for a notice."""
        most = int(self.window_tokens * CHARS_PER_TOKEN) // RESULT_SHARE
        return Allowance.chars(max(200, min(default_allowance().limit, most)))

    # ── model calls ──────────────────────────────────────────────────────────────────────────────────────────────

    def call(self, send: Callable[[list[M], int | None], R], messages: Sequence[M], body: Json) -> R:
        """Return the answer of `send` to as much of `messages` as fits, recovering from an overflow if necessary.

        Args:
            send: `send(messages, reply_tokens)` asks the model; `reply_tokens` is the reply length to request, None for no change.
            messages: the framework's whole history.
            body: a request of the wire with `messages` in it, and with what accompanies them.

        Raises:
            TooLarge: if nothing is left to remove (`penstock.recovery`).
            Exception: whatever else `send` raises.
        """
        turn = self._turn(messages, body)
        shown = next(turn)
        try:
            while True:
                try:
                    answer = send(*shown)
                except Exception as error:  # noqa: BLE001 - a foreign function: anything but an overflow is raised again
                    shown = turn.throw(error)
                else:
                    shown = turn.send(answer)
        except StopIteration as done:
            end: R | _Raised = done.value
        finally:
            turn.close()
        return _returned(end)

    async def acall(self, send: Callable[[list[M], int | None], Awaitable[R]], messages: Sequence[M], body: Json) -> R:
        """Return the same as `call`, with a `send` that is awaited."""
        turn = self._turn(messages, body)
        shown = next(turn)
        try:
            while True:
                try:
                    answer = await send(*shown)
                except Exception as error:  # noqa: BLE001 - as above
                    shown = turn.throw(error)
                else:
                    shown = turn.send(answer)
        except StopIteration as done:
            end: R | _Raised = done.value
        finally:
            turn.close()
        return _returned(end)

    def _turn(self, messages: Sequence[M], body: Json) -> Generator[tuple[list[M], int | None], Any, Any]:
        """Yield what to send; receives the answer by `send`, or the refusal by `throw`; returns the final answer.

        It is a generator, so that `call` and `acall` drive the same procedure and differ only in what they await. However it ends
        (answered, refused for good, cancelled), what was shown last is remembered for the next request of this history.
        """
        # A copy: the framework's own list may grow during the request.
        written = list(messages_of(body, self._wire))
        known, transcript = self._recalled(body)
        asked = reply_tokens(body)
        budget = self._budget(body, asked)
        reply = budget.reserve_tokens if asked else None
        sized = self._fitted(transcript, budget)
        attempts: list[Attempt] = []
        doubtful: list[Any] = []  # answers that a smaller request may improve: the newest is better than none
        try:
            for calls_left in range(MAX_CALLS - 1, -1, -1):
                refused: Exception | None = None
                try:
                    shown = self._read(dump(sized.transcript, self._wire), written, messages)
                    answer = yield shown, None if reply == asked else reply
                # Only what a smaller request cures is handled; a rate limit, a fault or a bug of the framework goes to the caller.
                except Exception as error:  # noqa: BLE001 - a foreign function, as above
                    overflow, refused = overflow_in(error), error
                    if overflow is None and not doubtful:
                        return _Raised(error)
                else:
                    body = self._said(answer)
                    overflow = self._doubt(body, sized, reply, cut=bool(doubtful))
                    doubtful += [] if overflow is None else [answer]
                    if overflow is None and body is None and self._watched is not None:
                        return self._watched(answer, partial(self._doubt, sized=sized, asked_tokens=reply))
                    if overflow is None:
                        return answer
                if overflow is None:
                    return doubtful[-1]
                attempts.append(Attempt(sized=sized, overflow=overflow, reserve_tokens=reply or 0))
                cure = self._cure(attempts, budget._replace(reserve_tokens=reply or 0), calls_left)
                if isinstance(cure, Irreducible):
                    if doubtful:
                        return doubtful[-1]
                    return _Raised(cure.error, refused)
                # An answer without text may have had other reasons than its size.
                if refused is not None or overflow.limit is not None:
                    now = self._clock()
                    believed = self._memory.believed_at(now)
                    self._memory = replace(believed.refused(attempts[-1]), refused_at_seconds=now)
                sized = sized.showing(self._applied(sized.transcript, cure.plan))
                reply = cure.reserve_tokens or None
        finally:
            self._remember(known, _Known(written, sized.transcript))

    def _budget(self, body: Json, asked_tokens: int | None) -> Budget:
        """Return what a request may take, with room for its reply: what was asked for, or else what is likely."""
        window = self.window_tokens
        likely = min(RESERVE_TOKENS, window // 8) if self._reserve_tokens is None else self._reserve_tokens
        # A requested reply counts in full, but never for more than half of the window: it would leave no room for the prompt.
        return Budget(window, min(asked_tokens or likely, window // 2), counter_for(body))

    def _fitted(self, transcript: Transcript, budget: Budget) -> Sized:
        """Return a history as it is sent first: within the budget by our own count."""
        sized = Sized(transcript, budget.counter or ESTIMATOR)
        made = plan(transcript, budget, GROWN, repaid=False, dialect=DIALECT)
        sized = sized.showing(self._applied(transcript, made))
        # A batch of results that has not been answered yet is not history: a plan leaves it alone, and it may be too large by
        # itself.
        cut = trim(Situation(sized=sized, budget=budget, calls_left=MAX_CALLS, dialect=DIALECT))
        return sized.showing(self._applied(sized.transcript, cut.plan)) if isinstance(cut, SendSmaller) else sized

    def _remember(self, known: _Known | None, shown: _Known) -> None:
        """Replace what was known of a history; the newest are at the end, and the oldest are forgotten."""
        with self._lock:
            others = [one for one in self._known if one is not known]
            self._known = [*others[1 - REMEMBERED :], shown]

    def _doubt(self, body: Json, sized: Sized, asked_tokens: int | None, *, cut: bool = False) -> Overflow | None:
        """Return what a smaller request is sized from, if one would bring a better answer; problems are logged."""
        faults = faults_of(
            body,
            self._wire,
            estimated_tokens=sized.low,
            window_tokens=self.window_tokens,
            taken_tokens=self._memory.taken_tokens,
            asked_tokens=asked_tokens,
            cuts_silently=cut,
            counts=sized.counts,
            answered=self._answered,
        )
        if (taken := taken_by(body, self._wire, faults)) is not None:
            self._memory = self._memory.took(taken)
            self._answered = (*self._answered[-EQUAL_BEFORE:], stated(sized.counts, taken))
        for fault in faults:
            logging.getLogger(__name__).warning("%s", redacted(fault.message))
        return next((fault.overflow for fault in faults if fault.overflow is not None), None)

    def _cure(self, attempts: Sequence[Attempt], budget: Budget, calls_left: int) -> SendSmaller | Irreducible:
        """Return the smaller request for a refusal, or the proof that there is none; after the last call only the proof."""
        situation = Situation(
            sized=attempts[-1].sized,
            budget=budget,
            attempts=tuple(attempts),
            calls_left=calls_left,
            dialect=DIALECT,
        )
        cure = decide(situation) if calls_left else give_up(situation)
        assert not isinstance(cure, SummaryWanted)  # noqa: S101 - nobody here could write one
        return cure

    def _recalled(self, body: Json) -> tuple[_Known | None, Transcript]:
        """Return the transcript of a body: of the longest remembered history that it continues, plus what is new; else all of it.

        A history continues another if it begins with all of its messages. The longest is chosen, since a conversation that branched
        continues both its branch and the branch's beginning. Messages are compared on the wire, so that a framework may recreate
        its objects.
        """
        written, loaded = messages_of(body, self._wire), load_request(body, self._wire)
        earlier = [known for known in self._known if known.written == written[: len(known.written)]]
        if not earlier:
            return None, loaded
        known = max(earlier, key=lambda one: len(one.written))
        carried = replace(known.transcript, system=loaded.system, tools=loaded.tools, reply_schema=loaded.reply_schema)
        return known, carried.append(*written[len(known.written) :])

    # ── cleared content ──────────────────────────────────────────────────────────────────────────────────────────

    def _applied(self, transcript: Transcript, made: Plan) -> Transcript:
        """Return the transcript after a plan, with what it clears in the store; if storing fails, without handles."""
        try:
            return apply(transcript, made, keep_all=self._keep_all)
        # A store that is full or gone, whosever it is, must not end a run: the framework's history still holds what is cleared, and
        # stubs name no handle.
        except Exception:  # noqa: BLE001 - a foreign store
            return apply(transcript, made)

    def _keep_all(self, texts: Sequence[tuple[str, str]]) -> list[str]:
        """Return the handles under which what a plan clears is kept from now on."""
        return put_texts(self._store if self._store is not None else default_store(), texts)


def missing(package: str, error: ImportError) -> ImportError:
    """Return the error that an adapter raises on import if its framework is not installed."""
    return ImportError(f"this adapter needs the package {package}: {error}")


async def begun(events: AsyncIterator[R], says_nothing: Callable[[R], bool]) -> AsyncIterator[R]:
    """Return a stream that has produced content, with all of its events.

    A refusal in a stream comes before its first content. Waiting for that here raises it while it can still be cured, before the
    framework has seen anything of the answer (R-4).

    Args:
        events: the stream, not yet consumed.
        says_nothing: whether an event has no content: the head that comes before the model speaks.
    """
    head: list[R] = []
    async for event in events:
        head.append(event)
        if not says_nothing(event):
            break

    async def all_of_them() -> AsyncIterator[R]:
        for event in head:
            yield event
        async for event in events:
            yield event

    return all_of_them()
