"""What breaks if a number gets more digits after its point, compared with what a compiled program loses?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cobol.test_graph import graph_of
from tests.cobol.test_growth_forms import displayed

from penstock.cobol.graph import Carrying, Grown, growth, nodes_named

if TYPE_CHECKING:
    from pathlib import Path

DATA = (
    "01 R. 05 A PIC X(2). 05 N PIC 9(3)V99. 05 Z PIC X(2).", "01 V REDEFINES R PIC X(9).", "01 P PIC S9(3)V99 COMP-3.",
    "01 B PIC S9(3)V99 COMP.", "01 E PIC ZZ9.99.", "01 I PIC 9(3).", "01 W PIC 9(3)V9(4).", "01 X PIC 9(3)V99.",
    "01 T PIC X(9).",
)  # fmt: skip


def grown(*statements: str, field: str = "N", more: int = 2) -> list[Grown]:
    """Return what follows if a field has some bytes more after its point."""
    lines = (
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        *DATA,
        "PROCEDURE DIVISION.",
        *(f"    {s}." for s in statements),
    )
    text = "".join(f"       {line}\n" for line in ("PROGRAM-ID. P.", *lines, "    GOBACK."))
    graph = graph_of({"p.cbl": text.encode()})
    nodes = nodes_named(graph, f"P.{field}")
    return list(growth(graph, nodes, more, carrying=Carrying(graph), behind_point=True))


@pytest.mark.parametrize(
    ("field", "statement", "told"),
    [
        ("N", "MOVE N TO X", ("too short", "X", 5, 7, "is")),
        ("N", "MOVE N TO P", ("too short", "P", 3, 4, "is")),
        ("N", "MOVE N TO E", ("too short", "E", 6, 8, "is")),
        ("N", "MOVE N TO I", ("cut today", "I", 3, 7, "may")),
        ("N", "IF N = X DISPLAY X END-IF", ("compared", "X", 5, 7, "may")),
        ("P", "MOVE P TO X", ("too short", "X", 5, 9, "is")),  # two bytes hold four digits
        ("B", "MOVE B TO X", ("too short", "X", 5, 10, "is")),  # in eight bytes at least ten digits
        ("I", "MOVE I TO X", None),
    ],
)
def test_a_number_with_fewer_decimals_is_too_short(
    field: str, statement: str, told: tuple[str, str, int, int, str] | None
) -> None:
    """The digits before the point are as many as before."""
    found = [one for one in grown(statement, field=field) if one.what in {"too short", "cut today", "compared"}]
    said = [(one.what, one.node.name[2:], one.bytes, one.needed_bytes, one.certainty) for one in found]
    assert said == ([told] if told else [])


def test_one_with_room_passes_the_digits_on() -> None:
    """W has four digits after the point, and X had both that came through W."""
    (one,) = [one for one in grown("MOVE N TO W", "MOVE W TO X") if one.what == "too short"]
    assert (one.node.name, one.certainty) == ("P.X", "may")


def test_it_grows_at_its_end() -> None:
    """Its first digits, and a text that receives it, stay in place; what follows it moves."""
    assert not [one for one in grown("DISPLAY N(1:3)", "MOVE N TO T", "DISPLAY T(2:2)") if one.what == "part"]
    assert [one.node.name for one in grown("DISPLAY R(8:2)") if one.what == "part"] == ["P.R"]


@pytest.mark.needs("cobc")
def test_a_compiled_program_loses_them(tmp_path: Path) -> None:
    """X and E had all digits before, and now do not."""
    shown = []
    for decimals in (2, 4):
        data = [f"01 N PIC 9(3)V9({decimals}).", *DATA[4:]]
        code = [f"MOVE 123.{'4567'[:decimals]} TO N", "MOVE N TO X E W", "DISPLAY X '-' E '-' W"]
        shown += displayed([*data, "PROCEDURE DIVISION.", *(f"    {one}." for one in code)], tmp_path)
    assert shown == ["123.45-123.45-123.4500", "123.45-123.45-123.4567"]
