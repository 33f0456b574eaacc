"""What does OpenAI's responses API demand of a list of items?

An output answers a call before it (or one that the provider keeps), and is of its kind; reasoning is followed by the item that it
led to. Roles need not alternate, and outputs may come at any time. Source: OpenAI's API reference, and the API's own sentences ("No
tool output found for function call …", "reasoning … without its required following item"). Law: any JSON is answered. Leaves to
others: mending (`repair`), and what the provider keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import objects, parsed, role_of, string, type_of
from penstock.wires.message_list import Invariant, Pairs, content_fault, pair_invariants, shape_check
from penstock.wires.openai_responses.codec import CALLS, OUTPUTS, ROLES, call_id, kind_of, role_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.message_list import Finding, MessageList


# Inputs are the user's, outputs the assistant's.
_PUT_IN = {"input_text", "input_image", "input_file", "input_audio"}
_CAME_OUT = {"output_text", "refusal"}
PARTS = frozenset({*_PUT_IN, *_CAME_OUT, "text"})
"""The message parts that are known here; none of them is an item of its own."""
# Which of them a message may not hold, by role; parts of a kind unknown here pass.
_MISPLACED = {role: PARTS - (_CAME_OUT if role == "assistant" else _PUT_IN) for role in ROLES}


def item_fault(item: Json) -> str:
    """Return what is wrong with the shape of one item; empty if nothing is."""
    if not isinstance(item, dict):
        return f"a {type(item).__name__} is no item"
    kind = kind_of(item)
    if not kind:
        return "neither a type nor a role"
    if kind in PARTS:
        return f"a {kind} is a part of a message"
    if kind == "message":
        if role_of(item) not in ROLES:
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


def holder(item: Json) -> tuple[str, str]:
    """Return whose parts an item holds, and under which key: an output's are the user's. Empty for any other item."""
    kind = kind_of(item)
    if kind == "message":
        return role_of(item), "content"
    return ("user", "output") if kind in {"function_call_output", "custom_tool_call_output"} else ("", "")


def is_misplaced(role: str, part: Json) -> bool:
    """Whether a message part is of a kind known here that a message of its role may not hold."""
    return type_of(part) in _MISPLACED[role]


def _misplaced_parts(seen: MessageList) -> Iterator[Finding]:
    """Yield messages and outputs with a part that they may not hold."""
    for index, item in enumerate(seen.messages):
        role, key = holder(item)
        if role in _MISPLACED:
            for part in objects(item.get(key)):
                if is_misplaced(role, part):
                    yield index, f"{type_of(part)} of the {role}"
                    break


def lone_reasoning(items: list[Json]) -> list[int]:
    """Return the positions of reasoning that no item of the assistant follows, other reasoning aside, in order."""
    # Backwards, so that a run of reasoning is decided once, by what follows it: looking ahead from each of its items would be
    # quadratic in the run.
    alone: list[int] = []
    leads_on = False
    for index in range(len(items) - 1, -1, -1):
        if kind_of(items[index]) != "reasoning":
            leads_on = role_in(items[index]) == "assistant"
        elif not leads_on:
            alone.append(index)
    return alone[::-1]


def _kinds(seen: MessageList) -> list[str]:
    """Return the kind of each item."""
    return list(map(kind_of, seen.messages))


def _pairs(seen: MessageList) -> Pairs:
    """Return what does not pair, by kind and id together: a shell's output does not answer a function call with the same id."""
    # If calls may be elsewhere (the list continues a conversation, or contains a reference, which may be to a call), the first
    # output of an unknown call is accepted, and a second one is still a finding. Approvals need no answer, so they are not
    # reported as missing at the end.
    pairs, asked, answered = Pairs(), dict[str, int](), set[str]()
    is_elsewhere = seen.continues  # calls may be in a conversation that the provider keeps
    optional: set[str] = set()
    for index, (item, kind) in enumerate(zip(seen.messages, seen.once(_kinds), strict=True)):
        is_elsewhere = is_elsewhere or kind == "item_reference"
        if kind in CALLS and (call := call_id(item)):
            pairs.ask(index, f"{kind} {call}", asked)
            if not CALLS[kind].must_answer:
                optional.add(f"{kind} {call}")
        elif kind in OUTPUTS and (call := call_id(item)):
            name = f"{OUTPUTS[kind]} {call}"
            if name in asked or name in answered or not is_elsewhere:
                pairs.answer(index, name, asked, answered)
            else:  # its call is one that the provider keeps
                asked[name] = index
                answered.add(name)
    pairs.close({call: place for call, place in asked.items() if call not in optional}, answered)
    return pairs


def _bad_arguments(seen: MessageList) -> Iterator[Finding]:
    """Yield calls of functions whose arguments are not JSON."""
    for index, kind in enumerate(seen.once(_kinds)):
        item = seen.messages[index]
        if kind == "function_call" and isinstance(item.get("arguments"), str) and not parsed(item["arguments"])[0]:
            yield index, call_id(item)


def _reasoning_alone(seen: MessageList) -> Iterator[Finding]:
    """Yield reasoning that no item of the assistant follows."""
    for index in lone_reasoning(seen.messages):
        yield index, string(seen.messages[index].get("id"))


INVARIANTS = (
    Invariant("bad_shape", "An item has a type and its fields", shape_check(item_fault)),
    Invariant("wrong_role", "What is put in is not the assistant's, what came out is", _misplaced_parts),
    *pair_invariants(_pairs),
    Invariant("bad_arguments", "Arguments of a call are JSON", _bad_arguments),
    Invariant("reasoning_alone", "Reasoning stays with the item that follows it", _reasoning_alone),
)
"""The rules for a list of items, in the order in which findings of one item are reported."""
