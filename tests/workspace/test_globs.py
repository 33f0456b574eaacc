"""Do all functions that take globs read them as git does and as models write them (L-1)?"""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.forks import warm_penstock

from penstock import Tools, Workspace
from penstock.errors import ToolError
from penstock.workspace import globs
from penstock.workspace.deadline import Deadline
from penstock.workspace.pattern import selected
from penstock.workspace.root import Root
from penstock.workspace.walk import Walk
from penstock.workspace.wider import FileQuery, find_wider

NAMES = ("main.go", "a.py", "notes.md", "src/b.py", "src/deep/c.py", "src/deep/d.go", "d25/e.go", "x[1].txt", "é.py")
PY, GO = ("a.py", "src/b.py", "src/deep/c.py", "é.py"), ("d25/e.go", "main.go", "src/deep/d.go")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    return tmp_path


@pytest.mark.proves("L-1")
@pytest.mark.parametrize(
    ("pattern", "flat", "deep"),
    [
        ("*.py", ("a.py", "é.py"), PY),
        ("**/*.py", PY, PY),
        ("**/*.go", GO, GO),
        ("./**/*.go", GO, GO),
        ("./*.go", ("main.go",), GO),
        ("/*.go", ("main.go",), ("main.go",)),
        ("src/*.py", ("src/b.py",), ("src/b.py",)),
        ("./src/*.py", ("src/b.py",), ("src/b.py",)),
        ("src/**", ("src/b.py", "src/deep/c.py", "src/deep/d.go"), ("src/b.py", "src/deep/c.py", "src/deep/d.go")),
        ("src/", ("src/b.py", "src/deep/c.py", "src/deep/d.go"), ("src/b.py", "src/deep/c.py", "src/deep/d.go")),
        ("src/**/*.{go,py}", ("src/b.py", "src/deep/c.py", "src/deep/d.go"), None),
        ("*.{go,py}", ("a.py", "main.go", "é.py"), tuple(sorted((*GO, *PY)))),
        ("{*.md,d25/*}", ("d25/e.go", "notes.md"), ("d25/e.go", "notes.md")),
        ("{src,d25}/*.{py,go}", ("d25/e.go", "src/b.py"), None),
        ("**", NAMES, NAMES),
        ("**/deep/*", ("src/deep/c.py", "src/deep/d.go"), None),
        ("*/deep/c.py", ("src/deep/c.py",), None),
        ("?.py", ("a.py", "é.py"), ("a.py", "src/b.py", "src/deep/c.py", "é.py")),
        ("[!a-c].py", ("é.py",), ("é.py",)),
        ("x[[]1].txt", ("x[1].txt",), ("x[1].txt",)),
        (r"x\[1\].txt", ("x[1].txt",), ("x[1].txt",)),
    ],
)
def test_a_glob_means_what_models_mean_by_it(
    tree: Path, pattern: str, flat: tuple[str, ...], deep: tuple[str, ...] | None
) -> None:
    """`list_files`, `count_files` and the glob of `search` take the same files."""
    flat, deep = tuple(sorted(flat)), tuple(sorted(flat if deep is None else deep))
    space = Workspace(tree)
    assert space.list_files(pattern).page.items == flat
    assert space.list_files(pattern, recursive=True).page.items == deep
    assert space.count_files(pattern=pattern, recursive=False).files == len(flat)
    assert space.count_files(pattern=pattern).files == len(deep)
    assert tuple(match.path for match in space.search("needle", glob=pattern).matches) == deep


@pytest.mark.proves("L-1")
def test_the_command_line_takes_them_too(tree: Path) -> None:
    """`penstock search --glob 'd25/*'` finds what is in that folder."""
    command = [*warm_penstock(), "search", "needle", "--glob", "d25/*", "--json", "--root", str(tree)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert [match["path"] for match in found["matches"]] == ["d25/e.go"]


@pytest.mark.proves("L-1")
@pytest.mark.parametrize(
    ("pattern", "arguments", "wider"),
    [
        ("c.py", {}, 'A wider form finds 1 file: list_files(pattern="c.py", recursive=True)'),
        ("deep/*", {}, 'A wider form finds 2 files: list_files(pattern="**/deep/*")'),
        ("src/*.md", {}, 'A wider form finds 1 file: list_files(pattern="**/*.md")'),
        (r"c\.py$", {"use_regex": True}, "recursive=True, use_regex=True)"),
        (
            "*.cfg",
            {},
            'A wider form finds 1 file: list_files(pattern="*.cfg", include_hidden=True, include_ignored=True)',
        ),
        ("sr*", {}, ""),
        ("src", {}, 'list_files(pattern="src/**")'),
        ("./src", {}, 'list_files(pattern="./src/**")'),
        ("nothing", {}, ""),
        ("*.cbl", {}, ""),
    ],
)
def test_an_empty_result_says_what_a_wider_form_finds(
    tree: Path, pattern: str, arguments: dict[str, bool], wider: str
) -> None:
    """The call that shows it is given; if no wider form finds anything, nothing is said."""
    (tree / ".hidden.cfg").write_text("")
    tools = Tools(tree)
    text = tools.list_files(pattern, **arguments)  # type: ignore[arg-type]
    lines = text.splitlines()
    assert "No files found matching the criteria." in lines
    if wider:
        assert lines[-1].endswith(wider), text
    else:
        assert "A wider form" not in text
    counted = tools.count_files(pattern=pattern, recursive=False, **arguments)  # type: ignore[arg-type]
    assert ("A wider form" in counted) == bool(wider)


@pytest.mark.proves("L-1")
@pytest.mark.parametrize(
    ("name", "pattern"), [("cafe\u0301.txt", "caf\u00e9.txt"), ("caf\u00e9.txt", "cafe\u0301.txt")]
)
def test_a_name_may_be_composed_otherwise(tmp_path: Path, name: str, pattern: str) -> None:
    """Both look the same, and whoever lists one of them is not told that there is none."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / name).write_text("needle")
    tools = Tools(tmp_path)
    call = f'A wider form finds 1 file: list_files(pattern="{name}", recursive=True)'
    assert tools.list_files(pattern).splitlines()[-1].endswith(call)
    assert f'a wider form finds 1 file: search(pattern="needle", glob="{name}")' in tools.search("needle", glob=pattern)
    (tmp_path / "top").mkdir()
    (tmp_path / "sub").rename(tmp_path / "top/sub")
    assert f'list_files(pattern="**/sub/{name}")' in tools.list_files(f"sub/{pattern}")


@given(
    st.builds(
        FileQuery,
        st.sampled_from(["a", "sub/a", ".*/a", "/a", "caf\u00e9", "sub/cafe\u0301/", "\u00e9e\u0301", ".*"]),
        *[st.booleans()] * 4,
    )
)
def test_nothing_is_walked_twice_in_search_of_a_wider_form(asked: FileQuery) -> None:
    """What was asked for has found nothing, and each walk of a large tree takes from the same time."""
    walked, walk_of = [asked], FileQuery.walk

    def walk(form: FileQuery, *arguments: Any) -> Walk:
        walked.append(form)
        return walk_of(form, *arguments)

    with TemporaryDirectory() as empty, closing(Root(empty)) as root, mock.patch.object(FileQuery, "walk", walk):
        assert find_wider(root, ".", asked, Deadline(60)) is None
    assert len(set(walked)) == len(walked)


@pytest.mark.proves("L-1")
def test_a_search_in_no_file_says_which_glob_finds_some(tree: Path) -> None:
    """A glob tied to a folder that the path already names matches no file; "no match" alone would be believed."""
    tools = Tools(tree)
    text = tools.search("needle", "src", glob="src/*.py")
    assert (
        'no file matches the glob; a wider form finds 2 files: search(pattern="needle", path="src", glob="**/*.py")'
        in text
    )
    for glob, is_told in (("*.zzz", True), ("[", True), ("*.py", False)):
        assert ("there is no file to search" in tools.search("nothing of it", glob=glob)) is is_told


@pytest.mark.proves("L-1")
@settings(max_examples=30)
@given(
    st.lists(
        st.lists(
            st.sampled_from(["a", "b", ".", "*", "**", "?", "[ab]", "[!a]", "[^b]", "[a-b]", r"\a"]),
            min_size=1,
            max_size=3,
        ),
        min_size=2,
        max_size=3,
    )
)
def test_a_pattern_with_a_slash_takes_what_git_takes(parts: list[list[str]]) -> None:
    """The reference is git's own pathspecs, on a real index."""
    pattern = "/".join("".join(part) for part in parts)
    names = ["a", "b/a", "b/b", "ab/a", "ab/b/a", "a.b/ab", "c/a/b/b", "c/b/a"]
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text("x")
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(["git", "-C", folder, "add", "."], check=True)
        said = subprocess.run(
            ["git", "-C", folder, "ls-files", "-z", "--", f":(glob){pattern}"], capture_output=True, check=False
        )
        if any(part in {".", "..", "..."} or part.startswith("..") for part in pattern.split("/")):
            return  # paths for git, names for us
        expected = {name for name in said.stdout.decode().split("\0") if name}
        # A pathspec that matches a folder takes everything in it, a listing only files.
        space = Workspace(folder)
        got = set(space.list_files(pattern, limit=100).page.items)
        assert got <= expected
        assert expected - got <= {
            name
            for name in expected
            if any(name.startswith(f"{above}/") for above in _folders_that_match(folder, pattern))
        }


def _folders_that_match(folder: str, pattern: str) -> set[str]:
    """Return the folders that git's pathspec takes as a whole."""
    found = set()
    for path in Path(folder).rglob("*"):
        if path.is_dir() and ".git" not in path.parts:
            relative = path.relative_to(folder).as_posix()
            selection = globs.compiled(pattern, recursive=False)
            above, _, name = relative.rpartition("/")
            if selection.takes is None or selection.takes(above + "/" if above else "", [name]):
                found.add(relative)
    return found


@pytest.mark.proves("L-1")
def test_no_folder_is_entered_in_which_nothing_can_match(tree: Path) -> None:
    """A pattern tied to a folder reads only that folder: nothing next to it is read, or counted as left out."""
    (tree / "other").mkdir()
    (tree / "other/.hidden").write_text("")
    with closing(Root(tree)) as root:
        walk = Walk(
            root,
            ".",
            selected("src/*.py", recursive=True),
            include_hidden=False,
            include_ignored=False,
            deadline=Deadline(None),
        )
        assert [batch.prefix for batch in walk] == ["src/"]
        assert walk.omitted.hidden == 0


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("pattern", ["{a,b}" * 7, "{a," * 33 + "}" * 33, "{a,b,{" * 40])
def test_braces_with_too_many_forms_are_refused(pattern: str) -> None:
    """A pattern of 1 KB could expand to more forms than there are atoms."""
    with pytest.raises(ToolError, match="more than 64 patterns"):
        globs.compiled(pattern, recursive=True)


@pytest.mark.proves("L-1")
def test_what_git_would_take_for_broken_is_literal(tmp_path: Path) -> None:
    """A file may be called `[a`, `a\\` or `{b`."""
    for name in ("[a", "a\\", "{b", "{c}", "d,e}"):
        (tmp_path / name).write_text("")
    space = Workspace(tmp_path)
    for name in ("[a", "a\\", "{b", "{c}", "d,e}"):
        assert space.list_files(name).page.total == 1, name
