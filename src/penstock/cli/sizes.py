"""How much is it? `penstock tokens`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from penstock.cli import answer
from penstock.errors import CallerError, ToolError

if TYPE_CHECKING:
    from penstock import tokens

_BLOCK_BYTES = 1 << 20


@click.command("tokens")
@click.argument("path")
@click.option("--model", default="o200k", show_default=True, help="A model or a family of tokenizers.")
@click.option("--mode", type=click.Choice(["estimate", "sampled", "exact"]), default="sampled", show_default=True)
@answer.root_option
def tokens_command(path: str, model: str, mode: str, root: str, as_json: bool) -> int:
    """Count the tokens of the file PATH, or of standard input (-)."""
    from penstock.workspace import Workspace

    try:
        files = Workspace(root)
        count = _of_input(model, mode) if path == "-" else files.count_file(path, model=model, mode=mode)  # type: ignore[arg-type]
    except ToolError as error:
        return answer.fail(error.code, error.message, None, answer.status_of(error.code), as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)
    if as_json:
        click.echo(json.dumps({"tokens": count.tokens, "low": count.low, "high": count.high, "method": count.method}))
    elif count.low == count.high:
        click.echo(f"{count.tokens} tokens ({count.method})")
    else:
        click.echo(f"about {count.tokens} tokens, {count.low} to {count.high} ({count.method})")
    return 0


def _of_input(model: str, mode: str) -> tokens.Count:
    """Standard input block by block, so that its size does not matter; an exact count needs it whole."""
    from penstock import tokens

    if mode == "exact":
        return tokens.count(sys.stdin.buffer.read(), model=model, mode="exact")
    total, low, high, method = 0, 0, 0, "estimate"
    while block := sys.stdin.buffer.read(_BLOCK_BYTES):
        part = tokens.count(block, model=model)
        total, low, high, method = total + part.tokens, low + part.low, high + part.high, part.method
    return tokens.Count(tokens=total, low=low, high=high, method=method)
