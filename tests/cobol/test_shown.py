"""Are report and screen items, constants, and names in unusual places understood?"""

from __future__ import annotations

import pytest
from tests.cobol.sources import fixed, program

from penstock.cobol import scan
from penstock.cobol.facts import Facts, facts

DATA = (
    "01  MOST CONSTANT AS 10.",
    "01  NAMED CONSTANT IS GLOBAL AS 'SUBPGM'.",
    "01  T.",
    "    05  ROWS OCCURS MOST TIMES PIC X(3).",
    "    05  BEHIND PIC X.",
    "01  USER-ID PIC X(8).",
    "01  PASS-WORD PIC X(8).",
    "01  ENTRY-OF PROGRAM-POINTER.",
    "REPORT SECTION.",
    "RD  R-ONE CONTROLS ARE FINAL.",
    "01  DET TYPE DETAIL LINE PLUS 1.",
    "    05  COLUMN 1 PIC X(8) SOURCE IS USER-ID.",
    "    05  AMOUNT COLUMN 10 PIC Z9 SOURCE BEHIND OF T.",
    "01  TYPE CONTROL FOOTING FINAL LINE PLUS 2.",
    "    05  COLUMN 10 PIC ZZ9 SUM AMOUNT.",
    "SCREEN SECTION.",
    "01  LOGIN BLANK SCREEN.",
    "    05  VALUE 'USER:' LINE 1 COL 1.",
    "    05  LINE 1 COL 7 PIC X(8) USING USER-ID.",
    "    05  SECRET COL 20 PIC X(8) TO PASS-WORD SECURE.",
    "    05  HIGHLIGHT VALUE 'A'.",
)


def _facts(*statements: str) -> Facts:
    source = scan(program(*statements, "    GOBACK.", data=DATA))
    return facts(source, source.programs[0])


@pytest.mark.proves("C-12")
def test_an_item_of_a_report_or_screen_needs_no_name() -> None:
    """LINE and COLUMN are clauses of the item; it has no place in storage, and a CONSTANT has no storage at all."""
    found = _facts("    CONTINUE.")
    shown = [item for item in found.items if item.section in {"REPORT", "SCREEN"}]
    assert [item.name for item in shown] == [
        *("DET", "FILLER", "AMOUNT", "FILLER", "FILLER"), *("LOGIN", "FILLER", "FILLER", "SECRET", "FILLER"),
    ]  # fmt: skip
    assert {item.offset for item in shown} == {None}
    assert [(item.name, item.offset, item.bytes) for item in found.items[:3]] == [
        ("T", 0, 31),
        ("ROWS", 0, 3),
        ("BEHIND", 30, 1),
    ]
    assert [(one.name, one.value) for one in found.constants] == [("MOST", "10"), ("NAMED", "'SUBPGM'")]


@pytest.mark.proves("C-12")
def test_a_copybook_of_a_screen_is_read_as_one_by_its_places() -> None:
    """Alone it names no section; LINE is a name only in front of no number, and a literal places nothing."""
    source = scan(
        fixed(
            "01  MENU.",
            "    05  LINE 03 COL 10 VALUE '| LINE 1 |' HIGHLIGHT.",
            "    05  BUZZ COL 75 PIC X(5) VALUE ''27'B'10'' BLINK.",
            "    05  COLUMN NUMBER IS 12 PIC X(8) USING USER-ID.",
            "    05  ANSWER LINE PLUS 1 PIC X TO REPLY.",
            "01  PRINTED.",
            "    05  LINE PIC X(80).",
            "    05  COL VALUE 'LINE 1'.",
        )
    )
    items = facts(source, source.programs[0]).items
    assert [(item.name, item.value, item.offset) for item in items] == [
        ("MENU", None, 0),
        ("FILLER", "'| LINE 1 |'", None),
        ("BUZZ", "'' 27 'B' 10 ''", None),
        ("FILLER", None, None),
        ("ANSWER", None, None),
        ("PRINTED", None, 0),
        ("LINE", None, 0),
        ("COL", "'LINE 1'", 80),
    ]


@pytest.mark.proves("C-16")
def test_reports_and_screens_show_and_take_items() -> None:
    """SOURCE, SUM and FROM are sent, TO is received, USING both; the statement that names the screen uses the items."""
    found = _facts("    GENERATE DET.", "    DISPLAY LOGIN.", "    ACCEPT LOGIN.")
    name = [item.name for item in found.items]
    assert {(name[one.source], name[one.target]) for one in found.moves} == {
        *(("USER-ID", "FILLER"), ("FILLER", "USER-ID")),
        ("BEHIND", "AMOUNT"),
        ("SECRET", "PASS-WORD"),
    }
    uses = {(name[one.item], one.is_write, place.line) for one in found.uses for place in one.places}
    assert {
        ("USER-ID", False, 27),
        ("BEHIND", False, 27),
        ("USER-ID", False, 28),
        ("USER-ID", False, 29),  # the screen receives it before the input
        ("USER-ID", True, 29),
        ("PASS-WORD", True, 29),
    } <= uses
    assert ("PASS-WORD", False) not in {(item, is_write) for item, is_write, _ in uses}


@pytest.mark.proves("C-16")
def test_a_screen_of_nec_is_no_file_and_its_input_goes_into_items() -> None:
    """INTO is what TO is elsewhere; the SD says where the key that ended an input is, and the last card of a source is END."""
    data = (
        "01  T.",
        "    02  ROWS OCCURS 9 PIC X.",
        "01  W PIC X.",
        "01  I PIC 9.",
        "01  J PIC 9.",
        "SCREEN SECTION.",
        "SD  SCR",
        "    END STATUS IS ESTAT.",
        "01  ASKED LINE 1.",
        "    02  A1 COLUMN 2 PIC X INTO W CHECK OVERFLOW NO IFC.",
        "    02  A2 COLUMN 4 PIC X USING ROWS (I) COLOR RED.",
        "    02  COLUMN 6 PIC X FROM ROWS(J + 1).",
    )
    source = scan(program("MAIN.", "    DISPLAY A1 A2.", "    ACCEPT A1.", "    ACCEPT ASKED.", "END", data=data))
    found = facts(source, source.programs[0])
    assert found.files == ()
    assert source.warnings == ()
    name = [item.name for item in found.items]
    moves = {(name[one.source], name[one.target]) for one in found.moves}
    assert moves == {("A1", "W"), ("ROWS", "A2"), ("A2", "ROWS"), ("ROWS", "FILLER")}
    uses = {(name[one.item], one.is_write, place.line) for one in found.uses for place in one.places}
    first = min(line for _, _, line in uses)
    shown, asked, all_asked = first, first + 1, first + 2
    assert {("W", True, asked), ("W", True, all_asked), ("ROWS", True, all_asked)} <= uses
    assert {(one, line) for one, is_write, line in uses if one in {"I", "J"} and not is_write} == {
        *(("I", shown), ("I", all_asked)),
        ("J", all_asked),
    }
    assert not any(is_write for one, is_write, _ in uses if one in {"I", "J"})


def test_letters_of_a_picture_are_no_items() -> None:
    """The parentheses of PICTURE 9(5)V9(2) hold no subscripts, wherever the picture is among the clauses."""
    data = (
        "01  V9 PIC 99.",
        "01  A PIC 9(5)V9(2).",
        "SCREEN SECTION.",
        "01  S.",
        "    02  LINE 1 PIC 9(5)V9(2) USING A.",
        "    02  LINE 2 USING A PIC 9(5)V9(2).",
    )
    source = scan(program("    DISPLAY S.", "    ACCEPT S.", data=data))
    found = facts(source, source.programs[0])
    assert {found.items[one.item].name for one in found.uses if not one.is_write} == {"A", "S"}


def test_constants_and_pointers_name_programs() -> None:
    """A CALL may name a CONSTANT, or a pointer that was SET to an ENTRY; BY VALUE with a SIZE is one parameter."""
    found = _facts(
        "    CALL NAMED.", "    SET ENTRY-OF TO ENTRY 'SUBROUTINE9'.", "    CALL ENTRY-OF USING BY VALUE 1 SIZE 4 T."
    )
    assert [(call.names, call.is_sure, call.parameters) for call in found.calls] == [
        (("SUBPGM",), True, ()),
        (("SUBROUTINE9",), True, ("1", "T")),
    ]


@pytest.mark.proves("C-14")
def test_cics_runs_children_and_fetches_them() -> None:
    """RUN TRANSID starts a transaction and returns a token; FETCH returns its channel."""
    run = "    EXEC CICS RUN TRANSID('CHLD') CHILD(USER-ID) END-EXEC."
    found = _facts(run, "    EXEC CICS FETCH CHILD(USER-ID) CHANNEL(PASS-WORD) END-EXEC.")
    assert [(call.call_type, call.names) for call in found.calls] == [("start", ("CHLD",))]
    used = {
        item.name: (item.read_lines[-1:], item.written_lines[-1:])
        for item in found.items
        if item.section == "WORKING-STORAGE"
    }
    assert (used["USER-ID"], used["PASS-WORD"]) == (((28,), (27,)), ((), (28,)))


@pytest.mark.proves("C-12")
def test_what_has_no_certain_length_has_none() -> None:
    """ANY LENGTH, DYNAMIC and UTF-8 have no certain length; any floating-point item has one, and a CONSTANT is declared."""
    lines = (
        "01  K CONSTANT AS 'SUB'.",
        "01  F1 PIC 9 FLOAT-BINARY-32.",
        "01  F2 USAGE FLOAT-DECIMAL-34.",
        "01  G.",
        "    05  D PIC X DYNAMIC LENGTH LIMIT IS 8.",
        "    05  BEHIND PIC X.",
        "01  U PIC U(4).",
        "LINKAGE SECTION.",
        "01  L PIC X ANY LENGTH.",
    )
    source = scan(program("    CALL K.", "    MOVE 1 TO GONE.", "    GOBACK.", data=lines))
    found = facts(source, source.programs[0])
    assert {item.name: item.bytes for item in found.items} == {
        "F1": 4,
        "F2": 16,
        "G": None,
        "D": None,
        "BEHIND": 1,
        "U": None,
        "L": None,
    }
    assert [one.name for one in found.undeclared] == ["GONE"]


CONTROLS = (
    "01  USER-ID PIC X(8).",
    "01  IS-SEEN PIC 9.",
    "01  SMALL-FONT HANDLE OF FONT.",
    "01  HEADED PIC X(20).",
    "SCREEN SECTION.",
    "01  MAIN-SCREEN.",
    "    05  ASKED, ENTRY-FIELD, COL 3,40, LINE 2,10, ID IS 7,",
    '        TITLE "Name (8 letters)",',
    "        VALUE USER-ID, VISIBLE IS-SEEN, FONT IS SMALL-FONT,",
    "        EVENT PROCEDURE IS ASKED-EVENT,",
    "        AFTER PROCEDURE ASKED-AFTER THRU ASKED-END.",
    "    05  GO-ON, PUSH-BUTTON, 3-D,",
    '        TITLE "Go on".',
    "    05  ABOVE, LABEL, TITLE HEADED, VALUE ALL 'X' TRANSPARENT.",
)
HANDLING = (
    "MAIN.",
    "    DISPLAY STANDARD WINDOW TITLE 'W' EVENT PROCEDURE WINDOW-EVENT.",
    "    DISPLAY MAIN-SCREEN.",
    "    ACCEPT MAIN-SCREEN.",
    "    GOBACK.",
    "ASKED-EVENT.",
    "    PERFORM HELPER.",
    "ASKED-AFTER.",
    "    CONTINUE.",
    "ASKED-BETWEEN.",
    "    CONTINUE.",
    "ASKED-END.",
    "    EXIT.",
    "WINDOW-EVENT.",
    "    CONTINUE.",
    "HELPER.",
    "    CONTINUE.",
    "NEVER.",
    "    CONTINUE.",
)


@pytest.mark.proves("C-16")
def test_controls_take_the_values_and_properties_that_items_hold() -> None:
    """VALUE shows and receives an item; what looks like a listing directive within an entry is its title."""
    source = scan(program(*HANDLING, data=CONTROLS))
    found = facts(source, source.programs[0])
    begins = next(item.line for item in found.items if item.name == "ASKED")
    uses = {item.name: (len(item.read_lines), len(item.written_lines)) for item in found.items if item.read_lines}
    assert [(item.name, item.value) for item in found.items if item.section == "SCREEN" and item.level == 5] == [
        ("ASKED", "USER-ID"),
        ("GO-ON", None),
        ("ABOVE", "ALL 'X'"),
    ]
    # at the declaration, where the screen is displayed, and for received values where it is accepted
    assert uses == {"USER-ID": (2, 2), "IS-SEEN": (2, 0), "SMALL-FONT": (2, 0), "HEADED": (2, 0), "MAIN-SCREEN": (1, 1)}
    moved = {(found.items[one.source].name, found.items[one.target].name) for one in found.moves}
    assert ((begins in found.items[0].read_lines), moved) == (True, {("USER-ID", "ASKED"), ("ASKED", "USER-ID")})


@pytest.mark.proves("C-12")
def test_what_a_control_runs_is_not_dead() -> None:
    """The system runs the EVENT, BEFORE, AFTER and EXCEPTION PROCEDURE of a control or window; no paragraph calls them."""
    source = scan(program(*HANDLING, data=CONTROLS))
    found = facts(source, source.programs[0])
    assert [paragraph.name for paragraph in found.paragraphs if paragraph.dead] == ["NEVER"]
    assert {paragraph.name: paragraph.called_by for paragraph in found.paragraphs if paragraph.called_by} == {
        "HELPER": ("ASKED-EVENT",)
    }


@pytest.mark.proves("C-16")
def test_any_property_of_a_control_may_be_in_an_item() -> None:
    """Each vendor has properties of its own: what names an item and is no operand of another clause is the value of one."""
    data = (
        *(f"01  {name} PIC X(9)." for name in ("STRIP", "SHOWN", "WIDE", "KEYED", "X", "AT-END")),
        "SCREEN SECTION.",
        "01  MAIN-SCREEN.",
        '    05  SAVE-IT, PUSH-BUTTON, TITLE "Save (F3)", BITMAP-NUMBER STRIP,',
        "        LINE NUMBER IS WIDE, 3-D, EXCEPTION-VALUE = KEYED.",
        "    05  ENTERED, PIC X(9) USING SHOWN, BOXED, CURSOR AT-END.",
    )
    source = scan(program("    DISPLAY MAIN-SCREEN.", "    ACCEPT MAIN-SCREEN.", "    GOBACK.", data=data))
    found = facts(source, source.programs[0])
    # at the declaration and by DISPLAY; by ACCEPT what USING names, but no property
    uses = {item.name: len(item.read_lines) for item in found.items if item.level == 1 and item.read_lines}
    assert uses == {"STRIP": 2, "WIDE": 2, "KEYED": 2, "AT-END": 2, "SHOWN": 3, "MAIN-SCREEN": 1}
    assert {item.name for item in found.items if item.written_lines} == {"SHOWN", "MAIN-SCREEN"}
    moved = {(found.items[one.source].name, found.items[one.target].name) for one in found.moves}
    assert moved == {("SHOWN", "ENTERED"), ("ENTERED", "SHOWN")}


WORKSTATION = (
    "IDENTIFICATION DIVISION.",
    "PROGRAM-ID. P.",
    "DATA DIVISION.",
    "WORKING-STORAGE SECTION.",
    "01  WAITED.",
    "    03  HALF BINARY.",
    "    03  BEHIND PIC X.",
    "01  ASKED USAGE IS DISPLAY-WS.",
    "    03  FILLER PIC X(4) ROW 5 COL 2 VALUE 'FILE'.",
    "    03  NAMED PIC X(8) ROW 5 COL 8",
    "        SOURCE FILE-NAME OBJECT FILE-NAME RANGE IS NAMES-MADE.",
    "    03  SOURCE TITLED PIC X(9) ROW 1 COL 2.",
    "01  FILE-NAME PIC X(8).",
    "01  TITLED PIC X(9).",
    "01  NAMES-MADE PIC X(8).",
    "PROCEDURE DIVISION.",
)


@pytest.mark.proves("C-12")
def test_a_screen_in_working_storage_has_no_offsets_and_one_statement_shows_and_reads_it() -> None:
    """So Wang's VS has it: SOURCE is shown, OBJECT gets the input, and BINARY without a picture is a halfword."""
    source = scan(fixed(*WORKSTATION, "    DISPLAY AND READ ALTERED ASKED ON CRT PFKEYS 1, 16.", "    STOP RUN."))
    found = facts(source, source.programs[0])
    items = {item.name: item for item in found.items}
    assert [(items[name].usage, items[name].bytes, items[name].offset) for name in ("HALF", "BEHIND", "NAMED")] == [
        *(("BINARY", 2, 0), ("DISPLAY", 1, 2)),
        ("DISPLAY-WS", 8, None),
    ]
    assert [(items[name].read_lines, items[name].written_lines) for name in ("FILE-NAME", "TITLED", "NAMES-MADE")] == [
        *(((10, 17), (10, 17)), ((12, 17), ())),
        ((10, 17), ()),
    ]
    assert [statement.verb for statement in source.programs[0].statements] == ["DISPLAY AND READ", "STOP RUN"]
    assert [[(one.name, one.io_type) for one in side] for side in (found.inputs, found.outputs)] == [
        [("CRT", "screen")]
    ] * 2
    assert (found.undeclared, found.unread) == ((), ())


@pytest.mark.proves("C-12")
def test_a_workstation_says_which_key_ended_an_input_and_numbers_have_no_alternate_keys() -> None:
    """On Wang's VS a SELECT names the items that get the key and the place of the cursor, and all alternate keys in one clause."""
    files = (
        "    SELECT CRT ASSIGN TO 'CRT' 'DISPLAY' RELATIVE KEY IS ROW-NO",
        "        PFKEY IS PRESSED CURSOR POSITION IS PLACED.",
        "    SELECT F ASSIGN TO 'F' 'DISK' INDEXED RECORD KEY IS F1",
        "        ALTERNATE RECORD KEY 01 IS F2 DUPLICATES 02 IS F3 FILE STATUS IS F4.",
    )
    data = ("DATA DIVISION.", "WORKING-STORAGE SECTION.", "01  PRESSED PIC XX VALUE '00'.", "01  PLACED PIC X(4).")
    lines = (
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        *files,
        *data,
        "01  S DISPLAY-WS.",
        "    03  FILLER PIC X ROW 1 COL 2.",
    )
    shown = ("PROCEDURE DIVISION.", "    DISPLAY AND READ S ON CRT.", "    STOP RUN.")
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", *lines, *shown))
    found = facts(source, source.programs[0])
    assert [item.written_lines for item in found.items[:2]] == [(16,), (16,)]
    assert [one.name for one in found.constants] == []
    assert [(file.name, file.keys) for file in found.files] == [("CRT", ("ROW-NO",)), ("F", ("F1", "F2", "F3"))]


@pytest.mark.proves("C-12")
def test_a_display_of_netcobol_is_shown_by_the_items_that_name_its_format() -> None:
    """Each READ and WRITE looks at the items of FORMAT, GROUP and PROCESSING MODE, and a READ fills that of SELECTED FUNCTION."""
    data = ("FMT PIC X(8)", "GRP PIC X(8)", "HOW PIC XX", "PRESSED PIC X(4)", "OUTCOME PIC XX")
    lines = (
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT SCR ASSIGN TO GS-SCR SYMBOLIC DESTINATION IS 'DSP' FORMAT IS FMT GROUP IS GRP",
        "        PROCESSING MODE IS HOW SELECTED FUNCTION IS PRESSED FILE STATUS IS OUTCOME.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  SCR.",
        "01  SCR-REC PIC X(80).",
        "WORKING-STORAGE SECTION.",
        *(f"01  {item}." for item in data),
        "PROCEDURE DIVISION.",
        "    WRITE SCR-REC.",
        "    READ SCR.",
        "    STOP RUN.",
    )
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", *lines))
    found = facts(source, source.programs[0])
    used = {item.name: (item.read_lines, item.written_lines) for item in found.items[1:5]}
    shows = ((19, 20), ())
    assert used == {"FMT": shows, "GRP": shows, "HOW": shows, "PRESSED": ((), (20,))}
    assert found.files[0].status == ("OUTCOME",)


@pytest.mark.proves("C-12")
def test_an_input_from_the_terminal_writes_the_key_that_ended_it() -> None:
    """SPECIAL-NAMES names the items; what an ACCEPT takes from the system is no such input."""
    lines = (
        "CONFIGURATION SECTION.",
        "SPECIAL-NAMES.",
        "    SWITCH-1 IS S ON STATUS IS S-ON CONSOLE IS CRT",
        "    CURSOR IS PLACED",
        "    CRT STATUS IS PRESSED.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  PRESSED PIC 9(4) VALUE 0.",
        "01  PLACED PIC 9(4).",
        "01  A PIC X(8).",
        "PROCEDURE DIVISION.",
        "    ACCEPT A FROM TIME.",
        "    ACCEPT A AT 0101.",
        "    IF PRESSED = 1001 STOP RUN.",
    )
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", *lines))
    found = facts(source, source.programs[0])
    assert [item.written_lines for item in found.items] == [(15,), (15,), (14, 15)]
    assert [one.name for one in found.constants] == []


@pytest.mark.proves("C-12")
def test_a_literal_is_no_name_of_an_item_on_a_screen_and_a_control_phrase_no_message() -> None:
    """RM/COBOL needs no VALUE before the one, and says with the other how to show what it shows."""
    lines = (
        "SCREEN SECTION.",
        "01  S.",
        "    02  '#' HIGHLIGHT. 02  LINE 2 PIC X(4) FROM 'Card'.",
        "PROCEDURE DIVISION.",
    )
    shown = ("    DISPLAY 'Sold out' LINE 3 CONTROL 'FCOLOR=RED'.", "    STOP RUN.")
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", *lines, *shown))
    found = facts(source, source.programs[0])
    assert [(item.name, item.value) for item in found.items] == [("S", None), ("FILLER", "'#'"), ("FILLER", None)]
    assert [message.text for message in found.messages] == ["Sold out"]
