"""What does a test work with? A provider that enforces its window, over HTTP or in process.

Law: a fault on the double's own side fails the test, wherever the client put the error: it is raised at the end of `with`. Keeps
out: decisions (`desk`), and transport (`routes`, `server`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from penstock.errors import CallerError
from penstock.models import refusals, sizes
from penstock.models.provider import Provider
from penstock.models.scripted import Script
from penstock.testing.desk import Desk
from penstock.testing.routes import Routes
from penstock.testing.server import Server
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from penstock.models.refusals import RefusalForm
    from penstock.models.steps import ScriptStep
    from penstock.testing.desk import Received
    from penstock.text.json_access import Json

MAX_BODY_BYTES = 32 << 20
"""The largest body that is read, as much as Anthropic takes; above it a provider reports bytes, not tokens."""


class LoopbackProvider:
    """A provider of `window_tokens` on one wire. Inside `with` it is at `base_url`; `send` asks it in process, at any time.

    A fault on its own side (a `ScriptMismatch`, an exception of the policy) is HTTP 400 to the client, and is raised at the end of
    `with`. Requests are answered in the threads of their connections: several may call a policy at once.

    Args:
        wire: the API that it speaks.
        window_tokens: how much it takes; above this it refuses as the provider does.
        script: steps as a `ScriptedModel` has them.
        policy: a function that sees only the request's body and returns a step; instead of a script.
        refusal: in whose words it refuses, such as `vllm-input` (`penstock.models.refusals.FORMS`), or a function of what it
            counted and its window that returns a sentence or a whole body; by default those of the wire's own provider.
        refuse_in_stream: refuse streamed requests by an error event after HTTP 200.
        strict: also refuse what `penstock.transcript.violations` finds, and a reply length that the wire does not take.
        count: the tokens of a text, by default an estimate; `penstock.models.sizes` says which texts are counted.
        model: the name in its list of models and its answers; it answers to every other name as well.
        max_body_bytes: the largest body that is read.

    Raises:
        CallerError: for an unknown wire, a window without a token, an unknown form of refusal, and unless exactly one of
            `script` and `policy` is given.
    """

    def __init__(
        self,
        wire: str,
        window_tokens: int,
        *,
        script: Iterable[ScriptStep] | None = None,
        policy: Callable[[dict[str, Json]], ScriptStep] | None = None,
        refusal: RefusalForm | None = None,
        refuse_in_stream: bool = False,
        strict: bool = True,
        count: Callable[[str], int] = sizes.estimate,
        model: str = "loopback",
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        if policy is None and script is not None:
            policy = Script(script)
        elif policy is None or script is not None:
            raise CallerError("a LoopbackProvider answers by script= or by policy=, one of them")
        if refusal is not None and not callable(refusal) and refusal not in refusals.FORMS:
            raise CallerError(f"{refusal!r} is not a form of refusal; there are {', '.join(refusals.FORMS)}")
        if window_tokens < 1:
            raise CallerError(f"a window holds a token at least, not {window_tokens}")
        provider = Provider(wire_named(wire).name, model, refusal, count)
        self._desk = Desk(provider, window_tokens, policy, strict=strict, refuse_in_stream=refuse_in_stream)
        self._routes = Routes(self._desk, max_body_bytes)
        self._server: Server | None = None

    @property
    def wire(self) -> str:
        """The name of the API that it speaks."""
        return self._desk.provider.wire

    @property
    def name(self) -> str:
        """The model that it serves; it answers to every other name as well."""
        return self._desk.provider.model

    @property
    def window_tokens(self) -> int:
        """Tokens that the provider takes; above this it refuses."""
        return self._desk.window_tokens

    @property
    def base_url(self) -> str:
        """The base URL for the official client of the wire."""
        if self._server is None:
            raise CallerError("a LoopbackProvider has a base_url only inside `with`")
        return self._server.url + wire_named(self.wire).double.root

    @property
    def requests(self) -> tuple[Received, ...]:
        """Every request for an answer so far, in the order in which they were decided."""
        return self._desk.received

    @property
    def refused(self) -> int:
        """How many requests were refused for their size."""
        return sum(received.outcome == "refused" for received in self.requests)

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """Return the body of the answer to a request, without HTTP.

        Raises:
            Refused: for everything that is not an answer: a refusal for size or shape, or a step that fails.
            CallerError: for a request that is not an object.
            Exception: whatever the policy raises, including a `ScriptMismatch`.
        """
        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        return self._desk.decide(request).answer.returned()

    def __enter__(self) -> Self:
        if self._server is not None:
            raise CallerError("this LoopbackProvider is serving already")
        self._server = Server(self._routes)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        # An error in the body of `with` is most often the client's reading of ours, and ours says more. An interrupt is neither.
        broken, self._routes.broken = self._routes.broken, None
        # Raised while the client's error is handled, ours has it as its context: a traceback shows both.
        if broken is not None and (error is None or isinstance(error, Exception)):
            raise broken
