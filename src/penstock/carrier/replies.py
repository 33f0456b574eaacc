"""What came back? A body, an SDK's object, or a refusal in the shape of either (R-4).

Callers send with whatever they have: a function that returns JSON, an SDK that returns objects. Law: a refusal is found
whatever it looks like; everything else is handed on untouched, down to the very object. Leaves to others: streams
(`streams`), and what is done about a refusal (`course`).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.context.answers import overflow_in
from penstock.errors import Refusal
from penstock.overflow import Overflow
from penstock.text.json_access import as_json, parsed, type_of
from penstock.wires import WIRES, wire_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.overflow import RefusalRule
    from penstock.text.json_access import Json


def plain(value: Any) -> Json:
    """Return an answer as JSON, as far as it can be read; else None.

    Read are bodies, bytes, SDK objects, dataclasses and HTTP responses.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list):
        return value
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
        body = getattr(value, "text", None) or plain(value) or ""
        return overflow_in(body, status, rules=rules), Refusal(
            f"HTTP {status}: {body if isinstance(body, str) else as_json(body)}"
        )
    body = _unwrapped(plain(value))
    if is_error(body):
        return overflow_in(body, rules=rules), Refusal(as_json(body))
    # Gateways write errors in forms of their own: one that names an overflow where no wire has an answer is a refusal.
    if _may_be_error(body) and (overflow := overflow_in(body, rules=rules)) is not None:
        return overflow, Refusal(as_json(body))
    if _is_bare(value, body):
        return Overflow(kind="context_input"), Refusal("HTTP 200, and nothing in it that is an answer")
    return None, None


def _is_bare(value: Any, body: Json) -> bool:
    """Return whether an SDK's answer holds nothing of an answer.

    google-genai and boto3 keep only what they know of a body: of an error in the place of an answer nothing is left but the HTTP
    response beside it.
    """
    if isinstance(body, dict) and body.keys() == {"ResponseMetadata"}:
        return True
    if getattr(value, "sdk_http_response", None) is None or not isinstance(body, dict):
        return False
    return not any(body.get(key) for key in ("candidates", "prompt_feedback", "promptFeedback", "usage_metadata"))


def _unwrapped(body: Json) -> Json:
    """Return the object in which a provider tells of an error, out of what it puts around it; anything else as it is."""
    if isinstance(body, list) and body:  # Google's stream without `alt=sse`
        return body[0] if isinstance(body[0], Mapping) and "error" in body[0] else body
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) and choices[0].get("error"):
        return {"error": choices[0]["error"]}  # OpenRouter
    return body


# FastAPI, AWS behind a gateway, Cloudflare, Baidu, MiniMax, DashScope.
_ERROR_FIELDS = ("detail", "message", "Message", "errors", "error_msg", "base_resp")


def _may_be_error(body: Json) -> bool:
    """Return whether a body has a field in which gateways tell of errors, and an answer of no wire."""
    if not isinstance(body, dict) or any(wire_named(wire).answers.is_answer(body) for wire in WIRES):
        return False
    # An answer of Ollama's own has a `message` too, an object with the model's words.
    return any(body.get(name) and not (name == "message" and isinstance(body[name], dict)) for name in _ERROR_FIELDS)


def is_error(body: Json) -> bool:
    """Return whether a body, or an event of a stream, is an error in the place of an answer."""
    body = _unwrapped(body)
    if not isinstance(body, Mapping):
        return False
    is_failed = type_of(body) in {"error", "response.failed"} or body.get("object") == "error"
    # AWS names the kind of an error beside its message, and in a stream makes it the only key of the event.
    is_aws = isinstance(body.get("__type"), str) or (len(body) == 1 and str(next(iter(body))).endswith("Exception"))
    return bool(body.get("error")) or is_failed or is_aws
