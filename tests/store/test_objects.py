"""With large artifacts in an object store, is nothing acknowledged lost, and no object left for ever (W-6)?

A folder replaces the bucket, as its requests cost nothing; the last tests use a real server of the S3 protocol.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from obstore.store import LocalStore
from tests.environments import python_with

from penstock.cli import main
from penstock.errors import CallerError, ToolError
from penstock.store import Damaged, Retention, StoreFault, open_store, pieces
from penstock.store import objects as backend
from penstock.store.objects import ObjectStorage, open_objects
from penstock.store.postgres import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.store.conftest import Clock

    from penstock.store.tables import Tables

DAY = 86_400
URL = "s3://bucket/folder"
LARGE = os.urandom(1000) * 30
"""Content above the size that the tests call large, and of several of their parts."""


class Kill(BaseException):
    """The end of a process as the store sees it: nothing is cleaned up."""


class Bucket(ObjectStorage):
    """A folder as a bucket, which may be unreachable or whose caller may be killed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalStore(folder, mkdir=True), URL, large_bytes=10_000)
        self.folder = folder
        self.calls = 0
        self.dies_at = self.fails_at = -1

    def names(self) -> set[str]:
        """Return the places of all objects."""
        return {f"{URL}/{path.name}" for path in self.folder.iterdir() if any(path.iterdir())}

    def _comes_through(self) -> None:
        self.calls += 1
        if self.calls == self.dies_at:
            raise Kill
        if 0 <= self.fails_at <= self.calls:
            raise StoreFault("unreachable", "the bucket is out of reach")

    def create(self, place: str, number: int, part: bytes) -> None:
        self._comes_through()
        super().create(place, number, part)
        self._comes_through()

    def read(self, place: str, start: int, count: int) -> bytes | None:
        self._comes_through()
        return super().read(place, start, count)

    def remove(self, place: str) -> None:
        self._comes_through()
        super().remove(place)
        self._comes_through()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make parts and pieces so small that contents have several parts, and parts several pieces."""
    monkeypatch.setattr(backend, "PART_BYTES", 8192)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 2048)


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    """Return an empty bucket."""
    return Bucket(tmp_path / "bucket")


@pytest.fixture
def store(opened: Callable[..., Tables], bucket: Bucket) -> Tables:
    """Return a store with that bucket."""
    return opened(objects=bucket)


def named(store: Tables) -> set[str]:
    """Return the places of contents that are objects."""
    return {place for (place,) in store._read("SELECT place FROM contents") if "://" in place}


def loose(store: Tables) -> set[str]:
    """Return the objects that the tables remember without content."""
    return {place for (place,) in store._read("SELECT place FROM loose_objects")}


@pytest.mark.proves("W-6")
def test_what_is_large_is_an_object_and_reads_as_everything_does(store: Tables, bucket: Bucket) -> None:
    """Bytes, streams, lines and sizes are the same; small content stays in the tables."""
    text = b"".join(b"line %d\n" % number for number in range(5_000))
    whole = store.put(text, name="run")
    streamed = store.put(iter([text[:10], text[10:9_000], text[9_000:], b"more"]))
    small = store.put(b"small")
    assert bucket.names() == named(store)
    assert len(named(store)) == 2
    assert loose(store) == set()
    for handle, content in ((whole, text), (streamed, text + b"more"), (small, b"small")):
        assert store.read(handle, 0, 1 << 20) == content
        assert store.read(handle, 8_190, 5) == content[8_190:8_195]
    assert store.line_start(whole, 4_000) == text.index(b"line 4000\n")
    assert store.info(whole).bytes == len(text)
    size = store.size()
    assert (size.object_bytes, size.stored_bytes) == (2 * len(text) + 4, 2 * len(text) + 9)
    assert store.put(text, name="run") == whole  # nothing is written twice
    assert len(bucket.names()) == 2
    assert store.facts()["objects"].startswith(URL)
    assert store.check() == []


def test_many_at_once_have_their_order(store: Tables, bucket: Bucket) -> None:
    """Large content is written separately, and its handle comes in its place."""
    contents = [b"a", LARGE, b"b", LARGE + b"2", b"c"]
    handles = store.put_many([(content, "run") for content in contents])
    assert [store.read(handle, 0, 1 << 20) for handle in handles] == contents
    assert len(bucket.names()) == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.integers(10_000, 40_000), start=st.integers(0, 41_000), count=st.integers(0, 20_000))
def test_any_window_of_an_object_is_that_of_its_bytes(store: Tables, size: int, start: int, count: int) -> None:
    """Pieces and parts are invisible."""
    content = bytes(number * 7 % 251 for number in range(size))
    handle = store.put(content)
    assert store.read(handle, start, count) == content[start : start + count]


def test_pruning_leaves_objects_as_they_are(store: Tables, bucket: Bucket) -> None:
    """Content that would be smaller in the tables is not read over a network and rewritten."""
    store.put(b"the same line\n" * 2_000)
    before, bucket.calls = named(store), 0
    assert store.prune().compressed == 0
    assert (named(store), bucket.calls) == (before, 0)


@pytest.mark.proves("W-6")
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_kill_between_object_and_row_loses_nothing_and_leaves_nothing(
    opened: Callable[..., Tables], bucket: Bucket, clock: Clock, is_stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer is killed at each request: acknowledged content is there, and a day later nothing else is."""
    kept = opened(objects=bucket).put(LARGE)
    for dies_at in range(2, 12):
        # nobody cleans up
        store = opened(objects=bucket)
        monkeypatch.setattr(store, "_discard_staged", lambda place: None)
        bucket.calls, bucket.dies_at = 0, dies_at
        content = LARGE + b"%d" % dies_at
        with suppress(Kill):
            store.put(iter([content]) if is_stream else content)
        bucket.dies_at = -1
        after = opened(objects=bucket)
        assert bucket.names() <= named(after) | loose(after)
        after.prune()
        assert bucket.names() <= named(after) | loose(after)  # it may be alive, so it has a day
    assert loose(after)
    clock.now += DAY + 1
    after.prune()
    assert bucket.names() == named(after)
    assert loose(after) == set()
    assert after.read(kept, 0, 1 << 20) == LARGE
    assert after.check() == []


@pytest.mark.proves("W-6")
def test_a_kill_while_it_is_removed_leaves_nothing_for_ever(
    opened: Callable[..., Tables], bucket: Bucket, clock: Clock
) -> None:
    """Removed content stays condemned until it is gone, whoever prunes next."""
    for dies_at in (1, 2):
        handle = opened(objects=bucket).put(LARGE, life_seconds=1)
        clock.now += 10
        bucket.calls, bucket.dies_at = 0, dies_at
        with pytest.raises(Kill):
            opened(objects=bucket).prune()
        bucket.dies_at = -1
        after = opened(objects=bucket)
        with pytest.raises(ToolError, match="is gone"):
            after.read(handle, 0, 1)
        assert loose(after)
        after.collect(Retention())
        assert bucket.names() == loose(after) == set()


def test_a_bucket_out_of_reach_is_a_fault_and_takes_nothing_along(
    opened: Callable[..., Tables], bucket: Bucket, clock: Clock
) -> None:
    """Small content still works, large content is refused, and pruning continues later."""
    store = opened(objects=bucket)
    handle = store.put(LARGE)
    bucket.calls, bucket.fails_at = 0, 2  # after the first part
    with pytest.raises(StoreFault, match="out of reach") as told:
        store.put(LARGE + b"2")
    assert told.value.code == "unreachable"
    small = store.put(b"small", life_seconds=DAY * 9)
    with pytest.raises(StoreFault, match="out of reach"):
        store.read(handle, 0, 1)
    (damage,) = store.check()
    assert (damage.name, damage.reason) == (handle, "the bucket is out of reach")
    clock.now += 8 * DAY
    assert store.prune().expired == 1
    assert store.read(small, 0, 9) == b"small"
    assert len(bucket.names()) == 2
    bucket.fails_at = -1
    store.prune()
    assert bucket.names() == loose(store) == set()


@pytest.mark.proves("S-17")
def test_what_is_removed_for_good_is_in_no_object(opened: Callable[..., Tables], bucket: Bucket) -> None:
    """If it is still there, that is said, and a later collection removes it."""
    store = opened(objects=bucket)
    secret = b"the heron-blue valve " + LARGE
    handle = store.put(secret)
    store.remove_artifact(handle)
    assert bucket.names() == set()
    handle = store.put(secret)
    store.append("s", 0, "told", {}, handles=[handle])
    bucket.calls, bucket.fails_at = 0, 1
    with pytest.raises(StoreFault, match=r"is still there: `penstock store gc"):
        store.remove_sessions(["s"])
    assert store.sessions() == []
    with pytest.raises(ToolError, match="is gone"):
        store.read(handle, 0, 1)
    bucket.fails_at = -1
    store.collect(Retention())
    assert bucket.names() == loose(store) == set()


@pytest.mark.proves("W-6")
def test_a_store_without_the_bucket_says_where_it_lies(
    opened: Callable[..., Tables], bucket: Bucket, clock: Clock
) -> None:
    """Reading, checking and permanent removal name the setting; expiry works, and a store with the bucket cleans up."""
    full = opened(objects=bucket)
    handle = full.put(LARGE)
    poor = opened()
    said = f"This artifact is in {URL}, which the store was opened without: set PENSTOCK_STORE_OBJECTS={URL}"
    with pytest.raises(StoreFault) as told:
        poor.read(handle, 0, 1)
    assert (told.value.code, told.value.message) == ("unreachable", said)
    assert [damage.reason for damage in poor.check()] == [said]
    with pytest.raises(StoreFault, match="PENSTOCK_STORE_OBJECTS"):
        poor.remove_artifact(handle)
    assert poor.info(handle).bytes == len(LARGE)
    assert full.read(handle, 0, 1 << 20) == LARGE  # nothing was removed
    clock.now += 8 * DAY
    assert poor.prune().expired == 1
    assert bucket.names() == loose(poor) != set()
    full.prune()
    assert bucket.names() == set()


def test_an_object_that_is_not_what_was_written_is_named(store: Tables, bucket: Bucket) -> None:
    """Reading and checking report a changed, short or missing object."""
    handle = store.put(LARGE)
    (folder,) = bucket.folder.iterdir()
    last = max(folder.iterdir())
    for damaged in (last.read_bytes()[:-1] + b"?", last.read_bytes()[:-2000], None):
        last.unlink()
        if damaged is not None:
            last.write_bytes(damaged)
        fresh = store.check()
        assert [one.name for one in fresh] == [handle]
        store._pieces.clear()
        with pytest.raises(Damaged):
            store.read(handle, len(LARGE) - 10, 10)


def test_secrets_in_objects_are_marked_and_hidden(opened: Callable[..., Tables], bucket: Bucket) -> None:
    """This holds as for everything that is kept."""
    key = b"ghp_" + b"aB3dE5fG7h" * 3 + b"123456"
    content = LARGE.hex().encode() + b" " + key + b"\n"
    store = opened(objects=bucket)
    assert store.info(store.put(content)).secrets == {"GitHub token": 1}
    hiding = opened(objects=bucket, keeps_redacted=True)
    for given_as in (content + b"2", iter([content, b"3"])):
        info = hiding.info(hiding.put(given_as))
        assert (info.hidden, info.secrets) == (1, {})
        assert key not in hiding.read(info.handle, 0, 1 << 20)


def test_a_writer_that_was_given_up_does_not_publish(
    opened: Callable[..., Tables], bucket: Bucket, clock: Clock
) -> None:
    """A writer that slept for more than a day finds its object condemned: it fails, and names nothing that is gone."""
    store = opened(objects=bucket)

    def slow() -> Iterator[bytes]:
        yield LARGE
        yield LARGE
        clock.now += DAY + 1
        opened(objects=bucket).prune()
        yield LARGE

    with pytest.raises(StoreFault, match="longer than a day"):
        store.put(slow())
    assert bucket.names() == named(store) == set()


@pytest.mark.parametrize("has_bucket", [True, False])
def test_a_commit_that_nobody_heard_of_keeps_its_content(
    opened: Callable[..., Tables], bucket: Bucket, monkeypatch: pytest.MonkeyPatch, has_bucket: bool
) -> None:
    """The transaction succeeded, but its answer was lost: it is done again with no effect, and nothing that counts is discarded."""
    store = opened(objects=bucket if has_bucket else None)
    writing = store._writing
    is_lost = True

    @contextmanager
    def deaf() -> Iterator[Any]:
        nonlocal is_lost
        with writing() as execute:
            yield execute
        if is_lost and store._read("SELECT 1 FROM contents"):
            is_lost = False
            raise StoreFault("unreachable", "the server has gone")

    monkeypatch.setattr(store, "_writing", deaf)
    if isinstance(store, PostgresStore):
        handle = store.put(LARGE)
    else:  # it has no connection to lose
        with pytest.raises(StoreFault, match="has gone"):
            store.put(LARGE)
        handle = store.put(LARGE)
    assert not is_lost
    assert bucket.names() == named(store)
    assert bool(named(store)) == has_bucket
    assert [one.handle for one in store.artifacts()] == [handle]
    assert store.read(handle, 0, 1 << 20) == LARGE


def test_too_much_is_refused_and_leaves_nothing(opened: Callable[..., Tables], bucket: Bucket) -> None:
    """Objects count against the store's limit."""
    store = opened(objects=bucket, limit_bytes=50_000)
    for content in (LARGE * 2, iter([LARGE] * 1_000)):
        with pytest.raises(StoreFault, match="50000 bytes"):
            store.put(content)
    assert bucket.calls < 30  # it is not sent first and refused afterwards
    assert bucket.names() == loose(store) == set()
    first, second = store.put(LARGE), store.put(LARGE + b"2")
    with pytest.raises(ToolError, match="the oldest when room was needed"):
        store.read(first, 0, 1)
    assert store.read(second, 0, 1) == LARGE[:1]
    assert len(bucket.names()) == 1


@pytest.mark.parametrize(
    "url", ["http://host/x", "s3://", "s3://user:key@bucket/x", "s3://bucket/x?key=1", "file:///tmp", "s3://b/../c d"]
)
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    """The error shows a valid address."""
    with pytest.raises(CallerError, match="s3://BUCKET/FOLDER"):
        open_objects(url)


# ── a server of S3's protocol ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """Start a server with an empty bucket, and return the environment that leads to it."""
    server = subprocess.Popen(
        [python_with("object-server"), "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert server.stderr is not None
    try:
        line = next(line for line in server.stderr if "http://" in line)
        address = "http://" + line.partition("http://")[2].strip()
        urllib.request.urlopen(urllib.request.Request(f"{address}/kept", method="PUT"), timeout=30).close()
        yield {
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        }
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()


@pytest.mark.proves("W-6")
def test_a_server_of_s3_keeps_what_is_large(
    s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The setting and the command line suffice: content is kept, paged and removed, and its parts are created once."""
    monkeypatch.undo()
    for name, value in {**s3, "PENSTOCK_STORE_OBJECTS": "s3://kept/penstock"}.items():
        monkeypatch.setenv(name, value)
    content = os.urandom(9 << 20)
    with closing(open_store(str(tmp_path / "store"))) as store:
        handle = store.put(content)
        assert store.read(handle, (8 << 20) - 5, 10) == content[(8 << 20) - 5 : (8 << 20) + 5]
        assert store.check() == []
        assert store.size().object_bytes == len(content)
    bucket = open_objects("s3://kept/penstock")
    place = bucket.new_place()
    bucket.create(place, 0, b"first")
    bucket.create(place, 0, b"later")  # as a retried request does
    assert bucket.read(place, 0, 5) == b"first"
    assert bucket.read(place, 9, 5) is None
    bucket.remove(place)
    bucket.remove(place)
    assert bucket.read(place, 0, 5) is None
    url = ["--store", f"sqlite://{tmp_path}/store"]
    assert main(["store", "size", "--json", *url]) == 0
    assert json.loads(capsysbinary.readouterr().out)["object_bytes"] == len(content)
    assert main(["store", "rm", handle, *url]) == 0
    with closing(open_store(str(tmp_path / "store"))) as store:
        assert store.size().stored_bytes == 0
    for path in tmp_path.rglob("*"):  # keys go to the server and are kept nowhere
        assert not path.is_file() or s3["AWS_SECRET_ACCESS_KEY"].encode() not in path.read_bytes()


_WRITER = """
import os, sys
from penstock.store import open_store
store = open_store(sys.argv[1])
number = 0
while True:
    content = (b"%d " % number) * (9 << 19)
    print(store.put(content), number, flush=True)
    number += 1
"""


@pytest.mark.proves("W-6")
def test_killed_writers_lose_nothing_on_a_server(
    s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Real processes end at any moment: each printed handle can be read, and a day later the bucket has nothing else."""
    monkeypatch.undo()
    environment = {**os.environ, **s3, "PENSTOCK_STORE_OBJECTS": "s3://kept/kills"}
    path = str(tmp_path / "store")
    told: list[list[bytes]] = []
    for kill in range(3):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, path], env=environment, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        told += [writer.stdout.readline().split() for _ in range(1 + kill % 2)]
        writer.kill()
        told += [line.split() for line in writer.stdout.read().splitlines() if len(line.split()) == 2]
        writer.wait()
        writer.stdout.close()
    assert len(told) > 3
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    from penstock.store.sqlite import SqliteStore

    bucket = open_objects("s3://kept/kills")
    with closing(SqliteStore(path, objects=bucket)) as store:
        for handle, number in told:
            assert store.read(handle.decode(), 0, 20) == ((number + b" ") * 20)[:20]
        assert store.check() == []
        places = named(store)
        loose_ones = loose(store)
    assert _keys(bucket) <= places | loose_ones
    with closing(SqliteStore(path, objects=bucket, clock=lambda: time.time() + 2 * DAY)) as store:
        store.prune()
        assert _keys(bucket) == named(store)
        assert loose(store) == set()


def _keys(bucket: ObjectStorage) -> set[str]:
    import obstore

    listed = obstore.list(bucket._objects)
    return {f"{bucket.url}/{one['path'].partition('/')[0]}" for some in listed for one in some}
