"""What does a shell offer at the tab key? Tested in real shells on a real terminal, without changing the store."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import click
import pytest
from tests.cli.screens import plain
from tests.forks import COMMANDS, warm_path, warm_penstock

from penstock.cli import completion
from penstock.store import glance, open_store
from penstock.store.glance import recent_artifacts, recent_sessions

if TYPE_CHECKING:
    from pathlib import Path

START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(penstock completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -u; eval "$(penstock completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "penstock completion fish | source"),
}
TAB = "\t"


class Prompt:
    """A shell on a terminal: what is typed, and what it shows."""

    def __init__(self, shell: str, folder: Path) -> None:
        command, self._line = START[shell]
        path = warm_path(*COMMANDS)
        self._child, self._terminal = pty.fork()
        if not self._child:
            os.chdir(folder)
            environment = {**os.environ, "PATH": path, "HOME": str(folder), "PS1": "$ "}
            os.execvpe(command[0], command, {**environment, "TERM": "xterm", "PENSTOCK_STORE": str(folder / "store")})

    def __enter__(self) -> Prompt:
        self.read("")
        self.type(f"{self._line}; echo rea''dy\n", "ready")
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._terminal)

    def read(self, until: str, seconds: float = 30.0) -> str:
        """Return what it shows up to `until`, once nothing more arrives for a moment."""
        shown, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            ready, _, _ = select.select([self._terminal], [], [], 0.05)
            if not ready and re.search(until, shown):
                return shown
            if ready:
                with contextlib.suppress(OSError):
                    shown += plain(os.read(self._terminal, 65_536).decode(errors="replace"))
        raise AssertionError(f"{until!r} is not in {shown!r}")

    def type(self, keys: str, until: str) -> str:
        """Type keys and wait for their result; then erase the line by further keys, which need no waiting."""
        os.write(self._terminal, keys.encode())
        shown = self.read(until)
        os.write(self._terminal, b"\x15")
        return shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make files, a profile, and a store with a session and a kept output."""
    (tmp_path / "src").mkdir()
    for name in ("README.md", "replies.json", "src/app.py", "src/other.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "penstock.toml").write_text("[profiles.mine]\nturns = [1, 2]\n")
    store = open_store(str(tmp_path / "store"))
    store.append("a1b2c3", 0, "Begun", {})
    store.append("a1b2c3", 1, "Prompted", {"message": {"role": "user", "content": "Which port,\n\x1b[2Jplease?"}})
    store.put(b"text\n" * 10, name="job, of make")
    store.close()
    return tmp_path


@pytest.mark.needs("bash", "zsh", "fish")
@pytest.mark.parametrize("shell", START)
def test_a_real_shell_completes_what_a_person_types(shell: str, folder: Path) -> None:
    """Commands, flags, files under the root, models with colons, sessions, handles, wires and profiles are completed."""
    ((handle, _),) = recent_artifacts(str(folder / "store"))
    with Prompt(shell, folder) as prompt:
        prompt.type(f"penstock outl{TAB}", r"penstock outline\s")
        prompt.type(f"penstock store pru{TAB}", r"prune\s")
        prompt.type(f"penstock view --lim{TAB}", r"--limit\s")
        prompt.type(f"penstock view REA{TAB}", r"README\.md\s")
        prompt.type(f"penstock view --root src ap{TAB}", r"app\.py\s")
        prompt.type(f"penstock run x --model lo{TAB}", r"local\s")
        prompt.type(f"penstock run x --model anth{TAB}model", "anthropic:model")
        prompt.type(f"penstock run x --model scripted:rep{TAB}", r"scripted:replies\.json\s")
        prompt.type(f"penstock bill --wire openai-r{TAB}", r"openai-responses\s")
        prompt.type(f"penstock run x --profile mi{TAB}", r"mine\s")
        prompt.type(f"penstock show a{TAB}", r"a1b2c3\s")
        prompt.type(f"penstock find {handle[:9]}{TAB}", rf"{handle}\s")
        offered = prompt.type(f"penstock vi{TAB}{TAB}", r"view[\s\S]*violations")
        assert shell == "bash" or "Show a page of FILE with line numbers" in offered


def asked(shell: str, words: str, folder: Path, **environment: str) -> list[str]:
    """Return the answer of our program to a shell's script, by click's protocol."""
    done = subprocess.run(
        warm_penstock(),
        cwd=folder,
        env={
            **os.environ,
            "_PENSTOCK_COMPLETE": f"{shell}_complete",
            "PENSTOCK_LINE": words,
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split())) if shell == "zsh" else "",
            "PENSTOCK_STORE": str(folder / "store"),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_session_is_offered_with_its_question_made_harmless(folder: Path) -> None:
    """The question cannot move the cursor, and stays on one line."""
    assert asked("zsh", "penstock show ", folder) == ["plain", "a1b2c3", r"Which port, \x1b[2Jplease?"]
    assert asked("zsh", "penstock page ", folder)[2] == "job, of make"


def test_bash_is_given_what_follows_the_last_colon(folder: Path) -> None:
    """Readline replaces only the last word, and takes a colon as its start; if it does not, the whole word is given."""
    assert asked("bash", "penstock run x --model openai-r", folder) == ["plain,openai-responses:"]
    assert asked("bash", "penstock run x --model=scripted:src/a", folder) == ["plain,src/app.py"]
    line = "penstock run x --model scripted:src/a"
    assert asked("bash", line, folder, PENSTOCK_BREAKS=" \t=") == ["plain,scripted:src/app.py"]


def test_nothing_is_made_and_nothing_written_by_looking(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A missing store stays missing; an existing one and its folder stay the same, byte for byte."""
    empty = tmp_path_factory.mktemp("empty")
    assert asked("zsh", "penstock show ", empty) == [""]
    assert list(empty.iterdir()) == []
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in (folder / "store").iterdir()}
    assert asked("zsh", "penstock show ", folder)[1] == "a1b2c3"
    after = {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in (folder / "store").iterdir()}
    assert after == before


def test_names_are_read_while_another_program_writes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that are committed but not yet merged into the database are offered too."""
    store = open_store(str(folder / "store"))
    store.append("newer", 0, "Begun", {})
    assert [name for name, _ in recent_sessions(str(folder / "store"))] == ["newer", "a1b2c3"]
    store.close()
    assert [name for name, _ in recent_sessions(str(folder / "store"), prefix="a1")] == ["a1b2c3"]
    assert recent_sessions(str(folder / "store"), prefix="%") == []
    monkeypatch.setattr(glance, "MOST", 1)
    assert [name for name, _ in recent_sessions(str(folder / "store"))] == ["newer"]


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:1/db", "mysql://x", "sqlite://", "/dev/null", "a\0b"])
def test_what_is_no_store_of_files_has_no_names(url: str) -> None:
    """No connection is made, and nothing is printed."""
    assert recent_sessions(url) == []
    assert recent_artifacts(url) == []


def test_a_damaged_store_has_no_names(tmp_path: Path) -> None:
    """The tab key must not show an error."""
    (tmp_path / "penstock.sqlite3").write_bytes(b"not a database" * 100)
    assert recent_sessions(str(tmp_path)) == []


def test_paths_stay_beneath_the_root(folder: Path) -> None:
    """Absolute and climbing paths are not followed; hidden files are offered after a dot."""
    (folder / "src" / ".hidden").write_text("")
    (folder / "src" / "deep").mkdir()
    context = click.Context(click.Command("view"))
    context.params["root"] = str(folder / "src")

    def offered(start: str) -> list[str]:
        items = completion.PathBeneathRoot().shell_complete(context, click.Argument(["file"]), start)
        return [str(item.value) for item in items]

    assert offered("") == ["app.py", "deep/", "other.py"]
    assert offered(".h") == [".hidden"]
    assert offered("../") == offered("deep/../../") == offered("/etc/") == []


def test_completing_loads_nothing_heavy(folder: Path) -> None:
    """A person waits for the tab key: no model, agent, HTTP or drawing is loaded."""
    code = (
        "import os, sys\n"
        "os.environ.update(_PENSTOCK_COMPLETE='zsh_complete', COMP_WORDS='penstock show ', COMP_CWORD='2')\n"
        "from penstock.cli import main\n"
        "try:\n    main([])\nexcept SystemExit:\n    pass\n"
        "print(' '.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    heavy = {
        "rich",
        "asyncio",
        "httpx2",
        "re2",
        "penstock.session",
        "penstock.agent",
        "penstock.models",
        "penstock.tools",
    }
    assert "penstock.store.glance" in loaded
    assert loaded & heavy == set()
