"""Which provider is asked, and with which key? Models over HTTP, named as on the command line.

    model = remote("anthropic", "claude-sonnet-5", window_tokens=200_000)     # the key is in ANTHROPIC_API_KEY
    body = model.send({"max_tokens": 1_000, "messages": [...]}, on_text=print)

Addresses and keys come from the variables that the providers' own SDKs read. Law: a key is sent to its base URL and shown nowhere.
Keeps out: the way over the network (`exchange`), what an answer says (`reading`), and trying again (`session`).
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

    from penstock.text.json_access import Json
    from penstock.wires.wire import Service

TIMEOUT_SECONDS = 600.0  # as both official SDKs; Anthropic's takes no unstreamed request that would last longer


class RemoteModel:
    """A `Model` behind HTTP. Threads may share it; each `send` has a connection of its own."""

    def __init__(
        self,
        wire: str,
        name: str,
        *,
        base_url: str | None = None,
        window_tokens: int | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        try:
            from penstock.models.exchange import Endpoint
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
        key = next((key for key in service.keys if _value(given, key.variable)), service.keys[0])
        secret = _value(given, key.variable)
        signer = None
        if not secret and service.signs_for and (not is_local or _value(given, "AWS_ACCESS_KEY_ID")):
            signer = aws_signer(service.signs_for, region, given)
        if not secret and signer is None and not is_local:
            also = ", or install boto3 and set what it reads" if service.signs_for else ""
            raise CallerError(f"{wire}:{name} at {base} needs a key: set {key.variable}{also}")
        headers = {"content-type": "application/json", "accept-encoding": "identity", **service.headers}
        headers |= {"user-agent": f"penstock/{__version__}"}
        headers |= {to: value for origin, to in service.variable_headers.items() if (value := _value(given, origin))}
        headers |= {key.header: key.prefix + secret} if secret else {}
        self.wire = wire
        self.name = name
        self.window_tokens = window_tokens
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

    def send(
        self,
        request: dict[str, Json],
        /,
        *,
        on_text: Callable[[str], object] | None = None,
        cancelled: threading.Event | Callable[[], bool] | None = None,
    ) -> dict[str, Json]:
        """The body of the answer to a body; `model` is put in where it is not.

        With `on_text` the answer is streamed: it is called with each piece of the words, in this thread unless an event loop runs
        in it, and the body returned is the same. `cancelled`, once set or true, ends the request within a tenth of a second.
        Raises `Refused`, `Disconnected`, `Unreadable` or `Cancelled`; sends nothing twice.
        """
        from penstock.models.exchange import exchange

        asked = _asked(cancelled)
        if asked():
            raise Cancelled("The request was cancelled before it was sent.")
        content = self._content(request, streamed=on_text is not None)
        return exchange(self._endpoint, content, self.wire, on_text=on_text, cancelled=asked)

    def _content(self, request: dict[str, Json], *, streamed: bool) -> bytes:
        """The request as it goes out: whether it is streamed is said by `on_text` alone."""
        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        spoken = wire_named(self.wire)
        body: Json = {spoken.body.model_key: self.name, **request}
        if "{model}" in spoken.service.path:  # there it is in the address, and nowhere else
            del body[spoken.body.model_key]
        body.pop("stream", None)
        if streamed:
            body = spoken.answers.streamed_body(body)
        else:
            body.pop("stream_options", None)
        try:
            return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can hold
            return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise CallerError(f"a request is JSON: {error}") from error


def _own_url(service: Service, region: str) -> str:
    """The provider's own address; `CallerError` where it has one for each region and none is set."""
    if service.region_variables and not region:
        raise CallerError(f"the address is one for each region: set {service.region_variables[0]}, or give a base URL")
    return service.base_url.replace("{region}", region)


def _address(base: str, service: Service, path: str, name: str) -> str:
    return base.removesuffix(service.root) + service.root + path.replace("{model}", quote(name, safe=""))


def _asked(cancelled: threading.Event | Callable[[], bool] | None) -> Callable[[], bool]:
    if cancelled is None:
        return lambda: False
    return cancelled if callable(cancelled) else cancelled.is_set


def _value(environment: Mapping[str, str], variable: str) -> str:
    """What a variable holds; `CallerError` for what no header can, which names the variable and does not repeat it."""
    value = environment.get(variable, "").strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise CallerError(f"{variable} holds a space, or a character that no key and no address has")
    return value


def _is_local(base: str) -> bool:
    """Whether a base URL is on this machine; `CallerError` for what is none, not repeated: there may be a key in it."""
    from ipaddress import ip_address

    from httpx2 import URL, InvalidURL

    try:
        url = URL(base)
        is_one = url.scheme in {"http", "https"} and bool(url.host) and (url.port or 80) < 65_536
    except InvalidURL:
        is_one = False
    if not is_one or url.userinfo or url.query or url.fragment:
        raise CallerError("a base URL is as https://host/v1: no user, no password, nothing after the path")
    try:
        return ip_address(url.host).is_loopback
    except ValueError:
        return url.host == "localhost" or url.host.endswith(".localhost")
