"""What does forgetting cost, and what does it lose? Public sessions, call by call, under our plan and under others in use.

    python bench/replay.py [--data DIR] [--half 0|1] [--above TOKENS] [--hidden]      (or PENSTOCK_DATA=DIR)

Before each call of the model a policy may edit the history; edits stay, the history grows. A token is four characters. The cost of
a prompt is 0.1 for the part that it shares with the previous prompt, in whole messages from the start, and 1.25 for the rest. What
a call needs, the text that an edit replaces or an identifier that an argument names, is "visible" if it is in the prompt that led
to the call, provided that it was anywhere before. `--hidden` lists the rest. `--half 0` takes the sessions on which policies are
chosen, `--half 1` the others. Where the data is, and what was measured, is in docs/replay.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.policies import CHARS_PER_TOKEN, Policy, policies
from bench.sessions import Session, corpus, digest, spoken

from penstock.store import open_store
from penstock.text.json_access import as_json
from penstock.wires import Cleared, Collapsed, Pinned, Transcript, dump, load, violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.store import Store
    from penstock.wires import Entry

READ, WRITE = 0.1, 1.25  # relative to a token's price: Anthropic's five-minute cache
# SWE-agent's sessions and the dialogues all end below 60,000 tokens: nothing would be forgotten.
CORPORA = {
    "pi/large-session.jsonl": 60_000,
    "pi/before-compaction.jsonl": 60_000,
    "swe-agent": 8_000,
    "acr": 8_000,
    "tau-bench": 4_000,
}


@dataclass(kw_only=True)
class Outcome:
    """A policy's results on sessions: sizes in characters, times in seconds."""

    calls: int = 0
    chars: int = 0
    cost: float = 0.0
    largest_chars: int = 0
    needed: int = 0
    visible: int = 0
    hidden: list[str] = field(default_factory=list)
    gone_bytes: int = 0
    kept_bytes: int = 0
    violations: int = 0
    plans: int = 0
    cannot: int = 0
    seconds: list[float] = field(default_factory=list)


class Prompts:
    """The prompts of one session, in order: how much each shares with the previous one."""

    def __init__(self) -> None:
        self.before: Sequence[Entry] = ()
        self.texts: dict[int, tuple[Entry, str]] = {}

    def text(self, entry: Entry) -> str:
        """What a model reads in an entry; most entries occur again at every call."""
        known = self.texts.get(id(entry))
        if known is None:
            known = self.texts[id(entry)] = entry, spoken(entry)
        return known[1]

    def next(self, shown: Sequence[Entry]) -> tuple[int, int]:
        """The characters of a prompt, and how many of them the provider has in its cache."""
        sizes = [len(self.text(entry)) for entry in shown]
        hit = 0
        for size, entry, before in zip(sizes, shown, self.before, strict=False):
            if entry is not before and entry.raw != before.raw:
                break
            hit += size
        self.before = shown
        return sum(sizes), hit


def replay(session: Session, policy: Policy, store: Store, into: Outcome) -> Transcript:
    """One session under one policy."""

    def keep(content: str, name: str) -> str:
        return store.put(content.encode("utf-8", "surrogatepass"), name=name)

    talk, prompts, done = load([], session.wire), Prompts(), 0
    for call in session.calls:
        talk = talk.append(*session.messages[done:call])
        done = call
        started = time.process_time()
        plan = policy.plan(talk)
        into.seconds.append(time.process_time() - started)
        into.cannot += getattr(plan, "outcome", "") == "cannot"
        if plan:
            talk = policy.apply(talk, plan, keep)
            into.plans += 1
        shown = talk.visible()
        chars, hit = prompts.next(shown)
        into.calls += 1
        into.chars += chars
        into.cost += READ * hit + WRITE * (chars - hit)
        into.largest_chars = max(into.largest_chars, chars)
        into.violations += len(violations(dump(talk, session.wire), session.wire))
        for text in session.needs.get(call, ()):
            into.needed += 1
            if any(text in prompts.text(entry) for entry in shown):
                into.visible += 1
            else:
                into.hidden.append(f"{session.name}, message {call}: {_why(talk, text, prompts)}")
    gone, kept = recovered(talk, store)
    into.gone_bytes += gone
    into.kept_bytes += kept
    return talk


def _why(talk: Transcript, text: str, prompts: Prompts) -> str:
    """Where the text was last said, and what hides it."""
    entry = next(entry for entry in reversed(talk.entries) if text in prompts.text(entry))
    calls = {call.id: f"{call.name} {call.values.get('path', '')}".strip() for e in talk.entries for call in e.calls}
    own = [calls[call.id] for call in entry.calls if any(text in str(value) for value in call.values.values())]
    read = [calls.get(part.call_id, "result") for part in entry.results if text.strip("\n") in part.text]
    said = next(iter(own + read), entry.role)
    stubs = [
        edit.note if isinstance(edit, Collapsed) else edit.text
        for edit in talk.edits
        if (isinstance(edit, Collapsed) and edit.first <= entry.index <= edit.last)
        or (isinstance(edit, Cleared) and edit.index == entry.index)
    ]
    head = " ".join(text.split())[:60]
    return f"{head!r}, last in message {entry.index} ({said}), shown as {stubs[-1][:160]!r}"


def recovered(talk: Transcript, store: Store) -> tuple[int, int]:
    """The bytes that edits hid, and how many of them their handles give back exactly.

    An edit hides what was shown before it, so a stub in a span leads on to its own handle.
    """
    gone = kept = 0
    for place, edit in enumerate(talk.edits):
        if isinstance(edit, Pinned):
            continue
        before = replace(talk, edits=talk.edits[:place]).visible()
        content = _hidden(before, edit)
        gone += len(content)
        if edit.handle is not None and store.read(edit.handle, 0, len(content) + 1) == content:
            kept += len(content)
    return gone, kept


def _hidden(before: Iterable[Entry], edit: Cleared | Collapsed) -> bytes:
    if isinstance(edit, Cleared):
        parts = [part for entry in before if entry.index == edit.index for part in entry.results]
        text = "\n".join(part.text for part in parts if part.call_id == edit.call_id)
    else:
        text = "".join(f"{as_json(entry.raw)}\n" for entry in before if edit.first <= entry.index <= edit.last)
    return text.encode("utf-8", "surrogatepass")


def table(sessions: Sequence[Session], above_tokens: int) -> dict[str, Outcome]:
    """One corpus under every policy, printed."""
    print("| policy | tokens | cost | needed text visible | cleared, back by handle | violations | plans |", end=" ")
    print("`cannot` | largest prompt | planning, median and slowest |\n|" + "---|" * 10)
    outcomes: dict[str, Outcome] = {}
    for name, policy in policies(above_tokens).items():
        made = outcomes[name] = Outcome()
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
            store = open_store(folder)
            for session in sessions:
                replay(session, policy, store, made)
            store.close()
        raw = outcomes["raw"]
        cells = [
            name,
            f"{100 * made.chars / raw.chars:.1f} %",
            f"{100 * made.cost / raw.cost:.1f} %",
            f"{made.visible} of {made.needed}, {100 * made.visible / max(1, made.needed):.1f} %",
            f"{made.gone_bytes} B, {100 * made.kept_bytes / made.gone_bytes:.0f} %" if made.gone_bytes else "",
            str(made.violations),
            str(made.plans),
            str(made.cannot),
            str(made.largest_chars // CHARS_PER_TOKEN),
            f"{1000 * statistics.median(made.seconds):.1f}, {1000 * max(made.seconds):.1f} ms",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)
    print()
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("PENSTOCK_DATA"))
    parser.add_argument("--above", type=int, help="tokens above which results are cleared, instead of each table's own")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only the sessions of that half")
    parser.add_argument(
        "--hidden", action="store_true", help="list the texts that were needed and not visible, and why"
    )
    chosen = parser.parse_args()
    if chosen.data is None:
        parser.error("no data: --data or PENSTOCK_DATA names its folder; docs/replay.md says how to fill it")
    for name, above in CORPORA.items():
        above_tokens = chosen.above or above
        place = os.path.join(chosen.data, "replay", name)
        if not os.path.exists(place):
            print(f"{name}: not there\n")
            continue
        sessions = list(corpus(place, chosen.half))
        if not sessions:
            print(f"{name}: nothing in this half\n")
            continue
        calls = sum(len(session.calls) for session in sessions)
        print(f"{name}: {len(sessions)} sessions, {calls} calls, above {above_tokens} tokens, sha256 {digest(place)}")
        print("all of it\n" if chosen.half is None else f"half {chosen.half}\n")
        outcomes = table(sessions, above_tokens)
        if chosen.hidden:
            for policy, made in outcomes.items():
                print(*(f"- {policy}: {line}" for line in made.hidden), sep="\n", end="\n\n")


if __name__ == "__main__":
    main()
