"""What do COBOL chunks cut, what do they keep together, and how long do they take? Ours next to other splitters, in one run.

    PENSTOCK_DATA=... python -m bench.cobol_chunks [--tokens 8000] [--programs N] [--no-speed]

Peers: langchain-text-splitters, semantic-text-splitter and chonkie; those that are not installed are left out and named. Run it
with an interpreter that has them and `penstock[exact]`. Tokens are those of o200k, of the text in the file; every peer that takes a
counter gets the same exact one. Ours twice: clusters of the call graph, and chunks in the order of the file. For comparison: fixed
lines and characters, paragraphs packed greedily in their order, and the best result of cutting into as many consecutive chunks (by
dynamic programming).

over: chunks above the budget. calls: the number of chunks relative to the smallest possible, the mean over programs. S1: cuts at
the start of a division, section, paragraph, or of a file, a section or level 01 of the data, the comments before it included. S2:
cuts after the end of a sentence or entry. kept: PERFORMs whose whole range is in the caller's chunk; those of a chunk above the
budget do not count. exact: whether the chunks, joined, are the file. Speed is processor time, the best of three runs: of all
programs, and of 5 MB of generated ones.

The last table is the estimator (C-1): the upper bound for windows of 100 lines and for whole programs, relative to the real count.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import time
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.outline import cobol_source, python_source

from penstock.chunk import chunk, plan
from penstock.chunk.cutting import Cuts, Sizes
from penstock.chunk.units import UnitLayout
from penstock.cobol import scan
from penstock.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.cobol import ScannedSource

CARDDEMO = ("COACTUPC", "COACTVWC", "COTRTLIC", "COTRTUPC")
NIST = ("NC", "IF", "SQ", "IC")
LARGEST_NIST = 6
LINES, CHARS_PER_TOKEN = 500, 4
_RUNS = 3
_WINDOW = 100

Span = tuple[int, int]


class Text(NamedTuple):
    """A program, and facts about it that do not depend on how it is cut."""

    name: str
    text: str
    source: ScannedSource
    layout: UnitLayout
    starts: tuple[int, ...]  # where each line begins
    lines: list[int]  # the tokens of each
    semantic: frozenset[int]
    ends: frozenset[int]  # lines after which a cut splits no sentence and no entry


class Cut(NamedTuple):
    """Chunks as spans of characters in the text, and whether they cover it."""

    chunks: list[list[Span]]
    exact: bool


class Score(NamedTuple):
    """A method's results on one program."""

    chunks: int
    over: int
    calls: float
    semantic: float
    sentences: float
    kept: float
    spans: int
    exact: bool


def counted(texts: Iterable[str]) -> list[int]:
    """Exact tokens."""
    counter = tokens._counter("o200k")
    if counter is None:
        raise SystemExit("exact counts need penstock[exact]")
    return counter(list(texts))


def one(text: str) -> int:
    """Exact tokens of one text: the counter for splitters."""
    return counted([text])[0]


# --- programs ------------------------------------------------------------------------------------


def read(path: Path) -> Text:
    """A program with everything that scores need."""
    data = path.read_bytes()
    source = scan(data)
    text = data.decode("latin-1")
    lines = (
        text.splitlines(keepends=True)
        if "\r" not in text
        else [line + "\n" for line in text.split("\n")][: source.lines]
    )
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    layout = UnitLayout(source)
    semantic = {unit.first for unit in layout.units} | {1}
    for first in list(semantic):
        following = first
        while following < source.lines and source.kinds[following - 1] in {"comment", "blank", "directive"}:
            following += 1
            semantic.add(following)
    ends = {0}
    for number in range(1, source.lines + 1):
        code = source.code[
            source.starts[number - 1] : source.starts[number] if number < source.lines else None
        ].rstrip()
        if not code:
            ends |= {number} if number - 1 in ends else set()
        elif code.endswith("."):
            ends.add(number)
    return Text(
        path.stem, text, source, layout, tuple(starts[:-1]), counted(lines), frozenset(semantic), frozenset(ends)
    )


def programs(folder: Path, most: int | None) -> list[Text]:
    """Those that the targets name: CardDemo's, and the largest of NIST's families."""
    found = {path.stem.upper(): path for path in sorted(folder.rglob("*")) if path.suffix.lower() in {".cbl", ".cob"}}
    nist = sorted(
        (path for name, path in found.items() if "nist" in path.parts and name.startswith(NIST)),
        key=lambda path: -path.stat().st_size,
    )
    chosen = [found[name] for name in CARDDEMO if name in found] + nist[:LARGEST_NIST]
    return [read(path) for path in chosen[:most]]


# --- methods -------------------------------------------------------------------------------------


def by_lines(program: Text, spans: Iterable[Sequence[Span]]) -> Cut:
    """Chunks given as lines."""
    edges = [*program.starts, len(program.text)]
    return Cut([[(edges[first - 1], edges[last]) for first, last in inside] for inside in spans], exact=True)


def ours(program: Text, budget: int) -> Cut:
    """Call-graph clusters."""
    return by_lines(program, [made.spans for made in plan(program.source, source_tokens=budget).chunks])


def in_order(program: Text, budget: int) -> Cut:
    """Consecutive chunks."""
    return by_lines(program, [made.spans for made in chunk(program.source.data, "cobol", budget, consecutive=True)])


def found_in_order(program: Text, pieces: Iterable[str]) -> Cut:
    """Pieces of the text, located one after another."""
    made: list[list[Span]] = []
    at = 0
    exact = True
    for piece in pieces:
        start = program.text.find(piece, max(0, at - len(piece)))
        exact = exact and start == at
        made.append([(start, start + len(piece))])
        at = start + len(piece)
    return Cut(made, exact and at == len(program.text))


def langchain(program: Text, budget: int, *, chars: int | None = None) -> Cut:
    """LangChain's separators for COBOL, sizes in tokens or characters, no overlap."""
    peer = importlib.import_module("langchain_text_splitters")
    splitter = peer.RecursiveCharacterTextSplitter.from_language(
        peer.Language.COBOL, chunk_size=chars or budget, chunk_overlap=0, length_function=len if chars else one
    )
    return found_in_order(program, splitter.split_text(program.text))


def semantic_text_splitter(program: Text, budget: int) -> Cut:
    """Its text splitter, with our counter."""
    splitter = importlib.import_module("semantic_text_splitter").TextSplitter
    return found_in_order(program, splitter.from_callback(one, budget, trim=False).chunks(program.text))


def chonkie(program: Text, budget: int) -> Cut:
    """Its recursive chunker, with our counter."""
    chunker = importlib.import_module("chonkie").RecursiveChunker(tokenizer=one, chunk_size=budget)
    return found_in_order(program, (made.text for made in chunker.chunk(program.text)))


def fixed_lines(program: Text, _budget: int) -> Cut:
    """Every 500 lines."""
    last = program.source.lines
    return by_lines(program, [[(first, min(last, first + LINES - 1))] for first in range(1, last + 1, LINES)])


def fixed_chars(program: Text, budget: int) -> Cut:
    """A fixed number of characters, at four per token."""
    size = budget * CHARS_PER_TOKEN
    return Cut([[(at, min(at + size, len(program.text)))] for at in range(0, len(program.text), size)], exact=True)


def pieces_of(program: Text, budget: int) -> tuple[list[Span], Sizes]:
    """Our units, oversized ones cut as ours are: the input of consecutive methods."""
    sizes = Sizes(program.lines)
    cuts = Cuts(program.layout.ranks())
    return [span for unit in program.layout.units for span in cuts.pieces(unit.first, unit.last, sizes, budget)], sizes


def greedy(program: Text, budget: int) -> Cut:
    """Paragraphs in their order, with a new chunk if the next does not fit."""
    pieces, sizes = pieces_of(program, budget)
    made: list[list[Span]] = [[pieces[0]]]
    for first, last in pieces[1:]:
        if sizes.of(made[-1][0][0], last) > budget:
            made.append([])
        made[-1].append((first, last))
    return by_lines(program, [[(inside[0][0], inside[-1][1])] for inside in made])


def contiguous_optimum(program: Text, budget: int) -> Cut:
    """The cut that keeps most PERFORMs, into as many consecutive chunks as greedy packing makes."""
    pieces, sizes = pieces_of(program, budget)
    firsts = [first for first, _ in pieces]
    many = len(greedy(program, budget).chunks)
    by_last: dict[int, list[int]] = {}
    for edge in program.layout.edges:
        if edge.is_perform:
            ends = [bisect_right(firsts, line) - 1 for line in (edge.line, edge.first, edge.last)]
            by_last.setdefault(max(ends), []).append(min(ends))
    best: list[dict[int, tuple[int, int]]] = [
        {0: (0, -1)}
    ]  # by number of chunks: where they end, what is kept, where the last begins
    for _ in range(many):
        reached: dict[int, tuple[int, int]] = {}
        for start, (sofar, _) in best[-1].items():
            kept = 0
            for end in range(start, len(pieces)):
                if sizes.of(pieces[start][0], pieces[end][1]) > budget and end > start:
                    break
                kept += sum(low >= start for low in by_last.get(end, ()))
                if end + 1 not in reached or reached[end + 1][0] < sofar + kept:
                    reached[end + 1] = (sofar + kept, start)
        best.append(reached)
    end = len(pieces)
    made: list[list[Span]] = []
    for row in reversed(best[1:]):
        start = row[end][1]
        made.append([(pieces[start][0], pieces[end - 1][1])])
        end = start
    return by_lines(program, reversed(made))


METHODS: dict[str, tuple[str | None, Callable[[Text, int], Cut]]] = {
    "ours: plan, call-graph clusters": (None, ours),
    "ours: chunk, consecutive": (None, in_order),
    "greedy paragraph packing": (None, greedy),
    "contiguous optimum (DP), as many chunks": (None, contiguous_optimum),
    "langchain COBOL, tokens": ("langchain_text_splitters", langchain),
    "langchain COBOL, 4 chars a token": (
        "langchain_text_splitters",
        lambda program, budget: langchain(program, budget, chars=budget * CHARS_PER_TOKEN),
    ),
    "semantic-text-splitter, tokens": ("semantic_text_splitter", semantic_text_splitter),
    "chonkie recursive, tokens": ("chonkie", chonkie),
    "fixed 500 lines": (None, fixed_lines),
    "fixed, 4 chars a token": (None, fixed_chars),
}


# --- scores --------------------------------------------------------------------------------------


def score(program: Text, cut: Cut, budget: int) -> Score:
    """The scores of a cut."""
    sizes = counted("".join(program.text[start:end] for start, end in inside) for inside in cut.chunks)
    over = {at for at, size in enumerate(sizes) if size > budget}
    spans = sorted((start, end, at) for at, inside in enumerate(cut.chunks) for start, end in inside)
    begins = [start for start, _, _ in spans]
    cuts = [start for start in begins if start > 0]
    lines = [bisect_right(program.starts, start) for start in cuts]
    clean = [line if program.starts[line - 1] == start else 0 for line, start in zip(lines, cuts, strict=True)]

    def chunk_of(line: int) -> int:
        return spans[max(0, bisect_right(begins, program.starts[line - 1]) - 1)][2]

    performs = [edge for edge in program.layout.edges if edge.is_perform]
    units = program.layout.units
    kept = 0
    for edge in performs:
        last = units[program.layout.unit_at(edge.last)].last
        inside = {chunk_of(line) for line in (edge.line, *range(edge.first, last + 1))}
        kept += len(inside) == 1 and not inside & over
    least = max(1, -(-sum(program.lines) // budget))
    return Score(
        len(cut.chunks),
        len(over),
        len(cut.chunks) / least,
        sum(line in program.semantic for line in clean) / max(1, len(cuts)),
        sum(line > 0 and line - 1 in program.ends for line in clean) / max(1, len(cuts)),
        kept / max(1, len(performs)),
        len(spans),
        cut.exact,
    )


def seconds(work: Callable[[], object]) -> float:
    """Processor time, the best of some runs."""
    best = float("inf")
    for _ in range(_RUNS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def quality(found: Sequence[Text], budget: int) -> None:
    """The table of all methods over all programs, and ours program by program."""
    print(
        f"{len(found)} programs, {sum(map(len, (p.text for p in found)))} characters, chunks of {budget} tokens of source\n"
    )
    print("| method | chunks | over | calls | S1 | S2 | kept, mean | spans | exact | ms | MB/s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, (module, method) in METHODS.items():
        if module is not None and importlib.util.find_spec(module) is None:
            print(f"| {name} | not installed | | | | | | | | | |")
            continue
        scores = [score(program, method(program, budget), budget) for program in found]
        took = seconds(lambda method=method: [method(program, budget) for program in found])  # type: ignore[misc]
        if method is ours:  # it gets the scanned program
            took += seconds(lambda: [scan(program.source.data) for program in found])
        size = sum(len(program.text) for program in found)
        mean = [f"{statistics.fmean(column):.3f}" for column in zip(*(s[2:6] for s in scores), strict=True)]
        cells: list[object] = [name, sum(s.chunks for s in scores), sum(s.over for s in scores), *mean]
        cells += [sum(s.spans for s in scores), "yes" if all(s.exact for s in scores) else "no"]
        cells += [f"{took * 1000:.0f}", f"{size / took / 1e6:.1f}"]
        print("| " + " | ".join(map(str, cells)) + " |")
    print("\n| program | tokens | chunks, least | S1 | S2 | kept: ours | greedy | contiguous optimum |")
    print("|---|---|---|---|---|---|---|---|")
    for program in found:
        mine, packed, best = (
            score(program, method(program, budget), budget) for method in (ours, greedy, contiguous_optimum)
        )
        least = -(-sum(program.lines) // budget)
        print(
            f"| {program.name} | {sum(program.lines)} | {mine.chunks}, {least} | {mine.semantic:.3f} | {mine.sentences:.3f} "
            f"| {mine.kept:.2f} | {packed.kept:.2f} | {best.kept:.2f} |"
        )
    print()


def speed() -> None:
    """5 MB of COBOL and of Python in chunks of 2,000 tokens, counted exactly by the same counter."""
    print("| 5 MB in chunks of 2,000 tokens | COBOL MB/s | Python MB/s |\n|---|---|---|")
    sources = (cobol_source(), python_source())
    one("the vocabulary is loaded")
    rows: list[tuple[str, str | None, Callable[[bytes, str], object]]] = [
        (
            "ours: chunk, call-graph clusters",
            None,
            lambda data, language: chunk(data, language, 2000, consecutive=False),
        ),
        ("ours: chunk, consecutive", None, lambda data, language: chunk(data, language, 2000, consecutive=True)),
        ("semantic-text-splitter", "semantic_text_splitter", lambda data, _: _semantic(data)),
        (
            "semantic-text-splitter, its own tokenizer",
            "semantic_text_splitter",
            lambda data, _: _semantic(data, "gpt-4o"),
        ),
        ("chonkie recursive", "chonkie", lambda data, _: _chonkie(data)),
    ]
    for name, module, work in rows:
        if module is not None and importlib.util.find_spec(module) is None:
            print(f"| {name} | not installed | |")
            continue
        cells = []
        for data, language in zip(sources, ("cobol", "python"), strict=True):
            took = seconds(lambda data=data, language=language, work=work: work(data, language))  # type: ignore[misc]
            cells.append(f"{len(data) / took / 1e6:.1f}")
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)
    print()


def _semantic(data: bytes, model: str | None = None) -> object:
    peer = importlib.import_module("semantic_text_splitter").TextSplitter
    splitter = peer.from_tiktoken_model(model, 2000) if model else peer.from_callback(one, 2000)
    return splitter.chunks(data.decode("utf-8", "replace"))


def _chonkie(data: bytes) -> object:
    chunker = importlib.import_module("chonkie").RecursiveChunker(tokenizer=one, chunk_size=2000)
    return chunker.chunk(data.decode("utf-8", "replace"))


def estimator(folder: Path) -> None:
    """C-1: numbered windows of 100 lines and whole prompts of every program below a folder, real count and upper bound."""
    windows: list[str] = []
    wholes: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in {".cbl", ".cob", ".cpy"} or not path.is_file():
            continue
        source = scan(path.read_bytes())
        lines = [f"{line}|{source.shown(line)}\n" for line in range(1, source.lines + 1)]
        windows += ["".join(lines[at : at + _WINDOW]) for at in range(0, len(lines) - _WINDOW + 1, _WINDOW)]
        wholes += ["".join(lines)] if lines else []
    print("| estimator | texts | below the real count | highest ratio at p99 | mean ratio |\n|---|---|---|---|---|")
    for name, texts in ((f"windows of {_WINDOW} numbered lines", windows), ("whole programs", wholes)):
        ratios = sorted(tokens.count(text).high / real for text, real in zip(texts, counted(texts), strict=True))
        below = sum(ratio < 1 for ratio in ratios) / len(ratios)
        print(
            f"| {name} | {len(ratios)} | {below:.2%} | {ratios[int(0.99 * len(ratios))]:.2f} | {statistics.fmean(ratios):.2f} |"
        )


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PENSTOCK_DATA"))
    parser.add_argument("--tokens", type=int, default=8000)
    parser.add_argument("--programs", type=int)
    parser.add_argument("--no-speed", action="store_true")
    given = parser.parse_args()
    if given.data is None:
        parser.error("no data: --data or PENSTOCK_DATA names the folder in which the corpora lie")
    quality(programs(given.data / "cobol", given.programs), given.tokens)
    if not given.no_speed:
        speed()
    estimator(given.data / "cobol")


if __name__ == "__main__":
    main()
