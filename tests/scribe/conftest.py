"""Fixtures of the scribe's tests: plans of the same program are made only once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests import forks

from penstock.chunk import cobol, packing
from penstock.scribe import workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@cache
def _packed(
    items: tuple[packing.PackedItem, ...], ties: tuple[tuple[tuple[int, int], int], ...], room: packing.BinRoom
) -> tuple[int, ...]:
    return tuple(packing.pack(items, dict(ties), room))


def pack(items: Sequence[packing.PackedItem], ties: packing.Ties, room: packing.BinRoom) -> list[int]:
    """Return the bins for an input, computed once: packing the same programs again took half of the time of these tests."""
    return list(_packed(tuple(items), tuple(ties.items()), room))


@pytest.fixture(scope="package", autouse=True)
def packed_once() -> Iterator[None]:
    """Pack chunks once for each program and budget."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cobol, "pack", pack)
        yield


READING = (
    "penstock.cli.impacts",
    "penstock.scribe.file_work",
    "penstock.scribe.graphing",
    "penstock.scribe.work_process",
    "tests.scribe.pieces",
)
"""The modules that processes load that read files: a third of a second of processor time."""


@pytest.fixture
def warm_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the processes that read files warm."""
    monkeypatch.setattr(workers, "_PYTHON", forks.warm(*READING))
