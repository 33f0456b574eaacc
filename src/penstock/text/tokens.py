"""How many tokens does a text have? A number, the bounds between which it lies, and how it was found (C-1, promise 5).

The estimator counts patterns of byte classes: it needs no vocabulary and no download. Exact counting is an extra, and a
tokenizer is loaded only if exactness was asked for or decides.

Laws: `low <= tokens <= high`; an estimated `high` never falls as text grows; calibration never lowers a `high`. Leaves
to others: files (a caller passes `read`), budgets, and what to do if something does not fit.
"""

from __future__ import annotations

from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING, Literal, Protocol

from penstock.text import token_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Mode = Literal["estimate", "sampled", "exact"]
"""How a text is counted: by patterns, from pieces of it, or by its model's tokenizer."""

WHOLE_BYTES = 65_536
"""Up to this size nothing is sampled: 64 pieces of 1 KiB would read it all."""


class _Value:
    """A frozen value with named fields: a frozen dataclass without the 15 ms that importing `dataclasses` costs."""

    __slots__: tuple[str, ...] = ()

    def _set(self, *values: object) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Value) and type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        pairs = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({pairs})"

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self._fields())


def _revive(kind: type[_Value], values: tuple[object, ...]) -> _Value:
    """Return a value from its fields, for pickle and copy: `__init__` may take other arguments."""
    made = kind.__new__(kind)
    made._set(*values)
    return made


class Count(_Value):
    """How many tokens a text has: `tokens`, with bounds `low <= tokens <= high`, and how that was found.

    `method` names what was done and for which family of tokenizers: `exact`, `sampled`, `sampled-estimate`, `scaled` or
    `estimate`, then a colon and the family, then `+calibrated` if a `Calibration` was applied. `scaled` is an exact count
    that a calibration changed: it is no longer exact.

    Raises:
        CallerError: if the bounds do not contain the number.
    """

    __slots__ = ("tokens", "low", "high", "method")  # noqa: RUF023  (the order in which they are shown)
    tokens: int
    """The likely or exact number."""
    low: int
    """No fewer, as far as is known; for a request that certainly does not fit."""
    high: int
    """No more, as far as is known: what is compared with limits."""
    method: str
    """How the count was found, for example `estimate:o200k`."""

    def __init__(self, *, tokens: int, low: int, high: int, method: str) -> None:
        if not 0 <= low <= tokens <= high:
            raise _caller_error(f"a count needs 0 <= low <= tokens <= high, not {low} <= {tokens} <= {high}")
        self._set(tokens, low, high, method)


class TokenCounter(Protocol):
    """Anything that can say how many tokens a text has; `Tokens` is ours, and any other can be used instead."""

    def count(self, text: str, /) -> Count:
        """Return the tokens of a text."""
        ...


# --- the estimator -------------------------------------------------------------------------------------------


def _estimate(data: bytes, name: str) -> Count:
    """Return the estimate of a text for a family."""
    return _estimate_of(token_estimate.features(data), name)


def _estimate_of(features: list[int], name: str) -> Count:
    """Return the estimate for a family of a text with these features."""
    low, tokens, high = token_estimate.bounds(features, "cl100k" if name == _UNKNOWN else name)
    # An older, smaller vocabulary is the likely one; the most expensive one known is the bound.
    if name == _UNKNOWN:
        high = max(high, token_estimate.bounds(features, "claude")[2])
    return Count(tokens=tokens, low=low, high=high, method=f"estimate:{name}")


# A conversation is sent whole with each request, and a text that is cut to fit is counted at every try: half of what is counted
# was counted a moment before. Some 8 MB of it are remembered.
_SHORT_CHARS, _LONG_CHARS = 2_048, 65_536


def _estimate_text(text: str, name: str) -> Count:
    """Return the estimate of a text for a family; a long one is remembered by its blocks."""
    if type(text) is not str or len(text) > _LONG_CHARS:  # a foreign `str` subclass may call unequal texts equal
        return _estimate(_encoded(text), name)
    return (_short_estimate if len(text) <= _SHORT_CHARS else _long_estimate)(text, name)


@lru_cache(maxsize=2_048)
def _short_estimate(text: str, name: str) -> Count:
    return _estimate(_encoded(text), name)


@lru_cache(maxsize=32)
def _long_estimate(text: str, name: str) -> Count:
    return _estimate(_encoded(text), name)


# --- models --------------------------------------------------------------------------------------

_UNKNOWN = "other"
# The first prefix that fits decides, so longer ones come before their own prefixes.
_PREFIXES = (
    ("o200k", "o200k"),
    ("gpt-4o", "o200k"),
    ("gpt-4.", "o200k"),
    ("gpt-5", "o200k"),
    ("gpt-oss", "o200k"),
    ("chatgpt-4o", "o200k"),
    ("codex", "o200k"),
    ("o1", "o200k"),
    ("o3", "o200k"),
    ("o4", "o200k"),
    ("cl100k", "cl100k"),
    ("gpt-4", "cl100k"),
    ("gpt-3.5", "cl100k"),
    ("gpt-35", "cl100k"),  # as Azure spells it
    ("text-embedding", "cl100k"),
    # Claude 3 to Opus 4.6 share one vocabulary, Opus 4.7 and later have another (the families of ctok 1.3).
    ("claude3", "claude3"),
    ("claude-3", "claude3"),
    *((f"claude-opus-4{mark}{minor}", "claude") for mark in "-." for minor in "789"),
    *((f"claude-{size}-4", "claude3") for size in ("opus", "sonnet", "haiku")),
    ("claude-2", _UNKNOWN),
    ("claude", "claude"),
)
_EXACT = {"o200k": "o200k_base", "cl100k": "cl100k_base"}  # the encodings that the extra holds


@lru_cache(maxsize=64)
def _family(model: str) -> str:
    """Return what `family` does, cached; a conversation asks it of one model for each of its texts."""
    name = model.strip().lower()
    starts = [0, *(at + 1 for at, char in enumerate(name) if char in "/:.@")]
    return next((to for at in starts for prefix, to in _PREFIXES if name.startswith(prefix, at)), _UNKNOWN)


def family(model: str) -> str:
    """Return the family of tokenizers that a model is counted with.

    Prefixes that hosts put before a name are ignored: `anthropic/claude-…`, `us.anthropic.claude-…`,
    `openai-chat:gpt-…`.

    Args:
        model: the name of a model, or of a family.

    Returns:
        `o200k`, `cl100k`, `claude3`, `claude`, or `other` if the model is unknown.
    """
    return _family(model)


# --- exact and sampled ---------------------------------------------------------------------------


def _counter(name: str) -> Callable[[list[str]], list[int]] | None:
    """Return a function that counts texts of a family exactly, or None if there is none here."""
    if name not in _EXACT:
        return None
    try:
        import toktok
    except ImportError:
        return None
    return lambda texts: list(toktok.batch_count(texts, _EXACT[name], threads=1))


def _exactly(text: str | bytes, name: str) -> Count | None:
    """Return the exact count of a text, or None if it is not available."""
    counter = _counter(name)
    if counter is None:
        return None
    well_formed = text if isinstance(text, str) else text.decode("utf-8", "replace")
    try:
        tokens = counter([well_formed])[0]
    # As OpenAI's encoder does it: halves of a pair are joined, a lone one becomes U+FFFD.
    except UnicodeEncodeError:
        tokens = counter([well_formed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")])[0]
    return _exact(tokens, name)


def _exact(tokens: int, name: str) -> Count:
    """Return an exact number as a count."""
    return Count(tokens=tokens, low=tokens, high=tokens, method=f"exact:{name}")


def _encoded(text: str | bytes) -> bytes:
    """Return the bytes of a text; surrogates pass, as any text is counted."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def count(text: str | bytes, *, model: str = "o200k", mode: Mode = "estimate") -> Count:
    """Return how many tokens a text has for a model.

    >>> count("Hello, world", mode="estimate").high >= 3
    True

    Args:
        text: text, or bytes that are taken as UTF-8; invalid bytes are counted too.
        model: a name of a model or of a family (see `family`).
        mode: `estimate` needs nothing and reads about 40 MB/s. `exact` needs `penstock[exact]` and a family whose
            vocabulary is public: o200k and cl100k. `sampled` counts a text of more than `WHOLE_BYTES` from pieces (see
            `sample_count`), and a smaller one whole, exactly if possible.

    Raises:
        CallerError: for another mode, and if an exact count is not available; the message says what works instead.
    """
    name = family(model)
    if mode == "estimate":
        return _estimate_text(text, name) if isinstance(text, str) else _estimate(text, name)
    if mode == "sampled":
        data = _encoded(text)
        if len(data) <= WHOLE_BYTES:
            return _exactly(text, name) or _estimate(data, name)
        return sample_count(lambda offset, size: data[offset : offset + size], len(data), model=model)
    if mode != "exact":
        raise _caller_error(f"unknown mode {mode!r}: it is estimate, sampled or exact")
    exact = _exactly(text, name)
    if exact is not None:
        return exact
    if name in _EXACT:
        raise _caller_error(f"exact counts for {model!r} need an extra: pip install 'penstock[exact]'")
    raise _caller_error(
        f"no exact tokenizer for {model!r} is public: use mode='estimate', or the count that its provider offers"
    )


def estimate_blocks(blocks: Iterable[bytes], *, model: str = "o200k") -> Count:
    """Return the estimate of a source that is read in blocks, of which one is held at a time.

    It is the estimate of the whole if all blocks but the last have a multiple of 64 KiB: `count` takes a text apart there.

    Args:
        blocks: all of the source, in order.
        model: a name of a model or of a family.
    """
    total = token_estimate.features(b"")
    for block in blocks:
        total = list(map(add, total, token_estimate.features(block)))
    return _estimate_of(total, family(model))


def fits(text: str | bytes, limit_tokens: int, *, model: str = "o200k") -> bool:
    """Return whether a text has at most `limit_tokens`. No tokenizer is loaded if the estimate decides.

    Between the estimate's bounds an exact count decides if available, else the upper bound.

    Args:
        text: text, or bytes that are taken as UTF-8.
        limit_tokens: the most tokens, inclusive.
        model: a name of a model or of a family.
    """
    estimate = count(text, model=model)
    if not estimate.low <= limit_tokens < estimate.high:
        return estimate.high <= limit_tokens
    exact = _exactly(text, family(model))
    return exact is not None and exact.tokens <= limit_tokens


_CONTINUING, _LEADING = bytes(range(0x80, 0xC0)), bytes(range(0xC0, 0x100))
# For 50 MB of each of 33 kinds of text (docs/tokens.md): 1.4 % off at the median, 2.8 % at the 90th percentile.
_PIECES, _PIECE_BYTES = 64, 1024
# The golden ratio's fraction spreads the pieces within their strata, so that records of equal size cannot align with them.
_GOLDEN = 0.6180339887498949


def sample_count(read: Callable[[int, int], bytes], size_bytes: int, *, model: str = "o200k") -> Count:
    """Return how many tokens a source has, from 64 pieces of 1 KiB; one of up to `WHOLE_BYTES` is read whole.

    There is one piece in each 64th of the source, at the same places every time. The pieces are counted exactly if possible
    (`sampled:…`), else estimated (`sampled-estimate:…`). The bounds are three standard errors, at least 2 %: what no piece
    touched is not included in them.

    Args:
        read: returns the bytes at (offset, size), fewer at the end.
        size_bytes: the size of the source.
        model: a name of a model or of a family.
    """
    name = family(model)
    if size_bytes <= WHOLE_BYTES:
        data = read(0, size_bytes)
        return _exactly(data, name) or _estimate(data, name)
    pieces = [piece for piece in (_piece(read, size_bytes, i) for i in range(_PIECES)) if piece]
    counter = _counter(name)
    if counter is not None:
        counts = counter([piece.decode("utf-8", "replace") for piece in pieces])
        return _scaled(pieces, counts, size_bytes, f"sampled:{name}")
    whole = _estimate(b"".join(pieces), name)
    counts = [_estimate(piece, name).tokens for piece in pieces]
    return _scaled(pieces, counts, size_bytes, f"sampled-estimate:{name}", whole)


def _piece(read: Callable[[int, int], bytes], size_bytes: int, index: int) -> bytes:
    """Return one piece, cut where a token is likely to begin and end; empty if the source has shrunk."""
    stratum = size_bytes / _PIECES
    offset = int(stratum * index + (stratum - _PIECE_BYTES) * (index * _GOLDEN % 1.0))
    piece = read(offset, _PIECE_BYTES)
    # A token begins at white space: cut there, so that no piece begins or ends within one; else between characters. A split
    # token counts as two.
    first = piece.find(b" ", 0, 128)
    piece = piece[first:] if first >= 0 else piece.lstrip(_CONTINUING)
    last = piece.rfind(b" ", max(1, len(piece) - 128))
    return piece[:last] if last > 0 else piece.rstrip(_CONTINUING).rstrip(_LEADING)


def _scaled(pieces: list[bytes], counts: list[int], size_bytes: int, method: str, whole: Count | None = None) -> Count:
    """Return the count of a source by the ratio of tokens to bytes over all pieces.

    The standard error is that of a ratio estimator (Cochran, Sampling Techniques). If the pieces themselves were estimated,
    `whole` is the estimate of them all, and its bounds widen the result's by their own share.
    """
    seen = sum(map(len, pieces))
    if not seen:  # the source shrank to nothing while it was read
        return Count(tokens=0, low=0, high=size_bytes, method=method)
    ratio = sum(counts) / seen
    residue = sum((tokens - ratio * len(piece)) ** 2 for tokens, piece in zip(counts, pieces, strict=True))
    spread = max(0.02 * ratio, 3 * (residue * len(pieces) / max(1, len(pieces) - 1)) ** 0.5 / seen)
    low, high = ratio - spread, ratio + spread
    if whole is not None:
        low, high = low * whole.low / max(1, whole.tokens), high * whole.high / max(1, whole.tokens)
    tokens = round(ratio * size_bytes)
    return Count(
        tokens=tokens,
        low=max(0, min(tokens, int(low * size_bytes))),
        high=max(tokens, int(high * size_bytes) + 1),
        method=method,
    )


# --- calibration ---------------------------------------------------------------------------------


class Calibration(_Value):
    """What a provider's reported usage teaches about our counts, as a value: every observation makes a new one.

    Laws: `apply(c).high >= c.high` and `apply(c).low <= c.low`; a count that was observed is within its bounds from then on.

    Raises:
        CallerError: for sums below 0, or ratios that would narrow a bound.
    """

    __slots__ = ("estimated_tokens", "reported_tokens", "most", "least")  # noqa: RUF023  (the order of the arguments)
    estimated_tokens: int
    """What we counted, summed over all observations."""
    reported_tokens: int
    """What the provider reported, summed over all observations; the ratio of both moves `tokens`."""
    most: tuple[int, int]
    """The worst overrun of a `high`, as (reported, bound); at least 1 as a ratio."""
    least: tuple[int, int]
    """The worst shortfall of a `low`, as (reported, bound); at most 1 as a ratio."""

    def __init__(
        self,
        *,
        estimated_tokens: int = 0,
        reported_tokens: int = 0,
        most: tuple[int, int] = (1, 1),
        least: tuple[int, int] = (1, 1),
    ) -> None:
        if (
            min(estimated_tokens, reported_tokens, least[0]) < 0
            or not 0 < most[1] <= most[0]
            or not least[0] <= least[1]
        ):
            raise _caller_error("a calibration widens bounds: most is at least 1, least at most 1, no sum below 0")
        self._set(estimated_tokens, reported_tokens, most, least)

    def observe(self, estimated: Count, reported_tokens: int) -> Calibration:
        """Return this calibration with one more observation. An empty estimate teaches nothing.

        Args:
            estimated: our count of the whole request that the provider counted.
            reported_tokens: the input that it reported.

        Raises:
            CallerError: for a report below 0.
        """
        if reported_tokens < 0:
            raise _caller_error(f"a provider cannot report {reported_tokens} tokens")
        if not estimated.tokens:
            return self
        most, least = (reported_tokens, estimated.high), (reported_tokens, max(1, estimated.low))
        return Calibration(
            estimated_tokens=self.estimated_tokens + estimated.tokens,
            reported_tokens=self.reported_tokens + reported_tokens,
            # Ratios are compared by cross-multiplication: no float, no rounding that could narrow a bound.
            most=most if most[0] * self.most[1] > self.most[0] * most[1] else self.most,
            least=least if least[0] * self.least[1] < self.least[0] * least[1] else self.least,
        )

    def apply(self, count: Count) -> Count:
        """Return a count adjusted by what was observed, its bounds never narrower than before."""
        if not self.estimated_tokens:
            return count
        high = -(-count.high * self.most[0] // self.most[1])
        low = count.low * self.least[0] // self.least[1]
        tokens = (2 * count.tokens * self.reported_tokens + self.estimated_tokens) // (2 * self.estimated_tokens)
        method = count.method.replace("exact:", "scaled:").removesuffix("+calibrated") + "+calibrated"
        return Count(tokens=min(high, max(low, tokens)), low=low, high=high, method=method)


class Tokens(_Value):
    """The counter of a model: `Tokens(model="claude-opus-5").count(text)`, calibrated if a calibration was learned."""

    __slots__ = ("model", "mode", "calibration")  # noqa: RUF023  (the order of the arguments)
    model: str
    """A name of a model or of a family."""
    mode: Mode
    """How texts are counted."""
    calibration: Calibration
    """Applied to every count; a new calibration changes nothing."""

    def __init__(
        self, *, model: str = "o200k", mode: Mode = "estimate", calibration: Calibration | None = None
    ) -> None:
        self._set(model, mode, calibration or Calibration())

    def count(self, text: str, /) -> Count:
        """Return the tokens of a text.

        Raises:
            CallerError: for an unknown mode, or an exact count that is not available.
        """
        return self.calibration.apply(count(text, model=self.model, mode=self.mode))

    def count_all(self, texts: Sequence[str], /) -> list[Count]:
        """Return the tokens of each of some texts, in order: what `count` returns for each, but faster.

        Raises:
            CallerError: as `count` does.
        """
        name = family(self.model)
        counter = _counter(name) if self.mode == "exact" and len(texts) > 1 else None
        # A tokenizer prepares its buffers each time that it is called: for a thousand short texts that takes twenty times as
        # long as counting them.
        try:
            counted = [] if counter is None else counter([*texts])
        except UnicodeEncodeError:  # a lone surrogate somewhere, which is handled in the text that has it
            counter = None
        if counter is None:
            return [self.count(text) for text in texts]
        return [self.calibration.apply(_exact(tokens, name)) for tokens in counted]


def count_texts(counter: TokenCounter, texts: Sequence[str]) -> list[Count]:
    """Return a counter's result for each of some texts, all at once if it has a `count_all`, as `Tokens` has."""
    count_all = getattr(counter, "count_all", None)
    return [counter.count(text) for text in texts] if count_all is None else list(count_all(texts))


def best_counter(model: str) -> Tokens:
    """Return the counter that decides about requests for a model: exact if available here, else the estimator."""
    exact = _counter(family(model)) is not None
    return Tokens(model=model, mode="exact" if exact else "estimate")


def _caller_error(message: str) -> Exception:
    """Return an error of the caller; its module is loaded only now, because the command line counts on every start."""
    from penstock.errors import CallerError

    return CallerError(message)
