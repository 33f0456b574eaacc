"""What tests of the scribe share: plans over the same programs are made once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from penstock.chunk import cobol, packing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@cache
def _packed(
    items: tuple[packing.PackedItem, ...], ties: tuple[tuple[tuple[int, int], int], ...], room: packing.BinRoom
) -> tuple[int, ...]:
    return tuple(packing.pack(items, dict(ties), room))


def pack(items: Sequence[packing.PackedItem], ties: packing.Ties, room: packing.BinRoom) -> list[int]:
    """Same input, same bins: half of the time of these tests went into packing the same programs again."""
    return list(_packed(tuple(items), tuple(ties.items()), room))


@pytest.fixture(scope="package", autouse=True)
def packed_once() -> Iterator[None]:
    """Chunks are packed once for each program and budget."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cobol, "pack", pack)
        yield
