"""The root and what it stands on open files: nothing else in the package can reach a file by its path."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "penstock"
OPENERS = {SOURCE / "workspace" / f"{name}.py" for name in ("root", "system", "replacing", "own_files")}
RUNNERS = {
    SOURCE / "guard" / "program.py",
    SOURCE / "relay" / "child.py",
    SOURCE / "hosts" / "probing.py",
    SOURCE / "hosts" / "tool_definitions.py",
    SOURCE / "scribe" / "workers.py",
    SOURCE / "scribe" / "work_process.py",
}
"""What a person typed behind `penstock guard --` and `penstock relay --` is run as it would be without it, what `penstock install`
put into other agents is tried by `penstock doctor`, and servers that hosts start are started by `penstock bill --mcp`. A large
estate is read by processes of our own, over the pipes to them."""

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
    """Everything in a module that opens, or could open, a file by its path."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            if node.args and ast.unparse(node.args[0]) == "os.devnull":
                continue  # which holds nothing
            if isinstance(function, ast.Name) and function.id in {"open", "exec", "eval", "__import__"}:
                found.append(f"{node.lineno}: {function.id}(…)")
            elif isinstance(function, ast.Attribute):
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                if (function.attr in {"open", "fdopen"} and owner in _OPENING) or function.attr in _METHODS:
                    if ast.unparse(function.value).startswith("resources.files('penstock"):
                        continue  # what the package itself brings
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
    """No open, no subprocess, no module that opens on its own."""
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
    """A lint that finds nothing is no proof."""
    assert opens(source)


@pytest.mark.parametrize("path", sorted(OPENERS), ids=lambda path: path.name)
def test_the_openers_do_open(path: Path) -> None:
    """None is excepted that need not be."""
    assert opens(path.read_text(encoding="utf-8"))
