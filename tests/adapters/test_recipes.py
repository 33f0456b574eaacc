"""Do the recipes of docs/recipes run, each with its framework, against a loopback provider that refuses what does not fit?"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from tests.adapters.conftest import RECIPE_PINS, run_in
from tests.testing.conftest import REPOSITORY

pytestmark = pytest.mark.timeout(900)  # the first builds an environment
RECIPE = re.compile(r"^```py (\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DONE = "Number 99999."


def fields(**values: str) -> str:
    """Return an answer for DSPy: its fields, each under a heading."""
    return "\n".join(f"[[ ## {name} ## ]] {value}" for name, value in {**values, "completed": ""}.items())


class Scene(NamedTuple):
    """What the provider answers, with which window, and what became of the requests."""

    window_tokens: int
    steps: tuple[str, ...]
    outcomes: str


READ = "call:read_log"
READS_AND_SAYS = Scene(5_000, (READ, f"say:{DONE}"), "answered refused answered")
SCENES = {
    "litellm": Scene(800, (f"say:{DONE}",), "refused answered"),
    "langgraph": READS_AND_SAYS,
    "llamaindex": READS_AND_SAYS,
    "adk": READS_AND_SAYS,
    "crewai": Scene(1_400, (READ,) * 4 + (f"say:{DONE}",), "answered answered answered answered refused answered"),
    "smolagents": Scene(
        12_000,
        (READ,) * 3 + (f'call:final_answer {{"answer": "{DONE}"}}',),
        "answered answered answered refused answered",
    ),
    "dspy": Scene(
        20_000,
        (
            "say:" + fields(next_thought="I look.", next_tool_name="read_log", next_tool_args="{}"),
            "say:" + fields(next_thought="I know.", next_tool_name="finish", next_tool_args="{}"),
            "say:" + fields(reasoning="It is the last line.", answer=DONE),
        ),
        "answered answered answered",
    ),
}


@pytest.mark.parametrize("framework", SCENES)
def test_a_recipe_gets_through(framework: str) -> None:
    """The page's program prints the answer; a request that was refused was sent again, smaller."""
    page = (REPOSITORY / "docs" / "recipes" / f"{framework}.md").read_text("utf-8")
    ((name, code),) = RECIPE.findall(page)
    assert name == framework
    scene = SCENES[framework]
    runner = REPOSITORY / "tests" / "loopback_example.py"
    printed = run_in(framework, runner, "openai-chat", str(scene.window_tokens), "|".join(scene.steps), code)
    *_, answer, outcomes = printed.splitlines()
    assert answer.endswith(DONE)
    assert outcomes == scene.outcomes


@pytest.mark.parametrize("framework", SCENES)
def test_a_recipe_names_the_versions_that_it_ran_with(framework: str) -> None:
    """They are the versions installed for it."""
    page = (REPOSITORY / "docs" / "recipes" / f"{framework}.md").read_text("utf-8")
    for pin in RECIPE_PINS[framework]:
        package, version = re.sub(r"\[.*\]", "", pin).split("==")
        assert f"{package} {version}" in page, pin
