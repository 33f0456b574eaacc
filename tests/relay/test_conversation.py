"""Does everything between a client and a server pass as it came, except what is guarded, listed or ours?"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from contextlib import closing
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.errors import CallerError
from penstock.relay import guarding
from penstock.relay.conversation import MAX_WAITING, Conversation
from penstock.relay.guarding import Guard
from penstock.relay.messages import AskedCall, Id, parse
from penstock.relay.switchboard import Switchboard
from penstock.text.json_slices import JsonReader
from tests.relay.traffic import (
    FLOOD,
    Desk,
    answer,
    call,
    cut_anywhere,
    line,
    modern,
    objects_json,
    request,
    text_result,
    values_json,
)

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.store import Store
    from penstock.text.json_slices import Value

HOSTS = ["claude-code", "codex-mcp-client", "gemini-cli-mcp-client", "opencode", "qwen-cli-mcp-client-x", "copilot-cli"]
NOISE = st.one_of(
    values_json,
    objects_json,
    st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")),
    st.sampled_from(
        [b"", b"\r", b"[]", b"[1]", b"\xef\xbb\xbf{}", b'{"id":1', b"[" * 300, b'{"method":"tools/call","id":null}']
    ),
)
"""Lines as a hostile program writes them."""


def no_store() -> Store:
    raise AssertionError("nothing is kept here")


def quiet_talk() -> Conversation:
    """Draw a conversation whose results all fit their room."""
    return Conversation(Guard(no_store, None, lambda _: None))


@given(
    st.lists(NOISE, max_size=6), st.lists(st.integers(0, 10_000), max_size=6), st.sampled_from([1 << 20, 40]), st.data()
)
def test_what_a_server_says_passes_byte_for_byte(
    said: list[bytes], places: list[int], max_held: int, data: st.DataObject
) -> None:
    """This covers any lines, cut anywhere, while a call waits for its answer, and with or without a last line end."""
    desk = Desk.__new__(Desk)
    desk.talk = quiet_talk()
    for number in (1, "1", 7):
        desk.ask(call("tool", number))
    raw = b"\n".join([*said, data.draw(st.sampled_from([b"", answer(text_result("small"), 7)]))])
    assert desk.down(cut_anywhere(raw, places), max_held) == raw


@given(st.lists(NOISE, max_size=6), st.lists(st.integers(0, 10_000), max_size=6), st.sampled_from([1 << 20, 40]))
def test_what_a_client_says_passes_byte_for_byte(said: list[bytes], places: list[int], max_held: int) -> None:
    """This covers everything that is not a call of our tools."""
    desk = Desk.__new__(Desk)
    desk.talk = quiet_talk()
    raw = b"\n".join([*said, call("other"), request("nobody/knows", "x"), line({"method": "notifications/x"})])
    assert desk.up(cut_anywhere(raw, places), max_held) == raw


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("host", HOSTS)
def test_a_result_below_what_the_host_shows_passes_byte_for_byte(host: str, tmp_path: Path) -> None:
    """This holds up to the last character, in whatever form the server writes it."""
    from penstock.mcp_server.hosts import allowance_for

    desk = Desk(tmp_path, client=host)
    size = allowance_for(host).limit
    for text in ("x" * size, "é" * (size // 2), "\\n" * (size // 4), "\x07" * (size // 2)):
        for message in (
            json.dumps({"jsonrpc": "2.0", "id": 1, "result": text_result(text)}),
            json.dumps({"result": text_result(text, _meta={"a": 1e9}), "id": 1, "jsonrpc": "2.0"}, indent=1).replace(
                "\n", " "
            ),
        ):
            desk.ask(call())
            raw = message.encode() + b"\r\n"
            assert desk.down([raw]) == raw
    assert desk.store.size().artifacts == 0


@pytest.mark.proves("G-1")
def test_the_notice_counts_tokens_as_the_person_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`PENSTOCK_CHARS_PER_TOKEN` applies to every notice of the guard, whoever requests it."""
    monkeypatch.setenv("PENSTOCK_CHARS_PER_TOKEN", "2")
    shown = Desk(tmp_path, budget=4_000).result(text_result(FLOOD))["content"][0]["text"]
    assert f"returned ~{-(-len(FLOOD) // 2)} tokens" in shown


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("host", [*HOSTS, None])
@pytest.mark.parametrize("era", ["old", "modern"])
def test_a_flood_is_cut_to_what_the_host_shows_and_kept_whole(host: str | None, era: str, tmp_path: Path) -> None:
    """The host is named when it connects, or with each call; the error mark and `_meta` stay."""
    from penstock.mcp_server.hosts import allowance_for

    desk, flood = Desk(tmp_path), FLOOD + "é\x1b[31m"
    if era == "old":
        desk.ask(request("initialize", 0, clientInfo={"name": host or "x", "version": "1"}))
        desk.ask(call(number="a"))
    else:
        desk.ask(modern("tools/call", "a", client=host or "x", name="flood"))
    more = {"isError": True, "_meta": {"k": [1.0, 2e5]}, "resultType": "complete"}
    got = json.loads(desk.down([answer(text_result(flood, **more), "a")]))["result"]
    assert {name: got[name] for name in more} == more
    (block,) = got["content"]
    assert allowance_for(host or "x").holds(block["text"])
    assert allowance_for(host or "x").measure(block["text"]) > 0.9 * allowance_for(host or "x").limit
    assert block["text"].startswith("[OUTPUT TRUNCATED]\nTool 'flood' returned")
    assert desk.kept(handle_in(block["text"])) == flood.encode()


def handle_in(text: str) -> str:
    """Return the handle in the call that a notice prints."""
    found = re.search(r'_page\(handle="([\w-]+)"\)', text)
    assert found, text[:300]
    return found[1]


@given(
    kinds=st.lists(
        st.sampled_from(["small", "flood", "quotes", "resource", "picture", "link"]), min_size=1, max_size=6
    ),
    structured=st.sampled_from([None, "same", "wrapped", "other", "flood"]),
    host=st.sampled_from([*HOSTS, None]),
)
@settings(max_examples=30)
def test_whatever_a_result_is_made_of_it_fits_and_nothing_is_lost(
    kinds: list[str], structured: str | None, host: str | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Texts, resources and structured content share the room; pictures and links stay; what is cut is behind its handle."""
    from penstock.mcp_server.hosts import allowance_for

    desk = Desk(tmp_path_factory.mktemp("store"), client=host)
    blocks = [BLOCKS[kind] for kind in kinds]
    result: dict[str, Any] = {"content": blocks}
    if structured:
        first = next((block["text"] for block in blocks if block["type"] == "text"), "none")
        result["structuredContent"] = {
            "same": json.loads(QUOTES),
            "wrapped": {"result": first},
            "other": {"rows": 5},
            "flood": {"rows": list(range(40_000))},
        }[structured]
    got = desk.result(result)
    if got == result:
        return
    room = allowance_for(host or "x")
    assert "structuredContent" not in got
    shown = [text for block in got["content"] if (text := text_in(block)) is not None]
    assert sum(map(room.measure, shown)) <= room.limit
    assert [b for b in got["content"] if b["type"] == "image"] == [b for b in blocks if b["type"] == "image"]
    whole = b"\n".join([*(desk.kept(handle_in(text)) for text in shown if "[OUTPUT TRUNCATED]" in text)])
    there = whole.decode() + "\n".join(shown)
    for text in filter(None, map(text_in, blocks)):
        assert text in there or json.dumps(text, ensure_ascii=False)[1:-1] in there
    if structured in {"other", "flood"}:
        assert json.dumps(result["structuredContent"], ensure_ascii=False) in there


QUOTES = json.dumps([{"name": f"n{number}", "is": "quoted"} for number in range(3_000)])
BLOCKS: dict[str, dict[str, Any]] = {
    "small": {"type": "text", "text": "Found 3 rows.", "annotations": {"priority": 1}},
    "flood": {"type": "text", "text": FLOOD},
    "quotes": {"type": "text", "text": QUOTES},
    "resource": {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": FLOOD}},
    "picture": {"type": "image", "data": "aGVsbG8=" * 20_000, "mimeType": "image/png"},
    "link": {"type": "resource_link", "uri": "file:///b", "name": "b"},
}


def text_in(block: dict[str, Any]) -> str | None:
    """Return the text of a block, or of the resource in it."""
    text = block.get("text") or block.get("resource", {}).get("text")
    return text if isinstance(text, str) else None


def test_a_thousand_texts_have_one_notice(tmp_path: Path) -> None:
    """They have one handle, which returns them one below the other."""
    desk, texts = Desk(tmp_path), [f"number {number} of many" for number in range(2_000)]
    (block,) = desk.result(text_result(*texts))["content"]
    assert desk.kept(handle_in(block["text"])) == "\n".join(texts).encode()


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("text", ["hello", FLOOD], ids=["a small text", "a flood"])
def test_links_stay_links_as_far_as_half_of_the_room_goes(text: str, tmp_path: Path) -> None:
    """The text next to them stays a text, and the note on further links leads to the whole content."""
    desk, links = (
        Desk(tmp_path),
        [{**BLOCKS["link"], "uri": f"file:///{at}", "description": "d" * 90} for at in range(300)],
    )
    content = [*links, {"type": "text", "text": text}]
    got = desk.result({"content": content})["content"]
    (first, *kept, notice) = got
    assert 20 < len(kept) < 100
    assert kept == links[: len(kept)]
    assert json.loads(desk.kept(handle_in(notice["text"]))) == content
    assert first["text"] == text or desk.kept(handle_in(first["text"])).decode() == text
    assert len(json.dumps(got, separators=(",", ":"))) < 16_500
    few = desk.result({"content": [links[0], {"type": "text", "text": "x"}, *([{"type": "text", "text": FLOOD}] * 20)]})
    assert few["content"][1] == links[0]
    assert len(few["content"]) == 2


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("host", ["an app with windows", "claude-code"])
def test_what_is_for_the_person_or_an_app_is_not_cut_where_a_host_keeps_them_apart(host: str, tmp_path: Path) -> None:
    """A cut page for an app draws nothing; hosts measured to give their models everything are guarded."""
    desk = Desk(tmp_path, client=host)
    marked: list[dict[str, Any]] = [
        {"type": "resource", "resource": {"uri": "ui://chart", "mimeType": "text/html", "text": f"<html>{FLOOD}"}},
        {
            "type": "resource",
            "resource": {"uri": "file:///a.svg", "mimeType": "image/svg+xml", "text": f"<svg>{FLOOD}"},
        },
        {"type": "text", "text": FLOOD, "annotations": {"audience": ["user"]}},
    ]
    for block in marked:
        result = {"content": [{"type": "text", "text": "ok"}, block]}
        assert (desk.result(result) == result) is (host != "claude-code")
        flooded = desk.result({"content": [block, *([{"type": "text", "text": FLOOD}] * 20)]})["content"]
        assert (block in flooded) is (host != "claude-code")
        assert sum("[OUTPUT TRUNCATED]" in str(text_in(one)) for one in flooded) >= 1
    both = {"type": "text", "text": FLOOD, "annotations": {"audience": ["user", "assistant"]}}
    assert desk.result({"content": [both]})["content"] != [both]
    drawn = text_result(
        "Shown in the app.", structuredContent={"rows": [FLOOD]}, _meta={"ui": {"resourceUri": "ui://x"}}
    )
    assert (desk.result(drawn) == drawn) is (host != "claude-code")
    assert "structuredContent" not in desk.result({key: value for key, value in drawn.items() if key != "_meta"})
    flooded_too = desk.result({**drawn, "content": [{"type": "text", "text": FLOOD}]})
    assert ("structuredContent" in flooded_too) is (host != "claude-code")


def test_very_many_tools_lose_their_output_schemas_too(tmp_path: Path) -> None:
    """A client that was told of a schema refuses a result that lost its structured content."""
    desk = Desk(tmp_path)
    tools = [{"name": f"t{at}", "inputSchema": {}, "outputSchema": {"type": "object"}} for at in range(10_001)]
    desk.ask(request("tools/list"))
    listed = json.loads(desk.down([answer({"tools": [*tools, {"name": "ctx_page"}]})], 1 << 24))["result"]["tools"]
    assert [tool["name"] for tool in listed[-2:]] == ["penstock_ctx_page", "penstock_ctx_find"]
    assert listed[:-3] == [{"name": tool["name"], "inputSchema": {}} for tool in tools]


def test_more_blocks_than_are_listed_are_kept_as_json(tmp_path: Path) -> None:
    """They are kept as the server wrote them."""
    desk, content = Desk(tmp_path), [{"type": "text", "text": "x"}] * 10_001
    (block,) = desk.result({"content": content})["content"]
    assert json.loads(desk.kept(handle_in(block["text"]))) == content


def test_structured_content_alone_becomes_text(tmp_path: Path) -> None:
    """It may have an empty list of blocks next to it, or be duplicated."""
    desk, rows = Desk(tmp_path, client="claude-code"), {"rows": list(range(20_000))}
    for result in ({"structuredContent": rows}, {"content": [], "structuredContent": rows, "isError": False}):
        got = desk.result(result)
        assert "structuredContent" not in got
        assert json.loads(desk.kept(handle_in(got["content"][0]["text"]))) == rows
    twice = json.dumps(rows).encode()
    desk.ask(call())
    raw = b'{"id":1,"result":{"structuredContent":' + twice + b',"structuredContent":' + twice + b"}}\n"
    got = json.loads(desk.down([raw]))["result"]
    assert list(got) == ["content"]


@pytest.mark.parametrize(
    "result", [{"resultType": "input_required"}, {"resultType": "task"}, {"task": {"taskId": FLOOD}}, 5, None, []]
)
def test_an_incomplete_result_passes(result: Any, tmp_path: Path) -> None:
    """These are a question back, a task, an error, and what no server should send."""
    desk = Desk(tmp_path)
    if isinstance(result, dict) and "resultType" in result:
        result = text_result(FLOOD, **result)
    for raw in (answer(result), line({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": FLOOD}})):
        desk.ask(call())
        assert desk.down([raw]) == raw


def test_only_answers_to_calls_are_cut(tmp_path: Path) -> None:
    """Resources, prompts, notifications, and the server's requests with the same id are not."""
    desk, flood = Desk(tmp_path), text_result(FLOOD)
    desk.ask(request("resources/read", 5))
    desk.ask(call(number=1))
    others = [
        answer(flood, 5),
        line({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": flood}),
        line({"jsonrpc": "2.0", "method": "notifications/progress", "params": flood}),
    ]
    assert desk.down([b"".join(others)]) == b"".join(others)
    desk.ask(answer(flood, 1))  # the client's answer to the server's request 1 is not ours
    cut = desk.down([answer(flood, 1)])
    assert b"OUTPUT TRUNCATED" in cut
    assert desk.down([answer(flood, 1)]) == answer(flood, 1)  # a second answer belongs to no call
    assert desk.talk.is_idle


def test_batches_are_looked_into(tmp_path: Path) -> None:
    """The protocol of 2025-03-26 allows them, in both directions; our calls are taken out of them."""
    desk, flood = Desk(tmp_path), text_result(FLOOD)
    asked = [json.loads(call(number=1)), json.loads(request("ping", 2)), 5, json.loads(call("ctx_page", 3, handle="x"))]
    forward = desk.ask(line(asked))
    assert json.loads(forward) == asked[:3]
    got = json.loads(desk.down([line([json.loads(answer(flood, 2)), json.loads(answer(flood, 1))])]))
    assert got[0]["result"] == flood
    assert "OUTPUT TRUNCATED" in got[1]["result"]["content"][0]["text"]
    own = desk.talk.from_client(line([json.loads(call("ctx_page", 9, handle="x"))]))
    assert own.forward == b""
    assert own.own[0].is_in_batch


@pytest.mark.proves("Y-1")
@given(
    st.lists(st.tuples(objects_json, st.booleans()), max_size=4),
    st.sampled_from([b"", b',"nextCursor":""', b',"nextCursor":null']),
)
def test_a_list_of_tools_gains_ours_and_loses_output_schemas(tools: list[tuple[bytes, bool]], cursor: bytes) -> None:
    """Ours are on its last page; all other bytes are the server's."""
    desk = Desk.__new__(Desk)
    desk.talk = quiet_talk()
    desk.ask(request("tools/list"))
    bare = [b"{" + raw[1:].lstrip() for raw, _ in tools]
    entries = [
        b'{"outputSchema":{"a":[]},' + raw[1:] if has and raw != b"{}" else raw
        for raw, (_, has) in zip(bare, tools, strict=True)
    ]
    head, after = b'{"result":{"ttlMs":3e5, "tools":[', b"]" + cursor + b',"x":1.50},"id":1}\n'
    got, before = desk.down([head + b" , ".join(entries) + after]), head + b" , ".join(bare)
    assert got.startswith(before)
    assert got.endswith(after)
    listed = json.loads(got)["result"]["tools"][len(tools) :]
    assert [tool["name"] for tool in listed] == ([] if cursor == b',"nextCursor":""' else ["ctx_page", "ctx_find"])


def test_names_that_a_server_has_stay_the_servers(tmp_path: Path) -> None:
    """Ours are renamed, in the list, in calls and in notices, for both tools alike."""
    desk = Desk(tmp_path)
    for taken, ours in ((["ctx_find"], "penstock_ctx_"), (["penstock_ctx_page"], "penstock_2_ctx_")):
        desk.ask(request("tools/list"))
        tools = [{"name": name, "inputSchema": {}} for name in taken]
        got = json.loads(desk.down([answer({"tools": tools})]))["result"]["tools"]
        assert [tool["name"] for tool in got] == [*taken, ours + "page", ours + "find"]
        assert desk.ask(call("ctx_find", handle="x")) != b""
        assert desk.talk.from_client(call(ours + "find", 3, handle="x")).own[0].tool == "find"
        text = desk.result(text_result(FLOOD))["content"][0]["text"]
        assert f'{ours}page(handle="' in text


def test_a_result_that_cannot_be_kept_passes_whole() -> None:
    """Nothing is lost, and the person is told."""
    said: list[str] = []

    def broken() -> Store:
        raise CallerError("The disk is full.")

    talk = Conversation(Guard(broken, None, said.append))
    raw = answer(text_result(FLOOD))
    talk.from_client(call())
    assert talk.from_server(raw) == raw
    assert said == ["a result of flood passed uncut, because it could not be kept: The disk is full."]


def test_a_store_that_somebody_holds_keeps_messages_waiting_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits only once: floods then pass uncut for a while, each with a message, and are cut again later."""
    later_seconds = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + later_seconds)
    monkeypatch.setattr(guarding, "time", clock)
    monkeypatch.setattr(guarding, "_SLOW_SECONDS", 0.05)
    monkeypatch.setattr("penstock.store.sqlite.WAIT_SECONDS", 0.1)
    desk = Desk(tmp_path)
    assert "OUTPUT TRUNCATED" in json.dumps(desk.result(text_result(FLOOD)))
    with closing(sqlite3.connect(tmp_path / "penstock.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert desk.result(text_result(FLOOD)) == text_result(FLOOD)
        assert desk.result(text_result(FLOOD)) == text_result(FLOOD)
    assert ["not tried again" in sentence for sentence in desk.said] == [False, True]
    later_seconds = guarding._REST_SECONDS
    assert "OUTPUT TRUNCATED" in json.dumps(desk.result(text_result(FLOOD)))


def test_a_result_that_is_longer_than_is_held_passes_whole(tmp_path: Path) -> None:
    """It passes in parts, as it comes; what follows is inspected again."""
    desk, raw = Desk(tmp_path), answer(text_result(FLOOD))
    desk.ask(call())
    assert desk.down(cut_anywhere(raw, list(range(0, len(raw), 1000))), max_held_bytes=10_000) == raw
    desk.ask(call(number=2))
    assert b"OUTPUT TRUNCATED" in desk.down(cut_anywhere(answer(text_result(FLOOD), 2), [5]))


def test_secrets_are_kept_as_the_store_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If only redacted forms are kept, none is shown either, so that pages continue where the cut ends."""
    monkeypatch.setenv("PENSTOCK_STORE_REDACT", "1")
    secret = "ghp_" + "a1B2" * 9
    desk = Desk(tmp_path)
    (block,) = desk.result(text_result(f"token: {secret}\n{FLOOD}"))["content"]
    assert secret not in block["text"]
    assert secret.encode() not in desk.kept(handle_in(block["text"]))


def test_what_is_remembered_has_a_bound() -> None:
    """A client that endlessly asks without being answered costs a bounded number of requests."""
    talk = quiet_talk()
    for number in range(MAX_WAITING + 50):
        talk.from_client(call(number=number))
    assert len(talk._waiting) == MAX_WAITING
    for zeros in range(1, 100):  # also for one id in many spellings
        talk.from_client(call(number=0).replace(b'"id": 0', b'"id": 0.' + b"0" * zeros))
    assert len(talk._waiting) == MAX_WAITING


def test_two_calls_at_one_id_are_both_guarded(tmp_path: Path) -> None:
    """The protocol forbids this; a host's mistake must not let a flood pass, in sequence or at once."""
    desk = Desk(tmp_path)
    desk.ask(call())
    desk.ask(call())
    for _ in range(2):
        assert b"OUTPUT TRUNCATED" in desk.down([answer(text_result(FLOOD))])
    assert desk.down([answer(text_result(FLOOD))]) == answer(text_result(FLOOD))  # a third answers nothing
    talk = quiet_talk()
    for _ in range(MAX_WAITING + 50):  # and what is remembered has its bound
        talk.from_client(call())
    assert len(talk._waiting) == MAX_WAITING


def test_a_call_that_is_asked_while_another_of_its_id_is_answered_is_remembered() -> None:
    """Each direction has its own thread, and a forgotten call would let its flood pass."""
    waiting = quiet_talk()._waiting
    first, second = AskedCall("tools/call", "first", None), AskedCall("tools/call", "second", None)
    number: Id = ("number", 1)
    is_asked = Event()

    def ask() -> None:
        waiting.add(number, b"1.0", second)
        is_asked.set()

    class SlowId(tuple[str, str | int | float]):
        """An id whose second lookup, which forgets it, lets the other thread run in between, if it can."""

        looks = 0

        def __hash__(self) -> int:
            self.looks += 1
            if self.looks == 2:
                asking.start()
                is_asked.wait(0.05)
            return super().__hash__()

    asking = Thread(target=ask)
    waiting.add(number, b"1", first)
    assert waiting.pop(SlowId(number), b"1") == first
    asking.join()
    assert waiting.pop(number, b"1.0") == second


@given(ids=st.permutations([b"1", b"1.0", b'"1"', b"null", b"1e0", b"true"]), order=st.permutations(range(6)))
@settings(max_examples=10)
def test_every_answer_is_guarded_whatever_its_id(
    ids: list[bytes], order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """This holds for equal ids, or null, which the protocol forbids and servers answer."""
    desk = Desk(tmp_path_factory.mktemp("store"))
    for at, number in enumerate(ids):
        desk.ask(call(f"tool{at}", 0).replace(b'"id": 0', b'"id": ' + number))
    tools = []
    for at in order:
        got = desk.down([answer(text_result(FLOOD), 0).replace(b'"id": 0', b'"id": ' + ids[at])])
        tools += re.findall(rb"Tool 'tool(\d)' returned", got)
    assert [int(tool) for tool in tools] == [at for at in order if ids[at] != b"true"]  # which is not an id
    assert desk.talk.is_idle


def test_an_answer_may_write_its_id_otherwise(tmp_path: Path) -> None:
    """A server whose numbers are all floats answers 5 as 5.0."""
    desk = Desk(tmp_path)
    desk.ask(call(number=5))
    assert b"OUTPUT TRUNCATED" in desk.down([answer(text_result(FLOOD), 5.0)])


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (20, '"20"'),
        (20, '" 20 "'),
        (20, '"20.0"'),
        (20, '"0x14"'),
        (20, '"2e1"'),
        (0, '""'),
        ("20", "20"),
        ("20", "20.0"),
    ],
)
def test_a_number_that_is_answered_as_a_text_is_guarded_and_waits_on(
    asked: str | int, answered: str, tmp_path: Path
) -> None:
    """SDKs accept "20" for 20, and other clients wait for the answer whose id is the number."""
    desk = Desk(tmp_path)
    desk.ask(call(number=asked))
    flood = answer(text_result(FLOOD), asked)
    odd = flood.replace(b'"id": ' + json.dumps(asked).encode(), b'"id": ' + answered.encode())
    for raw in (odd, odd, flood):
        assert b"OUTPUT TRUNCATED" in desk.down([raw[:9_000], raw[9_000:]])
    assert desk.talk.is_idle
    desk.ask(call(number=f"{asked} or so"))
    assert desk.down([odd]) == odd


@pytest.mark.parametrize("number", ["nan", "Infinity", "1e999", "-", "", "9" * 5_000])
def test_a_text_that_is_not_a_number_is_an_id_like_others(number: str, tmp_path: Path) -> None:
    """What is not a number equals nothing else."""
    desk = Desk(tmp_path)
    desk.ask(call(number=number))
    assert b"OUTPUT TRUNCATED" in desk.down([answer(text_result(FLOOD), number)])
    assert desk.talk.is_idle


def test_a_batch_that_is_too_long_passes_and_the_person_is_told() -> None:
    """This holds in both directions."""
    said: list[str] = []
    talk = Conversation(Guard(no_store, None, said.append), say=said.append)
    raw = line([json.loads(answer(text_result("small"))), *({"id": number} for number in range(10_000))])
    talk.from_client(call())
    assert talk.from_server(raw) == raw
    assert talk.from_client(raw).forward == raw
    assert said == ["a batch of more than 10000 messages passed unread"] * 2


def test_a_batch_that_is_too_long_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It used to be read a second time to say why it passed."""
    begun: list[int] = []
    beginning = JsonReader.value

    def counted(reader: JsonReader) -> Value:
        begun.extend([0] if reader.at == 0 else [])
        return beginning(reader)

    monkeypatch.setattr(JsonReader, "value", counted)
    said: list[str] = []
    talk = Conversation(Guard(no_store, None, said.append), say=said.append)
    talk.from_client(line([{"id": number} for number in range(10_001)]))
    assert (len(said), len(begun)) == (1, 1)


def test_a_cancelled_call_of_ours_has_no_answer_and_the_server_hears_nothing_of_it() -> None:
    """The server receives cancellations of its own calls."""
    talk = quiet_talk()
    (own,) = talk.from_client(call("ctx_find", "7", handle="x", pattern="y")).own
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}}
    assert talk.from_client(line({**cancel, "params": {"requestId": 7}})).forward
    assert not talk.from_client(line(cancel)).forward
    assert not talk.answered(own)
    assert talk.from_client(line(cancel)).forward


DEEP = b"[" * 100_000 + b"]" * 100_000
"""Deeper than any Python reads: 3.14 reads 50,000 levels."""

BAD = [
    b'{"id":1,"method":"tools/call","params":{"name":"\\x"}}\n',
    b'{"id":1,"method":"tools/call","params":{"name":"ctx_page","arguments":{"handle":"\\q"}}}\n',
    b'{"id":1,"method":"tools/call","params":{"name":"ctx_page","arguments":nope}}\n',
    b'{"id":1,"method":"tools/call","params":{"name":"\xff"}}\n',
    b'{"id":1,"method":"initialize","params":{"clientInfo":{"name":"\\x"}}}\n',
    b'{"method":"notifications/cancelled","params":{"requestId":nope}}\n',
    b'{"method":"notifications/cancelled","params":{"requestId":' + b"1" * 5_000 + b"}}\n",
    b'{"id":' + b"1" * 5_000 + b',"method":"tools/call","params":{"name":"x"}}\n',
    b'{"id":1,"method":"tools/call","params":' + DEEP + b"}\n",
    b'{"id":1,"method":"tools/call","params":{"name":"ctx_find","arguments":' + DEEP + b"}}\n",
]


@pytest.mark.parametrize("raw", BAD, ids=lambda raw: repr(raw[:90]))
def test_what_is_nearly_a_message_passes_and_ends_nothing(raw: bytes) -> None:
    """Its name, argument or id is invalid: the server will say so."""
    talk = quiet_talk()
    assert talk.from_client(raw).forward == raw
    assert Switchboard(["a", "b"], Guard(no_store, None, lambda _: None)).from_host(raw) is not None


_UNREADABLE = st.sampled_from(
    [
        b"1e",
        b"undefined",
        b"1" * 5_000,
        b"[" * 5_000 + b"]" * 5_000,
        b'"\xff\xfe"',
        b'"\\q"',
        b'"\\ud800"',
        b"",
        b"nope",
        b"7",
    ]
)


@given(
    method=st.sampled_from([b"tools/call", b"tools/list", b"notifications/cancelled", b"initialize", b"x"]),
    members=st.dictionaries(
        st.sampled_from([b"name", b"arguments", b"requestId", b"clientInfo", b"_meta"]), _UNREADABLE, max_size=5
    ),
    wrapped=st.sampled_from([b"%s", b'{"name":%s}', b'{"io.modelcontextprotocol/clientInfo":{"name":%s}}']),
    number=_UNREADABLE,
    is_batch=st.booleans(),
)
@example(method=b"tools/call", members={b"name": b'"\\q"'}, wrapped=b"%s", number=b"7", is_batch=True)
@example(method=b"notifications/cancelled", members={b"requestId": b"1e"}, wrapped=b"%s", number=b"7", is_batch=True)
def test_whatever_of_a_message_cannot_be_read_it_passes_and_its_neighbours_are_served(
    method: bytes, members: dict[bytes, bytes], wrapped: bytes, number: bytes, is_batch: bool
) -> None:
    """One part may be invalid JSON, too deep, too long or invalid UTF-8; an earlier call of ours still gets its answer."""
    inner = b",".join(
        b'"%s":%s' % (key, wrapped % value if key != b"name" else value) for key, value in members.items()
    )
    raw = b'{"id":%s,"method":"%s","params":{%s}}' % (number, method, inner)
    talk = quiet_talk()
    said = talk.from_client(b"[%s,%s]" % (call("ctx_page", "us", handle="x").strip(), raw) if is_batch else raw + b"\n")
    assert raw in said.forward
    assert [own.id for own in said.own] == ([("text", "us")] if is_batch and parse(raw) else [])
    talk.from_server(raw)


@pytest.mark.parametrize("name", [b'"\xff"', b'"\\q"', b"5"])
def test_a_call_is_guarded_even_if_its_client_or_tool_has_no_name(name: bytes, tmp_path: Path) -> None:
    """A name does not affect whether an answer is cut."""
    for raw in (
        b'{"id":1,"method":"tools/call","params":{"name":%s}}' % name,
        b'{"id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/clientInfo":{"name":%s}}}}'
        % name,
    ):
        desk = Desk(tmp_path)
        assert desk.ask(raw) == raw
        assert b"OUTPUT TRUNCATED" in desk.down([answer(text_result(FLOOD))])


@given(
    parts=st.lists(
        st.sampled_from([b"\xe9", b"\xff\xfe", b"\xe2\x82", b"\xc3\xa9", b"\\n", b"\\ud800", b"line "]), min_size=1
    )
)
@settings(max_examples=15)
def test_invalid_utf8_lets_no_flood_pass(parts: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    """A host that shows a replacement for each reads such a line: it is cut, and the bytes are kept as they came."""
    desk = Desk(tmp_path_factory.mktemp("store"), client="claude-code")
    inner = b"".join(parts) + b"x" * 300_000 + b"".join(parts)
    desk.ask(call())
    got = desk.down([b'{"id":1,"result":{"_meta":{"\xe9":1},"content":[{"type":"text","text":"%s"}]}}\n' % inner])
    (block,) = json.loads(got.decode("utf-8", "replace"))["result"]["content"]
    halves = b"\xed\xa0\x80"
    assert desk.kept(handle_in(block["text"])) == inner.replace(b"\\n", b"\n").replace(b"\\ud800", halves)


ANSWERS = [
    b'{"id":1,"result":{"tools":[{"name":"\\x"}]}}\n',
    b'{"id":1,"result":{"tools":[5,null,[]]},"nextCursor":5}\n',
    b'{"id":1,"result":{"resultType":"\\x","content":[{"type":"text","text":"' + b"x" * 60_000 + b'"}]}}\n',
    b'{"id":1,"result":{"content":[{"type":"text","text":"\\x' + b"x" * 60_000 + b'"}]}}\n',
    b'{"id":1,"result":{"content":[{"type":"text","text":"\xff' + b"x" * 60_000 + b'"}]}}\n',
    b'{"id":1,"result":{"content":"' + b"x" * 60_000 + b'"}}\n',
    b'{"id":1,"result":{"content":[' + b"[" * 60_000 + b"]" * 60_000 + b"]}}\n",
]


@pytest.mark.parametrize("raw", ANSWERS, ids=lambda raw: repr(raw[:60]))
@pytest.mark.parametrize("asked", ["tools/call", "tools/list"])
def test_what_is_nearly_an_answer_ends_nothing(raw: bytes, asked: str, tmp_path: Path) -> None:
    """It passes, or is kept and cut as far as it can be read."""
    desk = Desk(tmp_path)
    desk.ask(request(asked, 1, name="x"))
    got = desk.down([raw])
    assert got == raw or b"OUTPUT TRUNCATED" in got or b"ctx_find" in got
    talk = Switchboard(["a", "b"], desk.guard)
    asking = talk.from_host(request(asked, 1, name="x"))
    for out in asking:
        number = json.dumps(json.loads(out.raw)["id"]).encode()
        assert talk.from_server(out.to, raw.replace(b'"id":1,', b'"id":' + number + b",", 1)) is not None
