"""What does a provider's double answer to a step of a script? Status and body on its wire, refusals in the provider's words.

This is the pure half of a double: `ScriptedModel` calls it in process, `penstock.testing.LoopbackProvider` also over HTTP. What
it writes comes from the wire's own record (`Wire.double`), so a new wire gets a double by being complete. Law: the body of a
status below 400 is an answer of the wire, unless a step says otherwise. Leaves to others: which step is next, and sockets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.errors import CallerError
from penstock.models import sizes
from penstock.models.refusals import refuser
from penstock.models.steps import Fail, Refuse, ScriptedReply
from penstock.wires.failures import Refused
from penstock.wires.table import wire_named
from penstock.wires.wire import AnswerContent, RequestSize

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.models.refusals import RefusalForm
    from penstock.models.steps import ScriptStep
    from penstock.text.json_access import Json

Outcome = Literal["answered", "refused", "failed", "invalid"]
"""Outcome of a request: `refused` for its size, `invalid` for its shape, `failed` because the script says so."""


class DoubleAnswer(NamedTuple):
    """What a double returns for one request."""

    status: int
    """The HTTP status, even if nothing goes over HTTP."""
    body: Json
    """JSON, or a text that is sent as it is."""
    outcome: Outcome

    def returned(self) -> dict[str, Json]:
        """Return the body of an answer.

        Raises:
            Refused: for everything that is not an answer.
        """
        if self.status >= 400 or not isinstance(self.body, dict):
            raise Refused(self.status, self.body)
        return self.body


class Provider(NamedTuple):
    """How one provider speaks and counts."""

    wire: str
    model: str
    """The model that its answers name."""
    form: RefusalForm | None = None
    """In whose words it refuses; None for the wire's own provider."""
    count: Callable[[str], int] = sizes.estimate
    """The tokens of a text; `penstock.models.sizes` documents which texts are counted, and what else."""

    def size_of(self, request: dict[str, Json]) -> RequestSize:
        """Return the size of a request as this provider counts it."""
        return sizes.size_of(request, self.wire, self.count)

    def refusal_of(self, size: RequestSize, limit_tokens: int) -> DoubleAnswer | None:
        """Return the refusal of a request that is too large for it; None for one that fits."""
        # Whether the reply counts depends on the server: OpenAI's chat API adds it to the input, its responses API does not.
        server = refuser(self.wire, self.form)
        if not server.exceeds(size, limit_tokens):
            return None
        return DoubleAnswer(400, server.refusal(size, limit_tokens), "refused")

    def error(self, sentence: str, status: int = 400) -> DoubleAnswer:
        """Return the refusal of a request for its shape."""
        return DoubleAnswer(status, refuser(self.wire, self.form).error(sentence, status), "invalid")

    def perform(self, step: ScriptStep, size: RequestSize, number: int) -> DoubleAnswer:
        """Return the answer that a step gives to a request.

        Args:
            step: what the script says.
            size: how large the request is; its input is what the answer reports as usage.
            number: the number of the request, from 1; ids are made from it.

        Raises:
            CallerError: for anything but a step.
        """
        match step:
            case ScriptedReply():
                # A call costs its name and its arguments, as providers count what a model wrote.
                spoken = "\n".join([step.text, *(text for call in step.calls for text in call)]).strip()
                content = AnswerContent(
                    text=step.text,
                    calls=step.calls,
                    number=number,
                    model=self.model,
                    input_tokens=size.input_tokens,
                    output_tokens=self.count(spoken),
                )
                return DoubleAnswer(200, wire_named(self.wire).double.answer(content), "answered")
            case Refuse():
                claimed = RequestSize(prompt_tokens=step.input_tokens)
                return DoubleAnswer(400, refuser(self.wire, self.form).refusal(claimed, step.limit_tokens), "refused")
            case Fail():
                # A copy: the caller may change the body, and the step is repeated in another run of the script.
                body = step.body if isinstance(step.body, str) else json.loads(json.dumps(step.body))
                return DoubleAnswer(step.status, body, "failed")
            case _:
                raise CallerError(f"a step is made by say, call, calls, refuse or fail, not {step!r}")
