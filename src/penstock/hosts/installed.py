"""What of ours is in the configurations of this user's hosts, and with which command lines (H-3)?

Leaves to others: whether it works (`probing`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.entries import is_off, servers
from penstock.hosts.installing import switched_off, text_of
from penstock.hosts.nested_values import NOTHING_REMEMBERED, Remembered
from penstock.hosts.parts import PARTS, hook, plugin
from penstock.hosts.parts.part import NAME, StartLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.catalogue import HostConfig, HostSurroundings, Scope
    from penstock.hosts.documents import Format
    from penstock.hosts.records import InstallRecords, Record

_SCOPES: tuple[Scope, ...] = ("user", "project")
_NOTHING = StartLine(())


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
    found: dict[tuple[str, str, str], list[Installed]] = {}
    for place in _places(around, records):
        # In a file that hosts share, unrecorded parts belong to the first host; in the home folder both scopes may be one file.
        key = (place.path, place.part, place.host.name if place.owners else "")
        if not found.get(key):
            found[key] = [*_in_place(place, program, around)]
    return [each for parts in found.values() for each in parts]


class _Place(NamedTuple):
    """A file that a part of a host is in, or may be."""

    host: HostConfig
    part: str
    scope: Scope
    path: str
    form: Format
    record: Record | None

    @property
    def owners(self) -> Sequence[str]:
        """The hosts that the part was installed for; empty without a record."""
        return () if self.record is None else self.record.parts.get(self.part, ())

    def installed(self, line: StartLine = _NOTHING, *, is_known: bool = True, fault: str = "") -> Installed:
        """Return what is installed there."""
        host, part, scope, path, _, _ = self
        return Installed(
            host=host.name, part=part, scope=scope, path=path, **line._asdict(), is_known=is_known, fault=fault
        )


def _places(around: HostSurroundings, records: InstallRecords) -> Iterator[_Place]:
    """Yield every place, except those of parts that were installed for other hosts only."""
    for host, scope, (name, part) in product(HOST_CONFIGS.values(), _SCOPES, PARTS.items()):
        file = part.file_of(host)
        path = None if file is None else file.path(scope, around)
        if file is None or path is None:
            continue
        record = None
        with suppress(CallerError):  # without a readable record, entries are recognized by what they start
            record = records.find(os.path.realpath(path))
        place = _Place(host, name, scope, path, file.form, record)
        if not place.owners or host.name in place.owners:
            yield place


def _in_place(place: _Place, program: Sequence[str], around: HostSurroundings) -> Iterator[Installed]:
    host, part = place.host, PARTS[place.part]
    fault = "it was installed, and is there no longer"
    try:
        document = Document(text_of(os.path.realpath(place.path)) or "", place.form)
        last = "" if place.record is None else place.record.last or ""
        left = Document(last, place.form) if place.owners else None
        known = NOTHING_REMEMBERED if left is None else Remembered(left=left.value)
        is_there = part.has(document, host, known)
    except (CannotEditError, CallerError) as error:
        is_there, fault = False, str(error)
    if not is_there:
        if place.owners:
            yield place.installed(fault=fault)
        return
    if fault := _not_started(document, place, around):
        yield place.installed(fault=fault)
        return
    # The same line for several events counts once.
    lines = dict.fromkeys(part.start_lines(document, host) or [_NOTHING])
    ours = part.start_lines(left, host) if left is not None else []
    for line in lines:
        # Anything may follow a relay or a guard, or be in variables: ours is only a command line by which this program itself is
        # started.
        is_plain = place.part != "relay" and not line.variables
        is_own = is_plain and line.words[: len(program) + 1] == (*program, place.part)
        yield place.installed(line, is_known=not line.words or line in ours or is_own)


def _not_started(document: Document, place: _Place, around: HostSurroundings) -> str:
    """Return why a host does not start a part in its configuration; empty if it does."""
    if place.part == "mcp":
        is_disabled = any(path[-1] == NAME and is_off(entry) for path, entry in servers(document, place.host))
        return "its entry says that it is off" if is_disabled else ""
    hooks = place.host.hooks
    if place.part != "hook" or hooks is None:
        return ""
    if off := switched_off(place.host, place.scope, around):
        return off[0]
    is_behind_calls = plugin.is_plugin(document.text) or hooks.event in hook.events(document)
    return "" if is_behind_calls else f"it is not behind {hooks.event} any more, so no result is cut"
