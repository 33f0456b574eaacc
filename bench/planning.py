"""What does a plan cost? Planning on a long history compared with a token count of the same text, each in a fresh process; and
`execute`.

    python bench/planning.py [--rounds N] [--times N] [--execute]

The history is mixed: files read, changed, searched and run, with the user's words in between, about a kilobyte a message. It is
planned down to half of its limit, first with nothing counted, then as an agent does at every turn: with earlier counts remembered.
The peer counts the same text once, text by text, and must first load its vocabulary, which a plan does not; it takes it from
`TIKTOKEN_CACHE_DIR`, and without that `penstock[exact]` counts instead.

With `--execute`: a refused request on its way through the ladder, 1,500 rounds in a window that is assumed 7 times too large,
compared with the bill of the same request; with cuts kept in memory and in SQLite; with refusals that state numbers or none;
counted by the estimator (a Claude model) and, if `penstock[exact]` is installed, exactly (gpt-4o). The smallest of some runs in one
process, without the time of the test's provider.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.ladders import Refused
from bench.recovery import NoStore

from penstock import execute
from penstock.context.bill import bill
from penstock.context.compaction import DEFAULT, RECOVERY, plan
from penstock.store import open_store
from penstock.text.json_access import as_json
from penstock.text.tokens import best_counter
from penstock.wires import dump, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TARGET_MS = 50
MODELS = ("claude-opus-5", "gpt-4o")
CHARS_PER_TOKEN = 3
LADDERS = {"default": DEFAULT, "recovery": RECOVERY}


def history(rounds: int) -> list[Any]:
    """About two messages per round, on the wire of OpenAI chat."""
    source = random.Random(2026)
    messages: list[Any] = [{"role": "user", "content": "Fix the parser."}]
    for number in range(rounds):
        tool, key, fewest, most = (
            ("view", "path", 20, 110),
            ("edit_file", "path", 1, 2),
            ("bash", "command", 5, 125),
            ("search", "pattern", 5, 55),
        )[number % 4]
        target = f"src/part{source.randrange(9)}/module{source.randrange(97)}.py"
        arguments = json.dumps({key: f"pytest -q {target}" if tool == "bash" else target})
        asked = {"id": f"call_{number}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        messages.append({"role": "assistant", "content": f"Step {number}: next {target}.", "tool_calls": [asked]})
        lines = [
            f"{at}|{'    ' * source.randrange(4)}{source.choice(['if', 'return', 'for', 'self.'])} "
            f"name_{source.randrange(999)} = {source.random()}"
            for at in range(source.randrange(fewest, most))
        ]
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "\n".join(lines)})
        if number % 25 == 24:
            messages.append({"role": "user", "content": f"Go on with part {number // 25}."})
    return messages


def milliseconds(work: Callable[[], object]) -> float:
    """Processor time of one run."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def once(what: str, rounds: int) -> list[float]:
    """One fresh process: planning cold and warm, or the peer's count."""
    messages = history(rounds)
    if what in LADDERS:
        transcript = load(messages, "openai-chat")
        limit = 2 * sum(len(as_json(raw)) for raw in messages) // 7  # about half of its tokens
        return [milliseconds(lambda: plan(transcript, limit, LADDERS[what])) for _ in range(2)]
    texts = [as_json(raw) for raw in messages]
    counts: list[Callable[[str], object]] = []
    loading = milliseconds(lambda: counts.append(counter(what)) or counts[0]("warm up"))  # type: ignore[func-returns-value]
    return [milliseconds(lambda: [counts[0](text) for text in texts]), loading]


def executed(times: int, model: str) -> None:
    """Print the cost of a refused request, in bills of the same request."""
    request = {"model": model, "messages": history(1_500)}
    limit = len(json.dumps(request)) // CHARS_PER_TOKEN // 7 * 2
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        # One folder each, and all removed at the end: a file system may search for space among what has just been removed.
        for number in range(times):
            # Messages remember their counts, so each run has its own.
            rows.setdefault("bill", []).append(milliseconds(partial(bill, copy.deepcopy(request), "openai-chat")))
            for wording in ("numbers", "none"):
                for kept in ("memory", "sqlite"):
                    store: Any = open_store(f"{folder}/{wording}{number}") if kept == "sqlite" else NoStore()
                    body, provider = copy.deepcopy(request), _Refusing(wording, limit)
                    send = partial(execute, provider, body, wire="openai-chat", window_tokens=7 * limit, store=store)
                    took = milliseconds(send)
                    rows.setdefault(f"{wording}, {kept}", []).append(took - provider.own_ms)
    least = {name: min(times_ms) for name, times_ms in rows.items()}
    print(f"{model}, counted by {best_counter(model).mode}\n")
    table(
        ("refusals, store", "ms", "bills", "target, bills"),
        [(name, f"{ms:.0f}", f"{ms / least['bill']:.1f}", "<= 4") for name, ms in least.items()],
    )


class _Refusing:
    """A provider that accepts this many tokens, three characters each, and measures its own time."""

    def __init__(self, wording: str, limit_tokens: int) -> None:
        self.wording, self.limit_tokens = wording, limit_tokens
        self.own_ms = 0.0

    def __call__(self, body: Any) -> dict[str, Any]:
        started = time.process_time()
        tokens = len(json.dumps(body)) // CHARS_PER_TOKEN
        self.own_ms += (time.process_time() - started) * 1000
        if tokens <= self.limit_tokens:
            return {"choices": [{"message": {"role": "assistant", "content": "done"}}]}
        if self.wording == "none":
            raise Refused("Input is too long for requested model.")
        raise Refused(f"prompt is too long: {tokens} tokens > {self.limit_tokens} maximum")


def counter(name: str) -> Callable[[str], object]:
    """The peer, with its vocabulary loaded."""
    if name == "tiktoken":
        import tiktoken

        return tiktoken.get_encoding("o200k_base").encode_ordinary
    from penstock.text import tokens

    return lambda text: tokens.count(text, mode="exact")


def measured(what: str, rounds: int, times: int) -> list[float]:
    """The medians of some fresh processes."""
    command = [sys.executable, __file__, "--rounds", str(rounds), "--once", what]
    rows = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(times)]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def main() -> None:
    """The peer first, then each ladder compared with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=490)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    parser.add_argument("--execute", action="store_true", help="`execute` beside the bill, instead of plans")
    chosen = parser.parse_args()
    if chosen.execute:
        for model in MODELS:
            executed(chosen.times, model)
        return
    if chosen.once:
        print(json.dumps(once(chosen.once, chosen.rounds)))
        return
    messages = history(chosen.rounds)
    assert dump(load(messages, "openai-chat"), "openai-chat") == messages
    size = sum(len(as_json(raw)) for raw in messages)
    print(f"{len(messages)} messages, {size} characters; processor time, median of {chosen.times} processes\n")
    peer = "tiktoken" if _has_vocabulary() else "penstock[exact]"
    count, loading = measured(peer, chosen.rounds, chosen.times)
    rows = []
    for name in LADDERS:
        cold, warm = measured(name, chosen.rounds, chosen.times)
        plan_alone = f"{warm:.1f}"
        rows.append((name, f"{cold:.1f}", plan_alone, f"{count:.1f}", f"{loading:.1f}", f"<= {TARGET_MS}"))
    head = (
        "ladder",
        "nothing counted, ms",
        "counts remembered, ms",
        f"{peer} counts it, ms",
        "and loads, ms",
        "target, ms",
    )
    table(head, rows)


def _has_vocabulary() -> bool:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    return folder is not None and any(Path(folder).iterdir())


if __name__ == "__main__":
    main()
