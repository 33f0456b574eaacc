"""What is the story of sessions whose every figure is known?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.inspection.story import RepeatedError, UnusedTool
from penstock.inspection.telling import tell
from penstock.inspection.timeline import Answered, Compacted, Instructed, Place, Refused, Said
from penstock.text.tokens import Count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.inspection.story import Story
    from penstock.inspection.timeline import Happening


pytestmark = pytest.mark.proves("X-2")


class Letters:
    """A counter that counts a token for each letter, so that every figure below can be checked."""

    def count(self, text: str, /) -> Count:
        """Return the letters of a text."""
        return Count(tokens=len(text), low=len(text), high=len(text), method="letters:one")


FRAME = 4


def user(text: str, **how: Any) -> Said:
    """Return a message of the user."""
    return Said({"role": "user", "content": text}, **how)


def answer(text: str) -> Said:
    """Return an answer of only words."""
    return Said({"role": "assistant", "content": text})


def call(name: str, call_id: str = "c1", **given: Any) -> Said:
    """Return an answer that calls a tool."""
    return Said({"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": given}]})


def result(text: str, call_id: str = "c1", *, is_error: bool = False, **how: Any) -> Said:
    """Return what a tool returned."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}
    return Said({"role": "user", "content": [block]}, **how)


def told(*happenings: Happening, **given: Any) -> Story:
    """Return the story of happenings on Anthropic's wire, with a token for each letter."""
    return tell(happenings, "anthropic", counter=Letters(), **given)


def tokens_of(story: Story) -> list[int]:
    """Return the fill of each turn."""
    return [turn.tokens for turn in story.turns]


def test_a_turn_holds_what_was_said_before_its_answer_and_not_the_answer() -> None:
    """Hosts order figures and messages within an answer differently: all three orders make the same turns."""
    first, second = "x" * 96, "y" * 46
    thinking = Said({"role": "assistant", "content": [{"type": "thinking", "thinking": "z", "signature": "s" * 900}]})
    none = Answered(None)
    before = (user(first), none, thinking, answer("ok"), user(second), none, answer("no"))
    behind = (user(first), thinking, answer("ok"), none, user(second), answer("no"), none)
    amid = (user(first), thinking, none, answer("ok"), user(second), none, answer("no"))
    unrecorded = (user(first), thinking, answer("ok"), user(second), answer("no"))
    stories = [told(*order) for order in (before, behind, amid, unrecorded)]
    assert {tuple(tokens_of(story)) for story in stories} == {tuple(tokens_of(stories[0]))}
    one, two = stories[0].turns
    assert one.by_kind == {"user": 96 + FRAME}
    # A signature is not text of the model's: the type and the words of the block are counted.
    assert two.by_kind == {"user": 96 + 46 + 2 * FRAME, "assistant": 2, "reasoning": 37 + FRAME}
    assert [item.requests for story in stories for item in story.items if item.kind == "reasoning"] == [1] * 4


def test_two_figures_of_one_reply_are_two_turns() -> None:
    """An answer that was paused and continued is two requests, the second of which holds the first part."""
    before = told(user("x" * 6), Answered(None), answer("abc"), Answered(None), answer("de"))
    behind = told(user("x" * 6), answer("abc"), Answered(None), answer("de"), Answered(None))
    assert tokens_of(before) == tokens_of(behind) == [10, 17]


def test_calls_of_one_answer_are_one_turn_however_they_are_recorded() -> None:
    """Parallel calls are recorded each before its own result: blocks with one id belong to one answer."""
    first, second = call("Read", "c1", file_path="a.py"), call("Read", "c2", file_path="b.py")
    blocks = [said._replace(part_of="m1") for said in (first, second)]
    results = [result("A" * 9, "c1"), result("B" * 9, "c2")]
    beside: tuple[Happening, ...] = (user("go"), Answered(50), *blocks, *results, Answered(60), answer("ok"))
    parallel = (blocks[0], results[0], blocks[1], results[1])
    among: tuple[Happening, ...] = (user("go"), Answered(50), *parallel, Answered(60), answer("ok"))
    unrecorded = (user("go"), *parallel, answer("ok"))
    assert [tokens_of(told(*order)) for order in (beside, among)] == [[50, 60], [50, 60]]
    assert len(told(*unrecorded).turns) == 2


def test_unrecorded_content_is_separated_and_carried_on() -> None:
    """If the provider counted more, the rest is `unrecorded`, also in requests without a figure of their own."""
    story = told(user("x" * 96), Answered(1_000), answer("ok"), user("y" * 6), Answered(None), answer("ok"))
    assert [turn.by_kind for turn in story.turns] == [
        {"user": 100, "unrecorded": 900},
        {"user": 110, "assistant": 6, "unrecorded": 900},
    ]
    assert [turn.is_measured for turn in story.turns] == [True, False]
    assert story.turns[1].counted_tokens == 116


def test_the_kinds_are_scaled_down_if_our_count_is_above_the_measurement() -> None:
    """The turn has the provider's figure, whatever we count: the kinds share it in proportion."""
    story = told(Instructed("s" * 300), user("x" * 596), Answered(301), answer("ok"))
    assert story.turns[0].by_kind == {"instructions": 100, "user": 201}
    assert story.turns[0].counted_tokens == 900


def test_figures_that_measure_nothing_are_known_as_such() -> None:
    """Zero, a host's own words in place of an answer, and the window after a refusal are not measurements."""
    zero = told(user("x"), Answered(0, model="gpt-5"), answer("ok"))
    synthetic = told(user("x"), answer("API Error"), Answered(17, model="<synthetic>"))
    assert [story.turns[0].is_measured for story in (zero, synthetic)] == [False, False]
    assert (zero.turns[0].recorded_tokens, synthetic.model) == (0, "")

    refused = told(
        *(user("x" * 96), Answered(200, window_tokens=1_000), answer("ok"), user("y" * 900)),
        *(Refused("Your input exceeds the context window of this model"), Answered(1_000, window_tokens=1_000)),
    )
    # The figure after the refusal belongs to the refused request: it makes no third turn, and is not a measurement.
    assert tokens_of(refused) == [200, 200 + 2 + FRAME + 900 + FRAME]
    assert (refused.turns[1].recorded_tokens, refused.turns[1].is_measured) == (1_000, False)
    full = told(user("x" * 96), Answered(1_000, window_tokens=1_000), answer("ok"))
    assert full.turns[0].is_measured, "a full window that nobody refused is a measurement"


def test_a_refusal_is_a_turn_with_the_size_that_it_names() -> None:
    """The numbers in the words are the provider's: the request's size, and the window."""
    story = told(user("x" * 96), Refused("prompt is too long: 213462 tokens > 200000 maximum", at="noon"))
    assert (story.turns[0].tokens, story.turns[0].is_measured, story.turns[0].is_refused) == (213_462, True, True)
    (refusal,) = story.refusals
    assert (refusal.turn, refusal.kind, refusal.limit_tokens, refusal.input_tokens) == (
        1,
        "context_input",
        200_000,
        213_462,
    )
    assert (story.window_tokens, story.window_source) == (200_000, "as a refusal named it")
    assert story.state == "stuck"
    assert told(user("x"), Refused("Overloaded")).state == "refused"
    assert told(user("x")).state == "empty"
    assert told(user("x"), answer("y")).state == "open"
    nothing = told(user("x"), Refused("prompt is too long: 213462 tokens > 200000 maximum"), Answered(None))
    assert nothing.turns[0].recorded_tokens == 213_462, "a figure of nothing takes nothing away"


def test_the_window_is_that_of_the_best_source() -> None:
    """A person's value outranks a refusal's, and a refusal's outranks what the host records."""
    recorded = (user("x"), Answered(5, window_tokens=258_400))
    refused = (*recorded, Refused("prompt is too long: 213462 tokens > 200000 maximum"))
    assert told(*recorded).window_tokens == 258_400
    assert told(*refused).window_tokens == 200_000
    assert told(*refused, window_tokens=100_000).window_tokens == 100_000
    assert told(user("x")).window_tokens is None


def compacted() -> tuple[Happening, ...]:
    """Return a session in which two files are read, a compaction keeps the task, and one file is read again."""
    task = "the task"
    return (
        *(user(task), Answered(None), call("Read", "c1", file_path="a.py"), result("A" * 500, "c1")),
        *(
            Answered(None),
            call("Read", "c2", file_path="b.py"),
            result("B" * 300, "c2"),
            Answered(None),
            answer("Done."),
        ),
        *(Compacted(9_999, by_hand=True), user(task, again=True), user("environment", by_host=True)),
        *(user("what was done so far", by_host=True, is_summary=True), user("go on"), Answered(None)),
        *(call("Read", "c3", file_path="a.py"), result("A" * 500, "c3"), Answered(None), answer("Now.")),
    )


def test_a_line_in_place_of_a_cleared_result_is_not_an_answer() -> None:
    """The call is still there and its result is not: asking again shows that it was needed; a result that stayed was not."""
    line = "[cleared: Read a.py; about 500 tokens, 20 lines; run it again to see it]"

    def after(stands: str) -> Story:
        asked = call("Read", "c1", file_path="a.py")
        return told(
            *(user("the task"), Answered(None), asked, result("A" * 500), Answered(None), Compacted()),
            *(user("the task", again=True), asked._replace(again=True), result(stands, again=True)),
            *(
                Answered(None),
                call("Read", "c2", file_path="a.py"),
                result("A" * 500, "c2"),
                Answered(None),
                answer("Now."),
            ),
        )

    assert [again.what for again in after(line).compactions[0].needed_again] == ["a.py"]
    assert after("A" * 500).compactions[0].needed_again == ()


def test_a_compaction_says_what_went_and_what_was_asked_again() -> None:
    """What is repeated stays the same part; the summary replaces the rest."""
    story = told(*compacted())
    (cut,) = story.compactions
    assert (cut.turn, cut.before_tokens, cut.by_hand) == (3, 9_999, True)
    assert cut.by_kind["results"] == 800 + 2 * FRAME
    assert "user" not in cut.by_kind
    assert cut.after_tokens == len("the task") + FRAME + len("environment") + len("what was done so far")
    assert [(again.name, again.what, again.tokens) for again in cut.needed_again] == [("Read", "a.py", 504)]
    assert story.turns[3].by_kind == {"summary": 20, "host": 11, "user": len("the task") + FRAME + len("go on")}
    task = next(item for item in story.items if item.what == "the task")
    assert (task.turn, task.requests) == (1, 5), "it went with every request, before the compaction and behind it"


def test_what_a_compaction_takes_is_not_a_reread() -> None:
    """A file reread after a compaction was needed; one reread while it is still there was waste."""
    assert told(*compacted()).waste.rereads == ()
    twice = (call("Read", "c1", file_path="a.py"), result("A" * 50, "c1"), Answered(None))
    (again,) = told(user("go"), Answered(None), *twice, *twice, *twice, answer("ok")).waste.rereads
    assert (again.name, again.what, again.times, again.tokens) == ("Read", "a.py", 3, 108)
    other = (call("Read", "c9", file_path="a.py"), result("B" * 50, "c9"), Answered(None))
    assert told(user("go"), Answered(None), *twice, *other).waste.rereads == ()


def test_floods_errors_and_tools_that_were_never_called_are_waste() -> None:
    """A result of a twentieth of the window floods it; a repeated error and a tool without a call are named."""
    failed = (call("Bash", "c1", command="make"), result("make: no rule", "c1", is_error=True), Answered(None))
    tools: Sequence[Any] = ({"name": "Bash", "input_schema": {}}, {"name": "Draw", "input_schema": {}})
    story = told(
        *(Instructed("be brief", tuple(tools)), user("go"), Answered(None), *failed, *failed),
        *(
            call("Bash", "c2", command="make log"),
            result("L" * 100, "c2", place=Place(7, 19)),
            Answered(None),
            answer("ok"),
        ),
        window_tokens=2_000,
    )
    (flood,) = story.waste.floods
    assert (flood.name, flood.what, flood.tokens, flood.place) == ("Bash", "make log", 104, Place(7, 19))
    assert story.waste.repeated_errors == (RepeatedError("Bash", "make: no rule", 2),)
    assert story.waste.unused_tools == (UnusedTool("Draw", len(json.dumps(tools[1]))),)
    assert story.turns[0].by_kind["tool definitions"] == sum(len(json.dumps(tool)) for tool in tools)
    assert story.waste.rereads == ()


def test_media_in_a_result_is_media() -> None:
    """A screenshot that a tool returns is not text of its result."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}}
    block = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "seen"}, image]}
    story = told(user("go"), Answered(None), call("Shot"), Said({"role": "user", "content": [block]}), Answered(None))
    assert story.turns[1].by_kind["results"] == len("seen") + FRAME
    assert story.turns[1].by_kind["media"] == 1_568
    assert next(item for item in story.items if item.kind == "media").name == "image/png"


def test_a_call_without_a_result_says_what_it_was_about() -> None:
    """An orphan of a killed session is named like any other call."""
    story = told(user("go"), Answered(None), call("Bash", "c1", command="sleep 9"), user("again"), Answered(None))
    assert next(item.what for item in story.items if item.kind == "calls") == "sleep 9"


def test_no_text_of_a_session_is_kept() -> None:
    """A story's memory is that of its list of contents: of 40 MB of results less than a fiftieth stays."""
    import tracemalloc

    def long() -> Any:
        yield user("go")
        for number in range(400):
            yield Answered(None)
            yield call("Read", f"c{number}", file_path=f"{number}.py")
            yield result(f"{number:<10}" * 10_000, f"c{number}")

    tracemalloc.start()
    try:
        story = tell(long(), "anthropic", counter=Letters())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(story.by_tool.values()) == 400 * (100_000 + FRAME)
    # 64 messages are held while a model's name is searched for.
    assert peak < 8_000_000
