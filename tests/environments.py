"""Third-party programs that tests run next to Penstock: where each is installed, and what happens if it cannot be.

python -m tests.environments    builds the missing environments that the suite needs, so that no test waits for them
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS_CACHE = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
"""Where these programs are kept between runs."""
PINS = {
    "sdks": ("openai==3.57.0", "anthropic==2.14.0"),
    "cloud-sdks": ("google-genai==3.6.1", "boto3==1.44.8"),
    # An S3 server for tests of object stores; moto's `server` extra would install every Amazon service.
    "object-server": ("moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"),
    # The newest whose dependencies are all available as wheels.
    "litellm": ("litellm==1.110.2",),
    "browser": ("playwright==1.65.2",),
}
"""The environments that the suite needs, with their packages: separate, so that none constrains the others' dependencies."""
# Resolving the largest takes four minutes on a busy machine.
_INSTALL_SECONDS = 600


def miss(what: str) -> NoReturn:
    """Skip the test because something is missing; fail it if everything is required."""
    if os.environ.get("PENSTOCK_TEST_REQUIRE") == "all":
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Let one of several workers that want the same thing make it; the others then find it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def python_with(name: str, *pins: str) -> Path:
    """Return the Python of an environment of `PINS`, or of another with these packages; if it cannot be installed, call `miss`.

    Each Python version has its own, because two suites may run at once and one must not rebuild what the other is using.
    """
    pins = pins or PINS[name]
    folder = TOOLS_CACHE / f"{name}-{python_version()}"
    python, built = folder / "bin" / "python", folder / ".pins"
    wanted = " ".join((*pins, sys.version))
    with one_at_a_time(folder.with_name(f"{folder.name}.lock")):
        if not built.exists() or built.read_text() != wanted:
            print(f"installing {', '.join(pins)}", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            install = [str(python), "-m", "pip", "install", "-qq", "--retries", "1", "--only-binary", ":all:", *pins]
            done = subprocess.run(install, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
            if done.returncode != 0:
                miss(f"{' and '.join(pins)} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
            built.write_text(wanted)
    return python


def _build(name: str) -> None:
    with suppress(pytest.skip.Exception, pytest.fail.Exception):  # the tests that need it report it
        python_with(name)


if __name__ == "__main__":
    with ThreadPoolExecutor(len(PINS)) as threads:
        list(threads.map(_build, PINS))
