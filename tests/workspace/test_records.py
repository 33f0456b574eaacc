"""Is JSON on one line read by record: viewed, outlined and paged by bytes (G-5)?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import printed

from penstock import Tools, Workspace
from penstock.text.allowance import Allowance
from penstock.text.calls import Call
from penstock.text.json_records import JsonRecordScanner

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.text.window import Window

ORDERS = [{"id": n, "name": f"order {n}, [late]", "items": list(range(n % 9)), "note": "x" * 40} for n in range(3000)]
"""An answer of an API: records whose strings contain characters that separate records elsewhere."""


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Return tools over the same records on one line, and as the values of an object."""
    (tmp_path / "list.json").write_text(json.dumps(ORDERS))
    (tmp_path / "map.json").write_text(json.dumps({f"key {n}": order for n, order in enumerate(ORDERS)}) + "\n")
    return Tools(tmp_path, allowance=Allowance.chars(20_000))


def records_in(page: str) -> list[Any]:
    """Return the records that are whole on a page."""
    return list(json.loads(f"[{page.strip().strip('[],')}]"))


@pytest.mark.proves("G-5")
def test_a_view_skips_and_shows_records(tools: Tools) -> None:
    """There is only one line, so it shows records 101 to 110, their total, and the call for the next ten."""
    page = tools.view("list.json", offset=100, limit=10)
    assert records_in(printed.body(page)) == ORDERS[100:110]
    assert "showing lines 1-1 of 1 total" in page
    assert "| records 101-110 of 3000 total" in page
    head = printed.header(page)
    assert head.next == Call("view", {"file_path": "list.json", "offset": 110, "limit": 10, "version": head.version})
    assert records_in(printed.body(printed.follow(tools, head.next))) == ORDERS[110:120]
    past = tools.view("list.json", offset=5000)
    assert "records 0-0 of 3000 total" in past
    assert 'the last page: view(file_path="list.json", offset=2900)' in past


@pytest.mark.proves("G-5", "B-11")
def test_an_outline_numbers_records_and_a_view_shows_the_one_that_it_names(tools: Tools) -> None:
    """It names them by key, or by what comes first in them."""
    page = tools.outline("map.json", offset=7, limit=2)
    assert "json by record scanner" in page
    assert "show records A-B with view, offset=A-1" in page
    rows = printed.body(page).split("\n")
    assert [re.match(r'(\d+)-\d+ "key (\d+)": \{"id"', row).groups() for row in rows] == [("8", "7"), ("9", "8")]  # type: ignore[union-attr]
    assert '"key 7": {"id": 7' in tools.view("map.json", offset=7, limit=1)
    assert "entries 1-200 of 3000" in printed.follow(tools, Call("outline", {"path": "list.json"}))
    assert printed.body(tools.outline("list.json", limit=1)).startswith('1-1 [0] {"id": 0, "name"')


@pytest.mark.proves("G-5", "B-5")
def test_a_window_of_bytes_holds_whole_records(tools: Tools) -> None:
    """It extends from the start of the record in which it begins to the end of the one in which it ends."""
    page = tools.read_file("list.json", start_byte=5_000, max_bytes=300)
    head = printed.header(page)
    assert head.start_byte <= 5_000
    assert head.end_byte >= 5_300
    shown = records_in(printed.body(page))
    assert shown == ORDERS[shown[0]["id"] : shown[-1]["id"] + 1]
    assert len(shown) < 8
    assert head.next is not None
    assert records_in(printed.body(printed.follow(tools, head.next)))[0] == ORDERS[shown[-1]["id"] + 1]


@pytest.mark.proves("G-5")
@pytest.mark.parametrize(
    "text",
    [
        "[" + "x" * 9_000,  # one record
        "[1, 2]\n" + "[3, 4]\n" * 3_000,  # JSON Lines
        '{"a": 1, "b": 2}' + "\n" * 9_000,
        "plain text, " * 2_000,
        "[" + ",".join(["1"] * 2_000) + "]",  # shorter than what a view shows whole
    ],
    ids=("one record", "json lines", "many lines", "no json", "short"),
)
def test_whatever_else_is_read_by_lines(tmp_path: Path, text: str) -> None:
    """Other files have one record, several lines, or other text."""
    (tmp_path / "f.json").write_text(text)
    page = Workspace(tmp_path).view("f.json")
    assert not any("records" in notice for notice in page.notices)
    assert page.lines


@pytest.mark.proves("G-5")
def test_a_change_of_the_file_between_two_pages_is_reported(tools: Tools, tmp_path: Path) -> None:
    """The place of a record belongs to one version, as that of a line does."""
    head = printed.header(tools.view("list.json"))
    (tmp_path / "list.json").write_text(json.dumps([{"id": -1}, *ORDERS]))
    assert head.next is not None
    assert tools.call(head.next.tool, head.next.arguments).text.startswith("stale: list.json")


@pytest.mark.proves("B-8")
@pytest.mark.parametrize("added", ["\n", "\nmore\n", "\n" + "line\n" * 300])
def test_a_file_that_grew_by_lines_has_no_records_to_go_on_with(tools: Tools, tmp_path: Path, added: str) -> None:
    """Lines after records would skip all records between; a line end alone changes nothing."""
    head = printed.header(tools.view("list.json", limit=100))
    assert head.next is not None
    with (tmp_path / "list.json").open("a") as file:
        file.write(added)
    after = tools.call(head.next.tool, head.next.arguments).text
    if added == "\n":
        assert records_in(printed.body(after)) == ORDERS[100:200]
    else:
        assert after.startswith("stale: list.json has more than one line now")


def test_records_of_a_file_are_looked_for_once(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later page costs only its window: what was found is kept while the file is the same."""
    fed = 0
    real = JsonRecordScanner.feed

    def feed(self: JsonRecordScanner, part: str) -> list[int]:
        nonlocal fed
        fed += len(part)
        return real(self, part)

    monkeypatch.setattr(JsonRecordScanner, "feed", feed)
    for offset in (0, 1000, 2000):
        tools.view("list.json", offset=offset)
    assert fed == (tmp_path / "list.json").stat().st_size


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=40) | st.text(min_size=300, max_size=3_000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.proves("G-5", "LAW-Window")
@given(
    document=st.lists(VALUES, min_size=2, max_size=40) | st.dictionaries(st.text(max_size=8), VALUES, min_size=2),
    pad=st.integers(0, 12_000),
    ascii_only=st.booleans(),
    ends=st.sampled_from(["", "\n"]),
    limit=st.integers(1, 30),
    size=st.sampled_from([1, 100, 1_000, 9_000]),
    allowance=st.sampled_from([700, 2_000, 12_000]),
)
def test_pages_that_follow_each_other_are_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    document: Any,
    pad: int,
    ascii_only: bool,
    ends: str,
    limit: int,
    size: int,
    allowance: int,
) -> None:
    """This holds by records and by bytes, in any room; a page by bytes that holds a whole record ends after one."""
    folder = tmp_path_factory.getbasetemp() / "records"
    folder.mkdir(exist_ok=True)
    text = json.dumps(document, ensure_ascii=ascii_only)[:-1] + " " * pad + json.dumps(document)[-1] + ends
    data = text.encode("utf-8", "surrogatepass")
    (folder / "f.json").write_bytes(data)
    seen: list[Window] = []
    tools = Tools(folder, allowance=Allowance.bytes(allowance), shown=seen.append)
    # A page for each byte of a long document takes half a minute and shows nothing more.
    size = max(size, len(data) // 500)
    for first in (
        Call("view", {"file_path": "f.json", "limit": limit}),
        Call("read_file", {"path": "f.json", "start_byte": 0, "max_bytes": size}),
    ):
        seen.clear()
        call: Call | None = first
        while call is not None:
            call = printed.header(printed.follow(tools, call)).next
        clips = any(line.way is not None for page in seen for line in page.lines)
        assert clips or b"".join(data[page.start_byte : page.end_byte] for page in seen) == data
        assert [page.start_byte for page in seen[1:]] == [page.end_byte for page in seen[:-1]]


def test_the_places_of_eight_files_are_kept(tools: Tools, tmp_path: Path) -> None:
    """A reader of a thousand files does not keep the places of all of their records."""
    for n in range(20):
        (tmp_path / f"{n}.json").write_text(json.dumps(ORDERS[:100]))
        tools.view(f"{n}.json")
    assert len(tools.workspace.view.__self__._records._indexes._kept) == 8  # type: ignore[attr-defined]
