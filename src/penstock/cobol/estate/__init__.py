"""What surrounds the COBOL of an estate, and how is it linked: jobs, screens, regions, tables and databases (C-16)?

`kind_of` says what kind a file is, `member` reads it, `Copybooks` finds what COPY names, and `Estate` links members with the
facts of programs: which job runs a program on which data, which transaction starts it, which programs call it, and which others
use its tables.

Texts in, values out; no file is opened here. Laws: hostile input never raises; everything is linear.
"""

from __future__ import annotations

from .copybooks import Copybooks
from .kinds import COBOL_KINDS, DOCUMENTED_KINDS, HEAD_BYTES, Kind, kind_of
from .links import CallingProgram, DataSet, Estate, Located, Missing, StepRun, Transaction, User
from .members import Member, declaring, member

__all__ = [
    "COBOL_KINDS",
    "DOCUMENTED_KINDS",
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
    "declaring",
    "kind_of",
    "member",
]
