"""Do `penstock install HOST` and `uninstall HOST` show, ask, keep and restore real files (H-3)?"""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from penstock.cli.installing import surroundings
from penstock.errors import CallerError, ToolError
from penstock.hosts import installing
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.parts.part import Reach
from tests.forks import COMMANDS, warm, warm_penstock
from tests.hosts import configurations
from tests.hosts.machine import Machine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("H-3")
SETTINGS = '{\n\t"model": "opus", // the best\n\t"hooks": {"PostToolUse": [\n\t\t{"matcher": "Bash", "hooks": []},\n\t]},\n}\r\n'
CONFIG = '# mine\nmodel = "o3"   # odd\n\n[mcp_servers.docs]\ncommand = "npx"\n\n[features]\n'


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Provide a new machine."""
    return Machine(tmp_path)


@pytest.mark.parametrize("host", HOST_CONFIGS)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_a_host_had_before_is_what_it_has_after(machine: Machine, host: str, scope: str) -> None:
    """Files, folders and bytes are restored; a second installation changes nothing."""
    machine.write(".claude/settings.json", SETTINGS)
    machine.write(".codex/config.toml", CONFIG)
    machine.write("AGENTS.md", "# Us", beneath="project")
    before = machine.files()
    flags = ["--mcp", "--hook", "--rules", "--scope", scope]
    shown = machine.done("install", host, *flags, "--yes")
    assert machine.files() != before or "has no file" in shown
    between = machine.files()
    machine.done("install", host, *flags, "--yes")
    assert machine.files() == between
    machine.done("uninstall", host, *flags, "--yes")
    assert machine.files() == before


def test_what_is_written_is_what_the_host_reads(machine: Machine) -> None:
    """Codex uses TOML and JSON, Claude Code adds to existing hooks: the running program is named by its full path."""
    machine.write(".codex/config.toml", CONFIG)
    machine.write(".claude/settings.json", SETTINGS)
    machine.done("install", "codex", "--yes")
    machine.done("install", "claude", "--yes")
    servers = tomllib.loads((machine.home / ".codex/config.toml").read_text())["mcp_servers"]
    assert servers["penstock"] == {"command": sys.executable, "args": ["-m", "penstock", "mcp"]}
    assert servers["docs"] == {"command": "npx"}
    hook = json.loads((machine.home / ".codex/hooks.json").read_text())["hooks"]["PostToolUse"][0]["hooks"][0]
    assert hook == {"type": "command", "command": f"{sys.executable} -m penstock hook codex"}
    settings = (machine.home / ".claude/settings.json").read_text()
    assert settings.startswith(
        '{\n\t"model": "opus", // the best\n\t"hooks": {"PostToolUse": [\n\t\t{"matcher": "Bash"'
    )
    entry = json.loads((machine.home / ".claude.json").read_text())["mcpServers"]["penstock"]
    assert entry == {"type": "stdio", "command": sys.executable, "args": ["-m", "penstock", "mcp"]}


def test_a_diff_is_shown_and_nothing_written_by_a_dry_run(machine: Machine) -> None:
    """The diff is text or JSON, with only the added lines."""
    path = machine.write(".codex/config.toml", CONFIG)
    before = machine.files()
    shown = machine.done("install", "codex", "--mcp", "--dry-run")
    added = [line[1:] for line in shown.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added == ["", "[mcp_servers.penstock]", f'command = "{sys.executable}"', 'args = ["-m", "penstock", "mcp"]']
    assert not [line for line in shown.splitlines() if line.startswith("-") and not line.startswith("---")]
    answer = json.loads(machine.done("install", "codex", "--mcp", "--dry-run", "--json"))
    assert [change["path"] for change in answer["changes"]] == [str(path)]
    assert answer["changes"][0]["diff"] in shown
    assert machine.files() == before


def test_without_a_terminal_nothing_is_written_and_the_command_is_named(machine: Machine) -> None:
    """The exit status is 3, as text and as JSON."""
    before = machine.files()
    done = machine.type("install", "codex", "--hook", "--scope", "project")
    assert done.returncode == 3
    assert done.stderr.endswith("Try: penstock install codex --hook --scope project --yes\n")
    done = machine.type("uninstall", "codex", "--json")
    assert json.loads(done.stdout) == {"changes": [], "notes": [], "written": True}
    done = machine.type("install", "codex", "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["try"]) == (3, "penstock install codex --yes")
    assert machine.files() == before


@pytest.mark.parametrize(("word", "is_written"), [("y", True), ("n", False), ("", False)])
def test_a_person_is_asked_on_a_terminal(machine: Machine, word: str, is_written: bool) -> None:
    """No answer counts as no."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "penstock", "install", "gemini"]
    with subprocess.Popen(
        command, cwd=machine.project, env=machine.environment, stdin=follower, stdout=follower, stderr=follower
    ) as child:
        os.close(follower)
        os.write(leader, f"{word}\n".encode())
        child.wait(60)
    os.close(leader)
    assert (machine.home / ".gemini" / "settings.json").exists() == is_written
    assert child.returncode == (0 if is_written else 130)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,, }', "line 1, column 9"),
        ("[]", "it is not an object"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ('{"a": \n\n nul}', "line 3, column 2"),
        ("\ud800".encode("utf-16", "surrogatepass").decode("latin-1"), "line 1"),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", "nested deeper"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_and_what_to_add_is_named(machine: Machine, text: str, where: str) -> None:
    """The error says where the file breaks; nothing is written, not even to another file of the host."""
    machine.write(".claude.json", text)
    before = machine.files()
    done = machine.type("install", "claude", "--yes")
    assert done.returncode == 3
    assert where in done.stderr
    assert '"penstock": {' in done.stderr
    assert machine.files() == before


def test_a_file_of_invalid_utf_8_is_left(machine: Machine) -> None:
    """The error gives the place of the first."""
    (machine.home / ".claude.json").write_bytes(b'{"a": "\xff"}')
    done = machine.type("install", "claude", "--yes")
    assert (done.returncode, "byte 8 is not UTF-8" in done.stderr) == (3, True)


def test_toml_that_holds_its_servers_in_one_line_is_left(machine: Machine) -> None:
    """Nothing can be added after an inline table: the error gives what to write between its braces, which works there."""
    text = "mcp_servers = { docs = { command = 'x' } }\n"
    path = machine.write(".codex/config.toml", text)
    done = machine.type("install", "codex", "--yes", "--mcp")
    assert (done.returncode, "[mcp_servers.penstock]" in done.stderr) == (3, False)
    assert path.read_text() == text
    line = done.stderr.partition("To add by hand:\n")[2].splitlines()[0]
    path.write_text(text.replace(" }\n", f", {line} }}\n"))
    assert "Codex: there is nothing to change." in machine.done("install", "codex", "--yes", "--mcp")
    none = machine.done("install", "cursor", "--yes", "--hook")  # which is not to be read as installed
    assert none.startswith("Cursor: there is nothing to change.\nCursor has no hook")


def test_links_modes_and_read_only_files(machine: Machine) -> None:
    """A link is written through to its file, which keeps its mode; a read-only file is left."""
    target = machine.write("dotfiles/claude.json", "{}")
    target.chmod(0o640)
    link = machine.home / ".claude.json"
    link.symlink_to("dotfiles/claude.json")
    machine.done("install", "claude", "--yes")
    assert link.is_symlink()
    assert "penstock" in json.loads(target.read_text())["mcpServers"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert stat.S_IMODE((machine.home / ".claude/settings.json").stat().st_mode) == 0o600
    machine.done("uninstall", "claude", "--yes")
    assert (link.is_symlink(), target.read_text()) == (True, "{}")
    target.chmod(0o440)
    done = machine.type("install", "claude", "--yes")
    assert (done.returncode, "is read-only; `chmod u+w" in done.stderr, target.read_text()) == (3, True, "{}")


def test_a_folder_that_takes_no_file_is_known_before_anything_is_written(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings cannot be written, so the servers file next to that folder is left, too; no half installation is made."""
    settings = machine.write(".claude/settings.json", "{}")
    real = os.access

    def access(path: str, mode: int) -> bool:
        return path != str(settings.parent) and real(path, mode)

    monkeypatch.setattr(os, "access", access)
    plan = installing.plan_install(
        HOST_CONFIGS["claude"], ["mcp", "hook"], "user", *machine.around, reach=Reach(["/bin/penstock"])
    )
    assert [f"{settings.parent} takes no file" in said for said in plan.refused] == [True]


def test_root_in_the_home_of_another_gets_a_note(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sudo` keeps HOME on some systems: a servers file that its host may not read would stop the host."""

    def notes() -> str:
        plan = installing.plan_install(
            HOST_CONFIGS["claude"], ["mcp"], "user", *machine.around, reach=Reach(["/bin/penstock"])
        )
        return " ".join(plan.notes)

    if os.geteuid() == 0:
        assert "sudo" not in notes()
        os.chown(machine.home, 12345, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "root in another user's home" in notes()


def test_a_missing_current_folder_is_reported_in_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell may be in a folder that another shell removed."""

    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(CallerError, match="The current folder no longer exists"):
        surroundings()


def test_what_a_killed_installation_left_goes_with_the_next(machine: Machine) -> None:
    """It is the copy of a person's settings, complete or partial, without a record of its purpose."""
    machine.done("install", "claude", "--yes")
    records = machine.home / ".local/state/penstock-hosts"
    before = set(records.iterdir())
    for name in (f"{'0' * 24}.before", f".{'0' * 24}.json.penstock-{'0' * 16}"):
        (records / name).write_text("a token")
    machine.done("install", "claude", "--yes")
    assert set(records.iterdir()) == before
    machine.done("uninstall", "claude", "--yes")
    assert set(records.iterdir()) == set()


def test_a_link_out_of_a_project_is_not_followed(machine: Machine) -> None:
    """Somebody else's repository cannot have a file of the user's changed."""
    outside = machine.write("private.json", "{}")
    (machine.project / ".mcp.json").symlink_to(outside)
    done = machine.type("install", "claude", "--scope", "project", "--yes")
    assert (done.returncode, "out of the project" in done.stderr, outside.read_text()) == (3, True, "{}")


def test_files_lie_where_the_hosts_look_for_them(machine: Machine, tmp_path: Path) -> None:
    """Each host moves its folder by these variables."""
    moved = tmp_path / "moved"
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        machine.environment[name] = str(moved / name)
    for host in ("claude", "codex", "gemini", "qwen", "copilot", "opencode"):
        machine.done("install", host, "--yes", "--mcp")
    assert {str(path.relative_to(moved)) for path in moved.rglob("*") if path.is_file()} == {
        "CLAUDE_CONFIG_DIR/.claude.json",
        "CODEX_HOME/config.toml",
        "GEMINI_CLI_HOME/.gemini/settings.json",
        "QWEN_HOME/settings.json",
        "COPILOT_HOME/mcp-config.json",
        "XDG_CONFIG_HOME/opencode/opencode.json",
    }


def test_an_alternative_name_that_is_there_is_taken(machine: Machine) -> None:
    """opencode reads opencode.jsonc as well."""
    path = machine.write(".config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
    machine.done("install", "opencode", "--yes")
    assert path.read_text().startswith('{\n  // mine\n  "mcp": {')
    assert not path.with_suffix(".json").exists()


def test_hosts_that_share_a_file_share_what_is_in_it(machine: Machine) -> None:
    """Rules in one AGENTS.md are removed with the last host that has them."""
    for host in ("codex", "cursor"):
        machine.done("install", host, "--rules", "--scope", "project", "--yes")
    path = machine.project / "AGENTS.md"
    assert path.read_text().count("penstock:begin") == 1
    assert "stays for cursor" in machine.done("uninstall", "codex", "--rules", "--scope", "project", "--yes")
    assert "penstock:begin" in path.read_text()
    machine.done("uninstall", "cursor", "--rules", "--scope", "project", "--yes")
    assert not path.exists()


def test_what_a_person_wrote_is_not_taken_out(machine: Machine) -> None:
    """This covers a different server of the same name, and a handwritten one of ours next to an installed hook."""
    other = '{"mcpServers": {"penstock": {"command": "hydro"}}}'
    path = machine.write(".claude.json", other)
    assert "not ours" in machine.done("install", "claude", "--yes")
    assert path.read_text() == other
    machine.done("uninstall", "claude", "--yes")
    assert path.read_text() == other
    by_hand = '{"mcpServers": {"penstock": {"command": "penstock", "args": ["mcp", "--root", "src"]}}}'
    path = machine.write(".gemini/settings.json", by_hand)
    machine.done("install", "gemini", "--yes")
    assert '"src"' in path.read_text()
    machine.done("uninstall", "gemini", "--yes")
    assert path.read_text() == by_hand


@pytest.mark.parametrize("part", ["mcp", "hook", "relay"])
def test_what_a_person_wrote_stays_where_nothing_was_added(machine: Machine, part: str) -> None:
    """It follows our documentation and uses our name: an installation adds nothing, and later removes nothing."""
    servers = {
        "penstock": {"command": "penstock", "args": ["mcp"]},
        "db": {"command": "penstock", "args": ["relay", "--", "db"]},
    }
    events = ("AfterTool", "PreCompress", "SessionStart", "BeforeAgent")
    hook = [{"hooks": [{"type": "command", "command": "penstock hook gemini"}]}]
    value = {"hooks": dict.fromkeys(events, hook)} if part == "hook" else {"mcpServers": servers}
    machine.write(".gemini/settings.json", json.dumps(value, indent=2))
    before = machine.files()
    for _ in range(2):
        machine.done("install", "gemini", f"--{part}", "--yes")
        assert machine.files() == before
        machine.done("uninstall", "gemini", f"--{part}", "--yes")
        assert machine.files() == before


def test_another_hook_in_our_group_stays(machine: Machine) -> None:
    """Ours is removed from a group to which a person added another; comments around them stay."""
    machine.done("install", "claude", "--hook", "--yes")
    path = machine.home / ".claude/settings.json"
    group = '"hooks": [\n          {'
    theirs = '"hooks": [\n          // first theirs\n          {"type": "command", "command": "say"},\n          {'
    text = path.read_text().replace(group, theirs, 1)
    path.write_text(text)
    machine.done("uninstall", "claude", "--hook", "--yes")
    assert "// first theirs" in path.read_text()
    assert path.read_text().count('"command": "say"') == 1
    assert "penstock" not in path.read_text()


@pytest.mark.parametrize(("kind", "typed"), [("shared", "penstock"), ("environment", None), ("elsewhere", None)])
def test_rules_name_what_a_shell_of_the_host_finds(machine: Machine, kind: str, typed: str | None) -> None:
    """The bare name is used only if every shell finds it; if it is not on the path, or in an environment, the full path is."""
    program = machine.write("tools/bin/penstock", f'#!/bin/sh\nexec {sys.executable} -m penstock "$@"\n')
    if kind == "environment":
        machine.write("tools/pyvenv.cfg", "")
    if kind != "elsewhere":
        machine.environment["PATH"] = f"{program.parent}:{machine.environment['PATH']}"
    host = HOST_CONFIGS["codex"]
    plan = installing.plan_install(host, ["rules", "mcp"], "user", *machine.around, Reach([str(program)]))
    added = {os.path.basename(change.path): change.after or "" for change in plan.visible}
    assert f"`{typed or program} guard -- COMMAND`" in added["AGENTS.md"]
    assert f"`{typed or program} find HANDLE PATTERN`" in added["AGENTS.md"]
    assert f'command = "{program}"' in added["config.toml"]


def test_a_program_that_moved_is_renewed(machine: Machine) -> None:
    """Installing again from elsewhere makes our entries start the running program, and keeps a person's additions."""
    machine.done("install", "gemini", "--yes")
    path = machine.home / ".gemini/settings.json"
    path.write_text(
        path.read_text().replace(sys.executable, "/gone/python").replace('"mcp"', '"mcp",\n        "--budget"')
    )
    machine.done("install", "gemini", "--yes")
    settings = json.loads(path.read_text())
    assert settings["mcpServers"]["penstock"]["command"] == sys.executable
    assert settings["mcpServers"]["penstock"]["args"] == ["-m", "penstock", "mcp", "--budget"]
    assert settings["hooks"]["AfterTool"][0]["hooks"][0]["command"] == f"{sys.executable} -m penstock hook gemini"
    machine.done("uninstall", "gemini", "--yes")
    assert not path.exists()


def test_a_user_who_turned_hooks_off_gets_a_note(machine: Machine) -> None:
    """Ours is added, and what is off stays off."""
    machine.write(".codex/config.toml", "[features]\nhooks = false\n")
    assert "features.hooks is false" in machine.done("install", "codex", "--hook", "--yes")
    assert "hooks = false" in (machine.home / ".codex/config.toml").read_text()


def test_a_change_between_plan_and_writing_is_seen(machine: Machine) -> None:
    """What somebody else wrote meanwhile stays, and is not overwritten."""
    path = machine.write(".claude.json", '{"a": 1}')
    around, records = machine.around
    plan = installing.plan_install(HOST_CONFIGS["claude"], ["mcp"], "user", around, records, Reach(["penstock"]))
    path.write_text('{"a": 2}')
    with pytest.raises(ToolError, match="changed by someone else"):
        installing.apply(plan, "user", records)
    assert path.read_text() == '{"a": 2}'
    plan = installing.plan_install(HOST_CONFIGS["codex"], ["mcp"], "user", around, records, Reach(["penstock"]))
    machine.write(".codex/config.toml", "a = 1\n")
    with pytest.raises(ToolError, match="made by someone else"):
        installing.apply(plan, "user", records)
    # The remaining record does no harm.
    machine.done("install", "claude", "--yes")
    machine.done("uninstall", "claude", "--yes")
    assert path.read_text() == '{"a": 2}'


def test_a_file_that_we_made_and_somebody_changed_meanwhile_stays(machine: Machine) -> None:
    """It was to be removed, but has changed by then: it stays under its own name, with what they wrote."""
    machine.done("install", "cursor", "--yes")
    path = machine.home / ".cursor/mcp.json"
    around, records = machine.around
    plan = installing.plan_uninstall(HOST_CONFIGS["cursor"], ["mcp"], "user", around, records)
    assert [change.after for change in plan.changes] == [None]
    path.write_text('{"a": 1}')
    with pytest.raises(ToolError, match="changed by someone else"):
        installing.apply(plan, "user", records)
    assert {path.name: path.read_text() for path in path.parent.iterdir()} == {"mcp.json": '{"a": 1}'}


def test_what_was_there_before_can_be_copied_back(machine: Machine) -> None:
    """The copy is a plain private file, named on writing, removed by uninstalling; a new file has none."""
    machine.write(".gemini/settings.json", SETTINGS)
    written = machine.done("install", "gemini", "--rules", "--mcp", "--yes").splitlines()[-1]
    backup = written.removeprefix("Written. As it was before: ")
    with open(backup, "rb") as file:
        assert file.read() == SETTINGS.encode()
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    machine.done("uninstall", "gemini", "--rules", "--mcp", "--yes")
    assert not os.path.exists(backup)


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("at", range(12))
def test_an_installation_killed_between_any_two_writes_continues(machine: Machine, verb: str, at: int) -> None:
    """Running the same commands again still restores what was there before."""
    machine.write(".gemini/settings.json", '{"a": 1} // mine')
    machine.write(".gemini/GEMINI.md", "# Mine\n")
    before = machine.files()
    flags = ["gemini", "--mcp", "--hook", "--rules", "--yes"]
    if verb == "uninstall":
        machine.done("install", *flags)
    script = (
        "import os, sys\nfrom penstock.workspace import system\nleft = [int(sys.argv[1])]\nflush = system.flush\n"
        "def killed(descriptor):\n    left[0] -= 1\n    os.kill(os.getpid(), 9) if left[0] < 0 else flush(descriptor)\n"
        "system.flush = killed\nsystem.flush_folder = lambda folder: killed(folder) if isinstance(folder, int) else None\n"
        "from penstock.cli import main\nsys.exit(main(sys.argv[2:]))"
    )
    done = subprocess.run(
        [*warm(*COMMANDS), "-c", script, str(at), verb, *flags],
        cwd=machine.project,
        env=machine.environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    machine.done("uninstall", *flags)
    after = {name: content for name, content in machine.files().items() if ".penstock-" not in name}
    assert after == before


def test_two_at_once_leave_one_installation(machine: Machine) -> None:
    """At least one ends well; the entries are there once, and are removed completely."""
    machine.write(".gemini/settings.json", '{"a": 1}')
    before = machine.files()
    command = [*warm_penstock(), "install", "gemini", "--yes", "--rules", "--mcp"]
    for _ in range(3):
        children = [
            subprocess.Popen(command, cwd=machine.project, env=machine.environment, stdout=-3, stderr=-3)
            for _ in range(4)
        ]
        assert 0 in {child.wait(60) for child in children}
        assert (machine.home / ".gemini/settings.json").read_text().count('"penstock"') == 2
        assert (machine.home / ".gemini/GEMINI.md").read_text().count("penstock:begin") == 1
        machine.done("uninstall", "gemini", "--yes", "--rules", "--mcp")
        assert machine.files() == before


def test_a_place_for_records_that_cannot_be_made_stops_before_anything(machine: Machine) -> None:
    """What could not be undone is not done."""
    place = machine.write(".local/state", "a file")
    before = machine.files()
    done = machine.type("install", "claude", "--yes")
    assert (done.returncode, "cannot be read: Not a directory" in done.stderr) == (3, True)
    place.unlink()
    place.symlink_to("nowhere")
    done = machine.type("install", "claude", "--yes")
    assert (done.returncode, "is a link to nothing, not a folder: name another" in done.stderr) == (2, True)
    assert machine.files() == before


def test_without_records_our_own_is_known(machine: Machine) -> None:
    """If the folder of records is lost, entries are recognised by what they start."""
    events: dict[str, list[str]] = {"AfterTool": [], "PreCompress": [], "SessionStart": [], "BeforeAgent": []}
    path = machine.write(".gemini/settings.json", json.dumps({"a": 1, "mcpServers": {}, "hooks": events}, indent=2))
    value: Any = json.loads(path.read_text())
    machine.done("install", "gemini", "--yes")
    for each in (machine.home / ".local/state/penstock-hosts").iterdir():
        each.unlink()
    machine.done("uninstall", "gemini", "--yes")
    assert json.loads(path.read_text()) == value


def test_what_a_newer_version_put_there_is_left_to_it(machine: Machine) -> None:
    """This one cannot tell it from what was there before; a doctor says what it knows of the file."""
    machine.done("install", "codex", "--mcp", "--yes")
    (record,) = (machine.home / ".local/state/penstock-hosts").glob("*.json")
    value = json.loads(record.read_text())
    value["parts"]["memory"] = ["codex"]
    record.write_text(json.dumps(value))
    before = machine.files()
    for verb in ("install", "uninstall"):
        done = machine.type(verb, "codex", "--mcp", "--yes")
        assert (done.returncode, "what this one does not know (memory): use that one" in done.stderr) == (3, True)
        assert machine.files() == before
    assert "codex" in machine.type("doctor").stdout


def test_both_scopes_are_apart(machine: Machine) -> None:
    """The project's part is removed without the user's."""
    machine.done("install", "codex", "--yes")
    machine.done("install", "codex", "--scope", "project", "--yes")
    machine.done("uninstall", "codex", "--scope", "project", "--yes")
    assert (machine.home / ".codex/hooks.json").exists()
    assert not (machine.project / ".codex").exists()


def test_the_plugin_of_opencode_is_a_file_of_ours(machine: Machine) -> None:
    """It starts the running program; a copy that a person changed is left, and so is a foreign one."""
    machine.done("install", "opencode", "--hook", "--yes")
    path = machine.home / ".config/opencode/plugins/penstock.js"
    assert f'const COMMAND = ["{sys.executable}", "-m", "penstock", "hook", "opencode"]\n' in path.read_text()
    written = path.read_text()
    path.write_text(written + "// mine\n")
    for _ in range(2):
        done = machine.type("uninstall", "opencode", "--hook", "--yes")
        assert (done.returncode, "it was changed since we wrote it" in done.stderr) == (3, True)
        for each in (machine.home / ".local/state/penstock-hosts").iterdir():  # and the same without a record
            each.unlink()
    path.write_text(written)
    machine.done("uninstall", "opencode", "--hook", "--yes")
    assert not path.exists()
    path.write_text("// another's\n")
    assert "not ours" in machine.done("install", "opencode", "--hook", "--yes")
    machine.done("uninstall", "opencode", "--hook", "--yes")
    assert path.read_text() == "// another's\n"


def test_the_hook_of_copilot_has_a_file_of_its_own(machine: Machine) -> None:
    """Its format is that of Copilot CLI."""
    machine.done("install", "copilot", "--hook", "--yes")
    written = json.loads((machine.home / ".copilot/hooks/penstock.json").read_text())
    hook = {"type": "command", "bash": f"{sys.executable} -m penstock hook copilot"}
    assert written == {"version": 1, "hooks": {"postToolUse": [hook]}}


@pytest.mark.needs("patch")
def test_a_diff_is_one_that_others_can_apply(machine: Machine) -> None:
    """This holds if a string has what Python takes for a line end, and if the last line has no end."""
    for seed in range(30):
        path = machine.write(f"{seed}/.gemini/settings.json", configurations.json_text(seed))
        machine.environment["GEMINI_CLI_HOME"] = str(machine.home / str(seed))
        (change,) = json.loads(machine.done("install", "gemini", "--yes", "--json"))["changes"]
        after = path.read_bytes()
        path.write_text(configurations.json_text(seed), newline="")
        command = ["patch", "--binary", "--force", "--silent", str(path)]
        subprocess.run(command, input=change["diff"].encode(), check=True, capture_output=True)
        assert path.read_bytes() == after


def test_what_stays_is_named(machine: Machine) -> None:
    """If parts are named the others stay, and are listed; without a name everything is removed."""
    machine.done("install", "claude", "--rules", "--hook", "--yes")
    assert "`penstock uninstall claude --rules`" in machine.done("uninstall", "claude", "--hook", "--yes")
    assert "penstock:begin" in (machine.home / ".claude/CLAUDE.md").read_text()
    assert "What stays" not in machine.done("uninstall", "claude", "--yes")
    assert not (machine.home / ".claude/CLAUDE.md").exists()


def test_a_comment_in_what_we_made_stays(machine: Machine) -> None:
    """A person wrote into the list that we had made: the list stays with it, and so does its file."""
    machine.done("install", "claude", "--hook", "--yes")
    path = machine.home / ".claude/settings.json"
    path.write_text(path.read_text().replace('"PostToolUse": [', '"PostToolUse": [ // mine'))
    machine.done("uninstall", "claude", "--hook", "--yes")
    assert path.read_text() == '{\n  "hooks": {\n    "PostToolUse": [ // mine\n    ]\n  }\n}\n'


def test_what_a_person_emptied_is_theirs(machine: Machine) -> None:
    """A file that we had made, in which somebody left an empty object, stays."""
    machine.done("install", "cursor", "--yes")
    path = machine.home / ".cursor/mcp.json"
    path.write_text("{}")
    machine.done("uninstall", "cursor", "--yes")
    assert path.read_text() == "{}"


def test_a_folder_in_the_place_of_a_file_is_named(machine: Machine) -> None:
    """So are a pipe, and a link to itself: nothing waits, nothing is written."""
    path = machine.home / ".claude.json"
    no_file = "is not a regular file"
    for kind, said in {"folder": no_file, "pipe": no_file, "link": "cannot be read"}.items():
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(path)
        done = machine.type("install", "claude", "--yes")
        assert (done.returncode, said in done.stderr) == (3, True), done.stderr
        path.rmdir() if kind == "folder" else path.unlink()
