"""Do two engines agree: RE2 if google-re2 is installed, and `re` in a child process if it is not?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Tools, Workspace
from penstock.errors import ToolError
from penstock.workspace import pattern as patterns
from penstock.workspace import re_child
from penstock.workspace.deadline import Deadline
from penstock.workspace.pattern import line_finder, selected
from penstock.workspace.re2_syntax import NotHere, UnreadablePattern, translate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

re2 = pytest.importorskip("re2", reason="google-re2, the judge of these tests, is not installed")

PIECES = [
    "a",
    "b",
    "k",
    "s",
    "é",
    "ſ",
    "K",
    "ß",
    ".",
    "^",
    "$",
    r"\b",
    r"\A",
    r"\z",
    "*",
    "+",
    "?",
    "*?",
    "{2}",
    "{1,2}",
    "{,2}",
]
PIECES += [
    "{0}",
    "{2,}",
    "(",
    ")",
    "(?:",
    "|",
    "[ab]",
    "[^a]",
    "[a-c]",
    r"[^\n]",
    "[[:alpha:]]",
    "[[:^digit:]]",
    r"\d",
    r"\w",
]
PIECES += [
    r"\W",
    r"\s",
    r"\S",
    r"\pL",
    r"\P{Lu}",
    r"\p{^Ll}",
    r"\Qa.b\E",
    r"\x61",
    r"\x{e9}",
    r"\101",
    r"\.",
    r"\n",
    "(?i)",
]
PIECES += [
    "(?i:",
    "(?s)",
    "(?m)",
    "(?U)",
    "(?-i)",
    "(?P<n>",
    "(?<m>",
    "[]a]",
    "[^]a]",
    "[a-]",
    r"\1",
    "(?=",
    "(?!",
    "(?<=x",
]
PIECES += [
    "(?>",
    "++",
    "**",
    r"\Z",
    r"\k",
    "[z-a]",
    "[[:foo:]]",
    "{1001}",
    r"\8",
    "\\",
    "[",
    r"\x",
    "-",
    "]",
    "}",
    "{",
    "µ",
]
PIECES += ["σ", r"[\d\s]", r"[\w.-]", r"[^\W]", r"\_", "(?P=n)", "(?#c)", "(?x)", r"\07", r"\018"]
LETTERS = [
    "a",
    "b",
    "k",
    "K",
    "s",
    "é",
    "É",
    "ſ",
    "\u212a",
    "ß",
    "ẞ",
    "\n",
    ".",
    " ",
    "_",
    "1",
    "-",
    "µ",
    "μ",
    "Σ",
    "ς",
    "ı",
    "İ",
]

expressions = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
data = st.lists(
    st.one_of(st.sampled_from(LETTERS).map(str.encode), st.sampled_from([b"\xff", b"\xc3", b"\r\n", b"aab"])),
    max_size=12,
).map(b"".join)


@pytest.fixture
def without_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide a machine on which `import re2` fails."""
    monkeypatch.setitem(sys.modules, "re2", None)
    assert not patterns.has_linear_engine()


def _judged(pattern: str, *, never_newline: bool) -> tuple[Callable[[bytes], object] | None, str]:
    options = re2.Options()
    options.log_errors, options.never_nl, options.never_capture = False, never_newline, True
    re2.purge()
    try:
        return re2.compile(pattern.encode(), options).search, ""
    except re2.error as error:
        raw = error.args[0]
        return None, raw.decode() if isinstance(raw, bytes) else str(raw)


@pytest.mark.proves("L-7")
@settings(max_examples=50)
@given(
    flags=st.sampled_from(["", "(?i)", "(?m)"]),
    pattern=expressions,
    texts=st.lists(data, max_size=6),
    newline=st.booleans(),
)
def test_both_engines_refuse_the_same_and_find_the_same(
    flags: str, pattern: str, texts: list[bytes], newline: bool
) -> None:
    """For any pattern of RE2's syntax over text, UTF-8 or not, both give the same place, no place, or no pattern."""
    judge, why = _judged(flags + pattern, never_newline=not newline)
    try:
        ours = re.compile(translate(flags + pattern, never_newline=not newline), re.ASCII | re.MULTILINE)
    except UnreadablePattern:
        assert judge is None
        return
    except NotHere:
        return
    assert judge is not None, why
    for raw in texts:
        text = raw.decode("utf-8", "surrogateescape")
        found, match = judge(raw), ours.search(text)
        assert (found is None) == (match is None), (raw, ours.pattern)
        if match is not None:
            places = tuple(len(text[:at].encode("utf-8", "surrogateescape")) for at in match.span())
            assert places == found.span(), (raw, ours.pattern)  # type: ignore[attr-defined]


@pytest.mark.proves("L-7")
def test_letters_match_in_either_case_as_re2_says() -> None:
    """Every letter with another case is tried against its variants and those that Python's own folding adds."""
    from penstock.workspace.re2_syntax import _orbits

    wrong, unknown = [], 0
    for code, orbit in _orbits().items():
        judge, _ = _judged(f"(?i)^{re.escape(chr(code))}$", never_newline=False)
        assert judge is not None
        same = {other for other in {*orbit, ord("i"), 0x130, 0x131} if judge(chr(other).encode()) is not None}
        if same == {code}:  # the other case of this letter is newer than the engine's Unicode
            unknown += 1
        elif same != orbit:
            wrong.append((code, sorted(orbit), sorted(same)))
    assert wrong == []
    assert unknown < 100


@pytest.mark.proves("L-7", "L-8")
@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=a)b", "lookaround"),
        ("(?<!a)b", "lookaround"),
        (r"(a)\1", "a backreference"),
        (r"a\K", r"escape sequence: \K. "),
        ("a{1001}", "a repetition above 1000"),
        ("a++", "a possessive quantifier"),
        ("(?>a)", "an atomic group"),
        ("(?(1)a)", "a conditional"),
        (r"(?P<n>a)(?P=n)", ""),
        ("a)(b", "unexpected )"),
        ("[a", "missing ]"),
        ("a**", "bad repetition operator"),
        ("(", "missing )"),
        ("*", "no argument"),
    ],
)
def test_what_is_refused_is_refused_in_the_same_words(pattern: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that moves between machines reads the same sentence."""
    heard = []
    for engine in (re2, None):
        monkeypatch.setitem(sys.modules, "re2", engine)
        with pytest.raises(ToolError) as refused:
            line_finder(pattern)
        heard.append((refused.value.code, refused.value.message))
    assert heard[0] == heard[1]
    assert said in heard[0][1]


@pytest.mark.proves("L-7")
@settings(max_examples=15)
@given(
    pattern=expressions,
    ignore_case=st.booleans(),
    lines=st.lists(data.map(lambda line: line.replace(b"\n", b"")), min_size=1, max_size=9),
    copies=st.sampled_from([1, 1, 400]),
    row=st.sampled_from([1, 2, 256]),
)
def test_a_search_continues_in_the_child_as_in_re2(
    pattern: str, ignore_case: bool, lines: list[bytes], copies: int, row: int
) -> None:
    """Lines in rows of any length, with marks of places, give the same matches."""
    block = (b"\n".join(lines) + b"\n") * copies
    found: list[list[tuple[int, int]]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(re_child, "_ROW", row)
        patch.setattr(re_child, "_STEP", 8)
        for engine in (re2, None):
            patch.setitem(sys.modules, "re2", engine)
            try:
                find = line_finder(pattern, ignore_case=ignore_case, deadline=Deadline(60))
            except ToolError:
                return
            at, matches = 0, []
            while at < len(block) and (span := find(block, at, len(block) - 1)) is not None:
                matches.append(span)
                at = block.find(b"\n", span[1]) + 1
            found.append(matches)
    assert found[0] == found[1]


@pytest.mark.proves("L-7")
@pytest.mark.parametrize("engine", [re2, None])
@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (r"\x41bcd", "Abcd"),
        (r"\x{41}bcd", "Abcd"),
        (r"\101bcd", "Abcd"),
        (r"\pLabc", "xabc"),
        (r"\p{L}abc", "xabc"),
        (r"\PLabc", "5abc"),
        (r"\pNabcd", "5abcd"),
    ],
)
def test_what_an_escape_takes_is_not_separate_text(
    pattern: str, line: str, engine: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that first looks for text contained in every match does not look for half of an escape."""
    monkeypatch.setitem(sys.modules, "re2", engine)
    block = f"-\n{line}\n".encode()
    assert line_finder(pattern)(block, 0, len(block) - 1) == (2, 2 + len(line))


@pytest.mark.proves("L-7")
@pytest.mark.parametrize("engine", [re2, None])
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"\s$", [2]),
        (r"[^a-z]$", [2]),
        (r"^.$", [4]),
        (r"e.*$", [1, 5]),
        (r"[^x]*", [1, 2, 3, 4, 5]),
        (r"ee\B", []),
        (r"\s{2}", []),
        (r"\r", [1, 2, 3, 4, 5]),
        (r"[ab]\x0d$", [4]),
        (r"h\s", [5]),
    ],
)
def test_the_carriage_return_of_a_line_end_is_not_part_of_the_line(
    pattern: str, found: list[int], engine: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a pattern that names one finds it; one within a line is text."""
    monkeypatch.setitem(sys.modules, "re2", engine)
    lines = [b"one", b"two ", b"", b"a", b"th\ree"]
    block = b"".join(line + b"\r\n" for line in lines)
    find, at, numbers = line_finder(pattern), 0, []
    while at < len(block) and (span := find(block, at, len(block) - 1)) is not None:
        numbers.append(block.count(b"\n", 0, span[0]) + 1)
        at = block.find(b"\n", span[1]) + 1
    assert numbers == found


@pytest.mark.proves("L-7")
def test_names_are_chosen_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing with a regular expression selects names with line feeds, with invalid bytes, or none at all."""
    names = ["a.py", "b.txt", "new\nline.py", os.fsdecode(b"\xff.py"), "é.py"]
    for pattern in (r"\.py$", "^.\\.", "é", "(?s)w.l", "[^a].py"):
        kept = []
        for engine in (re2, None):
            monkeypatch.setitem(sys.modules, "re2", engine)
            select = selected(pattern, use_regex=True).takes
            assert select is not None
            kept.append([select("d/", names), select("", []), select("", names)])
        assert kept[0] == kept[1], pattern


@pytest.mark.proves("L-7", "L-9")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)*b", "(x+x+)+y"])
@pytest.mark.usefixtures("without_re2")
def test_no_pattern_hangs_the_child_for_longer_than_the_call_has(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns that are catastrophic for backtracking end at the deadline, with the reason, and leave no process behind."""
    children: list[int] = []
    end = re_child._end

    def noted(child: int) -> None:
        children.append(child)
        end(child)

    monkeypatch.setattr(re_child, "_end", noted)
    find = line_finder(pattern, deadline=Deadline(0.3))
    begun = time.monotonic()
    with pytest.raises(ToolError, match="google-re2") as ended:
        find(b"a" * 40 + b"!" + b"x" * 60 + b"\n", 0, 101)
    assert ended.value.code == "deadline"
    assert time.monotonic() - begun < 20
    with pytest.raises(ToolError):  # and stays ended: it is not restarted for the next block
        find(b"a" * 40 + b"!\n", 0, 41)
    (child,) = children
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.proves("L-7", "L-9")
@pytest.mark.usefixtures("without_re2")
def test_what_was_found_before_the_end_is_an_answer(tmp_path: Path) -> None:
    """A catastrophe in the second file leaves the first file's lines, and the answer says that the engine ended."""
    (tmp_path / "a.txt").write_text("aaa\n")
    (tmp_path / "b.txt").write_text("a" * 40 + "!\n")
    found = Workspace(tmp_path).search("(a+)+$", deadline=Deadline(0.5))
    assert (found.total, found.complete, found.engine_ended) == (1, False, True)
    (tmp_path / "a.txt").unlink()
    with pytest.raises(ToolError, match="came to no end"):
        Workspace(tmp_path).search("(a+)+$", deadline=Deadline(0.5))


@pytest.mark.proves("L-7")
@pytest.mark.usefixtures("without_re2")
def test_the_tools_search_without_re2(tmp_path: Path) -> None:
    """Matches, their page and their counts are those of RE2, from threads too."""
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("one\ntwo words\nthree é words\n")
    expected = Tools(tmp_path).call("search", {"pattern": r"w\w+s$"}).text
    sys.modules["re2"] = re2
    assert Tools(tmp_path).call("search", {"pattern": r"w\w+s$"}).text == expected
    sys.modules["re2"] = None  # type: ignore[assignment]
    heard: list[str] = []
    threads = [
        threading.Thread(target=lambda: heard.append(Tools(tmp_path).call("search", {"pattern": r"w\w+s$"}).text))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [expected] * 4


@pytest.mark.proves("L-9")
def test_a_child_ends_when_its_parent_is_killed() -> None:
    """This happens in the middle of a catastrophe, a second after the deadline."""
    work = """
import sys
sys.modules["re2"] = None
from penstock.workspace.deadline import Deadline
from penstock.workspace.pattern import line_finder
import os, threading
find = line_finder("(a+)+$", deadline=Deadline(1.0))
find(b"aaa!\\n", 0, 4)  # the child is there
threading.Timer(0.2, lambda: (os.write(1, b"%d" % find.__self__._child), os.kill(os.getpid(), 9))).start()
find(b"a" * 40 + b"!\\n", 0, 41)
"""
    said = subprocess.run([sys.executable, "-c", work], capture_output=True, check=False)
    child = int(said.stdout)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(ProcessLookupError):
            os.kill(child, 0)
            time.sleep(0.05)
            continue
        return
    pytest.fail(f"{child} still runs")


@pytest.mark.usefixtures("without_re2")
def test_the_reason_is_given_if_no_child_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows without google-re2, literal text is still found."""
    monkeypatch.setattr(re_child, "can_run", lambda: False)
    with pytest.raises(ToolError, match="literal=True"):
        line_finder("a+")
    assert line_finder("a+", literal=True)(b"xa+\n", 0, 3) == (1, 3)
