"""What is served, and what is in force? `penstock mcp`, `doctor` and `completion`."""

from __future__ import annotations

import json
import os
import sys

import click

from penstock.cli import answer
from penstock.errors import CallerError


@click.command("mcp")
@click.option("--root", default=".", metavar="DIR", show_default=True, help="The folder that is served.")
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP on a loopback address instead of stdio.")
@click.option("--token-file", metavar="F", help="File with the bearer token for --http; made when missing.")
@click.option("--tool-prefix", default="ctx_", show_default=True, help="What tool names begin with.")
@click.option(
    "--budget", type=int, metavar="CHARS", help="Characters of a result; by default what the host shows whole."
)
@click.option("--allow-mounts", is_flag=True, help="Paths may cross into other file systems.")
@click.option("--no-landlock", is_flag=True, help="Do without the second wall around the serving process.")
@click.option("--i-know", is_flag=True, help="Bind --http to an address that others can reach.")
def mcp_command(
    root: str,
    http: str | None,
    token_file: str | None,
    tool_prefix: str,
    budget: int | None,
    allow_mounts: bool,
    no_landlock: bool,
    i_know: bool,
) -> int:
    """Serve the file tools of DIR to agents over the Model Context Protocol."""
    from penstock.mcp_server import serve

    try:
        return serve(
            root,
            http=http,
            token_file=token_file,
            prefix=tool_prefix,
            budget=budget,
            allow_mounts=allow_mounts,
            landlock=not no_landlock,
            i_know=i_know,
        )
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=False)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def doctor_command(as_json: bool) -> int:
    """Say what is in force: confinement, store, versions, extras."""
    report = examine()
    if as_json:
        click.echo(json.dumps(report))
    else:
        for name, value in report.items():
            rows = value.items() if isinstance(value, dict) else [("", value)]
            for inner, what in rows:
                click.echo(f"{name + (' ' + inner if inner else ''):<28} {what}")
    return 0


def examine() -> dict[str, object]:
    """What `penstock doctor` reports, by subject."""
    from importlib import metadata

    from penstock import __version__
    from penstock.workspace import landlock
    from penstock.workspace.root import openat2_works

    def installed(distribution: str) -> str:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            return "not installed"

    wall = landlock.status()
    return {
        "penstock": __version__,
        "python": sys.version.split()[0],
        "system": " ".join(os.uname()[i] for i in (0, 2, 4)),
        "confinement": "openat2 (one kernel call beneath the root)"
        if openat2_works()
        else "walk (no link is followed)",
        "landlock": f"available, ABI {wall.abi}: applied by penstock mcp"
        if wall.abi
        else "not available in this kernel",
        "search": f"google-re2 {installed('google-re2')}",
        "store": _store(),
        "extras": {
            "mcp": installed("mcp"),
            "exact": installed("toktok-rs"),
            "languages": installed("tree-sitter"),
            "postgres": installed("psycopg"),
        },
    }


def _store() -> dict[str, object]:
    """Where outputs are kept, how much for how long, and what that rests on; or what is wrong. Looking makes no store."""
    from penstock import store
    from penstock.errors import PenstockError
    from penstock.store.sqlite import DATABASE

    report: dict[str, object] = {}
    try:
        url = store.default_url()
        folder = store.folder_of(url)
        report["at"] = "a database" if folder is None else f"sqlite://{folder}"  # a URL may hold a password
        report["limit_bytes"] = store.default_limit_bytes()
        report["life_days"] = store.default_life_seconds() / 86_400
        if folder is not None and not os.path.exists(os.path.join(folder, DATABASE)):
            return {**report, "state": "none yet: the first output that is kept makes it"}
        opened = store.open_store(url)
        try:
            facts = opened.facts()
        finally:
            opened.close()
    except (PenstockError, OSError) as error:
        return {**report, "fault": str(error)}
    return {**report, "at": facts.pop("store"), **facts}


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> int:
    """Print the completion script for SHELL: eval "$(penstock completion bash)"."""
    from click.shell_completion import get_completion_class

    from penstock.cli import cli

    completer = get_completion_class(shell)
    if completer is None:
        return answer.fail("usage", f"there is no completion for {shell}", None, answer.USAGE, as_json=False)
    click.echo(completer(cli, {}, "penstock", "_PENSTOCK_COMPLETE").source())
    return 0
