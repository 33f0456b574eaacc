"""The laws of outlines, for any bytes, any language and any chunking."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.outline import Outline, outline, scan
from penstock.outline.grammar import GRAMMARS

LANGUAGES = [
    "python",
    "javascript",
    "typescript",
    "tsx",
    "go",
    "java",
    "c",
    "cpp",
    "csharp",
    "rust",
    "ruby",
    "php",
    "shell",
    "sql",
    "cobol",
    "markdown",
    "json",
    "yaml",
    "toml",
    "ini",
    "text",
]

WORDS = [
    "\n",
    " ",
    "    ",
    "\t",
    "\r\n",
    "class A",
    "def f(a):",
    "async def g():",
    "{",
    "}",
    "(",
    ")",
    ";",
    "'",
    '"',
    '"""',
    "'''",
    "`",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "<<EOF",
    "EOF",
    "=begin",
    "=end",
    "end",
    "function f() ",
    "func (a *B) c() ",
    "fn x() ",
    "struct S ",
    "impl T ",
    "interface I ",
    "enum E ",
    "=> ",
    "const a = (b) => ",
    "public int m() ",
    "namespace n ",
    "#define X ",
    "#if A",
    "CREATE TABLE t ",
    "CREATE FUNCTION f ",
    "$$",
    "$a$",
    "# head",
    "## sub",
    "===",
    "---",
    "```",
    "~~~",
    "<!--",
    "-->",
    "key: ",
    "- a: ",
    "  b: ",
    "",
    "- ",
    "[table]",
    "[[t]]",
    "k = 1",
    '"k": ',
    "[",
    "]",
    ",",
    "       PROCEDURE DIVISION.",
    "       ID DIVISION.",
    "       PROGRAM-ID. P.",
    "       END PROGRAM P.",
    "       S SECTION.",
    "       PARA.",
    "      *",
    "           EXIT.",
    "       01  D.",
    "<?php ",
    "?>",
    "é",
    "\u2028",
    "\x0c",
    "x",
]

sources = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=60).map(lambda words: "".join(words).encode()),
    st.lists(st.sampled_from(WORDS), max_size=40).map(lambda words: "\n".join(words).encode()),
    st.binary(max_size=300),
)


def assert_lawful(source: bytes, found: Outline) -> None:
    """Check 1 <= start <= end <= total, line order, and that every child is within its parent."""
    assert found.total_lines == source.count(b"\n") + (source[-1:] not in {b"", b"\n"})
    around: list[tuple[int, int]] = []
    for before, symbol in zip((None, *found.symbols), found.symbols, strict=False):
        assert 1 <= symbol.start_line <= symbol.end_line <= found.total_lines
        assert before is None or before.start_line <= symbol.start_line
        assert symbol.depth <= len(around), "a depth is never skipped"
        del around[symbol.depth :]
        if around:
            assert around[-1][0] <= symbol.start_line
            assert symbol.end_line <= around[-1][1]
        around.append((symbol.start_line, symbol.end_line))
        assert len(symbol.name) <= 120
        assert len(symbol.name.splitlines()) <= 1


@pytest.mark.proves("B-11")
@settings(max_examples=50)
@given(sources, st.sampled_from(LANGUAGES), st.lists(st.integers(0, 400), max_size=6))
def test_any_bytes_have_an_outline_that_nests_and_does_not_depend_on_chunks(
    source: bytes, language: str, cuts: list[int]
) -> None:
    """Wherever any bytes are split, the scanner gives the same lawful outline."""
    whole = outline(source, language, exact=False)
    assert_lawful(source, whole)
    edges = [0, *sorted(min(cut, len(source)) for cut in cuts), len(source)]
    chunks = [source[start:end] for start, end in itertools.pairwise(edges)]
    assert scan(chunks, language) == whole
    assert scan((bytes([byte]) for byte in source), language) == whole


@pytest.mark.proves("B-11")
@settings(max_examples=25)
@given(sources, st.sampled_from(sorted(GRAMMARS)))
def test_exact_outlines_keep_the_same_laws(source: bytes, language: str) -> None:
    """Tree-sitter's outline of a broken source is lawful and the same each time."""
    found = outline(source, language)
    assert_lawful(source, found)
    assert outline(source, language) == found


@pytest.mark.proves("B-11")
@settings(max_examples=15)
@given(
    st.sampled_from(LANGUAGES),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
    st.lists(st.integers(1, 400_000), min_size=1, max_size=4),
)
def test_chunks_do_not_matter_across_blocks(language: str, words: list[str], sizes: list[int]) -> None:
    """Chunking also does not matter for sources of several blocks, with lines longer than a block."""
    source = ("\n".join(words) * 2_000).encode()[:600_000] + b"x" * 300_000 + b"\n" + "\n".join(words).encode()
    whole = outline(source, language, exact=False)
    assert_lawful(source, whole)
    chunks: list[bytes] = []
    start = 0
    while start < len(source):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(source[start : start + max(size, 5_000)])
        start += max(size, 5_000)
    assert scan(chunks, language) == whole
