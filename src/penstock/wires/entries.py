"""Who said what? One entry per message or item of a wire, and its parts without the wire's shapes.

`raw` is the wire's own object, exactly as it came; parts are a reading of it and never written back where the wire is the
same. Keeps out: wires (each has its codec), and what is visible (`history`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from penstock.text.json_access import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Text:
    """What was said, a refusal included."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, a document, a sound: opaque, kept or removed whole."""

    kind: str
    """`image`, `audio`, `file`, or the wire's own word."""
    bytes_estimate: int
    """About how many bytes travel in the request; 0 for a link or an id."""
    raw: Json = field(repr=False)
    media_type: str = ""
    data: str = field(default="", repr=False)
    """Base64, where it travels in the request."""
    url: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`arguments` is the text that the model wrote, to the character; for `kind="custom"` it need not be JSON."""

    id: str
    name: str
    arguments: str
    kind: str = "function"

    @property
    def values(self) -> dict[str, Json]:
        """The arguments by name; none where they are no object."""
        is_json, value = parsed(self.arguments)
        return value if is_json and isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call returned. `text` is all of its text; `is_clearable` is False where the wire demands the original."""

    call_id: str
    text: str
    parts: tuple[Text | Media | Opaque, ...] = ()
    is_error: bool = False
    is_clearable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """What a model thought. Signed or encrypted, it stays byte for byte or goes with its turn."""

    raw: Json = field(repr=False)
    signed: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that only its own wire understands: server tools, references, whatever comes next year."""

    raw: Json = field(repr=False)


Part: TypeAlias = Text | Media | ToolCall | ToolResult | Reasoning | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message or item. `index` is its place in the transcript; a note stands for `index` to `last_index`."""

    index: int
    last_index: int
    wire: str
    role: Role
    parts: tuple[Part, ...]
    raw: Json = field(repr=False)
    pinned: bool = False
    is_note: bool = False
    counts: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    """What its parts were counted as and by which counter: the bill's memory, so that no history is counted at every step."""

    @property
    def text(self) -> str:
        """What it says in words; results of tools are not among them."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def is_signed(self) -> bool:
        """Whether it holds reasoning that the provider signed or encrypted."""
        return any(isinstance(part, Reasoning) and part.signed for part in self.parts)

    @property
    def speaks(self) -> bool:
        """Whether a person speaks here: a user's text or media, beside any results of tools."""
        return self.role == "user" and not self.is_note and any(isinstance(part, Text | Media) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is kept or left out whole: `entries` from `first` to `last` of the transcript.

    An assistant's turn holds its calls and all their results. A step whose calls rest on reasoning signed in an earlier
    step of the same tool loop belongs to that step.
    """

    kind: Literal["system", "user", "assistant", "note"]
    entries: tuple[Entry, ...]

    @property
    def first(self) -> int:
        return self.entries[0].index

    @property
    def last(self) -> int:
        return max(entry.last_index for entry in self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)
