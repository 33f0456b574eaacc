"""How does a model keep its todo list? The tool, what it accepts, and what it shows.

Leaves to others: the list itself, which is part of the session's state (`session.state`). Law: a call changes the list only by the
note that it returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.agent.protocols import Done
from penstock.errors import ToolError
from penstock.session import Noted
from penstock.session.state import noted
from penstock.text import escape, notices
from penstock.tools import REQUIRED, Parameter, Tool, check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.session import Todo
    from penstock.text.json_access import Json

MAX_TODO_CHARS, MAX_OPEN_TODOS = 400, 100
"""How long an item of the todo list may be, and how many may be open: the list is in every request, word for word."""

TODO = Tool(
    "todo",
    "Keep a todo list",
    "Keep the list of what is to be done: add an item before you begin a piece of work, mark it done after it. The list survives "
    "every compaction word for word and is handed on to the next session. Each call shows the whole list.",
    (
        Parameter("action", "string", REQUIRED, "add, done, drop or list"),
        Parameter("title", "string", "", "the item, in the same words each time"),
        Parameter("priority", "integer", 2, "1 is the most urgent", minimum=1, maximum=9),
    ),
)
"""The tool of the todo list (S-9)."""


def answer(arguments: Mapping[str, Json], todos: tuple[Todo, ...]) -> Done:
    """Return the result of a call of the todo tool, and the note that changes the list.

    Args:
        arguments: What the model gave.
        todos: The list as it is.
    """
    try:
        given: Any = check(TODO, arguments)
    except ToolError as error:
        return Done(text=error.message, failed=True)
    action, title = given["action"], given["title"]
    if action not in {"add", "done", "drop", "list"}:
        return Done(text=notices.argument("action", "takes add, done, drop or list"), failed=True)
    if action != "list" and not title.strip():
        return Done(text=notices.argument("title", "takes the item as a text"), failed=True)
    if action == "add" and len(title) > MAX_TODO_CHARS:
        long = f"takes {MAX_TODO_CHARS} characters at most, not {len(title)}: say what is to be done, and not how"
        return Done(text=notices.argument("title", long), failed=True)
    others = sum(not todo.is_done and todo.title != title for todo in todos)
    if action == "add" and others >= MAX_OPEN_TODOS:
        full = f"{MAX_OPEN_TODOS} items are open, and no more can be. Do one, or drop one.\n{_shown(todos)}"
        return Done(text=full, failed=True)
    if action in {"done", "drop"} and all(todo.title != title for todo in todos):
        return Done(text=f"There is no item {escape.clip(title)}.\n{_shown(todos)}", failed=True)
    if action == "list":
        return Done(text=_shown(todos))
    note = Noted(**given)
    return Done(text=_shown(noted(todos, note)), notes=(note,))


def _shown(items: Sequence[Todo]) -> str:
    """Return the todo list: the open items by priority, then the finished ones."""
    if not items:
        return "The todo list is empty."
    open_items = sorted((item for item in items if not item.is_done), key=lambda item: item.priority)
    lines = [f"[ ] {item.priority} {escape.show_text(item.title)}" for item in open_items]
    lines += [f"[x] {item.priority} {escape.show_text(item.title)}" for item in items if item.is_done]
    return "\n".join([f"Todo: {len(open_items)} open, {len(items) - len(open_items)} done", *lines])
