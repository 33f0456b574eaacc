"""What came of many sessions? The figures of each, read from its journal once and then from a summary until the journal changes.

Law: a summary says what `stats_of` and `child_figures` say. Leaves to others: when a summary is still valid (`store.summaries`).
"""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.agent import child_figures as counting_children
from penstock.agent import figures as reading
from penstock.agent import stats as deriving
from penstock.agent.child_figures import ChildFigures, child_figures
from penstock.agent.figures import stats_of
from penstock.agent.stats import Stats, TokenFlow, TokenSource
from penstock.session.limits import limits_of
from penstock.store import StoreFault
from penstock.text.redaction import secrets_in
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.store import Store

_BATCH = 100  # summaries kept at once: at most so many are recomputed after a kill
_RECORDS: dict[str, Any] = {
    "tasks": deriving.TaskRecord,
    "answers": deriving.AnswerRecord,
    "reads": deriving.Read,
    "calls": deriving.CallRecord,
    "cuts": deriving.Cut,
    "handoffs": deriving.HandoffRecord,
    "refusals": deriving.RefusalRecord,
}
_NAMES = {name: tuple(known.name for known in fields(kind)) for name, kind in _RECORDS.items()}
_LIMITS = _NAMES["answers"].index("limits")


@cache
def _made_by() -> str:
    """Return what distinguishes these figures from those of another Penstock, whose are recomputed.

    Between two versions it is the source text of the modules that count; a change in the modules below them needs a new version.
    """
    try:
        text = "".join(map(inspect.getsource, (reading, deriving, counting_children)))
    except OSError:  # installed without its sources
        text = ""
    return f"{sha256(text.encode()).hexdigest()[:16]} of {__version__}"


def figures_of(store: Store, sessions: Iterable[str]) -> Iterator[tuple[Stats, list[ChildFigures]]]:
    """Yield the figures of sessions and of their child agents, in the order of the sessions.

    Args:
        store: where the journals are.
        sessions: the names of the sessions.

    Raises:
        StoreFault: if the store cannot be read at all.
    """
    left, is_kept = iter(sessions), True
    while names := list(islice(left, _BATCH)):
        made: dict[str, tuple[str, str]] = {}
        for name in names:
            kept = store.summary(name)
            found = None if kept is None else _decoded(kept)
            if found is None:
                newest = store.newest_hash(name)
                stats = stats_of(store, name)
                found = stats, [] if stats.unread else child_figures(store, name)
                # If a journal grew meanwhile, nobody knows which record was the last.
                if is_kept and not stats.unread and newest == store.newest_hash(name):
                    text = _encoded(*found)
                    if text is not None:
                        made[name] = newest, text
            yield found
        try:
            if made:
                store.keep_summaries(made)
        except StoreFault:  # it is read-only, has no room or is busy: the summaries are recomputed next time
            is_kept = False


def _encoded(stats: Stats, children: list[ChildFigures]) -> str | None:
    """Return figures as text: each record as the list of its fields. None if that would hold what may not be kept."""
    # A session has the same limits for most of its answers.
    limits = list(dict.fromkeys(answer.limits for answer in stats.answers))
    made: dict[str, Any] = {known.name: getattr(stats, known.name) for known in fields(Stats)}
    for name, names in _NAMES.items():
        made[name] = [[getattr(one, field) for field in names] for one in made[name]]
    for answer in made["answers"]:
        answer[_LIMITS] = limits.index(answer[_LIMITS])
    made["flows"] = [
        [*source, flow.came_tokens, flow.cut_tokens, flow.sent_tokens] for source, flow in stats.flows.items()
    ]
    made["limits"] = [one.to_dict() for one in limits]
    made["children"] = children
    made["made_by"] = _made_by()
    try:
        text = json.dumps(made, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        return None
    # A part cut from a record may look like a secret even if the record did not.
    return None if secrets_in(text) else text


def _decoded(text: str) -> tuple[Stats, list[ChildFigures]] | None:
    """Return the figures that `_encoded` wrote, None if another Penstock wrote them."""
    made: dict[str, Any] = json.loads(text)
    if made.pop("made_by") != _made_by():
        return None
    children = [ChildFigures(*child) for child in made.pop("children")]
    limits = [limits_of(one) for one in made.pop("limits")]
    for answer in made["answers"]:
        answer[_LIMITS] = limits[answer[_LIMITS]]
    for name, names in _NAMES.items():
        made[name] = [_RECORDS[name](**dict(zip(names, one, strict=True))) for one in made[name]]
    made["flows"] = {
        TokenSource(name, tool): TokenFlow(came_tokens=came, cut_tokens=cut, sent_tokens=sent)
        for name, tool, came, cut, sent in made["flows"]
    }
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in made.items()}
    return Stats(**values), children
