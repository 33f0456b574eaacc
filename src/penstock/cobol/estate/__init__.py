"""What surrounds the COBOL of an estate: jobs, screens, regions, tables and databases (C-16)?

`kind_of` says what kind a file is, `member` reads it, and `Copybooks` finds what COPY names. What members and programs say of each
other is in `cobol.graph`.

Texts in, values out; no file is opened here. Laws: hostile input never raises; everything is linear.
"""

from __future__ import annotations

from .copybooks import Copybooks
from .kinds import COBOL_KINDS, DOCUMENTED_KINDS, HEAD_BYTES, Kind, kind_of
from .members import Member, declaring, member

__all__ = [
    "COBOL_KINDS",
    "DOCUMENTED_KINDS",
    "HEAD_BYTES",
    "Copybooks",
    "Kind",
    "Member",
    "declaring",
    "kind_of",
    "member",
]
