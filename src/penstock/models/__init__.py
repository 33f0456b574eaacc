"""Who answers? A `Model` takes a request's body and gives the response's body, as its wire has them.

`ScriptedModel` answers from a script whose steps can demand what the request must show; it ships, because whoever builds an agent
needs one for their tests. Law: an answer of a script is a body that the wire's own client reads, with usage counted over the
request. Keeps out: HTTP on loopback (`penstock.testing`), what is sent (`session`), and what is done about a refusal (`recovery`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from penstock.errors import CallerError
from penstock.models.provider import Refused
from penstock.models.scripted import ScriptedModel, ScriptMismatch
from penstock.models.steps import Step, call, calls, fail, refuse, say

if TYPE_CHECKING:
    from penstock.transcript.shapes import Json

__all__ = [
    "Model",
    "Refused",
    "ScriptMismatch",
    "ScriptedModel",
    "Step",
    "call",
    "calls",
    "fail",
    "load_model",
    "refuse",
    "say",
]


class Model(Protocol):
    """Whatever answers requests on one wire."""

    @property
    def wire(self) -> str:
        """`openai-chat`, `openai-responses` or `anthropic`."""
        ...

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    @property
    def window_tokens(self) -> int | None:
        """How much it holds, where that is known."""
        ...

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """The body of the response to a body. Raises whatever the provider's refusal is; `penstock.overflow` reads any."""
        ...


def load_model(name: str) -> Model:
    """The model of that name: `scripted:FILE` answers from a file (see `ScriptedModel.from_file`). Raises `CallerError`."""
    kind, colon, rest = name.partition(":")
    if kind == "scripted" and colon and rest:
        return ScriptedModel.from_file(rest)
    raise CallerError(f"{name!r} names no model; scripted:FILE does")
