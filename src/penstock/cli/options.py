"""Which flags do several commands share? Each is written once, with its help, its type and its completion.

Leaves to others: flags that only one command has.
"""

from __future__ import annotations

import os
import shlex
from math import nan
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.completion import PathBeneathRoot, complete_model, complete_profile
from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import shown_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class LateChoice(click.Choice[str]):
    """A choice of words that are looked up only when needed: listing the commands need not load the rooms that know the words.

    Args:
        words: Returns them, in the order in which a person sees them.
    """

    def __init__(self, words: Callable[[], Iterable[str]]) -> None:
        super().__init__(())
        del self.choices  # so that `__getattr__`, which is called for missing attributes, gets asked
        self._words = words

    def __getattr__(self, name: str) -> tuple[str, ...]:
        """Return the words as `choices`, where click looks for them.

        Raises:
            AttributeError: for any other name.
        """
        if name != "choices":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.choices = tuple(self._words())
        return self.choices


BUSY_SECONDS = 1.0
"""How long a filter between a command and its reader waits for another process that writes to the store; then everything passes."""
FILE = PathBeneathRoot()
"""A file or a folder beneath `--root`."""


class _Name(click.ParamType[str]):
    """A name of something: not empty, as an unset variable would leave it, which nobody meant.

    Args:
        what: What is named, with its article.
    """

    name = "text"

    def __init__(self, what: str) -> None:
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it was typed.

        Raises:
            click.BadParameter: It is empty.
        """
        if not value:
            self.fail(f"It takes {self._what}, not an empty string. Is a variable unset?", param, ctx)
        return str(value)


class _OwnPath(click.Path):
    """A file or a folder of the person's own, wherever it is; an empty name is a mistake, as for any `_Name`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path as it was typed.

        Raises:
            click.BadParameter: It is empty, or not of the wanted kind.
        """
        return super().convert(_Name("a file" if self.file_okay else "a folder").convert(value, param, ctx), param, ctx)


class _Span(click.ParamType[float]):
    """A duration: a number with an upper bound, which excludes NaN and infinity.

    Args:
        unit: What it counts, in the plural.
        most: The most that is accepted.
        or_none: Whether 0 is accepted too.
    """

    name = "number"

    def __init__(self, unit: str, most: int, *, or_none: bool = False) -> None:
        self._most, self._or_none = most, or_none
        self._said = f"a number of {unit} {'from 0' if or_none else 'above 0'} to {most}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number.

        Raises:
            click.BadParameter: It is not a number, or out of range.
        """
        try:
            number = float(value)
        except ValueError:
            number = nan
        if 0 < number <= self._most or (self._or_none and number == 0):
            return number
        return self.fail(f"It takes {self._said}, not {escape.clip(str(value), 40)}.", param, ctx)


class Whole(click.IntRange):
    """A whole number within bounds, which a mistake names in words: click has it that `64k` is no valid integer range."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number.

        Raises:
            click.BadParameter: It is not a whole number, or out of range.
        """
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            upper = "on" if self.max is None else f"to {self.max}"
            wanted = f"a whole number from {self.min} {upper}"
        return self.fail(f"It takes {wanted}, not {escape.clip(str(value), 40)}.", param, ctx)


WAIT = _Span("seconds", 365 * 86_400, or_none=True)
"""Seconds to wait for something, a year at most; 0 does not wait."""
SECONDS = _Span("seconds", 365 * 86_400)
"""Seconds after which something is done, a year at most."""
DAYS = _Span("days", 36_500)
"""Days for which something is kept, a hundred years at most: a date that can be printed."""
OWN_FILE = _OwnPath(allow_dash=True, readable=False)
"""A file of the person's own, wherever it is; its reader reports what is wrong with it."""
OWN_FOLDER = _OwnPath(file_okay=False, readable=False)
"""A folder of the person's own, wherever it is."""
URL = _Name("an address")
"""The address of something."""
STORE = _Name("a folder or an address")
"""Where outputs and sessions are kept: an unset variable does not mean the user's own store."""
PATH = _Name("a path")
"""A place beneath the root."""

# Flags that several commands share, in the order in which a help page lists them.
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")


def said_json_option(what: str) -> Decorator:
    """Return the flag `--json` of a command whose object needs an explanation.

    Args:
        what: Its help.
    """
    return click.option("--json", "as_json", is_flag=True, help=what)


kept_option = click.option(
    "--store",
    "store_url",
    type=STORE,
    metavar="URL",
    help="Where originals are kept; by default PENSTOCK_STORE, else the user's store.",
)
served_json_option = said_json_option("One JSON object on standard output: the address it serves on.")
model_option = click.option(
    "--model",
    default="local",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_model,
    help="local, scripted:FILE, or WIRE:NAME for a provider: anthropic:NAME, gemini:NAME, openai-chat:NAME …",
)
base_url_option = click.option("--base-url", type=URL, metavar="URL", help="Address of the model's API.")
window_option = click.option("--window", type=Whole(min=1_000), metavar="TOKENS", help="The model's context window.")
profile_option = click.option(
    "--profile",
    default="default",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="The set of session limits to apply.",
)


def folder_option(flag: str, what: str, default: str) -> Decorator:
    """Return a flag that takes a folder."""
    return click.option(flag, type=OWN_FOLDER, default=default, metavar="DIR", show_default=True, help=what)


def root_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--root` and `--json`, which every command over files takes."""
    root = folder_option("--root", "The folder that paths are relative to and cannot leave.", ".")
    return root(json_option(function))


def in_order(root: str, what: str, named: str, paths: Sequence[str]) -> None:
    """Check that a command did not get its first argument and a path in reverse order, as some confuse them with grep and find.

    Args:
        root: The folder that paths are relative to.
        what: What comes before the paths, as the help calls it.
        named: The argument given there.
        paths: The paths after it.

    Raises:
        ToolError: None of the paths exists, but the first argument does.
    """
    if (
        paths
        and os.path.exists(os.path.join(root, named))
        and not any(os.path.lexists(os.path.join(root, one)) for one in paths)
    ):
        said = f"There is no {escape.clip(paths[0])}, and {escape.clip(named)} is a path: {what} comes before PATH."
        raise ToolError("not_found", said)


def store_words(store_url: str | None) -> str:
    """Return the option that names the store in a recommended command, with a leading blank; empty for the user's own.

    Args:
        store_url: the store, as it was typed.
    """
    return "" if store_url is None else f" --store {shlex.quote(shown_address(store_url))}"


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--store` and `--json`, which every command over what is kept takes."""
    store = click.option(
        "--store",
        "store_url",
        type=STORE,
        metavar="URL",
        help="A folder (sqlite:///path) or a database (postgresql://…); by default PENSTOCK_STORE, else the user's store.",
    )
    return store(json_option(function))
