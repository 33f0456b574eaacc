"""Do two tools return what was cut, with the gateway answering their calls while the client receives one answer (W-3)?"""

from __future__ import annotations

import gzip
import http.client
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway import own_calls
from penstock.gateway.hidden_turns import HiddenTurns
from penstock.gateway.provider import Windows
from penstock.models.steps import call, calls, fail, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.text.json_access import parsed
from penstock.text.sse import EventSplitter, data_of
from penstock.wires import answer_messages, load, messages_of, violations, wire_named
from penstock.wires.hidden_calls import HiddenStep
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, is_in_path, path_of, story
from tests.gateway.test_cuts import shared, upstream_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.gateway.standing import Came, Got, Standing

WIRES = ["anthropic", "openai-chat", "openai-responses", "gemini"]
WINDOW = 12_000


class Reader:
    """A model that reads back the first result that it finds cut, with the call that the stub names, and says what it read.

    Args:
        wire: the wire on which it is asked.
        beside: whether it calls a tool of the client in the same answer.
        pages: how many pages it reads.
    """

    def __init__(self, wire: str, *, beside: bool = False, pages: int = 1) -> None:
        self.wire, self.beside, self.pages = wire, beside, pages
        self.offered: list[bool] = []

    def __call__(self, body: dict[str, Any]) -> Any:
        wire = wire_named(self.wire)
        names = wire.codec.tool_names(wire.body.tools_of(body))
        self.offered.append("ctx_page" in names)
        entries = load(messages_of(body, self.wire), self.wire).entries
        read = [made for entry in entries for made in entry.calls if made.name == "ctx_page"]
        stub = re.search(
            r'ctx_page\(handle="(\w+)"', "".join(f"{result.text}\n" for e in entries for result in e.results)
        )
        if len(read) < self.pages and stub and "ctx_page" in names:
            page = call("ctx_page", handle=stub[1], offset=1 + 3 * len(read), limit=3)
            return calls(page, *([call("read", path="beside.py")] if self.beside else []), text="I look. ")
        results = {result.call_id: result.text for entry in entries for result in entry.results}
        return say(
            f"Read {len(read)}: " + " | ".join(results[made.id].splitlines()[-1] for made in read if made.id in results)
        )


TOOL = {
    "anthropic": {"name": "read", "description": "reads", "input_schema": {"type": "object"}},
    "openai-chat": {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}},
    "openai-responses": {"type": "function", "name": "read", "parameters": {"type": "object"}},
    "gemini": {"functionDeclarations": [{"name": "read", "description": "reads", "parameters": {"type": "object"}}]},
}


def asked(gateway: Standing, wire: str, messages: list[Any], **more: Any) -> tuple[dict[str, Any], Got]:
    """Ask with a tool, and return the answer's body, assembled if it was streamed."""
    streamed = bool(more.get("stream"))
    body = {**body_of(wire, messages), "tools": [TOOL[wire]], **more}
    got = gateway.ask(
        path_of(wire, streamed=streamed), {k: v for k, v in body.items() if not (k == "stream" and is_in_path(wire))}
    )
    assert got.status == 200, got.body
    if not streamed:
        return got.json, got
    splitter, reader = EventSplitter(), wire_named(wire).answers.stream()
    for event in splitter.feed(got.body):
        is_json, value = parsed((data_of(event) or b"").decode())
        if is_json:
            reader.feed(value)
    assert reader.is_complete
    return reader.body(), got


def both_of(wire: str, model: Reader, tmp_path: Path, **settings: Any) -> Any:
    double = LoopbackProvider(wire, WINDOW, policy=model)
    return double, standing(tmp_path, None, windows=Windows((("m", WINDOW),)), **settings)


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def more(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"stream": True} if request.param else {}


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("pages", [1, 3])
@pytest.mark.parametrize("wire", WIRES)
def test_a_model_reads_back_what_was_cut(wire: str, pages: int, more: dict[str, Any], tmp_path: Path) -> None:
    """The client gets one answer with what was said before and after, and none of the calls."""
    model = Reader(wire, pages=pages)
    with LoopbackProvider(wire, WINDOW, policy=model) as double:
        with standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway:
            body, _ = asked(gateway, wire, story(60, 1_000), **more)
        answered = [received for received in double.requests if received.outcome == "answered"]
        assert len(answered) == pages + 1
        for received in double.requests:
            assert not violations(messages_of(received.request, wire), wire)
    said = load(answer_messages(body, wire), wire).entries
    assert not any(entry.calls for entry in said)
    text = "".join(entry.text for entry in said)
    assert text.replace("\n", "").startswith("I look. " * pages + f"Read {pages}: ")
    assert "0:3 value = compute" in text
    assert model.offered == [True] * (pages + 1)


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_what_was_answered_is_put_back(wire: str, beside: bool, more: dict[str, Any], tmp_path: Path) -> None:
    """It is in the same place in every later request, also from another process, and the prefix holds."""
    model = Reader(wire, beside=beside)
    with LoopbackProvider(wire, WINDOW, policy=model) as double:
        windows = Windows((("m", WINDOW),))
        with (
            standing(tmp_path, upstream_of(double), windows=windows) as one,
            standing(tmp_path, upstream_of(double), windows=windows) as other,
        ):
            messages = story(60, 1_000)
            body, _ = asked(one, wire, messages, **more)
            answered = load(answer_messages(body, wire), wire).entries
            own = [made for entry in answered for made in entry.calls]
            assert [made.name for made in own] == (["read"] if beside else [])
            before = messages_of(double.requests[-1].request, wire)
            history = load(messages_of(body_of(wire, messages), wire), wire).append(*[entry.raw for entry in answered])
            codec = wire_named(wire).codec
            if beside:
                from penstock.wires import result_messages

                history = history.append(*result_messages(wire, [(own[0], "print(1)", False)]))
            else:
                history = history.append(codec.text_message("user", "Go on."))
            for gateway in (other, one):
                later = [entry.raw for entry in history.entries]
                sending = {**body_of(wire, messages), "tools": [TOOL[wire]], wire_named(wire).body.messages_key: later}
                got = gateway.ask(path_of(wire), sending)
                assert got.status == 200, got.body
                sent = messages_of(double.requests[-1].request, wire)
                assert not violations(sent, wire)
                assert shared(before, sent) == len(before)
                read = [
                    made.name for entry in load(sent, wire).entries for made in entry.calls if made.name == "ctx_page"
                ]
                assert read == ["ctx_page"]
                before = sent


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("wire", WIRES)
def test_what_has_no_call_of_ours_passes_to_the_byte(wire: str, more: dict[str, Any], tmp_path: Path) -> None:
    """This holds even if the tools are offered."""
    raw: list[bytes] = []
    with (
        LoopbackProvider(wire, WINDOW, policy=lambda _: calls(call("read", path="a"), text="So.")) as double,
        standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway,
    ):
        kept = gateway.gateway._upstream.send

        async def keeping(*given: Any) -> Any:
            answer = await kept(*given)
            blocks = [block async for block in answer.blocks()]
            raw.append(b"".join(blocks))

            async def again() -> Any:
                for block in blocks:
                    yield block

            answer.blocks = again  # type: ignore[method-assign]
            return answer

        gateway.gateway._upstream.send = keeping  # type: ignore[assignment]
        _, got = asked(gateway, wire, story(60, 1_000), **more)
        assert "ctx_page" in json.dumps(double.requests[-1].request["tools"])
    assert got.body == raw[-1]


@pytest.mark.proves("W-3")
@pytest.mark.parametrize(
    ("wire", "more"),
    [
        ("anthropic", {"tool_choice": {"type": "any"}}),
        ("anthropic", {"tool_choice": {"type": "none"}}),
        ("openai-chat", {"tool_choice": "required"}),
        ("openai-chat", {"response_format": {"type": "json_object"}}),
        ("openai-chat", {"tools": []}),
        ("anthropic", {"tools": []}),
    ],
)
def test_tools_are_not_offered_where_a_request_forbids_them(wire: str, more: dict[str, Any], tmp_path: Path) -> None:
    """These are a title call, a forced choice and a strict format: the stub then names the command."""
    model = Reader(wire)
    with LoopbackProvider(wire, WINDOW, policy=model, strict=False) as double:
        with standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway:
            _, got = asked(gateway, wire, story(60, 1_000), **more)
        assert int(got.headers["x-penstock-cut"]) > 0
        assert "penstock page" in json.dumps(double.requests[-1].request)
    assert model.offered == [False]


@pytest.mark.proves("W-3")
@pytest.mark.parametrize(("offering", "expected"), [("always", True), ("auto", False), ("never", False)])
def test_the_tools_can_be_offered_from_the_beginning(offering: Any, expected: bool, tmp_path: Path) -> None:
    """This avoids one rewrite of the prefix; with `never` there are none at all."""
    model = Reader("anthropic")
    with (
        LoopbackProvider("anthropic", 2_000, policy=model) as double,
        standing(tmp_path, upstream_of(double), offering=offering) as gateway,
    ):
        asked(gateway, "anthropic", story(1, 200))
    assert model.offered == [expected]


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_reads_for_ever_is_ended(wire: str, more: dict[str, Any], tmp_path: Path) -> None:
    """It is told to continue with what it has, and asked no more than a stated number of times."""
    model = Reader(wire, pages=1_000)
    with LoopbackProvider(wire, WINDOW, policy=model) as double:
        with standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway:
            body, _ = asked(gateway, wire, story(60, 1_000), **more)
        assert 12 <= len(double.requests) <= 16
        assert "answer with what you have" in json.dumps(double.requests[-1].request)
    # The tools are not offered again, so that there is an answer: a turn that ends with a call has none.
    assert model.offered[-2:] == [True, False]
    assert f"Read {len(model.offered) - 1}: " in json.dumps(answer_messages(body, wire))


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
def test_a_provider_that_fails_in_between_is_heard(wire: str, more: dict[str, Any], tmp_path: Path) -> None:
    """Its own words come as a status before anything was said, and as an event afterwards."""
    model = Reader(wire)

    def policy(body: dict[str, Any]) -> Any:
        step = model(body)
        return fail(529, {"error": {"message": "Overloaded just now"}}) if len(model.offered) > 1 else step

    windows = Windows((("m", WINDOW),))
    with (
        LoopbackProvider(wire, WINDOW, policy=policy) as double,
        standing(tmp_path, upstream_of(double), windows=windows) as gateway,
    ):
        got = gateway.ask(path_of(wire), {**body_of(wire, story(60, 1_000)), "tools": [TOOL[wire]], **more})
    assert got.status == (200 if more else 529)
    assert b"Overloaded just now" in got.body
    if more:
        events = got.body.split(b"\n\n")
        assert len(events) > 3  # what was said before is received
        assert not any(b"Overloaded" in event for event in events[:3])


@pytest.mark.proves("W-3")
def test_a_request_with_such_tools_of_its_own_keeps_those(tmp_path: Path) -> None:
    """An agent that has our server is pointed to it."""
    own = {"name": "mcp__penstock__ctx_page", "description": "pages", "input_schema": {"type": "object"}}
    with LoopbackProvider("anthropic", WINDOW, policy=lambda _: say("Fine.")) as double:
        with standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway:
            body = {**body_of("anthropic", story(60, 1_000)), "tools": [own]}
            assert gateway.ask("/v1/messages", body).status == 200
        sent = double.requests[-1].request
    assert sent["tools"] == [own]
    assert "mcp__penstock__ctx_page(handle=" in json.dumps(sent["messages"])


@pytest.mark.proves("W-3", "W-8")
def test_what_was_answered_is_put_back_for_nobody_else(tmp_path: Path) -> None:
    """It is not put into a history that continued differently either."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    turns = HiddenTurns(store)
    first = [{"role": "user", "content": "Hi."}]
    block = {"type": "tool_use", "id": "t", "name": "ctx_page", "input": {}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a page"}]}
    turns.remember(
        "me", "anthropic", first, [HiddenStep(shown=0, calls=((0, block),), results=(result,), is_last=False)]
    )
    later = [*first, {"role": "assistant", "content": "Read."}, {"role": "user", "content": "And?"}]
    assert turns.put_back("me", "anthropic", later).is_more
    assert not turns.put_back("somebody else", "anthropic", later).is_more
    branched = [*first, {"role": "user", "content": "Wait."}, *later[1:]]
    assert not turns.put_back("me", "anthropic", branched).is_more
    two = [*later, {"role": "assistant", "content": "More."}]
    turns.remember(
        "me", "anthropic", later, [HiddenStep(shown=0, calls=((0, block),), results=(result,), is_last=False)]
    )
    assert len(turns.put_back("me", "anthropic", two).messages) == 8
    two[1] = {"role": "assistant", "content": "Otherwise."}
    assert len(turns.put_back("me", "anthropic", two).messages) == 6
    store.close()


@pytest.mark.proves("W-3", "W-8")
def test_a_handle_of_somebody_else_is_not_opened(tmp_path: Path) -> None:
    """The model of one client cannot be made to read what another client's model was shown."""
    secret = "the other one's secret"
    handle = ""

    def policy(body: dict[str, Any]) -> Any:
        nonlocal handle
        text = json.dumps(body)
        if "ctx_page" in json.dumps(body.get("tools")) and handle and "tried" not in text:
            return calls(call("ctx_page", handle=handle), text="tried")
        found = re.search(r'ctx_page\(handle=\\"(\w+)', text)
        handle = handle or (found[1] if found else "")
        return say("Done.")

    with LoopbackProvider("anthropic", WINDOW, policy=policy) as double:
        with standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway:
            whole = {**body_of("anthropic", story(60, 1_000, first=secret)), "tools": [TOOL["anthropic"]]}
            for result in (
                block for message in whole["messages"] for block in message["content"] if isinstance(block, dict)
            ):
                if result.get("type") == "tool_result":
                    result["content"] += secret
            assert gateway.ask("/v1/messages", whole, {"x-api-key": "one"}).status == 200
            assert handle
            other = {**body_of("anthropic", story(60, 1_000)), "tools": [TOOL["anthropic"]]}
            assert gateway.ask("/v1/messages", other, {"x-api-key": "two"}).status == 200
        assert secret not in json.dumps(double.requests[-1].request)
        assert "tried" in json.dumps(double.requests[-1].request)


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("name", ["confluence_get_page", "ctx_find"])
def test_tools_of_others_take_no_way_back_away(name: str, tmp_path: Path) -> None:
    """Another tool's page is not ours; if a name of ours is taken, nothing is added under it."""
    own = {"name": name, "input_schema": {"type": "object"}}
    with LoopbackProvider("anthropic", WINDOW, policy=lambda _: say("Fine.")) as double:
        with standing(tmp_path, upstream_of(double), windows=Windows((("m", WINDOW),))) as gateway:
            assert gateway.ask("/v1/messages", {**body_of("anthropic", story(60, 1_000)), "tools": [own]}).status == 200
        sent = double.requests[-1].request
    offered = [tool["name"] for tool in sent["tools"]]
    assert offered == ([name] if name == "ctx_find" else [name, "ctx_page", "ctx_find"])
    assert ("penstock page " if name == "ctx_find" else "ctx_page(handle=") in json.dumps(sent["messages"])


def _reading(came: Came) -> list[dict[str, Any]]:
    """Return the chunks of a model that reads back what was cut, once, and then says so."""
    stub = re.search(rb'ctx_page\(handle=\\\\?"(\w+)', came.body)
    if not stub or b'"ctx_page"' not in came.body or b"call_own" in came.body:
        made: dict[str, Any] = {"role": "assistant", "content": "I have read it."}
        return [{"index": 0, "delta": made}, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    function = {"name": "ctx_page", "arguments": json.dumps({"handle": stub[1].decode()})}
    asked = {"index": 0, "id": "call_own", "type": "function", "function": function}
    return [
        {"index": 0, "delta": {"role": "assistant", "tool_calls": [asked]}},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
    ]


def _said(came: Came, mark: bytes) -> Said:
    """Return that model's answer, streamed if requested, with or without a UTF-8 byte order mark."""
    choices = _reading(came)
    if b'"stream": true' in came.body:
        events = [{"id": "c", "choices": [choice]} for choice in choices]
        body = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events) + b"data: [DONE]\n\n"
        return Said(headers=(("content-type", "text/event-stream"),), parts=(mark + body,))
    whole = {"index": 0, "message": choices[0]["delta"], "finish_reason": choices[1]["finish_reason"]}
    return Said(parts=(mark + json.dumps({"id": "c", "choices": [whole]}).encode(),))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, without its head": lambda body: zlib.compress(body)[2:-4],
    "gzip, each part for itself": lambda body: b"".join(
        gzip.compress(body[at : at + 90]) for at in range(0, len(body), 90)
    ),
}


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "marked"])
@pytest.mark.parametrize("packing", PACKERS)
def test_no_call_of_ours_is_seen_however_an_answer_is_written(
    packing: str, mark: bytes, more: dict[str, Any], tmp_path: Path
) -> None:
    """Some servers pack although asked not to, some begin with a byte order mark, and each answer of a turn has it."""

    def answer(came: Came) -> Said:
        assert ("accept-encoding", "identity") in [(name.lower(), value) for name, value in came.headers]
        said = _said(came, mark)
        body = PACKERS[packing](b"".join(part for part in said.parts if isinstance(part, bytes)))
        coding = packing.partition(",")[0]
        return said._replace(
            headers=(*said.headers, *([("content-encoding", coding)] if coding else [])), parts=(body,)
        )

    windows = Windows((("m", WINDOW),))
    with RecordingUpstream(answer) as upstream, standing(tmp_path, upstream.url, windows=windows) as gateway:
        body = {**body_of("openai-chat", story(60, 1_000)), "tools": [TOOL["openai-chat"]], **more}
        headers = {"content-type": "application/json", "accept-encoding": "gzip, deflate"}
        got = gateway.ask("/v1/chat/completions", body, headers)
    assert len(upstream.came) == 2
    assert "content-encoding" not in got.headers
    assert b"I have read it." in got.body
    assert b"ctx_page" not in got.body
    assert b"\xef\xbb\xbf" not in got.body[3:]


@pytest.mark.proves("W-3")
def test_an_error_in_the_place_of_a_later_answer_is_an_event(tmp_path: Path) -> None:
    """As JSON with HTTP 200 inside a stream no client would see it, and would take the turn for finished."""

    def answer(came: Came) -> Said:
        error = Said(parts=(b'{"error": {"message": "overloaded, try later"}}',))
        return error if b"call_own" in came.body else _said(came, b"")

    windows = Windows((("m", WINDOW),))
    with RecordingUpstream(answer) as upstream, standing(tmp_path, upstream.url, windows=windows) as gateway:
        body = {**body_of("openai-chat", story(60, 1_000)), "tools": [TOOL["openai-chat"]], "stream": True}
        got = gateway.ask("/v1/chat/completions", body)
    assert b'\ndata: {"error": {"message": "overloaded, try later"}}\n\n' in b"\n" + got.body


@pytest.mark.proves("W-3", "W-8")
def test_an_endless_event_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be held for inspection is bounded; the client's stream breaks off, and does not look complete."""
    monkeypatch.setattr(own_calls, "MAX_READ_BYTES", 1 << 20)

    def answer(came: Came) -> Said:
        del came
        head = b'data: {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hi."}}]}\n\ndata: {"id": "'
        return Said(headers=(("content-type", "text/event-stream"),), parts=(head, *[b"a" * (1 << 16)] * 40))

    windows = Windows((("m", WINDOW),))
    with RecordingUpstream(answer) as upstream, standing(tmp_path, upstream.url, windows=windows) as gateway:
        body = {**body_of("openai-chat", story(60, 1_000)), "tools": [TOOL["openai-chat"]], "stream": True}
        with gateway.stream("/v1/chat/completions", body) as got, pytest.raises(http.client.IncompleteRead) as broken:
            got.read()
    assert b"Hi." in broken.value.partial
