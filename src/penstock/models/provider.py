"""What does a provider answer to a step? Status and body, on its wire, refusals in its own form.

The pure half of a double: `ScriptedModel` calls it in process, `penstock.testing.LoopbackProvider` over HTTP too. Law: the body of
a status below 400 is an answer of the wire, unless a step said otherwise. Keeps out: which step it is, and sockets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.errors import CallerError, Refusal
from penstock.models import answers, refusals, sizes
from penstock.models.steps import Fail, Refuse, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.models.refusals import Form
    from penstock.models.steps import Step
    from penstock.transcript.shapes import Json

Outcome = Literal["answered", "refused", "failed", "invalid"]
"""`refused` for its size, `invalid` for its shape, `failed` because the script says so."""


class Refused(Refusal):
    """A provider did not answer a request; `penstock.overflow.parse` reads what it refused.

    `headers` are those that say when to try again, and by which number the provider knows the request.
    """

    def __init__(self, status_code: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"HTTP {status_code}: {body if isinstance(body, str) else _written(body)}")
        self.status_code = status_code
        self.body = body
        self.headers = dict(headers or {})


def _written(body: Json) -> str:
    try:
        return json.dumps(body)
    except RecursionError:  # read at a depth that cannot be written
        return "a body that is nested too deeply to be shown"


class Answer(NamedTuple):
    """What comes back: JSON, or a text as it is."""

    status: int
    body: Json
    outcome: Outcome

    def returned(self) -> dict[str, Json]:
        """The body of an answer; everything else is raised as `Refused`."""
        if self.status >= 400 or not isinstance(self.body, dict):
            raise Refused(self.status, self.body)
        return self.body


class Provider(NamedTuple):
    """How one provider speaks and counts."""

    wire: str
    form: Form
    model: str
    count: Callable[[str], int] = sizes.estimate

    def size_of(self, request: dict[str, Json]) -> sizes.Size:
        """The size of a request as it counts it."""
        return sizes.size_of(request, self.wire, self.count)

    def refusal_of(self, size: sizes.Size, limit_tokens: int) -> Answer | None:
        """The refusal of a request that is too large for it; None for one that fits."""
        if not refusals.exceeds(size, limit_tokens, self.form, self.wire):
            return None
        return Answer(400, refusals.refusal(size, limit_tokens, self.form, self.wire), "refused")

    def error(self, sentence: str, status: int = 400) -> Answer:
        """A request that is refused for its shape."""
        return Answer(status, refusals.error(sentence, self.form, status), "invalid")

    def perform(self, step: Step, size: sizes.Size, number: int) -> Answer:
        """The answer to the `number`-th request, which is of that size."""
        match step:
            case Reply():
                usage = {"input_tokens": size.input_tokens, "output_tokens": self.count(answers.said(step))}
                body = answers.answer(step, self.wire, number=number, model=self.model, **usage)
                return Answer(200, body, "answered")
            case Refuse():
                claimed = sizes.Size(prompt_tokens=step.input_tokens)
                return Answer(400, refusals.refusal(claimed, step.limit_tokens, self.form, self.wire), "refused")
            case Fail():
                body = step.body if isinstance(step.body, str) else json.loads(json.dumps(step.body))
                return Answer(step.status, body, "failed")
            case _:
                raise CallerError(f"a step is made by say, call, calls, refuse or fail, not {step!r}")
