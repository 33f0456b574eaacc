"""Which agent works, and on what terms? The flags that `run`, `chat` and `resume` share, and the agent that they make.

Leaves to others: what an agent is given to do (`running`), and how it is watched (`watching`).
"""

from __future__ import annotations

import functools
import os
import shlex
import time
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import options, terminal
from penstock.cli.roots import expect_own_root, identity_of
from penstock.cli.sessions import counter_of, replayed
from penstock.cli.watching import FORMATS, EventListener, TerminalListener
from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.agent.children import ChildTools
    from penstock.agent.loop import Agent
    from penstock.agent.toolbox import Toolbox
    from penstock.guard.output import OutputLimits
    from penstock.models import Model
    from penstock.session import Session
    from penstock.session.limits import Limits
    from penstock.session.state import Effect
    from penstock.store import Store
    from penstock.text.tokens import TokenCounter
    from penstock.workspace import Workspace

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOptions:
    """How a command works and shows its work, whatever it works on."""

    store_url: str | None
    """Where the session is kept; None uses the settings."""
    output_format: str
    """One of `FORMATS`."""
    max_turns: int | None
    """Stop after so many answers; None for no limit."""
    max_wait_seconds: float
    """How long to wait for a provider or database that is down."""

    @property
    def is_for_people(self) -> bool:
        """Whether the output is text."""
        return self.output_format == "text"


_NOT_KEPT = frozenset({"root", "budget_tokens"})
"""Options of a resume that have their own records."""
_NAMED_FILES = 20
"""How many files are named for a command that was cut off."""
_budget = functools.partial(click.option, "--budget", "budget_tokens", type=options.Whole(min=1_000), metavar="TOKENS")
_BUDGET = _budget(help="Tokens that it may spend in all; with a budget it may delegate to child agents.")
_MORE_BUDGET = _budget(help="Tokens that it may spend on top of its budget.")
_EDIT = "Let it change files under the root."
_SHELL = "Let it run commands, confined to the root and without network."
_WRITE_TO = click.option(
    "--allow-write-to",
    type=options.PATH,
    multiple=True,
    metavar="PATH",
    help="Also let it change PATH, although other programs run what is there unasked (such as .git); repeatable.",
)
_COMMAND_LIMIT = click.option(
    "--command-limit",
    "command_limits",
    multiple=True,
    metavar="NAME=N",
    help="Limit of a command: processes, memory-bytes, open-files or file-bytes; repeatable.",
)
_ALLOWED = (
    click.option("--allow-edit", is_flag=True, help=_EDIT),
    _WRITE_TO,
    click.option("--allow-shell", is_flag=True, help=_SHELL),
    _COMMAND_LIMIT,
)
_ALLOWED_FROM_NOW = (
    click.option("--allow-edit/--no-allow-edit", default=None, help=_EDIT),
    _WRITE_TO,
    click.option("--no-allow-write-to", is_flag=True, help="Revoke what --allow-write-to allowed."),
    click.option("--allow-shell/--no-allow-shell", default=None, help=_SHELL),
    _COMMAND_LIMIT,
)
_TERMS = (
    click.option("--max-turns", type=options.Whole(min=1), help="Stop after this many answers of the model."),
    click.option(
        "--wait",
        "max_wait_seconds",
        type=options.WAIT,
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for a provider or database that is down.",
    ),
    click.option(
        "--output-format",
        type=click.Choice(FORMATS),
        help="text (default), json (same as --json), or stream-json: one object per line, as events happen.",
    ),
)
_BEGINNING = (
    options.folder_option("--root", "The folder that it may read.", "."),
    options.model_option,
    options.base_url_option,
    click.option(
        "--stream/--no-stream", default=True, help="Show the answer as it arrives (default), or when it is complete."
    ),
    options.window_option,
    click.option("--reserve", type=options.Whole(min=1), metavar="TOKENS", help="Tokens reserved for each reply."),
    options.profile_option,
    _BUDGET,
)
_CHANGES = (
    click.option(
        "--root", type=options.OWN_FOLDER, metavar="DIR", help="Continue in another folder than the session's own."
    ),
    click.option("--model", metavar="NAME", help="Use another model of the same API."),
    options.base_url_option,
    options.window_option,
    _MORE_BUDGET,
)


def _with_terms(chosen: tuple[Decorator, ...], allowed: tuple[Decorator, ...]) -> Decorator:
    """Return a decorator that adds options, in the order of a help page, and passes the command its `terms` as one value."""

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def called(
            *args: Any,
            store_url: str | None,
            as_json: bool,
            output_format: str | None,
            max_turns: int | None,
            max_wait_seconds: float,
            **about: Any,
        ) -> Any:
            if as_json and output_format not in {None, "json"}:
                raise click.UsageError("--json and --output-format contradict each other: give only one.")
            # A resume leaves them None: what the session already has stays.
            if about["allow_write_to"] and about["allow_edit"] is about["allow_shell"] is False:
                raise click.UsageError("--allow-write-to needs --allow-edit or --allow-shell.")
            terms = CommandOptions(
                store_url=store_url,
                output_format=output_format or ("json" if as_json else "text"),
                max_turns=max_turns,
                max_wait_seconds=max_wait_seconds,
            )
            terminal.outlive()
            return function(*args, terms=terms, **about)

        made: Any = called
        for option in reversed((*chosen, *_TERMS, *allowed, options.store_option)):
            made = option(made)
        return made

    return decorate


beginning_options = _with_terms(_BEGINNING, _ALLOWED)
"""Options for starting a session."""
resuming_options = _with_terms(_CHANGES, _ALLOWED_FROM_NOW)
"""Options that a resumed session may change."""


def begun(store: Store, about: dict[str, Any], terms: CommandOptions) -> Agent:
    """Return the agent of a new session, whose beginning is already in the journal.

    Args:
        store: where it is kept.
        about: what the flags say, by name.
        terms: how it works.
    """
    from penstock.agent.journal import new_id
    from penstock.agent.purse import open_purse
    from penstock.session import Session

    # The real path, whatever folder a resume is typed in; and the folder's identity, since another may be at its path by then.
    about["root"] = os.path.realpath(about["root"])
    parts = _parts(store, about)
    session = Session(
        limits=parts.limits,
        wire=parts.model.wire,
        system=_instructions(),
        tools=parts.definitions(has_budget=about["budget_tokens"] is not None),
        session_id=new_id(),
        agent=about["profile"],
    )
    session.counter = parts.counter
    agent = _agent(session, parts, store, terms, streams=about["stream"])
    agent.begin(about=about, at=time.time(), root_id=identity_of(about["root"]))
    _show_events(agent)
    if about["budget_tokens"] is not None:
        agent.purse = open_purse(session.session_id, about["budget_tokens"], agent.record)
        parts.give_children(agent)
    return agent


def resumed(
    store: Store, session_id: str, changes: dict[str, Any], terms: CommandOptions, *, is_written: bool
) -> tuple[Agent, tuple[str, list[dict[str, Any]]]]:
    """Return the agent of a resumed session, and the state of its files, in words and as rows.

    Args:
        store: where it is kept.
        session_id: the session.
        changes: what the flags say, by name; what they leave out is as it was, and the next resume continues with them.
        terms: how it works.
        is_written: whether it continues at all, or is only looked at.

    Raises:
        ToolError: Its folder does not exist, or another is at its path.
        CallerError: The model speaks another API than the session.
    """
    from penstock.agent.edits import changes_of
    from penstock.agent.journal import remembered
    from penstock.agent.purse import open_purse, purse_of
    from penstock.models import ScriptedModel

    session, begun, next_seq = replayed(store, session_id)
    takes_back = changes.pop("no_allow_write_to")
    said = {name: value for name, value in changes.items() if value not in (None, ())}
    if takes_back:
        said.setdefault("allow_write_to", ())
    about = {**begun["about"], **said}
    if changes["root"] is None:
        expect_own_root(begun, session_id)
    about["root"] = os.path.realpath(about["root"])
    # A session that is only looked at asks nobody, and needs no key.
    is_asked = is_written or changes["model"] is not None
    parts = _parts(store, about, None if is_asked else ScriptedModel((), session.state.transcript.wire))
    model = parts.model
    if model.wire != session.state.transcript.wire:
        asked, has = escape.clip(about["model"], 80), session.state.transcript.wire
        there = options.store_words(terms.store_url)
        raise CallerError(
            f"The session speaks {has}, and {asked} speaks {model.wire}: give a model of {has}, or pass the work on: "
            f"penstock handoff {session_id}{there} | penstock run --from - --model {shlex.quote(asked)}{there}"
        )
    session.counter = parts.counter
    if changes["window"] or changes["model"]:
        session.state = replace(session.state, limits=parts.limits, promised=None)
    acts, _ = remembered(store, session_id)
    # What was read and written before still counts: a file that was read need not be read again.
    parts.toolbox.ledger = parts.toolbox.ledger.after(*acts)
    parts.toolbox.changes.note(*changes_of(store, session_id))
    agent = _agent(session, parts, store, terms, next_seq, streams=about.get("stream", True))
    _show_events(agent)
    agent.purse = purse_of(store, session_id, agent.record)
    if is_written:
        # Before anything else is written: another process that works on the session now would conflict with it.
        kept = {name: value for name, value in said.items() if name not in _NOT_KEPT}
        limits = {"limits": session.state.limits.to_dict()} if {"window", "model"} & kept.keys() else {}
        agent.journal.claim({"about": kept, **limits} if kept else None)
    if is_written and (more := changes["budget_tokens"]) is not None:
        if agent.purse is None:
            agent.purse = open_purse(session_id, more, agent.record)
        else:
            agent.purse.grant(more)
    if agent.purse is not None:
        parts.give_children(agent)
    # The permitted tools are offered anew: a resume may allow more.
    definitions = parts.definitions(has_budget=agent.purse is not None)
    session.state = replace(session.state, transcript=replace(session.state.transcript, tools=definitions))
    return agent, _verified(store, session_id, about["root"])


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What the agent of a session with these flags is made of, and the children that it may have."""

    model: Any
    toolbox: Toolbox
    limits: Limits
    counter: TokenCounter
    equipment: ChildTools

    def definitions(self, *, has_budget: bool) -> Any:
        """Return the tools as they are offered to the model."""
        from penstock.agent.children import TASK
        from penstock.wires import tool_definitions

        return tool_definitions((*self.toolbox.tools, *([TASK] if has_budget else [])), self.model.wire)

    def give_children(self, agent: Agent) -> None:
        """Let an agent that has a budget delegate work."""
        from penstock.agent.children import Children

        Children(agent, self.toolbox, self.equipment, instructions=_instructions())


def _instructions() -> str:
    """Return the instructions for a model that works with the tools."""
    from penstock.agent.toolbox import INSTRUCTIONS
    from penstock.tools import NAVIGATION

    return f"{INSTRUCTIONS}\n\n{NAVIGATION}"


def _parts(store: Store, about: dict[str, Any], model: Model | None = None) -> _Parts:
    """Return what the agent of a session with these flags is made of.

    Args:
        store: where the session is kept.
        about: what the flags say.
        model: stands for the model that the flags name; None loads that.
    """
    from penstock.agent.children import ChildTools
    from penstock.guard.output import CHILD_AGENT
    from penstock.models import load_model
    from penstock.settings import open_workspace, profile_of

    is_local = about["model"] == "local"
    workspace, _ = open_workspace(about["root"], tell=terminal.warn)
    limits = profile_of(workspace.root, about["profile"], tell=terminal.warn)
    # `local` enforces its own window, whatever is assumed of it: with a larger one it would never be compacted.
    assumed = None if is_local else about["window"]
    model = model or load_model(about["model"], base_url=about["base_url"], window_tokens=assumed)
    # The person's figure comes first, then what the model says of itself, then the guess of the profile.
    window = about["window"] or model.window_tokens or limits.window_tokens
    limits = limits.scaled(window, about["reserve"])
    return _Parts(
        model=model,
        toolbox=_toolbox(store, about, workspace, limits, model.name),
        limits=limits,
        counter=counter_of(about["model"]),
        equipment=ChildTools(
            toolbox=lambda limits: _toolbox(store, about, workspace, limits, model.name, CHILD_AGENT),
            limits=lambda name: profile_of(workspace.root, name),
        ),
    )


def _toolbox(
    store: Store,
    about: dict[str, Any],
    workspace: Workspace,
    limits: Limits,
    model_name: str,
    results: OutputLimits | None = None,
) -> Toolbox:
    """Return the tools that the flags allow, for an agent with these limits; `results` bounds what each of them shows."""
    from penstock.agent.toolbox import Toolbox
    from penstock.session.ledger import Ledger

    # The default profile has no rules for working on files; the others keep a ledger of what was read.
    ledger = Ledger() if {about["profile"], limits.name} != {"default"} else None
    toolbox = Toolbox(
        workspace, store, window_tokens=limits.window_tokens, model=model_name, ledger=ledger, limits=results
    )
    allowed = about.get("allow_write_to", ())
    if about["allow_edit"]:
        from penstock.agent.editing import Editing

        toolbox.allow(Editing(workspace.root, guard=toolbox.may_write, allow_write_to=allowed))
    given = about.get("command_limits", ())
    if given or about["allow_shell"]:  # an invalid limit is reported even if no command is run yet
        from penstock.agent.command_limits import command_limits

        limits_of_commands = command_limits(given)._asdict()
        if about["allow_shell"]:
            from penstock.agent.shell import Shell

            shell = Shell(
                about["root"],
                store=store,
                allowance_bytes=max(2_000, toolbox.result_chars),
                allow_write_to=allowed,
                **limits_of_commands,
            )
            toolbox.allow(shell)
    return toolbox


def _agent(
    session: Session,
    parts: _Parts,
    store: Store,
    terms: CommandOptions,
    next_seq: int = 0,
    *,
    streams: bool,
) -> Agent:
    """Return the agent that drives a session, and shows what happens as the terms say."""
    from penstock.agent.loop import Agent
    from penstock.models import LocalModel
    from penstock.store import Patience

    # The output of `local` is lines of files, not Markdown: it is shown as it is.
    is_markdown = not isinstance(parts.model, LocalModel)
    listener = TerminalListener(is_markdown=is_markdown) if terms.is_for_people else None
    events = EventListener() if terms.output_format == "stream-json" else None
    agent = Agent(
        session,
        parts.model,
        parts.toolbox,
        store,
        listener=events or listener,
        next_seq=next_seq,
        streams=streams,
        max_wait_seconds=terms.max_wait_seconds,
        store_option=options.store_words(terms.store_url),
    )
    store.patience = Patience(
        seconds=terms.max_wait_seconds,
        say=(lambda what: agent.listener.step(session, what)) if events is None else events.wait,
        given_up=lambda: agent.is_stopped,
    )
    return agent


def _show_events(agent: Agent) -> None:
    """Write the agent's events for a program, if it wants them; its session is kept by now, so that its name can be relied on."""
    if isinstance(agent.listener, EventListener):
        agent.listener.watch(agent)


def settled(agent: Agent, store: Store, *, is_written: bool) -> list[str]:
    """Return what is known now of effects that were begun before the session stopped, and record their outcome.

    What stays unknown, as of every command, is reported by the first resume alone: the model has it as the result of its call
    from then on, and the session may since have done the same again.

    Args:
        agent: the agent that continues.
        store: where its journal is.
        is_written: whether it continues at all, or is only looked at.
    """
    from penstock.agent.edits import looked_into
    from penstock.session import Effected
    from penstock.session.effects import settled_later

    lines: list[str] = []
    unknown = agent.session.state.unknown_effects
    reported = looked_into(store, agent.session.session_id) if unknown else ()
    for effect_id, effect in unknown.items():
        outcome = agent.tools.settled(effect.kind, effect.what, effect.digest)
        if outcome == "unknown" and effect_id in reported:
            continue
        if outcome != "unknown" and is_written:
            # Without a digest if nothing was made: an undo then knows of no such edit.
            agent.feed(Effected(effect_id=effect_id, digest="" if outcome == "not done" else effect.digest))
        lines.append(settled_later(effect.kind, effect.what, outcome))
        if is_written and (left := _left_beside(agent, effect)):
            names = ", ".join(map(escape.show_name, left))
            lines.append(
                f"Kept beside it, as nothing else holds what is in there: {names}. Look at it, then remove it."
            )
    return lines


def _left_beside(agent: Agent, effect: Effect) -> list[bytes]:
    """Return the files that a killed edit left beside its own and that hold anything but what the session keeps."""
    from penstock.agent.editing import KIND
    from penstock.agent.toolbox import Toolbox
    from penstock.workspace import writing

    if effect.kind != KIND or not effect.digest or not isinstance(agent.tools, Toolbox):
        return []
    root = agent.tools.workspace.root
    return writing.clear_left(root, root.relative(effect.what), effect.digest.split(">"))


def behind_cut_off(agent: Agent, store: Store, *, is_written: bool) -> list[str]:
    """Return the visible effects of commands that a kill cut off, and record them: what they did belongs to the session (S-9).

    Args:
        agent: the agent that continues.
        store: where its journal is.
        is_written: whether it continues at all.
    """
    from penstock.agent.edits import UNTOLD, cut_off_of, left_by
    from penstock.agent.record_types import CHANGED
    from penstock.agent.toolbox import Toolbox

    toolbox, cut_off = agent.tools, cut_off_of(store, agent.session.session_id)
    if not cut_off or not isinstance(toolbox, Toolbox):
        return []
    files, are_told = left_by(cut_off.values(), toolbox.workspace.root)
    if is_written:
        toolbox.changes.note(*files)
        agent.record(CHANGED, {"files": [file.to_dict() for file in files], "cut_off": list(cut_off)})
    names = ", ".join(escape.show_name(file.path) for file in files[:_NAMED_FILES])
    more = f" and {len(files) - _NAMED_FILES} more" if len(files) > _NAMED_FILES else ""
    told = [f"Changed since it began, by it or by others: {names}{more}."] if files else []
    return told if are_told else [*told, UNTOLD]


def _verified(store: Store, session_id: str, root: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the present state of the files that the session knows, in words for people and the model, and as rows for scripts."""
    from penstock.agent.file_check import Tracked, report, verify
    from penstock.agent.journal import remembered
    from penstock.workspace.root import Root

    _, files = remembered(store, session_id)
    with closing(Root(root)) as looking:
        found = verify(looking, [Tracked.from_dict(file) for file in files.values()])
    rows = [
        {"path": one.tracked.path, "state": one.state, "reason": one.reason, "read_again": one.must_be_read}
        for one in found
    ]
    return report(found), rows
