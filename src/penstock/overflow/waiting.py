"""How long does the provider ask to wait? Seconds, from headers and sentences.

Law: a date gives nothing, because it needs a clock; everything else is seconds, whatever unit it came in. Leaves to others: whether
waiting helps (`verdict` asks only for kinds that it cures), and whether anyone waits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.overflow import kinds

if TYPE_CHECKING:
    from penstock.overflow.walk import Evidence

LONGEST_SECONDS = 366 * 86400
"""The longest wait that is believed, a year: no provider asks for more, so a longer number is something else."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# A verb that asks to wait, then up to four numbers with units ("1m2.5s", "2 minutes and 5 seconds") or one without.
_SPAN = (
    r"(?:try again in|retry in|retry after|wait(?: for)?|available in|resets? (?:in|after)|again after)[:\s]+(?:about |"
    r"approximately |at least )?"
    r"((?:\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?|"
    r"d(?:ays?)?)(?![a-z]),?\s*(?:and )?){1,4}|"
    r"\d+(?:\.\d+)?)"
)


def retry_after(evidence: Evidence) -> float | None:
    """Return the seconds that a provider asks to wait, or None if it does not say or names a date.

    Args:
        evidence: what one layer of an error says. `retry-after-ms` outranks `retry-after` (RFC 9110, 10.2.3: whole seconds or a
            date); then come `retry-delay`, Google's `RetryInfo.retryDelay` ("14s"), the field `resets_in_seconds` of a plan, and
            finally the sentences.
    """
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0), ("retry-delay", 1.0)):
        # A proxy joins headers of one name with commas (RFC 9110, 5.3): the first of "5, 5" is the provider's.
        written = evidence.headers.get(name, "").partition(",")[0].strip().removesuffix("s").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", written):
            return float(written) * factor
    if (seconds := evidence.fields.get("resets_in_seconds")) is not None and 0 <= seconds < LONGEST_SECONDS:
        return float(seconds)
    for text in evidence.texts:
        if "again" in text or "retry" in text or "wait" in text or "reset" in text or "available in" in text:
            match = kinds.compiled(_SPAN).search(text)
            if match is not None:
                return _seconds(match[1])
    return None


def _seconds(written: str) -> float | None:
    """Return the sum of a span in words or letters; a number without a unit is seconds. None beyond `LONGEST_SECONDS`."""
    # `ms` and `milli` come before `m`, or "20ms" would be 20 minutes.
    parts = kinds.compiled(r"(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])?").findall(written)
    total = sum(float(value) * (_UNITS["ms"] if unit == "milli" else _UNITS.get(unit, 1.0)) for value, unit in parts)
    return round(total, 3) if total < LONGEST_SECONDS else None
