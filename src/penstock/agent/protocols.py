"""What does the loop need from others, and what does it return? Tools, a face, and how a run ended.

Only values and protocols: nothing here does anything. Leaves to others: the loop (`loop`) and its two hands (`asking`,
`calling`), and the tools that we provide (`toolbox`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from penstock.agent.purse import Purse
    from penstock.context.handoff import Handoff
    from penstock.models import Model
    from penstock.session import Event, Noted, Session
    from penstock.session.effects import Change, Intent, Settled
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a call ended, and what the journal must record of it."""

    text: str
    """The result for the model."""
    failed: bool = False
    """Whether a call did not do what it was asked to do."""
    is_refusal: bool = False
    """Whether a call failed because Penstock refused it, which does not count as a mistake (S-11)."""
    seen: tuple[dict[str, Json], ...] = ()
    """What the ledger records of the files that were shown or changed, as acts."""
    tracked: tuple[dict[str, Json], ...] = ()
    """The files of a call as they are now: a resume compares them with this."""
    notes: tuple[Noted, ...] = ()
    """Changes of the todo list."""
    change: Change | None = None
    """The change that was made to a file."""
    after: str = ""
    """The digest of what the call made; empty if it made nothing."""
    advice: str = ""
    """Advice for the person as well; it is in the result already."""
    handles: tuple[str, ...] = ()
    """Handles of the whole result, which live and are removed with the session."""
    changed: tuple[dict[str, Json], ...] = ()
    """The files that differ from before the call, and what they held then."""


class ToolRunner(Protocol):
    """The tools of an agent, as the loop needs them; `toolbox` has ours."""

    def intent(self, call: ToolCall) -> Intent | None:
        """Return what a call would change; None for one that only looks."""
        ...

    def run(self, call: ToolCall, session: Session) -> Done:
        """Run a call. Mistakes are results that say so; an exception ends the work."""
        ...

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        """Return the outcome of an effect that was begun and not seen to its end."""
        ...

    def interrupt(self) -> None:
        """End what runs now; may be called from another thread or a signal handler."""
        ...

    def close(self) -> None:
        """Release what tools hold."""
        ...

    def change(self, call: ToolCall) -> Change | None:
        """Return the file that a call would change, with both contents; None if it is not known."""
        ...

    def overwritten(self) -> tuple[str, ...]:
        """Return the files that are no longer what an edit of the session left; each is named once."""
        ...

    def corrected(self, handoff: Handoff) -> Handoff:
        """Return a handoff whose files are those that differ on the disk from what the session found."""
        ...


class Listener(Protocol):
    """What a face shows while the work is in progress."""

    def text(self, delta: str) -> None:
        """Take a piece of the answer, as it comes."""
        ...

    def step(self, session: Session, what: str) -> None:
        """Take a line about something that was done: a call, a cut, a wait."""
        ...


class Silent:
    """A listener that shows nothing."""

    def text(self, delta: str) -> None:
        """Ignore a piece of the answer."""

    def step(self, session: Session, what: str) -> None:
        """Ignore what was done."""


@dataclass(kw_only=True)
class AgentRun:
    """How the work on one prompt ended."""

    session: str
    answer: str = ""
    """The model's last words; empty if it did not reach any."""
    outcome: str = "answered"
    """`answered`, `interrupted`, `max_turns`, `outage`, `budget`, `empty`, `withheld`, or why the session stopped."""
    message: str = ""
    """What the person may do now; empty with an answer."""
    turns: int = 0
    """Answers of the model in this run."""
    usage: dict[str, int] = field(default_factory=dict)
    """`input_tokens` and `output_tokens` of this run, as the provider reported them."""
    cuts: int = 0
    """Compactions in this run."""
    recoveries: int = 0
    """Requests of this run that were refused as too large."""
    warnings: tuple[str, ...] = ()
    """What was wrong with answers: cut without notice, empty, ended at their length (R-6)."""


class ChildRunner(Protocol):
    """An object that gives work to child agents; `children` has ours."""

    def takes(self, call: ToolCall) -> bool:
        """Return whether a call gives work to a child."""
        ...

    def is_begun(self, place: str) -> bool:
        """Return whether a child was begun for the call at a place, before a kill."""
        ...

    def run(self, call: ToolCall, place: str) -> Done:
        """Let a child do the work of a call; its outcome is the result."""
        ...

    def interrupt(self) -> None:
        """End what the working child runs."""
        ...

    def cut_off(self) -> list[str]:
        """End the children that a kill has left unfinished and that do not continue; return a message about each."""
        ...

    def used(self) -> dict[str, int]:
        """Return the tokens that children took in this run, as `input_tokens` and `output_tokens`."""
        ...


class Driver(Protocol):
    """The driver of a session, as the two hands of the loop see it: what they work on, and the one way to change it."""

    session: Session
    model: Model
    tools: ToolRunner
    store: Store
    listener: Listener
    purse: Purse | None
    """What may be spent; None sets no limit."""
    children: ChildRunner | None
    """What gives work to child agents; None if nothing does."""
    told: str
    """What the model is told with its next result."""
    is_stopped: bool
    """Whether the person wants the work to end."""

    def feed(self, event: Event, handles: tuple[str, ...] = ()) -> None:
        """Write an event to the journal, then feed it to the session."""
        ...

    def record(self, kind: str, data: dict[str, Json], handles: tuple[str, ...] = ()) -> None:
        """Write a record other than an event."""
        ...

    def now(self) -> float:
        """Return the time in seconds; only differences count."""
        ...

    def escalate(self) -> None:
        """Tell the listener about repeated failures in a row (S-11)."""
        ...
