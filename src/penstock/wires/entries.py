"""Who said what? One entry per message or item of a wire, with its parts independent of the wire's format.

`raw` is the wire's own object, exactly as it came; parts are a reading of it and are never written back on the same wire. That
is why loading and dumping return the same bytes: unknown keys, key order and every signature are in `raw`, while everything that
counts, searches or converts looks at the parts.

Laws: every message has an entry, whatever is in it; what is not understood is an `Opaque` part, never an error. Leaves to others:
wires (each has its codec), and what is visible (`history`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from penstock.text.json_access import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

Role = Literal["system", "user", "assistant", "tool"]
"""Who speaks in an entry. `tool` is an entry that holds only results, even on wires that write it as a user's message."""


UNREAD = "INVALID_JSON"
"""The key under which a wire that carries arguments as an object holds a text that is not JSON: Anthropic's own advice."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words of a message, including a model's refusal to answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, a document or a sound in a message: never inspected, kept or removed as a whole."""

    kind: str
    """`image`, `audio`, `file`, or the wire's own word."""
    bytes_estimate: int
    """Approximate number of bytes in the request; 0 for a link or an id."""
    raw: Json = field(repr=False)
    """The original block."""
    media_type: str = ""
    """The MIME type, such as `image/png`; empty if the wire does not say."""
    data: str = field(default="", repr=False)
    """Base64, if the data is in the request."""
    url: str = field(default="", repr=False)
    """The address, if only that is in the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, as a model made it."""

    id: str
    """The id that the result of a call names. On wires whose calls may lack ids, one is made from name and position."""
    name: str
    arguments: str
    """The text that the model wrote, to the character; for a `custom` call it need not be JSON. If the wire carries an object, this
    is its JSON."""
    kind: str = "function"
    """`function`, `custom` (free text), or the wire's own type for its own tools, such as `shell_call`."""
    caller: Json = field(default=None, repr=False)
    """The program of the model's that made the call, where a wire wants the result to name it again; else None."""

    @property
    def values(self) -> dict[str, Json]:
        """The arguments by name; empty if they are not a JSON object."""
        is_json, value = parsed(self.arguments)
        return value if is_json and isinstance(value, dict) else {}

    @property
    def unread(self) -> str | None:
        """What the model wrote as arguments if it is not a JSON object; None if it is one, or nothing was written."""
        is_json, value = parsed(self.arguments.strip() or "null")
        if is_json and value is None:
            return None
        if not is_json or not isinstance(value, dict):
            return self.arguments
        kept = value.get(UNREAD)
        return kept if isinstance(kept, str) and len(value) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call returned."""

    call_id: str
    """The id of the call that a result answers."""
    text: str
    """All of a result's text, with the texts of several parts on lines of their own."""
    parts: tuple[Text | Media | Opaque, ...] = ()
    """The parts of a result, if it also holds media or something that only its wire understands."""
    is_error: bool = False
    """Whether the tool failed, as far as the wire says so."""
    is_clearable: bool = True
    """Whether another text may take a result's place; False if the wire demands the original, as for a screenshot."""
    is_cited: bool = False
    """Whether an answer in the same message cites the result, so that both are worth more whole; its citations go with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """What a model thought; it means something only to the provider that it came from."""

    raw: Json = field(repr=False)
    """The original block or item."""
    signed: bool
    """Whether the provider signed or encrypted it: then it stays byte for byte, or goes with its whole turn."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that only its own wire understands: server tools, references, future additions."""

    raw: Json = field(repr=False)
    """The original block or item."""


Part: TypeAlias = Text | Media | ToolCall | ToolResult | Reasoning | Opaque
"""What one message consists of, in its original order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message or item of a transcript, or a note in place of several."""

    index: int
    """The position of the entry in the transcript, from 0; it stays the same whatever is left out before it."""
    last_index: int
    """The position of the last entry that a note stands for; for any other entry its own."""
    wire: str
    """The name of the wire on which `raw` is written."""
    role: Role
    parts: tuple[Part, ...]
    """A reading of `raw`, for code that counts, searches or converts."""
    raw: Json = field(repr=False)
    """The message exactly as it came, or as an edit left it: what a request on this wire carries."""
    pinned: bool = False
    """Whether the entry has to stay as it is."""
    is_note: bool = False
    """Whether the entry is a note of ours in place of what was left out, said by nobody."""
    counts: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    """Tokens of the entry's parts and the counter that found them: a cache for bills, so that no history is counted at
    every step."""

    @property
    def text(self) -> str:
        """The entry's words, one part a line, without tool results."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls that the entry makes, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results that the entry holds, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def is_signed(self) -> bool:
        """Whether the entry holds reasoning that the provider signed or encrypted."""
        return any(isinstance(part, Reasoning) and part.signed for part in self.parts)

    @property
    def speaks(self) -> bool:
        """Whether a person speaks here: a user's text or media, possibly next to tool results."""
        return self.role == "user" and not self.is_note and any(isinstance(part, Text | Media) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Adjacent entries that are kept or left out as a whole.

    An assistant's turn holds its calls and all their results. A step whose calls rest on reasoning signed in an earlier
    step of the same tool loop belongs to that step.
    """

    kind: Literal["system", "user", "assistant", "note"]
    """Who began the turn: results belong to the assistant's turn whose calls they answer, or to `user` if those are gone."""
    entries: tuple[Entry, ...]
    """At least one entry, in order."""

    @property
    def first(self) -> int:
        """The position of the turn's first entry in the transcript."""
        return self.entries[0].index

    @property
    def last(self) -> int:
        """The position in the transcript of the last entry that the turn holds or that a note in it stands for."""
        return self.entries[-1].last_index

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)
