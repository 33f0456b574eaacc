"""Which files with a suffix of a shop's own are copybooks?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.cobol.estate import kind_of
from penstock.scribe.gathering import gather
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = (
    "       PROGRAM-ID. P.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n{}       PROCEDURE DIVISION.\n"
)
LAYOUT = "       01 RATE-RECORD.\n          05 RATE-OF-DAY PIC 9(5).\n"
MAP = "RATES    DFHMSD TYPE=MAP\nRATE     DFHMDI SIZE=(24,80)\nDAY      DFHMDF POS=(1,1),LENGTH=5\n         DFHMSD TYPE=FINAL\n"


def _kinds(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """Return the kinds of what is gathered from some files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return {one.path: one.kind for one in gather(Root(str(folder)), ["."], kind_of).files}


@pytest.mark.parametrize(
    "line",
    [
        "           COPY 'RATES'.\n",
        "           EXEC SQL INCLUDE RATES END-EXEC.\n",
        "           EXEC SQL\n             INCLUDE RATES\n           END-EXEC.\n",
        "-INC RATES\n",
        "       ++INCLUDE RATES\n",
    ],
)
def test_what_a_program_copies_is_a_copybook_whatever_its_suffix(tmp_path: Path, line: str) -> None:
    """So is what it includes; a file that nothing names is left out."""
    files = {"P.cbl": PROGRAM.format(line), "RATES.bok": LAYOUT, "OTHER.bok": LAYOUT}
    assert _kinds(tmp_path, files) == {"P.cbl": "cobol", "RATES.bok": "copybook"}


def test_a_job_may_have_the_name_of_a_copybook(tmp_path: Path) -> None:
    """What cannot be copied takes no name from what can."""
    files = {"P.cbl": PROGRAM.format("           COPY RATES.\n"), "RATES.bok": LAYOUT, "RATES.jcl": "//RATES JOB 1\n"}
    assert _kinds(tmp_path, files) == {"P.cbl": "cobol", "RATES.bok": "copybook", "RATES.jcl": "jcl"}


@pytest.mark.parametrize(("name", "text", "kind"), [("RATES.cpy", LAYOUT, "copybook"), ("RATES.bms", MAP, "bms")])
def test_a_copybook_and_a_map_keep_their_names(tmp_path: Path, name: str, text: str, kind: str) -> None:
    """The data beside it, or a picture of the map, is none."""
    line = "           EXEC SQL INCLUDE RATES END-EXEC.\n"
    files = {"P.cbl": PROGRAM.format(line), name: text, "RATES.prn": "RATES OF THE DAY\n", "RATES": "00017\n"}
    assert _kinds(tmp_path, files) == {"P.cbl": "cobol", name: kind}
