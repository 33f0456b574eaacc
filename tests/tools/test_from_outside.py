"""What do the file tools print for a user who types a command or calls `penstock.Tools`? Internals are not inspected."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from tests.outside import Outside

from penstock import Tools

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = [{"id": n, "name": f"order {n}", "note": "x" * 200} for n in range(3_000)]


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    """Provide an empty project."""
    return Outside(tmp_path)


def planted(outside: Outside, *names: str, content: str = "needle\n") -> None:
    """Write files with that content."""
    for name in names:
        (outside.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (outside.tree / name).write_text(content)


@pytest.mark.proves("L-1")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("*.py", ["a.py"]),
        ("src/*.py", ["src/b.py"]),
        ("**/*.go", ["d25/e.go", "main.go"]),
        ("*.{go,py}", ["a.py", "main.go"]),
        ("./*.go", ["main.go"]),
        ("src/**", ["src/b.py", "src/deep/c.py"]),
    ],
)
def test_a_glob_lists_what_models_mean_by_it(outside: Outside, pattern: str, found: list[str]) -> None:
    """It lists what git and shells would, including files at the root."""
    planted(outside, "a.py", "src/b.py", "src/deep/c.py", "main.go", "d25/e.go")
    assert outside.json("list", pattern, "--limit", "50")["items"] == found


@pytest.mark.proves("L-1")
def test_an_empty_listing_names_the_wider_call_that_finds_files(outside: Outside) -> None:
    """An empty result is not presented as certain, and the glob of a search takes the files of a folder."""
    planted(outside, "src/deep/c.py", "d25/e.go")
    none = outside.penstock("list", "c.py").stdout
    wider = re.search(r"A wider form finds 1 file: (penstock .*)", none)
    assert wider, none
    assert "src/deep/c.py" in outside.penstock(*shlex.split(wider[1])[1:]).stdout
    found = outside.json("search", "needle", "--glob", "d25/*")
    assert [match["path"] for match in found["matches"]] == ["d25/e.go"]


@pytest.mark.proves("L-1")
def test_a_pattern_that_climbs_names_the_call_for_the_folder_above(outside: Outside) -> None:
    """A pattern stays below its folder; above the root there is no such call."""
    planted(outside, "a.py", "src/b.py")
    for command, found in (("list", "\na.py\n"), ("count", "1 file")):
        none = outside.penstock(command, "../*.py", "--path", "src").stdout
        above = re.search(r"for the folder above: (penstock .*)", none)
        assert above, none
        assert found in "\n" + outside.penstock(*shlex.split(above[1])[1:]).stdout
    for pattern, path in (("../*.py", "."), ("../../*.py", "src"), ("../../*.py", str(outside.tree / "src"))):
        assert "nothing above the root is listed" in outside.penstock("list", pattern, "--path", path).stdout


@pytest.mark.proves("B-8")
def test_pages_of_two_versions_are_not_spliced(outside: Outside) -> None:
    """The call that a view prints carries its version: a line inserted at the top in between is reported."""
    file = outside.tree / "n.txt"
    file.write_text("".join(f"{n}\n" for n in range(300)))
    header = outside.penstock("view", "n.txt").stdout.partition("\n")[0]
    following = re.search(r"next: (penstock view [^|]+?)(?: \||$)", header)
    assert following, header
    file.write_text("new\n" + file.read_text())
    done = outside.penstock(*shlex.split(following[1])[1:])
    assert done.returncode == 5
    assert "stale" in done.stdout + done.stderr or "changed" in done.stdout + done.stderr


@pytest.mark.proves("B-13")
def test_a_large_file_without_landmarks_is_read_in_few_calls(outside: Outside) -> None:
    """400 KiB are read by following the printed calls: the first page is small, no other is."""
    planted(outside, "a.py", content="x = 1; y = 2  # nothing here\n" * 14_000)
    count, line = 0, "penstock read a.py"
    while line and count < 70:
        text = outside.penstock(*shlex.split(line)[1:]).stdout
        count += 1
        following = re.search(r"next: (penstock read [^|]+?)(?: \||$)", text.partition("\n")[0])
        line = following[1] if following else ""
    assert (count <= 9, line) == (True, ""), count


@pytest.mark.proves("G-5")
def test_json_on_one_line_is_shown_by_record(outside: Outside) -> None:
    """A view skips records instead of lines; an outline names them."""
    planted(outside, "list.json", content=json.dumps(ORDERS))
    page = outside.penstock("view", "list.json", "--offset", "100", "--limit", "10").stdout
    assert "records 101-110 of 3000 total" in page.partition("\n")[0]
    assert '"order 109"' in page
    assert '"order 110"' not in page
    assert "of 3000" in outside.penstock("outline", "list.json").stdout.partition("\n")[0]


@pytest.mark.proves("L-8")
def test_the_way_that_a_refusal_of_a_secret_names_works(outside: Outside) -> None:
    """The refusal names a variable, and with it the file is shown."""
    planted(outside, ".env", content="PASSWORD=heron\n")
    refused = outside.penstock("view", ".env")
    assert refused.returncode == 3
    variable = re.search(r"(PENSTOCK_\w+)=1", refused.stderr)
    assert variable, refused.stderr
    outside.environment[variable[1]] = "1"
    assert "PASSWORD=heron" in outside.penstock("view", ".env").stdout


@pytest.mark.proves("L-8")
def test_files_whose_names_say_secret_are_refused(outside: Outside) -> None:
    """These are credentials of Docker, Kubernetes, Cargo and GitHub, states of Terraform, and copies of keys."""
    names = (
        ".docker/config.json",
        ".kube/config",
        ".cargo/credentials.toml",
        "secrets.yml",
        "terraform.tfstate",
        "prod.env",
        "id_rsa.bak",
        ".config/gh/hosts.yml",
    )
    planted(outside, *names, content="PASSWORD=heron\n")
    assert {name: outside.penstock("view", name).returncode for name in names} == dict.fromkeys(names, 3)


@pytest.mark.proves("L-10")
def test_instructions_in_invisible_characters_are_shown(outside: Outside) -> None:
    """Variation selectors, including those on their own plane, and the blank Braille pattern are shown, and all are counted."""
    planted(outside, "a.txt", content="a\ufe00b\U000e0100c\u2800d\n")
    header, _, body = outside.penstock("view", "a.txt").stdout.partition("\n")
    assert body.rstrip("\n") == r"1|a\u{fe00}b\u{e0100}c\u{2800}d"
    assert "3 characters escaped" in header


@pytest.mark.proves("L-5")
@pytest.mark.needs("git")
@pytest.mark.parametrize("rule", ["[/[ab]", "x[/]y", "[[/]a"])
def test_a_slash_in_brackets_ignores_what_git_ignores(outside: Outside, rule: str) -> None:
    """A bracket never matches a slash, but a slash in one still anchors the rule."""
    planted(outside, "a", "b", "[a", "x/y", "xy", "sub/a", "sub/[", "c/b", "/a".strip("/") + "b")
    (outside.tree / ".gitignore").write_text(f"{rule}\n.gitignore\n")
    git = ["git", "-C", str(outside.tree)]
    subprocess.run([*git, "init", "-q"], check=True)
    kept = subprocess.run(
        [*git, "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout.split()
    assert outside.json("list", "*", "--recursive", "--limit", "50")["items"] == sorted(kept)


@pytest.mark.proves("G-2")
@pytest.mark.parametrize("tokens", ["10", "20"])
def test_an_allowance_without_room_for_the_handle_is_refused(outside: Outside, tokens: str) -> None:
    """A cut notice would lose the whole; the refusal has the handle, and the smallest sufficient allowance."""
    whole = "".join(f"line {n}\n" for n in range(300))
    small = outside.penstock("guard", "--tokens", tokens, given=whole)
    assert (small.returncode, small.stdout) == (7, "")
    handle = re.search(r"penstock page (\S+)", small.stderr)
    assert handle, small.stderr
    assert outside.penstock("page", handle[1], "--raw").stdout == whole


@pytest.mark.proves("B-2", "L-9")
def test_odd_arguments_are_answered_alike(outside: Outside) -> None:
    """A descending range is reported; null counts as omitted; a missing object is status 4; prose is not COBOL."""
    planted(outside, "a.txt", content="".join(f"line {n}\n" for n in range(1, 301)))
    planted(outside, "README.md", content="# Title\n\nMove the files. Add a line to it.\n\n## Use\n\nCall us. Stop.\n")
    planted(outside, "x.py", content="def f():\n    return 1\n" * 400)
    down = outside.penstock("read", "a.txt", "--start-line", "50", "--end-line", "40").stdout
    assert "end_line=40 is before start_line=50" in down
    null = Tools(outside.tree).call("view", {"file_path": "a.txt", "offset": None, "limit": None})
    assert "showing lines 1-100 of 300 total" in null.text
    assert [outside.penstock(*line, "nope").returncode for line in (["show"], ["page"], ["handoff"])] == [4, 4, 4]
    assert outside.json("structure", "README.md")["programs"] == []
    assert "PERFORM" not in outside.penstock("chunk", "x.py", "--max-tokens", "200").stdout


@pytest.mark.proves("L-10")
def test_a_page_of_escapes_costs_little_more_than_a_plain_one(outside: Outside) -> None:
    """It costs at most ten times as much, as the best of five; it was once hundreds."""
    planted(outside, "odd", content=("a\x01" * 40 + "\n") * 3_000)
    planted(outside, "plain", content=("ab" * 40 + "\n") * 3_000)
    tools = Tools(outside.tree)

    def seconds(name: str) -> float:
        took = []
        for _ in range(5):
            begun = time.process_time()
            tools.read_file(name, start_byte=0, max_bytes=140_000)
            took.append(time.process_time() - begun)
        return min(took)

    # A page takes less than a tick of some clocks: differences below a millisecond are ignored.
    assert seconds("odd") < 10 * max(seconds("plain"), 0.001)
