"""Does `penstock stats` work as people and scripts use it: aligned tables, one object, a picture, an exit status?"""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from tests.forks import warm_penstock
from tests.inspection.reading import cells, figure, listings, read

from penstock.agent import timeline
from penstock.agent.loop import Agent
from penstock.agent.toolbox import Toolbox
from penstock.cli import figures, main
from penstock.inspection import page as overview
from penstock.models import ScriptedModel, call, calls, fail, refuse, say
from penstock.session import Session
from penstock.session.degradation import assess
from penstock.session.limits import PROFILES, Pressure, Rung
from penstock.store.sqlite import SqliteStore
from penstock.wires import tool_definitions
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.models import ScriptStep

pytestmark = pytest.mark.proves("B-12")

WINDOW = 16_000
RUNGS = (Rung(Pressure.COMPACT, 75_000), Rung(Pressure.RESET, turns=8))
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "\x1b[2Jview\u202e | 99"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the user's own store, and the folder in which commands are typed."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def worked(folder: Path) -> Callable[..., None]:
    """Return a function that makes sessions in that store: `worked(name, steps, *prompts)`."""
    tree = folder / "tree"
    tree.mkdir()
    (tree / "a.txt").write_text("".join(f"a has {n} in this line\n" for n in range(400)))

    def work(name: str, steps: list[ScriptStep], *prompts: str, rungs: tuple[Rung, ...] = RUNGS) -> None:
        store = SqliteStore(str(folder / "store"))
        tools = Toolbox(Workspace(tree), store, window_tokens=WINDOW)
        limits = PROFILES["default"].scaled(WINDOW)
        session = Session(
            limits=type(limits)(window_tokens=WINDOW, reserve_tokens=limits.reserve_tokens, rungs=rungs),
            system="Answer.",
            tools=tool_definitions(tools.tools, "openai-chat"),
            session_id=name,
        )
        now = [0.0]
        agent = Agent(
            session,
            ScriptedModel(steps),
            tools,
            store,
            clock=lambda: now[0],
            sleep=lambda seconds: now.__setitem__(0, now[0] + seconds),
        )
        agent.begin()
        for prompt in prompts or ("Look.",):
            agent.run(prompt)
        store.close()

    return work


def page(offset: int) -> ScriptStep:
    return call("view", file_path="a.txt", offset=offset, limit=90)


def eventful() -> list[ScriptStep]:
    """Return steps with cuts, a refusal, faults with a wait, a fresh start, a repeated read, and a call of an unknown tool."""
    fault = fail(503, {"error": {"message": "overloaded"}})
    pages = [page(offset) for offset in (0, 90, 180, 270)]
    return [*pages, refuse(17_000, of=WINDOW), page(0), fault, fault, fault, *pages, call(HOSTILE), say("So it is.")]


def typed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["stats", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status, out, err = typed(capsys, *arguments, "--json")
    assert err == ""
    return status, json.loads(out)


def test_the_report_is_aligned_inert_and_says_about_where_it_estimates(
    worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every part is there; a name that a model made up for a tool cannot move the cursor or add a row."""
    worked("one", eventful(), "Read \x1b]0;title\x07it.")
    status, out, err = typed(capsys, "one")
    assert (status, err) == (0, "")
    blocks = [block.splitlines() for block in out.rstrip("\n").split("\n\n")]
    assert blocks[0][0].startswith("Session one: 1 task, 11 turns, ")
    heads = [block[0].split("  ")[0] for block in blocks[1:]]
    assert heads[0] == "tokens, about"
    assert heads[1].startswith("9 reads, 9.0 a task, 5 repeated; each 90 lines and about ")
    assert heads[2:-1] == ["calls", "cuts", "handoffs", "refusals", "Faults: 3 overloaded", "response times"]
    assert re.fullmatch(rf"cost against size: \d+ of {WINDOW} tokens", heads[-1])
    assert "Waits: 1 wait, 60 s in all" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\x1b[2Jview\\u{202e} | 99" in out
    tokens = blocks[1]
    assert {len(line) for line in tokens[:-1]} == {len(tokens[0])}
    assert tokens[-2].startswith("in all ")


def test_the_object_has_its_keys_and_adds_up(worked: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts rely on these keys; sums over rows are the figures of the whole."""
    worked("one", eventful())
    status, found = as_json(capsys, "one")
    assert status == 0
    assert list(found) == [
        "sessions",
        "records",
        "turns",
        "usage",
        "sources",
        "reads",
        "tasks",
        "calls",
        "cuts",
        "refusals",
        "faults",
        "waits",
        "handoffs",
        "response_times",
        "savings",
        "fill",
        "cost_against_size",
        "unread",
        "children",
    ]
    assert found["sessions"] == ["one"]
    assert found["turns"] == len(found["fill"]) == 11
    assert {"session": "one", "turn": 1, "reported": True, "window_tokens": WINDOW}.items() <= found["fill"][0].items()
    assert found["reads"]["reads"] == 9 == sum(task["reads"] for task in found["tasks"])
    assert found["tasks"][0]["prompt"] == "Look."
    assert {row["tool"]: (row["calls"], row["failed"]) for row in found["calls"]} == {"view": (9, 0), HOSTILE: (1, 1)}
    assert sum(row["recovered"] for row in found["refusals"]) == 1
    assert (found["faults"], found["waits"]) == ({"overloaded": 3}, {"waits": 1, "seconds": 60.0})
    assert [(row["reason"], row["after_turn"]) for row in found["handoffs"]] == [("turns", 8)]
    assert sum(row["cuts"] for row in found["cuts"]) >= 1
    results = {row["tool"]: row["came_tokens"] for row in found["sources"] if row["source"] == "results"}
    assert results == {row["tool"]: row["result_tokens"] for row in found["calls"]}
    savings = found["savings"]
    assert savings["is_estimate"] is True
    assert savings["saved_tokens"] == savings["whole_tokens"] - savings["shown_tokens"]
    assert sum(row["answers"] for row in found["response_times"]) == 11


def test_a_session_says_what_its_context_costs_at_its_size(
    worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures are for its newest request, in its window, by its own limits, as `degradation` gives them."""
    worked("one", [page(0), page(90), page(180), page(270), say("Seen.")], rungs=PROFILES["default"].rungs)
    out, found = typed(capsys, "one")[1], as_json(capsys, "one")[1]
    (cost,) = found["cost_against_size"]
    newest = found["fill"][-1]
    assert (cost["tokens"], cost["window_tokens"]) == (newest["request_tokens"], WINDOW)
    assert cost["tokens"] > found["fill"][0]["request_tokens"]
    said = assess(cost["tokens"], WINDOW)
    assert out.rpartition("\n\n")[2] == f"cost against size: {said}\n"
    assert (cost["cost"]["low"], cost["cost"]["high"]) == said.cost
    assert [(row["known"], row["text"]) for row in cost["statements"]] == list(said.statements)


def test_the_policy_is_the_session_s_own(worked: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    """A profile that warns early says to watch when another would continue."""
    worked("calm", [page(0), say("Seen.")])
    worked("early", [page(0), say("Seen.")], rungs=(Rung(Pressure.WATCH, 1_000),))
    found = {row["session"]: row for row in as_json(capsys)[1]["cost_against_size"]}
    assert found["calm"]["tokens"] == found["early"]["tokens"]
    assert (found["calm"]["pressure"], found["early"]["pressure"]) == ("CALM", "WATCH")
    table = typed(capsys)[1].rpartition("\n\n")[2].splitlines()
    assert table[0].split("  ")[0] == "cost against size"
    assert [line.split()[0] for line in table[1:]] in (["calm", "early"], ["early", "calm"])
    assert next(line for line in table if line.startswith("early")).endswith("monitor the number of turns")


def test_of_many_sessions_the_fullest_are_shown(
    worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten rows are shown, and the number of others; a script gets all."""
    for number in range(12):
        worked(f"s{number:02}", [*(page(0) for _ in range(number % 3)), say("Seen.")])
    block = typed(capsys)[1].rpartition("\n\n")[2].splitlines()
    assert (len(block), block[-1]) == (12, "and 2 sessions less full")
    tokens = [int(line.split()[1]) for line in block[1:-1]]
    assert tokens == sorted(tokens, reverse=True)
    assert len(as_json(capsys)[1]["cost_against_size"]) == 12


def test_a_number_that_no_context_has_is_left_out(
    worked: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider's numbers are not trusted: the other figures remain."""
    worked("one", [say("Seen.")])
    monkeypatch.setattr("penstock.session.degradation._MOST", 10)
    status, found = as_json(capsys, "one")
    assert (status, found["turns"], found["cost_against_size"]) == (0, 1, [])


def test_all_sessions_of_the_store_are_one_report(
    worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an ID there are totals of tasks; the rows of tasks are for one session."""
    worked("one", [page(0), say("Seen.")])
    worked("two", [page(0), page(0), say("Seen."), say("Again.")], "Look.", "And?")
    status, out, _ = typed(capsys)
    assert (status, out.splitlines()[0].split(",")[:2]) == (0, ["2 sessions: 3 tasks", " 6 turns"])
    assert "3 reads, 1.0 a task, 1 repeated" in out
    assert "prompt" not in out
    assert sorted(as_json(capsys)[1]["sessions"]) == ["one", "two"]


def test_a_prompt_of_two_lines_is_one_cell_and_escaped_once(
    worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A table escapes foreign text, and nothing before it does."""
    worked("one", [page(0), say("Seen.")], "Look.\nAnd say.")
    _, out, _ = typed(capsys, "one")
    assert r"Look.\x0aAnd say." in out


def test_the_picture_is_well_formed_and_shows_the_window_the_fill_and_the_marks(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """It stays inside its frame, is private, has a title and units, and has nothing that runs or is fetched."""
    worked('<one & "only">', eventful())
    status, found = as_json(capsys, '<one & "only">', "--svg", "fill.svg")
    assert (status, found["svg"]) == (0, "fill.svg")
    assert os.stat(folder / "fill.svg").st_mode & 0o777 == 0o600
    drawn = ET.fromstring((folder / "fill.svg").read_text("utf-8"))
    assert drawn.tag == f"{SVG}svg"
    assert drawn.findtext(f"{SVG}title") == 'Session <one & "only">: how full the window was'
    words = [text.text for text in drawn.iter(f"{SVG}text")]
    assert {"tokens of a request", "turn (answer of the model)", "window", str(WINDOW), "0", "1", "11"} <= set(words)
    (line,) = drawn.iter(f"{SVG}polyline")
    points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
    assert len(points) == found["turns"]
    assert all(0 <= x <= 960 and 0 <= y <= 360 for x, y in points)
    assert [x for x, _ in points] == sorted({x for x, _ in points})
    marks = [mark.findtext(f"{SVG}title") for mark in drawn.iter(f"{SVG}path")]
    said = [mark for mark in marks if mark]
    assert len(said) == sum(row["cuts"] for row in found["cuts"]) + len(found["handoffs"])
    assert any(mark.startswith("handoff, turns: ") for mark in said)
    tags = {element.tag.removeprefix(SVG) for element in drawn.iter()}
    assert tags <= {"svg", "title", "text", "line", "polyline", "circle", "path"}


@pytest.mark.parametrize("steps", [[], [say("At once.")]])
def test_a_session_of_no_turn_or_one_has_a_picture_too(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str], steps: list[ScriptStep]
) -> None:
    """There is no division by zero."""
    bad_key = fail(401, {"error": {"message": "invalid api key"}})
    worked("one", steps or [bad_key])
    status, out, _ = typed(capsys, "one", "--svg", "fill.svg")
    assert status == 0
    assert out.endswith("The picture is in fill.svg\n")
    drawn = ET.fromstring((folder / "fill.svg").read_text("utf-8"))
    assert len(list(drawn.iter(f"{SVG}circle"))) == len(steps)


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_page_of_a_session_shows_what_the_figures_say(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """It has turns, refusals, cuts and handoffs; the file is private and nothing in it acts."""
    worked("one", eventful(), "Read \x1b]0;title\x07it.")
    worked("two", [say("Seen.")])  # used last, and not asked for
    status, out, _ = typed(capsys, "one", "--html", "story.html")
    assert status == 0
    assert out.endswith("\n\nThe page is in story.html\n")
    text = (folder / "story.html").read_text("utf-8")
    assert (folder / "story.html").stat().st_mode & 0o777 == 0o600
    assert set(text) & set("\x1b\x07\u202e") == set()
    seen = page_figures(text)
    _, found = as_json(capsys, "one", "--html", "story.html")
    assert found["html"] == "story.html"
    assert re.search(r"\bSize\s+[\d.]+ KB", read(text).text)  # a session in a database has no file
    assert seen["Refusals"] == sum(row["refusals"] for row in found["refusals"]) == 1
    assert seen["Turns"] == found["turns"] + seen["Refusals"]
    assert seen["Newest"] == found["fill"][-1]["request_tokens"]
    assert seen["Compactions"] == sum(row["cuts"] for row in found["cuts"]) > 0
    assert f"and {len(found['handoffs'])} handoff" in text


def page_figures(text: str) -> dict[str, int]:
    """Return the figures at the top of a page."""
    rows = read(text).all("ul", class_="tiles")[0].all("li")
    return {row.all("span")[0].text: figure(row.all("strong")[0].text) for row in rows if row.text[:5] != "Money"}


def test_without_an_id_the_page_lists_all_sessions(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has a row with the figures of its own page, last used first; a damaged one is listed as far as it can be read."""
    worked("one", eventful())
    assert typed(capsys, "--html", "all.html")[0] == 0
    assert "1 session of 1 program" in read((folder / "all.html").read_text("utf-8")).text
    worked("two", [page(0), say("Seen.")])
    store = SqliteStore(str(folder / "store"))
    store.append("foreign", 0, "asked", {"text": "why?"})
    store.close()
    status, out, _ = typed(capsys, "--html", "all.html")
    assert status == 6  # as without the page: one cannot be read
    assert out.endswith("\n\nThe page is in all.html\n")
    ((_, rows, total),) = listings(read((folder / "all.html").read_text("utf-8")))
    assert [cells(row)[0].split()[:2] for row in rows] == [
        ["foreign", "penstock"],
        ["two", "penstock"],
        ["one", "penstock"],
    ]
    assert [cells(row)[3] for row in rows][:2] == ["0", "2"]
    assert total is not None
    assert figure(cells(total)[3]) == sum(figure(cells(row)[3]) for row in rows)


def test_the_page_of_all_sessions_reads_the_journals_that_it_lists_one_by_one(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten thousand sessions the last used are listed, as the page says, and only one story is in memory at a time."""
    for name in ("one", "two", "three"):
        worked(name, [page(0), say("Seen.")])
    done: list[str] = []
    for module, name in ((timeline, "story_of"), (overview, "row_of")):
        function = getattr(module, name)

        def noted(*given: Any, name: str = name, function: Callable[..., Any] = function) -> Any:
            done.append(name)
            return function(*given)

        monkeypatch.setattr(module, name, noted)
    monkeypatch.setattr(figures, "MAX_ROWS", 2)
    assert typed(capsys, "--html", "all.html")[0] == 0
    shown = read((folder / "all.html").read_text("utf-8"))
    ((_, rows, _),) = listings(shown)
    assert [cells(row)[0].split()[0] for row in rows] == ["three", "two"]
    assert "The 2 sessions last used, of 3" in shown.text
    assert done == ["story_of", "row_of"] * 2


def test_both_pictures_can_be_asked_for_and_neither_is_written_in_vain(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """There are two files; a missing folder gives status 8."""
    worked("one", [page(0), say("Seen.")])
    _, found = as_json(capsys, "one", "--svg", "a.svg", "--html", "a.html")
    assert (found["svg"], found["html"]) == ("a.svg", "a.html")
    assert sorted(os.listdir(folder)) == ["a.html", "a.svg", "store", "tree"]
    status, found = as_json(capsys, "one", "--html", "no/such/folder.html")
    assert (status, found["error"]["code"]) == (8, "io_error")


# ── what does not go well ────────────────────────────────────────────────────────────────────────────────────────


def test_an_empty_store_says_what_to_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit status 1 means nothing found; with --store the suggested command has that store."""
    status, out, err = typed(capsys)
    assert (status, out) == (1, "")
    assert 'Try: penstock run "QUESTION"\n' in err
    SqliteStore(str(folder / "another one")).close()
    status, found = as_json(capsys, "--store", "another one")
    assert status == 1
    assert found["error"]["try"] == "penstock run \"QUESTION\" --store 'another one'"


def test_mistakes_are_named_with_what_would_work(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown session gives 4, a picture of several 2, a picture that cannot be written 8."""
    worked("one", [say("Seen.")])
    worked("two", [say("Seen.")])
    status, found = as_json(capsys, "three")
    assert (status, found["error"]["code"], found["error"]["try"]) == (4, "not_found", "penstock sessions")
    status, found = as_json(capsys, "--svg", "all of it.svg")
    assert (status, found["error"]["code"]) == (2, "usage")
    assert found["error"]["try"].startswith("penstock stats ")
    assert found["error"]["try"].endswith(" --svg 'all of it.svg'")
    status, found = as_json(capsys, "one", "--svg", "no/such/folder.svg")
    assert (status, found["error"]["code"]) == (8, "io_error")
    assert sorted(os.listdir(folder)) == ["store", "tree"]
    assert as_json(capsys, "--store", "mysql://host/db")[0] == 2


def test_what_cannot_be_read_is_named_and_the_rest_reported(
    folder: Path, worked: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit status is 6; the newest sound record is given, and the other session counts in full."""
    worked("sound", [page(0), say("Seen.")])
    worked("hurt", [page(0), say("Seen.")])
    store = SqliteStore(str(folder / "store"))
    store._connected().execute("UPDATE records SET payload = '{}' WHERE session = 'hurt' AND seq = 3")
    store.append("foreign", 0, "asked", {"text": "why?"})
    store.close()
    status, out, _ = typed(capsys)
    assert status == 6
    assert "Not read to its end: hurt: Session hurt: record 3 is not what was written" in out
    assert "Records up to 2 are sound." in out
    assert "Not read to its end: foreign: " in out
    status, found = as_json(capsys)
    assert status == 6
    assert {row["session"]: row["newest_sound"] for row in found["unread"]} == {"hurt": 2, "foreign": None}
    assert found["turns"] == 3
    assert as_json(capsys, "sound")[0] == 0


def test_the_command_is_at_the_front_door(folder: Path, worked: Callable[..., None]) -> None:
    """It runs in its own process, as typed, with parallel calls and a repeated read."""
    worked("one", [calls(page(0), page(0)), say("Seen.")])
    done = subprocess.run([*warm_penstock(), "stats", "one"], capture_output=True, text=True, timeout=60, check=True)
    assert "2 reads, 2.0 a task, 1 repeated" in done.stdout
    assert done.stderr == ""
