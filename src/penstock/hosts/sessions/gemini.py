"""How is a session of Gemini CLI read: `~/.gemini/tmp/PROJECT/chats/session-….jsonl` (0.61.0), or the `.json` of older versions?

A message is written again whenever it changes: the last version of an id wins, at the position of the first. `$set.messages`
replaces all of them: after a start, a failure, a resume or a compaction; `$rewindTo` takes back one and those after it. A result is
in the answer that called, and again in a separate message: a resumed session sends both, and the second is yielded as a copy.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError
from penstock.hosts.sessions.exported import members
from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import NOWHERE, Answered, Compacted, Place, Refused, Said
from penstock.text.json_access import as_json, field, objects, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json

WIRE = "gemini"
OWNER = ".project_root"
"""The file in a project's folder that gives the project's path."""
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""The model's reply to a summary, invented by the host; nothing else marks a summary."""
_HOOKS = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)
_CONTEXT = "<session_context>"
_QUIET = frozenset({"info", "warning", "error"})  # said to the person
_REFUSED = "[API Error:"
_OTHERS = ("$set", "sessionId")
# For the screen; only `result` is sent.
_SHOWN = ("resultDisplay", "description", "displayName")


def head(file: SessionFile, path: str) -> Head:
    """Return a session's metadata from its first record, which gives no version; its folder is recorded in a separate file, for
    all sessions of a project.
    """
    own, folder = header(file), owner_of(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    return Head(string(own.get("sessionId")), folder, started=string(own.get("startTime")))


def owner_of(project: str) -> str:
    """Return the folder whose sessions the host keeps in a project's folder; empty if it has not recorded it."""
    from penstock.workspace.own_files import read_own

    with suppress(CallerError, ValueError):
        folder = (read_own(os.path.join(project, OWNER)) or b"").decode().strip()
        return folder if os.path.isabs(folder) else ""
    return ""


def is_document(file: SessionFile) -> bool:
    """Return whether a file is one indented document, as older versions wrote them."""
    return file.begins_with(b'{"sessionId":', is_printed=True)


def header(file: SessionFile) -> Record:
    """Return the first record that names its session; an empty one if none does."""
    return next((record for _, record in _records(file) if string(record.get("sessionId"))), {})


def _records(file: SessionFile) -> Iterator[tuple[Place, Record]]:
    """Yield each record with its position; an older version's document yields its own metadata last."""
    if not is_document(file):
        yield from file.records()
        return
    own: Record = {}
    for name, place in members(file):
        if name == "messages":
            yield place, file.record(place)
        else:
            own[name] = file.value(place)
    yield NOWHERE, own


class _Held(NamedTuple):
    """Where a message in force is written."""

    id: str
    place: Place
    number: int
    """Its index among the messages of a `$set` or a header; -1 for a record that is itself a message."""


class _Index:
    """Which messages are in force, up to each compaction and after the last one."""

    def __init__(self, file: SessionFile) -> None:
        self.segments: list[tuple[list[_Held], Compacted | None]] = []
        self.answers: dict[str, Answered] = {}
        """The figures of each answer: a `$set` may leave them out."""
        self._held: dict[str, _Held] = {}
        self._unsent = file.counts.unsent_bytes
        sizes: dict[Place, int] = {}
        for place, record in _records(file):
            size, listed = place.end_byte - place.start_byte, field(record, "$set", "messages")
            if isinstance(record.get("$rewindTo"), str):
                self._unsent["$rewindTo"] += size
                self._take_back(record["$rewindTo"])
            elif isinstance(record.get("id"), str):
                sizes[place] = size
                self._hold(record, place, -1)
            elif isinstance(listed, list):
                sizes[place] = size
                self._replace(listed, place)
            elif isinstance(record.get("sessionId"), str) and isinstance(record.get("messages"), list):
                sizes[place] = size
                for number, message in enumerate(record["messages"]):
                    self._hold(message, place, number)
            else:
                kind = next((key for key in _OTHERS if key in record), "")
                self._unsent[kind or type_of(record)] += size
                if not kind:
                    file.counts.unknown[type_of(record)] += 1
        self.segments.append((list(self._held.values()), None))
        holding = {held.place for segment, _ in self.segments for held in segment}
        if past := sum(size for place, size in sizes.items() if place not in holding):
            self._unsent["written again"] += past

    def _hold(self, message: Json, place: Place, number: int) -> None:
        key = field(message, "id")
        if not isinstance(key, str):
            return
        # Put at the position of the first one with its id: a dictionary keeps a key's position when its value changes, and so does
        # the host.
        self._held[key] = _Held(key, place, number)
        tokens = message.get("tokens")
        if isinstance(tokens, dict):
            taken, made, cached = (whole_number(tokens.get(name)) for name in ("input", "output", "cached"))
            if thought := whole_number(tokens.get("thoughts")):  # Gemini's API counts them apart from the answer
                made = (made or 0) + thought
            model, at = string(message.get("model")), string(message.get("timestamp"))
            self.answers[key] = Answered(taken, made, cached, model=model, at=at)

    def _take_back(self, key: str) -> None:
        """Forget a message and those after it; all of them if it is not held."""
        keys = list(self._held)
        for later in keys[keys.index(key) if key in self._held else 0 :]:
            del self._held[later]

    def _replace(self, messages: list[Json], place: Place) -> None:
        if _is_compaction(messages, self._held):
            answers = [self.answers[key] for key in self._held if key in self.answers]
            # The host does not record the size of what it compacted. The input of the last answer before is the nearest figure.
            before = answers[-1].input_tokens if answers else None
            at = next((string(message.get("timestamp")) for message in reversed(objects(messages))), "")
            self.segments.append((list(self._held.values()), Compacted(before, None, place, at)))
        self._held = {}
        for number, message in enumerate(messages):
            self._hold(message, place, number)


def _is_compaction(messages: list[Json], held: dict[str, _Held]) -> bool:
    """Return whether messages begin with a summary that the model was never asked to answer."""
    # Nothing marks a compaction except two messages together: a summary in the person's name, and the host's fixed answer to it
    # under an id that no answer had. The context that is renewed at each start may precede them.
    begun = [message for message in objects(messages) if not _words(message).startswith(_CONTEXT)][:2]
    return (
        len(begun) == 2
        and [type_of(message) for message in begun] == ["user", "gemini"]
        and _words(begun[1]) == ACKNOWLEDGED
        and string(begun[1].get("id")) not in held
    )


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session."""
    index = _Index(file)
    told = _Told(file, index.answers)
    for segment, compacted in index.segments:
        for held in segment:
            yield from told.message(held)
        if compacted is not None:
            yield compacted
            told.begin_anew()


class _Told:
    """What was yielded so far, in the whole session and since the last compaction."""

    def __init__(self, file: SessionFile, answers: dict[str, Answered]) -> None:
        self._file = file
        self._answers = answers
        self._ids: set[str] = set()
        self._ever_answered: set[str] = set()
        self._answered: set[str] = set()
        self._has_context = False
        self._begins_with_summary = False
        self._list: tuple[Place, list[Json]] = (NOWHERE, [])

    def begin_anew(self) -> None:
        """Note a compaction: a summary, the host's reply to it, and what stays follow."""
        self._answered = set()
        self._has_context = False
        self._begins_with_summary = True

    def message(self, held: _Held) -> Iterator[Happening]:
        """Yield a message, preceded by an answer's figures."""
        message, unsent = self._read(held), self._file.counts.unsent_bytes
        kind, parts = type_of(message), _parts(message)
        at, again = string(message.get("timestamp")), held.id in self._ids
        self._ids.add(held.id)
        said = Said(None, held.place, at, again=again)
        if kind == "user":
            yield from self._user(parts, said)
        elif kind == "gemini":
            if held.id in self._answers and not again:
                yield self._answers[held.id]
            yield from self._model(message, parts, said)
        elif kind == "error" and _REFUSED in _words(message):
            yield Refused(_words(message), held.place, at)
        else:
            unsent[kind] += len(as_json(message))
            if kind not in _QUIET:
                self._file.counts.unknown[kind] += 1

    def _read(self, held: _Held) -> Record:
        if held.number < 0:
            return self._file.record(held.place)
        # One record may hold a whole history: it is read once for all its consecutive messages, and only one is held at a time.
        if self._list[0] != held.place:  # its messages are read one after another
            record = self._file.record(held.place)
            listed = field(record, "$set", "messages") or record.get("messages")
            self._list = held.place, listed if isinstance(listed, list) else []
        messages = self._list[1]
        message = messages[held.number] if held.number < len(messages) else {}
        return message if isinstance(message, dict) else {}

    def _user(self, parts: list[Record], said: Said) -> Iterator[Said]:
        own: list[Record] = []
        for part in parts:
            text = string(part.get("text"))
            if text.startswith(_CONTEXT):
                # The host renews it at each start, and drops older ones.
                if not self._has_context:
                    yield said._replace(message=_content("user", [part]), by_host=True)
                self._has_context = True
            elif hooks := _HOOKS.match(text):
                yield said._replace(message=_content("user", [{"text": hooks[0]}]), by_host=True)
                if rest := text[hooks.end() :]:
                    own.append({**part, "text": rest})
            else:
                own.append(part)
        if own and self._begins_with_summary:
            self._begins_with_summary = False
            yield said._replace(message=_content("user", own), by_host=True, is_summary=True)
            return
        yield from self._results(own, said)

    def _model(self, message: Record, parts: list[Record], said: Said) -> Iterator[Said]:
        """Yield an answer, and then the results in it."""
        unsent, calls = self._file.counts.unsent_bytes, objects(message.get("toolCalls"))
        thoughts = message.get("thoughts") or [part for part in parts if part.get("thought")]
        if thoughts:
            unsent["thoughts"] += len(as_json(thoughts))
        own = [part for part in parts if not part.get("thought")]
        if not any("functionCall" in part for part in own):
            own += [{"functionCall": {key: call.get(key) for key in ("id", "name", "args")}} for call in calls]
        if own:
            by_host = own == [{"text": ACKNOWLEDGED}]
            yield said._replace(message=_content("model", own), by_host=by_host)
        for call in calls:
            unsent["copies of results"] += sum(len(as_json(call[key])) for key in _SHOWN if call.get(key))
        yield from self._results([part for call in calls for part in _results(call)], said)

    def _results(self, parts: list[Record], said: Said) -> Iterator[Said]:
        """Yield parts; those that answer an already answered call come separately, because the host sends them again."""
        group: list[Record] = []
        is_copy, again = False, said.again
        for part in parts:
            call = string(field(part, "functionResponse", "id"))
            # A part without an id, such as a picture, belongs to the result before it.
            part_is_copy = call in self._answered if call else is_copy
            # Repeated results are yielded separately: they take room again in each request, but are not new work.
            if part_is_copy != is_copy and group:
                yield said._replace(message=_content("user", group), by_host=is_copy, again=again)
                group, again = [], said.again
            is_copy = part_is_copy
            if call:
                again = again or (not is_copy and call in self._ever_answered)
                self._answered.add(call)
                self._ever_answered.add(call)
            group.append(part)
        if group:
            yield said._replace(message=_content("user", group), by_host=is_copy, again=again)


def _content(role: str, parts: list[Record]) -> Json:
    return {"role": role, "parts": parts}


def _parts(message: Record) -> list[Record]:
    """Return a message's parts that are not empty."""
    content = message.get("content")
    parts: list[Any] = [{"text": content}] if isinstance(content, str) else objects(content)
    return [part for part in parts if any(key != "text" or value for key, value in part.items())]


def _words(message: Json) -> str:
    """Return the first words of a message."""
    content = field(message, "content")
    return content if isinstance(content, str) else next((string(part.get("text")) for part in objects(content)), "")


def _results(call: Record) -> Iterator[Record]:
    """Yield the results of a call and what came with them; a failed or refused one says so."""
    for part in objects(call.get("result")):
        response = part.get("functionResponse")
        if not isinstance(response, dict):
            yield part
            continue
        if string(call.get("status")) in {"error", "cancelled"} and not field(response, "response", "error"):
            output = field(response, "response", "output")
            response = {
                **response,
                "response": {"error": output if isinstance(output, str) else string(call.get("status"))},
            }
        yield {"functionResponse": response}
