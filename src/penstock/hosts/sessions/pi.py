"""How is a session of pi read: `~/.pi/agent/sessions/--FOLDER--/TIME_ID.jsonl` (its format 3; 0.73.1)?

Entries form a tree: the newest determines the session's path, and entries off the path are not sent. A compaction names the first
entry that stays, so everything from there on is yielded again after its summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import Answered, Compacted, Place, Refused, Said
from penstock.text.json_access import as_json, blocks, field, role_of, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json

WIRE = "openai-chat"
_OTHERS = frozenset({"custom", "label", "model_change", "session", "session_info", "thinking_level_change"})
_TALK = frozenset({"message", "custom_message", "branch_summary", "compaction"})
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary"})
_COMPACTED = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)
_BRANCHED = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}</summary>"
_ATTACHED = "Attached image(s) from tool result:"


def head(file: SessionFile, _path: str) -> Head:
    """Return a session's metadata from its first record: the version is the format's, not the host's."""
    for _, record in file.records():
        if type_of(record) == "session":
            session, folder, started = (string(record.get(key)) for key in ("id", "cwd", "timestamp"))
            return Head(session, folder, started=started)
    return Head()


class _Known(NamedTuple):
    """What must be known of all entries before the first can be yielded."""

    key: str
    parent: str
    place: Place


def _on_the_way(file: SessionFile) -> list[_Known]:
    """Return the entries on the path that leads to the newest one, back to the first gap; in files of format 1, all of them."""
    known: dict[str, _Known] = {}
    last, size_bytes = "", 0
    for number, (place, record) in enumerate(file.records()):
        kind, size = type_of(record), place.end_byte - place.start_byte
        if kind not in _TALK:
            file.counts.unsent_bytes[kind] += size
            if kind not in _OTHERS:
                file.counts.unknown[kind] += 1
        if kind == "session":
            continue
        key = string(record.get("id")) or f"#{number}"
        parent = string(record["parentId"]) if "parentId" in record else last
        known[key] = _Known(key, parent, place)
        last = key
        size_bytes += size if kind in _TALK else 0
    way: dict[str, _Known] = {}
    while last in known and last not in way:
        way[last] = known[last]
        last = known[last].parent
    made = list(reversed(way.values()))
    if away := size_bytes - sum(one.place.end_byte - one.place.start_byte for one in made):
        file.counts.unsent_bytes["taken back"] += max(0, away)
    return made


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session."""
    way = _on_the_way(file)
    told = _Told(file)
    numbers = {one.key: number for number, one in enumerate(way)}
    for number, one in enumerate(way):
        record = file.record(one.place)
        if type_of(record) == "compaction":
            yield from told.rest()
            at = string(record.get("timestamp"))
            yield Compacted(whole_number(record.get("tokensBefore")), None, one.place, at)
            words = _COMPACTED.format(string(record.get("summary")))
            yield Said({"role": "user", "content": words}, one.place, at, by_host=True, is_summary=True)
            begun = numbers.get(string(record.get("firstKeptEntryId")), number)
            for place in file.told_again(way[before].place for before in range(begun, number)):
                again = told.entry(file.record(place), place)
                yield from (said._replace(again=True) for said in again if isinstance(said, Said))
            yield from (said._replace(again=True) for said in told.rest())
        else:
            yield from told.entry(record, one.place)
    yield from told.rest()


class _Told:
    """What was yielded so far. Images of results wait: they are sent after all results of their answer."""

    def __init__(self, file: SessionFile) -> None:
        self._counts = file.counts
        self._images: list[Said] = []

    def rest(self) -> Iterator[Said]:
        """Yield the waiting images."""
        yield from self._images
        self._images.clear()

    def entry(self, record: Record, place: Place) -> Iterator[Happening]:
        """Yield what happened in an entry."""
        message, at = record.get("message"), string(record.get("timestamp"))
        match type_of(record):
            case "custom_message":
                yield from self._user(record.get("content"), Said(None, place, at, by_host=True))
            case "branch_summary" if string(record.get("summary")):
                words = _BRANCHED.format(string(record.get("summary")))
                yield from self._user(words, Said(None, place, at, by_host=True, is_summary=True))
            case "message":
                yield from self._message(message, Said(None, place, at))

    def _message(self, message: Json, said: Said) -> Iterator[Happening]:
        role = role_of(message)
        if role == "assistant":
            yield from self._assistant(message, said)
        elif role == "toolResult":
            yield from self._result(message, said)
        elif role == "bashExecution":
            if not message.get("excludeFromContext"):
                yield from self._user(_ran(message), said)
        elif role in {"user", "custom"}:
            yield from self._user(message.get("content"), said._replace(by_host=role == "custom"))
        elif role not in _ROLES:
            self._counts.unknown[f"message {role}"] += 1

    def _user(self, content: Json, said: Said) -> Iterator[Said]:
        yield from self.rest()
        made = [block for one in blocks(content) for block in _block(one)]
        if made:
            is_text = len(made) == 1 and type_of(made[0]) == "text"
            yield said._replace(message={"role": "user", "content": made[0]["text"] if is_text else made})

    def _assistant(self, message: Record, said: Said) -> Iterator[Happening]:
        yield from self.rest()
        stopped = string(message.get("stopReason"))
        if stopped in {"error", "aborted"}:  # such an answer is not sent again
            if stopped == "error":
                yield Refused(string(message.get("errorMessage")), said.place, said.at)
            return
        yield from _answered(message, said.at)
        content = blocks(message.get("content"))
        words = "".join(string(block.get("text")) for block in content if type_of(block) == "text")
        thought = "\n".join(string(block.get("thinking")) for block in content if type_of(block) == "thinking")
        calls = [_call(block) for block in content if type_of(block) == "toolCall"]
        made: Record = {"role": "assistant", "content": words}
        made |= {"reasoning_content": thought} if thought else {}
        if words or calls or thought:
            yield said._replace(message={**made, "tool_calls": calls} if calls else made)

    def _result(self, message: Record, said: Said) -> Iterator[Said]:
        content = blocks(message.get("content"))
        words = "\n".join(string(block.get("text")) for block in content if type_of(block) == "text")
        if details := message.get("details"):
            self._counts.unsent_bytes["copies of results"] += len(as_json(details))
        images = [made for block in content if type_of(block) == "image" for made in _block(block)]
        call = string(message.get("toolCallId"))
        yield said._replace(
            message={
                "role": "tool",
                "tool_call_id": call,
                "content": words or (images and "(see attached image)") or "",
            }
        )
        if images:
            attached = {"role": "user", "content": [{"type": "text", "text": _ATTACHED}, *images]}
            self._images.append(said._replace(message=attached, by_host=True))


def _answered(message: Record, at: str) -> Iterator[Answered]:
    keys = ("input", "output", "cacheRead", "cacheWrite")
    fresh, made, read, written = (whole_number(field(message, "usage", key)) for key in keys)
    if given := (fresh or 0) + (read or 0) + (written or 0):
        yield Answered(given, made, read, written, model=string(message.get("model")), at=at)


def _block(block: Record) -> Iterator[Record]:
    if type_of(block) == "text" and string(block.get("text")):
        yield {"type": "text", "text": block["text"]}
    elif type_of(block) == "image":
        url = f"data:{string(block.get('mimeType'))};base64,{string(block.get('data'))}"
        yield {"type": "image_url", "image_url": {"url": url}}


def _call(block: Record) -> Record:
    given = block.get("arguments")
    function = {"name": string(block.get("name")), "arguments": as_json({} if given is None else given)}
    return {"id": string(block.get("id")), "type": "function", "function": function}


def _ran(message: Record) -> str:
    """Return a command that the person ran, in the words for the model."""
    output, code = string(message.get("output")), message.get("exitCode")
    words = f"Ran `{string(message.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    if message.get("cancelled"):
        return f"{words}\n\n(command cancelled)" + _cut(message)
    return words + (f"\n\nCommand exited with code {code}" if code and isinstance(code, int) else "") + _cut(message)


def _cut(message: Record) -> str:
    whole = string(message.get("fullOutputPath"))
    return f"\n\n[Output truncated. Full output: {whole}]" if message.get("truncated") and whole else ""
