"""Is a request carried, and recovered from an overflow, on every rung of the ladder and to every possible end?"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from tests.carrier.conftest import HttpRefused, poster
from tests.wires.strategies import HOSTED_BLOCKS, HOSTED_ITEMS, PNG

from penstock import Carrier, aexecute, execute, overflow
from penstock.context.handoff import decode
from penstock.context.recovery import TooLarge
from penstock.errors import CallerError
from penstock.models import fail, refuse, say
from penstock.store import StoreFault
from penstock.testing import LoopbackProvider
from penstock.wires import messages_of, violations

if TYPE_CHECKING:
    from penstock.store import Store

WIRES = ("openai-chat", "openai-responses", "anthropic")
FLOOD = "\n".join(f"src/package/module_{number:05d}.py" for number in range(40_000))

SAID_NO_NUMBER = "Input is too long for requested model."
SAID = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9012 tokens."


def chat(*results: str, task: str = "How many modules are there?", **settings: Any) -> dict[str, Any]:
    """Return a request of OpenAI chat, with one turn for each result."""
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": task}]
    for number, result in enumerate(results):
        function = {"name": "run", "arguments": json.dumps({"command": f"step {number}"})}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return {"model": "gpt-4o", "messages": messages, **settings}


def on(wire: str, *results: str) -> dict[str, Any]:
    """Return the same on any wire."""
    if wire == "openai-chat":
        return chat(*results)
    if wire == "anthropic":
        messages: list[Any] = [{"role": "user", "content": "How many modules are there?"}]
        for number, result in enumerate(results):
            used = {"type": "tool_use", "id": f"toolu_{number}", "name": "run", "input": {"command": f"step {number}"}}
            returned = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result}
            messages += [{"role": "assistant", "content": [used]}, {"role": "user", "content": [returned]}]
        return {"model": "claude-opus-4-8", "max_tokens": 1_000, "system": "Be brief.", "messages": messages}
    items: list[Any] = [{"role": "user", "content": "How many modules are there?"}]
    for number, result in enumerate(results):
        arguments = json.dumps({"command": f"step {number}"})
        items.append({"type": "function_call", "call_id": f"c{number}", "name": "run", "arguments": arguments})
        items.append({"type": "function_call_output", "call_id": f"c{number}", "output": result})
    return {"model": "gpt-4o", "instructions": "Be brief.", "input": items}


def never(request: Any) -> Any:
    """Fail, as a send function that must not be called."""
    raise AssertionError(f"sent: {str(request)[:200]}")


@pytest.mark.proves("O-7")
@pytest.mark.parametrize("wire", WIRES)
def test_what_fits_is_sent_once_and_as_it_is(wire: str, store: Store) -> None:
    """The provider sees the caller's own body, and the caller the provider's own answer."""
    request = on(wire, "12 modules")
    with LoopbackProvider(wire, 8_000, script=[say("twelve")]) as provider:
        result = execute(poster(provider), request, wire=wire, window_tokens=8_000, store=store)
        assert [received.request for received in provider.requests] == [request]
    assert (result.success, result.attempts, result.strategy, result.tokens_reduced) == (True, 1, "normal", 0)
    assert (result.error, result.warnings, result.overflow_severity) == (None, [], "none")
    assert "twelve" in json.dumps(result.response)
    assert result.request is request
    assert store.artifacts() == []


@pytest.mark.proves("O-7")
@pytest.mark.parametrize("before", [0, 1], ids=["at once", "after an overflow"])
def test_an_error_that_is_no_overflow_passes_through_untouched(before: int, store: Store) -> None:
    """It is the same exception object, whether it comes first or after something was made smaller."""
    rate_limited = HttpRefused(429, '{"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}')
    answers: list[Exception] = [HttpRefused(400, "prompt is too long: 9000 tokens > 8000 maximum")] * before
    answers.append(rate_limited)

    def send(_request: Any) -> Any:
        raise answers.pop(0)

    with pytest.raises(HttpRefused) as raised:
        execute(send, chat("x " * 9_000), wire="openai-chat", window_tokens=200_000, store=store)
    assert raised.value is rate_limited
    assert answers == []


@pytest.mark.proves("O-4", "O-5")
@pytest.mark.parametrize("named", [True, False], ids=["named in the request", "the server's own"])
def test_only_the_reply_is_lowered_if_it_does_not_fit_with_the_request(named: bool, store: Store) -> None:
    """No word of the history is removed if a smaller reply is enough."""
    request = chat("a short result", max_tokens=7_990) if named else chat("a short result")
    refused = HttpRefused(
        400,
        "This model's maximum context length is 8000 tokens. However, you requested 8100 tokens (110 in the messages, "
        "7990 in the completion). Please reduce the length of the messages or completion.",
    )
    sent: list[Any] = []

    def send(body: Any) -> Any:
        sent.append(body)
        if len(sent) == 1:
            raise refused
        return {"choices": []}

    result = execute(send, request, wire="openai-chat", window_tokens=8_000, store=store)
    assert (result.success, result.strategy, result.attempts) == (True, "lower_reserve", 2)
    assert sent[1]["messages"] == request["messages"]
    lowered = sent[1].get("max_tokens") or sent[1]["max_completion_tokens"]
    assert 7_000 < lowered <= 8_000 - 110


@pytest.mark.proves("O-6", "O-8")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("knows", [True, False], ids=["window known", "window believed larger"])
def test_a_catastrophe_hands_off_first_offloads_the_flood_and_keeps_the_rest(
    wire: str, knows: bool, store: Store
) -> None:
    """One smaller request is sent: the flood is reduced to its ends with a handle, all other messages are as they were."""
    request = on(wire, "one result that stays", FLOOD)
    with LoopbackProvider(wire, 32_768, script=[say("40,000")]) as provider:
        window = 32_768 if knows else 2_000_000
        result = execute(poster(provider), request, wire=wire, window_tokens=window, store=store)
        assert provider.refused == (0 if knows else 1)
    assert (result.success, result.strategy) == (True, "offload")
    assert result.attempts == (1 if knows else 2)
    if wire == "openai-responses" and not knows:  # refused without a number, and the caller knows no window
        assert result.overflow_severity == "unknown"
        return
    assert result.overflow_severity == ("none" if knows else "catastrophic")  # what we trim ourselves is not a refusal
    assert result.tokens_reduced > 200_000
    before, after = messages_of(request, wire), messages_of(result.request, wire)
    assert after[:-1] == before[:-1]
    kinds = {info.name: info for info in store.artifacts()}
    if not knows:
        assert decode(store.read(kinds["handoff"].handle, 0, 1 << 20)) == result.handoff
    flood = kinds["run"]
    assert store.read(flood.handle, 0, flood.bytes).decode() == FLOOD
    assert f"penstock page {flood.handle} --store" in json.dumps(after[-1])


@pytest.mark.proves("O-6")
def test_a_catastrophe_that_is_refused_again_ends_with_the_tip_and_a_fresh_start(store: Store) -> None:
    """There are two warnings and a message with a tip; the next prompt works on the same provider."""
    script = [*[refuse(996_201, of=32_768)] * 3, say("Ready.")]
    with LoopbackProvider("openai-chat", 32_768, script=script) as provider:
        send = poster(provider)
        result = execute(send, chat(FLOOD[:60_000]), wire="openai-chat", window_tokens=32_768, store=store)
        assert (result.success, result.strategy, result.attempts) == (False, "tool_output_overflow", 3)
        assert result.overflow_severity == "catastrophic"
        assert result.warnings == [
            "A tool returned too much data for the context window.",
            "Use more specific parameters or pagination.",
        ]
        assert result.message.startswith("[Tool output too large]\n")
        assert "Use count_files() before list_files()" in result.message
        assert overflow.parse(result.error) is not None
        assert result.handoff is not None
        assert result.handoff.goal == "How many modules are there?"
        messages = [*result.fresh["messages"], {"role": "user", "content": "Once more."}]
        following = execute(
            send, {**result.fresh, "messages": messages}, wire="openai-chat", window_tokens=32_768, store=store
        )
        assert (following.success, following.strategy) == (True, "normal")
    handle = result.handoff.handles[-1]
    assert FLOOD[:1_000] in store.read(handle, 0, 1 << 20).decode().replace("\\n", "\n"), (
        "the whole conversation is kept"
    )


@pytest.mark.proves("O-4", "O-5")
@pytest.mark.parametrize(
    ("part", "request_"),
    [
        ("newest user message", chat(task=FLOOD)),
        ("system", {"model": "gpt-4o", "messages": [{"role": "system", "content": FLOOD}, *chat()["messages"][1:]]}),
        ("tools", chat(tools=[{"type": "function", "function": {"name": "t", "description": FLOOD}}])),
    ],
    ids=["message", "system", "tools"],
)
def test_what_cannot_shrink_is_asked_once_and_is_named(part: str, request_: dict[str, Any], store: Store) -> None:
    """Only the provider knows how it counts; its refusal and a bill whose largest line is the part to shorten are the proof."""
    with LoopbackProvider("openai-chat", 8_000, script=[]) as provider:
        result = execute(poster(provider), request_, wire="openai-chat", window_tokens=8_000, store=store)
        assert provider.refused == 1
    assert (result.success, result.strategy, result.attempts) == (False, "irreducible", 1)
    assert isinstance(result.error, TooLarge)
    assert result.error.bill.lines()[0][0].startswith(part)
    assert part in result.message.splitlines()[1]
    assert (result.fresh is None) == (part in {"system", "tools"}), "a message can be left for the next prompt"


@pytest.mark.proves("O-4")
def test_old_results_go_before_finished_steps_and_both_before_the_users_words(store: Store) -> None:
    """As the window shrinks, deeper rungs are needed: each leaves what the next one would take."""
    request = chat(*(f"result {number}: " + "word " * 900 for number in range(30)))
    request["messages"].insert(4, {"role": "user", "content": "Never touch README."})
    request["messages"].insert(5, {"role": "assistant", "content": "I shall not."})
    rungs = []
    for window in (24_000, 6_000, 2_000):
        with LoopbackProvider("openai-chat", window, script=[say("done")]) as provider:
            result = execute(poster(provider), request, wire="openai-chat", window_tokens=window, store=store)
            assert result.success
            rungs.append({step.strategy for plan in result.plans for step in plan.steps})
            shown = json.dumps(result.request)
            assert "Never touch README." in shown
            assert "How many modules are there?" in shown
    assert ["clear" in rung for rung in rungs] == [True, True, True]
    assert ["spans" in rung for rung in rungs] == [False, True, True]


@pytest.mark.proves("O-4", "O-5")
@pytest.mark.parametrize(
    ("summary", "taken"),
    [
        ("The user wants X; twelve notes were read.", True),
        ("", False),
        ("Error: rate limit exceeded", False),
        ("x" * 900_000, False),
    ],
    ids=["good", "empty", "error", "larger"],
)
def test_a_models_summary_is_asked_last_and_taken_only_if_it_is_one(summary: str, taken: bool, store: Store) -> None:
    """It counts as one of the two calls; a text that is not a summary does not end the recovery either."""
    messages: list[Any] = [{"role": "user", "content": "Remember these notes."}]
    for number in range(12):
        messages += [
            {"role": "assistant", "content": f"Noted {number}."},
            {"role": "user", "content": f"note {number} " + "wish " * 800},
        ]
    messages += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "What is X?"}]
    asked: list[str] = []

    def summarise(prompt: str) -> str:
        asked.append(prompt)
        return summary

    with LoopbackProvider("openai-chat", 4_000, script=[say("X.")]) as provider:
        request = {"model": "gpt-4o", "messages": messages}
        result = execute(
            poster(provider), request, wire="openai-chat", window_tokens=4_000, store=store, summarise=summarise
        )
    assert result.success
    assert len(asked) == 1
    assert "note 3" in asked[0]
    assert (result.strategy == "model_summary") is taken
    assert (summary in json.dumps(result.request)) is taken or not summary


@pytest.mark.proves("O-4")
def test_nothing_more_is_cut_where_the_summary_alone_makes_it_fit(store: Store) -> None:
    """The provider counts as we do and states both numbers; what the summary does not replace is sent as it was."""
    messages: list[Any] = [{"role": "user", "content": "Remember these notes."}]
    for number in range(12):
        messages += [
            {"role": "assistant", "content": f"Noted {number}. " + "I shall " * 60},
            {"role": "user", "content": f"note {number} " + "wish " * 800},
        ]
    messages += chat(*("result: " + "word " * 200 for _ in range(8)))["messages"][1:]
    with LoopbackProvider("openai-chat", 7_000, script=[say("X.")]) as provider:
        result = execute(
            poster(provider),
            {"model": "gpt-4o", "messages": messages},
            wire="openai-chat",
            window_tokens=1_000_000,
            store=store,
            summarise=lambda _prompt: "Twelve notes of wishes.",
        )
        assert provider.refused == 1
    assert result.strategy == "model_summary"
    assert [step.strategy for step in result.plans[-1].steps] == ["model_summary"]


def wishes() -> dict[str, Any]:
    """Return a request of which nearly all is the user's own words."""
    messages: list[Any] = [{"role": "user", "content": "Remember these notes."}]
    for number in range(12):
        messages += [
            {"role": "assistant", "content": f"Noted {number}. " + "I shall " * 60},
            {"role": "user", "content": f"note {number} " + "wish " * 800},
        ]
    return {"model": "gpt-4o", "messages": [*messages, *chat("12", "13")["messages"][1:]]}


@pytest.mark.proves("O-4", "R-1")
@pytest.mark.parametrize(("is_stated", "asked"), [(True, 1), (False, 0)], ids=["numbers", "no number"])
def test_with_two_calls_left_a_summary_is_asked_for_only_where_it_can_be_used(
    is_stated: bool, asked: int, store: Store
) -> None:
    """The last call sends what fits for certain: with numbers that may be a summary, without them it is the floor."""
    prompts: list[str] = []

    def summarise(prompt: str) -> str:
        prompts.append(prompt)
        return "Twelve notes of wishes."

    def send(body: Any) -> Any:
        tokens = len(json.dumps(body)) // 4
        if tokens > 9_000:
            raise HttpRefused(
                400, f"prompt is too long: {tokens} tokens > 9000 maximum" if is_stated else SAID_NO_NUMBER
            )
        return {"choices": [{"message": {"role": "assistant", "content": "done"}}]}

    result = execute(
        send,
        wishes(),
        wire="openai-chat",
        window_tokens=1_000_000,
        store=store,
        summarise=summarise,
        max_calls=3,
    )
    assert result.success
    assert len(prompts) == asked
    assert (result.strategy == "model_summary") is is_stated
    assert ("Twelve notes of wishes." in json.dumps(result.request)) is is_stated


THINKING = {"max_tokens": 30_000, "thinking": {"type": "enabled", "budget_tokens": 28_000}}


@pytest.mark.proves("R-3")
@pytest.mark.parametrize(
    "wording", ["prompt is too long: {} tokens > 20000 maximum", "Input is too long for requested model."]
)
def test_a_reserve_above_the_window_does_not_lead_to_the_floor(wording: str, store: Store) -> None:
    """The provider counts only the input, so thinking takes no room from it."""

    def send(body: Any) -> Any:
        tokens = len(json.dumps(body)) // 4
        if tokens > 20_000:
            raise HttpRefused(400, wording.format(tokens))
        return {"content": [{"type": "text", "text": "done"}], "role": "assistant"}

    request = on("anthropic", *(f"result {number}: " + "word " * 900 for number in range(30))) | THINKING
    result = execute(send, request, wire="anthropic", window_tokens=20_000, store=store)
    assert result.success
    assert result.strategy == "clear"
    assert len(json.dumps(result.request)) > 30_000


@pytest.mark.proves("R-3")
def test_thinking_is_lowered_before_history_goes(store: Store) -> None:
    """The provider counts both against one window: a shorter reply cures it, and leaves a little thinking."""

    def send(body: Any) -> Any:
        tokens, reply = len(json.dumps(body)) // 4, body["max_tokens"]
        assert body["thinking"]["budget_tokens"] < reply
        if tokens + reply > 40_000:
            said = (
                f"input length and `max_tokens` exceed context limit: {tokens} + {reply} > 40000, decrease input length"
            )
            raise HttpRefused(400, said)
        return {"content": [{"type": "text", "text": "done"}], "role": "assistant"}

    request = on("anthropic", *(f"result {number}: " + "word " * 900 for number in range(20))) | THINKING
    result = execute(send, request, wire="anthropic", window_tokens=40_000, store=store)
    assert (result.success, result.strategy, result.attempts) == (True, "lower_reserve", 2)
    assert result.request["messages"] == request["messages"]
    assert 1_024 <= result.request["thinking"]["budget_tokens"] < result.request["max_tokens"] < 28_000


@pytest.mark.proves("R-3")
@pytest.mark.parametrize("over", [4_000, 300, 20])
def test_a_reply_too_short_to_be_worth_a_call_is_not_asked_for(over: int, store: Store) -> None:
    """Next to so much input nearly no room is left: something is forgotten instead, and thinking keeps its room."""
    replies: list[int] = []
    request = on("anthropic", *(f"result {number}: " + "word " * 900 for number in range(6))) | THINKING
    window = len(json.dumps(request)) // 4 + 600 - over

    def send(body: Any) -> Any:
        tokens, reply = len(json.dumps(body)) // 4, body["max_tokens"]
        replies.append(reply)
        assert reply > body["thinking"]["budget_tokens"] >= 1_024
        if tokens + reply > window:
            said = f"input length and `max_tokens` exceed context limit: {tokens} + {reply} > {window}, decrease input length"
            raise HttpRefused(400, said)
        return {"content": [{"type": "text", "text": "done"}], "role": "assistant"}

    result = execute(send, request, wire="anthropic", window_tokens=window, store=store)
    assert (result.success, result.attempts) == (True, 2)
    assert result.strategy != "lower_reserve"
    assert min(replies) > 1_024


@pytest.mark.proves("O-7")
def test_an_overflow_in_a_body_that_came_as_an_answer_is_one(store: Store) -> None:
    """Some gateways send a provider's error with a success status."""
    error = {"error": {"message": "prompt is too long: 9000 tokens > 8000 maximum", "type": "invalid_request_error"}}
    answers = [error, {"choices": []}]
    result = execute(
        lambda _request: answers.pop(0), chat("x " * 9_000), wire="openai-chat", window_tokens=200_000, store=store
    )
    assert (result.success, result.attempts, result.response) == (True, 2, {"choices": []})


@pytest.mark.proves("O-3")
def test_a_server_that_silently_drops_the_beginning_is_reported(store: Store) -> None:
    """The answer is handed over with a warning that names both numbers."""
    answer = {"choices": [], "usage": {"prompt_tokens": 4_096}}
    result = execute(
        lambda _request: answer, chat("word " * 20_000), wire="openai-chat", window_tokens=32_768, store=store
    )
    assert result.success
    assert "4096" in result.warnings[0]


@pytest.mark.proves("G-3", "O-4")
def test_a_store_that_fails_is_said_and_stops_nothing() -> None:
    """The request goes out without handles; the originals are in the transcript."""

    class Full:
        url = "sqlite:///full"

        def put(self, *_: Any, **__: Any) -> str:
            raise StoreFault("disk_full", "No space is left for the store.")

    with LoopbackProvider("openai-chat", 8_000, script=[say("done")]) as provider:
        result = execute(poster(provider), chat(FLOOD), wire="openai-chat", window_tokens=8_000, store=Full())  # type: ignore[arg-type]
    assert result.success
    assert "No space is left" in result.warnings[0]
    assert result.transcript is not None
    assert result.transcript.entries[-1].results[0].text == FLOOD
    assert "page(" not in json.dumps(result.request)


@pytest.mark.proves("O-7")
def test_a_send_function_that_is_awaited_gives_the_same(store: Store) -> None:
    """`aexecute` is `execute` with an await: the same requests go out, with an awaited summary too."""
    request = chat("one", FLOOD)
    with LoopbackProvider("openai-chat", 8_000, script=[say("done"), say("done")]) as provider:
        send = poster(provider)

        async def awaited(body: Any) -> Any:
            return await asyncio.to_thread(send, body)

        one = execute(send, request, wire="openai-chat", window_tokens=8_000, store=store)
        other = asyncio.run(aexecute(awaited, request, wire="openai-chat", window_tokens=8_000, store=store))
    assert (one.success, one.strategy, one.attempts) == (other.success, other.strategy, other.attempts)
    assert one.plans == other.plans


@pytest.mark.proves("O-7")
def test_a_policy_that_fails_on_its_own_is_not_taken_for_an_overflow(store: Store) -> None:
    """Retrying a provider's fault is left to the caller."""
    script = [fail(503, {"error": {"message": "overloaded"}})]
    with LoopbackProvider("openai-chat", 8_000, script=script) as provider, pytest.raises(HttpRefused, match="503"):
        execute(poster(provider), chat("x"), wire="openai-chat", window_tokens=8_000, store=store)


@pytest.mark.proves("O-8")
@pytest.mark.parametrize("wire", WIRES)
def test_a_request_that_was_made_smaller_can_be_made_smaller_again(wire: str, store: Store) -> None:
    """Our notes in it count as nobody's words: the task and the user's newest words stay, however often it is refused."""
    request = on(wire, *(f"result {number}: " + "word " * 900 for number in range(20)))
    for window in (6_000, 3_500, 2_500):
        with LoopbackProvider(wire, window, script=[say("done")]) as provider:
            result = execute(poster(provider), request, wire=wire, window_tokens=window, store=store)
        assert result.success, result.error
        request = result.request
        assert "How many modules are there?" in json.dumps(request)


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 400}}
DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "a line of it\n" * 9_000},
}


@pytest.mark.proves("O-8", "R-7")
@pytest.mark.parametrize("part", [PICTURE, DOCUMENT], ids=["picture", "document"])
@pytest.mark.parametrize("number", [1, 30])
def test_a_result_without_text_leaves_a_stub_with_its_handle(part: dict[str, Any], number: int, store: Store) -> None:
    """An empty result would be untrue: the model could not know that there was anything."""
    messages: list[Any] = [{"role": "user", "content": "Click through."}]
    for at in range(number):
        used = {"type": "tool_use", "id": f"t{at}", "name": "screenshot", "input": {}}
        returned = {"type": "tool_result", "tool_use_id": f"t{at}", "content": [part]}
        messages += [{"role": "assistant", "content": [used]}, {"role": "user", "content": [returned]}]
    sent: list[Any] = []

    def send(body: Any) -> Any:
        sent.append(body)
        if len(sent) == 1:
            raise ValueError(f"prompt is too long: {4_000 * number} tokens > {1_000 * number} maximum")
        return {"content": [{"type": "text", "text": "Seen."}]}

    request = {"model": "claude-sonnet-5", "max_tokens": 500, "messages": messages}
    result = execute(send, request, wire="anthropic", window_tokens=10**6, store=store)
    assert result.success
    results = [block for message in sent[-1]["messages"] for block in message["content"] if "tool_use_id" in block]
    cleared = [block["content"] for block in results if isinstance(block["content"], str)]
    assert all("screenshot" in text and "penstock page" in text for text in cleared)
    assert all(block["content"] for block in results)
    assert cleared or "penstock page" in str(sent[-1]["messages"]), "steps that went whole have one note"


@pytest.mark.proves("R-4")
@pytest.mark.parametrize(
    "refused",
    [
        [{"error": {"code": 400, "message": SAID}}],
        {"choices": [{"index": 0, "finish_reason": "error", "error": {"code": 400, "message": SAID}}]},
        {"detail": SAID},
        {"Message": SAID},
        {"code": "InvalidParameter", "message": SAID},
        {"error_code": 336007, "error_msg": SAID},
        {"success": False, "errors": [{"code": 5021, "message": SAID}]},
        {"base_resp": {"status_code": 1039, "status_msg": SAID}},
        {"object": "error", "message": SAID, "type": "BadRequestError", "code": 400},
    ],
    ids=["array", "choice", "detail", "aws", "dashscope", "baidu", "cloudflare", "minimax", "vllm"],
)
def test_a_gateways_own_form_of_an_error_is_a_refusal(refused: Any, store: Store) -> None:
    """It came with HTTP 200, without an answer where any wire has one."""
    answers = [refused, {"choices": [{"message": {"role": "assistant", "content": "done"}}]}]
    result = execute(
        lambda _: answers.pop(0), chat("x " * 9_000), wire="openai-chat", window_tokens=200_000, store=store
    )
    assert (result.success, result.attempts, answers) == (True, 2, [])


@pytest.mark.proves("R-4")
def test_a_foreign_answer_that_speaks_of_refusals_is_an_answer(store: Store) -> None:
    """Ollama's answer has a `message` with the model's words."""
    answer = {"model": "m", "message": {"role": "assistant", "content": SAID}, "done": True}
    result = execute(lambda _: answer, chat("x"), wire="openai-chat", window_tokens=8_000, store=store)
    assert (result.success, result.attempts, result.response) == (True, 1, answer)


@pytest.mark.proves("R-4")
def test_an_empty_413_that_nobody_raised_is_a_refusal(store: Store) -> None:
    """HTTP clients that raise nothing by themselves return it so."""

    class Response:
        status_code, text = 413, ""

        def json(self) -> Any:
            raise ValueError("no JSON")

    answers = [Response(), {"choices": [{"message": {"role": "assistant", "content": "done"}}]}]
    result = execute(
        lambda _: answers.pop(0), chat("x " * 9_000), wire="openai-chat", window_tokens=200_000, store=store
    )
    assert (result.success, result.attempts) == (True, 2)


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_of_another_wire_is_refused_before_it_is_sent(wire: str, store: Store) -> None:
    """Read as the wrong one, its calls and results would count as broken, and a note would stand for the conversation."""
    for other in set(WIRES) - {wire}:
        with pytest.raises(CallerError, match=f"for {wire}|an object with"):
            execute(never, on(wire, "12 modules"), wire=other, window_tokens=128_000, store=store)


def test_a_method_that_takes_a_request_by_name_is_told_how_to_be_passed(store: Store) -> None:
    """This is how the SDKs take theirs; a TypeError of the function itself is raised as it is."""

    def create(*, model: str, messages: list[Any]) -> Any:
        return never({"model": model, "messages": messages})

    async def acreate(*, model: str, messages: list[Any]) -> Any:
        return create(model=model, messages=messages)

    def broken(request: Any) -> Any:
        return request + 1

    for send in (create, object()):
        with pytest.raises(CallerError, match=r"lambda body: client\.chat\.completions\.create\(\*\*body\)") as told:
            execute(send, chat(), wire="openai-chat", window_tokens=8_000, store=store)  # type: ignore[arg-type]
        assert isinstance(told.value.__cause__, TypeError)
    with pytest.raises(CallerError, match="one argument"):
        asyncio.run(aexecute(acreate, chat(), wire="openai-chat", window_tokens=8_000, store=store))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unsupported operand"):
        execute(broken, chat(), wire="openai-chat", window_tokens=8_000, store=store)


def test_a_function_to_await_is_refused_by_the_door_that_awaits_nothing(store: Store) -> None:
    """Nothing is sent; the error names the function to use instead."""

    async def send(_: Any) -> Any:
        raise AssertionError("never awaited")

    with pytest.raises(CallerError, match="aexecute"):
        execute(send, chat("x"), wire="openai-chat", window_tokens=8_000, store=store)


@pytest.mark.proves("R-6", "O-3")
@pytest.mark.parametrize("share", [0.3, 0.45], ids=["counts a third", "left out what it had cached"])
def test_an_answer_is_not_given_up_for_a_count_that_is_only_low(share: float, store: Store) -> None:
    """It is reported; sending it again smaller would cost an answer and teach a window that does not exist."""
    calls: list[Any] = []

    def send(body: Any) -> Any:
        calls.append(body)
        reported = int(share * len(json.dumps(body)) / 4)
        message = {"role": "assistant", "content": "done"}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": reported}}

    words = "the quick brown fox jumps over a lazy dog " * 1_500
    result = execute(send, chat(words), wire="openai-chat", window_tokens=128_000, store=store)
    assert (len(calls), result.success, result.tokens_reduced) == (1, True, 0)
    assert "seems to have dropped" in result.warnings[0]


@pytest.mark.proves("R-6", "O-3")
def test_a_form_of_the_reply_that_a_server_does_not_count_is_no_cut(store: Store) -> None:
    """Local servers hold the reply to it by a grammar, and their model never reads it: nothing was dropped."""
    calls: list[Any] = []

    def send(body: Any) -> Any:
        calls.append(body)
        message = {"role": "assistant", "content": "{}"}
        reported = len(json.dumps(body["messages"])) // 4
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": reported}}

    schema = {"description": "One field of many. " * 4_000}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    asked = chat(*["one more row of the log\n" * 200] * 6, response_format=form)
    for window_tokens in (32_000, 12_000):
        result = execute(send, asked, wire="openai-chat", window_tokens=window_tokens, store=store)
        assert (result.success, result.warnings, result.tokens_reduced) == (True, [], 0)
    assert calls == [asked, asked]


# ── requests as they came ────────────────────────────────────────────────────────────────────────────────────────

DONE = {"choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]}


@pytest.mark.proves("R-9")
def test_a_request_that_had_to_be_mended_says_so(store: Store) -> None:
    """It fits, and what is sent differs from what the caller wrote: a warning says once what was done."""
    request = chat("one", "two")
    del request["messages"][3]
    sent: list[Any] = []

    def send(body: Any) -> Any:
        sent.append(body)
        if len(sent) == 1:
            raise HttpRefused(400, "prompt is too long: 9000 tokens > 8000 maximum")
        return DONE

    request["messages"][-1]["content"] = FLOOD
    result = execute(send, request, wire="openai-chat", window_tokens=10**6, store=store)
    assert (result.success, len(sent)) == (True, 2)
    told = [warning for warning in result.warnings if "was not valid" in warning]
    assert len(told) == 1
    assert "closed call 'c0' with a result" in told[0]


@pytest.mark.proves("R-9")
@pytest.mark.parametrize(
    ("wire", "request_"),
    [
        ("openai-chat", {"messages": []}),
        ("anthropic", {"messages": [], "max_tokens": 9}),
        ("gemini", {"contents": []}),
        ("bedrock", {"messages": []}),
        ("openai-chat", {"messages": [{"role": "assistant", "content": ""}]}),
        ("openai-responses", {"input": [{"type": "reasoning", "id": "r", "summary": []}]}),
    ],
)
def test_a_request_without_a_message_is_refused_before_it_is_sent(
    wire: str, request_: dict[str, Any], store: Store
) -> None:
    """This includes one in which nothing was valid: repaired to nothing, it would ask the model something else."""
    with pytest.raises(CallerError, match="no messages"):
        execute(never, request_, wire=wire, window_tokens=8_000, store=store)


def test_an_empty_input_that_its_api_takes_is_sent_as_it_is(store: Store) -> None:
    """The provider keeps the prompt."""
    request = {"model": "gpt-4o", "prompt": {"id": "pmpt_1"}, "input": []}
    sent: list[Any] = []
    result = execute(
        lambda body: sent.append(body) or {"output": []},  # type: ignore[func-returns-value]
        request,
        wire="openai-responses",
        window_tokens=8_000,
        store=store,
    )
    assert result.success
    assert sent[0] is request


# ── foreign functions and stores ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("O-7")
@pytest.mark.parametrize("error", [StopIteration("over"), StopAsyncIteration("over"), GeneratorExit, RuntimeError("x")])
def test_whatever_a_send_function_raises_is_raised_as_it_is(error: Any, store: Store) -> None:
    """Python's own signals are among them, such as `next` on an exhausted iterator."""

    def send(_: Any) -> Any:
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)) as raised:
        execute(send, chat("x"), wire="openai-chat", window_tokens=8_000, store=store)
    assert isinstance(error, type) or raised.value is error


@pytest.mark.proves("G-3")
@pytest.mark.parametrize(
    "error", [ValueError("closed file"), sqlite3.OperationalError("database is locked"), KeyError(1)]
)
@pytest.mark.parametrize("door", ["execute", "Carrier"])
def test_a_custom_store_that_fails_in_any_way_loses_no_request(error: Exception, door: str) -> None:
    """It is sent without a way back, and a warning says so."""

    class Foreign:
        url = "mine://"

        def __getattr__(self, name: str) -> Any:
            def fails(*_: Any, **__: Any) -> Any:
                raise error

            return fails

    about: Any = {"wire": "openai-chat", "window_tokens": 8_000, "store": Foreign()}
    with LoopbackProvider("openai-chat", 8_000, script=[say("done")]) as provider:
        if door == "execute":
            result = execute(poster(provider), chat(FLOOD), **about)
        else:
            result = Carrier(**about).execute(poster(provider), chat(FLOOD))
    assert result.success
    assert "could not be kept" in result.warnings[0]
    assert result.transcript is not None
    assert result.transcript.entries[-1].results[0].text == FLOOD


# ── tools that the provider itself runs ──────────────────────────────────────────────────────────────────────────


def flooded(value: Any) -> Any:
    """Return a result with a flood in place of its text or its data."""
    if isinstance(value, dict):
        return {key: flooded(held) for key, held in value.items()}
    if isinstance(value, list):
        return [flooded(held) for held in value]
    return FLOOD if value in {"found", "1"} or value == PNG else value


@pytest.mark.proves("R-1", "O-8")
@pytest.mark.parametrize("number", range(1, len(HOSTED_BLOCKS)))
def test_what_a_hosted_tool_returned_next_to_a_call_can_be_cut(number: int, store: Store) -> None:
    """The newest batch holds it, so no turn can be removed: it is cut in place, in a form that its API accepts."""
    name, found = HOSTED_BLOCKS[number]
    if found["content"] == "failed":
        found = {**found, "content": "1"}
    ran: dict[str, Any] = {
        "type": "mcp_tool_use" if name == "mcp" else "server_tool_use",
        "id": "srv_1",
        "name": name,
        "input": {},
    }
    used = {"type": "tool_use", "id": "t1", "name": "note", "input": {}}
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": [ran, flooded({**found, "tool_use_id": "srv_1"}), used]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "noted"}]},
    ]
    request = {"model": "claude-opus-4-8", "max_tokens": 500, "messages": messages}
    assert cut_to_fit("anthropic", request, store)[1]["content"][0] == ran


@pytest.mark.proves("R-1", "O-8")
@pytest.mark.parametrize("number", range(1, len(HOSTED_ITEMS) - 1))
def test_what_an_item_of_a_hosted_tool_returned_can_be_cut(number: int, store: Store) -> None:
    """On this wire call and result are one item: everything but the result stays."""
    ran = flooded({**HOSTED_ITEMS[number], "id": "ran_1", "status": "completed"})
    items = [
        {"role": "user", "content": "Find it."},
        ran,
        {"type": "function_call", "call_id": "c1", "name": "note", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "noted"},
    ]
    shown = cut_to_fit("openai-responses", {"model": "gpt-4o", "input": items}, store)[1]
    gone = {"output", "outputs", "results", "result"}
    assert {k: v for k, v in shown.items() if k not in gone} == {k: v for k, v in ran.items() if k not in gone}


def cut_to_fit(wire: str, request: dict[str, Any], store: Store) -> list[Any]:
    """Return the messages with which a request got through a provider of 8,000 tokens; they are valid and the flood is kept."""

    def send(body: Any) -> Any:
        if len(json.dumps(body)) > 32_000:
            raise HttpRefused(400, f"prompt is too long: {len(json.dumps(body)) // 4} tokens > 8000 maximum")
        return {"output": [], "content": [{"type": "text", "text": "done"}], "role": "assistant"}

    assert len(json.dumps(request)) > 1_000_000
    result = execute(send, request, wire=wire, window_tokens=10**6, store=store)
    assert result.success, result.message
    messages = messages_of(result.request, wire)
    assert violations(messages, wire) == []
    assert len(messages) == len(messages_of(request, wire))
    assert any(info.bytes >= len(FLOOD) for info in store.artifacts())
    return messages  # type: ignore[no-any-return]
