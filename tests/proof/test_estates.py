"""R31 in short form: is what is said of an estate right by judges that read its sources, and can the rig fail?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from proof.estate_citations import Citations
from proof.estate_views import named, view
from proof.figure import SEED

from proof import estate_code, estate_laws, estates

if TYPE_CHECKING:
    from proof.estate_views import EstateView

pytestmark = [pytest.mark.timeout(300)]

_PROGRAM = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. LEDGER.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-AREA  PIC X(8).
       PROCEDURE DIVISION.
       MAIN-LINE.
           MOVE 'A' TO WS-AREA.
           CALL 'TAX' USING WS-AREA.
           GOBACK.
"""


@pytest.mark.proves("C-1", "C-6", "C-9", "C-12", "C-13", "C-14", "C-16", "C-17", "C-18", "C-19")
def test_what_is_said_of_our_estate_is_what_its_sources_say() -> None:
    """R31, with our estate and a generated program: no fault, and each planted one is found."""
    figure = estates.measure(long=False, seed=SEED)
    assert figure.met, str(figure)


def _seen() -> EstateView:
    return view(named([("LEDGER.cbl", _PROGRAM.encode())]))


def test_what_a_document_leaves_out_is_a_fault() -> None:
    """A record and a call that are in the code and not in the document are told."""
    seen = _seen()
    assert list(estate_code.faults(seen)) == []
    (document,) = seen.documents["LEDGER.cbl"]
    document["data_items"].clear()
    document["called_programs"].clear()
    told = list(estate_code.faults(seen))
    assert [fault.partition(" (")[0] for fault in told] == [
        "C-12: CALL TAX is not in called_programs",
        "C-12: the record WS-AREA is not in data_items",
    ]


def test_what_changes_with_its_spelling_is_a_fault() -> None:
    """An estate that is not what was said of it breaks every law."""
    files = named([("LEDGER.cbl", _PROGRAM.encode())])
    other = view(named([("LEDGER.cbl", _PROGRAM.replace("TAX", "VAT").encode())]))
    laws = {fault.split(": ")[1] for fault in estate_laws.faults(files, other, random.Random(1))}
    assert laws == {
        "in another folder",
        "read in reverse",
        "with CRLF",
        "with filled columns",
        "in other letters",
        "with more comments",
    }


@pytest.mark.parametrize(
    ("line", "to"),
    [
        (12, "paragraph PAY.DEEP"),
        (13, "field PAY.WS-STATUS"),
        (14, "program WCLASS"),
        (15, "program DSMOVOBJ"),
        (16, "field PAY.WS-SHOWN"),
        (17, "program TAXES"),
        (18, "field PAY.LONG"),
        (19, "field PAY.NUMBERED"),
        (20, "field PAY.LONG"),
        (21, None),
    ],
)
def test_a_place_may_name_an_end_by_another_word(line: int, to: str | None) -> None:
    """Copies within copies, SELECT, FD, classes, vocabularies, screens, ENTRY, columns: all say which names a statement has."""
    shown = [
        "       IDENTIFICATION DIVISION.",
        "       PROGRAM-ID. PAY.",
        "       SPECIAL-NAMES. CLASS-CONTROL. WINDOW IS CLASS 'wclass'.",
        "           SELECT LEDGER ASSIGN TO 'LEDGER'",
        "               FILE STATUS IS WS-STATUS.",
        "       DATA DIVISION.",
        "       SCREEN SECTION.",
        "       01  ASKED.",
        "           02  FILLER  PIC X  INTO WS-SHOWN.",
        "       PROCEDURE   DIVISION.",
        "       MAIN-LINE.",
        "           COPY OUTER.",
        "           READ LEDGER.",
        "           INVOKE WINDOW 'new'.",
        "           MOVE-OBJECT A B.",
        "           ACCEPT ASKED.",
        "           CALL 'TAX-OF-YEAR'.",
        "           WRITE LONGEST.",
        f"           DISPLAY {'NUMBERED':>53}00190000",
        "           READ F.",
        "           GOBACK.",
    ]
    taxes = (
        "       PROGRAM-ID. TAXES.\n       PROCEDURE DIVISION.\n           ENTRY 'TAX-OF-YEAR'.\n           GOBACK.\n"
    )
    words = "PROGRAM-ID. DsMovObj EXTERNAL.\n LINKAGE SECTION.\n INVOKED AS ==MOVE-OBJECT <a> <b>==.\n END PROGRAM DsMovObj."
    texts = {"PAY.cbl": "\n".join(shown), "OUTER.cpy": "    COPY INNER.", "INNER.cpy": " DEEP.", "WORDS.cpy": words}
    texts["UTIL.cbl"] = taxes
    texts["RECORD.cpy"] = " FD F RECORD VARYING FROM 1 TO 9\n DEPENDING ON LONG.\n 01 LONGEST PIC X(9)."
    files = named([(path, text.encode()) for path, text in texts.items()])
    judge = Citations(files, view(files))
    edge = {"from": "program NOBODY", "to": to or "field PAY.OTHER", "citations": [{"path": "PAY.cbl", "line": line}]}
    assert judge.name_an_end(edge) is (to is not None)


@pytest.mark.parametrize(
    ("line", "verb", "to", "is_named"),
    [
        (3, "part of", "field PAY.R", True),
        (8, "reads", "field PAY.OTHER", True),
        (3, "reads", "field PAY.OTHER", False),
        (7, "reads", "field PAY.AMOUNT", True),
    ],
)
def test_a_filler_and_a_screen_of_controls_are_known(line: int, verb: str, to: str, *, is_named: bool) -> None:
    """A FILLER is known by its first condition, and declared by its own entry; a control shows the item of its VALUE."""
    text = (
        " 01 R.\n 05 N PIC X.\n 05 FILLER PIC X.\n 88 IS-OK VALUE 'O'. 88 IS-BAD VALUE 'B'.\n SCREEN SECTION.\n"
        " 01 S. 03 E, ENTRY-FIELD, COL 1, VALUE AMOUNT.\n DISPLAY S.\n SET IS-BAD TO TRUE.\n"
    )
    files = named([("PAY.cbl", text.encode())])
    edge = {"from": "field PAY.IS-OK", "verb": verb, "to": to, "citations": [{"path": "PAY.cbl", "line": line}]}
    assert Citations(files, view(files)).name_an_end(edge) is is_named


@pytest.mark.parametrize(("line", "is_named"), [(4, True), (5, False)])
def test_an_accept_sets_what_the_special_names_say(line: int, *, is_named: bool) -> None:
    """The key that ended it and where the cursor was are named once, in no ACCEPT."""
    text = " SPECIAL-NAMES.\n CURSOR IS CUR-LOC\n CRT STATUS IS F-KEY. PROCEDURE DIVISION.\n ACCEPT A.\n DISPLAY A.\n"
    files = named([("PAY.cbl", text.encode())])
    for name in ("CUR-LOC", "F-KEY"):
        edge = {"from": "program NOBODY", "to": f"field PAY.{name}", "citations": [{"path": "PAY.cbl", "line": line}]}
        assert Citations(files, view(files)).name_an_end(edge) is is_named


@pytest.mark.parametrize(("side", "name"), [("PREFIX", "{}\uff0d\u91d1\u984d"), ("SUFFIX", "\u91d1\u984d\uff0d{}")])
def test_a_name_that_joining_makes_is_declared_in_the_copybook(side: str, name: str) -> None:
    """The copybook's line has the rest of the name, and a name with another word is none of it."""
    texts = {"PAY.cbl": f" COPY BOOK OF LIB JOINING \u65e7 AS {side}.", "BOOK.cpy": " 05 \u91d1\u984d PIC 9."}
    files = named([(path, text.encode()) for path, text in texts.items()])
    judge = Citations(files, view(files))
    for word, is_named in (("\u65e7", True), ("\u65b0", False)):
        to = f"field PAY.{name.format(word)}"
        edge = {"from": "program NOBODY", "to": to, "citations": [{"path": "BOOK.cpy", "line": 1}]}
        assert judge.name_an_end(edge) is is_named


@pytest.mark.parametrize("copied", [" COPY GONE.", "-INC GONE"])
@pytest.mark.parametrize(
    ("line", "to", "is_named"),
    [
        (5, "file PAY.LISTED", True),  # the copybook of its records is not here
        (6, "file PAY.LISTED", False),
        (7, "field PAY.(X)-NAME", True),
        (7, "field PAY.(X)-TOWN", False),
    ],
)
def test_a_missing_record_and_a_marked_name_are_known(line: int, to: str, copied: str, *, is_named: bool) -> None:
    """What is written and nothing declares may be of a file whose records are elsewhere; `(X)` is no part of a word."""
    text = (
        f" FD LISTED.\n{copied}\n FD KEPT.\n 01 KEPT-LINE.\n WRITE LIST-LINE.\n WRITE KEPT-LINE.\n 05 (X)-NAME PIC X.\n"
    )
    files = named([("PAY.cbl", text.encode())])
    edge = {"from": "program NOBODY", "to": to, "citations": [{"path": "PAY.cbl", "line": line}]}
    assert Citations(files, view(files)).name_an_end(edge) is is_named


@pytest.mark.parametrize(("why", "is_named"), [("line 1: MOVE may give it any value", True), ("", False)])
def test_the_place_where_a_name_is_given_counts(why: str, *, is_named: bool) -> None:
    """A queue is named where its name is moved, not where it is read."""
    files = named([("PAY.cbl", b" MOVE ASKED TO QUEUE-NAME.\n CALL 'MQGET' USING H.\n")])
    cited = [{"path": "PAY.cbl", "line": 2}]
    edge = {"from": "program NOBODY", "to": "field PAY.QUEUE-NAME", "why": why, "citations": cited}
    assert Citations(files, view(files)).name_an_end(edge) is is_named


@pytest.mark.parametrize(
    ("line", "to", "is_named"), [(3, "TC-CODE", True), (3, "TC-TOWN", False), (5, "TC-TOWN", False)]
)
def test_a_member_of_a_library_is_copied_by_its_own_name(line: int, to: str, *, is_named: bool) -> None:
    """The library of NonStop has the name of its file; what a COPY replaces is in the member that it names."""
    library = '?SECTION FIRST\n\n 05 "*"-CODE PIC X.\n?SECTION OTHER\n 05 "*"-CITY PIC X.\n'
    texts = {"PAY.cbl": ' COPY FIRST OF "=LIB" REPLACING =="*"== BY ==TC==.\n', "LIBE.cbl": library}
    files = named([(path, text.encode()) for path, text in texts.items()])
    edge = {"from": "program NOBODY", "to": f"field PAY.{to}", "citations": [{"path": "LIBE.cbl", "line": line}]}
    assert Citations(files, view(files)).name_an_end(edge) is is_named


@pytest.mark.parametrize(("to", "is_named"), [("OUT_LINE", True), ("OUT_LINES", False)])
def test_a_hyphen_may_stand_for_an_underscore(to: str, *, is_named: bool) -> None:
    """A name that nothing declares is the one that differs from it in these alone."""
    files = named([("PAY.cbl", b" 01 OUT_LINE PIC X.\n WRITE OUT-LINE.\n")])
    edge = {"from": "program NOBODY", "to": f"field PAY.{to}", "citations": [{"path": "PAY.cbl", "line": 2}]}
    assert Citations(files, view(files)).name_an_end(edge) is is_named


@pytest.mark.parametrize(("path", "is_named"), [("BOX.cbl", True), ("PAY.cbl", False)])
def test_self_is_the_class_of_its_file(path: str, *, is_named: bool) -> None:
    """A method invokes another of its own class by SELF, which is no word for the class in another file."""
    invoked = "INVOKE SELF 'fill'.\n"
    texts = {"BOX.cbl": f"{invoked} CLASS-ID. BOX.\n", "PAY.cbl": invoked}
    files = named([(name, text.encode()) for name, text in texts.items()])
    edge = {"from": "program NOBODY", "to": "program BOX", "citations": [{"path": path, "line": 1}]}
    assert Citations(files, view(files)).name_an_end(edge) is is_named


def test_a_line_that_a_literal_names_does_not_move() -> None:
    """Comments move the lines that the product names, in citations and in its own sentences, but not the words of a source."""
    text = _PROGRAM.replace("PIC X(8).", "PIC X(8) VALUE 'line 4'.").replace("'TAX' USING", "WS-AREA USING")
    text = text.replace("MOVE 'A'", "MOVE 'line 2'")
    files = named([("LEDGER.cbl", text.encode())])
    assert list(estate_laws.faults(files, view(files), random.Random(1))) == []
