"""What can a person type? `penstock COMMAND`, thin: a command turns flags into one call and prints its answer.

Keeps out: everything that a command does. A group of commands is loaded when one of them is used, so that each starts
quickly.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from penstock import __version__
from penstock.cli import answer

_HOMES = {
    "view": "pages",
    "read": "pages",
    "outline": "pages",
    "list": "trees",
    "count": "trees",
    "search": "trees",
    "tokens": "sizes",
    "guard": "keeping",
    "page": "keeping",
    "find": "keeping",
    "store": "keeping",
    "diagnose": "refusals",
    "violations": "requests",
    "bill": "requests",
    "fit": "requests",
    "check-code": "code",
    "structure": "documents",
    "chunk": "documents",
    "document": "documents",
    "run": "running",
    "chat": "running",
    "sessions": "running",
    "show": "running",
    "handoff": "running",
    "resume": "running",
    "stats": "figures",
    "mcp": "serving",
    "doctor": "serving",
    "completion": "serving",
}


class _Commands(click.Group):
    """The commands by name, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        home = _HOMES.get(cmd_name)
        if home is None:
            return None
        command = getattr(import_module(f"penstock.cli.{home}"), f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)  # noqa: S101 - the table above names commands
        return command


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit status: 0 done, 1 nothing found, 2 usage, 3 refused, 4 missing, 5 stale, 6 partial or past the deadline, "
    "7 over budget, 8 a fault of the disk or the store, 130 interrupted.",
)
@click.version_option(__version__, prog_name="penstock")
def cli() -> None:
    """Read anything in pages, list anything in pages, and see the price first."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit status; errors are one line, or one object under --json."""
    arguments = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in arguments
    try:
        status = cli.main(args=arguments, prog_name="penstock", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return answer.USAGE
    except click.UsageError as error:
        hint = f" {error.ctx.get_usage().splitlines()[0]}" if error.ctx is not None else None
        return answer.fail(
            "usage", error.format_message(), hint.strip() if hint else None, answer.USAGE, as_json=as_json
        )
    except click.ClickException as error:
        return answer.fail("usage", error.format_message(), None, answer.USAGE, as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        return answer.INTERRUPTED
    except BrokenPipeError:
        return answer.quiet_pipe()
    else:
        return status if isinstance(status, int) else 0
