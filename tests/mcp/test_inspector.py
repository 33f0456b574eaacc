"""Can the official Inspector use `penstock mcp` as a person would, in both eras, over pipes?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.conftest import REPOSITORY, installed, node_environment, warm_python

if TYPE_CHECKING:
    from pathlib import Path


def _inspect(root: Path, *options: str, fresh: bool = False) -> tuple[int, dict[str, Any], str]:
    program = installed("inspector", "mcp-inspector")
    installed("node", "node")
    python = [sys.executable] if fresh else warm_python()
    server = [*python, "-m", "penstock", "mcp", "--root", str(root)]
    kept = ["-e", f"PENSTOCK_STORE={os.environ['PENSTOCK_STORE']}"]
    command = [program, "--cli", *server, *options, *kept, "--format", "json", "--cwd", str(REPOSITORY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=node_environment())
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.needs("npx")
@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_inspector_calls_a_tool(workspace: Path, era: str) -> None:
    """It gives exit status 0 and one block of text."""
    arguments = ["--tool-name", "ctx_view", "--tool-arg", "file_path=hello.txt", "--tool-arg", "limit=2"]
    status, answer, _ = _inspect(
        workspace, "--protocol-era", era, "--method", "tools/call", *arguments, fresh=era == "auto"
    )
    assert status == 0
    (block,) = answer["result"]["content"]
    assert block["text"].splitlines()[1:] == ["1|line 1", "2|line 2"]


@pytest.mark.needs("npx")
def test_the_schemas_are_portable(workspace: Path) -> None:
    """`--strict` finds nothing that some host could not accept."""
    status, answer, errors = _inspect(workspace, "--method", "tools/list", "--strict")
    assert status == 0, errors
    assert len(answer["result"]["tools"]) == 8


@pytest.mark.needs("npx")
def test_an_error_is_an_error_for_the_inspector(workspace: Path) -> None:
    """The exit status is 5, for `isError`; it is not a protocol error."""
    arguments = ["--tool-name", "ctx_view", "--tool-arg", "file_path=missing.txt"]
    status, answer, _ = _inspect(workspace, "--method", "tools/call", *arguments)
    assert (status, answer["result"]["isError"]) == (5, True)
