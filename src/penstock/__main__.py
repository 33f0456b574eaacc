"""`python -m penstock` is `penstock`: one command in its own process.

A process that lives for 60 ms should not spend ten of them on garbage collection, so the threshold is set here.
"""

import gc
import os
import sys
from typing import NoReturn

# Almost nothing that loading modules allocates is garbage, yet each collection scans all of it again. The number is how many new
# objects trigger the next collection: 700 until Python 3.12, 2,000 since. Servers run with this value too.
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
    # All output is written by now: a Ctrl-C while the interpreter exits must not change the status.
    from signal import SIG_IGN, SIGINT, signal

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
