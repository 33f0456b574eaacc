"""What is in the window of a session at a given moment, how long did it stay, and had it been there before?

For each part of a message only figures are kept, with a hash and a few words for a person: a session of gigabytes is processed in
the memory of its table of contents. Laws: the parts in the window add up to `counts`; a part that is repeated after a compaction is
the same part. Leaves to others: turns, and what a provider counted (`telling`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from penstock.inspection.story import Item, RepeatedError, Reread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.inspection.timeline import Place

MAX_ITEMS = 200
"""How many of the largest items are listed."""
WHAT_CHARS = 120
"""How much is kept of what an item was about."""


class Held:
    """A part of a message that is in the window."""

    __slots__ = ("asked_before", "key", "kind", "name", "place", "tokens", "what")

    def __init__(self, kind: str, tokens: int, key: int, name: str, what: str, place: Place, asked_before: int) -> None:
        self.kind = kind
        self.tokens = tokens
        self.key = key
        """A hash of its content: the same part said again has the same hash."""
        self.name = name
        self.what = what
        self.place = place
        self.asked_before = asked_before
        """How many requests had been made when it came: none of them held it."""

    def item(self, asked: int) -> Item:
        """Return it as one of a story's items, given how many requests were made until it went."""
        requests = asked - self.asked_before
        return Item(self.kind, self.name, self.what, self.tokens, self.asked_before + 1, requests, self.place)


class Answer(NamedTuple):
    """What a tool answered, as far as needed to distinguish answers."""

    asked: int
    """A hash of the tool and its arguments."""
    key: int
    """A hash of both and of the answer."""
    name: str
    what: str
    tokens: int
    error: str = ""
    """The line that says what failed; empty if nothing did."""
    is_cleared: bool = False
    """Whether a compaction replaced it with a line: what was asked for is gone."""


class _Repeats:
    """How often a tool was asked the same with the same answer, while that answer was in the window."""

    __slots__ = ("answer", "times", "tokens")

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.times = 1
        self.tokens = 0  # of all but the first


class Largest:
    """The `MAX_ITEMS` largest of any number of items; what is smaller than everything in a full list is dropped at once."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Item]] = []
        self._offered = 0

    def offer(self, size: int, item: Item) -> None:
        """Add an item with its size, if it is large enough."""
        # Of items of equal size the earlier stays, and items themselves are never compared.
        self._offered += 1
        row = (size, -self._offered, item)
        if len(self._heap) < MAX_ITEMS:
            heapq.heappush(self._heap, row)
        elif row > self._heap[0]:
            heapq.heapreplace(self._heap, row)

    def items(self) -> tuple[Item, ...]:
        """Return the largest items, largest first."""
        return tuple(item for _, _, item in sorted(self._heap, reverse=True))


class Standing:
    """What is in the window now."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Tokens by kind."""
        self.by_tool: Counter[str] = Counter()
        """Tokens of all results by tool, including those that are gone."""
        self.items = Largest()
        """The items that took most, times the requests they were part of."""
        self.results = Largest()
        """The results that took most."""
        self._held: list[Held] = []
        self._answers: dict[int, _Repeats] = {}
        self._asked: set[int] = set()
        self._rereads: list[Reread] = []
        self._errors: Counter[tuple[str, str]] = Counter()
        # What the newest compaction removed, until it is known what of it stays; and what any removed, by the question asked for
        # it.
        self._leaving: dict[int, list[Held]] = {}
        self._gone: dict[int, int] = {}
        self.again: list[dict[int, Reread]] = []
        """For each compaction what a tool was asked again after it, by a hash of the question."""

    def add(self, held: Held, *, again: bool) -> Held:
        """Record that a part is in the window, and return it: the old one if it was said before."""
        if again and (same := self._leaving.get(held.key)):
            old = same.pop()
            if not same:
                del self._leaving[held.key]
            held = old
        self._held.append(held)
        self.counts[held.kind] += held.tokens
        return held

    def answered(self, answer: Answer, *, again: bool) -> None:
        """Record a tool's answer."""
        if answer.is_cleared:
            return
        self._asked.add(answer.asked)
        known = self._answers.get(answer.key)
        if again:
            self._gone.pop(answer.asked, None)
            if known is None:
                self._answers[answer.key] = _Repeats(answer)
            return
        self.by_tool[answer.name] += answer.tokens
        if answer.error:
            self._errors[answer.name, answer.error] += 1
            return
        if (after := self._gone.pop(answer.asked, None)) is not None:
            self.again[after][answer.asked] = Reread(answer.name, answer.what, 1, answer.tokens)
        if known is None:
            self._answers[answer.key] = _Repeats(answer)
        else:
            known.times += 1
            known.tokens += answer.tokens

    def compact(self) -> None:
        """Record that everything is gone; what stays of it is added again."""
        self._leaving = {}
        for held in self._held:
            self._leaving.setdefault(held.key, []).append(held)
        self._held = []
        self.counts = Counter()
        self._gone.update(dict.fromkeys(self._asked, len(self.again)))
        self.again.append({})
        self._asked = set()
        self._end_answers()

    def settle(self, asked: int) -> None:
        """Record that nothing more stays of what the newest compaction removed; `asked` is how many requests were made."""
        self._end((held for same in self._leaving.values() for held in same), asked)
        self._leaving = {}

    def end(self, asked: int) -> None:
        """Record that the session ends."""
        self.settle(asked)
        self._end(self._held, asked)
        self._end_answers()

    def _end(self, gone: Iterable[Held], asked: int) -> None:
        for held in gone:
            item = held.item(asked)
            if item.requests < 1:  # it came with or after the newest answer, and was never sent
                continue
            self.items.offer(held.tokens * item.requests, item)
            if held.kind == "results":
                self.results.offer(held.tokens, item)

    def _end_answers(self) -> None:
        for one in self._answers.values():
            if one.times > 1:
                self._rereads.append(Reread(one.answer.name, one.answer.what, one.times, one.tokens))
        self._answers = {}

    def rereads(self) -> tuple[Reread, ...]:
        """Return what was asked again in vain, the costliest first; valid only after the session has ended."""
        return tuple(sorted(self._rereads, key=lambda one: -one.tokens)[:MAX_ITEMS])

    def repeated_errors(self) -> tuple[RepeatedError, ...]:
        """Return what failed more than once in the same words, the most frequent first."""
        rows = [RepeatedError(name, words, times) for (name, words), times in self._errors.most_common() if times > 1]
        return tuple(rows[:MAX_ITEMS])


def brief(text: str) -> str:
    """Return the first words of a text on one line, for a person."""
    head = text[: 4 * WHAT_CHARS]
    words = " ".join(head.split())
    return words if len(words) <= WHAT_CHARS and len(head) == len(text) else words[: WHAT_CHARS - 1] + "…"
