"""What did the provider refuse? `parse(error)` is the overflow in it or None, `diagnose(error)` its kind and its cure.

Any provider, any wrapping: an exception, a response body, a stream event or a text goes through four steps, one module each.
`walk` gathers what it says as plain evidence, `kinds` knows the words of every refusal and their rank, `numbers` binds counts to
what they count, and `verdict` decides. `rules` lets a user put sentences of their own before all of that.

Laws: any object is answered, and nothing raises; a number is right or absent; what is not an overflow is never called one. Pure: no
I/O, no clock, no SDK; errors are read by the names of their attributes. Leaves to others: what is done about a refusal (`context`,
`carrier`), and who asks. Behaviour O-1 to O-3; how well it reads is measured in docs/overflow.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.overflow import walk
from penstock.overflow.prose import is_prose
from penstock.overflow.refusal import CATASTROPHIC_TOKENS, MINOR_TOKENS, Diagnosis, Overflow, classify_overflow
from penstock.overflow.rules import RefusalRule, read_rules
from penstock.overflow.silent import Silence, silent_overflow
from penstock.overflow.verdict import Judge

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CATASTROPHIC_TOKENS",
    "MINOR_TOKENS",
    "Diagnosis",
    "Overflow",
    "RefusalRule",
    "Silence",
    "classify_overflow",
    "diagnose",
    "parse",
    "read_rules",
    "silent_overflow",
]


def parse(error: object, http_status: int | None = None, *, rules: Sequence[RefusalRule] = ()) -> Overflow | None:
    """Return the context overflow that an error reports, or None for any other error and for what is not an error.

    >>> parse("prompt is too long: 213462 tokens > 200000 maximum", 400).excess
    13462

    Args:
        error: an exception, a response body (object, text or bytes), an event of a stream, or a line of a log.
        http_status: the status of the response, if the caller knows it; else one is looked for in the error itself.
        rules: sentences of the user's own, tried before everything built in; see `read_rules`.

    Returns:
        The overflow with the numbers that the refusal states; see `Overflow`. Never raises (O-2).
    """
    return diagnose(error, http_status, rules=rules).overflow


def diagnose(error: object, http_status: int | None = None, *, rules: Sequence[RefusalRule] = ()) -> Diagnosis:
    """Return what kind of refusal an error is, and the action that cures it.

    >>> diagnose("Too many tokens, please wait before trying again.", 429).recovery
    'wait'

    Args:
        error: an exception, a response body (object, text or bytes), an event of a stream, or a line of a log.
        http_status: the status of the response, if the caller knows it; else one is looked for in the error itself.
        rules: sentences of the user's own, tried before everything built in; see `read_rules`.

    Returns:
        The kind with its cure, the overflow if it is one, and how long the provider asks to wait. An error that says nothing
        known has the kind `unknown` and the recovery `none`, and so does a text that only talks about errors: a page, a chat.
        Never raises (O-2).
    """
    unknown = Diagnosis(kind="unknown", recovery="none")
    # A user's own rule knows its sentence, and a status says that something was refused: both outrank how a text looks.
    if isinstance(error, str) and http_status is None and not rules and is_prose(error):
        return unknown
    first: Diagnosis | None = None
    status = http_status if isinstance(http_status, int) else None
    # Outermost first, ending with the first that speaks for itself: a ConnectionError raised while an overflow was handled is a
    # broken connection, while "agent failed" says nothing, so that its cause is examined. A layer that only has a status
    # (`certain` is False) is kept for the case that nothing below it speaks either.
    for evidence in walk.layers(error):
        told, certain = Judge(evidence, status, rules).judge()
        if certain:
            return told
        if first is None or first.kind == "unknown":
            first = told
    return first or unknown
