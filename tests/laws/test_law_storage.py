"""The law of items that share bytes: an index of them finds every one that a comparison with each item finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.facts.naming import DataNames
from penstock.cobol.facts.storage import Storage

pytestmark = pytest.mark.proves("C-16")

ENTRIES = st.lists(
    st.tuples(
        st.sampled_from([5, 5, 10, 15]),
        st.sampled_from(["", " PIC X", " PIC X(7)", " PIC X(90)", " PIC 9(9) COMP-3"]),
        st.sampled_from(["", "", " OCCURS 3", " OCCURS 1 TO 9 DEPENDING ON N", " REDEFINES"]),
    ),
    min_size=1,
    max_size=14,
)


@given(ENTRIES)
@settings(max_examples=60, deadline=None)
def test_items_that_share_bytes_are_near(entries: list[tuple[int, str, str]]) -> None:
    """Groups, tables, tables of varying length, redefinitions and items without a size."""
    lines = ["01 G."]
    before: dict[int, str] = {}
    for number, (level, picture, clause) in enumerate(entries):
        said = f" REDEFINES {before[level]}" if clause == " REDEFINES" and level in before else clause
        lines.append(f"{level:02} I{number}{said.removesuffix(' REDEFINES')}{picture}.")
        before[level] = f"I{number}"
    source = scan(
        "\n".join(["PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", *lines, "01 N PIC 9."]),
        source_format="free",
    )
    items = facts(source, source.programs[0]).items
    storage = Storage(DataNames(items, ()))
    numbers = [index for index, item in enumerate(items) if item.name != "N"]
    sharing = storage.sharing(numbers)
    for item in numbers:
        found = list(sharing.near(item))
        assert len(found) == len(set(found))
        assert {one for one in numbers if storage.covers(one, item) is not None} <= set(found)
