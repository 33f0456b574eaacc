"""Is a handoff written before a compaction, and are open ends and pinned rules given back afterwards, with their price?"""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import Ended
from penstock.handoff import decode
from penstock.hosts import HOOK_NAMES, hook_host
from penstock.hosts.handing_on import BUDGET_TOKENS, HandingOn, folder_for
from penstock.hosts.hook import Hook
from penstock.text.calls import CommandLine
from penstock.text.tokens import Tokens
from tests.hosts import histories
from tests.hosts.histories import Claude, written

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.store import Store

pytestmark = pytest.mark.proves("H-4")

BEFORE = {"claude": "PreCompact", "codex": "PreCompact", "gemini": "PreCompress"}


def no_store() -> Store:
    """Fail, as nothing here is kept in a store."""
    raise Ended("no store is opened")


class Host:
    """A host with a session in a project."""

    def __init__(self, name: str, root: Path, *, rules: str = "", **how: Any) -> None:
        self.name, self.root = name, root
        self.project = root / "p"
        self.project.mkdir()
        self.how = how
        self.path = root / "session.jsonl"
        self.runs = 0
        if rules:
            (self.project / ".penstock").mkdir()
            (self.project / ".penstock" / "pinned.md").write_text(rules)

    def hook(self, event: str, **more: object) -> Any:
        """Return what the hook prints, as JSON; None for nothing. Enough time has passed since the last call."""
        self.runs += 1
        handing_on = HandingOn(folder=str(self.root / "handoffs"), **self.how)
        hook = Hook(
            hook_host(self.name),
            no_store,
            CommandLine,
            turns_folder=str(self.root / f"turns{more.pop('turns', self.runs)}"),
            handing_on=handing_on,
        )
        asked = {
            "session_id": "s",
            "cwd": str(self.project),
            "transcript_path": str(self.path),
            "hook_event_name": event,
        }
        printed = hook.answer(json.dumps({**asked, **more}).encode())
        return json.loads(printed) if printed else None

    def compacts(self, **more: object) -> None:
        """Send the event that precedes a compaction."""
        assert self.hook(BEFORE[self.name], trigger="auto", **more) is None

    def given(self, source: str, **more: object) -> str:
        """Return what the model gets at a start."""
        reply = self.hook("SessionStart", source=source, **more)
        if reply is None:
            return ""
        assert reply["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        return str(reply["hookSpecificOutput"]["additionalContext"])

    def written(self) -> Any:
        """Return the document."""
        (at,) = (self.root / "handoffs").glob("*.json")
        return decode(at.read_text())


def talk(*more: str) -> Claude:
    """Write a session with something open."""
    made = Claude()
    made.says("Fix the parser.")
    made.calls(
        ("c1", "Edit", {"file_path": "/p/a.py"}, "The file has been updated.", False),
        ("c2", "Bash", {"command": "pytest -q"}, "Exit code 1\nFAILED test_tabs", True),
    )
    for text in more:
        made.says(text)
    made.answers_with("I changed a.py.")
    return made


@pytest.fixture
def claude(tmp_path: Path) -> Host:
    """Provide Claude Code with such a session and one rule."""
    host = Host("claude", tmp_path, rules="Never touch secrets.py {}.\n")
    written(host.path, talk("Leave the lexer alone.", "Now the docs.").records)
    return host


def test_what_was_open_is_given_back_after_the_compaction(claude: Host) -> None:
    """It has the person's own words, what failed, what was changed, and what this costs."""
    claude.compacts()
    text = claude.given("compact")
    price, rules, ends = map(int, re.findall(r"\d+", text.partition("]")[0]))
    assert text.startswith(f"[penstock: {price} tokens: pinned rules {rules}, open ends {ends}]\n")
    assert Tokens().count(text).tokens <= price <= BUDGET_TOKENS
    assert rules + ends <= price
    for said in ("Never touch secrets.py {}.", "Fix the parser.", "Leave the lexer alone.", "Now the docs."):
        assert said in text
    assert "pytest -q: FAILED test_tabs" in text
    assert "/p/a.py" in text
    assert "Commands run" not in text, "what is behind is in the host's own summary"


def test_the_handoff_is_a_document_like_every_other(claude: Host) -> None:
    """Its origin is included."""
    claude.compacts()
    made = claude.written()
    assert (made.session_id, made.agent, made.goal) == ("s", "Claude Code", "Fix the parser.")
    assert made.modified_files == ("/p/a.py",)
    assert made.constraints == ("Leave the lexer alone.",)
    assert made.state["lastWords"] == "I changed a.py."
    assert made.log_ref["path"] == str(claude.path)
    assert made.log_ref["skippedBytes"] == 0
    assert {at.stat().st_mode & 0o777 for at in (claude.root / "handoffs").iterdir()} <= {0o600}


def test_the_handoff_of_a_very_long_session_says_how_much_was_not_read(
    claude: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host waits for it, so only the two ends of its file are read."""
    monkeypatch.setattr("penstock.hosts.sessions.HURRIED_BYTES", 600)
    claude.compacts()
    assert claude.written().log_ref["skippedBytes"] == claude.path.stat().st_size - 600


def test_nothing_is_said_if_there_is_nothing_to_give(tmp_path: Path) -> None:
    """There are no rules, and no compaction yet."""
    host = Host("claude", tmp_path)
    for source in ("startup", "resume", "clear", "compact"):
        assert host.hook("SessionStart", source=source) is None
    written(host.path, [])
    host.compacts()
    assert host.hook("SessionStart", source="compact") is None


def test_rules_are_given_at_every_start(claude: Host) -> None:
    """This holds without a handoff, too."""
    for source in ("startup", "resume", "clear", "compact"):
        text = claude.given(source)
        assert re.match(r"\[penstock: \d+ tokens: pinned rules \d+\]\nPinned rules \(.*pinned\.md\):\nNever", text)


def test_a_new_session_hears_of_the_last_one_in_its_folder(claude: Host, tmp_path: Path) -> None:
    """This lasts a day, and applies neither after the person cleared it nor to another project's session."""
    claude.compacts()
    assert "session s of Claude Code" in claude.given("startup", session_id="new")
    assert "open ends" not in claude.given("clear", session_id="new")
    assert "open ends" not in claude.given("clear")
    assert "open ends" not in claude.given("resume", session_id="new"), "it goes on from itself"
    assert claude.given("startup", session_id="new", cwd=str(tmp_path)) == ""
    for at in (tmp_path / "handoffs").iterdir():
        os.utime(at, (time.time() - 90_000,) * 2)
    assert "open ends" not in claude.given("startup", session_id="new")
    assert "open ends" in claude.given("resume"), "its own is never too old"


@pytest.mark.parametrize("budget", [260, 300, 800])
@pytest.mark.parametrize(("rules", "words"), [(900, 900), (900, 1), (1, 900), (0, 900), (900, 0)])
def test_both_stay_within_the_budget(budget: int, rules: int, words: int, tmp_path: Path) -> None:
    """If both are long each gets its share, and each says that it was cut."""
    host = Host("claude", tmp_path, rules="Rule: do nothing rash.\n" * rules, budget_tokens=budget)
    written(host.path, talk(*(f"Wish {number}: keep {'it ' * 9}" for number in range(words))).records)
    if words:
        host.compacts()
    text = host.given("compact")
    price = int(re.findall(r"\d+", text)[0])
    assert Tokens().count(text).high <= price <= budget
    assert price > budget // 3
    assert ("Rule:" in text, "Fix the parser." in text) == (bool(rules), bool(words))
    assert ("… the rest is in the file." in text) == (rules == 900)


@given(rules=st.text(max_size=3_000), words=st.text(max_size=3_000), budget=st.integers(200, 900))
def test_the_price_is_never_too_low(
    rules: str, words: str, budget: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """This holds for any content."""
    host = Host("claude", tmp_path_factory.mktemp("any"), budget_tokens=budget)
    (host.project / ".penstock").mkdir()
    (host.project / ".penstock" / "pinned.md").write_text(rules, "utf-8", "replace")
    written(host.path, talk(words).records)
    host.compacts()
    text = host.given("compact")
    assert Tokens().count(text).high <= int(re.findall(r"\d+", text)[0]) <= budget


@pytest.mark.parametrize("folders", [1, 4, 12])
def test_a_long_path_costs_its_price(folders: int, tmp_path: Path) -> None:
    """It is printed above the rules, shortened to its last names if it would leave them little room."""
    root = tmp_path.joinpath(*["a-folder-with-a-long-name-of-fifty-characters-abcdef"] * folders)
    root.mkdir(parents=True)
    host = Host("claude", root, rules="Rule: do nothing rash.\n" * 900, budget_tokens=250)
    text = host.given("startup")
    assert Tokens().count(text).high <= 250
    assert text.count("Rule: do nothing rash.") > 5
    assert "/.penstock/pinned.md)" in text
    assert "(…/.penstock/pinned.md)" in text or folders == 1  # the length of the path above it depends on the machine


def test_rules_of_the_repository_hold_beneath_it(claude: Host, tmp_path: Path) -> None:
    """They are searched up to its root and no higher: what is above may belong to anybody."""
    below = claude.project / "src" / "deep"
    below.mkdir(parents=True)
    assert claude.given("startup", cwd=str(below)) == ""
    (claude.project / ".git").mkdir()
    assert "Never touch" in claude.given("startup", cwd=str(below))
    (claude.project / "src" / ".git").mkdir()
    assert claude.given("startup", cwd=str(below)) == ""


def test_rules_that_are_a_link_to_elsewhere_are_not_read(claude: Host, tmp_path: Path) -> None:
    """A downloaded project could show any file of the person to its model; the model is told why there are no rules."""
    (tmp_path / "secret").write_text("SECRETKEY")
    rules = claude.project / ".penstock" / "pinned.md"
    rules.unlink()
    rules.symlink_to(tmp_path / "secret")
    assert claude.given("startup").endswith("`penstock hook claude --pinned FILE` names a file elsewhere.]")
    rules.unlink()
    os.mkfifo(rules)
    assert "is not a regular file.]" in claude.given("startup")
    claude.how["pinned"] = str(tmp_path / "secret")
    assert "SECRETKEY" in claude.given("startup"), "the person named it"
    claude.how["pinned"] = str(tmp_path / "gone")
    assert claude.given("startup").endswith("gone):\n[Not read: No such file or directory.]")


@pytest.mark.proves("H-4")
@pytest.mark.parametrize(
    "rules",
    [
        pytest.param("Never touch secrets.py, and keep the lexer. " * 200, id="one paragraph"),
        pytest.param(f"- Never push.\n\n{'Keep the lexer. ' * 400}\n\n- Never rebase.", id="a paragraph in the middle"),
        pytest.param("永远不要修改词法分析器。" * 300, id="no spaces"),
    ],
)
def test_a_line_longer_than_the_budget_is_cut_and_says_so(rules: str, tmp_path: Path) -> None:
    """A paragraph is one line in most editors: when only whole lines were given, such rules silently vanished."""
    text = Host("claude", tmp_path, rules=rules).given("startup")
    assert text.endswith("…\n… the rest is in the file.")
    assert rules[:200] in text
    assert BUDGET_TOKENS * 0.85 < Tokens().count(text).high <= BUDGET_TOKENS


def test_a_mark_at_the_beginning_of_the_rules_is_not_shown(tmp_path: Path) -> None:
    """An editor on Windows puts one there."""
    assert Host("claude", tmp_path, rules="\ufeffNever push.\n").given("startup").endswith("pinned.md):\nNever push.")


def test_what_acts_on_a_terminal_is_inert_in_what_is_given(tmp_path: Path) -> None:
    """This applies to rules and words alike."""
    host = Host("claude", tmp_path, rules="rule \x1b[31mred\n")
    written(host.path, talk("words \x1b]0;t\x07").records)
    host.compacts()
    text = host.given("compact")
    assert "\x1b" not in text
    assert r"rule \x1b[31mred" in text


def test_a_host_that_starts_twice_in_one_breath_gets_it_once(tmp_path: Path) -> None:
    """Codex resumes and continues after a compaction with one request."""
    host = Host("codex", tmp_path)
    written(host.path, histories.codex("Fix the parser.", ["Done."], "Now the docs."))
    host.compacts()
    assert "Fix the parser." in host.given("resume", turns="same")
    assert host.given("compact", turns="same") == ""
    time.sleep(0.02)
    host.compacts()
    assert "Fix the parser." in host.given("compact", turns="same"), "of the next compaction there is another"


def test_gemini_gets_it_with_the_next_words_once_it_has_compacted(tmp_path: Path) -> None:
    """It has no event afterwards, and the one before is often not followed by a compaction."""
    host = Host("gemini", tmp_path)
    records = histories.gemini("Fix the parser.", ["Done."], "Now the docs.")
    written(host.path, records)
    assert host.hook("BeforeAgent", prompt="x") is None
    host.compacts()
    assert host.hook("BeforeAgent", prompt="x") is None
    summary = {"id": "n", "type": "user", "content": [{"text": "<state_snapshot>"}]}
    written(host.path, [*records, {"$set": {"messages": [summary]}}])
    reply = host.hook("BeforeAgent", prompt="x")
    assert reply["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert "Fix the parser." in reply["hookSpecificOutput"]["additionalContext"]
    assert host.hook("BeforeAgent", prompt="x") is None
    written(host.path, [{"$set": {"messages": [summary]}}, *histories.gemini("And the tests.")[2:]])
    host.compacts()
    assert host.written().goal == "Fix the parser.", "the file has forgotten it, the last handoff has not"
    assert host.written().next_step == "And the tests."


@pytest.mark.proves("H-5")
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("gone", "gone: No such file or directory."),
        ("/dev/zero", "/dev/zero is not a regular file."),
        ("/dev", "/dev is not a regular file."),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_a_file_that_cannot_be_read_blocks_no_compaction(path: object, said: str | None, tmp_path: Path) -> None:
    """At most the person gets a message."""
    host = Host("claude", tmp_path)
    reply = host.hook("PreCompact", transcript_path=path)
    assert reply == (said and {"systemMessage": f"penstock hook: {said} Nothing was changed."})
    assert host.hook("SessionStart", source="compact") is None


def test_a_session_that_has_gone_to_another_folder_gets_its_own(claude: Host) -> None:
    """Claude Code reports the folder that a `cd` led to; the session is resumed in the one where it began."""
    below = claude.project / "below"
    below.mkdir()
    claude.compacts(cwd=str(below))
    assert "Goal:" in claude.given("resume")
    claude.compacts()
    assert "Goal:" in claude.given("compact", cwd=str(below))
    assert claude.hook("SessionStart", source="resume", session_id="other", cwd=str(below)) is None
    claude.compacts(session_id="")
    assert claude.hook("SessionStart", source="resume", session_id="", cwd=str(below)) is None


def test_a_rewritten_history_is_read_from_its_beginning(tmp_path: Path) -> None:
    """If it is shorter than when the handoff was written, it has been compacted, whatever is now at its former end."""
    gemini = Host("gemini", tmp_path)
    written(gemini.path, histories.gemini("Fix the parser. " * 50, ["I will."]))
    gemini.compacts()
    gemini.path.write_text('{"sessionId":"s"}\n{"$set":{"messages":[]}}\n')
    assert "Fix the parser." in str(gemini.hook("BeforeAgent", prompt="go on"))


def test_an_id_of_a_host_names_no_path(claude: Host, tmp_path: Path) -> None:
    """It is untrusted input."""
    claude.compacts(session_id="../../evil/\0x")
    assert {at.parent for at in tmp_path.rglob("*.json")} == {tmp_path / "handoffs"}
    assert "Fix the parser." in claude.given("compact", session_id="../../evil/\0x")
    assert "Fix the parser." not in claude.given("resume", session_id="....evilx")


def test_handoffs_do_not_pile_up(claude: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are removed."""
    monkeypatch.setattr("penstock.hosts.handing_on._MAX_FILES", 6)
    for number in range(5):
        claude.compacts(session_id=f"s{number}")
        time.sleep(0.02)
    assert len(list((tmp_path / "handoffs").iterdir())) == 6
    assert "open ends" in claude.given("resume", session_id="s4")
    assert "open ends" not in claude.given("resume", session_id="s0")


def test_secrets_are_kept_by_the_stores_rules(claude: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks replace them if the person chose that."""
    written(claude.path, talk("Use the key AKIAIOSFODNN7EXAMPLQ for it.").records)
    monkeypatch.setenv("PENSTOCK_STORE_REDACT", "1")
    claude.compacts()
    text = "".join(at.read_text() for at in (claude.root / "handoffs").iterdir())
    assert "AKIAIOSFODNN7EXAMPLQ" not in text
    assert "Use the key" in text


def test_it_is_next_to_the_users_store() -> None:
    """It is where programs keep their state."""
    assert folder_for({"XDG_STATE_HOME": "/s"}) == os.path.join("/s", "penstock-handoffs")
    assert folder_for({"XDG_STATE_HOME": "s", "HOME": "/h"}) == os.path.join(
        "/h", ".local", "state", "penstock-handoffs"
    )


def test_every_host_says_which_events_it_wants() -> None:
    """The hook's configuration is made from this list."""
    events = {name: hook_host(name).events for name in HOOK_NAMES}
    assert events["claude"] == events["codex"] == ("PostToolUse", "PreCompact", "SessionStart")
    assert events["gemini"] == ("AfterTool", "PreCompress", "SessionStart", "BeforeAgent")
    assert events["copilot"] == ("postToolUse",)


def test_a_log_in_a_prompt_does_not_push_out_what_is_open(tmp_path: Path) -> None:
    """It is on one line, first and last: both ends of each are given, with the files and errors."""
    host = Host("claude", tmp_path)
    made = Claude()
    made.says(f"Fix the parser. {'2f9c8e ' * 5_000}\nIt fails on tabs.")
    made.calls(
        ("c1", "Edit", {"file_path": "/p/a.py"}, "The file has been updated.", False),
        ("c2", "Bash", {"command": "pytest -q"}, "Exit code 1\nFAILED test_tabs", True),
    )
    made.says(f"Now the docs. {'2f9c8e ' * 5_000}")
    written(host.path, made.records)
    host.compacts()
    given_back = host.given("compact")
    said = ("Fix the parser.", "It fails on tabs.", "Now the docs.", "/p/a.py", "FAILED test_tabs")
    assert all(words in given_back for words in said)
    assert Tokens().count(given_back).high <= BUDGET_TOKENS


@pytest.mark.parametrize("rule", ["-" * 4_000, " " * 4_000, "=" * 40_000])
def test_a_rule_before_a_long_prompt_takes_no_ones_place(rule: str, tmp_path: Path) -> None:
    """One token may stand for more than sixteen characters, so a fitting beginning says nothing about what follows it."""
    host = Host("claude", tmp_path)
    made = Claude()
    made.says("Fix the parser.")
    made.calls(("c1", "Edit", {"file_path": "/p/a.py"}, "The file has been updated.", False))
    made.says(f"{rule}\nNow the docs. {'2f9c8e ' * 5_000}\nStop at noon.")
    written(host.path, made.records)
    host.compacts()
    given_back = host.given("compact")
    assert all(words in given_back for words in ("Fix the parser.", "Stop at noon.", "/p/a.py"))
    assert Tokens().count(given_back).high <= BUDGET_TOKENS


def test_words_after_an_editors_text_are_the_persons(tmp_path: Path) -> None:
    """Claude Code puts the open file, and its own reminders, before a person's words, as blocks of one message."""
    host = Host("claude", tmp_path)
    made = Claude()
    opened = {"type": "text", "text": "<ide_opened_file>The user opened /p/a.py.</ide_opened_file>"}
    reminder = {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"}
    made.add("user", [opened])
    made.add("user", [reminder, {"type": "text", "text": "Fix the parser."}])
    made.answers_with("I changed a.py.")
    written(host.path, made.records)
    host.compacts()
    assert "Fix the parser." in host.written().goal
