"""How is a course driven? With the caller's own function, called by `execute` and awaited by `aexecute`.

Both drive the same `Course` and differ only in what they await. Leaves to others: everything but the driving.
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from penstock.carrier.course import Course
from penstock.carrier.replies import plain
from penstock.carrier.responses import atold_by, checked, told_by
from penstock.carrier.steps import CarrySettings, Send, SendOutcome
from penstock.carrier.stream_watch import StreamWatch
from penstock.carrier.streams import begin_async_stream, begin_stream, is_stream
from penstock.context.recovery import MAX_CALLS
from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from penstock.carrier.result import RecoveryResult
    from penstock.overflow import RefusalRule
    from penstock.store import Store
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter


def execute(
    send: Callable[[Json], Any],
    request: Json,
    *,
    wire: str,
    window_tokens: int,
    store: Store | None = None,
    summarise: Callable[[str], str] | None = None,
    max_calls: int = MAX_CALLS,
    counter: TokenCounter | None = None,
    rules: Sequence[RefusalRule] = (),
    session_id: str = "",
    dialect: Dialect | None = None,
) -> RecoveryResult:
    """Send a request with your own function, making it smaller if the provider refuses its size.

    Args:
        send: takes a body and returns the provider's answer (JSON, an SDK object or a stream), or raises the provider's error.
        request: a body in the provider's format; it is not modified.
        wire: the API's name, one of `penstock.transcript.WIRES`.
        window_tokens: the model's context window in tokens, as far as you know it.
        store: where removed content is kept; the user's default store if omitted.
        summarise: takes a prompt and returns a model's summary; called only if nothing else is enough, and counted as a call.
        max_calls: the most calls of the provider for this request; 1 means no retry.
        counter: how tokens are counted; if omitted, by the tokenizer of the model that the body names.
        rules: your own rules for refusals that are not recognised otherwise.
        session_id: the session's name in a handoff.
        dialect: the call syntax in which stubs name the way back.

    Returns:
        The answer and what it took to get it, or the proof that nothing smaller can be sent.

    Raises:
        CallerError: if the request is not one of the wire.
        Exception: whatever `send` raises, unless it is an overflow.
    """
    settings = CarrySettings(
        wire=wire,
        window_tokens=window_tokens,
        max_calls=max_calls,
        store=store,
        counter=counter,
        rules=rules,
        session_id=session_id,
        dialect=dialect,
        can_summarise=summarise is not None,
    )
    return drive(Course(request, settings), send, summarise)


async def aexecute(
    send: Callable[[Json], Awaitable[Any]],
    request: Json,
    *,
    wire: str,
    window_tokens: int,
    store: Store | None = None,
    summarise: Callable[[str], str | Awaitable[str]] | None = None,
    max_calls: int = MAX_CALLS,
    counter: TokenCounter | None = None,
    rules: Sequence[RefusalRule] = (),
    session_id: str = "",
    dialect: Dialect | None = None,
) -> RecoveryResult:
    """Send a request as `execute` does, with a send function that is awaited or returns an asynchronous stream.

    Args:
        send: takes a body and returns the provider's answer (JSON, an SDK object or a stream) or an awaitable of it, or raises
            the provider's error.
        request: a body in the provider's format; it is not modified.
        wire: the API's name, one of `penstock.transcript.WIRES`.
        window_tokens: the model's context window in tokens, as far as you know it.
        store: where removed content is kept; the user's default store if omitted.
        summarise: takes a prompt and returns a model's summary, or an awaitable of it.
        max_calls: the most calls of the provider for this request; 1 means no retry.
        counter: how tokens are counted; if omitted, by the tokenizer of the model that the body names.
        rules: your own rules for refusals that are not recognised otherwise.
        session_id: the session's name in a handoff.
        dialect: the call syntax in which stubs name the way back.

    Returns:
        What `execute` returns.

    Raises:
        CallerError: if the request is not one of the wire.
        Exception: whatever `send` raises, unless it is an overflow.
    """
    settings = CarrySettings(
        wire=wire,
        window_tokens=window_tokens,
        max_calls=max_calls,
        store=store,
        counter=counter,
        rules=rules,
        session_id=session_id,
        dialect=dialect,
        can_summarise=summarise is not None,
    )
    return await adrive(Course(request, settings), send, summarise)


def drive(course: Course, send: Callable[[Json], Any], summarise: Callable[[str], str] | None) -> RecoveryResult:
    """Carry a request to its end with synchronous functions.

    Args:
        course: the course of the request.
        send: the caller's function.
        summarise: asks a model for a summary; None if no model can be asked.

    Raises:
        Exception: what `send` raised, if the course says that it is not an overflow.
    """
    steps = course.run()
    # None at once if nothing is left to send: the request and everything smaller were refused before.
    step = next(steps, None)
    while step is not None:
        try:
            if isinstance(step, Send):
                value = checked(_not_awaitable(send(step.request)))
                if is_stream(value):
                    begun = begin_stream(value, _watch(course))
                    reply = SendOutcome(begun.stream, body=begun.body, is_stream=True)
                else:
                    reply = SendOutcome(value, body=plain(value))
            else:
                reply = SendOutcome(summarise(step.prompt) if summarise else None)
        # Our own errors are for the caller. Everything else is what a provider or its SDK said: each SDK has its own classes,
        # and a proxy's answer may match none of them, so the course reads the words, not the class.
        except CallerError:
            raise
        except Exception as error:  # noqa: BLE001 - a foreign function: what is not an overflow is raised again below
            reply = SendOutcome(error=error, told=told_by(error))
        try:
            step = steps.send(reply)
        except StopIteration:
            break
    return _ended(course, send)


def _ended(course: Course, send: Callable[[Json], Any]) -> RecoveryResult:
    """Return the result of a course that has ended.

    Raises:
        CallerError: if `send` could not be called with a request.
        Exception: the exception that the caller's function raised. The course does not raise it itself, because a `StopIteration`
            would leave a generator as a `RuntimeError`.
    """
    if isinstance(course.raised, TypeError) and not _takes_a_request(send):
        raise CallerError(
            "`send` is called with the request as its one argument. For a method that takes the fields of a request by name, "
            "such as `client.chat.completions.create`, pass `lambda body: client.chat.completions.create(**body)`"
        ) from course.raised
    if course.raised is not None:
        raise course.raised
    return course.result


def _takes_a_request(send: Any) -> bool:
    """Return whether something can be called with one argument, as far as its signature shows it."""
    try:
        with suppress(ValueError):  # a function of C may have no signature
            inspect.signature(send).bind({})
    except TypeError:
        return False
    return True


def _not_awaitable(value: Any) -> Any:
    """Return what `send` returned. Raises `CallerError` for an awaitable, because nothing has been sent yet."""
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()  # otherwise Python would warn elsewhere that it was never awaited
    raise CallerError("`send` returned something to await: use `aexecute`, which awaits it")


async def adrive(
    course: Course,
    send: Callable[[Json], Any],
    summarise: Callable[[str], str | Awaitable[str]] | None,
) -> RecoveryResult:
    """Carry a request to its end with functions that may be asynchronous; otherwise like `drive`."""
    steps = course.run()
    step = next(steps, None)  # as in `drive`
    while step is not None:
        try:
            if isinstance(step, Send):
                value = checked(await _awaited(send(step.request)))
                if is_stream(value):
                    begun = await begin_async_stream(value, _watch(course))
                    reply = SendOutcome(begun.stream, body=begun.body, is_stream=True)
                else:
                    reply = SendOutcome(value, body=plain(value))
            else:
                reply = SendOutcome(await _awaited(summarise(step.prompt)) if summarise else None)
        except CallerError:
            raise
        except Exception as error:  # noqa: BLE001 - as in `drive`
            reply = SendOutcome(error=error, told=await atold_by(error))
        try:
            step = steps.send(reply)
        except StopIteration:
            break
    return _ended(course, send)


def _watch(course: Course) -> StreamWatch:
    """Return the watch that checks the first events of a stream of this course."""
    return StreamWatch(course.settings.wire, course.settings.rules, course.answer_ended)


async def _awaited(value: Any) -> Any:
    """Return a value, awaited if it is awaitable."""
    return await value if inspect.isawaitable(value) else value
