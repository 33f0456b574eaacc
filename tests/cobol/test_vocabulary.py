"""Which statements do call prototypes add to a program, and what are the prototypes themselves?"""

from __future__ import annotations

from penstock.cobol import scan
from penstock.cobol.facts import facts

PROTOTYPES = """\
       PROGRAM-ID. WinFocus IS EXTERNAL.
       LINKAGE SECTION.
       01 Obj PIC 9(8) COMP-X.
       PROCEDURE DIVISION USING Obj
           INVOKED AS ==SET-FOCUS <Obj> ==.
       END PROGRAM WinFocus.
       PROGRAM-ID. WinHandle IS EXTERNAL.
       LINKAGE SECTION.
       01 Obj PIC 9(8) COMP-X.
       01 Handle PIC 9(8) COMP-X.
       PROCEDURE DIVISION USING Obj Handle
           INVOKED AS ==TAKE-HANDLE
      -    <Obj> <Handle> ==.
       END PROGRAM WinHandle.
"""
PROGRAM = """\
       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  FIELD-1 PIC 9(8) COMP-X.
       01  H PIC 9(8) COMP-X.
       01  A PIC X.
       PROCEDURE DIVISION.
       MAIN.
           TAKE-HANDLE FIELD-1 H
           IF A = 'X'
              MOVE 'Y' TO A
              set-focus field-1
           ELSE
              DISPLAY 'SET-FOCUS x'
              PERFORM TAKE-HANDLE.
           GOBACK.
       TAKE-HANDLE SECTION.
           EXIT.
"""


def test_a_statement_of_a_vocabulary_is_a_call() -> None:
    """It ends the statement before it, passes its operands, and keeps its line, whether it is copied or in the file."""
    book = scan(PROTOTYPES)
    copied = scan("       COPY WORDS.CPY.\n" + PROGRAM, copybooks=lambda name, _: book if name == "WORDS.CPY" else None)
    whole = scan(PROTOTYPES + PROGRAM)
    for source, before in (copied, 1), (whole, 14):
        (program,) = source.programs
        found = facts(source, program)
        assert [(call.target, call.parameters, call.line - before) for call in found.calls] == [
            ("WinHandle", ("FIELD-1", "H"), 10),
            ("WinFocus", ("field-1",), 13),
        ]
        assert not source.warnings
        items = {item.name: [line - before for line in item.written_lines] for item in found.items}
        assert items == {"FIELD-1": [], "H": [], "A": [12]}


def test_a_name_far_behind_its_verb_is_a_name() -> None:
    """The blanks at the end of a line, comments and the margin of the next one do not part a PERFORM from its section."""
    far = PROGRAM.replace(
        "PERFORM TAKE-HANDLE.", f"PERFORM{' ' * 49}\n      * {'-' * 60}\n{' ' * 30}TAKE-HANDLE UNTIL A = 'Y'."
    )
    (program,) = scan(PROTOTYPES + far).programs
    assert [one.target for one in program.performs] == ["TAKE-HANDLE"]


def test_a_file_of_prototypes_is_a_copybook() -> None:
    """What describes programs that are elsewhere is none, so it needs no statements; a program with statements stays one."""
    assert [(one.name, one.kind) for one in scan(PROTOTYPES).programs] == [("", "copybook")]
    described = PROGRAM.replace("ONE.", "ONE IS PROTOTYPE.")
    assert [one.name for one in scan(described).programs] == ["ONE"]
    assert [one.name for one in scan(PROTOTYPES + PROGRAM).programs] == ["ONE"]
