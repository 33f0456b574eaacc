"""How are calls of the two tools that give back what was cut answered, while the client hears one answer (W-3)?

A stream passes event by event; only the events of such a call are left out, and the end of an answer that called nothing else. Then
the model is asked again with the result, as the client would have asked it, and its next answer continues where the first one
stopped. Laws: an answer without such a call passes to the byte; what was answered is kept before the client can hear the end; at
most `MAX_ANSWERS` times a turn. Leaves to others: what an event becomes (`wires`), how a request is sent (`passage`).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.gateway.answers import MAX_READ_BYTES
from penstock.gateway.packed import BOM
from penstock.text.json_access import parsed
from penstock.text.json_edits import edits_between, written
from penstock.text.json_slices import splice
from penstock.text.sse import EventSplitter, data_of, with_data
from penstock.wires import result_messages, wire_named
from penstock.wires.failures import Disconnected, Refused, Unreadable
from penstock.wires.hidden_calls import HiddenStep

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from penstock.carrier.ways_back import WaysBack
    from penstock.gateway.answers import HeldAnswer, Pairs
    from penstock.text.json_access import Json
    from penstock.wires.wire import StreamReader

    AskAgain = Callable[[list[Json], bool], Awaitable[HeldAnswer]]
    Keep = Callable[[list[HiddenStep]], None]

MAX_ANSWERS: Final = 12
"""How many calls are answered in one turn; then the model is told to continue with what it has, and the tools are not offered
again.
"""
# Clients hang up on silence.
_PING_SECONDS = 10.0
_ENOUGH = "That was read often enough in this turn: answer with what you have."


class OwnCalls:
    """Joins the answers of a turn in which our tools were called into the one answer that the client gets.

    Args:
        wire: the name of the wire.
        first: the first answer.
        ways: the two tools.
        ask_again: sends the client's request with further messages, with or without the two tools, and returns the answer.
        keep: receives what was answered so far, before anything that follows from it is passed on.
    """

    def __init__(self, wire: str, first: HeldAnswer, ways: WaysBack, ask_again: AskAgain, keep: Keep) -> None:
        hidden = wire_named(wire).answers.hidden_calls
        assert hidden is not None  # noqa: S101 - tools are offered only if there is one
        self._wire, self._held, self._ways, self._hidden = wire, first, ways, hidden
        self._ask_again, self._keep = ask_again, keep
        self._names = frozenset(ways.names)
        self._hider = hidden.hider(self._names)
        self._steps: list[HiddenStep] = []
        self._said: list[Json] = []
        """The provider's messages and our results of this turn, which follow the client's history."""
        self._is_stream = first.kind == wire_named(wire).answers.stream_type
        self._body: bytes | None = None
        self.answered = 0
        """How many calls were answered."""

    async def begin(self) -> None:
        """Answer calls of our tools in an answer that is not a stream; in a stream they are answered as it passes."""
        while not self._is_stream and self._held.status == 200:
            raw = b"".join([block async for block in self._held.blocks()])
            plain = raw.removeprefix(BOM)
            is_json, body = parsed(plain.decode("utf-8", "replace"))
            if not is_json or not isinstance(body, dict) or not wire_named(self._wire).answers.is_answer(body):
                self._body = raw
                return
            shown = self._hider.body(body)
            has_calls = await self._answer(body)
            self._body = splice(plain, edits_between(plain, body, shown)) if self._steps else raw
            if not has_calls or not self._hider.hides_all() or not self._may_go_on():
                return
            await self._go_on()
            self._body = None

    @property
    def status(self) -> int:
        """The status of the answer that the client gets."""
        return self._held.status

    @property
    def headers(self) -> Pairs:
        """The headers of the answer, without a length, which may have changed by the end."""
        return [(name, value) for name, value in self._held.headers if name != b"content-length"]

    async def blocks(self) -> AsyncIterator[bytes]:
        """Yield the body of the answer as it comes."""
        if self._body is not None:
            yield self._body
            return
        if not self._is_stream:
            async for block in self._held.blocks():
                yield block
            return
        while True:
            events, reader = EventSplitter(), wire_named(self._wire).answers.stream()
            is_first, is_kept, held_end = True, False, b""
            async for block in self._held.blocks():
                out = []
                for event in events.feed(block):
                    # A byte order mark may precede the events of a stream, and is not part of them; nowhere else.
                    mark = BOM if is_first and event.startswith(BOM) else b""
                    shown = self._event(event.removeprefix(mark), reader)
                    out.append(b"" if self._steps else mark)
                    out.append(shown)
                    is_first = False
                    held_end += event if reader.is_complete and not shown else b""
                    # The finish reason is the last thing before the end that a client waits for.
                    if not is_kept and reader.is_complete:
                        is_kept = True
                        await self._answer(reader.body())
                if passed := b"".join(out):
                    yield passed
                if events.held_bytes > MAX_READ_BYTES:
                    raise Disconnected("closed", f"an event of more than {MAX_READ_BYTES} bytes")
            yield events.end()
            if not self._hider.hides_all():
                return
            if not self._may_go_on():
                yield held_end
                return
            going_on = asyncio.ensure_future(self._go_on())
            try:
                while not (await asyncio.wait((going_on,), timeout=_PING_SECONDS))[0]:
                    yield b": the model reads\n\n"
                await going_on
            finally:
                going_on.cancel()
            if self._held.status != 200 or self._held.kind != wire_named(self._wire).answers.stream_type:
                yield await self._error()
                return

    def _event(self, event: bytes, reader: StreamReader) -> bytes:
        """Return what the client gets for an event."""
        data = data_of(event)
        if data is None:
            return event
        is_json, value = parsed(data.decode("utf-8", "replace"))
        if not is_json or not isinstance(value, dict):  # the end mark
            return b"" if self._hider.hides_all() else event
        try:
            reader.feed(value)
        except (Unreadable, Refused):
            return event
        shown = self._hider.event(value)
        return event if shown is None else b"".join(with_data(event, written(one)) for one in shown)

    async def _answer(self, body: Json) -> bool:
        """Answer the calls of our tools in an answer; return whether there were any."""
        calls, shown, has_others = self._hidden.calls_in(body, self._names)
        if not calls:
            return False
        is_enough = self.answered >= MAX_ANSWERS
        results = await asyncio.to_thread(self._enough if is_enough else self._ways.answer_all, body)
        self.answered += len(calls)
        self._steps.append(HiddenStep(shown=shown, calls=calls, results=tuple(results), is_last=has_others))
        self._said += [*wire_named(self._wire).answers.messages(body, ()), *results]
        with suppress(PenstockError):  # if it cannot be kept, the model has read it now and may ask again
            await asyncio.to_thread(self._keep, self._steps)
        return True

    def _enough(self, body: Json) -> list[Json]:
        """Return the results of calls that are no longer answered."""
        entries = self._ways.calls_in(body)
        return result_messages(self._wire, [(call, _ENOUGH, True) for call in entries])

    def _may_go_on(self) -> bool:
        """Return whether the model is asked again: it is told at most twice that it was enough."""
        return self.answered <= MAX_ANSWERS + 2

    async def _go_on(self) -> None:
        await self._held.close()
        # A model that keeps reading although told to stop would end the turn with a call that its client cannot see.
        self._held = await self._ask_again(self._said, self.answered <= MAX_ANSWERS)
        self._hider.next_answer()

    async def _error(self) -> bytes:
        """Return the provider's error as an event of the open stream."""
        raw = b"".join([block async for block in self._held.blocks()])
        is_json, body = parsed(raw.decode("utf-8", "replace"))
        double = wire_named(self._wire).double
        told = body if is_json and isinstance(body, dict) else double.error(raw.decode("utf-8", "replace"), self.status)
        return b"".join(double.error_events(told, len(self._steps)))

    async def close(self) -> None:
        """Release it."""
        await self._held.close()
