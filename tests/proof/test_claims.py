"""R18 in short form: is every true claim of a model reported and no wrong one, and can the rig fail?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from proof.chunks import generated
from proof.figure import SEED
from tests.scribe.programs import program

from penstock.cobol import scan
from penstock.scribe import asking, file_work, subjects
from penstock.scribe.verification import verify
from proof import claims, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.chunk.template import Template
    from penstock.scribe.verification import ClaimVerdict

pytestmark = [pytest.mark.timeout(300)]

BUDGET = 2_000


def faults(data: bytes, **copybooks: str) -> tuple[str, ...]:
    """Return what the rig finds in a file, with copybooks next to it."""
    files = [("LEDGER.cbl", data), *((f"{name}.cpy", text.encode()) for name, text in copybooks.items())]
    (one,) = subjects(claims.estate(files), ["LEDGER.cbl"])
    return claims.look(one, (BUDGET,)).faults


@pytest.mark.proves("C-7", "C-8", "C-9")
def test_all_that_is_true_is_told_and_nothing_else() -> None:
    """R18, with our programs in every format and our estate: facts in are facts out, on their lines, in any order of answers."""
    figure = claims.measure(long=False, seed=SEED)
    assert figure.met, str(figure)


def test_programs_of_one_name_are_told_apart() -> None:
    """A file has one program three times, in changing formats: claims about each are reported for it."""
    made = claims.dressed(program(4).encode(), 5)
    assert len(scan(made).programs) == 3
    assert faults(made) == ()


def test_a_compiled_program_is_no_source() -> None:
    """Objects that end in .COB lie next to their sources; of a word of two thousand characters no claim can quote the whole."""
    compiled = b"LEDGER".ljust(30) + bytes(900) + b"RM/COBOL" + b"\x17c\xc4^\x0e\x0b" * 500 + bytes(500)
    wide = program(4).encode("utf-16")
    found = claims.estate([("LEDGER.COB", compiled), ("LEDGER.cbl", program(4).encode()), ("WIDE.cbl", wide)])
    assert [one.path for one in found] == ["LEDGER.cbl", "WIDE.cbl"]


_CALLS = """\
       PROGRAM-ID. LEDGER.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-AREA  PIC X(8).
       PROCEDURE DIVISION.
       MAIN-LINE.
           COPY CALLS.
           GOBACK.
"""


def test_equal_calls_after_one_copy_are_one_record() -> None:
    """A routine called three times by copied code is asked about once, as the document lists it once."""
    call = "           CALL 'AUDIT' USING WS-AREA.\n"
    assert faults(_CALLS.encode(), CALLS=call * 3) == ()
    assert faults(_CALLS.encode(), CALLS=f"{call}           CALL 'AUDIT' USING 1.\n") == ()


def test_headers_one_column_early_are_code() -> None:
    """A division, a section, a record and a paragraph that begin in column 7 are code, for the rig as for the product."""
    text = _CALLS.replace(
        "           COPY CALLS.\n", "           PERFORM 10-END.\n      10-END.\n           CALL 'AUDIT'.\n"
    )
    for header in ("DATA DIVISION", "WORKING-STORAGE SECTION", "01  WS-AREA"):
        text = text.replace(f"       {header}", f"      {header}")
    source = scan(text.encode())
    assert sorted(columns.page(source).code) == [line for line in range(1, source.lines + 1) if source.is_code(line)]
    assert [paragraph.name for paragraph in source.programs[0].paragraphs] == ["MAIN-LINE", "10-END"]
    assert faults(text.encode()) == ()


def test_a_part_of_an_escape_is_no_name() -> None:
    """A line drawn with control characters is shown with `\\x02`, and the code has no name `x02`."""
    drawn = "".join(f"       ROW-{row}.\n           DISPLAY '\x02' LINE {row} COL 1.\n" for row in range(1, 9))
    assert faults(_CALLS.replace("           COPY CALLS.\n", f"           CONTINUE.\n{drawn}").encode()) == ()


def test_what_conditional_compilation_leaves_out_is_no_code() -> None:
    """Branches that the source itself excludes prove nothing, for the rig as for the product."""
    branches = "".join(
        f"      >>{said}\n           CALL 'VAR{at}' USING\n               WS-AREA\n           END-CALL.\n"
        for at, said in enumerate(["EVALUATE KIND\n      >>WHEN 1", "WHEN 2", "WHEN OTHER"])
    )
    text = _CALLS.replace("           COPY CALLS.\n", f"      >>DEFINE KIND 2\n{branches}      >>END-EVALUATE\n")
    source = scan(text.encode())
    assert sorted(columns.page(source).code) == [line for line in range(1, source.lines + 1) if source.is_code(line)]
    assert [call.target for call in source.programs[0].calls] == ["VAR1"]
    assert faults(text.encode()) == ()


def test_columns_know_terminal_format() -> None:
    """In NonStop's lines the indicator is in column 1; in ACUCOBOL a bar starts a comment."""
    lines = [
        "?SQL",
        "*  REMARK",
        " PROGRAM-ID. A.",
        "*",
        " PROCEDURE DIVISION.",
        "   | alone",
        " MAIN.",
        "   STOP RUN. | now",
    ]
    source = scan("\n".join(lines).encode(), source_format="free")
    assert (
        columns.page(source).code
        == {line for line in range(1, source.lines + 1) if source.is_code(line)}
        == {3, 5, 7, 8}
    )


def test_columns_know_what_is_next_to_their_column() -> None:
    """An asterisk at the start of a sentence makes a comment; tabs move code beyond column 72."""
    text = (
        "       PROGRAM-ID. A.\n       PROCEDURE DIVISION.\n       MAIN.\n           * says\n           COMPUTE A = B\n"
        "           * 2.\n           CALL 'P' USING\n\t\t\t\t\t\t\t\t\t'far to the right'.\n           STOP RUN.\n"
    )
    for data in (
        text.encode(),
        "           DISPLAY '日本'.\n".encode("cp932").join((text.encode(), b"      * \x83\n")),
    ):
        source = scan(data)
        assert columns.page(source).code == {line for line in range(1, source.lines + 1) if source.is_code(line)}
        assert columns.page(source).code >= {5, 6, 7, 8, 9}
        assert 4 not in columns.page(source).code


def test_columns_know_the_ruler_of_an_editor() -> None:
    """The ruler has a hyphen in column 7 and continues nothing."""
    text = f"----+----1----+----2\n{program(1)}=COLS> ----+----1----+----2\n"
    source = scan(text)
    assert columns.page(source).code == {line for line in range(1, source.lines + 1) if source.is_code(line)}
    assert columns.page(source).code.isdisjoint({1, source.lines})


def test_columns_know_a_slash_and_two_bars() -> None:
    """In free format a slash in column 1 at the start of a sentence makes a comment; in SQL two bars join texts."""
    text = (
        "PROCEDURE DIVISION.\nMAIN.\n    DISPLAY 'EXEC'\n    | alone\n    .\n/****\n    EXEC SQL\n    SET :A = :B\n"
        "    || :C || :D\n    END-EXEC\n  * says\n    || alone\n    COMPUTE A = B\n/ 2.\n    STOP RUN.\n"
    )
    source = scan(text.encode(), source_format="free")
    assert columns.page(source).code == {*range(1, 16)} - {4, 6, 11, 12}
    assert source.is_code(9)
    assert not source.is_code(6)


def test_columns_know_the_title_of_a_window_from_that_of_a_listing() -> None:
    """A window's title is in a sentence, and is code; a listing's title is a directive."""
    text = (
        "       PROGRAM-ID. A.\n           TITLE 'LISTING'.\n       PROCEDURE DIVISION.\n       MAIN.\n"
        "           DISPLAY MESSAGE BOX 'GONE'\n               TITLE 'NOTE'\n               ICON 1.\n           STOP RUN.\n"
    )
    source = scan(text)
    assert columns.page(source).code == {line for line in range(1, source.lines + 1) if source.is_code(line)}
    assert {6, 2} & columns.page(source).code == {6}


def test_two_paragraphs_of_one_line_are_two() -> None:
    """Claims about the first are checked against its lines."""
    assert (
        faults(b"       PROGRAM-ID. A.\n       PROCEDURE DIVISION.\n       A1. DISPLAY 1. A2.\n           STOP RUN.\n")
        == ()
    )


# ── the rig can fail ─────────────────────────────────────────────────────────────────────────────────────────────


def _forgetful(templates: Iterable[Template]) -> Template:
    *_, last = templates
    return last


def _told_twice(verdicts: Iterable[ClaimVerdict]) -> list[ClaimVerdict]:
    return [
        verdict._replace(claim=verdict.claim._replace(claim=f"{verdict.claim.claim} {verdict.claim.claim}"))
        for verdict in verdicts
    ]


def _unordered(found: Sequence[Any], **_: object) -> list[Any]:
    return list(found)


def _shortened(spans: Sequence[tuple[int, int]], _: object) -> tuple[tuple[int, int], ...]:
    return tuple((first, max(first, last - 1)) for first, last in spans)


def _moved(claim: Any, held: Any, **kept: bool) -> ClaimVerdict:
    found = verify(claim, held, **kept)
    return found._replace(citations=tuple(proof._replace(last_line=proof.last_line + 1) for proof in found.citations))


@pytest.mark.parametrize(
    ("room", "name", "spoilt", "said"),
    [
        (file_work, "merge", _forgetful, "told 0 times"),
        (asking, "same_claims", _told_twice, "told 2 times"),
        (asking, "verify", _moved, "with its lines"),
        (file_work, "sorted", _unordered, "come backwards"),
        (file_work, "_within", _shortened, "is documented or listed"),
    ],
    ids=[
        "merged without the first",
        "told twice",
        "cited with another line",
        "in the order of answers",
        "lines left out",
    ],
)
def test_the_rig_notices(
    room: Any, name: str, spoilt: Callable[..., Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts are lost or doubled, citations moved, the order of answers shows, or lines are not counted."""
    text = program(20).encode()
    assert faults(text) == ()
    monkeypatch.setattr(room, name, spoilt, raising=False)
    assert any(said in fault for _ in range(8) for fault in faults(text))  # answers may be in order by chance


def test_without_verification_wrong_claims_are_found() -> None:
    """Control: if claims are believed unchecked, wrong ones of every kind about the program's items are found."""
    with claims.unverified():
        found = faults(program(20).encode())
    assert any("wrong claims are told" in fault for fault in found)
    assert any("out of range" in fault for fault in found)
    assert any("is not of code" in fault for fault in found)


@pytest.mark.parametrize("form", range(6))
def test_columns_are_read_as_the_scanner_reads_them(form: int) -> None:
    """Rig and scanner agree on lines of code and their text: EBCDIC, debug lines, options, wide lines, changing formats."""
    generator = random.Random(form)
    for _ in range(3):
        source = scan(claims.dressed(generated(generator, long=False), form))
        page = columns.page(source)
        lines = range(1, source.lines + 1)
        assert page.code == {line for line in lines if source.is_code(line)}
        assert [page.text(line) for line in lines] == [" ".join(source.shown(line).split()) for line in lines]
