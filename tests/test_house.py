"""Does the architecture hold? Imports point down without cycles, the public names are pinned, and importing is quick."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
import pytest
from hypothesis.internal.conjecture import providers

import penstock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "penstock"
HEAVY = {
    "mcp",
    "pydantic",
    "anyio",
    "asyncio",
    "tree_sitter",
    "toktok",
    "uvicorn",
    "starlette",
    "httpx2",
    "re2",
    "click",
    "rich",
}


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    """Return every module of the package, parsed, by its path."""
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def test_imports_point_down_the_house() -> None:
    """The contracts of .importlinter hold, including for type imports: layers in order, and no I/O in the core."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_picture_shows_every_folder() -> None:
    """The repository has the folders of the picture in docs/architecture.md and no others, such as one of somebody's results."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    picture = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    shown = set(re.findall(r"^(\w+)/", picture, re.MULTILINE))
    assert {path.split("/")[0] for path in tracked if "/" in path} - {".ci"} == shown


def test_no_module_imports_itself_by_a_detour() -> None:
    """Modules have no import cycle, counting imports for types and within functions: each can be read before the next."""
    graph = grimp.build_graph("penstock", cache_dir=None)
    order = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    try:
        order.prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_what_is_used_of_ours_is_imported_by_name() -> None:
    """No module uses `import penstock.x`, which would make it depend on submodules that others happen to have imported.

    An import only for its effect is marked `noqa: F401`.
    """
    found = re.compile(r"^\s*import penstock(?!.*noqa: F401)", re.MULTILINE)
    assert [path for path in SOURCE.rglob("*.py") if found.search(path.read_text("utf-8"))] == []


def test_the_front_door_is_pinned() -> None:
    """These names are the public interface, and a name is added or removed only deliberately."""
    assert penstock.__all__ == [
        "DEFAULT_VIEW_LINES",
        "NAVIGATION",
        "TOOLS",
        "Allowance",
        "Budget",
        "Call",
        "CallerError",
        "Carrier",
        "Ended",
        "OutlinePage",
        "Page",
        "PenstockError",
        "RecoveryResult",
        "Refusal",
        "Result",
        "ToolError",
        "Tools",
        "Window",
        "Workspace",
        "aexecute",
        "bill",
        "chunk",
        "cobol",
        "compaction",
        "execute",
        "guard",
        "guard_output",
        "handoff",
        "models",
        "overflow",
        "recovery",
        "session",
        "testing",
        "tokens",
        "transcript",
        "ways_back",
        "wrap_tool",
    ]
    for name in penstock.__all__:
        assert getattr(penstock, name) is not None


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    """The lazily loaded package fails like any module."""
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = penstock.nothing_here


@pytest.mark.parametrize(
    "statement",
    ["import penstock", "import penstock; penstock.Workspace, penstock.Tools", "import penstock.mcp_server"],
)
def test_importing_loads_nothing_heavy(statement: str) -> None:
    """Heavy libraries are imported only where they are used."""
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


@pytest.mark.parametrize(
    ("line", "unneeded"),
    [
        (
            ["view", "pyproject.toml"],
            {"dataclasses", "heapq", "penstock.workspace.replacing", "penstock.tools.ranking"},
        ),
        (
            ["--help"],
            {"penstock.wires", "penstock.store", "penstock.cobol", "penstock.inspection.story", "penstock.tools"},
        ),
        (["document", "examples/cobol/cbl/MWB010.cbl", "--out", "{folder}"], {"penstock.models"}),
    ],
)
def test_a_command_loads_what_it_uses(line: list[str], unneeded: set[str], tmp_path: Path) -> None:
    """Each of these modules would cost every start some milliseconds; bench/startup.py measures the total."""
    line = [part.format(folder=tmp_path) for part in line]
    code = f"import sys\nfrom penstock.cli import main\nmain({line})\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()[-1].split()) & unneeded == set()


def test_a_command_spends_no_time_on_garbage() -> None:
    """A process of 60 ms does not collect garbage while modules load, nor at its end: that took 10 ms."""
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_threshold()[0], gc.get_freeze_count() > 10_000))\n"
        "sys.argv = ['penstock', '--version']\n"
        "from penstock.__main__ import run\nrun()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-2:] == ["10000", "True"]
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["scripts"] == {"penstock": "penstock.__main__:run"}


def test_importing_opens_no_socket_and_no_file_of_ours() -> None:
    """The first import does no work: no network, and no files except the modules themselves."""
    code = (
        "import sys\nseen = []\n"
        "sys.addaudithook(lambda event, args: seen.append((event, str(args))) if event.startswith('socket.') or "
        "(event == 'open' and not str(args[0]).endswith(('.py', '.pyc', '.pth', '.cfg', '.so'))) else None)\n"
        "import penstock\npenstock.Tools\nprint(seen)"
    )
    # Without -B, Python itself would write the compiled form of a module that was just edited.
    words = [sys.executable, "-B", "-c", code]
    seen = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert seen.strip() == "[]"


def test_the_public_interface_is_typed_as_strangers_use_it() -> None:
    """tests/typing/api.py type-checks strictly: it uses the public interface as its types promise."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "tests/typing/api.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.proves("S-17")
def test_what_is_logged_passes_the_redaction(modules: dict[str, ast.Module]) -> None:
    """A log line consists of constant words, tool names, and what `redacted` returns."""
    said: dict[str, list[str]] = {}
    for path, tree in modules.items():
        if "getLogger" not in (SOURCE / path).read_text("utf-8"):
            continue  # unparsing every call of the package takes seconds
        for node in ast.walk(tree):
            # `logging.getLogger(name).warning(…)`, but neither the inner call nor `setLevel`.
            is_line = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logging.getLogger(")
            if isinstance(node, ast.Call) and is_line and not ast.unparse(node.func).endswith((")", ".setLevel")):
                said[path] = [ast.unparse(one) for one in node.args[1:]]
    assert said == {
        "adapters/fitting.py": ["redacted(fault.message)"],
        "mcp_server/__init__.py": ["tool.name", "redacted(traceback.format_exc())"],
    }


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before 3.11.5 a possessive group fails to match if something in it backtracks (gh-106052); `(?>(?:…)*)` is equivalent.

    One is allowed: nothing in the escapes of a JSON text backtracks, and an atomic group would keep 75 bytes for each of them.
    """
    group = re.compile(r"(?<!\\)\)(?:[*+?]|\{{1,2}\d*,?\d*\}{1,2})\+")
    sources = sorted(SOURCE.rglob("*.py"))
    found = [
        (path.name, line) for path in sources for line in path.read_text("utf-8").split("\n") if group.search(line)
    ]
    assert [name for name, _ in found] == ["json_slices.py"]
    assert group.search(r"(?:a|b){0,3}+")


def test_every_module_says_which_question_it_answers(modules: dict[str, ast.Module]) -> None:
    """Every module has a docstring."""
    assert [name for name, tree in modules.items() if not ast.get_docstring(tree)] == []


# A sentence that begins with a pronoun, or asks about one: a tooltip does not show what the pronoun refers to.
_RIDDLE = re.compile(
    r"(?:Its?|Their|They|Those|These|This|That|The same|Of (?:it|them)|There)\b"
    r"|(?:How (?:long|many|much|often)|Whether|What|Where|Which|When|Who)(?: of)? (?:its?|they|them|that|those|there)\b"
)


def tooltips(tree: ast.Module | ast.ClassDef, path: str) -> Iterator[tuple[str, str]]:
    """Yield the name and docstring of each public function, class and attribute."""
    for node, following in pairwise([*tree.body, ast.Pass()]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
            yield f"{path}{node.name}", ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                yield from tooltips(node, f"{path}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id[0] != "_" and isinstance(following.value, ast.Constant):
                yield f"{path}{target.id}", str(following.value.value)


def test_a_tooltip_stands_alone(modules: dict[str, ast.Module]) -> None:
    """The first sentence about a public name can be understood without any other line."""
    said = [found for name, tree in modules.items() for found in tooltips(tree, f"{name}: ")]
    assert len(said) > 4_000
    known = re.compile(r"Whether it is known")
    assert [name for name, text in said if _RIDDLE.match(text) and not known.match(text)] == []


@pytest.mark.skipif(
    os.environ.get("PENSTOCK_HYPOTHESIS", "suite") != "suite", reason="other profiles look for new examples"
)
def test_the_examples_of_laws_do_not_depend_on_what_is_imported() -> None:
    """Hypothesis draws no constants from imported modules, which depend on the tests that ran before (see `tests/conftest.py`)."""
    drawn = providers.HypothesisProvider(None)._local_constants
    assert (drawn.integers, drawn.strings) == (set(), set())
