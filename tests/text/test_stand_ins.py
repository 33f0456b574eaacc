"""Is text that replaces other text recognised again, and nothing else taken for it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.inspection import words
from penstock.text import notices, stand_ins
from penstock.text.calls import PYTHON, Call
from penstock.text.window import Line, Window

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proves("G-6")

COUNTS = st.integers(0, 10**9)
HANDLES = st.sampled_from([None, "abcdefghij0123456789AB"])
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40)
WRITTEN = st.one_of(
    st.builds(
        stand_ins.truncated, WORDS, COUNTS, COUNTS, st.sampled_from(["head", "tail", "ends"]), st.just("the way")
    ),
    st.builds(stand_ins.truncated_briefly, HANDLES, st.none()),
    st.builds(stand_ins.gap, COUNTS, COUNTS),
    st.builds(
        stand_ins.cleared,
        st.one_of(st.sampled_from([stand_ins.CLEARED, stand_ins.SUPERSEDED]), st.builds(stand_ins.failed_with, WORDS)),
        WORDS,
        COUNTS,
        COUNTS,
        HANDLES,
        st.none(),
    ),
    st.builds(stand_ins.only_new, WORDS, COUNTS, COUNTS, HANDLES, st.none()),
    st.builds(stand_ins.as_before, WORDS, WORDS, COUNTS),
    st.builds(stand_ins.note, COUNTS, WORDS, st.just([("user", "x")]), COUNTS, HANDLES, st.none()),
    st.builds(stand_ins.note_by_model, COUNTS, WORDS, HANDLES, st.none()),
)


@given(WRITTEN, WORDS)
def test_every_stand_in_is_found_and_can_be_disarmed(line: str, before: str) -> None:
    """The first line identifies it, wherever it is; disarmed, it is ordinary text."""
    for content in (line, f"{before}\n{line}"):
        assert stand_ins.find_stand_in(content)
        assert stand_ins.find_stand_in(stand_ins.disarm(content)) == ""
    assert stand_ins.find_stand_in(f"# about {line[1:].partition('…')[0][:20]}") == ""


@given(COUNTS, WORDS, HANDLES, st.lists(st.tuples(st.sampled_from(["user", "assistant", "noted"]), WORDS)))
def test_a_note_gives_its_remarks_back(
    rounds: int, facts: str, handle: str | None, remarks: list[tuple[str, str]]
) -> None:
    """A later compaction repeats what an earlier one kept, in the same order and with the same speakers."""
    said = [(role, text) for role, text in remarks if text.strip()]
    facts = f"read: {facts}"  # as a summary of actions begins
    note = stand_ins.note(rounds, facts, said, 1 << 20, handle, None)
    assert stand_ins.is_note(note)
    assert stand_ins.remarks_in(note) == [(role, " ".join(text.split())) for role, text in said]


@given(COUNTS, st.text(min_size=1), HANDLES)
def test_a_note_of_a_model_gives_its_summary_back(rounds: int, summary: str, handle: str | None) -> None:
    """The whole summary is one remark, without a speaker."""
    note = stand_ins.note_by_model(rounds, summary, handle, None)
    assert stand_ins.is_note(note)
    assert stand_ins.remarks_in(note) == [("noted", summary)]


def test_the_first_line_says_whether_a_result_was_cut() -> None:
    """A truncated result does not say which lines it shows."""
    assert stand_ins.is_truncated(stand_ins.truncated("t", 9, 1, "head", "way").split("\n", maxsplit=1)[0])
    assert stand_ins.is_truncated(stand_ins.truncated_briefly(None, None))
    assert not stand_ins.is_truncated("a.py: showing lines 1-2 of 2 total | bytes 0-9 of 9")


WINDOW = Window(path="a.py", text="", start_byte=0, end_byte=9, total_bytes=90)


@pytest.mark.parametrize(
    ("window", "shows_lines"),
    [
        (WINDOW._replace(first_line=1, last_line=3, total_lines=9, total_lines_exact=True), True),
        (WINDOW._replace(first_line=1, last_line=3, total_lines=9, next=Call("view", {"file_path": "a.py"})), True),
        (WINDOW, False),
        (WINDOW._replace(version="1.2.3", bound="deadline"), False),
    ],
)
def test_the_header_of_a_page_is_known_again(window: Window, shows_lines: bool) -> None:
    """It is recognised in content to be written, and in results whose lines are counted."""
    head = notices.header(window, PYTHON, escaped=2, notices=("lines end in CRLF",))
    assert stand_ins.find_stand_in(f"x\n{head}\ny")
    assert notices.shows_no_lines(head) is not shows_lines


def test_the_header_of_an_outline_shows_no_lines() -> None:
    """It names the lines of landmarks, and shows none of them."""
    assert notices.shows_no_lines("a.py: " + notices.outline_of(12, 90, is_complete=True))


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.booleans())
def test_the_mark_of_a_clipped_line_is_known_again(body: int, shown: int, endless: bool) -> None:
    """It comes after text of the file, on the same line."""
    line = Line(7, 0, "text", body + shown, shown, is_endless=endless)
    assert stand_ins.find_stand_in("first\ntext" + notices.clipped(line, "read_file(path='a')"))


LINES = st.lists(
    st.tuples(st.integers(0, 10**7), st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
)


@given(LINES, st.sampled_from([notices.gutter, notices.cat_gutter]))
def test_lines_that_were_copied_with_their_numbers_are_the_lines(
    lines: list[tuple[int, str]], gutter: Callable[[int, str], str]
) -> None:
    """Both gutters are removed, and nothing else."""
    page = "\n".join(gutter(number, text) for number, text in lines)
    assert notices.without_gutters(page) == "\n".join(text for _, text in lines)


@given(st.integers(0, 10**7), st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_a_quoted_line_of_a_prompt_is_the_line(number: int, text: str) -> None:
    """A prompt numbers lines as `view` does; a model that quotes one may put a colon or blanks there."""
    assert notices.without_number(notices.gutter(number, text)) == text
    assert notices.without_number(f" {number} :MOVE A TO B.") == "MOVE A TO B."


def test_one_thing_is_named_in_the_singular() -> None:
    """Nouns and verbs agree with their count, thousands and irregular plurals included."""
    remarks = [("user", "x" * 40)] * 3
    shown = [stand_ins.note(1, "", remarks[first:], 60, None, None).splitlines()[1] for first in (1, 2)]
    assert shown == ["2 earlier remarks are not repeated.", "1 earlier remark is not repeated."]
    assert [notices.counted(count, "recovery", "recoveries") for count in (0, 1, 2)] == [
        "0 recoveries",
        "1 recovery",
        "2 recoveries",
    ]
    assert [words.many(count, "byte") for count in (1, 1_000)] == ["1 byte", "1,000 bytes"]
    assert notices.hidden_secrets(1).startswith("1 secret is hidden")
