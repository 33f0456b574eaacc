"""Is the estimate close, labelled and light, and do exact and sampled counts say what they need?"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.errors import CallerError
from penstock.text import token_estimate, tokens
from penstock.text.tokens import Calibration, Count, TokenCounter, Tokens, count, family, fits, sample_count

if TYPE_CHECKING:
    from collections.abc import Callable

STDLIB = Path(sysconfig.get_paths()["stdlib"])
SOURCES = (
    "argparse.py",
    "ast.py",
    "csv.py",
    "difflib.py",
    "enum.py",
    "gettext.py",
    "heapq.py",
    "inspect.py",
    "shlex.py",
)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the extra is not installed."""
    monkeypatch.setitem(sys.modules, "toktok", None)


def reader(data: bytes) -> Callable[[int, int], bytes]:
    return lambda offset, size: data[offset : offset + size]


def some_mebibytes() -> bytes:
    data = b"".join((STDLIB / name).read_bytes() for name in SOURCES)
    return (data * 20)[: 5 * 1024 * 1024]


def test_a_count_is_a_value() -> None:
    """A count is frozen, compared by its fields, hashable, can be copied and pickled, and has a repr."""
    one = Count(tokens=2, low=1, high=3, method="estimate:o200k")
    assert one == Count(tokens=2, low=1, high=3, method="estimate:o200k")
    assert one != Count(tokens=2, low=1, high=3, method="exact:o200k")
    assert one != (2, 1, 3, "estimate:o200k")
    assert len({one, copy.deepcopy(one), pickle.loads(pickle.dumps(one))}) == 1
    assert repr(one) == "Count(tokens=2, low=1, high=3, method='estimate:o200k')"
    with pytest.raises(AttributeError, match="frozen"):
        one.tokens = 5
    with pytest.raises(AttributeError, match="frozen"):
        del one.tokens


@pytest.mark.parametrize(("low", "number", "high"), [(3, 2, 4), (1, 5, 4), (-1, 0, 0)])
def test_bounds_that_do_not_hold_the_number_are_refused(low: int, number: int, high: int) -> None:
    """A count whose bounds do not contain its number cannot be made."""
    with pytest.raises(CallerError, match="low <= tokens <= high"):
        Count(tokens=number, low=low, high=high, method="estimate:o200k")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o-mini", "o200k"),
        ("openai-chat:gpt-5", "o200k"),
        ("gpt-4.1", "o200k"),
        ("o3-mini", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-3.5-turbo", "cl100k"),
        ("claude-3-5-sonnet-20241022", "claude3"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude3"),
        ("anthropic/claude-opus-4.6", "claude3"),
        ("claude-opus-4-7", "claude"),
        ("anthropic/claude-opus-4.8", "claude"),
        ("Claude-Sonnet-5", "claude"),
        ("gemini-2.5-pro", "other"),
        ("llama-3.3-70b", "other"),
        ("", "other"),
    ],
)
def test_a_model_is_counted_with_its_family(model: str, expected: str) -> None:
    """Model names, with the prefixes of hosts, lead to the family of their tokenizer."""
    assert family(model) == expected
    assert count("some text", model=model).method == f"estimate:{expected}"


def test_an_unknown_model_is_bounded_by_the_costliest_family() -> None:
    """The upper bound for an unknown tokenizer is at least that of every known family."""
    text = (STDLIB / "shlex.py").read_text()
    bounds = [count(text, model=name).high for name in ("cl100k", "claude")]
    assert count(text, model="nobody-knows").high >= max(bounds)


def test_an_estimate_is_near_on_the_standard_library() -> None:
    """On modules of the standard library the estimate is within 25 %, and no upper bound is exceeded."""
    for name in SOURCES:
        text = (STDLIB / name).read_bytes()
        true, estimated = count(text, mode="exact").tokens, count(text)
        assert abs(estimated.tokens - true) <= 0.25 * true, name
        assert estimated.low <= true <= estimated.high <= 2.2 * true, name


@pytest.mark.parametrize(
    "text",
    [
        "A reservoir above the valley feeds three turbines through one steel pipe. " * 40,
        '{"id": 17, "name": "spare part", "tags": ["a", "b"], "price": 12.50}\n' * 40,
        "2024-05-01T12:00:00.123Z ERROR [worker-7] connection refused: 10.0.0.12:5432\n" * 40,
        "       01  WS-RECORD.\n           05  WS-ID       PIC 9(8) COMP.\n" * 40,
        "函数返回一个新的数组,其中包含每个元素的结果。" * 40,
        "この関数は、新しい配列を返します。要素ごとに一度呼ばれます。" * 40,
        "Функция возвращает новый список, не меняя старого.\n" * 40,
        "0123456789abcdef" * 200,
        "!function(e,t){var n=e.x||t,r=0;for(;r<n.length;r++)n[r]&&t(n[r],r)}(this,a);" * 40,
        "\U0001f600\U0001f680 " * 300,
    ],
    ids=["prose", "json", "log", "cobol", "chinese", "japanese", "russian", "hex", "minified", "emoji"],
)
@pytest.mark.parametrize("model", ["o200k", "cl100k"])
def test_no_kind_of_text_exceeds_its_upper_bound(text: str, model: str) -> None:
    """Texts of very different density stay below the upper bound; repeats of one line are the hardest test."""
    assert count(text, model=model, mode="exact").tokens <= count(text, model=model).high


def test_text_and_its_bytes_count_the_same() -> None:
    """A text and its UTF-8 have one count in every mode."""
    text = "naïve 漢字 — done\n" * 30
    assert count(text) == count(text.encode())
    assert count(text, mode="exact") == count(text.encode(), mode="exact")


@pytest.mark.parametrize("mode", ["estimate", "sampled", "exact"])
@pytest.mark.parametrize("text", ["", "\ud800", "a\udfff\ud83d\ude00", b"\xff\xfe\x80", b"\xed\xa0\x80", "\0" * 9])
def test_whatever_is_handed_in_is_counted(text: str | bytes, mode: tokens.Mode) -> None:
    """Lone surrogates, invalid bytes and empty texts have counts."""
    counted = count(text, mode=mode)
    assert (counted.tokens == 0) == (len(text) == 0)


def test_an_exact_count_has_no_margin() -> None:
    """An exact count is its own bounds and names its vocabulary."""
    assert count("hello world", mode="exact") == Count(tokens=2, low=2, high=2, method="exact:o200k")
    assert count("hello world", model="gpt-4", mode="exact").method == "exact:cl100k"


def test_an_unknown_mode_is_the_callers_error() -> None:
    """The error names the unknown mode and the existing ones."""
    with pytest.raises(CallerError, match="'guess': it is estimate, sampled or exact"):
        count("text", mode="guess")  # type: ignore[arg-type]


@pytest.mark.usefixtures("absent")
def test_without_the_extra_an_exact_count_names_it() -> None:
    """Without the tokenizer the error says how to install it, and the other modes still work."""
    with pytest.raises(CallerError, match=r"pip install 'penstock\[exact\]'"):
        count("text", mode="exact")
    assert count("text", mode="sampled").method == "estimate:o200k"
    assert count("x y " * 50_000, mode="sampled").method == "sampled-estimate:o200k"


@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-opus-5", "gemini-2.5-pro"])
def test_a_tokenizer_that_is_not_public_is_never_called_exact(model: str) -> None:
    """An exact count for such a model is refused, with what works instead."""
    with pytest.raises(CallerError, match="mode='estimate'"):
        count("text", model=model, mode="exact")


def test_a_small_source_is_read_whole() -> None:
    """Up to the limit nothing is sampled."""
    data = b"def f():\n    return 1\n" * 100
    assert sample_count(reader(data), len(data)) == count(data, mode="exact")


def test_a_sample_is_near_and_says_so() -> None:
    """64 pieces of a few megabytes are within 8 % of the exact count, which the bounds contain."""
    data = some_mebibytes()
    true = count(data, mode="exact").tokens
    sampled = sample_count(reader(data), len(data))
    assert sampled.method == "sampled:o200k"
    assert abs(sampled.tokens - true) <= 0.08 * true
    assert sampled.low <= true <= sampled.high
    assert sampled == sample_count(reader(data), len(data))
    assert count(data, mode="sampled") == sampled


@pytest.mark.usefixtures("absent")
def test_a_sample_without_the_extra_is_an_estimate() -> None:
    """Without a tokenizer the pieces are estimated, as the method and wider bounds say."""
    data = some_mebibytes()
    sampled = sample_count(reader(data), len(data))
    assert sampled.method == "sampled-estimate:o200k"
    assert sampled.low < 0.95 * sampled.tokens < 1.05 * sampled.tokens < sampled.high
    whole = count(data)
    assert abs(sampled.tokens - whole.tokens) <= 0.1 * whole.tokens


def test_a_sample_reads_64_pieces_of_a_kibibyte() -> None:
    """However large a source is, 64 KiB of it are read, each piece within its own stratum."""
    asked: list[tuple[int, int]] = []

    def read(offset: int, size: int) -> bytes:
        asked.append((offset, size))
        return b"word " * (size // 5)

    size_bytes = 10**12
    sample_count(read, size_bytes)
    assert len(asked) == 64
    for index, (offset, size) in enumerate(asked):
        assert size == 1024
        assert size_bytes * index // 64 <= offset <= offset + size <= size_bytes * (index + 1) // 64


def test_a_source_that_vanished_while_it_was_read_has_no_lower_bound() -> None:
    """If nothing could be read, only the size in bytes is given, as the upper bound."""
    assert sample_count(lambda *_: b"", 100_000) == Count(tokens=0, low=0, high=100_000, method="sampled:o200k")


def test_a_limit_loads_no_tokenizer_where_the_estimate_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far from the limit the exact counter is not even looked for; within the bounds it decides."""
    text = "the same words again and again " * 100
    estimated, true = count(text), count(text, mode="exact").tokens
    assert fits(text, true)
    assert not fits(text, true - 1)
    monkeypatch.setattr(tokens, "_counter", lambda _: pytest.fail("the tokenizer was asked for"))
    assert fits(text, estimated.high)
    assert not fits(text, estimated.low - 1)


@pytest.mark.usefixtures("absent")
def test_without_a_tokenizer_the_upper_bound_decides() -> None:
    """Between the bounds a text counts as too long, as it cannot be proved to fit."""
    text = "the same words again and again " * 100
    assert not fits(text, count(text).high - 1)
    assert fits(text, count(text).high)
    assert not fits(text, count(text, model="claude").high - 1, model="claude")


def test_calibration_moves_the_number_towards_what_was_reported() -> None:
    """After a provider reported a fifth more, a later count is a fifth more and is labelled as calibrated."""
    estimated = Count(tokens=1000, low=800, high=1150, method="estimate:claude")
    calibration = Calibration().observe(estimated, 1200)
    assert calibration.apply(estimated) == Count(tokens=1200, low=800, high=1200, method="estimate:claude+calibrated")
    assert calibration.apply(calibration.apply(estimated)).method == "estimate:claude+calibrated"
    assert Calibration().apply(estimated) is estimated


def test_a_calibrated_exact_count_is_not_called_exact() -> None:
    """Scaling an exact count by reports makes it an estimate, as its method says."""
    exact = Count(tokens=100, low=100, high=100, method="exact:o200k")
    assert Calibration().observe(exact, 107).apply(exact) == Count(
        tokens=107, low=100, high=107, method="scaled:o200k+calibrated"
    )


def test_an_empty_estimate_teaches_nothing() -> None:
    """An empty estimate gives no ratio, and no provider reports less than nothing."""
    calibration = Calibration()
    assert calibration.observe(count(""), 12) is calibration
    with pytest.raises(CallerError, match="cannot report"):
        calibration.observe(count("text"), -1)
    with pytest.raises(CallerError, match="widens"):
        Calibration(most=(1, 2))


def test_tokens_is_a_counter_for_one_model() -> None:
    """`Tokens` binds a model, a mode and what was learnt, behind the single method that a budget uses."""
    counter: TokenCounter = Tokens(model="claude-opus-5")
    assert counter.count("some text") == count("some text", model="claude-opus-5")
    calibration = Calibration().observe(count("some text"), 9)
    assert Tokens(calibration=calibration).count("some text") == calibration.apply(count("some text"))


def test_counting_loads_no_tokenizer_and_no_heavy_module() -> None:
    """An estimate needs neither the vocabulary nor modules that slow an import down."""
    program = (
        "import sys; from penstock.tokens import count, fits; count('text'); fits('text', 10_000);"
        "print([name for name in ('toktok', 'dataclasses', 'inspect', 'numpy', 'os.path') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(tokens.__file__).parents[2])},
    )
    assert set(done.stdout.strip("[]\n").split(", ")) <= {"'os.path'", ""}


def test_a_long_text_that_is_counted_again_is_not_looked_at_again() -> None:
    """Fitting counts a text at each size that it tries: a common beginning is counted once."""
    data = "".join(f"{number}: a line\n" for number in range(50_000)).encode()
    counted = token_estimate.features(data)
    looked_at = token_estimate._known_features.cache_info().misses
    assert token_estimate.features(data) == counted
    token_estimate.features(data[:-9])
    assert token_estimate._known_features.cache_info().misses == looked_at + 1


@pytest.mark.parametrize("size", [300, 30_000])
def test_a_text_that_is_counted_again_is_not_estimated_again(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A conversation is sent whole with each request: counts of unchanged texts are remembered, for each family separately."""
    looked_at: list[bytes] = []
    features = token_estimate.features

    def looking(data: bytes) -> list[int]:
        looked_at.append(data)
        return features(data)

    monkeypatch.setattr(token_estimate, "features", looking)
    text = "one of a kind " * (size // 14)
    counted = count(text), count(text, model="claude-opus-5")
    assert counted[0] != counted[1]
    assert (count("".join(text)), count(text, model="claude-opus-5"), len(looked_at)) == (*counted, 2)
    assert count(f"{text}.").high >= counted[0].high
    assert len(looked_at) == 3


def test_a_text_of_somebody_else_is_counted_by_what_it_is() -> None:
    """A `str` subclass that claims to equal everything is not mistaken for an earlier text."""

    class Alike(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash("counted before")

    known, other = count("counted before"), count("another, of many more words")
    assert count(Alike("another, of many more words")) == other != known
