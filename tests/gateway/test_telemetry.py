"""Is OpenTelemetry told what the metrics say, under the names of its conventions, without text of a request (W-7)?"""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from penstock.errors import CallerError
from penstock.gateway import page
from penstock.gateway.provider import Windows
from penstock.gateway.seen import Seen
from penstock.gateway.telemetry import Telemetry
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, path_of, story
from tests.gateway.test_seen import read, samples

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("W-7")


class Told:
    """An SDK that keeps what it is told."""

    def __init__(self, *, observes: bool = False) -> None:
        self._reader, self._spans = InMemoryMetricReader(), InMemorySpanExporter()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self.telemetry = Telemetry(meters=meters, tracers=tracers, observes=observes)

    def points(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Return the points of each metric: attributes and the sum, also for histograms."""
        data = self._reader.get_metrics_data()
        made: dict[str, list[tuple[dict[str, Any], float]]] = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    made[metric.name] = [
                        (
                            dict(point.attributes or {}),
                            float(getattr(point, "value", None) or getattr(point, "sum", None) or 0),
                        )
                        for point in metric.data.data_points
                    ]
        return made

    def spans(self) -> list[Any]:
        """Return the spans that have ended."""
        return list(self._spans.get_finished_spans())


PASSED = st.builds(
    read,
    wire=st.sampled_from(["anthropic", "openai-chat"]),
    model=st.sampled_from(["m", "n"]),
    status=st.sampled_from([200, 400, 529]),
    is_count=st.booleans(),
    is_streamed=st.booleans(),
    bytes_in=st.integers(0, 1_000),
    seconds=st.floats(0, 100),
    tokens=st.integers(0, 1_000),
    refusals=st.integers(0, 2),
    is_irreducible=st.booleans(),
    cuts=st.integers(0, 2),
    new_cuts=st.lists(st.sampled_from(["cleared", "collapsed"]), max_size=2).map(tuple),
    answered_calls=st.integers(0, 2),
    window_tokens=st.none() | st.just(2_000),
    reported_tokens=st.none() | st.integers(1, 900),
    cached_tokens=st.none() | st.integers(0, 900),
    output_tokens=st.none() | st.integers(0, 900),
)
SAME = (
    ("penstock.gateway.requests", "penstock_gateway_requests_total"),
    ("penstock.gateway.received", "penstock_gateway_received_bytes_total"),
    ("penstock.gateway.answered_calls", "penstock_gateway_answered_calls_total"),
    ("penstock.context.cuts", "penstock_context_cuts_total"),
    ("penstock.context.cut_tokens", "penstock_context_cut_tokens_total"),
    ("penstock.refusals", "penstock_refusals_total"),
    ("gen_ai.client.inference.usage.input_tokens", "gen_ai_client_inference_usage_input_tokens_total"),
    (
        "gen_ai.client.inference.usage.cache_read.input_tokens",
        "gen_ai_client_inference_usage_cache_read_input_tokens_total",
    ),
    ("gen_ai.client.inference.usage.output_tokens", "gen_ai_client_inference_usage_output_tokens_total"),
    ("gen_ai.client.operation.duration", "gen_ai_client_operation_duration_seconds_sum"),
    ("gen_ai.context.utilization", "gen_ai_context_utilization_ratio_sum"),
)


@given(st.lists(PASSED, max_size=8))
def test_it_is_told_what_the_metrics_say(passed: list[Any]) -> None:
    """Whatever passes, both count the same."""
    told = Told()
    seen = Seen(telemetry=told.telemetry)
    for one in passed:
        seen.tell(one)
    points, written = told.points(), samples(seen)
    for name, other in SAME:
        ours = sum(value for _, value in points.get(name, ()))
        theirs = sum(written.get(other, {}).values())
        assert ours == pytest.approx(theirs), name


def test_names_are_those_of_the_conventions() -> None:
    """Each request to a model has a span, which has its time but not its content."""
    told = Told()
    seen = Seen(telemetry=told.telemetry)
    seen.tell(
        read(
            at=1_000.0,
            seconds=2.5,
            provider="https://user:pass@api.example/v1",
            cuts=2,
            new_cuts=("cleared",),
            window_tokens=2_000,
            reported_tokens=900,
            cached_tokens=800,
            output_tokens=7,
        )
    )
    seen.tell(read(status=529, session="", before_tokens=None))
    about = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "m"}
    points = told.points()
    assert points["gen_ai.client.inference.usage.input_tokens"] == [
        ({**about, "gen_ai.token.modality": "unknown"}, 900)
    ]
    assert points["gen_ai.context.window_size"] == [(about, 2_000)]
    assert points["gen_ai.client.operation.duration"] == [(about, 2.5), ({**about, "error.type": "529"}, 0)]
    cut, failed = told.spans()
    assert (cut.name, cut.kind.name, cut.start_time, cut.end_time) == ("chat m", "CLIENT", 10**12, 10**12 + 25 * 10**8)
    assert dict(cut.attributes) == {
        **about,
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.cache_read.input_tokens": 800,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.conversation.id": "a",
        "gen_ai.conversation.compacted": True,
        "gen_ai.context.window_size": 2_000,
        "server.address": "api.example",
        "penstock.outcome": "cut",
        "penstock.cuts": 2,
    }
    assert (failed.attributes["error.type"], failed.status.status_code.name) == ("529", "ERROR")


def test_what_would_have_been_cut_is_marked_as_such() -> None:
    """This is the case if the gateway only observes."""
    told = Told(observes=True)
    Seen(observes=True, telemetry=told.telemetry).tell(read(new_cuts=("cleared",), cuts=1, is_observed=True))
    assert told.points()["penstock.context.cuts"] == [({"strategy": "cleared", "applied": False}, 1)]
    (span,) = told.spans()
    assert "gen_ai.conversation.compacted" not in span.attributes


def test_a_request_through_a_gateway_is_recorded_without_its_text(tmp_path: Path) -> None:
    """Neither its words nor its key are in any point or span."""
    told = Told()
    answer = json.dumps(
        {"content": [{"type": "text", "text": "a secret answer"}], "usage": {"input_tokens": 3}}
    ).encode()
    with (
        RecordingUpstream(lambda _: Said(parts=(answer,))) as upstream,
        standing(tmp_path, upstream.url, telemetry=told.telemetry, windows=Windows((("m", 8_000),))) as gateway,
    ):
        body = body_of("anthropic", story(12))
        got = gateway.post(path_of("anthropic"), json.dumps(body).encode(), {"x-api-key": "sk-very-secret"})
        assert got.status == 200
    (span,) = told.spans()
    assert span.attributes["penstock.outcome"] == "cut"
    everything = repr((told.points(), span.to_json()))
    for text in ("sk-very-secret", "Mend the bug", "compute", "secret answer"):
        assert text not in everything


def test_without_the_api_it_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an SDK it is known that nobody listens."""
    assert not Telemetry().is_exported
    assert Told().telemetry.is_exported
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(CallerError, match=r"penstock\[otel\]"):
        Telemetry()


def test_requests_go_on_while_a_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full page takes 15 ms, and streams do not wait for it."""
    is_writing, may_end = threading.Event(), threading.Event()

    def slow(*_: Any) -> str:
        is_writing.set()
        assert may_end.wait(20)
        return "the page"

    monkeypatch.setattr(page, "overview_page", slow)
    with RecordingUpstream(lambda _: Said()) as upstream, standing(tmp_path, upstream.url) as gateway:
        got: list[bytes] = []
        asking = threading.Thread(target=lambda: got.append(gateway.post("/penstock/", b"", {}, "GET").body))
        asking.start()
        assert is_writing.wait(20)
        assert gateway.ask("/v1/messages", {"model": "m", "messages": []}).status == 200
        may_end.set()
        asking.join()
    assert got == [b"the page"]
