"""What is asked? The words of a question that can be looked for, how much each says, and what kind of line would answer.

Quoted texts, names and rare words weigh most; words that only say what kind of thing is meant (`default`, `class`, `how many`)
tell the kind of the answer instead. Law: the same text gives the same question. Keeps out: where anything is (`evidence`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from penstock.models.local.vocabulary import KINDS, STOP, is_generic, is_kind_of_name, short_of, stem_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.models.local.vocabulary import Kind

Form = Literal["phrase", "name", "word", "part"]

MAX_TERMS = 12
_PHRASE_CHARS = 200
_READ_CHARS = 2_000  # at either end of a text
CALLED = 2.5  # the weight of what is called so, a module as a rule
_LONG = 6  # letters from which on a word is also looked for in the middle of names: copyfileobj, maxlinelen


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Something to look for: `pattern` is a regular expression of RE2 and of Python alike.

    A `phrase` was quoted, a `name` is written or spoken of as an identifier, the rest are words. A `part` is of a name, or two
    words in one: it speaks for a line, but none has to have it. `place`: it may name a file, in `folder` where that was said.
    """

    text: str
    pattern: str
    weight: float
    form: Form
    place: bool = False
    folder: str = ""

    def within(self, line: str) -> bool:
        """Whether a line holds it."""
        return re.search(self.pattern, line) is not None


@dataclass(frozen=True, kw_only=True)
class Question:
    """The text of a question, its terms in their order, and the kinds of line that would answer it."""

    text: str
    terms: tuple[Term, ...]
    kinds: frozenset[Kind]

    @cached_property
    def names(self) -> tuple[Term, ...]:
        """What has to be found somewhere, or there is no answer: texts that were quoted, and names."""
        return tuple(term for term in self.terms if term.form in {"phrase", "name"})

    def with_names(self, words: set[str]) -> Question:
        """The same, with some of its words as names."""
        terms = (_named(term.text)[0] if term.text in words else term for term in self.terms)
        return replace(self, terms=tuple(terms)) if words else self

    @cached_property
    def speaks_of_tests(self) -> bool:
        """Whether tests are what it is about, which are left behind otherwise."""
        return re.search(r"(?i)\btest(s|ed|ing)?\b", self.text) is not None


_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?:(?<=^)|(?<=[\s(]))'([^'\n]+)'(?=[\s,.;:?!)]|$)")
_WORD = re.compile(r"[^\W\d](?:[\w./]|-(?=[\w-]*[./_]\w))*\w(?:\(\))?|\d[\d._]*\d|\w")
_COMPLAINT = re.compile(r"(\w+(?:Error|Exception|Warning)): ([^\"`\n]+?)(?=[.?!](?:\s|$)|$)")  # as a traceback ends
_FILE = re.compile(
    r"(?i)^[\w./-]+\.(?:py|pyi|c|h|cc|cpp|hpp|cs|js|jsx|ts|tsx|go|rs|java|rb|php|sh|md|rst|txt|toml|json|ya?ml|ini|cfg|sql|html|css|"
    r"cbl|cob|cpy)$"
)
_IDENTIFIER = re.compile(r"^[^\W\d][\w.]*(?:\(\))?$")
_NAMED = re.compile(r"\w_\w|^_|[a-z]\w*[A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\.\w|\(\)$|^[A-Z]{5,}$")
_PARTS = re.compile(r"[A-Z]{2,}(?=[A-Z][a-z]|\b|_|\d)|[A-Z]?[a-z]+|[A-Z]+|\d+")


def read(text: str) -> Question:
    """The question in a text of a user."""
    terms: dict[str, Term] = {}

    def add(*found: Term) -> None:
        for term in found:
            held = terms.get(term.text.lower())
            if held is None or held.weight < term.weight:
                terms[term.text.lower()] = term

    if len(text) > 2 * _READ_CHARS:
        text = f"{text[:_READ_CHARS]}\n{text[-_READ_CHARS:]}"
    text = _COMPLAINT.sub(r'\1 "\2"', text)
    rest = text
    for match in _QUOTED.finditer(text):
        quoted = next(group for group in match.groups() if group is not None).strip()
        rest = rest.replace(match.group(), " , ")
        add(*(_named(quoted) if _IDENTIFIER.match(quoted) or _FILE.match(quoted) else _phrase(quoted)))
    for how, word in _words(rest):
        add(
            *(
                _named(word)
                if how == "name"
                else _place(word)
                if how == "place"
                else _word(word, rest.lstrip().startswith(word))
            )
        )
    add(*_side_by_side(rest), *_in_a_row(rest), *_initials(rest))
    if re.search(_AT_MOST, text):
        add(Term(text="maximum", pattern=_loosely("maximum"), weight=0.6, form="word"))
    if re.search(_TOO_LONG, text):
        add(Term(text="timeout", pattern=_loosely("timeout"), weight=1.2, form="word"))
    if re.search(_LEFT_OUT, text):
        add(Term(text="default", pattern=_loosely("default"), weight=1.0, form="word"))
    kept = sorted(terms.values(), key=lambda term: (term.form == "part", -term.weight))
    kept = [term for term in kept[:MAX_TERMS] if term.form != "part"] + [t for t in kept if t.form == "part"][
        :MAX_TERMS
    ]
    kinds = frozenset(kind for kind, pattern in KINDS.items() if re.search(rf"(?i)\b(?:{pattern})\b", rest))
    return Question(text=text, terms=tuple(term for term in terms.values() if term in kept), kinds=kinds)


_LEFT_OUT = (
    r"(?i)\b(?:(?:none|nothing|no \w+) is (?:given|passed|set)|(?:do not|don't|does not) (?:pass|give|set)|omit)"
)
_TOO_LONG = r"(?i)\b(?:too long|how long .*\bwait|gives? up|times? out|timed out)\b"
_AT_MOST = r"(?i)\b(?:how (?:many|long|large|big|often|deep)|at most|up to|gives? up)\b"


def _side_by_side(text: str) -> Iterator[Term]:
    """Two words that stand beside each other, as programs write them in one: `block size`, BLOCKSIZE, block_size."""
    for left, right in pairwise(_WORD.finditer(text)):
        pair = left.group().lower(), right.group().lower()
        if text[left.end() : right.start()] not in (" ", "-") or any(word in STOP or len(word) < 3 for word in pair):
            continue
        if not all(word.isalpha() for word in pair):
            continue
        first, second = map(stem_of, pair)
        yield Term(text=" ".join(pair), pattern=rf"(?i:{first}[a-z]{{0,3}}[\s_-]?{second})", weight=0.8, form="part")


def _in_a_row(text: str) -> Iterator[Term]:
    """Three words with a stop word among them, as a message may have them: `not a zip`."""
    words = [match.group() for match in _WORD.finditer(text)]
    for three in zip(words, words[1:], words[2:], strict=False):
        stops = [word.lower() in STOP for word in three]
        if any(stops[:2]) and not stops[2] and all(word.isalpha() for word in three):
            *before, last = three
            pattern = r"\s+".join([*before, stem_of(last.lower())])
            yield Term(text=" ".join(three), pattern=f"(?i:\\b{pattern})", weight=0.7, form="part")


def _initials(text: str) -> Iterator[Term]:
    """What two or three words are called for short: `byte order mark`, BOM; `garbage collection`, gc."""
    for run in re.findall(r"[A-Za-z]+(?:[ -][A-Za-z]+)+", text):
        words = re.split(r"[ -]", run)
        for many in (2, 3):
            for some in zip(*(words[n:] for n in range(many)), strict=False):
                if not any(word.lower() in STOP or len(word) < 3 for word in some):
                    short = "".join(word[0] for word in some).lower()
                    yield Term(text=short, pattern=rf"(?i:(?:\b|_){short}(?:\b|_))", weight=0.4 * many, form="part")


def _words(text: str) -> list[tuple[str, str]]:
    """The words that are no stop words, each as a name, a place or a word.

    What stands beside `class`, `function` and the like is a name, beside `module` a place: `the shlex module`. A plain word before
    them is one only after an article: `the prime function`, not `environment variables`. What does something and has no article
    is called so: `does tempfile try`.
    """
    words = [match.group() for match in _WORD.finditer(text)]
    spoken = {word: "place" for word in _WITHIN.findall(text) if not _is_plain(word)}
    verbs = set(_VERB.findall(text))  # which function reads: no name
    for before, one, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if re.fullmatch(r"module|package|library", one):
            other = after if before.lower() in STOP else before
            if other and other.lower() not in STOP:
                spoken[other] = "place"
        is_said = (
            before.lower() == "the" or not after.islower()
        )  # the function prime, which class Pump; not variables let
        if (
            is_kind_of_name(one)
            and one != one.upper()
            and after
            and is_said
            and after not in verbs
            and not _is_plain(after)
        ):
            spoken.setdefault(after, "name")
        if is_kind_of_name(after) and not _is_plain(one) and (before.lower() == "the" or not one.islower()):
            spoken.setdefault(one, "name")
        if re.fullmatch(r"(?i)do|does|did", before) and not _is_plain(one) and not one.endswith("s"):
            spoken.setdefault(one, "place")
    made: list[tuple[str, str]] = []
    for word in words:
        is_name = _NAMED.search(word) is not None
        if is_name or not (word.lower() in STOP or is_kind_of_name(word.lower())):
            made.append(("name" if is_name else spoken.get(word, "word"), word))
    return made


_VERB = re.compile(
    r"\b(?:[Ww]hich|[Ww]hat) (?:\w+ ){0,2}(?:class|function|method|module|exception|decorator|constant) ([a-z]+s)\b"
)


_WITHIN = re.compile(r"\b[Ii]n ([a-z]\w+)(?=[?,.:;]|$)")  # In shlex, what is; what is it in ftplib?


def _is_plain(word: str) -> bool:
    """Whether it cannot be a name, beside whatever it stands."""
    lower = word.lower()
    return (
        lower in STOP
        or is_generic(lower)
        or is_kind_of_name(lower)
        or len(word) < 3
        or (len(word) > 5 and word.endswith(("ing", "ed")))
    )


def _phrase(text: str) -> list[Term]:
    """A quoted text as it stands, with any white space; and three words of it at a time, as a program may break it up."""
    words = text[:_PHRASE_CHARS].split()
    if not words:
        return []
    pieces = list(zip(words, words[1:], words[2:], strict=False)) if len(words) > 3 else []
    made = [Term(text=" ".join(piece), pattern=_spaced(piece), weight=1.2, form="part") for piece in pieces]
    return [Term(text=text, pattern=_spaced(words), weight=5, form="phrase"), *made]


def _spaced(words: Iterable[str]) -> str:
    """Words one after another, in any letter case, with any white space."""
    pattern = r"\s+".join(map(re.escape, words))
    return f"(?i:{pattern})"


def parts_of(name: str) -> list[str]:
    """The words that a name is made of: `copy`, `Buf`, `SIZE`."""
    return list(_PARTS.findall(name))


def _named(text: str) -> list[Term]:
    """A name, and the words that it is made of; of a dotted one the last part, the ones before it name places."""
    bare = text.removesuffix("()")
    if "/" in bare or _FILE.match(bare):
        last = bare.rsplit("/", 1)[-1]
        return [Term(text=bare, pattern=rf"\b{re.escape(last)}\b", weight=2, form="word", place=True)]
    *before, last = [part for part in bare.split(".") if part]
    if last.isdigit():  # a file of some kind, app.log.1, or a version
        return [Term(text=bare, pattern=re.escape(bare), weight=1, form="word")]
    made = [
        Term(text=part, pattern=_exactly(part), weight=CALLED, form="word" if part.islower() else "name", place=True)
        for part in before
    ]
    weight = 3.0 + min(len(last), 20) / 20
    folder = before[-1].lower() if before else ""
    exact = Term(text=last, pattern=_exactly(last), weight=weight, form="name", place=True, folder=folder)
    parts = [part for part in parts_of(last) if len(part) > 2]
    if len(parts) > 1:
        made += [Term(text=part, pattern=_loosely(part), weight=0.3, form="part") for part in parts]
    return [exact, *made]


def _place(text: str) -> list[Term]:
    """The name of a module."""
    return [Term(text=text, pattern=_exactly(text), weight=CALLED, form="word", place=True)]


def _word(text: str, is_first: bool) -> list[Term]:
    lower = text.lower()
    if text.isdigit():
        return [Term(text=text, pattern=_exactly(text), weight=2 if len(text) > 2 else 1, form="word")]
    if len(text) == 1:
        return []
    weight = 0.5 if is_generic(lower) else 1 + min(len(text), 10) / 20
    if text.isupper() or not re.search("[aeiouy]", lower):  # short for something
        weight = 2
    elif text[0].isupper() and not is_first:
        weight = CALLED
    return [Term(text=text, pattern=_loosely(text), weight=weight, form="word", place=len(text) > 2)]


def _exactly(name: str) -> str:
    return rf"\b{re.escape(name)}\b"


def _loosely(word: str) -> str:
    """A word in its other forms and short for it, also as a part of a name: not `port` in `import`."""
    stem = stem_of(word.lower())
    begun = stem if len(stem) < _LONG else None
    short = short_of(word.lower())
    left = "|".join(part for part in (begun and re.escape(begun), short) if part)
    ways = [rf"(?i:(?:\b|_)(?:{left}))"] if left else []
    if long := "|".join(other for other in (short or "").split("|") if other.isalpha() and len(other) >= _LONG):
        ways.append(f"(?i:{long})")
    if begun is None:
        ways.append(f"(?i:{re.escape(stem)})")
    else:
        ways.append(f"[a-z0-9]{re.escape(stem.capitalize())}")
    if len(stem) > 3:
        ways.append(f"[A-Z]{re.escape(stem.upper())}")
    return "|".join(ways)
