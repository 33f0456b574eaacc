"""Runs an example of docs/adapters.md, given as its argument, with a loopback provider for OpenAI; prints what the model said."""

from __future__ import annotations

import os
import sys
import tempfile

from penstock.models import say
from penstock.testing import LoopbackProvider

code = sys.argv[1]
wire = "openai-responses" if "from agents import" in code else "openai-chat"
with tempfile.TemporaryDirectory() as folder, LoopbackProvider(wire, 100_000, script=[say("done")]) as provider:
    os.environ.update(OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="none", PENSTOCK_STORE=folder)
    exec(compile(code, "docs/adapters.md", "exec"), {"__name__": "__main__"})
