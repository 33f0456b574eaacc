"""How many calls does recovery take, and how much is given up, against providers that count in their own way?

    python -m bench.recovery [--providers 10000] [--seed 1] [--counter kinds|characters] [--processes N]

Each provider counts the sum of our counts by kind of content, each kind times its own factor between 1/4 and 4, plus up to 16 a
message, each message up to 6 % off but by the same in every request (behaviour R-1). Its counts of images, files and reasoning are
independent: from 10 tokens to 16,384 an image, from nothing to 24 times our count for the others. Each meets one history in which
the floor fits and the original request does not, on a random wire, with a window that the caller assumes correctly or up to four
times too large. `--counter characters` counts letters, digits, blanks and marks by factors instead, which no row of the assumption
describes.

Printed by the wording of refusals: the share that got through, within 2, 3 and 4 calls; how often the floor was sent; tokens given
up relative to the largest request in the same clearing order that would have fitted, in the provider's count; and requests that
were not smaller than the one before. For comparison, on the same cases, all wordings together: a toy whose second request is the
floor, and one that halves whatever it is told. The providers are generated in shares, each from its own seed, so that the table is
the same with any number of processes.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import sys
from collections import defaultdict
from dataclasses import dataclass, field, fields
from functools import cache, partial
from hashlib import sha256
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.ladders import PEERS, Refused

from penstock import execute
from penstock.carrier.ways_back import call_syntax
from penstock.context.compaction import apply
from penstock.context.counts import CONTENT_KINDS, IMAGE_TOKENS
from penstock.context.ladder import Ladder
from penstock.context.sized import Sized, measure_entry
from penstock.text.json_access import nested
from penstock.text.tokens import Count
from penstock.wires import WIRES, dump, dump_valid, load, load_request, wire_named

if TYPE_CHECKING:
    from collections.abc import Callable

WORDINGS = ("exact", "total only", "lower bound", "limit only", "code only", "none", "wrong by 10 %")
VOCABULARY = [f"word{number}" for number in range(400)] + ["return", "value", "error:", "def", "if", "the", "index"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" * 400


IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
PRICES = (85, 258, 1_105, 1_568, 4_784)
"""Sizes of an image: OpenAI's low detail, a tile of Gemini's, OpenAI's high detail, Claude's old and new maximum."""


def document(kilobytes: int) -> dict[str, Any]:
    """Return a file of this many kilobytes as a part of a message."""
    data = (PNG * kilobytes)[: kilobytes * 1_024 * 4 // 3 // 4 * 4]
    return {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{data}"}}


class FourCharacters:
    """Counts a token per four characters: quick, exact, and nobody's tokenizer."""

    def count(self, text: str, /) -> Count:
        """Return the count, which is its own bounds."""
        tokens = -(-len(text) // 4)
        return Count(tokens=tokens, low=tokens, high=tokens, method="exact:four")


COUNTER = FourCharacters()


class NoStore:
    """A store that keeps nothing: keeping is measured elsewhere."""

    url = "sqlite:///nowhere"

    def put(self, content: bytes, *, name: str = "", **_: Any) -> str:
        """Return a handle made of the content."""
        return sha256(content + name.encode()).hexdigest()[:22]


# ── histories ────────────────────────────────────────────────────────────────────────────────────────────────────


def words(dice: random.Random, tokens: int) -> str:
    """Return text of about this many tokens."""
    text = " ".join(dice.choices(VOCABULARY, k=max(1, tokens * 4 // 7)))
    return text[: tokens * 4]


def history(dice: random.Random, wire: str) -> dict[str, Any]:
    """Return a request in one of the shapes that agents and chats have."""
    shape = dice.choice(
        ["flood", "many small", "long words", "images", "screenshots", "documents", "parallel", "thinking", "dialogue"]
    )
    turns = dice.choice([6, 15, 40, 120])
    messages: list[Any] = [{"role": "user", "content": words(dice, dice.randint(10, 300))}]
    flooded = {dice.randrange(turns) for _ in range(dice.choice([1, 1, 3]))} if shape == "flood" else set()
    number = 0
    for turn in range(turns):
        if shape == "dialogue":
            messages.append({"role": "assistant", "content": words(dice, dice.randint(20, 500))})
            messages.append({"role": "user", "content": words(dice, dice.randint(10, 400))})
            continue
        calls, results = [], []
        for _ in range(dice.randint(2, 6) if shape == "parallel" else 1):
            number += 1
            path = f"src/{dice.choice(VOCABULARY)}.py"
            arguments = json.dumps(
                {"path": path, "offset": dice.randint(0, 900), "why": words(dice, dice.randint(1, 40))}
            )
            calls.append(
                {"id": f"call{number}", "type": "function", "function": {"name": "view", "arguments": arguments}}
            )
            size = dice.randint(20_000, 150_000) if turn in flooded else int(dice.lognormvariate(5.8, 1.0)) + 5
            size = min(size, 60) if shape == "many small" else size
            told: Any = words(dice, size)
            if shape == "screenshots" and dice.random() < 0.7:
                told = [{"type": "text", "text": words(dice, min(size, 100))}, IMAGE]
            results.append({"role": "tool", "tool_call_id": f"call{number}", "content": told})
        text = words(dice, dice.randint(5, 150)) if dice.random() < 0.6 else None
        messages += [{"role": "assistant", "content": text, "tool_calls": calls}, *results]
        if dice.random() < (0.3 if shape in {"long words", "images", "documents"} else 0.04):
            said: Any = words(dice, dice.randint(10, 2_500 if shape == "long words" else 200))
            if shape == "images":
                said = [{"type": "text", "text": said}, IMAGE]
            if shape == "documents":
                said = [{"type": "text", "text": said}, document(dice.randint(1, 60))]
            messages.append({"role": "user", "content": said})
    if messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": words(dice, 30)})
    dumped = dump(load(messages, "openai-chat"), wire)
    if wire == "anthropic" and shape == "thinking":
        for message in dumped:
            if message["role"] == "assistant" and isinstance(message["content"], list):
                thought = {"type": "thinking", "thinking": words(dice, 120), "signature": words(dice, 60)}
                message["content"].insert(0, thought)
    spoken = wire_named(wire)
    request: dict[str, Any] = {"model": "gpt-4o", spoken.body.messages_key: dumped}
    if spoken.body.system_paths and dice.random() < 0.8:
        system = spoken.codec.write_system(words(dice, dice.randint(50, 3_000)))
        request = nested(request, spoken.body.system_paths[0], system)
    if dice.random() < 0.8:
        tools = [
            {"name": f"tool{n}", "description": words(dice, dice.randint(20, 200))} for n in range(dice.randint(1, 25))
        ]
        request = nested(request, spoken.body.tools_paths[0], tools)
    return request


# ── providers ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Provider:
    """One provider that counts in its own way."""

    wire: str
    wording: str
    factors: dict[str, float]
    frame: float
    by_characters: bool
    limit: int = 1 << 60
    off: float = 0.0
    """The error of its stated numbers."""
    sent: list[float] = field(default_factory=list)

    def count(self, request: Any) -> float:
        """Return its own count of a request's input."""
        transcript = load_request(request, self.wire)
        sized = Sized(transcript, COUNTER)
        beside = sized.beside()
        total = self._weigh("system", beside["system"].tokens, transcript.system)
        total += self._weigh("tools", beside["tools"].tokens, transcript.tools)
        for entry in transcript.visible():
            seed = sha256(json.dumps(entry.raw, sort_keys=True).encode()).digest()
            error = (seed[0] / 255 - 0.5) * 0.12
            if self.by_characters:
                own = self._characters(entry.raw)
            else:
                counts = measure_entry(entry, COUNTER).counts.by_kind()
                # Its factors depend on the kind of text, and our notes count as text of their apparent author.
                own = sum(self.factors[PLAIN.get(kind, kind)] * tokens for kind, tokens in counts.items())
            total += (1 + error) * own + self.frame
        return total

    def _weigh(self, kind: str, tokens: int, value: Any) -> float:
        if not value:
            return 0.0
        return self._characters(value) if self.by_characters else self.factors[kind] * tokens

    def _characters(self, value: Any) -> float:
        text = value if isinstance(value, str) else json.dumps(value)
        letters = sum(map(str.isalpha, text))
        digits = sum(map(str.isdigit, text))
        blanks = sum(map(str.isspace, text))
        marks = len(text) - letters - digits - blanks
        weighed = zip((letters, digits, blanks, marks), ("user", "calls", "system", "results"), strict=True)
        return sum(number * self.factors[kind] for number, kind in weighed) / 4

    def __call__(self, request: Any) -> dict[str, Any]:
        """Answer, or refuse a request that is too large."""
        size = self.count(request)
        self.sent.append(size)
        if size <= self.limit:
            return {"choices": [{"message": {"role": "assistant", "content": "done"}}]}
        raise Refused(self._sentence(size))

    def _sentence(self, size: float) -> str:
        limit, told = int(self.limit * (1 + self.off)), int(size * (1 + self.off)) + 1
        match self.wording:
            case "exact" | "wrong by 10 %":
                return f"prompt is too long: {told} tokens > {limit} maximum"
            case "total only":
                return (
                    f"This model's maximum context length is {limit} tokens. However, you requested {told} tokens. "
                    "Please reduce the length of the messages."
                )
            case "lower bound":
                return (
                    f"This model's maximum context length is {limit} tokens. However, you requested 0 output tokens and your "
                    f"prompt contains at least {limit + 1} input tokens, for a total of at least {limit + 1} tokens. "
                    f"Please reduce the length of the input prompt. (parameter=input_tokens, value={limit + 1})"
                )
            case "limit only":
                return f"The input exceeds the maximum context length of {limit} tokens of this model."
            case "code only":
                return json.dumps({"error": {"message": "Invalid request.", "code": "context_length_exceeded"}})
            case _:
                return "Input is too long for requested model."


PLAIN = {"notes": "user"}


# ── cases ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Case:
    """One request, one provider, one assumed window."""

    request: dict[str, Any]
    provider: Provider
    believed: int


def case(dice: random.Random, wording: str, by_characters: bool = False, wire: str = "") -> Case | None:
    """Return a case in which the floor fits and the whole does not, on some wire; None if the random draw gave none."""
    wire = wire or dice.choice(WIRES)
    request = history(dice, wire)
    kinds = [*CONTENT_KINDS]
    factors: dict[str, float] = {kind: 4 ** dice.uniform(-1, 1) for kind in kinds}
    price = dice.choice(PRICES) if dice.random() < 0.5 else math.exp(dice.uniform(math.log(10), math.log(16_384)))
    factors["images"] = price / IMAGE_TOKENS.tokens
    factors["files"] = math.exp(dice.uniform(math.log(1 / 1_000), math.log(24)))
    for kind in ("reasoning", "other"):  # not every provider counts earlier turns' reasoning
        factors[kind] *= dice.random() < 0.7
    provider = Provider(wire, wording, factors, dice.uniform(0, 16), by_characters)
    provider.off = dice.uniform(-0.1, 0.1) if wording == "wrong by 10 %" else 0.0
    ladder = Ladder(
        Sized(load_request(request, wire), COUNTER), window_tokens=1 << 40, dialect=dialect_of(request, wire)
    )
    whole = ladder.sized
    floor, all_of_it = provider.count(rung_request(ladder, ladder.last, request)), provider.count(request)
    if all_of_it < 1.05 * floor:
        return None
    provider.limit = int(floor + (all_of_it - floor) * dice.uniform(0.02, 0.98))
    believed = int(whole.counts.total * provider.limit / all_of_it * dice.choice([1, 1, 1.5, 2, 4]))
    return Case(request, provider, max(300, believed))


def rung_request(ladder: Ladder, rung: int, request: Any) -> Any:
    """Return a rung of a ladder as a request: hidden content is named by its handle, as in what `execute` sends."""
    keep = NoStore().put
    shown = apply(ladder.sized.transcript, ladder.plan(rung, 0), lambda text, name: keep(text.encode(), name=name))
    return dump_valid(shown, request)


def dialect_of(request: Any, wire: str) -> Any:
    """Return the syntax in which `execute` names the way back in this request."""
    return call_syntax(request, wire, NoStore.url)


def best_fit(first: Any, provider: Provider, believed: int) -> float:
    """Return the provider's count of the largest request below `first`, in the clearing order, that fits."""
    sized = Sized(load_request(first, provider.wire), COUNTER)
    ladder = Ladder(sized, window_tokens=believed, dialect=dialect_of(first, provider.wire))
    rung = ladder.first(lambda rung: provider.count(rung_request(ladder, rung, first)) <= provider.limit)
    return provider.count(rung_request(ladder, rung, first))


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Row:
    """The results for one wording."""

    calls: list[int] = field(default_factory=list)
    given_up: list[float] = field(default_factory=list)
    lost: int = 0
    floors: int = 0
    not_smaller: int = 0
    sends: int = 0

    def merge(self, other: Row) -> None:
        """Add the cases of another row."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def add(self, success: bool, sent: list[float], is_floor: bool, best: float) -> None:
        """Note one case."""
        self.sends += len(sent)
        self.not_smaller += sum(later >= earlier for earlier, later in pairwise(sent))
        if not success:
            self.lost += 1
            return
        self.calls.append(len(sent))
        self.floors += is_floor
        self.given_up.append(max(0.0, 1 - sent[-1] / best))

    def cells(self) -> list[str]:
        """Return the row as it is printed."""
        cases = len(self.calls) + self.lost
        within = [sum(calls <= bound for calls in self.calls) / cases for bound in (2, 3, 4)]
        given = sorted(self.given_up) or [0.0]
        return [
            f"{cases}",
            f"{100 * len(self.calls) / cases:.2f}",
            *(f"{100 * share:.1f}" for share in within),
            f"{100 * self.floors / cases:.1f}",
            f"{100 * median(given):.1f}",
            f"{100 * given[int(0.9 * len(given))]:.1f}",
            f"{self.not_smaller}",
        ]


HEAD = ["wording", "cases", "through %", "in 2", "in 3", "in 4", "floor %", "given up", "p90", "not smaller"]


SHARE = 250
"""The providers of one share."""


def play(providers: int, seed: int, *, by_characters: bool = False, processes: int = 1) -> dict[str, Row]:
    """Return the rows of the table: ours by wording, then each peer's over all wordings."""
    rows = {name: Row() for name in (*WORDINGS, *PEERS)}
    shares = [(f"{seed} {first}", min(SHARE, providers - first)) for first in range(0, providers, SHARE)]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for done, share in enumerate(pool.imap_unordered(partial(_play_share, by_characters), shares), 1):
            print(f"{min(done * SHARE, providers)} of {providers} providers", file=sys.stderr, flush=True)
            for name, row in share.items():
                rows[name].merge(row)
    return rows


def _play_share(by_characters: bool, share: tuple[str, int]) -> dict[str, Row]:
    """Return the rows of some providers, given their seed and number."""
    seed, providers = share
    dice = random.Random(seed)
    rows: dict[str, Row] = defaultdict(Row)
    number = 0
    while number < providers:
        made = case(dice, WORDINGS[number % len(WORDINGS)], by_characters)
        if made is None:
            continue
        number += 1
        # All peers start with the original request: the largest smaller one that would have fitted is searched for once.
        best = cache(lambda made=made: best_fit(made.request, made.provider, made.believed))
        _play_ours(made, rows[made.provider.wording], best)
        for name, ladder in PEERS.items():
            _play_peer(made, ladder, rows[name], best)
    return rows


def _play_ours(made: Case, row: Row, best_of_whole: Callable[[], float]) -> None:
    provider = made.provider
    provider.sent = []
    sent: list[Any] = []

    def send(request: Any) -> Any:
        sent.append(request)
        return provider(request)

    result = execute(
        send,
        made.request,
        wire=provider.wire,
        window_tokens=made.believed,
        store=NoStore(),  # type: ignore[arg-type]  # all that execute uses of a store
        counter=COUNTER,
    )
    if len(sent) == 1 and result.success:
        return  # trimmed before sending: no refusal to recover from
    best = 0.0
    if result.success:
        best = best_of_whole() if sent[0] is made.request else best_fit(sent[0], provider, made.believed)
    row.add(result.success, provider.sent, result.strategy == "handoff", best)


def _play_peer(made: Case, ladder: Callable[..., bool], row: Row, best_of_whole: Callable[[], float]) -> None:
    provider = made.provider
    provider.sent = []
    success = ladder(made.request, provider, made.believed, COUNTER)
    if len(provider.sent) == 1 and success:
        return
    row.add(success, provider.sent, False, best_of_whole() if success else 0.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--providers", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--counter", choices=["kinds", "characters"], default="kinds")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    by_characters = options.counter == "characters"
    rows = play(options.providers, options.seed, by_characters=by_characters, processes=options.processes)
    table = [HEAD, *([name, *row.cells()] for name, row in rows.items())]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    for line in table:
        print(
            "  ".join(
                cell.ljust(width) if not at else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
        )


if __name__ == "__main__":
    main()
