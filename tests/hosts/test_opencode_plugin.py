"""Does the plugin for opencode hand results to the hook, and leave them alone whatever fails? Node runs it as opencode does."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.parts.plugin import plugin
from tests.environments import miss

if TYPE_CHECKING:
    from pathlib import Path

LONG = {"title": "", "output": "x" * 9_000, "metadata": {}}
DRIVER = """
import { Penstock } from "./plugin.mjs"
const [output, log] = JSON.parse(process.argv[2])
const fail = () => { throw new Error("away") }
const works = async (told) => console.error(told.body.message)
const logs = { works, fails: async () => fail(), throws: fail, "says nothing": () => {} }
const client = { app: { log: logs[log] } }
const hooks = await Penstock({ client })
await hooks["tool.execute.after"]({ sessionID: "s", tool: "bash", args: {} }, output)
console.log(JSON.stringify(output))
"""


def after(folder: Path, script: str, output: dict[str, Any], log: str = "works") -> tuple[dict[str, Any], str]:
    """Return a result after the plugin has seen it, and what was logged; `script` stands for `penstock hook opencode`."""
    node = shutil.which("node")
    if node is None:
        miss("node is not installed")
    hook = folder / "penstock"
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)
    (folder / "plugin.mjs").write_text(plugin([str(hook)]))
    (folder / "driver.mjs").write_text(DRIVER)
    done = subprocess.run(
        [node, str(folder / "driver.mjs"), json.dumps([output, log])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.strip()


CUT = """cat > "$0.event"; echo '{"output": "cut", "systemMessage": "kept whole"}'"""


@pytest.mark.proves("H-1")
def test_what_the_hook_answers_takes_the_place_of_the_result(tmp_path: Path) -> None:
    """The fields in its answer are put in, and its message is logged; a short result starts no process."""
    assert after(tmp_path, CUT, LONG) == ({**LONG, "output": "cut"}, "kept whole")
    event = json.loads((tmp_path / "penstock.event").read_text())
    assert (event["tool_name"], event["tool_response"]) == ("bash", LONG)
    (tmp_path / "penstock.event").unlink()
    assert after(tmp_path, CUT, {"output": "short"}) == ({"output": "short"}, "")
    assert not (tmp_path / "penstock.event").exists()


@pytest.mark.proves("H-5")
@pytest.mark.parametrize("script", ["exit 1", "echo rubbish", "echo null", "kill -9 $$"])
def test_a_hook_that_fails_leaves_the_result_as_it_was(tmp_path: Path, script: str) -> None:
    """An answer that is none, or of another kind, changes nothing."""
    assert after(tmp_path, script, LONG) == (LONG, "")


@pytest.mark.proves("H-5")
@pytest.mark.parametrize("log", ["fails", "throws", "says nothing"])
def test_a_log_that_fails_does_not_fail_the_call(tmp_path: Path, log: str) -> None:
    """The result is cut, although opencode did not take the message, or does not say when it has."""
    assert after(tmp_path, CUT, LONG, log) == ({**LONG, "output": "cut"}, "")
