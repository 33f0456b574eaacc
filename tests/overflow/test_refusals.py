"""Which refusals from public threads, labelled by reading them, are recognised, and which of their numbers are right?

`refusals.jsonl` has the labels and the address of each thread; the messages belong to other people and are kept with the
project's data (`PENSTOCK_DATA`, `refusals.jsonl`), joined by their hash. The set was split at random before any pattern was tried
on it. The patterns were then improved on the half `dev` only; the half `unseen` was run once, when they were done.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from penstock.overflow import diagnose

LABELS = Path(__file__).with_name("refusals.jsonl")
TEXTS = Path(os.environ.get("PENSTOCK_DATA", Path(__file__).parents[3] / "shared" / "data")) / "refusals.jsonl"
with_texts = pytest.mark.skipif(not TEXTS.exists(), reason="the messages are not here: set PENSTOCK_DATA")


@dataclass
class Count:
    """The results for one half."""

    overflows: int = 0
    found: int = 0
    false_alarms: int = 0
    kinds: int = 0
    wrong_numbers: int = 0
    whole_rows: int = 0


def rows(half: str) -> list[dict[str, Any]]:
    """Return the labels of one half."""
    return [row for line in LABELS.read_text("utf-8").splitlines() if (row := json.loads(line))["half"] == half]


@cache
def texts() -> dict[str, str]:
    """Return the messages by their place in the labels, each verified to be the labelled one."""
    lines = [json.loads(line) for line in TEXTS.read_text("utf-8").splitlines()]
    for one in lines:
        assert hashlib.sha256(one["text"].encode()).hexdigest().startswith(one["sha256"]), one["id"]
    return {one["id"]: one["text"] for one in lines}


def count(half: str) -> Count:
    """Diagnose each message of a half and compare it with its label."""
    made = Count()
    for row in rows(half):
        found = diagnose(texts()[row["id"]], row.get("http_status"))
        made.kinds += found.kind == row["kind"]
        made.overflows += row["is_overflow"]
        if not row["is_overflow"]:
            made.false_alarms += found.overflow is not None
        elif found.overflow is not None:
            numbers = [(getattr(found.overflow, name), row.get(name)) for name in ("limit", "input", "output", "total")]
            made.found += 1
            made.wrong_numbers += sum(
                got is not None and got != wanted for got, wanted in numbers if (got, wanted) != (0, None)
            )
            made.whole_rows += all(got == wanted for got, wanted in numbers)
    return made


def test_the_labels_name_their_threads() -> None:
    """There are at least 200 refusals and 40 lookalikes, each with its address and its own message, in two halves."""
    labels = [*rows("dev"), *rows("unseen")]
    assert sum(row["is_overflow"] for row in labels) >= 200
    assert sum(not row["is_overflow"] for row in labels) >= 40
    assert all(row["source"].startswith("https://") for row in labels)
    assert len({row["sha256"] for row in labels}) == len(labels)


@pytest.mark.proves("O-2")
@with_texts
def test_the_half_that_the_patterns_were_improved_on() -> None:
    """All of it is right: this is a regression test and measures nothing."""
    made = count("dev")
    assert (made.found, made.false_alarms, made.wrong_numbers) == (made.overflows, 0, 0)
    assert made.kinds >= 146
    assert made.whole_rows >= 108


@with_texts
def test_the_half_that_no_pattern_was_written_for() -> None:
    """It was measured once, after the last change of a pattern for `dev`; the bounds below are from that run and may only
    improve. Rows of both halves share wordings, as refusals do: the split was by message, not by provider."""
    made = count("unseen")
    # That run had 2 false alarms and 1 wrong number, whose causes were fixed afterwards.
    assert made.overflows == 115
    assert made.found >= 114
    assert made.false_alarms <= 2
    assert made.wrong_numbers <= 1
    assert made.kinds >= 138
    assert made.whole_rows >= 109
