"""Is every difficulty of examples/cobol where its README says, and does the generator write the generated members?"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ESTATE = Path(__file__).parents[2] / "examples" / "cobol"
ROW = re.compile(r"^\| (\d+) \| .+ \| `([^`]+)` \| (.+) \|$", re.MULTILINE)
ROWS = [
    (int(n), path, re.findall(r"`([^`]+)`", found))
    for n, path, found in ROW.findall((ESTATE / "README.md").read_text())
]
PADDED, CRLF, HOST = ESTATE / "cbl" / "MWB030.cbl", ESTATE / "cbl" / "MWB050.cbl", ESTATE / "host" / "MWS030.cbl"


def text(path: Path) -> str:
    """Return a member as its reader would see it."""
    if path.parent.name == "host":
        data = path.read_bytes().decode("cp037")
        return "\n".join(data[at : at + 80].rstrip() for at in range(0, len(data), 80)) + "\n"
    return path.read_bytes().decode("latin-1" if path == CRLF else "utf-8")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """Return examples/cobol/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("millwater", ESTATE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generator_writes_what_is_committed(generator: ModuleType) -> None:
    """Both members are reproduced byte for byte, and the large one is large."""
    program = generator.rating_program()
    assert program.encode("ascii") == (ESTATE / "cbl" / "MWRATE.cbl").read_bytes()
    assert generator.host_member() == HOST.read_bytes()
    assert program.count("\n") > 4000
    assert max(len(line) for line in program.splitlines()) <= 72


def test_all_difficulties_are_listed() -> None:
    """The README has a row for each of the 36."""
    assert {number for number, _, _ in ROWS} == set(range(1, 37))


@pytest.mark.parametrize(("number", "path", "fragments"), ROWS, ids=lambda value: str(value)[:40])
def test_a_difficulty_is_where_the_readme_says(number: int, path: str, fragments: list[str]) -> None:
    """Each fragment in the last column occurs in the file."""
    assert fragments, number
    for fragment in fragments:
        assert fragment in text(ESTATE / path), fragment


def test_every_member_is_described() -> None:
    """The README describes every program in the folder, and describes no other."""
    described = set(re.findall(r"^\| `((?:cbl|host)/[^`]+)` \|", (ESTATE / "README.md").read_text(), re.MULTILINE))
    assert described == {f"{path.parent.name}/{path.name}" for path in (*ESTATE.glob("cbl/*"), *ESTATE.glob("host/*"))}


def test_the_bytes_are_as_awkward_as_they_should_be() -> None:
    """Padding, numbers, CRLF, latin-1, tabs, EBCDIC: an editor or a checkout would silently change them."""
    padded = PADDED.read_text().splitlines()
    assert {len(line) for line in padded} == {80}
    assert [line[:6] for line in padded] == [f"{100 * n:06d}" for n in range(1, len(padded) + 1)]
    assert {line[72:] for line in padded} == {"BILLREG "}
    crlf = CRLF.read_bytes()
    assert crlf.count(b"\n") == crlf.count(b"\r\n") > 70
    assert not crlf.endswith(b"\n")
    assert b"Gro\xdfkunde" in crlf
    assert b"\t" in (ESTATE / "cpy" / "MWADDR.cpy").read_bytes()
    assert len(HOST.read_bytes()) % 80 == 0
    assert b"\n" not in HOST.read_bytes()


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("member", ["MWB010", "MWB020", "MWB030", "MWRATE", "MWS010", "MWS020", "MWS030"])
def test_a_compiler_accepts_what_needs_no_translator(member: str, tmp_path: Path) -> None:
    """GnuCOBOL finds no error in the programs that the README names."""
    for copybook in ESTATE.glob("cpy/*"):
        shutil.copy(copybook, tmp_path / f"{copybook.stem.upper()}.cpy")
    source = tmp_path / f"{member}.cbl"
    source.write_text(text(next(ESTATE.glob(f"*/{member}.cbl"))))
    dialect = "-std=default" if member == "MWS020" else "-std=ibm"
    command = ["cobc", "-fsyntax-only", "-w", dialect, "-I", str(tmp_path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
