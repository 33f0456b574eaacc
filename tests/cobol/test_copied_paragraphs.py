"""To which paragraph do statements belong that stand behind a COPY which brings paragraphs of its own?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import Facts, facts, flow_diagram
from penstock.cobol.graph import part_of

from .compiled import ran

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = "ABCDEFGH"
TWO = "FIRST-RTN.\n ADD 1 TO A.\nLAST-RTN.\n ADD 1 TO B.\n"


class Case(NamedTuple):
    """A program with its copybooks, a paragraph of it, and the items that it changes when it is performed alone."""

    performed: str
    changed: str
    code: str
    books: dict[str, str]


CASES = {
    "the last copied paragraph": Case("LAST-RTN", "BD", "OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.", {"ONE": TWO}),
    "one before it": Case("FIRST-RTN", "A", "OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.", {"ONE": TWO}),
    "the one before the COPY": Case("OWN", "C", "OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.", {"ONE": TWO}),
    "the next one": Case("NEXT-RTN", "E", "OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.\nNEXT-RTN. ADD 1 TO E.", {"ONE": TWO}),
    "a COPY directly behind the header": Case("LAST-RTN", "BD", "OWN.\nCOPY ONE.\nADD 1 TO D.", {"ONE": TWO}),
    "a COPY over lines": Case("LAST-RTN", "BD", "OWN.\nCOPY ONE\n REPLACING ==Z== BY ==A==.\nADD 1 TO D.", {"ONE": TWO}),
    "a header alone": Case("LAST-RTN", "D", "OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.", {"ONE": "LAST-RTN.\n"}),
    "a header that REPLACING names": Case(
        "NEW-RTN", "BD", "OWN. ADD 1 TO C.\nCOPY ONE REPLACING ==LAST-RTN== BY ==NEW-RTN==.\nADD 1 TO D.", {"ONE": TWO}
    ),
    "several copybooks": Case(
        *("LAST-RTN", "BD", "OWN.\nCOPY ONE.\nADD 1 TO D.\nCOPY TWO.\nADD 1 TO E."),
        {"ONE": TWO, "TWO": "OTHER-RTN.\n ADD 1 TO F.\n"},
    ),
    "a copybook without headers behind it": Case(
        *("LAST-RTN", "BDEF", "OWN.\nCOPY ONE.\nADD 1 TO D.\nCOPY TWO.\nADD 1 TO E."),
        {"ONE": TWO, "TWO": " ADD 1 TO F.\n"},
    ),
    "a nested copybook": Case(
        *("IN-RTN", "DEF", "OWN.\nCOPY ONE.\nADD 1 TO F."),
        {"ONE": "OUT-RTN.\n ADD 1 TO C.\n COPY TWO.\n ADD 1 TO E.\n", "TWO": "IN-RTN.\n ADD 1 TO D.\n"},
    ),
    "around a nested copybook": Case(
        *("OUT-RTN", "CDEF", "OWN.\nCOPY ONE.\nADD 1 TO F."),
        {"ONE": "OUT-RTN.\n ADD 1 TO C.\n COPY TWO.\n ADD 1 TO E.\n", "TWO": " ADD 1 TO D.\n"},
    ),
    "a section": Case(
        *("NEW-SECTION", "BD", "OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.\nZ-SECTION SECTION.\nQ. ADD 1 TO E."),
        {"ONE": "NEW-SECTION SECTION.\n ADD 1 TO B.\n"},
    ),
    "behind EXIT PARAGRAPH": Case(
        "LAST-RTN", "BD", "OWN.\nCOPY ONE.\nADD 1 TO D.\nIF A = 0 EXIT PARAGRAPH.\nADD 1 TO D.", {"ONE": TWO}
    ),
}  # fmt: skip


def written(code: str) -> list[str]:
    """Return a program in free format with items, and with this code in its PROCEDURE DIVISION."""
    data = [f"01 {name} PIC 9 VALUE 0." for name in ITEMS]
    head = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", *data]
    return [*head, "01 T PIC X(8).", "PROCEDURE DIVISION.", *code.splitlines()]


def read(code: str, **books: str) -> Facts:
    """Return the facts of such a program."""
    source = scan("\n".join(written(code)) + "\n", source_format="free")
    shelf = {name: scan(text, source_format="free") for name, text in books.items()}
    return facts(source, source.programs[0], copybooks=shelf)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_statements_behind_a_copy_that_brings_paragraphs_belong_to_the_last_of_them(case: Case) -> None:
    """They are reached by a PERFORM of it, and not by one of the paragraph in front."""
    found = read(case.code, **case.books)
    changes = {
        found.items[use.item].name
        for use in found.uses
        if use.is_write and (use.header or found.paragraphs[use.paragraph].name) == case.performed
    }
    assert "".join(sorted(changes)) == case.changed


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_compiler_gives_the_statements_behind_a_copy_to_the_same_paragraph(case: Case, tmp_path: Path) -> None:
    """What it changes shows which statements are of the paragraph that the compiled program performs."""
    for name, text in case.books.items():
        (tmp_path / f"{name}.cpy").write_text(text)
    shown = " ".join(f"'{name}' {name}" for name in ITEMS)
    text = ran(written(f"PERFORM {case.performed}. DISPLAY {shown}. GOBACK.\n{case.code}"), tmp_path, "p")
    assert "".join(name for name, value in zip(text[::2], text[1::2], strict=False) if value > "0") == case.changed


def test_without_the_copybook_the_statements_belong_to_the_paragraph_in_front() -> None:
    """Nothing is known of what a missing copybook brings."""
    found = read("OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.")
    assert {(use.paragraph, use.header) for use in found.uses} == {(0, "")}


def test_what_is_told_of_a_statement_behind_a_copy_names_the_copied_paragraph() -> None:
    """The calls, rules, errors, jumps and edges of the graph are not those of the paragraph in front, which ends at the COPY."""
    code = (
        "OWN.\nCOPY ONE.\nPERFORM NEXT-RTN.\nIF A = 1 GO TO OWN.\nCALL 'SUB' ON EXCEPTION STOP RUN.\nNEXT-RTN. GOBACK."
    )
    source = scan("\n".join(written(code)) + "\n", source_format="free")
    found = facts(source, source.programs[0], copybooks={"ONE": scan(TWO, source_format="free")})
    own, following = found.paragraphs
    told = [[one.paragraph for one in found.calls], [one.paragraph for one in found.rules]]
    assert [*told, [one.paragraph for one in found.errors]] == [["LAST-RTN"]] * 3
    assert (own.calls, own.jumps, own.statements, own.complexity) == ((), (), 0, 1)
    assert (found.statements, following.called_by, own.falls_into) == (6, ("LAST-RTN",), "FIRST-RTN")
    assert "falls into" not in flow_diagram(found)
    edges = {(str(one.source), one.verb, str(one.target)) for one in part_of(found, source.programs[0], "p.cbl").edges}
    sources = {source for source, verb, _ in edges if verb in {"performs", "goes to", "reads"}}
    assert {one.rpartition(".")[2].strip("'\")") for one in sources} >= {"LAST-RTN"}
    assert not [one for one in sources if "P.OWN" in one]


@pytest.mark.parametrize(
    ("code", "dead"),
    [
        # Control falls into the copied paragraphs, and through what stands behind them.
        ("OWN. ADD 1 TO C.\nCOPY ONE.\nADD 1 TO D.\nNEXT-RTN. GOBACK.\nZ.", ["Z"]),
        ("OWN. ADD 1 TO C.\nCOPY ONE.\nGOBACK.\nNEXT-RTN. GOBACK.", ["NEXT-RTN"]),
        ("OWN. IF A = 1 EXIT PARAGRAPH.\nCOPY ONE.\nGOBACK.\nNEXT-RTN. GOBACK.", ["NEXT-RTN"]),
        # They are performed alone, and control returns before the next paragraph.
        ("OWN. PERFORM LAST-RTN. GOBACK.\nCOPY ONE.\nADD 1 TO D.\nNEXT-RTN. GOBACK.", ["NEXT-RTN"]),
        ("OWN. PERFORM LAST-RTN. GOBACK.\nCOPY ONE.\nPERFORM Z.\nNEXT-RTN. GOBACK.\nZ. ADD 1 TO D.", ["NEXT-RTN"]),
        ("OWN. PERFORM FIRST-RTN THRU LAST-RTN. GOBACK.\nCOPY ONE.\nADD 1 TO D.\nNEXT-RTN. GOBACK.", ["NEXT-RTN"]),
        # They are entered by a jump, or as part of a longer range.
        ("OWN. GO TO LAST-RTN.\nCOPY ONE.\nADD 1 TO D.\nNEXT-RTN. GOBACK.\nZ. GOBACK.", ["Z"]),
        ("OWN. GO TO LAST-RTN.\nCOPY ONE.\nGOBACK.\nNEXT-RTN. GOBACK.", ["NEXT-RTN"]),
        ("OWN. PERFORM LAST-RTN THRU NEXT-RTN. GOBACK.\nCOPY ONE.\nADD 1 TO D.\nNEXT-RTN. ADD 1 TO D.\nZ.", ["Z"]),
        ("OWN. PERFORM X THRU LAST-RTN. GOBACK.\nX. ADD 1 TO C.\nY. ADD 1 TO D.\nCOPY ONE.\nZ.", ["Z"]),
        # A copied section ends with the next section of the program.
        ("OWN. PERFORM S-RTN. GOBACK.\nCOPY TWO.\nX. ADD 1 TO D.\nY. ADD 1 TO D.\nZ SECTION.\nADD 1 TO E.", [""]),
    ],
)
def test_control_reaches_what_follows_copied_paragraphs_as_if_they_stood_there(code: str, dead: list[str]) -> None:
    """What is behind a COPY is dead only if nothing leads to it through the copied paragraphs."""
    found = read(code, ONE=TWO, TWO="S-RTN SECTION.\nS-1.\n ADD 1 TO A.\n")
    assert [one.name for one in found.paragraphs if one.dead] == dead


@pytest.mark.parametrize(
    ("code", "performed", "falls"),
    [
        (" ADD 1 TO A.\n STOP RUN.\n", "PERFORM ABEND-RTN", False),
        (" IF A = 1 STOP RUN.\n", "PERFORM ABEND-RTN", True),
        (" IF A = 1 EXIT PARAGRAPH.\n GOBACK.\n", "PERFORM ABEND-RTN", True),
        (" IF A = 1 GO TO ABEND-EXIT.\n GOBACK.\nABEND-EXIT.\n EXIT.\n", "PERFORM ABEND-RTN THRU ABEND-EXIT", True),
        (" PERFORM LAST-RTN.\nLAST-RTN.\n STOP RUN.\n", "PERFORM ABEND-RTN", False),
        (" PERFORM LAST-RTN UNTIL A = 1.\nLAST-RTN.\n STOP RUN.\n", "PERFORM ABEND-RTN", True),
        # Not in a main program, where it does nothing, and not if it may be performed no times.
        (" EXIT PROGRAM.\n", "PERFORM ABEND-RTN", True),
        (" STOP RUN.\n", "PERFORM ABEND-RTN UNTIL A = 1", True),
        (" STOP RUN.\n", "IF A = 1 PERFORM ABEND-RTN ELSE GOBACK", False),
        # An error leads to the end of the range.
        (
            " EXEC CICS RETURN END-EXEC.\nABEND-EXIT.\n EXIT.\n",
            "EXEC CICS HANDLE CONDITION ERROR(ABEND-EXIT) END-EXEC. PERFORM ABEND-RTN THRU ABEND-EXIT",
            True,
        ),
        (
            " EXEC SQL WHENEVER SQLERROR GO TO ABEND-EXIT END-EXEC.\n STOP RUN.\nABEND-EXIT.\n EXIT.\n",
            "PERFORM ABEND-RTN THRU ABEND-EXIT",
            True,
        ),
    ],
)
def test_control_does_not_come_back_from_a_copied_paragraph_that_stops(code: str, performed: str, falls: bool) -> None:
    """What stands behind its PERFORM is not reached, and so neither is the next paragraph."""
    found = read(f"OWN. {performed}.\nNEXT-RTN. GOBACK.\nCOPY ONE.", ONE=f"ABEND-RTN.\n{code}")
    own, following = found.paragraphs
    assert (own.falls_into == "NEXT-RTN", not following.dead) == (falls, falls)


def test_control_does_not_fall_into_declaratives_that_are_copied() -> None:
    """It goes on behind them."""
    found = read(
        "COPY ONE.\nOWN. GOBACK.", ONE="DECLARATIVES.\nE SECTION.\n USE ON F.\nE-1.\n EXIT.\nEND DECLARATIVES.\n"
    )
    assert [one.falls_into for one in found.paragraphs] == ["OWN", None]


@pytest.mark.parametrize(
    ("code", "called"),
    [
        # What stands behind the COPY runs with the copied paragraph, wherever that is performed.
        ("PERFORM LAST-RTN. CALL T. GOBACK.\nQ.\nCOPY ONE.\nMOVE 'Y' TO T.", "XY"),
        ("MOVE 'Z' TO T. PERFORM LAST-RTN. GOBACK.\nQ. MOVE 'Y' TO T.\nCOPY ONE.\nCALL T.", "Z"),
        ("MOVE 'Z' TO T. PERFORM LAST-RTN. GOBACK.\nQ. CALL T.\nCOPY ONE.\nPERFORM Q.\nR. GOBACK.", "Z"),
        # A PERFORM of the paragraph in front returns at the COPY.
        ("PERFORM Q. CALL T. GOBACK.\nQ. MOVE 'Z' TO T.\nCOPY ONE.\nMOVE 'Y' TO T.", "Z"),
        # A jump into copied code goes on behind it, and one from there comes back.
        ("MOVE 'Z' TO T. GO TO LAST-RTN.\nQ. GOBACK.\nCOPY ONE.\nCALL T.", "Z"),
        ("MOVE 'Z' TO T. PERFORM FIRST-RTN. GOBACK.\nR. CALL T. GOBACK.\nCOPY TWO.", "Z"),
    ],
)
def test_values_reach_a_call_through_the_statements_behind_a_copy(code: str, called: str) -> None:
    """They are followed like a paragraph that copied code performs."""
    two = "FIRST-RTN.\n ADD 1 TO A.\n GO TO R.\n"
    (call,) = read(f"MAIN. MOVE 'X' TO T.\n{code}", ONE=TWO, TWO=two).calls
    assert "".join(sorted(call.names)) == called
