"""How is the next request made to fit: what is removed, where is it kept, and does the count prove it?

Law: the result takes at most what it may, or there is none and the bill says why. Nothing is removed that cannot be retrieved.
Leaves to others: how a host writes it (one module per host).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.context import compaction
from penstock.context.sized import Sized
from penstock.hosts.rescue.cutting import Cutting, RescueCut, without_turns
from penstock.hosts.sessions import grouped, joined
from penstock.text.allowance import Budget

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from penstock.context.bill import Bill
    from penstock.hosts.rescue.cutting import OfferedTools
    from penstock.inspection.timeline import Said
    from penstock.text.json_access import Json
    from penstock.wires import Transcript


class SessionLine(NamedTuple):
    """A message of the new session."""

    said: tuple[Said, ...]
    """The parts of the message in the old session; empty for a note in place of what is left out."""
    message: Json
    """The message in the wire's form; None if nothing of it changed."""

    @property
    def is_left_over(self) -> bool:
        """Whether a compaction left the message: its provider's count belongs to another request."""
        return any(one.again or one.is_summary for one in self.said)


class Smaller(NamedTuple):
    """A session that fits."""

    lines: tuple[SessionLine, ...]
    cuts: tuple[RescueCut, ...]
    tokens: int
    """Tokens that the messages of a session take, as an upper bound."""


class StillTooLarge(NamedTuple):
    """A session that cannot be made to fit, and what remains of it."""

    bill: Bill


def shrink(
    said: Sequence[Said],
    room_tokens: int | None,
    tools: OfferedTools,
    *,
    refused_reasoning: Collection[int] = (),
    refused_media: Collection[int] = (),
) -> Smaller | StillTooLarge:
    """Return messages that fit the room, what was cut from them, and their size.

    Copies of results go first, then images and files, then results from the largest on, then finished work, oldest first; last a
    person's pasted text. The host's instructions and the task stay.

    Args:
        said: the messages in force.
        room_tokens: their limit; None if size is not the problem.
        tools: how they are written and counted, and where cuts are kept.
        refused_reasoning: the positions of messages whose reasoning the provider refuses: they go with their turns.
        refused_media: the positions of messages whose images and files the provider refuses.
    """
    groups = grouped(said)
    cutting = Cutting([joined(parts) for parts in groups], tools)
    emptied = cutting.drop_copies()
    groups = [parts for at, parts in enumerate(groups) if at not in emptied]
    cutting.messages = [message for at, message in enumerate(cutting.messages) if at not in emptied]
    refused, pictured = (
        {at - sum(gone < at for gone in emptied) for at in places} for places in (refused_reasoning, refused_media)
    )
    over = 0 if room_tokens is None else Sized(cutting.transcript, tools.counter).high - room_tokens
    cutting.cut_media(over, pictured)
    made, gone = without_turns(_pinned(cutting.transcript, groups), refused, tools)
    if room_tokens is None:
        return _smaller(made, groups, (*cutting.cuts, *gone), tools)
    plan = _plan(made, room_tokens, tools)
    if plan.outcome == "cannot" and cutting.cut_words(room_tokens):
        # Content kept for the turns stays kept; their notes are rewritten for the new words.
        made, gone = without_turns(_pinned(cutting.transcript, groups), refused, tools)
        plan = _plan(made, room_tokens, tools)
    if plan.irreducible is not None:
        return StillTooLarge(plan.irreducible)
    handles: list[str] = []

    def kept(content: str, name: str) -> str:
        handles.append(tools.keep(content, name))
        return handles[-1]

    made = compaction.apply(made, plan, kept)
    planned = [
        RescueCut(step.what, handle, step.before_tokens - step.after_tokens)
        for step, handle in zip(plan.steps, handles, strict=True)
    ]
    return _smaller(made, groups, (*cutting.cuts, *gone, *planned), tools)


def _smaller(
    made: Transcript, groups: Sequence[list[Said]], cuts: tuple[RescueCut, ...], tools: OfferedTools
) -> Smaller:
    lines = [
        SessionLine((), entry.raw)
        if entry.is_note and entry.raw != joined(groups[entry.index])
        else SessionLine(tuple(groups[entry.index]), None if entry.raw == joined(groups[entry.index]) else entry.raw)
        for entry in made.visible()
    ]
    return Smaller(tuple(lines), cuts, Sized(made, tools.counter).high)


def _plan(made: Transcript, room_tokens: int, tools: OfferedTools) -> compaction.Plan:
    budget = Budget(room_tokens, counter=tools.counter)  # the counter that measured; another would prove nothing
    return compaction.plan(made, budget, compaction.RECOVERY, low_water=1.0, repaid=False, dialect=tools.dialect)


def _pinned(made: Transcript, groups: Sequence[Sequence[Said]]) -> Transcript:
    """Return a transcript in which the task and what the host needs must stay."""
    first = next((at for at, parts in enumerate(groups) if _is_of_a_person(parts) and made.entries[at].speaks), None)
    shown = {entry.index for entry in made.visible() if not entry.is_note}
    for at, parts in enumerate(groups):
        if at in shown and (at == first or all(one.by_host and not one.is_summary for one in parts)):
            made = made.pin(at)
    return made


def _is_of_a_person(parts: Sequence[Said]) -> bool:
    return not any(one.by_host for one in parts)
