"""Do only the root and what it is built on open files, so that nothing else in the package reaches a file by its path?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "penstock"
OPENERS = {SOURCE / "workspace" / f"{name}.py" for name in ("root", "system", "replacing", "own_files", "scratch")}
RUNNERS = {
    SOURCE / "guard" / "program.py",
    SOURCE / "relay" / "child.py",
    SOURCE / "hosts" / "probing.py",
    SOURCE / "hosts" / "tool_definitions.py",
    SOURCE / "scribe" / "workers.py",
    SOURCE / "scribe" / "work_process.py",
}
"""The modules that start processes: what a person typed behind `penstock guard --` and `penstock relay --`, what
`penstock install` put into other agents (`penstock doctor`), servers of hosts (`penstock bill --mcp`), and our own readers
of a large estate, over the pipes to them."""

_METHODS = {
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "open_code",
    "openat",
    "popen",
    "system",
    "memmap",
    "loadtxt",
}
_MODULES = {"subprocess", "shutil", "tempfile", "mmap", "fileinput", "linecache", "glob", "pathlib", "posix", "_io"}
_OPENING = {"os", "io", "codecs", "gzip", "bz2", "lzma", "tarfile", "zipfile"}


def opens(source: str) -> list[str]:
    """Return everything in a module that opens, or could open, a file by its path."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            if node.args and isinstance(node.args[0], ast.Attribute) and ast.unparse(node.args[0]) == "os.devnull":
                continue  # which holds nothing
            if isinstance(function, ast.Name) and function.id in {"open", "exec", "eval", "__import__"}:
                found.append(f"{node.lineno}: {function.id}(…)")
            elif isinstance(function, ast.Attribute):
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                if (function.attr in {"open", "fdopen"} and owner in _OPENING) or function.attr in _METHODS:
                    if ast.unparse(function.value).startswith("resources.files('penstock"):
                        continue  # files that the package itself brings
                    found.append(f"{node.lineno}: {owner}.{function.attr}(…)")
        elif isinstance(node, ast.Import):
            found += [
                f"{node.lineno}: import {name.name}" for name in node.names if name.name.split(".")[0] in _MODULES
            ]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = {name.name for name in node.names}
            if (node.module or "").split(".")[0] in _MODULES or (
                node.module in {"os", "io", "builtins"} and names & {"open", "fdopen", "popen"}
            ):
                found.append(f"{node.lineno}: from {node.module} import {', '.join(sorted(names))}")
    return found


@pytest.mark.proves("L-8")
def test_nothing_but_the_root_opens() -> None:
    """There is no open, no subprocess, and no module that opens by itself."""
    paths = sorted(set(SOURCE.rglob("*.py")) - OPENERS - RUNNERS)
    assert len(paths) > 500
    found = {str(path.relative_to(SOURCE)): opens(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: where for path, where in found.items() if where} == {}


@pytest.mark.parametrize(
    "source",
    [
        "open('x')",
        "import os\nos.open('x', 0)",
        "import io\nio.open('x')",
        "Path('x').read_text()",
        "from os import open as o",
        "import subprocess",
        "import pathlib",
        "from mmap import mmap",
        "eval('1')",
    ],
)
def test_the_lint_sees_what_it_forbids(source: str) -> None:
    """A lint that finds nothing proves nothing."""
    assert opens(source)


@pytest.mark.parametrize("path", sorted(OPENERS), ids=lambda path: path.name)
def test_the_openers_do_open(path: Path) -> None:
    """There is no unnecessary exception."""
    assert opens(path.read_text(encoding="utf-8"))
