"""Does `local` find it? Questions about the standard library of Python 3.11 with known answers, beside a single search.

    python bench/local.py [--questions FILE]

The tree is a copy of the running Python's library, its tests included, without what was installed into it. The questions, with
regular expressions for the lines that answer them, lie in `local_questions_2.json`; those in `local_questions.json` are the first
set, in view of which the model was changed. `penstock run` has answered a question when one of its first three citations is such a
line. The baseline takes the one of the question's words that the fewest lines of the tree hold, and of those lines the first.
Prints a Markdown table; 1 when the target is missed.
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

from penstock import tokens
from penstock.cli import main as penstock
from penstock.workspace import Workspace
from penstock.workspace.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

QUESTIONS = Path(__file__).with_name("local_questions_2.json")
PYTHON = (3, 11)  # whose lines the answers are
NOT_THE_LIBRARY = ("site-packages", "dist-packages", "__pycache__", "config-*", "*.so")
CITATIONS = 3  # what a reader looks at
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
    """What became of a question. `rank` is the first citation that holds an answer, from 1."""

    question: Question
    outcome: str
    citations: int
    rank: int | None
    turns: int
    used_tokens: int
    named_tokens: int  # of the files that the citations name, each whole

    @property
    def answered(self) -> bool:
        """Whether a reader of the first few citations has seen an answer."""
        return self.rank is not None and self.rank <= CITATIONS


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the baseline made of a question: its rarest word, how many lines hold it, and whether the first is an answer."""

    word: str
    lines: int
    answered: bool


def text_of(file: Path) -> str:
    """Its lines as the tools number them: only a line feed ends one."""
    return file.read_bytes().decode("utf-8", "replace")


def questions(file: Path = QUESTIONS) -> list[Question]:
    """What is asked, in its order."""
    return [
        Question(
            text=one["question"], answers={answer["path"]: re.compile(answer["pattern"]) for answer in one["answers"]}
        )
        for one in json.loads(file.read_text("utf-8"))
    ]


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
    places = [(cited["path"], cited["line"]) for cited in made["citations"]]
    ranks = (rank for rank, place in enumerate(places, 1) if question.answered_by(root, place))
    named = {os.path.normpath(path) for path, _ in places}
    return Asked(
        question=question,
        outcome=made["outcome"],
        citations=len(places),
        rank=next(ranks, None),
        turns=made["turns"],
        used_tokens=made["usage"]["input_tokens"] + made["usage"]["output_tokens"],
        named_tokens=sum(counted(text_of(root / path)).tokens for path in named if (root / path).is_file()),
    )


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

    def found(self, question: Question) -> Found | None:
        """`None` where no word of the question stands in the tree."""
        words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", question.text))
        rarest = min((word for word in words if self._hit(word)[1]), key=lambda word: self._hit(word)[0], default=None)
        if rarest is None:
            return None
        lines, place = self._hit(rarest)
        assert place is not None
        return Found(word=rarest, lines=lines, answered=question.answered_by(self._root, place))

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
            yield asked(root, question, store), searching.found(question)


def table(rows: Iterable[tuple[Asked, Found | None]]) -> bool:
    """Prints a row as it comes, then the shares; whether the target is met."""
    print("| | question | answered by citation | turns | tokens | named files whole | rarest word: lines, answered |")
    print("|---|---|---|---|---|---|---|")
    seen = []
    for number, (local, search) in enumerate(rows, 1):
        seen.append((local, search))
        rank = f"{local.rank or '-'} of {local.citations}"
        if local.outcome != "answered":
            rank += f", {local.outcome}"
        base = "-" if search is None else f"`{search.word}`: {search.lines}, {'yes' if search.answered else 'no'}"
        print(
            f"| {number} | {local.question.text} | {rank} | {local.turns} | {local.used_tokens} | {local.named_tokens} | {base} |",
            flush=True,
        )
    asks = [local for local, _ in seen]
    share = sum(local.answered for local in asks) / len(asks)
    anywhere = sum(local.rank is not None for local in asks) / len(asks)
    base_share = sum(search is not None and search.answered for _, search in seen) / len(asks)
    used, named = sum(local.used_tokens for local in asks), sum(local.named_tokens for local in asks)
    method = counted("").method
    print(f"\n| of {len(asks)} questions | share | target |\n|---|---|---|")
    print(f"| answered by the first {CITATIONS} citations | {share:.1%} | >= {TARGET:.0%}, above the baseline |")
    print(f"| by any citation | {anywhere:.1%} | |")
    print(f"| by the first line of the rarest word | {base_share:.1%} | |")
    print(f"\nTokens: {used} taken, {named} in the files named by the citations, each read whole ({method}).")
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
