"""Does a session with unbounded tools of its own survive the floods seen in practice, without losing anything (O-9)?"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.carrier.conftest import poster

from penstock import execute
from penstock.context.sized import ESTIMATOR
from penstock.models import Refused, say
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.models import ScriptStep
    from penstock.store import Store

FILES = 50_000


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tree of 50,000 files."""
    root = tmp_path_factory.mktemp("tree")
    for folder in range(500):
        place = root / f"package_{folder:03d}_of_the_large_repository"
        place.mkdir()
        for number in range(FILES // 500):
            (place / f"module_{number:03d}_with_a_name_as_long_as_they_are.py").touch()
    return root


def list_everything(root: Path) -> str:
    """List every file below a folder, like a caller's own tool without bounds."""
    return "\n".join(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in sorted(names))


def called(name: str, arguments: dict[str, Any], result: str, number: int = 0) -> list[dict[str, Any]]:
    """Return a call and its result on OpenAI's chat wire."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    asked = [{"id": f"call_{number}", "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": None, "tool_calls": asked},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
    ]


@pytest.mark.proves("O-9", "O-6")
def test_a_recursive_listing_of_50000_files_does_not_end_a_session_of_32768_tokens(tree: Path, store: Store) -> None:
    """The flood is offloaded, the model pages its end back by the handle that it sees, and three more turns follow."""
    seen: list[str] = []

    def policy(request: Any) -> ScriptStep:
        seen.append(json.dumps(request["messages"]))
        return say(f"turn {len(seen)}")

    messages: list[Any] = [{"role": "user", "content": "Which is the last file of the repository?"}]
    with LoopbackProvider("openai-chat", 32_768, policy=policy) as provider:
        send = poster(provider)
        messages += called("list_everything", {"root": "."}, list_everything(tree))
        result = execute(
            send, {"model": "gpt-4o", "messages": messages}, wire="openai-chat", window_tokens=32_768, store=store
        )
        assert (result.success, result.strategy, result.overflow_severity) == (True, "offload", "none")
        assert result.tokens_reduced > 900_000
        flood = next(info for info in store.artifacts() if info.name == "list_everything")
        assert flood.handle in seen[0]
        assert flood.lines == FILES
        kept = b"".join(store.read(flood.handle, at, 1 << 20) for at in range(0, flood.bytes, 1 << 20))
        assert kept.decode() == list_everything(tree)
        for turn in range(3):
            request = dict(result.request)
            request["messages"] = [
                *request["messages"],
                result.response["choices"][0]["message"],
                {"role": "user", "content": f"And then? ({turn})"},
            ]
            result = execute(send, request, wire="openai-chat", window_tokens=32_768, store=store)
            assert (result.success, result.strategy) == (True, "normal")
        assert provider.refused == 0


@pytest.mark.proves("R-1")
@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("script", ["Latin", "Chinese"])
def test_a_long_chat_without_tools_keeps_most_of_its_window(script: str, factor: float, store: Store) -> None:
    """Its oldest turns become short notes, whoever counts; once, notes with expensive characters made it a fiftieth of itself."""
    letters = "".join(map(chr, range(0x4E00, 0x5200))) if script == "Chinese" else "abcdefghijklmnopqrstuvwxyz    "
    dice = random.Random(7)
    roles = ["user", "assistant"] * 30 + ["user"]
    messages = [{"role": role, "content": "".join(dice.choices(letters, k=600))} for role in roles]
    request = {"model": "m", "messages": messages}

    def counted(body: Any) -> int:
        return round(factor * sum(ESTIMATOR.count(one["content"]).tokens for one in body["messages"]))

    limit = counted(request) * 199 // 200
    sent: list[int] = []

    def send(body: Any) -> Any:
        sent.append(counted(body))
        if sent[-1] > limit:
            words = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {sent[-1]} tokens."
            raise Refused(400, {"error": {"message": words, "code": "context_length_exceeded"}})
        return {"choices": [{"message": {"role": "assistant", "content": "done"}}]}

    result = execute(send, request, wire="openai-chat", window_tokens=1_000_000, store=store)
    assert (result.success, result.attempts) == (True, 2)
    assert sent[-1] > 0.7 * limit


@pytest.mark.proves("O-9")
def test_a_result_of_40_megabytes_does_not_end_a_session(store: Store) -> None:
    """It is kept whole and shown at its ends, and the request is small."""
    flood = "".join(f"{number:07d} a line of a log that nobody meant to print\n" for number in range(800_000))
    assert len(flood) > 40_000_000
    messages = [{"role": "user", "content": "What went wrong?"}, *called("journal", {}, flood)]
    with LoopbackProvider("openai-chat", 32_768, script=[say("The last line says it.")]) as provider:
        request = {"model": "gpt-4o", "messages": messages}
        result = execute(poster(provider), request, wire="openai-chat", window_tokens=32_768, store=store)
        assert (result.success, result.strategy) == (True, "offload")
        assert provider.requests[0].input_tokens < 4_000
    kept = next(info for info in store.artifacts() if info.name == "journal")
    assert (kept.bytes, kept.lines) == (len(flood), 800_000)
    assert "0799999 a line" in result.request["messages"][-1]["content"]


@pytest.mark.proves("O-9", "G-7")
def test_forty_results_at_once_share_the_window(store: Store) -> None:
    """Each of them is seen, at its ends, and each can be paged back."""
    results = [f"report {number}\n" + f"finding {number} of the analysis\n" * 900 for number in range(40)]
    asked = [
        {"id": f"c{n}", "type": "function", "function": {"name": "analyse", "arguments": json.dumps({"part": n})}}
        for n in range(40)
    ]
    messages: list[Any] = [
        {"role": "user", "content": "Analyse all parts."},
        {"role": "assistant", "content": None, "tool_calls": asked},
        *({"role": "tool", "tool_call_id": f"c{n}", "content": text} for n, text in enumerate(results)),
    ]
    with LoopbackProvider("openai-chat", 32_768, script=[say("All read.")]) as provider:
        request = {"model": "gpt-4o", "messages": messages}
        result = execute(poster(provider), request, wire="openai-chat", window_tokens=32_768, store=store)
    assert (result.success, result.strategy) == (True, "offload")
    shown = [message["content"] for message in result.request["messages"] if message["role"] == "tool"]
    assert all(f"report {number}" in text for number, text in enumerate(shown))
    assert {store.read(info.handle, 0, 20)[:7] for info in store.artifacts() if info.name == "analyse"} == {b"report "}
    kept = sum(info.name == "analyse" for info in store.artifacts())
    assert kept == sum(text != whole for text, whole in zip(shown, results, strict=True)) > 30


@pytest.mark.proves("R-1", "G-7")
def test_forty_results_that_name_much_are_made_to_fit_at_once(store: Store) -> None:
    """Their names would fill the window by themselves: the floor omits them, and no call is spent to find that out."""
    results = ["".join(f"verse {n}: the {part * 7919 + n}th stone\n" for n in range(40)) for part in range(40)]
    asked = [{"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(40)]
    messages: list[Any] = [
        {"role": "user", "content": "Read every chapter."},
        {"role": "assistant", "content": None, "tool_calls": asked},
        *({"role": "tool", "tool_call_id": f"c{n}", "content": text} for n, text in enumerate(results)),
    ]
    with LoopbackProvider("openai-chat", 8_000, script=[say("All read.")] * 4) as provider:
        request = {"model": "m", "messages": messages}
        result = execute(poster(provider), request, wire="openai-chat", window_tokens=8_000, store=store)
        assert (result.success, [received.outcome for received in provider.requests]) == (True, ["answered"])
    assert {store.read(info.handle, 0, 100_000).decode() for info in store.artifacts()} == set(results)


@pytest.mark.proves("O-9", "G-2")
def test_a_log_through_the_filter_fits_and_its_handle_holds_it(tmp_path: Path) -> None:
    """A pipe without end is guarded in constant memory; a request with the result fits a small window."""
    environment = {**os.environ, "PENSTOCK_STORE": f"sqlite:///{tmp_path}/store.db"}
    lines = 2_000_000
    command = f"seq 1 {lines} | {sys.executable} -m penstock guard --tokens 2000 --keep tail --name log"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(lines)
    assert f"{lines} lines" in done.stdout
    messages = [{"role": "user", "content": "The last number?"}, *called("log", {}, done.stdout)]
    with LoopbackProvider("openai-chat", 4_000, script=[say(str(lines))]) as provider:
        request = {"model": "gpt-4o", "messages": messages}
        result = execute(poster(provider), request, wire="openai-chat", window_tokens=4_000)
        assert (result.success, result.strategy, provider.refused) == (True, "normal", 0)
