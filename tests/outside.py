"""A project, a store and a model as somebody outside has them: real processes, a provider over real HTTP, and no inner module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.testing import LoopbackProvider
from tests.forks import forked, warm_penstock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

PENSTOCK = (sys.executable, "-m", "penstock")


class Outside:
    """A folder with a project in it, and the command line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{folder}/store"}

    def penstock(self, *arguments: str, cwd: Path | None = None, given: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a command in the project, in a process of its own, to its end."""
        status, out, err = forked([*arguments], cwd or self.tree, self.environment, given, seconds=110)
        return subprocess.CompletedProcess(arguments, status, out, err)

    def started(self, *arguments: str, fresh: bool = False) -> subprocess.Popen[str]:
        """Starts a command in the project, whose error output is a pipe; with `fresh` in the very process that is returned."""
        return subprocess.Popen(
            [*(PENSTOCK if fresh else warm_penstock()), *arguments],
            cwd=self.tree,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *arguments: str, cwd: Path | None = None) -> Any:
        """The object that a command prints."""
        done = self.penstock(*arguments, "--json", cwd=cwd)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)


class Model:
    """A model at an address, which keeps what it was sent."""

    def __init__(self, provider: LoopbackProvider, requests: list[Any]) -> None:
        self.flags = ("--model", "openai-chat:x", "--base-url", provider.base_url)
        self.requests = requests

    def results(self, at: int = -1) -> list[str]:
        """The results that a request showed, the newest when left out."""
        return [str(message["content"]) for message in self.requests[at]["messages"] if message["role"] == "tool"]

    def heard(self) -> str:
        """All that the model was told, in one text."""
        return json.dumps(self.requests, ensure_ascii=False)


@contextmanager
def model(steps: Iterable[Any] | Callable[[Any], Any], window_tokens: int = 128_000) -> Iterator[Model]:
    """A model over HTTP that answers by steps, in order, or by a function of the request."""
    following = iter(()) if callable(steps) else iter(steps)
    requests: list[Any] = []

    def policy(request: Any) -> Any:
        requests.append(request)
        return steps(request) if callable(steps) else next(following)

    with LoopbackProvider("openai-chat", window_tokens, policy=policy) as provider:
        yield Model(provider, requests)
