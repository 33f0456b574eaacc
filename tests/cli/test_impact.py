"""Does `penstock impact` print a tree for people and an object for scripts?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cobol.sources import program

from penstock.cli import main
from penstock.cli.field_growth import without_paths
from penstock.cobol.graph import CitedLine

if TYPE_CHECKING:
    import pytest

ESTATE = str(Path(__file__).parents[2] / "examples" / "cobol")


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    status = main(["impact", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return status, found


def test_the_object_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    """It has `name`, `kind` and `edges` with both ends, verb, certainty and citations with the text of their lines."""
    status, found = _json(capsys, "MW.PROD.BILLS", "--root", ESTATE, "--depth", "1")
    assert (status, found["name"], found["kind"]) == (0, "MW.PROD.BILLS", "dataset")
    edges = found["edges"]
    assert isinstance(edges, list)
    (reads,) = [edge for edge in edges if edge["verb"] == "reads"]
    assert (reads["from"], reads["to"], reads["certainty"]) == ("MWDAILY.REGISTER", "MW.PROD.BILLS", "is")
    assert reads["citations"][0] == {
        "path": "jcl/MWDAILY.jcl",
        "line": 26,
        "text": "//BILLIN   DD  DSN=&HLQ..BILLS(+1),DISP=SHR",
    }


def test_the_kind_chooses_where_several_things_have_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    """MWRATE is a program and a copybook."""
    _, both = _json(capsys, "MWRATE", "--root", ESTATE)
    _, one = _json(capsys, "MWRATE", "--root", ESTATE, "--kind", "copybook")
    assert (both["kind"], one["kind"]) == ("program, copybook", "copybook")


def test_the_tree_shows_each_edge_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Sentences are below the name, with places after them and the line beneath; an uncertain one says why."""
    assert main(["impact", "MWB020.BO-GROSS", ESTATE, "--depth", "1"]) == 0
    shown = capsys.readouterr().out
    assert "MWB020.2800-WRITE writes it" in shown
    assert "carried to MWB030.BI-GROSS  (through MW.PROD.BILLS)" in shown
    assert "ADD BO-NET BO-TAX GIVING BO-GROSS" in shown


def test_a_name_that_nothing_has_is_told_with_what_comes_near_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit status is 1, and there is a hint; of a path, its end is what can resemble a name."""
    assert main(["impact", "CU-BALANSE", ESTATE]) == 1
    assert "CU-BALANCE" in capsys.readouterr().out
    assert main(["impact", "examples/cobol/cpy/MWCUST.cpy", ESTATE]) == 1
    assert "Near it: copybook MWCUST" in capsys.readouterr().out


def test_a_name_without_its_prefix_comes_near(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A copybook's names may be completed by REPLACING; a name that several programs have is told once, as it can be asked for."""
    (tmp_path / "cust.cpy").write_text("       01 :TAG:-REC.\n          05 :TAG:-CUST-ID PIC 9(4).\n")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        copied = "COPY CUST REPLACING ==:TAG:== BY ==IN==."
        (tmp_path / name / "p.cbl").write_text(
            program("MOVE 1 TO IN-CUST-ID.", name="P", data=(copied, "01 CUST-INFO PIC X."))
        )
    for asked in ("cust-id", "CUST.CUST-ID"):
        assert main(["impact", asked, str(tmp_path), "--kind", "field", "--root", str(tmp_path)]) == 1
        assert "Near it: field IN-CUST-ID, field CUST.:TAG:-CUST-ID" in capsys.readouterr().out
        assert main(["impact", "IN-CUST-ID", str(tmp_path), "--root", str(tmp_path)]) == 0
        assert "P@" in capsys.readouterr().out


def test_a_column_is_told_with_what_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """A column is no name of the graph: its table is one, and so are the fields of programs that it meets."""
    for name in ("due_date", "bill.due_date", "mw.bill.due_date"):
        assert main(["impact", name, ESTATE]) == 1
        assert capsys.readouterr().out == f"{name} is a column of MW.BILL. Ask for the table.\n"
    assert main(["impact", "payment.bill_number", ESTATE]) == 1
    asked = "Ask for the table, or a field that is stored in it or read from it: MWB040.PAY-BILL-NUMBER."
    assert capsys.readouterr().out == f"payment.bill_number is a column of MW.PAYMENT. {asked}\n"
    assert main(["impact", "payment.due_date", ESTATE]) == 1
    assert "is a column" not in capsys.readouterr().out


def test_who_asks_for_a_column_that_grows_is_not_sent_to_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    """`--grow` takes fields alone, so only those that the column meets are named."""
    assert main(["impact", "bill.due_date", ESTATE, "--grow", "2"]) == 1
    asked = "No field is known to be stored in it or read from it."
    assert capsys.readouterr().out == f"bill.due_date is a column of MW.BILL. {asked}\n"
    assert main(["impact", "payment.bill_number", ESTATE, "--grow", "2"]) == 1
    assert "Ask for a field that is stored in it or read from it: MWB040.PAY-BILL-NUMBER." in capsys.readouterr().out


def test_a_file_is_named_once_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs of one name are told apart by their files, which a citation names anyway; another program's file stays."""
    data = ("01 F-A PIC X(3).", "01 F-B PIC X(3).")
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.cbl").write_text(program("MOVE F-A TO F-B.", "GOBACK.", name="A", data=data))
    assert main(["impact", "F-A", str(tmp_path), "--grow", "2"]) == 0
    grown = capsys.readouterr().out.splitlines()
    assert "    too short A.F-B 3 bytes, then 5: A.F-A moves to it  new/a.cbl:8" in grown
    assert "    too short A.F-B 3 bytes, then 5: A.F-A moves to it  old/a.cbl:8" in grown
    assert main(["impact", "F-A", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "  A.F-A moves to A.F-B  new/a.cbl:8" in shown
    assert shown.startswith("field A@new/a.cbl.F-A, field A@old/a.cbl.F-A\n")


def test_a_file_whose_name_begins_another_is_not_taken_for_it() -> None:
    """Members of a library have no suffix: `PAY` is no part of `PAYSUB`, whether that is cited or not."""
    said = "SUB@cur/PAYSUB.L-A: MAIN@cur/PAY.M-A passes to it"
    assert without_paths(said, [CitedLine("cur/PAY", 8)]) == "SUB@cur/PAYSUB.L-A: MAIN.M-A passes to it"
    assert (
        without_paths(said, [CitedLine("cur/PAY", 8), CitedLine("cur/PAYSUB", 9)]) == "SUB.L-A: MAIN.M-A passes to it"
    )
    assert without_paths(said, []) == said


def test_only_a_field_grows(capsys: pytest.CaptureFixture[str]) -> None:
    """A program that is asked to grow is said to be one, rather than to break nothing; so is a kind that is no field."""
    assert main(["impact", "MWB010", ESTATE, "--grow", "2"]) == 1
    assert capsys.readouterr().out == "There is no field of the name MWB010: it is the name of a program.\n"
    assert main(["impact", "MWB010", ESTATE, "--grow", "2", "--kind", "program"]) == 2
    assert "--grow takes a field, not a program." in capsys.readouterr().err


def test_a_folder_without_programs_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what to name."""
    assert main(["impact", "X", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("There are no programs here: name a folder that holds some after NAME. Hidden files, and")


def test_a_path_in_the_place_of_the_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Users of find write `impact . FIELD` and `search . PATTERN`."""
    for command, what in (("impact", "NAME"), ("search", "PATTERN")):
        assert main([command, "cbl", "CU-NUMBER", "--root", ESTATE]) == 4
        assert f"There is no CU-NUMBER, and cbl is a path: {what} comes before PATH." in capsys.readouterr().err


def test_growth_says_what_is_too_short_and_whose_length_changes(capsys: pytest.CaptureFixture[str]) -> None:
    """`--grow 2` gives sentences and rows."""
    assert main(["impact", "MWCUST.CU-NUMBER", ESTATE, "--grow", "2"]) == 0
    assert "too short MWB020.BO-CUSTOMER 8 bytes, then 10: MWB020.CU-NUMBER moves to it" in capsys.readouterr().out
    _, found = _json(capsys, "MWCUST.CU-NUMBER", "--root", ESTATE, "--grow", "2")
    rows = found["growth"]
    assert isinstance(rows, list)
    assert {"what": "record", "name": "MWB020.MWCUST-RECORD", "bytes": 619, "needed": 621}.items() <= next(
        row for row in rows if row["name"] == "MWB020.MWCUST-RECORD"
    ).items()


def test_growth_says_first_what_breaks_and_what_programs_have_alike_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The field itself comes first, then what is certainly too short, what is stored, and what only gets longer."""
    assert main(["impact", "MWCUST.CU-NUMBER", ESTATE, "--grow", "2"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == (
        "MWCUST.CU-NUMBER grows by 2 bytes: 5 break for sure, 0 may; 7 rows of files, data sets and tables; 14 get longer"
    )
    whats = [line.split()[0] for line in lines]
    order = ["field", "key", "key", "key", "too", "too", "data", "file", "file", "data", "file", "record"]
    assert whats[: len(order)] == order
    assert lines[0].endswith("cpy/MWCUST.cpy:6  in MWB020, MWB050, MWC010, MWCUST")
    assert main(["impact", "MWB030.D1-CUSTOMER", ESTATE, "--grow", "2"]) == 0
    assert ": 0 break for sure, 0 may; 2 get longer" in capsys.readouterr().out


def test_growth_adds_digits_after_the_point_if_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--decimals` without `--grow` is a usage error."""
    data = ("01 F-A PIC 9(3)V99.", "01 F-B PIC 9(5)V99.")
    (tmp_path / "a.cbl").write_text(program("MOVE F-A TO F-B.", "GOBACK.", name="A", data=data))
    assert main(["impact", "F-A", str(tmp_path), "--grow", "2"]) == 0
    assert "F-B" not in capsys.readouterr().out
    assert main(["impact", "F-A", str(tmp_path), "--grow", "2", "--decimals"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("F-A grows by 2 bytes after its point: 1 breaks for sure")
    assert "too short A.F-B 7 bytes, then 9: A.F-A moves to it" in told
    assert main(["impact", "F-A", str(tmp_path), "--decimals"]) == 2
    assert "--decimals needs --grow." in capsys.readouterr().err


def test_growth_tells_uses_of_one_field_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scratch field is filled twice and read twice."""
    moves = ("MOVE F-A TO T.", "MOVE T TO F-B.", "MOVE F-X TO T.", "MOVE T TO F-Y.", "GOBACK.")
    data = tuple(f"01 {name} PIC X(5)." for name in ("F-A", "F-B", "F-X", "F-Y", "T"))
    (tmp_path / "a.cbl").write_text(program(*moves, name="A", data=data))
    _, found = _json(capsys, "F-A", str(tmp_path), "--grow", "2")
    rows = found["growth"]
    assert isinstance(rows, list)
    assert [row["name"] for row in rows] == ["A.F-A", "A.T", "A.F-B"]


def test_what_breaks_for_sure_and_may_need_still_more_is_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has its own line."""
    data = ("01 F-A PIC X(4).", "01 F-B PIC X(5).", "01 F-C PIC X(5).")
    moves = ("MOVE F-A TO F-B.", "STRING '-' F-A DELIMITED BY ' ' INTO F-C.", "MOVE F-C TO F-B.")
    (tmp_path / "a.cbl").write_text(program(*moves, name="A", data=data))
    main(["impact", "F-A", str(tmp_path), "--grow", "2"])
    told = capsys.readouterr().out
    assert told.startswith("F-A grows by 2 bytes: 1 breaks for sure, 1 may")
    assert "too short A.F-B 5 bytes, then 6: A.F-A moves to it" in told
    assert "too short may: A.F-B 5 bytes, then 7: A.F-C moves to it" in told


def test_a_block_that_begins_on_a_line_of_its_own_shows_what_it_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`EXEC SQL` alone says nothing to a person; the object keeps the line as it is."""
    block = ("EXEC SQL", "    UPDATE BILLS SET PAID = 1", "END-EXEC.")
    (tmp_path / "a.cbl").write_text(program(*(f"    {line}" for line in block), name="A"))
    assert main(["impact", "BILLS", str(tmp_path)]) == 0
    assert "      EXEC SQL UPDATE BILLS SET PAID = 1\n" in capsys.readouterr().out
    _, found = _json(capsys, "BILLS", "--root", str(tmp_path))
    edges = found["edges"]
    assert isinstance(edges, list)
    (edge,) = edges
    assert edge["citations"][0]["text"] == "EXEC SQL"


def test_copybooks_are_the_nearest_and_hold_headers_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in documents, a folder's own copybook is used, and a copied first division counts."""
    for folder, field in (("aa", "OTHER"), ("bb", "NUM")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "REC.cpy").write_text(f"       01  REC.\n           05  {field} PIC 9(4).\n")
    (tmp_path / "bb" / "HEAD.cpy").write_text("       IDENTIFICATION DIVISION.\n       PROGRAM-ID. :P:.\n")
    head = "           COPY HEAD REPLACING ==:P:== BY ==TWO==.\n"
    data = "       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n           COPY REC.\n       PROCEDURE DIVISION.\n"
    (tmp_path / "bb" / "TWO.cbl").write_text(f"{head}{data}       A.\n           MOVE 1 TO NUM.\n")
    _, found = _json(capsys, "TWO.NUM", str(tmp_path), "--root", str(tmp_path), "--depth", "1")
    edges = {(edge["from"], edge["verb"], edge["to"]): edge["citations"] for edge in found["edges"]}  # type: ignore[attr-defined]
    assert edges["TWO.A", "writes", "TWO.NUM"][0]["path"] == "bb/TWO.cbl"
    assert edges["TWO.NUM", "declared in", "REC"][0]["path"] == "bb/REC.cpy"
