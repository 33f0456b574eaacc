"""How are calls run? One after the other, each announced before it changes anything, and their results reported together (S-12).

Law: what has an effect is written down before it is done, and never repeated unasked. Leaves to others: when to call (`loop`),
what a tool does (`toolbox`), and what a file held before (`edits`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from penstock.agent.edits import kept_edit
from penstock.agent.journal import new_id
from penstock.agent.protocols import Done
from penstock.agent.record_types import CHANGED, EDITED, SEEN, TRACKED
from penstock.session import Effected, Intended, Outcome, Replied, Returned, after
from penstock.session.effects import settled_later
from penstock.session.loops import without_times
from penstock.text import escape
from penstock.text.calls import PYTHON
from penstock.text.calls import Call as ToolHint
from penstock.text.notices import counted
from penstock.text.redaction import mark_in, redacted
from penstock.wires import result_messages

if TYPE_CHECKING:
    from penstock.agent.edits import KeptEdit
    from penstock.agent.protocols import Driver
    from penstock.session import Call, State
    from penstock.session.effects import Change
    from penstock.wires import ToolCall

# What the person who watches sees of a call and of its result.
_CALL_CHARS = 100
_SHOWN_CHARS = 120
_NOT_RUN = "Not run: the person stopped the work."


class Calling:
    """Runs the calls of one driver's model."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._as_made: dict[str, ToolCall] | None = None
        """The open calls as the model made them; None if a resume knows them only from the journal."""
        self._after: dict[str, str] = {}
        """What this run wrote into files, by path: the handle of the newest content."""
        self._steady: dict[str, tuple[str, str]] = {}
        """The results since a file was changed, by fingerprints of their calls: of each without times, and its own digest."""
        self.newest = ""
        """The newest call of this run and its result, in a line for the person; empty before any."""

    def remember(self, state: State, replied: Replied) -> None:
        """Remember the calls of an answer as the model made them, with secrets, which the journal does not have.

        Args:
            state: the state before the answer.
            replied: the answer.
        """
        self._as_made = {call.id: call for call in after(state, replied).open_calls}

    def call(self, step: Call) -> None:
        """Run the open calls, one after the other, and feed their results together."""
        driver = self._driver
        session, listener = driver.session, driver.listener
        rows: list[tuple[ToolCall, str, bool]] = []
        outcomes: list[Outcome] = []
        handles: list[str] = []
        has_child = False
        for call in step.calls:
            if driver.is_stopped and not has_child:
                # The interrupt closes the calls, including those that were run: results are taken together or not at all.
                return
            if driver.is_stopped:
                # But the parent must hear what a child agent has done.
                rows.append((call, _NOT_RUN, True))
                outcomes.append(Outcome(call_id=call.id, failed=True, is_refusal=True))
                continue
            has_child |= driver.children is not None and driver.children.takes(call)
            listener.step(session, f"calls {call.name} {_beginning(call.arguments, _CALL_CHARS)}")
            done = self._run(call)
            handles += done.handles
            text = redacted(done.text)
            shown = _shown(call.name, text, failed=done.failed)
            listener.step(session, shown)
            self.newest = f"{call.name} {_beginning(call.arguments, _SHOWN_CHARS)}: {shown}"
            if done.advice:
                listener.step(session, done.advice)
            digest = self._digest(call, done, text)
            advice = session.advice(call, digest)
            rows.append((call, f"{text}\n{advice}" if advice else text, done.failed))
            outcomes.append(Outcome(call_id=call.id, failed=done.failed, is_refusal=done.is_refusal, digest=digest))
        news = [*self._overwritten(), *([driver.told] if driver.told else [])]
        if rows and news:
            call, text, failed = rows[-1]
            rows[-1] = (call, "\n".join([text, *news]), failed)
            driver.told = ""
        messages = result_messages(session.state.transcript.wire, rows)
        driver.feed(Returned(messages=tuple(messages), outcomes=tuple(outcomes)), tuple(dict.fromkeys(handles)))
        if any(outcome.failed for outcome in outcomes):
            driver.escalate()

    def adopt(self, other: Calling) -> None:
        """Take over what a child agent wrote into files, so that its contents are named if somebody changes them. After its work,
        the seconds of a test may be what was sought.

        Args:
            other: what ran the child's calls.
        """
        self._after |= other._after
        self._steady.clear()

    def _run(self, call: ToolCall) -> Done:
        """Run one call as the model made it. Changes to the world are recorded before and after, and not repeated if a kill came
        in between.
        """
        driver, tools, children = self._driver, self._driver.tools, self._driver.children
        place = driver.session.state.place_of(call.id)
        if self._as_made is not None:
            call = self._as_made.get(call.id, call)
        elif children is not None and children.is_begun(place):
            return children.run(call, place)
        elif mark := mark_in(call.arguments):
            return Done(
                text=f"Not run: the call held a secret, which is not kept ({mark}). Make it again.", failed=True
            )
        if children is not None and children.takes(call):
            return children.run(call, place)
        intent, change = tools.intent(call), tools.change(call)
        # The id is unique to this agent: if two resumed the same session, the second one's record conflicts in the journal before
        # it acts.
        effect_id = f"{new_id()}:{place}"
        if intent is not None:
            if (left := self._left(place)) is not None:
                return left
            driver.feed(Intended(effect_id=effect_id, kind=intent.kind, what=intent.what, digest=intent.digest))
            kept = self._keep_change(effect_id, change)
        done = tools.run(call, driver.session)
        if intent is not None:
            # Somebody may have changed the file since the intent: what was actually replaced counts.
            if done.change is not None and done.change != change:
                kept = self._keep_change(effect_id, done.change)
            if done.change is not None and kept is not None:
                self._after[done.change.path] = kept.after
        if done.changed:  # before the effect counts as known: a kill between them leaves a command that was cut off
            driver.record(CHANGED, {"files": list(done.changed)})
        if intent is not None:
            # Also if an interrupt comes before the results: what was kept of a command belongs to the session.
            driver.feed(Effected(effect_id=effect_id, digest=done.after), done.handles)
        if done.seen:
            driver.record(SEEN, {"acts": list(done.seen)})
            driver.record(TRACKED, {"files": list(done.tracked)})
        for note in done.notes:
            driver.feed(note)
        return done

    def _digest(self, call: ToolCall, done: Done, text: str) -> str:
        """Return the fingerprint of a result, by which a loop is noticed (S-13).

        It is of the text as the model sees it, before advice is added: the same result has the same digest, however often the
        model was advised. As long as no file was changed, a result that differs only in how long it took has the digest of the
        one before: tests that are repeated print other seconds each time. After a change the seconds may be what was sought.
        """
        made, said = _fingerprint(f"{call.name} {call.arguments}"), _fingerprint(without_times(text))
        # A call that was there before changes no more than it did then: a test may rewrite its own report each time.
        if (done.change is not None or done.changed) and made not in self._steady:
            self._steady.clear()
        before, digest = self._steady.get(made, ("", ""))
        if said != before:
            digest = _fingerprint(text)
            self._steady[made] = said, digest
        return digest

    def _keep_change(self, effect_id: str, change: Change | None) -> KeptEdit | None:
        """Keep both contents of a file, and record their handles: for an undo, and for anyone whose change is overwritten
        (S-16).
        """
        if change is None:
            return None
        kept = kept_edit(self._driver.store, effect_id, change)
        self._driver.record(EDITED, kept.to_dict(), kept.handles)
        return kept

    def _overwritten(self) -> list[str]:
        """Return messages about files that somebody else has changed since this session did."""
        dialect = self._driver.session.dialect or PYTHON
        told = []
        for path in self._driver.tools.overwritten():
            shown = dialect.write(ToolHint("page", {"handle": self._after[path]}))
            told.append(
                f"{escape.show_argument(path)} is no longer what your edit left: a command or somebody else has changed it. "
                f"What you wrote is kept: {shown}"
            )
        return told

    def _left(self, place: str) -> Done | None:
        """Return the message about a call that was begun before a kill; None if it may be done, since nothing of it was."""
        effect = self._driver.session.state.effect_of(place)
        if effect is None:
            return None
        told = self._driver.tools.settled(effect.kind, effect.what, effect.digest)
        # An outcome in the journal needs no look: only its result was lost, with those of the later calls.
        if effect.is_known and told == "unknown":
            told = "ended"
        if told == "not done":
            return None
        return Done(text=settled_later(effect.kind, effect.what, told), failed=told == "unknown")


def _fingerprint(text: str) -> str:
    """Return a short digest of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _beginning(text: str, chars: int) -> str:
    """Return how a text begins, with a mark if that is not all."""
    return text if len(text) <= chars else text[:chars] + "…"


def _shown(name: str, text: str, *, failed: bool) -> str:
    """Return a result in a line, for the person who watches: how it begins, and how much more there is."""
    first, _, rest = text.strip().partition("\n")
    lines = rest.count("\n") + 1
    more = f" (and {counted(lines, 'more line')})" if rest else ""
    return f"{name} {'failed' if failed else 'returned'}: {_beginning(first, _SHOWN_CHARS)}{more}"
