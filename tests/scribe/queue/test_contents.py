"""Are the bytes of a file that come out of a queue those that were put in?"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from penstock.scribe.queue import contents
from penstock.scribe.queue.contents import digest_of, packed, unpacked

if TYPE_CHECKING:
    import pytest


@given(data=st.binary(), other=st.binary(), cut=st.integers(0, 40))
def test_what_comes_out_is_what_was_put_in_or_nothing(data: bytes, other: bytes, cut: int) -> None:
    """Another program under the same hash, half of a row and no row at all are nothing."""
    digest = digest_of(data)
    assert unpacked(digest, packed(data)) == data
    assert unpacked(digest, packed(other)) == (data if other == data else None)
    assert unpacked(digest, packed(data)[:cut]) in {None, data}
    assert unpacked(digest, other) in {None, data}  # of an empty file, nothing is enough
    assert unpacked(digest, None) is None


def test_a_row_that_becomes_gigabytes_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 MB of the table took 6 GB of a worker before it was stopped."""
    monkeypatch.setattr(contents, "MAX_BYTES", 1_000)
    large = bytes(1_001)
    assert unpacked(digest_of(large[1:]), zlib.compress(large[1:])) == large[1:]
    assert unpacked(digest_of(large * 3), zlib.compress(large * 3)) is None
