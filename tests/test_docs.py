"""Do the docs work as written? Their Python examples run in order, their commands print what they show, their links exist."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import get_args

import click
import pytest

from penstock import settings
from penstock.cli import cli
from penstock.cobol.graph.consequences import What
from penstock.workspace.root import Root
from tests.console import Reader, Typed
from tests.forks import COMMANDS, warm
from tests.testing.conftest import warm_python_with

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str, kind: str) -> list[str]:
    """Return the blocks of a page that have this mark."""
    return [text for mark, text in BLOCK.findall((ROOT / page).read_text("utf-8")) if mark == kind]


@pytest.mark.parametrize("page", [p for p in PAGES if EXAMPLE.search(p.read_text("utf-8"))], ids=lambda p: p.name)
def test_the_python_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """The Python examples of a page run together in an empty folder without a warning."""
    code = "\n".join(EXAMPLE.findall(page.read_text("utf-8")))
    done = subprocess.run(
        [*warm(*COMMANDS), "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


TYPED = [ROOT / "README.md", ROOT / "docs/tutorial.md", ROOT / "docs/faq.md"]


@pytest.mark.parametrize("page", TYPED, ids=lambda p: p.name)
def test_what_a_page_tells_a_reader_to_type_works(page: Path, tmp_path: Path) -> None:
    """The files are saved, the commands run in order, and they print what the page shows."""
    assert Reader(tmp_path).follow(page.read_text("utf-8"))


@pytest.mark.parametrize(("page", "commands"), [("docs/impact.md", 4), ("docs/grow.md", 1), ("docs/chunk.md", 1)])
def test_what_a_page_shows_of_the_example_estate_is_what_comes(page: str, commands: int, tmp_path: Path) -> None:
    """The commands print what the pages show: a field's impact and growth, the exports, and the chunks of a program.

    Where a program is cut depends on every word of its prompts, so the numbers of chunks are not compared.
    """
    shutil.copytree(ROOT / "examples/cobol", tmp_path / "examples/cobol")
    consoles = "".join(f"```console\n{text}```\n" for text in blocks(page, "console"))
    consoles = re.sub(r"^[0-9a-f]{10}  (\w+) .*", r"…  \1 …", consoles, flags=re.MULTILINE)
    assert Reader(tmp_path).follow(consoles) == commands


def test_each_consequence_of_growth_is_explained() -> None:
    """docs/grow.md has a row for each word with which a line of `--grow` may begin, and no other."""
    table = (ROOT / "docs/grow.md").read_text("utf-8").partition("| word | meaning |")[2].partition("\n\n")[0]
    explained = [word for row in table.splitlines()[2:] for word in re.findall("`([a-z ]+)`", row.split("|")[1])]
    assert sorted(explained) == sorted(get_args(What))


NAMED = re.compile(r"(?:^|[|&;] *|\$ |`)penstock ((?!\d)[a-z][^|&;#`\[…\n]*)", re.MULTILINE)
"""A penstock command on a page, in a block or in a sentence; a synopsis counts up to its first placeholder."""


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.parent.name != "adr" and p.name != "cli.md"], ids=lambda p: p.name
)
def test_every_command_that_a_page_names_is_there_with_its_options(page: Path) -> None:
    """Pages may leave out arguments, but name no command or option that does not exist."""
    for words in map(str.split, NAMED.findall(page.read_text("utf-8"))):
        command: click.Command = cli
        above = click.Context(cli, info_name="penstock")
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            found = command.get_command(above, words[0])
            assert found is not None, f"{page.name}: penstock {' '.join(words)}"
            above = click.Context(found, parent=above, info_name=words.pop(0))
            command = found
        known = {name for option in command.get_params(above) for name in (*option.opts, *option.secondary_opts)}
        if "--" in words:  # what follows is another program's command
            del words[words.index("--") :]
        named = {word.partition("=")[0].rstrip(".,:") for word in words if re.match("--[a-z]", word)}
        assert named <= known, f"{page.name}: penstock {above.info_name}"


SHORT_LINES = 20_000
"""Lines of an example's log when its size does not matter: still twice the window that the carrier believes in."""


def shorter(code: str) -> str:
    """Return the example with a tenth of its log: everything kept is scanned for secrets, here without the fast extra."""
    assert code.count("range(200_000)") == 1
    return code.replace("range(200_000)", f"range({SHORT_LINES})")


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_the_sdk_examples_of_the_readme_get_through(wire: str, tmp_path: Path) -> None:
    """A provider's real client gets through to a provider on loopback, even if its window is far smaller than believed."""
    (code,) = blocks("README.md", f"py {wire}")
    name = {"openai": "openai-chat", "anthropic": "anthropic"}[wire]
    lines = {"openai": 200_000, "anthropic": SHORT_LINES}[wire]  # five megabytes once: both wires handle them alike
    as_it_stands = ("16000", f"say:Number {lines - 1}.", code if lines == 200_000 else shorter(code))
    in_a_small_window = ("800", "say:Number 19999.", shorter(code))
    first, answer, outcomes, *rest = printed_with_client(name, [as_it_stands, in_a_small_window], tmp_path)
    assert re.fullmatch(r"calls: 1, tokens less: \d{6,7}", first)
    assert (answer, outcomes) == (f"Number {lines - 1}.", "answered")
    assert re.fullmatch(r"calls: 2, tokens less: \d{6}", rest[0])
    assert rest[1:] == ["Number 19999.", "refused answered"]


@pytest.mark.proves("R-7")
def test_the_loop_with_ways_back_reads_what_was_cut(tmp_path: Path) -> None:
    """With the real client, a model searches for what was cut, pages to it and answers from it."""
    (code,) = blocks("docs/recovery.md", "py openai tools")
    searching = 'call:ctx_find {"handle": "HANDLE", "pattern": "^12345 "}'
    paging = 'call:ctx_page {"handle": "HANDLE", "offset": 12345, "limit": 1}'
    steps = f"{searching}|{paging}|say:It was 200."
    in_a_large_window, in_a_small_one = ("128000", steps, shorter(code)), ("1200", steps, shorter(code))
    printed = printed_with_client("openai-chat", [in_a_large_window, in_a_small_one], tmp_path)
    assert printed == [
        *("It was 200.", "answered answered answered"),
        "It was 200.",
        "refused answered answered answered",
    ]


def printed_with_client(wire: str, runs: list[tuple[str, str, str]], folder: Path) -> list[str]:
    """Return the lines that runs of an example print, each with its own provider on loopback, in one Python that has the clients.

    A run is a window, the model's steps and the code; one Python, because the clients take seconds to import.
    """
    environment = {**os.environ, "PENSTOCK_STORE": f"{folder / 'store'}"}
    python = [*warm_python_with("sdks"), "-W", "error::DeprecationWarning", "-m", "tests.loopback_example"]
    command = [*python, wire, *(part for run in runs for part in run)]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    lines: list[str] = done.stdout.splitlines()
    return lines


def test_the_cobol_of_the_readme_is_documented(tmp_path: Path) -> None:
    """The README's command runs in a folder of programs, then again with one fewer; its own output is not taken for programs.

    The first run prints what docs/document.md shows for the same folder, with paths relative to that folder.
    """
    shutil.copytree(ROOT / "examples/cobol", tmp_path / "estate", ignore=shutil.ignore_patterns("__pycache__"))
    (command,) = blocks("README.md", "sh cobol")
    (shown,) = blocks("docs/document.md", "console")
    typed, *lines = shown.replace("docs-of-millwater", "cobol-docs").splitlines()
    assert typed == "$ penstock document examples/cobol --out cobol-docs"
    reader = Reader(tmp_path / "estate")
    reader.type(Typed(command, [line.replace("examples/cobol/", "") for line in lines]))
    (tmp_path / "estate/cbl/MWRATE.cbl").unlink()  # four fifths of the code
    reader.type(Typed(command, ["14 programs, …", "…"]))
    assert (tmp_path / "estate" / "cobol-docs" / "index.html").exists()


def test_the_server_of_the_readme_starts_and_answers(tmp_path: Path) -> None:
    """The MCP SDK's client takes the README's JSON unchanged and reads a file in the folder where it was started."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from mcp import Client

    (configuration,) = blocks("README.md", "json")
    entry = json.loads(configuration)["mcpServers"]["penstock"]
    (tmp_path / "poem.txt").write_text("one\ntwo\n")
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    async def steps() -> str:
        server = StdioServerParameters(**entry, cwd=str(tmp_path), env=environment)
        async with Client(stdio_client(server, errlog=sys.stderr)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == set(re.findall(r"`(ctx_\w+)`", (ROOT / "README.md").read_text("utf-8")))
            page = await client.call_tool("ctx_view", {"file_path": "poem.txt"})
            return str(page.content[0].text)  # type: ignore[union-attr]

    assert asyncio.run(steps()).endswith("1|one\n2|two")


def test_the_generated_pages_are_what_the_code_says() -> None:
    """docs/cli.md has the `--help` of every command, docs/configuration.md every record that is read, and no other names."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_picture_of_the_readme_says_what_the_commands_print() -> None:
    """docs/pictures/first-minutes.svg is drawn from real output, which may be worded differently since."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/picture.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_profile_of_the_configuration_page_can_be_chosen(tmp_path: Path) -> None:
    """The page's `penstock.toml` is read, and sets what the page says."""
    blocks = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs/configuration.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "penstock.toml").write_text("".join(blocks))
    with closing(Root(tmp_path)) as root:
        assert settings.load(root, {}).view_lines == 200
        limits = settings.profile_of(root, "careful")
    assert (limits.reserve_tokens, limits.loop_advice, limits.errors.total) == (12_000, 2, 3)


def test_the_picture_of_the_rooms_names_each_in_the_order_of_the_layers() -> None:
    """docs/architecture.md draws every room of src/penstock, from the top down in the order of .importlinter."""
    layers = (ROOT / ".importlinter").read_text("utf-8").split("layers =", 1)[1].split("[importlinter:", 1)[0]
    layer_of = {name: n for n, line in enumerate(layers.splitlines()) for name in re.findall(r"penstock\.(\w+)", line)}
    public_paths = {"tokens", "transcript", "compaction", "recovery", "handoff"}
    drawn = re.findall(r"^  (\w+)(?:/|\.py) ", (ROOT / "docs/architecture.md").read_text("utf-8"), re.MULTILINE)
    drawn.remove("__init__")
    assert sorted(drawn) == sorted(layer_of.keys() - public_paths - {"__main__"} - {"version"})
    assert [layer_of[name] for name in drawn] == sorted(layer_of[name] for name in drawn)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """A relative link names an existing file of the repository."""
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
