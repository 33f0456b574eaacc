"""Does search find the lines that rg finds, on a page, whatever the pattern and the files are made of?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sockets import bind_in

from penstock.errors import ToolError
from penstock.workspace import searching
from penstock.workspace.deadline import Deadline
from penstock.workspace.root import Root
from penstock.workspace.searching import MAX_LINE_CHARS, FileCount, Search, search
from penstock.workspace.walk import Omitted

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.workspace.system import Folder

NEVER = Deadline(None)
ATOMS = [
    "a",
    "b",
    "ab",
    ".",
    "[ab]",
    "[^a]",
    "(a|bb)",
    "a*",
    "b+?",
    "^",
    "$",
    "^a",
    "b$",
    "(?i)AB",
    "x?",
    r"\d",
]
ATOMS += ["abab", "bab+", r"\$ab", "aab?", "Bxx"]
ATOMS += [r"\s", "(a+)+$", "é", "[^é]", "(?s).", "a{2,3}", "|"]


def tree(root: Path, **files: bytes | str) -> Root:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Root(root)


def ripgrep(root: Path, pattern: str, *flags: str) -> list[tuple[str, int, int]]:
    """Return (path, line, offset of the line) as rg sees them."""
    command = ["rg", "--json", "--sort", "path", "--no-config", "--no-require-git", *flags, "-e", pattern, "."]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    found = [event["data"] for event in events if event["type"] == "match"]
    return [(data["path"]["text"][2:], data["line_number"], data["absolute_offset"]) for data in found]


def places(result: Search) -> list[tuple[str, int, int]]:
    return [(match.path, match.line, match.start_byte) for match in result.matches]


@pytest.mark.proves("L-7")
@pytest.mark.needs("rg")
@settings(max_examples=37)
@given(
    contents=st.lists(st.text("ab \nABxé.$0", max_size=30), min_size=1, max_size=3),
    pattern=st.one_of(
        st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).map("".join), st.text("ab.$é", min_size=1)
    ),
    literal=st.booleans(),
    ignore_case=st.booleans(),
    block=st.integers(1, 40),
)
def test_rg_and_we_find_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory,
    contents: list[str],
    pattern: str,
    literal: bool,
    ignore_case: bool,
    block: int,
) -> None:
    """This covers any text, in blocks of any size, for the syntax that both engines share."""
    root = tmp_path_factory.mktemp("tree")
    for number, content in enumerate(contents):
        (root / f"{number}.txt").write_text(content, newline="")
    flags = ["-F"] * literal + ["-i"] * ignore_case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_BLOCK", block)
        with closing(Root(root)) as opened:
            found = search(opened, pattern, literal=literal, ignore_case=ignore_case, limit=1000, deadline=NEVER)
    assert places(found) == ripgrep(root, pattern, *flags)
    assert found.total == len(found.matches)
    assert found.complete
    assert found.scanned_bytes == found.total_bytes == sum(len(content.encode()) for content in contents)


@pytest.mark.proves("L-7", "L-5")
@pytest.mark.needs("rg")
def test_rg_and_we_look_into_the_same_files(tmp_path: Path) -> None:
    """This covers hidden and ignored files, globs, binary files and nested folders."""
    root = tree(
        tmp_path,
        a_py="hit\n",
        b_txt="hit\nno\nhit",
        src__c_py="no\n\nhit hit\n",
        src__deep__d_py="hit",
        build__e_py="hit",
        _hidden_py="hit",
        binary_py=b"hit\n\0",
        crlf_py="hit\r\nhit\r\n",
        _gitignore="build/\n",
    )
    everything = search(root, "hit", deadline=NEVER)
    assert places(everything) == ripgrep(tmp_path, "hit")
    assert everything.omitted == Omitted(hidden=2, ignored=1)
    assert (everything.binary, everything.searched_files) == (1, 5)
    assert everything.files == (
        FileCount("a.py", 1),
        FileCount("b.txt", 2),
        FileCount("crlf.py", 2),
        FileCount("src/c.py", 1),
        FileCount("src/deep/d.py", 1),
    )
    only = search(root, "hit", glob="*.py", include_hidden=True, include_ignored=True, deadline=NEVER)
    assert places(only) == ripgrep(tmp_path, "hit", "-uu", "-g", "*.py")
    assert places(search(root, "hit", "src/deep", deadline=NEVER)) == [("src/deep/d.py", 1, 0)]
    assert places(search(root, "hit", "src/c.py", deadline=NEVER)) == [("src/c.py", 3, 4)]


@pytest.mark.proves("L-7")
@given(
    text=st.text("ab\n", max_size=40),
    offset=st.integers(0, 12),
    limit=st.integers(1, 5),
    context=st.integers(0, 3),
    block=st.integers(1, 30),
)
def test_pages_of_matches_are_slices_with_their_neighbours(
    tmp_path_factory: pytest.TempPathFactory, text: str, offset: int, limit: int, context: int, block: int
) -> None:
    """Every page is the slice of all matching lines, with the lines around each, wherever blocks end."""
    root = tmp_path_factory.mktemp("tree")
    (root / "f").write_text(text)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    numbers = [number for number, line in enumerate(lines) if "a" in line]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_BLOCK", block)
        with closing(Root(root)) as opened:
            found = search(opened, "a", literal=True, context_lines=context, offset=offset, limit=limit, deadline=NEVER)
    page = numbers[offset : offset + limit]
    assert [match.line - 1 for match in found.matches] == page
    assert [match.text for match in found.matches] == [lines[number] for number in page]
    assert [list(match.before) for match in found.matches] == [lines[max(0, n - context) : n] for n in page]
    assert [list(match.after) for match in found.matches] == [lines[n + 1 : n + 1 + context] for n in page]
    assert [match.start_byte for match in found.matches] == [sum(len(line) + 1 for line in lines[:n]) for n in page]
    assert found.total == len(numbers)
    assert found.next_offset == (offset + limit if offset + limit < len(numbers) else None)
    assert found.files == ((FileCount("f", len(numbers)),) if numbers else ())


@pytest.mark.proves("L-7")
def test_words_digits_and_spaces_are_those_of_ascii(tmp_path: Path) -> None:
    """RE2 defines them so, unlike rg, which uses Unicode; letters outside ASCII are named by `\\pL`."""
    root = tree(tmp_path, f="\u00e9ab\n\u0661\nxab\n")
    for pattern, expected in {r"\bab\b": [1], r"^\d": [], r"^\w": [3], r"^\pL": [1, 3], r"^\PL": [2]}.items():
        assert [match.line for match in search(root, pattern, deadline=NEVER).matches] == expected


@pytest.mark.proves("L-7")
def test_a_line_end_of_two_bytes_is_a_line_end(tmp_path: Path) -> None:
    """`$` matches before `\\r\\n`, and the carriage return is not shown; elsewhere it is text."""
    root = tree(tmp_path, f="one\r\ntwo\r\n\r\nth\rree\n")
    found = search(root, "o$", deadline=NEVER)
    assert [(match.line, match.text) for match in found.matches] == [(2, "two")]
    assert [match.line for match in search(root, "^$", deadline=NEVER).matches] == [3]
    assert [match.text for match in search(root, "th", deadline=NEVER).matches] == ["th\\x0dree"]
    assert [match.line for match in search(root, r"[$]|\$|\Qo$\E", deadline=NEVER).matches] == []


@pytest.mark.proves("L-7")
def test_the_ends_of_the_text_are_the_ends_of_a_line(tmp_path: Path) -> None:
    """A line is the whole text that a pattern sees, whatever it is anchored to."""
    root = tree(tmp_path, f="ab\nba\r\nab")
    for pattern, expected in {r"\Aa": [1, 3], r"a\z": [2], r"(?-m)^b": [2], r"(?i-m:A$)": [2], r"\Qa\E\z": [2]}.items():
        assert [match.line for match in search(root, pattern, deadline=NEVER).matches] == expected


@pytest.mark.proves("L-7", "L-9")
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)*b", "(.*)(.*)(.*)(.*)(.*)[^a]x", "(x+x+)+y", "a{1000}{1}b|(a?){1000}c"]
)
def test_no_pattern_can_hang_us(tmp_path: Path, pattern: str) -> None:
    """These are catastrophic for backtracking; the timeout of the suite decides."""
    root = tree(tmp_path, f="a" * 100_000 + "!\n" + "x" * 50_000)
    with suppress(ToolError):  # RE2 refuses what would take too much memory
        search(root, pattern, deadline=NEVER)


@pytest.mark.proves("L-7", "L-8")
@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=a)b", "lookaround"),
        (r"(a)\1", "backreference"),
        ("a{1001}", "above 1000"),
        ("a)(b", "unexpected )"),
        ("", "empty"),
        ("a\nb", "one line"),
        (r"a\nb", "one line"),
        ("a" * 1025, "1024"),
        ("\ud800", "UTF-16"),
    ],
)
def test_a_pattern_that_cannot_be_searched_is_refused_with_its_reason(tmp_path: Path, pattern: str, said: str) -> None:
    """It is refused by name, before any file is opened; flags that we add are not echoed."""
    with pytest.raises(ToolError, match=said.replace(")", r"\)")) as refused:
        search(Root(tmp_path), pattern, ignore_case=True, deadline=NEVER)
    assert refused.value.code == "bad_pattern"
    assert "(?i)" not in refused.value.message


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_files_that_say_how_they_are_encoded_are_decoded(tmp_path: Path, encoding: str) -> None:
    """Offsets are those of the file; the mark at its beginning is not text."""
    lines = ["first é 𝄞", "second", "", "third 𝄞 second", "last"]
    raw = ("\ufeff" + "\n".join(lines)).encode(encoding)
    root = tree(tmp_path, f=raw)
    found = search(root, "^first|second$", context_lines=1, deadline=NEVER)
    assert [match.text for match in found.matches] == ["first é 𝄞", "second", "third 𝄞 second"]
    assert [match.start_byte for match in found.matches] == [
        len(("\ufeff" + "".join(line + "\n" for line in lines[:number])).encode(encoding)) for number in (0, 1, 3)
    ]
    assert found.matches[1].before == ("first é 𝄞",)
    assert found.matches[2].after == ("last",)
    assert found.binary == 0


@pytest.mark.proves("L-7", "L-10")
@given(
    lead=st.integers(0, 3000),
    tail=st.integers(0, 3000),
    letter=st.sampled_from(["a", "é", "𝄞", "\x1b", "\udcff", "\\"]),
)
def test_a_wide_line_is_clipped_around_its_match(
    tmp_path_factory: pytest.TempPathFactory, lead: int, tail: int, letter: str
) -> None:
    """It has at most 400 characters, including the match, no half characters, and nothing that controls a terminal."""
    root = tmp_path_factory.mktemp("tree")
    raw = os.fsencode(letter * lead + "<match>" + letter * tail)
    (root / "f").write_bytes(b"x\n" + raw + b"\n")
    with closing(Root(root)) as opened:
        match = search(opened, "<match>", literal=True, deadline=NEVER).matches[0]
    assert "<match>" in match.text
    assert match.text.isprintable()
    assert len(match.text) <= MAX_LINE_CHARS
    shown = {"\x1b": 4, "\udcff": 4}.get(letter, 1)
    assert match.clipped == (7 + shown * (lead + tail) > MAX_LINE_CHARS)
    if letter in "aé𝄞":
        assert set(match.text) <= set(letter + "<match>")


@pytest.mark.proves("L-9")
@given(before=st.integers(0, 300), after=st.integers(0, 300), block=st.integers(8, 64), anchor=st.sampled_from("^$ "))
def test_a_line_wider_than_memory_is_searched_in_pieces_and_said_to_be(
    tmp_path_factory: pytest.TempPathFactory, before: int, after: int, block: int, anchor: str
) -> None:
    """It counts once, its anchors are those of the whole line, and the lines after it keep their numbers."""
    root = tmp_path_factory.mktemp("tree")
    wide = "é" * before + "needle" + "a" * after + "needle"
    (root / "f").write_text(f"x\n{wide}\nneedle\n")
    pattern = {"^": "^needle", "$": "needle$", " ": "needle"}[anchor]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_BLOCK", block)
        patch.setattr(searching, "_MAX_LINE", 64)
        patch.setattr(searching, "_OVERLAP", 16)
        with closing(Root(root)) as opened:
            found = search(opened, pattern, deadline=NEVER)
    expected = [3] if anchor == "^" and before else [2, 3]
    assert [match.line for match in found.matches] == expected
    assert [match.start_byte for match in found.matches] == [
        {2: 2, 3: 3 + len(wide.encode())}[line] for line in expected
    ]
    assert found.complete == (not found.partial_files)
    if len(wide) > 64 + 2 * block:
        assert found.partial_files == ("f",)


@pytest.mark.proves("L-9")
def test_a_file_larger_than_its_budget_is_searched_in_part_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a sparse terabyte, the answer says how little of it was scanned."""
    monkeypatch.setattr(searching, "MAX_SCAN_BYTES", 1 << 20)
    root = tree(tmp_path, big=b"hit" + b"." * 10_000 + b"\n", small="hit\n")
    os.truncate(tmp_path / "big", 1 << 40)
    found = search(root, "hit", deadline=NEVER)
    assert (found.total, found.partial_files, found.complete) == (2, ("big",), False)
    assert found.scanned_bytes < 3 << 20
    assert found.total_bytes == (1 << 40) + 4


@pytest.mark.proves("L-7", "L-8", "L-9")
def test_what_must_not_be_read_is_skipped_and_counted(tmp_path: Path) -> None:
    """These are secrets by name, also behind links; binary files; FIFOs, sockets; links that lead out."""
    (tmp_path / "out").write_text("hit")
    inside = tmp_path / "root"
    root = tree(inside, a="hit", server_pem="hit", nul=b"\0hit", d__id_rsa="hit")
    os.rename(inside / "d/id.rsa", inside / "d/id_rsa")
    (inside / "key").symlink_to("server.pem")
    (inside / "again").symlink_to("a")
    (inside / "leak").symlink_to("../out")
    os.mkfifo(inside / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        bind_in(inside, server)
        found = search(root, "hit", deadline=NEVER)
    assert [match.path for match in found.matches] == ["a", "again"]
    assert (found.secret, found.binary) == (3, 1)
    assert found.omitted == Omitted(special=2, links=1)
    assert found.complete
    for path, code in {
        "server.pem": "secret",
        "fifo": "not_regular_file",
        "leak": "outside_root",
        "../out": "outside_root",
        "nowhere": "not_found",
    }.items():
        with pytest.raises(ToolError) as refused:
            search(root, "hit", path, deadline=NEVER)
        assert refused.value.code == code


@pytest.mark.proves("L-9")
def test_files_that_vanish_or_are_denied_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search continues. The system's errors are simulated, because root may read everything."""
    root = tree(tmp_path, a="hit", b="hit", c="hit", d="hit")
    real = Root.open_entry

    def open_entry(self: Root, folder: Folder, name: bytes | str) -> int:
        if os.fsdecode(name) == "a":
            raise FileNotFoundError(2, "gone")
        if os.fsdecode(name) == "b":
            raise PermissionError(13, "no")
        if os.fsdecode(name) == "c":  # a folder by now: it opens, and reading fails
            return os.open(tmp_path, os.O_RDONLY)
        return real(self, folder, name)

    monkeypatch.setattr(Root, "open_entry", open_entry)
    found = search(root, "hit", deadline=NEVER)
    assert [match.path for match in found.matches] == ["d"]
    assert found.omitted == Omitted(vanished=1, denied=2)


@pytest.mark.proves("L-7", "L-9")
def test_counts_are_kept_for_a_bounded_number_of_files(tmp_path: Path) -> None:
    """The first hundred by path are listed; the others are counted."""
    root = tree(tmp_path, **{f"f{number:03}": "hit\nhit\n" for number in range(130)})
    found = search(root, "hit", limit=3, deadline=NEVER)
    assert len(found.matches) == 3
    assert (len(found.files), found.more_files, found.total) == (100, 30, 260)
    assert found.next_offset == 3
    assert search(root, "hit", offset=259, limit=3, deadline=NEVER).next_offset is None


@pytest.mark.proves("L-9")
def test_a_deadline_leaves_what_was_found_and_says_so(tmp_path: Path) -> None:
    """It may end between files and within one."""
    root = tree(tmp_path, **{f"f{number:02}": "hit\n" * 10_000 for number in range(20)})
    nothing = search(root, "hit", deadline=Deadline(0))
    assert (nothing.complete, nothing.total_bytes) == (False, None)

    class Soon(Deadline):
        asked = 0

        @property
        def passed(self) -> bool:
            self.asked += 1
            return self.asked > 20

    some = search(root, "hit", limit=5, deadline=Soon(None))
    assert not some.complete
    assert len(some.matches) == 5
    assert 5 < some.total < 200_000
    assert some.next_offset == 5


@pytest.mark.proves("L-9")
def test_progress_is_told_how_many_files_were_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report comes occasionally."""
    monkeypatch.setattr(searching, "_REPORT", 2)
    seen: list[int] = []
    root = tree(tmp_path, a="x", b="x", c="x", d="x", e="x")
    search(root, "x", deadline=NEVER, progress=seen.append)
    assert seen == [2, 4]


@pytest.mark.proves("L-8")
@pytest.mark.parametrize(("name", "number", "least"), [("offset", -1, 0), ("limit", 0, 1), ("context_lines", -1, 0)])
def test_a_value_call_searches_nothing_for_a_number_that_no_page_has(
    tmp_path: Path, name: str, number: int, least: int
) -> None:
    """With `limit=0` the page was empty, complete and without a next one, so that the matches could never be reached."""
    numbers: dict[str, Any] = {name: number}
    with pytest.raises(ToolError, match=f"{name}: takes an integer from {least} on, not {number}"):
        search(Root(tmp_path), "a", **numbers, deadline=NEVER)
