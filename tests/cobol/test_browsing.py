"""Which segments may a DL/I call bring that names none?"""

from __future__ import annotations

import pytest
from tests.cobol.sources import program
from tests.cobol.test_graph import graph_of

pytestmark = pytest.mark.proves("C-16")

PSB = """\
ORDPCB   PCB   TYPE=DB,DBDNAME=ORDDB,PROCOPT=A
         SENSEG NAME=ORDER,PARENT=0
         SENSEG NAME=LINE,PARENT=ORDER
CUSPCB   PCB   TYPE=DB,DBDNAME=CUSDB,PROCOPT=G
         SENSEG NAME=CUST,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME={}
"""
JOB = "//J1 JOB\n//S1 EXEC PGM=DFSRRC00,PARM='BMP,P,OTHERPSB'\n"


def segments(using: str, statement: str, psb: str = "P", job: str = "") -> set[str]:
    """Return the edges of segments of a program with one statement, with their certainty and the line of the PCB."""
    text = program(
        f"    {statement}.",
        data=("01  F PIC X(4) VALUE 'GN'.", "LINKAGE SECTION.", "01  A PIC X.", "01  B PIC X.", "01  IO PIC X."),
    )
    text = text.replace("PROCEDURE DIVISION.", f"PROCEDURE DIVISION USING {using}." if using else "PROCEDURE DIVISION.")
    files = {"P.cbl": text.encode(), "P.psb": PSB.format(psb).encode(), **({"J.jcl": job.encode()} if job else {})}
    return {
        f"{edge.verb} {edge.target.name} {edge.certainty} {edge.citations[-1].line}"
        for edge in graph_of(files).drawn
        if edge.target.kind == "segment" and edge.citations[-1].path == "P.psb"
    }


ORDERS = {"reads ORDER may 1", "reads LINE may 1"}


@pytest.mark.parametrize(
    ("using", "statement", "psb", "job", "expected"),
    [
        # The n-th parameter is the n-th PCB, behind that of the messages if there is one more.
        ("A B", "CALL 'CBLTDLI' USING F A IO", "P", "", ORDERS),
        ("A B", "CALL 'CBLTDLI' USING F B IO", "P", "", {"reads CUST may 4"}),
        ("IO A B", "CALL 'CBLTDLI' USING F A IO", "P", "", ORDERS),
        ("IO A B", "CALL 'CBLTDLI' USING F IO A", "P", "", set()),
        ("", "ENTRY 'DLITCBL' USING A B. CALL 'CBLTDLI' USING F A IO", "P", "", ORDERS),
        # The PSB of the step counts, and that of the program's name; no other one.
        ("A B", "CALL 'CBLTDLI' USING F A IO", "OTHERPSB", JOB, ORDERS),
        ("A B", "CALL 'CBLTDLI' USING F A IO", "OTHERPSB", "", set()),
        # EXEC DLI has the number of the PCB. A GU without a segment brings the root, and a DLET changes what was brought.
        ("", "EXEC DLI GN USING PCB(2) INTO(F) END-EXEC", "P", "", {"reads CUST may 4"}),
        ("", "EXEC DLI GET NEXT USING PCB(2) INTO(F) END-EXEC", "P", "", {"reads CUST may 4"}),
        ("A B", "CALL 'CBLTDLI' USING 'GHU ' A IO", "P", "", {"reads ORDER may 1"}),
        ("A B", "CALL 'CBLTDLI' USING 'DLET' B IO", "P", "", {"writes CUST may 4"}),
        ("A B", "CALL 'CBLTDLI' USING 'ISRT' B IO", "P", "", set()),
    ],
)
def test_a_call_without_a_segment_may_use_what_its_pcb_sees(
    using: str, statement: str, psb: str, job: str, expected: set[str]
) -> None:
    """No source says which segment comes next."""
    assert segments(using, statement, psb, job) == expected
