"""Runs examples in their environment with a provider on loopback; arguments: WIRE, and for each example WINDOW STEPS CODE.

Prints the outcome of each request.

STEPS are separated by `|`: `say:TEXT`, or `call:TOOL`, a space and JSON arguments, in which HANDLE is the first handle in the
request. Any Python can run it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from penstock.models import call, say
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from penstock.models import ScriptStep


def step(text: str, request: dict[str, Any]) -> ScriptStep:
    """Return one step of a script for a request."""
    kind, _, rest = text.partition(":")
    if kind == "say":
        return say(rest)
    name, _, arguments = rest.partition(" ")
    shown = re.search(r'handle=\\?"([\w-]{16,})', json.dumps(request["messages"]).replace("\\", ""))
    return call(name, **json.loads((arguments or "{}").replace("HANDLE", shown[1] if shown else "")))


def main(wire: str, window_tokens: str, steps: str, code: str) -> None:
    """Run the code of one example."""
    script = iter(steps.split("|"))

    def policy(request: dict[str, Any]) -> ScriptStep:
        return step(next(script), request)

    with LoopbackProvider(wire, int(window_tokens), policy=policy) as provider, tempfile.TemporaryDirectory() as store:
        os.environ["PENSTOCK_STORE"] = store
        for name in ("OPENAI", "ANTHROPIC"):
            os.environ.update({f"{name}_BASE_URL": provider.base_url, f"{name}_API_KEY": "none"})
        os.environ["OPENAI_API_BASE"] = provider.base_url  # the name that LiteLLM and LlamaIndex read
        exec(compile(code, "example.py", "exec"), {"__name__": "__main__"})
    print(*(received.outcome for received in provider.requests))


if __name__ == "__main__":
    _, wire_of_all, *told = sys.argv
    for at in range(0, len(told), 3):
        main(wire_of_all, *told[at : at + 3])
