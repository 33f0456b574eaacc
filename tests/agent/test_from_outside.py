"""What does an agent do to a project, as seen by the person who typed the command? Real processes, a model over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.outside import Outside, model

from penstock.models import call, calls, fail, say

if TYPE_CHECKING:
    from pathlib import Path

_PORT = "port = 1\n"


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    """Make a project with one file."""
    made = Outside(tmp_path)
    (made.tree / "app.py").write_text(_PORT)
    return made


def session_of(outside: Outside) -> str:
    """Return the newest session's name."""
    return str(outside.json("sessions")["sessions"][0]["session"])


@pytest.mark.proves("S-10")
def test_a_session_that_was_stopped_goes_on_in_its_own_project(outside: Outside, tmp_path: Path) -> None:
    """A session begun without `--root` and resumed in another project leaves that project's file of the same name alone."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "app.py").write_text(_PORT)
    edit = call("edit_file", path="app.py", old="port = 1", new="port = 2")
    with model([call("view", file_path="app.py"), edit, say("Done.")]) as served:
        outside.penstock("run", "Set it to 2.", *served.flags, "--allow-edit", "--max-turns", "1")
        done = outside.penstock("resume", session_of(outside), cwd=other)
    assert (other / "app.py").read_text() == _PORT
    assert (done.returncode, (outside.tree / "app.py").read_text()) == (0, "port = 2\n")


def at_once(outside: Outside, *steps: Any) -> list[list[str]]:
    """Let two agents run a batch of calls each at the same time; return the results of each."""
    together = threading.Barrier(2)

    def work(batch: Any) -> list[str]:
        def policy(request: Any) -> Any:
            if any(message["role"] == "tool" for message in request["messages"]):
                return say("Done.")
            together.wait(60)
            return batch

        with model(policy) as served:
            outside.penstock("run", "Write.", *served.flags, "--allow-edit")
            return served.results()

    with ThreadPoolExecutor(2) as writers:
        return list(writers.map(work, steps))


@pytest.mark.proves("S-16")
def test_two_agents_that_edit_one_file_lose_nothing(outside: Outside) -> None:
    """Every edit that an agent was told it made is in the file afterwards."""
    file = outside.tree / "f.txt"
    file.write_text("<0>\n<1>\n")

    def edit(writer: int, number: int) -> Any:
        line = f"<{writer}>\n"
        return call("edit_file", path="f.txt", old=line, new=f"{line}w{writer}-{number};\n")

    told: set[str] = set()
    for first in range(0, 8, 4):
        batches = [[edit(writer, first + n) for n in range(4)] for writer in (0, 1)]
        for writer, results in enumerate(at_once(outside, *(calls(*batch) for batch in batches))):
            told |= {f"w{writer}-{first + n};" for n, result in enumerate(results) if " became lines " in result}
    assert told
    assert told - set(file.read_text().split()) == set()


@pytest.mark.proves("S-16")
def test_of_two_agents_that_make_a_file_one_is_told(outside: Outside) -> None:
    """One agent creates the file, the other is refused."""
    names = [f"new{n}.txt" for n in range(4)]
    batches = [calls(*(call("write_file", path=name, content=f"{writer}\n") for name in names)) for writer in (0, 1)]
    told = [
        [f"{name}: created" in result for name, result in zip(names, results, strict=True)]
        for results in at_once(outside, *batches)
    ]
    assert [both for both in zip(*told, strict=True) if sum(both) != 1] == []
    owners = [(outside.tree / name).read_text() for name in names]
    assert owners == [f"{one.index(True)}\n" for one in zip(*told, strict=True)]


@pytest.mark.proves("S-11")
def test_mistakes_that_a_model_mends_do_not_end_its_work(outside: Outside) -> None:
    """Six searches for missing files, each next to a call that succeeds, and a string instead of a number end no run."""
    steps = [
        calls(
            call("view", file_path=f"none{n}.py"),
            call("view", file_path="app.py", offset=0 if n % 2 else "0", limit=n + 1),
        )
        for n in range(6)
    ]
    with model([*steps, say("It is 1.")]) as served:
        done = outside.penstock("run", "Which port?", *served.flags)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["It is 1."]), done.stderr


@pytest.mark.proves("S-9")
def test_a_handoff_names_what_changed_on_the_disk(outside: Outside) -> None:
    """A handoff lists a file that a command wrote, and neither a failed edit nor a refused one."""
    steps = [
        call("view", file_path="app.py"),
        call("edit_file", path="app.py", old="no such text", new="x"),
        call("write_file", path="../out.txt", content="x"),
        call("run_command", command="echo made > made.txt"),
        say("Done."),
    ]
    with model(steps) as served:
        outside.penstock("run", "Work.", *served.flags, "--allow-edit", "--allow-shell")
    document = json.loads(outside.penstock("handoff", session_of(outside)).stdout)
    assert document["modifiedFiles"] == ["made.txt"]


@pytest.mark.proves("S-10")
def test_what_changed_after_a_kill_reaches_the_model(outside: Outside) -> None:
    """The next request reports the change, even without a prompt: else the model would edit what it remembers."""
    asked, over = threading.Event(), threading.Event()

    def policy(request: Any) -> Any:
        if not any(message["role"] == "tool" for message in request["messages"]):
            return call("view", file_path="app.py")
        if not asked.is_set():
            asked.set()
            over.wait(60)
        return say("I see.")

    with model(policy) as served:
        with outside.started("run", "Which port?", *served.flags) as running:
            assert asked.wait(60)
            running.kill()
            running.communicate()  # the process is gone
        over.set()
        (outside.tree / "app.py").write_text("port = 3\n")
        done = outside.penstock("resume", session_of(outside))
        newest = json.dumps(served.requests[-1]["messages"])
    assert "app.py: changed" in newest
    assert done.stdout == "I see.\n"


@pytest.mark.proves("S-11")
def test_an_outage_costs_no_context(outside: Outside) -> None:
    """After four refusals in a row from a server that is down, the next request still has all that the session read."""
    (outside.tree / "notes.txt").write_text("the valve is heron-blue\n" * 60)
    (outside.tree / "penstock.toml").write_text("[profiles.quick.errors]\ncooldown_seconds = 0.2\n")
    down = fail(503, {"error": {"message": "overloaded"}})
    steps = [call("view", file_path="notes.txt"), down, down, down, down, say("Heron-blue.")]
    with model(steps) as served:
        done = outside.penstock("run", "Which colour?", *served.flags, "--profile", "quick")
        shown = [text for text in served.results() if "heron-blue" in text]
    assert done.returncode == 0, done.stderr
    assert len(served.requests) == 6
    assert len(shown) == 1
    assert outside.json("show", session_of(outside))["handoffs"] == 0


@pytest.mark.proves("S-11")
def test_the_providers_own_words_are_shown(outside: Outside) -> None:
    """The provider's message is shown, whichever field of the response holds it."""
    with model([fail(400, {"detail": "deployment blue-7 was retired"})]) as served:
        done = outside.penstock("run", "x", *served.flags)
    assert done.returncode == 8
    assert "deployment blue-7 was retired" in done.stderr


@pytest.mark.proves("S-11")
def test_a_dead_address_is_named_at_once(outside: Outside) -> None:
    """A dead address is reported long before the wait is over."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with outside.started("run", "x", "--model", "openai-chat:x", "--base-url", f"http://{address}/v1") as running:
        assert running.stderr is not None
        threading.Timer(20, running.kill).start()
        said = ""
        for line in running.stderr:
            said += line
            if address in line:
                break
        running.kill()
    assert address in said, said


@pytest.mark.proves("S-11")
def test_one_interrupt_ends_the_wait_after_failures(outside: Outside) -> None:
    """The message has the command to continue, however long the breaker stays open."""
    failed: list[float] = []

    def policy(_: Any) -> Any:
        failed.append(time.monotonic())
        return fail(503, {"error": {"message": "overloaded"}})

    with model(policy) as served, outside.started("run", "x", *served.flags) as running:
        until = time.monotonic() + 60
        # Three failures open the breaker; then nothing is asked for a minute.
        while time.monotonic() < until and (len(failed) < 3 or time.monotonic() < failed[-1] + 2):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        try:
            _, said = running.communicate(timeout=20)  # less than the minute
        except subprocess.TimeoutExpired:
            running.kill()
            pytest.fail("it waits on after the interrupt")
    assert running.returncode == 130
    assert "penstock resume" in said


@pytest.mark.proves("S-16")
@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".git/info/attributes", ".vscode/tasks.json", ".husky/pre-push"]
)
def test_what_other_programs_run_unasked_is_not_written(outside: Outside, path: str) -> None:
    """Editing a hook would run code at the next commit, outside every sandbox."""
    hook = outside.tree / path
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text("exit 0\n")
    edit = call("edit_file", path=path, old="exit 0", new="touch /tmp/x; exit 0")
    with model([edit, call("write_file", path=f"sub/{path}", content="x\n"), say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, "--allow-edit")
    assert hook.read_text() == "exit 0\n"
    assert not (outside.tree / "sub" / path).exists()


@pytest.mark.proves("S-16")
@pytest.mark.parametrize("root", [".git", ".git/hooks", ".husky", "bare/hooks"])
@pytest.mark.parametrize("tool", ["edit_file", "run_command"])
def test_a_root_within_such_a_place_opens_nothing(outside: Outside, root: str, tool: str) -> None:
    """Names are relative to the top of the project, and a bare repository may have any name; the user can allow the write."""
    hooks = {
        ".git": "hooks/pre-commit",
        ".git/hooks": "pre-commit",
        ".husky": "pre-commit",
        "bare/hooks": "post-receive",
    }
    subprocess.run(["git", "init", "-q", str(outside.tree)], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(outside.tree / "bare")], check=True)
    hook = outside.tree / root / hooks[root]
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text("exit 0\n")
    edit = call("edit_file", path=hooks[root], old="exit 0", new="touch x; exit 0")
    step = edit if tool == "edit_file" else call("run_command", command=f"echo evil > {hooks[root]}")
    flags = ["--root", root, "--allow-edit", "--allow-shell"]
    with model([step, say("Done."), step, say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, *flags)
        assert hook.read_text() == "exit 0\n"
        outside.penstock("run", "x", *served.flags, *flags, "--allow-write-to", ".")
    assert hook.read_text() != "exit 0\n"


@pytest.mark.proves("S-16")
def test_a_work_tree_of_its_own_is_a_project_wherever_it_stands(outside: Outside) -> None:
    """Agents keep work trees in a protected folder; a work tree there is still a writable project."""
    tree = outside.tree / ".claude" / "worktrees" / "one"
    tree.mkdir(parents=True)
    (tree / ".git").write_text("gitdir: elsewhere\n")
    (tree / "app.py").write_text(_PORT)
    with model([call("edit_file", path="app.py", old="1", new="2"), say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, "--root", str(tree), "--allow-edit")
    assert (tree / "app.py").read_text() == "port = 2\n"


@pytest.mark.proves("S-10")
def test_a_folder_that_was_named_once_is_the_sessions(outside: Outside) -> None:
    """After a move, one resume gets `--root`; the next resume, an undo, a handoff and the list of sessions then know it."""
    edits = [call("edit_file", path="app.py", old=f"port = {n}", new=f"port = {n + 1}") for n in (1, 2)]
    with model([edits[0], say("Done."), say("Here."), edits[1], say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, "--allow-edit")
        session, elsewhere = session_of(outside), outside.folder / "moved"
        outside.tree.rename(elsewhere)
        outside.tree.mkdir()
        (outside.tree / "app.py").write_text("port = 2\n")
        refused = outside.penstock("undo", session)
        handed = outside.penstock("handoff", session)
        found = outside.penstock("handoff", session, "--root", str(elsewhere))
        nowhere = outside.penstock("handoff", session, "--root", str(outside.folder / "none"))
        moved = outside.penstock("resume", session, "Go on.", "--root", str(elsewhere))
        again = outside.penstock("resume", session, "Go on.", "--allow-edit")
    assert (refused.returncode, (outside.tree / "app.py").read_text()) == (5, "port = 2\n")
    assert f"penstock undo {session} --root DIR" in refused.stderr
    assert "is not the one that the session worked in" in handed.stderr
    assert f"penstock handoff {session} --root DIR" in handed.stderr
    assert json.loads(handed.stdout)["modifiedFiles"] == ["app.py"]
    assert (nowhere.returncode, nowhere.stdout) == (4, "")
    assert (found.stderr, json.loads(found.stdout)["fileHistory"][0]["action"]) == ("", "modified")
    assert (moved.returncode, again.returncode) == (0, 0), again.stderr
    assert (elsewhere / "app.py").read_text() == "port = 3\n"
    assert outside.json("sessions")["sessions"][0]["root"] == str(elsewhere)
    assert outside.json("stats", session)["turns"] == 5
    assert outside.penstock("undo", session).returncode == 0
    assert (elsewhere / "app.py").read_text() == "port = 2\n"
    assert outside.penstock("handoff", session).stderr == ""


@pytest.mark.proves("S-9")
def test_our_own_words_are_no_wish_of_the_person(outside: Outside) -> None:
    """The words that a resume adds are not a constraint in the handoff; a second undo says that the edit is undone."""
    steps = [
        call("view", file_path="app.py"),
        call("edit_file", path="app.py", old="1", new="2"),
        say("2."),
        say("Yes."),
    ]
    with model(steps) as served:
        outside.penstock("run", "Set it to 2.", *served.flags, "--allow-edit", "--max-turns", "1")
        outside.penstock("resume", session_of(outside))
        outside.penstock("resume", session_of(outside), "Is it 2?")
    document = json.loads(outside.penstock("handoff", session_of(outside)).stdout)
    assert document.get("constraints", []) == []
    assert outside.penstock("undo", session_of(outside)).returncode == 0
    again = outside.penstock("undo", session_of(outside))
    assert (again.returncode, "app.py is what it was before edit 1" in again.stderr) == (5, True)


@pytest.mark.proves("R-6")
def test_a_model_that_answers_nothing_is_a_failure_that_says_so(outside: Outside) -> None:
    """Two empty answers in a row give status 8 and say how to retry; an empty line with status 0 would report success."""
    with model([say(""), say(""), say("Here.")]) as served:
        done = outside.penstock("run", "x", *served.flags)
        assert (done.returncode, done.stdout) == (8, "")
        assert "answered nothing" in done.stderr
        assert f"penstock resume {session_of(outside)}" in done.stderr
        assert outside.penstock("resume", session_of(outside), "x").stdout == "Here.\n"


@pytest.mark.parametrize("flags", [["--model", "nobody:x"], ["--no-such-flag"], ["--profile", "nobody"]])
def test_a_program_that_reads_events_hears_of_mistakes(outside: Outside, flags: list[str]) -> None:
    """A mistake is an event with its exit status; with `--output-format json` it is one object."""
    done = outside.penstock("run", "x", *flags, "--output-format", "stream-json")
    event = json.loads(done.stdout)
    assert (done.returncode, event["type"], event["kind"]) == (2, "error", "usage")
    assert event["message"]
    whole = outside.penstock("run", "x", *flags, "--output-format=json")
    assert json.loads(whole.stdout)["error"]["message"] == event["message"]


_TAKES = {
    "processes=20": ("for i in $(seq 60); do sleep 3 & done 2>&1; wait", "fork"),
    "memory-bytes=200000000": ("python3 -c \"held = b'x' * 400000000; print('had')\" 2>&1; echo ended $?", "ended"),
    "open-files=20": ("python3 -c \"kept = [open('/dev/null') for _ in range(40)]\" 2>&1", "Too many open files"),
    "file-bytes=100000": ("head -c 1000000 /dev/zero > big; stat -c 'has %s bytes' big", "has 100000 bytes"),
}


@pytest.mark.parametrize("limit", _TAKES)
def test_a_command_takes_as_much_as_the_user_says(outside: Outside, limit: str) -> None:
    """Each limit that the user sets stops a real command."""
    if limit.startswith("processes") and "pids" not in outside.json("doctor")["commands"]["limits"]:
        pytest.skip("root has no limit of processes where no control group can be made")
    command, said = _TAKES[limit]
    with model([call("run_command", command=command), say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, "--allow-shell", "--command-limit", limit)
    (result,) = served.results()
    assert said in result.lower() if said == "fork" else said in result
    assert "had" not in result.split()


def test_limits_of_commands_are_kept_and_told(outside: Outside) -> None:
    """A resume keeps the limits of its run, the environment sets those of every run, and `doctor` shows what is in force."""
    command, said = _TAKES["file-bytes=100000"]
    step = call("run_command", command=command)
    with model([say("Which?"), step, say("Done."), step, say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, "--allow-shell", "--command-limit", "file-bytes=100000")
        outside.penstock("resume", session_of(outside), "Go on.")
        assert said in served.results()[0]
        outside.environment["PENSTOCK_COMMAND_FILE_BYTES"] = "50000"
        assert outside.json("doctor")["commands"]["max_file_bytes"] == 50_000
        outside.penstock("run", "x", *served.flags, "--allow-shell")
        assert "has 50000 bytes" in served.results()[0]


def test_a_limit_that_is_none_is_named(outside: Outside) -> None:
    """The error lists the limits, or says what the number must be; a project's file cannot set one."""
    told = {"threads=4": "processes, memory-bytes, open-files, file-bytes", "processes=0": "a whole number above 0"}
    for limit, said in told.items():
        done = outside.penstock("run", "x", "--allow-shell", "--command-limit", limit)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    (outside.tree / "penstock.toml").write_text("command_processes = 9999\n")
    assert "set PENSTOCK_COMMAND_PROCESSES" in outside.penstock("view", "app.py").stderr


_IPC = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(libc.syscall(29, {key}, 0, 0), None, 0)
print("shared:", ctypes.string_at(at) if at and at != 2**64 - 1 else None)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the calls are named by their numbers")
def test_a_command_reads_no_memory_that_the_host_shares(outside: Outside) -> None:
    """A System V segment may hold database pages or a key; no sandbox exposes it."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    key = 0x50454E00 | os.getpid() & 0xFF
    segment = libc.syscall(29, key, 4096, 0o1600)
    ctypes.memmove(libc.shmat(segment, None, 0), b"HERON-BLUE\0", 11)
    (outside.tree / "look.py").write_text(_IPC.format(key=key))
    try:
        with model([call("run_command", command="python3 look.py"), say("Done.")]) as served:
            outside.penstock("run", "x", *served.flags, "--allow-shell")
    finally:
        libc.syscall(31, segment, 0, None)
    assert "shared: None" in served.results()[0]


@pytest.mark.needs("bwrap")
def test_the_wall_without_the_rest_of_the_machine_comes_first(outside: Outside) -> None:
    """Bubblewrap shows no other files; Landlock would let a command change modes of other files."""
    secret = outside.folder / "outside.txt"
    secret.write_text("x")
    secret.chmod(0o644)
    with model([call("run_command", command=f"chmod 0600 {secret}; echo tried"), say("Done.")]) as served:
        outside.penstock("run", "x", *served.flags, "--allow-shell")
    assert "tried" in served.results()[0]
    assert secret.stat().st_mode & 0o777 == 0o644


def test_standard_output_has_the_answer_alone(outside: Outside) -> None:
    """Text before a call is not part of the answer; a tool's result is a line on standard error, after its call."""
    steps = [calls(call("view", file_path="app.py"), text="Let me look."), say("The port is 1.")]
    with model(steps) as served:
        done = outside.penstock("run", "x", *served.flags)
    assert done.stdout == "The port is 1.\n"
    called, returned, answered = (
        next((at for at, line in enumerate(done.stderr.splitlines()) if word in line), -1)
        for word in ("calls view", "returned", "answered")
    )
    assert 0 <= called < returned < answered, done.stderr


@pytest.mark.proves("S-9")
def test_a_session_begins_where_a_handoff_ends(outside: Outside) -> None:
    """The model learns what was done and which file has changed since; the document has the digests."""
    edit = call("edit_file", path="app.py", old="1", new="2")
    with model([edit, say("Done."), say("I go on.")]) as served:
        outside.penstock("run", "Set the port to 2.", *served.flags, "--allow-edit")
        document = outside.penstock("handoff", session_of(outside)).stdout
        (outside.folder / "handoff.json").write_text(document)
        (outside.tree / "app.py").write_text("port = 9\n")
        done = outside.penstock("run", "--from", str(outside.folder / "handoff.json"), *served.flags)
        newest = json.dumps(served.requests[-1]["messages"])
    assert (done.returncode, done.stdout) == (0, "I go on.\n"), done.stderr
    assert "Set the port to 2." in newest
    assert "app.py: changed" in newest
    assert len(json.loads(document)["fileHistory"][0]["digest"]) == 64


@pytest.mark.proves("S-6")
def test_a_class_that_grows_too_large_is_remarked(outside: Outside) -> None:
    """The warning is in the edit's result for the model, and is shown to the person."""
    long = "class Large:\n" + "".join(f"    field_{n} = {n}\n" for n in range(1_200))
    with model([call("write_file", path="large.py", content=long), say("Done.")]) as served:
        done = outside.penstock("run", "x", *served.flags, "--allow-edit")
    assert "800" in served.results()[0]
    assert "Large" in served.results()[0]
    assert "Large" in done.stderr


@pytest.mark.proves("S-1")
def test_at_25_turns_a_word_is_said(outside: Outside) -> None:
    """The model and the person are told once."""
    (outside.tree / "long.txt").write_text("".join(f"line {n}\n" for n in range(100)))
    steps = [call("view", file_path="long.txt", offset=n, limit=1) for n in range(26)]
    with model([*steps, say("Done.")]) as served:
        done = outside.penstock("run", "x", *served.flags, "--profile", "swe-1.5")
    assert done.returncode == 0, done.stderr
    assert "25 turns since the last fresh start" in done.stderr
    assert "25 turns since the last fresh start" in served.heard()


@pytest.mark.proves("S-8")
def test_a_budget_is_shared_with_a_child_agent(outside: Outside) -> None:
    """The tool that delegates is offered if there is a budget; the child's answer returns, and the figures include the child."""
    steps = [call("task", description="look", prompt="Which port?"), say("It is 1."), say("The child says 1.")]
    with model(steps) as served:
        done = outside.penstock("run", "x", *served.flags, "--budget", "200000")
    assert (done.returncode, done.stdout) == (0, "The child says 1.\n"), done.stderr
    shown = outside.json("show", session_of(outside))
    assert shown["budget"]["granted_tokens"] == 200_000
    assert len(shown["children"]) == 1


@pytest.mark.proves("S-7")
def test_the_figures_of_a_session_say_what_its_context_costs(outside: Outside) -> None:
    """`stats` reports the largest request of a session next to the window of its model."""
    with model([call("view", file_path="app.py"), say("It is 1.")]) as served:
        outside.penstock("run", "x", *served.flags)
    (cost,) = outside.json("stats", session_of(outside))["cost_against_size"]
    assert (cost["tokens"] > 0, cost["window_tokens"]) == (True, 128_000)
