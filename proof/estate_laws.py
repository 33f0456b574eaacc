"""What may change nothing in what is said of an estate (C-13, C-14, C-16)?

Files are changed in a way that means nothing to a compiler, read again, and compared: another folder, another order, CRLF, filled
columns 1 to 6 and 73 to 80, more comment lines (all lines move, and nothing else), other letters' case, and a program in a file of
its own. These laws need no judge of what is right. Leaves to others: whether what is said is right in the first place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from proof.estate_views import filled, is_plain, named, view

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from proof.estate_views import EstateView, Json

    from penstock.cobol import ScannedSource
    from penstock.scribe.gathering import GatheredFile

    Change = Callable[[GatheredFile, ScannedSource | None, random.Random], bytes]

FOLDER = "qq9moved/"
CRUD = ("create", "read", "update", "delete")
_LINES = frozenset({"first_line", "last_line", "start_line", "line", "lines", "read_lines", "written_lines", *CRUD})
"""Keys of documents that have lines of the document's own file."""
_ABOUT_SIZE = frozenset({"comment_lines", "copybook_line", "why", "end_line"})
"""Keys that comments change: how many there are, lines of another file or of one that is not named, and the end of a paragraph,
which may be before or behind the comments above the next one."""
_EXEC, _END_EXEC = re.compile(r"(?i)\bexec\b"), re.compile(r"(?i)\bend-exec\b")
_SENTENCES = frozenset({"resolved_from", "program_type_reason", "dead_code_reason", "doubts", "question", "reason"})
"""Keys of texts that are the product's own and may name a line: evidence and literals have the words of the source."""
_LINE_IN_TEXT = re.compile(r"(?:^|\bat |\()line (\d+)")
_SHOWN = 3  # differences of one law
_AROUND = 60  # characters around a difference


def faults(files: Sequence[GatheredFile], before: EstateView, draw: random.Random) -> Iterator[str]:
    """Yield what a change that means nothing changed.

    Args:
        files: The files of an estate.
        before: What is said of them.
        draw: Where comments are drawn.
    """
    whole = _Told(before)
    moved = view(named((f"{FOLDER}{file.path}", file.data) for file in files))
    yield from whole.differing("C-14: in another folder", _Told(moved, without=FOLDER))
    yield from whole.differing("C-16: read in reverse", _Told(view(files[::-1])))
    yield from whole.differing("C-13: with CRLF", _Told(view(_each(files, before, _with_crlf, draw))))
    yield from whole.differing("C-13: with filled columns", _Told(view(_each(files, before, _filled, draw))))
    folded = _Told(before, is_folded=True)
    yield from folded.differing(
        "C-14: in other letters", _Told(view(_each(files, before, _lowered, draw)), is_folded=True)
    )
    yield from _commented(files, before, draw)
    yield from _alone(files, before)


class _Told:
    """What is said of an estate, as texts that can be compared."""

    def __init__(
        self,
        seen: EstateView,
        *,
        without: str = "",
        is_folded: bool = False,
        moved: dict[str, list[int]] | None = None,
        is_moved: bool = False,
    ) -> None:
        def text(value: Any, path: str = "") -> str:
            said = json.dumps(_moved(value, moved, path) if moved is not None or is_moved else value, sort_keys=True)
            said = said.replace(without, "") if without else said
            return said.upper() if is_folded else said

        self.nodes = Counter(text(row, row["path"]) for row in seen.nodes)
        self.edges = Counter(text(edge) for edge in seen.edges)
        self.documents = {
            path.removeprefix(without): [{key: text(value, path) for key, value in one.items()} for one in found]
            for path, found in seen.documents.items()
        }

    def differing(self, law: str, after: _Told) -> Iterator[str]:
        """Yield the first differences of another telling."""
        for what, mine, other in (("nodes", self.nodes, after.nodes), ("edges", self.edges, after.edges)):
            lost, new = mine - other, other - mine
            if lost or new:
                one = next(iter((lost or new).elements()))
                yield f"{law}: {lost.total()} {what} are lost and {new.total()} are new, as {one}"
        here, there = self.documents, after.documents
        differing = [path for path in sorted({*here, *there}) if here.get(path) != there.get(path)]
        for path in differing[:_SHOWN]:
            difference = _first(here.get(path), there.get(path))
            yield f"{law}: {len(differing)} documents differ, as {path}: {difference}"


def _first(before: list[dict[str, str]] | None, after: list[dict[str, str]] | None) -> str:
    if before is None or after is None or len(before) != len(after):
        return f"{len(before or ())} programs become {len(after or ())}"
    for one, other in zip(before, after, strict=True):
        for key, said in one.items():
            if said != (now := other[key]):
                pairs = enumerate(zip(said, now, strict=False))
                at = next((at for at, (old, new) in pairs if old != new), min(len(said), len(now)))
                around = slice(max(0, at - _AROUND), at + _AROUND)
                return f"{key}: …{said[around]}… becomes …{now[around]}…"
    return ""


def _each(files: Sequence[GatheredFile], before: EstateView, change: Change, draw: random.Random) -> list[GatheredFile]:
    """Return the files, each changed; those that a change cannot treat are left as they are."""
    made = []
    for file in files:
        one = before.subjects.get(file.path)
        made.append((file.path, change(file, one.source if one else None, draw)))
    return named(made)


# ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_crlf(file: GatheredFile, _source: ScannedSource | None, _draw: random.Random) -> bytes:
    return file.data.replace(b"\n", b"\r\n") if is_plain(file.data) else file.data


def _filled(file: GatheredFile, source: ScannedSource | None, _draw: random.Random) -> bytes:
    numbered = filled(file.data, source) if source is not None else None
    return file.data if numbered is None else numbered


def _lowered(file: GatheredFile, source: ScannedSource | None, _draw: random.Random) -> bytes:
    """Return a program with its words in small letters; literals and comments stay."""
    if source is None or not is_plain(file.data):
        return file.data
    made, quote = [], ""
    for number, line in enumerate(file.data.decode().split("\n"), 1):
        if number > source.lines or source.kinds[number - 1] not in {"code", "debug"}:
            made.append(line)
            continue
        area = 0 if source.format_at(number) == "free" else 7
        end = 72 if source.format_at(number) == "fixed" else len(line)
        is_continued = area == 7 and line[6:7] == "-"
        if not is_continued:
            quote = ""
        elif quote:  # the literal begins again with its quote
            area += len(line[7:]) - len(line[7:].lstrip()) + 1
        text, at = list(line), area
        while at < min(end, len(line)):
            letter = line[at]
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "'\"":
                quote = letter
            elif line.startswith("*>", at) or (area == 0 and letter == "|"):
                break
            else:
                text[at] = letter.lower()
            at += 1
        made.append("".join(text))
    return "\n".join(made).encode()


def _commented(files: Sequence[GatheredFile], before: EstateView, draw: random.Random) -> Iterator[str]:
    """Add comment lines to programs: each line moves, and what is said of it moves along."""
    moved: dict[str, list[int]] = {}

    def comment(file: GatheredFile, source: ScannedSource | None, _draw: random.Random) -> bytes:
        lines = file.data.decode("latin-1").split("\n")
        if source is None or not is_plain(file.data):
            return file.data
        made: list[str] = []
        places = moved[file.path] = [0]
        begun = {part.program.start_line for part in before.subjects[file.path].parts}
        is_begun = is_sql = False
        for number, line in enumerate(lines, 1):
            may_be = is_begun and not is_sql and number <= source.lines and number not in source.joined | begun
            if may_be and draw.random() < 0.2 and not (number > 1 and _is_open(lines[number - 2])):
                made.append("*> a remark" if source.format_at(number) == "free" else "      * A REMARK")
            made.append(line)
            places.append(len(made))
            is_begun = is_begun or (number <= source.lines and source.is_code(number))
            is_sql = (is_sql or bool(_EXEC.search(line))) and not _END_EXEC.search(line)
        return "\n".join(made).encode("latin-1")

    after = view(_each(files, before, comment, draw))
    whole = _Told(before, moved=moved)
    yield from whole.differing("C-16: with more comments", _Told(after, is_moved=True))


def _is_open(line: str) -> bool:
    """Whether a literal may go on behind a line."""
    return line.count("'") % 2 == 1 or line.count('"') % 2 == 1


def _moved(value: Any, moved: dict[str, list[int]] | None, path: str, key: str = "") -> Any:
    """Return a value with its lines where they are now; without what comments change in any case."""
    if isinstance(value, dict):
        own = path or value.get("path", "")  # a row of the graph has its path, a document that of its file
        return {
            name: _moved(inner, moved, own, name)
            for name, inner in value.items()
            if name not in _ABOUT_SIZE and not (name == "lines" and isinstance(inner, int))
        }
    if isinstance(value, list):
        return [_moved(inner, moved, path, key) for inner in value]
    if moved is None:
        return value
    places = moved.get(path, [])
    if type(value) is int and key in _LINES and 0 < value < len(places):
        return places[value]
    if isinstance(value, str) and key in _SENTENCES:
        return _LINE_IN_TEXT.sub(
            lambda found: (
                found[0].replace(found[1], str(places[int(found[1])])) if int(found[1]) < len(places) else found[0]
            ),
            value,
        )
    return value


def _alone(files: Sequence[GatheredFile], before: EstateView) -> Iterator[str]:
    """Read each program of a file with several in a file of its own."""
    by_path = {file.path: file for file in files}
    for path, one in before.subjects.items():
        outer = [at for at, part in enumerate(one.parts) if part.program.parent is None]
        source = one.source
        if len(outer) < 2 or len(source.switches) > 1 or source.replacing or not is_plain(by_path[path].data):
            continue
        others = [(file.path, file.data) for file in files if file.kind != "cobol" and file.path != path]
        for at in outer:
            program, told = one.parts[at].program, before.documents[path][at]
            alone = view(named([*others, (path, source.bytes_of(program.start_line, program.end_line))]))
            places = {path: [*range(program.start_line - 1, program.end_line + 1)]}
            found = [_own(_moved(document, places, path)) for document in alone.documents.get(path, [])[:1]]
            if found != (mine := [_own(_moved(told, None, path))]):
                name = told["header"]["program_id"]
                yield f"C-14: alone, {path} {name} differs: {_first(_texts(mine), _texts(found))}"


def _own(document: Json) -> Json:
    """Return what a document says of its program alone."""
    own = {key: value for key, value in document.items() if key not in {"warnings", "calling_context"}}
    # Lines of another program may say that column 72 is no end.
    form = "fixed" if document["header"]["format"] == "variable" else document["header"]["format"]
    return {**own, "header": {**document["header"], "format": form}}


def _texts(documents: Sequence[Json]) -> list[dict[str, str]]:
    return [{key: json.dumps(value) for key, value in document.items()} for document in documents]
