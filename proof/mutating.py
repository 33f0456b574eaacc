"""How could a line be wrong? Mutants of a module: small changes, each of which a test should notice.

Comparisons and numbers moved by one (-1 to 0), `and` for `or`, negated conditions, statements and `not` left out, nothing returned,
`min` for `max`. Laws: a mutant is valid Python, and differs from the module in one expression or statement; the same module gives
the same mutants, each with a rank that depends only on its line and function, so that a change elsewhere in the file does not
change the draw. Leaves out: annotations, docstrings, f-strings (positions inside them are unreliable), imports for types, `strict`
of `zip` (an assertion about ourselves). Leaves to others: who kills it.
"""

from __future__ import annotations

import ast
import hashlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SWAPS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}


class Mutant(NamedTuple):
    """A module with one thing changed."""

    path: str
    """The module's path, from the top of the repository."""
    line: int
    text: str
    """The original line in which the change begins."""
    change: str
    """What was replaced by what."""
    start: int
    end: int
    """The bytes of the module that are replaced."""
    new: str
    function: str
    """The function that contains it, with its class."""
    lines: frozenset[int] = frozenset()
    """The lines in which it is visible: those of the change, and of its statement without nested statements."""
    outer: tuple[str, int] | None = None
    """Name and first line of the outermost function that contains it; None if it is run when the module is loaded."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key for excuses, whatever its line number; of equal changes in one line the first is drawn."""
        return self.path, self.function, self.text.strip(), self.change

    def rank(self, seed: int) -> bytes:
        """Its rank in the draw."""
        return hashlib.sha256(repr((seed, self.path, self.text.strip(), self.change, self.function)).encode()).digest()

    def applied(self, source: bytes) -> bytes:
        """The module with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutants_of(source: bytes, path: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    return list(_Finder(source, path).found())


def drawn(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """This many of them, at most one per line, the same each time."""
    lines: set[tuple[str, str]] = set()
    chosen: list[Mutant] = []
    for mutant in sorted(mutants, key=lambda one: one.rank(seed)):
        if len(chosen) == number:
            break
        if (mutant.path, mutant.text) not in lines:
            lines.add((mutant.path, mutant.text))
            chosen.append(mutant)
    return chosen


class _Finder:
    """Walks one module."""

    def __init__(self, source: bytes, path: str) -> None:
        self.source = source
        self.path = path
        self.tree = ast.parse(source)
        self.lines = source.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def found(self) -> Iterator[Mutant]:
        yield from self._walk(self.tree, "", frozenset(), None)

    def _walk(
        self, node: ast.AST, function: str, lines: frozenset[int], outer: tuple[str, int] | None
    ) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".lstrip(".")
        if isinstance(node, ast.stmt):
            lines = _own_lines(node)
        for new, what in _changes(node):
            yield self._mutant(node, new, what, function)._replace(lines=lines | _lines(node), outer=outer)
        if isinstance(node, ast.UnaryOp) and _whole(node.operand) is not None:  # `-1` is one number
            return
        if isinstance(node, ast.keyword) and node.arg == "strict":  # of `zip`: an assertion about ourselves
            return
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"} or isinstance(node, ast.JoinedStr):
                continue
            within = outer
            if outer is None and name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                within = function, min([node.lineno, *(one.lineno for one in node.decorator_list)])
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST) and not _is_for_types(inner):
                    yield from self._walk(inner, function, lines, within)

    def _mutant(self, node: ast.AST, new: str, what: str, function: str) -> Mutant:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        text = self.lines[node.lineno - 1].decode()
        return Mutant(self.path, node.lineno, text, what, start, end, new, function)


def _lines(node: ast.AST) -> frozenset[int]:
    assert isinstance(node, ast.expr | ast.stmt)
    return frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _own_lines(node: ast.stmt) -> frozenset[int]:
    """The lines of a statement up to the first nested one."""
    held = [one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node]
    return _lines(node) - frozenset().union(*map(_lines, held))


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Replacements for a node, and their names."""
    if isinstance(node, ast.expr):
        yield from _of_expression(node)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield "return None", f"{_short(node)} -> return None"
    elif isinstance(node, ast.Continue | ast.Break):
        new = "break" if isinstance(node, ast.Continue) else "continue"
        yield new, f"{_short(node)} -> {new}"
    elif _is_left_out(node):
        yield "pass", f"{_short(node)} -> pass"


def _of_expression(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Replacements for an expression, in brackets, because it may be part of a larger one."""
    new: ast.expr | None = None
    if isinstance(node, ast.Compare):
        for at, one in enumerate(node.ops):
            ops = [*node.ops[:at], _SWAPS[type(one)], *node.ops[at + 1 :]]
            swapped = ast.unparse(ast.Compare(node.left, ops, node.comparators))
            yield f"({swapped})", f"{_short(node)} -> {swapped}"
    elif isinstance(node, ast.BoolOp):
        new = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        new = node.operand
    elif (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and (number := _whole(node.operand)) is not None
    ):
        new = ast.Constant(1 - number)
    elif (number := _whole(node)) is not None:
        new = ast.Constant(number + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        new = ast.Constant(not node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"min", "max"}:
        other = "max" if node.func.id == "min" else "min"
        new = ast.Call(ast.Name(other), node.args, node.keywords)
    elif isinstance(node, ast.IfExp):
        new = ast.IfExp(node.test, node.orelse, node.body)
    if new is not None:
        text = ast.unparse(new)
        yield f"({text})", f"{_short(node)} -> {text}"


def _whole(node: ast.AST) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _is_left_out(node: ast.AST) -> bool:
    """Whether a statement can be left out while the rest is still meant to run."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Name | ast.Tuple) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Delete)


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())
