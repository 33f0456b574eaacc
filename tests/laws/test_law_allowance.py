"""The law of allowances: every result is within its allowance, header, gutter, escapes and errors included."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Allowance, Tools, Workspace
from penstock.errors import CODES
from penstock.text import escape
from penstock.text.calls import PYTHON, CommandLine, Dialect, mcp
from penstock.text.tokens import Tokens
from penstock.tools import MIN_ALLOWANCE, TOOLS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("LAW-Allowance", "L-9")

NAMES = [
    b"plain.py",
    b"notes.md",
    b"new\nline.txt",
    b"\xff" * 255,
    "\u202e".encode() * 60 + b".py",
    b"[Files 1-2 of 2]",
    b"quote\"'back\\slash",
    b"x" * 255,
]
CONTENTS = [
    b"",
    b"def function():\n    pass\n\n" * 400,
    b"\x1b" * 5000 + b"\n" + b"\xff\n" * 900,
    "漢字かな交じり文\n".encode() * 900,
    b"x" * 400_000,
    b"\n" * 5000,
    "\ufeffwide 😀\r\n".encode("utf-16-le") * 500,
    b"binary\0" * 50,
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Make a workspace with every hostile content under every hostile name."""
    folder: Path = tmp_path_factory.mktemp("allowance")
    for number, content in enumerate(CONTENTS):
        inner = os.fsencode(folder) + b"/%d" % number
        os.mkdir(inner)
        for name in NAMES:
            with open(inner + b"/" + name, "wb") as file:
                file.write(content)
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "fifo")
    return Workspace(folder)


PATHS = st.one_of(
    st.tuples(st.integers(0, len(CONTENTS) - 1), st.sampled_from(NAMES)).map(
        lambda two: f"{two[0]}/{escape.show_name(two[1])}"
    ),
    st.sampled_from([".", "loop", "fifo", "..", "/etc/passwd", "1/plain.pyy", "1", "d/" * 900, "\n" * 300, ""]),
    st.text(max_size=50),
)
NUMBERS = st.one_of(st.none(), st.integers(-2, 400), st.sampled_from([5000, 2**63 - 1, 2**63, 10**400]))
LIMITS = st.one_of(st.integers(MIN_ALLOWANCE, 900), st.integers(MIN_ALLOWANCE, 30_000))
ALLOWANCES = st.one_of(
    LIMITS.map(Allowance.chars),
    LIMITS.map(Allowance.bytes),
    LIMITS.map(lambda limit: Allowance.tokens(limit, Tokens())),
)
DIALECTS: list[Dialect] = [PYTHON, mcp(), CommandLine(), CommandLine("a folder")]


@st.composite
def _calls(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    tool = draw(st.sampled_from([tool for tool in TOOLS if not tool.slow]))
    arguments: dict[str, object] = {}
    for parameter in tool.parameters:
        if parameter.name in {"path", "file_path"}:
            arguments[parameter.name] = draw(PATHS)
        elif parameter.kind == "integer" and draw(st.booleans()):
            arguments[parameter.name] = draw(NUMBERS)
        elif draw(st.integers(0, 9)) == 0:
            arguments[parameter.name] = draw(st.one_of(st.text(max_size=30), st.just("base64"), st.just("x" * 5000)))
    if draw(st.integers(0, 19)) == 0:
        arguments[draw(st.text(max_size=300))] = 1
    return tool.name, arguments


@given(call=_calls(), allowance=ALLOWANCES, dialect=st.sampled_from(DIALECTS))
def test_any_call_is_an_answer_or_a_named_error_within_its_allowance(
    workspace: Workspace, call: tuple[str, dict[str, object]], allowance: Allowance, dialect: Dialect
) -> None:
    """Any tool with any argument, name, content and unit stays within its allowance, and all its text is inert."""
    tool, arguments = call
    result = Tools(workspace, allowance=allowance, dialect=dialect).call(tool, arguments)
    assert allowance.holds(result.text)
    assert result.text
    assert result.is_error == (result.code in CODES)
    assert escape.show(result.text)[0] == result.text
    result.text.encode("utf-8")


@settings(max_examples=20)
@given(
    name=st.sampled_from(NAMES[:3]),
    number=st.integers(0, len(CONTENTS) - 2),
    limit=st.integers(700, 3000),
    start=st.integers(0, 20_000),
    unit=st.sampled_from([Allowance.chars, Allowance.bytes]),
)
def test_an_ordinary_name_always_gets_its_page(
    workspace: Workspace, name: bytes, number: int, limit: int, start: int, unit: type[Allowance]
) -> None:
    """From 700 characters on, a page always fits, whatever the content: it gets smaller instead."""
    path = f"{number}/{escape.show_name(name)}"
    tools = Tools(workspace, allowance=unit(limit))  # type: ignore[call-arg]
    calls: list[tuple[str, dict[str, object]]] = [
        ("view", {"file_path": path, "offset": start % 500}),
        ("read_file", {"path": path, "start_byte": start}),
        ("read_file", {"path": path, "start_line": start % 500}),
        ("read_file", {"path": path, "start_byte": start, "encoding": "base64"}),
        ("outline", {"path": path}),
    ]
    for tool, arguments in calls:
        result = tools.call(tool, arguments)
        assert not result.is_error, result.text
        assert unit(limit).holds(result.text)  # type: ignore[call-arg]


@given(st.text(), st.text())
def test_a_measure_never_falls_as_text_grows(text: str, more: str) -> None:
    """No unit measures a longer text as smaller."""
    for allowance in (Allowance.chars(1), Allowance.bytes(1), Allowance.tokens(1, Tokens())):
        assert allowance.measure(text) <= allowance.measure(text + more)
