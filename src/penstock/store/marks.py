"""Which secrets does an artifact hold? Their kinds and counts, detected on arrival, and hidden if requested (S-17).

Content is kept whole, so that pages return it exactly, and is marked: its owner can ask what it would give away. A store that keeps
only redacted forms keeps marks in place of secrets. Laws: memory does not grow with the content; what is not a secret comes out
byte for byte, even if it is not text; hiding twice changes nothing. Leaves to others: what a secret is (`text.redaction`), and
where marks are recorded (`keeping`).
"""

from __future__ import annotations

import json
from _thread import allocate_lock, start_new_thread
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from penstock.store.pieces import PIECE_BYTES, cut
from penstock.text.redaction import Secret, count_marks, first_hint, mark_of, secrets_in
from penstock.text.secret_shape import REACH_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from penstock.store.kept import Store

_BLOCK_BYTES = 2 * PIECE_BYTES
# What is searched after a block, so that a secret at its end is seen whole: a private key has 13 KiB at most.
_AHEAD_BYTES = 4 * REACH_CHARS
# PGP keys may be longer: what follows a window may still be part of a key, so it is searched with this prefix as the beginning of
# one.
_PRIVATE_KEY = "private key"
_GOES_ON = "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA"
_WINDOW_BYTES = _BLOCK_BYTES + _AHEAD_BYTES
# What a pattern may examine before its hint, even if marks are longer than what they hide.
_BEFORE_BYTES = 2 * REACH_CHARS
_HALF_LINE_CHARS = 100


class ContentMark(NamedTuple):
    """What was found in a content: its secrets, by kind, and how many are hidden in it."""

    secrets: Mapping[str, int]
    hidden: int

    def to_json(self) -> str:
        """Return the secrets as a table row holds them."""
        return json.dumps(dict(self.secrets), separators=(",", ":"))


class _Beside:
    """A function that runs in its own thread from now on."""

    def __init__(self, function: Callable[[], int]) -> None:
        self._function = function
        self._result: int | Exception
        self._ended = allocate_lock()
        self._ended.acquire()
        # `Thread.start` waits until the thread runs: on a busy machine that takes as long as the search.
        start_new_thread(self._run, ())

    def _run(self) -> None:
        try:
            self._result = self._function()
        except Exception as error:  # noqa: BLE001 - raised when the result is requested
            self._result = error
        finally:
            self._ended.release()

    def result(self) -> int:
        """Return what the function returned, or raise what it raised."""
        with self._ended:
            if isinstance(self._result, Exception):
                raise self._result
            return self._result


class SecretWatch:
    """Finds the secrets of one content as it passes, and hides them if only redacted forms are kept.

    Large content is searched in a thread while it is written: the search releases the interpreter meanwhile.

    Args:
        hides: Whether secrets become marks; else what passes is unchanged.
    """

    def __init__(self, *, hides: bool = False) -> None:
        self._hides = hides
        self._seen: Counter[str] = Counter()
        self._hidden = 0
        self._is_in_key = False
        self._keys: dict[str, str] = {}  # found so far: they are secrets in later blocks too
        self._before = b""  # the end of what has passed, without its secrets
        self._begun: list[Secret] = []  # already found after the last block
        self._beside: _Beside | None = None
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """Whether a content has passed completely, or will have by the time its mark is requested."""
        return self._is_done or self._beside is not None

    @property
    def mark(self) -> ContentMark:
        """What was found in what has passed, the most frequent kind first."""
        self._wait()
        return ContentMark(dict(self._seen.most_common()), self._hidden)

    def passed(self, content: bytes | Iterable[bytes]) -> Iterator[bytes]:
        """Yield content in parts, with its secrets or without.

        Args:
            content: Bytes, or parts of any size.
        """
        parts = cut(content) if isinstance(content, bytes) else content
        yield from self._shown(parts) if self._hides else self._seen_beside(parts)
        self._is_done = True

    def _shown(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Yield content without its secrets."""
        held = bytearray()
        try:
            for part in parts:
                held += part
                while len(held) > _WINDOW_BYTES:
                    shown, taken = self._block(bytes(held[:_WINDOW_BYTES]), _BLOCK_BYTES)
                    del held[:taken]
                    yield shown
        except OSError:  # from the source of the parts: what has arrived is not lost
            if held:
                yield self._block(bytes(held), len(held))[0]
            raise
        if held:
            yield self._block(bytes(held), len(held))[0]

    def _seen_beside(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Yield content unchanged; each block is searched while the next one arrives."""
        held = bytearray()
        for piece in (piece for part in parts for piece in cut(part)):
            held += piece
            yield piece
            # Where a block begins is known once the previous one has been searched: one is in progress, one is held.
            if self._beside is not None and len(held) <= 2 * _WINDOW_BYTES:
                continue
            del held[: self._wait()]
            if len(held) > _WINDOW_BYTES:
                self._beside = _Beside(partial(self._block_of, bytes(memoryview(held)[:_WINDOW_BYTES])))
        del held[: self._wait()]
        self._search(bytes(held))

    def look(self, content: bytes) -> None:
        """Find the secrets of a content, by the time its mark is requested."""
        if len(content) <= _WINDOW_BYTES:
            self._search(content)
        else:
            self._beside = _Beside(partial(self._search, content))
        self._is_done = True

    def _wait(self) -> int:
        """Wait for the search in progress, and return how much of its window it took; 0 if there is none."""
        beside, self._beside = self._beside, None
        return 0 if beside is None else beside.result()

    def _search(self, content: bytes) -> int:
        """Find the secrets of a content that begins with a line, and return its size."""
        view, at = memoryview(content), 0
        while len(content) - at > _WINDOW_BYTES:
            at += self._block_of(bytes(view[at : at + _WINDOW_BYTES]))
        if at < len(content):
            self._block(bytes(view[at:]), len(content) - at)
        return len(content)

    def _block_of(self, window: bytes) -> int:
        """Find the secrets in the block with which a window begins, and return its size in bytes."""
        return self._block(window, _BLOCK_BYTES)[1]

    def _block(self, window: bytes, count: int) -> tuple[bytes, int]:
        """Return roughly that many bytes from the beginning of a window as they are kept, and how many they were."""
        size = _line_bytes(window, count) if count < len(window) else len(window)
        is_quiet = not (self._is_in_key or self._begun) and not any(
            key.encode("utf-8", "surrogateescape") in window for key in self._keys
        )
        if is_quiet and first_hint(window, size + REACH_CHARS) < 0:
            self._pass(window[:size])
            return window[:size], size
        # Bytes that are not UTF-8 become surrogates meanwhile, and come out as they came in.
        lead = _GOES_ON if self._is_in_key else self._before.decode("utf-8", "surrogateescape")
        text = lead + window.decode("utf-8", "surrogateescape")
        end = len(lead) + len(window[:size].decode("utf-8", "surrogateescape"))
        found = secrets_in(
            text,
            end + REACH_CHARS,
            self._keys,
            since=0 if self._is_in_key else len(lead),
            begun=[one._replace(start=one.start + len(lead), end=one.end + len(lead)) for one in self._begun],
        )
        made: list[str] = []
        kept = len(lead)
        self._begun, self._is_in_key = [], False
        for secret in found:
            kind, start, stop = secret
            if start >= end:  # remembered for the next block, which has less context before it
                self._begun.append(secret)
                continue
            end = max(end, stop)
            made += (text[kept:start], mark_of(kind, text[max(kept, start) : stop]))
            kept = stop
            if start >= len(lead) and not self._hides:
                self._seen[kind] += 1
            is_cut_off = len(text) - stop < _HALF_LINE_CHARS and not text.endswith("-----", start, stop)
            self._is_in_key = kind == _PRIVATE_KEY and is_cut_off
        self._begun = [
            one._replace(start=one.start - end, end=one.end - end) for one in self._begun if one.end < len(text)
        ]
        taken = len(_encoded(text[len(lead) : end]))
        shown = _encoded("".join((*made, text[kept:end]))) if made else window[:taken]
        self._pass(shown)
        kept_form = shown if self._hides else window[:taken]
        self._hidden += count_marks(kept_form)
        return kept_form, taken

    def _pass(self, shown: bytes) -> None:
        """Keep the end of what has passed."""
        self._before = (self._before + shown[-_BEFORE_BYTES:])[-_BEFORE_BYTES:]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _line_bytes(window: bytes, count: int) -> int:
    """Return how many of the bytes end with their last line; all of them if no line ends there."""
    return (window[:count].rfind(b"\n") + 1) or count


def redacted_bytes(content: bytes) -> bytes:
    """Return content as a store keeps it that keeps only redacted forms.

    Args:
        content: Any bytes; secrets are found in the parts that are UTF-8.
    """
    return b"".join(SecretWatch(hides=True).passed(content))


def secrets_of(store: Store, handle: str) -> dict[str, int]:
    """Return how many secrets of each kind an artifact holds, the most frequent kind first.

    The answer is what was found when it was kept; an artifact kept by an older Penstock is read and searched.

    Args:
        store: where it is kept.
        handle: the artifact.

    Returns:
        Numbers by kind, `{"GitHub token": 2}`; empty if nothing looks like a secret.

    Raises:
        ToolError: there is no such artifact, or it has expired.
        StoreFault: it cannot be read.
    """
    known = store.info(handle).secrets
    if known is not None:
        return dict(known)
    watch = SecretWatch()
    for _ in watch.passed(parts_of(store, handle)):
        pass
    return dict(watch.mark.secrets)


def parts_of(store: Store, handle: str) -> Iterator[bytes]:
    """Yield the content of an artifact, part by part. Raises `ToolError` if it is gone."""
    at = 0
    while part := store.read(handle, at, PIECE_BYTES):
        yield part
        at += len(part)
