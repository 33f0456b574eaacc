"""How is a list of Gemini's contents mended? Calls follow the user, their responses follow them, every part holds something.

A part with a thought signature is not inspected: it stays, or goes with its whole content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, parsed, string
from penstock.wires import placeholders
from penstock.wires.batches import pair_batches
from penstock.wires.draft import keep_blocks
from penstock.wires.gemini.codec import calls_in, parts_of, response_text, responses_in, role_in, text_message
from penstock.wires.gemini.keys import get, spelling
from penstock.wires.gemini.rules import FORM, content_fault, is_blank, is_misplaced, misnamed, part_fault

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft


def _mend_shapes(draft: RepairDraft) -> None:
    def change(place: int, content: Json) -> Json:
        # google-genai accepts a text as a content and, in the next branch, as parts; the REST body accepts neither.
        if isinstance(content, str) and content:
            draft.note(place, "made a content of a text")
            return text_message("user", content)
        fault = content_fault(content)
        if role_in(content) is None:
            draft.note(place, f"dropped, {fault}")
            return None
        if not fault:
            return content
        parts = content["parts"]
        if isinstance(parts, str) or (isinstance(parts, dict) and not part_fault(parts)):
            draft.note(place, "made a part of what was none")
            return {**content, "parts": [{"text": parts} if isinstance(parts, str) else parts]}
        mended = [_mended_part(draft, place, part) for part in parts] if isinstance(parts, list) else []
        sound = keep_blocks(draft, place, mended, lambda part: not part_fault(part), "parts that are none")
        if not isinstance(parts, list):
            draft.note(place, "dropped parts that are none")
        return {**content, "parts": sound}

    draft.change_each(change)


def _mended_part(draft: RepairDraft, place: int, part: Json) -> Json:
    """Return a part whose response is an object and whose ids are text; a response that does not say whose it is becomes a text."""
    for name in ("functionCall", "functionResponse"):
        held = get(part, name)
        if isinstance(held, dict) and not isinstance(held.get("id"), str | None):
            draft.note(place, "left out an id that is not text")
            part = {**part, spelling(part, name): {key: value for key, value in held.items() if key != "id"}}
    response = get(part, "functionResponse")
    if not part_fault(part) or not isinstance(response, dict):
        return part
    held = get(response, "response")
    if not string(get(response, "name")):
        text = response_text(response)
        if held is None or not text.strip():
            return part
        draft.note(place, "made text of a response without name")
        return {"text": placeholders.orphan(text)}
    draft.note(place, "wrote a response as an object")
    # In the spelling that is there: one key in two spellings would be the same field twice.
    key = spelling(part, "functionResponse")
    written = {} if held is None else {"output": held if isinstance(held, str) else as_json(held)}
    return {**part, key: {**response, "response": written}}


def _mend_parts(draft: RepairDraft) -> None:
    """Leave no part misplaced or blank, no arguments that are not an object, and no content without parts."""

    def mended(place: int, content: Json, part: Json) -> list[Json]:
        role = role_in(content)
        if is_misplaced(role, part):
            text = response_text(get(part, "functionResponse")) if role == "assistant" else ""
            draft.note(place, f"{'made text of a response' if text.strip() else 'dropped a call'} of the wrong role")
            return [{"text": placeholders.orphan(text)}] if text.strip() else []
        if is_blank(part):
            draft.note(place, "dropped an empty part of text")
            return []
        key = spelling(part, "functionCall")
        arguments = get(part.get(key), "args")
        if arguments is not None and not isinstance(arguments, dict):
            draft.note(place, f"wrote the arguments of {get(part[key], 'name')!r} as an object")
            is_json, value = parsed(arguments) if isinstance(arguments, str) else (False, None)
            written = value if is_json and isinstance(value, dict) else {"input": arguments}
            return [{**part, key: {**part[key], "args": written}}]
        return [part]

    def change(place: int, content: Json) -> Json:
        held = parts_of(content)
        made = [kept for part in held for kept in mended(place, content, part)]
        if not made:
            draft.note(place, "dropped, it says nothing")
            return None
        # By identity, so that a content in which nothing changed stays the same object.
        is_same = len(made) == len(held) and all(one is other for one, other in zip(made, held, strict=True))
        return content if is_same else {**content, "parts": made}

    draft.change_each(change)


def _mend_names(draft: RepairDraft) -> None:
    """Give responses the name of the call whose id they state; if the right one is there too, the misnamed one is dropped."""
    wrong: dict[int, dict[int, str]] = {}
    for index, number, name in misnamed(content for _, content in draft.rows):
        wrong.setdefault(index, {})[number] = name
    for index, names in wrong.items():
        place, content = draft.rows[index]
        held = parts_of(content)
        right = {get(get(part, "functionResponse"), "id") for number, part in enumerate(held) if number not in names}
        parts: list[Json] = []
        for number, part in enumerate(held):
            key = spelling(part, "functionResponse")
            if number not in names:
                parts.append(part)
            elif part[key]["id"] in right:
                draft.note(place, f"dropped a response of another name under the id {part[key]['id']!r}")
            else:
                draft.note(place, f"named a response after its call, {names[number]!r}")
                parts.append({**part, key: {**part[key], "name": names[number]}})
        draft.rows[index] = place, {**content, "parts": parts}


def _join_turns(draft: RepairDraft) -> None:
    """Join calls with the model's content before them, and responses with those before them; begin with the user."""
    rows: list[tuple[int, Json]] = []
    joined: list[Json] = []  # the parts of the last row, once something was joined to it
    before, had_responses = None, False
    for place, content in draft.rows:
        role, parts = role_in(content), parts_of(content)
        calls = role == "assistant" and bool(calls_in(content))
        has_responses = role == "user" and bool(responses_in(content))
        # Clients store words and calls of one answer, or the responses to one batch, as separate contents. The API looks
        # only at the content right before a call and right after it.
        if (calls and before == "assistant") or (has_responses and had_responses):
            draft.note(place, "joined with the content before it, which is the same turn")
            joined = joined or [*parts_of(rows[-1][1])]
            joined += parts
            rows[-1] = rows[-1][0], {**rows[-1][1], "parts": joined}
            continue
        if calls and before is None:
            draft.actions.append("began with a content of the user")
            rows.append((-1, text_message("user", placeholders.BEGINNING)))
        rows.append((place, content))
        joined, before, had_responses = [], role, has_responses
    draft.rows = rows


# Shapes first: the other steps read only what has one. Pairs last: joined turns have all calls and responses of a batch in
# one content each, which pairing compares.
REPAIRS = (_mend_shapes, _mend_parts, _join_turns, _mend_names, pair_batches(FORM))
