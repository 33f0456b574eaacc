"""R20: is every broken request repaired, and what was valid kept (R-9)?

Valid lists of every wire are damaged (`proof.wire_stories`), repaired, and checked by judges that share no code with the product
(`proof.wire_rules`). For each: the judge accepts it; repairing it again changes nothing; a list that the judge accepted before
comes back unchanged; the user's words from valid messages are still there; remaining signed reasoning is unchanged. If nothing of a
request is left to send, that is reported. And the time to repair grows with the list, not with its square.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from proof.figure import Figure, main
from proof.wire_rules import judge
from proof.wire_stories import WIRES, damaged, story

from penstock.wires import repair

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG, SHORT = 4_000, 75
"""Damaged requests on each wire."""
_MAX_GROWTH = 8.0  # of the time when the list is four times as long: 4 is linear, 16 is quadratic
_SIZES = (2_000, 8_000)


def faults_of(broken: list[Any], wire: str) -> tuple[str, ...]:
    """Faults of one damaged list."""
    before = json.dumps(broken)
    found = repair(broken, wire)
    faults = [] if json.dumps(broken) == before else ["the list that was given was changed"]
    if not found.messages:
        return (*faults, *([] if found.left or found.actions else ["nothing is left, and nothing says so"]))
    if refused := judge(found.messages, wire):
        faults.append(f"refused: {refused}")
    again = repair(found.messages, wire)
    if again.messages != found.messages or again.actions:
        faults.append("mending again changes it")
    if not judge(broken, wire) and found.messages != broken:
        faults.append(f"was valid, and was changed: {found.actions[:2]}")
    after = json.dumps(found.messages)
    faults += [f"lost {mark!r}" for mark in _whole(broken, wire) if mark not in after]
    faults += [f"changed {one[:60]}" for one in _signed(found.messages) if one not in set(_signed(broken))]
    return tuple(faults)


def _whole(broken: list[Any], wire: str) -> set[str]:
    """The marks of words in the user's valid messages."""
    marks: set[str] = set()
    for message in broken:
        if isinstance(message, dict) and message.get("role") == "user" and not judge([message], wire):
            marks |= set(re.findall(r"said \d+\.", json.dumps(message)))
    return marks


def _signed(value: Any) -> Iterator[str]:
    """Everything that carries a signature, as JSON."""
    if isinstance(value, dict):
        if any(value.get(key) for key in ("signature", "thoughtSignature", "encrypted_content")):
            call = value.get("functionCall")
            # A call's signature covers the thought before it: invalid arguments and ids are repaired.
            yield json.dumps({**value, "functionCall": call.get("name")} if isinstance(call, dict) else value)
        for inner in value.values():
            yield from _signed(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _signed(inner)


def _seconds(wire: str, size: int, seed: int) -> float:
    """The best of three times for a damaged list of about this many messages."""
    dice = random.Random(f"{seed} {wire} {size}")
    messages: list[Any] = []
    while len(messages) < size:
        messages += damaged(dice, wire, story(dice, wire))[0]
    times = []
    for _ in range(3):
        started = time.process_time()
        repair(messages, wire)
        times.append(time.process_time() - started)
    return min(times)


def measure(*, long: bool, seed: int) -> Figure:
    """R20: damaged requests, repaired."""
    number = LONG if long else SHORT
    notes: list[str] = []
    counted: Counter[str] = Counter()
    for wire in WIRES:
        dice = random.Random(f"{seed} {wire}")
        for at in range(number):
            whole = story(dice, wire)
            if refused := judge(whole, wire):
                notes.append(f"{wire} {at}: a story is none: {refused}")
            broken, done = damaged(dice, wire, whole)
            counted["already valid"] += not judge(broken, wire)
            counted["nothing left to send, and said so"] += not repair(broken, wire).messages
            notes += [f"{wire} {at} {done}: {fault}" for fault in faults_of(broken, wire)]
    growths = {}
    for wire in WIRES if long else ():
        times = [_seconds(wire, size, seed) for size in _SIZES]
        growths[wire] = round(times[1] / times[0], 2)
        if growths[wire] > _MAX_GROWTH:
            notes.append(
                f"{wire}: {growths[wire]} times the work for four times the list ({[round(t, 3) for t in times]} s)"
            )
    said = ", ".join(f"{count} {what}" for what, count in counted.items())
    return Figure(
        rig="R20",
        name="mended requests",
        value=f"{len(notes)} faults in {number} damaged requests on each of {len(WIRES)} wires ({said}"
        + (f"; four times the list is at most {max(growths.values())} times the work)" if growths else ")"),
        target="0 faults",
        met=not notes,
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
