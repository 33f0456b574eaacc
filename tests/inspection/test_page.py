"""Are a story page's totals the sums that it shows, is nothing in it active, and is each bucket's fullest turn drawn?"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.inspection import drawing, words
from penstock.inspection.page import OverviewRow, overview_page, row_of, story_page
from penstock.inspection.story import (
    KINDS,
    CompactedAway,
    FillTurn,
    Item,
    Money,
    RefusedTurn,
    RepeatedError,
    Reread,
    Story,
    Subject,
    UnusedTool,
    Waste,
)
from penstock.inspection.tables import MAX_ROWS, tokens_again, tokens_gone
from penstock.inspection.telling import tell
from tests.inspection.reading import Node, cells, figure, island, listings, read, tags
from tests.inspection.sample import sample
from tests.inspection.strategies import HOSTILE, sessions
from tests.wires.strategies import WIRES

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.proves("X-2")

SUBJECT = Subject(
    "claude", "6f1c2b7e", "/home/ada/millwater", "/s/6f1c2b7e.jsonl", "2026-11-19T10:41:07Z", "2.1.330", 2_500_000
)


def turn(number: int, refused: bool = False, /, **by_kind: int) -> FillTurn:
    """Return a turn of these kinds, with underscores for spaces."""
    kinds = {kind.replace("_", " "): tokens for kind, tokens in by_kind.items()}
    tokens = sum(kinds.values())
    return FillTurn(number=number, tokens=tokens, by_kind=kinds, counted_tokens=tokens, is_refused=refused)


def eventful(name: str = "Read", what: str = "src/a.py") -> Story:
    """Return a story with all that a page can show, more rows than a table has room for, and a word in every possible place."""
    turns = [turn(at, instructions=900, results=at * 1_000, assistant=at * 7) for at in range(1, 40)]
    turns.append(turn(40, True, instructions=900, results=210_000, assistant=280))
    items = tuple(
        Item(KINDS[at % len(KINDS)], name, f"{what}{at}", 5_000 - at, 1 + at % 40, 1 + at % 7) for at in range(30)
    )
    cuts = tuple(
        CompactedAway(
            at,
            9_000 + at,
            1_000,
            {"results": 7_000 + at, "calls": 40},
            (Reread(name, what, 1, 100 + at),) * (at % 3),
            at % 2 == 0,
        )
        for at in range(30)
    )
    return Story(
        turns=tuple(turns),
        window_tokens=200_000,
        window_source=what,
        items=items,
        waste=Waste(
            floods=items[:20],
            rereads=tuple(Reread(name, what, 2 + at, 50 * at) for at in range(20)),
            repeated_errors=(RepeatedError(name, what, 3),) * 15,
            unused_tools=tuple(UnusedTool(f"{name}{at}", 300 + at) for at in range(20)),
            unsent_bytes={f"{what}{at}": 1_000 * at for at in range(20)},
        ),
        compactions=(*cuts, CompactedAway(39, 9_000, 1_000, {"results": 11}, is_handoff=True)),
        refusals=(RefusedTurn(40, what, "context_input", 200_000, 211_180),),
        money=Money(1.236, 4.5, 39, "2026-11-01"),
        torn=3,
        unknown={what: 2},
        model=name,
    )


def tiles(page: Node) -> dict[str, str]:
    """Return the six figures by their labels."""
    made = {}
    for one in page.all("ul", class_="tiles")[0].all("li"):
        made[one.all("span")[0].text] = one.all("strong")[0].text
    return made


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_totals_are_the_sums_of_what_is_shown() -> None:
    """They are read from the page alone: tiles, the bill, and each table's sums, which include rows that are not shown."""
    story = eventful()
    page = read(story_page(SUBJECT, story))
    seen = tiles(page)
    assert seen == {
        "Turns": "40",
        "Fullest": "211,180",
        "Newest": "211,180",
        "Refusals": "1",
        "Compactions": "30",
        "Money": "about $1.24",
    }
    bill = [figure(one.all("b")[0].text) for one in page.all("ul", id="kinds")[0].all("li")]
    assert sum(bill) == figure(seen["Newest"])
    assert f" {seen['Newest']} tokens" in page.all("p", id="told")[0].text
    for heading, rows, total in listings(page):
        assert total is not None, heading
        assert len(rows) == MAX_ROWS + 1, heading
        if heading.startswith("In the file"):  # in units of bytes
            assert [cells(row)[2] for row in rows][-1] == words.size(sum(1_000 * at for at in range(20 - MAX_ROWS)))
            assert cells(total)[2] == words.size(sum(1_000 * at for at in range(20)))
            continue
        sums = cells(total)
        # Everything with a sum adds up, except sizes of one thing at two moments, which have none.
        columns = [at for at, cell in enumerate(sums) if at and cell]
        assert columns, heading
        for at in columns:
            assert sum(figure(cells(row)[at]) for row in rows) == figure(sums[at]), (heading, at)
    lead = page.all("section")[-1].all("p")[0].text
    gone, again = sum(map(tokens_gone, story.compactions)), sum(map(tokens_again, story.compactions))
    assert lead == f"{gone:,} tokens went in 31 cuts; {again:,} were asked for again."
    assert f"and 1 handoff, {gone:,} tokens removed" in page.all("ul", class_="tiles")[0].text


def test_what_is_not_known_is_unknown_and_never_a_zero() -> None:
    """Words say that there is no price, window or turn; a price that rounds to nothing is "under $0.01", not zero."""
    page = read(story_page(Subject("codex", ""), Story()))
    assert tiles(page) == {
        "Turns": "0",
        "Fullest": "unknown",
        "Newest": "unknown",
        "Refusals": "0",
        "Compactions": "0",
        "Money": "unknown",
    }
    assert "No request is recorded." in page.text
    assert page.all("svg") == []
    (whole,) = page.all("dl", class_="facts")
    assert whole.text == "Program codex Window unknown"
    assert words.price(Money(0.0, 0.0, 0, "2026-11-01")) == "unknown"
    assert words.price(Money(0.0, 0.0, 1, "2026-11-01")) == "under $0.01"
    assert words.price(Money(1_234.5, 0.0, 1, "2026-11-01")) == "about $1,234.50"
    no_window = read(story_page(SUBJECT, replace(eventful(), window_tokens=None)))
    assert "%" not in no_window.all("p", id="told")[0].text
    assert no_window.all("line", class_="window") == []


def test_money_is_dated_and_says_what_of_it_is_priced() -> None:
    """The date of the prices, the savings of a cache, and the number of priced turns are given."""
    page = read(story_page(SUBJECT, eventful()))
    (money,) = [one for one in page.all("li") if one.text.startswith("Money")]
    assert money.all("small")[0].text == "as of 2026-11-01; $4.50 without a cache"
    assert "Money is what list prices come to for 39 of 40 turns, never a bill." in page.all("footer")[0].text


def test_the_window_is_a_dashed_line_at_its_height() -> None:
    """Its distance from the top matches its tokens, and it is above the turns that fit."""
    story = eventful()
    page = read(story_page(SUBJECT, story))
    (line,) = page.all("line", class_="window")
    top = 211_180 + 211_180 // 20
    assert line.attributes["y1"] == line.attributes["y2"] == f"{100 - 100 * 200_000 / top:.2f}%"
    assert page.all("text", class_="window")[0].text == "window 200,000"


def test_a_lane_that_has_nothing_is_left_out() -> None:
    """There are three lanes with something in them, and none without."""
    names = ["cuts", "refused", "handoffs"]
    assert [one.text for one in read(story_page(SUBJECT, eventful())).all("span", class_="lane")] == names
    plain = replace(eventful(), compactions=(), refusals=())
    assert read(story_page(SUBJECT, plain)).all("span", class_="lane") == []


# ── the drawing ──────────────────────────────────────────────────────────────────────────────────────────────────


def steps_of(path: str) -> list[int]:
    """Return the heights of the columns of an area."""
    return [drawing.HEIGHT - int(level) for level, run in re.findall(r"V(\d+)h(\d+)", path) for _ in range(int(run))]


@given(st.lists(st.integers(0, 300_000), min_size=1, max_size=60), st.integers(1, 70))
def test_of_each_bucket_the_fullest_turn_is_drawn(sizes: list[int], most: int) -> None:
    """However many turns share a column, the drawing reaches the highest, and each turn is in one bucket."""
    turns = [turn(number, results=size) for number, size in enumerate(sizes, 1)]
    parts = drawing.buckets(len(turns), most)
    assert [at for part in parts for at in part] == list(range(len(turns)))
    assert len(parts) == min(len(turns), most)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    columns = drawing.fullest(turns, most)
    assert [one.tokens for one in columns] == [max(sizes[at] for at in part) for part in parts]
    top = max(sizes) or 1
    for band in drawing.bands(columns, top):
        assert max(steps_of(band.path)) == drawing.HEIGHT
        assert steps_of(band.path) == [drawing.HEIGHT * one.tokens // top for one in columns]


by_kinds = st.dictionaries(st.sampled_from(KINDS), st.integers(1, 10**7), max_size=len(KINDS))


@given(st.lists(by_kinds, min_size=1, max_size=30))
def test_areas_are_drawn_from_the_highest_down(all_kinds: list[Mapping[str, int]]) -> None:
    """Each area reaches as high as its kind and all below it, and the lower ones are drawn over it."""
    turns = [turn(at, **kinds) for at, kinds in enumerate(all_kinds, 1)]
    top = max(1, *(one.tokens for one in turns))
    made = drawing.bands(turns, top)
    assert [band.slot for band in made] == sorted((band.slot for band in made), reverse=True)
    for band in made:
        heights = [sum(one.by_kind.get(kind, 0) for kind in KINDS[: band.slot + 1]) for one in turns]
        assert steps_of(band.path) == [drawing.HEIGHT * height // top for height in heights]


@given(by_kinds)
def test_the_pieces_of_a_bar_are_the_whole_bar(kinds: Mapping[str, int]) -> None:
    """They follow one another without a gap, and each is within one unit of its share."""
    there = [kind for kind in KINDS if kind in kinds]
    pieces = drawing.slices(kinds, there)
    assert [piece.kind for piece in pieces] == there
    assert [piece.x for piece in pieces] == [0, *accumulate(piece.width for piece in pieces)][: len(pieces)]
    if kinds:
        assert sum(piece.width for piece in pieces) == drawing.HEIGHT
    for piece in pieces:
        assert abs(piece.width - drawing.HEIGHT * piece.tokens / sum(kinds.values())) <= 1


@given(st.lists(st.integers(0, 6_000), max_size=300), st.integers(1, 6_000))
def test_a_lane_shows_all_that_happened(at_turns: list[int], turns: int) -> None:
    """Each event has a mark in the bin of its turn, in at most 240 bins, the highest where most happened."""
    marks = re.findall(r"M(\d+) 1000v-(\d+)h1v(\d+)z", drawing.lane(at_turns, turns))
    width = drawing.bins(turns)
    assert width == min(turns, 240)
    there = [(min(max(at, 1), turns) - 1) * width // turns for at in at_turns]
    assert [int(place) for place, _, _ in marks] == sorted(set(there))
    heights = {int(place): int(height) for place, height, _ in marks}
    assert all(0 < height <= drawing.HEIGHT for height in heights.values())
    for place, height in heights.items():
        assert (height == drawing.HEIGHT) == (there.count(place) == max(map(there.count, there)))


@given(st.integers(1, 10**9))
def test_the_grid_lines_of_a_drawing_are_round_and_few(top: int) -> None:
    """None is at the top or above, none at the bottom, and they are not crowded."""
    made = drawing.rules(top)
    assert len(made) <= 8
    assert all(0 < at < top for at in made)
    if top >= 20:
        assert len(made) >= 2
        assert re.fullmatch(r"[125]0*", str(made[0]))


# ── nothing acts ─────────────────────────────────────────────────────────────────────────────────────────────────


def hashes(policy: str, kind: str) -> list[str]:
    """Return what a policy allows to be active."""
    (sources,) = re.findall(rf"{kind}-src ([^;]*)", policy)
    return str(sources).split()


@pytest.mark.parametrize("text", [story_page(SUBJECT, eventful()), overview_page([row_of(SUBJECT, eventful())])])
def test_only_the_pages_own_style_and_script_act(text: str) -> None:
    """The policy names both by their hashes and nothing else; no attribute styles or runs, and no address is requested."""
    page = read(text)
    (policy,) = [one.attributes["content"] for one in page.all("meta") if "http-equiv" in one.attributes]
    assert policy.startswith("default-src 'none'; ")
    scripts = [one for one in page.all("script") if "type" not in one.attributes]
    for kind, found in (("style", page.all("style")), ("script", scripts)):
        if kind == "script" and not scripts:
            assert "script-src" not in policy
            continue
        (one,) = found
        digest = hashlib.sha256("".join(map(str, one.children)).encode()).digest()
        assert hashes(policy, kind) == [f"'sha256-{base64.b64encode(digest).decode()}'"]
    for tag, attributes in tags(page):
        assert tag not in {"link", "img", "iframe", "object", "base", "form", "a"}
        assert not [name for name in attributes if name == "style" or name.startswith("on") or name in {"src", "href"}]
    assert re.findall(r"https?:|//\w|url\(|@import", text) == []


@pytest.mark.parametrize("word", [*HOSTILE, "A" * 1_000_000, "\u202e" * 1_000_000])
def test_hostile_words_stay_words(word: str) -> None:
    """In any place, the page has the same elements as with a plain word, no active character, and a bounded length."""
    subject = Subject(word, word, word, word, word, word)
    made = [
        (story_page(subject, eventful(word, word)), story_page(SUBJECT, eventful())),
        (
            overview_page([row_of(subject, eventful(word, word))._replace(state=word)]),
            overview_page([row_of(SUBJECT, eventful())._replace(state="stuck")]),
        ),
    ]
    for hostile, plain in made:
        assert tags(read(hostile)) == tags(read(plain))
        assert len(hostile) < 300_000
        assert set(hostile) & set("\x00\x1b\x07\x9b\u202e\u202c\ud800\udfff\u2028\u200b\U000e0041") == set()
        hostile.encode()


def test_what_looks_like_a_secret_is_not_on_a_page() -> None:
    """Pages are passed on to others."""
    key = "sk-ant-api03-" + "a1B2" * 20
    made = story_page(SUBJECT, eventful(what=f"curl -H 'x-api-key: {key}'"))
    assert key[:30] not in made


@pytest.mark.parametrize("wire", WIRES)
@given(st.data())
def test_any_session_makes_a_page(wire: str, data: st.DataObject) -> None:
    """Any happenings give complete elements, the figures of the newest turn, and data from which the script gets each turn back."""
    story = tell(data.draw(sessions(wire)), wire)
    text = data.draw(st.sampled_from(HOSTILE))
    page = read(story_page(Subject(text, text), story))
    assert figure(tiles(page)["Turns"]) == len(story.turns)
    if story.turns:
        assert (
            sum(figure(one.all("b")[0].text) for one in page.all("ul", id="kinds")[0].all("li"))
            == story.turns[-1].tokens
        )
        assert turns_in(island(page), len(story.turns)) == [(dict(one.by_kind), one.is_refused) for one in story.turns]
    read(overview_page([row_of(Subject(text, text), story)]))


def turns_in(data: list[Any], count: int) -> list[tuple[dict[str, int], bool]]:
    """Return the turns as the script has them."""
    slots, steps, refused, *_ = data
    figures = [list(accumulate(row)) for row in steps]
    return [
        ({KINDS[slot]: row[at] for slot, row in zip(slots, figures, strict=True) if row[at]}, at + 1 in refused)
        for at in range(count)
    ]


def test_the_script_is_given_numbers_alone() -> None:
    """There is no word of a session, and nothing that could end its element or that escaping changes."""
    text = story_page(SUBJECT, eventful("</script><script>alert(1)"))
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text)
    assert re.fullmatch(r"[\d,\[\]-]+", data)


def test_5000_turns_are_small() -> None:
    """They take less than 700 KB, with eleven kinds whose sizes differ at every turn."""
    random = Random(5)
    turns = tuple(turn(at, **{kind: random.randint(1_000, 17_000) for kind in KINDS}) for at in range(1, 5_001))
    text = story_page(SUBJECT, replace(eventful(), turns=turns))
    assert len(text.encode()) < 700_000


# ── the overview ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_overview_has_a_row_and_a_drawing_for_each_session() -> None:
    """One without a request has no drawing; sums are those of the rows; refusals are marked."""
    rows = [row_of(SUBJECT, eventful()), OverviewRow(Subject("codex", "x"), None, None, "")]
    page = read(overview_page(rows))
    ((_, shown, total),) = listings(page)
    assert [cells(row)[2:] for row in shown] == [
        ["211,180 106 %", "40", "31", "1", "stuck"],
        ["unknown", "0", "0", "0", ""],
    ]
    assert total is not None
    assert cells(total)[3:6] == ["40", "31", "1"]
    assert [len(row.all("svg", class_="spark")) for row in shown] == [1, 0]
    assert [len(row.all("td", class_="bad")) for row in shown] == [1, 0]
    nothing_counted = Story(turns=(turn(1),))
    assert row_of(SUBJECT, nothing_counted).tokens is None  # a request without a known figure, not a zero
    marks = shown[0].all("path", class_="refusal")[0].attributes["d"]
    assert marks == drawing.lane([40], 40)
    assert "There are no sessions." in read(overview_page([])).text


def test_the_sample_is_a_session_as_the_host_writes_it(tmp_path: Any) -> None:
    """The host's reader understands all of it, and it has what a page can show."""
    _, story = sample(tmp_path)
    assert story.unknown == {}
    assert all(one.is_measured for one in story.turns)
    assert len(story.compactions) >= 3
    assert story.state == "stuck"
    assert story.waste.floods
    assert story.waste.rereads
    assert story.waste.repeated_errors
    assert [tool.name for tool in story.waste.unused_tools]
