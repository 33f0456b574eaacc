"""Fixtures of the agent's tests: a tree to work in, a store, and an agent over both."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from penstock.agent.journal import new_id
from penstock.agent.loop import Agent
from penstock.agent.toolbox import Acting, Toolbox
from penstock.session import Session
from penstock.session.limits import PROFILES
from penstock.store import open_store
from penstock.wires import tool_definitions
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from penstock.session.limits import Limits
    from penstock.store import Store

WINDOW = 16_000


class Heard:
    """A listener that records what a user interface would have shown."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.steps: list[str] = []

    def text(self, delta: str) -> None:
        self.words.append(delta)

    def step(self, session: Session, what: str) -> None:
        del session
        self.steps.append(what)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Open a store for a test's journals and artifacts."""
    opened = open_store(f"sqlite://{tmp_path}/store")
    yield opened
    opened.close()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a small tree of 40 parts with a value each, and a large file."""
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(40):
        filler = "\n".join(f"{number}: nothing to see in line {line}" for line in range(30))
        (root / f"part_{number:03d}.txt").write_text(f"{filler}\nvalue = {number * 7}\n")
    (root / "large.log").write_text("a line of the log\n" * 50_000)
    return root


def begin(
    root: Path,
    store: Store,
    model: Any,
    *,
    window: int = WINDOW,
    limits: Limits | None = None,
    system: str = "Answer from the files.",
    acting: Sequence[Acting] = (),
    clock: Callable[[], float] = lambda: 0.0,
) -> Agent:
    """Return an agent that has begun; instead of waiting, its clock moves forward."""
    toolbox = Toolbox(Workspace(root), store, window_tokens=window)
    for actor in acting:
        toolbox.allow(actor)
    session = Session(
        limits=(limits or PROFILES["default"]).scaled(window),
        wire=model.wire,
        system=system,
        tools=tool_definitions(toolbox.tools, model.wire),
        session_id=new_id(),
    )
    waited = [0.0]

    def now() -> float:
        return clock() + waited[0]

    def sleep(seconds: float) -> None:
        waited[0] += seconds

    agent = Agent(session, model, toolbox, store, listener=Heard(), clock=now, sleep=sleep)
    agent.begin(about={"model": model.name})
    return agent


@pytest.fixture
def begun(tree: Path, store: Store) -> Callable[..., Agent]:
    """Return a function that begins an agent: `begun(model)`."""
    return partial(begin, tree, store)
