"""Why is a session stuck, or is it? Codes, each with a sentence.

Law: a session is called stuck only for what its record shows, or for a size above a limit that somebody named. Keeps out: the cure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock import overflow
from penstock.hosts.rescue.shrinking import MAX_MEDIA_BYTES
from penstock.hosts.sessions import whole_messages
from penstock.wires import Media, Reasoning, ToolResult, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.rescue.projection import Projection
    from penstock.hosts.rescue.shrinking import Size
    from penstock.hosts.sessions.records import Counts
    from penstock.wires import Transcript


class Finding(NamedTuple):
    """Something that is the matter with a session."""

    code: str
    """Stable, for scripts."""
    sentence: str
    is_stuck: bool
    """Whether the session cannot go on because of it; else it is information."""


def findings(projection: Projection, wire: str, size: Size, limit_tokens: int | None, counts: Counts) -> list[Finding]:
    """Return what is the matter with a session, what keeps it from going on first.

    Args:
        projection: its next request.
        wire: how that is written.
        size: what it takes.
        limit_tokens: what the provider takes at most; None where nobody says.
        counts: what of its file was not understood.
    """
    found = [*_refusals(projection), *_sizes(size, limit_tokens)]
    found += _messages(load(whole_messages(projection.said), wire), projection)
    if counts.torn:
        found.append(Finding("torn_line", f"{counts.torn} lines are no records; the host leaves them out.", False))
    return sorted(dict.fromkeys(found), key=lambda finding: not finding.is_stuck)


def _refusals(projection: Projection) -> Iterator[Finding]:
    kinds = [overflow.diagnose(one.words) for one in projection.refused]
    if not kinds:
        return
    words = projection.refused[-1].words
    if kinds[-1].overflow is not None:
        if projection.has_compacted or len(kinds) > 1:
            yield Finding("compaction_overflows", "The host compacted, or tried to, and was refused again.", True)
        yield Finding("overflow_refused", f"The provider refused the newest request: {words}", True)
    elif kinds[-1].kind == "image_limit":
        yield Finding("image_bytes", f"The provider refused an image: {words}", True)


def _sizes(size: Size, limit_tokens: int | None) -> Iterator[Finding]:
    if limit_tokens is not None and size.tokens > limit_tokens:
        yield Finding(
            "over_window", f"The next request takes about {size.tokens} tokens; at most {limit_tokens} are taken.", True
        )


def _messages(transcript: Transcript, projection: Projection) -> Iterator[Finding]:
    was_refused = bool(projection.refused)
    calls = {call.id for entry in transcript.entries for call in entry.calls}
    results = [result.call_id for entry in transcript.entries for result in entry.results]
    if open_calls := len(calls - set(results)):
        yield Finding("orphan_call", f"{open_calls} calls have no result; the host closes them itself.", False)
    if lost := len(set(results) - calls):
        yield Finding("orphan_result", f"{lost} results have no call; the host leaves them out.", False)
    if len(results) > len(set(results)):
        doubled = len(results) - len(set(results))
        yield Finding("result_doubled", f"{doubled} results are sent twice.", was_refused)
    for entry in transcript.entries:
        for part in entry.parts:
            if isinstance(part, Reasoning) and _is_hollow(part):
                yield Finding("thinking_unsigned", "Reasoning without its signature is refused for ever.", True)
            for medium in part.parts if isinstance(part, ToolResult) else (part,):
                if isinstance(medium, Media) and medium.bytes_estimate > MAX_MEDIA_BYTES:
                    size = medium.bytes_estimate
                    yield Finding("image_bytes", f"An {medium.kind} of {size} bytes is more than providers take.", True)


def _is_hollow(part: Reasoning) -> bool:
    """Whether a block of Anthropic's thinking came without what the API wants to see again."""
    raw = part.raw
    return isinstance(raw, dict) and raw.get("type") == "thinking" and not raw.get("signature")
