"""Looks for secrets once, so that what they are looked for by is loaded and warm in processes that are made from this one.

Imported by `tests.forks` for what it does.
"""

from __future__ import annotations

from penstock.text.redaction import secrets_in

secrets_in("It says password: hunter2-hunter2, and nothing else. " * 9)
