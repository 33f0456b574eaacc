"""How is a stream passed on that may be refused? Its first events are examined before the caller gets it (R-4).

SDKs return a stream before the provider has said anything. A stream is read here up to its first content, so that a
refusal can still be cured; after that the caller gets the stream, and a refusal in it is raised as a named error. Law:
the caller gets every event once and in order, and the SDK's own object whenever possible. Leaves to others: what an event
says (`stream_watch`), and what is done about a refusal (`course`).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.carrier.responses import checked, is_response
from penstock.carrier.stream_watch import StreamRefused

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from penstock.carrier.stream_watch import StreamWatch
    from penstock.text.json_access import Json


def is_stream(value: Any) -> bool:
    """Return whether a value is a stream, or a context manager that sends the request only when it is entered."""
    if isinstance(value, str | bytes | bytearray | list | tuple | set) or is_response(value):
        return False
    if isinstance(value, Mapping):
        return any(is_stream(inner) for inner in value.values() if not isinstance(inner, Mapping))
    if isinstance(value, Iterator | AsyncIterator):
        return True
    is_iterable = hasattr(value, "__iter__") or hasattr(value, "__aiter__")
    if is_iterable and callable(getattr(value, "model_dump", None)):
        # pydantic objects iterate over their fields.
        return False
    return is_iterable or hasattr(value, "__enter__") or hasattr(value, "__aenter__")


class BegunStream(NamedTuple):
    """A stream that has produced its first content, or has ended."""

    stream: Any
    """What the caller gets: the same object if possible, first events included."""
    body: Json = None
    """The whole answer if the stream has ended; an empty object if nothing came, None while more is to come."""


def begin_stream(value: Any, watch: StreamWatch) -> BegunStream:
    """Return a stream once its first content has arrived.

    Raises:
        StreamRefused: for an error event before the first content; the stream is closed.
        Exception: what the stream raises before its first content; the stream is closed.
    """
    if isinstance(value, Mapping):
        held = {key: begin_stream(inner, watch) for key, inner in value.items() if is_stream(inner)}
        body = next((begun.body for begun in held.values()), None)
        return BegunStream({**value, **{key: begun.stream for key, begun in held.items()}}, body)
    # Anthropic's `messages.stream(…)` sends when it is entered: it is entered here, so that its refusal is seen while it
    # can still be cured.
    if not hasattr(value, "__iter__") and hasattr(value, "__enter__"):
        entered = value.__enter__()
        try:
            stream, body = begin_stream(checked(entered), watch)
        except Exception as error:
            value.__exit__(type(error), error, error.__traceback__)
            raise
        return BegunStream(_Entered(value, stream), body)
    events = value if isinstance(value, Iterator) else iter(value)
    head: list[Any] = []
    try:
        is_ended = True
        for event in events:
            head.append(event)
            if watch.has_begun(event):
                is_ended = False
                break
        body = watch.ended() if is_ended else None
    except Exception:
        _close(value)
        raise
    going_on = _watched(head, iter(()) if is_ended else _rest(value, events), None if is_ended else watch)
    return BegunStream(_with_events(value, going_on, Replay), body)


async def begin_async_stream(value: Any, watch: StreamWatch) -> BegunStream:
    """Return what `begin_stream` returns, for a stream that may be asynchronous."""
    if isinstance(value, Mapping):
        held = {key: await begin_async_stream(inner, watch) for key, inner in value.items() if is_stream(inner)}
        body = next((begun.body for begun in held.values()), None)
        return BegunStream({**value, **{key: begun.stream for key, begun in held.items()}}, body)
    if not hasattr(value, "__aiter__"):
        if not hasattr(value, "__aenter__"):
            return begin_stream(value, watch)
        entered = await value.__aenter__()
        try:
            stream, body = await begin_async_stream(checked(entered), watch)
        except Exception as error:
            await value.__aexit__(type(error), error, error.__traceback__)
            raise
        return BegunStream(_Entered(value, stream), body)
    events = aiter(value)
    head: list[Any] = []
    try:
        is_ended = True
        async for event in events:
            head.append(event)
            if watch.has_begun(event):
                is_ended = False
                break
        body = watch.ended() if is_ended else None
    except Exception:
        await _aclose(value)
        raise
    going_on = _awatched(head, None if is_ended else _rest(value, events), None if is_ended else watch)
    return BegunStream(_with_events(value, going_on, AsyncReplay), body)


def _rest(value: Any, events: Any) -> Any:
    """Return the remaining events: from the attribute where the SDKs of OpenAI and Anthropic keep them, else the given iterator."""
    return getattr(value, "_iterator", events)


def _with_events(value: Any, events: Any, wrapped: Callable[[Any, Any], Any]) -> Any:
    """Return a stream that yields these events.

    The SDKs of OpenAI and Anthropic keep their events in `_iterator`. Replacing that leaves the caller the very object that its
    code expects, with all its methods. Anything else is wrapped.
    """
    if not hasattr(value, "_iterator"):
        return wrapped(value, events)
    value._iterator = events
    return value


def _watched(head: list[Any], rest: Iterator[Any], watch: StreamWatch | None) -> Generator[Any, None, None]:
    """Yield the events already examined, then examine and yield the rest; an ended stream has no watch."""
    yield from head
    if watch is None:
        return
    # What the consumer throws at a `yield` is its own error, not the stream's: only `next` is within the `try`.
    while True:
        try:
            event = next(rest)
            watch.look(event)
        except StopIteration:
            break
        except StreamRefused:
            raise
        except Exception as error:  # noqa: BLE001 - a foreign stream: what is not a refusal is raised unchanged
            raise _or_itself(watch.named(error), error)  # noqa: B904 - its cause is set there
        yield event
    watch.end()


async def _awatched(
    head: list[Any], rest: AsyncIterator[Any] | None, watch: StreamWatch | None
) -> AsyncGenerator[Any, None]:
    """Yield what `_watched` yields, for an asynchronous stream."""
    for event in head:
        yield event
    if watch is None or rest is None:
        return
    while True:
        try:
            event = await anext(rest)
            watch.look(event)
        except StopAsyncIteration:
            break
        except StreamRefused:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            raise _or_itself(watch.named(error), error)  # noqa: B904 - as above
        yield event
    watch.end()


def _or_itself(named: Exception, error: Exception) -> Exception:
    """Return the error to raise for a stream's error, with that error as its cause if the two differ."""
    if named is not error:
        named.__cause__ = error
    return named


def _close(stream: Any) -> None:
    """Close a refused stream, so that its connection is released; a failure to close is ignored."""
    close = getattr(stream, "close", None)
    if callable(close):
        with contextlib.suppress(Exception):
            close()


async def _aclose(stream: Any) -> None:
    """Close an asynchronous stream, by whichever name its close method has."""
    close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if callable(close):
        with contextlib.suppress(Exception):
            closed = close()
            if hasattr(closed, "__await__"):
                await closed


class Replay:
    """A stream whose examined first events are replayed; everything else behaves as the stream itself."""

    def __init__(self, stream: Any, events: Iterator[Any]) -> None:
        self._stream, self._events = stream, events

    def __iter__(self) -> Generator[Any, None, None]:
        yield from self._events

    def __next__(self) -> Any:
        return next(self._events)

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *error: object) -> None:
        _close(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class AsyncReplay:
    """An asynchronous stream whose examined first events are replayed; everything else behaves as the stream itself."""

    def __init__(self, stream: Any, events: AsyncIterator[Any]) -> None:
        self._stream, self._events = stream, events

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._events

    async def __anext__(self) -> Any:
        return await anext(self._events)

    async def __aenter__(self) -> AsyncReplay:
        return self

    async def __aexit__(self, *error: object) -> None:
        await _aclose(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Entered:
    """A context manager that was already entered, since that sends its request; entering it again returns its stream."""

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
