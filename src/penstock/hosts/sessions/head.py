"""Whose session is it? A file's own metadata."""

from __future__ import annotations

from typing import NamedTuple


class Head(NamedTuple):
    """The metadata in a session's file; empty where it is missing."""

    session: str = ""
    """The id by which its host resumes it."""
    folder: str = ""
    """The working folder in which it was started."""
    version: str = ""
    """The host's version when it last wrote."""
    started: str = ""
    """When a session began, as the host writes it."""
