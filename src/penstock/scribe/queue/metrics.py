"""How does Prometheus read the figures of runs?

Law: a figure has one name and one unit, and what only grows within a run is a counter. Leaves to others: where they come from
(`progress`), and the format (`text.prometheus`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.prometheus import family

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.scribe.queue.progress import RunProgress


def metrics(seen: Sequence[RunProgress]) -> str:
    """Return the figures of some runs, in the text format of Prometheus."""
    return "".join(f"{line}\n" for line in _lines(seen))


def _lines(seen: Sequence[RunProgress]) -> Iterator[str]:
    yield from _family(
        "chunks",
        "gauge",
        "Chunks of a run by what became of them.",
        (
            (one, {"state": state}, value)
            for one in seen
            for state, value in (("answered", one.answered), ("failed", one.failed), ("open", one.open))
        ),
    )
    yield from _family(
        "files_waiting", "gauge", "Files that are not surveyed yet.", ((one, {}, one.files_waiting) for one in seen)
    )
    yield from _family("calls", "counter", "Requests that workers reported.", ((one, {}, one.calls) for one in seen))
    yield from _family(
        "late_answers",
        "counter",
        "Answers dropped because another was accepted.",
        ((one, {}, one.late) for one in seen),
    )
    yield from _family(
        "tokens",
        "counter",
        "Tokens as the provider counted them.",
        (
            (one, {"direction": direction}, value)
            for one in seen
            for direction, value in (("input", one.input_tokens), ("output", one.output_tokens))
        ),
    )
    yield from _family(
        "failed_chunks",
        "gauge",
        "Chunks that failed, by cause.",
        ((one, {"cause": cause.name}, cause.chunks) for one in seen for cause in one.causes),
    )
    yield from _family(
        "spent_dollars",
        "counter",
        "Money spent, by list prices.",
        ((one, {}, one.dollars) for one in seen if one.dollars is not None),
    )
    yield from _family(
        "to_come_dollars",
        "gauge",
        "Money to come: what is expected, and between which bounds.",
        (
            (one, {"bound": bound}, value)
            for one in seen
            if one.to_come is not None
            for bound, value in one.to_come._asdict().items()
        ),
    )
    yield from _family(
        "workers",
        "gauge",
        "Workers seen within a minute that serve the run.",
        ((one, {}, sum(worker.serves for worker in one.workers)) for one in seen),
    )


def _family(
    name: str, kind: str, said: str, rows: Iterable[tuple[RunProgress, dict[str, str], float]]
) -> Iterator[str]:
    """Yield the lines of a metric whose samples are labelled with their run."""
    yield from family(
        f"penstock_queue_{name}",
        kind,
        said,
        (
            ({"run": str(one.id), "title": one.title, "model": one.model, **labels}, value)
            for one, labels, value in rows
        ),
    )
