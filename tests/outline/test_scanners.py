"""Are outlines of small awkward sources those of their snapshots, and does nothing else become a landmark?"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from penstock.cobol import scan as scan_cobol
from penstock.cobol.words import SENTENCES
from penstock.outline import MAX_SYMBOLS, Outline, Scanner, language_of, outline, scan

SAMPLES = Path(__file__).parent / "samples"
SOURCES = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".outline")


def shown(found: Outline) -> list[str]:
    """Return an outline in the form of its snapshot."""
    return [
        f"# {found.language}, {found.method}, {found.total_lines} lines",
        *(f"{'  ' * s.depth}{s.start_line}-{s.end_line} {s.kind}: {s.name}" for s in found.symbols),
    ]


@pytest.mark.proves("B-11")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_outline_of_a_sample_is_the_recorded_one(path: Path) -> None:
    """Both makers report what the snapshot of each sample says."""
    data = path.read_bytes()
    language = language_of(path.name, data)
    lines = shown(outline(data, language, exact=False))
    exact = outline(data, language)
    if exact.method == "tree-sitter":
        lines += shown(exact)
    assert lines == Path(f"{path}.outline").read_text(encoding="utf-8").splitlines()


@pytest.mark.proves("B-11")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_definition_in_a_string_or_a_comment_is_no_landmark(path: Path) -> None:
    """Every sample hides definitions called fake in places where none count."""
    data = path.read_bytes()
    for exact in (False, True):
        names = [symbol.name.lower() for symbol in outline(data, language_of(path.name, data), exact=exact).symbols]
        assert not [name for name in names if "fake" in name and "def fake(): pass" not in name]


@pytest.mark.proves("B-11")
def test_the_line_scanner_agrees_with_the_syntax_tree_of_python() -> None:
    """On a hundred modules of the standard library the starts agree to 98 % and the ends to 95 %."""
    folder = Path(os.__file__).parent
    modules = sorted(folder.glob("*.py"))[:100]
    wanted = matched = ends = extra = 0
    for module in modules:
        data = module.read_bytes()
        defined = {
            node.lineno: (node.name, node.end_lineno)
            for node in ast.walk(ast.parse(data))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        found = {symbol.start_line: symbol for symbol in outline(data, "python", exact=False).symbols}
        wanted += len(defined)
        extra += len(found.keys() - defined.keys())
        for line, (name, end) in defined.items():
            if line in found and name in found[line].name:
                matched += 1
                ends += found[line].end_line == end
    assert wanted > 3_000
    assert matched >= 0.98 * wanted
    assert extra <= 0.02 * wanted
    assert ends >= 0.95 * matched


@pytest.mark.proves("B-11")
def test_both_makers_agree_on_python() -> None:
    """On thirty modules of the standard library tree-sitter and the scanner agree on 98 % of the starts."""
    modules = sorted(Path(os.__file__).parent.glob("[a-d]*.py"))[:30]
    both = either = 0
    for module in modules:
        data = module.read_bytes()
        exact = outline(data, "python")
        if exact.method != "tree-sitter":
            pytest.skip("needs the grammars of penstock[languages]")
        starts = {(s.start_line, s.kind) for s in exact.symbols}
        scanned = {(s.start_line, s.kind) for s in outline(data, "python", exact=False).symbols}
        both += len(starts & scanned)
        either += len(starts | scanned)
    assert both >= 0.98 * either


HOSTILE = {
    "spaces": b" ",
    "newlines": b"\n",
    "parentheses": b"(",
    "braces": b"{",
    "closing braces": b"}",
    "both": b"({",
    "classes": b"class ",
    "functions": b"function a(){",
    "quotes": b'"',
    "triple quotes": b'"""',
    "apostrophes": b"'",
    "backslashes": b"\\",
    "backticks": b"`",
    "comments": b"/*",
    "slashes": b"/ ",
    "slashes behind parentheses": b"if(a)/",
    "slashes behind open heads": b"if(if(()/",
    "hashes": b"\n#",
    "here-documents": b"<<A\n",
    "templates": b"template <",
    "keys": b"\n a: ",
    "arrows": b"a => ",
    "paragraphs": b"\n       A",
    "NUL": b"\0",
    "long headers": b"a ," * 600 + b"{",
    "deep definitions": b"".join(b"\n" + b" " * (depth % 120) + b"def f():" for depth in range(1_000)),
}
LANGUAGES = [
    "python",
    "javascript",
    "typescript",
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


@pytest.mark.proves("B-11")
@pytest.mark.timeout(30)  # a tenth of a second, if each language is linear
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_repetition_ends_in_an_outline(name: str) -> None:
    """A line that could make a pattern hang is scanned to its end in every language."""
    unit = HOSTILE[name]
    data = (unit * (10_000 // len(unit) + 1))[:10_000]
    for language in LANGUAGES:
        assert outline(data, language, exact=False).total_lines == data.count(b"\n") + (data[-1:] != b"\n")


@pytest.mark.proves("B-11")
@pytest.mark.parametrize("unit", [b"({\n", b"fn a(\n", b"[\n", b"{\n", b"a<\n"])
def test_deep_nesting_is_left_to_the_scanner(unit: bytes) -> None:
    """Bytes that would overflow a parser's recursion never reach the parser."""
    found = outline(unit * 100_000, "java")
    assert found.method == "line scanner"


@pytest.mark.proves("B-11")
@pytest.mark.parametrize(
    "statement",
    [
        "if (a) /[{]/.test(b)",
        "if(f(g(a), ')', \"(\")) /[{]/.test(b)",
        "while (a)\t/[{]/.exec(b)",
        "for await (const a of b) /[{]/.exec(a)",
        "with (a) /[{]/.exec(b)",
        "x = (a + b) / 2; y = '{' / 2",
        "x = list.with(0, a) / (() => { return 1 / 2 })()",
        "x = $if(a) / (() => { return 1 / 2 })()",
    ],
)
def test_a_slash_after_a_parenthesis_divides_unless_a_statement_begins(statement: str) -> None:
    """A brace in a regular expression after the head of an `if` opens nothing, one between two divisions does."""
    source = f"function first(a, b) {{\n  {statement}\n}}\nfunction second() {{\n}}\n"
    found = outline(source.encode(), "javascript", exact=False)
    assert [(s.start_line, s.end_line) for s in found.symbols] == [(1, 3), (4, 5)]


@pytest.mark.proves("B-11")
def test_minified_code_is_left_to_the_scanner() -> None:
    """A line of many kilobytes is scanned: its ranges say little, and parsers are slowest there."""
    assert outline(b"function f(){return 1};" * 2_000, "javascript").method == "line scanner"


@pytest.mark.proves("B-11")
def test_too_many_landmarks_lose_their_deepest_and_say_so() -> None:
    """Above the cap methods are removed, classes stay, and the outline is marked as incomplete."""
    one = b"class A:\n    def f(self):\n        pass\n"
    found = outline(one * 30_000, "python", exact=False)
    assert not found.complete
    assert len(found.symbols) == 30_000
    assert {symbol.kind for symbol in found.symbols} == {"class"}
    flat = outline(b"def f(): pass\n" * (MAX_SYMBOLS + 5), "python", exact=False)
    assert len(flat.symbols) == MAX_SYMBOLS
    assert not flat.complete


@pytest.mark.proves("B-11")
def test_lines_end_at_newlines_only() -> None:
    """A lone carriage return, a form feed and U+2028 end no line, and a name shows none of them."""
    data = "x = 1\rdef no(): pass\r\n\x0c\u2028\nclass A:\r\n    def f(self,\u2028 b):\r\n        pass\r\n".encode()
    found = outline(data, "python", exact=False)
    assert found.total_lines == 5
    assert [(s.name, s.start_line, s.end_line) for s in found.symbols] == [
        ("class A", 3, 5),
        ("def f(self, b)", 4, 5),
    ]


@pytest.mark.proves("B-11")
def test_invalid_bytes_in_a_name_are_shown_escaped() -> None:
    """A name is text whatever its bytes are, and is clipped."""
    found = outline(b"# caf\xe9 " + b"x" * 500, "markdown")
    assert found.symbols[0].name.startswith("# caf\\xe9 xxx")
    assert len(found.symbols[0].name) == 120


@pytest.mark.proves("B-11")
def test_a_plain_text_says_that_it_is_one() -> None:
    """Without structure the blocks of a text are its landmarks, and they tile it."""
    data = b"".join(b"line %d\n" % n + (b"\n" if n % 7 == 0 else b"") for n in range(5_000))
    found = outline(data, "text")
    assert found.method == "plain text"
    assert 50 <= len(found.symbols) <= 200
    assert found.symbols[0].start_line == 1
    assert found.symbols[-1].end_line == found.total_lines
    for before, after in zip(found.symbols, found.symbols[1:], strict=False):
        assert before.end_line + 1 == after.start_line
    assert outline(data, "klingon").method == "plain text"


def test_a_log_without_blank_lines_is_divided_evenly() -> None:
    """Long blocks are split, so that a log has landmarks too."""
    found = outline(b"entry\n" * 1_000, "text")
    assert [symbol.start_line for symbol in found.symbols][:3] == [1, 101, 201]


def test_a_missing_grammar_leaves_the_line_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the outline comes from the scanner and says so."""
    from penstock.outline import grammar

    monkeypatch.setattr(grammar, "_languages", {"python": None})
    assert outline(b"def f():\n    pass\n", "python").method == "line scanner"


def test_a_stream_of_json_keys_does_not_depend_on_lines() -> None:
    """A document of several blocks on few lines keeps its keys and their ranges."""
    data = b'{"a": "' + b"x\\\\" * 200_000 + b'",\n "b": {"c": 1,\n  "d": [1,\n {"e": 2}]},\n "f": 3\n}'
    found = scan((data[start : start + 1000] for start in range(0, len(data), 1000)), "json")
    assert [(s.name, s.start_line, s.end_line, s.depth) for s in found.symbols] == [
        ("a", 1, 1, 0),
        ("b", 2, 4, 0),
        ("d", 3, 4, 1),
        ("[1]", 4, 4, 2),
        ("f", 5, 5, 0),
    ]


def test_a_scanner_is_fed_chunk_by_chunk() -> None:
    """The class behind `scan` can be used directly."""
    scanner = Scanner("go")
    scanner.feed(b"package p\nfunc f() ")
    scanner.feed(b"{\n}\n")
    assert [(s.name, s.end_line) for s in scanner.outline().symbols] == [("func f()", 3)]


@pytest.mark.parametrize(
    ("name", "head", "language"),
    [
        ("a/b.py", b"", "python"),
        ("B.PY", b"", "python"),
        ("x.h", b"struct a;\n", "c"),
        ("x.h", b"#pragma once\nnamespace a {", "cpp"),
        ("x.tsx", b"", "tsx"),
        ("run", b"#!/usr/bin/env python3\n", "python"),
        ("run", b"#!/bin/sh -e\n", "shell"),
        ("run", b"#!/usr/bin/node", "javascript"),
        ("PAYROLL", b"000100 IDENTIFICATION DIVISION.\n", "cobol"),
        ("PAY.CBL", b"", "cobol"),
        ("data", b'\xef\xbb\xbf{"a": 1}', "json"),
        ("data", b"---\na: 1\n", "yaml"),
        ("Cargo.lock", b"", "toml"),
        ("Gemfile", b"", "ruby"),
        (".py", b"", "text"),
        ("notes", b"hello", "text"),
        ("", b"", "text"),
        ("x.unknown", b"\xff\xfe", "text"),
    ],
)
def test_a_language_is_known_by_name_or_content(name: str, head: bytes, language: str) -> None:
    """Extension, file name, interpreter line or first bytes decide, in this order."""
    assert language_of(name, head) == language


def paragraphs(source: bytes) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the paragraphs of a COBOL source with their lines, as the streaming scanner and as the `cobol` room find them.

    An outline shows what is on debug lines, whether or not a program is compiled with them.
    """
    streamed = [
        (one.name, one.start_line) for one in outline(source, "cobol", exact=False).symbols if one.kind == "paragraph"
    ]
    whole = [
        (one.name, one.line)
        for program in scan_cobol(source, debug_lines=True)
        for one in program.paragraphs
        if one.name
    ]
    return streamed, whole


def test_a_sentence_of_one_word_is_no_paragraph_for_either_reader_of_cobol() -> None:
    """Both readers take the words from one table: a word alone with a period is a sentence or a header for both."""
    lines = [
        "       PROCEDURE DIVISION.",
        "       FIRST-ONE.",
        *(f"           {word}." for word in sorted(SENTENCES)),
        "       LAST-ONE.",
    ]
    streamed, whole = paragraphs("\n".join(lines).encode())
    assert streamed == whole
    assert [name for name, _ in whole] == ["FIRST-ONE", "LAST-ONE"]


def test_both_readers_find_the_same_paragraphs_in_an_estate() -> None:
    """The outline of each example program has the same paragraphs as its document, at the same lines."""
    for path in sorted((Path(__file__).parents[2] / "examples" / "cobol" / "cbl").iterdir()):
        streamed, whole = paragraphs(path.read_bytes())
        assert streamed == whole, path.name


def test_a_directive_changes_the_format_of_cobol_in_mid_file() -> None:
    """Code before the first directive is read by its columns; a directive before all code holds from the start."""
    fixed = "       PROGRAM-ID. A.\n       PROCEDURE DIVISION.\n       P1.\n           GOBACK.\n       END PROGRAM A.\n"
    free = "PROGRAM-ID. B.\nPROCEDURE DIVISION.\nP2.\n  GOBACK.\nEND PROGRAM B.\n"

    switched = fixed + "       >>SOURCE FORMAT IS FREE\n" + free
    for text, wanted in (
        (switched, ["P1", "P2"]),
        (switched + ">>SOURCE FIXED\n" + fixed, ["P1", "P2", "P1"]),
        ('      * a comment\n      $SET SOURCEFORMAT"FREE"\n' + free, ["P2"]),
    ):
        streamed, whole = paragraphs(text.encode())
        assert streamed == whole
        assert [name for name, _ in whole] == wanted
