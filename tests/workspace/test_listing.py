"""In pages of names and counts by extension, what is shown, what is counted, and what is refused?"""

from __future__ import annotations

import os
import re
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ToolError
from penstock.workspace import listing, walk
from penstock.workspace.deadline import Deadline
from penstock.workspace.listing import (
    MAX_FILES_PER_LIST,
    MAX_FILES_WARNING_THRESHOLD,
    ExtensionCount,
    Listing,
    ListingCounts,
    Omitted,
    count_files,
    list_files,
)
from penstock.workspace.pattern import MAX_PATTERN_BYTES, selected
from penstock.workspace.root import Root
from penstock.workspace.searching import search

if TYPE_CHECKING:
    from pathlib import Path

NEVER = Deadline(None)


def tree(root: Path, *names: str) -> Root:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x" * 10)
    return Root(root)


@pytest.mark.proves("L-1")
def test_a_folder_is_listed_without_its_folders(tmp_path: Path) -> None:
    """Only files are listed, sorted by bytes, relative to the root: each name opens its file."""
    root = tree(tmp_path, "b", "a", "B", "d/c", "d/e/f")
    assert list_files(root, deadline=NEVER).page.items == ("B", "a", "b")
    assert list_files(root, path="d", deadline=NEVER).page.items == ("d/c",)
    assert list_files(root, path="d", recursive=True, deadline=NEVER).page.items == ("d/c", "d/e/f")


@pytest.mark.proves("L-1")
def test_a_glob_may_be_written_out_as_an_absolute_path(tmp_path: Path) -> None:
    """It works within the listed folder, by either name of the root; elsewhere it finds nothing, and nothing outside."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    tree(tmp_path / "real", "a.py", "d/b.py", "d/e/c.py")
    root = Root(tmp_path / "link")
    for name in ("real", "link"):
        top = tmp_path / name
        assert list_files(root, f"{top}/*.py", deadline=NEVER).page.items == ("a.py",)
        assert list_files(root, f"{top}/d/**", path="d", deadline=NEVER).page.items == ("d/b.py", "d/e/c.py")
        assert count_files(root, pattern=f"{top}/**/*.py", deadline=NEVER).files == 3
        assert search(root, "x", glob=f"{top}/d/*.py", deadline=NEVER).searched_files == 1
    assert list_files(root, f"{tmp_path}/real/d/*.py", path="d/e", deadline=NEVER).page.items == ()
    assert list_files(root, f"{tmp_path}/**", deadline=NEVER).page.items == ()


@pytest.mark.proves("L-1")
@given(
    pattern=st.lists(st.sampled_from(["a", "b", "/", ".", "^", "$", "a*", "(a|b)", "[^a]"]), min_size=1, max_size=5),
    names=st.lists(st.text("ab.", min_size=1, max_size=4), max_size=8),
)
def test_a_regular_expression_is_searched_in_the_path(pattern: list[str], names: list[str]) -> None:
    """The standard engine and the linear one agree where they share a syntax."""
    text = "".join(pattern)
    try:
        expected = [name for name in names if re.search(text, "b/" + name)]
    except re.error:
        return
    try:
        takes = selected(text, use_regex=True).takes
    except ToolError:
        return
    assert takes is not None
    assert takes("b/", names) == expected


@pytest.mark.proves("L-2", "L-3")
def test_without_a_limit_there_are_twenty_and_with_one_never_more_than_a_hundred(tmp_path: Path) -> None:
    """The total is exact in both cases; `offset` skips."""
    root = tree(tmp_path, *(f"{number:03}" for number in range(130)))
    plain = list_files(root, deadline=NEVER).page
    assert (len(plain.items), plain.total, plain.next_offset) == (MAX_FILES_WARNING_THRESHOLD, 130, 20)
    page = list_files(root, limit=1000, deadline=NEVER).page
    assert (len(page.items), page.limit, page.next_offset) == (MAX_FILES_PER_LIST, MAX_FILES_PER_LIST, 100)
    page = list_files(root, offset=100, limit=50, deadline=NEVER).page
    assert page.items == tuple(f"{number:03}" for number in range(100, 130))
    assert page.next_offset is None
    page = list_files(root, offset=2**63 - 1, limit=50, deadline=NEVER).page
    assert (page.items, page.total, page.next_offset) == ((), 130, None)


@pytest.mark.proves("L-5")
def test_what_is_left_out_is_counted_and_can_be_asked_for(tmp_path: Path) -> None:
    """A folder counts once; a file counts if the pattern would have taken it."""
    root = tree(
        tmp_path, "a.py", ".hidden.py", ".cache/x.py", "build/y.py", "z.log", "w.log.py", ".git/config", "v.txt"
    )
    (tmp_path / ".gitignore").write_text("build/\n*.log\nw.*\n")

    def found(*, hidden: bool = False, ignored: bool = False) -> Listing:
        return list_files(root, "*.py", recursive=True, include_hidden=hidden, include_ignored=ignored, deadline=NEVER)

    assert found().page.items == ("a.py",)
    assert found().omitted == Omitted(hidden=3, ignored=2)
    assert found(hidden=True).page.items == (".cache/x.py", ".hidden.py", "a.py")
    assert found(hidden=True).omitted == Omitted(ignored=3)
    assert found(ignored=True).page.items == ("a.py", "build/y.py", "w.log.py")
    assert found(ignored=True).omitted == Omitted(hidden=3)
    assert found(hidden=True, ignored=True).omitted == Omitted()
    everything = list_files(root, recursive=True, include_hidden=True, include_ignored=True, deadline=NEVER)
    assert ".git/config" in everything.page.items
    assert list_files(root, deadline=NEVER).omitted == Omitted(hidden=2, ignored=2)


@pytest.mark.proves("L-4")
def test_counts_come_by_extension_most_files_first(tmp_path: Path) -> None:
    """Bytes are exact, also for sparse files; tokens are estimated from bytes and rounded up; links have a size too."""
    root = tree(tmp_path, "a.py", "b.py", "src/c.py", "README", "d.json", "e.tar.gz", ".profile")
    os.truncate(tmp_path / "d.json", 1 << 40)
    (tmp_path / "link.py").symlink_to("a.py")
    counts = count_files(root, deadline=NEVER)
    assert counts.by_extension == (
        ExtensionCount(".py", 4, 40, 11),
        ExtensionCount("(none)", 1, 10, 3),
        ExtensionCount(".gz", 1, 10, 3),
        ExtensionCount(".json", 1, 1 << 40, 209_430_786_244),
    )
    assert (counts.files, counts.bytes, counts.tokens) == (7, (1 << 40) + 60, 209_430_786_261)
    assert counts.complete
    assert counts.omitted == Omitted(hidden=1)
    hidden = count_files(root, include_hidden=True, deadline=NEVER)
    assert {row.extension: row.files for row in hidden.by_extension}["(none)"] == 2


@pytest.mark.proves("L-4")
def test_counting_without_sizes_calls_no_stat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Directory entries come with their kinds."""
    root = tree(tmp_path, "a.py", "d/b.py")
    monkeypatch.setattr(listing, "_size", None)
    counts = count_files(root, sizes=False, deadline=NEVER)
    assert counts == ListingCounts(2, 0, 0, (ExtensionCount(".py", 2, 0, 0),), Omitted(), complete=True)
    assert count_files(root, "d", sizes=False, deadline=NEVER).files == 1
    assert count_files(root, recursive=False, sizes=False, deadline=NEVER).files == 1


@pytest.mark.proves("L-4", "L-6")
def test_a_file_that_vanishes_before_its_size_is_known_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted as vanished."""
    root = tree(tmp_path, "a", "b")
    real = os.stat

    def stat(name: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        if name == "a":
            os.unlink(tmp_path / "a")
        return real(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat)
        counts = count_files(root, deadline=NEVER)
    assert (counts.files, counts.omitted) == (1, Omitted(vanished=1))


@pytest.mark.proves("L-4", "L-9")
def test_a_tree_of_nothing_but_extensions_has_a_bounded_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is one row, and the sum is exact."""
    monkeypatch.setattr(listing, "_MAX_EXTENSIONS", 5)
    counts = count_files(tree(tmp_path, *(f"f.{number}" for number in range(30))), deadline=NEVER)
    assert counts.by_extension[0] == ExtensionCount(listing.OTHER_EXTENSIONS, 25, 250, 70)
    assert (len(counts.by_extension), counts.files, counts.bytes) == (6, 30, 300)


@pytest.mark.proves("L-6")
def test_a_folder_of_many_files_takes_the_memory_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the folder; every page is right and the total exact."""
    monkeypatch.setattr(walk, "_HELD", 500)
    monkeypatch.setattr(walk, "_CHUNK", 500)
    folder = os.open(tmp_path, os.O_RDONLY)
    for number in range(20_000):
        os.mknod(f"{number:05}-{'n' * 200}", dir_fd=folder)
    os.close(folder)
    root = Root(tmp_path)
    list_files(root, limit=100, deadline=NEVER)
    for offset in (0, 450, 4950):
        tracemalloc.start()
        page = list_files(root, offset=offset, limit=100, deadline=NEVER).page
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [int(name[:5]) for name in page.items] == list(range(offset, offset + 100))
        assert page.total == 20_000
        assert peak < 2_000_000  # all names take more than 5,000,000
    assert count_files(root, sizes=False, deadline=NEVER).files == 20_000


@pytest.mark.proves("L-8", "L-9")
@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=a)", "lookaround"),
        ("(?<!a)b", "lookaround"),
        (r"(a)\1", "backreference"),
        ("(?P<n>a)(?P=n)", "backreference"),
        ("a{1001}", "above 1000"),
        ("(?>a)", "atomic"),
        ("a++", "possessive"),
        ("[b", "missing ]"),
        ("a)", "unexpected )"),
        ("*", "no argument"),
        ("\ud800", "UTF-16"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_by_name(tmp_path: Path, pattern: str, said: str) -> None:
    """The message says what the engine lacks and which syntax it accepts."""
    with pytest.raises(ToolError, match=re.escape(said)) as refused:
        list_files(Root(tmp_path), pattern, use_regex=True, deadline=NEVER)
    assert refused.value.code == "bad_pattern"


@pytest.mark.proves("L-8", "L-9")
@pytest.mark.parametrize("use_regex", [False, True])
def test_empty_and_oversized_patterns_are_refused_shortly(tmp_path: Path, use_regex: bool) -> None:
    """A pattern of a megabyte is answered at once, with less than a kilobyte."""
    for pattern in ("", "a" * (MAX_PATTERN_BYTES + 1), "é" * MAX_PATTERN_BYTES, "(" * 1_000_000):
        with pytest.raises(ToolError) as refused:
            list_files(Root(tmp_path), pattern, use_regex=use_regex, deadline=NEVER)
        assert refused.value.code == "bad_pattern"
        assert len(refused.value.message) < 1000


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("pattern", ["*a" * 500 + "b", "?*" * 500 + "b", "*[a-z]" * 160 + "!", "a*" * 500 + "/"])
def test_no_glob_can_hang_us(pattern: str) -> None:
    """Stars do not give back what they took; the timeout of the suite decides."""
    selection = selected(pattern)
    for pick in (selection.takes, selection.enters):
        assert pick is None or pick("a" * 250 + "/", ["a" * 250] * 20) == []


@pytest.mark.proves("L-9")
def test_a_deadline_leaves_a_page_that_is_right_and_says_so(tmp_path: Path) -> None:
    """Nothing is shown from a folder that was not read to its end."""
    root = tree(tmp_path, *(f"d{number}/f" for number in range(5)))
    late = list_files(root, recursive=True, limit=3, deadline=Deadline(0))
    assert (late.complete, late.page.items, late.page.next_offset) == (False, (), None)

    class Soon(Deadline):
        asked = 0

        @property
        def passed(self) -> bool:
            self.asked += 1
            return self.asked > 4

    part = list_files(root, recursive=True, limit=100, deadline=Soon(None))
    assert not part.complete
    assert 0 < len(part.page.items) < 5
    assert part.page.items == tuple(f"d{number}/f" for number in range(len(part.page.items)))
    assert part.page.next_offset == len(part.page.items)
    assert not count_files(root, deadline=Deadline(0)).complete


@pytest.mark.proves("L-9")
def test_progress_is_told_how_many_files_were_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report comes occasionally, never more than once for each folder."""
    monkeypatch.setattr(walk, "_REPORT", 2)
    seen: list[int] = []
    root = tree(tmp_path, *(f"d{number}/f" for number in range(6)))
    list_files(root, recursive=True, deadline=NEVER, progress=seen.append)
    assert seen == [2, 4, 6]


@pytest.mark.proves("L-8")
@pytest.mark.parametrize("name", ["offset", "limit"])
def test_a_value_call_lists_nothing_for_a_negative_number(tmp_path: Path, name: str) -> None:
    """A page that begins before the first file would say so in its offset, and a caller would count on from there."""
    numbers: dict[str, Any] = {name: -1}
    with pytest.raises(ToolError, match=f"{name}: takes an integer from 0 on, not -1"):
        listing.list_files(Root(tmp_path), **numbers, deadline=Deadline(None))
