"""How is one folder opened for reading? All the ways in, each bounded, in one value.

Leaves to others: the reading itself, which `reading`, `listing`, `searching` and `ranked` do; they are loaded on first use.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.workspace.deadline import WALK_SECONDS, Deadline
from penstock.workspace.reading import DEFAULT_VIEW_LINES, Reader
from penstock.workspace.root import Root
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from penstock.text import tokens
    from penstock.workspace.listing import Listing, ListingCounts
    from penstock.workspace.ranked import Ranking
    from penstock.workspace.searching import Search

    Progress = Callable[[int], None]


class Workspace:
    """One folder, and bounded ways to read the files in it. Nothing outside it is ever named or read (L-8).

    Threads may share an instance.

    Args:
        root: The folder.
        allow_mounts: Whether paths may cross into other file systems.
        allow_secrets: Whether files may be read whose names suggest that they hold credentials.
        view_lines: How many lines `view` shows by default.
        caps_line_ranges: Whether a range of lines ends after 256 KiB even if no `room` bounds it (B-2).
        confinement: `auto`, or one of the kinds that `Root` knows.

    Raises:
        CallerError: There is no such folder.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        allow_mounts: bool = False,
        allow_secrets: bool = False,
        view_lines: int = DEFAULT_VIEW_LINES,
        caps_line_ranges: bool = True,
        confinement: str = "auto",
    ) -> None:
        self.root = Root(root, allow_mounts=allow_mounts, allow_secrets=allow_secrets, confinement=confinement)
        """The root that opens everything."""
        reader = Reader(self.root, view_lines=view_lines, caps_line_ranges=caps_line_ranges)
        self.view = reader.view
        """A page of a file by lines: `Reader.view`."""
        self.read_file = reader.read_file
        """A page of a file by lines or bytes, the whole of a small one, or its outline: `Reader.read_file`."""
        self.outline = reader.outline
        """The landmarks of a file: `Reader.outline`."""

    def list_files(
        self,
        pattern: str = "*",
        recursive: bool = False,
        use_regex: bool = False,
        offset: int = 0,
        limit: int = 0,
        *,
        path: str = ".",
        include_hidden: bool = False,
        include_ignored: bool = False,
        deadline: Deadline | None = None,
        progress: Progress | None = None,
    ) -> Listing:
        """Return a sorted page of file names with the total (L-1 to L-6).

        The arguments are those of `listing.list_files`; without a `deadline` it may take 30 seconds. Raises
        `ToolError`.
        """
        from penstock.workspace import listing

        return listing.list_files(
            self.root,
            pattern,
            recursive,
            use_regex,
            offset,
            limit,
            path=path,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
            deadline=deadline or Deadline(WALK_SECONDS),
            progress=progress,
        )

    def count_files(
        self,
        path: str = ".",
        pattern: str = "*",
        recursive: bool = True,
        use_regex: bool = False,
        *,
        sizes: bool = True,
        include_hidden: bool = False,
        include_ignored: bool = False,
        deadline: Deadline | None = None,
        progress: Progress | None = None,
    ) -> ListingCounts:
        """Return files, bytes and estimated tokens by extension (L-4).

        The arguments are those of `listing.count_files`; without a `deadline` it may take 30 seconds. Raises
        `ToolError`.
        """
        from penstock.workspace import listing

        return listing.count_files(
            self.root,
            path,
            pattern,
            recursive,
            use_regex,
            sizes=sizes,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
            deadline=deadline or Deadline(WALK_SECONDS),
            progress=progress,
        )

    def search(
        self,
        pattern: str,
        path: str = ".",
        *,
        literal: bool = False,
        glob: str = "*",
        ignore_case: bool = False,
        context_lines: int = 0,
        offset: int = 0,
        limit: int = 50,
        include_hidden: bool = False,
        include_ignored: bool = False,
        deadline: Deadline | None = None,
        progress: Progress | None = None,
    ) -> Search:
        """Return a page of the lines that match, and how many there are in which file (L-7).

        The arguments are those of `searching.search`; without a `deadline` it may take 30 seconds. Raises `ToolError`.
        """
        from penstock.workspace import searching

        return searching.search(
            self.root,
            pattern,
            path,
            literal=literal,
            glob=glob,
            ignore_case=ignore_case,
            context_lines=context_lines,
            offset=offset,
            limit=limit,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
            deadline=deadline or Deadline(WALK_SECONDS),
            progress=progress,
        )

    def rank(
        self,
        question: str,
        path: str = ".",
        *,
        glob: str = "*",
        offset: int = 0,
        limit: int = 10,
        include_hidden: bool = False,
        include_ignored: bool = False,
        index_folder: str | None = None,
        index_redacted: bool = False,
        deadline: Deadline | None = None,
        progress: Progress | None = None,
    ) -> Ranking:
        """Return the passages most relevant to a question in words, the best first (L-7). Raises `ToolError`.

        `index_folder` is where the index is kept for the next call; without it the index is temporary. With `index_redacted` the
        index contains no word of what looks like a secret.
        """
        from penstock.workspace import ranked

        return ranked.rank(
            self.root,
            question,
            path,
            glob=glob,
            offset=offset,
            limit=limit,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
            index_folder=index_folder,
            index_redacted=index_redacted,
            deadline=deadline or Deadline(WALK_SECONDS),
            progress=progress,
        )

    def count_file(self, path: str, *, model: str = "o200k", mode: tokens.Mode = "sampled") -> tokens.Count:
        """Return the number of tokens of one file, with its bounds.

        Args:
            path: The file.
            model: Whose tokens are counted.
            mode: `sampled` looks at pieces of a large file, the others read it all; `estimate` holds one block of it
                at a time, `exact` at least its longest line.

        Raises:
            ToolError: The file cannot be read.
        """
        from penstock.text import tokens

        file = self.root.open_file(self.root.relative(path))
        try:
            source = FileSource(file)
            if mode == "sampled":
                return tokens.sample_count(source.read, source.size_bytes, model=model)
            if mode == "estimate":
                return tokens.estimate_blocks(source.blocks(_TOKEN_BLOCK_BYTES), model=model)
            counts = [tokens.count(block, model=model, mode=mode) for block in _token_blocks(source)]
            return tokens.Count(
                tokens=sum(count.tokens for count in counts),
                low=sum(count.low for count in counts),
                high=sum(count.high for count in counts),
                method=counts[0].method,
            )
        finally:
            file.close()


_TOKEN_BLOCK_BYTES = 1 << 20
# Vocabularies split there: white space up to its last line end is one piece. A cut anywhere else would split a token and count its
# halves as two.
_BEGINS_TOKEN = rb"\n(?=[!-~])"


def _token_blocks(source: FileSource) -> Iterator[bytes]:
    """Yield a file in blocks that are cut where a token begins, so that their counts add up; at least one block, possibly empty."""
    held: list[bytes] = []
    for block in source.blocks(_TOKEN_BLOCK_BYTES):
        cut = 0
        for match in re.finditer(_BEGINS_TOKEN, block):
            cut = match.end()
        if cut:
            yield b"".join((*held, block[:cut]))
            held = [block[cut:]]
        else:
            held.append(block)
    last = b"".join(held)
    held.clear()  # a file of one line is not held twice while it is counted
    yield last
