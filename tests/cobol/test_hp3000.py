"""Are the programs of the HP 3000 read: switches of the compiler, parameters in backslashes, names of files with their devices?"""

from __future__ import annotations

import pytest

from penstock.cobol import ScannedSource, scan
from penstock.cobol.facts import facts

pytestmark = pytest.mark.proves("C-14")


def source_of(*lines: str) -> ScannedSource:
    """Return a source of numbered lines; those that begin with $ or D have it in the seventh column."""
    return scan(
        "".join(f"{at:04}00{one if one[0] in '$D' else ' ' + one}\n" for at, one in enumerate(lines, 1)).encode()
    )


@pytest.mark.parametrize(
    ("lines", "kept", "is_warned"),
    [
        (("$SET X1=OFF", "$IF X1=ON", "ONE", "$IF", "TWO"), {"TWO"}, False),
        (("$SET X1=OFF, X2=ON", "$IF X1=OFF", "ONE", "$IF X2=ON", "TWO", "$IF X2=OFF", "THREE"), {"ONE", "TWO"}, False),
        (("$SET X1=ON", "$SET X1=OFF", "$IF X1=ON", "ONE", "$IF", "TWO"), {"TWO"}, False),
        (("$IF X1=ON", "ONE", "$IF X1=OFF", "TWO", "$IF", "THREE"), {"ONE", "TWO", "THREE"}, True),
        (("$IF X2=ON", "$SET X1=ON", "$IF", "$IF X1=ON", "ONE", "$IF", "TWO"), {"ONE", "TWO"}, True),
    ],
)
def test_switches_choose_what_is_compiled(lines: tuple[str, ...], kept: set[str], is_warned: bool) -> None:
    """$IF holds up to the next $IF; a switch that the source does not set may be set at the compiler, which is reported."""
    source = source_of(
        "$CONTROL USLINIT",
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        *(f"{one:<66}060831MA" if one[0] == "$" else f"    PERFORM {one}." for one in lines),
        "    STOP RUN.",
        *(line for name in ("ONE", "TWO", "THREE") for line in (f"{name}.", "    EXIT.")),
    )
    assert {edge.name for edge in facts(source, source.programs[0]).edges} == kept
    assert any("which is compiled" in warning.text for warning in source.warnings) == is_warned


def program(name: str, computer: str, *lines: str) -> tuple[str, ...]:
    """Return a program with a line for debugging."""
    head = ("IDENTIFICATION DIVISION.", f"PROGRAM-ID. {name}.", "ENVIRONMENT DIVISION.", *lines)
    return (*head, computer, "PROCEDURE DIVISION.", "MAIN.", "D    DISPLAY 1.", "    GOBACK.", f"END PROGRAM {name}.")


def test_lines_for_debugging_are_code_of_the_programs_that_ask_for_it() -> None:
    """Each program of a source has its SOURCE-COMPUTER; one that a switch leaves out does not count."""
    source = source_of(
        *program("A", "SOURCE-COMPUTER. HP3000."),
        *program("B", "SOURCE-COMPUTER. HP3000 WITH DEBUGGING MODE."),
        *program("C", "SOURCE-COMPUTER. HP3000."),
        *program("D", "$IF", "$SET X1=OFF", "$IF X1=ON", "SOURCE-COMPUTER. HP3000 WITH DEBUGGING", "    MODE."),
        *program("E", "$IF", "$SET X1=ON", "$IF X1=ON", "SOURCE-COMPUTER. HP3000 WITH DEBUGGING", "    MODE."),
        "$IF X1=OFF",
        "D    DISPLAY 2.",
    )
    debugged = [number for number, kind in enumerate(source.kinds, 1) if kind == "debug"]
    assert [source.is_code(number) for number in debugged] == [False, True, False, False, True, False]
