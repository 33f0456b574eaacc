"""How does a page of a file look, and how much of it fits? The header, then the body, within one allowance.

The workspace decides where a page ends, and asks this room (`Renderer`) what a range of lines, text or symbols would cost as
rendered: gutters, escapes and the marks of clipped lines take more room than the bytes on disk. The header comes first but is known
last, since it says where the page ends; `read_page` is the loop that settles both.

Law: a page is measured as it is rendered, so that measure and result cannot differ. Leaves to others: which page, and where its
text comes from (workspace).
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, notices
from penstock.text.window import Window
from penstock.tools.record import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.outline import Symbol
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect
    from penstock.text.window import Line
    from penstock.tools.invocation import Invocation
    from penstock.workspace.reading import OutlinePage

# The room for a header grows in steps, so that pages of one file have the same room and end at the same positions.
_HEADER_STEP = 32
# A page that shrinks says so, which takes room again; and the whole may have more tokens than its parts together.
_LOOKS = 10
# For a cap in tokens: the least that text takes. A page that takes more tokens is cut to fit.
_BYTES_PER_TOKEN = 3
# Kept free of an allowance for the header when the cap of a page is fixed, in the allowance's own unit.
_HEADER_SHARE = 640
# Deeper nesting is indented like this: the indent alone must not fill a page.
_DEEPEST = 30
_LONE_CR = "a lone carriage return (\\x0d) ends no line"


def read_page(call: Invocation, read: Callable[[Renderer], Window | OutlinePage], *, cat: bool = False) -> Result:
    """Return the page that `read` gives, as text within the allowance of the call.

    Args:
        call: the call that asks, with its allowance and dialect.
        read: gives the page for a renderer, which it asks for the cost of a beginning of the page. It is called again with less
            room if the page and its header together are too long.
        cat: whether lines are numbered as `cat -n` does, rather than in the compact gutter of `view`.

    Raises:
        ToolError: if not even the smallest page is within the allowance, and whatever `read` raises.
    """
    # The header can be measured only with its page: 640 units (a third of a small allowance) are reserved for it, and if that was
    # too little the next attempt reserves more: the shortfall, then twice that, then four times (`over << look`), because a page
    # that ends elsewhere has another header, and the tokens of a whole are not the sum of its parts.
    allowed = call.allowance
    reserve = min(_HEADER_SHARE, allowed.limit // 3)
    cap = (allowed.limit - reserve) * (_BYTES_PER_TOKEN if allowed.unit == "tokens" else 1)
    renderer = Renderer(allowed, 0, cap, call.dialect, cat=cat)
    for look in range(_LOOKS + 1):
        renderer.limit = max(1, allowed.limit - reserve)
        page = read(renderer)
        if look == _LOOKS and isinstance(page, Window):
            # The minimum: the page and its next call, without the way back and why it ends here.
            page = page._replace(previous=None, bound="")
        text = renderer.render(page)
        over = allowed.measure(text) - allowed.limit
        if over <= 0:
            if isinstance(page, Window):
                call.reads.page(page.path, page.start_byte, page.end_byte, page.version)
                if call.shown is not None:
                    call.shown(page)
            return Result(text, outcome="partial" if isinstance(page, Window) and page.bound == "deadline" else "done")
        reserve = max(reserve + (over << look), allowed.measure(text.partition("\n")[0] + "\n"))
        reserve += -reserve % _HEADER_STEP
    raise ToolError("bad_argument", notices.over_allowance(allowed, allowed.limit + over))


class Renderer:
    """The `PageRoom` of a page: what it may take once rendered, and the rendering.

    Fitting measures a page several times, each time a shorter beginning of the same page: what was rendered once is cut, not
    rendered again. `limit` may be lowered between two attempts at the same page.

    Args:
        allowance: in whose unit everything is measured.
        limit: how much of it the page may take, header not included.
        cap_bytes: the largest window on disk that may be read.
        dialect: the syntax of the calls that are printed.
        cat: whether lines are numbered as `cat -n` does.
    """

    def __init__(self, allowance: Allowance, limit: int, cap_bytes: int, dialect: Dialect, *, cat: bool) -> None:
        self.allowance = allowance
        self.limit = limit
        self.cap_bytes = cap_bytes
        self.dialect = dialect
        self._gutter = notices.cat_gutter if cat else notices.gutter
        # The last rendering, with its source: `_show` and `_numbered` cut their answers out of it.
        self._text, self._shown = "", ""
        self._ends: dict[int, int] = {}  # where lines end in the source and in the rendering, once needed
        self._lines: list[Line] = []
        self._rows: list[str] = []
        self._escapes: list[int] = []  # of each line; empty if no line has any

    def lines(self, lines: Sequence[Line]) -> int:
        """Return what numbered lines take, in the unit of the allowance."""
        return self.allowance.measure(self._numbered(lines)[0])

    def text(self, text: str) -> int:
        """Return what text without line numbers takes."""
        return self.allowance.measure(self._show(text))

    def symbols(self, symbols: Sequence[Symbol]) -> int:
        """Return what entries of an outline take."""
        return self.allowance.measure(_outline(symbols))

    def render(self, page: Window | OutlinePage) -> str:
        """Return a page as the model sees it: the header, then the body."""
        if not isinstance(page, Window):
            return f"{_outline_header(page, self.dialect)}\n{_outline(page.page.items)}"
        if page.lines or page.first_line == 0:
            body, escaped = self._numbered(page.lines)
        else:
            body = self._show(page.text)
            escaped = escape.count_escapes(page.text, body)
        # What is not visible in the page itself: that its lines end in CRLF, or that a lone CR in it ends none.
        said = page.notices
        if "\r" in page.text:
            crlf = page.text.count("\r\n")
            said += ((notices.CRLF,) if crlf else ()) + ((_LONE_CR,) if page.text.count("\r") > crlf else ())
        head = notices.header(page, self.dialect, escaped=escaped + page.invalid_bytes, notices=said)
        return f"{head}\n{body}" if body else head

    def _show(self, text: str) -> str:
        """Return a text made inert; for the first lines of a text that was shown before, the first lines of its result.

        Escapes keep line ends, so the n-th line of the source is the n-th line of the result.
        """
        if text == self._text:
            return self._shown
        if self._text.startswith(text):
            self._ends = self._ends or dict(zip(_line_ends(self._text), _line_ends(self._shown), strict=True))
            if len(text) in self._ends:
                return self._shown[: self._ends[len(text)]]
        self._text, self._shown, self._ends = text, escape.show_text(text), {}
        return self._shown

    def _numbered(self, lines: Sequence[Line]) -> tuple[str, int]:
        """Return the rows of lines as one text, and how many characters are escaped in them."""
        count = len(lines)
        if self._lines[:count] != list(lines):
            self._lines = list(lines)
            self._rows, self._escapes = self._number(lines)
        return "\n".join(self._rows[:count]), sum(self._escapes[:count])

    def _number(self, lines: Sequence[Line]) -> tuple[list[str], list[int]]:
        """Return the row of each line, and how many characters are escaped in each (empty if there are none at all)."""
        # All at once, which costs a tenth. The tab keeps a carriage return at the end of a line from merging with the separator
        # after it.
        whole = "".join([line.text + "\t\n" for line in lines])
        shown, count = escape.show(whole)
        texts, escapes = [line.text for line in lines], list[int]()
        if shown != whole:
            texts = shown.split("\t\n")[:-1]
        if count:
            escapes = [escape.count_escapes(line.text, text) for line, text in zip(lines, texts, strict=True)]
        if any(line.way is not None for line in lines):
            texts = [
                text if line.way is None else text + notices.clipped(line, self.dialect.write(line.way))
                for line, text in zip(lines, texts, strict=True)
            ]
        return [self._gutter(line.number, text) for line, text in zip(lines, texts, strict=True)], escapes


def _line_ends(text: str) -> Iterable[int]:
    """Return where each line of a text ends, its line end included."""
    return accumulate([len(line) + 1 for line in text.split("\n")])


# ── outlines ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _outline_header(outline: OutlinePage, dialect: Dialect) -> str:
    """Return the first line of an outline: the file's size, which entries these are, how they were found, and what is next."""
    page, some = outline.page, "" if outline.complete else "at least "
    first, last = (page.offset + 1, page.offset + len(page.items)) if page.items else (0, 0)
    parts = [
        notices.outline_of(outline.total_lines, outline.total_bytes, is_complete=outline.complete),
        f"entries {first}-{last} of {some}{page.total}",
        outline.language if outline.method == "plain text" else f"{outline.language} by {outline.method}",
        f"version {outline.version}",
    ]
    if outline.method == "plain text":
        parts.insert(3, "no grammar for it: blocks of plain text")
    if outline.next is not None:
        parts.append(f"next: {dialect.write(outline.next)}")
    parts.append(f"show {outline.unit} A-B with {dialect.mention('view').removesuffix('()')}, offset=A-1")
    return f"{notices.title(outline.path)}: " + " | ".join(parts)


def _outline(symbols: Sequence[Symbol]) -> str:
    """Return the entries of an outline, one per line."""
    return "\n".join(map(outline_entry, symbols))


def outline_entry(symbol: Symbol) -> str:
    """Return a landmark as a line, indented by its depth; escapes cannot make its name longer than any other."""
    name = escape.shorten(escape.show_text(symbol.name))
    return f"{'  ' * min(symbol.depth, _DEEPEST)}{symbol.start_line}-{symbol.end_line} {name}"
