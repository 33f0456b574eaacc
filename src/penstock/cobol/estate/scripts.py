"""What do the scripts of an estate run in the light of its other files: which scripts do they source, which programs are there?

Leaves to others: what a command does (`shell`). Law: members that are placed again are the same.
"""

from __future__ import annotations

import posixpath
from itertools import chain
from typing import TYPE_CHECKING

from . import shell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .members import Member
    from .shell import Script

_BATCH = ("", ".bat", ".cmd")
"""What a batch file leaves out of the name of another one."""
_ELSEWHERE = "the script that sets the variable is found by its name alone"


def placed(members: Iterable[Member], names: Collection[str]) -> tuple[Member, ...]:
    """Return members in which the jobs of scripts have the variables of those that they source.

    Args:
        members: The members.
        names: The names of the programs of the estate and of their files, in capitals.
    """
    found = tuple(members)
    at: dict[str, Script] = {}
    # By the name, alone and with its folder: in an estate each of many folders may have an env.sh.
    named: dict[str, list[Script]] = {}
    beside: dict[tuple[str, str], list[Script]] = {}
    for member in found:
        if member.script is not None:
            folder, name = posixpath.split(member.path)
            at[member.path] = member.script
            named.setdefault(name.lower(), []).append(member.script)
            beside.setdefault((folder, name.lower()), []).append(member.script)

    def find(name: str, path: str) -> Script | None:
        """Return the script that a name means in the script of a path; None if it is not here, or one of several."""
        name = name.replace("\\", "/")
        folder = posixpath.dirname(path)
        suffixes = _BATCH if path.lower().endswith(_BATCH[1:]) else _BATCH[:1]
        files = [f"{posixpath.basename(name)}{suffix}".lower() for suffix in suffixes]
        places = {posixpath.normpath(posixpath.join(folder, name)), posixpath.normpath(name)}
        exact = [at[place] for place in places if place in at]
        if not exact and "/" not in name.removeprefix("*/"):
            exact = [one for file in files for one in beside.get((folder, file), ())]
        likely = exact or list(chain.from_iterable(named.get(file, ()) for file in files))
        if len(likely) != 1:
            return None
        one = likely[0]
        # What precedes the first known part of a folder may be any folder: $BIN/env.sh, $(dirname $0)/env.sh.
        known = name.rpartition("*")[2].lstrip("./")
        is_sure = bool(exact) or f"/{one.path}".endswith(f"/{known}")
        return one if is_sure else one._replace(doubt=_ELSEWHERE)

    known = frozenset(names)
    return tuple(
        member
        if member.script is None
        else member._replace(jobs=tuple(filter(None, [shell.job(member.script, find, known)])))
        for member in found
    )
