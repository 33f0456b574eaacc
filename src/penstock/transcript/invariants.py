"""What would the provider refuse? Every invariant of a message list as a row of a table: a code, a sentence, a check.

What each wire demands is in `TABLES`; its order is the order of the findings for one message. Checks look at any JSON.
Law: `violations` never raises; a list that it finds nothing in is one that the provider accepts, as far as messages alone
can tell. Keeps out: mending (`repair`), and whatever depends on the model, on tools or on a signature's truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.transcript import openai_responses
from penstock.transcript.faults import CHAT_ROLES, anthropic_fault, chat_fault, is_misplaced, is_unsigned, item_fault
from penstock.transcript.history import codec
from penstock.transcript.openai_responses import call_id, kind_of
from penstock.transcript.pairing import Scene
from penstock.transcript.shapes import blocks, field, objects, parsed, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.transcript.pairing import Found
    from penstock.transcript.shapes import Json


_DETAIL_CHARS = 100  # an id of a sane request is shorter; a hostile one does not become the message


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken invariant: which message, which invariant, and what about it."""

    index: int
    code: str
    message: str


class Invariant(NamedTuple):
    """`sentence` says what has to hold; the detail of a finding follows it."""

    code: str
    sentence: str
    check: Callable[[Scene], Iterable[Found]]


def violations(messages: Json, wire: str, *, continues: bool = False) -> list[Violation]:
    """Every broken invariant of a message list, in the order of the messages; empty when it is valid.

    `continues`: the list goes on with a conversation that the provider keeps (`previous_response_id`, `conversation`), so
    that an output may answer a call that is not in it.
    """
    codec(wire)
    if wire == "openai-responses" and isinstance(messages, str):
        return []
    if not isinstance(messages, list):
        return [Violation(0, "not_a_list", f"Messages are a list; this is a {type(messages).__name__}.")]
    scene = Scene(messages, continues)
    found = [
        Violation(index, invariant.code, f"{invariant.sentence}{detail and f': {detail[:_DETAIL_CHARS]}'}.")
        for invariant in TABLES[wire]
        for index, detail in invariant.check(scene)
    ]
    return sorted(found, key=lambda violation: violation.index)


def _shape(fault: Callable[[Json], str]) -> Callable[[Scene], Iterator[Found]]:
    def check(scene: Scene) -> Iterator[Found]:
        for index, message in enumerate(scene.messages):
            if found := fault(message):
                yield index, found

    return check


def _nothing(scene: Scene) -> Iterator[Found]:
    if not scene.messages:
        yield 0, ""


def _chat_arguments(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        for call in objects(message.get("tool_calls")):
            arguments = field(call, "function", "arguments")
            if isinstance(arguments, str) and not parsed(arguments)[0]:
                yield index, string(call.get("id"))


def _item_arguments(scene: Scene) -> Iterator[Found]:
    for index, item in scene.of_type("function_call"):
        if isinstance(item.get("arguments"), str) and not parsed(item["arguments"])[0]:
            yield index, call_id(item)


def _block_arguments(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        for block in objects(message.get("content")):
            if type_of(block) == "tool_use" and not isinstance(block.get("input"), dict):
                yield index, string(block.get("id"))


def says_nothing(message: dict[str, Json]) -> bool:
    """Whether an assistant's chat message is empty: no words, no call, no refusal, no sound."""
    others = ("tool_calls", "function_call", "refusal", "audio")
    if any(message.get(key) for key in others):
        return False
    content = message.get("content")
    return not content or (isinstance(content, list) and not any(map(_has_content, content)))


def _has_content(block: Json) -> bool:
    return not (type_of(block) == "text" and not field(block, "text"))


def _chat_empty(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of(*CHAT_ROLES):
        content = message.get("content")
        if says_nothing(message) if message["role"] == "assistant" else content == []:
            yield index, ""


def _reasoning_alone(scene: Scene) -> Iterator[Found]:
    for index, item in scene.of_type("reasoning"):
        if not followed(scene.messages, index):
            yield index, string(item.get("id"))


def followed(items: list[Json], index: int) -> bool:
    """Whether an item that the assistant made comes next, other reasoning apart."""
    for item in items[index + 1 :]:
        if kind_of(item) != "reasoning":
            return openai_responses.read(item)[0] == "assistant" and isinstance(item, dict)
    return False


def _first_not_user(scene: Scene) -> Iterator[Found]:
    if scene.messages and role_of(scene.messages[0]) == "assistant":
        yield 0, ""


def _alternate(scene: Scene) -> Iterator[Found]:
    for index in range(1, len(scene.messages)):
        role = role_of(scene.messages[index])
        if role in {"user", "assistant"} and role == role_of(scene.messages[index - 1]):
            yield index, f"{role} after {role}"


def _system_place(scene: Scene) -> Iterator[Found]:
    for index, _ in scene.of("system"):
        if not index or role_of(scene.messages[index - 1]) not in {"user", "system"}:
            yield index, ""


def _misplaced(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("user", "assistant"):
        for block in objects(message.get("content")):
            if is_misplaced(message["role"], block):
                yield index, f"{block['type']} of the {message['role']}"


def _results_first(scene: Scene) -> Iterator[Found]:
    other = False
    for index, message in enumerate(scene.messages):
        role = role_of(message)
        if role != "user":
            other = False if role == "assistant" else other
            continue
        for block in blocks(message.get("content")):
            if type_of(block) != "tool_result":
                other = True
            elif other:
                yield index, string(block.get("tool_use_id"))
                break


def is_blank(block: Json) -> bool:
    """Whether a block of text has nothing to read."""
    return type_of(block) == "text" and not string(field(block, "text")).strip()


def _empty_text(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("user", "assistant", "system"):
        content = message.get("content")
        inner = [block for outer in objects(content) for block in objects(outer.get("content")) if _is_result(outer)]
        if any(map(is_blank, [*objects(content), *inner])):
            yield index, ""


def _is_result(block: dict[str, Json]) -> bool:
    return type_of(block) == "tool_result"


def _anthropic_empty(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("user", "assistant", "system"):
        content = message.get("content")
        if content == [] or (isinstance(content, str) and not content.strip()):
            yield index, ""


def _trailing(scene: Scene) -> Iterator[Found]:
    if scene.last is not None:
        index, message = scene.last
        last = blocks(message.get("content"))[-1:]
        text = string(last[0].get("text")) if last and type_of(last[0]) == "text" else ""
        if text.strip() and text != text.rstrip():
            yield index, ""


def _unsigned(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        if any(map(is_unsigned, objects(message.get("content")))):
            yield index, ""


def _thinking_last(scene: Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        if ends_thinking(message):
            yield index, ""


def ends_thinking(message: dict[str, Json]) -> bool:
    """Whether the last block of a message is thinking."""
    last = objects(message.get("content"))[-1:]
    return bool(last) and type_of(last[0]) in {"thinking", "redacted_thinking"}


def _pair_rows(name: str) -> tuple[Invariant, ...]:
    def of(kind: str) -> Callable[[Scene], list[Found]]:
        return lambda scene: list(getattr(getattr(scene, name), kind))

    return (
        Invariant("orphan_result", "A result needs its call before it", of("orphans")),
        Invariant("missing_result", "Every call needs its result", of("missing")),
        Invariant("duplicate_result", "A call has one result", of("twice")),
        Invariant("duplicate_call", "Ids of calls differ", of("calls_twice")),
    )


_EMPTY = Invariant("empty", "A request needs a message", _nothing)
_ARGUMENTS = "Arguments of a call are JSON"

TABLES: dict[str, tuple[Invariant, ...]] = {
    "openai-chat": (
        _EMPTY,
        Invariant("bad_shape", "A message has a role and content", _shape(chat_fault)),
        *_pair_rows("chat_pairs"),
        Invariant("bad_arguments", _ARGUMENTS, _chat_arguments),
        Invariant("empty_content", "A message without calls says something", _chat_empty),
    ),
    "openai-responses": (
        Invariant("bad_shape", "An item has a type and its fields", _shape(item_fault)),
        *_pair_rows("response_pairs"),
        Invariant("bad_arguments", _ARGUMENTS, _item_arguments),
        Invariant("reasoning_alone", "Reasoning stays with the item that follows it", _reasoning_alone),
    ),
    "anthropic": (
        _EMPTY,
        Invariant("bad_shape", "A message has a role and content", _shape(anthropic_fault)),
        Invariant("first_not_user", "The first message is the user's", _first_not_user),
        Invariant("roles_alternate", "Roles alternate", _alternate),
        Invariant("system_place", "A system message follows a user's", _system_place),
        Invariant("wrong_role", "Calls and thinking are the assistant's, results the user's", _misplaced),
        *_pair_rows("anthropic_pairs"),
        *_pair_rows("server_pairs"),
        Invariant("results_first", "Results come first in their message", _results_first),
        Invariant("bad_arguments", "The input of a call is an object", _block_arguments),
        Invariant("empty_content", "A message says something", _anthropic_empty),
        Invariant("empty_text", "A block of text says something", _empty_text),
        Invariant("trailing_whitespace", "The last message, if the assistant's, ends without white space", _trailing),
        Invariant("thinking_unsigned", "Thinking has its signature", _unsigned),
        Invariant("thinking_last", "The last block of a message is not thinking", _thinking_last),
    ),
}

CODES = {wire: tuple(dict.fromkeys(row.code for row in table)) for wire, table in TABLES.items()}
"""Every code of a wire, once."""
