"""What does the request show? The question, the tools that answer it, and what was found: in results, and in notes of its own.

A model of this kind has no memory but the conversation. Results may be cleared, so every message of it repeats what it found; a
note counts for the question that it names. Law: a pure function of the request, the same on each wire. Keeps out: how it is
written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.context.handoff import asked_in
from penstock.models.local import question as asked
from penstock.models.local import weighing, wording
from penstock.models.local.evidence import Evidence, kept_text
from penstock.text.calls import handle_in
from penstock.text.json_access import field as field_of
from penstock.text.json_access import objects, string
from penstock.text.notices import without_report
from penstock.wires import load_request

if TYPE_CHECKING:
    from penstock.models.local.question import Question
    from penstock.text.json_access import Json
    from penstock.wires import Entry, ToolCall, ToolResult

_NEEDED = {
    "search": ("pattern", "path"),
    "view": ("file_path", "offset"),
    "outline": ("path",),
    "list_files": ("pattern", "use_regex"),
    "page": ("handle",),
    "find": ("handle", "pattern"),
}


@dataclass(slots=True, kw_only=True)
class Memory:
    """`tools` by our name for them; `tried` in words, `made` as calls; `rest`: handles of newest results that show nothing;
    `noted`: lines that a note has."""

    question: Question
    tools: dict[str, str]
    evidence: Evidence = field(default_factory=Evidence)
    tried: dict[str, None] = field(default_factory=dict)
    made: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    noted: set[tuple[str, int]] = field(default_factory=set)
    calls: int = 0


def recall(request: dict[str, Json], wire: str) -> Memory:
    """What a request shows."""
    shown = load_request(request, wire).visible()
    start, text = _question(shown)
    memory = Memory(question=asked.read(text), tools=_tools(request))
    for entry in shown:
        if entry.text:
            _take_notes(memory, entry.text)
    calls: dict[str, ToolCall] = {}
    origins: dict[str, tuple[str, str]] = {}
    for entry in shown[start:]:
        if entry.calls:
            calls |= {call.id: call for call in entry.calls}
            memory.rest = []  # what came before was looked at before this was asked
        for result in entry.results:
            if (call := calls.get(result.call_id)) is not None:
                _take_result(memory, call, result, origins)
    memory.question = weighing.learned(memory.question, memory.evidence)
    memory.made = [(call.name, call.values) for call in calls.values()]
    memory.calls = max(memory.calls, len(calls))
    return memory


def _question(shown: tuple[Entry, ...]) -> tuple[int, str]:
    """Where the newest question stands, and its text, without what programs add: texts in square brackets, reports on files."""
    said = [(place, without_report(entry.text).strip()) for place, entry in enumerate(shown) if entry.speaks]
    spoken = [(place, text) for place, text in said if text]
    asked_by_person = [(place, text) for place, text in spoken if not text.startswith("[")]
    for place, text in reversed(asked_by_person):
        if asked.read(text).terms:
            return place, text
    for place, text in reversed(spoken):
        if goal := asked_in(text):
            return place, goal
    return asked_by_person[-1] if asked_by_person else (len(shown), "")


def _tools(request: dict[str, Json]) -> dict[str, str]:
    """Which of the tools offered are of our table, whatever stands before their names."""
    made: dict[str, str] = {}
    for tool in objects(request.get("tools")):
        told = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        name = string(field_of(told, "name"))
        schema = field_of(told, "parameters") or field_of(told, "input_schema")
        takes = field_of(schema, "properties")
        for ours, needed in _NEEDED.items():
            is_ours = name == ours or (name.endswith(f"_{ours}") and ours not in made)
            if is_ours and isinstance(takes, dict) and all(parameter in takes for parameter in needed):
                made[ours] = name
    return made


def _take_notes(memory: Memory, text: str) -> None:
    for note in wording.read_notes(text, memory.question.text):
        memory.calls = max(memory.calls, note.calls)
        memory.tried |= dict.fromkeys(note.tried)
        memory.evidence.places |= dict.fromkeys(note.places)
        memory.evidence.likely |= dict(note.likely)
        for path, line, quoted in note.found:
            memory.noted.add((path, line))
            memory.evidence.add(path, line, quoted)


def _take_result(memory: Memory, call: ToolCall, result: ToolResult, origins: dict[str, tuple[str, str]]) -> None:
    """`origins` says of each handle which tool's output it is, about which file."""
    ours = next((ours for ours, name in memory.tools.items() if name == call.name), "")
    values, text = call.values, result.text
    if ours in {"page", "find"}:
        tool, path = origins.get(string(values.get("handle")), ("search", ""))
        text = kept_text(ours, text)
    else:
        tool, path = ours, string(values.get("file_path")) or string(values.get("path"))
    shows = memory.evidence.read(tool, text, path, string(values.get("pattern")))
    if tool and (handle := handle_in(result.text)):
        origins.setdefault(handle, (tool, path))
        if not shows and ours not in {"page", "find"}:
            memory.rest.append(handle)
