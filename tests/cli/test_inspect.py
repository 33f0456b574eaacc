"""Does `penstock inspect` work as people and scripts use it: a list, a story, one object, an exit status?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.hosts import histories
from tests.hosts.histories import written
from tests.hosts.sessions.test_reports import home_of, talk

from penstock.cli import main
from penstock.hosts.sessions.reports import rfc_3339

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("X-2")

HOSTILE = "\x1b[2Jls\u202e"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home with sessions of three hosts."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", home_of(tmp_path)["HOME"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return the object that a command prints."""
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_without_an_argument_the_sessions_of_all_hosts_are_listed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They come by age, with their fill and their outcome."""
    rows = asked(capsys, "inspect")["sessions"]
    assert [(row["host"], row["tokens"], row["state"]) for row in rows] == [
        ("claude", 31_000, "open"),
        ("codex", None, "empty"),
        ("gemini", None, "empty"),
    ]
    assert [row["host"] for row in asked(capsys, "inspect", "codex")["sessions"]] == ["codex"]
    assert [row["host"] for row in asked(capsys, "inspect", "--project", "/p")["sessions"]] == ["claude", "codex"]
    assert main(["inspect"]) == 0
    shown = capsys.readouterr().out
    assert "31000" in shown
    assert "rescue" not in shown
    written(home / ".claude/projects/p/stuck.jsonl", talk(is_stuck=True).records)
    assert main(["inspect"]) == 0
    shown = capsys.readouterr().out
    assert "213462 (107 %)" in shown
    assert "One is stuck. Why, and a way out: penstock rescue" in shown
    assert str(home / ".claude/projects/p/stuck.jsonl") in shown
    assert main(["inspect", str(home / ".claude/projects/p/stuck.jsonl")]) == 0
    assert "(107 % of the window)" in capsys.readouterr().out
    written(home / ".claude/projects/p/more.jsonl", talk(is_stuck=True).records)
    assert main(["inspect"]) == 0
    assert "2 are stuck. Why the newest is, and a way out: penstock rescue" in capsys.readouterr().out


def test_only_the_newest_are_looked_at_unless_all_are_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of the others is given."""
    monkeypatch.setattr("penstock.cli.inspecting.LISTED", 2)
    told = asked(capsys, "inspect")
    assert (len(told["sessions"]), told["more"]) == (2, 1)
    assert main(["inspect"]) == 0
    assert "1 older session not looked at. All: penstock inspect --all" in capsys.readouterr().out
    told = asked(capsys, "inspect", "--all")
    assert (len(told["sessions"]), told["more"]) == (3, 0)


def test_of_one_session_the_story_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file or an id names the session; the kinds of each request add up to its tokens."""
    path = written(home / ".claude/projects/p/0123456789-stuck.jsonl", talk(is_stuck=True).records)
    told = asked(capsys, "inspect", path)
    assert told == asked(capsys, "inspect", "0123456789")
    assert (told["host"], told["session"], told["model"], told["turns"]) == ("claude", "id-1", "claude-opus-5", 3)
    assert [turn["tokens"] for turn in told["fill"]] == [20_000, 31_000, 213_462]
    assert all(sum(turn["by_kind"].values()) == turn["tokens"] for turn in told["fill"])
    assert (told["window"], told["state"]) == (200_000, "stuck")
    assert [one["limit_tokens"] for one in told["refusals"]] == [200_000]
    assert told["items"][0]["what"] == "ls -R"
    assert main(["inspect", path]) == 0
    shown = capsys.readouterr().out
    assert "3 requests; the newest 213462 tokens (107 % of the window)" in shown
    assert f"Stuck. A way out: penstock rescue {path} --dry-run" in shown
    assert "Request 3 was refused (context_input): prompt is too long" in shown
    bill = [line.split() for line in shown.splitlines() if line.startswith(("user ", "results ", "calls ", "in all "))]
    assert {row[0] for row in bill} == {"user", "results", "calls", "in"}


def test_a_page_of_one_session_or_of_all_is_written_where_it_is_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is private, complete and reported; the page of all sessions has every request of long ones."""
    assert main(["inspect", "claude", "--html", "all.html"]) == 0
    assert "The page is in all.html" in capsys.readouterr().out
    assert main(["inspect", str(home / ".claude/projects/p/a.jsonl"), "--html", "one.html"]) == 0
    assert "The page is in one.html" in capsys.readouterr().out
    for name in ("all.html", "one.html"):
        page = home / name
        assert page.stat().st_mode & 0o777 == 0o600
        assert "id-1" in page.read_text("utf-8")
    assert main(["inspect", "--html", "no/such/folder.html"]) == 4
    assert "no/such" in capsys.readouterr().err


def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Leaving out the page's name, or typing another file's, overwrites nothing: no session, device or link."""
    session = home / ".claude/projects/p/a.jsonl"
    before = session.read_bytes()
    assert main(["inspect", "--html", str(session)]) == 2
    assert main(["inspect", str(session), "--html", str(session)]) == 2
    assert "is not such a page or picture" in capsys.readouterr().err
    assert session.read_bytes() == before
    os.mkfifo(home / "pipe")
    assert main(["inspect", str(session), "--html", str(home / "pipe")]) == 2
    assert (home / "pipe").is_fifo()
    assert main(["inspect", str(session), "--html", str(home)]) == 2
    (home / "link.html").symlink_to(home / "page.html")
    for _ in range(2):
        assert main(["inspect", str(session), "--html", "link.html"]) == 0
    assert (home / "link.html").is_symlink()
    assert (home / "page.html").is_file()


def test_what_is_counted_of_a_project_and_of_what_cannot_be_read_is_true(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of sessions not read is given, for a project too; an invalid file is named, and is not an older session."""
    monkeypatch.setattr("penstock.cli.inspecting.LISTED", 1)
    written(home / ".claude/projects/p/z.jsonl", talk().records)
    told = asked(capsys, "inspect", "claude", "--project", "/p")
    assert (len(told["sessions"]), told["more"]) == (1, 1)
    os.mkfifo(home / ".claude/projects/p/pipe.jsonl")
    told = asked(capsys, "inspect", "claude", "--all")
    assert (len(told["sessions"]), told["more"]) == (2, 0)
    assert told["unreadable"] == [str(home / ".claude/projects/p/pipe.jsonl")]
    assert main(["inspect", "--all"]) == 0
    shown = capsys.readouterr().out
    assert "Not read: " in shown
    assert "older" not in shown


def test_without_a_measured_figure_the_list_has_none(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Zero is not a measurement, and nothing is counted just for the list."""
    path = written(home / ".claude/projects/p/odd.jsonl", talk((0, 0)).records)
    (row,) = [row for row in asked(capsys, "inspect")["sessions"] if row["path"] == path]
    assert (row["tokens"], row["state"]) == (None, "open")


def test_any_time_of_a_file_is_a_day() -> None:
    """The time of a file may be set to any number."""
    times = (-1.0, 0.0, 1_700_000_000.0, 1e18, 9.3e18)
    assert [rfc_3339(time)[:10] for time in times] == ["1970-01-01"] * 2 + ["2023-11-14"] + ["9999-12-31"] * 2


def test_an_id_that_several_have_is_no_session(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A prefix of an id is enough while it is unique; a file of that name comes first."""
    for name in ("0123456789-a", "0123456789-b"):
        written(home / f".claude/projects/p/{name}.jsonl", talk().records)
    assert main(["inspect", "0123456789"]) == 2
    assert "2 sessions have 0123456789 in their names" in capsys.readouterr().err
    assert asked(capsys, "inspect", "0123456789-b")["path"].endswith("0123456789-b.jsonl")
    written(home / "0123456789", talk(is_stuck=True).records)
    assert asked(capsys, "inspect", "0123456789")["state"] == "stuck"
    assert main(["rescue", "0123456789-b", "--dry-run"]) == 1
    assert main(["inspect", "01234"]) == 4


def test_the_id_of_a_session_whose_file_has_only_its_beginning_is_found(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gemini CLI names its files by the time and eight letters of the id."""
    records = histories.gemini("Go.", ["Gone."])
    records[0]["sessionId"] = "abcdef01-2345-6789"
    written(home / ".gemini/tmp/p/chats/session-2026-11-22T10-00-abcdef01.jsonl", records)
    (row,) = [row for row in asked(capsys, "inspect", "gemini")["sessions"] if row["session"].startswith("abcdef01")]
    assert asked(capsys, "inspect", row["session"][:13])["path"] == row["path"]
    assert main(["inspect", "abcdef01-9999"]) == 4


def test_what_is_no_session_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file is named as well; nothing found has its own status."""
    (home / "notes.txt").write_text("no session\n")
    assert main(["inspect", "notes.txt"]) == 2
    assert "notes.txt is not a session of claude, codex, gemini" in capsys.readouterr().err
    assert main(["inspect", "no-such-file"]) == 4
    said = "There is no file no-such-file, and no session has an ID that begins with it. Those that are here: penstock inspect"
    assert said in capsys.readouterr().err
    assert main(["rescue", "abcd"]) == 4
    assert "no session has an ID (at least 6 characters of one) that begins with it" in capsys.readouterr().err
    assert main(["inspect", "."]) == 3
    assert ". is a folder" in capsys.readouterr().err
    assert main(["inspect", "/dev/null"]) == 3
    assert "/dev/null is not a regular file" in capsys.readouterr().err
    capsys.readouterr()
    assert main(["inspect", "--project", str(home)]) == 1
    printed = capsys.readouterr().out
    assert "No session was found" in printed
    assert "opencode export ID > FILE" in printed


def test_nothing_of_a_session_acts_on_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tools, projects, errors and models have foreign text."""
    made = talk(is_stuck=True)
    for record in made.records:
        record |= {"cwd": HOSTILE, "version": HOSTILE, "sessionId": HOSTILE}
    made.records[2]["message"]["content"][0] |= {"name": HOSTILE, "input": {"command": HOSTILE}}
    made.records[-1]["message"]["content"] = [{"type": "text", "text": f"prompt is too long {HOSTILE}"}]
    made.records.insert(1, {"type": HOSTILE})
    path = written(home / ".claude/projects/p/hostile.jsonl", made.records)
    for words in ([path], []):
        assert main(["inspect", *words]) == 0
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "[2Jls" in shown
