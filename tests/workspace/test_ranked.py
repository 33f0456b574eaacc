"""Does ranked search find the passages most relevant to a question, from an index that is never older than the files?"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leftovers import nothing_left_open

from penstock.errors import ToolError
from penstock.workspace import Workspace, ranked
from penstock.workspace.deadline import Deadline
from penstock.workspace.ranked import index as indexes
from penstock.workspace.ranked import update
from penstock.workspace.ranked.passages import MAX_PASSAGE_LINES, MAX_WORDS, passages, words_of

if TYPE_CHECKING:
    from penstock.workspace.ranked import Ranking

PUMP = '''"""Pumps of the works."""

MAX_PRESSURE_BAR = 16


class CentrifugalPump:
    def __init__(self, speed_rpm=1450):
        self.speed_rpm = speed_rpm

    def prime(self, volume):
        """Fill the housing, so that it does not run dry."""
        if volume <= 0:
            raise PumpError(f"cannot prime with {volume} litres")
'''
VALVE = '''"""Valves open and close pipes."""


def close_slowly(valve):
    """Close a valve without a water hammer."""
'''


@pytest.fixture
def works(tmp_path: Path) -> Path:
    """Provide a small tree, away from the index."""
    root = tmp_path / "works"
    root.mkdir()
    (root / "pumps.py").write_text(PUMP)
    (root / "valves.py").write_text(VALVE)
    return root


@pytest.fixture
def kept(tmp_path: Path) -> str:
    """Provide the folder for indexes."""
    return str(tmp_path / "kept" / "ranked")


def places(found: Ranking) -> list[tuple[str, int, int]]:
    return [(one.path, one.start_line, one.end_line) for one in found.passages]


# ── passages and words ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("L-7")
@given(st.lists(st.sampled_from(["", "  ", "def f():", "    x = 1", "        y", "class A:", "}", "\tz"]), max_size=80))
def test_every_line_that_is_not_blank_is_in_one_passage(lines: list[str]) -> None:
    """Passages are disjoint, ordered and bounded, and begin and end with a line that is not blank."""
    cut = list(passages(lines))
    covered = [line for one in cut for line in range(one.first, one.last + 1)]
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    for one in cut:
        assert 1 <= one.last - one.first + 1 <= MAX_PASSAGE_LINES
        assert lines[one.first - 1].strip()
        assert lines[one.last - 1].strip()


def test_a_passage_ends_before_the_next_definition_and_knows_its_scope() -> None:
    """A method is not split if it can be kept whole."""
    body = ["class Pump:", *(f"    v{n} = {n}" for n in range(9)), "", "    def run(self):", *["        pass"] * 12]
    first, second = list(passages(body))
    assert (first.first, first.last) == (1, 10)
    assert body[second.first - 1] == "    def run(self):"
    assert second.scope == ("class Pump:",)


def test_names_are_words_and_question_words_are_dropped() -> None:
    """`maxWorkers`, `max_workers` and "max workers" match; nothing in a question is syntax; the number of words is bounded."""
    assert words_of("What is the maxWorkers of HTTPServer?") == [
        "max workers",
        "max",
        "workers",
        "http server",
        "http",
        "server",
    ]
    assert words_of("of the") == []
    assert words_of('"x" OR path: NEAR(y)*') == ["x", "path", "near", "y"]
    assert len(words_of(" ".join(f"w{n}" for n in range(1_000)))) == MAX_WORDS


# ── what is found ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("L-7")
@pytest.mark.parametrize(
    ("question", "path", "line"),
    [
        ("How fast does a centrifugal pump turn?", "pumps.py", 6),
        ("max pressure", "pumps.py", 3),
        ("CLOSING valves", "valves.py", 4),
        ("priming with too few litres", "pumps.py", 10),
    ],
)
def test_a_question_in_words_finds_the_passage(works: Path, kept: str, question: str, path: str, line: int) -> None:
    """It is found by stems, by parts of names, in any case, and by its scope."""
    best = Workspace(works).rank(question, index_folder=kept).passages[0]
    assert best.path == path
    assert best.start_line <= line <= best.end_line
    assert best.lines == tuple((works / path).read_text().split("\n")[best.start_line - 1 : best.end_line])


def test_a_path_says_what_a_file_is_about(tmp_path: Path) -> None:
    """Of two alike files, the one that the question names comes first."""
    for name in ("aardvark.py", "zip_reader.py"):
        (tmp_path / name).write_text("LIMIT = 5\n")
    assert Workspace(tmp_path).rank("limit of ZipReader").passages[0].path == "zip_reader.py"


def test_equals_come_in_the_order_of_paths_and_a_test_after_the_program(tmp_path: Path) -> None:
    """The order is deterministic; a question about tests gets tests."""
    for name in ("b.py", "a.py", "test_a.py"):
        (tmp_path / name).write_text("valve = 1\n")
    workspace = Workspace(tmp_path)
    assert [one.path for one in workspace.rank("valve").passages] == ["a.py", "b.py", "test_a.py"]
    assert workspace.rank("tests of valve").passages[0].path == "test_a.py"


def test_pages_join_to_the_whole(tmp_path: Path, kept: str) -> None:
    """Each passage is shown once, and there is an end; matches beyond the best are announced."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(ranked.MAX_RANKED + 20):
        (tree / f"f{number:03}.py").write_text(f"valve = {number}\n")
    workspace = Workspace(tree)
    seen, at = [], 0
    while True:
        page = workspace.rank("valve", offset=at, index_folder=kept)
        assert page.more_matches
        seen += places(page)
        if page.next_offset is None:
            break
        at = page.next_offset
    assert len(seen) == len(set(seen)) == page.total == ranked.MAX_RANKED
    assert not workspace.rank("valve", glob="f00*.py", index_folder=kept).more_matches
    (tree / "e000.py").write_text("valve = 1\n")  # an equal that is indexed last is still among the best
    assert workspace.rank("valve", index_folder=kept).passages[0].path == "e000.py"


def test_a_glob_a_folder_and_a_file_narrow_it(works: Path, kept: str) -> None:
    """Each works by itself; a file needs no index that is kept."""
    (works / "sub").mkdir()
    (works / "sub" / "deep.md").write_text("valve\n")
    workspace = Workspace(works)
    assert {one.path for one in workspace.rank("valve", glob="*.md", index_folder=kept).passages} == {"sub/deep.md"}
    assert {one.path for one in workspace.rank("valve", "sub", glob="d*", index_folder=kept).passages} == {
        "sub/deep.md"
    }
    names = set(os.listdir(kept))
    assert {one.path for one in workspace.rank("valve", "valves.py", index_folder=kept).passages} == {"valves.py"}
    assert set(os.listdir(kept)) == names


@pytest.mark.parametrize(
    ("question", "code"), [("", "bad_argument"), ("of the", "bad_argument"), ("word " * 1_000, "bad_argument")]
)
def test_a_question_without_words_is_refused(works: Path, question: str, code: str) -> None:
    """So is a question that is a whole document."""
    with pytest.raises(ToolError) as refused:
        Workspace(works).rank(question)
    assert refused.value.code == code


# ── what is never shown ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("L-8")
@pytest.mark.proves("L-5")
def test_what_may_not_be_read_is_neither_indexed_nor_shown(works: Path, kept: str) -> None:
    """It is excluded by name, by an ignore file, by a dot, or by a link out; and no longer, once that changes."""
    outside = works.parent / "outside.py"
    outside.write_text("zebra = 'outside'\n")
    (works / "leads.py").symlink_to(outside)
    (works / "server.key").write_text("zebra secret\n")
    (works / ".hidden.py").write_text("zebra hidden\n")
    (works / "later.py").write_text("zebra = 'now'\n")
    workspace = Workspace(works)
    found = workspace.rank("zebra", index_folder=kept)
    assert [one.path for one in found.passages] == ["later.py"]
    assert (found.secret, found.omitted.hidden, found.omitted.links) == (1, 1, 1)
    assert [one.path for one in workspace.rank("zebra", include_hidden=True, index_folder=kept).passages] == [
        ".hidden.py",
        "later.py",
    ]
    (works / ".gitignore").write_text("later.py\n")
    assert workspace.rank("zebra", index_folder=kept).passages == ()
    held = []
    for name in os.listdir(kept):
        with closing(sqlite3.connect(os.path.join(kept, name))) as connection:
            held += connection.execute("SELECT count(*) FROM words WHERE words MATCH 'zebra'").fetchone()
    assert sorted(held) == [0, 2]  # the second belongs to the choice with hidden names, which nobody has asked since


def test_a_link_that_leads_to_a_secret_by_now_is_forgotten(works: Path, kept: str) -> None:
    """Its earlier target is not counted among the matches either."""
    (works / "plain.txt").write_text("zebra\n")
    (works / "server.key").write_text("zebra secret\n")
    (works / "link.txt").symlink_to("plain.txt")
    workspace = Workspace(works)
    assert workspace.rank("zebra", index_folder=kept).total == 2
    (works / "link.txt").unlink()
    (works / "link.txt").symlink_to("server.key")
    found = workspace.rank("zebra", index_folder=kept)
    assert (found.total, found.secret, [one.path for one in found.passages]) == (1, 2, ["plain.txt"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_whose_rights_were_taken_is_not_shown(works: Path, kept: str) -> None:
    """Its content is unchanged, but must not be shown."""
    workspace = Workspace(works)
    assert workspace.rank("litres", index_folder=kept).total == 1
    (works / "pumps.py").chmod(0)
    assert workspace.rank("litres", index_folder=kept).total == 0


def test_a_file_that_changes_while_it_is_shown_is_left_out(
    works: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lines would have other numbers than those that were ranked."""
    weigh = ranked._weighed

    def meanwhile(*arguments: object) -> object:
        (works / "pumps.py").write_text("\n\n" + PUMP)
        return weigh(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ranked, "_weighed", meanwhile)
    found = Workspace(works).rank("litres", index_folder=kept)
    assert (found.passages, found.changed) == ((), 1)


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_index_is_private_and_only_what_changed_is_read_again(
    works: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second question reads only what it shows; a changed file is read, even with the same size and times."""
    for file in works.iterdir():
        os.utime(file, (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr(update, "_RACY_NS", -(1 << 62))  # these are old enough
    workspace = Workspace(works)
    workspace.rank("litres", index_folder=kept)
    assert (os.stat(kept).st_mode & 0o777, [os.stat(f.path).st_mode & 0o777 for f in os.scandir(kept)]) == (
        0o700,
        [0o600],
    )
    read: list[bytes] = []
    monkeypatch.setattr(update.Update, "_read", lambda _, file, __: read.append(file.relative))
    workspace.rank("litres", index_folder=kept)
    assert read == []
    (works / "pumps.py").write_text(PUMP.replace("litres", "barrel"))
    os.utime(works / "pumps.py", (1_000_000_000, 1_000_000_000))
    workspace.rank("litres", index_folder=kept)
    assert read == [b"pumps.py"]


def test_a_file_written_a_moment_ago_is_compared_by_content(works: Path, kept: str) -> None:
    """Its times cannot show a second change in the same tick: the content does, without indexing it anew."""
    workspace = Workspace(works)
    workspace.rank("litres", index_folder=kept)
    [name] = os.listdir(kept)
    with closing(sqlite3.connect(os.path.join(kept, name))) as connection, connection:
        before = connection.execute("SELECT id, stamp FROM files ORDER BY path").fetchall()
        assert all(stamp.startswith("?") for _, stamp in before)
    workspace.rank("litres", index_folder=kept)
    with closing(sqlite3.connect(os.path.join(kept, name))) as connection, connection:
        assert connection.execute("SELECT id, stamp FROM files ORDER BY path").fetchall() == before


_CONTENT = st.sampled_from(["valve\n", "pump valve\n", "x = 1\n" * 40, "class Valve:\n    a = 1\n\n" * 9, "", "\0"])
_CHANGES = st.lists(
    st.tuples(st.sampled_from(["a.py", "b/a.py", "b.py", "b/c/d.py"]), st.one_of(st.none(), _CONTENT)), max_size=8
)


@pytest.mark.proves("L-7")
@given(changes=_CHANGES)
def test_an_index_that_was_kept_finds_what_a_new_one_finds(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str | None]]
) -> None:
    """After additions, changes and removals, the passages, scores and order are the same."""
    root, kept = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("kept")
    kept.chmod(0o700)
    workspace = Workspace(root)
    for name, content in changes:
        file = root / name
        if content is None:
            file.unlink(missing_ok=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        grown = workspace.rank("a valve of a pump", index_folder=str(kept))
        assert grown == workspace.rank("a valve of a pump", index_folder=None)
    shutil.rmtree(root)


@pytest.mark.parametrize("damage", ["garbage", "torn", "other version", "other program", "folder gone"])
def test_a_damaged_index_is_rebuilt(works: Path, kept: str, damage: str) -> None:
    """It is a cache: only time is lost, and the user is not told of a file that they never made."""
    for number in range(60):
        (works / f"more{number}.py").write_text(f"volume{number} = 'litres'\n" * 60)
    workspace = Workspace(works)
    whole = workspace.rank("litres volume7", index_folder=kept)
    [name] = os.listdir(kept)
    file = Path(kept) / name
    if damage == "garbage":
        file.write_bytes(b"no database" * 1_000)
    elif damage == "torn":
        data = bytearray(file.read_bytes())
        data[4096:] = bytes(len(data) - 4096)
        file.write_bytes(data)
    elif damage == "folder gone":
        shutil.rmtree(kept)
    else:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("PRAGMA user_version = 99" if damage == "other version" else "DROP TABLE files")
    for _ in range(2):
        assert workspace.rank("litres volume7", index_folder=kept) == whole


def test_if_no_index_can_be_kept_one_is_made_for_the_call(works: Path, tmp_path: Path) -> None:
    """None is made in the tree itself; a folder that others may read, or a file in its place, is not used."""
    whole = Workspace(works).rank("litres")
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "of_others").touch()
    (tmp_path / "file").touch()
    for folder in (works / ".cache", works, shared, tmp_path / "file"):
        before = sorted(path.name for path in tmp_path.rglob("*"))
        assert Workspace(works).rank("litres", index_folder=str(folder)) == whole
        assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_processes_and_threads_share_an_index(works: Path, kept: str) -> None:
    """The first one indexes, the others wait; all of them find the same."""
    for number in range(50):
        (works / f"more{number}.py").write_text(f"volume{number} = 'litres'\n" * 50)
    program = textwrap.dedent(
        """
        import sys
        from penstock.workspace import Workspace
        found = Workspace(sys.argv[1]).rank("litres volume7", index_folder=sys.argv[2])
        print([(one.path, one.start_line, one.score) for one in found.passages], found.complete)
        """
    )
    asked = [
        subprocess.Popen([sys.executable, "-c", program, str(works), kept], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    mine: list[Ranking] = []
    threads = [
        threading.Thread(target=lambda: mine.append(Workspace(works).rank("litres volume7", index_folder=kept)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = {process.communicate(timeout=60)[0] for process in asked}
    assert len(said) == 1
    assert said == {f"{[(one.path, one.start_line, one.score) for one in mine[0].passages]} True\n"}
    assert mine[0] == mine[1] == mine[2]


def test_an_index_that_is_held_too_long_is_busy(works: Path, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call says so within its time, and the index stays."""
    monkeypatch.setattr(indexes, "_WAIT_SECONDS", 0.05)
    Workspace(works).rank("litres", index_folder=kept)
    [name] = os.listdir(kept)
    workspace = Workspace(works)
    with nothing_left_open(), closing(sqlite3.connect(os.path.join(kept, name), isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(ToolError, match="Another process") as refused:
            workspace.rank("litres", index_folder=kept)
    assert refused.value.code == "busy"
    assert os.listdir(kept) == [name]


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(("bound", "value"), [("MAX_INDEX_BYTES", len(PUMP)), ("MAX_PASSAGES", 1)])
def test_what_an_index_does_not_hold_is_counted(
    works: Path, kept: str, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    """Nothing is silently left out; what is indexed is found, and a separate folder is complete."""
    (works / "z").mkdir()
    (works / "z" / "more.py").write_text(PUMP)
    monkeypatch.setattr(update, bound, value)
    found = Workspace(works).rank("litres", index_folder=kept)
    assert (found.complete, found.out_of_time, found.unindexed) == (False, False, 2)
    assert [one.path for one in found.passages] == ["pumps.py"]
    assert Workspace(works).rank("litres", "z", index_folder=kept).complete


def test_a_long_file_is_indexed_at_its_beginning_and_counted(
    works: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It still counts when nothing changed."""
    monkeypatch.setattr(update, "MAX_FILE_BYTES", 64)
    workspace = Workspace(works)
    for _ in range(2):
        assert workspace.rank("pressure", index_folder=kept).partial_files == 2
    assert workspace.rank("litres", index_folder=kept).total == 0


def test_an_unfinished_index_is_continued(works: Path, kept: str) -> None:
    """When the time of a call ends, the answer says so; what was indexed until then stays."""
    for number in range(200):
        (works / f"more{number:03}.py").write_text(f"volume{number} = 'litres'\n" * 50)

    class Ends(Deadline):
        looks = 60

        @property
        def passed(self) -> bool:
            self.looks -= 1
            return self.looks < 0

    counts = []
    for _ in range(100):
        found = Workspace(works).rank("litres", index_folder=kept, deadline=Ends(None))
        counts.append(found.indexed_passages)
        assert found.out_of_time is not found.complete
        if found.complete:
            break
        Ends.looks += 60
    assert counts == sorted(counts)
    assert len(counts) > 2
    assert found == Workspace(works).rank("litres")


def test_a_folder_of_indexes_has_a_bound(tmp_path: Path, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used ones are removed; the one in use stays."""
    monkeypatch.setattr(indexes, "MAX_CACHE_BYTES", 150_000)
    for number in range(6):
        root = tmp_path / f"tree{number}"
        root.mkdir()
        (root / "a.py").write_text("valve\n")
        assert Workspace(root).rank("valve", index_folder=kept).total == 1
    sizes = [entry.stat().st_size for entry in os.scandir(kept)]
    assert 1 <= len(sizes) < 6
    assert sum(sizes[:-1]) <= 150_000


def test_binary_files_are_counted_and_other_encodings_read(works: Path, kept: str) -> None:
    """UTF-16 is recognised by its mark; files with invalid bytes are counted at each call."""
    (works / "data.bin").write_bytes(b"litres\0")
    (works / "wide.txt").write_text("litres of oil", "utf-16")
    workspace = Workspace(works)
    for _ in range(2):
        found = workspace.rank("oil", index_folder=kept)
        assert (found.binary, [one.lines for one in found.passages]) == (1, [("litres of oil",)])


@pytest.mark.proves("L-8")
@pytest.mark.parametrize(("name", "number", "least"), [("offset", -1, 0), ("limit", 0, 1)])
def test_a_value_call_ranks_nothing_for_a_number_that_no_page_has(
    tmp_path: Path, name: str, number: int, least: int
) -> None:
    """With `limit=0` the next page began where this one did, so that whoever followed it never came to an end."""
    (tmp_path / "a.txt").write_text("words\n")
    numbers: dict[str, Any] = {name: number}
    with pytest.raises(ToolError, match=f"{name}: takes an integer from {least} on, not {number}"):
        Workspace(tmp_path).rank("words", **numbers)
