"""Does the command line work as people and scripts use it: text, one JSON object, an exit status?"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cli.screens import on_terminal, plain, typed
from tests.forks import warm_penstock

from penstock.cli import main, queues
from penstock.errors import CallerError
from penstock.store import open_store

ROOT = Path(__file__).parent.parent.parent


def run(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    return typed(*arguments, cwd=cwd, stdin=stdin, environment={**os.environ, **environment})


def as_json(*arguments: str, cwd: Path) -> tuple[Any, int]:
    done = run(*arguments, "--json", cwd=cwd)
    return json.loads(done.stdout), done.returncode


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "big.txt").write_text("".join(f"line {n}\n" for n in range(1, 251)))
    (tmp_path / "src" / "app.py").write_text("import os\n\n\ndef main():\n    return 1\n" * 40)
    (tmp_path / "src" / "b.py").write_text("x = 1\n")
    (tmp_path / "data.bin").write_bytes(b"\x7fELF\0\0\0")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "noise.log").write_text("x\n")
    return tmp_path


@pytest.mark.proves("V-1", "V-3", "V-4")
def test_view_prints_a_header_a_numbered_page_and_a_command_that_goes_on(tree: Path) -> None:
    """The printed command runs as it is and shows the next page."""
    first = run("view", "big.txt", cwd=tree)
    header, line_one, *_ = first.stdout.splitlines()
    assert "showing lines 1-100 of 250 total" in header
    assert line_one == "1|line 1"
    following = re.search(r"next: (penstock view [^|]+)", header)
    assert following
    again = run(*shlex.split(following[1])[1:], cwd=tree)
    assert "showing lines 101-200 of 250 total" in again.stdout.splitlines()[0]


def test_the_next_command_repeats_the_root(tree: Path) -> None:
    """The next command of a page shown with --root has --root too."""
    header = run("view", "big.txt", "--root", str(tree), cwd=Path("/")).stdout.splitlines()[0]
    assert header.endswith(f"--root {tree}")


def test_view_as_json_has_the_keys_of_the_contract(tree: Path) -> None:
    """Scripts rely on these keys."""
    value, status = as_json("view", "big.txt", "--offset", "240", cwd=tree)
    assert status == 0
    assert value["text"] == "".join(f"line {n}\n" for n in range(241, 251))
    assert {
        "path": "big.txt",
        "start_line": 241,
        "end_line": 250,
        "total_lines": 250,
        "total_lines_exact": True,
        "total_bytes": (tree / "big.txt").stat().st_size,
        "fragment": None,
        "escaped": 0,
        "encoding": "UTF-8",
        "stale": False,
        "bound": "end",
        "next": None,
        "notices": [],
    }.items() <= value.items()
    previous = value["previous"]
    assert previous == {"file_path": "big.txt", "offset": 140, "version": previous["version"]}
    assert (
        as_json("view", "big.txt", "--offset", "140", "--version", previous["version"], cwd=tree)[0]["stale"] is False
    )


def test_read_pages_join_to_the_file(tree: Path) -> None:
    """Following `next` in the JSON output gives every byte once."""
    arguments, text = ["--start-byte", "0", "--max-bytes", "300"], ""
    while True:
        value, status = as_json("read", "big.txt", *arguments, cwd=tree)
        assert status == 0
        text += value["text"]
        if value["next"] is None:
            break
        following = value["next"]
        assert following.pop("path") == "big.txt"
        arguments = [word for name, given in following.items() for word in (f"--{name.replace('_', '-')}", str(given))]
    assert text == (tree / "big.txt").read_text()


def test_outline_as_json_lists_landmarks(tree: Path) -> None:
    """Each landmark has a name and its lines."""
    value, status = as_json("outline", "src/app.py", "--limit", "2", cwd=tree)
    assert status == 0
    assert value["items"][0]["start_line"] == 4
    assert value["total"] == 40
    assert value["next"] == {"path": "src/app.py", "limit": 2, "offset": 2}


@pytest.mark.proves("L-1", "L-5")
def test_list_count_and_search_as_json(tree: Path) -> None:
    """All three report what they left out."""
    value, status = as_json("list", "*.py", "--recursive", cwd=tree)
    assert (value["items"], value["total"], status) == (["src/app.py", "src/b.py"], 2, 0)
    value, _ = as_json("list", "--recursive", cwd=tree)
    assert (value["omitted"]["ignored"], value["omitted"]["hidden"]) == (1, 1)
    value, status = as_json("count", cwd=tree)
    assert (value["files"], status) == (4, 0)
    assert value["by_extension"][0]["extension"] == ".py"
    assert {"files", "bytes", "tokens", "by_extension", "omitted"} <= value.keys()
    value, status = as_json("search", r"def \w+", "src", "--limit", "3", cwd=tree)
    assert (value["files"], status) == ([{"path": "src/app.py", "count": 40}], 0)
    assert value["matches"][0] == {"path": "src/app.py", "line": 4, "text": "def main():", "clipped": False}
    assert value["complete"] is True
    assert value["next"]["offset"] == 3


def test_tokens_of_a_file_and_of_standard_input(tree: Path) -> None:
    """Both say how the number was obtained."""
    value, status = as_json("tokens", "big.txt", cwd=tree)
    assert status == 0
    assert value["low"] <= value["tokens"] <= value["high"]
    piped = json.loads(run("tokens", "-", "--json", cwd=tree, stdin=(tree / "big.txt").read_bytes()).stdout)
    assert piped["low"] <= value["tokens"] <= piped["high"]
    exact = json.loads(run("tokens", "big.txt", "--mode", "exact", "--json", cwd=tree).stdout)
    assert exact["low"] == exact["tokens"] == exact["high"]


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["view", "nothing.txt"], 4, "not_found"),
        (["view", "/etc/passwd"], 3, "outside_root"),
        (["view", "../x"], 3, "outside_root"),
        (["view", "data.bin"], 3, "binary"),
        (["view", "src"], 3, "is_directory"),
        (["view", "big.txt", "--offset", "-1"], 2, "bad_argument"),
        (["view", "big.txt", "--offset", "x"], 2, "usage"),
        (["view", "big.txt", "--root", "nowhere"], 4, "not_found"),
        (["view"], 2, "usage"),
        (["nonsense"], 2, "usage"),
        (["violations", "big.txt"], 2, "usage"),
        (["search", "(a"], 2, "bad_pattern"),
        (["read", "big.txt", "--start-byte", "0", "--version", "zz"], 2, "bad_argument"),
        (["tokens", "nothing.txt"], 4, "not_found"),
        (["tokens", "big.txt", "--model", "o200k", "--mode", "guess"], 2, "usage"),
    ],
)
@pytest.mark.proves("L-8")
def test_an_error_is_one_object_with_a_code_and_an_exit_status(
    tree: Path, arguments: list[str], status: int, code: str
) -> None:
    """With --json only the object is printed; without it, one line on standard error."""
    value, actual = as_json(*arguments, cwd=tree)
    assert (value["error"]["code"], actual) == (code, status)
    assert value["error"].keys() == {"code", "message", "try"}
    plain = run(*arguments, cwd=tree)
    assert (plain.stdout, plain.returncode) == ("", status)
    assert plain.stderr.startswith("penstock: ")
    assert plain.stderr.count("\n") == 1


def test_a_missing_file_has_one_wording(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The wording is the same whether a command reads the file itself, through the workspace or as a script."""
    monkeypatch.chdir(tree)
    for command in ("view", "bill", "violations --wire gemini", "diagnose", "tokens", "run hello --model"):
        name = "scripted:no\x1b.txt" if "--model" in command else "no\x1b.txt"
        assert main([*command.split(), name]) == 4
        assert capsys.readouterr().err.startswith("penstock: There is no file or folder no\\x1b.txt. Try: penstock ")


@pytest.mark.parametrize("text", ["prompt is too long: 205000 tokens > 200000 maximum", "too many tokens " * 1000])
def test_an_error_given_in_place_of_a_file_belongs_on_standard_input(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words are taken for the name of a file; the message says so, and shows them clipped."""
    assert main(["diagnose", text]) == 4
    said = capsys.readouterr().err
    assert "If that is the error itself, it belongs on standard input. Try: penstock diagnose" in said
    assert len(said) < 400


def test_a_worker_without_a_key_names_every_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message lists all variables, as only one of them is for the user's provider."""
    for name in tuple(os.environ):
        if name.endswith(("_API_KEY", "_BEDROCK")) or name.startswith("AWS_"):
            monkeypatch.delenv(name)
    variables = "OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY, GEMINI_API_KEY, AWS_BEARER_TOKEN_BEDROCK"
    with pytest.raises(CallerError) as raised:
        queues._wires(None)
    assert all(name in str(raised.value) for name in variables.split(", "))


@pytest.mark.proves("B-8")
def test_a_stale_page_is_status_5_with_a_way_on(tree: Path) -> None:
    """The version of an earlier page shows that the file has been replaced."""
    value, _ = as_json("read", "big.txt", "--start-byte", "0", "--max-bytes", "100", cwd=tree)
    (tree / "new.txt").write_text("other\n" * 100)
    (tree / "new.txt").rename(tree / "big.txt")
    following = value["next"]
    value, status = as_json(
        "read", "big.txt", "--start-byte", str(following["start_byte"]), "--version", following["version"], cwd=tree
    )
    assert (value["error"]["code"], status) == ("stale", 5)
    assert run(*shlex.split(value["error"]["try"].split(" or ")[0])[1:], cwd=tree).returncode == 0


def test_nothing_found_is_status_1(tree: Path) -> None:
    """The status is that of grep, so that scripts can test it."""
    assert run("search", "no such text", cwd=tree).returncode == 1
    assert run("list", "*.zig", cwd=tree).returncode == 1
    assert run("count", "*.zig", cwd=tree).returncode == 1


@pytest.mark.proves("V-5")
def test_a_setting_comes_from_the_file_then_the_environment(tree: Path) -> None:
    """view_lines may restore pages of 200 lines."""
    (tree / "penstock.toml").write_text("view_lines = 200\n")
    assert "showing lines 1-200 of 250" in run("view", "big.txt", cwd=tree).stdout
    assert "showing lines 1-50 of 250" in run("view", "big.txt", cwd=tree, PENSTOCK_VIEW_LINES="50").stdout
    wrong = run("view", "big.txt", cwd=tree, PENSTOCK_VIEW_LINES="many")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "PENSTOCK_VIEW_LINES" in wrong.stderr


@pytest.mark.parametrize(
    "broken",
    [
        "view_line = 200\n",
        "view_lines = 'all'\n",
        "[[[\n",
        "view_lines = " + "9" * 5000,
        "a = " + "[" * 20_000,
        b"\xff\xfe",
    ],
    ids=["unknown", "wrong", "syntax", "digits", "deep", "bytes"],
)
def test_a_strangers_broken_settings_are_told_and_passed_over(tree: Path, broken: str | bytes) -> None:
    """Such a file in somebody else's project does not prevent reading; its fault goes to standard error."""
    (tree / "penstock.toml").write_bytes(broken if isinstance(broken, bytes) else broken.encode())
    for command, shown in (
        ("view big.txt", "showing lines 1-100 of 250"),
        ("list src/*", "src/b.py"),
        ("search 'line 7$'", "7|line 7"),
    ):
        done = run(*shlex.split(command), cwd=tree)
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout
        assert done.stderr.startswith("penstock: penstock.toml: ")
        assert "passed over" in done.stderr
        assert len(done.stderr) < 1000
    value, code = as_json("read", "src/b.py", cwd=tree)
    assert (code, value["text"]) == (0, "x = 1\n")
    answered = run("run", "Which line?", "--json", cwd=tree)
    assert "passed over" in answered.stderr
    assert "answer" in json.loads(answered.stdout)


def test_a_reader_that_goes_away_is_no_fault(tree: Path) -> None:
    """`penstock view … | head -1` ends quietly."""
    command = f"{shlex.join(warm_penstock())} view big.txt --limit 250 | head -1"
    done = subprocess.run(command, shell=True, cwd=tree, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("big.txt: showing lines")
    assert done.stderr == ""


def test_an_interrupt_ends_a_long_search_with_status_130_and_no_traceback(tmp_path: Path) -> None:
    """Ctrl-C leaves nothing behind and prints nothing."""
    (tmp_path / "f.txt").write_bytes(b"x" * 100 + b"\n")
    with (tmp_path / "f.txt").open("ab") as file:
        for _ in range(240):
            file.write(b"some words to search in\n" * 43_690)
    child = subprocess.Popen(
        [sys.executable, "-m", "penstock", "search", "(w[a-z]+ds|xyz)[^a-z]?(to|in)", "f.txt"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    opened = Path(f"/proc/{child.pid}/fd")
    while child.poll() is None:
        with suppress(OSError):  # a descriptor closed meanwhile
            if any(link.readlink().name == "f.txt" for link in opened.iterdir()):
                break
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=30)
    assert child.returncode in {130, 0}  # 0 if the machine was quicker than the signal
    assert b"Traceback" not in errors
    assert child.returncode == 0 or output == b""


@pytest.mark.parametrize("module", ["typing", "click", "penstock.cli"])
def test_interrupts_while_modules_load_end_with_status_130_and_print_nothing(tree: Path, module: str) -> None:
    """Nothing has begun: however early Ctrl-C comes and how often, the process ends. Others import before we can answer."""
    code = (
        "import os, signal, sys\n"
        f"sys.modules.pop({module!r}, None)\n"
        "def interrupt(event, about):\n"
        f"    if event == 'import' and about[0] == {module!r}:\n"
        "        try:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "        finally:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(interrupt)\n"
        "sys.argv = ['penstock', 'view', 'big.txt']\n"
        "from penstock.__main__ import run\n"
        "run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_colour_is_for_terminals_only(tree: Path) -> None:
    """Piped output is plain; on a terminal the header is dimmed, unless the terminal is dumb or colours are off."""
    assert "\x1b" not in run("view", "big.txt", cwd=tree).stdout
    status, drawn = on_terminal((*warm_penstock(), "view", "big.txt", "--limit", "1"), cwd=tree)
    assert (status, drawn[:11]) == (0, "\x1b[2mbig.txt")
    for variable in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert (
            "\x1b"
            not in on_terminal((*warm_penstock(), "view", "big.txt", "--limit", "1"), cwd=tree, environment=variable)[1]
        )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(tree: Path, shell: str) -> None:
    """The script of each shell names the program."""
    assert "_PENSTOCK_COMPLETE" in run("completion", shell, cwd=tree).stdout


def test_doctor_says_what_is_in_force(tree: Path) -> None:
    """It shows confinement, versions and extras, for people and for scripts."""
    value = json.loads(run("doctor", "--json", cwd=tree, PENSTOCK_STORE=str(tree / "kept")).stdout)
    assert value["confinement"].startswith(("openat2", "walk"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert value["extras"].keys() == extras.keys() - {"all"}
    assert "confinement" in run("doctor", cwd=tree, PENSTOCK_STORE=str(tree / "kept")).stdout


def test_a_store_that_cannot_be_opened_is_a_check_that_fails(tmp_path: Path) -> None:
    """The message does not recommend a command that could say no more."""
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "store" / "penstock.sqlite3").write_bytes(b"nothing that SQLite wrote " * 1_000)
    done = run("doctor", "--json", cwd=tmp_path, PENSTOCK_STORE=str(tmp_path / "store"))
    assert done.returncode == 1
    assert "is damaged from its first bytes on" in json.loads(done.stdout)["store"]["fault"]
    checked = run("store", "check", cwd=tmp_path, PENSTOCK_STORE=str(tmp_path / "store"))
    assert checked.returncode == 8
    assert "`penstock store check" not in checked.stderr


def test_doctor_says_where_the_store_lies_and_what_it_rests_on(tree: Path, tmp_path: Path) -> None:
    """Size and lifetime are shown as set; doctor makes no store, and reports a fault without a password."""
    folder = tmp_path / "kept"
    chosen: dict[str, Any] = {
        "PENSTOCK_STORE": str(folder),
        "PENSTOCK_STORE_LIMIT_BYTES": "4096",
        "PENSTOCK_STORE_LIFE_DAYS": "3",
    }

    def store(**environment: Any) -> dict[str, Any]:
        done = run("doctor", "--json", cwd=tree, **{**chosen, **environment})
        report = json.loads(done.stdout)["store"]
        assert isinstance(report, dict)
        assert done.returncode == ("fault" in report)
        return report

    where = {"at": f"sqlite://{folder}", "limit_bytes": 4096, "life_days": 3.0, "retention": "off"}
    assert store() == {**where, "state": "none yet: the first output that is kept makes it"}
    assert not folder.exists()
    open_store(str(folder)).close()
    made = store()
    assert made.items() >= {**where, "journal_mode": "wal", "synchronous": "FULL", "read_only": "false"}.items()
    lines = run("doctor", cwd=tree, **{**chosen, "PENSTOCK_STORE": f"{folder}\nb"}).stdout.splitlines()
    assert f"store at{'':20} sqlite://{folder}\\x0ab" in lines
    assert "/dev/null is a file, not a folder" in store(PENSTOCK_STORE="/dev/null")["fault"]
    assert "PENSTOCK_STORE_LIFE_DAYS takes" in store(PENSTOCK_STORE_LIFE_DAYS="0")["fault"]
    assert "open to others" in store(PENSTOCK_STORE=str(_shared(tmp_path)))["fault"]
    unreachable = store(PENSTOCK_STORE="postgresql://user:hunter2@127.0.0.1:1/db")
    assert "cannot be reached" in unreachable["fault"]
    assert "hunter2" not in str(unreachable)


def _shared(folder: Path) -> Path:
    """Make a folder with a database that others can enter."""
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "penstock.sqlite3").touch()
    return shared


@pytest.mark.proves("L-10")
def test_escape_sequences_of_a_file_never_reach_the_terminal(tree: Path) -> None:
    """Text and JSON show escape sequences as text, and count them."""
    (tree / "evil.txt").write_bytes(b"\x1b[2Jred\n\xff\n")
    shown = run("view", "evil.txt", cwd=tree).stdout
    assert "\x1b" not in shown
    assert "1|\\x1b[2Jred" in shown
    value, _ = as_json("view", "evil.txt", cwd=tree)
    assert value["escaped"] == 2


@pytest.mark.proves("L-10")
def test_a_name_that_begins_with_a_dash_is_reached_by_the_printed_command(tree: Path) -> None:
    """The next command can be parsed, whatever the file is called."""
    (tree / "-n").write_text("a\n" * 300)
    header = run("view", "--", "-n", cwd=tree).stdout.splitlines()[0]
    following = re.search(r"next: (penstock view [^|]+)", header)
    assert following
    assert "showing lines 101-200" in run(*shlex.split(following[1])[1:], cwd=tree).stdout


def test_a_long_walk_tells_a_terminal_how_far_it_is(tmp_path: Path) -> None:
    """The count goes to standard error after the first second and is then erased; a pipe gets none."""
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(3000):
        (folder / f"{n}.txt").write_bytes(b"")
    code = (
        "import itertools, sys, time\n"
        "ticks = itertools.count()\n"
        "time.monotonic = lambda: next(ticks) * 2.0\n"  # the clock moves two seconds on at every reading
        "from penstock.workspace import deadline\n"
        "deadline.Deadline.passed = property(lambda self: False)\n"
        "from penstock.cli import main\n"
        "sys.exit(main(['count', '--path', 'many']))\n"
    )
    status, drawn = on_terminal((sys.executable, "-c", code), cwd=tmp_path, streams=("stderr",))
    assert status == 0
    assert re.search(r"files ━+ 3000/\?", plain(drawn))
    assert "\x1b[?25h" in drawn.rpartition("3000/")[2], "the cursor is there again"
    assert drawn.endswith("\x1b[2K"), "the line is gone"
    assert run("count", "--path", "many", cwd=tmp_path).stderr == ""


@pytest.mark.proves("L-2")
def test_the_warning_of_a_long_listing_names_commands(tmp_path: Path) -> None:
    """A person at a terminal has no function to call."""
    for number in range(25):
        (tmp_path / f"{number}.txt").write_text("")
    text = run("list", cwd=tmp_path).stdout
    assert "1. Use penstock count to see breakdown" in text
    assert "Use penstock list with pagination: penstock list --limit 20" in text
