"""R19 in short form: does recovery get through, and can the rig fail?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bench.recovery import COUNTER, Case, Provider, rung_request
from proof.figure import SEED

from penstock.context import recovery, rung_choice
from penstock.context.counts import CONTENT_KINDS
from penstock.context.ladder import Ladder
from penstock.context.sized import Sized
from penstock.overflow.learned import SMALLEST_TOKENS
from penstock.wires import WIRES, load_request
from proof import recovery as rig

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


@pytest.mark.proves("R-1", "R-2", "R-3")
@pytest.mark.parametrize("wire", WIRES)
def test_a_request_gets_through_whoever_counts(wire: str) -> None:
    """With random counters, wordings, beliefs and histories there are at most four calls, three with numbers, each smaller."""
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
    """The ladder cuts too little, or ends before its floor."""
    monkeypatch.setattr(module, name, spoilt)
    cases = (made for wire in WIRES[:2] for made in rig.cases(SEED + 5, wire, 120))  # a seed that shows them early
    assert any(said in fault for made in cases for fault in rig.faults_of(made))


@pytest.mark.proves("R-1")
def test_a_limit_that_can_be_no_window_is_not_held_to_three_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 25,000 cases had a window of 240 tokens, this one has 48: it is not believed, so up to four calls are allowed."""
    talk = [{"role": ("assistant", "user")[at % 2], "content": f"{at} " + "word " * 80} for at in range(24)]
    request = {"messages": [{"role": "user", "content": "Sum up."}, *talk[:-1], {"role": "user", "content": "Go on."}]}
    factors: dict[str, float] = dict.fromkeys(CONTENT_KINDS, 1.0)
    provider = Provider("openai-chat", "total only", factors, frame=0.0, by_characters=False)
    ladder = Ladder(Sized(load_request(request, "openai-chat"), COUNTER), window_tokens=1 << 40)
    provider.limit = int(provider.count(rung_request(ladder, ladder.last, request))) + 20
    assert provider.limit < SMALLEST_TOKENS
    made = Case(request, provider, believed=100_000)
    assert rig.faults_of(made) == ()
    monkeypatch.setattr(rig, "SMALLEST_TOKENS", provider.limit)
    assert rig.faults_of(made) == ("4 calls",)
