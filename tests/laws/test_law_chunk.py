"""The law of chunks: any text, in any language and for any budget, is partitioned by lines, and each chunk fits or is marked."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from proof.chunks import faults, generated

from penstock import Allowance, CallerError
from penstock.chunk import Chunk, ChunkPlan, Overhead, chunk, plan
from penstock.chunk.cutting import Cuts, Sizes
from penstock.chunk.packing import BinRoom, PackedItem, Ties, pack
from penstock.chunk.staying import stay
from penstock.cobol import scan
from penstock.text.tokens import Tokens

pytestmark = pytest.mark.proves("LAW-Chunk")

ESTIMATE = Tokens()
LANGUAGES = ["python", "java", "c", "markdown", "json", "sql", "shell", "text", "no such language", "cobol", None]

PIECES = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "    ",
    "\t",
    "def f(a):",
    "class A:",
    "# head",
    "{",
    "}",
    "CREATE TABLE t (a int);",
    "word " * 30,
    "é" * 20,
    "\u2028",
    "\x00",
]
COBOL = [
    "       IDENTIFICATION DIVISION.",
    "       PROGRAM-ID. P.",
    "       ENVIRONMENT DIVISION.",
    "       DATA DIVISION.",
    "       FILE SECTION.",
    "       FD  F.",
    "       WORKING-STORAGE SECTION.",
    "       01  A.",
    "           05  B PIC X VALUE 'x. y'.",
    "           05  C REDEFINES B PIC X.",
    "               88  C-ON VALUE 'Y'.",
    "       77  D PIC 9(4) COMP",
    "           VALUE 1.",
    "       PROCEDURE DIVISION USING A.",
    "       DECLARATIVES.",
    "       END DECLARATIVES.",
    "       S SECTION.",
    "       PARA-1.",
    "       PARA-1-EXIT. EXIT.",
    "           PERFORM PARA-1 THRU PARA-1-EXIT",
    "           PERFORM PARA-2.",
    "       PARA-2.",
    "           MOVE 'long literal that goes on and on and on and on and on",
    "      -    'and ends' TO B.",
    "           IF A = B",
    "               MOVE 1",
    "                 TO D",
    "           ELSE",
    "           END-IF",
    "           .",
    "           EXEC SQL",
    "             SELECT A, B FROM T",
    "           END-EXEC.",
    "           COPY X REPLACING ==A==",
    "             BY ==B==.",
    "           GO TO PARA-2.",
    "      * a comment",
    "      D    DISPLAY A.",
    "       END PROGRAM P.",
    ">>SOURCE FORMAT IS FREE",
    "",
    "garbage",
    "000100     ADD 1 TO D.                                              ID000100",
]

texts = st.one_of(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.text(max_size=200))
sources = st.lists(st.sampled_from(COBOL), max_size=60).map("\n".join)
budgets = st.one_of(
    st.integers(1, 300),
    st.integers(1, 300).map(Allowance.chars),
    st.integers(1, 300).map(Allowance.bytes),
    st.integers(1, 300).map(lambda limit: Allowance.tokens(limit, ESTIMATE)),
)


def assert_lawful(data: bytes, chunks: list[Chunk]) -> None:
    """Check that every line is in one chunk once, and that joining the chunks in line order gives the text."""
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1])
    spans = sorted(span for made in chunks for span in made.spans)
    assert [line for first, last in spans for line in range(first, last + 1)] == list(range(1, len(lines) + 1))
    assert b"".join(b"".join(lines[first - 1 : last]) for first, last in spans) == data
    assert [made.spans[0][0] for made in chunks] == sorted(made.spans[0][0] for made in chunks)
    assert len({made.id for made in chunks}) == len(chunks)
    assert all(made.units for made in chunks)


@given(texts, st.sampled_from(LANGUAGES), budgets)
def test_any_text_in_any_language_is_partitioned_into_chunks_that_fit(
    text: str, language: str | None, budget: int | Allowance
) -> None:
    """Every line is in one chunk, which is within the budget or a single line, in COBOL a single statement."""
    data = text.encode("utf-8", "surrogatepass")
    made = chunk(text, language, budget, counter=ESTIMATE)
    assert_lawful(data, made)
    allowance = budget if isinstance(budget, Allowance) else Allowance.tokens(budget, ESTIMATE)
    lines = data.decode("utf-8", "replace").split("\n")
    for one in made:
        inside = "\n".join(line for first, last in one.spans for line in lines[first - 1 : last])
        if one.fits:
            assert allowance.holds(inside)
        elif language not in {"cobol", None}:
            assert [first for first, last in one.spans] == [last for first, last in one.spans]
    assert chunk(text, language, budget, counter=ESTIMATE) == made
    assert chunk(data, language, budget, counter=ESTIMATE) == made


@given(sources, st.integers(1, 400))
def test_any_cobol_is_partitioned_and_never_cut_within_what_belongs_together(source: str, budget: int) -> None:
    """No chunk begins within a statement, an entry, an EXEC block, a literal or a continued line."""
    scanned = scan(source)
    made = plan(scanned, source_tokens=budget, counter=ESTIMATE)
    assert_lawful(source.encode(), list(made.chunks))
    starts = {first for one in made.chunks for first, _ in one.spans}
    assert not starts & scanned.joined
    for program in scanned:
        for found in (*program.statements, *program.entries, *program.execs, *program.copies):
            assert not starts & set(range(found.line + 1, found.end_line + 1))  # type: ignore[attr-defined]


@given(sources, st.integers(60, 900), st.integers(0, 120))
def test_every_prompt_of_any_cobol_is_within_its_budget(source: str, budget: int, instructions: int) -> None:
    """Prompts are counted as sent; a chunk that does not fit has none; a budget too small for any line is a `CallerError`."""
    overhead = Overhead(texts=("word " * instructions,))
    try:
        made = plan(scan(source), prompt_tokens=budget, overhead=overhead, counter=ESTIMATE)
    except CallerError:
        assert instructions + overhead.frame_tokens + 60 > budget // 2
        return
    assert_lawful(source.encode(), list(made.chunks))
    assert made.prompts.keys() == {one.id for one in made.chunks if one.fits}
    for one in made.chunks:
        if one.fits:
            sent = ESTIMATE.count(overhead.texts[0] + made.prompts[one.id]).high
            assert sent <= one.prompt_tokens + 10 <= budget + 10  # type: ignore[operator]
            assert one.prompt_tokens is not None
            assert one.prompt_tokens <= budget


def _stays(made: ChunkPlan, source: str, budget: int) -> ChunkPlan:
    return plan(scan(source), source_tokens=budget, counter=ESTIMATE, previous=made.assignment)


@example(
    source="       IDENTIFICATION DIVISION.\n       PROGRAM-ID. P.\n       PROGRAM-ID. P.\n       IDENTIFICATION DIVISION.\n"
    "           .\n       PROGRAM-ID. P.",
    budget=20,  # gives so many chunks that the source is planned anew
)
@given(sources, st.integers(20, 400))
def test_a_plan_of_the_same_source_stays_as_it_was(source: str, budget: int) -> None:
    """Chunks keep their previous assignment, whatever a fresh plan would do."""
    made = plan(scan(source), source_tokens=budget, counter=ESTIMATE)
    again = _stays(made, source, budget)
    assert [(one.id, one.spans) for one in again.chunks] == [(one.id, one.spans) for one in made.chunks]


@given(sources, st.integers(20, 400), st.integers(10, 200))
def test_a_refined_plan_keeps_the_cuts_of_the_old_one(source: str, budget: int, smaller: int) -> None:
    """Each new chunk has lines of only one old chunk, and together they are a lawful plan."""
    scanned = scan(source)
    made = plan(scanned, source_tokens=budget, counter=ESTIMATE)
    refined = plan(scanned, source_tokens=min(smaller, budget), counter=ESTIMATE, refines=made)
    assert_lawful(source.encode(), list(refined.chunks))
    for one in refined.chunks:
        (home,) = (old for old in made.chunks if one.spans[0][0] in old)
        assert all(line in home for first, last in one.spans for line in range(first, last + 1))


@settings(max_examples=3)
@given(st.integers(0, 1 << 30))
def test_programs_that_are_hard_to_cut_become_chunks_without_a_fault(seed: int) -> None:
    """The short form of the rig checks cover, budgets by an exact tokenizer, cuts, and one chunk if all fits."""
    pytest.importorskip("toktok", reason="exact counts need penstock[exact]")
    assert list(faults(generated(random.Random(seed), long=False))) == []


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.data(), st.integers(1, 120))
def test_cuts_cover_a_stretch_in_pieces_that_fit_or_cannot_be_cut(
    sizes: list[int], data: st.DataObject, limit: int
) -> None:
    """Pieces are consecutive, and a piece above the limit has no candidate inside."""
    ranks = data.draw(st.dictionaries(st.integers(2, len(sizes) + 1), st.integers(0, 3), max_size=40))
    ranks = {line: rank for line, rank in ranks.items() if line <= len(sizes)}
    measured = Sizes(sizes)
    pieces = Cuts(ranks).pieces(1, len(sizes), measured, limit)
    assert [line for first, last in pieces for line in range(first, last + 1)] == list(range(1, len(sizes) + 1))
    for first, last in pieces:
        assert measured.of(first, last) <= limit or not any(first < line <= last for line in ranks)


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 3)), min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24), st.integers(1, 100)), max_size=40),
    st.integers(50, 120),
    st.integers(3, 9),
)
def test_no_bin_is_ever_overfull(
    sizes: list[tuple[int, int]], tied: list[tuple[int, int, int]], size: int, answers: int
) -> None:
    """Packed afresh or with previous bins kept, each item is in exactly one bin, and no bin is overfull."""
    items = [PackedItem(float(one), more) for one, more in sizes]
    ties: Ties = {(a, b): weight for a, b, weight in tied if a < b < len(items)}
    room = BinRoom(size, answers)
    bins = pack(items, ties, room)
    assert len(bins) == len(items)
    assert sorted(set(bins)) == list(range(max(bins) + 1))
    for at in set(bins):
        inside = [item for item, to in zip(items, bins, strict=True) if to == at]
        assert room.holds(sum(item.size for item in inside), sum(item.answers for item in inside))
    assert pack(items, ties, room) == bins
    keys = [str(at) for at in range(len(items))]
    previous = {key: str(to % 3) for key, to in zip(keys, bins, strict=True) if int(key) % 4}
    stayed = stay(keys, items, ties, room, previous)
    assert sorted(at for _, inside in stayed for at in inside) == list(range(len(items)))
    for _, held in stayed:
        assert room.holds(sum(items[at].size for at in held), sum(items[at].answers for at in held))


@pytest.mark.proves("C-11")
def test_one_bin_in_twenty_more_than_the_fewest_is_taken_for_what_is_tied() -> None:
    """25 clusters of 24 items fit into 24 bins of 25 if one of them is torn into all gaps: they get a bin each."""
    items = [PackedItem(1.0)] * 600
    ties: Ties = {(at, at + 1): 1 for at in range(599) if at % 24 != 23}
    bins = pack(items, ties, BinRoom(25))
    assert [len(set(bins[first : first + 24])) for first in range(0, 600, 24)] == [1] * 25
    assert max(bins) == 24
