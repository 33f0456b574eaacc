"""A project, a store and a model as users have them: real processes, a provider over real HTTP, no internal modules."""

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
        """Run a command in the project, in its own process, to its end."""
        status, out, err = forked([*arguments], cwd or self.tree, self.environment, given, seconds=110)
        return subprocess.CompletedProcess(arguments, status, out, err)

    def started(self, *arguments: str, fresh: bool = False) -> subprocess.Popen[str]:
        """Start a command in the project with its error output piped; with `fresh`, the returned process is the command itself."""
        return subprocess.Popen(
            [*(PENSTOCK if fresh else warm_penstock()), *arguments],
            cwd=self.tree,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *arguments: str, cwd: Path | None = None) -> Any:
        """Return the object that a command prints."""
        done = self.penstock(*arguments, "--json", cwd=cwd)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)


class Model:
    """A model at an address that records what it is sent."""

    def __init__(self, provider: LoopbackProvider, requests: list[Any]) -> None:
        self.flags = ("--model", "openai-chat:x", "--base-url", provider.base_url)
        self.requests = requests

    def results(self, at: int = -1) -> list[str]:
        """Return the results in a request, by default the newest."""
        return [str(message["content"]) for message in self.requests[at]["messages"] if message["role"] == "tool"]

    def heard(self) -> str:
        """Return everything that the model was sent, as one text."""
        return json.dumps(self.requests, ensure_ascii=False)


@contextmanager
def model(steps: Iterable[Any] | Callable[[Any], Any], window_tokens: int = 128_000) -> Iterator[Model]:
    """Serve a model over HTTP that answers with steps, in order, or with a function of the request."""
    following = iter(()) if callable(steps) else iter(steps)
    requests: list[Any] = []

    def policy(request: Any) -> Any:
        requests.append(request)
        return steps(request) if callable(steps) else next(following)

    with LoopbackProvider("openai-chat", window_tokens, policy=policy) as provider:
        yield Model(provider, requests)
