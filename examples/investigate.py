"""A question that outlives a flood, a refusal and a kill, in one session of `penstock run` with the built-in model.

The question is about the standard library of the Python that runs this. The model has a window of 16,000 tokens and refuses what is
larger; the session believes that it has 128,000, as a wrong catalogue would have it, and asks for long replies. Once a refusal is
dealt with and a file was read the process is killed, without a chance to say good-bye. `penstock resume` checks the files, goes on
where the journal ends, and answers with lines that prove it. What happened on the way is then read from the session's own journal,
and `penstock show` prints the bill.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import closing
from typing import Any

from penstock.store import open_store
from penstock.text import tokens

ROOT = sysconfig.get_path("stdlib")
QUESTION = "How long may a line be that smtplib reads from a mail server?"
BELIEVED = ["--window", "128000", "--reserve", "12000"]
WINDOW_TOKENS = 16_000
PENSTOCK = [sys.executable, "-m", "penstock"]
FOUND = re.compile(r"(\d+) matching lines in (\d+) files? \| showing (\d+)-(\d+)")

Written = tuple[int, str, Any]
"""A record of the journal: its place, its kind, what it holds."""


def printed(*arguments: str) -> str:
    """What a command of Penstock prints."""
    return subprocess.run([*PENSTOCK, *arguments], capture_output=True, text=True, check=True).stdout


def killed() -> tuple[str, int]:
    """Asks the question, and kills the process in the middle of the work; the session, and how many records it has by then."""
    command = ["run", QUESTION, "--root", ROOT, *BELIEVED]
    print(f"$ penstock run {QUESTION!r} --root … {' '.join(BELIEVED)}")
    awaited = {"refused: ", "calls view "}
    with subprocess.Popen(
        [*PENSTOCK, *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            print(f"  │ {line.rstrip()[:120]}")
            awaited -= {sign for sign in awaited if f"] {sign}" in line}
            if not awaited and line.rstrip().endswith("answered"):
                running.send_signal(signal.SIGKILL)
                break
    assert running.returncode == -signal.SIGKILL, "the question was answered before anything happened to it"
    print("  killed with SIGKILL")
    (newest,) = json.loads(printed("sessions", "--json"))["sessions"]
    return newest["session"], newest["records"]


def resumed(session: str) -> None:
    """Goes on where the journal ends."""
    print(f"\n$ penstock resume {session}")
    result = json.loads(printed("resume", session, "--json"))
    states = [file["state"] for file in result["verification"]]
    print(f"  files checked: {', '.join(f'{states.count(state)} {state}' for state in sorted(set(states)))}")
    for line in result["answer"].splitlines():
        print(f"  │ {line[:120]}")
    assert result["outcome"] == "answered"
    assert result["citations"]


def told(session: str, records_before: int) -> None:
    """What happened to the session, from its journal, in the order in which it did."""
    with closing(open_store(os.environ["PENSTOCK_STORE"])) as store:
        records: list[Written] = [(record.seq, record.type, record.data) for record in store.events(session)]
    print(f"\nWhat the journal of {session} says, {len(records)} records:")
    found_at, flood = largest(records)
    happened = []
    for seq, kind, data in records:
        if seq == records_before:
            happened.append(("killed", f"{seq} records had been written, and all are there; the resume wrote the rest"))
        if kind == "Refused":
            said = data["overflow"]
            happened.append(("refused", f"{said['total']} tokens with the reply; the model takes {said['limit']}"))
        elif kind == "Compacted" and data["edits"]:
            handles = " ".join(edit["handle"] for edit in data["edits"])
            happened.append(
                ("cut", f"old messages left the view ({data['strategy']}), kept whole: penstock page {handles}")
            )
        elif kind == "Compacted":
            happened.append(("recovered", f"a reply of at most {data['reserve_tokens']} tokens is asked for"))
        elif seq == found_at:
            happened.append(("flood", flood))
    for what, line in happened:
        print(f"  {what:<9} │ {line}")
    assert {"killed", "refused", "flood"} <= {what for what, _ in happened}


def largest(records: list[Written]) -> tuple[int, str]:
    """The search that found most, all of which is more than the window holds: the record of its result, and what it was."""
    calls: dict[str, dict[str, Any]] = {}
    found: list[tuple[int, int, str, re.Match[str], str]] = []
    for seq, kind, data in records:
        for message in data["messages"] if kind in {"Replied", "Returned"} else ():
            calls |= {call["id"]: json.loads(call["function"]["arguments"]) for call in message.get("tool_calls") or ()}
            if message["role"] == "tool" and (head := FOUND.match(message["content"])):
                found.append((int(head[1]), seq, message["tool_call_id"], head, message["content"]))
    _, seq, call, head, shown = max(found, key=lambda one: one[:2])
    pattern, path = calls[call]["pattern"], calls[call].get("path", ".")
    whole = subprocess.run(["grep", "-rnP", pattern, path], cwd=ROOT, capture_output=True, check=False).stdout
    plain, ours = tokens.count(whole.decode("utf-8", "replace")).tokens, tokens.count(shown).tokens
    assert plain > WINDOW_TOKENS
    return (
        seq,
        f"a search found {head[1]} lines in {head[2]} files: about {plain} tokens as grep prints them, {ours} as they came",
    )


def billed(session: str) -> None:
    print(f"\n$ penstock show {session}")
    for line in printed("show", session).splitlines():
        print(f"  │ {line[:120]}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PENSTOCK_STORE"] = f"sqlite://{folder}/store"
        session, records = killed()
        resumed(session)
        told(session, records)
        billed(session)


if __name__ == "__main__":
    main()
