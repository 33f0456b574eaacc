"""Does the walk give each file once, in order, whatever the tree is made of?"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leftovers import nothing_left_open
from tests.sockets import bind_in

from penstock.errors import ToolError
from penstock.text import escape
from penstock.workspace import walk as walking
from penstock.workspace.deadline import Deadline
from penstock.workspace.ignore import IgnoreRules
from penstock.workspace.paths import MAX_PATH_BYTES
from penstock.workspace.pattern import selected
from penstock.workspace.root import Root
from penstock.workspace.system import close_folder
from penstock.workspace.walk import Omitted, Walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.workspace.system import Folder

NEVER = Deadline(None)


def walk(root: Root | Path, path: str = ".", *, pattern: str = "*", deadline: Deadline = NEVER) -> Walk:
    return Walk(
        root if isinstance(root, Root) else Root(root),
        path,
        selected(pattern),
        include_hidden=True,
        include_ignored=False,
        deadline=deadline,
    )


def paths(walk: Walk) -> list[str]:
    return [prefix + name for prefix, _, found in walk for name in found]


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def chain(root: Path, depth: int, name: str = "d") -> Iterator[int]:
    """Yield descriptors of folders, each inside the last, from the root down; each is closed when the next is requested."""
    folder = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
        yield folder
    os.close(folder)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Provide a place for trees too deep for `shutil.rmtree`, which recurses, and for pytest's own cleaning."""
    root = tmp_path / "deep"
    root.mkdir()
    yield root
    subprocess.run(["rm", "-rf", root], check=True)


@pytest.mark.proves("L-1")
@given(
    tree=st.lists(
        st.lists(
            st.binary(min_size=1, max_size=3)
            .map(lambda name: name.replace(b"/", b"-").replace(b"\0", b"0"))
            .filter(lambda name: name not in {b".", b"..", b".git", b".gitignore"}),
            min_size=1,
            max_size=4,
        ),
        max_size=12,
    ),
    held=st.integers(1, 5),
    chunk=st.integers(1, 4),
    opened=st.integers(1, 3),
)
def test_the_order_is_that_of_the_bytes_of_the_paths(
    tmp_path_factory: pytest.TempPathFactory, tree: list[list[bytes]], held: int, chunk: int, opened: int
) -> None:
    """This holds for any names, however few fit in memory or descriptors may be open; without order, the files are the same."""
    root = tmp_path_factory.mktemp("tree")
    written = set()
    for parts in tree:
        path = os.path.join(os.fsencode(root), *parts)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
        written.add(b"/".join(parts))
    with pytest.MonkeyPatch.context() as patch, closing(Root(root)) as opened_root:
        patch.setattr(walking, "_HELD", held)
        patch.setattr(walking, "_CHUNK", chunk)
        patch.setattr(walking, "_OPEN", opened)
        assert [os.fsencode(path) for path in paths(walk(opened_root))] == sorted(written)
        anyhow = walk(opened_root)
        anyhow.ordered = False
        found = [os.fsencode(path) for path in paths(anyhow)]
        assert sorted(found) == sorted(written)
        switched = walk(opened_root)
        found = []
        for prefix, _, names in switched:
            found += [os.fsencode(prefix + name) for name in names]
            switched.ordered = len(found) < 2
        assert sorted(found) == sorted(written)


@pytest.mark.proves("L-6")
def test_a_file_far_beyond_the_longest_path_is_reached_with_few_descriptors(deep: Path) -> None:
    """It is 1,500 folders and 5,640 bytes down, with a file on every hundredth level, so that the way back is walked as well."""
    name = "abc"
    written = 0
    for depth, folder in enumerate(chain(deep, 1500, name)):
        if depth % 100 == 0 or depth == 1499:
            os.close(os.open("zz", os.O_CREAT, dir_fd=folder))
            os.mkdir("zzz", dir_fd=folder)
            written += 1
    before = open_descriptors()
    deepest = 0
    found = []
    for prefix, opened, names in (walked := walk(deep)):
        deepest = max(deepest, open_descriptors() - before)
        assert isinstance(opened, int)
        assert os.stat(names[0], dir_fd=opened).st_size == 0
        found += [prefix + name for name in names]
    assert len(found) == written
    assert found == sorted(found)
    assert max(map(len, found)) > 5640
    assert deepest <= walking._OPEN + 2
    assert walked.omitted == Omitted()
    root = Root(deep)
    root.open_file(root.relative(found[0])).close()
    for path in found:
        close_folder(root.open_folder(os.fsencode(os.path.dirname(path))))


@pytest.mark.proves("L-6")
def test_folders_deeper_than_a_path_may_be_long_are_counted(deep: Path) -> None:
    """Nobody could name what is there, so it is not shown; the walk ends."""
    for _ in chain(deep, MAX_PATH_BYTES // 201 + 2, "d" * 200):
        pass
    walked = walk(deep)
    assert paths(walked) == []
    assert walked.omitted == Omitted(denied=1)


@pytest.mark.proves("L-6", "L-8")
def test_links_are_files_only_if_they_lead_to_files_beneath_the_root(tmp_path: Path) -> None:
    """Loops, links out, dangling ones and links to folders are counted, not followed."""
    (tmp_path / "out").write_text("secret")
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (root / "d/file").write_text("x")
    (root / "good").symlink_to("d/file")
    (root / "d/up").symlink_to("../d/file")
    (root / "folder").symlink_to("d")
    (root / "self").symlink_to("self")
    (root / "parent").symlink_to("..")
    (root / "loop").symlink_to(".")
    (root / "leads-out").symlink_to("../out")
    (root / "absolute").symlink_to(tmp_path / "out")
    (root / "dangling").symlink_to("nowhere")
    walked = walk(root)
    assert paths(walked) == ["d/file", "d/up", "good"]
    assert walked.omitted == Omitted(links=7)


@pytest.mark.proves("L-6", "L-9")
def test_fifos_sockets_and_devices_are_counted_and_not_opened(tmp_path: Path) -> None:
    """Opening a FIFO would wait for its writer, or wake it."""
    (tmp_path / "a").write_text("")
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        bind_in(tmp_path, server)
        walked = walk(tmp_path)
        assert paths(walked) == ["a"]
    assert walked.omitted == Omitted(special=2)


@pytest.mark.proves("L-6")
def test_folders_that_vanish_or_are_denied_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk continues. The system's errors are simulated, because root may read everything."""
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
    said = {"a": errno.ENOENT, "b": errno.EACCES, "c": errno.EXDEV, "d": errno.ELOOP}
    real = Root.open_subfolder

    def open_subfolder(self: Root, folder: Folder, name: bytes | str) -> Folder:
        if code := said.get(os.fsdecode(name)):
            raise OSError(code, os.strerror(code))
        return real(self, folder, name)

    monkeypatch.setattr(Root, "open_subfolder", open_subfolder)
    walked = walk(tmp_path)
    assert paths(walked) == ["e/file"]
    assert walked.omitted == Omitted(vanished=2, denied=2)


@pytest.mark.proves("L-6")
def test_a_tree_that_is_torn_down_during_the_walk_ends_the_walk_quietly(tmp_path: Path) -> None:
    """Folders are deleted and renamed during the walk, even on the way back: no error, nothing twice."""
    for depth, folder in enumerate(chain(tmp_path, 100)):
        os.close(os.open(f"file{depth}", os.O_CREAT, dir_fd=folder))
    for branch in range(20):
        (tmp_path / f"e{branch}").mkdir()
        (tmp_path / f"e{branch}/file").write_text("")
    walked = walk(tmp_path)
    found = []
    for prefix, _, names in walked:
        if prefix.count("/") == 100:
            os.rename(tmp_path / "d", tmp_path / "gone")
            for branch in range(10):
                os.unlink(tmp_path / f"e{branch}/file")
                os.rmdir(tmp_path / f"e{branch}")
        found += [prefix + name for name in names]
    assert len(found) == len(set(found))
    assert sum(path.startswith("e") for path in found) == 10
    assert walked.omitted.vanished >= 10
    assert walked.complete


@pytest.mark.proves("L-9")
def test_a_deadline_ends_the_walk_and_closes_everything(tmp_path: Path) -> None:
    """What was given before is right; `complete` says that there is more."""
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
    with nothing_left_open():
        root = Root(tmp_path)
        walked = walk(root, deadline=Deadline(0))
        assert paths(walked) == []
        assert not walked.complete
        for _ in (half := iter(walk(root))):
            half.close()  # type: ignore[attr-defined]
            break
        root.close()


@pytest.mark.proves("L-9")
def test_walks_in_several_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    """One root serves all calls; no descriptor is closed twice."""
    for number in range(200):
        (tmp_path / f"d{number % 20}").mkdir(exist_ok=True)
        (tmp_path / f"d{number % 20}/{number}").write_text("")
    root = Root(tmp_path)
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(paths(walk(root)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(result == results[0] and len(result) == 200 for result in results)


@pytest.mark.proves("L-10", "L-8")
def test_the_shown_form_of_every_name_opens_the_file(tmp_path: Path) -> None:
    """Line feeds, escapes, invalid bytes and leading dashes become one inert line each, which opens the file."""
    names = [b"a\nb", b"\x1b[31m", b"\xff\xfe", b"-rf", b"sp ace", b"$(id)", b"%2e%2e", b"back\\slash", b"\\x41"]
    names += ["\u202e.txt".encode(), "n\u0303".encode(), "\u00f1".encode(), b"n" * 255]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(name)
    root = Root(tmp_path)
    found = paths(walk(root))
    assert sorted(map(os.fsencode, found)) == sorted(names)
    for path in found:
        shown = escape.show_name(path)
        assert shown.isprintable()
        opened = root.open_file(root.relative(shown))
        assert os.read(opened.descriptor, 300) == os.fsencode(path)
        opened.close()


@pytest.mark.proves("L-8")
@pytest.mark.parametrize(
    ("path", "code"),
    [("..", "outside_root"), ("nowhere", "not_found"), ("file", "not_directory"), ("", "bad_argument")],
)
def test_a_start_that_cannot_be_walked_is_refused_with_a_code(tmp_path: Path, path: str, code: str) -> None:
    """The refusals are those of the root."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError) as refused:
        list(walk(tmp_path, path))
    assert refused.value.code == code


def test_a_folder_reads_its_ignore_file_once_however_many_chunks_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rules precede those of its subfolders once, not once for each chunk of names."""
    monkeypatch.setattr(walking, "_CHUNK", 8)
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "inner").mkdir()
    for number in range(60):
        (tmp_path / f"{number:02}.txt").touch()
        (tmp_path / f"{number:02}.log").touch()
    (tmp_path / "inner" / "a.log").touch()
    made: list[bytes] = []

    class Counted(IgnoreRules):
        def __init__(self, source: bytes, prefix_length: int = 0, parent: IgnoreRules | None = None) -> None:
            made.append(source)
            super().__init__(source, prefix_length, parent)

    monkeypatch.setattr(walking, "IgnoreRules", Counted)
    assert paths(walk(tmp_path)) == [".gitignore", *(f"{number:02}.txt" for number in range(60))]
    assert made == [b"*.log\n"]
