"""Are the readers, the calculation and the law of the replay benchmark right, on sessions made here?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bench.policies import STUB, Mask, policies

from bench import replay, sessions
from penstock.store import open_store
from penstock.wires import load, violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.store import Store

ROOT = Path(__file__).parents[2]
VIEW = "[File: /repo/a.py (3 lines total)]\n1:import os\n2:def f():\n3:    return 1\n(Open file: /repo/a.py)\nbash-$"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Open a real store in its own folder."""
    opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


def pi_event(message: dict[str, Any]) -> str:
    return json.dumps({"type": "message", "message": message})


def pi_said(text: str) -> str:
    return pi_event({"role": "user", "content": [{"type": "text", "text": text}]})


def pi_step(number: int, name: str, arguments: dict[str, Any], result: str | None) -> list[str]:
    """Return a call, with its result if there is one."""
    call = {"type": "toolCall", "id": f"t{number}", "name": name, "arguments": arguments}
    lines = [pi_event({"role": "assistant", "content": [call]})]
    if result is not None:
        content = [{"type": "text", "text": result}]
        lines.append(pi_event({"role": "toolResult", "toolCallId": f"t{number}", "content": content, "isError": False}))
    return lines


def pi_session(files: int, lines: int) -> sessions.Session:
    """Return reads of many files, then an edit of the first and of the last of them."""
    rows = [json.dumps({"type": "session", "id": "s"}), pi_said("Rename the functions.")]
    for number in range(files):
        text = "".join(f"def function_{number}_{line}(): ...\n" for line in range(lines))
        rows += pi_step(number, "read", {"path": f"m{number}.py"}, text)
    for number, edited in enumerate((0, files - 1), files):
        old = f"def function_{edited}_3(): ..."
        rows += pi_step(number, "edit", {"path": f"m{edited}.py", "oldText": old, "newText": "def g(): ..."}, "Done.")
    rows.append(pi_event({"role": "assistant", "content": [{"type": "text", "text": "Renamed."}]}))
    return sessions.pi("made.jsonl", "\n".join(rows))[0]


def trajectory(*steps: tuple[str, str]) -> str:
    """Return a trajectory of commands in text, with what they printed."""
    history = [{"role": "system", "content": "You are a programmer."}, {"role": "user", "content": "Mend f."}]
    for action, printed in steps:
        history.append({"role": "assistant", "content": f"So.\n```\n{action}\n```", "thought": "So.", "action": action})
        history.append({"role": "user", "content": printed})
    return json.dumps({"history": history})


def calls(session: sessions.Session) -> list[tuple[str, dict[str, Any]]]:
    entries = load(session.messages, session.wire).entries
    return [(call.name, call.values) for entry in entries for call in entry.calls]


def test_a_session_of_pi_becomes_a_valid_list_of_messages() -> None:
    """Parallel results share a message, an interrupted call is closed, and an empty answer is dropped."""
    rows = [
        pi_said("Look."),
        pi_event({"role": "assistant", "content": []}),
        *pi_step(1, "read", {"path": "a"}, "alpha"),
        *pi_step(2, "bash", {"command": "ls"}, None),
    ]
    (session,) = sessions.pi("made.jsonl", "\n".join(rows))
    assert violations(session.messages, "anthropic") == []
    assert calls(session) == [("read", {"path": "a"}), ("bash", {"command": "ls"})]
    assert session.calls == [1, 3]


def test_commands_in_the_text_become_calls_with_path_and_lines() -> None:
    """What a command leaves out, the open file, is taken from the output before it."""
    text = trajectory(
        ("open /repo/a.py 2", VIEW),
        ("scroll_down", VIEW),
        ("goto 2", VIEW),
        ("search_file 'def f'", VIEW),
        ('search_dir "def f" /repo', VIEW),
        ("edit 2:3\ndef g():\n    return 2\nend_of_edit", VIEW),
        ("python a.py", "1\n"),
        ("submit", "diff"),
    )
    assert calls(sessions.swe_agent("made.traj", text)[0]) == [
        ("open", {"path": "/repo/a.py", "line": 2}),
        ("scroll_down", {"path": "/repo/a.py"}),
        ("goto", {"path": "/repo/a.py", "line": 2}),
        ("search_file", {"pattern": "def f", "path": "/repo/a.py"}),
        ("search_dir", {"pattern": "def f", "path": "/repo"}),
        ("edit", {"path": "/repo/a.py", "start_line": 2, "end_line": 3, "text": "def g():\n    return 2"}),
        ("bash", {"command": "python a.py"}),
        ("submit", {}),
    ]


def test_an_edit_by_line_numbers_needs_the_lines_as_they_were_shown() -> None:
    """The newest view of the open file that has all those lines is what the edit was based on."""
    text = trajectory(("open /repo/a.py", VIEW), ("edit 2:3\nx\nend_of_edit", VIEW))
    (session,) = sessions.swe_agent("made.traj", text)
    assert session.needs == {4: ["\n2:def f():\n3:    return 1\n"]}


def test_an_edit_of_what_was_never_shown_is_not_asked_for() -> None:
    """No policy could have kept a text that is nowhere in the history."""
    rows = [pi_said("Mend it."), *pi_step(1, "edit", {"path": "a", "oldText": "unseen", "newText": ""}, "No match.")]
    assert sessions.pi("made.jsonl", "\n".join(rows))[0].needs == {}


def dialogue(*said: str | tuple[str, dict[str, Any], str]) -> list[dict[str, Any]]:
    """Return alternating words of a customer and an agent, with calls and results in between."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You book flights."}]
    for number, one in enumerate(said):
        if isinstance(one, str):
            messages.append({"role": "user" if messages[-1]["role"] != "user" else "assistant", "content": one})
            continue
        name, arguments, result = one
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return messages


def test_a_dialogue_needs_the_identifiers_that_were_said_before() -> None:
    """Identifiers from the customer or a tool that a call repeats are needed, not invented ones, nor words without digits."""
    said = dialogue(
        "I am mia_li_3668, to Seattle on 2024-05-20.",
        ("get_user", {"user": "mia_li_3668"}, '{"card": "card_7447", "home": "austin"}'),
        ("book", {"card": "card_7447", "home": "austin", "seat": "made_up_1", "day": "2024-05-20", "no": "7"}, "done"),
    )
    (session,) = sessions.tau("gpt.json", json.dumps([{"task_id": 3, "trial": 1, "traj": said}]))
    assert session.name == "gpt 3#1"
    assert session.needs == {2: ["mia_li_3668"], 4: ["2024-05-20", "card_7447"]}


def test_the_trials_of_a_task_are_in_one_half_and_both_halves_are_all(tmp_path: Path) -> None:
    """A policy must not be chosen on its test data, so no task is in both halves."""
    said = dialogue("Hello.")
    rows = [{"task_id": task, "trial": trial, "traj": said} for task in range(30) for trial in range(2)]
    (tmp_path / "made.json").write_text(json.dumps(rows))
    whole = [session.name for session in sessions.corpus(str(tmp_path))]
    halves = [{session.name for session in sessions.corpus(str(tmp_path), half)} for half in (0, 1)]
    assert halves[0] | halves[1] == set(whole)
    tasks = [{name.partition("#")[0] for name in half} for half in halves]
    assert min(map(len, tasks)) > 5
    assert not tasks[0] & tasks[1]


def test_a_summary_of_fixed_length_takes_the_place_of_all_but_the_newest_turns(store: Store) -> None:
    """This baseline of pruning by summaries keeps the task and the newest turns; the edit of the first file comes too late."""
    session, made = pi_session(files=30, lines=60), replay.Outcome()
    talk = replay.replay(session, policies(above_tokens=4_000)["summaries"], store, made)
    assert (made.visible, made.needed) == (1, 2)
    assert made.plans > 1
    assert made.violations == 0
    assert made.largest_chars <= 4_000 * 4 + 2_000
    assert talk.visible()[0].text == "Rename the functions."


def test_cost_is_what_is_read_from_the_cache_and_what_is_written(store: Store) -> None:
    """The three calls were calculated by hand: each prompt is written once, and its prefix is read at a tenth of the price."""
    session = sessions.session(
        "made",
        "anthropic",
        [
            {"role": "user", "content": "a" * 98},
            {"role": "assistant", "content": "b" * 48},
            {"role": "user", "content": "c" * 48},
            {"role": "assistant", "content": "d"},
        ],
    )
    made = replay.Outcome()
    replay.replay(session, Mask(), store, made)
    assert (made.calls, made.chars, made.largest_chars) == (2, 100 + 200, 200)
    assert made.cost == pytest.approx(1.25 * 100 + 0.1 * 100 + 1.25 * 100)


def test_a_rolling_mask_loses_the_cache_and_the_text(store: Store) -> None:
    """For a mask of all but the newest five results, the edit of the first file comes too late."""
    session, made = pi_session(files=8, lines=40), replay.Outcome()
    talk = replay.replay(session, Mask(keep_results=5), store, made)
    assert (made.visible, made.needed, made.plans) == (1, 2, 5)
    assert made.gone_bytes > 0 == made.kept_bytes
    assert "read m0.py" in made.hidden[0]
    assert STUB in made.hidden[0]
    raw = replay.Outcome()
    replay.replay(session, Mask(), store, raw)
    assert made.chars < raw.chars
    assert raw.visible == raw.needed
    assert len(talk.entries) == len(session.messages) - 1


def test_our_plan_keeps_every_prefix_valid_and_gives_back_every_byte(store: Store) -> None:
    """There is no violation before any call, and what a prompt no longer shows is in the store, byte for byte."""
    session, made = pi_session(files=30, lines=60), replay.Outcome()
    replay.replay(session, policies(above_tokens=4_000)["penstock"], store, made)
    assert made.plans > 1
    assert made.violations == 0
    assert made.gone_bytes == made.kept_bytes > 0
    assert made.largest_chars <= 4_000 * 4


def test_a_handle_that_gives_back_something_else_counts_as_lost(store: Store) -> None:
    """The measure reads the store: a byte that differs means the content was not recovered."""
    session = pi_session(files=1, lines=5)
    wrong = store.put(b"something else")
    talk = load(session.messages, "anthropic").replace_result(2, "t0", "[cleared]", handle=wrong)
    gone, kept = replay.recovered(talk, store)
    assert gone == sum(len(f"def function_0_{line}(): ...\n") for line in range(5))
    assert kept == 0


def test_the_bench_prints_a_table_for_what_is_there(tmp_path: Path) -> None:
    """A missing corpus is named; each existing one has a row per policy."""
    folder = tmp_path / "replay" / "swe-agent"
    folder.mkdir(parents=True)
    (folder / "made.traj").write_text(trajectory(("open /repo/a.py", VIEW), ("edit 2:3\nx\nend_of_edit", VIEW)))
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "replay.py"],
        env=os.environ | {"PENSTOCK_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pi/large-session.jsonl: not there" in done.stdout
    assert done.stdout.count("| 1 of 1, 100.0 % |") == len(policies(8_000))
