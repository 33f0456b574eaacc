"""Who remembers what a provider refused? A carrier: `execute` for a program that outlives a single request (R-5).

A carrier remembers what refusals and usage have shown for each provider, endpoint and model (`memory`). It also
remembers what it cut from each conversation, so that the next request of the same conversation is cut in the same
places, byte for byte, and the prompt cache stays valid. Laws: the same history is not refused twice; threads and tasks
may share one carrier; with a store, what a carrier learned is kept there. Leaves to others: sending (the caller's
function), and how a request is made smaller (`course`).
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.carrier.course import Course
from penstock.carrier.execution import adrive, drive
from penstock.carrier.knowledge import Knowledge
from penstock.carrier.refused import RefusedRequests
from penstock.carrier.steps import CarrySettings
from penstock.context.recovery import MAX_CALLS
from penstock.wires import load_request, model_of, wire_named
from penstock.wires.digests import chain_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from penstock.carrier.result import RecoveryResult
    from penstock.overflow import Overflow, RefusalRule
    from penstock.store import Store
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript

# The conversation that was cut longest ago is forgotten; forgetting one only costs another recovery.
MAX_CONVERSATIONS = 64
"""How many conversations a carrier remembers the cuts of."""

# A share of 0.1 saves seven tenths of what 0.3 saves, for a third of the window that 0.3 takes (ADR 34).
HEADROOM_SHARE = 0.1
"""The share of the window that a cut leaves free, so that the next requests need no cut and the prompt cache stays valid."""


class _Conversation(NamedTuple):
    """A conversation as it is currently shown."""

    digest: str
    """The digest of all messages as they arrived; the caller may change the objects later."""
    transcript: Transcript

    def begins(self, digests: Sequence[str]) -> bool:
        """Return whether a history, given the digests of its prefixes, continues this conversation."""
        length = len(self.transcript.entries)
        return 0 < length <= len(digests) and digests[length - 1] == self.digest


class Carrier:
    """A sender of requests to one provider that remembers its limits and how it counts tokens.

    Args:
        wire: the API's name, one of `penstock.transcript.WIRES`.
        window_tokens: the model's context window in tokens, as far as you know it.
        store: where removed content and what was learned are kept; the user's default store if omitted.
        endpoint: distinguishes this provider from others that serve a model of the same name, such as its base URL.
        max_calls: the most calls of the provider for one request.
        counter: how tokens are counted; if omitted, by the tokenizer of the model that each body names.
        rules: your own rules for refusals that are not recognised otherwise.
        dialect: the call syntax in which stubs name the way back.
        clock: seconds since 1970; for tests.

    Example:
        >>> from penstock import Carrier
        >>> carrier = Carrier(wire="openai-chat", window_tokens=128_000)
        >>> answer = {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}
        >>> carrier.execute(lambda request: answer, {"messages": [{"role": "user", "content": "Hi."}]}).success
        True
    """

    def __init__(
        self,
        *,
        wire: str,
        window_tokens: int,
        store: Store | None = None,
        endpoint: str = "",
        max_calls: int = MAX_CALLS,
        counter: TokenCounter | None = None,
        rules: Sequence[RefusalRule] = (),
        dialect: Dialect | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        # Report an unknown wire now, not at the first request.
        wire_named(wire)
        self._settings = CarrySettings(
            wire=wire,
            window_tokens=window_tokens,
            max_calls=max_calls,
            store=store,
            counter=counter,
            rules=rules,
            dialect=dialect,
            headroom_share=HEADROOM_SHARE,
        )
        self._clock = clock
        self._knowledge = Knowledge(wire, endpoint, store, clock)
        # Held only for look-ups and updates, never during a request, so that requests of many threads run concurrently.
        self._lock = threading.Lock()
        self._conversations: list[_Conversation] = []
        self._refused = RefusedRequests(wire)

    def execute(
        self,
        send: Callable[[Json], Any],
        request: Json,
        *,
        summarise: Callable[[str], str] | None = None,
        session_id: str = "",
    ) -> RecoveryResult:
        """Send a request as `penstock.execute` does, using what was learned from earlier ones.

        Args:
            send: takes a body and returns the provider's answer; raises the provider's refusal.
            request: a body of the carrier's wire; it is not changed.
            summarise: takes a prompt and returns a model's summary; None if no summary is available.
            session_id: the session's name in a handoff.

        Returns:
            The answer and what it took to get it, or the proof that nothing smaller can be sent.

        Raises:
            CallerError: if the request is not one of the wire.
            Exception: whatever `send` raises, unless it is an overflow.
        """
        course = self._course(request, session_id, can_summarise=summarise is not None)
        try:
            return drive(course, send, summarise)
        finally:
            self._learn(course)

    async def aexecute(
        self,
        send: Callable[[Json], Awaitable[Any]],
        request: Json,
        *,
        summarise: Callable[[str], str | Awaitable[str]] | None = None,
        session_id: str = "",
    ) -> RecoveryResult:
        """Send a request as `execute` does, awaiting the send function; the arguments are the same."""
        course = self._course(request, session_id, can_summarise=summarise is not None)
        try:
            return await adrive(course, send, summarise)
        finally:
            self._learn(course)

    def window_tokens(self, model: str = "") -> int:
        """Return the window, in tokens, that requests for a model are currently planned for."""
        return self._knowledge.of(model).window(self._settings.window_tokens)

    # ── what is remembered ───────────────────────────────────────────────────────────────────────────────────────

    def _course(self, request: Json, session_id: str, *, can_summarise: bool) -> Course:
        """Return the course of a request, with the window, observations and cuts that are known so far."""
        memory = self._knowledge.of(model_of(request))
        settings = replace(
            self._settings,
            window_tokens=memory.window(self._settings.window_tokens),
            known=memory.observations,
            taken_tokens=memory.taken_tokens,
            session_id=session_id,
            can_summarise=can_summarise,
        )
        course = Course(request, settings, self._recalled(request))
        course.on_late_answer = partial(self._learn_answer, course)
        course.refused_before = self._said_of
        return course

    def _said_of(self, request: Json) -> Overflow | None:
        """Return what the provider said when it refused this request or a prefix of it; None if it refused neither."""
        with self._lock:
            return self._refused.said_of(request, self._clock())

    def _learn(self, course: Course) -> None:
        """Remember what a course's refusals and its answer have shown."""
        self._knowledge.refused(model_of(course.request), course.learnable)
        self._learn_answer(course)
        with self._lock:
            for request, overflow in course.refused:
                self._refused.add(request, overflow, self._clock())
        if course.result.success and course.result.transcript is not None:
            self._remember(course.result.transcript)

    def _learn_answer(self, course: Course) -> None:
        """Remember the input that an answer reported; a stream reports it at its end."""
        self._knowledge.answered(model_of(course.request), course.answered)

    # ── conversations ────────────────────────────────────────────────────────────────────────────────────────────

    def _recalled(self, request: Json) -> Transcript | None:
        """Return the transcript of the longest known conversation that a request continues; None for a new conversation."""
        with self._lock:
            known = list(self._conversations)
        if not known:
            return None
        loaded = load_request(request, self._settings.wire)
        digests = _digests_of(loaded)
        earlier = [one.transcript for one in known if one.begins(digests)]
        if not earlier:
            return None
        # A conversation may be known at several lengths, for example if a caller went back and asked something else. The
        # longest one that this request continues has the newest cuts.
        longest = max(earlier, key=lambda transcript: len(transcript.entries))
        # The messages sent are those of this request, cache markers included; counts made earlier are reused.
        for before, entry in zip(longest.entries, loaded.entries, strict=False):
            if before.raw == entry.raw:
                entry.counts[:] = before.counts
        return replace(loaded, edits=longest.edits)

    def _remember(self, transcript: Transcript) -> None:
        """Keep what was cut from a conversation, if anything was."""
        digests = _digests_of(transcript) if transcript.edits else []
        if not digests:
            return
        with self._lock:
            others = [one for one in self._conversations if not one.begins(digests)]
            self._conversations = [*others[1 - MAX_CONVERSATIONS :], _Conversation(digests[-1], transcript)]


def _digests_of(transcript: Transcript) -> list[str]:
    """Return the digests of all prefixes of a history; none if JSON cannot represent it, as digests could not identify it then."""
    try:
        return chain_of([entry.raw for entry in transcript.entries])
    except (TypeError, ValueError, RecursionError):
        return []
