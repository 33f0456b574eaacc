"""Which servers are behind one relay? A host's configuration says so, with `${VAR}` from the environment.

Law: all of them can be started or called, or none is. Leaves to others: how hosts write servers (`hosts.servers`), and how they
start.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts.servers import servers_in, with_variables
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.servers import ConfiguredServer

_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")


def read_servers(path: str, environment: Mapping[str, str]) -> list[ConfiguredServer]:
    """Return the servers of a configuration, in order, with names that tools' names may begin with.

    Args:
        path: a file as hosts have them: `{"mcpServers": {name: {"command", "args", "env"} or {"url", "headers"}}}`.
        environment: where `${VAR}` and `${VAR:-default}` are looked up.

    Raises:
        ToolError: `not_found`: there is no such file.
        CallerError: it is not such a configuration, or a server in it can be neither started nor called.
    """
    servers = servers_in(path, environment)
    for server in servers:
        if fault := server.fault or ("It speaks the older transport, server-sent events." if server.is_events else ""):
            raise CallerError(f"{path}: the server {server.name}: {fault}")
    if not servers:
        raise CallerError(f"{path}: all servers in it are switched off, or there are none.")
    return [replace(server, name=re.sub(r"[^A-Za-z0-9_.-]", "_", server.name)) for server in servers]


def read_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and the value of a header as a person writes it, with its variables replaced. Raises `CallerError`."""
    name, colon, value = text.partition(":")
    if not colon or not _FIELD.match(name):
        raise CallerError(
            f"--header {escape.clip(text)}: 'Name: value', for example 'Authorization: Bearer ${{TOKEN}}'"
        )
    return name, with_variables(value.strip(), environment)
