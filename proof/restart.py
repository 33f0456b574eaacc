"""R10b: is anything lost, or done twice, when a PostgreSQL server is stopped abruptly and restarted under load?

Clients append to journals and put artifacts, each as fast as it can, while the server is stopped without a checkpoint (`pg_ctl -m
immediate`) and restarted, over and over. Every other client waits for the server, as a run does, and must not hear of any fault;
the others retry the same operation after each. At the end every acknowledged record and artifact is there, once, in order, and
sound; no client got any error but a `StoreFault`; and each continued after every restart.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from proof.figure import Figure, NotHere, main, untried
from tests.store.conftest import Server, programs

from penstock.store import Patience, StoreFault, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.store import Handle, JournalRecord, Store

T = TypeVar("T")
_PATIENCE_SECONDS = 30.0  # a client that takes longer has stopped


@dataclass(slots=True)
class Client:
    """Writes to its own journal until told to end, and notes what was acknowledged."""

    name: str
    url: str
    generator: random.Random
    stop: threading.Event
    waits: bool
    waited: int = 0
    seals: list[str] = field(default_factory=list)
    contents: dict[Handle, bytes] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        try:
            store = self._until_it_works(lambda: open_store(self.url))
            if store is not None and self.waits:
                store.patience = Patience(seconds=2 * _PATIENCE_SECONDS, say=self._hear, given_up=self.stop.is_set)
            while store is not None and not self.stop.is_set():
                self._write(store)
        except Exception as error:
            self.wrong.append(f"{self.name} heard {error!r}")

    def _write(self, store: Store) -> None:
        content = self.generator.randbytes(self.generator.randrange(2_000))
        handle = None
        if self.generator.random() < 0.2:
            handle = self._until_it_works(lambda: store.put(content, name=self.name))
            if handle is None:
                return
            self.contents[handle] = content
        handles = [handle] if handle else []
        data = {"n": len(self.seals), "text": content.hex()}

        def append() -> JournalRecord:
            return store.append(self.name, len(self.seals), "asked", data, handles=handles)

        if (record := self._until_it_works(append)) is not None:
            self.seals.append(record.sha256)

    def _hear(self, said: str) -> None:
        self.waited += said.startswith("waits")

    def _until_it_works(self, act: Callable[[], T]) -> T | None:
        """Retries after each fault; None when told to end meanwhile."""
        while True:
            try:
                return act()
            except StoreFault as fault:
                self.faults[fault.code] += 1
                if self.waits and not self.stop.is_set():
                    self.wrong.append(f"{self.name} waits, and was told {fault}")
                if self.stop.wait(0.01):
                    return None

    def look(self, store: Store) -> None:
        """Whether everything acknowledged is there, once and in order."""
        found = [record.sha256 for record in store.events(self.name)]
        if found[: len(self.seals)] != self.seals or len(found) > len(self.seals) + 1:
            self.wrong.append(f"{self.name}: {len(found)} records, {len(self.seals)} acknowledged, or other ones")
        self.wrong += [
            f"{self.name}: artifact {handle} differs"
            for handle, content in self.contents.items()
            if store.read(handle, 0, len(content) + 1) != content
        ]


def load(restarts: int, clients: int, seed: int) -> tuple[list[Client], list[str]]:
    """Clients that write while the server goes down this many times, and what is wrong afterwards. Raises `NotHere`."""
    folder = programs()
    if folder is None:
        raise NotHere("PostgreSQL is not installed")
    generator = random.Random(seed)
    server = Server(folder)
    try:
        stop = threading.Event()
        url = server.database("load")
        writers = [
            Client(f"client-{number}", url, random.Random(generator.random()), stop, waits=number % 2 == 1)
            for number in range(clients)
        ]
        threads = [threading.Thread(target=writer.run, name=writer.name) for writer in writers]
        for thread in threads:
            thread.start()
        stuck = _gone_on(writers)
        for _ in range(restarts):
            stop.wait(0.02 + 0.3 * generator.random())  # the server goes down at any moment
            server.stop("immediate")
            server.start()
            stuck += _gone_on(writers)
        stop.set()
        for thread in threads:
            thread.join()
        store = open_store(url)
        for writer in writers:
            writer.look(store)
        stuck += map(str, store.check())
        store.close()
    finally:
        server.close()
    return writers, stuck


def _gone_on(writers: list[Client]) -> list[str]:
    """Waits until each client has had something acknowledged; returns the names of those that have not."""
    before = [len(writer.seals) for writer in writers]
    ends = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < ends:
        if all(len(writer.seals) > count for writer, count in zip(writers, before, strict=True)):
            return []
        time.sleep(0.005)
    return [
        f"{writer.name} does not go on: {dict(writer.faults)}"
        for writer, count in zip(writers, before, strict=True)
        if len(writer.seals) == count
    ]


def measure(*, long: bool, seed: int) -> Figure:
    """Acknowledged writes that a restarted server has lost."""
    restarts, name, target = 40 if long else 3, "restarts of PostgreSQL under load", "0 lost, repeated or unnamed"
    try:
        writers, wrong = load(restarts, clients=4 if long else 2, seed=seed)
    except NotHere as why:
        return untried("R10b", name, target, why)
    wrong += [line for writer in writers for line in writer.wrong]
    records, artifacts = sum(len(w.seals) for w in writers), sum(len(w.contents) for w in writers)
    faults: Counter[str] = sum((writer.faults for writer in writers), Counter())
    waited = sum(writer.waited for writer in writers)
    return Figure(
        rig="R10b",
        name=name,
        value=f"{len(wrong)} lost, repeated or unnamed of {records} records and {artifacts} artifacts, {restarts} restarts",
        target=target,
        met=not wrong and faults.total() > 0 and waited > 0,
        seed=seed,
        notes=(f"what clients were told: {dict(faults)}; those that wait waited {waited} times", *wrong),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
