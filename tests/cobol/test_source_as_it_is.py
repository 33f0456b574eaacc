"""Is source read as shops have it: headers from COPY, librarian includes, translated CICS, IDMS, and unknown dialects?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.clauses import FIGURATIVE, USAGES
from penstock.cobol.estate import Copybooks, kind_of
from penstock.cobol.facts import Facts, facts
from penstock.cobol.joining import joined
from penstock.cobol.program import Joining
from penstock.cobol.replacing import rewritten

from .sources import fixed, program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.cobol.estate import Kind

pytestmark = pytest.mark.proves("C-14")

HEADER = fixed("LINKAGE SECTION.", "01  ASKED PIC X.", "PROCEDURE DIVISION USING ASKED.")
PROGRAM = fixed(
    "IDENTIFICATION DIVISION.",
    "PROGRAM-ID. BILLING.",
    "DATA DIVISION.",
    "WORKING-STORAGE SECTION.",
    "01  AMOUNT PIC 9(4).",
    "COPY HEADER.",
    "MAIN.",
    "    ADD 1 TO AMOUNT.",
    "    PERFORM TOTALS.",
    "    GOBACK.",
    "TOTALS.",
    "    DISPLAY AMOUNT.",
)


def body(*lines: str) -> str:
    """Return a program with a complete header around some lines of a PROCEDURE DIVISION."""
    return fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. BILLING.", "PROCEDURE DIVISION.", *lines)


# ── headers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_d1_a_procedure_header_comes_from_copy() -> None:
    """The copybook gives the division of the next line, and the parameters."""
    books = {"HEADER": scan(HEADER)}
    source = scan(PROGRAM, copybooks=lambda name, _: books.get(name))
    (program,) = source.programs
    assert [paragraph.name for paragraph in program.paragraphs] == ["MAIN", "TOTALS"]
    assert [division.name for division in program.divisions] == ["IDENTIFICATION", "DATA", "PROCEDURE"]
    assert program.using == ("ASKED",)
    assert source.warnings == ()
    found = facts(source, program, copybooks=books)
    assert found.statements == 4
    assert found.linkage == ("ASKED",)


def test_d1_without_the_copybook_the_statements_tell_and_a_warning_says_so() -> None:
    """Statements among data begin a PROCEDURE DIVISION, even if its header is not found, and a warning says so."""
    source = scan(PROGRAM)
    assert [paragraph.name for paragraph in source.programs[0].paragraphs] == ["MAIN", "TOTALS"]
    assert [(warned.line, "missing or comes from COPY" in warned.text) for warned in source.warnings] == [(7, True)]


@pytest.mark.parametrize(
    "first", ["    MOVE 1 TO AMOUNT.", "MAIN SECTION.", "MAIN SECTION 10.", "    EXEC CICS RETURN END-EXEC."]
)
def test_d1_statements_begin_a_procedure_in_any_form(first: str) -> None:
    """A bare verb, a section or a CICS command begins it as a paragraph does."""
    lines = PROGRAM.replace("       MAIN.\n", f"       {first}\n")
    (program,) = scan(lines).programs
    assert len(program.statements) >= 4


def test_data_that_looks_like_a_verb_is_data() -> None:
    """A data division ends where statements begin, not at a word that is a verb elsewhere."""
    text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "COPY WORK.",
        "01  CONTROL-CARD.",
        "    05 MOVE-IT PIC X.",
        "    05 OPEN-CODE PIC X.",
        "PROCEDURE DIVISION.",
        "    GOBACK.",
    )
    source = scan(text)
    assert (len(source.programs[0].statements), source.warnings) == (1, ())


def test_a_whole_procedure_from_copy_is_told_and_read() -> None:
    """Its statements belong to the copybook and are cited at the COPY; the program is not reported as empty."""
    book = scan(fixed("PROCEDURE DIVISION.", "MAIN.", "    CALL 'TAX'.", "    GOBACK."))
    text = fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "DATA DIVISION.", "COPY LOGIC.")
    source = scan(text, copybooks=lambda _name, _: book)
    assert [warned.text for warned in source.warnings] == [
        "the PROCEDURE DIVISION comes from COPY LOGIC: its statements are cited here"
    ]
    found = facts(source, source.programs[0], copybooks={"LOGIC": book})
    assert [(call.target, call.line) for call in found.calls] == [("TAX", 4)]


def test_a_section_that_comes_from_copy_holds_what_follows() -> None:
    """A copybook may also hold the header of a section."""
    book = scan(fixed("LINKAGE SECTION.", "01  FIRST PIC X."))
    text = fixed(
        "PROGRAM-ID. A.", "DATA DIVISION.", "COPY LINK.", "01  SECOND PIC X.", "PROCEDURE DIVISION.", "    GOBACK."
    )
    source = scan(text, copybooks=lambda _name, _: book)
    found = facts(source, source.programs[0], copybooks={"LINK": book})
    assert found.linkage == ("FIRST", "SECOND")


def test_the_end_of_a_record_comes_from_copy() -> None:
    """A COPY inside an entry counts, and swallows nothing after it."""
    text = fixed(
        "PROGRAM-ID. A.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  CUSTOMER COPY CUSTREC.",
        "01  OTHER",
        "    COPY OTHERREC.",
        "01  LAST-ONE PIC X.",
        "PROCEDURE DIVISION.",
        "    GOBACK.",
    )
    (program,) = scan(text).programs
    assert [copy.name for copy in program.copies] == ["CUSTREC", "OTHERREC"]
    assert [entry.name for entry in program.entries if entry.level == 1] == ["CUSTOMER", "OTHER", "LAST-ONE"]


# ── what is not understood ───────────────────────────────────────────────────────────────────────────────────────


def test_a_program_without_a_statement_is_a_warning() -> None:
    """A program without a statement nearly always has something that was not read."""
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "DATA DIVISION.", "COPY REST."))
    assert [warned.text for warned in source.warnings] == ["program A has no statement; it copies REST"]


def test_every_statement_that_is_not_known_is_counted_and_shown() -> None:
    """An unknown dialect is reported line by line, and the code after it is read."""
    source = scan(
        body(
            "MAIN.",
            "    FROBNICATE CUSTOMER WITH FORCE.",
            "    ADD 1 TO X.",
            "    GRUMBLE",
            "    IF A = B",
            "       STOP RUN.",
        )
    )
    (program,) = source.programs
    found = facts(source, program)
    assert [(part.text, part.line, part.paragraph) for part in found.unread] == [
        ("FROBNICATE CUSTOMER WITH FORCE", 5, "MAIN"),
        ("GRUMBLE", 7, "MAIN"),
    ]
    assert [warned.line for warned in source.warnings] == [5, 7]
    assert found.statements == 3


def test_many_that_are_not_known_are_warned_of_once() -> None:
    """A program in another language has few warnings but all its sentences."""
    source = scan(body(*["    FROBNICATE IT."] * 50))
    assert len(source.warnings) == 22  # twenty of them, the number of the others, and the lack of a statement
    assert len(source.programs[0].unread) == 50


@pytest.mark.proves("C-14")
def test_an_exec_block_with_an_unknown_command_is_not_understood() -> None:
    """A misspelled SELECT names no table, and nothing else would tell."""
    known = (
        "EXEC SQL WITH A AS (SELECT 1 FROM T)",
        "    SELECT 1 INTO :X FROM A END-EXEC",
        "EXEC SQL :X = CALL P END-EXEC",
        "EXEC CICS",
        "    RETURN END-EXEC",
        "EXEC SQL END-EXEC",
        "EXEC DLI GU SEGMENT(S) END-EXEC.",
    )
    unknown = ("EXEC SQL SEECT A INTO :X FROM T END-EXEC", "EXEC CICS RAED FILE('F') END-EXEC", "EXEC DLI GO END-EXEC.")
    text = program(*(f"    {line}" for line in (*known, *unknown, "MOVE 1 TO X.")), data=("01  X PIC X.",))
    source = scan(text)
    assert [part.text for part in facts(source, source.programs[0]).unread] == [one.rstrip(".") for one in unknown]
    assert [one.line for one in source.warnings] == [14, 15, 16]


def test_statements_of_a_shops_own_preprocessor_end_the_one_before_them() -> None:
    """`#ERROR A B` is not an operand of the statement before it, and counts as unknown; an item with such a name is an item."""
    source = scan(
        program(
            "MAIN.",
            "    IF A = SPACE",
            "       #ERROR CODE-1 CODE-2",
            "    END-IF",
            "    STRING A DELIMITED BY SIZE INTO B",
            "    #CSTMSG A B",
            "    MOVE #RATE TO A #RATE",
            "    #DYCALL PART A.",
            "DONE.",
            "    #OKEXIT.",
            data=("01 A PIC X.", "01 B PIC X(9).", "01 #RATE PIC X."),
        )
    )
    (found_program,) = source.programs
    found = facts(source, found_program)
    assert [(part.text, part.line, part.paragraph) for part in found.unread] == [
        ("#ERROR CODE-1 CODE-2", 11, "MAIN"),
        ("#CSTMSG A B", 14, "MAIN"),
        ("#DYCALL PART A", 16, "MAIN"),
        ("#OKEXIT", 18, "DONE"),
    ]
    assert [warned.line for warned in source.warnings] == [11, 14, 16, 18]
    assert [paragraph.name for paragraph in found_program.paragraphs] == ["MAIN", "DONE"]
    (rule,) = found.rules
    assert (rule.condition, [one.text for branch in rule.branches for one in branch.actions]) == (
        "A = SPACE",
        ["#ERROR CODE-1 CODE-2"],
    )
    assert [(one.verb, one.targets) for one in found.transforms] == [("STRING", ("B",))]
    assert not found.undeclared
    # Its word says that it calls, but not what statement it becomes.
    (call,) = found.calls
    assert (call.names, call.call_type, call.line, call.paragraph, call.is_sure) == (
        ("PART",),
        "preprocessor",
        16,
        "MAIN",
        False,
    )


def test_an_entry_ends_without_its_period_where_the_next_one_begins() -> None:
    """Compilers accept this; a clause that continues with a number and a word is not an entry."""
    source = scan(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. P.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            "    SELECT ONE ASSIGN TO A",
            "    SELECT OPTIONAL TWO ASSIGN TO B.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD ONE BLOCK CONTAINS",
            "   10 RECORDS.",
            "01 R PIC X.",
            "FD TWO",
            "01 S PIC X",
            "WORKING-STORAGE SECTION.",
            "01 A.",
            "   02 B PIC X(3)",
            "   02 C PIC 9(4)",
            "     88 D VALUE 10",
            "        20 THRU 30, 40",
            "   02 E OCCURS",
            "      10 TIMES",
            "      PIC X.",
            "   02 F.",
            "      03 G PIC X OCCURS 1 TO",
            "         10 DEPENDING ON C",
            "77 H PIC X.",
            "PROCEDURE DIVISION.",
            "    STOP RUN.",
        )
    )
    found = facts(source, source.programs[0])
    assert [(item.level, item.name, item.picture, item.line) for item in found.items if item.section != "FILE"] == [
        (1, "A", None, 16),
        (2, "B", "X(3)", 17),
        (2, "C", "9(4)", 18),
        (2, "E", "X", 21),
        (2, "F", None, 24),
        (3, "G", "X", 25),
        (77, "H", "X", 27),
    ]
    assert [(file.name, file.records) for file in found.files] == [("ONE", ("R",)), ("TWO", ("S",))]


@pytest.mark.parametrize(
    "clause",
    ["COMP", "USAGE COMP", "SYNC", "SIGN LEADING", "COMPUTATIONAL", "OCCURS 3", "PIC 9(4)", "HIGHLIGHT", "BLANK ZERO"],
)
def test_a_value_on_a_line_of_its_own_begins_no_item(clause: str) -> None:
    """In `VALUE` followed on the next line by `10 COMP.`, a clause follows the number, so no item begins."""
    source = scan(program("STOP RUN.", data=("01  A PIC 9(4) VALUE", f"    10 {clause}.", "01  B PIC X.")))
    found = facts(source, source.programs[0])
    assert [(item.name, item.parent) for item in found.items] == [("A", None), ("B", None)]


@pytest.mark.parametrize("word", sorted({*FIGURATIVE, *USAGES, "THRU 5", "THROUGH 5"}))
def test_a_list_of_values_goes_on_over_a_line_that_begins_with_one(word: str) -> None:
    """In `88 ONE VALUES 01` followed by `02 ZERO.` no item begins, as no item is named like a constant, usage or clause."""
    data = ("01  A PIC X.", "    88 ONE VALUES 01", f"     02 {word}.", "01  B PIC X.")
    source = scan(program("STOP RUN.", data=data))
    found = facts(source, source.programs[0])
    assert [(item.name, item.parent) for item in found.items] == [("A", None), ("B", None)]


def test_a_file_is_described_after_an_entry_without_its_period() -> None:
    """A level 02 without a period does not swallow an FD: the record after it belongs to the next file."""
    source = scan(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. P.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            "    SELECT ONE ASSIGN TO A.",
            "    SELECT TWO ASSIGN TO B.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD  ONE.",
            "01  ONE-RECORD.",
            "    02 ONE-KEY",
            "FD  TWO",
            "    RECORD CONTAINS 9 CHARACTERS.",
            "01  TWO-RECORD PIC X(9).",
            "PROCEDURE DIVISION.",
            "    STOP RUN.",
        )
    )
    found = facts(source, source.programs[0])
    assert [(file.name, file.records) for file in found.files] == [("ONE", ("ONE-RECORD",)), ("TWO", ("TWO-RECORD",))]


# ── librarians ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "via"),
    [
        ("-INC CUSTREC", "-INC"),
        ("      -INC CUSTREC", "-INC"),
        ("-INC 'CUSTREC'", "-INC"),
        ("       ++INCLUDE CUSTREC", "++INCLUDE"),
        ("++INCLUDE CUSTREC", "++INCLUDE"),
        ("000120 ++include custrec", "++INCLUDE"),
    ],
)
def test_d8_an_include_of_a_librarian_is_a_copy(line: str, via: str) -> None:
    """Librarian and Panvalet includes start in any column of the margin and have no period."""
    text = fixed("PROGRAM-ID. A.", "DATA DIVISION.", "WORKING-STORAGE SECTION.") + f"{line}\n"
    source = scan(text + fixed("01  NEXT-ONE PIC X.", "PROCEDURE DIVISION.", "    GOBACK."))
    (program,) = source.programs
    assert source.format == "fixed"
    assert [(copy.name.upper(), copy.via) for copy in program.copies] == [("CUSTREC", via)]
    assert [entry.name for entry in program.entries if entry.level == 1] == ["NEXT-ONE"]
    assert source.warnings == ()


def test_d8_an_include_brings_statements_too() -> None:
    """In a PROCEDURE DIVISION the include brings paragraphs, cited at its line."""
    source = scan(body("MAIN.", "    PERFORM ENDING.", "++INCLUDE ENDING"))
    book = scan(fixed("ENDING.", "    CALL 'LOG'.", "    GOBACK."))
    found = facts(source, source.programs[0], copybooks={"ENDING": book})
    assert [(call.target, call.line) for call in found.calls] == [("LOG", 6)]


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_d2_blanks_at_the_end_of_a_name_are_no_part_of_it() -> None:
    """Names in literals are often padded to eight letters."""
    source = scan(
        body(
            "MAIN.", "    CALL 'TAX     '.", "    EXEC CICS LINK PROGRAM('RATE    ') END-EXEC.", "    ENTRY 'OTHER   '."
        )
    )
    found = facts(source, source.programs[0])
    assert [call.names for call in found.calls] == [("TAX",), ("RATE",)]
    assert found.entry_points == (("OTHER", 7),)


def test_d3_a_program_is_never_its_own_copybook() -> None:
    """`COPY BILLING` in BILLING.cbl is a missing copybook, unless another file has the name."""
    shelf = Copybooks([("src/BILLING.cbl", "cobol", PROGRAM.encode())])
    assert shelf.beside("src/BILLING.cbl")("BILLING", None) is None
    assert shelf.beside("src/OTHER.cbl")("BILLING", None) is not None
    assert shelf.path("BILLING", None, "src/BILLING.cbl") is None


def test_a_program_is_no_copybook_of_what_another_declares() -> None:
    """`COPY RATES` in a FILE SECTION is a missing copybook if RATES is a program; the code after it is read as before."""
    called = program("    EXEC SQL DELETE FROM T END-EXEC.", name="RATES").encode()
    shelf = Copybooks([("src/RATES.cbl", "cobol", called)])
    source = scan(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. P.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "    COPY RATES.",
            "WORKING-STORAGE SECTION.",
            "01  A PIC X.",
            "PROCEDURE DIVISION.",
            "    MOVE 'X' TO A.",
        ),
        copybooks=shelf,
    )
    found = facts(source, source.programs[0], copybooks=shelf)
    assert [(item.name, item.section, item.written_lines) for item in found.items] == [("A", "WORKING-STORAGE", (9,))]
    assert ([use.found for use in found.copybooks], found.sql) == ([False], ())


def test_a_suffix_chooses_between_two_copybooks_of_one_name() -> None:
    """`COPY "rates.sel"` is the SELECT and `COPY "rates.fd"` the FD of one file."""
    shelf = Copybooks([("lib/rates.fd", "copybook", b"FD  RATES."), ("lib/rates.sel", "copybook", b"SELECT RATES.")])
    assert shelf.path("rates.sel") == "lib/rates.sel"
    assert shelf.path("RATES.FD") == "lib/rates.fd"


def test_a_suffix_of_a_shop_names_no_other_copybook() -> None:
    """If `rates.fd` is missing, it is neither `rates.sel` nor `rates.err`; a copybook with a usual suffix may have been renamed."""
    ours = Copybooks([("lib/rates.err", "copybook", b"ERR SECTION."), ("lib/rates.sel", "copybook", b"SELECT RATES.")])
    assert ours.path("rates.fd") is None
    assert ours.path("rates") == "lib/rates.err"
    usual = Copybooks([("a/rates.err", "copybook", b"ERR SECTION."), ("b/rates.cpy", "copybook", b"FD  RATES.")])
    assert usual.path("rates.fd") == "b/rates.cpy"
    assert Copybooks([("lib/RATES", "copybook", b"FD  RATES.")]).path("rates.fd") == "lib/RATES"
    called, layout = program("    GOBACK.", name="RATES").encode(), fixed("01  RATES PIC X.").encode()
    assert Copybooks([("src/rates.cbl", "cobol", called)]).path("rates.fd") is None
    assert Copybooks([("src/rates.cbl", "cobol", called)]).path("rates.cob") == "src/rates.cbl"
    assert Copybooks([("src/rates.cbl", "cobol", layout)]).path("rates.fd") == "src/rates.cbl"


def test_a_folder_in_front_of_a_name_chooses_between_copybooks() -> None:
    """`COPY "..\\lib\\rates.cpy"` gives a Windows path; if the folder does not exist here, the name is enough."""
    shelf = Copybooks([("a/rates.cpy", "copybook", b"01 A PIC X."), ("lib/rates.cpy", "copybook", b"01 B PIC X.")])
    assert (
        shelf.path(r"..\lib\rates.cpy") == shelf.path("../LIB/RATES.CPY") == shelf.path("lib/rates") == "lib/rates.cpy"
    )
    assert shelf.path(r"c:\old\rates.cpy") == shelf.path("rates.cpy") == "a/rates.cpy"


def test_of_several_copybooks_the_nearest_is_taken() -> None:
    """An estate with its old sources has each copybook several times; each program means the one next to it."""
    texts = {"bak/lib/RATES.cpy": b"01 B PIC X.", "live/lib/RATES.cpy": b"01 L PIC X.", "RATES.cpy": b"01 R PIC X."}
    for files in (texts, dict(reversed(texts.items()))):
        shelf = Copybooks([(path, "copybook", text) for path, text in files.items()])
        assert shelf.path("RATES", None, "live/src/PAY.cbl") == "live/lib/RATES.cpy"
        assert shelf.path("RATES", None, "bak/src/PAY.cbl") == "bak/lib/RATES.cpy"
        assert shelf.path("RATES", None, "PAY.cbl") == shelf.path("RATES") == "RATES.cpy"


def test_a_copybook_may_have_a_remark_behind_its_name() -> None:
    """Some keep the kind of a member there; but a file of the very name, which may have an old copy beside it, comes first."""
    remarked: tuple[str, Kind, bytes] = ("a/RATES(COPY).txt", "copybook", b"01 A PIC X.")
    assert Copybooks([remarked]).path("rates") == "a/RATES(COPY).txt"
    assert Copybooks([remarked]).path("copy") is None
    shelf = Copybooks([remarked, ("b/RATES.cpy", "copybook", b"01 B PIC X."), ("b/RATES (1).cpy", "copybook", b"")])
    assert shelf.path("RATES", None, "a/PAY.cbl") == shelf.path("RATES", None, "b/PAY.cbl") == "b/RATES.cpy"
    for name, path in {
        "RATES (1).cpy": "b/RATES (1).cpy",
        "RATES (1)": "b/RATES (1).cpy",
        "x/RATES(COPY).txt": remarked[0],
    }.items():
        assert shelf.path(name) == path
    called: tuple[str, Kind, bytes] = ("a/RATES.cbl", "cobol", program("    GOBACK.", name="RATES").encode())
    assert Copybooks([remarked, called]).path("RATES") == "a/RATES(COPY).txt"


def test_of_copybooks_that_are_equally_near_a_text_is_taken_last() -> None:
    """Text files may be anything, such as listings; one that is nearer is still taken."""
    shelf = Copybooks([("a/RATES.TXT", "copybook", b"01 A PIC X."), ("b/RATES.cpy", "copybook", b"01 A PIC X.")])
    assert (shelf.path("RATES"), shelf.path("RATES", None, "a/PAY.cbl")) == ("b/RATES.cpy", "a/RATES.TXT")


def test_a_library_of_nonstop_holds_many_copybooks() -> None:
    """COPY names a section of the file named after OF; its lines are those of that file."""
    library = (
        b"?SECTION RATES\n 01  RATE PIC 9.\n?section TAXES, ANSI\n 01  TAX PIC 9(3).\n?Section ENDS\n 01  E PIC X.\n"
    )
    shelf = Copybooks([("msglib.cbl", "cobol", library), ("PAY.cbl", "cobol", b"?SECTION TAXES\n 01  T PIC X.\n")])
    book = shelf.beside("PAY.cbl")("TAXES", "=MSGLIB")
    assert book is not None
    assert [(entry.name, entry.line) for program in book for entry in program.entries] == [("TAX", 4)]
    assert shelf.path("taxes", "=MSGLIB", "PAY.cbl") == "msglib.cbl"
    assert shelf.path("TAXES") is shelf.path("FEES", "=MSGLIB") is None


@pytest.mark.parametrize("columns", ["", " " * 6])
def test_a_directive_of_nonstop_is_no_code(columns: str) -> None:
    """The directive starts in the column of the indicator: column 1, or column 7 in ANSI format."""
    lines = [
        "PROGRAM-ID. A.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    DISPLAY 'A'",
        "?NOLIST",
        "        'B?'.",
        "    STOP RUN.",
    ]
    source = scan("\n".join(f"{columns}{line if line[0] == '?' else f' {line}'}" for line in lines))
    assert [(one.verb, one.line, one.end_line) for one in source.programs[0].statements] == [
        ("DISPLAY", 4, 6),
        ("STOP RUN", 7, 7),
    ]
    assert (source.kinds[4], source.warnings) == ("directive", ())


def test_a_listing_of_a_compiler_is_no_program() -> None:
    """Listings and the output of a preprocessor would each be a second program of the same name."""
    assert {kind_of(f"PAY.{suffix}", PROGRAM.encode()) for suffix in ("lst", "lis", "trc")} == {None}


def test_a_picture_and_a_word_behind_a_sign_are_no_copybooks() -> None:
    """COPY RESOURCE puts a picture into the built program, and `@Copy` is a method of a declared control."""
    text = fixed(
        "PROGRAM-ID. A.",
        "ENVIRONMENT DIVISION.",
        "CONFIGURATION SECTION.",
        "SPECIAL-NAMES.",
        "    DEF",
        "    METHOD, 551, @Copy",
        "    METHOD, 552, @Cut.",
        "PROCEDURE DIVISION.",
        '    COPY RESOURCE "yes.bmp".',
        "    COPY RESOURCE.",
        "    GOBACK.",
    )
    (program,) = scan(text)
    assert [copy.name for copy in program.copies] == ["RESOURCE"]
    assert [statement.verb for statement in program.statements] == ["COPY", "COPY", "GOBACK"]


def test_a_host_looks_for_eight_letters_of_a_longer_name() -> None:
    """Member names have at most eight letters, so the rest of a longer name is ignored."""
    shelf = Copybooks([("lib/CUSTOMER.cpy", "copybook", b"01  C PIC X.")])
    assert shelf.path("CUSTOMERRECORD") == "lib/CUSTOMER.cpy"


def test_a_call_may_name_a_constant() -> None:
    """A level 78 is a literal with a name, so the called program is known."""
    text = fixed(
        "PROGRAM-ID. A.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "78  C-SLEEP VALUE 'CS06S'.",
        "PROCEDURE DIVISION.",
        "    CALL C-SLEEP.",
    )
    source = scan(text)
    (call,) = facts(source, source.programs[0]).calls
    assert (call.names, call.resolved[0].line) == (("CS06S",), 4)


@pytest.mark.parametrize("header", ["SPECIAL-NAMES. DECIMAL-POINT IS COMMA.", "INPUT-OUTPUT SECTION.", "FILE-CONTROL."])
def test_an_environment_division_may_have_no_header(header: str) -> None:
    """The text of AUTHOR may be anything, but ends where the environment begins: its files and COPYs were lost."""
    rest = ["FILE-CONTROL.", "    COPY USERS.", "DATA DIVISION.", "FILE SECTION.", "FD  USERS.", "01  U PIC X."]
    lines = rest if header == rest[0] else [header, *rest]
    source = scan(fixed("PROGRAM-ID. A.", "AUTHOR. Andrea.", *lines, "PROCEDURE DIVISION.", "    GOBACK."))
    book = scan(fixed('SELECT USERS ASSIGN TO "users" ORGANIZATION INDEXED.'))
    (file,) = facts(source, source.programs[0], copybooks={"USERS": book}).files
    assert (file.name, file.assign, file.organization) == ("USERS", ('"users"',), "INDEXED")


def test_an_environment_division_may_be_copied() -> None:
    """A COPY ends the text of DATE-WRITTEN where a header would, in area A; further to the right it is text."""
    data = ["DATA DIVISION.", "FILE SECTION.", "FD  USERS.", "01  U PIC X.", "PROCEDURE DIVISION.", "    GOBACK."]
    for copy, found in (("COPY ENVIR.", ("ENVIR",)), ("    COPY ENVIR.", ()), ("COPY of the one before.", ())):
        source = scan(fixed("PROGRAM-ID. A.", "DATE-WRITTEN. May, in a hurry.", copy, *data))
        assert tuple(one.name for one in source.programs[0].copies) == found
    source = scan(fixed("PROGRAM-ID. A.", "DATE-WRITTEN. May.", "COPY ENVIR.", *data))
    book = scan(fixed("ENVIRONMENT DIVISION.", "FILE-CONTROL.", "    SELECT USERS ASSIGN TO 'users'."))
    (file,) = facts(source, source.programs[0], copybooks={"ENVIR": book}).files
    assert (file.name, file.assign) == ("USERS", ("'users'",))


def test_a_file_section_may_have_no_header() -> None:
    """Some compilers need none; the section of the division before does not extend into the data."""
    text = fixed(
        "PROGRAM-ID. A.",
        "ENVIRONMENT DIVISION.",
        "CONFIGURATION SECTION.",
        "SPECIAL-NAMES. DECIMAL-POINT IS COMMA.",
        "SELECT USERS ASSIGN TO DISK.",
        "DATA DIVISION.",
        "COPY USERS.",
        "WORKING-STORAGE SECTION.",
        "01  W PIC X.",
        "PROCEDURE DIVISION.",
        "    OPEN INPUT USERS.",
    )
    book = scan(fixed("FD  USERS.", "01  USER-RECORD.", "    03  USER-ID PIC 9(4)."))
    source = scan(text)
    found = facts(source, source.programs[0], copybooks={"USERS": book})
    assert [(file.name, file.records) for file in found.files] == [("USERS", ("USER-RECORD",))]
    assert {(item.name, item.section) for item in found.items} == {
        ("USER-RECORD", "FILE"),
        ("USER-ID", "FILE"),
        ("W", "WORKING-STORAGE"),
    }


# ── CICS after its translator, IDMS ──────────────────────────────────────────────────────────────────────────────


def test_d11_a_command_that_was_translated_is_read_from_its_comment() -> None:
    """The translator leaves the command as a comment and then calls its stub: that is one operation, not a called program."""
    source = scan(
        body("MAIN.")
        + "      *    EXEC CICS LINK PROGRAM('RATE')\n      *         COMMAREA(AREA-1) END-EXEC.\n"
        + fixed("    MOVE 'xx' TO DFHEIV0", "    CALL 'DFHEI1' USING DFHEIV0 AREA-1.")
        + "      *    EXEC CICS ABEND ABCODE('OLD') END-EXEC.\n"
        + fixed("    GOBACK.")
    )
    found = facts(source, source.programs[0])
    assert [(one.command, one.resource, one.line) for one in found.cics] == [("LINK", "'RATE'", 8)]
    assert [(call.call_type, call.names) for call in found.calls] == [("static", ("DFHEI1",)), ("link", ("RATE",))]


TRANSLATED = (
    fixed(
        "ID DIVISION.",
        "PROGRAM-ID. P.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01 W PIC X(8).",
        "01 AREA-1 PIC X(9).",
    )
    + fixed("PROCEDURE DIVISION.", "MAIN.", "    MOVE 'TAX' TO W.")
    + "      * EXEC CICS LINK\n00598 *        PROGRAM(W)\n      *         COMMAREA(AREA-1)\n      *    END-EXEC.\n"
    + fixed("    MOVE 'RATES' TO DFHEIV1", "    MOVE LENGTH OF", "     AREA-1", "      TO DFHEIV11")
    + "      *    MOVE '.\"C     ''   #00001188' TO DFHEIV0\n"
    + fixed("    MOVE X'2E22' TO DFHEIV0(1:12)", "    CALL 'kxdfhei1' USING DFHEIV0,", "          W, AREA-1, DFHEIV11")
)


def test_the_arguments_that_a_translator_moves_may_stand_between_a_command_and_its_call() -> None:
    """A literal or length in an option is moved in a separate statement, followed by a comment of the translator."""
    source = scan(TRANSLATED + fixed("    CALL W.", "    GOBACK."))
    found = facts(source, source.programs[0])
    assert [(one.command, one.resource) for one in found.cics] == [("LINK", "W")]
    # The arguments of the stub are those of CICS: an item with a program's name is read and keeps its value.
    assert [(call.call_type, call.names, call.is_sure) for call in found.calls] == [
        ("static", ("kxdfhei1",), True),
        ("link", ("TAX",), True),
        ("dynamic", ("TAX",), True),
    ]


def test_a_command_that_was_commented_out_is_none_where_code_stands_before_the_call() -> None:
    """Between a command and its call there is nothing but moves to the translator's names."""
    kept = TRANSLATED.replace("MOVE 'RATES' TO DFHEIV1", "MOVE 'RATES' TO W\n           MOVE 'X' TO DFHEIV1")
    source = scan(kept + fixed("    GOBACK."))
    assert not facts(source, source.programs[0]).cics


def test_what_wrote_a_program_is_named() -> None:
    """CA-Telon says so in a comment: a change has to be made in its source."""
    source = scan("      * GENERATED BY CA-TELON 5.1\n" + body("MAIN.", "    GOBACK."))
    (note,) = facts(source, source.programs[0]).notes
    assert (note.line, "CA-Telon" in note.text) == (1, True)


IDMS = fixed(
    "IDENTIFICATION DIVISION.",
    "PROGRAM-ID. STAFF.",
    "DATA DIVISION.",
    "SCHEMA SECTION.",
    "DB STAFFSS WITHIN STAFFSCHEMA.",
    "WORKING-STORAGE SECTION.",
    "01  COPY IDMS RECORD EMPLOYEE.",
    "COPY IDMS SUBSCHEMA-CTRL.",
    "PROCEDURE DIVISION.",
    "MAIN.",
    "    BIND RUN-UNIT.",
    "    READY USAGE-MODE IS UPDATE.",
    "    OBTAIN CALC EMPLOYEE.",
    "    IF ERROR-STATUS = '0000' OBTAIN NEXT JOB WITHIN EMP-JOB",
    "    ELSE STORE EMPLOYEE.",
    "    ERASE JOB PERMANENT.",
    "    FINISH.",
    "    GOBACK.",
)


def test_d11_the_statements_of_idms_are_operations() -> None:
    """The statements name records, sets and areas; access to a record is reported like access to a table."""
    source = scan(IDMS)
    found = facts(source, source.programs[0])
    assert [(one.verb, one.record, one.within) for one in found.network] == [
        ("BIND", None, None),
        ("READY", None, None),
        ("OBTAIN", "EMPLOYEE", None),
        ("OBTAIN", "JOB", "EMP-JOB"),
        ("STORE", "EMPLOYEE", None),
        ("ERASE", "JOB", None),
        ("FINISH", None, None),
    ]
    assert [(one.resource, one.kind, one.create, one.read, one.delete) for one in found.crud] == [
        ("EMPLOYEE", "record", (15,), (13,), ()),
        ("JOB", "record", (), (14,), (16,)),
    ]
    assert [(use.name, use.via, use.system) for use in found.copybooks] == [
        ("EMPLOYEE", "COPY IDMS", True),
        ("SUBSCHEMA-CTRL", "COPY IDMS", True),
    ]
    assert found.unread == ()
    assert [one.name for one in found.undeclared] == ["ERROR-STATUS"]


def test_what_follows_the_on_of_idms_is_done_on_that_status_alone() -> None:
    """Its GO TO therefore does not end the paragraph; IDMS-ABORT is performed by COPY IDMS, which is not available."""
    lines = (
        "    OBTAIN NEXT JOB WITHIN EMP-JOB ON DB-END-OF-SET GO TO DONE.",
        "MORE.",
        "    MODIFY JOB ON ANY-ERROR-STATUS DISPLAY 'E' DISPLAY 'F'.",
        "    ADD 1 TO TALLY ON SIZE ERROR CONTINUE.",
        "DONE.",
        "    GOBACK.",
        "COPY IDMS IDMS-STATUS.",
        "IDMS-ABORT SECTION.",
        "ABORTING.",
        "    DISPLAY 'A'.",
        "AFTER-IT.",
        "    STOP RUN.",
        "ELSEWHERE SECTION.",
        "NOBODY.",
        "    STOP RUN.",
    )
    source = scan(IDMS.replace(fixed("    FINISH.", "    GOBACK."), fixed(*lines)))
    found = facts(source, source.programs[0])
    assert [(one.name, one.complexity, one.falls_into) for one in found.paragraphs[:3]] == [
        ("MAIN", 3, "MORE"),
        ("MORE", 3, "DONE"),
        ("DONE", 1, None),
    ]
    assert [one.name for one in found.paragraphs if one.dead] == ["NOBODY"]
    assert found.paragraphs[-1].doubts == (
        "copied code that was not found may perform it: IDMS-STATUS",
        "it holds no more than one statement",
    )
    assert [(one.kind, one.condition) for one in found.errors if one.kind == "IDMS STATUS"] == [
        ("IDMS STATUS", "ON DB-END-OF-SET of OBTAIN NEXT"),
        ("IDMS STATUS", "ON ANY-ERROR-STATUS of MODIFY JOB"),
    ]
    (employee,) = found.items  # OBTAIN fills it, STORE sends it
    assert (employee.name, employee.written_lines, employee.read_lines) == ("EMPLOYEE", (13,), (15,))
    assert {one.name for one in found.undeclared} == {"ERROR-STATUS"}


def test_the_words_of_idms_are_names_elsewhere() -> None:
    """Another program may have a paragraph or item named FIND or STORE."""
    source = scan(body("MAIN.", "    MOVE FIND TO STORE.", "    PERFORM OBTAIN.", "OBTAIN.", "    EXIT."))
    assert facts(source, source.programs[0]).network == ()
    assert [statement.verb for statement in source.programs[0].statements] == ["MOVE", "PERFORM", "EXIT"]


# ── formats ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_short_copybook_in_free_format_is_told_by_one_line() -> None:
    """Most of its lines are indented; one that starts in the margin and passes column 7 is enough if no line has an indicator."""
    source = scan("     select  sales-file\n               assign to disk-1\n               organization indexed.\n")
    assert (source.format, source.warnings) == ("free", ())


def test_a_record_in_column_1_is_told_by_its_name_across_column_7() -> None:
    """Only the first line of such a copybook begins in the margin, with a level number that could be that of a card."""
    source = scan(
        "01  SHIPPED-ORDER.\n    05 ORDER-NO PIC 9(6).\n    05 ITEM     PIC X(8).\n" + "    05 FILLER PIC X.\n" * 9
    )
    assert source.format == "free"
    assert [entry.name for entry in source.programs[0].entries[:3]] == ["SHIPPED-ORDER", "ORDER-NO", "ITEM"]
    tagged = scan("01 ABC 01  A.\n01 ABC     05 B PIC X.\n" + "           05 FILLER PIC X.\n" * 30)
    assert tagged.format == "fixed"


def test_an_asterisk_in_column_1_is_a_comment_of_terminal_format() -> None:
    """Compilers that read the file as free format take an asterisk in column 1 for a comment."""
    text = "*{tool}begin\n IDENTIFICATION DIVISION.\n PROGRAM-ID. A.\n PROCEDURE DIVISION.\n MAIN.\n* that's it.\n    GOBACK.\n"
    source = scan(text)
    assert (source.format, source.kinds[0], source.kinds[5]) == ("free", "comment", "comment")
    assert [statement.verb for statement in source.programs[0].statements] == ["GOBACK"]


def test_a_slash_in_column_1_is_a_comment_of_free_format() -> None:
    """The slash starts a new page; the text after it would otherwise join an expression of the entry before."""
    text = (
        "identification division.\nprogram-id. A.\nenvironment division.\nspecial-names.\n/\ndata division.\n/ next\n"
    )
    source = scan(text + "working-storage section.\n01 W pic x.\n/\nprocedure division.\nMAIN.\n    goback.\n")
    assert (source.format, source.kinds[4], source.kinds[6]) == ("free", "comment", "comment")
    assert [statement.verb for statement in source.programs[0].statements] == ["GOBACK"]


def test_a_slash_in_column_1_divides_within_a_sentence() -> None:
    """If all code starts in column 1, the slash continues an expression; a slash alone still starts a page."""
    text = "identification division.\nprogram-id. A.\nprocedure division.\nMAIN.\ncompute T =\n( B - C )\n/ 100\n/\ndisplay T.\n"
    source = scan(text)
    assert (source.format, source.kinds[6], source.kinds[7]) == ("free", "code", "comment")
    assert [(one.verb, one.line, one.end_line) for one in source.programs[0].statements] == [
        ("COMPUTE", 5, 7),
        ("DISPLAY", 9, 9),
    ]


def test_a_block_of_a_precompiler_is_no_code_and_a_warning() -> None:
    """The code that the precompiler generates is unknown; the statements around the block are whole."""
    text = (
        "identification division.\nprogram-id. A.\nprocedure division.\nMAIN.\n    move 1 to N\n"
        "    /MYSQL FETCH\\\n        TABLE=POSTING-REC\n*>      WHERE=N\n    /MYSQL-END\\\n    display N.\n    goback.\n"
    )
    source = scan(text)
    assert [one.verb for one in source.programs[0].statements] == ["MOVE", "DISPLAY", "GOBACK"]
    assert source.kinds[5:9] == ("directive", "directive", "comment", "directive")
    assert [(one.line, "MYSQL FETCH" in one.text) for one in source.warnings] == [(6, True)]


# ── what a file is ───────────────────────────────────────────────────────────────────────────────────────────────


def test_d10_a_suffix_of_a_shop_hides_no_program() -> None:
    """An unknown suffix does not matter; a suffix of another language does."""
    assert kind_of("online/EL101.cl2", PROGRAM.encode()) == "cobol"
    assert kind_of("EL101.20140710", PROGRAM.encode()) == "cobol"
    assert kind_of("manual.md", PROGRAM.encode()) is None
    assert kind_of("EL101.lst", PROGRAM.encode()) is None


def test_d11_whens_that_share_statements_are_one_branch() -> None:
    """Each WHEN leads to the branch, not only the last."""
    source = scan(
        body(
            "MAIN.",
            "    EVALUATE CODE-1",
            "    WHEN 'A'",
            "    WHEN 'B'",
            "        PERFORM X",
            "    WHEN OTHER",
            "        PERFORM Y",
            "    END-EVALUATE.",
            "X.",
            "    EXIT.",
            "Y.",
            "    EXIT.",
        )
    )
    (rule,) = facts(source, source.programs[0]).rules
    assert [(branch.label, [action.text for action in branch.actions]) for branch in rule.branches] == [
        ("WHEN 'A' WHEN 'B'", ["PERFORM X"]),
        ("WHEN OTHER", ["PERFORM Y"]),
    ]


@pytest.mark.proves("C-13")
@pytest.mark.parametrize(
    "line", ["       CBL APOST,NODYNAM", "       PROCESS LIST", "       >>SOURCE FORMAT IS FIXED", "           EJECT"]
)
def test_d7_numbers_of_cards_are_no_part_of_a_directive(line: str) -> None:
    """A renumbered program shows the same lines, options and directives included."""
    plain = [line, *PROGRAM.splitlines()]
    numbered = [f"{number:06}{text[6:]:<66}BILL{number:04}" for number, text in enumerate(plain, 1)]
    padded = [text.ljust(80) for text in plain]
    shown = [
        [source.shown(at) for at in range(1, source.lines + 1)]
        for source in (scan("\n".join(text)) for text in (plain, numbered, padded))
    ]
    assert shown[0] == shown[1] == shown[2]


# ── REPLACE ──────────────────────────────────────────────────────────────────────────────────────────────────────


def replacing(*lines: str, **copybooks: str) -> Facts:
    """Return the facts of a program with these lines in its WORKING-STORAGE, and of a PROCEDURE DIVISION if they have one."""
    books = {name: scan(text) for name, text in copybooks.items()}
    text = fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", *lines)
    source = scan(text, copybooks=lambda name, _: books.get(name))
    assert source.lines == len(source.starts) == text.count("\n")
    return facts(source, source.programs[0], copybooks=books)


def items_of(found: Facts) -> list[tuple[str, int, int | None]]:
    """Return name, line and size of each item."""
    return [(item.name, item.line, item.bytes) for item in found.items]


TAGGED = fixed("01  :TAG:-REC.", "    05  :TAG:-F PIC X(:LEN:).", "    05  G PIC X.")


def test_replace_holds_for_what_follows_and_for_what_that_copies() -> None:
    """It holds up to the next REPLACE; lines stay those of the file, however many lines the old or new text has."""
    found = replacing(
        "01  :TAG:-A PIC X.",
        "REPLACE ==:TAG:== BY ==WS==",
        "    ==:LEN:== BY ==4==.",
        "COPY BODY.",
        "01  :TAG:-B PIC X(:LEN:).",
        "REPLACE ==OLD GROUP== BY ==NEW-ONE PIC X(2). 01 NEXT-ONE==.",
        "01  OLD",
        "    GROUP PIC X.",
        "01  :TAG:-C PIC X.",
        "REPLACE OFF.",
        "01  OLD GROUP PIC X.",
        BODY=TAGGED,
    )
    assert items_of(found)[:4] == [(":TAG:-A", 5, 1), ("WS-REC", 8, 5), ("WS-F", 8, 4), ("G", 8, 1)]
    assert items_of(found)[4:] == [
        ("WS-B", 9, 4),
        ("NEW-ONE", 11, 2),
        ("NEXT-ONE", 11, 1),
        (":TAG:-C", 13, 1),
        ("OLD", 15, 1),
    ]
    assert [item.copybook_line for item in found.items[1:4]] == [1, 2, 3]


def test_a_literal_may_be_a_part_of_a_name_that_replacing_completes() -> None:
    """In a library of NonStop's, read alone; a literal with a blank behind it is what a screen shows."""
    lines = (
        '01  "*"-REC.',
        '    05  "*"-CODE PIC X(4).',
        "        88  '*'-OK VALUE 'OKAY'.",
        '    05  "*" -CODE PIC X(2).',
    )
    found = replacing(*lines)
    assert items_of(found) == [('"*"-REC', 5, 6), ('"*"-CODE', 6, 4), ("FILLER", 8, 2)]
    assert [(one.name, one.values) for one in found.items[1].conditions] == [("'*'-OK", ("'OKAY'",))]


def test_replace_in_a_copybook_holds_after_its_copy() -> None:
    """A copybook of passwords or constants may have nothing but a REPLACE."""
    found = replacing(
        "COPY PWD.",
        "01  SIZED PIC X(:LEN:).",
        "PROCEDURE DIVISION.",
        "    MOVE :USER: TO SIZED",
        "    CALL TAX-PROGRAM.",
        PWD=fixed("REPLACE ==:LEN:== BY ==7== ==:USER:== BY =='ME'==", "    ==TAX-PROGRAM== BY =='TAX01'==."),
    )
    assert items_of(found) == [("SIZED", 6, 7)]
    assert [(call.target, call.call_type, call.line) for call in found.calls] == [("TAX01", "static", 9)]
    assert not found.undeclared


def test_replace_reaches_copybooks_within_copybooks_behind_their_own_replacing() -> None:
    """REPLACING comes first, and REPLACE applies to its result."""
    found = replacing(
        "REPLACE ==:LEN:== BY ==9== ==MID-F== BY ==LAST-F==.",
        "COPY OUTER.",
        OUTER=fixed("COPY BODY REPLACING ==:TAG:== BY ==MID==."),
        BODY=TAGGED,
    )
    assert items_of(found) == [("MID-REC", 6, 10), ("LAST-F", 6, 9), ("G", 6, 1)]


def test_an_outer_replacing_reaches_what_its_copybook_copies() -> None:
    """As in GnuCOBOL 3.1.2, the nearest REPLACING comes first, and what it wrote is not replaced again."""
    found = replacing(
        "REPLACE ==SEEN== BY ==LAST==.",
        "COPY OUTER REPLACING ==:TAG:== BY ==WS== ==INNER== BY ==WRONG== ==OWN== BY ==SEEN==.",
        OUTER=fixed("01  :TAG:-A PIC X.", "COPY BODY REPLACING ==OLD== BY ==INNER==."),
        BODY=fixed("01  :TAG:-B PIC X.  01  OLD PIC X.  01  OWN PIC X."),
    )
    assert [item.name for item in found.items] == ["WS-A", "WS-B", "INNER", "LAST"]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    {
        "JOINING OLD AS PREFIX": ["OLD-A", "OLD-X", "OLD-B", "OLD-C", "FILLER", "OLD-K-N"],
        "JOINING Old PREFIX": ["OLD-A", "OLD-X", "OLD-B", "OLD-C", "FILLER", "OLD-K-N"],
        "JOINING OLD AS SUFFIX": ["A-OLD", "X-OLD", "B-OLD", "C-OLD", "FILLER", "K-N-OLD"],
        "DISJOINING K JOINING OLD AS PREFIX": ["OLD-A", "OLD-X", "OLD-B", "OLD-C", "FILLER", "OLD-N"],
        "DISJOINING N JOINING OLD AS SUFFIX": ["A-OLD", "X-OLD", "B-OLD", "C-OLD", "FILLER", "K-OLD"],
        "SUPPRESS JOINING 旧 AS PREFIX": ["旧－A", "旧－X", "旧－B", "旧－C", "FILLER", "旧－K-N"],
    }.items(),
)
def test_joining_puts_a_word_before_or_behind_the_names_that_a_copybook_declares(
    phrase: str, expected: list[str]
) -> None:
    """As in NetCOBOL; a picture and a literal are no names, REDEFINES and DEPENDING name declared ones."""
    body = (
        "01  A. 05  X PIC X VALUE 'X'. 05  B REDEFINES X PIC IS 9.",
        "    05  C PIC X OCCURS 3 DEPENDING ON B. 05  PIC X. 05  K-N PIC 9.",
    )
    found = replacing(f"COPY BODY OF LIB {phrase}.", BODY=fixed("COPY INNER."), INNER=fixed(*body))
    assert [item.name for item in found.items] == expected
    assert [item.bytes for item in found.items] == [6, 1, 1, 1, 1, 1]
    assert [item.redefines for item in found.items if item.redefines] == [expected[1]]
    assert [item.depending for item in found.items if item.depending] == [expected[2]]
    assert not found.undeclared


def test_joining_leaves_the_name_of_a_copybook_that_is_copied_within() -> None:
    """It may be that of an item; the items of that copybook are joined."""
    found = replacing(
        "COPY BODY JOINING OLD AS PREFIX.", BODY=fixed("01  INNER.", "    COPY INNER."), INNER=fixed("    05  X PIC X.")
    )
    assert [item.name for item in found.items] == ["OLD-INNER", "OLD-X"]


@given(
    st.lists(
        st.sampled_from(["A", "X", "OLD", "OLD-A", "A-NEW", "\u984d", "\u984d\uff0d\u8a08"]), min_size=1, unique=True
    ),
    st.sampled_from(["NEW", "\u65e7"]),
    st.booleans(),
)
def test_what_was_joined_can_be_disjoined(declared: list[str], word: str, is_suffix: bool) -> None:
    """DISJOINING takes away what JOINING put there, and the code keeps its lines."""
    lines = (f"    05  {name} PIC X\n           VALUE 'A'." for name in declared)
    book = scan(fixed("01  REC.", *lines, "    05  C REDEFINES REC PIC X."))
    code = joined(book, Joining(word, is_suffix))
    again = joined(scan(code, source_format="free"), Joining("OLD", is_suffix, disjoined=word))
    assert again == joined(book, Joining("OLD", is_suffix))
    assert again.count("\n") == book.code.count("\n")


def test_replacing_knows_where_a_word_in_another_script_ends() -> None:
    """BY 数 for 額 leaves 金額 and 額－計 as they are."""
    found = replacing(
        "COPY BODY REPLACING 額 BY 数.",
        BODY=fixed("01  額 PIC X. 01  金額 PIC X. 01  額－計 PIC X. 01  額面 PIC X."),
    )
    assert [item.name for item in found.items] == ["数", "金額", "額－計", "額面"]


def test_replace_also_stands_in_front_and_last_off_takes_it_away() -> None:
    """The pairs of several REPLACE statements are compared as one list, the latest first."""
    found = replacing(
        "REPLACE ==A== BY ==B== ==C== BY ==D==.",
        "REPLACE ALSO ==A== BY ==E== ==B== BY ==F==.",
        "01  A PIC X. 01 B PIC X. 01 C PIC X.",
        "REPLACE LAST OFF.",
        "01  A PIC X. 01 C PIC X.",
    )
    assert [item.name for item in found.items] == ["E", "F", "D", "B", "D"]


def also(pairs: Iterable[str]) -> str:
    """Return a REPLACE ALSO for each of some pairs."""
    return "".join(f"REPLACE ALSO {pair}.\n" for pair in pairs)


@given(
    st.lists(st.builds("=={}== BY =={}==".format, st.sampled_from(["A", "A B", ":T:", "B"]), st.sampled_from("XYZ"))),
    st.integers(0, 5),
)
def test_several_replace_also_are_one_replace_of_their_pairs_the_latest_first(pairs: list[str], gone: int) -> None:
    """It makes no difference whether a pair has a REPLACE ALSO of its own, and what that adds LAST OFF takes away again."""
    code = "A B A :T: P:T:A 'A B' B A.\n"

    def replaced(kept: list[str]) -> str:
        begin = f"REPLACE {' '.join(reversed(kept))}.\n" if kept else ""
        return scan(begin + code, source_format="free").code.splitlines()[-1]

    lines = scan(also(pairs) + code + "REPLACE LAST OFF.\n" * gone + code, source_format="free").code.splitlines()
    assert lines[len(pairs)] == replaced(pairs)
    assert lines[-1] == replaced(pairs[: max(0, len(pairs) - gone)])


def test_many_replace_also_take_time_in_proportion() -> None:
    """Each adds its pairs to those that are looked up: to look up all anew after each took 4.7 s for 2,000 of them."""

    def work(size: int) -> Callable[[], object]:
        text = "".join(f"{also([f'==:T{at}:== BY ==X{at}=='])}01  A:T{at}: PIC X.\n" for at in range(size))
        return lambda: scan(text, source_format="free")

    assert growth(work, 400) < BOUND


def test_nothing_is_replaced_in_literals_and_in_statements_that_replace() -> None:
    """A literal is one word: it matches an old text as a whole, or stays."""
    found = replacing(
        "REPLACE ==AA== BY ==BB== =='Q'== BY =='R'== LEADING ==X-== BY ==Y-==.",
        "01  AA PIC X(2) VALUE 'AA'. 01 QQ PIC X VALUE 'Q'. 01 X-X-A PIC X. 01 AA-1 PIC X.",
        "COPY BODY REPLACING ==AA== BY ==CC==.",
        BODY=fixed("01  AA PIC X VALUE 'REPLACE ==BB== BY ==ZZ==.'. 01 BB PIC X."),
    )
    assert [item.name for item in found.items] == ["BB", "QQ", "Y-X-A", "AA-1", "CC", "BB"]
    assert [item.value for item in found.items][:2] == ["'AA'", "'R'"]


def test_what_replacing_adds_is_bounded() -> None:
    """A frequent word with a long replacement is replaced only as long as there is room."""
    text = fixed("01  A PIC X.", "REPLACE ==Q== BY ==" + "LONG " * 10, "==.", *["    Q Q Q Q Q Q Q Q Q Q"] * 9)
    source = scan(text.replace("LONG ", "L" * 60_000 + " "), source_format="free")
    assert 3_000_000 < len(source.code) < 4_500_000
    assert source.code.count("Q") > 40


@pytest.mark.parametrize(
    ("old", "new"),
    [("==A{}-==", "==B{}-=="), ("LEADING ==A{}-==", "==B{}-=="), ("==MOVE A{}-==", "==MOVE B{}-==")],
)
def test_many_pairs_take_time_in_proportion(old: str, new: str) -> None:
    """An old text is looked up by its words; were each tried at each letter, n pairs and n words would take n * n."""

    def work(size: int) -> Callable[[], str]:
        pairs = tuple((old.format(number), new.format(number)) for number in range(size))
        code = "".join(f"    MOVE A{number}-X TO C.\n" for number in range(size))
        assert rewritten(code, (pairs,)) == code.replace("MOVE A", "MOVE B")
        return lambda: rewritten(code, (pairs,))

    assert growth(work, 250) < BOUND


@given(
    st.lists(
        st.sampled_from(
            ["REPLACE", "==", "A", "BY", ".", "'", "\n", "COPY B", "OFF", "\x1f", "REPLACE ==A== BY ==B C==.\n"]
        ),
        max_size=30,
    )
)
def test_any_text_keeps_its_lines(words: list[str]) -> None:
    """Whatever is replaced, each line of code is a line of the file."""
    text = " ".join(words)
    source = scan(text, source_format="free")
    assert len(source.starts) == source.lines
    assert source.code.count("\n") + source.code.count("\x1f") >= source.lines - 1
    assert list(source.starts) == sorted(source.starts)
    assert not source.starts or source.starts[-1] <= len(source.code)


# ── conditional compilation ──────────────────────────────────────────────────────────────────────────────────────

CHOICES = """\
>>DEFINE X AS "YES"
>>DEFINE Y OFF
>>DEFINE N 3
PROGRAM-ID. A.
PROCEDURE DIVISION.
{}
    GOBACK.
"""


@pytest.mark.parametrize(
    ("choice", "called", "is_told"),
    [
        ('>>IF X = "YES"|ONE|>>ELSE|TWO|>>END-IF', "ONE", False),
        ('>>IF X IS NOT = "YES"|ONE|>>ELSE|TWO|>>END-IF', "TWO", False),
        (">>IF Y DEFINED|ONE|>>END-IF|TWO", "TWO", False),
        (">>IF N IS DEFINED|ONE|  >>IF N = 4|TWO|>>ELSE|FOUR|>>END-IF|>>END-IF", "ONE FOUR", False),
        ("$SET CONSTANT OLD(1)|$IF OLD = 1|ONE|$ELSE|TWO|$END", "ONE", False),
        (">>IF Z DEFINED|ONE|>>ELSE|TWO|>>END-IF", "ONE TWO", True),
        (">>IF Z DEFINED|ONE|>>ELIF N = 3|TWO|>>ELSE|FOUR|>>END-IF", "ONE TWO", True),
        ('>>EVALUATE X|>>WHEN "NO"|ONE|>>WHEN "YES"|TWO|>>WHEN OTHER|FOUR|>>END-EVALUATE', "TWO", False),
        (">>EVALUATE TRUE|>>WHEN N = 2|ONE|>>WHEN Z > 1|TWO|>>WHEN OTHER|FOUR|>>END-EVALUATE", "TWO FOUR", True),
        (">>IF Y DEFINED|>>DEFINE Q 1|>>END-IF|>>IF Q DEFINED|ONE|>>END-IF", "ONE", True),
        (">>IF Z DEFINED|>>DEFINE N 4|>>END-IF|>>IF N = 3|ONE|>>END-IF", "ONE", True),
        (">>IF Z DEFINED|ONE|>>ELSE|>>DEFINE N 4|>>END-IF|>>IF N = 3|TWO|>>END-IF", "ONE TWO", True),
        (">>END-IF|ONE|>>ELSE|TWO|>>IF", "ONE TWO", True),
        (">>IF (N + 1) * 2 >= 8 AND NOT Y DEFINED|ONE|>>ELSE|TWO|>>END-IF", "ONE", False),
        (">>IF N IS GREATER THAN OR EQUAL TO 3 AND N NOT > 2|ONE|>>ELSE|TWO|>>END-IF", "TWO", False),
        (">>IF N = 3 OR Z = 1|ONE|>>ELSE|TWO|>>END-IF", "ONE", False),
        (">>IF N = 3 AND Z = 1|ONE|>>ELSE|TWO|>>END-IF", "ONE TWO", True),
        (">>DEFINE M AS (N * -2 + 7) / 4|>>IF M = 0.25|ONE|>>ELSE|TWO|>>END-IF", "ONE", False),
        (">>EVALUATE N + 1|>>WHEN 1 THRU 3|ONE|>>WHEN 4|TWO|>>END-EVALUATE", "TWO", False),
        (">>IF N + = 3|ONE|>>ELSE|TWO|>>END-IF", "ONE TWO", True),
        (">>IF N / 0 = 3|ONE|>>ELSE|TWO|>>END-IF", "ONE TWO", True),
    ],
)
def test_conditional_compilation_leaves_out_what_the_source_itself_leaves_out(
    choice: str, called: str, is_told: bool
) -> None:
    """If the source does not decide which branch is compiled, all branches count and a warning says so."""
    lines = [part if part.lstrip()[0] in ">$" else f'    CALL "{part}".' for part in choice.split("|")]
    source = scan(CHOICES.format("\n".join(lines)), source_format="free")
    assert " ".join(call.target for call in source.programs[0].calls) == called
    assert [("every branch" in warned.text) for warned in source.warnings] == [True] * is_told
    left = [number for number, kind in enumerate(source.kinds, 1) if kind == "comment"]
    assert len(left) == sum("CALL" in line for line in lines) - len(called.split())


def test_a_copybook_hands_on_the_section_that_it_ends_in() -> None:
    """Records after a COPY of their FD, and items before a copied header, are in the section that the text gives."""
    books = {
        "HEADS": fixed("FILE SECTION.", "COPY FDF."),
        "FDF": fixed("FD  F."),
        "REST": fixed("    05 G1 PIC X(2).", "PROCEDURE DIVISION.", "A.", "    READ F."),
    }
    shelf = {name: scan(text) for name, text in books.items()}
    head = (
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. P.",
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
    )
    text = fixed(
        *head, "    SELECT F ASSIGN TO D.", "DATA DIVISION.", "COPY HEADS.", "01  R PIC X.", "WORKING-STORAGE SECTION.",
        "01  G.", "    COPY REST.",
    )  # fmt: skip
    source = scan(text, copybooks=lambda name, _library: shelf.get(name))
    found = facts(source, source.programs[0], copybooks=shelf)
    assert [(one.name, one.section) for one in found.items] == [
        ("R", "FILE"),
        ("G", "WORKING-STORAGE"),
        ("G1", "WORKING-STORAGE"),
    ]
    assert [file.records for file in found.files] == [("R",)]


def test_what_a_copybook_replaces_is_not_replaced_again() -> None:
    """A copybook's own REPLACE is applied when it is read; what it leaves in force is for the lines after its COPY."""
    books = {"B": scan(fixed("    REPLACE ==CC== BY ==X-A== TRAILING ==-A== BY ==-B==.", "    MOVE CC TO D-A."))}
    text = program(
        "COPY B.", "    MOVE CC TO E-A.", data=("01 X-A PIC X.", "01 D-B PIC X.", "01 E-B PIC X.", "01 X-B PIC X.")
    )
    source = scan(text, copybooks=lambda name, _library: books.get(name))
    found = facts(source, source.programs[0], copybooks=books)
    moved = {(found.items[move.source].name, found.items[move.target].name) for move in found.moves}
    assert moved == {("X-A", "D-B"), ("X-A", "E-B")}
