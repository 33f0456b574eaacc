"""How much is left? Sizes with their unit, and what a call may spend.

Law: the unit is part of the type; a measure never falls as text grows. Keeps out: what is cut to fit, and how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from penstock.text.tokens import TokenCounter


class Allowance(NamedTuple):
    """At most `limit` of `unit`; made by `chars`, `bytes` or `tokens`, never by hand."""

    limit: int
    unit: str
    counter: TokenCounter | None = None

    @classmethod
    def chars(cls, limit: int) -> Allowance:
        """At most `limit` Unicode characters."""
        return cls(_whole(limit, "characters"), "characters")

    @classmethod
    def bytes(cls, limit: int) -> Allowance:
        """At most `limit` bytes of UTF-8."""
        return cls(_whole(limit, "bytes"), "bytes")

    @classmethod
    def tokens(cls, limit: int, counter: TokenCounter) -> Allowance:
        """At most `limit` tokens, by the upper bound of `counter`."""
        return cls(_whole(limit, "tokens"), "tokens", counter)

    def measure(self, text: str) -> int:
        """How much of this allowance `text` takes."""
        if self.counter is not None:
            return self.counter.count(text).high
        return len(text) if self.unit == "characters" else len(text.encode("utf-8", "surrogatepass"))

    def holds(self, text: str) -> bool:
        """Whether `text` is within the allowance."""
        return self.measure(text) <= self.limit

    def __str__(self) -> str:
        return f"{self.limit} {self.unit}"


class Budget(NamedTuple):
    """What a request may take: a window of `context_tokens`, of which `reserve_tokens` are kept for the reply.

    `counter` says how tokens are counted: requests are held against the upper bound of its counts, which is the count itself
    where the counter is exact. None stands for the estimator of `penstock.tokens`.
    """

    context_tokens: int
    reserve_tokens: int = 0
    counter: TokenCounter | None = None

    @property
    def input_tokens(self) -> int:
        """What is left for the request itself."""
        return max(0, self.context_tokens - self.reserve_tokens)


def _whole(limit: int, unit: str) -> int:
    if type(limit) is not int or limit < 0:
        raise CallerError(f"An allowance is a whole number of {unit} from 0 on, not {limit!r}.")
    return limit
