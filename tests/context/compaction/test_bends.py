"""For plans of many sizes over the same long work, which steps are taken, and what replaces what is removed?

`bends.txt` has the reviewed answer for every wire, limit and policy; `WRITE_TABLES=1` rewrites it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.context.compaction.talks import WIRES, Shelf, did, edited, lines, step, told, viewed
from tests.tables import check_table

from penstock.context.compaction import DEFAULT, GENTLE, GROWN, RECOVERY, apply, plan
from penstock.context.sized import size_of
from penstock.wires import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.wires import Transcript

TABLE = Path(__file__).with_name("bends.txt")
POLICIES = {"default": DEFAULT, "gentle": GENTLE, "grown": GROWN, "recovery": RECOVERY}
_SHARES = (0.95, 0.7, 0.45, 0.2, 0.05)


def work(wire: str) -> Transcript:
    """Return a long piece of work: files reread and changed, a command that fails three times, a flood, words in between."""
    failing = [step(did("bash", f"{lines(20)}\nE: no module {at}", command="make", failed=True)) for at in range(3)]
    rounds = [
        step(viewed("parser.py", 60, offset=0, limit=60), text="First the parser."),
        step(viewed("lexer.py", 40), viewed("tokens.py", 25), text="Two at once."),
        step(edited("parser.py"), user="Keep the names as they are: ParserError, next_token()."),
        step(viewed("parser.py", 80, offset=0, limit=80), text="Once more, longer."),
        *failing,
        step(did("bash", "ok", command="make"), text="It works now."),
        step(did("search", lines(400, word="hit"), pattern="hit"), text="A flood."),
        step(viewed("notes.md", 30), did("plot", lines(12), image=True), user="And the notes?"),
        step(edited("lexer.py"), edited("tokens.py"), text="Both changed."),
        *(step(viewed(f"other{at}.py", 15 + at), text=f"Of other{at}.py.") for at in range(6)),
        step(did("bash", lines(50), command="pytest -q"), text="The tests pass."),
    ]
    return told(wire, *rounds)


def _words(transcript: Transcript) -> set[str]:
    """Return the strings of what is shown."""

    def of(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from of(inner)

    return set(of(dump(transcript, transcript.wire)))


def rows(wire: str) -> Iterator[str]:
    """Yield the plans for one wire, and for the first wire also the words that replace what is removed."""
    talk = work(wire)
    size = size_of(talk)
    for name, policy in POLICIES.items():
        for share in _SHARES:
            made = plan(talk, int(size * share), policy)
            yield f"{wire}, {name}, {share:.0%}: {' / '.join(' '.join(line.split()) for line in str(made).splitlines())}"
            if wire == WIRES[0]:
                after = apply(talk, made, Shelf())
                for words in sorted(_words(after) - _words(talk)):
                    yield f"   {json.dumps(words[:400], ensure_ascii=False)}"


@pytest.mark.proves("S-4")
def test_plans_of_every_size_are_those_of_the_table() -> None:
    """The table says what is removed first, how much of it, and what replaces it."""
    check_table(TABLE, [row for wire in WIRES for row in rows(wire)])
