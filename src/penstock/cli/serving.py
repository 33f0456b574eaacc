"""What is served, and what is in force? `penstock mcp`, `doctor` and `completion`."""

from __future__ import annotations

import dataclasses
import os
import platform
import sys
from typing import Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.errors import CallerError

_EXTRAS = {
    "mcp": "mcp",
    "exact": "toktok-rs",
    "gateway": "aiohttp",
    "graph": "networkx",
    "languages": "tree-sitter",
    "objects": "obstore",
    "otel": "opentelemetry-api",
    "postgres": "psycopg",
    "providers": "httpx2",
    "queue": "procrastinate",
    "re2": "google-re2",
    "zst": "backports-zstd",
}
"""The extras, each with the distribution that shows whether it is installed."""


@command("mcp")
@options.folder_option("--root", "The folder that is served.", ".")
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP on a loopback address instead of stdio.")
@click.option(
    "--token-file",
    type=options.OWN_FILE,
    metavar="F",
    help="File with the bearer token for --http; created if missing.",
)
@click.option("--tool-prefix", "prefix", default="ctx_", show_default=True, help="Prefix of the tool names.")
@click.option(
    "--budget",
    type=int,
    metavar="CHARS",
    help="Largest size of a result, in characters; by default what the host shows whole.",
)
@click.option("--allow-mounts", is_flag=True, help="Let paths cross into other file systems.")
@click.option("--allow-secrets", is_flag=True, help="Also serve files whose names say that they hold credentials.")
@click.option("--no-landlock", is_flag=True, help="Do without Landlock, the second wall around the server.")
@click.option("--i-know", is_flag=True, help="Allow --http to bind an address that other machines can reach.")
@options.served_json_option
def mcp_command(root: str, no_landlock: bool, as_json: bool, **how: Any) -> int:
    """Serve the file tools of a folder to agents over MCP.

    Serves on standard input and output, as hosts start it, or over HTTP. Answers are sized for the host that asks. Needs
    penstock[mcp].

    Examples:
      penstock mcp --root src
        what a host's configuration starts; it exits at the end of input
      penstock mcp --http 127.0.0.1:8000 --token-file token
        for hosts that connect; it runs until Ctrl-C
    """
    from penstock.mcp_server import serve

    if as_json and how["http"] is None:
        raise CallerError(answer.PROTOCOL_ONLY)
    tell_url = answer.print_url if as_json else None
    return serve(root, landlock=not no_landlock, tell_url=tell_url, **how)


@command("doctor")
@options.json_option
def doctor_command(as_json: bool) -> int:
    """Show what is in force: confinement, store, versions, extras.

    Whatever `penstock install` added to other agents is tested: a hook has to cut a large result and give all of it back, a
    server has to list its tools. The exit status is 1 if one of them, or the store, does not work.

    Examples:
      penstock doctor
        the first thing to run when something does not work as expected
      penstock doctor --json
        the same for a script, or for a bug report
    """
    report = examine()
    fields: list[tuple[str, object]] = []
    report["installed"] = _installed()
    for name, value in report.items():
        if name == "installed":
            fields += _installed_fields(value)
        elif isinstance(value, dict):
            fields += [(f"{name} {inner}", what) for inner, what in value.items()]
        else:
            fields.append((name, value))
    answer.give(report, terminal.render_fields(fields, width=28), as_json)
    is_broken = "fault" in report["store"] or any(each["works"] is False for each in report["installed"])
    return answer.NOTHING if is_broken else 0


_CONFINEMENTS = {
    "openat2": "openat2 (one kernel call beneath the root)",
    "walk": "walk (no link is followed)",
    "paths": "paths (no link is followed; names, not content, can leak to whoever swaps folders meanwhile)",
}


def _installed() -> list[dict[str, object]]:
    """Return what is installed in other agents, for the user and for the project in the current folder, and whether it works."""
    from penstock.cli.installing import own_command, surroundings
    from penstock.hosts import probing
    from penstock.hosts.installed import find_installed

    found = find_installed(*surroundings(), own_command())
    said = probing.versions(sorted({each.host for each in found}))
    return [
        {
            **answer.fields_of(each, "host", "part", "scope", "path"),
            "version": said[each.host],
            "works": probe.works,
            "seen": probe.seen,
        }
        for each, probe in zip(found, probing.probe_all(found), strict=True)
    ]


def _installed_fields(installed: list[dict[str, Any]]) -> list[tuple[str, object]]:
    """Return the lines about other agents."""
    words = {True: "works", False: "does not work", None: "not tried"}
    if not installed:
        return [("installed", "in no other agent: penstock install HOST does that")]
    return [
        (
            f"{each['host']} {each['part']}",
            f"{words[each['works']]}: {each['seen']} ({each['host']} {each['version']}, {each['path']})",
        )
        for each in installed
    ]


def examine() -> dict[str, Any]:
    """Return what `penstock doctor` reports, by subject."""
    from importlib import metadata

    from penstock.version import __version__
    from penstock.workspace import landlock
    from penstock.workspace.pattern import has_linear_engine
    from penstock.workspace.re_child import can_run
    from penstock.workspace.system import strongest

    def installed(distribution: str) -> str:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            return "not installed"

    # Each of these is tested, not looked up: a kernel may have a call and forbid it.
    wall = landlock.status()
    return {
        "penstock": __version__,
        "python": sys.version.split()[0],
        "system": " ".join(platform.uname()[at] for at in (0, 2, 4)),
        "confinement": _CONFINEMENTS[strongest()],
        "landlock": f"available, ABI {wall.abi}: applied by penstock mcp"
        if wall.abi
        else "not available in this kernel",
        "commands": _commands(),
        "search": f"google-re2 {installed('google-re2')}"
        if has_linear_engine()
        else "re in a child process that is ended at the deadline (google-re2 is not installed)"
        if can_run()
        else "literal text only: regular expressions need google-re2, which is not installed",
        "store": _store(),
        "extras": {extra: installed(distribution) for extra, distribution in _EXTRAS.items()},
    }


def _commands() -> dict[str, object]:
    """Return the wall that `--allow-shell` puts around commands, why no preferred one is in force, and what a command may take;
    or what is wrong.
    """
    from penstock.agent import cgroups
    from penstock.agent.command_limits import command_limits
    from penstock.agent.shell import Shell
    from penstock.errors import PenstockError

    try:
        # Any small folder would do: the one command that is run to test a wall does nothing.
        shell = Shell(os.path.dirname(cgroups.__file__))
        shell.close()
        limits = command_limits()
    except (PenstockError, OSError) as error:
        return {"fault": str(error)}
    groups = cgroups.make({"pids": 10, "memory": 1 << 30})
    cgroups.remove([*groups.values()])
    bounded = " and ".join(name for name in ("pids", "memory") if name in groups)
    report: dict[str, object] = {"wall": shell.confinement}
    if shell.passed_over:
        report["because"] = "; ".join(shell.passed_over)
    report["limits"] = (
        f"by control groups: {bounded}" if groups else "by process (rlimits): no control group can be made here"
    )
    return report | limits._asdict()


def _store() -> dict[str, object]:
    """Return where outputs are kept, how much for how long, and the settings behind that; or what is wrong.

    Looking creates no store: a folder that nobody has needed yet is not created.
    """
    from penstock import store
    from penstock.errors import PenstockError
    from penstock.store.sqlite import DATABASE
    from penstock.workspace.own_files import expect_room

    report: dict[str, object] = {}
    try:
        url = store.default_url()
        folder = store.folder_of(url)
        # A database's URL may hold a password, and this report is pasted into issues.
        report["at"] = "a database" if folder is None else f"sqlite://{folder}"
        report["limit_bytes"] = store.default_limit_bytes()
        report["life_days"] = store.default_life_seconds() / 86_400
        rules = dataclasses.asdict(store.default_retention())
        report["retention"] = {name: value for name, value in rules.items() if value is not None} or "off"
        if folder is not None and not os.path.exists(os.path.join(folder, DATABASE)):
            if not os.access(above := expect_room(folder), os.W_OK):
                return {**report, "fault": f"{above} takes no file: it is read-only, or belongs to another user"}
            return {**report, "state": "none yet: the first output that is kept makes it"}
        opened = store.open_store(url, wait_seconds=options.BUSY_SECONDS)
        try:
            facts, size, gone = opened.facts(), opened.size(), opened.removals()
        finally:
            opened.close()
        report["used_bytes"], report["sessions"] = size.used_bytes, size.sessions
        # Removals by a rule are reported: how many recently, and the last one.
        report["removed"] = (
            f"{len(gone)} by retention or gc, the last: {gone[0].name} ({gone[0].why})" if gone else "nothing"
        )
    except (PenstockError, OSError) as error:
        return {**report, "fault": str(error)}
    if (why := facts.get("read_only", "false")) not in {
        "false",
        "true",
    }:  # because the disk is full, not because the medium is read-only
        report["fault"] = f"nothing is written to it: {why}"
    return {**report, "at": facts.pop("store"), **facts}


@command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.json_option
def completion_command(shell: str, as_json: bool) -> int:
    """Print a completion script for bash, zsh or fish.

    Completes commands, flags, files, models, sessions and handles. Add the line below to ~/.bashrc, to ~/.zshrc after compinit,
    or to ~/.config/fish/config.fish.

    Examples:
      eval "$(penstock completion bash)"
        the line for bash; for zsh, write zsh in place of bash
      penstock completion fish | source
        the line for fish
    """
    from penstock.cli import cli
    from penstock.cli.shells import script_for

    script = script_for(shell, cli)
    answer.give({"shell": shell, "script": script}, script, as_json)
    return 0
