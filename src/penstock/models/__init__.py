"""Who answers? A `Model` takes a request's body and returns the response's body, in its wire's format.

`RemoteModel` asks a provider over HTTP, plain or streamed. `ScriptedModel` answers from a script whose steps can require what the
request must show; it ships because everyone who builds an agent needs one for their tests. `LocalModel` quotes from files, without
a key. `load_model` makes any of them from a name as given on the command line.

    model = load_model("anthropic:claude-sonnet-5", window_tokens=200_000)     # the key is in ANTHROPIC_API_KEY
    body = model.send({"max_tokens": 1_000, "messages": [{"role": "user", "content": "hi"}]})

Laws: an answer is a body that the wire's own client can read, with its usage; everything else is raised; nothing is sent twice.
Leaves to others: HTTP on loopback (`penstock.testing`), what is sent (`session`), and how a refusal is handled (`context`,
`carrier`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from penstock.errors import CallerError
from penstock.models.remote import TIMEOUT_SECONDS, RemoteModel
from penstock.models.scripted import ScriptedModel, ScriptMismatch
from penstock.models.steps import ScriptStep, call, calls, fail, refuse, say
from penstock.wires.failures import Cancelled, Disconnected, Refused, Unreadable
from penstock.wires.table import WIRES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.models.connecting import KeptConnections
    from penstock.models.local import LocalModel
    from penstock.text.json_access import Json

__all__ = [
    "Cancelled",
    "Disconnected",
    "KeptConnections",
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
    """Anything that answers requests on one wire; any class with these four members is one."""

    @property
    def wire(self) -> str:
        """The name of the API whose bodies it takes and returns, one of `penstock.transcript.WIRES`."""
        ...

    @property
    def name(self) -> str:
        """The name of the model, in requests and in output for people."""
        ...

    @property
    def window_tokens(self) -> int | None:
        """How many tokens a request may have; None if that is not known."""
        ...

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """Return the body of the answer to a request's body.

        Raises:
            Exception: the provider's refusal, of any class: `penstock.overflow.diagnose` reads it.
        """
        ...


def load_model(
    name: str,
    *,
    base_url: str | None = None,
    window_tokens: int | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    connections: KeptConnections | None = None,
) -> Model:
    """Return the model with a given name, as `--model` takes it.

    - `openai-chat:NAME`, `anthropic:NAME` and the like, a wire and a name on it: a `RemoteModel`, at `base_url`, at the address in
      the provider's usual variable, or at the provider's own address; its key is in a variable too.
    - `local`: a `LocalModel`, which quotes passages relevant to a question, without a key.
    - `scripted:FILE` answers from a file (see `ScriptedModel.from_file`).

    Args:
        name: one of the forms above.
        base_url: where a remote model is, instead of its provider's own address; on this machine no key is needed.
        window_tokens: how many tokens a request may have; None if that is not known (`local` has its own window).
        environment: the variables that addresses and keys are taken from; those of the process by default.
        timeout_seconds: how long a remote model may take for a whole answer.
        connections: where a remote model keeps its connections between requests; None opens one per request.

    Raises:
        CallerError: for an unknown name, a missing key, and a script that cannot be read.
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
            connections=connections,
        )
    if name == "local":
        from penstock.models.local import WINDOW_TOKENS, LocalModel

        return LocalModel(window_tokens=WINDOW_TOKENS if window_tokens is None else window_tokens)
    if kind == "scripted" and rest:
        return ScriptedModel.from_file(rest, window_tokens=window_tokens)
    forms = f"local, {':NAME, '.join(WIRES)}:NAME or scripted:FILE"
    raise CallerError(f"There is no model {name!r}. Write {forms}, for example openai-chat:gpt-4o.")


def __getattr__(name: str) -> object:
    """Load rarely used names on first use: `LocalModel` searches files, `KeptConnections` needs the extra `providers`.

    Raises:
        AttributeError: for any other name.
    """
    if name == "LocalModel":
        from penstock.models.local import LocalModel

        return LocalModel
    if name == "KeptConnections":
        from penstock.models.connecting import KeptConnections

        return KeptConnections
    raise AttributeError(f"module 'penstock.models' has no attribute {name!r}")
