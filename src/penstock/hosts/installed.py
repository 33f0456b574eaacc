"""What of ours is in the configurations of this user's hosts, and with which command lines (H-3)?

Leaves to others: whether it works (`probing`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts import entries, parts
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.installing import switched_off, text_of
from penstock.hosts.nested_values import NOTHING_REMEMBERED, Remembered
from penstock.hosts.relaying import servers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.catalogue import ConfigFile, HostConfig, HostSurroundings, Scope
    from penstock.hosts.records import InstallRecords, Record

_SCOPES: tuple[Scope, ...] = ("user", "project")


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A part in a configuration.

    Attributes:
        host: The host.
        part: The part.
        scope: Whether it applies to all projects, or to this one.
        path: The file.
        words: The command line with which the host starts it, or the gateway's address; empty for rules.
        variables: Additional environment variables.
        is_known: Whether the command line is recorded, or one that the running Penstock would write. Any other is never run:
            somebody else's project may name any program.
        fault: Why it cannot be read, or why its host does not start it; empty if neither applies.
    """

    host: str
    part: str
    scope: Scope
    path: str
    words: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    is_known: bool = True
    fault: str = ""


def find_installed(around: HostSurroundings, records: InstallRecords, program: Sequence[str]) -> list[Installed]:
    """Return everything that is installed for a user, and for the project in the current folder.

    Args:
        around: Where the hosts' files are.
        records: What was installed so far.
        program: The words that start Penstock.
    """
    found: list[Installed] = []
    seen: set[tuple[str, str, str]] = set()
    for host in HOST_CONFIGS.values():
        for scope in _SCOPES:
            for part in parts.PARTS:
                file = parts.file_of(host, part)
                path = None if file is None else file.path(scope, around)
                if file is None or path is None:
                    continue
                record = None
                with suppress(CallerError):  # without a readable record, entries are recognized by what they start
                    record = records.find(os.path.realpath(path))
                owners = () if record is None else record.parts.get(part, ())
                # In a file that hosts share, unrecorded parts belong to the first host; in the home folder both scopes may be one
                # file.
                key = (path, part, host.name if owners else "")
                if key in seen or (owners and host.name not in owners):
                    continue
                if each := [*_of_part(host, part, scope, path, file, record, program, around)]:
                    found += each
                    seen.add(key)
    return found


def _of_part(
    host: HostConfig,
    part: str,
    scope: Scope,
    path: str,
    file: ConfigFile,
    record: Record | None,
    program: Sequence[str],
    around: HostSurroundings,
) -> Iterator[Installed]:
    fault = "it was installed, and is there no longer"
    try:
        document = Document(text_of(os.path.realpath(path)) or "", file.form)
        left = Document(record.last or "", file.form) if record is not None and part in record.parts else None
        known = NOTHING_REMEMBERED if left is None else Remembered(left=left.value)
        is_there = parts.has(document, host, part, known)
    except (CannotEditError, CallerError) as error:
        is_there, fault = False, str(error)
    if not is_there:
        if record is not None and part in record.parts:
            yield Installed(host=host.name, part=part, scope=scope, path=path, fault=fault)
        return
    if fault := _not_started(document, host, part, scope, around):
        yield Installed(host=host.name, part=part, scope=scope, path=path, fault=fault)
        return
    lines = dict.fromkeys(
        parts.start_lines(document, host, part) or [parts.StartLine(())]
    )  # the same line for several events counts once
    ours = parts.start_lines(left, host, part) if left is not None else []
    for line in lines:
        # Anything may follow a relay or a guard, or be in variables: ours is only a command line by which this program itself is
        # started.
        is_own = part != "relay" and not line.variables and line.words[: len(program) + 1] == (*program, part)
        is_known = not line.words or line in ours or is_own
        yield Installed(host=host.name, part=part, scope=scope, path=path, **line._asdict(), is_known=is_known)


def _not_started(document: Document, host: HostConfig, part: str, scope: Scope, around: HostSurroundings) -> str:
    """Return why a host does not start a part in its configuration; empty if it does."""
    if part == "mcp":
        is_off = any(path[-1] == parts.NAME and entries.is_off(entry) for path, entry in servers(document, host))
        return "its entry says that it is off" if is_off else ""
    if part != "hook" or host.hooks is None:
        return ""
    if off := switched_off(host, scope, around):
        return off[0]
    events = parts.hook_events(document)
    is_behind_calls = parts.is_plugin(document.text) or host.hooks.event in events
    return "" if is_behind_calls else f"it is not behind {host.hooks.event} any more, so no result is cut"
