"""Which queues and transactions do CICS commands mean if programs put their names together?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cobol import sources
from tests.cobol.test_graph import graph_of

from penstock.cobol.facts.group_texts import GroupTexts

if TYPE_CHECKING:
    from penstock.cobol.facts.code import Site

pytestmark = pytest.mark.proves("C-16")

DATA = (
    "01  Q-GROUP.",
    "    05  Q-HEAD PIC X(4) VALUE 'CUST'.",
    "    05  Q-TERM PIC X(4).",
    "01  Q-NAME PIC X(8).",
    "01  TRAN PIC X(4).",
    "01  REC PIC X(80).",
)
REGION = b"DEFINE TRANSACTION(CU01) GROUP(G) PROGRAM(OTHER)\n"
OTHER = b"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. OTHER.
       DATA DIVISION.
       LINKAGE SECTION.
       01  DFHCOMMAREA PIC X(80).
       PROCEDURE DIVISION.
           GOBACK.
"""


def said(*lines: str) -> dict[str, str]:
    """Return what a program does with queues and transactions, with the certainty."""
    text = sources.program(*(f"    {line}" for line in lines), data=DATA)
    graph = graph_of({"P.cbl": text.encode(), "OTHER.cbl": OTHER, "R.csd": REGION})
    return {
        f"{edge.verb} {edge.target.kind} {edge.target.name}": edge.certainty
        for edge in graph.drawn
        if edge.source.name in {"P", "P.REC"}
        and (edge.target.kind in {"queue", "transaction"} or edge.verb == "passes to")
    }


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # A group with the name of the terminal, and a STRING; both sides meet in one name.
        (
            ("MOVE EIBTRMID TO Q-TERM", "EXEC CICS WRITEQ TS QUEUE(Q-GROUP) FROM(REC) END-EXEC"),
            {"writes queue CUST*": "may"},
        ),
        (
            (
                "STRING 'CUST' EIBTRMID DELIMITED BY SIZE INTO Q-NAME",
                "EXEC CICS READQ TS QNAME(Q-NAME) INTO(REC) END-EXEC",
            ),
            {"reads queue CUST*": "may"},
        ),
        (
            ("STRING 'CU' '01' DELIMITED BY SIZE INTO TRAN", "EXEC CICS START TRANSID(TRAN) FROM(REC) END-EXEC"),
            {"starts transaction CU01": "may"},
        ),
        (
            ("STRING 'CU' '01' DELIMITED BY SIZE INTO TRAN", "EXEC CICS RETURN TRANSID(TRAN) COMMAREA(REC) END-EXEC"),
            {"starts transaction CU01": "may", "passes to field OTHER.DFHCOMMAREA": "may"},
        ),
        # Of a transaction, all of the name must be known; too little of a name tells no queue.
        (("STRING 'CU' EIBTRMID DELIMITED BY SIZE INTO TRAN", "EXEC CICS RUN TRANSID(TRAN) END-EXEC"), {}),
        (
            ("STRING 'Q' EIBTRMID DELIMITED BY SIZE INTO Q-NAME", "EXEC CICS DELETEQ TS QUEUE(Q-NAME) END-EXEC"),
            {},
        ),
        # What certainly reaches the command needs no other.
        (
            (
                "STRING 'CUST' EIBTRMID DELIMITED BY SIZE INTO Q-NAME",
                "MOVE 'LOGQ' TO Q-NAME",
                "EXEC CICS WRITEQ TD QUEUE(Q-NAME) FROM(REC) END-EXEC",
            ),
            {"writes queue LOGQ": "is"},
        ),
    ],
)
def test_names_that_a_program_composes_may_be_meant(lines: tuple[str, ...], expected: dict[str, str]) -> None:
    """The name of a queue has a star for what is data, as that of a file."""
    assert said(*lines) == expected


def test_the_names_of_an_item_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of n commands with one item, each looked anew at the n groups that are moved to it."""
    asked = []
    whole = GroupTexts.at

    def counted(groups: GroupTexts, group: int, site: Site | None) -> list[str]:
        asked.append(site)
        return whole(groups, group, site)

    monkeypatch.setattr(GroupTexts, "at", counted)
    pair = (
        *("MOVE EIBTRMID TO Q-TERM", "MOVE Q-GROUP TO Q-NAME"),
        "EXEC CICS WRITEQ TS QUEUE(Q-NAME) FROM(REC) END-EXEC",
    )
    assert said(*pair * 20) == {"writes queue CUST*": "may"}
    assert len(asked) == 20
