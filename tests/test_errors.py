"""Does an error keep everything it says, even in another process?"""

from __future__ import annotations

import copy
import pickle

import pytest

from penstock import execute
from penstock.call import Call
from penstock.carrier.stream_watch import StreamRefused
from penstock.errors import PenstockError, ToolError, described
from penstock.overflow import Overflow
from penstock.store import StoreFault
from penstock.wires.failures import Disconnected, Refused


def too_large() -> PenstockError:
    """Return the proof that a request cannot be made to fit."""

    def refuse(_: object) -> None:
        raise RuntimeError("prompt is too long: 900 tokens > 300 maximum")

    said = {"model": "m", "messages": [{"role": "user", "content": "word " * 800}]}
    error = execute(refuse, said, wire="openai-chat", window_tokens=300).error
    assert isinstance(error, PenstockError)
    return error


MADE = [
    ToolError("stale", "It is another one.", Call("page", {"handle": "h"})),
    Disconnected("idle", "It said nothing."),
    Refused(400, {"error": {"message": "no"}}, {"retry-after": "1"}),
    StreamRefused("It ended.", Overflow(kind="context_input", limit=8_000), "Words"),
    StoreFault("disk_full", "Nothing more has room."),
]


@pytest.mark.parametrize("error", [*MADE, too_large()], ids=lambda error: type(error).__name__)
def test_an_error_comes_whole_out_of_another_process(error: PenstockError) -> None:
    """Process pools pickle errors; one that cannot be unpickled breaks the pool or makes its caller wait forever."""
    error.add_note("said by a worker")
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


def test_an_error_without_words_is_told_by_its_class() -> None:
    """An error without a message is described by its class alone, with no trailing colon."""
    assert (described(ValueError("no number")), described(TimeoutError())) == ("ValueError: no number", "TimeoutError")
