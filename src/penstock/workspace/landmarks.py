"""Which landmarks does a file have? Pages of its outline, cached while the file is unchanged (B-11).

If an outline would be no shorter, the answer is the content itself; if there is no outline, it is the file's first KiB. Leaves to
others: how landmarks are found (`outline`) and how content is read (`reading`).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from penstock.text.calls import Call
from penstock.text.page import Page, cut
from penstock.workspace import texts
from penstock.workspace.fitting import PageRoom, most
from penstock.workspace.version import FileStamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.outline import Outline, Symbol
    from penstock.text.window import Window
    from penstock.workspace.deadline import Deadline
    from penstock.workspace.texts import TextFile

    Content = Callable[[int | None, str], Window]
    """Returns the content from its start: that many bytes (None: the default), with a notice that says why."""

OUTLINE_LIMIT = 200
"""How many landmarks a page has by default."""
OUTLINE_HEAD_BYTES = 1024
"""How much of a file is shown if it has no landmarks."""
OUTLINE_SHARE = 0.8
"""An outline that takes this share of the content or more is not worth it: the content is shown."""
_BLOCK_BYTES = 256 << 10
_NAME_BYTES = 64 << 10  # examined if the name of a file does not reveal its language
_KEPT = 8

_NO_LANDMARKS = "no landmarks found: its beginning instead of an outline"
NO_SHORTER = "an outline would hardly be shorter: the content instead"
"""The notice given if an outline was requested and the content is returned."""


class OutlinePage(NamedTuple):
    """A page of the landmarks of a file."""

    path: str
    page: Page[Symbol]
    language: str
    """The language as which the file was read."""
    method: str
    """How landmarks were found: the method of `outline.Outline`."""
    complete: bool
    """Whether all of the file was read; False if the time of the call ended first."""
    total_lines: int
    total_bytes: int
    version: str
    unit: str = "lines"
    """What landmarks are numbered by: `lines`, or `records` of JSON on one line."""
    next: Call | None = None
    """The call for the next page; None on the last."""


class Landmarks:
    """The outlines of the most recently read files. Several threads may use it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[FileStamp, Outline] = OrderedDict()

    def page(
        self, text: TextFile, offset: int, limit: int, content: Content, room: PageRoom, deadline: Deadline
    ) -> OutlinePage | Window:
        """Return the landmarks from `offset` on, or the content if that is shorter.

        Args:
            text: The file.
            offset: Landmarks to skip.
            limit: Landmarks of the page.
            content: Returns the content instead, with the sentence that says why.
            room: What the page may take once it is rendered; one landmark is shown in any room.
            deadline: When scanning stops.
        """
        source = text.source
        found = self._outline(text, deadline)
        if offset == 0:
            if not found.symbols:
                return content(OUTLINE_HEAD_BYTES, _NO_LANDMARKS)
            # Roughly what a row takes: its indent, its name, and its two line numbers.
            length = sum(len(symbol.name) + 2 * symbol.depth + 10 for symbol in found.symbols)
            if length >= OUTLINE_SHARE * source.size_bytes:
                return content(None, NO_SHORTER)
        page = cut(found.symbols, offset, limit)
        fitting = max(1, most(len(page.items), lambda n: room.symbols(page.items[:n]), room.limit))
        if fitting < len(page.items):
            page = Page(items=page.items[:fitting], offset=offset, limit=limit, total=page.total, more=True)
        call = Call("outline", {"path": text.path}).but(limit=None if limit == OUTLINE_LIMIT else limit)
        return OutlinePage(
            path=text.path,
            page=page,
            language=found.language,
            method=found.method,
            complete=found.complete,
            total_lines=found.total_lines,
            total_bytes=source.size_bytes,
            version=texts.token(source, source.size_bytes),
            next=None if page.next_offset is None else call.but(offset=page.next_offset),
        )

    def _outline(self, text: TextFile, deadline: Deadline) -> Outline:
        """Return the outline of a file, computed now or cached; an incomplete one is not cached."""
        from penstock import outline as landmarks

        source, encoding, _ = text
        stamp = FileStamp.of(source.status)
        kept = self._kept.get(stamp)
        if kept is not None:
            return kept
        name = os.fsdecode(os.path.basename(source.file.relative))
        language = landmarks.language_of(name, source.read(0, _NAME_BYTES))
        # A grammar needs the whole text in memory; larger files, and those in UTF-16 or UTF-32, are scanned in blocks.
        if source.size_bytes <= landmarks.EXACT_BYTES and encoding.unit == 1:
            found = landmarks.outline(source.read(encoding.bom_bytes, source.size_bytes), language)
        else:
            scanner = landmarks.Scanner(language)
            at = encoding.bom_bytes
            for block in source.blocks(_BLOCK_BYTES, at):
                at += len(block)
                scanner.feed(block if encoding.unit == 1 else encoding.decode(block)[0].encode("utf-8", "replace"))
                if deadline.passed:
                    break
            found = scanner.outline()
            if at < source.size_bytes:
                return found._replace(complete=False)
        self._kept[stamp] = found
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found
