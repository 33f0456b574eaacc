"""Is what does not fit cut in place, the same in each later turn, and only for its own client (W-1, W-2, W-6, W-8)?"""

from __future__ import annotations

import json
import re
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway import conversations
from penstock.gateway.provider import Windows
from penstock.models.sizes import estimate
from penstock.models.steps import say
from penstock.testing import LoopbackProvider
from penstock.wires import WIRES, messages_of, violations
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, path_of, story

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gateway.standing import Came

WINDOW = 12_000


def provider(wire: str, window_tokens: int = WINDOW, **settings: Any) -> LoopbackProvider:
    return LoopbackProvider(wire, window_tokens, policy=lambda _: say("Fine."), **settings)


def upstream_of(double: LoopbackProvider) -> str:
    return double.base_url.rstrip("/")


def shared(one: Any, other: Any) -> int:
    """Return how many equal messages two requests begin with."""
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


@pytest.mark.proves("W-1", "W-4", "R-8")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_client_never_sees_that_it_was_too_long(wire: str, streamed: bool, tmp_path: Path) -> None:
    """The provider refuses once, and is not asked again in vain; what it then gets is valid."""
    with provider(wire) as double, standing(tmp_path, upstream_of(double)) as gateway:
        refused = []
        for turns in (60, 61, 62):
            body = body_of(wire, story(turns, 1_000))
            if streamed and wire not in {"gemini", "bedrock"}:
                body["stream"] = True
            got = gateway.ask(path_of(wire, streamed=streamed), body)
            assert got.status == 200, got.body
            assert int(got.headers["x-penstock-cut"]) > 0
            assert int(got.headers["x-penstock-tokens-after"]) < int(got.headers["x-penstock-tokens-before"])
            refused.append(double.refused)
        assert refused[0] == refused[-1]
        for received in double.requests:
            assert not violations(messages_of(received.request, wire), wire)


@pytest.mark.proves("W-1")
def test_a_number_of_any_length_stays_and_does_not_prevent_a_cut(tmp_path: Path) -> None:
    """Python's own parser refuses more than 4,300 digits."""
    digits = b"9" * 50_000
    raw = (
        json.dumps({**body_of("anthropic", story(60, 1_000)), "seed": 7})
        .encode()
        .replace(b'"seed": 7', b'"seed": ' + digits)
    )
    windows = Windows((("*", 8_000),))
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url, windows=windows) as gateway:
        got = gateway.post("/v1/messages", raw)
    assert int(got.headers["x-penstock-cut"]) > 0
    assert digits in behind.came[-1].body
    assert len(behind.came[-1].body) < len(raw) - 20_000


@pytest.mark.proves("W-1")
def test_the_form_of_the_reply_counts(tmp_path: Path) -> None:
    """A history that fits without one is cut next to it once a provider has shown how it counts, before it has to refuse."""
    body = body_of("anthropic", story(60, 1_000))
    schema = {"description": "One field of many. " * 2_000}
    windows = Windows((("*", 32_000),))
    with (
        provider("anthropic", 32_000) as double,
        standing(tmp_path, upstream_of(double), windows=windows) as gateway,
    ):
        assert "x-penstock-cut" not in gateway.ask("/v1/messages", body).headers
        got = gateway.ask("/v1/messages", {**body, "output_config": {"format": {"schema": schema}}})
    assert int(got.headers["x-penstock-cut"]) > 0
    assert double.refused == 0


@pytest.mark.proves("W-1")
def test_only_what_is_cut_differs(tmp_path: Path) -> None:
    """Numbers, escapes, white space and unknown names around it stay, and so does everything before the first cut."""
    with provider("anthropic", 18_000) as double, standing(tmp_path, upstream_of(double)) as gateway:
        body = body_of("anthropic", story(60, 1_000))
        raw = (
            json.dumps(body).replace('"max_tokens": 500', '"max_tokens":  500, "x_odd" : [1.0,1e3,"\\u00e9"]').encode()
        )
        sent: list[bytes] = []
        kept = gateway.gateway._upstream.send

        async def keeping(method: str, url: str, headers: Any, sending: bytes | None) -> Any:
            sent.append(sending or b"")
            return await kept(method, url, headers, sending)

        gateway.gateway._upstream.send = keeping  # type: ignore[assignment]
        assert gateway.post("/v1/messages", raw).status == 200
    whole, cut = sent
    assert whole == raw
    # Each text that differs is one result; around it every byte is the client's.
    pattern = re.compile(rb'("tool_use_id": "call_\d+", "content": )("(?:[^"\\]|\\.)*")')
    assert pattern.sub(rb"\1", whole) == pattern.sub(rb"\1", cut)
    assert len(cut) < len(whole) / 2


@pytest.mark.proves("W-2")
def test_a_cut_stays_where_it_is(tmp_path: Path) -> None:
    """Each turn repeats what was sent before, unless something more is cut, which happens in few of them."""
    with provider("anthropic", 20_000) as double, standing(tmp_path, upstream_of(double)) as gateway:
        broken = []
        before: list[Any] = []
        for turns in range(1, 80):
            assert gateway.ask("/v1/messages", body_of("anthropic", story(turns, 2_000))).status == 200
            sent = double.requests[-1].request["messages"]
            if shared(before, sent) < len(before):
                broken.append(turns)
            before = sent
        assert 2 <= len(broken) <= 8, broken
        assert double.refused == 1


@pytest.mark.proves("W-2")
def test_a_tight_window_is_not_rewritten_in_each_turn(tmp_path: Path) -> None:
    """With instructions of a third of it, hardly more is sent in a new place than is new."""
    double = provider("anthropic", 30_000, count=lambda text: int(1.3 * estimate(text)))
    rules = "".join(f"rule {number}: do {number * 7919 % 997} things\n" for number in range(1_000))
    with double, standing(tmp_path, upstream_of(double), offering="never") as gateway:
        anew = 0
        before: list[Any] = []
        for turns in range(1, 60):
            assert gateway.ask("/v1/messages", {**body_of("anthropic", story(turns)), "system": rules}).status == 200
            sent = double.requests[-1].request["messages"]
            anew += len(json.dumps(sent[shared(before, sent) :]))
            before = sent
        new = len(json.dumps(body_of("anthropic", story(59))["messages"]))
        assert double.refused == 1
        assert anew < 1.9 * new


@pytest.mark.proves("W-4")
@pytest.mark.parametrize("streamed", [False, True])
def test_what_answers_report_is_learned(streamed: bool, tmp_path: Path) -> None:
    """A provider that counts a third more than we do refuses nothing if its window is known."""
    double = provider("anthropic", 20_000, count=lambda text: int(1.35 * estimate(text)))
    windows = Windows((("m", 20_000),))
    with double, standing(tmp_path, upstream_of(double), windows=windows) as gateway:
        for turns in range(20, 60, 2):
            body = body_of("anthropic", story(turns, 1_500))
            assert gateway.ask("/v1/messages", {**body, "stream": True} if streamed else body).status == 200
        assert double.refused == 0


@pytest.mark.proves("W-2")
def test_the_marks_of_a_cache_may_move(tmp_path: Path) -> None:
    """A client marks its newest message in each turn, and turns a single text into a list for that."""
    windows = Windows((("m", WINDOW),))
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double), windows=windows) as gateway:
        sent = []
        for turns in (60, 61):
            body = body_of("anthropic", story(turns, 1_000))
            newest = body["messages"][-1]
            newest["content"][-1]["cache_control"] = {"type": "ephemeral"}
            if turns == 60:
                body["messages"][0]["content"] = [
                    {"type": "text", "text": body["messages"][0]["content"], "cache_control": {"type": "ephemeral"}}
                ]
            assert gateway.ask("/v1/messages", body).status == 200
            sent.append(double.requests[-1].request["messages"])
        assert double.refused == 0
        assert sent[1][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
        assert shared(sent[0][1:-1], sent[1][1:]) == len(sent[0]) - 2


@pytest.mark.proves("W-2", "W-6")
def test_another_process_continues_with_the_cuts(tmp_path: Path) -> None:
    """A session may move at every turn: what was cut is in the store."""
    with (
        provider("openai-chat") as double,
        standing(tmp_path, upstream_of(double)) as one,
        standing(tmp_path, upstream_of(double)) as other,
    ):
        before: list[Any] = []
        for turns, gateway in enumerate([one, other] * 4, 60):
            got = gateway.ask("/v1/chat/completions", body_of("openai-chat", story(turns, 1_000)))
            assert got.status == 200
            sent = double.requests[-1].request["messages"]
            assert shared(before, sent) == len(before)
            before = sent
        assert double.refused == 1


def takes_clients(port: int) -> bool:
    """Return whether a connection to a port is accepted, and kept."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as one:
            one.settimeout(0.02)
            return one.recv(1) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


@pytest.mark.proves("W-6")
def test_a_restart_keeps_streams(tmp_path: Path) -> None:
    """A stopping gateway accepts no new client, and its open streams are finished."""
    begin, rest = b"data: one\n\n", b"data: two\n\n"
    is_ending = threading.Event()
    said = Said(200, (("content-type", "text/event-stream"),), (begin, is_ending, rest))
    with (
        RecordingUpstream(lambda _: said) as behind,
        standing(tmp_path, behind.url) as gateway,
        gateway.stream("/v1/messages", {"messages": []}) as answer,
    ):
        assert answer.read(len(begin)) == begin
        gateway.end()
        while takes_clients(gateway.port):  # until its socket is closed
            pass
        is_ending.set()
        assert answer.read() == rest


@pytest.mark.proves("W-8")
def test_cuts_of_other_clients_are_not_found(tmp_path: Path) -> None:
    """The same history with another key is another conversation; what a provider's window is may be known to all."""
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double)) as gateway:
        body = body_of("anthropic", story(20))
        first = gateway.ask("/v1/messages", body, {"content-type": "application/json", "x-api-key": "sk-one"})
        again = gateway.ask("/v1/messages", body, {"content-type": "application/json", "x-api-key": "sk-one"})
        other = gateway.ask("/v1/messages", body, {"content-type": "application/json", "x-api-key": "sk-two"})
        assert again.headers["x-penstock-handles"] == first.headers["x-penstock-handles"]
        assert other.status == 200
        assert other.headers["x-penstock-handles"] != first.headers["x-penstock-handles"]
    assert not any(b"sk-one" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.proves("W-2")
def test_a_client_that_goes_back_has_its_words_seen(tmp_path: Path) -> None:
    """If a client takes back its newest messages, or continues from an earlier place, its words are seen."""
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double)) as gateway:
        messages = story(30)
        assert gateway.ask("/v1/messages", body_of("anthropic", messages)).status == 200
        for kept in (59, 41, 21, 5, 1):
            branch = [*messages[:kept], {"role": "user", "content": f"Rather do {kept}."}]
            assert gateway.ask("/v1/messages", body_of("anthropic", branch)).status == 200
            assert f"Rather do {kept}." in json.dumps(double.requests[-1].request["messages"][-1])


@pytest.mark.proves("W-2")
def test_what_the_provider_makes_smaller_itself_is_left_to_it(tmp_path: Path) -> None:
    """Nothing is cut before it refuses; a setting that clears almost nothing does not count as one."""
    windows = Windows((("m", 4_000),))
    clears = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    keeps = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double), windows=windows) as gateway:
        body = body_of("anthropic", story(7))
        left = gateway.ask("/v1/messages", {**body, "context_management": clears})
        cut = gateway.ask("/v1/messages", {**body, "context_management": keeps})
        assert "x-penstock-cut" not in left.headers
        assert int(cut.headers["x-penstock-cut"]) > 0
        # What was meanwhile learned of its way of counting does not change that.
        other = body_of("anthropic", story(7, first="Do something else."))
        assert "x-penstock-cut" not in gateway.ask("/v1/messages", {**other, "context_management": clears}).headers
        large = {**body_of("anthropic", story(30)), "context_management": clears}
        assert gateway.ask("/v1/messages", large).status == 200
        assert double.refused == 1


@pytest.mark.proves("W-2")
def test_cuts_stay_in_many_conversations_under_the_same_instructions(tmp_path: Path) -> None:
    """A program says the same first in each; there are more conversations than are remembered of one beginning."""
    window = 6_000
    system = {"role": "system", "content": "You are an agent."}

    def asked(number: int, turns: int) -> dict[str, Any]:
        return {**body_of("openai-chat", [system, *story(40 + turns, 600, first=f"Task {number}.")]), "model": "m"}

    shown: dict[int, str] = {}
    windows = Windows((("m", window),))
    with provider("openai-chat", window) as double, standing(tmp_path, upstream_of(double), windows=windows) as gateway:
        for turns in range(3):
            for number in range(conversations.MAX_BRANCHES + 4):
                assert gateway.ask("/v1/chat/completions", asked(number, turns)).status == 200
                sent = json.dumps(double.requests[-1].request["messages"]).removesuffix("]")
                assert sent.startswith(shown.get(number, ""))
                shown[number] = sent


@pytest.mark.proves("W-6", "W-8")
@pytest.mark.parametrize("differs", ["the key", "what is asked for"])
def test_a_limit_applies_only_to_those_who_have_it(differs: str, tmp_path: Path) -> None:
    """A limit belongs to a plan, or to a window requested by a header: for others what fits passes as it came."""
    body = json.dumps(body_of("anthropic", story(20))).encode()
    plain = {"content-type": "application/json", "x-api-key": "sk-one"}
    larger = {**plain, "x-api-key": "sk-two"} if differs == "the key" else {**plain, "anthropic-beta": "context-1m"}
    said = b'{"type": "error", "error": {"message": "prompt is too long: 61000 tokens > 12000 maximum"}}'

    def answer(came: Came) -> Said:
        headers = {name.lower(): value for name, value in came.headers}
        is_large = headers.get("anthropic-beta") or headers["x-api-key"] == "sk-two"
        fits = is_large or len(came.body) < 30_000
        return Said(parts=(b'{"content": [{"type": "text", "text": "Fine."}]}',)) if fits else Said(400, parts=(said,))

    with RecordingUpstream(answer) as upstream, standing(tmp_path, upstream.url) as gateway:
        for headers in (plain, larger, plain):
            assert gateway.post("/v1/messages", body, headers).status == 200
    assert [came.body == body for came in upstream.came] == [True, False, True, False]
