"""Programs that nobody writes, and that files hold all the same, are understood in time that grows with their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cobol.sources import program
from tests.growth import BOUND, growth

from penstock.chunk import plan
from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.scribe.documenting import subject

if TYPE_CHECKING:
    from collections.abc import Callable


def _lines(count: int, *lines: str) -> list[str]:
    """Lines in which `{0}` is a number, and `{1}` half of it, so many times."""
    return [line.format(at, at // 2) for at in range(count) for line in lines]


@pytest.mark.proves("C-12")
def test_facts_take_time_in_proportion() -> None:
    """Paragraphs of one name, each in a section of its own, are found by their sections."""

    def work(size: int) -> Callable[[], object]:
        source = scan(program(*_lines(size, "S-{0} SECTION.", "P.", "    PERFORM P OF S-{1}.")))
        return lambda: [facts(source, one) for one in source]

    assert growth(work, 800) < BOUND


@pytest.mark.proves("C-3")
def test_a_plan_takes_time_in_proportion() -> None:
    """Ranges that are wider than any chunk tie nothing."""

    def work(size: int) -> Callable[[], object]:
        source = scan(program(*_lines(size, "P-{0}.", "    PERFORM P-0 THRU Z."), "Z."))
        return lambda: plan(source, source_tokens=500)

    assert growth(work, 300) < BOUND


@pytest.mark.proves("C-7")
def test_citations_take_time_in_proportion() -> None:
    """A line that is cited thousands of times, and as long as all of them, is looked at once."""

    def work(size: int) -> Callable[[], object]:
        source = scan("PROCEDURE DIVISION. " + "IF A = B MOVE C TO D END-IF. " * size)
        return lambda: [part.template for part in subject(source, "hostile.cbl").parts]

    assert growth(work, 1_000) < BOUND
