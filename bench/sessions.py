"""What did agents really say? Public transcripts as message lists that a provider would accept, and what their calls needed.

Where they are is described in `docs/replay.md`. Leaves to others: what is forgotten of them (`policies`), and what that costs
(`replay`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.text.json_access import as_json
from penstock.wires import load, repair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.wires import Entry, Transcript

    Needed = Callable[[Transcript], dict[int, list[str]]]

Json = Any

_LINES = re.compile(r"edit (\d+):(\d+)\s*\n(.*?)(?:\nend_of_edit\s*)?", re.DOTALL)
_OPEN = re.compile(r"^\(Open file: (.*)\)\s*$", re.MULTILINE)
_MOVES = {"goto", "scroll_up", "scroll_down"}


@dataclass(frozen=True, kw_only=True)
class Session:
    """A conversation on a wire. `needs` has, by the index of an assistant's message, the texts that its calls need: what an edit
    replaces, or in a dialogue the identifiers that it names.
    """

    name: str
    wire: str
    messages: list[Json]
    needs: dict[int, list[str]]

    @property
    def calls(self) -> list[int]:
        """The messages that a model wrote; the messages before one made up its request."""
        return [index for index, message in enumerate(self.messages) if message["role"] == "assistant"]


def session(name: str, wire: str, messages: list[Json], needed: Needed | None = None) -> Session:
    """The form that a provider accepts: unanswered calls closed, empty messages dropped, neighbours merged."""
    whole = repair(messages, wire)
    if whole.left:
        raise ValueError(f"{name} cannot be sent: {whole.left[0]}")
    found = (needed or needs)(load(whole.messages, wire))
    return Session(name=name, wire=wire, messages=whole.messages, needs=found)


def corpus(place: str, half: int | None = None) -> Iterator[Session]:
    """The sessions in a file, or those below a folder in the order of their names; of one half, 0 or 1, or all."""
    for name, content in _contents(place):
        for one in READERS[os.path.splitext(name)[1]](name, content.decode()):
            if half is None or half_of(one.name) == half:
                yield one


def half_of(name: str) -> int:
    """The half to which a session belongs, by its name alone; trials of one task are in the same half."""
    return hashlib.sha256(f"penstock {name.partition('#')[0]}".encode()).digest()[0] % 2


def digest(place: str) -> str:
    """SHA-256 of a file; for a folder, of the output of `sha256sum` for its sessions in the order of their names."""
    digests = [(hashlib.sha256(content).hexdigest(), name) for name, content in _contents(place)]
    if os.path.isfile(place):
        return digests[0][0]
    return hashlib.sha256("".join(f"{one}  {name}\n" for one, name in digests).encode()).hexdigest()


def _contents(place: str) -> Iterator[tuple[str, bytes]]:
    folder = os.path.dirname(place) if os.path.isfile(place) else place
    found = [os.path.join(top, name) for top, _, names in os.walk(place) for name in names] or [place]
    for path in sorted(path for path in found if os.path.splitext(path)[1] in READERS):
        with open(path, "rb") as file:
            yield os.path.relpath(path, folder), file.read()


# ── pi: one JSON line per event, in the words of Anthropic's API ─────────────────────────────────────────────────────


def pi(name: str, text: str) -> list[Session]:
    """A session of the coding agent pi; its own compactions are skipped, so that the history is whole."""
    rows = [json.loads(line) for line in text.splitlines()]
    said = [row["message"] for row in rows if row["type"] == "message"]
    return [session(name, "anthropic", [_from_pi(message) for message in said])]


def _from_pi(message: Json) -> Json:
    if message["role"] == "bashExecution":
        return {"role": "user", "content": f"Ran `{message['command']}`\n{message['output']}"}
    if message["role"] == "toolResult":
        result = {
            "type": "tool_result",
            "tool_use_id": message["toolCallId"],
            "content": [_block(part) for part in message["content"]],
            "is_error": message["isError"],
        }
        return {"role": "user", "content": [result]}
    content = message["content"]
    return {
        "role": message["role"],
        "content": content if isinstance(content, str) else [_block(part) for part in content],
    }


def _block(part: Json) -> Json:
    match part["type"]:
        case "toolCall":
            return {"type": "tool_use", "id": part["id"], "name": part["name"], "input": part["arguments"]}
        case "thinking":
            return {
                "type": "thinking",
                "thinking": part["thinking"],
                "signature": part.get("thinkingSignature", ""),
            }
        case "image":
            source = {"type": "base64", "media_type": part["mimeType"], "data": part["data"]}
            return {"type": "image", "source": source}
        case _:
            return {"type": "text", "text": part["text"]}


# ── SWE-agent: one JSON document, with calls or with commands in the text ────────────────────────────────────────────


def swe_agent(name: str, text: str) -> list[Session]:
    """A trajectory of SWE-agent on the wire of OpenAI chat; a command in the text becomes a call, its output the call's result."""
    messages: list[Json] = []
    asked, shown = "", ""
    for number, said in enumerate(json.loads(text)["history"]):
        content = _words(said.get("content"))
        if said["role"] == "assistant":
            calls = said.get("tool_calls")
            if not calls and said.get("action"):
                calls = [_call(f"call_{number}", said["action"].rstrip("\n"), shown)]
            thought = _words(said.get("thought")) if calls else content
            messages.append(
                {"role": "assistant", "content": thought or None} | ({"tool_calls": calls} if calls else {})
            )
            asked = calls[0]["id"] if calls else ""
        elif asked:
            messages.append({"role": "tool", "tool_call_id": asked, "content": content})
            asked, shown = "", _open_file(content)
        else:
            messages.append({"role": said["role"], "content": content})
    return [session(name, "openai-chat", messages)]


def _words(content: Json) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


def _call(name: str, action: str, shown: str) -> Json:
    tool, arguments = _asked(action, shown)
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def _asked(action: str, shown: str) -> tuple[str, dict[str, Json]]:
    """The tool and its arguments that a command means; `shown` is the open file."""
    tool, _, rest = action.partition(" ")
    words = rest.strip().strip("\"'")
    if edit := _LINES.fullmatch(action):
        return "edit", {"path": shown, "start_line": int(edit[1]), "end_line": int(edit[2]), "text": edit[3]}
    if tool == "open":
        path, _, line = rest.strip().rpartition(" ")
        if path and line.isdigit():
            return "open", {"path": path.strip("\"'"), "line": int(line)}
        return "open", {"path": words}
    if tool in _MOVES:
        return tool, {"path": shown} | ({"line": int(words)} if words.isdigit() else {})
    if tool == "create":
        return "create", {"path": words}
    if tool == "find_file":
        return "find_file", {"pattern": words}
    if tool in {"search_file", "search_dir"}:
        pattern, _, path = rest.strip().rpartition(" ")
        if pattern and not path.endswith(("'", '"')):
            return tool, {"pattern": pattern.strip("\"'"), "path": path}
        return tool, {"pattern": words} | ({"path": shown} if tool == "search_file" else {})
    if tool == "submit":
        return "submit", {}
    return "bash", {"command": action}


def _open_file(text: str) -> str:
    found = _OPEN.findall(text)
    return found[-1] if found and found[-1] != "n/a" else ""


# ── tau-bench: a customer and an agent with tools, in the words of OpenAI's API ──────────────────────────────────────


def tau(name: str, text: str) -> list[Session]:
    """The dialogues of tau-bench in a file, each named by its task and its trial."""
    stem = os.path.splitext(name)[0]
    return [
        session(f"{stem} {one['task_id']}#{one['trial']}", "openai-chat", one["traj"], identifiers)
        for one in json.loads(text)
    ]


READERS: dict[str, Callable[[str, str], Sequence[Session]]] = {".jsonl": pi, ".traj": swe_agent, ".json": tau}


# ── what an edit needed ──────────────────────────────────────────────────────────────────────────────────────────────


def needs(transcript: Transcript) -> dict[int, list[str]]:
    """By the index of the message that edits: the replaced text, if it occurs in anything said before."""
    found: dict[int, list[str]] = {}
    before: list[str] = []
    for entry in transcript.entries:
        for call in entry.calls:
            if call.name != "edit":
                continue
            values = call.values
            text = values.get("oldText") or values.get("search") or _numbered(values, before)
            if isinstance(text, str) and text.strip() and any(text in said for said in before):
                found.setdefault(entry.index, []).append(text)
        before.append(spoken(entry))
    return found


_IDENTIFIER = re.compile(r'"([^"\s]{5,}|[A-Z]{2,}\d+)"')


def identifiers(transcript: Transcript) -> dict[int, list[str]]:
    """By the index of the message that calls: words in its arguments that were said before and contain a digit.

    Numbers of customers, orders and flights, dates, means of payment: a model that cannot see them must ask again, or guesses.
    """
    found: dict[int, list[str]] = {}
    before: list[str] = []
    for entry in transcript.entries:
        named = {text for call in entry.calls for text in _IDENTIFIER.findall(as_json(call.values))}
        needed = [text for text in sorted(named) if _DIGIT.search(text) and any(text in said for said in before)]
        if needed:
            found[entry.index] = needed
        before.append(spoken(entry))
    return found


_DIGIT = re.compile(r"\d")


def _numbered(values: dict[str, Json], before: Sequence[str]) -> str:
    """The lines that an edit by number replaces, as shown in the newest view of that file that contains them all."""
    first, last = values.get("start_line"), values.get("end_line")
    if not isinstance(first, int) or not isinstance(last, int):
        return ""
    shown = next((path for said in reversed(before) if (path := _open_file(said))), "")
    wanted = [f"{number}:" for number in range(first, last + 1)]
    for said in reversed(before):
        if _open_file(said) != shown:
            continue
        lines = said.split("\n")
        for place, line in enumerate(lines):
            if line.startswith(wanted[0]) and _all_start(lines[place : place + len(wanted)], wanted):
                block = lines[place : place + len(wanted)]
                is_blank = not any(line.removeprefix(start).strip() for line, start in zip(block, wanted, strict=True))
                return "" if is_blank else "\n" + "\n".join(block) + "\n"
    return ""


def _all_start(lines: Sequence[str], starts: Sequence[str]) -> bool:
    return len(lines) == len(starts) and all(line.startswith(s) for line, s in zip(lines, starts, strict=True))


def spoken(entry: Entry) -> str:
    """Everything that a model reads in a message: words, results, and the arguments of calls, decoded."""
    return "\n".join(["", *_pieces(entry), ""])


def _pieces(entry: Entry) -> Iterable[str]:
    yield entry.text
    for call in entry.calls:
        yield call.name
        yield from (str(value) for value in call.values.values())
    for result in entry.results:
        yield result.text
