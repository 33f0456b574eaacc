"""How is a session of opencode written? As a file in the form of `opencode export`, which `opencode import` reads (1.18.33).

The import skips every message and part whose id it already knows, so each gets a new one; they sort by time. Law: no figure of a
larger request stays, or the host would compact because of it.
"""

from __future__ import annotations

import os
import secrets
import string as letters
import time
from itertools import groupby
from typing import TYPE_CHECKING

from penstock.hosts.sessions import joined
from penstock.hosts.sessions.exported import members
from penstock.hosts.sessions.opencode import ASKED, attachments
from penstock.text.json_access import blocks, data_url, field, objects, role_of, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.text.json_access import Json

_ALPHABET = letters.digits + letters.ascii_letters
_FRAME = ("agent", "model", "modelID", "providerID", "mode", "path")
NOTHING = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
"""The figures of an answer for which nothing was counted."""


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of a file next to an export."""
    # As the host makes them: milliseconds, then a counter of twelve bits. In session ids the bits are inverted, so that a list by
    # id has the newest first.
    now = time.time_ns() // 1_000_000 << 12
    session = identifier("ses", ~now)  # the newest sorts first
    return session, os.path.join(os.path.dirname(path), f"{session}.json")


def prepare(path: str) -> list[str]:
    """Return the host's command that imports a file."""
    return ["opencode", "import", path]


def resume(session: str) -> list[str]:
    """Return the host's command that resumes an imported session."""
    return ["opencode", "-s", session]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the one document of the new session."""
    del now  # times are whole milliseconds here
    own = next((file.record(place) for name, place in members(file) if name == "info"), {})
    kept = {key: value for key, value in own.items() if key not in {"parentID", "share", "revert"}}
    yield {"info": {**kept, "id": session}, "messages": list(_Writing(file, session).messages(lines))}


class _Writing:
    """The messages of a session, one after another."""

    def __init__(self, file: SessionFile, session: str) -> None:
        self._file = file
        self._session = session
        self._number = time.time_ns() // 1_000_000 << 12
        self._created = 0
        self._asked = ""
        """The person's newest message: the next answers refer to it."""
        self._frame: Record = {}
        self._speaker: Record = {}
        self._is_cut = False

    def messages(self, lines: Sequence[SessionLine]) -> Iterator[Record]:
        """Yield them; a message's answer, its results and what came with them are one message here."""
        self._frame, self._speaker = self._first_frame(lines, "user"), self._first_frame(lines, "assistant")
        numbered = enumerate(lines)
        for _, group in groupby(numbered, lambda row: row[1].said[0].place if row[1].said else row[0]):
            own = [line for _, line in group]
            # After the first cut, figures no longer hold: each counted everything before it.
            self._is_cut = self._is_cut or any(line.message is not None for line in own)
            record = self._file.record(own[0].said[0].place) if own[0].said else {}
            if field(record, "info", "role") == "assistant":
                yield from self._answer(record, own)
            elif not record and role_of(own[0].message) == "assistant":
                yield self._note(own[0])
            else:
                yield self._person(record, own[0])

    def _first_frame(self, lines: Sequence[SessionLine], role: str) -> Record:
        """Return the metadata of a role's first message, for a note that precedes it: agent and model."""
        for line in lines:
            info = self._file.record(line.said[0].place).get("info") if line.said else None
            if field(info, "role") == role:
                return _frame_of(info)
        return {}

    def _note(self, line: SessionLine) -> Record:
        """Return a note of ours in the model's name, as it comes between two messages of the person."""
        parts = [made for block in blocks(field(line.message, "content")) for made in _part(block)]
        model = self._frame.get("model")
        spoken = {
            "modelID": field(model, "modelID"),
            "providerID": field(model, "providerID"),
            "mode": "build",
            "agent": "build",
        }
        info = {
            **spoken,
            "path": {"cwd": "/", "root": "/"},
            **self._speaker,
            "role": "assistant",
            "cost": 0,
            "finish": "stop",
        }
        made = self._message({**info, "tokens": NOTHING, "parentID": self._asked}, parts, None)
        made["info"]["time"]["completed"] = made["info"]["time"]["created"]
        return made

    def _person(self, record: Record, line: SessionLine) -> Record:
        info, parts = record.get("info"), objects(record.get("parts"))
        if isinstance(info, dict):
            self._frame = _frame_of(info)
        if line.message is not None:
            parts = [made for block in blocks(field(line.message, "content")) for made in _part(block)]
        else:
            parts = [_plain(part) for part in parts]
        held = {**self._frame, "role": "user"}
        return self._message(held, parts, whole_number(field(info, "time", "created")))

    def _answer(self, record: Record, lines: Sequence[SessionLine]) -> Iterator[Record]:
        """Yield an answer with its results; after it, as a separate message, what came with them if that was cut."""
        info, parts = record["info"], objects(record.get("parts"))
        messages = [(joined(line.said) if line.message is None else line.message, line.message) for line in lines]
        words = {
            string(field(message, "tool_call_id")): string(field(message, "content"))
            for message, changed in messages
            if role_of(message) == "tool" and changed is not None
        }
        attached = [(message, changed) for message, changed in messages if role_of(message) == "user"]
        is_attached = any(changed is None for _, changed in attached)
        made = [
            _resulting(_plain(part), words.get(string(part.get("callID"))), is_attached=is_attached) for part in parts
        ]
        kept = {key: value for key, value in info.items() if key not in {"summary", "error", "parentID"}}
        if self._is_cut or lines[0].is_left_over:
            kept["tokens"] = NOTHING
            made = [{**part, "tokens": NOTHING} if type_of(part) == "step-finish" else part for part in made]
        created = whole_number(field(info, "time", "created"))
        yield self._message({**kept, "parentID": self._asked}, made, created)
        for message, changed in attached:
            if changed is not None:
                rows = [one for block in blocks(field(message, "content")) for one in _part(block)]
                yield self._message({**self._frame, "role": "user"}, rows, created)

    def _message(self, info: Record, parts: Sequence[Record], created: int | None) -> Record:
        key = self._identifier("msg")
        # Messages sort by time, then by id, so times must not decrease. A message of ours has no time: it takes that of the
        # previous one, and its id puts it after that.
        self._created = max(self._created, created or 0)
        timed = {**(info["time"] if isinstance(info.get("time"), dict) else {}), "created": self._created}
        if info["role"] == "user":
            self._asked = key
        held = {"sessionID": self._session, "messageID": key}
        rows = [{**part, "id": self._identifier("prt"), **held} for part in parts]
        return {"info": {**info, "id": key, "sessionID": self._session, "time": timed}, "parts": rows}

    def _identifier(self, prefix: str) -> str:
        self._number += 1
        return identifier(prefix, self._number)


def identifier(prefix: str, number: int) -> str:
    """Return an id in the host's form: 48 bits of time and a counter, then random characters."""
    return f"{prefix}_{number & (1 << 48) - 1:012x}{''.join(secrets.choice(_ALPHABET) for _ in range(14))}"


def _frame_of(info: Json) -> Record:
    return {key: info[key] for key in _FRAME if key in info}


def _plain(part: Record) -> Record:
    """Return a part; a request for a compaction becomes plain text: what it referred to is not in the file."""
    if type_of(part) == "compaction":
        return {"type": "text", "text": ASKED, "synthetic": True}
    return part


def _part(block: Record) -> Iterator[Record]:
    """Yield a block of a message as a part."""
    if type_of(block) == "text":
        yield {"type": "text", "text": string(block.get("text"))}
        return
    url = string(field(block, "image_url", "url")) or string(field(block, "file", "file_data"))
    mime, _ = data_url(url)
    name = string(field(block, "file", "filename"))
    yield {"type": "file", "mime": mime or "image/png", "url": url, **({"filename": name} if name else {})}


def _resulting(part: Record, words: str | None, *, is_attached: bool) -> Record:
    """Return a call with other words as its result, if any are given; without its attachments, if those are cut."""
    state = part.get("state")
    if type_of(part) != "tool" or not isinstance(state, dict):
        return part
    if words is None and (is_attached or not attachments(part)):
        return part
    kept = {key: value for key, value in state.items() if key not in {"attachments", "error"}}
    if words is not None:  # the copy for the screen would show removed content
        begun = whole_number(field(state, "time", "start")) or 0
        ended = whole_number(field(state, "time", "end")) or begun
        timed = {"start": begun, "end": ended}
        kept |= {"status": "completed", "output": words, "metadata": {}, "time": timed}
        kept = {"input": {}, "title": "", **kept}
    return {**part, "state": kept}
