"""How is Penstock configured? Defaults, then `penstock.toml` in the root, then the environment, then flags; the last one wins.

A file can set only what can do no harm, because a file in the root may be a stranger's: nothing here widens what may be read,
and nothing here empties the user's store, whose location, size and life come from the environment alone (`store`). Law: the
error for a setting that is not understood names it and what would be accepted; a file that is not understood is skipped if there
is somebody to tell, since a reader of a stranger's project cannot be asked to mend it. Leaves to others: what the settings do.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError, ToolError
from penstock.text import escape
from penstock.workspace.deadline import READ_SECONDS, WALK_SECONDS
from penstock.workspace.reading import DEFAULT_VIEW_LINES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.session.limits import Limits
    from penstock.workspace import Workspace
    from penstock.workspace.root import Root

FILE = "penstock.toml"
"""The name of the file of settings, in the root itself."""
# A file may not decide these: a small limit or a short life drops what other sessions of this user kept; files kept with
# redacted secrets cannot be restored; a stranger must not expose credentials or exhaust the machine.
_NOT_IN_FILES = frozenset(
    {
        "store",
        "store_limit_bytes",
        "store_life_days",
        "store_keep_days",
        "store_keep_bytes",
        "store_keep_sessions",
        "store_redact",
        "allow_secrets",
        "command_processes",
        "command_memory_bytes",
        "command_open_files",
        "command_file_bytes",
    }
)


class Settings(NamedTuple):
    """What can be set: in the file by these names, in the environment as `PENSTOCK_VIEW_LINES` and so on."""

    view_lines: int = DEFAULT_VIEW_LINES
    """Lines on a page of `view`, unless the call says otherwise."""
    read_seconds: float = READ_SECONDS
    """Seconds that a call that reads a file may take."""
    walk_seconds: float = WALK_SECONDS
    """Seconds that a call that walks a tree may take."""


def load(
    root: Root, environment: Mapping[str, str] | None = None, *, tell: Callable[[str], object] | None = None
) -> Settings:
    """Return the settings in force beneath a root.

    Args:
        root: where `penstock.toml` may be.
        environment: variables; None takes those of the process.
        tell: is called with a message if a file that is not understood was skipped; None raises an error instead.

    Raises:
        CallerError: naming the file or the variable that is not understood; its author has to act.
    """
    environment = os.environ if environment is None else environment
    known = set(Settings._fields)
    try:
        chosen = _checked(_from_file(root, known))
    except CallerError as error:
        if tell is None:
            raise
        tell(f"{FILE}: {str(error).removeprefix(FILE + ': ')}. The whole file is passed over.")
        chosen = {}
    variables = {name: f"PENSTOCK_{name.upper()}" for name in known}
    given = {name: _number(at, text) for name, at in variables.items() if (text := environment.get(at))}
    return Settings(**{**chosen, **_checked(given)})


def _checked(chosen: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the settings if their values are possible. Raises `CallerError`."""
    for name, value in chosen.items():
        # In Python `true` is the number 1. The test is "not above 0", not "at most 0", so that NaN is refused as well.
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise CallerError(f"{name} takes a number above 0, not {value!r}")
    if not isinstance(chosen.get("view_lines", 1), int):
        raise CallerError(f"view_lines takes a whole number, not {chosen['view_lines']!r}")
    return chosen


def allows_secrets(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether files that look like credentials by their names are read: `PENSTOCK_ALLOW_SECRETS` is 1.

    Args:
        environment: variables; None takes those of the process.

    Raises:
        CallerError: the variable is neither 1 nor 0.
    """
    text = (os.environ if environment is None else environment).get("PENSTOCK_ALLOW_SECRETS") or "0"
    if text not in {"0", "1"}:
        raise CallerError(f"PENSTOCK_ALLOW_SECRETS takes 1 or 0, not {text[:40]!r}")
    return text == "1"


def open_workspace(
    root: str | os.PathLike[str],
    *,
    allow_mounts: bool = False,
    allow_secrets: bool = False,
    tell: Callable[[str], object] | None = None,
) -> tuple[Workspace, Settings]:
    """Return a workspace over a folder, with the settings in force there.

    Args:
        root: the folder.
        allow_mounts: whether other file systems mounted beneath it may be entered.
        allow_secrets: whether files that look like credentials by their names are read; if False, `allows_secrets()` decides.
        tell: is called with a message if a file that is not understood was skipped; None raises an error instead.

    Raises:
        CallerError: for settings that are not understood, or a root that is not a folder.
    """
    from penstock.workspace import Workspace
    from penstock.workspace.root import Root

    # Read through a separate root: the file may be a stranger's too, and a link in its place must not lead outside.
    looking = Root(root)
    try:
        chosen = load(looking, tell=tell)
    finally:
        looking.close()
    is_allowed = allow_secrets or allows_secrets()
    return Workspace(root, allow_mounts=allow_mounts, allow_secrets=is_allowed, view_lines=chosen.view_lines), chosen


def profile_names(folder: str | os.PathLike[str]) -> list[str]:
    """Return the names of the profiles that a session beneath `folder` may have: ours, then those of its `penstock.toml`.

    Raises:
        CallerError: The folder is not one, or its `penstock.toml` cannot be understood.
    """
    from penstock.session.limits import PROFILES
    from penstock.workspace.root import Root

    root = Root(folder)
    try:
        return [*PROFILES, *sorted(_tables(root).keys() - PROFILES.keys())]
    finally:
        root.close()


def profile_of(root: Root, name: str, *, tell: Callable[[str], object] | None = None) -> Limits:
    """Return the limits of a session for a profile name: one of `PROFILES`, or a table of `penstock.toml`.

    `[profiles.NAME]` holds what differs from its `base`, a built-in profile (`default` unless given). A table with the name of a
    built-in profile replaces it, which is reported, because the file may be a stranger's; a table that is not understood replaces
    nothing.

    Args:
        root: where `penstock.toml` may be.
        name: the profile.
        tell: gets what a person has to know, as a sentence; None for nobody.

    Raises:
        CallerError: for an unknown name, or a table that is not understood.
    """
    from penstock.session.limits import PROFILES

    try:
        own = _tables(root)
    except CallerError:
        # A broken file takes away only its own profiles.
        if name not in PROFILES:
            raise
        own = {}
    if name not in own:
        if name in PROFILES:
            return PROFILES[name]
        raise CallerError(f"There is no profile {name!r}; there are {', '.join([*PROFILES, *sorted(own)])}.")
    said = f"{FILE} has a profile {name!r} of its own"
    try:
        limits = _own_profile(name, own[name])
    except CallerError as error:
        if name not in PROFILES:
            raise
        limits, said = PROFILES[name], f"{error}. The profile is the one that comes with Penstock"
    if tell is not None and name in PROFILES:
        tell(f"{said}.")
    return limits


def _own_profile(name: str, table: dict[str, Any]) -> Limits:
    """Return the limits of a table in the file. Raises `CallerError` if it is not understood."""
    from penstock.session.limits import PROFILES, limits_of

    values = dict(table)
    base = values.pop("base", "default")
    if base not in PROFILES:
        raise CallerError(f"{FILE}: the base of profile {name!r} is one of {', '.join(PROFILES)}, not {base!r}")
    try:
        return limits_of({**values, "name": name}, PROFILES[base])
    except CallerError as error:
        raise CallerError(f"{FILE}: profile {name!r}: {error}") from error


def _tables(root: Root) -> dict[str, dict[str, Any]]:
    """Return the profiles of the file, by name."""
    tables = _read(root).get("profiles", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise CallerError(f"{FILE}: profiles are tables: [profiles.NAME]")
    return tables


def _from_file(root: Root, known: set[str]) -> dict[str, object]:
    """Return the settings of the file; an unknown name is an error, not skipped."""
    values = _read(root)
    # Tables of profiles are read by `_tables`, when a session asks for one.
    values.pop("profiles", None)
    for name in values.keys() - known:
        if name in _NOT_IN_FILES:
            raise CallerError(
                f"{FILE}: {name} is not for a file, which may be a stranger's: set PENSTOCK_{name.upper()}"
            )
        raise CallerError(f"{FILE}: there is no setting {name!r}; there are {', '.join(sorted(known))}")
    return values


def _read(root: Root) -> dict[str, Any]:
    """Return the file as a table; an empty one if there is no file, or none that may be read."""
    try:
        file = root.open_file(FILE.encode())
    except ToolError:  # no file, or none that we would read
        return {}
    import tomllib

    from penstock.workspace.system import read_at

    try:
        return tomllib.loads(read_at(file.descriptor, 1 << 20, 0).decode())
    # ValueError: also numbers with more digits than Python reads; RecursionError: ten thousand open brackets.
    except (ValueError, RecursionError) as error:
        raise CallerError(f"{FILE}: {escape.clip(str(error))}") from error
    finally:
        file.close()


def _number(variable: str, text: str) -> float | int:
    """Return the number that a variable of the environment holds."""
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise CallerError(f"{variable} takes a number, not {text!r}") from None
