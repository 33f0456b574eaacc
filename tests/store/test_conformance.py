"""Do all stores behave the same? These tests run on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import hashlib
import random
import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest

from penstock.errors import CallerError, ToolError
from penstock.store import Conflict, Event, StoreFault
from penstock.store.pieces import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.store.conftest import Clock

    from penstock.store.database import Rows
    from penstock.store.tables import Tables

DAY = 86_400


# ── artifacts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-3")
@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES + 17])
def test_what_is_put_is_read_back_exactly(store: Tables, size: int) -> None:
    """Any range of an artifact has the bytes that were put."""
    content = bytes(i * i % 251 for i in range(size))
    handle = store.put(content, name="tool")
    assert store.read(handle, 0, size + 10) == content
    for start, count in (
        (0, 1),
        (size // 2, 7),
        (max(0, size - 3), 10),
        (PIECE_BYTES - 2, 4),
        (size, 5),
        (size + 9, 1),
    ):
        assert store.read(handle, start, count) == content[start : start + count]
    info = store.info(handle)
    assert (info.bytes, info.digest, info.name) == (size, hashlib.sha256(content).hexdigest(), "tool")


@pytest.mark.proves("G-3")
def test_a_stream_is_kept_like_the_same_bytes(store: Tables) -> None:
    """How content is split on arrival does not matter."""
    content = b"".join(b"line %d\n" % n for n in range(200_000))

    def parts() -> Iterator[bytes]:
        at = 0
        while at < len(content):
            size = 1 + at * 7 % 100_003
            yield content[at : at + size]
            at += size

    handle = store.put(parts(), name="x")
    assert store.put(content, name="x") == handle
    assert store.read(handle, 0, len(content)) == content


@pytest.mark.proves("G-5")
def test_totals_and_places_of_lines_are_exact(store: Tables) -> None:
    """Lines are counted on arrival, and any line is found."""
    lines = [b"\n", *(b"%d:" % n + b"x" * (n % 300) + b"\n" for n in range(1, 20_000))]
    content = b"".join(lines) + b"last"
    handle = store.put(content)
    assert store.info(handle).lines == 20_001
    at = 0
    for number in range(0, 20_001, 997):
        at = sum(map(len, lines[:number]))
        assert store.line_start(handle, number) == at
        assert store.lines_before(handle, at) == number
        assert store.lines_before(handle, at + 1) == number + (number == 0)  # the first line is empty
    assert store.line_start(handle, 20_001) is None
    assert store.lines_before(handle, len(content)) == 20_000


@pytest.mark.proves("G-3")
def test_equal_content_is_kept_once(store: Tables) -> None:
    """Equal content under two names takes the room of one; under the same name it is the same artifact."""
    one, two = store.put(b"x" * 1000, name="a"), store.put(b"x" * 1000, name="b")
    assert one != two
    assert store.put(b"x" * 1000, name="a") == one
    assert (store.size().artifacts, store.size().stored_bytes) == (2, 1000)


@pytest.mark.proves("G-3")
def test_many_at_once_are_kept_as_one_by_one(store: Tables) -> None:
    """They keep their order across transactions, with equal ones once; putting them again gives the same handles."""
    dice = random.Random(2026)
    known = [store.put(b"%d" % number, name="run") for number in range(3)]
    given = [(b"%d" % dice.randrange(200), dice.choice(("run", "view"))) for _ in range(300)]
    given += [(b"x" * (3 << 20), "flood"), (b"y" * (9 << 20), "flood"), (b"", "empty"), (b"z" * 2 * PIECE_BYTES, "two")]
    handles = store.put_many(given, kind="result", life_seconds=DAY)
    assert [store.put(content, name=name, kind="result") for content, name in given] == handles
    assert [store.read(handle, 0, 10 << 20) for handle in handles] == [content for content, _ in given]
    assert len(set(handles)) == len(set(given))
    assert not set(handles) & set(known)  # of another kind
    assert {store.info(handle).kind for handle in handles} == {"result"}
    assert store.put_many([]) == []
    assert store.check() == []


@pytest.mark.proves("G-3")
def test_of_many_that_do_not_fit_none_is_kept(opened: Callable[..., Tables]) -> None:
    """The store is unchanged, and says why."""
    store = opened(limit_bytes=1_000)
    held = store.put(b"h" * 500)
    store.append("session", 0, "begun", {}, handles=[held])
    with pytest.raises(StoreFault) as caught:
        store.put_many([(b"%d" % number * 100, "run") for number in range(9)])
    assert caught.value.code == "full"
    assert [info.handle for info in store.artifacts()] == [held]
    assert (store.size().artifacts, store.size().stored_bytes) == (1, 500)
    assert store.check() == []


def test_what_many_name_again_is_not_given_up_for_the_others(opened: Callable[..., Tables], clock: Clock) -> None:
    """Neither the oldest nor an expired content is removed for room if the same call returns its handle."""
    store = opened(limit_bytes=1_000)
    oldest, newer = store.put(b"o" * 300, name="run"), store.put(b"n" * 300, name="run")
    handles = store.put_many([(b"o" * 300, "run"), (b"1" * 300, "run"), (b"2" * 300, "run")])
    assert handles[0] == oldest
    assert [store.read(handle, 0, 1) for handle in handles] == [b"o", b"1", b"2"]
    with pytest.raises(ToolError, match="it was the oldest"):
        store.read(newer, 0, 1)
    clock.now += 8 * DAY
    again = store.put_many([(b"o" * 300, "run"), (b"3" * 300, "run")])
    assert [store.read(handle, 0, 1) for handle in again] == [b"o", b"3"]
    assert store.check() == []


@pytest.mark.proves("G-3")
def test_handles_cannot_be_guessed(store: Tables) -> None:
    """A handle is 22 random letters and digits, and no two begin alike."""
    handles = [store.put(b"%d" % n) for n in range(50)]
    assert all(len(handle) == 22 and handle.isascii() and handle.isalnum() for handle in handles)
    assert len({handle[:6] for handle in handles}) == 50


@pytest.mark.proves("G-3")
def test_an_expired_handle_says_so_finally(store: Tables, clock: Clock) -> None:
    """After its time an artifact cannot be read, whether or not it was already removed."""
    handle = store.put(b"content", life_seconds=2 * DAY)
    clock.now += 2 * DAY - 1
    assert store.read(handle, 0, 7) == b"content"
    clock.now += 2
    for _ in range(2):
        with pytest.raises(ToolError, match="is gone") as caught:
            store.read(handle, 0, 7)
        assert caught.value.code == "expired"
        store.prune()
    assert store.size().stored_bytes == 0
    assert store.artifacts() == []


def test_an_unknown_handle_is_not_found(store: Tables) -> None:
    """An unknown handle is distinguished from an expired one, and echoed briefly."""
    for handle in ("", "nothing", "x" * 22, "a\0b", "x" * 100_000, "\x1b[31m", "%s", "' OR 1=1"):
        with pytest.raises(ToolError) as caught:
            store.info(handle)
        assert caught.value.code == "not_found"
        assert len(caught.value.message) < 400
        assert "\x1b" not in caught.value.message


def test_life_goes_on_from_the_last_time_that_it_was_put(store: Tables, clock: Clock) -> None:
    """A result that is put again is needed again."""
    handle = store.put(b"content", life_seconds=DAY)
    clock.now += DAY - 5
    assert store.put(b"content", life_seconds=DAY) == handle
    clock.now += DAY - 5
    assert store.read(handle, 0, 7) == b"content"


def test_a_clock_that_goes_back_makes_nothing_younger(store: Tables, clock: Clock) -> None:
    """Order comes from numbers, and time never runs backwards (H29)."""
    clock.now += 365 * DAY
    store.put(b"one")
    clock.now = 0.0
    second = store.put(b"two", life_seconds=DAY)
    assert store.info(second).created >= 1_800_000_000 + 365 * DAY
    assert [artifact.bytes for artifact in store.artifacts()] == [3, 3]


def test_a_clock_that_was_ahead_is_told_and_set_back(store: Tables, clock: Clock) -> None:
    """What was kept under the wrong clock, and since, lives on from now as long as it was to; what has expired stays so."""
    older, now = store.put(b"older"), clock.now
    store.put(b"wanted")
    assert "clock" not in store.facts()
    clock.now += 36_500 * DAY
    wrong = store.put(b"from a later year", life_seconds=2 * DAY)
    store.append("s", 0, "asked", {}, handles=[store.put(b"named")])
    clock.now = now
    since = store.put(b"kept since")
    assert store.facts()["clock"].startswith("36500 days ahead of this clock")

    store.reset_clock()
    assert "clock" not in store.facts()
    assert store.check() == []
    lives = [store.info(handle).expires - now for handle in (wrong, since, store.put(b"new"))]
    assert lives == [2 * DAY, 7 * DAY, 7 * DAY]
    assert [session.at for session in store.sessions()] == [now]
    with pytest.raises(ToolError, match="its time was over"):
        store.read(older, 0, 1)
    clock.now += 8 * DAY
    assert store.prune().expired == 3


def test_no_record_holds_a_key_whoever_writes_it(store: Tables) -> None:
    """All records are redacted as they are written; a retry of the same event gives the same record."""
    key = "ghp_" + "aB3dE5fG7h" * 3 + "123456"
    event = {"text": f"see {key}", "call": {"id": key, "arguments": f'{{"key":"{key}"}}'}, "password": "hunter2hunter2"}
    record = store.append("s", 0, "replied", event)
    mark = "[redacted: GitHub token, 40 characters]"
    assert record.data == {
        "text": f"see {mark}",
        "call": {"id": key, "arguments": f'{{"key":"{mark}"}}'},
        "password": "[redacted: secret, 14 characters]",
    }
    assert store.append("s", 0, "replied", event) == record
    assert store.append("s", 0, "replied", record.data) == record
    assert [kept.data for kept in store.events("s")] == [record.data]


@pytest.mark.proves("G-3")
def test_the_oldest_that_nothing_refers_to_goes_first(opened: Callable[..., Tables]) -> None:
    """Above the limit, artifacts that a session refers to stay; the others are removed by age and say so."""
    store = opened(limit_bytes=10_000)
    first, second, third = (store.put(bytes([n]) * 3_000) for n in range(3))
    store.append("s", 0, "returned", {}, handles=[first])
    fourth = store.put(b"\3" * 3_000)
    for handle in (first, third, fourth):
        assert len(store.read(handle, 0, 5_000)) == 3_000
    with pytest.raises(ToolError, match="oldest when room was needed") as caught:
        store.read(second, 0, 1)
    assert caught.value.code == "expired"
    assert store.size().stored_bytes == 9_000


@pytest.mark.proves("G-3")
def test_content_that_a_session_refers_to_under_another_name_makes_no_room(opened: Callable[..., Tables]) -> None:
    """Removing one of its names frees nothing, so the next oldest artifact is removed too."""
    store = opened(limit_bytes=10_000)
    shared, kept = store.put(b"a" * 4_000, name="one"), store.put(b"a" * 4_000, name="two")
    store.append("s", 0, "returned", {}, handles=[kept])
    opened().put(b"b" * 4_000)
    newest = store.put(b"c" * 5_000)
    assert {artifact.handle for artifact in store.artifacts()} == {kept, newest}
    assert shared != kept
    assert store.size().stored_bytes <= 10_000


def test_a_store_that_is_full_of_what_is_in_use_says_so(opened: Callable[..., Tables]) -> None:
    """Nothing that a session refers to is removed; the new artifact is refused and leaves nothing behind."""
    store = opened(limit_bytes=5_000)
    handle = store.put(b"a" * 3_000)
    store.append("s", 0, "returned", {}, handles=[handle])
    for content in (b"b" * 3_000, b"c" * 6_000, iter([b"d" * 6_000])):
        with pytest.raises(StoreFault) as caught:
            store.put(content)
        assert caught.value.code == "full"
    assert store.read(handle, 0, 3_000) == b"a" * 3_000
    assert (store.size().artifacts, store.size().stored_bytes, store.check()) == (1, 3_000, [])


def test_what_a_record_refers_to_does_not_expire(store: Tables, clock: Clock) -> None:
    """A session that is resumed after its results' lifetime still has them."""
    handle = store.put(b"content", life_seconds=DAY)
    store.append("s", 0, "returned", {"handle": handle}, handles=[handle])
    clock.now += 30 * DAY
    store.prune()
    assert store.read(handle, 0, 7) == b"content"
    assert store.info(handle).is_referenced
    assert [artifact.handle for artifact in store.artifacts()] == [handle]


def test_compression_changes_no_byte(store: Tables) -> None:
    """Pruning compresses text if that pays; every range then reads the same, in this process and in another."""
    text = b"".join(b"2026-11-21 INFO request %d took 12 ms\n" % n for n in range(30_000))
    noise = hashlib.shake_256(b"noise").digest(PIECE_BYTES + 5)
    one, two = store.put(text), store.put(noise)
    store.read(one, 0, 10)
    pruned = store.prune()
    assert pruned.compressed == 1
    assert pruned.freed_bytes > len(text) // 2
    assert store.read(one, 0, len(text)) == text
    assert store.read(one, PIECE_BYTES - 3, 9) == text[PIECE_BYTES - 3 : PIECE_BYTES + 6]
    assert store.read(two, 0, len(noise)) == noise
    assert store.prune().compressed == 0
    assert store.check() == []


def test_another_process_reads_on_while_content_is_compressed(opened: Callable[..., Tables]) -> None:
    """A reader that knows the old place looks again."""
    one, two = opened(), opened()
    text = b"all alike\n" * 80_000
    handle = one.put(text)
    assert two.read(handle, 0, 10) == text[:10]
    assert one.prune().compressed == 1
    assert two.read(handle, PIECE_BYTES, 100_000) == text[PIECE_BYTES : PIECE_BYTES + 100_000]


def test_a_source_that_fails_leaves_nothing(store: Tables) -> None:
    """An artifact is kept whole or not at all."""

    def broken() -> Iterator[bytes]:
        yield b"x" * PIECE_BYTES * 20
        raise RuntimeError("the tool died")

    with pytest.raises(RuntimeError, match="died"):
        store.put(broken())
    assert (store.size().artifacts, store.size().stored_bytes) == (0, 0)
    assert store.prune().freed_bytes == 0


# ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_records_come_back_in_order_and_chained(opened: Callable[..., Tables]) -> None:
    """Another process reads what was appended, with each record naming the one before."""
    store = opened()
    data = [{"n": n, "text": "ü\ud800\x00\n" * n, "deep": {"list": [None, True, 1.5]}} for n in range(5)]
    written = [store.append("s", n, "returned", data[n]) for n in range(5)]
    read = list(opened().events("s"))
    assert read == written
    assert [record.data for record in read] == data
    assert [record.prev_hash for record in read[1:]] == [record.sha256 for record in read[:-1]]
    assert [record.seq for record in opened().events("s", 3)] == [3, 4]
    assert list(store.events("another")) == []


def test_a_record_appended_again_is_the_same_and_another_conflicts(store: Tables) -> None:
    """A retry gets the first answer; a different event at that place is refused."""
    first = store.append("s", 0, "asked", {"a": 1, "b": [2]})
    assert store.append("s", 0, "asked", {"b": [2], "a": 1}) == first
    for kind, data in (
        ("asked", {"a": 2, "b": [2]}),
        ("asked", {"a": True, "b": [2]}),
        ("replied", {"a": 1, "b": [2]}),
    ):
        with pytest.raises(Conflict):
            store.append("s", 0, kind, data)
    assert list(store.events("s")) == [first]


def test_there_are_no_gaps(store: Tables) -> None:
    """Only the next record can be added, and the error names it."""
    with pytest.raises(CallerError, match="next record is 0, not 1"):
        store.append("s", 1, "asked", {})
    store.append("s", 0, "asked", {})
    with pytest.raises(CallerError, match="next record is 1, not 3"):
        store.append("s", 3, "asked", {})
    for seq in (-1, True, 1.0, "1"):
        with pytest.raises(CallerError):
            store.append("s", seq, "asked", {})  # type: ignore[arg-type]


def test_what_json_cannot_hold_is_refused(store: Tables) -> None:
    """An event that could not be read back is not written."""
    for data in ({"x": float("nan")}, {"x": {1}}, {"x": b""}, [1]):
        with pytest.raises(CallerError):
            store.append("s", 0, "asked", data)  # type: ignore[arg-type]
    for session in ("", "a\nb", "x" * 201, "\0"):
        with pytest.raises(CallerError):
            store.append(session, 0, "asked", {})
    assert store.sessions() == []


def test_a_batch_is_kept_whole_or_not_at_all(store: Tables) -> None:
    """One commit covers many records; a bad one rejects the batch, and the next append continues from the store's state."""
    store.append("s", 0, "asked", {})
    with pytest.raises(CallerError):
        store.append_all("s", [Event(seq=1, type="a", data={}), Event(seq=3, type="b", data={})])
    assert [record.seq for record in store.events("s")] == [0]
    done = store.append_all("s", [Event(seq=n, type="a", data={"n": n}) for n in range(1, 40)])
    assert [record.seq for record in done] == list(range(1, 40))
    assert store.append_all("s", [Event(seq=n, type="a", data={"n": n}) for n in range(30, 45)])[0].seq == 30
    assert store.sessions()[0].records == 45


def test_a_reference_and_its_record_are_one(store: Tables) -> None:
    """A record that refers to a missing artifact is not written."""
    with pytest.raises(CallerError, match="no artifact"):
        store.append("s", 0, "returned", {}, handles=["nothing"])
    assert store.sessions() == []


def test_two_writers_of_one_session_never_both_win(opened: Callable[..., Tables]) -> None:
    """Each place has one event, and the second writer is told."""
    stores = [opened(), opened()]
    won: list[list[int]] = [[], []]

    def work(me: int) -> None:
        for seq in range(60):
            try:
                stores[me].append("s", seq, "asked", {"by": me})
                won[me].append(seq)
            except Conflict:
                pass

    threads = [threading.Thread(target=work, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won[0] + won[1]) == list(range(60))
    assert [record.data["by"] for record in stores[0].events("s")] == [0 if n in set(won[0]) else 1 for n in range(60)]


def test_sessions_are_listed_with_the_last_used_first(store: Tables, clock: Clock) -> None:
    """The session to resume is on top."""
    for name in ("one", "two", "three"):
        clock.now += 1
        store.append(name, 0, "asked", {})
    clock.now += 1
    store.append("one", 1, "asked", {})
    assert [(s.session, s.records) for s in store.sessions()] == [("one", 2), ("three", 1), ("two", 1)]


def test_threads_share_a_store(store: Tables) -> None:
    """Concurrent puts, reads and appends are each whole."""
    failed: list[BaseException] = []

    def work(me: int) -> None:
        try:
            for n in range(8):
                content = b"%d-%d\n" % (me, n) * 20_000
                handle = store.put(content)
                store.append(f"s{me}", n, "returned", {"n": n}, handles=[handle])
                assert store.read(handle, 0, len(content)) == content
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert store.check() == []
    assert store.size().records == 32


def test_a_closed_store_says_so(store: Tables) -> None:
    """Nothing works after close, whether content is a row or a file, and closing twice is no error."""
    contents = [b"small", random.Random(1).randbytes(1 << 20)]
    handles = [store.put(content) for content in contents]
    store.close()
    store.close()
    deeds: list[Callable[[], object]] = [
        store.size,
        *(partial(store.put, b"other " + content) for content in contents),
        partial(store.put, iter([contents[1]])),  # a stream is written before anything is looked up
        *(partial(store.read, handle, 0, 10) for handle in handles),
    ]
    for deed in deeds:
        with pytest.raises(CallerError, match="closed"):
            deed()


def test_facts_name_what_durability_rests_on(store: Tables) -> None:
    """`penstock doctor` gets versions, flushes and the schema."""
    facts = store.facts()
    assert facts["schema"] == "11"
    assert "FULL" in facts.get("synchronous", "") or facts["fsync"] in {"on", "off"}  # our server flushes nothing
    assert "nobody@" not in facts["store"]


# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_summary_is_given_while_its_journal_is_what_it_was_made_of(store: Tables) -> None:
    """One more record makes another journal, whose summary replaces the earlier one."""
    assert (store.newest_hash("s"), store.summary("s")) == ("", None)
    first = store.append("s", 0, "asked", {"text": "x" * 900})
    assert store.newest_hash("s") == first.sha256
    store.keep_summaries({"s": (first.sha256, "one record"), "gone": ("", "")})
    assert (store.summary("s"), store.summary("gone")) == ("one record", None)
    second = store.append("s", 1, "asked", {})
    assert store.summary("s") is None
    store.keep_summaries({"s": (first.sha256, "late")})  # by a process that did not know the second record
    assert store.summary("s") is None
    store.keep_summaries({"s": (second.sha256, "two records")})
    assert store.summary("s") == "two records"


def test_unreadable_summaries_count_as_missing(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for a PostgreSQL role whose rights predate summaries, and for damaged pages."""
    record = store.append("s", 0, "asked", {"text": "x" * 900})
    store.keep_summaries({"s": (record.sha256, "figures")})
    read = store._read

    def refused(statement: str, parameters: Sequence[object] = ()) -> Rows:
        if "summaries" in statement:
            raise StoreFault("read_only", "permission denied for table summaries")
        return read(statement, parameters)

    monkeypatch.setattr(store, "_read", refused)
    assert store.summary("s") is None
    assert store.newest_hash("s") == record.sha256


@pytest.mark.proves("S-17")
def test_a_summary_is_counted_and_goes_with_its_session(store: Tables) -> None:
    """It takes no room from other content, and is at most a fourth of its journal."""
    for name in "ab":
        store.append(name, 0, "asked", {"text": "x" * 900})
    before = store.size()
    newest = {name: store.newest_hash(name) for name in "ab"}
    store.keep_summaries({name: (newest[name], f"figures of {name}") for name in "ab"})
    size = store.size()
    assert (size.index_bytes - before.index_bytes, size.used_bytes) == (24, before.used_bytes)
    store.keep_summaries({"a": (newest["a"], "x" * before.journal_bytes)})
    assert store.summary("a") == "figures of a"
    store.remove_sessions(["a"])
    store.keep_summaries({"a": (newest["a"], "late")})
    store.append("a", 0, "asked", {"text": "x" * 900})
    assert (store.summary("a"), store.summary("b")) == (None, "figures of b")
    assert store.size().index_bytes - before.index_bytes == 12
