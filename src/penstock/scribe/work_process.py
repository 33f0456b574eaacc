"""The far end of `workers`: a process that takes pieces of work from its standard input until that ends.

An interrupt is for the process that started this one, which ends all of them; when that is killed itself, the input ends.
Law: one answer a request, in their order; what a piece prints does not get among the answers. Keeps out: what is done.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from typing import Any

# Most of what is made of a program is free as soon as nobody names it. Looking for circles after every 700 objects, as Python does
# by itself, took a third of the time; after so many it is a hundredth, and what lies about meanwhile is 50 MB.
_OBJECTS_BETWEEN_LOOKS = 200_000


def main() -> None:
    """Do what is asked until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever prints, prints to where errors go: our standard output is for answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    spare_collector()
    work: Any = None
    while True:
        try:
            kind, value = pickle.load(sys.stdin.buffer)  # noqa: S301  # a pipe from the process that started us
        except (EOFError, pickle.UnpicklingError):  # nobody asks any more, or in the middle of a request
            return
        try:
            if kind == "setup":
                make, setup = value
                work, made = make(setup), None
            else:
                made = work(value)
            answer = ("done", made)
        except Exception as error:  # noqa: BLE001  # it is raised again where the answer is read
            answer = ("raised", error)
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def spare_collector() -> None:
    """Look for circles of objects less often."""
    gc.freeze()  # what is loaded by now stays
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS, 20, 20)
