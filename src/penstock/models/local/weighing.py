"""Which line answers? Every line that was seen, weighed by the words on it and near it, by what it is, and by where it lies.

A definition, an assignment or a `raise` weighs more where that kind of line was asked for; tests, stubs and other people's packages
weigh less. Law: a pure function of question and evidence; more words on a line never lower its weight. Keeps out: what to do next.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from penstock.models.local.question import CALLED, parts_of
from penstock.models.local.vocabulary import root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.models.local.evidence import Evidence
    from penstock.models.local.question import Question, Term

_NEAR = 8  # lines on either side that speak for a line
_SCOPE = 120  # lines below a definition that may still belong to it, where nothing that was seen ends it
_TELLING = 8  # letters of a word that names a file, as a rule, where it is the name of one
_AWAY = 0.6  # what a line weighs outside the file that the question names
_FEW = 3  # definitions of a word that is a name
_SPREAD = 0.5  # of the weight of a line, for what else of the question its file holds
_DEPTH = 0.97  # for each folder that a file lies in
_OUTSIDE = 0.75  # what a line weighs outside the function that the question names
_AGAIN = 0.4  # what a term is worth that was quoted elsewhere
_COMMON = 8  # lines that a word may stand on before it counts for less

_TESTS = re.compile(r"(?:^|/)(?:\w+_)?tests?(?:/|$)|(?:^|/)test_[^/]*$|_test\.[a-z]+$|(?:^|/)conftest\.py$")
_FOREIGN = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|_?vendor(?:ed)?|third_party|node_modules|examples?|demos?)/"
)
_STUB = re.compile(r"\.pyi$|\.html?$|\.d\.ts$|(?:^|/)pydoc_data/")

_MODIFIERS = r"(?:(?:async|pub|export|static|public|private|abstract|default)\s+)*"
DEFINES = rf"^\s*{_MODIFIERS}(?:def|class|function|func|fn|struct|interface|type|enum|trait|module|#define)\s+"
_DEFINITION = re.compile(rf"{DEFINES}(?:\([^)]*\)\s*)?(\w+)")
_ASSIGNMENT = re.compile(r"^\s*(?:(?:const|let|var|final|static)\s+)*([\w.\[\]'\"-]+)\s*(?::[^=]+)?:?=(?!=)\s*(\S.*)$")
_VALUE = r"""(?:-?\d|[frbuFRBU]{0,2}["']|True\b|False\b|None\b|[A-Z][A-Z0-9_]{2,}\b(?!\()|min\(|max\(|[({\[])"""
_EMPTY = re.compile(r"""(?:0|None|False|\[\]|\{\}|\(\)|""|'')\s*(?:#.*)?$""")  # where something begins, as a rule
_COMPARED = re.compile(r"[<>]=?\s*\.?\d\d")
_HOLDS_NUMBER = re.compile(r"\d|[A-Z]{3}")  # or a constant, which stands for one
_IS_VALUE = re.compile(_VALUE)
_LITERAL = re.compile(r"""[-\d"'\[({]""")
_ONLY_NAME = re.compile(r"(?:self\.)?(?!(?:None|True|False)\b)([A-Za-z_]\w*)\s*(?:#.*)?")
_IMPORT = re.compile(r"^\s*(?:from\s+\S+\s+)?import\b|^\s*(?:#include|use|using)\b")
_LISTED = re.compile(r"""^\s*(?:__all__\b.*|(?:["'][\w.]+["'],?\s*)+\]?\)?)$""")
_RAISE = re.compile(r"\b(?:raise|throw|throws|panic|errors?\.New|Errorf|error|fail|abort|exit)\b")
_RAISES = re.compile(r"^\s*(?:raise|throw)\s+\w")
_BUILTIN = re.compile(r"\b(?:Value|Type|Runtime|Key|Index|Attribute|NotImplemented|Assertion|OS|IO)Error\b")
_RETURN = re.compile(r"^\s*(?:return|yield)\s+\S")
_PROSE = re.compile(r"^\s*(?:#.*|>>>.*|[^=({\[]*[A-Za-z]+(?: [A-Za-z'`][A-Za-z'`-]*){3,}[^=]*)$")
_STATEMENT = re.compile(
    r"^\s*(?:if|elif|for|while|with|return|raise|yield|assert|del|except)\b.*(?:\w[(\[]|:\s*(?:#.*)?$)"
)
_ERROR_CLASS = re.compile(
    r"^\s*class \w*(?:Error|Exception|Warning)\w*\b|^\s*class \w+\(\w*(?:Error|Exception|Warning)\)"
)
ENVIRONMENT = re.compile(r"environ\b|\w*getenv|process\.env|std::env")
FILE_NAME = re.compile(r"""["'](?:[^"'\s]*/[\w.-]+|[^"'\s/]*\.[a-z]\w{1,9})["']""")
_ERROR_NAME = re.compile(r"\b\w*(?:Error|Exception|Warning)\b")


_CLASS = re.compile(r"^\s*(?:\w+\s+)*(?:class|struct|interface|enum|trait|module)\b")
_SHORT = 40  # lines of a definition that may leave its work to others
_MAX_CALLED = 10
_CALLED = re.compile(r"(?:\bself\.|(?:^|[^.\w]))(_?[a-z]\w{2,})\(")


class Hit(NamedTuple):
    """A line that may answer.

    `score` orders them; `covered` is the share of the question that stands on it, near it or in its path; `worth` is what it gains
    for what it is, `rule` the same in words.
    """

    path: str
    line: int
    score: float
    covered: float
    worth: float
    terms: tuple[Term, ...]
    rule: str


def may_be_name(term: Term) -> bool:
    """Whether a plain word could be the name of something that is defined: `urlsplit`."""
    return term.form == "word" and term.text.isalnum() and term.text[0].isalpha() and term.weight >= CALLED


def may_name_place(term: Term) -> bool:
    """Whether a file of that name is the one that is meant: what is called so, and words too long to be so by chance."""
    return term.place and (term.weight >= CALLED or len(term.text) >= _TELLING)


def learned(question: Question, evidence: Evidence) -> Question:
    """The question, with those of its words as names that few lines define."""
    often = Counter(
        name
        for path, lines in evidence.lines.items()
        if not _TESTS.search(path)
        for line in lines.values()
        if (name := defined_name(line)) is not None
    )
    return question.with_names(
        {term.text for term in question.terms if may_be_name(term) and 0 < often[term.text] <= _FEW}
    )


def place_factor(path: str, question: Question) -> float:
    """What a line weighs for where it lies."""
    factor = 1.0
    if _TESTS.search(path) and not question.speaks_of_tests:
        factor *= 0.4
    if _FOREIGN.search(path):
        factor *= 0.5
    if _STUB.search(path):
        factor *= 0.6
    if path.rpartition("/")[2].startswith("_") and not path.endswith("__init__.py"):
        factor *= 0.95
    return factor


def path_credit(path: str, term: Term) -> float:
    """How much of a term the name of a file or folder says."""
    if not term.place:
        return 0.0
    wanted = term.text.lower().removesuffix("()")
    *folders, name = path.lower().split("/")
    if term.folder and term.folder not in folders:
        return 0.0
    stem = name.split(".")[0]
    if wanted in (stem, name, path.lower()):
        return 0.9
    stem = stem.strip("_")
    if wanted == stem or wanted in folders:
        return 0.8
    if term.form != "name" and len(wanted) > 3 and (wanted in stem or (len(stem) > 3 and stem in wanted)):
        return 0.5
    if term.form != "name" and len(wanted) > 2 and any(part.startswith(wanted) for part in (stem, *folders)):
        return 0.5
    return 0.3 if len(wanted) > 3 and stem.startswith(root_of(wanted)) else 0.0


def home(question: Question, evidence: Evidence) -> Callable[[str], bool]:
    """Whether a path is, or lies in, what the question calls by its name; every path where no such place was seen."""
    is_named = any(term.weight >= CALLED for term in question.terms)
    homes = [
        t
        for t in question.terms
        if may_name_place(t)
        and (t.weight >= CALLED or not is_named)
        and any(path_credit(path, t) >= 0.8 for path in [*evidence.places, *evidence.lines])
    ]
    if not homes or "call" in question.kinds:
        return lambda _: True
    return lambda path: any(path_credit(path, term) >= 0.8 for term in homes)


def defined_name(line: str) -> str | None:
    """What a line defines with a word for it: a class, a function."""
    found = _DEFINITION.match(line)
    return found[1] if found else None


def is_class(line: str) -> bool:
    """Whether what it defines has definitions in it, as a rule."""
    return _CLASS.match(line) is not None


def assigned(line: str) -> tuple[str, str] | None:
    """The name and the value of an assignment."""
    found = _ASSIGNMENT.match(line)
    return (found[1], found[2]) if found else None


def assignment_of(lines: dict[int, str], name: str) -> int | None:
    """The line, of those seen, that gives a name its value."""
    return next(
        (n for n in sorted(lines) if (made := assigned(lines[n])) and made[0].removeprefix("self.") == name), None
    )


def is_literal(line: str) -> bool:
    """Whether a line gives a value that says itself what it is."""
    found = assigned(line)
    return found is not None and _LITERAL.match(found[1]) is not None


def goes_on(line: str) -> bool:
    """Whether what a line says ends below it."""
    return line.rstrip().endswith(("[", "(", "{", ",", "\\"))


def only_name(line: str) -> str | None:
    """The name that an assignment only gives another name."""
    found = assigned(line)
    other = _ONLY_NAME.fullmatch(found[1]) if found is not None else None
    return other[1] if other else None


def is_prose(line: str) -> bool:
    """Whether it is written for people: a comment, a sentence of documentation."""
    return _PROSE.match(line) is not None and _STATEMENT.match(line) is None


def is_import(line: str) -> bool:
    """Whether it only takes names from elsewhere."""
    return _IMPORT.match(line) is not None


def _is_number(line: str) -> bool:
    """Whether a line sets something to a number."""
    found = assigned(line)
    return found is not None and found[1][0].isdigit()


def _is_of_kind(question: Question, line: str) -> bool:
    """Whether a line may answer by what it is, without a word of the question: within what the question names."""
    return (
        ("value" in question.kinds and (_is_number(line) or _COMPARED.search(line) is not None))
        or ("result" in question.kinds and _RETURN.match(line) is not None)
        or ("error" in question.kinds and _RAISES.match(line) is not None)
        or ("environment" in question.kinds and ENVIRONMENT.search(line) is not None)
        or ("file" in question.kinds and FILE_NAME.search(line) is not None)
    )


def _is_asked_for(question: Question, line: str) -> bool:
    """Whether a line may answer by what is written near it: what it defines is described below."""
    return "code" in question.kinds and defined_name(line) is not None


def indent_of(line: str) -> int:
    """The spaces before a line."""
    return len(line) - len(line.lstrip())


class Scale:
    """Weighs spans of lines of a question's evidence: one line, or the lines of a passage."""

    def __init__(self, question: Question, evidence: Evidence) -> None:
        self._question = question
        self._evidence = evidence
        self._weights = _weights(question, evidence)
        self._total = sum(self._weights[term] for term in question.terms if term.form != "part") or 1.0
        self._is_at_home = home(question, evidence)
        self._sheets: dict[str, _Sheet] = {}

    def _sheet(self, path: str) -> _Sheet:
        if path not in self._sheets:
            lines = self._evidence.lines[path]
            numbers = sorted(lines)
            on = {n: [term for term in self._question.terms if term.within(lines[n])] for n in numbers}
            by_path = {term: path_credit(path, term) for term in self._question.terms}
            factor = place_factor(path, self._question) * _DEPTH ** path.count("/")
            scopes = _scopes(self._question, lines, numbers)
            self._sheets[path] = _Sheet(
                numbers=numbers,
                on=on,
                scopes=scopes,
                functions=[(first, last) for first, last, _ in scopes if not is_class(lines[first])],
                by_path=by_path,
                factor=factor * (1.0 if self._is_at_home(path) else _AWAY) * self._spread(on, by_path),
                is_home=self._is_at_home(path) and not self._is_at_home(""),
            )
        return self._sheets[path]

    def _spread(self, on: dict[int, list[Term]], by_path: dict[Term, float]) -> float:
        """More for a file that holds more of the question, wherever in it."""
        held = {term for terms in on.values() for term in terms}
        credit = {term: 1.0 if term in held else by_path[term] for term in by_path if term.form != "part"}
        told = sum(self._weights[term] * share for term, share in credit.items())
        return 1 - _SPREAD + _SPREAD * told / self._total

    def weigh(self, path: str, first: int, last: int) -> tuple[float, float, tuple[Term, ...]]:
        """What the terms in, near and around a span are worth; which share of the question that is; and these terms."""
        credit = self._sheet(path).credit(first, last)
        told = sum(self._weights[term] * credit[term] for term in self._question.terms) / self._total
        return (
            told * self._sheet(path).factor_of(first, last),
            min(1.0, told),
            tuple(term for term in credit if credit[term] > 0),
        )

    def weigh_new(self, path: str, first: int, last: int, said: set[Term]) -> tuple[float, float]:
        """The same for a reader who has read some of the terms elsewhere."""
        credit = self._sheet(path).credit(first, last)
        parts = {term: self._weights[term] * credit[term] / self._total for term in self._question.terms}
        new = sum(part * (_AGAIN if term in said else 1.0) for term, part in parts.items())
        return new * self._sheet(path).factor_of(first, last), min(1.0, sum(parts.values()))

    def terms_in(self, path: str, first: int, last: int) -> set[Term]:
        """The terms that stand in a span."""
        on = self._sheet(path).on
        return {term for n in range(first, last + 1) for term in on.get(n, ())}

    def hits(self) -> list[Hit]:
        """The lines on which a term stands, and those of the kind asked for within what is named, the best first."""
        question, made = self._question, []
        outer = {term.folder for term in question.terms}  # what a name of the question is said to be in
        for path, lines in self._evidence.lines.items():
            sheet = self._sheet(path)
            for n in sheet.numbers:
                inside = any(first < n <= last and term.text.lower() not in outer for first, last, term in sheet.scopes)
                is_asked = _is_of_kind if inside or sheet.is_home or sheet.scopes else _is_asked_for
                is_of_kind = is_asked(question, lines[n])
                if not sheet.on[n] and not is_of_kind:
                    continue
                score, covered, terms = self.weigh(path, n, n)
                told = [term for term in sheet.on[n] if sheet.by_path[term] < 0.8]
                worth, rule = _worth(question, lines[n], told, inside)
                made.append(Hit(path, n, score * (1 + worth), covered, worth, terms, rule))
        return sorted(made, key=lambda hit: (-hit.score, hit.path, hit.line))


@dataclass(frozen=True, kw_only=True)
class _Sheet:
    """The lines of a file as a question sees them: the terms on each, in definitions around them and in the path."""

    numbers: list[int]
    on: dict[int, list[Term]]
    scopes: list[tuple[int, int, Term]]
    functions: list[tuple[int, int]]
    by_path: dict[Term, float]
    factor: float
    is_home: bool  # it is what the question names

    def factor_of(self, first: int, last: int) -> float:
        """Less for what stands outside of a function that the question names, where it is in this file."""
        inside = not self.functions or any(begin <= last and first <= end for begin, end in self.functions)
        return self.factor * (1.0 if inside else _OUTSIDE)

    def credit(self, first: int, last: int) -> dict[Term, float]:
        """What each term is worth for a span: whole where it stands in it, less near it."""
        made = dict(self.by_path)
        for n in self.numbers[bisect_left(self.numbers, first - _NEAR) : bisect_left(self.numbers, last + _NEAR + 1)]:
            away = max(first - n, n - last, 0)
            for term in self.on[n]:
                made[term] = max(made[term], 1.0 if not away else 0.65 if away <= 2 else 0.4)
        for begin, end, term in self.scopes:
            if begin < first and last <= end:
                made[term] = max(made[term], 0.75)
        return made


def _weights(question: Question, evidence: Evidence) -> dict[Term, float]:
    """What each term says, less where it stands on many of the lines that were seen."""
    seen = [line for lines in evidence.lines.values() for line in lines.values()]
    made = {}
    for term in question.terms:
        often = sum(term.within(line) for line in seen)
        made[term] = term.weight / (1 + max(0.0, log2((often or 1) / _COMMON)) / 2)
    return made


def _scopes(question: Question, lines: dict[int, str], numbers: list[int]) -> list[tuple[int, int, Term]]:
    """Where the definitions of names of the question reach, as far as was seen."""
    made = []
    for place, n in enumerate(numbers):
        name = defined_name(lines[n])
        term = next((term for term in question.terms if name is not None and term.text == name), None)
        if term is None:
            continue
        last = n + _SCOPE
        for below in numbers[place + 1 :]:
            if (
                lines[below].strip()
                and indent_of(lines[below]) <= indent_of(lines[n])
                and lines[below].strip()[0] not in ")]}"
            ):
                last = below - 1
                break
        made.append((n, min(last, n + 10 * _SCOPE), term))
        called = set(called_by(lines, n))
        made += [(other, other + _SHORT, term) for other in numbers if called and defined_name(lines[other]) in called]
    return made


def called_by(lines: dict[int, str], line: int) -> list[str]:
    """What a short definition calls of the functions about it: it may leave its work to them."""
    if is_class(lines[line]):
        return []
    made: dict[str, None] = {}
    for n in range(line + 1, line + _SHORT):
        if n not in lines:
            break
        if lines[n].strip() and indent_of(lines[n]) <= indent_of(lines[line]) and lines[n].strip()[0] not in ")]}":
            return list(made)[:_MAX_CALLED]
        if defined_name(lines[n]) is None and not is_prose(lines[n]):
            made |= dict.fromkeys(_CALLED.findall(lines[n]))
    return []


def _worth(question: Question, line: str, on: list[Term], inside: bool) -> tuple[float, str]:
    """What a line is worth for what it is, in words too; `inside`: it stands in the definition of a name of the question."""
    if is_import(line):
        return -0.4, "an import"
    if _LISTED.match(line):
        return -0.3, "a list of names"
    is_words = is_prose(line) and bool(question.kinds) and "meaning" not in question.kinds
    ways = [(-0.25 if is_words else 0.0, "a line that has the words")]
    name = defined_name(line)
    if name is not None:
        ways += _definition_ways(question, name, on)
    if "value" in question.kinds:
        ways += [way for way in _value_ways(line, on) if "number" not in question.kinds or _HOLDS_NUMBER.search(line)]
    elif (found := assigned(line)) and any(term.text == found[0] for term in on):
        ways.append((0.1 if {"result", "detail", "code"} & question.kinds else 0.4, f"an assignment to {found[0]}"))
    if "error" in question.kinds:
        ways += _error_ways(line, on, inside)
    if "environment" in question.kinds and ENVIRONMENT.search(line):
        ways.append((0.7, "a line that looks at the environment"))
    if "file" in question.kinds and not is_prose(line) and FILE_NAME.search(line):
        ways.append((0.4, "a line with a file name"))
    if "result" in question.kinds and _RETURN.match(line):
        ways.append((0.7 if inside else 0.2, "a line that returns something"))
    if "call" in question.kinds and name is None and not is_prose(line):
        called = [term.text for term in on if term.form == "name" and re.search(rf"{term.pattern}\(", line)]
        ways += [(0.7, f"a call of {text}") for text in called]
    return max(ways)


def share_of(name: str, on: Sequence[Term]) -> float:
    """How much of a name is made of words of the question, each further one a little more; 0 where none of them is in it."""
    parts = parts_of(name)
    said = sum(any(term.within(part) for term in on) for part in parts)
    if said:
        return said / len(parts) + (said - 1) / 10
    return 0.5 / len(parts) if parts and any(term.within(name) for term in on) else 0.0


def _definition_ways(question: Question, name: str, on: list[Term]) -> list[tuple[float, str]]:
    if any(term.text == name for term in question.names):
        is_within = bool({"value", "result", "detail", "call"} & question.kinds) or (
            "error" in question.kinds and "place" not in question.kinds
        )
        return [(0.1 if is_within else 0.6, f"the definition of {name}")]
    if spoken := share_of(name, on):
        said = f"a definition with the words in its name, {name}"
        if {"value", "error", "environment", "file"} & question.kinds:
            return [(-0.1, said)]
        return [(0.1 if question.names and "code" not in question.kinds else 0.2 + 0.5 * spoken, said)]
    return [(0.4, f"a definition near the words, {name}")] if "code" in question.kinds else []


def _error_ways(line: str, on: list[Term], inside: bool) -> list[tuple[float, str]]:
    if _ERROR_CLASS.match(line):
        name = defined_name(line) or ""
        return [(0.5 + 0.5 * share_of(name, on), f"the definition of the error {name}")]
    if _RAISES.match(line):
        own = 0.0 if _BUILTIN.search(line) else 0.15
        return [(own + (0.8 if inside and (on or own) else 0.55), "a line that raises")]
    if _RAISE.search(line) and not is_prose(line):
        return [(0.3, "a line that raises or reports")]
    return [(0.25, "a line that names an error")] if _ERROR_NAME.search(line) else []


def _value_ways(line: str, on: list[Term]) -> list[tuple[float, str]]:
    ways: list[tuple[float, str]] = []
    found = assigned(line)
    if found is not None and _IS_VALUE.match(found[1]):
        spoken = share_of(found[0], on)
        constant = 0.2 * found[0].isupper() - 0.3 * (_EMPTY.match(found[1]) is not None)
        if spoken:
            ways.append((0.4 + 0.5 * spoken + constant, f"an assignment of a value to {found[0]}"))
        elif constant > 0 or not on:
            ways.append((0.3, f"an assignment of a value to {found[0]}"))
    ways += [
        (0.4 + 0.2 * min(1, term.weight) + 0.1 * (term.form == "name"), f"a default or value given to {term.text}")
        for term in on
        if re.search(rf"(?:{term.pattern})\w*[\"']?\s*(?::[^=,()]*)?=\s*{_VALUE}", line)
    ]
    if re.search(r"(?i)default\w*\W.*(?:\d|[\"'`]\w|\b(?:None|True|False)\b)", line):
        ways.append((0.3, "a line that speaks of a default and a value"))
    if is_prose(line):
        return ways
    if _COMPARED.search(line):
        ways.append((0.5, "a comparison with a number"))
    elif re.search(r"[<>]=?\s*\d", line):
        ways.append((0.3, "a comparison with a number"))
    elif re.search(r"\d", line):
        ways.append((0.1, "a line with a number"))
    return ways
