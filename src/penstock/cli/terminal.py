"""How does output look on a terminal? Tables and progress, drawn by rich on a terminal and nowhere else.

Law: a stream that is not a terminal, or is a dumb one (`TERM=dumb`), gets plain text, byte for byte what scripts have always
read, and rich is not even loaded: that takes as long as a whole `penstock view`. With `NO_COLOR` set nothing is coloured, bold
or dim. Text that is not ours has been escaped before it comes here; none of it is interpreted as markup.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import contextmanager
from io import BufferedWriter, FileIO, TextIOWrapper
from time import monotonic
from typing import TYPE_CHECKING, Literal, TextIO

from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence
    from types import TracebackType

    import rich.console
    import rich.progress
    from _typeshed import ReadableBuffer

_CELL_BYTES = 80  # of a cell that others have written
_NAME_CHARS = 24  # a handle has 22
_NUMBER = r"-?[\d.]+(?:-[\d.]+)?(?: \w+)?"  # 12, -3.5, 2-5, 40 bytes
_QUIET_SECONDS = 1.0  # anything faster needs no progress: a line that flashes by only disturbs
_REFRESH_SECONDS = 0.2
_LOST = {"stdout": {errno.EIO}, "stderr": {errno.EIO, errno.EPIPE, errno.ENOSPC, errno.EDQUOT}}
"""Errors for which a write to an output is dropped, by the output's name in `sys`."""
LOG_SECONDS = 60.0
"""Seconds between two progress lines of a long task, if there is no terminal to draw on."""


def is_watched(stream: TextIO | None) -> bool:
    """Return whether a person watches a stream, on a terminal that can draw; a closed stream is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}


def outlive() -> None:
    """From now on, drop what is written to a terminal that is gone, instead of failing in the middle of a step.

    A write may come between the end of a terminal and the signal for it, which a shell passes on, or withholds from a disowned
    process: only the signal says whether to continue. On standard error no message is worth failing for either: its reader may have
    gone, its disk may be full, and the answer goes elsewhere.
    """
    if sys.platform == "win32":
        return  # its consoles end a process themselves, and take characters in another way than as bytes
    for name, reasons in _LOST.items():
        stream = getattr(sys, name)
        if stream is not None and (stream.isatty() or stream is sys.__stderr__):
            stream.flush()
            written = BufferedWriter(_Lossy(stream.fileno(), reasons))
            setattr(sys, name, TextIOWrapper(written, stream.encoding, stream.errors, line_buffering=True))


@contextmanager
def output_on_terminal() -> Iterator[None]:
    """Redirect standard output to the terminal of standard input while this lasts, wherever it normally goes.

    A line is edited only if both are terminals; only the answers go to the pipe.

    Raises:
        OSError: There is no terminal that can be written to.
    """
    if sys.platform == "win32" or (sys.stdout is not None and sys.stdout.isatty()):
        yield
        return
    from penstock.workspace.system import terminal_behind

    if sys.stdout is not None:
        sys.stdout.flush()
    shown = terminal_behind(sys.stdin.fileno())
    kept = os.dup(1)
    try:
        os.dup2(shown, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(shown)


class _Lossy(FileIO):
    """A descriptor that drops what cannot be written for certain reasons."""

    def __init__(self, descriptor: int, reasons: Container[int]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._reasons = reasons

    def write(self, data: ReadableBuffer) -> int:
        """Write the data, or drop all of it. Raises OSError for any other reason."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in self._reasons:
                raise
            return len(memoryview(data))


def watched_columns() -> int | None:
    """Return how wide the terminal is on which a person watches standard output; None if nobody watches it there."""
    return console_for(sys.stdout).width if is_watched(sys.stdout) else None


def is_coloured(stream: TextIO) -> bool:
    """Return whether a stream may be coloured: it is watched, and nobody objects (no-color.org)."""
    return is_watched(stream) and not os.environ.get("NO_COLOR")


def warn(sentence: str) -> None:
    """Print a sentence for the person on standard error: standard output belongs to the answer."""
    print(f"penstock: {sentence}", file=sys.stderr, flush=True)


def console_for(stream: TextIO) -> rich.console.Console:
    """Return a console as wide as the terminal that takes text literally: no markup, no emoji, no guessed highlights."""
    from rich.console import Console

    # `color_system=None` also drops bold and dim, which rich's own reading of NO_COLOR keeps.
    colours: Literal["auto"] | None = "auto" if is_coloured(stream) else None
    return Console(file=stream, color_system=colours, markup=False, emoji=False, highlight=False)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def render_table(head: Sequence[str], rows: Iterable[Sequence[object]], *, has_plain_head: bool = True) -> str:
    """Lay out rows as a table for standard output, for a person or a script.

    Args:
        head: The names of the columns.
        rows: The cells of each row, one for each column; foreign text in them is escaped and cut here. A cell that is a tuple
            has several lines, which only a terminal shows beneath each other.
        has_plain_head: Whether plain text shows the names of the columns too.

    Returns:
        The table without a line end; empty if there are no rows. Columns of numbers are right-aligned.
    """
    is_drawn = is_watched(sys.stdout)
    between = "\n" if is_drawn else "  "
    cells = [[between.join(map(_shown, cell if isinstance(cell, tuple) else (cell,))) for cell in row] for row in rows]
    if not cells:
        return ""
    are_words = [not all(re.fullmatch(_NUMBER, cell.strip()) for cell in column) for column in zip(*cells, strict=True)]
    if is_drawn:
        return _drawn(head, cells, are_words)
    shown = [list(head), *cells] if has_plain_head else cells
    # Plain columns are padded by characters: the text has been escaped, so nothing in it is invisible or moves.
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    aligned = (
        "  ".join(
            cell.ljust(width) if words else cell.rjust(width)
            for cell, width, words in zip(row, widths, are_words, strict=True)
        )
        for row in shown
    )
    return "\n".join(line.rstrip() for line in aligned)


def _shown(cell: object) -> str:
    """Return a line of a cell, inert and cut."""
    # Text that is already inert stays as it is: escaped twice, a name becomes another one.
    return escape.shorten(escape.show_argument(str(cell)[: _CELL_BYTES + 1]), _CELL_BYTES)


def render_fields(fields: Iterable[tuple[str, object]], width: int) -> str:
    """Lay out names with their values, one a line; `width` is the plain-text column width of the names."""
    pairs = [(name, escape.show_argument(str(value))) for name, value in fields]
    if is_watched(sys.stdout):
        return _drawn(None, [list(pair) for pair in pairs], [True, True])
    return "\n".join(f"{name:<{width}} {value}" for name, value in pairs)


def _drawn(head: Sequence[str] | None, cells: list[list[str]], are_words: list[bool]) -> str:
    """Return a table as rich draws it for the width of the terminal: what is too wide is folded, never dropped."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if head else None, show_header=head is not None, show_edge=False, pad_edge=False)
    for name, words in zip(head or [""] * len(are_words), are_words, strict=True):
        table.add_column(Text(name), justify="left" if words else "right", overflow="fold", header_style="bold")
    for row in cells:
        table.add_row(*(Text(cell.strip()) for cell in row))
    # A row begins with its name: a folded handle cannot be copied. Foreign names may be too long for that.
    table.columns[0].no_wrap = max(len(row[0].strip()) for row in cells) <= _NAME_CHARS
    if not head:
        table.columns[0].style = "bold"
    console = console_for(sys.stdout)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")


# ── progress ─────────────────────────────────────────────────────────────────────────────────────────────────────


class ProgressLine:
    """A line on standard error that shows a person the progress of a long task; nothing if nobody watches.

    A context manager: the line is gone when it ends, so that it is never in the way of the answer.

        with ProgressLine() as progress:
            walk(progress=progress.count_of("files"))

    Args:
        is_logged: Whether a line a minute is printed if there is no terminal: a job of hours has a log, whose reader wants to know
            whether the job is still running.
        is_beating: Whether the latest report is repeated meanwhile, for work with steps of minutes.
    """

    def __init__(self, *, is_logged: bool = False, is_beating: bool = False) -> None:
        self._is_logged = is_logged
        self._is_beating = is_beating
        self._told: tuple[str, int, int] | None = None
        self._end_beats: Callable[[], None] | None = None
        self._begun = self._last = monotonic()
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> ProgressLine:
        if self._is_beating and self._teller is not None:
            self._end_beats = self._begin_beats()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the line, even if the work failed: a hidden cursor would outlive us."""
        if self._end_beats is not None:
            self._end_beats()
        if self._bar is not None:
            self._bar.stop()

    @property
    def tell(self) -> Callable[[str, int, int], None] | None:
        """A function that takes a description, the amount done and the total (0: unknown); None if nobody watches."""
        return self._note if self._end_beats is not None else self._teller

    @property
    def _teller(self) -> Callable[[str, int, int], None] | None:
        if is_watched(sys.stderr):
            return self._tell
        return self._log if self._is_logged else None

    def count_of(self, what: str) -> Callable[[int], None] | None:
        """Return a function that takes a count of things whose total is not known yet; None if nobody watches."""
        tell = self.tell
        return None if tell is None else lambda count: tell(what, count, 0)

    def _note(self, what: str, done: int, total: int) -> None:
        self._told = what, done, total

    def _begin_beats(self) -> Callable[[], None]:
        """Repeat the latest report, from a thread that alone draws and writes; return the function that ends it."""
        import threading

        is_over = threading.Event()

        def beat() -> None:
            while not is_over.wait(min(_QUIET_SECONDS, max(LOG_SECONDS, 0.0))):
                teller = self._teller
                if teller is not None and self._told is not None:
                    teller(*self._told)

        thread = threading.Thread(target=beat, name="penstock-progress", daemon=True)
        thread.start()

        def end() -> None:
            is_over.set()
            thread.join()

        return end

    def _log(self, what: str, done: int, total: int) -> None:
        now = monotonic()
        if now - self._last > LOG_SECONDS:
            self._last = now
            of = f" of {total}" if total else ""
            warn(f"{what}{f': {done}{of}' if done or total else ''}, after {(now - self._begun) / 60:.0f} min")

    def _tell(self, what: str, done: int, total: int) -> None:
        now = monotonic()
        # Walks report thousands of times a second: most reports end here, after one look at the clock.
        if now - self._begun <= _QUIET_SECONDS or now - self._last <= _REFRESH_SECONDS:
            return
        self._last = now
        if self._bar is None:
            self._bar = _bar()
            self._bar.start()
        # Another part of the work is another task: rich keeps the total of a task that is given none.
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._bar.add_task(what, completed=done, total=total or None)
        self._bar.refresh()


def _bar() -> rich.progress.Progress:
    """Return a bar that is drawn only when updated: a thread that redraws would not survive a fork."""
    from rich import progress

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=30),
        progress.MofNCompleteColumn(),
        console=console_for(sys.stderr),
        auto_refresh=False,
        transient=True,
    )
