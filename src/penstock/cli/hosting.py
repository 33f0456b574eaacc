"""What do other agents run? `penstock hook`, which their hosts start after each call."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import click

from penstock.cli import answer, options
from penstock.cli.commands import HelpPage
from penstock.hosts import HOOK_NAMES, hook_host

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from penstock.store import Store
    from penstock.text.calls import Dialect

_LAST_SECONDS = 3
_HANDOFF_TOKENS = 800  # `handing_on` is loaded only when needed
_HOOK_SECONDS = 20  # hosts wait 60 by default, and a person waits with them


class _HookPage(HelpPage):
    """A command that a host starts: a mistake in its line is reported to the person and never blocks the host (H-5).

    Claude Code and Gemini CLI take the exit status of wrong usage, 2, as a refusal of what their model did.
    """

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments; a mistake in them becomes a message in the form of hosts, unless a person watches."""
        try:
            return super().make_context(*args, **extra)
        except click.UsageError as error:
            if sys.stdout is None or sys.stdout.isatty():
                raise
            said = f"penstock hook: {answer.misuse(error)} Nothing was changed."
            click.echo(said, err=True)
            click.echo(json.dumps({"systemMessage": said}))
            raise click.exceptions.Exit(0) from None


@click.command("hook", cls=_HookPage)
@click.argument("host", type=click.Choice(HOOK_NAMES), metavar="HOST")
@click.option(
    "--budget",
    type=options.Whole(min=1_000),
    metavar="CHARS",
    help="Largest size of a result, in characters; by default what the host shows.",
)
@click.option("--mcp", "has_tools", is_flag=True, help="Have notices name the tool ctx_page instead of the command.")
@options.kept_option
@click.option(
    "--pinned",
    type=options.OWN_FILE,
    metavar="FILE",
    help="Rules that survive compactions; by default .penstock/pinned.md.",
)
@click.option(
    "--handoff-tokens",
    type=options.Whole(min=200),
    default=_HANDOFF_TOKENS,
    show_default=True,
    help="Largest size of the pinned rules and open items together, in tokens.",
)
@options.said_json_option("Always one JSON object: {} if nothing changes.")
def hook_command(
    host: str,
    budget: int | None,
    has_tools: bool,
    store_url: str | None,
    pinned: str | None,
    handoff_tokens: int,
    as_json: bool,
) -> int:
    """Cut an oversized tool result for another agent's HOST.

    HOST is claude, codex, gemini, copilot or opencode; `penstock install HOST` writes this command into its configuration.

    The host runs it after each tool call, with the event on standard input, and reads the reply. An oversized result is kept
    whole, and the model is shown as much as fits, with the call that shows the rest. Below the budget nothing is printed and
    nothing changes. Before a compaction the session's handoff is saved; after it, and at the start of a session, the open items
    are given back together with the project's pinned rules.

    Examples:
      penstock hook claude < event.json
        what PostToolUse runs in the settings of Claude Code
      penstock hook claude --budget 12000 < event.json
        shorter results, for a model with a small window
    """
    from penstock.hosts.hook import MAX_EVENT_BYTES, Hook

    known = hook_host(host)

    def open_store() -> Store:
        from penstock.store import open_store

        return open_store(store_url, wait_seconds=options.BUSY_SECONDS)

    def find_dialect() -> Dialect:
        from penstock.text.calls import CommandLine, mcp

        smaller = min((each for each in (budget, known.page_bytes) if each), default=None)
        return mcp() if has_tools else CommandLine(store=store_url, program=_program(), budget=smaller)

    handing_on = None
    if pinned is not None or handoff_tokens != _HANDOFF_TOKENS:
        from penstock.hosts.handing_on import HandingOn, folder_for

        handing_on = HandingOn(folder=folder_for(os.environ), budget_tokens=handoff_tokens, pinned=pinned)
    hook = Hook(known, open_store, find_dialect, budget=budget, handing_on=handing_on)
    if sys.stdout is None:  # nobody reads the answer
        return 0
    reply = b""
    with suppress(OSError, TimeoutError), _at_most(_HOOK_SECONDS):
        raw = sys.stdin.buffer.read(MAX_EVENT_BYTES + 1) if sys.stdin is not None else b""
        if len(raw) > MAX_EVENT_BYTES:
            click.echo(
                f"penstock hook: the event is longer than {MAX_EVENT_BYTES} bytes; nothing was changed", err=True
            )
        elif sys.stdin is not None:
            reply = hook.answer(raw)
        sys.stdout.buffer.write(reply or b"{}\n" * as_json)
        sys.stdout.buffer.flush()
    return 0


def _program() -> str:
    """Return the words by which a shell of the host runs Penstock: its name if that is found, else what runs now."""
    import shlex

    from penstock.cli.installing import own_command

    words = own_command()
    folder, name = os.path.split(words[0])
    return name if len(words) == 1 and folder in os.get_exec_path() else shlex.join(words)


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the block after so long, if the system has alarms: no store may hold up a host.

    If the block continues nevertheless, the process is ended a little later, without an answer.
    """
    if sys.platform == "win32":
        yield
        return

    def late(*_: object) -> NoReturn:
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.alarm(_LAST_SECONDS)
        raise TimeoutError(f"No answer within {seconds} seconds.")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
