"""What changes in a server's list of tools: our two tools are appended to the last page, and schemas that a cut result would break
are dropped (Y-1)?

A client checks structured content against the `outputSchema` of its tool and refuses a result without any. Nobody knows in advance
which result will be too large, and hosts ask for the list once: so that schema is removed from every tool. Small results keep their
structured content. Law: all other bytes of a list are the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.relay.messages import text_in
from penstock.relay.own_tools import entries
from penstock.text.json_slices import Array, Edit, Object, Slice, Value, items_of, without

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIXES = ("ctx_", "penstock_ctx_")
_OURS = ("page", "find")


class Names:
    """The names of our two tools among those of the servers: names that none of them uses."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self.is_hidden = False
        """Whether lists and calls pass as if we had no tools: another relay in front of this one has them."""
        self.is_known = False
        """Whether the servers' tools have been listed, or cannot be; before that a name of ours may be a server's."""

    def take(self, name: str) -> None:
        """Note the name of a foreign tool; only names that could be ours matter."""
        if name.endswith(_OURS):
            self._taken.add(name)

    @property
    def prefix(self) -> str:
        """The prefix of our names: `ctx_`, or a longer one if a server has such a tool itself."""
        more = 2
        for prefix in _PREFIXES:
            if self._is_free(prefix):
                return prefix
        # If a host runs one relay inside another, or a server uses our names, our tools can still be called.
        while not self._is_free(f"penstock_{more}_ctx_"):
            more += 1
        return f"penstock_{more}_ctx_"

    def ours(self, name: str | None) -> str | None:
        """Return which of our tools a name is, `page` or `find`; None for others."""
        prefix = self.prefix
        if self.is_hidden:
            return None
        return next((tool for tool in _OURS if name == prefix + tool), None)

    def _is_free(self, prefix: str) -> bool:
        return not any(prefix + tool in self._taken for tool in _OURS)


def edits(raw: bytes, result: Value | None, names: Names) -> Iterator[Edit]:
    """Yield the edits of one page of a list.

    Args:
        raw: the message.
        result: its result.
        names: learns the names of the tools.
    """
    tools = result.get("tools") if isinstance(result, Object) and not names.is_hidden else None
    if not isinstance(result, Object) or not isinstance(tools, Array):
        return
    learn(raw, result, names)
    for tool in items_of(raw, tools):
        if isinstance(tool, Object):
            yield from without(tool.members, "outputSchema")
    if is_last_page(raw, result):
        end = tools.end - 1
        is_empty = not raw[tools.start + 1 : end].strip()
        yield Edit(end, end, (b"" if is_empty else b",") + entries(names.prefix))


def learn(raw: bytes, result: Value | None, names: Names) -> bytes | None:
    """Learn the names on one page of a list, and return the cursor of the next page as JSON; None if there is none.

    Args:
        raw: the message.
        result: its result; one that is not a list ends the paging.
        names: learns the names.

    Raises:
        NotJson: a name cannot be read.
    """
    tools = result.get("tools") if isinstance(result, Object) else None
    for tool in items_of(raw, tools) if isinstance(tools, Array) else ():
        if isinstance(tool, Object):
            names.take(text_in(raw, tool, "name") or "")
    cursor = result.get("nextCursor") if isinstance(result, Object) and not is_last_page(raw, result) else None
    if cursor is None:
        names.is_known = True
        return None
    return raw[cursor.start : cursor.end]


def is_last_page(raw: bytes, result: Object) -> bool:
    """Return whether no page follows: a missing or null cursor ends the list, an empty one does not."""
    cursor = result.get("nextCursor")
    return cursor is None or (isinstance(cursor, Slice) and raw[cursor.start : cursor.end] == b"null")
