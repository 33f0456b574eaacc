"""How is our own MCP server put into a host's configuration, and recognized again (H-3)?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts import nested_values
from penstock.hosts.entries import command_line, our_command, server_entry, servers, variables_of
from penstock.hosts.parts.part import NAME, StartLine

if TYPE_CHECKING:
    from penstock.hosts.catalogue import ConfigFile, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path, Remembered
    from penstock.hosts.parts.part import Reach


def file_of(host: HostConfig) -> ConfigFile:
    """Return the host's file of servers."""
    return host.servers.file


def containers(host: HostConfig) -> list[Path]:
    """Return the path of the object of servers."""
    return [host.servers.key]


def add(document: Document, host: HostConfig, reach: Reach, _known: Remembered, *, is_renewed: bool) -> list[str]:
    """Add our server; of one that is there and ours, only the program is renewed, and the person's arguments stay."""
    path = _path(host)
    entry = document.get(path)
    if entry is nested_values.MISSING:
        document.put(path, server_entry(host, [*reach.program, "mcp"]))
        return []
    words = command_line(entry)
    ours = our_command(words, "mcp")
    if ours is None:
        return [f"there is a server of the name {NAME} that is not ours: it stays as it is, and ours was not added"]
    renewed = ours.started_by(reach.program)
    if is_renewed and renewed != words:
        if isinstance(entry["command"], list):
            document.replace((*path, "command"), renewed)
        else:
            document.replace((*path, "command"), renewed[0])
            document.replace((*path, "args"), renewed[1:])
    return []


def take(document: Document, host: HostConfig, known: Remembered) -> bool:
    """Remove our server. Returns whether it was there."""
    is_there = has(document, host, known)
    if is_there:
        document.remove(_path(host))
    return is_there


def has(document: Document, host: HostConfig, _known: Remembered) -> bool:
    """Return whether the server of our name starts ours."""
    return our_command(command_line(document.get(_path(host))), "mcp") is not None


def start_lines(document: Document, host: HostConfig) -> list[StartLine]:
    """Return the command lines of our server: for all projects, and for single ones."""
    return [
        StartLine(tuple(words), tuple(variables_of(host, entry).items()))
        for path, entry in servers(document, host)
        if path[-1] == NAME and our_command(words := command_line(entry), "mcp") is not None
    ]


def _path(host: HostConfig) -> Path:
    return (*host.servers.key, NAME)
