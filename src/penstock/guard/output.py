"""How is a tool's result cut to its limit? The whole is kept in a store, and the result says how to read the rest.

`guard_output` is for one text, `wrap_tool` for a function, `TurnBudget` for results that arrive together. Law: a guarded result is
within its limits, notice included; if the whole could not be kept, the result says so and carries no handle. Leaves to others: how
a text is cut (`text.fitting`), and where the whole lies (`store`).
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import inspect
import json
import os
import threading
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from penstock.errors import CallerError, PenstockError
from penstock.text import escape, fitting
from penstock.text.allowance import Allowance
from penstock.text.fitting import Guarded, Keep, Whole

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence

    from penstock.store import Store
    from penstock.text.calls import Dialect

F = TypeVar("F", bound="Callable[..., Any]")

MAX_TOOL_OUTPUT_CHARS = 28_000  # 8,000 tokens at 3.5 characters each; hosts cut between 8 KB and 51,200 bytes
"""The default size of a guarded result in characters, its notice included (G-1)."""
# Both spellings of a variable are read, ours first: programs that set `QQ_…` for the guard keep their limits (G-1).
_VARIABLES = ("PENSTOCK_MAX_TOOL_OUTPUT", "QQ_MAX_TOOL_OUTPUT")
_PER_TOKEN = ("PENSTOCK_CHARS_PER_TOKEN", "QQ_CHARS_PER_TOKEN")
_MIN_CHARS = 200  # a limit that cannot hold the notice is a mistake


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputLimits:
    """How large a result may be, in characters and lines, and which part of it is kept; `CHILD_AGENT` is an example.

    Raises:
        CallerError: `chars` is below 200, which cannot hold the notice, or `lines` below 5.
    """

    chars: int | None = None
    """Characters of the result with its notice; None for the environment's value, else `MAX_TOOL_OUTPUT_CHARS`."""
    lines: int | None = None
    """Lines of the result with its notice; None for no bound on lines."""
    keep: Keep = Keep.HEAD
    """Which part of a result that is too large is kept: its beginning, its end, or both."""

    def __post_init__(self) -> None:
        for name, least in (("chars", _MIN_CHARS), ("lines", 5)):
            value = getattr(self, name)
            # `type` rather than `isinstance`: True is an int, and nobody intends a limit of one character.
            if value is not None and (type(value) is not int or value < least):
                raise CallerError(f"{name} is a whole number from {least} on, not {value!r}")


CHILD_AGENT = OutputLimits(chars=6_000, lines=50)
"""Limits for what a child agent hands to its parent: 6,000 characters and 50 lines (G-8)."""


def guard_output(
    output: str,
    tool_name: str = "tool",
    *,
    store: Store | None = None,
    limits: OutputLimits | None = None,
    dialect: Dialect | None = None,
) -> Guarded:
    """Return `output` as a model may see it: within its limits, notice included, and inert (G-1).

    The original of what is cut goes to a store under the handle that the notice names (G-3). What fits is not stored.

    Args:
        output: The text of a result. A `Guarded` one, bounded by its own tool, is returned unchanged (G-8).
        tool_name: The tool's name in the notice, and the name under which the original is kept.
        store: Where originals are kept; None for the user's default store, which is opened only when something is cut.
        limits: The largest size in characters and lines; None for `MAX_TOOL_OUTPUT_CHARS` or the environment's value.
        dialect: The syntax of calls in the notice; None for Python's.

    Returns:
        The text with `is_cut`, `handle` and its measures. If the store failed, `handle` is None and the notice gives the
            reason: a full disk never costs the result.

    Raises:
        CallerError: if `output` or `tool_name` is no text, or `limits` no limits.
    """
    _expect_text(output)
    _expect_name(tool_name)
    _expect_limits(limits)
    if isinstance(output, Guarded) and output.bounds_itself:
        return output
    limits = limits or OutputLimits()
    return _guard(output, tool_name, _allowance(limits), limits.keep, store, dialect)


def _expect_text(output: object) -> None:
    """Raise a `CallerError` unless `output` is a text: what `subprocess` returns is bytes, unless it is asked for text."""
    if not isinstance(output, str):
        decode = ": decode them, output.decode(errors='replace')" if isinstance(output, bytes | bytearray) else ""
        raise CallerError(f"guard_output takes a text, not {type(output).__name__}{decode}")


def _expect_name(tool_name: object) -> None:
    """Raise a `CallerError` unless a tool's name is a text: also for a result that fits, before the first that does not."""
    if not isinstance(tool_name, str):
        raise CallerError(f"tool_name is a text, not {type(tool_name).__name__}")


def _guard(
    output: str,
    tool_name: str,
    allowance: Allowance,
    keep: Keep,
    store: Store | None,
    dialect: Dialect | None,
) -> Guarded:
    """Return `output` within `allowance`, keeping one part of it."""
    per_token = chars_per_token()
    # Fitting comes before keeping, because most results fit and a store means a flush to disk. What is longer than any text that
    # the allowance holds is not tried. A text that was already guarded keeps its handle or its sentence.
    if isinstance(output, Guarded) or len(output) <= fitting.max_chars(allowance):  # it may fit, or be kept already
        fitted = fitting.fit(output, allowance, keep, name=tool_name, dialect=dialect, chars_per_token=per_token)
        if not fitted.is_cut or fitted.handle is not None or fitted.way is not None:
            return fitted
    output = _as_kept(output, store)
    handle, way, whole = kept(output, tool_name, store, fitting.counter_of(allowance, per_token))
    if whole is None or isinstance(output, Guarded):
        return fitting.fit(
            output, allowance, keep, handle, name=tool_name, way=way, dialect=dialect, chars_per_token=per_token
        )
    # No more than `most` characters of either end can be shown, so only those are examined for the cut, not a gigabyte.
    most = fitting.max_chars(allowance)
    head, tail = output[:most], output[-most:] if most else ""
    return fitting.fit_ends(
        head, tail, whole, allowance, keep, handle, name=tool_name, dialect=dialect, chars_per_token=per_token
    )


def kept(
    output: str, tool_name: str, store: Store | None, tokens: Callable[[str], int]
) -> tuple[str | None, str | None, Whole | None]:
    """Keep `output` in a store and return its handle and measures, or the sentence that says why that failed.

    Args:
        output: The whole text; lone UTF-16 surrogates in it are kept as they are.
        tool_name: The name under which it is kept.
        store: The store, None for the default one.
        tokens: The counter for the measure in tokens.

    Returns:
        `(handle, None, measures)` if it was kept, else `(None, sentence, None)`. It raises nothing for a store that is full,
        damaged or out of reach.
    """
    try:
        chosen = store if store is not None else default_store()
        handle = chosen.put(output.encode("utf-8", "surrogatepass"), name=tool_name)
        info = chosen.info(handle)  # the store has already counted
    except (PenstockError, OSError) as error:
        return None, not_kept(str(error)), None
    return handle, None, Whole(len(output), info.bytes, info.lines, tokens(output))


def _as_kept(output: str, store: Store | None) -> str:
    """Return a text as its store will keep it: what is shown must be a part of that, or pages would not continue where it ends."""
    try:
        chosen = store if store is not None else default_store()
    except (PenstockError, OSError):  # keeping it will report the reason
        return output
    # A caller's own store may lack the attribute; and a text that was guarded before is not whole.
    if isinstance(output, Guarded) or not getattr(chosen, "keeps_redacted", False):
        return output
    from penstock.store.marks import redacted_bytes

    return redacted_bytes(output.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def not_kept(reason: str) -> str:
    """Return the sentence for a notice whose whole could not be kept, with `reason` clipped and made inert."""
    return f"The rest could not be kept: {escape.clip(reason).rstrip('.')}. {fitting.NARROWER}"


# One store per process and URL: SQLite connections do not survive a fork, so the key includes the process.
_stores: dict[tuple[int, str], Store] = {}
_opening = threading.Lock()


def default_store() -> Store:
    """Return the user's store, opened at the first call in this process and closed when it ends.

    Raises:
        PenstockError: The URL in `PENSTOCK_STORE` is invalid, or the store cannot be used now.
    """
    from penstock.store import default_url, open_store

    key = (os.getpid(), default_url())
    with _opening:
        if key not in _stores:
            _stores[key] = open_store(key[1])
            atexit.register(_stores[key].close)
        return _stores[key]


def default_allowance() -> Allowance:
    """Return the allowance of a result if nobody set limits: `MAX_TOOL_OUTPUT_CHARS` or the environment's number."""
    return _allowance(OutputLimits())


def chars_per_token() -> float:
    """Return how many characters count as one token in notices: 3.5, or the value of `PENSTOCK_CHARS_PER_TOKEN`."""
    return float(_from_environment(_PER_TOKEN, float, fitting.CHARS_PER_TOKEN))


def _expect_limits(limits: object) -> None:
    """Raise CallerError for limits of another type: the size alone is what a caller thinks of first."""
    if not isinstance(limits, OutputLimits | None):
        raise CallerError(f"limits is a value such as OutputLimits(chars=8_000), not {escape.clip(repr(limits))}")


def _allowance(limits: OutputLimits) -> Allowance:
    """Return the allowance for `limits`; the environment is read now and not at import."""
    chars = limits.chars or _from_environment(_VARIABLES, int, MAX_TOOL_OUTPUT_CHARS)
    return Allowance.chars(chars)._replace(max_lines=limits.lines)


def _from_environment(names: tuple[str, ...], kind: type[Any], default: Any) -> Any:
    """Return the number in the first of the variables `names` that is set and not empty.

    A value that is not a number in range causes a warning and gives `default`. The environment is read at each call, so that a test
    or a host can change it while the process runs.
    """
    for name in names:
        text = os.environ.get(name)
        if not text:
            continue
        try:
            value = kind(text)
        except ValueError:
            value = 0
        least = _MIN_CHARS if kind is int else 0.1
        # `nan` fails both comparisons, and `inf` would not be a limit.
        if least <= value < float("inf"):
            return value
        warnings.warn(
            f"{name} takes a number from {least} on, not {text[:40]!r}: {default} is used", RuntimeWarning, stacklevel=2
        )
        return default
    return default


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def wrap_tool(
    fn: F,
    tool_name: str | None = None,
    *,
    store: Store | None = None,
    limits: OutputLimits | None = None,
    dialect: Dialect | None = None,
) -> F:
    """Return `fn` with its results guarded; its name, docstring, signature and annotations are kept (G-4).

    Functions, coroutine functions, generators of both kinds, class and static methods and callable objects are accepted. A result
    that is not text is returned unchanged if its text form fits, and as guarded text otherwise. The texts of a generator count as
    one result: they are yielded one by one if they fit together, and otherwise as one guarded text. They are collected before the
    first is yielded, so that what is sent or thrown into the wrapped generator does not reach the tool's; closing it does.

    Args:
        fn: The tool. One that bounds itself (its `bounds_itself` is true) is returned unchanged (G-8).
        tool_name: The tool's name in notices; None for its `__name__`.
        store: Where originals are kept; None for the user's default store, which is opened only when something is cut.
        limits: The largest size in characters and lines; None for `MAX_TOOL_OUTPUT_CHARS` or the environment's value.
        dialect: The syntax of calls in the notice; None for Python's.

    Returns:
        A function of the same kind as `fn`: a coroutine function for a coroutine function, and so on.

    Raises:
        CallerError: `fn` cannot be called, `tool_name` is no text, or `limits` is no limits.
    """
    _expect_limits(limits)
    if tool_name is not None:
        _expect_name(tool_name)
    if isinstance(fn, classmethod | staticmethod):  # a decorator below ours, in the body of a class
        method = wrap_tool(fn.__func__, tool_name, store=store, limits=limits, dialect=dialect)
        return cast("F", type(fn)(method))
    if not callable(fn):
        raise CallerError(f"wrap_tool takes a function, not {escape.clip(repr(fn))}")
    # A bound method gets the attribute from its object, for all of its methods.
    if getattr(getattr(fn, "__self__", fn), "bounds_itself", False):
        return fn
    call: Any = fn
    while isinstance(call, functools.partial):  # which has not the kind of its function, nor its name
        call = call.func
    name = tool_name or str(getattr(fn, "__name__", getattr(call, "__name__", "tool")))
    wrap = _Wrap(fn, lambda text: guard_output(text, name, store=store, limits=limits, dialect=dialect))
    if not inspect.isroutine(call):
        call = getattr(call, "__call__", call)  # noqa: B004 - a callable object
    if inspect.isasyncgenfunction(call):
        wrapped = wrap.stream
    elif inspect.isgeneratorfunction(call):
        wrapped = wrap.generate
    elif inspect.iscoroutinefunction(call):
        wrapped = wrap.wait
    else:
        wrapped = wrap.run
    return cast("F", wrapped())


class _Wrap:
    """A function with its results guarded, in one of four forms: plain, coroutine, generator, asynchronous generator."""

    def __init__(self, fn: Callable[..., Any], guarded: Callable[[str], Guarded]) -> None:
        self._fn = fn
        self._guarded = guarded

    def _one(self, result: Any) -> Any:
        """Return one result guarded: the object itself if its text form fits, so that a caller in Python keeps its types."""
        guarded = self._guarded(_text_form(result))
        return guarded if guarded.is_cut or isinstance(result, str) else result

    def _several(self, texts: list[str]) -> list[Any]:
        """Return the texts of a generator between two results of other kinds, guarded as one.

        They stay separate if nothing had to be cut.
        """
        # Guarded together first: a thousand parts that fit individually may still be too much.
        guarded = self._guarded("".join(texts))
        parts = [self._one(text) for text in texts]
        return parts if "".join(parts) == guarded else [guarded]

    def _any(self, result: Any) -> Any:
        """Return a result of any kind guarded, including one that is awaited or iterated only later."""
        # A plain function may return a coroutine or a generator (a decorator, a partial): only the result shows its kind.
        if inspect.isawaitable(result):
            return self._awaited(result)
        if inspect.isgenerator(result):
            return self._each(result)
        return self._each_async(result) if inspect.isasyncgen(result) else self._one(result)

    async def _awaited(self, result: Any) -> Any:
        return self._one(await result)

    def _each(self, items: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of a generator, with runs of texts guarded as one."""
        texts: list[str] = []
        for item in items:
            if isinstance(item, str):
                texts.append(item)
                continue
            yield from self._several(texts)
            texts = []
            yield self._one(item)
        yield from self._several(texts)

    async def _each_async(self, items: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, None]:
        """Yield the results of an asynchronous generator, with runs of texts guarded as one."""
        texts: list[str] = []
        # A `for` alone leaves the tool's generator open if whoever reads this one stops early: its `finally` would run later.
        async with contextlib.aclosing(items):
            async for item in items:
                if isinstance(item, str):
                    texts.append(item)
                    continue
                for part in self._several(texts):
                    yield part
                texts = []
                yield self._one(item)
        for part in self._several(texts):
            yield part

    def run(self) -> Callable[..., Any]:
        """Return the guarded form of a plain function."""

        @functools.wraps(self._fn)
        def run(*args: Any, **kwargs: Any) -> Any:
            return self._any(self._fn(*args, **kwargs))

        return run

    def wait(self) -> Callable[..., Any]:
        """Return the guarded form of a coroutine function."""

        @functools.wraps(self._fn)
        async def wait(*args: Any, **kwargs: Any) -> Any:
            return self._one(await self._fn(*args, **kwargs))

        return wait

    def generate(self) -> Callable[..., Any]:
        """Return the guarded form of a generator function."""

        @functools.wraps(self._fn)
        def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            yield from self._each(self._fn(*args, **kwargs))

        return generate

    def stream(self) -> Callable[..., Any]:
        """Return the guarded form of an asynchronous generator function."""

        @functools.wraps(self._fn)
        async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            async with contextlib.aclosing(self._each_async(self._fn(*args, **kwargs))) as parts:
                async for part in parts:
                    yield part

        return stream


def _text_form(result: Any) -> str:
    """Return what a model would be shown of a result: text unchanged, JSON for data, else the result of `str`."""
    if isinstance(result, str):
        return result
    if isinstance(result, bytes | bytearray | memoryview):
        return bytes(result).decode("utf-8", "backslashreplace")
    if isinstance(result, dict | list | tuple):
        try:
            return json.dumps(result, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            pass
    return str(result)


# ── a turn ───────────────────────────────────────────────────────────────────────────────────────────────────────


class TurnBudget:
    """A budget that the results of one turn share (G-7): small ones keep what they need, the largest are cut first.

    Later results share what earlier ones left. Threads may share one.

    Args:
        allowance: What all results of the turn may take, in characters, bytes or tokens.
        store: Where originals are kept; None for the user's default store, which is opened only when something is cut.
        dialect: The syntax of calls in the notice; None for Python's.
    """

    def __init__(self, allowance: Allowance, *, store: Store | None = None, dialect: Dialect | None = None) -> None:
        self.allowance = fitting.checked(allowance)
        self._store = store
        self._dialect = dialect
        self._spent = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> Allowance:
        """Return the remaining allowance, in its unit; results never take more than there is."""
        return fitting.of(self.allowance, self.allowance.limit - self._spent)

    def guard(self, results: Sequence[tuple[str, str]], *, keep: Keep = Keep.HEAD) -> list[Guarded]:
        """Return the outputs guarded, all of them together within what is left.

        Args:
            results: Pairs of tool name and output, in the order in which they are to be shown.
            keep: Which part of a cut result is kept.

        Returns:
            One guarded text for each pair, in the same order; `left` has decreased by what they take.
        """
        with self._lock:
            # Shares are found by filling up from the smallest. The lock covers sharing and spending: two threads that both saw the
            # same remainder would spend it twice.
            sizes = [self.allowance.measure(output) for _, output in results]
            shares = fitting.share(sizes, self.left.limit)
            guarded = [
                _guard(output, name, fitting.of(self.allowance, most), keep, self._store, self._dialect)
                for (name, output), most in zip(results, shares, strict=True)
            ]
            self._spent += sum(map(self.allowance.measure, guarded))
        return guarded
