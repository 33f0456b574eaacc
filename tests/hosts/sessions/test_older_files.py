"""Are sessions in older, archived or compressed files read and rescued like the others (X-1, X-3)?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.cli import main
from penstock.errors import CallerError
from penstock.hosts.sessions import compressed, host_of, read_session, reader_of, whole_messages
from penstock.hosts.sessions.finding import paths_of, session_named
from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Said
from penstock.wires import load
from tests.hosts import histories
from tests.hosts.histories import lines
from tests.hosts.sessions.telling import MUTATED, mutated, told
from tests.hosts.sessions.test_rescue import FLOOD, TASK, codex, next_request, rescued

pytestmark = pytest.mark.proves("X-1", "X-3")

ID = "01a2097a-a39e-722d-9864-b11835fd99e8"


def zstd() -> Any:
    """Return the module that compresses; skip the test without it."""
    return pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def test_an_archived_session_of_codex_is_rescued_where_codex_looks(tmp_path: Path) -> None:
    """It is found by its id; the new one is not among the archived ones."""
    away = tmp_path / ".codex" / "archived_sessions"
    away.mkdir(parents=True)
    path = codex(away / f"rollout-2026-11-23T17-35-00-{ID}.jsonl")
    assert session_named(ID, {"HOME": str(tmp_path)}) == ("codex", path)
    done, _ = rescued("codex", path)
    here = list(paths_of("codex", {"HOME": str(tmp_path)}))
    assert sorted(here) == sorted([path, done.path])
    assert Path(done.path).parents[3] == tmp_path / ".codex" / "sessions"


def older(path: Path, *results: str) -> str:
    """Write a session as Gemini CLI did before it wrote lines: one document, printed on many."""
    steps: list[Any] = [
        (f"c{at}", "run_shell_command", {"command": "ls"}, out, False) for at, out in enumerate(results)
    ]
    header, *records = histories.gemini(TASK, *steps)
    messages = [record for record in records if "id" in record]
    path.write_text(json.dumps({**header, "messages": messages}, indent=2))
    return str(path)


def test_an_older_session_of_gemini_is_one_document(tmp_path: Path) -> None:
    """It is read like the same session in lines; of a torn one the intact part is read; its rescue is written in lines."""
    folder = tmp_path / ".gemini" / "tmp" / "p" / "chats"
    folder.mkdir(parents=True)
    path = Path(older(folder / "session-2025-09-01T10-00-0a1b2c3d.json", "a.py", FLOOD))
    assert list(paths_of("gemini", {"HOME": str(tmp_path)})) == [str(path)]
    assert host_of(str(path)) == "gemini"
    header = json.loads(path.read_text())
    plain = tmp_path / "plain.jsonl"
    plain.write_text(lines([{key: value for key, value in header.items() if key != "messages"}, *header["messages"]]))
    assert next_request("gemini", str(path)) == next_request("gemini", str(plain))
    with opened(str(path)) as file:
        assert reader_of("gemini").head(file, "").session == header["sessionId"]
    done, _ = rescued("gemini", str(path))
    assert TASK in json.dumps(next_request("gemini", done.path))
    first = json.loads(Path(done.path).read_text().splitlines()[0])
    assert (first["sessionId"], first["projectHash"]) == (done.session, header["projectHash"])
    path.write_bytes(path.read_bytes()[:-20_000])
    torn = read_session("gemini", str(path))
    assert torn.torn == 1
    assert TASK in torn.transcript.entries[0].text


def test_a_folder_above_a_session_does_not_name_it(tmp_path: Path) -> None:
    """A word that was meant for something else would otherwise act on the only session there."""
    away = tmp_path / ".codex" / "archived_sessions"
    away.mkdir(parents=True)
    codex(away / f"rollout-2026-11-23T17-35-00-{ID}.jsonl")
    for word in ("archived_sessions", ".codex", tmp_path.name):
        with pytest.raises(CallerError, match="no session has an ID that begins with it"):
            session_named(word, {"HOME": str(tmp_path)})


def test_a_compressed_session_says_the_same(tmp_path: Path) -> None:
    """It is found, read and rescued next to it as a plain file; nothing is appended to its own file."""
    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "23"
    folder.mkdir(parents=True)
    plain = Path(codex(folder / f"rollout-2026-11-23T17-35-00-{ID}.jsonl"))
    path = plain.with_name(f"{plain.name}.zst")
    path.write_bytes(zstd().compress(plain.read_bytes()))
    messages = next_request("codex", str(plain))
    plain.unlink()
    assert session_named(ID, {"HOME": str(tmp_path)}) == ("codex", str(path))
    assert next_request("codex", str(path)) == messages
    before = path.read_bytes()
    done, _ = rescued("codex", str(path))
    assert done.path.endswith(".jsonl")
    assert path.read_bytes() == before
    with pytest.raises(CallerError, match="compressed"):
        rescued("codex", str(path), form="append")
    assert path.read_bytes() == before


def test_the_intact_part_of_a_torn_compressed_session_is_read(tmp_path: Path) -> None:
    """The tear is counted; of a file that grows too large no more than the limit is held."""
    plain = codex(tmp_path / "rollout-a.jsonl", results=tuple(str(at) * 40_000 for at in range(20)))
    path = tmp_path / "rollout-a.jsonl.zst"
    whole = zstd().compress(Path(plain).read_bytes())
    path.write_bytes(whole[: len(whole) - 40])
    read = read_session("codex", str(path))
    assert read.torn >= 1
    path.write_bytes(zstd().compress(b"\n" * (compressed.MAX_PLAIN_BYTES + 1)))
    with pytest.raises(CallerError, match="zstd -d"):
        host_of(str(path))


def test_without_the_extra_it_is_said_what_would_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the extra, or the program; a list of all sessions reports the file as not read."""
    for name in ("compression", "backports"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "archived_sessions" / "rollout-a.jsonl.zst"
    path.parent.mkdir()
    path.write_bytes(compressed.MAGIC + b"0" * 9)
    codex(path.with_name("rollout-b.jsonl"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    main(["inspect", "codex"])
    assert f"Not read: {path}" in capsys.readouterr().out
    with pytest.raises(CallerError, match="no session has an ID that begins with it"):
        session_named(ID, {"CODEX_HOME": str(tmp_path)})
    with pytest.raises(CallerError, match=r"penstock\[zst\].*zstd -d"):
        host_of(str(path))


@settings(max_examples=MUTATED, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_to_an_older_session_is_not_an_error(data: st.DataObject, tmp_path: Path) -> None:
    """This holds for any damage to the document; what is reported can be loaded."""
    whole = json.loads(Path(older(tmp_path / "s", "a.py", "b.py")).read_text())
    content = data.draw(mutated([whole], "opencode"))
    read = told("gemini", tmp_path / "s", content)
    load(whole_messages(one for one in read.happenings if isinstance(one, Said)), "gemini")
    host_of(str(tmp_path / "s"))


@settings(max_examples=MUTATED, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0), change=st.integers(1, 255), kept=st.floats(0, 1))
def test_damage_to_a_compressed_session_is_not_an_error(at: int, change: int, kept: float, tmp_path: Path) -> None:
    """A byte is changed, or the end is missing: what is reported can be loaded."""
    content = bytearray(zstd().compress(lines(histories.codex(TASK, ("c1", "shell", {}, "a.py", False))).encode()))
    content[at % len(content)] ^= change
    read = told("codex", tmp_path / "s", bytes(content[: round(len(content) * kept)]))
    load(whole_messages(one for one in read.happenings if isinstance(one, Said)), "openai-responses")
    host_of(str(tmp_path / "s"))
