"""`python -m penstock` is `penstock`: one command in its own process.

A process that lives for 60 ms should not spend ten of them on garbage collection, so the threshold is set here.
"""

from __future__ import annotations

import gc
import os
import sys
from signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal

TYPE_CHECKING = False  # as in `penstock`
if TYPE_CHECKING:
    from typing import NoReturn

# Almost nothing that loading modules allocates is garbage, yet each collection scans all of it again. The number is how many new
# objects trigger the next collection: 700 until Python 3.12, 2,000 since. Servers run with this value too.
gc.set_threshold(10_000)
_INTERRUPTED = 130


def _end_at_once(_number: int, _frame: object) -> NoReturn:
    """End the process with the status of an interrupted command."""
    os._exit(_INTERRUPTED)


# While modules load, nothing has begun that would have to be ended with care. An exception would instead have to be caught in
# whatever module it interrupts, and again if a second Ctrl-C follows. What comes before this line, the interpreter's own start, is
# not ours. A process that was started with the signal ignored goes on ignoring it.
_ANSWERS_INTERRUPTS = getsignal(SIGINT) is default_int_handler
if _ANSWERS_INTERRUPTS:
    signal(SIGINT, _end_at_once)


def run() -> NoReturn:
    """Run the command that was typed, and end the process with its status."""
    _open_streams()
    from penstock.cli import main

    try:
        if _ANSWERS_INTERRUPTS:  # by an exception, which the command catches
            signal(SIGINT, default_int_handler)
        status = main()
    except KeyboardInterrupt:  # another one, while the command was answering the first
        status = _INTERRUPTED
    # All output is written by now: a Ctrl-C while the interpreter exits must not change the status.
    signal(SIGINT, SIG_IGN)
    # At exit the interpreter scans all objects once more for reference cycles. The command has closed what it opened, and the
    # system reclaims the memory anyway.
    gc.freeze()
    sys.exit(status)


def _open_streams() -> None:
    """Open the null device for closed standard streams, and write UTF-8 to the others whatever the locale.

    Without the first, the next file opened would take their descriptors. Without the second, a name or a line that Latin-1 or a
    code page of Windows cannot hold would end the command. What the guard passes on unread is UTF-8 as well.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the life of the process
        elif mode == "w" and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    run()
