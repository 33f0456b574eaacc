"""Which MCP servers are configured in a user's hosts, or in a file of that form?

Each host has its own names for the same few things: a command with its words and variables, or an address with headers. Laws: a
server that is switched off does not count, and one in several hosts counts once; a file or a server that cannot be read is reported
with the reason, and never skipped. A secret need not be in the file: `${VAR}` is read from the environment.
Leaves to others: asking them (`tool_definitions`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError, ToolError
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.entries import ADDRESSES, HEADERS, command_line, is_off
from penstock.hosts.installing import text_of
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.hosts.catalogue import HostConfig, HostSurroundings

_VARIABLES = ("env", "environment")
_KEYS = ("mcpServers", "mcp_servers", "servers", "context_servers", "mcp")
# `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}`, `{env:NAME}`: the forms in which hosts insert a variable. `%{NAME}` is only ours:
# no host replaces it, so that its value is in no command line.
_VARIABLE = re.compile(r"(\$\{env:|\$\{|\{env:|%\{)([A-Za-z_]\w*)(?::-([^{}]*))?\}")


@dataclass(frozen=True, kw_only=True)
class ConfiguredServer:
    """An MCP server as it is configured."""

    name: str
    hosts: tuple[str, ...] = ()
    """Hosts whose configurations name a server; empty for one read from a file."""
    words: tuple[str, ...] = ()
    """The command line that starts it; empty for a server with an address."""
    variables: tuple[tuple[str, str], ...] = ()
    """Additional environment variables of its process."""
    url: str = ""
    """Where a server listens; empty for one that is started."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers of each request to that address."""
    is_events: bool = False
    """Whether the address speaks the older transport, with server-sent events only."""
    fault: str = ""
    """Why a server can be neither started nor called: a variable that is not set, an entry that names neither; empty if it can."""


class UnreadFile(NamedTuple):
    """A configuration that cannot be read: its path, and the reason."""

    path: str
    fault: str


def configured_servers(around: HostSurroundings) -> tuple[list[ConfiguredServer], list[UnreadFile]]:
    """Return the servers of a user's hosts, each once, with the hosts that name it, and the files that cannot be read.

    Args:
        around: where the hosts' files are.
    """
    found: dict[ConfiguredServer, list[str]] = {}
    unread: list[UnreadFile] = []
    for host in HOST_CONFIGS.values():
        path = host.servers.file.path("user", around)
        if path is None:
            continue
        try:
            document = Document(text_of(os.path.realpath(path)) or "", host.servers.file.form)
        except (CannotEditError, CallerError) as error:
            unread.append(UnreadFile(path, str(error)))
            continue
        for server in _of_host(document, host, around):
            found.setdefault(server, []).append(host.name)
    return [replace(server, hosts=tuple(dict.fromkeys(hosts))) for server, hosts in found.items()], unread


def _of_host(document: Document, host: HostConfig, around: HostSurroundings) -> Iterator[ConfiguredServer]:
    """Yield the servers of a user's configuration of a host: those for all projects, and those for the project alone."""
    yield from _servers(document.get(host.servers.key), around.environment)
    if host.servers.by_project is None:
        return
    folders, inner = host.servers.by_project
    # Keyed by the folder in which a session begins, or by the root of the repository around it.
    project = os.path.realpath(around.project)
    root = next((folder for folder in _upwards(project) if os.path.lexists(os.path.join(folder, ".git"))), project)
    for folder in dict.fromkeys((around.project, project, root)):
        yield from _servers(document.get((folders, folder, inner)), around.environment)


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        yield above
        folder = above


def servers_in(path: str, environment: Mapping[str, str]) -> list[ConfiguredServer]:
    """Return the servers of a file.

    Args:
        path: the file, TOML if its name says so.
        environment: the variables that it refers to.

    Raises:
        ToolError: `not_found`: there is no such file.
        CallerError: it cannot be read, or holds no servers.
    """
    try:
        text = text_of(path)
        if text is None:
            raise ToolError("not_found", f"There is no file or folder {escape.show_argument(path)}.")
        return servers_of(text, environment, is_toml=path.endswith(".toml"))
    except (CannotEditError, CallerError) as error:
        raise CallerError(str(error) if path in str(error) else f"{path}: {error}") from error


def servers_of(text: str, environment: Mapping[str, str], *, is_toml: bool = False) -> list[ConfiguredServer]:
    """Return the servers of a configuration.

    Args:
        text: JSON, with or without comments, or TOML: an object with `mcpServers` or a host's own name for it.
        environment: the variables that it refers to.
        is_toml: whether it is TOML.

    Raises:
        CannotEditError: it cannot be read.
        CallerError: it holds no servers.
    """
    document = Document(text, "toml" if is_toml else "json")
    for key in _KEYS:
        if isinstance(entries := document.get((key,)), dict):
            return _servers(entries, environment)
    raise CallerError(f"there are no MCP servers in it: none of {', '.join(_KEYS)} is an object")


def with_variables(text: str, environment: Mapping[str, str]) -> str:
    """Return a text in which `${VAR}` and similar are replaced by values, as hosts do it.

    Args:
        text: any text.
        environment: where `${VAR}`, `%{VAR}`, `${VAR:-otherwise}`, `${env:VAR}` and `{env:VAR}` are looked up; the last two may be
            missing.

    Raises:
        CallerError: a variable is not set.
    """

    def value(found: re.Match[str]) -> str:
        mark, name, otherwise = found.groups()
        # VS Code and opencode document that an unset variable of their form is empty.
        given = environment.get(name, "" if otherwise is None and mark.endswith("env:") else otherwise)
        if given is None:
            raise CallerError(f"The variable {name} is not set.")
        return given

    return _VARIABLE.sub(value, text)


def _servers(entries: Any, environment: Mapping[str, str]) -> list[ConfiguredServer]:
    return [
        _server(name, entry, environment)
        for name, entry in (entries.items() if isinstance(entries, dict) else ())
        if not is_off(entry)
    ]


def _server(name: str, entry: object, environment: Mapping[str, str]) -> ConfiguredServer:
    words = command_line(entry)
    if not isinstance(entry, dict) or not (words or any(isinstance(entry.get(key), str) for key in ADDRESSES)):
        return ConfiguredServer(name=name, fault="It names neither a command with its words nor an address.")
    url = "" if words else next(entry[key] for key in ADDRESSES if isinstance(entry.get(key), str))
    try:
        return ConfiguredServer(
            name=name,
            words=tuple(with_variables(word, environment) for word in words),
            variables=_pairs(entry, _VARIABLES, environment),
            url=with_variables(url, environment),
            headers=_pairs(entry, HEADERS, environment),
            is_events=entry.get("type") == "sse",
        )
    except CallerError as error:
        return ConfiguredServer(name=name, fault=str(error))


def _pairs(entry: dict[str, Any], keys: Sequence[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    key = next((key for key in keys if entry.get(key)), "")
    pairs = entry[key] if key else {}
    if not isinstance(pairs, dict) or not all(isinstance(text, str) for text in pairs.values()):
        raise CallerError(f"Its {key} is not an object of strings.")
    return tuple((name, with_variables(text, environment)) for name, text in pairs.items())
