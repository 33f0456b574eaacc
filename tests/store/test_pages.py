"""Is kept content read back in bounded pages that tile it, in JSON records, and in matches?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ToolError
from penstock.guard.output import guard_output
from penstock.store import finding, open_store
from penstock.store import pages as paging
from penstock.store.pieces import PIECE_BYTES
from penstock.text import fitting
from penstock.text.allowance import Allowance
from penstock.text.tokens import Tokens
from penstock.text.window import HARD_MAX_BYTES, Window

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.store import Store

LINES = [b"%d: a line of an artifact, \xc3\xbcml\xc3\xa4ut\n" % n for n in range(20_000)]
TEXT = b"".join(LINES)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Open a store for all tests here, which only add to it."""
    opened = open_store(str(tmp_path_factory.mktemp("paging") / "store"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def handle(store: Store) -> str:
    """Return the artifact that most tests read."""
    return store.put(TEXT, name="text")


def walked(store: Store, handle: str, allowance: Allowance, **first: int) -> list[Window]:
    """Return all pages, beginning with the given call."""
    pages: list[Window] = []
    arguments: dict[str, object] | None = {"handle": handle, **first}
    while arguments is not None:
        answer = paging.page(store, allowance=allowance, **arguments)  # type: ignore[arg-type]
        assert allowance.holds(answer.text)
        assert isinstance(answer.value, Window)
        pages.append(answer.value)
        arguments = None if answer.value.next is None else dict(answer.value.next.arguments)
        assert len(pages) < 3_000
    return pages


def tiled(store: Store, handle: str, pages: list[Window]) -> bytes:
    """Return what the pages show, byte for byte, after checking that each begins where the one before ended."""
    at, parts = pages[0].start_byte, []
    for page in pages:
        assert page.start_byte == at
        assert page.end_byte > at or page.total_bytes == at
        parts.append(store.read(handle, page.start_byte, page.end_byte - page.start_byte))
        at = page.end_byte
    return b"".join(parts)


@pytest.mark.proves("G-3", "LAW-Guarded")
@given(
    st.one_of(
        st.binary(max_size=2_000),
        st.text(max_size=600).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.lists(st.sampled_from([b"\n", b"abc\n", b"\xc3\xbc" * 90, b"x" * 300, b'[1, {"a": 2}, "'])).map(b"".join),
    ),
    st.sampled_from([Allowance.chars(400), Allowance.bytes(700), Allowance.tokens(250, Tokens(model="o200k"))]),
    st.sampled_from([{}, {"max_bytes": 1}, {"max_bytes": 77}, {"offset": 0}, {"offset": 0, "limit": 3}]),
)
def test_pages_tile_any_artifact(store: Store, content: bytes, allowance: Allowance, first: dict[str, int]) -> None:
    """The next calls from the start visit every byte once, in any unit, by bytes, lines or records."""
    handle = store.put(content)
    pages = walked(store, handle, allowance, **first)
    assert tiled(store, handle, pages) == content


@pytest.mark.proves("G-3", "G-5")
def test_a_page_says_what_it_shows_of_what(store: Store, handle: str) -> None:
    """The first line has exact lines, bytes, totals and the next call."""
    text = paging.page(store, handle, offset=100, limit=2).text
    head, one, two = text.splitlines()
    start = sum(map(len, LINES[:100]))
    assert head == (
        f"{handle}: showing lines 101-102 of 20000 total | bytes {start}-{start + len(LINES[100] + LINES[101])} of {len(TEXT)}"
        f' | next: page(handle="{handle}", offset=102, limit=2)'
    )
    assert (one, two) == (LINES[100].decode().strip(), LINES[101].decode().strip())


@pytest.mark.proves("G-3")
def test_a_page_by_bytes_begins_where_it_was_asked(store: Store, handle: str) -> None:
    """The start is exact; from the start of a line the end is rounded up to a line end."""
    page = paging.cut(store, handle, start_byte=3, max_bytes=10)
    assert (page.start_byte, page.text, page.first_line) == (3, "a line of ", 1)
    page = paging.cut(store, handle, start_byte=len(LINES[0]), max_bytes=10)
    assert (page.text, page.first_line, page.last_line) == (LINES[1].decode(), 2, 2)


@pytest.mark.proves("G-3")
def test_behind_the_end_the_last_page_is_named(store: Store, handle: str) -> None:
    """Past the end there is an empty page with the way back."""
    text = paging.page(store, handle, offset=50_000).text
    assert "20000 lines; the last page:" in text
    assert "offset=19900" in text
    assert f"end of file at {len(TEXT)}" in paging.page(store, handle, start_byte=10**12).text
    assert "end of file at 0" in paging.page(store, store.put(b""), offset=5).text


@pytest.mark.proves("G-5")
@given(st.sampled_from("é€𐍈"), st.integers(0, 4))
@settings(max_examples=15, deadline=None)
def test_a_record_beyond_the_cap_is_cut_between_characters(store: Store, character: str, before: int) -> None:
    """Wherever its characters are, each page is text within the cap, and the pages tile the record."""
    raw = json.dumps(["x" * before + character * 300_000], ensure_ascii=False).encode()
    handle = store.put(raw)
    page = paging.cut(store, handle, offset=0, limit=1)
    pages = [page]
    while page.next is not None:
        arguments = {key: value for key, value in page.next.arguments.items() if key != "handle"}
        page = paging.cut(store, handle, **arguments)  # type: ignore[arg-type]
        pages.append(page)
    assert pages[0].bound == "hard cap"
    assert HARD_MAX_BYTES - 4 < pages[0].end_byte <= HARD_MAX_BYTES
    assert [page.invalid_bytes for page in pages] == [0] * len(pages)
    assert tiled(store, handle, pages) == raw


@pytest.mark.proves("G-5")
@pytest.mark.parametrize("kind", ["list", "object"])
def test_json_on_one_line_is_paged_by_record(store: Store, kind: str) -> None:
    """Offset and limit count elements of the outermost level, across pieces of the store."""
    records = [{"n": n, "text": 'a "quoted", [nested] {thing}\\', "more": [n, [n]]} for n in range(9_000)]
    value: object = records if kind == "list" else {f"k{n}": record for n, record in enumerate(records)}
    raw = json.dumps(value).encode()
    assert len(raw) > 2 * PIECE_BYTES
    handle = store.put(raw)
    page = paging.cut(store, handle, offset=4_000, limit=3)
    shown = json.loads(
        ("[" if kind == "list" else "{") + page.text.strip().rstrip(",") + ("]" if kind == "list" else "}")
    )
    assert list(shown if kind == "list" else shown.values()) == records[4_000:4_003]
    assert page.notices == ("records 4001-4003 of 9000 total",)
    assert tiled(store, handle, walked(store, handle, Allowance.chars(9_000), offset=0, limit=100)) == raw
    last = paging.cut(store, handle, offset=8_999)
    assert last.next is None
    assert last.text.endswith("]" if kind == "list" else "}")


@pytest.mark.proves("G-3")
def test_matches_are_found_with_their_places(store: Store, handle: str) -> None:
    """The result has line and byte of each match, the total, and the call that reads around the first."""
    answer = finding.find(store, handle, "^1999[5-9]:")
    head, *rows = answer.text.splitlines()
    start = sum(map(len, LINES[:19_995]))
    assert head.startswith(f"{handle}: 5 matching lines | searched {len(TEXT)} of {len(TEXT)} bytes")
    assert f'page(handle="{handle}", start_byte={start})' in head
    assert rows[0] == f"19996|{start}|19995: a line of an artifact, ümläut"
    assert len(rows) == 5
    assert finding.find(store, handle, "no such text").outcome == "nothing"
    assert (
        r"0 matching lines | \| is a plain bar: (a|b) has alternatives | "
        in finding.find(store, handle, r"no\|such").text
    )


@pytest.mark.proves("G-3")
def test_matches_are_bounded_and_counted(store: Store, handle: str) -> None:
    """Matches beyond the limit are counted exactly."""
    for allowance in (Allowance.chars(800), Allowance.tokens(300, Tokens(model="o200k"))):
        answer = finding.find(store, handle, "artifact", 500, allowance=allowance)
        assert allowance.holds(answer.text)
        assert "20000 matching lines | showing the first" in answer.text
    for limit in (0, 501, True, "5"):
        with pytest.raises(ToolError, match=rf"limit.* not {limit!r}") as refused:
            finding.scan(store, handle, "x", limit)  # type: ignore[arg-type]
        (way,) = refused.value.calls
        assert (way.tool, way.arguments) == ("find", {"handle": handle, "pattern": "x"})
    for pattern in ("", "(", r"(a)\1", "x" * 2_000):
        with pytest.raises(ToolError):
            finding.scan(store, handle, pattern)


@pytest.mark.proves("G-3")
def test_matches_agree_with_a_plain_search(store: Store) -> None:
    """They agree across blocks and in lines of any length, with each matching line counted once."""
    lines = [b"x" * (n * 37 % 5_000) + (b"needle" if n % 7 == 0 else b"") + b"y" * (n % 50) for n in range(2_000)]
    handle = store.put(b"\n".join(lines))
    found = finding.scan(store, handle, "needle", 500)
    assert [match.line for match in found.matches] == [n + 1 for n in range(2_000) if n % 7 == 0]
    assert found.complete
    for match in found.matches:
        assert "needle" in match.text
        assert len(match.text) <= 410


def test_one_very_long_line_is_searched_and_counts_once(store: Store) -> None:
    """A line of 20 MB arrives in parts; its matches are one matching line."""
    handle = store.put(b"a" * 9_000_000 + b"needle" + b"b" * 9_000_000 + b"needle" + b"c" * 2_000_000 + b"\nneedle\n")
    found = finding.scan(store, handle, "needle")
    assert (found.total, [match.line for match in found.matches]) == (2, [1, 2])


@pytest.mark.proves("G-8")
def test_pages_and_matches_are_never_kept_again(store: Store, handle: str) -> None:
    """A result of the pager passes the guard unchanged."""
    before = store.size().artifacts
    page = paging.page(store, handle, max_bytes=200_000).text
    assert len(page) > 100_000
    assert guard_output(page, "page", store=store) is page
    assert isinstance(finding.find(store, handle, "a", 500).text, fitting.Guarded)
    assert store.size().artifacts == before


@pytest.mark.proves("G-6")
def test_what_is_paged_can_only_be_read(store: Store) -> None:
    """Escapes stay inert on the way back, and cannot forge a header, which is the first line."""
    handle = store.put(b"\x1b[2J\x00\xff\nOther: showing lines 1-1 of 1 total\n")
    text = paging.page(store, handle).text
    assert "\x1b" not in text
    assert r"\x1b[2J\x00\xff" in text
    assert text.startswith(f"{handle}: showing")
    assert "\x1b" not in finding.find(store, handle, ".").text


def test_wrong_numbers_are_named(store: Store, handle: str) -> None:
    """The error tells the model what is accepted."""
    for wrong in ({"start_byte": -1}, {"limit": 0}, {"offset": True}, {"max_bytes": "5"}):
        with pytest.raises(ToolError) as caught:
            paging.page(store, handle, **wrong)
        assert caught.value.code == "bad_argument"
    said = paging.page(store, handle, start_byte=5, offset=1, limit=1).text
    assert "start_byte ignored" in said


def test_damage_is_an_error_of_the_tool(tmp_path: Path) -> None:
    """A code tells the model that the artifact cannot be read."""
    store = open_store(str(tmp_path / "store"))
    handle = store.put(TEXT)
    next((tmp_path / "store" / "contents").iterdir()).write_bytes(b"other")
    for arguments in ({}, {"offset": 5}, {"start_byte": 9}):
        with pytest.raises(ToolError, match="cannot be read") as caught:
            paging.page(store, handle, **arguments)  # type: ignore[arg-type]
        assert caught.value.code == "io_error"
    for pattern in ("x", "^line"):
        with pytest.raises(ToolError, match="cannot be read") as caught:
            finding.find(store, handle, pattern)
        assert caught.value.code == "io_error"
    store.close()
