"""What was seen? The lines that results of tools show, by file and number.

A result is read by the form in which its tool writes it. Law: a line is quoted as it was shown, under the number that stood beside
it. Keeps out: conversations (`memory`), and which line answers (`weighing`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from penstock.store.pages import FOUND_LINE
from penstock.tools.listing import is_name
from penstock.tools.pages import OUTLINE_ENTRY
from penstock.tools.search import FILE_COUNT, FILE_HEAD, MORE_FILES, NUMBERED, SHOWN


@dataclass(slots=True)
class Evidence:
    """`lines` by path and number, `places`: files whose names a listing showed, `counts`: by pattern, and by path, the lines
    that a search told; nothing of a pattern that too many files have. `likely`: files that a note holds
    for likely, by a score. `cut`: by path and pattern, the lines of a longer result that were shown."""

    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    places: dict[str, None] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    likely: dict[str, float] = field(default_factory=dict)
    cut: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, path: str, number: int, text: str) -> None:
        """A line; the longest form in which it was shown stays."""
        held = self.lines.setdefault(path, {})
        if len(held.get(number, "")) <= len(text):
            held[number] = text

    # ── results ──────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self, tool: str, text: str, path: str = "", pattern: str = "") -> bool:
        """What a result shows; whether there was anything in it. `path` and `pattern` are what the call named."""
        before = sum(map(len, self.lines.values())) + len(self.places)
        match tool:
            case "search":
                self._read_search(text.splitlines(), "" if path else pattern)
                if (shown := SHOWN.match(text)) and int(shown[2]) < int(shown[1]):
                    self.cut[path, pattern] = int(shown[2])
            case "view":
                for line in text.splitlines()[1:]:
                    if path and (numbered := NUMBERED.match(line)):
                        self.add(path, int(numbered[1]), numbered[2])
            case "outline":
                for line in text.splitlines()[1:]:
                    if outlined := OUTLINE_ENTRY.match(line):
                        self.add(path, int(outlined[2]), outlined[1] + outlined[4])
            case "list_files":
                for line in text.splitlines():
                    if is_name(line):
                        self.places[line] = None
            case _:
                pass
        return sum(map(len, self.lines.values())) + len(self.places) > before

    def _read_search(self, lines: list[str], pattern: str) -> None:
        path, told, shown = "", {}, Counter[str]()
        for line in lines:
            if head := FILE_HEAD.match(line):
                path = head[1]
            elif path and (numbered := NUMBERED.match(line)):
                self.add(path, int(numbered[1]), numbered[2])
                shown[path] += 1
            elif not path and (counted := FILE_COUNT.match(line)):
                told[counted[2]] = int(counted[1])
        if pattern and not any(MORE_FILES.match(line) for line in lines):
            self.counts[pattern] = told or dict(shown)  # all that there are on one page are not counted beside it


def kept_text(tool: str, text: str) -> str:
    """What `page` or `find` shows of a kept output, as the output itself had it."""
    lines = text.splitlines()[1:]
    if tool == "find":
        lines = [found[1] for line in lines if (found := FOUND_LINE.match(line))]
    return "\n".join(lines)
