"""Is what was done counted and reported, in bounded memory, on a page and in metrics (W-7)?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from penstock.context.counts import CONTENT_KINDS, KindCounts
from penstock.gateway.metrics import metrics
from penstock.gateway.passage import Passed
from penstock.gateway.provider import Windows
from penstock.gateway.seen import (
    MAX_EVENTS,
    MAX_HANDLES,
    MAX_MODELS,
    MAX_SESSIONS,
    MAX_TURNS,
    OTHERS,
    FullestTurns,
    Seen,
    SeenTurn,
)
from penstock.testing import LoopbackProvider
from penstock.wires import WIRES
from tests.gateway.standing import RecordingUpstream, Said, Standing, standing
from tests.gateway.stories import body_of, path_of, story
from tests.gateway.test_cuts import WINDOW, provider, upstream_of
from tests.gateway.test_own_calls import Reader, asked

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("W-7")


def read(**given: Any) -> Passed:
    """Return a request that was read: a thousand tokens of results, unless given otherwise."""
    tokens = given.pop("tokens", 1_000)
    kinds = KindCounts(tuple(tokens if kind == "results" else 0 for kind in CONTENT_KINDS), 1)
    made = {"wire": "anthropic", "model": "m", "session": "a", "status": 200, "before_tokens": tokens}
    return Passed(**{**made, "after_tokens": tokens, "kinds": kinds, **given})


def samples(seen: Seen) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return what the library reads of the metrics, by name and labels."""
    made: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(metrics(seen)):
        assert family.documentation
        for sample in family.samples:
            made.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return made


def value(seen: Seen, name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that have these labels."""
    held = samples(seen)[name]
    return sum(number for key, number in held.items() if labels.items() <= dict(key).items())


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(0, 50), min_size=1, max_size=90), st.integers(1, 9))
def test_each_bucket_keeps_its_fullest_turn(sizes: list[int], most: int) -> None:
    """For any number of turns, few are kept, in order, and the fullest of all is among them."""
    kept = FullestTurns(most)
    for number, tokens in enumerate(sizes, 1):
        kept.add(SeenTurn(number, tokens, (), True, False))
    assert len(kept.turns) <= most
    assert max(turn.tokens for turn in kept.turns) == max(sizes)
    for place, turn in enumerate(kept.turns):
        bucket = sizes[place * kept.stride : (place + 1) * kept.stride]
        assert turn.tokens == max(bucket)
        assert kept.place(turn.number) == place


def test_memory_is_bounded_whatever_comes() -> None:
    """Sessions, turns, cuts, handles and the names of models are bounded; the counts stay right."""
    seen = Seen()
    for at in range(MAX_SESSIONS + 40):
        seen.tell(read(session=f"s{at}", model=f"model-{at}" if at % 2 else "x" * 5_000))
    for at in range(4 * MAX_TURNS):
        handles = tuple(str(number) for number in range(at))
        seen.tell(read(session="long", new_cuts=("cleared",), cuts=at, handles=handles, refusals=1, tokens=at))
    assert len(seen.sessions()) == MAX_SESSIONS
    assert seen.sessions()[0].name == "long"
    assert seen.session("s0") is None
    told = seen.sessions()[0].story()
    assert len(told.turns) <= MAX_TURNS + 1
    assert len(told.compactions) <= MAX_EVENTS
    assert len(told.refusals) <= MAX_EVENTS
    assert len(seen.sessions()[0].handles) <= MAX_HANDLES
    assert told.turns[-1].tokens == 4 * MAX_TURNS - 1
    assert all(refusal.turn <= len(told.turns) for refusal in told.refusals)
    names = {one.model for one in seen.asked}
    assert len(names) <= MAX_MODELS + 1
    assert OTHERS in names
    assert not any("x" * 200 in name for name in names)
    assert sum(seen.asked.values()) == MAX_SESSIONS + 40 + 4 * MAX_TURNS


def test_the_newest_request_is_shown_if_its_bucket_has_a_fuller_one() -> None:
    """The fullest stays, and the last one is the session's present state."""
    seen = Seen()
    for tokens in [*range(1, 2 * MAX_TURNS), 90_000, 7]:
        seen.tell(read(tokens=tokens))
    (session,) = seen.sessions()
    told = session.story()
    assert session.stride > 1
    assert max(turn.tokens for turn in told.turns) == 90_000
    assert told.fill is not None
    assert told.fill.tokens == 7


# ── what is counted ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_session_is_shown_turn_by_turn(wire: str, streamed: bool, tmp_path: Path) -> None:
    """It gives the fill as the provider counted it, by kind, the recovered refusal, and the cuts with what each removed."""
    with provider(wire) as double, standing(tmp_path, upstream_of(double)) as gateway:
        for turns in (60, 61, 62, 63):
            body = body_of(wire, story(turns, 1_000))
            if streamed and wire not in {"gemini", "bedrock"}:
                body |= {"stream": True} | (
                    {"stream_options": {"include_usage": True}} if wire == "openai-chat" else {}
                )
            assert gateway.ask(path_of(wire, streamed=streamed), body).status == 200
        seen = gateway.gateway.seen
    (session,) = seen.sessions()
    told = session.story()
    assert (session.wire, session.requests, len(told.turns)) == (wire, 4, 4)
    assert session.refusals >= 1
    assert told.refusals[0].turn == 1
    assert told.compactions[0].turn == 0
    assert session.handles
    for turn in told.turns:
        assert turn.is_measured
        assert turn.tokens == sum(turn.by_kind.values()) <= WINDOW
        assert {"user", "results", "calls", "assistant"} <= turn.by_kind.keys()
    for cut in told.compactions:
        assert cut.before_tokens > cut.after_tokens
        assert sum(cut.by_kind.values()) >= cut.before_tokens - cut.after_tokens
    assert {one.outcome for one in seen.asked} == {"recovered", "cut"}
    assert value(seen, "penstock_refusals_total", outcome="recovered", applied="true") == session.refusals
    assert value(seen, "penstock_context_cuts_total", applied="true") == session.cuts
    usage = "gen_ai_client_inference_usage_input_tokens_total"
    assert value(seen, usage, gen_ai_request_model=session.model) == sum(turn.tokens for turn in told.turns)
    assert value(seen, "gen_ai_client_operation_duration_seconds_count", wire=wire) == 4
    if session.window_tokens is not None:  # not every provider's refusal states it
        assert session.window_tokens == WINDOW
        assert value(seen, "gen_ai_context_utilization_ratio_bucket", le="+Inf") == 4


def test_requests_that_pass_unread_are_counted(tmp_path: Path) -> None:
    """Counts of tokens, other paths, errors and unreachable upstreams are counted too; none of them is a session."""
    with RecordingUpstream(lambda came: Said(429 if came.body == b'{"model":"busy"}' else 200)) as behind:
        with standing(tmp_path, behind.url) as gateway:
            for body in (b'{"model": "small", "messages": []}', b'{"model":"busy"}', b"\x1f\x8bpacked"):
                gateway.post("/v1/messages", body)
            gateway.post("/v1/messages/count_tokens", b'{"model": "small"}')
            gateway.post("/v1/models", b"", method="GET")
            seen = gateway.gateway.seen
        with standing(tmp_path, "http://127.0.0.1:9") as gateway:
            gateway.post("/v1/messages", b'{"model": "small"}')
            gone = gateway.gateway.seen
    assert sorted((one.wire, one.model, one.status, one.outcome) for one in seen.asked) == [
        ("", "", 200, "other"),
        ("anthropic", "", 200, "unread"),
        ("anthropic", "busy", 429, "unread"),
        ("anthropic", "small", 200, "counted"),
        ("anthropic", "small", 200, "unread"),
    ]
    assert [(one.status, one.outcome) for one in gone.asked] == [(502, "unread")]
    assert not seen.sessions()
    assert value(seen, "penstock_gateway_requests_total") == 5


def test_what_cannot_shrink_is_shown_as_refused(tmp_path: Path) -> None:
    """The client got the provider's refusal, and the session is stuck there."""
    body = body_of("anthropic", [{"role": "user", "content": "word " * 30_000}])
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double)) as gateway:
        assert gateway.ask("/v1/messages", body).status == 400
        seen = gateway.gateway.seen
    (session,) = seen.sessions()
    assert session.story().state == "stuck"
    assert [one.outcome for one in seen.asked] == ["refused"]
    assert value(seen, "penstock_refusals_total", outcome="returned") >= 1


def test_money_is_of_listed_models_and_of_what_their_answers_report(tmp_path: Path) -> None:
    """The cost uses the cache figures of the answer; a model without a list price has no known cost."""
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": 8_000, "cache_creation_input_tokens": 1_000}
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Fine."}],
        "stop_reason": "end_turn",
        "usage": {**usage, "output_tokens": 500},
    }
    with (
        RecordingUpstream(lambda _: Said(parts=(json.dumps(answer).encode(),))) as behind,
        standing(tmp_path, behind.url, windows=Windows((("*", 20_000),))) as gateway,
    ):
        for model in ("claude-sonnet-4-5", "nobody-lists-this"):
            body = {**body_of("anthropic", story(10, 3_000, first=model)), "model": model}
            assert gateway.ask("/v1/messages", body).status == 200
        seen = gateway.gateway.seen
    unlisted, listed = seen.sessions()
    assert unlisted.money is None
    assert listed.money is not None
    # 3 dollars for a million tokens, .3 from a cache, 3.75 into one, and 15 for the answer
    assert listed.money.dollars == pytest.approx((1_000 * 3 + 8_000 * 0.3 + 1_000 * 3.75 + 500 * 15) / 1e6)
    assert value(seen, "gen_ai_client_inference_usage_cache_read_input_tokens_total") == 16_000
    assert value(seen, "gen_ai_client_inference_usage_cache_write_input_tokens_total") == 2_000
    assert value(seen, "gen_ai_client_inference_usage_output_tokens_total") == 1_000


@pytest.mark.parametrize("streamed", [False, True])
def test_what_the_model_read_back_is_counted_and_paid(streamed: bool, tmp_path: Path) -> None:
    """Each answer to a call of ours is a separate, charged request; the client's is one turn."""
    with LoopbackProvider(
        "anthropic", WINDOW, policy=Reader("anthropic", pages=3), model="claude-sonnet-4-5"
    ) as double:
        settings = {"windows": Windows((("*", WINDOW),))}
        with standing(tmp_path, upstream_of(double), **settings) as gateway:
            asked(
                gateway,
                "anthropic",
                story(60, 1_000),
                model="claude-sonnet-4-5",
                **({"stream": True} if streamed else {}),
            )
            seen = gateway.gateway.seen
        counted = sum(received.input_tokens for received in double.requests)
    (session,) = seen.sessions()
    assert (session.requests, session.answered_calls) == (1, 3)
    assert session.money is not None
    assert session.money.priced_turns == 4
    assert value(seen, "penstock_gateway_answered_calls_total") == 3
    assert value(seen, "gen_ai_client_inference_usage_input_tokens_total") == counted


# ── looking on ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_observing_shows_what_would_have_been_done(tmp_path: Path) -> None:
    """The answers are those without a gateway; what would have been cut, and the refusals avoided, are marked as such."""
    with provider("anthropic") as double:
        alone = Standing(double.base_url, urlsplit(double.base_url).port or 0, None, None)  # type: ignore[arg-type]
        plain = [ask(alone, turns) for turns in (10, 60, 61)]
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double), observes=True) as gateway:
        assert [ask(gateway, turns) for turns in (10, 60, 61)] == plain
        assert len(double.requests) == 3  # nothing was sent again
        seen = gateway.gateway.seen
    assert [status for status, _, _ in plain] == [200, 400, 400]
    (session,) = seen.sessions()
    assert session.refusals == 2
    assert session.cuts > 0
    assert sorted(one.outcome for one in seen.asked) == ["cut", "fits", "recovered"]  # the last as the one before
    assert seen.passed_on == 2
    assert value(seen, "penstock_context_cuts_total", applied="false") == session.cuts
    assert value(seen, "penstock_gateway_observing") == 1
    # The turns are what was sent, which nobody cut.
    told = session.story()
    assert told.state == "stuck"
    assert told.turns[-1].tokens > WINDOW


def ask(gateway: Any, turns: int) -> tuple[int, dict[str, str], bytes]:
    """Return what a client sees of a request, except what differs in every answer."""
    got = gateway.ask("/v1/messages", body_of("anthropic", story(turns, 1_000)))
    return (
        got.status,
        {name: held for name, held in got.headers.items() if name not in {"request-id", "date"}},
        got.body,
    )


def test_a_failure_of_observing_does_not_affect_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer passes, and the request is counted."""
    monkeypatch.setattr("penstock.gateway.passage.Passage.observe", lambda *_: 1 / 0)
    with provider("anthropic") as double, standing(tmp_path, upstream_of(double), observes=True) as gateway:
        assert gateway.ask("/v1/messages", body_of("anthropic", story(5))).status == 200
        seen = gateway.gateway.seen
    assert [one.outcome for one in seen.asked] == ["unread"]


# ── the format ───────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text(max_size=60))
def test_names_of_clients_cannot_break_the_format(name: str) -> None:
    """Quotes, backslashes, line ends and other characters in a model's name come back as they were."""
    seen = Seen()
    seen.tell(Passed(wire="gemini", model=name, status=200))
    (labels,) = samples(seen)["penstock_gateway_requests_total"]
    assert dict(labels)["model"] == name


def test_a_window_is_not_added_up_over_apis() -> None:
    """A provider with two APIs reports the same model's window twice: it is a size, of which the newest is known best."""
    seen = Seen()
    for wire, window in (("openai-chat", 8_000), ("openai-responses", 9_000), ("openai-chat", 7_000)):
        seen.tell(read(wire=wire, window_tokens=window))
    assert list(samples(seen)["gen_ai_context_window_size"].values()) == [7_000]
