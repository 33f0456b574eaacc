"""Do ignore rules keep what git keeps, and can no rule hang the walk?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pathspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.workspace.deadline import Deadline
from penstock.workspace.globs import EVERYTHING
from penstock.workspace.ignore import MAX_RULE_BYTES, IgnoreRules
from penstock.workspace.root import Root
from penstock.workspace.walk import Walk

if TYPE_CHECKING:
    from pathlib import Path

PIECES = ["a", "b", "c", "x", ".", "é", "-", "*", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "\\a"]
PIECES += ["\\*", "\\", " ", "[[:alpha:]]", "[]a]", "[", "a/", "**/", "/**", "!", "#", "\\ ", "[a-", "[[:no:]]"]
PIECES += ["[\\]]", "[--c]", "\udcff", "\t", "[[:", "[a[:b]", "[/", "]", "[a/b]", "[a-/]", "[!/"]

names = st.text("abcx.-é*[ ", min_size=1, max_size=3).filter(lambda name: name not in {".", ".."})
folders = st.lists(st.lists(names, max_size=4).map("/".join), max_size=5)
rules = st.builds(
    lambda bang, pieces, end: bang + "".join(pieces) + end,
    st.sampled_from(["", "", "", "!"]),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5),
    st.sampled_from(["", "", "", "", "/", " ", "\r"]),
)
rule_files = st.lists(rules, min_size=1, max_size=4).map(lambda lines: os.fsencode("\n".join(lines)))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", path], check=True)
    return path


def planted(root: Path, files: list[tuple[str, str]], ignores: dict[str, bytes], exclude: bytes = b"") -> None:
    """Empty the repository, then write the files that the file system allows."""
    for entry in os.scandir(root):
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_bytes(exclude)
    for folder, name in files:
        try:
            os.makedirs(root / folder, exist_ok=True)
            with open(root / folder / name, "x"):
                pass
        except (FileExistsError, NotADirectoryError):
            continue
    for folder, source in ignores.items():
        if os.path.isdir(root / folder):
            (root / folder / ".gitignore").write_bytes(source)


def kept(root: Path, path: str = ".") -> set[str]:
    with closing(Root(root)) as opened:
        walk = Walk(
            opened,
            path,
            EVERYTHING,
            include_hidden=True,
            include_ignored=False,
            deadline=Deadline(None),
        )
        return {prefix + name for prefix, _, found in walk for name in found}


def kept_by_git(root: Path, path: str = ".") -> set[str]:
    command = [
        "git",
        "-C",
        str(root),
        "-c",
        "core.excludesFile=",
        "ls-files",
        "-o",
        "--exclude-standard",
        "-z",
        "--",
        path,
    ]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return {os.fsdecode(name) for name in output.split(b"\0") if name}


@pytest.mark.proves("L-5")
@settings(max_examples=50)
@given(data=st.data())
def test_git_and_we_keep_the_same_files(repository: Path, data: st.DataObject) -> None:
    """The trees are generated, with generated ignore files at any level, and an exclude file."""
    where = data.draw(folders)
    files = data.draw(st.lists(st.tuples(st.sampled_from(["", *where]), names), max_size=12))
    ignores = {folder: data.draw(rule_files) for folder in data.draw(st.sets(st.sampled_from(["", *where])))}
    planted(repository, files, ignores, data.draw(st.one_of(st.just(b""), rule_files)))
    assert kept(repository) == kept_by_git(repository)


@pytest.mark.proves("L-5")
@pytest.mark.parametrize(
    ("source", "excluded"),
    [
        ("*.log\n!keep.log", {"a.log", "d/a.log"}),
        ("/a.log", {"a.log"}),
        ("d/a.log", {"d/a.log"}),
        ("d/", {"d/a.log", "d/keep.log", "d/e/f"}),
        ("d/*\n!d/e", {"d/a.log", "d/keep.log"}),
        ("d\n!d/e/f", {"d/a.log", "d/keep.log", "d/e/f"}),
        ("**/e", {"d/e/f"}),
        ("d/**", {"d/a.log", "d/keep.log", "d/e/f"}),
        ("d/**/f", {"d/e/f"}),
        ("*.[!m]og", {"a.log", "d/a.log", "keep.log", "d/keep.log"}),
        ("a.log  \n# d\n\\#x", {"a.log", "d/a.log", "#x"}),
        ("sp\\ ", {"sp "}),
        ("*\n!*/\n!*.log", {"#x", "d/e/f", "sp ", ".gitignore"}),
        ("[/[a].log", {"a.log"}),  # a slash in brackets anchors the rule, and matches nothing itself
        ("d/[!/x].log", {"d/a.log"}),
        ("[", set()),
        ("\\", set()),
    ],
)
def test_every_form_of_a_rule_means_what_git_says(repository: Path, source: str, excluded: set[str]) -> None:
    """There is one case for each form, so that a change shows which one it broke."""
    files = ["a.log", "keep.log", "#x", "sp ", "d/a.log", "d/keep.log", "d/e/f"]
    planted(repository, [os.path.split(file) for file in files], {"": source.encode()})
    assert {*files, ".gitignore"} - kept(repository) == excluded
    assert kept(repository) == kept_by_git(repository)


@pytest.mark.proves("L-5")
@settings(max_examples=50)
@given(
    patterns=st.lists(
        st.lists(st.sampled_from(["a", "b", "ab", "*", "?", "*.c", "**/", "/"]), min_size=1, max_size=4)
        .map("".join)
        .filter(lambda text: text.strip("/*") and not re.search(r"//|[^/]\*\*", text)),  # there only git is right
        min_size=1,
        max_size=4,
    ),
    names=st.lists(st.sampled_from(["a", "b", "ab", "a.c", "aab"]), min_size=1, max_size=6, unique=True),
)
def test_pathspec_says_the_same_of_plain_rules(patterns: list[str], names: list[str]) -> None:
    """pathspec is a second reference, for names directly below the ignore file and rules without negation."""
    spec = pathspec.GitIgnoreSpec.from_lines(patterns)
    rules = IgnoreRules("\n".join(patterns).encode())
    assert rules.kept("", names, folders=False) == [name for name in names if not spec.match_file(name)]


@pytest.mark.proves("L-5")
def test_rules_above_the_start_hold_and_the_start_itself_was_asked_for(repository: Path) -> None:
    """A walk from a subfolder keeps what a walk from the root keeps there; an ignored start is still listed."""
    planted(
        repository,
        [("a/b", "x.log"), ("a/b", "y"), ("a/b", "z"), ("out", "f"), ("out", "g.log")],
        {"": b"*.log\nout/", "a": b"/b/z"},
    )
    assert kept(repository, "a/b") == {"a/b/y"} == kept_by_git(repository, "a/b")
    assert kept(repository, "out") == {"out/f"}


@pytest.mark.proves("L-5")
def test_a_link_or_a_fifo_is_not_an_ignore_file(repository: Path) -> None:
    """git has not followed such links since 2.32, and a FIFO would wait for a writer."""
    planted(repository, [("", "a"), ("", "rules"), ("d", "a")], {})
    (repository / "rules").write_text("a")
    (repository / ".gitignore").symlink_to("rules")
    os.mkfifo(repository / "d/.gitignore")
    assert {"a", "d/a"} <= kept(repository)


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(
    "rule",
    [
        "*a" * 500 + "b",
        "**/a/" * 400 + "b",
        "**/*a" * 300 + "/b",
        "a/" + "**/a*a/" * 200 + "b",
        "[a-z]*" * 300 + "!",
        "?*" * 800 + "b",
        "/" + "*a*/" * 500 + "b",
    ],
)
def test_no_rule_can_hang_us(rule: str) -> None:
    """With backtracking stars each of these takes longer than a lifetime; the timeout of the suite decides."""
    rules = IgnoreRules(f"{rule}\n!{rule}x\n{rule}/".encode())
    deep = "/".join(["a" * 100] * 20) + "/"
    assert rules.kept("", ["a" * 255], folders=True) == ["a" * 255]
    assert rules.kept(deep, ["a" * 255], folders=False) == ["a" * 255]


@pytest.mark.proves("L-9")
def test_an_ignore_file_of_many_megabytes_is_read_to_its_cap() -> None:
    """All ignore files in force share one megabyte; a rule is taken whole or not at all."""
    rules = IgnoreRules(b"spared-not\n" + b"x" * 99 + b"\n" + b"filler-rule\n" * (MAX_RULE_BYTES // 6))
    below = IgnoreRules(b"a\n", 2, rules)
    assert rules.kept("", ["spared-not", "filler", "filler-rule"], folders=False) == ["filler"]
    assert rules.size <= MAX_RULE_BYTES
    assert below.size <= MAX_RULE_BYTES
    assert IgnoreRules(b"*" * 5000 + b"\nb").kept("", ["a", "b"], folders=False) == ["a"]
