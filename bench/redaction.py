"""Which secrets go, what else goes with them, and what does it cost? Ours beside detect-secrets, in one run.

    pip install detect-secrets; python bench/redaction.py [--megabytes 0.1]

Secrets and lines of ordinary code are those of `tests/text/test_redaction.py`, which ours was made for; keys are one of each format
that detect-secrets has a plugin for, made up. detect-secrets says which values of a line are secret, so its user takes these out of
the line: a secret is gone when its second half is. Its plugins for entropy, which take
any random word for a secret, are on in its default settings; both are shown. Code is the top of Python's standard library. Time
is processor time, the smallest of three runs.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.text.test_redaction import AFTER, ORDINARY, SECRETS

from penstock.text.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Callable


def keys() -> dict[str, str]:
    """Return a key of each format for which detect-secrets has a plugin, and that begins or ends in a way of its own."""
    dice = random.Random(3)

    def word(length: int, letters: str = string.ascii_letters + string.digits) -> str:
        return "".join(dice.choice(letters) for _ in range(length))

    return {
        "AWS": "AKIA" + word(16, string.ascii_uppercase + string.digits),
        "Artifactory": "AKC" + word(30),
        "Azure storage": f"AccountKey={word(86)}==",
        "basic auth": f"https://me:{word(12)}",
        "Discord": f"MTk4NjIyNDgzNDcxOTI1MjQ4.{word(6)}.{word(27)}",
        "GitHub": "ghp_" + word(36),
        "GitLab": "glpat-" + word(20),
        "JWT": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{word(43)}",
        "Mailchimp": f"{word(32, '0123456789abcdef')}-us12",
        "npm": f"//registry.npmjs.org/:_authToken=npm_{word(36)}",
        "OpenAI": f"sk-{word(20)}T3BlbkFJ{word(20)}",
        "PyPI": f"pypi-AgEIcHlwaS5vcmc{word(80)}",
        "SendGrid": f"SG.{word(22)}.{word(43)}",
        "Slack": f"xoxb-{word(12, '0123456789')}-{word(24)}",
        "Square": f"sq0csp-{word(43)}",
        "Stripe": "sk_live_" + word(24),
        "Telegram": f"1234567890:AA{word(33)}",
        "Twilio": f"SK{word(32, '0123456789abcdef')}",
    }


def peer(*, entropy: bool) -> Callable[[str], str]:
    """Return detect-secrets as a function from a text to the text without the secrets that it finds."""
    from detect_secrets.core import scan  # type: ignore[import-not-found]
    from detect_secrets.settings import default_settings, get_settings  # type: ignore[import-not-found]

    def without(text: str) -> str:
        made = []
        with default_settings():
            if not entropy:
                get_settings().disable_plugins("Base64HighEntropyString", "HexHighEntropyString")
            for line in text.split("\n"):
                clean = line
                for found in scan.scan_line(line):
                    if found.secret_value:
                        clean = clean.replace(found.secret_value, "[redacted]")
                made.append(clean)
        return "\n".join(made)

    return without


def seconds(clean: Callable[[str], str], text: str) -> float:
    """Return the processor time of the fastest of three runs."""
    times = []
    for _ in range(3):
        began = time.process_time()
        clean(text)
        times.append(time.process_time() - began)
    return min(times)


def library(size: int) -> str:
    """Return the beginning of the standard library's own code."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return "".join(path.read_text("utf-8", "replace") for path in files)[:size]


def main() -> None:
    """Print what each takes out, and how long it takes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--megabytes", type=float, default=0.1)
    code = library(int(arguments.parse_args().megabytes * 1_000_000))
    engines: dict[str, Callable[[str], str]] = {"ours": redacted}
    try:
        engines |= {"detect-secrets": peer(entropy=True), "detect-secrets without entropy": peer(entropy=False)}
    except ImportError:
        print("detect-secrets is not here: pip install detect-secrets", file=sys.stderr)
    print(f"{'':32}{'secrets left':>14}{'keys left':>11}{'ordinary lines':>16}{'lines of code':>15}{'MB a second':>13}")
    for name, clean in engines.items():
        left = []
        for kind, (before, secret) in SECRETS.items():
            after = AFTER.get(kind, '"' if before.endswith(('"', "'")) else "")
            shown = clean(f"first\n{before}{secret}{after}\nlast")
            if any(part[len(part) // 2 :] in shown for part in re.split(r"\n\d*\|?|\\n|, ", secret)):
                left.append(kind)
        unknown = [kind for kind, key in keys().items() if key[-10:] in clean(f"key {key}@h/")]
        changed = sum(clean(line) != line for line in ORDINARY)
        lost = sum(one != other for one, other in zip(code.split("\n"), clean(code).split("\n"), strict=True))
        speed = len(code) / 1e6 / seconds(clean, code)
        print(
            f"{name:32}{f'{len(left)} of {len(SECRETS)}':>14}{f'{len(unknown)} of {len(keys())}':>11}"
            f"{f'{changed} of {len(ORDINARY)}':>16}{lost:>15}{speed:>13.2f}"
        )
        print(f"  left: {', '.join([*left, *unknown]) or 'none'}")


if __name__ == "__main__":
    main()
