"""How are figures written so that Prometheus reads them? In its text format, one metric with its help and samples at a time.

The format is a few lines, and tests compare it with the parser of prometheus-client; the library itself took 58 ms to import and
does nothing else here. Law: a counter's name ends in `_total`; for samples with the same labels the sum is written. Leaves to
others: what is counted, and what it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Samples = Iterable[tuple[Mapping[str, str], float]]

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"


def family(name: str, kind: str, about: str, samples: Samples) -> Iterator[str]:
    """Yield the lines of a metric with its help.

    Args:
        name: Without the suffix that a counter has.
        kind: `counter` or `gauge`.
        about: A sentence for readers who see only the name.
        samples: Labels with their counts.
    """
    full = f"{name}_total" if kind == "counter" else name
    yield f"# HELP {full} {about}"
    yield f"# TYPE {full} {kind}"
    sums: dict[str, float] = {}
    for one, value in samples:
        sample = full + labels(one)
        sums[sample] = sums.get(sample, 0) + value
    yield from (f"{sample} {value:.15g}" for sample, value in sums.items())


def labels(named: Mapping[str, str]) -> str:
    """Return labels between braces; nothing if there are none."""
    if not named:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in named.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
