"""What came back? A body, an SDK's object, or a refusal in the shape of either (R-4).

Callers send with whatever they have: a function that returns JSON, an SDK that returns objects. Law: a refusal is found
whatever it looks like; everything else is handed on untouched, down to the very object. Leaves to others: streams
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

    Read are bodies, bytes, SDK objects, dataclasses, HTTP responses, and statuses beside bodies.
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
    # pydantic and the SDKs on it have `model_dump`, older ones `to_dict`; `json` is a response's body for httpx and
    # requests, and text for pydantic 1.
    for name in ("model_dump", "to_dict", "json", "dict"):
        convert = getattr(value, name, None)
        if callable(convert):
            with contextlib.suppress(Exception):  # a foreign object that cannot be read says nothing
                read = convert()
                return plain(read) if isinstance(read, Mapping | str | bytes) else None
    return None


# A function of AWS that hands on what another one said encodes it anew.
_MAX_ENCODINGS = 3


def _read(text: str) -> Json:
    """Return what a text holds as JSON, encoded more than once or as an event of an error; else the text."""
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
    """Return what an answer that is an error says of the request's size, and the error; None twice for an answer.

    Some gateways send a provider's error with HTTP 200, some SDKs hand it on as an object like any other, and a caller's own
    function may return whatever came.
    """
    answer, body = http_answer(value), _unwrapped(plain(value))
    status = answer.status if answer is not None and answer.status >= 400 else _page_status(body)
    if status is not None:
        return overflow_in(body, status, rules=rules), Refusal(f"HTTP {status}: {_written(body)}")
    if is_error(body):
        return overflow_in(body, rules=rules), Refusal(as_json(body))
    # Gateways write errors in forms of their own: one that names an overflow where no wire has an answer is a refusal.
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
    """Return a body for the message of an error."""
    return body if isinstance(body, str) else as_json(body)


# nginx, Cloudflare and load balancers of AWS: "<title>413 Request Entity Too Large</title>", "<title>x | 502: Bad gateway".
_ERROR_PAGE = re.compile(
    r"\A\s*<(?:!doctype html|html)\b.{0,2000}?<title>[^<]{0,100}?\b([45]\d\d)\b", re.IGNORECASE | re.DOTALL
)
# What a program writes before the words of an error: "Error: …", "openai.BadRequestError: …", "HTTP 429 …".
_MARK = re.compile(r"\s*(?:[\w.]*(?:error|exception)\b[^\n]{0,40}?[:(]|http/?[\d.]* ?[45]\d\d\b)", re.IGNORECASE)
_MAX_ERROR_CHARS = 500


def _page_status(body: Json) -> int | None:
    """Return the HTTP status that the title of an error page names; None for anything else."""
    found = _ERROR_PAGE.match(body) if isinstance(body, str) else None
    return int(found[1]) if found else None


def _is_error_text(text: str, rules: Sequence[RefusalRule]) -> bool:
    """Return whether a text in an answer's place is an error for certain: a caller may return the model's words alone."""
    if len(text) > _MAX_ERROR_CHARS:
        return False
    told = diagnose(text, rules=rules)
    if _MARK.match(text) and told.kind != "unknown":
        return True
    over = told.overflow
    return over is not None and over.limit is not None and (over.input is not None or over.total is not None)


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
