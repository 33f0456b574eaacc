"""Do the vendors' own clients get answers through the gateway to what is too long, read back, without noticing (W-3, W-4)?"""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack
from typing import Any

import pytest

from penstock.gateway.provider import Windows
from penstock.testing import LoopbackProvider
from tests.gateway.standing import standing
from tests.gateway.stories import body_of, story
from tests.gateway.test_cuts import upstream_of
from tests.gateway.test_own_calls import TOOL, WINDOW, Reader
from tests.testing.conftest import REPOSITORY, warm_python_with


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what the clients of an environment receive, and the providers, by the environment's name."""
    known: dict[str, Any] = {}

    def ask(environment: str, wires: list[str]) -> Any:
        if environment not in known:
            python = warm_python_with(environment)
            with ExitStack() as stack:
                doubles = {
                    wire: stack.enter_context(LoopbackProvider(wire, WINDOW, policy=Reader(wire))) for wire in wires
                }
                urls = {
                    wire: stack.enter_context(
                        standing(
                            tmp_path_factory.mktemp("gateway"), upstream_of(double), windows=Windows((("m", WINDOW),))
                        )
                    ).url
                    for wire, double in doubles.items()
                }
                requests = {wire: {"small": request(wire, 3), "large": request(wire, 60)} for wire in wires}
                done = subprocess.run(
                    [*python, "-m", "tests.gateway.sdk_driver", json.dumps(urls)],
                    cwd=REPOSITORY,
                    input=json.dumps(requests).encode(),
                    capture_output=True,
                    timeout=120,
                    check=False,
                )
                assert done.returncode == 0, done.stderr.decode()
                known[environment] = json.loads(done.stdout), doubles
        return known[environment]

    return ask


def request(wire: str, turns: int) -> dict[str, Any]:
    body = body_of(wire, story(turns, 1_000))
    return {**body, "tools": [TOOL[wire]]} if wire in TOOL else body


ENVIRONMENTS = {"sdks": ["anthropic", "openai-chat", "openai-responses"], "cloud-sdks": ["gemini", "bedrock"]}


@pytest.mark.proves("W-3", "W-4", "R-8")
@pytest.mark.parametrize("form", ["plain", "streamed"])
@pytest.mark.parametrize(
    ("environment", "wire"), [(name, wire) for name, wires in ENVIRONMENTS.items() for wire in wires]
)
def test_clients_of_vendors_hear_an_answer(environment: str, wire: str, form: str, heard: Any) -> None:
    """A history that fits is answered by what it says, however the client has the address; one that does not fit, by what
    was read back from it.
    """
    told, doubles = heard(environment, ENVIRONMENTS[environment])
    assert told[f"{wire} small {form}"] == told[f"{wire} by its variable {form}"] == "Read 0: "
    large = told[f"{wire} large {form}"]
    if wire in TOOL:
        assert large.startswith("I look. Read 1: ")
        assert "0:3 value = compute" in large
    else:
        assert large == "Read 0: "
    assert doubles[wire].refused <= 1
