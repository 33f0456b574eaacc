"""Does each bound of a store hold to a byte, a second and a handle?"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError, ToolError
from penstock.store import StoreFault, keeping, marks, removal
from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.store.conftest import Clock

pytestmark = pytest.mark.proves("G-3")


@pytest.fixture
def sqlite(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., SqliteStore]]:
    """Return a function that opens the store under test with other bounds."""
    opened: list[SqliteStore] = []

    def another(**options: Any) -> SqliteStore:
        opened.append(SqliteStore(str(tmp_path / "store"), clock=clock, **options))
        return opened[-1]

    yield another
    for store in opened:
        store.close()


def readable(store: SqliteStore, handles: Sequence[str]) -> list[bool]:
    """Return which of some artifacts can be read, checked one by one and in a list of all."""
    listed = {info.handle for info in store.artifacts()}

    def can_be_read(handle: str) -> bool:
        try:
            return bool(store.read(handle, 0, 1))
        except ToolError:
            return False

    assert [one in listed for one in handles] == [can_be_read(one) for one in handles]
    assert {info.handle for info in store.newest(0, 99).items} == listed
    return [one in listed for one in handles]


def test_a_text_is_no_content(sqlite: Callable[..., SqliteStore]) -> None:
    """Its letters would be taken for parts; the message says what to pass instead, and nothing is kept."""
    store: Any = sqlite()
    with pytest.raises(CallerError, match=r"a store keeps bytes, not a text: encode it, content\.encode\(\)"):
        store.put("x")
    assert list(store.artifacts()) == []


@pytest.mark.parametrize("at_once", [False, True])
def test_a_store_is_filled_to_its_last_byte(sqlite: Callable[..., SqliteStore], at_once: bool) -> None:
    """Content that just fits removes nothing; one byte more removes the oldest, and no more than that."""
    store = sqlite(limit_bytes=1_000)
    held = [store.put(bytes([n]) * 250) for n in range(3)]

    def put(content: bytes) -> str:
        return store.put_many([(content[:100], "a"), (content[100:], "b")])[1] if at_once else store.put(content)

    newest = put(b"x" * 250)
    assert readable(store, [*held, newest]) == [True] * 4
    put(b"y" * 251)
    assert readable(store, held) == [False, False, True]
    if not at_once:
        assert store.put(b"z" * 1_000)
        with pytest.raises(StoreFault, match="More than the 1000 bytes"):
            store.put(b"z" * 1_001)


def test_a_full_store_names_the_command_that_helps_where_one_does(sqlite: Callable[..., SqliteStore]) -> None:
    """The command is not named for content as large as the whole store, which fits only if the store is empty."""
    store = sqlite(limit_bytes=2_000)
    store.append("run", 0, "Ticked", {}, handles=[store.put(b"held")])
    for size, helps in ((1_999, True), (2_000, False)):
        with pytest.raises(StoreFault, match=f"of its 2000 bytes are in use by sessions, {size} were wanted") as caught:
            store.put(bytes(size))
        assert ("penstock store gc --max-bytes 1 " in caught.value.message) == helps


def test_the_end_of_a_session_is_looked_up_once_while_nobody_else_writes(sqlite: Callable[..., SqliteStore]) -> None:
    """It is looked up again only after a record of another process, and the next record follows that one."""
    store, other = sqlite(), sqlite()
    asked: list[str] = []

    def looks(appended: int) -> int:
        asked.clear()
        store.append("run", appended, "Ticked", {})
        return sum("ORDER BY seq DESC LIMIT 1" in statement for statement in asked)

    store._connected().set_trace_callback(asked.append)
    assert [looks(seq) for seq in range(3)] == [1, 0, 0]
    other.append("run", 3, "Ticked", {})
    assert [looks(seq) for seq in (4, 5)] == [1, 0]
    assert [record.seq for record in other.events("run")] == [*range(6)]


def test_names_are_shown_as_far_as_they_have_room(sqlite: Callable[..., SqliteStore]) -> None:
    """A kind may have 64 characters; the first five sessions that use something are named, and how to end one of them."""
    store = sqlite()
    for length, shown in ((64, "k" * 64), (65, "k" * 64 + "…")):
        assert store.info(store.put(b"%d" % length, kind="k" * length)).kind == shown
    for number, named in ((1, "a"), (5, "a, b, c, d, e"), (6, "a, b, c, d, e")):
        fault = removal._running("Artifact h", "abcdef"[:number])
        assert fault.message.endswith(f" works on {named}. End it first.")
        assert fault.calls[0].arguments == {"session_id": "a"}


def test_what_makes_room_is_looked_for_some_at_a_time(
    sqlite: Callable[..., SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest are found first, whatever is referred to in between, in as many lookups as needed."""
    monkeypatch.setattr(keeping, "_LOOSE_ROWS", 2)
    store = sqlite(limit_bytes=2_000)
    held = [store.put(bytes([n]) * 100) for n in range(9)]
    store.append("run", 0, "Ticked", {}, handles=held[1:4])
    store.put(b"x" * (2_000 - store.size().used_bytes + 400))
    assert readable(store, held) == [False, True, True, True, False, False, False, True, True]


def test_a_content_under_two_names_makes_room_once_both_are_gone(
    sqlite: Callable[..., SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of its handles is met at the end of a lookup, and not again at the start of the next."""
    monkeypatch.setattr(keeping, "_LOOSE_ROWS", 2)
    store = sqlite(limit_bytes=1_000)
    held = [store.put(content, name=name) for content, name in ((b"a" * 10, ""), (b"b" * 500, "one"), (b"c" * 10, ""))]
    held += [store.put(b"d" * 10), store.put(b"b" * 500, name="another")]
    store.put(b"x" * 900)
    assert readable(store, held) == [False] * 5
    assert store.size().used_bytes == 900


def test_the_time_of_an_artifact_is_over_to_the_second(sqlite: Callable[..., SqliteStore], clock: Clock) -> None:
    """A record keeps an artifact, even at the last moment; another put extends its life, and never shortens it."""
    store = sqlite()
    handles = [store.put(content, life_seconds=60) for content in (b"a", b"b", b"c")]
    clock.now += 59.5
    store.append("run", 0, "Ticked", {}, handles=handles[:1])
    assert store.put(b"b", life_seconds=1) == handles[1]
    assert readable(store, handles) == [True] * 3
    clock.now += 0.5
    assert readable(store, handles) == [True, True, False]
    with pytest.raises(ToolError, match="its time was over"):
        store.append("run", 1, "Ticked", {}, handles=handles[2:])
    store.append("run", 1, "Ticked", {}, handles=handles[:1])
    assert store.put(b"c", life_seconds=60) != handles[2]
    clock.now += 0.5
    assert readable(store, handles) == [True, False, False]


def test_so_many_that_are_gone_still_say_so(
    sqlite: Callable[..., SqliteStore], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest ones do; earlier ones are no longer known to have existed."""
    monkeypatch.setattr(keeping, "_TOMBSTONES", 2)
    store = sqlite()
    handles = [store.put(bytes([n]), life_seconds=1) for n in range(4)]
    clock.now += 2
    store.put(b"new")
    codes = []
    for handle in handles:
        with pytest.raises(ToolError) as caught:
            store.read(handle, 0, 1)
        codes.append(caught.value.code)
    assert codes == ["not_found", "expired", "expired", "expired"]


def test_memory_does_not_grow_with_what_is_read(sqlite: Callable[..., SqliteStore]) -> None:
    """The most recently read ones are cached and are not looked up again."""
    store = sqlite()
    handles = [store.put(bytes([n]) * 9) for n in range(12)]
    digests = [store.info(handle).digest for handle in handles]
    for handle in (*handles, handles[4], handles[9], handles[0]):
        store.read(handle, 0, 1)
    assert [*store._layouts] == [digests[n] for n in (5, 6, 7, 8, 10, 11, 4, 9, 0)[1:]]
    assert [*store._pieces] == [(digests[n], 0) for n in (11, 4, 9, 0)]
    assert [store.read(handles[0], at, count) for at, count in ((0, 0), (0, -1), (8, 5), (9, 5))] == [
        b"",
        b"",
        b"\0",
        b"",
    ]
    with pytest.raises(CallerError, match="start_byte is 0 or more"):
        store.read(handles[0], -1, 5)


def test_pages_of_artifacts_end_with_the_last(sqlite: Callable[..., SqliteStore]) -> None:
    """A page says exactly whether more artifacts follow, newest first."""
    store = sqlite()
    handles = [store.put(bytes([n])) for n in range(4)][::-1]
    for offset, limit, more in (
        (0, 2, True),
        (0, 3, True),
        (0, 4, False),
        (2, 1, True),
        (3, 1, False),
        (4, 1, False),
        (0, 0, False),
    ):
        page = store.newest(offset, limit)
        assert [one.handle for one in page.items] == handles[offset : offset + limit]
        assert (page.total, page.more) == (4, more)


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([1] * 128, [128]),
        ([1] * 129, [128, 1]),
        ([4 << 20, 4 << 20], [2]),
        ([4 << 20, (4 << 20) + 1], [1, 1]),
        ([5, 9 << 20, 5], [1, 1, 1]),
        ([9 << 20, 9 << 20, 5, 6], [1, 1, 2]),
        ([8 << 20], [1]),
    ],
)
def test_what_goes_into_one_transaction(sizes: list[int], batches: list[int]) -> None:
    """A transaction takes at most 128 contents or 8 MiB; large content goes alone."""
    view = memoryview(bytes(9 << 20))
    contents = [(view[:size], str(at)) for at, size in enumerate(sizes)]
    made = list(keeping._batches(contents, lambda size: size > 8 << 20))  # type: ignore[arg-type]
    assert [len(one) for one in made] == batches
    assert [name for batch in made for _, name in batch] == [name for _, name in contents]


@pytest.mark.parametrize(
    ("window", "count", "taken"),
    [
        (b"one\ntwo\nthree", 9, 8),
        (b"one\ntwo\nthree", 8, 8),
        (b"one\ntwo\nthree", 7, 4),
        (b"\nthree", 3, 1),
        (b"three", 3, 3),
        ("aä€𝄞".encode(), 2, 2),
    ],
)
def test_a_block_ends_with_a_line(window: bytes, count: int, taken: int) -> None:
    """A block without a whole line ends anywhere; a character that is split there comes out whole."""
    assert marks._line_bytes(window, count) == taken


def test_what_one_search_sees_is_no_larger_than_its_window(tmp_path: Path) -> None:
    """However large the parts of a content are, a search sees a block and a bounded stretch after it."""
    seen: list[int] = []

    class Watch(marks.SecretWatch):
        def _block(self, window: bytes, count: int) -> tuple[bytes, int]:
            seen.append(len(window))
            return super()._block(window, count)

    content = b"a line of no interest\n" * 110_000
    for size in (1 << 16, 2 << 20):
        for hides in (False, True):
            parts = (content[at : at + size] for at in range(0, len(content), size))
            assert b"".join(Watch(hides=hides).passed(parts)) == content
    assert max(seen) <= marks._BLOCK_BYTES + marks._AHEAD_BYTES
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        assert b"".join(marks.parts_of(store, store.put(content))) == content
