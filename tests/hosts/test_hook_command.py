"""`penstock hook` as a host starts it: whatever its line says, the host goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.screens import on_terminal
from tests.hosts.events import bash, raw

if TYPE_CHECKING:
    from pathlib import Path

HOOK = (sys.executable, "-m", "penstock", "hook")


@pytest.mark.proves("H-5")
@pytest.mark.parametrize(
    "line", [("claude", "--bugdet", "9"), ("cluade",), (), ("claude", "--budget", "much"), ("claude", "codex")]
)
def test_a_mistake_in_the_line_blocks_no_host(line: tuple[str, ...]) -> None:
    """Wrong usage ends with 2 elsewhere, which Claude Code takes for a refusal of the call."""
    done = subprocess.run([*HOOK, *line], input=raw(bash("x")), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    (said,) = json.loads(done.stdout).values()
    assert said.startswith("penstock hook: ")
    assert said.endswith("Nothing was changed.")
    assert said in done.stderr.decode()


@pytest.mark.proves("H-5")
def test_a_person_who_types_it_is_told_as_ever(tmp_path: Path) -> None:
    """On a terminal no host waits."""
    status, drawn = on_terminal((*HOOK, "cluade"), cwd=tmp_path)
    assert status == 2
    assert "'cluade' is not one of" in drawn
