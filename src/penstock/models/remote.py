"""Which provider is asked, and with which key? Models over HTTP, named as on the command line.

    model = RemoteModel("anthropic", "claude-sonnet-5", window_tokens=200_000)     # the key is in ANTHROPIC_API_KEY
    body = model.send({"max_tokens": 1_000, "messages": [...]}, on_text=print)

Addresses and keys come from the variables that the providers' own SDKs read, as the wire's `Service` lists them. Laws: a key is
sent only to its base URL and never shown in an error, a repr or a log; a faulty address or key is reported before anything is
sent, without repeating it. Leaves to others: the network (`exchange`), what an answer says (`reading`), and retries (`session`).
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from penstock.errors import CallerError
from penstock.models.signing import aws_signer
from penstock.version import __version__
from penstock.wires.failures import Cancelled
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from penstock.models.connecting import KeptConnections
    from penstock.text.json_access import Json
    from penstock.wires.wire import Service

# As in both official SDKs; Anthropic's takes no unstreamed request that would last longer.
TIMEOUT_SECONDS = 600.0
"""How long a whole answer may take by default: ten minutes."""


class RemoteModel:
    """A `Model` behind HTTP. Threads may share it; each `send` opens its own connection unless they are kept.

    Args:
        wire: the API that it speaks.
        name: the model, as the provider knows it.
        base_url: where it is, such as `http://localhost:8000/v1`; by default the address in the provider's variable, or its own.
        window_tokens: how many tokens a request may have; None if that is not known.
        environment: the variables that addresses and keys are taken from; those of the process by default.
        timeout_seconds: how long a whole answer may take, including connecting.
        connections: where connections are kept between calls of `send`; None opens one each time.

    Raises:
        CallerError: for an unknown wire, an invalid address, a key that is missing or that no header can hold, impossible
            numbers, and if the extra `penstock[providers]` is not installed.
    """

    def __init__(
        self,
        wire: str,
        name: str,
        *,
        base_url: str | None = None,
        window_tokens: int | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        connections: KeptConnections | None = None,
    ) -> None:
        try:
            from penstock.models.connecting import Endpoint
        except ImportError as error:
            raise CallerError(f"{wire}:{name} needs an extra: pip install 'penstock[providers]' ({error})") from error
        if not timeout_seconds > 0:
            raise CallerError(f"timeout_seconds is more than 0, not {timeout_seconds}")
        if window_tokens is not None and window_tokens < 1:
            raise CallerError(f"a window holds a token at least, not {window_tokens}")
        service = wire_named(wire).service
        given = os.environ if environment is None else environment
        region = next((value for name in service.region_variables if (value := _value(given, name))), "")
        base = (base_url or _value(given, service.base_url_variable) or _own_url(service, region)).rstrip("/")
        is_local = _is_local(base)
        # A server on this machine needs no key and no signature; a key that is set is sent nevertheless.
        key = next((key for key in service.keys if _value(given, key.variable)), service.keys[0])
        secret = _value(given, key.variable)
        signer = None
        if not secret and service.signs_for and (not is_local or _value(given, "AWS_ACCESS_KEY_ID")):
            signer = aws_signer(service.signs_for, region, given)
        if not secret and signer is None and not is_local:
            also = ", or install boto3 and set what it reads" if service.signs_for else ""
            variables = " or ".join(known.variable for known in service.keys)
            raise CallerError(f"{wire}:{name} at {base} needs a key: set {variables}{also}")
        # Uncompressed, so that a bound on what is read is also a bound on what is held.
        headers = {"content-type": "application/json", "accept-encoding": "identity", **service.headers}
        headers |= {"user-agent": f"penstock/{__version__}"}
        headers |= {to: value for origin, to in service.variable_headers.items() if (value := _value(given, origin))}
        headers |= {key.header: key.prefix + secret} if secret else {}
        self.wire = wire
        self.name = name
        self.window_tokens = window_tokens
        self._connections = connections
        self._endpoint = Endpoint(
            url=_address(base, service, service.path, name),
            stream_url=_address(base, service, service.stream_path, name),
            headers=headers,
            sign=signer,
            secret=secret,
            timeout_seconds=timeout_seconds,
            direct=is_local,
        )

    def __repr__(self) -> str:
        return f"<RemoteModel {self.wire}:{self.name} at {self._endpoint.url}>"

    @property
    def address(self) -> str:
        """Where requests go, without any key."""
        return self._endpoint.url

    def send(
        self,
        request: dict[str, Json],
        /,
        *,
        on_text: Callable[[str], object] | None = None,
        cancelled: threading.Event | Callable[[], bool] | None = None,
    ) -> dict[str, Json]:
        """Return the body of the answer to a request's body, which is sent once.

        Args:
            request: the body in the wire's format; `model` is added if missing, and only `on_text` decides `stream`.
            on_text: is called with each piece of the words; the answer is then streamed, and the body returned is the same. It is
                called in this thread, unless an event loop runs in it. An exception from it ends the request and is raised.
            cancelled: ends the request within a tenth of a second, once it is set or returns True.

        Raises:
            Refused: for an error of the provider, with its status and its body.
            Disconnected: if no answer, or only part of one, came in the given time.
            Unreadable: for an answer that is not the wire's.
            Cancelled: if `cancelled` was set or returned True.
            CallerError: for a request that is not a JSON object.
        """
        from penstock.models.exchange import exchange

        asked = _asked(cancelled)
        if asked():
            raise Cancelled("The request was cancelled before it was sent.")
        content = self._content(request, streamed=on_text is not None)
        return exchange(
            self._endpoint, content, self.wire, on_text=on_text, cancelled=asked, connections=self._connections
        )

    def _content(self, request: dict[str, Json], *, streamed: bool) -> bytes:
        """Return the request as it goes out."""
        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        spoken = wire_named(self.wire)
        body: Json = {spoken.body.model_key: self.name, **request}
        # Gemini and Bedrock take the model in the address only.
        if "{model}" in spoken.service.path:
            del body[spoken.body.model_key]
        body.pop("stream", None)
        if streamed:
            body = spoken.answers.streamed_body(body)
        else:
            body.pop("stream_options", None)
        # Plain UTF-8: escapes are two or three times as long in text that is not English. NaN, which Python writes, is not JSON.
        try:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise CallerError(f"a request is JSON: {error}") from error
        try:
            return text.encode()
        # Half of a surrogate pair, from a text that was cut between the two, or a terminal's byte that is not UTF-8. An escape
        # could hold it, but a provider refuses it ("no low surrogate in string"), and with it each later request of a session.
        except UnicodeEncodeError:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _own_url(service: Service, region: str) -> str:
    """Return the provider's own address.

    Raises:
        CallerError: if it has one for each region and none is set.
    """
    if service.region_variables and not region:
        raise CallerError(f"the address is one for each region: set {service.region_variables[0]}, or give a base URL")
    return service.base_url.replace("{region}", region)


def _address(base: str, service: Service, path: str, name: str) -> str:
    """Return where requests go: a base URL may be the whole address, or end in the API's root, or leave it out, as SDKs differ."""
    return (
        base.removesuffix(service.path).removesuffix(service.root)
        + service.root
        + path.replace("{model}", quote(name, safe=""))
    )


def _asked(cancelled: threading.Event | Callable[[], bool] | None) -> Callable[[], bool]:
    """Return the function that says whether a request is cancelled, in whichever form it was given."""
    if cancelled is None:
        return lambda: False
    return cancelled if callable(cancelled) else cancelled.is_set


def _value(environment: Mapping[str, str], variable: str) -> str:
    """Return what a variable holds, without surrounding white space; empty if it is not set.

    Raises:
        CallerError: for a value that no header can hold; it names the variable and does not repeat what may be a key.
    """
    value = environment.get(variable, "").strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise CallerError(f"{variable} holds a space, or a character that no key and no address has")
    return value


def _is_local(base: str) -> bool:
    """Whether a base URL is on this machine.

    Raises:
        CallerError: for an invalid base URL, which is not repeated, since it may contain a key.
    """
    from ipaddress import ip_address

    from httpx2 import URL, InvalidURL

    try:
        url = URL(base)
        is_one = url.scheme in {"http", "https"} and bool(url.host) and (url.port or 80) < 65_536
    except (InvalidURL, UnicodeError):  # the second for a byte that is not UTF-8
        is_one = False
    if not is_one or url.userinfo or url.query or url.fragment:
        raise CallerError(
            "The base URL cannot be used: write https://HOST/v1, without user, password, query or fragment."
        )
    try:
        return ip_address(url.host).is_loopback
    except ValueError:
        return url.host == "localhost" or url.host.endswith(".localhost")
