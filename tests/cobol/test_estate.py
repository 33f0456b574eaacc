"""What is in an estate besides programs: kinds of files, jobs, screens, regions, tables, databases, and how are they connected?"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.estate import Copybooks, Kind, Member, kind_of, member
from penstock.cobol.estate.bms import copybook
from penstock.cobol.estate.running import JobSteps
from penstock.cobol.facts import facts
from penstock.cobol.graph import EstateGraph

from .linked import LinkedEstate
from .sources import fixed, program, with_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.cobol.estate.csd import Resource

pytestmark = pytest.mark.proves("C-12")

JOB = """\
//PAYJOB   JOB (ACCT),'PAY',CLASS=A
//* a comment
//         SET HLQ=MW.PROD
//STEP1    EXEC PGM=PAYPGM,PARM='A,B',
//             COND=(0,NE)                                              00010000
//STEPLIB  DD DISP=SHR,DSN=&HLQ..LOAD
//         DD DISP=SHR,DSN=OTHER.LOAD
//PAYIN    DD DSN=&HLQ..PAY(+1),DISP=(NEW,CATLG,
//            DELETE)
//PAYOUT   DD SYSOUT=*
//SYSIN    DD DATA
//THIS IS A STEP EXEC PGM=NOT
/*
//STEP2    EXEC PGM=IKJEFT01
//SYSTSIN  DD *
  DSN SYSTEM(DB2P)
  RUN PROGRAM(DB2PGM) PLAN(P1)
/*
//STEP3    EXEC PGM=DFSRRC00,PARM='BMP,IMSPGM,PAYPSB'
//STEP4    EXEC PAYPROC
//INNER.MASTER DD DSN=MW.TEST.MASTER,DISP=SHR
//STEP5    EXEC PROC=GONEPROC
"""
PROC = """\
//PAYPROC  PROC LIB='MW.PROD'
//INNER    EXEC PGM=SUBPGM
//MASTER   DD DSN=&LIB..MASTER,DISP=OLD
//EXTRA    DD DUMMY
//         PEND
"""
MAP = """\
MENU    DFHMSD TYPE=&&SYSPARM,MODE=INOUT,LANG=COBOL,TIOAPFX=YES
MENU1   DFHMDI SIZE=(24,80),                                           X
               DSATTS=(COLOR,HILIGHT),EXTATT=YES
        DFHMDF POS=(1,1),LENGTH=5,INITIAL='It''s '
CHOICE  DFHMDF POS=(2,1),LENGTH=2,ATTRB=(UNPROT,NUM),PICIN='99'
LINES   DFHMDF POS=(4,1),LENGTH=40,OCCURS=3
        DFHMSD TYPE=FINAL
"""
SYMBOLIC = """\
       01  MENU1I.
           02  FILLER PIC X(12).
           02  CHOICEL    COMP  PIC  S9(4).
           02  CHOICEF    PICTURE X.
           02  FILLER REDEFINES CHOICEF.
             03 CHOICEA    PICTURE X.
           02  FILLER   PICTURE X(2).
           02  CHOICEI  PIC 99.
           02  LINESD OCCURS 3 TIMES.
             03  LINESL    COMP  PIC  S9(4).
             03  LINESF    PICTURE X.
             03  FILLER REDEFINES LINESF.
               04 LINESA    PICTURE X.
             03  FILLER   PICTURE X(2).
             03  LINESI  PIC X(40).
       01  MENU1O REDEFINES MENU1I.
           02  FILLER PIC X(12).
           02  FILLER PICTURE X(3).
           02  CHOICEC    PICTURE X.
           02  CHOICEH    PICTURE X.
           02  CHOICEO  PIC X(2).
           02  DFHMS6 OCCURS 3 TIMES.
             03  FILLER PICTURE X(3).
             03  LINESC    PICTURE X.
             03  LINESH    PICTURE X.
             03  LINESO  PIC X(40).
"""
CSD = """\
DEFINE PROGRAM(MENUPGM) GROUP(PAY)
       LANGUAGE(COBOL) TRANSID(MENU)
DEFINE TRANSACTION(MENU) GROUP(PAY)
       PROGRAM(MENUPGM) TWASIZE(0)
"""
DDL = """\
-- CREATE TABLE NOT.THIS (A CHAR(1));
CREATE TABLE PAY.CLERK (
  ID      INTEGER NOT NULL,
  NAME    VARCHAR(40) DEFAULT 'a, b',
  SALARY  DECIMAL(9, 2),
  PRIMARY KEY (ID)
);
"""
DBD = """\
         DBD   NAME=PAYDB,ACCESS=(HIDAM,VSAM)
         SEGM  NAME=ROOT,PARENT=0,BYTES=100
         FIELD NAME=(KEY1,SEQ,U),START=1,BYTES=6
         SEGM  NAME=CHILD,PARENT=((ROOT,)),BYTES=20
DSG      DATASET DD1=PAYDD
         DBDGEN
"""
PSB = """\
PAYPCB   PCB   TYPE=DB,DBDNAME=PAYDB,PROCOPT=AP
         SENSEG NAME=ROOT,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=PAYPSB
"""


def job(text: str = JOB) -> Member:
    """Return the member of a job."""
    return member("jcl/payjob.jcl", "jcl", text.encode())


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a/PAY.cbl", program("    GOBACK."), "cobol"),
        ("a/LATE.cob", "* preamble\n" * 4, "cobol"),
        ("a/PAY.cbl", fixed("01  A PIC X."), "cobol"),
        ("a/REC.cpy", fixed("01  A PIC X."), "copybook"),
        ("a/WRONG.cpy", program("    GOBACK."), "cobol"),
        ("a/REC", fixed("    05  A PIC X."), "copybook"),
        ("a/PROD.LIB(REC)", fixed("    05  A PIC X."), "copybook"),
        ("a/PROD.LIB(REC).doc", fixed("    05  A PIC X."), None),
        ("a/bind.txt", " 10  QUALIFIER ....... ===> (For tables)\n 77  ACTION .. ===>\n", None),  # a panel of TSO
        ("a/T.dcl", "     EXEC SQL DECLARE T TABLE (A CHAR(1)) END-EXEC.", "dclgen"),
        ("a/JOB1.txt", JOB, "jcl"),
        ("a/P.prc", PROC, "proc"),
        ("a/P", PROC, "proc"),
        ("a/P.jcl", PROC, "proc"),
        ("a/S.jcl", "//* steps alone\n//S EXEC PGM=PAY\n", "jcl"),
        ("a/S", "//* steps alone\n//S EXEC PGM=PAY\n", "proc"),
        ("a/C.prc", fixed("READ-IT.", "    READ F."), None),  # a COPY may name it
        ("a/Q.prc", "//* nothing yet", "proc"),
        ("a/JOB2.txt", "/SET JRCODE=000;\n/RUN PAY010,FIL=PAYLML,DEV=MSD;\n/> ;\n", "jsl"),
        ("a/JOB2.jsl", "/RUN #BKUP ;\n/> ;\n", "jsl"),
        ("a/notes.txt", "/run it();\n/run and see\n", None),
        ("a/M.bms", MAP, "bms"),
        ("a/R.csd", CSD, "csd"),
        ("a/R.transaction", '<?xml version="1.0"?><cicsdefinitiontransaction name="MENU"/>', "csd"),
        ("a/R.xml", '<?xml version="1.0"?><cicsdefinitiontransaction name="MENU"/>', None),
        ("a/T.lib", "     EXEC SQL DECLARE T TABLE (A CHAR(1)) END-EXEC.", "dclgen"),
        ("a/R.rdo", " DEFINE TRANCLASS(TC) GROUP(G)\n", "csd"),
        ("a/PCT1", "         DFHPCT TYPE=INITIAL,SUFFIX=1$\n", "csd"),
        ("a/FCT1.asm", "CUST     DFHFCT TYPE=DATASET,DATASET=CUST\n", "csd"),
        ("a/T.ddl", DDL, "ddl"),
        ("a/T.sql", DDL, "ddl"),
        ("a/D.dbd", DBD, "dbd"),
        ("a/P.psb", PSB, "psb"),
        ("a/X.pli", "X: PROC;", "pli"),
        ("a/X.asm", "X CSECT", "hlasm"),
        ("a/M.mac", MAP, "bms"),
        ("a/RUNIT.ctl", " DSN SYSTEM(DB2P)\n RUN PROGRAM(PAY) PLAN(PAY)\n", "control"),
        ("a/RUNIT", "  DELETE PROD.CUST.D%%ODATE PURGE\n", "control"),
        ("a/RUNIT.cntl", "  INSERT INTO RATES VALUES (1);\n", "control"),
        ("a/RUNIT.ctl", DDL, "ddl"),
        ("a/RUNIT.txt", "To unload:\n UNLOAD DATA FROM TABLE T\n", None),
        ("a/RUNIT.txt", "\n  DEFINE CLUSTER( -\n  NAME(A.KSDS))\n", "control"),
        ("a/RUNIT.ctl", "LOADS = 3\n", None),
        ("a/README.md", "IDENTIFICATION DIVISION.", None),
        ("a/notes.txt", "nothing of the kind", None),
        ("a/x.txt", "\0\0\0", None),
    ],
)
def test_a_file_is_what_it_says_and_else_what_it_is_called(name: str, text: str, kind: Kind | None) -> None:
    """Content decides between kinds that share a suffix; documents have no kind."""
    assert kind_of(name, text.encode()) == kind


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.b/PAY01.cbl", "PAY01"),
        ("PAY01.cob.txt", "PAY01"),
        ("a.b/PROD.PAY-IN.LIB(PAY01).txt", "PAY01"),
        ("PROD.LIB(#PAY)", "#PAY"),
        ("a/'PROD.LIB(PAY01)'", "PAY01"),  # in the quotes of TSO, which say that no prefix is missing
        ("pay01(old).cbl", "pay01(old)"),  # a copy of a file beside it, and no data set
        ("PROD.LIB(PAY01", "PROD"),
        ("PAY01.cbl (1).txt", "PAY01"),
    ],
)
def test_a_file_is_a_member_of_its_own_name_or_of_that_in_the_name_of_its_library(path: str, name: str) -> None:
    """Some tools name what they download after the whole data set: LIBRARY(MEMBER)."""
    assert member(path, "jcl", b"").name == name


def test_ebcdic_members_are_recognised() -> None:
    """A job in EBCDIC records is recognised as a job."""
    cards = "".join(line.ljust(80) for line in PROC.splitlines())
    assert kind_of("a/MEMBER", cards.encode("cp037")) == "proc"
    (found,) = member("a/MEMBER", "proc", cards.encode("cp037")).jobs
    assert [step.program for step in found.steps] == ["SUBPGM"]


@pytest.mark.parametrize("lead", ["", " \n\n"])
def test_cards_behind_a_margin_are_those_of_a_job(lead: str) -> None:
    """A job pasted with blanks before its lines is read like the job without them, with the same line numbers."""
    text = lead + "".join(f"  {line}\n" for line in JOB.splitlines())
    assert (kind_of("a/J.jcl", text.encode()), kind_of("a/MEMBER", text.encode())) == ("jcl", "jcl")
    (found,) = member("a/J.jcl", "jcl", text.encode()).jobs
    (plain,) = member("a/J.jcl", "jcl", (lead + JOB).encode()).jobs
    assert found == plain
    assert kind_of("a/x.js", text.encode()) is None


def test_programs_in_the_tests_of_a_compiler_are_none_of_an_estate() -> None:
    """A script of Autotest holds hundreds of them, between macros that are no code."""
    text = "AT_SETUP([MOVE])\nAT_DATA([prog.cob], [\n       IDENTIFICATION   DIVISION.\n       PROGRAM-ID.      prog.\n])\n"
    assert (kind_of("tests/run.at", text.encode()), kind_of("tests/run.src", text.encode())) == (None, "cobol")


def test_a_job_has_steps_with_their_data() -> None:
    """The steps have continuations, concatenations, symbols, in-stream data, and the programs that TSO and IMS run."""
    (found,) = job().jobs
    assert (found.name, found.kind, found.line, found.end_line) == ("PAYJOB", "job", 1, 22)
    first, tso, ims, proc, gone = found.steps
    assert (first.program, first.line, first.end_line) == ("PAYPGM", 4, 13)
    assert [(dd.name, dd.dsns, dd.other, dd.line) for dd in first.dds] == [
        ("STEPLIB", ("MW.PROD.LOAD", "OTHER.LOAD"), "", 6),
        ("PAYIN", ("MW.PROD.PAY(+1)",), "", 8),
        ("PAYOUT", (), "SYSOUT=*", 10),
        ("SYSIN", (), "DATA", 11),
    ]
    assert first.dds[1].disp == ("NEW", "CATLG", "DELETE")
    assert tso.programs == ("IKJEFT01", "DB2PGM")
    assert (ims.programs, ims.psb) == (("DFSRRC00", "IMSPGM"), "PAYPSB")
    assert (proc.procedure, proc.dds[0].name, proc.dds[0].step) == ("PAYPROC", "MASTER", "INNER")
    assert gone.procedure == "GONEPROC"


DUMMIES = b"""\
//P        PROC MAYBE=,OLD=NULLFILE,HLQ=A
//S        EXEC PGM=SORT
//FIRST    DD &MAYBE.DSN=A.FIRST,DISP=SHR
//SORTIN   DD DSN=A.ONE,DISP=SHR
//         DD DSN=A.TWO,DISP=SHR
//         DD DSN=A.THREE,DISP=SHR
//MORE     DD DSN=&OLD,DISP=SHR
//ALL      DD &ALL
//U        EXEC PGM=SORT
//SORTIN   DD DSN=A.U,DISP=SHR
"""


@pytest.mark.parametrize(
    ("card", "dd", "expected"),
    [
        ("//T EXEC P", "S.FIRST", ("A.FIRST",)),
        ("//T EXEC P,MAYBE='DUMMY,'", "S.FIRST", ()),
        ("//T EXEC P,MAYBE='DUMMY,'", "S.SORTIN", ("A.ONE", "A.TWO", "A.THREE")),
        ("//T EXEC P", "S.MORE", ()),
        ("//T EXEC P,OLD=A.OLD", "S.MORE", ("A.OLD",)),
        ("//T EXEC P,ALL='DSN=A.ALL,DISP=OLD'", "S.ALL", ("A.ALL",)),
        ("//T EXEC P,OLD=A.OLD\n//S.MORE DD DUMMY,DSN=B", "S.MORE", ()),
        ("//T EXEC P\n//S.SORTIN DD DSN=B\n// DD DUMMY", "S.SORTIN", ("B",)),
        ("//T EXEC P\n//S.SORTIN DD\n// DD DSN=NULLFILE", "S.SORTIN", ("A.ONE",)),
        ("//T EXEC P,MAYBE='DUMMY,'\n//S.FIRST DD\n// DD DSN=B", "S.FIRST", ()),
        ("//T EXEC P,MAYBE='DUMMY,'\n//S.FIRST DD DSN=A\n// DD DSN=B", "S.FIRST", ("A", "B")),
        ("//T EXEC P\n//S.NEW DD *\n// DD DSN=B", "S.NEW", ("B",)),
        ("//T EXEC P\n//S.NEW DD PATH='/dev/null'\n// DD DSN=B", "S.NEW", ()),
        ("//T EXEC P\n//S.SORTIN DD *", "S.SORTIN", ("A.TWO", "A.THREE")),
        ("//T EXEC P,MAYBE='DUMMY,'\n//S.NEW DD &MAYBE.DSN=B", "S.NEW", ()),
        ("//T EXEC P\n//S.NEW DD &MAYBE.DSN=&HLQ..B\n// DD &MAYBE.DSN=C", "S.NEW", ("A.B", "C")),
        ("//T EXEC P\n//S.SORTIN DD\n// DD DSN=B", "S.SORTIN", ("A.ONE", "B", "A.THREE")),
        ("//T EXEC P\n//S.MORE DD DSN=&HLQ..X", "S.MORE", ("A.X",)),
        ("//T EXEC P\n//S.SORTIN DD DSN=B\n//U.SORTIN DD DSN=C", "U.SORTIN", ("C",)),
        ("//T EXEC P,HLQ=C\n//S.NEW DD DSN=&HLQ..X", "S.NEW", ("C.X",)),
        (
            "// SET HLQ=B\n//T EXEC GONE,MBR=M\n//S.NEW DD DSN=&HLQ..X(&MBR)\n// DD DSN=&MORE",
            "T.NEW",
            ("B.X(M)", "&MORE"),
        ),
    ],
)
def test_a_dd_has_the_data_sets_that_its_job_leaves_it(card: str, dd: str, expected: tuple[str, ...]) -> None:
    """DUMMY and NULLFILE end them; a symbol before DSN may be one; an overriding job may use the procedure's symbols.

    Of a procedure that is not here, those are known that the EXEC sets.
    """
    members = [member("p.prc", "jcl", DUMMIES), member("j.jcl", "jcl", f"//J JOB\n{card}\n".encode())]
    steps = JobSteps(members).steps(members[1], members[1].jobs[0])
    found = [(f"{step.names[-1]}.{one.name}", one.read_dsns) for step in steps for _, one in step.dds]
    assert [dsns for name, dsns in found if name == dd] == [expected]


def test_a_dummy_for_the_first_dd_of_a_concatenation_leaves_the_others() -> None:
    """The others are allocated but not read."""
    job = b"//J JOB\n//T EXEC P\n//S.SORTIN DD DUMMY\n"
    members = [member("p.prc", "jcl", DUMMIES), member("j.jcl", "jcl", job)]
    (dd,) = (
        dd
        for step in JobSteps(members).steps(members[1], members[1].jobs[0])
        for _, dd in step.dds
        if (step.names[-1], dd.name) == ("S", "SORTIN")
    )
    assert (dd.dsns, dd.read_dsns) == (("A.TWO", "A.THREE"), ())


def test_a_procedure_in_the_stream_is_apart_from_its_job() -> None:
    """After PEND the job continues; symbols of the procedure are replaced."""
    text = "//J JOB\n//P PROC X=A\n//S EXEC PGM=&X.B\n// PEND\n//T EXEC P\n"
    outer, inner = member("j", "jcl", text.encode()).jobs
    assert ([step.procedure for step in outer.steps], [step.program for step in inner.steps]) == (["P"], ["AB"])


def test_symbols_that_double_each_other_end() -> None:
    """Sixty SETs that each double the last one give no text of 2^60 letters; a symbol of usual length is replaced."""
    cards = ["//J JOB", "// SET S0=ABCDEFGH", *(f"// SET S{at}=&S{at - 1}&S{at - 1}" for at in range(1, 60))]
    (job,) = member("j", "jcl", "\n".join([*cards, "//A EXEC PGM=X", "//D DD DSN=&S2..&S59"]).encode()).jobs
    (dsn,) = job.steps[0].dds[0].dsns
    assert dsn.startswith("ABCDEFGH" * 4 + ".")
    assert len(dsn) < 10_000


def test_procedures_that_run_each_other_eight_times_end() -> None:
    """Twelve of them would have 8^12 steps: the first ones up to a limit are followed, and what is left out is reported."""
    deep = [
        member(
            f"Q{at}.prc", "proc", (f"//Q{at} PROC\n" + "".join(f"//S{n} EXEC Q{at + 1}\n" for n in range(8))).encode()
        )
        for at in range(12)
    ]
    members = [member("j.jcl", "jcl", b"//J JOB\n//A EXEC PGM=FIRST\n//B EXEC Q0\n"), *deep]
    steps = list(JobSteps(members).steps(members[0], members[0].jobs[0]))
    assert steps[0].step.program == "FIRST"
    assert 255 < len(steps) < 10_000
    assert [one.is_cut for one in steps] == [False] * (len(steps) - 1) + [True]
    missing = LinkedEstate(members, []).inventory.missing
    assert [(one.kind, one.name, one.users) for one in missing if one.kind == "step"] == [
        ("step", f"J: WHAT COMES AFTER ITS FIRST {len(steps)} STEPS", ("j.jcl",))
    ]
    assert [edge.why for edge in EstateGraph([], members).edges() if "not followed" in edge.why] == [
        f"more than {len(steps)} steps: what comes after this one is not followed"
    ]


def test_a_program_in_the_stream_of_a_job_is_listed_as_not_here() -> None:
    """A compiler's step has its source, under a DD of its own or of a procedure; a comment names no program."""
    source = "000100 IDENTIFICATION DIVISION.\n000200 PROGRAM-ID. NIGHTLY.\n000300*    PROGRAM-ID. OLDER.\n"
    other = "       PROGRAM-ID.\n           'DAILY'.\n"
    job = (
        f"//J JOB\n//A EXEC PGM=IGYCRCTL\n//SYSIN DD *\n{source}/*\n//B EXEC COBUCL\n//COB.SYSIN DD *\n{other}/*\n"
        "//C EXEC PGM=SORT\n//SYSIN DD *\n  SORT FIELDS=COPY\n/*\n"
    )
    missing = LinkedEstate([member("j.jcl", "jcl", job.encode())], []).inventory.missing
    assert [(one.kind, one.name, one.users) for one in missing] == [
        ("procedure", "COBUCL", ("j.jcl",)),
        ("program in a job", "DAILY", ("j.jcl",)),
        ("program in a job", "NIGHTLY", ("j.jcl",)),
    ]


def test_a_screen_has_fields_and_the_copybook_that_cics_makes() -> None:
    """Names, positions and texts are read, and the symbolic map is generated letter by letter."""
    (found,) = member("m.bms", "bms", MAP.encode()).mapsets
    (screen,) = found.maps
    assert (found.name, screen.name, screen.size) == ("MENU", "MENU1", ("24", "80"))
    assert [
        (field.name, field.row, field.column, field.length, field.initial, field.occurs) for field in screen.fields
    ] == [
        ("", 1, 1, 5, "It's ", None),
        ("CHOICE", 2, 1, 2, None, None),
        ("LINES", 4, 1, 40, None, 3),
    ]
    assert copybook(found).split() == SYMBOLIC.split()
    for field in (field for field in screen.fields if field.name):
        assert f" {field.name}I " in copybook(found).split("\n")[field.line - 1]


def test_a_field_of_a_screen_without_a_length_is_as_long_as_its_picture() -> None:
    """LENGTH may be left out beside PICIN or PICOUT, and the field had one character where its output has more."""
    fields = (
        "TOTAL   DFHMDF POS=(1,1),PICOUT='ZZ,ZZ9'",
        "CODE    DFHMDF POS=(2,1),PICIN='9(3)'",
        "PLAIN   DFHMDF POS=(3,1)",
    )
    text = "SET     DFHMSD TYPE=MAP,MODE=INOUT\nONE     DFHMDI SIZE=(24,80)\n" + "\n".join(fields)
    (found,) = member("m.bms", "bms", text.encode()).mapsets
    assert [field.length for field in found.maps[0].fields] == [6, 3, None]
    pictures = re.findall(r"(\w+[IO])  PIC ([^.]+)\.", copybook(found))
    assert pictures == [
        *(("TOTALI", "X(6)"), ("CODEI", "9(3)"), ("PLAINI", "X(1)")),
        *(("TOTALO", "ZZ,ZZ9"), ("CODEO", "X(3)"), ("PLAINO", "X(1)")),
    ]


def test_numbers_in_the_last_columns_of_a_card_are_no_columns_of_a_table() -> None:
    """What ISPF saves with NUMBER ON has eight digits from column 73 on; the columns were called 00020000 and so on."""
    lines = ("CREATE TABLE PAY.T (", "    ID   INTEGER NOT NULL,", "    NAME VARCHAR(100)", ");")
    numbered = "".join(f"{line:72}{number:06}00\n" for number, line in enumerate(lines, 1))
    (table,) = member("t.sql", "ddl", numbered.encode()).tables
    assert (table.name, table.columns) == ("PAY.T", (("ID", "INTEGER"), ("NAME", "VARCHAR(100)")))
    routine = f"{'CREATE PROCEDURE PAY.UP':72}00010000\n{'  EXTERNAL':72}00020000\n{'  NAME UPPGM':72}00030000\n"
    (procedure,) = member("p.sql", "ddl", routine.encode()).procedures
    assert (procedure.name, procedure.program) == ("PAY.UP", "UPPGM")


def test_a_comment_among_the_columns_of_a_table_is_none() -> None:
    """`/* keys */` in front of the constraints was a column."""
    lines = (
        "CREATE TABLE PAY.T (",
        "  ID INT, /* was: OLD INT,",
        "  A INT, it's */ NAME CHAR(4),",
        "  /* keys */",
        "  PRIMARY KEY (ID));",
    )
    (table,) = member("t.sql", "ddl", "\n".join(lines).encode()).tables
    assert (table.columns, table.key, table.end_line) == ((("ID", "INT"), ("NAME", "CHAR(4)")), ("ID",), 5)


def test_a_table_that_does_not_end_ends_where_the_next_begins() -> None:
    """Each was searched for its end in all that follows: eight thousand took minutes."""
    cut, whole = member("t.ddl", "ddl", b"CREATE TABLE A (X INT, Y DEC(3,2)\nCREATE TABLE B (\nZ INT);\n").tables
    assert [column.name for column in cut.columns] == ["X", "Y"]
    assert (whole.name, [column.name for column in whole.columns], whole.end_line) == ("B", ["Z"], 3)
    begin = time.process_time()
    assert len(member("t.ddl", "ddl", b"DECLARE T TABLE (" * 3_000).tables) == 3_000
    assert time.process_time() - begin < 2


def test_the_tables_of_an_older_region_are_read_in_assembler_and_in_a_job() -> None:
    """The transactions of a PCT and the files of an FCT, over several cards, of CICS and of KICKS; other tables define neither."""
    table = f"""\
* TRANSACTIONS
         DFHPCT TYPE=INITIAL,SUFFIX=1$
PAY1     DFHPCT TYPE=ENTRY,TRANSID=PAY1,PROGRAM=PAYROLL  THE MENU
{"         KIKPCT TYPE=ENTRY,TRANSID=PAY2,PROGRAM=PAYMENTS,":<71}*
               TWASIZE=000
         DFHPPT TYPE=ENTRY,PROGRAM=PAYROLL
         DFHFCT TYPE=DATASET,DATASET=CLERKS,DSNAME=PAY.PROD.CLERKS
         DFHFCT TYPE=FINAL
         END
"""
    expected = [
        ("TRANSACTION", "PAY1", "PAYROLL", None, 3, 3),
        ("TRANSACTION", "PAY2", "PAYMENTS", None, 4, 5),
        ("FILE", "CLERKS", None, "PAY.PROD.CLERKS", 7, 7),
    ]

    def said(resources: Iterable[Resource], before: int = 0) -> list[tuple[str, str, str | None, str | None, int, int]]:
        found = [(one, one.attributes) for one in resources]
        return [
            (one.kind, one.name, has.get("PROGRAM"), has.get("DSNAME"), one.line - before, one.end_line - before)
            for one, has in found
        ]

    assert said(member("PCT1", "csd", table.encode()).resources) == expected
    job = f"//ASM JOB\n//S EXEC PGM=IFOX00,\n//  PARM=DECK\n//SYSIN DD *\n{table}/*\n"
    assert said(member("j.jcl", "jcl", job.encode()).resources, 4) == expected


def test_regions_tables_and_databases_are_read() -> None:
    """CSD, DDL, DCLGEN, DBD and PSB are read."""
    resources = member("r.csd", "csd", CSD.encode()).resources
    assert [(one.kind, one.name, one.group, one.line, one.end_line) for one in resources] == [
        ("PROGRAM", "MENUPGM", "PAY", 1, 2),
        ("TRANSACTION", "MENU", "PAY", 3, 4),
    ]
    bundle = """<?xml version="1.0" encoding="UTF-8"?>
<cicsdefinitiontransaction xmlns="http://x/y" description="a > b" name="MENU"
   program="MENUPGM"/>
"""
    (resource,) = member("m.transaction", "csd", bundle.encode()).resources
    assert (resource.kind, resource.name, resource.line, resource.end_line) == ("TRANSACTION", "MENU", 2, 3)
    assert resource.attributes["PROGRAM"] == "MENUPGM"
    (table,) = member("t.ddl", "ddl", DDL.encode()).tables
    assert (table.name, table.key, table.line, table.end_line) == ("PAY.CLERK", ("ID",), 2, 7)
    assert table.columns == (("ID", "INTEGER"), ("NAME", "VARCHAR(40)"), ("SALARY", "DECIMAL(9, 2)"))
    (declared,) = member("t.dcl", "dclgen", b" EXEC SQL DECLARE PAY.T TABLE\n (A CHAR(1) NOT NULL) END-EXEC.").tables
    assert (declared.name, declared.columns) == ("PAY.T", (("A", "CHAR(1)"),))
    (database,) = member("d.dbd", "dbd", DBD.encode()).dbds
    assert (database.name, database.dds) == ("PAYDB", ("PAYDD",))
    assert [(one.name, one.parent, one.bytes, one.fields) for one in database.segments] == [
        ("ROOT", "", 100, (("KEY1", 1, 6),)),
        ("CHILD", "ROOT", 20, ()),
    ]
    (view,) = member("p.psb", "psb", PSB.encode()).psbs
    assert (view.name, view.pcbs[0].dbd, view.pcbs[0].segments) == ("PAYPSB", "PAYDB", ("ROOT",))


def test_a_declared_table_is_read_from_numbered_lines() -> None:
    """Sequence numbers and columns 73 to 80 are not part of the declaration; its lines are those of the file."""
    said = ("EXEC SQL DECLARE PAY.T TABLE", "( A CHAR(5) NOT NULL,", "  B DECIMAL(7, 2)", ") END-EXEC.")
    numbered = "\n".join(f"{at:06d}     {line:<61}T{at:07d}" for at, line in enumerate(said, 1))
    (table,) = member("t.cpy", "dclgen", numbered.encode()).tables
    assert (table.name, [column.name for column in table.columns], table.line, table.end_line) == (
        "PAY.T",
        ["A", "B"],
        1,
        4,
    )


def test_copybooks_are_found_case_blind_and_before_programs() -> None:
    """A copybook comes first, then a DCLGEN, a map that CICS would generate, and a program; the library chooses between folders."""
    shelf = Copybooks(
        [
            ("src/rate.cbl", "cobol", program("    GOBACK.", name="RATE").encode()),
            ("cpy/RATE.cpy", "copybook", fixed("01  R PIC X.").encode()),
            ("old/body.cpy", "copybook", fixed("01  OLD-BODY PIC X.").encode()),
            ("new/BODY.cpy", "copybook", fixed("01  NEW-BODY PIC X.").encode()),
        ],
        [member("maps/menu.bms", "bms", MAP.encode())],
    )
    assert (shelf.path("Rate"), shelf.path("BODY"), shelf.path("body", "OLD"), shelf.path("NONE")) == (
        "cpy/RATE.cpy",
        "new/BODY.cpy",
        "old/body.cpy",
        None,
    )
    derived = shelf("menu", None)
    assert derived is not None
    assert shelf.path("MENU") == "maps/menu.bms"
    assert "MENU1I" in {entry.name for entry in derived.programs[0].entries}
    assert shelf("menu", None) is derived


def test_a_copybook_in_each_folder_is_looked_up_in_time_by_their_number() -> None:
    """Copies of a shop's programs have the same copybooks in other folders: each means the one beside it."""

    def work(size: int) -> Callable[[], object]:
        text = program("    GOBACK.", data=("COPY A.", "COPY A.", "COPY A.", "COPY A.")).encode()
        files: list[tuple[str, Kind, bytes]] = [
            (f"d{at}/a.cpy", "copybook", fixed(f"01  R{at} PIC X.").encode()) for at in range(size)
        ]

        def found() -> None:
            shelf = Copybooks(files)
            for at in range(size):
                find = shelf.beside(f"d{at}/p.cbl")
                source = scan(text, copybooks=find)
                assert facts(source, source.programs[0], copybooks=find).items[0].name == f"R{at}"

        return found

    assert growth(work, 100) < BOUND


def test_a_copybook_that_nothing_has_may_be_that_of_the_map_of_this_name() -> None:
    """Some shops call the copybook of a mapset by its map; of two mapsets with such a map, neither is taken."""
    maps = member("maps/menu.bms", "bms", MAP.encode())
    assert Copybooks([], [maps]).path("menu1") == "maps/menu.bms"
    again = member("maps/old.bms", "bms", MAP.replace("MENU ", "OLD  ").encode())
    assert Copybooks([], [maps, again]).path("MENU1") is None
    own = fixed("01  M PIC X.").encode()
    assert Copybooks([("cpy/MENU1.cpy", "copybook", own)], [maps]).path("MENU1") == "cpy/MENU1.cpy"
    other = member("maps/menu1.bms", "bms", MAP.replace("MENU1", "FIRST").replace("MENU ", "MENU1").encode())
    assert Copybooks([], [maps, other]).path("MENU1") == "maps/menu1.bms"


def test_two_mapsets_of_one_file_have_a_copybook_each() -> None:
    """Each with a text of its own: the second was once read, and known again, as the first."""
    both = MAP.replace("MENU", "EXIT") + MAP
    shelf = Copybooks([], [member("maps/menu.bms", "bms", both.encode())])
    for name in ("EXIT", "MENU"):
        made = shelf(name, None)
        assert made is not None
        assert made.programs[0].entries[0].name == f"{name}1I"
    assert shelf.identity("MENU") != shelf.identity("EXIT")


def test_of_two_map_sources_the_nearest_is_taken() -> None:
    """As of two copybooks; what is made of the other was once taken for a layout that a compiler was given."""
    shelf = Copybooks([], [member(f"{folder}/menu.bms", "bms", MAP.encode()) for folder in ("a", "b")])
    for folder in ("a", "b"):
        assert shelf.path("MENU", beside=f"{folder}/P.cbl") == f"{folder}/menu.bms"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (fixed("01  MENU1I.", "    02  A PIC X."), "copy/MENU.cbl"),
        (program("    GOBACK.", name="MENU"), "maps/menu.bms"),
    ],
)
def test_a_layout_is_taken_before_what_we_make_of_a_map_and_a_program_is_not(text: str, path: str) -> None:
    """Some shops give all their files the suffix of programs."""
    shelf = Copybooks([("copy/MENU.cbl", "cobol", text.encode())], [member("maps/menu.bms", "bms", MAP.encode())])
    assert shelf.path("MENU") == path


PAY = fixed(
    "IDENTIFICATION DIVISION.",
    "PROGRAM-ID. PAYPGM.",
    "ENVIRONMENT DIVISION.",
    "INPUT-OUTPUT SECTION.",
    "FILE-CONTROL.",
    "    SELECT PAYMENTS ASSIGN TO UT-S-PAYIN.",
    "DATA DIVISION.",
    "FILE SECTION.",
    "FD  PAYMENTS.",
    "01  PAYMENT PIC X(80).",
    "WORKING-STORAGE SECTION.",
    "COPY BODY.",
    "01  WS-NEXT PIC X(8) VALUE 'SUBPGM'.",
    "PROCEDURE DIVISION.",
    "    OPEN INPUT PAYMENTS.",
    "    CALL WS-NEXT.",
    "    CALL 'NOWHERE'.",
    "    CALL 'ASMPGM'.",
    "    CALL 'CEE3ABD'.",
    "    EXEC SQL SELECT A INTO :B FROM PAY.CLERK END-EXEC.",
    "    GOBACK.",
)


@pytest.fixture
def estate() -> LinkedEstate:
    """Return an estate of a job, a procedure, a region and four programs."""
    members = [
        job(),
        member("proc/payproc.prc", "proc", PROC.encode()),
        member("r.csd", "csd", CSD.encode()),
        member("asm/ASMPGM.asm", "hlasm", b"ASMPGM CSECT"),
    ]
    screen = "    EXEC CICS SEND MAP('MENU1') MAPSET('MENU') END-EXEC."
    again = "    EXEC CICS RETURN TRANSID('MENU') END-EXEC."
    return LinkedEstate(
        members,
        [
            ("cbl/paypgm.cbl", PAY),
            ("cbl/subpgm.cbl", program("    GOBACK.", name="SUBPGM")),
            ("cbl/menupgm.cbl", program(screen, again, name="MENUPGM")),
            ("cbl/db2pgm.cbl", program("    CALL 'PAYPGM'.", "    GOBACK.", name="DB2PGM")),
        ],
    )


def test_programs_have_callers_and_transactions(estate: LinkedEstate) -> None:
    """Callers name a program by a literal or a value; a transaction that a program returns to starts the region's program."""
    assert estate.around("SUBPGM") == (("PAYPGM",), (), ("PAYJOB",))
    assert estate.around("PAYPGM") == (("DB2PGM",), (), ("PAYJOB",))
    assert estate.around("MENUPGM") == (("MENUPGM",), ("MENU",), ())


@pytest.mark.proves("C-16")
def test_of_several_programs_of_a_name_that_in_the_file_of_its_caller_is_called() -> None:
    """A caller whose own file has a program of that name does not call the others."""
    twice = program("    GOBACK.", name="INNER")
    caller = {name: program("    CALL 'INNER'.", "    GOBACK.", name=name) for name in ("A", "B", "C")}
    texts = [("a.cbl", caller["A"] + twice), ("b.cbl", caller["B"] + twice), ("c.cbl", caller["C"])]
    estate = LinkedEstate([], texts)
    assert estate.callers("INNER", "a.cbl") == ["A", "C"]
    assert estate.callers("INNER", "b.cbl") == ["B", "C"]
    assert estate.callers("A", "a.cbl") == []


@pytest.mark.proves("C-16")
def test_of_several_programs_of_a_name_those_to_which_as_gives_another_are_not_called() -> None:
    """If AS gives another name to each of them, all may be called. What has the name of AS, or of an ENTRY, is called as ever."""
    caller = ("a.cbl", program("    CALL 'ONE'.", "    CALL 'TWO'.", "    CALL 'IN'.", name="A"))
    two, one, three = (
        (path, program("    ENTRY 'IN'.", name=name))
        for name, path in (('ONE AS "TWO"', "b.cbl"), ("ONE", "c.cbl"), ('ONE AS "THREE"', "d.cbl"))
    )
    for programs, lines in (((two, one, three), [[5, 6], [4, 6], [6]]), ((two, three), [[4, 5, 6], [4, 6]])):
        estate = LinkedEstate([], [caller, *programs])
        assert [estate.called_on("ONE", path) for path, _ in programs] == lines


@pytest.mark.proves("C-16")
def test_of_several_programs_of_a_name_the_one_whose_file_has_it_is_called() -> None:
    """A copy of a program often keeps its PROGRAM-ID; a call of its file still reaches it."""
    caller = ("a.cbl", program("    CALL 'STOCK'.", "    CALL 'OLDSTOCK'.", name="A"))
    copies = [(path, program("    GOBACK.", name="STOCK")) for path in ("STOCK.CBL", "OLDSTOCK.CBL")]
    estate = LinkedEstate([], [caller, *copies])
    assert [estate.called_on("STOCK", path) for path, _ in copies] == [[4], [5]]


@pytest.mark.proves("C-16")
def test_a_name_that_no_program_has_is_that_of_its_file() -> None:
    """As in the graph, a call, a transaction and a step with its DDs reach the first program of the file; nothing is missing."""
    reading = with_file("PAY_SUB")
    caller = program("    CALL 'PAY-SUB'.", "    CALL 'OTHER'.", "    GOBACK.", name="A")
    other = program("    ENTRY 'OTHER'.", "    GOBACK.", name="SECOND")
    estate = LinkedEstate(
        [
            member("r.csd", "csd", b"DEFINE TRANSACTION(PAYT) GROUP(G) PROGRAM(PAY-SUB)\n"),
            member(
                "j.jcl", "jcl", b"//J JOB\n//S EXEC PGM=PAY-SUB\n//DD1 DD DSN=A.B,DISP=SHR\n// DD DUMMY\n// DD DSN=C\n"
            ),
        ],
        [("a.cbl", caller), ("x/pay-sub.cbl", reading), ("z.cbl", other)],
    )
    assert estate.around("PAY_SUB") == (("A",), ("PAYT",), ("J",))
    assert estate.callers("SECOND") == ["A"]  # by its ENTRY
    assert [one.part.path for one in estate.inventory.run_by("j.jcl", "J")] == ["x/pay-sub.cbl"]
    assert [(one.facts.program, bound.dsns) for one, bound in estate.inventory.data_sets()] == [("PAY_SUB", ("A.B",))]
    assert not estate.inventory.missing


def test_a_call_by_a_name_that_nothing_declares_is_one_of_the_program_of_this_name() -> None:
    """`CALL INNER` without an item INNER gives INNER a caller; a name that no program has is not reported missing."""
    caller = program("    CALL INNER.", "    CALL GONE.", "    GOBACK.", name="A")
    estate = LinkedEstate([], [("a.cbl", caller), ("b.cbl", program("    GOBACK.", name="INNER"))])
    assert estate.callers("INNER") == ["A"]
    assert not estate.inventory.missing


def test_steps_run_programs_on_data_sets(estate: LinkedEstate) -> None:
    """Steps run programs directly, through a procedure, or under TSO and IMS; a SELECT is bound to the data set of its DD."""
    runs = (edge for edge in estate.graph.drawn if edge.verb == "runs" and edge.source.kind == "step")
    assert [f"{edge.source.name} {edge.target.name}" for edge in runs] == [
        "PAYJOB.STEP1 PAYPGM",
        "PAYJOB.STEP2 IKJEFT01",
        "PAYJOB.STEP2 DB2PGM",
        "PAYJOB.STEP3 DFSRRC00",
        "PAYJOB.STEP3 IMSPGM",
        "PAYJOB.STEP4 PAYPROC",
        "PAYJOB.STEP4.INNER SUBPGM",
        "PAYJOB.STEP5 GONEPROC",
    ]
    inventory = estate.inventory
    run = inventory.run_by("jcl/payjob.jcl", "PAYJOB")
    assert [one.facts.program for one in run] == ["PAYPGM", "SUBPGM", "DB2PGM"]
    assert [(one.facts.program, *bound) for one, bound in inventory.data_sets()] == [
        ("PAYPGM", "PAYMENTS", "PAYIN", ("MW.PROD.PAY(+1)",), "PAYJOB", "STEP1", "jcl/payjob.jcl", 8)
    ]


def test_what_is_used_has_its_users(estate: LinkedEstate) -> None:
    """Copybooks, tables, maps and files have their users, with the lines."""
    assert [(one.program, one.lines) for one in estate.inventory.users("copybook", "body")] == [("PAYPGM", (12,))]
    assert [(one.program, one.lines) for one in estate.inventory.users("table", "PAY.CLERK")] == [("PAYPGM", (20,))]
    assert [one.program for one in estate.inventory.users("map", "menu.menu1")] == ["MENUPGM"]
    assert estate.inventory.used("map") == ("MENU.MENU1",)


def test_what_is_nowhere_is_missing(estate: LinkedEstate) -> None:
    """What comes with the system, or what another language defines, is not missing."""
    assert [(one.kind, one.name) for one in estate.inventory.missing] == [
        ("copybook", "BODY"),
        ("procedure", "GONEPROC"),
        ("program", "NOWHERE"),
    ]


def test_a_procedure_that_runs_itself_ends() -> None:
    """Its steps count once."""
    text = "//P PROC\n//S EXEC PGM=A\n//T EXEC P\n// PEND\n//J JOB\n//U EXEC P\n"
    found = LinkedEstate([member("p", "proc", text.encode())], [("a.cbl", program("    GOBACK.", name="A"))])
    assert found.around("A").jobs == ("J",)
    assert [edge.source.name for edge in found.graph.drawn if edge.target.name == "A"] == ["J.U.S"]


def test_members_say_what_they_define() -> None:
    """Jobs, maps and resources are named once each."""
    (mapset,) = member("m.bms", "bms", MAP.encode()).mapsets
    assert [one.name for one in job().jobs] == ["PAYJOB"]
    assert (mapset.name, [one.name for one in mapset.maps]) == ("MENU", ["MENU1"])
    assert {one.name for one in member("r.csd", "csd", CSD.encode()).resources} == {"MENUPGM", "MENU"}
    assert (job().name, job().lines) == ("payjob", 22)


PIECES = (
    "//",
    " DD ",
    "EXEC ",
    "PGM=",
    "&",
    "(",
    ")",
    "'",
    ",",
    "\n",
    "*",
    "DEFINE ",
    "DFHMDF ",
    "CREATE TABLE T (",
    "SEGM ",
    "=",
    "X" * 72,
)


@given(
    st.lists(st.sampled_from([*PIECES, "JOB", "PROC", "A", " ", "/*"]), max_size=60),
    st.sampled_from(["jcl", "bms", "csd", "ddl", "psb", "dbd", "dds", "cl", "control", "script"]),
)
def test_any_text_is_a_member(pieces: list[str], kind: Kind) -> None:
    """Any text can be read, and the reported lines are lines of it."""
    data = "".join(pieces).encode()
    found = member("x", kind, data)
    groups = (
        found.jobs,
        found.mapsets,
        found.resources,
        found.tables,
        found.psbs,
        found.dbds,
        found.procedures,
        found.calls,
    )
    lines = [one.line for group in groups for one in group] + [len(found.control) or 1]
    assert all(1 <= line <= max(1, data.count(b"\n") + 1) for line in lines)


@given(st.binary(max_size=300))
def test_any_bytes_have_a_kind_or_none(data: bytes) -> None:
    """No bytes raise an error."""
    assert kind_of("MEMBER", data) in {
        None,
        "jcl",
        "proc",
        "bms",
        "csd",
        "ddl",
        "dbd",
        "psb",
        "cobol",
        "copybook",
        "dclgen",
        "dds",
        "control",
    }
