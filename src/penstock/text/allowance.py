"""How much is left? Sizes with their unit, and what a request may spend.

Laws: the unit is part of the type; a measure never falls as text grows. Leaves to others: what is cut to fit, and how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from penstock.text.tokens import TokenCounter


class Allowance(NamedTuple):
    """The largest size of a text, with its unit; made by `chars`, `bytes` or `tokens`, never by hand."""

    limit: int
    """The limit in `unit`, inclusive."""
    unit: str
    """`characters`, `bytes` or `tokens`."""
    counter: TokenCounter | None = None
    """What counts tokens; None for the other units."""
    max_lines: int | None = None
    """How many lines are allowed besides; None for no limit. Text without a line feed is one line."""

    @classmethod
    def chars(cls, limit: int) -> Allowance:
        """Return an allowance of at most `limit` Unicode characters.

        Raises:
            CallerError: for anything but a whole number from 0 on.
        """
        return cls(_whole(limit, "characters"), "characters")

    @classmethod
    def bytes(cls, limit: int) -> Allowance:
        """Return an allowance of at most `limit` bytes of UTF-8.

        Raises:
            CallerError: for anything but a whole number from 0 on.
        """
        return cls(_whole(limit, "bytes"), "bytes")

    @classmethod
    def tokens(cls, limit: int, counter: TokenCounter) -> Allowance:
        """Return an allowance of at most `limit` tokens, by the upper bound of `counter`.

        Raises:
            CallerError: for anything but a whole number from 0 on, and for something that is not a counter.
        """
        passed: object = counter  # may be the name of a model, or a function, if nobody checks types
        if isinstance(passed, str) or not callable(getattr(passed, "count", None)):
            raise CallerError(f"A counter has a method `count` that returns a Count, as Tokens() has: not {passed!r}.")
        return cls(_whole(limit, "tokens"), "tokens", counter)

    def measure(self, text: str) -> int:
        """Return the size of a text, in the unit of this allowance."""
        if self.counter is not None:
            return self.counter.count(text).high
        return len(text) if self.unit == "characters" else len(text.encode("utf-8", "surrogatepass"))

    def holds(self, text: str) -> bool:
        """Return whether a text is within the allowance."""
        return self.measure(text) <= self.limit and (self.max_lines is None or text.count("\n") < self.max_lines)

    def __str__(self) -> str:
        return f"{self.limit} {self.unit}"


class Budget(NamedTuple):
    """The largest size of a request: a window in tokens, part of which is reserved for the reply."""

    context_tokens: int
    """The window of the model, request and reply together."""
    reserve_tokens: int = 0
    """Tokens of the window that are kept for the reply."""
    counter: TokenCounter | None = None
    """How tokens are counted: requests are compared with the upper bound of its counts. None is the estimator of
    `penstock.tokens`.
    """

    @classmethod
    def of(cls, window: Budget | int) -> Budget:
        """Return a budget for a window of so many tokens; a budget as it is.

        Args:
            window: a budget, or just its window.

        Raises:
            CallerError: for anything else, and for tokens that are no whole number from 0 on.
        """
        made = window if isinstance(window, Budget) else cls(window)
        for tokens in (made.context_tokens, made.reserve_tokens):
            if type(tokens) is not int or tokens < 0:
                raise CallerError(
                    f"A budget is a whole number of tokens from 0 on, or a Budget of such, not {tokens!r}."
                )
        return made

    @property
    def input_tokens(self) -> int:
        """The tokens left for the request itself; never below 0."""
        return max(0, self.context_tokens - self.reserve_tokens)


def _whole(limit: int, unit: str) -> int:
    """Return a limit, or raise `CallerError` for anything but a whole number from 0 on."""
    if type(limit) is not int or limit < 0:
        raise CallerError(f"An allowance is a whole number of {unit} from 0 on, not {limit!r}.")
    return limit
