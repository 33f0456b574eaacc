"""What came back? A body, an SDK's object, or a refusal in the shape of either (R-4).

Callers send with whatever they have: a function that returns JSON, or an SDK that returns objects. Law: a refusal is
found in whatever form it comes; everything else is returned untouched, as the same object. Leaves to others: streams
(`streams`), and what is done about a refusal (`course`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.carrier.raw_events import errors_in
from penstock.carrier.responses import http_answer
from penstock.context.answers import overflow_in
from penstock.errors import Refusal
from penstock.overflow import Overflow, diagnose
from penstock.text.json_access import as_json, parsed, type_of
from penstock.wires import WIRES, wire_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.overflow import RefusalRule
    from penstock.text.json_access import Json


def plain(value: Any) -> Json:
    """Return an answer as JSON, as far as it can be read; else None.

    Readable are bodies, bytes, SDK objects, dataclasses, HTTP responses, and a status paired with a body.
    """
    if (answer := http_answer(value)) is not None:
        return plain(answer.body)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list):
        return value
    if isinstance(value, bytes | bytearray | str):
        return _read(value if isinstance(value, str) else bytes(value).decode("utf-8-sig", "replace"))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    # pydantic and SDKs based on it have `model_dump`, older ones `to_dict`; `json` is a response's body in httpx and
    # requests, and text in pydantic 1.
    for name in ("model_dump", "to_dict", "json", "dict"):
        convert = getattr(value, name, None)
        if callable(convert):
            with contextlib.suppress(Exception):  # an unreadable foreign object says nothing
                read = convert()
                return plain(read) if isinstance(read, Mapping | str | bytes) else None
    return None


# An AWS function that passes on another function's text encodes it again.
_MAX_ENCODINGS = 3


def _read(text: str) -> Json:
    """Return the JSON in a text that was encoded more than once or is an error event; else the text."""
    held: Json = text
    for _ in range(_MAX_ENCODINGS):
        is_json, read = parsed(held) if isinstance(held, str) else (False, None)
        if not is_json:
            break
        held = read
    if isinstance(held, str) and held.lstrip().startswith(("data:", "event:")):
        return _read(found) if (found := errors_in(held)) else held
    return held


def refusal_in(value: Any, rules: Sequence[RefusalRule] = ()) -> tuple[Overflow | None, Exception | None]:
    """Return what an error returned as an answer says of the request's size, and the error; two Nones for a real answer.

    Some gateways send a provider's error with HTTP 200, some SDKs return it as an ordinary object, and a caller's own function may
    return whatever arrived.
    """
    answer, body = http_answer(value), _unwrapped(plain(value))
    status = answer.status if answer is not None and answer.status >= 400 else _page_status(body)
    if status is not None:
        return overflow_in(body, status, rules=rules), Refusal(f"HTTP {status}: {_written(body)}")
    if is_error(body):
        return overflow_in(body, rules=rules), Refusal(as_json(body))
    # Gateways have their own error formats: a body that names an overflow and is no wire's answer is a refusal.
    if _may_be_error(body) and (overflow := overflow_in(body, rules=rules)) is not None:
        return overflow, Refusal(_written(body))
    if isinstance(body, str) and _is_error_text(body, rules):
        return overflow_in(body, rules=rules), Refusal(body)
    if _is_bare(value, body):
        return Overflow(kind="context_input"), Refusal("HTTP 200, and nothing in it that is an answer")
    if value is None or body in ("", {}, []):
        return None, Refusal("nothing came where an answer should be")
    return None, None


def _written(body: Json) -> str:
    """Return a body as the message of an error."""
    return body if isinstance(body, str) else as_json(body)


# nginx, Cloudflare and load balancers of AWS: "<title>413 Request Entity Too Large</title>", "<title>x | 502: Bad gateway".
_ERROR_PAGE = re.compile(
    r"\A\s*<(?:!doctype html|html)\b.{0,2000}?<title>[^<]{0,100}?\b([45]\d\d)\b", re.IGNORECASE | re.DOTALL
)
# What a program writes before an error's message: "Error: …", "openai.BadRequestError: …", "HTTP 429 …".
_MARK = re.compile(r"\s*(?:[\w.]*(?:error|exception)\b[^\n]{0,40}?[:(]|http/?[\d.]* ?[45]\d\d\b)", re.IGNORECASE)
_MAX_ERROR_CHARS = 500


def _page_status(body: Json) -> int | None:
    """Return the HTTP status that the title of an error page names; None for anything else."""
    found = _ERROR_PAGE.match(body) if isinstance(body, str) else None
    return int(found[1]) if found else None


def _is_error_text(text: str, rules: Sequence[RefusalRule]) -> bool:
    """Return whether a text in place of an answer is certainly an error; a caller may return just the model's words."""
    if len(text) > _MAX_ERROR_CHARS:
        return False
    told = diagnose(text, rules=rules)
    if _MARK.match(text) and told.kind != "unknown":
        return True
    over = told.overflow
    return over is not None and over.limit is not None and (over.input is not None or over.total is not None)


def _is_bare(value: Any, body: Json) -> bool:
    """Return whether an SDK's answer is empty except for HTTP metadata.

    google-genai and boto3 keep only the fields that they know: of an error in place of an answer, only the HTTP response remains.
    """
    if isinstance(body, dict) and body.keys() == {"ResponseMetadata"}:
        return True
    if getattr(value, "sdk_http_response", None) is None or not isinstance(body, dict):
        return False
    return not any(body.get(key) for key in ("candidates", "prompt_feedback", "promptFeedback", "usage_metadata"))


def _unwrapped(body: Json) -> Json:
    """Return a provider's error object without its wrapping; anything else unchanged."""
    if isinstance(body, list) and body:  # Google's stream without `alt=sse`
        return body[0] if isinstance(body[0], Mapping) and "error" in body[0] else body
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) and choices[0].get("error"):
        return {"error": choices[0]["error"]}  # OpenRouter
    return body


# FastAPI, AWS behind a gateway, Cloudflare, Baidu, MiniMax, DashScope.
_ERROR_FIELDS = ("detail", "message", "Message", "errors", "error_msg", "base_resp")


def _may_be_error(body: Json) -> bool:
    """Return whether a body has a field in which gateways report errors and is not an answer of any wire."""
    if not isinstance(body, dict) or any(wire_named(wire).answers.is_answer(body) for wire in WIRES):
        return False
    # Ollama's native answer has a `message` too: an object with the model's words.
    return any(body.get(name) and not (name == "message" and isinstance(body[name], dict)) for name in _ERROR_FIELDS)


def is_error(body: Json) -> bool:
    """Return whether a body or a stream event is an error in place of an answer."""
    body = _unwrapped(body)
    if not isinstance(body, Mapping):
        return False
    is_failed = type_of(body) in {"error", "response.failed"} or body.get("object") == "error"
    # AWS names the kind of an error next to its message; in a stream, the kind is the only key of the event.
    is_aws = isinstance(body.get("__type"), str) or (len(body) == 1 and str(next(iter(body))).endswith("Exception"))
    return bool(body.get("error")) or is_failed or is_aws
