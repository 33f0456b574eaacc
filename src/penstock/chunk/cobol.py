"""How is a COBOL source divided into chunks? Left whole if it fits, else by its units, keeping those that call each other together.

A budget is one of whole prompts or of source text. In a prompt the overhead comes first, up to a quarter of the budget is for
outline and data, and the source gets the rest; a unit that needs more than that has less around it. Every prompt is counted as it
is sent, and one that turns out too large is cut again. Law: those of `chunks`; same input, same plan.
Leaves to others: where units begin (`units`), what ties them (`affinity`), what is shown (`context`).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from hashlib import sha256
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

from .affinity import bundlings, reached, ties
from .chunks import Chunk, ChunkPlan, Overhead, joined
from .cutting import Cuts, Sizes
from .measure import Ruler
from .packing import BinRoom, PackedItem, kept, pack
from .sending import Prompts, Texts
from .staying import stay
from .units import UnitLayout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.cobol.source import ScannedSource
    from penstock.text.allowance import Allowance
    from penstock.text.tokens import TokenCounter

    from .affinity import Reached
    from .chunks import Kind, Span
    from .packing import Ties
    from .sending import MeasuredChunk, Sending
    from .units import Unit, UnitKind

MAX_PARAGRAPHS = 40
"""The most paragraphs asked about per prompt: answers are limited too (evidence: 30 gave 17 calls of 98; tokens alone too few)."""
_ENOUGH = 1.3  # times the minimum of chunks, or one more: above it large paragraphs are cut, so that they share chunks
_TOO_MANY = 2.0  # from so many times the minimum on, what stayed from the last plan is planned anew
_MANY = 1_000  # units, from which on not every way to bundle them is tried
_TIGHTER = 0.97
_DENSE = 0.5  # at most so much is added to the size of code for its branches
_KNOWN_BY = 3  # of the lines of a part of a unit identify it
_ID_LETTERS = 10
_KINDS: tuple[UnitKind, ...] = ("procedure", "data", "header")
_BRANCHES = frozenset({"IF", "ELSE", "EVALUATE", "WHEN", "SEARCH", "PERFORM", "GO TO"})


def plan(
    source: ScannedSource,
    *,
    prompt_tokens: int | None = None,
    source_tokens: int | Allowance | None = None,
    overhead: Overhead | None = None,
    counter: TokenCounter | None = None,
    previous: Mapping[str, str] | None = None,
    max_paragraphs: int | None = None,
    adaptive: bool = False,
    copybooks: Mapping[str, ScannedSource] | None = None,
    refines: ChunkPlan | None = None,
) -> ChunkPlan:
    """Return all chunks of a source, for prompts of a given size or for a given amount of its own text; one of the two is given.

    Args:
        source: The scanned file.
        prompt_tokens: The most tokens of a whole prompt.
        source_tokens: The most tokens, or another allowance, of the source's own text.
        overhead: What every prompt holds besides.
        counter: Decides what fits: exactly if possible, else by its upper bound.
        previous: The `assignment` of the last plan: what it assigned stays in place as far as possible.
        max_paragraphs: The most paragraphs of a chunk: by default 40 in prompts, any number in text.
        adaptive: Whether dense code gets smaller chunks.
        copybooks: Shown where code uses their data, by their names in COPY statements.
        refines: A plan of this source whose chunks turned out too large: each of the new ones has lines of one of them.

    Raises:
        CallerError: The overhead leaves nothing of the budget, or not exactly one of the two sizes is given.
    """
    sending: Sending
    layout = UnitLayout(source)
    if prompt_tokens is not None and source_tokens is None:
        ruler = Ruler(prompt_tokens, counter)
        sending = Prompts(layout, ruler, overhead or Overhead(), copybooks)
        max_paragraphs = MAX_PARAGRAPHS if max_paragraphs is None else max_paragraphs
    elif source_tokens is not None and prompt_tokens is None:
        ruler = Ruler(source_tokens, counter)
        sending = Texts(layout, ruler)
    else:
        raise CallerError("A plan is for prompts or for text: give prompt_tokens or source_tokens.")
    whole: Sequence[Span] = ((1, source.lines),)
    apart = [whole] if refines is None else [chunk.spans for chunk in refines.chunks]
    return _Planner(layout, sending, ruler.limit, previous or {}, max_paragraphs, apart, adaptive=adaptive).plan()


class _Piece(NamedTuple):
    """A unit, or a part of one. `key` finds the same piece in the next version of the file."""

    unit: int
    key: str
    first: int
    last: int
    answers: int


_Group = tuple["str | None", list[_Piece]]  # the id that a chunk had, and what it holds


class _Planner:
    """One plan in the making. `_decisions` collects what was decided and why, to explain the plan."""

    def __init__(
        self,
        layout: UnitLayout,
        sending: Sending,
        budget: int,
        previous: Mapping[str, str],
        max_paragraphs: int | None,
        apart: Iterable[Sequence[Span]],
        *,
        adaptive: bool,
    ) -> None:
        self._layout = layout
        self._lines = layout.source.lines
        self._budget = budget
        self._limit = sending.limit
        self._sending = sending
        self._previous = previous
        self._apart = apart
        self._max_paragraphs = max_paragraphs
        self._is_adaptive = adaptive
        self._decisions: list[str] = []

    # What follows is only for cutting; most files fit as they are.
    @cached_property
    def _sizes(self) -> Sizes:
        return Sizes(self._sending.lines)

    @cached_property
    def _cuts(self) -> Cuts:
        return Cuts(self._layout.ranks())

    @cached_property
    def _room(self) -> BinRoom:
        return BinRoom(self._sending.planned, self._max_paragraphs)

    @cached_property
    def _tight(self) -> BinRoom:
        return BinRoom(self._sending.tight, self._max_paragraphs)

    @cached_property
    def _lean(self) -> BinRoom:
        return BinRoom((self._sending.tight + self._sending.most) / 2, self._max_paragraphs)

    @cached_property
    def _density(self) -> Mapping[int, float]:
        return _densities(self._layout) if self._is_adaptive else {}

    def plan(self) -> ChunkPlan:
        """Return the whole file if it fits, else what stayed, else a fresh plan of all lines that may share a chunk."""
        if not self._lines:
            self._decisions.append("no line: nothing to send")
            return self._finished([], [], 0)
        whole = self._sending.whole()
        if whole.size <= self._limit:
            self._decisions.append(f"the whole file takes {whole.size} of {self._limit}: one chunk, uncut")
            pieces = [_whole(at, unit) for at, unit in enumerate(self._layout.units)]
            return self._finished([(None, pieces)], [whole], 1)
        self._decisions.append(f"the whole file would take {whole.size} of {self._limit}: it is cut")
        if self._sending.most < 1:
            taken = self._budget - int(self._sending.most)
            raise CallerError(
                f"What every prompt contains besides the source takes {taken} tokens, and a prompt may have {self._budget}: "
                f"no line of the program fits. Allow at least {2 * taken} tokens."
            )
        groups = self._stayed() or [group for spans in self._apart for group in self._fresh(spans)]
        return self._finished(*self._verified(groups), self._minimum())

    # --- pieces --------------------------------------------------------------------------------------

    def _pieces(self, spans: Sequence[Span], most: float, room: BinRoom) -> list[_Piece]:
        """Return the units of some lines; those above `most`, and those that were in parts before, in parts.

        What was in parts stays so even if it would fit now: each part has a valid answer, and the whole has none.
        """
        made: list[_Piece] = []
        in_parts = {key.rpartition("#")[0] for key in self._previous}
        for at, (first, last) in self._layout.inside(spans):
            unit = self._layout.units[at]
            is_whole = (first, last) == (unit.first, unit.last) and unit.key not in in_parts
            if is_whole and self._sizes.of(first, last) <= most:
                made.append(_whole(at, unit))
            else:
                made += self._parts(at, first, last, min(most, room.size), most)
        return made

    def _parts(self, at: int, first: int, last: int, limit: float, most: float) -> list[_Piece]:
        """Return a stretch of a unit in parts: the first has the unit's key, the others one made from their first lines."""
        unit = self._layout.units[at]
        keys = self._keys(at)
        # A part is known by its first lines: only one that begins at the same line finds its answer again.
        fixed = [line for line, key in keys.items() if key in self._previous]
        spans = self._cuts.pieces(first, last, self._sizes, limit, most=most, fixed=fixed)
        return [
            _Piece(at, unit.key if start == unit.first else keys[start], start, end, unit.answers)
            for start, end in spans
        ]

    def _keys(self, at: int) -> dict[int, str]:
        """Return, for each line where a unit can be cut, the name of a part that begins there.

        A part is known by its first lines and not by its number, so that an added line in the first part renames no other part.
        """
        unit = self._layout.units[at]
        shown = self._layout.shown[unit.first - 1 : unit.last]
        seen: dict[str, int] = {}
        keys: dict[int, str] = {}
        for line, _ in self._cuts.inside(unit.first, unit.last):
            text = "\n".join(shown[line - unit.first : line - unit.first + _KNOWN_BY])
            number = seen[text] = seen.get(text, 0) + 1
            keys[line] = f"{unit.key}#{_hash(text)}~{number}"
        return keys

    def _item(self, piece: _Piece) -> PackedItem:
        size = self._sizes.of(piece.first, piece.last) + self._sending.gap
        return PackedItem(size * self._density.get(piece.unit, 1.0), piece.answers)

    # --- assignment ----------------------------------------------------------------------------------

    def _stayed(self) -> list[_Group] | None:
        """Return the last plan as far as it still holds; None if there is none, or if it has become too many chunks."""
        if not self._previous:
            return None
        pieces = self._pieces([(1, self._lines)], self._sending.most, self._room)
        known = sum(piece.key in self._previous for piece in pieces)
        if not known:
            return None
        size = (self._tight.size + self._sending.most) / 2  # wider than what was planned: a little growth moves nothing
        room = BinRoom(size, self._max_paragraphs)
        items = [self._item(piece) for piece in pieces]
        links = ties([self._unit(piece) for piece in pieces], self._reached(pieces))
        bins = stay([piece.key for piece in pieces], items, links, room, self._previous)
        groups: list[_Group] = [(name, [pieces[at] for at in inside]) for name, inside in bins if inside]
        least = self._room.min_bins(items)
        if len(groups) >= _TOO_MANY * least:
            self._decisions.append(
                f"{len(groups)} chunks stayed of the last plan, {least} would be enough: planned anew"
            )
            # Plan as if there had been no last plan: parts cut where the last plan cut them would give a third plan, and an
            # unchanged source would alternate between the two.
            self._previous = {}
            return None
        self._decisions.append(f"{known} of {len(pieces)} units stay in the chunk that they were in")
        return groups

    def _fresh(self, spans: Sequence[Span]) -> list[_Group]:
        """Return a plan with all of the context, or with half or a quarter of it if that makes fewer chunks.

        Every call carries its instructions and outline anew, so fewer calls are better than more context around each; whatever
        room a chunk leaves is filled with context anyway.
        """
        best = self._filled(spans, self._room)
        for room, share in ((self._tight, "half"), (self._lean, "a quarter")):
            items = [self._item(piece) for _, inside in best for piece in inside]
            if room.size > self._room.size and len(best) > room.min_bins(items):
                tried = self._filled(spans, room)
                if len(tried) < len(best):
                    self._decisions.append(f"{share} of the context makes {len(tried)} chunks of {len(best)}")
                    best = tried
        return best

    def _filled(self, spans: Sequence[Span], room: BinRoom) -> list[_Group]:
        """Return as few chunks as possible; if large paragraphs make them many, those are cut as well.

        Paragraphs just above half of a chunk pack worst: each takes a chunk of its own and leaves nearly half of it empty.
        """
        best = self._packed(self._pieces(spans, self._sending.most, room), room)
        least = room.min_bins([self._item(piece) for _, inside in best for piece in inside])
        for share in (2, 3, 4):
            if len(best) <= max(_ENOUGH * least, least + 1):
                break
            tried = self._packed(self._pieces(spans, room.size / share, room), room)
            if len(tried) < len(best):
                self._decisions.append(
                    f"units above 1/{share} of a chunk are cut: {len(tried)} chunks instead of {len(best)}"
                )
                best = tried
        return best

    def _packed(self, pieces: list[_Piece], room: BinRoom) -> list[_Group]:
        """Return what needs a chunk of its own alone, and the rest grouped by ties, bundled so as to need the fewest chunks."""
        items = [self._item(piece) for piece in pieces]
        # A piece above the room of a shared chunk may still fit alone, with less around it.
        alone = [piece for piece, item in zip(pieces, items, strict=True) if not room.holds(*item)]
        rest = [piece for piece, item in zip(pieces, items, strict=True) if room.holds(*item)]
        made: list[_Group] = [(None, [piece]) for piece in alone]
        if not rest:
            return made
        items = [item for item in items if room.holds(*item)]
        units = [self._unit(piece) for piece in rest]
        edges = self._reached(rest)
        links = ties(units, edges)
        best: list[int] | None = None
        for of in bundlings(units, edges, items, room):
            bins = _packed_bundles(of, items, links, room)
            # Fewest chunks first. Coarse bundles come first, and keep their place unless a finer way needs fewer or
            # ties more.
            if best is None or (max(bins), -kept(links, bins)) < (max(best), -kept(links, best)):
                best = bins
            # The finer ways seldom tie more, and each costs as much as the first: for a program of thousands of units, the first
            # way that needs no more chunks than necessary is taken.
            if len(rest) > _MANY and max(best) < self._least(items, room):
                break
        groups: dict[int, list[_Piece]] = {}
        for piece, at in zip(rest, best or [], strict=True):
            groups.setdefault(at, []).append(piece)
        return [*made, *((None, inside) for inside in groups.values())]

    @staticmethod
    def _least(items: Sequence[PackedItem], room: BinRoom) -> int:
        """Return the number of bins that is still considered minimal: the least, plus one in twelve for what fills none."""
        least = room.min_bins(items)
        return least + least // 12

    def _unit(self, piece: _Piece) -> Unit:
        return self._layout.units[piece.unit]

    def _reached(self, pieces: Sequence[_Piece]) -> list[Reached]:
        return reached(self._layout.edges, [(piece.first, piece.last) for piece in pieces])

    # --- what is sent --------------------------------------------------------------------------------

    def _verified(self, groups: Sequence[_Group]) -> tuple[list[_Group], list[MeasuredChunk]]:
        """Return every chunk as it is sent; one that is still too large is cut again, until it fits or cannot be cut.

        Planning adds up sizes of lines, but tokens do not add up: a text may take more than its lines did. What is sent is
        counted as a whole here, and the law of the budget holds by this count alone.
        """
        made: list[tuple[_Group, MeasuredChunk]] = []
        # A stack: the parts of a chunk that was cut again are measured next, in order.
        waiting = list(reversed(groups))
        while waiting:
            name, pieces = waiting.pop()
            spans = joined((piece.first, piece.last) for piece in pieces)
            size = sum(self._sizes.of(*span) for span in spans)
            measured = self._sending.measured(spans, size)
            if measured.size > self._limit:
                smaller = self._cut_again(pieces, size * _TIGHTER * min(1.0, self._limit / measured.size))
                if len(smaller) > 1:
                    waiting += reversed([(name if not at else None, inside) for at, inside in enumerate(smaller)])
                    continue
            made.append(((name, pieces), measured))
        made.sort(key=lambda both: both[0][1][0].first)
        return [group for group, _ in made], [measured for _, measured in made]

    # By the size that would have fitted, and a little less. The first of the parts keeps the name of the chunk, and with it its
    # place in the next plan.
    def _cut_again(self, pieces: Sequence[_Piece], limit: float) -> list[list[_Piece]]:
        if len(pieces) == 1:
            piece = pieces[0]
            return [[part] for part in self._parts(piece.unit, piece.first, piece.last, limit, limit)]
        made: list[list[_Piece]] = [[]]
        size = 0.0
        for piece in pieces:
            more = self._sizes.of(piece.first, piece.last)
            if made[-1] and size + more > limit:
                made.append([])
                size = 0.0
            made[-1].append(piece)
            size += more
        return made

    # --- values --------------------------------------------------------------------------------------

    def _finished(self, groups: Sequence[_Group], measured: Sequence[MeasuredChunk], minimum: int) -> ChunkPlan:
        names = self._names([piece for _, pieces in groups for piece in pieces])
        used = {name for name, _ in groups if name is not None}
        chunks: list[Chunk] = []
        assignment: dict[str, str] = {}
        prompts: dict[str, str] = {}
        for (stayed, pieces), seen in zip(groups, measured, strict=True):
            fits = seen.size <= self._limit
            name = stayed or _id(pieces)
            while not stayed and name in used:  # one that stayed may have the name that these units would have
                name += "~"
            used.add(name)
            chunk = self._chunk(name, pieces, seen, [names[piece] for piece in pieces], fits=fits)
            chunks.append(chunk)
            assignment.update((piece.key, chunk.id) for piece in pieces)
            if fits and seen.prompt is not None:
                prompts[chunk.id] = seen.prompt
            if not fits:
                self._decisions.append(
                    f"{_lines(chunk.spans)} cannot be cut and take {seen.size} of {self._limit}: not sent"
                )
        edges, kept_edges = self._edges(chunks)
        return ChunkPlan(
            lines=self._lines,
            budget_tokens=self._budget,
            chunks=tuple(chunks),
            kept_edges=kept_edges,
            edges=edges,
            minimum_calls=minimum,
            overhead_tokens=self._sending.overhead,
            decisions=tuple(self._decisions),
            assignment=MappingProxyType(assignment),
            prompts=MappingProxyType(prompts),
        )

    def _names(self, pieces: Sequence[_Piece]) -> dict[_Piece, str]:
        """Return the name of each piece: with its program if there are several, and as a part if it is one."""
        several = len(self._layout.source.programs) > 1
        parts: dict[int, list[_Piece]] = {}
        for piece in sorted(pieces, key=lambda piece: piece.first):
            parts.setdefault(piece.unit, []).append(piece)
        made: dict[_Piece, str] = {}
        for at, inside in parts.items():
            unit = self._layout.units[at]
            name = f"{unit.program}/{unit.name}" if several else unit.name
            for number, piece in enumerate(inside, 1):
                made[piece] = name if len(inside) == 1 else f"{name} part {number}/{len(inside)}".strip()
        return made

    def _chunk(
        self, name: str, pieces: Sequence[_Piece], seen: MeasuredChunk, units: Sequence[str], *, fits: bool
    ) -> Chunk:
        spans = joined((piece.first, piece.last) for piece in pieces)
        return Chunk(
            id=name,
            kind=self._kind(pieces, spans),
            spans=spans,
            context_spans=seen.context_spans if fits else (),
            tokens=seen.tokens,
            prompt_tokens=seen.size if fits and seen.prompt is not None else None,
            units=tuple(units),
            fits=fits,
            digest=self._sending.digest(spans),
        )

    def _kind(self, pieces: Sequence[_Piece], spans: tuple[Span, ...]) -> Kind:
        units = self._layout.units
        if spans == ((1, self._lines),):
            return "whole"
        if len({piece.unit for piece in pieces}) == 1:
            unit = units[pieces[0].unit]
            if (pieces[0].first, pieces[-1].last) != (unit.first, unit.last):
                return "part"
        kinds = {units[piece.unit].kind for piece in pieces}
        return next((kind for kind in _KINDS if kind in kinds), "other")

    def _edges(self, chunks: Sequence[Chunk]) -> tuple[int, int]:
        """Return how many PERFORMs there are, and how many have everything that they run in their own chunk."""
        chunk_of = {span: at for at, chunk in enumerate(chunks) for span in chunk.spans}
        spans = sorted(chunk_of)
        firsts = [first for first, _ in spans]
        performs = [edge for edge in self._layout.edges if edge.is_perform]
        whole = 0
        for edge in performs:
            low, high = bisect_right(firsts, edge.first) - 1, bisect_right(firsts, edge.last)
            home = chunk_of[spans[bisect_right(firsts, edge.line) - 1]]
            whole += all(chunk_of[spans[at]] == home for at in range(low, high))
        return len(performs), whole

    def _minimum(self) -> int:
        answers = sum(unit.answers for unit in self._layout.units)
        by_answers = ceil(answers / self._max_paragraphs) if self._max_paragraphs else 1
        # Needed only if the whole does not fit: then one call is never enough.
        return max(2, by_answers, ceil(self._sizes.total / max(1, self._budget - self._sending.overhead)))


def _whole(at: int, unit: Unit) -> _Piece:
    return _Piece(at, unit.key, unit.first, unit.last, unit.answers)


def _id(pieces: Sequence[_Piece]) -> str:
    return _hash("\0".join(piece.key for piece in pieces))


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LETTERS]


def _lines(spans: Sequence[Span]) -> str:
    return "lines " + ", ".join(f"{first}-{last}" for first, last in spans)


def _packed_bundles(of: Sequence[int], items: Sequence[PackedItem], links: Ties, room: BinRoom) -> list[int]:
    """Return the bin of each item, keeping bundles together: packed as one item each, with the sum of the ties between them."""
    bundles = [PackedItem(0.0)] * (max(of) + 1)
    for bundle, item in zip(of, items, strict=True):
        bundles[bundle] = PackedItem(bundles[bundle].size + item.size, bundles[bundle].answers + item.answers)
    between: Ties = {}
    for (one, other), weight in links.items():
        if of[one] != of[other]:
            pair = (min(of[one], of[other]), max(of[one], of[other]))
            between[pair] = between.get(pair, 0) + weight
    bins = pack(bundles, between, room)
    return [bins[bundle] for bundle in of]


def _densities(layout: UnitLayout) -> dict[int, float]:
    """Return by how much each unit's size is increased for the branches in its code: a share of its statements, up to `_DENSE`."""
    branches: dict[int, int] = {}
    statements: dict[int, int] = {}
    for program in layout.source.programs:
        for statement in program.statements:
            at = layout.unit_at(statement.line)
            statements[at] = statements.get(at, 0) + 1
            branches[at] = branches.get(at, 0) + (statement.verb in _BRANCHES)
    return {at: 1 + min(_DENSE, branches[at] / statements[at]) for at in statements}
