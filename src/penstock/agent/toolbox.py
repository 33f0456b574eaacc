"""What can this agent do? Use the file tools, the todo list, and whatever else its user allows.

Results are within an allowance that leaves room for the next ones; mistakes are results that say how to do better. Leaves to
others: when a tool is called, and what is recorded about it (`loop`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from penstock.agent import todos
from penstock.agent.disk_changes import ChangedFile, DiskChanges, between, digest_of, look
from penstock.agent.file_check import snapshot
from penstock.agent.protocols import Done
from penstock.agent.size_advice import size_advice
from penstock.context.endings import CHARS_PER_TOKEN
from penstock.errors import REFUSALS, CallerError, PenstockError, ToolError
from penstock.guard.output import OutputLimits, guard_output
from penstock.session.ledger import Ledger, shown
from penstock.session.verdicts import NO_LIMITS, ActVerdict
from penstock.text import escape, notices
from penstock.text.allowance import Allowance
from penstock.text.fitting import Guarded
from penstock.text.tokens import Tokens
from penstock.tools import MIN_ALLOWANCE, TOOLS, Parameter, Tool, Tools
from penstock.workspace.version import FileStamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.agent.disk_changes import TreeSnapshot
    from penstock.context.handoff import Handoff
    from penstock.session import Session
    from penstock.session.effects import Acted, Change, Intent, Settled
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.text.window import Window
    from penstock.tools import Result
    from penstock.wires import ToolCall
    from penstock.workspace import Workspace

RESULT_SHARE = 8
"""The part of the window, an eighth, that one result may take at most."""
_ALLOWED_BY = {
    "edit_file": "--allow-edit",
    "write_file": "--allow-edit",
    "run_command": "--allow-shell",
    "task": "--budget; a child agent has no children of its own",
}
MIN_RESULT_TOKENS, MAX_RESULT_TOKENS = 600, 8_000
"""The bounds of a result's share of the window: the least that says anything at all, and what is enough in any window."""

INSTRUCTIONS = """\
You answer questions about the files beneath a root, with the tools that are given. Look before you answer: search for the
rarest words, view around the hits, and follow what you find. Older results are cleared when the window fills: write down what
matters in your own words as you go, with path:line. A cleared result names a handle: page(handle=...) shows it again,
find(handle=..., pattern=...) searches it. Keep a todo list for work of several steps. Answer briefly; under the answer give
each line that proves it as path:line: text."""
"""The instructions for a model that works with these tools, placed before `penstock.tools.NAVIGATION`."""


class Acting(Protocol):
    """Tools that change something: editing, a shell."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, as they are described to a model."""
        ...

    def intent(self, name: str, arguments: Mapping[str, Json]) -> Intent:
        """Return what a call would change, for the journal."""
        ...

    def run(self, name: str, arguments: Mapping[str, Json]) -> Acted:
        """Do what a call asks for; a mistake of the model is a result."""
        ...

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        """Return the outcome of an intent whose outcome is not known."""
        ...


@runtime_checkable
class Changing(Protocol):
    """Acting tools that know beforehand what a file will hold."""

    def change(self, name: str, arguments: Mapping[str, Json]) -> Change | None:
        """Return the file that a call would change, with both contents."""
        ...


@runtime_checkable
class Running(Protocol):
    """Acting tools that run something and hold resources."""

    def interrupt(self) -> None:
        """End what runs now."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


class _Mark(NamedTuple):
    """What an edit left: the stamp of the file, and the digest of its content; None and empty for no file."""

    stamp: FileStamp | None
    digest: str


class Toolbox:
    """The tools of one agent over one root and one store."""

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        *,
        window_tokens: int,
        model: str = "o200k",
        ledger: Ledger | None = None,
        limits: OutputLimits | None = None,
    ) -> None:
        """Offer the file tools and the todo list; `allow` adds others.

        Args:
            workspace: the root that is read.
            store: where whole results are kept.
            window_tokens: the model's window: results are an eighth of it, within bounds.
            model: for whom tokens are counted.
            ledger: what the session knows of files; None begins without limits.
            limits: how large a result may be in any window, for a child agent; None sets no other bound.
        """
        room = max(MIN_RESULT_TOKENS, min(MAX_RESULT_TOKENS, window_tokens // RESULT_SHARE))
        self.workspace = workspace
        self.ledger = ledger or Ledger(limits=NO_LIMITS)
        self._pages: list[Window] = []
        self.result_chars = room * CHARS_PER_TOKEN
        self._max_lines = None if limits is None else limits.lines
        allowance = Allowance.tokens(room, Tokens(model=model))
        if limits is not None and limits.chars is not None:
            self.result_chars = min(self.result_chars, limits.chars)
            allowance = Allowance.chars(self.result_chars)
        self._tools = Tools(workspace, allowance=allowance, store=store, shown=self._pages.append)
        self._acting: dict[str, Acting] = {}
        offered = TOOLS if self.ledger.limits == NO_LIMITS else tuple(map(_overridable, TOOLS))
        self.tools: tuple[Tool, ...] = (*offered, todos.TODO)
        self._written: dict[str, _Mark] = {}
        self._seen: TreeSnapshot | None = None
        """The tree before the newest command."""
        self.changes = DiskChanges(workspace.root)
        """What the session changed, whichever tool did it."""
        self._store = store
        self._limits = OutputLimits(chars=self.result_chars, lines=self._max_lines)

    def allow(self, actor: Acting) -> None:
        """Also offer tools that change something."""
        self._acting |= {tool.name: actor for tool in actor.tools}
        self.tools = (*self.tools, *actor.tools)

    def intent(self, call: ToolCall) -> Intent | None:
        """Return what a call would change; None for one that only looks."""
        actor = self._acting.get(call.name)
        return None if actor is None else actor.intent(call.name, call.values)

    def change(self, call: ToolCall) -> Change | None:
        """Return the file that a call would change, with both contents; None for one that changes none, or will be refused."""
        actor = self._acting.get(call.name)
        return actor.change(call.name, call.values) if isinstance(actor, Changing) else None

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        """Return the outcome of an effect that was begun before a kill, as far as its tool can determine it."""
        # Every tool is asked, because the journal does not say whose effect it was; tools that do not know it return `unknown`, as
        # do two tools that disagree.
        told = {actor.settled(kind, what, digest) for actor in self._acting.values()} - {"unknown"}
        return told.pop() if len(told) == 1 else "unknown"

    def interrupt(self) -> None:
        """End what runs now."""
        for actor in self._running():
            actor.interrupt()

    def close(self) -> None:
        """Release what tools hold: a shell has a temporary folder."""
        for actor in self._running():
            actor.close()

    def _running(self) -> list[Running]:
        """Return the acting tools that can be interrupted and closed."""
        return [actor for actor in self._acting.values() if isinstance(actor, Running)]

    def may_write(self, act: str, path: str, version: str, content: str) -> ActVerdict:
        """Return the ledger's verdict on a change: it refuses to replace the whole of a file that was seen only in part.

        Args:
            act: `create`, `modify` or `replace`.
            path: the file.
            version: what is there now; empty for nothing.
            content: the new text.
        """
        if act == "create":
            return self.ledger.may_create(path, content)
        if act == "replace":
            return self.ledger.may_replace(path, version, content)
        return self.ledger.may_modify(path, content)

    def _noted(self, acted: Acted, before: TreeSnapshot | None, turn: int) -> tuple[dict[str, Json], ...]:
        """Record the files that an act has changed, and return them as a journal holds them."""
        files: tuple[ChangedFile, ...] = ()
        if acted.change is not None:
            files = (ChangedFile(path=acted.change.path, found=acted.before),)
        elif before is not None:
            files = between(self.workspace.root, before, look(self.workspace.root, with_digests=False))
        files = tuple(replace(file, turn=turn) for file in files)
        self.changes.note(*files)
        return tuple(file.to_dict() for file in files)

    def corrected(self, handoff: Handoff) -> Handoff:
        """Return a handoff whose files are those that differ on the disk from what the session found."""
        return self.changes.corrected(handoff)

    def overwritten(self) -> tuple[str, ...]:
        """Return the files that are no longer what an edit of this session left; each is named once."""
        gone = []
        for path, known in self._written.items():
            now = self._mark(path, known.digest, known)
            if now.digest != known.digest:
                gone.append(path)
            self._written[path] = now
        return tuple(gone)

    def _mark(self, path: str, digest: str, known: _Mark | None = None) -> _Mark:
        """Return the mark of a file, which is read only if its status has changed."""
        root = self.workspace.root
        try:
            status = root.look(root.relative(path))
        except (OSError, ToolError):
            return _Mark(None, "")
        now = FileStamp.of(status)
        if known is None or now == known.stamp:
            return _Mark(now, digest)
        return _Mark(now, digest_of(self.workspace.root, path))

    def run(self, call: ToolCall, session: Session) -> Done:
        """Run a call; never raises for anything that a model can do."""
        if (unread := call.unread) is not None:
            return Done(text=notices.not_an_object(unread), failed=True)
        arguments = call.values
        if call.name == todos.TODO.name:
            return todos.answer(arguments, session.state.todos)
        actor = self._acting.get(call.name)
        if actor is not None:
            return self._act(actor, call.name, arguments, session.state.all_turns)
        if all(tool.name != call.name for tool in self.tools):
            return Done(text=self._unknown(call.name), failed=True)
        verdict = self._may_read(arguments)
        if verdict.level == "refused":
            return Done(text=verdict.text, failed=True, is_refusal=True)
        try:
            result = self._answered(call.name, arguments)
        # A store that fails.
        except (CallerError, PenstockError) as error:
            return Done(text=str(error), failed=True)
        text = f"{result.text}\n{verdict.text}" if verdict.text else result.text
        acts = tuple(shown(page, session.state.all_turns) for page in self._pages if page.version)
        is_refusal = result.code in REFUSALS
        return Done(
            text=text,
            failed=result.is_error,
            is_refusal=is_refusal,
            seen=acts,
            tracked=self._tracked(acts),
            handles=_handle_of(result.text),
        )

    def _act(self, actor: Acting, name: str, arguments: dict[str, Json], turn: int) -> Done:
        """Run a call that may change something, and note what it has changed."""
        # Only the tree shows what a command changed.
        is_blind = not isinstance(actor, Changing)
        before = look(self.workspace.root, with_digests=True, known=self._seen) if is_blind else None
        self._seen = before or self._seen
        acted = actor.run(name, arguments)
        changed = self._noted(acted, before, turn)
        advice = size_advice(acted.change) if acted.change is not None else acted.advice
        said = f"{acted.text}\n{advice}" if advice else acted.text
        guarded = guard_output(said, name, store=self._store, limits=self._limits)
        acts = tuple({**act, "turn": turn} for act in acted.seen)
        if acted.change is not None:
            self._written[acted.change.path] = self._mark(acted.change.path, acted.after)
        return Done(
            text=guarded,
            failed=acted.failed,
            is_refusal=acted.is_refusal,
            handles=(*acted.handles, *_handle_of(guarded)),
            seen=acts,
            tracked=self._tracked(acts),
            change=acted.change,
            after=acted.after,
            changed=changed,
            advice=advice,
        )

    def _unknown(self, name: str) -> str:
        """Return the message for a call of a tool that is not offered; if a person may allow the tool, it says how."""
        known = ", ".join(tool.name for tool in self.tools)
        if name in _ALLOWED_BY:
            return (
                f"{name} is not allowed in this session; a person allows it with {_ALLOWED_BY[name]}. Tools: {known}."
            )
        if not name:
            return f"The call does not name a tool. Tools: {known}."
        return f"There is no tool {escape.clip(name)}. Tools: {known}."

    def _answered(self, name: str, arguments: dict[str, Json]) -> Result:
        """Return the answer of a tool of the table, also within the line limit of a result."""
        allowance = self._tools.allowance
        while True:
            self._pages.clear()
            result = self._tools.call(name, arguments, allowance=allowance)
            lines = result.text.split("\n")
            if self._max_lines is None or len(lines) <= self._max_lines:
                return result
            # The tool's own page, only smaller, so that the next call that it names continues after what is shown: a tool is
            # limited by characters, so the lines are converted into characters.
            fewer = min(allowance.measure("\n".join(lines[: self._max_lines])), allowance.limit * 9 // 10)
            if fewer < MIN_ALLOWANCE:
                return result._replace(text=guard_output(result.text, name, store=self._store, limits=self._limits))
            allowance = allowance._replace(limit=fewer)

    def adopt(self, child: Toolbox) -> None:
        """Take over what a child agent has written: it counts as this session's own from now on.

        Args:
            child: the tools of an agent whose work is over.
        """
        self._written |= child._written

    def _may_read(self, arguments: dict[str, Json]) -> ActVerdict:
        """Return the ledger's verdict on a read (S-5); an override is the model's word that it is necessary."""
        override = arguments.pop("override", False) is True
        path = arguments.get("file_path", arguments.get("path"))
        if override or not isinstance(path, str) or not path or self.ledger.limits == NO_LIMITS:
            return ActVerdict("ok")
        first, last, limit = (arguments.get(name) for name in ("start_line", "end_line", "limit"))
        lines = limit if type(limit) is int else last - first + 1 if type(first) is type(last) is int else None
        return self.ledger.may_read(path, lines)

    def _tracked(self, acts: Sequence[dict[str, Json]]) -> tuple[dict[str, Json], ...]:
        """Add acts to the ledger, and return what their files are now."""
        if not acts:
            return ()
        self.ledger = self.ledger.after(*acts)
        paths = {str(act["path"]): None for act in acts}
        return tuple(file.to_dict() for file in snapshot(self.workspace.root, paths, self.ledger))


def _handle_of(text: str) -> tuple[str, ...]:
    """Return the handle under which the whole of a guarded result is kept; none if it was not guarded."""
    return (text.handle,) if isinstance(text, Guarded) and text.handle else ()


_OVERRIDE = Parameter("override", "boolean", False, "read all the same, above the session's limits of files and lines")


def _overridable(tool: Tool) -> Tool:
    """Return a reading tool with the parameter by which a model overrides the ledger's limits; others as they are."""
    return tool._replace(parameters=(*tool.parameters, _OVERRIDE)) if tool.name in {"view", "read_file"} else tool
