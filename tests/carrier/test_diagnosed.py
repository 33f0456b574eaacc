"""Is what is diagnosed cured or reported: a minute's tokens, the body's size, silence, empty and cut replies?"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest
from tests.carrier.conftest import HttpRefused
from tests.carrier.test_streams import request_on

from penstock import Carrier, execute
from penstock.context.answers import faults_of, overflow_in
from penstock.overflow.silent import BRIM
from penstock.wires import WIRES, wire_named
from penstock.wires.wire import AnswerContent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.store import Store

pytestmark = pytest.mark.proves("R-6")
MINUTE = (
    '{"error": {"message": "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit %d, '
    'Requested %d. The input or output tokens must be reduced in order to run successfully.", "type": "tokens", '
    '"code": "rate_limit_exceeded"}}'
)


def size(request: Any) -> int:
    """Return how large a body is, as counted by a server that knows no tokens."""
    return len(json.dumps(request)) // 4


def answer(wire: str, text: str = "Forty.", given: int = 100, written: int = 9) -> Any:
    """Return an answer's body."""
    content = AnswerContent(text=text, calls=(), number=1, model="m", input_tokens=given, output_tokens=written)
    return wire_named(wire).double.answer(content)


def stopped(wire: str, body: Any, reason: str) -> Any:
    """Return the same answer, stopped for another reason, as the wire writes it."""
    match wire:
        case "openai-chat":
            body["choices"][0]["finish_reason"] = reason
        case "openai-responses":
            body |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        case "gemini":
            body["candidates"][0]["finishReason"] = reason
        case "bedrock":
            body["stopReason"] = reason
        case _:
            body["stop_reason"] = reason
    return body


CUT = {
    "openai-chat": "length",
    "openai-responses": "max_output_tokens",
    "anthropic": "max_tokens",
    "gemini": "MAX_TOKENS",
    "bedrock": "max_tokens",
}


def silent(wire: str, given: int, written: int = 0) -> Any:
    """Return an answer without a word."""
    body = answer(wire, "", given, written)
    match wire:
        case "openai-chat":
            body["choices"][0]["message"]["content"] = ""
        case "openai-responses":
            body["output"] = []
        case "gemini":
            body["candidates"][0]["content"] = {"role": "model"}
        case "bedrock":
            body["output"]["message"]["content"] = []
        case _:
            body["content"] = []
    return body


def carried(wire: str, server: Callable[[Any], Any], store: Store, window: int = 100_000) -> tuple[Any, list[int]]:
    """Return the result of a request of about 27,000 tokens, and the sizes of what was sent."""
    sizes: list[int] = []

    def send(body: Any) -> Any:
        sizes.append(size(body))
        return server(body)

    return execute(send, request_on(wire), wire=wire, window_tokens=window, store=store), sizes


# ── refusals that are not overflows of the context ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
def test_one_request_above_the_tokens_of_a_minute_is_cut_to_below_them(wire: str, store: Store) -> None:
    """No waiting lets it through; the last call is below the number that the refusal states."""

    def server(body: Any) -> Any:
        if size(body) > 10_000:
            raise HttpRefused(429, MINUTE % (10_000, size(body)))
        return answer(wire, given=size(body))

    result, sizes = carried(wire, server, store)
    assert result.success
    assert len(sizes) <= 3
    assert sizes[-1] <= 10_000


def test_a_minute_that_is_used_up_is_no_reason_to_cut(store: Store) -> None:
    """The request fits a minute; waiting, which is left to the caller, lets it through."""
    text = (
        "Rate limit reached on tokens per min (TPM): Limit 250000, Used 249900, Requested 546. Please try again in 2s."
    )
    for said in (text, text.replace("Used 249900, ", "")):

        def server(_: Any, said: str = said) -> Any:
            raise HttpRefused(429, said)

        with pytest.raises(HttpRefused, match="250000"):
            carried("openai-chat", server, store)
        assert overflow_in(HttpRefused(429, said)) is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html><head><title>413 Request Entity Too Large</title></head></html>",
        '{"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}',
    ],
    ids=["empty", "a proxy's page", "Anthropic's"],
)
@pytest.mark.parametrize("wire", WIRES)
def test_a_body_of_too_many_bytes_is_halved_until_it_passes(wire: str, body: str, store: Store) -> None:
    """HTTP 413 comes with words or without, in whatever form."""

    def server(request: Any) -> Any:
        if size(request) > 9_000:
            raise HttpRefused(413, body)
        return answer(wire, given=size(request))

    result, sizes = carried(wire, server, store)
    assert result.success
    assert len(sizes) <= 4
    assert sizes == sorted(sizes, reverse=True)


def test_images_that_make_a_body_too_large_go_as_results(store: Store) -> None:
    """Bytes are not tokens: screenshots of a megabyte each, few tokens, and a limit of eight megabytes."""
    messages: list[Any] = [{"role": "user", "content": "What is on the last screen?"}]
    data = "A" * 1_000_000
    for n in range(12):
        used = {"type": "tool_use", "id": f"t{n}", "name": "screenshot", "input": {}}
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        returned = {"type": "tool_result", "tool_use_id": f"t{n}", "content": [image]}
        messages += [{"role": "assistant", "content": [used]}, {"role": "user", "content": [returned]}]
    request = {"model": "m", "max_tokens": 500, "messages": messages}

    def send(body: Any) -> Any:
        if len(json.dumps(body)) > 8_000_000:
            raise HttpRefused(413, "")
        return answer("anthropic")

    result = execute(send, request, wire="anthropic", window_tokens=200_000, store=store)
    assert result.success
    assert result.request["messages"][-1] == messages[-1], "the screen that is asked about"


# ── answers with a fault ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_that_was_cut_without_a_word_is_sent_smaller(wire: str, store: Store) -> None:
    """A server of 4,096 tokens drops the beginning: the second request fits it whole, and its answer goes to the caller."""

    def server(body: Any) -> Any:
        taken = min(size(body), 4_096)
        return answer(wire, "guessed" if taken == 4_096 else "Forty.", taken)

    result, sizes = carried(wire, server, store)
    assert result.success
    assert "Forty." in json.dumps(result.response)
    assert sizes[-1] < 4_096
    assert len(sizes) <= 3
    assert "4096 tokens of input" in result.warnings[0]


def test_a_provider_that_does_not_count_earlier_thought_cuts_nothing(store: Store) -> None:
    """Claude reports a fraction of such a request. Once, that was called a silent cut, and it was sent again without history."""
    messages: list[Any] = [{"role": "user", "content": "Think about the plan."}]
    for part in range(12):
        thought = {"type": "thinking", "thinking": f"let me think of part {part}. " * 300, "signature": "Qk" * 400}
        messages += [
            {"role": "assistant", "content": [thought, {"type": "text", "text": f"Part {part} is done."}]},
            {"role": "user", "content": f"Go on with {part}."},
        ]
    request = {"model": "claude-opus-4-6", "max_tokens": 500, "messages": messages}

    def server(body: Any) -> Any:
        said = [[part for part in turn["content"] if "thinking" not in part] for turn in body["messages"]]
        return answer("anthropic", given=size(said))

    result = execute(server, request, wire="anthropic", window_tokens=200_000, store=store)
    assert (result.attempts, result.request, result.warnings) == (1, request, [])


def test_a_carrier_keeps_below_a_silent_cut_from_then_on(store: Store) -> None:
    """The window that the usage revealed, or a request that filled it to the brim, is the window of the next request."""
    carrier = Carrier(wire="openai-chat", window_tokens=100_000, store=store)

    def server(body: Any) -> Any:
        return answer("openai-chat", "Forty.", min(size(body), 4_096))

    first = carrier.execute(server, request_on("openai-chat"))
    again = carrier.execute(server, request_on("openai-chat"))
    assert (first.attempts > 1, again.attempts, again.warnings) == (True, 1, [])
    # How large the smaller request is depends on the path of the store, which its notes name.
    assert 4_096 * BRIM <= carrier.window_tokens("m") <= 4_096


def test_a_number_that_stays_while_a_conversation_grows_is_a_window(store: Store) -> None:
    """Over HTTP, a server keeps the end of each request, as Ollama does, too close to our count for one answer to show it."""
    talk: list[Any] = [
        {"role": "user", "content": "Where were we?"},
        {"role": "assistant", "content": "We were here. " * 1_190},
        {"role": "user", "content": "And then?"},
    ]
    told: list[list[str]] = []
    with keeping_the_end(4_096) as send:
        carrier = Carrier(wire="openai-chat", window_tokens=100_000, store=store)
        for _ in range(4):
            result = carrier.execute(send, {"model": "m", "messages": [*talk]})
            assert result.success
            told.append(result.warnings)
            talk += [{"role": "assistant", "content": "Here."}, {"role": "user", "content": "And then? " * 260}]
    assert [bool(warnings) for warnings in told] == [False, False, True, False]
    assert "4096 tokens of input again" in told[2][0]
    assert carrier.window_tokens("m") == 4_096
    assert size(result.request) < 4_096


@contextmanager
def keeping_the_end(window: int) -> Iterator[Callable[[Any], Any]]:
    """Run a loopback server that takes that many tokens of each request and reports them; yield a function that sends a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = json.dumps(answer("openai-chat", given=min(size(body), window))).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"

    def send(body: Any) -> Any:
        with urlopen(Request(address, json.dumps(body).encode()), timeout=20) as response:
            return json.loads(response.read())

    try:
        yield send
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_reply_to_a_large_request_is_tried_smaller(wire: str, store: Store) -> None:
    """Some servers answer nothing when the window is full."""

    def server(body: Any) -> Any:
        return silent(wire, size(body)) if size(body) > 14_000 else answer(wire, given=size(body))

    result, sizes = carried(wire, server, store, window=40_000)
    assert result.success
    assert "Forty." in json.dumps(result.response)
    assert sizes[-1] <= 14_000
    assert "answered nothing" in result.warnings[0]


@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_reply_that_nothing_cures_is_reported_and_handed_over(wire: str, store: Store) -> None:
    """A small request gets it at once, as the model may mean it; a large one once smaller requests brought nothing either."""
    for window, calls, written in ((400_000, 1, 0), (40_000, 1, 3), (40_000, 4, 0)):

        def server(body: Any, said: int = written) -> Any:
            return silent(wire, size(body), said)

        result, sizes = carried(wire, server, store, window=window)
        assert (result.success, len(sizes) <= calls, len(result.warnings)) == (True, True, 1)
        assert "answered nothing" in result.warnings[0]
        assert result.response is not None


@pytest.mark.parametrize(
    ("wire", "reason", "kind"),
    [
        ("gemini", "MALFORMED_FUNCTION_CALL", "empty"),
        ("gemini", "IMAGE_SAFETY", "withheld"),
        ("gemini", "MODEL_ARMOR", "withheld"),
        ("bedrock", "malformed_tool_use", "empty"),
    ],
)
def test_an_empty_reply_that_says_why_is_no_matter_of_size(wire: str, reason: str, kind: str) -> None:
    """Cutting the history of a large request would lose content, and the model would still stop for that reason."""
    body = stopped(wire, silent(wire, 20_000), reason)
    (found,) = faults_of(body, wire, estimated_tokens=20_000, window_tokens=40_000, taken_tokens=0)
    assert (found.kind, found.overflow) == (kind, None)


def test_a_pause_after_the_provider_compacted_is_an_answer() -> None:
    """Anthropic's `pause_after_compaction` returns the summary alone, with no output counted; it goes back as it came."""
    body = stopped("anthropic", silent("anthropic", 20_000), "compaction")
    body["content"] = [{"type": "compaction", "content": "They moved the tax table."}]
    assert not faults_of(body, "anthropic", estimated_tokens=20_000, window_tokens=40_000, taken_tokens=0)


def test_a_response_that_a_person_steered_is_an_answer() -> None:
    """OpenAI ends it where it may go on with what the person has added; it goes back as it came."""
    body = stopped("openai-responses", answer("openai-responses"), "steered")
    assert not faults_of(body, "openai-responses", estimated_tokens=90, window_tokens=40_000, taken_tokens=0)


def test_a_reply_at_geminis_limit_for_one_request_is_cut() -> None:
    """The model is not at its end: google-genai itself asks for the rest, and others have to."""
    body = stopped("gemini", answer("gemini"), "CONTINUATION")
    (found,) = faults_of(body, "gemini", estimated_tokens=90, window_tokens=40_000, taken_tokens=0)
    assert (found.kind, found.overflow) == ("length", None)


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_is_cut_at_its_length_is_reported(wire: str, store: Store) -> None:
    """The caller gets the words, and decides whether to continue."""
    cut = stopped(wire, answer(wire, "Forty, because", given=20_000, written=500), CUT[wire])
    result, sizes = carried(wire, lambda _: cut, store)
    assert (result.success, len(sizes), result.response) == (True, 1, cut)
    assert "ended at its length limit" in result.warnings[0]


@pytest.mark.parametrize("wire", WIRES)
def test_a_doubted_count_of_the_input_hides_no_cut_reply(wire: str, store: Store) -> None:
    """A provider may report only what it had not cached; both are told, and the words are the caller's."""
    cut = stopped(wire, answer(wire, "Forty, because", given=40, written=500), CUT[wire])
    result, sizes = carried(wire, lambda _: cut, store)
    assert (result.success, len(sizes), result.response) == (True, 1, cut)
    assert "40 tokens of input" in result.warnings[0]
    assert "length limit" in result.warnings[1]


def test_a_reply_that_the_window_cut_is_asked_for_again_with_less_input(store: Store) -> None:
    """Anthropic says so; others stop short of the requested length with a full window."""
    request = {**request_on("anthropic"), "max_tokens": 4_000}
    full = stopped("anthropic", answer("anthropic", "Forty, bec", 27_000, 400), "model_context_window_exceeded")
    given = iter([full, answer("anthropic", given=20_000)])
    result = execute(lambda _: next(given), request, wire="anthropic", window_tokens=200_000, store=store)
    assert (result.success, result.attempts) == (True, 2)
    assert "the window was full" in result.warnings[0]
    short = stopped("openai-chat", answer("openai-chat", "Forty, bec", 27_000, 400), "length")
    about: Any = {"estimated_tokens": 26_000, "asked_tokens": 4_000}
    (found,) = faults_of(short, "openai-chat", window_tokens=27_400, taken_tokens=0, **about)
    assert (found.kind, found.overflow is not None) == ("window", True)
    (capped,) = faults_of(short, "openai-chat", window_tokens=200_000, taken_tokens=0, **about)
    assert (capped.kind, capped.overflow) == ("length", None), "a cap of the model's own"


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_as_it_should_be_has_no_fault(wire: str) -> None:
    """It has words or calls and any possible usage; an answer withheld by a policy is not an overflow."""
    for body in (answer(wire, given=5_000), answer(wire, given=0, written=0)):
        about: Any = {"estimated_tokens": 5_000, "window_tokens": 8_000, "taken_tokens": 0, "asked_tokens": 500}
        assert not faults_of(body, wire, **about)
    assert not faults_of({}, wire, estimated_tokens=5_000, window_tokens=8_000, taken_tokens=0)
    assert not faults_of("words", wire, estimated_tokens=5_000, window_tokens=8_000, taken_tokens=0)


def test_an_error_after_a_doubtful_answer_leaves_the_answer(store: Store) -> None:
    """For a rate limit on the second attempt, the first answer is better than nothing."""
    given: list[Any] = [
        answer("openai-chat", "guessed", 4_096),
        HttpRefused(429, "Rate limit reached, try again in 5s"),
    ]

    def server(_: Any) -> Any:
        came = given.pop(0)
        if isinstance(came, Exception):
            raise came
        return came

    result, sizes = carried("openai-chat", server, store)
    assert (result.success, len(sizes), result.attempts) == (True, 2, 2)
    assert "guessed" in json.dumps(result.response)
    assert result.request == request_on("openai-chat")
