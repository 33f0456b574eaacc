"""How long does the provider ask to wait? Seconds, from headers and sentences.

Law: a date gives nothing, because it needs a clock. Keeps out: whether waiting helps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.overflow import kinds

if TYPE_CHECKING:
    from penstock.overflow.walk import Evidence

LONGEST_SECONDS = 366 * 86400  # no provider asks for more; a longer number is something else
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = (
    r"(?:try again in|retry in|retry after|wait(?: for)?|available in|resets? in|again after)[:\s]+(?:about |"
    r"approximately |at least )?"
    r"((?:\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?|"
    r"d(?:ays?)?)(?![a-z]),?\s*(?:and )?){1,4}|"
    r"\d+(?:\.\d+)?)"
)


def retry_after(evidence: Evidence) -> float | None:
    """Seconds from headers, else from the text. A date would need a clock, and is left to who has one."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0), ("retry-delay", 1.0)):
        written = evidence.headers.get(name, "").strip().removesuffix("s").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", written):
            return float(written) * factor
    for text in evidence.texts:
        if "again" in text or "retry" in text or "wait" in text or "reset" in text or "available in" in text:
            match = kinds.compiled(_SPAN).search(text)
            if match is not None:
                return _seconds(match[1])
    return None


def _seconds(written: str) -> float | None:
    parts = kinds.compiled(r"(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])?").findall(written)
    total = sum(float(value) * (_UNITS["ms"] if unit == "milli" else _UNITS.get(unit, 1.0)) for value, unit in parts)
    return round(total, 3) if total < LONGEST_SECONDS else None
