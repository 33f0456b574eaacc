"""What can be set, and by whom? A file in the root sets only what is harmless; the environment also sets up the user's store."""

from __future__ import annotations

import os
import re
import warnings
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock import settings
from penstock.agent.command_limits import command_limits
from penstock.errors import CallerError
from penstock.guard.output import MAX_TOOL_OUTPUT_CHARS, chars_per_token, default_allowance
from penstock.session.limits import PROFILES, Pressure
from penstock.store import (
    LIFE_SECONDS,
    LIMIT_BYTES,
    default_life_seconds,
    default_limit_bytes,
    default_objects,
    default_redaction,
    default_retention,
    default_url,
    folder_of,
    open_store,
)
from penstock.text.fitting import CHARS_PER_TOKEN
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_store_is_as_large_and_lives_as_long_as_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment sets the default for everyone who opens the store; an argument overrides it."""
    monkeypatch.setenv("PENSTOCK_STORE_LIMIT_BYTES", "12345")
    monkeypatch.setenv("PENSTOCK_STORE_LIFE_DAYS", "0.5")
    with closing(open_store(str(tmp_path / "store"))) as store:
        info = store.info(store.put(b"text"))
        assert store.limit_bytes == store.size().limit_bytes == 12345
        assert info.expires - info.created == pytest.approx(43_200)
    with closing(open_store(str(tmp_path / "store"), limit_bytes=99, life_seconds=60)) as store:
        info = store.info(store.put(b"more"))
        assert store.limit_bytes == 99
        assert info.expires - info.created == pytest.approx(60)


def test_left_alone_a_store_has_its_defaults() -> None:
    """A store is limited to 2 GiB and keeps content seven days by default."""
    assert (default_limit_bytes({}), default_life_seconds({})) == (LIMIT_BYTES, LIFE_SECONDS) == (2 << 30, 604_800.0)


def test_an_empty_variable_is_not_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shells and CI set a variable to nothing when they mean no value: nothing is widened, and each limit keeps its default."""
    prefix = re.compile(r"^\| `((?:PENSTOCK|QQ|SCRIBE)_[A-Z_]+)` ", re.MULTILINE)
    page = (Path(__file__).parents[1] / "docs/configuration.md").read_text("utf-8")
    empty = dict.fromkeys(
        [*prefix.findall(page), *(f"PENSTOCK_{name.upper()}" for name in settings.Settings._fields)], ""
    )
    assert len(empty) >= 22
    asked: tuple[Callable[..., object], ...] = (
        default_limit_bytes,
        default_life_seconds,
        default_retention,
        default_redaction,
        default_objects,
        default_url,
        settings.allows_secrets,
        partial(command_limits, []),
        partial(settings.load, Root(tmp_path)),
    )
    for ask in asked:
        assert ask(environment=empty) == ask(environment={})
    assert not settings.allows_secrets(empty)
    for name in empty:
        monkeypatch.setenv(name, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default_allowance().limit == MAX_TOOL_OUTPUT_CHARS
        assert chars_per_token() == CHARS_PER_TOKEN
        monkeypatch.setenv("QQ_MAX_TOOL_OUTPUT", "300")
        assert default_allowance().limit == 300


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "2 GiB", "1_000", "٣", "9" * 30, "nan"])
def test_an_invalid_size_is_reported(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An invalid size is reported with its variable when the store is opened, and no store is created."""
    monkeypatch.setenv("PENSTOCK_STORE_LIMIT_BYTES", text)
    said = f"PENSTOCK_STORE_LIMIT_BYTES takes a whole number above 0, at most {10**18}, not "
    with pytest.raises(CallerError, match=said):
        open_store(str(tmp_path / "store"))
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("text", [" ", "0", "-1", "nan", "inf", "1e9", "a week"])
def test_an_invalid_lifetime_is_reported(text: str) -> None:
    """An invalid lifetime, including zero and infinity, is reported with its variable."""
    with pytest.raises(CallerError, match="PENSTOCK_STORE_LIFE_DAYS takes a number above 0, at most 36500, not "):
        default_life_seconds({"PENSTOCK_STORE_LIFE_DAYS": text})


@pytest.mark.parametrize(
    "name",
    [
        "store",
        "store_limit_bytes",
        "store_life_days",
        "store_keep_days",
        "store_keep_bytes",
        "store_keep_sessions",
        "store_redact",
    ],
)
def test_a_file_of_the_root_cannot_empty_the_store(tmp_path: Path, name: str) -> None:
    """A store limit in a repository's file, which could drop content of other work, is an error that names the variable to set."""
    (tmp_path / "penstock.toml").write_text(f"{name} = 1\n")
    with pytest.raises(CallerError, match=f"set PENSTOCK_{name.upper()}"):
        settings.open_workspace(tmp_path)
    told: list[str] = []
    _, chosen = settings.open_workspace(tmp_path, tell=told.append)
    assert chosen == settings.Settings()
    assert len(told) == 1


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("sqlite:///var/lib/agent", "/var/lib/agent"),
        ("sqlite:/var/lib/agent/", "/var/lib/agent"),
        ("/var/lib/agent", "/var/lib/agent"),
        ("kept", os.path.abspath("kept")),
        ("~/kept", os.path.expanduser("~/kept")),
        ("/odd:name/kept", "/odd:name/kept"),
        ("postgresql://user:secret@host/db", None),
        ("postgres://host/db", None),
    ],
)
def test_a_url_says_in_which_folder_a_store_lies(url: str, folder: str | None) -> None:
    """A `sqlite` URL names the store's folder; a store in a database has none."""
    assert folder_of(url) == folder


@pytest.mark.proves("S-8")
def test_the_file_may_define_a_profile(tmp_path: Path) -> None:
    """A profile states what differs from its base; an unknown name, an unknown base and an invalid value are reported."""
    (tmp_path / "penstock.toml").write_text(
        "[profiles.careful]\nbase = 'swe-1.5'\nwindow_tokens = 64_000\nrungs = [{pressure = 'COMPACT', turns = 5}]\n"
        "[profiles.broken]\nwindow_tokens = 'wide'\n[profiles.lost]\nbase = 'nobody'\n"
    )
    with closing(Root(tmp_path)) as root:
        limits = settings.profile_of(root, "careful")
        assert (limits.name, limits.window_tokens, limits.pressure(0, 5)) == ("careful", 64_000, Pressure.COMPACT)
        assert limits.errors == PROFILES["swe-1.5"].errors
        assert settings.profile_of(root, "Oracle") is PROFILES["Oracle"]
        for name, said in (("none", "careful"), ("broken", "window_tokens"), ("lost", "swe-1.5")):
            with pytest.raises(CallerError, match=said):
                settings.profile_of(root, name)
        assert settings.load(root).view_lines == 100


def test_a_profile_of_ours_is_not_taken_away_unsaid(tmp_path: Path) -> None:
    """If a project's file redefines a built-in profile, a valid one is used, a broken one is ignored, and both are reported."""
    told: list[str] = []
    (tmp_path / "penstock.toml").write_text(
        "[profiles.default]\nwindow_tokens = -1\n[profiles.Oracle]\nwindow_tokens = 9_000\n"
    )
    with closing(Root(tmp_path)) as root:
        assert settings.profile_of(root, "default", tell=told.append) is PROFILES["default"]
        assert settings.profile_of(root, "Oracle", tell=told.append).window_tokens == 9_000
        assert settings.profile_of(root, "swe-1.5", tell=told.append) is PROFILES["swe-1.5"]
    broken, other = told
    assert "window_tokens" in broken
    assert "comes with Penstock" in broken
    assert other == "penstock.toml has a profile 'Oracle' of its own."
