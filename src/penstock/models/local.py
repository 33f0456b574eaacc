"""What can be found out without a language model? `LocalModel` searches for passages and quotes them with their locations.

It calls a ranked search with the question as asked, and answers with the results. It needs no key and no download, and
understands nothing. Law: a pure function of the request: the same request gives the same answer, and every line that it quotes
was shown to it. Leaves to others: files (the caller runs the tools), how passages are ranked (`penstock.workspace.ranked`), and
sessions.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.handoff import asked_in
from penstock.errors import CallerError
from penstock.models import sizes
from penstock.models.provider import Provider
from penstock.models.steps import ScriptedCall, ScriptedReply
from penstock.text.calls import handle_in
from penstock.tools.ranking import ShownPassage, read_passages
from penstock.wires import load_request
from penstock.wires.placeholders import of_person
from penstock.wires.table import wire_named
from penstock.workspace.ranked.passages import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires import Entry

WINDOW_TOKENS = 16_000
"""The window that `local` enforces unless it is given another one."""
MAX_CALLS = 3
"""At most this many calls for one question: the search, and what is needed if its result was cut or cleared."""
PASSAGES = 3
"""Passages that an answer quotes: a screen of up to 48 lines."""

WHAT_IT_IS = "(penstock-local looks things up by words; it is not a language model.)"
"""The last line of every answer."""
NO_QUESTION = (
    "I am penstock-local: I look things up, I am no language model. Ask something about the files here that has names or rare "
    'words in it, for example: "What is the default of limit in read_file?" or "Where is the message `no such table` raised?"'
)
"""The answer if there is no question."""
NO_TOOLS = (
    "I am penstock-local: I look things up, I am no language model. This request offers no tool `search` that ranks, and I have "
    "no other way to your files."
)
"""The answer if there is nothing to look things up with."""

_ROOM_TOKENS = 3_000  # that three passages and the answer from them may take
_QUESTION_BYTES = 1_000
_PAGED_LINES = 80
_STRONG, _FAIR = 0.8, 0.6  # shares of the words of a question
_QUOTED = re.compile(r"""[`"']([^`"'\n]{4,200})[`"'](?!\w)""")


class LocalModel:
    """A `Model` on any wire that enforces its window: what does not fit is refused as the wire's provider would.

    It calls the tools of `penstock.tools` that a request offers, under any prefix: `search`, and `page` if a result was cut.

    Args:
        wire: The wire on which it is asked and answers.
        window_tokens: How much it takes, the reply included.

    Raises:
        CallerError: An unknown wire, or a window that holds nothing.
    """

    name = "penstock-local"

    def __init__(self, wire: str = "openai-chat", window_tokens: int = WINDOW_TOKENS) -> None:
        if window_tokens < 1:
            raise CallerError(f"a window holds a token at least, not {window_tokens}")
        self.wire = wire_named(wire).name
        self.window_tokens = window_tokens
        self._provider = Provider(wire, self.name)

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """Return the body of an answer.

        Raises:
            Refused: The request is too large.
            CallerError: It is not a request.
        """
        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        size = self._provider.size_of(request)
        refused = self._provider.refusal_of(size, self.window_tokens)
        if refused is not None:
            return refused.returned()
        text, call = _reply(request, self.wire, self.window_tokens - size.input_tokens)
        calls = () if call is None else (ScriptedCall(call.tool, json.dumps(call.arguments, ensure_ascii=False)),)
        # A number for the ids of its calls, which differ between requests.
        number = zlib.crc32(sizes.text_of(request).encode("utf-8", "surrogatepass"))
        return self._provider.perform(ScriptedReply(text=text, calls=calls), size, number).returned()


class _Call(NamedTuple):
    tool: str
    arguments: dict[str, Json]


def _reply(request: dict[str, Json], wire: str, room_tokens: int) -> tuple[str, _Call | None]:
    """Return the words, and a call if something is still to be looked up."""
    shown = load_request(request, wire).visible()
    start, question = _question(shown)
    if not words_of(question):
        return NO_QUESTION, None
    search, page = _offered(request, wire)
    if search is None:
        return NO_TOOLS, None
    results = [(result.text, result.is_error) for entry in shown[start:] for result in entry.results]
    texts = [text for text, _ in results]
    if found := [passage for text in texts for passage in read_passages(text)]:
        return _answer(question, list(dict.fromkeys(found))[:PASSAGES]), None
    if texts and (results[-1][1] or texts[-1].startswith("0 passages ranked")):
        return _nothing(question, texts[-1]), None
    if len(texts) >= MAX_CALLS:
        return _nothing(question, ""), None
    # A result without passages was cut or cleared: its handle leads to it, else the search is repeated for a single passage.
    if texts and page is not None and (handle := handle_in(texts[-1])):
        return _note(question), _Call(page, {"handle": handle, "offset": 0, "limit": _PAGED_LINES})
    limit = PASSAGES if room_tokens >= _ROOM_TOKENS and not texts else 1
    clipped = question.encode("utf-8", "replace")[:_QUESTION_BYTES].decode("utf-8", "ignore")
    return _note(question), _Call(search, {"pattern": clipped, "ranked": True, "limit": limit})


def _question(shown: tuple[Entry, ...]) -> tuple[int, str]:
    """Return the place and text of the newest question, without what programs add: texts in square brackets, reports on files."""
    said = [(place, of_person(entry.text).strip()) for place, entry in enumerate(shown) if entry.speaks]
    asked = [(place, text) for place, text in said if text and not text.startswith("[")]
    for place, text in reversed(asked):
        if words_of(text) and text != "Continue.":
            return place, text
    for place, text in reversed(said):
        if goal := asked_in(text):
            return place, goal
    return len(shown), ""


def _offered(request: dict[str, Json], wire: str) -> tuple[str | None, str | None]:
    """Return the names of `search` and `page` in this request; None for a search that cannot rank."""
    spoken = wire_named(wire)
    tools = spoken.body.tools_of(request)
    names = spoken.codec.tool_names(tools)
    search, page = (
        next((name for name in names if name == ours or name.endswith(f"_{ours}")), None) for ours in ("search", "page")
    )
    return (search if '"ranked"' in json.dumps(tools) else None), page


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _note(question: str) -> str:
    return f"penstock-local looks up: {' '.join(question.split())[:160]}"


def _answer(question: str, passages: Sequence[ShownPassage]) -> str:
    """Return the line with most of the question's words, the passages it is from, and how much of the question they hold."""
    stems = {word[: max(3, len(word) - 3)] for word in words_of(question) if " " not in word}
    best = passages[0]
    at, line = max(enumerate(best.lines), key=lambda numbered: (_share(stems, numbered[1]), -numbered[0]))
    lines = [f"{line.strip()}   ({best.path}:{best.start_line + at})"]
    for passage in passages:
        lines += [
            "",
            *(f"{passage.path}:{passage.start_line + n}: {text.rstrip()}" for n, text in enumerate(passage.lines)),
        ]
    share = _share(stems, f"{best.path}\n" + "\n".join(best.lines))
    how = "Strong" if share >= _STRONG else "Fair" if share >= _FAIR else "Weak"
    lines += ["", f"{how} match: the first passage and its path have {share:.0%} of the words of the question."]
    whole = "\n".join("\n".join(passage.lines) for passage in passages)
    if missing := [quoted for quoted in _QUOTED.findall(question) if quoted not in whole]:
        lines.append(f"Not in these passages word for word: {', '.join(map(repr, missing))}.")
    return "\n".join([*lines, WHAT_IT_IS])


def _share(stems: set[str], text: str) -> float:
    lowered = text.lower().replace("_", "")
    return sum(stem in lowered for stem in stems) / len(stems) if stems else 0.0


def _nothing(question: str, said: str) -> str:
    """Return an answer that nothing was found, and why: the first line of what the tool said."""
    why = f"The search said: {said.partition(chr(10))[0]}" if said else "What the search found did not stay in view."
    return "\n".join([f"I found nothing in these files for: {' '.join(question.split())[:160]}", "", why, WHAT_IT_IS])
