"""The questions are right about the library, and the measure counts what it says, on a small tree and on rows made here."""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from pathlib import Path

import pytest

from bench import local

CLIENT = "import socket\n\n\ndef connect_slowly(host, timeout_seconds=17):\n    return socket.create_connection((host, 80))\n"
SERVER = "LISTEN_BACKLOG = 5\n\n\nclass Server:\n    def close_slowly(self):\n        raise RuntimeError('The server is gone')\n"
SETS = sorted(
    set(local.QUESTIONS.parent.glob("local_questions*.json")) - {local.QUESTIONS.with_name("local_questions_6.json")}
)
QUESTIONS = [one for file in SETS for one in local.questions(file)]
GONE = "Where does the error 'The server is gone' come from?"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two small modules."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "client.py").write_text(CLIENT)
    (root / "server.py").write_text(SERVER)
    return root


def question(text: str, **answers: str) -> local.Question:
    return local.Question(text=text, answers={f"{name}.py": re.compile(line) for name, line in answers.items()})


def asked(rank: int | None, outcome: str = "answered", line_rank: int | None = None) -> local.Asked:
    return local.Asked(
        question=question("Where?"),
        outcome=outcome,
        passages=5,
        rank=rank,
        line_rank=line_rank,
        shown=30,
        turns=2,
        used_tokens=100,
        named_tokens=1_000,
    )


def found(answered: bool) -> local.Found:
    return local.Found(word="where", lines=2, answered=answered, at_once=False)


def test_there_are_at_least_thirty_questions_in_a_set_and_none_twice() -> None:
    """What the measure promises to ask. Sets whose writers did not see each other's may share a question."""
    assert SETS[-1] == local.QUESTIONS
    for file in SETS:
        texts = [one.text for one in local.questions(file)]
        assert len(texts) == len(set(texts)) >= 30


@pytest.mark.skipif(
    sys.version_info[:2] != local.PYTHON or sys.version_info < (3, 11, 4),
    reason="the answers are lines of Python 3.11.4",
)
@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: one.text)
def test_each_answer_is_a_line_or_a_few_of_the_library(one: local.Question) -> None:
    """A pattern that matched no line could not be found, one that matched many would be found by chance."""
    library = Path(sysconfig.get_path("stdlib"))
    for path, pattern in one.answers.items():
        lines = local.text_of(library / path).split("\n")
        assert 1 <= sum(bool(pattern.search(line)) for line in lines) <= 9, path


def test_a_file_may_hold_more_than_one_answer(tmp_path: Path) -> None:
    """Two patterns of one path count both."""
    file = tmp_path / "questions.json"
    answers = [{"path": "server.py", "pattern": "server is gone"}, {"path": "server.py", "pattern": "BACKLOG = 5$"}]
    file.write_text(json.dumps([{"question": GONE, "answers": answers}]))
    [one] = local.questions(file)
    assert [bool(one.answers["server.py"].search(line)) for line in SERVER.split("\n")][:6] == [
        True,
        *[False] * 4,
        True,
    ]


def test_only_a_line_that_matches_is_an_answer(tree: Path) -> None:
    """Neither another line, nor the same number in another file, nor a place that is not there."""
    one = question(GONE, server="server is gone", client="never")
    assert one.answered_by(tree, ("server.py", 6))
    assert one.answered_by(tree, ("./server.py", 6))
    for place in (("server.py", 5), ("client.py", 5), ("server.py", 0), ("server.py", 700), ("none.py", 6)):
        assert not one.answered_by(tree, place), place


def test_the_baseline_takes_the_first_line_of_the_rarest_word(tree: Path) -> None:
    """In the order of paths, letter case aside, with as many lines about it as it may show; words of no file do not count."""
    searching = local.Searching(tree)
    backlog = searching.found(question("Which BACKLOG has a server, absently?", server="= 5"), 1)
    assert backlog == local.Found(word="backlog", lines=1, answered=True, at_once=True)
    slowly = searching.found(question("_slowly?", server="close_slowly"), 30)
    assert slowly == local.Found(word="_slowly", lines=2, answered=False, at_once=False)
    assert searching.found(question("Absently?"), 1) is None
    for shown, is_near in ((6, False), (7, False), (8, True)):
        near = searching.found(question("Backlog?", server="def close_slowly"), shown)
        assert near == local.Found(word="backlog", lines=1, answered=is_near, at_once=False)


def test_local_is_asked_as_a_person_would_and_its_citations_are_checked(tree: Path, tmp_path: Path) -> None:
    """An answer that is there word for word is cited; a question about nothing has no rank, whatever is cited."""
    store = str(tmp_path / "store")
    there = local.asked(tree, question(GONE, server="server is gone"), store)
    assert there.answered
    assert there.outcome == "answered"
    assert there.turns >= 1
    assert there.used_tokens > there.named_tokens >= local.counted(SERVER).tokens
    assert local.asked(tree, question(GONE, server="never written"), store).rank is None


def test_a_run_that_fails_ends_the_measure(tmp_path: Path) -> None:
    """What cannot be asked at all is no question that went unanswered."""
    with pytest.raises(SystemExit, match=r"penstock run failed: .*nowhere"):
        local.run(tmp_path / "nowhere", GONE, str(tmp_path / "store"))


@pytest.mark.skipif(sys.version_info[:2] != local.PYTHON, reason="it asks of no other Python")
def test_the_questions_asked_are_those_of_the_file(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A set that is named takes the place of the newest one; a search that finds as much misses the target."""
    answers = [{"path": "server.py", "pattern": "server is gone"}]
    file = tmp_path / "questions.json"
    file.write_text(json.dumps([{"question": GONE, "answers": answers}]))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tree))
    assert local.main(["--questions", str(file)]) == 1
    printed = capsys.readouterr().out
    assert f"| 1 | {GONE} | 1 of " in printed
    assert ": 1, yes |\n" in printed
    assert "| of 1 questions |" in printed


def test_the_table_has_a_row_for_each_question_and_the_shares(capsys: pytest.CaptureFixture[str]) -> None:
    """A rank above three is an answer among all passages, not among the first; what broke off is named."""
    assert not local.table(
        [(asked(1, line_rank=3), found(False)), (asked(4), None), (asked(None, "irreducible"), found(True))]
    )
    printed = capsys.readouterr().out
    assert printed.count("| Where? |") == 3
    assert "| - of 5, irreducible |" in printed
    assert "| answered by the first 3 passages | 33.3% |" in printed
    assert "| by any passage | 66.7% |" in printed
    assert "| by as many lines about the first of the rarest word | 33.3% |" in printed
    assert "| by the first 3 lines quoted | 33.3% |" in printed
    assert "| by the first line of the rarest word | 0.0% |" in printed
    assert "Tokens: 300 taken, 3000 in the files" in printed


@pytest.mark.parametrize(
    ("ours", "theirs", "met"),
    [((1, 2, 3, 4, None), 2, True), ((1, 2, 4, 4, None), 1, False), ((1, 2, 3, 4, None), 3, False)],
)
def test_the_target_is_a_share_above_the_baseline(ours: tuple[int | None, ...], theirs: int, met: bool) -> None:
    """Three of five meet it, two do not, and three that a search finds as well do not."""
    rows = [(asked(rank), found(number < theirs)) for number, rank in enumerate(ours)]
    assert local.table(rows) is met


def test_lines_of_a_file_that_follow_one_another_are_a_passage() -> None:
    """A gap, or another file, begins the next; so does the same line again."""
    places = [("a.py", 4), ("a.py", 5), ("a.py", 7), ("b.py", 8), ("b.py", 8)]
    assert [passage for _, _, passage in local.in_passages(places)] == [1, 1, 2, 3, 4]
