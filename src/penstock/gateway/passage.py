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
import time
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from penstock.carrier.course import Course
from penstock.carrier.knowledge import Knowledge
from penstock.carrier.memory import LIFETIME_SECONDS, Memory
from penstock.carrier.refused import RefusedRequests
from penstock.carrier.replies import refusal_in
from penstock.carrier.steps import CarrySettings, Send
from penstock.context.answers import overflow_in
from penstock.errors import CallerError
from penstock.gateway.answers import HeldAnswer
from penstock.text.json_access import field as field_of
from penstock.text.json_access import parsed, string
from penstock.text.json_edits import edits_between
from penstock.text.json_slices import NotJson, splice
from penstock.wires import messages_of, wire_named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from penstock.carrier.steps import SendOutcome, SummaryRequest
    from penstock.gateway.answers import UpstreamAnswer
    from penstock.gateway.conversations import Conversations, Known
    from penstock.gateway.routes import Route
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires import Edit

    PostBody = Callable[[bytes], Awaitable[UpstreamAnswer]]

UNKNOWN_WINDOW_TOKENS = 100_000_000
"""The window of a model that nobody has named: nothing is cut before its provider has refused something."""
# A third of the window is some 20 to 60 turns of an agent; less has the cache written anew too often, more forgets too much.
HEADROOM_SHARE = 0.3
"""How much of the window is left free by a cut that is made before a request is sent."""
FRESH_SECONDS = 30.0
"""After how long it is asked again what other processes have learned of a provider."""


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
    reported_tokens: int | None = None
    """The input that the provider reported."""
    warnings: list[str] = field(default_factory=list)


class Windows(NamedTuple):
    """What models hold, as far as their user has said."""

    by_name: tuple[tuple[str, int], ...] = ()
    """Names, with `*` for anything, and tokens; the first that is meant counts."""

    def of(self, model: str) -> int:
        """Return the window of a model; `UNKNOWN_WINDOW_TOKENS` where nobody has said."""
        from fnmatch import fnmatchcase

        return next((tokens for name, tokens in self.by_name if fnmatchcase(model, name)), UNKNOWN_WINDOW_TOKENS)


class Provider:
    """One API at one address, with what is known of it.

    Args:
        wire: the API's name.
        endpoint: its address.
        store: where what is learned and what is cut is kept.
        conversations: what was cut before.
        windows: what models hold.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        wire: str,
        endpoint: str,
        store: Store,
        conversations: Conversations,
        windows: Windows,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.wire, self._store, self._conversations, self._windows = wire, store, conversations, windows
        self._clock = clock
        self._knowledge = Knowledge(wire, endpoint, store, clock, fresh_seconds=FRESH_SECONDS)
        self._refused = RefusedRequests(wire, LIFETIME_SECONDS)

    def fits_unread(self, raw: bytes, model: str) -> bool:
        """Return whether a body fits whatever stands in it: no token has less than a byte."""
        return len(raw) < self._knowledge.of(model).never_refused(self._windows.of(model))

    def begin(self, request: Request, owner: str) -> Passage | None:
        """Return a request on its way; None for a body that is none of this API, which passes as it came.

        Args:
            request: as it came.
            owner: a digest of who sends it.
        """
        is_json, body = parsed(_text_of(request.raw))
        if not is_json or not isinstance(body, dict):
            return None
        wire = wire_named(self.wire)
        layout = wire.body
        counted = body
        if request.route.is_count and wire.double.counting is not None:
            counted = wire.double.counting.request(body)
        try:
            messages = messages_of(counted, self.wire)
        except CallerError:
            return None
        if not isinstance(messages, list) or not messages or not isinstance(counted, dict):
            return None
        model = request.route.model or string(field_of(body, layout.model_key))
        known = self._conversations.recall(
            owner,
            self.wire,
            messages,
            len(request.raw),
            system=layout.system_of(counted),
            tools=layout.tools_of(counted),
        )
        memory = self._knowledge.of(model)
        window = memory.window(self._windows.of(model))
        is_theirs = layout.continues(counted) or layout.shrinks_there(counted)
        settings = CarrySettings(
            wire=self.wire,
            # What the provider makes smaller itself is cut only where it refuses.
            window_tokens=UNKNOWN_WINDOW_TOKENS if is_theirs else window,
            store=self._store,
            known=() if is_theirs else memory.observations,
            taken_tokens=memory.taken_tokens,
            session_id=known.name[-16:],
            headroom_share=HEADROOM_SHARE,
            is_forwarded=True,
        )
        course = Course(counted, settings, known.transcript)
        course.refused_before = lambda asked: self._refused.said_of(asked, self._clock())
        return Passage(self, request, body, counted, model, window, known, course)

    def learn(self, passage: Passage) -> None:
        """Remember what the refusals and the answer of a request have shown."""
        course = passage.course
        if course.learnable:
            self._knowledge.update(passage.model, lambda known: reduce(Memory.refused, course.learnable, known))
        for refused, overflow in course.refused:
            self._refused.add(refused, overflow, self._clock())
        self.learn_answer(passage)
        if course.result.success and course.result.transcript is not None:
            self._conversations.remember(passage.known, course.result.transcript)

    def learn_answer(self, passage: Passage) -> None:
        """Remember what an answer reported, which a stream does at its end."""
        if passage.course.answered is not None:
            counts, reported = passage.course.answered
            passage.passed.reported_tokens = reported
            self._knowledge.update(passage.model, lambda known: known.answered(counts, reported))


class Request(NamedTuple):
    """A request as a client sent it."""

    route: Route
    raw: bytes


class Passage:
    """One request on its way; made by `Provider.begin`."""

    def __init__(
        self,
        provider: Provider,
        request: Request,
        body: dict[str, Json],
        counted: dict[str, Json],
        model: str,
        window_tokens: int,
        known: Known,
        course: Course,
    ) -> None:
        self._provider, self._request, self._body, self._counted = provider, request, body, counted
        self.model, self.known, self.course = model, known, course
        self.passed = Passed(
            wire=provider.wire,
            model=model,
            session=known.name.rpartition(" ")[2],
            bytes_in=len(request.raw),
            window_tokens=None if window_tokens >= UNKNOWN_WINDOW_TOKENS else window_tokens,
        )

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
            given = self._given(came) if came else HeldAnswer(await post(self._request.raw))
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
            if refused is not None and step.request is self._counted:
                held, outcome = refused
            else:
                held = HeldAnswer(await post(await asyncio.to_thread(self._written, step.request)))
                outcome = await held.outcome(self._provider.wire, self.course.answer_ended)
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
        return self._written(step.request) if isinstance(step, Send) else self._request.raw

    def _written(self, request: Json) -> bytes:
        """Return the client's own bytes with what was changed spliced in."""
        if request is self._counted:
            return self._request.raw
        old, new = self._body, request
        if self._counted is not self._body:  # asked for a count: the request stands within the body
            new = _replaced(old, self._counted, request)
        key = wire_named(self._provider.wire).body.messages_key
        shown = self.course.result.transcript or self.course.original.transcript
        places = [
            None if entry.is_note and entry.raw is not self._raw_at(entry.index) else entry.index
            for entry in shown.visible()
        ]
        messages = field_of(request, key)
        is_whole = isinstance(messages, list) and len(messages) == len(places)
        sources = {key: places} if is_whole and _grow(places) else None
        try:
            return splice(self._request.raw, edits_between(self._request.raw, old, new, sources=sources))
        except NotJson:  # two readers of JSON see it differently: nothing is put into it
            return self._request.raw

    def _raw_at(self, index: int) -> Json:
        return self.known.transcript.entries[index].raw

    def _end(self) -> None:
        self._note()
        self.course.on_late_answer = lambda: self._provider.learn_answer(self)
        self._provider.learn(self)

    def _note(self) -> None:
        """Note what was done."""
        course, passed = self.course, self.passed
        shown = course.result.transcript or course.original.transcript
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


def _text_of(raw: bytes) -> str:
    """Return a body as text; empty for bytes that are no UTF-8, which are no JSON."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _grow(places: list[int | None]) -> bool:
    """Return whether places only grow, as those of entries do that nobody mended."""
    known = [place for place in places if place is not None]
    return all(one < other for one, other in pairwise(known))


def _replaced(value: Json, old: Json, new: Json) -> Json:
    """Return a body with one object in it replaced, which is found by being that very object."""
    if value is old:
        return new
    if isinstance(value, dict):
        return {name: _replaced(held, old, new) for name, held in value.items()}
    return value
