"""Which programs does a job of NEC's A-VX run (JSL: `/RUN PROG,FIL=LIB;`)?

Leaves to others: conditions, and what the programs of the system (`/RUN #BKUP;`) do with the files that their parameters name. Law:
any text has an answer in linear time.
"""

from __future__ import annotations

import re

from .jcl import Job, JobStep
from .placing import line_in

_RUN = re.compile(r"^/RUN[ ]+(?P<program>#?[A-Z][\w@#-]*+)[ ]*(?:,[^;\n]*)?;", re.IGNORECASE | re.MULTILINE)
"""What runs a program; its parameters are the lines up to `/>`."""


def job(text: str) -> Job | None:
    """Return a job, whose steps have the names of the programs that they run; None if it runs none."""
    steps: dict[str, JobStep] = {}
    line_of = line_in(text)
    for found in _RUN.finditer(text):
        line, name = line_of(found.start()), found["program"]
        step = name if name.upper() not in steps else f"{name}-{line}"
        steps[step.upper()] = JobStep(step, name, None, (name.upper(),), None, (), line, line)
    return Job("", "job", tuple(steps.values()), (), 1, text.rstrip("\n").count("\n") + 1) if steps else None
