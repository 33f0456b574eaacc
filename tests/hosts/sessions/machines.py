"""How do five real hosts, each in its own home, run without a person, get stuck, are rescued, and resume?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.loopback_model import LoopbackModel

from proof import hosts
from tests.hosts.sessions.test_real_rescue import draw
from tests.hosts.test_real_hosts import asked, real

if TYPE_CHECKING:
    from pathlib import Path

TASK = "TASK-ONE fix the parser"
PASTED = "\n" + "".join(f"line {number} of what a person put in\n" for number in range(1_200))
MANY = 1_000_000
"""A window that holds everything."""
MAX_IMAGE_BYTES = 200_000
# It ends the host that waits for it, and its parents, up to the test.
DIE = """import os, signal, time
time.sleep(1)
pid, above = os.getppid(), []
while pid not in (0, 1, {test}):
    above.append(pid)
    pid = int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
for pid in reversed(above):
    os.kill(pid, signal.SIGKILL)
"""


class Use(NamedTuple):
    """How a host is used."""

    shell: str
    """The name of its shell tool."""
    resume: str
    """The option that continues a session."""
    flood: str
    """A command with too much output."""
    window_tokens: int
    """A window that holds the session without a flood and not with it."""
    frees_itself: bool = False
    """True if it continues by itself after a refusal; it gets stuck only if a smaller model is used to continue."""


USES = {
    "gemini": Use("run_shell_command", "--resume", "seq 1 8000", 21_000),
    "copilot": Use("bash", "--resume", "seq 1 4000", 15_000),
    # It compacts, and keeps the newest, which is the flood: it is silently stuck again.
    "pi": Use("bash", "--session", "seq 1 5000", 4_000),
    # On a busy machine it may lose the output of a command that ends at once.
    "qwen": Use("run_shell_command", "--resume", "seq 1 6000; sleep 0.5", 24_000, frees_itself=True),
    "opencode": Use("bash", "-s", "seq 1 5000", 9_500, frees_itself=True),
}


def started(host: str, url: str, home: Path, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the arguments with which a host is asked, and its environment; its model sees images."""
    if host == "qwen":
        (home / ".qwen").mkdir(exist_ok=True)
        (home / ".qwen" / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "openai"}}}))
        environment = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "qwen3-vl-plus"}
        return ["--yolo", *words], environment
    if host == "pi":
        model = {"id": "m", "input": ["text", "image"]}
        own = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "x", "models": [model]}
        (home / ".pi" / "agent").mkdir(parents=True, exist_ok=True)
        (home / ".pi" / "agent" / "models.json").write_text(json.dumps({"providers": {"loopback": own}}))
        return ["--offline", "--provider", "loopback", "--model", "m", *words], {}
    if host == "gemini" and not (home / ".gemini" / "settings.json").exists():
        (home / ".gemini").mkdir()
        auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (home / ".gemini" / "settings.json").write_text(json.dumps(auth))
    arguments, environment = asked(host, url, home)
    if host == "opencode":
        settings = json.loads((home / "opencode.json").read_text())
        seen = {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
        settings["provider"]["loopback"]["models"]["m"] |= seen
        (home / "opencode.json").write_text(json.dumps(settings))
    at = arguments.index("go") - (host != "opencode")
    return [*arguments[:at], *words, *arguments[at + 1 + (host != "opencode") :]], environment


class Machine:
    """A host in its own home."""

    def __init__(self, host: str, folder: Path) -> None:
        self.host, self.use = host, USES[host]
        self.program = str(real(host))
        self.home, self.root, self.store = folder / "home", folder / "root", folder / "store"
        self.home.mkdir()
        self.root.mkdir()
        self.window_tokens = self.use.window_tokens
        """The window of the model for which the session is rescued."""

    def call(self, command: str) -> dict[str, object]:
        """Return the arguments of its shell tool."""
        more: dict[str, object] = {"is_background": False} if self.host == "qwen" else {}
        return {"command": command, "description": "flood", **more}

    def ask(self, model: LoopbackModel, words: str, session: str = "", *more: str) -> str:
        """Send words of a person, in a new session or an old one; return what is printed."""
        asked_words = [*([self.use.resume, session] if session else []), *more]
        asked_words += [words] if self.host == "opencode" else ["-p", words]
        arguments, environment = started(self.host, model.url, self.home, asked_words)
        return hosts.run([self.program, *arguments], self.root, self.home, environment)

    def session(self, session: str = "") -> Path:
        """Return the file of its only session; for opencode, what its own export prints of that session or another."""
        if self.host != "opencode":
            (found,) = (path for path in self.home.rglob("*.jsonl") if TASK in path.read_text())
            return found
        _, environment = started(self.host, "http://127.0.0.1:9", self.home, ["x"])
        held = {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / ".local"), "PATH": os.environ["PATH"]}
        held |= {"NO_COLOR": "1", **environment}
        if not session:
            command = [self.program, "session", "list"]
            listed = subprocess.run(
                command, cwd=self.root, env=held, capture_output=True, text=True, check=True, timeout=60
            )
            (session,) = re.findall(r"ses_\w+", listed.stdout)
        path = self.home / f"export-{session}.json"
        with path.open("wb") as file:  # into a pipe it does not always print to the end
            command = [self.program, "export", session]
            subprocess.run(
                command, cwd=self.root, env=held, stdout=file, stderr=subprocess.DEVNULL, check=True, timeout=60
            )
        return path

    def session_id(self) -> str:
        """Return the id of its only session."""
        text = self.session().read_text()
        if self.host == "opencode":
            return str(re.findall(r"ses_\w+", text)[0])
        first = json.loads(text.splitlines()[0])
        return str(first["data"]["sessionId"] if self.host == "copilot" else first.get("sessionId") or first["id"])

    def get_stuck(self, way: str) -> Path:
        """Bring the session to a halt; return its file."""
        getattr(self, f"_{way}")()
        path = self.session()
        if way == "torn":
            self._tear(path)
        return path

    def _say(self, words: str, window_tokens: int, *more: str, answer: str = "done", is_refused: bool = True) -> None:
        """Send words in the session, or in a new one if there is none."""
        session = self.session_id() if TASK not in words else ""
        with LoopbackModel("nothing", {}) as model:
            model.asked, model.window_tokens, model.answer = True, window_tokens, answer
            printed = self.ask(model, words, session, *more)
        assert bool(model.refused) == is_refused, printed[-600:]

    def _flood(self, *, window_tokens: int | None = None, answer: str = "done") -> None:
        window = window_tokens or (MANY if self.use.frees_itself else self.use.window_tokens)
        with LoopbackModel(self.use.shell, self.call(self.use.flood)) as model:
            model.window_tokens, model.answer = window, answer
            printed = self.ask(model, TASK)
        assert bool(model.refused) == (window < MANY), printed[-600:]
        assert model.refused or len(model.received[-1]) > 10_000, (model.received, printed[-600:])

    _torn = _flood

    def _many(self) -> None:
        self.window_tokens = {"gemini": 18_000, "pi": 6_000, "opencode": 12_000}.get(self.host, self.window_tokens)
        commands = [self.call(f"seq {number}000 {number}600") for number in range(1, 14)]
        with LoopbackModel(self.use.shell, self.call("seq 1 600")) as model:
            model.window_tokens = MANY if self.use.frees_itself else self.window_tokens
            model.later = [(self.use.shell, command) for command in commands]
            printed = self.ask(model, TASK)
        assert bool(model.refused) != self.use.frees_itself, printed[-600:]
        assert model.calls > 3

    def _orphan(self) -> None:
        """End the host by its own shell command; then have it refused, except opencode, which compacts."""
        (self.root / "die.py").write_text(DIE.format(test=os.getpid()))
        with LoopbackModel(self.use.shell, self.call(self.use.flood)) as model:
            model.later = [(self.use.shell, self.call(f"{sys.executable} die.py"))]
            model.window_tokens = MANY
            self.ask(model, TASK)
        assert model.calls == 2
        if self.host == "qwen":  # with less room than for its own words; otherwise it compacts, and is free again
            self._say("go on", 9_000)
        elif self.host != "opencode":
            self._say("go on", self.window_tokens)

    def _compaction(self) -> None:
        if self.host == "copilot":
            self._flood()
            self._say("/compact", self.window_tokens)
        elif self.host == "pi":
            self.window_tokens = 6_000
            self._flood()
            self._say(f"And this:{PASTED}", self.window_tokens)
        elif self.host == "gemini":
            self._flood(window_tokens=MANY)
            settings = self.home / ".gemini" / "settings.json"
            settings.write_text(
                json.dumps({**json.loads(settings.read_text()), "model": {"compressionThreshold": 0.011}})
            )
            self.window_tokens = 15_000
            self._say("go on", self.window_tokens)
        elif self.host == "qwen":  # it keeps what a person said, however old
            self.window_tokens = 30_000
            self._say(TASK + PASTED, MANY, is_refused=False)
            self._say(f"And this:{PASTED * 2}", self.window_tokens)
        else:  # the same; it would repeat a compaction that fits, with a refusal after each, endlessly
            self.window_tokens = 12_000
            self._flood(window_tokens=MANY, answer=f"So far: {TASK}.")
            self._say(f"And this:{PASTED * 2}", self.window_tokens, answer=f"So far: {TASK}.")

    def _image(self) -> None:
        """Attach a picture of the person's; for Gemini CLI let its model view one, as the host removes the person's itself."""
        draw(self.root / "a.png", side=2_300 if self.host == "gemini" else 420)
        more = {"copilot": ["--attachment", "a.png"], "opencode": ["-f", "a.png", "--"], "pi": ["@a.png"]}
        with LoopbackModel("read_file", {"file_path": "a.png"}) as model:
            model.window_tokens, model.max_image_bytes = 8 * MANY, self.max_image_bytes
            model.asked = self.host != "gemini"
            words = f"{TASK} @a.png" if self.host == "qwen" else TASK
            printed = self.ask(model, words, "", *more.get(self.host, ()))
        assert model.refused, printed[-600:]

    @property
    def max_image_bytes(self) -> int:
        """Return the largest image that is accepted: Google accepts 20 MiB in a request."""
        return 20 << 20 if self.host == "gemini" else MAX_IMAGE_BYTES

    def _tear(self, path: Path) -> None:
        """Leave the newest record unfinished; an export breaks off although the host has more."""
        if self.host == "opencode":
            content = path.read_bytes()
            path.write_bytes(content[: content.rindex(b'"role": "assistant"')])
        else:
            with path.open("ab") as file:
                file.write(b'{"type":"user","message":{"role":"us')

    def rescue(self, path: Path, *options: str) -> tuple[int, dict[str, Any]]:
        """Return the result of `penstock rescue`."""
        command = [
            sys.executable,
            "-m",
            "penstock",
            "rescue",
            str(path),
            *options,
            "--json",
            "--store",
            str(self.store),
        ]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert not ran.stderr, ran.stderr
        return ran.returncode, json.loads(ran.stdout)

    def first_request(self, made: dict[str, Any]) -> Any:
        """Return the host's first request when a new session is resumed with the window that the old one exceeded."""
        if self.host == "opencode":
            _, environment = started(self.host, "http://127.0.0.1:9", self.home, ["x"])
            hosts.run([self.program, "import", made["written"]], self.root, self.home, environment)
        with LoopbackModel("nothing", {}) as model:
            model.asked, model.window_tokens = True, self.window_tokens
            model.max_image_bytes = self.max_image_bytes
            printed = self.ask(model, "go on", made["session"])
        assert (model.refused, bool(model.bodies)) == (0, True), printed[-600:]
        return model.bodies[0]
