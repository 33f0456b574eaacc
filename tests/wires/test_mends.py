"""What does a repair make of each broken invariant, and of each valid list with its messages in another order?

`mends.txt` has the reviewed answer, one list a line; `WRITE_TABLES=1` rewrites it. A message that stayed is given by its
place in the list as it came, one that was changed or added by its JSON, followed by what the repair says that it did.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.tables import check_table
from tests.wires.test_violations import BROKEN, VALID

from penstock.wires import repair, violations

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("mends.txt")


def orders(messages: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the list without each message, with it twice, and with it after its neighbour, each with the change made to it."""
    for at, message in enumerate(messages):
        before, behind = messages[:at], messages[at + 1 :]
        yield f"without {at}", [*before, *behind]
        yield f"{at} twice", [*before, message, message, *behind]
        if behind:
            yield f"{at} behind {at + 1}", [*before, behind[0], message, *behind[1:]]


def mended(messages: list[Any], wire: str) -> str:
    """Return what became of each message, and what was said of it."""
    done, left = repair(messages, wire), [*enumerate(messages)]
    words: list[str] = []
    for message in done.messages:
        same = next((one for one in left if one[1] == message), None)
        words.append(json.dumps(message, separators=(",", ":"), ensure_ascii=False) if same is None else str(same[0]))
        if same is not None:
            left.remove(same)
    return f"{' '.join(words) or 'nothing'} | {'; '.join(done.actions) or 'as it is'}"


def rows() -> Iterator[str]:
    """Yield a line for each list."""
    for wire, broken in BROKEN.items():
        for number, (code, messages, _) in enumerate(broken):
            said = " ".join(f"{one.index} {one.message}" for one in violations(messages, wire))
            yield f"{wire} {code} {number}: {said} | {mended(messages, wire)}"
    for wire, valid in VALID.items():
        for number, messages in enumerate(valid):
            for name, other in orders(messages):
                found = " ".join(f"{one.code} {one.index}" for one in violations(other, wire))
                yield f"{wire} {number} {name}: {found or 'nothing'} | {mended(other, wire)}"


@pytest.mark.proves("LAW-Transcript")
def test_what_a_repair_makes_of_a_list_is_what_the_table_says() -> None:
    """The table has the messages that stay, what replaces the others, and a sentence for every action."""
    check_table(TABLE, list(rows()))
