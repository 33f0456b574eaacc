"""Do the official conformance suites pass on our server factory with the tools that they call?

Every check has to pass except those of `NOT_OFFERED`, each with its reason; one that passes although it is listed is an
error too, so that the list cannot become outdated.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.mcp.conftest import installed, node_environment, serve_http

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT_ONLY = "results are text, the one form that every host shows alike"
NO_RESOURCES = "no resources: everything is reachable through a tool"
NO_PROMPTS = "no prompts"
NO_ASKING = "the server never asks its client anything"
NO_NOTES = "calls are short: no progress, no log messages"
NO_COMPLETION = "no completion of arguments"
NO_TASKS = "the tasks extension is not offered"

NOT_OFFERED_2025 = {
    **dict.fromkeys(
        ["tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content"], TEXT_ONLY
    ),
    **dict.fromkeys(["logging-set-level", "tools-call-with-logging", "tools-call-with-progress"], NO_NOTES),
    **dict.fromkeys(
        ["tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
        NO_ASKING,
    ),
    **dict.fromkeys(
        [
            "resources-list",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
        NO_RESOURCES,
    ),
    **dict.fromkeys(
        [
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ],
        NO_PROMPTS,
    ),
    "completion-complete": NO_COMPLETION,
}
RUN_2025 = {
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "json-schema-2020-12",  # in no default suite of the runner, so requested by name
}

NOT_OFFERED_2026 = {
    **{
        scenario: reason
        for scenario, reason in NOT_OFFERED_2025.items()
        if not scenario.startswith(("logging", "elicitation", "resources-subscribe", "resources-unsubscribe"))
        and scenario not in {"tools-call-with-logging", "tools-call-sampling", "tools-call-elicitation"}
    },
    **dict.fromkeys(
        [
            f"input-required-result-{what}"
            for what in (
                "basic-elicitation",
                "basic-sampling",
                "basic-list-roots",
                "request-state",
                "multiple-input-requests",
                "multi-round",
                "non-tool-request",
                "result-type",
                "tampered-state",
                "capability-check",
            )
        ],
        NO_ASKING,
    ),
    **dict.fromkeys(
        [
            f"tasks-{what}"
            for what in (
                "lifecycle",
                "capability-negotiation",
                "wire-fields",
                "request-state-removal",
                "mrtr-input",
                "request-headers",
                "dispatch-and-envelope",
                "required-task-error",
                "mrtr-composition",
            )
        ],
        NO_TASKS,
    ),
}
NOT_OFFERED_CHECKS_2026 = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": NO_ASKING,
        "sep-2575-missing-capability-http-400": NO_ASKING,
        "sep-2575-http-server-no-independent-requests-on-stream": NO_ASKING,
    },
    "caching": {
        "sep-2549-prompts-list-caching-hints": NO_PROMPTS,
        "sep-2549-resources-list-caching-hints": NO_RESOURCES,
        "sep-2549-resources-templates-list-caching-hints": NO_RESOURCES,
    },
}
RUN_2026 = {
    "server-stateless",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "server-sse-multiple-streams",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "caching",
    "input-required-result-missing-input-response",
    "input-required-result-unsupported-methods",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
    "tasks-status-notifications",
    "json-schema-2020-12",
    "http-header-validation",
    "http-custom-header-server-validation",
}


@pytest.fixture(scope="module")
def open_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run the doubles without a token, as the suites cannot send one."""
    yield from serve_http(tmp_path_factory.mktemp("conformance"))


def _run(folder: str, port: int, *options: str) -> dict[str, tuple[int, int]]:
    """Return passed and failed checks by scenario, using `localhost` because of the check of the Host header."""
    program = installed(folder, "conformance")
    command = [program, "server", "--url", f"http://localhost:{port}/mcp", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, env=node_environment())
    rows = re.findall(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert rows, done.stdout + done.stderr
    return {scenario: (int(passed), int(failed)) for scenario, passed, failed in rows}


def _failed_checks(out: Path) -> dict[str, set[str]]:
    failed: dict[str, set[str]] = {}
    for file in out.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-(.+)-\d{4}-\d\d-\d\dT.*$", r"\1", file.parent.name)
        checks = json.loads(file.read_text())
        failed[scenario] = {check["id"] for check in checks if check["status"] == "FAILURE"}
    return failed


@pytest.mark.needs("npx")
def test_the_suite_of_2025_passes(open_port: int) -> None:
    """Conformance 0.1.16 covers everything that concerns a server of tools."""
    rows = _run("conformance", open_port)
    assert {scenario for scenario, (_, failed) in rows.items() if failed} == set(NOT_OFFERED_2025)
    assert set(rows) - set(NOT_OFFERED_2025) == RUN_2025 - {"json-schema-2020-12"}
    command = [installed("conformance", "conformance"), "server", "--url", f"http://localhost:{open_port}/mcp"]
    named = [*command, "--scenario", "json-schema-2020-12"]
    done = subprocess.run(named, capture_output=True, text=True, timeout=60, check=False, env=node_environment())
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("npx")
def test_the_suite_of_2026_passes(open_port: int, tmp_path: Path) -> None:
    """These are conformance 0.2.0-alpha.12, the frozen requirements of 2026-07-28, and its additional scenarios."""
    rows = _run("conformance-next", open_port, "--requirements", "2026-07-28", "-o", str(tmp_path))
    failed = _failed_checks(tmp_path)
    assert {scenario for scenario in RUN_2026 if failed.get(scenario)} == set(NOT_OFFERED_CHECKS_2026)
    for scenario, checks in NOT_OFFERED_CHECKS_2026.items():
        assert failed[scenario] == set(checks)
    assert {scenario for scenario, (_, count) in rows.items() if count} - set(NOT_OFFERED_CHECKS_2026) == set(
        NOT_OFFERED_2026
    )
    assert set(rows) - set(NOT_OFFERED_2026) == RUN_2026
