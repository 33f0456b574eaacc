"""Do `penstock structure`, `chunk` and `document` work as people and scripts use them?"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.screens import on_terminal, plain, typed
from tests.forks import warm_penstock
from tests.scribe.author import Author
from tests.scribe.programs import program

from penstock.cli import documents as documents_cli
from penstock.cli import main, terminal
from penstock.cli import programs as programs_cli
from penstock.errors import CallerError
from penstock.models import say, sizes
from penstock.testing import LoopbackProvider
from penstock.text import tokens
from penstock.workspace import writing
from penstock.workspace.refusals import unwritten

if TYPE_CHECKING:
    from penstock.models import ScriptStep
    from penstock.workspace.root import Root

ESTATE = Path(__file__).parents[2] / "examples" / "cobol"
LARGE = "cbl/MWRATE.cbl"
ONE = "It posts the day's records."


def run(*arguments: str, cwd: Path = ESTATE, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = typed(*arguments, cwd=cwd, environment=environment)
    return done.returncode, done.stdout, done.stderr


def as_json(*arguments: str, cwd: Path = ESTATE) -> Any:
    _, out, _ = run(*arguments, "--json", cwd=cwd)
    return json.loads(out)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Document the example estate once."""
    out = tmp_path_factory.mktemp("documents")
    status, _, err = run("document", ".", "--out", str(out))
    assert (status, err) == (0, "")
    return out


@pytest.mark.proves("C-2")
def test_structure_has_the_keys_of_its_contract() -> None:
    """Programs, divisions, sections, paragraphs, performs, gotos and calls are there with their lines."""
    made = as_json("structure", "cbl/MWB010.cbl")
    (program,) = made["programs"]
    assert made["format"] == "fixed"
    assert program["name"] == "MWB010"
    assert [division["name"] for division in program["divisions"]][-1] == "PROCEDURE"
    lines = (ESTATE / "cbl/MWB010.cbl").read_bytes().splitlines()
    assert program["paragraphs"]
    for paragraph in program["paragraphs"]:
        assert paragraph["name"].encode() in lines[paragraph["start_line"] - 1]
        assert paragraph["start_line"] <= paragraph["end_line"] <= len(lines)
    for perform in program["performs"]:
        assert perform["target"].encode() in b"".join(lines[perform["line"] - 1 : perform["line"] + 2])


def test_structure_is_a_page_for_people_too() -> None:
    """Without --json each landmark is one line of text with its lines."""
    status, out, _ = run("structure", "cbl/MWB010.cbl")
    assert status == 0
    assert "program MWB010" in out
    assert "PROCEDURE DIVISION" in out


@pytest.mark.proves("C-4")
@pytest.mark.parametrize("budget", [["--max-tokens", "2000"], ["--max-prompt-tokens", "8000"]])
def test_chunks_cover_every_line_once(budget: list[str]) -> None:
    """The spans of all chunks cover the lines of the file once, and each chunk is within the budget."""
    made = as_json("chunk", LARGE, *budget)
    covered = [line for chunk in made["chunks"] for first, last in chunk["spans"] for line in range(first, last + 1)]
    assert sorted(covered) == list(range(1, made["lines"] + 1))
    assert len(made["chunks"]) > 1
    for chunk in made["chunks"]:
        assert chunk["fits"]
        assert (chunk["prompt_tokens"] or chunk["tokens"]) <= made["budget_tokens"]


@pytest.mark.proves("C-5")
def test_the_prompt_of_a_chunk_is_what_is_sent_and_within_the_budget() -> None:
    """--prompt prints instructions and body; an exact counter confirms the budget."""
    made = as_json("chunk", LARGE, "--max-prompt-tokens", "6000")
    for chunk in (made["chunks"][0], made["chunks"][-1]):
        _, prompt, _ = run("chunk", LARGE, "--max-prompt-tokens", "6000", "--prompt", chunk["id"])
        assert tokens.count(prompt, mode="exact").tokens <= 6_000
        first, last = chunk["spans"][0]
        assert f"\n{first}|" in prompt
        assert f"\n{last}|" in prompt
    status, _, err = run("chunk", LARGE, "--max-prompt-tokens", "6000", "--prompt", "nothing")
    assert status == 2
    assert "nothing" in err
    assert made["chunks"][0]["id"] in err  # what would work


@pytest.mark.proves("C-5")
def test_the_budget_may_come_from_the_environment() -> None:
    """`SCRIBE_MAX_PROMPT_TOKENS` is the budget unless a flag sets it."""
    _, out, _ = run("chunk", LARGE, "--json", environment={"SCRIBE_MAX_PROMPT_TOKENS": "9000", "PATH": "/usr/bin"})
    assert json.loads(out)["budget_tokens"] <= 9_000
    status, _, err = run("chunk", LARGE, "--max-prompt-tokens", "300")
    assert status == 2
    assert "Allow at least" in err


def test_d9_the_tokenizer_may_be_said() -> None:
    """Another family's counter gives other chunks; the budget holds for any counter."""
    plans = [
        as_json("chunk", "cbl/MWB020.cbl", "--max-prompt-tokens", "2500", *said)
        for said in ((), ("--tokenizer", "o200k"), ("--tokenizer", "somebodys-model"))
    ]
    assert plans[0]["chunks"] == plans[1]["chunks"]
    assert len(plans[2]["chunks"]) > len(plans[0]["chunks"])


def test_other_languages_are_cut_at_their_landmarks() -> None:
    """A Python file is cut by --max-tokens; without it the error says what is missing."""
    file = str(Path(__file__).relative_to(Path(__file__).parents[2]))
    made = as_json("chunk", file, "--max-tokens", "300", cwd=Path(__file__).parents[2])
    assert len(made["chunks"]) > 1
    status, _, err = run("chunk", file, cwd=Path(__file__).parents[2])
    assert status == 2
    assert "--max-tokens" in err


@pytest.mark.proves("C-12")
def test_an_estate_is_documented_without_a_model(documents: Path) -> None:
    """Every program has JSON, Markdown and a page, and is in the index; nothing that needs a model is invented."""
    index = json.loads((documents / "index.json").read_text())
    figures = json.loads((documents / "run.json").read_text())
    pages = sorted(path.stem for path in (documents / "programs").glob("*.json"))
    assert figures["programs"] == len(pages) > 10
    assert figures["calls"] == 0
    for page in pages:
        told = json.loads((documents / "programs" / f"{page}.json").read_text())
        assert told["purpose"] is None
        assert "purpose" in told["not_generated"]
        assert told["header"]["final_status"] == "code only"
        assert (documents / "programs" / f"{page}.md").read_text().startswith("# ")
        assert (documents / "programs" / f"{page}.html").exists()
        assert told["header"]["program_id"] in json.dumps(index)
    assert (documents / "index.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.proves("C-7")
def test_every_citation_in_a_document_is_on_a_line_of_its_file(documents: Path) -> None:
    """Lines are absolute, and the evidence of each citation is on its first line."""
    from penstock.cobol import scan

    checked = 0
    for path in (documents / "programs").glob("*.json"):
        told = json.loads(path.read_text())
        source = scan((ESTATE / told["header"]["file_name"]).read_bytes())
        for citation in _citations(told):
            shown = " ".join(source.shown(citation["first_line"]).split())
            assert " ".join(citation["evidence"].split()) in shown
            assert citation["last_line"] <= source.lines
            checked += 1
    assert checked > 1_000


def _citations(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [found for one in value for found in _citations(one)]
    if isinstance(value, dict):
        own = value.get("citations", [])
        return [*own, *(found for name, one in value.items() if name != "citations" for found in _citations(one))]
    return []


def test_a_second_run_writes_nothing_that_says_the_same(documents: Path, tmp_path: Path) -> None:
    """The same estate gives the same bytes, whatever the clock, the order of sets, and the order of processes."""
    again = tmp_path / "again"
    status, _, _ = run("document", ".", "--out", str(again), "--processes", "2")
    assert status == 0
    first = {path.relative_to(documents): path.read_bytes() for path in documents.rglob("*") if path.is_file()}
    second = {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    assert first == second


@pytest.mark.parametrize(
    ("name", "content", "status", "said"),
    [
        ("notes.txt", b"Nothing to see.\n", 1, "There is no COBOL here"),
        ("data.cbl", b"\0\1\2\3" * 500, 1, "it is binary"),
        ("tool.py", b"import os\n", 1, "it is python"),
        ("REC.cpy", b"       01  REC.\n           05  A PIC X.\n", 0, "No program, 1 copybook"),
    ],
)
def test_what_is_no_program_is_said_plainly(tmp_path: Path, name: str, content: bytes, status: int, said: str) -> None:
    """A text, a binary, another language and a copybook alone each have their message."""
    (tmp_path / name).write_bytes(content)
    done, out, _ = run("document", name, "--out", "docs", cwd=tmp_path)
    assert done == status
    assert said in out


def test_a_disk_that_is_full_while_pages_are_written_is_no_misuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It had the status of a mistyped command, which a script does not try again."""
    (tmp_path / "a.cbl").write_text(program(1))
    replace = writing.replace_file

    def full(self: Root, relative: bytes, *arguments: Any, **how: Any) -> Any:
        if relative.endswith(b".html"):
            raise unwritten(OSError(errno.ENOSPC, "No space left on device"), relative)
        return replace(self, relative, *arguments, **how)

    monkeypatch.setattr(writing, "replace_file", full)
    monkeypatch.chdir(tmp_path)
    assert main(["document", "a.cbl", "--out", "docs", "--json"]) == 8
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "io_error"
    assert "No space left on device" in error["message"]


def test_a_mistyped_folder_leaves_nothing_and_takes_no_site_away(tmp_path: Path) -> None:
    """If there is nothing to document, no folder is made, and an earlier site stays."""
    (tmp_path / "notes.txt").write_text("Nothing to see.\n")
    assert run("document", "notes.txt", "--out", "docs", cwd=tmp_path)[0] == 1
    assert not (tmp_path / "docs").exists()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/run.json").write_text('{"penstock_version": "0"}')
    assert run("document", "notes.txt", "--out", "docs", cwd=tmp_path)[0] == 1
    assert [path.read_text() for path in (tmp_path / "docs").iterdir()] == ['{"penstock_version": "0"}']


@pytest.mark.proves("C-21")
def test_a_folder_without_cobol_is_no_work_for_a_queue(tmp_path: Path) -> None:
    """No worker would be asked about it, so the error comes at once, before the queue is contacted."""
    (tmp_path / "notes.txt").write_text("Nothing to see.\n")
    model = ("--model", "openai-chat:m", "--base-url", "http://127.0.0.1:1/v1")
    status, _, err = run("document", ".", "--queue", "postgresql://nobody@127.0.0.1:1/none", *model, cwd=tmp_path)
    assert status == 1
    assert "There is no COBOL here, in 1 file." in err


@pytest.mark.parametrize("command", [("document", "."), ("impact", "PAY")])
def test_a_folder_whose_files_are_all_excluded_says_so(tmp_path: Path, command: tuple[str, str]) -> None:
    """A rule that is meant for compiled programs may exclude the sources, too: what is named is read."""
    (tmp_path / ".gitignore").write_text("[^.]*\n")
    (tmp_path / "PAY.cbl").write_text("       PROGRAM-ID. PAY.\n       PROCEDURE DIVISION.\n           GOBACK.\n")
    status, out, err = run(*command, cwd=tmp_path)
    assert status == 1
    assert ".gitignore excludes, are read if they are named" in out + err
    assert run(*("PAY.cbl" if word == "." else word for word in (*command, "PAY.cbl")), cwd=tmp_path)[0] == 0


@pytest.mark.proves("C-21")
def test_a_folder_that_cannot_take_the_site_is_refused_before_a_queue_asks_anybody(tmp_path: Path) -> None:
    """The folder holds somebody else's index, so no answer is paid for that could not be shown; none is made before a run."""
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path)
    (tmp_path / "public").mkdir()
    (tmp_path / "public/index.html").write_text("theirs")
    model = ("--model", "openai-chat:m", "--base-url", "http://127.0.0.1:1/v1")
    queue = ("--queue", "postgresql://nobody@127.0.0.1:1/none", *model)
    status, _, err = run("document", ".", "--out", "public", *queue, cwd=tmp_path)
    assert status == 2
    assert "public/index.html was not written by `penstock document`" in err
    assert run("document", ".", "--out", "docs", *queue, cwd=tmp_path)[0] == 8
    assert not (tmp_path / "docs").exists()


def test_a_path_that_is_not_there_is_missing(tmp_path: Path) -> None:
    """The exit status means missing, and the message names the path."""
    status, _, err = run("document", "gone", cwd=tmp_path)
    assert status == 4
    assert "gone" in err
    # Their folder would be the root, in which the name is "gone".
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "file").touch()
    for elsewhere in (str(tmp_path / "gone"), "../gone", "/gone/also", "../file/gone", r"../\x00"):
        for command in (("document", elsewhere), ("impact", "NAME", elsewhere), ("structure", elsewhere)):
            told = f"penstock: There is no file or folder {elsewhere}. Try: penstock {command[0]} --help\n"
            assert run(*command, cwd=here) == (4, "", told)
    # What is there and cannot be opened is refused as it is beneath a root.
    (tmp_path / "loop").symlink_to("loop")
    for elsewhere in ("../loop", "../" + 300 * "x"):
        assert run("structure", elsewhere, cwd=here)[0] == 3


def test_files_on_two_drives_are_in_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows no folder contains two drives: a program on another one is read, and two on different ones need a root."""

    def paths_on_two_drives(paths: list[str]) -> str:
        if len(set(paths)) > 1:
            raise ValueError("Paths don't have the same drive")
        return paths[0]

    monkeypatch.setattr(os.path, "commonpath", paths_on_two_drives)
    programs = (str(tmp_path / "c/A.cbl"), str(tmp_path / "d/B.cbl"))
    for program_file in map(Path, programs):
        program_file.parent.mkdir()
        program_file.touch()
    with documents_cli.document_command.make_context("document", [*programs]).scope():
        root, beneath = programs_cli.rooted(".", programs[:1])
        with closing(root):
            assert beneath == ("A.cbl",)
        with pytest.raises(CallerError, match=r"the same drive.*--root"):
            programs_cli.rooted(".", programs)


def test_a_file_of_another_folder_may_be_named(tmp_path: Path) -> None:
    """Without --root a person may name any file."""
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path)
    made = as_json("structure", str(tmp_path / "MWB010.cbl"))
    assert made["programs"][0]["name"] == "MWB010"
    # A name whose bytes are not text is typed as listings show it.
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path / os.fsdecode(b"caf\xe9.cbl"))
    assert as_json("structure", str(tmp_path / r"caf\xe9.cbl"))["path"] == r"caf\xe9.cbl"


@pytest.mark.proves("C-8")
@pytest.mark.proves("L-8")
@pytest.mark.parametrize("command", [("chunk",), ("structure",), ("document",), ("impact", "RATE")])
def test_a_root_that_is_typed_holds_where_it_is_the_current_folder_too(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """It is the same root as the folder's full path."""
    inside = tmp_path / "inside"
    inside.mkdir()
    shutil.copy(ESTATE / LARGE, tmp_path)
    for root in (".", str(inside)):
        status, _, said = run(*command, "../MWRATE.cbl", "--root", root, cwd=inside)
        assert (status, "../MWRATE.cbl is outside the root" in said) == (3, True), said


def test_one_more_question_brings_what_chunks_said_into_one_wording(tmp_path: Path) -> None:
    """`--reconcile` asks about each program with several chunks; citations of all chunks remain."""
    author = Author()

    def policy(request: dict[str, Any]) -> ScriptStep:
        shown = sizes.text_of(request)
        if "are to become fewer" not in shown:
            return author(request)
        groups = [len(re.findall(r"^\d+\. ", group, re.MULTILINE)) for group in shown.split("\nGroup ")[1:]]
        texts = [{"group": at, "text": ONE, "covers": list(range(1, many + 1))} for at, many in enumerate(groups, 1)]
        return say(json.dumps({"texts": texts}))

    (tmp_path / "ledger.cbl").write_text(program(40))
    with LoopbackProvider("openai-chat", 200_000, policy=policy) as provider:
        asked = ["document", "ledger.cbl", "--model", "openai-chat:x", "--base-url", provider.base_url]
        asked += ["--max-prompt-tokens", "4000"]
        plain = as_json(*asked, "--out", "plain", cwd=tmp_path)
        worded = as_json(*asked, "--out", "worded", "--reconcile", cwd=tmp_path)
    assert worded["calls"] == plain["calls"] + 1
    united, one = (
        json.loads((tmp_path / out / "programs" / "LEDGER.json").read_text())["purpose"] for out in ("plain", "worded")
    )
    assert one["summary"] == ONE != united["summary"]
    assert one["citations"] == united["citations"]


def test_a_person_at_a_terminal_sees_how_far_it_is(tmp_path: Path) -> None:
    """After a second the terminal shows what is being done and how much is left; the line is then erased."""
    author = Author()

    def policy(request: dict[str, Any]) -> ScriptStep:
        time.sleep(0.4)  # a model is slow, however fast the machine is
        return author(request)

    (tmp_path / "ledger.cbl").write_text(program(40))
    with LoopbackProvider("openai-chat", 200_000, policy=policy) as provider:
        asked = ["document", "ledger.cbl", "--out", "docs", "--model", "openai-chat:x", "--base-url", provider.base_url]
        asked += ["--max-prompt-tokens", "4000", "--jobs", "1"]
        status, drawn = on_terminal((*warm_penstock(), *asked), cwd=tmp_path, streams=("stderr",))
    assert status == 0
    assert re.search(r"chunks, \d+ s left [━╸╺]+ +\d+/4\b", plain(drawn))
    assert drawn.endswith("\x1b[2K")


def test_a_log_has_a_line_a_minute(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal, long work reports progress, and at most once a minute."""
    with terminal.ProgressLine(is_logged=True) as line:
        assert line.tell is not None
        line.tell("reading", 1, 900)
        monkeypatch.setattr(terminal, "LOG_SECONDS", -1.0)
        line.tell("pages", 20, 900)
    assert capsys.readouterr().err == "penstock: pages: 20 of 900, after 0 min\n"
    assert terminal.ProgressLine().tell is None


@pytest.mark.proves("C-12")
def test_an_interrupt_without_a_model_keeps_what_is_done(tmp_path: Path) -> None:
    """Ctrl-C while programs are read gives status 130; the same command then completes the site."""
    for number in range(30):
        (tmp_path / f"P{number}.cbl").write_bytes((ESTATE / "cbl/MWB010.cbl").read_bytes())
    command = [*warm_penstock(), "document", ".", "--out", "docs"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not list((tmp_path / "docs").glob("programs/*.json")):
            assert running.poll() is None
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        assert running.returncode == 130
    assert 0 < len(list((tmp_path / "docs").glob("programs/*.json"))) < 30
    assert run("document", ".", "--out", "docs", cwd=tmp_path)[0] == 0
    assert len(list((tmp_path / "docs").glob("programs/*.json"))) == 30


@pytest.mark.proves("C-12")
def test_a_copybook_of_a_library_is_the_one_that_is_named(tmp_path: Path) -> None:
    """`COPY REC OF B` takes b/REC.cpy, and the document says so; a copybook in any file is not another file."""
    for library, name in (("a", "LEFT"), ("b", "RIGHT")):
        (tmp_path / library).mkdir()
        (tmp_path / library / "REC.cpy").write_text(f"       01  {name}-REC.\n           05  {name}-ID PIC 9(4).\n")
    (tmp_path / "LAYOUT.cbl").write_text("       01  ALONE PIC X.\n")
    (tmp_path / "MAIN.cbl").write_text(
        "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. MAIN.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n"
        "           COPY REC OF B.\n       PROCEDURE DIVISION.\n           MOVE 1 TO RIGHT-ID.\n           GOBACK.\n"
    )
    status, out, _ = run("document", ".", "--out", "docs", cwd=tmp_path)
    assert (status, out.splitlines()[0]) == (0, "1 program, 8 lines; 3 copybooks, 0 other files.")
    made = json.loads((tmp_path / "docs/programs/MAIN.json").read_text())
    assert [used["path"] for used in made["copybooks_used"]] == ["b/REC.cpy"]
    assert [item["name"] for item in made["data_items"]] == ["RIGHT-REC", "RIGHT-ID"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is text, or is made so")
@pytest.mark.parametrize("ending", [".cbl", ".py"])
@pytest.mark.parametrize(
    "command", [("structure",), ("chunk", "--max-tokens", "400"), ("document", "--out", "docs")], ids=lambda c: c[0]
)
def test_a_name_that_is_no_text_is_shown_inert(tmp_path: Path, command: tuple[str, ...], ending: str) -> None:
    """An invalid UTF-8 byte, an escape and a line feed in a name never reach a screen or a script raw."""
    name = f"sur\udcff\x1b[31m\n{ending}"
    inert = rf"sur\xff\x1b[31m\x0a{ending}"
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path / name)
    for named in (name, inert):
        status, out, err = run(*command, named, cwd=tmp_path)
        assert status in {0, 1, 6}
        assert "Traceback" not in err
        assert "\x1b" not in out + err
        if command[0] != "document" or ending == ".py":
            assert inert in out
        status_of_json, told, _ = run(*command, named, "--json", cwd=tmp_path)
        assert status_of_json == status
        value = json.loads(told)
        assert command[0] == "document" or inert == value.get("path", value.get("file"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is text, or is made so")
def test_a_plan_for_prompts_takes_a_name_that_is_no_text(tmp_path: Path) -> None:
    """The chunks are the same as under another name, whether the name is typed raw or as shown."""
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path / "sur\udcff.cbl")
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path / "plain.cbl")
    plain = as_json("chunk", "plain.cbl", cwd=tmp_path)
    for named in ("sur\udcff.cbl", r"sur\xff.cbl"):
        assert as_json("chunk", named, cwd=tmp_path) == {**plain, "file": r"sur\xff.cbl"}
    (tmp_path / "tool\udcff.py").write_text("import os\n")
    status, _, err = run("chunk", "tool\udcff.py", cwd=tmp_path)
    assert (status, r"tool\xff.py is python" in err) == (2, True)


@pytest.mark.parametrize("name", ["server.log", "notes.txt", "notes"])
def test_text_is_cut_by_its_size_alone(tmp_path: Path, name: str) -> None:
    """A log or text is not COBOL, so nothing could be sent: without --max-tokens the error says what is missing."""
    text = "".join(f"2026-01-01 ERROR line {n}: the words of a log.\n" for n in range(400))
    (tmp_path / name).write_text(text)
    status, out, err = run("chunk", name, cwd=tmp_path)
    assert (status, out) == (2, "")
    assert f"{name} is text" in err
    assert "--max-tokens" in err
    made = as_json("chunk", name, "--max-tokens", "300", cwd=tmp_path)
    assert made["lines"] == 400
    assert len(made["chunks"]) > 10
    assert all(one["tokens"] <= 300 for one in made["chunks"])


def test_cobol_under_another_name_is_planned_for_prompts(tmp_path: Path) -> None:
    """This covers a program and data alone in a file with a neutral name, and anything that --format calls COBOL."""
    shutil.copy(ESTATE / "cbl/MWB010.cbl", tmp_path / "MWB010")
    (tmp_path / "REC.txt").write_text("       01  REC.\n           05  A PIC X.\n")
    (tmp_path / "odd.txt").write_text("Nothing to see.\n")
    for named in (["MWB010"], ["REC.txt"], ["odd.txt", "--format", "free"]):
        assert as_json("chunk", *named, cwd=tmp_path)["chunks"][0]["prompt_tokens"] > 0


def test_a_chunk_above_the_budget_is_exit_status_7(tmp_path: Path) -> None:
    """A line or statement that cannot be cut is shown and reported as too large, also by the exit status."""
    (tmp_path / "long.py").write_text(f"x = 1\ny = '{'many words ' * 400}'\n")
    literal = "".join(f"           'ITEM {n}'\n" for n in range(400))
    lines = "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. BIG.\n       PROCEDURE DIVISION.\n           DISPLAY\n"
    (tmp_path / "BIG.cbl").write_text(f"{lines}{literal}           .\n           GOBACK.\n")
    for named in (["long.py", "--max-tokens", "50"], ["BIG.cbl", "--max-tokens", "500"]):
        status, out, _ = run("chunk", *named, cwd=tmp_path)
        assert status == 7
        assert "LARGER THAN THE BUDGET" in out
        status, told, _ = run("chunk", *named, "--json", cwd=tmp_path)
        assert status == 7
        assert not all(one["fits"] for one in json.loads(told)["chunks"])
