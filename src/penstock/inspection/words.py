"""How are figures and foreign words of a story written for a person? The same on every page of it.

Law: what is unknown is shown as unknown, never as zero. Leaves to others: which figures there are (`story`), and markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text import escape
from penstock.text.notices import noun_for
from penstock.text.redaction import redacted

if TYPE_CHECKING:
    from penstock.inspection.story import FillTurn, Money

UNKNOWN = "unknown"
"""Shown in place of a figure that nobody recorded."""
_MAX_BYTES = 240
_MAX_CHARS = 1_000  # of a text that may be a megabyte; a secret at the cut is cut off before it is shown


def number(count: int) -> str:
    """Return a number with thousands separators."""
    return f"{count:,}"


def many(count: int, what: str) -> str:
    """Return a number of things, in the plural unless there is one."""
    return f"{count:,} {noun_for(count, what)}"


def percent(part: int, whole: int) -> str:
    """Return a share as a whole percentage; a positive share that rounds to zero is "under 1 %"."""
    rounded = (200 * part + whole) // (2 * whole)
    return "under 1 %" if part and not rounded else f"{rounded:,} %"


def short_number(count: int) -> str:
    """Return a round number in short form for the edge of a drawing: `150k`, `1.5M`."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= unit:
            return f"{count / unit:.3g}{letter}"
    return str(count)


def size(count_bytes: int) -> str:
    """Return a number of bytes in a suitable unit."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if count_bytes >= unit:
            return f"{count_bytes / unit:.1f} {name}"
    return many(count_bytes, "byte")


def shown(text: str) -> str:
    """Return text from a session or its files as one short inert line, without what looks like a secret: pages are shared."""
    return escape.shorten(escape.show_argument(redacted(text[:_MAX_CHARS])), _MAX_BYTES)


def told(turn: FillTurn, turns: int, window_tokens: int | None) -> str:
    """Return a turn in a sentence; `story.js` says the same of the others."""
    of = f", {percent(turn.tokens, window_tokens)} of the window" if window_tokens else ""
    refused = " It was refused." if turn.is_refused else ""
    return f"Turn {turn.number:,} of {turns:,}: {many(turn.tokens, 'token')}{of}.{refused}"


def price(money: Money | None) -> str:
    """Return roughly what a session cost; an unknown cost is not shown as zero."""
    if money is None or not money.priced_turns:
        return UNKNOWN
    return "under $0.01" if money.dollars < 0.01 else f"about ${money.dollars:,.2f}"
