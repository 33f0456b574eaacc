"""Where is COBOL cut into consecutive chunks, what stays together, and when is it cut that way?"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.chunk.programs import fixed, paragraph, program
from tests.laws.test_law_chunk import assert_lawful, budgets, sources, texts

from penstock import Allowance
from penstock.chunk import Chunk, chunk, general
from penstock.cobol import scan
from penstock.outline import outline
from penstock.text.tokens import Tokens

ESTIMATE = Tokens()


def in_order(source: str | bytes, budget: int | Allowance) -> list[Chunk]:
    """Return the consecutive chunks of a source."""
    return chunk(source, "cobol", budget, counter=ESTIMATE, consecutive=True)


def cut_before(data: bytes, budget: int | Allowance) -> list[str]:
    """Return the first lines of all chunks but the first, from column 7 on."""
    lines = data.decode().split("\n")
    return [lines[made.spans[0][0] - 1][6:].rstrip() for made in in_order(data, budget)[1:]]


# --- laws ----------------------------------------------------------------------------------------


@pytest.mark.proves("LAW-Chunk")
@given(st.one_of(sources, texts), budgets)
def test_any_cobol_is_partitioned_into_consecutive_chunks_that_fit(source: str, budget: int | Allowance) -> None:
    """Each line is in one chunk with one span; an oversized chunk is a single line; text and bytes give the same chunks."""
    data = source.encode("utf-8", "surrogatepass")
    assume(scan(data).encoding != "cp037")
    made = in_order(source, budget)
    assert_lawful(data, made)
    allowance = budget if isinstance(budget, Allowance) else Allowance.tokens(budget, ESTIMATE)
    lines = data.decode("utf-8", "replace").split("\n")
    for one in made:
        ((first, last),) = one.spans
        ends = "\n" * (last < len(lines))
        assert one.tokens == allowance.measure("\n".join(lines[first - 1 : last]) + ends)
        assert one.fits == (one.tokens <= allowance.limit)
        assert one.fits or first == last
    assert in_order(source, budget) == made == in_order(data, budget)


class Sentence(NamedTuple):
    """A sentence, an entry or a header, with the comments and blank lines before it."""

    comments: list[str]
    lines: list[str]

    @property
    def chars(self) -> int:
        """Return its characters without the comments."""
        return sum(len(line) + 1 for line in self.lines)


def sentences(*, free: bool) -> st.SearchStrategy[list[Sentence]]:
    """Return what a procedure division may contain, line by line."""
    margin, comment, end = ("", "*> a comment.", "  *> no end") if free else ("       ", "000100* a comment.", "")
    codes = ("    MOVE 'A. B' TO C", "      ADD 1 TO D", "    IF A = B", "        DISPLAY 'X.' LENGTH OF Y")
    code = st.sampled_from(codes).map(lambda text: f"{margin}{text}{end}".ljust(73) + "NUMBER 1." * (not free))
    last = st.sampled_from(codes).map(lambda text: f"{margin}{text}.{end}".ljust(72) + "NUMBER 1" * (not free))
    header = st.sampled_from(["PARA-A.", "PARA-B.", "SOME SECTION."]).map(lambda text: [margin + text])
    body = st.builds(lambda before, end: [*before, end], st.lists(code, max_size=4), last)
    comments = st.lists(st.sampled_from([comment, ""]), max_size=3)
    return st.lists(st.builds(Sentence, comments, st.one_of(header, body, body)), max_size=40)


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@given(st.data(), st.integers(30, 2000))
def test_no_cut_is_within_a_sentence_or_behind_its_comments_where_that_can_be_avoided(
    free: bool, data: st.DataObject, budget: int
) -> None:
    """A cut separates comments from code only if both do not fit, and lines only if the sentence alone does not."""
    head = [">>SOURCE FORMAT IS FREE"] * free + ["       PROCEDURE DIVISION."]
    inside = data.draw(sentences(free=free))
    lines = [*head, *(line for one in inside for line in (*one.comments, *one.lines))]
    starts = {made.spans[0][0] for made in in_order("".join(f"{line}\n" for line in lines), Allowance.chars(budget))}
    at = len(head) + 1
    for one in inside:
        code, end = at + len(one.comments), at + len(one.comments) + len(one.lines)
        if one.chars <= budget:
            assert not starts & set(range(code + 1, end))
        if one.chars + sum(len(line) + 1 for line in one.comments) <= budget:
            assert not starts & set(range(at + 1, code + 1))
        at = end


# --- where it is cut -----------------------------------------------------------------------------


@pytest.mark.proves("C-3")
def test_paragraphs_and_records_begin_chunks_with_the_comments_before_them() -> None:
    """A comment stays with what it describes; a chunk names what begins in it, and is not a part of anything earlier."""
    data = program(
        [line for name in "ABCD" for line in paragraph(f"PARA-{name}", length=5)],
        [line for name in "ABCD" for line in ("* about it", f"01  REC-{name}.", *["    05  X PIC X."] * 5)],
    )
    made = in_order(data, Allowance.chars(500))
    assert set(cut_before(data, Allowance.chars(500))) <= {"* about it", "*" + "-" * 30, " PROCEDURE DIVISION."}
    named = {unit for one in made for unit in one.units}
    assert {"PROCEDURE DIVISION (part)", "PARA-C", "01 REC-D"} <= named
    assert not [unit for unit in named if unit.startswith(("PARA", "01")) and unit.endswith("(part)")]


@pytest.mark.proves("C-3")
def test_a_header_is_not_the_last_line_of_a_chunk() -> None:
    """A section stays with its first paragraph, a paragraph with its first sentence, a record with its redefinition."""
    procedure = [
        line
        for at in range(6)
        for line in ("", f"S-{at} SECTION.", *paragraph(f"P-{at}", length=4), *["    ADD 1 TO X."] * 4)
    ]
    data = program(
        procedure, [line for at in range(4) for line in (f"01  A-{at} PIC X(9).", f"01  B REDEFINES A-{at} PIC 9.")]
    )
    lines = data.decode().split("\n")
    for budget in range(300, 1500, 100):
        made = in_order(data, Allowance.chars(budget))
        assert all(one.fits for one in made)
        lasts = [lines[one.spans[0][1] - 1].strip() for one in made[:-1]]
        assert not [last for last in lasts if last.endswith("SECTION.") or last.startswith("P-")]
        assert not [first for first in cut_before(data, Allowance.chars(budget)) if "REDEFINES" in first]


@pytest.mark.proves("C-3")
def test_a_continued_line_is_cut_off_last() -> None:
    """A sentence that does not fit is cut between its lines, but a literal stays whole as long as it fits alone."""
    literal = ["    MOVE 'A LITERAL THAT GOES", "-    'ON AND ON", "-    'AND ON' TO B"]
    data = fixed(["PROCEDURE DIVISION.", "P-1.", *[line for _ in range(9) for line in literal], "    ADD 1 TO X."])
    whole = sum(len(line) + 8 for line in literal)
    assert set(cut_before(data, Allowance.chars(2 * whole))) == {"     MOVE 'A LITERAL THAT GOES"}
    assert "-    'AND ON' TO B" in cut_before(data, Allowance.chars(whole - 10))


@pytest.mark.proves("C-3")
def test_within_a_sentence_lines_to_the_left_begin_chunks() -> None:
    """As a last resort the cut is before a branch of an outer IF rather than a line within it."""
    inner = ["            MOVE 1 TO A", "            MOVE 2 TO B"]
    data = fixed(
        ["PROCEDURE DIVISION.", "P-1.", *["    IF X = 1", *inner, "    ELSE", *inner, "    END-IF"] * 4, "    ."]
    )
    assert set(cut_before(data, Allowance.chars(300))) <= {"     IF X = 1", "     ELSE", "     END-IF"}


def test_words_to_the_printer_are_no_code() -> None:
    """EJECT and SKIP have no period: the paragraph after them is a paragraph, and they stay with it."""
    data = fixed(
        [
            "PROCEDURE DIVISION.",
            *[line for at in range(4) for line in ("    EJECT", f"P-{at}.", *["    ADD 1 TO X."] * 9)],
        ]
    )
    assert [symbol.name for symbol in outline(data, "cobol").symbols][1:] == ["P-0", "P-1", "P-2", "P-3"]
    assert cut_before(data, Allowance.chars(270)) == ["     EJECT"] * 3


def test_columns_are_those_of_letters() -> None:
    """Text after column 72 is not code, however many bytes a letter has: the sentence has its period."""
    line = "           DISPLAY 'ÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜ'.\n"
    assert len(line) < 73 < len(line.encode())
    data = (
        "       PROCEDURE DIVISION.\n       P-1.\n" + (line + "           ADD 1\n             TO X.\n") * 8
    ).encode()
    assert not [text for text in cut_before(data, Allowance.chars(200)) if text.strip() == "TO X."]


# --- when ----------------------------------------------------------------------------------------


CALLS = program([line for at in range(6) for line in paragraph(f"P-{at}", f"PERFORM P-{(at + 3) % 6}.", length=6)])


def test_a_large_source_is_cut_into_consecutive_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the threshold it is clustered, above it is not; the caller can override this in both cases."""
    budget = Allowance.chars(1200)
    clusters, order = (chunk(CALLS, "cobol", budget, consecutive=way) for way in (False, True))
    assert any(len(one.spans) > 1 for one in clusters)
    assert all(len(one.spans) == 1 for one in order)
    for most, usual in ((len(CALLS), clusters), (len(CALLS) - 1, order)):
        monkeypatch.setattr(general, "CLUSTERED_BYTES", most)
        assert chunk(CALLS, "cobol", budget) == usual
        assert chunk(CALLS, None, budget) == usual
        assert chunk(CALLS, "cobol", budget, consecutive=False) == clusters
        assert chunk(CALLS, "cobol", budget, consecutive=True) == order


def test_a_source_in_ebcdic_is_clustered_whatever_was_said() -> None:
    """Its line ends differ, and only the COBOL scanner recognises them."""
    data = b"".join(line.ljust(80).encode("cp037") for line in CALLS.decode().splitlines())
    made = in_order(data, Allowance.chars(1200))
    assert sum(last - first + 1 for one in made for first, last in one.spans) == CALLS.count(b"\n")
    assert made == chunk(data, "cobol", Allowance.chars(1200), consecutive=False)


@pytest.mark.parametrize("language", ["python", "markdown", "text"])
def test_other_languages_have_consecutive_chunks_anyway(language: str) -> None:
    """The option does not matter."""
    text = "# head\n\nsome words\n" * 20
    assert (
        chunk(text, language, 30, consecutive=False)
        == chunk(text, language, 30, consecutive=True)
        == chunk(text, language, 30)
    )
