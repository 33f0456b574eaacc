"""What does the source look like in numbers: rooms, import cycles, lines of code, docstrings and comments, lengths, duplicate
names?

    scripts/house 2f883c6      the working tree compared with that revision

Lines are those of `src/penstock`: code is every line that is not blank, a comment line, or a docstring. Imports for types count as
imports. Nothing here is a target; the table is for the eye, before and after a redesign. A second table has the lines of code room
by room: a module from before there were rooms counts where its question is answered today, and code that answers a new question is
listed separately.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tempfile
import tokenize
import zipfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = "src/penstock"
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
_ROOMS = {
    "agent": ("confining", "editing", "generated", "shell", "toolbox", "verifying", "stats"),
    "carrier": ("send",),
    "context": ("activity", "bill", "compaction", "handoff", "recovery"),
    "guard": ("guarding", "piping"),
    "inspection": (),
    "session": ("degradation", "effects", "ledger", "limits", "spending"),
    "store": ("paging",),
    "text": ("budget", "calls", "inert", "notices", "page", "records", "redaction", "tokens", "window"),
    "tools": ("reads",),
    "wires": ("transcript",),
}
_ROOM_OF = {module: room for room, modules in _ROOMS.items() for module in modules}
"""The room of today that answers the question of a module or package of 2f883c6."""
NEW = frozenset({"gateway", "relay", "hosts", "inspection", "scribe.queue", "cobol.graph"})
"""Rooms whose question did not exist at 2f883c6, and the two parts of old rooms for which that is true."""


class Module(NamedTuple):
    """One parsed file."""

    name: str
    tree: ast.Module
    lines: int
    code_lines: int
    docstring_lines: int
    comment_lines: int


def read_module(path: Path, root: Path) -> Module:
    """Return a file with its lines classified."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        # A bare string documents what precedes it: a module, a class, a function, an attribute.
        for statement in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement.value.value, str):
                docstrings |= set(range(statement.lineno, (statement.end_lineno or 0) + 1))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    code -= docstrings
    parts = path.relative_to(root).with_suffix("").parts
    name = ".".join(("penstock", *(parts[:-1] if parts[-1] == "__init__" else parts)))
    return Module(name, tree, len(source.splitlines()), len(code), len(docstrings), len(comments - code))


def imports_of(module: Module, known: set[str]) -> set[str]:
    """Return the modules of the package that a module imports, for types or not, at its top or later."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {
                f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in known else node.module
                for alias in node.names
            }
    return (found & known) - {module.name}


def in_circles(edges: dict[str, set[str]]) -> set[str]:
    """Return the modules that can be reached from themselves."""

    def reaches_itself(start: str) -> bool:
        seen: set[str] = set()
        rest = list(edges[start])
        while rest:
            node = rest.pop()
            if node == start:
                return True
            if node not in seen:
                seen.add(node)
                rest += edges.get(node, ())
        return False

    return {name for name in edges if reaches_itself(name)}


def is_only_a_path(module: Module) -> bool:
    """Whether a module does nothing but re-export names."""
    return all(
        isinstance(node, ast.ImportFrom | ast.Expr)
        or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__")
        for node in module.tree.body
    )


def room_of(module: Module) -> str:
    """Return the room of today that answers a module's question, or the new part of one; "" for the top level."""
    parts = module.name.split(".")[1:]
    if ".".join(parts[:2]) in NEW:
        return ".".join(parts[:2])
    if not parts or is_only_a_path(module) or parts[0] == "__main__":
        return ""
    return _ROOM_OF.get(parts[0], parts[0])


def rooms(modules: list[Module]) -> dict[str, int]:
    """Return the lines of code of each room."""
    lines: dict[str, int] = defaultdict(int)
    for module in modules:
        lines[room_of(module)] += module.code_lines
    return lines


def figures(modules: list[Module], root: Path) -> dict[str, str]:
    """Return the table's column for one state of the package."""
    known = {module.name for module in modules}
    edges = {module.name: imports_of(module, known) for module in modules}
    rooms = {
        module.name.split(".")[1]
        for module in modules
        if module.name.count(".") >= 1
        and module.name != "penstock.__main__"
        and not (
            module.name.count(".") == 1 and not (root / module.name.split(".")[1]).is_dir() and is_only_a_path(module)
        )
    }
    functions = [
        node
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    classes: dict[str, int] = defaultdict(int)
    for module in modules:
        for name in {node.name for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)}:
            classes[name] += not name.startswith("_")
    twice = sum(number for number in classes.values() if number > 1)
    code = sum(module.code_lines for module in modules)
    lengths = sorted(module.lines for module in modules)
    whole = sorted(_lines(node) for node in functions)
    bare = sorted(_lines(node) - _docstring_lines(node) for node in functions)
    return {
        "rooms at the top": str(len(rooms)),
        "modules in circles of imports, types included": str(len(in_circles(edges))),
        "lines of code": str(code),
        "docstring lines per 100 of code": f"{100 * sum(m.docstring_lines for m in modules) / code:.1f}",
        "comment lines per 100 of code": f"{100 * sum(m.comment_lines for m in modules) / code:.1f}",
        "public classes": str(sum(classes.values())),
        "of them with a name that stands twice, %": f"{100 * twice / max(1, sum(classes.values())):.1f}",
        "modules": str(len(modules)),
        "module lines: median, 90 %, longest": _spread(lengths, 0.9),
        "function lines: median, 99 %, longest": _spread(whole, 0.99),
        "the same without docstrings": _spread(bare, 0.99),
    }


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or 0) - node.lineno + 1


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return _lines(node.body[0]) if ast.get_docstring(node, clean=False) is not None else 0


def _spread(values: list[int], share: float) -> str:
    return f"{median(values):.0f}, {values[int(len(values) * share)]}, {values[-1]}"


def _columns_of(root: Path) -> tuple[dict[str, str], dict[str, int]]:
    modules = [read_module(path, root) for path in sorted(root.rglob("*.py"))]
    return figures(modules, root), rooms(modules)


def _print_rooms(then: dict[str, int], now: dict[str, int]) -> None:
    """Print the lines of code of each room, those that existed then first, each group with its sum."""
    for title, names in (("asked then", then.keys() - NEW), ("asked since", now.keys() - then.keys() | NEW)):
        print(f"\n{'lines of code of rooms whose question was ' + title:<60} {'then':>8} {'now':>8}")
        for name in sorted(names, key=lambda name: -now.get(name, 0)):
            print(f"  {name or 'the front door and public paths':<58} {then.get(name, 0):>8} {now.get(name, 0):>8}")
        print(f"  {'':<58} {sum(then.get(n, 0) for n in names):>8} {sum(now.get(n, 0) for n in names):>8}")


def main() -> None:
    """Print the tables, with a column for the given revision."""
    columns: dict[str, tuple[dict[str, str], dict[str, int]]] = {}
    if len(sys.argv) > 1:
        command = ["git", "archive", "--format=zip", sys.argv[1], PACKAGE]
        archive = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(io.BytesIO(archive)) as files:
            files.extractall(folder)
            columns[sys.argv[1]] = _columns_of(Path(folder) / PACKAGE)
    columns["now"] = _columns_of(ROOT / PACKAGE)
    widest = max(map(len, columns["now"][0]))
    print(" " * widest, *(f"{name:>18}" for name in columns))
    for row in columns["now"][0]:
        print(f"{row:<{widest}}", *(f"{table[row]:>18}" for table, _ in columns.values()))
    if len(columns) > 1:
        _print_rooms(columns[sys.argv[1]][1], columns["now"][1])


if __name__ == "__main__":
    main()
