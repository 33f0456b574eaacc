"""How is a list of items mended? Each call is there once with one output after it, reasoning with the item that it led to.

The steps are ordered so that each can rely on those before it: items have a type and their fields; a call that breaks off at the
end is dropped before its arguments could be mended; calls and outputs are paired; reasoning comes last, since what it led to may be
gone by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, parsed, role_of, string
from penstock.wires.draft import as_json_arguments, mend_content, orphan_message, with_own_parts
from penstock.wires.entries import ToolResult
from penstock.wires.openai_responses.codec import CALLS, OUTPUTS, ROLES, call_id, closing, kind_of, read
from penstock.wires.openai_responses.rules import PARTS, holder, is_misplaced, item_fault, lone_reasoning

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft


def _mend_shapes(draft: RepairDraft) -> None:
    """Leave only complete items; an output without the id of its call becomes words."""

    def change(place: int, item: Json) -> Json:
        fault = item_fault(item)
        kind = kind_of(item)
        if kind == "message" and role_of(item) in ROLES:
            message = _with_own_parts(draft, place, mend_content(draft, place, item))
            if isinstance(message["content"], list | str):
                return message
        if not fault:
            return _with_own_parts(draft, place, item) if holder(item)[1] == "output" else item
        if kind in PARTS and string(item.get("text")).strip():
            draft.note(place, f"made a message of a {kind}")
            return {"role": "user", "content": item["text"]}
        if kind == "function_call" and isinstance(item.get("arguments"), dict):
            mended = {**item, "arguments": as_json(item["arguments"])}
            if not item_fault(mended):
                draft.note(place, f"wrote the arguments of {call_id(item)!r} as JSON")
                return mended
        elif kind in OUTPUTS:
            if not call_id(item):
                return orphan_message(draft, place, _output_text(item))
            draft.note(place, "wrote the output as text")
            return {**item, "output": "" if item.get("output") is None else as_json(item["output"])}
        draft.note(place, f"dropped, {fault}")
        return None

    draft.change_each(change)


def _with_own_parts(draft: RepairDraft, place: int, message: Json) -> Json:
    """Return the message or output with its words as parts of its role's kind, without other parts that it may not hold."""
    role, key = holder(message)
    kind = "output_text" if role == "assistant" else "input_text"
    return with_own_parts(draft, place, message, role, key, is_misplaced, kind)


def _output_text(item: Json) -> str:
    """Return the words of an output of any kind."""
    return "\n".join(part.text for part in read(item)[1] if isinstance(part, ToolResult))


def _drop_broken_end(draft: RepairDraft) -> None:
    """Drop a last call whose arguments break off: it never arrived completely."""
    if draft.rows and kind_of(draft.rows[-1][1]) == "function_call":
        place, item = draft.rows[-1]
        if item["arguments"].strip() and not parsed(item["arguments"])[0]:
            draft.rows.pop()
            draft.note(place, "dropped, the call breaks off")


def _mend_arguments(draft: RepairDraft) -> None:
    """Leave no function arguments that are not JSON."""

    def change(place: int, item: Json) -> Json:
        if kind_of(item) != "function_call" or parsed(item["arguments"])[0]:
            return item
        draft.note(place, f"wrote the arguments of {item['call_id']!r} as JSON")
        return {**item, "arguments": as_json_arguments(item["arguments"])}

    draft.change_each(change)


def _pair_calls(draft: RepairDraft) -> None:
    """Keep each call once, with one output after it."""
    # One pass over the items, after the positions of calls and outputs are found. An output after its call stays where it is,
    # however far away, since this API allows it. One before its call, or one that has to be written, waits for the end of the
    # assistant's run (`waiting`), so that parallel calls and the reasoning before them are not separated: nothing may come between
    # reasoning and the call that it led to.
    calls, outputs = _items_by_call(draft.rows)
    rows: list[tuple[int, Json]] = []
    waiting: list[tuple[int, Json]] = []
    is_elsewhere = draft.continues  # whether a call may be in what the provider keeps
    for at, (place, item) in enumerate(draft.rows):
        name = _call_name(item)
        if kind_of(item) in OUTPUTS:
            # In this order: the only output of its name, after its call, with a call at all.
            kept: Json = item
            if outputs[name] != at:
                draft.note(place, f"dropped a second output of {call_id(item)!r}")
                kept = None
            elif calls.get(name, -1) > at:
                kept = None  # it goes after its call, below
            elif name not in calls and not is_elsewhere:
                kept = orphan_message(draft, place, _output_text(item))
            if kept is not None:
                rows += [*_released(waiting), (place, kept)]
            continue
        if read(item)[0] != "assistant":
            rows += _released(waiting)
        is_elsewhere = is_elsewhere or kind_of(item) == "item_reference"
        if not name:
            rows.append((place, item))
            continue
        if calls[name] != at:
            draft.note(place, f"dropped a call that repeats the id {call_id(item)!r}")
            continue
        # A screen or an approval cannot be made up: such a call is dropped instead of closed.
        form = CALLS[kind_of(item)]
        answer = outputs.get(name)
        if answer is None and form.must_answer and not form.can_close:
            draft.note(place, f"dropped call {call_id(item)!r}, which has no output")
            continue
        rows.append((place, item))
        if answer is None and form.must_answer:
            draft.note(place, f"closed call {call_id(item)!r} with an output that says there is none")
            waiting.append((-1, closing(item)))
        elif answer is not None and answer < at:
            draft.note(draft.rows[answer][0], f"moved the output of {call_id(item)!r} after its call")
            waiting.append(draft.rows[answer])
    draft.rows = rows + waiting


def _released(waiting: list[tuple[int, Json]]) -> list[tuple[int, Json]]:
    """Return what waited for the end of an assistant's run, and empty the list."""
    rows = list(waiting)
    waiting.clear()
    return rows


def _call_name(item: Json) -> str:
    """Return kind and id of a call, and the same for its output; empty for other items."""
    kind = kind_of(item)
    return f"{OUTPUTS.get(kind, kind)} {call_id(item)}" if kind in CALLS or kind in OUTPUTS else ""


def _items_by_call(rows: list[tuple[int, Json]]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the first position of each call, and of its output: the first after the call, else the first of all."""
    calls: dict[str, int] = {}
    outputs: dict[str, int] = {}
    for at, (_, item) in enumerate(rows):
        if kind_of(item) in CALLS:
            calls.setdefault(_call_name(item), at)
    for at, (_, item) in enumerate(rows):
        if kind_of(item) in OUTPUTS:
            name = _call_name(item)
            held = outputs.setdefault(name, at)
            # The first of all comes before its call, this one after it: this one is the answer.
            if held < calls.get(name, -1) < at:
                outputs[name] = at
    return calls, outputs


def _drop_lone_reasoning(draft: RepairDraft) -> None:
    """Drop reasoning that nothing of the assistant's follows: the API refuses it, and nothing can replace the missing item."""
    alone = set(lone_reasoning(draft.messages))
    for at in sorted(alone):
        draft.note(draft.rows[at][0], "dropped reasoning without the item that it led to")
    draft.rows = [row for at, row in enumerate(draft.rows) if at not in alone]


REPAIRS = (_mend_shapes, _drop_broken_end, _mend_arguments, _pair_calls, _drop_lone_reasoning)
"""The steps that mend a list of items, in order."""
