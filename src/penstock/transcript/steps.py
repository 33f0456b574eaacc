"""What happened, whatever the wire? Entries as steps: instructions, what a user said, what an assistant did with its results.

The form between two wires. Law: every call of a step has exactly one result, in the order of the calls; a result whose
call is not there is a user's text. Keeps out: shapes of wires; reasoning, which means nothing elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from penstock.transcript import wording
from penstock.transcript.entries import Media, Opaque, Text, ToolCall, ToolResult
from penstock.transcript.shapes import string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.transcript.entries import Entry


@dataclass(slots=True)
class Instruction:
    """What a system or a developer message says."""

    text: str


@dataclass(slots=True)
class Said:
    """What a user said."""

    parts: list[Text | Media]


@dataclass(slots=True)
class Did:
    """What an assistant said and called, and what came back."""

    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: dict[int, ToolResult] = field(default_factory=dict)
    """By the place of the call."""

    def ordered(self) -> list[tuple[ToolCall, ToolResult]]:
        """Every call with its result; one that is missing is closed."""
        closed = [ToolResult(call_id=call.id, text=wording.CLOSED, is_error=True) for call in self.calls]
        return [(call, self.results.get(place, closed[place])) for place, call in enumerate(self.calls)]


Step: TypeAlias = Instruction | Said | Did


def steps(entries: Sequence[Entry]) -> list[Step]:
    """The steps of what is visible."""
    made: list[Step] = []
    open_calls: dict[str, list[tuple[Did, int]]] = {}
    for entry in entries:
        if entry.role == "system":
            if entry.text.strip():
                made.append(Instruction(entry.text))
        elif entry.role == "assistant":
            _did(entry, made, open_calls)
        else:
            _said(entry, made, open_calls)
    return [step for step in made if not isinstance(step, Did) or step.texts or step.calls]


def _did(entry: Entry, made: list[Step], open_calls: dict[str, list[tuple[Did, int]]]) -> None:
    step = made[-1] if made else None
    if not isinstance(step, Did) or step.results:
        step = Did()
        made.append(step)
    for part in entry.parts:
        match part:
            case Text(text) if text.strip():
                step.texts.append(text)
            case ToolCall():
                open_calls.setdefault(part.id, []).append((step, len(step.calls)))
                step.calls.append(part)
            case Media():
                step.texts.append(wording.not_carried(part.kind, part.bytes_estimate))
            case Opaque(raw):
                step.texts.append(wording.not_carried(name_of(raw)))
            case _:
                pass


def _said(entry: Entry, made: list[Step], open_calls: dict[str, list[tuple[Did, int]]]) -> None:
    said: list[Text | Media] = []
    for part in entry.parts:
        match part:
            case ToolResult():
                waiting = [
                    (step, place) for step, place in open_calls.get(part.call_id, ()) if place not in step.results
                ]
                if waiting:  # the newest call of that id: local servers give the same ids in every turn
                    step, place = waiting[-1]
                    step.results[place] = _portable(part)
                elif not open_calls.get(part.call_id) and part.text.strip():
                    said.append(Text(wording.orphan(part.text)))
            case Text() | Media():
                said.append(part)
            case Opaque(raw):
                said.append(Text(wording.not_carried(name_of(raw))))
            case _:
                pass
    if said:
        made.append(Said(said))


def _portable(result: ToolResult) -> ToolResult:
    """The result with a name in place of what only its own wire understands."""
    if not any(isinstance(part, Opaque) for part in result.parts):
        return result
    shown = [Text(wording.not_carried(name_of(p.raw))) if isinstance(p, Opaque) else p for p in result.parts]
    return replace(result, parts=tuple(shown), text="\n".join(part.text for part in shown if isinstance(part, Text)))


def name_of(raw: object) -> str:
    """What to call something that is not understood."""
    return string(raw.get("type")) or "item" if isinstance(raw, dict) else "item"
