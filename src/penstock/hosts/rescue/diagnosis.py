"""Is a session stuck, and why? Codes, each with a sentence.

Law: a session is called stuck only for what its record shows, or for a size above a known limit. Leaves to others: the remedy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from penstock import overflow
from penstock.hosts.rescue.pairs import find_unpaired
from penstock.hosts.sessions import grouped, whole_messages
from penstock.text import escape
from penstock.text.json_access import field, string, type_of
from penstock.wires import Media, Reasoning, ToolResult, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.rescue.projection import Projection
    from penstock.hosts.rescue.sizes import RecordSize
    from penstock.hosts.sessions.records import Counts
    from penstock.overflow import Diagnosis
    from penstock.wires import Entry, Part, Transcript

# The limits of one encoded image: Anthropic's API takes 5 MiB, OpenAI's and Google's at least 20 MB in all; a document may have 32
# MB.
_MAX_IMAGE_BYTES = {"anthropic": 5 << 20}
_MAX_MEDIA_BYTES = 20 << 20
FAULTS = {
    "torn_export": "{} places of the export are torn, and what stood there is not carried on. Export it again, straight into a "
    "file: opencode export ID > FILE",
    "chain_gap": "{} records continue one that is not in the file; the host may show only what follows.",
    "boundary_without_metadata": "{} compactions have no figures; the host's next one may fail.",
}
"""Faults that readers find in a file, each with its sentence."""
_OF_THINKING = re.compile(
    r"thinking\b.{0,80}\bsignature|signature\b.{0,80}\bthinking|thinking\W+blocks?\b", re.IGNORECASE | re.DOTALL
)
_COMPACTION_FAILED = re.compile(r"compaction failed", re.IGNORECASE)
_MIN_SIGNATURE_CHARS = 64  # Anthropic's have hundreds
_BROKEN_HISTORY = {"malformed_history", "bad_request"}


class Finding(NamedTuple):
    """Something wrong with a session."""

    code: str
    """Stable, for scripts."""
    sentence: str
    is_stuck: bool
    """Whether the session cannot continue because of it; otherwise it is information."""


def findings(
    projection: Projection, wire: str, size: RecordSize, limit_tokens: int | None, counts: Counts
) -> list[Finding]:
    """Return what is wrong with a session, blocking findings first.

    Args:
        projection: its next request.
        wire: the form in which that is written.
        size: its size.
        limit_tokens: the provider's limit; None if unknown.
        counts: what was not understood in its file.
    """
    transcript = load(whole_messages(projection.said), wire)
    has_images = any(True for _ in media_of(transcript))
    found = [
        *_refusals(projection, has_images=has_images),
        *_sizes(projection, size, limit_tokens),
        *_messages(transcript, projection),
    ]
    if counts.torn and "torn_export" not in counts.faults:
        found.append(Finding("torn_line", f"{counts.torn} lines are not records; the host leaves them out.", False))
    if counts.too_large:
        words = f"{counts.too_large} lines are too large to be read; what they say is not carried on."
        found.append(Finding("too_large_line", words, False))
    for code, number in sorted(counts.faults.items()):
        found.append(Finding(code, FAULTS[code].format(number), False))
    return sorted(dict.fromkeys(found), key=lambda finding: not finding.is_stuck)


class NotedRefusal(NamedTuple):
    """The newest message in place of an answer that gives a reason."""

    words: str
    told: Diagnosis

    @property
    def is_overflow(self) -> bool:
        """Whether the request had too many tokens."""
        return self.told.overflow is not None

    @property
    def is_of_bytes(self) -> bool:
        """Whether a request was refused for its bytes, about which tokens say nothing."""
        return self.told.kind == "payload_too_large"

    @property
    def is_of_images(self) -> bool:
        """Whether a request was refused for an image."""
        return self.told.kind == "image_limit"

    @property
    def is_of_thinking(self) -> bool:
        """Whether a request was refused for its reasoning."""
        return _OF_THINKING.search(self.words) is not None


def newest_refusal(projection: Projection) -> NotedRefusal | None:
    """Return the newest refusal of a session since its last answer; None if there is none."""
    told = [NotedRefusal(one.words, overflow.diagnose(one.words)) for one in projection.refused]
    # A host's message about its own compaction gives no reason.
    said_why = [one for one in told if one.told.kind != "unknown" or not _COMPACTION_FAILED.search(one.words)]
    return said_why[-1] if said_why else None


def unusable_reasoning(transcript: Transcript, projection: Projection) -> list[Entry]:
    """Return the messages whose reasoning the provider refuses: those without a signature, otherwise all that the refusal
    may mean.
    """
    newest = newest_refusal(projection)
    if newest is None or not newest.is_of_thinking:
        return []
    thinking = [entry for entry in transcript.entries if any(map(_is_thinking, entry.parts))]
    return [entry for entry in thinking if any(map(_is_hollow, entry.parts))] or thinking


def _refusals(projection: Projection, *, has_images: bool) -> Iterator[Finding]:
    newest = newest_refusal(projection)
    if newest is None:
        return
    words = escape.clip(newest.words, 300)
    has_failed = any(_COMPACTION_FAILED.search(one.words) for one in projection.refused)
    if newest.is_overflow:
        if projection.has_compacted or has_failed or len(projection.refused) > 1:
            yield Finding("compaction_overflows", "The host compacted, or tried to, and was refused again.", True)
        yield Finding("overflow_refused", f"The provider refused the newest request: {words}", True)
    elif newest.is_of_bytes:
        yield Finding("overflow_refused", f"The provider refused the newest request for its bytes: {words}", True)
    elif newest.is_of_images and has_images:
        yield Finding("image_bytes", f"The provider refused an image: {words}", True)
    elif not newest.is_of_thinking:
        yield Finding("refused", f"The newest request was refused, not for its size: {words}", False)


def _sizes(projection: Projection, size: RecordSize, limit_tokens: int | None) -> Iterator[Finding]:
    if limit_tokens is not None and size.likely_tokens > limit_tokens:
        if projection.has_compacted and not projection.refused:
            yield Finding("compaction_overflows", "The host compacted, and kept more than is taken.", True)
        sentence = f"The next request takes about {size.likely_tokens} tokens; at most {limit_tokens} are taken."
        yield Finding("over_window", sentence, True)


def _messages(transcript: Transcript, projection: Projection) -> Iterator[Finding]:
    newest, unpaired = newest_refusal(projection), find_unpaired(transcript)
    if unpaired.open_calls:
        sentence = f"Calls without a result: {unpaired.open_calls}; the host closes them itself."
        yield Finding("orphan_call", sentence, False)
    if unpaired.lost_results:
        sentence = f"Results without a call: {unpaired.lost_results}; the host leaves them out."
        yield Finding("orphan_result", sentence, False)
    if unpaired.doubled:
        is_refused = newest is not None and newest.told.kind in _BROKEN_HISTORY
        yield Finding("result_doubled", f"Results that are sent twice: {len(unpaired.doubled)}.", is_refused)
    hollow = [part for entry in transcript.entries for part in entry.parts if _is_hollow(part)]
    is_refused = bool(unusable_reasoning(transcript, projection))
    if newest is not None and is_refused and not hollow:
        words = escape.clip(newest.words, 300)
        yield Finding("thinking_refused", f"The provider refused reasoning: {words}", True)
    for part in hollow:
        if field(part.raw, "signature"):
            yield Finding("thinking_hollow", "The signature of reasoning is too short to be one.", is_refused)
        else:
            sentence = "Reasoning is without its signature, which Anthropic's API refuses for ever."
            yield Finding("thinking_unsigned", sentence, is_refused)
    answered = len(grouped(projection.said[: projection.answered_said]))
    for entry, medium in media_of(transcript):
        if is_too_large(medium, transcript.wire):
            sentence = f"The {medium.kind} of {medium.bytes_estimate} bytes is more than its provider takes."
            yield Finding("image_bytes", sentence, entry.index >= answered)


def media_places(projection: Projection, transcript: Transcript, *, is_all: bool) -> list[int]:
    """Return the positions of messages with images or files: those that no provider has accepted yet, otherwise all."""
    answered = len(grouped(projection.said[: projection.answered_said]))
    places = sorted({entry.index for entry, _ in media_of(transcript)})
    return [place for place in places if place >= answered and not is_all] or places


def media_of(transcript: Transcript) -> Iterator[tuple[Entry, Media]]:
    """Yield all images and files of a conversation, including those in results, each with its message."""
    for entry in transcript.entries:
        for part in entry.parts:
            for inner in part.parts if isinstance(part, ToolResult) else (part,):
                if isinstance(inner, Media):
                    yield entry, inner


def is_too_large(medium: Media, wire: str) -> bool:
    """Return whether an image or file exceeds the provider's size limit."""
    most = _MAX_IMAGE_BYTES.get(wire, _MAX_MEDIA_BYTES) if medium.kind == "image" else 2 * _MAX_MEDIA_BYTES
    return max(len(medium.data), medium.bytes_estimate) > most


def _is_thinking(part: Part) -> TypeGuard[Reasoning]:
    return isinstance(part, Reasoning) and type_of(part.raw) in {"thinking", "redacted_thinking"}


def _is_hollow(part: Part) -> TypeGuard[Reasoning]:
    """Return whether a block of Anthropic's thinking lacks the signature that the API requires."""
    if not _is_thinking(part) or type_of(part.raw) != "thinking":
        return False
    return len(string(field(part.raw, "signature"))) < _MIN_SIGNATURE_CHARS
