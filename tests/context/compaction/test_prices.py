"""Does what cannot be guessed stay named, is a rewrite repaid before the next, and does a plan give up only if it must?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.context.compaction.talks import did, lines, seen, step, told, viewed
from tests.growth import BOUND, growth

from penstock.context.compaction import DEFAULT, GROWN, RECOVERY, Clear, Spans, apply, plan
from penstock.context.compaction.names import MAX_NAMES_CHARS, names_in
from penstock.context.compaction.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Callable


def test_names_are_what_cannot_be_guessed() -> None:
    """Names are numbers of customers, flights and orders, dates and addresses; not words, counts, times or decimals."""
    text = "mia_li_3668 flies HAT078 on 2024-05-20 at 06:00:00 for 121.50, 12 seats; order #W2378156, mia.li3818@example.com."
    assert names_in([text], 200) == "mia_li_3668, HAT078, 2024-05-20, #W2378156, mia.li3818@example.com"


@pytest.mark.parametrize("max_chars", range(0, 80, 7))
def test_where_there_is_no_room_for_all_names_the_newest_stay(max_chars: int) -> None:
    """Each name is given once, at its newest place, and never takes more than the room asked for."""
    texts = [f"order_{number} and order_1" for number in range(9)]
    said = names_in(texts, max_chars)
    assert len(said) <= max_chars
    assert "order_1, order_8, order_1".endswith(said) or "order_8, order_1" in said


def test_names_are_bounded_however_much_was_said_and_none_is_half_of_one() -> None:
    """A table of numbers is not repeated in its own stub, and a long flood is not read back to its beginning."""
    table = "\n".join(f"order_{number:06d}, mia_li_{number:06d}" for number in range(20_000))
    said = names_in([table], 1 << 30)
    assert len(said) <= MAX_NAMES_CHARS
    assert said.endswith("order_019999, mia_li_019999")
    assert set(said.split(", ")) <= set(table.replace(", ", "\n").split("\n"))
    # The part that is searched begins inside a name in a line that is one word: what follows the hyphen is not a name.
    assert names_in(["2024-05-20-" * 2_000 + " " + "so " * 5_000], 200) == ""
    assert names_in(["order_1 " + "x" * (1 << 20)], 200) == ""
    assert names_in(["order_1 is old", "so it is " * 10_000], 200) == ""


def test_words_without_an_end_cost_no_more_than_others() -> None:
    """Base64 could begin a name at each of its slashes, but is not read to its end from any of them."""
    for word in ("ab/", "@#", "a-", "a."):

        def work(size: int, word: str = word) -> Callable[[], object]:
            return lambda: names_in([word * size], 200)

        assert growth(work, 1_600) < BOUND


def test_a_stub_of_a_hundred_thousand_identifiers_is_a_stub() -> None:
    """The note of the turns around it is bounded too."""
    table = "\n".join(f"order_{number:06d}" for number in range(100_000))
    asked = step(did("list_orders", table, customer="mia_li_3668"))
    talk = told("openai-chat", asked, *[step(viewed(f"a{at}.py", 9)) for at in range(9)])
    for strategies in ([Clear(keep=0)], [Spans()]):
        made = plan(talk, 9_000, strategies)
        assert made.outcome == "shrunk"
        assert len(made.steps[0].text) < 2 * MAX_NAMES_CHARS


def test_what_a_foreign_tool_returned_and_was_asked_is_named_in_what_takes_its_place() -> None:
    """Its arguments say what was done, and its identifiers can be used in the next call."""
    booked = did("book_flight", "Booked HAT078, paid with card_7447. " + "So it is. " * 400, passenger="mia_li_3668")
    talk = told("openai-chat", step(booked, text="I book it."), *[step(viewed(f"a{at}.py", 90)) for at in range(9)])
    for strategies in ([Clear()], [Spans()]):
        after = apply(talk, plan(talk, 9_000, strategies, low_water=0.3))
        shown = "\n".join(f"{entry.text} {[part.text for part in entry.results]}" for entry in after.visible())
        assert "So it is. So it is." not in shown
        assert "HAT078, card_7447" in shown
    assert 'called: book_flight {"passenger":"mia_li_3668"}' in shown


def test_a_rewrite_is_repaid_before_the_next_plan_is_due() -> None:
    """Worked by hand: 115 per token after the edit, 10 per token removed, at every call until the limit is reached again."""
    prices = Prices(before_tokens=8_000, limit_tokens=8_000, growth_tokens=1_000, calls_left=20)
    # at 6,000 two calls are left: 2,000 fewer tokens, twice, are 40,000; 4,000 after the edit cost 460,000
    target = prices.repaid_tokens(6_000, 4_000, 0)
    rewritten = 4_000 - (6_000 - target)
    assert 115 * rewritten <= 10 * (8_000 - target) * (8_000 - target) / 1_000
    assert 115 * (rewritten + 1) > 10 * (8_000 - target - 1) * (8_000 - target - 1) / 1_000
    assert prices.repaid_tokens(2_100, 100, 0) == 2_100  # repaid as it is
    assert prices.repaid_tokens(7_900, 6_000, 6_000) == 7_900  # nothing repays it


def test_a_plan_continues_until_repaid_unless_memory_comes_first() -> None:
    """In a small window the results of a few calls fill it again, and what is left after the edit is paid for anew each time."""
    talk = told("openai-chat", *[step(viewed(f"file{at}.py")) for at in range(12)])
    thrifty, calm = plan(talk, 10_000), plan(talk, 10_000, repaid=False)
    assert thrifty.repaid_after_calls < calm.repaid_after_calls
    assert thrifty.after_tokens < calm.after_tokens <= 7_500


def test_a_plan_gives_up_only_if_the_floor_does_not_fit() -> None:
    """With long words of the user, newest views and results no model has seen, a plan shrinks whatever recovery can shrink."""
    words = [step(text="Yes, and now. " * 40, user="I said this before. " * 60) for _ in range(20)]
    flood = step(*[viewed(f"file{at}.py", 200) for at in range(10)])
    talk = told("openai-chat", *words, flood)
    assert plan(talk, 3_000, GROWN).outcome == "cannot"
    for limit in range(1_000, 6_000, 500):
        assert plan(talk, limit, DEFAULT).outcome == plan(talk, limit, RECOVERY).outcome
    assert plan(talk, 3_000).outcome == "shrunk"


def test_what_a_change_shows_stays_and_makes_the_same_lines_needless() -> None:
    """SWE-agent's edit shows the file around it: if that is most of an older view, one of the two is enough."""
    read = viewed("parser.py", 90)
    same = did("edit_file", lines(90), path="parser.py")
    other = did("edit_file", "\n".join(f"{at}|another line {at}" for at in range(90)), path="parser.py")
    for changed, kept in ((same, {same.id}), (other, {read.id, other.id})):
        talk = told("openai-chat", step(viewed("other.py", 400)), step(read), step(changed))
        assert {call_id for _, call_id in seen(talk, over_tokens=1).active} == kept
