"""Are the facts that need no model right? Compared with what others say about the same programs.

Data layout is compared with the symbol listing of GnuCOBOL's compiler (sizes) and its generated C (offsets); copybooks, EXEC
blocks, calls and files with careful greps of the raw text; and all of it is timed. The shim is that of `cobol_oracle`.

Usage: PENSTOCK_DATA=... python bench/cobol_facts.py [CORPUS ...] [--differences N]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.cobol_oracle import EIB, FIXED, WORKERS, Stubs, copybooks, corpora, shimmed

from penstock.cobol import scan
from penstock.cobol.estate import Copybooks
from penstock.cobol.facts import Facts, call_diagram, facts, flow_diagram

ROW = re.compile(r"^(?:(\d{5})|\s{5}) (\w[\w -]*?)\s+(\d\d)\s{3}(\S+?),?(?:\s+(.*))?$")
FIELD = re.compile(r"static cob_field f_\d+\s*= \{(\d+), b_\d+(?: \+ (\d+))?, &a_\d+\};\s*/\* (\S+) \*/")

Found = dict[str, Counter[tuple[object, ...]]]


def listed(path: Path, copies: list[Path]) -> tuple[Counter[tuple[object, ...]], dict[str, set[int]]] | None:
    """Level, name and bytes of every item, and the offsets of used ones, according to cobc."""
    raw = path.read_bytes().decode("latin-1")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        stubs = folder / "copy"
        stubs.mkdir()
        for copy in copies:
            target = stubs / copy.stem.upper()
            if not target.exists() or copy.suffix.lower() == ".cpy":
                target.write_text(shimmed(copy.read_bytes().decode("latin-1"), copybook=True), "latin-1")
        made = Stubs(stubs)
        (folder / "source.cbl").write_text(shimmed(raw), "latin-1")
        for options in FIXED[:1]:
            for _ in range(12):
                command = ["nice", "cobc", "-C", "-w", "-fmax-errors=2000", *options, f"-I{stubs}", "-ffold-copy=UPPER"]
                command += ["-t", "out.lst", "-ftsymbols", "-o", "x.c", "source.cbl"]
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, check=False, errors="replace", timeout=120
                )
                if done.returncode == 0:
                    return items_of(folder / "out.lst", made), offsets_of(folder)
                if not made.learn(done.stderr, (folder / "source.cbl").read_text("latin-1")):
                    break
    return None


def items_of(listing: Path, made: Stubs) -> Counter[tuple[object, ...]]:
    """The rows of the symbol tables, without the shim's inventions."""
    lines = listing.read_text("latin-1").split("\n")
    start = next((at for at, line in enumerate(lines) if line.startswith("SIZE  TYPE")), len(lines))
    invented = {name.upper() for name in re.findall(r"\d\d\s+([A-Z0-9-]+)", EIB)} | set(made.items)
    invented |= {name for group, members in made.groups.items() for name in (group, *members)}
    found: Counter[tuple[object, ...]] = Counter()
    for line in lines[start:]:
        row = ROW.match(line.rstrip())
        if row and row[1] and row[4].upper() not in invented and row[3] not in {"88", "66", "78"}:
            found[int(row[3]), row[4].upper(), int(row[1])] += 1
    return found


def offsets_of(folder: Path) -> dict[str, set[int]]:
    """The offsets of the items that the C names."""
    found: dict[str, set[int]] = {}
    for file in folder.glob("x.c*"):
        for _, offset, name in FIELD.findall(file.read_text("latin-1")):
            found.setdefault(name.upper(), set()).add(int(offset or 0))
    return found


def ours(found: Facts) -> tuple[Counter[tuple[object, ...]], dict[str, set[int | None]]]:
    """The same, according to our facts."""
    sizes: Counter[tuple[object, ...]] = Counter()
    offsets: dict[str, set[int | None]] = {}
    for item in found.items:
        if item.level != 66:
            times = item.occurs or 1 if item.usage == "GROUP" else 1  # like the listing
            size = None if item.bytes is None else item.bytes * times
            sizes[item.level, item.name.upper(), size] += 1
            offsets.setdefault(item.name.upper(), set()).add(item.offset)
    return sizes, offsets


def code_of(text: str) -> str:
    """The raw text without sequence area, comments and columns past 72, for greps."""
    lines = []
    for line in text.replace("\r", "").split("\n"):
        code = line.expandtabs(8)
        lines.append("" if code[6:7] in {"*", "/", "$"} else code[7:72])
    return "\n".join(lines)


def grepped(text: str) -> Found:
    """What careful greps find: (what, line) or (what, name, line)."""
    found: Found = {kind: Counter() for kind in ("copy", "include", "cics", "sql", "dli", "call", "select", "fd")}
    lines = code_of(text).split("\n")
    literal = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
    code = literal.sub(lambda quoted: quoted[0].replace("EXEC", "xxxx").replace("COPY", "xxxx"), "\n".join(lines))
    code = re.sub(r"\*>[^\n]*", "", code)

    def at(position: int) -> int:
        return code.count("\n", 0, position) + 1

    for match in re.finditer(r"(?im)(?<![\w-])COPY\s+['\"]?([A-Z0-9_#@$-]+)['\"]?", code):
        found["copy"][match[1].upper(), at(match.start())] += 1
    for match in re.finditer(r"(?is)(?<![\w-])EXEC\s+(CICS|SQL|DLI)\s+(\w+)(.*?)END-EXEC", code):
        kind, verb = match[1].upper(), match[2].upper()
        if verb == "INCLUDE":
            found["include"][match[3].split()[0].strip("'").upper(), at(match.start())] += 1
        else:
            found[kind.lower()][verb, at(match.start())] += 1
    for match in re.finditer(r"(?im)(?<![\w-])CALL\s+['\"]([^'\"\n]+)['\"]", code):
        found["call"][match[1].upper().strip(), at(match.start())] += 1
    for match in re.finditer(r"(?im)(?<![\w-])SELECT\s+(?:OPTIONAL\s+)?([A-Z0-9-]+)\s+ASSIGN", code):
        found["select"][match[1].upper(),] += 1
    for match in re.finditer(r"(?im)^\s*[FS]D\s+([A-Z0-9-]+)", code):
        found["fd"][match[1].upper(),] += 1
    return found


def stated(found: Facts) -> Found:
    """The same, according to our facts."""
    said: Found = {kind: Counter() for kind in ("copy", "include", "cics", "sql", "dli", "call", "select", "fd")}
    for copy in found.copybooks:
        if copy.copybook is None:
            said["copy" if copy.via == "COPY" else "include"][copy.name.upper(), copy.line] += 1
    for one in found.cics:
        if one.copybook is None:
            said["cics"][one.command.split()[0], one.line] += 1
    for statement in found.sql:
        if statement.copybook is None:
            said["sql"][statement.operation.split()[0], statement.line] += 1
    called = {call.line for call in found.calls}
    for operation in found.dli:
        if operation.copybook is None and operation.line not in called:
            said["dli"][operation.function, operation.line] += 1
    for call in found.calls:
        if call.call_type == "static" and call.copybook is None:
            said["call"][call.target.upper().strip(), call.line] += 1
    for file in found.files:
        if file.copybook is None and file.assign:
            said["select"][file.name.upper(),] += 1
        if file.kind and file.copybook is None:
            said["fd"][file.name.upper(),] += 1
    return said


Result = tuple[str, Found, Found, float, list[str]]


def compare(job: tuple[str, list[str]]) -> Result:
    """One file, read by both."""
    path, copies = Path(job[0]), [Path(copy) for copy in job[1]]
    data = path.read_bytes()
    shelf = Copybooks((str(copy), "copybook", copy.read_bytes()) for copy in copies)
    began = time.perf_counter()
    source = scan(data)
    all_facts = [facts(source, program, copybooks=shelf) for program in source.programs]
    for one in all_facts:
        flow_diagram(one)
        call_diagram(one)
    seconds = time.perf_counter() - began
    mine: Found = {}
    for one in all_facts:
        for kind, rows in stated(one).items():
            mine.setdefault(kind, Counter()).update(rows)
    theirs = grepped(data.decode("latin-1")) if source.format == "fixed" else {kind: Counter() for kind in mine}
    if source.format != "fixed":
        mine = {kind: Counter() for kind in mine}
    differences: list[str] = []
    sizes = None
    try:
        sizes = listed(path, copies) if source.format == "fixed" and len(source.programs) == 1 else None
    except subprocess.TimeoutExpired:
        differences.append(f"{path.name}: cobc takes too long")
    if sizes is not None:
        ours_, places = ours(all_facts[0])
        theirs["item sizes"], mine["item sizes"] = sizes[0], ours_
        common = [name for name, found in sizes[1].items() if len(found) == 1 and len(places.get(name, ())) == 1]
        theirs["item offsets"] = Counter((name, *sizes[1][name]) for name in common)
        mine["item offsets"] = Counter((name, *places[name]) for name in common)
    return str(path), mine, theirs, seconds, differences


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", nargs="*")
    parser.add_argument("--differences", type=int, default=1_000)
    asked = parser.parse_args()
    if shutil.which("cobc") is None or "PENSTOCK_DATA" not in os.environ:
        sys.exit("needs cobc (Debian package gnucobol3) and PENSTOCK_DATA")
    data = Path(os.environ["PENSTOCK_DATA"]) / "cobol"
    nist = data / "proleap/src/test/resources/gov/nist"
    differences: list[str] = []
    print("| corpus | files | what | theirs | penstock | precision | recall |\n|---|---:|---|---:|---:|---:|---:|")
    for name, paths in corpora(data).items():
        if not paths or (asked.corpus and name not in asked.corpus):
            continue
        is_nist = name.startswith("nist")
        root = nist if is_nist else data / name
        copies = [str(path) for path in root.glob("K*.CBL")] if is_nist else copybooks(paths, root)
        both: Counter[str] = Counter()
        mine: Counter[str] = Counter()
        theirs: Counter[str] = Counter()
        files: Counter[str] = Counter()
        total = slowest = 0.0
        with ProcessPoolExecutor(WORKERS) as pool:
            for path, said, other, seconds, odd in pool.map(compare, [(str(path), copies) for path in paths]):
                total += seconds
                slowest = max(slowest, seconds)
                differences += odd
                for kind, rows in other.items():
                    here = said.get(kind, Counter())
                    both[kind] += (rows & here).total()
                    mine[kind] += here.total()
                    theirs[kind] += rows.total()
                    files[kind] += 1
                    for who, these in (("ours", here - rows), ("theirs", rows - here)):
                        rows_ = sorted(map(str, these.elements()))
                        differences += [f"{name} {kind} {Path(path).name} only {who}: {row}" for row in rows_]
        for kind in sorted(theirs):
            if theirs[kind] or mine[kind]:
                precision, recall = both[kind] / (mine[kind] or 1), both[kind] / (theirs[kind] or 1)
                counts = f"{theirs[kind]} | {mine[kind]} | {precision:.4f} | {recall:.4f}"
                print(f"| {name} | {files[kind]} | {kind} | {counts} |", flush=True)
        print(f"| {name} | {len(paths)} | seconds, of one file at most | {total:.2f} | {slowest:.2f} | | |", flush=True)
    print(f"\n{len(differences)} differences\n")
    print("\n".join(differences[: asked.differences]))


if __name__ == "__main__":
    main()
