"""How much is it? `penstock tokens`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command

if TYPE_CHECKING:
    from penstock.text.tokens import Count

_BLOCK_BYTES = 1 << 20


@command("tokens")
@click.argument("path", type=options.FILE, metavar="PATH|-")
@click.option("--model", default="o200k", show_default=True, help="The tokenizer to count with: a model or a family.")
@click.option(
    "--mode",
    type=click.Choice(["estimate", "sampled", "exact"]),
    default="sampled",
    show_default=True,
    help="Estimate everything by rules, run a tokenizer on samples, or run it on everything; the last two need penstock[exact].",
)
@options.root_option
def tokens_command(path: str, model: str, mode: Any, root: str, as_json: bool) -> int:
    """Count the tokens of the file PATH, or of standard input (-).

    A count that is not exact is printed with its lower and upper bounds.

    Examples:
      penstock tokens README.md
        about how much of a model's window the file takes
      git diff | penstock tokens -
        the same for the output of another program
    """
    from penstock.settings import allows_secrets
    from penstock.workspace import Workspace

    files = Workspace(root, allow_secrets=allows_secrets())
    count = _count_of_input(model, mode) if path == "-" else files.count_file(path, model=model, mode=mode)
    if as_json:
        answer.print_json(answer.fields_of(count, "tokens", "low", "high", "method"))
    elif count.low == count.high:
        click.echo(f"{count.tokens} tokens ({count.method})")
    else:
        click.echo(f"about {count.tokens} tokens, {count.low} to {count.high} ({count.method})")
    return 0


def _count_of_input(model: str, mode: str) -> Count:
    """Count standard input block by block, so that its size does not matter; an exact count needs all of it."""
    from penstock.text import tokens

    # Tokens span blocks: an exact count needs the whole in memory.
    if mode == "exact":
        return tokens.count(sys.stdin.buffer.read(), model=model, mode="exact")
    return tokens.estimate_blocks(iter(lambda: sys.stdin.buffer.read(_BLOCK_BYTES), b""), model=model)
