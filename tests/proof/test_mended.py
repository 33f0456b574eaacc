"""R20 in short form: is every broken request repaired, and can the rig fail?"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from proof.figure import SEED
from proof.wire_rules import judge
from proof.wire_stories import WIRES, damaged, story

from penstock.wires import Repaired, repair, violations
from proof import mended as rig

if TYPE_CHECKING:
    from collections.abc import Iterator


def broken(wire: str, number: int) -> Iterator[list[Any]]:
    """Yield damaged lists of a wire, the same in every run."""
    dice = random.Random(f"{SEED} {wire}")
    for _ in range(number):
        yield damaged(dice, wire, story(dice, wire))[0]


@pytest.mark.proves("R-9")
@pytest.mark.parametrize("wire", WIRES)
def test_every_broken_request_is_mended_and_what_was_whole_is_kept(wire: str) -> None:
    """The judges share no code with the product."""
    assert [(at, fault) for at, one in enumerate(broken(wire, 120)) for fault in rig.faults_of(one, wire)] == []


@pytest.mark.parametrize("wire", WIRES)
def test_stories_are_valid_and_most_damage_is_none(wire: str) -> None:
    """A judge that accepts everything, or damage without effect, would prove nothing."""
    dice = random.Random(SEED)
    stories = [story(dice, wire) for _ in range(60)]
    assert [refused for one in stories if (refused := judge(one, wire))] == []
    assert sum(bool(judge(one, wire)) for one in broken(wire, 120)) > 60


def unmended(messages: list[Any], wire: str) -> Repaired:
    """Return a repair that does nothing."""
    return Repaired(messages=messages, left=tuple(violations(messages, wire)))


def mute(messages: list[Any], wire: str) -> Repaired:
    """Return a repair that leaves out the user's last words."""
    found = repair(messages, wire)
    at = max((at for at, one in enumerate(found.messages) if one.get("role") == "user"), default=0)
    return replace(found, messages=[one for i, one in enumerate(found.messages) if i != at])


def restless(messages: list[Any], wire: str) -> Repaired:
    """Return a repair that always reports an action."""
    found = repair(messages, wire)
    return replace(found, actions=(*found.actions, "looked at it"))


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [(unmended, "refused"), (mute, "lost"), (mute, "was valid, and was changed"), (restless, "mending again")],
)
@pytest.mark.parametrize("wire", WIRES)
def test_the_rig_notices(wire: str, spoilt: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its checks fails for a repair with that fault."""
    monkeypatch.setattr(rig, "repair", spoilt)
    assert any(fault.startswith(said) for one in broken(wire, 60) for fault in rig.faults_of(one, wire))
