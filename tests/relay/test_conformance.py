"""Do the official conformance suites give the same results for a server behind the relay as for the server itself?"""

from __future__ import annotations

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.mcp.conftest import installed, node_environment
from tests.relay.test_http import everything, proxied

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["everything"]
SUITES = {"2025-11-25": ("conformance", ()), "2026-07-28": ("conformance-next", ("--requirements", "2026-07-28"))}
LEAST = {"2025-11-25": (30, 20), "2026-07-28": (45, 20)}
"""Scenarios, and checks that pass directly, at least: a server that answers nothing would be the same behind the relay too."""


def run(folder: str, url: str, out: Path, *options: str) -> tuple[dict[str, tuple[str, str]], dict[str, list[str]]]:
    """Return a suite's result for each scenario, and the status of each check."""
    command = [installed(folder, "conformance"), "server", "--url", url.replace("127.0.0.1", "localhost"), *options]
    done = subprocess.run(
        [*command, "-o", str(out)], capture_output=True, text=True, timeout=110, check=False, env=node_environment()
    )
    rows = re.findall(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert rows, done.stdout + done.stderr
    checks: dict[str, list[str]] = {}
    for file in sorted(out.glob("server-*/checks.json")):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        checks[scenario] = [f"{check['id']} {check['status']}" for check in json.loads(file.read_text())]
    return {scenario: (passed, failed) for scenario, passed, failed in rows}, checks


@pytest.mark.needs("npx")
@pytest.mark.timeout(240)
@pytest.mark.proves("Y-2")
@pytest.mark.parametrize("version", SUITES)
def test_the_same_checks_pass_directly_and_through_the_relay(version: str, everything: str, tmp_path: Path) -> None:
    """They are compared scenario by scenario, check by check."""
    folder, options = SUITES[version]
    with proxied(everything, tmp_path / "store") as port, ThreadPoolExecutor(2) as both:
        through = both.submit(run, folder, f"http://localhost:{port}/mcp", tmp_path / "through", *options)
        direct = run(folder, everything, tmp_path / "direct", *options)
        assert through.result() == direct
    scenarios, passed = LEAST[version]
    assert len(direct[0]) >= scenarios
    assert sum(int(row[0]) for row in direct[0].values()) >= passed
