"""What does Gemini's API demand of a list of contents?

Calls follow something of the user's, and the content after them holds a response for each; every part holds something. Source: the
API reference and its refusals: "Please ensure that function call turn comes immediately after a user turn or after a function
response turn", "… that the number of function response parts is equal to the number of function call parts of the function call
turn", "contents.parts must not be empty", "required oneof field 'data' must have one initialized field" (an empty text is none).
Whether a call needs its thought signature depends on the model. Law: any JSON is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import string
from penstock.wires.batches import BatchForm, batch_pairs
from penstock.wires.gemini.codec import calls_in, closing, parts_of, response_text, responses_in, role_in
from penstock.wires.gemini.keys import both, get
from penstock.wires.message_list import NOT_EMPTY, Invariant, pair_invariants, shape_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.text.json_access import Json
    from penstock.wires.entries import Role
    from penstock.wires.message_list import Finding, MessageList

# Keys that accompany a part's data without being data.
_BESIDE = both("thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution", "mediaProcessing")
# What other APIs call a part's kind and role: Google refuses an unknown name, and nothing of this wire is under these.
_FOREIGN = ("type", "role", "content")
_NO_DATA = frozenset({*_BESIDE, *_FOREIGN})

FORM = BatchForm(
    content_key="parts",
    assistant="model",
    calls=calls_in,
    results=responses_in,
    closing=closing,
    text=lambda text: {"text": text},
    result_text=lambda part: response_text(get(part, "functionResponse")),
    # Calls without ids are named after their function, again in every turn: names differ only within a batch.
    ids_are_unique=False,
)


def content_fault(content: Json) -> str:
    """Return what is wrong with the shape of one content; empty if nothing is."""
    if not isinstance(content, dict):
        return f"a {type(content).__name__} is not a content object"
    if role_in(content) is None:
        return "the role is none of this wire's"
    parts = content.get("parts")
    # Well formed although it says nothing: that is a finding of `_empty_contents` and has its own repair.
    if parts is None:
        return ""
    if not isinstance(parts, list):
        return "parts are not a list"
    return next((fault for part in parts if (fault := part_fault(part))), "")


def part_fault(part: Json) -> str:
    """Return what a part lacks; empty if nothing."""
    if not isinstance(part, dict):
        return "a part is not an object"
    held = {key: value for key, value in part.items() if value is not None}
    # A signature alone is not data either, but has to come back unchanged.
    if held.keys() <= _NO_DATA and not is_signed(part):
        return "a part without data"
    if "text" in held and not isinstance(held["text"], str):
        return "a part whose text is none"
    for key in ("functionCall", "functionResponse"):
        value = get(part, key)
        if value is None:
            continue
        if not string(get(value, "name")):
            return f"a {key} without name"
        if not isinstance(get(value, "id"), str | None):
            return f"a {key} whose id is not text"
        if key == "functionResponse" and not isinstance(get(value, "response"), dict):
            return "a functionResponse whose response is not an object"
    return ""


def is_signed(part: Json) -> bool:
    """Whether a part has a thought signature."""
    return bool(get(part, "thoughtSignature"))


def is_blank(part: Json) -> bool:
    """Whether a text part holds no text and no signature that has to come back."""
    return get(part, "text") == "" and not is_signed(part)


def is_misplaced(role: Role | None, part: Json) -> bool:
    """Whether a part is in a content of the wrong role."""
    return get(part, "functionResponse" if role == "assistant" else "functionCall") is not None


def misnamed(contents: Iterable[Json]) -> Iterator[tuple[int, int, str]]:
    """Yield each response that states the id of a call but another name: its content, its part, and the name of that call."""
    names: dict[str, str] = {}
    for index, content in enumerate(contents):
        for number, part in enumerate(parts_of(content)):
            call, response = get(part, "functionCall"), get(part, "functionResponse")
            if string(get(call, "id")):
                names[call["id"]] = string(get(call, "name"))
            if (name := names.get(string(get(response, "id")), "")) and name != get(response, "name"):
                yield index, number, name


def follows_the_user(contents: list[Json], index: int) -> bool:
    """Whether the content at `index` has something of the user's before it."""
    return index > 0 and role_in(contents[index - 1]) == "user"


def _misplaced_parts(seen: MessageList) -> Iterator[Finding]:
    for index, content in enumerate(seen.messages):
        role = role_in(content)
        if role is not None and any(is_misplaced(role, part) for part in parts_of(content)):
            yield index, "functionResponse" if role == "assistant" else "functionCall"


def _misnamed_responses(seen: MessageList) -> Iterator[Finding]:
    for index, _, name in misnamed(seen.messages):
        yield index, name


def _calls_out_of_turn(seen: MessageList) -> Iterator[Finding]:
    for index, content in seen.with_role("model"):
        if calls_in(content) and not follows_the_user(seen.messages, index):
            yield index, ""


def _bad_arguments(seen: MessageList) -> Iterator[Finding]:
    for index, content in seen.with_role("model"):
        parts = parts_of(content)
        for number, call in calls_in(content):
            arguments = get(get(parts[number], "functionCall"), "args")
            if arguments is not None and not isinstance(arguments, dict):
                yield index, call


def _empty_contents(seen: MessageList) -> Iterator[Finding]:
    for index, content in enumerate(seen.messages):
        if role_in(content) is not None and content.get("parts") in (None, []):
            yield index, ""


def _empty_texts(seen: MessageList) -> Iterator[Finding]:
    for index, content in enumerate(seen.messages):
        if role_in(content) is not None and any(map(is_blank, parts_of(content))):
            yield index, ""


INVARIANTS = (
    NOT_EMPTY,
    Invariant("bad_shape", "A content has a role and parts that hold something", shape_check(content_fault)),
    Invariant("wrong_role", "Calls are the model's, responses the user's", _misplaced_parts),
    Invariant("call_place", "Calls follow something of the user's", _calls_out_of_turn),
    *pair_invariants(batch_pairs(FORM)),
    Invariant("bad_id", "A response with the id of a call has its name", _misnamed_responses),
    Invariant("bad_arguments", "The arguments of a call are an object", _bad_arguments),
    Invariant("empty_content", "A content has parts", _empty_contents),
    Invariant("empty_text", "A part of text says something", _empty_texts),
)
