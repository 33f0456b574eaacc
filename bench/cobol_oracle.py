"""Do we read the same structure as GnuCOBOL's compiler, over corpora of real programs?

`cobc -C` writes each section, paragraph and statement with its line into the generated C. It compiles for another machine than most
of these programs were written for, so a shim makes them acceptable without moving a line: EXEC blocks become CONTINUE, missing
copybooks and names are invented. Code between >>IF and >>END-IF is compared as far as cobc compiles it: we read all of it. Prints a
Markdown table and writes every difference to a file.

Usage: PENSTOCK_DATA=... python bench/cobol_oracle.py [CORPUS ...] [--differences FILE]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from penstock.cobol import ScannedSource, scan
from penstock.cobol.verbs import MARKERS

ROUNDS = 12  # of inventing what is missing
WORKERS = 2
COBC_SECONDS = 120
KINDS = ("sections", "paragraphs", "performs", "gotos", "calls", "statements")
SUFFIXES = {".cbl", ".cob", ".cobol"}
COPY_SUFFIXES = {".cpy", ".cbl", ".cob", ".inc", ".dcl", ".copy", ""}

FIXED = [
    ["-std=ibm", "-fixed"],
    ["-std=ibm", "-fixed", "-ftab-width=4"],
    ["-std=ibm", "-fixed", "-fnot-reserved=COL"],
    ["-std=mf", "-fixed"],
    ["-std=default", "-fixed", "-frelax-syntax-checks"],
]
FREE = [["-std=default", "-frelax-syntax-checks", "-free"], ["-std=mf", "-free"]]

EIB = """
       01 EIB-STUB.
          05 EIBTIME PIC S9(7) COMP-3. 05 EIBDATE PIC S9(7) COMP-3.
          05 EIBTRNID PIC X(4). 05 EIBTASKN PIC S9(7) COMP-3.
          05 EIBTRMID PIC X(4). 05 EIBCPOSN PIC S9(4) COMP.
          05 EIBCALEN PIC S9(4) COMP. 05 EIBAID PIC X.
          05 EIBFN PIC X(2). 05 EIBRCODE PIC X(6). 05 EIBDS PIC X(8).
          05 EIBREQID PIC X(8). 05 EIBRSRCE PIC X(8).
          05 EIBRESP PIC S9(8) COMP. 05 EIBRESP2 PIC S9(8) COMP.
       01 SQL-STUB.
          05 SQLCODE PIC S9(9) COMP. 05 SQLSTATE PIC X(5).
          05 SQLERRM. 10 SQLERRML PIC S9(4) COMP. 10 SQLERRMC PIC X(70).
          05 SQLERRD PIC S9(9) COMP OCCURS 6. 05 SQLERRP PIC X(8).
          05 SQLWARN0 PIC X.
       01 DIB-STUB. 05 DIBSTAT PIC X(2). 05 DIBSEGLV PIC X(2).
"""

EXEC = re.compile(r"(?is)(?<![\w-])EXEC(?:UTE)?\s+(\w+)\s.*?END-EXEC(\s*\.)?")
INCLUDE = re.compile(r"(?is)EXEC\s+SQL\s+INCLUDE\s+([\w#@$-]+)\s+END-EXEC(\s*\.)?")
LONE = re.compile(r"\.( *+\n(?:(?:.{6}(?:\*.*+| *+)|.{0,5}+)\n)*+.{6} ++)\.(?=\s)")
"""A period after a period: from there on, cobc's line numbers are two too low."""
COMMENT_LINE = re.compile(r"/\* Line: (\d+)\s*: (?:(Section|Paragraph|Entry)\s+)?(.+?)\s*: (.+?) \*/")
LINKED = re.compile(
    r"\s*(?:(?:b_\d+|ret|\(\*\(unsigned char \*\*\) \(.*?\)\)) = (?:\(void \*\))?)?"
    r"(?!(?:cob_(?!sys_)\w+|if|for|while|switch|mem\w+) \()\w+ \("
)
CONDITIONAL = re.compile(r"(?i)[^*>]*+(?:>>|\$)\s*+(?:(if)|(end-if|end))(?![\w-])")
PERFORMED = re.compile(r"/\* PERFORM (\S+)(?: THRU (\S+))? \*/")


@dataclass
class Compared:
    """The number of each kind, and the differences."""

    both: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    theirs: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    total: int = 0
    differences: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def corpora(data: Path) -> dict[str, list[Path]]:
    """The programs by corpus; NIST split into the families NC, IF, SQ and IC, and the others."""
    nist = data / "proleap/src/test/resources/gov/nist"
    found = {
        name: [path for path in sorted((data / name).rglob("*")) if path.suffix.lower() in SUFFIXES]
        for name in ("carddemo", "course", "check", "contrib")
        if (data / name).is_dir()
    }
    shown = ("NC", "IF", "SQ", "IC")
    found["nist NC IF SQ IC"] = sorted(path for path in nist.glob("*.CBL") if path.name[:2] in shown)
    found["nist others"] = sorted(path for path in nist.glob("*.CBL") if path.name[:2] not in shown)
    found["proleap"] = sorted(path for path in (data / "proleap").rglob("*.cbl") if "nist" not in path.parts)
    for more in sorted(data.glob("unseen/*")):
        found[more.name] = [path for path in sorted(more.rglob("*")) if path.suffix.lower() in SUFFIXES]
    return found


def shimmed(text: str, *, copybook: bool = False) -> str:
    """Fixed-format mainframe source made acceptable to cobc, line for line."""
    text = without_comments("\n".join(mended(line) for line in text.split("\n")))
    text = INCLUDE.sub(lambda block: padded(f"COPY {block[1]}.", block[0]), text)
    procedure = re.search(r"(?im)^.{6} {1,4}PROCEDURE\s+DIVISION", text)
    declares = re.search(r"(?m)^.{6} +(?:0?[1-9]|[1-4]\d) ", text)
    begins = procedure.start() if procedure else 0 if copybook and not declares else len(text)

    def blank(block: re.Match[str]) -> str:
        if block.start() < begins:
            return padded("", block[0])
        return padded("CONTINUE" + ("." if block[2] else ""), block[0])

    text = EXEC.sub(blank, text)
    text = re.sub(r"(?i)(?:DFHRESP|DFHVALUE)\s*\(\s*\w+\s*\)", lambda found: padded("0", found[0]), text)
    text = re.sub(r"XXXXX084", "STANDARD", text)
    text = re.sub(r"(?im)^(.{7} *PROGRAM-ID\.? +[\w-]+) *$", r"\1.", text)
    if not copybook:
        text = re.sub(r"(?im)^(.{6} {1,4}WORKING-STORAGE\s+SECTION\s*\.)", r"\1 COPY EIB-STUB.", text, count=1)
    return LONE.sub(lambda lone: lone[0] if is_copied(text, lone.start()) else f".{lone[1]} ", text)


def is_copied(text: str, period: int) -> bool:
    """Whether a period ends a COPY, so that another one ends the sentence."""
    return re.search(r"(?i)(?<![\w-])COPY\s", text[text.rfind(".", 0, period) + 1 : period]) is not None


def without_comments(text: str) -> str:
    """Comment lines emptied, so that an EXEC mentioned in one is not taken for a block."""
    return "\n".join(line[:6] + "*" if line[6:7] in {"*", "/"} else line for line in text.split("\n"))


def mended(line: str) -> str:
    """One line, cut to its columns, with nothing in column 7 that cobc does not know."""
    line = line.rstrip("\r")
    if re.match(r"(?i) {0,7}(?:CBL|PROCESS)\s", line):
        return "      *"
    if "\t" in line:  # written in an editor: tab stops of eight if that fits
        line = min((line.expandtabs(8), line.expandtabs(4)), key=lambda expanded: len(expanded.rstrip()) > 72)
    else:
        line = line[:72]
    if line[6:7] not in {"", " ", "*", "-", "/", "D", "d", "$", ">"}:
        line = line[:6] + "*" + line[7:]
    if re.match(r"(?i).{6} +(?:EJECT|SKIP[123])\s*\.?\s*$", line) or re.match(r"(?i).{6} +TITLE\s+['\"].*$", line):
        return "      *"
    return line


def padded(text: str, block: str) -> str:
    """`text` in place of a block, with the block's number of lines."""
    first, *rest = block.split("\n")
    return "\n".join([text.ljust(len(first)), *("" for _ in rest)])


class Stubs:
    """What the shim invents: copybooks and data items that cannot be found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.missing: set[str] = set()  # the invented copybooks
        self.items: dict[str, str] = {}
        self.groups: dict[str, dict[str, str]] = {}
        self.write()

    def write(self) -> None:
        """The copybook that is appended to WORKING-STORAGE."""
        lines = [EIB]
        lines += [f"       01 {name} PIC {picture}." for name, picture in self.items.items()]
        for group, members in self.groups.items():
            lines.append(f"       01 {group}.")
            lines += [f"          05 {name} PIC {picture}." for name, picture in members.items()]
        (self.folder / "EIB-STUB").write_text("\n".join(lines) + "\n")

    def learn(self, errors: str, source: str) -> bool:
        """Invent what errors report as missing; return whether there was anything new."""
        before = self.known()
        for name in re.findall(r"error: ([\w#@$.-]+): No such file or directory", errors):
            (self.folder / name.upper()).write_text("")
            self.missing.add(name.upper())
        for line in re.findall(
            r"source\.cbl:(\d+): error: PICTURE clause required", errors
        ):  # a group whose items are missing
            for name in re.findall(
                r"(?i)COPY\s+([\w#@$-]+)", "\n".join(source.split("\n")[int(line) - 1 : int(line) + 4])
            ):
                if name.upper() in self.missing:
                    (self.folder / name.upper()).write_text("           10 FILLER PIC X(80).\n")
        for name, group in re.findall(r"error: '([\w-]+) (?:IN|in) ([\w-]+)' is not defined", errors):
            self.groups.setdefault(group.upper(), {})[name.upper()] = "X(80)"
        for name in re.findall(r"error: '([\w-]+)' is not defined", errors):
            if not re.search(rf"(?im)^.{{6}} +\d\d? +{re.escape(name)}(?![\w-])", source):
                self.items.setdefault(name.upper(), "X(80)")
        for name in re.findall(r"error: '([\w-]+)'.* is not (?:a )?numeric", errors):
            for known in (self.items, *self.groups.values()):
                if name.upper() in known:
                    known[name.upper()] = "S9(8)"
        self.write()
        return before != self.known()

    def known(self) -> str:
        """Everything that is invented."""
        return "".join(
            path.read_text("latin-1")
            for path in sorted(self.folder.iterdir())
            if path.name in {"EIB-STUB", *self.missing}
        )


def compiled(path: Path, copies: list[Path], *, is_free: bool) -> tuple[str | None, str]:
    """The C that cobc generates for a program, or None and the reason; the likely format is tried first."""
    raw = path.read_bytes().decode("latin-1")
    why = ""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        stubs = folder / "copy"
        stubs.mkdir()
        for copy in copies:
            target = stubs / copy.stem.upper()
            if not target.exists() or copy.suffix.lower() == ".cpy":
                target.write_text(shimmed(copy.read_bytes().decode("latin-1"), copybook=True), "latin-1")
        made = Stubs(stubs)
        plain = folder / "plain"
        plain.mkdir()
        for options in FREE + FIXED if is_free else FIXED + FREE:
            free = "-free" in options
            source = folder / "source.cbl"
            source.write_text(raw if free else shimmed(raw), "latin-1")
            where = (
                [f"-I{path.parent}", *sorted({f"-I{copy.parent}" for copy in copies})]
                if free
                else [f"-I{stubs}", "-ffold-copy=UPPER"]
            )
            for _ in range(ROUNDS):
                command = [
                    "nice",
                    "cobc",
                    "-C",
                    "-ftraceall",
                    "-fno-remove-unreachable",
                    "-fmax-errors=2000",
                    "-w",
                    *options,
                    *where,
                ]
                try:
                    done = subprocess.run(
                        [*command, "-o", "x.c", "source.cbl"],
                        cwd=folder,
                        capture_output=True,
                        text=True,
                        timeout=COBC_SECONDS,
                        check=False,
                        errors="replace",
                    )
                except subprocess.TimeoutExpired:
                    why = "time"
                    break
                if done.returncode == 0 and (folder / "x.c").exists():
                    return (folder / "x.c").read_text("latin-1"), " ".join(options)
                if free or not made.learn(done.stderr, source.read_text("latin-1")):
                    why = why or done.stderr
                    break
    return None, why


NEAR = 4  # lines: after some periods, cobc counts two too few
UNNAMED = "?"
"""A runtime or linked function: the C does not say by which name it was called."""

Found = dict[str, Counter[tuple[int, str]]]


class Translation:
    """Reads cobc's generated C, row by row."""

    def __init__(self) -> None:
        self.found: Found = {kind: Counter() for kind in KINDS}
        self._labels: dict[str, str] = {}
        self._jumps: list[tuple[int, str]] = []
        self._line = 0
        self._verb = self._header = ""
        self._wanted = ""  # of the following rows: the first jump, all of them, the name of what is called

    def read(self, text: str) -> Found:
        """What all rows say."""
        for row in text.split("\n"):
            at = COMMENT_LINE.search(row)
            performed = PERFORMED.search(row)
            label = re.match(r"\s*l_(\d+):;", row)
            if at:
                self._part(at)
            elif performed and self._verb in {
                "PERFORM",
                "SORT",
                "MERGE",
                "XML PARSE",
            }:  # file errors run procedures too
                thru = f" THRU {performed[2]}" if performed[2] else ""
                self.found["performs"][self._line, (performed[1] + thru).upper()] += 1
            elif label and self._header:
                self._labels[label[1]] = self._header
            elif self._wanted == "name":
                self._called(row)
            elif self._wanted:
                self._jumped(row)
        for line, number in self._jumps:
            if number in self._labels:
                self.found["gotos"][line, self._labels[number]] += 1
        return self.found

    def _part(self, at: re.Match[str]) -> None:
        self._line, name = int(at[1]), at[3].upper()
        self._verb = self._header = self._wanted = ""
        here = Path(at[4]).name == "source.cbl" and self._line > 0
        if at[2] in {"Section", "Paragraph"}:
            self._header = name
            self.found["sections" if at[2] == "Section" else "paragraphs"][self._line, name] += here
        elif at[2] is None and here and name != "WHEN":
            self._verb = "SEARCH" if name == "SEARCH ALL" else name
            self.found["statements"][self._line, self._verb] += 1
            self._wanted = {"GO TO": "first jump", "CALL": "name"}.get(self._verb, "")

    def _jumped(self, row: str) -> None:
        jump = re.match(r"\s*goto l_(\d+);", row)
        if jump:
            self._jumps.append((self._line, jump[1]))
        if "switch (" in row:
            self._wanted = "all jumps"
        elif (jump and self._wanted == "first jump") or row.strip() == "}":
            self._wanted = ""

    def _called(self, row: str) -> None:
        called = re.search(r"cob_resolve_cobol \(\"([^\"]+)\"|\.funcint = (\w+?)_\d+__;", row)
        if called:
            self.found["calls"][self._line, (called[1] or called[2].replace("__", "-")).upper()] += 1
        elif LINKED.match(row):
            self.found["calls"][self._line, UNNAMED] += 1
        elif "cob_call_field" not in row:
            return
        self._wanted = ""


def of_penstock(source: ScannedSource) -> Found:
    """Our reading, with paragraphs at the line of their period, as in cobc's."""
    found: Found = {kind: Counter() for kind in KINDS}
    for program in source:
        for section in program.sections:
            found["sections"][section.line, section.name.upper()] += 1
        for paragraph in program.paragraphs:
            if paragraph.name:
                found["paragraphs"][period_line(source, paragraph.line, paragraph.name), paragraph.name.upper()] += 1
        for perform in program.performs:
            if perform.via in {"PERFORM", "SORT", "MERGE"}:
                thru = (
                    f" THRU {perform.thru.upper()}"
                    if perform.thru and perform.thru.upper() != perform.target.upper()
                    else ""
                )
                found["performs"][perform.line, perform.target.upper() + thru] += 1
        for goto in program.gotos:
            if goto.via == "GO TO":
                for target in goto.targets:
                    found["gotos"][goto.line, target.upper()] += 1
        for call in program.calls:
            if call.kind == "static":
                found["calls"][call.line, call.target.upper()] += 1
        for statement in program.statements:
            included = statement.verb == "EXEC SQL" and any(copy.line == statement.line for copy in program.copies)
            if statement.verb not in MARKERS and statement.verb != "USE" and not included:  # cobc does not report USE
                verb = "CONTINUE" if statement.verb.startswith("EXEC") else statement.verb.upper()  # as in the shim
                found["statements"][statement.line, "INITIALIZE" if verb == "INITIALISE" else verb] += 1
    return found


def period_line(source: ScannedSource, line: int, name: str) -> int:
    """The end of the header whose name is on a line."""
    words = source.words(source.starts[line - 1], source.starts[min(line + 5, source.lines) - 1] + 80)
    at = next((n for n, word in enumerate(words) if word.text.upper() == name.upper()), 0)
    return next((word.line for word in words[at:] if word.kind == "period"), line)


def compare(job: tuple[str, list[str]]) -> tuple[str, Found | None, Found, str]:
    """One program, read by both."""
    path, copies = job
    source = scan(Path(path).read_bytes())
    text, how = compiled(Path(path), [Path(copy) for copy in copies], is_free=source.format == "free")
    ours = of_penstock(source)
    if text is None:
        return path, None, ours, how
    theirs = Translation().read(text)
    unname(ours["calls"], theirs["calls"])
    optional = conditional(source)
    for kind in KINDS:
        renumber(source, ours[kind], theirs[kind], optional)
        for line, name in ours[kind] - theirs[kind]:
            if line in optional:
                ours[kind][line, name] = theirs[kind][line, name]
    return path, theirs, ours, how


def unname(ours: Counter[tuple[int, str]], theirs: Counter[tuple[int, str]]) -> None:
    """Match each call whose name the C does not say to the nearest of ours without a counterpart."""
    for line, _ in sorted(call for call in theirs.elements() if call[1] == UNNAMED):
        near = [(abs(at - line), at, name) for at, name in ours - theirs if name != UNNAMED and abs(at - line) <= NEAR]
        if near:
            _, at, name = min(near)
            ours[at, name] -= 1
            ours[at, UNNAMED] += 1
            theirs[line, UNNAMED] -= 1
            theirs[at, UNNAMED] += 1


def conditional(source: ScannedSource) -> set[int]:
    """The lines whose compilation depends on a directive."""
    found: set[int] = set()
    depth = 0
    for line in range(1, source.lines + 1):
        directive = CONDITIONAL.match(source.text(line, line)) if source.kinds[line - 1] == "directive" else None
        if directive:
            depth = max(0, depth + (1 if directive[1] else -1))
        if depth:
            found.add(line)
    return found


def renumber(
    source: ScannedSource, ours: Counter[tuple[int, str]], theirs: Counter[tuple[int, str]], optional: set[int]
) -> None:
    """Correct cobc's lines: if its line for an item does not contain it, and ours does, the source is right.

    cobc counts wrongly after some continued words, doubled periods and REPLACE, and places verbs without operands at the next
    token.
    """
    waiting: dict[str, list[int]] = {}
    for line, name in sorted((theirs - ours).elements()):
        waiting.setdefault(name, []).append(line)
    for _, line, name in sorted((line in optional, line, name) for line, name in (ours - theirs).elements()):
        if waiting.get(name) and said(source, line, name, letters=3):  # the rest may be on the next line
            at = min(waiting[name], key=lambda other: abs(other - line))
            if not said(source, at, name):
                waiting[name].remove(at)
                theirs[at, name] -= 1
                theirs[line, name] += 1


def said(source: ScannedSource, line: int, name: str, *, letters: int | None = None) -> bool:
    """Whether a name, or its first letters, is in the code of a line."""
    if not 0 < line <= source.lines:
        return False
    code = source.code[source.starts[line - 1] : source.starts[line] if line < source.lines else None].upper()
    word = name.split(maxsplit=1)[0]
    whole = "" if letters else r"(?![\w-])"
    return re.search(rf"(?<![\w-]){re.escape(word[:letters])}{whole}", code) is not None


def copybooks(paths: list[Path], root: Path) -> list[str]:
    """The files that one of these programs may copy."""
    folders = {path.parent for path in paths}
    nearby = [
        path
        for path in root.rglob("*")
        if path.suffix.lower() in COPY_SUFFIXES and path.is_file() and "nist" not in path.parts
    ]
    return [
        str(path)
        for path in nearby
        if path.suffix.lower() in {".cpy", ".dcl", ".inc", ".copy"} or path.parent not in folders
    ]


def run(name: str, paths: list[Path], root: Path) -> Compared:
    """One corpus."""
    result = Compared(total=len(paths))
    copies = copybooks(paths, root) if not name.startswith("nist") else [str(path) for path in root.glob("K*.CBL")]
    with ProcessPoolExecutor(WORKERS) as pool:
        for path, theirs, ours, how in pool.map(compare, [(str(path), copies) for path in paths]):
            if theirs is None:
                first = next((line for line in how.split("\n") if "error" in line), how[:100])
                result.rejected.append(f"{Path(path).relative_to(root)}: {first}")
                continue
            result.accepted += 1
            for kind in KINDS:
                result.both[kind] += (ours[kind] & theirs[kind]).total()
                result.ours[kind] += ours[kind].total()
                result.theirs[kind] += theirs[kind].total()
                for who, these in (("ours", ours[kind] - theirs[kind]), ("theirs", theirs[kind] - ours[kind])):
                    result.differences += [
                        f"{kind} {Path(path).relative_to(root)}:{line} only {who}: {what}"
                        for line, what in sorted(these.elements())
                    ]
    return result


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", nargs="*")
    parser.add_argument("--differences", type=Path, default=Path("cobol_differences.txt"), help="the file for them")
    asked = parser.parse_args()
    if shutil.which("cobc") is None or "PENSTOCK_DATA" not in os.environ:
        sys.exit("needs cobc (Debian package gnucobol3) and PENSTOCK_DATA")
    asked.differences.write_text("")
    data = Path(os.environ["PENSTOCK_DATA"]) / "cobol"
    roots = {"proleap": data / "proleap", "nist NC IF SQ IC": data / "proleap/src/test/resources/gov/nist"}
    roots["nist others"] = roots["nist NC IF SQ IC"]
    print("| corpus | accepted | kind | cobc | penstock | precision | recall |\n|---|---|---|---:|---:|---:|---:|")
    for name, paths in corpora(data).items():
        if asked.corpus and name not in asked.corpus:
            continue
        root = roots.get(name) or (data / name if (data / name).is_dir() else data / "unseen" / name)
        result = run(name, paths, root)
        for kind in KINDS:
            both, ours, theirs = result.both[kind], result.ours[kind], result.theirs[kind]
            scores = f"{both / (ours or 1):.4f} | {both / (theirs or 1):.4f}"
            print(
                f"| {name} | {result.accepted}/{result.total} | {kind} | {theirs} | {ours} | {scores} |",
                flush=True,
            )
        with asked.differences.open("a") as report:
            report.writelines(f"{name}: {difference}\n" for difference in result.differences)
            report.writelines(f"{name}: rejected {rejected}\n" for rejected in result.rejected)


if __name__ == "__main__":
    main()
