"""Does the command line handle a reader that has gone, a full disk, and input that does not end?"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forks import warm_penstock


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "big.txt").write_text("".join(f"line {n}\n" for n in range(1, 251)))
    (tmp_path / "src" / "app.py").write_text("import os\n\n\ndef main():\n    return 1\n" * 40)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "view big.txt",
        "view big.txt --json",
        "list",
        "chunk src/app.py --max-tokens 99",
        "view --help",
        "--help",
        "--version",
        "",
    ],
)
def test_a_reader_that_has_gone_is_no_fault(tree: Path, line: str) -> None:
    """The exit status is 0 without a message; 1 would mean that nothing was found."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*warm_penstock(), *line.split()], cwd=tree, stdout=write, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.proves("H-3")
@pytest.mark.parametrize(("flags", "status"), [(["--yes"], 0), ([], 3)])
def test_what_was_agreed_to_is_done_though_nobody_reads_the_diff(tmp_path: Path, flags: list[str], status: int) -> None:
    """`install HOST --yes | head` installs; without --yes nobody agreed, and the status says that nothing was changed."""
    read, write = os.pipe()
    os.close(read)
    command = [*warm_penstock(), "install", "codex", "--mcp", *flags]
    environment = {**os.environ, "HOME": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, (tmp_path / "config.toml").exists()) == (status, status == 0), done.stderr


def test_output_is_utf8_in_any_locale(tmp_path: Path) -> None:
    """A name or a line that Latin-1 or a code page does not have neither ends a command nor changes what is passed on."""
    (tmp_path / "übung 😀.txt").write_text("", "utf-8")
    penstock = [sys.executable, "-m", "penstock"]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([*penstock, "list"], cwd=tmp_path, env=latin, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, "übung 😀.txt\n", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("is_full", [True, False])
@pytest.mark.parametrize("command", ["run", "resume"])
def test_an_answer_does_not_need_somebody_who_reads_its_steps(tree: Path, command: str, is_full: bool) -> None:
    """The answer goes to standard output: a full log, or `2> >(head -1)`, does not end the agent unnoticed."""
    read, write = os.pipe()
    os.close(read)
    kept = ["--store", str(tree / "kept")]
    begun = [*warm_penstock(), "run", "import", *kept, "--json"]
    words = ["import", "--root", str(tree)]
    if command == "resume":
        told = subprocess.run(begun, cwd=tree, capture_output=True, timeout=60, check=True)
        words = [json.loads(told.stdout)["session"], "import"]
    try:
        with Path("/dev/full").open("wb") as full:
            errors = full.fileno() if is_full else write
            line = [sys.executable, "-m", "penstock", command, *words, *kept]
            done = subprocess.run(line, cwd=tree, stdout=subprocess.PIPE, stderr=errors, timeout=60, check=False)
    finally:
        os.close(write)
    assert done.returncode == 0
    assert b"import os" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_a_fault_that_cannot_be_told_is_a_fault(tree: Path) -> None:
    """Status 1 would mean that nothing was found."""
    with Path("/dev/full").open("wb") as full:
        line = [sys.executable, "-m", "penstock", "view", "none.txt"]
        done = subprocess.run(line, cwd=tree, stdout=subprocess.PIPE, stderr=full, timeout=60, check=False)
    assert done.returncode == 8


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize(
    "line", ["view big.txt", "view big.txt --json", "view --help", "--help", "--version", "", "mistyped --json"]
)
def test_a_full_disk_is_a_fault_in_one_line(tree: Path, line: str) -> None:
    """The exit status is 8, whatever was to be printed, help and errors included."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*warm_penstock(), *line.split()], cwd=tree, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 8
    assert re.fullmatch(rb"penstock: (?!big\.txt).*No space left on device\n", done.stderr)


@pytest.mark.proves("H-5")
@pytest.mark.parametrize(
    "line",
    ["hook claude >&-", "view big.txt >&-", "guard >&-", "guard --chars 60 <big.txt >&-", "guard <&-", "tokens - <&-"],
)
def test_a_stream_that_was_closed_from_the_start_is_no_traceback(
    tree: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `penstock hook claude >&-` nobody listens, and nothing is wrong; a closed input is empty."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tree / "store"))
    done = subprocess.run(
        ["sh", "-c", f"exec {shlex.quote(sys.executable)} -m penstock {line}"],
        cwd=tree,
        input=b"{}",
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "command",
    [("violations", "--wire", "openai-chat"), ("repair",), ("bill",), ("fit", "--tokens", "9")],
    ids=lambda c: c[0],
)
def test_a_request_without_an_end_is_an_error_that_names_the_bound(tree: Path, command: tuple[str, ...]) -> None:
    """Neither an endless input nor a giant file is read whole."""
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(
            [*warm_penstock(), command[0], "-", *command[1:]],
            cwd=tree,
            stdin=endless,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        b"penstock: - has more than the 256 MiB that are read of a request. Try: penstock %s --help\n"
        % command[0].encode()
    )
    with (tree / "giant.json").open("wb") as giant:
        giant.truncate(1 << 40)
    of_file = subprocess.run(
        [*warm_penstock(), command[0], "giant.json", *command[1:]],
        cwd=tree,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (of_file.returncode, of_file.stderr) == (2, done.stderr.replace(b"-", b"giant.json", 1))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("guard", b"penstock: PENSTOCK_MAX_TOOL_OUTPUT takes a number from 200 on, not 'abc': 28000 is used\n"),
        ("hook claude", b"penstock hook: Standard input holds no JSON event of a host"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(tree: Path, line: str, said: bytes) -> None:
    """An invalid setting or event gives no line of Python, and not just its parser's message."""
    environment = os.environ | {"PENSTOCK_MAX_TOOL_OUTPUT": "abc"}
    command = [*warm_penstock(), *line.split()]
    done = subprocess.run(command, cwd=tree, input=b"", env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert said in done.stdout + done.stderr
    assert b".py" not in done.stderr
