"""How are answers of Gemini's API read, whole and streamed?"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.text.json_access import field, objects, string
from penstock.wires import placeholders
from penstock.wires.gemini.codec import parts_of
from penstock.wires.gemini.keys import get
from penstock.wires.gemini.streamed_calls import StreamedCall, goes_on, is_piece
from penstock.wires.stream import PieceJoiner, index_of, update

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.text.json_access import Json


def is_answer(body: dict[str, Json]) -> bool:
    """Whether a body holds candidates, or says why there are none."""
    return isinstance(body.get("candidates"), list) or isinstance(get(body, "promptFeedback"), dict)


def answer_messages(body: Json, taken_ids: Collection[str]) -> list[Json]:
    """Return the first candidate's content as the next request carries it, each part with its signature.

    Raises:
        CallerError: for a body that is not an answer.
    """
    del taken_ids  # this wire tells calls apart by their place, and an id may be reused in a later turn
    if not isinstance(body, dict) or not is_answer(body):
        raise CallerError("the model's answer holds no candidates")
    candidates = objects(body.get("candidates"))
    content: Json = candidates[0].get("content") if candidates else None
    if not parts_of(content):  # the reply broke off while the model thought, or was withheld
        return [{"role": "model", "parts": [{"text": placeholders.NO_ANSWER}]}]
    # Without this role, or with the one that the server gives it, it might be read as the user's when it goes back.
    return [{**content, "role": "model"}]


def answer_text(body: Json) -> str:
    """Return the words of the first candidate without its thoughts."""
    candidates = objects(field(body, "candidates"))
    return _words(parts_of(candidates[0].get("content"))) if candidates else ""


def _words(parts: list[dict[str, Json]]) -> str:
    return "".join(string(get(part, "text")) for part in parts if get(part, "thought") is not True)


def stop_reason(body: Json) -> str:
    """Return why the first candidate stopped, or why the prompt was blocked; empty if neither is said."""
    candidates = objects(field(body, "candidates"))
    reason = get(candidates[0], "finishReason") if candidates else get(get(body, "promptFeedback"), "blockReason")
    return string(reason)


def streamed_body(body: dict[str, Json]) -> dict[str, Json]:
    """Return the same body: the address says whether an answer is streamed."""
    return body


class CandidateChunks:
    """The chunks of one streamed answer, each an answer that holds the new parts."""

    is_ended = False  # usage and the reason come with the last chunk, and the body ends after it

    def __init__(self) -> None:
        self._head: dict[str, Json] = {}
        self._candidates: dict[int, dict[str, Json]] = {}
        self._texts = PieceJoiner()
        self._streamed: dict[int, list[StreamedCall]] = {}
        """The calls of each candidate whose arguments come in pieces."""

    def feed(self, event: dict[str, Json]) -> str:
        """Take the next chunk; return the words that it adds to the first candidate."""
        # Usage counts up from chunk to chunk: everything next to the candidates is the newest state, and the last one
        # holds.
        update(self._head, event, but=("candidates",))
        return "".join([self._feed_candidate(news) for news in objects(event.get("candidates"))])

    def _feed_candidate(self, news: dict[str, Json]) -> str:
        # JSON of protocol buffers may omit a zero: a candidate without an index is the first.
        index = index_of(news.get("index"))
        candidate = self._candidates.setdefault(index, {"content": {"parts": [], "role": "model"}})
        update(candidate, news, but=("content",))
        parts = parts_of(news.get("content"))
        for part in parts:
            self._add(candidate["content"]["parts"], part, self._streamed.setdefault(index, []))
        return _words(parts) if index == 0 else ""

    def _add(self, parts: list[dict[str, Json]], part: dict[str, Json], streamed: list[StreamedCall]) -> None:
        """Append words to the last part; a part with a signature stays separate, because it has to go back."""
        # Dumped SDK objects hold None for missing fields; with those no part would be plain, and no words would be
        # joined.
        held = {key: value for key, value in part.items() if value is not None}
        call = get(held, "functionCall")
        if streamed and streamed[-1].is_open and isinstance(call, dict) and goes_on(call):
            streamed[-1].add(held)
        elif is_piece(call):
            streamed.append(StreamedCall(held))
            parts.append(streamed[-1].part)
        elif parts and _is_plain(held) and _is_plain(parts[-1]) and held.get("thought") == parts[-1].get("thought"):
            self._texts.add(parts[-1], "text", held["text"])
        else:
            parts.append(held)

    @property
    def has_content(self) -> bool:
        """Whether a part has come."""
        return any(candidate["content"]["parts"] for candidate in self._candidates.values())

    @property
    def is_complete(self) -> bool:
        """Whether every candidate said why it stopped, or the prompt was blocked."""
        reasons = [get(candidate, "finishReason") for candidate in self._candidates.values()]
        return all(reasons) if reasons else bool(get(get(self._head, "promptFeedback"), "blockReason"))

    def body(self) -> dict[str, Json]:
        """Return the answer that the chunks add up to."""
        self._texts.join()
        for call in chain(*self._streamed.values()):
            call.join()
        candidates = [self._candidates[index] for index in sorted(self._candidates)]
        return {"candidates": candidates, **self._head}


def _is_plain(part: dict[str, Json]) -> bool:
    """Whether a part holds only words or thoughts."""
    return part.keys() <= {"text", "thought"} and isinstance(part.get("text"), str)
