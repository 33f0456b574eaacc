"""Runs examples with a provider on loopback in their environment: WIRE, and for each of them WINDOW STEPS CODE.

Prints what came of each request.

STEPS are separated by `|`: `say:TEXT`, or `call:TOOL` with JSON arguments behind a space, in which HANDLE is the first handle that
the request names. Any Python runs it.
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
    """One step of a script, for the request that it answers."""
    kind, _, rest = text.partition(":")
    if kind == "say":
        return say(rest)
    name, _, arguments = rest.partition(" ")
    shown = re.search(r'handle=\\?"([\w-]{16,})', json.dumps(request["messages"]).replace("\\", ""))
    return call(name, **json.loads((arguments or "{}").replace("HANDLE", shown[1] if shown else "")))


def main(wire: str, window_tokens: str, steps: str, code: str) -> None:
    """Run the code."""
    script = iter(steps.split("|"))

    def policy(request: dict[str, Any]) -> ScriptStep:
        return step(next(script), request)

    with LoopbackProvider(wire, int(window_tokens), policy=policy) as provider, tempfile.TemporaryDirectory() as store:
        os.environ["PENSTOCK_STORE"] = store
        for name in ("OPENAI", "ANTHROPIC"):
            os.environ.update({f"{name}_BASE_URL": provider.base_url, f"{name}_API_KEY": "none"})
        os.environ["OPENAI_API_BASE"] = provider.base_url  # LiteLLM and LlamaIndex read this one
        exec(compile(code, "example.py", "exec"), {"__name__": "__main__"})
    print(*(received.outcome for received in provider.requests))


if __name__ == "__main__":
    _, wire_of_all, *told = sys.argv
    for at in range(0, len(told), 3):
        main(wire_of_all, *told[at : at + 3])
