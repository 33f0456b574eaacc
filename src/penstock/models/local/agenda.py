"""What next? One more look, or the answer: rules in the order of what they find for what they cost.

Quoted texts first, then names of files, definitions of names to their end, words and lines of the kind asked for within the files
that they point at; where none is named, lines that join two of the words, and the files that hold most of them; and the lines
around the best of what was found. Law: at most `MAX_CALLS` looks, none of them twice, and an end at each point. Keeps out:
what was seen (`memory`), what it weighs (`weighing`), how it is said (`wording`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import chain, combinations
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from penstock.models.local import weighing
from penstock.models.local.passages import given_as
from penstock.models.local.vocabulary import root_of, stem_of
from penstock.models.local.weighing import DEFINES, path_credit, place_factor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.models.local.memory import Memory
    from penstock.models.local.passages import Passage
    from penstock.models.local.question import Question, Term
    from penstock.models.local.weighing import Hit
    from penstock.text.json_access import Json

MAX_CALLS = 12
_ROOM_TOKENS = 2_500  # that the next result and the answer may take: what has less room answers now
_PATTERN_BYTES = 1_000  # a tool takes 1,024
_LISTED = 60
_MATCHES_IN_FILE = 60
_MATCHES_IN_TREE = 20
_AROUND = 40  # lines of a view
_BELOW = 60  # of a definition
_OUTLINED = 80
_COUNTED = 4  # words
_JOINED = 6  # words that may stand on a line together
_MAX_FILES = 100  # that a search counts
_LIKELY = 3
_ENOUGH = 0.8  # of the question near one line
_FAIR = 0.6  # is enough after the usual number of calls
_USUAL = 6
OF_THE_KIND = 0.3  # what a line is worth that gives a value
_MAX_VIEWS = 3
_KNOWN = 5  # lines on either side, where a passage needs no view


class Look(NamedTuple):
    """A call, and what it is for in words that a note can hold."""

    label: str
    tool: str
    arguments: dict[str, Json]


def next_look(memory: Memory, found: list[Hit], chosen: list[Passage], room_tokens: int) -> Look | None:
    """The call to make after what was found, the best first; None where it is time to answer."""
    if memory.calls >= MAX_CALLS or room_tokens < _ROOM_TOKENS:
        return None
    for look in chain(_looks(memory, found, chosen), _whole_lines(memory, chosen)):
        name = memory.tools.get(look.tool)
        is_new = look.label not in memory.tried and (name, look.arguments) not in memory.made
        if name is not None and is_new and len(str(look.arguments.get("pattern", "")).encode()) <= _PATTERN_BYTES:
            return look._replace(tool=name)
    return None


# ── looks, in their order ────────────────────────────────────────────────────────────────────────────────────────


def _looks(memory: Memory, found: list[Hit], chosen: list[Passage]) -> Iterator[Look]:
    question, best = memory.question, [one.hit for one in chosen]
    yield from _what_was_cut(memory)
    if memory.calls >= MAX_CALLS - _MAX_VIEWS:
        yield from _around(memory, best)
        return
    if _settled(memory, found):
        yield from _bodies(memory, _defining(memory, found))
        yield from _handed_on(memory, found)
        yield from _around(memory, best)
        yield from _what_a_name_stands_for(memory, chosen)
        return
    yield from _quoted(question)
    if _is_quoted(question, found):
        yield from _around(memory, found[:1])
        return
    if "call" in question.kinds and (names := [term.text for term in question.names if term.form == "name"]):
        yield _search(f"calls of {', '.join(names)}", rf"\b({'|'.join(map(re.escape, names))})\(", None)
    yield from _files_named(question)
    if any(_is_telling(term) for term in question.terms):
        yield from _definitions(memory, None)
    yield from _bodies(memory, _defining(memory, found))
    if _is_known(memory, places(memory)) or _defining(memory, found):
        yield from _handed_on(memory, found)
        [place, *_] = places(memory)
        yield from _within(memory, found, place)
        yield from _what_a_name_stands_for(memory, chosen)
        if any(hit.path.startswith(place) for hit in found):
            yield from _around(memory, best)
            return
    yield from _definitions(memory, None)
    yield from _together(question, None)
    yield from _census(question)
    for place, _ in likely(memory):
        yield from _within(memory, found, place)
    yield from _around(memory, best)


def _within(memory: Memory, found: list[Hit], place: str) -> Iterator[Look]:
    """In a file or folder that the question names, or that holds most of its words."""
    question, defining = memory.question, _defining(memory, found)
    lines = memory.evidence.lines.get(place, {}).values()
    if {term.text for term in question.names if term.form == "name"} - {weighing.defined_name(line) for line in lines}:
        yield from _definitions(memory, place)
    yield from _bodies(memory, [hit for hit in defining if hit.path.startswith(place)])
    if _is_folder(place):
        yield from _joined_names(question, place)
        yield from _together(question, place)
    yield from _words_within(memory, place)
    yield from _of_the_kind(question, place)
    yield from _imported(memory, found, place)


def _whole_lines(memory: Memory, chosen: list[Passage]) -> Iterator[Look]:
    """Lines that a result or a note clipped: what is quoted is quoted as it stands in the file."""
    for path, line in ((one.path, line) for one in chosen for line in range(one.first, one.last + 1)):
        if memory.evidence.lines[path][line].endswith("…"):
            arguments: dict[str, Json] = {"file_path": path, "offset": line - 1, "limit": 1}
            yield Look(f"the whole of {path}:{line}", "view", arguments)


def _is_quoted(question: Question, found: list[Hit]) -> bool:
    """Whether the best line has a text that was quoted, or a piece of it."""
    quoted = {
        term for phrase in question.terms if phrase.form == "phrase" for term in [phrase, *_pieces(question, phrase)]
    }
    return bool(found) and not quoted.isdisjoint(found[0].terms)


def _is_telling(term: Term) -> bool:
    """A name that few files can define: `urlopen`, `JSONDecoder`, `COPY_BUFSIZE`, not `run`."""
    is_name = term.form == "name" or weighing.may_be_name(term)
    return is_name and (len(term.text) > 6 or not term.text.islower())


def _defining(memory: Memory, found: list[Hit]) -> list[Hit]:
    """The definitions of names of the question, the best first."""
    names = {term.text for term in memory.question.names}
    is_at_home = weighing.home(memory.question, memory.evidence)
    made = [hit for hit in found if weighing.defined_name(memory.evidence.lines[hit.path][hit.line]) in names]
    return [hit for hit in made if place_factor(hit.path, memory.question) > 0.9 and is_at_home(hit.path)][:2]


def _what_was_cut(memory: Memory) -> Iterator[Look]:
    """A result that came as a stub: the lines of it that have the words."""
    for handle in memory.rest:
        pattern = _any_of([term.pattern for term in memory.question.terms])
        yield Look(f"what was cut, {handle}", "find", {"handle": handle, "pattern": f"^## |{pattern}", "limit": 60})
        yield Look(f"page of what was cut, {handle}", "page", {"handle": handle, "offset": 0, "limit": 80})


def _files_named(question: Question) -> Iterator[Look]:
    if words := _place_words(question):
        roots = "|".join(dict.fromkeys(re.escape(root_of(word)) for word in re.findall(r"\w{4,}", words)))
        near = rf"|^([^/]+/)?_*({roots})\w*(/__init__)?\.\w+$" if roots else ""
        pattern = rf"(?i)^([^/]+/)?_*({words})(/[^/]*)?(\.\w+)?$" + near
        yield Look("files named so, near the root", "list_files", _listing(pattern))


def _place_words(question: Question) -> str:
    terms = [term for term in question.terms if term.place and term.weight > 0.5]
    return "|".join(re.escape(term.text.lower().rsplit("/", 1)[-1]) for term in terms)


def _listing(pattern: str) -> dict[str, Json]:
    return {"pattern": pattern, "use_regex": True, "recursive": True, "limit": _LISTED}


def places(memory: Memory) -> list[str]:
    """The files and folders whose names the question says, the most likely first."""
    scored: dict[str, float] = {}
    for path in memory.evidence.places:
        credit = sum(term.weight * said for term in memory.question.terms if (said := path_credit(path, term)) >= 0.5)
        if credit <= 0:
            continue
        *folders, _ = path.split("/")
        score = credit * place_factor(path, memory.question) - 0.05 * len(folders)
        scored[path] = score
    alike = Counter((path.rpartition("/")[0], score) for path, score in scored.items())
    made: dict[str, float] = {}
    for path, score in scored.items():
        folder = path.rpartition("/")[0]
        place = folder if folder and alike[folder, score] > 1 else path  # only the folder's name says anything
        made[place] = max(score, made.get(place, 0.0))
    for path, lines in memory.evidence.lines.items():
        for line in lines.values():
            name = weighing.defined_name(line)
            if any(term.form == "name" and term.text == name for term in memory.question.terms):
                made[path] = max(
                    made.get(path, 0.0),
                    scored.get(path, 0.0) + 3 * place_factor(path, memory.question) - 0.05 * path.count("/"),
                )
    named = [place for place, score in sorted(made.items(), key=lambda item: (-item[1], item[0])) if score > 0.4]
    is_at_home = weighing.home(memory.question, memory.evidence)
    for is_better in (lambda place: place_factor(place, memory.question) > 0.9, is_at_home):
        named = [place for place in named if is_better(place)] or named
    return named


def _definitions(memory: Memory, place: str | None) -> Iterator[Look]:
    """Where the names are defined, assigned or imported from elsewhere, and words that may be names of no file."""
    question, files = memory.question, memory.evidence.places
    named = [term for term in question.terms if term.form == "name"]
    outer = {term.text.lower() for term in named} if place is None else set()  # of Popen.wait first where Popen is
    names = [
        re.escape(term.text) for term in named if term.folder not in outer - {term.text.lower()} or _is_telling(term)
    ]
    words = [
        re.escape(term.text)
        for term in question.terms
        if weighing.may_be_name(term) and not any(path_credit(path, term) >= 0.8 for path in files)
    ]
    if not names and not words:
        return
    pattern = rf"{DEFINES}(\([^)]*\)\s*)?_*({'|'.join([*names, *words])})\b"
    either = "|".join(names)
    if names:
        pattern += rf"|^\s*(self\.|const |let |var )?({either})\b[^=(]*:?=[^=]"
    if names and place is not None:
        pattern += rf"|import .*\b({either})\b|import .* as ({either})\b"
    yield _search(f"definitions of {', '.join([*names, *words])}", pattern, place)


def _is_known(memory: Memory, named: list[str]) -> bool:
    """Whether the question says in which file it is."""
    return bool(named) and not weighing.home(memory.question, memory.evidence)("")


def _is_folder(place: str) -> bool:
    return "." not in place.rpartition("/")[2]


def _of_the_kind(question: Question, place: str) -> Iterator[Look]:
    """The lines of a place that may answer by what they are."""
    if "parts" in question.kinds:
        yield Look(f"outline of {place}", "outline", {"path": place, "limit": _OUTLINED})
    if "error" in question.kinds:
        yield _search("raises", r"^\s*(raise|throw)\s+\w|^\s*class \w*(Error|Exception|Warning)\w*\b", place)
    if "file" in question.kinds:
        yield _search("file names", weighing.FILE_NAME.pattern, place)
    if "environment" in question.kinds:
        yield _search("environment", weighing.ENVIRONMENT.pattern, place)
    if "value" in question.kinds:
        yield _search(
            "values", r"^\s*(self\.)?\w+\s*(:[^=]*)?=\s*\(?-?\d|^[A-Z_][A-Z0-9_]+\s*=\s*.*\d|[<>]=? \d\d", place
        )
    if {"code", "place"} & question.kinds and (words := "|".join(_rarest_words(question))):
        yield _search("names with the words", rf"{DEFINES}\w*({words})", place, ignore_case=True)


def _bodies(memory: Memory, found: list[Hit]) -> Iterator[Look]:
    """What was defined, to its end where that is not far."""
    yield from _around(memory, found)
    for hit in found:
        lines = memory.evidence.lines[hit.path]
        if weighing.is_class(lines[hit.line]):
            continue
        last = hit.line
        while last + 1 in lines:
            last += 1
        indent = weighing.indent_of(lines[hit.line])
        is_open = all(
            weighing.indent_of(lines[n]) > indent or not lines[n].strip() or lines[n].strip()[0] in ")]}"
            for n in range(hit.line + 1, last + 1)
        )
        if is_open and last - hit.line < _BELOW:
            arguments: dict[str, Json] = {"file_path": hit.path, "offset": last, "limit": _BELOW}
            yield Look(f"more of {hit.path}:{hit.line}", "view", arguments)


def _handed_on(memory: Memory, found: list[Hit]) -> Iterator[Look]:
    """Where what was asked for is a short definition that leaves the work to others of its file: these."""
    for hit in _defining(memory, found):
        lines = memory.evidence.lines[hit.path]
        if names := weighing.called_by(lines, hit.line):
            yield _search(f"definitions of {', '.join(names)}", rf"{DEFINES}({'|'.join(names)})\b", hit.path)
            made = [(n, name) for n, line in lines.items() if (name := weighing.defined_name(line)) in names]
            for n, _ in sorted(made, key=lambda one: (-weighing.share_of(one[1], memory.question.terms), one[0])):
                yield from _view_of(hit.path, lines, n)
            return


def _words_within(memory: Memory, place: str) -> Iterator[Look]:
    """The lines of a place that have any of the words which its name does not say; if those are too many, the rarer ones."""
    terms = [term for term in memory.question.terms if path_credit(place, term) < 0.8 and term.form != "part"]
    rare = [term for term in terms if term.weight > 0.5] or terms or list(memory.question.terms)
    pattern = _any_of([term.pattern for term in rare])
    yield _search("words", pattern, place)
    if (shown := memory.evidence.cut.get((place, pattern))) is not None:
        yield _search("more words", pattern, place, offset=shown)


def _imported(memory: Memory, found: list[Hit], place: str) -> Iterator[Look]:
    """Where a name is only imported: the place that it comes from."""
    names = {term.text for term in memory.question.terms if term.form == "name"}
    for hit in found:
        line = memory.evidence.lines[hit.path][hit.line]
        if not hit.path.startswith(place) or not weighing.is_import(line):
            continue
        source = re.match(r"\s*from\s+(\.*)([\w.]*)\s+import\b", line) or re.match(
            r"\s*import\s+(\.*)([\w.]+)\s+as\b", line
        )
        if source is None or not source[2] or not any(re.search(rf"\b{re.escape(name)}\b", line) for name in names):
            continue
        path = source[2].replace(".", "/")
        yield Look(f"files of {source[2]}", "list_files", _listing(rf"(^|/){re.escape(path)}(/__init__)?\.\w+$"))
        for known in memory.evidence.places:
            if re.search(rf"(^|/){re.escape(path)}(/__init__)?\.\w+$", known):
                yield from _definitions(memory, known)
                yield from _words_within(memory, known)
                return


def _quoted(question: Question) -> Iterator[Look]:
    for term in question.terms:
        if term.form == "phrase":
            yield _search(f"the text {_brief(term.text)}", term.pattern, None)
    for term in question.terms:
        if term.form == "phrase" and len(runs := _runs(term.text)) > 1:
            yield _search(
                f"parts of the text {_brief(term.text)}", ".*".join(map(re.escape, runs)), None, ignore_case=True
            )
        if term.form == "phrase" and (pieces := _pieces(question, term)):
            yield _search(f"pieces of the text {_brief(term.text)}", _any_of([piece.pattern for piece in pieces]), None)


def _pieces(question: Question, phrase: Term) -> list[Term]:
    """The pieces of a text that may stand on lines of their own."""
    return [term for term in question.terms if term.form == "part" and term.weight > 1 and term.within(phrase.text)]


def _runs(text: str) -> list[str]:
    """A message without what a program may have filled in: numbers, and what stands in quotes."""
    return [
        run.strip() for run in re.split(r"\d+|'[^']*'|\"[^\"]*\"|<[^>]*>|%\w|\{[^}]*\}", text) if len(run.strip()) > 3
    ]


def _joined_names(question: Question, place: str | None) -> Iterator[Look]:
    """Definitions and assignments whose names join two of the words."""
    words = [word for word in _rarest_words(question) if word.isalpha() and len(word) <= 12][:4]
    if len(words) < 2:
        return
    pairs = "|".join(f"{a}[a-z]*_?{b}|{b}[a-z]*_?{a}" for a, b in combinations(words, 2))
    yield _search(
        "names of two of the words", rf"({DEFINES}|^\s*(self\.)?)\w*({pairs})\w*\s*([(:=]|$)", place, ignore_case=True
    )


def _together(question: Question, place: str | None) -> Iterator[Look]:
    """Lines that hold two of the rarest words."""
    words = _rarest_words(question)[:_JOINED]
    if len(words) > 1:
        pairs = _any_of([f"{a}.*{b}|{b}.*{a}" for a, b in combinations(words, 2)])
        yield _search(f"lines with two of {', '.join(words)}", pairs, place, ignore_case=True)


def _rarest_words(question: Question) -> list[str]:
    """The bare stems of words and names, the weightiest first."""
    terms = sorted(question.terms, key=lambda term: -term.weight)
    words = [stem_of(term.text.lower()) for term in terms if term.form in {"name", "word"}]
    return list(dict.fromkeys(re.escape(word) for word in words if len(word) > 2))


def _census(question: Question) -> Iterator[Look]:
    """In which files the weightiest words are, and how often."""
    words = [term for term in question.terms if term.form in {"name", "word"} and term.weight >= 1]
    for term in sorted(words, key=lambda term: -term.weight)[:_COUNTED]:
        yield Look(f"files with {term.text}", "search", {"pattern": term.pattern, "limit": 1})


def likely(memory: Memory) -> list[tuple[str, float]]:
    """The files that hold the most of what searches counted, what few files hold before the rest, and those that are named."""
    scored: defaultdict[str, float] = defaultdict(float, dict.fromkeys(memory.evidence.places, 0.0))
    for counted in memory.evidence.counts.values():
        for path, lines in counted.items():
            scored[path] += log2(2 * _MAX_FILES / len(counted)) / 5 * lines / (lines + 2)
    for path in scored:
        said = {term: path_credit(path, term) for term in memory.question.terms}
        scored[path] += sum(term.weight * (credit if credit >= 0.8 else credit / 2) for term, credit in said.items())
        scored[path] *= place_factor(path, memory.question)
    for path, score in memory.evidence.likely.items():  # from counts that may be cleared by now
        scored[path] = max(score, scored[path])
    return sorted(scored.items(), key=lambda item: (-item[1], item[0]))[:_LIKELY]


def _around(memory: Memory, found: list[Hit]) -> Iterator[Look]:
    """The lines about hits."""
    for hit in found:
        yield from _view_of(hit.path, memory.evidence.lines[hit.path], hit.line)


def _view_of(path: str, lines: dict[int, str], line: int) -> Iterator[Look]:
    """The lines about one: below a definition, else on both sides."""
    is_definition = weighing.defined_name(lines[line]) is not None
    above, shown = (3, _BELOW) if is_definition else (_AROUND // 2, _AROUND)
    if not all(near in lines for near in range(max(1, line - _KNOWN), line + _KNOWN)):
        arguments: dict[str, Json] = {"file_path": path, "offset": max(0, line - 1 - above), "limit": shown}
        yield Look(f"around {path}:{line}", "view", arguments)


def _what_a_name_stands_for(memory: Memory, chosen: list[Passage]) -> Iterator[Look]:
    """Where the value that was asked for is itself a name: its assignment."""
    for one in chosen[:1]:
        lines = memory.evidence.lines[one.path]
        for name, where in given_as(lines, one, lambda line: stands_for(memory.question, line)):
            if where is not None:
                if weighing.goes_on(lines[where]):
                    yield from _view_of(one.path, lines, where)
                return
            yield _search(f"what {name} is", rf"^\s*(self\.)?{re.escape(name)}\b[^=(]*:?=[^=]", one.path)


def stands_for(question: Question, line: str) -> str | None:
    """The name that a line gives as the value asked for: `timeout=DEFAULT_TIMEOUT`, or the constant in it."""
    if not {"value", "detail"} & question.kinds or weighing.is_prose(line):
        return None
    for term in sorted(question.terms, key=lambda term: -term.weight):
        if given := re.search(rf"\w*(?:{term.pattern})\w*\s*(?::[^=,()]*)?=\s*([A-Za-z_][\w.]*)\s*(?=[,):#]|$)", line):
            name = given[given.lastindex or 0].rsplit(".", 1)[-1]
            if name == "None":  # what is said where nothing is, as a rule, further down
                return str(re.split(r"\W", given.group())[0])
            if name not in {"True", "False", "self"}:
                return name
        if given := re.search(rf"(?:{term.pattern})\w*\((?:self\.)?([a-z_]\w{{4,}})\)", line):
            return str(given[given.lastindex or 0])
    found = re.search(r"[=<>(,]\s*(_?[A-Z][A-Z0-9_]{3,})\b(?!\()|[<>]=?\s*self\.(\w+)\b(?!\()", line)
    return found[found.lastindex or 0] if found else None


def _settled(memory: Memory, found: list[Hit]) -> bool:
    """Whether one line has so much of the question, and is so much of the kind that was asked for, that no more is looked for."""
    if not found:
        return False
    best = found[0]
    if best.covered < (_ENOUGH if memory.calls < _USUAL else _FAIR) or missing_names(memory.question, found):
        return False
    if "value" in memory.question.kinds:
        return best.worth >= OF_THE_KIND
    if "error" in memory.question.kinds and not any(term.form == "phrase" for term in memory.question.terms):
        return best.worth >= OF_THE_KIND and any(label.startswith("raises in") for label in memory.tried)
    return best.worth >= OF_THE_KIND and best.score >= _ENOUGH


def missing_names(question: Question, found: list[Hit]) -> list[str]:
    """The names and quoted texts of which nothing was found."""
    seen = {term for hit in found for term in hit.terms}
    return [
        term.text
        for term in question.names
        if term not in seen and not (term.form == "phrase" and seen.intersection(_pieces(question, term)))
    ]


def _search(label: str, pattern: str, place: str | None, **more: Json) -> Look:
    limit = _MATCHES_IN_TREE if place is None else _MATCHES_IN_FILE
    where = {} if place is None else {"path": place}
    written = f"{label} in {place}" if place is not None else label
    return Look(written, "search", {"pattern": pattern, **where, "limit": limit, **more})


def _any_of(patterns: list[str]) -> str:
    """As many of them as a tool takes."""
    made = ""
    for pattern in patterns:
        longer = f"{made}|{pattern}" if made else pattern
        if len(longer.encode()) <= _PATTERN_BYTES - 8:
            made = longer
    return made


def _brief(text: str) -> str:
    return text.replace(";", ",") if len(text) <= 40 else text[:39].replace(";", ",") + "…"
