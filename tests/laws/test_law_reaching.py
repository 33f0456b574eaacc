"""The law of values that reach a statement: they agree with an interpreter that takes every path through small programs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.cobol import scan
from penstock.cobol.facts import facts

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEMS = ("X", "Y", "Z")
MAX_STATES = 800
MAX_DEPTH = 4

Statement = tuple[Any, ...]


def _statements(paragraphs: int, depth: int) -> st.SearchStrategy[list[Statement]]:
    """Draw lists of statements for a program with `paragraphs` paragraphs, nested at most `depth` deep."""
    item, number = st.sampled_from(ITEMS), st.integers(0, paragraphs - 1)
    choices: list[st.SearchStrategy[Statement]] = [
        st.tuples(st.just("set"), item, st.sampled_from(["A1", "B2", "C3"])),
        st.tuples(st.just("copy"), item, item),
        st.tuples(st.just("accept"), item),
        st.tuples(st.just("blank"), item),
        st.tuples(st.just("group")),
        st.tuples(st.just("call"), item),
        st.tuples(st.just("call"), item),
        st.tuples(st.just("perform"), number, number, st.booleans()),
        st.tuples(st.just("goto"), number),
        st.tuples(st.just("leave")),
        st.tuples(st.just("stop")),
    ]
    if depth:
        inner = _statements(paragraphs, depth - 1)
        choices.append(st.tuples(st.just("if"), inner, inner))
        choices.append(st.tuples(st.just("loop"), inner))
    return st.lists(st.one_of(choices), max_size=4)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[list[Statement]], dict[str, str]]:
    """Draw the paragraphs of a program, and the initial values of its items."""
    count = draw(st.integers(1, 4))
    body = [draw(_statements(count, 2)) for _ in range(count)]
    return body, draw(st.dictionaries(st.sampled_from(ITEMS), st.sampled_from(["A1", "D4"])))


class _Written:
    """A program as COBOL and as instructions: text, and for each paragraph a list of (operation, arguments)."""

    def __init__(self, body: list[list[Statement]], begins: dict[str, str]) -> None:
        data = "".join(f"   02 {name} PIC XX{_value(begins.get(name))}.\n" for name in ITEMS)
        self.lines = [
            "ID DIVISION.",
            "PROGRAM-ID. P.",
            "DATA DIVISION.",
            "WORKING-STORAGE SECTION.",
            "01 G.",
            *data.splitlines(),
            "01 C PIC X.",
            "PROCEDURE DIVISION.",
        ]
        self.code: list[list[tuple[Any, ...]]] = []
        for number, statements in enumerate(body):
            self.lines.append(f"P{number}.")
            self.code.append([])
            for statement in statements:
                self._write(statement)
            self.lines.append("    CONTINUE.")

    def _write(self, statement: Statement) -> None:
        verb, *rest = statement
        code = self.code[-1]
        plain = {
            "set": "MOVE '{1}' TO {0}",
            "copy": "MOVE {1} TO {0}",
            "accept": "ACCEPT {0}",
            "blank": "MOVE SPACES TO {0}",
            "group": "MOVE 'A1B2' TO G",
            "call": "CALL {0}",
            "goto": "GO TO P{0}",
            "leave": "EXIT PARAGRAPH",
            "stop": "STOP RUN",
        }
        if verb in plain:
            self.lines.append("    " + plain[verb].format(*rest))
            code.append((verb, *rest, len(self.lines)))
        elif verb == "perform":
            first, last, until = rest
            first, last = min(first, last), max(first, last)
            thru = f" THRU P{last}" if last != first else ""
            self.lines.append(f"    PERFORM P{first}{thru}{' UNTIL C = 1' if until else ''}")
            if until:
                code.append(("either", len(code) + 2))
                code.append(("perform", first, last))
                code[-2] = ("either", len(code) + 1)
                code.append(("to", len(code) - 2))
            else:
                code.append(("perform", first, last))
        elif verb == "if":
            self.lines.append("    IF C = 1")
            at = len(code)
            code.append(())
            self._inner(rest[0])
            self.lines.append("    ELSE")
            over = len(code)
            code.append(())
            code[at] = ("either", len(code))
            self._inner(rest[1])
            code[over] = ("to", len(code))
            self.lines.append("    END-IF")
        else:
            self.lines.append("    PERFORM UNTIL C = 1")
            at = len(code)
            code.append(())
            self._inner(rest[0])
            code.append(("to", at))
            code[at] = ("either", len(code))
            self.lines.append("    END-PERFORM")

    def _inner(self, statements: list[Statement]) -> None:
        for statement in statements:
            self._write(statement)
        self.lines.append("    CONTINUE")


def _value(text: str | None) -> str:
    return f" VALUE '{text}'" if text else ""


UNKNOWN = "?"


def _all_ways(written: _Written, begins: dict[str, str]) -> dict[int, set[str | None]]:
    """Return the values that the item of each CALL has on any path, by its line; `UNKNOWN` for a value from ACCEPT.

    A state is a place, the ranges being performed, and the values. The search stops after `MAX_STATES` states and leaves paths
    that are too deep; what it found by then counts.
    """
    seen: set[Any] = set()
    found: dict[int, set[str | None]] = {}
    waiting: deque[Any] = deque([((0, 0), (), tuple(begins.get(name) for name in ITEMS))])
    while waiting and len(seen) < MAX_STATES:
        state = waiting.popleft()
        if state in seen:
            continue
        seen.add(state)
        (paragraph, at), stack, values = state
        code = written.code[paragraph]
        if at < len(code):
            verb, *rest = code[at]
            if verb == "call":
                found.setdefault(rest[1], set()).add(values[ITEMS.index(rest[0])])
            new = _effect(verb, rest, dict(zip(ITEMS, values, strict=True)))
            waiting.extend(
                (place, calls, new) for place, calls in _follow(verb, rest, (paragraph, at), stack, len(code))
            )
        elif stack and stack[-1][0] == paragraph:
            waiting.append((stack[-1][1], stack[:-1], values))
        elif paragraph + 1 < len(written.code):
            waiting.append(((paragraph + 1, 0), stack, values))
    return found


def _effect(verb: str, rest: list[Any], values: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values of the items after an instruction."""
    if verb == "set":
        values[rest[0]] = rest[1]
    elif verb == "copy":
        values[rest[0]] = values[rest[1]]
    elif verb in {"accept", "blank"}:
        values[rest[0]] = UNKNOWN if verb == "accept" else ""
    elif verb == "group":
        values |= {"X": "A1", "Y": "B2", "Z": ""}
    return tuple(values[name] for name in ITEMS)


def _follow(verb: str, rest: list[Any], here: tuple[int, int], stack: Any, size: int) -> Iterator[tuple[Any, Any]]:
    """Yield each place that may follow an instruction, with the ranges being performed there."""
    paragraph, at = here
    if verb in {"to", "either"}:
        yield (paragraph, rest[0]), stack
    elif verb == "goto":
        yield (rest[0], 0), stack
    elif verb == "leave":
        yield (paragraph, size), stack
    elif verb == "perform" and len(stack) < MAX_DEPTH:
        yield (rest[0], 0), (*stack, (rest[1], (paragraph, at + 1)))
    if verb not in {"to", "goto", "leave", "perform", "stop"}:
        yield (paragraph, at + 1), stack


@pytest.mark.proves("C-16")
@settings(max_examples=30)
@given(programs())
@example(([[("perform", 1, 1, False), ("stop",)], [("set", "X", "A1"), ("perform", 2, 2, False)], [("call", "X")]], {}))
def test_a_value_on_some_path_is_found_and_a_sure_value_is_the_only_one(
    program: tuple[list[list[Statement]], dict[str, str]],
) -> None:
    """A value that a real path brings is never missing, and `is_sure` never holds if another value reaches."""
    body, begins = program
    written = _Written(body, begins)
    source = scan("\n".join(written.lines) + "\n", source_format="free")
    calls = {call.line: call for call in facts(source, source.programs[0]).calls}
    for line, values in _all_ways(written, begins).items():
        call = calls[line]
        said = set(call.names)
        assert {value for value in values if value not in {None, "", UNKNOWN}} <= said
        assert UNKNOWN not in values or call.unknown
        if call.is_sure:
            assert values - {None} <= said
            assert len(said) == 1
