"""Conversations to compact, on any wire: files of any size are read, changed and run, with words of the user in between."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from tests.wires.strategies import TELLERS, Call, Round, Story

from penstock.context.activity import actions
from penstock.context.compaction.views import View
from penstock.context.sized import ESTIMATOR, size_of
from penstock.wires import load

if TYPE_CHECKING:
    from penstock.wires import Transcript

WIRES = tuple(TELLERS)
HANDLE = "qX7Zk2Wp9TrJ4mGs8LnB3v"

_numbers = count(1)


def lines(number: int, start: int = 1, word: str = "value") -> str:
    """Return that many numbered lines of code as `view` shows them; 60 of them are about 1,000 tokens."""
    return "\n".join(f"{at}|    {word}_{at} = compute({at}, other={at * 7})" for at in range(start, start + number))


def did(name: str, result: str, *, failed: bool = False, image: bool = False, **arguments: Any) -> Call:
    """Return one call with its result."""
    return Call(id=f"call{next(_numbers)}", name=name, arguments=arguments, result=result, failed=failed, image=image)


def viewed(path: str, number: int = 60, **arguments: Any) -> Call:
    """Return the view of a file; `offset` and `limit` as `view` takes them."""
    return did("view", lines(number), path=path, **arguments)


def edited(path: str) -> Call:
    """Return an edit of a file."""
    return did("edit_file", "The file was edited.", path=path)


def step(*calls: Call, text: str = "", user: str = "", thinking: int = 0) -> Round:
    """Return one answer of the assistant with its results, and optionally a word of the user after them."""
    return Round(calls=calls, text=text, user=user, thinking=thinking)


def told(wire: str, *rounds: Round, task: str = "Fix the parser.") -> Transcript:
    """Return the conversation on that wire."""
    return load(TELLERS[wire](Story(task=task, rounds=rounds)), wire)


def more(transcript: Transcript, *rounds: Round) -> Transcript:
    """Return the conversation, continued."""
    return transcript.append(*TELLERS[transcript.wire](Story(rounds=rounds))[1:])


def seen(transcript: Transcript, *, over_tokens: int = 1, goal_tokens: int | None = None, calls_left: int = 20) -> View:
    """Return the transcript as a strategy sees it that has to free that many tokens."""
    return View(
        transcript=transcript,
        actions=actions(transcript),
        counter=ESTIMATOR,
        size_tokens=size_of(transcript),
        over_tokens=over_tokens,
        goal_tokens=over_tokens if goal_tokens is None else goal_tokens,
        calls_left=calls_left,
    )


def result_of(transcript: Transcript, call: Call) -> str:
    """Return what is now shown of the result of a call; empty if it went with its turn."""
    return next((part.text for entry in transcript.visible() for part in entry.results if part.call_id == call.id), "")


class Shelf(dict[str, str]):
    """A store for what plans take from view, under handles as long as the real store's."""

    def __call__(self, content: str, name: str) -> str:
        assert name
        handle = f"hndl{len(self):018d}"
        self[handle] = content
        return handle

    def all_behind(self, text: str) -> str:
        """Return everything that a reader of `text` can page to, through any number of handles."""
        found, waiting = [text], [text]
        left = dict(self)
        while waiting:
            shown = waiting.pop()
            for handle in [name for name in left if name in shown]:
                content = left.pop(handle)
                found.append(content)
                waiting.append(content)
        return "\n".join(found)
