"""Is everything in `deploy/` for a queue valid for its tool, and do its commands complete a run as plain processes?"""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.scribe.queue.conftest import ended, estate, loopback, started

from penstock.cli import cli
from penstock.models.remote import TIMEOUT_SECONDS

if TYPE_CHECKING:
    import click
    from tests.scribe.author import Author

    from penstock.scribe.queue.database import Database

DEPLOY = Path(__file__).parents[3] / "deploy"
UNITS = ("penstock-worker@.service", "penstock-queue-page.service")
SECRET = re.compile(r"(?:PASSWORD|_KEY)$")


def unit(name: str) -> configparser.SectionProxy:
    read = configparser.ConfigParser(interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string((DEPLOY / name).read_text("utf-8"))
    return read["Service"]


def read(name: str) -> dict[str, Any]:
    """Return the content of a YAML file, which is JSON except for lines that begin with a #."""
    lines = (DEPLOY / name).read_text("utf-8").splitlines()
    made: dict[str, Any] = json.loads("\n".join(line for line in lines if not line.lstrip().startswith("#")))
    return made


def compose() -> dict[str, Any]:
    return read("queue.compose.yaml")


def pod() -> dict[str, Any]:
    return read("queue.kubernetes.yaml")


def commands() -> dict[str, list[str]]:
    """Return the arguments after `penstock` in each file."""
    (container,) = pod()["spec"]["template"]["spec"]["containers"]
    return {
        "compose": compose()["services"]["worker"]["command"],
        "compose, page": compose()["services"]["page"]["command"],
        "systemd": shlex.split(unit(UNITS[0])["ExecStart"])[1:],
        "systemd, page": shlex.split(unit(UNITS[1])["ExecStart"])[1:],
        "kubernetes": container["args"],
    }


@pytest.mark.parametrize("where", commands())
def test_every_command_is_one_that_the_program_takes(where: str) -> None:
    """The command parses the flags; the queue comes from the environment, since all users can see command lines."""
    arguments = commands()[where]
    command: click.Command = cli
    context = cli.make_context("penstock", list(arguments), resilient_parsing=True)
    while hasattr(command, "get_command"):
        command = command.get_command(context, arguments[0])
        arguments = arguments[1:]
    context = command.make_context("x", list(arguments))
    assert context.params["queue_url"] is None or "PENSTOCK_QUEUE" in os.environ
    assert not any("postgresql://" in one for one in commands()[where])


def test_the_command_of_each_does_a_run_as_a_plain_process(
    url: str, database: Database, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers run as compose, systemd and a cluster start them, and stop by SIGTERM, as all of these do."""
    monkeypatch.delenv("PENSTOCK_QUEUE", raising=False)
    run = started(database, estate(2))
    with loopback(author) as provider:
        environment = {
            **os.environ,
            "PENSTOCK_QUEUE": url,
            "OPENAI_BASE_URL": provider.base_url,
            "PYTHONPATH": str(DEPLOY.parent / "src"),
        }
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "penstock", *commands()[where]],
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
            for where in ("compose", "systemd", "kubernetes")
        ]
        try:
            seen = ended(database, run)
            for worker in workers:  # the run may end before all workers are there
                assert worker.stderr is not None
                assert worker.stderr.readline().startswith("penstock: worker ")
        finally:
            for worker in workers:
                worker.terminate()
            statuses = [(worker.communicate(timeout=60), worker.returncode)[1] for worker in workers]
    assert (seen.phase, seen.failed, seen.answered) == ("done", 0, seen.chunks)
    assert statuses == [0, 0, 0]


ASKED_WHILE_LOADING = """
import os, signal, sys
from penstock.__main__ import run

class Asking:
    def find_spec(self, name, path=None, target=None):
        if name == "penstock.scribe.queue.worker":
            os.kill(os.getpid(), signal.{0})

sys.meta_path.insert(0, Asking())
run()
"""


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 0), ("SIGINT", 130)])
def test_a_worker_that_is_asked_to_end_while_it_loads_ends_as_later(name: str, status: int, url: str) -> None:
    """Loading takes half a second; a supervisor that changes its mind meanwhile sees no failure."""
    worker = ["worker", "--queue", url, "--base-url", "http://127.0.0.1:1"]
    done = subprocess.run(
        [sys.executable, "-c", ASKED_WHILE_LOADING.format(name), *worker],
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (status, 1), done.stderr


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_finds_no_fault_in_the_units(name: str, tmp_path: Path) -> None:
    """systemd knows every setting; program and files are replaced by some that exist here."""
    copy = tmp_path / name.replace("@", "@1")
    said = (DEPLOY / name).read_text("utf-8").replace("/usr/local/bin/penstock", sys.executable)
    copy.write_text(said.replace("User=penstock", "User=root"), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, copy.name in done.stderr) == (0, False), done.stderr


def test_none_of_them_contains_a_secret() -> None:
    """Keys and passwords come from the environment or a secret; the units read a file that belongs to root."""
    services = compose()["services"].values()
    given = [(name, value) for one in services for name, value in one["environment"].items() if SECRET.search(name)]
    assert len(given) >= 6
    assert all(str(value).startswith("${") for _, value in given)
    (container,) = pod()["spec"]["template"]["spec"]["containers"]
    assert all("secretKeyRef" in one["valueFrom"] for one in container["env"])
    for name in UNITS:
        assert unit(name)["EnvironmentFile"].startswith("/etc/penstock/")
        assert "Environment" not in unit(name)


def test_each_waits_until_what_is_under_way_is_answered_and_runs_as_no_root() -> None:
    """The grace period is longer than any answer may take; a killed worker would lose an answer that is then asked for again."""
    worker = compose()["services"]["worker"]
    spec = pod()["spec"]["template"]["spec"]
    waits = [int(unit(UNITS[0])["TimeoutStopSec"]), spec["terminationGracePeriodSeconds"]]
    waits.append(60 * int(worker["stop_grace_period"].removesuffix("m")))
    assert min(waits) == max(waits) > TIMEOUT_SECONDS
    assert unit(UNITS[0])["User"] not in {"root", "0"}
    assert unit(UNITS[0])["KillMode"] == "mixed"
    assert spec["securityContext"]["runAsNonRoot"]
    assert worker["read_only"]
    assert worker["cap_drop"] == ["ALL"]
    assert "USER penstock" in (DEPLOY / "queue.Containerfile").read_text("utf-8")


def test_the_cluster_s_manifest_has_the_shape_of_a_deployment() -> None:
    """Names that must agree agree, and every field exists in that version of the API."""
    made = pod()
    assert (made["apiVersion"], made["kind"]) == ("apps/v1", "Deployment")
    assert set(made["spec"]) <= {"replicas", "selector", "strategy", "template", "minReadySeconds"}
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert made["spec"]["selector"]["matchLabels"].items() <= labels.items()
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert set(container) <= {"name", "image", "args", "env", "resources", "securityContext", "volumeMounts"}
    assert len({one["name"] for one in container["env"]}) == len(container["env"])


def test_the_compose_file_has_what_it_names() -> None:
    """The files to build from and the services to wait for exist, and volumes are declared."""
    made = compose()
    assert set(made) == {"name", "services", "volumes"}
    for service in made["services"].values():
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()
        assert set(service.get("depends_on", {})) <= set(made["services"])
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in made["volumes"]
