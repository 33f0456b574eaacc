"""Which API is a request for? Its path says the wire, and whether it asks for an answer or for a count.

A host is given one base URL and adds its API's own path, with or without the root that the provider's URLs have. Law: what is no
request for an answer or a count has no route and passes as it came. Pure. Keeps out: what a body says.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from penstock.wires import WIRES, wire_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.wires.wire import Service


class Route(NamedTuple):
    """What a path asks for."""

    wire: str
    model: str
    """The model that the address names; empty where the body does."""
    is_count: bool
    """Whether the tokens of a request are asked for, and no answer."""


@lru_cache(maxsize=256)
def route_of(path: str) -> Route | None:
    """Return what a request's path asks for; None for every other path of the APIs.

    Args:
        path: as the request has it, without its query.
    """
    for pattern, wire, is_count in _patterns():
        if found := pattern.search(path):
            return Route(wire, unquote(found.groupdict().get("model") or ""), is_count)
    return None


_VERSION = re.compile(r"\A/(?:v\d\w*|\{version\})")


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str, bool], ...]:
    made = []
    for name in WIRES:
        wire = wire_named(name)
        root = wire.service.root
        paths = [(path, False) for path in (wire.service.path, wire.service.stream_path)]
        if wire.double.counting is not None:
            paths.append((_VERSION.sub("", wire.double.counting.path), True))
        for path, is_count in paths:
            steps = re.escape(path.partition("?")[0]).replace(re.escape("{model}"), r"(?P<model>[^/]+)")
            # A path of one step stands in other APIs too, behind other roots: `/v1/threads/ID/messages`.
            before = "" if path.count("/") > 1 else f"^(?:.*{re.escape(root)})?"
            made.append((re.compile(f"{before}{steps}$"), name, is_count))
    return tuple(made)


def provider_of(path: str, headers: Mapping[bytes, bytes], environ: Mapping[str, str]) -> str | None:
    """Return the base URL of the public provider that a request is for; None where nothing says.

    Args:
        path: the request's path.
        headers: names in lower case.
        environ: where the region of a provider is said.
    """
    route = route_of(path)
    wire = route.wire if route is not None else _wire_of_others(path, headers)
    if wire is None:
        return None
    service = wire_named(wire).service
    regions = [environ[name] for name in service.region_variables if environ.get(name)]
    if "{region}" in service.base_url and not regions:
        return None
    return service.base_url.replace("{region}", regions[0] if regions else "")


def _wire_of_others(path: str, headers: Mapping[bytes, bytes]) -> str | None:
    """Return the wire of a request for something else than an answer: by its path, else by the header that fewest APIs have.

    Several take their key as `authorization`: where that is all that there is, the first of them is meant.
    """
    if wire := next((wire for wire in WIRES if path.startswith(wire_named(wire).service.other_paths)), None):
        return wire
    sent = {name.decode("latin-1") for name in headers}
    known = {wire: sent & _own_headers(wire_named(wire).service) for wire in WIRES}
    count = Counter(name for names in known.values() for name in names)
    rarest = min(count.values(), default=0)
    return next((wire for wire in WIRES if any(count[name] == rarest for name in known[wire])), None)


def _own_headers(service: Service) -> set[str]:
    """Return the headers by which an API knows its version and who asks."""
    return {*service.headers, *(key.header for key in service.keys)}


def address(base_url: str, path: str, query: str) -> str:
    """Return where a request goes: the path behind a base URL, whose own root is not said twice."""
    base = base_url.rstrip("/")
    root = urlsplit(base).path
    rest = path[len(root) :] if root and path.startswith(root + "/") else path
    return f"{base}{rest}" + (f"?{query}" if query else "")
