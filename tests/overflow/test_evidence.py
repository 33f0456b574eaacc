"""Is what is kept of an error bounded, to the last item within each bound, however large the error is?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.overflow import diagnose, numbers, settling, walk
from penstock.overflow.bound import Bound
from penstock.overflow.walk import (
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_LAYERS,
    MAX_NODES,
    MAX_TEXT_CHARS,
    MAX_TEXTS,
    Evidence,
)

pytestmark = pytest.mark.proves("O-2")


def of(error: object) -> Evidence:
    """Return what the outermost layer of an error says."""
    return next(walk.layers(error))


def test_the_bounds_are_those_that_the_docs_name() -> None:
    """A reader who misses part of an error finds them there."""
    docs = " ".join((Path(__file__).parents[2] / "docs" / "overflow.md").read_text(encoding="utf-8").split())
    for said in (
        f"at most {MAX_DEPTH} levels deep",
        f"of a chain at most {MAX_LAYERS} exceptions, of each {MAX_NODES} objects, of a container {MAX_ITEMS} items",
        f"and {MAX_TEXTS} texts, of which {MAX_TEXT_CHARS:,} characters are read",
        f"JSON is parsed up to {walk.MAX_PARSED_CHARS:,} characters",
    ):
        assert said in docs


def nested(levels: int, inner: Any) -> Any:
    """Return a value nested in that many mappings."""
    for _ in range(levels):
        inner = {"error": inner}
    return inner


@pytest.mark.parametrize("number", [99, 100, 599, 600])
def test_a_status_is_one_of_http(number: int) -> None:
    """Another number under such a key is a field; under another key a number is always a field."""
    said = of({"status": number, "limit": number})
    assert said.statuses == ([number] if 100 <= number <= 599 else [])
    assert said.fields == {"limit": number, **({} if said.statuses else {"status": number})}


@pytest.mark.parametrize("digits", ["99", "413", "4130", "abc"])
@pytest.mark.parametrize("key", ["code", "status", "type", "reason"])
def test_a_status_may_be_written_as_a_string(key: str, digits: str) -> None:
    """It has three digits, under a key that may hold a status; it is also a code."""
    said = of({key: digits})
    assert said.statuses == ([413] if digits == "413" and key in {"code", "status"} else [])
    assert said.codes == [digits]


def test_words_that_stop_or_delay_are_held_to_forty_characters() -> None:
    """This holds in a field, within an answer, and in a header."""
    word = "S" * 39
    for end in ("x", "xy"):
        said = of(
            {
                "finish_reason": word + end,
                "retry_delay": word + end,
                "choices": [{"finish_reason": word + end}, {"stop_reason": "END"}],
                "headers": {"Retry-After": word + end, "X-Other": "1"},
            }
        )
        assert said.stops == [f"{word}x".lower()] * 2 + ["end"]
        assert said.headers == {"retry-delay": f"{word}x".lower(), "retry-after": f"{word}x"}
    assert of({"output": [{"finish_reason": str(at)} for at in range(6)]}).stops == ["0", "1", "2", "3"]
    assert of({"delta": {"stopReason": "guardrail"}}).stops == ["guardrail"]
    assert of(ValueError(f"'retryDelay': '{word}xy'")).headers == {"retry-delay": f"{word}x".lower()}


def test_headers_are_read_to_the_two_hundredth() -> None:
    """Headers come as a mapping or as pairs of bytes, with names in any case."""
    for before in (199, 200):
        names = [(b"x-%d" % at, b"1") for at in range(before)] + [(b"RETRY-AFTER-MS", b"70")]
        assert of({"headers": names}).headers == ({"retry-after-ms": "70"} if before < 200 else {})


def test_codes_are_words_of_a_hundred_characters_and_forty_of_them() -> None:
    """A longer one is read as words; one with a space is read as words and as a code."""
    assert of({"code": "c" * 100}).codes == ["c" * 100]
    assert (of({"code": "c" * 101}).codes, of({"code": "c" * 101}).texts) == ([], ["c" * 101])
    assert (of({"code": "Too Many"}).codes, of({"code": "Too Many"}).texts) == (["too many"], ["too many"])
    assert of({"code": ""}).codes == []
    errors = [{"code": f"c{at}", "limit": 1, f"f{at}": 5} for at in range(MAX_ITEMS)]
    said = of({"errors": [errors, [{"code": "beyond", "beyond": 5}]]})
    assert len(said.codes) == len(said.fields) == MAX_ITEMS
    assert "beyond" not in said.codes


def test_forty_items_of_a_container_are_read() -> None:
    """This holds for a mapping, a list, and the arguments of an exception."""
    assert len(of({f"k{at}": 5 for at in range(MAX_ITEMS + 1)}).fields) == MAX_ITEMS
    for error in ([f"t{at}" for at in range(MAX_ITEMS + 1)], ValueError(*(f"t{at}" for at in range(MAX_ITEMS + 1)))):
        texts = of(error).texts
        assert len(texts) == MAX_TEXTS
        assert texts[:3] == ["t0", "t1", "t2"]
    lines = "\n".join(f'data: {{"f{at}": 5}}' for at in range(MAX_ITEMS + 1))
    assert len(of(lines).fields) == MAX_ITEMS


def test_a_text_is_read_from_both_its_ends() -> None:
    """If it is one character too long, its middle is left out, with the digits at the edges."""
    whole = "a" * (MAX_TEXT_CHARS - 1)
    assert of(f"{whole}b").texts == [f"{whole}b"]
    (text,) = of(f"{'a' * (MAX_TEXT_CHARS // 2 - 1)}1222{'b' * (MAX_TEXT_CHARS // 2 - 1)}").texts
    assert text == f"{'a' * (MAX_TEXT_CHARS // 2 - 1)} … {'b' * (MAX_TEXT_CHARS // 2 - 1)}"


def test_json_is_parsed_up_to_a_size_and_a_depth() -> None:
    """Larger or deeper JSON is read as words, from both ends."""
    for padding, codes in ((0, ["c1"]), (1, [])):
        around = [f'"id": "{"x" * 32_000}"', '"code": "c1"']
        filler = "x" * (65_536 - len(f'{{{", ".join(around)}, "url": ""}}') + padding)
        text = f'{{{", ".join(around)}, "url": "{filler}"}}'
        for error in (text, text.encode()):
            assert of(error).codes == codes
    assert of(b'{"limit": 5}').texts == []
    assert of(nested(MAX_DEPTH, 7)).fields == {"error": 7}
    assert of(nested(MAX_DEPTH + 1, 7)).fields == {}
    assert of(nested(MAX_DEPTH + 1, "words")).texts == ["words"]
    assert of(nested(MAX_DEPTH, {"code": "words"})).texts == []
    assert of(nested(MAX_DEPTH - 1, '{"limit": 5}')).fields == {"limit": 5}
    assert of(nested(MAX_DEPTH, '{"other": "x"}')).texts != []


@pytest.mark.parametrize(("around", "texts"), [(" xy", []), (" xyz", ["xyz"]), (" ]) xyz", ["xyz"])])
def test_words_around_an_object_are_kept_if_there_are_three(around: str, texts: list[str]) -> None:
    """Brackets around the object do not count as words."""
    assert of(f'{{"limit": 5}}{around}').texts == texts
    assert of(f'words [({{"limit": 5}})]{around}').texts == ["words", *texts]


def test_events_of_a_stream_are_read_one_by_one() -> None:
    """A space after the colon is optional; the text of other lines is not an event."""
    events = 'event: error\ndata:{"message": "one", "code": "c1"}\n\ndata: {"message": "two", "limit": 5}\nid: 7\ndata: [DONE]'
    said = of(events)
    assert (said.texts, said.codes, said.fields) == (["one", "two", "[done]"], ["c1"], {"limit": 5})
    assert of('{"message": "no data: here"}').texts == ["no data: here"]


def test_the_text_of_a_body_is_read_if_nothing_else_has_words() -> None:
    """It repeats the body with a guessed encoding; other attributes with words are all read."""
    assert of(SimpleNamespace(message="one", detail="two", text="three")).texts == ["one", "two"]
    assert of(SimpleNamespace(text="three")).texts == ["three"]


class _Opened(dict[str, object]):
    """An object that records when it is opened."""

    def __init__(self, opened: list[int]) -> None:
        super().__init__()
        self._opened = opened

    def items(self) -> Any:
        self._opened.append(1)
        return super().items()


def test_objects_and_layers_are_counted() -> None:
    """The bounds are three hundred objects and eight layers; each object counts once, however it is held."""
    rows: list[Any] = [[{"a": {"f": 1}} for _ in range(20)] for _ in range(20)]
    said = of([*rows, {"limit": 5}])
    assert "limit" not in said.fields
    assert of([[{"a": {"f": 1}}] * 20] * 20 + [{"limit": 5}]).fields == {"f": 1, "limit": 5}
    assert MAX_NODES < 20 * 20 * 2
    opened: list[int] = []
    of([[_Opened(opened) for _ in range(20)] for _ in range(20)])
    assert len(opened) == 300 - 1 - 15  # without the list of all, and fifteen of its twenty lists
    error = ValueError("0")
    for at in range(1, MAX_LAYERS + 2):
        outer = ValueError(str(at))
        outer.__cause__, error = error, outer
    assert len(list(walk.layers(error))) == MAX_LAYERS
    hidden = ValueError("outer")
    hidden.__context__ = ValueError("inner")
    assert [one.texts for one in walk.layers(hidden)] == [["outer"], ["inner"]]
    hidden.__suppress_context__ = True
    assert [one.texts for one in walk.layers(hidden)] == [["outer"]]
    group = ExceptionGroup("both", [ValueError("one"), ValueError("two")])
    assert [one.texts[0] for one in walk.layers(group)] == ["both", "one", "two"]


@pytest.mark.parametrize("value", [True, False, 1.5, None])
def test_what_is_not_a_count_is_not_a_field(value: object) -> None:
    """Booleans, fractions and nothing are not counts; a whole number written with a point is."""
    assert of({"limit": value}).fields == {}
    assert of({"limit": 5.0}).fields == {"limit": 5}
    assert of({"status": 429.0}).statuses == [429]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"caf\u0061s", "cafas"),
        (r"caf\\\\u0061s", "cafas"),
        (r"a\u00e4b", "a\u00e4b"),
        (r"a\u20 b", "a 20 b"),
        (r"a\nb\tc\rd", "a b c d"),
        (r"say \"it\'s\"", 'say "it\'s"'),
        (r"a\/b\`c", "a/b`c"),
        (r"a\qb", "a b"),
    ],
)
def test_what_json_escapes_is_read_as_it_was_said(written: str, read: str) -> None:
    """This holds at any number of levels; fewer than four digits are not a code, and what JSON cannot escape is a space."""
    assert of({"message": written}).texts == [read]


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 2, MAX_DEPTH + 3))
def test_a_list_of_lists_is_a_level_and_a_list_of_objects_is_not(levels: int) -> None:
    """Words are read down to the last level, and no deeper."""
    listed: Any = "said here"
    objects: Any = {"message": "said here"}
    for _ in range(levels):
        listed, objects = [listed], {"errors": [objects]}
    assert of({"error": listed}).texts == of(objects).texts == (["said here"] if levels <= MAX_DEPTH else [])


def test_fields_of_a_cut_off_body_are_read_by_pattern() -> None:
    """A code, a delay and a number are each found in their place; other words stay words."""
    said = of("{'code': 'Too_Long', 'retryDelay': '12s', 'limit': 4096, 'status': 413, 'note': 'so it is', 'mess")
    assert said.codes == ["too_long"]
    assert said.headers == {"retry-delay": "12s"}
    assert said.fields == {"limit": 4096}
    assert said.statuses == [413]


def test_an_exception_says_its_class() -> None:
    """The class is given once, in addition to the words; a mapping has none."""
    assert of(type("WindowExceeded", (Exception,), {})("so it is")).codes == ["windowexceeded"]
    assert of({"message": "so it is"}).codes == []


@pytest.mark.parametrize("first", [". ", "? ", "! ", "\u3002", "; "])
@pytest.mark.parametrize("last", [". ", "? ", "! ", "\u3002", "; "])
def test_a_number_is_told_by_its_own_sentence(first: str, last: str) -> None:
    """The sentence before it may end in any way, and so may earlier ones."""
    assert numbers._last_sentence(f"one{first}two{last}three ").strip() == "three"
    assert numbers._last_sentence("three ") == "three "


@pytest.mark.parametrize(
    ("parts", "inputs", "output", "total", "told"),
    [
        ([40, 60], [], None, None, 100),
        ([40, 60], [], None, 100, 100),
        ([40, 60], [], None, 101, None),
        ([40, 60], [], 1, 101, 100),
        ([40, 60, 40, 60], [], None, 100, 100),
        ([40, 60, 40, 60], [], None, None, 200),
        ([100, 100], [], None, 200, 200),
        ([100, 100], [], None, 100, 100),
        ([100, 100], [], None, 150, None),
        ([40, 60], [100], None, 100, 100),
        ([40, 60], [100], 1, 101, 100),
        ([40, 60], [100], None, 101, None),
        ([40, 60], [7], None, 107, 107),
        ([40, 60], [7], None, None, 7),
        ([40, 60], [7], 3, 110, 107),
        ([40, 60], [7], 3, 50, None),
    ],
)
def test_parts_make_the_input_that_the_total_allows(
    parts: list[int], inputs: list[int], output: int | None, total: int | None, told: int | None
) -> None:
    """The reply counts and nothing else does; an input that fits no total is not reported."""
    assert settling._sum_of_parts(parts, inputs, output, total) == told


@pytest.mark.parametrize("status", [400, 404, 413, 422, 500, 502, 503])
def test_a_layer_with_a_status_alone_is_looked_through(status: int) -> None:
    """What it wraps says more; if that says nothing either, the status holds."""
    outer = type("Failed", (Exception,), {"status_code": status})("failed")
    alone = diagnose(outer)
    outer.__cause__ = ValueError("prompt is too long: 213462 tokens > 200000 maximum")
    told = diagnose(outer)
    assert told.overflow is not None
    assert (told.overflow.limit, told.overflow.input) == (200_000, 213_462)
    outer.__cause__ = ValueError("so it is")
    assert diagnose(outer) == alone


@pytest.mark.parametrize(
    ("number", "is_window"),
    [
        (2_013, False),
        (2_034, False),
        (9_998, False),
        (2_032, True),
        (2_033, True),
        (2_047, True),
        (2_000, True),
        (10_001, True),
        (10_002, True),
    ],
)
def test_a_number_in_brackets_is_a_code_if_no_window_has_it(number: int, is_window: bool) -> None:
    """Windows are round, or near a multiple of 16; codes are short."""
    found = diagnose(f"context window exceeds limit ({number})", 400).overflow
    assert found is not None
    assert found.limit == (number if is_window else None)


@pytest.mark.parametrize(
    ("given", "recovery"), [(999, "shrink_output"), (1_000, "shrink_input"), (1_001, "shrink_input")]
)
def test_a_shorter_reply_cures_what_is_below_the_limit_without_it(given: int, recovery: str) -> None:
    """An input that alone is as large as the window leaves no reply."""
    said = (
        f"This model's maximum context length is 1000 tokens. However, you requested {given + 100} tokens "
        f"({given} in the messages, 100 in the completion)."
    )
    found = diagnose(said, 400)
    assert (found.recovery, found.overflow and found.overflow.excess) == (recovery, given - 900)


@pytest.mark.parametrize(("output", "recovery"), [(499, "shrink_input"), (500, "shrink_output")])
def test_the_larger_part_goes_if_the_input_was_not_counted_to_its_end(output: int, recovery: str) -> None:
    """A reply of half the window is exactly as large as the rest."""
    said = (
        f"This model's maximum context length is 1000 tokens. However, you requested {output} output tokens and your prompt "
        f"contains at least {1_001 - output} input tokens, for a total of at least 1001 tokens."
    )
    assert diagnose(said, 400).recovery == recovery


@pytest.mark.parametrize(("asked", "kind"), [(8_000, "rate_limit"), (8_001, "rate_limit_single_request")])
def test_a_request_that_is_a_whole_minute_s_allowance_is_waited_for(asked: int, kind: str) -> None:
    """A request one token larger never gets through."""
    said = f"Rate limit reached on tokens per minute (TPM): Limit 8000, Requested: {asked}. Please try again later"
    assert diagnose(said, 429).kind == kind


def test_of_sizes_in_two_units_below_a_limit_without_one_nothing_is_certain() -> None:
    """The unit of the limit decides which of them counts; without both sizes the limit does."""

    def found(value: int, unit: str | None) -> list[settling.Found]:
        return [settling.Found(value, 1, unit, "")]

    given, total = found(9_000, "tokens"), found(30_000, "chars")
    assert settling.settle({"limit": found(8_000, None), "input": given, "total": total}, "") == Bound()
    assert settling.settle({"limit": found(8_000, "tokens"), "input": given, "total": total}, "").input == 9_000
    assert settling.settle({"limit": found(8_000, None), "input": given}, "").limit == 8_000


def test_a_noun_counts_in_the_last_three_clauses_before_its_number() -> None:
    """Anything earlier is about something else."""
    assert numbers.bind("the prompt, the tokens, 9000").input == 9_000
    assert numbers.bind("the prompt, the tokens, the tokens, 9000").input is None
