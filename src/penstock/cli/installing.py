"""How is Penstock added to other agents, and removed again? `penstock install` and `uninstall` (H-3)."""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.hosts.catalogue import HostSurroundings, Scope
    from penstock.hosts.installing import InstallPlan
    from penstock.hosts.records import InstallRecords

_HOSTS = ("claude", "codex", "gemini", "opencode", "qwen", "copilot", "cursor", "vscode", "zed", "cline")
# If no part is named: what most people want, and removal of all parts.
_UNNAMED = {"install": ("mcp", "hook"), "uninstall": ("mcp", "hook", "relay", "rules", "gateway")}


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of both commands."""
    for each in (
        options.json_option,
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Only show what would change."),
        click.option(
            "--scope",
            type=click.Choice(["user", "project"]),
            default="user",
            show_default=True,
            help="For all your projects, or for the one in the current folder.",
        ),
        click.option(
            "--gateway",
            "is_gateway",
            is_flag=True,
            help="Send model requests to `penstock gateway`.",
        ),
        click.option(
            "--rules", "is_rules", is_flag=True, help="Five lines of advice in AGENTS.md, CLAUDE.md or GEMINI.md."
        ),
        click.option("--relay", "is_relay", is_flag=True, help="Put the existing MCP servers behind `penstock relay`."),
        click.option("--hook", "is_hook", is_flag=True, help="The hook that cuts oversized tool results."),
        click.option(
            "--mcp", "is_mcp", is_flag=True, help="The Penstock MCP server: tools that read and search in pages."
        ),
        click.argument("host", type=click.Choice(_HOSTS), metavar="HOST"),
    ):
        function = each(function)
    return function


@command("install")
@_options
@click.option(
    "--address",
    type=options.URL,
    metavar="URL",
    help="Where the gateway listens; http://127.0.0.1:4000 by default.",
)
def install_command(address: str | None, **how: Any) -> int:
    """Add Penstock to the configuration of another agent's HOST.

    HOST is claude, codex, gemini, opencode, qwen, copilot, cursor, vscode, zed or cline.

    Shows a diff of what it will change, and asks before writing it. Without --mcp, --hook, --relay, --rules or --gateway it
    adds the first two. Existing content is kept, comments included, and `penstock uninstall HOST` restores the files byte for
    byte.

    Examples:
      penstock install claude --dry-run
        the diff; nothing is written
      penstock install codex --scope project --yes
        for the project in the current folder, without asking
    """
    from penstock.hosts.catalogue import HOST_CONFIGS
    from penstock.hosts.installing import plan_install
    from penstock.hosts.parts.part import Reach

    request = _Request("install", **how)
    host = HOST_CONFIGS[request.host]
    program = own_command()
    if "archive-v0" in program[0].split(os.sep):  # where `uvx` runs what it has fetched
        click.echo(
            "Penstock runs from a cache that may be emptied: install it permanently, or this path will stop working.",
            err=True,
        )
    reach = Reach(program, _checked_address(address, request.parts))
    plan = plan_install(host, request.parts, request.scope, request.around, request.records, reach)
    return request.carry_out(plan, f"{host.title}: there is nothing to change.")


@command("uninstall")
@_options
def uninstall_command(**how: Any) -> int:
    """Remove Penstock from the configuration of another agent's HOST.

    HOST is claude, codex, gemini, opencode, qwen, copilot, cursor, vscode, zed or cline.

    Removes what `penstock install HOST` added and nothing else: whatever you or the host changed since is kept. Without --mcp,
    --hook, --relay, --rules or --gateway it removes all of them. Shows a diff, and asks before writing it.

    Examples:
      penstock uninstall claude --dry-run
        the diff; nothing is written
      penstock uninstall codex --scope project --yes
        from the project in the current folder, without asking
    """
    from penstock.hosts.catalogue import HOST_CONFIGS
    from penstock.hosts.installing import plan_uninstall

    request = _Request("uninstall", **how)
    host = HOST_CONFIGS[request.host]
    plan = plan_uninstall(host, request.parts, request.scope, request.around, request.records)
    return request.carry_out(plan, f"{host.title}: nothing of Penstock is installed.")


def _checked_address(address: str | None, wanted: Sequence[str]) -> str:
    """Return where the gateway listens. Raises click.UsageError for an invalid base URL, or if no gateway is asked for."""
    from penstock.hosts.parts.part import GATEWAY_ADDRESS

    if address is None:
        return GATEWAY_ADDRESS
    if "gateway" not in wanted:
        raise click.UsageError("--address is the address of the gateway that --gateway configures: give both")
    if not re.fullmatch(r"https?://[^\s/?#]+(?:/[^\s?#]*)?", address):
        raise click.UsageError(f"--address takes a URL such as {GATEWAY_ADDRESS}, not {address}")
    return address


def surroundings() -> tuple[HostSurroundings, InstallRecords]:
    """Return where the hosts' configurations are for this user and folder, and the records of what was installed there."""
    from penstock.hosts.catalogue import HostSurroundings
    from penstock.hosts.records import InstallRecords
    from penstock.workspace.own_files import home_folder

    home = home_folder()
    try:
        project = os.getcwd()
    except FileNotFoundError as error:
        raise CallerError("The current folder no longer exists: change to another one with `cd`.") from error
    around = HostSurroundings(home=home, project=project, environment=os.environ, platform=sys.platform)
    return around, InstallRecords.of(os.environ)


def own_command() -> list[str]:
    """Return the words that start the Penstock that runs now, wherever they are typed."""
    path = os.path.abspath(sys.argv[0])
    if os.path.basename(path).removesuffix(".exe") == "penstock" and os.access(path, os.X_OK) and os.path.isfile(path):
        return [path]
    return [sys.executable, "-m", "penstock"]


class _Request:
    """A request as typed, and its execution."""

    def __init__(
        self, verb: str, *, host: str, scope: Scope, dry_run: bool, yes: bool, as_json: bool, **chosen: bool
    ) -> None:
        named = tuple(name.removeprefix("is_") for name, is_chosen in chosen.items() if is_chosen)
        self.host, self.scope, self.parts = host, scope, named or _UNNAMED[verb]
        self.around, self.records = surroundings()
        self._dry_run, self._yes, self._as_json = dry_run, yes, as_json
        flags = [*(f"--{name}" for name in named), *(["--scope", "project"] if scope == "project" else [])]
        self._with_yes = shlex.join(["penstock", verb, host, *flags, "--yes"])

    def carry_out(self, plan: InstallPlan, nothing: str) -> int:
        """Show a plan, ask, and carry it out. Returns the exit status."""
        from penstock.hosts import installing

        if plan.refused:
            said = "\n".join(plan.refused)
            said = f"Nothing was changed. {said}"
            return answer.fail("denied", said, plan.instead, answer.REFUSED, as_json=self._as_json)
        if not self._as_json:
            # Nobody may be reading on, as behind `| head`: what --yes agreed to is done all the same, or status 0 would be false.
            with suppress(BrokenPipeError):
                self._show(plan, nothing)
        if plan.visible and not self._dry_run and not self._yes and not self._is_agreed():
            said = "Nothing was changed: there is no terminal to ask on."
            return answer.fail("denied", said, self._with_yes, answer.REFUSED, as_json=self._as_json)
        lost: list[str] = []
        if not self._dry_run:
            lost = installing.apply(plan, self.scope, self.records)
        if self._as_json:
            changes = [{"path": change.path, "diff": change.diff()} for change in plan.visible]
            answer.print_json({"changes": changes, "notes": [*plan.notes, *lost], "written": not self._dry_run})
            return 0
        for line in lost:
            click.echo(line, err=True)
        if plan.visible and not self._dry_run:
            kept = [
                self.records.backup(c.target) for c in plan.visible if c.record is not None and c.before is not None
            ]
            click.echo("Written." + (f" As it was before: {', '.join(kept)}" if kept else ""))
        return 0

    def _show(self, plan: InstallPlan, nothing: str) -> None:
        from penstock.text import escape

        for change in plan.visible:
            click.echo(escape.show(change.diff())[0], nl=False)
        if not plan.visible:
            click.echo(nothing)
        for note in plan.notes:
            click.echo(escape.show(note)[0])

    def _is_agreed(self) -> bool:
        """Ask if somebody can answer. Raises click.Abort if the answer is no."""
        if self._as_json or not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
            return False
        return click.confirm("Write this?", abort=True)
