"""Which program does a call by a name run whose declaration is in a copybook that is not here?"""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.graph import EstateGraph, impact, part_of

DATA = "01 X PIC X(8) VALUE 'TAX'.\n01 C PIC X.\n01 T PIC X(80).\nCOPY LINKED.\n"
SURE, MAY, UNKNOWN = (True, False), (False, True), (False, True)


def _calls(*lines: str) -> list[tuple[tuple[str, ...], bool, bool]]:
    """Return, for each call, the names that reach it, whether they are certain, and whether an unknown one may."""
    text = f"ID DIVISION.\nPROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n{DATA}PROCEDURE DIVISION.\nMAIN.\n"
    source = scan(text + "".join(f"{line}\n" for line in lines), source_format="free")
    found = facts(source, source.programs[0]).calls
    return [(call.names, call.is_sure, bool(call.unknown)) for call in found]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # A literal that is moved right before the call is what it calls.
        (("MOVE 'PAY01' TO LNK-PGM.", "CALL LNK-PGM USING T."), [(("PAY01",), *SURE)]),
        (("MOVE 'PAY01' TO T LNK-PGM. DISPLAY T. CALL LNK-PGM.",), [(("PAY01",), *SURE)]),
        (("MOVE 'PAY01' TO LNK-PGM EXEC CICS LINK PROGRAM(LNK-PGM) END-EXEC.",), [(("PAY01",), *SURE)]),
        (("IF C = 1 MOVE 'A' TO LNK-PGM CALL LNK-PGM ELSE CALL LNK-PGM.",), [(("A",), *SURE), (("A",), *MAY)]),
        (("EVALUATE C WHEN 1 MOVE 'A' TO LNK-PGM WHEN 2 CALL LNK-PGM.",), [(("A",), *MAY)]),
        (("READ F AT END MOVE 'A' TO LNK-PGM NOT AT END CALL LNK-PGM.",), [(("A",), *MAY)]),
        (("ADD 1 TO C ON SIZE ERROR MOVE 'A' TO LNK-PGM END-ADD CALL LNK-PGM.",), [(("A",), *MAY)]),
        (("IF C = 1 MOVE 'A' TO LNK-PGM. CALL LNK-PGM.",), [(("A",), *MAY)]),
        # An item that is moved there has its own values.
        (("MOVE X TO LNK-PGM.", "CALL LNK-PGM."), [(("TAX",), *SURE)]),
        (("MOVE C TO LNK-PGM.", "CALL LNK-PGM."), [((), *UNKNOWN)]),
        # What stands elsewhere may be meant, and so may what no source here says.
        (("MOVE 'A' TO LNK-PGM. PERFORM Q.", "Q.", "CALL LNK-PGM."), [(("A",), *MAY)]),
        (("IF C = 1 MOVE 'A' TO LNK-PGM END-IF CALL LNK-PGM.",), [(("A",), *MAY)]),
        (("MOVE 'A' TO LNK-PGM. PERFORM Q. CALL LNK-PGM.", "Q.", "DISPLAY C."), [(("A",), *MAY)]),
        (("MOVE 'A' TO LNK-PGM. MOVE SPACES TO LNK-AREA. CALL LNK-PGM.",), [(("A",), *MAY)]),
        (("MOVE 'A' TO LNK-PGM. MOVE SPACES TO LNK-PGM. CALL LNK-PGM.",), [(("A",), *MAY)]),
        # A part, one occurrence and an item of another group are not the item.
        (("MOVE 'A' TO LNK-PGM(1:4).", "CALL LNK-PGM."), [((), *UNKNOWN)]),
        (("MOVE 'A' TO LNK-PGM(C).", "CALL LNK-PGM."), [((), *UNKNOWN)]),
        (("MOVE 'A' TO LNK-PGM OF LNK-2.", "CALL LNK-PGM."), [((), *UNKNOWN)]),
        (("MOVE 'A' TO T(LNK-PGM:1).", "CALL LNK-PGM."), [((), *UNKNOWN)]),
        (("CALL LNK-PGM.",), [((), *UNKNOWN)]),
    ],
)
def test_a_name_of_a_missing_copybook_calls_what_is_moved_to_it(
    lines: tuple[str, ...], expected: list[tuple[tuple[str, ...], bool, bool]]
) -> None:
    """A value that a straight line of statements brings is certain, any other is one of several."""
    assert _calls(*lines) == expected


def test_a_copybook_leaves_to_its_programs_what_a_name_of_theirs_calls() -> None:
    """The name may be declared by each program that copies the call."""
    source = scan("MOVE 'PAY01' TO LNK-PGM. CALL LNK-PGM.\n", source_format="free")
    (call,) = facts(source, source.programs[0]).calls
    assert (call.names, call.is_sure) == ((), False)


def test_the_graph_leads_to_the_program_that_is_moved() -> None:
    """The edge is certain, and cites the MOVE and the CALL."""
    text = (
        "PROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\nCOPY LINKED.\nPROCEDURE DIVISION.\n"
        "MOVE 'PAY01' TO LNK-PGM.\nCALL LNK-PGM.\n"
    )
    source = scan(text, source_format="free")
    program = source.programs[0]
    graph = EstateGraph([part_of(facts(source, program), program, "p.cbl")])
    (edge,) = [one for one in impact(graph, "PAY01", kind="program").edges if one.verb == "calls"]
    assert (str(edge.source), edge.certainty, [place.line for place in edge.citations]) == ("P", "is", [6, 7])
