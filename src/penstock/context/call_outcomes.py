"""How did a call of a foreign tool end, as far as its result says?

The wire's own flag and a stated exit code decide; without them, the words by which the known agents report a failure. Errors that
the content of a file mentions do not count. Leaves to others: what the call is about (`call_targets`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.call_targets import LOOK_CHARS, kind_of
from penstock.text.json_access import field, objects, parsed, type_of
from penstock.wires import placeholders

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.entries import ToolCall, ToolResult

_HEAD_CHARS = 200
"""The most characters of the line that says what failed."""
# A longer result that starts with "Error:" is a log.
_SHORT_CHARS = 1000
"""The most characters of a result that may be an error and nothing else."""
_TRACE_CHARS = 20_000
"""How many of its last characters are searched for a traceback, which ends a result."""
_EXIT = re.compile(
    r"(?i)(?:\b(?:exit(?:ed)?(?: with)?(?: exit)?[ _-]?(?:code|status)|return[ _]?code)|exitcode)"
    r"[\"'>]{0,2}\s{0,2}[:=]?\s{0,2}[\"']?(-?\d{1,6})\b"
)
_ERROR = re.compile(r"\s{0,4}(?:<[\w-]{1,30}>)?\[?(?i:error|fatal|exception)\b[^\n]{0,40}?:")
# SWE-agent shows this above the file as it would have been: long, but still a failure. Codex gives no other sign on its wire.
_REFUSED = (
    "Your proposed edit has introduced",
    "apply_patch verification failed",
    "patch rejected by user",
    "exec command rejected by user",
    "command aborted by user",
    "aborted by user after",
    "aborted before dispatch",
)
# What agents answer in place of a command that never started: there is no such tool, or a person did not allow it.
_NOT_BEGUN = re.compile(
    r"(?i)(?:<\w{1,30}>|error:|\s){0,4}(?:there is no tool\b|no such tool\b|unknown tool\b|unsupported call\b|"
    r"tool [^\s]{1,80} (?:was |is )?(?:not (?:found|available)|unknown)|[\w-]{1,64} is not allowed in this session|"
    r"exec command rejected by user|aborted before dispatch|the user doesn't want to (?:proceed|take))"
)
# A test runner's verdict on one test says more than what it prints on the way (dots, logs), and a compiler's error more than its
# command line: pytest, unittest, Go, Jest; gcc, mypy, rustc, tsc, git, npm.
_TELLING = (
    re.compile(r"(?m)^[ \t]{0,8}((?:FAILED|FAIL:?|--- FAIL:)[ \t]\S[^\n]*)"),
    re.compile(
        r"(?m)^[ \t]{0,8}((?:ERROR:?|npm ERR!)[ \t]\S[^\n]*"
        r"|[^\n]{0,200}?\b(?:error|Error|ERROR|fatal)(?:\[\w{1,20}\]| [A-Z]{1,8}\d{1,8})?: [^\n]*)"
    ),
)
_RAISED = re.compile(r"[A-Za-z_][\w.]{0,200}(?::|$)")
_TRACEBACK = "Traceback (most recent call last)"
_SAYS_NOTHING = re.compile(
    r"(?i)\W*|</?[\w-]{1,30}>|.{0,40}(?:exit(?:ed)?|return).{0,20}(?:code|status).{0,20}"
    # Codex, before the output of a command.
    r"|Chunk ID: \w{1,20}|Wall time: [\d.]{1,20} seconds|Original token count: \d{1,20}|Output:"
)


class CallOutcome(NamedTuple):
    """How a call ended."""

    failed: bool = False
    exit_code: int | None = None
    """The exit code that the result states; None if it states none."""
    error_head: str = ""
    """The line of a failed result that says what failed, clipped; empty otherwise."""
    was_refused: bool = False
    """Whether nothing was done at all, in the words of the agent."""


def outcome_of(call: ToolCall, result: ToolResult, raw: Json) -> CallOutcome:
    """Return how a call ended. Errors that a file's text mentions do not count as the end of reading it."""
    kind, text, code = kind_of(call), result.text, None
    if kind == "run" or text.startswith("Exit code: "):  # Codex runs its patches, too
        text, code = _exit(text, raw)
    last = text[-LOOK_CHARS:].rstrip().rpartition("\n")[2]
    is_raised = kind in {"run", "other"} and _TRACEBACK in text[-_TRACE_CHARS:] and _RAISED.match(last) is not None
    is_told = (kind == "run" or len(text) < _SHORT_CHARS) and _ERROR.match(text) is not None
    is_told = is_told or text[:LOOK_CHARS].lstrip().startswith(_REFUSED)
    # The wire's own flag comes first, then a stated exit code, which outranks words; words count only without a code.
    if not (result.is_error or (is_raised or is_told if code is None else code)):
        return CallOutcome(exit_code=code)
    if placeholders.tells_of_a_stop(text):  # whatever its output ends with, it was not what failed
        said = text.partition("\n")[0]
    else:
        said = last if is_raised else (_telling(text) if kind == "run" else "") or _first_line(text)
    was_refused = code is None and _NOT_BEGUN.match(text[:LOOK_CHARS]) is not None
    return CallOutcome(failed=True, exit_code=code, error_head=said[:_HEAD_CHARS], was_refused=was_refused)


def _telling(text: str) -> str:
    """Return the line of a failed command's output that names the failure; empty if none does."""
    ends = (text[:_TRACE_CHARS], text[_TRACE_CHARS:][-_TRACE_CHARS:])
    found = (telling.search(end) for telling in _TELLING for end in ends)
    return next((match[1].rstrip() for match in found if match), "")


def _first_line(text: str) -> str:
    """Return the first line of a result that says anything."""
    lines = (line.strip() for line in text[:_TRACE_CHARS].splitlines())
    return next((line for line in lines if not _SAYS_NOTHING.fullmatch(line)), text.strip())


def _exit(text: str, raw: Json) -> tuple[str, int | None]:
    """Return the output of a command and the exit code stated before, after or around it."""
    if type_of(raw) == "shell_call_output":
        codes = [field(run, "outcome", "exit_code") for run in objects(raw.get("output"))]
        stated = [code for code in codes if isinstance(code, int)]
        return text, next((code for code in stated if code), stated[0] if stated else None)
    if text.startswith('{"') and _EXIT.search(
        text[-LOOK_CHARS:]
    ):  # Codex: {"output": "…", "metadata": {"exit_code": 1}}
        output = field(parsed(text)[1], "output")
        if isinstance(output, str):
            return output, _code(text[-LOOK_CHARS:])
    code = _code(text[:LOOK_CHARS].partition("\n\n")[0])
    return text, code if code is not None else _code(text[-LOOK_CHARS:])


def _code(text: str) -> int | None:
    """Return the last exit code that a text states; None if it states none."""
    if "code" not in (lower := text.lower()) and "status" not in lower:
        # Most output, including a program's `return`: the pattern costs ten times as much as these two searches.
        return None
    found = _EXIT.findall(text)
    return int(found[-1]) if found else None
