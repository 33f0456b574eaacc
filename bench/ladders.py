"""Other ways out of a refusal, for `bench.recovery`: each sends through a provider until it answers or the ladder ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PEERS: dict[str, Callable[..., bool]] = {}
Request = Any
