"""Does once what is loaded and compiled when it is first done, so that processes that are made from this one find it done.

Imported by `tests.forks` for what it does: secrets are looked for, and tokens counted, which alone takes half a second.
"""

from __future__ import annotations

from penstock.text.redaction import secrets_in
from penstock.text.tokens import best_counter

secrets_in("It says password: hunter2-hunter2, and nothing else. " * 9)
best_counter("o200k").count("It says nothing else.")
