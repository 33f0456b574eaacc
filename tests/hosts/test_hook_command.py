"""Does the host continue whatever the command line of its `penstock hook` says?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from penstock.hosts.probing import _event
from penstock.store.sqlite import SqliteStore
from tests.cli.screens import on_terminal
from tests.hosts.events import bash, claude, raw

if TYPE_CHECKING:
    from pathlib import Path

HOOK = (sys.executable, "-m", "penstock", "hook")


@pytest.mark.proves("H-5")
@pytest.mark.parametrize(
    "line", [("claude", "--bugdet", "9"), ("cluade",), (), ("claude", "--budget", "much"), ("claude", "codex")]
)
def test_a_mistake_in_the_line_blocks_no_host(line: tuple[str, ...]) -> None:
    """Elsewhere wrong usage ends with 2, which Claude Code takes for a refusal of the call."""
    done = subprocess.run([*HOOK, *line], input=raw(bash("x")), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    (said,) = json.loads(done.stdout).values()
    assert said.startswith("penstock hook: ")
    assert said.endswith((". Nothing was changed.", "? Nothing was changed."))
    assert "\n" not in said
    assert said in done.stderr.decode()


@pytest.mark.proves("H-1")
@pytest.mark.parametrize(
    ("host", "named"),
    [("claude", ""), ("codex", " --budget 9500"), ("copilot", " --budget 19000"), ("opencode", " --budget 12000")],
)
def test_the_page_that_is_named_is_what_its_host_shows(host: str, named: str, tmp_path: Path) -> None:
    """Of a command's output Codex shows 10 KB, Copilot CLI 20, opencode 2,000 lines; Claude Code shows a whole page."""
    done = subprocess.run(
        [*HOOK, host, "--store", str(tmp_path / "store")],
        input=json.dumps(_event(host, "a line of a flood\n" * 9_000)).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert re.search(rf"penstock page \w{{22}} --store \S+{named};", json.dumps(json.loads(done.stdout))), done.stdout[
        :400
    ]


@pytest.mark.proves("H-5")
def test_a_person_who_types_it_gets_the_usual_error(tmp_path: Path) -> None:
    """On a terminal no host waits."""
    status, drawn = on_terminal((*HOOK, "cluade"), cwd=tmp_path)
    assert status == 2
    assert "'cluade' is not one of" in drawn


@pytest.mark.proves("H-5")
def test_a_store_that_another_holds_leaves_the_result_whole(tmp_path: Path) -> None:
    """The hook waits one second for it, not five; what cannot be kept is not cut."""
    with closing(SqliteStore(str(tmp_path / "store"))) as store, store._exclusive():
        done = subprocess.run(
            [*HOOK, "claude", "--store", str(tmp_path / "store")],
            input=raw(claude("mcp__db__rows", "a line of a flood\n" * 9_000)),
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0
    (name, said), *others = json.loads(done.stdout).items()
    assert (name, others) == ("systemMessage", [])
    assert "has been writing" in said
    assert "for 1 s." in said
    assert said.endswith("Nothing was changed.")
