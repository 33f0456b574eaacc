"""Where are texts in other languages cut, and what is said about the pieces?"""

from __future__ import annotations

from hashlib import sha256

import pytest

from penstock import Allowance, CallerError
from penstock.chunk import chunk
from penstock.chunk.measure import Ruler
from penstock.text.tokens import Calibration, Count, Tokens, best_counter, count

PYTHON = "".join(
    f"# about {name}\n@decorated\nclass {name}:\n"
    + "".join(f"    def method_{at}(self):\n        return {at}\n\n" for at in range(4))
    + "\n"
    for name in ("Alpha", "Beta", "Gamma", "Delta")
)


def cut_before(text: str, language: str | None, budget: int | Allowance) -> list[str]:
    """Return the first lines of all chunks but the first."""
    lines = text.split("\n")
    return [lines[made.spans[0][0] - 1] for made in chunk(text, language, budget)[1:]]


def test_code_is_cut_at_its_landmarks() -> None:
    """Cuts are before classes, with the comments and decorators above them; inside one only if it does not fit."""
    assert cut_before(PYTHON, "python", Allowance.chars(len(PYTHON) // 4 + 10)) == [
        "# about Beta",
        "# about Gamma",
        "# about Delta",
    ]
    inside = cut_before(PYTHON, "python", Allowance.chars(150))
    assert {line.strip().partition("_")[0] for line in inside} <= {
        "# about Beta",
        "# about Gamma",
        "# about Delta",
        "def method",
    }


def test_chunks_name_what_begins_in_them() -> None:
    """A chunk has symbols of the outline, is a part of one if it begins inside, or else has only lines."""
    made = chunk(PYTHON, "python", Allowance.chars(150))
    assert made[0].units[0] == "class Alpha"
    assert made[1].units[0] == "class Alpha (part)"
    assert chunk("a, b;\n" * 10, "sql", Allowance.chars(30))[1].units == ("lines 6-10",)


def test_plain_text_is_cut_at_blank_lines() -> None:
    """Paragraphs of prose stay whole; without blank lines, lines do."""
    prose = "".join(f"One sentence.\nAnother one of {at}.\n\n" for at in range(20))
    assert set(cut_before(prose, None, Allowance.chars(120))) == {"One sentence."}
    assert cut_before("a b c d\n" * 6, "no such language", Allowance.chars(16)) == ["a b c d"] * 2


def test_what_fits_is_one_chunk() -> None:
    """The whole text is named by its landmarks."""
    (made,) = chunk(PYTHON, "python", 10_000)
    assert (made.kind, made.spans, made.fits) == ("whole", ((1, PYTHON.count("\n")),), True)
    assert made.tokens == count(PYTHON, mode="exact" if best_counter("o200k").mode == "exact" else "estimate").high
    assert {"class Alpha", "class Delta"} <= set(made.units)


def test_a_line_that_does_not_fit_says_so() -> None:
    """The line is a chunk alone; its neighbours are not affected."""
    made = chunk("short\n" + "x" * 100 + "\nshort\n", "text", Allowance.chars(20))
    assert [(one.spans, one.fits) for one in made] == [(((1, 1),), True), (((2, 2),), False), (((3, 3),), True)]


def test_the_language_is_known_by_its_first_bytes() -> None:
    """COBOL without a name is recognised, with chunks as for COBOL."""
    code = ("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "PROCEDURE DIVISION.", "MAIN-LINE.", "    GOBACK.")
    text = "".join(f"       {line}\n" for line in code)
    assert "MAIN-LINE" in {unit for made in chunk(text, None, 20) for unit in made.units}
    assert chunk(text, None, 20) == chunk(text.encode(), "cobol", 20)


def test_chunks_that_are_alike_have_ids_of_their_own() -> None:
    """The same text twice gives two chunks."""
    made = chunk("same\n" * 9, "text", Allowance.chars(15))
    assert len({one.id for one in made}) == len(made) == 3
    assert len({one.digest for one in made}) == 1


@pytest.mark.parametrize(
    "data", [b"caf\xe9\r\na\x0cb\n\xff\rc\n\n", "a\x0bb\u2028c\r\nd\x85\n\ufffd\n".encode(), b"a\r\nb\n"]
)
def test_a_digest_is_of_the_bytes(data: bytes) -> None:
    """Lines end at newlines only, and the digest is of the file's bytes, whatever they are."""
    data = data * 30 + b"end"
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + lines[-1:]
    for made in chunk(data, "text", Allowance.chars(50)):
        ((first, last),) = made.spans
        assert made.digest == sha256(b"".join(lines[first - 1 : last])).hexdigest()


class Steep:
    """A counter that counts long texts twice as high as short ones, so that lines count less than their sum."""

    def count(self, text: str, /) -> Count:
        """Count one per letter, and two above 200 letters."""
        tokens = len(text) * (1 + (len(text) > 200))
        return Count(tokens=tokens, low=tokens, high=tokens, method="steep")


def test_what_is_more_than_its_lines_promised_is_cut_again() -> None:
    """A chunk is counted as a whole and cut until it fits, at landmarks as long as there are any."""
    made = chunk("abcd\n" * 200, "text", Allowance.tokens(300, Steep()))
    assert all(one.fits and one.tokens <= 300 for one in made)
    assert [one.spans[0][0] for one in made[1:]] == [one.spans[0][1] + 1 for one in made[:-1]]
    prose = "".join(f"One sentence.\nAnother one of {at}.\n\n" for at in range(20))
    assert set(cut_before(prose, None, Allowance.tokens(300, Steep()))) == {"One sentence."}


def test_a_budget_of_nothing_is_a_mistake() -> None:
    """Nothing fits into an empty budget."""
    with pytest.raises(CallerError, match="at least 1"):
        chunk("a", "text", 0)


@pytest.mark.parametrize(
    "counter",
    [
        Tokens(),
        Tokens(model="claude"),
        Tokens(calibration=Calibration(estimated_tokens=10, reported_tokens=20, most=(3, 2))),
        best_counter("o200k"),
    ],
    ids=["estimate", "claude", "calibrated", "best"],
)
def test_what_lines_add_is_close_to_the_whole(counter: Tokens) -> None:
    """For any counter, the sum over the lines is above the whole, or below it by less than one in a hundred."""
    lines = [f"{at}|           MOVE WS-FIELD-{at} TO OUT-{at % 7}\n" for at in range(1, 800)]
    ruler = Ruler(1, counter)
    whole = ruler.whole("".join(lines))
    assert 0.99 * whole <= sum(ruler.lines(lines)) <= 1.1 * whole + 20


def test_half_of_a_surrogate_pair_is_measured_like_any_other_text() -> None:
    """An exact tokenizer refuses it, so its lines are counted one by one."""
    lines = ["a \ud800 b\n", "plain\n"]
    ruler = Ruler(1, best_counter("o200k"))
    assert ruler.lines(lines) == ruler.wholes(lines) == [ruler.whole(line) for line in lines]
