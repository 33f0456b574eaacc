"""R19 in its short form, and that it can fail."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from proof.figure import SEED

from penstock.context import recovery, rung_choice
from penstock.wires import WIRES
from proof import recovery as rig

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


@pytest.mark.proves("R-1", "R-2", "R-3")
@pytest.mark.parametrize("wire", WIRES)
def test_a_request_gets_through_whoever_counts(wire: str) -> None:
    """Random counters, wordings, beliefs and histories: four calls at most, three with numbers, each smaller than the last."""
    assert [(at, fault) for at, made in enumerate(rig.cases(SEED, wire, 8)) for fault in rig.faults_of(made)] == []


def _first_rung(*_: Any, **__: Any) -> int:
    return 1


@pytest.mark.parametrize(
    ("module", "name", "spoilt", "said"),
    [
        (rung_choice, "HALVES", (0.99, 0.98), "kept"),
        (recovery, "choose", _first_rung, "lost"),
        (rung_choice, "_floor", lambda *_: None, "lost"),
    ],
    ids=["nothing is halved", "the least cut, again and again", "no floor"],
)
def test_the_rig_notices(
    module: ModuleType, name: str, spoilt: float | Callable[..., Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ladder that cuts too little, or that ends before its floor."""
    monkeypatch.setattr(module, name, spoilt)
    cases = (made for wire in WIRES[:2] for made in rig.cases(SEED + 5, wire, 120))  # a seed that shows them early
    assert any(said in fault for made in cases for fault in rig.faults_of(made))


@pytest.mark.proves("R-1")
def test_a_limit_that_can_be_no_window_is_not_held_to_three_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window of 240 tokens, as one of 25,000 cases had it: its numbers are not believed, and four calls are promised."""
    made = next(islice(rig.cases("20261121 5", "anthropic", 184), 183, None))
    assert (made.provider.wording, made.provider.limit) == ("total only", 240)
    assert rig.faults_of(made) == ()
    monkeypatch.setattr(rig, "SMALLEST_TOKENS", 240)
    assert rig.faults_of(made) == ("4 calls",)
