"""When are the roots that a test opens closed? At its end, as descriptors are limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _roots_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[Root] = []
    real = Root.__init__

    def opening(self: Root, *arguments: object, **options: object) -> None:
        real(self, *arguments, **options)  # type: ignore[arg-type]
        opened.append(self)

    monkeypatch.setattr(Root, "__init__", opening)
    yield
    for root in opened:
        try:
            root.close()
        except OSError:
            continue  # the test closed it
