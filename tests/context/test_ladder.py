"""Do the laws of the ladder hold: no rung is underestimated, and the floor can be reached from every rung above it?"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from bench.recovery import COUNTER, PLAIN, NoStore, Provider, case, dialect_of, rung_request
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.context.compaction import talks
from tests.wires.strategies import MESSAGES, TELLERS, WIRES, Call, Round, Story, stories

from penstock import execute
from penstock.context import ladder as ladder_module
from penstock.context import recovery, rung_choice
from penstock.context.compaction import apply, spans
from penstock.context.compaction.plans import lasting
from penstock.context.compaction.results import Offload
from penstock.context.counts import CONTENT_KINDS, IMAGE_TOKENS, KindCounts, counts_of
from penstock.context.ladder import Ladder, Order, RungChange
from penstock.context.provider_counts import min_decrease, stated
from penstock.context.recovery import MARGIN, MAX_CALLS, REPLY_FLOOR_TOKENS
from penstock.context.rung_choice import choose
from penstock.context.situation import Attempt, Situation
from penstock.context.sized import MESSAGE_TOKENS, Sized, high_of, measure_entry
from penstock.overflow import Overflow
from penstock.overflow.learned import SMALLEST_TOKENS
from penstock.text.allowance import Budget
from penstock.text.json_access import as_json
from penstock.wires import load, load_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.context.compaction import Plan
    from penstock.context.compaction.plans import PlanStep


def chat(result_lines: int) -> Story:
    """Return words of the user between many steps: nothing can be removed alone, and only notes, longer or shorter, can be left."""
    return Story(
        rounds=tuple(
            Round(
                text="word " * 30,
                calls=(
                    Call(id=f"call{n}", name="view", arguments={"path": f"{n}.py"}, result="line\n" * result_lines),
                ),
                user="Go on. " * 20 if n % 2 else "",
            )
            for n in range(12)
        )
    )


CHAT = chat(result_lines=30)
# The last batch of calls is old: the floor keeps it, and no note above the floor takes it.
OLD_BATCH = Story(
    rounds=(
        Round(
            calls=(Call(id="call1", name="view", arguments={"path": "a.py"}, result="line\n" * 300),),
            user="Go on. " * 60,
        ),
        *(Round(text="word " * 200, user="Go on. " * 200) for _ in range(6)),
    )
)
# Answers between words of the user, six times as long as a note: by our own count each would be worth removing.
TALK = Story(rounds=tuple(Round(text="word " * 300, user="Go on. " * 9) for _ in range(8)))
# Many words of the user in the message with an old result, as Anthropic, Gemini and Bedrock have them.
BESIDE_WORDS = Story(
    rounds=tuple(
        Round(
            calls=(Call(id=f"call{n}", name="view", arguments={"path": f"{n}.py"}, result="line\n" * 300),),
            user="Go on. " * (900 if n == 0 else 5),
        )
        for n in range(8)
    )
)


def screens(words: int) -> Story:
    """Return pages that are viewed one after another, with words about each."""
    looked = [Call(id=f"call{n}", name="look", arguments={"page": f"{n}"}, result="ok", image=True) for n in range(12)]
    return Story(rounds=tuple(Round(text="word " * words, calls=(call,)) for call in looked))


SCREENS = screens(240)
STUB_WORDS_TOKENS = 16
"""The most by which two stubs of one result differ: a stub of a cut result names what the cut said, and a handle."""
ORDERS: st.SearchStrategy[Order] = st.sampled_from(["kind", "age", "size"])
WORDINGS = ("exact", "total only", "lower bound", "limit only", "code only", "none")


class Exact(Provider):
    """A counter that counts as we do, and counts messages alike if they differ only in their handle."""

    def count(self, request: Any) -> float:
        """Return our own count, with a frame for each message."""
        counts = Sized(load_request(request, self.wire), COUNTER).counts
        return counts.total + self.frame * counts.messages


def request_of(story: Story, wire: str) -> dict[str, Any]:
    """Return the story as a request."""
    return {"model": "gpt-4o", MESSAGES[wire]: TELLERS[wire](story)}


def ladder_of(request: dict[str, Any], wire: str, order: Order = "kind") -> Ladder:
    """Return its ladder, with the way back written as `execute` does."""
    whole = Sized(load_request(request, wire), COUNTER)
    return Ladder(whole, window_tokens=1 << 40, dialect=dialect_of(request, wire)).by(order)


def taken(ladder: Ladder, rung: int) -> Sized:
    """Return the request as it is on a rung."""
    plan: Plan = ladder.plan(rung, 0)
    return ladder.sized.showing(apply(ladder.sized.transcript, plan, lambda *_: "h" * 22))


@given(stories(max_rounds=12), st.sampled_from(WIRES), st.floats(0, 1), ORDERS)
@example(CHAT, "openai-chat", 0.9, "kind")
@example(CHAT, "openai-chat", 0.5, "age")
@example(OLD_BATCH, "openai-responses", 1.0, "kind")
def test_no_rung_is_taken_for_smaller_than_it_is(story: Story, wire: str, share: float, order: Order) -> None:
    """What is sent is what is planned, or less, in as many messages: what two steps take is not counted twice."""
    ladder = ladder_of(request_of(story, wire), wire, order)
    rung = round(share * ladder.last)
    sent, counted = taken(ladder, rung).counts, ladder.counts(rung)
    assert sent.total <= counted.total
    assert sent.messages == counted.messages


@given(stories(max_rounds=12), st.sampled_from(WIRES), st.floats(0, 1))
@example(CHAT, "openai-chat", 1.0)
@example(CHAT, "anthropic", 0.9)
@example(OLD_BATCH, "openai-responses", 0.8)
def test_notes_that_a_later_one_takes_are_not_written_and_not_missed(story: Story, wire: str, share: float) -> None:
    """The steps of a rung are the lasting ones of all that its earlier phases make, whichever of those were written."""
    ladder = ladder_of(request_of(story, wire), wire)
    rung = round(share * ladder.last)
    phases = zip(ladder._phases, ladder._starts, ladder._starts[1:], strict=False)
    written = [
        step for phase, start, end in phases if start < min(rung, end) for step in phase.steps(min(rung, end) - start)
    ]
    assert ladder.steps(rung) == lasting(written)


@pytest.mark.proves("R-1")
@given(stories(max_rounds=12), st.sampled_from(WIRES))
@example(CHAT, "gemini")
@example(TALK, "openai-chat")
@example(SCREENS, "anthropic")
def test_a_note_of_finished_turns_is_smaller_whoever_counts(story: Story, wire: str) -> None:
    """Otherwise no rung below it would be certainly smaller, and a retry would give up more than the numbers require."""
    ladder = ladder_of(request_of(story, wire), wire)
    transcript = ladder.sized.transcript
    for step in ladder.steps(ladder.gentle):
        if step.strategy == "spans":
            shown = [entry for entry in transcript.visible() if step.first <= entry.index <= step.last]
            gone = sum((measure_entry(entry, COUNTER).counts for entry in shown), KindCounts())
            messages = 1 + len(transcript.beside_note(step.first, step.last))
            note = step.after_tokens - MESSAGE_TOKENS * messages
            assert min_decrease(gone, counts_of([("notes", note)], messages=messages)) > 0


@pytest.mark.proves("R-1")
@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "openai-chat"])
def test_images_in_results_count_as_images_and_pay_for_nothing(wire: str) -> None:
    """A provider may count little for an image: a stub needs more than images to pay for it, a note the words around them."""
    ladder = ladder_of(request_of(SCREENS, wire), wire)
    assert ladder.sized.counts.of("images") == 12 * IMAGE_TOKENS.tokens
    assert ladder.sized.counts.of("results") < 100
    first = ladder.change(1)
    assert first.removed.of("images") - first.added.of("images") == IMAGE_TOKENS.tokens
    assert min_decrease(first.removed, first.added) < 0
    (note,) = [step for step in ladder.steps(ladder.gentle) if step.strategy == "spans"]
    assert "called:" in note.text, "what the words beside the images pay for"
    floor = ladder.change(ladder.floor)
    assert min_decrease(floor.removed, floor.added) > 0


def test_a_longer_row_of_turns_is_not_without_a_note() -> None:
    """If a note's words would cost too much, only its line remains: descending never brings a turn back."""
    ladder = ladder_of(request_of(screens(120), "anthropic"), "anthropic")
    said = [ladder.counts(rung).of("assistant") for rung in range(ladder.last + 1)]
    assert said == sorted(said, reverse=True)


_FREE = {"images": [0.0, 85 / 1_568, 10.4], "files": [0.0, 1.0, 24.0], "reasoning": [0.0, 4.0], "other": [0.0, 4.0]}
FACTORS = st.fixed_dictionaries({kind: st.sampled_from(_FREE.get(kind, [0.25, 1.0, 4.0])) for kind in CONTENT_KINDS})
DEAR_WORDS = {kind: 4.0 if kind == "user" else 0.25 for kind in CONTENT_KINDS}


@pytest.mark.proves("R-1")
@given(stories(max_rounds=8), st.sampled_from(WIRES), FACTORS, st.floats(0, 1), ORDERS)
@example(BESIDE_WORDS, "anthropic", DEAR_WORDS, 0.1, "kind")
@example(TALK, "bedrock", DEAR_WORDS, 1.0, "age")
def test_what_is_certainly_smaller_is_smaller_with_any_error_of_messages(
    story: Story, wire: str, factors: dict[str, float], share: float, order: Order
) -> None:
    """Each message errs by up to 6 %, the same message always alike: a message with a stub is a different one."""
    request = request_of(story, wire)
    ladder = ladder_of(request, wire, order)
    rung = round(share * ladder.last)
    change = ladder.change(rung)
    assume(min_decrease(change.removed, change.added) >= 1)
    counts = dict[str, KindCounts]()

    def messages_of(request: Any) -> Counter[str]:
        entries = [(json.dumps(entry.raw), entry) for entry in load_request(request, wire).visible()]
        counts.update((raw, measure_entry(entry, COUNTER).counts) for raw, entry in entries)
        return Counter(raw for raw, _ in entries)

    def counted(messages: Counter[str]) -> float:
        return sum(
            number * factors[PLAIN.get(kind, kind)] * tokens
            for raw, number in messages.items()
            for kind, tokens in counts[raw].by_kind().items()
        )

    # Counted with multiplicity: of two messages with the same content, a rung may keep one.
    before, after = messages_of(request), messages_of(rung_request(ladder, rung, request))
    assert 1.06 * counted(after - before) < 0.94 * counted(before - after)


@given(stories(max_rounds=12), st.sampled_from(WIRES), st.floats(0, 1), ORDERS)
@example(CHAT, "openai-chat", 0.9, "kind")
@example(CHAT, "anthropic", 0.6, "age")
def test_the_floor_is_in_reach_from_every_rung(story: Story, wire: str, share: float, order: Order) -> None:
    """The ladder of a request that was already cut ends as low as that of the whole one, in whatever order it was cut."""
    whole = ladder_of(request_of(story, wire), wire, order)
    cut = Ladder(
        taken(whole, round(share * whole.last)),
        window_tokens=1 << 40,
        dialect=dialect_of(request_of(story, wire), wire),
    )
    floor = taken(whole, whole.last)
    assert taken(cut, cut.last).counts.total <= floor.counts.total + _stubs_differ_by(floor)


@pytest.mark.proves("R-1")
def test_after_the_second_number_the_oldest_goes_where_that_keeps_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """After two refusals with numbers, one form fits for certain by kind and one by age, and the larger is sent."""
    made = case(random.Random(504), "exact", wire="openai-chat")
    assert made is not None

    def sent() -> list[float]:
        made.provider.sent = []
        store: Any = NoStore()
        believed = made.believed
        assert execute(
            made.provider, made.request, wire="openai-chat", window_tokens=believed, store=store, counter=COUNTER
        ).success
        return made.provider.sent

    chosen, better = sent(), rung_choice.better_in_order

    def by_kind_at_the_end(situation: Situation, ladder: Ladder, rung: int) -> tuple[Ladder, int]:
        return (ladder, rung) if len(situation.attempts) > 1 else better(situation, ladder, rung)

    monkeypatch.setattr(recovery, "better_in_order", by_kind_at_the_end)
    by_kind = sent()
    assert (len(chosen), chosen[:2]) == (3, by_kind[:2])
    assert by_kind[2] < 0.8 * chosen[2] < chosen[2] <= made.provider.limit


def _stubs_differ_by(floor: Sized) -> int:
    """Return by how many tokens stubs may differ, as a result made needless by a newer one has another stub than an old one."""
    return STUB_WORDS_TOKENS * sum(len(entry.results) for entry in floor.transcript.visible())


@pytest.mark.proves("R-1")
@given(stories(max_rounds=12), st.sampled_from(WIRES), st.sampled_from(WORDINGS), st.floats(0, 1), st.floats(0, 1))
@example(CHAT, "anthropic", "lower bound", 1.0, 0.0)
@example(CHAT, "gemini", "none", 0.5, 0.0)
def test_what_was_trimmed_too_little_before_sending_gets_through(
    story: Story, wire: str, wording: str, depth: float, share: float
) -> None:
    """It was trimmed for the assumed window, even to a floor with a handoff; the true limit is between that and a shorter floor."""
    request = request_of(story, wire)
    ladder = ladder_of(request, wire)
    believed = _window_for(ladder, round(depth * ladder.last))
    provider = Exact(wire, wording, dict.fromkeys(CONTENT_KINDS, 1.0), frame=4.0, by_characters=False)
    first = _first_sent(request, wire, believed)
    floor = provider.count(rung_request(ladder, ladder.last, request)) + _stubs_differ_by(taken(ladder, ladder.last))
    assume(provider.count(first) > floor + 1)
    provider.limit = int(floor + 1 + share * (provider.count(first) - floor - 1))
    assume(provider.limit < provider.count(first))
    result = execute(
        provider,
        request,
        wire=wire,
        window_tokens=believed,
        store=NoStore(),  # type: ignore[arg-type]  # the only methods of a store that execute uses
        counter=COUNTER,
    )
    assert result.success, (provider.sent, provider.limit)
    # A number that cannot be a window is not taken for one.
    is_stated = wording in {"exact", "total only"} and provider.limit >= SMALLEST_TOKENS
    assert len(provider.sent) <= (3 if is_stated else MAX_CALLS)
    assert all(later < earlier for earlier, later in pairwise(provider.sent))


def test_a_hundredth_of_the_window_is_left_free_before_anything_is_sent() -> None:
    """The first rung that leaves it is taken, even if it leaves no token more."""
    ladder = ladder_of(request_of(chat(result_lines=4_000), "openai-chat"), "openai-chat")
    size = ladder.counts(5).total
    assert size > 10_000
    window = next(room for room in range(size, 2 * size) if room - room // 100 == size)
    chosen = [choose(Situation(sized=ladder.sized, budget=Budget(room)), ladder) for room in (window, window - 1)]
    assert chosen[0] == next(rung for rung in range(ladder.floor) if ladder.counts(rung).total <= size)
    assert chosen[1] == next(rung for rung in range(ladder.floor) if ladder.counts(rung).total < size)


def test_a_refusal_without_numbers_leaves_the_share_of_what_can_shrink_and_no_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rung that takes just this share is small enough."""
    ladder = ladder_of(request_of(chat(result_lines=400), "openai-chat"), "openai-chat")
    floor, size = ladder.counts(ladder.last).total, ladder.counts(5).total
    share = (size - floor + 0.5) / (ladder.sized.counts.total - floor)
    monkeypatch.setattr(rung_choice, "HALVES", (share, share))
    attempt = Attempt(sized=ladder.sized, overflow=Overflow(kind="context_input"))
    situation = Situation(sized=ladder.sized, attempts=[attempt], budget=Budget(1 << 40))
    assert choose(situation, ladder) == next(rung for rung in range(ladder.floor) if ladder.counts(rung).total <= size)


@pytest.mark.proves("R-1")
def test_a_rung_larger_than_the_wanted_one_does_not_replace_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rungs do not always shrink: the next one that is certainly smaller may be larger than what a halving leaves."""
    ladder = ladder_of(request_of(chat(result_lines=400), "openai-chat"), "openai-chat")
    attempt = Attempt(sized=ladder.sized, overflow=Overflow(kind="context_input"))
    situation = Situation(sized=ladder.sized, attempts=[attempt], budget=Budget(1 << 40))
    wanted = choose(situation, ladder)
    assert wanted is not None
    assert wanted + 2 < ladder.floor
    nothing, change, counts = counts_of(()), Ladder.change, Ladder.counts
    uncertain = {wanted: RungChange(removed=nothing, added=nothing)}
    told = {wanted: ladder.counts(wanted), wanted + 1: ladder.sized.counts}
    monkeypatch.setattr(Ladder, "change", lambda self, rung: uncertain.get(rung) or change(self, rung))
    monkeypatch.setattr(Ladder, "counts", lambda self, rung: told.get(rung) or counts(self, rung))
    monkeypatch.setattr(Ladder, "first", lambda self, *_, **__: wanted)  # no bisection meets the large one by chance
    taken_instead = choose(situation, ladder)
    assert taken_instead is not None
    assert taken_instead > wanted + 1
    assert ladder.counts(taken_instead).total <= ladder.counts(wanted).total


@pytest.mark.proves("R-1")
@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("above", "lines"), [(0, 400), (1, 100), (2, 100)], ids=["whole request", "long handoff", "short handoff"]
)
def test_the_limit_lies_just_above_the_shortest_floor(wire: str, wording: str, above: int, lines: int) -> None:
    """However much was trimmed before sending, the last call leaves the handoff out if it might not fit."""
    request = request_of(chat(lines), wire)
    ladder = ladder_of(request, wire)
    believed = _window_for(ladder, 0 if above == 0 else ladder.floor + above - 1)
    provider = Exact(wire, wording, dict.fromkeys(CONTENT_KINDS, 1.0), frame=4.0, by_characters=False)
    floor = taken(ladder, ladder.last)
    provider.limit = int(provider.count(rung_request(ladder, ladder.last, request))) + _stubs_differ_by(floor)
    assert provider.count(_first_sent(request, wire, believed)) > provider.limit
    result = execute(
        provider,
        request,
        wire=wire,
        window_tokens=believed,
        store=NoStore(),  # type: ignore[arg-type]  # as above
        counter=COUNTER,
    )
    assert result.success, (provider.sent, provider.limit)


def _window_for(ladder: Ladder, rung: int) -> int:
    """Return the window in which a rung has room by our count, with the hundredth that stays free."""
    counts = ladder.counts(rung)
    tokens = counts.total + MESSAGE_TOKENS * counts.messages
    return tokens + tokens // (MARGIN - 1) + 1


def _first_sent(request: dict[str, Any], wire: str, believed: int) -> Any:
    """Return the request that is sent first if this window is assumed."""
    sent: list[Any] = []

    def answer(body: Any) -> Any:
        sent.append(body)
        return {"choices": [{"message": {"role": "assistant", "content": "done"}}]}

    result = execute(
        answer,
        request,
        wire=wire,
        window_tokens=believed,
        store=NoStore(),  # type: ignore[arg-type]  # as above
        counter=COUNTER,
    )
    assert result.success
    return sent[0]


def test_what_is_to_be_summarised_holds_words_calls_and_results() -> None:
    """A model that summarises steps has to see what they returned."""
    looked = talks.did("bash", "the port is 8443", command="cat port.txt")
    talk = talks.told("openai-chat", talks.step(looked, text="I look it up."))
    asked = recovery._material(talk, 0, len(talk.entries), 10_000)
    assert all(words in asked for words in ("Fix the parser.", "I look it up.", "cat port.txt", "the port is 8443"))


def test_a_floor_that_is_smaller_by_our_own_count_alone_is_smaller_than_the_request() -> None:
    """It need not be smaller than its first rung: if one result is all that can be removed, every rung is the floor."""
    looked = talks.did("bash", "the port is 8443\n" * 80, command="cat port.txt")
    talk = talks.told("openai-chat", talks.step(looked), talks.step(text="Yes."))
    ladder = Ladder(Sized(talk, COUNTER), window_tokens=1 << 40)
    assert ladder.counts(1) == ladder.counts(ladder.last)
    assert ladder.counts(ladder.last).total < ladder.counts(0).total
    assert rung_choice._floor(ladder, lambda _: False) == ladder.last
    nothing = Ladder(Sized(talks.told("openai-chat"), COUNTER), window_tokens=1 << 40)
    assert rung_choice._floor(nothing, lambda _: False) is None


def test_what_results_named_goes_one_by_one_and_the_floor_is_without() -> None:
    """The names of forty results may fill a window; what else is said of them stays as long as removing names is enough."""
    numbers = range(10)
    verses = ["".join(f"verse {n}: the {part * 7919 + n}th stone\n" for n in range(40)) for part in numbers]
    calls = tuple(Call(id=f"c{n}", name="read", arguments={"number": n}, result=verses[n]) for n in numbers)
    ladder = ladder_of(request_of(Story(rounds=(Round(calls=calls),)), "openai-chat"), "openai-chat")
    sizes = [ladder.counts(rung).total for rung in range(ladder.floor - len(numbers) - 1, ladder.floor)]
    assert all(after < before for before, after in pairwise(sizes))
    assert ladder.counts(ladder.last).total <= sizes[-1]
    shown = [
        as_json([entry.raw for entry in taken(ladder, rung).transcript.visible()])
        for rung in (ladder.floor - 11, ladder.last)
    ]
    assert ["named" in text for text in shown] == [True, False]


@pytest.mark.parametrize("has_newer_calls", [True, False])
def test_failed_attempts_become_a_note_unless_the_last_calls_are_among_them(has_newer_calls: bool) -> None:
    """The floor keeps the last batch of calls, however old it is."""
    failed = [talks.did("edit_file", f"Error: no match\n{talks.lines(30)}", failed=True, path="a.py") for _ in range(3)]
    later = [
        talks.step(*[talks.viewed(f"b{at}.py")] * has_newer_calls, text="I go on.", user="Go on.") for at in range(3)
    ]
    talk = talks.told("anthropic", talks.step(talks.viewed("c.py")), *map(talks.step, failed), *later)
    ladder = Ladder(Sized(talk, COUNTER), window_tokens=1 << 40)
    taken_by = {
        step.strategy for rung in range(1, ladder.gentle + 1) for step in ladder.steps(rung) if not step.call_id
    }
    assert ("failed" in taken_by) == has_newer_calls


def test_the_plan_of_a_rung_says_what_a_provider_reads_anew() -> None:
    """That is everything after its first edit."""
    ladder = ladder_of(request_of(CHAT, "openai-chat"), "openai-chat")
    shown = ladder.sized.transcript.visible()
    for rung in (0, 1, ladder.gentle, ladder.last):
        made = ladder.plan(rung, 0)
        same = shown[: min((step.first for step in made.steps), default=len(shown))]
        assert made.after_tokens == ladder.sized.fixed_high + high_of(same, COUNTER) + made.rewritten_tokens


@pytest.mark.parametrize(("can_summarise", "calls_left"), [(True, 3), (True, 2), (True, 1), (False, 3)])
def test_a_summary_is_asked_for_before_sending_only_where_a_call_is_left_for_the_request(
    can_summarise: bool, calls_left: int
) -> None:
    """A summary spares newer content, and the user's words, in a window that has room for neither."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    situation = Situation(sized=whole, budget=Budget(500), calls_left=calls_left)
    cure = recovery.trim(situation, can_summarise=can_summarise)
    if can_summarise and calls_left > 1:
        assert isinstance(cure, recovery.SummaryWanted)
        assert (cure.first, cure.last) == spans.summary_span(whole.transcript, situation.kept)
        assert cure.first < cure.last
        made = recovery.with_summary(situation, cure, "The files were read.")
        assert isinstance(made, recovery.SendSmaller)
        same = whole.transcript.visible()[: min(step.first for step in made.plan.steps)]
        assert made.plan.after_tokens == whole.fixed_high + high_of(same, COUNTER) + made.plan.rewritten_tokens
    else:
        assert isinstance(cure, recovery.SendSmaller)


@pytest.mark.parametrize(
    ("calls_left", "said", "is_asked"),
    [
        (3, {}, True),
        (2, {"limit": 500, "input": 9_000}, True),
        (2, {"limit": 500}, False),
        (2, {"input": 9_000}, False),
    ],
)
def test_a_summary_is_asked_for_after_a_refusal_where_what_follows_can_fit_for_certain(
    calls_left: int, said: dict[str, Any], is_asked: bool
) -> None:
    """With two calls left, the last needs a number and a limit; without them a summary would be paid for in vain."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    refused = Attempt(sized=whole, overflow=Overflow(kind="context_input", **said))
    situation = Situation(sized=whole, budget=Budget(500), attempts=(refused,), calls_left=calls_left)
    assert isinstance(recovery.decide(situation, can_summarise=True), recovery.SummaryWanted) == is_asked


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_a_refused_request_leaves_the_share_free_that_was_asked_for_and_no_more(share: float) -> None:
    """The request is smaller by that much than without a share; the last result removed makes it so."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    size = whole.counts.total
    refused = Attempt(sized=whole, overflow=Overflow(kind="context_input", limit=size * 9 // 10, input=size))
    situation = Situation(sized=whole, budget=Budget(size), attempts=(refused,), calls_left=3)
    cures = [recovery.decide(situation, headroom_share=headroom) for headroom in (0, share)]
    tight, roomy = (cure.plan for cure in cures if isinstance(cure, recovery.SendSmaller))
    spared = roomy.steps[-1].before_tokens - roomy.steps[-1].after_tokens
    assert roomy.after_tokens <= tight.after_tokens * (1 - share) < roomy.after_tokens + spared


@pytest.mark.parametrize("has_answered", [True, False])
def test_a_reply_as_large_as_the_window_keeps_nothing_whole_that_a_provider_has_answered_before(
    has_answered: bool,
) -> None:
    """A known provider does not count the reply, so without this no request would be cut; a new provider is sent the whole."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    known = [stated(whole.counts, whole.counts.total)] if has_answered else []
    situation = Situation(sized=whole, budget=Budget(4_000, 4_000), known=known)
    cure = recovery.trim(situation)
    if not has_answered:
        assert cure is None
        return
    assert isinstance(cure, recovery.SendSmaller)
    assert cure.reserve_tokens == situation.reserve_tokens
    sent = whole.showing(apply(whole.transcript, cure.plan, lambda *_: "h" * 22))
    assert sent.counts.total < 4_000 < whole.counts.total


def test_the_two_newest_answers_stay_as_long_as_what_goes_is_gentle() -> None:
    """Every other answer is in a note."""
    calls = [Call(id=f"call{n}", name="view", arguments={"path": f"{n}.py"}, result="line\n" * 30) for n in range(8)]
    story = Story(
        rounds=tuple(Round(text=f"answer {n} " + "word " * 300, calls=(call,)) for n, call in enumerate(calls))
    )
    ladder = ladder_of(request_of(story, "openai-chat"), "openai-chat")
    left = [as_json(entry.raw) for entry in taken(ladder, ladder.gentle).transcript.visible()]
    assert [n for n in range(8) if any(f"answer {n} {'word ' * 299}" in text for text in left)] == [6, 7]


@pytest.mark.proves("R-1")
def test_a_floor_tells_what_went_in_two_thousand_characters_and_a_flood_keeps_as_many_tokens() -> None:
    """The strategy alone keeps as much as the ladder does."""
    assert max(ladder_module.HANDOFF_CHARS) == 2_000
    assert (Offload().max_tokens, Offload().min_tokens) == (2_000, 200)
    assert (ladder_module.FLOOD_TOKENS, ladder_module.MIN_FLOOD_TOKENS) == (2_000, 200)
    assert ladder_module.LAST_BATCH_TOKENS == 400


@pytest.mark.proves("R-3")
def test_room_is_left_for_the_shortest_reply_that_can_be_asked_for() -> None:
    """Thinking has to fit into the reply, so an eighth of a small window is too little."""
    sized = Sized(talks.told("openai-chat"), COUNTER)
    refused = Attempt(sized=sized, overflow=Overflow(kind="context_total", limit=4_000), reserve_tokens=20_000)
    situation = Situation(sized=sized, budget=Budget(4_000, 20_000), attempts=(refused,), min_reply_tokens=1_025)
    assert (situation.reserve_tokens, situation.input_limit_tokens) == (1_025, 2_975)


def test_a_request_whose_low_end_just_fills_the_window_is_not_certain_not_to_fit() -> None:
    """It is sent as it is, since the provider counts; in a window one token smaller it is reduced before sending."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    low = whole.low
    assert recovery.trim(Situation(sized=whole, budget=Budget(low))) is None
    assert isinstance(recovery.trim(Situation(sized=whole, budget=Budget(low - 1))), recovery.SendSmaller)


def test_a_request_far_below_the_window_is_sent_without_a_look_at_what_is_likely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most requests of a session are, and a likelihood was most of what the gateway did for one of them."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    size = whole.counts.total
    monkeypatch.setattr(recovery, "Likelihood", lambda *_, **__: pytest.fail("nothing is in doubt"))
    situation = Situation(sized=whole, budget=Budget(2 * size), known=[stated(whole.counts, size)])
    assert recovery.trim(situation) is None


def test_what_fits_as_a_provider_counts_is_sent_even_if_it_counts_less_than_is_known_of_any() -> None:
    """A provider that counts just below a quarter of our count would have its requests cut in twice their room."""
    whole = Sized(load_request(request_of(chat(result_lines=4_000), "openai-chat"), "openai-chat"), COUNTER)
    taken = whole.counts.total * 23 // 100
    situation = Situation(sized=whole, budget=Budget(2 * taken), known=[stated(whole.counts, taken)])
    assert recovery.trim(situation) is None


@pytest.mark.proves("R-3")
@pytest.mark.parametrize(
    ("said", "calls_left", "is_lowered"),
    [
        ({}, 2, True),
        ({}, 1, False),  # the last call is for what fits for certain
        ({"kind": "context_input"}, 2, False),
        ({"unit": "chars"}, 2, False),
        ({"bound": "lower_bound"}, 2, False),
        ({"bound": "approx"}, 2, True),
        ({"output": 0}, 2, False),
    ],
)
def test_a_reply_is_lowered_only_where_a_refusal_counts_it_and_a_call_is_left(
    said: dict[str, Any], calls_left: int, is_lowered: bool
) -> None:
    """The refusal counted the whole input, in tokens, together with the requested reply."""
    sized = Sized(talks.told("openai-chat"), COUNTER)
    counted = {"kind": "context_total", "limit": 8_000, "input": 1_000, "output": 7_900, **said}
    refused = Attempt(sized=sized, overflow=Overflow(**counted))
    cure = recovery.decide(Situation(sized=sized, budget=Budget(8_000), attempts=(refused,), calls_left=calls_left))
    lowered = cure if isinstance(cure, recovery.SendSmaller) and cure.strategy == "lower_reserve" else None
    assert (lowered is not None) == is_lowered
    assert lowered is None or lowered.plan.rewritten_tokens == 0  # the request stays as it is


@pytest.mark.proves("R-3")
@pytest.mark.parametrize(
    ("output", "left", "min_reply_tokens", "is_lowered"),
    [
        (7_000, REPLY_FLOOR_TOKENS, 0, True),
        (7_000, REPLY_FLOOR_TOKENS - 1, 0, False),
        (100, 50, 0, True),  # half of what was asked for is worth a call if that is less
        (100, 49, 0, False),
        (100, 99, 0, True),
        (100, 100, 0, False),  # not smaller than what was refused
        (7_000, 3_000, 3_000, True),
        (7_000, 2_999, 3_000, False),
    ],
)
@pytest.mark.parametrize("bound", ["exact", "approx"])
def test_a_lowered_reply_is_worth_its_call(
    output: int, left: int, min_reply_tokens: int, is_lowered: bool, bound: str
) -> None:
    """This is exact to a token, with room for the frames of messages, and more if a server has estimated."""
    sized = Sized(talks.told("openai-chat"), COUNTER)
    taken = 20_000
    limit = taken + left + (16 if bound == "exact" else taken // 50)
    overflow = Overflow(kind="context_total", limit=limit, input=taken, output=output, bound=bound)
    situation = Situation(
        sized=sized,
        budget=Budget(limit),
        attempts=(Attempt(sized=sized, overflow=overflow),),
        calls_left=2,
        min_reply_tokens=min_reply_tokens,
    )
    cure = recovery.decide(situation)
    assert (cure.reserve_tokens if isinstance(cure, recovery.SendSmaller) else None) == (left if is_lowered else None)


def test_what_went_and_what_came_is_taken_kind_by_kind() -> None:
    """Unchanged content is not counted as removed; up to two messages may be added."""
    whole, smaller = counts_of([("results", 900), ("user", 8)], messages=9), counts_of([("notes", 40), ("user", 8)])
    change = recovery._difference(whole, smaller)
    assert change == RungChange(counts_of([("results", 900)]), counts_of([("notes", 40)], messages=2))


@pytest.mark.proves("R-1", "R-2")
def test_if_a_number_leaves_the_dear_kind_in_doubt_the_oldest_goes() -> None:
    """Pages that nobody counts could be expensive: once, all results were removed, and 6 % was left of a request refused by 8."""
    page = {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{'iVBORw0K' * 6_000}"},
    }
    messages: list[Any] = [{"role": "user", "content": "Compare these."}]
    for n in range(40):
        call = {
            "id": f"call{n}",
            "type": "function",
            "function": {"name": "view", "arguments": f'{{"path": "{n}.py"}}'},
        }
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call{n}", "content": "some line of it\n" * 200},
        ]
        messages += [{"role": "user", "content": [{"type": "text", "text": f"Page {n}."}, page]}] if n % 4 == 0 else []
    request = {"model": "gpt-4o", "messages": [*messages, {"role": "user", "content": "Go on."}]}
    provider = Provider(
        "openai-chat", "exact", {**dict.fromkeys(CONTENT_KINDS, 1.0), "files": 0.0}, 4.0, by_characters=False
    )
    provider.limit = int(0.92 * provider.count(request))
    result = execute(provider, request, wire="openai-chat", window_tokens=1 << 30, store=NoStore(), counter=COUNTER)  # type: ignore[arg-type]
    assert result.success
    assert len(provider.sent) == 2
    assert provider.sent[-1] > 0.75 * provider.limit
    assert result.transcript is not None
    assert result.transcript.visible()[-4:] == load_request(request, "openai-chat").visible()[-4:]


@pytest.mark.proves("R-1", "R-2")
@pytest.mark.parametrize("place", [2, 11])
@pytest.mark.parametrize("over", [1.06, 2.0])
def test_a_flood_loses_no_more_than_it_has_to(place: int, over: float) -> None:
    """Once, a request of 97,000 tokens that was refused by 6 % was cut to its ends and had 2,800 left."""
    messages: list[Any] = [{"role": "user", "content": "What went wrong?"}]
    for n in range(12):
        call = {"id": f"call{n}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        lines = "some line of a log\n" * (20_000 if n == place else 60)
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call{n}", "content": lines},
        ]
    request = {"model": "gpt-4o", "messages": messages}
    provider = Provider(
        "openai-chat", "exact", {**dict.fromkeys(CONTENT_KINDS, 0.8), "results": 1.3}, 4.0, by_characters=False
    )
    provider.limit = int(provider.count(request) / over)
    result = execute(provider, request, wire="openai-chat", window_tokens=1 << 30, store=NoStore(), counter=COUNTER)  # type: ignore[arg-type]
    assert (result.success, result.strategy, len(provider.sent)) == (True, "offload", 2)
    assert provider.sent[-1] > 0.8 * provider.limit


def test_what_would_be_no_smaller_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note, a stub or a cut as long as what it would replace is not taken; one token less is."""
    made, cut = spans.note_step, Offload.cut
    for spared in (0, 1):
        with monkeypatch.context() as dear:
            dear.setattr(
                ladder_module,
                "note_step",
                lambda *given, spared=spared: _sparing(made(*given), spared),
            )
            dear.setattr(Offload, "cut", lambda *given, spared=spared: _sparing(cut(*given), spared))
            ladder = ladder_of(request_of(CHAT, "openai-chat"), "openai-chat")
            assert any(step.strategy == "handoff" for step in ladder.steps(ladder.floor)) == bool(spared)
            assert all((ladder._cut(result, 1) is not None) == bool(spared) for result in ladder._view.results)
            assert len(ladder._cut_alike(ladder._view.results, 1)) == spared * len(ladder._view.results)


def _sparing(step: PlanStep, tokens: int) -> PlanStep:
    """Return a step that leaves that many fewer tokens."""
    return replace(step, after_tokens=step.before_tokens - tokens)


def test_a_flood_is_more_than_twice_what_is_kept_of_its_ends() -> None:
    """Otherwise the notice would be most of what a cut saves; exact to a token, for an eighth of the window within its bounds."""
    request = request_of(chat(result_lines=400), "openai-chat")
    whole = Sized(load_request(request, "openai-chat"), COUNTER)
    for window_tokens, kept in ((1, 200), (8 * 200 + 7, 200), (8 * 201, 201), (8 * 2_000, 2_000), (1 << 40, 2_000)):
        ladder = Ladder(whole, window_tokens=window_tokens)
        tokens = {result.tokens for result in ladder._view.results}
        assert len(ladder._floods()) == sum(result.tokens > 2 * kept for result in ladder._view.results)
        assert ladder._flood_tokens == kept
    assert min(tokens) > 400
    ladder = Ladder(whole, window_tokens=1 << 40)
    for result in ladder._view.results[:2]:
        assert ladder._cut(result, (result.tokens + 1) // 2) is None
        assert ladder._cut(result, (result.tokens - 1) // 2) is not None


@pytest.mark.parametrize("first", [0, 3, 7, 8, 15, 16, 40, 98, 99])
def test_the_nearest_rung_is_found_by_few_looks(first: int) -> None:
    """If every rung after the first smaller one is smaller, one near it is found, less than twice as far; the last is checked."""
    looked: list[int] = []

    def is_smaller(rung: int) -> bool:
        looked.append(rung)
        return rung >= 100 + first

    found = rung_choice._nearest(range(100, 200), is_smaller)
    assert found is not None
    assert found == 100 + first if first <= 8 else 100 + first <= found < 100 + 2 * first
    assert len(looked) <= 8 + 5
    assert rung_choice._nearest(range(100, 200), lambda _: False) is None
    assert rung_choice._nearest(range(100, 100), lambda _: True) is None


class _Rungs:
    """A ladder in which each rung leaves one token less, from 100 down."""

    last, gentle, recent = 100, 30, 50

    def counts(self, rung: int) -> int:
        return 100 - rung

    def first(self, is_small_enough: Callable[[int], bool]) -> int:
        return next((rung for rung in range(1, self.last) if is_small_enough(rung)), self.last)


@pytest.mark.parametrize(
    ("room", "share", "rung"),
    [
        (95, 0.2, 24),  # the whole share, by gentle steps
        (95, 0.3, 30),
        (95, 0.5, 30),  # half of it is available
        (95, 0.6, 34),  # the other half by removing recent results
        (95, 1.0, 50),  # and no more than that
        (70, 0.2, 37),
        (60, 0.2, 46),  # below the gentle rungs: half of the share
        (50, 0.2, 50),
        (40, 0.2, 60),  # below the recent rungs: none of it
    ],
)
def test_room_is_left_free_as_far_as_that_is_worth_what_goes(room: int, share: float, rung: int) -> None:
    """The whole share by gentle steps, half of it by recent results, to a token."""
    ladder: Any = _Rungs()

    def fits(counts: Any, room: int) -> bool:
        return bool(counts <= room)

    first = recovery._first_that(fits, ladder, room)
    assert first == 100 - room
    assert recovery._with_headroom(fits, ladder, first, room, share) == rung


@pytest.mark.proves("R-1")
def test_a_request_is_cut_no_further_than_it_takes() -> None:
    """It is cut to the first rung that leaves a hundredth of the window free, frames of messages included, to a token."""
    whole = Sized(load_request(request_of(chat(result_lines=400), "openai-chat"), "openai-chat"), COUNTER)
    for rung in (1, 3, 6):
        room = 0
        ladder = Situation(sized=whole, budget=Budget(1 << 20)).ladder(whole)
        taken_tokens = rung_choice.with_frames(ladder.counts(rung))
        while room - room // MARGIN < taken_tokens:
            room += 1
        for budget, wanted in ((room, 0), (room - 1, 1)):
            situation = Situation(sized=whole, budget=Budget(budget))
            found = situation.ladder(whole)
            first = next(
                at
                for at in range(1, found.last + 1)
                if rung_choice.with_frames(found.counts(at)) <= budget - budget // MARGIN
            )
            assert first == rung or wanted
            cure = recovery.trim(situation)
            assert isinstance(cure, recovery.SendSmaller)
            assert cure.plan.steps == found.steps(first)


def test_a_budget_of_tokens_alone_is_a_window() -> None:
    """`recover` takes a number of tokens, as `plan` does."""
    called = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    shown = load(
        [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "a", "content": "word " * 4_000},
        ],
        "openai-chat",
    )
    refused = Overflow(kind="context_input", limit=1_000, input=4_000, excess=3_000)
    assert recovery.recover(shown, refused, 1_000) == recovery.recover(shown, refused, Budget(1_000))


def test_only_the_note_that_hands_on_has_room_for_a_handoff() -> None:
    """A note of 700 characters that stands first is left alone; the same one further on is replaced by a line."""
    talk = talks.told("openai-chat", *[talks.step(text="I look it up.", user="Go on.")] * 6)
    _, first, *_, before, pinned, after, _, _, last, _ = (entry.index for entry in talk.visible())
    note = "Here something was left out. " * 24
    talk = talk.pin(pinned).drop_span(first, before, note=note).drop_span(after, last, note=note)
    ladder = Ladder(Sized(talk, COUNTER), window_tokens=1 << 40)
    went = [(step.first, step.last) for step in ladder.steps(ladder.floor) if step.strategy == "handoff"]
    assert went == [(after, last)]
