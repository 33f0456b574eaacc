"""How does one request get to its provider, and the answer back? As it came where it fits; cut in its place where it does not.

A body with fewer bytes than the window has tokens fits without being read. A larger one is read, counted where it is new, and
carried: cut before it is sent where it certainly would not fit, after a refusal as the refusal says, and in the places where the
same history was cut before. Each body that goes out is the client's own bytes with what was cut spliced in.

Laws: what fits is sent to the byte; a refusal of size never reaches the client while something can still shrink, and where nothing
can it is the provider's own; everything that is no refusal of size passes. Leaves to others: HTTP (`upstream`, `app`), and how a
request becomes smaller (`carrier`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from penstock.carrier.replies import refusal_in
from penstock.carrier.steps import Send
from penstock.context.answers import overflow_in
from penstock.gateway.answers import HeldAnswer
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from penstock.carrier.course import Course
    from penstock.carrier.steps import SendOutcome, SummaryRequest
    from penstock.gateway.answers import UpstreamAnswer
    from penstock.gateway.conversations import Known
    from penstock.gateway.incoming import Incoming
    from penstock.text.json_access import Json
    from penstock.wires import Edit, Transcript

    PostBody = Callable[[bytes, bool], Awaitable[UpstreamAnswer]]
    """Sends a body; told whether the answer has to come unpacked."""


@dataclass(kw_only=True)
class Passed:
    """What was done with one request, for whoever looks on."""

    wire: str
    model: str = ""
    session: str = ""
    """Whose history it is and how it begins, as a digest; empty where nobody looked."""
    bytes_in: int = 0
    before_tokens: int | None = None
    """What came, by our count; None where nobody counted."""
    after_tokens: int | None = None
    """What was answered, by our count."""
    window_tokens: int | None = None
    cuts: int = 0
    """How many results and spans of it are not shown."""
    handles: tuple[str, ...] = ()
    refusals: int = 0
    """How often the provider refused it for its size."""
    is_irreducible: bool = False
    """Whether nothing smaller could be sent, so that the client got the refusal."""
    answered_calls: int = 0
    """How many calls of our tools were answered for it."""
    reported_tokens: int | None = None
    """The input that the provider reported."""
    warnings: list[str] = field(default_factory=list)


class Learner(Protocol):
    """Who remembers what requests have shown."""

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
        known: Known,
        course: Course,
        *,
        tools: Sequence[Json],
    ) -> None:
        self._learner, self._tools = learner, tools
        self.incoming, self.model, self.known, self.course = incoming, model, known, course
        self.always_offers = False
        """Whether our tools are offered also where nothing is cut."""
        self.is_offered = False
        """Whether they were, with what was sent last."""
        self.passed = Passed(
            wire=incoming.request.route.wire,
            model=model,
            session=known.name.rpartition(" ")[2],
            bytes_in=len(incoming.request.raw),
        )

    @property
    def may_offer(self) -> bool:
        """Whether our tools may be offered, so that its answer has to be read."""
        return bool(self._tools)

    async def carry(self, post: PostBody, refused: tuple[HeldAnswer, SendOutcome] | None = None) -> HeldAnswer:
        """Send it until it is answered or cannot shrink any more; return the answer, or the refusal that the client gets.

        Args:
            post: sends a body.
            refused: what came of sending the body as it is, where that was done already.
        """
        came: list[tuple[SendOutcome, HeldAnswer]] = []
        given: HeldAnswer | None = None
        try:
            await self._send_on(post, refused, came)
            # Refused before, so that nothing was sent: the provider says it in its own words.
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
        """Send until nothing is left to send; `came` takes what came of each."""
        steps = self.course.run()
        # Counting and planning take processor time that streams under way would wait for: a thread takes it in slices.
        step = await asyncio.to_thread(_next, steps, None)
        while isinstance(step, Send):
            if refused is not None and self._is_as_it_came(step.request):
                held, outcome = refused
            else:
                raw = await asyncio.to_thread(self._written, step.request)
                held = HeldAnswer(await post(raw, self.may_offer))
                outcome = await held.outcome(self.passed.wire, self.course.answer_ended)
            refused = None
            came.append((outcome, held))
            step = await asyncio.to_thread(_next, steps, outcome)
        await asyncio.to_thread(self._end)

    def _given(self, came: list[tuple[SendOutcome, HeldAnswer]]) -> HeldAnswer:
        """Return the answer that the client gets."""
        result = self.course.result
        # Not always the last: an answer in doubt is kept until a better one has come. What cannot shrink is refused in the
        # provider's words about the client's own request; any other error is the last.
        answers = [held for outcome, held in came if result.success and outcome.value is result.response]
        first, last = came[0][1], came[-1][1]
        return answers[-1] if answers else first if self.passed.is_irreducible else last

    def trimmed(self) -> bytes:
        """Return the body as it would be sent by what is known now; nothing is remembered of it."""
        step = _next(self.course.run(), None)
        self._note()
        return self._written(step.request) if isinstance(step, Send) else self.incoming.request.raw

    def _shown(self) -> Transcript:
        """Return the history as it is shown in what is sent now."""
        return self.course.result.transcript or self.course.original.transcript

    def _is_as_it_came(self, request: Json) -> bool:
        return request is self.incoming.whole and not self.incoming.is_more and not self._adds_tools()

    def _adds_tools(self) -> bool:
        """Whether our tools go with what is sent now: with the first cut of a conversation, and in all that follows."""
        return self.may_offer and (self.always_offers or self.incoming.is_more or bool(self._shown().edits))

    def _written(self, request: Json) -> bytes:
        """Return the client's own bytes with what was changed spliced in."""
        self.is_offered = self._adds_tools()
        return self.incoming.written(request, self._shown(), self._tools if self.is_offered else ())

    def _end(self) -> None:
        self._note()
        self.course.on_late_answer = lambda: self._learner.learn_answer(self)
        try:
            self._learner.learn(self)
        except Exception as error:  # noqa: BLE001 - a store that is full, or gone: the answer is the client's all the same
            self.passed.warnings.append(f"What was learned could not be kept: {escape.clip(str(error))}")

    def _note(self) -> None:
        """Note what was done."""
        course, passed = self.course, self.passed
        shown = self._shown()
        edits = shown.edits
        passed.before_tokens = self._tokens(())
        passed.after_tokens = self._tokens(edits) if edits else passed.before_tokens
        passed.cuts, passed.handles = len(edits), shown.handles()
        passed.refusals = len(course.refused)
        passed.is_irreducible = not course.result.success and course.raised is None and bool(course.attempts)
        passed.warnings = course.result.warnings

    def _tokens(self, edits: tuple[Edit, ...]) -> int:
        """Return what the request takes with these cuts, by our count."""
        original = self.course.original
        return original.showing(replace(original.transcript, edits=edits)).counts.total


def is_refused_for_size(outcome: SendOutcome) -> bool:
    """Return whether what came of a request is a refusal of its size, in any of its forms."""
    if outcome.error is not None:
        known = getattr(outcome.error, "overflow", None)
        return known is not None or overflow_in(outcome.error) is not None
    if outcome.is_stream:
        return outcome.body is not None and refusal_in(outcome.body)[0] is not None
    return outcome.body is not None and refusal_in(outcome.value)[0] is not None


def _next(
    steps: Generator[Send | SummaryRequest, SendOutcome], outcome: SendOutcome | None
) -> Send | SummaryRequest | None:
    """Return the next step of a course; None where it has ended."""
    try:
        return next(steps) if outcome is None else steps.send(outcome)
    except StopIteration:
        return None
