"""Are kept sessions listed with their state, removed for good, exported without secrets, and are rules reported?"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.store.test_removal import found_in

from penstock.cli import main, terminal
from penstock.errors import ToolError
from penstock.store import open_store
from penstock.store.glance import recent_sessions
from penstock.store.sqlite import SqliteStore
from penstock.wires import text_message
from penstock.wires.placeholders import with_told

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-ant-api03-" + "Zx9Qw7Lm2Kp4" * 8
"""A key in a known format."""
PHRASE = "the heron-blue valve 4f9a8c71e02b"
"""A secret in no known format."""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a file, a script that reads it and stops, and a store."""
    (tmp_path / "app.py").write_text("PORT = 8443\n" * 20)
    (tmp_path / "big.txt").write_text("".join(f"line {n} of a file\n" for n in range(9_000)))
    call = {"call": "view", "arguments": {"file_path": "app.py"}}
    (tmp_path / "one.json").write_text(json.dumps([call, {"say": "Port 8443."}]))
    (tmp_path / "many.json").write_text(json.dumps([call, call, call, {"say": "Port 8443."}]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "kept"))
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    """Return what a command answers under --json."""
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def begun(capsys: pytest.CaptureFixture[str], question: str = "Which port?", *more: str, status: int = 0) -> str:
    """Return the name of a session that was asked a question."""
    session: str = asked(capsys, "run", question, "--model", "scripted:one.json", *more, status=status)["session"]
    return session


@pytest.mark.proves("S-17")
def test_the_list_says_where_each_session_stands(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Root, model, state, turns, size and last use are listed, last used first, with and without `list`."""
    answered = begun(capsys)
    stopped = asked(capsys, "run", "Go", "--model", "scripted:many.json", "--max-turns", "2", status=6)["session"]
    with closing(open_store()) as store:
        first = next(store.events(answered))
        store.append("midway", 0, first.type, first.data)
        store.append("midway", 1, "Prompted", {"message": {"role": "user", "content": "And?"}})
        rows = {row["id"]: row for row in asked(capsys, "sessions")["sessions"]}
        assert rows["midway"]["state"] == "running"  # the store that works on it is open
    listed = asked(capsys, "sessions", "list")["sessions"]
    assert [row["id"] for row in listed] == ["midway", stopped, answered]
    by_id = {row["id"]: row for row in listed}
    assert [by_id[name]["state"] for name in ("midway", stopped, answered)] == ["open", "interrupted", "answered"]
    assert [by_id[name]["turns"] for name in ("midway", stopped, answered)] == [0, 2, 2]
    assert by_id[answered]["model"] == "scripted:one.json"
    assert os.path.samefile(by_id[answered]["root"], work)
    assert by_id[answered]["bytes"] > 1_000
    assert main(["sessions"]) == 0
    shown = capsys.readouterr().out
    assert re.search(
        rf"{answered}.* answered +2 turns +\d+ bytes +scripted:one.json +\S*{work.name} +Which port\?",
        shown,
    )


@pytest.mark.proves("S-10")
@pytest.mark.parametrize("columns", [80, 200])
def test_the_list_shows_root_and_model_at_any_width(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """A narrow terminal has three lines for a session, a wide one a single line; a long folder keeps its end."""
    deep = work / ("deep" * 20)
    deep.mkdir()
    session = begun(capsys, "Which port?", "--root", str(deep))
    monkeypatch.setattr(terminal, "is_watched", lambda _: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["sessions"]) == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= columns
    folder = "…" + str(deep.resolve())[-42 if columns == 80 else -59 :]
    between = "\n +" if columns == 80 else " +"
    model = "scripted:one.json in " if columns == 80 else "scripted:one.json +"
    assert re.search(f"{session}.* bytes *{between}{model}{folder} *{between}Which port", shown)


@pytest.mark.proves("S-10")
def test_a_journal_without_model_and_folder_names_neither(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may keep one, and a narrow terminal then shows no words between them."""
    with closing(open_store(f"sqlite://{work / 'kept'}")) as store:
        store.append("theirs", 0, "Noted", {})
    monkeypatch.setattr(terminal, "is_watched", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["sessions"]) == 0
    shown = capsys.readouterr().out
    assert "theirs" in shown
    assert not re.search(r"\s in\s", shown)


@pytest.mark.proves("S-17")
def test_the_list_has_the_model_and_the_folder_that_a_session_went_on_with(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those with which it began are not listed."""
    session = begun(capsys)
    (work / "two.json").write_text(json.dumps([{"say": "And 1."}]))
    (work / "moved").mkdir()
    asked(capsys, "resume", session, "And?", "--model", "scripted:two.json", "--root", "moved")
    (work / "three.json").write_text(json.dumps([{"say": "And 2."}]))
    asked(capsys, "resume", session, "And?", "--model", "scripted:three.json")
    (row,) = asked(capsys, "sessions")["sessions"]
    assert row["model"] == "scripted:three.json"
    assert os.path.samefile(row["root"], work / "moved")


def test_a_handoff_that_was_cut_off_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong with it comes first; that it is no session of another agent helps nobody who has a handoff."""
    (tmp_path / "handoff.json").write_text('{"sessionId": "x", "agent": ')
    assert main(["handoff", "--from", str(tmp_path / "handoff.json")]) == 2
    said = capsys.readouterr().err
    assert "handoff.json is not a handoff: a handoff is a JSON object; this text is not JSON." in said
    assert "is not a session of claude" in said
    assert main(["handoff", "--from", str(tmp_path)]) == 3
    assert "not a regular file" not in capsys.readouterr().err, "a folder is said to be one, and nothing else"


@pytest.mark.proves("S-17")
def test_a_session_is_removed_by_its_name(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that it said is removed; an unknown name removes nothing."""
    kept, gone = begun(capsys), begun(capsys, "What of the heron-blue valve?")
    assert found_in(work / "kept", b"heron-blue")
    assert main(["sessions", "rm", kept, "nobody"]) == 4
    assert "There is no session nobody" in capsys.readouterr().err
    removed = asked(capsys, "sessions", "rm", gone)["removed"]
    assert [one["name"] for one in removed] == [gone]
    assert removed[0]["bytes"] > 1_000
    assert found_in(work / "kept", b"heron-blue") == []
    assert [row["id"] for row in asked(capsys, "sessions")["sessions"]] == [kept]
    assert asked(capsys, "show", gone, status=4)["error"]["code"] == "not_found"


@pytest.mark.proves("S-17")
def test_an_export_holds_everything_but_secrets(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is a line for each record and kept output, without any key; binary content is only named."""
    with closing(open_store()) as store:
        text, raw = store.put(f"log\nkey {KEY}\n".encode(), name="make"), store.put(b"\xff\x00" * 99, name="dump")
        store.append("s", 0, "Begun", {"about": {"root": "/", "model": "local"}, "header": {}})
        data: dict[str, object] = {"message": {"content": [f"use {KEY}"], KEY: 1}}
        store.append("s", 1, "Prompted", data, handles=[raw, text])
    assert main(["sessions", "export", "s"]) == 0
    out = capsys.readouterr().out
    assert KEY not in out
    head, *lines = map(json.loads, out.splitlines())
    assert (head["penstock_session"], head["session"], head["count"]) == (1, "s", 2)
    assert [line["record"]["type"] for line in lines[:2]] == ["Begun", "Prompted"]
    assert lines[1]["record"]["data"]["message"]["content"][0].startswith("use [redacted: ")
    kept = {line["artifact"]["handle"]: line["artifact"] for line in lines[2:]}
    assert kept[text]["text"].startswith("log\nkey [redacted: ")
    assert (kept[raw]["bytes"], kept[raw]["left_out"]) == (198, "not text in UTF-8")
    whole = asked(capsys, "sessions", "export", "s")
    assert (len(whole["records"]), len(whole["artifacts"])) == (2, 2)
    assert asked(capsys, "sessions", "export", "t", status=4)["error"]["try"] == "penstock sessions"


@pytest.mark.proves("S-17")
def test_an_output_is_removed_and_who_quotes_it_is_named(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next steps that the answer names remove the rest."""
    with closing(open_store()) as store:
        handle = store.put(PHRASE.encode())
        store.append("s", 0, "Returned", {"text": PHRASE}, handles=[handle])
    assert main(["store", "rm", handle]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[1] == "Sessions that may quote it: penstock sessions rm s"
    assert found_in(work / "kept", PHRASE.encode())
    assert main(said.splitlines()[1].split(": penstock ")[1].split()) == 0
    assert found_in(work / "kept", PHRASE.encode()) == []
    capsys.readouterr()
    assert asked(capsys, "store", "rm", handle, status=4)["error"]["code"] == "expired"


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"])
def test_the_list_says_what_was_asked_over_every_api(work: Path, capsys: pytest.CaptureFixture[str], wire: str) -> None:
    """This holds in whatever form an API writes a message; what the model was told beside the question is left out."""
    with closing(open_store()) as store:
        store.append("s", 0, "Begun", {"about": {}, "header": {"transcript": {"wire": wire}}})
        store.append("s", 1, "Prompted", {"message": text_message(wire, "user", with_told("Why?", "Beside it."))})
    assert asked(capsys, "sessions")["sessions"][0]["question"] == "Why?"
    assert recent_sessions(str(work / "kept"))[0][1].startswith("Why?")


def test_a_session_is_shown_in_words(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There are no program brackets and no empty values."""
    assert main(["show", begun(capsys)]) == 0
    fields = dict(re.findall(r"^(\w+) +(.*)$", capsys.readouterr().out, re.MULTILINE))
    assert (fields["ended"], fields["todo"], fields["unknown_effects"]) == ("no", "none", "none")
    assert re.fullmatch(r"\d+ tokens in, \d+ out", fields["usage"])


@pytest.mark.proves("S-17")
def test_what_a_rule_removes_is_told(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removals are reported on standard error when they happen, and later by doctor; without rules nothing is removed."""
    first, second = begun(capsys), begun(capsys)
    monkeypatch.setenv("PENSTOCK_STORE_KEEP_SESSIONS", "2")
    assert main(["run", "Which port?", "--model", "scripted:one.json"]) == 0
    assert f"PENSTOCK_STORE_KEEP_… removed {first}: " in capsys.readouterr().err
    listed = [row["id"] for row in asked(capsys, "sessions")["sessions"]]
    assert (len(listed), listed[1]) == (2, second)
    found = asked(capsys, "doctor")["store"]
    assert found["retention"] == {"max_sessions": 2}
    assert found["removed"].startswith(f"1 by retention or gc, the last: {first} (more than 2 sessions)")
    monkeypatch.delenv("PENSTOCK_STORE_KEEP_SESSIONS")
    assert asked(capsys, "doctor")["store"]["retention"] == "off"


@pytest.mark.proves("S-17")
def test_gc_keeps_to_the_rules_that_are_set(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without flags the rules of the environment hold, and no others; a flag overrides them."""
    names = [begun(capsys) for _ in range(3)]
    assert asked(capsys, "store", "gc")["removed"] == []
    monkeypatch.setenv("PENSTOCK_STORE_KEEP_SESSIONS", "2")
    dry = asked(capsys, "store", "gc", "--dry-run")
    assert [(one["what"], one["name"], one["why"]) for one in dry["removed"]] == [
        ("session", names[0], "more than 2 sessions")
    ]
    assert len(asked(capsys, "sessions")["sessions"]) == 3
    done = asked(capsys, "store", "gc")
    assert done["removed"] == dry["removed"]
    assert done["used_bytes"] < dry["used_bytes"]
    assert asked(capsys, "store", "gc", "--older-than", "1")["removed"] == []
    assert [one["name"] for one in asked(capsys, "store", "gc", "--max-bytes", "1")["removed"]] == names[1:]


def test_doctor_names_the_command_that_sets_a_store_back_to_the_present(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One write under a clock that was ahead is told until a person says that the clock is right now."""
    with closing(SqliteStore(str(work / "kept"), clock=lambda: time.time() + 1e9)) as store:
        store.put(b"from a later year")
    told = asked(capsys, "doctor")["store"]["clock"]
    assert "if this one is right: `penstock store gc --reset-clock" in told
    shown = asked(capsys, "store", "gc", "--reset-clock", "--dry-run")["clock"]
    assert shown["from"] - shown["to"] == pytest.approx(1e9, abs=600)
    assert asked(capsys, "store", "check")["facts"]["clock"] == told
    assert main(["store", "gc", "--reset-clock"]) == 0
    today = time.strftime("to %Y-%m-", time.gmtime())
    assert re.search(rf"The store's time was set from 20[\d-]+T[\d:]+Z {today}", capsys.readouterr().out)
    assert "clock" not in asked(capsys, "doctor")["store"]


@pytest.mark.usefixtures("work")
def test_a_name_that_is_not_text_names_no_session(capsys: pytest.CaptureFixture[str]) -> None:
    """Python holds a typed byte that is not UTF-8 as a surrogate, which no store takes as text; every command says so."""
    begun(capsys)
    for line in ("show", "resume", "undo", "stats", "handoff", "sessions rm", "sessions export"):
        error = asked(capsys, *line.split(), "\udcff", status=4)["error"]
        assert error["message"] == "There is no session \ufffd."


def test_a_session_that_is_removed_while_it_is_listed_ends_no_list(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process removes it once its types are read; all others are listed."""
    gone, stays = begun(capsys), begun(capsys)
    real = SqliteStore.record_types

    def types(store: SqliteStore, session: str) -> list[str]:
        found = real(store, session)
        if session == gone:
            with closing(open_store()) as other, suppress(ToolError):
                other.remove_sessions([session])
        return found

    monkeypatch.setattr(SqliteStore, "record_types", types)
    rows = {row["id"]: row for row in asked(capsys, "sessions")["sessions"]}
    assert rows[stays]["question"] == "Which port?"
    assert rows[gone]["question"] == ""


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM records WHERE seq = 0 AND session = ?", "UPDATE records SET payload = '5' WHERE session = ?"],
)
def test_a_damaged_session_ends_no_list(work: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    """It is listed as that, with all others, and can be removed by the name in the list."""
    harmed, stays = begun(capsys), begun(capsys)
    with closing(sqlite3.connect(work / "kept/penstock.sqlite3")) as database:
        database.execute(damage, (harmed,))
        database.commit()
    rows = {row["id"]: row for row in asked(capsys, "sessions")["sessions"]}
    assert (rows[harmed]["state"], rows[stays]["state"]) == ("damaged", "answered")
    assert main(["sessions"]) == 0
    assert harmed in capsys.readouterr().out
    assert main(["sessions", "rm", harmed]) == 0
    capsys.readouterr()
    assert [row["id"] for row in asked(capsys, "sessions")["sessions"]] == [stays]
