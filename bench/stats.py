"""What do the figures of many sessions cost? Read from their journals, with summaries created on the way, and from the summaries.

Processor time of one run over 400 sessions of 49 records on average, scripted. Prints Markdown; 1 if the target is missed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.agent.child_figures import child_figures
from penstock.agent.figures import stats_of
from penstock.agent.loop import Agent
from penstock.agent.summaries import figures_of
from penstock.agent.toolbox import Toolbox
from penstock.models import ScriptedModel, call, say
from penstock.session import Session
from penstock.store import Event, open_store
from penstock.wires import tool_definitions
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.store import Store

SESSIONS = 400
READS = range(1, 25, 3)  # pages that each of the eight scripts reads
TARGET = 3.0


def filled(folder: str) -> Store:
    """A store with journals of agents that read a file page by page, each many times under another name."""
    tree = Path(folder, "tree")
    tree.mkdir()
    (tree / "ports.py").write_text("".join(f"port_{n} = {n}\n" for n in range(120)))
    store = open_store(str(Path(folder, "store")))
    journals: list[list[Event]] = []
    for pages in READS:
        tools = Toolbox(Workspace(tree), store, window_tokens=128_000)
        session = Session(
            system="Answer.", tools=tool_definitions(tools.tools, "openai-chat"), session_id=f"read-{pages}"
        )
        steps = [call("view", file_path="ports.py", offset=page, limit=80) for page in range(pages)]
        agent = Agent(session, ScriptedModel([*steps, say("Done.")]), tools, store)
        agent.begin()
        agent.run("Which ports are there?")
        records = store.events(session.session_id)
        journals.append([Event(seq=record.seq, type=record.type, data=record.data) for record in records])
    for number in range(SESSIONS - len(journals)):
        store.append_all(f"copy-{number}", journals[number % len(journals)])
    return store


def seconds(work: Callable[[], object]) -> float:
    """Its processor time."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> int:
    """The table."""
    with tempfile.TemporaryDirectory() as folder, closing(filled(folder)) as store:
        names = [one.session for one in store.sessions()]
        journals = seconds(lambda: [(stats_of(store, name), child_figures(store, name)) for name in names])
        made = seconds(lambda: list(figures_of(store, names)))
        again = seconds(lambda: list(figures_of(store, names)))
    print(f"| {len(names)} sessions, ms a session | |\n|---|---|")
    for what, took in (("journals", journals), ("journals, summaries made", made), ("summaries", again)):
        print(f"| {what} | {took * 1_000 / len(names):.2f} |")
    print(f"\n{journals / again:.1f} times as fast again (wanted: {TARGET:g})")
    return 0 if journals / again >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
