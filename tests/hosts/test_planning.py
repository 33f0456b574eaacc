"""Does a configuration come back to the byte, keep others' changes, and differ in nothing else (H-3)?"""

from __future__ import annotations

import json
import os
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts import entries, merging, nested_values, planning
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import Document
from penstock.hosts.jsonc import Number
from penstock.hosts.parts.hook import hook_command
from penstock.hosts.parts.part import Reach
from penstock.hosts.records import Record
from tests.hosts import configurations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.hosts.catalogue import HostConfig
    from penstock.hosts.documents import Format

pytestmark = pytest.mark.proves("H-3")
PROGRAM = ["/opt/my tools/bin/penstock"]
FILES = range(200)
SOME = FILES if os.environ.get("PENSTOCK_HYPOTHESIS") == "long" else FILES[2::4]
"""The files that are changed in between: a quarter, which runs every line that all of them run."""
FORMS: dict[Format, tuple[str, tuple[str, ...], Callable[[int], str]]] = {
    "json": ("gemini", ("mcp", "hook"), configurations.json_text),
    "toml": ("codex", ("mcp",), configurations.toml_text),
    "markdown": ("gemini", ("rules",), configurations.markdown_text),
}


class File:
    """A configuration during successive installations, without a disk."""

    def __init__(self, form: Format, text: str | None) -> None:
        self.form, self.text = form, text
        self.host: HostConfig = HOST_CONFIGS[FORMS[form][0]]
        self.record = self._nothing()

    def _nothing(self) -> Record:
        return Record(path="f", base=self.text, last=None, parts={})

    def install(self, *wanted: str, program: Sequence[str] = PROGRAM) -> tuple[str, ...]:
        outcome = planning.install(self.host, wanted, Reach(program), self.form, self.text, self.record)
        return self._take(outcome)

    def uninstall(self, *wanted: str) -> tuple[str, ...]:
        return self._take(planning.uninstall(self.host, wanted, self.form, self.text, self.record))

    def _take(self, outcome: planning.EditedText) -> tuple[str, ...]:
        self.text = outcome.text
        self.record = outcome.record or self._nothing()
        return outcome.notes

    @property
    def value(self) -> Any:
        return Document(self.text or "", self.form).value


def with_ours(value: Any, file: File, *wanted: str) -> Any:
    """Return what a configuration says, with our entries."""
    for part in wanted:
        if part == "mcp":
            value = nested_values.put(
                value, (*file.host.servers.key, "penstock"), entries.server_entry(file.host, [*PROGRAM, "mcp"])
            )
        if part == "hook":
            assert file.host.hooks
            entry = {"hooks": [{"type": "command", "command": hook_command(file.host, PROGRAM)}]}
            for event in (file.host.hooks.event, *file.host.hooks.around):
                there = nested_values.get(value, ("hooks", event))
                value = nested_values.put(
                    value, ("hooks", event, 0 if there is nested_values.MISSING else len(there)), entry
                )
    return value


@pytest.mark.parametrize("form", FORMS)
def test_200_files_come_back_byte_for_byte(form: Format) -> None:
    """In between the file says only what it said plus our entries; its own letters are there, in order."""
    _, wanted, make = FORMS[form]
    for seed in FILES:
        file = File(form, make(seed))
        text, value = file.text or "", file.value
        file.install(*wanted)
        assert file.value == with_ours(value, file, *wanted), text
        assert file.text != text
        letters = iter(file.text or "")
        assert all(letter in letters for letter in text)  # something was added, and nothing removed or moved
        file.uninstall(*wanted)
        assert file.text == text, seed


def test_a_runner_may_be_given_a_word_that_is_a_command_of_ours() -> None:
    """`uvx --with mcp penstock mcp` starts our server, and what follows that stays when the program is renewed."""
    file = File("json", "{}")
    file.install("mcp")
    entry = {"command": "uvx", "args": ["--with", "mcp", "penstock", "mcp", "--root", "."]}
    file.text = json.dumps({"mcpServers": {"penstock": entry}})
    file.install("mcp", program=["/new/penstock"])
    assert file.value == {"mcpServers": {"penstock": {"command": "/new/penstock", "args": ["mcp", "--root", "."]}}}


@pytest.mark.parametrize("form", FORMS)
def test_twice_is_once(form: Format) -> None:
    """A second installation changes nothing, nor does a second uninstallation."""
    _, wanted, make = FORMS[form]
    for seed in SOME:
        file = File(form, make(seed))
        text = file.text
        file.install(*wanted)
        once, record = file.text, file.record
        file.install(*wanted)
        assert (file.text, file.record) == (once, record)
        file.uninstall(*wanted)
        file.uninstall(*wanted)
        assert file.text == text


def test_parts_come_and_go_in_any_order() -> None:
    """Added one after another and removed in every order, the end equals the beginning, and in between only the rest is there."""
    for seed in SOME:
        for into, out in permutations((("mcp", "hook"), ("hook", "mcp")), 2):
            file = File("json", configurations.json_text(seed))
            text, value = file.text, file.value
            for part in into:
                file.install(part)
            file.uninstall(out[0])
            left = file.value
            for key in ("hooks", "mcpServers"):  # what is empty and was not there before is gone
                assert (key in left) == (key in with_ours(value, file, out[1]))
            assert left == with_ours(value, file, out[1])
            file.uninstall(out[1])
            assert file.text == text


@pytest.mark.parametrize("form", FORMS)
def test_what_a_user_changed_in_between_stays(form: Format) -> None:
    """A number or a line before or after our entries is changed: the file is as it would be without us."""
    _, wanted, make = FORMS[form]
    for seed in SOME:
        base = make(seed)
        if "fontMarker" not in base:
            continue
        file = File(form, base)
        file.install(*wanted)

        def edit(text: str) -> str:
            return text.replace("14", "15", 1)

        file.text = edit(file.text or "")
        file.uninstall(*wanted)
        assert file.text == edit(base)
        # And once more, with an installation on top of the user's changes.
        file.install(*wanted)
        file.text = (file.text or "").replace("15", "16")
        file.install(*wanted)
        file.uninstall(*wanted)
        assert file.text == edit(base).replace("15", "16")


def test_what_others_added_after_our_entries_stays() -> None:
    """A member may follow ours, in the same object or around it, with a comma from either."""
    from penstock.hosts import jsonc

    for seed in SOME:
        file = File("json", configurations.json_text(seed))
        value = file.value
        file.install("mcp", "hook")
        file.text = jsonc.put(file.text or "", ("added",), {"by": "you"})
        file.text = jsonc.put(file.text, ("mcpServers", "other"), {"command": "x"})
        file.uninstall("mcp", "hook")
        expected = nested_values.put(
            nested_values.put(value, ("added",), {"by": "you"}), ("mcpServers", "other"), {"command": "x"}
        )
        assert file.value == expected


def test_a_tool_that_rewrites_the_whole_file_is_no_obstacle() -> None:
    """It may drop comments and change indentation and order: what it says stays, except for ours."""
    for seed in SOME:
        file = File("json", configurations.json_text(seed))
        value = plain(file.value)
        file.install("mcp", "hook")
        Random(seed).shuffle(items := [*plain(file.value).items()])
        file.text = json.dumps(dict(items), indent=Random(seed).choice([None, 1, 4, "\t"]))
        file.uninstall("mcp", "hook")
        assert plain(file.value) == value


def test_without_a_record_only_what_is_ours_is_taken_out() -> None:
    """It is recognised by what it starts; empty objects then stay, because nobody knows who made them."""
    for seed in SOME:
        file = File("json", configurations.json_text(seed))
        value = file.value
        file.install("mcp", "hook")
        file.record = Record(path="f", base=None, last=None, parts={})
        file.uninstall("mcp", "hook")
        left = file.value
        events = ("AfterTool", "PreCompress", "SessionStart", "BeforeAgent")
        for path in (("mcpServers",), *(("hooks", event) for event in events), ("hooks",)):
            if nested_values.get(left, path) in ({}, []) and nested_values.get(value, path) is nested_values.MISSING:
                left = nested_values.remove(left, path)
        assert left == value


BY_HAND = {"matcher": "read_file", "hooks": [{"type": "command", "command": "penstock hook gemini --budget 5000"}]}


def test_a_hook_that_a_person_wrote_stays_and_ours_goes() -> None:
    """It is before or after ours, or has the full path: what we left and the earlier content show whose it is."""
    for seed in range(60):
        file = File("json", configurations.json_text(seed))
        hand = json.loads(json.dumps(BY_HAND))
        if seed % 3 == 0:
            hand["hooks"][0]["command"] = f"'{PROGRAM[0]}' hook gemini --budget 5000"
        if seed % 2:
            file.install("hook")
        value = file.value
        there = nested_values.get(value, ("hooks", "AfterTool"))
        count = len(there) if isinstance(there, list) else 0
        document = Document(file.text or "", "json")
        document.put(("hooks", "AfterTool", count), hand)
        file.text, by_hand = document.text, document.value
        if not seed % 2:
            file.record = file._nothing()
            file.install("hook")
            assert len(nested_values.get(file.value, ("hooks", "AfterTool"))) == count + 1, (
                "one cuts, a second has nothing to"
            )
            assert nested_values.get(file.value, ("hooks", "SessionStart")) is not nested_values.MISSING
            if seed % 4:  # others have written since: our entries are then found by what they say
                document = Document(file.text or "", "json")
                document.put(("added",), 1)
                file.text, by_hand = document.text, nested_values.put(by_hand, ("added",), 1)
            file.uninstall("hook")
            assert plain(file.value) == plain(by_hand)
            continue
        file.uninstall("hook")
        assert hand in nested_values.get(file.value, ("hooks", "AfterTool"))
        assert "'/opt/my tools/bin/penstock' hook gemini\"" not in (file.text or "")


def test_without_a_record_a_hook_with_a_bare_name_stays_next_to_ours() -> None:
    """Nor is one with a flag removed: what a person typed is not what we write, whatever is next to it."""
    file = File("json", json.dumps({"hooks": {"AfterTool": [BY_HAND]}}))
    ours = json.loads(json.dumps(BY_HAND))
    ours["hooks"][0]["command"] = f"'{PROGRAM[0]}' hook gemini"
    flagged = json.loads(json.dumps(ours).replace("hook gemini", "hook gemini --budget 9"))
    file.text = json.dumps({"hooks": {"AfterTool": [ours, BY_HAND, flagged]}})
    file.uninstall("hook")
    assert file.value == {"hooks": {"AfterTool": [BY_HAND, flagged]}}


def test_a_hook_of_ours_that_a_person_changed_goes() -> None:
    """Its words may have changed: it is still the one that we added."""
    file = File("json", "{}")
    file.install("hook")
    file.text = (file.text or "").replace("hook gemini", "hook gemini --budget 9000")
    file.uninstall("hook")
    assert file.value == {}


def test_pieces_that_changed_places_are_left() -> None:
    """Nobody can then say which bytes between them are whose."""
    last = "one\nours A\nmid\nours B\nend\n"
    assert merging.undo("one\nmid\nend\n", last, f"more\n{last}") == "more\none\nmid\nend\n"
    assert merging.undo("one\nmid\nend\n", last, "one\nours B\nmid\nours A\nend\n") is None


def plain(value: Any) -> Any:
    """Return what a file says, its numbers as numbers."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return json.loads(value.text) if isinstance(value, Number) else value
