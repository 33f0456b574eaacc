"""Which MCP servers are configured in a user's hosts, or in a file of that form.

Each host has names of its own for the same few things: a command with its words and variables, or an address with headers. Law: a
server that is switched off is none, and one that stands in several hosts is one. Keeps out: asking them (`tool_definitions`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.errors import CallerError
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.entries import ADDRESSES, command_line
from penstock.hosts.installing import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.hosts.catalogue import HostSurroundings, Scope

_HEADERS = ("headers", "http_headers", "httpHeaders")
_VARIABLES = ("env", "environment")
_KEYS = ("mcpServers", "mcp_servers", "servers", "context_servers", "mcp")
# `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}`, `{env:NAME}`: what hosts put a variable of theirs in for.
_VARIABLE = re.compile(r"(?:\$\{(?:env:)?|\{env:)([A-Za-z_]\w*)(?::-([^{}]*))?\}")


@dataclass(frozen=True, kw_only=True)
class ConfiguredServer:
    """An MCP server as it is configured."""

    name: str
    hosts: tuple[str, ...] = ()
    """Whose configurations name it; none for one of a file."""
    words: tuple[str, ...] = ()
    """The command line that starts it; empty for one that has an address."""
    variables: tuple[tuple[str, str], ...] = ()
    """Variables that its process has besides."""
    url: str = ""
    """Where it listens; empty for one that is started."""
    headers: tuple[tuple[str, str], ...] = ()
    """What each request to that address carries."""
    is_events: bool = False
    """Whether the address speaks the older transport, of server-sent events alone."""


def configured_servers(around: HostSurroundings, scopes: Sequence[Scope] = ("user",)) -> list[ConfiguredServer]:
    """Return the servers of a user's hosts, each once, with the hosts that name it.

    Args:
        around: where the hosts' files are.
        scopes: the user's own configurations, or those of the project in the current folder, too.
    """
    found: dict[ConfiguredServer, list[str]] = {}
    for host in HOST_CONFIGS.values():
        for scope in scopes:
            path = host.servers.file.path(scope, around)
            if path is None:
                continue
            try:
                document = Document(text_of(os.path.realpath(path)) or "{}", host.servers.file.form)
            except (CannotEditError, CallerError):
                continue  # the host cannot read it either; `doctor` says so
            for server in _servers(document.get(host.servers.key), around.environment):
                found.setdefault(server, []).append(host.name)
    return [replace(server, hosts=tuple(dict.fromkeys(hosts))) for server, hosts in found.items()]


def servers_of(text: str, environment: Mapping[str, str], *, is_toml: bool = False) -> list[ConfiguredServer]:
    """Return the servers of a configuration.

    Args:
        text: JSON, with comments or without, or TOML: an object with `mcpServers` or a host's own name for it.
        environment: the variables that stand for parts of it.
        is_toml: whether it is TOML.

    Raises:
        CannotEditError: it cannot be read.
        CallerError: it holds no servers.
    """
    document = Document(text, "toml" if is_toml else "json")
    for key in _KEYS:
        if isinstance(entries := document.get((key,)), dict):
            return [*_servers(entries, environment)]
    raise CallerError(f"there are no MCP servers in it: none of {', '.join(_KEYS)} is an object")


def _servers(entries: Any, environment: Mapping[str, str]) -> Iterator[ConfiguredServer]:
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        if not isinstance(entry, dict) or entry.get("disabled") is True or entry.get("enabled") is False:
            continue
        url = next((entry[key] for key in ADDRESSES if isinstance(entry.get(key), str)), "")
        words = command_line(entry)
        if not words and not url:
            continue
        yield ConfiguredServer(
            name=name,
            words=() if url else tuple(_expanded(word, environment) for word in words),
            variables=_pairs(entry, _VARIABLES, environment),
            url=_expanded(url, environment),
            headers=_pairs(entry, _HEADERS, environment),
            is_events=entry.get("type") == "sse",
        )


def _pairs(entry: dict[str, Any], keys: Sequence[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    found: dict[str, Any] = next((entry[key] for key in keys if isinstance(entry.get(key), dict)), {})
    return tuple((name, _expanded(text, environment)) for name, text in found.items() if isinstance(text, str))


def _expanded(text: str, environment: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: environment.get(found[1]) or found[2] or "", text)
