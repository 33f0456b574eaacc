"""Which store do the tools `page` and `find` ask, what do they refuse, and do their results stay as they are?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import printed

from penstock import Allowance, CallerError, Tools, guard_output, wrap_tool
from penstock.errors import CODES
from penstock.guard import output
from penstock.store import StoreFault, finding, open_store
from penstock.text import escape
from penstock.text.calls import PYTHON, CommandLine, Dialect, mcp
from penstock.text.tokens import Tokens
from penstock.tools import MIN_ALLOWANCE, TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.store import Store

LINES = [f"{n}: a line of a kept output, ümläut\n".encode() for n in range(5_000)]
CONTENTS = (
    b"".join(LINES),
    b"x" * 70_000,
    b'[{"a": 1}, ' * 900,
    b"\x1b[2J\x00\xff\n" * 200,
    b"",
    b"\xff\xfea\x00\n\x00",
)
DIALECTS: list[Dialect] = [PYTHON, mcp(), CommandLine()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Provide one store for all tests here, which only add to it."""
    opened = open_store(str(tmp_path_factory.mktemp("kept") / "store"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def handles(store: Store) -> list[str]:
    """Return an artifact of each kind."""
    return [store.put(content) for content in CONTENTS]


@pytest.mark.proves("G-3")
def test_what_was_cut_is_paged_back_whole(store: Store, tmp_path: Path) -> None:
    """Following the notice's call, and then the next call of every page, gives all bytes in order, within each allowance."""
    text = b"".join(LINES).decode()
    notice = guard_output(text, "job", store=store)
    tools = Tools(tmp_path, store=store, allowance=Allowance.chars(9_000))
    call = printed.parse(notice[notice.index("page(") :])
    shown, pages = "", 0
    while True:
        result = tools.call(call.tool, call.arguments)
        assert not result.is_error
        assert len(result.text) <= 9_000
        shown, pages = shown + printed.body(result.text), pages + 1
        following = printed.call_in(result.text.partition("\n")[0], "next: ")
        if following is None:
            break
        call = following
    assert shown == text
    assert tools.counters().reads == pages


@pytest.mark.proves("G-3")
def test_matches_lead_to_their_pages(store: Store, handles: list[str], tmp_path: Path) -> None:
    """Each match has its line and byte; the printed call shows the first."""
    tools = Tools(tmp_path, store=store)
    head, row = tools.find(handles[0], "^4321:").splitlines()
    assert row == f"4322|{sum(map(len, LINES[:4321]))}|{LINES[4321].decode().strip()}"
    call = printed.call_in(head, "to read around a match: ")
    assert call is not None
    assert printed.body(printed.follow(tools, call)).startswith(LINES[4321].decode())
    assert tools.call("find", {"handle": handles[0], "pattern": "nothing like it"}).outcome == "nothing"


@pytest.mark.proves("G-3", "G-8")
def test_a_page_is_never_cut_or_kept_again(store: Store, handles: list[str], tmp_path: Path) -> None:
    """The guard passes results of both tools unchanged, whoever calls them."""
    tools, before = Tools(tmp_path, store=store), store.size()
    page = tools.page(handles[0], max_bytes=100_000)
    assert len(page) > output.MAX_TOOL_OUTPUT_CHARS
    assert guard_output(page, "page", store=store) is page
    assert wrap_tool(tools.page, store=store)(handles[0], max_bytes=100_000) == page
    find = wrap_tool(tools.find, store=store, limits=output.CHILD_AGENT)
    assert len(find(handles[0], "line", 500)) > 20_000
    assert store.size() == before


@pytest.mark.proves("G-3", "L-9")
@pytest.mark.parametrize("tool", ["page", "find"])
def test_a_handle_that_leads_nowhere_is_refused_by_what_it_is(store: Store, tmp_path: Path, tool: str) -> None:
    """A missing name, an invalid handle and an expired one are told apart; little is echoed."""
    tools = Tools(tmp_path, store=store)
    gone = store.put(b"short-lived", life_seconds=1e-9)
    said = {
        "a" * 22: ("not_found", "There is no artifact"),
        "x" * 100_000: ("not_found", "There is no artifact"),
        gone: ("expired", "cannot be read again"),
        **dict.fromkeys(
            ["", " ", f"{gone} ", f'page("{gone}")', "../x", "\x00", "\ud800x", "ümlaut", "\x1b[2J" * 999],
            ("not_found", "is not a handle"),
        ),
    }
    for handle, (code, words) in said.items():
        result = tools.call(tool, {"handle": handle} if tool == "page" else {"handle": handle, "pattern": "."})
        assert (result.is_error, result.code) == (True, code), handle
        assert words in result.text
        assert len(result.text) < 400
        assert escape.show(result.text)[0] == result.text


@pytest.mark.proves("G-3")
def test_a_store_is_opened_by_the_first_call_that_needs_it(store: Store, handles: list[str], tmp_path: Path) -> None:
    """Reading files opens no store; a page does."""
    asked = []

    def opener() -> Store:
        asked.append(1)
        return store

    (tmp_path / "a.txt").write_text("text\n")
    tools = Tools(tmp_path, store=opener)
    tools.view("a.txt")
    tools.list_files()
    assert asked == []
    assert "showing lines 1-1 of 5000 total" in tools.page(handles[0], limit=1)
    assert asked == [1]


@pytest.mark.proves("G-3")
def test_without_a_store_the_users_own_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`Tools` reads what `guard_output` kept, with no store named to either; reading files creates no store."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "own"))
    (tmp_path / "a.txt").write_text("text\n")
    Tools(tmp_path).view("a.txt")
    assert not (tmp_path / "own").exists()
    handle = guard_output("line\n" * 10_000).handle
    assert handle is not None
    assert "of 10000 total" in Tools(tmp_path).page(handle, limit=1)


@pytest.mark.parametrize(
    "fault",
    [
        StoreFault("read_only", "It may not be written."),
        StoreFault("busy", "It is busy."),
        CallerError("It is shared."),
        OSError(5, "It broke."),
    ],
)
def test_a_store_that_cannot_be_opened_leaves_the_other_tools_as_they_are(tmp_path: Path, fault: Exception) -> None:
    """Both tools say what is wrong, at every call; files can still be read."""

    def opener() -> Store:
        raise fault

    (tmp_path / "a.txt").write_text("text\n")
    tools = Tools(tmp_path, store=opener)
    calls: list[Callable[[], str]] = [lambda: tools.page("a" * 22), lambda: tools.find("a" * 22, "x")]
    for call in calls * 2:
        assert "The artifact cannot be read: " in call()
        assert "It " in call()
        assert ("Call again later." in call()) == (getattr(fault, "code", "") == "busy")
    assert tools.call("page", {"handle": "a" * 22}).code == "io_error"
    assert "1|text" in tools.view("a.txt")


def test_the_table_has_the_bounds_of_the_pager() -> None:
    """The bounds given to a model are those that apply."""
    limit = next(tool for tool in TOOLS if tool.name == "find").parameter("limit")
    assert limit is not None
    assert (limit.default, limit.maximum) == (finding.DEFAULT_MATCHES, finding.MAX_MATCHES)


NUMBERS = st.one_of(st.none(), st.integers(0, 80_000), st.sampled_from([2**63 - 1, 2**63, -1]))


@pytest.mark.proves("G-3", "LAW-Allowance")
@given(
    number=st.integers(0, len(CONTENTS) - 1),
    wrong=st.one_of(st.none(), st.none(), st.none(), st.text(max_size=40)),
    ranges=st.dictionaries(st.sampled_from(["start_byte", "max_bytes", "offset", "limit"]), NUMBERS),
    pattern=st.one_of(st.sampled_from(["line", ".", r"\d+", "^$", "("]), st.text(max_size=20)),
    limit=st.integers(MIN_ALLOWANCE, 5_000),
    unit=st.sampled_from([Allowance.chars, Allowance.bytes, lambda n: Allowance.tokens(n, Tokens())]),
    dialect=st.sampled_from(DIALECTS),
)
def test_any_call_is_an_answer_or_a_named_error_within_its_allowance(
    store: Store,
    handles: list[str],
    tmp_path_factory: pytest.TempPathFactory,
    number: int,
    wrong: str | None,
    ranges: dict[str, int | None],
    pattern: str,
    limit: int,
    unit: Callable[[int], Allowance],
    dialect: Dialect,
) -> None:
    """For any handle, range, pattern, unit and face, every character of the result is inert."""
    tools = Tools(tmp_path_factory.getbasetemp(), store=store, allowance=unit(limit), dialect=dialect)
    handle = handles[number] if wrong is None else wrong
    finding = {"handle": handle, "pattern": pattern}
    for result in (tools.call("page", {"handle": handle, **ranges}), tools.call("find", finding)):
        assert unit(limit).holds(result.text)
        assert result.text
        assert result.is_error == (result.code in CODES)
        assert escape.show(result.text)[0] == result.text
        result.text.encode("utf-8")
