"""How are the files of each program and copybook written, in whatever process? Its document, its Markdown, its page.

What was read is in the spool; what was found later, who calls and runs the program, comes with the task. Law: each file is written
completely or not at all. Leaves to others: what a page says (`pages`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe import pages
from penstock.scribe.json_lines import json_lines
from penstock.scribe.output import Output
from penstock.scribe.pages.copies import compared, differences
from penstock.scribe.spool import Place, Spool
from penstock.scribe.surroundings import situate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scribe.pages.copies import Listing
    from penstock.scribe.surroundings import Around


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSetup:
    """What writing needs: the folders of the spool and of the documents, and what all pages share."""

    spool: str
    out: str
    frame: pages.SiteFrame


class CopyTask(NamedTuple):
    """A near-copy of a program: its name, the path of its page, where its listing is spooled, and the share of common lines."""

    name: str
    path: str
    listing: Place
    share: float


class PageTask(NamedTuple):
    """A document to write.

    `document` and `listing` are places in the spool, `path` is that of its files, without suffix. `around` is what calls and runs
    its program; None for a copybook.
    """

    document: Place
    listing: Place
    path: str
    around: Around | None
    copies: tuple[CopyTask, ...] = ()


class PageWriter:
    """Writes the files of documents."""

    def __init__(self, setup: PageSetup) -> None:
        self._spool, self._output, self._frame = Spool(setup.spool), Output(setup.out), setup.frame

    def __call__(self, task: PageTask) -> int:
        """Write the files of a document, and return how many changed."""
        document = self._spool.take(task.document)
        listing, inner = self._spool.take(task.listing)
        if task.around is not None:
            situate(document, task.around)
        before = self._output.written
        copies = self._copies(document["header"]["program_id"], listing, task.copies)
        told = pages.of_document(task.path, document, self._frame, listing, inner, copies)
        self._output.write_beside([(f"{task.path}.json", json_lines(document)), *told])
        return self._output.written - before

    def _copies(self, program: str, listing: Listing, copies: Sequence[CopyTask]) -> list[pages.CopyView]:
        """Return the near-copies of a program, with the differences from the nearest."""
        found = [pages.CopyView(one.name, one.path, one.share, None) for one in copies]
        if found:
            there, _ = self._spool.take(copies[0].listing)
            hunks = differences(compared(program, listing), compared(copies[0].name, there))
            found[0] = found[0]._replace(hunks=hunks)
        # The comparison needed the programs' own names; a reader needs those that tell them apart.
        return [one._replace(name=self._frame.names.name_of_page(one.path.rpartition("/")[2])) for one in found]
