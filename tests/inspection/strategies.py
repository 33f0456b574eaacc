"""How are sessions generated for laws? Valid and broken messages of every wire, with answers, refusals and compactions between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from penstock.inspection.timeline import Answered, Compacted, Happening, Instructed, Place, Refused, Said
from tests.wires import strategies as wires

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '" onmouseover="alert(3)',
    "a & b < c > d",
    "<!-- -->",
    "]]>",
    "\u202emoc.elgoog\u202c",
    "\x00\x1b[31mred\x07\x9b",
    "\ud800\udfff",
    "\u2028\u2029\u200b",
    "\U000e0041",
)
"""Texts that would affect whatever shows them unescaped."""
texts = st.one_of(st.sampled_from(HOSTILE), wires.words)
figures = st.one_of(st.none(), st.integers(-1, 400_000))
refusals = st.one_of(
    st.sampled_from(
        (
            "prompt is too long: 213462 tokens > 200000 maximum",
            "Prompt is too long",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "Overloaded",
            "rate limit reached",
        )
    ),
    texts,
)
answers = st.builds(
    Answered,
    figures,
    figures,
    figures,
    figures,
    st.one_of(st.none(), st.just(200_000), figures),
    st.sampled_from(("", "claude-opus-5", "<synthetic>", "gpt-5", *HOSTILE[:1])),
    texts,
)
tools = st.lists(st.one_of(wires.likely, st.builds(lambda name: {"name": name, "input_schema": {}}, texts)), max_size=3)
between: st.SearchStrategy[Happening] = st.one_of(
    answers,
    st.builds(Refused, refusals),
    st.builds(Compacted, figures, st.one_of(st.none(), st.booleans())),
    st.builds(Instructed, st.one_of(st.none(), texts), st.one_of(st.none(), tools.map(tuple))),
)


def said(message: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Said:
    """Return a message as a reader yields it, in one of the possible ways."""
    by_host, again = draw(st.sampled_from(((False, False), (False, False), (True, False), (False, True), (True, True))))
    part_of = draw(st.sampled_from(("", "", "m1", "m2")))
    is_summary = draw(st.sampled_from((False, False, by_host)))
    return Said(message, Place(3, 9), by_host=by_host, again=again, is_summary=is_summary, part_of=part_of)


@st.composite
def sessions(draw: st.DrawFn, wire: str) -> list[Happening]:
    """Draw what a reader may yield of a session on a wire, in any order, sensible or not."""
    messages = draw(
        st.one_of(
            wires.requests(wire, max_rounds=4, huge=False), wires.broken(wire), st.lists(wires.likely, max_size=4)
        )
    )
    made: list[Happening] = [said(message, draw) for message in messages]
    for happening in draw(st.lists(between, max_size=8)):
        made.insert(draw(st.integers(0, len(made))), happening)
    # Earlier messages may be repeated, as a reader does after a compaction.
    made += [Said(message, again=True) for message in messages[:2] if draw(st.booleans())]
    return made
