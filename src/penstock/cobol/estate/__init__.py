"""Read what stands beside the COBOL, and link it: jobs, screens, regions, tables and databases of an estate (C-16).

`kind_of` says what a file is, `member` reads it, `Copybooks` finds what COPY names, `Estate` links members and the
facts of programs: which job runs a program on which data, which transaction starts it, who calls it, who else uses
its tables.

Texts in, values out; no file is opened here. Laws: hostile input never raises; everything is linear.
"""

from __future__ import annotations

from .copybooks import Copybooks
from .kinds import COBOL_KINDS, HEAD_BYTES, Kind, kind_of
from .links import CallingProgram, DataSet, Estate, Located, Missing, StepRun, Transaction, User
from .members import Member, member

__all__ = [
    "COBOL_KINDS",
    "HEAD_BYTES",
    "CallingProgram",
    "Copybooks",
    "DataSet",
    "Estate",
    "Kind",
    "Located",
    "Member",
    "Missing",
    "StepRun",
    "Transaction",
    "User",
    "kind_of",
    "member",
]
