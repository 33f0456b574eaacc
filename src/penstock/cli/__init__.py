"""What can a person type? `penstock COMMAND`, thin: a command turns flags into one call and prints its answer.

`commands` says how a command explains itself, `options` which flags several share, `answer` how a result or an error is printed,
`terminal` how output looks on a terminal, `completion` what a shell offers; each other module holds some commands. Leaves to
others: everything that a command does. A command's module is loaded when it is used, so that each starts quickly.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from itertools import pairwise

import click

from penstock.cli import answer, terminal
from penstock.cli.commands import HELP_WIDTH, CommandTable
from penstock.version import __version__

COMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "Read files": {
        "pages": ("view", "read", "outline"),
        "file_search": ("list", "count", "search"),
        "sizes": ("tokens",),
    },
    "Guard output and read back what was kept": {"guarding": ("guard",), "keeping": ("page", "find", "store")},
    "Requests and refusals": {"refusals": ("diagnose",), "requests": ("violations", "repair", "bill", "fit")},
    "Agent and sessions": {
        "running": ("run", "chat", "resume", "undo"),
        "sessions": ("sessions", "show", "handoff"),
        "figures": ("stats",),
        "code": ("check-code",),
    },
    "Other agents": {
        "installing": ("install", "uninstall"),
        "hosting": ("hook",),
        "relaying": ("relay",),
        "gateways": ("gateway",),
        "inspecting": ("inspect",),
        "rescuing": ("rescue",),
        "replaying": ("replay",),
    },
    "COBOL": {
        "programs": ("structure", "chunk"),
        "documents": ("document",),
        "queues": ("worker", "queue"),
        "impacts": ("impact",),
    },
    "Servers and setup": {"serving": ("mcp", "doctor", "completion")},
}
"""The commands by purpose and by the module that holds them, in the order in which they are listed."""

ELSEWHERE = {
    **dict.fromkeys(("cat", "head", "less"), "view"),
    **dict.fromkeys(("ls", "glob", "tree"), "list"),
    **dict.fromkeys(("grep", "rg"), "search"),
    **dict.fromkeys(("compact", "compress", "shrink", "trim"), "fit"),
    "wc": "count",
    "truncate": "guard",
    "validate": "violations",
    "ask": "run",
    "continue": "resume",
    "history": "sessions",
    "setup": "install",
    "serve": "mcp",
}
"""What other programs and people call what a command does: of names that are merely spelled alike, none is meant."""


@click.command(
    cls=CommandTable,
    table=COMMANDS,
    elsewhere=ELSEWHERE,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_WIDTH},
    epilog="Exit status: 0 done, 1 nothing found or a check that fails, 2 usage, 3 refused, 4 missing, 5 stale, "
    "6 partial or past the deadline, 7 over budget or irreducible, 8 the disk, the store or a provider failed, 130 interrupted.",
)
@click.version_option(__version__, prog_name="penstock")
def cli() -> None:
    """Fit what an agent reads, prints and sends into its context window.

    `penstock COMMAND --help` explains a command and shows examples.

    Examples:
      penstock view README.md
        a page of a file, and the call that shows the next one
      penstock run "Which port does the server use?"
        an answer with the lines it is based on; the model `local` needs no key
    """


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The words after `penstock`; by default what was typed.

    Returns:
        The exit status. An error has been printed as one line, or as one object under `--json`.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if "_PENSTOCK_COMPLETE" in os.environ:  # a shell asks: click looks for the shell before the command
        from penstock.cli import shells  # noqa: F401 - imported for what it registers
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            status = _status_of(arguments)
    except BrokenPipeError:
        return answer.quiet_pipe()
    except OSError as error:  # the output cannot be printed: the disk is full
        status = answer.FAULT
        with suppress(OSError):  # even the error may fail to print
            answer.report(error, {})
    return _written(status)


def _warn(message: Warning | str, *_about: object, **_more: object) -> None:
    """Show a warning as one line of ours: the Python line that raised it tells a person nothing."""
    terminal.warn(str(message))


def _written(status: int) -> int:
    """Flush pending output: if that failed at the very end, the interpreter would set its own status."""
    if sys.stdout is None:  # it was closed before we began, and nothing was printed
        return status
    try:
        sys.stdout.flush()
    except OSError as error:
        if status != answer.FAULT and not isinstance(error, BrokenPipeError):
            status = answer.report(error, {})
        answer.quiet_pipe()
    return status


def _status_of(arguments: list[str]) -> int:
    """Run one command and return its exit status. Raises OSError if nothing can be printed."""
    # if click fails to parse, it has not parsed this either
    output_format = next((name for name in ("stream-json", "json") if _asks_for(name, arguments)), "text")
    try:
        status = cli.main(args=arguments, prog_name="penstock", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return answer.USAGE
    except click.ClickException as error:
        return answer.fail(
            "usage", answer.misuse(error), answer.way_out(error), answer.USAGE, output_format=output_format
        )
    except (click.Abort, KeyboardInterrupt):
        return answer.INTERRUPTED
    else:
        return status if isinstance(status, int) else 0


def _asks_for(output_format: str, arguments: list[str]) -> bool:
    """Return whether the words of a command line ask for a format."""
    flags = {f"--output-format={output_format}", *(["--json"] if output_format == "json" else [])}
    named = ("--output-format", output_format)
    return not flags.isdisjoint(arguments) or named in pairwise(arguments)
