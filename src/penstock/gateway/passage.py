"""How does one request get to its provider, and the answer back? Unchanged if it fits; cut in place if it does not.

A body with fewer bytes than the window has tokens fits without being parsed. A larger one is parsed, counted where it is new, and
carried: cut before it is sent if it certainly would not fit, after a refusal as the refusal says, and in the places where the same
history was cut before. Each body that goes out is the client's own bytes with the cuts spliced in.

Laws: what fits is sent to the byte; a size refusal never reaches the client while something can still shrink, and if nothing can,
it is the provider's own; everything that is not a size refusal passes. Leaves to others: HTTP (`upstream`, `app`), and how a
request becomes smaller (`carrier`).
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from penstock.carrier.replies import is_error, refusal_in
from penstock.carrier.steps import Send
from penstock.context.answers import overflow_in
from penstock.context.counts import KindCounts
from penstock.gateway.answers import HeldAnswer
from penstock.overflow.silent import reported_input
from penstock.text import escape
from penstock.wires import output_tokens, wire_named
from penstock.wires.bodies import cache_tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from penstock.carrier.course import Course
    from penstock.carrier.steps import SendOutcome, SummaryRequest
    from penstock.gateway.answers import UpstreamAnswer
    from penstock.gateway.conversations import KnownHistory
    from penstock.gateway.incoming import Incoming
    from penstock.text.json_access import Json
    from penstock.wires import Edit, Transcript

    PostBody = Callable[[bytes, bool], Awaitable[UpstreamAnswer]]
    """Sends a body; its flag says whether the answer must come uncompressed."""

NOTHING_COUNTED = KindCounts()


@dataclass(kw_only=True)
class Passed:
    """What was done with one request, for observers."""

    wire: str
    """The API's name; empty for a request that is not to a model."""
    at: float = 0.0
    """When a request came, in seconds since 1970."""
    seconds: float = 0.0
    """The time from the request until its answer had passed."""
    provider: str = ""
    """The address of its provider."""
    status: int = 0
    """The status that the client got."""
    is_streamed: bool = False
    is_count: bool = False
    """Whether the request asked only for its number of tokens."""
    is_observed: bool = False
    """Whether the request passed unchanged, so that reported cuts are hypothetical."""
    model: str = ""
    session: str = ""
    """A digest of a history's owner and beginning; empty if the request was not parsed."""
    bytes_in: int = 0
    unread_because: str = ""
    """Why a request that may not fit could not be parsed, so that it passed unchanged."""
    before_tokens: int | None = None
    """The size of the request that came, by our count; None if it was not counted."""
    after_tokens: int | None = None
    """The size of the request that was answered, by our count."""
    kinds: KindCounts = NOTHING_COUNTED
    """What went to the provider, by our count and by kind."""
    window_tokens: int | None = None
    cuts: int = 0
    """How many results and spans of the request are not shown."""
    handles: tuple[str, ...] = ()
    new_cuts: tuple[str, ...] = ()
    """The kind of each cut that no earlier turn had: `cleared` or `collapsed`."""
    full_tokens: int = 0
    """Tokens of the request with only the cuts of earlier turns, if new ones were made."""
    gone: KindCounts = NOTHING_COUNTED
    """What the new cuts removed, by kind."""
    refusals: int = 0
    """How often the provider refused it for its size."""
    is_irreducible: bool = False
    """Whether nothing smaller could be sent, so that the client got the refusal."""
    was_refused: bool = False
    """Whether the client got a refusal because the request was only observed."""
    answered_calls: int = 0
    """How many calls of our tools were answered for it."""
    follow_ups: list[Passed] = field(default_factory=list)
    """The requests that were sent with these results."""
    reported_tokens: int | None = None
    """The input that the provider reported."""
    cached_tokens: int | None = None
    """Tokens of the request that came from a cache."""
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def is_refused(self) -> bool:
        """Whether the client got a refusal for size."""
        return self.is_irreducible or self.was_refused

    @property
    def outcome(self) -> str:
        """The outcome of a request in a word; if it was only observed, the outcome it would have had."""
        if not self.wire:
            return "other"
        if self.is_count:
            return "counted"
        if self.before_tokens is None:
            return "unread"
        if self.refusals:
            return "refused" if self.is_irreducible else "recovered"
        return "cut" if self.cuts else "fits"


class Learner(Protocol):
    """Remembers what requests have shown."""

    def learn(self, passage: Passage) -> None:
        """Remember what the refusals and the answer of a request have shown."""
        ...

    def learn_answer(self, passage: Passage) -> None:
        """Remember what an answer reported, which a stream does at its end."""
        ...


class Passage:
    """One request on its way; made by `Provider.begin`."""

    def __init__(
        self,
        learner: Learner,
        incoming: Incoming,
        model: str,
        known: KnownHistory,
        course: Course,
        *,
        tools: Sequence[Json],
    ) -> None:
        self._learner, self._tools = learner, tools
        self.incoming, self.model, self.known, self.course = incoming, model, known, course
        self._steps = course.run()
        self._step: Send | SummaryRequest | None = None
        self.always_offers = False
        """Whether our tools are offered even if nothing is cut."""
        self.is_offered = False
        """Whether our tools were offered in the last request sent."""
        self._is_learned = False
        self.passed = Passed(
            wire=incoming.request.route.wire,
            model=model,
            session=hashlib.blake2b(known.name.encode(), digest_size=6).hexdigest(),
            bytes_in=len(incoming.request.raw),
            is_count=incoming.request.route.is_count,
        )

    @property
    def may_offer(self) -> bool:
        """Whether our tools may be offered, so that its answer must be read."""
        return bool(self._tools)

    def begin(self) -> None:
        """Compute the first request to send, in the thread in which the client's request was parsed."""
        self._step = _next(self._steps, None)

    async def carry(self, post: PostBody, refused: tuple[HeldAnswer, SendOutcome] | None = None) -> HeldAnswer:
        """Send it until it is answered or cannot shrink any more; return the answer, or the refusal that the client gets.

        Args:
            post: sends a body.
            refused: the outcome of sending the body unchanged, if that was done already.
        """
        came: list[tuple[SendOutcome, HeldAnswer]] = []
        given: HeldAnswer | None = None
        try:
            await self._send_on(post, refused, came)
            # A request known to be refused, so nothing was sent: the provider says it in its own words.
            given = self._given(came) if came else HeldAnswer(await post(self.incoming.request.raw, False))
            return given
        finally:
            for _, held in came:
                if held is not given:
                    await held.close()

    async def _send_on(
        self,
        post: PostBody,
        refused: tuple[HeldAnswer, SendOutcome] | None,
        came: list[tuple[SendOutcome, HeldAnswer]],
    ) -> None:
        """Send until nothing is left to send; `came` collects the outcomes."""
        while isinstance(step := self._step, Send):
            is_as_it_came = self._is_as_it_came(step.request)
            if refused is not None and is_as_it_came:
                held, outcome = refused
            else:
                # Counting, planning and writing take processor time that would delay streams under way: a thread takes it in
                # slices. Switching threads costs as much as a small request does, so it is done only if there is work.
                written = self._written
                raw = written(step.request) if is_as_it_came else await asyncio.to_thread(written, step.request)
                held = HeldAnswer(await post(raw, self.may_offer))
                outcome = await held.outcome(self.passed.wire, self.answer_ended)
            refused = None
            self._take_usage(outcome.body)
            came.append((outcome, held))
            await asyncio.to_thread(self._go_on, outcome)
        if not came:
            await asyncio.to_thread(self._end)

    def _go_on(self, outcome: SendOutcome) -> None:
        """Take the outcome of a request, and compute what is sent next."""
        self._step = _next(self._steps, outcome)
        if not isinstance(self._step, Send):
            self._end()

    def _given(self, came: list[tuple[SendOutcome, HeldAnswer]]) -> HeldAnswer:
        """Return the answer that the client gets."""
        result = self.course.result
        # Not always the last one: a doubtful answer is kept until a better one comes. If nothing can shrink, the refusal is in the
        # provider's words about the client's own request; any other error is the last one.
        answers = [held for outcome, held in came if result.success and outcome.value is result.response]
        first, last = came[0][1], came[-1][1]
        return answers[-1] if answers else first if self.passed.is_irreducible else last

    def trimmed(self) -> bytes:
        """Return the body as it would be sent with what is known now; nothing about it is remembered."""
        self._note()
        return self._written(self._step.request) if isinstance(self._step, Send) else self.incoming.request.raw

    def observe(self, outcome: SendOutcome) -> None:
        """Note what would have been done with a request that was sent unchanged, and learn from its outcome."""
        step = self._step
        is_as_it_came = isinstance(step, Send) and step.request is self.incoming.whole
        if is_as_it_came:
            step = _next(self._steps, outcome)
        self._take_usage(outcome.body)
        self._note()
        passed = self.passed
        passed.is_observed, passed.kinds = True, self._counts(())
        passed.was_refused = is_refused_for_size(outcome, passed.wire)
        # A request that would have been cut before sending would not have been refused.
        passed.refusals = int(passed.was_refused and is_as_it_came)
        passed.is_irreducible = passed.refusals > 0 and step is None
        self._learn()

    def answer_ended(self, body: Json, broke_off: bool) -> None:
        """Take the whole answer of a finished stream."""
        self._take_usage(body)
        self.course.answer_ended(body, broke_off)
        # With the course's own hook, a request and its course would reference each other: a megabyte, until garbage is collected.
        if self._is_learned:
            self._learner.learn_answer(self)

    def _take_usage(self, body: Json) -> None:
        """Note the usage that an answer reports."""
        if isinstance(body, dict):
            passed = self.passed
            passed.reported_tokens = reported_input(body) or None
            passed.cached_tokens, passed.cache_write_tokens = cache_tokens(body, passed.wire)
            passed.output_tokens = output_tokens(body, passed.wire)

    def _shown(self) -> Transcript:
        """Return the history as the request to send shows it."""
        return self.course.result.transcript or self.course.original.transcript

    def _is_as_it_came(self, request: Json) -> bool:
        return request is self.incoming.whole and not self.incoming.is_more and not self._adds_tools()

    def _adds_tools(self) -> bool:
        """Return whether our tools go with the request to send: with the first cut of a conversation, and in everything
        after it.
        """
        return self.may_offer and (self.always_offers or self.incoming.is_more or bool(self._shown().edits))

    def _written(self, request: Json) -> bytes:
        """Return the client's own bytes with the changes spliced in."""
        self.is_offered = self._adds_tools()
        return self.incoming.written(request, self._shown(), self._tools if self.is_offered else ())

    def _end(self) -> None:
        self._note()
        self._learn()

    def _learn(self) -> None:
        self._is_learned = True
        try:
            self._learner.learn(self)
        except Exception as error:  # noqa: BLE001 - a full or missing store: the client gets its answer all the same
            self.passed.warnings.append(f"What was learned could not be kept: {escape.clip(str(error))}")

    def _note(self) -> None:
        """Note what was done."""
        course, passed = self.course, self.passed
        shown = self._shown()
        edits, before = shown.edits, self.known.transcript.edits
        whole = self._counts(())
        passed.kinds = self._counts(edits) if edits else whole
        passed.before_tokens, passed.after_tokens = whole.total, passed.kinds.total
        if edits != before:
            full = self._counts(before)
            passed.new_cuts = tuple(type(edit).__name__.lower() for edit in edits if edit not in before)
            passed.full_tokens, passed.gone = full.total, full - passed.kinds
        passed.cuts, passed.handles = len(shown.standing_cuts()), tuple(dict.fromkeys(shown.handles()))
        passed.refusals = len(course.refused)
        passed.is_irreducible = not course.result.success and course.raised is None and bool(course.attempts)
        passed.warnings = course.result.warnings

    def _counts(self, edits: tuple[Edit, ...]) -> KindCounts:
        """Return the request's size with these cuts, by our count."""
        original = self.course.original
        if edits == original.transcript.edits:
            return original.counts
        return original.showing(replace(original.transcript, edits=edits)).counts


def is_refused_for_size(outcome: SendOutcome, wire: str) -> bool:
    """Return whether a request's outcome on a wire is a size refusal, in any of its forms."""
    body = outcome.body
    if outcome.error is not None:
        known = getattr(outcome.error, "overflow", None)
        return known is not None or overflow_in(outcome.error) is not None
    # Most are answers, for which the check is quicker.
    if isinstance(body, dict) and wire_named(wire).answers.is_answer(body) and not is_error(body):
        return False
    return body is not None and refusal_in(body)[0] is not None


def _next(
    steps: Generator[Send | SummaryRequest, SendOutcome], outcome: SendOutcome | None
) -> Send | SummaryRequest | None:
    """Return the next step of a course; None if it has ended."""
    try:
        return next(steps) if outcome is None else steps.send(outcome)
    except StopIteration:
        return None
