"""Does the request show what it must? A script of steps, in order, and a model that answers from it.

    model = ScriptedModel([call("read_file", path="a.py"), say("done", requires="def area")])

Laws: once a request has departed from the script the script stays failed, so that no retry hides it; requests are kept as they
came in, whatever the caller does with them afterwards. Leaves to others: HTTP (`penstock.testing`), and how a wire writes an answer
(`provider`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.models import sizes
from penstock.models.provider import Provider
from penstock.models.steps import ScriptStep, read_steps
from penstock.text import escape
from penstock.wires.table import WIRES, wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.text.json_access import Json

# How much of the end of a request is shown if it does not fit its step: the newest message, as a rule.
_END_CHARS = 400
# The largest script that is read from a file.
_SCRIPT_BYTES = 64 << 20


class ScriptMismatch(AssertionError):
    """A request that its step of the script does not allow, or for which there is no step.

    The end of the request is a note: tracebacks and test runners show it, but code that reads the message as a provider's
    refusal cannot mistake a conversation about refusals for one.
    """


class Script:
    """Steps in order; called with a request it returns the step that answers it.

    Args:
        steps: what `say`, `call`, `calls`, `refuse` and `fail` make.

    Raises:
        CallerError: when it is made, for anything but steps.
        ScriptMismatch: when it is called with a request that its step does not allow, or after the last step; from then on
            always, so that a loop that swallows errors and retries cannot pass.
    """

    def __init__(self, steps: Iterable[ScriptStep]) -> None:
        self._steps = tuple(steps)
        for step in self._steps:
            if not isinstance(step, ScriptStep):
                raise CallerError(f"a script holds steps, made by say, call, calls, refuse and fail, not {step!r}")
        self._place = 0
        self._left: tuple[str, str] | None = None
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Json]) -> ScriptStep:
        """Return the step that answers a request, and use it up."""
        # Choosing the step and using it up must be one decision for any number of threads.
        with self._lock:
            if self._left is None and (why := self._mismatch(request)) is not None:
                self._left = why, _end_of(request)
            if self._left is not None:
                # A new one each time: an exception that is raised twice accumulates both tracebacks.
                mismatch = ScriptMismatch(self._left[0])
                mismatch.add_note(f"The request ends:\n{self._left[1]}")
                raise mismatch
            self._place += 1
            return self._steps[self._place - 1]

    def _mismatch(self, request: dict[str, Json]) -> str | None:
        """Say why the next step does not answer a request; None if it does."""
        if self._place == len(self._steps):
            return f"the script is over: it has {len(self._steps)} steps, and this is request {self._place + 1}"
        step = self._steps[self._place]
        # Reading a request takes as long as counting it, and most steps demand nothing of its text.
        found = step.mismatch(sizes.text_of(request)) if step.requires or step.forbids else None
        return found and f"step {self._place + 1} of {len(self._steps)}, {step}, {found}"


def _end_of(request: dict[str, Json]) -> str:
    """Return the end of the conversation in a request's body; if the body has none, the end of the body."""
    keys = (wire_named(wire).body.messages_key for wire in WIRES)
    messages = next((request[key] for key in keys if key in request), request)
    return sizes.text_of(messages)[-_END_CHARS:]


class ScriptedModel:
    """A `Model` that answers from a script, in the body of its wire, with usage counted over the request.

    Args:
        steps: what `say`, `call`, `calls`, `refuse` and `fail` make, in order.
        wire: the API whose bodies it takes and returns.
        window_tokens: the window that it reports; it refuses only if a step does.

    Raises:
        CallerError: for anything but steps, and for an unknown wire.
    """

    name = "scripted"
    """The name of the model in its answers."""

    def __init__(
        self, steps: Iterable[ScriptStep], wire: str = "openai-chat", window_tokens: int | None = None
    ) -> None:
        self.wire = wire_named(wire).name
        self.window_tokens = window_tokens
        self.requests: list[dict[str, Json]] = []
        """The bodies as they came in, oldest first."""
        self._script = Script(steps)
        self._provider = Provider(wire, self.name)
        self._lock = threading.Lock()

    @classmethod
    def from_file(cls, path: str, wire: str = "openai-chat", window_tokens: int | None = None) -> ScriptedModel:
        """Return the model whose script is in a file: a JSON list of objects, each named as its step is in Python.

        `{"say": TEXT}`, `{"call": NAME, "arguments": {}}`, `{"calls": [CALL, …], "text": TEXT}`, `{"refuse": TOKENS, "of":
        TOKENS}`, `{"fail": STATUS, "body": BODY}`, each with `requires` and `forbids`: a pattern or a list of them.

        Raises:
            CallerError: if there is no such file, or an invalid step in it; the error names the step by its number.
        """
        from penstock.workspace.own_files import read_own

        content = read_own(path, _SCRIPT_BYTES)
        if content is None:
            raise CallerError(f"There is no file or folder {escape.show_argument(path)}.") from FileNotFoundError(path)
        try:
            return cls(read_steps(content), wire, window_tokens)
        except CallerError as error:
            raise CallerError(f"{path}: {error}") from error

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """Return the body of the next step; `requests` keeps the request.

        Raises:
            Refused: for a step that refuses or fails.
            ScriptMismatch: for a request that its step does not allow; from then on nothing else is raised.
            CallerError: for a request that is not an object.
        """
        from penstock.text.json_access import copied

        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        with self._lock:
            self.requests.append(copied(request))
            number = len(self.requests)
        step = self._script(request)
        return self._provider.perform(step, self._provider.size_of(request), number).returned()
