"""What would the provider refuse? Every invariant of a message list as a row of a table: a code, a sentence, a check.

What each wire demands is in `TABLES`; its order is the order of the findings for one message. Checks look at any JSON.
Law: `violations` never raises; a list that it finds nothing in is one that the provider accepts, as far as messages alone
can tell. Keeps out: mending (`repair`), and whatever depends on the model, on tools or on a signature's truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from penstock.transcript import anthropic, openai_responses
from penstock.transcript.history import codec
from penstock.transcript.openai_responses import CALLS, OUTPUTS, call_id, kind_of
from penstock.transcript.shapes import Json, blocks, field, objects, parsed, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken invariant: which message, which invariant, and what about it."""

    index: int
    code: str
    message: str


Found: TypeAlias = tuple[int, str]
"""Where, and the detail that the sentence names."""


class Invariant(NamedTuple):
    """`sentence` says what has to hold; the detail of a finding follows it."""

    code: str
    sentence: str
    check: Callable[[_Scene], Iterable[Found]]


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
    scene = _Scene(messages, continues)
    found = [
        Violation(index, invariant.code, f"{invariant.sentence}{detail and f': {detail}'}.")
        for invariant in TABLES[wire]
        for index, detail in invariant.check(scene)
    ]
    return sorted(found, key=lambda violation: violation.index)


# ── pairs of calls and results ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Pairs:
    """What does not pair: places and ids."""

    orphans: list[Found]
    missing: list[Found]
    twice: list[Found]
    calls_twice: list[Found]

    @classmethod
    def none(cls) -> Pairs:
        return cls([], [], [], [])

    def answer(self, place: int, call: str, asked: dict[str, int], answered: set[str]) -> None:
        """A result for `call`, where the calls in `asked` can be answered."""
        if call not in asked:
            self.orphans.append((place, call))
        elif call in answered:
            self.twice.append((place, call))
        answered.add(call)

    def ask(self, place: int, call: str, asked: dict[str, int]) -> None:
        if call in asked:
            self.calls_twice.append((place, call))
        else:
            asked[call] = place

    def close(self, asked: dict[str, int], answered: set[str]) -> None:
        """No result can come any more."""
        self.missing += [(place, call) for call, place in asked.items() if call not in answered]


class _Scene:
    """A message list and what several checks want to know about it."""

    def __init__(self, messages: list[Json], continues: bool) -> None:
        self.messages = messages
        self.continues = continues

    def of(self, *roles: str) -> Iterator[tuple[int, dict[str, Json]]]:
        """The messages of these roles, with their places."""
        for index, message in enumerate(self.messages):
            if isinstance(message, dict) and role_of(message) in roles:
                yield index, message

    def of_type(self, kind: str) -> Iterator[tuple[int, dict[str, Json]]]:
        for index, message in enumerate(self.messages):
            if isinstance(message, dict) and kind_of(message) == kind:
                yield index, message

    @property
    def last(self) -> tuple[int, dict[str, Json]] | None:
        """The last message, when the assistant speaks in it."""
        if self.messages and role_of(self.messages[-1]) == "assistant":
            return len(self.messages) - 1, self.messages[-1]
        return None

    @cached_property
    def chat_pairs(self) -> Pairs:
        """Results follow the message with their calls, and nothing stands between."""
        pairs, asked, answered = Pairs.none(), dict[str, int](), set[str]()
        legacy = ""
        for index, message in enumerate(self.messages):
            role = role_of(message)
            if role == "tool":
                if call := string(message.get("tool_call_id")):
                    pairs.answer(index, call, asked, answered)
                continue
            pairs.close(asked, answered)
            asked, answered = {}, set()
            if role == "function" and legacy != string(message.get("name")):
                pairs.orphans.append((index, f"function {string(message.get('name'))}"))
            legacy = string(field(message, "function_call", "name")) if role == "assistant" else ""
            for made in objects(message.get("tool_calls")) if role == "assistant" else ():
                if string(made.get("id")):
                    pairs.ask(index, made["id"], asked)
        pairs.close(asked, answered)
        return pairs

    @cached_property
    def response_pairs(self) -> Pairs:
        """An output stands somewhere behind its call, and is of its kind."""
        pairs, asked, answered = Pairs.none(), dict[str, int](), set[str]()
        elsewhere = self.continues
        optional: set[str] = set()
        for index, item in enumerate(self.messages):
            kind, call = kind_of(item), call_id(item)
            elsewhere = elsewhere or kind == "item_reference"
            if kind in CALLS and call:
                pairs.ask(index, f"{kind} {call}", asked)
                if not CALLS[kind].must_answer:
                    optional.add(f"{kind} {call}")
            elif kind in OUTPUTS and call:
                name = f"{OUTPUTS[kind]} {call}"
                if name in asked or name in answered or not elsewhere:
                    pairs.answer(index, name, asked, answered)
                else:
                    asked[name] = index
                    answered.add(name)
        pairs.close({call: place for call, place in asked.items() if call not in optional}, answered)
        return pairs

    @cached_property
    def anthropic_pairs(self) -> Pairs:
        """Results are in the user message behind their calls; ids of calls are never used again."""
        pairs, ever = Pairs.none(), dict[str, int]()
        asked: dict[str, int] = {}
        answered: set[str] = set()
        turn = ""
        for index, message in enumerate(self.messages):
            role = role_of(message)
            if role == "assistant":
                if turn != role:
                    pairs.close(asked, answered)
                    asked, answered = {}, set()
                for block in objects(message.get("content")):
                    call = string(block.get("id"))
                    if type_of(block) == "tool_use" and call:
                        pairs.ask(index, call, ever)
                        if ever[call] == index:
                            asked[call] = index
            elif role == "user":
                for block in objects(message.get("content")):
                    if type_of(block) == "tool_result" and string(block.get("tool_use_id")):
                        pairs.answer(index, block["tool_use_id"], asked, answered)
            turn = role if role in {"user", "assistant"} else turn
        pairs.close(asked, answered)
        return pairs

    @cached_property
    def server_pairs(self) -> Pairs:
        """Calls of the provider's own tools stand before their results; the last of them may still be running."""
        pairs, asked, answered = Pairs.none(), dict[str, int](), set[str]()
        last = max((index for index, _ in self.of("assistant")), default=-1)
        for index, message in self.of("assistant"):
            for block in objects(message.get("content")):
                if type_of(block) in SERVER_CALLS and string(block.get("id")):
                    pairs.ask(index, block["id"], asked)
                elif is_server_result(block):
                    pairs.answer(index, string(block.get("tool_use_id")), asked, answered)
        pairs.close({call: place for call, place in asked.items() if place != last}, answered)
        return pairs


SERVER_CALLS = {"server_tool_use", "mcp_tool_use"}


def is_server_result(block: dict[str, Json]) -> bool:
    """Whether a block is what one of the provider's own tools returned."""
    return string(type_of(block)).endswith("_tool_result")


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CHAT_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALL_TEXTS = {"function": ("name", "arguments"), "custom": ("name", "input")}


def chat_fault(message: Json) -> str:
    """What is wrong with the shape of a chat message; empty when nothing is."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is no message"
    role = role_of(message)
    if role not in CHAT_ROLES:
        return "the role is none of this wire's"
    if role == "tool" and not string(message.get("tool_call_id")):
        return "a tool message without tool_call_id"
    if role == "function" and not string(message.get("name")):
        return "a function message without name"
    if "tool_calls" in message and message["tool_calls"] is not None:
        calls = message["tool_calls"]
        if not isinstance(calls, list) or not calls or any(call_fault(call) for call in calls):
            return "tool_calls is no list of calls with id, name and arguments"
    content = message.get("content")
    if content is None and role in {"assistant", "function"}:
        return ""
    return content_fault(content)


def call_fault(call: Json) -> bool:
    """Whether a chat tool call lacks something."""
    kind = type_of(call)
    if kind not in _CALL_TEXTS or not string(field(call, "id")):
        return True
    inner = field(call, kind)
    return not string(field(inner, "name")) or not isinstance(field(inner, _CALL_TEXTS[kind][1]), str)


def content_fault(content: Json) -> str:
    """What is wrong with content that has to be a string or blocks."""
    if isinstance(content, str):
        return ""
    if not isinstance(content, list):
        return "content is neither text nor a list of parts"
    return "a part of content is not an object with a type" if any(block_fault(block) for block in content) else ""


def block_fault(block: Json) -> bool:
    """Whether a block cannot be one: no object, no type, or text that is none."""
    kind = type_of(block)
    if not isinstance(kind, str) or not kind:
        return True
    return kind in {"text", "input_text", "output_text"} and not isinstance(block.get("text"), str)


def item_fault(item: Json) -> str:
    """What is wrong with the shape of an item of the responses API."""
    if not isinstance(item, dict):
        return f"a {type(item).__name__} is no item"
    kind = kind_of(item)
    if not kind:
        return "neither a type nor a role"
    if kind == "message":
        if role_of(item) not in openai_responses.ROLES:
            return "the role is none of this wire's"
        return content_fault(item.get("content"))
    if kind in CALLS or kind in OUTPUTS:
        if not call_id(item):
            return f"a {kind} without the id of its call"
        if kind in {"function_call", "custom_tool_call"} and not (
            string(item.get("name")) and isinstance(item.get(CALLS[kind].payload), str)
        ):
            return f"a {kind} without name or {CALLS[kind].payload}"
        if kind in {"function_call_output", "custom_tool_call_output"}:
            return content_fault(item.get("output"))
    return ""


def anthropic_fault(message: Json) -> str:
    """What is wrong with the shape of an Anthropic message."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is no message"
    if role_of(message) not in {"user", "assistant", "system"}:
        return "the role is none of this wire's"
    if fault := content_fault(message.get("content")):
        return fault
    return next((fault for block in objects(message.get("content")) if (fault := anthropic_block_fault(block))), "")


def anthropic_block_fault(block: dict[str, Json]) -> str:
    """What a block lacks."""
    kind = type_of(block)
    if kind == "tool_use" and not (string(block.get("id")) and string(block.get("name"))):
        return "a tool_use without id or name"
    if kind == "tool_result":
        if not string(block.get("tool_use_id")):
            return "a tool_result without tool_use_id"
        if block.get("content") is not None:
            return content_fault(block["content"])
    return ""


_PLACES = {"assistant": {"tool_result"}, "user": {"tool_use", "thinking", "redacted_thinking"} | SERVER_CALLS}


def is_misplaced(role: Json, block: dict[str, Json]) -> bool:
    """Whether a block stands in a message of the wrong role."""
    return type_of(block) in _PLACES.get(role, ()) or (role == "user" and is_server_result(block))


def is_unsigned(block: dict[str, Json]) -> bool:
    """Whether a block of thinking lacks its proof."""
    return type_of(block) in {"thinking", "redacted_thinking"} and not anthropic.is_signed(block)


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _shape(fault: Callable[[Json], str]) -> Callable[[_Scene], Iterator[Found]]:
    def check(scene: _Scene) -> Iterator[Found]:
        for index, message in enumerate(scene.messages):
            if found := fault(message):
                yield index, found

    return check


def _nothing(scene: _Scene) -> Iterator[Found]:
    if not scene.messages:
        yield 0, ""


def _chat_arguments(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        for call in objects(message.get("tool_calls")):
            arguments = field(call, "function", "arguments")
            if isinstance(arguments, str) and not parsed(arguments)[0]:
                yield index, string(call.get("id"))


def _item_arguments(scene: _Scene) -> Iterator[Found]:
    for index, item in scene.of_type("function_call"):
        if isinstance(item.get("arguments"), str) and not parsed(item["arguments"])[0]:
            yield index, call_id(item)


def _block_arguments(scene: _Scene) -> Iterator[Found]:
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


def _chat_empty(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of(*CHAT_ROLES):
        content = message.get("content")
        if says_nothing(message) if message["role"] == "assistant" else content == []:
            yield index, ""


def _reasoning_alone(scene: _Scene) -> Iterator[Found]:
    for index, item in scene.of_type("reasoning"):
        if not followed(scene.messages, index):
            yield index, string(item.get("id"))


def followed(items: list[Json], index: int) -> bool:
    """Whether an item that the assistant made comes next, other reasoning apart."""
    for item in items[index + 1 :]:
        if kind_of(item) != "reasoning":
            return openai_responses.read(item)[0] == "assistant" and isinstance(item, dict)
    return False


def _first_not_user(scene: _Scene) -> Iterator[Found]:
    if scene.messages and role_of(scene.messages[0]) == "assistant":
        yield 0, ""


def _alternate(scene: _Scene) -> Iterator[Found]:
    for index in range(1, len(scene.messages)):
        role = role_of(scene.messages[index])
        if role in {"user", "assistant"} and role == role_of(scene.messages[index - 1]):
            yield index, f"{role} after {role}"


def _system_place(scene: _Scene) -> Iterator[Found]:
    for index, _ in scene.of("system"):
        if not index or role_of(scene.messages[index - 1]) not in {"user", "system"}:
            yield index, ""


def _misplaced(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of("user", "assistant"):
        for block in objects(message.get("content")):
            if is_misplaced(message["role"], block):
                yield index, f"{block['type']} of the {message['role']}"


def _results_first(scene: _Scene) -> Iterator[Found]:
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


def _empty_text(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of("user", "assistant", "system"):
        content = message.get("content")
        inner = [block for outer in objects(content) for block in objects(outer.get("content")) if _is_result(outer)]
        if any(map(is_blank, [*objects(content), *inner])):
            yield index, ""


def _is_result(block: dict[str, Json]) -> bool:
    return type_of(block) == "tool_result"


def _anthropic_empty(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of("user", "assistant", "system"):
        content = message.get("content")
        if content == [] or (isinstance(content, str) and not content.strip()):
            yield index, ""


def _trailing(scene: _Scene) -> Iterator[Found]:
    if scene.last is not None:
        index, message = scene.last
        last = blocks(message.get("content"))[-1:]
        text = string(last[0].get("text")) if last and type_of(last[0]) == "text" else ""
        if text.strip() and text != text.rstrip():
            yield index, ""


def _unsigned(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        if any(map(is_unsigned, objects(message.get("content")))):
            yield index, ""


def _thinking_last(scene: _Scene) -> Iterator[Found]:
    for index, message in scene.of("assistant"):
        if ends_thinking(message):
            yield index, ""


def ends_thinking(message: dict[str, Json]) -> bool:
    """Whether the last block of a message is thinking."""
    last = objects(message.get("content"))[-1:]
    return bool(last) and type_of(last[0]) in {"thinking", "redacted_thinking"}


def _pair_rows(name: str) -> tuple[Invariant, ...]:
    def of(kind: str) -> Callable[[_Scene], list[Found]]:
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
