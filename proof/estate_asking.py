"""What is sent to a model about an estate, and what becomes of answers that do not come (C-1, C-6, C-9, C-13)?

A model with one question answers, or, for one chunk in three, says nothing that can be read. Leaves to others: what a model
claims (`claims`), and how files are cut (`chunks`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.estate_views import filled, is_plain, is_tabular
from proof.figure import MEMORY, folder

from penstock.models import sizes
from penstock.scribe.documenting import planned, run, subject
from penstock.scribe.results import Folder
from penstock.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.scribe.documenting import DocumentingRun, ScannedFile

PROMPT_TOKENS = 4_000
_WINDOW_LINES = 100
_DECLARED = re.compile(r"(?:^|\.)\s*(?:0?[1-9]|[1-4]\d|77)\s+([A-Z][\w-]*)", re.IGNORECASE)
_NUMBERED = re.compile(r"(?m)^(?:[\w$#@-]+:)?(\d+)\|(.*)$")
_WORD = re.compile(r"[A-Za-z0-9][\w-]*")
_CHANGED = re.compile(r"^(.{6} .*?\bMOVE\s+)(\d)(\d*\s+TO\s.*)$", re.IGNORECASE)
_LEFT_OUT = "not shown)"
_NO_NAMES = re.compile(r"\n\((\d+) of \1 names are not shown\)")
"""What a prompt says in place of its outline if its lines leave no room for that (C-5)."""
_NOT_ITEMS = frozenset({"FILLER", "PIC", "PICTURE", "REDEFINES", "VALUE", "OCCURS", "USAGE"})
_ESTIMATE, _EXACT = Tokens(model="o200k", mode="estimate"), Tokens(model="o200k", mode="exact")


class Asked(NamedTuple):
    """What was seen of one file."""

    faults: tuple[str, ...]
    windows: int
    low: int
    """How many windows of 100 numbered lines the estimate has below the tokenizer's count."""


class _Asking:
    """A model that asks what something is for; about every third chunk it says nothing that can be read, if it fails."""

    wire, name, window_tokens = "openai-chat", "o200k", None

    def __init__(self, *, fails: bool = False) -> None:
        self.requests: list[str] = []
        self.lost: set[int] = set()
        """The first lines of the chunks that got no answer."""
        self._fails = fails

    def send(self, request: dict[str, Any], /) -> dict[str, Any]:
        """Return the answer of a model asked over that wire."""
        asked = sizes.text_of(request)
        self.requests.append(asked)
        own = _own_lines(asked)
        is_lost = self._fails and bool(own) and min(own) // 10 % 3 == 0
        if is_lost:
            self.lost.add(min(own))
        said = "nothing that can be read" if is_lost else json.dumps({"claims": [_claim(own)]})
        return {"choices": [{"message": {"role": "assistant", "content": said}}]}


def _claim(own: dict[int, str]) -> dict[str, Any]:
    """Return a claim with the longest of some lines as its evidence: an answer without any counts as none."""
    line = max(own, key=lambda line: len(own[line].strip()), default=1)
    said = {"of": "program", "field": "question", "claim": "What is that for?", "names": []}
    return {**said, "lines": [line], "evidence": own.get(line, "").strip()}


def _own_lines(asked: str) -> dict[int, str]:
    """Return the lines that a request is about, by number."""
    at = asked.find("\nSource (line|text")
    return {int(number): text for number, text in _NUMBERED.findall(asked, max(0, at))}


def look(one: ScannedFile) -> Asked:
    """Return the faults of what is asked about a file."""
    low, windows = _windows(one)
    return Asked((*_prompts(one), *_lost(one), *_asked_again(one)), windows, low)


# ── C-1 and C-6 ──────────────────────────────────────────────────────────────────────────────────────────────────


def _windows(one: ScannedFile) -> tuple[int, int]:
    shown = [f"{at}|{text}\n" for at, text in enumerate(one.source.all_shown(), 1)]
    texts = [
        "".join(shown[at : at + _WINDOW_LINES]) for at in range(0, len(shown) - _WINDOW_LINES + 1, _WINDOW_LINES // 2)
    ]
    return sum(_ESTIMATE.count(text).high < _EXACT.count(text).tokens for text in texts), len(texts)


def _prompts(one: ScannedFile) -> Iterator[str]:
    plan, prompt_of = planned(one, max_prompt_tokens=PROMPT_TOKENS)
    shown = one.source.all_shown()
    declared = {name.upper() for text in shown for name in _DECLARED.findall(text)} - _NOT_ITEMS
    names = [part.program.name for part in one.parts if part.program.name and part.program.parent is None]
    for chunk in plan.chunks:
        if chunk.id not in plan.prompts:
            continue
        asked = "\n".join(prompt_of(chunk.id))
        where = f"lines {chunk.spans[0][0]}-{chunk.spans[-1][1]}"
        if (high := _ESTIMATE.count(asked).high) < (exact := _EXACT.count(asked).tokens):
            yield f"C-1: the prompt of {where} has {exact} tokens, and at most {high} by the estimate"
        if len(names) <= 3 and not all(name in asked for name in names):
            yield f"C-6: the prompt of {where} does not name {', '.join(names)}"
        if chunk.kind == "whole":
            continue
        context, _, _ = asked.partition("\nSource (line|text")
        has_outline = "\nOutline (" in context or _NO_NAMES.search(context) is not None
        if not has_outline and len(plan.chunks) > 1 and any(part.program.paragraphs for part in one.parts):
            yield f"C-6: the prompt of {where} has no outline"
        if _LEFT_OUT in context:
            continue
        own = {line for first, last in chunk.spans for line in range(first, last + 1) if one.source.is_code(line)}
        used = {word.upper() for line in own for word in _WORD.findall(shown[line - 1])} & declared
        there = {word.upper() for text in (context, *(shown[line - 1] for line in own)) for word in _WORD.findall(text)}
        if lost := used - there:
            yield f"C-6: the prompt of {where} does not show {', '.join(sorted(lost)[:3])}"


# ── C-9 and C-13 ─────────────────────────────────────────────────────────────────────────────────────────────────


def _lost(one: ScannedFile) -> Iterator[str]:
    """Faults where chunks that got no answer are not told with their lines."""
    model = _Asking(fails=True)
    made = run([one], model=model, max_prompt_tokens=PROMPT_TOKENS, jobs=1)
    for _, documents in made.documents:
        for part, told in zip(one.parts, documents, strict=True):
            program = part.program
            failed = {
                line
                for failure in told["coverage"]["chunks_failed"]
                for first, last in failure["lines"]
                for line in range(first, last + 1)
            }
            lines = {*range(program.start_line, program.end_line + 1)}
            if told["coverage"]["lines_documented"] != len(lines - failed) or not failed <= lines:
                yield f"C-9: {len(failed)} of {len(lines)} lines failed, {told['coverage']['lines_documented']} are documented"
            if unsaid := (model.lost & lines) - failed:
                yield f"C-9: the chunk from line {min(unsaid)} on got no answer, and that is not told"
            if any(not failure["reason"] for failure in told["coverage"]["chunks_failed"]):
                yield "C-9: a chunk failed, and the document does not say why"


def _asked_again(one: ScannedFile) -> Iterator[str]:
    """Faults of further runs: of the same file, of one with other columns and line ends, of one with another statement."""
    data = one.source.data
    with folder("estates", MEMORY) as path:
        kept = Folder(path)

        def again(changed: bytes) -> tuple[DocumentingRun, _Asking]:
            model = _Asking()
            found = subject(changed, one.file_name, copybooks=one.copybooks)
            return run([found], model=model, results=kept, max_prompt_tokens=PROMPT_TOKENS, jobs=1), model

        again(data)
        changes = {"nothing changed": data}
        if is_plain(data):
            changes["CRLF"] = data.replace(b"\n", b"\r\n")
        if is_tabular(data, one.source):
            lines = data.decode().split("\n")
            changes["blanks at the end"] = "\n".join(f"{line:<80}" if line else line for line in lines).encode()
        if (numbered := filled(data, one.source)) is not None:
            changes["sequence numbers"] = numbered
        for what, changed in changes.items():
            made, _ = again(changed)
            if made.calls:
                yield f"C-13: {what}, and {made.calls} of {made.chunks} chunks are asked about again"
        if is_plain(data) and (edited := _edited(data)) is not None:
            line, changed = edited
            _, model = again(changed)
            chunks = {tuple(_own_lines(asked)) for asked in model.requests}
            if len(chunks) != 1 or not all(line in chunk for chunk in chunks):
                told = ", ".join(f"{chunk[0]}-{chunk[-1]}" for chunk in sorted(chunks) if chunk)
                yield f"C-13: line {line} changed, and what is asked about is {told or 'nothing'}"


def _edited(data: bytes) -> tuple[int, bytes] | None:
    """Return a file with another digit in its first MOVE of a number, and the line; None if there is none."""
    lines = data.decode().split("\n")
    for number, line in enumerate(lines, 1):
        if found := _CHANGED.match(line):
            lines[number - 1] = f"{found[1]}{(int(found[2]) + 1) % 10}{found[3]}"
            return number, "\n".join(lines).encode()
    return None
