"""Which tasks has a model listed through a tool of its host?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.text.json_access import objects, string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires import Transcript
    from penstock.wires.entries import ToolCall, ToolResult

# Tools that write the whole list: its key, and the key of a task's title.
_LISTS = {
    "TodoWrite": ("todos", "content"),
    "todo_write": ("todos", "content"),
    "todowrite": ("todos", "content"),
    "update_plan": ("plan", "step"),
    "write_todos": ("todos", "description"),
}
_MADE = re.compile(r"#(\w+)")


class ListedTask(NamedTuple):
    """One task of a model's own list."""

    title: str
    is_done: bool
    """Whether the model has ticked a task off: the model's claim, not proof."""


def todos_of(transcript: Transcript) -> tuple[ListedTask, ...]:
    """Return the list as the successful calls left it, without cancelled or deleted tasks."""
    failed = {result.call_id for entry in transcript.entries for result in entry.results if result.is_error}
    answers = {result.call_id: result for entry in transcript.entries for result in entry.results}
    calls = [call for entry in transcript.entries for call in entry.calls]
    listed: tuple[ListedTask, ...] = ()
    single: dict[str, ListedTask] = {}
    for call in calls:
        if call.id in failed or call.id not in answers:
            continue
        if call.name in _LISTS:
            listed = _listed(call.values, *_LISTS[call.name])
        elif call.name in {"TaskCreate", "TaskUpdate"}:  # Claude Code: a call for each task, with a number
            _take(call, answers[call.id], single)
    return listed or tuple(single.values())


def _listed(values: dict[str, Json], key: str, title: str) -> tuple[ListedTask, ...]:
    rows = [row for row in objects(values.get(key)) if string(row.get("status")) != "cancelled"]
    return tuple(ListedTask(string(row.get(title)), row.get("status") == "completed") for row in rows if row.get(title))


def _take(call: ToolCall, result: ToolResult, tasks: dict[str, ListedTask]) -> None:
    values = call.values
    if call.name == "TaskCreate":
        if (made := _MADE.search(result.text)) and (title := string(values.get("subject"))):
            tasks[made[1]] = ListedTask(title, False)
        return
    number, status = string(values.get("taskId")), values.get("status")
    if number not in tasks:
        return
    if status == "deleted":
        del tasks[number]
        return
    title = string(values.get("subject")) or tasks[number].title
    tasks[number] = ListedTask(title, status == "completed" if status else tasks[number].is_done)


def titles(todos: Sequence[ListedTask], *, done: bool) -> tuple[str, ...]:
    """Return the titles of the tasks that are done, or of those that are not."""
    return tuple(todo.title for todo in todos if todo.is_done is done)
