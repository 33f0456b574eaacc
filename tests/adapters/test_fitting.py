"""In the part that all adapters share, what stays cleared, what is remembered, and whose message is sent?"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.adapters.fitting import Fitting, begun
from penstock.adapters.parts import Parts, call_block, result_block, text_block
from penstock.context.recovery import TooLarge
from penstock.context.sized import size_of
from penstock.errors import CallerError
from penstock.models import Refused, fail, say
from penstock.overflow.learned import LIFETIME_SECONDS
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.wires import load, violations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from penstock.store import Store

WINDOW = 8_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return the store for what is cleared."""
    opened = open_store(str(tmp_path / "kept"))
    yield opened
    opened.close()


def fitting(store: Store, window_tokens: int = WINDOW, **options: Any) -> Fitting[Any]:
    """Return a fitting for an agent whose messages are the items of the responses API."""
    return Fitting(
        "openai-responses", lambda shown, _written, _said: list(shown), window_tokens, store=store, **options
    )


def turn(number: int) -> list[Any]:
    """Return a call of a tool and its result, about 700 tokens."""
    name = f"call_{number}"
    return [
        {"type": "function_call", "call_id": name, "name": "read", "arguments": f'{{"number": {number}}}'},
        {"type": "function_call_output", "call_id": name, "output": f"stone {number * 7919} of many\n" * 80},
    ]


def asked(task: str = "Read it all.") -> list[Any]:
    """Return the beginning of a conversation."""
    return [{"role": "user", "content": task}]


class Agent:
    """A loop that keeps its whole history and sends it through a fitting."""

    def __init__(self, fitted: Fitting[Any], provider: LoopbackProvider, task: str = "Read it all.") -> None:
        self.fitted, self.provider, self.history = fitted, provider, asked(task)

    def send(self, shown: list[Any], reply_tokens: int | None) -> Any:
        """Return the provider's answer."""
        body: dict[str, Any] = {"input": shown}
        return self.provider.send(body if reply_tokens is None else {**body, "max_output_tokens": reply_tokens})

    def call(self, **more: Any) -> Any:
        """Call the model once."""
        return self.fitted.call(self.send, self.history, {"model": "m", "input": self.history, **more})

    def read(self, turns: range) -> None:
        """Add that many turns of a tool."""
        for number in turns:
            self.call()
            self.history += turn(number)


def provider(*steps: Any, **options: Any) -> LoopbackProvider:
    """Return a provider that always says the same, after these first steps."""
    left = list(steps)
    return LoopbackProvider("openai-responses", WINDOW, policy=lambda _: left.pop(0) if left else say("on"), **options)


def inputs(served: LoopbackProvider) -> list[list[Any]]:
    """Return the items of every request."""
    return [received.request["input"] for received in served.requests]


def test_what_was_cleared_stays_cleared_while_the_history_grows(store: Store) -> None:
    """Between two plans every request begins with all of the one before it, and nothing is kept twice."""
    served = provider()
    agent = Agent(fitting(store), served)
    agent.read(range(40))
    sent = inputs(served)
    rewritten = sum(after[: len(before)] != before for before, after in pairwise(sent))
    assert 2 <= rewritten <= 14
    assert served.refused == 0
    names = [artifact.handle for artifact in store.artifacts()]
    assert len(names) < 60
    assert not any(violations(items, "openai-responses") for items in sent)


def test_a_batch_that_is_too_large_alone_is_cut_before_it_is_sent(store: Store) -> None:
    """A plan leaves results that no model has seen; forty of them cannot fit even by our own count."""
    served = provider()
    agent = Agent(fitting(store), served)
    agent.call()
    turns = [turn(number) for number in range(40)]
    agent.history += [call for call, _ in turns] + [result for _, result in turns]
    agent.call()
    assert max(received.input_tokens for received in served.requests) < 1.3 * WINDOW
    assert served.requests[-1].outcome == "answered"


def test_conversations_of_one_fitting_are_told_apart(store: Store) -> None:
    """Two that alternate are each shown as if they were alone, even if both begin with the same words."""
    served = provider()
    fitted = fitting(store)
    agents = [Agent(fitted, served, task) for task in ("Read the first.", "Read the second.", "Read the second.")]
    for number in range(16):
        for place, agent in enumerate(agents):
            agent.read(range(100 * place + number, 100 * place + number + 1))
    for place, agent in enumerate(agents):
        agent.call()
        shown = inputs(served)[-1]
        assert shown[0] == agent.history[0]
        assert all(f"stone {(100 * other) * 7919}" not in str(shown) for other in range(3) if other != place)
        assert shown[-1] == agent.history[-1]


def test_a_window_that_a_refusal_showed_is_kept_to(store: Store) -> None:
    """Twenty times too much was promised: there is one refusal, then none."""
    served = provider()
    fitted = fitting(store, 20 * WINDOW)
    Agent(fitted, served).read(range(30))
    assert served.refused == 1
    assert WINDOW // 2 < fitted.window_tokens < 2 * WINDOW  # by our count, which is an upper bound


@pytest.mark.proves("R-5")
def test_a_window_that_a_refusal_showed_is_believed_for_a_day(store: Store) -> None:
    """It may have been a regional cap: after a day without a refusal as much as was promised is sent again."""
    now = [1_000_000.0]
    fitted = fitting(store, 20 * WINDOW, clock=lambda: now[0])
    Agent(fitted, provider()).read(range(15))
    learned = fitted.window_tokens
    assert WINDOW // 2 < learned < 2 * WINDOW
    now[0] += LIFETIME_SECONDS - 1
    assert fitted.window_tokens == learned
    now[0] += 1
    assert fitted.window_tokens == 20 * WINDOW
    generous = LoopbackProvider("openai-responses", 20 * WINDOW, policy=lambda _: say("Go on."))
    agent = Agent(fitted, generous, "Read another.")
    agent.read(range(15))
    assert inputs(generous)[-1] == agent.history[: len(inputs(generous)[-1])]


def test_a_reply_that_leaves_no_room_is_asked_for_shorter(store: Store) -> None:
    """A framework that asks for a reply as long as the window gets half of it; the other half is for the request."""
    served = provider(refusal="vllm")
    agent = Agent(fitting(store), served)
    for number in range(20):
        agent.call(max_output_tokens=WINDOW)
        agent.history += turn(number)
    assert served.refused == 0
    assert {received.request["max_output_tokens"] for received in served.requests} == {WINDOW // 2}


def test_an_error_that_is_no_overflow_passes_and_nothing_is_forgotten_by_it(store: Store) -> None:
    """The next call sends what the failed call would have sent."""
    served = provider(*(say("on") for _ in range(20)), fail(503, {"error": {"message": "busy"}}))
    agent = Agent(fitting(store), served)
    agent.read(range(20))
    with pytest.raises(Refused, match="503"):
        agent.call()
    agent.call()
    before, failed, after = inputs(served)[-3:]
    assert before[:5] == after[:5]
    assert len(served.requests) == 22
    assert failed[0] == after[0]


def test_the_next_prompt_works_after_a_request_that_nothing_could_make_fit(store: Store) -> None:
    """The user's own words are ten times the window: refused, also without everything else; what the user says then is sent."""
    served = provider()
    agent = Agent(fitting(store), served)
    agent.read(range(3))
    agent.history.append({"role": "user", "content": "a word of mine " * 30_000})
    with pytest.raises(TooLarge, match="newest user message"):
        agent.call()
    assert [received.outcome for received in served.requests] == [*["answered"] * 3, *["refused"] * 2]
    agent.history.append({"role": "user", "content": "Then just go on."})
    agent.call()
    assert served.requests[-1].outcome == "answered"
    assert inputs(served)[-1][-1] == agent.history[-1]


def test_a_run_continues_without_a_working_store(store: Store, tmp_path: Path) -> None:
    """What cannot be kept is cleared without a handle; the framework's history still has it."""
    closed = open_store(str(tmp_path / "closed"))
    closed.close()
    served = provider()
    Agent(fitting(closed), served).read(range(20))
    assert served.refused == 0
    assert "ctx_page" not in str(inputs(served)[-1])


@pytest.mark.proves("G-7")
def test_the_texts_of_one_result_share_its_limit_and_the_pager_reads_on(store: Store) -> None:
    """The limit is a quarter of the window at 3.5 characters a token; `ctx_page` and `ctx_find` keep to it as well."""
    fitted = fitting(store)
    small, large = fitted.guard(["fine", "row of note\n" * 100_000], "dump")
    assert small == "fine"
    assert len(small) + len(large) <= WINDOW * 3.5 // 4
    handle = store.artifacts()[0].handle
    assert f'ctx_page(handle="{handle}"' in large
    page, find = fitted.tools()
    assert (page.__name__, find.__name__) == ("ctx_page", "ctx_find")
    assert "handle: " in (page.__doc__ or "")
    assert page(handle, offset=99_999).endswith("row of note\n")
    assert len(page(handle, max_bytes=200_000)) <= WINDOW * 3.5 // 4
    assert "100000 matching lines" in find(handle, "of note")
    assert "There is no artifact" in page("qX7Zk2Wp9TrJ4mGs8LnB3v")


@pytest.mark.parametrize("window_tokens", [0, -1, 2.5, True])
def test_a_window_is_a_whole_number(store: Store, window_tokens: Any) -> None:
    """Anything else raises an error for the programmer."""
    with pytest.raises(CallerError, match="window_tokens"):
        fitting(store, window_tokens)


def test_a_stream_is_handed_on_when_it_has_begun_to_say_something() -> None:
    """An earlier refusal is raised while a smaller request can still be sent; later ones are raised when they come."""

    async def events(*items: Any) -> AsyncIterator[Any]:
        for item in items:
            if isinstance(item, Exception):
                raise item
            yield item

    async def gathered(*items: Any) -> list[Any]:
        return [event async for event in await begun(events(*items), lambda event: event == "start")]

    assert asyncio.run(gathered()) == []
    assert asyncio.run(gathered("start", "a", "start", "b")) == ["start", "a", "start", "b"]
    with pytest.raises(ValueError, match="refused"):
        asyncio.run(begun(events("start", ValueError("refused")), lambda event: event == "start"))


# ── messages of parts ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Message:
    """A framework's message: who, and parts of words, calls `(id, name)` and results `(id, text)`."""

    role: str
    parts: tuple[Any, ...]


def blocks_of(message: Message) -> tuple[str, list[Any]]:
    """Return blocks as a framework's module writes them."""
    made: list[Any] = []
    for part in message.parts:
        if isinstance(part, str):
            made.append(text_block(part))
        else:
            name, said = part
            made.append(call_block(name, said, {}) if message.role == "assistant" else result_block(name, said))
    return message.role, made


def edited(message: Message, texts: dict[str, str | None]) -> Message:
    """Return messages as a framework's module makes them."""
    changed = [part if isinstance(part, str) else (part[0], texts.get(part[0], part[1])) for part in message.parts]
    return replace(message, parts=tuple(part for part in changed if isinstance(part, str) or part[1] is not None))


PARTS: Parts[Message] = Parts(blocks_of, edited, lambda role, text: Message(role, (text,)))


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Draw conversations with parallel calls, words next to results, and messages that say nothing."""
    made = [Message("user", ("the task",))]
    for number in range(draw(st.integers(0, 12))):
        ids = [f"call_{number}_{place}" for place in range(draw(st.integers(0, 3)))]
        made.append(Message("assistant", (*draw(st.sampled_from([(), ("looking",)])), *((one, "read") for one in ids))))
        results = tuple((one, "word " * draw(st.integers(0, 900))) for one in ids)
        if draw(st.booleans()):
            made += [Message("user", (result,)) for result in results]
        elif results:
            made.append(Message("user", results))
        if draw(st.booleans()):
            made.append(Message("user", draw(st.sampled_from([(), ("go on",), ("go on", "and on")]))))
    return made


@given(histories(), st.integers(600, 6_000), st.integers(0, 3))
def test_every_message_that_is_sent_is_the_frameworks_own_or_a_note(
    history: list[Message], window_tokens: int, refusals: int
) -> None:
    """Sent are identical objects in their order, or parts of one with a replaced result text, always with the newest words.

    This also holds after every refusal: at most two smaller requests follow, and then the refusal is raised.
    """
    requests: list[list[Message]] = []

    def send(messages: list[Message], _reply_tokens: int | None) -> str:
        requests.append(messages)
        if len(requests) <= refusals:
            raise ValueError("the input exceeds the context window of this model")
        return "ok"

    fitted: Fitting[Message] = Fitting("anthropic", PARTS.read, window_tokens, store=Nowhere())  # type: ignore[arg-type]
    try:
        assert fitted.call(send, history, {"messages": PARTS.write(history)}) == "ok"
    except TooLarge:
        assert len(requests) <= refusals
    except ValueError:
        assert 2 <= len(requests) <= refusals  # two if the first was surely too large to be sent
    assert len(requests) <= 4
    sizes = [size_of(load(PARTS.write(shown), "anthropic")) for shown in requests]
    assert all(after < before for before, after in pairwise(sizes))
    for shown in requests:
        is_ours(shown, history)


def is_ours(shown: list[Message], history: list[Message]) -> None:
    """Assert that what is sent was made of a history."""
    own = [message for message in shown if any(message is one for one in history)]
    places = [next(place for place, one in enumerate(history) if one is message) for message in own]
    assert places == sorted(set(places))
    calls = {part[0] for one in history for part in one.parts if one.role == "assistant" and not isinstance(part, str)}
    for message in shown:
        if message in own:
            continue
        results = {part[0] for part in message.parts if not isinstance(part, str)}
        assert results <= calls
        assert results or len(message.parts) == 1
    spoken = [one for one in history if one.role == "user" and any(isinstance(part, str) for part in one.parts)]
    assert any(message is spoken[-1] for message in shown)


class Nowhere:
    """A store that keeps nothing and records that."""

    def put(self, content: bytes, *, name: str) -> str:
        """Return a handle."""
        assert content is not None
        assert name
        return "qX7Zk2Wp9TrJ4mGs8LnB3v"


def _counted(shown: list[Any]) -> int:
    """Return the tokens of what is sent, as a server counts."""
    return sum(len(str(item)) for item in shown) // 4


def _body(text: str, given: int) -> Any:
    """Return an answer on the wire of the fitting."""
    content = [{"type": "output_text", "text": text}] if text else []
    said = {"type": "message", "role": "assistant", "content": content}
    return {"output": [said], "usage": {"input_tokens": given, "output_tokens": 0}}


@pytest.mark.proves("R-6")
@pytest.mark.parametrize("is_async", [False, True])
def test_an_answer_with_a_fault_is_asked_for_again_smaller(
    store: Store, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """One server cuts silently, and one says nothing once its window is full; the fault is logged."""
    history = [*asked(), *(item for number in range(32) for item in turn(number))]

    def cutting(shown: list[Any], _reply: int | None) -> Any:
        given = min(_counted(shown), 2_000)
        return _body("guessed" if given == 2_000 else "Forty.", given)

    def dumb(shown: list[Any], _reply: int | None) -> Any:
        return _body("" if _counted(shown) > 8_000 else "Forty.", _counted(shown))

    def hopeless(shown: list[Any], _reply: int | None) -> Any:
        return _body("", _counted(shown))

    for server, expected in ((cutting, "Forty."), (dumb, "Forty."), (hopeless, "")):
        fitted = fitting(store, 44_000, said=lambda body: body)
        caplog.clear()
        body = {"model": "m", "input": history}
        if is_async:

            async def send(shown: list[Any], reply: int | None, ask: Any = server) -> Any:
                return ask(shown, reply)

            answer = asyncio.run(fitted.acall(send, history, body))
        else:
            answer = fitted.call(server, history, body)
        assert answer["output"][0]["content"] == ([{"type": "output_text", "text": expected}] if expected else [])
        assert caplog.records, expected


@pytest.mark.proves("R-6")
@pytest.mark.parametrize("reason", ["tool_call", "tool_calls", "tool_use"], ids=["Pydantic AI", "OpenAI", "Anthropic"])
def test_a_call_is_a_whole_answer_by_whatever_name_a_framework_gives_its_end(
    store: Store, caplog: pytest.LogCaptureFixture, reason: str
) -> None:
    """Adapters pass on the framework's own word for why an answer ended; only an unknown one is told."""

    def said(ended: str) -> Any:
        usage = {"input_tokens": 20, "output_tokens": 5}
        return {"content": [call_block("a", "read", {})], "stop_reason": ended, "usage": usage}

    fitted = Fitting("anthropic", lambda shown, _written, _said: list(shown), WINDOW, store=store, said=said)
    history = [{"role": "user", "content": "Read it all."}]
    for answer in (reason, "zorp"):
        assert fitted.call(lambda *_, answer=answer: answer, history, {"model": "m", "messages": history}) == answer
    assert [record.getMessage().rpartition("(")[2] for record in caplog.records] == ["zorp)."]


@pytest.mark.proves("R-6")
def test_a_number_that_stays_while_a_history_grows_is_a_window(store: Store) -> None:
    """One answer is too close to our own count to decide; the third of the same input is asked for again, and all of it is seen."""
    fitted = fitting(store, 44_000, said=lambda body: body)

    def server(shown: list[Any], _reply: int | None) -> Any:
        given = min(_counted(shown), 4_003)
        return _body("guessed" if given == 4_003 else "Forty.", given)

    answers = []
    for turns in (9, 10, 11):
        history = [*asked(), *(item for number in range(turns) for item in turn(number))]
        answers.append(
            fitted.call(server, history, {"model": "m", "input": history})["output"][0]["content"][0]["text"]
        )
    assert answers == ["guessed", "guessed", "Forty."]
    assert fitted.window_tokens == 4_003


@pytest.mark.proves("R-6")
def test_a_provider_that_reports_only_what_it_had_not_cached_is_not_taken_for_one_that_cuts(store: Store) -> None:
    """It took more before, so its window is not the smaller number; a cache that it reports counts at once."""
    history = [*asked(), *(item for number in range(32) for item in turn(number))]
    for details in (None, {"cached_tokens": 60_000}):
        fitted = fitting(store, 100_000, said=lambda body: body)
        sent: list[int] = []

        def server(shown: list[Any], _reply: int | None, cached: Any = details, sizes: Any = sent) -> Any:
            sizes.append(_counted(shown))
            body = _body("Forty.", sizes[0] if len(sizes) == 1 and not cached else 1_500)
            return {**body, "usage": {**body["usage"], "input_tokens_details": cached}}

        for calls in (1, 2):
            fitted.call(server, history, {"model": "m", "input": history})
            assert len(sent) == calls, details


@pytest.mark.proves("G-3", "O-7")
def test_a_store_of_ones_own_and_a_signal_of_python_pass(store: Store) -> None:
    """An error of the store loses no request, and what the framework raises comes as it is."""

    class Foreign:
        def __getattr__(self, name: str) -> Any:
            raise ValueError(name)

    history = [*asked(), *(item for number in range(32) for item in turn(number))]
    fitted = fitting(Foreign(), 4_000)
    assert fitted.call(lambda shown, _: len(shown), history, {"model": "m", "input": history})
    over = StopIteration("over")

    def send(_shown: list[Any], _reply: int | None) -> Any:
        raise over

    with pytest.raises(StopIteration) as raised:
        fitting(store, 40_000).call(send, history, {"model": "m", "input": history})
    assert raised.value is over


@pytest.mark.proves("R-6")
@pytest.mark.parametrize(
    "said",
    [
        (429, "Request too large for m on tokens per min (TPM): Limit 5000, Requested 12000."),
        (413, ""),
    ],
)
def test_what_a_smaller_request_cures_is_cured(store: Store, said: tuple[int, str]) -> None:
    """A request above the minute is cut to below it, a body of too many bytes is halved; the framework notices neither."""
    history = [*asked(), *(item for number in range(12) for item in turn(number))]
    sizes: list[int] = []

    def send(shown: list[Any], _reply: int | None) -> str:
        sizes.append(_counted(shown))
        if sizes[-1] > 5_000:
            raise Refused(*said)
        return "done"

    assert fitting(store, 200_000).call(send, history, {"model": "m", "input": history}) == "done"
    assert len(sizes) <= 3
