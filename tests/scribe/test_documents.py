"""Is a program's document without a model complete in what the code says, and honest about the rest?"""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from tests.scribe.lines import Text

from penstock.chunk.template import Citation, Grade, Template, TemplateRecord, Value
from penstock.cli import main
from penstock.cobol import scan
from penstock.scribe.documenting import ScannedFile, run, subject
from penstock.scribe.documents import About, Coverage, document_of
from penstock.scribe.estate_reading import FileRead, FileReader, ReadSetup
from penstock.scribe.filling import SECTIONS, cite
from penstock.scribe.gathering import GatheredFile
from penstock.scribe.pages import NameIndex, SiteFrame, of_document

ESTATE = Path(__file__).parent.parent.parent / "examples" / "cobol" / "cbl"
PROGRAMS = sorted(path for path in ESTATE.iterdir() if path.is_file())
KEYS = {
    *("header", "purpose", "inputs", "outputs", "called_programs", "calling_context", "business_rules", "data_flow"),
    *("copybooks_used", "copybooks_not_found", "paragraphs", "error_handling", "sql_operations", "cics_operations"),
    *(
        "dli_operations",
        "mq_operations",
        "idms_operations",
        "not_understood",
        "files",
        "crud",
        "data_items",
        "constants",
        "messages",
        "dead_code",
    ),
    *("call_semantics", "complexity", "flow_diagram", "call_graph", "open_questions", "coverage", "confidence"),
    *("tickets", "not_generated", "warnings"),
}


def documented(path: Path) -> tuple[ScannedFile, list[dict[str, Any]]]:
    """Return a file of the estate and its documents."""
    ((found, documents),) = run([subject(path.read_bytes(), path.name)]).documents
    return found, documents


def items_of(value: Any) -> list[dict[str, Any]]:
    """Return everything in a document that has citations."""
    found = [value] if isinstance(value, dict) and "citations" in value else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return found + [item for one in inner for item in items_of(one)]


@pytest.mark.proves("C-12")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_document_has_all_its_keys_and_cites_code(path: Path) -> None:
    """For every program of the estate, what is listed comes from the code and cites its lines, and the document is JSON."""
    found, documents = documented(path)
    source = found.source
    for told in documents:
        assert set(told) == KEYS
        assert json.loads(json.dumps(told)) == told
        for item in items_of(told):
            assert item["origin"] == "code"
            for proof in item["citations"]:
                first, last = proof["first_line"], proof["last_line"]
                assert 1 <= first <= last <= source.lines
                assert source.is_code(first)
                assert source.is_code(last)
                assert " ".join(source.shown(first).split()).startswith(proof["evidence"])


@pytest.mark.proves("C-12")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_what_needs_a_model_is_null_and_named(path: Path) -> None:
    """Text is missing, and the document says which."""
    for told in documented(path)[1]:
        assert told["purpose"] is None
        assert told["header"]["final_status"] == "code only"
        assert {"purpose", "business_context"} <= set(told["not_generated"])
        texts = [
            item[name]
            for item in items_of(told)
            for name in ("summary", "description", "logic_summary")
            if name in item
        ]
        assert set(texts) <= {None}
        assert told["confidence"]["overall"] is None
        if told["paragraphs"]:
            assert "paragraph_summaries" in told["not_generated"]


@pytest.mark.proves("C-8")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_no_key_of_a_document_is_repeated(path: Path) -> None:
    """Items of one name are one item."""
    names = {
        "business_rules": ("rule_id",),
        "files": ("name",),
        "crud": ("resource", "kind"),
        "paragraphs": ("start_line",),
    }
    for told in documented(path)[1]:
        for section, fields in names.items():
            keys = [
                tuple(item[name].upper() if isinstance(item[name], str) else item[name] for name in fields)
                for item in told[section]
            ]
            assert len(keys) == len(set(keys))


def test_confidence_is_by_section_and_by_chunk() -> None:
    """A section has the worst chunk and the mean by claims; overall is the share of all claims that held."""
    ((found, _),) = run([subject((ESTATE / PROGRAMS[0].name).read_bytes(), "x")]).documents
    said = [
        Value(text, "model", (), (grade,)) for text, grade in [("A.", Grade("c1", 9, 1)), ("B.", Grade("c2", 1, 1))]
    ]
    template = Template.of(
        {name: (key, []) for name, key in SECTIONS.items()} | {"purpose": ((), [TemplateRecord.of({"summary": said})])}
    )
    coverage = Coverage(
        status="complete", chunks=2, grades={"purpose": (10, 2)}, chunk_grades={"c1": (9, 1), "c2": (1, 1)}
    )
    told = document_of(template, found.parts[0].facts, found.source, About(file_name="x"), coverage)
    assert told["purpose"]["summary"] == "A. B."
    assert told["purpose"]["confidence"] == 0.5
    assert told["confidence"] == {
        "overall": 0.833,
        "per_section": {"purpose": {"min": 0.5, "mean": 0.833}},
        "per_chunk": {"c1": 0.9, "c2": 0.5},
    }


def test_a_citation_begins_and_ends_on_code() -> None:
    """Blank and comment lines at both ends are cut off; if nothing else is left, there is no citation."""
    text = Text("* one\n A.\n\n B.\n* two\n")
    assert cite(text, 1, 6) == (Citation(2, 4, "A."),)
    assert cite(text, 4) == (Citation(4, 4, "B."),)
    assert cite(text, 5, 6) == cite(text, 3) == cite(text, 99) == ()


def test_what_was_made_of_a_program_is_free_as_soon_as_nobody_names_it() -> None:
    """A reference cycle would keep it until the collector runs, which took a twentieth of the time for a large estate."""

    def made() -> int:
        found, (document,) = documented(ESTATE / "MWB020.cbl")
        frame = SiteFrame("Millwater", (), NameIndex({"MWB020": document}))
        listing = list(enumerate(found.source.all_shown(), 1))
        return sum(len(text) for _, text in of_document("programs/MWB020", document, frame, listing))

    was_on = gc.isenabled()
    gc.disable()
    try:
        assert made() > 10_000  # what is made once for all programs does not count
        gc.collect()
        made()
        assert gc.collect() < 300  # some 150 belong to Jinja's macros, which refer to their page
    finally:
        if was_on:
            gc.enable()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_what_the_code_alone_says_is_listed_as_what_a_model_adds_to(path: Path) -> None:
    """Items from the code are made in one step, and equal what merging every value would give."""
    found = subject(path.read_bytes(), path.name)
    for part in found.parts:
        looked_at = {
            name: (section.key, [TemplateRecord.of(one.said or {}, one.citations) for one in section.records])
            for name, section in part.template.sections.items()
        }
        made = document_of(part.template, part.facts, found.source, found.about)
        assert made == document_of(Template.of(looked_at), part.facts, found.source, found.about)


def test_a_branch_that_does_something_twice_says_so_twice() -> None:
    """The actions of a branch are a sequence: as a set of texts, the second PERFORM was lost."""
    said = ["IF A = 1", "    PERFORM B", "    MOVE 2 TO A", "    PERFORM B", "END-IF."]
    lines = [
        "PROGRAM-ID. T.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  A PIC 9.",
        "PROCEDURE DIVISION.",
        "M.",
        *said,
    ]
    text = "".join(f"       {line}\n" for line in [*lines, "    GOBACK.", "B.", "    EXIT."])
    ((_, (document,)),) = run([subject(text, "t.cbl")]).documents
    assert document["business_rules"][0]["actions"] == ["THEN: PERFORM B", "THEN: MOVE 2 TO A", "THEN: PERFORM B"]


def test_items_of_one_name_on_one_line_are_all_listed() -> None:
    """FILLERs on a line, and all fields that a screen puts on the line of its last one, were merged into the first of them."""
    data = "01  G. 05  FILLER PIC X(3). 05  A PIC X. 05  FILLER PIC X(9) VALUE '-'.", "01  H. 05  A PIC X."
    lines = [
        "PROGRAM-ID. T.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        " ".join(data),
        "PROCEDURE DIVISION.",
        "    GOBACK.",
    ]
    ((_, (document,)),) = run([subject('      $SET SOURCEFORMAT"FREE"\n' + "\n".join(lines), "t.cbl")]).documents
    assert [(item["name"], item["offset"], item["picture"]) for item in document["data_items"]] == [
        ("G", 0, None),
        ("FILLER", 0, "X(3)"),
        ("A", 3, "X"),
        ("FILLER", 4, "X(9)"),
        ("H", 0, None),
        ("A", 0, "X"),
    ]


def test_a_table_that_a_program_declares_has_its_columns(tmp_path: Path) -> None:
    """A declared table has columns like that of a DCLGEN; of several declarations a definition is taken, else the first."""
    declared = "       EXEC SQL DECLARE {0} TABLE\n000200 ( ID CHAR(8) NOT NULL,   {1} DATE) END-EXEC.\n"
    data = declared.format("ACCT", "OPENED") + declared.format("BANK", "SINCE")
    text = f"       PROGRAM-ID. ONE.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n{data}       PROCEDURE DIVISION.\n"
    (tmp_path / "one.cbl").write_text(text + "           EXEC SQL DELETE FROM ACCT END-EXEC.\n")
    (tmp_path / "bank.sql").write_text("CREATE TABLE BANK (ID CHAR(8), NAME CHAR(30));\n")
    assert main(["document", str(tmp_path), "--root", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    told = json.loads((tmp_path / "out" / "index.json").read_text())["tables"]
    assert [(one["name"], one["path"], one["columns"]) for one in told] == [
        ("ACCT", "one.cbl", ["ID", "OPENED"]),
        ("BANK", "bank.sql", ["ID", "NAME"]),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SPECIAL-NAMES.\n           DECIMAL-POINT IS COMMA.", "it holds special names of a program, and no data"),
        ("DECIMAL-POINT IS COMMA\n           C01 IS TOP-OF-FORM", "it holds special names of a program, and no data"),
        ("PROGRAM-ID. BEEP IS EXTERNAL. PROCEDURE DIVISION.", "it holds prototypes of programs that are elsewhere"),
        ("CONSOLES ARE HERE.", "there is no COBOL in it"),
        ("NAME DS CL8     COPY OF THE RECORD", "there is no COBOL in it"),
    ],
)
def test_a_copybook_without_data_is_told_what_it_is(text: str, reason: str, tmp_path: Path) -> None:
    """Special names are COBOL; a remark in assembler does not copy a member OF."""
    file = GatheredFile("SPECIAL.cpy", "copybook", f"           {text}\n".encode())
    read = FileReader(ReadSetup(files=[file], members=[], spool=str(tmp_path)))(0)
    assert read == FileRead("nothing", reason=reason)


def test_a_file_named_after_a_whole_data_set_has_the_page_of_its_member(tmp_path: Path) -> None:
    """A copybook is one because a COPY names its member, whatever is in it."""
    code = """\
       PROGRAM-ID. PAY.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY REC.
       PROCEDURE DIVISION.
       COPY BODY.
"""
    (tmp_path / "PROD.SRC(PAY).txt").write_text(code)
    (tmp_path / "PROD.CPY(REC).txt").write_text("       01  REC-1.\n           05  REC-A PIC X.\n")
    (tmp_path / "PROD.CPY(BODY).txt").write_text("           MOVE SPACES TO REC-A.\n           GOBACK.\n")
    assert main(["document", str(tmp_path), "--root", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    copybooks = json.loads((tmp_path / "out" / "index.json").read_text())["copybooks"]
    assert [(one["name"], one["id"], one["used_by"]) for one in copybooks] == [
        ("BODY", "BODY", ["PAY"]),
        ("REC", "REC", ["PAY"]),
    ]


def test_a_copybook_with_a_remark_in_its_file_name_is_listed_as_it_is_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One is a copybook because a COPY names it, whatever is in it; data beside another, with another remark, is none."""
    code = """\
       PROGRAM-ID. PAY.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY REC.
       PROCEDURE DIVISION.
       COPY "BODY(COPY).txt".
"""
    (tmp_path / "PAY.cbl").write_text(code)
    (tmp_path / "REC(COPY).txt").write_text("       01  REC-1.\n           05  REC-A PIC X.\n")
    (tmp_path / "REC(DATA).txt").write_text("0001 A RECORD\n")
    (tmp_path / "BODY(COPY).txt").write_text("           MOVE SPACES TO REC-A.\n           GOBACK.\n")
    assert main(["document", str(tmp_path), "--root", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    copybooks = json.loads((tmp_path / "out" / "index.json").read_text())["copybooks"]
    assert [(one["name"], one["path"], one["used_by"]) for one in copybooks] == [
        ("BODY", "BODY(COPY).txt", ["PAY"]),
        ("REC", "REC(COPY).txt", ["PAY"]),
    ]
    assert "Left out, of an unknown kind: 1 .txt file (REC(DATA).txt)." in capsys.readouterr().out


def test_a_file_that_only_declares_tables_is_called_that(tmp_path: Path) -> None:
    """A DCLGEN without its record has nothing to document, and the reason says that the index lists its tables."""
    declared = b"           EXEC SQL DECLARE BANK.ACCT TABLE\n           ( ID CHAR(8) NOT NULL) END-EXEC.\n"
    file = GatheredFile("ACCT.cpy", "dclgen", declared)
    read = FileReader(ReadSetup(files=[file], members=[], spool=str(tmp_path)))(0)
    assert read == FileRead("nothing", reason="it declares tables, which the index lists, and no data")


def test_a_warning_has_its_line_and_its_words_apart() -> None:
    """What reading a file and following its control found odd is listed alike, as `penstock structure` lists it."""
    text = "       PROGRAM-ID. ODD.\n       PROCEDURE DIVISION.\n           FROBNICATE X.\n           GO TO GONE.\n"
    ((_, (told,)),) = run([subject(text, "ODD.cbl")]).documents
    assert told["warnings"] == [
        {"line": 3, "text": "not a known statement: FROBNICATE X.", "name": ""},
        {"line": 4, "text": "GO TO GONE: nothing has this name", "name": ""},
    ]


def test_a_copybook_of_unknown_suffix_may_have_the_name_of_the_program_that_copies_it(tmp_path: Path) -> None:
    """No file is its own copybook, so the program's file is not the one that its COPY names; another program's is."""
    for name in ("PAY", "TAX"):
        copies = "".join(f"       COPY {copied}.\n" for copied in {"PAY", name})
        (tmp_path / f"{name}.cbl").write_text(
            f"       PROGRAM-ID. {name}.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n{copies}"
        )
    (tmp_path / "PAY.cpz").write_text("       01  PAY-REC PIC X.\n")
    assert main(["document", str(tmp_path), "--root", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    copybooks = json.loads((tmp_path / "out" / "index.json").read_text())["copybooks"]
    assert {one["name"]: (one["path"], one["used_by"]) for one in copybooks} == {
        "PAY": ("PAY.cpz", ["PAY", "TAX"]),
        "TAX": (None, ["TAX"]),
    }


def test_a_program_that_has_the_name_of_a_missing_copybook_is_not_its_path() -> None:
    """A COPY of data takes nothing from a program of that name, so the copybook has no path."""
    program = "       PROGRAM-ID. LEDGER.\n       PROCEDURE DIVISION.\n           GOBACK.\n"
    text = f"""       PROGRAM-ID. MAIN.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY LEDGER.
{program.partition(chr(10))[2]}"""
    copied = subject(text, "MAIN.cbl", copybooks={"LEDGER": scan(program)}, paths={"LEDGER": "LEDGER.cbl"})
    ((_, (document,)),) = run([copied]).documents
    (used,) = document["copybooks_used"]
    assert (used["copybook_name"], used["found"], used["path"]) == ("LEDGER", False, None)
