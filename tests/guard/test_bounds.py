"""What does a guard do at, just below and just above a bound: limits, environment numbers, streams in any parts?"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from tests.leftovers import nothing_left_open

from penstock.errors import CallerError
from penstock.guard import output as guarding
from penstock.guard import stream
from penstock.guard.output import MAX_TOOL_OUTPUT_CHARS, OutputLimits, TurnBudget, guard_output, wrap_tool
from penstock.store import StoreFault
from penstock.store.pieces import PIECE_BYTES
from penstock.text import fitting
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep, Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.store import Store


class Shelf:
    """The part of a store that a guard uses, recording what was put, under handles that count up."""

    def __init__(self) -> None:
        self.put_in: list[tuple[str, bytes]] = []

    def put(self, content: bytes | Iterable[bytes], *, name: str) -> str:
        self.put_in.append((name, content if isinstance(content, bytes) else b"".join(content)))
        return f"handle-of-twenty-two-{len(self.put_in)}"

    def info(self, handle: str) -> Any:
        class Info:
            content = self.put_in[int(handle.rpartition("-")[2]) - 1][1]
            bytes = len(content)
            lines = content.count(b"\n") + (not content.endswith(b"\n"))

        return Info


class Late:
    """A store that fails once it has been given everything."""

    def __init__(self, fails: Callable[[], object]) -> None:
        self._fails = fails

    def put(self, content: Iterable[bytes], **_: object) -> object:
        return [None for _ in content] and self._fails()


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-1")
@pytest.mark.parametrize(("name", "least"), [("chars", 200), ("lines", 5)])
def test_a_limit_is_taken_from_its_least_on(name: str, least: int) -> None:
    """Below it the error names that number; anything that is not a number is refused."""
    assert getattr(OutputLimits(**{name: least}), name) == least  # type: ignore[arg-type]
    for wrong in (least - 1, -least, True, float(least), str(least)):
        with pytest.raises(CallerError, match=f"^{name} is a whole number from {least} on, not "):
            OutputLimits(**{name: wrong})  # type: ignore[arg-type]


@pytest.mark.proves("G-1")
def test_numbers_of_the_environment_are_taken_within_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of each bound are tested, with the warning for a wrong number and the value used instead."""
    for name, other, ask, default, taken, wrong in (
        ("PENSTOCK_MAX_TOOL_OUTPUT", "QQ_MAX_TOOL_OUTPUT", lambda: guarding.default_allowance().limit, 28_000,
         {"200": 200, "201": 201, " 500 ": 500}, ("199", "200.5", "-200", "x" * 50)),
        ("PENSTOCK_CHARS_PER_TOKEN", "QQ_CHARS_PER_TOKEN", guarding.chars_per_token, 3.5,
         {"0.1": 0.1, "64": 64.0}, ("0.09", "-1", "inf", "nan", " ")),
    ):  # fmt: skip
        assert ask() == default
        for text, value in taken.items():
            for variable in (other, name):
                monkeypatch.setenv(variable, text)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    assert ask() == value
                monkeypatch.delenv(variable)
        monkeypatch.setenv(other, "300")
        for text in wrong:  # a wrong one does not fall through to the second name
            monkeypatch.setenv(name, text)
            with pytest.warns(RuntimeWarning) as told:
                assert ask() == default
            least = 200 if default == MAX_TOOL_OUTPUT_CHARS else 0.1
            assert [str(one.message) for one in told] == [
                f"{name} takes a number from {least} on, not {text[:40]!r}: {default} is used"
            ]
        monkeypatch.delenv(name)
        monkeypatch.delenv(other)


# ── one text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-1", "G-3")
def test_only_what_is_cut_and_not_kept_before_is_kept() -> None:
    """It depends on its length, on whether it was guarded before, and on what that guard said of the rest."""
    text = "".join(f"{at:04}\n" for at in range(400))
    limits = OutputLimits(chars=1_000)
    plain = fitting.fit(text, Allowance.chars(1_500))
    with_handle = fitting.fit(text, Allowance.chars(1_500), handle="elsewhere")
    with_way = fitting.fit(text, Allowance.chars(1_500), way="It is gone.")
    uncut = fitting.fit(text, Allowance.chars(5_000))
    for output, was_kept, said in (
        (text[:1_000], False, ""),
        (text[:1_001], True, 'page(handle="handle-of-twenty-two-1"'),
        (plain, True, 'page(handle="handle-of-twenty-two-1"'),
        (uncut, True, 'page(handle="handle-of-twenty-two-1"'),
        (with_handle, False, 'page(handle="elsewhere"'),
        (with_way, False, "It is gone."),
        # as many characters as fit, but not once they are inert
        ("\x1b[2J" * 250, True, 'page(handle="handle-of-twenty-two-1"'),
    ):
        shelf = Shelf()
        guarded = guard_output(output, "cat", store=shelf, limits=limits)  # type: ignore[arg-type]
        assert [name for name, _ in shelf.put_in] == ["cat"] * was_kept
        assert said in guarded
        assert len(guarded) <= 1_000
        if isinstance(output, fitting.Guarded):
            assert (guarded.whole_chars, guarded.whole_lines) == (2_000, 400)
        elif was_kept:
            assert shelf.put_in[0][1] == output.encode()


@pytest.mark.proves("G-3")
@pytest.mark.parametrize("keep", list(Keep))
def test_a_text_is_cut_as_if_all_of_it_was_looked_at(keep: Keep) -> None:
    """Only its ends are examined; the text shown is that of the whole, even if almost nothing is shown."""
    text = "".join(f"{at} ümläut\n" for at in range(3_000))
    for limit in (0, 1, 30, 400, 2_000):
        shelf = Shelf()
        (guarded,) = TurnBudget(Allowance.chars(limit), store=shelf).guard([("cat", text)], keep=keep)  # type: ignore[arg-type]
        whole = Whole(len(text), len(text.encode()), 3_000, int(len(text) / 3.5))
        assert guarded == fitting.fit_ends(
            text, text, whole, Allowance.chars(limit), keep, "handle-of-twenty-two-1", name="cat"
        )


def test_a_turn_can_be_used_up() -> None:
    """It goes down to nothing and no further; results are then empty."""
    turn = TurnBudget(Allowance.chars(5), store=Shelf())  # type: ignore[arg-type]
    assert (turn.guard([("a", "12345")]), turn.left.limit) == (["12345"], 0)
    assert (turn.guard([("a", "1")]), turn.left.limit) == ([""], 0)
    assert turn.guard([]) == []


@pytest.mark.proves("G-4", "G-6")
def test_a_text_of_a_tool_is_inert_even_if_it_fits() -> None:
    """This applies to text; another value comes back as it is, whatever its text form would be."""
    shelf = Shelf()
    assert wrap_tool(lambda: "a\x1b[2Jb", "t", store=shelf)() == fitting.fit("a\x1b[2Jb", Allowance.chars(99))  # type: ignore[arg-type]
    data = {"a": "\x1b"}
    assert wrap_tool(lambda: data, "t", store=shelf)() is data  # type: ignore[arg-type]


def test_what_data_is_shown_as() -> None:
    """It is JSON if possible, or else its own text form."""
    loop: list[Any] = []
    loop.append(loop)
    for value, shown in (
        ((1, "ü"), '[1, "ü"]'),
        ({"a": {1}}, "{'a': {1}}"),
        (loop, "[[...]]"),
        (b"a\xff", "a\\xff"),
        (bytearray(b"ab"), "ab"),
        (memoryview(b"ab"), "ab"),
        (5, "5"),
    ):
        assert guarding._text_form(value) == shown


def test_the_name_of_a_tool_is_its_own_unless_one_is_given() -> None:
    """A function without a name is called `tool`."""

    class Nameless:
        def __call__(self) -> str:
            return "x" * 300

    for tool, name, said in ((Nameless(), None, "tool"), (Nameless(), "mine", "mine"), (str, None, "str")):
        shelf = Shelf()
        wrapped: Any = wrap_tool(tool, name, store=shelf, limits=OutputLimits(chars=200))  # type: ignore[arg-type]
        wrapped(*(["y" * 300] if tool is str else []))
        assert [named for named, _ in shelf.put_in] == [said]


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_TEXTS = {
    "ascii": b"".join(b"line %d\n" % at for at in range(700)),
    "unended": b"".join("zeile %d ü\n".encode() % at for at in range(500)) + b"end",
    "one line": "日本".encode() * 900,
    "just held": b"x" * (4 * 300 + 8),
    "one more": b"x" * (4 * 300 + 9),
    "short": b"hello\n",
    "blank lines": b"\n" * 301,
    "nothing": b"",
}


def _parts(data: bytes, size: int) -> Iterator[bytes]:
    """Return the bytes in parts of one size, with empty ones between them."""
    for at in range(0, len(data), size):
        yield data[at : at + size]
        yield b""


@pytest.mark.proves("G-2", "G-5")
@pytest.mark.parametrize("name", list(_TEXTS))
def test_a_stream_shows_what_its_whole_would(name: str) -> None:
    """The notice is the same to its last character, in whatever parts the stream comes, and whichever end is kept."""
    data, allowance = _TEXTS[name], Allowance.chars(300)
    text = data.decode()
    for keep, size in product(Keep, (1, 7, 1_000, len(data) or 1)):
        shelf = Shelf()
        passed = stream.drain(_parts(data, size), allowance, keep, name="job", open_store=lambda on=shelf: on)  # type: ignore[misc]
        expected = fitting.fit(text, allowance, keep, "handle-of-twenty-two-1", name="job")
        if expected.is_cut:  # tokens are estimated by the bytes that are held
            sample = data[: 4 * 300 + 8].decode("utf-8", "backslashreplace")
            whole = fitting.measure(text, lambda _, few=sample: int(len(few) / 3.5) * len(text) // len(few))  # type: ignore[misc]
            expected = fitting.fit_ends(text, text, whole, allowance, keep, "handle-of-twenty-two-1", name="job")
        assert passed.result == expected
        assert shelf.put_in == [("job", data)] * expected.is_cut
        assert passed.handles == (("handle-of-twenty-two-1",) if expected.is_cut else ())
        assert (passed.lost_bytes, passed.fault, passed.uncut) == (0, "", None)
        measures = ("whole_chars", "whole_bytes", "whole_lines", "whole_tokens", "shown_chars", "shown_tokens")
        assert [getattr(passed.result, one) for one in measures] == [getattr(expected, one) for one in measures]


@pytest.mark.proves("G-3")
def test_the_sentence_of_what_was_kept_in_part() -> None:
    """It gives the sizes of the two halves, and what is lost between them; a single byte belongs to the first half."""
    data = b"".join(b"%06d\n" % at for at in range(1_000))
    for keep_bytes, halves in ((1, (1, 0)), (2, (1, 1)), (7, (4, 3)), (6_998, (3_499, 3_499)), (6_999, (3_500, 3_499))):
        for size in (1, 3_499, 3_500, 7_000):
            shelf = Shelf()
            passed = stream.drain(
                _parts(data, size), Allowance.chars(900), name="job", open_store=lambda on=shelf: on, keep_bytes=keep_bytes  # type: ignore[misc]
            )  # fmt: skip
            first, last = halves
            kept = [("job", data[:first]), ("job (end)", data[len(data) - last :])][: 2 if last else 1]
            assert shelf.put_in == kept
            assert passed.lost_bytes == 7_000 - keep_bytes
            if last:
                said = (
                    f'The first {first} bytes: page(handle="handle-of-twenty-two-1"); '
                    f'the last {last} bytes: page(handle="handle-of-twenty-two-2"); {7_000 - keep_bytes} bytes between'
                )
                assert said in passed.result


def test_nothing_is_kept_of_no_bytes() -> None:
    """No store is opened for them, and none is mentioned."""

    def never() -> Store:
        raise AssertionError

    passed = stream.drain(iter([b"x" * 5_000]), Allowance.chars(300), open_store=never, keep_bytes=0)
    assert (passed.handles, passed.lost_bytes, passed.fault) == ((), 0, "")
    assert fitting.NARROWER in passed.result


@pytest.mark.parametrize("beyond", [-1, 0, 1, PIECE_BYTES, PIECE_BYTES + 1])
def test_a_ring_gives_back_its_last_bytes_in_order(beyond: int) -> None:
    """This holds wherever its oldest byte is in the file, in pieces as a store takes them."""
    ring = 2 * PIECE_BYTES + 3
    data = bytes(at % 251 for at in range(ring)) + b"z" * ring
    whole = data[: ring + max(beyond, 0)] if beyond >= 0 else data[: ring - 1]
    spool = stream._Spool(iter([b"ab", whole[:10], whole[10:]]), 2 * ring)
    spool.half = 2
    shelf = Shelf()
    with nothing_left_open():
        handles = spool.into(shelf, "job")  # type: ignore[arg-type]
        spool.close()
        spool.close()
    if beyond <= 0:
        assert (len(handles), spool.lost_bytes, shelf.put_in) == (1, 0, [("job", b"ab" + whole)])
    else:
        assert (len(handles), spool.lost_bytes) == (2, beyond)
        assert shelf.put_in == [("job", b"ab"), ("job (end)", whole[-ring:])]


@pytest.mark.parametrize("beyond", [0, 1])
def test_sixteen_mebibytes_are_held_to_be_handed_on(beyond: int) -> None:
    """With one byte more nothing is held: the ends are shown."""

    def none() -> Store:
        raise StoreFault("unreachable", "The server cannot be reached.")

    came, got = [b"x" * (1 << 20)] * 16 + [b"y"] * beyond, list[bytes]()
    passed = stream.drain(iter(came), Allowance.chars(400), open_store=lambda: Late(none), hand_on=got.append)  # type: ignore[arg-type,return-value]
    assert (got, passed.is_uncut) == (([], False) if beyond else (came, True))


def test_no_scratch_file_is_made_for_what_fits_into_the_first_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds to its last byte."""
    made: list[int] = []
    monkeypatch.setattr(stream, "scratch_file", lambda: made.append(1) or 1 / 0)  # type: ignore[func-returns-value]
    shelf = Shelf()
    spool = stream._Spool(iter([b"abc", b"de"]), 10)
    assert spool.into(shelf, "job") == ("handle-of-twenty-two-1",)  # type: ignore[arg-type]
    assert (shelf.put_in, made) == ([("job", b"abcde")], [])


def test_no_more_is_held_than_the_ends_and_a_piece() -> None:
    """Parts of a single byte make exactly that."""
    ends = stream._Ends(5)
    for held, _ in enumerate(ends.watched(bytes([at]) for at in range(40)), 1):
        assert b"".join(ends._tail) == bytes(range(max(0, held - 5), held))
        assert bytes(ends._head) == bytes(range(min(held, 5)))


def test_why_nothing_was_kept_comes_after_why_it_broke_off() -> None:
    """Both are in the notice and in the fault; how the output continues, if nothing could be kept, comes last."""

    def parts() -> Iterator[bytes]:
        yield b"x" * 5_000
        raise OSError("the line is dead")

    def none() -> Store:
        raise StoreFault("unreachable", "The server cannot be reached.")

    passed = stream.drain(parts(), Allowance.chars(600), open_store=none)
    assert passed.fault == "The output broke off after 5000 bytes: the line is dead. The server cannot be reached."
    assert (
        "5000 bytes: the line is dead. The rest could not be kept: The server cannot be reached. Use more specific"
        in passed.result
    )
