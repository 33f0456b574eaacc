"""Loads and compiles what is otherwise loaded and compiled on first use, so that forked processes find it done.

`tests.forks` imports it for its effects: it looks for secrets and counts tokens, which alone takes half a second.
"""

from __future__ import annotations

from penstock.text.redaction import secrets_in
from penstock.text.tokens import best_counter

secrets_in("It says password: hunter2-hunter2, and nothing else. " * 9)
best_counter("o200k").count("It says nothing else.")
