"""How is a list of Anthropic messages mended? Roles alternate, results come first behind their calls, no block is empty.

Signed blocks are not looked into: they stay, or go with their whole message.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.transcript import anthropic, wording
from penstock.transcript.entries import Text, ToolResult
from penstock.transcript.faults import anthropic_block_fault, block_fault, content_fault, is_misplaced, is_unsigned
from penstock.transcript.invariants import ends_thinking, is_blank
from penstock.transcript.mending.draft import kept_of, mended_content, orphan_text
from penstock.transcript.pairing import SERVER_CALLS, is_server_result, newest_loop
from penstock.transcript.shapes import blocks, objects, parsed, role_of, string, type_of

if TYPE_CHECKING:
    from penstock.transcript.mending.draft import Draft
    from penstock.transcript.shapes import Json


def _with_content(message: Json, content: list[Json]) -> Json:
    """The message with other blocks; the very same where they are."""
    held = message["content"]
    if isinstance(held, list) and len(held) == len(content) and all(a is b for a, b in zip(held, content, strict=True)):
        return message
    return {**message, "content": content}


def _message_shapes(draft: Draft) -> None:
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
        message = mended_content(draft, place, message)
        content = message["content"]
        if isinstance(content, list):
            content = [result(place, block) for block in content]
            sound = kept_of(
                draft, place, content, lambda block: not anthropic_block_fault(block), "calls or results without id"
            )
            message = _with_content(message, sound)
        elif content is None:
            return None
        return message

    draft.each(change)


def _message_blocks(draft: Draft) -> None:
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


def _message_roles(draft: Draft) -> None:
    """Roles alternate: neighbours of one role are one message, and a system message follows a user's."""
    rows: list[tuple[int, Json]] = []
    for place, held in draft.rows:
        message, before = held, role_of(rows[-1][1]) if rows else ""
        if message["role"] == "system" and before not in {"user", "system"}:
            draft.did(place, "made a user message of an instruction, which stands in no place for one")
            message = {**message, "role": "user"}
        if message["role"] == before and before != "system":
            draft.did(place, f"merged with the {before} message before it")
            joined = blocks(rows[-1][1]["content"]) + blocks(message["content"])
            rows[-1] = rows[-1][0], {**rows[-1][1], "content": joined}
        else:
            rows.append((place, message))
    if rows and rows[0][1]["role"] == "assistant":
        draft.actions.append("began with a user message")
        rows.insert(0, (-1, anthropic.note("user", wording.BEGINNING)))
    draft.rows = rows


def _message_thinking(draft: Draft) -> None:
    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not ends_thinking(message):
            return message
        draft.did(place, "dropped, it ends while the model thinks")
        return None

    draft.each(change)


def _message_calls(draft: Draft) -> None:
    """Behind each message with calls stands a user message that begins with their results."""
    ever: set[str] = set()
    used: set[tuple[int, int]] = set()
    rows: list[tuple[int, Json]] = []
    wanted: list[Json] = []
    for at, (place, held) in enumerate(draft.rows):
        message = held
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


def _new_calls(draft: Draft, place: int, message: Json, ever: set[str]) -> Json:
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


def _message_results(draft: Draft, place: int, at: int, calls: list[str], used: set[tuple[int, int]]) -> list[Json]:
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
    draft: Draft, place: int, at: int, message: Json, used: set[tuple[int, int]], ever: set[str]
) -> list[Json]:
    """What a user message holds beside the results that went to their calls."""
    rest: list[Json] = []
    for number, block in enumerate(blocks(message["content"])):
        if type_of(block) != "tool_result":
            rest.append(block)
        elif (at, number) not in used:
            if block["tool_use_id"] in ever:
                draft.did(place, f"dropped a second result of {block['tool_use_id']!r}")
            elif (text := orphan_text(draft, place, _result_text(block))) is not None:
                rest.append({"type": "text", "text": text["content"]})
    return rest


def _message_server_calls(draft: Draft) -> None:
    """Results of the provider's own tools behind their calls, one each; only calls of the newest tool loop may be without."""
    done = {
        string(block.get("tool_use_id"))
        for message in draft.messages
        for block in objects(message["content"])
        if is_server_result(block)
    }
    loop = newest_loop(draft.messages)
    asked: set[str] = set()
    answered: set[str] = set()

    def sound(block: Json, may_run: bool) -> bool:
        if type_of(block) in SERVER_CALLS:
            call = string(block.get("id"))
            if call in asked or (call and call not in done and not may_run):
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
            keep = partial(sound, may_run=at >= loop)
            kept = kept_of(draft, place, message["content"], keep, "halves of server tool calls")
            held = _with_content(message, kept)
        if held["content"]:
            rows.append((place, held))
    draft.rows = rows


def _message_end(draft: Draft) -> None:
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


MENDS = (
    _message_shapes,
    _message_blocks,
    _message_roles,
    _message_thinking,
    _message_calls,
    _message_server_calls,
    _message_end,
)
