"""Are small files that would take very long, large lines and impossible figures bounded, with omissions reported (X-1, X-2)?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.cli.session_report import story_json, story_words
from penstock.hosts.sessions import read_session, records
from penstock.hosts.sessions.records import SessionFile
from penstock.hosts.sessions.reports import replay_of, story_of
from penstock.inspection.page import story_page
from penstock.inspection.timeline import Compacted, Said
from penstock.text.json_access import MAX_WHOLE_NUMBER, whole_number
from tests.hosts.histories import Claude, lines
from tests.hosts.sessions.telling import told
from tests.hosts.sessions.test_opencode import Opencode
from tests.hosts.sessions.test_pi import Pi
from tests.hosts.sessions.test_rescue import rescued

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.sessions.telling import Record, Told

pytestmark = pytest.mark.proves("X-1", "X-2")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the length of each record that is parsed separately."""
    seen: list[int] = []
    real = SessionFile.record

    def record(self: SessionFile, place: Any) -> Record:
        seen.append(place.end_byte - place.start_byte)
        return real(self, place)

    monkeypatch.setattr(SessionFile, "record", record)
    return seen


def of_many_compactions(count: int) -> list[Record]:
    """Return a session of pi in which each compaction keeps all that was said."""
    talk = Pi()
    first = talk.says("Go.")
    for number in range(count):
        talk.answers(f"Answer {number}. " + "x" * 200)
    for _ in range(count):
        talk.add("compaction", summary="s", firstKeptEntryId=first, tokensBefore=5)
    return talk.records


def test_compactions_that_keep_everything_are_read_a_few_times_the_file(tmp_path: Path, reads: list[int]) -> None:
    """A thousand compactions of a thousand records would be a million reads; what is left out is counted."""
    made = of_many_compactions(1_000)
    read = told("pi", tmp_path / "s", made)
    assert sum(reads) <= 6 * len(lines(made))
    assert len(read.of(Compacted)) == 1_000
    assert read.counts.unknown["kept by too many compactions"] > 900
    few = told("pi", tmp_path / "f", of_many_compactions(3))
    assert few.counts.unknown.total() == 0
    assert len(few.projection) == 5


def test_a_record_that_a_compaction_names_often_is_kept_once(tmp_path: Path, reads: list[int]) -> None:
    """A long list of one id makes a small file."""
    talk = Claude()
    talk.says("x " * 100_000)
    kept = {"preservedMessages": {"anchorUuid": "s1", "uuids": [talk.last] * 1_000 + [7, "none"]}}
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "logicalParentUuid": talk.last}
    talk.records.append({**boundary, "compactMetadata": kept})
    talk.last = "b"
    talk.add("user", "This session is being continued", isCompactSummary=True)
    talk.records[-1]["uuid"] = "s1"
    read = told("claude", tmp_path / "s", talk.records)
    assert [one.again for one in read.of(Said)] == [False, False, True]
    assert sum(reads) < 3 * len(lines(talk.records))


def test_boundaries_that_keep_everything_are_read_a_few_times_the_file(tmp_path: Path, reads: list[int]) -> None:
    """Each of many names all that was said before."""
    talk = Claude()
    for number in range(300):
        talk.says(f"{number} " + "x" * 5_000)
    said = [record["uuid"] for record in talk.records[1:]]
    for number in range(100):
        kept = {"preservedMessages": {"anchorUuid": f"b{number}", "uuids": said}}
        boundary = {"type": "system", "subtype": "compact_boundary", "uuid": f"b{number}"}
        talk.records.append({**boundary, "logicalParentUuid": talk.last, "compactMetadata": kept})
        talk.last = f"b{number}"
    read = told("claude", tmp_path / "s", talk.records)
    assert sum(reads) <= 6 * len(lines(talk.records))
    assert read.counts.unknown["kept by too many compactions"] > 90


def test_summaries_followed_by_everything_are_read_a_few_times_the_export(tmp_path: Path, reads: list[int]) -> None:
    """opencode names the first message that stays; here it is the first of all."""
    talk = Opencode()
    first = talk.says("x" * 5_000)
    for number in range(300):
        talk.says(f"{number} " + "x" * 5_000)
    for _ in range(100):
        talk.compacts(first)
    read = told("opencode", tmp_path / "s", [talk.document])
    assert sum(reads) <= 8 * (tmp_path / "s").stat().st_size
    assert read.counts.unknown["kept by too many compactions"] > 90
    few = Opencode()
    first = few.says("Go.")
    few.answers("Done.")
    few.compacts(first)
    assert told("opencode", tmp_path / "f", [few.document]).counts.unknown.total() == 0


def huge(digits: str) -> Claude:
    """Return a session whose provider counted that many tokens."""
    talk = Claude()
    talk.says("Go.")
    talk.answers_with("Done.")
    talk.measured(12_345, model="claude-opus-4-6", cached=345)
    for record in talk.records:
        record |= {"sessionId": "s", "cwd": "/p"}
    talk.records[-1]["message"]["usage"] |= dict.fromkeys(("input_tokens", "output_tokens"), f"@{digits}@")
    return talk


@pytest.mark.parametrize("digits", ["1" + "0" * 20, "1" + "0" * 400, "9" * 4_300, "9" * 4_301, "NaN", "1e400", "-1"])
def test_an_impossible_figure_is_ignored(digits: str, tmp_path: Path) -> None:
    """In words, JSON and on a page it is reported as one that is not recorded."""
    path = tmp_path / "s"
    path.write_text(lines(huge(digits).records).replace('"@', "").replace('@"', ""))
    subject, story = story_of("claude", str(path))
    assert all((turn.recorded_tokens or 0) <= 345 and turn.output_tokens is None for turn in story.turns)
    assert story.money is None
    assert "12345" not in story_words(subject, story)
    json.loads(json.dumps(story_json(subject, story), allow_nan=False))
    assert "12345" not in story_page(subject, story)


def test_a_figure_has_a_ceiling() -> None:
    """Up to it all JSON readers agree."""
    assert whole_number(MAX_WHOLE_NUMBER) == 2**53 - 1
    assert whole_number(MAX_WHOLE_NUMBER + 1) is None
    assert (whole_number(0), whole_number(-1), whole_number(True), whole_number(1.0)) == (0, None, None, None)


def with_a_large_line(path: Path, size_bytes: int, *, is_record: bool) -> tuple[Told, int]:
    """Return what is reported of a session with a line of that size in its middle, and the number of other messages."""
    talk = Claude()
    talk.says("Go.")
    talk.answers_with("Done.")
    talk.measured(100)
    rows = lines(talk.records).splitlines(keepends=True)
    line = '{"type":"last-prompt","x":"' + "y" * (size_bytes - 30) + '"}\n'
    line = line if is_record else line.replace("{", "[", 1)
    path.write_text("".join([rows[0], line, *rows[1:], line]))
    return told("claude", path, path.read_bytes()), 2


@pytest.mark.parametrize("is_record", [True, False])
def test_a_line_that_is_too_large_is_not_read_and_not_counted_as_torn(
    is_record: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words, JSON, page, handoff and rescue report it; what follows it is read."""
    monkeypatch.setattr(records, "MAX_RECORD_BYTES", 10_000)
    read, messages = with_a_large_line(tmp_path / "s", 25_000, is_record=is_record)
    assert (read.counts.too_large, read.counts.torn, len(read.of(Said))) == (2, 0, messages)
    subject, story = story_of("claude", str(tmp_path / "s"))
    assert (story.too_large, story.torn) == (2, 0)
    assert story_json(subject, story)["too_large"] == 2
    assert "2 lines larger than any request may be" in story_words(subject, story)
    assert "2 lines of the file are too large to be read." in story_page(subject, story)
    assert replay_of("claude", str(tmp_path / "s"), window_tokens=1_000)[1].story.too_large == 2
    assert read_session("claude", str(tmp_path / "s")).too_large == 2


def test_a_line_of_very_many_objects_is_not_read(tmp_path: Path) -> None:
    """Each takes two bytes of the file, and fifty times that in memory."""
    for count, large in ((200_000, 0), (250_000, 1)):
        content = b'{"type":"last-prompt","x":[' + b"{}," * count + b"0]}\n"
        read = told("claude", tmp_path / "s", content)
        assert (read.counts.too_large, read.counts.torn) == (large, 0)


def test_a_line_is_read_up_to_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line feed is included."""
    monkeypatch.setattr(records, "MAX_RECORD_BYTES", 10_000)
    line = b'{"type":"user","x":"' + b"y" * 9_977 + b'"}\n'
    assert len(line) == 10_000
    for content, large in ((line, 0), (b" " + line, 1), (line[:-1], 0), (b" " * 9_999 + b"x\n" + line, 1)):
        assert told("claude", tmp_path / "s", content).counts.too_large == large


def test_the_bound_is_what_providers_take() -> None:
    """None accepts a request of more than 32 MiB."""
    assert records.MAX_RECORD_BYTES == 32 << 20


def test_a_rescue_says_that_a_line_was_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its content is not carried on."""
    monkeypatch.setattr(records, "MAX_RECORD_BYTES", 10_000)
    with_a_large_line(tmp_path / "s", 25_000, is_record=True)
    done, _ = rescued("claude", str(tmp_path / "s"), 200_000)
    found = {finding.code: finding.sentence for finding in done.findings}
    assert found["too_large_line"].startswith("2 lines are too large")
    assert "torn_line" not in found
