"""Put `penstock relay` before the MCP servers that a host has already, and take it away again (H-3, Y-1).

`command: X, args: Y` becomes `penstock relay --name NAME -- X Y`, a URL `penstock relay --name NAME --url URL`; what else stands in
an entry stays. Law: `take` gives back each entry as it was before, or, where a person has changed it since, with that change.
Keeps out: what the relay does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts import trees
from penstock.hosts.documents import CannotEditError
from penstock.hosts.entries import ADDRESSES, command_line, filled, is_ours, server_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.catalogue import HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.trees import Path

_SENT_ALONG = {
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "oauth",
    "authProviderType",
    "auth",
}
"""What a host itself sends to a server over HTTP: a relay between them would have to know it."""


def add(document: Document, host: HostConfig, program: Sequence[str], *, is_renewed: bool) -> list[str]:
    """Put the relay before each server that is there and is not ours. Returns what a person should know."""
    notes: list[str] = []
    for path, entry in [*servers(document, host)]:
        name, words = str(path[-1]), command_line(entry)
        if is_ours(words, "mcp"):
            continue
        if is_ours(words, "relay"):
            if is_renewed and (renewed := [*program, *words[words.index("relay") :]]) != words:
                _write(document, path, entry, _with_words(entry, renewed))
            continue
        if words:
            new = _with_words(entry, [*program, "relay", "--name", name, "--", *words])
        elif (url := _url_of(host, entry)) and not _SENT_ALONG & set(entry):
            kept = {key: value for key, value in entry.items() if key not in {*ADDRESSES, "type"}}
            new = {**server_entry(host, [*program, "relay", "--name", name, "--url", url]), **kept}
        else:
            notes.append(f"the server {name} stays as it is: only its host can start it, or knows what to send to it")
            continue
        try:
            _write(document, path, entry, new)
        except CannotEditError as error:
            notes.append(f"the server {name} stays as it is: {error}")
    return notes


def take(document: Document, host: HostConfig, before: object) -> bool:
    """Take the relay away from before each server. Returns whether there was one.

    Args:
        document: The configuration; it is changed.
        host: Whose it is.
        before: What it said before the relay was added; `trees.MISSING` where nobody knows.
    """
    found = False
    for path, entry in [*servers(document, host)]:
        words = command_line(entry)
        if not is_ours(words, "relay"):
            continue
        found = True
        known = trees.get(before, path)
        _write(document, path, entry, _without_relay(host, entry, words, known if isinstance(known, dict) else {}))
    return found


def has(document: Document, host: HostConfig) -> bool:
    """Return whether a relay stands before a server."""
    return any(is_ours(command_line(entry), "relay") for _, entry in servers(document, host))


def servers(document: Document, host: HostConfig) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the servers of a configuration, each with its place."""
    found = document.get(host.servers.key)
    for name, entry in found.items() if isinstance(found, dict) else ():
        if isinstance(entry, dict):
            yield (*host.servers.key, name), entry


def _url_of(host: HostConfig, entry: dict[str, Any]) -> str:
    """Return the URL of a server that speaks the protocol's HTTP; empty for one that speaks what came before it."""
    remote = host.servers.remote
    key = next((key for key in ADDRESSES if isinstance(entry.get(key), str)), "")
    is_http = entry.get("type", "") in {"http", "streamable-http", "streamableHttp", remote.get("type", "")}
    return entry[key] if key and is_http and (key in remote or entry.get("type")) else ""


def _without_relay(host: HostConfig, entry: dict[str, Any], words: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with what stands behind our relay: as it was known, where that is still the same."""
    behind = words[words.index("relay") + 1 :]
    if "--" in behind:
        plain = behind[behind.index("--") + 1 :]
        if command_line(known) != plain:
            return _with_words(entry, plain)
        return _as_known(entry, known)
    url = behind[behind.index("--url") + 1] if "--url" in behind[:-1] else ""
    if url and url in known.values():
        return _as_known(entry, known)
    kept = {key: value for key, value in entry.items() if key not in host.servers.entry}
    return {**filled(host.servers.remote, {"{url}": url}), **kept}


def _as_known(entry: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the keys of ours as they were, and all others as they are."""
    ours = {"command", "args", "type", *ADDRESSES}
    kept = {key: value for key, value in entry.items() if key not in ours}
    return {**{key: value for key, value in known.items() if key in ours}, **kept}


def _with_words(entry: dict[str, Any], words: list[str]) -> dict[str, Any]:
    """Return an entry with another command line, in the form that it has."""
    if isinstance(entry.get("command"), list):
        return {**entry, "command": words}
    return {**entry, "command": words[0], "args": words[1:]}


def _write(document: Document, path: Path, entry: dict[str, Any], new: dict[str, Any]) -> None:
    """Give an entry other values, key by key, so that what stands around them stays."""
    text, value = document.text, document.value
    try:
        for key, wanted in new.items():
            if key not in entry:
                document.put((*path, key), wanted)
            elif entry[key] != wanted:
                document.replace((*path, key), wanted)
        for key in entry:
            if key not in new:
                document.remove((*path, key))
    except CannotEditError:
        document.text, document.value = text, value
        document.replace(path, new)  # an entry that stands in one line
