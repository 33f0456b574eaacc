"""What does a framework send to its provider? These scenes, played by every driver, print one JSON object of cases.

They run in the Python that has the framework, with penstock on its path. `test_frameworks.py` judges the output.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field, create_model

from penstock.guard.output import default_store
from penstock.models import call, calls, fail, say
from penstock.models.sizes import estimate, text_of
from penstock.testing import LoopbackProvider
from penstock.text import tokens
from penstock.wires import messages_of, violations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from penstock.models import ScriptStep
    from penstock.text.json_access import Json

TASK = "Read every chapter and say when you are done. The word is PELICAN."
FLOOD = "".join(f"row {number:>6}: nothing of note\n" for number in range(34_000))  # 1 MB
HANDLE = re.compile(r'ctx_(?:page|find)\(handle=\\?"([A-Za-z0-9_-]+)')
SMALL = 8_000
CHAPTERS = range(1, 41)
FIELDS: dict[str, Any] = {
    f"stone_{number}": (
        str,
        Field(description=f"What stone_{number} says of its place and its year, in a few words. " * 4),
    )
    for number in range(24)
}
REPORT: Any = create_model("Report", **FIELDS)
"""The form of an answer, about a quarter of a small window."""


class Case(NamedTuple):
    """One way to run an agent: `run(provider, window_tokens, tools, prompt, streamed)` returns its answer and its history.

    The scenes with little room pass `window_tokens`. `forms` are the ways to ask for a `REPORT`, each with its `run`.
    """

    wire: str
    run: Callable[[LoopbackProvider, int, list[Any], str, bool], tuple[str, str]]
    window_tokens: int = SMALL
    forms: Mapping[str, Callable[[LoopbackProvider, int, list[Any], str, bool], tuple[str, str]]] = {}

    def chapter(self, number: int) -> str:
        """Return about a twelfth of the window, in words that occur nowhere else."""
        verses = range(self.window_tokens // 200)
        return "".join(f"chapter {number}, verse {verse}: the {number * 7919 + verse}th stone\n" for verse in verses)

    def tools(self) -> list[Any]:
        """Return what the agent can call."""

        def read(number: int) -> str:
            """Read a chapter."""
            return self.chapter(number)

        def dump() -> str:
            """Dump everything."""
            return FLOOD

        def records() -> list[dict[str, str]]:
            """List everything."""
            return [{"row": line} for line in FLOOD.splitlines()]

        return [read, dump, records]

    def play(self, provider: LoopbackProvider, window_tokens: int, mode: str, prompt: str = TASK) -> Json:
        """Run the agent; report how it ended, what the provider received, and whether missing content can be had by handle."""
        answer, history, raised = "", "", ""
        with provider:
            try:
                answer, history = self.run(provider, window_tokens, self.tools(), prompt, mode != "plain")
            except Exception as error:
                raised = "".join(traceback.format_exception(error))
        bodies = [messages_of(received.request, self.wire) for received in provider.requests]
        shown = [text_of(body) for body in bodies]
        last = shown[-1] if shown else ""
        return {
            "answer": answer,
            "raised": raised,
            "outcomes": [received.outcome for received in provider.requests],
            "tokens": [received.input_tokens for received in provider.requests],
            "violations": [str(found) for body in bodies for found in violations(body, self.wire)],
            "longest": max((len(text) for body in bodies for text in strings(body)), default=0),
            "handles": len(set(HANDLE.findall(last))),
            "had": [number for number in CHAPTERS if is_there(self.chapter(number), last)],
            "whole": [number for number in CHAPTERS if self.chapter(number).splitlines()[-1] in history],
            "task": all("PELICAN" in text for text in shown),
        }


def flood(case: Case, mode: str) -> Json:
    """Play a tool that returns a megabyte; the model pages on from the handle that it was given."""

    def policy(request: Json) -> ScriptStep:
        text = text_of(messages_of(request, case.wire))
        if "nothing of note" not in text:
            return call("dump")
        if "row  33000" not in text:
            return call("ctx_page", handle=HANDLE.findall(text)[0], offset=33_000, limit=3)
        return say("row 33000 was seen")

    return case.play(LoopbackProvider(case.wire, 100_000, policy=policy), 100_000, mode)


def listing(case: Case, mode: str) -> Json:
    """Play a tool that returns a megabyte that is not text."""
    provider = LoopbackProvider(case.wire, 100_000, script=[call("records"), say("done", requires="row      0")])
    return case.play(provider, 100_000, mode)


def long(case: Case, mode: str) -> Json:
    """Play thirty turns of tools in a window that holds twelve of them."""
    script = [*(call("read", number=number) for number in range(1, 31)), say("done")]
    return case.play(LoopbackProvider(case.wire, case.window_tokens, script=script), case.window_tokens, mode)


def together(case: Case, mode: str) -> Json:
    """Play forty results at once, in a window that holds twelve of them."""
    script = [calls(*(call("read", number=number) for number in range(1, 41))), say("done")]
    return case.play(LoopbackProvider(case.wire, case.window_tokens, script=script), case.window_tokens, mode)


def refused(case: Case, mode: str) -> Json:
    """Play a window a twentieth of the promised one: the provider refuses, and the run continues for ten more turns."""
    script = [*(call("read", number=number) for number in range(1, 21)), say("done")]
    in_stream = mode == "in stream"
    provider = LoopbackProvider(case.wire, case.window_tokens, script=script, refuse_in_stream=in_stream)
    return case.play(provider, 20 * case.window_tokens, mode)


def minute(case: Case, mode: str) -> Json:
    """Play a minute's allowance of a third of what is finally asked for, which no waiting cures."""
    script = [*(call("read", number=number) for number in range(1, 21)), say("done")]

    def said(size: Any, limit: int) -> str:
        return (
            f"Request too large for m on tokens per min (TPM): Limit {limit}, Requested {size.input_tokens + size.reply_tokens}. "
            "The input or output tokens must be reduced in order to run successfully."
        )

    provider = LoopbackProvider(case.wire, case.window_tokens, script=script, refusal=said)
    return case.play(provider, 20 * case.window_tokens, mode)


def silent(case: Case, mode: str) -> Json:
    """Play a server that silently cuts what is above a quarter of the window; only its usage shows it.

    In the end that is less than a third of the smallest request, which no other way of counting explains.
    """
    most = case.window_tokens // 4

    def policy(request: Json) -> ScriptStep:
        read = [int(number) for number in re.findall(r"chapter (\d+), verse", text_of(messages_of(request, case.wire)))]
        return say("done") if 20 in read else call("read", number=max(read, default=0) + 1)

    provider = LoopbackProvider(
        case.wire, 100 * case.window_tokens, policy=policy, count=lambda text: min(estimate(text), most)
    )
    return case.play(provider, 20 * case.window_tokens, mode)


def failed(case: Case, mode: str) -> Json:
    """Play a provider that fails in a way that is not an overflow."""
    script = [call("read", number=1), fail(418, {"error": {"type": "teapot", "message": "short and stout"}})]
    return case.play(LoopbackProvider(case.wire, case.window_tokens, script=script), case.window_tokens, mode)


def hopeless(case: Case, mode: str) -> Json:
    """Play a question that alone is ten times the window."""
    provider = LoopbackProvider(case.wire, case.window_tokens, script=[say("never")])
    return case.play(provider, case.window_tokens, mode, f"{TASK}\n{FLOOD[: 40 * case.window_tokens]}")


def formed(case: Case, mode: str) -> Json:
    """Play fifteen turns to an answer that has a form; the provider counts as much as we ever expect of one."""

    def policy(request: Json) -> ScriptStep:
        read = [int(number) for number in re.findall(r"chapter (\d+), verse", text_of(messages_of(request, case.wire)))]
        if 15 not in read:
            return call("read", number=max(read, default=0) + 1)
        answer = dict.fromkeys(FIELDS, "seen")
        offered = re.search(r'"(Report|final_result)"', json.dumps(request["tools"]))
        return call(offered[1], **answer) if offered else say(json.dumps(answer))

    provider = LoopbackProvider(
        case.wire, case.window_tokens, policy=policy, count=lambda text: tokens.count(text).high
    )
    return case._replace(run=case.forms[mode]).play(provider, case.window_tokens, "plain")


SCENES = {"flood": flood, "listing": listing, "long": long, "together": together, "refused": refused}
SCENES |= {"failed": failed, "hopeless": hopeless, "minute": minute, "silent": silent, "formed": formed}
MODES = ("plain", "streamed", "in stream")


def strings(value: Json) -> Iterator[str]:
    """Yield every string of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def is_there(text: str, shown: str) -> bool:
    """Return whether a text is in a request, or in what its handles lead to, directly or through other handles."""
    store = default_store()
    forms = (text, json.dumps(text)[1:-1])
    seen: set[str] = set()
    left = [shown]
    while left:
        held = left.pop()
        if any(form in held for form in forms):
            return True
        found = set(HANDLE.findall(held)) - seen
        seen |= found
        left += [store.read(handle, 0, store.info(handle).bytes).decode() for handle in found]
    return False


def main(cases: dict[str, Case]) -> None:
    """Play every scene with every case. A scene that breaks reports how, and the others continue."""
    results: dict[str, Json] = {}
    for name, case in cases.items():
        for scene, play in SCENES.items():
            for mode in case.forms if scene == "formed" else MODES if scene == "refused" else MODES[:2]:
                with tempfile.TemporaryDirectory() as folder:
                    os.environ["PENSTOCK_STORE"] = folder
                    try:
                        results[f"{scene}/{name}/{mode}"] = play(case, mode)
                    except Exception:
                        results[f"{scene}/{name}/{mode}"] = {"broke": traceback.format_exc()}
    json.dump(results, sys.stdout)
