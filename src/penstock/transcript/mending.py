"""How is a broken list made whole? The least that a provider's rules demand, and a sentence for everything that was done.

Calls without a result get one that says so, later results of a call go, results without a call become text, roles are
merged. What is signed is never touched: it stays, or goes with its whole message. Laws: a valid list comes back as it is,
without actions; repairing twice changes nothing; what cannot be mended is said. Keeps out: what the rules are
(`invariants`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.transcript import anthropic, openai_responses, wording
from penstock.transcript.entries import Text, ToolResult
from penstock.transcript.history import codec
from penstock.transcript.invariants import (
    CHAT_ROLES,
    SERVER_CALLS,
    Violation,
    anthropic_block_fault,
    block_fault,
    call_fault,
    chat_fault,
    content_fault,
    ends_thinking,
    followed,
    is_blank,
    is_misplaced,
    is_server_result,
    is_unsigned,
    item_fault,
    says_nothing,
    violations,
)
from penstock.transcript.openai_responses import CALLS, OUTPUTS, call_id, kind_of
from penstock.transcript.shapes import Json, as_json, blocks, copied, field, objects, parsed, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 12
"""A mend can uncover the next one (a dropped message leaves two of one role); each round takes something away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A mended list, what was done to it, and what is left to a person."""

    messages: list[Json]
    actions: tuple[str, ...] = ()
    left: tuple[Violation, ...] = ()


def repair(messages: Json, wire: str, *, continues: bool = False) -> Repaired:
    """The list as its provider would take it; `continues` as in `violations`. What came in is not changed."""
    codec(wire)
    draft = _Draft(continues)
    if isinstance(messages, str):
        if wire != "openai-responses":
            draft.actions.append("made a user message of a text")
        messages = [{"role": "user", "content": messages}]
    elif not isinstance(messages, list):
        draft.actions.append(f"dropped a {type(messages).__name__}, which is no list of messages")
        messages = []
    draft.rows = [(place, raw) for place, raw in enumerate(copied(messages))]
    if violations(draft.messages, wire, continues=continues):
        for _ in range(_ROUNDS):
            before = len(draft.actions)
            for mend in _MENDS[wire]:
                mend(draft)
            if len(draft.actions) == before:
                break
    left = tuple(violations(draft.messages, wire, continues=continues))
    return Repaired(messages=draft.messages, actions=tuple(draft.actions), left=left)


class _Draft:
    """Messages with the places they came from (-1 for ours), and what was done to them."""

    def __init__(self, continues: bool) -> None:
        self.rows: list[tuple[int, Json]] = []
        self.actions: list[str] = []
        self.continues = continues

    @property
    def messages(self) -> list[Json]:
        return [raw for _, raw in self.rows]

    def did(self, place: int, what: str) -> None:
        self.actions.append(f"message {place}: {what}" if place >= 0 else f"an added message: {what}")

    def each(self, change: Callable[[int, Json], Json]) -> None:
        """Every message as `change` gives it back; None drops it. `change` says what it did."""
        rows = [(place, change(place, raw)) for place, raw in self.rows]
        self.rows = [(place, raw) for place, raw in rows if raw is not None]


def _kept(draft: _Draft, place: int, content: list[Json], keep: Callable[[Json], bool], what: str) -> list[Json]:
    """The blocks that are kept; the others are counted."""
    kept = [block for block in content if keep(block)]
    if len(kept) < len(content):
        draft.did(place, f"dropped {what} ({len(content) - len(kept)})")
    return kept


def _mended_content(draft: _Draft, place: int, message: Json) -> Json:
    """Content without what are no blocks; content that is neither text nor a list is gone."""
    content = message.get("content")
    if not content_fault(content):
        return message
    if isinstance(content, list):
        sound = _kept(draft, place, content, lambda block: not block_fault(block), "parts that are none")
        return {**message, "content": sound}
    draft.did(place, "dropped content that is none")
    return {**message, "content": None}


# ── OpenAI chat ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _chat_shapes(draft: _Draft) -> None:
    def change(place: int, message: Json) -> Json:
        if not isinstance(message, dict) or role_of(message) not in CHAT_ROLES:
            draft.did(place, f"dropped, {chat_fault(message)}")
            return None
        role = message["role"]
        calls = message.get("tool_calls")
        if "tool_calls" in message and calls is not None:
            sound = [call for call in objects(calls) if not call_fault(call)]
            if not sound or sound != calls:
                draft.did(place, "dropped calls without id, name or arguments")
                message = {key: value for key, value in message.items() if key != "tool_calls"}
                message |= {"tool_calls": sound} if sound else {}
        if (role == "tool" and not string(message.get("tool_call_id"))) or (
            role == "function" and not string(message.get("name"))
        ):
            return _orphan_message(draft, place, message)
        if message.get("content") is not None or role not in {"assistant", "function"}:
            message = _mended_content(draft, place, message)
        if message.get("content") or isinstance(message.get("content"), str) or role in {"assistant", "function"}:
            return message
        if role == "tool":
            draft.did(place, "an empty result is an empty text")
            return {**message, "content": ""}
        draft.did(place, "dropped, it says nothing")
        return None

    draft.each(change)


def _orphan_message(draft: _Draft, place: int, message: Json) -> Json:
    """The text of a result whose call is not there, said by the user."""
    text = "\n".join(string(block.get("text")) for block in blocks(message.get("content")))
    return _orphan_text(draft, place, text)


def _orphan_text(draft: _Draft, place: int, text: str) -> Json:
    if not text.strip():
        draft.did(place, "dropped an empty result without its call")
        return None
    draft.did(place, "made text of a result without its call")
    return {"role": "user", "content": wording.orphan(text)}


def _chat_partial(draft: _Draft) -> None:
    """A last message whose arguments break off is one that never arrived whole."""
    if draft.rows and role_of(draft.rows[-1][1]) == "assistant":
        place, message = draft.rows[-1]
        written = [string(field(call, "function", "arguments")) for call in objects(message.get("tool_calls"))]
        if any(text.strip() and not parsed(text)[0] for text in written):
            draft.rows.pop()
            draft.did(place, "dropped, its last call breaks off")


def _sound_arguments(text: str) -> str:
    return json.dumps({"unparsed": text}) if text.strip() else "{}"


def _chat_arguments(draft: _Draft) -> None:
    def call(place: int, made: Json) -> Json:
        text = field(made, "function", "arguments")
        if not isinstance(text, str) or parsed(text)[0]:
            return made
        draft.did(place, f"wrote the arguments of {made['id']!r} as JSON")
        return {**made, "function": {**made["function"], "arguments": _sound_arguments(text)}}

    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not message.get("tool_calls"):
            return message
        calls = [call(place, made) for made in message["tool_calls"]]
        return {**message, "tool_calls": calls}

    draft.each(change)


def _chat_calls(draft: _Draft) -> None:
    """Behind each message with calls stand its results and nothing else."""
    rows: list[tuple[int, Json]] = []
    taken: set[int] = set()
    asked: set[str] = set()
    for at, (place, message) in enumerate(draft.rows):
        role = role_of(message)
        if role == "tool":
            if at not in taken:
                _stray(draft, place, message, message["tool_call_id"] in asked, rows)
            continue
        if role == "function" and not _follows_its_call(rows, message):
            if (text := _orphan_message(draft, place, message)) is not None:
                rows.append((place, text))
            continue
        if role != "assistant" or not message.get("tool_calls"):
            rows.append((place, message))
            continue
        message = _without_repeats(draft, place, message)
        rows.append((place, message))
        ids = [call["id"] for call in message["tool_calls"]]
        asked |= set(ids)
        results = _chat_results(draft.rows, at, ids, taken)
        for found in sorted(results.values()):
            taken.add(found)
            if any(role_of(between) != "tool" for _, between in draft.rows[at + 1 : found]):
                draft.did(
                    draft.rows[found][0], f"moved the result of {draft.rows[found][1]['tool_call_id']!r} to its call"
                )
            rows.append(draft.rows[found])
        for missing in ids:
            if missing not in results:
                draft.did(place, f"closed call {missing!r} with a result that says there is none")
                rows.append((-1, {"role": "tool", "tool_call_id": missing, "content": wording.CLOSED}))
    draft.rows = rows


def _stray(draft: _Draft, place: int, message: Json, is_repeat: bool, rows: list[tuple[int, Json]]) -> None:
    if is_repeat:
        draft.did(place, f"dropped a second result of {message['tool_call_id']!r}")
    elif (text := _orphan_message(draft, place, message)) is not None:
        rows.append((place, text))


def _follows_its_call(rows: list[tuple[int, Json]], message: Json) -> bool:
    before = rows[-1][1] if rows else None
    return role_of(before) == "assistant" and field(before, "function_call", "name") == message["name"]


def _without_repeats(draft: _Draft, place: int, message: Json) -> Json:
    """A message whose calls have different ids."""
    calls = message["tool_calls"]
    first = {call["id"]: call for call in reversed(calls)}
    sound = [call for call in calls if first[call["id"]] is call]
    if len(sound) == len(calls):
        return message
    draft.did(place, "dropped calls that repeat an id")
    return {**message, "tool_calls": sound}


def _chat_results(rows: list[tuple[int, Json]], at: int, ids: list[str], taken: set[int]) -> dict[str, int]:
    """Where the first result of each call stands, looking until a message calls under that id again."""
    found: dict[str, int] = {}
    wanted = set(ids)
    for later in range(at + 1, len(rows)):
        message = rows[later][1]
        if role_of(message) == "assistant":
            wanted -= {string(call.get("id")) for call in objects(message.get("tool_calls"))}
        elif role_of(message) == "tool" and message["tool_call_id"] in wanted and later not in taken:
            found.setdefault(message["tool_call_id"], later)
    return found


def _chat_empty(draft: _Draft) -> None:
    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not says_nothing(message):
            return message
        draft.did(place, "dropped, it says nothing")
        return None

    draft.each(change)


# ── OpenAI responses ─────────────────────────────────────────────────────────────────────────────────────────────────


def _item_shapes(draft: _Draft) -> None:
    def change(place: int, item: Json) -> Json:
        fault = item_fault(item)
        if not fault:
            return item
        kind = kind_of(item)
        if kind == "message" and role_of(item) in openai_responses.ROLES:
            mended = _mended_content(draft, place, item)
            if isinstance(mended["content"], list):
                return mended
        elif kind in OUTPUTS:
            if not call_id(item):
                return _orphan_text(draft, place, _output_text(item))
            draft.did(place, "wrote the output as text")
            return {**item, "output": "" if item.get("output") is None else as_json(item["output"])}
        draft.did(place, f"dropped, {fault}")
        return None

    draft.each(change)


def _output_text(item: Json) -> str:
    role, parts = openai_responses.read(item)
    del role
    return "\n".join(part.text for part in parts if isinstance(part, ToolResult))


def _item_partial(draft: _Draft) -> None:
    if draft.rows and kind_of(draft.rows[-1][1]) == "function_call":
        place, item = draft.rows[-1]
        if item["arguments"].strip() and not parsed(item["arguments"])[0]:
            draft.rows.pop()
            draft.did(place, "dropped, the call breaks off")


def _item_arguments(draft: _Draft) -> None:
    def change(place: int, item: Json) -> Json:
        if kind_of(item) != "function_call" or parsed(item["arguments"])[0]:
            return item
        draft.did(place, f"wrote the arguments of {item['call_id']!r} as JSON")
        return {**item, "arguments": _sound_arguments(item["arguments"])}

    draft.each(change)


def _item_calls(draft: _Draft) -> None:
    """Each call once, with one output behind it."""
    calls, outputs = _items_by_call(draft.rows)
    rows: list[tuple[int, Json]] = []
    waiting: list[tuple[int, Json]] = []
    elsewhere = draft.continues
    for at, (place, item) in enumerate(draft.rows):
        name = _call_name(item)
        if kind_of(item) in OUTPUTS:
            if name not in calls and (elsewhere and outputs[name] == at):
                rows += [*_taken(waiting), (place, item)]
            elif name not in calls and not elsewhere and outputs[name] == at:
                text = _orphan_text(draft, place, _output_text(item))
                rows += [*_taken(waiting), *([(place, text)] if text is not None else [])]
            elif outputs.get(name) != at:
                draft.did(place, f"dropped a second output of {call_id(item)!r}")
            elif calls[name] < at:
                rows += [*_taken(waiting), (place, item)]
            continue  # what stood before its call goes behind it, below
        if openai_responses.read(item)[0] != "assistant":
            rows += _taken(waiting)
        elsewhere = elsewhere or kind_of(item) == "item_reference"
        if not name:
            rows.append((place, item))
            continue
        if calls[name] != at:
            draft.did(place, f"dropped a call that repeats the id {call_id(item)!r}")
            continue
        form = CALLS[kind_of(item)]
        answer = outputs.get(name)
        if answer is None and form.must_answer and not form.can_close:
            draft.did(place, f"dropped call {call_id(item)!r}, which has no output")
            continue
        rows.append((place, item))
        if answer is None and form.must_answer:
            draft.did(place, f"closed call {call_id(item)!r} with an output that says there is none")
            waiting.append((-1, openai_responses.closing(item)))
        elif answer is not None and answer < at:
            draft.did(draft.rows[answer][0], f"moved the output of {call_id(item)!r} behind its call")
            waiting.append(draft.rows[answer])
    draft.rows = rows + waiting


def _taken(waiting: list[tuple[int, Json]]) -> list[tuple[int, Json]]:
    """What waits for the end of an assistant's run, and nothing waits any more."""
    rows = list(waiting)
    waiting.clear()
    return rows


def _call_name(item: Json) -> str:
    """Kind and id of a call, the same for its output; empty for other items."""
    kind = kind_of(item)
    return f"{OUTPUTS.get(kind, kind)} {call_id(item)}" if kind in CALLS or kind in OUTPUTS else ""


def _items_by_call(rows: list[tuple[int, Json]]) -> tuple[dict[str, int], dict[str, int]]:
    """Where each call stands first, and its output: the first behind the call, else the first."""
    calls: dict[str, int] = {}
    outputs: dict[str, int] = {}
    for at, (_, item) in enumerate(rows):
        if kind_of(item) in CALLS:
            calls.setdefault(_call_name(item), at)
    for at, (_, item) in enumerate(rows):
        if kind_of(item) in OUTPUTS:
            name = _call_name(item)
            held = outputs.setdefault(name, at)
            if held < calls.get(name, -1) < at:
                outputs[name] = at
    return calls, outputs


def _item_reasoning(draft: _Draft) -> None:
    items = draft.messages
    alone = {at for at, item in enumerate(items) if kind_of(item) == "reasoning" and not followed(items, at)}
    for at in alone:
        draft.did(draft.rows[at][0], "dropped reasoning without the item that it led to")
    draft.rows = [row for at, row in enumerate(draft.rows) if at not in alone]


# ── Anthropic ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_content(message: Json, content: list[Json]) -> Json:
    """The message with other blocks; the very same where they are."""
    held = message["content"]
    if isinstance(held, list) and len(held) == len(content) and all(a is b for a, b in zip(held, content, strict=True)):
        return message
    return {**message, "content": content}


def _message_shapes(draft: _Draft) -> None:
    def result(place: int, block: Json) -> Json:
        content = block.get("content")
        if type_of(block) != "tool_result" or content is None or not content_fault(content):
            return block
        draft.did(place, "dropped parts of a result that are none")
        sound = [inner for inner in content if not block_fault(inner)] if isinstance(content, list) else ""
        return {**block, "content": sound}

    def change(place: int, message: Json) -> Json:
        if role_of(message) not in {"user", "assistant", "system"}:
            draft.did(place, "dropped, no message of this wire")
            return None
        message = _mended_content(draft, place, message)
        content = message["content"]
        if isinstance(content, list):
            content = [result(place, block) for block in content]
            sound = _kept(
                draft, place, content, lambda block: not anthropic_block_fault(block), "calls or results without id"
            )
            message = _with_content(message, sound)
        elif content is None:
            return None
        return message

    draft.each(change)


def _message_blocks(draft: _Draft) -> None:
    """Blocks in their places: nothing misplaced, unsigned or blank, and input that is an object."""

    def block(place: int, role: str, held: Json) -> list[Json]:
        kind = type_of(held)
        if is_misplaced(role, held):
            text = _result_text(held)
            draft.did(place, f"{'made text of' if text.strip() else 'dropped'} a {kind} of the {role}")
            return [{"type": "text", "text": wording.orphan(text)}] if text.strip() else []
        if is_unsigned(held):
            draft.did(place, "dropped thinking without its signature")
            return []
        if is_blank(held):
            draft.did(place, "dropped an empty block of text")
            return []
        if kind == "tool_use" and not isinstance(held.get("input"), dict):
            draft.did(place, f"wrote the input of {held['id']!r} as an object")
            value = held.get("input")
            is_json, read = parsed(value) if isinstance(value, str) else (False, None)
            return [
                {
                    **held,
                    "input": read if is_json and isinstance(read, dict) else {} if value is None else {"input": value},
                }
            ]
        if kind == "tool_result" and any(map(is_blank, objects(held.get("content")))):
            draft.did(place, "dropped an empty block of text in a result")
            return [{**held, "content": [inner for inner in held["content"] if not is_blank(inner)] or ""}]
        return [held]

    def change(place: int, message: Json) -> Json:
        content = message["content"]
        if isinstance(content, list):
            made = [kept for held in content for kept in block(place, message["role"], held)]
            message = _with_content(message, made)
            content = made
        if not content or (isinstance(content, str) and not content.strip()):
            draft.did(place, "dropped, it says nothing")
            return None
        return message

    draft.each(change)


def _result_text(block: Json) -> str:
    shown = anthropic.read({"role": "user", "content": [block]})[1]
    return "\n".join(part.text for part in shown if isinstance(part, ToolResult | Text))


def _message_roles(draft: _Draft) -> None:
    """Roles alternate: neighbours of one role are one message, and a system message follows a user's."""
    rows: list[tuple[int, Json]] = []
    for place, message in draft.rows:
        before = role_of(rows[-1][1]) if rows else ""
        if message["role"] == "system" and before not in {"user", "system"}:
            draft.did(place, "made a user message of an instruction, which stands in no place for one")
            message = {**message, "role": "user"}
        if message["role"] == before and before != "system":
            draft.did(place, f"merged with the {before} message before it")
            held = rows[-1][1]
            rows[-1] = rows[-1][0], {**held, "content": blocks(held["content"]) + blocks(message["content"])}
        else:
            rows.append((place, message))
    if rows and rows[0][1]["role"] == "assistant":
        draft.actions.append("began with a user message")
        rows.insert(0, (-1, anthropic.note("user", wording.BEGINNING)))
    draft.rows = rows


def _message_thinking(draft: _Draft) -> None:
    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not ends_thinking(message):
            return message
        draft.did(place, "dropped, it ends while the model thinks")
        return None

    draft.each(change)


def _message_calls(draft: _Draft) -> None:
    """Behind each message with calls stands a user message that begins with their results."""
    ever: set[str] = set()
    used: set[tuple[int, int]] = set()
    rows: list[tuple[int, Json]] = []
    wanted: list[Json] = []
    for at, (place, message) in enumerate(draft.rows):
        if message["role"] == "user":
            rest = _rest_of(draft, place, at, message, used, ever)
            content = [*wanted, *rest]
            if content:
                rows.append(
                    (
                        place,
                        _with_content(message, content) if isinstance(message["content"], list) or wanted else message,
                    )
                )
            wanted = []
            continue
        if wanted:
            rows.append((-1, {"role": "user", "content": wanted}))
            wanted = []
        if message["role"] == "assistant" and isinstance(message["content"], list):
            message = _new_calls(draft, place, message, ever)
            calls = [block["id"] for block in message["content"] if type_of(block) == "tool_use"]
            wanted = _message_results(draft, place, at, calls, used)
            if not message["content"]:
                continue
        rows.append((place, message))
    if wanted:
        rows.append((-1, {"role": "user", "content": wanted}))
    draft.rows = rows


def _new_calls(draft: _Draft, place: int, message: Json, ever: set[str]) -> Json:
    """The message without calls whose id was used before."""
    content: list[Json] = []
    for block in message["content"]:
        if type_of(block) == "tool_use":
            if block["id"] in ever:
                draft.did(place, f"dropped a call that repeats the id {block['id']!r}")
                continue
            ever.add(block["id"])
        content.append(block)
    return _with_content(message, content)


def _message_results(draft: _Draft, place: int, at: int, calls: list[str], used: set[tuple[int, int]]) -> list[Json]:
    """The first result of each call, from wherever it stands behind; the others are closed."""
    found: dict[str, tuple[int, int]] = {}
    for later in range(at + 1, len(draft.rows)):
        if found.keys() >= set(calls):
            break
        message = draft.rows[later][1]
        for number, block in enumerate(objects(message["content"]) if message["role"] == "user" else ()):
            if type_of(block) == "tool_result" and block["tool_use_id"] in calls and (later, number) not in used:
                found.setdefault(block["tool_use_id"], (later, number))
    used |= set(found.values())
    results: list[Json] = []
    for later, number in sorted(found.values()):
        content = draft.rows[later][1]["content"]
        if later != at + 1:
            draft.did(draft.rows[later][0], f"moved the result of {content[number]['tool_use_id']!r} to its call")
        elif any(type_of(before) != "tool_result" for before in content[:number]):
            draft.did(draft.rows[later][0], "put the results first")
        results.append(content[number])
    for call in calls:
        if call not in found:
            draft.did(place, f"closed call {call!r} with a result that says there is none")
            results.append(anthropic.closing(call))
    return results


def _rest_of(
    draft: _Draft, place: int, at: int, message: Json, used: set[tuple[int, int]], ever: set[str]
) -> list[Json]:
    """What a user message holds beside the results that went to their calls."""
    rest: list[Json] = []
    for number, block in enumerate(blocks(message["content"])):
        if type_of(block) != "tool_result":
            rest.append(block)
        elif (at, number) not in used:
            if block["tool_use_id"] in ever:
                draft.did(place, f"dropped a second result of {block['tool_use_id']!r}")
            elif (text := _orphan_text(draft, place, _result_text(block))) is not None:
                rest.append({"type": "text", "text": text["content"]})
    return rest


def _message_server_calls(draft: _Draft) -> None:
    """Results of the provider's own tools behind their calls, one each; only the last call may be without."""
    done = {
        string(block.get("tool_use_id"))
        for message in draft.messages
        for block in objects(message["content"])
        if is_server_result(block)
    }
    last = max((at for at, message in enumerate(draft.messages) if message["role"] == "assistant"), default=-1)
    asked: set[str] = set()
    answered: set[str] = set()

    def keep(block: Json, at: int) -> bool:
        if type_of(block) in SERVER_CALLS:
            call = string(block.get("id"))
            if call in asked or (call and call not in done and at != last):
                return False
            asked.add(call)
        elif is_server_result(block):
            call = string(block.get("tool_use_id"))
            if call not in asked or call in answered:
                return False
            answered.add(call)
        return True

    rows: list[tuple[int, Json]] = []
    for at, (place, message) in enumerate(draft.rows):
        held = message
        if message["role"] == "assistant" and isinstance(message["content"], list):
            here = at
            kept = _kept(
                draft, place, message["content"], lambda block: keep(block, here), "halves of server tool calls"
            )
            held = _with_content(message, kept)
        if held["content"]:
            rows.append((place, held))
    draft.rows = rows


def _message_end(draft: _Draft) -> None:
    """A last message of the assistant ends without white space."""
    if not draft.rows or draft.rows[-1][1]["role"] != "assistant":
        return
    place, message = draft.rows[-1]
    content = blocks(message["content"])
    text = string(content[-1].get("text")) if content and type_of(content[-1]) == "text" else ""
    if text != text.rstrip():
        draft.did(place, "took white space off the end")
        ended = {**content[-1], "text": text.rstrip()}
        plain = isinstance(message["content"], str)
        draft.rows[-1] = place, {**message, "content": text.rstrip() if plain else [*content[:-1], ended]}


_MENDS: dict[str, tuple[Callable[[_Draft], None], ...]] = {
    "openai-chat": (_chat_shapes, _chat_partial, _chat_arguments, _chat_calls, _chat_empty),
    "openai-responses": (_item_shapes, _item_partial, _item_arguments, _item_calls, _item_reasoning),
    "anthropic": (
        _message_shapes,
        _message_blocks,
        _message_roles,
        _message_thinking,
        _message_calls,
        _message_server_calls,
        _message_end,
    ),
}
