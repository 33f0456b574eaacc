"""What can a process confined by Landlock no longer do, and can it still do its work?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.workspace import landlock

needs_landlock = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel offers no Landlock")

_TRIES = """
import json, os, socket, sys
from penstock.workspace import landlock
root, listening = sys.argv[1], int(sys.argv[2])
status = landlock.apply([root, *landlock.import_paths()], sys.argv[3:])

def outcome(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"

def connect():
    socket.create_connection(("127.0.0.1", listening)).close()

def bind():
    socket.socket().bind(("127.0.0.1", 0))

def load():
    import wave, xmlrpc.client, tree_sitter_python, toktok

print(json.dumps({
    "abi": status.abi,
    "in force": status.in_force,
    "inside": outcome(lambda: open(root + "/hello.txt").read()),
    "listing": outcome(lambda: os.listdir(root)),
    "outside": outcome(lambda: open(os.path.dirname(root) + "/outside.txt").read()),
    "link out": outcome(lambda: open(root + "/link").read()),
    "environment": outcome(lambda: open("/proc/self/environ").read()),
    "write": outcome(lambda: open(root + "/new", "w").close()),
    "truncate": outcome(lambda: os.truncate(root + "/hello.txt", 0)),
    "remove": outcome(lambda: os.unlink(root + "/hello.txt")),
    "connect": outcome(connect),
    "bind": outcome(bind),
    "run": outcome(lambda: __import__("subprocess").run(["/bin/true"])),
    "store": outcome(lambda: open(sys.argv[3] + "/kept", "w").close()) if sys.argv[3:] else "",
    "late import": outcome(load),
}))
"""


def _tries(root: Path, *store: str) -> dict[str, object]:
    import socket

    (root / "link").symlink_to("../outside.txt")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        command = [sys.executable, "-c", _TRIES, str(root), str(port), *store]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", timeout=30)
    outcomes = json.loads(done.stdout)
    assert isinstance(outcomes, dict)
    return outcomes


@needs_landlock
@pytest.mark.proves("L-8")
def test_six_of_six_tries_are_denied_and_the_root_is_readable(workspace: Path) -> None:
    """An outside file, a link out, the environment, a write, connecting and listening fail; reading and importing still work."""
    outcomes = _tries(workspace)
    assert outcomes["in force"]
    assert [outcomes[name] for name in ("inside", "listing", "late import")] == ["done"] * 3
    denied = ["outside", "link out", "environment", "write", "truncate", "remove", "run"]
    denied += ["connect", "bind"] if int(str(outcomes["abi"])) >= 4 else []
    assert {name: outcomes[name] for name in denied} == dict.fromkeys(denied, "PermissionError")
    assert (workspace / "hello.txt").stat().st_size > 0


@needs_landlock
def test_a_store_is_the_one_place_that_can_be_written(workspace: Path, tmp_path: Path) -> None:
    """What is kept goes to the store; the root stays as it is."""
    (tmp_path / "store").mkdir()
    outcomes = _tries(workspace, str(tmp_path / "store"))
    assert (outcomes["store"], outcomes["write"]) == ("done", "PermissionError")


def test_a_library_call_never_confines_its_process() -> None:
    """`status` says that no wall is in force here, and why."""
    status = landlock.status()
    assert not status.in_force
    assert status.reason


def test_the_current_folder_is_not_an_import_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`sys.path` would begin with the user's current folder; no module came from there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    paths = landlock.import_paths()
    assert str(tmp_path) not in paths
    assert sys.base_prefix in paths or str(Path(sys.base_prefix).resolve()) in paths
