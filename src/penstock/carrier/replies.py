"""What came back? A body, an SDK's object, a stream, or a refusal in the shape of any of them (R-4).

Callers send with whatever they have: a function that returns JSON, an SDK that returns objects, one that returns a
stream before the request has gone out. Law: a refusal that comes before the first content is found whatever it looks
like; everything else is handed on untouched, down to the very object. Leaves to others: what is done about a refusal
(`course`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from penstock.errors import Refusal
from penstock.overflow import parse
from penstock.text.json_access import as_json, parsed, type_of
from penstock.wires import wire_named

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence

    from penstock.overflow import Overflow, RefusalRule
    from penstock.text.json_access import Json

# Responses sends two events before the first content, Anthropic one and pings.
_MAX_HEAD_EVENTS = 64
"""How many events are looked at before the first content: a stream of nothing else is handed on as it is."""


def plain(value: Any) -> Json:
    """Return an answer as JSON, as far as it can be read; else None.

    Read are bodies, bytes, SDK objects, dataclasses and HTTP responses.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes | bytearray | str):
        text = value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
        is_json, read = parsed(text)
        return read if is_json else text
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    # pydantic and the SDKs on it have `model_dump`, older ones `to_dict`; `json` is a response's body for httpx and
    # requests, and text for pydantic 1.
    for name in ("model_dump", "to_dict", "json", "dict"):
        convert = getattr(value, name, None)
        if callable(convert):
            with contextlib.suppress(Exception):  # a foreign object that cannot be read says nothing
                read = convert()
                return plain(read) if isinstance(read, Mapping | str | bytes) else None
    return None


def refusal_in(value: Any, rules: Sequence[RefusalRule] = ()) -> tuple[Overflow | None, Exception | None]:
    """Return the overflow that an answer tells of, and an error that says so; None twice for an answer.

    Some gateways send a provider's error with HTTP 200, and some SDKs hand it on as an object like any other.
    """
    # A response of an HTTP library that does not raise by itself: its text says what the provider said.
    status = getattr(value, "status_code", None)
    if isinstance(status, int) and status >= 400:
        body = getattr(value, "text", None) or plain(value)
        return parse(body, status, rules=rules), Refusal(
            f"HTTP {status}: {body if isinstance(body, str) else as_json(body)}"
        )
    body = plain(value)
    if not is_error(body):
        return None, None
    return parse(body, rules=rules), Refusal(as_json(body))


def is_error(body: Json) -> bool:
    """Return whether a body, or an event of a stream, is an error in the place of an answer."""
    if not isinstance(body, Mapping):
        return False
    is_failed = type_of(body) in {"error", "response.failed"} or body.get("object") == "error"
    return bool(body.get("error")) or is_failed


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────


class StreamWatch:
    """Looks at the events of one stream: an error before the first content is a refusal, one behind it is the stream's end.

    Args:
        wire: the wire whose events they are.
        rules: a caller's own rules for refusals.
    """

    def __init__(self, wire: str, rules: Sequence[RefusalRule]) -> None:
        self._reader = wire_named(wire).answers.stream()
        self._rules = rules

    def has_begun(self, event: Any) -> bool:
        """Look at an event before the first content; return whether content begins with it.

        Raises:
            Refusal: for an error in the stream.
        """
        overflow, error = refusal_in(event, self._rules)
        if error is not None:
            raise StreamRefused(str(error), overflow)
        body = plain(event)
        if not isinstance(body, dict):
            # Not an event of the wire: a caller's own stream of words, say. Whatever it is, it is content.
            return True
        self._reader.feed(body)
        return self._reader.has_content


class StreamRefused(Refusal):
    """A stream that began with HTTP 200 told of an error before its first content."""

    def __init__(self, message: str, overflow: Overflow | None) -> None:
        """Keep what the error said of the request's size; None as `overflow` where it is about something else."""
        super().__init__(message)
        self.overflow = overflow


def is_stream(value: Any) -> bool:
    """Return whether a value is a stream, or a context manager that makes the request only when it is entered."""
    if isinstance(value, str | bytes | bytearray | list | tuple | set):
        return False
    if isinstance(value, Mapping):
        return any(is_stream(inner) for inner in value.values() if not isinstance(inner, Mapping))
    if isinstance(value, Iterator | AsyncIterator):
        return True
    is_iterable = hasattr(value, "__iter__") or hasattr(value, "__aiter__")
    if is_iterable and callable(getattr(value, "model_dump", None)):
        # pydantic's objects iterate over their fields.
        return False
    return is_iterable or hasattr(value, "__enter__") or hasattr(value, "__aenter__")


def begin_stream(value: Any, watch: StreamWatch) -> Any:
    """Return a stream once its first content has come, as the same object where that is possible.

    Raises:
        StreamRefused: for an error event before the first content.
        Exception: what the stream raises before it.
    """
    if isinstance(value, Mapping):
        return {key: begin_stream(inner, watch) if is_stream(inner) else inner for key, inner in value.items()}
    # Anthropic's `messages.stream(…)` sends when it is entered: entered here, its refusal is seen while something can
    # still be done.
    if not hasattr(value, "__iter__") and hasattr(value, "__enter__"):
        return _Entered(value, begin_stream(value.__enter__(), watch))
    events = value if isinstance(value, Iterator) else iter(value)
    head: list[Any] = []
    for event in events:
        head.append(event)
        if watch.has_begun(event) or len(head) == _MAX_HEAD_EVENTS:
            break
    return _pushed_back(value, head, events)


async def begin_async_stream(value: Any, watch: StreamWatch) -> Any:
    """Return what `begin_stream` returns, for a stream that may be asynchronous."""
    if isinstance(value, Mapping):
        return {key: await begin_async_stream(v, watch) if is_stream(v) else v for key, v in value.items()}
    if not hasattr(value, "__aiter__"):
        if hasattr(value, "__aenter__"):
            return _Entered(value, await begin_async_stream(await value.__aenter__(), watch))
        return begin_stream(value, watch)
    events = aiter(value)
    head: list[Any] = []
    async for event in events:
        head.append(event)
        if watch.has_begun(event) or len(head) == _MAX_HEAD_EVENTS:
            break
    return _pushed_back(value, head, events)


def _pushed_back(value: Any, head: list[Any], rest: Any) -> Any:
    """Return the stream with the events that were looked at before the others.

    The SDKs of OpenAI and Anthropic keep their events in `_iterator`: with these put back there, the caller has the
    very object that its own code expects, with all its methods. Anything else is wrapped.
    """
    is_async = hasattr(rest, "__anext__")
    if hasattr(value, "_iterator"):
        value._iterator = _chained_async(head, value._iterator) if is_async else itertools.chain(head, value._iterator)
        return value
    return AsyncReplay(value, _chained_async(head, rest)) if is_async else Replay(value, itertools.chain(head, rest))


async def _chained_async(head: list[Any], rest: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """Yield some events, then those of a stream."""
    for event in head:
        yield event
    async for event in rest:
        yield event


class Replay:
    """A stream whose first events were looked at and come again; everything else about it is the stream's own."""

    def __init__(self, stream: Any, events: Iterator[Any]) -> None:
        self._stream, self._events = stream, events

    def __iter__(self) -> Generator[Any, None, None]:
        yield from self._events

    def __next__(self) -> Any:
        return next(self._events)

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *error: object) -> None:
        close = getattr(self._stream, "close", None)
        if callable(close):
            close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class AsyncReplay:
    """An asynchronous stream whose first events were looked at and come again; all else about it is its own."""

    def __init__(self, stream: Any, events: AsyncIterator[Any]) -> None:
        self._stream, self._events = stream, events

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._events

    async def __anext__(self) -> Any:
        return await anext(self._events)

    async def __aenter__(self) -> AsyncReplay:
        return self

    async def __aexit__(self, *error: object) -> None:
        close = getattr(self._stream, "aclose", None) or getattr(self._stream, "close", None)
        if callable(close):
            closed = close()
            if hasattr(closed, "__await__"):
                await closed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Entered:
    """A context manager that was entered, since its request goes out then; entering it again gives its stream."""

    def __init__(self, manager: Any, stream: Any) -> None:
        self._manager, self._stream = manager, stream

    def __enter__(self) -> Any:
        return self._stream

    def __exit__(self, *error: Any) -> Any:
        return self._manager.__exit__(*error)

    async def __aenter__(self) -> Any:
        return self._stream

    async def __aexit__(self, *error: Any) -> Any:
        return await self._manager.__aexit__(*error)

    def __iter__(self) -> Any:
        return iter(self._stream)

    def __aiter__(self) -> Any:
        return aiter(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
