"""What is in a COBOL source: which programs, divisions, sections, paragraphs and statements, each with its lines?

This is the entry to the reading half of the room: bytes in, a `ScannedSource` out. Leaves to others: conclusions (`facts`), the
programs of many files (`estate`), chunks, documents and models; nothing here calls the file system.

Code is read as REPLACE leaves it, line for line. COPY is recorded but not expanded here, because a line number of the expanded
text would be a line of no file; `facts` inserts copybooks and cites them at their COPY. If a copybook can be looked up, only that
is taken from it which changes the meaning of the code around its COPY: the division in which it ends, the name of the program in
it, the effect of its REPLACE on the following code, and text in which a sentence continues.

Laws: any bytes give a `ScannedSource`, without an exception and in linear time; its lines, joined, are the bytes (C-2, C-4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import Format, Program
from .source import ScannedSource

if TYPE_CHECKING:
    from .source import Lookup

__all__ = ["Format", "Program", "ScannedSource", "scan"]


def scan(
    source: bytes | str,
    *,
    source_format: Format | None = None,
    debug_lines: bool = False,
    copybooks: Lookup | None = None,
) -> ScannedSource:
    r"""Return the programs of a COBOL source, whatever its format and encoding.

    Fixed, free and variable format are recognized by directives and columns; the encoding (UTF-8, UTF-16, EBCDIC, Shift-JIS,
    EUC or Latin-1) by bytes. Any input is read; what is odd (an EXEC without its END-EXEC, an unknown indicator) is one of
    `warnings`, with its line.

    Args:
        source: The file. Text is encoded as UTF-8, with "?" for what cannot be.
        source_format: The format of the first lines, instead of what their columns say. A directive in the source
            (`>>SOURCE FORMAT`, `$SET SOURCEFORMAT`) overrides both, from the next line on.
        debug_lines: Whether lines with D in column 7 are code. They always are in a source that has WITH DEBUGGING MODE.
        copybooks: Returns the copybook of a name and of the library that OF or IN names; None if it is not there. It is called
            for what the code around a COPY depends on: headers, REPLACE, the rest of a sentence. Without it, statements show
            where a PROCEDURE DIVISION begins.

    Returns:
        The scanned file. Its programs are in the order in which they begin, nested ones after the one that contains them.

    Example:
        >>> source = scan("       PROGRAM-ID. PAY.\n       PROCEDURE DIVISION.\n       MAIN.\n           STOP RUN.\n")
        >>> [(program.name, [paragraph.name for paragraph in program.paragraphs]) for program in source]
        [('PAY', ['MAIN'])]
    """
    # The steps go one way: lines to code (`reading`), code to sentences (`structure`), sentences to values by line
    # (`assembly`). Imported here, so that importing the types does not compile the expressions.
    from .assembly import CodeLines, assemble
    from .headers import areas
    from .lexing import fold
    from .reading import read
    from .replacing import replaced
    from .splicing import spliced
    from .structure import drafts
    from .vocabulary import spoken

    data = source.encode(errors="replace") if isinstance(source, str) else source
    reading = read(data, source_format, debug_lines=debug_lines)
    folded = fold(reading.code)
    made = replaced(reading.code, folded, reading.starts, copybooks)
    if made.effects:
        folded = fold(made.code)
    said = spoken(made, folded, copybooks)
    if said is not made:
        made, folded = said, fold(said.code)
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
        # A chunk may be cut before a line unless it continues a word or is inside an EXEC, COPY or REPLACE.
        joined=reading.continued | joined,
        programs=tuple(programs),
        warnings=tuple(sorted([*reading.warnings, *warnings])),
        starts=whole.starts,
        offsets=reading.offsets,
        switches=reading.switches,
        replacing=made.effects,
        in_place=whole.copies,
    )
