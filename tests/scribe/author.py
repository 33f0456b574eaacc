"""A model that documents what its prompt shows, and plants claims of every kind: right, shifted, repeated and wrong.

A right claim begins with `Right`, a wrong one with `Wrong`, so that a reader of a document can tell them apart.
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

from penstock.models import say, sizes

if TYPE_CHECKING:
    from penstock.models import ScriptStep

_LINE = re.compile(r"^(\d+)\|(.*)$", re.MULTILINE)
_SOURCE = "\nSource (line|text"
_NOTES = re.compile(r"\nNotes \((?:complete|part \d+ of \d+)(?: of (.*))?\)\. Known for certain; .*")
_ROW = re.compile(r"^(?:(Paragraphs|Conditions|Inputs|Outputs)|Error sites|Calls): (.+)$", re.MULTILINE)
FIELDS = {
    "P": "summary",
    "R": "description",
    "E": "description",
    "C": "purpose",
    "I": "description",
    "O": "description",
}


def shown_in(request: dict[str, Any]) -> dict[int, str]:
    """Return the lines that a request shows, by number."""
    return {int(number): text.rstrip() for number, text in _LINE.findall(sizes.text_of(request))}


def own_in(request: dict[str, Any]) -> frozenset[int]:
    """Return the numbers of the lines that a request asks about, without their context."""
    asked = sizes.text_of(request)
    return frozenset(int(number) for number, _ in _LINE.findall(asked, max(0, asked.find(_SOURCE))))


def wanted_in(request: dict[str, Any]) -> list[str]:
    """Return the ids for which a request wants text, programs first; none if there was no room for notes."""
    asked = sizes.text_of(request)
    notes = _NOTES.search(asked)
    if notes is None:
        return []
    ids = ["program"] if notes[1] is None else [name for name in notes[1].split(", ") if name]
    for alone, row in _ROW.findall(asked, notes.end()):  # an id may be alone, or have a name after it
        ids += row.split(", ") if alone else [found.partition(" ")[0] for found in row.split(", ")]
    return ids


def groups_in(request: dict[str, Any]) -> list[int]:
    """Return the number of statements in each group that is to become one; none if a request asks for something else."""
    shown = sizes.text_of(request)
    if "are to become fewer" not in shown:
        return []
    return [len(re.findall(r"^\d+\. ", group, re.MULTILINE)) for group in shown.split("\nGroup ")[1:]]


def worded(groups: list[int], text: str, covers: Any = None) -> ScriptStep:
    """Return one text for each group that claims to cover all of the group's statements, or as many as `covers` says."""
    texts = [
        {"group": at, "text": text, "covers": list(range(1, statements + 1)) if covers is None else covers}
        for at, statements in enumerate(groups, 1)
    ]
    return say(json.dumps({"texts": texts}))


def is_code(text: str) -> bool:
    """Return whether a shown line of fixed format is code."""
    return bool(text.strip()) and not text.startswith("*")


class Author:
    """A policy that answers requests and records what was asked; threads may share one."""

    def __init__(self, *, wrong: bool = False, shift: int = 0) -> None:
        self.wrong, self.shift = wrong, shift
        self.requests: list[dict[str, Any]] = []
        self.right: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> ScriptStep:
        with self._lock:
            self.requests.append(request)
        return say(json.dumps({"claims": self.claims(request)}))

    def claims(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the claims about what a request shows."""
        lines = shown_in(request)
        code = {number: text for number, text in lines.items() if is_code(text)}
        made = []
        for of in wanted_in(request):
            line = statement_of(of, code)
            plain = code[line].replace("'", "").replace('"', "")
            claim = " ".join(f"Right about {of} as {plain}".split())[:120].strip()
            with self._lock:
                self.right.add(claim)
            field = "summary" if of.startswith("program") else FIELDS[of[0]]
            good = {
                "of": of,
                "field": field,
                "claim": claim,
                "lines": [line],
                "evidence": code[line].strip(),
                "names": [],
            }
            made += [{**good, "lines": [self._shifted(line, lines)]}, good]
            if self.wrong:
                made += _wrong(good, max(lines))
        return made

    def _shifted(self, line: int, lines: dict[int, str]) -> int:
        """Return a line next to the right one, as a model that miscounts gives it."""
        there = line + self.shift
        return there if there in lines else line


def statement_of(of: str, code: dict[int, str]) -> int:
    """Return the line of the first statement that proves something about an id; a header proves nothing."""
    line = line_of(of, code)
    return next((at for at in sorted(code) if at >= line and not is_header(code[at])), line)


def is_header(text: str) -> bool:
    """Return whether a line has nothing but the header of a paragraph or section."""
    return re.fullmatch(r"\s*[\w#@$-]+(?:\s+SECTION(?:\s+\d+)?)?\s*\.?\s*", text, re.IGNORECASE) is not None


def line_of(of: str, code: dict[int, str]) -> int:
    """Return the line of code for an id: the line with its number, else the first with its name, else the first line."""
    numbered = re.fullmatch(r"[PREC](\d+)(?:\.\d+)?", of)
    if numbered is not None and int(numbered[1]) in code:
        return int(numbered[1])
    name = of.partition(":")[2].partition(".")[0]
    return next((at for at, text in code.items() if name and name in text), min(code))


def _wrong(good: dict[str, Any], last: int) -> list[dict[str, Any]]:
    return [
        {**good, "claim": "Wrong: no such line", "lines": [last + 5_000]},
        {**good, "claim": "Wrong: no such evidence", "evidence": "MOVE NEVER TO NOWHERE"},
        {**good, "claim": "Wrong: it uses WS-INVENTED"},
        {**good, "claim": "Wrong: it names something", "names": ["INVENTED"]},
        {**good, "claim": "Wrong: it calls PAYROLL"},
        {**good, "claim": "Wrong: no such item", "of": "P999999"},
        {**good, "claim": "Wrong: no such field", "field": "poetry"},
        {**good, "claim": "Wrong: nothing proves it", "evidence": ""},
        {**good, "claim": "Wrong: a word proves nothing", "evidence": good["evidence"].split()[0]},
    ]
