"""Read which servers stand behind one relay: the `mcpServers` of a host's configuration.

Law: a secret need not stand in the file: `${VAR}` is read from the environment. Keeps out: how servers are started.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")


class UpstreamServer(NamedTuple):
    """One server: a program, or a URL."""

    name: str
    command: tuple[str, ...]
    """The program and its arguments; empty for a URL."""
    variables: Mapping[str, str]
    """What the program's environment has beyond ours."""
    url: str
    headers: Mapping[str, str]


def read_servers(text: str | bytes, environment: Mapping[str, str]) -> list[UpstreamServer]:
    """Return the servers of a configuration, in the order in which they stand.

    Args:
        text: JSON, `{"mcpServers": {name: {"command", "args", "env"} or {"url", "headers"}}}`.
        environment: where `${VAR}` and `${VAR:-default}` are looked up.

    Raises:
        CallerError: it is no such configuration, or a variable is not set.
    """
    try:
        servers = json.loads(text)["mcpServers"]
        found = [_server(name, entry, environment) for name, entry in servers.items()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CallerError(
            'The configuration holds {"mcpServers": {"NAME": {"command": "…", "args": []} or {"url": "…"}}}: '
            f"{escape.clip(str(error))}"
        ) from error
    if not found:
        raise CallerError("The configuration names no server.")
    return found


def _server(name: str, entry: Mapping[str, object], environment: Mapping[str, str]) -> UpstreamServer:
    def text(value: object) -> str:
        if not isinstance(value, str):
            raise TypeError(f"{name}: {value!r} is no text")
        return with_variables(value, environment)

    arguments, variables, headers = entry.get("args") or [], entry.get("env") or {}, entry.get("headers") or {}
    if not isinstance(arguments, list) or not isinstance(variables, dict) or not isinstance(headers, dict):
        raise TypeError(f"{name}: args is a list, env and headers are objects")
    command = tuple(map(text, [entry["command"], *arguments])) if entry.get("command") else ()
    url = text(entry["url"]) if not command else ""
    return UpstreamServer(
        name=re.sub(r"[^A-Za-z0-9_.-]", "_", name),
        command=command,
        variables={key: text(value) for key, value in variables.items()},
        url=url,
        headers={key: text(value) for key, value in headers.items()},
    )


def read_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and the value of a header as a person writes it, its variables put in. Raises `CallerError`."""
    name, colon, value = text.partition(":")
    if not colon or not _FIELD.match(name):
        raise CallerError(
            f"--header {escape.clip(text)}: 'Name: value', for example 'Authorization: Bearer ${{TOKEN}}'"
        )
    return name, with_variables(value.strip(), environment)


def with_variables(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with the values of variables in the place of `${VAR}`. Raises `CallerError` for one that is not set."""

    def value(found: re.Match[str]) -> str:
        given = environment.get(found[1], found[2])
        if given is None:
            raise CallerError(f"The variable {found[1]} is not set.")
        return given

    return _VARIABLE.sub(value, text)
