"""What does a plan say, how is it applied, how often is one made, what grows over a long session, and how long does it take?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.context.compaction.talks import WIRES, Shelf, did, edited, lines, more, seen, step, told, viewed
from tests.growth import BOUND, growth

from penstock.context.compaction import DEFAULT, RECOVERY, Clear, NewLines, Offload, PlanStep, Spans, Stale, apply, plan
from penstock.context.compaction.plans import SAMPLE_HANDLE, lasting
from penstock.context.sized import ESTIMATOR, size_of
from penstock.errors import CallerError
from penstock.text.allowance import Budget
from penstock.text.calls import CommandLine
from penstock.wires import dump, load, violations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.compaction import Strategy
    from penstock.context.compaction.views import View
    from penstock.text.calls import Dialect
    from penstock.text.tokens import Count

wires = pytest.mark.parametrize("wire", WIRES)

GOLDEN = """\
12687 tokens of at most 10000: 5953 after 7 steps
reads 5914 tokens again after the first edit, repaid after 11 calls
  clear         1028 -> 66     view in message 2
  clear         1028 -> 66     view in message 4
  clear         1028 -> 66     view in message 6
  clear         1028 -> 66     view in message 8
  clear         1028 -> 66     view in message 10
  clear         1028 -> 66     view in message 12
  clear         1028 -> 66     view in message 14"""


# ── what it says ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-4")
def test_a_plan_can_be_printed() -> None:
    """The printed plan says what is removed, what that frees and what it costs."""
    talk = told("openai-chat", *[step(viewed(f"file{at}.py")) for at in range(12)])
    assert str(plan(talk, 10_000, [Clear()])) == GOLDEN


@wires
@pytest.mark.parametrize("dialect", [None, CommandLine()], ids=["python", "command"])
def test_what_stubs_free_is_added_up_and_equals_a_recount(wire: str, dialect: Dialect | None) -> None:
    """This holds with images next to text, several results in a message and foreign tools: no stub has to be counted twice."""
    calls = [
        viewed("a.py"),
        did("plot", "a picture " * 400, image=True),
        did("find_user", "mia_li_3668 " * 90, user="x"),
    ]
    talk = told(wire, step(*calls, text="I look."), *[step(viewed(f"file{at}.py")) for at in range(12)])
    ladders: list[list[Strategy]] = [[Stale(), Clear(keep=2)], [Clear(keep=0, active=True)], [Offload(max_tokens=200)]]
    for strategies in ladders:
        made = plan(talk, 9_000, strategies, dialect=dialect)
        assert made.steps
        assert made.after_tokens == size_of(apply(talk, made, lambda _content, _name: SAMPLE_HANDLE))


def test_a_plan_with_nothing_to_do_says_so_and_is_false() -> None:
    """Applying it returns the same transcript."""
    talk = told("openai-chat", step(viewed("a.py")))
    made = plan(talk, 10_000)
    assert (str(made), bool(made), made.outcome) == (
        f"{size_of(talk)} tokens of at most 10000: nothing to do",
        False,
        "fits",
    )
    assert apply(talk, made) == talk


def test_a_plan_that_cannot_says_what_remains() -> None:
    """It includes the bill of what remains, largest first."""
    talk = told("openai-chat", step(viewed("a.py")), task="Fix this: " + "very long words " * 2_000)
    made = plan(talk, 500, RECOVERY)
    assert made.outcome == "cannot"
    assert made.irreducible is not None
    head, *_, bill = str(made).split("what remains:\n")
    assert "too many, and nothing else can go" in head
    assert bill.split("\n")[0].endswith("  newest user message, message 0")


def test_each_step_is_as_large_as_what_it_takes_from_the_transcript() -> None:
    """This holds even if one strategy took part of it before another took the rest; the sum is what the plan frees."""
    talk = told("openai-chat", *[step(viewed(f"a{at}.py"), text="I look.") for at in range(20)])
    made = plan(talk, 2_000, RECOVERY)
    assert {one.strategy for one in made.steps} >= {"spans"}
    freed = sum(one.before_tokens - one.after_tokens for one in made.steps)
    assert abs(freed - made.freed_tokens) <= 64 * len(made.steps)


@wires
def test_the_cost_of_an_early_edit_is_what_follows_it(wire: str) -> None:
    """The edit is repaid after the number of calls at which the tokens no longer read outweigh the tokens written anew."""
    talk = told(wire, *[step(viewed(f"a{at}.py")) for at in range(12)])
    made = plan(talk, seen(talk).size_tokens - 500, low_water=1.0)
    after = apply(talk, made)
    first = min(one.first for one in made.steps)
    assert made.rewritten_tokens == pytest.approx(
        sum(seen(after).counter.count(str(entry.raw)).high for entry in after.visible() if entry.index >= first),
        rel=0.2,
    )
    calls = made.repaid_after_calls
    assert 10 * calls * made.freed_tokens >= 115 * made.rewritten_tokens > 10 * (calls - 1) * made.freed_tokens


@pytest.mark.parametrize(
    ("rewritten", "freed", "calls"), [(20, 10, 23), (20_000, 10, 23_000), (1, 1_000, 1), (0, 7, 0)]
)
def test_a_rewrite_is_repaid_at_the_prices_of_a_cache(rewritten: int, freed: int, calls: int) -> None:
    """What follows the first edit is written at 125 instead of read at 10; at each call, what was removed would be read at 10."""
    talk = told("openai-chat", step(viewed("a.py")))
    made = replace(plan(talk, 10_000), before_tokens=freed, after_tokens=0, rewritten_tokens=rewritten)
    assert made.repaid_after_calls == calls


# ── applying it ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plan_is_for_the_transcript_that_it_was_made_for() -> None:
    """A transcript that has grown, been edited or been planned for since is refused, each with its reason."""
    talk = told("openai-chat", *[step(viewed(f"a{at}.py")) for at in range(12)])
    made = plan(talk, 8_000)
    with pytest.raises(CallerError, match="for a transcript of 25 entries, not of 27"):
        apply(more(talk, step(viewed("b.py"))), made)
    with pytest.raises(CallerError, match="of 0 edits, not of 1"):
        apply(talk.pin(2), made)
    with pytest.raises(CallerError, match=f"of 0 edits, not of {len(made.steps)}"):
        apply(apply(talk, made), made)


def test_without_a_shelf_the_originals_are_in_the_transcript() -> None:
    """The stubs say how to get the result again: by repeating the call."""
    talk = told("openai-chat", *[step(viewed(f"a{at}.py")) for at in range(12)])
    after = apply(talk, plan(talk, 8_000, [Clear()]))
    assert after.handles() == ()
    assert after.entries == talk.entries
    stub = after.visible()[2].results[0].text
    assert stub == "[cleared: view a0.py; about 1028 tokens, 60 lines; run it again to see it]"


def test_what_is_kept_is_what_the_tool_returned() -> None:
    """Each result is kept byte for byte, under its own handle and name."""
    calls = [did("view", f"{at}\n\ttab, ünïcode \x1b[31m 漢字\n{lines(60)}", path=f"a{at}.py") for at in range(12)]
    talk = told("anthropic", *map(step, calls))
    names: list[str] = []
    shelf = Shelf()

    def keep(content: str, name: str) -> str:
        names.append(name)
        return shelf(content, name)

    made = plan(talk, 9_000, [Clear()])
    after = apply(talk, made, keep)
    cleared = {one.call_id for one in made.steps}
    assert list(shelf.values()) == [call.result for call in calls if call.id in cleared]
    assert set(names) == {"view"}
    assert after.handles() == tuple(shelf)


def test_what_a_later_step_takes_too_is_kept_once() -> None:
    """A result that is cleared and then left out with its turn is kept within the turn, not behind two handles."""
    calls = [viewed(f"a{at}.py") for at in range(20)]
    talk = told("openai-chat", *[step(call, text="I look.") for call in calls])
    made = plan(talk, 2_000, [Clear(), Spans()])
    spans = [one for one in made.steps if one.call_id is None]
    assert spans
    assert not any(span.first <= one.first <= span.last for span in spans for one in made.steps if one is not span)
    shelf = Shelf()
    after = apply(talk, made, shelf)
    assert len(shelf) == len(made.steps)
    note = next(entry.text for entry in after.visible() if "Left out here" in entry.text)
    assert "value_60 = compute(60" in next(shelf[handle] for handle in shelf if handle in note)


def test_steps_outside_a_span_are_not_taken_by_it() -> None:
    """Steps before and after a later span are all kept; those inside it are dropped."""

    def taken(first: int, last: int, call_id: str | None = None) -> PlanStep:
        return PlanStep(
            strategy="own", what="all", first=first, last=last, call_id=call_id,
            text="", kept_text="", before_tokens=0, after_tokens=0,
        )  # fmt: skip

    beside = [taken(1, 1, "a"), taken(5, 5, "b"), taken(6, 8)]
    within = [taken(2, 2, "c"), taken(3, 4), taken(4, 4, "d")]
    span = taken(2, 4)
    assert lasting([*beside, *within, span]) == (*beside, span)
    assert lasting([span, *beside, *within[::2]]) == (span, *beside)


def test_a_custom_strategy_is_measured_and_held_to_the_rules() -> None:
    """Its proposals are taken if they shrink the transcript; a proposal to remove what has to stay raises."""

    class Blunt:
        name = "blunt"

        def __init__(self, first: int, text: str, call_id: str | None = None) -> None:
            self._first, self._text, self._call_id = first, text, call_id

        def steps(self, view: View) -> Sequence[PlanStep]:
            shown = view.transcript.visible()[-1].index
            return [
                PlanStep(
                    strategy=self.name, what="all", first=self._first, last=shown, call_id=self._call_id,
                    text=self._text, kept_text=self._text, before_tokens=0, after_tokens=0,
                )
            ]  # fmt: skip

    talk = told("openai-chat", *[step(viewed(f"a{at}.py")) for at in range(4)])
    assert plan(talk, 1_000, [Blunt(1, "[gone]")]).outcome == "shrunk"
    assert plan(talk, 1_000, [Blunt(1, "word " * 20_000)]).steps == ()
    with pytest.raises(CallerError, match="entry 0 has to stay"):
        plan(talk, 1_000, [Blunt(0, "[gone]")])
    (result,) = talk.visible()[2].results
    with pytest.raises(CallerError, match="in entry 2 has to stay"):
        plan(talk.pin(2), 1_000, [Blunt(2, "[gone]", result.call_id)])
    with pytest.raises(CallerError, match="shows no result of call 'none'"):
        plan(talk, 1_000, [Blunt(2, "[gone]", "none")])


# ── how often ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-4")
@wires
def test_after_a_plan_dozens_of_turns_go_by_until_the_next(wire: str) -> None:
    """Plans are rare and free a lot at a time, as each edit makes a provider reread everything after it."""
    talk = told(wire)
    planned: list[int] = []
    for at in range(250):
        talk = more(talk, step(viewed(f"file{at % 50}.py"), text=f"I look at number {at}."))
        made = plan(talk, 80_000)
        if made:
            planned.append(at)
            talk = apply(talk, made)
    gaps = [later - earlier for earlier, later in pairwise(planned)]
    assert len(gaps) >= 4
    assert min(gaps) >= 20


# ── what grows ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("wire", "turns", "users_every", "ladder"),
    [
        ("openai-chat", 500, 0, DEFAULT),
        ("openai-responses", 250, 0, DEFAULT),
        ("anthropic", 250, 0, (NewLines(), *DEFAULT)),
        ("openai-chat", 250, 10, RECOVERY),
        ("openai-responses", 250, 10, RECOVERY),
        ("anthropic", 250, 10, RECOVERY),
    ],
)
def test_over_a_long_session_notes_stay_bounded_and_everything_can_be_had_again(
    wire: str, turns: int, users_every: int, ladder: tuple[Strategy, ...]
) -> None:
    """Files are read, changed and run repeatedly within 20,000 tokens; handles lead to further handles."""
    talk, shelf = told(wire), Shelf()
    outcomes: set[str] = set()
    plans = 0
    for at in range(turns):
        path = f"src/file{at % 37}.py"
        call = (
            did("view", f"fact {at * 7919}\n{lines(40)}", path=path),
            edited(path),
            did("bash", f"fact {at * 7919}\n{lines(20)}", command=f"pytest -q {path}"),
        )[at % 3]
        user = f"Note {at}: keep going." if users_every and at % users_every == 0 else ""
        talk = more(talk, step(call, text=f"I am at number {at}.", user=user))
        made = plan(talk, 20_000, ladder)
        outcomes.add(made.outcome)
        if made:
            plans += 1
            talk = apply(talk, made, shelf)
        if at % 100 == 99:
            assert violations(dump(talk, wire), wire) == []
            assert sum(len(entry.text) for entry in talk.visible() if entry.is_note) < 30_000
    assert outcomes == {"fits", "shrunk"}
    assert plans < turns // 5
    reached = shelf.all_behind("\n".join(str(entry.raw) for entry in talk.visible()))
    assert all(
        f"fact {at * 7919}\n" in reached or f"fact {at * 7919}\\n" in reached for at in range(turns) if at % 3 != 1
    )


# ── how long ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ladder", [DEFAULT, RECOVERY, (NewLines(),)], ids=["default", "recovery", "new lines"])
@pytest.mark.parametrize("users", [False, True], ids=["no words between", "words between"])
def test_four_times_the_messages_take_about_four_times_as_long(ladder: tuple[Strategy, ...], users: bool) -> None:
    """No step is compared with every other: 300 and 1,200 messages, including one file that is read repeatedly."""

    def work(rounds: int) -> Callable[[], object]:
        talk = told(
            "openai-chat",
            *[
                step(
                    (viewed("same.py", 20), edited(f"f{at % 97}.py"), did("bash", lines(20), command=f"make {at % 9}"))[
                        at % 3
                    ],
                    text=f"Number {at}.",
                    user=f"On {at}." if users and at % 4 == 0 else "",
                )
                for at in range(rounds)
            ],
        )
        limit = size_of(talk) // 20
        return lambda: apply(talk, plan(talk, limit, ladder), Shelf())

    assert growth(work, 150) < BOUND


def test_what_fits_is_counted_once() -> None:
    """Even when planned at every turn, a history costs only what was added to it."""
    talk = told("openai-chat", *[step(viewed(f"a{at}.py")) for at in range(50)])

    class Counting:
        """An estimate that counts how often it was asked."""

        asked = 0

        def count(self, text: str, /) -> Count:
            Counting.asked += 1
            return ESTIMATOR.count(text)

    counter = Counting()
    for _ in range(3):
        assert not plan(talk, Budget(10**7, counter=counter))
    assert Counting.asked == sum(len(entry.parts) for entry in talk.entries)


@pytest.mark.proves("O-4", "S-4")
@wires
def test_the_stub_of_a_cut_result_describes_it_as_it_came(wire: str) -> None:
    """Its handle has the whole, so the size of the two ends, and the numbers in their notice, would be wrong."""
    flood = did("run", "\n".join(f"src/module_{at}.py" for at in range(4_000)), command="find src")
    talk = told(wire, step(flood), *[step(did("look", "nothing")) for _ in range(12)])
    (whole,) = plan(talk, 2_000, [Clear()]).steps
    cut = apply(talk, plan(talk, size_of(talk) - 5_000, [Offload()]))
    assert cut.edits
    (step_of_cut,) = plan(cut, 1_000, [Clear()]).steps
    said = step_of_cut.text
    assert said.startswith("[cleared: ")
    assert "4000 lines" in said
    assert said.partition(" lines")[0] == whole.text.partition(" lines")[0]
    assert len(apply(cut, plan(cut, 1_000, [Clear()])).standing_cuts()) == 1


@wires
def test_names_that_a_cut_left_out_are_kept_when_the_rest_is_cleared(wire: str) -> None:
    """The words of the notice between the two ends are not named."""
    rows = ["words and no more"] * 8_000
    rows[-500] = "ORD-77123"
    talk = told(wire, step(did("orders", "\n".join(rows), customer="x")), *[step(did("look", "nothing"))] * 12)
    cut = apply(talk, plan(talk, size_of(talk) - 5_000, [Offload()]))
    assert "ORD-77123" not in str(cut.visible())
    (step_of_cut,) = plan(cut, 1_000, [Clear()]).steps
    assert "; named ORD-77123; " in step_of_cut.text


HELLO: list[Any] = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("talk", "budget", "strategies", "said"),
    [
        (HELLO, 100, [Clear()], "not for list: make one by transcript.load"),
        (load(HELLO, "openai-chat"), 1e4, [Clear()], "A budget is a whole number of tokens"),
        (load(HELLO, "openai-chat"), 100, ["clear"], "such as Clear.. or Spans.., not 'clear'"),
    ],
)
def test_what_is_no_transcript_budget_or_strategy_is_named(talk: Any, budget: Any, strategies: Any, said: str) -> None:
    """A plan prints its strategies by their names, and messages are what a program has."""
    with pytest.raises(CallerError, match=said):
        plan(talk, budget, strategies)


def test_a_store_in_place_of_a_function_is_told_how_to_be_used() -> None:
    """A program has a store, and thinks of it first."""
    talk = load(HELLO, "openai-chat")
    passed: Any = object()
    with pytest.raises(CallerError, match=r"lambda content, name: store\.put\(content\.encode\(\), name=name\)"):
        apply(talk, plan(talk, 100), passed)
