"""Does growth agree with a compiled program for statements other than a MOVE of one item to another?

Each statement fills an item, and another of its kind that has room for anything: if the two then differ, the first was cut.
"""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.cobol.compiled import Item
from tests.cobol.test_graph import graph_of

from penstock.cobol.graph import Carrying, Grown, growth, nodes_named

if TYPE_CHECKING:
    from pathlib import Path

TEXTS, NUMBERS = ("text",), ("digits", "signed", "packed", "binary")
WIDE = {"text": 60, "digits": 18, "signed": 18, "packed": 18, "binary": 18}


class Form(NamedTuple):
    """A statement by which data of S reaches T."""

    statement: str
    sources: tuple[str, ...] = TEXTS
    targets: tuple[str, ...] = TEXTS
    is_exact: bool = True
    """Whether lengths alone decide what is cut; otherwise it is only a `may`."""
    is_length: bool = False
    """Whether T receives a length of S, and has one digit."""


FORMS = (
    Form("PERFORM VARYING {t} FROM {s} BY 1 UNTIL 1 = 1 CONTINUE END-PERFORM", NUMBERS, NUMBERS),
    Form("PERFORM VARYING N FROM 1 BY 1 UNTIL N > 1 AFTER {t} FROM {s} BY 1 UNTIL 1 = 1 CONTINUE END-PERFORM", NUMBERS, NUMBERS),
    Form("MOVE FUNCTION TRIM({s}) TO {t}"),
    Form("MOVE FUNCTION TRIM({s} TRAILING) TO {t}"),
    Form("MOVE FUNCTION UPPER-CASE({s}) TO {t}"),
    Form("MOVE FUNCTION LOWER-CASE(FUNCTION REVERSE({s})) TO {t}"),
    Form("STRING FUNCTION UPPER-CASE({s}) DELIMITED BY SIZE INTO {t}", is_exact=False),
    Form("STRING FUNCTION TRIM({s}) '--' DELIMITED BY SIZE INTO {t}", is_exact=False),
    Form("MOVE 1 TO N, STRING '-' {s} DELIMITED BY SIZE INTO {t} WITH POINTER N", is_exact=False),
    Form("UNSTRING {s} DELIMITED BY '*' INTO {t}", is_exact=False),
    Form("UNSTRING {s} INTO {t}", is_exact=False),
    Form("MOVE LENGTH OF {s} TO {t}", TEXTS, NUMBERS[:3], is_length=True),
    Form("MOVE FUNCTION LENGTH({s}) TO {t}", TEXTS, NUMBERS[:3], is_length=True),
    Form("COMPUTE {t} = LENGTH OF {s}", TEXTS, NUMBERS[:3], is_exact=False, is_length=True),
    Form("MOVE 0 TO {t}, INSPECT {s} TALLYING {t} FOR CHARACTERS", TEXTS, NUMBERS[:3], is_exact=False, is_length=True),
    Form("UNSTRING {s} DELIMITED BY '*' INTO X COUNT IN {t}", TEXTS, NUMBERS[:3], is_exact=False, is_length=True),
    Form("INITIALIZE {t} REPLACING ALPHANUMERIC DATA BY {s}"),
    Form("INITIALIZE {t} REPLACING NUMERIC DATA BY {s}", NUMBERS, NUMBERS),
)  # fmt: skip
CASES = 8
"""The cases of each statement."""


class Case(NamedTuple):
    """A statement with its two items, and how many bytes the first grows."""

    form: Form
    source: Item
    target: Item
    more: int


def drawn(seed: int) -> list[Case]:
    """Return cases of all statements."""
    draw = random.Random(seed)
    found = []
    for form in FORMS:
        for _ in range(CASES):
            source = Item(draw.choice(form.sources), draw.randint(5, 9))
            target = Item(draw.choice(form.targets), 1 if form.is_length else draw.randint(5, 11))
            # More than nine digits would give the binary item more bytes than the oracle has.
            found.append(Case(form, source, target, 1 if source.kind == "binary" else draw.randint(1, 3)))
    return [one for one in found if one.source.kind != "binary" or one.source.bytes() < 4]


def cut(cases: list[tuple[Case, Item]], folder: Path) -> list[bool]:
    """Return, for each statement with a sender of that length, whether the item that it fills is too short."""
    data, code = ["01 N PIC 99.", "01 X PIC X(60)."], []
    for at, (case, source) in enumerate(cases):
        wide = case.target._replace(places=WIDE[case.target.kind])
        data += [source.declared(f"S{at}"), case.target.declared(f"T{at}"), wide.declared(f"W{at}")]
        value = "9876543219876543219"[: source.places] if source.kind in NUMBERS else "'ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        code.append(f"MOVE {value if source.kind in NUMBERS else f'{value[: source.places + 1]}{chr(39)}'} TO S{at}")
        for name in ("T", "W"):
            if case.target.kind == "text":
                code.append(f"MOVE SPACES TO {name}{at}")
            code.append(case.form.statement.format(s=f"S{at}", t=f"{name}{at}"))
        code.append(f"IF T{at} = W{at} DISPLAY {at} ' 0' ELSE DISPLAY {at} ' 1'")
    lines = [
        "IDENTIFICATION DIVISION.", "PROGRAM-ID. FORMS.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", *data,
        "PROCEDURE DIVISION.", *(f"    {one}." for one in code), "    STOP RUN.",
    ]  # fmt: skip
    source_file, program = folder / "forms.cob", folder / "forms"
    source_file.write_text("\n".join(lines) + "\n")
    options = ["-x", "-free", "-w", "-std=default", "-fbinary-size=2-4-8", "-o", str(program), str(source_file)]
    done = subprocess.run(["cobc", *options], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=True)
    rows = [tuple(map(int, line.split())) for line in ran.stdout.splitlines()]
    assert [row[0] for row in rows] == list(range(len(cases)))
    return [row[1] == 1 for row in rows]


def told(cases: list[Case]) -> list[Grown | None]:
    """Return what growth reports for the item that each statement fills."""
    lines = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    lines += ["01 N PIC 99.", "01 X PIC X(60)."]
    for at, case in enumerate(cases):
        lines += [case.source.declared(f"S{at}"), case.target.declared(f"T{at}")]
    lines += ["PROCEDURE DIVISION."]
    lines += [f"    {one.form.statement.format(s=f'S{at}', t=f'T{at}')}." for at, one in enumerate(cases)]
    graph = graph_of({"p.cbl": "".join(f"{line}\n" for line in [*lines, "    STOP RUN."]).encode()})
    carrying = Carrying(graph)
    found = []
    for at, case in enumerate(cases):
        grown = growth(graph, nodes_named(graph, f"P.S{at}"), case.more, carrying=carrying)
        found.append(next((one for one in grown if one.node.name == f"P.T{at}"), None))
    return found


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("seed", [1])
def test_what_a_statement_cuts_is_named_and_what_is_sure_is_cut(seed: int, tmp_path: Path) -> None:
    """For every statement that gives an item data, as for a MOVE: what is seen cut is named, and `is` is seen cut."""
    cases = drawn(seed)
    results = iter(cut([(one, size) for one in cases for size in (one.source, *one.source.grown(one.more))], tmp_path))
    wrong = []
    for case, grown in zip(cases, told(cases), strict=True):
        before, least, most = (next(results) for _ in range(3))
        sure = grown is not None and grown.certainty == "is"
        said = f"{case.form.statement}: {case.source}, {case.target}, {case.more} more: {grown}"
        if most and grown is None:
            wrong.append(f"not named: {said}")
        if sure and (before or not least):
            wrong.append(f"not cut: {said}")
        if case.form.is_exact and least and not before and not sure:
            wrong.append(f"not sure: {said}")
        if case.form.is_exact and not most and grown is not None:
            wrong.append(f"named, and not cut: {said}")
    assert not wrong, "\n".join(wrong)


class PlacedPart(NamedTuple):
    """A part of a record of texts, given by its place, and the text that grows."""

    lengths: tuple[int, ...]
    grown: int
    more: int
    start: int
    length: int | None

    def record(self, name: str, *, then: bool = False) -> list[str]:
        """Return the entries of the record before or after the growth; each text has letters of its own."""
        letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        lines = [f"01 {name}."]
        for at, length in enumerate(self.lengths):
            value = "".join(next(letters) for _ in range(length))
            more = self.more if then and at == self.grown else 0
            lines.append(f"   05 {name}-{at} PIC X({length + more}) VALUE '{value}'.")
        return lines

    def named(self, name: str) -> str:
        """Return the part as a statement names it."""
        return f"{name}({self.start}:{self.length or ''})"


def placed_parts(seed: int) -> list[PlacedPart]:
    """Return parts of records."""
    draw = random.Random(seed)
    found = []
    for _ in range(120):
        lengths = tuple(draw.randint(1, 5) for _ in range(draw.randint(2, 5)))
        start = draw.randint(1, sum(lengths))
        length = draw.choice([None, *range(1, sum(lengths) - start + 2)])
        found.append(PlacedPart(lengths, draw.randrange(len(lengths)), draw.randint(1, 3), start, length))
    return found


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("statement", ["MOVE {0} TO {1}", "IF {0} = 'X' CONTINUE END-IF", "MOVE 'X' TO {0}"])
def test_a_part_that_is_named_by_its_place_has_other_bytes_then(statement: str, tmp_path: Path) -> None:
    """A compiled program displays the bytes at that place, for the record of today and for the grown one."""
    cases = placed_parts(1)
    shown = []
    for then in (False, True):
        data = [line for at, case in enumerate(cases) for line in case.record(f"R{at}", then=then)]
        # A part up to the end of the record is examined as far as it extends today.
        parts = [
            f"R{at}({case.start}:{case.length or sum(case.lengths) - case.start + 1})" for at, case in enumerate(cases)
        ]
        shown.append(displayed([*data, "PROCEDURE DIVISION.", *(f"    DISPLAY {one}." for one in parts)], tmp_path))
    lines = [line for at, case in enumerate(cases) for line in (*case.record(f"R{at}"), f"01 T{at} PIC X(30).")]
    lines += ["PROCEDURE DIVISION."]
    lines += [f"    {statement.format(case.named(f'R{at}'), f'T{at}')}." for at, case in enumerate(cases)]
    head = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    graph = graph_of({"p.cbl": "".join(f"{line}\n" for line in [*head, *lines, "    GOBACK."]).encode()})
    carrying = Carrying(graph)
    for at, case in enumerate(cases):
        grown = growth(graph, nodes_named(graph, f"P.R{at}-{case.grown}"), case.more, carrying=carrying)
        said = {one.certainty for one in grown if one.what in {"part", "other layout", "cut today"}}
        before = sum(case.lengths[: case.grown])
        is_begun = case.start - 1 <= before and case.start - 1 + (case.length or 99) < sum(case.lengths)
        sure = "may" if is_begun and "TO {1}" in statement else "is"  # only the beginning is moved, as it is today
        assert said == ({sure} if shown[0][at] != shown[1][at] else set()), (case, shown[0][at], shown[1][at], grown)


def displayed(lines: list[str], folder: Path) -> list[str]:
    """Return the lines that a program displays."""
    head = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. SHOWN.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    source, program = folder / "shown.cob", folder / "shown"
    source.write_text("\n".join([*head, *lines, "    STOP RUN."]) + "\n")
    options = ["-x", "-free", "-w", "-std=default", "-o", str(program), str(source)]
    done = subprocess.run(["cobc", *options], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
