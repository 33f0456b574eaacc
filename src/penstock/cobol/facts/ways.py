"""Which statement may run after which, with PERFORMs as calls that return?

`flow` answers the same for paragraphs; this module is for questions that depend on the order of statements, such as the value of
an item at a CALL (`reaching`). Leaves to others: the effects of statements on data, and conditions; every branch may be taken.

Law: any statement that may run after another, by the rules of COBOL, is among its successors here; loops and conditions add paths
and never remove one. Linear in the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..program import WHENEVER_PERFORM, key, number
from ..verbs import GONE
from .code import is_inline, nests, performed_at
from .execs import comes_back
from .flow import Places
from .leaving import cics_command, divided
from .naming import QUALIFYING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..program import Program
    from .code import Code, Node, ReadStatement, Site
    from .expanding import CodePiece

Range = tuple[int, int]
"""The keys of the first and last paragraph of a PERFORM."""

_Named = tuple[str, str | None]
"""The name of a paragraph or section in a statement, and the section that qualifies it."""

_FILE_VERBS = frozenset({"OPEN", "CLOSE", "READ", "WRITE", "REWRITE", "DELETE", "START"})
_THRU = frozenset({"THRU", "THROUGH"})
EXIT = 0
"""The node at which control leaves the program."""


class _Loop(NamedTuple):
    """The targets of EXIT PERFORM and EXIT PERFORM CYCLE in the innermost loop."""

    out: int
    again: int


class _List(NamedTuple):
    """Consecutive statements still to be joined, with the node that follows the last one, and the loop around them."""

    nodes: Sequence[Node]
    following: int
    loop: _Loop | None


class Ways:
    """The paths through the statements of a program.

    Nodes are numbers: `EXIT`, the `start` and `end` of each paragraph, one for each statement, and some auxiliary ones. `after`
    gives the successors of a node, `runs` the range of paragraphs that runs before them, and `said` the statement of a node. What
    follows the end of a paragraph depends on the performed range: after its last paragraph the range returns to its caller, and
    after any other one the next paragraph (`falls`) follows.

    Args:
        code: The statements.
        trees: The statements of each paragraph as trees, by its key.
        pieces: The program and its procedure copybooks.
    """

    def __init__(self, code: Code, trees: Sequence[Sequence[Node]], pieces: Sequence[CodePiece]) -> None:
        self.program = code.program
        self._places = Places(code.program)
        self._copied = _Copied(code, pieces)
        parts = self._parts(trees)
        self.after: list[list[int]] = [[] for _ in range(1 + 2 * len(parts))]
        self.said: dict[int, ReadStatement] = {}
        self.runs: dict[int, Range] = {}
        self.outside: set[int] = set()
        """The nodes at which code of copybooks may run that is not joined in place."""
        self.node_of: dict[Site, int] = {}
        """The node of each statement, except for those below a header in a copybook."""
        self._alters = _alters(code)
        # One node between all statements and all labels, because a thousand CICS commands and fifty labels would otherwise be fifty
        # thousand edges.
        self._on_error = {kind: self._hub(code, kind) for kind in ("EXEC CICS", "EXEC SQL")}
        self._declared = list(_declared(code.program))
        performed = [one.target for one in code.program.performs if one.via == WHENEVER_PERFORM]
        self._on_sql = sorted(
            {named for name in performed if (named := self._range((name, None), None, -1)) is not None}
        )
        self._copied_runs = [found for first, end in self._copied.performs if (found := self._range(first, end, -1))]
        self._copied_runs += [(part, part) for part, (_, tree) in enumerate(parts) if tree and tree[0].said.header]
        headed = [(part, tree) for part, (_, tree) in enumerate(parts) if self._copied.is_headed(tree[:1])]
        self._copies = {tree[0].said.line: part for part, tree in headed}
        jumps = [self.start(found[0]) for named in self._copied.jumps if (found := self._places.find(*named, -1))]
        self._jumped = [self._new()] if jumps else []  # one node for all of them
        self.after[-1] += dict.fromkeys(jumps)
        for part, (at, tree) in enumerate(parts):
            self._paragraph(part, at, tree)

    def start(self, paragraph: int) -> int:
        """Return the node at which a paragraph begins."""
        return 1 + 2 * paragraph

    def end(self, paragraph: int) -> int:
        """Return the node after the last statement of a paragraph."""
        return 2 + 2 * paragraph

    def falls(self, node: int) -> int | None:
        """Return the node after the end of a paragraph at which no range ends; None if a node is not the end of a paragraph."""
        # Determined by number: the start of a paragraph is odd and its end even, and statements come after all of them.
        if node == EXIT or node % 2 or node > 2 * len(self._following):
            return None
        following = self._following[node // 2 - 1]
        return EXIT if following is None else self.start(following)

    def _next(self, at: int) -> int | None:
        """Return the key of the next paragraph; None if control leaves the program, or its declaratives, behind one."""
        paragraphs = self.program.paragraphs
        has_next = at + 1 < len(paragraphs) and paragraphs[at].declarative == paragraphs[at + 1].declarative
        return at + 1 if has_next else None

    def ends(self, paragraph: int) -> int:
        """Return the key of the paragraph that ends at a node, which must be such an end."""
        return paragraph // 2 - 1

    def roots(self) -> list[int]:
        """Return the nodes at which the program may be entered: its first paragraph, and each ENTRY."""
        paragraphs = self.program.paragraphs
        first = next((at for at, paragraph in enumerate(paragraphs) if not paragraph.declarative), None)
        found = [] if first is None else [self.start(first)]
        return found + [node for node, said in self.said.items() if said.verb == "ENTRY"]

    # ── building ──

    def _parts(self, trees: Sequence[Sequence[Node]]) -> list[tuple[int, Sequence[Node]]]:
        """Return the parts of the code, each with the paragraph in whose lines it is: the paragraphs of the program by their keys,
        then each COPY in them that brings paragraphs, and what stands behind it, which is of a copied one.
        """
        divisions = [list(self._copied.parts(tree)) for tree in trees]
        parts = [(at, first) for at, (first, *_) in enumerate(divisions)]
        self._following = list(map(self._next, range(len(parts))))
        for at, (_, *behind) in enumerate(divisions):
            before, following = at, self._following[at]
            for tree in behind:
                self._following[before] = len(parts)
                self._following.append(following)
                before = len(parts)
                parts.append((at, tree))
        return parts

    def _new(self, said: ReadStatement | None = None) -> int:
        """Add a node and return it."""
        self.after.append([])
        node = len(self.after) - 1
        if said is not None:
            self.said[node] = said
            self.node_of[said.site] = node
        return node

    def _paragraph(self, part: int, at: int, tree: Sequence[Node]) -> None:
        """Join the statements of one part, in the lines of a paragraph.

        This is not recursive, because code may be nested deeper than the recursion limit: every statement gets its number before it
        is joined, and the lists of statements nested in it wait on a stack.
        """
        numbers: dict[int, int] = {}
        self._numbers = numbers
        self._here, self._part = at, part
        order = list(_all(tree))
        for node in order:
            numbers[id(node)] = self._new(node.said)
        self._sentences = [(node.said.sentence, numbers[id(node)]) for node in tree]
        self.after[self.start(part)] = [self._first(tree, self.end(part))]
        waiting = [_List(tree, self.end(part), None)]
        while waiting:
            nodes, following, loop = waiting.pop()
            for index, node in enumerate(nodes):
                behind = numbers[id(nodes[index + 1])] if index + 1 < len(nodes) else following
                waiting += self._join(node, numbers[id(node)], behind, loop)

    def _first(self, nodes: Sequence[Node], following: int) -> int:
        """Return the node of the first of some statements, or the following node if there are none."""
        return self._numbers[id(nodes[0])] if nodes else following

    def _join(self, node: Node, number: int, following: int, loop: _Loop | None) -> Iterator[_List]:
        """Set the successors of one statement, and yield the lists of statements nested in it."""
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
            # With AT END alone, control may skip it; with both AT END and NOT AT END, one of the two is taken.
            phrases = {opener.verb for _, opener, _ in node.branches}
            both = any(f"NOT {phrase}" in phrases for phrase in phrases)
            self.after[number] = [self._first(branch, following) for branch in inner] + ([] if both else [following])
            self._side_ways(said, number, following)
        for branch in inner:
            yield _List(branch, following, loop)

    def _branches(self, node: Node, following: int) -> Iterator[int]:
        """Yield the nodes at which the branches of a decision begin, and the following node if no branch may be taken."""
        branches = node.branches
        # A WHEN without statements shares those of the next one that has any.
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
        """Join an inline PERFORM."""
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
        """Join a PERFORM of paragraphs: once, or any number of times with a condition or count. In a thread, it may run later."""
        if said.keys[1:3] == ("ONE", "OF") and "DEPENDING" in said.keys:
            self._perform_one(said.keys[3 : said.keys.index("DEPENDING")], number, following)
            return
        begin = performed_at(said.keys)
        first, end, at = _target(said.keys, begin)
        found = self._range(first, end, self._here)
        if found is None:
            self._unknown(number, following)
            return
        rest = set(said.keys[at:])
        if begin == 1 and not rest & {"UNTIL", "VARYING", "TIMES"}:
            self.runs[number] = found
            self.after[number] = [following]
            return
        # The range has a separate node with an edge to itself, because the PERFORM may not run it at all.
        again = self._new()
        self.runs[again] = found
        self.after[again] = [again, following]
        self.after[number] = [again] if _at_least_once(said.keys) else [again, following]

    def _perform_one(self, names: Sequence[str], number: int, following: int) -> None:
        """Join a PERFORM ONE OF several paragraphs, which runs none if its item is out of range."""
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
        """Join a SORT, MERGE or XML PARSE: its procedures run in order, that of XML PARSE any number of times."""
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
        """Return the successors of a statement that transfers control; None for any other."""
        verb = said.verb
        if verb == "GO TO":
            return self._jump(said, following)
        if verb in GONE:
            return [EXIT]
        if verb == "EXIT PARAGRAPH":
            return [self.end(self._part)]
        if verb == "EXIT SECTION":
            section = self.program.paragraphs[self._here].section
            found = self._places.sections.get(key(section)) if section else None
            return [self.end(found[1] if found else self._part)]
        if verb in {"EXIT PERFORM", "EXIT PERFORM CYCLE"} and loop is not None:
            return [loop.again if verb.endswith("CYCLE") else loop.out]
        if verb == "NEXT SENTENCE":
            return [
                next((node for sentence, node in self._sentences if sentence > said.sentence), self.end(self._part))
            ]
        if verb == "EXEC CICS" and cics_command(said) in {"RETURN", "ABEND", "XCTL"}:
            # Without RESP or NOHANDLE, an error ends the task or leads to a label; with one of them, the next statement runs.
            handled = comes_back(said.keys[0])
            hub = self._on_error["EXEC CICS"]
            return [EXIT, *([following] if handled else []), *([hub] if hub is not None else [])]
        return None

    def _side_ways(self, said: ReadStatement, number: int, following: int) -> None:
        """Add the successors after an error of a statement: labels of HANDLE and WHENEVER, and what is performed then."""
        hub = self._on_error.get(said.verb)
        if hub is not None:
            self.after[number].append(hub)
        performed = self._declared if said.verb in _FILE_VERBS else self._on_sql if said.verb == "EXEC SQL" else ()
        for section in performed:
            step = self._new()
            self.runs[step] = section
            self.after[step] = [following]
            self.after[number].append(step)

    def _jump(self, said: ReadStatement, following: int) -> list[int]:
        """Return the targets of a GO TO, including those by ALTER."""
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
        leads = [self._place(*named) for named in names]
        if end < len(keys):
            # A DEPENDING ON item that is out of range has no effect.
            leads.append(following)
        return list(dict.fromkeys(leads)) or [EXIT]

    def _place(self, name: str, section: str | None) -> int:
        """Return the node that a GO TO leads to: for a copied paragraph, its COPY."""
        found = self._places.find(name, section, self._here)
        part = found[0] if found else self._copies.get(self._copied.lines.get(key(name), 0))
        return EXIT if part is None else self.start(part)

    def _inlined(self, said: ReadStatement, number: int, following: int, loop: _Loop | None) -> Iterator[_List]:
        """Join the statements of a copybook in place of its COPY; those below headers in it may run anywhere."""
        if said.line in self._copied.headed:
            self._unknown(number, following)
            return
        tree = nests(self._copied.plain.get(said.line, ()))
        for node in _all(tree):
            self._numbers[id(node)] = self._new(node.said)
        # The trees are kept, because nodes are identified by `id`, which could be reused after one is freed.
        self._copied.kept.append(tree)
        self.after[number] = [self._first(tree, following)]
        yield _List(tree, following, loop)

    def _unknown(self, number: int, following: int) -> None:
        """Join a node at which unknown code runs, which may have the effects of copied code, and go where that goes."""
        # Copied code with headers cannot be joined in place, because a GO TO of the program may lead into the middle of it. So any
        # of its effects may occur here.
        self.outside.add(number)
        self.after[number] = [following, *self._jumped]
        for found in self._copied_runs:
            step = self._new()
            self.runs[step] = found
            self.after[step] = [step, following]
            self.after[number].append(step)

    def _range(self, first: _Named, end: _Named | None, source: int) -> Range | None:
        """Return the range of a PERFORM; None if its paragraphs are not in the program."""
        begun = self._places.find(*first, source)
        last = self._places.find(*end, source) if end else begun
        return None if begun is None or last is None else (begun[0], last[1])

    def _hub(self, code: Code, kind: str) -> int | None:
        """Return a node that leads to all labels that an error of CICS or SQL may lead to; None if there are none."""
        prefix = "HANDLE" if kind == "EXEC CICS" else "WHENEVER"
        names = [name for jump in code.program.gotos if jump.via.startswith(prefix) for name in jump.targets]
        places = [found for name in names if (found := self._places.find(name, None, -1)) is not None]
        if not places:
            return None
        hub = self._new()
        self.after[hub] = list(dict.fromkeys(self.start(first) for first, _ in places))
        return hub


class _Copied:
    """The statements of procedure copybooks by the line of their COPY, and the ranges that they perform."""

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
        self.jumps = [
            target for piece in pieces if piece.copybook for jump in piece.program.gotos for target in jump.places()
        ]
        self.lines: dict[str, int] = {}
        """The line of the COPY of each copied paragraph and section, by its name in capitals."""
        for piece in pieces[1:]:
            named = [one.name for one in piece.program.paragraphs] + [one.name for one in piece.program.sections]
            for name in named:
                self.lines.setdefault(key(name), piece.line)
        self.kept: list[list[Node]] = []

    def parts(self, tree: Sequence[Node]) -> Iterator[Sequence[Node]]:
        """Yield the statements of a paragraph itself, then each COPY that brings paragraphs, and what stands behind it."""
        for part in divided(tree):
            if self.is_headed(part[-1:]):
                yield part[:-1]
                yield part[-1:]
            else:
                yield part

    def is_headed(self, nodes: Sequence[Node]) -> bool:
        """Return whether the first of some statements is a COPY that brings paragraphs."""
        return bool(nodes) and nodes[0].said.verb == "COPY" and nodes[0].said.line in self.headed


def _all(tree: Sequence[Node]) -> Iterator[Node]:
    """Yield all statements in some trees."""
    stack = list(tree)
    while stack:
        node = stack.pop()
        yield node
        for _, _, inner in node.branches:
            stack += inner


def _target(keys: Sequence[str], at: int) -> tuple[_Named, _Named | None, int]:
    """Return the name at an index, the end of its range, and the index after them."""
    first, at = _named(keys, at)
    if at + 1 >= len(keys) or keys[at] not in _THRU:
        return first, None, at
    (thru, of), at = _named(keys, at + 1)
    return first, (thru, of or first[1]), at


def _named(keys: Sequence[str], at: int) -> tuple[_Named, int]:
    """Return the name at an index with the section that qualifies it, and the index after them."""
    name = keys[at] if at < len(keys) else ""
    if at + 2 < len(keys) and keys[at + 1] in QUALIFYING:
        return (name, keys[at + 2]), at + 3
    return (name, None), at + 1


def _at_least_once(keys: Sequence[str]) -> bool:
    """Return whether a loop certainly runs once: it has TEST AFTER, or its count is a number above zero."""
    if "TEST" in keys and "AFTER" in keys[keys.index("TEST") :][:3]:
        return True
    return "TIMES" in keys and bool(number(keys[keys.index("TIMES") - 1]))


def _alters(code: Code) -> dict[str, list[str]]:
    """Return the names to which the GO TO of each paragraph may be altered, by the paragraph's name in capitals."""
    found: dict[str, list[str]] = {}
    for said in code.said:
        if said.verb == "ALTER":
            words = [word for word in said.keys[1:] if word not in {"TO", "PROCEED", ","}]
            for source, target in zip(words[::2], words[1::2], strict=False):
                found.setdefault(source, []).append(target)
    return found


def _declared(program: Program) -> Iterable[Range]:
    """Return the range of each section of the declaratives."""
    found: dict[str | None, Range] = {}
    for at, paragraph in enumerate(program.paragraphs):
        if paragraph.declarative:
            first, _ = found.get(paragraph.section, (at, at))
            found[paragraph.section] = (first, at)
    return found.values()
