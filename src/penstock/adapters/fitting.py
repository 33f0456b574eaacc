"""What reaches a framework's model? Its history as a request that fits, and the results of its tools within bounds.

A framework keeps its history whole and sends all of it at every call. What is cleared here stays cleared while that history grows:
what was shown is remembered, so that the beginning of the prompt stays the same, and with it the provider's cache.
Laws: a request is sent once as it is, and after a refusal at most twice, smaller each time; the next prompt works, whatever
happened. Keeps out: the frameworks' own types (a module each), how a request is made smaller (compaction, recovery).
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from penstock.carrier.memory import Memory
from penstock.context.bill import counter_for
from penstock.context.compaction import apply, plan
from penstock.context.recovery import (
    MAX_CALLS,
    Attempt,
    Irreducible,
    SendSmaller,
    Situation,
    SummaryWanted,
    decide,
    give_up,
)
from penstock.context.sized import ESTIMATOR, Sized
from penstock.errors import CallerError, PenstockError
from penstock.guard.output import TurnBudget, default_allowance, default_store
from penstock.overflow import parse
from penstock.text.allowance import Allowance, Budget
from penstock.text.calls import mcp
from penstock.text.fitting import CHARS_PER_TOKEN
from penstock.tools import TOOLS, Tools
from penstock.wires import dump, load_request, messages_of, reply_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Sequence

    from penstock.context.compaction import Plan
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires import Transcript

M = TypeVar("M")
R = TypeVar("R")

RESERVE_TOKENS = 8_000  # S-8; of a small window an eighth
RESULT_SHARE = 4  # a result takes at most this part of the window: what is asked of it has to fit beside it
REMEMBERED = 64  # conversations at a time; one that is forgotten is planned anew
DIALECT = mcp()  # ctx_page and ctx_find: `page` and `find` are names that agents use themselves


class _Known(NamedTuple):
    """A history that was sent, and how it was shown."""

    written: Sequence[Json]
    transcript: Transcript


class Fitting(Generic[M]):
    """The history of an agent of any framework, fitted into `window_tokens`; one for any number of conversations and threads.

    `read(shown, written, messages)` gives the framework's messages behind those of a request, where `written` are `messages` on
    the wire. `reserve_tokens` is kept for the reply where a body does not say how long that may be. What is taken from view goes
    to `store`, or to the user's default store.
    """

    def __init__(
        self,
        wire: str,
        read: Callable[[Sequence[Json], Sequence[Json], Sequence[M]], list[M]],
        window_tokens: int,
        *,
        reserve_tokens: int | None = None,
        store: Store | None = None,
    ) -> None:
        if type(window_tokens) is not int or window_tokens < 1:
            raise CallerError(f"window_tokens is a whole number above 0, not {window_tokens!r}")
        self.window_tokens = window_tokens
        self._wire, self._read, self._store = wire, read, store
        self._reserve_tokens = reserve_tokens
        self._memory = Memory()
        self._known: list[_Known] = []
        self._lock = threading.Lock()

    # ── results of tools ─────────────────────────────────────────────────────────────────────────────────────────

    def guard(self, texts: Iterable[str], tool_name: str) -> list[str]:
        """The texts of one result, together within what a result may take; the whole of what is cut is kept."""
        turn = TurnBudget(self._allowance, store=self._store, dialect=DIALECT)
        return [str(text) for text in turn.guard([(tool_name, text) for text in texts])]

    def tools(self) -> list[Callable[..., str]]:
        """`ctx_page` and `ctx_find`, with which a model reads what was cut or cleared."""
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
        most = int(self.window_tokens * CHARS_PER_TOKEN) // RESULT_SHARE
        return Allowance.chars(max(200, min(default_allowance().limit, most)))

    # ── calls of the model ───────────────────────────────────────────────────────────────────────────────────────

    def call(self, send: Callable[[list[M], int | None], R], messages: Sequence[M], body: Json) -> R:
        """What `send(messages, reply_tokens)` answers to what fits of `messages`, got out of an overflow where that is needed.

        `body` is a request of the wire with `messages` in it. `reply_tokens` is what to ask for as reply, None for no change.
        Raises what `send` raises; `penstock.recovery.TooLarge` where nothing is left to take away.
        """
        turn = self._turn(messages, body)
        shown = next(turn)
        while True:
            try:
                answer = send(*shown)
            except Exception as error:  # noqa: BLE001 - a foreign function: what is no overflow is raised again
                shown = turn.throw(error)
            else:
                turn.close()
                return answer

    async def acall(self, send: Callable[[list[M], int | None], Awaitable[R]], messages: Sequence[M], body: Json) -> R:
        """`call` with a function that is awaited."""
        turn = self._turn(messages, body)
        shown = next(turn)
        while True:
            try:
                answer = await send(*shown)
            except Exception as error:  # noqa: BLE001 - as above
                shown = turn.throw(error)
            else:
                turn.close()
                return answer

    def _turn(self, messages: Sequence[M], body: Json) -> Generator[tuple[list[M], int | None], None, None]:
        """Yield what to send; is thrown what that was refused with, and closed when it was answered."""
        written = list(messages_of(body, self._wire))  # the framework's own list may grow under us
        known, transcript = self._recalled(body)
        window, asked = self.window_tokens, reply_tokens(body)
        likely = min(RESERVE_TOKENS, window // 8) if self._reserve_tokens is None else self._reserve_tokens
        budget = Budget(window, min(asked or likely, window // 2), counter_for(body))
        sized = Sized(transcript, budget.counter or ESTIMATOR)
        reply = budget.reserve_tokens if asked else None
        made = plan(transcript, budget, dialect=DIALECT)
        sized = sized.showing(self._applied(transcript, made))
        attempts: list[Attempt] = []
        try:
            for calls_left in range(MAX_CALLS - 1, -1, -1):
                try:
                    shown = self._read(dump(sized.transcript, self._wire), written, messages)
                    yield shown, None if reply == asked else reply
                except Exception as error:
                    overflow = parse(error)
                    if overflow is None:
                        raise
                    attempts.append(Attempt(sized=sized, overflow=overflow, reserve_tokens=reply or 0))
                    cure = self._cure(attempts, budget._replace(reserve_tokens=reply or 0), calls_left)
                    if isinstance(cure, Irreducible):
                        raise cure.error from error
                    self._memory = self._memory.refused(attempts[-1])
                    self.window_tokens = self._memory.window(self.window_tokens)
                    sized = sized.showing(self._applied(sized.transcript, cure.plan))
                    reply = cure.reserve_tokens or None
                else:
                    return
        finally:
            with self._lock:
                others = [one for one in self._known if one is not known]
                self._known = [*others[1 - REMEMBERED :], _Known(written, sized.transcript)]

    def _cure(self, attempts: Sequence[Attempt], budget: Budget, calls_left: int) -> SendSmaller | Irreducible:
        situation = Situation(
            sized=attempts[-1].sized,
            budget=budget,
            attempts=tuple(attempts),
            calls_left=calls_left,
            dialect=DIALECT,
        )
        cure = decide(situation) if calls_left else give_up(situation)
        assert not isinstance(cure, SummaryWanted)  # noqa: S101 - nobody here could
        return cure

    def _recalled(self, body: Json) -> tuple[_Known | None, Transcript]:
        """The transcript of a body: of the longest history that it goes on with, and what is new; else all of it."""
        written, loaded = messages_of(body, self._wire), load_request(body, self._wire)
        earlier = [known for known in self._known if known.written == written[: len(known.written)]]
        if not earlier:
            return None, loaded
        known = max(earlier, key=lambda one: len(one.written))
        carried = replace(known.transcript, system=loaded.system, tools=loaded.tools)
        return known, carried.append(*written[len(known.written) :])

    # ── what is taken from view ──────────────────────────────────────────────────────────────────────────────────

    def _applied(self, transcript: Transcript, made: Plan) -> Transcript:
        try:
            return apply(transcript, made, self._keep)
        except (PenstockError, OSError):  # the framework's history still holds it; the stubs name no handle
            return apply(transcript, made)

    def _keep(self, content: str, name: str) -> str:
        store = self._store if self._store is not None else default_store()
        return store.put(content.encode("utf-8", "surrogatepass"), name=name)


def missing(package: str, error: ImportError) -> ImportError:
    """What an adapter raises whose framework is not there."""
    return ImportError(f"this adapter needs the package {package}: {error}")


async def begun(events: AsyncIterator[R], says_nothing: Callable[[R], bool]) -> AsyncIterator[R]:
    """The events of a stream that has begun to say something: a refusal in a stream comes before that, and is raised here."""
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
