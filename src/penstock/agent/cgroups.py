"""How are the processes and memory of a command and all its descendants bounded? By its own control group, if one can be made.

A limit on each process (`setrlimit`) does not add up: a hundred processes may use a hundred times as much, and root has no limit on
their number. A control group counts them together. Versions 1 and 2 are both used, each controller where it is mounted; a group is
made beneath our own, or next to it, because in version 2 a group that holds processes passes no controllers on.

Laws: nothing is reported as bounded that is not; a group is removed when its command has ended, and the group of a process that
was killed is removed when the next one is made. Leaves to others: limits of single processes (`sandbox`). Source: cgroups(7).
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from penstock.workspace.own_files import open_own, write_to_system

_NAME = "penstock-"
_REMOVED_SECONDS = 1.0
# The file of each controller in which its limit is written: version 2's, then version 1's.
_FILES = {"pids": ("pids.max",), "memory": ("memory.max", "memory.limit_in_bytes")}


def make(limits: dict[str, int]) -> dict[str, str]:
    """Make groups with limits, and return their folders by controller; a controller that is not available is missing.

    Args:
        limits: what is bounded: `pids` in processes (threads count), `memory` in bytes.
    """
    made: dict[str, str] = {}
    for controller, limit in limits.items():
        for above in _places(controller):
            folder = os.path.join(above, f"{_NAME}{os.getpid()}")
            if folder in made.values() or _make(above, folder):
                if _limit(folder, controller, limit):
                    made[controller] = folder
                    break
                if folder not in made.values():
                    remove([folder])
    return made


def enter(folder: str) -> None:
    """Move this process into a group. Raises OSError."""
    write_to_system(os.path.join(folder, "cgroup.procs"), b"0")


def remove(folders: list[str]) -> None:
    """Remove groups whose processes have ended; one that cannot be removed is left for the next `make`."""
    # The last process may have been reaped and still be counted for an instant.
    until = time.monotonic() + _REMOVED_SECONDS
    for folder in set(folders):
        while True:
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                break
            except OSError:
                if time.monotonic() > until:
                    break
                time.sleep(0.005)
            else:
                break


def _make(above: str, folder: str) -> bool:
    """Make a group, after removing those that killed processes have left."""
    try:
        for name in os.listdir(above):
            number = name.removeprefix(_NAME)
            if name != number and number.isdecimal() and not os.path.exists(f"/proc/{number}"):
                with suppress(OSError):
                    os.rmdir(os.path.join(above, name))
        os.mkdir(folder)
    except OSError:
        return False
    return True


def _limit(folder: str, controller: str, limit: int) -> bool:
    """Write a limit, and return whether it is in force."""
    for name in _FILES[controller]:
        with suppress(OSError):
            write_to_system(os.path.join(folder, name), b"%d" % limit)
            return True
    return False


def _places(controller: str) -> list[str]:
    """Return the folders in which a group of a controller may be made: our own group, and the one above it."""
    found: list[str] = []
    with suppress(OSError, ValueError):
        mounts = _mounts()
        for line in _read("/proc/self/cgroup"):
            _, controllers, path = line.split(":", 2)
            mount = mounts.get(controller if controllers else "")
            if (controllers and controller not in controllers.split(",")) or mount is None:
                continue
            root, point = mount
            # In a container the mount may show only a part of the hierarchy.
            inner = path.removeprefix(root).strip("/") if root != "/" else path.strip("/")
            own = os.path.join(point, inner) if inner else point
            found.append(own)
            if own != point:
                found.append(os.path.dirname(own))
    return found


def _mounts() -> dict[str, tuple[str, str]]:
    """Return (root, mount point) of each hierarchy, by controller; version 2's under the empty name."""
    mounts: dict[str, tuple[str, str]] = {}
    for line in _read("/proc/self/mountinfo"):
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        root, point = fields.split(" ")[3:5]
        if kind == "cgroup2":
            mounts[""] = (root, point)
        elif kind == "cgroup":
            mounts |= dict.fromkeys(options.split(","), (root, point))
    return mounts


def _read(path: str) -> list[str]:
    with open_own(path) as file:
        return file.read().decode("utf-8", "surrogateescape").splitlines()
