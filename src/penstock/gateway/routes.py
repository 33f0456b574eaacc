"""Which API is a request for? Its path shows the wire, and whether it asks for an answer or for a count.

A host is given one base URL and adds its API's own path, with or without the root of the provider's URLs. Law: a request that asks
for neither an answer nor a count has no route and passes unchanged. Pure. Leaves to others: what a body says.
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
    """The model named in the address; empty if the body names it."""
    is_count: bool
    """Whether only the tokens of a request are asked for."""


@lru_cache(maxsize=256)
def route_of(path: str) -> Route | None:
    """Return what a request's path asks for; None for every other path of the APIs.

    Args:
        path: the request's path, without its query.
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
            # A path of one step also occurs in other APIs, after other roots: `/v1/threads/ID/messages`.
            before = "" if path.count("/") > 1 else f"^(?:.*{re.escape(root)})?"
            made.append((re.compile(f"{before}{steps}$"), name, is_count))
    return tuple(made)


def provider_of(path: str, headers: Mapping[bytes, bytes], environ: Mapping[str, str]) -> str | None:
    """Return the base URL of the public provider that a request is for; None if nothing shows it.

    Args:
        path: the request's path.
        headers: names in lower case.
        environ: the variables that name a provider's region.
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
    """Return the wire of a request for something other than an answer: by its path, otherwise by the header that fewest APIs have.

    Several accept their key as `authorization`: if there is only that, the first of them is meant.
    """
    if wire := next((wire for wire in WIRES if path.startswith(wire_named(wire).service.other_paths)), None):
        return wire
    sent = {name.decode("latin-1") for name in headers}
    known = {wire: sent & _own_headers(wire_named(wire).service) for wire in WIRES}
    count = Counter(name for names in known.values() for name in names)
    rarest = min(count.values(), default=0)
    return next((wire for wire in WIRES if any(count[name] == rarest for name in known[wire])), None)


def _own_headers(service: Service) -> set[str]:
    """Return the headers that carry an API's version and its keys."""
    return {*service.headers, *(key.header for key in service.keys)}


def address(base_url: str, path: str, query: str) -> str:
    """Return the address of a request: the path after a base URL, without repeating that URL's own root."""
    base = base_url.rstrip("/")
    root = urlsplit(base).path
    rest = path[len(root) :] if root and path.startswith(root + "/") else path
    return f"{base}{rest}" + (f"?{query}" if query else "")
