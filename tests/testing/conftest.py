"""What did the providers' official clients see? Each has its own environment, built once, and runs once."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.environments import one_at_a_time, python_with
from tests.forks import warm

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).parents[2]
LOADED = {"sdks": ("openai", "anthropic"), "cloud-sdks": ("google.genai", "boto3")}
"""Clients of environments that several tests need: a second or two of processor time each."""


def warm_python_with(name: str) -> list[str]:
    """Return such a Python, for a command with `-m` or `-c`, with its clients and much of Penstock loaded already."""
    ours = ("tests.testing.plain_http", "penstock.carrier.execution", "penstock.store.sqlite", "penstock.testing")
    return warm(*ours, *LOADED[name], python=str(python_with(name)))


def _seen(name: str, driver: str, base: Path, *arguments: str) -> dict[str, Any]:
    """Return what the clients of an environment saw, case by case: the output of a driver, which all workers share."""
    python = warm_python_with(name) if name in LOADED else [str(python_with(name))]
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    output = shared / f"{name}-{driver}-{'-'.join(arguments)}.json"
    with one_at_a_time(output.with_suffix(".lock")):
        if not output.exists():
            # LiteLLM would ask the network for prices, and retry.
            more = {"PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
            # What clients leave behind when a loop ends is theirs; in drivers without a loop of ours a warning is an error.
            strict = [] if arguments else ["-W", "error"]
            done = subprocess.run(
                [*python, *strict, "-m", f"tests.testing.{driver}", *arguments],
                cwd=REPOSITORY,
                env={**os.environ, **more},
                capture_output=True,
                timeout=570,
                check=False,
            )
            assert done.returncode == 0, done.stderr.decode()
            output.write_bytes(done.stdout)
    cases: dict[str, Any] = json.loads(output.read_text())
    broken = {case: seen["broke"] for case, seen in cases.items() if isinstance(seen, dict) and "broke" in seen}
    assert not broken, "\n".join(f"{case}\n{trace}" for case, trace in broken.items())
    return cases


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the clients of OpenAI and Anthropic saw."""
    return _seen("sdks", "sdk_driver", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def cloud_seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what google-genai and boto3 saw."""
    return _seen("cloud-sdks", "cloud_sdk_driver", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def carried_cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Return the results of requests that were carried over a client, by the name of the case."""
    homes = {
        "openai": "sdks",
        "anthropic": "sdks",
        "google": "cloud-sdks",
        "amazon": "cloud-sdks",
        "litellm": "litellm",
    }
    return lambda client: _seen(homes[client], "carried_driver", tmp_path_factory.getbasetemp(), client)
