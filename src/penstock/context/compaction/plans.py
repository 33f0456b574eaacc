"""What will be forgotten? A plan as a value: its steps, what they free, what they cost, and why no more.

`apply` does what the plan says and, if the caller can (`keep`), keeps what is no longer shown. Law: an applied plan meets
its limit or says that it cannot; it never makes a request larger. Leaves to others: which steps are chosen (`strategies`).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from penstock.context.sized import high_of
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.json_access import as_json
from penstock.text.notices import counted
from penstock.wires import Cleared, Collapsed, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.bill import Bill
    from penstock.context.sized import Sized
    from penstock.wires import Transcript

Outcome = Literal["fits", "shrunk", "cannot"]
"""`fits`: nothing to do; `shrunk`: it fits once the plan is applied; `cannot`: it does not fit even then."""

# A stub is planned and counted before its content is stored and has a handle. Inert text, ours or a tool's, never holds a
# NUL, so nothing else can be mistaken for the placeholder.
HANDLE = "\x00" * 22
"""The placeholder for the handle in a planned text."""
SAMPLE_HANDLE = "qX7Zk2Wp9TrJ4mGs8LnB3v"
"""What the placeholder is counted as: as expensive as any handle of that length."""


def with_handle(text: str, handle: str) -> str:
    """Return a planned text with its placeholder replaced by a handle."""
    # A command line quotes the placeholder; a handle needs no quotes.
    return text.replace(f"'{HANDLE}'", HANDLE).replace(HANDLE, handle)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanStep:
    """One thing that is no longer shown in full: the result of a call, or the entries from `first` to `last` as a note."""

    strategy: str
    """The strategy that proposed it, for a printed plan and for statistics."""
    what: str
    """What goes, in a few words: a tool's name, or which messages."""
    first: int
    """The index of the first entry that the step takes from."""
    last: int
    """The index of the last entry that the step takes from, inclusive; for a result the same as `first`."""
    call_id: str | None
    """The call whose result goes; None for a span."""
    text: str
    """The text in place of the step's entries if the original is kept nowhere."""
    kept_text: str
    """The text in place of the step's entries, with the way to the original; `HANDLE` marks the place of the handle."""
    before_tokens: int
    """The tokens of the original, at most."""
    after_tokens: int
    """The tokens of the text in its place, at most, a handle included."""

    def edit(self, handle: str | None) -> Cleared | Collapsed:
        """Return the step as an edit of the transcript.

        Args:
            handle: where the original is kept; None if it is not.
        """
        text = self.text if handle is None else with_handle(self.kept_text, handle)
        if self.call_id is not None:
            return Cleared(index=self.first, call_id=self.call_id, text=text, handle=handle)
        return Collapsed(first=self.first, last=self.last, note=text, handle=handle)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What to do with a transcript so that it takes at most `limit_tokens`; sizes are upper bounds.

    A plan is truthy if it has steps. `str` gives the plan for a person: what goes, what that frees, what it costs.
    """

    steps: tuple[PlanStep, ...]
    before_tokens: int
    after_tokens: int
    limit_tokens: int
    outcome: Outcome
    entries: int
    """The number of entries of the transcript that the plan was made for; a plan applies to that transcript only."""
    edits: int
    """The number of edits of that transcript."""
    rewritten_tokens: int = 0
    """The tokens after the first edit, which a provider has to read anew instead of from its cache."""
    irreducible: Bill | None = None
    """The bill of what remains, if the outcome is `cannot`; else None."""

    @property
    def freed_tokens(self) -> int:
        """How much smaller the request becomes, by upper bounds."""
        return self.before_tokens - self.after_tokens

    @property
    def repaid_after_calls(self) -> int:
        """The number of further calls after which the shorter prompt has paid for the rewrite under prompt caching; 0 for
        an empty plan.
        """
        if not self.freed_tokens:
            return 0
        # Once: what follows the first edit is written to the cache at 125 instead of read at 10. Each call: what went
        # would have been read at 10. Their ratio, rounded up.
        return -(-(CACHE_WRITE - CACHE_READ) * self.rewritten_tokens // (CACHE_READ * self.freed_tokens))

    def __bool__(self) -> bool:
        return bool(self.steps)

    def __str__(self) -> str:
        """The plan for a person: what goes, what that frees, what it costs."""
        head = f"{self.before_tokens} tokens of at most {self.limit_tokens}: "
        if self.outcome == "fits" and not self.steps:
            return head + "nothing to do"
        after = f"{self.after_tokens} after {counted(len(self.steps), 'step')}"
        if self.outcome == "cannot":
            after += f", {self.after_tokens - self.limit_tokens} too many, and nothing else can go"
        lines = [head + after]
        if self.steps:
            lines.append(
                f"reads {self.rewritten_tokens} tokens again after the first edit, "
                f"repaid after {counted(self.repaid_after_calls, 'call')}"
            )
        lines += [
            f"  {step.strategy:<9} {step.before_tokens:>8} -> {step.after_tokens:<6} {escape.clip(step.what, 80)}"
            + ("" if step.call_id is None else f" in message {step.first}")
            for step in self.steps
        ]
        if self.irreducible is not None:
            lines += ["what remains:", str(self.irreducible)]
        return "\n".join(lines)


# Hundredths of the price of an input token, as Anthropic charges for its five-minute cache: a read costs a tenth, a write
# a quarter more.
CACHE_READ, CACHE_WRITE = 10, 125


def apply(
    transcript: Transcript,
    plan: Plan,
    keep: Callable[[str, str], str] | None = None,
    *,
    keep_all: Callable[[Sequence[tuple[str, str]]], Sequence[str]] | None = None,
) -> Transcript:
    """Return the transcript as a plan leaves it.

    Args:
        transcript: the one that the plan was made for; unchanged.
        plan: what to do.
        keep: stores what is no longer shown, given (content, name), and returns its handle, which goes into the
            replacement text. None leaves the originals in `transcript.entries` only.
        keep_all: does the same for all at once, given pairs of (content, name) in the order of the steps, so that a store
            needs only one transaction. It takes precedence over `keep`.

    Raises:
        CallerError: for a plan of another transcript, or of this one before it grew or was edited, and for a `keep` that is no
            function, such as a store.
    """
    if keep is not None and not callable(keep):
        raise CallerError(
            "keep is a function that returns a handle, such as lambda content, name: store.put(content.encode(), name=name)"
        )
    if plan.entries != len(transcript.entries):
        raise CallerError(f"this plan is for a transcript of {plan.entries} entries, not of {len(transcript.entries)}")
    if plan.steps and plan.edits != len(transcript.edits):
        raise CallerError(f"this plan is for a transcript of {plan.edits} edits, not of {len(transcript.edits)}")
    if keep_all is not None:
        handles = iter(keep_all([(whole(transcript, step), step.what) for step in plan.steps]))
        return with_steps(transcript, plan.steps, lambda _step: next(handles))
    if keep is None:
        return with_steps(transcript, plan.steps, lambda _step: None)
    return with_steps(transcript, plan.steps, lambda step: keep(whole(transcript, step), step.what))


def lasting(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """Return the steps without those whose effect a later step removes, or that find nothing left to take.

    What they took goes with the later step, under one handle.
    """
    kept: list[PlanStep] = []
    spans: set[int] = set()
    results: set[tuple[int, str]] = set()
    # Going backwards meets the later step first. Linear in the entries that spans cover: each span adds its entries to a
    # set once.
    for step in reversed(steps):
        if step.first in spans:
            continue
        if step.call_id is None:
            spans.update(range(step.first, step.last + 1))
        elif (step.first, step.call_id) in results:
            continue
        else:
            results.add((step.first, step.call_id))
        kept.append(step)
    # A result that an earlier span took can no longer be cleared; counting it twice would make the request seem too small.
    return tuple(step for step in reversed(kept) if step.call_id is None or step.first not in spans)


def rewritten_tokens(sized: Sized, steps: Sequence[PlanStep], after_tokens: int) -> int:
    """Return the tokens that follow the first edit once some steps are applied; 0 without a step.

    Args:
        sized: the transcript before the steps.
        steps: the steps.
        after_tokens: the tokens of the whole request after them.
    """
    if not steps:
        return 0
    first = min(step.first for step in steps)
    before = [entry for entry in sized.transcript.visible() if entry.last_index < first]
    return after_tokens - sized.fixed_high - high_of(before, sized.counter)


def with_steps(
    transcript: Transcript, steps: Sequence[PlanStep], handle_of: Callable[[PlanStep], str | None]
) -> Transcript:
    """Return the transcript with all these steps applied at once, in order; no step touches what another one takes.

    Args:
        transcript: the one that the steps were made for; unchanged.
        steps: as `lasting` leaves them.
        handle_of: gives the handle of what a step takes from view; None if it is not kept.

    Raises:
        CallerError: for a step that takes what has to stay, or that does not take whole turns.
    """
    edits = tuple(step.edit(handle_of(step)) for step in steps)
    # Called for the errors that they raise; the edits are then added together, because each was made for the transcript
    # before any of them.
    transcript.replace_results(edit for edit in edits if isinstance(edit, Cleared))
    for edit in edits:
        if isinstance(edit, Collapsed):
            transcript.drop_span(edit.first, edit.last, edit.note)
    return replace(transcript, edits=transcript.edits + edits)


def whole(transcript: Transcript, step: PlanStep) -> str:
    """Return what a step takes from view: an original result, as text or, if it is more than text, as JSON; a span as
    one line of JSON for each message.
    """
    if step.call_id is None:
        shown = transcript.visible()
        first, last = (
            bisect_left(shown, place, key=lambda entry: entry.index) for place in (step.first, step.last + 1)
        )
        return "".join(f"{as_json(entry.raw)}\n" for entry in shown[first:last])
    # From the original entry, not from what is shown: otherwise an earlier cut would be all that is kept of a result.
    entry = transcript.entries[step.first]
    parts = [part for part in entry.results if part.call_id == step.call_id]
    if all(isinstance(inner, Text) for part in parts for inner in part.parts):
        return "\n".join(part.text for part in parts)
    return f"{as_json(entry.raw)}\n"
