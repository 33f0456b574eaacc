"""R30 in short form: is everything that breaks named, and can the rig fail?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from proof.figure import SEED

from penstock.cobol.graph import Grown, NodeId
from proof import grown as rig

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock.cobol.graph import EstateGraph

pytestmark = pytest.mark.needs("cobc")


def test_what_breaks_is_named_and_what_is_sure_breaks() -> None:
    """R30: GnuCOBOL compiles the programs as they are and grown."""
    figure = rig.measure(long=False, seed=SEED)
    assert figure.met, figure


def silent(*_: Any, **__: Any) -> tuple[Grown, ...]:
    """Return an answer that names nothing."""
    return ()


def rash(_: EstateGraph, nodes: Iterable[NodeId], *__: Any, **___: Any) -> tuple[Grown, ...]:
    """Return an answer for which every first item is too short."""
    (field,) = nodes
    first = NodeId("field", field.name.replace("P.S-", "P.T0-"))
    return (Grown("too short", first, None, None, 1, "is", "", ()),)


def test_the_rig_notices_what_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an empty answer, everything that breaks is reported as not named."""
    monkeypatch.setattr(rig, "growth", silent)
    found = rig.judged(rig.made(SEED, 8), tmp_path)
    assert found.broken
    assert len(found.unnamed) == found.broken


def test_the_rig_notices_what_is_said_for_sure_and_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items with room, and items that receive nothing, are reported."""
    monkeypatch.setattr(rig, "growth", rash)
    assert rig.judged(rig.made(SEED, 8), tmp_path).unbroken
