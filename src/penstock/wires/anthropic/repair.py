"""How a list of Anthropic messages is mended: roles alternate, results come first behind their calls, no block is empty.

Signed blocks are not looked into: they stay, or go with their whole message. A message whose blocks all stay is the very same
object afterwards, so that nothing of it can have changed.

The steps stand in the order in which each relies on those before it: blocks are objects with a type; none is misplaced or blank;
roles alternate, so that the message behind the calls is the one that answers them; only then calls and results are paired. A step
that takes something away may make work for an earlier one, which is why `repair` goes around until nothing is done.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING

from penstock.text.json_access import blocks, objects, parsed, role_of, string, type_of
from penstock.wires import placeholders
from penstock.wires.anthropic.codec import closing, read, text_message
from penstock.wires.anthropic.rules import (
    SERVER_CALLS,
    block_fault,
    ends_thinking,
    is_blank,
    is_misplaced,
    is_server_result,
    is_unsigned,
    newest_loop,
)
from penstock.wires.draft import keep_blocks, mend_content, orphan_message
from penstock.wires.entries import Text, ToolResult
from penstock.wires.message_list import content_fault, is_bad_block

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft


def _with_content(message: Json, content: list[Json]) -> Json:
    """Return the message with other blocks; the very same message where they are the same blocks."""
    held = message["content"]
    if isinstance(held, list) and len(held) == len(content) and all(a is b for a, b in zip(held, content, strict=True)):
        return message
    return {**message, "content": content}


def _mend_shapes(draft: RepairDraft) -> None:
    """Leave only messages of the wire's roles, with content, whose blocks are objects with what they cannot be without."""

    def result(place: int, block: Json) -> Json:
        content = block.get("content")
        if type_of(block) != "tool_result" or content is None or not content_fault(content):
            return block
        draft.note(place, "dropped parts of a result that are none")
        sound = [inner for inner in content if not is_bad_block(inner)] if isinstance(content, list) else ""
        return {**block, "content": sound}

    def change(place: int, message: Json) -> Json:
        if role_of(message) not in {"user", "assistant", "system"}:
            draft.note(place, "dropped, no message of this wire")
            return None
        message = mend_content(draft, place, message)
        content = message["content"]
        if isinstance(content, list):
            content = [result(place, block) for block in content]
            sound = keep_blocks(
                draft, place, content, lambda block: not block_fault(block), "calls or results without id"
            )
            message = _with_content(message, sound)
        elif content is None:
            return None
        return message

    draft.change_each(change)


def _mend_blocks(draft: RepairDraft) -> None:
    """Leave no block misplaced, unsigned or blank, and no input that is no object."""

    def block(place: int, role: str, held: Json) -> list[Json]:
        kind = type_of(held)
        # A result of the assistant, a call of the user: its words stay, its form goes.
        if is_misplaced(role, held):
            text = _result_text(held)
            draft.note(place, f"{'made text of' if text.strip() else 'dropped'} a {kind} of the {role}")
            return [{"type": "text", "text": placeholders.orphan(text)}] if text.strip() else []
        # Other servers write thinking without a signature. It could not be made up, and the turn is valid without the block.
        if is_unsigned(held):
            draft.note(place, "dropped thinking without its signature")
            return []
        if is_blank(held):
            draft.note(place, "dropped an empty block of text")
            return []
        if kind == "tool_use" and not isinstance(held.get("input"), dict):
            # Arguments that were stored as the text that they came in are read; anything else is kept under a name.
            draft.note(place, f"wrote the input of {held['id']!r} as an object")
            value = held.get("input")
            is_json, read = parsed(value) if isinstance(value, str) else (False, None)
            return [
                {
                    **held,
                    "input": read if is_json and isinstance(read, dict) else {} if value is None else {"input": value},
                }
            ]
        if kind == "tool_result" and any(map(is_blank, objects(held.get("content")))):
            draft.note(place, "dropped an empty block of text in a result")
            return [{**held, "content": [inner for inner in held["content"] if not is_blank(inner)] or ""}]
        return [held]

    def change(place: int, message: Json) -> Json:
        content = message["content"]
        if isinstance(content, list):
            made = [kept for held in content for kept in block(place, message["role"], held)]
            message = _with_content(message, made)
            content = made
        if not content or (isinstance(content, str) and not content.strip()):
            draft.note(place, "dropped, it says nothing")
            return None
        return message

    draft.change_each(change)


def _result_text(block: Json) -> str:
    """Return the words of a result, or of any other block that has some."""
    shown = read({"role": "user", "content": [block]})[1]
    return "\n".join(part.text for part in shown if isinstance(part, ToolResult | Text))


def _alternate_roles(draft: RepairDraft) -> None:
    """Merge neighbours of one role, and let a system message follow a user's."""
    rows: list[tuple[int, Json]] = []
    for place, held in draft.rows:
        message, before = held, role_of(rows[-1][1]) if rows else ""
        # An instruction is words whoever says them; where none may stand it is the user's, rather than lost.
        if message["role"] == "system" and before not in {"user", "system"}:
            draft.note(place, "made a user message of an instruction, which stands in no place for one")
            message = {**message, "role": "user"}
        # Only neighbours: what one role said twice in a row is one message to the provider, in the same order.
        if message["role"] == before and before != "system":
            draft.note(place, f"merged with the {before} message before it")
            joined = blocks(rows[-1][1]["content"]) + blocks(message["content"])
            rows[-1] = rows[-1][0], {**rows[-1][1], "content": joined}
        else:
            rows.append((place, message))
    if rows and rows[0][1]["role"] == "assistant":
        draft.actions.append("began with a user message")
        rows.insert(0, (-1, text_message("user", placeholders.BEGINNING)))
    draft.rows = rows


def _drop_unfinished_thinking(draft: RepairDraft) -> None:
    """Drop answers that end while the model thinks: cut off there, their signed blocks cannot be parted from the rest."""

    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not ends_thinking(message):
            return message
        draft.note(place, "dropped, it ends while the model thinks")
        return None

    draft.change_each(change)


def _pair_calls(draft: RepairDraft) -> None:
    """Put behind each message with calls a user's message that begins with their results."""
    # One pass from the beginning. For each call the first result behind it is taken from wherever it stands; it is looked up in
    # `places`, so that the pass is linear but for a binary search among the results of one id. When a user's message comes, the
    # results that wait for it stand first in it, and what it holds beside those that went to their calls follows. A result
    # before its call is left to `_other_blocks`: nobody can have answered what was not asked yet.
    #
    # `used` are results that a call has taken, as row and place in its content; `ever` are the ids that were called so far.
    places = _result_places(draft.rows)
    ever: set[str] = set()
    used: set[tuple[int, int]] = set()
    rows: list[tuple[int, Json]] = []
    results: list[Json] = []  # of the calls just before, not yet in a message
    for at, (place, held) in enumerate(draft.rows):
        message = held
        if message["role"] == "user":
            content = [*results, *_other_blocks(draft, place, at, message, used, ever)]
            if content:
                # Content that is a string has no results in it: with none waiting the message stays as it is, a string.
                is_changed = isinstance(message["content"], list) or bool(results)
                rows.append((place, _with_content(message, content) if is_changed else message))
            results = []
            continue
        # No message of the user follows the calls: their results get one of their own, -1 as its place since nobody sent it.
        if results:
            rows.append((-1, {"role": "user", "content": results}))
            results = []
        if message["role"] == "assistant" and isinstance(message["content"], list):
            message = _new_calls(draft, place, message, ever)
            calls = [block["id"] for block in message["content"] if type_of(block) == "tool_use"]
            results = _results_of(draft, place, at, calls, places, used)
            if not message["content"]:  # it held nothing but calls under ids of earlier ones
                continue
        rows.append((place, message))
    if results:
        rows.append((-1, {"role": "user", "content": results}))
    draft.rows = rows


def _result_places(rows: list[tuple[int, Json]]) -> dict[str, list[tuple[int, int]]]:
    """Return where results of each call stand: row and place in its content, in order."""
    # Looked up, instead of searched for anew by each message with calls: 10,000 calls without results would each look at all
    # that stands behind them.
    places: dict[str, list[tuple[int, int]]] = {}
    for at, (_, message) in enumerate(rows):
        for number, block in enumerate(objects(message["content"]) if message["role"] == "user" else ()):
            if type_of(block) == "tool_result":
                places.setdefault(block["tool_use_id"], []).append((at, number))
    return places


def _new_calls(draft: RepairDraft, place: int, message: Json, ever: set[str]) -> Json:
    """Return the message without calls whose id was used before."""
    content: list[Json] = []
    for block in message["content"]:
        if type_of(block) == "tool_use":
            if block["id"] in ever:
                draft.note(place, f"dropped a call that repeats the id {block['id']!r}")
                continue
            ever.add(block["id"])
        content.append(block)
    return _with_content(message, content)


def _results_of(
    draft: RepairDraft,
    place: int,
    at: int,
    calls: list[str],
    places: dict[str, list[tuple[int, int]]],
    used: set[tuple[int, int]],
) -> list[Json]:
    """Return the first result of each call from wherever it stands behind; a call without one is closed.

    Args:
        draft: the repair that this is part of.
        place: the message's place in the list as it came, for the sentences.
        at: its row, behind which results are looked for.
        calls: the ids that it calls.
        places: where results of each id stand, rows in their order.
        used: the results that were taken; those of these calls are added.

    Returns:
        The results in the order in which they stood, then those that say that there is none.
    """
    found: dict[str, tuple[int, int]] = {}
    for call in calls:
        behind = places.get(call, [])
        first = bisect_left(
            behind, (at + 1, 0)
        )  # places are in order, so that the first behind this row is found by halves
        if first < len(behind):
            found[call] = behind[first]
    used |= set(found.values())
    results: list[Json] = []
    for later, number in sorted(found.values()):
        content = draft.rows[later][1]["content"]
        if later != at + 1:
            draft.note(draft.rows[later][0], f"moved the result of {content[number]['tool_use_id']!r} to its call")
        elif any(type_of(before) != "tool_result" for before in content[:number]):
            draft.note(draft.rows[later][0], "put the results first")
        results.append(content[number])
    for call in calls:
        if call not in found:
            draft.note(place, f"closed call {call!r} with a result that says there is none")
            results.append(closing(call))
    return results


def _other_blocks(
    draft: RepairDraft, place: int, at: int, message: Json, used: set[tuple[int, int]], ever: set[str]
) -> list[Json]:
    """Return what a user's message holds beside the results that went to their calls."""
    rest: list[Json] = []
    for number, block in enumerate(blocks(message["content"])):
        if type_of(block) != "tool_result":
            rest.append(block)
        # A second result of a call that has its own goes. One whose call is gone becomes words: what it says is still true.
        elif (at, number) not in used:
            if block["tool_use_id"] in ever:
                draft.note(place, f"dropped a second result of {block['tool_use_id']!r}")
            elif (text := orphan_message(draft, place, _result_text(block))) is not None:
                rest.append({"type": "text", "text": text["content"]})
    return rest


def _pair_server_calls(draft: RepairDraft) -> None:
    """Leave results of the provider's own tools behind their calls, one each; only calls of the newest loop may be without.

    Neither half can be made up, since only the provider knows what its tools return: a half without the other goes.
    """
    # Which calls have results anywhere is known before the pass: whether a call stays is decided when it is met, before its
    # result can have been seen.
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
            kept = keep_blocks(draft, place, message["content"], keep, "halves of server tool calls")
            held = _with_content(message, kept)
        if held["content"]:
            rows.append((place, held))
    draft.rows = rows


def _trim_end(draft: RepairDraft) -> None:
    """Take white space off the end of a last message of the assistant."""
    if not draft.rows or draft.rows[-1][1]["role"] != "assistant":
        return
    place, message = draft.rows[-1]
    content = blocks(message["content"])
    text = string(content[-1].get("text")) if content and type_of(content[-1]) == "text" else ""
    if text != text.rstrip():
        # In the form in which it came, a string or blocks.
        draft.note(place, "took white space off the end")
        ended = {**content[-1], "text": text.rstrip()}
        plain = isinstance(message["content"], str)
        draft.rows[-1] = place, {**message, "content": text.rstrip() if plain else [*content[:-1], ended]}


REPAIRS = (
    _mend_shapes,
    _mend_blocks,
    _alternate_roles,
    _drop_unfinished_thinking,
    _pair_calls,
    _pair_server_calls,
    _trim_end,
)
"""The steps that mend a list of Anthropic messages, in their order."""
