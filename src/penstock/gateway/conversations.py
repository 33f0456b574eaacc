"""What was cut from which conversation? Remembered, so that each later turn is cut in the same places, to the byte (W-2).

A client sends its whole history each time, uncut. It is recognized by a digest of its messages that ignores the marks of prompt
caches, since clients move those from turn to turn. The cuts are in the store, under the credential that sent the history, so that
any process can continue; what was parsed and counted of a history stays in this process, so that a turn costs only what it adds.
Laws: a continued history shows the same bytes up to its newest messages; nobody else's cuts are found. Leaves to others: what is
cut, and when (`carrier`).
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from penstock.text import stand_ins
from penstock.wires import Collapsed, Entry, Transcript, edits_from, edits_to, entry_of
from penstock.wires.digests import next_digest, opening_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires import Edit

# A message takes some four times its bytes once it is parsed and counted.
MAX_HELD_BYTES = 16 << 20
"""How much of parsed histories is held, by the bytes of their requests; the least recently used goes first."""
MESSAGE_BYTES = 512
"""The fixed size counted per message: most of what short ones take."""
MAX_BRANCHES = 16
"""How many histories with the same beginning are remembered, the newest: a common prompt begins many."""


class _Cut(NamedTuple):
    """What is not shown of a history with this beginning."""

    length: int
    """The number of messages in that beginning: up to the last one that was cut."""
    digest: str
    """The digest of these messages."""
    edits: tuple[Edit, ...]


class _Read(NamedTuple):
    """A history as it was last parsed."""

    entries: tuple[Entry, ...]
    digests: tuple[str, ...]
    """Of the first message, of the first two, …"""
    held_bytes: int
    """Its approximate size: its request, and what is known of each message."""
    cuts: tuple[_Cut, ...] = ()
    """What was cut from it, for when the store cannot be asked."""
    is_unkept: bool = False
    """Whether the store could not accept the last cuts."""


class KnownHistory(NamedTuple):
    """A request's history with what is known of it."""

    transcript: Transcript
    """The history with the cuts that were made before."""
    name: str
    """A digest of the owner and the beginning of the history: the same for all turns of a conversation."""
    digests: tuple[str, ...]


class Conversations:
    """What was cut from the histories of all clients.

    Args:
        store: where it is kept; a store's facts are small ones under names.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._read: OrderedDict[str, _Read] = OrderedDict()
        self._held_bytes = 0

    def recall(
        self,
        owner: str,
        wire: str,
        messages: Sequence[Json],
        body_bytes: int,
        *,
        system: Json = None,
        tools: Json = None,
        reply_schema: Json = None,
    ) -> KnownHistory:
        """Return a history with the cuts that were made in it before, and what was counted of it.

        Args:
            owner: a digest of the sender.
            wire: the API's name.
            messages: the history; its entries hold these very values.
            body_bytes: the size of its request.
            system: the instructions sent with it.
            tools: the tools sent with it.
            reply_schema: the form that the reply must have.
        """
        name = f"gateway cuts {owner} {wire} {opening_digest(messages, wire)}"
        with self._lock:
            before = self._read.get(name)
        entries, digests = _read_on(before, messages, wire)
        cuts = self._cuts(name)
        with self._lock:
            # Another turn may have been cut meanwhile without the store accepting it: only this process knows about it.
            newest = self._read.pop(name, None)
            is_unkept = newest is not None and newest.is_unkept
            if newest is not None and is_unkept:
                cuts = list(newest.cuts)
            held_bytes = body_bytes + MESSAGE_BYTES * len(messages)
            self._read[name] = _Read(entries, digests, held_bytes, tuple(cuts), is_unkept)
            self._held_bytes += held_bytes - (newest.held_bytes if newest is not None else 0)
            while len(self._read) > 1 and self._held_bytes > MAX_HELD_BYTES:
                self._held_bytes -= self._read.popitem(last=False)[1].held_bytes
        edits = _edits_of(cuts, entries, digests)
        transcript = Transcript(
            wire=wire, entries=entries, edits=edits, system=system, tools=tools, reply_schema=reply_schema
        )
        return KnownHistory(transcript, name, digests)

    def remember(self, known: KnownHistory, transcript: Transcript) -> None:
        """Keep the cuts of a history if there are more than are kept."""
        if transcript.edits == known.transcript.edits or not known.digests:
            return
        with self._lock:  # two concurrent turns of one process; between two processes the later one wins
            cuts = self._cuts(known.name)
            length = 1 + max(_last_of(edit) for edit in transcript.edits)
            # What was cut from a shorter beginning of the same history is included in this one.
            others = [cut for cut in cuts if cut.length > length or known.digests[cut.length - 1] != cut.digest]
            made = _Cut(length, known.digests[length - 1], transcript.edits)
            kept = [*others, made][-MAX_BRANCHES:]
            read = self._read.get(known.name)
            # If the store cannot accept them, this process's cuts are the newer ones until it can.
            if read is not None:
                self._read[known.name] = read._replace(cuts=tuple(kept), is_unkept=True)
            self._store.learn(known.name, _written(kept))
            if read is not None:
                self._read[known.name] = read._replace(cuts=tuple(kept), is_unkept=False)

    def _cuts(self, name: str) -> list[_Cut]:
        read = self._read.get(name)
        if read is not None and read.is_unkept:
            return list(read.cuts)
        try:
            found = self._store.learned(name)
            return _cuts_of(found[0]) if found else []
        # If the store cannot be read, other processes' cuts are missing and are made again: the request still fits.
        except Exception:  # noqa: BLE001 - a foreign store
            return list(read.cuts) if read is not None else []


def _edits_of(known: Sequence[_Cut], entries: Sequence[Entry], digests: Sequence[str]) -> tuple[Edit, ...]:
    """Return the cuts of the longest beginning that a history shares with one that was cut."""
    cuts = [cut for cut in known if cut.length <= len(digests) and digests[cut.length - 1] == cut.digest]
    if not cuts:
        return ()
    edits = max(cuts, key=lambda cut: cut.length).edits
    # Going back in a conversation may lead into a left-out span: the newest words, and what was done last, must be visible.
    needed = {next((entry.index for entry in reversed(entries) if entry.speaks), 0), len(entries) - 1}
    spans = [range(edit.first, edit.last + 1) for edit in edits if isinstance(edit, Collapsed)]
    return () if any(place in span for place in needed for span in spans) else edits


def _last_of(edit: Edit) -> int:
    """Return the last position that an edit affects."""
    return edit.last if isinstance(edit, Collapsed) else edit.index


def _read_on(before: _Read | None, messages: Sequence[Json], wire: str) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Return a history's entries and digests; those that were parsed before are not parsed again."""
    entries: list[Entry] = []
    digests: list[str] = []
    same = True
    for place, raw in enumerate(messages):
        known = before.entries[place] if before is not None and same and place < len(before.entries) else None
        if known is not None and before is not None and (known.raw is raw or known.raw == raw):
            entries.append(known)
            digests.append(before.digests[place])
            continue
        digest = next_digest(digests[-1] if digests else "", raw)
        same = same and before is not None and place < len(before.digests) and before.digests[place] == digest
        entry = entry_of(raw, wire, place, messages[place - 1] if place else None)
        entries.append(replace(entry, is_note=True) if stand_ins.is_note(entry.text) else entry)
        digests.append(digest)
    return tuple(entries), tuple(digests)


def _written(cuts: Sequence[_Cut]) -> str:
    return json.dumps([[cut.length, cut.digest, edits_to(cut.edits)] for cut in cuts], separators=(",", ":"))


def _cuts_of(text: str) -> list[_Cut]:
    """Return the cuts in text from `_written`; empty for another version's text."""
    try:
        return [_Cut(int(length), str(digest), edits_from(edits)) for length, digest, edits in json.loads(text)]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []
