"""Which queue does each call of MQ use?"""

from __future__ import annotations

import time

import pytest
from tests.cobol import sources
from tests.cobol.test_graph import graph_of

pytestmark = pytest.mark.proves("C-16")

DATA = (
    "01  IN-NAME PIC X(48) VALUE 'PAY.IN'.",
    "01  OUT-NAME PIC X(48) VALUE 'PAY.OUT'.",
    "01  GIVEN-NAME PIC X(48).",
    "01  HO PIC S9(9) COMP.",
    "01  IN-HO PIC S9(9) COMP.",
    "01  OUT-HO PIC S9(9) COMP.",
)
OPEN_IN = ("    MOVE IN-NAME TO MQOD-OBJECTNAME.", "    CALL 'MQOPEN' USING HC MQOD OPT HO CC RC.")
OPEN_OUT = ("    MOVE OUT-NAME TO MQOD-OBJECTNAME.", "    CALL 'MQOPEN' USING HC MQOD OPT HO CC RC.")
GET = "    CALL 'MQGET' USING HC {} MD GMO LEN BUF DLEN CC RC."
PUT = "    CALL 'MQPUT' USING HC {} MD PMO LEN BUF CC RC."


def used(*lines: str) -> dict[str, str]:
    """Return what a program does with queues, with the certainty."""
    graph = graph_of({"P.cbl": sources.program(*lines, data=DATA).encode()})
    found = (edge for edge in graph.drawn if edge.source.name == "P" and edge.verb in {"reads", "writes"})
    return {f"{edge.verb} {edge.target.kind} {edge.target.name}": edge.certainty for edge in found}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # A program with one descriptor does not name it, as the samples of MQ.
        ((*OPEN_IN, GET.format("HO")), {"reads queue PAY.IN": "is"}),
        (
            ("    MOVE 'PAY.ONE' TO MQOD-OBJECTNAME.", "    CALL 'MQPUT1' USING HC MQOD MD PMO LEN BUF CC RC."),
            {"writes queue PAY.ONE": "is"},
        ),
        # The MOVE before each MQOPEN counts, and so does the one that keeps its handle.
        (
            (
                *("A.", *OPEN_IN, "    MOVE HO TO IN-HO."),
                *("B.", *OPEN_OUT, "    MOVE HO TO OUT-HO."),
                *("C.", GET.format("IN-HO"), PUT.format("OUT-HO")),
            ),
            {"reads queue PAY.IN": "is", "writes queue PAY.OUT": "is"},
        ),
        # A handle that is kept is moved back for the call.
        (
            (
                *("A.", *OPEN_IN, "    MOVE HO TO IN-HO."),
                *("B.", *OPEN_OUT, "    MOVE HO TO OUT-HO."),
                *("C.", "    MOVE IN-HO TO HO.", GET.format("HO")),
                *("D.", "    MOVE OUT-HO TO HO.", PUT.format("HO")),
            ),
            {"reads queue PAY.IN": "is", "writes queue PAY.OUT": "is"},
        ),
        # Several that may be meant, and one that comes from outside.
        (
            ("A.", *OPEN_IN, "B.", *OPEN_OUT, "C.", PUT.format("HO")),
            {"writes queue PAY.IN": "may", "writes queue PAY.OUT": "may"},
        ),
        (
            (
                "    ACCEPT GIVEN-NAME.",
                "    MOVE GIVEN-NAME TO MQOD-OBJECTNAME.",
                "    CALL 'MQOPEN' USING HC MQOD OPT HO CC RC.",
                GET.format("HO"),
            ),
            {"reads field P.GIVEN-NAME": "unknown"},
        ),
        # What no MQOPEN fills is no handle, and a name that goes round ends.
        (("    MOVE IN-HO TO HO.", "    MOVE HO TO IN-HO.", GET.format("HO")), {}),
    ],
)
def test_a_call_uses_the_queue_that_was_opened_last_before_it(lines: tuple[str, ...], expected: dict[str, str]) -> None:
    """The nearest statement in the paragraph decides, or else all that the program has."""
    found = used(*lines)
    assert {name: sure for name, sure in found.items() if " queue " in name or sure == "unknown"} == expected


ASK = "    CALL 'MQPUT1' USING HC MQOD MD PMO LEN BUF CC RC."
MOVED = "    MOVE 'PAY.{}' TO MQOD-OBJECTNAME"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # One of two branches names the queue, and both lead to the call.
        (
            ("    IF HO = 1", MOVED.format("A"), "    ELSE", MOVED.format("B"), "    END-IF", ASK),
            {"A": "may", "B": "may"},
        ),
        ((MOVED.format("A") + ".", "    IF HO = 1", MOVED.format("B") + ".", ASK), {"A": "may", "B": "may"}),
        # Within the branch that names it, it is certain.
        (
            (MOVED.format("A") + ".", "    IF HO = 1", MOVED.format("B"), ASK[:-1], "    ELSE", "    CONTINUE."),
            {"B": "is"},
        ),
        ((MOVED.format("A"), "    IF HO = 1", MOVED.format("B"), "    ELSE", ASK), {"A": "may", "B": "may"}),
        # What is performed in between may name another one, if it names any.
        (("M.", MOVED.format("A"), "    PERFORM N.", ASK, "N.", MOVED.format("B") + "."), {"A": "may", "B": "may"}),
        (("M.", MOVED.format("A"), "    PERFORM N.", ASK, "N.", "    CONTINUE."), {"A": "is"}),
        # An item may get another name than that of its VALUE.
        (("    ACCEPT IN-NAME.", *OPEN_IN[:1], ASK), {}),
        (("    IF HO = 1 ACCEPT IN-NAME.", *OPEN_IN[:1], ASK), {"IN": "may"}),
        (("    MOVE IN-NAME TO MQOD-OBJECTNAME.", "    MOVE 'PAY.A' TO IN-NAME.", ASK), {"IN": "is"}),
    ],
)
def test_a_queue_is_certain_if_nothing_else_can_be_named(lines: tuple[str, ...], expected: dict[str, str]) -> None:
    """A MOVE in a branch that may not be taken leaves the others possible."""
    found = {name.partition("PAY.")[2]: sure for name, sure in used(*lines).items() if name.startswith("writes queue")}
    assert found == expected


def test_many_queues_are_read_in_linear_time() -> None:
    """A program that opens thousands of them by one handle tells none."""
    opened = (line for at in range(600) for line in (f"P{at}.", f"    MOVE 'Q{at}' TO MQOD-OBJECTNAME.", *OPEN_IN[1:]))
    begin = time.process_time()
    assert not {name for name in used(*opened, "LAST.", *([PUT.format("HO")] * 300)) if " queue " in name}
    assert time.process_time() - begin < 10
