"""Does growth follow each use of a field with several uses to where it goes, and no other?

GnuCOBOL says what a program leaves in its items after each MOVE; a model in Python says what it would leave if some were longer.
"""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.cobol.sources import program
from tests.cobol.test_graph import graph_of

from penstock.cobol.graph import Carrying, growth, nodes_named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ITEMS, MOVES, MORE = 5, 3, 2


class Left(NamedTuple):
    """The content that a MOVE leaves in an item, and whether that is less than what the first sender held."""

    item: int
    value: str
    is_cut: bool


class Moves(NamedTuple):
    """Paragraphs of MOVEs between some texts, and the order in which they are performed."""

    lengths: tuple[int, ...]
    paragraphs: tuple[tuple[tuple[int, int], ...], ...]
    performed: tuple[int, ...]

    def names(self, number: int) -> list[str]:
        """Return the names of the items, in a program that has this as the case with a number."""
        return [f"F{number}-{at}" for at in range(ITEMS)]

    def data(self, number: int) -> list[str]:
        """Return the declarations; each item is full of a letter of its own."""
        names = zip(self.names(number), self.lengths, strict=True)
        return [f"01 {name} PIC X({n}) VALUE ALL '{chr(65 + at)}'." for at, (name, n) in enumerate(names)]

    def code(self, number: int, *, shows: bool = False) -> tuple[list[str], list[str]]:
        """Return the code that performs the paragraphs, and the paragraphs, which with `shows` display what each MOVE moves."""
        names, lines = self.names(number), []
        for at, moves in enumerate(self.paragraphs):
            lines.append(f"P{number}-{at}.")
            for one, other in moves:
                shown = f" DISPLAY '{number} ' {names[other]} '.'" * shows
                lines.append(f"    MOVE {names[one]} TO {names[other]}{shown}.")
        return [f"    PERFORM P{number}-{at}." for at in self.performed], lines

    def left(self, longer: Mapping[int, int], more: int = 0) -> list[Left]:
        """Return what each performed MOVE leaves if some items have other lengths, and the first has `more` letters more."""
        lengths = [longer.get(at, n) for at, n in enumerate(self.lengths)]
        full = {chr(65 + at): n + (0 if at else more) for at, n in enumerate(self.lengths)}
        values = [letter * n for letter, n in full.items()]
        found = []
        for at in self.performed:
            for one, other in self.paragraphs[at]:
                values[other] = values[one][: lengths[other]]
                found.append(Left(other, values[other], len(values[other]) < full[values[other][0]]))
        return found


def drawn(seed: int, count: int) -> list[Moves]:
    """Return some programs."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        # A value that fits into an item with room is not followed, and may be shorter than the item.
        lengths = (draw.randint(3, 6),) * ITEMS
        paragraphs = tuple(
            tuple(
                (draw.choice([one for one in range(ITEMS) if one != other]), other)
                for other in draw.choices(range(1, ITEMS), k=MOVES)
            )
            for _ in range(3)
        )
        several = tuple(draw.randrange(3) for _ in range(draw.randint(2, 4)))
        found.append(Moves(lengths, paragraphs, draw.choice([several, tuple(draw.sample(range(3), 3))])))
    return found


def source(cases: list[Moves], *, shows: bool = False) -> list[str]:
    """Return a program of all cases."""
    parts = [case.code(number, shows=shows) for number, case in enumerate(cases)]
    head = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    head += [line for number, case in enumerate(cases) for line in case.data(number)]
    performed = [line for performs, _ in parts for line in performs]
    return [*head, "PROCEDURE DIVISION.", *performed, "    STOP RUN.", *(line for _, lines in parts for line in lines)]


@pytest.mark.needs("cobc")
def test_a_compiled_program_leaves_what_the_moves_are_said_to_leave(tmp_path: Path) -> None:
    """This checks the model in Python on which the next test relies."""
    cases = drawn(1, 40)
    text, binary = tmp_path / "uses.cob", tmp_path / "uses"
    text.write_text("\n".join(source(cases, shows=True)) + "\n")
    subprocess.run(["cobc", "-x", "-free", "-w", "-o", str(binary), str(text)], check=True, timeout=120)
    shown = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    assert shown == [
        f"{number} {one.value.ljust(case.lengths[one.item])}."
        for number, case in enumerate(cases)
        for one in case.left({})
    ]


@pytest.mark.parametrize("seed", [2, 3])
def test_only_what_a_use_brings_is_too_short_for_it(seed: int) -> None:
    """Once everything named has grown, nothing more is cut; and each named item would be cut if it alone had not grown."""
    cases = drawn(seed, 40)
    graph = graph_of({"p.cbl": "".join(f"{line}\n" for line in source(cases)).encode()})
    carrying = Carrying(graph)
    for number, case in enumerate(cases):
        grown = growth(graph, nodes_named(graph, f"P.F{number}-0"), MORE, carrying=carrying)
        length = {int(one.node.name[-1]): one.needed_bytes or 0 for one in grown if one.what in {"field", "too short"}}
        today = {int(one.node.name[-1]) for one in grown if one.what == "cut today"}
        assert cut(case, length) <= today, (number, case, grown)
        sure = {int(one.node.name[-1]) for one in grown if one.what == "too short" and one.certainty == "is"}
        # If a paragraph runs twice or never, growth may report paths that the program does not take.
        for at in sure if sorted(case.performed) == [0, 1, 2] else ():
            shorter = {other: one for other, one in length.items() if other != at}
            assert at in cut(case, shorter), (number, at, case, grown)


def cut(case: Moves, lengths: Mapping[int, int]) -> set[int]:
    """Return the items that cut something with the longer lengths and did not before."""
    return {
        then.item
        for now, then in zip(case.left({}), case.left(lengths, MORE), strict=True)
        if then.is_cut and not now.is_cut
    }


SCRATCH = ("01 A PIC X(5).", "01 T PIC X(5).", "01 B PIC X(5).", "01 X PIC X(5).", "01 Y PIC X(5).", "01 N PIC 9(5).")


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (("MOVE A TO T.", "MOVE T TO B.", "MOVE X TO T.", "MOVE T TO Y."), {"T", "B"}),
        (("MOVE X TO T.", "MOVE T TO Y.", "MOVE A TO T.", "MOVE T TO B."), {"T", "B"}),
        # Either value may be there.
        (("MOVE X TO T.", "IF X = 'X' MOVE A TO T.", "MOVE T TO Y."), {"T", "Y"}),
        (("PERFORM Q UNTIL X = 'X'.", "GOBACK.", "Q.", "MOVE T TO Y.", "MOVE A TO T."), {"T", "Y"}),
        (("MOVE A TO T.", "MOVE SPACES TO T.", "MOVE T TO Y."), {"T"}),
        (("MOVE A TO T.", "CALL 'TWO' USING T.", "MOVE T TO Y."), {"T", "Y"}),
        # Text that a number receives, or that follows another text, has the blanks of the longer item.
        (("MOVE A TO T.", "MOVE X TO T.", "MOVE T TO N."), {"T", "N"}),
        (("MOVE A TO T.", "MOVE X TO T.", "STRING T DELIMITED BY SIZE INTO Y."), {"T", "Y"}),
    ],
)
def test_a_scratch_field_carries_the_growth_of_one_use_to_that_use(
    statements: tuple[str, ...], named: set[str]
) -> None:
    """The paths through the program decide; if they are unknown, all uses are followed."""
    graph = graph_of({"p.cbl": program(*statements, data=SCRATCH).encode()})
    found = growth(graph, nodes_named(graph, "P.A"), 2, carrying=Carrying(graph))
    assert {one.node.name.removeprefix("P.") for one in found if one.what == "too short"} == named
