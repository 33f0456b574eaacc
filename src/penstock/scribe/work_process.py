"""What runs at the far end of `workers`? A process that takes pieces of work from its standard input until that ends.

An interrupt is handled by the process that started this one, which ends all of them; if that is itself killed, the input ends. Law:
one answer per request, in their order; what a piece prints does not get among the answers. Leaves to others: what is done.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from typing import Any

# Most of what is made of a program is freed by reference counting. Looking for cycles after every 700 objects, as Python does by
# default, took a third of the time; at this threshold it takes a hundredth, and the garbage in between is 50 MB.
_OBJECTS_BETWEEN_LOOKS = 200_000


def main() -> None:
    """Do pieces of work until there are no more requests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Printed output goes to standard error: our standard output is for answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    spare_collector()
    work: Any = None
    while True:
        try:
            kind, value = pickle.load(sys.stdin.buffer)  # noqa: S301  # a pipe from the process that started us
        except (EOFError, pickle.UnpicklingError):  # the input ended, perhaps in the middle of a request
            return
        try:
            if kind == "setup":
                make, setup = value
                work, made = make(setup), None
            else:
                made = work(value)
            answer = ("done", made)
        except Exception as error:  # noqa: BLE001  # raised again where the answer is read
            answer = ("raised", error)
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def spare_collector() -> None:
    """Make the cycle collector run less often."""
    gc.freeze()  # what is loaded so far is not searched
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS, 20, 20)
