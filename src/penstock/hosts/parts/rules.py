"""What does a host's model read first about Penstock: five lines between our marks in its instructions (H-3)?"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.catalogue import ConfigFile, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path, Remembered
    from penstock.hosts.parts.part import Reach, StartLine

_RULES = """\
## Output that is too long (Penstock)
- Where a result says `[OUTPUT TRUNCATED]`, all of it is kept: read on with the call that the notice names, do not run it again.
- Read large files in pages (`ctx_view`, `ctx_read_file`) and search them (`ctx_search`); `ctx_outline` says what is where.
- Run what may print much as `{penstock} guard -- COMMAND`: its exit status stays, and what it prints is kept whole.
- Look for something in what was kept with `ctx_find HANDLE PATTERN`, or `{penstock} find HANDLE PATTERN` in a shell.
"""


def rules(program: Sequence[str]) -> str:
    """Return the lines for AGENTS.md and similar files: the first five of a session that has Penstock.

    Args:
        program: The words that start Penstock in a shell of the host.
    """
    return _RULES.format(penstock=shlex.join(program))


def file_of(host: HostConfig) -> ConfigFile:
    """Return the instructions that its model reads first."""
    return host.rules


def containers(_host: HostConfig) -> list[Path]:
    """Return nothing: Markdown has no objects."""
    return []


def add(document: Document, _host: HostConfig, reach: Reach, _known: Remembered, *, is_renewed: bool) -> list[str]:
    """Put our lines between their marks, after the last line or in place of the existing ones."""
    if is_renewed or document.block is None:
        document.put_block(rules(reach.program))
    return []


def take(document: Document, _host: HostConfig, _known: Remembered) -> bool:
    """Remove our lines and their marks. Returns whether they were there."""
    is_there = document.block is not None
    document.remove_block()
    return is_there


def has(document: Document, _host: HostConfig, _known: Remembered) -> bool:
    """Return whether our lines are there."""
    return document.block is not None


def start_lines(_document: Document, _host: HostConfig) -> list[StartLine]:
    """Return nothing: lines are read, not started."""
    return []
