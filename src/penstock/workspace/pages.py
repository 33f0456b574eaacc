"""What was asked of a file, what bounds the page, and what does it become? The caps in force, and the `Window`.

Leaves to others: which bytes or lines a page has (`views`, `line_ranges`, `byte_pages` and `records`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.text import window
from penstock.text.calls import Call
from penstock.text.window import Window
from penstock.workspace import texts
from penstock.workspace.fitting import Boundless, PageRoom

if TYPE_CHECKING:
    from penstock.workspace.texts import TextFile


WORST_ROW = 24
"""The most that a line takes besides its text: a gutter with the largest number, and its end."""
WORST_ESCAPE = 4
"""How many characters show one byte at most: four of hexadecimal."""


class ViewAsked(NamedTuple):
    """What a view was asked for."""

    offset: int
    """Lines to skip."""
    limit: int | None
    """Lines to show, as the next call repeats it: None for the default, which a call leaves out."""
    version: str | None
    lines: int
    """Lines to show, given or by default."""

    def call(self, path: str, **changes: int | str | None) -> Call:
        """Return the same call with other arguments, in the order in which they are printed."""
        arguments = {"offset": self.offset, "limit": self.limit, "version": self.version, **changes}
        return Call("view", {"file_path": path}).but(**{**arguments, "offset": arguments["offset"] or None})


class PageBounds:
    """What a page of `read_file` may take: the room, and the cap in force with its name.

    Args:
        room: What the caller has; None for no bound but the hard cap.
        caps_line_ranges: Whether a range of lines is bounded even without a room.
    """

    def __init__(self, room: PageRoom | None, caps_line_ranges: bool) -> None:
        self.room: PageRoom = Boundless() if room is None else room
        self.cap = min(window.HARD_MAX_BYTES, self.room.cap_bytes)
        self.name = "hard cap" if self.cap == window.HARD_MAX_BYTES else "budget"
        self.line_cap = self.cap if room is not None or caps_line_ranges else None
        """How many bytes a range of lines may have; None for no bound."""


def page_of(opened: TextFile, *, notices: tuple[str, ...] = (), **fields: Any) -> Window:
    """Return a window over an open file; unless `fields` bring a version, it is the one for the position where the page ends."""
    source = opened.source
    defaults: dict[str, Any] = {"encoding": opened.encoding.name}
    if "version" not in fields:
        defaults["version"] = texts.token(source, fields["end_byte"])
    said = (*notices, *source.notices())
    return Window(path=opened.path, total_bytes=source.size_bytes, notices=said, **{**defaults, **fields})
