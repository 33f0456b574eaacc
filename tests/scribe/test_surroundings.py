"""Are the callers, transactions and jobs in a document those of the graph?"""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.cobol.sources import fixed, program, with_file

from penstock.scribe import document
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("C-16")


def documented(folder: Path, files: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what surrounds the program of each file, and the index of the estate."""
    for name, text in files.items():
        path = folder / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with closing(Root(str(folder / "src"))) as root:
        document(["."], root=root, out=str(folder / "out"))
    found = {}
    for path in (folder / "out" / "programs").glob("*.json"):
        made = json.loads(path.read_text())
        context = made["calling_context"]
        found[made["header"]["file_name"]] = [context[name] for name in ("called_by", "transactions", "jobs")]
    return found, json.loads((folder / "out" / "index.json").read_text())


def test_a_call_of_an_item_is_no_call_of_the_program_of_its_name(tmp_path: Path) -> None:
    """What ACCEPT brings decides what is called; a name that nothing declares is that of a program, if there is one."""
    item = program("    ACCEPT INNER.", "    CALL INNER.", "    GOBACK.", name="A", data=("01  INNER PIC X(8).",))
    none = program("    CALL INNER.", "    GOBACK.", name="B")
    files = {"a.cbl": item, "b.cbl": none, "inner.cbl": program("    GOBACK.", name="INNER")}
    found, _ = documented(tmp_path, files)
    assert found["inner.cbl"] == [["B"], [], []]


def test_a_program_that_only_a_job_runs_is_batch(tmp_path: Path) -> None:
    """Its parameter may look like that of a subroutine; what a program calls besides, or nothing runs, stays one."""
    data = ("LINKAGE SECTION.", "01  ASKED.", "    05  PIC X(2).", "    05  DAY-ASKED PIC X(8).")
    codes = {
        name: program("    GOBACK.", name=name, data=data).replace(
            "PROCEDURE DIVISION", "PROCEDURE DIVISION USING ASKED"
        )
        for name in ("ALONE", "BOTH", "NEITHER")
    }
    files = {f"{name}.cbl": text for name, text in codes.items()}
    files["CALLS.cbl"] = program("    CALL 'BOTH'.", "    GOBACK.", name="CALLS")
    files["DAILY.jcl"] = "//DAILY JOB\n//ONE EXEC PGM=ALONE,PARM='20260101'\n//TWO EXEC PGM=BOTH,PARM='20260101'\n"
    _, index = documented(tmp_path, files)
    told = {}
    for name in codes:
        header = json.loads((tmp_path / "out" / "programs" / f"{name}.json").read_text())["header"]
        told[name] = header["program_type"], header["program_type_reason"]
    of_index = {one["program_id"]: one["program_type"] for one in index["programs"]}
    assert {name: of_index[name] for name in told} == {name: kind for name, (kind, _) in told.items()}
    called = ("subroutine", "PROCEDURE DIVISION has USING ASKED")
    assert told == {"ALONE": ("batch", "a job runs it, and no program calls it"), "BOTH": called, "NEITHER": called}


def test_a_program_that_calls_itself_is_one_of_its_callers(tmp_path: Path) -> None:
    """By its own name, or as the program of the transaction that it starts."""
    again = program("    EXEC CICS START TRANSID('STCK') END-EXEC.", "    GOBACK.", name="B")
    files = {
        "a.cbl": program("    CALL 'A'.", "    CALL 'B'.", "    GOBACK.", name="A"),
        "b.cbl": again,
        "r.csd": "DEFINE TRANSACTION(STCK) GROUP(G) PROGRAM(B)\n",
    }
    found, _ = documented(tmp_path, files)
    assert found == {"a.cbl": [["A"], [], []], "b.cbl": [["A", "B"], ["STCK"], []]}


def test_of_two_programs_of_a_name_the_one_that_is_run_has_the_job_and_the_data(tmp_path: Path) -> None:
    """A copy that keeps its PROGRAM-ID is started by nothing."""
    reading = with_file("STOCK")
    files = {
        "OLDSTOCK.cbl": reading,
        "STOCK.cbl": reading,
        "r.csd": "DEFINE TRANSACTION(STCK) GROUP(G) PROGRAM(STOCK)\n",
        "j.jcl": "//J JOB\n//S EXEC PGM=STOCK\n//DD1 DD DSN=A.B,DISP=SHR\n",
        "k.jcl": "//K JOB\n//S EXEC PGM=OLDSTOCK\n",
    }
    found, index = documented(tmp_path, files)
    assert found == {"OLDSTOCK.cbl": [[], [], ["K"]], "STOCK.cbl": [[], ["STCK"], ["J"]]}
    (bound,) = index["data_sets"]
    at = {one["id"]: one["file_name"] for one in index["programs"]}
    assert at[bound["program"]] == "STOCK.cbl"
    assert {one["name"]: [at[page] for page in one["runs"]] for one in index["jobs"]} == {
        "J": ["STOCK.cbl"],
        "K": ["OLDSTOCK.cbl"],
    }
    text = (tmp_path / "out" / "index.md").read_text()
    (entrances,) = re.findall(r"(?s)## How it is entered\n(.*?)\n## ", text)
    assert {(job, at[page]) for job, page in re.findall(r"`([JK])` .*?\(programs/([^)]*)\.md\)", entrances)} == {
        ("J", "STOCK.cbl"),
        ("K", "OLDSTOCK.cbl"),
    }
    boxes = dict(re.findall(r'(n\d+)\W+"([JK])"', text))
    arrows = {boxes[job]: box for job, box in re.findall(r"(n\d+) --> (n\d+)", text) if job in boxes}
    assert len(set(arrows.values())) == 2  # each leads to the box of its own program


def test_names_with_an_at_sign_are_whole(tmp_path: Path) -> None:
    """An @ also stands before the path that tells two programs or jobs of a name apart."""
    calling = program("    CALL 'B@1'.", "    CALL 'B@2'.", "    GOBACK.", name="A@1")
    files = {
        "a.cbl": calling,
        "b.cbl": program("    GOBACK.", name="B@1"),
        "c.cbl": program("    GOBACK.", name="B@2"),
        "x/j.jcl": "//J@1 JOB\n//S EXEC PGM=B@1\n",
        "y/j.jcl": "//J@1 JOB\n//S EXEC PGM=B@2\n",
    }
    found, index = documented(tmp_path, files)
    run = {"b.cbl": "J@1@x/j.jcl", "c.cbl": "J@1@y/j.jcl"}
    assert found == {"a.cbl": [[], [], []], **{path: [["A@1"], [], [job]] for path, job in run.items()}}
    assert [one["runs"] for one in index["jobs"]] == [["B@1"], ["B@2"]]
    assert not index["missing"]


def test_where_a_region_enters_a_program_is_no_name_of_it(tmp_path: Path) -> None:
    """Every program under IMS may have the entry DLITCBL."""
    entered = program("    ENTRY 'DLITCBL'.", "    GOBACK.", name="A")
    found, index = documented(tmp_path, {"a.cbl": entered, "j.jcl": "//J JOB\n//S EXEC PGM=DLITCBL\n"})
    assert found == {"a.cbl": [[], [], []]}
    assert index["jobs"][0]["runs"] == []


def test_a_caller_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    """As the graph calls it."""
    nameless = fixed("PROCEDURE DIVISION.", "    CALL 'B'.", "    GOBACK.")
    found, _ = documented(tmp_path, {"a.cbl": nameless, "b.cbl": program("    GOBACK.", name="B")})
    assert found["b.cbl"] == [["A"], [], []]


def test_steps_without_a_card_are_a_job_in_the_index_too(tmp_path: Path) -> None:
    """With the programs that they run and the data that these read; a member that another one runs is a procedure."""
    reading = with_file("A")
    steps = "//* each night\n//S EXEC PGM=A\n//DD1 DD DSN=A.B,DISP=SHR\n"
    files = {"a.cbl": reading, "NIGHT.jcl": steps, "PART.jcl": steps, "WHOLE.jcl": "//WHOLE JOB\n//T EXEC PART\n"}
    found, index = documented(tmp_path, files)
    assert found["a.cbl"] == [[], [], ["NIGHT", "WHOLE"]]
    told = {one["name"]: (one["kind"], one["runs"]) for one in index["jobs"]}
    assert told == {"NIGHT": ("job", ["A"]), "PART": ("procedure", []), "WHOLE": ("job", ["A"])}
    assert [(one["dataset"], one["job"]) for one in index["data_sets"]] == [("A.B", "NIGHT"), ("A.B", "WHOLE")]
