"""How does a host write the command line of a program, and which command lines start Penstock (H-3)?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.hosts.catalogue import HostConfig


ADDRESSES = ("url", "httpUrl", "serverUrl")
"""What hosts call the address of a server reached over HTTP."""


def server_entry(host: HostConfig, words: Sequence[str]) -> dict[str, Any]:
    """Return an MCP server as a host writes it."""
    values = {
        catalogue.COMMAND: words[0],
        catalogue.ARGUMENTS: list(words[1:]),
        catalogue.COMMAND_LINE: list(words),
    }
    entry: dict[str, Any] = filled(host.servers.entry, values)
    return entry


def command_line(entry: object) -> list[str]:
    """Return the command line in a server's entry; empty for anything else."""
    if not isinstance(entry, dict):
        return []
    command, rest = entry.get("command"), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *(rest if isinstance(rest, list) else [])]
    return words if all(isinstance(word, str) for word in words) else []


def is_ours(words: Sequence[str], command: str) -> bool:
    """Return whether a command line starts a command of Penstock: by its script, as a module, or through a runner."""
    programs = (word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words)
    return any(name == "penstock" and words[at + 1 : at + 2] == [command] for at, name in enumerate(programs))


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its placeholders replaced by values."""
    if isinstance(template, str):
        return values.get(template, template)
    if isinstance(template, list):
        return [filled(inner, values) for inner in template]
    return {key: filled(inner, values) for key, inner in template.items()} if hasattr(template, "items") else template


def is_off(entry: object) -> bool:
    """Return whether a server's entry tells its host not to start it."""
    return isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False)
