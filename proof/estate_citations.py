"""Does the place that an edge cites have a name of one of its ends?

Read as text: the statement that begins on the cited line, up to a line that ends in a period; what a COPY in it brings; the record
of a screen that it shows; the items that SPECIAL-NAMES gives to every ACCEPT; the cursor that it fetches from, the SELECT of its
file, the item that has the length of its record, the file whose records are not here, the class or the word of a vocabulary that
it invokes; and, of code that a precompiler translated, the comments above. An end may be named as it is, by what contains it or is
contained in it, by its level 88s, its section, its file. Leaves to others: whether a statement that has the name does what the edge
says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from proof.estate_views import JAPANESE, LITERAL, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proof.estate_views import EstateView, Json

    from penstock.scribe.gathering import GatheredFile

_STATEMENT_LINES = 200  # the most lines of a statement that are read for a name
_NAME = re.compile(rf"[\w$#@:&.*{JAPANESE}-]+")
_NO_PART = frozenset(".:*")  # of the name of an item, but of some others
_DECLARED = re.compile(rf"(?:^(?:[\w ]{{6}}.)?|\.)\s*(\d\d?)\s+([\w$#@:{JAPANESE}-]+)")
_SECTION = re.compile(r"(?<![\w-])(?:DIVISION|SECTION)\s*[.U]")
_SHOWN = re.compile(
    r"\b(?:FROM|USING|TO|INTO|SOURCE|OBJECT|CONTROL|LINE|COL|COLUMN)\s+(?:IS\s+)?[A-Z]|\bCOPY\s"
    r"|\b(?:ENTRY-FIELD|PUSH-BUTTON|CHECK-BOX|RADIO-BUTTON|LIST-BOX|COMBO-BOX|LABEL|GRID|BITMAP|FRAME)\b"
)  # of an entry: of a screen
_TRANSLATED = re.compile(r"(?i)['\"](?:sqlg\w+|DFHEI1|DSNHLI|SQLADDR|IDMS|ADABAS)")
_CURSOR = re.compile(r"\bDECLARE\s+([\w-]+)\s[^.]*?\bCURSOR\b.*?END-EXEC", re.DOTALL)
_SELECT = re.compile(r"\bSELECT\s+(?:OPTIONAL\s+)?([\w-]+)([^.]*(?:\.(?!\s)[^.]*)*)")
_FILE = re.compile(r"\b[FS]D\s+([\w-]+)([^.]*)\.(.*?)(?=\b[FS]D\s|\bSECTION\b|\Z)", re.DOTALL)
_ACCEPTED = re.compile(r"\b(?:CURSOR|CRT\s+STATUS)\s+(?:IS\s+)?([\w-]+)")
_WRITTEN = re.compile(r"\b(?:RE)?WRITE\s+([\w-]+)")
_VARYING = re.compile(r"\bDEPENDING\s+(?:ON\s+)?([\w-]+)")
_PROCEDURE = re.compile(r"\bPROCEDURE\s+DIVISION\b")
_CLASS = re.compile(r"([\w-]+)\s+IS\s+CLASS\s+['\"]([\w$-]+)")
_CLASS_ID = re.compile(r"\bCLASS-ID\s*\.\s*([\w-]+)")
_INVOKED = re.compile(r"\bINVOKED\s+AS\s+==\s*([\w-]+)")
_ENTRY = re.compile(r"(?:\bENTRY|\bPROGRAM-ID\s*\.\s*[\w-]+\s+AS)\s+['\"]([\w$#@-]+)['\"]")
_PROTOTYPE = re.compile(r"\bPROGRAM-ID\s*\.\s*([\w-]+)(.*?)\bEND\s+PROGRAM\b", re.DOTALL)
_OF_MAPS = "LFAICPHVO"  # what the name of a field or map ends in, by what it holds
_REPLACED = re.compile(r"==([^=]*)==\s*BY\s*==([^=]*)==", re.IGNORECASE)
_COPIED_WITH = re.compile(
    r"\bCOPY\s+['\"]?([\w$#@-]+)(?:\.\w+)?[^.]*?\bREPLACING\b([^.]*(?:\.(?!\s)[^.]*)*)", re.IGNORECASE
)
_MEMBER = re.compile(r"^(?:.{6})?\?SECTION\s+([\w-]+)", re.MULTILINE)  # of a library of NonStop's, which a COPY names
_JOINED_WITH = re.compile(r"\bCOPY\s+['\"]?([\w$#@-]+)[^.]*?\bJOINING\s+(\S+)\s+(?:AS\s+)?(PREFIX|SUFFIX)\b")
_HYPHENS = ("-", "\uff0d")
_UNNAMED = re.compile(r"\.STEP\d+$")
_NUMBER = re.compile(r"#\d+$")  # of items of one name
_TAGGED = re.compile(r"([\w-]*)[:(][\w-]+[:)]([\w-]*)")
_SHORTEST = 3  # letters of a literal that may be a part of a name
_COPY = re.compile(
    r"(?im)(?:\b(?:COPY|INCLUDE|EXEC)|\+\+INCLUDE|^-INC)\s+(?:MEMBER=|PROC=)?['\"]?(?:[\w.~:\\/-]*[\\/])?([\w$#@-]+)"
)
_GIVEN = re.compile(r"^line (\d+): ")
_BESIDE = frozenset({"redefines", "is record of", "bound to", "overlaps", "declared in"})


class Citations:
    """The files of an estate as text, and by what names its nodes are known there.

    Args:
        files: The files.
        view: What is said of them.
    """

    def __init__(self, files: Sequence[GatheredFile], view: EstateView) -> None:
        self._view = view
        self._names: dict[str, frozenset[str]] = {}
        self.lines = {file.path: texts(file.data) for file in files}
        self._kinds = {file.path: file.kind for file in files}
        self._paths = {row["id"]: row["path"] for row in view.nodes}
        self._copied: dict[str, list[str]] = defaultdict(list)
        for path in self.lines:
            self._copied[_stem(path)].append(path)
        self._sections: dict[str, set[str]] = defaultdict(set)
        """The sections that have a paragraph of a name."""
        for document in chain.from_iterable(view.documents.values()):
            for item in document["paragraphs"]:
                if item["section"]:
                    self._sections[item["paragraph_name"].upper()].add(item["section"].upper())
        self._conditions: dict[str, set[str]] = defaultdict(set)
        self._unnamed: dict[str, list[str]] = {}
        """By a condition of an item without a name, all of its conditions: the first is the name of its node."""
        self._screens: dict[str, list[set[str]]] = defaultdict(list)
        self._means: dict[str, list[set[str]]] = defaultdict(list)
        """By a cursor, a file, a record, a class or a word of a vocabulary, what it stands for."""
        self._entries: dict[str, set[str]] = {}
        """By path, the names of ENTRY statements and of AS, which are names of the program."""
        self._accepted: dict[str, set[str]] = {}
        """By path, the items that any ACCEPT sets: where the cursor was, and the key that ended it."""
        self._copied_with: dict[str, set[str]] = defaultdict(set)
        """By copybook, the words that a COPY of it gives to be put into it."""
        self._members: dict[str, set[str]] = {}
        """By path, the names by which a COPY may mean the file or a part of it."""
        self._replaced: dict[str, list[tuple[set[str], set[str]]]] = {}
        """By path, words that stand for others there: those of a REPLACING, and SELF for the class."""
        for path, shown in self.lines.items():
            self._read(path, [text.upper() for text in shown])

    def is_there(self, cited: Json) -> bool:
        """Whether a cited line exists."""
        return bool(1 <= cited["line"] <= len(self.lines.get(cited["path"], ())))

    def name_an_end(self, edge: Json) -> bool:
        """Whether a place that an edge cites names one of its ends, or the one where its reason says that a name is given."""
        names = self._known_as(edge["from"]) | self._known_as(edge["to"])
        if edge.get("verb") in {"part of", "redefines", "declared in"}:
            names |= {"FILLER"}  # known by its first condition, and declared by its own entry
        given = [{**edge["citations"][0], "line": int(line)} for line in _GIVEN.findall(edge.get("why", ""))]
        return any(self._names_one(cited["path"], cited["line"], names) for cited in (*edge["citations"], *given))

    def _known_as(self, node: str) -> frozenset[str]:
        """Return the words by which a source may name a node."""
        found = self._names.get(node)
        if found is None:
            names = {name for one in (node, *self._around[node]) for name in _names_of(one)}
            names |= {_stem(self._paths.get(node, ""))} - {""}
            if node.startswith("program "):
                names |= self._entries.get(self._paths.get(node, ""), set())
            if node.startswith("paragraph "):
                names |= {one for name in _names_of(node) if name in self._sections for one in self._sections[name]}
            known = [one for name in names for one in (name, _tail(name)) if one in self._conditions]
            names.update(*(self._unnamed.get(name, ()) for name in tuple(names)))
            found = self._names[node] = frozenset(names.union(*(self._conditions[one] for one in known)))
        return found

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, path: str, shown: Sequence[str]) -> None:
        item, record, unnamed = "", _Record(), list[str]()
        for text in shown:
            record = self._screen(record, text)
            for level, name in _DECLARED.findall(text):
                if level == "88":
                    self._conditions[item].add(name)
                    self._conditions[_tail(item)].add(_tail(name))
                    if item == "FILLER":
                        unnamed.append(name)
                        self._unnamed[name] = unnamed
                else:
                    item, unnamed = name, []
        whole = "\n".join(shown)
        for found in _CURSOR.finditer(whole):
            self._means[found[1]].append(set(_words(found[0])))
        for name, clauses in _SELECT.findall(_PROCEDURE.split(whole, 1)[0]):
            self._means[name].append(set(_words(clauses)))  # its status, its keys, the keys that end its screens
        self._files(whole)
        self._entries[path] = set(_ENTRY.findall(whole))
        self._accepted[path] = set(_ACCEPTED.findall(_PROCEDURE.split(whole, 1)[0]))
        self._members[path] = {_stem(path), *_MEMBER.findall(whole)}
        for word, name in _CLASS.findall(whole):
            self._means[word].append({name})
        for name, prototype in _PROTOTYPE.findall(whole) if "INVOKED" in whole else ():
            for word in _INVOKED.findall(prototype):
                self._means[word].append({name})
        for name, given in _COPIED_WITH.findall(whole):
            self._copied_with[name].update(_words(given))
        for name, word, side in _JOINED_WITH.findall(whole):
            given = (f"{word}{hyphen}" if side == "PREFIX" else f"{hyphen}{word}" for hyphen in _HYPHENS)
            self._copied_with[name].update(given)
        self._replaced[path] = [(set(_words(before)), set(_words(after))) for before, after in _REPLACED.findall(whole)]
        self._replaced[path] += [({"SELF"}, {name}) for name in _CLASS_ID.findall(whole)]

    def _files(self, whole: str) -> None:
        """Read the files that a source describes: what the statements that name their records mean besides."""
        for file, clauses, records in _FILE.findall(whole):
            if lengths := set(_VARYING.findall(clauses)):  # which a READ sets and a WRITE takes
                declared = chain.from_iterable(map(_DECLARED.findall, records.split("\n")))
                for name in (file, *(name for _, name in declared)):
                    self._means[name].append(lengths)
            copied = _COPY.findall(records)
            if copied and not any(map(self._copied.get, copied)):
                # Its records are not here: what is written and declared nowhere is one.
                declared = chain.from_iterable(map(_DECLARED.findall, whole.split("\n")))
                for name in {*_WRITTEN.findall(whole)} - {name for _, name in declared}:
                    self._means[name].append({file})

    def _screen(self, record: _Record, text: str) -> _Record:
        """Return the record that a line is part of: DISPLAY and ACCEPT of a screen mean the items that it names."""
        if _SECTION.search(text):
            return _Record()
        declared = _DECLARED.findall(text)
        if any(level in {"01", "1", "77"} for level, _ in declared):
            record = _Record()
        record.words.update(_words(text))
        for name in _COPY.findall(text):
            copied = (line for path in self._copied[name] for line in self.lines[path])
            record.words.update(word for line in copied for word in _words(line.upper()))
        if not record.is_screen and _SHOWN.search(text):
            record.is_screen = True
            for name in record.names:
                self._screens[name].append(record.words)
        for _, name in declared:
            record.names.append(name)
            if record.is_screen:
                self._screens[name].append(record.words)
        return record

    @cached_property
    def _around(self) -> dict[str, set[str]]:
        """By node, the nodes that share its bytes or are its other name, whose names a statement may use instead of its own."""
        above: dict[str, set[str]] = defaultdict(set)
        below: dict[str, set[str]] = defaultdict(set)
        beside: dict[str, set[str]] = defaultdict(set)
        for edge in self._view.edges:
            if edge["verb"] == "part of":
                above[edge["from"]].add(edge["to"])
                below[edge["to"]].add(edge["from"])
            elif edge["verb"] in _BESIDE:
                beside[edge["from"]].add(edge["to"])
                beside[edge["to"]].add(edge["from"])
        found: dict[str, set[str]] = defaultdict(set)
        for node in {*above, *below, *beside}:
            near = _closure(node, above) | _closure(node, below)
            found[node] = near | {other for one in (node, *near) if one in beside for other in beside[one]}
        return found

    # ── a place ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _names_one(self, path: str, line: int, names: frozenset[str]) -> bool:
        statement = self._statement(path, line)
        # In fixed format a name may end in column 72, and a number begin right behind it.
        words = {word for text in statement for shown in (text, text[:72]) for word in _words(shown)}
        if not names.isdisjoint(words) or not names.isdisjoint(map(_tail, words)):
            return True
        if "ACCEPT" in words and not names.isdisjoint(self._accepted.get(path, ())):
            return True
        if self._kinds.get(path) == "bms" and not names.isdisjoint(word + end for word in words for end in _OF_MAPS):
            return True
        if given := self._given_to(path):  # a part of each name is that of the copybook
            ends = {end for name in names for end in _parted(name)}
            tagged = [tag.groups() for text in statement for tag in _TAGGED.finditer(text)]
            rests = {name[len(new) :] for name in names for new in given if name.startswith(new)}
            if "" in rests or any(word.endswith(rest) for rest in rests for word in words):
                return True
            begun = {name.removesuffix(new) for name in names for new in given if new.startswith(_HYPHENS)} - names
            if not begun.isdisjoint(words):
                return True
            return any(not ends.isdisjoint(_parted(word)) for word in words) or any(
                name.startswith(before) and name.endswith(behind) for before, behind in tagged for name in names
            )
        said = "\n".join(statement)
        if any(name in value or value in name for value in _values(said) for name in names):
            return True
        meant = [*self._meant(words, self._screens), *self._meant(words, self._means)]
        if "REPLACING" in said or any(not names.isdisjoint(one) for one in meant):
            return True  # what a COPY replaces is named by parts
        if any(before <= words and not names.isdisjoint(after) for before, after in self._replaced.get(path, ())):
            return True
        return any(
            not names.isdisjoint(_words(text.upper())) or "REPLACING" in text.upper()
            for text in self._brought(said, set())
        )

    def _given_to(self, path: str) -> set[str]:
        """Return the words that a COPY gives to be put into a file."""
        return {word for name in self._members.get(path, ()) for word in self._copied_with.get(name, ())}

    def _brought(self, said: str, seen: set[str]) -> Iterator[str]:
        """Yield the lines of what a text copies, and of what is copied there; `seen` are the files that were read."""
        for name in _COPY.findall(said):
            for path in self._copied[name.upper()]:
                if path not in seen:
                    seen.add(path)
                    yield from self.lines[path]
                    yield from self._brought("\n".join(self.lines[path]), seen)

    def _statement(self, path: str, line: int) -> list[str]:
        """Return the lines of a statement in capitals: up to one that ends in a period; of translated code, with comments above."""
        shown = self.lines.get(path, ())
        if any(map(_TRANSLATED.search, shown[line - 1 : line + 2])):
            first = max(1, line - _STATEMENT_LINES)
            return [text.upper() for text in shown[first - 1 : line - 1 + _STATEMENT_LINES]]
        statement: list[str] = []
        for text in shown[line - 1 : line - 1 + _STATEMENT_LINES]:
            statement.append(text.upper())
            if text[:72].rstrip().endswith("."):
                break
        return statement

    @staticmethod
    def _meant(words: set[str], known: dict[str, list[set[str]]]) -> Iterator[set[str]]:
        for word in words:
            yield from known.get(word, ())


class _Record:
    """A record while it is read: the names and the words in it, and whether it is one of a screen."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.words: set[str] = set()
        self.is_screen = False


def _closure(node: str, steps: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    fresh = {node}
    while fresh:
        fresh = {other for one in fresh if one in steps for other in steps[one]} - found
        found |= fresh
    return found


def _names_of(node: str) -> set[str]:
    """Return the words by which a source may name a node."""
    kind, _, name = node.partition(" ")
    whole = name.upper()
    bare = whole.partition("@")[0]
    parts = {whole, bare, whole.rpartition(".")[2], whole.rpartition("::")[2], whole.rpartition("/")[2]}
    parts |= set(whole.split(".")[1:]) if kind in {"field", "paragraph", "file"} else set(_words(whole))
    parts |= {"EXEC"} if _UNNAMED.search(whole) and kind == "step" else set()
    parts |= {part.rpartition(")")[2] for part in parts}  # a marked part of a name, as in `(X)-NAME`, is no word
    parts |= {part.replace("_", "-") for part in parts}  # a name that nothing declares may mean that of its other sign
    parts |= {part.replace("-", "_") for part in parts}
    return {_NUMBER.sub("", part) for part in parts if part}


def _words(text: str) -> Iterator[str]:
    for word in _NAME.findall(text):
        yield word.strip(".:")
        if not _NO_PART.isdisjoint(word):
            yield from re.split(r"[.:*]", word)


def _values(said: str) -> Iterator[str]:
    """Yield the literals of a declaration, whose text may be cut or be a part of a name."""
    if "VALUE" in said:
        values = (found.strip("'\" ") for found in LITERAL.findall(said))
        yield from (value for value in values if len(value) >= _SHORTEST)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].upper()


def _parted(name: str) -> set[str]:
    """Return what is left of a name without its first or last part."""
    return {name.partition("-")[2], name.rpartition("-")[0], name} - {""}


def _tail(name: str) -> str:
    """Return what a copied name keeps of the copybook's, marked: the part behind its first hyphen."""
    return f"-{name.partition('-')[2]}" if "-" in name else name
