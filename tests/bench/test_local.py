"""Are the benchmark's questions right about the trees, and does it count what it says? On a small tree and rows made here."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

import pytest

from bench import local

SERVER = "LISTEN_BACKLOG = 5\n\n\nclass Server:\n    def close_slowly(self):\n        raise RuntimeError('The server is gone')\n"
GONE = "Where does the error 'The server is gone' come from?"
SET = local.QuestionSet(name="small", file="none.json", min_percent=50.0, former_tokens=10_000)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make two small modules."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "client.py").write_text("def connect_slowly(host, timeout_seconds=17):\n    return (host, 80)\n")
    (root / "server.py").write_text(SERVER)
    return root


def question(text: str, **answers: str) -> local.Question:
    return local.Question(text=text, answers={f"{name}.py": re.compile(line) for name, line in answers.items()})


def test_the_sets_are_the_files_and_none_asks_twice() -> None:
    """The measure promises six times forty questions, with the halves of one set told apart."""
    files = {file.name for file in Path(local.__file__).parent.glob("local_questions*.json")}
    assert {one.file for one in local.SETS} == files
    for file in files:
        texts = [one.text for part in local.SETS if part.file == file for one in local.questions_of(part)]
        assert len(texts) == len(set(texts)) == 40


@pytest.mark.skipif(
    sys.version_info[:2] != local.PYTHON or sys.version_info < (3, 11, 4),
    reason="the answers are lines of Python 3.11.4",
)
@pytest.mark.parametrize("asking", local.SETS, ids=lambda one: one.name)
def test_each_answer_is_a_line_or_a_few_of_its_file(asking: local.QuestionSet) -> None:
    """A pattern that matches no line could not be found, one that matches many would be found by chance."""

    @cache
    def lines(path: str) -> list[str]:
        first, _, rest = path.partition("/")
        if asking.tree == "packages":
            spec = importlib.util.find_spec(first)
            assert spec is not None
            assert spec.origin is not None
            return local.lines_of(Path(spec.origin).parent / rest)
        return local.lines_of(Path(sysconfig.get_path("stdlib")) / path)

    for one in local.questions_of(asking):
        for path, pattern in one.answers.items():
            assert 1 <= sum(bool(pattern.search(line)) for line in lines(path)) <= 9, (one.text, path)


def test_a_file_may_hold_more_than_one_answer(tmp_path: Path) -> None:
    """Two patterns of one path both count."""
    file = tmp_path / "questions.json"
    answers = [{"path": "server.py", "pattern": "server is gone"}, {"path": "server.py", "pattern": "BACKLOG = 5$"}]
    file.write_text(json.dumps([{"question": GONE, "answers": answers}]))
    [one] = local.questions(file)
    found = [number for number, line in enumerate(SERVER.split("\n"), 1) if one.answers["server.py"].search(line)]
    assert found == [1, 6]


def test_only_a_line_that_matches_is_an_answer(tree: Path) -> None:
    """Another line, the same number in another file, and a missing place are not answers."""
    one = question(GONE, server="server is gone", client="never")
    assert one.answered_by(tree, ("server.py", 4, 6))
    assert one.answered_by(tree, ("./server.py", 6, 6))
    for place in (
        ("server.py", 1, 5),
        ("client.py", 1, 2),
        ("server.py", 0, 0),
        ("server.py", 7, 99),
        ("none.py", 6, 6),
    ):
        assert not one.answered_by(tree, place), place


def test_local_is_asked_as_a_person_would_and_its_citations_are_checked(tree: Path, tmp_path: Path) -> None:
    """A literal answer counts, another does not; the peer is asked the same."""
    asked = [question(GONE, server="server is gone"), question(GONE, server="never written")]
    done = local.measured(tree, asked, str(tmp_path / "store"), lambda _: [("server.py", 1, 11)])
    assert (done.asked, done.answered, done.peer) == (2, 1, 1)
    assert done.lines >= 2
    assert done.tokens > 2_000
    assert local.measured(tree, asked[:1], str(tmp_path / "store"), None).peer is None


def test_a_run_that_fails_ends_the_measure(tmp_path: Path) -> None:
    """A question that cannot be asked at all is not an unanswered one."""
    with pytest.raises(SystemExit, match=r"penstock run failed: .*nowhere"):
        local.run(tmp_path / "nowhere", GONE, str(tmp_path / "store"))


@pytest.mark.parametrize(
    ("answered", "peer", "tokens", "is_met"),
    [(5, 4, 2_000, True), (5, None, 2_000, True), (4, None, 2_000, False), (5, 6, 2_000, False), (5, 4, 2_001, False)],
)
def test_a_target_is_a_share_the_peer_and_a_fifth_of_the_tokens(
    answered: int, peer: int | None, tokens: int, is_met: bool
) -> None:
    """Missing any one of them misses the target."""
    done = local.Measured(asked=10, answered=answered, lines=300, tokens=tokens, peer=peer)
    line, met = local.row(SET, done)
    assert met is is_met
    assert line.endswith("| yes |" if is_met else "| NO |")
    assert f"| {answered}0.0 % | 50.0 % | {'' if peer is None else f'{peer}0.0 %'} | 30 | {tokens} | 2000 |" in line


def test_lines_of_a_file_that_follow_one_another_are_a_passage() -> None:
    """A gap, another file, or the same line again begins a new passage."""
    cited = [("a.py", 4), ("a.py", 5), ("a.py", 7), ("b.py", 8), ("b.py", 8)]
    assert local.in_passages(cited) == [("a.py", 4, 5), ("a.py", 7, 7), ("b.py", 8, 8), ("b.py", 8, 8)]
