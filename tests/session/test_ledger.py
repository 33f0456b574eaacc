"""What does the ledger of files count, what was really shown, and what is advised or refused before it is done?"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import CallerError, Window, Workspace
from penstock.session.known_files import ROLES, file_version, merged, missing
from penstock.session.ledger import Ledger, shown
from penstock.session.verdicts import NO_LIMITS, FileLimits, advice
from penstock.text import stand_ins

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("S-5")


def with_files(did: str, count: int, limits: FileLimits | None = None) -> Ledger:
    """Return a ledger of that many distinct files."""
    made = Ledger(limits=limits or FileLimits())
    for number in range(count):
        act: dict[str, Any] = {"did": did, "path": f"{number}.py", "version": "v"}
        made = made.after(act | ({"total_lines": 1} if did == "created" else {}))
    return made


def seen_of(lines: int, *ranges: tuple[int, int], total: int | None = None) -> Ledger:
    """Return a ledger of a file with that many lines, of which these were shown."""
    made = Ledger()
    for first, last in ranges:
        made = made.read("a.py", "v1", first, last, lines if total is None else total)
    return made


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("did", "check", "recommended", "maximum"),
    [("read", "may_read", 50, 75), ("modified", "may_modify", 15, 25), ("created", "may_create", 10, 20)],
)
def test_distinct_files_are_advised_above_what_is_recommended_and_refused_above_the_most(
    did: str, check: str, recommended: int, maximum: int
) -> None:
    """The last recommended file is fine, the next is advised, the last of all is advised, and the one after it is refused."""
    before = {recommended - 1: "ok", recommended: "advised", maximum - 1: "advised", maximum: "refused"}
    for count, level in before.items():
        verdict = getattr(with_files(did, count), check)("new.py")
        assert verdict.level == level
        assert (verdict.text == "") == (level == "ok")
        assert ("override=True" in verdict.text) == (level == "refused")
        assert (f"file {count + 1} {did}" in verdict.text) == (level != "ok")


@pytest.mark.parametrize("check", ["may_read", "may_modify", "may_create"])
def test_a_file_that_counts_already_is_no_new_one(check: str) -> None:
    """A known file may be used again at the maximum, and above it."""
    did = {"may_read": "read", "may_modify": "modified", "may_create": "created"}[check]
    full = with_files(did, 80)
    assert getattr(full, check)("./x/../7.py").level == "ok"
    assert getattr(full, check)("80.py").level == "refused"


@pytest.mark.parametrize(
    ("lines", "level"), [(499, "ok"), (500, "ok"), (501, "advised"), (1000, "advised"), (1001, "refused"), (None, "ok")]
)
def test_lines_of_one_read(lines: int | None, level: str) -> None:
    """500 lines are fine, 1,000 the most; a read of unknown length is judged only by the number of files."""
    verdict = Ledger().may_read("a b.py", lines)
    assert verdict.level == level
    assert ('view(file_path="a b.py", limit=500)' in verdict.text) == (level != "ok")


def test_each_limit_can_be_switched_off() -> None:
    """Without limits nothing is advised, however much there is."""
    for did, check in (("read", "may_read"), ("modified", "may_modify"), ("created", "may_create")):
        assert getattr(with_files(did, 200, NO_LIMITS), check)("new.py") == ("ok", "")
    assert Ledger(limits=NO_LIMITS).may_read("a.py", 10**6) == ("ok", "")
    only_lines = FileLimits(files_read=None)
    assert Ledger(limits=only_lines).may_read("a.py", 1001).level == "refused"


def test_limits_are_two_numbers_in_order() -> None:
    """A profile may give a list; a value that cannot be a limit is named in an error."""
    assert FileLimits(files_read=[1, 2]).files_read == (1, 2)  # type: ignore[arg-type]
    for wrong in ([2, 1], [1], [-1, 2], "12", [1.0, 2.0], 5):
        with pytest.raises(CallerError, match="files_read: what is recommended"):
            FileLimits(files_read=wrong)  # type: ignore[arg-type]


def test_several_reasons_are_told_together() -> None:
    """An override covers all refusals, so all are listed; advice is left for later."""
    text = with_files("read", 75).may_read("new.py", 2000).text
    assert "file 76 read" in text
    assert "2000 lines in one read" in text
    assert with_files("read", 75).may_read("new.py", 600).text.count("\n") == 0


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_counts_are_of_distinct_files_with_repeated_reads_beside_them() -> None:
    """Pages of a file are reads of one file; a page that shows nothing new is a repeated read."""
    made = (
        Ledger()
        .read("a.py", "v1", 1, 100, 300)
        .read("./a.py", "v1", 101, 200, 300)
        .read("a.py", "v1", 50, 150, 300)  # all of it was seen
        .read("a.py", "v2", 50, 150, 310)  # another version: nothing of it was seen
        .read("sub/../b.py", "w", 1, 1, 1)
        .modified("a.py", "v3")
        .created("c.py", "x", total_lines=3)
        .modified("c.py", "y")
        .deleted("b.py", turn=9)
    )
    assert made.counts == (2, 2, 1, 1, 5, 1)
    assert [(file.path, file.role) for file in made.files.values()] == [
        ("a.py", "modified"),
        ("b.py", "deleted"),
        ("c.py", "created"),
    ]
    assert made.files["b.py"].changed_turn == 9


def test_a_page_read_again_after_a_deletion_is_of_a_file_that_is_there() -> None:
    """Somebody made the file again; it still counts as deleted once."""
    file = Ledger().deleted("a.py").read("a.py", "v", 1, 1, 1).files["a.py"]
    assert (file.role, file.roles) == ("read", ("read", "deleted"))


# ── what was shown ───────────────────────────────────────────────────────────────────────────────────────────────


def test_ranges_are_merged_and_belong_to_one_version() -> None:
    """Adjacent ranges become one; another version starts from nothing."""
    made = seen_of(300, (101, 200), (1, 50), (51, 60))
    assert made.seen("a.py", "v1") == ((1, 60), (101, 200))
    assert made.seen("a.py", "v2") == ()
    assert made.seen("b.py", "v1") == ()
    assert made.read("a.py", "v2", 5, 6, 300).seen("a.py", "v1") == ()


def test_a_file_is_wholly_seen_with_its_last_line() -> None:
    """One line short is not whole; an empty file is whole once it was viewed."""
    assert not seen_of(300, (1, 299)).is_wholly_seen("a.py", "v1")
    assert seen_of(300, (1, 299), (300, 300)).is_wholly_seen("a.py", "v1")
    assert not seen_of(300, (1, 300)).is_wholly_seen("a.py", "v2")
    assert Ledger().read("empty", "v", 0, 0, 0).is_wholly_seen("empty", "v")
    assert not Ledger().is_wholly_seen("empty", "v")


def test_without_a_total_a_file_is_never_wholly_seen() -> None:
    """This holds until the length is known; a total that was known for the same version stays known."""
    made = Ledger().read("a.py", "v1", 1, 100)
    assert not made.is_wholly_seen("a.py", "v1")
    assert made.read("a.py", "v1", 100, 100, 100).read("a.py", "v1", 1, 5).is_wholly_seen("a.py", "v1")


def test_the_same_content_is_the_same_file_whatever_its_time_stamps() -> None:
    """Equal digests carry what was seen over to the new version."""
    made = Ledger().read("a.py", "v1", 1, 50, 100, digest="d").read("a.py", "v2", 51, 100, 100, digest="d")
    assert made.is_wholly_seen("a.py", "v2")


def test_lines_after_the_end_show_that_it_was_another_file() -> None:
    """Two files may share a version by chance; ranges that cannot belong to one file are not merged."""
    assert Ledger().created("a.py", "v1", total_lines=5).read("a.py", "v1", 8, 9).seen("a.py", "v1") == ((8, 9),)
    assert Ledger().read("a.py", "v1", 8, 9).read("a.py", "v1", 1, 5, 5).seen("a.py", "v1") == ((1, 5),)


def test_clipped_lines_were_not_shown() -> None:
    """A line with a hidden end is missing among its neighbours."""
    made = Ledger().read("a.py", "v", 1, 10, 10, clipped=[4, 5, 9])
    assert made.seen("a.py", "v") == ((1, 3), (6, 8), (10, 10))


@pytest.mark.parametrize("edit", [(40, 42, 5), (40, 39, 3), (1, 100, 0), (100, 100, 1), (1, 1, 2)])
def test_an_edit_of_what_was_seen_leaves_the_rest_seen(edit: tuple[int, int, int]) -> None:
    """A file that was read whole stays wholly known after any edit."""
    first, last, lines = edit
    made = seen_of(100, (1, 100)).modified("a.py", "v2", before="v1", edits=[edit])
    assert made.is_wholly_seen("a.py", "v2")
    assert made.files["a.py"].total_lines == 100 + lines - (last - first + 1)


def test_an_edit_shifts_what_is_below_it() -> None:
    """Seen ranges move with their lines, also with several edits at once."""
    made = seen_of(100, (10, 30), (50, 60))
    assert made.modified("a.py", "v2", before="v1", edits=[(15, 16, 5), (40, 40, 0)]).seen("a.py", "v2") == (
        (10, 33),
        (52, 62),
    )


def test_new_lines_in_place_of_unseen_ones_are_not_seen() -> None:
    """The edit may have left part of an unseen line."""
    made = seen_of(100, (10, 30)).modified("a.py", "v2", before="v1", edits=[(29, 31, 3)])
    assert made.seen("a.py", "v2") == ((10, 28),)


@pytest.mark.parametrize(
    "arguments",
    [
        {},  # no explanation
        {"before": "other", "edits": [(5, 5, 2)]},  # an edit of a version that was never seen
        {"before": "v1", "edits": [(5, 5, 2)], "total_lines": 100},  # 99 lines and 2 are not 100
        {"before": "v1", "edits": [(5, 5, 2)], "total_lines": 102},  # and not 102
    ],
)
def test_a_change_that_nobody_explains_leaves_nothing_seen(arguments: dict[str, Any]) -> None:
    """Knowing nothing is better than knowing something wrong."""
    made = seen_of(100, (1, 100)).modified("a.py", "v2", **arguments)
    assert made.seen("a.py", "v2") == ()
    assert made.may_replace("a.py", "v2").level == "refused"


def test_what_the_model_wrote_it_has_seen() -> None:
    """A file that was created, or replaced as a whole, is known."""
    assert Ledger().created("a.py", "v1", total_lines=3).is_wholly_seen("a.py", "v1")
    made = seen_of(100, (1, 3)).modified("a.py", "v2", is_whole=True, total_lines=7)
    assert made.is_wholly_seen("a.py", "v2")


def test_after_a_deletion_nothing_is_seen() -> None:
    """A file that reappears is another one."""
    assert seen_of(3, (1, 3)).deleted("a.py").seen("a.py", "v1") == ()


# ── pages of a workspace ─────────────────────────────────────────────────────────────────────────────────────────


def test_pages_of_one_version_belong_together(tmp_path: Path) -> None:
    """Every page carries its own token; the ledger takes them as one version until the file changes."""
    (tmp_path / "a.py").write_text("".join(f"{number}\n" for number in range(250)))
    workspace, made = Workspace(tmp_path), Ledger()
    pages = [workspace.view("a.py", offset=offset) for offset in (0, 100, 200)]
    assert len({page.version for page in pages}) == 3
    assert len({file_version(page.version) for page in pages}) == 1
    for page in pages:
        assert not made.is_wholly_seen("a.py", page.version)
        made = made.after(shown(page, turn=4))
    assert made.is_wholly_seen("a.py", pages[0].version)
    assert made.files["a.py"].read_turn == 4
    with (tmp_path / "a.py").open("a") as file:
        file.write("more\n")
    assert made.seen("a.py", workspace.view("a.py").version) == ()


def test_a_page_by_bytes_shows_whole_lines_too(tmp_path: Path) -> None:
    """Whole lines in the page are counted; a base64 page has none."""
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    workspace = Workspace(tmp_path)
    page = workspace.read_file("a.py", start_byte=0, max_bytes=5)
    assert isinstance(page, Window)
    assert Ledger().after(shown(page)).seen("a.py", page.version) == ((1, 2),)
    coded = workspace.read_file("a.py", encoding="base64")
    assert isinstance(coded, Window)
    made = Ledger().after(shown(coded))
    assert (made.counts.reads, made.seen("a.py", coded.version)) == (1, ())


@pytest.mark.parametrize(
    "line", [b"x" * 5000, b"\xff\xfe\xfd is not UTF-8", b"a \x1b[31m colour", "left\u202eright".encode()]
)
def test_a_line_that_is_not_shown_as_it_is_was_not_seen(tmp_path: Path, line: bytes) -> None:
    """A clipped or escaped line, written back, would be another line."""
    (tmp_path / "a.py").write_bytes(b"one\n" + line + b"\nthree\n")
    page = Workspace(tmp_path).view("a.py")
    made = Ledger().after(shown(page))
    assert made.seen("a.py", page.version) == ((1, 1), (3, 3))
    assert "line 2 of 3 was not shown in full" in made.may_replace("a.py", page.version).text


def test_a_fragment_and_a_page_after_the_end_show_no_line(tmp_path: Path) -> None:
    """Part of a line is not a line, and an empty page shows nothing."""
    (tmp_path / "long").write_text("x" * 300_000)
    (tmp_path / "short").write_text("one\n")
    workspace = Workspace(tmp_path)
    for page in (workspace.read_file("long", start_byte=0), workspace.view("short", offset=5)):
        assert isinstance(page, Window)
        assert Ledger().after(shown(page)).seen(page.path, page.version) == ()
        assert shown(page).get("clipped") == ([1] if page.fragment else None)


# ── writes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_wholly_seen_may_be_replaced() -> None:
    """Afterwards the file is known as what the model wrote."""
    made = seen_of(300, (1, 150), (151, 300))
    assert made.may_replace("a.py", "v1") == ("ok", "")


@pytest.mark.parametrize(
    ("made", "version", "why", "call"),
    [
        (seen_of(345, (1, 100)), "v1", "lines 101-345 of 345 were not shown", 'view(file_path="a.py", offset=100, limit=245)'),
        (seen_of(9000, (1, 99)), "v1", "lines 100-9000 of 9000", 'view(file_path="a.py", offset=99, limit=500)'),
        (seen_of(9, (1, 3), (5, 9)), "v1", "line 4 of 9 was not shown", 'view(file_path="a.py", offset=3, limit=1)'),
        (seen_of(9, (9, 9)), "v1", "lines 1-8 of 9", 'view(file_path="a.py", limit=8)'),
        (seen_of(9, *((n, n) for n in (1, 3, 5, 7))), "v1", "lines 2, 4, 6 and 1 more ranges of 9", "limit=1"),
        (seen_of(9, (1, 9)), "v2", "it was changed since it was last shown", 'view(file_path="a.py", limit=500)'),
        (Ledger(), "v1", "nothing of this version was shown", 'view(file_path="a.py", limit=500)'),
        (Ledger().read("a.py", "v1", 1, 50), "v1", "its end was not shown", 'offset=50, limit=500)'),
    ],
)  # fmt: skip
def test_what_was_only_partly_seen_is_not_replaced(made: Ledger, version: str, why: str, call: str) -> None:
    """The refusal says what is missing, with the call that shows it, and the override."""
    verdict = made.may_replace("a.py", version)
    assert verdict.level == "refused"
    assert why in verdict.text
    assert call in verdict.text
    assert "override=True" in verdict.text


def test_an_edit_of_a_section_needs_no_whole_view() -> None:
    """Only a write that replaces a file is refused for lines that were not shown."""
    assert seen_of(345, (1, 100)).may_modify("a.py") == ("ok", "")


OURS = [
    "[OUTPUT TRUNCATED]\nTool 'x' returned ~9 tokens, showing first ~1.",
    stand_ins.gap(3, 40),
    stand_ins.as_before("one", "two", 9),
    stand_ins.cleared(stand_ins.CLEARED, "view a.py", 10, 3, "h1", None),
    stand_ins.cleared(stand_ins.failed_with("boom"), "x", 10, 3, None, None),
    stand_ins.only_new("x", 9, 3, None, None),
    stand_ins.note(2, "", [], 500, None, None),
    "x = 1  …[4000 bytes hidden: read_file(path='a')]",
    "x = 1  …[at least 4000 bytes hidden: read_file(path='a')]",
    "a.py: showing lines 1-100 of 345 total | bytes 0-9 of 90 | version 1.2.3",
    "a.py: showing bytes 0-9 of 90 | version 1.2.3",
]


@pytest.mark.parametrize("line", OURS)
@pytest.mark.parametrize("check", ["may_modify", "may_create", "may_replace"])
def test_our_own_notices_are_not_written_into_files(line: str, check: str) -> None:
    """Text that stands in for other text is refused in any content, with advice and the override."""
    made = seen_of(3, (1, 3))
    version = ("v1",) if check == "may_replace" else ()
    for content in (line, f"first\r\n{line}\nlast\n"):
        verdict = getattr(made, check)("a.py", *version, content)
        assert verdict.level == "refused"
        assert "Read what it stands for" in verdict.text
        assert "override=True" in verdict.text
    assert getattr(made, check)("a.py", *version, f"first\n# about: {line[1:]}".partition("…")[0][:20]).level == "ok"


@pytest.mark.parametrize("line", OURS[:7])
def test_every_line_that_is_disarmed_in_results_is_known_in_content(line: str) -> None:
    """The two agree, as a disarmed line is no longer a notice."""
    assert stand_ins.find_stand_in(line)
    assert stand_ins.find_stand_in(stand_ins.disarm(line)) == ""


def test_a_refusal_is_inert() -> None:
    """Neither a path nor a line can add a control character or a line to a verdict."""
    made = Ledger().read("a\x1b\n.py", "v", 1, 2, 9)
    text = made.may_replace("a\x1b\n.py", "v", "[cleared: \x1b[31m evil").text
    assert "\x1b" not in text
    assert len(text.splitlines()) == 2


# ── classes of files ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("total_lines", "expected"),
    [
        (0, ("whole", "whole")),
        (199, ("whole", "whole")),
        (200, ("whole", "sections")),
        (500, ("whole", "sections")),
        (501, ("sections", "sections")),
        (1000, ("sections", "sections")),
        (1001, ("windows", "sections")),
    ],
)
def test_how_a_file_is_best_read_and_edited(total_lines: int, expected: tuple[str, str]) -> None:
    """The advice is in full, in sections, or only in windows."""
    said = advice(total_lines)
    assert said[:2] == expected
    assert said.text


# ── JSON and the laws ────────────────────────────────────────────────────────────────────────────────────────────

paths = st.sampled_from(["a.py", "./a.py", "b/../b.py", "b.py", "é\\x0a.py"])
versions = st.sampled_from(["v1", "v2", "90.40.123456789011234567890", "90.90.123456789010987654321"])
sizes = st.one_of(st.none(), st.integers(0, 99))
turns = st.one_of(st.none(), st.integers(0, 9))


@st.composite
def acts(draw: st.DrawFn) -> dict[str, Any]:
    """Draw any act as a journal holds it."""
    did = draw(st.sampled_from(ROLES))
    act: dict[str, Any] = {"did": did, "path": draw(paths), "turn": draw(turns)}
    if did == "deleted":
        return act
    digest = st.sampled_from([None, "", "d1", "d2"])
    act |= {"version": draw(versions), "size_bytes": draw(sizes), "digest": draw(digest)}
    total = draw(st.integers(0, 30))
    if did == "created":
        return act | {"total_lines": total}
    if did == "modified":
        kind = draw(st.sampled_from(["whole", "edits", "unknown"]))
        if kind == "whole":
            return act | {"is_whole": True, "total_lines": total}
        if kind == "unknown":
            return act
        cuts = sorted(draw(st.lists(st.integers(1, 30), min_size=2, max_size=4, unique=True)))
        edits = [[first, last - 1, draw(st.integers(0, 3))] for first, last in zip(cuts[::2], cuts[1::2], strict=False)]
        return act | {"before": draw(versions), "edits": edits, "total_lines": draw(st.sampled_from([None, total]))}
    lines = sorted(draw(st.lists(st.integers(1, 30), min_size=2, max_size=2)))
    known = draw(st.sampled_from([None, 30]))
    clipped = draw(st.lists(st.integers(1, 30), max_size=3))
    return act | {"first_line": lines[0], "last_line": lines[1], "total_lines": known, "clipped": clipped}


@given(st.lists(acts(), max_size=12))
def test_replaying_the_acts_gives_an_equal_ledger(journal: list[dict[str, Any]]) -> None:
    """Live acts, acts through JSON, and acts after any checkpoint give the same ledger."""
    live = Ledger()
    for place, act in enumerate(journal):
        live = live.after(act)
        restored = Ledger.from_dict(json.loads(json.dumps(live.to_dict())))
        assert restored == live
        assert restored.after(*json.loads(json.dumps(journal[place + 1 :]))) == Ledger().after(*journal)
    assert Ledger().after(*json.loads(json.dumps(journal))) == live


@given(st.lists(acts(), max_size=12))
def test_counts_never_fall(journal: list[dict[str, Any]]) -> None:
    """No act and no undo lowers a count."""
    made = Ledger()
    for act in journal:
        after = made.after(act)
        assert all(new >= old for new, old in zip(after.counts, made.counts, strict=True))
        assert after.counts.files_read <= after.counts.reads
        made = after


@given(st.lists(acts(), max_size=12))
def test_what_is_seen_are_lines_of_the_file_in_order(journal: list[dict[str, Any]]) -> None:
    """Ranges are merged, and none extends beyond the last line if that is known."""
    for file in Ledger().after(*journal).files.values():
        assert file.seen == merged(file.seen)
        assert all(first >= 1 for first, _ in file.seen)
        if file.seen and file.total_lines is not None:
            assert file.seen[-1][1] <= file.total_lines


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), max_size=6), st.integers(1, 40), st.integers(0, 40))
def test_ranges_are_sets_of_lines(ranges: list[tuple[int, int]], first: int, last: int) -> None:
    """Merging keeps the lines, the missing lines are the others, and both have as few ranges as possible."""

    def lines(some: Any) -> set[int]:
        return {line for start, end in some for line in range(start, end + 1)}

    made = merged(ranges)
    gaps = missing(made, first, last)
    assert lines(made) == lines(ranges)
    assert lines(gaps) == set(range(first, last + 1)) - lines(ranges)
    for some in (made, gaps):
        assert all(one[1] + 1 < other[0] for one, other in pairwise(some))


@given(st.integers(1, 60), st.data())
def test_an_edited_file_is_known_as_far_as_a_plain_model_knows_it(total: int, data: st.DataObject) -> None:
    """A list of seen and unseen lines agrees after any edits."""
    known = data.draw(st.lists(st.booleans(), min_size=total, max_size=total))
    made = Ledger().read("a", "v1", 1, total, total, clipped=[n for n, is_known in enumerate(known, 1) if not is_known])
    cuts = sorted(data.draw(st.lists(st.integers(1, total + 1), min_size=2, max_size=6, unique=True).filter(len)))
    edits = [(a, b - 1, data.draw(st.integers(0, 3))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    for first, last, lines in reversed(edits):
        known[first - 1 : last] = [all(known[first - 1 : last])] * lines
    after = made.modified("a", "v2", before="v1", edits=edits, total_lines=len(known))
    assert after.seen("a", "v2") == merged((n, n) for n, is_known in enumerate(known, 1) if is_known)


@pytest.mark.parametrize(
    "act",
    [
        {"path": "a"},
        {"did": "counts"},
        {"did": ["read"], "path": "a"},
        {"did": "read", "path": ""},
        {"did": "read", "path": 7, "version": "v"},
        {"did": "read", "path": "a"},
        {"did": "read", "path": "a", "version": None},
        {"did": "read", "path": "a", "version": "v", "digest": 5},
        {"did": "read", "path": "a", "version": "v", "first_line": 5, "last_line": 9, "total_lines": 7},
        {"did": "read", "path": "a", "version": "v", "first_line": 5, "last_line": 2},
        {"did": "read", "path": "a", "version": "v", "first_line": True, "last_line": 2},
        {"did": "read", "path": "a", "version": "v", "turn": -1},
        {"did": "read", "path": "a", "version": "v", "surprise": 1},
        {"did": "modified", "path": "a", "version": "v", "is_whole": True},
        {"did": "modified", "path": "a", "version": 7},
        {"did": "modified", "path": "a", "version": "v", "size_bytes": -1},
        {"did": "deleted", "path": "a", "turn": -1},
        {"did": "modified", "path": "a", "version": "v", "edits": [[1, 2]]},
        {"did": "modified", "path": "a", "version": "v", "edits": [[1, 5, 1], [5, 6, 1]]},
        {"did": "modified", "path": "a", "version": "v", "edits": [[5, 3, 1]]},
        {"did": "created", "path": "a", "version": "v", "total_lines": None},
        {"did": "created", "path": "a", "version": 7, "total_lines": 1},
        {"did": "created", "path": "a", "version": "v", "total_lines": 1, "size_bytes": -1},
        {"did": "created", "path": "a", "version": "v", "total_lines": 1, "turn": "1"},
    ],
)
def test_an_act_that_cannot_be_is_named(act: dict[str, Any]) -> None:
    """An act from a damaged journal is named in an error."""
    with pytest.raises(CallerError):
        Ledger().after(act)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"files": [], "limits": {"files_eaten": [1, 2]}},
        {"files": [7], "limits": {}},
        {"files": [{}], "limits": {}},
        {"files": [{"path": "a", "reads": "many"}], "limits": {}},
        {"files": [{"path": "a", "role": "eaten"}], "limits": {}},
        {"files": [{"path": "a", "seen": [[5, 3]]}], "limits": {}},
        {"files": [{"path": "a", "seen": [[0, 3]]}], "limits": {}},
        {"files": [{"path": "a", "seen": ["ab"]}], "limits": {}},
        {"files": [{"path": "a", "seen": [[1, 3], [4, 5]]}], "limits": {}},
        {"files": [{"path": "a", "surprise": 1}], "limits": {}},
    ],
)
def test_what_is_no_ledger_is_refused(value: dict[str, Any]) -> None:
    """An edited checkpoint is named in an error."""
    with pytest.raises(CallerError):
        Ledger.from_dict(value)


def test_an_edit_of_lines_that_are_not_there_leaves_nothing_known() -> None:
    """An empty file cannot lose a line: its length becomes unknown, and is never below zero."""
    ledger = Ledger().modified("a.py", "v2", is_whole=True, total_lines=0)
    after = ledger.modified("a.py", "v1", before="v2", edits=[(1, 1, 0)])
    assert after.file("a.py").total_lines is None
    assert Ledger.from_dict(after.to_dict()) == after


@pytest.mark.parametrize(("limit", "lines"), [((7, 9), 7), ((1, 9), 1), ((0, 9), 1), (None, 500)])
def test_a_page_that_is_recommended_has_a_line_at_least(limit: Any, lines: int) -> None:
    """The recommended size of one read applies, or 500 lines if there is none."""
    verdict = Ledger(limits=FileLimits(lines_per_read=limit)).read("a.py", "v", 1, 1, 9_000).may_replace("a.py", "v")
    assert f"limit={lines})" in verdict.text


def test_what_is_not_said_of_the_same_version_is_as_it_was_known() -> None:
    """Size, digest, lines, and the turns of reads and changes are kept for the same version and not for another."""
    first = Ledger().read("a.py", "v", 1, 2, 9, size_bytes=90, digest="d", turn=3).read("a.py", "v", 3, 3)
    file = first.files["a.py"]
    assert (file.total_lines, file.size_bytes, file.digest, file.read_turn, file.changed_turn) == (9, 90, "d", 3, None)
    assert (file.seen, file.reads, file.repeated_reads) == (((1, 3),), 2, 0)
    changed = first.modified("a.py", "w", turn=5).read("a.py", "w", 0, 0, 0, size_bytes=0, turn=6).files["a.py"]
    assert (changed.total_lines, changed.size_bytes, changed.digest) == (0, 0, "")
    assert (changed.read_turn, changed.changed_turn, changed.roles, changed.role) == (
        6,
        5,
        ("read", "modified"),
        "modified",
    )
    again = first.read("a.py", "v", 0, 0, 0, size_bytes=0)  # two files may share a version by chance
    assert (again.files["a.py"].total_lines, again.files["a.py"].size_bytes) == (0, 0)
    assert again.counts.repeated_reads == 0  # a page that shows nothing repeats nothing
    assert first.read("a.py", "v", 2, 3).counts.repeated_reads == 1
    assert first.read("a.py", "v", 2, 4).counts.repeated_reads == 0
    gone = first.created("b.py", "x", total_lines=2, turn=7).deleted("b.py", turn=8).files["b.py"]
    assert (gone.role, gone.roles, gone.changed_turn, gone.total_lines) == ("deleted", ("created", "deleted"), 8, None)
