"""Read a COBOL source: its programs, divisions, sections, paragraphs and statements, each with its lines.

This is the door to the front half of the room: bytes in, a `ScannedSource` out. `facts` draws conclusions from it,
and `estate` links the programs of many files. Chunks, documents and models are kept out; so is every file system
call.

Code is read as REPLACE leaves it, line for line. COPY is recorded and not expanded here, because a line number of the
expanded text would be a line of no file; `facts` puts copybooks in place and cites them at their COPY. Where a copybook can
be looked up, that alone is taken from it without which what stands around its COPY says something else: the division that it
ends in, the name of the program in it, what its REPLACE does to the code behind, and a text that a sentence goes on in.

Laws: any bytes are a `ScannedSource`, without an exception and in linear time; its lines, joined, are the bytes (C-2,
C-4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import Format, Program
from .source import ScannedSource

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["Format", "Program", "ScannedSource", "scan"]


def scan(
    source: bytes | str,
    *,
    source_format: Format | None = None,
    debug_lines: bool = False,
    copybooks: Callable[[str, str | None], ScannedSource | None] | None = None,
) -> ScannedSource:
    r"""Return what a COBOL source says, program by program, whatever its format and encoding.

    Fixed, free and variable format are told by directives and columns; ASCII, UTF-8, UTF-16 and EBCDIC (cp037) by
    bytes. Any input is read; what is odd (an EXEC without its END-EXEC, an unknown indicator) is one of `warnings`,
    with its line.

    Args:
        source: The file. Text is taken as UTF-8, with "?" for what that cannot hold.
        source_format: The format of the first lines, instead of what their columns say. A directive in the source
            (`>>SOURCE FORMAT`, `$SET SOURCEFORMAT`) overrules both, from the next line on.
        debug_lines: Whether lines with D in column 7 are code. They are code, whatever this says, in a source that
            has WITH DEBUGGING MODE.
        copybooks: The copybook of a name and of the library that OF or IN names, None for one that is not there. It is
            asked for what the code around it hangs on: headers, REPLACE, the rest of a sentence; without it, statements tell
            where a PROCEDURE DIVISION begins.

    Returns:
        The scanned file. Its programs stand in the order in which they begin, nested ones behind the one that holds
        them.

    Example:
        >>> source = scan("       PROGRAM-ID. PAY.\n       PROCEDURE DIVISION.\n       MAIN.\n           STOP RUN.\n")
        >>> [(program.name, [paragraph.name for paragraph in program.paragraphs]) for program in source]
        [('PAY', ['MAIN'])]
    """
    # The steps are one way: lines to code (`reading`), code to sentences (`structure`), sentences to values by line
    # (`assembly`). Imported here, so that naming the types costs none of the expressions.
    from .assembly import CodeLines, assemble
    from .headers import areas
    from .lexing import fold
    from .reading import read
    from .replacing import replaced
    from .splicing import spliced
    from .structure import drafts

    data = source.encode(errors="replace") if isinstance(source, str) else source
    reading = read(data, source_format, debug_lines=debug_lines)
    folded = fold(reading.code)
    made = replaced(reading.code, folded, reading.starts, copybooks)
    if made.effects:
        folded = fold(made.code)
    whole = spliced(made, folded, copybooks)
    if whole.copies:
        folded = fold(whole.code)
    lines = CodeLines(whole.code, whole.starts)
    found = drafts(whole.code, folded, copybooks, areas(reading.switches, whole.starts))
    programs, joined, warnings = assemble(found, lines, folded)
    return ScannedSource(
        data=data,
        encoding=reading.encoding,
        format=reading.format,
        code=whole.code,
        kinds=reading.kinds,
        # A chunk may be cut in front of a line unless it continues a word or lies inside of an EXEC, COPY or REPLACE.
        joined=reading.continued | joined,
        programs=tuple(programs),
        warnings=tuple(sorted([*reading.warnings, *warnings])),
        starts=whole.starts,
        offsets=reading.offsets,
        switches=reading.switches,
        replacing=made.effects,
        in_place=whole.copies,
    )
