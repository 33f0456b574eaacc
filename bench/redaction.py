"""Which secrets are removed, what else is removed with them, and at what cost? Ours next to detect-secrets, in one run.

    pip install detect-secrets; python -m bench.redaction [--megabytes 0.1]
    python -m bench.redaction --speed

Secrets and lines of ordinary code are those of `tests/text/test_redaction.py`, for which ours was made; keys are one of each format
that detect-secrets has a plugin for, invented. detect-secrets reports which values of a line are secret, so its user removes these
from the line: a secret counts as removed if its second half is. Its entropy plugins, which take any random word for a secret, are
on in its default settings; both variants are shown. Code is the beginning of Python's standard library. Time is processor time, the
smallest of three runs.

`--speed` measures only ours, on up to 10 MB of the standard library's code, unchanged and with a terminal's colours around the
first word of each line, and of the texts of installed packages, unchanged and with a password every 64 kB, in blocks of 512 kB as
a store reads them: the first time in a process, and the smallest of five further runs.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import subprocess
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
    """Return a key of each format that has a detect-secrets plugin and a distinctive beginning or end."""
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
    """Return detect-secrets as a function that removes the secrets it finds from a text."""
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


SPEED_BYTES, BLOCK_CHARS, APART_CHARS = 10_000_000, 512 << 10, 64 << 10


def corpus(name: str) -> list[str]:
    """Return source, source in colours, documents, or documents in which something is found, in blocks."""
    root, patterns = (
        (sysconfig.get_path("stdlib"), ["*.py"])
        if name.startswith("source")
        else (sysconfig.get_path("purelib"), ["*.md", "*.rst", "*.txt", "METADATA"])
    )
    files = sorted(path for pattern in patterns for path in Path(root).rglob(pattern))
    random.Random(7).shuffle(files)
    text = "".join(path.read_text("utf-8", "replace") for path in files)[:SPEED_BYTES]
    if name == "documents with passwords":
        pieces = (text[at : at + APART_CHARS] for at in range(0, len(text), APART_CHARS))
        text = "".join(f"{piece}\nDB_PASSWORD=hunter{number}hunter\n" for number, piece in enumerate(pieces))
    if name == "source in colours":
        text = re.sub(r"^([ \t]*)(\w+)", "\\1\x1b[36m\\2\x1b[0m", text, flags=re.MULTILINE)
    return [text[at : at + BLOCK_CHARS] for at in range(0, len(text), BLOCK_CHARS)]


def print_speed(name: str) -> None:
    """Print the cost of a text in a fresh process, and again."""
    blocks = corpus(name)
    times, marks = [], 0
    for _ in range(6):
        began = time.process_time()
        marks = sum(redacted(block).count("[redacted: ") for block in blocks)
        times.append(time.process_time() - began)
    megabytes = sum(map(len, blocks)) / 1e6
    print(
        f"{name:26}{megabytes:6.1f} MB{marks:6} marks{megabytes / times[0]:8.1f} first{megabytes / min(times[1:]):8.1f} again"
    )


def library(size: int) -> str:
    """Return the beginning of the standard library's own code."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return "".join(path.read_text("utf-8", "replace") for path in files)[:size]


def main() -> None:
    """Print what each removes, and how long it takes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--megabytes", type=float, default=0.1)
    arguments.add_argument("--speed", action="store_true")
    arguments.add_argument("--corpus", help="in this process")
    given = arguments.parse_args()
    if given.corpus:
        print_speed(given.corpus)
        return
    if given.speed:
        for corpus_name in ("source", "source in colours", "documents", "documents with passwords"):
            subprocess.run([sys.executable, "-m", "bench.redaction", "--corpus", corpus_name], check=True)
        return
    code = library(int(given.megabytes * 1_000_000))
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
