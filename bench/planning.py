"""What does a plan cost? Planning on a long history beside a token count of the same text, each in a fresh process.

    python bench/planning.py [--rounds N] [--times N]

The history is mixed: files read, changed, searched and run, words of the user between, about a kilobyte a message. It is planned
down to half of its limit, first with nothing counted, then as an agent does it at every turn: with what was counted before
remembered. The peer counts the same text once; it has its vocabulary from `TIKTOKEN_CACHE_DIR`, and where it is not there
`penstock[exact]` counts in its place.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.context.compaction import DEFAULT, RECOVERY, plan
from penstock.text.json_access import as_json
from penstock.wires import dump, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TARGET_MS = 50
LADDERS = {"default": DEFAULT, "recovery": RECOVERY}


def history(rounds: int) -> list[Any]:
    """About two messages a round, for the wire of OpenAI chat."""
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
    count = counter(what)
    texts = [as_json(raw) for raw in messages]
    count("warm up")
    return [milliseconds(lambda: [count(text) for text in texts])]


def counter(name: str) -> Callable[[str], object]:
    """The peer, its vocabulary loaded."""
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
    """The peer first, then each ladder beside it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=490)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.once:
        print(json.dumps(once(chosen.once, chosen.rounds)))
        return
    messages = history(chosen.rounds)
    assert dump(load(messages, "openai-chat"), "openai-chat") == messages
    size = sum(len(as_json(raw)) for raw in messages)
    print(f"{len(messages)} messages, {size} characters; processor time, median of {chosen.times} processes\n")
    peer = "tiktoken" if _has_vocabulary() else "penstock[exact]"
    (count,) = measured(peer, chosen.rounds, chosen.times)
    rows = []
    for name in LADDERS:
        cold, warm = measured(name, chosen.rounds, chosen.times)
        plan_alone = f"{warm:.1f}"
        rows.append((name, f"{cold:.1f}", plan_alone, f"{count:.1f}", f"{warm / count:.2f}x", f"<= {TARGET_MS}"))
    table(
        ("ladder", "nothing counted, ms", "counts remembered, ms", f"{peer} counts it, ms", "ratio", "target, ms"), rows
    )


def _has_vocabulary() -> bool:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    return folder is not None and any(Path(folder).iterdir())


if __name__ == "__main__":
    main()
