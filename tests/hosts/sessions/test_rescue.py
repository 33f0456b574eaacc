"""Does a session that its host cannot continue come back as a new one that fits, with the old one unchanged?"""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main, rescuing, terminal
from penstock.errors import CallerError
from penstock.hosts.rescue import Rescue, rescue
from penstock.hosts.rescue.projection import project
from penstock.hosts.rescue.sizes import measure
from penstock.hosts.sessions import host_of, reader_of, whole_messages
from penstock.hosts.sessions.records import opened
from penstock.text.calls import CommandLine
from penstock.text.tokens import Tokens
from penstock.wires import violations
from tests.cli.screens import shell_line
from tests.hosts import histories
from tests.hosts.histories import Claude, Step, written

pytestmark = pytest.mark.proves("X-3")

TASK = "TASK-ONE fix the parser."
NEEDLE = "needle-in-the-middle"
FLOOD = "".join(f"line {number} of the listing\n" for number in range(4_000)).replace("line 2000 ", f"{NEEDLE} ")


def claude(path: Path, refused: str = "Prompt is too long", results: tuple[str, ...] = (FLOOD,)) -> str:
    """Write a session of Claude Code whose newest request was refused."""
    talk = Claude()
    talk.says(TASK)
    for number, result in enumerate(results):
        step: Step = (f"c{number}", "Bash", {"command": "ls -R"}, result, False)
        talk.calls(step)
    if refused:
        talk.add("assistant", [{"type": "text", "text": refused}], isApiErrorMessage=True)
    for record in talk.records:
        record |= {"sessionId": "old", "cwd": "/p", "version": "2.1.332"}
    return written(path, talk.records)


def codex(path: Path, refused: str = "ran out of room", results: tuple[str, ...] = (FLOOD,)) -> str:
    """Write the same session of Codex."""
    steps: list[Step] = [
        (f"c{at}", "exec_command", {"cmd": "ls -R"}, result, False) for at, result in enumerate(results)
    ]
    records = histories.codex(TASK, *steps)
    if refused:
        error = {"message": refused, "codex_error_info": "context_window_exceeded"}
        records.append({"type": "event_msg", "payload": {"type": "task_complete", "error": error}})
    return written(path, records)


SESSIONS = {"claude": claude, "codex": codex}


class Kept(dict[str, str | bytes]):
    """A store of texts."""

    def keep(self, content: str | bytes, _name: str) -> str:
        """Keep a text; return its handle."""
        handle = f"HANDLE{len(self):010}"
        self[handle] = content
        return handle


def rescued(host: str, path: str, window: int | None = 9_000, **how: Any) -> tuple[Rescue, Kept]:
    """Return the result of rescuing a session, and what was kept."""
    kept = Kept()
    return rescue(host, path, window_tokens=window, keep=kept.keep, dialect=CommandLine(), **how), kept


def next_request(host: str, path: str) -> list[Any]:
    """Return the messages that the host would send."""
    reader = reader_of(host)
    with opened(path) as file:
        return whole_messages(project(reader.happenings(file)).said)


@pytest.mark.parametrize("host", SESSIONS)
@pytest.mark.parametrize("results", [(FLOOD,), (FLOOD[:9_000],) * 12], ids=["one flood", "many"])
def test_a_session_that_was_refused_fits_again(host: str, results: tuple[str, ...], tmp_path: Path) -> None:
    """It is valid, with the task, a stub for the flood and the whole behind it; the old file is unchanged."""
    path = SESSIONS[host](tmp_path / "rollout-old.jsonl", results=results)
    before = Path(path).read_bytes()
    assert host_of(path) == host
    done, kept = rescued(host, path)
    assert "overflow_refused" in [finding.code for finding in done.findings if finding.is_stuck]
    assert Path(path).read_bytes() == before
    messages = next_request(host, done.path)
    text = json.dumps(messages)
    assert violations(messages, reader_of(host).WIRE) == []
    assert TASK in text
    assert kept, "what went is somewhere"
    assert all(cut.handle in text for cut in done.cuts)
    assert all(FLOOD in whole for whole in kept.values() if NEEDLE in whole)
    assert Tokens().count(text).tokens < 9_000
    assert done.tokens_after is not None
    assert done.tokens_after <= 8_100, "a tenth is free for the next prompt"
    records = [json.loads(line) for line in Path(done.path).read_text().splitlines()]
    assert "old" not in {record.get("sessionId") for record in records}
    assert done.session in Path(done.path).name
    assert done.session in done.resume
    assert Path(done.path).stat().st_mode & 0o777 == 0o600


def test_a_document_of_plain_text_is_behind_its_handle(tmp_path: Path) -> None:
    """It has no Base64 bytes and no address: the block itself is kept."""
    talk = Claude()
    talk.says(TASK)
    source = {"type": "text", "media_type": "text/plain", "data": FLOOD}
    talk.add("user", [{"type": "document", "source": source}, {"type": "text", "text": "Read it."}])
    talk.is_refused()
    done, kept = rescued("claude", written(tmp_path / "s.jsonl", talk.records), 6_000)
    assert "file" in [cut.what for cut in done.cuts]
    assert [FLOOD in json.loads(whole)["source"]["data"] for whole in kept.values() if whole] == [True]


@pytest.mark.parametrize("host", SESSIONS)
def test_nothing_is_written_for_a_session_that_is_not_stuck(host: str, tmp_path: Path) -> None:
    """Nothing is kept either."""
    path = SESSIONS[host](tmp_path / "s.jsonl", "", (FLOOD,))
    done, kept = rescued(host, path, 1_000_000)
    assert (done.is_stuck, done.path, done.cuts, dict(kept)) == (False, "", (), {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]


def test_each_size_says_whether_it_is_likely_or_an_upper_bound(tmp_path: Path) -> None:
    """What a person reads as "about" is the likely size, stuck or not; "at most" is the bound that a fit is claimed on."""
    path = claude(tmp_path / "s.jsonl", "", (FLOOD,))
    for window in (9_000, 1_000_000):
        done, _ = rescued("claude", path, window, form="plan")
        assert done.likely_tokens_before < done.tokens_before
        told = rescuing._object(done)
        assert (told["tokens_before"], told["likely_tokens_before"]) == (done.tokens_before, done.likely_tokens_before)
        words = rescuing._words(done, path, is_append=False)
        assert f"about {done.likely_tokens_before} tokens" in words
        if done.is_stuck:
            assert f"at most {done.tokens_before} -> {done.tokens_after} tokens of 9000, as you said." in words
            (sentence,) = (one.sentence for one in done.findings if one.code == "over_window")
            assert f"about {done.likely_tokens_before} tokens" in sentence


@pytest.mark.parametrize("host", SESSIONS)
def test_a_plan_writes_nothing(host: str, tmp_path: Path) -> None:
    """It says what would be removed."""
    path = SESSIONS[host](tmp_path / "s.jsonl")
    done, _ = rescued(host, path, form="plan")
    assert done.is_stuck
    assert done.cuts
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]


def test_an_unknown_limit_is_asked_for(tmp_path: Path) -> None:
    """The refusal has no number, and the model is unknown."""
    with pytest.raises(CallerError, match="--window"):
        rescued("claude", claude(tmp_path / "s.jsonl"), None)


def test_a_limit_that_the_refusal_names_is_taken(tmp_path: Path) -> None:
    """How the provider counted is used too: it may count more than we do."""
    words = "prompt is too long: 40000 tokens > 20000 maximum"
    done, _ = rescued("claude", claude(tmp_path / "s.jsonl", words), None)
    assert (done.limit_tokens, done.limit_source) == (20_000, "as the provider said")
    assert done.tokens_after is not None
    assert done.tokens_after <= 18_000 * done.tokens_before / 40_000 + 1


def test_what_cannot_shrink_is_said_and_not_written(tmp_path: Path) -> None:
    """The bill of what remains is included."""
    done, _ = rescued("claude", claude(tmp_path / "s.jsonl"), 40)
    assert "irreducible" in [finding.code for finding in done.findings]
    assert done.irreducible is not None
    assert done.path == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]


def test_what_a_person_pasted_is_cut_last(tmp_path: Path) -> None:
    """It is cut to its ends, with a handle."""
    talk = Claude()
    talk.says(TASK)
    talk.says(FLOOD)
    talk.add("assistant", [{"type": "text", "text": "Prompt is too long"}], isApiErrorMessage=True)
    done, kept = rescued("claude", written(tmp_path / "s.jsonl", talk.records))
    text = json.dumps(next_request("claude", done.path))
    assert TASK in text
    assert NEEDLE not in text
    assert FLOOD in kept.values()


def test_an_image_that_no_provider_takes_gives_way(tmp_path: Path) -> None:
    """A sentence replaces it; the bytes are kept."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * (8 << 20)}}
    talk = Claude()
    talk.says(TASK)
    talk.add("user", [image, {"type": "text", "text": "What is on it?"}])
    words = "API Error: 400 messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"
    talk.add("assistant", [{"type": "text", "text": words}], isApiErrorMessage=True)
    done, kept = rescued("claude", written(tmp_path / "s.jsonl", talk.records), 200_000)
    assert "image_bytes" in [finding.code for finding in done.findings if finding.is_stuck]
    text = json.dumps(next_request("claude", done.path))
    assert len(text) < 2_000
    assert "What is on it?" in text
    assert max(map(len, kept.values())) == 6 << 20, "the picture itself, not its base64"


def test_a_torn_tail_is_left_out_and_said(tmp_path: Path) -> None:
    """The host was killed while writing."""
    path = claude(tmp_path / "s.jsonl")
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"type": "user", "mess')
    done, _ = rescued("claude", path)
    assert "torn_line" in [finding.code for finding in done.findings]
    assert done.path


def test_an_unknown_window_is_asked_for(tmp_path: Path) -> None:
    """Gemini CLI records no refusal: its file cannot show whether the session is stuck."""
    written(tmp_path / "s.jsonl", histories.gemini(TASK, ["Done."]))
    ran = shell_line(tmp_path, "penstock rescue s.jsonl --store store")
    assert ran.returncode == 1
    assert "the model's window is not known" in ran.stdout
    assert "--window TOKENS" in ran.stdout
    ran = shell_line(tmp_path, "penstock rescue s.jsonl --store store --window 100000")
    assert re.match(r"Not stuck: about \d+ tokens of 100000, as you said", ran.stdout)


def test_the_command_says_what_to_do_next(tmp_path: Path) -> None:
    """It prints the new file, the way to the whole of what was removed, and the host's own command."""
    path = claude(tmp_path / "s.jsonl")
    ran = shell_line(tmp_path, f"penstock rescue {path} --window 9000 --store {tmp_path / 'store'}")
    assert ran.returncode == 0, ran.stderr
    assert "overflow_refused: " in ran.stdout
    assert "claude --resume " in ran.stdout
    handle = ran.stdout.partition("penstock page ")[2].split()[0]
    whole = shell_line(tmp_path, f"penstock page {handle} --raw --store {tmp_path / 'store'}")
    assert whole.stdout == FLOOD
    fine = shell_line(tmp_path, f"penstock rescue {path} --window 9000000 --dry-run --json")
    assert json.loads(fine.stdout)["stuck"] == ["overflow_refused"], "a refusal outweighs what anybody believes"


@pytest.mark.proves("X-3")
def test_a_long_rescue_says_how_far_it_is_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """This includes a single step that takes minutes: the last message is repeated."""
    path = claude(tmp_path / "a.jsonl")
    monkeypatch.setattr(terminal, "LOG_SECONDS", 0.0)
    said = threading.Event()
    warn = terminal.warn

    def heard(words: str) -> None:
        warn(words)
        if words.startswith("Counting tokens of messages"):
            said.set()

    def slow(*given: Any) -> Any:
        assert said.wait(60)
        return measure(*given)

    monkeypatch.setattr(terminal, "warn", heard)
    monkeypatch.setattr("penstock.hosts.rescue.measure", slow)
    assert main(["rescue", path, "--window", "9000", "--dry-run"]) == 0
    assert re.search(r"penstock: Counting tokens of messages: 0 of \d+, after 0 min\n", capsys.readouterr().err)
