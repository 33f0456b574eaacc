"""Are texts kept unchanged, many per transaction if the store can, and one by one in a caller's own store?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.store.sqlite import SqliteStore
from penstock.store.texts import put_text, put_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = [(f"text {number} \ud800", f"tool{number % 3}") for number in range(100)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Open a store on disk."""
    store = SqliteStore(str(tmp_path / "store"))
    yield store
    store.close()


def test_many_texts_are_one_transaction(store: SqliteStore) -> None:
    """One commit means one flush of the log: single commits took half the time of a large request."""
    said: list[str] = []
    store._connected().set_trace_callback(said.append)
    handles = put_texts(store, TEXTS)
    assert said.count("COMMIT") == 1
    for handle, (text, name) in zip(handles, TEXTS, strict=True):
        assert store.read(handle, 0, 100).decode("utf-8", "surrogatepass") == text
        assert store.info(handle).name == name
        assert put_text(store, text, name) == handle


class OwnStore:
    """A caller's own store, with nothing but `put`."""

    def __init__(self) -> None:
        self.kept: list[tuple[bytes, str]] = []

    def put(self, content: bytes, *, name: str) -> int:
        """Return a handle, which here is not even a text."""
        self.kept.append((content, name))
        return len(self.kept)


@given(st.lists(st.tuples(st.text(), st.text())))
def test_a_store_with_put_alone_is_enough(texts: list[tuple[str, str]]) -> None:
    """The store gets each text in order."""
    own = OwnStore()
    assert put_texts(own, texts) == [str(number + 1) for number in range(len(texts))]
    assert own.kept == [(text.encode("utf-8", "surrogatepass"), name) for text, name in texts]
