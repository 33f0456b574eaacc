"""R17: does every program become chunks that cover it, that fit, and that cut nothing in two?

For budgets of 2,000, 8,000 and 30,000 tokens, of prompts and of text: the chunks hold each line once and, joined, are the file byte
for byte (M1); every prompt, in its final form, is within its budget by an exact tokenizer, and so is the share of its context (M2);
no cut is within a statement, a literal, an EXEC block or a continued line (M3); planning again changes nothing (M4); a file that
fits is one chunk, uncut, and no other file is (M7). A chunk that does not fit is a single statement or line that cannot.
The short form generates its own programs and reads those of examples/cobol; the long one also reads everything below PENSTOCK_DATA.
"""

from __future__ import annotations

import os
import random
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from proof.figure import REPOSITORY, Figure, NotHere, main, told_each_minute, untried

from penstock.chunk import Chunk, ChunkPlan, Overhead, plan, wording
from penstock.cobol import scan
from penstock.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.cobol import ScannedSource

BUDGETS = (2_000, 8_000, 30_000)
INSTRUCTIONS = "Say what each of the paragraphs does, in one sentence, and name the lines that prove it.\n" * 40
LARGE_STATEMENT = 1_000  # tokens: if a program has no larger statement, everything fits into 2,000
_ENDINGS = (".cbl", ".cob", ".cobol", ".cpy", ".ccp")
_LINE_OVERHEAD = 12  # the most tokens that represent a first line and its gaps


def programs(folder: str) -> Iterator[tuple[str, bytes]]:
    """The COBOL below a folder."""
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() in _ENDINGS and path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()


def faults(data: bytes) -> Iterator[str]:
    """Faults in the plans of a file, for all budgets."""
    source = scan(data)
    for budget in BUDGETS:
        overhead = Overhead(texts=(INSTRUCTIONS,))
        prompts = plan(source, prompt_tokens=budget, overhead=overhead)
        texts = plan(source, source_tokens=budget)
        for made, kind in ((prompts, "prompts"), (texts, "text")):
            said = f"{kind} of {budget}: "
            yield from (said + fault for fault in _not_covered(source, made))
            yield from (said + fault for fault in _cut_in_two(source, made))
            yield from (said + fault for fault in _not_named(source, made))
        yield from (f"prompts of {budget}: {fault}" for fault in _too_large(prompts, budget))
        for chunk in texts.chunks:
            size = _exact(_text(source, chunk))
            if (size > budget) == chunk.fits or size != chunk.tokens:
                yield f"text of {budget}: {chunk.spans} is {size}, fits: {chunk.fits}, said: {chunk.tokens}"
        whole = _exact(INSTRUCTIONS) + overhead.frame_tokens + _exact(_whole(source))
        if bool(source.lines) and (whole <= budget) != (
            [(c.kind, c.fits) for c in prompts.chunks] == [("whole", True)]
        ):
            yield f"prompts of {budget}: the whole takes {whole} and is {len(prompts.chunks)} chunks"
        if plan(scan(data), prompt_tokens=budget, overhead=overhead) != prompts:
            yield f"prompts of {budget}: another plan the second time"
        if len(prompts.chunks) >= 2 * max(1, prompts.minimum_calls) and len(prompts.chunks) > 1:
            yield f"prompts of {budget}: {len(prompts.chunks)} calls, {prompts.minimum_calls} at least"


def _not_covered(source: ScannedSource, made: ChunkPlan) -> Iterator[str]:
    lines = sorted(line for chunk in made.chunks for first, last in chunk.spans for line in range(first, last + 1))
    if lines != list(range(1, source.lines + 1)):
        yield "the lines are not covered once each"
    spans = sorted(span for chunk in made.chunks for span in chunk.spans)
    if b"".join(source.bytes_of(first, last) for first, last in spans) != source.data:
        yield "joined, the chunks are not the file"
    if len({chunk.id for chunk in made.chunks}) != len(made.chunks):
        yield "two chunks have one id"


def _too_large(made: ChunkPlan, budget: int) -> Iterator[str]:
    for chunk in made.chunks:
        if not chunk.fits:
            continue
        prompt = made.prompts[chunk.id]
        size = _exact(INSTRUCTIONS + prompt)
        if size > budget or (chunk.prompt_tokens or 0) > budget:
            yield f"{chunk.spans} is {size}"
        context, _, shown = prompt.partition(wording.SOURCE if chunk.kind != "whole" else wording.WHOLE)
        if _exact(context) - _LINE_OVERHEAD * 2 > budget / 4:
            yield f"the context of {chunk.spans} is {_exact(context)}"
        numbers = [int(number) for number in re.findall(r"(?m)^(\d+)\|", shown)]
        if numbers != [line for first, last in chunk.spans for line in range(first, last + 1)]:
            yield f"{chunk.spans} does not show its lines"
        if (known := [int(number) for number in re.findall(r"(?m)^(\d+)\|", context)]) != [
            line for first, last in chunk.context_spans for line in range(first, last + 1)
        ]:
            yield f"{chunk.spans} has {len(known)} lines in its context and says {chunk.context_spans}"


def _cut_in_two(source: ScannedSource, made: ChunkPlan) -> Iterator[str]:
    starts = {first for chunk in made.chunks for first, _ in chunk.spans}
    within = _within(source)
    yield from (
        f"a cut before line {line}, which is joined to the one before" for line in sorted(starts & source.joined)
    )
    yield from (f"a cut before line {line}, within a statement or entry" for line in sorted(starts & within))


def _not_named(source: ScannedSource, made: ChunkPlan) -> Iterator[str]:
    """Faults of oversized chunks: each must be one statement, entry or line."""
    within = _within(source) | source.joined
    begun = {first for first, _ in _stretches(source)} - within
    for chunk in made.chunks:
        (first, last), *more = chunk.spans
        could_be = sorted(line for line in begun if first < line <= last)
        if not chunk.fits and (more or could_be):
            yield f"{chunk.spans} does not fit and could be cut before {could_be[:3]}"


def _stretches(source: ScannedSource) -> Iterator[tuple[int, int]]:
    for program in source.programs:
        yield from ((statement.line, statement.end_line) for statement in program.statements)
        yield from ((entry.line, entry.end_line) for entry in program.entries)
        yield from ((block.line, block.end_line) for block in program.execs)
        yield from ((copy.line, copy.end_line) for copy in program.copies)


def _within(source: ScannedSource) -> set[int]:
    return {line for first, last in _stretches(source) for line in range(first + 1, last + 1)}


def _exact(text: str) -> int:
    return tokens.count(text, mode="exact").tokens


def _text(source: ScannedSource, chunk: Chunk) -> str:
    return b"".join(source.bytes_of(*span) for span in chunk.spans).decode(source.encoding, "replace")


def _whole(source: ScannedSource) -> str:
    made = plan(source, prompt_tokens=10_000_000)
    return made.prompts[made.chunks[0].id] if made.chunks else ""


# --- programs of our own -------------------------------------------------------------------------


def generated(generator: random.Random, *, long: bool = True) -> bytes:
    """One or several programs that are hard to cut: long paragraphs, tables, nesting, continued literals, free format."""
    free = generator.random() < 0.3
    sequence = not free and generator.random() < 0.3
    end = "\r\n" if generator.random() < 0.2 else "\n"
    lines: list[str] = []
    for number in range(generator.choice((1, 1, 1, 2, 4))):
        lines += _program(generator, number, free, long)
    if free:
        lines = [">>SOURCE FORMAT IS FREE", *(line.strip() for line in lines)]
    if sequence:
        lines = [f"{at * 100 % 1_000_000:06d}{line[6:]:<66.66}GEN{at:05d}" for at, line in enumerate(lines, 1)]
    text = end.join(lines) + (end if generator.random() < 0.9 else "")
    return text.encode()


def _program(generator: random.Random, number: int, free: bool, long: bool) -> list[str]:
    indent = " " * 7
    star = "*> " if free else "      * "
    paragraphs = [f"{at:04d}-STEP" for at in range(generator.choice((0, 3, 12, 12, 60)))]
    lines = [
        f"{indent}IDENTIFICATION DIVISION.",
        f"{indent}PROGRAM-ID. GEN{number:05d}.",
        f"{star}{'remark ' * 8}",
        f"{indent}DATA DIVISION.",
        f"{indent}WORKING-STORAGE SECTION.",
    ]
    for group in range(generator.choice((0, 5, 5, 40))):
        lines.append(f"{indent}01  WS-GROUP-{group}.")
        for field in range(1 if generator.random() < 0.3 else 4 if generator.random() < 0.95 else 120):
            lines.append(f"{indent}    05  WS-FIELD-{group}-{field}  PIC X(10) VALUE 'A. {group}'.")
            if generator.random() < 0.2:
                lines.append(f"{indent}        88  IS-{group}-{field} VALUE 'Y'.")
    lines.append(f"{indent}PROCEDURE DIVISION.")
    for at, name in enumerate(paragraphs):
        if at % 20 == 0 and generator.random() < 0.5:
            lines.append(f"{indent}PART-{at} SECTION.")
        lines += [f"{star}{'-' * 40}", f"{star}step {at}", f"{indent}{name}."]
        huge = generator.random() < 0.05
        for _ in range(generator.choice((1, 3, 8)) if not huge else 400 if long else 40):
            lines += _sentence(generator, paragraphs, free, dots=not huge or generator.random() < 0.5)
        lines.append(f"{indent}    CONTINUE.")
        if generator.random() < 0.4:
            lines += [f"{indent}{name}-EXIT.", f"{indent}    EXIT."]
    if number % 3 == 1:
        lines.append(f"{indent}END PROGRAM GEN{number:05d}.")
    return lines


def _sentence(generator: random.Random, paragraphs: list[str], free: bool, *, dots: bool) -> list[str]:
    dot = "." if dots else ""
    target = generator.choice(paragraphs)
    shape = generator.randrange(7)
    if shape == 0:
        return [f"           PERFORM {target} THRU {target}{dot}"]
    if shape == 1:
        inner = [f"               MOVE 'VALUE {at}' TO WS-FIELD-{at}-0" for at in range(generator.choice((1, 3, 30)))]
        return [
            "           IF WS-FIELD-0-0 = 'A.'",
            *inner,
            "           ELSE",
            f"               PERFORM {target}",
            f"           END-IF{dot}",
        ]
    if shape == 2:
        columns = [f"               , COLUMN_{at}" for at in range(generator.choice((1, 5, 60)))]
        return [
            "           EXEC SQL",
            "               SELECT A",
            *columns,
            "               INTO :WS-FIELD-0-0 FROM T",
            f"           END-EXEC{dot}",
        ]
    if shape == 3 and not free:
        return [f"           MOVE '{'x' * 53}", f"      -    '{'y' * 20}' TO WS-FIELD-0-0{dot}"]
    if shape == 4:
        whens = [
            row
            for at in range(generator.choice((2, 40)))
            for row in (f"               WHEN {at}", f"                   DISPLAY 'CASE {at}. NOT THE END'")
        ]
        return ["           EVALUATE WS-FIELD-1-0", *whens, f"           END-EVALUATE{dot}"]
    if shape == 5:
        return ["      * why" if not free else "*> why", f"           ADD 1 TO WS-FIELD-2-0{dot}", ""]
    return [
        "           DISPLAY 'IT''S *> NO COMMENT'",
        "                   WS-FIELD-3-0",
        f"                   WS-FIELD-3-1{dot}",
    ]


def _told(tried: tuple[str, bytes]) -> list[str]:
    """Faults in one file, each with its name."""
    return [f"{tried[0]}: {fault}" for fault in faults(tried[1])]


def _together(tried: list[tuple[str, bytes]]) -> Iterator[str]:
    """Faults in many files, on all processors; the largest first, so that no processor waits for the last one."""
    largest_first = sorted(tried, key=lambda one: -len(one[1]))
    with ProcessPoolExecutor() as pool:
        for told in told_each_minute("R17", pool.map(_told, largest_first), len(tried)):
            for fault in told[:3]:
                print(f"R17: {fault}", file=sys.stderr, flush=True)
            yield from told


def measure(*, long: bool, seed: int) -> Figure:
    """R17: chunks that cover, fit, and cut nothing in two."""
    name, target = "chunks of COBOL", "no fault"
    if tokens.best_counter("o200k").mode != "exact":
        return untried("R17", name, target, NotHere("an exact tokenizer is missing: penstock[exact]"))
    generator = random.Random(seed)
    tried = [(f"generated {at}", generated(generator, long=long)) for at in range(300 if long else 12)]
    tried += programs(os.path.join(REPOSITORY, "examples", "cobol"))
    if long and "PENSTOCK_DATA" in os.environ:
        tried += programs(os.environ["PENSTOCK_DATA"])
        tried = list({data: (what, data) for what, data in tried}.values())  # a duplicate is tried once
    notes = list(_together(tried)) if long else [fault for one in tried for fault in _told(one)]
    lines = sum(data.count(b"\n") for _, data in tried)
    value = f"{len(notes)} faults in {len(tried)} files of {lines} lines"
    return Figure(rig="R17", name=name, value=value, target=target, met=not notes, seed=seed, notes=tuple(notes))


if __name__ == "__main__":
    raise SystemExit(main(measure))
