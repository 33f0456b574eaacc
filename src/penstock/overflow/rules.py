"""What does a user's own provider say? Sentences with gaps, read from TOML, that come before everything built in.

    [[rule]]
    text = "the window holds {limit} tokens, you sent {input}"    # also {output} {total} {excess}; ... is any words
    kind = "context_input"

Law: a rule matches literally except for its gaps, each filled by the nearest match, so none can hang. Leaves to others: where the
file is, and what a match means (`verdict` checks its numbers like any other's).
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
    """One sentence of a provider or gateway that nobody else has, and what it means (O-2).

    >>> rule = RefusalRule(text="the bucket holds {limit} drops", kind="context_input")
    >>> rule.match("alas, the bucket holds 8,192 drops.")
    {'limit': 8192}

    Raises:
        CallerError: for an unknown kind, recovery, unit or number, a text without words, or too many gaps.
    """

    text: str
    """The provider's words, in any case; `...` stands for any few words; `{limit}`, `{input}`, `{output}`, `{total}` and
    `{excess}` are whole numbers, each at most once."""
    kind: str
    """The meaning of a refusal: a key of `kinds.RECOVERIES`."""
    recovery: str | None = None
    """The cure of a refusal; None for the default cure of its kind."""
    status: int | None = None
    """The HTTP status that a rule requires; None for any."""
    unit: str = "tokens"
    """What the numbers of a refusal count: `tokens` or `chars`."""

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
        """Return the numbers of a text by name (none for a rule without any), or None if the sentence does not match.

        Args:
            flat: the text in the form of `walk.flatten`.
            status: the HTTP status of the refusal, None if unknown.
        """
        if self.status is not None and status != self.status:
            return None
        first, *following = _segments(self.text)
        # One regular expression with `.*` in its gaps would backtrack over every choice of every gap: "a ... a ... a ... b" against
        # "a a a …" takes the text's length to the power of the gaps. Here each segment takes the nearest place after the previous
        # one, without backtracking, and only the first may start again. A text that lacks a segment altogether fails at once.
        if not all(segment.search(flat) for segment in following):
            return None
        for start in first.finditer(flat):
            found, end = dict(start.groupdict()), start.end()
            for segment in following:
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
    """Return the patterns of a rule's sentence, split at each `...`; an invalid rule is refused here, when it is made."""
    segments = [segment.strip() for segment in flatten(text).split("...")]
    # A segment that consists of a number would match any count in any text.
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
    """Return a segment as a pattern: its words escaped, its names as whole numbers of at most 15 characters."""
    parts = re.split(r"\{(\w+)\}", segment)  # words and names alternate, so that every odd one is a name
    return "".join(
        rf"(?P<{part}>\d[\d,_]{{0,14}})" if index % 2 else re.escape(part) for index, part in enumerate(parts)
    )


def read_rules(toml: str) -> tuple[RefusalRule, ...]:
    """Return the rules of a TOML text, in its order, which is the order in which they are tried.

    Args:
        toml: `[[rule]]` tables with `text` and `kind`, and with `recovery`, `status` and `unit` as needed. An empty text holds no
            rules.

    Raises:
        CallerError: for invalid TOML, and for an invalid rule; it gives the rule's position and says what is wrong.
    """
    import tomllib  # only here: diagnosing an error loads no reader of files

    try:
        tables = tomllib.loads(toml).get("rule", [])
    except tomllib.TOMLDecodeError as error:
        raise CallerError(f"The rules are not TOML: {error}") from error
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
