"""Are the model and the person warned when code or a session grows too large?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from penstock.agent.editing import Editing
from penstock.agent.size_advice import size_advice
from penstock.models import ScriptedModel, call, say
from penstock.session.effects import Change
from penstock.session.limits import PROFILES
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.agent.loop import Agent

BODY = "        x = 1\n"


def code(class_lines: int, name: str = "Big") -> str:
    """Return a class with this many lines, in methods that are short enough."""
    method = ["    def m(self):\n", *[BODY] * 9]
    return "".join([f"class {name}:\n", *(method * (class_lines // 10 + 1))[: class_lines - 1]])


@pytest.mark.proves("S-6")
def test_code_that_an_edit_makes_too_large_is_told() -> None:
    """A class of 801 lines, a function of 51 and a file of 3,001 are reported; what was too large before is not reported again."""
    assert size_advice(Change("a.py", None, code(800).encode())) == ""
    large = code(801).encode()
    assert "class Big has 801 lines, above the 800" in size_advice(Change("a.py", None, large))
    assert size_advice(Change("a.py", large, large + b"y = 1\n")) == ""
    function = f"def f():\n{BODY * 50}".encode()
    assert "function f has 51 lines, above the 50" in size_advice(Change("a.py", b"", function))
    assert "3001 lines, above the 3000" in size_advice(Change("a.py", b"", b"x = 1\n" * 3_001))
    assert size_advice(Change("a.txt", b"", b"x = 1\n" * 9_001)) == ""


@pytest.mark.proves("S-6")
def test_the_model_and_the_person_hear_of_it(begun: Callable[..., Agent], tree: Path) -> None:
    """The warning is in the result for the model and in a line for the person."""
    root = Root(tree)
    model = ScriptedModel([call("write_file", path="a.py", content=code(3_501)), say("Done.")])
    agent = begun(model, acting=[Editing(root)], window=200_000)
    agent.run("Write it.")
    root.close()
    told = "class Big has 3501 lines"
    assert told in json.dumps(model.requests[-1]["messages"][-1])
    assert any(told in step for step in agent.listener.steps)  # type: ignore[attr-defined]


@pytest.mark.proves("S-1")
def test_at_25_turns_both_are_told_once(begun: Callable[..., Agent]) -> None:
    """A profile that counts turns warns once, at 25; the default profile does not."""
    for profile, times in (("swe-1.5", 1), ("default", 0)):
        looks = [call("view", file_path=f"part_{n:03d}.txt") for n in range(27)]
        model = ScriptedModel([*looks, say("Done.")])
        agent = begun(model, limits=PROFILES[profile], window=128_000)
        agent.run("Look.")
        told = "25 turns since the last fresh start"
        assert sum(told in step for step in agent.listener.steps) == times  # type: ignore[attr-defined]
        assert sum(json.dumps(request["messages"][-1]).count(told) for request in model.requests) == times
