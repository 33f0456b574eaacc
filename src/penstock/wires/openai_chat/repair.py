"""How is a list of chat messages mended? Each message with calls is followed by its results only; no answer is empty.

The steps are ordered so that each can rely on those before it: messages have a role of the wire, and calls an id and a name; a
broken end is dropped before its arguments could be mended, since it never was a call; then calls and results are paired.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, blocks, field, objects, parsed, role_of, string, type_of
from penstock.wires import placeholders
from penstock.wires.draft import as_json_arguments, mend_content, orphan_message, with_own_parts
from penstock.wires.openai_chat.rules import ROLES, is_bad_call, is_misplaced, message_fault, says_nothing

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft


def _mend_shapes(draft: RepairDraft) -> None:
    """Leave only messages of the wire's roles, with content where they need it; a result without an id becomes words."""

    def change(place: int, message: Json) -> Json:
        if not isinstance(message, dict) or role_of(message) not in ROLES:
            draft.note(place, f"dropped, {message_fault(message)}")
            return None
        role = message["role"]
        if role != "assistant" and message.get("tool_calls") is not None:
            draft.note(place, f"dropped calls of the {role}")
            message = {key: value for key, value in message.items() if key != "tool_calls"}
        # `content` stands in for the message's own: only a fault of the calls is looked for here.
        if message.get("tool_calls") is not None and message_fault({**message, "content": ""}):
            message = _with_sound_calls(draft, place, message)
        if (role == "tool" and not string(message.get("tool_call_id"))) or (
            role == "function" and not string(message.get("name"))
        ):
            return _result_as_words(draft, place, message)
        if message.get("content") is not None or role not in {"assistant", "function"}:
            held = mend_content(draft, place, message)
            message = with_own_parts(draft, place, held, role, "content", is_misplaced, "text")
        content = message.get("content")
        may_lack = role == "assistant" or (role == "function" and content is None)
        if content or isinstance(content, str) or may_lack:
            return message
        if role in {"tool", "function"}:
            draft.note(place, "an empty result is an empty text")
            return {**message, "content": ""}
        draft.note(place, "dropped, it says nothing")
        return None

    draft.change_each(change)


def _with_sound_calls(draft: RepairDraft, place: int, message: Json) -> Json:
    """Return the message with calls that have type, id, name and arguments; arguments given as an object become JSON text."""
    sound: list[Json] = []
    for call in objects(message["tool_calls"]):
        mended, arguments = call, field(call, "function", "arguments")
        # Ollama's own API has arguments as an object and no type; histories stored from it end up here.
        if isinstance(call.get("function"), dict) and (not type_of(call) or isinstance(arguments, dict)):
            written = as_json(arguments) if isinstance(arguments, dict) else arguments
            mended = {**call, "type": "function", "function": {**call["function"], "arguments": written}}
        if not is_bad_call(mended):
            sound.append(mended)
    draft.note(place, f"rewrote its calls: {len(sound)} valid" if sound else "dropped its calls: none is valid")
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**message, "tool_calls": sound} if sound else rest


def _result_as_words(draft: RepairDraft, place: int, message: Json) -> Json:
    """Return a result without its call as a message of the user; None if it says nothing."""
    text = "\n".join(string(block.get("text")) for block in blocks(message.get("content")))
    return orphan_message(draft, place, text)


def _drop_broken_end(draft: RepairDraft) -> None:
    """Drop a last message whose arguments break off: it never arrived completely."""
    # Only the last: in the middle of a list such a call was answered, and its arguments are turned into JSON instead.
    if draft.rows and role_of(draft.rows[-1][1]) == "assistant":
        place, message = draft.rows[-1]
        written = [string(field(call, "function", "arguments")) for call in objects(message.get("tool_calls"))]
        if any(text.strip() and not parsed(text)[0] for text in written):
            draft.rows.pop()
            draft.note(place, "dropped, its last call breaks off")


def _mend_arguments(draft: RepairDraft) -> None:
    """Leave no arguments that are not JSON: servers that parse them refuse the whole request for one call long past."""

    def mended_call(place: int, call: Json) -> Json:
        text = field(call, "function", "arguments")
        if not isinstance(text, str) or parsed(text)[0]:
            return call
        draft.note(place, f"wrote the arguments of {call['id']!r} as JSON")
        return {**call, "function": {**call["function"], "arguments": as_json_arguments(text)}}

    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not message.get("tool_calls"):
            return message
        return {**message, "tool_calls": [mended_call(place, call) for call in message["tool_calls"]]}

    draft.change_each(change)


def _pair_calls(draft: RepairDraft) -> None:
    """Put after each message with calls its results and nothing else."""
    # A result goes to the nearest message before it that calls under its id: local servers repeat the same ids in every turn, so a
    # forward search would give one call the results of another. One backward pass finds, for every message with calls, the first
    # result of each id after it that no later call claims; so the work is linear in the list, not quadratic.
    #
    # `claimed` holds for each row with calls the rows of their results, `taken` all of these rows, `asked` the ids so far, and
    # `before` for each row the last one that is not a result: a result right after its calls is not reported as moved.
    claimed = _first_results(draft.rows)
    taken = {at for results in claimed.values() for at in results.values()}
    rows: list[tuple[int, Json]] = []
    asked: set[str] = set()
    before = _last_non_result_before(draft.rows)
    for at, (place, message) in enumerate(draft.rows):
        role = role_of(message)
        if role == "tool":
            if at not in taken:  # a taken one was written after its call
                _add_stray_result(draft, place, message, message["tool_call_id"] in asked, rows)
            continue
        if role == "function" and not _follows_its_call(rows, message):
            if (words := _result_as_words(draft, place, message)) is not None:
                rows.append((place, words))
            continue
        if role != "assistant" or not message.get("tool_calls"):
            rows.append((place, message))
            continue
        caller = _without_repeated_ids(draft, place, message)
        rows.append((place, caller))
        ids = [call["id"] for call in caller["tool_calls"]]
        asked |= set(ids)
        results = claimed.get(at, {})
        for found in sorted(results.values()):
            if before[found] != at:  # something else is in between
                result_place, result = draft.rows[found]
                draft.note(result_place, f"moved the result of {result['tool_call_id']!r} to its call")
            rows.append(draft.rows[found])
        for missing in ids:
            if missing not in results:
                draft.note(place, f"closed call {missing!r} with a result that says there is none")
                rows.append((-1, {"role": "tool", "tool_call_id": missing, "content": placeholders.CLOSED}))
    draft.rows = rows


def _first_results(rows: list[tuple[int, Json]]) -> dict[int, dict[str, int]]:
    """Return for each message with calls where the first result of each of its ids is before that id is called again."""
    # Going backwards, `first_behind` holds the nearest result of each id after the row; a message that calls an id removes it, so
    # that an earlier call of the same id finds only results between the two.
    claimed: dict[int, dict[str, int]] = {}
    first_behind: dict[str, int] = {}
    for at in range(len(rows) - 1, -1, -1):
        message = rows[at][1]
        if role_of(message) == "tool":
            first_behind[message["tool_call_id"]] = at
        elif role_of(message) == "assistant":
            ids = {string(call.get("id")) for call in objects(message.get("tool_calls"))}
            claimed[at] = {call: first_behind.pop(call) for call in ids if call in first_behind}
    return claimed


def _last_non_result_before(rows: list[tuple[int, Json]]) -> list[int | None]:
    """Return for each position the last position before it that holds no result; None if there is none."""
    last: int | None = None
    places = []
    for at, (_, message) in enumerate(rows):
        places.append(last)
        if role_of(message) != "tool":
            last = at
    return places


def _add_stray_result(
    draft: RepairDraft, place: int, message: Json, is_repeat: bool, rows: list[tuple[int, Json]]
) -> None:
    """Put the words of an unclaimed result into `rows`, unless its call has another one (`is_repeat`)."""
    if is_repeat:
        draft.note(place, f"dropped a second result of {message['tool_call_id']!r}")
    elif (words := _result_as_words(draft, place, message)) is not None:
        rows.append((place, words))


def _follows_its_call(rows: list[tuple[int, Json]], message: Json) -> bool:
    """Whether a result in the old form comes right after the call of its name."""
    before = rows[-1][1] if rows else None
    return role_of(before) == "assistant" and field(before, "function_call", "name") == message["name"]


def _without_repeated_ids(draft: RepairDraft, place: int, message: Json) -> Json:
    """Return a message whose calls have distinct ids: of two with the same id, the first stays."""
    calls = message["tool_calls"]
    first = {call["id"]: call for call in reversed(calls)}
    sound = [call for call in calls if first[call["id"]] is call]
    if len(sound) == len(calls):
        return message
    draft.note(place, "dropped calls that repeat an id")
    return {**message, "tool_calls": sound}


def _drop_empty(draft: RepairDraft) -> None:
    """Drop completely empty answers, left by a stream that ended before it began."""

    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not says_nothing(message):
            return message
        draft.note(place, "dropped, it says nothing")
        return None

    draft.change_each(change)


REPAIRS = (_mend_shapes, _drop_broken_end, _mend_arguments, _pair_calls, _drop_empty)
"""The steps that mend a list of chat messages, in order."""
