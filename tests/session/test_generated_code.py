"""Is generated code held to the caps of S-6, exactly at and around each of them?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import CallerError
from penstock.outline import EXACT_BYTES
from penstock.session.generated_code import (
    CAPS,
    CLASS_LINES,
    METHOD_LINES,
    RESPONSE_LINES,
    Kind,
    Report,
    check_code,
    measured,
    response_time,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proves("S-6")

LANGUAGES = ["python", "java", "javascript", "typescript", "go", "c", "rust", "ruby", "shell", "sql", "cobol", "text"]


def lines(count: int) -> str:
    return "x = 1\n" * count


def function(count: int, head: str = "def f():") -> str:
    """Return a definition of exactly that many lines."""
    return f"{head}\n" + "    x = 1\n" * (count - 1)


def names(text: str, language: str = "python") -> list[tuple[str, str, int, int]]:
    found = check_code(text, language, "generation").sources[0].definitions
    return [(one.kind, one.name, one.first_line, one.last_line) for one in found]


def test_the_caps_are_those_of_the_guidelines() -> None:
    """The figures are those in the table of SWE-001."""
    assert CAPS == {
        "analysis": ((50, 100), 500, (2, 5)),
        "generation": ((200, 500), 3000, (5, 15)),
        "refactoring": ((100, 300), 1500, (3, 10)),
    }
    assert (CLASS_LINES, METHOD_LINES, RESPONSE_LINES) == (800, 50, 3000)


@pytest.mark.parametrize(
    ("kind", "advised", "most"), [("analysis", 100, 500), ("generation", 500, 3000), ("refactoring", 300, 1500)]
)
def test_the_lines_of_a_response_are_advised_and_then_capped(kind: Kind, advised: int, most: int) -> None:
    """At a figure nothing changes, one line above it does; a short response is never at fault."""
    levels = {
        count: check_code(lines(count), "python", kind).level for count in (0, 1, advised, advised + 1, most, most + 1)
    }
    assert list(levels.values()) == ["ok", "ok", "ok", "advised", "advised", "above"]
    assert check_code(lines(most), "python", kind).is_within
    assert not check_code(lines(most + 1), "python", kind).is_within


def test_the_sources_of_a_response_count_together() -> None:
    """Two files within the cap may exceed it together, as one response."""
    source = measured((lines(300),), "python", "a.py")
    report = Report(kind="analysis", sources=(source, source))
    assert (report.lines, report.level) == (600, "above")
    assert Report(kind="analysis", sources=(source,)).is_within


FUNCTIONS: dict[str, Callable[[int], str]] = {
    "python": function,
    "ruby": lambda count: "def f\n" + "  x = 1\n" * (count - 2) + "end\n",
    "javascript": lambda count: "function f() {\n" + "  x = 1;\n" * (count - 2) + "}\n",
    "sql": lambda count: "CREATE FUNCTION f() AS $$\n" + "  x;\n" * (count - 2) + "$$;\n",
}
CLASSES: dict[str, Callable[[int], str]] = {
    "python": lambda count: function(count, "class A:"),
    "java": lambda count: "class A {\n" + "  int x;\n" * (count - 2) + "}\n",
    "rust": lambda count: "impl A {\n" + "\n" * (count - 2) + "}\n",
}


@pytest.mark.parametrize("language", FUNCTIONS)
def test_a_function_of_50_lines_is_within_and_one_of_51_is_not(language: str) -> None:
    """Syntax tree, grammar and line scanner agree."""
    made = FUNCTIONS[language]
    assert check_code(made(METHOD_LINES), language, "generation").is_within
    report = check_code(made(METHOD_LINES + 1), language, "generation")
    assert not report.is_within
    assert [(one.lines, one.max_lines) for one in report.sources[0].oversized] == [(51, 50)]


@pytest.mark.parametrize("language", CLASSES)
def test_a_class_of_800_lines_is_within_and_one_of_801_is_not(language: str) -> None:
    """The methods of the class do not matter."""
    made = CLASSES[language]
    assert check_code(made(CLASS_LINES), language, "generation").is_within
    assert [one.lines for one in check_code(made(801), language, "generation").sources[0].oversized] == [801]


def test_definitions_are_found_wherever_they_stand() -> None:
    """They may be nested, asynchronous, decorated, in classes in classes, or conditional; decorators precede the first line."""
    code = """\
@decorated
@twice(
    1,
)
class Outer:
    class Inner:
        @property
        async def method(self):
            def nested():
                return [lambda: 1 for _ in range(3)]
            return nested

    if True:
        def conditional(self): ...

try:
    def tried(): ...
except ValueError:
    def excepted(): ...
match 1:
    case 1:
        def matched(): ...
"""
    assert names(code) == [
        ("class", "Outer", 5, 14),
        ("class", "Outer.Inner", 6, 11),
        ("method", "Outer.Inner.method", 8, 11),
        ("function", "Outer.Inner.method.nested", 9, 10),
        ("method", "Outer.conditional", 14, 14),
        ("function", "tried", 17, 17),
        ("function", "excepted", 19, 19),
        ("function", "matched", 22, 22),
    ]


def test_what_lies_within_a_function_counts_for_it() -> None:
    """Moving the body of a function into a nested one does not shorten it."""
    nested = "def outer():\n    def inner():\n" + "        x = 1\n" * 49
    oversized = check_code(nested, "python", "generation").sources[0].oversized
    assert [(one.name, one.lines) for one in oversized] == [("outer", 51)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
def test_line_ends_do_not_change_a_measure(end: str) -> None:
    """CRLF is a line end; a lone CR is not, as in every page of the same file."""
    code = "class A:\n    def f(self):\n        return '''\n\n'''\n".replace("\n", end)
    assert check_code(code, "python", "generation").lines == 5
    assert names(code) == [("class", "A", 1, 5), ("method", "A.f", 2, 5)]


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("\n", 1), ("x", 1), ("x\n", 1), ("x\n\n", 2), ("\ufeffx = 1", 1)]
)
def test_lines_are_counted_without_a_phantom(text: str, count: int) -> None:
    """Texts with and without a final line end, empty ones, and ones with a byte order mark count right."""
    for language in ("python", "text"):
        assert check_code(text, language, "generation").lines == count


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def f(:\n" + function(60, "def g():"), "line 1: "),
        (function(60) + "x = (\n", "line 61: "),
        (function(60) + "\0", "null bytes"),
        (function(60) + "x = " + "-" * 50_000 + "1\n", "nested too deeply"),
        pytest.param(
            *(function(60) + "x = a" + ".b" * 10_000 + "\n", "nested too deeply"),
            marks=pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads it"),
        ),
    ],
    ids=["signature", "bracket", "null", "signs", "attributes"],
)
def test_what_has_no_syntax_tree_says_so_and_is_measured_all_the_same(code: str, why: str) -> None:
    """The outline is used instead: lines are counted, and a long function is found."""
    (source,) = check_code(code, "python", "generation").sources
    assert why in source.error
    assert source.method in {"tree-sitter", "line scanner"}
    assert source.lines == code.count("\n") + (not code.endswith("\n"))
    assert [one.lines for one in source.oversized] == [60]
    assert f"no syntax tree: {source.error[:10]}" in str(check_code(code, "python", "generation"))


def test_warnings_about_the_code_are_not_ours() -> None:
    """Code with an escape that Python warns about is measured without a warning."""
    assert names("def f():\n    return '\\d'\n") == [("function", "f", 1, 2)]


def test_a_text_of_any_length_is_measured_in_blocks() -> None:
    """Above the size limit of exact outlines the line scanner is used, and no block may be missed or seen twice."""
    blocks = ["def f():\n", *["    x = 1\n" * 1000] * (EXACT_BYTES // 10_000 + 2), "def g():\n    return 1"]
    source = measured(blocks, "python")
    assert source.method == "line scanner"
    assert source.lines == "".join(blocks).count("\n") + 1
    assert [(one.name, one.last_line - one.first_line) for one in source.definitions] == [
        ("def f()", source.lines - 3),
        ("def g()", 1),
    ]


def test_more_definitions_than_an_outline_keeps_are_said() -> None:
    """Omitted definitions are reported."""
    code = "def f():\n" + " def g(): pass\n" * 60_000 + "x = (\n"
    report = check_code(code, "python", "generation")
    assert not report.sources[0].is_complete
    assert "more definitions than are looked at" in str(report)


def test_a_report_says_its_numbers_first_and_what_is_above_a_cap() -> None:
    """Numbers come first, in whole sentences, with foreign names made inert."""
    source = measured((function(51, "def f():"),), "python", "a\x1b[31m.py")
    assert str(Report(kind="analysis", sources=(source,))) == (
        "51 lines of analysis: advised at most 100, allowed 500\n"
        "a\\x1b[31m.py: 51 lines of python, by syntax tree\n"
        "  function f, lines 1-51: 51 lines, allowed 50"
    )
    assert str(check_code(lines(301), "text", "refactoring")).startswith(
        "301 lines of refactoring: more than the 300 advised, allowed 1500\n"
    )
    assert str(check_code(lines(1501), "text", "refactoring")).startswith(
        "1501 lines of refactoring: above the cap of 1500\n"
    )


@pytest.mark.parametrize(("kind", "least", "most"), [("analysis", 2, 5), ("generation", 5, 15), ("refactoring", 3, 10)])
def test_response_times_are_held_against_what_is_usual(kind: Kind, least: float, most: float) -> None:
    """Both ends of the range are usual."""
    judged = [response_time(kind, seconds) for seconds in (0, least - 0.001, least, most, most + 0.001)]
    assert judged == ["faster", "faster", "usual", "usual", "slower"]


@pytest.mark.parametrize("seconds", [-0.1, float("nan"), float("inf")])
def test_a_time_that_cannot_be_is_an_error(seconds: float) -> None:
    """A negative time means that the clock went back, so nothing was measured."""
    with pytest.raises(CallerError, match="seconds from 0 on"):
        response_time("analysis", seconds)


def test_an_unknown_kind_of_work_names_those_there_are() -> None:
    """Every public function lists the kinds."""
    with pytest.raises(CallerError, match="analysis, generation, refactoring"):
        check_code("", "python", "poetry")  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="'poetry' is not a kind"):
        response_time("poetry", 1)  # type: ignore[arg-type]


CODE = st.lists(
    st.one_of(
        st.sampled_from(
            ["class A:", "def f():", "  async def g(self):", "    pass", "{", "}", "end", "function f() {"]
        ),
        st.text(max_size=12),
    ),
    max_size=40,
)


@given(CODE, st.sampled_from(["\n", "\r\n", "\r", "\u2028"]), st.sampled_from(LANGUAGES))
def test_any_text_is_measured(parts: list[str], end: str, language: str) -> None:
    """There is no exception, splits into blocks do not matter, and every definition is within the text."""
    text = end.join(parts)
    source = measured((text,), language)
    whole = text.removeprefix("\ufeff")
    assert source.lines == whole.count("\n") + (not whole.endswith("\n") and bool(whole))
    for one in source.definitions:
        assert 1 <= one.first_line <= one.last_line <= source.lines
    assert set(source.oversized) <= set(source.definitions)
    assert measured(list(text), language) == source
