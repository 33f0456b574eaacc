"""What defines one provider API? One record with everything needed to read, check, mend, size, send and imitate its requests.

A *wire* is the JSON in which an API's requests and answers are written. Each folder next to this module makes one `Wire`, and
`table.py` lists them; no other room names a wire to decide anything. Rule 1: every part is required, and every part is a value
or a function of values, so that a forgotten part fails when the record is made, not when a user meets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from penstock.text.json_access import field

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairStep
    from penstock.wires.entries import Part, Role, ToolCall, ToolResult
    from penstock.wires.hidden_calls import HiddenCalls
    from penstock.wires.message_list import Invariant
    from penstock.wires.portable import PortableTurn

KeyPath: TypeAlias = tuple[str, ...]
"""The keys that lead from a body to a value in it, outermost first."""


class ToolDefinition(Protocol):
    """A tool as described to a model; `penstock.tools.Tool` is one."""

    @property
    def name(self) -> str:
        """The name that calls use."""
        ...

    @property
    def description(self) -> str:
        """What the tool does, for the model."""
        ...

    def schema(self) -> dict[str, object]:
        """The arguments of the tool as a JSON Schema."""
        ...


class Codec(Protocol):
    """How the messages of one wire are read and written. The `codec` module of each wire's folder is one."""

    def read(self, raw: Json, before: Json = None) -> tuple[Role, tuple[Part, ...]]:
        """Return the role and the parts of one message; what is not understood is an `Opaque` part.

        `before` is the previous message: on a wire whose results may lack ids, it shows which calls they answer.
        """
        ...

    def with_result(self, raw: Json, call_id: str, text: str, before: Json = None) -> Json:
        """Return the message with `text` as the result of that call; everything else in it stays."""
        ...

    def without_results(self, raw: Json) -> Json:
        """Return a user's message without the tool results that some wires put into it."""
        ...

    def text_message(self, role: str, text: str) -> Json:
        """Return a message that consists of one text, said by `user` or `assistant`."""
        ...

    def result_messages(self, results: Sequence[ToolResult], calls: Sequence[ToolCall]) -> list[Json]:
        """Return the messages that answer calls, which are given in the same order."""
        ...

    def read_system(self, system: Json) -> str:
        """Return the words of the instructions outside the messages."""
        ...

    def write_system(self, text: str) -> Json:
        """Return instructions as they are written outside the messages; None on a wire where they are messages."""
        ...

    def write(self, turns: Sequence[PortableTurn]) -> Written:
        """Return turns from another wire as messages of this one."""
        ...

    def tool_definitions(self, tools: Sequence[ToolDefinition]) -> list[Json]:
        """Return the tools as a request carries them."""
        ...

    def tool_names(self, tools: Json) -> list[str]:
        """Return the names of the tools that a request offers."""
        ...

    def call_message(self, call: Json) -> Json:
        """Return one call from an answer as a message of the assistant."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Messages that were converted to a wire, and the instructions that accompany them (None if they are messages)."""

    messages: list[Json]
    system: Json = None


MIN_THINKING_TOKENS: Final = 1_024
"""The smallest thinking budget: a budget is never lowered below it, and a smaller one stays."""
# Source: Anthropic's page on extended thinking. Gemini's models accept 128 or 512, too.


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLayout:
    """Where a request's body holds its messages, instructions, tools and requested reply length."""

    messages_key: str
    """The key of the message list, `messages` on most wires."""
    model_key: str
    """The key of the model's name, which some APIs take from the address instead of the body."""
    accepts_text: bool
    """Whether a plain string may take the place of the list."""
    system_paths: tuple[KeyPath, ...]
    """Every place where the instructions may be, the API's own first; none if they are messages."""
    tools_paths: tuple[KeyPath, ...]
    """Every place where the tools may be, the API's own first."""
    reply_schema_paths: tuple[KeyPath, ...]
    """Every place where a body may hold the form that the reply must have; the first one present counts."""
    reply_paths: tuple[KeyPath, ...]
    """Every place where the reply's length may be asked for; the first one present counts."""
    default_reply_path: Callable[[Json], KeyPath]
    """Where a body that names no length gets one."""
    shortest_reply_tokens: int
    """The shortest reply that the provider lets any body ask for."""
    thinking_paths: tuple[KeyPath, ...]
    """Every place where a body may limit thinking within its reply; none if the API has no such number."""
    constants: Mapping[str, Json]
    """Additional fields of every request that we compose."""
    resemblance: Callable[[dict[str, Json]], int]
    """How surely a body is of this wire: 0 not at all, 1 by its tools alone, 2 by its messages, 3 by keys of its own, 4 by
    something that no other wire has."""
    continues: Callable[[dict[str, Json]], bool]
    """Whether a body continues a conversation that the provider keeps, so that calls may be missing from it."""
    shrinks_there: Callable[[dict[str, Json]], bool]
    """Whether a body asks the provider to shrink the conversation itself if it is too large."""

    def min_reply_tokens(self, body: Json) -> int:
        """Return the shortest reply that the provider lets this body ask for: its thinking has to fit into it."""
        least = (min(tokens, MIN_THINKING_TOKENS) for _, tokens in self.thinking_of(body))
        return max(self.shortest_reply_tokens, max(least, default=0) + 1)

    def thinking_of(self, body: Json) -> list[tuple[KeyPath, int]]:
        """Return where a body says how much the model may think, and the number, for those that reserve tokens."""
        # Gemini's -1 lets the model decide and 0 turns thinking off: neither reserves anything.
        said = ((path, field(body, *path)) for path in self.thinking_paths)
        return [(path, tokens) for path, tokens in said if type(tokens) is int and tokens > 0]

    def system_of(self, body: Json) -> Json:
        """Return the instructions of a body that are outside its messages; None if there are none."""
        return _first_at(body, self.system_paths)

    def tools_of(self, body: Json) -> Json:
        """Return the tools that a body offers; None if there are none."""
        return _first_at(body, self.tools_paths)

    def reply_schema_of(self, body: Json) -> Json:
        """Return the form that a body wants its reply to have, which is input like a tool's schema; None if it says none."""
        # A form that only has a name, such as `text`, says none. SDKs take classes here, too; what they will write for one is not
        # known yet.
        asked = _first_at(body, self.reply_schema_paths)
        return asked if isinstance(asked, dict) and asked.keys() - {"type"} else None


def _first_at(body: Json, paths: tuple[KeyPath, ...]) -> Json:
    """Return the first value that a body has at one of these places, None if it has none."""
    return next((value for path in paths if (value := field(body, *path)) is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageKeys:
    """Where an answer reports its tokens; several keys are added up, of several holders the first one present counts."""

    holders: tuple[str, ...]
    input: tuple[str, ...]
    output: tuple[str, ...]
    cached: tuple[tuple[str, ...], ...]
    """Where an answer says how much input came from a cache: paths within the holder, the first one present."""
    written: tuple[tuple[str, ...], ...] = ()
    """Where an answer says how much input was written to a cache."""


class StreamReader(Protocol):
    """The events of one streamed answer, joined into the body that the provider would have sent unstreamed."""

    def feed(self, event: dict[str, Json]) -> str:
        """Take the next event, which is left unchanged; return the words that it adds for the user."""
        ...

    @property
    def is_ended(self) -> bool:
        """Whether no event can follow, though the connection may stay open."""
        ...

    @property
    def has_content(self) -> bool:
        """Whether any of the answer has come; from then on the request cannot be retried unnoticed."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the answer is complete: the provider said why it stopped."""
        ...

    def body(self) -> dict[str, Json]:
        """Return the body that the events add up to."""
        ...


class FrameReader(Protocol):
    """Splits the bytes of a stream that does not consist of server-sent events."""

    def feed(self, block: bytes) -> Iterator[str]:
        """Take the next bytes; yield the JSON of each event that they complete.

        Raises:
            Unreadable: for bytes that are not frames.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLayout:
    """Where an answer's body holds what the model said, and how its stream is read."""

    is_answer: Callable[[dict[str, Json]], bool]
    """Whether a body has the shape of an answer of this wire."""
    messages: Callable[[Json, Collection[str]], list[Json]]
    """What the model said, as messages of the next request; its calls avoid the given ids, which are taken."""
    text: Callable[[Json], str]
    """The words of the answer for the user."""
    stop_reason: Callable[[Json], str]
    """Why the answer stopped, in the provider's word; empty if it does not say."""
    usage: UsageKeys
    stream: Callable[[], StreamReader]
    streamed_body: Callable[[dict[str, Json]], dict[str, Json]]
    """A request's body changed to ask for a streamed answer."""
    stream_type: str
    """The content type of a stream."""
    frames: Callable[[], FrameReader] | None
    """How the bytes of a stream become events; None for server-sent events."""
    hidden_calls: HiddenCalls | None
    """How calls are removed from answers and restored in requests; None if only the client answers calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """One way to authenticate: the environment variable, its header, and the prefix of the key there."""

    variable: str
    header: str
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The public API of a wire, as its provider's own SDK finds it."""

    telemetry_name: str
    """The provider's name in OpenTelemetry's conventions: a value of `gen_ai.provider.name`."""
    base_url: str
    """The address; `{region}` in it is the value of the first of `region_variables` that is set."""
    base_url_variable: str
    region_variables: tuple[str, ...]
    root: str
    """The prefix of every path; a base URL may include it or leave it out."""
    path: str
    """The path; `{model}` in it is the model's name, which then is not in the body."""
    stream_path: str
    """The path of streamed answers."""
    other_paths: tuple[str, ...]
    """Prefixes of other paths that hosts of the API ask for and no other API has: lists of models, probes, files."""
    keys: tuple[ApiKey, ...]
    """The first whose variable is set is used."""
    signs_for: str
    """The AWS service for which requests are signed if no key is set; empty if only keys are used."""
    variable_headers: Mapping[str, str]
    """Environment variables that become headers if they are set."""
    headers: Mapping[str, str]


class RequestSize(NamedTuple):
    """The size of a request as a test double counts it: `prompt_tokens` are those of instructions and messages."""

    prompt_tokens: int
    tools_tokens: int = 0
    reply_tokens: int = 0

    @property
    def input_tokens(self) -> int:
        """The prompt and the tools."""
        return self.prompt_tokens + self.tools_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContent:
    """What a double answers: words, calls as (name, arguments as JSON text), and the usage that it reports."""

    text: str
    calls: tuple[tuple[str, str], ...]
    number: int
    """The number of the answer in the conversation; ids are derived from it, so that the same conversation gives the same bytes."""
    model: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounting:
    """Where an API counts the tokens of a request, and the body in which it reports them."""

    path: str
    request: Callable[[dict[str, Json]], dict[str, Json]]
    """Extracts the body to be counted from the counting request's body."""
    answer: Callable[[int], dict[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDouble:
    """How a provider of this wire writes: for doubles that a real client cannot tell from the API."""

    provider: str
    """The provider whose words these are."""
    path: str
    """The path of answers; a name in braces is any single segment of it."""
    stream_path: str
    """The path of streamed answers; if it is the same, the body says which is asked for."""
    models_path: str
    root: str
    """The end of a client's base URL, so that the client's own path leads to `path`."""
    answer: Callable[[AnswerContent], dict[str, Json]]
    answer_events: Callable[[dict[str, Json], dict[str, Json]], Iterator[bytes]]
    """The body of an answer as the events of a stream, for the request that asked for it."""
    error_events: Callable[[dict[str, Json], int], Iterator[bytes]]
    """An error body as events of a stream that began with HTTP 200, for the request of that number."""
    error: Callable[[str, int], dict[str, Json]]
    """An error of any kind, for a sentence and an HTTP status."""
    refusal: Callable[[RequestSize, int], dict[str, Json]]
    """The refusal of a request of that size by a window of that many tokens."""
    counts_reply: bool
    """Whether the requested reply counts towards the window."""
    reply_fault: Callable[[dict[str, Json]], str | None]
    """What is wrong with the reply length that a request asks for, in the provider's words."""
    unkept: Callable[[dict[str, Json]], dict[str, Json] | None]
    """The error for a request that relies on a conversation that the provider keeps, since a double keeps none; None for others."""
    models: Callable[[str], tuple[dict[str, Json], dict[str, Json]]]
    """The list of models and the model of that name, as the API returns them."""
    counting: TokenCounting | None
    """How the API counts tokens without answering; None if it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One provider API. Laws: complete by construction; load then dump is the identity; repair leaves no violation it can mend."""

    name: str
    about: str
    """The providers that speak the wire, for a person who chooses a model."""
    body: BodyLayout
    codec: Codec
    invariants: tuple[Invariant, ...]
    repairs: tuple[RepairStep, ...]
    answers: AnswerLayout
    service: Service
    double: ProviderDouble

    def __repr__(self) -> str:
        return f"<Wire {self.name}>"
