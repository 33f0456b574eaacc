"""What breaks when a field grows? What is certain comes first, and what programs share is on one line.

What a copybook declares breaks in each program that copies it, at the same lines: that is one line here, with the names of those
programs. `--json` has every row.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.cobol.graph import CitedLine, EstateGraph, Grown

_MAX_PLACES = 3
_MAX_PROGRAMS = 6


def growth_lines(
    name: str, more_bytes: int, found: Sequence[Grown], graph: EstateGraph, *, behind_point: bool = False
) -> Iterator[str]:
    """Yield the report on a field that grows.

    Args:
        name: The field, as it was asked for.
        more_bytes: By how many bytes it grows.
        found: What follows, most important first.
        graph: The estate, which knows the programs.
        behind_point: Whether numbers get their digits behind the point.
    """
    told = f": {_summary(found)}" if found else ":"
    yield f"{escape.show_argument(name)} grows by {counted(more_bytes, 'byte')}{' after its point' * behind_point}{told}"
    if not found:
        yield "Nothing that is known breaks."
    alike: dict[tuple[str, str], list[tuple[Grown, str]]] = {}
    for one in found:
        part = graph.part_of(one.node)
        program = part.name if part is not None else ""
        bare = _said(one).replace(f"{program}.", "") if program else _said(one)
        alike.setdefault((bare, _where(one)), []).append((one, program))
    for (bare, where), same in alike.items():
        if len(same) == 1:
            one, _ = same[0]
            yield f"{escape.show_argument(without_paths(_said(one), one.citations))}  {where}"
        else:
            more = f" and {len(same) - _MAX_PROGRAMS} more" if len(same) > _MAX_PROGRAMS else ""
            programs = escape.show_argument(", ".join(program for _, program in same[:_MAX_PROGRAMS]))
            yield f"{escape.show_argument(bare)}  {where}  in {programs}{more}"


def without_paths(said: str, citations: Iterable[CitedLine]) -> str:
    """Return what is said of programs that are told apart by their files, without the files that its citations name anyway."""
    # The longest first, and only whole ones: `PAY` begins as `PAYSUB` does.
    paths = sorted({cited.path for cited in citations}, key=len, reverse=True)
    return re.sub(rf"@(?:{'|'.join(map(re.escape, paths))})(?![^\s.:,)])", "", said) if paths else said


def _summary(found: Sequence[Grown]) -> str:
    """Return how much breaks, and how much gets longer with the field."""
    # What breaks for sure comes first; that it may need still more does not count twice.
    certainties = {(one.what, one.node): one.certainty for one in reversed(found) if one.is_breaking}
    breaking = Counter(certainties.values())
    surely = counted(breaking["is"], "breaks", "break")
    parts = [f"{surely} for sure, {sum(breaking.values()) - breaking['is']} may"]
    stored = sum(one.is_stored for one in found)
    longer = sum(one.what in {"field", "group", "record"} for one in found)
    parts += [f"{counted(stored, 'row')} of files, data sets and tables"] * (stored > 0)
    return "; ".join([*parts, counted(longer, "gets longer", "get longer")])


def _said(one: Grown) -> str:
    """Return a consequence in words, indented by the number of moves before it."""
    length = ""
    if one.digits is not None and one.needed_bytes == one.bytes:
        # A binary or packed item may have room for more digits than its picture.
        length = f" {one.bytes} bytes, {one.digits} digits, then {one.needed_digits}"
    elif one.bytes is not None:
        length = f" {one.bytes} bytes" + (f", then {one.needed_bytes}" if one.needed_bytes is not None else "")
    doubt = "" if one.certainty == "is" else f" {one.certainty}:"
    return f"{'  ' * (one.steps + 1)}{one.what}{doubt} {one.node}{length}: {one.why}"


def _where(one: Grown) -> str:
    """Return the first places that show a consequence."""
    return ", ".join(f"{escape.show_name(cited.path)}:{cited.line}" for cited in one.citations[:_MAX_PLACES])
