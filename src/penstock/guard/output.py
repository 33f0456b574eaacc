"""What may a tool return? Its result when that fits, else what fits of it, a handle to the whole, and the way to the rest.

`guard_output` is for one text, `wrap_tool` for a function, `TurnBudget` for results that arrive together. The whole is kept
in a store; where that fails the answer says so and carries no handle. Law: a guarded result is within its limits.
Keeps out: how a text is cut (guard), where the whole lies (store).
"""

from __future__ import annotations

import atexit
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
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from penstock.store import Store
    from penstock.text.calls import Dialect

F = TypeVar("F", bound="Callable[..., Any]")

MAX_TOOL_OUTPUT_CHARS = 28_000  # the seed's figure: 8,000 tokens; hosts cut between 8 KB and 51,200 bytes
_VARIABLES = ("PENSTOCK_MAX_TOOL_OUTPUT", "QQ_MAX_TOOL_OUTPUT")
_PER_TOKEN = ("PENSTOCK_CHARS_PER_TOKEN", "QQ_CHARS_PER_TOKEN")
_MIN_CHARS = 200  # a limit that cannot hold the notice is a mistake


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputLimits:
    """How large a result may be. `chars` None stands for `MAX_TOOL_OUTPUT_CHARS` or what the environment says."""

    chars: int | None = None
    lines: int | None = None
    keep: Keep = Keep.HEAD

    def __post_init__(self) -> None:
        for name, least in (("chars", _MIN_CHARS), ("lines", 5)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise CallerError(f"{name} is a whole number from {least} on, not {value!r}")


CHILD_AGENT = OutputLimits(chars=6_000, lines=50)
"""For what a child agent hands to its parent (G-8)."""


class _Lines(Allowance):
    """An allowance of characters that bounds lines too."""

    max_lines: int

    @classmethod
    def of(cls, chars: int, lines: int) -> _Lines:
        made = cls(chars, "characters")
        object.__setattr__(made, "max_lines", lines)
        return made

    def holds(self, text: str) -> bool:
        return Allowance.holds(self, text) and text.count("\n") < self.max_lines


def guard_output(
    output: str,
    tool_name: str = "tool",
    *,
    store: Store | None = None,
    limits: OutputLimits | None = None,
    dialect: Dialect | None = None,
) -> Guarded:
    """`output` as a model may see it: at most `MAX_TOOL_OUTPUT_CHARS`, the notice included (G-1).

    The whole of what is cut goes to `store`, or to the user's default store, under the handle that the notice names (G-3).
    A result of a tool that pages stays as it is (G-8).
    """
    if isinstance(output, Guarded) and output.bounds_itself:
        return output
    return _guard(output, tool_name, _allowance(limits or OutputLimits()), limits, store, dialect)


def _guard(
    output: str,
    tool_name: str,
    allowance: Allowance,
    limits: OutputLimits | None,
    store: Store | None,
    dialect: Dialect | None,
) -> Guarded:
    keep = Keep.HEAD if limits is None else limits.keep
    per_token = chars_per_token()
    if isinstance(output, Guarded) or len(output) <= fitting.max_chars(allowance):  # it may fit, or be kept already
        fitted = fitting.fit(output, allowance, keep, name=tool_name, dialect=dialect, chars_per_token=per_token)
        if not fitted.is_cut or fitted.handle is not None or fitted.way is not None:
            return fitted
    handle, way, whole = kept(output, tool_name, store, fitting.counter_of(allowance, per_token))
    if whole is None or isinstance(output, Guarded):
        return fitting.fit(
            output, allowance, keep, handle, name=tool_name, way=way, dialect=dialect, chars_per_token=per_token
        )
    most = fitting.max_chars(allowance)
    head, tail = output[:most], output[max(0, len(output) - most) :]
    return fitting.fit_ends(
        head, tail, whole, allowance, keep, handle, name=tool_name, dialect=dialect, chars_per_token=per_token
    )


def kept(
    output: str, tool_name: str, store: Store | None, tokens: Callable[[str], int]
) -> tuple[str | None, str | None, Whole | None]:
    """The handle of the whole and its measures; else the sentence that says why it was not kept (H27)."""
    try:
        chosen = store if store is not None else default_store()
        handle = chosen.put(output.encode("utf-8", "surrogatepass"), name=tool_name)
        info = chosen.info(handle)  # the store has counted already
    except (PenstockError, OSError) as error:
        return None, not_kept(str(error)), None
    return handle, None, Whole(len(output), info.bytes, info.lines, tokens(output))


def not_kept(reason: str) -> str:
    """What is said where the whole could not be kept (H27 of reliability.md)."""
    return f"The rest could not be kept: {escape.clip(reason)} {fitting.NARROWER}"


_stores: dict[tuple[int, str], Store] = {}
_opening = threading.Lock()


def default_store() -> Store:
    """The user's store, opened when it is first needed. Raises `PenstockError`."""
    from penstock.store import default_url, open_store

    key = (os.getpid(), default_url())
    with _opening:
        if key not in _stores:
            _stores[key] = open_store(key[1])
            atexit.register(_stores[key].close)
        return _stores[key]


def default_allowance() -> Allowance:
    """`MAX_TOOL_OUTPUT_CHARS`, or what the environment says."""
    return _allowance(OutputLimits())


def chars_per_token() -> float:
    """3.5, or what the environment says."""
    return float(_from_environment(_PER_TOKEN, float, fitting.CHARS_PER_TOKEN))


def _allowance(limits: OutputLimits) -> Allowance:
    chars = limits.chars or _from_environment(_VARIABLES, int, MAX_TOOL_OUTPUT_CHARS)
    return Allowance.chars(chars) if limits.lines is None else _Lines.of(chars, limits.lines)


def _from_environment(names: tuple[str, ...], kind: type[Any], default: Any) -> Any:
    """The first variable that is set, read at each call; what cannot be is warned about, and the default holds."""
    for name in names:
        text = os.environ.get(name)
        if text is None:
            continue
        try:
            value = kind(text)
        except ValueError:
            value = 0
        least = _MIN_CHARS if kind is int else 0.1
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
    """`fn` with its results guarded; name, docstring, signature and annotations stay (G-4).

    Functions, coroutines and generators of both kinds. A result that is no text is returned as it is when its text form fits,
    and as guarded text otherwise. A generator's texts are one result: they come as they were when they fit together, and
    otherwise as one guarded text. A tool that bounds itself is returned unchanged (G-8).
    """
    if getattr(getattr(fn, "__self__", fn), "bounds_itself", False):
        return fn
    name = tool_name or str(getattr(fn, "__name__", "tool"))
    wrap = _Wrap(fn, lambda text: guard_output(text, name, store=store, limits=limits, dialect=dialect))
    call = fn if inspect.isroutine(fn) else getattr(fn, "__call__", fn)  # noqa: B004 - an object that is called
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
    """A function of one of the four kinds with its results guarded."""

    def __init__(self, fn: Callable[..., Any], guarded: Callable[[str], Guarded]) -> None:
        self._fn = fn
        self._guarded = guarded

    def _one(self, result: Any) -> Any:
        guarded = self._guarded(_text_form(result))
        return guarded if guarded.is_cut or isinstance(result, str) else result

    def _several(self, texts: list[str]) -> list[Any]:
        """The texts of a generator between two results of other kinds: one result, in its parts where it is unchanged."""
        guarded = self._guarded("".join(texts))
        parts = [self._one(text) for text in texts]
        return parts if "".join(parts) == guarded else [guarded]

    def _any(self, result: Any) -> Any:
        """A result of any kind: a function may hand on what another made."""
        if inspect.isawaitable(result):
            return self._awaited(result)
        if inspect.isgenerator(result):
            return self._each(result)
        return self._each_async(result) if inspect.isasyncgen(result) else self._one(result)

    async def _awaited(self, result: Any) -> Any:
        return self._one(await result)

    def _each(self, items: Iterator[Any]) -> Iterator[Any]:
        texts: list[str] = []
        for item in items:
            if isinstance(item, str):
                texts.append(item)
                continue
            yield from self._several(texts)
            texts = []
            yield self._one(item)
        yield from self._several(texts)

    async def _each_async(self, items: AsyncIterator[Any]) -> AsyncIterator[Any]:
        texts: list[str] = []
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
        @functools.wraps(self._fn)
        def run(*args: Any, **kwargs: Any) -> Any:
            return self._any(self._fn(*args, **kwargs))

        return run

    def wait(self) -> Callable[..., Any]:
        @functools.wraps(self._fn)
        async def wait(*args: Any, **kwargs: Any) -> Any:
            return self._one(await self._fn(*args, **kwargs))

        return wait

    def generate(self) -> Callable[..., Any]:
        @functools.wraps(self._fn)
        def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            yield from self._each(self._fn(*args, **kwargs))

        return generate

    def stream(self) -> Callable[..., Any]:
        @functools.wraps(self._fn)
        async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            async for part in self._each_async(self._fn(*args, **kwargs)):
                yield part

        return stream


def _text_form(result: Any) -> str:
    """What a model would be shown of a result: text, JSON where it is data, else what `str` says."""
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
    """What the results of one turn may take together (G-7). Small results keep what they need; the largest are cut first.

    `left` falls with every result; results that come later share what earlier ones left. Threads may share one.
    """

    def __init__(self, allowance: Allowance, *, store: Store | None = None, dialect: Dialect | None = None) -> None:
        self.allowance = allowance
        self._store = store
        self._dialect = dialect
        self._spent = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> Allowance:
        """What has not been taken yet."""
        return fitting.of(self.allowance, max(0, self.allowance.limit - self._spent))

    def guard(self, results: Sequence[tuple[str, str]], *, keep: Keep = Keep.HEAD) -> list[Guarded]:
        """Each of `(tool name, output)`, all of them together within what is left."""
        limits = OutputLimits(keep=keep)
        with self._lock:
            sizes = [self.allowance.measure(output) for _, output in results]
            shares = fitting.share(sizes, self.left.limit)
            guarded = [
                _guard(output, name, fitting.of(self.allowance, most), limits, self._store, self._dialect)
                for (name, output), most in zip(results, shares, strict=True)
            ]
            self._spent += sum(map(self.allowance.measure, guarded))
        return guarded
