"""Who answers? A `Model` takes a request's body and gives the response's body, as its wire has them.

`RemoteModel` asks a provider over HTTP, plain or streamed. `ScriptedModel` answers from a script whose steps can demand what the
request must show; it ships, because whoever builds an agent needs one for their tests. Law: an answer is a body that the wire's
own client reads, with its usage; everything else is raised. Keeps out: HTTP on loopback (`penstock.testing`), what is sent
(`session`), and what is done about a refusal (`recovery`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from penstock.errors import CallerError
from penstock.models.local import WINDOW_TOKENS, LocalModel
from penstock.models.remote import TIMEOUT_SECONDS, RemoteModel
from penstock.models.scripted import ScriptedModel, ScriptMismatch
from penstock.models.steps import ScriptStep, call, calls, fail, refuse, say
from penstock.wires.failures import Cancelled, Disconnected, Refused, Unreadable
from penstock.wires.table import WIRES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.text.json_access import Json

__all__ = [
    "Cancelled",
    "Disconnected",
    "LocalModel",
    "Model",
    "Refused",
    "RemoteModel",
    "ScriptMismatch",
    "ScriptStep",
    "ScriptedModel",
    "Unreadable",
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
        """The API's name, one of `penstock.transcript.WIRES`."""
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


def load_model(
    name: str,
    *,
    base_url: str | None = None,
    window_tokens: int | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Model:
    """The model of that name. Raises `CallerError` for a name that is none, and for a key that is missing.

    - `openai-chat:NAME`, `anthropic:NAME` and the like, a wire and a name on it: a `RemoteModel`, at `base_url`, at that of the
      provider's usual variable, or at the provider's own; its key is in the variable too.
    - `local`: a `LocalModel`, which quotes passages that have to do with a question, without a key.
    - `scripted:FILE` answers from a file (see `ScriptedModel.from_file`).
    """
    kind, _, rest = name.partition(":")
    if kind in WIRES and rest:
        return RemoteModel(
            kind,
            rest,
            base_url=base_url,
            window_tokens=window_tokens,
            environment=environment,
            timeout_seconds=timeout_seconds,
        )
    if name == "local":
        return LocalModel(window_tokens=WINDOW_TOKENS if window_tokens is None else window_tokens)
    if kind == "scripted" and rest:
        return ScriptedModel.from_file(rest, window_tokens=window_tokens)
    raise CallerError(f"{name!r} names no model; local, {':NAME, '.join(WIRES)}:NAME and scripted:FILE do")
