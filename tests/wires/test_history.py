"""In a history that only grows, what is shown, what stays, and what belongs together?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.wires.test_violations import (
    PROGRAM,
    RAN,
    THINKING,
    USER,
    YES,
    chat_call,
    chat_result,
    item_call,
    item_output,
    results,
    said,
    text,
    uses,
)

from penstock.errors import CallerError
from penstock.wires import (
    Cleared,
    Media,
    Text,
    ToolResult,
    Transcript,
    dump,
    load,
    load_request,
    result_messages,
    violations,
)

pytestmark = pytest.mark.proves("LAW-Transcript")

SYSTEM = {"role": "system", "content": "Be brief."}
TALK = [
    SYSTEM,
    USER,
    chat_call("a", "b"),
    chat_result("a", "A" * 9),
    chat_result("b"),
    YES,
    {**USER, "content": "more"},
]


def raws(transcript: Transcript) -> list[Any]:
    return dump(transcript, transcript.wire)


def test_a_cleared_result_keeps_its_pair_and_its_original() -> None:
    """Only the words that are shown change; the original entry stays, and the handle is available."""
    talk = load(TALK, "openai-chat")
    after = talk.replace_result(3, "a", "[cleared]", "h1")
    assert raws(after)[3] == {"role": "tool", "tool_call_id": "a", "content": "[cleared]"}
    assert raws(after)[:3] + raws(after)[4:] == TALK[:3] + TALK[4:]
    assert after.entries == talk.entries
    assert after.handles() == ("h1",)


@pytest.mark.proves("W-7")
def test_what_replaces_text_is_counted_once() -> None:
    """A result that was cut twice counts once, and one that a later span took belongs to that span."""
    talk = load([USER, uses("a"), results("a"), uses("b"), results("b"), USER], "anthropic")
    twice = talk.replace_result(2, "a", "[cut]", "h1").replace_result(2, "a", "[cleared]", "h1")
    assert [cut.text for cut in twice.standing_cuts() if isinstance(cut, Cleared)] == ["[cleared]"]
    other = twice.replace_result(4, "b", "[cut]", "h2")
    assert len(other.standing_cuts()) == 2
    spanned = other.drop_span(1, 2, "[Left out]", "h3")
    (span, rest) = spanned.standing_cuts()[::-1]
    assert (span.handle, rest.handle) == ("h3", "h2")
    assert [cut.handle for cut in spanned.drop_span(1, 4, "[Left out]", "h4").standing_cuts()] == ["h4"]


def test_a_cleared_block_keeps_its_keys_and_its_neighbours() -> None:
    """Error mark, cache mark and the text next to it stay; the image in it is removed whole."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    block = {
        "type": "tool_result",
        "tool_use_id": "a",
        "is_error": True,
        "content": [text("x"), image],
        "cache_control": {},
    }
    user = {"role": "user", "content": [block, {**block, "tool_use_id": "b"}, text("go on")]}
    after = load([USER, uses("a", "b"), user], "anthropic").replace_result(2, "a", "[cleared]")
    assert raws(after)[2]["content"] == [
        {**block, "content": "[cleared]"},
        {**block, "tool_use_id": "b"},
        text("go on"),
    ]
    assert list(raws(after)[2]["content"][0]) == list(block)
    assert after.visible()[2].results[0] == ToolResult(
        call_id="a", text="[cleared]", parts=(Text("[cleared]"),), is_error=True
    )


@pytest.mark.parametrize(
    ("before", "after", "roles"),
    [
        (USER, YES, ["user", "assistant", "user", "assistant"]),
        (YES, USER, ["assistant", "user", "assistant", "user"]),
        (YES, YES, ["assistant", "user", "assistant"]),
    ],
)
def test_a_note_keeps_roles_alternating_without_touching_a_neighbour(before: Any, after: Any, roles: list[str]) -> None:
    """Whatever surrounds it, the neighbours are the same bytes, and roles alternate as before."""
    turn: list[Any] = [USER, YES] if before is YES and after is USER else [uses("a"), results("a")]
    turn = [USER] if before is YES and after is YES else turn
    head = [USER] if before is YES else []
    messages = [*head, before, *turn, after, *([USER] if after is YES else [])]
    first = len(head) + 1
    shown = raws(load(messages, "anthropic").drop_span(first, first + len(turn) - 1, "3 files read"))
    assert [m["role"] for m in shown[len(head) :]][: len(roles)] == roles
    assert shown[:first] == messages[:first]
    assert after in shown
    assert violations(shown, "anthropic") == []


def test_a_lone_answer_becomes_a_note_of_the_assistant() -> None:
    """Between two user messages only the assistant's role fits."""
    shown = raws(load(TALK, "openai-chat").drop_span(5, 5, "agreed"))
    assert shown[5] == {"role": "assistant", "content": "agreed"}


def test_neighbouring_notes_are_one_and_can_be_left_out_again() -> None:
    """A later span may cover older notes; the newest note says it all."""
    messages = [USER, uses("a"), results("a"), uses("b"), results("b"), uses("c"), results("c")]
    twice = load(messages, "anthropic").drop_span(1, 2, "first").drop_span(3, 4, "second")
    assert [m["content"] for m in raws(twice)[2:3]] == ["first\nsecond"]
    assert violations(raws(twice), "anthropic") == []
    whole = twice.drop_span(1, 6, "all of it")
    assert [m["role"] for m in raws(whole)] == ["user", "assistant", "user"]
    with pytest.raises(CallerError, match="whole turns"):
        twice.drop_span(1, 2, "half of a note")


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        (2, 3, "whole turns"),
        (4, 4, "whole turns"),
        (0, 0, "stay"),
        (1, 4, "stay"),
        (5, 6, "stay"),
        (9, 9, "whole turns"),
    ],
)
def test_a_span_that_would_cut_or_forget_too_much_is_refused(first: int, last: int, why: str) -> None:
    """Turns are whole; instructions, the task and the newest user message stay."""
    with pytest.raises(CallerError, match=why):
        load(TALK, "openai-chat").drop_span(first, last, "note")


def test_what_cannot_be_replaced_is_refused() -> None:
    """There is no such entry, no such call, a pin, or a screenshot."""
    talk = load(TALK, "openai-chat")
    for index, call in ((1, "a"), (3, "b"), (99, "a")):
        with pytest.raises(CallerError, match="shows no result"):
            talk.replace_result(index, call, "x")
    with pytest.raises(CallerError, match="has to stay"):
        talk.pin(3).replace_result(3, "a", "x")
    with pytest.raises(CallerError, match="stay"):
        talk.pin(3).drop_span(2, 4, "x")
    screen = {
        "type": "computer_call_output",
        "call_id": "c",
        "output": {"type": "computer_screenshot", "image_url": "x"},
    }
    asked = {"type": "computer_call", "id": "cu", "call_id": "c", "action": {}}
    with pytest.raises(CallerError, match="has to stay"):
        load([USER, asked, screen], "openai-responses").replace_result(2, "c", "x")


def test_a_turn_holds_a_batch_and_all_its_results() -> None:
    """Calls are parallel, results are in any order, and a message of the user is in between."""
    turns = load(TALK, "openai-chat").turns()
    assert [(turn.kind, turn.first, turn.last) for turn in turns] == [
        ("system", 0, 0), ("user", 1, 1), ("assistant", 2, 4), ("assistant", 5, 5), ("user", 6, 6),
    ]  # fmt: skip
    items: list[Any] = [USER, item_call("a"), item_call("b"), item_output("b"), USER, item_output("a"), USER]
    assert [(t.first, t.last) for t in load(items, "openai-responses").turns()] == [(0, 0), (1, 5), (6, 6)]


def test_a_step_that_rests_on_signed_reasoning_stays_with_it() -> None:
    """In a tool loop a step without its own thinking belongs to the last one that thought; a thinking step begins a new turn."""
    think = said(THINKING, *uses("a")["content"])
    again = said(THINKING, *uses("c")["content"])
    messages = [USER, think, results("a"), uses("b"), results("b"), again, results("c")]
    turns = load(messages, "anthropic").turns()
    assert [(turn.first, turn.last) for turn in turns] == [(0, 0), (1, 4), (5, 6)]


def test_what_the_provider_runs_itself_stays_with_its_result() -> None:
    """A program of the provider's that calls our tools spans several messages, which are one turn."""
    messages = [USER, PROGRAM, results("a"), said(RAN, text("done")), USER]
    assert [(turn.first, turn.last) for turn in load(messages, "anthropic").turns()] == [(0, 0), (1, 3), (4, 4)]


def test_a_program_of_openais_stays_with_its_output() -> None:
    """Its calls of our functions come in between; without the program the API would not know what its output answers."""
    program = {"type": "program", "id": "p", "call_id": "run", "code": "await view()", "fingerprint": "f"}
    came = {"type": "program_output", "id": "o", "call_id": "run", "result": "done", "status": "completed"}
    items = [USER, program, item_call("a"), item_output("a"), came, {"role": "assistant", "content": "Done."}, USER]
    assert [(turn.first, turn.last) for turn in load(items, "openai-responses").turns()] == [(0, 0), (1, 5), (6, 6)]


@pytest.mark.parametrize("form", [{"action": {"type": "wait"}}, {"action": None, "actions": [{"type": "wait"}]}])
def test_what_a_call_does_on_a_screen_is_its_arguments(form: dict[str, Any]) -> None:
    """Older models do one thing in a call, newer ones several; otherwise it would count as nothing."""
    [call] = (
        load([USER, {"type": "computer_call", "id": "cu", "call_id": "c", **form}], "openai-responses").entries[1].calls
    )
    assert '"type":"wait"' in call.arguments.replace(" ", "")


def test_the_task_and_the_newest_user_message_are_found_among_results() -> None:
    """A user message of only results is not a word of the user; one that also has text is."""
    messages = [
        USER,
        uses("a"),
        {"role": "user", "content": [*results("a")["content"], text("hurry")]},
        uses("b"),
        results("b"),
    ]
    talk = load(messages, "anthropic")
    task, newest = talk.task(), talk.newest_user()
    assert task is not None
    assert newest is not None
    assert (task.index, newest.index, newest.text) == (0, 2, "hurry")
    assert [entry.role for entry in talk.entries] == ["user", "assistant", "user", "assistant", "tool"]
    assert talk.protected() == {0, 2}


def test_parts_tell_what_compaction_asks_for() -> None:
    """They give the tool, its arguments, what it returned, and the bytes of media."""
    call = chat_call("a", arguments='{"path": "a.py"}')
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400}}
    talk = load([{"role": "user", "content": [text("look"), image]}, call, chat_result("a", "1|x")], "openai-chat")
    media = talk.entries[0].parts[1]
    assert isinstance(media, Media)
    assert (media.kind, media.bytes_estimate, media.media_type) == ("image", 300, "image/png")
    assert talk.entries[1].calls[0].values == {"path": "a.py"}
    assert (talk.entries[1].calls[0].name, talk.entries[2].results[0].text) == ("view", "1|x")


def test_the_answer_to_a_program_names_it_again() -> None:
    """OpenAI's responses API gives an output to the program of the model's that asked, which the call names."""
    caller = {"type": "program", "caller_id": "run_1"}
    asked = {"type": "function_call", "call_id": "a", "name": "view", "arguments": "{}"}
    calls = load([{**asked, "caller": caller}, {**asked, "call_id": "b"}], "openai-responses").entries
    first, second = result_messages("openai-responses", [(entry.calls[0], "1", False) for entry in calls])
    assert first == {"type": "function_call_output", "call_id": "a", "output": "1", "caller": caller}
    assert second == {"type": "function_call_output", "call_id": "b", "output": "1"}


def test_a_caller_that_changes_its_list_changes_no_transcript() -> None:
    """What is loaded and what is dumped are copies."""
    messages: list[Any] = [{"role": "user", "content": [text("hi")]}]
    talk = load(messages, "openai-chat")
    messages[0]["content"][0]["text"] = "changed"
    dump(talk, "openai-chat")[0]["content"].clear()
    assert raws(talk) == [{"role": "user", "content": [text("hi")]}]


def test_the_journal_gives_back_an_equal_transcript() -> None:
    """Entries, edits, instructions, tools and the reply's form come back; another schema and a broken record are named."""
    form = {"type": "json_schema", "json_schema": {"schema": {}}}
    body = {"messages": TALK, "tools": [{"type": "function"}], "response_format": form}
    talk = load_request(body, "openai-chat").replace_result(3, "a", "x", "h").pin(5)
    after = talk.append({"role": "assistant", "content": "fine"})
    assert Transcript.from_dict(after.to_dict()) == after
    assert after.reply_schema == form
    earlier = {name: value for name, value in after.to_dict().items() if name != "reply_schema"}
    assert Transcript.from_dict(earlier).reply_schema is None
    far = {"edit": "cleared", "index": 99, "call_id": "a", "text": "x"}
    for wrong in (
        {"schema": 2},
        {**after.to_dict(), "edits": [far]},
        {**after.to_dict(), "edits": [{"edit": "burned"}]},
        {"schema": 1},
    ):
        with pytest.raises(CallerError):
            Transcript.from_dict(wrong)


def test_what_is_not_a_list_cannot_be_loaded() -> None:
    """The error tells the programmer what came instead."""
    with pytest.raises(CallerError, match="not dict"):
        load({"role": "user"}, "openai-chat")  # type: ignore[arg-type]
    assert raws(load("hi", "openai-responses")) == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize("also", [[], [{"type": "text", "text": "Two tools."}]])
def test_the_tools_that_a_search_found_stay_offered(also: list[Any]) -> None:
    """Anthropic's model has only the tools that results refer to; words next to them may be cut like any others."""
    found = [{"type": "tool_reference", "tool_name": name} for name in ("weather", "maps")]
    result = {"type": "tool_result", "tool_use_id": "a", "content": [*found, *also]}
    history = load([USER, uses("a"), {"role": "user", "content": [result]}], "anthropic")
    (read,) = history.entries[2].results
    assert read.is_clearable is bool(also)
    if also:
        (cut,) = dump(history.replace_result(2, "a", "[cut]"), "anthropic")[2]["content"]
        assert cut["content"] == [*found, {"type": "text", "text": "[cut]"}]
        (blank,) = dump(history.replace_result(2, "a", ""), "anthropic")[2]["content"]
        assert blank["content"] == found
