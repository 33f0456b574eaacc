"""Was an HTTP response read, and what did it say? Responses and errors of HTTP libraries, as a caller passes them on (R-4).

A response that was read is an answer or a refusal like any other. An unread response can be read only once, and reading it
here would take it from the caller; so it is rejected with an error that names the way that works. The body of an error is
read while it still can be, and given back. Leaves to others: what a body says (`replies`), and stream events (`streams`).
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError
from penstock.wires.failures import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable

_STATUSES = ("status_code", "statusCode", "status")
_READERS = ("read", "iter_lines", "iter_content", "aiter_lines")
_BODIES = ("content", "text", "body")
_NOT_READ = (
    "`send` returned an HTTP response whose body was not read: return its JSON, or of a stream an iterator over its lines, "
    "such as a generator that yields them"
)
_HELD_BACK = "Penstock could not read the body of this error: read it before you raise, while its response is open."


class HttpAnswer(NamedTuple):
    """A status and a body, as returned by an HTTP library, a gateway or a function."""

    status: int
    body: Any


def http_answer(value: Any) -> HttpAnswer | None:
    """Return the status and the body of a value that holds both; None for anything else.

    Args:
        value: a response that was read, an object or a mapping with a status and a body, or a pair of the two in either order.
    """
    if isinstance(value, tuple) and 2 <= len(value) <= 3:
        first, second = value[:2]
        pairs = [(first, second), (second, first)]
        return next((HttpAnswer(status, body) for status, body in pairs if _is_status(status) and _is_body(body)), None)
    held = value.get if isinstance(value, Mapping) else lambda name: _attribute(value, name)
    status = next((found for name in _STATUSES if _is_status(found := held(name))), None)
    if status is None or is_unread(value):
        return None
    names = ("body",) if isinstance(value, Mapping) else _BODIES
    return next((HttpAnswer(status, body) for name in names if _is_body(body := held(name))), None)


def is_response(value: Any) -> bool:
    """Return whether a value is an HTTP response, or a body that is read like a file."""
    is_file = isinstance(value, io.IOBase) or any(_is_status(_attribute(value, name)) for name in _STATUSES)
    return is_file and any(callable(_attribute(value, name)) for name in _READERS)


def is_unread(value: Any) -> bool:
    """Return whether a value is a response whose body has not been read yet."""
    if not is_response(value):
        return False
    # requests marks an unread body this way; accessing `content` would read it.
    return _attribute(value, "_content") is False or not _is_body(_attribute(value, "content"))


def checked(value: Any) -> Any:
    """Return what `send` returned.

    Raises:
        CallerError: for an unread response, also inside a mapping, as the AWS SDK returns it.
    """
    for held in value.values() if isinstance(value, Mapping) else [value]:
        if is_unread(held):
            with contextlib.suppress(Exception):
                held.close()  # nobody else will: the caller has passed it on
            raise CallerError(_NOT_READ)
    return value


def told_by(error: Exception) -> Exception:
    """Return an error that can be diagnosed: the error itself, or its status and body if those had to be read.

    Args:
        error: what `send` raised. The body of urllib's error is put back afterwards.
    """
    fp = _attribute(error, "fp")
    if isinstance(fp, io.IOBase) and _is_status(code := _attribute(error, "code")):
        content = b""
        response: Any = error  # urllib's error is a response too
        with contextlib.suppress(Exception):  # if the connection broke meanwhile, there is nothing more to read
            content = fp.read()
        with contextlib.suppress(Exception):  # everything is read: free the connection before the error is released
            response.close()
        # Both names lead to the body: `read` uses one of them, and the caller's handler may use the other.
        response.fp = response.file = io.BytesIO(content)
        return Refused(code, content.decode("utf-8", "replace"))
    response = _attribute(error, "response")
    if is_unread(response):
        with contextlib.suppress(Exception):
            response.read() if hasattr(response, "read") else response.content  # requests reads it so
        _note_if_unread(error, response)
    return error


async def atold_by(error: Exception) -> Exception:
    """Return what `told_by` returns, for an error whose response may have to be awaited."""
    response = _attribute(error, "response")
    read: Any = _attribute(response, "aread")
    if not is_unread(response) or not callable(read):
        return told_by(error)
    with contextlib.suppress(Exception):
        reading: Awaitable[Any] = read()
        await reading
    _note_if_unread(error, response)
    return error


def _note_if_unread(error: Exception, response: Any) -> None:
    """Add a note to an error whose body was not seen: what it refuses is unknown then."""
    if is_unread(response) and _HELD_BACK not in getattr(error, "__notes__", ()):
        error.add_note(_HELD_BACK)


def _is_status(value: Any) -> bool:
    return type(value) is int and 100 <= value <= 599


def _is_body(value: Any) -> bool:
    return isinstance(value, str | bytes | bytearray | Mapping | list)


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute; None if it is missing or reading it raises, as httpx does for an unread body."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a foreign object
        return None
