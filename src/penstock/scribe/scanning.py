"""Is a gathered file of COBOL a program or a copybook, once it is scanned?

Its text alone does not say: a copybook may begin the PROCEDURE DIVISION of whoever copies it, and a program have its headers from
COPY. Leaves to others: what a file is taken for by its name (`gathering`), and what is in it (`cobol`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.cobol import scan

if TYPE_CHECKING:
    from penstock.cobol import Format, ScannedSource
    from penstock.cobol.source import Lookup
    from penstock.scribe.gathering import GatheredFile


def scanned(file: GatheredFile, find: Lookup, source_format: Format | None) -> ScannedSource:
    """Return the scan of a file of COBOL, in which each part is a program or a copybook as the file is.

    A text with a division header looks like a program; in a copybook library it counts as one only if it has a name.

    Args:
        file: The file.
        find: Looks up its copybooks.
        source_format: The reference format, if detection from the columns would get it wrong.
    """
    source = scan(file.data, source_format=source_format, copybooks=find)
    if file.kind == "cobol" or any(program.name for program in source):
        return source
    return replace(source, programs=tuple(replace(program, kind="copybook") for program in source))
