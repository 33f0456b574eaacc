"""Does the package work on systems other than Linux? It imports, its tools answer, and it states what it cannot guarantee (F9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

WORK = r"""
import sys
sys.path[:0] = sys.argv[3:5]
from tests.elsewhere import pose
pose(sys.argv[1])

import importlib, json, os, pkgutil
folder, said = sys.argv[2], {}
import penstock, penstock.tools
for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
    if not module.name.endswith("__main__") and not module.name.startswith("penstock.adapters."):
        importlib.import_module(module.name)

from penstock import Tools, ToolError, Workspace, guard
from penstock.errors import CallerError
from penstock.workspace import landlock
tree = os.path.join(folder, "tree")
workspace = Workspace(tree)
tools = Tools(workspace)

def call(name, **arguments):
    result = tools.call(name, arguments)
    return result.text if not result.is_error else result.code

said["confinement"] = workspace.root.confinement
said["landlock"] = landlock.abi()
said["view"] = call("view", file_path="a.txt")
said["absolute"] = call("view", file_path=os.path.join(tree, "sub", "b.txt"))
said["read"] = call("read_file", path="large.txt", start_byte=65536, max_bytes=100)
said["outline"] = call("outline", path="sub/code.py")
said["list"] = call("list_files", pattern="*", recursive=True, limit=50)
said["regex"] = call("list_files", pattern=r"\.py$", recursive=True, use_regex=True, limit=50)
said["count"] = call("count_files")
said["search"] = call("search", pattern=r"be\w+w", context_lines=1)
said["literal"] = call("search", pattern="line 77777", literal=True)
said["refused"] = {path: call("view", file_path=path) for path in
                   ("../outside.txt", "out", "sub-link/b.txt", "up/outside.txt", ".env", "fifo", "loop", "nothing", "sub")}

from penstock.agent.editing import Editing
editing = Editing(workspace.root)
edits = [editing.run("write_file", {"path": "new/deep/c.txt", "content": "one\ntwo\n"}),
         editing.run("edit_file", {"path": "new/deep/c.txt", "old": "one", "new": "1"}),
         editing.run("write_file", {"path": "out", "content": "no"}),
         editing.run("write_file", {"path": "sub-link/d.txt", "content": "no"})]
said["edits"] = [edit.failed for edit in edits]
said["edited"] = call("view", file_path="new/deep/c.txt")

from penstock.store import open_store
from penstock.store.kept import StoreFault
from penstock.store import sqlite
store = open_store("sqlite://" + os.path.join(folder, "store"))
whole = b"".join(b"line %d\n" % n for n in range(150_000))
handle = store.put(iter([whole[:1_000_000], whole[1_000_000:]]), name="big")
again = store.put(iter([whole]), name="same")
said["store"] = [store.read(handle, 0, len(whole)) == whole, store.read(again, 7, 7).decode(), store.facts()["journal_mode"]]
said["damage"] = len(list(store.check()))
from penstock.workspace import locks
other = os.open(os.path.join(folder, "store", "lock"), os.O_RDWR)
with store._exclusive():
    said["second writer"] = locks.acquire(other)
said["writer after it"] = locks.acquire(other)
locks.release(other)
os.close(other)

from penstock.guard import stream
from penstock.text.allowance import Allowance
said["fit"] = len(guard.fit("x" * 100_000, Allowance.chars(2_000)).text) <= 2_000
passed = stream.drain(iter([b"head\n", *[b"%06d\n" % n for n in range(50_000)], b"tail\n"]), Allowance.chars(2_000),
                      open_store=lambda: store, keep_bytes=20_000)
said["drain"] = [len(passed.handles), passed.lost_bytes, passed.fault]
said["drained"] = store.read(passed.handles[1], 0, 1 << 20)[-12:].decode()
store.close()
store = open_store("sqlite://" + os.path.join(folder, "store"))
said["kept"] = store.read(handle, 0, 6).decode()
store.close()

from penstock.agent.shell import Shell
try:
    Shell(tree)
    said["shell"] = ""
except CallerError as error:
    said["shell"] = str(error)

sys.modules["re2"] = None
said["without re2"] = call("search", pattern=r"be\w+w")

from penstock.cli.serving import examine
said["doctor"] = examine()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a root with links of every kind, secrets, and a FIFO that would block a reader forever."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "outside.txt").write_text("from outside\n")
    root = folder / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("inside\n")
    (root / "sub" / "b.txt").write_text("below\n")
    (root / "sub" / "code.py").write_text("def first():\n    pass\n\n\ndef second():\n    pass\n" * 40)
    (root / "large.txt").write_text("".join(f"line {n}\n" for n in range(100_000)))
    (root / ".env").write_text("KEY=1\n")
    (root / ".gitignore").write_text("ignored/\n")
    (root / "ignored").mkdir()
    (root / "ignored" / "x.txt").write_text("below\n")
    (root / "out").symlink_to("../outside.txt")
    (root / "sub-link").symlink_to("sub")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    return folder


@pytest.fixture(scope="module", params=["darwin", "win32"])
def told(request: pytest.FixtureRequest, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the package did on a simulated system that is not Linux."""
    if request.param == "darwin" and find_spec("ctypes.macholib") is None:
        pytest.skip("this Python was packed without what ctypes needs on macOS, as Debian's is")
    state = tmp_path_factory.mktemp("state")
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "tree").symlink_to(tree / "tree")  # the root may be reached by a link; nothing below it may
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WORK, request.param, str(folder), str(ROOT / "src"), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {**json.loads(done.stdout), "system": request.param}


@pytest.mark.proves("L-8")
def test_the_walk_that_is_there_is_the_one_that_is_named(told: dict[str, Any]) -> None:
    """macOS walks by folder descriptors, Windows by paths; `penstock doctor` names the one in use and what it lacks."""
    name = {"darwin": "walk", "win32": "paths"}[told["system"]]
    assert (told["confinement"], told["landlock"]) == (name, 0)
    assert told["doctor"]["confinement"].startswith(f"{name} (no link is followed")


@pytest.mark.proves("L-8")
def test_files_are_read_listed_and_searched(told: dict[str, Any]) -> None:
    """The tools give the same results as on Linux."""
    assert told["view"].endswith("\n1|inside")
    assert told["absolute"].startswith("sub/b.txt: ")
    assert "line " in told["read"]
    assert "first" in told["outline"]
    assert "sub/b.txt" in told["list"]
    assert "ignored/x.txt" not in told["list"]
    assert "sub/code.py" in told["regex"]
    assert told["search"].startswith("1 matching line")
    assert "1|below" in told["search"]
    assert "77778|line 77777" in told["literal"]
    assert ".txt" in told["count"]


@pytest.mark.proves("L-8")
def test_nothing_outside_the_root_is_read(told: dict[str, Any]) -> None:
    """No link is followed, and each refusal has its reason."""
    codes = told["refused"]
    assert {codes[path] for path in ("../outside.txt", "out", "sub-link/b.txt", "up/outside.txt")} == {"outside_root"}
    assert codes[".env"] == "secret"
    assert codes["fifo"] == "not_regular_file"
    assert codes["loop"] in {"link_loop", "outside_root"}
    assert codes["nothing"] == "not_found"
    assert codes["sub"] == "is_directory"


@pytest.mark.proves("L-8")
def test_files_are_written_where_no_link_leads(told: dict[str, Any]) -> None:
    """A new file in new folders is written and edited; nothing is written through a link."""
    assert told["edits"] == [False, False, True, True]
    assert "1|1\n2|two" in told["edited"]


def test_the_store_keeps_and_its_lock_holds(told: dict[str, Any]) -> None:
    """Megabytes of content survive a close, one writer locks out another, and nothing is damaged."""
    assert told["store"] == [True, "line 1\n", "wal"]
    assert told["damage"] == 0
    assert (told["second writer"], told["writer after it"]) == (False, True)
    assert told["kept"] == "line 0"


def test_the_guard_cuts_and_its_stream_keeps_both_ends(told: dict[str, Any]) -> None:
    """The stream's ring is in a temporary file, which is gone once it is closed."""
    assert told["fit"]
    assert (told["drain"][0], told["drain"][2]) == (2, "")
    assert told["drain"][1] > 0
    assert told["drained"] == "049999\ntail\n"


def test_what_needs_linux_says_so(told: dict[str, Any]) -> None:
    """Commands do not run unconfined; if processes cannot be forked, a pattern needs google-re2."""
    assert "Commands cannot be confined here" in told["shell"]
    if told["system"] == "win32":
        assert told["without re2"] == "bad_pattern"
    else:
        assert told["without re2"].startswith("1 matching line")
        assert told["without re2"].endswith("1|below")
