"""Whose session is it? What a host's file says of itself."""

from __future__ import annotations

from typing import NamedTuple


class Head(NamedTuple):
    """What a session's file says of itself; empty where it does not."""

    session: str = ""
    """The id by which its host resumes it."""
    folder: str = ""
    """The working folder that it was begun in."""
    version: str = ""
    """The host's, when it wrote last."""
    started: str = ""
    """When a session began, as the host writes it."""
