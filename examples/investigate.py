"""A question that outlives a kill: `penstock run` with the built-in model, in its window of 16,000 tokens.

The question is about the standard library of the Python that runs this. After a few answers the process is killed, without a chance
to say good-bye. `penstock resume` checks the files that were read, goes on where the journal ends, and answers with lines that
prove it; `penstock show` prints the bill.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile

ROOT = sysconfig.get_path("stdlib")
QUESTION = "What similarity cutoff does get_close_matches use by default?"
PENSTOCK = [sys.executable, "-m", "penstock"]
ANSWERS_BEFORE_THE_KILL = 3


def killed() -> str:
    """Asks the question, and kills the process in the middle of the work; the id of its session."""
    command = [*PENSTOCK, "run", QUESTION, "--root", ROOT]
    print(f"$ penstock run {QUESTION!r} --root …")
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        assert running.stderr is not None
        answers = 0
        for line in running.stderr:
            print(f"  │ {line.rstrip()[:120]}")
            answers += line.rstrip().endswith("answered")
            if answers == ANSWERS_BEFORE_THE_KILL:
                running.send_signal(signal.SIGKILL)
                break
    print("  killed with SIGKILL")
    listed = subprocess.run([*PENSTOCK, "sessions", "--json"], capture_output=True, check=True).stdout
    return str(json.loads(listed)["sessions"][0]["session"])


def resumed(session: str) -> None:
    """Goes on where the journal ends."""
    print(f"\n$ penstock resume {session}")
    done = subprocess.run([*PENSTOCK, "resume", session, "--json"], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    states = [file["state"] for file in result["verification"]]
    print(f"  {len(states)} files checked: {', '.join(sorted(set(states)))}")
    for line in result["answer"].splitlines():
        print(f"  │ {line[:120]}")
    print(
        f"  {result['turns']} more turns, {result['cuts']} cuts, {result['recoveries']} refusals recovered, {result['usage']}"
    )
    assert result["outcome"] == "answered"
    assert result["citations"]


def billed(session: str) -> None:
    print(f"\n$ penstock show {session}")
    shown = subprocess.run([*PENSTOCK, "show", session], capture_output=True, text=True, check=True).stdout
    for line in shown.splitlines():
        print(f"  │ {line[:120]}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PENSTOCK_STORE"] = f"sqlite://{folder}/store"
        session = killed()
        resumed(session)
        billed(session)


if __name__ == "__main__":
    main()
