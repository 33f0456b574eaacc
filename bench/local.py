"""Does `local` find it? Questions about the standard library of Python 3.11 with known answers, beside a single search.

    python bench/local.py [--questions FILE]

The tree is a copy of the running Python's library, its tests included, without what was installed into it. The questions, with
regular expressions for the lines that answer them, lie in `local_questions_5.json`; the model was changed in view of those in
the four sets before it. `penstock run` has answered a question when one of the first three
passages that it quotes has such a line. The baseline takes the one of the question's words that the fewest lines of the tree hold,
of those lines the first, and around it as many lines as those passages have. The share whose first three lines have an answer, and
whose first line of the rarest word is one, stand beside it. Prints a Markdown table; 1 when the target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli import main as penstock
from penstock.text import tokens
from penstock.workspace import Workspace
from penstock.workspace.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

QUESTIONS = Path(__file__).with_name("local_questions_5.json")
PYTHON = (3, 11)  # whose lines the answers are
NOT_THE_LIBRARY = ("site-packages", "dist-packages", "__pycache__", "config-*", "*.so")
FIRST = 3  # passages that a reader looks at; lines, for the strict measure
TARGET = 0.6

Place = tuple[str, int]  # a path below the root, a line from 1


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked, and by path what a line must match to be an answer."""

    text: str
    answers: dict[str, re.Pattern[str]]

    def answered_by(self, root: Path, place: Place) -> bool:
        """Whether the line at that place holds an answer. Only files that can hold one are opened."""
        path, line = place
        pattern = self.answers.get(os.path.normpath(path))
        if pattern is None:
            return False
        lines = text_of(root / path).split("\n")
        return 1 <= line <= len(lines) and pattern.search(lines[line - 1]) is not None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What became of a question. `rank` is the first passage that holds an answer, `line_rank` the first line, from 1."""

    question: Question
    outcome: str
    passages: int
    rank: int | None
    line_rank: int | None
    shown: int  # lines of the first few passages
    turns: int
    used_tokens: int
    named_tokens: int  # of the files that the citations name, each whole

    @property
    def answered(self) -> bool:
        """Whether a reader of the first few passages has seen an answer."""
        return self.rank is not None and self.rank <= FIRST

    @property
    def answered_at_once(self) -> bool:
        """Whether a reader of the first few lines has."""
        return self.line_rank is not None and self.line_rank <= FIRST


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the baseline made of a question: its rarest word, how many lines hold it, and whether an answer is near the first.

    `at_once`: whether it is that line itself.
    """

    word: str
    lines: int
    answered: bool
    at_once: bool


def text_of(file: Path) -> str:
    """Its lines as the tools number them: only a line feed ends one."""
    return file.read_bytes().decode("utf-8", "replace")


def questions(file: Path = QUESTIONS) -> list[Question]:
    """What is asked, in its order."""
    return [
        Question(text=one["question"], answers=_answers(one["answers"])) for one in json.loads(file.read_text("utf-8"))
    ]


def _answers(told: list[dict[str, str]]) -> dict[str, re.Pattern[str]]:
    """By path; a file may hold more than one answer."""
    paths = dict.fromkeys(one["path"] for one in told)
    return {
        path: re.compile("|".join(f"(?:{one['pattern']})" for one in told if one["path"] == path)) for path in paths
    }


# ── local ────────────────────────────────────────────────────────────────────────────────────────────────────────


def run(root: Path, text: str, store: str) -> dict[str, Any]:
    """What `penstock run --json` prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        penstock(["run", text, "--root", str(root), "--model", "local", "--json", "--store", store])
    made: dict[str, Any] = json.loads(printed.getvalue())
    if "error" in made:
        raise SystemExit(f"penstock run failed: {made['error']['message']}")
    return made


def asked(root: Path, question: Question, store: str) -> Asked:
    """A session of its own for each question."""
    made = run(root, question.text, store)
    cited = in_passages([(one["path"], one["line"]) for one in made["citations"]])
    answers = [rank for rank, (path, line, _) in enumerate(cited, 1) if question.answered_by(root, (path, line))]
    named = {os.path.normpath(path) for path, _, _ in cited}
    return Asked(
        question=question,
        outcome=made["outcome"],
        passages=max((passage for _, _, passage in cited), default=0),
        rank=cited[answers[0] - 1][2] if answers else None,
        line_rank=answers[0] if answers else None,
        shown=sum(passage <= FIRST for _, _, passage in cited),
        turns=made["turns"],
        used_tokens=made["usage"]["input_tokens"] + made["usage"]["output_tokens"],
        named_tokens=sum(counted(text_of(root / path)).tokens for path in named if (root / path).is_file()),
    )


def in_passages(places: list[Place]) -> list[tuple[str, int, int]]:
    """Each with the number of its passage from 1: lines of a file that follow one another are one."""
    made, passage, after = [], 0, ("", 0)
    for path, line in places:
        passage += (path, line) != after
        after = (path, line + 1)
        made.append((path, line, passage))
    return made


def counted(text: str) -> tokens.Count:
    """As exact as this installation counts."""
    return tokens.count(text, mode="exact")


# ── the baseline ─────────────────────────────────────────────────────────────────────────────────────────────────


class Searching:
    """One search a question. Letter case does not matter: the first word of a question would be rare by its capital."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._workspace = Workspace(root)
        self._hits: dict[str, tuple[int, Place | None]] = {}

    def found(self, question: Question, shown: int) -> Found | None:
        """With so many lines about the hit in the middle; `None` where no word of the question stands in the tree."""
        words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", question.text))
        rarest = min((word for word in words if self._hit(word)[1]), key=lambda word: self._hit(word)[0], default=None)
        if rarest is None:
            return None
        lines, place = self._hit(rarest)
        assert place is not None
        path, line = place
        about = range(line - max(0, shown - 1) // 2, line + shown // 2 + 1)
        return Found(
            word=rarest,
            lines=lines,
            answered=any(question.answered_by(self._root, (path, near)) for near in about),
            at_once=question.answered_by(self._root, place),
        )

    def _hit(self, word: str) -> tuple[int, Place | None]:
        """How many lines hold the word, and the first of them in the order of paths."""
        if word not in self._hits:
            page = self._workspace.search(word, literal=True, ignore_case=True, limit=1, deadline=Deadline(None))
            first = next(((match.path, match.line) for match in page.matches), None)
            self._hits[word] = (page.total, first)
        return self._hits[word]


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


def measured(root: Path, asking: Iterable[Question]) -> Iterator[tuple[Asked, Found | None]]:
    """Both, question by question."""
    searching = Searching(root)
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as store:
        for question in asking:
            local = asked(root, question, store)
            yield local, searching.found(question, local.shown)


def table(rows: Iterable[tuple[Asked, Found | None]]) -> bool:
    """Prints a row as it comes, then the shares; whether the target is met."""
    print(
        "| | question | answered by passage | by line | turns | tokens | named files whole | rarest word: lines, answered |"
    )
    print("|---|---|---|---|---|---|---|---|")
    seen = []
    for number, (local, search) in enumerate(rows, 1):
        seen.append((local, search))
        rank = f"{local.rank or '-'} of {local.passages}"
        if local.outcome != "answered":
            rank += f", {local.outcome}"
        base = "-" if search is None else f"`{search.word}`: {search.lines}, {'yes' if search.answered else 'no'}"
        print(
            f"| {number} | {local.question.text} | {rank} | {local.line_rank or '-'} | {local.turns} | {local.used_tokens} "
            f"| {local.named_tokens} | {base} |",
            flush=True,
        )
    asks, searches = [local for local, _ in seen], [search for _, search in seen if search is not None]
    share, base_share = sum(one.answered for one in asks) / len(asks), sum(one.answered for one in searches) / len(asks)
    shares = {
        f"answered by the first {FIRST} passages": share,
        "by any passage": sum(local.rank is not None for local in asks) / len(asks),
        "by as many lines about the first of the rarest word": base_share,
        f"by the first {FIRST} lines quoted": sum(local.answered_at_once for local in asks) / len(asks),
        "by the first line of the rarest word": sum(search.at_once for search in searches) / len(asks),
    }
    targets = dict.fromkeys(shares, "") | {next(iter(shares)): f">= {TARGET:.0%}, above the baseline"}
    used, named = sum(local.used_tokens for local in asks), sum(local.named_tokens for local in asks)
    method, shown = counted("").method, sum(local.shown for local in asks) / len(asks)
    print(f"\n| of {len(asks)} questions | share | target |\n|---|---|---|")
    for name, value in shares.items():
        print(f"| {name} | {value:.1%} | {targets[name]} |")
    print(f"\nThe first {FIRST} passages have {shown:.0f} lines on average.")
    print(f"Tokens: {used} taken, {named} in the files named by the citations, each read whole ({method}).")
    return share >= TARGET and share > base_share


def main(argv: Sequence[str] | None = None) -> int:
    """The table; 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, metavar="FILE", default=QUESTIONS)
    asking = questions(parser.parse_args(argv).questions)
    if sys.version_info[:2] != PYTHON:
        raise SystemExit("The answers are lines of Python 3.11: run this with it.")
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        root = Path(folder) / "library"
        shutil.copytree(sysconfig.get_path("stdlib"), root, ignore=shutil.ignore_patterns(*NOT_THE_LIBRARY))
        return int(not table(measured(root, asking)))


if __name__ == "__main__":
    raise SystemExit(main())
