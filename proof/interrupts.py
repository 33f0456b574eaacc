"""R23: is one Ctrl-C enough, at any instant of a run, and does the session continue from there (S-11, S-12)?

A real process works with a model over real HTTP: it reads, edits, runs commands, and is failed now and then, so that it waits. It
is interrupted once, at a random instant. It must end within half a second, with status 130 and the command that resumes; that
command must produce the answer, with every edit done once. A late end is reported with the machine's load and the processes'
processor time, and its instant is tried again: late three times, it is a fault. Four runs are under way at once.
"""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from proof.figure import Figure, folder, main

from penstock.models import ScriptStep, call, fail, say
from penstock.testing import LoopbackProvider
from penstock.wires import load_request

_RUNS, _SHORT_RUNS = 200, 2
_MAX_SECONDS, _SHORT_MAX_SECONDS = 0.5, 4.0
"""How soon a run must end; the short form runs next to other tests, where a process may not be scheduled for that long."""
_AT_ONCE = 4
_TRIES = 3
"""How often an instant may be late: a fault of ours is late each time, a delay by other processes is not."""
_EDITS = 3
_FAILED_AT, _SHORT_FAILED_AT = frozenset({4, 5, 6}), frozenset({4})
"""Which requests of a run are refused, so that it waits: longer each time."""


def _policy(failed_at: frozenset[int]) -> Any:
    """A model that reads, runs a command, and adds lines one by one, as far as the request shows that they are missing."""
    asked = [0]

    def policy(request: dict[str, Any]) -> ScriptStep:
        asked[0] += 1
        if asked[0] in failed_at:
            return fail(503, {"error": {"message": "overloaded"}})
        last = load_request(request, "openai-chat").visible()[-1]
        text = last.results[-1].text if last.results else ""
        if "exit code" not in text and not re.search(r"^\d+\|end$", text, re.MULTILINE):
            return call("run_command", command="sleep 0.3; cat app.txt")
        if "exit code" in text:
            return call("view", file_path="app.txt")
        number = len(re.findall(r"^\d+\|line \d+$", text, re.MULTILINE))
        if number >= _EDITS:
            return say("Done.")
        return call("edit_file", path="app.txt", old="end", new=f"line {number + 1}\nend")

    return policy


class _Late(Exception):
    """A run that ended too late, and what the machine did meanwhile."""


def _tried(seconds: float, max_seconds: float, failed_at: frozenset[int], told: list[str]) -> list[str]:
    """Interrupt a run at an instant, again if its end was late; return what was wrong."""
    for _ in range(_TRIES):
        try:
            return _interrupted(seconds, max_seconds, failed_at)
        except _Late as late:
            told.append(str(late))
    return [f"late {_TRIES} times: {told[-1]}"]


def _processor_seconds() -> float:
    """Processor time so far of all child processes that have ended, including those of the other runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _interrupted(seconds: float, max_seconds: float, failed_at: frozenset[int]) -> list[str]:
    """Interrupt a run after this many seconds, resume it, and return what was wrong.

    Raises:
        _Late: it did not end in time.
    """
    with folder("interrupts") as home, LoopbackProvider("openai-chat", 32_000, policy=_policy(failed_at)) as provider:
        tree = Path(home, "tree")
        tree.mkdir()
        (tree / "app.txt").write_text("end\n")
        before = _processor_seconds()
        environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{home}/store"}
        begin = [
            "run",
            "Add the lines.",
            "--root",
            str(tree),
            "--model",
            "openai-chat:x",
            "--base-url",
            provider.base_url,
        ]
        running = subprocess.Popen(
            [sys.executable, "-m", "penstock", *begin, "--allow-edit", "--allow-shell"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert running.stderr is not None
        seen = running.stderr.readline()  # from here on there is a session
        time.sleep(seconds)
        if running.poll() is not None:
            running.communicate()
            return []
        pressed = time.monotonic()
        running.send_signal(signal.SIGINT)
        seen += running.communicate(timeout=60)[1]
        took = time.monotonic() - pressed
        if running.returncode == 0 or ": answered, " in seen:  # it had just ended
            return []
        if took > max_seconds:
            spent = _processor_seconds() - before
            load = f"{spent:.2f} s of processor from its start, by all {_AT_ONCE}, load {os.getloadavg()[0]:.1f}"
            raise _Late(f"it took {took:.2f} s after {seconds:.2f} s ({load})")
        found = [] if running.returncode == 130 else [f"status {running.returncode} after {seconds:.2f} s"]
        told = re.search(r"penstock resume (\w+)", seen)
        if told is None:
            return [*found, f"no way to go on after {seconds:.2f} s: {seen[-200:]}"]
        for _ in range(3):  # an edit whose outcome is unknown is requested again
            on = [sys.executable, "-m", "penstock", "resume", told[1]]
            done = subprocess.run(on, env=environment, capture_output=True, text=True, timeout=200, check=False)
            if done.stdout == "Done.\n":
                break
        else:
            found.append(f"not resumed after {seconds:.2f} s: {done.returncode} {done.stderr[-300:]}")
        lines = [f"line {number + 1}" for number in range(_EDITS)]
        if (tree / "app.txt").read_text().splitlines() != [*lines, "end"]:
            found.append(f"the file holds {(tree / 'app.txt').read_text()!r} after {seconds:.2f} s")
        return found


def measure(*, long: bool, seed: int) -> Figure:
    """Interrupts that did not end a run in time, or after which it did not continue."""
    dice, runs = random.Random(seed), _RUNS if long else _SHORT_RUNS
    most, failed_at = (_MAX_SECONDS, _FAILED_AT) if long else (_SHORT_MAX_SECONDS, _SHORT_FAILED_AT)
    late: list[str] = []
    instants = [dice.uniform(0, 6 if long else 2) for _ in range(runs)]
    # A run mostly waits: for a refusing provider, for a command, for the instant. So several are under way at once.
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda instant: _tried(instant, most, failed_at, late), instants))
    wrong = [line for lines in found for line in lines]
    return Figure(
        rig="R23",
        name="interrupts",
        value=f"{len(wrong)} faults in {runs} runs, {len(late)} late ones tried again",
        target=f"0; each ends within {most} s and goes on",
        met=not wrong,
        seed=seed,
        notes=(*wrong, *(f"tried again: {line}" for line in late)),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
