"""What was done with each request, as OpenTelemetry sees it: metrics, and a span for each request to a model (W-7)?

Names follow OpenTelemetry's conventions for generative AI (revision of 2026-05, "development"), Sentry's for how full a window is,
and otherwise begin with `penstock.`; the counts are those of `metrics`. Only the API is used: whoever runs the gateway brings an
SDK and configures its export, and without one nothing is recorded. Law: no attribute contains text of a request, a key or a
client's address. Leaves to others: what was done (`passage`), and how models are counted by name (`seen`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from penstock.errors import CallerError
from penstock.version import __version__
from penstock.wires import wire_named

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from penstock.gateway.passage import Passed

SCOPE: Final = "penstock.gateway"
_NANOSECONDS: Final = 1_000_000_000
_USAGE: Final = ("input_tokens", "cache_read.input_tokens", "cache_write.input_tokens", "output_tokens")


class Telemetry:
    """Instruments, and what a request adds to each.

    Args:
        meters: where metrics go; None for the process's own provider.
        tracers: where spans go; None likewise.
        observes: whether nothing is changed, so that reported cuts are hypothetical.

    Raises:
        CallerError: the API is not installed.
    """

    def __init__(
        self, *, meters: MeterProvider | None = None, tracers: TracerProvider | None = None, observes: bool = False
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise CallerError("OpenTelemetry needs its API: pip install 'penstock[otel]'") from None
        meters, tracers = meters or metrics.get_meter_provider(), tracers or trace.get_tracer_provider()
        self.is_exported = any(type(one).__module__.startswith("opentelemetry.sdk") for one in (meters, tracers))
        """Whether an SDK is there that receives the data."""
        self._kind = trace.SpanKind.CLIENT
        self._failed = trace.StatusCode.ERROR
        self._tracer = tracers.get_tracer(SCOPE, __version__)
        self._applied = {"applied": not observes}
        meter = meters.get_meter(SCOPE, __version__)
        self._requests = meter.create_counter(
            "penstock.gateway.requests", "{request}", "Requests by what became of them."
        )
        self._bytes = meter.create_counter("penstock.gateway.received", "By", "Bodies of requests.")
        self._answered = meter.create_counter(
            "penstock.gateway.answered_calls", "{call}", "Calls of the two tools that give back what was cut."
        )
        self._cuts = meter.create_counter("penstock.context.cuts", "{cut}", "Cuts that were made, each once.")
        self._cut_tokens = meter.create_counter(
            "penstock.context.cut_tokens", "{token}", "Tokens that were not sent, in every turn in which they were not."
        )
        self._refusals = meter.create_counter(
            "penstock.refusals", "{refusal}", "Refusals for size, by whether the client saw them."
        )
        self._usage = [
            meter.create_counter(f"gen_ai.client.inference.usage.{name}", "{token}", "As the provider reported it.")
            for name in _USAGE
        ]
        self._sizes = [
            meter.create_histogram(f"gen_ai.client.inference.operation.{name}", "{token}", "Of one answer.")
            for name in ("input_tokens", "output_tokens")
        ]
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "How long answers took, from the request to their end."
        )
        self._window = meter.create_gauge(
            "gen_ai.context.window_size", "{token}", "The window of each model, as far as it is known."
        )
        self._fill = meter.create_histogram("gen_ai.context.utilization", "1", "How full windows were, from 0 to 1.")

    def tell(self, passed: Passed, model: str) -> None:
        """Record what was done with a request.

        Args:
            passed: what was done.
            model: the name under which its model is counted.
        """
        outcome = passed.outcome
        self._bytes.add(passed.bytes_in)
        self._requests.add(
            1,
            {
                "wire": passed.wire,
                "model": model,
                "status": passed.status,
                "streamed": passed.is_streamed,
                "outcome": outcome,
                **self._applied,
            },
        )
        if not passed.wire or outcome == "counted":
            return
        about: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": wire_named(passed.wire).service.telemetry_name,
            "gen_ai.request.model": model,
        }
        failed = {"error.type": str(passed.status)} if passed.status >= 400 else {}
        self._seconds.record(passed.seconds, {**about, **failed})
        self._tell_context(passed, about)
        for one in (passed, *passed.follow_ups):
            self._tell_usage(one, about)
        self._span(passed, about, failed)

    def _tell_context(self, passed: Passed, about: dict[str, Any]) -> None:
        """Add the content of a request and what was cut from it, if it was parsed."""
        if passed.before_tokens is None:
            return
        if passed.window_tokens:
            self._window.set(passed.window_tokens, about)
            self._fill.record((passed.reported_tokens or passed.kinds.total) / passed.window_tokens, about)
        for how in passed.new_cuts:
            self._cuts.add(1, {"strategy": how, **self._applied})
        if gone := passed.before_tokens - (passed.after_tokens or 0):
            self._cut_tokens.add(gone, self._applied)
        if passed.refusals:
            outcome = "returned" if passed.is_irreducible else "recovered"
            provider = {"gen_ai.provider.name": about["gen_ai.provider.name"]}
            self._refusals.add(passed.refusals, {**provider, "outcome": outcome, **self._applied})
        if passed.answered_calls:
            self._answered.add(passed.answered_calls)

    def _tell_usage(self, passed: Passed, about: dict[str, Any]) -> None:
        """Add the usage that an answer reported."""
        known = {**about, "gen_ai.token.modality": "unknown"}
        reported = (passed.reported_tokens, passed.cached_tokens, passed.cache_write_tokens, passed.output_tokens)
        for counter, tokens in zip(self._usage, reported, strict=True):
            if tokens:
                counter.add(tokens, known)
        for histogram, tokens in zip(self._sizes, (passed.reported_tokens, passed.output_tokens), strict=True):
            if tokens is not None:
                histogram.record(tokens, known)

    def _span(self, passed: Passed, about: dict[str, Any], failed: dict[str, str]) -> None:
        """Make the span of a finished request."""
        begun = int(passed.at * _NANOSECONDS)
        span = self._tracer.start_span(f"chat {about['gen_ai.request.model']}", kind=self._kind, start_time=begun)
        if span.is_recording():
            usage = {
                "gen_ai.usage.input_tokens": passed.reported_tokens,
                "gen_ai.usage.cache_read.input_tokens": passed.cached_tokens,
                "gen_ai.usage.cache_write.input_tokens": passed.cache_write_tokens,
                "gen_ai.usage.output_tokens": passed.output_tokens,
                "gen_ai.conversation.id": passed.session or None,
                "gen_ai.context.window_size": passed.window_tokens,
                "server.address": urlsplit(passed.provider).hostname,
                "penstock.outcome": passed.outcome,
            }
            span.set_attributes(
                {**about, **failed, **{name: value for name, value in usage.items() if value is not None}}
            )
            if passed.cuts and not passed.is_observed:
                span.set_attribute("gen_ai.conversation.compacted", True)
                span.set_attribute("penstock.cuts", passed.cuts)
            if failed:
                span.set_status(self._failed)
        span.end(end_time=begun + int(passed.seconds * _NANOSECONDS))
