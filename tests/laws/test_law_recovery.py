"""The law of recovery: any refusal of any transcript ends in an answer, a handoff, or an error that names what cannot shrink."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires.strategies import MESSAGES, REPLY, TELLERS, WIRES, asking, stories, with_reply

from penstock import aexecute, execute
from penstock.context.bill import bill
from penstock.context.counts import IMAGE_TOKENS
from penstock.context.recovery import LAST_HANDOFF_TOKENS, MAX_CALLS, TooLarge
from penstock.context.sized import Sized
from penstock.store import open_store
from penstock.text.tokens import Tokens
from penstock.wires import ToolResult, load_request, messages_of, reply_tokens, violations, with_messages

if TYPE_CHECKING:
    from penstock.carrier import RecoveryResult

FORMS = (
    "prompt is too long: {input} tokens > {window} maximum",
    (
        "This model's maximum context length is {window} tokens. However, you requested {total} tokens ({input} in the messages, "
        "{output} in the completion). Please reduce the length of the messages or completion."
    ),
    "This model's maximum context length is {window} tokens and your request has at least {floor} input tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "context_length_exceeded",
)


class Refused(Exception):
    """The error that an SDK raises."""


class Provider:
    """A provider that records requests and enforces its window by its own count: ours times `factor`, plus a price per image."""

    def __init__(self, wire: str, window: int, factor: float, image_tokens: int, form: str, stubborn: bool) -> None:
        self.wire, self.window, self.factor, self.form, self.stubborn = wire, window, factor, form, stubborn
        self.image_tokens = image_tokens
        self.sent: list[Any] = []
        self.sizes: list[int] = []
        self.summaries = 0

    def count(self, request: Any) -> int:
        tokens = bill(request, self.wire, counter=Tokens(model="o200k")).input.tokens
        images = Sized(load_request(request, self.wire)).counts.of("images")
        return int((tokens - images) * self.factor + images // IMAGE_TOKENS.tokens * self.image_tokens)

    def __call__(self, request: Any) -> dict[str, Any]:
        size, output = self.count(request), reply_tokens(request) or 0
        self.sent.append(request)
        self.sizes.append(size + output)
        if self.stubborn or size + output > self.window:
            numbers = {"input": size, "window": self.window, "output": output, "total": size + output}
            raise Refused(self.form.format(**numbers, floor=min(size, self.window + 1)))
        return {"usage": {}, "content": "done"}

    def summarise(self, prompt: str) -> str:
        self.summaries += 1
        assert Tokens(model="o200k").count(prompt).tokens <= max(self.window, 400), "a summary's request must fit too"
        return "The user wants the bug in parser.py fixed."


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, Provider, int]:
    """Draw a valid request, a provider, and the window that the caller believes in."""
    wire = draw(st.sampled_from(WIRES))
    request: dict[str, Any] = {
        "model": draw(st.sampled_from(["gpt-4o", "claude-opus-4-8", "llama-4"])),
        MESSAGES[wire]: TELLERS[wire](draw(stories(max_rounds=10))),
    }
    if draw(st.booleans()) or wire == "anthropic":
        request = with_reply(wire, request, draw(st.sampled_from([16, 500, 4_000, 64_000])))
    if wire == "anthropic" and draw(st.booleans()):
        request["system"] = draw(st.sampled_from(["Be brief.", "Rules. " * 4_000]))
    window = draw(st.sampled_from([300, 1_000, 4_000, 16_000]))
    believed = draw(st.sampled_from([window, window, window * 2, 200_000]))
    stubborn = draw(st.integers(0, 9)) == 0
    factor = draw(st.sampled_from([0.5, 1.0, 1.3]))
    image_tokens = draw(st.sampled_from([1_568, 10, 85, 258, 16_000]))
    return request, Provider(wire, window, factor, image_tokens, draw(st.sampled_from(FORMS)), stubborn), believed


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The store that receives what is removed."""
    with_store = open_store(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db")
    yield with_store
    with_store.close()


@pytest.mark.proves("O-4", "O-5", "O-7", "O-8")
@given(data=st.data(), asks=st.booleans(), awaits=st.booleans())
def test_any_refusal_ends_in_an_answer_a_handoff_or_what_cannot_shrink(
    store: Any, data: st.DataObject, asks: bool, awaits: bool
) -> None:
    """At most four calls, each smaller and valid, end in an answer or leave a request with room for the next prompt."""
    request, provider, believed = data.draw(cases())
    before = json.dumps(request)
    result = _run(provider, request, believed, store, asks, awaits)
    assert json.dumps(request) == before, "the caller's request is not changed"
    refused = [size for size in provider.sizes if provider.stubborn or size > provider.window]
    assert len(provider.sent) + provider.summaries <= MAX_CALLS
    assert result.attempts == len(provider.sent)
    assert provider.sizes == sorted(provider.sizes, reverse=True)
    assert len(set(provider.sizes)) == len(provider.sizes), "no request is sent again unchanged"
    for sent in provider.sent:
        assert violations(messages_of(sent, provider.wire), provider.wire) == []
        _same_but_for_history(request, sent, provider.wire)
    if result.success:
        assert len(refused) < len(provider.sent)
        assert result.request == provider.sent[-1]
        assert (result.strategy == "normal") == (result.request == request)
    else:
        assert result.strategy in {"handoff", "irreducible", "tool_output_overflow"}
        assert result.handoff is not None
        assert result.message
        assert isinstance(result.error, TooLarge | Refused)
        if result.fresh is not None:
            _next_prompt_works(provider, result)
        else:
            assert isinstance(result.error, TooLarge), "instructions that leave no room"


def _run(provider: Provider, request: Any, window: int, store: Any, asks: bool, awaits: bool) -> RecoveryResult:
    summarise = provider.summarise if asks else None
    if not awaits:
        return execute(provider, request, wire=provider.wire, window_tokens=window, store=store, summarise=summarise)

    async def send(body: Any) -> Any:
        return provider(body)

    return asyncio.run(
        aexecute(send, request, wire=provider.wire, window_tokens=window, store=store, summarise=summarise)
    )


def _same_but_for_history(request: Any, sent: Any, wire: str) -> None:
    """Check that system, tools and the user's newest words are unchanged, and settings too except for a lower reserve."""
    caps = {*MESSAGES.values(), *(path[0] for path in REPLY.values()), "max_completion_tokens"}
    assert {k: v for k, v in sent.items() if k not in caps} == {k: v for k, v in request.items() if k not in caps}
    assert (reply_tokens(sent) or 0) <= (reply_tokens(request) or 10**9)
    newest = load_request(request, wire).newest_user()
    assert newest is not None
    words = [part for part in newest.parts if not isinstance(part, ToolResult)]
    shown = load_request(sent, wire).visible()
    assert any([part for part in entry.parts if not isinstance(part, ToolResult)] == words for entry in shown)


def _next_prompt_works(provider: Provider, result: RecoveryResult) -> None:
    """Check that the remaining request takes another prompt: it is valid and fits, or is only instructions and a short handoff."""
    messages = [*messages_of(result.fresh, provider.wire), *asking(provider.wire, "Go on.")]
    assert violations(messages, provider.wire) == []
    instructions = [message for message in messages if message.get("role") in {"system", "developer"}]
    least = provider.count(with_messages(result.fresh, provider.wire, instructions))
    most = max(provider.window, least + int(LAST_HANDOFF_TOKENS * provider.factor))
    assert provider.count(with_messages(result.fresh, provider.wire, messages)) <= most
