"""The official clients of OpenAI and Anthropic in an environment of their own, and what they saw: built once, run once."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
TOOLS_CACHE = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
PINS = ("openai==3.54.0", "anthropic==2.12.0")


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Several workers may want the same thing: the first makes it, the others find it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sdk_python() -> Path:
    """A Python that has the clients; where they cannot be had the test is skipped, or fails where all is required."""
    folder = TOOLS_CACHE / "sdks"
    python, pins = folder / "bin" / "python", folder / ".pins"
    wanted = " ".join((*PINS, sys.version))
    with one_at_a_time(TOOLS_CACHE / "sdks.lock"):
        if not pins.exists() or pins.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            command = [str(python), "-m", "pip", "install", "-qq", "--retries", "1", "--only-binary", ":all:", *PINS]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0:
                missing = f"{' and '.join(PINS)} cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
                if os.environ.get("PENSTOCK_TEST_REQUIRE") == "all":
                    pytest.fail(missing)
                pytest.skip(missing)
            pins.write_text(wanted)
    return python


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the clients saw, case by case: the output of `sdk_driver.py`, which all workers share."""
    python = sdk_python()
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    output = shared / "sdk-cases.json"
    with one_at_a_time(shared / "sdk-cases.lock"):
        if not output.exists():
            environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
            command = [str(python), "-W", "error", str(Path(__file__).with_name("sdk_driver.py"))]
            done = subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)
            assert done.returncode == 0, done.stderr.decode()
            output.write_bytes(done.stdout)
    cases: dict[str, Any] = json.loads(output.read_text())
    broken = {name: case["broke"] for name, case in cases.items() if isinstance(case, dict) and "broke" in case}
    assert not broken, "\n".join(f"{name}\n{trace}" for name, trace in broken.items())
    return cases
