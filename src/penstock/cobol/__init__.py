"""What does a COBOL source say? Its programs, divisions, sections, paragraphs and statements, by line.

Keeps out chunks, documents and models: bytes in, a `ScannedSource` out. Code is read as it stands; COPY is recorded and
never expanded. `facts` draws conclusions from it.

Laws: any bytes are a `ScannedSource`, without an exception and in linear time; its lines, joined, are the bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import Format, Program
from .source import ScannedSource

if TYPE_CHECKING:
    from .program import Warned

__all__ = ["Format", "Program", "ScannedSource", "scan"]


def scan(source: bytes | str, *, source_format: Format | None = None, debug_lines: bool = False) -> ScannedSource:
    """The programs of a source.

    `source_format` overrules what the columns say; directives in the source overrule both. Debug lines are code where
    the program says WITH DEBUGGING MODE, or where `debug_lines` does.
    """
    from .assembly import CodeLines, assemble
    from .lexing import fold
    from .reading import read
    from .structure import drafts

    data = source.encode(errors="replace") if isinstance(source, str) else source
    reading = read(data, source_format, debug_lines=debug_lines)
    folded = fold(reading.code)
    lines = CodeLines(reading.code, reading.starts)
    programs, joined, warnings = assemble(drafts(reading.code, folded), lines, folded)
    found: list[Warned] = [*reading.warnings, *warnings]
    return ScannedSource(
        data=data,
        encoding=reading.encoding,
        format=reading.format,
        code=reading.code,
        kinds=reading.kinds,
        joined=reading.continued | joined,
        programs=tuple(programs),
        warnings=tuple(sorted(found)),
        starts=reading.starts,
        offsets=reading.offsets,
        switches=reading.switches,
    )
