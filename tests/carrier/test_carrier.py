"""Does what a provider said of one request size the next one, for as long as that is worth believing (R-5)?"""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.carrier.conftest import HttpRefused, poster
from tests.carrier.test_diagnosed import answer, size
from tests.forks import COMMANDS, warm

from penstock import Carrier
from penstock.carrier.memory import Memory
from penstock.models import say
from penstock.overflow.learned import LIFETIME_SECONDS
from penstock.testing import LoopbackProvider
from penstock.text import tokens
from penstock.wires import wire_named

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.store import Store

pytestmark = pytest.mark.proves("R-5")
WINDOW = 40_000


def counts_more(text: str) -> int:
    """Count forty percent more than tiktoken, as Claude, Gemini, proxies and local servers do in their own ways."""
    return math.ceil(1.4 * tokens.count(text, model="gpt-4o", mode="exact").tokens)


def history(steps: int, *, name: str = "run") -> dict[str, Any]:
    """Return a request with that many steps, each of about a thousand tokens."""
    messages: list[Any] = [{"role": "user", "content": f"Which of them is the {name}?"}]
    for number in range(steps):
        function = {"name": name, "arguments": json.dumps({"number": number})}
        asked = [{"id": f"c{number}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        content = "\n".join(f"{line}: the {name} of step {number}" for line in range(115))
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return {"model": "gpt-4o", "messages": messages}


def provider(count: Any = counts_more, window: int = WINDOW) -> LoopbackProvider:
    """Return a provider that counts in its own way, for any number of requests."""
    return LoopbackProvider("openai-chat", window, policy=lambda _: say("done"), count=count)


def refusals(served: LoopbackProvider, ask: Any) -> int:
    """Return how often the provider refused while something was asked."""
    before = served.refused
    result = ask()
    assert result.success, result.error
    return served.refused - before


def test_a_cut_leaves_room_for_turns_that_need_none(store: Store) -> None:
    """In a session at the limit each turn is a step longer, and most begin as the one before, so that a prompt cache holds."""
    sent: list[list[str]] = []

    def server(body: Any) -> Any:
        sent.append([json.dumps(message) for message in body["messages"]])
        return answer("openai-chat", given=sum(tokens.count(text, model="gpt-4o").tokens for text in sent[-1]))

    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW, store=store)
    results = [carrier.execute(server, history(steps)) for steps in range(30, 60)]
    given = [result.response["usage"]["prompt_tokens"] for result in results]
    grown = [after[: len(before)] == before for before, after in pairwise(sent)]
    assert len(sent) == len(results)
    assert max(given) <= WINDOW
    assert min(given) > 0.75 * WINDOW
    assert sum(grown) >= 0.6 * len(grown)


@pytest.mark.parametrize("again", ["the same", "one turn longer"])
def test_the_same_history_is_not_refused_twice(store: Store, again: str) -> None:
    """A server that counts forty percent more refuses the first request, and none after it."""
    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW, store=store)
    request = history(33)
    with provider() as served:
        send = poster(served)
        assert refusals(served, lambda: carrier.execute(send, request)) == 1
        if again == "one turn longer":
            more = [{"role": "assistant", "content": "done"}, {"role": "user", "content": "And the last?"}]
            request = {**request, "messages": [*request["messages"], *more]}
        assert refusals(served, lambda: carrier.execute(send, request)) == 0
        other = history(33, name="other")
        assert refusals(served, lambda: carrier.execute(send, other)) == 0, "another history of the same model"


def test_what_one_model_or_endpoint_said_is_no_other_ones(store: Store) -> None:
    """The same name at another address counts differently."""
    about: Any = {"wire": "openai-chat", "window_tokens": WINDOW, "store": store}
    here, there = Carrier(**about, endpoint="https://here"), Carrier(**about, endpoint="https://there")
    with provider() as served:
        send = poster(served)
        assert refusals(served, lambda: here.execute(send, history(33))) == 1
        assert refusals(served, lambda: there.execute(send, history(33))) == 1
        assert refusals(served, lambda: here.execute(send, {**history(33, name="other"), "model": "gpt-4.1"})) == 1
        assert refusals(served, lambda: Carrier(**about, endpoint="https://here").execute(send, history(33))) == 0


_NEW_PROCESS = """
import json, sys
from penstock import Carrier
from penstock.store import open_store
from tests.carrier.test_carrier import history, provider, refusals
carrier = Carrier(wire="openai-chat", window_tokens=40_000, store=open_store(sys.argv[1]))
served = provider()
print(refusals(served, lambda: carrier.execute(served.send, history(33))))
"""


def test_a_new_process_with_the_same_store_knows_what_was_learned(store: Store) -> None:
    """It has nothing in memory but what the store holds."""
    url = store.url

    def run() -> str:
        done = subprocess.run([*warm(*COMMANDS), "-c", _NEW_PROCESS, url], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert [run(), run()] == ["1", "0"]


@pytest.mark.parametrize("restarted", [False, True])
def test_what_was_learned_expires_and_is_measured_again(store: Store, restarted: bool) -> None:
    """A day later the provider may count differently: a request that fits by our count is sent whole."""
    now = [time.time()]  # the store records when it learned something by the same clock
    about: Any = {"wire": "openai-chat", "window_tokens": WINDOW, "clock": lambda: now[0]}
    carrier = Carrier(**about, store=store)
    with provider() as served:
        assert refusals(served, lambda: carrier.execute(poster(served), history(33))) == 1
        now[0] += LIFETIME_SECONDS - 60
        assert refusals(served, lambda: carrier.execute(poster(served), history(33, name="other"))) == 0
        now[0] += LIFETIME_SECONDS + 120
        if restarted:
            carrier = Carrier(**about, store=store)
        assert refusals(served, lambda: carrier.execute(poster(served), history(33, name="third"))) == 1


def test_a_limit_expires_although_answers_keep_coming(store: Store) -> None:
    """They show how the provider counts, not that a cap of its region is still there."""
    now = [time.time()]
    about: Any = {"wire": "openai-chat", "window_tokens": 4 * WINDOW, "clock": lambda: now[0], "store": store}
    carrier = Carrier(**about)
    with provider() as served:
        assert refusals(served, lambda: carrier.execute(poster(served), history(33))) > 0
        limit = carrier.window_tokens("gpt-4o")
        for _ in range(3):
            now[0] += LIFETIME_SECONDS / 2 - 60
            carrier.execute(poster(served), history(2))
        assert (limit, carrier.window_tokens("gpt-4o")) == (WINDOW, 4 * WINDOW)


def test_a_number_that_nobody_can_have_learned_costs_what_was_learned_and_no_request(store: Store) -> None:
    """It is larger than any float."""
    learned = json.loads(Memory(limit_tokens=WINDOW).to_json())
    store.learn("provider openai-chat  gpt-4o", json.dumps({**learned, "refused_at_seconds": 10**400}))
    assert Carrier(wire="openai-chat", window_tokens=2 * WINDOW, store=store).window_tokens("gpt-4o") == 2 * WINDOW


def test_threads_share_a_carrier(store: Store) -> None:
    """Twelve conversations run at once: each is answered, and once the provider's way of counting is known nobody is refused."""
    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW, store=store)
    with provider() as served:
        send = poster(served)
        start = threading.Barrier(6)

        def talk(number: int) -> list[bool]:
            start.wait(30)
            return [carrier.execute(send, history(33 + turn, name=f"tool{number}")).success for turn in range(2)]

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(talk, range(6))) == [[True, True]] * 6
        assert served.refused <= 6, "the first of each, at most"
        assert refusals(served, lambda: carrier.execute(send, history(33, name="last"))) == 0


def test_tasks_share_a_carrier(store: Store) -> None:
    """The same holds for tasks on one loop."""
    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW, store=store)

    async def all_of_them(served: LoopbackProvider) -> list[bool]:
        async def send(body: Any) -> Any:
            return await asyncio.to_thread(poster(served), body)

        async def talk(number: int) -> bool:
            first = await carrier.aexecute(send, history(33, name=f"tool{number}"))
            second = await carrier.aexecute(send, history(34, name=f"tool{number}"))
            return first.success and second.success and second.attempts == 1

        return await asyncio.gather(*(talk(number) for number in range(6)))

    with provider() as served:
        assert asyncio.run(all_of_them(served)) == [True] * 6
        assert served.refused <= 6


def test_without_a_store_it_remembers_as_long_as_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is cut goes to the user's own store; what is learned stays in memory."""
    monkeypatch.setenv("PENSTOCK_STORE", f"sqlite:///{tmp_path}/own.db")
    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW)
    with provider() as served:
        assert refusals(served, lambda: carrier.execute(poster(served), history(33))) == 1
        assert refusals(served, lambda: carrier.execute(poster(served), history(33, name="other"))) == 0


@pytest.mark.proves("R-5", "O-4")
def test_usage_that_leaves_the_floor_in_doubt_does_not_let_pass_what_is_three_times_the_window(store: Store) -> None:
    """A provider counts words four times as we do, and its count of results is unknown, so our own count decides."""
    asked: list[Any] = [{"role": "user", "content": "Read every chapter. " * 150}]

    def four_times(text: str) -> int:
        return 4 * tokens.count(text, model="gpt-4o", mode="exact").tokens

    with LoopbackProvider("openai-chat", 8_000, policy=lambda _: say("done"), count=four_times) as served:
        carrier = Carrier(wire="openai-chat", window_tokens=8_000, store=store)
        carrier.execute(poster(served), {"model": "gpt-4o", "messages": asked})
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(40)
        ]
        results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"verse {n} of it\n" * 130} for n in range(40)]
        messages = [*asked, {"role": "assistant", "tool_calls": calls}, *results]
        carrier.execute(poster(served), {"model": "gpt-4o", "messages": messages})
        assert len(served.requests) > 1
        assert max(received.input_tokens for received in served.requests) < 5 * 8_000


@pytest.mark.parametrize("door", ["execute", "aexecute"])
def test_what_was_refused_as_small_as_it_can_be_ends_with_the_proof_again(store: Store, door: str) -> None:
    """Nothing is left to send then; the end has no call, the bill, and the reason."""
    sent: list[Any] = []

    def send(request: Any) -> Any:
        sent.append(request)
        raise ValueError("prompt is too long: 9000 tokens > 4000 maximum")

    async def asend(request: Any) -> Any:
        return send(request)

    carrier = Carrier(wire="openai-chat", window_tokens=100_000, store=store)
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "word " * 3_000}]}

    def ask() -> Any:
        return carrier.execute(send, request) if door == "execute" else asyncio.run(carrier.aexecute(asend, request))

    first, again = ask(), ask()
    assert (first.success, again.success, len(sent)) == (False, False, 1)
    assert (again.attempts, again.strategy) == (0, "irreducible")
    assert "newest user message" in str(again.error) or "task" in str(again.error)


@pytest.mark.parametrize(
    ("believed", "factor", "steps"), [(400_000, 1.0, 60), (WINDOW, 1.6, 34)], ids=["its limit", "how it counts"]
)
def test_what_a_refusal_states_is_enough(believed: int, factor: float, steps: int) -> None:
    """This holds for a provider that reports no usage: another conversation as large is cut before it is sent."""
    sizes: list[int] = []

    def server(body: Any) -> Any:
        sizes.append(int(factor * tokens.count(json.dumps(body["messages"]), model="gpt-4o", mode="exact").tokens))
        if sizes[-1] > WINDOW:
            raise HttpRefused(400, f"prompt is too long: {sizes[-1]} tokens > {WINDOW} maximum")
        return {"choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]}

    carrier = Carrier(wire="openai-chat", window_tokens=believed)
    assert carrier.execute(server, history(steps)).attempts > 1
    assert carrier.window_tokens("gpt-4o") == WINDOW
    assert carrier.execute(server, history(steps, name="other")).attempts == 1
    assert sizes[-1] > WINDOW / 2


# ── what little is known ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ratio", "hidden", "before", "steps", "is_cut"),
    [
        (1.4, 0, 0, 60, False),
        (1.0, 700, 0, 100, False),  # what the provider adds by itself is more than the greeting
        (1.0, 0, 20_000, 100, False),
        (1.4, 0, 20_000, 110, True),
    ],
)
def test_a_large_request_after_a_small_answer_is_cut_only_if_it_will_not_fit(
    ratio: float, hidden: int, before: int, steps: int, is_cut: bool
) -> None:
    """Once, a greeting taught only how tools are counted, any count of results seemed possible, and a third was cut."""
    offered = [{"type": "function", "function": {"name": f"t{n}", "description": "word " * 80}} for n in range(5)]
    window, given = 128_000, list[int]()

    def server(body: Any) -> Any:
        texts = [json.dumps(body[key]) for key in ("messages", "tools")]
        counted = sum(tokens.count(text, model="gpt-4o", mode="exact").tokens for text in texts)
        given.append(hidden + int(ratio * counted))
        return answer("openai-chat", given=given[-1])

    carrier = Carrier(wire="openai-chat", window_tokens=window)
    first = {"role": "user", "content": "Hi. " + "word " * before}
    carrier.execute(server, {"model": "gpt-4o", "messages": [first], "tools": offered})
    whole = {**history(steps), "tools": offered}
    result = carrier.execute(server, whole)
    assert result.attempts == 1
    assert (result.request != whole) == is_cut
    assert not is_cut or 0.75 * window < given[-1] <= window


# ── conversations that are not whole ─────────────────────────────────────────────────────────────────────────────────


def dialogue(turns: int) -> list[Any]:
    """Return words of both sides, about 500 tokens a turn; the user speaks last."""
    said = [[("user", f"And part {n}? " + "word " * 100), ("assistant", "word " * 400)] for n in range(turns)]
    return [{"role": role, "content": text} for role, text in (*chain.from_iterable(said), ("user", "Why?"))]


@pytest.mark.parametrize("kept", ["an answer", "a number", "no number"])
def test_a_conversation_that_the_provider_keeps_teaches_nothing_of_how_it_counts(kept: str) -> None:
    """Once, its count of what it keeps was taken for its way to count ours, and whole requests were cut for a day."""
    carrier = Carrier(wire="openai-responses", window_tokens=128_000, max_calls=1)
    whole = {"model": "m", "input": dialogue(140)}
    gone_on = {"model": "m", "previous_response_id": "resp_1", "input": dialogue(80)}

    def keeping(_: Any) -> Any:
        if kept == "an answer":
            return answer("openai-responses", given=120_000)
        said = "prompt is too long: 135000 tokens > 128000 maximum" if kept == "a number" else "context_length_exceeded"
        raise HttpRefused(400, said)

    carrier.execute(keeping, gone_on)
    result = carrier.execute(lambda body: answer("openai-responses", given=size(body)), whole)
    assert (result.attempts, result.request) == (1, whole)


@pytest.mark.parametrize("flood", ["row\n" * 200_000, None])
def test_what_goes_on_with_a_thread_is_sent_as_what_it_is(flood: str | None) -> None:
    """Anthropic's tool runner sends the results alone, and nothing after a paused turn: the calls are where the thread is."""
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": "toolu_1", "content": flood}
    messages: list[Any] = [] if flood is None else [{"role": "user", "content": [result]}]
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    gone_on = {"model": "m", "max_tokens": 500, "thread": thread, "messages": messages}
    sent: list[Any] = []

    def keeping(body: Any) -> Any:
        sent.append(body)
        if size(body) > 8_000:
            raise HttpRefused(400, f"prompt is too long: {size(body)} tokens > 8000 maximum")
        return answer("anthropic", given=2_000)

    done = Carrier(wire="anthropic", window_tokens=200_000).execute(keeping, gone_on)
    assert done.success
    assert sent[-1]["thread"] == thread
    if flood is None:
        assert sent == [gone_on]
    else:
        ((shown,),) = [message["content"] for message in sent[-1]["messages"]]
        assert (shown["type"], shown["tool_use_id"]) == ("tool_result", "toolu_1")
        assert len(shown["content"]) < 32_000


def test_a_provider_that_was_asked_to_shrink_is_not_blamed_for_it() -> None:
    """With truncation or edits of its own it reports less than was sent: once, that was needlessly sent again smaller."""
    request = {"model": "m", "truncation": "auto", "input": dialogue(140)}
    carrier = Carrier(wire="openai-responses", window_tokens=128_000)
    result = carrier.execute(lambda _: answer("openai-responses", given=9_000), request)
    assert (result.attempts, result.request, result.warnings) == (1, request, [])
    whole = {**request, "truncation": "disabled"}
    assert carrier.execute(lambda body: answer("openai-responses", given=size(body)), whole).request == whole


_SEARCHED = {
    "openai-responses": (
        "output",
        [{"type": "mcp_call", "id": "m", "name": "look", "arguments": "{}", "output": "found"}],
    ),
    "anthropic": (
        "content",
        [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        ],
    ),
}


@pytest.mark.parametrize("wire", _SEARCHED)
def test_a_provider_that_ran_its_own_tools_has_not_said_how_it_counts(wire: str) -> None:
    """Its report includes their results, reread at each step; once, whole requests were cut by a third for it."""
    spoken = wire_named(wire).body.messages_key
    carrier = Carrier(wire=wire, window_tokens=128_000)
    asked = [{"role": "user", "content": "Search. " + "word " * 20_000}]
    body = answer(wire, given=60_000)
    key, searched = _SEARCHED[wire]
    body[key] = searched + body[key]
    more = {"max_tokens": 500} if wire == "anthropic" else {}
    assert carrier.execute(lambda _: body, {"model": "m", spoken: asked, **more}).warnings == []
    whole = {"model": "m", spoken: dialogue(140), **more}
    result = carrier.execute(lambda sent: answer(wire, given=size(sent)), whole)
    assert (result.attempts, result.request) == (1, whole)


def test_a_caller_that_changes_its_messages_in_their_place_is_heard(store: Store) -> None:
    """A cut applies only to messages that say the same; the objects may be the same and say something else."""
    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW, store=store)
    request = {**history(60), "messages": [{"role": "system", "content": "It is ten."}, *history(60)["messages"]]}
    with provider() as served:
        send = poster(served)
        assert carrier.execute(send, request).tokens_reduced
        messages = request["messages"]
        messages[0]["content"] = "It is eleven."
        messages[3]["content"] = "a result that was read again"
        messages += [{"role": "assistant", "content": "done"}, {"role": "user", "content": "And now?"}]
        assert carrier.execute(send, request).success
        sent = served.requests[-1].request["messages"]
    assert sent[0]["content"] == "It is eleven."
    assert "a result that was read again" in json.dumps(sent)


def test_values_that_are_equal_in_python_stay_what_they_are(store: Store) -> None:
    """For two histories that differ in `true` and `1`, each is sent its own."""
    carrier = Carrier(wire="openai-chat", window_tokens=WINDOW, store=store)
    with provider() as served:
        send = poster(served)
        for given in ("true", "1"):
            request = json.loads(json.dumps(history(60)).replace('"content": null', f'"content": null, "x": {given}'))
            assert carrier.execute(send, request).success
            assert f'"x": {given}' in json.dumps(served.requests[-1].request)


def test_a_caller_may_move_its_marks_of_a_cache(store: Store) -> None:
    """A history is cut in the same places whichever message is marked, and the marks are those of the request."""

    def asked(turns: int) -> dict[str, Any]:
        messages: list[Any] = [{"role": "user", "content": "Which is it?"}]
        for number in range(turns):
            text = "\n".join(f"{line}: the file of step {number}" for line in range(115 if number < 60 else 2))
            use = {"type": "tool_use", "id": f"t{number}", "name": "ls", "input": {}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
            messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        return {"model": "claude", "max_tokens": 100, "messages": messages}

    carrier = Carrier(wire="anthropic", window_tokens=WINDOW, store=store)
    with LoopbackProvider("anthropic", WINDOW, policy=lambda _: say("done"), count=counts_more) as served:
        send = poster(served)
        shown = []
        for turns in range(60, 64):
            assert carrier.execute(send, asked(turns)).success
            text = json.dumps(served.requests[-1].request["messages"])
            assert text.count("cache_control") == 1
            shown.append(text.replace(', "cache_control": {"type": "ephemeral"}', "").removesuffix("]"))
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))


@pytest.mark.proves("R-1")
@pytest.mark.parametrize("empty", [[], ""])
def test_a_request_without_words_that_is_too_long_by_characters_is_reported(empty: Any) -> None:
    """The responses API accepts one; nothing in it can be removed, and a share of no characters is not computed."""

    def refuse(_: Any) -> Any:
        message = "The prompt is too long: it must be at most 100 characters."
        raise HttpRefused(400, json.dumps({"error": {"message": message, "type": "invalid_request_error"}}))

    result = Carrier(wire="openai-responses", window_tokens=8_000).execute(refuse, {"model": "m", "input": empty})
    assert not result.success
    assert "cannot be made to fit" in str(result.error)
