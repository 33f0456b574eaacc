"""Which statement may run after which, with PERFORMs as calls that return?

`flow` answers the same for paragraphs; this is for questions whose answer depends on the order of statements, such as
which value an item has at a CALL (`reaching`). Leaves to others: what statements do to data, and conditions; every branch may
be taken.

Law: whatever may run after a statement, by the rules of COBOL, is among its successors here; loops and conditions add paths and
never remove one. Linear in the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from .code import is_inline, nests
from .execs import comes_back
from .flow import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..program import Program
    from .code import Code, Node, ReadStatement, Site
    from .expanding import CodePiece

Range = tuple[int, int]
"""The keys of the first and the last paragraph that a PERFORM runs."""

_Named = tuple[str, str | None]
"""What a statement names, and the section that qualifies it."""

_GONE = frozenset({"GOBACK", "STOP RUN", "EXIT PROGRAM", "EXIT METHOD", "EXIT FUNCTION"})
_FILE_VERBS = frozenset({"OPEN", "CLOSE", "READ", "WRITE", "REWRITE", "DELETE", "START"})
_OF = frozenset({"OF", "IN"})
_THRU = frozenset({"THRU", "THROUGH"})
EXIT = 0
"""The node at which the program is left."""


class _Loop(NamedTuple):
    """Where EXIT PERFORM and EXIT PERFORM CYCLE lead in the innermost loop."""

    out: int
    again: int


class _List(NamedTuple):
    """Statements that are still to be joined: in a row, with what follows the last one, and the loop around them."""

    nodes: Sequence[Node]
    following: int
    loop: _Loop | None


class Ways:
    """The ways through the statements of a program.

    Nodes are numbers: `EXIT`, the `start` and `end` of each paragraph, one for each statement, and a few between.
    `after` gives the nodes that may follow one; `runs` the range of paragraphs that runs before them; `said` the
    statement of a node. What follows the end of a paragraph depends on the range that is being performed: the caller
    of a range is followed where its last paragraph ends, the next paragraph (`falls`) anywhere else.

    Args:
        code: The statements.
        trees: Those of each paragraph as trees, at its key.
        pieces: The program and its procedure copybooks.
    """

    def __init__(self, code: Code, trees: Sequence[Sequence[Node]], pieces: Sequence[CodePiece]) -> None:
        self.program = code.program
        self._places = Places(code.program)
        count = len(code.program.paragraphs)
        self.after: list[list[int]] = [[] for _ in range(1 + 2 * count)]
        self.said: dict[int, ReadStatement] = {}
        self.runs: dict[int, Range] = {}
        self.outside: set[int] = set()
        """The nodes at which code of copybooks may run that stands in no paragraph of the program."""
        self.node_of: dict[Site, int] = {}
        """The node of each statement; one of a copybook below a header of its own has none."""
        self._copied = _Copied(code, pieces)
        self._alters = _alters(code)
        # One node between all statements and all labels: a thousand CICS commands and fifty labels would be fifty
        # thousand edges.
        self._on_error = {kind: self._hub(code, kind) for kind in ("EXEC CICS", "EXEC SQL")}
        self._declared = list(_declared(code.program))
        self._copied_runs = [found for first, end in self._copied.performs if (found := self._range(first, end, -1))]
        for at in range(count):
            self._paragraph(at, trees[at])

    def start(self, paragraph: int) -> int:
        """Return the node at which a paragraph begins."""
        return 1 + 2 * paragraph

    def end(self, paragraph: int) -> int:
        """Return the node behind the last statement of a paragraph."""
        return 2 + 2 * paragraph

    def falls(self, node: int) -> int | None:
        """Return what follows the end of a paragraph where no range ends; None for a node that is no such end."""
        # By the numbers alone: a paragraph's start is odd and its end is even, those of statements come behind all of
        # them.
        if node == EXIT or node % 2 or node > 2 * len(self.program.paragraphs):
            return None
        at = node // 2 - 1
        paragraphs = self.program.paragraphs
        if at + 1 < len(paragraphs) and paragraphs[at].declarative == paragraphs[at + 1].declarative:
            return self.start(at + 1)
        return EXIT

    def ends(self, paragraph: int) -> int:
        """Return the key of the paragraph whose end a node is; the node must be one."""
        return paragraph // 2 - 1

    def roots(self) -> list[int]:
        """Return where the program may be entered: its first paragraph, and each ENTRY."""
        paragraphs = self.program.paragraphs
        first = next((at for at, paragraph in enumerate(paragraphs) if not paragraph.declarative), None)
        found = [] if first is None else [self.start(first)]
        return found + [node for node, said in self.said.items() if said.verb == "ENTRY"]

    # ── building ──

    def _new(self, said: ReadStatement | None = None) -> int:
        """Add a node and return it."""
        self.after.append([])
        node = len(self.after) - 1
        if said is not None:
            self.said[node] = said
            self.node_of[said.site] = node
        return node

    def _paragraph(self, at: int, tree: Sequence[Node]) -> None:
        """Join the statements of one paragraph.

        Without recursion, because the code may be deeper than the interpreter: every statement gets its number before
        it is joined, and a list that a statement holds waits on a stack with what follows it.
        """
        numbers: dict[int, int] = {}
        self._numbers = numbers
        self._here = at
        order = list(_all(tree))
        for node in order:
            numbers[id(node)] = self._new(node.said)
        self._sentences = [(node.said.sentence, numbers[id(node)]) for node in tree]
        self.after[self.start(at)] = [self._first(tree, self.end(at))]
        waiting = [_List(tree, self.end(at), None)]
        while waiting:
            nodes, following, loop = waiting.pop()
            for index, node in enumerate(nodes):
                behind = numbers[id(nodes[index + 1])] if index + 1 < len(nodes) else following
                waiting += self._join(node, numbers[id(node)], behind, loop)

    def _first(self, nodes: Sequence[Node], following: int) -> int:
        """Return the node of the first of some statements; what follows them where there are none."""
        return self._numbers[id(nodes[0])] if nodes else following

    def _join(self, node: Node, number: int, following: int, loop: _Loop | None) -> Iterator[_List]:
        """Say what may run after one statement, and yield the lists that it holds."""
        said = node.said
        verb = said.verb
        if verb == "PERFORM" and is_inline(said.keys):
            yield from self._repeat(node, number, following)
            return
        inner = [branch for _, _, branch in node.branches]
        if verb in {"IF", "EVALUATE", "SEARCH"}:
            self.after[number] = list(self._branches(node, following))
        elif verb == "PERFORM":
            self._perform(said, number, following)
        elif verb in {"SORT", "MERGE", "XML PARSE"}:
            self._procedures(said, number, following)
        elif (leads := self._leads(said, following, loop)) is not None:
            self.after[number] = leads
        elif verb == "COPY":
            yield from self._inlined(said, number, following, loop)
        else:
            # With AT END alone the statement may also do without it; with NOT AT END beside it one of the two is taken.
            phrases = {opener.verb for _, opener, _ in node.branches}
            both = any(f"NOT {phrase}" in phrases for phrase in phrases)
            self.after[number] = [self._first(branch, following) for branch in inner] + ([] if both else [following])
            self._side_ways(said, number, following)
        for branch in inner:
            yield _List(branch, following, loop)

    def _branches(self, node: Node, following: int) -> Iterator[int]:
        """Yield where the branches of a decision begin, and what follows it where none need be taken."""
        branches = node.branches
        # WHENs without statements share those of the next one that has some.
        begins = following
        firsts: list[int] = []
        for _, opener, inner in reversed(branches):
            if inner or opener.verb != "WHEN":
                begins = self._first(inner, following)
            firsts.append(begins)
        yield from dict.fromkeys(firsts)
        complete = (
            len(branches) == 2
            if node.said.verb == "IF"
            else any("OTHER" in opener.keys[1:] for _, opener, _ in branches)
            if node.said.verb == "EVALUATE"
            else any(opener.verb == "AT END" for _, opener, _ in branches)
        )
        if not complete:
            yield following

    def _repeat(self, node: Node, number: int, following: int) -> Iterator[_List]:
        """Join a PERFORM around statements of its own."""
        keys = node.said.keys
        body = node.branches[0][2] if node.branches else []
        once = not {"UNTIL", "VARYING", "TIMES", "FOREVER"} & set(keys)
        tail = following if once else self._new()
        begin = self._first(body, tail)
        endless = "FOREVER" in keys or (keys[1:3] == ("UNTIL", "EXIT"))
        self.after[number] = [begin] if once or endless or _at_least_once(keys) else [begin, following]
        if not once:
            self.after[tail] = [begin] if endless else [begin, following]
        yield _List(body, tail, _Loop(following, tail))

    def _perform(self, said: ReadStatement, number: int, following: int) -> None:
        """Join a PERFORM of paragraphs: once, or any number of times where a condition or a count says so."""
        if said.keys[1:3] == ("ONE", "OF") and "DEPENDING" in said.keys:
            self._perform_one(said.keys[3 : said.keys.index("DEPENDING")], number, following)
            return
        first, end, at = _target(said.keys, 1)
        found = self._range(first, end, self._here)
        if found is None:
            self._unknown(number, following)
            return
        rest = set(said.keys[at:])
        if not rest & {"UNTIL", "VARYING", "TIMES"}:
            self.runs[number] = found
            self.after[number] = [following]
            return
        # The range hangs off a node of its own that leads back to itself, since the PERFORM may run it not at all.
        again = self._new()
        self.runs[again] = found
        self.after[again] = [again, following]
        self.after[number] = [again] if _at_least_once(said.keys) else [again, following]

    def _perform_one(self, names: Sequence[str], number: int, following: int) -> None:
        """Join a PERFORM ONE OF several paragraphs, which runs none where its item is out of range."""
        self.after[number] = [following]
        for name in names:
            found = self._range((name, None), None, self._here)
            step = self._new()
            self.after[number].append(step)
            if found is None:
                self._unknown(step, following)
            else:
                self.runs[step] = found
                self.after[step] = [following]

    def _procedures(self, said: ReadStatement, number: int, following: int) -> None:
        """Join a SORT, MERGE or XML PARSE: its procedures run in order, those of XML PARSE any number of times."""
        keys = said.keys
        here = number
        for at, word in enumerate(keys):
            if word == "PROCEDURE" and keys[at - 1] in {"INPUT", "OUTPUT", "PROCESSING"}:
                first, end, _ = _target(keys, at + 2 if keys[at + 1 : at + 2] == ("IS",) else at + 1)
                found = self._range(first, end, self._here)
                if found is not None:
                    step = self._new()
                    self.runs[step] = found
                    self.after[here].append(step)
                    if keys[at - 1] == "PROCESSING":
                        self.after[here].append(following)
                        self.after[step].append(step)
                    here = step
        self.after[here].append(following)

    def _leads(self, said: ReadStatement, following: int, loop: _Loop | None) -> list[int] | None:
        """Return what runs after a statement that moves control by itself; None for any other."""
        verb = said.verb
        if verb == "GO TO":
            return self._jump(said, following)
        if verb in _GONE:
            return [EXIT]
        if verb == "EXIT PARAGRAPH":
            return [self.end(self._here)]
        if verb == "EXIT SECTION":
            section = self.program.paragraphs[self._here].section
            found = self._places.sections.get(key(section)) if section else None
            return [self.end(found[1] if found else self._here)]
        if verb in {"EXIT PERFORM", "EXIT PERFORM CYCLE"} and loop is not None:
            return [loop.again if verb.endswith("CYCLE") else loop.out]
        if verb == "NEXT SENTENCE":
            return [
                next((node for sentence, node in self._sentences if sentence > said.sentence), self.end(self._here))
            ]
        if verb == "EXEC CICS":
            words = said.keys[0].split()
            command = words[2].partition("(")[0] if len(words) > 2 else ""
            if command in {"RETURN", "ABEND", "XCTL"}:
                # Without RESP or NOHANDLE an error of XCTL ends the task or goes to a label; with one, the next
                # statement runs.
                handled = comes_back(said.keys[0])
                hub = self._on_error["EXEC CICS"]
                return [EXIT, *([following] if handled else []), *([hub] if hub is not None else [])]
        return None

    def _side_ways(self, said: ReadStatement, number: int, following: int) -> None:
        """Add what an error of a statement may run: labels of HANDLE and WHENEVER, and the declaratives."""
        hub = self._on_error.get(said.verb)
        if hub is not None:
            self.after[number].append(hub)
        if said.verb in _FILE_VERBS:
            for section in self._declared:
                step = self._new()
                self.runs[step] = section
                self.after[step] = [following]
                self.after[number].append(step)

    def _jump(self, said: ReadStatement, following: int) -> list[int]:
        """Return where a GO TO leads, by ALTER too."""
        keys = said.keys
        end = keys.index("DEPENDING") if "DEPENDING" in keys else len(keys)
        names: list[_Named] = []
        at = 2 if keys[1:2] == ("TO",) else 1
        while at < end:
            named, after = _named(keys, at)
            if keys[at] not in {",", "ON"}:
                names.append(named)
            at = after
        names += [(name, None) for name in self._alters.get(key(self.program.paragraphs[self._here].name), ())]
        found = [self._places.find(*named, self._here) for named in names]
        leads = [self.start(place[0]) if place else EXIT for place in found]
        if end < len(keys):
            # DEPENDING ON a number that names none of the paragraphs does nothing.
            leads.append(following)
        return list(dict.fromkeys(leads)) or [EXIT]

    def _inlined(self, said: ReadStatement, number: int, following: int, loop: _Loop | None) -> Iterator[_List]:
        """Put the statements that a COPY brings in where it stands; those below headers of their own run anywhere."""
        if said.line in self._copied.headed:
            self._unknown(number, following)
            return
        tree = nests(self._copied.plain.get(said.line, ()))
        for node in _all(tree):
            self._numbers[id(node)] = self._new(node.said)
        # The trees are kept, because nodes are known by identity: one that is freed could give its own to another.
        self._copied.kept.append(tree)
        self.after[number] = [self._first(tree, following)]
        yield _List(tree, following, loop)

    def _unknown(self, number: int, following: int) -> None:
        """Join a node at which code runs that is not here: it may do what copied code does, and perform what that does."""
        # Copied code with headers of its own cannot be joined in place, for a GO TO of the program may lead into the
        # middle of it. So it may do all that it ever does, here.
        self.outside.add(number)
        self.after[number] = [following]
        for found in self._copied_runs:
            step = self._new()
            self.runs[step] = found
            self.after[step] = [step, following]
            self.after[number].append(step)

    def _range(self, first: _Named, end: _Named | None, source: int) -> Range | None:
        """Return the paragraphs that a PERFORM runs; None where they are not here."""
        begun = self._places.find(*first, source)
        last = self._places.find(*end, source) if end else begun
        return None if begun is None or last is None else (begun[0], last[1])

    def _hub(self, code: Code, kind: str) -> int | None:
        """Return a node from which all labels are reached that an error of CICS or SQL may lead to; None without any."""
        prefix = "HANDLE" if kind == "EXEC CICS" else "WHENEVER"
        names = [name for jump in code.program.gotos if jump.via.startswith(prefix) for name in jump.targets]
        places = [found for name in names if (found := self._places.find(name, None, -1)) is not None]
        if not places:
            return None
        hub = self._new()
        self.after[hub] = list(dict.fromkeys(self.start(first) for first, _ in places))
        return hub


class _Copied:
    """The statements of procedure copybooks: by the line of their COPY, and what they perform of the program."""

    def __init__(self, code: Code, pieces: Sequence[CodePiece]) -> None:
        self.headed = {
            piece.line
            for piece in pieces
            if piece.copybook is not None and any(p.name or p.section for p in piece.program.paragraphs)
        }
        self.plain: dict[int, list[ReadStatement]] = {}
        for said in code.said:
            if said.copybook is not None:
                self.plain.setdefault(said.line, []).append(said)
        self.performs = [
            ((perform.target, None), (perform.thru, None) if perform.thru else None)
            for piece in pieces
            if piece.copybook
            for perform in piece.program.performs
        ]
        self.kept: list[list[Node]] = []


def _all(tree: Sequence[Node]) -> Iterator[Node]:
    """Yield all statements of some trees."""
    stack = list(tree)
    while stack:
        node = stack.pop()
        yield node
        for _, _, inner in node.branches:
            stack += inner


def _target(keys: Sequence[str], at: int) -> tuple[_Named, _Named | None, int]:
    """Return what stands at an index, the end of its range, and the index behind them."""
    first, at = _named(keys, at)
    if at + 1 >= len(keys) or keys[at] not in _THRU:
        return first, None, at
    (thru, of), at = _named(keys, at + 1)
    return first, (thru, of or first[1]), at


def _named(keys: Sequence[str], at: int) -> tuple[_Named, int]:
    """Return the name that stands at an index with the section that qualifies it, and the index behind them."""
    name = keys[at] if at < len(keys) else ""
    if at + 2 < len(keys) and keys[at + 1] in _OF:
        return (name, keys[at + 2]), at + 3
    return (name, None), at + 1


def _at_least_once(keys: Sequence[str]) -> bool:
    """Return whether a loop certainly runs once: it is tested afterwards, or its count is a number above zero."""
    if "TEST" in keys and "AFTER" in keys[keys.index("TEST") :][:3]:
        return True
    return "TIMES" in keys and keys[keys.index("TIMES") - 1].isdecimal() and int(keys[keys.index("TIMES") - 1]) > 0


def _alters(code: Code) -> dict[str, list[str]]:
    """Return the paragraphs that each paragraph's GO TO may be altered to lead to, by its name in capitals."""
    found: dict[str, list[str]] = {}
    for said in code.said:
        if said.verb == "ALTER":
            words = [word for word in said.keys[1:] if word not in {"TO", "PROCEED", ","}]
            for source, target in zip(words[::2], words[1::2], strict=False):
                found.setdefault(source, []).append(target)
    return found


def _declared(program: Program) -> Iterable[Range]:
    """Yield the range of each section of the declaratives."""
    found: dict[str | None, Range] = {}
    for at, paragraph in enumerate(program.paragraphs):
        if paragraph.declarative:
            first, _ = found.get(paragraph.section, (at, at))
            found[paragraph.section] = (first, at)
    return found.values()
