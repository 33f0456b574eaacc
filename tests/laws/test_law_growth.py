"""The law of growth: once everything that `growth` names has grown, nothing is cut that was not cut before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cobol.compiled import Item
from tests.cobol.test_graph import graph_of
from tests.cobol.test_growth_oracle import KINDS, may_move

from penstock.cobol.graph import Carrying, EstateGraph, growth, nodes_named
from penstock.cobol.graph.sizes import fitted, size_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def _items(kinds: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[Item]:
    """Return items of some kinds; `builds` would also draw how many decimals they have, however many."""
    return st.builds(Item, kinds, st.integers(least, most), st.just(2))


_ITEM = st.one_of(
    _items(st.sampled_from(["text", "digits"]), 5, 7),
    _items(st.sampled_from([kind for kind in KINDS if kind not in {"group", "long"}]), 5, 7),
    _items(st.just("text"), 10, 30),
)


class Estate(NamedTuple):
    """A program that has a record of two groups, some items and moves among them, and that calls another program."""

    items: tuple[Item, ...]
    moves: tuple[tuple[int, int], ...]
    """Source and target as indexes of items; the indexes after the last item are the two groups and the record."""

    def graph(self, grown: Mapping[str, Item] | None = None, lengths: Mapping[str, int] | None = None) -> EstateGraph:
        """Return the graph of the estate, with some items replaced and with groups padded to at least these lengths."""
        grown, lengths = grown or {}, lengths or {}
        items = [grown.get(f"F{at}", item) for at, item in enumerate(self.items)]
        lines = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", "01 R."]
        total = 0
        for group in (0, 1):
            inside = {at: item for at, item in enumerate(items) if at // 2 == group}
            length = sum(item.bytes() for item in inside.values())
            lines += [f"02 G{group}.", *(item.declared(f"F{at}").replace("01", "03", 1) for at, item in inside.items())]
            missing = max(0, lengths.get(f"G{group}", 0) - length)
            lines += [f"03 FILLER PIC X({missing})."] * (missing > 0)
            total += length + missing
        missing = max(0, lengths.get("R", 0) - total)
        lines += [f"02 FILLER PIC X({missing})."] * (missing > 0)
        lines += [item.declared(f"F{at}") for at, item in enumerate(items) if at >= 4]
        names = [*(f"F{at}" for at in range(len(items))), "G0", "G1", "R"]
        # Any MOVE may run after any other, so no field counts as a scratch field with separate uses.
        moves = [f"    IF RETURN-CODE = 1 MOVE {names[one]} TO {names[other]}." for one, other in self.moves]
        lines += [
            "PROCEDURE DIVISION.",
            "    PERFORM M 99 TIMES.",
            "    CALL 'Q' USING F4.",
            "    GOBACK.",
            "M.",
            *moves,
        ]
        called = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. Q.", "DATA DIVISION.", "LINKAGE SECTION."]
        called += [grown.get("L", self.items[4]).declared("L"), "PROCEDURE DIVISION USING L.", "    GOBACK."]
        texts = {
            f"{name}.cbl": "".join(f"       {line}\n" for line in text) for name, text in (("p", lines), ("q", called))
        }
        return graph_of({path: text.encode() for path, text in texts.items()})


@st.composite
def estates(draw: st.DrawFn) -> Estate:
    """Draw an estate whose moves the standard allows."""
    items = tuple(draw(st.lists(_ITEM, min_size=6, max_size=8)))
    kinds = [*items, *[Item("group", 5)] * 3]
    pairs = st.tuples(st.integers(0, len(kinds) - 1), st.integers(0, len(kinds) - 1))
    moves = draw(st.lists(pairs, min_size=4, max_size=16, unique=True))
    # If a field could be moved to its own group, the growth would never end.
    apart = [
        (one, other)
        for one, other in moves
        if one != other and not {one // 2, other // 2} <= {0, 1} and other < len(items)
    ]
    return Estate(items, tuple(pair for pair in apart if may_move(kinds[pair[0]], kinds[pair[1]])))


@settings(max_examples=100, deadline=None)
@given(estates(), st.data())
def test_nothing_more_is_cut_once_everything_named_has_grown(estate: Estate, data: st.DataObject) -> None:
    """Each move that fitted still fits in the program in which everything named has the length that it needs."""
    seed = data.draw(st.sampled_from(["Q.L", *(f"P.F{at}" for at in range(len(estate.items)))]))
    more = data.draw(st.integers(1, 3))
    before = estate.graph()
    found = growth(before, nodes_named(before, seed), more, carrying=Carrying(before))
    grown: dict[str, Item] = {}
    lengths: dict[str, int] = {}
    for one in found:
        name = one.node.name.rpartition(".")[2]
        if (
            one.what not in {"field", "too short"}
            or one.bytes is None
            or one.needed_bytes is None
            or "today" in one.why
        ):
            continue
        if name in {"G0", "G1", "R"}:
            lengths[name] = one.needed_bytes
            continue
        item = estate.items[4 if name == "L" else int(name[1:])]
        if one.what == "field" and one.steps == 0:
            grown[name] = item.grown(more)[1]
        else:
            grown[name] = item._replace(places=one.needed_digits or item.places + one.needed_bytes - one.bytes)
    after = estate.graph(grown, lengths)
    places, placed = Carrying(before), Carrying(after)
    for edge in after.drawn:
        if edge.verb not in {"moves to", "passes to"}:
            continue
        was, now = (
            [size_of(there.field) for node in (edge.target, edge.source) if (there := at.place(node)) is not None]
            for at in (places, placed)
        )
        is_stored = edge.verb == "passes to"
        # A parameter and its argument share storage, so neither may be shorter.
        for first in (1, -1) if is_stored else (1,):
            before_, then = was[::first], now[::first]
            if None not in was and None not in now and fitted(*before_, is_stored=is_stored) is None:  # type: ignore[arg-type]
                assert fitted(*then, is_stored=is_stored) is None, (str(edge.source), str(edge.target), found)  # type: ignore[arg-type]
