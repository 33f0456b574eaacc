"""What is the form between two wires? Entries as turns that any wire can write.

A turn is an instruction, what a user said, or what an assistant said and called together with what came back. With n wires there
are n codecs that write turns, instead of n times n conversions. What one wire leaves open another may refuse (a call without its
result, two results of one call, unknown blocks), so turns are complete: any writer of turns writes a valid list.

Law: every call of an assistant's turn has exactly one result, in the order of the calls; a result whose call is missing becomes a
user's text. Leaves to others: formats of wires; reasoning, which means nothing to another provider.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from penstock.text.json_access import string
from penstock.wires import placeholders
from penstock.wires.entries import Media, Opaque, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.entries import Entry


@dataclass(slots=True)
class Instruction:
    """The text of a system or developer message, or of instructions outside the messages."""

    text: str


@dataclass(slots=True)
class UserTurn:
    """What a user said, in words and media."""

    parts: list[Text | Media]
    """At least one part, in order."""


@dataclass(slots=True)
class AssistantTurn:
    """What an assistant said and called, and what came back."""

    texts: list[str] = field(default_factory=list)
    """What an assistant said before it called, one text for each part; none is blank."""
    calls: list[ToolCall] = field(default_factory=list)
    """The calls of an assistant's turn, in order."""
    results: dict[int, ToolResult] = field(default_factory=dict)
    """The results by the position of their call in `calls`."""

    def answered_calls(self) -> list[tuple[ToolCall, ToolResult]]:
        """Return every call with its result, in the order of the calls; a call without one gets a result that says so."""
        closed = [ToolResult(call_id=call.id, text=placeholders.CLOSED, is_error=True) for call in self.calls]
        return [(call, self.results.get(place, closed[place])) for place, call in enumerate(self.calls)]


class CallIds:
    """Ids of calls for a wire that limits their characters and accepts each id only once.

    Anthropic's pattern is `^[a-zA-Z0-9_-]+$`. Local servers repeat the same ids in every turn; an appended number tells them apart.
    """

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, call_id: str) -> str:
        """Return an unused id that is as similar to `call_id` as possible."""
        # Bedrock accepts 64 characters: 60 leave room for the number.
        wanted = re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[:60] or "call"
        given, number = wanted, 1
        while given in self._given:
            number += 1
            given = f"{wanted}_{number}"
        self._given.add(given)
        return given


PortableTurn: TypeAlias = Instruction | UserTurn | AssistantTurn
"""One turn of a conversation, independent of any wire's format."""
# The positions of calls by id, oldest first: ids are not unique over a whole conversation.
_OpenCalls: TypeAlias = dict[str, list[tuple[AssistantTurn, int]]]


def leading_instructions(turns: Sequence[PortableTurn]) -> tuple[str, Sequence[PortableTurn]]:
    """Return the instructions before anything else as one text, and the turns after them.

    A later instruction stays in its place: at the top it would apply to what was said before it.
    """
    texts: list[str] = []
    for turn in turns:
        if not isinstance(turn, Instruction):
            break
        texts.append(turn.text)
    return "\n\n".join(texts), turns[len(texts) :]


def add_to_runs(runs: list[tuple[str, list[Json]]], role: str, content: list[Json]) -> None:
    """Add content to the last run of one role, or to a new one if another role speaks."""
    if content and runs[-1][0] != role:
        runs.append((role, []))
    runs[-1][1].extend(content)


def portable_turns(entries: Sequence[Entry]) -> list[PortableTurn]:
    """Return what entries say and do as turns, independent of their wire's format.

    Args:
        entries: what a transcript shows, on any wire; the list need not be valid.

    Returns:
        Turns in the order of the entries. Entries without words, calls or media leave no turn.
    """
    turns: list[PortableTurn] = []
    open_calls: _OpenCalls = {}
    for entry in entries:
        if entry.role == "system":
            if entry.text.strip():
                turns.append(Instruction(entry.text))
        elif entry.role == "assistant":
            _add_assistant_entry(entry, turns, open_calls)
        else:
            _add_user_entry(entry, turns, open_calls)
    return [turn for turn in turns if not isinstance(turn, AssistantTurn) or turn.texts or turn.calls]


def _add_assistant_entry(entry: Entry, turns: list[PortableTurn], open_calls: _OpenCalls) -> None:
    """Add what an assistant's entry says and calls to its turn; its calls are open from then on."""
    turn = turns[-1] if turns else None
    # Consecutive messages of the assistant are one turn until a result comes: what is said after it is a new answer.
    if not isinstance(turn, AssistantTurn) or turn.results:
        turn = AssistantTurn()
        turns.append(turn)
    for part in entry.parts:
        match part:
            case Text(text) if text.strip():
                turn.texts.append(text)
            case ToolCall():
                open_calls.setdefault(part.id, []).append((turn, len(turn.calls)))
                turn.calls.append(part)
            case Media():
                turn.texts.append(placeholders.not_carried(part.kind, part.bytes_estimate))
            case Opaque(raw):
                turn.texts.append(placeholders.not_carried(_type_name(raw)))
            case ToolResult():  # of a tool that the provider itself ran
                turn.texts.append(placeholders.not_carried("tool result"))
            case _:
                pass


def _add_user_entry(entry: Entry, turns: list[PortableTurn], open_calls: _OpenCalls) -> None:
    """Assign results to their calls, and add the rest of a user's entry as a turn of the user."""
    words: list[Text | Media] = []
    for part in entry.parts:
        match part:
            case ToolResult():
                waiting = [
                    (turn, place) for turn, place in open_calls.get(part.call_id, ()) if place not in turn.results
                ]
                # The newest open call of that id, since local servers repeat the same ids in every turn. If all calls of that id
                # have their results already, this is a second one and is left out; if there never was one, it is a user's words.
                if waiting:
                    turn, place = waiting[-1]
                    turn.results[place] = _without_opaque_parts(part)
                elif not open_calls.get(part.call_id) and part.text.strip():
                    words.append(Text(placeholders.orphan(part.text)))
            case Text() | Media():
                words.append(part)
            case Opaque(raw):
                words.append(Text(placeholders.not_carried(_type_name(raw))))
            case _:
                pass
    if words:
        turns.append(UserTurn(words))


def _without_opaque_parts(result: ToolResult) -> ToolResult:
    """Return the result with a name in place of each part that only its own wire understands."""
    if not any(isinstance(part, Opaque) for part in result.parts):
        return result
    parts = [Text(placeholders.not_carried(_type_name(p.raw))) if isinstance(p, Opaque) else p for p in result.parts]
    return replace(result, parts=tuple(parts), text="\n".join(part.text for part in parts if isinstance(part, Text)))


def _type_name(raw: object) -> str:
    """Return the wire's name for a block that only it understands."""
    if not isinstance(raw, dict):
        return "item"
    return string(raw.get("type")) or (next(iter(raw)) if len(raw) == 1 else "item")
