"""Runs an example with a provider on loopback in its environment: WIRE WINDOW STEPS CODE. Prints what came of each request.

STEPS are separated by `|`: `say:TEXT`, or `call:TOOL` with JSON arguments behind a space. Any Python runs it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import TYPE_CHECKING

from penstock.models import call, say
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from penstock.models import ScriptStep


def step(text: str) -> ScriptStep:
    """One step of a script."""
    kind, _, rest = text.partition(":")
    if kind == "say":
        return say(rest)
    name, _, arguments = rest.partition(" ")
    return call(name, **json.loads(arguments or "{}"))


def main(wire: str, window_tokens: str, steps: str, code: str) -> None:
    """Run the code."""
    script = [step(text) for text in steps.split("|")]
    with LoopbackProvider(wire, int(window_tokens), script=script) as provider, tempfile.TemporaryDirectory() as store:
        os.environ["PENSTOCK_STORE"] = store
        for name in ("OPENAI", "ANTHROPIC"):
            os.environ.update({f"{name}_BASE_URL": provider.base_url, f"{name}_API_KEY": "none"})
        os.environ["OPENAI_API_BASE"] = provider.base_url  # LiteLLM and LlamaIndex read this one
        exec(compile(code, "example.py", "exec"), {"__name__": "__main__"})
    print(*(received.outcome for received in provider.requests))


if __name__ == "__main__":
    main(*sys.argv[1:])
