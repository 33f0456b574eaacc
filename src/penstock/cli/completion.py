"""What could be typed here? Files, models, sessions, handles and profiles, offered to the shell that completes a command line.

Law: pressing the tab key creates nothing, uses no network and loads nothing heavy; what cannot be determined is silently not
offered. Leaves to others: the commands and flags themselves, which click completes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from penstock.errors import PenstockError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

_HELP_CHARS = 60
_OWN_MODELS = {"local": "quotes what it finds, needs no key", "scripted:": "a file of answers, for tests"}


def _offered(names: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem[str]]:
    """Return the names with this prefix, each with its explanation on one line: others have written it, and a terminal shows it."""
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=escape.show_argument(about.replace("\n", " "))[:_HELP_CHARS] or None)
        for name, about in names
        if name.startswith(incomplete)
    ]


class PathBeneathRoot(click.types.StringParamType):
    """A path that is relative to `--root`; `-` if standard input is allowed."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        """Offer the files and folders of `--root`; without one the shell's own list, which knows about `~` and quotes."""
        from click.shell_completion import CompletionItem

        del param
        root = ctx.params.get("root") or "."
        # A shell knows its user's `~`, variables and quotes better than we do; beneath another root only we know what is there.
        if root == ".":
            return [CompletionItem(incomplete, type="file")]
        return _offered(((path, "") for path in _paths(root, incomplete)), incomplete)


def _paths(root: str, incomplete: str) -> list[str]:
    """Return the paths beneath `root` with this prefix, folders with a trailing slash."""
    folder, slash, start = incomplete.rpartition("/")
    if os.path.isabs(incomplete) or ".." in folder.split("/"):  # it would lead out of the root
        return []
    found: list[str] = []
    with suppress(OSError), os.scandir(os.path.join(root, folder)) as entries:
        for entry in entries:
            is_wanted = entry.name.startswith(start) and (start or not entry.name.startswith("."))
            if is_wanted and entry.name.isprintable():
                found.append(f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}")
    return sorted(found)


def complete_model(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the schemes of model names, and after `scripted:` the files."""
    from penstock.wires.table import WIRES, wire_named

    del ctx, param
    scheme, colon, file = incomplete.partition(":")
    # Only this scheme names something on this machine; the names of providers' models are not ours to know.
    if scheme == "scripted" and colon:
        return _offered(((f"scripted:{path}", "") for path in _paths(".", file)), incomplete)
    providers = {f"{wire}:": wire_named(wire).about for wire in WIRES}
    return _offered([*_OWN_MODELS.items(), *providers.items()], incomplete)


def complete_session(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the sessions of the store, the last used first, each with the question that began it."""
    from penstock.store.glance import recent_sessions

    del param
    return _offered(recent_sessions(ctx.params.get("store_url"), prefix=incomplete), incomplete)


def complete_handle(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the handles of the store, the newest first, each with the name of the tool whose output it keeps."""
    from penstock.store.glance import recent_artifacts

    del param
    return _offered(recent_artifacts(ctx.params.get("store_url"), prefix=incomplete), incomplete)


def complete_profile(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the profiles of limits: ours, and those of the `penstock.toml` in the root."""
    from penstock.settings import profile_names

    del param
    with suppress(PenstockError, OSError):
        return _offered(((name, "") for name in profile_names(ctx.params.get("root") or ".")), incomplete)
    return []
