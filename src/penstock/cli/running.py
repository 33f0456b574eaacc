"""Who works on a question? `penstock run`, `chat` and `resume`, and `undo`, which reverts what was done."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.agents import beginning_options, begun, behind_cut_off, resumed, resuming_options, settled
from penstock.cli.commands import command
from penstock.cli.handoffs import read_handoff, take_up
from penstock.cli.keeping import opened
from penstock.cli.roots import expect_own_root, move
from penstock.cli.sessions import replayed, session_argument
from penstock.cli.watching import finish, telling_of_others, work
from penstock.errors import CallerError

if TYPE_CHECKING:
    from penstock.cli.agents import CommandOptions

_PROMPT = "> "
_HOW = "An empty line ends the conversation; Ctrl-C stops an answer."
# What people type from habit: other agents take it as a command, and a model would be paid to answer it.
_HABIT = re.compile(r"/[a-z]{1,20}|exit|quit")
_ENDS = frozenset({"exit", "quit", "/exit", "/quit"})
_LINE_CHARS = 1 << 24  # the most of a question from a pipe
_SIGNALS = 2  # that end a conversation


@command("run")
@click.argument("question", required=False)
@click.option(
    "--from",
    "handoff_file",
    type=options.OWN_FILE,
    metavar="HANDOFF",
    help="Start where another session ended: a handoff document, or - for standard input.",
)
@beginning_options
def run_command(question: str | None, handoff_file: str | None, terms: CommandOptions, **about: Any) -> int:
    """Answer QUESTION about the files under --root.

    The session survives refusals, outages, interrupts and kills. The answer goes to standard output, and a line for each step
    to standard error. Ctrl-C stops the work and keeps the session. The model `local` quotes what it finds and needs no key;
    models of providers take their keys from the usual variables.

    Examples:
      penstock run "Which port does the server use?"
        the most relevant passages
      penstock run "What does app.py do?" --model openai-chat:gpt-4o
        the same, answered by a model; --base-url names a compatible server
    """
    from penstock.wires.placeholders import GO_ON_FROM_HERE

    question = question if question and question.strip() else None
    if question is None and handoff_file is None:
        raise click.UsageError("Give a QUESTION, or --from HANDOFF.")
    with opened(terms.store_url, may_begin=True) as store:
        handed_on = None if handoff_file is None else read_handoff(handoff_file)
        agent = begun(store, about, terms)
        with closing(agent.tools):
            told = ""
            if handed_on is not None and handoff_file is not None:
                told = report = take_up(handed_on, handoff_file, about["root"], agent)
                question = question or GO_ON_FROM_HERE
                if terms.is_for_people:
                    click.echo(report, err=True)
            return finish(work(agent, question, terms.max_turns, told), agent, terms.output_format)


@command("chat")
@beginning_options
def chat_command(terms: CommandOptions, **about: Any) -> int:
    """Talk with a model about the files under --root.

    Type a line at a time; an empty line or the end of input ends the conversation, and `penstock resume` continues it later. On
    a terminal, lines can be edited, a paste of several lines is one message, and `exit` ends it too; with --json each answer is
    an object. Ctrl-C stops an answer; pressed again at once, or at the prompt, it ends the conversation.

    Examples:
      penstock chat
        with the model that needs no key
      echo "Which port does the server use?" | penstock chat --root src
        a question from a pipe, about the files under src
    """
    with opened(terms.store_url, may_begin=True) as store:
        agent = begun(store, about, terms)
        status = 0
        if _is_typed():
            click.echo(_HOW, err=True)
        with closing(agent.tools):
            signals: list[int] = []
            # One Ctrl-C stops an answer; a second one, or any other signal, ends the conversation.
            while set(signals) <= {signal.SIGINT} and len(signals) < _SIGNALS and (prompt := _next_prompt()):
                signals.clear()
                status = finish(work(agent, prompt, terms.max_turns, signals=signals), agent, terms.output_format)
        return status


def _is_typed() -> bool:
    """Return whether a person types the lines, and sees what is asked."""
    return terminal.is_watched(sys.stdin) and (sys.platform != "win32" or terminal.is_watched(sys.stdout))


def _next_prompt() -> str:
    """Return what a person says next; empty if the conversation is over.

    At a terminal the line can be edited, the arrow keys recall older ones, and several pasted lines are one. Without that, a
    terminal passes on 4,095 bytes of a line and silently drops the rest.
    """
    if _is_typed():
        if sys.platform != "win32":  # the console of Windows edits lines itself
            with suppress(ImportError):
                import readline  # `input` then reads with it

                readline.parse_and_bind("set enable-bracketed-paste on")  # Python turns it off
        with suppress(EOFError, OSError), terminal.output_on_terminal():
            while _HABIT.fullmatch(said := input(_PROMPT).strip()) and said not in _ENDS:
                click.echo(f"There is no command {said}. {_HOW}", err=True)
            return "" if said in _ENDS else said
        return ""
    # On standard error: a pipe gets only the answers.
    click.echo(_PROMPT, nl=False, err=True)
    line = "" if sys.stdin is None else sys.stdin.readline(_LINE_CHARS)
    if len(line) == _LINE_CHARS and not line.endswith("\n"):  # an endless line would fill the memory
        said = f"A line of {_LINE_CHARS} characters and more is too long for any model"
        raise CallerError(f"{said}: put it into a file beneath --root, and ask about that.")
    return line.strip()


@command("resume")
@session_argument
@click.argument("prompt", required=False)
@click.option("--verify-only", is_flag=True, help="Show what has changed since, and do nothing.")
@resuming_options
def resume_command(
    session_id: str,
    prompt: str | None,
    verify_only: bool,
    terms: CommandOptions,
    **changes: Any,
) -> int:
    """Continue session ID, after checking its files against the disk.

    The session continues in the folder where it began, wherever you run this, and with its last settings: --root, --model,
    --base-url, --window, --command-limit and what is allowed also hold for the next resume, and --no-allow-edit and its kin
    revoke what was allowed. With PROMPT it continues with that; without, with whatever was open when it stopped.

    Examples:
      penstock resume ID --verify-only
        which of the files that the session knows have changed since
      penstock resume ID "And which host?"
        a further question, in the same session
    """
    from penstock.agent.asking import last_words
    from penstock.agent.protocols import AgentRun
    from penstock.wires.placeholders import GO_ON_FROM_HERE

    prompt = prompt if prompt and prompt.strip() else None  # an empty variable in a script says nothing
    with opened(terms.store_url) as store, telling_of_others(session_id):
        agent, (report, verified) = resumed(store, session_id, changes, terms, is_written=not verify_only)
        known = settled(agent, store, is_written=not verify_only)
        known += behind_cut_off(agent, store, is_written=not verify_only)
        report = "\n".join([report, *known])
        if verify_only:
            answer.give({"session": session_id, "verification": verified}, report, not terms.is_for_people)
            return 0
        if terms.is_for_people:
            click.echo(report, err=True)
        if changes["root"]:
            move(agent, changes["root"])
        state = agent.session.state
        # A session stopped in the middle of a turn continues by itself; one that has answered waits for the next question.
        if prompt is None and state.phase == "idle" and last_words(state.transcript):
            ask_more = agent.command("resume", '"QUESTION"')
            message = f"Nothing is open: this was its answer. To ask more: {ask_more}"
            done = AgentRun(session=session_id, answer=last_words(state.transcript), message=message)
            return finish(done, agent, terms.output_format, verification=verified)
        if prompt is None and state.phase in {"idle", "ended"}:
            prompt = GO_ON_FROM_HERE
        is_news = bool(known) or any(row["state"] != "same" for row in verified)
        with closing(agent.tools):
            done = work(agent, prompt, terms.max_turns, report if is_news else "")
        return finish(done, agent, terms.output_format, verification=verified)


@command("undo")
@session_argument
@click.argument("edit", required=False, type=options.Whole(min=1))
@click.option(
    "--root",
    type=options.OWN_FOLDER,
    metavar="DIR",
    help="The folder, if it is no longer the session's own.",
)
@options.store_option
def undo_command(session_id: str, edit: int | None, root: str | None, store_url: str | None, as_json: bool) -> int:
    """Undo an edit of session ID.

    EDIT is its number, 1 for the first. Without it, the last edit not yet undone is undone, so repeating the command goes back
    one edit at a time. A file is changed only if it is still as the edit left it, so nobody else's changes are lost.

    Examples:
      penstock undo ID
        the last edit; run it again for the one before
      penstock undo ID 1
        the first edit
    """
    from penstock.agent.edits import undo
    from penstock.workspace.root import Root

    with opened(store_url) as store:
        _, begun, _ = replayed(store, session_id)
        with closing(Root(root or expect_own_root(begun, session_id, "undo"))) as opened_root:
            said = undo(opened_root, store, session_id, edit)
    if as_json:
        answer.print_json({"session": session_id, "undone": said})
    else:
        click.echo(said)
    return 0
