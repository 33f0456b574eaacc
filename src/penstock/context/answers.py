"""What is wrong with an answer that came as a success, and what does an error say of a request's size?

Every entry point (`execute`, carriers, adapters, the agent) asks these two questions about what a provider sent back. They are
answered here, so that all of them come to the same result: `faults_of` an answer, `overflow_in` an error. Law: an answer that says
something is never discarded because of a doubt; the cure is a smaller request, or nothing. Pure. Leaves to others: what is done
about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.context.standstill import stands_still
from penstock.overflow import Overflow, diagnose, silent_overflow
from penstock.overflow.kinds import ENDS, PAUSES, STOPS
from penstock.overflow.learned import SMALLEST_TOKENS
from penstock.overflow.numbers import minute_in
from penstock.overflow.silent import BRIM, reported_input
from penstock.overflow.walk import layers
from penstock.text.escape import clip
from penstock.wires import Media, Opaque, Text, ToolCall, answer_messages, load, output_tokens, wire_named
from penstock.wires.placeholders import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.context.counts import KindCounts
    from penstock.context.provider_counts import Observation
    from penstock.overflow import RefusalRule
    from penstock.text.json_access import Json

# A window may be believed to be four times too large, and the low end of an estimate is more than half of what is sent: below
# this share of the window, an empty answer has nothing to do with size.
EMPTY_SHARE = 8
"""An empty answer counts as a refusal if the request was at least the window divided by this."""
# A provider may count a quarter of what we do, and the low end of an estimate is about three quarters of it.
CUT_FACTOR = 3
"""A reported input below the low end of our count divided by this was cut; one above it may be counted differently."""
# Servers stop a few tokens before the length asked for, and before the end of their window.
_CAP_SHARE = 0.95


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def overflow_in(error: object, http_status: int | None = None, *, rules: Sequence[RefusalRule] = ()) -> Overflow | None:
    """Return what an error says of a request's size; None if a smaller request would not cure it (R-6).

    Besides overflows of the context, this covers a request above the tokens of a whole minute, which no waiting cures, and a body
    of too many bytes, even if HTTP 413 is all that was said.

    Args:
        error: an exception, a response body, an event of a stream, or a text.
        http_status: the status, if the caller knows it.
        rules: a caller's own rules for refusals.
    """
    told = diagnose(error, http_status, rules=rules)
    if told.overflow is not None:
        return told.overflow
    if told.kind == "rate_limit_single_request":
        return _above_the_minute(error) or Overflow(kind="context_input")
    # Bytes are not tokens, and images take many bytes and few tokens: without a number, what can shrink is halved.
    unit = {"shrink_input": "tokens", "shrink_payload": "bytes"}.get(told.recovery)
    return None if unit is None else Overflow(kind="context_input", unit=unit)


def _above_the_minute(error: object) -> Overflow | None:
    """Return the tokens per minute as a limit of this request; None if the refusal does not state both numbers."""
    for evidence in layers(error):
        for text in evidence.texts:
            limit, asked = minute_in(text) or (0, 0)
            if limit >= SMALLEST_TOKENS and asked > limit:
                # The requested reply counts towards the minute, so lowering it is also a cure.
                return Overflow(kind="context_total", limit=limit, total=asked, excess=asked - limit, bound="approx")
    return None


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFault:
    """The fault of an answer that came as a success."""

    kind: Literal["accepted", "dropped", "empty", "window", "length", "withheld", "stopped"]
    """`accepted`: more than the window was taken; `dropped`: the beginning of the request was cut silently; `empty`: the answer
    says nothing; `window`: the reply ended because the window was full; `length`: it ended at the length asked for; `withheld`:
    the provider's rules ended it; `stopped`: it ended for a reason that is not known here."""
    message: str
    """What happened, for the caller or the user."""
    overflow: Overflow | None = None
    """What a smaller request is sized from, if one would cure the fault; None if it can only be reported or the reply continued."""


def faults_of(
    body: Json,
    wire: str,
    *,
    estimated_tokens: int,
    window_tokens: int,
    taken_tokens: float,
    asked_tokens: int | None = None,
    cuts_silently: bool = False,
    counts: KindCounts | None = None,
    answered: Sequence[Observation] = (),
) -> tuple[AnswerFault, ...]:
    """Return what is wrong with an answer: with what was taken of the request, then with how the answer ends (O-3, R-6).

    There is none if the answer is as it should be, or if the body is not an answer of the wire. A doubt about the request is no
    reason to be silent about the end: a provider that reports only what was not cached is doubted at every answer.

    Args:
        body: the answer's body.
        wire: the API's name.
        estimated_tokens: the low end of the caller's own count of the request.
        window_tokens: the window that was planned with.
        taken_tokens: the largest input that the provider has reported before, 0 if none: a provider that took that much has no
            smaller window, and counts differently. Required, so that no caller forgets it.
        asked_tokens: the length of reply that the request asked for; None if it named none.
        cuts_silently: whether the provider is known to cut at that window silently; a full window then means that it cut again,
            though our own count is too coarse to tell.
        counts: the caller's own count of the request by kind of content.
        answered: what earlier answers reported, with such counts, oldest first: a number that stays the same while requests grow is
            all that the provider keeps of them.
    """
    silence = silent_overflow(body, window_tokens=window_tokens, estimated_tokens=estimated_tokens)
    given = reported_input(body) or 0
    is_still = counts is not None and given > 0 and stands_still(answered, counts, given) and not _ran_tools(body, wire)
    is_full = is_still or (cuts_silently and given >= window_tokens * BRIM)
    found: list[AnswerFault] = []
    if is_full or (silence is not None and silence.kind == "dropped"):
        what = f"{given} tokens of input, all that its window holds"
        if is_still:
            what = f"{given} tokens of input again, for a request that is larger than the ones before"
        if given < estimated_tokens:
            what = f"{given} tokens of input where at least {estimated_tokens} were sent"
        message = f"The provider reports {what}: it seems to have dropped the beginning without a word."
        # Some providers count a quarter of what we do, others report only what was not cached. An answer that says something is
        # given up only for a cut that neither explains; otherwise the cut is only reported.
        is_cut = is_full or given >= window_tokens * BRIM or given * CUT_FACTOR < estimated_tokens
        is_window = given >= max(SMALLEST_TOKENS, taken_tokens * BRIM)
        cure = Overflow(kind="context_input", limit=given) if is_cut and is_window else None
        found.append(AnswerFault(kind="dropped", message=message, overflow=cure))
    if isinstance(body, dict) and wire_named(wire).answers.is_answer(body):
        end = _unfinished(body, wire, estimated_tokens, window_tokens, asked_tokens)
        found += [end] if end is not None else []
    if not found and silence is not None and not _ran_tools(body, wire):
        message = (
            f"The provider reports {silence.reported_tokens} tokens of input, more than the window of {window_tokens}."
        )
        found.append(AnswerFault(kind="accepted", message=message))
    return tuple(found)


def is_paused(body: Json, wire: str) -> bool:
    """Return whether an answer is an unfinished turn that the provider hands over, to be continued by another request."""
    answers = wire_named(wire).answers
    return isinstance(body, dict) and answers.is_answer(body) and answers.stop_reason(body).lower() in PAUSES


def taken_by(body: Json, wire: str, faults: Iterable[AnswerFault]) -> int | None:
    """Return the input that an answer reports if it is the size of the request as sent; else None.

    The input reported for a request that was cut, or that exceeds the window, would make every later request too large; the input
    of an answer for which the provider ran its own tools includes their results and would make every later request too small.
    """
    if any(fault.kind in {"accepted", "dropped"} for fault in faults) or _ran_tools(body, wire):
        return None
    return reported_input(body) or None


def _ran_tools(body: Json, wire: str) -> bool:
    """Whether a provider ran its own tools for an answer, that is, whether the answer holds their results."""
    is_answer = isinstance(body, dict) and wire_named(wire).answers.is_answer(body)
    return is_answer and any(entry.results for entry in load(answer_messages(body, wire), wire).entries)


def _unfinished(
    body: dict[str, Json], wire: str, estimated_tokens: int, window_tokens: int, asked_tokens: int | None
) -> AnswerFault | None:
    """Return what is wrong with the end of an answer."""
    reason = wire_named(wire).answers.stop_reason(body)
    stop, is_end = STOPS.get(reason.lower()), reason.lower() in ENDS
    if reason.lower() in PAUSES:
        return None
    given, written = reported_input(body) or 0, output_tokens(body, wire) or 0
    # A reply may stop short of the length asked for at the model's own cap; it stopped at the window only if that is full.
    is_short = stop == "output_stopped" and 0 < written < (asked_tokens or 0) * _CAP_SHARE
    if stop == "context_total" or (is_short and given + written >= window_tokens * _CAP_SHARE):
        limit = given + written if given and given + written >= SMALLEST_TOKENS else None
        known = Overflow(kind="context_input", limit=limit, input=given if limit else None)
        return AnswerFault(
            kind="window",
            message=f"The reply ended after {written} tokens because the window was full (stop reason {reason!r}).",
            overflow=known,
        )
    if stop == "content_policy":
        message = f"The provider withheld the reply, or the rest of it (stop reason {reason!r})."
        return AnswerFault(kind="withheld", message=message)
    if not _says_something(body, wire):
        # A reason of its own (a malformed call, a filter) has nothing to do with size.
        is_large = estimated_tokens * EMPTY_SHARE >= window_tokens and not written and is_end
        return AnswerFault(
            kind="empty",
            message=f"The model answered nothing (stop reason {clip(reason, 80)!r}, {written} tokens of output).",
            overflow=Overflow(kind="context_input") if is_large else None,
        )
    if stop == "output_stopped":
        return AnswerFault(
            kind="length", message=f"The reply is cut: it ended at its length limit (stop reason {reason!r})."
        )
    if stop is None and not is_end:
        message = f"The reply may not be whole: it ended for a reason that is not known here ({clip(reason, 80)})."
        return AnswerFault(kind="stopped", message=message)
    return None


def _says_something(body: Json, wire: str) -> bool:
    """Whether an answer has words, calls, or anything that only its own wire understands; thoughts alone do not count."""
    for entry in load(answer_messages(body, wire), wire).entries:
        for part in entry.parts:
            if isinstance(part, ToolCall | Media | Opaque):
                return True
            if isinstance(part, Text) and part.text.strip() and part.text != NO_ANSWER:
                return True
    return False
