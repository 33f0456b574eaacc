"""What does a provider of the user's own say? Sentences with gaps, read from TOML, that come before everything built in.

    [[rule]]
    text = "the window holds {limit} tokens, you sent {input}"    # {limit} {input} {output} {total} {excess}; ... is any words
    kind = "context_input"

Law: a rule matches literally but for its gaps, so none can hang. Keeps out: where the file is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from penstock.errors import CallerError
from penstock.overflow.kinds import RECOVERIES
from penstock.overflow.walk import flatten

_GAPS = ("limit", "input", "output", "total", "excess")
_MOST_GAPS = 8
_KEYS = {"text", "kind", "recovery", "status", "unit"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
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
            raise CallerError(f"There is no recovery {self.recovery!r}; there are {', '.join(sorted({*RECOVERIES.values()}))}")
        if self.unit not in {"tokens", "chars"}:
            raise CallerError(f"A unit is 'tokens' or 'chars', not {self.unit!r}")
        _pattern(self.text)

    def match(self, flat: str, status: int | None = None) -> dict[str, int] | None:
        """The numbers of a flattened text by their names, None where it is another sentence."""
        if self.status is not None and status != self.status:
            return None
        found = _pattern(self.text).search(flat)
        if found is None:
            return None
        return {name: int(re.sub(r"\D", "", value)) for name, value in found.groupdict().items() if value}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\}|\.\.\.)", flatten(text))
    if not any(part.strip() and not part.startswith(("{", "...")) for part in parts):
        raise CallerError("The text of a rule needs words")
    if len(parts) // 2 > _MOST_GAPS:
        raise CallerError(f"The text of a rule has at most {_MOST_GAPS} gaps")
    built = []
    for part in parts:
        if part == "...":
            built.append(r".{0,120}?")
        elif part.startswith("{") and part.endswith("}"):
            if part[1:-1] not in _GAPS:
                raise CallerError(f"There is no number {part}; there are {', '.join('{' + gap + '}' for gap in _GAPS)}")
            built.append(rf"(?P<{part[1:-1]}>\d[\d,_]{{0,14}})")
        else:
            built.append(re.escape(part))
    try:
        return re.compile("".join(built))
    except re.error as error:
        raise CallerError(f"{text!r}: a number is named twice") from error


def read_rules(toml: str) -> tuple[Rule, ...]:
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
            rules.append(Rule(**table))
        except (TypeError, CallerError) as error:
            raise CallerError(f"Rule {position}: {error}") from error
    return tuple(rules)
