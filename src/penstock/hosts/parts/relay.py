"""How is `penstock relay` put in front of the MCP servers that a host already has, and taken away again (H-3, Y-1)?

`command: X, args: Y` becomes `penstock relay --name NAME -- X Y`, and a URL with its headers becomes `penstock relay --name NAME
--url URL --header …`; the rest of an entry stays. All users of a machine can see a process's arguments, and a URL or a header may
be a secret: both go into the entry's variables, which the arguments name. Law: `take` gives back each entry as it was before, or,
if a person has changed it since, with that change. Leaves to others: what the relay does.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from penstock.hosts import nested_values
from penstock.hosts.documents import CannotEditError
from penstock.hosts.entries import (
    ADDRESSES,
    HEADERS,
    command_line,
    filled,
    our_command,
    server_entry,
    servers,
    variables_of,
)
from penstock.hosts.parts.part import StartLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.catalogue import ConfigFile, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.entries import OurCommand
    from penstock.hosts.nested_values import Path, Remembered
    from penstock.hosts.parts.part import Reach

_ONLY_ITS_HOST = {"headersHelper", "env_http_headers", "bearer_token_env_var", "oauth", "authProviderType", "auth"}
"""Members that a host resolves by itself before it calls a server: a relay in between would have to know the result."""
_URL, _HEADER = "PENSTOCK_RELAY_URL", "PENSTOCK_RELAY_HEADER"
_VARIABLE = re.compile(r"%\{(\w+)\}")


def file_of(host: HostConfig) -> ConfigFile:
    """Return the host's file of servers."""
    return host.servers.file


def containers(host: HostConfig) -> list[Path]:
    """Return the path of the object of servers."""
    return [host.servers.key]


def add(document: Document, host: HostConfig, reach: Reach, _known: Remembered, *, is_renewed: bool) -> list[str]:
    """Put the relay in front of each existing server that is not ours. Returns what a person should know."""
    notes: list[str] = []
    wanted: dict[Path, dict[str, Any]] = {}
    remote: list[Path] = []
    theirs = [
        (path, entry, words)
        for path, entry in servers(document, host)
        if our_command(words := command_line(entry), "mcp") is None
    ]
    if not theirs:
        notes.append("it has no MCP server of others for the relay to stand in front of")
    for path, entry, words in theirs:
        name = str(path[-1])
        if (relay := our_command(words, "relay")) is not None:
            # A relay that a person wrote stays as it is.
            if is_renewed and _is_as_installed(relay) and (renewed := relay.started_by(reach.program)) != words:
                wanted[path] = _with_words(entry, renewed)
        elif words:
            wanted[path] = _with_words(entry, [*reach.program, "relay", "--name", name, "--", *words])
        elif (url := _url_of(host, entry)) and (new := _before_url(host, entry, name, url, reach.program)):
            wanted[path] = new
            remote.append(path)
        else:
            notes.append(f"the server {name} stays as it is: only its host can start it, or knows what to send to it")
    failed = document.rewrite(wanted)
    notes += [f"the server {path[-1]} stays as it is: {why}" for path, why in failed.items()]
    notes += [
        f"the server {path[-1]} is called by the relay from now on, which logs in nowhere: where {host.title} has a "
        f"login of its own there, `penstock uninstall {host.name} --relay` is the way back"
        for path in remote
        if path not in failed
    ]
    return notes


def take(document: Document, host: HostConfig, known: Remembered) -> bool:
    """Remove the relay from in front of each server. Returns whether there was one."""
    plain: dict[Path, dict[str, Any]] = {}
    for path, entry in servers(document, host):
        relay = our_command(command_line(entry), "relay")
        if relay is not None and _is_as_installed(relay):
            before = nested_values.get(known.before, path)
            plain[path] = _without_relay(host, entry, relay.arguments, before if isinstance(before, dict) else {})
    for path, why in document.rewrite(plain).items():
        raise CannotEditError(f"the server {path[-1]}: {why}")
    return bool(plain)


def has(document: Document, host: HostConfig, _known: Remembered) -> bool:
    """Return whether an installed relay is in front of any server."""
    relays = (our_command(command_line(entry), "relay") for _, entry in servers(document, host))
    return any(relay is not None and _is_as_installed(relay) for relay in relays)


def start_lines(document: Document, host: HostConfig) -> list[StartLine]:
    """Return the command lines of all relays, whoever wrote them: one per server."""
    return [
        StartLine(tuple(words), tuple(variables_of(host, entry).items()))
        for _, entry in servers(document, host)
        if our_command(words := command_line(entry), "relay") is not None
    ]


def _is_as_installed(relay: OurCommand) -> bool:
    """Return whether a command line has the form that `add` writes, however it was changed since; a person writes other forms."""
    return relay.arguments[:1] == ["--name"] and ("--" in relay.arguments or "--url" in relay.arguments)


def _url_of(host: HostConfig, entry: dict[str, Any]) -> str:
    """Return the URL of a server that speaks streamable HTTP; empty for one that speaks the older transport."""
    remote = host.servers.remote
    key = next((key for key in ADDRESSES if isinstance(entry.get(key), str)), "")
    is_http = entry.get("type", "") in {"http", "streamable-http", "streamableHttp", remote.get("type", "")}
    return entry[key] if key and is_http and (key in remote or entry.get("type")) else ""


def _without_relay(host: HostConfig, entry: dict[str, Any], behind: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """Return an entry for the server behind our relay, whose arguments are given: the known earlier one if it is still the same
    server.
    """
    if "--" in behind:
        plain = behind[behind.index("--") + 1 :]
        if command_line(known) != plain:
            return _with_words(entry, plain)
        return _as_known(host, entry, known)
    variables = variables_of(host, entry)
    behind = [_VARIABLE.sub(lambda found: variables.get(found[1], found[0]), word) for word in behind]
    url = next((word for flag, word in pairwise(behind) if flag == "--url"), "")
    headers = dict(word.partition(": ")[::2] for flag, word in pairwise(behind) if flag == "--header")
    entry = {key: value for key, value in entry.items() if key != host.servers.variables}
    if theirs := {key: value for key, value in variables.items() if key != _URL and not key.startswith(_HEADER)}:
        entry[host.servers.variables] = theirs
    # The earlier entry applies as long as it is about the same server. If a person has changed the address since, the entry is
    # rebuilt from the relay's arguments, and the rest of it is left alone.
    if url in known.values():
        entry = _as_known(host, entry, known)
    else:
        kept = {key: value for key, value in entry.items() if key not in host.servers.entry}
        entry = {**filled(host.servers.remote, {"{url}": url}), **kept}
    return {**entry, host.servers.headers: headers} if headers else entry


def _before_url(
    host: HostConfig, entry: dict[str, Any], name: str, url: str, program: Sequence[str]
) -> dict[str, Any] | None:
    """Return an entry that starts the relay in front of an address; None if only its host knows what to send there."""
    headers, variables = entry.get(host.servers.headers, {}), entry.get(host.servers.variables, {})
    unknown = _ONLY_ITS_HOST | {*HEADERS} - {host.servers.headers}
    if unknown & set(entry) or not all(isinstance(each, dict) for each in (headers, variables)):
        return None
    if not all(isinstance(value, str) for value in headers.values()):
        return None
    words = [*program, "relay", "--name", name, "--url", f"%{{{_URL}}}"]
    variables = {**variables, _URL: url}
    for number, (header, value) in enumerate(headers.items(), 1):
        words += ["--header", f"{header}: %{{{_HEADER}_{number}}}"]
        variables[f"{_HEADER}_{number}"] = value
    ours = {*ADDRESSES, "type", host.servers.headers, host.servers.variables}
    kept = {key: value for key, value in entry.items() if key not in ours}
    return {**server_entry(host, words), host.servers.variables: variables, **kept}


def _as_known(host: HostConfig, entry: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the keys that we changed as they were, and all others as they are."""
    ours = {"command", "args", "type", *ADDRESSES}
    ours |= {key for key, value in host.servers.entry.items() if key not in known and entry.get(key) == value}
    kept = {key: value for key, value in entry.items() if key not in ours}
    return {**{key: value for key, value in known.items() if key in ours}, **kept}


def _with_words(entry: dict[str, Any], words: list[str]) -> dict[str, Any]:
    """Return an entry with another command line, in its own form."""
    if isinstance(entry.get("command"), list):
        return {**entry, "command": words}
    return {**entry, "command": words[0], "args": words[1:]}
