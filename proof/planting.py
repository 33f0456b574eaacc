"""Which model knows which of its claims are true? One that makes right, shifted, repeated and wrong ones of every kind.

It reads ids and lines out of prompts, like any model; a second reader of the file (`columns`) tells it which lines are code. About
each id it says something true, in words that nothing else has, and something false; when asked again, it corrects that or insists.
It remembers true claims, with the lines that prove them. Equal prompts get equal answers, in whatever order they come.
Leaves to others: what became of the claims (`claims`).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from tests.scribe.author import Author, is_header, line_of, own_in, shown_in, wanted_in

from penstock.models import sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from proof.columns import Page

RIGHT, WRONG, INVENTED = "Right, planted", "Wrong, planted", "XQZW"
"""The beginnings of right and wrong claims, and a word that no program contains."""
DERIVED = "706194823"
"""A number that no program has: not a common test value such as 918273645, which NIST's suite has."""
EVERYWHERE = f"{RIGHT} by every part."
_FIELDS = {
    "P": ("summary", "purpose"),
    "R": ("description", "logic_summary"),
    "E": ("description",),
    "C": ("purpose",),
    "I": ("description",),
    "O": ("description",),
    "p": ("summary", "question"),
}
_TRUE = ("right", "shifted", "twice", "spread", "derived")
_MENDABLE = ("range", "comment", "invented", "named", "unshown", "far", "outside", "word", "number")
_FALSE = (*_MENDABLE, "spoken", "elsewhere", "unknown")
_SPOKEN = ("It sets {}-TOTAL.", "It calls {}PROG.", "It reads the table {}_T.", "It needs copybook {}CPY.")
_MAX_IDS = 240  # an answer has at most 1,000 claims
_TRIES = 6  # attempts to find a line with a unique text
_SLIP_LINES = 15  # an unshown line counts as a slip if it is this near,
_FAR_LINES = 100  # and as an invention if it is this far
_AGAIN = "You answered before"
_REFUSED = re.compile(rf"^- (.+) (\w+): {WRONG} as \w+ n(\d+) of ", re.MULTILINE)
# Not the D of a debug line, and no part of `\x02`.
_WORD = re.compile(r"(?<![\w#@$\\-])[A-Za-z][A-Za-z0-9-]+(?![\w#@$-])")

_DIGIT = re.compile(r"\d")
_LITERAL = re.compile(r"(?:^|\s)(?:[2-9]|[1-9]\d+)(?=[\s.]|$)(?![^(]*\))")
Claim = dict[str, Any]


class Extents(NamedTuple):
    """Where paragraphs end, by the line of their names; name, first and last line of each program, if there are several.

    Two programs may have one name: a file may hold one twice.
    """

    paragraphs: Mapping[int, int]
    programs: tuple[tuple[str, int, int], ...]


class Fact(NamedTuple):
    """What must be told: words, where they belong, and the lines to be cited for them."""

    said: str
    of: str
    field: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class _Seen:
    """What a request shows, and what can be proved by it."""

    lines: dict[int, str]
    page: Page
    own: frozenset[int]
    """The lines that it asks about: the others are their context."""

    @cached_property
    def stamp(self) -> int:
        """A digest that distinguishes it from other requests."""
        return crc32(repr(sorted(self.lines)).encode())

    @cached_property
    def is_mended(self) -> bool:
        """Whether the model corrects what is reported as wrong; otherwise it insists."""
        return self.stamp % 2 == 0

    @cached_property
    def code(self) -> dict[int, str]:
        return {line: self.lines[line] for line in sorted(self.lines) if line in self.page.code}

    @cached_property
    def numbers(self) -> list[int]:
        return list(self.code)

    def reach(self, of: str, extents: Extents) -> range:
        """The lines that an id refers to: its paragraph, its own line, or its whole program."""
        if of[0] not in "PREC":
            return self._program(of, extents) if extents.programs else range(1, len(self.page.texts) + 1)
        line = line_of(of, self.code)
        return range(line, (extents.paragraphs.get(line, line) if of[0] == "P" else line) + 1)

    def _program(self, of: str, extents: Extents) -> range:
        """The lines of the program that an id names; empty if that is ambiguous.

        If a request is about programs of one name, the number in a program's id counts them; that in the id of an input or output
        does not.
        """
        before, _, number = of.rpartition(".")
        head, at = (before, int(number)) if number.isdecimal() else (of, 1)
        called = head.removeprefix("program-") if of[0] == "p" else head.rpartition(".")[2]
        found = [range(first, last + 1) for name, first, last in extents.programs if name == called]
        asked = [one for one in found if any(line in one for line in self.own)]
        is_told = at <= len(asked) if of[0] == "p" else len(asked) == 1
        return asked[at - 1 if of[0] == "p" else 0] if is_told else range(0)

    @cached_property
    def joined(self) -> str:
        return " ".join(map(self.page.text, self.code))

    @cached_property
    def hidden(self) -> list[int]:
        return [line for line in range(1, len(self.page.texts) + 1) if line not in self.lines]

    def is_unique(self, line: int) -> bool:
        """Whether the text of a line occurs once in all code that is shown."""
        text = self.page.text(line)
        return self.joined.find(text, self.joined.find(text) + 1) < 0

    def is_foreign(self, line: int) -> bool:
        """Whether the text of a line occurs nowhere in the code that is shown."""
        return len(self.page.text(line)) > 3 and self.page.text(line) not in self.joined


@dataclass(frozen=True)
class _Turn:
    """One subject: the id in a request, the field, a line, and the random source that decides what is said."""

    seen: _Seen
    at: int
    of: str
    field: str
    line: int
    chance: random.Random
    reach: range

    @cached_property
    def proofs(self) -> list[int]:
        """The lines that prove something about it: those shown of its subject that have content."""
        return [line for line in self.seen.numbers if line in self.reach and is_said(self.seen.page.text(line))]

    def claim(self, kind: str, *, of_truth: str = RIGHT, cited: list[int] | None = None, evidence: int = 0) -> Claim:
        """A claim whose evidence is a line, by default the one that is cited first."""
        cited = cited or [self.line]
        shown = evidence or cited[0]
        text = self.seen.lines[shown]
        named = text.lstrip()[1:] if shown in self.seen.page.debug else text
        names = _WORD.findall(named.partition("*>")[0])[:2] if self.at % 2 else []
        said = f"{of_truth} as {kind} n{self.at} of s{self.seen.stamp}."  # no numbers, which would be held
        return {
            "of": self.of,
            "field": self.field,
            "claim": said,
            "lines": cited,
            "evidence": text.strip(),
            "names": names,
        }


def is_said(text: str) -> bool:
    """Whether a line says something about its unit: more than one word, and not a header."""
    return len(text.split()) > 1 and not is_header(text)


class Planter(Author):
    """Answers about one file."""

    def __init__(self, page: Page, extents: Extents, *, has_one_program: bool) -> None:
        super().__init__()
        self.facts: list[Fact] = []
        self.planted: Counter[str] = Counter()
        self.odd: list[str] = []
        self._page, self._extents, self._has_one_program = page, extents, has_one_program
        self._wrong: set[tuple[int, str, str]] = set()

    def claims(self, request: dict[str, Any]) -> list[Claim]:
        """The claims about what a request shows."""
        seen = _Seen(shown_in(request), self._page, own_in(request))
        self.odd += [
            f"a prompt shows {text!r:.60} as line {line}"
            for line, text in seen.lines.items()
            if not 1 <= line <= len(self._page.texts) or " ".join(text.split()) != self._page.text(line)
        ]
        if self.odd or not seen.code:
            self.odd.append("a prompt shows nothing that can be spoken of")
            return []
        asked = sizes.text_of(request)
        if _AGAIN in asked:
            return list(self._again(seen, _REFUSED.findall(asked)))
        ids = wanted_in(request) or (["program"] if self._has_one_program else [])
        made = [claim for at, of in enumerate(ids[:_MAX_IDS]) for claim in self._about(at, of, seen)]
        nothing = _Turn(seen, 0, INVENTED, "poetry", seen.numbers[0], random.Random(0), range(0))
        return made or [nothing.claim("unknown", of_truth=WRONG)]

    def _about(self, at: int, of: str, seen: _Seen) -> Iterator[Claim]:
        chance = random.Random(seen.stamp + at)
        turn = _Turn(
            seen, at, of, chance.choice(_FIELDS[of[0]]), line_of(of, seen.code), chance, seen.reach(of, self._extents)
        )
        if turn.proofs:
            turn = replace(turn, line=chance.choice(turn.proofs))
            yield from self._true(turn)
        line = turn.line
        if of[0] == "p" and turn.proofs:
            self._remember("united", EVERYWHERE, of, "business_context", [line])
            yield {**turn.claim("united"), "field": "business_context", "claim": EVERYWHERE}
        yield from self._false(turn)

    def _remember(self, kind: str, said: str, of: str, field: str, lines: list[int]) -> None:
        with self._lock:
            self.facts.append(Fact(said, of, field, tuple(lines)))
            self.planted[kind] += 1

    # ── what is true ─────────────────────────────────────────────────────────────────────────────────────────────

    def _true(self, turn: _Turn) -> Iterator[Claim]:
        """One fact: plain, with the number of another line, twice with two lines, or with several lines."""
        seen, chance, lines = turn.seen, turn.chance, [turn.line]
        kind = _TRUE[(turn.at + seen.stamp) % len(_TRUE)]
        claim = turn.claim(kind)
        if kind == "shifted" and (slip := self._slip(turn)) is not None:
            lines = [slip[0]]
            claim = turn.claim(kind, cited=[slip[1]], evidence=slip[0])
        elif kind == "spread":
            at = seen.numbers.index(turn.line)
            lines = [line for line in seen.numbers[at : at + chance.choice((2, 3))] if line in turn.reach]
            claim = turn.claim(kind, cited=lines)
        elif kind == "derived" and (bare := [line for line in turn.proofs if not _DIGIT.search(seen.page.text(line))]):
            lines = [chance.choice(bare)]
            claim = turn.claim(kind, cited=lines)
            claim["claim"] = f"{claim['claim'][:-1]}, {DERIVED} of them."
        elif kind == "twice":
            lines = [turn.line, chance.choice(turn.proofs)]
            yield {**turn.claim(kind, cited=lines[1:]), "claim": claim["claim"].lower().replace(" ", "  ")}
        self._remember(kind, claim["claim"], turn.of, turn.field, lines)
        yield claim

    def _slip(self, turn: _Turn) -> tuple[int, int] | None:
        """A line with a unique text, and another that is cited in its place."""
        seen = turn.seen
        tries = [turn.line, *turn.chance.choices(turn.proofs, k=_TRIES)]
        line = next((line for line in tries if seen.is_unique(line)), 0)
        near = [there for there in seen.hidden if abs(there - line) <= _SLIP_LINES] if turn.at % 3 == 0 else []
        others = near or [there for there in seen.lines if there != line]
        return (line, turn.chance.choice(others)) if line and others else None

    # ── what is false ────────────────────────────────────────────────────────────────────────────────────────────

    def _false(self, turn: _Turn) -> Iterator[Claim]:
        """The first wrong claim that is possible here, of kinds in rotation."""
        kinds = _MENDABLE if turn.seen.is_mended else _FALSE
        first = (turn.at + turn.seen.stamp) % len(kinds)
        for kind in (*kinds[first:], *kinds[:first]):
            if (change := self._change(kind, turn)) is not None:
                with self._lock:
                    self.planted[kind] += 1
                    self._wrong.add((turn.seen.stamp, turn.of, turn.field))
                yield {**turn.claim(kind, of_truth=WRONG), **change}
                return

    def _change(self, kind: str, turn: _Turn) -> Claim | None:
        """What makes a right claim wrong; None if the request has nothing for it."""
        seen, chance, good = turn.seen, turn.chance, turn.claim(kind, of_truth=WRONG)
        size = len(seen.page.texts)
        match kind:
            case "range":
                return {"lines": [chance.choice((0, -7, size + 1, size + 5_000))]}
            case "comment":
                found = [line for line in seen.lines if line not in seen.code and seen.is_foreign(line)]
                return {"lines": [line := chance.choice(found)], "evidence": seen.lines[line]} if found else None
            case "invented":
                words = (f"MOVE {INVENTED} TO NOWHERE", f"{good['evidence']} {INVENTED}", "")
                return {"evidence": chance.choice(words)}
            case "named":
                return {"names": [*good["names"], f"{INVENTED}-{chance.randrange(99)}-INVENTED"]}
            case "unshown":  # a line of the file that was not shown
                found = chance.sample(seen.hidden, min(9, len(seen.hidden)))
                found = [line for line in found if line in seen.page.code and seen.is_foreign(line)]
                return {"lines": found[:1], "evidence": seen.page.text(found[0])} if found else None
            case "far":  # true words, and the number of a line that was never shown
                found = [line for line in seen.hidden if abs(line - turn.line) > _FAR_LINES]
                return {"lines": [chance.choice(found)]} if found and seen.is_unique(turn.line) else None
            case "outside":  # a statement of another paragraph
                found = [line for line in seen.numbers if line not in turn.reach and is_said(seen.page.text(line))]
                found = [line for line in chance.sample(found, min(9, len(found))) if seen.is_unique(line)]
                return (
                    {"lines": found[:1], "evidence": seen.page.text(found[0])} if found and turn.of[0] == "P" else None
                )
            case "word":  # of a line, or three letters of it: no line consists of that alone
                whole = {text.strip().rstrip(".") for text in seen.lines.values()}
                parts = (good["evidence"].split()[0], good["evidence"][:3].strip()) if turn.proofs else ()
                less = [part for part in parts if part.rstrip(".") not in whole]
                return {"evidence": chance.choice(less)} if less else None
            case "number":  # a number that the line does not have
                found = [line for line in turn.proofs if _LITERAL.search(seen.page.text(line))]
                if not found:
                    return None
                said = f"{good['claim'][:-1]}, {DERIVED} of them."
                return {"lines": [line := chance.choice(found)], "evidence": seen.lines[line], "claim": said}
            case "spoken":
                return {"claim": f"{good['claim']} {chance.choice(_SPOKEN).format(INVENTED)}"}
            case "elsewhere":  # an item of another part
                found = sorted(self._extents.paragraphs.keys() - seen.lines.keys())
                return {"of": f"P{chance.choice(found)}", "field": "summary"} if found else None
            case _:
                return chance.choice(({"of": "P9999999"}, {"of": f"I:{INVENTED}"}, {"field": "poetry"}, {"field": ""}))

    def _again(self, seen: _Seen, refused: list[tuple[str, str, str]]) -> Iterator[Claim]:
        """The replacement for refused claims."""
        for of, about, number in refused:
            if (seen.stamp, of, about) not in self._wrong:
                continue
            at = int(number)
            turn = _Turn(seen, at, of, about, seen.numbers[0], random.Random(at), seen.reach(of, self._extents))
            if seen.is_mended and turn.proofs:
                turn = replace(turn, line=turn.proofs[at % len(turn.proofs)])
                mended = turn.claim("mended")
                self._remember("mended", mended["claim"], of, about, [turn.line])
                yield mended
            else:
                yield {**turn.claim("insisted", of_truth=WRONG), "evidence": f"MOVE {INVENTED} TO NOWHERE"}
