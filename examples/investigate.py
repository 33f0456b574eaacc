"""One question that survives too much output, a refusal and a kill, step by step.

An agent (`penstock run`) is asked why an order failed. The answer is one line in a log of 20,000. Its model is a script behind real
HTTP on this machine (`penstock.testing.LoopbackProvider`): it has a window of 16,000 tokens, refuses anything larger in OpenAI's
words, and is as hasty as models are: it asks for everything, then reads page after page. The agent assumes a window of 128,000, as
a wrong catalogue would say. Halfway through, its process is killed without warning, and `penstock resume` continues. Everything
printed is what happened: the agent's own lines, and the journal of the session.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from penstock.models import ScriptStep, call, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.text import tokens

QUESTION = "Why did an order fail this morning?"
WINDOW_TOKENS, BELIEVED_TOKENS = 16_000, 128_000
FAILED, WHY = 13_008, "2026-11-22T10:36:47 order 88 failed 507 no space left on device /var/spool/orders"
PENSTOCK = [sys.executable, "-m", "penstock"]
ASK = ["--model", "openai-chat:hasty", "--window", str(BELIEVED_TOKENS)]


def make_log(folder: Path) -> str:
    """Write a log of 20,000 lines, one of which says what went wrong."""
    lines = [
        f"2026-11-22T{7 + n // 3600:02}:{n // 60 % 60:02}:{n % 60:02} order {n % 97} accepted 201"
        for n in range(20_000)
    ]
    lines[FAILED - 1] = WHY
    (folder / "server.log").write_text("\n".join(lines) + "\n")
    return "\n".join(lines)


def hasty(request: dict[str, Any]) -> ScriptStep:
    """Play the model: everything at once, then page after page, and finally a good idea."""
    seen = str(request["messages"])
    if "no space left" in seen:
        return say(f"Order 88 failed at 10:36:47: no space left on device.\n\nserver.log:{FAILED}: {WHY}")
    if "matching line" not in seen and "start_line" not in seen:
        return call("search", pattern="order", path="server.log", limit=500)
    start_line = max(map(int, re.findall(r"start_line\D+(\d+)", seen)), default=-399) + 400
    if start_line > 1_600:
        return call("search", pattern=r" 5\d\d ")
    return call("read_file", path="server.log", start_line=start_line, end_line=start_line + 399)


def title(number: int, text: str) -> None:
    """Print a heading, and in a sentence or two what comes next."""
    print(f"\n── {number} · {text}")


def printed(*arguments: str) -> str:
    """Return what a command of Penstock prints."""
    return subprocess.run([*PENSTOCK, *arguments], capture_output=True, text=True, check=True).stdout


def killed(root: str) -> tuple[str, int]:
    """Ask, and kill the process after its first refusal; return the session and the number of its records."""
    print(f"$ penstock run {QUESTION!r} {' '.join(ASK)}")
    is_refused = False
    command = [*PENSTOCK, "run", QUESTION, "--root", root, *ASK]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            print(f"  │ {line.rstrip()[:120]}")
            is_refused = is_refused or "refused: " in line
            if is_refused and " returned: " in line:
                running.send_signal(signal.SIGKILL)
                break
    assert running.returncode == -signal.SIGKILL, "the question was answered before anything happened to it"
    (newest,) = json.loads(printed("sessions", "--json"))["sessions"]
    return newest["session"], newest["records"]


def resumed(session: str) -> None:
    """Continue where the journal ends."""
    print(f"$ penstock resume {session}")
    result = json.loads(printed("resume", session, "--json"))
    for line in result["answer"].splitlines():
        print(f"  │ {line}")
    assert result["outcome"] == "answered"
    assert [(one["path"], one["line"]) for one in result["citations"]] == [("server.log", FAILED)]


def told(session: str, records_before: int, log: str) -> None:
    """Print what happened, from the session's journal."""
    with closing(open_store(os.environ["PENSTOCK_STORE"])) as store:
        records = [(record.seq, record.type, record.data) for record in store.events(session)]
        whole = tokens.count(log).tokens
        happened = []
        for seq, kind, data in records:
            if seq == records_before:
                happened.append(("kill", f"{seq} records had been written, and all of them are there"))
            if kind == "Returned" and not happened:
                shown = data["messages"][0]["content"]
                found = shown.partition(" matching lines")[0]
                happened.append(
                    (
                        "flood",
                        f"a search matched {found} lines, about {whole} tokens; the page of it took {tokens.count(shown).tokens}",
                    )
                )
            if kind == "Refused":
                said = data["overflow"]
                happened.append(
                    (
                        "refusal",
                        f"HTTP 400: the request has {said['total']} tokens with its reply, the model takes {said['limit']}",
                    )
                )
            if kind == "Compacted" and data["edits"]:
                handles = " ".join(dict.fromkeys(edit["handle"] for edit in data["edits"]))
                happened.append(
                    ("cut", f"old results left the view, each whole under its handle: penstock page {handles}")
                )
    for what, line in happened:
        print(f"  {what:<8}│ {line}")
    assert {"flood", "refusal", "cut", "kill"} <= {what for what, _ in happened}


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        LoopbackProvider("openai-chat", WINDOW_TOKENS, policy=hasty) as provider,
    ):
        os.environ |= {
            "PENSTOCK_STORE": f"sqlite://{folder}/store",
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_API_KEY": "none",
        }
        root = Path(folder) / "shop"
        root.mkdir()
        log = make_log(root)
        title(
            1, f"The log has {len(log.splitlines())} lines: more than the model holds. It asks for them all the same."
        )
        session, records = killed(str(root))
        title(2, "The process was killed (SIGKILL). Whatever was acknowledged is on disk, so another process goes on.")
        resumed(session)
        title(3, "What had happened, from the journal of the session:")
        told(session, records, log)
        title(4, "The bill of the next request, were the conversation to go on:")
        for line in printed("show", session).splitlines():
            print(f"  │ {line[:120]}")


if __name__ == "__main__":
    main()
