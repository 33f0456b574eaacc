"""How well and how fast is a refusal read? Prints Markdown tables: quality compared with naive word lists, forms, time.

    python bench/overflow.py [--forms N] [--data FILE]

The labelled set is `overflow_dev.jsonl` next to the repository (or `--data`); without it only our own samples are judged. The word
lists are those that public tools search for in an error's text, shortened to what decides; none of them gives numbers.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import overflow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tests.overflow.forms import make  # noqa: E402 - the forms are those of the tests
from tests.overflow.samples import OTHERS, OVERFLOWS  # noqa: E402

NUMBERS = ("limit", "input", "output", "excess")
WORDS = {
    "five phrases": "context length|too many tokens|maximum context|context window|token limit",
    "pi-like list": (
        r"prompt is too long|input is too long for requested model|exceeds the context window|"
        r"input token count.*exceeds the maximum|"
        r"maximum prompt length is \d+|reduce the length of the messages|maximum context length is \d+ tokens|"
        r"exceeds the limit of \d+|"
        r"exceeds the available context size|greater than the context length|context window exceeds limit|"
        r"exceeded model token limit|"
        r"context[_ ]length[_ ]exceeded|too many tokens|token limit exceeded"
    ),
    "any word of size": "token|context|too long|too large|exceed",
}


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def labelled(data: Path) -> list[tuple[str, Any, int | None, dict[str, Any] | None]]:
    """Set, error, status and the numbers of an overflow (None: a lookalike)."""
    rows: list[tuple[str, Any, int | None, dict[str, Any] | None]] = [
        ("own", sample.text, sample.status, sample.numbers if sample in OVERFLOWS else None)
        for sample in [*OVERFLOWS, *OTHERS]
    ]
    if data.exists():
        for row in map(json.loads, data.read_text("utf-8").splitlines()):
            numbers = {
                "limit": row["limit"],
                "input": row["input_tokens"],
                "output": row["output_tokens_requested"],
                "excess": row["overflow_by"],
            }
            rows.append(("labelled", row["body_or_text"], row["http_status"], numbers if row["is_overflow"] else None))
    return rows


def quality(rows: list[tuple[str, Any, int | None, dict[str, Any] | None]]) -> None:
    """Recognized, false alarms, and numbers that are exact, absent or wrong."""

    def by_words(pattern: str) -> Callable[[Any, int | None], bool]:
        found = re.compile(pattern, re.IGNORECASE)
        return lambda error, _: found.search(error if isinstance(error, str) else json.dumps(error)) is not None

    readers: dict[str, Callable[[Any, int | None], bool]] = {
        "penstock": lambda error, status: overflow.parse(error, status) is not None
    }
    readers |= {name: by_words(pattern) for name, pattern in WORDS.items()}
    for part in sorted({row[0] for row in rows}):
        these = [row[1:] for row in rows if row[0] == part]
        real, false = [r for r in these if r[2] is not None], [r for r in these if r[2] is None]
        lines = []
        for name, reads in readers.items():
            line: list[object] = [
                name,
                f"{sum(reads(e, s) for e, s, _ in real)}/{len(real)}",
                f"{sum(reads(e, s) for e, s, _ in false)}/{len(false)}",
            ]
            counted = Counter(_judge(e, s, n) for e, s, n in real) if name == "penstock" else None
            lines.append(
                [
                    *line,
                    *(
                        (counted["exact"], counted["absent"], counted["wrong"])
                        if counted is not None
                        else ("-", "-", "-")
                    ),
                ]
            )
        print(f"{part}: {len(these)} refusals\n")
        table(["reader", "overflows recognised", "false alarms", "all numbers exact", "one absent", "one wrong"], lines)


def _judge(error: Any, status: int | None, numbers: dict[str, Any] | None) -> str:
    found = overflow.parse(error, status)
    values = [(getattr(found, name, None), (numbers or {}).get(name)) for name in NUMBERS]
    if any(value is not None and value != expected for value, expected in values):
        return "wrong"
    return "exact" if all(value == expected for value, expected in values) else "absent"


def forms(count: int) -> None:
    """Generated forms: missed, absent and wrong."""
    source = random.Random(2026)
    result: Counter[str] = Counter()
    for _ in range(count):
        form = make(source)
        found = overflow.parse(form.error, 400)
        result["missed"] += found is None
        pairs = [(getattr(found, name, None), expected) for name, expected in form.numbers.items()]
        result["wrong"] += any(value is not None and value != expected for value, expected in pairs)
        result["absent"] += found is not None and any(
            value is None and expected is not None for value, expected in pairs
        )
    table(
        ["forms", "missed", "a number wrong", "a number absent"],
        [[count, result["missed"], result["wrong"], result["absent"]]],
    )


def speed(rows: list[tuple[str, Any, int | None, dict[str, Any] | None]]) -> None:
    """Milliseconds of processor time for one parse, the best of five."""
    times = []
    for _, error, status, _ in rows:
        best = float("inf")
        for _ in range(5):
            started = time.process_time()
            overflow.parse(error, status)
            best = min(best, time.process_time() - started)
        times.append(best * 1000)
    times.sort()
    large = (
        '{"error": {"message": "prompt is too long: 213462 tokens > 200000 maximum", "echo": "'
        + "lorem ipsum " * 850_000
    )
    started = time.process_time()
    overflow.parse(large, 400)
    whole = (time.process_time() - started) * 1000
    share = [times[int(len(times) * part)] for part in (0.5, 0.9)]
    table(
        ["parses", "median ms", "90 % ms", "slowest ms", "a body of 10 MB, ms"],
        [[len(times), f"{share[0]:.2f}", f"{share[1]:.2f}", f"{times[-1]:.2f}", f"{whole:.0f}"]],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forms", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "overflow_dev.jsonl")
    chosen = parser.parse_args()
    rows = labelled(chosen.data)
    quality(rows)
    forms(chosen.forms)
    speed(rows)


if __name__ == "__main__":
    main()
