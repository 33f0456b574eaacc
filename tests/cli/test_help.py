"""What does a new user meet first? A list by purpose, a page for each command, examples that run, helpful errors."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, get_args

import click
import pytest
from tests.cli.screens import on_terminal, shell_line, store_of, typed
from tests.forks import warm_penstock

from penstock.cli import COMMANDS, ELSEWHERE, cli, main
from penstock.cli.commands import CommandGroup, HelpPage
from penstock.models import say
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIDTH = 80
NOT_RUN = {
    "penstock mcp --http 127.0.0.1:8000 --token-file token": "it serves until it is stopped: tests/mcp/test_http.py does that",
    **dict.fromkeys(
        ("penstock gateway", "penstock gateway --window 'claude-*=200000'"),
        "it serves until it is stopped: tests/gateway does that",
    ),
    "penstock relay -- npx -y @modelcontextprotocol/server-filesystem .": "a server of others: tests/relay starts them",
    **dict.fromkeys(
        (f"penstock {what}{more}" for what in ("store rm HANDLE", "sessions rm ID") for more in ("", " --json")),
        "it removes what the other examples name: tests/cli/test_sessions.py does that",
    ),
}
"""The examples that do not run here, and why."""


def pages() -> Iterator[tuple[str, HelpPage]]:
    """Yield every help page with the name by which it is opened, groups before their commands."""

    def below(group: CommandGroup, path: str, context: click.Context) -> Iterator[tuple[str, HelpPage]]:
        yield path, group
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, CommandGroup):
                yield from below(command, f"{path} {name}", context)
            else:
                assert isinstance(command, HelpPage), name
                yield f"{path} {name}", command

    yield from below(cli, "penstock", click.Context(cli))


PAGES = dict(pages())
EXAMPLES = [(path, example) for path, page in PAGES.items() for example in page.example_commands]
NOT_RUN |= {
    example: "it wants a PostgreSQL: tests/scribe/queue does that"
    for path, example in EXAMPLES
    if path.startswith(("penstock worker", "penstock queue"))
}
IN_PROCESS = {
    page.example_commands[-1]
    for page in PAGES.values()
    if not isinstance(page, CommandGroup) and re.match(r"penstock (?!mcp)[^|<>;&$]*\Z", page.example_commands[-1])
}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_two_examples_that_a_person_can_copy(path: str) -> None:
    """They fit into a terminal of 80 columns, and each is of the page's command."""
    examples = PAGES[path].example_commands
    assert len(examples) == 2
    assert all(path in example for example in examples)
    assert max(map(len, PAGES[path].examples)) <= WIDTH
    assert all(line.startswith("  ") for line in PAGES[path].examples)


@pytest.mark.parametrize(
    "example",
    [pytest.param(e, marks=pytest.mark.needs("fish") if "fish" in e else (), id=e) for _, e in EXAMPLES],
)
def test_every_example_of_every_page_runs(project: Path, example: str) -> None:
    """An example runs as it is in a shell, with capitals replaced; one that does not run has a reason.

    The second example of a page runs in this process if it needs no shell; test_house checks that loaded modules do not matter.
    """
    if example in NOT_RUN:
        pytest.skip(NOT_RUN[example])
    handle = re.findall(r"penstock page (\S+?);? ", (project / "notice.txt").read_text())[0]
    answered = "edited.json" if example.startswith("penstock undo") else "answer.json"
    session = json.loads((project / answered).read_text())["session"]
    line = re.sub(r"\bHANDLE\b", handle, re.sub(r"\bID\b", session, example))
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _request: say("It serves.")) as provider:
        if example in IN_PROCESS:
            environment = {**store_of(project), "OPENAI_BASE_URL": provider.base_url}
            done = typed(*shlex.split(line)[1:], cwd=project, environment=environment)
        else:
            line = f"export OPENAI_BASE_URL={provider.base_url}; {line}"
            done = shell_line(project, line, shell="fish" if "fish" in example else "bash")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    is_silent = ">" in example or example.startswith(("eval", "penstock completion", "penstock mcp"))
    assert is_silent or done.stdout + done.stderr


def test_examples_that_are_not_run_are_examples() -> None:
    """Every exception is for an example that exists."""
    assert set(NOT_RUN) <= {example for _, example in EXAMPLES}


def test_the_list_of_commands_is_by_what_one_wants_and_cuts_no_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command is below one heading, with one whole sentence on one line of 80 columns."""
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for heading, modules in COMMANDS.items():
        assert "..." not in shown.partition("\nOptions:\n")[2]
        block = shown.partition(f"\n{heading}:\n")[2].partition("\n\n")[0].splitlines()
        names = [name for names in modules.values() for name in names]
        assert [line.split()[0] for line in block] == names
        assert all(len(line) <= WIDTH for line in block)
        assert [line.split(maxsplit=1)[1] for line in block] == [
            PAGES[f"penstock {name}"].get_short_help_str() for name in names
        ]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_with_a_sentence_that_stands_alone(path: str) -> None:
    """It fits next to the name in the list, begins with a verb in the imperative, and ends with a period."""
    first = (PAGES[path].help or "").splitlines()[0]
    assert first.endswith(".")
    assert path == "penstock" or len(first) <= WIDTH - 14
    assert first.split()[0] == "Pass" or not first.split()[0].endswith("s")


def test_what_others_call_a_command_is_none_here() -> None:
    """Such a word leads to a command, and hides none."""
    names = {name for modules in COMMANDS.values() for group in modules.values() for name in group}
    assert set(ELSEWHERE.values()) <= names
    assert names.isdisjoint(ELSEWHERE)


NAMES = [f"f{n}.py" for n in range(20_000)]


@pytest.mark.parametrize(
    ("line", "message", "way"),
    [
        (["veiw", "a b.py", "--limit", "3"], "Did you mean 'view'?", "penstock view 'a b.py' --limit 3"),
        (["sesions"], "Did you mean 'sessions'?", "penstock sessions"),
        (["store", "lits", "--limit", "3"], "Did you mean 'list'", "penstock store list --limit 3"),
        (["xyzzy"], "There is no command 'xyzzy'.", "penstock --help"),
        (["compact", "r.json"], "Did you mean 'fit'?", "penstock fit r.json"),
        (["grep", "-n", "x y"], "Did you mean 'search'?", "penstock search -n 'x y'"),
        (["version"], "Did you mean '--version'?", "penstock --version"),
        (["sessions", "store"], "There is no command 'store'.", "penstock sessions --help"),
        (["view", "a", "--ofset", "3"], "--offset", "penstock view --help"),
        (["store"], "", None),
    ],
)
def test_a_mistyped_name_is_answered_with_the_nearest(
    line: list[str], message: str, way: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message has the whole line to type instead; scripts get an object; the exit status is 2."""
    assert main(line) == 2
    out, err = capsys.readouterr()
    if way is None:
        assert out.startswith(f"Usage: penstock {' '.join(line)} ")
        return
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert err.endswith(f" Try: {way}\n")
    assert main([*line, "--json"]) == 2
    error: dict[str, Any] = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], message in error["message"]) == ("usage", True)
    assert shlex.split(error["try"])[: len(shlex.split(way))] == shlex.split(way)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            ["list", *NAMES],
            "Unexpected arguments: f1.py f2.py and 19997 more. Put a pattern in quotes, or the shell expands it",
        ),
        (["view", "a", "b"], "penstock: Unexpected argument: b. Try: penstock view --help"),
        (["veiw", *NAMES], "There is no command 'veiw'. Did you mean 'view'? Try: penstock --help"),
        (["view", "a", "--limit", "9\x1b[2J" * 999], "Invalid value for '--limit'"),
        (["x" * 100_000], "There is no command 'xxx"),
        (["view", "--" + "x" * 100_000], "No such option"),
        (["--root", ".", "list"], "No such option '--root'. Try: penstock COMMAND --root, as flags follow the command"),
        (["--verson"], "Did you mean '--version'? Try: penstock --help"),
    ],
)
def test_a_line_that_a_shell_wrote_out_is_told_in_short(
    line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`penstock list *.py` without quotes gets all matching names; nothing that was typed acts on the terminal."""
    assert main(line) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err) < 1_200
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("gateway --port 4000", "--listen"),
        ("mcp --port 8000", "--http"),
        ("fit request.json --max-tokens 8000", "--tokens"),
        ("document . --output docs", "--out"),
        ("view README.md --dir src", "--root"),
    ],
)
def test_what_others_call_a_flag_leads_to_ours(line: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Spelled alike were --otel, --reuse-port and --store."""
    assert main(line.split()) == 2
    assert f"Did you mean '{flag}'? Try: penstock" in capsys.readouterr().err


def test_a_page_is_as_wide_as_the_terminal(tmp_path: Path) -> None:
    """A narrow terminal wraps text, but never an example."""
    narrow = on_terminal([*warm_penstock(), "read", "--help"], cwd=tmp_path, columns=50)[1]
    prose, _, examples = narrow.partition("Examples:")
    assert max(map(len, prose.splitlines())) <= 50
    assert examples.splitlines()[1:] == PAGES["penstock read"].examples


def test_names_that_are_written_twice_are_the_same() -> None:
    """The kinds of work of `check-code` are those of the room that defines them."""
    from penstock.cli.code import _KINDS
    from penstock.session.generated_code import Kind

    assert get_args(Kind) == _KINDS


def test_every_wire_is_offered_as_the_scheme_of_a_model() -> None:
    """The description of what answers there comes from the wire's own record."""
    from penstock.cli.completion import complete_model
    from penstock.wires import WIRES

    context = click.Context(click.Command("run"))
    offered = complete_model(context, click.Option(["--model"]), "")
    assert {item.value for item in offered} == {"local", "scripted:", *(f"{wire}:" for wire in WIRES)}
    assert all(item.help for item in offered)
