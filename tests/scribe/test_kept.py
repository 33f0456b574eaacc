"""Is an answer the same whatever was kept of earlier ones, and is what was kept used?"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cobol.sources import fixed, program
from tests.forks import warm
from tests.scribe.conftest import READING

from penstock import version
from penstock.cli import main
from penstock.scribe import graphing, kept
from penstock.workspace.own_files import OwnFolder
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from penstock.scribe.graphing import DrawnEstate

DATA = ("01 A PIC X(4).", "COPY R.", "01 B PIC X(4).")
PROGRAMS = (
    program("MOVE A TO B.", "GOBACK.", data=DATA),
    program("MOVE B TO A.", "GOBACK.", data=DATA),  # as long as the first
    program("MOVE R1 TO A.", "EXEC SQL SELECT K INTO :A FROM T END-EXEC.", "GOBACK.", name="Q", data=DATA),
    program("CALL 'Q' USING R1.", "GOBACK.", data=("COPY R OF LIB1.", "COPY R OF LIB2.", "COPY QS OF LIB3.")),
    program("COPY BODY.", "IF A = '1' GOBACK.", data=("COPY R REPLACING ==R1== BY ==A==.",)),
    fixed("COPY HEAD.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", "COPY DDS-ALL-FORMATS OF PF.", "COPY MS."),
    program(
        "CALL 'P'.", data=("EXEC SQL DECLARE T TABLE (K CHAR(4) NOT NULL) END-EXEC.", "EXEC SQL INCLUDE R END-EXEC.")
    ),
)
BOOKS = (
    "       01 R1 PIC X(4).\n",
    "       01 R1 PIC 9(4).\n",
    "       COPY S.\n",
    "       PROGRAM-ID. H.\n",
    "           MOVE A TO R1.\n       PARA-C.\n           MOVE R1 TO A.\n",
    "      ?SECTION QS\n       01 Q1 PIC X(9).\n      ?SECTION QT\n       01 Q2 PIC X.\n",
    "",
)
OTHERS = (
    "     A          R REC\n     A            CUSNO          6S 0\n",
    "     A                                      REF(S)\n     A          R REC\n     A            CUSNO     R\n",
    "MS  DFHMSD TYPE=&SYSPARM,LANG=COBOL\nM   DFHMDI SIZE=(24,80)\nF   DFHMDF POS=(1,1),LENGTH=4\n    DFHMSD TYPE=FINAL\n",
    "//J JOB\n//S EXEC PGM=P\n//F DD DSN=X.Y,DISP=SHR\n",
)
PLACES = {
    **dict.fromkeys(("P.cbl", "sub/P.cbl", "Q.cbl", "R.cbl"), PROGRAMS),
    **dict.fromkeys(
        ("R.cpy", "sub/R.cpy", "LIB1/R.cpy", "LIB2/R.CPY", "LIB3/M.cpy", "S.cpy", "HEAD.cpy", "BODY.cpy", "R"), BOOKS
    ),
    **dict.fromkeys(("PF.pf", "S.pf"), OTHERS[:2]),
    **dict.fromkeys(("MS.bms", "R.bms", "J.jcl"), OTHERS[2:]),
}
WRITING = st.sampled_from(sorted(PLACES)).flatmap(
    lambda path: st.tuples(st.just(path), st.sampled_from((*PLACES[path], None)), st.sampled_from(("ascii", "cp037")))
)
HOW = st.fixed_dictionaries(
    {
        "tells_apart": st.booleans(),
        "source_format": st.sampled_from((None, None, None, "free")),
        "paths": st.sampled_from(("", "sub")),
    }
)


def _write(estate: Path, path: str, text: str | None, encoding: str = "ascii") -> None:
    """Write or remove a file, so that its time never changes."""
    at = estate / path
    if text is None:
        at.unlink(missing_ok=True)
        return
    at.parent.mkdir(exist_ok=True)
    at.write_text(text.replace("\n", "\x85") if encoding == "cp037" else text, encoding, newline="")
    os.utime(at, (1, 1))


def _told(estate: DrawnEstate) -> tuple[Any, ...]:
    """Return all that is known of an estate."""
    graph = estate.graph
    return graph.parts, list(graph.drawn), graph.members, [*graph.edges()], estate.files, estate.skipped


def _same(estate: Path, paths: str = "", **how: Any) -> None:
    """Draw an estate with and without what was kept, and compare."""
    (estate / "sub").mkdir(exist_ok=True)
    warned: list[str] = []
    with_kept = graphing.draw(Root(str(estate)), [paths or "."], keeps=True, warn=warned.append, processes=1, **how)
    assert _told(with_kept) == _told(graphing.draw(Root(str(estate)), [paths or "."], processes=1, **how))
    assert warned == []


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return the paths of the files that are read, in a new cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found: list[str] = []
    real = graphing.drawn_file

    def noting(file: Any, *rest: Any, **more: Any) -> Any:
        found.append(file.path)
        return real(file, *rest, **more)

    monkeypatch.setattr(graphing, "drawn_file", noting)
    return found


@pytest.fixture
def estate(tmp_path: Path) -> Path:
    """Return an estate of two programs, of which one copies R."""
    made = tmp_path / "estate"
    made.mkdir()
    _write(made, "P.cbl", PROGRAMS[0])
    _write(made, "Q.cbl", program("GOBACK.", name="Q"))
    _write(made, "R.cpy", BOOKS[0])
    return made


def _draw(estate: Path, **how: Any) -> tuple[DrawnEstate, list[str]]:
    """Draw an estate with what was kept; return it, and what was warned of."""
    warned: list[str] = []
    return graphing.draw(Root(str(estate)), ["."], keeps=True, warn=warned.append, **how), warned


def _file() -> Path:
    """Return the only file of the cache."""
    (found,) = Path(os.environ["XDG_CACHE_HOME"], "penstock-impact").iterdir()
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.lists(WRITING, min_size=1, max_size=4), HOW), min_size=1, max_size=6))
def test_an_answer_does_not_depend_on_what_was_kept(edits: list[tuple[list[Any], dict[str, Any]]]) -> None:
    """Whatever was edited, added, removed or asked otherwise in between, even if every time and some sizes are the same."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", f"{folder}/cache")
        estate = Path(folder, "estate")
        estate.mkdir()
        for writings, how in edits:
            for writing in writings:
                _write(estate, *writing)
            _same(estate, **how)
            _same(estate, **how)


def test_only_what_an_edit_touches_is_read_again(estate: Path, read: list[str]) -> None:
    """A program, the programs that copy a copybook, and those that looked for one that now exists."""
    _draw(estate)
    assert sorted(read) == ["P.cbl", "Q.cbl", "R.cpy"]
    for path, text, expected in (
        ("Q.cbl", program("STOP RUN.", name="Q"), ["Q.cbl"]),
        ("R.cpy", BOOKS[1], ["P.cbl", "R.cpy"]),
        ("R.cpy", None, ["P.cbl"]),
        ("J.jcl", OTHERS[3], []),
        ("sub/R.cpy", BOOKS[0], ["P.cbl", "sub/R.cpy"]),
        ("R.cpy", BOOKS[0], ["P.cbl", "R.cpy"]),  # nearer than the other
        ("Q.cbl", None, []),
        ("PF.pf", OTHERS[1], ["PF.pf"]),
        ("S.pf", OTHERS[0], ["PF.pf", "S.pf"]),  # PF takes a length from it
        ("S.pf", OTHERS[0].replace("6S", "7S"), ["PF.pf", "S.pf"]),
        ("LIB3/M.cpy", BOOKS[5], ["LIB3/M.cpy"]),
        ("Q.cbl", PROGRAMS[3], ["Q.cbl"]),
        ("LIB3/M.cpy", BOOKS[5].replace("X(9)", "X(7)"), ["LIB3/M.cpy", "Q.cbl"]),
        ("MS.bms", OTHERS[2], []),
        ("Q.cbl", PROGRAMS[5], ["Q.cbl"]),
        ("MS.bms", OTHERS[2].replace("=4", "=5"), ["Q.cbl"]),
    ):
        read.clear()
        _write(estate, path, text)
        _draw(estate)
        assert sorted(read) == expected, path
        read.clear()
        _draw(estate)
        assert read == [], path


def test_another_way_of_reading_is_another_question(estate: Path, read: list[str]) -> None:
    """What growth needs, another reference format, and another root or folder; the first way is still known then."""
    _write(estate, "Q.cbl", program("IF A = '1' GOBACK.", name="Q", data=DATA))
    hows: tuple[dict[str, Any], ...] = ({}, {"tells_apart": True}, {"source_format": "free"}, {"paths": "Q.cbl"})
    for how in hows:
        _same(estate, **how)
        _same(estate, **{**how, "source_format": "fixed"})
    read.clear()
    for how in hows[:3]:
        _draw(estate, **how)
    assert read == []


def test_a_program_that_moves_is_read_again(estate: Path, read: list[str]) -> None:
    """Its path is in what is cited."""
    _draw(estate)
    read.clear()
    (estate / "sub").mkdir()
    (estate / "Q.cbl").rename(estate / "sub" / "Q.cbl")
    _draw(estate)
    assert read == ["sub/Q.cbl"]


@pytest.mark.usefixtures("warm_workers")
def test_several_processes_keep_the_same(estate: Path, read: list[str]) -> None:
    """What two processes read is kept, and used by one."""
    _draw(estate, processes=2)
    assert read == []
    drawn, _ = _draw(estate, processes=1)
    assert read == []
    assert _told(drawn) == _told(graphing.draw(Root(str(estate)), ["."], processes=1))


@pytest.mark.parametrize("lines", [10**5_000, True], ids=["digits", "type"])
def test_what_cannot_be_written_is_read_each_time(
    estate: Path, read: list[str], monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    """Python writes no number of more than 4,300 digits, and we no value of another type than is declared."""
    real = graphing.drawn_file

    def odd(file: Any, *rest: Any, **more: Any) -> Any:
        drawn = real(file, *rest, **more)
        return drawn._replace(lines=lines) if file.path == "Q.cbl" else drawn

    monkeypatch.setattr(graphing, "drawn_file", odd)
    _draw(estate)
    read.clear()
    assert _draw(estate)[1] == []
    assert read == ["Q.cbl"]


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "longer", "seal", "entry", "another's"])
def test_what_is_damaged_or_not_ours_is_discarded(estate: Path, read: list[str], damage: str) -> None:
    """A line says so, everything is read again, and the next question is quick again."""
    before, _ = _draw(estate)
    read.clear()
    content = _file().read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    sealed = kept._SEAL_BYTES
    _file().write_bytes(
        {
            "cut": content[:-3],
            "bit": bytes(changed),
            "empty": b"",
            "longer": content + b"\0",
            "seal": content[:-sealed] + gzip.compress(b"0" * 64 + b"\n", 0, mtime=0),
            "entry": gzip.compress(b"[]\n", mtime=0) + content[-sealed:],
            "another's": content,
        }[damage]
    )
    if damage == "another's":  # sealed with the secret of another machine
        Path(os.environ["XDG_STATE_HOME"], "penstock-impact", "key").write_bytes(b"k" * 32)
    after, warned = _draw(estate)
    assert _told(after) == _told(before)
    assert len(warned) == 1
    assert "damaged or not from here" in warned[0]
    assert len(read) == 3
    read.clear()
    assert _draw(estate)[1] == []
    assert read == []


def test_what_was_kept_of_one_estate_is_not_taken_for_another(estate: Path, read: list[str], tmp_path: Path) -> None:
    """A file that was copied under the name of another has the wrong seal."""
    other = tmp_path / "other"
    shutil.copytree(estate, other)
    _write(other, "P.cbl", PROGRAMS[1])
    _draw(estate)
    first = _file()
    content = first.read_bytes()
    first.unlink()
    expected, _ = _draw(other)
    _file().write_bytes(content)
    again, warned = _draw(other)
    assert (_told(again), len(warned)) == (_told(expected), 1)


def test_another_version_reads_everything(estate: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Silently: its code may find something else in the same files."""
    _draw(estate)
    read.clear()
    monkeypatch.setattr(kept, "_this_version", lambda: "another")
    assert _draw(estate)[1] == []
    assert len(read) == 3


def test_the_version_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any change of a module that reads is another version, without another number."""
    shutil.copytree(Path(graphing.__file__).parent, tmp_path / "scribe")
    monkeypatch.setattr(version, "__file__", str(tmp_path / "version.py"))
    versions = [kept._this_version.__wrapped__()]
    with (tmp_path / "scribe" / "graphing.py").open("a") as file:
        file.write("#\n")
    versions.append(kept._this_version.__wrapped__())
    assert versions[0] != versions[1]


@pytest.mark.parametrize(
    "what", ["a file", "open to others", "read only", "within", "the same", "key within", "a link"]
)
def test_a_folder_that_cannot_be_used_costs_only_time(
    estate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The answer comes, and a line says why the next one will not be quicker."""
    home = tmp_path / "home"
    home.mkdir()
    folder = home / "penstock-impact"
    if what == "a file":
        folder.write_text("")
    elif what == "open to others":
        folder.mkdir(0o755)
        folder.chmod(0o755)
        (folder / "x").write_text("")
    elif what == "read only":
        home.chmod(0o500)
        if os.geteuid() == 0:
            monkeypatch.setattr(
                os, "mkdir", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied", "x"))
            )
    elif what == "within":
        home = estate / ".cache"
    elif what == "the same":
        home, estate = tmp_path, estate.rename(tmp_path / "penstock-impact")
        estate.chmod(0o700)
    elif what == "key within":
        monkeypatch.setenv("XDG_STATE_HOME", str(estate / ".state"))
    elif what == "a link":
        folder.symlink_to(tmp_path / "nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    files = sorted(estate.rglob("*"))
    drawn, warned = _draw(estate)
    assert _told(drawn) == _told(graphing.draw(Root(str(estate)), ["."]))
    assert len(warned) == 1
    assert "nothing can be kept" in warned[0]
    assert sorted(estate.rglob("*")) == files


def test_a_full_disk_costs_only_time(estate: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written whole is not there."""
    _draw(estate)
    before = _file().read_bytes()
    _write(estate, "R.cpy", BOOKS[1])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(OwnFolder, "rename", full)
    drawn, warned = _draw(estate)
    assert "No space left on device" in warned[0]
    assert _file().read_bytes() == before
    assert _told(drawn) == _told(graphing.draw(Root(str(estate)), ["."]))


def test_a_question_that_is_interrupted_changes_nothing(
    estate: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept before it is used by the next."""
    _draw(estate)
    before = _file().read_bytes()
    _write(estate, "Q.cbl", program("STOP RUN.", name="Q"))
    with monkeypatch.context() as patch:
        patch.setattr(graphing, "scanned", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _draw(estate, processes=1)
    assert _file().read_bytes() == before
    read.clear()
    _draw(estate)
    assert read == ["Q.cbl"]


def test_a_small_file_takes_little_memory(estate: Path, read: list[str]) -> None:
    """However much all estates may take: a question is answered where memory is limited, too."""
    _draw(estate)
    tracemalloc.start()
    try:
        _draw(estate)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert read == ["P.cbl", "Q.cbl", "R.cpy"]
    assert peak < kept.MAX_BYTES / 4


def test_it_is_private(estate: Path, read: list[str]) -> None:
    """Folder and file are the user's alone, and `zcat` shows what is in them."""
    _draw(estate)
    assert (_file().parent.stat().st_mode & 0o777, _file().stat().st_mode & 0o777) == (0o700, 0o600)
    assert b'"P.A"' in gzip.decompress(_file().read_bytes())


def test_what_is_old_or_too_much_goes(estate: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time of the last question, not of the last change; what was just asked about stays."""
    _draw(estate)
    folder = _file().parent
    now = _file().stat().st_mtime
    for name, days in (("old", 40), ("used", 20), ("newer", 10)):
        (folder / name).write_bytes(b"x" * 1_000)
        os.utime(folder / name, (now - days * 86_400,) * 2)
    _write(estate, "R.cpy", BOOKS[1])
    _draw(estate)
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".gz") == ["newer", "used"]
    monkeypatch.setattr(kept, "MAX_BYTES", next(folder.glob("*.gz")).stat().st_size + 1_500)
    _write(estate, "R.cpy", BOOKS[0])
    _draw(estate)
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".gz") == ["newer"]
    (mine,) = folder.glob("*.gz")
    os.utime(mine, (1, 1))
    _draw(estate)
    assert mine.stat().st_mtime > 1
    monkeypatch.setattr(kept, "MAX_BYTES", 100)
    _write(estate, "R.cpy", BOOKS[1])
    assert "more than 100" in _draw(estate)[1][-1]


def test_nothing_is_kept_if_nobody_wants_it(
    estate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By flag, by variable, and by default for a caller in Python."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    graphing.draw(Root(str(estate)), ["."])
    assert main(["impact", "P.A", str(estate), "--no-cache"]) == 0
    first = capsys.readouterr()
    monkeypatch.setenv("PENSTOCK_NO_CACHE", "1")
    assert main(["impact", "P.A", str(estate)]) == 0
    assert capsys.readouterr() == first
    assert not (tmp_path / "cache").exists()
    monkeypatch.delenv("PENSTOCK_NO_CACHE")
    for _ in range(2):
        assert main(["impact", "P.A", str(estate)]) == 0
        assert capsys.readouterr() == first
    assert _file().exists()


def test_processes_at_once_answer_alike(estate: Path, tmp_path: Path) -> None:
    """Each writes a whole file; the last one stays."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [*warm(*READING), "-m", "penstock", "impact", "P.A", str(estate), "--json"]
    several = [subprocess.Popen(command, env=environment, stdout=-1, stderr=-1) for _ in range(4)]
    answers = {one.communicate() for one in several}
    assert [status.returncode for status in several] == [0] * 4
    assert {error for _, error in answers} == {b""}
    assert len(answers) == 1
    assert [path.suffix for path in (tmp_path / "cache" / "penstock-impact").iterdir()] == [".gz"]
