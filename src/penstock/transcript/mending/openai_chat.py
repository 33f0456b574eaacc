"""How is a list of chat messages mended? Behind each message with calls its results and nothing else; no empty answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transcript import wording
from penstock.transcript.faults import CHAT_ROLES, call_fault, chat_fault
from penstock.transcript.invariants import says_nothing
from penstock.transcript.mending.draft import mended_content, orphan_text, sound_arguments
from penstock.transcript.shapes import as_json, blocks, field, objects, parsed, role_of, string, type_of

if TYPE_CHECKING:
    from penstock.transcript.mending.draft import Draft
    from penstock.transcript.shapes import Json


def _chat_shapes(draft: Draft) -> None:
    def change(place: int, message: Json) -> Json:
        if not isinstance(message, dict) or role_of(message) not in CHAT_ROLES:
            draft.did(place, f"dropped, {chat_fault(message)}")
            return None
        role = message["role"]
        if message.get("tool_calls") is not None and chat_fault({**message, "content": ""}):
            message = _sound_calls(draft, place, message)
        if (role == "tool" and not string(message.get("tool_call_id"))) or (
            role == "function" and not string(message.get("name"))
        ):
            return _orphan_message(draft, place, message)
        if message.get("content") is not None or role not in {"assistant", "function"}:
            message = mended_content(draft, place, message)
        if message.get("content") or isinstance(message.get("content"), str) or role in {"assistant", "function"}:
            return message
        if role == "tool":
            draft.did(place, "an empty result is an empty text")
            return {**message, "content": ""}
        draft.did(place, "dropped, it says nothing")
        return None

    draft.each(change)


def _sound_calls(draft: Draft, place: int, message: Json) -> Json:
    """Calls with type, id, name and arguments; what servers leave out or write as an object is written out."""
    sound: list[Json] = []
    for call in objects(message["tool_calls"]):
        made, arguments = call, field(call, "function", "arguments")
        if isinstance(call.get("function"), dict) and (not type_of(call) or isinstance(arguments, dict)):
            written = as_json(arguments) if isinstance(arguments, dict) else arguments
            made = {**call, "type": "function", "function": {**call["function"], "arguments": written}}
        if not call_fault(made):
            sound.append(made)
    draft.did(place, f"wrote out its calls: {len(sound)} sound ones" if sound else "dropped calls that are none")
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**message, "tool_calls": sound} if sound else rest


def _orphan_message(draft: Draft, place: int, message: Json) -> Json:
    """The text of a result whose call is not there, said by the user."""
    text = "\n".join(string(block.get("text")) for block in blocks(message.get("content")))
    return orphan_text(draft, place, text)


def _chat_partial(draft: Draft) -> None:
    """A last message whose arguments break off is one that never arrived whole."""
    if draft.rows and role_of(draft.rows[-1][1]) == "assistant":
        place, message = draft.rows[-1]
        written = [string(field(call, "function", "arguments")) for call in objects(message.get("tool_calls"))]
        if any(text.strip() and not parsed(text)[0] for text in written):
            draft.rows.pop()
            draft.did(place, "dropped, its last call breaks off")


def _chat_arguments(draft: Draft) -> None:
    def call(place: int, made: Json) -> Json:
        text = field(made, "function", "arguments")
        if not isinstance(text, str) or parsed(text)[0]:
            return made
        draft.did(place, f"wrote the arguments of {made['id']!r} as JSON")
        return {**made, "function": {**made["function"], "arguments": sound_arguments(text)}}

    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not message.get("tool_calls"):
            return message
        calls = [call(place, made) for made in message["tool_calls"]]
        return {**message, "tool_calls": calls}

    draft.each(change)


def _chat_calls(draft: Draft) -> None:
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
        caller = _without_repeats(draft, place, message)
        rows.append((place, caller))
        ids = [call["id"] for call in caller["tool_calls"]]
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


def _stray(draft: Draft, place: int, message: Json, is_repeat: bool, rows: list[tuple[int, Json]]) -> None:
    if is_repeat:
        draft.did(place, f"dropped a second result of {message['tool_call_id']!r}")
    elif (text := _orphan_message(draft, place, message)) is not None:
        rows.append((place, text))


def _follows_its_call(rows: list[tuple[int, Json]], message: Json) -> bool:
    before = rows[-1][1] if rows else None
    return role_of(before) == "assistant" and field(before, "function_call", "name") == message["name"]


def _without_repeats(draft: Draft, place: int, message: Json) -> Json:
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


def _chat_empty(draft: Draft) -> None:
    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not says_nothing(message):
            return message
        draft.did(place, "dropped, it says nothing")
        return None

    draft.each(change)


MENDS = (_chat_shapes, _chat_partial, _chat_arguments, _chat_calls, _chat_empty)
