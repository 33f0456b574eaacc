"""What does a provider of the user's own say? Sentences with gaps, read from TOML, that come before everything built in.

    [[rule]]
    text = "the window holds {limit} tokens, you sent {input}"    # also {output} {total} {excess}; ... is any words
    kind = "context_input"

Law: a rule matches literally but for its gaps, each filled by the nearest that fits, so none can hang. Keeps
out: where the file is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from penstock.errors import CallerError
from penstock.overflow.kinds import RECOVERIES
from penstock.overflow.walk import flatten

_NUMBERS = ("limit", "input", "output", "total", "excess")
_MAX_GAPS = 8
_GAP_CHARS = 120
_KEYS = {"text", "kind", "recovery", "status", "unit"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusalRule:
    """One sentence of one provider. `status` narrows it to an HTTP status."""

    text: str
    kind: str
    recovery: str | None = None
    status: int | None = None
    unit: str = "tokens"

    def __post_init__(self) -> None:
        if self.kind not in RECOVERIES:
            raise CallerError(f"There is no kind {self.kind!r}; there are {', '.join(RECOVERIES)}")
        if self.recovery is not None and self.recovery not in {*RECOVERIES.values(), "shrink_field"}:
            raise CallerError(
                f"There is no recovery {self.recovery!r}; there are {', '.join(sorted({*RECOVERIES.values()}))}"
            )
        if self.unit not in {"tokens", "chars"}:
            raise CallerError(f"A unit is 'tokens' or 'chars', not {self.unit!r}")
        _segments(self.text)

    def match(self, flat: str, status: int | None = None) -> dict[str, int] | None:
        """The numbers of a flattened text by their names, None where it is another sentence."""
        if self.status is not None and status != self.status:
            return None
        first, *following = _segments(self.text)
        if not all(segment.search(flat) for segment in following):
            return None
        for start in first.finditer(flat):
            found, end = dict(start.groupdict()), start.end()
            for segment in following:  # the nearest that fits: no way back, so no rule can hang
                near = segment.search(flat, end, end + _GAP_CHARS + len(self.text))
                if near is None:
                    break
                found.update(near.groupdict())
                end = near.end()
            else:
                return {name: int(re.sub(r"\D", "", value)) for name, value in found.items()}
        return None


@cache
def _segments(text: str) -> tuple[re.Pattern[str], ...]:
    """The sentence, cut at `...`."""
    segments = [segment.strip() for segment in flatten(text).split("...")]
    if not all(re.sub(r"\{\w+\}", "", segment).strip() for segment in segments):
        raise CallerError("The text of a rule needs words, also around every '...'")
    if len(segments) > _MAX_GAPS:
        raise CallerError(f"The text of a rule has at most {_MAX_GAPS} parts")
    named = re.findall(r"\{(\w+)\}", " ".join(segments))
    for name in named:
        if name not in _NUMBERS:
            raise CallerError(
                f"There is no number {{{name}}}; there are {', '.join('{' + number + '}' for number in _NUMBERS)}"
            )
        if named.count(name) > 1:
            raise CallerError(f"{text!r}: {{{name}}} is there twice")
    return tuple(re.compile(_pattern(segment)) for segment in segments)


def _pattern(segment: str) -> str:
    parts = re.split(r"\{(\w+)\}", segment)
    return "".join(
        rf"(?P<{part}>\d[\d,_]{{0,14}})" if index % 2 else re.escape(part) for index, part in enumerate(parts)
    )


def read_rules(toml: str) -> tuple[RefusalRule, ...]:
    """The rules of a TOML text, in its order. Raises `CallerError` that names the rule and what is wrong with it."""
    import tomllib

    try:
        tables = tomllib.loads(toml).get("rule", [])
    except tomllib.TOMLDecodeError as error:
        raise CallerError(f"The rules are no TOML: {error}") from error
    if not isinstance(tables, list):
        raise CallerError("Rules are written as [[rule]] tables")
    rules = []
    for position, table in enumerate(tables, start=1):
        if not isinstance(table, dict) or not {"text", "kind"} <= table.keys() <= _KEYS:
            raise CallerError(f"Rule {position} takes text and kind, and may have recovery, status and unit")
        try:
            rules.append(RefusalRule(**table))
        except (TypeError, CallerError) as error:
            raise CallerError(f"Rule {position}: {error}") from error
    return tuple(rules)
