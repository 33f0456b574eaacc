"""Where is COBOL cut, what stays together, and what is reported about what does not fit?"""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.chunk.programs import fixed, paragraph, program, scanned

from penstock import CallerError
from penstock.chunk import Chunk, ChunkPlan, Overhead, chunk, plan
from penstock.chunk.cobol import MAX_PARAGRAPHS
from penstock.chunk.units import UnitLayout
from penstock.cobol import ScannedSource, scan
from penstock.text.tokens import Tokens

ESTIMATE = Tokens()


def of_text(source: ScannedSource, budget: int, **options: object) -> ChunkPlan:
    """Return a plan of text, counted by the estimator."""
    return plan(source, source_tokens=budget, counter=ESTIMATE, **options)  # type: ignore[arg-type]


def of_prompts(source: ScannedSource, budget: int, **options: object) -> ChunkPlan:
    """Return a plan of prompts, counted by the estimator."""
    return plan(source, prompt_tokens=budget, counter=ESTIMATE, **options)  # type: ignore[arg-type]


def holding(made: ChunkPlan, line: int) -> Chunk:
    """Return the chunk that has a line."""
    return next(chunk for chunk in made.chunks if line in chunk)


def starts(made: ChunkPlan) -> list[int]:
    """Return the lines before which the source is cut."""
    return sorted(first for chunk in made.chunks for first, _ in chunk.spans if first > 1)


def line_of(source: ScannedSource, text: str) -> int:
    """Return the number of the line with some text."""
    return next(line for line in range(1, source.lines + 1) if text in source.shown(line))


# --- C-3: boundaries -----------------------------------------------------------------------------


@pytest.mark.proves("C-3")
def test_the_procedure_division_stays_whole_where_it_fits() -> None:
    """Data that does not fit next to it is in another chunk, and every PERFORM is kept."""
    data = [f"01  FIELD-{at} PIC X(10) VALUE 'SOMETHING {at}'." for at in range(60)]
    code = [line for at in range(10) for line in paragraph(f"P-{at}", f"PERFORM P-{(at + 3) % 10}.", length=3)]
    source = scanned(code, data)
    made = of_text(source, 1_500)
    division = source.programs[0].division("PROCEDURE")
    assert division is not None
    assert len(made.chunks) > 1
    home = holding(made, division.start_line)
    assert home.spans[-1][0] <= division.start_line
    assert home.spans[-1][1] == source.lines
    assert (made.kept_edges, made.edges) == (10, 10)


@pytest.mark.proves("C-3")
def test_a_section_stays_whole_where_it_fits() -> None:
    """Cuts are before sections, and the paragraphs of a section are in one chunk."""
    code = [
        line
        for section in "ABC"
        for line in [
            f"PART-{section} SECTION.",
            *(row for at in range(4) for row in paragraph(f"{section}-{at}", length=5)),
        ]
    ]
    source = scanned(code)
    made = of_text(source, 600)
    assert len(made.chunks) == 3
    for section in source.programs[0].sections:
        assert len({holding(made, line).id for line in range(section.line, section.end_line - 1)}) == 1


@pytest.mark.proves("C-3")
def test_a_paragraph_has_the_comments_before_it() -> None:
    """A cut is before the rule and the remark that introduce a paragraph, never between them and it."""
    source = scanned([line for at in range(12) for line in ["", *paragraph(f"P-{at}", length=8)]])
    made = of_text(source, 500)
    assert len(made.chunks) > 3
    for line in starts(made):
        if source.shown(line).startswith(" PROCEDURE"):
            continue
        assert source.kinds[line - 1] == "blank"
        assert source.kinds[line] == "comment"


@pytest.mark.proves("C-3")
def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """The parts are numbered, and each but the last ends with a period."""
    source = scanned(paragraph("LONG-ONE", length=200))
    made = of_text(source, 600)
    parts = [chunk for chunk in made.chunks if chunk.kind == "part"]
    assert len(parts) >= 3
    assert parts[1].units == (f"LONG-ONE part 2/{sum('LONG-ONE' in c.units[-1] for c in made.chunks)}",)
    for line in starts(made):
        assert source.shown(line - 1).endswith(".")


@pytest.mark.proves("C-3")
def test_a_long_sentence_is_cut_at_its_lowest_nesting() -> None:
    """The cut is between statements of the paragraph, not within one of its IFs, as long as these fit."""
    block = [
        "IF A-FLAG = 'Y'",
        *(f"    MOVE {n} TO A-NUMBER" for n in range(8)),
        "ELSE",
        "    CONTINUE",
        "END-IF",
    ]
    source = scanned(paragraph("NESTED", *(block * 20), "."), ["01  A-FLAG PIC X.", "01  A-NUMBER PIC 9."])
    made = of_text(source, 500)
    inside = [line for line in starts(made) if line > line_of(source, "NESTED")]
    assert len(inside) > 3
    assert {source.shown(line).strip() for line in inside} == {"IF A-FLAG = 'Y'"}


@pytest.mark.proves("C-3")
def test_only_a_sentence_that_does_not_fit_is_cut_inside() -> None:
    """If one of two sentences is too long, the other stays whole."""
    long = [f"    DISPLAY 'ONE STATEMENT OF MANY, NUMBER {at}'" for at in range(60)]
    short = [f"    DISPLAY 'ONE OF A FEW, NUMBER {at}'" for at in range(15)]
    source = scanned(["P-1.", *long, "    .", *short, "    ."])
    made = of_text(source, 450)
    first, last = line_of(source, "FEW, NUMBER 0'"), line_of(source, "FEW, NUMBER 14")
    assert not [line for line in starts(made) if first < line <= last + 1]
    assert [line for line in starts(made) if line < first]


@pytest.mark.proves("C-3")
def test_data_is_cut_at_level_01_and_files_keep_their_records() -> None:
    """A DATA DIVISION above the budget is cut before 01, 77, FD and sections, and nowhere else."""
    data = [
        row
        for at in range(40)
        for row in (f"01  GROUP-{at}.", f"    05  FIELD-{at} PIC X(20).", f"        88  IS-{at} VALUE 'ON'.")
    ]
    lines = [
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. SAMPLE.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  MASTER-FILE.",
        "01  MASTER-RECORD.",
        *(f"    05  MASTER-{at} PIC X(30)." for at in range(10)),
        "01  OTHER-RECORD PIC X(300).",
        "WORKING-STORAGE SECTION.",
        *data,
        "77  COUNTER PIC 9(4).",
    ]
    source = scan(fixed(lines))
    made = of_text(source, 350)
    assert len(made.chunks) > 3
    assert {source.shown(line).split()[0] for line in starts(made)} <= {"01", "77", "FD", "DATA", "WORKING-STORAGE"}
    assert holding(made, line_of(source, "FD  MASTER")) == holding(made, line_of(source, "OTHER-RECORD"))
    assert {chunk.kind for chunk in made.chunks} == {"data"}


@pytest.mark.proves("C-3")
def test_what_redefines_stays_with_what_it_redefines() -> None:
    """A table of values and its redefinition stay together while they fit."""
    data = [
        row
        for at in range(12)
        for row in (
            f"01  VALUES-{at}.",
            *(f"    05  FILLER PIC X(20) VALUE 'ENTRY {n}'." for n in range(6)),
            f"01  TABLE-{at} REDEFINES VALUES-{at}.",
            f"    05  CELL-{at} OCCURS 6 PIC X(20).",
        )
    ]
    source = scanned(["MAIN-LINE.", "    GOBACK."], data)
    made = of_text(source, 400)
    assert len(made.chunks) > 2
    for at in range(12):
        assert holding(made, line_of(source, f"VALUES-{at}.")) == holding(made, line_of(source, f"CELL-{at} "))


@pytest.mark.proves("C-3")
def test_a_table_that_does_not_fit_is_cut_at_lower_levels() -> None:
    """The groups within a single 01 are the cuts, and their condition names stay with them."""
    table = [
        row
        for at in range(40)
        for row in (
            f"    05  ROW-{at}.",
            *(f"        10  CELL-{at}-{n} PIC X(10) VALUE 'CELL {n}'." for n in range(4)),
            f"            88  LAST-{at} VALUE 'LAST'.",
        )
    ]
    source = scanned(["MAIN-LINE.", "    GOBACK."], ["01  BIG-TABLE.", *table])
    made = of_text(source, 500)
    cuts = [source.shown(line).split()[:2] for line in starts(made)]
    assert len(cuts) > 3
    assert {level for level, _ in cuts} <= {"05", "DATA", "PROCEDURE"}


@pytest.mark.proves("C-3")
def test_a_data_division_of_26000_tokens_and_a_paragraph_of_21000_have_a_plan_for_a_small_budget() -> None:
    """Both are cut as often as necessary, and everything fits."""
    data = [f"01  ITEM-{at} PIC X(20) VALUE 'VALUE {at}'." for at in range(1_500)]
    code = paragraph(
        "BUILD-SQL", *(f"STRING 'SELECT {at}' DELIMITED BY SIZE INTO ITEM-{at}" for at in range(1_200)), "."
    )
    source = scanned(code, data)
    made = of_prompts(source, 2_000, overhead=Overhead(texts=("word " * 400,)))
    assert ESTIMATE.count(source.text(1, source.lines)).tokens > 45_000
    assert all(chunk.fits for chunk in made.chunks)
    assert len(made.chunks) < 2 * made.minimum_calls


def test_a_program_of_99000_tokens_in_free_format_with_several_programs_has_a_plan() -> None:
    """Programs share no chunk unless they must, and names include their program."""
    lines = [">>SOURCE FORMAT IS FREE"]
    for name in ("first", "second", "third"):
        lines += ["identification division.", f"program-id. {name}.", "procedure division."]
        lines += [
            row
            for at in range(150)
            for row in (
                f"p-{at}.",
                f"    perform p-{(at * 7) % 150}",
                *(f"    display 'line {n} of paragraph {at}.' *> not the end." for n in range(12)),
                "    .",
            )
        ]
        lines.append(f"end program {name}.")
    source = scan("\n".join(lines))
    made = of_text(source, 8_000)
    assert ESTIMATE.count(source.text(1, source.lines)).tokens > 80_000
    assert len(made.chunks) <= 1.3 * made.minimum_calls
    assert all(chunk.fits for chunk in made.chunks)
    assert "FIRST/p-0" in {unit for chunk in made.chunks for unit in chunk.units}


@pytest.mark.proves("C-11")
def test_programs_of_a_file_are_not_taken_apart() -> None:
    """If the minimum of chunks holds them whole, each has its header, data and code in one chunk."""
    source = scan(b"".join(program(paragraph("MAIN-LINE", length=5), ["01  A PIC X."], f"P{at}") for at in range(20)))
    for made in (of_text(source, 600), of_prompts(source, 1_200)):
        assert 3 < len(made.chunks) < 2 * made.minimum_calls
        for one in source.programs:
            assert holding(made, one.start_line) == holding(made, one.end_line)


# --- C-4, C-5: what does not fit -----------------------------------------------------------------


@pytest.mark.proves("C-5")
def test_a_statement_that_alone_exceeds_the_budget_is_a_chunk_that_is_never_sent() -> None:
    """It is alone in its chunk, has no prompt and is listed; everything else fits."""
    sql = ["EXEC SQL", "    SELECT A", *(f"    , COLUMN_NAME_{at}" for at in range(400)), "END-EXEC."]
    source = scanned([*paragraph("BEFORE", length=20), *paragraph("QUERY", *sql), *paragraph("AFTER", length=20)])
    made = of_prompts(source, 1_500)
    (left_out,) = [chunk for chunk in made.chunks if not chunk.fits]
    first, last = line_of(source, "EXEC SQL"), line_of(source, "END-EXEC")
    assert left_out.spans == ((first, last),)
    assert left_out.prompt_tokens is None
    assert left_out.id not in made.prompts
    assert any(f"lines {first}-{last}" in said for said in made.decisions)


@pytest.mark.proves("C-5")
def test_a_line_that_alone_exceeds_the_budget_is_a_chunk_of_its_own() -> None:
    """This holds even if nothing is known about the line."""
    source = scan("\n".join(["*> short", "display '" + "word " * 500 + "'", "*> short"]))
    made = of_text(source, 100)
    assert [(chunk.spans, chunk.fits) for chunk in made.chunks if not chunk.fits] == [(((2, 2),), False)]


@pytest.mark.proves("C-5")
def test_instructions_above_the_budget_are_a_clear_error() -> None:
    """The error says how much they take and what would be enough."""
    source = scanned(paragraph("MAIN-LINE", length=100))
    with pytest.raises(
        CallerError, match=r"takes \d+ tokens, and a prompt may have 500: no line .* Allow at least \d+"
    ):
        of_prompts(source, 500, overhead=Overhead(texts=("word " * 600,)))


@pytest.mark.proves("C-10")
def test_a_program_that_fits_is_sent_whole_however_little_is_left() -> None:
    """If not even an outline has room, a tiny program may still fit as a whole."""
    source = scanned(["MAIN-LINE.", "    GOBACK."])
    overhead = Overhead(texts=("word " * 600,))
    (needed,) = (chunk.prompt_tokens for chunk in of_prompts(source, 5_000, overhead=overhead).chunks)
    assert [chunk.kind for chunk in of_prompts(source, needed or 0, overhead=overhead).chunks] == ["whole"]
    with pytest.raises(CallerError, match="no line of the program fits"):
        of_prompts(source, (needed or 0) - 50, overhead=overhead)


@pytest.mark.proves("C-5", "C-1")
@pytest.mark.parametrize("budget", [1_000, 2_000, 8_000])
def test_every_prompt_is_within_the_budget_by_the_upper_bound_where_there_is_no_exact_counter(budget: int) -> None:
    """The sent text is counted, overhead and frame included, and reserved room stays free."""
    code = [line for at in range(60) for line in paragraph(f"P-{at}", f"PERFORM P-{(at * 7) % 60}.", length=at % 9)]
    source = scanned(code, [f"01  ITEM-{at} PIC X." for at in range(100)])
    overhead = Overhead(texts=("word " * 300,), reserve_tokens=100)
    made = of_prompts(source, budget, overhead=overhead)
    counted = {
        chunk.id: overhead.frame_tokens
        + sum(ESTIMATE.count(text).high for text in (*overhead.texts, made.prompts[chunk.id]))
        for chunk in made.chunks
    }
    assert counted == {chunk.id: chunk.prompt_tokens for chunk in made.chunks}
    assert max(counted.values()) <= budget - overhead.reserve_tokens
    assert made.overhead_tokens == overhead.frame_tokens + ESTIMATE.count(overhead.texts[0]).high


def test_an_empty_file_has_no_chunk() -> None:
    """There is nothing to send, and the plan says so."""
    made = of_prompts(scan(b""), 1_000)
    assert made.chunks == ()
    assert made.decisions == ("no line: nothing to send",)
    assert chunk(b"", "cobol", 100) == []


def test_a_plan_is_for_prompts_or_for_text() -> None:
    """Giving neither or both is the programmer's mistake."""
    source = scanned(paragraph("MAIN-LINE"))
    for options in ({}, {"prompt_tokens": 100, "source_tokens": 100}):
        with pytest.raises(CallerError, match="prompt_tokens or source_tokens"):
            plan(source, **options)  # type: ignore[arg-type]


# --- C-10, C-11: how many, and which go together -------------------------------------------------


@pytest.mark.proves("C-10")
def test_a_program_that_fits_is_one_chunk_with_the_prompt_of_the_whole() -> None:
    """Every line has its number, and no outline or data is added."""
    source = scanned([*paragraph("MAIN-LINE", "PERFORM OTHER."), *paragraph("OTHER")], ["01  A PIC X."])
    made = of_prompts(source, 2_000)
    (only,) = made.chunks
    assert (only.kind, only.spans, only.context_spans) == ("whole", ((1, source.lines),), ())
    assert (made.minimum_calls, made.kept_edges, made.edges) == (1, 1, 1)
    head, _, body = made.prompts[only.id].partition("\n")
    assert head == f"COBOL program SAMPLE, {source.lines} lines"
    assert body == "Source (line|text), complete:\n" + "".join(
        f"{line}|{source.shown(line)}\n" for line in range(1, source.lines + 1)
    )
    assert made.prompts == of_prompts(source, 100_000).prompts
    assert of_prompts(source, only.prompt_tokens or 0).prompts == made.prompts
    assert len(of_prompts(source, (only.prompt_tokens or 0) - 1).chunks) > 1


@pytest.mark.proves("C-11")
def test_what_calls_each_other_is_in_one_chunk_though_it_is_apart() -> None:
    """Chunks follow the calls, not the order of the lines."""
    families = [
        paragraph(f"{kind}-{family}", *([f"PERFORM WORK-{family}."] if kind == "MAIN" else []), length=14)
        for kind in ("MAIN", "WORK")
        for family in range(4)
    ]
    source = scanned([line for family in families for line in family])
    made = of_text(source, 900)
    assert len(made.chunks) == made.minimum_calls > 2
    assert made.kept_edges == made.edges == 4
    assert any(len(chunk.spans) > 1 for chunk in made.chunks)


@pytest.mark.proves("C-11")
def test_all_that_a_perform_thru_runs_is_kept_together() -> None:
    """The range and its exit paragraph are in the chunk that performs it."""
    code = paragraph("MAIN-LINE", "PERFORM R-1 THRU R-1-EXIT.", "GOBACK.")
    for at in range(6):
        code += [*paragraph(f"FILL-{at}", length=12)]
        if at == 3:
            code += [*paragraph("R-1", length=6), *paragraph("R-1-MIDDLE", length=6), *paragraph("R-1-EXIT", "EXIT.")]
    source = scanned(code)
    made = of_text(source, 700)
    names = ("MAIN-LINE.", "R-1.", "R-1-MIDDLE.", "R-1-EXIT.")
    assert len(made.chunks) > 2
    assert len({holding(made, line_of(source, f" {name}")).id for name in names}) == 1
    assert (made.kept_edges, made.edges) == (1, 1)


@pytest.mark.proves("C-11")
def test_at_most_forty_paragraphs_are_asked_about_in_one_prompt() -> None:
    """Small paragraphs do not fill a prompt; text has no such limit unless it is requested."""
    source = scanned([line for at in range(300) for line in (f"P-{at}.", "    CONTINUE.")])
    prompts = of_prompts(source, 4_000)
    text = of_text(source, 4_000)
    assert MAX_PARAGRAPHS == 40
    assert max(len([unit for unit in chunk.units if unit.startswith("P-")]) for chunk in prompts.chunks) <= 40
    assert prompts.minimum_calls == 8
    assert len(text.chunks) == 1
    assert len(of_text(source, 2_000, max_paragraphs=10).chunks) >= 30


@pytest.mark.proves("C-11")
def test_calls_are_fewer_than_twice_the_minimum_where_paragraphs_are_half_a_chunk_and_more() -> None:
    """Paragraphs that would waste almost half of each chunk are cut, and the plan says so."""
    source = scanned([line for at in range(24) for line in paragraph(f"P-{at}", length=38)])
    made = of_text(source, 1_250)
    assert len(made.chunks) <= 1.3 * made.minimum_calls
    assert any("are cut" in said for said in made.decisions)


@pytest.mark.proves("C-11")
def test_dense_code_gets_smaller_chunks_where_that_is_asked_for() -> None:
    """With branches everywhere there are more chunks; without any there are as many as before."""
    dense = [
        line
        for at in range(30)
        for line in paragraph(f"P-{at}", *(["IF A = 1", "   CONTINUE", "ELSE", "   CONTINUE", "END-IF."] * 4))
    ]
    plain = [line for at in range(30) for line in paragraph(f"P-{at}", length=12)]
    for code, more in ((dense, True), (plain, False)):
        source = scanned(code)
        usual, adapted = (len(of_text(source, 1_200, adaptive=asked).chunks) for asked in (False, True))
        assert (adapted > usual) == more


def test_the_same_source_has_the_same_plan() -> None:
    """M4: nothing depends on a clock, on randomness or on the order of a set."""
    code = [line for at in range(50) for line in paragraph(f"P-{at}", f"PERFORM P-{(at * 17) % 50}.", length=at % 7)]
    data = program(code)
    assert of_text(scan(data), 600) == of_text(scan(data), 600)


def test_the_json_has_what_the_contract_names() -> None:
    """These are the keys that scripts rely on."""
    made = of_prompts(scanned([line for at in range(50) for line in paragraph(f"P-{at}", length=9)]), 2_000)
    found = made.to_dict()
    assert {
        "lines",
        "budget_tokens",
        "chunks",
        "kept_edges",
        "edges",
        "minimum_calls",
        "overhead_tokens",
    } <= found.keys()
    for one, said in zip(made.chunks, found["chunks"], strict=True):  # type: ignore[call-overload]
        assert list(said) == ["id", "kind", "spans", "context_spans", "tokens", "prompt_tokens", "units", "fits"]
        assert said["spans"] == [list(span) for span in one.spans]
        assert (
            said["tokens"]
            == ESTIMATE.count(
                "".join(
                    f"{made_text}\n"
                    for made_text in _lines(
                        one, program([line for at in range(50) for line in paragraph(f"P-{at}", length=9)])
                    )
                )
            ).high
        )


def _lines(one: Chunk, data: bytes) -> list[str]:
    lines = data.decode().split("\n")
    return [lines[line - 1] for first, last in one.spans for line in range(first, last + 1)]


def test_consecutive_spans_are_joined() -> None:
    """A gap is a gap: no span of a chunk begins where another ends."""
    code = [line for at in range(50) for line in paragraph(f"P-{at}", f"PERFORM P-{(at * 17) % 50}.", length=at % 7)]
    made = of_text(scanned(code), 600)
    for one in made.chunks:
        assert all(before[1] + 1 < after[0] for before, after in pairwise(one.spans))


@pytest.mark.parametrize(
    ("last", "runs_on"),
    [
        ("GO TO C.", False),
        ("GO TO B C DEPENDING ON X.", True),
        ("STOP RUN.", False),
        ("STOP 'MOUNT THE TAPE'.", True),
        ("EXIT METHOD.", False),
        ("EXIT FUNCTION.", False),
        ("EXIT PARAGRAPH.", True),
    ],
)
def test_a_paragraph_runs_on_unless_its_last_statement_leaves(last: str, runs_on: bool) -> None:
    """A STOP with a literal only waits, and an item out of range leads a GO TO DEPENDING to the next paragraph."""
    source = scan(program(["A.", f"    {last}", "B.", "    DISPLAY X.", "C.", "    GOBACK."], ["01  X PIC 9."]))
    assert {unit.name: unit.runs_on for unit in UnitLayout(source).units}["A"] is runs_on
