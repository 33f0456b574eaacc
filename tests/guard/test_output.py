"""What may a tool return: one text, functions of every kind, a turn; and what happens if the store fails?"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import inspect
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.guard import output as guarding
from penstock.guard.output import CHILD_AGENT, MAX_TOOL_OUTPUT_CHARS, OutputLimits, TurnBudget, guard_output, wrap_tool
from penstock.store import StoreFault, open_store
from penstock.text import fitting
from penstock.text.allowance import Allowance
from penstock.text.fitting import Guarded
from penstock.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from penstock.store import Store

LARGE = "".join(f"line {n} of a long result\n" for n in range(4_000))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Provide this test's own store."""
    opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


def whole(store: Store, guarded: object) -> str:
    """Return what the handle leads to."""
    assert isinstance(guarded, Guarded)
    assert guarded.handle is not None
    return store.read(guarded.handle, 0, 1 << 30).decode("utf-8", "surrogatepass")


# ── guard_output ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-1", "G-3")
def test_a_large_output_is_cut_and_kept(store: Store) -> None:
    """28,000 characters include the notice, and the handle leads to every character of the whole."""
    guarded = guard_output(LARGE, "ls", store=store)
    assert 0.8 * MAX_TOOL_OUTPUT_CHARS < len(guarded) <= MAX_TOOL_OUTPUT_CHARS == 28_000
    assert guarded.startswith("[OUTPUT TRUNCATED]\nTool 'ls' returned ~")
    assert str(guarded.handle) in guarded
    assert whole(store, guarded) == LARGE


@pytest.mark.proves("G-1")
def test_a_store_that_keeps_secrets_shows_them(store: Store, tmp_path: Path) -> None:
    """What is shown is a part of what is kept: whole, or redacted if the store keeps only redacted forms."""
    text = "key AKIAIOSFODNN7EXAMPLE\n" + "x" * 40_000
    assert "AKIAIOSFODNN7EXAMPLE" in guard_output(text, "tool", store=store)
    with contextlib.closing(open_store(str(tmp_path / "redacted"), keeps_redacted=True)) as other:
        assert "AKIAIOSFODNN7EXAMPLE" not in guard_output(text, "tool", store=other)


def test_the_guard_redacts_only_by_the_rules_of_its_store(store: Store, tmp_path: Path) -> None:
    """A caller's own store may not redact, and a text that was cut before refers to its first whole."""

    class Own:
        """The part of a store that a guard uses."""

        put, info = store.put, store.info

    text = "key AKIAIOSFODNN7EXAMPLE\n" + "x" * 40_000
    assert "AKIAIOSFODNN7EXAMPLE" in guard_output(text, "tool", store=Own())  # type: ignore[arg-type]
    cut = fitting.fit(text, Allowance.chars(5_000))
    with contextlib.closing(open_store(str(tmp_path / "redacted"), keeps_redacted=True)) as other:
        again = guard_output(cut, "tool", store=other, limits=OutputLimits(chars=1_000))
    assert (again.is_cut, again.whole_chars) == (True, len(text))


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (b"x", "guard_output takes a text, not bytes: decode them, output.decode(errors='replace')"),
        (None, "guard_output takes a text, not NoneType"),
    ],
)
def test_what_is_no_text_is_a_mistake_of_the_caller(store: Store, output: Any, said: str) -> None:
    """What a subprocess returns is bytes, and the message says what to do with them."""
    with pytest.raises(CallerError) as raised:
        guard_output(output, "make", store=store)
    assert str(raised.value) == said


@pytest.mark.parametrize("output", ["short", "x y\n" * 20_000])
def test_a_name_that_is_no_text_is_a_mistake_of_the_caller_whatever_the_result(store: Store, output: str) -> None:
    """Checked only when a notice is written, it would break on the first result that is too large, in production."""
    name: Any = None
    with pytest.raises(CallerError, match=r"^tool_name is a text, not NoneType$"):
        guard_output(output, name, store=store)
    name = 5
    with pytest.raises(CallerError, match=r"^tool_name is a text, not int$"):
        wrap_tool(lambda: output, name, store=store)


def test_a_size_in_place_of_limits_is_a_mistake_of_the_caller(store: Store) -> None:
    """A wrapped tool is refused when it is wrapped: its results are cut much later, and only if they are long."""
    limits: Any = 5_000
    said = r"limits is a value such as OutputLimits\(chars=8_000\), not 5000"
    with pytest.raises(CallerError, match=said):
        guard_output("small", store=store, limits=limits)
    with pytest.raises(CallerError, match=said):
        wrap_tool(str, limits=limits)


def test_what_fits_is_not_kept(store: Store) -> None:
    """A store holds only what somebody may have to ask for."""
    assert guard_output("small\n", store=store) == "small\n"
    assert guard_output(LARGE[:28_000], store=store) == LARGE[:28_000]
    assert store.size().artifacts == 0


@pytest.mark.proves("G-1")
@pytest.mark.parametrize("name", ["PENSTOCK_MAX_TOOL_OUTPUT", "QQ_MAX_TOOL_OUTPUT"])
def test_the_limit_is_read_at_call_time(store: Store, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It has our name or the plain one; ours wins."""
    monkeypatch.setenv(name, "1000")
    assert len(guard_output(LARGE, store=store)) <= 1_000
    monkeypatch.setenv("PENSTOCK_MAX_TOOL_OUTPUT", "2000")
    assert 1_000 < len(guard_output(LARGE, store=store)) <= 2_000


@pytest.mark.proves("G-1")
@pytest.mark.parametrize("name", ["PENSTOCK_CHARS_PER_TOKEN", "QQ_CHARS_PER_TOKEN"])
def test_characters_a_token_are_read_at_call_time(store: Store, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The notice counts with the ratio that the user measured."""
    assert f"returned ~{int(len(LARGE) / 3.5)} tokens" in guard_output(LARGE, store=store)
    monkeypatch.setenv(name, "2")
    assert f"returned ~{len(LARGE) // 2} tokens" in guard_output(LARGE, store=store)


@pytest.mark.filterwarnings("error")
def test_the_least_value_is_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least value that a warning names is accepted without a warning."""
    monkeypatch.setenv("PENSTOCK_CHARS_PER_TOKEN", "0.1")
    assert f"returned ~{len(LARGE) * 10} tokens" in guard_output(LARGE, store=store)


@pytest.mark.proves("G-1")
@pytest.mark.parametrize("value", ["many", "-5", "0", "10", "1e9999", "nan"])
def test_a_bad_value_warns_and_falls_back(store: Store, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """An impossible setting does not break a tool, and is not silent."""
    monkeypatch.setenv("PENSTOCK_MAX_TOOL_OUTPUT", value)
    with pytest.warns(RuntimeWarning, match="PENSTOCK_MAX_TOOL_OUTPUT takes a number"):
        assert len(guard_output(LARGE, store=store)) > 20_000
    if value != "10":
        monkeypatch.setenv("PENSTOCK_MAX_TOOL_OUTPUT", "28000")
        monkeypatch.setenv("PENSTOCK_CHARS_PER_TOKEN", value)
        with pytest.warns(RuntimeWarning, match="PENSTOCK_CHARS_PER_TOKEN takes a number"):
            assert f"~{int(len(LARGE) / 3.5)} tokens" in guard_output(LARGE, store=store)


@pytest.mark.proves("G-3")
def test_the_default_store_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no store is named, the whole goes where the environment says, and is private."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "mine"))
    guarded = guard_output(LARGE)
    with_store = open_store(str(tmp_path / "mine"))
    assert whole(with_store, guarded) == LARGE
    with_store.close()
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700


@pytest.mark.proves("G-3")
def test_where_nothing_can_be_kept_the_answer_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no dangling handle: the truncated answer gives the reason (H27)."""
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "file"))
    guarded = guard_output(LARGE, "ls")
    assert guarded.handle is None
    assert "could not be kept" in guarded
    assert "is a file, not a folder" in guarded
    assert "page(" not in guarded
    assert len(guarded) <= MAX_TOOL_OUTPUT_CHARS


@pytest.mark.proves("G-3")
def test_a_full_disk_leaves_a_truncated_answer_and_nothing_else(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The partial file is removed, and the store works again once there is room."""
    import penstock.store.contents as backend

    def full(descriptor: int, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(backend, "_write", full)
        guarded = guard_output(LARGE, "ls", store=store)
    assert guarded.handle is None
    assert "could not be kept: The disk is full" in guarded
    assert list((tmp_path / "store" / "contents").iterdir()) == []
    assert whole(store, guard_output(LARGE, "ls", store=store)) == LARGE


@pytest.mark.proves("G-2", "G-3")
def test_guarding_twice_changes_nothing(store: Store) -> None:
    """A result that passes two guards is cut once and kept once."""
    once = guard_output(LARGE, "ls", store=store)
    assert guard_output(once, "other", store=store) is once
    assert store.size().artifacts == 1
    again = guard_output(LARGE, "ls", store=store)
    assert again == once  # the same result, the same handle


@pytest.mark.proves("G-1", "G-8")
def test_what_a_tool_fitted_itself_is_still_held_to_the_limit(store: Store) -> None:
    """Only a page says that it bounds itself; text fitted to more room does not."""
    for limit in (len(LARGE), 50_000):
        fitted = fitting.fit(LARGE, Allowance.chars(limit))
        assert fitted.is_cut == (limit < len(LARGE))
        assert len(guard_output(fitted, "ls", store=store, limits=OutputLimits(chars=2_000))) <= 2_000


@pytest.mark.proves("G-8")
def test_a_page_is_not_cut_again(store: Store) -> None:
    """What a paging tool bounded itself passes whole, whatever its size."""
    page = fitting.bounded(LARGE)
    assert guard_output(page, "page", store=store) is page
    assert wrap_tool(lambda: page, "page", store=store)() is page

    class Pager:
        bounds_itself = True

        def view(self) -> str:
            return LARGE

    tool = Pager().view
    assert wrap_tool(tool) == tool
    assert store.size().artifacts == 0


@pytest.mark.proves("G-8")
@pytest.mark.parametrize("text", [LARGE, "x" * 50_000, "a\n" * 60, "\n" * 51])
def test_a_child_agent_has_smaller_limits(store: Store, text: str) -> None:
    """They are 6,000 characters and 50 lines, including the notice."""
    guarded = guard_output(text, "child", store=store, limits=CHILD_AGENT)
    assert len(guarded) <= 6_000
    assert guarded.count("\n") + 1 <= 50
    assert guarded.is_cut
    assert whole(store, guarded) == text


def test_limits_that_cannot_be_are_refused() -> None:
    """A limit that could not hold the notice is a mistake of the caller."""
    for wrong in ({"chars": 0}, {"chars": True}, {"lines": 1}, {"chars": 1.5}):
        with pytest.raises(CallerError):
            OutputLimits(**wrong)


def test_text_that_is_no_unicode_is_kept_exactly(store: Store) -> None:
    """Half a UTF-16 pair in a result is shown escaped and read back as it was."""
    text = "\ud800\n" * 20_000
    guarded = guard_output(text, store=store)
    assert "\\u{d800}" in guarded
    assert whole(store, guarded) == text


# ── wrap_tool ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-4")
def test_a_function_keeps_its_face(store: Store) -> None:
    """Frameworks read the name, docstring, signature and annotations of a tool."""

    def read(path: str, limit: int = 10) -> str:
        """Reads a thing."""
        return path * limit

    wrapped = wrap_tool(read, store=store)
    assert (wrapped.__name__, wrapped.__doc__, wrapped.__annotations__) == (
        "read",
        "Reads a thing.",
        read.__annotations__,
    )
    assert inspect.signature(wrapped) == inspect.signature(read)
    assert wrapped("ab", limit=3) == "ababab"
    large = wrapped("ab" * 100, limit=10_000)
    assert "Tool 'read'" in large
    assert whole(store, large) == "ab" * 1_000_000
    assert "Tool 'other'" in wrap_tool(read, "other", store=store)("ab", 100_000)


@pytest.mark.proves("G-4")
def test_methods_partials_and_objects_that_are_called(store: Store) -> None:
    """Anything that can be called can be a tool."""

    class Tool:
        def __call__(self) -> str:
            return LARGE

        def method(self) -> str:
            return LARGE

        async def later(self) -> str:
            return LARGE

    tool = Tool()
    for made in (tool, tool.method, functools.partial(tool.method), lambda: LARGE):
        assert len(wrap_tool(made, "t", store=store)()) <= 28_000
    for later in (tool.later, functools.partial(tool.later), functools.partial(functools.partial(tool.later))):
        assert len(asyncio.run(wrap_tool(later, "t", store=store)())) <= 28_000


@pytest.mark.parametrize("reason", ["No home folder", "The disk is full."])
def test_the_reason_why_nothing_is_kept_is_a_sentence(reason: str) -> None:
    """Faults end with a full stop, and mistakes in settings without one."""
    assert guarding.not_kept(reason).startswith(f"The rest could not be kept: {reason.rstrip('.')}. Use ")


@pytest.mark.proves("G-4")
def test_decorators_of_a_class_may_come_first(store: Store) -> None:
    """Other frameworks take either order; what cannot be called is refused where it is written, not where it is used."""

    class Tool:
        @functools.partial(wrap_tool, store=store)
        @classmethod
        def of_class(cls) -> str:
            """Return much."""
            return cls.__name__ + LARGE

        @functools.partial(wrap_tool, store=store)
        @staticmethod
        async def static() -> str:
            return LARGE

    for tool in (Tool, Tool()):
        guarded = tool.of_class()
        assert len(guarded) <= 28_000
        assert "Tool 'of_class'" in guarded
        assert whole(store, guarded) == "Tool" + LARGE
        assert len(asyncio.run(tool.static())) <= 28_000
    assert Tool.of_class.__doc__ == "Return much."
    with pytest.raises(CallerError, match=r"^wrap_tool takes a function, not <property object"):
        wrap_tool(property(len), store=store)  # type: ignore[type-var]


@pytest.mark.proves("G-4")
def test_a_partial_has_the_name_and_the_kind_of_its_function(store: Store) -> None:
    """Whoever asks whether a tool is to be awaited is told, and its notice names it."""

    async def fetch(url: str) -> str:
        return url * 10_000

    async def stream() -> AsyncIterator[str]:
        yield LARGE

    wrapped = wrap_tool(functools.partial(functools.partial(fetch), "http://x "), store=store)
    assert inspect.iscoroutinefunction(wrapped)
    assert "Tool 'fetch'" in asyncio.run(wrapped())
    assert inspect.isasyncgenfunction(wrap_tool(functools.partial(stream), store=store))
    named = functools.partial(fetch, "http://x ")
    named.__name__ = "fetch_x"  # type: ignore[attr-defined]
    assert "Tool 'fetch_x'" in asyncio.run(wrap_tool(named, store=store)())


@pytest.mark.proves("G-4")
def test_a_coroutine_stays_one(store: Store) -> None:
    """An async tool is awaited as before."""

    async def fetch(url: str) -> str:
        """Fetches."""
        return url * 10_000

    wrapped = wrap_tool(fetch, store=store)
    assert inspect.iscoroutinefunction(wrapped)
    assert wrapped.__doc__ == "Fetches."
    guarded = asyncio.run(wrapped("http://x "))
    assert len(guarded) <= 28_000
    assert whole(store, guarded) == "http://x " * 10_000


@pytest.mark.proves("G-4")
def test_a_generator_is_one_result(store: Store) -> None:
    """Its texts stay separate if they fit together, and become one guarded text otherwise."""

    def few() -> Iterator[str]:
        yield "a\n"
        yield "b\n"

    def many() -> Iterator[str]:
        for n in range(10_000):
            yield f"chunk {n}\n"

    assert inspect.isgeneratorfunction(wrap_tool(few, store=store))
    assert list(wrap_tool(few, store=store)()) == ["a\n", "b\n"]
    (guarded,) = wrap_tool(many, store=store)()
    assert len(guarded) <= 28_000
    assert whole(store, guarded) == "".join(many())
    (same,) = wrap_tool(functools.partial(many), "many", store=store)()
    assert len(same) <= 28_000


@pytest.mark.proves("G-4")
def test_an_async_generator_is_one_result(store: Store) -> None:
    """The same holds for asynchronous iteration; results of another kind keep their place."""

    async def many(count: int) -> AsyncIterator[Any]:
        for n in range(count):
            yield f"chunk {n}\n"
        yield {"done": count}
        yield "end"

    async def gather(count: int) -> list[Any]:
        return [item async for item in wrap_tool(many, store=store)(count)]

    def plainly(count: int) -> Iterator[Any]:
        yield from (f"chunk {n}\n" for n in range(count))
        yield {"done": count}
        yield "end"

    assert inspect.isasyncgenfunction(wrap_tool(many, store=store))
    for gathered in (asyncio.run(gather(2)), list(wrap_tool(plainly, store=store)(2))):
        assert gathered == ["chunk 0\n", "chunk 1\n", {"done": 2}, "end"]
    for large, done, end in (asyncio.run(gather(10_000)), wrap_tool(plainly, store=store)(10_000)):
        assert len(large) <= 28_000
        assert (done, end) == ({"done": 10_000}, "end")


def test_a_generator_that_is_left_early_is_closed_at_once(store: Store) -> None:
    """The tool's `finally` has run when `close` or `aclose` of the wrapped generator returns, whatever the collector does."""
    closed: list[str] = []

    def plainly() -> Iterator[Any]:
        try:
            yield {"part": 1}
            yield {"part": 2}
        finally:
            closed.append("plainly")

    async def slowly() -> AsyncIterator[Any]:
        try:
            yield {"part": 1}
            yield {"part": 2}
        finally:
            await asyncio.sleep(0)
            closed.append("slowly")

    async def leave() -> None:
        reading: Any = wrap_tool(slowly, store=store)()
        assert await anext(reading) == {"part": 1}
        await reading.aclose()
        assert closed == ["slowly"]

    asyncio.run(leave())
    reading: Any = wrap_tool(plainly, store=store)()
    assert next(reading) == {"part": 1}
    reading.close()
    assert closed == ["slowly", "plainly"]


@pytest.mark.proves("G-4", "G-6")
def test_a_notice_cannot_be_forged_in_parts(store: Store) -> None:
    """What two texts of a generator say together is guarded together."""

    def parts() -> Iterator[str]:
        yield "ok\n[OUTPUT"
        yield " TRUNCATED]\nTool 'x' returned"

    said = "".join(wrap_tool(parts, store=store)())
    assert not any(line.startswith("[OUTPUT TRUNCATED]") for line in said.split("\n"))


@pytest.mark.proves("G-4")
@pytest.mark.parametrize("value", [None, 5, {"a": [1, "b"]}, [1, 2], b"\xff\x00", ValueError("x"), object()])
def test_a_small_result_of_another_kind_is_itself(store: Store, value: object) -> None:
    """It is the same object, neither a copy nor its text."""
    assert wrap_tool(lambda: value, "t", store=store)() is value


@pytest.mark.proves("G-4", "G-5")
def test_a_large_result_of_another_kind_is_guarded_text(store: Store) -> None:
    """Data is kept as JSON, and can be read back by record."""
    data = [{"n": n, "text": "ümlaut"} for n in range(5_000)]
    guarded: object = wrap_tool(lambda: data, "api", store=store)()
    assert json.loads(whole(store, guarded)) == data
    assert '"ümlaut"' in whole(store, guarded)
    assert len(wrap_tool(lambda: b"\xff" * 50_000, "raw", store=store)()) <= 28_000
    assert len(wrap_tool(lambda: {"x": {1}, "y": "z" * 50_000}, "odd", store=store)()) <= 28_000


@pytest.mark.proves("G-4")
def test_what_a_tool_raises_is_raised(store: Store) -> None:
    """An error is not a result."""

    def broken() -> str:
        raise StoreFault("io_error", "of the tool itself")

    with pytest.raises(StoreFault, match="of the tool itself"):
        wrap_tool(broken, store=store)()


# ── a turn ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-7")
def test_forty_results_share_a_turn(store: Store) -> None:
    """All of them fit together, the small ones whole, each large one with a handle to the rest."""
    results = [(f"tool{n}", f"small {n}" if n % 2 else LARGE + str(n)) for n in range(40)]
    turn = TurnBudget(Allowance.chars(20_000), store=store)
    guarded = turn.guard(results)
    assert sum(map(len, guarded)) <= 20_000
    for (_, output), result in zip(results, guarded, strict=True):
        if result.is_cut:
            assert whole(store, result) == output
        else:
            assert result == output
    assert sum(result.is_cut for result in guarded) == 20
    assert turn.left.limit == 20_000 - sum(map(len, guarded))


@pytest.mark.proves("G-7")
def test_later_results_share_what_is_left(store: Store) -> None:
    """A turn is one allowance, in tokens too, until it is used up."""
    turn = TurnBudget(Allowance.tokens(2_000, Tokens(model="o200k")), store=store)
    spent = [turn.guard([("t", LARGE)])[0] for _ in range(3)]
    assert sum(map(turn.allowance.measure, spent)) <= 2_000
    assert turn.left.limit < 100


def test_a_forked_worker_opens_its_own_default_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process finds its own default store."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "mine"))
    assert guarding.default_store() is guarding.default_store()
    monkeypatch.setattr(os, "getpid", lambda: -5)
    with pytest.raises(CallerError, match="forked process"):
        next(iter(guarding._stores.values())).size()
