"""Is a host pointed to the gateway and back, with nothing else changed and another address not lost (H-3)?"""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts import nested_values, planning
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.installing import plan_install
from penstock.hosts.parts.part import GATEWAY_ADDRESS, Reach
from penstock.hosts.records import Record
from tests.hosts import configurations
from tests.hosts.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.hosts.catalogue import BaseUrl, HostConfig, Scope

pytestmark = pytest.mark.proves("H-3")
THEIRS = "https://proxy.example/x"
MAKERS: dict[str, Callable[[int], str]] = {
    "claude": configurations.json_text,
    "qwen": configurations.json_text,
    "codex": configurations.toml_text,
    "gemini": configurations.env_text,
}
WANTED = {
    name: GATEWAY_ADDRESS + (config.base_url.path if config.base_url else "") for name, config in HOST_CONFIGS.items()
}


class Led:
    """A host's configuration during successive installations, without a disk."""

    def __init__(self, host: str, text: str | None) -> None:
        self.host: HostConfig = HOST_CONFIGS[host]
        assert self.host.base_url
        self.base_url: BaseUrl = self.host.base_url
        self.form = self.base_url.file.form
        self.text = text
        self.record = self._nothing()

    def _nothing(self) -> Record:
        return Record(path="f", base=self.text, last=None, parts={})

    def install(self, address: str = GATEWAY_ADDRESS) -> tuple[str, ...]:
        return self._take(
            planning.install(self.host, ["gateway"], Reach(["/p"], address), self.form, self.text, self.record)
        )

    def uninstall(self) -> tuple[str, ...]:
        return self._take(planning.uninstall(self.host, ["gateway"], self.form, self.text, self.record))

    def _take(self, outcome: planning.EditedText) -> tuple[str, ...]:
        self.text = outcome.text
        self.record = outcome.record or self._nothing()
        return outcome.notes

    @property
    def value(self) -> Any:
        return Document(self.text or "", self.form).value

    @property
    def address(self) -> Any:
        return nested_values.get(self.value, self.base_url.key)


@pytest.mark.parametrize("host", MAKERS)
def test_200_files_come_back_byte_for_byte(host: str) -> None:
    """In between only the address is the gateway's; a file with no place for it is refused."""
    led = 0
    for seed in range(200):
        file = Led(host, MAKERS[host](seed))
        text, value, before = file.text, file.value, file.address
        try:
            notes = file.install()
        except CannotEditError:
            assert not isinstance(nested_values.get(value, file.base_url.key[:1]), dict)
            continue
        led += 1
        assert file.value == nested_values.put(value, file.base_url.key, WANTED[host])
        assert bool(notes) is (before is not nested_values.MISSING)
        once, record = file.text, file.record
        assert file.install() == ()
        assert (file.text, file.record) == (once, record)
        file.uninstall()
        assert file.text == text, seed
        file.uninstall()
        assert file.text == text
    assert led > 120


@pytest.mark.parametrize("host", MAKERS)
def test_what_a_user_changed_in_between_stays(host: str) -> None:
    """This covers another line of the file, and the address itself."""
    for seed in range(60):
        base = MAKERS[host](seed)
        file = Led(host, base)
        try:
            file.install()
        except CannotEditError:
            continue
        if "fontMarker" in base:
            file.text = (file.text or "").replace("14", "15", 1)
            file.uninstall()
            assert file.text == base.replace("14", "15", 1)
            file.install()
        document = Document(file.text or "", file.form)
        document.replace(file.base_url.key, THEIRS)
        file.text = document.text
        file.uninstall()
        assert file.address == THEIRS


@pytest.mark.parametrize("host", MAKERS)
def test_an_address_of_somebody_else_is_named_and_comes_back(host: str) -> None:
    """The note gives the gateway option that keeps using it; it also comes back if other lines changed since."""
    file = Led(host, "")
    document = Document("", file.form)
    document.put(file.base_url.key, THEIRS)
    file = Led(host, document.text)
    (note,) = file.install("http://127.0.0.1:4100/")
    assert f"penstock gateway --upstream {THEIRS}" in note
    assert file.address == f"http://127.0.0.1:4100{file.base_url.path}"
    assert file.install("http://127.0.0.1:4200") == ()
    assert file.address == f"http://127.0.0.1:4200{file.base_url.path}"
    document = Document(file.text or "", file.form)
    document.put(("ADDED",), "x")
    file.text = document.text
    file.uninstall()
    assert file.address == THEIRS
    assert nested_values.get(file.value, ("ADDED",)) == "x"


@pytest.mark.parametrize("host", MAKERS)
def test_an_address_that_was_typed_is_not_taken_out(host: str) -> None:
    """A user who read the documentation typed the same address: there is no record of it, so it is theirs."""
    file = Led(host, "")
    document = Document("", file.form)
    document.put(file.base_url.key, WANTED[host])
    file = Led(host, document.text)
    file.uninstall()
    assert file.text == document.text
    file.install()
    file.uninstall()
    assert file.text == document.text


@pytest.mark.parametrize("text", ["KEY='two\nlines'\n", "no variable\n", 'KEY="open\n', "1A=2\n"])
def test_variables_that_cannot_be_read_are_left(text: str) -> None:
    """The error gives the line with the fault."""
    with pytest.raises(CannotEditError, match="line 1 is neither a variable"):
        Led("gemini", text).install()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Provide a new machine."""
    return Machine(tmp_path)


@pytest.mark.parametrize("host", [host for host in HOST_CONFIGS if HOST_CONFIGS[host].base_url is None])
def test_a_host_that_cannot_be_led_is_refused_by_name(machine: Machine, host: str) -> None:
    """The exit status is 3, with the manual steps; nothing is written, not even the other parts."""
    before = machine.files()
    done = machine.type("install", host, "--gateway", "--mcp", "--yes")
    assert done.returncode == 3
    by_hand = HOST_CONFIGS[host].base_url_help.substitute(address=GATEWAY_ADDRESS)
    assert f"{HOST_CONFIGS[host].title} has to be told about the gateway by hand: {by_hand}" in done.stderr
    assert machine.files() == before


def test_a_refusal_of_the_gateway_names_a_command_that_works(machine: Machine) -> None:
    """It is the other parts as they were asked for, then the gateway by another scope, by the host's own variable, or by hand."""
    ways: dict[tuple[str, Scope, str], str | None] = {
        ("codex", "project", GATEWAY_ADDRESS): "penstock install codex --gateway --scope user",
        ("gemini", "project", "http://h:1"): "penstock install gemini --gateway --scope user --address http://h:1",
        ("copilot", "user", GATEWAY_ADDRESS): "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:4000/v1 copilot",
        ("copilot", "user", "http://h:1/"): "COPILOT_PROVIDER_BASE_URL=http://h:1/v1 copilot",
        ("opencode", "user", "http://h:1"): None,
    }
    ways |= {(host, "user", GATEWAY_ADDRESS): "penstock gateway" for host in ("opencode", "cursor", "vscode", "zed")}
    for (host, scope, address), way in ways.items():
        plan = plan_install(HOST_CONFIGS[host], ["gateway"], scope, *machine.around, Reach(["/p"], address))
        assert plan.instead == way
        assert address == GATEWAY_ADDRESS or GATEWAY_ADDRESS not in plan.refused[0]
    others = {
        "codex": "penstock install codex --mcp --rules --scope project && penstock install codex --gateway --scope user",
        "copilot": "penstock install copilot --mcp --rules --scope project && "
        "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:4000/v1 copilot",
        "cline": "penstock install cline --mcp --rules --scope project",
    }
    for host, way in others.items():
        typed = ("install", host, "--gateway", "--mcp", "--rules", "--scope", "project", "--json")
        error = json.loads(machine.type(*typed).stdout)["error"]
        assert (error["code"], error["try"]) == ("denied", way)


def test_it_is_added_to_the_other_parts_and_removed_alone(machine: Machine) -> None:
    """With two parts in one file, the address is removed and the hook stays; then every byte is back."""
    machine.write(".claude/settings.json", '{"env": {"A": "1"}}\n')
    before = machine.files()
    machine.done("install", "claude", "--gateway", "--address", "http://127.0.0.1:4999", "--hook", "--yes")
    settings = json.loads((machine.home / ".claude/settings.json").read_text())
    assert settings["env"] == {"A": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:4999"}
    machine.done("uninstall", "claude", "--gateway", "--yes")
    settings = json.loads((machine.home / ".claude/settings.json").read_text())
    assert settings["env"] == {"A": "1"}
    assert "PostToolUse" in settings["hooks"]
    machine.done("uninstall", "claude", "--yes")
    assert machine.files() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mcp", "--address", "http://x"], "give both"),
        (["--gateway", "--address", "127.0.0.1:4000"], "takes a URL such as"),
    ],
)
def test_an_address_that_means_nothing_is_named(machine: Machine, words: list[str], said: str) -> None:
    """This happens before anything is planned."""
    done = machine.type("install", "claude", *words, "--yes")
    assert done.returncode == 2
    assert said in done.stderr


def test_doctor_asks_the_gateway(machine: Machine) -> None:
    """A running gateway, none, and another server at its address are told apart; a path after the address is the gateway's too."""

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    def doctor() -> list[tuple[str, Any, str]]:
        found = json.loads(machine.type("doctor", "--json").stdout)["installed"]
        return [(each["part"], each["works"], each["seen"]) for each in found]

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{other.server_port}"
        machine.done("install", "codex", "--gateway", "--address", address, "--yes")
        assert doctor() == [("gateway", False, f"{address} answers, but is not a gateway: status 404")]
        other.shutdown()
    ((part, works, seen),) = doctor()
    assert (part, works) == ("gateway", False)
    assert f"no gateway answers at {address}" in seen
    assert "`penstock gateway` starts one" in seen
    command = [sys.executable, "-m", "penstock", "gateway", "--listen", f"127.0.0.1:{other.server_port}"]
    with subprocess.Popen(command, cwd=machine.project, env=machine.environment, stderr=subprocess.PIPE) as gateway:
        try:
            assert gateway.stderr
            line = os.fsdecode(gateway.stderr.readline())
            assert re.search(r"127\.0\.0\.1:\d+", line), line
            ((part, works, seen),) = doctor()
            assert (part, works) == ("gateway", True), seen
        finally:
            gateway.terminate()
            gateway.wait()
