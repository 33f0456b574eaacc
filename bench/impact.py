"""Does `penstock impact` find what a change touches? 50 questions with known answers about each of some public estates of COBOL.

    python -m bench.impact NAME=CHECKOUT ...

`impact_questions_NAME.json` has the address of an estate, which is no part of this project; which files of its checkout are asked
about (`part`); and the questions with their answers. These were read from the sources with a reader that shares no code with ours,
reviewed by hand, and committed before the command first ran on the estate; `corrected` tells what was wrong in them. The fields
were drawn at random among those with two to eight uses. A question lists its verbs, and its answer is every edge of these verbs
that touches the name (`docs/graph.md` says what an edge is).

Precision is measured on what the tool is certain of (`is`): the share that the answers contain, with whatever certainty. Recall is
measured on the certain answers, and then on all of them by `is` and `may` together. Prints a Markdown table and every difference;
1 if precision or recall of `is` is below .98, or recall of all below .99.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from contextlib import closing
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from penstock.cobol.graph import Carrying, impact
from penstock.scribe.graphing import draw
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.cobol.graph import EstateGraph

HERE = Path(__file__).parent
MIN_CERTAIN, MIN_ALL = 0.98, 0.99  # C-17, as its issue asks

Edge = tuple[str, str, str]  # from, verb, to; in capitals


@dataclass
class Tally:
    """The overlap of one estate's answers and the tool's edges."""

    questions: int = 0
    expected_is: int = 0
    expected_all: int = 0
    said_is: int = 0
    right_is: int = 0
    found_is: int = 0
    found_all: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, name: str, expected: dict[Edge, str], said: dict[Edge, str]) -> None:
        """Count one question: what was expected and what was said, each an edge with its certainty."""
        certain = {edge for edge, certainty in expected.items() if certainty == "is"}
        said_is = {edge for edge, certainty in said.items() if certainty == "is"}
        self.questions += 1
        self.expected_is += len(certain)
        self.expected_all += len(expected)
        self.said_is += len(said_is)
        self.right_is += len(said_is & set(expected))
        self.found_is += len(certain & said_is)
        self.found_all += len(set(expected) & set(said))
        for edge in sorted(set(expected) - set(said)):
            self.differences.append(f"{name}: missing {' '.join(edge)} ({expected[edge]})")
        for edge in sorted(certain & set(said) - said_is):
            self.differences.append(f"{name}: only {said[edge]}: {' '.join(edge)}")
        for edge in sorted(said_is - set(expected)):
            self.differences.append(f"{name}: not in the answers: {' '.join(edge)}")

    def shares(self) -> tuple[float, float, float]:
        """Return precision of `is`, recall of `is`, and recall of all answers by `is` and `may` together."""
        return (
            self.right_is / max(self.said_is, 1),
            self.found_is / max(self.expected_is, 1),
            self.found_all / max(self.expected_all, 1),
        )


def ask(graph: EstateGraph, carrying: Carrying, question: dict[str, Any]) -> dict[Edge, str]:
    """Return the edges that are found for a question, those of its verbs that touch its name."""
    found = impact(graph, question["name"], kind=question["kind"], depth=1, carrying=carrying)
    edges: dict[Edge, str] = {}
    for edge in found.edges:
        if edge.verb in question["verbs"]:
            triple = (edge.source.name.upper(), edge.verb, edge.target.name.upper())
            edges[triple] = "is" if "is" in (edge.certainty, edges.get(triple)) else edge.certainty
    return edges


def is_part(path: str, part: Sequence[str]) -> bool:
    """Return whether PART names a path: patterns whose * also crosses folders, the last that matches decides, `!` takes out."""
    matching = [pattern for pattern in part if fnmatchcase(path, pattern.removeprefix("!"))]
    return bool(matching) and not matching[-1].startswith("!")


def copy_part(checkout: Path, part: Sequence[str], folder: Path) -> None:
    """Copy the files of a checkout that PART names to a folder, with their paths below the deepest folder that has them all."""
    files = [
        path for path in checkout.rglob("*") if path.is_file() and is_part(path.relative_to(checkout).as_posix(), part)
    ]
    top = os.path.commonpath([file.parent for file in files])
    for file in files:
        copy = folder / file.relative_to(top)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def measure(checkout: Path, part: Sequence[str], questions: list[dict[str, Any]]) -> Tally:
    """Ask all questions of one estate."""
    tally = Tally()
    with TemporaryDirectory() as folder, closing(Root(folder)) as root:
        copy_part(checkout, part, Path(folder))
        graph = draw(root, (".",)).graph
    carrying = Carrying(graph)
    for question in questions:
        expected = {(a.upper(), verb, b.upper()): certainty for a, verb, b, certainty in question["edges"]}
        tally.add(question["name"], expected, ask(graph, carrying, question))
    return tally


def main() -> int:
    """Run the benchmark; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("estates", nargs="+", metavar="NAME=CHECKOUT")
    missed = False
    print(
        "| estate | questions | edges | precision of `is` | recall of `is` | recall of all |\n|---|---|---|---|---|---|"
    )
    differences: list[str] = []
    for word in parser.parse_args().estates:
        name, _, checkout = word.partition("=")
        asked = json.loads((HERE / f"impact_questions_{name}.json").read_text(encoding="utf-8"))
        tally = measure(Path(checkout), asked.get("part", ["*"]), asked["questions"])
        precision, certain, everything = tally.shares()
        print(
            f"| {name} | {tally.questions} | {tally.expected_all} | {precision:.3f} | {certain:.3f} | {everything:.3f} |"
        )
        differences += [f"{name}: {difference}" for difference in tally.differences]
        missed = missed or min(precision, certain) < MIN_CERTAIN or everything < MIN_ALL
    print("", *differences, sep="\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
