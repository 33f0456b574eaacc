"""Does `local` find it? Questions with known answers about trees that are installed here, compared with plain BM25 on the same
trees.

    python -m bench.local [--set N …]

Five sets of forty questions are about the library of Python 3.11, a sixth about fourteen packages of this project's environment. A
question counts as answered if one of the first three passages that `penstock run --model local` quotes has a line that matches one
of the set's regular expressions. The comparison is with the first three windows of 11 lines, which are as many lines, ranked by
BM25 as `bm25s` computes it with its defaults. That package is a peer and not a dependency: without it (`pip install bm25s==0.3.16`)
its column is empty. The targets: at least the shares below, at least as good as BM25, and a fifth of the tokens that `local` took
when it was made of rules. Prints a Markdown table; 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PYTHON = (3, 11)  # the version to which the answers' lines belong
NOT_THE_LIBRARY = ("site-packages", "dist-packages", "__pycache__", "config-*", "*.so")
PACKAGES = (
    *("_pytest", "anyio", "click", "h11", "jsonschema", "packaging", "pluggy"),
    *("requests", "rich", "starlette", "tomlkit", "urllib3", "uvicorn", "xdist"),
)
FIRST = 3  # passages that a reader looks at
WINDOW_LINES = 11  # of the peer: three of them have as many lines as three passages
SHARE_OF_TOKENS = 5

Place = tuple[str, int, int]  # a path below the root, first and last line from 1


@dataclass(frozen=True, kw_only=True)
class QuestionSet:
    """Questions about one tree. `former_tokens` is what `local` took for them as of 46def81, when it was made of rules."""

    name: str
    file: str
    min_percent: float
    former_tokens: int
    part: tuple[int, int] = (0, 40)
    tree: str = "library"


SETS = (
    QuestionSet(name="first", file="local_questions.json", min_percent=65.0, former_tokens=1_619_982),
    QuestionSet(name="second", file="local_questions_2.json", min_percent=55.0, former_tokens=1_752_662),
    QuestionSet(name="third", file="local_questions_3.json", min_percent=22.5, former_tokens=2_042_752),
    QuestionSet(name="fourth", file="local_questions_4.json", min_percent=45.0, former_tokens=1_891_465),
    QuestionSet(name="fifth", file="local_questions_5.json", min_percent=57.5, former_tokens=1_841_932),
    QuestionSet(
        name="sixth, first half",
        file="local_questions_6.json",
        min_percent=0.0,
        former_tokens=1_036_111,
        part=(0, 20),
        tree="packages",
    ),
    QuestionSet(
        name="sixth, second half",
        file="local_questions_6.json",
        min_percent=0.0,
        former_tokens=1_062_816,
        part=(20, 40),
        tree="packages",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question, and by path the pattern of an answering line."""

    text: str
    answers: dict[str, re.Pattern[str]]

    def answered_by(self, root: Path, place: Place) -> bool:
        """Whether one of those lines is an answer. Only files that can hold one are opened."""
        path, first, last = place
        pattern = self.answers.get(os.path.normpath(path))
        return pattern is not None and any(map(pattern.search, lines_of(root / path)[max(0, first - 1) : max(0, last)]))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The results of a set: questions answered, lines shown for all of them, tokens taken; `peer` is None without it."""

    asked: int
    answered: int
    lines: int
    tokens: int
    peer: int | None


def lines_of(file: Path) -> list[str]:
    """Its lines as the tools number them: only a line feed ends one."""
    return file.read_bytes().decode("utf-8", "replace").split("\n")


def questions(file: Path) -> list[Question]:
    """The questions, in order."""
    return [
        Question(text=one["question"], answers=_answers(one["answers"])) for one in json.loads(file.read_text("utf-8"))
    ]


def questions_of(asking: QuestionSet) -> list[Question]:
    """Those of a set, or of its half."""
    return questions(Path(__file__).with_name(asking.file))[slice(*asking.part)]


def _answers(told: list[dict[str, str]]) -> dict[str, re.Pattern[str]]:
    """By path; a file may hold more than one answer."""
    paths = dict.fromkeys(one["path"] for one in told)
    return {
        path: re.compile("|".join(f"(?:{one['pattern']})" for one in told if one["path"] == path)) for path in paths
    }


def copy_tree(kind: str, root: Path) -> None:
    """Create the tree that questions are about: the running Python's library, or the packages installed here."""
    ignore = shutil.ignore_patterns(*NOT_THE_LIBRARY)
    if kind == "library":
        shutil.copytree(sysconfig.get_path("stdlib"), root, ignore=ignore)
        return
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SystemExit(f"{name} is not installed: scripts/install does that.")
        shutil.copytree(Path(spec.origin).parent, root / name, ignore=ignore)


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


def in_passages(cited: list[tuple[str, int]]) -> list[Place]:
    """Merge consecutive lines of a file into one passage."""
    made: list[Place] = []
    for path, line in cited:
        if made and made[-1][0] == path and made[-1][2] + 1 == line:
            made[-1] = (path, made[-1][1], line)
        else:
            made.append((path, line, line))
    return made


# ── the peer ─────────────────────────────────────────────────────────────────────────────────────────────────────


def peer_of(root: Path) -> Callable[[str], list[Place]] | None:
    """BM25 over windows of each text file of a tree; None if `bm25s` is not installed."""
    if importlib.util.find_spec("bm25s") is None:
        return None
    bm25s: Any = importlib.import_module("bm25s")
    places: list[Place] = []
    texts: list[str] = []
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        if b"\0" in file.read_bytes()[:8192]:
            continue
        lines = lines_of(file)
        for first in range(0, len(lines), WINDOW_LINES):
            places.append((str(file.relative_to(root)), first + 1, min(first + WINDOW_LINES, len(lines))))
            texts.append("\n".join(lines[first : first + WINDOW_LINES]))
    ranking = bm25s.BM25()
    ranking.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def found(question: str) -> list[Place]:
        words = bm25s.tokenize(question, stopwords="en", show_progress=False)
        best, _ = ranking.retrieve(words, k=FIRST, show_progress=False)
        return [places[number] for number in best[0]]

    return found


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


def measured(root: Path, asked: Sequence[Question], store: str, peer: Callable[[str], list[Place]] | None) -> Measured:
    """Both, question by question, each in a session of its own."""
    answered = lines = tokens = found = 0
    for question in asked:
        made = run(root, question.text, store)
        shown = in_passages([(one["path"], one["line"]) for one in made["citations"]])[:FIRST]
        answered += any(question.answered_by(root, place) for place in shown)
        lines += sum(last - first + 1 for _, first, last in shown)
        tokens += made["usage"]["input_tokens"] + made["usage"]["output_tokens"]
        found += peer is not None and any(question.answered_by(root, place) for place in peer(question.text))
    return Measured(
        asked=len(asked), answered=answered, lines=lines, tokens=tokens, peer=None if peer is None else found
    )


def row(asking: QuestionSet, done: Measured) -> tuple[str, bool]:
    """A row of the table, and whether its targets are met."""
    share = 100 * done.answered / done.asked
    peer = None if done.peer is None else 100 * done.peer / done.asked
    limit = asking.former_tokens // SHARE_OF_TOKENS
    is_met = share >= max(asking.min_percent, peer or 0.0) and (not limit or done.tokens <= limit)
    columns = [
        asking.name,
        f"{share:.1f} %",
        f"{asking.min_percent:.1f} %" if asking.min_percent else "",
        "" if peer is None else f"{peer:.1f} %",
        f"{done.lines / done.asked:.0f}",
        f"{done.tokens}",
        f"{limit}" if limit else "",
        "yes" if is_met else "NO",
    ]
    return f"| {' | '.join(columns)} |", is_met


def main(argv: Sequence[str] | None = None) -> int:
    """The table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=int, nargs="+", metavar="N", choices=range(1, len(SETS) + 1))
    chosen = [SETS[number - 1] for number in parser.parse_args(argv).set or range(1, len(SETS) + 1)]
    if sys.version_info[:2] != PYTHON:
        raise SystemExit("The answers are lines of Python 3.11: run this with it.")
    print("| set | first 3 passages of `local` | at least | first 3 windows of BM25 | lines | tokens | at most | met |")
    print("|---|---|---|---|---|---|---|---|")
    all_met = True
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        for kind in dict.fromkeys(asking.tree for asking in chosen):
            root = Path(folder) / kind
            copy_tree(kind, root)
            peer = peer_of(root)
            for asking in chosen:
                if asking.tree == kind:
                    line, is_met = row(asking, measured(root, questions_of(asking), f"{folder}/store", peer))
                    print(line, flush=True)
                    all_met &= is_met
    return int(not all_met)


if __name__ == "__main__":
    raise SystemExit(main())
