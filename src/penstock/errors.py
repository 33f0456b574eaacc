"""Who has to act when something fails? One branch for each answer.

    PenstockError
    ├── CallerError   the programmer: a wrong argument to the library, an impossible setting
    ├── ToolError     the model: its text is the tool's result and names the call that works
    ├── Refusal       the session: a provider refused a request
    └── Ended         the person: the work stopped and cannot continue by itself

Leaves to others: the sentences (each room writes its own) and exit statuses of processes (`cli`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.call import Call

CODES = frozenset(
    {
        # A code says what kind of thing was wrong, so that a script can decide; the sentence says what to do.
        "bad_argument",  # a value, a type or a name that the tool does not accept
        "bad_pattern",  # a glob or a regular expression that cannot be used
        "not_found",  # no such file, or no such page of it
        "outside_root",  # the path, or a link on its way, leads out of the root
        "not_regular_file",  # a FIFO, a socket, a device
        "is_directory",
        "not_directory",
        "denied",  # the operating system does not let us
        "secret",  # refused by its name: keys and .env files
        "link_loop",
        "path_changing",  # someone renames the folders while we walk them
        "path_too_long",
        "binary",
        "expired",  # an artifact that was kept for its stated time
        "stale",  # the file is not the one that the earlier page showed
        "deadline",  # not finished in the time that a call has
        "busy",  # too many long calls at once
        "io_error",
    }
)
"""The closed list of codes of a `ToolError`. A new one is a change of the interface."""

REFUSALS = frozenset({"busy", "deadline", "denied", "outside_root", "path_changing", "secret", "stale"})
"""Codes of errors that say what Penstock or the system does not allow, or what somebody else is doing: no mistakes of
the model (S-11)."""


class PenstockError(Exception):
    """The base of everything that Penstock raises on purpose. Any other exception from it is a bug."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, unpickling would call the class with its message alone: worker processes pass errors on, and the parent waits
        # forever for one that cannot be unpickled.
        return _revived, (type(self), self.args), self.__dict__


def described(error: BaseException) -> str:
    """Return a foreign error as it is shown to a person: its class, and its message if it has one."""
    return ": ".join(filter(None, (type(error).__name__, str(error))))


def _revived(kind: type[PenstockError], args: tuple[Any, ...]) -> PenstockError:
    """Return an error rebuilt by `pickle`, before its attributes are restored."""
    return kind.__new__(kind, *args)


class CallerError(PenstockError, ValueError):
    """The programmer has to act: an argument or a setting of the library is wrong.

    It is also a `ValueError`, for callers that do not know Penstock.
    """


class ToolError(PenstockError):
    """The model has to act: the error's text is the result that it sees.

    Attributes:
        code: one of `CODES`; scripts and hosts may rely on it, while sentences may change.
        message: what was wrong, in a sentence for the model.
        calls: calls that work instead, to be printed in the syntax of the caller's interface.
    """

    def __init__(self, code: str, message: str, *calls: Call) -> None:
        """Make the error of a tool.

        Raises:
            CallerError: for a code that is not in `CODES`.
        """
        if code not in CODES:
            raise CallerError(f"{code!r} is not a code of a ToolError")
        super().__init__(message)
        self.code = code
        self.message = message
        self.calls = calls


class Refusal(PenstockError):
    """The session has to act: a provider did not accept a request."""


class Ended(PenstockError):
    """A person has to act: the work has stopped, and the message says what it needs."""
