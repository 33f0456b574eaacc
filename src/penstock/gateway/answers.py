"""What did the upstream say? Its answer is read only as far as necessary to know, and passed on unchanged.

A refusal comes as a status, as a body under HTTP 200, or as an event before the first content: until then an answer is held, but no
longer than `HOLD_SECONDS`, since clients hang up on silence. The rest passes block by block.

Laws: the blocks that are passed are those that came, each once and in order; nothing is awaited after the first content; compressed
bodies are decompressed for reading only. Leaves to others: what follows from a refusal.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

from penstock.carrier.steps import SendOutcome
from penstock.carrier.stream_watch import StreamRefused, StreamWatch
from penstock.gateway.packed import BOM, CODING, unpacker_of
from penstock.text.http_headers import values_of
from penstock.text.json_access import Json, parsed
from penstock.wires import wire_named
from penstock.wires.failures import Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    Pairs = Sequence[tuple[bytes, bytes]]

READABLE_CODINGS: Final = ("gzip", "deflate", "identity")
"""The content codings of answers that can be read here."""
HOLD_SECONDS: Final = 10.0
"""How long a stream without content is held after its first event: a request is refused for its size before it is worked on."""
MAX_READ_BYTES: Final = 64 << 20
"""How much of an answer is read, decompressed; a larger one passes as it comes."""


class UpstreamAnswer(Protocol):
    """An HTTP answer whose body is still on its way."""

    @property
    def status(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Pairs:
        """The headers, names in lower case."""
        ...

    def blocks(self) -> AsyncIterator[bytes]:
        """Return the body as it comes."""
        ...

    async def close(self) -> None:
        """Release it, whether it has ended or not."""
        ...


class HeldAnswer:
    """An answer that was read as far as necessary to know whether it is one.

    Args:
        answer: the upstream's answer.
    """

    def __init__(self, answer: UpstreamAnswer) -> None:
        self._answer = answer
        self._blocks = answer.blocks()
        self._head: list[bytes] = []
        self._coming: asyncio.Future[bytes | None] | None = None
        """The next block, if a wait for it was given up."""
        self._watch: StreamWatch | None = None
        self._unpacker = unpacker_of(_header(answer.headers, CODING))
        self._read_bytes = 0

    @property
    def status(self) -> int:
        """The status."""
        return self._answer.status

    @property
    def headers(self) -> Pairs:
        """The headers, names in lower case."""
        return self._answer.headers

    @property
    def kind(self) -> str:
        """The content type, without its parameters."""
        return _header(self.headers, b"content-type").partition(";")[0].strip().lower()

    async def outcome(self, wire: str, on_end: Callable[[Json, bool], None] | None = None) -> SendOutcome:
        """Read as much as necessary, and return the outcome of the request.

        Args:
            wire: the name of the wire on which the answer is written.
            on_end: receives the whole answer of a stream once it has passed, and whether it broke off; None if nobody needs it.
        """
        try:
            return await self._outcome(wire, on_end)
        except BaseException:
            await self.close()
            raise

    async def _outcome(self, wire: str, on_end: Callable[[Json, bool], None] | None) -> SendOutcome:
        if self._unpacker is None:
            return SendOutcome(self)  # an unknown coding: passed on unread
        if self.status < 400 and self.kind == wire_named(wire).answers.stream_type:
            return await self._stream_outcome(wire, on_end)
        body = await self._whole()
        if body is None:
            return SendOutcome(self)
        text = body.removeprefix(BOM).decode("utf-8", "replace")
        is_json, value = parsed(text)
        held = value if is_json else text
        if self.status >= 400:
            return SendOutcome(error=Refused(self.status, held))
        return SendOutcome(held, body=held if is_json else None)

    async def _stream_outcome(self, wire: str, on_end: Callable[[Json, bool], None] | None) -> SendOutcome:
        watch = StreamWatch(wire, (), on_end or _nobody)
        until: float | None = None
        try:
            while (block := await self._next(until)) is not None:
                self._head.append(block)
                # The whole block is read: what follows the first content in it belongs to the answer too.
                if any(tuple(map(watch.has_begun, self._pieces(block)))):
                    break
                until = until or asyncio.get_running_loop().time() + HOLD_SECONDS
            if block is None and self._coming is None:
                return SendOutcome(self, body=watch.ended(), is_stream=True)
        except StreamRefused as error:
            return SendOutcome(error=error)
        self._watch = watch if on_end is not None else None
        return SendOutcome(self, is_stream=True)

    async def _next(self, until: float | None) -> bytes | None:
        """Return the next block; None at the end, or, with `_coming` set, if it did not come by that time of the loop."""
        if until is None:
            return await anext(self._blocks, None)
        # Cancelling the wait would end the iterator and lose what comes: on giving up, the wait is left running.
        coming = asyncio.ensure_future(_block_of(self._blocks))
        await asyncio.wait((coming,), timeout=until - asyncio.get_running_loop().time())
        if coming.done():
            return coming.result()
        self._coming = coming
        return None

    async def _whole(self) -> bytes | None:
        """Return the body, decompressed; None if it is too large to be held."""
        made: list[bytes] = []
        packed_bytes = 0
        async for block in self._blocks:
            self._head.append(block)
            packed_bytes += len(block)
            made += self._pieces(block)
            if max(packed_bytes, self._read_bytes) > MAX_READ_BYTES:
                return None
        return b"".join(made)

    def _pieces(self, block: bytes) -> Iterator[bytes]:
        """Yield a block's content, decompressed, until too much was read."""
        assert self._unpacker is not None  # noqa: S101 - checked before anything is read
        for piece in self._unpacker.pieces(block):
            self._read_bytes += len(piece)
            if self._read_bytes > MAX_READ_BYTES:
                return
            yield piece

    async def blocks(self) -> AsyncIterator[bytes]:
        """Yield the body as it came: the held part, and the rest as it comes."""
        for block in self._head:
            yield block
        if self._coming is not None:
            late, self._coming = await self._coming, None
            if late is None:
                return
            yield late
            self._look(late)
        async for block in self._blocks:
            yield block
            self._look(block)
        self._end()

    def _look(self, block: bytes) -> None:
        """Show a block of the body to the watch, if there still is one."""
        if self._watch is None:
            return
        try:
            for piece in self._pieces(block):
                self._watch.look(piece)
        except StreamRefused:  # after the first content, the client handles it
            self._watch = None
        if self._read_bytes > MAX_READ_BYTES:
            self._watch = None

    def _end(self) -> None:
        """Tell the watch, if there still is one, that the body has ended."""
        if self._watch is None:
            return
        try:
            self._watch.end()
        except StreamRefused:
            self._watch = None

    async def close(self) -> None:
        """Release it, whether it has ended or not."""
        self._watch = None  # it holds the request, whose course holds this answer
        if self._coming is not None:
            self._coming.cancel()
        await self._answer.close()


async def _block_of(blocks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(blocks, None)


def _nobody(_: Json, __: bool) -> None:
    """Ignore the end of a stream that nobody learns from."""


def _header(headers: Pairs, name: bytes) -> str:
    """Return the first value of a header; empty if there is none."""
    return next(iter(values_of(headers, name)), "")


class Unpacked:
    """A compressed answer, presented as if it had come uncompressed.

    Args:
        answer: the upstream's answer, in a known coding.
    """

    def __init__(self, answer: UpstreamAnswer) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers = [pair for pair in answer.headers if pair[0] not in {CODING, b"content-length"}]

    async def blocks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, decompressed."""
        unpacker = unpacker_of(_header(self._answer.headers, CODING))
        assert unpacker is not None  # noqa: S101 - checked before
        async for block in self._answer.blocks():
            for piece in unpacker.pieces(block):
                yield piece

    async def close(self) -> None:
        """Release it."""
        await self._answer.close()


def unpacked_answer(answer: UpstreamAnswer) -> UpstreamAnswer:
    """Return an answer whose body can be read and edited: decompressed, if its server compressed it though asked not to."""
    coding = _header(answer.headers, CODING)
    return answer if coding in {"", "identity"} or unpacker_of(coding) is None else Unpacked(answer)
