"""Does `scripts/demo` show the truth? Each example checks what it prints, and fails if that does not hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.proves("S-12", "O-4")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("investigate.py", ["flood   │", "refusal │ HTTP 400: ", "kill    │", "server.log:13008: 2026"]),
        ("recover.py", ["The provider refuses: HTTP 400", "the whole came back byte for byte: True"]),
    ],
)
def test_an_example_of_the_demo_runs_and_shows_what_it_is_about(name: str, shown: list[str], tmp_path: Path) -> None:
    """The examples use real HTTP, real processes and a real kill."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in shown:
        assert words in done.stdout
