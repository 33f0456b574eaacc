"""Which lengths that a program states about a growing field are wrong: in INSPECT, with GnuCOBOL as oracle, and in CICS?"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.cobol.test_growth_compared import grown

if TYPE_CHECKING:
    from pathlib import Path

DATA = (
    "78 FOUR VALUE 'WXYZ'.", "01 B PIC X(4).", "01 C PIC X(5).", "01 E PIC X(40).", "01 N PIC 9(4).",
    "01 G. 05 A PIC X({}). 05 F PIC X.", "01 H PIC X(5).",
)  # fmt: skip
STATEMENTS: tuple[tuple[str, set[str]], ...] = (
    ("INSPECT E REPLACING ALL A BY B", {"B"}),
    ("INSPECT E REPLACING LEADING B BY A", {"B"}),
    ("INSPECT E REPLACING FIRST 'QRST' BY A AFTER C", {"A"}),
    ("INSPECT E REPLACING ALL 'X' BY 'Y' A BY 'Q''RS' BEFORE INITIAL C", {"A"}),
    ("INSPECT E REPLACING ALL A BY SPACES", set()),
    ("INSPECT E REPLACING ALL 'X' BY 'Y' AFTER A", set()),
    ("INSPECT E CONVERTING A TO B BEFORE C", {"B"}),
    ("INSPECT E CONVERTING N TO A", {"N"}),
    ("INSPECT E CONVERTING A TO FOUR", {"A"}),
    ("INSPECT E CONVERTING 'ABCD' TO A AFTER B", {"A"}),
    ("INSPECT E CONVERTING A TO SPACE", set()),
    ("INSPECT E CONVERTING A(1:2) TO B(1:2)", set()),
    ("INSPECT E CONVERTING G TO H", {"H"}),
    ("INSPECT E TALLYING N FOR ALL A REPLACING ALL A BY B", {"B"}),
    ("INSPECT A REPLACING ALL B BY FOUR", set()),
)


@pytest.mark.needs("cobc")
def test_what_an_inspect_replaces_has_as_many_characters_or_the_compiler_refuses_it(tmp_path: Path) -> None:
    """Each statement compiles with the field; with the longer field, exactly the reported ones do not."""
    refused = []
    for length in (4, 6):
        lines = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
        lines += [*(one.format(length) for one in DATA), "PROCEDURE DIVISION."]
        source = tmp_path / "p.cob"
        source.write_text("\n".join([*lines, *(f"    {one}." for one, _ in STATEMENTS), "    STOP RUN."]) + "\n")
        command = ["cobc", "-fsyntax-only", "-free", "-w", "-std=default", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        refused.append({int(at) - len(lines) - 1 for at in re.findall(r":(\d+): error: .*differ in size", done.stderr)})
        assert len(refused[-1]) == done.stderr.count("error:"), done.stderr
    assert refused == [set(), {at for at, (_, named) in enumerate(STATEMENTS) if named}]
    for statement, named in STATEMENTS:
        found = grown("A", 2, *(one.format(4) for one in DATA), "PROCEDURE DIVISION.", f"    {statement}.")
        told = [one for one in found if one.what == "unequal"]
        assert {one.node.name.removeprefix("P.") for one in told} == named, statement
        assert all(one.certainty == "is" and one.needed_bytes == (one.bytes or 0) + 2 for one in told), told


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("LINK PROGRAM('Q') COMMAREA(R) LENGTH(10)", "is"),
        ("XCTL PROGRAM('Q') COMMAREA(R) LENGTH(TEN)", "is"),
        ("RETURN TRANSID('T1') COMMAREA(R) LENGTH(N)", "may"),
        ("LINK PROGRAM('Q') COMMAREA(R) LENGTH(M)", "may"),  # a MOVE gives it the value
        ("WRITEQ TS QUEUE('Q') FROM(R) LENGTH(11)", "is"),  # it was more than enough
        ("WRITEQ TS QUEUE('Q') FROM(R) LENGTH(12)", None),
        ("WRITEQ TS QUEUE('Q') FROM(R) LENGTH(4)", None),
        ("WRITEQ TS QUEUE('Q') FROM(R) LENGTH(LENGTH OF R)", None),
        ("READ FILE('F') INTO(R) RIDFLD(K) LENGTH(10) KEYLENGTH(3)", "is"),
        ("READ FILE('F') INTO(S) RIDFLD(K) KEYLENGTH(10)", None),
        ("READ FILE('F') INTO(S) RIDFLD(R) KEYLENGTH(10)", "is"),
        ("LINK PROGRAM('Q') COMMAREA(S) LENGTH(10)", None),
    ],
)
def test_a_length_in_figures_is_too_small_for_the_longer_area(command: str, said: str | None) -> None:
    """The length may be a number, a level 78, or any value that an item can have."""
    data = (
        "78 TEN VALUE 10.", "01 R. 05 A PIC X(8). 05 B PIC XX.", "01 S PIC X(10).", "01 K PIC X(10).",
        "01 N PIC S9(4) COMP VALUE +10.", "01 M PIC S9(4) COMP.",
    )  # fmt: skip
    found = grown("A", 2, *data, "PROCEDURE DIVISION.", "    MOVE 10 TO M.", f"    EXEC CICS {command} END-EXEC.")
    told = [one for one in found if one.what == "length"]
    assert [one.certainty for one in told] == ([said] if said else [])
    assert all((one.node.name, one.needed_bytes) == ("P.R", 12) for one in told), told
