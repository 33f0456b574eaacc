"""Are words of dialects read, or else counted and shown, without misreading what is around them?"""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import Facts, facts
from penstock.cobol.facts.calls import is_interface

from .sources import fixed

pytestmark = pytest.mark.proves("C-14")


def read(*lines: str) -> Facts:
    """Return the facts of a program with these lines after its PROGRAM-ID."""
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. STOCK.", *lines))
    return facts(source, source.programs[0])


def procedure(*lines: str) -> Facts:
    """Return the facts of a program with these lines in its PROCEDURE DIVISION."""
    return read("PROCEDURE DIVISION.", *lines)


@pytest.mark.parametrize(
    ("said", "is_unknown"),
    [
        ("LOCKIT X AT N = 5 ON EXCEPTION GO TO DONE.", True),
        ("BROWSE X ON ERROR STOP RUN.", True),
        ("BROWSE X AT END GO TO DONE.", True),
        ("BROWSE X ON ERROR DISPLAY 'E' AT END GO TO DONE.", True),
        ("BROWSE X INVALID KEY GO TO DONE.", True),
        ("DELETE X ON EXCEPTION GO TO DONE.", False),
        ("OPEN UPDATE BASE ON EXCEPTION GO TO DONE.", False),
        ("MOVE 1 TO X BROWSE X ON ERROR GO TO DONE.", False),
    ],
)
def test_what_a_phrase_holds_behind_a_statement_of_a_dialect_is_done_in_that_case_alone(
    said: str, is_unknown: bool
) -> None:
    """Otherwise its GO TO would end the paragraph, and all code after it would be dead."""
    found = procedure("FIRST-ONE.", f"    {said}", "SECOND-ONE.", "    GOBACK.", "DONE.", "    EXIT PROGRAM.")
    assert [(one.falls_into, one.dead is None) for one in found.paragraphs[:2]] == [
        ("SECOND-ONE", True),
        (None, True),
    ]
    assert [one.line for one in found.unread] == [5] * is_unknown
    assert found.undeclared == () or not is_unknown


def test_begin_and_end_after_an_unknown_word_are_names() -> None:
    """END alone may be an item; only AT, ON and INVALID begin a phrase."""
    found = procedure("MAIN.", "    SHOW BEGIN END.", "    GOBACK.")
    assert [one.text for one in found.unread] == ["SHOW BEGIN END"]


def test_databases_of_records_and_sets_are_read_as_idms_is() -> None:
    """A section of the DATA DIVISION identifies them: FINISH alone is then a statement, not a paragraph."""
    found = read(
        "DATA DIVISION.",
        "SUB-SCHEMA SECTION.",
        "DB PARTSVIEW WITHIN PARTSCHEMA.",
        "WORKING-STORAGE SECTION.",
        "01  KEPT PIC X.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    READY USAGE-MODE UPDATE.",
        "    FETCH FIRST PART WITHIN SHELF ON ERROR GO TO DONE.",
        "MORE.",
        "    STORE BIN.",
        "    ERASE ALL PART.",
        "    FINISH.",
        "DONE.",
        "    STOP RUN.",
    )
    assert [(one.verb, one.record, one.within) for one in found.network] == [
        ("READY", None, None),
        ("FETCH", "PART", "SHELF"),
        ("STORE", "BIN", None),
        ("ERASE", "PART", None),
        ("FINISH", None, None),
    ]
    assert [(one.resource, one.create, one.read, one.delete) for one in found.crud] == [
        ("BIN", (13,), (), ()),
        ("PART", (), (11,), (14,)),
    ]
    assert [(one.name, one.dead) for one in found.paragraphs] == [("MAIN", None), ("MORE", None), ("DONE", None)]
    assert found.unread == ()
    assert found.undeclared == ()


def test_data_sets_of_a_data_base_section_are_records() -> None:
    """Statements that find, lock, create and store name data sets and the sets over them."""
    found = read(
        "DATA DIVISION.",
        "DATA-BASE SECTION.",
        "DB  STOCKBASE ALL.",
        "WORKING-STORAGE SECTION.",
        "01  ASKED PIC 9(4).",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    OPEN UPDATE STOCKBASE ON EXCEPTION GO TO DONE.",
        "    LOCK ITEM-SET AT ITEM-NO = ASKED ON EXCEPTION GO TO DONE.",
        "    BEGIN-TRANSACTION NO-AUDIT RESTARTS.",
        "    CREATE ITEMS.",
        "    STORE ITEMS ON EXCEPTION",
        "        IF DMSTATUS(DUPLICATES) DISPLAY 'TWICE' ELSE CALL SYSTEM DMTERMINATE.",
        "    DELETE ITEMS ON EXCEPTION GO TO DONE.",
        "    END-TRANSACTION NO-AUDIT RESTARTS.",
        "    FREE ITEMS.",
        "MORE.",
        "    FIND NEXT ITEM-SET ON EXCEPTION NEXT SENTENCE.",
        "DONE.",
        "    STOP RUN.",
    )
    assert [(one.verb, one.record) for one in found.network] == [
        ("LOCK", "ITEM-SET"),
        ("BEGIN-TRANSACTION", None),
        ("CREATE", "ITEMS"),
        ("STORE", "ITEMS"),
        ("DELETE", "ITEMS"),
        ("END-TRANSACTION", None),
        ("FREE", "ITEMS"),
        ("FIND", "ITEM-SET"),
    ]
    assert [(one.name, one.dead) for one in found.paragraphs] == [("MAIN", None), ("MORE", None), ("DONE", None)]
    assert found.unread == ()
    assert [one.read_lines for one in found.items] == [(11,)]
    assert [(one.resource, one.create, one.read, one.delete) for one in found.crud] == [
        ("ITEM-SET", (), (11, 20), ()),
        ("ITEMS", (13, 14), (), (16,)),
    ]
    assert {one.kind for one in found.errors} == {"EXCEPTION"}
    assert [one.check for one in found.rules] == ["EXCEPTION"]


def test_the_words_of_such_databases_are_names_elsewhere() -> None:
    """In another program FINISH may be a paragraph, and is then not a statement."""
    found = procedure("MAIN.", "    PERFORM FINISH.", "    GOBACK.", "FINISH.", "    EXIT.")
    assert [one.name for one in found.paragraphs] == ["MAIN", "FINISH"]
    assert found.network == ()


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("CALL 'PRICE' IN LIBRARY 'SHOP' USING N.", ("PRICE",)),
        ("CALL LINKAGE TYPE IS PROCEDURE 'taxOf' USING N.", ("taxOf",)),
        ("CALL LINKAGE PROGRAM 'PRICE'.", ("PRICE",)),
        ("CALL PROGRAM 'PRICE' USING N.", ("PRICE",)),
        ("CALL PROCEDURE ROUTINE USING N.", ("RATES",)),
        ("CALL LINKAGE.", ()),
        ("CALL PROGRAM USING N.", ()),
        ("CALL 'TAX-OF OF SHOP/TAX/DB' USING N.", ("SHOP/TAX/DB",)),
        ("CALL 'TAX-OF   IN  TAXES' USING N.", ("TAXES",)),
        ("CALL SYSTEM DMTERMINATE.", None),
    ],
)
def test_the_words_between_call_and_a_program_name_none(said: str, names: tuple[str, ...] | None) -> None:
    """How a program is called and which library holds it are not part of its name.

    Entry points of a system are not programs of the estate.
    """
    found = read(
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  ROUTINE PIC X(8) VALUE 'RATES'.",
        "01  LINKAGE-IS PIC X.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        f"    {said}",
        "    GOBACK.",
    )
    (call,) = found.calls
    if names is None:
        assert is_interface(call.target)
    else:
        assert call.names == names


def test_the_routines_of_a_runtime_and_of_a_database_are_no_missing_programs() -> None:
    """CALL "SYSTEM" runs a command in GnuCOBOL and Micro Focus' dialect; the library of MySQL is called by its own names."""
    found = procedure(
        "MAIN.", "    CALL 'SYSTEM' USING X.", "    CALL 'MySQL_query' USING X.", "    CALL 'SYSTEMS' USING X."
    )
    assert [(call.target, is_interface(call.target)) for call in found.calls] == [
        ("SYSTEM", True),
        ("MySQL_query", True),
        ("SYSTEMS", False),
    ]


def test_a_file_of_a_device_with_clauses_of_its_dialect_keeps_its_name_clean() -> None:
    """A clause that only one dialect has is not part of the name that the file is assigned to."""
    found = read(
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT SHOWN ASSIGN TO GS-DSPFILE",
        '        SYMBOLIC DESTINATION IS "DSP" FORMAT IS FORM-NAME GROUP IS GROUP-NAME.',
        "    SELECT PRINTED ASSIGN TO LIST-SYSOUT WITH NO SSF ORGANIZATION IS QUEUED-SEQUENTIAL.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  SHOWN.",
        "01  SHOWN-REC PIC X.",
        "FD  PRINTED.",
        "01  PRINTED-REC PIC X.",
    )
    assert [(one.assign, one.dd) for one in found.files] == [
        (("GS-DSPFILE",), "GS-DSPFILE"),
        (("LIST-SYSOUT",), "LIST-SYSOUT"),
    ]


def test_one_of_several_paragraphs_is_performed() -> None:
    """Screen programs choose by a number: each paragraph may run, and what each moves may reach the code after it."""
    found = procedure(
        "MAIN.",
        "    PERFORM ONE OF ADDING, ENDING DEPENDING ON CHOICE.",
        "    CALL ROUTINE.",
        "    STOP RUN.",
        "ADDING.",
        "    MOVE 'ADDER' TO ROUTINE.",
        "ENDING.",
        "    EXIT.",
    )
    assert [(edge.name, edge.via, edge.target) for edge in found.edges] == [
        ("ADDING", "PERFORM", 1),
        ("ENDING", "PERFORM", 2),
    ]
    assert [one.dead for one in found.paragraphs] == [None] * 3


def test_one_of_them_may_have_moved_what_is_called() -> None:
    """The paths through a program pass through each of the paragraphs, and past them."""
    found = read(
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  ROUTINE PIC X(8) VALUE 'READER'.",
        "01  CHOICE PIC 9.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    PERFORM ONE OF ADDING, ENDING DEPENDING ON CHOICE.",
        "    CALL ROUTINE.",
        "    STOP RUN.",
        "ADDING.",
        "    MOVE 'ADDER' TO ROUTINE.",
        "ENDING.",
        "    MOVE 'ENDER' TO ROUTINE.",
    )
    (call,) = found.calls
    assert sorted(one.value for one in call.resolved) == ["ADDER", "ENDER", "READER"]


def test_a_paragraph_called_one_may_be_performed() -> None:
    """Without a choice, PERFORM ONE OF A SECTION names a paragraph of that section."""
    found = procedure(
        "FIRST SECTION.", "MAIN.", "    PERFORM ONE OF LATER.", "    STOP RUN.", "LATER SECTION.", "ONE.", "    EXIT."
    )
    assert [(edge.name, edge.target) for edge in found.edges] == [("ONE", 1)]


@pytest.mark.parametrize(
    ("lines", "kept", "warned"),
    [
        (("?SETTOG 1", "?IF 1", "ONE", "?ENDIF 1", "?IFNOT 1", "TWO", "?ENDIF 1"), {"ONE"}, False),
        (("?SETTOG 1,2", "?RESETTOG 2", "?IF 2", "ONE", "?ENDIF 2", "?IFNOT 2", "TWO", "?ENDIF 2"), {"TWO"}, False),
        (("?IF 1", "ONE", "?ENDIF 1", "?IFNOT 1", "TWO", "?ENDIF 1"), {"ONE", "TWO"}, True),
        (("?IF 3", "?SETTOG 1", "?ENDIF 3", "?IF 1", "ONE", "?ENDIF 1", "TWO"), {"ONE", "TWO"}, True),
    ],
)
def test_toggles_of_nonstop_choose_what_is_compiled(lines: tuple[str, ...], kept: set[str], warned: bool) -> None:
    """A toggle that the source sets is decided; any other may be set at the compiler, which is reported."""
    text = "?SYMBOLS\n IDENTIFICATION DIVISION.\n PROGRAM-ID. A.\n PROCEDURE DIVISION.\n MAIN.\n"
    text += "".join(f"{one}\n" if one[0] == "?" else f"     PERFORM {one}.\n" for one in lines)
    source = scan(text + "     STOP RUN.\n ONE.\n     EXIT.\n TWO.\n     EXIT.\n")
    found = facts(source, source.programs[0])
    assert {edge.name for edge in found.edges} == kept
    assert any("which is compiled" in warning.text for warning in source.warnings) == warned


def test_a_program_that_idms_transfers_control_to_is_called() -> None:
    """The program is named by a literal or an item, as in a CALL; maps, scratch areas and queues belong to no set."""
    found = read(
        "DATA DIVISION.",
        "SCHEMA SECTION.",
        "DB STAFFSS WITHIN STAFFSCHEMA.",
        "WORKING-STORAGE SECTION.",
        "01  NEXT-ONE PIC X(8) VALUE 'STAFF02'.",
        "01  AREA-A PIC X(8).",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    BIND RUN-UNIT.",
        "    GET SCRATCH AREA ID 'S' NEXT INTO AREA-A TO AREA-END.",
        "    TRANSFER CONTROL TO 'STAFF01' LINK USING AREA-A.",
        "    TRANSFER CONTROL TO NEXT-ONE NORETURN.",
    )
    assert [(call.names, call.parameters, call.line) for call in found.calls] == [
        (("STAFF01",), ("AREA-A",), 13),
        (("STAFF02",), (), 14),
    ]
    assert [(one.verb, one.record, one.within) for one in found.network][1:] == [
        ("GET", None, None),
        ("TRANSFER", None, None),
        ("TRANSFER", None, None),
    ]


def test_an_entry_may_be_named_by_a_constant() -> None:
    """The copybook with the names serves caller and called program; a constant without a period ends with its line."""
    found = read(
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "78  ADD-IT VALUE 'ADDER'",
        "78  END-IT VALUE 'ENDER'.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    CALL END-IT.",
        "    GOBACK.",
        "ADDING.",
        "    ENTRY ADD-IT USING X.",
        "    GOBACK.",
        "ENDING.",
        "    ENTRY 'CLOSER'.",
        "    GOBACK.",
    )
    assert found.entry_points == (("ADDER", 12), ("CLOSER", 15))
    assert [one.dead for one in found.paragraphs] == [None] * 3
    assert [call.names for call in found.calls] == [("ENDER",)]


@pytest.mark.parametrize(
    ("said", "copied"),
    [
        ("?SOURCE =LAYOUTS (ORDERS)", [("ORDERS", "=LAYOUTS", True)]),
        ("?SOURCE $D.S.LIB (ORDERS, PARTS)", [("ORDERS", "$D.S.LIB", True), ("PARTS", "$D.S.LIB", False)]),
        ("?source $D.S.LIB", [("$D.S.LIB", None, False)]),
        ("?SEARCH =LAYOUTS", []),
    ],
)
def test_what_nonstop_takes_from_a_source_is_copied(said: str, copied: list[tuple[str, str | None, bool]]) -> None:
    """?SOURCE copies text as COPY does, a member that is not found is missing, and no other directive copies."""
    source = scan(
        "?SYMBOLS\n IDENTIFICATION DIVISION.\n PROGRAM-ID. A.\n DATA DIVISION.\n WORKING-STORAGE SECTION.\n"
        f"{said}\n PROCEDURE DIVISION.\n MAIN.\n     STOP RUN.\n"
    )
    books = {"ORDERS": scan("       01  ORDER-NO PIC 9(4).\n")}
    found = facts(source, source.programs[0], copybooks=books)
    assert [(use.name, use.library, use.found) for use in found.copybooks] == copied
    assert [use.line for use in found.copybooks] == [6] * len(copied)
    assert [item.name for item in found.items] == ["ORDER-NO"] * any(is_found for *_, is_found in copied)
    assert source.kinds[5] == "directive"


def test_what_is_accepted_from_a_place_comes_from_the_console() -> None:
    """LINE 5 is a position on the screen; FROM A RECORD CURRENCY asks a database."""
    found = procedure(
        "MAIN.", "    ACCEPT A FROM LINE 5 COLUMN 10.", "    ACCEPT B FROM STAFF CURRENCY.", "    GOBACK."
    )
    assert [(one.name, one.lines) for one in found.inputs] == [("SYSIN", (5,))]


def test_a_screen_is_no_console() -> None:
    """ACCEPT and DISPLAY of an item of the SCREEN SECTION name the screen; that of any other item is the console."""
    found = read(
        *("DATA DIVISION.", "WORKING-STORAGE SECTION.", "01  W-NAME PIC X(8).", "SCREEN SECTION.", "01  Ask-Name."),
        *("    05  FIRST-ONE LINE 2 COL 5 PIC X(8) USING W-NAME.", "01  BELOW."),
        *("    05  LAST-ONE LINE 9 VALUE 'BYE'.", "PROCEDURE DIVISION.", "MAIN."),
        *("    DISPLAY ASK-NAME.", "    ACCEPT ASK-NAME ON EXCEPTION CONTINUE END-ACCEPT."),
        *("    ACCEPT FIRST-ONE OF ASK-NAME.", "    ACCEPT W-NAME.", "    DISPLAY W-NAME AT 0510."),
        *("    DISPLAY LAST-ONE OF BELOW FIRST-ONE BELOW.", "    DISPLAY 'NO' BELOW.", "    GOBACK."),
    )
    assert [(one.name, one.io_type) for one in found.inputs] == [
        ("Ask-Name", "screen"),
        ("FIRST-ONE", "screen"),
        ("SYSIN", "console"),
    ]
    assert [(one.name, one.io_type, one.lines) for one in found.outputs] == [
        ("Ask-Name", "screen", (13,)),
        ("SYSOUT", "console", (17, 19)),
        ("BELOW", "screen", (18,)),
        ("FIRST-ONE", "screen", (18,)),
        ("LAST-ONE", "screen", (18,)),
    ]


def test_a_window_is_closed_by_its_handle() -> None:
    """CLOSE WINDOW takes the item that DISPLAY put the handle into; any other CLOSE has files."""
    found = read(
        *(
            "DATA DIVISION.",
            "WORKING-STORAGE SECTION.",
            "77  H HANDLE OF WINDOW.",
            "77  F PIC X.",
            "PROCEDURE DIVISION.",
        ),
        *("MAIN.", "    DISPLAY FLOATING WINDOW HANDLE IS H.", "    CLOSE WINDOW H.", "    CLOSE F."),
    )
    assert [(one.name, one.written_lines, one.read_lines) for one in found.items] == [("H", (9,), (10,)), ("F", (), ())]
    assert 10 not in {line for one in found.undeclared for line in one.lines}


def test_what_the_system_says_does_not_come_from_the_console() -> None:
    """Nor is a window, whose handle is in an item, a console of that name."""
    found = read(
        *("DATA DIVISION.", "WORKING-STORAGE SECTION.", "77  H HANDLE OF WINDOW.", "PROCEDURE DIVISION.", "MAIN."),
        *("    ACCEPT A FROM ENVIRONMENT 'PATH'.", "    ACCEPT B FROM CENTURY-DATE.", "    ACCEPT C FROM SYSTEM-INFO."),
        *("    ACCEPT D FROM DATE-AND-TIME.", "    ACCEPT E FROM ESCAPE KEY.", "    ACCEPT F FROM LINES."),
        *("    DISPLAY 'X' UPON H.", "    DISPLAY 'V' UPON ENVIRONMENT-NAME.", "    GOBACK."),
    )
    assert {one.name: one.io_type for one in (*found.inputs, *found.outputs)} == {
        "ENVIRONMENT": "environment",
        "CENTURY-DATE": "clock",
        "DATE-AND-TIME": "clock",
        "ESCAPE": "environment",
        "LINES": "environment",
        "SYSTEM-INFO": "environment",
        "SYSOUT": "console",
        "ENVIRONMENT-NAME": "environment",
    }


@pytest.mark.parametrize("include", ["++INCLUDE", "-INC"])
def test_a_header_may_stand_behind_the_include_of_a_librarian(include: str) -> None:
    """The include is a line without a period, as its member has its own; a word in a sentence is not a header there."""
    text = fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "PROCEDURE DIVISION.", "MAIN.", "    PERFORM LATER.")
    text += f"{include} TAIL\n" + fixed("    GOBACK.", "OTHER SECTION.", "    IF A = B")
    text += (
        f"{include} TEST\n" + fixed("    END-IF.") + f"{include} ONE\n{include} TWO\n" + fixed("LATER.", "    EXIT.")
    )
    source = scan(text)
    found = facts(source, source.programs[0])
    assert [one.name or one.section for one in found.paragraphs] == ["MAIN", "OTHER", "LATER"]
    assert [one.verb for one in source.programs[0].statements if one.verb != "COPY"] == [
        "PERFORM", "GOBACK", "IF", "END-IF", "EXIT",
    ]  # fmt: skip
    assert [use.name for use in found.copybooks] == ["TAIL", "TEST", "ONE", "TWO"]


def test_sql_of_oracle_says_where_and_how_often_before_what() -> None:
    """AT a database and FOR some rows come first; a PL/SQL block holds statements; an error performs a paragraph."""
    found = procedure(
        "MAIN.",
        "    EXEC SQL WHENEVER SQLERROR DO PERFORM FAILED END-EXEC.",
        "    EXEC SQL WHENEVER SQLWARNING DO CALL 'WARNED' END-EXEC.",
        "    EXEC SQL AT MAINDB DECLARE C1 CURSOR FOR SELECT A FROM ORDERS",
        "    END-EXEC.",
        "    EXEC SQL FOR :N INSERT INTO BACKLOG (A) VALUES (:A) END-EXEC.",
        "    EXEC SQL EXECUTE",
        "      DECLARE X NUMBER;",
        "      BEGIN",
        "        SELECT COUNT(*) INTO X FROM PARTS;",
        "        IF X > 0 THEN UPDATE SHELVES SET B = X; END IF;",
        "      END; END-EXEC.",
        "    GOBACK.",
        "FAILED.",
        "    DISPLAY 'E'.",
    )
    assert [(one.operation, one.cursor, one.tables) for one in found.sql][2:] == [
        ("DECLARE CURSOR", "C1", ("ORDERS",)),
        ("INSERT", None, ("BACKLOG",)),
        ("EXECUTE", None, ()),
        ("SELECT", None, ("PARTS",)),
        ("UPDATE", None, ("SHELVES",)),
    ]
    assert [(one.name, one.dead) for one in found.paragraphs] == [("MAIN", None), ("FAILED", None)]
    assert found.outside == ()
    assert [(one.resource, one.create, one.read, one.update) for one in found.crud] == [
        ("BACKLOG", (9,), (), ()),
        ("ORDERS", (), (7,), ()),
        ("PARTS", (), (10,), ()),
        ("SHELVES", (), (), (10,)),
    ]


def test_blocks_for_what_nobody_knows_are_counted() -> None:
    """EXEC of an unknown database or monitor is counted, not ignored."""
    found = procedure(
        "MAIN.",
        "    EXEC ADABAS FIND SELECT A FROM STAFF END-EXEC",
        "    EXEC ORACLE OPTION (HOLD_CURSOR=YES) END-EXEC",
        "    EXEC CICS RETURN END-EXEC.",
    )
    assert [(one.line, one.text.split()[1]) for one in found.unread] == [(5, "ADABAS")]


@pytest.mark.parametrize(
    ("assign", "dd"),
    [
        ('RANDOM, "STOCK.DAT"', "STOCK.DAT"),
        ('INPUT "STOCK.TXT"', "STOCK.TXT"),
        ("RANDOM", "STOCK-FILE"),
        ("OUTPUT", "STOCK-FILE"),
        ('LINE ADVANCING FILE "LST:"', "LST:"),
        ('LINE ADVANCING FILE "LST:" ORGANIZATION IS LINE SEQUENTIAL', "LST:"),
        ('LISTING "STOCK.LST"', "STOCK.LST"),
        ("STOCKIN", "STOCKIN"),
    ],
)
def test_a_device_is_the_name_of_no_file(assign: str, dd: str) -> None:
    """Otherwise all files on RANDOM would be one that all programs share; one on a device alone has the name of its SELECT."""
    found = read(
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        f"    SELECT STOCK-FILE ASSIGN TO {assign}.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  STOCK-FILE.",
        "01  STOCK-REC PIC X.",
    )
    assert [one.dd for one in found.files] == [dd]


def test_otherwise_is_else_and_chain_runs_a_program() -> None:
    """Old compilers have OTHERWISE, small machines CHAIN; outside an IF, OTHERWISE is a name."""
    found = procedure(
        "MAIN.",
        "    IF A = B DISPLAY 'X' OTHERWISE CHAIN 'MENU' USING A.",
        "    DISPLAY OTHERWISE.",
        "    STOP RUN.",
    )
    assert [[branch.label for branch in rule.branches] for rule in found.rules] == [["THEN", "ELSE"]]
    assert [(call.names, call.parameters) for call in found.calls] == [(("MENU",), ("A",))]


def test_a_period_that_is_missing_ends_an_item_before_one_of_any_letters() -> None:
    """Names are written in the alphabet of their authors."""
    found = read(
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  注文番号 PIC 9(4)",
        "01  数量 PIC 9(3).",
        "01  ÉTAT PIC X",
        "01  ÜBER PIC X.",
    )
    assert [(item.name, item.bytes) for item in found.items] == [("注文番号", 4), ("数量", 3), ("ÉTAT", 1), ("ÜBER", 1)]


def test_a_method_may_do_without_headers() -> None:
    """Statements may follow the method's name or data directly; the name of a class may have several parts."""
    source = scan(
        fixed(
            "class-id com.shop.Billing inherits type Account public.",
            "01 rate pic 9(4).",
            "method-id main(args as string occurs any) public static.",
            "    if size of (args) = 0",
            "        display 'none'",
            "    end-if",
            "    call 'START-IT'",
            "end method.",
            "method-id tax (amount as decimal) returning result as decimal.",
            "01 held pic 9(4).",
            "    move 1 to held",
            "    call 'TAXES' using held",
            "end method.",
            "method-id told.",
            "    declare total as binary-long = 0",
            "    call 'TOLD'.",
            "end method.",
            "method-id headed.",
            "procedure division.",
            "    call 'HEADED'.",
            "end method.",
            "end class.",
        )
    )
    found = [facts(source, one) for one in source.programs]
    assert [(one.program, one.statements, [name for call in one.calls for name in call.names]) for one in found] == [
        ("com.shop.Billing", 0, []),
        ("com.shop.Billing::main", 3, ["START-IT"]),
        ("com.shop.Billing::tax", 2, ["TAXES"]),
        ("com.shop.Billing::told", 1, ["TOLD"]),
        ("com.shop.Billing::headed", 1, ["HEADED"]),
    ]
    assert found[0].inherits == ("ACCOUNT",)
    assert [[item.name for item in one.items] for one in found] == [["rate"], [], ["held"], [], []]
    assert [one.text for one in found[3].unread] == ["declare total as binary-long = 0"]
    assert [warning.text for warning in source.warnings if "header" in warning.text] == []


@pytest.mark.parametrize(
    "name",
    [
        *(
            "ADABAS",
            "DBNTRY",
            "$WINHELP",
            "@[DISPLAY]:SHELL32",
            "LIB$SIGNAL",
            "SYS$ASCTIM",
            "'SYSTEM DMTERMINATE'",
            "COBW3_GET_VALUE",
            "COBCI_OPEN",
        ),
        *("cob_getenv", "W$MENU", "REG_OPEN_KEY", "hex2ascii", "PC_FIND_DRIVES", "BPX1SPN", "CSNBENC", "ISPLINK"),
    ],
)
def test_what_a_database_or_an_operating_system_brings_is_no_program_of_the_estate(name: str) -> None:
    """Such a program is not missing if its source is not here."""
    assert is_interface(name)
    assert not is_interface("STRATEGY")


def test_transactions_of_screen_programs_begin_no_paragraph() -> None:
    """They are alone in a sentence; what is sent between them belongs to the paragraph around them."""
    found = procedure(
        "MAIN.",
        "    PERFORM SENDING.",
        "    STOP RUN.",
        "SENDING.",
        "    BEGIN-TRANSACTION.",
        "    SEND ORDER TO SERVER REPLY CODE 0 YIELDS ANSWER ON ERROR PERFORM FAILED.",
        "    END-TRANSACTION.",
        "FAILED.",
        "    ABORT-TRANSACTION.",
    )
    assert [(one.name, one.statements, one.dead) for one in found.paragraphs] == [
        ("MAIN", 2, None),
        ("SENDING", 3, None),  # END-TRANSACTION ends one, and is not counted
        ("FAILED", 1, None),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("MAIN.", "    PERFORM BEGIN-TRANSACTION.", "    GO TO END-TRANSACTION.", "BEGIN-TRANSACTION.", "    EXIT."),
        ("BEGIN-TRANSACTION.", "    DISPLAY 'A'."),
    ],
)
def test_paragraphs_that_are_called_so_stay_paragraphs(lines: tuple[str, ...]) -> None:
    """They stay paragraphs if something leads to them, or if there is only one."""
    found = procedure(*lines, "LAST-ONE.", "    STOP RUN.")
    assert "BEGIN-TRANSACTION" in [one.name for one in found.paragraphs]


def test_a_subschema_that_is_invoked_among_data_is_no_statement() -> None:
    """Whatever follows it is data, files included."""
    found = read(
        "DATA DIVISION.",
        "SUBSCHEMA SECTION.",
        "INVOKE SUBSCHEMA PAYVIEW IN FILE PAYFILE OF SCHEMA PAYSCHEMA",
        "    RUN-UNIT-ID IS STOCK.",
        "FILE SECTION.",
        "FD  CARDS.",
        "01  CARD PIC X(80).",
        "WORKING-STORAGE SECTION.",
        "01  KEPT PIC X.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    IMPART.",
        "    FETCH NEXT PAYMENT RECORD.",
        "    DEPART.",
        "    STOP RUN.",
    )
    assert [(item.name, item.section) for item in found.items] == [("CARD", "FILE"), ("KEPT", "WORKING-STORAGE")]
    assert [(one.verb, one.record) for one in found.network] == [
        ("IMPART", None),
        ("FETCH", "PAYMENT"),
        ("DEPART", None),
    ]
    assert [one.name for one in found.paragraphs] == ["MAIN"]
    assert found.unread == ()


def test_a_part_of_a_dotted_name_is_no_paragraph() -> None:
    """`java.time.format.Foo` has two words between periods; in a paragraph without a blank before its first word only one is."""
    code = "           SET X TO TYPE java.time.format.Foo::bar(Y)\n           DISPLAY X.LAST-ONE.\n           GOBACK.\n"
    source = scan(f"       PROGRAM-ID. A.\n       PROCEDURE DIVISION.\n       MAIN.\n{code}")
    assert [one.name for one in source.programs[0].paragraphs] == ["MAIN", "LAST-ONE"]


@pytest.mark.parametrize("minus", ["Y -INC", "Y\n              -INC"])
def test_a_minus_before_an_item_called_inc_includes_nothing(minus: str) -> None:
    """A librarian's include has a line of its own; compilers take `Y -INC` as a difference."""
    found = read(
        "DATA DIVISION.", "WORKING-STORAGE SECTION.", "01 INC PIC 9.", "01 X PIC 9.", "01 Y PIC 9.",
        "PROCEDURE DIVISION.", f"    COMPUTE X = {minus}", "    MOVE X TO Y.",
    )  # fmt: skip
    assert found.copybooks == ()
    assert found.statements == 2
    assert [bool(item.read_lines) for item in found.items] == [True, True, True]


@pytest.mark.parametrize("line", ["-INC I#AREAS", "++INCLUDE AREAS"])
def test_the_include_of_a_librarian_is_shown_from_its_first_column(line: str) -> None:
    """It is written in the columns of sequence numbers, so a citation from column 7 on would be empty."""
    source = scan(
        f"       PROGRAM-ID. A.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n{line}\n       01  B PIC X.\n"
    )
    assert (source.is_code(4), source.shown(4)) == (True, line)


def test_a_control_division_is_part_of_the_program_behind_it() -> None:
    """Bull's compilers have options there, and a REPLACE that is done; no copybook comes before the program."""
    control = "CONTROL DIVISION.\nSUBSTITUTION SECTION.\nREPLACE ==TOLD== BY ==SAID==.\nDEFAULT SECTION.\nDISPLAY IS TERMINAL.\n"
    program = (
        "PROGRAM-ID. A.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 TOLD PIC X.\nPROCEDURE DIVISION.\nSTOP RUN.\n"
    )
    (found,) = scan(control + program, source_format="free")
    assert (found.name, found.entries[-1].name) == ("A", "SAID")
