"""How fast is a COBOL source scanned, in CPU seconds (user + system, the best of several runs)? Ours and the peers, in one run.

Prints a Markdown table over the corpora below PENSTOCK_DATA and over a generated source: our scanner and our outline; the lower
limit of any scanner in this language (decoding, splitting into lines and joining them); universal-ctags, Pygments, cobol-parser and
GnuCOBOL's compiler, each if it is installed. `paragraphs` is the number that a reader names.
Quote the ratios, not the absolutes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol import scan
from penstock.outline import outline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE_BYTES = 5_000_000
RUNS = 5


def generated() -> bytes:
    """Programs of about 4,000 lines in fixed format, with sequence numbers: a third data, CICS and nested branches."""
    lines: list[str] = []

    def add(code: str) -> None:
        lines.append(f"{len(lines) * 10 % 1_000_000:06d} {code:<65}GEN00001")

    program = 0
    while len(lines) * 81 < SOURCE_BYTES:
        program += 1
        add("IDENTIFICATION DIVISION.")
        add(f"PROGRAM-ID. GEN{program:05d}.")
        add("DATA DIVISION.")
        add("WORKING-STORAGE SECTION.")
        for group in range(250):
            add(f"01  WS-GROUP-{group}.")
            for item in range(4):
                add(f"    05  WS-FIELD-{group}-{item}     PIC X(10) VALUE 'A. B'.")
        add("PROCEDURE DIVISION.")
        for paragraph in range(250):
            lines.append(f"{0:06d}*{'-' * 60}")
            add(f"{paragraph:04d}-STEP.")
            add(f"    IF WS-FIELD-{paragraph}-0 = SPACES")
            add(f"        MOVE 'X' TO WS-FIELD-{paragraph}-1")
            add("    ELSE")
            add(f"        EVALUATE WS-FIELD-{paragraph}-2")
            add("            WHEN 'A' ADD 1 TO WS-COUNT")
            add(f"            WHEN OTHER PERFORM {(paragraph + 7) % 250:04d}-STEP")
            add("        END-EVALUATE")
            add("    END-IF.")
            add(f"    EXEC CICS READ FILE('F{paragraph}') INTO(WS-GROUP-{paragraph})")
            add("    END-EXEC.")
            add(f"    PERFORM {(paragraph + 1) % 250:04d}-STEP THRU {(paragraph + 1) % 250:04d}-STEP-EXIT.")
            add(f"{paragraph:04d}-STEP-EXIT.")
            add("    EXIT.")
        add(f"END PROGRAM GEN{program:05d}.")
    return ("\n".join(lines) + "\n").encode()


def corpora() -> dict[str, list[bytes]]:
    """The sources to read, by name."""
    found = {"generated, 5 MB": [generated()]}
    data = Path(os.environ.get("PENSTOCK_DATA", "/nowhere")) / "cobol"
    carddemo = [path for path in sorted((data / "carddemo").rglob("*")) if path.suffix.lower() == ".cbl"]
    nist = sorted((data / "proleap/src/test/resources/gov/nist").glob("*.CBL"))
    for name, paths in (("CardDemo", carddemo), ("NIST", nist)):
        if paths:
            found[name] = [path.read_bytes() for path in paths]
    return found


def cpu(work: Callable[[], int], *, children: bool = False, runs: int = RUNS) -> tuple[float, int]:
    """The least CPU seconds of several runs, and what was found."""
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    best, found = float("inf"), 0
    for _ in range(runs):
        before = resource.getrusage(who)
        found = work()
        after = resource.getrusage(who)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best, found


def scanned(sources: list[bytes]) -> int:
    """Programs with all their parts."""
    return sum(
        bool(paragraph.name) for source in sources for program in scan(source) for paragraph in program.paragraphs
    )


def outlined(sources: list[bytes]) -> int:
    """Landmarks alone."""
    symbols = (symbol for source in sources for symbol in outline(source, "cobol", exact=False).symbols)
    return sum(symbol.kind == "paragraph" for symbol in symbols)


def lines_alone(sources: list[bytes]) -> int:
    """The minimum for any scanner: decode, split, cut the columns, join."""
    for source in sources:
        "\n".join([line[7:72] for line in source.decode("latin-1").split("\n")])
    return 0


def tagged(sources: list[bytes]) -> int:
    """Tags of universal-ctags, one process for all files."""
    with written(sources) as paths:
        command = ["ctags", "--options=NONE", "--language-force=Cobol", "--kinds-Cobol=p", "-f", "-", *paths]
        return subprocess.run(command, capture_output=True, check=True).stdout.count(b"\n")


def highlighted(sources: list[bytes]) -> int:
    """Tokens of Pygments."""
    from pygments.lexers import CobolLexer  # type: ignore[import-not-found, import-untyped, unused-ignore]

    lexer = CobolLexer()
    for source in sources:
        for _ in lexer.get_tokens(source.decode("latin-1")):
            pass
    return 0


def parsed(sources: list[bytes]) -> int:
    """Trees of cobol-parser, with its compiled lexer."""
    os.environ["COBOLPARSER_ACCEL"] = "1"
    from cobolparser import parse_cobol  # type: ignore[import-not-found, unused-ignore]

    found = 0
    logging.disable()
    for source in sources:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = parse_cobol(source.decode("latin-1"), filename="source.cbl")
        procedures = result.ast.get_procedures() if result.success and result.ast is not None else ()
        found += sum(type(one).__name__ == "CobolParagraph" for one in procedures)
    return found


def compiled(sources: list[bytes]) -> int:
    """A compiler's parse, its start included."""
    with written(sources) as paths:
        for path in paths:
            command = ["cobc", "-fsyntax-only", "-w", "-std=ibm", "-fixed", "-fmax-errors=9999", path]
            subprocess.run(command, capture_output=True, check=False)
    return 0


@contextlib.contextmanager
def written(sources: list[bytes]) -> Iterator[list[str]]:
    """The sources as files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.cbl" for number in range(len(sources))]
        for path, source in zip(paths, sources, strict=True):
            path.write_bytes(source)
        yield list(map(str, paths))


class Reader(NamedTuple):
    """A measured reader; `runs` are fewer if one takes long."""

    name: str
    read: Callable[[list[bytes]], int]
    is_there: bool = True
    children: bool = False
    runs: int = RUNS


def readers() -> list[Reader]:
    """Ours, and the peers that are installed."""
    return [
        Reader("penstock.cobol.scan", scanned),
        Reader("penstock.outline", outlined),
        Reader("lines alone", lines_alone),
        Reader("universal-ctags", tagged, shutil.which("ctags") is not None, children=True),
        Reader("Pygments", highlighted, importlib.util.find_spec("pygments") is not None, runs=1),
        Reader("cobol-parser", parsed, importlib.util.find_spec("cobolparser") is not None, runs=1),
        Reader("cobc -fsyntax-only", compiled, shutil.which("cobc") is not None, children=True, runs=1),
    ]


def main() -> None:
    """Print the table."""
    print(f"CPython {sys.version.split()[0]}; CPU seconds, best of {RUNS} runs, of slow peers one\n")
    print("| sources | MB | reader | MB/s | time, ours = 1 | paragraphs |\n|---|---:|---|---:|---:|---:|")
    for name, sources in corpora().items():
        size = sum(map(len, sources)) / 1e6
        ours = 0.0
        for reader in readers():
            if reader.is_there:
                seconds, found = cpu(
                    lambda sources=sources, read=reader.read: read(sources),  # type: ignore[misc]
                    children=reader.children,
                    runs=reader.runs,
                )
                ours = ours or seconds
                row = (name, f"{size:.1f}", reader.name, f"{size / seconds:.1f}", f"{seconds / ours:.2f}")
                print("|", " | ".join(row), "|", found or "", "|", flush=True)


if __name__ == "__main__":
    main()
