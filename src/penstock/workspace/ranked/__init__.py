"""Which passages of the files answer a question in words? A search by relevance over an index that is first brought up to date.

Every call walks the folder as `search` does, reads what changed, and queries the index; what it shows is read from the files at
that moment. So a file that is ignored, hidden, refused or gone is neither indexed nor shown, however old the index is. Law: the
same files give the same passages in the same order. Leaves to others: sentences (`penstock.tools`), cutting (`passages`), SQLite
(`index`), and how the files have changed (`update`).
"""

from __future__ import annotations

import os
from collections import defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.text import escape
from penstock.workspace.pattern import selected
from penstock.workspace.ranked import index as indexes
from penstock.workspace.ranked.passages import words_of
from penstock.workspace.ranked.update import Files, Update, read_text, stamp_of
from penstock.workspace.refusals import expect_from
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.ranked.index import Hit, Index
    from penstock.workspace.root import Root
    from penstock.workspace.walk import Omitted

MAX_RANKED = 300
"""How many passages are compared and can be paged through; beyond that, another question finds more."""
MAX_PAGE = 10
"""Passages per page."""
MAX_LINE_CHARS = 400
"""Characters of a line that are shown, as in a search."""

_MAX_QUESTION_BYTES = 4096
_TEST_SHARE = 0.5  # how much a test's passage counts: it uses a program's words more often than the program does
_FILE_SHARE = 0.1  # of the scores of the file's other passages: a file about the question has the better ones
_FILE_PASSAGES = 5


class RankedPassage(NamedTuple):
    """Lines `start_line` to `end_line` of a file, inert and clipped; a larger `score` is a better match."""

    path: str
    start_line: int
    end_line: int
    lines: tuple[str, ...]
    score: float


class Ranking(NamedTuple):
    """A page of `passages`, skipping `offset` of the `total` that were ranked; paths are relative to the root.

    `more_matches` says whether passages beyond `MAX_RANKED` also contain words. `complete` is False if not all files are in the
    index: `unindexed` of them did not fit, or the time of the call ended (`out_of_time`) and the next call continues.
    `partial_files` are indexed with their beginnings only.
    """

    passages: tuple[RankedPassage, ...]
    words: tuple[str, ...]
    total: int
    offset: int
    next_offset: int | None
    more_matches: bool
    indexed_files: int
    indexed_passages: int
    complete: bool
    out_of_time: bool
    unindexed: int
    partial_files: int
    binary: int
    secret: int
    changed: int  # passages left out because their file changed while they were read
    omitted: Omitted


def rank(
    root: Root,
    question: str,
    path: str = ".",
    *,
    glob: str = "*",
    offset: int = 0,
    limit: int = MAX_PAGE,
    include_hidden: bool = False,
    include_ignored: bool = False,
    index_folder: str | None = None,
    index_redacted: bool = False,
    deadline: Deadline,
    progress: Callable[[int], None] | None = None,
) -> Ranking:
    """Return the passages beneath `path` that are most relevant to a question, the best first.

    Args:
        root: What may be read.
        question: Words, at most 4,096 bytes of them.
        path: A folder, or one file.
        glob: Only files whose path matches.
        offset: Passages to skip.
        limit: Passages of the page, at most `MAX_PAGE`.
        include_hidden: Also names that begin with a dot.
        include_ignored: Also files that ignore rules exclude.
        index_folder: Where indexes are kept, a private folder outside the root; without one, a temporary index is made.
        index_redacted: Whether an index contains no word of what looks like a secret; such an index is a separate one.
        deadline: When the call ends; what is indexed by then is kept.
        progress: Called with the number of files examined.

    Raises:
        ToolError: A question without words, a path that cannot be searched, an invalid number, or an index that another process
            holds too long.
    """
    expect_from(0, offset=offset)
    expect_from(1, limit=limit)
    words = _asked(question)
    relative = root.relative(path)
    name = _name(root, relative, include_hidden=include_hidden, include_ignored=include_ignored)
    name = f"redacted-{name}" if index_redacted else name
    folder = _outside(root, index_folder)
    # A damaged index is no reason to fail: it is deleted, this call makes a temporary one, and the next call a lasting one. If the
    # temporary one is damaged too, the disk is faulty, and the loop ends.
    while True:
        files = Files(root, path, include_hidden=include_hidden, include_ignored=include_ignored, deadline=deadline)
        try:
            with indexes.opened(folder if files.walk is not None else None, name) as index:
                update = Update(root, index, deadline, progress, is_redacted=index_redacted)
                update.run(files)
                weighed, more = _weighed(index, words, root.tied(glob, path), files.prefix)
            break
        except indexes.DamagedIndexError as error:
            if folder is None:
                raise ToolError("io_error", f"No index for ranked search can be made: {error}.") from error
            folder = None  # it is gone, and the next call rebuilds it; this call uses a temporary one
    end = offset + min(limit, MAX_PAGE)
    shown, changed = _shown(root, weighed[offset:end])
    return Ranking(
        passages=tuple(shown),
        words=tuple(words),
        total=len(weighed),
        offset=offset,
        next_offset=end if end < len(weighed) else None,
        more_matches=more,
        indexed_files=update.indexed,
        indexed_passages=index.passages,
        complete=update.unindexed == 0 and files.is_complete,
        out_of_time=not files.is_complete,
        unindexed=update.unindexed,
        partial_files=update.partial,
        binary=update.binary,
        secret=update.secret,
        changed=changed,
        omitted=files.omitted,
    )


def _asked(question: str) -> list[str]:
    """Return the words to rank by. Raises `ToolError` if there is none, or far too many."""
    if len(question.encode("utf-8", "replace")) > _MAX_QUESTION_BYTES:
        raise ToolError("bad_argument", f"A ranked search takes at most {_MAX_QUESTION_BYTES} bytes of words.")
    words = words_of(question)
    if not words:
        raise ToolError("bad_argument", "There is no word to rank by. Give words that the text may hold.")
    return words


def _name(root: Root, relative: bytes, *, include_hidden: bool, include_ignored: bool) -> str:
    """Return the name of an index: one for each folder that is asked about, and each selection of files.

    How rare a word is depends on what else is in an index. If one index served several selections, an answer would depend on
    earlier questions.
    """
    told = b"\0".join((os.fsencode(root.path), relative, b"%d%d" % (include_hidden, include_ignored)))
    return f"{blake2b(told, digest_size=16).hexdigest()}.sqlite3"


def _outside(root: Root, folder: str | None) -> str | None:
    """Return the folder for indexes, unless it is in the tree that is searched."""
    if folder is None:
        return None
    above = os.path.join(os.path.realpath(os.fsdecode(root.path)), "")
    return None if os.path.join(os.path.realpath(folder), "").startswith(above) else folder


# ── the results ──────────────────────────────────────────────────────────────────────────────────────────────────


def _weighed(index: Index, words: list[str], glob: str, prefix: bytes) -> tuple[list[Hit], bool]:
    """Return the best passages in order, and whether there are others that contain words."""
    takes = selected(glob).takes
    hits: list[Hit] = []
    more = False
    for hit in index.hits(words):
        # The glob is applied here and not in the index: the rarity of a word must be the same whatever files are asked for.
        folder, slash, name = os.fsdecode(hit.path.removeprefix(prefix)).rpartition("/")
        if takes is not None and not takes(folder + slash, [name]):
            continue
        if len(hits) == MAX_RANKED:
            more = True
            break
        hits.append(hit)
    is_about_tests = not {"test", "tests", "testing", "tested"}.isdisjoint(words)
    weighed = [hit._replace(score=hit.score * _worth(hit.path, is_about_tests)) for hit in hits]
    weighed.sort(key=lambda hit: (-hit.score, hit.path, hit.first))
    # A file's best passages raise one another's scores. `best` keeps one more than are counted, so that a passage among them has as
    # many others as one that is not; the hits come best first, so the first ones are the best.
    beside: dict[bytes, list[float]] = defaultdict(list)
    for hit in weighed:
        if len(beside[hit.path]) <= _FILE_PASSAGES:
            beside[hit.path].append(hit.score)
    made = []
    for hit in weighed:
        best = beside[hit.path]
        others = sum(best) - hit.score if hit.score >= best[-1] else sum(best[:_FILE_PASSAGES])
        made.append(hit._replace(score=hit.score + _FILE_SHARE * others))
    # Rounded, because sums of floats in another order differ in their last digits, and the same files must give the same order.
    return sorted(made, key=lambda hit: (-round(hit.score, 6), hit.path, hit.first)), more


def _worth(path: bytes, is_about_tests: bool) -> float:
    return 1.0 if is_about_tests or not _is_test(os.fsdecode(path).lower()) else _TEST_SHARE


def _is_test(path: str) -> bool:
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    is_named = stem.startswith("test_") or stem.endswith("_test") or ".test." in name or ".spec." in name
    return is_named or any(folder in {"test", "tests", "testing"} or folder.endswith("_test") for folder in folders)


def _shown(root: Root, hits: list[Hit]) -> tuple[list[RankedPassage], int]:
    """Return the passages as the files have them now, and how many are left out because their file has changed."""
    shown: list[RankedPassage] = []
    changed = 0
    texts: dict[bytes, tuple[str, list[str]]] = {}
    for hit in hits:
        if hit.path not in texts:
            texts[hit.path] = _lines(root, hit.path)
        stamp, lines = texts[hit.path]
        if stamp != hit.stamp.removeprefix("?"):
            changed += 1
            continue
        clipped = tuple(_clipped(line) for line in lines[hit.first - 1 : hit.last])
        score = round(hit.score, 3)
        shown.append(RankedPassage(escape.show_name(hit.path), hit.first, hit.last, clipped, score))
    return shown, changed


def _lines(root: Root, path: bytes) -> tuple[str, list[str]]:
    """Return the stamp of a file and its lines; no stamp if it may no longer be read."""
    try:
        file = root.open_file(path)
    except ToolError:
        return "", []
    try:
        return stamp_of(file.status), (read_text(FileSource(file))[1] or "").split("\n")
    except OSError:
        return "", []
    finally:
        file.close()


def _clipped(line: str) -> str:
    shown = escape.show(line[: MAX_LINE_CHARS + 1].rstrip("\r"))[0]
    return shown if len(shown) <= MAX_LINE_CHARS else shown[: MAX_LINE_CHARS - 1] + "…"
