"""How is a list of items mended? Each call once with one output behind it; reasoning with the item that it led to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transcript import openai_responses
from penstock.transcript.entries import ToolResult
from penstock.transcript.faults import item_fault
from penstock.transcript.invariants import followed
from penstock.transcript.mending.draft import mended_content, orphan_text, sound_arguments
from penstock.transcript.openai_responses import CALLS, OUTPUTS, call_id, kind_of
from penstock.transcript.shapes import as_json, parsed, role_of

if TYPE_CHECKING:
    from penstock.transcript.mending.draft import Draft
    from penstock.transcript.shapes import Json


def _item_shapes(draft: Draft) -> None:
    def change(place: int, item: Json) -> Json:
        fault = item_fault(item)
        if not fault:
            return item
        kind = kind_of(item)
        if kind == "message" and role_of(item) in openai_responses.ROLES:
            mended = mended_content(draft, place, item)
            if isinstance(mended["content"], list):
                return mended
        elif kind == "function_call" and isinstance(item.get("arguments"), dict):
            made = {**item, "arguments": as_json(item["arguments"])}
            if not item_fault(made):
                draft.did(place, f"wrote the arguments of {call_id(item)!r} as JSON")
                return made
        elif kind in OUTPUTS:
            if not call_id(item):
                return orphan_text(draft, place, _output_text(item))
            draft.did(place, "wrote the output as text")
            return {**item, "output": "" if item.get("output") is None else as_json(item["output"])}
        draft.did(place, f"dropped, {fault}")
        return None

    draft.each(change)


def _output_text(item: Json) -> str:
    return "\n".join(part.text for part in openai_responses.read(item)[1] if isinstance(part, ToolResult))


def _item_partial(draft: Draft) -> None:
    if draft.rows and kind_of(draft.rows[-1][1]) == "function_call":
        place, item = draft.rows[-1]
        if item["arguments"].strip() and not parsed(item["arguments"])[0]:
            draft.rows.pop()
            draft.did(place, "dropped, the call breaks off")


def _item_arguments(draft: Draft) -> None:
    def change(place: int, item: Json) -> Json:
        if kind_of(item) != "function_call" or parsed(item["arguments"])[0]:
            return item
        draft.did(place, f"wrote the arguments of {item['call_id']!r} as JSON")
        return {**item, "arguments": sound_arguments(item["arguments"])}

    draft.each(change)


def _item_calls(draft: Draft) -> None:
    """Each call once, with one output behind it."""
    calls, outputs = _items_by_call(draft.rows)
    rows: list[tuple[int, Json]] = []
    waiting: list[tuple[int, Json]] = []
    elsewhere = draft.continues
    for at, (place, item) in enumerate(draft.rows):
        name = _call_name(item)
        if kind_of(item) in OUTPUTS:
            kept: Json = item
            if outputs[name] != at:
                draft.did(place, f"dropped a second output of {call_id(item)!r}")
                kept = None
            elif calls.get(name, -1) > at:
                kept = None  # it goes behind its call, below
            elif name not in calls and not elsewhere:
                kept = orphan_text(draft, place, _output_text(item))
            if kept is not None:
                rows += [*_taken(waiting), (place, kept)]
            continue
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


def _item_reasoning(draft: Draft) -> None:
    items = draft.messages
    alone = {at for at, item in enumerate(items) if kind_of(item) == "reasoning" and not followed(items, at)}
    for at in alone:
        draft.did(draft.rows[at][0], "dropped reasoning without the item that it led to")
    draft.rows = [row for at, row in enumerate(draft.rows) if at not in alone]


MENDS = (_item_shapes, _item_partial, _item_arguments, _item_calls, _item_reasoning)
