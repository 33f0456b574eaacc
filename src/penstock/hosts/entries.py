"""How does a host write its servers, and which command lines start Penstock (H-3)?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.hosts import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.hosts.catalogue import HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path


ADDRESSES = ("url", "httpUrl", "serverUrl")
"""What hosts call the address of a server reached over HTTP."""
HEADERS = ("headers", "http_headers", "httpHeaders")
"""What hosts call the headers of each request to that address."""


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


class OurCommand(NamedTuple):
    """A command line that starts a command of Penstock: by its script, as a module, or through a runner."""

    program: list[str]
    """The words that start Penstock."""
    command: str
    arguments: list[str]

    def started_by(self, program: Sequence[str]) -> list[str]:
        """Return the same command line with another program; whatever a person added after the command stays."""
        return [*program, self.command, *self.arguments]


def our_command(words: Sequence[str], command: str) -> OurCommand | None:
    """Return a command line in its parts if it starts this command of Penstock; None if it does not."""
    for at, (word, following) in enumerate(pairwise(words), 1):
        name = word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        if name == "penstock" and following == command:
            return OurCommand(list(words[:at]), command, list(words[at + 1 :]))
    return None


def servers(document: Document, host: HostConfig) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the servers of a configuration with their paths: those for all projects, then those of single projects."""
    keys: list[Path] = [host.servers.key]
    if host.servers.by_project is not None:
        folders, inner = host.servers.by_project
        projects = document.get((folders,))
        keys += [(folders, folder, inner) for folder in (projects if isinstance(projects, dict) else ())]
    for key in keys:
        found = document.get(key)
        for name, entry in found.items() if isinstance(found, dict) else ():
            if isinstance(entry, dict):
                yield (*key, name), entry


def variables_of(host: HostConfig, entry: dict[str, Any]) -> dict[str, str]:
    """Return the environment variables in a server's entry."""
    found = entry.get(host.servers.variables)
    return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}


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
