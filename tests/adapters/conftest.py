"""How are agent frameworks run? Each has its own environment, built once, and each driver runs once for all tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from tests.environments import one_at_a_time, python_with
from tests.testing.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

WANTED = "PENSTOCK_TEST_ADAPTERS" in os.environ
DRIVERS = REPOSITORY / "tests" / "adapters" / "drivers"
PINS = {
    "pydantic_ai": ("pydantic-ai-slim[openai,anthropic]==2.68.0",),
    "openai_agents": ("openai-agents==0.24.0",),
    "langchain": (  # the newest that install together
        "langchain==1.5.2",
        "langchain-openai==1.7.4",
        "langchain-anthropic==1.7.10",
        "deepagents==0.7.32",
    ),
    "strands": ("strands-agents[openai,anthropic]==1.62.0",),
}
RECIPE_PINS = {
    "litellm": ("litellm==1.110.2",),
    "langgraph": ("langgraph==1.2.24", "langchain-openai==1.7.4"),
    "llamaindex": ("llama-index-core==0.14.25", "llama-index-llms-openai==0.8.3"),
    "adk": ("google-adk==2.13.0", "litellm==1.110.2", "mcp==2.3.0"),
    "crewai": ("crewai==1.15.30",),
    "smolagents": ("smolagents[openai]==1.26.0",),
    "dspy": ("dspy==3.4.1",),
}
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
"""Settings with which frameworks ask the network for nothing but their provider."""
OURS = ("click", "google-re2")  # what penstock itself needs


def adapter_alone(monkeypatch: pytest.MonkeyPatch, name: str, needs: Mapping[str, tuple[str, ...]]) -> Any:
    """Return an adapter in a process without its framework, whose names stand empty: for what needs no more of it.

    Args:
        monkeypatch: Takes everything back.
        name: The adapter.
        needs: The names that it imports, by module.
    """
    for module, names in needs.items():
        made = ModuleType(module)
        for one in names:  # a decorator has a small letter, and a class takes anything
            empty: dict[str, Any] = {
                "__init__": lambda _self, *_values, **_named: None,
                "__class_getitem__": lambda made, _kind: made,
            }
            setattr(made, one, (lambda function: function) if one.islower() else type(one, (), empty))
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setitem(sys.modules, f"penstock.adapters.{name}", None)
    monkeypatch.delitem(sys.modules, f"penstock.adapters.{name}")
    return import_module(f"penstock.adapters.{name}")


def python_of(framework: str) -> Path:
    """Return a Python that has the framework."""
    return python_with(f"adapters-{framework}", *(PINS | RECIPE_PINS)[framework], *OURS)


def run_in(framework: str, *arguments: str | Path) -> str:
    """Return what a script printed that ran in the framework's environment."""
    if not WANTED:
        pytest.skip("agent frameworks take minutes: PENSTOCK_TEST_ADAPTERS=1 installs them and plays the scenes")
    environment = {**os.environ, **QUIET, "PYTHONPATH": str(REPOSITORY / "src")}
    done = subprocess.run(
        [python_of(framework), *arguments], env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Return what a framework sent, scene by scene: the output of its driver, which all workers share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def scenes_of(framework: str) -> dict[str, Any]:
        output = shared / f"{framework}-scenes.json"
        with one_at_a_time(shared / f"{framework}.lock"):
            if not output.exists():
                output.write_text(run_in(framework, DRIVERS / f"run_{framework}.py"))
        cases: dict[str, Any] = json.loads(output.read_text())
        broken = {name: case["broke"] for name, case in cases.items() if "broke" in case}
        assert not broken, "\n".join(f"{name}\n{trace}" for name, trace in broken.items())
        return cases

    return scenes_of
