"""Do the files in `deploy/` for the gateway match the program's options, and can their own tools read them?"""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.gateways import gateway_command
from penstock.gateway.serving import GRACEFUL_SECONDS

ROOT = Path(__file__).parent.parent.parent
UNIT = ROOT / "deploy" / "penstock-gateway.service"
CONTAINER = ROOT / "deploy" / "Containerfile"


def taken(words: list[str]) -> dict[str, Any]:
    """Return the options that the program accepts from a command line; fail for an unknown one."""
    assert Path(words[0]).name == "penstock"
    assert words[1] == "gateway"
    return gateway_command.make_context("gateway", words[2:]).params


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the container file, continued lines as one."""
    text = re.sub(r"\\\n\s*", "", CONTAINER.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_the_unit_starts_the_gateway_on_this_machine_alone_and_waits_for_streams() -> None:
    """The program accepts its command, and systemd kills nothing that the gateway still waits for."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.read_string(UNIT.read_text("utf-8"))
    service = unit["Service"]
    options = taken(shlex.split(service["ExecStart"]))
    assert options["address"] == "127.0.0.1:4000"
    assert int(service["TimeoutStopSec"]) > GRACEFUL_SECONDS
    assert service["KillMode"] == "mixed"
    assert (
        int(service["SuccessExitStatus"]) == 128 + signal.SIGTERM
    )  # what until_signal returns: otherwise each stop is a failure


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    """It knows every setting, and the path of the program is that of this machine."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("%h/.local/bin/penstock", sys.executable), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, UNIT.name in done.stderr) == (0, False), done.stderr


def test_the_container_serves_others_only_with_a_token_and_as_no_root() -> None:
    """The program accepts its command, its data is in its volume, and what it copies exists."""
    said = dict(instructions())
    options = taken(json.loads(said["ENTRYPOINT"]))
    kept = said["VOLUME"]
    assert options["address"] == f"0.0.0.0:{said['EXPOSE']}"
    assert str(options["token_file"]).startswith(f"{kept}/")
    assert said["ENV"].startswith(f"PENSTOCK_STORE={kept}/")
    assert said["USER"] not in {"root", "0"}
    for sources in (rest.split()[:-1] for name, rest in instructions() if name == "COPY"):
        assert all((ROOT / source).exists() for source in sources)
