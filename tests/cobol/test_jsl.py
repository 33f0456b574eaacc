"""What do the jobs of NEC's A-VX say about the programs that they run?"""

from __future__ import annotations

import time

import pytest
from tests.cobol.test_graph import graph_of

from penstock.cobol.estate import member

pytestmark = pytest.mark.proves("C-16")

JOB = """\
/SET JRCODE=000;                                                           00010
/RUN SORTER,FIL=SYSLML;                                                    00020
STOCK_                                                                     00030
(1,4,N)_                                                                   00040
/> ;                                                                       00050
/: ABORT JUMP=ENDJOB;                                                      00060
/RUN PAY010,FIL=PAYLML,DEV=MSD;                                            00070
/> ;                                                                       00080
/: JRCODE EQ 255 JUMP=ENDJOB;                                              00090
/RUN PAY010,FIL=PAYLML,DEV=MSD;                                            00100
/> ;                                                                       00110
/RUN #BKUP;                                                                00120
FIL=STOCK_                                                                 00130
/> ;                                                                       00140
"""
PAY = """\
IDENTIFICATION DIVISION.
PROGRAM-ID. PAY010.
ENVIRONMENT DIVISION.
INPUT-OUTPUT SECTION.
FILE-CONTROL.
    SELECT STOCK ASSIGN TO F1-MSD.
    SELECT LISTED ASSIGN TO "LISTING-1".
DATA DIVISION.
FILE SECTION.
FD  STOCK VALUE OF IDENTIFICATION "STOCK".
01  S-REC PIC X(80).
FD  LISTED.
01  L-REC PIC X(80).
PROCEDURE DIVISION.
    OPEN INPUT STOCK OUTPUT LISTED.
    STOP RUN.
"""


def test_each_run_is_a_step_of_the_job() -> None:
    """Steps have the names of their programs, and a second one of the same program has its line; jumps may skip any of them."""
    graph = graph_of({"pay010.cbl": PAY.encode(), "jpay.txt": JOB.encode()})
    steps = {
        (edge.source.name, edge.verb, edge.target.name, edge.certainty, edge.citations[0].line)
        for edge in graph.edges()
        if edge.verb in {"runs", "part of"} and edge.source.kind == "step"
    }
    named = {"SORTER": ("SORTER", 2), "PAY010": ("PAY010", 7), "PAY010-10": ("PAY010", 10), "#BKUP": ("#BKUP", 12)}
    assert steps == {
        *((f"JPAY.{step}", "runs", program, "is", line) for step, (program, line) in named.items()),
        *((f"JPAY.{step}", "part of", "JPAY", "is", line) for step, (_, line) in named.items()),
    }


def test_programs_find_their_files_themselves() -> None:
    """These jobs give no files to their programs, so that the names in the programs stay those of files."""
    graph = graph_of({"pay010.cbl": PAY.encode(), "jpay.txt": JOB.encode()})
    bound = {(edge.source.name, edge.target.name, edge.certainty) for edge in graph.edges() if edge.verb == "bound to"}
    assert bound == {("PAY010.STOCK", "STOCK", "is"), ("PAY010.LISTED", "LISTING-1", "is")}


def test_a_text_that_runs_nothing_has_no_job_and_many_runs_take_linear_time() -> None:
    """Parameters are no statements."""
    assert member("a.txt", "jsl", b"/SET JRCODE=000;\n RUN PAY010;\n").jobs == ()
    begin = time.process_time()
    (job,) = member("a.txt", "jsl", b"/RUN PAY010,FIL=A\n/RUN PAY010;\n" * 20_000).jobs
    assert (len(job.steps), job.end_line) == (20_000, 40_000)
    assert time.process_time() - begin < 2
