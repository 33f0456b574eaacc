"""Are documents written under one folder, and nowhere else?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.scribe import document
from penstock.scribe.output import SITE_FILES, Output
from penstock.workspace import writing
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path


def test_what_says_the_same_is_left_alone(tmp_path: Path) -> None:
    """A file is written once for each text given for it."""
    output = Output(str(tmp_path / "out"))
    for text, written in [("one", 1), ("one", 1), ("two", 2), ("three, which is longer", 3)]:
        output.write("programs/A.json", text)
        assert output.written == written
        assert (tmp_path / "out" / "programs" / "A.json").read_text() == text


def test_the_site_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    """A file with a name of ours is refused by its name, unless a sign shows an earlier run, whole or killed; other files stay."""
    (tmp_path / "a.cbl").write_text("       PROGRAM-ID. A.\n       PROCEDURE DIVISION.\n           STOP RUN.\n")
    out = tmp_path / "public"
    out.mkdir()
    (out / "notes.html").write_text("theirs")
    with closing(Root(tmp_path)) as root:
        for name in ("index.html", "index.md", "run.json", "style.css"):
            for theirs in ("<p>theirs", '{"programs": []}', "[" * 2_000):
                (out / name).write_text(theirs)
                with pytest.raises(CallerError, match=rf"public/{name} was not written by `penstock document`.*--out"):
                    document(["a.cbl"], root=root, out=str(out), model=None)
                assert sorted(path.name for path in out.iterdir()) == sorted([name, "notes.html"])
                assert (out / name).read_text() == theirs
            (out / name).unlink()
        document(["a.cbl"], root=root, out=str(out), model=None)
        made = {path.name for path in out.iterdir() if path.is_file()} - {"notes.html"}
        assert {"run.json", "index.json", "index.html"} < made <= set(SITE_FILES)
        for lost in (
            "run.json",
            "index.json",
        ):  # a run that was killed before its last file, and one whose index somebody moved
            (out / lost).unlink()
            assert document(["a.cbl"], root=root, out=str(out), model=None).written == 1
    assert (out / "notes.html").read_text() == "theirs"


def test_a_program_may_be_called_what_a_file_of_credentials_is(tmp_path: Path) -> None:
    """Its documents, and those of a copybook, are written like any other, and left alone by the next run."""
    copying = "       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n           COPY SECRETS.\n"
    (tmp_path / "a.cbl").write_text(
        f"       PROGRAM-ID. PASSWORD.\n{copying}       PROCEDURE DIVISION.\n           STOP RUN.\n"
    )
    (tmp_path / "secrets.cpy").write_text("       01  PIN PIC 9(4).\n")
    out = tmp_path / "out"
    with closing(Root(tmp_path)) as root:
        assert document(["a.cbl", "secrets.cpy"], root=root, out=str(out), model=None).written
        assert (out / "programs" / "PASSWORD.json").exists()
        assert (out / "copybooks" / "secrets.json").exists()
        assert document(["a.cbl", "secrets.cpy"], root=root, out=str(out), model=None).written == 0


def test_an_index_beside_the_programs_is_no_secret_that_is_missed(tmp_path: Path) -> None:
    """Where data has its index in a file with `.KEY`, none is reported as refused; one that is named, or copied, is."""
    program = "       PROGRAM-ID. A.\n       DATA DIVISION.\n       COPY 'RATES.KEY'.\n"
    (tmp_path / "a.cbl").write_text(program)
    for name in ("CUST.KEY", "STOCK.KEY", "RATES.KEY", "NAMED.KEY", "id_rsa"):
        (tmp_path / name).write_bytes(b"\0\1")
    with closing(Root(tmp_path)) as root:
        done = document(["NAMED.KEY", "."], root=root, out=str(tmp_path / "out"))
    assert {one.path for one in done.skipped} == {"RATES.KEY", "NAMED.KEY", "id_rsa"}
    assert [(one.suffix, one.examples) for one in done.left_out] == [(".key", ("CUST.KEY", "STOCK.KEY"))]


@pytest.mark.proves("C-14")
@pytest.mark.parametrize("out", ["docs", "."])
def test_an_earlier_site_among_the_sources_is_none(tmp_path: Path, out: str) -> None:
    """A second run says what the first one said: a COPY does not find a page, and no page is listed as left out."""
    program = "       PROGRAM-ID. A.\n       DATA DIVISION.\n       COPY INDEX.\n       COPY STYLE.\n       COPY A.\n"
    (tmp_path / "a.cbl").write_text(program)
    (tmp_path / "docs" / "programs").mkdir(parents=True)
    (tmp_path / "docs" / "programs" / "b.cbl").write_text(program.replace("A.", "B.", 1))
    (tmp_path / "docs" / "notes.xyz").write_text("theirs")
    site = tmp_path / out
    seen = []
    with closing(Root(tmp_path)) as root:
        for _ in "12":
            done = document(["."], root=root, out=str(site))
            assert [(one.suffix, one.files) for one in done.left_out] == [(".xyz", 1)]
            seen.append({path: path.read_bytes() for path in site.rglob("*") if path.is_file()})
    assert seen[0] == seen[1]
    assert (site / "programs" / "B.html").is_file()


def test_files_of_one_folder_are_written_one_by_one(tmp_path: Path) -> None:
    """Each of several files given at once is written or left alone, as if given separately."""
    output = Output(str(tmp_path / "out"))
    output.write("programs/A.md", "as it was")
    output.write_beside([("programs/A.json", "one"), ("programs/A.md", "as it was"), ("programs/A.js", "three")])
    assert output.written == 3
    assert {file.name: file.read_text() for file in (tmp_path / "out" / "programs").iterdir()} == {
        "A.json": "one",
        "A.md": "as it was",
        "A.js": "three",
    }


@pytest.mark.parametrize("before", [None, "what an earlier run wrote"])
def test_what_somebody_else_writes_meanwhile_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """What another program writes between check and write is overwritten."""
    output, file = Output(str(tmp_path)), tmp_path / "A.json"
    if before is not None:
        file.write_text(before)
    replace = writing.replace_file

    def interrupted(self: Root, *given: Any, **how: Any) -> tuple[str, ...]:
        monkeypatch.setattr(writing, "replace_file", replace)
        file.write_text("what another program writes")
        return replace(self, *given, **how)

    monkeypatch.setattr(writing, "replace_file", interrupted)
    output.write("A.json", "ours")
    assert file.read_text() == "ours"


def test_two_runs_write_one_file_one_after_the_other(tmp_path: Path) -> None:
    """Each run finds what the other left: nothing is refused, and the last text stays."""
    runs = [Output(str(tmp_path)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for at in range(20):
            list(pool.map(lambda run, at=at: run.write("A.json", f"{at} {id(run)}"), runs))
    assert (tmp_path / "A.json").read_text() in {f"19 {id(run)}" for run in runs}
    assert sum(run.written for run in runs) == 80


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A folder or file that is a link is an error, and its target stays as it was."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "programs").symlink_to(tmp_path / "outside")
    (tmp_path / "out" / "index.md").symlink_to(tmp_path / "outside.md")
    for path in ("programs/A.json", "index.md"):
        with pytest.raises(CallerError, match=path):
            Output(str(tmp_path / "out")).write(path, "text")
    assert not (tmp_path / "outside.md").exists()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """The error has the folder's name and the system's message."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(CallerError, match="file/out: Not a directory"):
        Output(str(tmp_path / "file" / "out"))
