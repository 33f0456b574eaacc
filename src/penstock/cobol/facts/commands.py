"""Which programs does a program run by an operating system command: `CALL "SYSTEM" USING "./bin/report"`?

A command names a file; only the estate knows which program that is. Leaves to others: when it runs. Law: every name comes from
the source, with its line; a part of a command that is data names nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .group_texts import DATA
from .resolving import literal
from .resources import CommandRun, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .calls import WrittenCall
    from .file_names import FileNames

_RUNNERS = frozenset({"SYSTEM", "C$SYSTEM", "C$RUN", "CBL_EXEC_RUN_UNIT", "CBL_RUN_UNIT"})
_PARTS = re.compile(r"&&|\|\||[;&|\n]")
"""The separators between the commands of a line."""
RUNTIMES = frozenset(
    {"cobcrun", "runcbl", "cobrun", "cobrun32", "runcobol", "runcob85", "wrun32", "crun32", "rtsora", "anim", "run"}
)
"""Commands of runtimes, which run the program that is named after them."""
_STARTERS = RUNTIMES | {"start", "exec", "nohup", "call"}
"""Commands that run the one after them."""
_FILE = re.compile(r"(?i)(?:.*[/\\])?([\w$#@-]+)(?:\.[\w$#@-]+)*")


def commands(calls: Sequence[WrittenCall], names: FileNames) -> Iterator[CommandRun]:
    """Yield the files that the commands of a program run, each with the source of the command.

    Args:
        calls: The CALLs.
        names: The values that an item may have anywhere in the program, including composed texts.
    """
    for call in calls:
        if call.name not in _RUNNERS or not call.parameters:
            continue
        said = literal(call.parameters[0])
        texts = [Resolved(said, "VALUE", call.line, call.copybook)] if said else names.of(call.parameters[0])
        for text in texts:
            for name in dict.fromkeys(_files(text.value)):
                yield CommandRun(name, call.line, call.end_line, call.copybook, text)


def _files(text: str) -> Iterator[str]:
    """Yield the files that a command line runs, without folders and suffixes."""
    for part in _PARTS.split(text):
        words = part.replace('"', " ").replace("'", " ").split()
        while words and words[0] in _STARTERS:
            del words[0]
        found = _FILE.fullmatch(words[0]) if words else None
        if found and DATA not in found[1]:
            yield found[1]
