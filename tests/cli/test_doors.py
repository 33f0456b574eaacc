"""What do commands say if somebody types something slightly wrong?"""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from tests.cli.test_cli import as_json, run
from tests.forks import warm_penstock

from penstock.cli import main
from penstock.cli.answer import report
from penstock.cli.queue_page import serve_pages
from penstock.cli.requests import saved_request
from penstock.cli.serving import examine
from penstock.errors import CallerError
from penstock.serving import token
from penstock.serving.listening import served_url
from penstock.store import StoreFault, open_store
from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.workspace.own_files import OwnFolder

LINES = "".join(f"line {n}\n" for n in range(1, 301))


@pytest.mark.proves("G-2")
@pytest.mark.parametrize("flag", ["--tokens", "--chars"])
def test_an_allowance_too_small_for_the_handle_is_refused_with_the_least(tmp_path: Path, flag: str) -> None:
    """A cut `[OUTPUT TR` with exit status 0 would lose the whole; the error has the handle, and the minimum that it names works."""
    kept = str(tmp_path / "store")
    small = run("guard", flag, "10", "--store", kept, cwd=tmp_path, stdin=LINES.encode())
    assert (small.returncode, small.stdout) == (7, "")
    least = re.search(r"that takes (\d+)", small.stderr)
    handle = re.search(r"Try: penstock page (\S+)", small.stderr)
    assert least is not None
    assert handle is not None
    assert run("page", handle[1], "--raw", "--store", kept, cwd=tmp_path).stdout == LINES
    enough = run("guard", flag, least[1], "--store", kept, cwd=tmp_path, stdin=LINES.encode())
    assert enough.returncode == 0
    assert handle[1] in enough.stdout
    below = run("guard", flag, str(int(least[1]) - 1), "--store", kept, "--json", cwd=tmp_path, stdin=LINES.encode())
    assert json.loads(below.stdout)["error"]["code"] == "over_budget"
    assert run("guard", flag, "10", cwd=tmp_path, stdin=b"short").stdout == "short"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "# Title\n\nMove the files. Add a line to it.\n\n## Use\n\nCall us. Stop.\n"),
        ("notes.txt", "Some prose that goes on. And on.\n"),
        ("a.py", "def f():\n    return 1\n"),
        ("plain", "hello\n"),
    ],
)
def test_structure_sees_no_cobol_in_other_texts(tmp_path: Path, name: str, text: str) -> None:
    """The exit status is 1, as if nothing were found."""
    (tmp_path / name).write_text(text)
    value, code = as_json("structure", name, cwd=tmp_path)
    assert (code, value["programs"]) == (1, [])
    assert "It contains no COBOL." in run("structure", name, cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MEMBER", "       01  REC.\n           05 FLD PIC X(3).\n"),
        (
            "PROG",
            "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. P.\n       PROCEDURE DIVISION.\n           STOP RUN.\n",
        ),
        ("x.cpy", "       MOVE A TO B.\n"),
    ],
)
def test_structure_still_sees_what_is(tmp_path: Path, name: str, text: str) -> None:
    """A member of a library has no suffix."""
    (tmp_path / name).write_text(text)
    assert as_json("structure", name, cwd=tmp_path)[1] == 0


def test_check_code_escapes_a_name_once(tmp_path: Path) -> None:
    """The printed name opens the file, and one line stays one line."""
    (tmp_path / "a\\b\x01.py").write_text("x = 1\n")
    text = run("check-code", "a\\b\x01.py", cwd=tmp_path).stdout
    assert text.splitlines()[1].startswith("a\\x5cb\\x01.py: 1 line of python")


@pytest.mark.proves("B-2")
def test_a_range_that_goes_down_gives_one_line_and_says_so(tmp_path: Path) -> None:
    """As documented, this is not an error, and is not silent."""
    (tmp_path / "a.txt").write_text(LINES)
    done = run("read", "a.txt", "--start-line", "50", "--end-line", "40", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["    50\tline 50"])
    assert "end_line=40 is before start_line=50: one line" in done.stdout


@pytest.mark.proves("L-9")
def test_null_is_left_out_for_every_argument(tmp_path: Path) -> None:
    """Some JSON clients write null for arguments that they leave out."""
    from penstock import Tools

    (tmp_path / "a.txt").write_text(LINES)
    tools = Tools(tmp_path)
    plain = tools.call("view", {"file_path": "a.txt"})
    assert tools.call("view", {"file_path": "a.txt", "offset": None, "limit": None}).text == plain.text
    listed = tools.call("list_files", {"pattern": None, "recursive": None, "path": None})
    assert listed.text == "a.txt"
    assert "file_path: takes a string, not null" in tools.call("view", {"file_path": None}).text


@pytest.mark.parametrize("command", [("show", "nope"), ("page", "nope"), ("handoff", "nope"), ("find", "nope", "x")])
def test_what_is_not_there_is_status_4_everywhere(tmp_path: Path, command: tuple[str, ...]) -> None:
    """A missing session gives the same status as a missing artifact."""
    assert run(*command, "--store", str(tmp_path / "store"), cwd=tmp_path).returncode == 4


@pytest.mark.proves("B-13")
def test_a_large_file_without_landmarks_goes_on_in_pages_of_the_usual_size(tmp_path: Path) -> None:
    """The first page has 1 KiB, the next ones 64: with small pages 63 calls took 87,000 bytes."""
    import shlex

    (tmp_path / "a.py").write_text("x = 1; y = 2  # nothing here\n" * 14_000)
    calls, line = 0, "penstock read a.py"
    while line:
        done = run(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        text = done.stdout
        calls += 1
        following = re.search(r"next: (penstock read [^|]+?)(?: \||$)", text.partition("\n")[0])
        line = following[1] if following else ""
    assert text.endswith("nothing here\n")
    assert calls <= 9


@pytest.mark.proves("B-3")
def test_nobody_is_told_of_a_cap_on_what_nobody_asked_for(tmp_path: Path) -> None:
    """A small budget holds a small file whole; `max_bytes=16384 is above the cap` named an argument that was not given."""
    from penstock import Tools
    from penstock.text.allowance import Allowance

    (tmp_path / "a.txt").write_text(LINES)
    text = Tools(tmp_path, allowance=Allowance.chars(9_000)).read_file("a.txt")
    assert "bytes 0-2592 of 2592" in text
    assert "max_bytes" not in text


@pytest.mark.proves("W-8")
@pytest.mark.parametrize(
    "line",
    ["gateway --listen 0.0.0.0:0", "relay --url http://127.0.0.1:1/mcp --http 0.0.0.0:0"],
)
def test_an_address_that_others_reach_is_refused_with_a_flag_that_the_command_has(line: str, tmp_path: Path) -> None:
    """The gateway used to name a flag of `penstock mcp`, which it refused itself."""
    refused = run(*line.split(), cwd=tmp_path)
    assert refused.returncode == 2
    named = re.search(r"Use 127\.0\.0\.1, or (--[a-z-]+)", refused.stderr)
    assert named is not None
    assert f" {named[1]} " in run(line.split(maxsplit=1)[0], "--help", cwd=tmp_path).stdout


@pytest.mark.proves("W-8")
def test_the_page_of_a_queue_names_its_own_flag_too() -> None:
    """The flag is named before the database is contacted."""
    database: Any = None
    with pytest.raises(CallerError, match=r"^--listen 0\.0\.0\.0:0: .*, or --token-file FILE behind"):
        serve_pages(database, "0.0.0.0:0", None)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_a_number_to_python_alone_is_no_json(tmp_path: Path, number: str) -> None:
    """No other program reads such numbers, so a request with one is refused before it is examined."""
    file = tmp_path / "request.json"
    file.write_text(f'{{"messages": [{{"role": "user", "content": "x"}}], "temperature": {number}}}')
    with pytest.raises(CallerError, match=r"contains no JSON that can be read$"):
        saved_request(str(file))


def test_the_listing_that_goes_on_asks_for_no_more_than_a_page(tmp_path: Path) -> None:
    """This holds whatever was asked for; without a number, the next call asks for as many as were shown."""
    for number in range(101):
        (tmp_path / f"{number:03}.txt").touch()
    for asked, shown in ((("--limit", "500"), 100), (("--limit", "7"), 7), ((), 20)):
        found, status = as_json("list", *asked, cwd=tmp_path)
        assert (found["next"]["limit"], status) == (shown, 0)


@pytest.mark.parametrize(
    "line",
    ["gateway --listen 127.0.0.1:0", "mcp --http 127.0.0.1:0", "relay --url http://127.0.0.1:9/mcp --http 127.0.0.1:0"],
)
def test_a_server_says_for_a_script_where_it_is(line: str, tmp_path: Path) -> None:
    """`--json` prints one object, as for every command: with port 0 nobody else knows the address."""
    environment = {**os.environ, "PENSTOCK_STORE": str(tmp_path / "store"), "XDG_STATE_HOME": str(tmp_path)}
    command = [*warm_penstock(), *line.split(), "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        url = json.loads(child.stdout.readline())["url"]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(?:/mcp)?", url)
        assert found is not None
        socket.create_connection(("127.0.0.1", int(found[1])), 30).close()
        child.terminate()
        assert child.stdout.read() == b""
        assert child.wait(60) in {143, -15}  # the signal may arrive before it is handled


@pytest.mark.parametrize("line", ["mcp --json", "relay --json -- cat"])
def test_a_server_at_pipes_has_no_room_for_an_object(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output belongs to the protocol, so the mistake is reported as every mistake is under `--json`."""
    assert main(line.split()) == 2
    said = json.loads(capsys.readouterr().out)["error"]["message"]
    assert said.endswith("without it, standard output carries the protocol.")


@pytest.mark.parametrize("line", ["run x --wait {}", "guard --seconds {}", "store gc --dry-run --older-than {}"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-1", "1e300", "soon"])
def test_how_long_is_a_number_with_an_end(
    line: str, number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN is neither above nor below a limit: a wait of that many seconds would never end."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    assert main(line.format(number).split()) == 2
    assert re.search(r"It takes a number of (seconds|days) (from|above) 0 to \d+, not", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run x --window 64k", "It takes a whole number from 1000 on, not 64k."),
        ("run x --window 10", "It takes a whole number from 1000 on, not 10."),
        ("impact X --depth 30", "It takes a whole number from 1 to 20, not 30."),
        ("fit x.json --tokens 8,000", "It takes a whole number from 0 on, not 8,000."),
    ],
)
def test_a_whole_number_has_its_bounds_in_words(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what would work, for a text as for a number out of range."""
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "way"),
    [
        *((f"{command}", "penstock sessions") for command in ("resume", "undo", "show", "sessions rm")),
        *((f"{command}", "penstock store list") for command in ("page", "find", "store rm")),
        ("view", "penstock view --help"),
        ("stats --svg", "penstock stats --help"),
    ],
)
def test_a_name_that_is_missing_is_found_by_what_lists_them(
    line: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody knows the ID of a session or a handle by heart."""
    assert main(line.split()) == 2
    assert capsys.readouterr().err.rstrip().endswith(f". Try: {way}")


def test_a_place_is_opened_only_for_what_may_write(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a permission to change anything the flag would do nothing, silently."""
    assert main(["run", "x", "--allow-write-to", ".git/info"]) == 2
    assert "--allow-write-to needs --allow-edit or --allow-shell." in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "run x --store",
        "run x --from",
        "sessions --store",
        "store gc --store",
        "guard --store",
        "gateway --store",
        "relay --store",
        "run x --base-url",
        "resume ID --base-url",
        "run x --allow-shell --allow-write-to",
        "gateway --upstream",
        "gateway --token-file",
        "mcp --http 127.0.0.1:0 --token-file",
        "relay --url",
        "install claude --gateway --dry-run --address",
        "stats --html",
        "inspect x --project",
        "run x --root",
    ],
)
def test_a_name_that_is_empty_is_a_mistake(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unset variable leaves an empty name, which must not mean the user's own store, no token, or the whole root."""
    assert main([*line.split(), "", "--json"]) == 2
    flag = line.rsplit(maxsplit=1)[-1]
    said = json.loads(capsys.readouterr().out)["error"]["message"]
    assert re.fullmatch(rf"Invalid value for '{flag}': It takes .*, not an empty string\. Is a variable unset\?", said)


@pytest.mark.parametrize(
    "url",
    [
        *("http://x y/", "http://x/ a", "http://[::1", "http://x:99999", "http://x:abc", "http://x:0", "http://", "x"),
        *(
            "ftp://x",
            "http://x#f",
            "http://x?q=1",
            "http://ex\tample",
            "http://\u00e9.de",
            "http://x\\y",
            "http://x/{a}",
        ),
    ],
)
def test_a_gateway_stands_before_nothing_that_is_no_address(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Else it would start, and every request would fail; an address with a user name or password is not repeated."""
    assert main(["gateway", "--listen", "127.0.0.1:0", "--upstream", url, "--json"]) == 2
    assert "--upstream" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main(["gateway", "--listen", "127.0.0.1:0", "--upstream", "http://me:s3cret@[::1"]) == 2
    assert "s3cret" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("relay", "Name the server to relay"),
        ("relay --url http://x --config c.json", "--url URL and --config FILE: give one of them"),
        ("relay --url http://x -- cat", "-- COMMAND… and --url URL: give one of them"),
        ("relay --header A:b -- cat", "--header is for a server that --url names"),
        ("relay --header A:b --config c.json", "in the file"),
    ],
)
def test_a_relay_says_which_of_its_flags_do_not_go_together(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The flags are named; a header that nobody would receive is not silently dropped."""
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "relay --url ftp://x",
            "--url takes an address such as http://127.0.0.1:8000/mcp, by http or https, not ftp://x.",
        ),
        ("relay --http 1 --url http://x", "--http takes HOST:PORT, for example 127.0.0.1:8377, not 1."),
        ("gateway --listen 1", "--listen takes HOST:PORT, for example 127.0.0.1:8377, not 1."),
        (
            "gateway --upstream x",
            "--upstream takes an address such as https://api.openai.com/v1, by http or https, not x.",
        ),
        ("mcp --http 1", "--http takes HOST:PORT, for example 127.0.0.1:8377, not 1."),
    ],
)
def test_an_address_that_is_none_is_answered_with_one_that_would_work(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence says what the option takes, with an example, and what came instead."""
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


def test_the_mistakes_of_a_hook_s_own_line_stay_its_words(tmp_path: Path) -> None:
    """An empty name is one of them: the host continues."""
    done = run("hook", "claude", "--store", "", cwd=tmp_path, stdin=b"{}")
    assert done.returncode == 0
    assert "not an empty string" in json.loads(done.stdout)["systemMessage"]


@pytest.mark.parametrize("path", ["/", "..", "../beside"])
@pytest.mark.parametrize("may", ["--allow-edit", "--allow-shell"])
def test_what_may_be_written_lies_beneath_the_root(
    path: str, may: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that leads out of the root is refused by either command, before anything begins."""
    (tmp_path / "root").mkdir()
    where = ["--root", str(tmp_path / "root"), "--store", str(tmp_path / "store")]
    assert main(["run", "x", *where, may, "--allow-write-to", path, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "outside_root"


def test_a_limit_of_commands_that_cannot_be_is_told_where_none_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A resume would keep the limit, and fail once commands are allowed."""
    where = ["--root", str(tmp_path), "--store", str(tmp_path / "store")]
    assert main(["run", "x", *where, "--command-limit", "", "--json"]) == 2
    assert "--command-limit takes NAME=N" in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.parametrize("number", [str(2**63 - 1), str(2**63), "1" + "0" * 30])
def test_a_number_that_no_database_holds_asks_for_all(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number above the total gives everything, an offset above it nothing; SQLite's refusal used to be a Python error."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "store"))
    with closing(open_store(str(tmp_path / "store"))) as store:
        store.put([b"one"])
        store.append("s", 0, "Begun", {})
    assert main(["store", "list", "--limit", number, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 1
    assert main(["store", "list", "--offset", number, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == []
    assert main(["sessions", "list", "--limit", number, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["sessions"]) == 1


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("fe80::1%eth0", "[fe80::1%25eth0]")],
)
def test_an_address_is_written_as_a_client_takes_it(host: str, shown: str) -> None:
    """All servers use the same function."""
    listening = Mock(getsockname=lambda: (host, 8377, 0, 0))
    assert served_url(listening, "/mcp") == f"http://{shown}:8377/mcp"


def test_a_hook_has_an_object_for_who_asks_for_one(tmp_path: Path) -> None:
    """It has one even if nothing changes; hosts, which do not ask for it, then get nothing."""
    event = json.dumps({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": {"stdout": "x"}})
    for stdin in (event, "{}", ""):
        done = run("hook", "claude", "--json", cwd=tmp_path, stdin=stdin.encode())
        assert (done.returncode, type(json.loads(done.stdout))) == (0, dict)
    assert run("hook", "claude", cwd=tmp_path, stdin=event.encode()).stdout == ""


def test_a_handoff_of_a_newer_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its unknown fields are not silently ignored."""
    file = tmp_path / "handoff.json"
    file.write_text(json.dumps({"sessionId": "s", "schemaVersion": 99, "summary": "x"}))
    assert main(["run", "x", "--from", str(file), "--store", str(tmp_path / "store"), "--json"]) == 2
    said = json.loads(capsys.readouterr().out)["error"]["message"]
    assert "schemaVersion: a newer Penstock wrote it in version 99, and this one reads up to 1." in said
    assert "written with schemaVersion 1" in said


def test_a_store_that_cannot_says_what_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has a command with the store that was typed."""
    monkeypatch.setenv("PENSTOCK_STORE_LIMIT_BYTES", "9")
    kept = str(tmp_path / "a store")
    assert main(["run", "x", "--root", str(tmp_path), "--store", kept, "--json"]) == 8
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["try"]) == ("full", f"penstock store gc --store '{kept}'")


def test_a_kept_output_that_is_gone_names_its_own_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The recommendation names the store, and no root, which `store list` does not accept."""
    kept = str(tmp_path / "kept")
    open_store(kept).close()
    assert main(["page", "uMGSGJq0P1YNHAjdzx1eT4", "--store", kept, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["error"]["try"] == f"penstock store list --store {kept}"


def test_a_home_that_cannot_be_written_holds_nothing_and_keeps_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands that read answer as they do for an empty store; those that write say what cannot be created."""

    def denied(path: str) -> OwnFolder:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    reads = [["sessions"], ["store", "list"], ["store", "size"], ["store", "check"], ["stats"], ["page", "A" * 22]]
    reads += [["find", "A" * 22, "x"], ["show", "x"], ["handoff", "x"]]

    def answers() -> list[tuple[int, str]]:
        found = []
        for words in reads:
            status = main([*words, "--json"])
            found.append((status, re.sub(r'"(facts|store)": .*', "", capsys.readouterr().out)))
        return found

    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "empty"))
    empty = answers()
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "none"))
    monkeypatch.setattr("penstock.store.sqlite.OwnFolder", denied)
    assert [(status, said.replace("/none", "/empty")) for status, said in answers()] == empty
    assert {status for status, _ in empty} == {0, 1, 4}
    for words in (["store", "rm", "A" * 22], ["store", "prune"], ["run", "x", "--model", "scripted:x"]):
        assert main(words) == 8
        assert re.search("cannot be created|may not be written", capsys.readouterr().err)


@pytest.mark.parametrize(("variable", "status"), [("HOME", 2), ("XDG_STATE_HOME", 8)])
def test_doctor_answers_where_the_user_s_folder_is_a_file(variable: str, status: int, tmp_path: Path) -> None:
    """People run doctor first, so a folder that cannot keep anything is a failed check."""
    (tmp_path / "file").write_text("x")
    surroundings: dict[str, Any] = {
        "HOME": str(tmp_path),
        "PENSTOCK_STORE": "",
        "XDG_STATE_HOME": "",
        variable: str(tmp_path / "file"),
    }
    done = run("doctor", "--json", cwd=tmp_path, **surroundings)
    assert done.returncode == 1
    assert str(tmp_path / "file") in json.loads(done.stdout)["store"]["fault"]
    refused = run("sessions", cwd=tmp_path, **surroundings)
    assert refused.returncode == status
    assert str(tmp_path / "file") in refused.stderr


@pytest.mark.parametrize(
    ("read_only", "fault"),
    [("false", None), ("true", None), ("the disk is full", "nothing is written to it: the disk is full")],
)
def test_a_store_on_a_full_disk_is_a_check_that_fails(
    read_only: str, fault: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is only read, like a copy on a read-only medium, works as far as it can."""
    open_store(str(tmp_path / "kept")).close()
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "kept"))
    monkeypatch.setattr(SqliteStore, "facts", lambda _: {"store": "sqlite:///kept", "read_only": read_only})
    assert examine()["store"].get("fault") == fault


@pytest.mark.skipif(sys.platform == "win32", reason="links of its own")
def test_a_store_that_is_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    """Doctor reports it, which used to say that the first output would make the store, and so does each command."""
    (tmp_path / "kept").symlink_to(tmp_path / "gone")
    said = f"{tmp_path / 'kept'} is a link to nothing, not a folder: name another"
    done = run("doctor", "--json", cwd=tmp_path, PENSTOCK_STORE=str(tmp_path / "kept"))
    assert (done.returncode, json.loads(done.stdout)["store"]["fault"]) == (1, said)
    assert said in run("sessions", cwd=tmp_path, PENSTOCK_STORE=str(tmp_path / "kept")).stderr


@pytest.mark.parametrize("size", [0, 5_000])
def test_a_database_that_opens_for_no_command_sends_nobody_to_the_check(
    size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check could not open it either; the recommended command works."""
    kept = tmp_path / "kept"
    with closing(open_store(str(kept))) as store:
        store.append("s", 0, "Begun", {})
    os.truncate(kept / "penstock.sqlite3", size)
    for command in (["sessions"], ["store", "check"]):
        assert main([*command, "--store", str(kept), "--json"]) == 8
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == "damaged"
        assert "store check" not in error["message"]
        assert error["try"] == f"penstock {' '.join(command)} --help"
        assert error["message"].endswith(f"or move {kept} away, and the next `penstock run` begins a new store.")
    kept.rename(tmp_path / "away")
    assert main(["run", "x", "--root", str(tmp_path / "away"), "--store", str(kept)]) == 0


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 8, "io_error"),
        (OSError(errno.EROFS, "Read-only file system", "/x"), 8, "io_error"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "/x"), 3, "is_directory"),
        (StoreFault("busy", "Another program holds it."), 8, "busy"),
        (StoreFault("unreachable", "It cannot be reached."), 8, "unreachable"),
    ],
)
def test_what_fails_names_where_to_look(
    error: Exception, status: int, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk is nobody's mistake, even if the error names the output file, and no help ends the write of another process."""
    assert report(error, {"as_json": True}, "penstock x") == status
    told = json.loads(capsys.readouterr().out)["error"]
    is_passing = code == "busy" or (isinstance(error, OSError) and error.errno == errno.ENOSPC)
    assert (told["code"], told["try"]) == (code, None if is_passing else "penstock x --help")
    if isinstance(error, OSError) and code == "io_error":
        caused = CallerError("What was read cannot be kept")
        caused.__cause__ = error
        assert report(caused, {"as_json": True}, "penstock x") == status
        assert json.loads(capsys.readouterr().out)["error"]["message"] == "What was read cannot be kept"


def test_a_token_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says why; by default the token is in a folder that is made for it."""
    with pytest.raises(CallerError, match=f"^{tmp_path}/none/token cannot be made: No such file or directory$"):
        token.load(str(tmp_path / "none" / "token"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "none"))
    made, at = token.load(None)
    assert (len(made) >= 32, at) == (True, str(tmp_path / "none" / "penstock" / "token"))


@pytest.mark.parametrize(
    "line",
    [
        "store check",
        "store list",
        "store size",
        "store prune",
        "store gc --older-than 1",
        "store rm x",
        "sessions rm x",
        "show x",
        "handoff x",
        "undo x",
        "resume x",
        "page x",
        "find x y",
    ],
)
def test_a_store_that_is_named_and_not_there_is_not_begun_to_be_read(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A check of a mistyped copy reported that all is well, and left a store there."""
    assert main([*line.split(), "--store", str(tmp_path / "copi"), "--json"]) == 4
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["message"] == f"There is no store {tmp_path / 'copi'}."
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["sessions", "stats"])
def test_a_list_of_what_is_not_there_is_empty_and_begins_no_store(line: str, tmp_path: Path) -> None:
    """Nothing is found, as in a store that was never used."""
    assert main([line, "--store", str(tmp_path / "copi"), "--json"]) == 1
    assert not list(tmp_path.iterdir())


def test_a_command_that_cannot_be_started_has_an_object_too(tmp_path: Path) -> None:
    """The exit status is that of shells."""
    (tmp_path / "file").write_text("x")
    for name, status, code in (("nosuch", 127, "not_found"), (str(tmp_path / "file"), 126, "denied")):
        done = run("guard", "--json", "--", name, cwd=tmp_path)
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["code"], done.stderr) == (status, code, "")
        assert name in error["message"]
        assert run("guard", "--", name, cwd=tmp_path).stderr == f"penstock guard: {error['message']}\n"
