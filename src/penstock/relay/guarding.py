"""How is a result cut to what its host shows, with each of its texts kept whole before the cut is sent?

Laws: the texts that replace a result are within its room, notices included; everything that a cut leaves out is behind the handle
that it names, byte for byte; a result that cannot be kept is not cut. Leaves to others: which parts of a result are text (`shown`).
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import PenstockError
from penstock.guard import stream
from penstock.guard.output import chars_per_token
from penstock.mcp_server.hosts import allowance_for, host_for
from penstock.relay.shown import PICTURE_CHARS, ResultParts, ShownPart, read_result, says_the_same
from penstock.store import as_kept
from penstock.text import fitting
from penstock.text.calls import mcp
from penstock.text.fitting import Keep
from penstock.text.json_slices import Edit, NotJson, Object, Slice, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.relay.messages import AskedCall
    from penstock.store import Store
    from penstock.text.allowance import Allowance

MAX_CUT = 16
"""How many texts of one result are cut individually: a thousand notices would be no shorter than a thousand texts."""
_SLOW_SECONDS = 1.0
_REST_SECONDS = 30.0
_LEAST_CUT = 600  # a notice with its handle, and some text


class UnkeptResult(PenstockError):
    """The whole could not be kept, so nothing is cut."""


class _Cut(NamedTuple):
    """A part with its replacement; None leaves it as it is."""

    part: ShownPart
    text: str | None


class Guard:
    """Cuts results; one for all conversations of a relay.

    Args:
        open_store: opens the store in which wholes are kept; called when something is cut.
        budget: the limit of a result in characters; None for what the host shows.
        say: is told, for the person, what could not be kept.
    """

    def __init__(self, open_store: Callable[[], Store], budget: int | None, say: Callable[[str], None]) -> None:
        self._open_store = open_store
        self._budget = budget
        self._say = say
        self._rests_until = 0.0
        self._why_it_rests = ""

    def __call__(self, raw: bytes, result: Object, asked: AskedCall, prefix: str) -> list[Edit]:
        """Return the edits of a message with a result; none if it is within its room, or cannot be kept.

        Args:
            raw: the message.
            result: its result.
            asked: the call that it answers.
            prefix: the prefix of our two tools' names.
        """
        try:
            return self._edits(raw, result, asked, prefix)
        except NotJson:  # the host will report it
            return []
        except (PenstockError, OSError) as error:
            self._say(f"a result of {asked.tool} passed uncut, because it could not be kept: {error}")
            return []

    def _edits(self, raw: bytes, result: Object, asked: AskedCall, prefix: str) -> list[Edit]:
        host, room = host_for(asked.client), allowance_for(asked.client, self._budget)
        # A result of fewer bytes cannot be too large, whatever is shown of it; most results are.
        if result.end - result.start <= room.limit:
            return []
        shown = read_result(raw, result, is_all_shown=host is not None)
        if shown is None or shown.is_within(raw, room, "both" if host is None else host.shows):
            return []
        parts = list(shown.texts)
        if shown.structured is not None and not says_the_same(raw, shown):
            parts.append(shown.structured)
        pictures = min(PICTURE_CHARS * len(shown.pictures), room.limit // 2)
        # A picture's tokens depend on its size in pixels, not on its bytes, which we do not decode: each counts as a fixed number
        # of characters, and all together as at most half of the room, so that text is never crowded out.
        left = fitting.of(room, room.limit - pictures - shown.other_bytes)
        sizes = [part.size(raw, room) for part in parts]
        shares = fitting.share(sizes, max(0, left.limit))
        too_large = [share for size, share in zip(sizes, shares, strict=True) if size > share]
        if left.limit < room.limit // 4 or (
            too_large and (len(too_large) > MAX_CUT or (min(too_large) < _LEAST_CUT and len(parts) > 1))
        ):
            # A host lays out parts best in their own places. If the notices alone would fill the room, or most of it is not text,
            # one text in place of all says more.
            return self._flat(raw, result, shown, fitting.of(room, room.limit - pictures), asked, prefix)
        cut = [
            _Cut(part, self._cut(part.pieces(raw), fitting.of(room, share), asked, prefix) if size > share else None)
            for part, size, share in zip(parts, sizes, shares, strict=True)
        ]
        return list(_in_place(raw, result, shown, cut))

    def _flat(
        self, raw: bytes, result: Object, shown: ResultParts, room: Allowance, asked: AskedCall, prefix: str
    ) -> list[Edit]:
        """Return edits that replace all texts by one: there are too many, or too much that is not text, for a notice each.

        Links and blocks of unknown kinds stay as far as they fit half of the room; if some do not, one more notice leads to the
        whole content as JSON.
        """
        kept = list(_first(shown.others, room.limit // 2))
        left = room.limit - sum(at.end - at.start for at in kept)
        notices: list[str] = []
        content = [] if shown.content is None else [ShownPart(shown.content, is_json=True)]
        parts = list(shown.texts) if shown.is_plain else content
        if parts is not content and content and len(kept) < len(shown.others):
            notices = [self._cut(_joined(raw, content), fitting.of(room, _LEAST_CUT), asked, prefix)]
            left -= _LEAST_CUT
        structured = None if shown.structured is None or says_the_same(raw, shown) else shown.structured
        share = left - left // 2 if structured is not None and parts else left
        texts: list[str] = []
        if parts:
            texts = [self._cut(_joined(raw, parts), fitting.of(room, share), asked, prefix)]
            left -= share
        if structured is not None:
            texts.append(self._cut(structured.pieces(raw), fitting.of(room, left), asked, prefix))
        blocks = [*map(_block, texts), *(raw[at.start : at.end] for at in kept), *map(_block, notices)]
        blocks += [raw[at.start : at.end] for at in (*shown.pictures, *shown.apart)]
        return list(_with_content(result, shown, b"[" + b",".join(blocks) + b"]"))

    def _cut(self, pieces: Iterable[bytes], share: Allowance, asked: AskedCall, prefix: str) -> str:
        """Return a text cut to its share, the whole kept. Raises `UnkeptResult`."""
        start = time.monotonic()
        if start < self._rests_until:
            raise UnkeptResult(
                f"not tried again within {_REST_SECONDS:.0f} seconds, as that failed slowly: {self._why_it_rests}"
            )
        passed = stream.drain(
            as_kept(pieces),
            share,
            Keep.HEAD,
            name=asked.tool,
            open_store=self._open_store,
            dialect=mcp(prefix),
            chars_per_token=chars_per_token(),
        )
        if passed.fault and time.monotonic() - start > _SLOW_SECONDS:
            # The store is locked or out of reach: everything else that a server says would wait for each attempt.
            self._rests_until, self._why_it_rests = time.monotonic() + _REST_SECONDS, passed.fault
        if passed.fault or passed.lost_bytes:
            raise UnkeptResult(passed.fault or "it is larger than what is kept of one output")
        return passed.result.text


def _first(blocks: Iterable[Slice], room: int) -> Iterator[Slice]:
    """Yield the first blocks that fit."""
    for at in blocks:
        room -= at.end - at.start
        if room < 0:
            return
        yield at


def _joined(raw: bytes, parts: Iterable[ShownPart]) -> Iterator[bytes]:
    for number, part in enumerate(parts):
        if number:
            yield b"\n"
        yield from part.pieces(raw)


def _in_place(raw: bytes, result: Object, shown: ResultParts, cut: Iterable[_Cut]) -> Iterator[Edit]:
    """Yield edits of each text in its own place; structured content becomes one more text after the others."""
    more: list[bytes] = []
    for part, text in cut:
        if part is shown.structured:
            more.append(_block(b"".join(part.pieces(raw)).decode("utf-8", "surrogateescape") if text is None else text))
        elif text is not None and shown.is_listed:
            yield Edit(part.value.start, part.value.end, _written(text))
        elif text is not None:
            yield Edit(part.value.start, part.value.end, b"[" + _block(text) + b"]")
    if shown.content is None:
        yield from _with_content(result, shown, b"[" + b",".join(more) + b"]")
        return
    if more:
        end = shown.content.end - 1
        is_empty = not raw[shown.content.start + 1 : end].strip()
        yield Edit(end, end, b",".join(([] if is_empty else [b""]) + more))
    if shown.structured is not None:
        yield from without(result.members, "structuredContent")


def _with_content(result: Object, shown: ResultParts, content: bytes) -> Iterator[Edit]:
    """Yield edits that replace everything that a result shows by other content."""
    if shown.content is not None:
        yield Edit(shown.content.start, shown.content.end, content)
        if shown.structured is not None:
            yield from without(result.members, "structuredContent")
        return
    # There was only structured content.
    stays = any(member.name != "structuredContent" for member in result.members)
    yield Edit(result.start + 1, result.start + 1, b'"content":' + content + (b"," if stays else b""))
    yield from without(result.members, "structuredContent")


def _block(text: str) -> bytes:
    return b'{"type":"text","text":' + _written(text) + b"}"


def _written(text: str) -> bytes:
    """Return a text as JSON; lone surrogates become escapes."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace")
