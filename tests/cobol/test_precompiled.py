"""Is the output of an SQL precompiler understood: the statement as a comment, followed by calls of its stubs?"""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.facts.calls import is_interface

from .sources import fixed

OCESQL = """\
OCESQL*    EXEC SQL
OCESQL*        DECLARE C1 CURSOR FOR SELECT A FROM CUST
OCESQL*    END-EXEC.
OCESQL     CALL "OCESQLCursorDeclare" USING BY REFERENCE SQLCA
OCESQL     END-CALL.
OCESQL*    EXEC SQL FETCH C1
OCESQL*        INTO :W
OCESQL*    END-EXEC
OCESQL     CALL "OCESQLStartSQL"
OCESQL     END-CALL
OCESQL     CALL "OCESQLSetResultParams" USING BY VALUE 1 BY REFERENCE W
OCESQL     END-CALL.
"""
DB2 = """\
      *EXEC SQL
      *DECLARE C1 CURSOR FOR
      *      SELECT A FROM CUST END-EXEC
      *EXEC SQL FETCH C1 INTO :W END-EXEC
           CALL "sqlgstrt" USING BY CONTENT SQLA-PROGRAM-ID BY REFERENCE SQLCA
           MOVE 1 TO SQL-STMT-ID
           CALL "sqlgstlv" USING BY VALUE SQLDA-ID BY REFERENCE W BY VALUE 0
"""
DB2_OF_MVS = """\
      *****EXEC SQL DECLARE C1 CURSOR FOR
      *****  SELECT A FROM CUST END-EXEC.
      *    EXEC SQL DECLARE C1 CURSOR FOR SELECT B FROM OLD END-EXEC.
      *****EXEC SQL
      *****     FETCH C1 INTO :W
      *****END-EXEC.
           PERFORM SQL-INITIAL UNTIL SQL-INIT-DONE
           CALL 'DSNHLI' USING SQL-PLIST3.
"""
ORACLE = """\
      *    EXEC SQL DECLARE C1 CURSOR FOR SELECT A FROM CUST END-EXEC.
      *    EXEC SQL FETCH C1 INTO :W END-EXEC.
           MOVE 1 TO SQL-ITERS
           CALL "SQLADR" USING W SQL-SQHSTV(1)
           CALL "SQLBEX" USING SQLCTX.
"""
ESQLOC = """\
      *    EXEC SQL DECLARE C1 CURSOR FOR SELECT A FROM CUST END-EXEC.
      *    EXEC SQL FETCH C1 INTO :W END-EXEC.
           IF SQL-PREP OF SQL-STMT-1 = 'N'
               SET SQL-ADDR(1) TO ADDRESS OF
                 W
               MOVE 'X' TO SQL-TYPE(1)
               CALL 'OCSQLPRE' USING SQLV SQL-STMT-1 SQLCA
               SET SQL-HCONN OF SQLCA TO NULL
           END-IF
           CALL 'OCSQLEXE' USING SQL-STMT-1 SQLCA.
"""
FORMS = {
    "Open COBOL ESQL": (OCESQL, [("DECLARE CURSOR", 11), ("FETCH", 16)]),
    "DB2": (DB2, [("DECLARE CURSOR", 12), ("FETCH", 12)]),
    "DB2 of MVS": (DB2_OF_MVS, [("DECLARE CURSOR", 15), ("FETCH", 15)]),
    "Oracle": (ORACLE, [("DECLARE CURSOR", 11), ("FETCH", 11)]),
    "esqlOC": (ESQLOC, [("DECLARE CURSOR", 14), ("FETCH", 14)]),
}


@pytest.mark.parametrize(("code", "operations"), FORMS.values(), ids=FORMS)
def test_the_sql_of_a_precompiled_program_is_read_from_its_comments(
    code: str, operations: list[tuple[str, int]]
) -> None:
    """Tables and data are those of the EXEC SQL; a cursor is declared at its first use; dead statements do not count."""
    head = fixed("ID DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", "01 W PIC X(8).")
    end = "      *    EXEC SQL DELETE FROM GONE END-EXEC.\n" + fixed("    DISPLAY W.", "    GOBACK.")
    source = scan(head + fixed("PROCEDURE DIVISION.", "MAIN.") + code + end)
    found = facts(source, source.programs[0])
    assert [(one.operation, one.line) for one in found.sql] == operations
    lines = tuple(dict.fromkeys(line for _, line in operations))
    assert [(one.resource, one.create, one.read) for one in found.crud] == [("CUST", (), lines)]
    (item,) = found.items
    assert (item.written_lines, item.read_lines[-1]) == (lines[-1:], source.lines - 1)
    assert all(is_interface(name) for call in found.calls for name in call.names)


def test_what_a_person_commented_out_above_a_call_of_his_own_is_nothing() -> None:
    """Between its comment and the call, a precompiler only prepares the call."""
    head = fixed("ID DIVISION.", "PROGRAM-ID. P.", "PROCEDURE DIVISION.", "MAIN.")
    dead = "      *    EXEC SQL DELETE FROM GONE END-EXEC.\n"
    for code in ('    CALL "RATES".', '    DISPLAY 1 CALL "SQLADR" USING SQLCUD.'):
        source = scan(head + dead + fixed(*code.replace(" CALL", "\n           CALL", 1).splitlines(), "    GOBACK."))
        assert facts(source, source.programs[0]).sql == ()
