"""Are words that are statements in some dialects or places read rightly: NOTE, UNLOCK, CHAIN, SUPPRESS?"""

from __future__ import annotations

from penstock.cobol import scan
from penstock.cobol.facts import Facts, facts

from .sources import fixed, names, one, program, verbs


def test_the_words_of_a_note_are_none_of_the_language() -> None:
    """A NOTE that begins a paragraph lasts to the next header, any other to its period; a data item may have that name."""
    source = scan(
        program(
            *("MAIN.", "    MOVE W TO NOTE. NOTE CALL 'P' OR PERFORM P9.", "    DISPLAY W."),
            *(
                "P2.",
                "    NOTE WHAT FOLLOWS. IS. DONE. BY 'Q'.",
                "    CALL 'Q'.",
                "P3 SECTION.",
                "P4.",
                "    NOTE CALL 'R'.",
                "    GOBACK.",
            ),
            data=("01 W PIC X.", "01 NOTE PIC X."),
        )
        + program("MAIN.", "    GOBACK.", name="B")
    )
    found, other = source
    assert verbs(found) == ["MOVE", "NOTE", "DISPLAY", "NOTE", "NOTE"]
    assert (names(found), names(other)) == (["MAIN", "P2", "P4"], ["MAIN"])
    assert facts(source, found).calls == ()
    assert [item.read_lines for item in facts(source, found).items] == [(9, 10), ()]


def test_a_phrase_behind_unlock_is_that_of_the_statement_that_unlocks() -> None:
    """UNLOCK has no such phrase, and without a file it is an option."""
    for statement in ("READ F UNLOCK INVALID KEY MOVE W TO X END-READ", "READ F NEXT UNLOCK AT END MOVE W TO X"):
        found = one(program("MAIN.", f"    {statement}.", "    UNLOCK F.", data=("01 W PIC X.", "01 X PIC X.")))
        assert [(row.verb, row.depth) for row in found.statements if row.verb != "END-READ"] == [
            ("READ", 0),
            ("INVALID KEY" if "INVALID" in statement else "AT END", 0),
            ("MOVE", 1),
            ("UNLOCK", 0),
        ]


def test_an_item_with_the_name_of_a_verb_of_other_dialects_is_no_verb() -> None:
    """A compiler that takes `01 SERVICE` does not reserve the word: it is an operand, even where a statement could begin."""
    code = (
        "    CALL 'X' USING W",
        "        SERVICE",
        "        Y.",
        "    DISPLAY 'A', SERVICE.",
        "    COMMIT.",
        "    GOBACK.",
    )
    entries = ("01 W PIC X.", "01 SERVICE PIC X.", "01 Y PIC X.")
    source = scan(program(*code, data=entries))
    assert verbs(one(source)) == ["CALL", "DISPLAY", "COMMIT", "GOBACK"]
    items = facts(source, one(source)).items
    assert [(item.read_lines, item.passed_lines) for item in items] == [((), (9,)), ((12,), (10,)), ((), (11,))]


def test_threads_are_locked_waited_for_and_stopped_and_elsewhere_these_words_are_names() -> None:
    """Nothing behind a STOP THREAD without a handle is done; WAIT and LOCK may be paragraphs and items."""
    source = scan(
        program(
            "    MOVE 1 TO W LOCK THREAD H WAIT FOR THREAD H.",
            "    IF W = 1 WAIT LAST THREAD ELSE STOP THREAD END-IF.",
            "    PERFORM WAIT PERFORM LOCK.",
            "    MOVE LOCK-1 TO WAIT-1 STOP THREAD H.",
            "ENDED.",
            "    STOP THREAD.",
            "WAIT.",
            "    READ F WITH LOCK.",
            "LOCK.",
            "    GOBACK.",
            data=("01 W PIC X.", "01 H HANDLE OF THREAD.", "01 LOCK-1 PIC X.", "01 WAIT-1 PIC X."),
        )
    )
    found = one(source)
    assert [verb for verb in verbs(found) if verb != "END-IF"] == [
        *("MOVE", "LOCK THREAD", "WAIT", "IF", "WAIT", "ELSE", "STOP THREAD", "PERFORM", "PERFORM", "MOVE", "STOP"),
        *("STOP THREAD", "READ", "GOBACK"),
    ]
    assert names(found) == ["", "ENDED", "WAIT", "LOCK"]
    said = facts(source, found)
    assert said.unread == ()
    assert [one.falls_into for one in said.paragraphs if one.name == "ENDED"] == [None]


def test_what_a_chain_passes_is_passed_and_its_target_is_read() -> None:
    """As with CALL, the other program has the item from then on."""
    data = ("01 W PIC X(8).", "01 X PIC X.")
    source, called = (scan(program("MAIN.", f"    {verb} W USING X.", data=data)) for verb in ("CHAIN", "CALL"))
    found = facts(source, one(source))
    assert [(call.target, call.parameters) for call in found.calls] == [("W", ("X",))]
    assert [item.read_lines for item in found.items] == [(9,), ()]
    assert found.uses == facts(called, one(called)).uses


def test_suppress_alone_is_a_statement() -> None:
    """PRINTING may be left out: SUPPRESS within a paragraph is not a paragraph."""
    found = one(program("MAIN.", "    DISPLAY 1.", "    SUPPRESS.", "    GOBACK."))
    assert (names(found), verbs(found)) == (["MAIN"], ["DISPLAY", "SUPPRESS", "GOBACK"])


def test_three_bars_are_a_comment_and_two_join_texts() -> None:
    """An ACUCOBOL comment starts with one bar, and people draw lines of many; SQL joins texts with two."""
    lines = (
        "MAIN.",
        "    DISPLAY 1",
        "    ||||||||||||",
        "    |||START F",
        "    .",
        "    EXEC SQL SELECT A || B",
        "    || C INTO :W FROM T END-EXEC.",
    )
    source = scan(program(*lines))
    assert [source.is_code(line) for line in range(5, 11)] == [True, False, False, True, True, True]
    assert "A || B || C" in one(source).execs[0].text


def test_to_acucobol_an_underscore_is_a_hyphen() -> None:
    """A name that nothing declares is the declared one that differs in this alone; a reserved word and a column are not."""
    data = (
        "01  LOGO-SMALL PIC 9(9).", "01  return_code PIC 9.", "01  A_B PIC X.", "01  A-B PIC X.", "01  C_D PIC X.",
        "01  K-1 PIC 9(4).", "SCREEN SECTION.", "01  S.", "    05  BITMAP, BITMAP-HANDLE LOGO_SMALL.",
    )  # fmt: skip
    lines = (
        "M.", "    PERFORM TO_DATE.", "    PERFORM OF-ALL.", "    MOVE 1 TO LOGO_SMALL RETURN-CODE.", "    MOVE A_B TO A-B.",
        "    MOVE A_B TO C-D.", "    EXEC SQL SELECT K_1 INTO :K-1 FROM T END-EXEC.", "    DISPLAY S.", "    GOBACK.",
        "TO-DATE.", "    EXIT.", "OF_ALL SECTION.", "    EXIT.",
    )  # fmt: skip
    source = scan(program(*lines, data=data))
    found = facts(source, source.programs[0])
    uses = {item.name: (len(item.read_lines), len(item.written_lines)) for item in found.items}
    assert uses == {
        "LOGO-SMALL": (2, 1),
        "return_code": (0, 0),
        "A_B": (2, 0),
        "A-B": (0, 1),
        "C_D": (0, 1),
        "K-1": (0, 1),
        "S": (1, 0),
        "BITMAP": (0, 0),
    }
    assert found.outside == ()
    assert [paragraph.called_by for paragraph in found.paragraphs] == [(), ("M",), ("M",)]


def test_the_british_spellings_of_words_say_the_same() -> None:
    """GnuCOBOL reserves both: an item that is cleared is written, and a program's name in it is gone."""

    def read(initialize: str, organization: str, synchronized: str) -> tuple[list[str], Facts]:
        source = scan(
            fixed(
                *("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "ENVIRONMENT DIVISION.", "INPUT-OUTPUT SECTION."),
                *("FILE-CONTROL.", f"    SELECT F ASSIGN 'F.TXT' {organization} LINE SEQUENTIAL STATUS S."),
                *("DATA DIVISION.", "FILE SECTION.", "FD F.", "01 R PIC X(9).", "WORKING-STORAGE SECTION."),
                *("01 S PIC 99.", "01 G.", "    02 A PIC X.", f"    02 N PIC 9(4) COMP {synchronized}."),
                *(f"    02 {synchronized} PIC 9(4) COMP.", "01 W PIC X VALUE 'B'.", "PROCEDURE DIVISION."),
                *(f"    {initialize} G REPLACING NUMERIC DATA BY S.", f"    {initialize} W.", "    CALL W."),
            )
        )
        return [entry.name for entry in source.programs[0].entries], facts(source, source.programs[0])

    entries, found = read("INITIALISE", "ORGANISATION", "SYNCHRONISED")
    known_entries, known = read("INITIALIZE", "ORGANIZATION", "SYNCHRONIZED")
    assert entries == known_entries
    assert (found.files, found.items) == (known.files, known.items)
    assert (found.uses, found.moves, found.calls) == (known.uses, known.moves, known.calls)
    assert [item.name for item in found.items if item.written_lines] == ["G", "W"]
    assert [file.assign for file in found.files] == [("'F.TXT'",)]
