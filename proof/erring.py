"""How does a model work that errs as models do: wrong types, missing files, edits of text that is missing or occurs twice,
arguments that are not JSON, tools that nobody offered, two calls with one id, an empty answer?

It knows only what the request shows of a file; whether an edit is done it learns only from that edit's result. It gives up if its
tools leave it without the line or the edit, however often it asks, or if its goal is no longer in the request. Leaves to others:
where the files come from and their expected final content (`trees`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.models import call, calls, say
from penstock.models.steps import ScriptedCall, ScriptedReply
from penstock.wires import load_request, wire_named

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from penstock.models import ScriptStep
    from penstock.wires import Wire

_PATIENCE = 6
"""How often it tries to see a line, or to make an edit, before it gives up."""
_MISTAKES_OF_TEN = 5
"""Before how many of ten steps it errs."""
_MAX_MISTAKES = 2
"""How many mistakes it makes in a row: in the next turn it does the right thing."""
_PAGE_LINES = 120
_NO_JSON = '{"file_path": "READ'


class Planned(NamedTuple):
    """A line that is to be changed."""

    path: str
    line: int
    old: str
    new: str
    twice: str
    """A text that occurs more than once in the file."""
    is_raced: bool
    """Whether somebody else adds a line to the file between the look and the edit."""


class Erring:
    """The policy of one run.

    Args:
        wire: the wire that it speaks.
        plan: what it is to change, in this order.
        secret: a word of the goal, which the answer ends with.
        dice: the source of its mistakes.
        race: what somebody else does to a file in between.
    """

    def __init__(
        self, wire: str, plan: Sequence[Planned], secret: str, dice: random.Random, race: Callable[[str], None]
    ) -> None:
        self.wire = wire
        self.plan = list(plan)
        self.secret = secret
        self.dice = dice
        self.race = race
        self.erred: Counter[str] = Counter()
        self.raced: set[int] = set()
        self.at = self.tries = self.in_a_row = 0
        self.has_edited = False
        """Whether the current edit was requested: after an empty answer the same results come again."""
        self.has_equal_ids = self.has_cut_arguments = False
        """Malformations of the current answer that a step cannot express."""

    def __call__(self, request: dict[str, Any]) -> ScriptStep:
        """The next step, given what the request shows."""
        self.has_equal_ids = self.has_cut_arguments = False
        shown = load_request(request, self.wire).visible()
        texts = [entry.text for entry in shown] + [result.text for entry in shown for result in entry.results]
        if not any(self.secret in text for text in texts):
            return say("I no longer know what I was asked for.")
        newest = [result.text for result in shown[-1].results]
        item = self.plan[self.at] if self.at < len(self.plan) else None
        if (
            item
            and self.has_edited
            and any(re.match(rf"{re.escape(item.path)}: line {item.line} (?:changed|became)", text) for text in newest)
        ):
            self.at, self.tries, self.has_edited = self.at + 1, 0, False
            item = self.plan[self.at] if self.at < len(self.plan) else None
        if item is None:
            return say(f"All {len(self.plan)} are done: {self.secret}")
        if self.tries >= 2 * _PATIENCE:
            return say(f"I give up on {item.path}: {newest[-1:]}")
        if self.in_a_row < _MAX_MISTAKES and self.dice.randrange(10) < _MISTAKES_OF_TEN:
            mistake = self._mistake(item)
            if mistake is not None:
                self.in_a_row += 1
                return mistake
        self.in_a_row = 0
        self.tries += 1
        seen = self._seen(item, texts)
        if seen == item.new:  # it was done, but its result has been left out of the request
            self.at, self.tries, self.has_edited = self.at + 1, 0, False
            return self(request)
        if seen != item.old or self.has_failed(newest):
            before = self.dice.randrange(2, 10)
            return call("view", file_path=item.path, offset=max(0, item.line - before), limit=_PAGE_LINES)
        if item.is_raced and self.at not in self.raced:
            self.raced.add(self.at)
            self.race(item.path)
        self.has_edited = True
        return call("edit_file", path=item.path, old=item.old, new=item.new)

    @staticmethod
    def _seen(item: Planned, texts: Sequence[str]) -> str | None:
        """The line in the newest page that contains it."""
        shown = (
            re.search(rf"^{item.line}\|(.*)$", text, re.MULTILINE)
            for text in reversed(texts)
            if text.startswith(f"{item.path}: showing")
        )
        return next((found[1] for found in shown if found), None)

    @staticmethod
    def has_failed(newest: Sequence[str]) -> bool:
        """Whether an edit was refused because of the file's content, so that one must look again."""
        heads = [text.partition("\n")[0] for text in newest]  # below them a file may contain anything
        return any("Read it again" in head or "does not stand" in head or "has changed" in head for head in heads)

    def _mistake(self, item: Planned) -> ScriptStep | None:
        """One of the mistakes that models make, but not the same one forever."""
        kinds = dict(self._mistakes(item))
        kind = self.dice.choice(sorted(kinds))
        step = kinds[kind]
        if kind == "says nothing" and self.erred[kind]:
            return None  # twice in a row it would count as an answer
        self.erred[kind] += 1
        self.has_equal_ids = kind == "equal ids"
        self.has_cut_arguments = kind == "no JSON" and self.wire == "anthropic"
        return step

    def _mistakes(self, item: Planned) -> Iterator[tuple[str, ScriptStep]]:
        view = call("view", file_path=item.path, offset=item.line, limit=3)
        other = f"{item.path.rsplit('.', 1)[0]}_old.py"
        yield "wrong type", call("view", file_path=item.path, offset="the beginning", limit=[10])
        yield "wrong names", call("view", filename=item.path, lines="1-20")
        yield "no file", call("view", file_path=other)
        yield "outside", call("view", file_path=f"/home/user/project/{item.path}")
        yield "no such tool", call("str_replace_editor", command="view", path=item.path)
        yield "stale edit", call("edit_file", path=item.path, old=f"{item.old} as it was last week", new=item.new)
        yield "stands twice", call("edit_file", path=item.path, old=item.twice, new=f"{item.twice}#")
        yield "edit with nothing", call("edit_file", path=item.path, old="", new=item.new)
        yield "edit of no file", call("edit_file", path=other, old=item.old, new=item.new)
        yield "line numbers", call("edit_file", path=item.path, old=f"{item.line}|{item.old}", new=item.new)
        yield "equal ids", calls(view, call("view", file_path=item.path, offset=1, limit=2))
        yield "says nothing", say("")
        if self.wire.startswith("openai"):
            yield "no JSON", ScriptedReply(calls=(ScriptedCall("view", _NO_JSON),))
            yield "not an object", ScriptedReply(calls=(ScriptedCall("view", '["view", 1]'),))
        if self.wire == "anthropic":
            yield "no JSON", view


def bent(erring: Erring, name: str) -> Wire:
    """The wire whose double sends what a script cannot express: two calls with one id, truncated arguments."""
    sound = wire_named(name)

    def answer(content: Any) -> dict[str, Any]:
        body = sound.double.answer(content)
        if erring.has_equal_ids:
            body = json.loads(json.dumps(body).replace(f'_{content.number}_2"', f'_{content.number}_1"'))
        return body

    def answer_events(body: dict[str, Any], request: dict[str, Any]) -> Iterator[bytes]:
        events = list(sound.double.answer_events(body, request))
        if erring.has_cut_arguments:
            parts = [place for place, event in enumerate(events) if b"input_json_delta" in event]
            del events[parts[-1]]
        yield from events

    return replace(sound, double=replace(sound.double, answer=answer, answer_events=answer_events))
