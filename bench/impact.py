"""Does `penstock impact` find what a change touches? 50 questions with known answers about each of some public estates of COBOL.

    python -m bench.impact cabs=FOLDER bankdemo=FOLDER poei=FOLDER clbs=FOLDER garage=FOLDER counter=FOLDER ctos=FOLDER \\
        tpe=FOLDER mvs=FOLDER telco=FOLDER breadwich=FOLDER acats=FOLDER vuflix=FOLDER ahorros=FOLDER tools400=FOLDER \\
        idz=FOLDER cms=FOLDER vbank=FOLDER contador=FOLDER uafs=FOLDER custody=FOLDER palestra=FOLDER staff=FOLDER \\
        throws=FOLDER keiri=FOLDER fotos=FOLDER remito=FOLDER posta=FOLDER folio=FOLDER \\
        cursada=FOLDER

Each folder is a checkout of the estate whose address is in `impact_questions_NAME.json`; none is part of this project. The answers
were read from the sources with a reader that shares no code with ours, reviewed by hand, and committed before the command first ran
on the estate. What they had missed was added after the first run, each read in its source: 27 edges through
copied code (cabs, bankdemo, poei), 12 of items that a screen shows or takes (garage), 75 of either kind (counter); one that no job
would come to was taken out (clbs), two about a column that says its table (poei), and three of a comment and of a copybook that
nothing copies (ctos); one that a copybook's own code says was added (telco); a WRITE of what is no record was taken out
(breadwich); a REDEFINES was added (ahorros), and so was a DELETE FILE in copied code; a move of an item to itself was taken out
(contador); four programs were named by their PROGRAM-IDs, and three bindings of a name in other letters added (uafs); a job was
named by its JOB card, not its member, and the record that WRITE … FROM writes was added (custody); three uses of the groups
that CORRESPONDING names were added (staff); three moves to and from fields of a screen that only its map describes, and what a
BLDINDEX reads and writes, were added, and a move to an indicator was taken out (throws; seven moves that the command had missed,
too, were added with its mend); six files of copybooks that name their data sets were added (keiri); of programs with one
name, a call means the one whose file has it (remito, 13 edges); two maps were named
with their mapsets (posta).

The fields were drawn at random among those with two to eight uses; a question lists its verbs, and its answer is
every edge of these verbs that touches the name (`docs/graph.md` says what an edge is).

Of clbs it is the folder src without its templates, of garage srcs, of counter mx and mistral of its prototype without what is
nearly there twice: in mx the folders spro1 to spro7, and in spro/Source *-credirect, art-c2, art2, hiv-c2, hiv-FZS, hivFZS and
sbd-co. Of ctos it is the folder cobol with copy, fd and the programs whose names begin with Cb or Cr; of tpe the folder copy
without archive, of src/batch what begins with FNB or SQL without FNB166T2, FNB169T and FNB170CSI, of src/online what begins with
EL6 and has fewer than 3,300 lines, and from maps the S.bms of those. Of telco it is the folder Mainframe without what is kept
there under another suffix (._cob, ._JCL, .xmi, .COB_BAK, .DELETED). Of breadwich it is Part2/source and Part3/source; of vuflix
the folder COBOL Final Project of its workspace.
Of ahorros it is Modulo_Cierre_Ahorros and ibm, each in a folder of its own, and of
tools400 cbl, clp and dds.
Of acats it is what begins with CAT in the folders PROG-BATCH, JCL and other of Mainframe, each in a folder of its own; of idz it
is the folder Connecticut/IBM_System/IDZ_Subsystem.
Of cms it is nonrri, the members of copylib itself without its folder rri, and from gnu/cobol/nonrri the programs mcc222, tri000
and tri011, which the others call.
Of staff it is CBL, COPYLIB, JCL, IMS and DCLGEN of mvs without the programs of a course (CBL0*, CBLDB2*, HELLO, PAYROL*, COBOL,
SRCH*, ADDAMT, $README) and the jobs CBL0*, CBLDB2* and $README.
Of vbank it is the folders whose names end in CPY, JCL, MAP and SRC; of contador it is SLB; of uafs the programs (.cbl) that have
more than a comment.
Of palestra it is the sources (.cbl, .cpy, .def, .fd, .lks, .sl) of Source, Copylib and FD; of keiri lml_prlml, lib_prlib,
jsl_prjsl and pml_prpml of source.bak.
Of fotos it is the folders cap, cbp, lbp and gr of src, what they copy from its copybook_files, CONDENSA and DESCONDENSA,
acp/ACP100/COPX040, and impressora.chama of data/config.
Of remito it is everything but near-copies of FAC (FACIND1, OCIEL, FAC-OCIE, FACYIYO, FAC-CHA, FACBICH, BICHI, FACCHINO, FAC-SJ,
FACINDU, FACPONCE), compiled programs (.COB), README.md, and data and pictures of screens (what has no suffix, MENU3.PAN,
PERCEP.DAT, IMP01.PRT).
Of posta it is COBOL/Business without CIOCCA00, which is a program of vbank, and COBOL/FHWPWS02.cbl.
Of folio it is, from Legacy_App, purchase/purchase.cbl, purchase/pl*.cbl, copybooks, and from common acas0*.cbl, maps0*.cbl and
fhlogger.cbl.

Precision is measured on what the tool is certain of (`is`): the share that the answers contain, with whatever certainty. Recall is
measured on the certain answers, and then on all of them by `is` and `may` together. Prints a Markdown table and every difference;
1 if precision or recall of `is` is below .98, or recall of all below .99.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cobol.graph import Carrying, impact
from penstock.scribe.graphing import draw
from penstock.workspace.root import Root

if TYPE_CHECKING:
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


def measure(folder: Path, questions: list[dict[str, Any]]) -> Tally:
    """Ask all questions of one estate."""
    tally = Tally()
    with closing(Root(folder)) as root:
        graph = draw(root, (".",)).graph
    carrying = Carrying(graph)
    for question in questions:
        expected = {(a.upper(), verb, b.upper()): certainty for a, verb, b, certainty in question["edges"]}
        tally.add(question["name"], expected, ask(graph, carrying, question))
    return tally


def main() -> int:
    """Run the benchmark; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("estates", nargs="+", metavar="NAME=FOLDER")
    missed = False
    print(
        "| estate | questions | edges | precision of `is` | recall of `is` | recall of all |\n|---|---|---|---|---|---|"
    )
    differences: list[str] = []
    for word in parser.parse_args().estates:
        name, _, folder = word.partition("=")
        asked = json.loads((HERE / f"impact_questions_{name}.json").read_text(encoding="utf-8"))
        tally = measure(Path(folder), asked["questions"])
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
