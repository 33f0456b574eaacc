"""What was done with the requests that passed, as metrics in Prometheus' text format?

Names follow OpenTelemetry's conventions for generative AI where they exist (revision of 2026-05, "development"), Sentry's for how
full a window is, and otherwise begin with `penstock_`; by Prometheus' rules, dots become `_`, and counters end in `_total`. Law: no
label has more values than a person can read, so none names a session. Leaves to others: what is counted (`seen`), and the format
(`text.prometheus`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.context.counts import CONTENT_KINDS
from penstock.text.prometheus import family, labels
from penstock.wires import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.gateway.seen import Histogram, RequestLabels, Seen

_USAGE: Final = (
    ("input_tokens", "Input that providers reported, cached input included."),
    ("cache_read_input_tokens", "Input that came from a cache."),
    ("cache_write_input_tokens", "Input that was put into a cache."),
    ("output_tokens", "Output that providers reported."),
)


def metrics(seen: Seen) -> str:
    """Return all metrics.

    Args:
        seen: what was done since the start.
    """
    parts = [*_of_requests(seen), *_of_contexts(seen)]
    for place, (name, about) in enumerate(_USAGE):
        parts += family(
            f"gen_ai_client_inference_usage_{name}",
            "counter",
            about,
            (
                (_of(_provider(wire), model) | {"gen_ai_token_modality": "unknown"}, tokens[place])
                for (wire, model), tokens in seen.tokens.items()
            ),
        )
    parts += _histograms(
        "gen_ai_context_utilization_ratio", "How full windows were, from 0 to 1, of requests that were read.", seen.fill
    )
    parts += _histograms(
        "gen_ai_client_operation_duration_seconds",
        "How long answers took, from the request to their end.",
        seen.seconds,
    )
    return "".join(f"{line}\n" for line in parts)


def _of_requests(seen: Seen) -> Iterator[str]:
    """Yield the lines about requests and sessions."""
    yield from family(
        "penstock_gateway_requests",
        "counter",
        "Requests by what became of them.",
        ((_asked(one) | _applied(seen), count) for one, count in seen.asked.items()),
    )
    yield from family("penstock_gateway_received_bytes", "counter", "Bodies of requests.", [({}, seen.bytes_in)])
    yield from family(
        "penstock_gateway_answered_calls",
        "counter",
        "Calls of the two tools that give back what was cut.",
        [({}, seen.answered_calls)],
    )
    yield from family("penstock_gateway_sessions", "gauge", "Sessions that are reported.", [({}, len(seen.sessions()))])
    yield from family("penstock_gateway_observing", "gauge", "Whether nothing is changed.", [({}, int(seen.observes))])


def _of_contexts(seen: Seen) -> Iterator[str]:
    """Yield the lines about the content of requests and what was cut from it."""
    yield from family(
        "penstock_context_cuts",
        "counter",
        "Cuts that were made, each once.",
        (({"strategy": how} | _applied(seen), count) for how, count in seen.cuts.items()),
    )
    yield from family(
        "penstock_context_cut_tokens",
        "counter",
        "Tokens that were not sent, in every turn in which they were not.",
        [(_applied(seen), seen.cut_tokens)],
    )
    yield from family(
        "penstock_refusals",
        "counter",
        "Refusals for size, by whether the client saw them.",
        (
            ({"gen_ai_provider_name": _provider(wire), "outcome": outcome} | _applied(seen), count)
            for (wire, outcome), count in seen.refusals.items()
        ),
    )
    yield from family(
        "penstock_context_sent_tokens",
        "counter",
        "Tokens of requests that were read, by kind, as they went on.",
        (({"kind": kind}, tokens) for kind, tokens in zip(CONTENT_KINDS, seen.kinds, strict=True)),
    )
    yield from family(
        "gen_ai_context_window_size",
        "gauge",
        "The window of each model in tokens, as far as it is known.",
        ((_of(provider, model), tokens) for (provider, model), tokens in seen.windows.items()),
    )


def _applied(seen: Seen) -> dict[str, str]:
    """Return the label that distinguishes what was done from what would have been, if the gateway only observes."""
    return {"applied": "false" if seen.observes else "true"}


def _provider(wire: str) -> str:
    return wire_named(wire).service.telemetry_name


def _asked(one: RequestLabels) -> dict[str, str]:
    streamed = "true" if one.is_streamed else "false"
    return {
        "wire": one.wire,
        "model": one.model,
        "status": str(one.status),
        "streamed": streamed,
        "outcome": one.outcome,
    }


def _of(provider: str, model: str) -> dict[str, str]:
    return {"gen_ai_operation_name": "chat", "gen_ai_provider_name": provider, "gen_ai_request_model": model}


def _histograms(name: str, about: str, by_wire: Mapping[str, Histogram]) -> Iterator[str]:
    """Yield the lines of a histogram for each wire."""
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} histogram"
    for wire, histogram in by_wire.items():
        about_wire = {"gen_ai_operation_name": "chat", "gen_ai_provider_name": _provider(wire), "wire": wire}
        below = 0
        for edge, count in zip([*histogram.edges, float("inf")], histogram.counts, strict=True):
            below += count
            said = "+Inf" if edge == float("inf") else f"{edge:.15g}"
            yield f"{name}_bucket{labels({**about_wire, 'le': said})} {below}"
        yield f"{name}_sum{labels(about_wire)} {histogram.total:.15g}"
        yield f"{name}_count{labels(about_wire)} {below}"
