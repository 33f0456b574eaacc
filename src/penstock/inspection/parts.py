"""What is a message made of, and which call does a result answer? Messages of a wire as parts that occupy the window.

Law: any JSON is a message, and none of its text is kept after it was read, except for calls that await their results. Leaves to
others: what is in the window when (`standing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.context.activity import actions
from penstock.inspection.standing import Answer, Held, brief
from penstock.text import stand_ins
from penstock.text.json_access import as_json
from penstock.wires import Entry, Media, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript, wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.context.activity import Action
    from penstock.inspection.timeline import Said
    from penstock.text.json_access import Json
    from penstock.wires import Part
    from penstock.wires.entries import Role


_SIGNATURES = frozenset({"signature", "thoughtSignature", "thought_signature"})
_ENCRYPTED = ("encrypted_content", "data")


class _Call:
    """A call whose result may still come; its arguments are kept until then."""

    __slots__ = ("asked", "held", "waiting")

    def __init__(self, part: ToolCall, held: Held) -> None:
        self.asked = held.key
        self.held = held
        self.waiting: ToolCall | None = part


class PartReader:
    """Reads the messages of one session."""

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._codec = wire_named(wire).codec
        self._before: Json = None
        self._calls: dict[str, _Call] = {}

    def forget(self) -> None:
        """Record that no call is pending any more; those without a result now say what they were about."""
        for call in self._calls.values():
            if call.waiting is not None:
                call.held.what = _what(actions(self._paired(call.waiting)))
        self._before, self._calls = None, {}

    def read(self, said: Said) -> Entry:
        """Return a message with its parts as they are counted."""
        role, parts = self._codec.read(said.message, self._before)
        self._before = said.message
        is_note = any(stand_ins.is_note(part.text) for part in parts if isinstance(part, Text))
        return self._entry(role, tuple(countable(parts)), said.message, is_note=is_note)

    def held(
        self, said: Said, entry: Entry, counts: Sequence[int], asked_before: int
    ) -> Iterator[tuple[Held, Answer | None]]:
        """Yield the parts of a message as they are held in the window, each with the answer that it is, if it is one.

        Args:
            said: how it was said.
            entry: the message, as `read` returned it.
            counts: the tokens of each of its parts.
            asked_before: how many requests had been made before it.
        """
        for part, tokens in zip(entry.parts, counts, strict=True):
            kind, answer = _kind(part, entry, said), None
            name = what = ""
            match part:
                case Text(text):
                    key, what = hash(text), brief(text)
                case ToolCall():
                    # What it was about is derived together with its result, from both at once.
                    key, name = hash((part.name, part.arguments)), part.name
                case ToolResult():
                    answer = self._answer(part, entry, tokens)
                    key, name, what = answer.key, answer.name, answer.what
                case Media():
                    key, name = hash(part.data or part.url or as_json(part.raw)), part.media_type or part.kind
                case _:
                    key = hash(as_json(part.raw))
            held = Held(kind, tokens, key, name, what, said.place, asked_before)
            if isinstance(part, ToolCall):
                self._calls[part.id] = _Call(part, held)
            yield held, answer

    def _answer(self, part: ToolResult, entry: Entry, tokens: int) -> Answer:
        """Return a result as the answer to its call."""
        call = self._calls.get(part.call_id)
        if call is None:
            asked = hash(part.call_id)
            return Answer(asked, hash((asked, part.text)), "", brief(part.text), tokens)
        error = ""
        if call.waiting is not None:
            seen = actions(self._paired(call.waiting, part, entry.raw))
            call.held.what, call.waiting = _what(seen), None
            error = next((one.error_head for one in seen if one.failed), "")
        key, is_cleared = hash((call.asked, part.text)), stand_ins.is_cleared(part.text)
        return Answer(call.asked, key, call.held.name, call.held.what, tokens, error, is_cleared)

    def _paired(self, call: ToolCall, result: ToolResult | None = None, raw: Json = None) -> Transcript:
        """Return a conversation of one call, and of its result if that has come."""
        entries = [self._entry("assistant", (call,), None)]
        if result is not None:
            entries.append(self._entry("tool", (result,), raw, 1))
        return Transcript(wire=self._wire, entries=tuple(entries))

    def _entry(self, role: Role, parts: tuple[Part, ...], raw: Json, index: int = 0, *, is_note: bool = False) -> Entry:
        return Entry(index=index, last_index=index, wire=self._wire, role=role, parts=parts, raw=raw, is_note=is_note)


def _what(done: Iterable[Action]) -> str:
    """Return what a call was about: a path, a command, or its arguments as written."""
    return next((brief(one.path or one.command or one.asked) for one in done), "")


def countable(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts as they are counted: media of results after them, as a separate kind, and no signatures."""
    for part in parts:
        if isinstance(part, ToolResult) and any(isinstance(one, Media) for one in part.parts):
            plain = tuple(one for one in part.parts if not isinstance(one, Media))
            yield ToolResult(call_id=part.call_id, text=part.text, parts=plain, is_error=part.is_error)
            yield from (one for one in part.parts if isinstance(one, Media))
        elif isinstance(part, Reasoning):
            yield Reasoning(raw=_readable(part.raw), signed=part.signed)
        elif isinstance(part, Opaque):
            yield Opaque(_readable(part.raw))
        else:
            yield part


def _readable(raw: Json) -> Json:
    """Return a block roughly as large as a provider counts it, which reads what it signed or encrypted.

    A signature is not text of the model's. Encrypted text counts as its plain text: 3 bytes for 4 base64 letters, and about 4 bytes
    per token. Base64 letters themselves are counted as a token for each 1.4, so a quarter of them gives the same count.
    """
    if not isinstance(raw, dict):
        return raw
    made = {key: value for key, value in raw.items() if key not in _SIGNATURES}
    return made | {key: text[: len(text) // 4] for key in _ENCRYPTED if isinstance(text := raw.get(key), str)}


def _kind(part: Part, entry: Entry, said: Said) -> str:
    """Return the kind under which a story counts a part."""
    match part:
        case ToolCall():
            return "calls"
        case ToolResult():
            return "results"
        case Media():
            return "media"
        case Reasoning():
            return "reasoning"
    if entry.is_note or said.is_summary:
        return "summary"
    if entry.role == "system":
        return "instructions"
    if said.by_host:
        return "host"
    # Anything else in a message of results was said by the user, as far as a model can tell.
    return "assistant" if entry.role == "assistant" else "user"
