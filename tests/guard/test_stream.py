"""What may a pipe pass: any length in bounded memory, both ends, and what was kept of it?"""

from __future__ import annotations

import errno
import os
import tracemalloc
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leftovers import nothing_left_open

from penstock.guard import stream
from penstock.store import StoreFault, open_store
from penstock.text import fitting
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.store import Store

LINES = [b"line %d \xc3\xbc\n" % n for n in range(50_000)]
TEXT = b"".join(LINES)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Provide a store for all tests here."""
    opened = open_store(str(tmp_path_factory.mktemp("piping") / "store"))
    yield opened
    opened.close()


def kept(store: Store, handle: str) -> bytes:
    return store.read(handle, 0, 1 << 30)


@pytest.mark.proves("G-2", "LAW-Guarded")
@given(
    st.lists(st.sampled_from([b"a", b"line\n", b"\xc3\xbc\n", b"x" * 700, b"\xff", b"\x1b[2J", b""]), max_size=40),
    st.integers(0, 900),
    st.sampled_from(Keep),
)
def test_a_pipe_is_the_same_as_its_text(store: Store, parts: list[bytes], limit: int, keep: Keep) -> None:
    """In whatever parts it comes, the result is that of the whole text, and the whole is kept."""
    whole = b"".join(parts)
    passed = stream.drain(iter(parts), Allowance.chars(limit), keep, open_store=lambda: store)
    assert len(passed.result) <= limit
    assert passed.result.is_cut == fitting.fit(whole.decode("utf-8", "backslashreplace"), Allowance.chars(limit)).is_cut
    if passed.result.is_cut:
        assert kept(store, passed.handles[0]) == whole
        assert passed.result.whole_bytes == len(whole)
    else:
        assert (passed.handles, passed.lost_bytes, passed.fault) == ((), 0, "")


@pytest.mark.proves("G-2", "G-5")
@pytest.mark.parametrize("keep", list(Keep))
def test_a_long_pipe_shows_its_ends_with_exact_totals(store: Store, keep: Keep) -> None:
    """What is not held is counted."""
    passed = stream.drain(iter(LINES), Allowance.chars(1_000), keep, name="job", open_store=lambda: store)
    text = passed.result
    assert len(text) <= 1_000
    assert f"The whole, 50000 lines, {len(TEXT)} bytes: page(" in text
    assert ("line 0 ü\n" in text) == (keep is not Keep.TAIL)
    assert ("line 49999 ü" in text) == (keep is not Keep.HEAD)
    assert text.whole_chars == len(TEXT.decode())
    assert kept(store, passed.handles[0]) == TEXT


@pytest.mark.proves("G-3")
@pytest.mark.parametrize("keep_bytes", [1, 2, 1_001, 40_000, len(TEXT) - 1, len(TEXT), len(TEXT) + 1])
def test_above_the_limit_both_halves_are_kept(store: Store, keep_bytes: int) -> None:
    """First and last half are kept exactly, and what is between them is counted."""
    passed = stream.drain(iter(LINES), Allowance.chars(900), open_store=lambda: store, keep_bytes=keep_bytes)
    lost = max(0, len(TEXT) - keep_bytes)
    assert passed.lost_bytes == lost
    half = (keep_bytes + 1) // 2
    if not lost:
        assert [kept(store, handle) for handle in passed.handles] == [TEXT]
        return
    halves = [kept(store, handle) for handle in passed.handles]
    assert halves == ([TEXT[:half], TEXT[len(TEXT) - keep_bytes // 2 :]] if keep_bytes > 1 else [TEXT[:1]])
    if keep_bytes > 1:
        assert f"{lost} bytes between them were not kept" in passed.result
        assert all(handle in passed.result for handle in passed.handles)


@pytest.mark.proves("G-3")
def test_a_store_that_fails_in_the_middle_does_not_stop_the_pipe(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is read to its end, the answer is cut and says why nothing was kept (H27)."""
    import penstock.store.contents as backend

    read = 0

    def parts() -> Iterator[bytes]:
        nonlocal read
        for line in LINES:
            read += len(line)
            yield line

    def full(descriptor: int, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(backend, "_write", full)
    passed = stream.drain(parts(), Allowance.chars(1_000), open_store=lambda: store)
    assert read == len(TEXT)
    assert passed.handles == ()
    assert passed.fault.startswith("The disk is full")
    assert "could not be kept: The disk is full" in passed.result
    assert f"~{int(len(TEXT.decode()) / 3.5) // 1000}" in passed.result


@given(st.integers(0, 400), st.sampled_from([1_000, 5_000_000]))
def test_a_source_that_fails_is_named_and_what_came_is_kept(store: Store, lines: int, keep_bytes: int) -> None:
    """If it is too long to be shown, the error is the source's, not the store's, and the handles have all that came."""

    def parts() -> Iterator[bytes]:
        yield from LINES[:lines]
        raise OSError(errno.EIO, "the line is dead")

    came = b"".join(LINES[:lines])
    if len(came) <= 4 * 600 + 8:
        with pytest.raises(OSError, match="the line is dead"):
            stream.drain(parts(), Allowance.chars(600), open_store=lambda: store, keep_bytes=keep_bytes)
        return
    passed = stream.drain(parts(), Allowance.chars(600), open_store=lambda: store, keep_bytes=keep_bytes)
    said = f"The output broke off after {len(came)} bytes: [Errno {errno.EIO}] the line is dead."
    assert passed.fault == said
    assert said in passed.result
    assert kept(store, passed.handles[0]) == came[: 500 if passed.lost_bytes else None]
    assert passed.lost_bytes == max(0, len(came) - keep_bytes)
    if passed.lost_bytes:
        assert kept(store, passed.handles[1]) == came[-500:]


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_no_output_that_broke_off_looks_whole(beyond: int) -> None:
    """At one exact length the report of the failure changes from an error to a notice; both sides report it."""
    came = b"x" * (4 * 600 + 8 + beyond)

    def parts() -> Iterator[bytes]:
        yield came
        raise OSError(errno.EIO, "the line is dead")

    if beyond <= 0:
        with pytest.raises(OSError, match="the line is dead"):
            stream.drain(parts(), Allowance.chars(600))
    else:
        assert f"broke off after {len(came)} bytes" in stream.drain(parts(), Allowance.chars(600)).result


def test_the_notice_of_a_source_that_failed_leads_to_what_came(store: Store) -> None:
    """It has the error and the handle, or only the error if nothing is kept."""

    def parts() -> Iterator[bytes]:
        yield from LINES
        raise OSError(errno.EIO, "the line is dead")

    passed = stream.drain(parts(), Allowance.chars(1_000), open_store=lambda: store)
    assert f'the line is dead. What came: page(handle="{passed.handles[0]}")' in passed.result
    passed = stream.drain(parts(), Allowance.chars(1_000))
    assert (passed.handles, "the line is dead" in passed.result, "the line is dead" in passed.fault) == ((), True, True)


def test_a_store_that_cannot_be_opened_does_not_stop_the_pipe() -> None:
    """The same holds if there is none."""

    def none() -> Store:
        raise StoreFault("unreachable", "The server cannot be reached.")

    passed = stream.drain(iter(LINES), Allowance.chars(1_000), open_store=none)
    assert "could not be kept: The server cannot be reached." in passed.result


@pytest.mark.parametrize("held_bytes", [2_999, 3_000])
def test_what_is_held_to_be_handed_on_is_whole_or_nothing(held_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a store fails at the very end, an output of the largest length that may be held is handed on; one byte more is not."""

    class Failing:
        def put(self, parts: Iterator[bytes], **_: object) -> str:
            assert len(b"".join(parts)) == 3_000
            raise StoreFault("full", "The disk is full.")

    monkeypatch.setattr(stream, "UNCUT_BYTES", held_bytes)
    came, got = [b"x" * 1_000] * 3, list[bytes]()
    passed = stream.drain(iter(came), Allowance.chars(400), open_store=Failing, hand_on=got.append)  # type: ignore[arg-type]
    assert (got, passed.is_uncut) == ((came, True) if held_bytes == 3_000 else ([], False))


@pytest.mark.parametrize("fails_at", [0, 1, 40, 10_000])
def test_what_cannot_be_kept_is_handed_on_as_it_came(
    fails_at: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds whenever the store fails; beyond what may be held the first parts are gone, and the ends are shown."""
    import penstock.store.contents as backend

    written, write = 0, backend._write

    def full(descriptor: int, piece: bytes) -> None:
        nonlocal written
        written += len(piece)
        if written > fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(descriptor, piece)

    monkeypatch.setattr(backend, "_write", full)
    got: list[bytes] = []
    passed = stream.drain(iter(LINES), Allowance.chars(600), open_store=lambda: store, hand_on=got.append)
    assert (b"".join(got), passed.is_uncut, str(passed.result)) == (TEXT, True, "")
    assert passed.fault.startswith("The disk is full")
    monkeypatch.setattr(stream, "UNCUT_BYTES", 100)
    written = 0
    passed = stream.drain(iter(LINES), Allowance.chars(600), open_store=lambda: store, hand_on=got.append)
    assert not passed.is_uncut
    assert "could not be kept: The disk is full" in passed.result


def test_memory_does_not_grow_with_the_pipe(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """32 MB pass in less than 8, although they would be handed on if they could not be kept."""
    monkeypatch.setattr(stream, "UNCUT_BYTES", 1 << 20)
    block = b"a line of an endless job\n" * 10_000
    tracemalloc.start()
    try:
        parts = (block + b"%d\n" % at for at in range(128))
        passed = stream.drain(
            parts, Allowance.chars(1_000), Keep.ENDS, open_store=lambda: store, hand_on=lambda part: part
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert passed.result.whole_lines == 128 * 10_001
    assert peak < 8 << 20


def test_tokens_are_scaled_up_from_the_first_65_536_characters() -> None:
    """A counter that needs one more character for a token counts none."""
    for chars_per_token, tokens in ((65_536, 3), (65_537, 0)):
        parts = iter([b"x" * 200_000])
        passed = stream.drain(parts, Allowance.chars(40_000), chars_per_token=chars_per_token)
        assert passed.result.whole_tokens == tokens


def test_a_pipe_leaves_nothing_open(store: Store) -> None:
    """Its middle was lost, or the store failed after it."""

    def failing() -> Store:
        raise StoreFault("unreachable", "The server cannot be reached.")

    with nothing_left_open():
        for opened in (lambda: store, failing):
            stream.drain(iter(LINES), Allowance.chars(900), open_store=opened, keep_bytes=10_000)


def test_what_the_disk_lost_of_a_ring_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing then counts as kept, and the message of the fault is bounded."""
    monkeypatch.setattr(stream, "read_at", lambda *_: b"")
    passed = stream.drain(iter(LINES), Allowance.chars(900), open_store=lambda: store, keep_bytes=10_000)
    assert (passed.handles, passed.lost_bytes) == ((), 0)
    assert passed.fault == "The store failed: the scratch file is shorter than what was written to it."
    said = StoreFault("unreachable", "It is gone. " * 100)
    for hand_on in (None, lambda part: part):
        with mock.patch.object(stream, "_kept", return_value=((), str(said))):
            passed = stream.drain(iter(LINES), Allowance.chars(900), open_store=lambda: store, hand_on=hand_on)
        assert passed.fault == f"{said}"[:400] + "…"


@pytest.mark.parametrize("character", ["é", "日", "😀"])
@pytest.mark.parametrize("keep", [Keep.TAIL, Keep.ENDS])
def test_no_half_of_a_character_is_shown(character: str, keep: Keep) -> None:
    """The held bytes may begin anywhere in a character, and come in any pieces."""
    for lead in range(5):
        data = b"a" * lead + character.encode() * 3_000
        for size in (len(data), 7):
            parts = (data[at : at + size] for at in range(0, len(data), size))
            *_, tail = stream.drain(parts, Allowance.chars(700), keep).result.split("\n")
            assert set(tail) == {character}
            assert len(tail) > 200


def test_what_is_too_much_to_hold_is_not_held() -> None:
    """The bound is exact to a byte; what passed is given up at once, and so is everything that follows."""
    for sizes, is_whole in (([3, 2], True), ([3, 3], False), ([6, 1, 1], False), ([], True)):
        parts = [b"x" * size for size in sizes]
        held = stream._Held(iter(parts), 5)
        assert list(held) == parts
        assert (held.is_whole, held.parts) == (is_whole, parts if is_whole else [])
        assert (held.given_up(), held.parts) == (parts if is_whole else [], [])
