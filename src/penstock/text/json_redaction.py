"""How are secrets removed from JSON? From the strings in it, so that what was valid stays valid (S-17).

This is for what is written to a journal: messages of a wire, calls of tools, handoffs. Laws: redacting twice changes nothing; a
value without secrets is returned as the same object; keys, ids, digests and what a provider signed stay whole, because a request
made from it has to be the same in every replay, and a name stays one that a wire accepts. The keys of what a model gave a call
are its own words, and not among these. A key that is found in one string is removed from all of them. A secret that is split over
two strings, or is in a signed part, is not found.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.text.json_access import parsed
from penstock.text.redaction import first_hint, redacted, secrets_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

_MIN_CHARS = 8  # no secret is shorter
# Redacted text is searched again until nothing more is found; JSON made of secrets at random needed four passes at most.
_MAX_LOOKS = 16
_SIGNED = frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content", "redactedContent"})
_MEDIA = frozenset({"media_type", "mimeType", "mime_type", "format"})
_WHOLE = frozenset(
    {
        *("id", "call_id", "tool_use_id", "toolUseId", "tool_call_id", "item_id", "effect_id", "session", "sessionId"),
        *("type", "role", "path", "root", "digest", "handle", "version", "sha256", "bytes"),
    }
)
_NAME, _STANDS_FOR_SECRET = "name", "redacted"
"""The key of names, such as a tool that a model made up; and what replaces a secret in one, since no mark is a valid name."""
_JSON_TEXT = "arguments"
"""The key under which OpenAI's wires hold JSON as a string."""
_OF_CALLS = frozenset({_JSON_TEXT, "args", "input"})
"""The keys under which wires hold what a model gave a call: the names in it are the tool's, and none is an id's."""


def redacted_json(value: Json) -> Json:
    """Return JSON without what looks like a secret in its strings; the same object if there is none.

    Args:
        value: what `json.loads` returns. Other objects are left as they are.
    """
    # One search through all strings takes a third of the time of one for each, and most JSON holds no secret.
    if first_hint("\n".join(_looked_at(value)).encode("utf-8", "surrogatepass")) < 0:
        return value
    known: dict[str, str] = {}
    for _ in range(_MAX_LOOKS):
        made = _of_value(value, known, is_of_call=False)
        if made is value:
            break
        value = made
    return value


def _looked_at(value: Json, key: str | None = None) -> Iterator[str]:
    """Yield every text in which a value's secrets are searched for: its strings, with and without their names."""
    if isinstance(value, str):
        yield value
        if key is not None:
            yield _assigned(key, value)
        if key == _JSON_TEXT:
            yield from _looked_at(parsed(value)[1])
    elif isinstance(value, dict):
        for name, item in value.items():
            if isinstance(name, str):  # JSON is written of Python's numbers as keys, too: `logit_bias`
                yield name
            yield from _looked_at(item, name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _looked_at(item)


def _assigned(key: str, text: str) -> str:
    """Return a string as the member of an object, whose name says what it is."""
    return f'"{key}": "{text}"'


def _of_value(value: Json, known: dict[str, str], *, is_of_call: bool) -> Json:
    """Return a value whose strings hold no secrets and no known keys."""
    if isinstance(value, str):
        return _clean(value, known)
    if isinstance(value, dict):
        return _of_object(value, known, is_of_call=is_of_call)
    if isinstance(value, list | tuple):
        made = [_of_value(item, known, is_of_call=is_of_call) for item in value]
        return made if any(one is not other for one, other in zip(made, value, strict=True)) else value
    return value


def _clean(text: str, known: dict[str, str]) -> str:
    """Return a text without its secrets, the same object if it holds none."""
    clean = redacted(text, known) if len(text) >= _MIN_CHARS else text
    return text if clean == text else clean


def _of_object(value: dict[str, Json], known: dict[str, str], *, is_of_call: bool) -> Json:
    """Return an object whose values hold no secrets; one that a provider signed, or that is a picture, unchanged."""
    if is_of_call:
        # A secret in place of a parameter's name, for which the call is refused: what two of them gave need not be told apart.
        made = {_of_name(key): _of_member(key, item, known, is_of_call=True) for key, item in value.items()}
        return made if made.keys() != value.keys() else _changed(value, made)
    if any(value.get(key) for key in _SIGNED) or ("data" in value and not _MEDIA.isdisjoint(value)):
        return value
    if value.get("type") == "redacted_thinking":
        return value
    made = {
        key: item if key in _WHOLE else _of_name(item) if key == _NAME else _of_member(key, item, known)
        for key, item in value.items()
    }
    return _changed(value, made)


def _of_name(item: Any) -> Any:
    """Return a name with a word in place of each secret."""
    if not isinstance(item, str) or len(item) < _MIN_CHARS:
        return item
    made = item
    for secret in reversed(secrets_in(item)):
        made = f"{made[: secret.start]}{_STANDS_FOR_SECRET}{made[secret.end :]}"
    return item if made == item else made


def _changed(value: dict[str, Json], made: dict[str, Json]) -> dict[str, Json]:
    """Return what was made of an object, or the object itself if they are equal."""
    return made if any(made[key] is not value[key] for key in value) else value


def _of_member(key: Any, item: Json, known: dict[str, str], *, is_of_call: bool = False) -> Json:
    """Return the value of a key: a plain value may be a secret because of the key's name."""
    if not isinstance(item, str) or len(item) < _MIN_CHARS:
        return _of_value(item, known, is_of_call=is_of_call or (key in _OF_CALLS and isinstance(item, dict)))
    if key == _JSON_TEXT:
        return _of_json_text(item, known)
    clean = _clean(item, known)
    before = f'"{key}": "'
    if '"' not in clean and "\n" not in clean:
        told = redacted(_assigned(key, clean), known)
        if told.startswith(before) and told.endswith('"'):
            clean = told[len(before) : -1]
    return item if clean == item else clean


def _of_json_text(text: str, known: dict[str, str]) -> str:
    """Return JSON that is written as a string, still valid; anything else is treated as plain text."""
    is_json, value = parsed(text)
    if not is_json:
        return _clean(text, known)
    clean_value = _of_value(value, known, is_of_call=isinstance(value, dict))
    return text if clean_value is value else json.dumps(clean_value, ensure_ascii=False, separators=(",", ":"))
