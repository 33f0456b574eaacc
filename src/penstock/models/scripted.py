"""Does the request show what it has to? A script of steps, in order, and a model that answers from it.

Law: a script that was left once stays left, so that no retry hides it; the requests that came in are kept as they came, whatever
the caller does with them afterwards. Keeps out: HTTP, and how a wire writes an answer (`provider`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.models import sizes
from penstock.models.provider import Provider
from penstock.models.steps import ScriptStep, read_steps
from penstock.wires.table import WIRES, wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.text.json_access import Json

_END_CHARS = 400  # of a request that does not fit: the newest message, as a rule
_SCRIPT_BYTES = 64 << 20


class ScriptMismatch(AssertionError):
    """A request that its step of the script does not allow, or for which there is no step.

    The end of the request is a note: tracebacks and test runners show it, but whoever reads the message for a provider's refusal
    cannot take a conversation about refusals for one.
    """


class Script:
    """Steps in order; called with a request it gives the step that answers it, or raises `ScriptMismatch`."""

    def __init__(self, steps: Iterable[ScriptStep]) -> None:
        self._steps = tuple(steps)
        for step in self._steps:
            if not isinstance(step, ScriptStep):
                raise CallerError(f"a script holds steps, made by say, call, calls, refuse and fail, not {step!r}")
        self._place = 0
        self._left: tuple[str, str] | None = None
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Json]) -> ScriptStep:
        with self._lock:
            if self._left is None and (why := self._mismatch(request)) is not None:
                self._left = why, _end_of(request)
            if self._left is not None:
                mismatch = ScriptMismatch(self._left[0])
                mismatch.add_note(f"The request ends:\n{self._left[1]}")
                raise mismatch
            self._place += 1
            return self._steps[self._place - 1]

    def _mismatch(self, request: dict[str, Json]) -> str | None:
        if self._place == len(self._steps):
            return f"the script is over: it has {len(self._steps)} steps, and this is request {self._place + 1}"
        step = self._steps[self._place]
        found = step.mismatch(sizes.text_of(request))
        return found and f"step {self._place + 1} of {len(self._steps)}, {step}, {found}"


def _end_of(request: dict[str, Json]) -> str:
    """The end of the conversation; of a body without one, of the body."""
    keys = (wire_named(wire).body.messages_key for wire in WIRES)
    messages = next((request[key] for key in keys if key in request), request)
    return sizes.text_of(messages)[-_END_CHARS:]


class ScriptedModel:
    """A `Model` that answers from a script, in the body of its wire, with usage counted over the request.

    `requests` are the bodies that came in. `send` raises `Refused` for a step that refuses or fails, and `ScriptMismatch`
    for a request that its step does not allow; from then on it raises nothing else.
    """

    name = "scripted"

    def __init__(
        self, steps: Iterable[ScriptStep], wire: str = "openai-chat", window_tokens: int | None = None
    ) -> None:
        self.wire = wire_named(wire).name
        self.window_tokens = window_tokens
        self.requests: list[dict[str, Json]] = []
        self._script = Script(steps)
        self._provider = Provider(wire, self.name)
        self._lock = threading.Lock()

    @classmethod
    def from_file(cls, path: str, wire: str = "openai-chat", window_tokens: int | None = None) -> ScriptedModel:
        """The model whose script is a JSON list of objects, each named as its step is in Python. Raises `CallerError`.

        `{"say": TEXT}`, `{"call": NAME, "arguments": {}}`, `{"calls": [CALL, …], "text": TEXT}`, `{"refuse": TOKENS, "of":
        TOKENS}`, `{"fail": STATUS, "body": BODY}`, each with `requires` and `forbids`: a pattern or a list of them.
        """
        from penstock.workspace.root import read_own

        content = read_own(path, _SCRIPT_BYTES)
        if content is None:
            raise CallerError(f"there is no file {path!r}")
        try:
            return cls(read_steps(content), wire, window_tokens)
        except CallerError as error:
            raise CallerError(f"{path}: {error}") from error

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """The body of the step whose turn it is."""
        from penstock.text.json_access import copied

        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        with self._lock:
            self.requests.append(copied(request))
            number = len(self.requests)
        step = self._script(request)
        return self._provider.perform(step, self._provider.size_of(request), number).returned()
