"""R17 in short form on our own estate: are its chunks without faults, and can the rig fail?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.chunk.programs import paragraph, program

from penstock.chunk import ChunkPlan, plan
from proof import chunks

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "cobol" / "cbl").glob("*.cbl"))
LONG = program(
    [line for at in range(60) for line in paragraph(f"P-{at}", f"PERFORM P-{(at * 7) % 60}", "    .", length=6)]
)


@pytest.fixture(autouse=True)
def _exact() -> None:
    pytest.importorskip("toktok", reason="exact counts need penstock[exact]")


@pytest.mark.proves("C-4", "C-5")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_our_own_estate_becomes_chunks_without_a_fault(path: Path) -> None:
    """Cover, budgets by an exact tokenizer, cuts, and one chunk if all fits are checked for budgets of 2,000, 8,000 and 30,000."""
    assert list(chunks.faults(path.read_bytes())) == []


def _first_span_lost(made: ChunkPlan) -> ChunkPlan:
    first, *rest = made.chunks
    return replace(made, chunks=(replace(first, spans=first.spans[1:] or ((1, 1),)), *rest))


def _moved_by_a_line(made: ChunkPlan) -> ChunkPlan:
    spans = [list(span) for chunk in made.chunks for span in chunk.spans]
    cut = sorted(spans)[1][0]
    moved = {cut: cut + 1, cut - 1: cut}
    return replace(
        made,
        chunks=tuple(
            replace(c, spans=tuple((moved.get(first, first), moved.get(last, last)) for first, last in c.spans))
            for c in made.chunks
        ),
    )


def _longer_prompts(made: ChunkPlan) -> ChunkPlan:
    return replace(made, prompts={name: f"{text}{'more ' * 20_000}" for name, text in made.prompts.items()})


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (_first_span_lost, "not covered"),
        (_moved_by_a_line, "does not show its lines"),
        (_longer_prompts, "is 2"),
    ],
)
def test_the_rig_notices(spoilt: Callable[[ChunkPlan], ChunkPlan], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reports a lost line, a cut that is elsewhere than in the prompt, and a prompt that is too long."""

    def planned(*arguments: Any, **options: Any) -> ChunkPlan:
        made = plan(*arguments, **options)
        return spoilt(made) if len(made.chunks) > 1 else made

    monkeypatch.setattr(chunks, "plan", planned)
    assert any(said in fault for fault in chunks.faults(LONG))
