"""Where do whole requests and answers hold what? How a body is composed, sized for its reply, and read.

Law: a body with its own messages put back is the same body, keys in order; what an answer gives goes back into a request unchanged.
Leaves to others: everything else in a body, and HTTP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.text.json_access import copied, field, nested, string, whole_number
from penstock.wires.entries import Text
from penstock.wires.history import Transcript, dump, load
from penstock.wires.invariants import violations
from penstock.wires.repair import repair
from penstock.wires.table import WIRES, wire_named
from penstock.wires.wire import MIN_THINKING_TOKENS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from penstock.text.json_access import Json
    from penstock.wires.wire import ToolDefinition


_PLAINLY = 4  # the resemblance of a body that has what no other wire has


def wire_of(request: Json) -> str:
    """Return the name of the wire that a body is written for, as far as the body shows it.

    Args:
        request: a body, or a message list or text in place of one.

    Raises:
        CallerError: if it could be for several wires or for none; a list of plain user messages is valid on most of them.
    """
    if isinstance(request, str):
        return next(name for name in WIRES if wire_named(name).body.accepts_text)
    # Every wire says how surely the body is its own, and the surest wins. If two are equally sure, the caller has to decide; it is
    # never guessed, because a body sent in the wrong format is refused with a misleading error.
    body = request if isinstance(request, dict) else {"messages": request}
    likeness = {name: wire_named(name).body.resemblance(body) for name in WIRES}
    best = max(likeness.values())
    found = [name for name in WIRES if likeness[name] == best]
    if best == 0 or len(found) > 1:
        raise CallerError(f"The request does not show which API it is for: name its wire, one of {', '.join(WIRES)}")
    return found[0]


# ── the messages of a body ───────────────────────────────────────────────────────────────────────────────────────


def messages_of(request: Json, wire: str) -> Json:
    """Return the message list of a body as it is; a bare list (or text, if the wire takes one) is its own.

    Raises:
        CallerError: for an unknown wire, and for a body without messages.
    """
    layout = wire_named(wire).body
    if isinstance(request, list) or (layout.accepts_text and isinstance(request, str)):
        return request
    if not isinstance(request, dict) or layout.messages_key not in request:
        raise CallerError(f"a request for {wire} is an object with {layout.messages_key!r}, or that list alone")
    return request[layout.messages_key]


def with_messages(request: Json, wire: str, messages: Json) -> Json:
    """Return a body with other messages and everything else unchanged, keys in order; for a bare list, `messages`.

    Raises:
        CallerError: for an unknown wire, and for a body without messages.
    """
    messages_of(request, wire)
    return {**request, wire_named(wire).body.messages_key: messages} if isinstance(request, dict) else messages


def continues(request: Json, wire: str) -> bool:
    """Whether the body continues a conversation that the provider keeps, so that calls may be missing from it."""
    return isinstance(request, dict) and wire_named(wire).body.continues(request)


def is_whole(request: Json, wire: str) -> bool:
    """Whether a provider counts exactly what is in the body: it neither keeps earlier messages nor leaves anything out."""
    body = wire_named(wire).body
    return not (isinstance(request, dict) and (body.continues(request) or body.shrinks_there(request)))


def load_request(request: Json, wire: str) -> Transcript:
    """Return the transcript of a body, with what accompanies its messages: instructions, tools, the form of the reply.

    Raises:
        CallerError: for an unknown wire, for a body without messages, and for one that is plainly another wire's: read as this
            wire's, it would come back mangled.
    """
    layout = wire_named(wire).body
    held = request if isinstance(request, dict) else {"messages": request}
    for other in WIRES:
        if other != wire and layout.resemblance(held) < _PLAINLY == wire_named(other).body.resemblance(held):
            raise CallerError(f"this is a request for {other}, not for {wire}: say wire={other!r}")
    read = load(messages_of(request, wire), wire, system=layout.system_of(held), tools=layout.tools_of(held))
    return replace(read, reply_schema=copied(layout.reply_schema_of(held)))


def dump_request(transcript: Transcript, request: Json) -> Json:
    """Return the body on its own wire with what is visible now; everything else in it stays."""
    return with_messages(request, transcript.wire, dump(transcript, transcript.wire))


def dump_valid(transcript: Transcript, request: Json) -> Json:
    """Return the body on its own wire with what is visible now, mended if the request was invalid when it came.

    Args:
        transcript: what `load_request` made of the request, with later edits.
        request: the original body.

    Returns:
        The same object `request` if nothing in it changes, so that a caller can check with `is`; else a new body.
    """
    return dump_mended(transcript, request)[0]


def dump_mended(transcript: Transcript, request: Json) -> tuple[Json, tuple[str, ...]]:
    """Return the body that `dump_valid` returns, and a sentence for each repair."""
    wire, goes_on = transcript.wire, continues(request, transcript.wire)
    shown = [entry.raw for entry in transcript.visible()]
    # Checked first, since most requests are valid, and writing and mending copy the list.
    if not violations(shown, wire, continues=goes_on):
        return request if shown == messages_of(request, wire) else dump_request(transcript, request), ()
    mended = repair(shown, wire, continues=goes_on)
    return with_messages(request, wire, mended.messages), mended.actions


# ── the length of the reply ──────────────────────────────────────────────────────────────────────────────────────


def model_of(request: Json) -> str:
    """Return the model that a body names, under the key of any wire; empty if it names none."""
    keys = dict.fromkeys(wire_named(name).body.model_key for name in WIRES)
    return next((named for key in keys if (named := string(field(request, key)))), "")


def reply_tokens(request: Json) -> int | None:
    """Return how many tokens of reply a body asks for, under the name of any wire; None if it does not say."""
    paths = dict.fromkeys(path for name in WIRES for path in wire_named(name).body.reply_paths)
    asked = (field(request, *path) for path in paths)
    return next((tokens for tokens in asked if type(tokens) is int), None)


def with_reply_tokens(request: Json, reserve_tokens: int, wire: str) -> Json:
    """Return a body that asks for at most the given length of reply; one that names no number gets one.

    Thinking has to fit into the reply, so its budget is lowered in the same proportion; the reply never becomes shorter than
    the smallest thinking budget requires.

    Args:
        request: a body of the wire.
        reserve_tokens: the most that the reply may take; a smaller number that is already there stays.
        wire: the name of the wire.
    """
    # All names in the body are lowered: a server that knows one of them ignores the others, and which one it knows is unclear.
    layout = wire_named(wire).body
    cap = max(reserve_tokens, layout.min_reply_tokens(request))
    given = [path for path in layout.reply_paths if type(field(request, *path)) is int]
    body, asked, tokens = request, cap, cap
    for path in given or [layout.default_reply_path(request)]:
        asked = field(request, *path) if given else cap
        tokens = min(cap, asked)
        if field(request, *path) != tokens:
            body = nested(body, path, tokens)
    for path, thinking in layout.thinking_of(request):
        lowered = min(max(thinking * tokens // asked, min(thinking, MIN_THINKING_TOKENS)), tokens - 1)
        body = body if lowered >= thinking else nested(body, path, lowered)
    return body


# ── composing a request, reading an answer ───────────────────────────────────────────────────────────────────────


def begin(wire: str, *, system: Json = None, tools: Json = None, prompt: str | None = None) -> Transcript:
    """Return a new transcript, with instructions where its wire has them and the user's words if there are any.

    Args:
        wire: the name of the wire.
        system: the instructions, as a text or as the wire writes them; None for none.
        tools: the tools as a request carries them, as `tool_definitions` returns them; None for none.
        prompt: the user's first words; None for a transcript that waits for them.
    """
    # Depending on the wire, instructions are outside the messages or the first of them; a text is converted to the wire's form.
    layout, codec = wire_named(wire).body, wire_named(wire).codec
    messages: list[Json] = [] if system is None or layout.system_paths else [{"role": "system", "content": system}]
    if prompt is not None:
        messages.append(codec.text_message("user", prompt))
    beside = codec.write_system(system) if isinstance(system, str) else system
    return load(messages, wire, system=beside if layout.system_paths else None, tools=tools)


def tool_definitions(tools: Sequence[ToolDefinition], wire: str) -> list[Json]:
    """Return the tools as a request of that wire carries them."""
    return wire_named(wire).codec.tool_definitions(tools)


def compose_request(transcript: Transcript, model: str, reserve_tokens: int) -> dict[str, Json]:
    """Return the body that shows what is visible and asks for at most `reserve_tokens` of reply.

    Args:
        transcript: the conversation; its wire is the body's.
        model: the model's name as the API knows it.
        reserve_tokens: the length of reply to ask for, under the name that this model accepts.
    """
    layout = wire_named(transcript.wire).body
    body: dict[str, Json] = {layout.model_key: model}
    if layout.system_paths and transcript.system:
        body = nested(body, layout.system_paths[0], transcript.system)
    body[layout.messages_key] = dump(transcript, transcript.wire)
    if transcript.tools:
        body = nested(body, layout.tools_paths[0], transcript.tools)
    return {**nested(body, layout.default_reply_path(body), reserve_tokens), **layout.constants}


def answer_messages(body: Json, wire: str, taken_ids: Collection[str] = ()) -> list[Json]:
    """Return what a model answered, as messages of the next request.

    Args:
        body: the body of the answer.
        wire: the API of the answer.
        taken_ids: the ids of earlier calls; a call with one of them gets another id, since providers refuse duplicates.

    Raises:
        CallerError: for a body that is not an answer.
    """
    return wire_named(wire).answers.messages(body, taken_ids)


def answer_words(body: Json, wire: str) -> str:
    """Return an answer's words, including a refusal to answer."""
    entries = load(answer_messages(body, wire), wire).entries
    return "\n".join(part.text for entry in entries for part in entry.parts if isinstance(part, Text))


def output_tokens(body: Json, wire: str) -> int | None:
    """Return the output tokens that an answer reports; None if it does not."""
    # A server that reports nonsense, such as a negative number, reports nothing: it would give a budget tokens back.
    keys = wire_named(wire).answers.usage
    found = (whole_number(field(body, holder, name)) for holder in keys.holders for name in keys.output)
    reported = [tokens for tokens in found if tokens is not None]
    return sum(reported) if reported else None


def cache_tokens(body: Json, wire: str) -> tuple[int | None, int | None]:
    """Return how much input an answer says came from a cache, and how much was written to one; None if it does not say."""
    keys = wire_named(wire).answers.usage

    def first_of(paths: tuple[tuple[str, ...], ...]) -> int | None:
        found = (whole_number(field(body, holder, *path)) for holder in keys.holders for path in paths)
        return next((tokens for tokens in found if tokens is not None), None)

    return first_of(keys.cached), first_of(keys.written)
