"""How does a program without an SDK call a provider over real HTTP? This caller does so, with its own store."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from penstock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.store import Store
    from penstock.testing import LoopbackProvider

PATHS = {"openai-chat": "/chat/completions", "openai-responses": "/responses", "anthropic": "/v1/messages"}


class HttpRefused(Exception):
    """The error that the caller raises: a status and the body as it came."""

    def __init__(self, status_code: int, body: str) -> None:
        super().__init__(f"HTTP {status_code}: {body}")
        self.status_code = status_code
        self.body = body


def poster(provider: LoopbackProvider) -> Callable[[Any], Any]:
    """Return a send function for that provider."""

    def send(request: Any) -> Any:
        url = provider.base_url + PATHS[provider.wire]
        content = json.dumps(request).encode()
        asked = urllib.request.Request(url, data=content, headers={"content-type": "application/json"})
        try:
            with urllib.request.urlopen(asked, timeout=60) as answered:
                return json.load(answered)
        except urllib.error.HTTPError as error:
            with error:
                raise HttpRefused(error.code, error.read().decode()) from None

    return send


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return the store for what is taken from view."""
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()
