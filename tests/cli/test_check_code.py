"""Does `penstock check-code` work as people and scripts use it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.screens import typed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("S-6")


def run(*arguments: str, cwd: Path, stdin: bytes = b"") -> tuple[int, str, str]:
    done = typed("check-code", *arguments, cwd=cwd, stdin=stdin)
    return done.returncode, done.stdout, done.stderr


def as_json(*arguments: str, cwd: Path, stdin: bytes = b"") -> tuple[int, Any]:
    status, out, _ = run(*arguments, "--json", cwd=cwd, stdin=stdin)
    return status, json.loads(out)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "small.py").write_text("def f():\n    return 1\n")
    (tmp_path / "long.py").write_text("def f():\n" + "    x = 1\n" * 60)
    (tmp_path / "wide.java").write_text("class A {\n" + "  int x;\n" * 150 + "}\n")
    (tmp_path / "data.bin").write_bytes(b"\x7fELF\0\0\0")
    return tmp_path


def test_what_is_within_its_caps_ends_well(tree: Path) -> None:
    """The kind of work defaults to generation."""
    status, out, err = run("small.py", cwd=tree)
    assert (status, err) == (0, "")
    assert out == (
        "2 lines of generation: advised at most 500, allowed 3000\nsmall.py: 2 lines of python, by syntax tree\n"
    )


def test_more_than_is_advised_is_said_and_no_more(tree: Path) -> None:
    """The exit status is 0, and the report has the advice."""
    status, value = as_json("wide.java", "--kind", "analysis", cwd=tree)
    assert (status, value["level"], value["is_within"]) == (0, "advised", True)


def test_a_cap_that_is_passed_is_status_1_and_named(tree: Path) -> None:
    """The report names the function, its lines and the cap."""
    status, out, _ = run("small.py", "long.py", cwd=tree)
    assert status == 1
    assert "long.py: 61 lines of python, by syntax tree\n  function f, lines 1-61: 61 lines, allowed 50\n" in out


def test_the_files_are_one_response(tree: Path) -> None:
    """Their lines add up: four files within the cap of analysis exceed it together."""
    status, value = as_json(*["wide.java"] * 4, "--kind", "analysis", cwd=tree)
    assert (status, value["lines"], value["level"]) == (1, 608, "above")
    assert [file["lines"] for file in value["files"]] == [152] * 4


def test_a_report_as_json_has_its_keys(tree: Path) -> None:
    """Scripts rely on these keys."""
    _, value = as_json("long.py", cwd=tree)
    assert value == {
        "kind": "generation",
        "lines": 61,
        "advised_lines": [200, 500],
        "max_lines": 3000,
        "level": "ok",
        "is_within": False,
        "files": [
            {
                "path": "long.py",
                "language": "python",
                "method": "syntax tree",
                "lines": 61,
                "error": None,
                "complete": True,
                "oversized": [
                    {"kind": "function", "name": "f", "start_line": 1, "end_line": 61, "lines": 61, "max_lines": 50}
                ],
            }
        ],
    }


def test_standard_input_is_measured_under_the_name_it_would_have(tree: Path) -> None:
    """Without a name the first bytes determine the language."""
    code = (tree / "long.py").read_bytes()
    status, value = as_json("-", "--stdin-filename", "made.py", cwd=tree, stdin=code)
    assert (status, value["files"][0]["path"], value["files"][0]["method"]) == (1, "made.py", "syntax tree")
    status, value = as_json("-", cwd=tree, stdin=code)
    assert (status, value["files"][0]["language"], value["lines"]) == (0, "text", 61)
    status, value = as_json("-", cwd=tree, stdin=b"#!/usr/bin/env python3\n" + code)
    assert (status, value["files"][0]["language"]) == (1, "python")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encoding_is_what_the_first_bytes_say(tree: Path, codec: str) -> None:
    """A byte order mark is no fault of the code, in a file or on standard input; a character may cross a block's end."""
    code = "# " + "é" * 300_000 + "\r\n" + "def f():\r\n" + "    x = 1\r\n" * 60
    (tree / "coded.py").write_bytes(code.encode(codec))
    status, value = as_json("coded.py", "-", "--stdin-filename", "x.py", cwd=tree, stdin=code.encode(codec))
    assert status == 1
    for file in value["files"]:
        assert (file["lines"], file["error"], len(file["oversized"])) == (62, None, 1)


def test_bytes_that_are_no_text_are_replaced(tree: Path) -> None:
    """A comment in another encoding does not prevent measuring."""
    (tree / "latin.py").write_bytes("# Größe\ndef f():\n    return 1\n".encode("latin-1"))
    status, value = as_json("latin.py", cwd=tree)
    assert (status, value["files"][0]["error"], value["lines"]) == (0, None, 3)


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["nothing.py"], 4, "not_found"),
        (["small.py", "nothing.py"], 4, "not_found"),
        (["../x.py"], 3, "outside_root"),
        (["data.bin"], 3, "binary"),
        (["."], 3, "is_directory"),
        (["small.py", "--kind", "poetry"], 2, "usage"),
        (["small.py", "--root", "nowhere"], 4, "not_found"),
        ([], 2, "usage"),
    ],
)
def test_an_error_is_one_object_with_a_code_and_an_exit_status(
    tree: Path, arguments: list[str], status: int, code: str
) -> None:
    """Nothing is measured in part: a file that cannot be read makes the answer an error."""
    actual, value = as_json(*arguments, cwd=tree)
    assert (value["error"]["code"], actual) == (code, status)


def test_binary_standard_input_is_refused(tree: Path) -> None:
    """Standard input is refused like a binary file."""
    status, value = as_json("-", cwd=tree, stdin=b"\x7fELF\0\0")
    assert (status, value["error"]["code"]) == (3, "binary")
    assert "ELF program" in value["error"]["message"]
