"""Does growth report as too short what a compiled program cuts? GnuCOBOL is the oracle."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.cobol.compiled import NUMBERS, Item, ran
from tests.cobol.test_graph import graph_of

from penstock.cobol.graph import Carrying, Grown, growth, nodes_named

if TYPE_CHECKING:
    from pathlib import Path

KINDS = (
    "text", "right", "group", "spaced", "digits", "signed", "apart", "decimals", "scaled", "packed", "binary", "native",
    "long", "edited", "money", "minus", "date",
)  # fmt: skip
CASES = 240


def may_move(one: Item, other: Item) -> bool:
    """Return whether the standard allows a MOVE of one to the other, and the oracle supports it."""
    if "group" in {one.kind, other.kind}:
        return True
    if one.kind == "decimals":
        return other.kind in NUMBERS
    if (one.kind, other.kind) == ("scaled", "packed"):
        return False  # GnuCOBOL 3.1 leaves no digit in the last place but one
    return not (one.kind == "spaced" and other.kind in NUMBERS)


def drawn(seed: int) -> list[tuple[Item, Item, int]]:
    """Return items, the items that they are moved to, and how many bytes they grow."""
    draw = random.Random(seed)
    found: list[tuple[Item, Item, int]] = []
    while len(found) < CASES:
        one, other = (Item(draw.choice(KINDS), draw.randint(5, 9)) for _ in "12")
        more = draw.randint(1, 3)
        # A binary item of more than nine digits would get eight bytes, which hold more digits than the other items may have.
        if one.kind == "long" or (one.kind in {"binary", "native"} and one.bytes() + more > 4):
            continue
        if may_move(one, other):
            found.append((one, other, more))
    return found


def lost(pairs: list[tuple[Item, Item]], folder: Path) -> list[bool]:
    """Return, for each pair, whether a compiled MOVE of one to the other loses something."""
    data, code = [], []
    for at, (one, other) in enumerate(pairs):
        data += [one.declared(f"S{at}"), other.declared(f"T{at}")]
        # All places are filled, so that every loss shows, except the place of P, which MOVE rounds off.
        value = (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
            if one.kind not in NUMBERS and other.kind not in NUMBERS
            else "987654321987654321"
        )
        length = one.places if one.kind in NUMBERS else one.bytes()
        value = f"{value[: length - 1]}0" if "scaled" in {one.kind, other.kind} else value[:length]
        sign = "-" * (one.kind == "minus" and other.kind not in NUMBERS)
        code.append(f"MOVE {sign}{value if one.kind in NUMBERS else repr(value)} TO S{at}")
        code.append(f"MOVE S{at} TO T{at}")
        # A receiver of the same kind that has room for anything.
        whole = "NUMBER" if other.kind in NUMBERS and one.kind != "group" else "TEXT-1"
        if "group" in {one.kind, other.kind}:
            whole = "GROUP-1"
        if whole == "GROUP-1":
            code.append(
                f"MOVE SPACES TO GROUP-1, MOVE S{at} TO GROUP-1, DISPLAY {at} ' ' LENGTH OF S{at} ' ' LENGTH OF T{at}"
            )
        elif whole == "NUMBER":
            code.append(f"MOVE S{at} TO NUMBER-1, MOVE T{at} TO NUMBER-2")
            code.append(f"IF NUMBER-1 = NUMBER-2 DISPLAY {at} ' 1 1' ELSE DISPLAY {at} ' 1 0'")
        else:
            code.append(f"MOVE S{at} TO TEXT-1, MOVE T{at} TO TEXT-2, PERFORM SQUEEZE")
            code.append(f"IF TEXT-1 = TEXT-2 DISPLAY {at} ' 1 1' ELSE DISPLAY {at} ' 1 0'")
    squeeze = [
        f"MOVE SPACES TO TEXT-3, MOVE 1 TO P, PERFORM VARYING I FROM 1 BY 1 UNTIL I > 60 "
        f"IF {name}(I:1) NOT = SPACE MOVE {name}(I:1) TO TEXT-3(P:1) ADD 1 TO P END-IF END-PERFORM MOVE TEXT-3 TO {name}"
        for name in ("TEXT-1", "TEXT-2")
    ]
    lines = [
        "IDENTIFICATION DIVISION.", "PROGRAM-ID. ORACLE.", "DATA DIVISION.", "WORKING-STORAGE SECTION.",
        "01 NUMBER-1 PIC S9(18)V99.", "01 NUMBER-2 PIC S9(18)V99.", "01 TEXT-1 PIC X(60).", "01 TEXT-2 PIC X(60).",
        "01 TEXT-3 PIC X(60).", "01 GROUP-1. 05 FILLER PIC X(60).", "01 I PIC 99.", "01 P PIC 99.",
        *data, "PROCEDURE DIVISION.", *(f"    {one}." for one in code), "    STOP RUN.",
        "SQUEEZE.", *(f"    {one}." for one in squeeze),
    ]  # fmt: skip
    rows = [tuple(map(int, line.split())) for line in ran(lines, folder, "oracle").splitlines()]
    assert [row[0] for row in rows] == list(range(len(pairs)))
    return [row[2] < row[1] for row in rows]


def told(cases: list[tuple[Item, Item, int]]) -> list[Grown | None]:
    """Return what growth reports for the second item of each case."""
    lines = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    for at, (one, other, _) in enumerate(cases):
        lines += [one.declared(f"S{at}"), other.declared(f"T{at}")]
    lines += ["PROCEDURE DIVISION.", *(f"    MOVE S{at} TO T{at}." for at in range(len(cases))), "    STOP RUN."]
    graph = graph_of({"p.cbl": "".join(f"       {line}\n" for line in lines).encode()})
    carrying = Carrying(graph)
    found = []
    for at, (_, _, more) in enumerate(cases):
        grown = growth(graph, nodes_named(graph, f"P.S{at}"), more, carrying=carrying)
        found.append(
            next((one for one in grown if one.what in {"too short", "cut today"} and one.node.name == f"P.T{at}"), None)
        )
    return found


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_too_short_loses_something_and_what_loses_something_is_named(seed: int, tmp_path: Path) -> None:
    """For moves between items of all kinds: `is` is seen cut only after the growth, and what is seen cut is named."""
    cases = drawn(seed)
    said = told(cases)
    pairs = []
    for (one, other, more), grown in zip(cases, said, strict=True):
        least, most = one.grown(more)
        needed = other
        if grown is not None and grown.needed_bytes is not None and other.kind != "long":
            places = grown.needed_digits or other.places + grown.needed_bytes - other.bytes()
            # A group of nine bytes is more than a binary item of the oracle holds, which is 18 digits in 8 bytes.
            needed = other._replace(places=places) if places <= 18 else Item("text", grown.needed_bytes)
            assert needed.bytes() == grown.needed_bytes, (one, other, more, grown)
        pairs += [(one, other), (least, other), (most, other), (most, needed)]
    results = iter(lost(pairs, tmp_path))
    wrong = []
    for (one, other, more), grown in zip(cases, said, strict=True):
        before, least_lost, most_lost, then = (next(results) for _ in range(4))
        sure = grown is not None and grown.certainty == "is"
        if sure and (before or not least_lost):
            wrong.append(f"said to be too short: {one} to {other}, {more} more; before {before}, then {least_lost}")
        if most_lost and grown is None:
            wrong.append(f"not named: {one} to {other}, {more} more")
        if least_lost and not before and not sure:
            wrong.append(f"not sure: {one} to {other}, {more} more: {grown}")
        if then and other.kind != "long":
            wrong.append(f"still too short: {one} to {other}, {more} more: {grown}")
    assert not wrong, "\n".join(wrong)


class Record(NamedTuple):
    """A record declaration, the names in it, and its texts that may grow."""

    lines: tuple[str, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...]

    def grown(self, name: str, more: int) -> Record:
        """Return the record in which a text has more characters."""
        lines = []
        for line in self.lines:
            if line.split()[1] == name:
                head, _, length = line.rpartition("X(")
                line = f"{head}X({int(length.rstrip('). ')) + more})."  # noqa: PLW2901
            lines.append(line)
        return self._replace(lines=tuple(lines))


def record(draw: random.Random, number: int) -> Record:
    """Return a record with groups, tables, aligned items, redefinitions and renames."""
    lines, names, texts, plain = [f"01 R{number}."], [f"R{number}"], [], []

    def fill(level: int, *, is_table: bool = False, is_aligned: bool = True) -> None:
        before = ""
        # GnuCOBOL does not align items of a table after a nested group, and begins a group before the slack bytes of its first
        # item.
        is_flat = is_table and is_aligned
        for at in range(draw.randint(1, 4)):
            name = f"F{number}-{len(names)}"
            names.append(name)
            kind = draw.choice(["text", "text", "binary", "binary", "half", "packed", "group", "table", "over"])
            if kind in {"group", "table"} and level < 20 and not is_flat:
                occurs = f" OCCURS {draw.randint(2, 4)}" * (kind == "table")
                lines.append(f"{level} {name}{occurs}.")
                is_inside = is_table or kind == "table"
                fill(level + 5, is_table=is_inside, is_aligned=not is_table and (not is_inside or draw.random() < 0.5))
                before = "" if kind == "table" else name
            elif kind == "over" and before:
                lines.append(f"{level} {name} REDEFINES {before} PIC X.")
                before = ""
            else:
                sync = draw.choice(["", " SYNC"]) if at and is_aligned else ""
                clauses = {
                    "binary": f"PIC 9(7) COMP{sync}",
                    "half": f"PIC 9(3) COMP{sync}",
                    "packed": "PIC 9(5) COMP-3",
                }
                lines.append(f"{level} {name} {clauses.get(kind, f'PIC X({draw.randint(1, 9)})')}.")
                if kind not in clauses:
                    texts.append(name)
                if not is_table:
                    plain.append(name)
                before = name

    fill(5)
    if len(plain) > 1 and draw.random() < 0.5:
        one, other = sorted(draw.sample(range(len(plain)), 2))
        names.append(f"N{number}")
        lines.append(f"66 N{number} RENAMES {plain[one]} THRU {plain[other]}.")
    return Record(tuple(lines), tuple(names), tuple(texts))


def lengths(records: list[Record], folder: Path) -> dict[str, int]:
    """Return the lengths of everything in some records, as a compiled program reports them."""
    lines = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. ORACLE.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    lines += [line for one in records for line in one.lines]
    shown = [f"    DISPLAY '{name} ' LENGTH OF {name}." for one in records for name in one.names]
    said = ran([*lines, "PROCEDURE DIVISION.", *shown, "    STOP RUN."], folder, "lengths")
    return {name: int(length) for name, length in (line.split() for line in said.splitlines())}


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("seed", [1, 2])
def test_what_gets_longer_has_the_length_that_the_grown_record_has(seed: int, tmp_path: Path) -> None:
    """Groups, records and renames are checked, with the slack bytes of SYNC, before and after a text grows."""
    draw = random.Random(seed)
    records = [one for one in (record(draw, number) for number in range(120)) if one.texts]
    picked = [(draw.choice(one.texts), draw.randint(1, 5)) for one in records]
    lines = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    lines += [*(line for one in records for line in one.lines), "PROCEDURE DIVISION.", "    GOBACK."]
    graph = graph_of({"p.cbl": "".join(f"       {line}\n" for line in lines).encode()})
    carrying = Carrying(graph)
    now = lengths(records, tmp_path)
    laid = {field.name.removeprefix("P."): field.bytes for field in graph.parts[0].fields}
    assert {name: laid[name] for name in now} == now
    then = lengths([one.grown(*how) for one, how in zip(records, picked, strict=True)], tmp_path)
    for one, (name, more) in zip(records, picked, strict=True):
        found = growth(graph, nodes_named(graph, f"P.{name}"), more, carrying=carrying)
        said = {each.node.name.removeprefix("P."): each.needed_bytes for each in found if each.what != "redefinition"}
        assert said == {each: then[each] for each in one.names if then[each] != now[each]}, (one, name, more)
