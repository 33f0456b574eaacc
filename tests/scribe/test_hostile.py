"""Does time grow only with size for programs that nobody writes but that files may hold?"""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from tests.cobol.sources import fixed, program
from tests.growth import BOUND, growth
from tests.scribe.pages.rendered import scripted

from penstock import scribe
from penstock.chunk import plan
from penstock.cobol import scan
from penstock.cobol.estate import kind_of
from penstock.cobol.facts import facts
from penstock.cobol.graph import Carrying, EstateGraph, nodes_named, part_of
from penstock.cobol.graph import growth as grows
from penstock.cobol.graph.naming import field_names
from penstock.scribe import document
from penstock.scribe.documenting import subject
from penstock.scribe.gathering import gather
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.scribe.gathering import Gathered


def _lines(count: int, *lines: str) -> list[str]:
    """Return `count` lines, with `{0}` replaced by a number and `{1}` by half of it."""
    return [line.format(at, at // 2) for at in range(count) for line in lines]


@pytest.mark.proves("C-12")
def test_facts_take_time_in_proportion() -> None:
    """Paragraphs of one name, each in its own section, are found by their sections."""

    def work(size: int) -> Callable[[], object]:
        source = scan(program(*_lines(size, "S-{0} SECTION.", "P.", "    PERFORM P OF S-{1}.")))
        return lambda: [facts(source, one) for one in source]

    assert growth(work, 800) < BOUND


def _moved(size: int) -> str:
    """Return a program that moves each of the items of one group."""
    data = ("01  G.", *_lines(size, "    05  A{0} PIC X."))
    return program(*_lines(size, "    MOVE A{1} TO A{0}."), data=data)


def _replaced(size: int) -> str:
    """Return a program with a REPLACE of many pairs."""
    pairs = _lines(size, "==:T{0}:== BY ==X{0}==")
    return "\n".join(["REPLACE", *pairs, ".", program(data=tuple(_lines(size, "01  A:T{0}: PIC X.")))])


def _subscripted(size: int) -> str:
    """Return a program with a subscript that has a subscript, and so on."""
    return program(
        "    MOVE " + "A(\n" * size + "1" + ")\n" * size + " TO B.", data=("01  A PIC 9 OCCURS 9.", "01  B PIC 9.")
    )


def _delimited(size: int) -> str:
    """Return a program with an UNSTRING of many delimiters."""
    return program("    UNSTRING A DELIMITED BY A", *["    OR A"] * size, "    INTO A.", data=("01  A PIC X.",))


def _read(size: int) -> str:
    """Return a program with many READs of a file of many records."""
    data = ("FILE SECTION.", "FD  F.", *_lines(size, "01  R{0} PIC X."))
    selected = ("ENVIRONMENT DIVISION.", "INPUT-OUTPUT SECTION.", "FILE-CONTROL.", "    SELECT F ASSIGN TO G.")
    head = ("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", *selected, "DATA DIVISION.", *data, "PROCEDURE DIVISION.")
    return fixed(*head, *_lines(size, "P-{0}.", "    READ F."))


@pytest.mark.proves("C-12", "C-16")
@pytest.mark.parametrize(
    ("text", "size"),
    [(_moved, 150), (_read, 150), (_replaced, 150), (_subscripted, 250), (_delimited, 1_000)],
)
def test_programs_take_time_in_proportion(text: Callable[[int], str], size: int) -> None:
    """Moves within one group, READs of many records, pairs of REPLACE, subscripts of subscripts, and delimiters."""

    def work(size: int) -> Callable[[], object]:
        written = text(size)

        def run() -> None:
            source = scan(written, source_format="free")
            (one,) = source.programs
            part_of(facts(source, one, tells_apart=True), one, "p.cbl")

        return run

    assert growth(work, size) < BOUND


@pytest.mark.proves("C-16")
def test_items_of_one_path_are_named_in_proportion() -> None:
    """Each gets the next number: to look for a free one from 2 on would take n * n."""

    def work(size: int) -> Callable[[], object]:
        source = scan(program("    GOBACK.", data=("01  R.", "    05  A PIC X.") * size), source_format="free")
        items = facts(source, source.programs[0]).items
        assert field_names("P", items)[-2:] == (f"P.R#{size}", f"P.R.A#{size}")
        return lambda: field_names("P", items)

    assert growth(work, 400) < BOUND


@pytest.mark.proves("C-16")
def test_files_of_one_name_take_time_in_proportion() -> None:
    """Each of many files may have any of the names that are moved to one item."""

    def work(size: int) -> Callable[[], object]:
        selected = _lines(size, "SELECT F{0} ASSIGN TO W.")
        described = _lines(size, "FD F{0}.", "01 R{0} PIC X(80).")
        moved = _lines(size, "MOVE 'file{0}.dat' TO W.")
        head = ["PROGRAM-ID. P.", "ENVIRONMENT DIVISION.", "INPUT-OUTPUT SECTION.", "FILE-CONTROL.", *selected]
        data = ["DATA DIVISION.", "FILE SECTION.", *described, "WORKING-STORAGE SECTION.", "01 W PIC X(40)."]
        source = scan("\n".join([*head, *data, "PROCEDURE DIVISION.", *moved, "GOBACK.\n"]), source_format="free")
        part = part_of(facts(source, source.programs[0]), source.programs[0], "p.cbl")
        return lambda: EstateGraph([part])

    assert growth(work, 120) < BOUND


@pytest.mark.proves("C-17")
def test_strings_into_one_item_take_time_in_proportion_when_it_grows() -> None:
    """What each STRING puts beside the field is found by its line."""

    def work(size: int) -> Callable[[], object]:
        strung = _lines(size, "STRING A DELIMITED BY SIZE 'X' DELIMITED BY SIZE INTO B")
        source = scan(program(*strung, data=("01  A PIC X.", "01  B PIC X(9).")), source_format="free")
        graph = EstateGraph([part_of(facts(source, source.programs[0]), source.programs[0], "p.cbl")])
        return lambda: grows(graph, nodes_named(graph, "P.A"), 1, carrying=Carrying(graph))

    assert growth(work, 500) < BOUND


@pytest.mark.proves("C-3")
def test_a_plan_takes_time_in_proportion() -> None:
    """Ranges that are wider than any chunk tie nothing together."""

    def work(size: int) -> Callable[[], object]:
        source = scan(program(*_lines(size, "P-{0}.", "    PERFORM P-0 THRU Z."), "Z."))
        return lambda: plan(source, source_tokens=500)

    assert growth(work, 300) < BOUND


@pytest.mark.proves("C-7")
def test_citations_take_time_in_proportion() -> None:
    """A line cited thousands of times, and as long as all of them, is examined once."""

    def work(size: int) -> Callable[[], object]:
        source = scan("PROCEDURE DIVISION. " + "IF A = B MOVE C TO D END-IF. " * size)
        return lambda: [part.template for part in subject(source, "hostile.cbl").parts]

    assert growth(work, 1_000) < BOUND


@pytest.mark.proves("C-12")
def test_a_file_of_many_programs_is_listed_once(tmp_path: Path) -> None:
    """The page of a program shows its lines without those of the programs in it; each line keeps its number."""
    inner = fixed("ID DIVISION.", "PROGRAM-ID. {0}.", "PROCEDURE DIVISION.", "A.", "    EXIT.", "END PROGRAM {0}.")
    nested = program("A.", "    EXIT.", name="OUTER") + inner.format("INNER") + fixed("END PROGRAM OUTER.")
    (tmp_path / "all.cbl").write_text(nested + inner.format("LAST").replace("EXIT.", f"DISPLAY '{'x' * 9_000}'.") * 2)
    root = Root(tmp_path)
    try:
        document(["all.cbl"], root=root, out=str(tmp_path / "out"), source_format="variable")
    finally:
        root.close()
    sources = {path.stem: scripted(path.read_text(), "source") for path in (tmp_path / "out" / "programs").glob("*.js")}
    listed = {
        name: [line for first, last in told["spans"] for line in range(first, last + 1)]
        for name, told in sources.items()
    }
    assert listed["OUTER"] == [1, 2, 3, 4, 5, 6, 11, 12]
    assert listed["INNER"] == [6, 7, 8, 9, 10, 11]
    assert sorted(lines for name, lines in listed.items() if name.startswith("LAST")) == [
        list(range(13, 19)),
        list(range(19, 25)),
    ]
    assert any("x" * 900 + "…" in line for line in sources["LAST"]["lines"])


def test_a_small_file_is_read_into_a_small_buffer(tmp_path: Path) -> None:
    """Memory is asked for by the size of a file, not by the most that a source may have."""
    for name in ("A", "B"):
        (tmp_path / f"{name}.cbl").write_text(program("    STOP RUN.", name=name))
    root = Root(tmp_path)
    tracemalloc.start()
    try:
        found = gather(root, ["."], kind_of)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        root.close()
    assert len(found.files) == 2
    assert peak_bytes < 8 << 20


def test_no_source_is_held_while_the_pages_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sources of a large estate take much memory: they are released once all are read."""
    gone: list[str] = []
    gone_before: dict[str, list[str]] = {}

    class Watched(bytes):
        def __del__(self) -> None:
            gone.append("source")

    def watched(*about: Any) -> Gathered:
        found = gather(*about)
        return found._replace(files=tuple(one._replace(data=Watched(one.data)) for one in found.files))

    def step(what: str, _done: int, _total: int) -> None:
        gone_before.setdefault(what, list(gone))

    monkeypatch.setattr(scribe, "gather", watched)
    for name in ("A", "B"):
        (tmp_path / f"{name}.cbl").write_text(program("    COPY BOOK.", name=name))
    (tmp_path / "BOOK.cpy").write_text(fixed("    DISPLAY 'X'."))
    root = Root(tmp_path)
    try:
        scribe.document(
            ["."],
            root=root,
            out=str(tmp_path / "out"),
            processes=0,
            step=step,
        )
    finally:
        root.close()
    assert (gone_before["reading"], len(gone_before["pages"])) == ([], 3)
