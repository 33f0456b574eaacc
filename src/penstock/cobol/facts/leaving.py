"""Which paragraphs can control fall through?

It cannot if a statement leaves for good: GO TO, GOBACK, EXEC CICS RETURN, or a PERFORM of a range that itself never returns.
Leaves to others: where control falls to, and what reaches a paragraph at all.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from ..verbs import GONE
from .execs import comes_back

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from ..program import Program
    from .code import Code, Node, ReadStatement
    from .control import ControlEdge

_LEAVES = frozenset({"RETURN", "XCTL"})
_ESCAPES = frozenset({"EXIT PARAGRAPH", "EXIT SECTION"})
_SKIPPING = frozenset({"GO TO", "NEXT SENTENCE", "ALTER", *_ESCAPES})
_LOOPS = frozenset({"UNTIL", "VARYING", "TIMES"})
_FAR = 200
"""The number of paragraphs followed from the start of a range, beyond which it is assumed to return."""
_DEEP = 10
"""The number of paragraphs that perform each other, in turn, before one stops; beyond it, the first is assumed to return."""


class Ends(NamedTuple):
    """Which ends control may reach, by the key of a paragraph.

    Most paragraphs have a single end. One with a COPY that brings paragraphs ends there; behind it in its lines stand the copied
    ones, the last of which may have statements of the program.
    """

    own: list[bool]
    """Whether control may reach the end of the paragraph itself."""
    behind: list[bool]
    """Whether control may pass the statements behind a COPY that belong to copied paragraphs; True if there are none."""
    skips: dict[int, int]
    """The last paragraph of the section for those with EXIT SECTION."""

    def opens(self, at: int) -> bool:
        """Return whether control may go on from a paragraph into the next one of the program, through copied ones."""
        return self.own[at] and self.behind[at]


def open_ends(code: Code, nodes: Sequence[Sequence[Node]], edges: Sequence[ControlEdge]) -> Ends:
    """Return which ends of paragraphs control may reach.

    Args:
        code: The statements of the program.
        nodes: The statements of each paragraph as trees, indexed by its key.
        edges: The transfers of control.
    """
    performs = [edge for edge in edges if edge.via == "PERFORM" and edge.copybook is None and edge.source >= 0]
    # At first no PERFORM is assumed to return, and each only once the end of its range is found to be reached. So a paragraph that
    # performs itself on every path that does not leave never returns.
    gone = set() if any(edge.via == "ALTER" for edge in edges) else {edge.line for edge in performs}
    parts = [divided(inside) for inside in nodes]
    found = Ends([False for _ in nodes], [False for _ in nodes], _skips(code))

    def opened(at: int) -> bool:
        before = found.opens(at), found.own[at]
        first, *behind = parts[at]
        found.own[at] = found.own[at] or not _ends(first, gone)
        found.behind[at] = found.behind[at] or not any(_ends(part, gone) for part in behind)
        return before != (found.opens(at), found.own[at])

    for at in range(len(nodes)):
        opened(at)
    for at in _not_called(code.program, nodes, edges):
        found.own[at] = found.behind[at] = True
    if all(map(found.opens, range(len(nodes)))) or not gone:
        return found
    ways, stops = _Ways(found, edges), _stopping(code)
    pending = performs
    waiting: dict[
        int, list[ControlEdge]
    ] = {}  # the PERFORMs that a paragraph holds up as long as control cannot fall through it
    while pending:
        back = []
        for edge in pending:
            if edge.target is not None:
                held_up = ways.held_up_at(edge.target, edge.thru)
            else:
                held_up = set() if key(edge.name) in stops else None
            if held_up is None:
                back.append(edge)
            for at in held_up or ():
                waiting.setdefault(at, []).append(edge)
        gone.difference_update(edge.line for edge in back)
        changed = [at for at in {edge.source for edge in back} if opened(at)]
        again = dict.fromkeys(edge for at in changed for edge in waiting.pop(at, ()))
        pending = [edge for edge in again if edge.line in gone]
    return found


def _stopping(code: Code) -> frozenset[str]:
    """Return the copied paragraphs that control never gets past, in capitals: a statement outside of any branch leaves for good,
    or performs another such paragraph, and none before it may skip it. What they jump to is not followed.

    Where an error leads to a label, it may lead to the end of a range that begins with one of them, so that none counts.
    """
    gotos = (jump for piece in code.pieces for jump in piece.program.gotos)
    if any(jump.via.startswith(("HANDLE", "WHENEVER")) for jump in gotos):
        return frozenset()
    copied = [said for said in code.said if said.copybook is not None and said.header]
    stopping: frozenset[str] = frozenset()
    for _ in range(_DEEP):
        stops: dict[tuple[str, str], bool | None] = {}
        for said in copied:
            at = key(said.header), said.copybook or ""
            if stops.setdefault(at, None) is None:
                if said.verb in _SKIPPING:
                    stops[at] = False
                elif not said.depth and _stops(said, stopping):
                    stops[at] = True
        before = stopping
        stopping = frozenset({name for name, _ in stops} - {name for (name, _), does in stops.items() if not does})
        if stopping == before:
            break
    return stopping


def _stops(said: ReadStatement, stopping: AbstractSet[str]) -> bool:
    """Return whether a statement of a copied paragraph leaves for good, or performs one of the paragraphs that do."""
    if said.verb == "PERFORM":
        return len(said.keys) == 2 and said.operand in stopping
    return said.verb != "EXIT PROGRAM" and _leaves(said, frozenset())


def divided(nodes: Sequence[Node]) -> list[list[Node]]:
    """Return the statements of a paragraph itself, then those behind each COPY that brings paragraphs, which are of copied ones."""
    found = [list(part) for _, part in groupby(nodes, key=lambda node: node.said.header)]
    return found if found and not found[0][0].said.header else [[], *found]


class _Ways:
    """The paragraphs that control may enter from each paragraph without a PERFORM."""

    def __init__(self, ends: Ends, edges: Sequence[ControlEdge]) -> None:
        self._ends = ends
        self._skips = ends.skips
        self._jumps: dict[int, list[int]] = {}
        self._anywhere: list[int] = []  # where an error in any paragraph may lead
        self._unknown: set[int] = set()
        for edge in edges:
            if edge.copybook is not None:
                self._unknown.add(edge.source)
            elif edge.via == "WHENEVER" or edge.via.startswith("HANDLE"):
                self._anywhere += [] if edge.target is None else [edge.target]
            elif edge.via == "GO TO":
                if edge.target is None:
                    self._unknown.add(edge.source)
                else:
                    self._jumps.setdefault(edge.source, []).append(edge.target)

    def held_up_at(self, first: int, thru: int | None) -> set[int] | None:
        """Return the paragraphs entered from the start of a range that control cannot fall through; None if it may reach the end
        of the range, or this is not known.
        """
        last = first if thru is None else thru
        stack = [first, *self._anywhere]
        seen: set[int] = set()
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            skipped = self._skips.get(at)
            if len(seen) > _FAR or at in self._unknown or skipped == last or (at == last and self._ends.own[at]):
                return None
            stack += self._jumps.get(at, ())
            behind = [one + 1 for one in (at if self._ends.opens(at) else None, skipped) if one is not None]
            stack += [one for one in behind if one < len(self._ends.own)]
        return {at for at in seen if not self._ends.opens(at)}


def _not_called(program: Program, nodes: Sequence[Sequence[Node]], edges: Sequence[ControlEdge]) -> Iterator[int]:
    """Yield the paragraphs that end with an EXIT PROGRAM which does nothing in a main program: a STOP RUN follows for that case,
    in a paragraph that nothing else reaches.
    """
    if program.using or program.parent is not None or program.kind != "program":
        return
    reached = {edge.target for edge in edges}
    for at, (inside, behind) in enumerate(pairwise(nodes)):
        is_exit = bool(inside) and inside[-1].said.verb == "EXIT PROGRAM"
        if (
            is_exit
            and at + 1 not in reached
            and any(held.said.verb == "STOP RUN" for node in behind for held in _held(node))
        ):
            yield at


def _skips(code: Code) -> dict[int, int]:
    """Return the last paragraph of the section of each paragraph with an EXIT SECTION."""
    leaving = {said.paragraph for said in code.of("EXIT SECTION") if said.copybook is None and said.paragraph >= 0}
    found: dict[int, int] = {}
    for at in sorted(leaving, reverse=True):
        paragraphs = code.program.paragraphs
        section, last = key(paragraphs[at].section or ""), at
        while last + 1 < len(paragraphs) and key(paragraphs[last + 1].section or "") == section:
            last = found.get(last + 1, last + 1)
        found[at] = last
    return found


def _ends(nodes: Sequence[Node], gone: AbstractSet[int]) -> bool:
    """Return whether control never gets past these statements.

    They block it if one of them leaves for good, or if every branch of an IF with ELSE or an EVALUATE with WHEN OTHER leaves; but
    statements after an EXIT PARAGRAPH, or after a NEXT SENTENCE in its sentence, may have been skipped.

    Args:
        nodes: The statements of a paragraph.
        gone: The lines of PERFORMs that never return.
    """
    passed = -1  # the sentence of a NEXT SENTENCE
    for node in nodes:
        held = _held(node)
        verbs = {one.said.verb for one in held}
        if not _ESCAPES.isdisjoint(verbs):
            return False
        if "NEXT SENTENCE" in verbs:
            passed = node.said.sentence
        if passed != node.said.sentence and _left(held, gone):
            return True
    return False


def _held(node: Node) -> list[Node]:
    """Return a statement and all that it contains, parents before children; without recursion, because nesting may be deep."""
    held = [node]
    for one in held:  # which grows meanwhile
        for _, _, inner in one.branches:
            held += inner
    return held


def _left(held: Sequence[Node], gone: AbstractSet[int]) -> bool:
    """Return whether the first of some statements, which contains the others, leaves for good."""
    if len(held) == 1:  # as most statements
        return _leaves(held[0].said, gone)
    leaves: set[int] = set()
    for node in reversed(held):
        if _leaves(node.said, gone) or _all_leave(node, leaves):
            leaves.add(id(node))
    return id(held[0]) in leaves


def _leaves(said: ReadStatement, gone: AbstractSet[int]) -> bool:
    """Return whether control never continues after a statement; after GO TO DEPENDING it may, if the item is out of range."""
    if said.verb == "GO TO":
        return "DEPENDING" not in said.keys
    if said.verb == "EXEC CICS":
        command = cics_command(said)
        return command == "ABEND" or (command in _LEAVES and not comes_back(said.keys[0]))
    if said.verb == "PERFORM":
        return said.line in gone and said.copybook is None and _LOOPS.isdisjoint(said.keys)
    return said.verb in GONE


def cics_command(said: ReadStatement) -> str:
    """Return the first word of the command of an EXEC CICS, in capitals; "" for an empty one."""
    words = said.keys[0].split(None, 3)
    return words[2].partition("(")[0] if len(words) > 2 else ""


def _all_leave(node: Node, leaves: set[int]) -> bool:
    """Return whether every branch of a decision leaves, and one of them is always taken."""
    if node.said.verb == "IF":
        complete = len(node.branches) == 2
    elif node.said.verb == "EVALUATE":
        complete = any("OTHER" in opener.keys[1:] for _, opener, _ in node.branches)
    else:
        return False
    pending = False  # WHENs without statements share those of the next
    for _, _, inner in node.branches:
        if not inner:
            pending = True
            continue
        pending = False
        if not any(id(one) in leaves for one in inner):
            return False
    return complete and not pending
