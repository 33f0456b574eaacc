"""Too much output, then a refusal: what Penstock does for an agent whose tool prints everything.

First, the output of a real command goes through `penstock guard`, as it would in a shell; what was cut is then paged and searched
by its handle. Second, an agent's own unbounded tool overflows a provider with a window of 8,000 tokens. The provider runs on this
machine (`penstock.testing.LoopbackProvider`) and refuses in OpenAI's words; `penstock.execute` makes the request fit.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import urllib.error
import urllib.request
from contextlib import closing
from typing import Any

from penstock import execute, overflow
from penstock.context import bill
from penstock.models import ScriptStep, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider

ROOT = sysconfig.get_path("stdlib")
COMMAND = ["find", ROOT, "-type", "f", "-not", "-path", "*/site-packages/*"]
PENSTOCK = [sys.executable, "-m", "penstock"]


class Refused(Exception):
    """The exception that an SDK would raise: the status, and the body as received."""

    def __init__(self, status_code: int, body: str) -> None:
        super().__init__(body)
        self.status_code = status_code
        self.body = body


def show(title: str, text: str, lines: int = 5) -> None:
    print(f"\n{title}")
    for line in text.splitlines()[:lines]:
        print(f"  │ {line[:120]}")


def guarded() -> None:
    """Cut a command's output with the filter, then read what was cut."""
    flood = subprocess.run(COMMAND, capture_output=True, check=True).stdout
    cut = subprocess.run(
        [*PENSTOCK, "guard", "--tokens", "400", "--name", "find"], input=flood, capture_output=True, check=True
    )
    text = cut.stdout.decode()
    show(f"find … | penstock guard --tokens 400   ({len(flood)} bytes in, {len(cut.stdout)} out)", text)
    found = re.search(r"penstock page (\w+)", text)
    assert found, text[:400]
    handle = found[1]
    page = subprocess.run(
        [*PENSTOCK, "page", handle, "--offset", "1000", "--limit", "3"], capture_output=True, check=True
    )
    show(f"penstock page {handle} --offset 1000 --limit 3", page.stdout.decode())
    matches = subprocess.run([*PENSTOCK, "find", handle, r"/json/\w+\.py$"], capture_output=True, check=True)
    show(f"penstock find {handle} '/json/\\w+\\.py$'", matches.stdout.decode())
    whole = subprocess.run([*PENSTOCK, "page", handle, "--raw"], capture_output=True, check=True).stdout
    print(f"  the whole came back byte for byte: {whole == flood}")
    assert whole == flood


def recovered(store_url: str) -> None:
    """Send a request that the provider refuses, by `execute`."""
    listing = subprocess.run(COMMAND, capture_output=True, text=True, check=True).stdout
    called = [
        {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": json.dumps({"root": ROOT})}}
    ]
    request: dict[str, Any] = {
        "model": "gpt-4o",
        "max_tokens": 500,
        "messages": [
            {"role": "system", "content": "You answer questions about a source tree."},
            {"role": "user", "content": "Which file encodes JSON?"},
            {"role": "assistant", "content": None, "tool_calls": called},
            {"role": "tool", "tool_call_id": "call_1", "content": listing},
        ],
    }
    show("The request, itemised:", str(bill.bill(request)), lines=6)

    def policy(body: dict[str, Any]) -> ScriptStep:
        flood = body["messages"][-1]["content"]
        assert "penstock page " in flood
        return say("I see both ends of the listing and the handle of the rest: I shall search it for json/encoder.py.")

    with LoopbackProvider("openai-chat", 8_000, policy=policy) as provider, closing(open_store(store_url)) as store:

        def send(body: Any) -> Any:
            content = json.dumps(body).encode()
            url = f"{provider.base_url}/chat/completions"
            asked = urllib.request.Request(url, content, {"content-type": "application/json"})  # noqa: S310 - loopback
            try:
                with urllib.request.urlopen(asked) as answered:  # noqa: S310 - loopback
                    return json.load(answered)
            except urllib.error.HTTPError as error:
                with error:
                    refusal = Refused(error.code, error.read().decode())
                found = overflow.diagnose(refusal)
                print(f"\nThe provider refuses: HTTP {refusal.status_code}, {found.kind}, {found.overflow}")
                raise refusal from None

        believed = 1_000_000  # what the catalogue says; the provider enforces 8,000
        result = execute(send, request, wire="openai-chat", window_tokens=believed, store=store)
        assert result.success, result.error
        show("What execute did about it:", str(result.plans[-1]))
        show(
            f"The provider answers (attempt {result.attempts}, {result.tokens_reduced} tokens less):",
            said(result.response),
        )


def said(response: Any) -> str:
    return str(response["choices"][0]["message"]["content"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PENSTOCK_STORE"] = f"sqlite://{folder}/store"
        guarded()
        recovered(os.environ["PENSTOCK_STORE"])
    print("\nNothing was lost: what is not shown has a handle, and the conversation goes on.")


if __name__ == "__main__":
    main()
