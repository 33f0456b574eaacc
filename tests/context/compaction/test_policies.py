"""Do models that see only the visible request still answer correctly after compaction, and fail without an invariant?

A policy is a function of the texts of a request. It talks to a provider that refuses anything invalid, within a budget that
forces a plan every few turns. Each question is asked again with one invariant removed, and then answered wrongly.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.context.compaction.talks import Shelf, lines

from penstock.context.compaction import Clear, Spans, apply, plan
from penstock.models import call, calls, say
from penstock.testing import LoopbackProvider
from penstock.wires import dump, load, repair

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.models import ScriptStep
    from penstock.wires import Transcript

    Forget = Callable[[Transcript, Shelf], Transcript]
    Tools = dict[str, Callable[..., str]]

WIRES = ("openai-chat", "openai-responses", "anthropic")
BUDGET = 6_000
FILES = 40
PAGE_CHARS = 1_500


def value(number: int) -> int:
    """Return what a file holds, which cannot be guessed."""
    return 10_007 * (number + 3) % 99_991


# ── forgetting, ours and without an invariant ────────────────────────────────────────────────────────────────────


def ours(transcript: Transcript, shelf: Shelf) -> Transcript:
    """Apply a plan with its defaults and keep everything."""
    return apply(transcript, plan(transcript, BUDGET), shelf)


def without_handles(transcript: Transcript, _: Shelf) -> Transcript:
    """Keep nothing of what is cleared."""
    return apply(transcript, plan(transcript, BUDGET))


def without_words(transcript: Transcript, _: Shelf) -> Transcript:
    """Keep the task and the newest messages, repaired; what was said in between is lost."""
    messages = dump(transcript, transcript.wire)
    kept = [messages[0], *messages[-12:]]
    return load(repair(kept, transcript.wire).messages, transcript.wire) if len(messages) > 30 else transcript


def without_active_views(transcript: Transcript, shelf: Shelf) -> Transcript:
    """Treat the newest view of a modified file as any other result, and remove the oldest first whatever that costs."""
    strategies = (Clear(keep=1, active=True), Spans())
    return apply(transcript, plan(transcript, BUDGET, strategies, calls_left=10_000), shelf)


def without_the_task(transcript: Transcript, _: Shelf) -> Transcript:
    """Keep only the newest messages, repaired, as a sliding window does."""
    messages = dump(transcript, transcript.wire)
    return load(repair(messages[-12:], transcript.wire).messages, transcript.wire) if len(messages) > 30 else transcript


# ── a session ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(kw_only=True)
class Session:
    """A model behind a window, its tools, and compaction after every turn."""

    wire: str
    policy: Callable[[list[str]], ScriptStep]
    tools: Tools
    forget: Forget
    shelf: Shelf = field(default_factory=Shelf)

    def __post_init__(self) -> None:
        self._list = "input" if self.wire == "openai-responses" else "messages"
        self.provider = LoopbackProvider(
            self.wire, 2 * BUDGET, policy=lambda body: self.policy([text_of(said) for said in body[self._list]])
        )
        self.transcript: Transcript = load([], self.wire)

    def say(self, words: str) -> str:
        """Send words of the user and return the last words of the model once its calls are done."""
        self._grow({"role": "user", "content": words})
        while True:
            answer = self.provider.send({"max_tokens": 500, self._list: dump(self.transcript, self.wire)})
            messages, asked, text = ANSWERS[self.wire](answer)
            self._grow(*messages)
            if not asked:
                return text
            self._grow(
                *results(self.wire, [(call_id, self.tools[name](**arguments)) for call_id, name, arguments in asked])
            )

    def _grow(self, *messages: Any) -> None:
        self.transcript = self.transcript.append(*messages)
        if self.transcript.entries[-1].role != "assistant":
            self.transcript = self.forget(self.transcript, self.shelf)

    def page(self, handle: str, offset: int) -> str:
        """Return a page of what is kept, and where the next begins."""
        whole = self.shelf[handle]
        end = offset + PAGE_CHARS
        there_is_more = f"next: {handle} {end}" if end < len(whole) else "no more of it"
        return f"{whole[max(0, offset - 100) : end]}\n{there_is_more}"


def text_of(said: Any) -> str:
    """Return every text in a message, one per line, as a model reads them."""
    if isinstance(said, dict):
        return "\n".join(text_of(inner) for inner in said.values())
    if isinstance(said, list):
        return "\n".join(map(text_of, said))
    return said if isinstance(said, str) else ""


Answer = tuple[list[Any], list[tuple[str, str, dict[str, Any]]], str]


def from_chat(answer: dict[str, Any]) -> Answer:
    message = answer["choices"][0]["message"]
    asked = [
        (one["id"], one["function"]["name"], json.loads(one["function"]["arguments"]))
        for one in message.get("tool_calls") or []
    ]
    return [message], asked, message.get("content") or ""


def from_responses(answer: dict[str, Any]) -> Answer:
    items = answer["output"]
    asked = [
        (one["call_id"], one["name"], json.loads(one["arguments"])) for one in items if one["type"] == "function_call"
    ]
    return items, asked, "".join(part["text"] for one in items if one["type"] == "message" for part in one["content"])


def from_anthropic(answer: dict[str, Any]) -> Answer:
    blocks = answer["content"]
    asked = [(one["id"], one["name"], one["input"]) for one in blocks if one["type"] == "tool_use"]
    words = "".join(one["text"] for one in blocks if one["type"] == "text")
    return [{"role": "assistant", "content": blocks}], asked, words


ANSWERS: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "openai-chat": from_chat,
    "openai-responses": from_responses,
    "anthropic": from_anthropic,
}


def results(wire: str, returned: list[tuple[str, str]]) -> list[Any]:
    """Return the messages that answer calls."""
    if wire == "openai-chat":
        return [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in returned]
    if wire == "openai-responses":
        return [{"type": "function_call_output", "call_id": call_id, "output": text} for call_id, text in returned]
    blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, text in returned]
    return [{"role": "user", "content": blocks}]


def pages(number: int) -> Callable[[], str]:
    """Return a tool that gives one page after another, each with a value, and says which is the last."""
    at = iter(range(number))

    def read_next() -> str:
        name = next(at)
        return f"page {name}\n{lines(20)}\nthe value of f{name} is {value(name)}\n{'THE END' if name == number - 1 else 'MORE'}"

    return read_next


def read_on(texts: list[str]) -> bool:
    """Return whether the newest message is a page that is not the last, or the user's request for the first page."""
    return texts[-1].endswith("MORE") or "Read all pages" in texts[-1]


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────────────


def obeys_a_constraint(wire: str, forget: Forget) -> bool:
    """Ask whether a constraint given on turn 2 governs the answer on turn 200."""

    def policy(texts: list[str]) -> ScriptStep:
        told = "Never touch the README, and answer in French." in "\n".join(texts)
        if read_on(texts):
            return call("read_next")
        if texts[-1].endswith("THE END"):
            return say("Je laisse le README tel quel.") if told else call("edit_file", path="README.md")
        return say("D'accord." if told else "Ready.")

    tools: Tools = {"read_next": pages(197), "edit_file": lambda path: f"{path} was changed"}
    session = Session(wire=wire, policy=policy, tools=tools, forget=forget)
    session.say("You work on a parser.")
    session.say("Never touch the README, and answer in French.")
    return session.say("Read all pages, then make the README better.") == "Je laisse le README tel quel."


def gathers(wire: str, forget: Forget, *, notes: bool) -> bool:
    """Ask for one value from each of 40 files; the model reads back what it cannot see by the handles that it sees."""

    def policy(texts: list[str]) -> ScriptStep:
        seen = "\n".join(texts)
        known = dict(re.findall(r"the value of (f\d+) is (\d+)", seen))
        if read_on(texts):
            noted = re.search(r"the value of f\d+ is \d+", texts[-1])
            return calls(call("read_next"), text=f"I note that {noted[0]}." if notes and noted else "")
        if len(known) == FILES:
            return say(", ".join(sorted(f"{name}={number}" for name, number in known.items())))
        # what it can page to, in its own words: what it saw when it stopped reading, and in the pages since
        is_page = "no more of it" in texts[-1] or "next: " in texts[-1]
        ledger = next((text for text in reversed(texts[:-1]) if "So far " in text), "") if is_page else ""
        listed = re.findall(r"\b(open|paged) (\w{22})", ledger)
        shown = re.findall(r'page\(handle=\\*"(\w{22})', texts[-1] if is_page else seen)
        paged = [handle for state, handle in listed if state == "paged"]
        waiting = [name for name in dict.fromkeys([*(name for _, name in listed), *shown]) if name not in paged]
        goes_on = re.search(r"next: (\w{22}) (\d+)$", texts[-1])
        if not goes_on and not waiting:
            return say("I do not know them all.")
        handle, offset = (goes_on[1], int(goes_on[2])) if goes_on else (waiting[0], 0)
        so_far = "; ".join(f"the value of {name} is {number}" for name, number in known.items())
        left = [f"open {name}" for name in waiting if name != handle]
        text = f"So far {so_far}. {' '.join([*left, *(f'paged {name}' for name in dict.fromkeys([*paged, handle]))])}"
        return calls(call("page", handle=handle, offset=offset), text=text)

    session = Session(wire=wire, policy=policy, tools={"read_next": pages(FILES)}, forget=forget)
    session.tools["page"] = session.page
    answer = session.say("Read all pages, then list every value.")
    return answer.split(", ") == sorted(f"f{number}={value(number)}" for number in range(FILES))


def remembers_the_goal(wire: str, forget: Forget) -> bool:
    """Ask for what was said once, in the first message, a hundred turns ago."""

    def policy(texts: list[str]) -> ScriptStep:
        goal = re.search(r"The goal is to serve port (\d+)", "\n".join(texts))
        return call("read_next") if read_on(texts) else say(f"Port {goal[1]}." if goal else "I do not know.")

    session = Session(wire=wire, policy=policy, tools={"read_next": pages(100)}, forget=forget)
    session.say("The goal is to serve port 8443.")
    session.say("Read all pages.")
    return session.say("What is the goal?") == "Port 8443."


def edits_what_it_saw(wire: str, forget: Forget) -> bool:
    """Ask for an edit that must name the text as it is now, which only the view after the last change shows."""
    file = f"{lines(20)}\n21|LIMIT = 100"

    def edit_file(old: str, new: str) -> str:
        nonlocal file
        if old not in file:
            return "Error: no such text"
        file = file.replace(old, f"{new}  # as measured on {value(7)}")
        return "The file was edited."

    def policy(texts: list[str]) -> ScriptStep:
        if read_on(texts):
            return call("read_next")
        if texts[-1].endswith("Raise the limit."):
            return call("read_file", path="parser.py")
        shown = re.findall(r"LIMIT = \d+  # .*", "\n".join(texts))
        if "LIMIT = 100" in texts[-1]:
            return call("edit_file", path="parser.py", old="LIMIT = 100", new="LIMIT = 200")
        if "The file was edited." in texts[-1]:
            return say("It is raised.") if shown else call("read_file", path="parser.py")
        if texts[-1].endswith("THE END"):
            return (
                call("edit_file", path="parser.py", old=shown[-1], new="LIMIT = 300")
                if shown
                else say("I see it no more.")
            )
        return say("I see it.")

    tools: Tools = {
        "read_next": pages(60),
        "read_file": lambda path: f"{path}\n{file}",
        "edit_file": lambda path, old, new: edit_file(old, new),
    }
    session = Session(wire=wire, policy=policy, tools=tools, forget=forget)
    session.say("Raise the limit.")
    session.say("Read all pages, then raise the limit again.")
    return "LIMIT = 300" in file


QUESTIONS: dict[str, tuple[Callable[[str, Forget], bool], Forget]] = {
    "a constraint of turn 2": (obeys_a_constraint, without_words),
    "40 values, noted": (lambda wire, forget: gathers(wire, forget, notes=True), without_words),
    "40 values, read back": (lambda wire, forget: gathers(wire, forget, notes=False), without_handles),
    "the goal": (remembers_the_goal, without_the_task),
    "the newest view of a modified file": (edits_what_it_saw, without_active_views),
}
"""Each question with a compaction that lacks the invariant on which it rests."""


@pytest.mark.proves("S-4", "O-8")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_sees_only_the_request_answers_right_after_compaction(wire: str, question: str) -> None:
    """Several plans are made on the way, and no request is refused, for its size or for its shape."""
    asks, _ = QUESTIONS[question]
    plans = 0

    def forget(transcript: Transcript, shelf: Shelf) -> Transcript:
        nonlocal plans
        after = ours(transcript, shelf)
        plans += after.edits != transcript.edits
        return after

    assert asks(wire, forget)
    assert plans >= 2


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wire", WIRES)
def test_it_answers_wrong_where_an_invariant_is_removed(wire: str, question: str) -> None:
    """This shows that the correct answer in the test above is not an accident."""
    asks, mutant = QUESTIONS[question]
    assert not asks(wire, mutant)
