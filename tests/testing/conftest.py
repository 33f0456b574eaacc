"""The providers' official clients in environments of their own, and what they saw: built once, run once."""

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
    from collections.abc import Callable, Iterator

REPOSITORY = Path(__file__).parents[2]
TOOLS_CACHE = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
PINS = {
    "sdks": ("openai==3.57.0", "anthropic==2.14.0"),
    "cloud-sdks": ("google-genai==3.6.1", "boto3==1.44.8"),
    # A server of S3's protocol, in tests of object stores; not its extra for servers, which brings every service of Amazon's.
    "object-server": ("moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"),
    # The newest whose own dependencies can be had as wheels beside it.
    "litellm": ("litellm==1.110.2",),
}
"""The clients of each environment: several, so that none decides about the others' dependencies."""


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Several workers may want the same thing: the first makes it, the others find it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sdk_python(name: str) -> Path:
    """A Python that has the clients; where they cannot be had the test is skipped, or fails where all is required."""
    folder = TOOLS_CACHE / name
    python, pins = folder / "bin" / "python", folder / ".pins"
    wanted = " ".join((*PINS[name], sys.version))
    with one_at_a_time(TOOLS_CACHE / f"{name}.lock"):
        if not pins.exists() or pins.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            install = [str(python), "-m", "pip", "install", "-qq", "--retries", "1", "--only-binary", ":all:"]
            done = subprocess.run([*install, *PINS[name]], capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0:
                missing = f"{' and '.join(PINS[name])} cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
                if os.environ.get("PENSTOCK_TEST_REQUIRE") == "all":
                    pytest.fail(missing)
                pytest.skip(missing)
            pins.write_text(wanted)
    return python


def _seen(name: str, driver: str, base: Path, *arguments: str) -> dict[str, Any]:
    """What the clients of an environment saw, case by case: the output of a driver, which all workers share."""
    python = sdk_python(name)
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    output = shared / f"{name}-{Path(driver).stem}-{'-'.join(arguments)}.json"
    with one_at_a_time(output.with_suffix(".lock")):
        if not output.exists():
            # LiteLLM would ask the network for prices, and try again.
            environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
            # What clients leave behind when a loop ends is theirs; in drivers without a loop of ours a warning is an error.
            strict = [] if arguments else ["-W", "error"]
            command = [str(python), *strict, str(Path(__file__).with_name(driver)), *arguments]
            done = subprocess.run(command, env=environment, capture_output=True, timeout=570, check=False)
            assert done.returncode == 0, done.stderr.decode()
            output.write_bytes(done.stdout)
    cases: dict[str, Any] = json.loads(output.read_text())
    broken = {case: seen["broke"] for case, seen in cases.items() if isinstance(seen, dict) and "broke" in seen}
    assert not broken, "\n".join(f"{case}\n{trace}" for case, trace in broken.items())
    return cases


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the clients of OpenAI and Anthropic saw."""
    return _seen("sdks", "sdk_driver.py", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def cloud_seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What google-genai and boto3 saw."""
    return _seen("cloud-sdks", "cloud_sdk_driver.py", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def carried_cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What came of requests that were carried over a client: every case of its own, by name."""
    homes = {
        "openai": "sdks",
        "anthropic": "sdks",
        "google": "cloud-sdks",
        "amazon": "cloud-sdks",
        "litellm": "litellm",
    }
    return lambda client: _seen(homes[client], "carried_driver.py", tmp_path_factory.getbasetemp(), client)
