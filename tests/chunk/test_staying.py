"""Does an edit change only the chunks that it touches?"""

from __future__ import annotations

from functools import cache

import pytest
from tests.chunk.programs import paragraph, program

from penstock.chunk import ChunkPlan, Overhead, plan
from penstock.cobol import scan
from penstock.text.tokens import Tokens

ESTIMATE = Tokens()
BUDGET = 2_500
OVERHEAD = Overhead(texts=("word " * 300,))
DATA = [f"01  ITEM-{at} PIC X(20) VALUE 'ITEM {at}'." for at in range(40)]


def paragraphs(changed: dict[int, list[str]] | None = None, count: int = 60) -> list[str]:
    """Return paragraphs that call each other; one may be replaced or, by an empty list, left out."""
    code: list[str] = []
    for at in range(count):
        usual = paragraph(
            f"P-{at}", f"PERFORM P-{(at * 17) % count}.", f"MOVE SPACES TO ITEM-{at % 40}.", length=at % 9
        )
        code += (changed or {}).get(at, usual)
    return code


def planned(data: bytes, before: ChunkPlan | None = None, budget: int = BUDGET) -> ChunkPlan:
    """Return a plan of prompts that keeps the previous assignment."""
    previous = None if before is None else before.assignment
    return plan(scan(data), prompt_tokens=budget, counter=ESTIMATE, overhead=OVERHEAD, previous=previous)


def changed(after: ChunkPlan, before: ChunkPlan) -> int:
    """Return the number of chunks that must be sent again."""
    return len({chunk.digest for chunk in after.chunks} - {chunk.digest for chunk in before.chunks})


@cache
def before() -> ChunkPlan:
    """Return the plan before any edit."""
    return planned(program(paragraphs(), DATA))


@pytest.mark.proves("C-13")
def test_the_same_file_changes_nothing() -> None:
    """Planned with the previous assignment, every chunk is as it was."""
    after = planned(program(paragraphs(), DATA), before())
    assert len(before().chunks) >= 5
    assert [(chunk.id, chunk.spans, chunk.digest) for chunk in after.chunks] == [
        (chunk.id, chunk.spans, chunk.digest) for chunk in before().chunks
    ]
    assert any("stay in the chunk" in said for said in after.decisions)


@pytest.mark.proves("C-13")
@pytest.mark.parametrize("length", [1, 3, 10, 40])
@pytest.mark.parametrize("at", range(0, 60, 7))
def test_an_edited_paragraph_is_felt_in_at_most_two_chunks(at: int, length: int) -> None:
    """Its own chunk changes, and one more if it outgrew it; all other lines move, which changes nothing."""
    grown = paragraph(f"P-{at}", *(f"DISPLAY 'NEW LINE {n}'." for n in range(length)), "PERFORM P-1.")
    after = planned(program(paragraphs({at: grown}), DATA), before())
    assert 1 <= changed(after, before()) <= 2
    assert all(chunk.fits for chunk in after.chunks)


@pytest.mark.proves("C-13")
def test_a_new_paragraph_and_one_that_is_gone_are_felt_in_at_most_two_chunks() -> None:
    """Each goes into, or out of, one chunk."""
    for at in range(0, 60, 9):
        new = [*paragraph("BRAND-NEW", "CONTINUE.", length=3), *paragraph(f"P-{at}", "PERFORM BRAND-NEW.")]
        assert changed(planned(program(paragraphs({at: new}), DATA), before()), before()) <= 2
        assert changed(planned(program(paragraphs({at: []}), DATA), before()), before()) <= 1


@pytest.mark.proves("C-13")
def test_columns_that_are_no_code_change_nothing() -> None:
    """Sequence numbers, identification, padding and line ends cause nothing to be sent again."""
    data = program(paragraphs(), DATA)
    lines = data.split(b"\n")[:-1]
    variants = {
        "sequence": [b"%06d" % (at * 10) + line[6:] for at, line in enumerate(lines)],
        "identification": [line.ljust(72)[:72] + b"CHG%05d" % at for at, line in enumerate(lines)],
        "padding": [line.ljust(80) for line in lines],
        "line ends": [line + b"\r" for line in lines],
    }
    for name, variant in variants.items():
        assert changed(planned(b"\n".join(variant) + b"\n", before()), before()) == 0, name


@pytest.mark.proves("C-13")
def test_an_edited_item_is_felt_where_it_is_used_and_nowhere_else() -> None:
    """Only the chunk that has the item changes, and those whose code names it."""
    data = [line.replace("'ITEM 7'", "'ITEM SEVEN'") for line in DATA]
    after = planned(program(paragraphs(), data), before())
    old = {chunk.digest for chunk in before().chunks}
    users = {f"P-{at}" for at in (7, 47)}
    for chunk in after.chunks:
        assert (chunk.digest not in old) == bool(users & set(chunk.units) or "ITEM-7" in chunk.units)


@pytest.mark.proves("C-13")
def test_a_paragraph_in_parts_is_cut_where_it_was_cut_before() -> None:
    """A new line in one of its parts does not move the other parts."""
    long = [f"MOVE 'VALUE {n}' TO ITEM-{n % 40}" for n in range(400)]
    before = planned(program(paragraphs({3: paragraph("P-3", *long, ".")}, 20), DATA))
    assert sum("P-3 part" in unit for chunk in before.chunks for unit in chunk.units) > 3
    for at in (20, 200, 380):
        edited = [*long[:at], "DISPLAY 'NEW'", *long[at:]]
        after = planned(program(paragraphs({3: paragraph("P-3", *edited, ".")}, 20), DATA), before)
        assert changed(after, before) <= 2


@pytest.mark.proves("C-13")
def test_what_has_become_too_many_chunks_is_planned_anew() -> None:
    """Stability ends if it would cost twice the calls."""
    small = planned(program(paragraphs(), DATA), budget=1_200)
    after = planned(program(paragraphs(), DATA), small, budget=6_000)
    assert len(small.chunks) > 2 * len(after.chunks)
    assert any("planned anew" in said for said in after.decisions)


@pytest.mark.proves("C-13")
def test_a_smaller_budget_splits_what_no_longer_fits() -> None:
    """An assignment made under a larger budget never gives a chunk that is too large."""
    large = planned(program(paragraphs(), DATA), budget=6_000)
    after = planned(program(paragraphs(), DATA), large, budget=1_500)
    assert all(chunk.fits and (chunk.prompt_tokens or 0) <= 1_500 for chunk in after.chunks)
