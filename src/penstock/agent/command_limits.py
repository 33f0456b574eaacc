"""What may a command take? The user's numbers: defaults, then the environment, then `--command-limit`; the last one wins.

They are not read from `penstock.toml`, which may be a stranger's: a raised limit does harm. Law: the error for a name or number
that is not understood names it and what would be accepted. Leaves to others: how a limit is enforced (`sandbox`).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from penstock.agent.sandbox import ProcessLimits
from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# A build with one process per processor on a large machine, with tests next to it, has some hundreds; a fork bomb has no end.
MAX_PROCESSES = 1_024
"""Default limit of a command's processes and threads at once."""
# The usual hard limit of a system is higher, its soft limit 1,024.
MAX_OPEN_FILES = 4_096
"""Default limit of open files of each process of a command."""
MAX_FILE_BYTES = 8 << 30
"""Default limit of the size of a file that a command writes."""
VARIABLES = {
    "processes": "PENSTOCK_COMMAND_PROCESSES",
    "memory-bytes": "PENSTOCK_COMMAND_MEMORY_BYTES",
    "open-files": "PENSTOCK_COMMAND_OPEN_FILES",
    "file-bytes": "PENSTOCK_COMMAND_FILE_BYTES",
}
"""The variable of each limit, by its name in `--command-limit`; in the order of `ProcessLimits`."""


def command_limits(given: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> ProcessLimits:
    """Return what a command may take.

        >>> command_limits(["processes=64"], {}).max_processes
        64

    Args:
        given: What a flag says, `NAME=N` each.
        environment: Variables; None takes those of the process.

    Raises:
        CallerError: There is no limit of that name, or N is not a whole number above 0.
    """
    environment = os.environ if environment is None else environment
    chosen = dict(zip(VARIABLES, (MAX_PROCESSES, default_memory_bytes(), MAX_OPEN_FILES, MAX_FILE_BYTES), strict=True))
    chosen |= {name: _number(at, text) for name, at in VARIABLES.items() if (text := environment.get(at))}
    for one in given:
        name, _, text = one.partition("=")
        if name not in VARIABLES:
            raise CallerError(f"--command-limit takes NAME=N with {', '.join(VARIABLES)}, not {escape.clip(one, 40)}")
        chosen[name] = _number(f"--command-limit {name}", text)
    return ProcessLimits(*chosen.values())


def default_memory_bytes() -> int:
    """Return three quarters of the memory of this machine, in bytes: what a command may take by default."""
    if sys.platform == "win32":
        raise CallerError("Commands cannot be confined here, and are not run unconfined. That takes Linux.")
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4


def _number(where: str, text: str) -> int:
    """Return a whole number above 0."""
    # 19 digits: the kernel's values have 63 bits.
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) > 0):
        raise CallerError(f"{where} takes a whole number above 0, not {escape.clip(text, 40)!r}")
    return int(text)
