"""`python -m penstock` is `penstock`: one command as a process of its own.

A process that lives for 60 ms should not spend ten of them looking for garbage: here is said when to look.
"""

import gc
import os
import sys
from typing import NoReturn

# While modules load, next to nothing of what they make is garbage, and all of it is looked at again and again. The number is
# that of new objects before the next look: 700 until Python 3.12, 2,000 since. A server lives with this one as well.
gc.set_threshold(10_000)
_INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command that was typed, and end the process with its status."""
    _open_streams()
    try:
        from penstock.cli import main

        status = main()
    except KeyboardInterrupt:  # while modules load: later ones are answered by the command
        status = _INTERRUPTED
    # What it had to say is said: a Ctrl-C that comes now, while the interpreter ends, changes nothing of how it ended.
    from signal import SIG_IGN, SIGINT, signal

    signal(SIGINT, SIG_IGN)
    # At its end the interpreter looks through all objects once more, for cycles to take apart. What a command had open it has
    # closed; memory goes back to the system in any case.
    gc.freeze()
    sys.exit(status)


def _open_streams() -> None:
    """Put the null device in the place of standard streams that are closed: what is opened next would take their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the life of the process


if __name__ == "__main__":
    run()
