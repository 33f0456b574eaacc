"""What do the pages of an estate need from a document? Little, so that the documents of ten thousand programs can be in memory.

A summary has the keys of a document, and only what others link to or count; what only a program's own page shows is not in it. Its
data names are merged with those of all other programs (`terms`), and then dropped.
Law: whatever the index says about a document, it takes from the summary. Leaves to others: how it is shown.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.scribe.pages.columns import DEEDS
from penstock.scribe.pages.estate import line_of_item
from penstock.scribe.pages.ranking import ranked_rules, weights
from penstock.scribe.pages.terms import Naming, namings_of, used_name
from penstock.scribe.surroundings import settle_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.scribe.surroundings import Around
    from penstock.text.json_access import Json


class PackedDocument(NamedTuple):
    """The reduced document, packed, and the data that it names."""

    packed: bytes
    namings: list[Naming]


class Summaries(Mapping[str, dict[str, Any]]):
    """The reduced documents of an estate by the ids of their pages.

    Each stays packed until it is read: as dictionaries those of ten thousand programs would take 200 MB, and packed they take 25.
    Each access makes a new one, in some 20 microseconds.
    """

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def put(self, page: str, summary: PackedDocument) -> None:
        """Append the summary of a page."""
        self._packed[page] = summary.packed

    def situate(self, page: str, around: Around) -> None:
        """Take into account what surrounds a program, which is known only after its summary is made."""
        if around.jobs:
            made = self[page]
            settle_type(made, around)
            self._packed[page] = marshal.dumps(made)

    def __getitem__(self, page: str) -> dict[str, Json]:
        made: dict[str, Json] = marshal.loads(self._packed[page])  # noqa: S302  # bytes of our own, of this run
        return made

    def __contains__(self, page: object) -> bool:
        return page in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


MOST_OF_ONE = 5
"""The most rules and the most paragraphs of one program in the lists of the estate."""
_WHOLE = ("header", "copybooks_used", "copybooks_not_found", "complexity")
_OF_CALL = ("program_name", "call_type", "resolved_from")
_OF_PARAGRAPH = ("paragraph_name", "start_line")
_OF_ENTRY = ("name", "line")


def summary_of(document: Json) -> PackedDocument:
    """Return what the pages of the estate need of a document."""
    context, purpose = document["calling_context"], document["purpose"]
    is_copybook = document["header"]["file_type"] == "copybook"
    made: dict[str, Json] = {
        **{name: document[name] for name in _WHOLE},
        "purpose": purpose and {"summary": purpose["summary"]},
        "called_programs": [{name: call[name] for name in _OF_CALL} for call in document["called_programs"]],
        "calling_context": {
            "entry_points": [{name: one[name] for name in _OF_ENTRY} for one in context["entry_points"]]
        },
        "crud": [
            {"resource": one["resource"], "kind": one["kind"], **{deed: one[deed][:1] for deed in DEEDS}}
            for one in document["crud"]
        ],
        "paragraphs": [{name: one[name] for name in _OF_PARAGRAPH} for one in document["paragraphs"]],
        # Links lead to the rows of a copybook's data, but not to those of a program's own.
        "data_items": [
            {"name": used_name(item), "copybook": None, "citations": [{"first_line": line}]}
            for item in document["data_items"]
            if is_copybook and (line := line_of_item(item)) is not None
        ],
        "dead_code": [{"paragraph_name": one["paragraph_name"]} for one in document["dead_code"]],
        "coverage": {"chunks_failed": [{"reason": one["reason"]} for one in document["coverage"]["chunks_failed"]]},
        # What should be read first of it, for the lists of the whole estate.
        "first_rules": [
            {
                "kind": kind,
                "paragraph": rule["paragraph"],
                # EVALUATE TRUE says with its first WHEN what it decides on.
                "condition": next((one for one in rule["conditions"] if one.upper() not in {"TRUE", "FALSE"}), ""),
                "citations": [{name: one[name] for name in ("first_line", "last_line")} for one in rule["citations"]],
            }
            for kind, rule in ranked_rules(document["business_rules"])
            if kind != "plumbing"
        ][:MOST_OF_ONE],
        "heaviest": [
            one._asdict()
            for one in sorted(weights(document["paragraphs"]), key=lambda one: -one.complexity * (1 + one.reach))
            if one.complexity > 1
        ][:MOST_OF_ONE],
        "confidence": {"overall": document["confidence"]["overall"]},
    }
    # Also those of a copybook: code behind END PROGRAM looks like one, but is on a page among the programs.
    return PackedDocument(marshal.dumps(made), namings_of(document))
