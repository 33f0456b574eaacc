"""Which copied paragraphs are never run, because a copybook has paragraphs for every use of a file and a program needs only some?

Leaves to others: what those paragraphs do. Law: a paragraph that some path may lead to is never returned; if control may fall or
jump into copied code, or run a range of it (THRU), all of it is assumed to run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..program import key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .code import Code
    from .expanding import CodePiece


def unreached(code: Code, pieces: Sequence[CodePiece], run_over: set[int]) -> frozenset[tuple[int, str]]:
    """Return the copied paragraphs that are never run, by the line of their COPY and their name, or that of their section.

    Args:
        code: The statements.
        pieces: The program and its procedure copybooks, in the order of their lines.
        run_over: The paragraphs of the program that control may fall through, rather than return at their end.
    """
    performed: set[str] = set()
    jumped: set[str] = set()
    for piece in pieces:
        for perform in piece.program.performs:
            ends = [key(perform.target), *([key(perform.thru)] if perform.thru else ())]
            (jumped if perform.thru else performed).update(ends)
        jumped.update(key(target) for jump in piece.program.gotos for target in jump.targets)
    entered: set[int] = set()
    found: set[tuple[int, str]] = set()
    for piece in pieces[1:]:
        paragraphs = [one for one in piece.program.paragraphs if one.name or one.section]
        at = code.paragraph(piece.line)
        names = {key(name) for one in paragraphs for name in (one.name, one.section) if name}
        if at < 0 or at in run_over or at in entered or names & jumped:
            entered.add(at)
            continue
        found.update(
            (piece.line, piece.copied_name(one))
            for one in paragraphs
            if performed.isdisjoint(key(name) for name in (one.name, one.section) if name)
        )
    return frozenset(found)
