"""If the disk, the path, the store or another process fails, is a rescue made whole, or nothing written?"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.hosts.rescue.writing import identity_of
from penstock.workspace.own_files import append_own
from tests.cli.screens import shell_line
from tests.forks import COMMANDS, warm_path
from tests.hosts.histories import Claude, written
from tests.hosts.sessions.test_rescue import next_request, rescued
from tests.hosts.sessions.ways import FLOOD, TASK, WINDOW, stuck

pytestmark = pytest.mark.proves("X-3")

FULL = """
import resource, sys
from penstock.hosts.rescue.writing import identity_of
from penstock.workspace.own_files import append_own
path = sys.argv[1]
known = identity_of(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (known.size_bytes + 100, known.size_bytes + 100))
try:
    append_own(path, b"x" * 1000, known)
except OSError as error:
    sys.exit(f"{error.errno}")
"""


def test_a_disk_that_is_full_leaves_a_session_as_it_was(tmp_path: Path) -> None:
    """This holds even if part of the append had been written."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"line\n")
    ran = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=False)
    assert ran.stderr.strip() == "27", "EFBIG"
    assert path.read_bytes() == b"line\n"


def test_an_append_is_made_only_to_what_was_read(tmp_path: Path) -> None:
    """A changed length or another file is refused."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"line\n")
    known = identity_of(str(path))
    path.write_bytes(b"line\nmore\n")
    assert not append_own(str(path), b"x", known)
    path.unlink()
    path.write_bytes(b"line\n")
    os.utime(path, ns=(0, known.changed_nanoseconds))
    assert append_own(str(path), b"x", known) == (identity_of(str(path))[:2] == known[:2])


def test_a_link_and_a_path_with_a_line_feed_are_followed_to_the_session(tmp_path: Path) -> None:
    """The new session is where the host looks for it, and the printed output keeps its lines."""
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    path = stuck("claude", "flood", folder / "s.jsonl")
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    ran = shell_line(tmp_path, f"penstock rescue link.jsonl --window {WINDOW} --store store")
    assert ran.returncode == 0, ran.stderr
    assert len(list(folder.iterdir())) == 2
    assert str(folder) not in ran.stdout
    assert [line[-6:] for line in ran.stdout.splitlines() if line.startswith("Written: ")] == [".jsonl"]
    ran = shell_line(tmp_path, f"penstock rescue link.jsonl --window {WINDOW} --store store --append --json")
    undo = json.loads(ran.stdout)["undo"]
    before = Path(path).stat().st_size
    subprocess.run(["/bin/sh", "-c", undo], check=True)
    assert Path(path).stat().st_size < before
    assert shlex.split(undo)[3] == path
    assert link.is_symlink()
    ran = shell_line(tmp_path, f"penstock rescue link.jsonl --window {WINDOW} --store store --append")
    (shown,) = [line for line in ran.stdout.splitlines() if line.startswith("Appended to ")]
    subprocess.run(["/bin/sh", "-c", shown.partition("As it was: ")[2]], check=True)
    assert Path(path).stat().st_size < before, "what a person reads can be typed, too"
    assert sorted(entry.name for entry in folder.iterdir() if entry.name == "s.jsonl") == ["s.jsonl"]


def test_without_a_store_nothing_is_written(tmp_path: Path) -> None:
    """A handle that leads nowhere is worse than a stuck session."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    (tmp_path / "store").write_text("a file")
    ran = shell_line(tmp_path, f"penstock rescue {path} --window {WINDOW} --store store")
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr
    assert ran.stderr
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["s.jsonl", "store"]


def test_no_store_is_made_if_there_is_nothing_to_do(tmp_path: Path) -> None:
    """Nor is one made for a plan."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    shell_line(tmp_path, f"penstock rescue {path} --window {WINDOW} --store store --dry-run")
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The session can still be inspected."""
    folder = tmp_path / "f"
    folder.mkdir()
    path = stuck("claude", "flood", folder / "s.jsonl")
    folder.chmod(0o500)
    ran = shell_line(tmp_path, f"penstock rescue {path} --window {WINDOW} --store store")
    folder.chmod(0o700)
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr


def test_two_rescues_at_once_do_not_meet(tmp_path: Path) -> None:
    """They make two new sessions; of two appends one is made, and the other is refused."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    for option, made in (("", 2), ("--append", 1)):
        line = f"exec penstock rescue {path} --window {WINDOW} --store store --json {option}"
        command = ["bash", "-c", line]
        environment = {**os.environ, "PATH": warm_path(*COMMANDS)}
        both = [subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
        for one in both:
            one.communicate(timeout=60)
        assert [one.returncode for one in both].count(0) == made
    assert len(list(tmp_path.glob("*.jsonl"))) == 3
    assert str(next_request("claude", path)).count(TASK) == 1


def test_half_characters_and_deep_nesting_are_written_or_refused(tmp_path: Path) -> None:
    """They become JSON that every reader accepts; excessive nesting is reported."""
    talk = Claude()
    talk.says(f"{TASK} \ud800 half")
    talk.calls(("c", "Bash", {}, FLOOD, False))
    deep: object = "end"
    for _ in range(150):
        deep = {"held": deep}
    talk.records[-1]["toolUseResult"] = deep
    talk.add("assistant", [{"type": "text", "text": "Prompt is too long"}], isApiErrorMessage=True)
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), WINDOW)
    assert Path(done.path).read_bytes().decode("utf-8", "strict")
    assert "\ud800 half" in next_request("claude", done.path)[0]["content"]


@pytest.mark.parametrize("at", ["behind itself", "at the end"])
def test_a_record_that_was_written_twice_is_one(at: str, tmp_path: Path) -> None:
    """The host identifies a record by its id: once, a copy made a new session with a loop, and no rescue was possible."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    lines = Path(path).read_text().splitlines(keepends=True)
    for number, line in enumerate(lines):
        if json.loads(line)["type"] != "assistant" or "isApiErrorMessage" in line:
            continue
        twice = [*lines[: number + 1], line, *lines[number + 1 :]] if at == "behind itself" else [*lines, line]
        Path(path).write_text("".join(twice))
        before = set(tmp_path.iterdir())
        assert main(["rescue", path, "--window", str(WINDOW), "--store", str(tmp_path / "store")]) == 0, line
        (made,) = (new for new in tmp_path.iterdir() if new not in before and new.name != "store")
        ids = [json.loads(one)["uuid"] for one in made.read_text().splitlines()]
        assert len(ids) == len(set(ids))
