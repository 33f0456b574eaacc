"""What the models of real coding agents receive from `penstock mcp`; `python -m proof.hosts` prints the table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from tests.mcp.conftest import REPOSITORY

from proof import hosts


@pytest.mark.needs("npx")
@pytest.mark.proves("L-9")
@pytest.mark.parametrize("host", hosts.HOSTS)
@pytest.mark.timeout(200)
def test_the_model_receives_our_text_unchanged(host: str) -> None:
    """Below the host's cut, header first, in a network that has nothing but loopback."""
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip(
            "real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives those that scripts/tools hosts has installed"
        )
    if hosts.installed(host) is None:
        pytest.skip(f"{host} is not installed (scripts/tools hosts installs it)")
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("a network namespace needs unshare (util-linux) and ip (iproute2)")
    command = [sys.executable, "-m", "proof.hosts", host]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
