"""Which document does one session leave to the next? Its records, what each field accepts, and its JSON (S-9).

Eight keys are always present, other keys may be, and unknown ones are carried along. Laws: `decode(encode(h)) == h`, except for
secrets, which are never written; unknown fields survive; a summary has at most 2,000 characters.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.json_access import parsed
from penstock.text.json_redaction import redacted_json
from penstock.text.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import Field

    from penstock.text.json_access import Json

SCHEMA = 1
"""The version of the document that is written; a newer one is refused, because it may use old fields in unknown ways."""
SUMMARY_CHARS = 2000
"""The most characters of a summary (S-9)."""
REASONS = ("turns", "context", "domain", "errors", "manual", "crash")
"""The reasons for which a session may end, as values of the field `reason`."""
SEED_KEYS = (
    "sessionId",
    "agent",
    "turnsCompleted",
    "completedTasks",
    "pendingTasks",
    "modifiedFiles",
    "state",
    "summary",
)
"""The eight keys that every handoff has, so that any reader of this format finds what it expects."""
_ALWAYS = {*SEED_KEYS, "schemaVersion"}
# The most characters of a command, an error, or a path in a list.
LINE_CHARS = 200
# The most items of each list in a handoff made without a model: the newest are kept.
MAX_ITEMS = 50
# The deepest nesting of foreign JSON: beyond this, the recursion that copies and writes it would fail with an error of its own.
_DEEPEST = 64
# The most bits of a number: Python prints at most 4,300 digits, so a larger number could be read but not written again.
_MAX_BITS = 13_000


def passed_on(text: str) -> str:
    """Return a text as a handoff holds it. Every text of every handoff passes through here.

    Adjacent halves of a UTF-16 surrogate pair become the character that JSON would make of them; otherwise a handoff would
    not equal what is read back.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """A JSON object with named fields, and `other` for what other writers added."""

    other: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for known in fields(self):
            name = _camel(known.name)
            # Checked by the field's annotation, whoever gives the value: what the constructor accepts can be written, and
            # what was written can be read.
            object.__setattr__(self, known.name, _READERS[str(known.type)](getattr(self, known.name), name))
        if taken := sorted(_names(type(self)).keys() & self.other.keys()):
            raise CallerError(f"other: {taken[0]} is a field of the document itself")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(_Record):
    """What was decided, and why."""

    what: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(_Record):
    """A pending task with everything known about it."""

    title: str
    id: str | int = ""
    priority: str | int = ""
    """A word or a number: 1 before 2, high before low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(_Record):
    """What was tried in vain, and how often."""

    what: str
    error: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(_Record):
    """A command that was run."""

    cmd: str
    exit: int | None = None
    """The command's exit code; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEvent(_Record):
    """What happened to a file in the session."""

    path: str
    turn: int | None = None
    """The turn of the session, counted from its beginning, in which it happened; None if unknown."""
    action: str = "modified"
    """`modified`, `created` or `deleted`."""
    digest: str = ""
    """SHA-256 of the content after the event; empty if nobody computed it."""
    found: str = ""
    """SHA-256 of the content before the first change; empty if there was no file or nobody looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff(_Record):
    """What one session passes on to the next (S-9).

    In JSON the names are camelCase. A summary that is too long is cut at the end of a sentence.

    Raises:
        CallerError: naming the invalid field and what it accepts.
    """

    session_id: str
    agent: str = ""
    turns_completed: int = 0
    """The model calls of the session, excluding those of the sessions that it continues."""
    completed_tasks: tuple[str, ...] = ()
    pending_tasks: tuple[str, ...] = ()
    """Titles, the most important first."""
    modified_files: tuple[str, ...] = ()
    """Paths of files whose content the session changed."""
    state: dict[str, Json] = field(default_factory=dict)
    """Free for whoever writes the handoff; carried along unchanged."""
    summary: str = ""

    schema_version: int = SCHEMA
    created_at: str = ""
    """A time as text; the caller provides the clock."""
    parent_session_id: str = ""
    reason: str = ""
    """One of `REASONS`, or empty."""
    goal: str = ""
    """The task in the user's words."""
    constraints: tuple[str, ...] = ()
    """What else the user asked for, the oldest first."""
    decisions: tuple[Decision, ...] = ()
    pending_task_details: tuple[Task, ...] = ()
    """The pending tasks as objects, including fields that only other writers know."""
    failed_attempts: tuple[Failure, ...] = ()
    open_errors: tuple[str, ...] = ()
    """What failed and has not succeeded since."""
    commands: tuple[Command, ...] = ()
    active_files: tuple[str, ...] = ()
    """Files that were changed in the last ten turns."""
    file_history: tuple[FileEvent, ...] = ()
    handles: tuple[str, ...] = ()
    """Handles of artifacts under which forgotten content can be read."""
    next_step: str = ""
    """What the user asked for last, if that is not the goal itself."""
    log_ref: dict[str, Json] = field(default_factory=dict)
    """Where the whole session is kept, in the terms of whoever keeps it."""

    def with_handle(self, handle: str) -> Handoff:
        """Return the handoff with one more artifact to read from."""
        return replace(self, handles=(*self.handles, handle))

    def __post_init__(self) -> None:
        _Record.__post_init__(self)
        object.__setattr__(self, "summary", shortened(self.summary))
        if self.schema_version > SCHEMA:
            raise CallerError(
                f"schemaVersion: a newer Penstock wrote it in version {self.schema_version}, and this one reads up to {SCHEMA}. "
                f"Continue it there, or have it written with schemaVersion {SCHEMA}"
            )
        if self.reason and self.reason not in REASONS:
            raise CallerError(f"reason: one of {', '.join(REASONS)}, not {escape.clip(self.reason, 64)}")


def shortened(text: str, max_chars: int = SUMMARY_CHARS) -> str:
    """Return at most `max_chars` of a text, cut after the last sentence or line that fits, or within a long one after a
    word.

    Args:
        text: any text.
        max_chars: the most characters, an ellipsis included.
    """
    if len(text) <= max_chars:
        return text
    ends = [match.end() for match in re.finditer(r"[.!?…][\"')\]]?(?=\s)|[^\s](?=\n)", text[: max_chars + 1])]
    if ends and ends[-1] <= max_chars:
        return text[: ends[-1]]
    if max_chars < 1:
        return ""
    head = text[: max_chars - 1]
    if not text[max_chars - 1].isspace():
        head = head.rpartition(" ")[0] or head
    return head.rstrip() + "…"


def both_ends(text: str, max_chars: int, where: str) -> str:
    """Return a text, or its two ends and where the rest is: people ask before or after what they paste."""
    if len(text) <= max_chars:
        return text
    last = max_chars // 3
    more = f"(… {len(text) - max_chars} more characters: {where} of the session)"
    return f"{text[: max_chars - last]}\n{more}\n{text[len(text) - last :]}"


# Always escaped: a lone surrogate, which JSON allows but UTF-8 cannot encode; and what a terminal would obey when a document is
# printed, namely controls that JSON leaves unescaped (U+009B begins a command as ESC [ does), and characters that reverse text or
# are invisible.
_UNSHOWN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def encode(handoff: Handoff) -> str:
    """Return a handoff as JSON without secrets (S-17), valid UTF-8 whatever it holds; `decode` returns an equal one if it
    holds no secrets.
    """
    written = redacted_json(_written(handoff))
    # A path stays whole in a journal, which opens files by it; a document goes to others.
    for event in written.get("fileHistory", ()):
        event["path"] = redacted(event["path"])
    # A redaction mark may be longer than what it replaces.
    written["summary"] = written["summary"][:SUMMARY_CHARS]
    text = json.dumps(written, ensure_ascii=False, indent=2, allow_nan=False)
    return _UNSHOWN.sub(lambda character: f"\\u{ord(character.group()):04x}", text)


def decode(document: str | bytes | dict[str, Json]) -> Handoff:
    """Return the handoff in a JSON document, ours or another writer's of the same format.

    Args:
        document: JSON as text or UTF-8, or its value.

    Raises:
        CallerError: naming the invalid field and what it accepts, for whoever wrote the document.
    """
    if isinstance(document, bytes):
        try:
            document = document.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise CallerError(f"a handoff is UTF-8: byte {error.start} is not") from None
    if isinstance(document, str):
        is_json, document = parsed(document)
        if not is_json:
            raise CallerError("a handoff is a JSON object; this text is not JSON")
    if not isinstance(document, dict):
        raise CallerError(f"a handoff is a JSON object, not {_kind(document)}")
    return _read(Handoff, _with_plain_tasks(document))


_R = TypeVar("_R", bound=_Record)


def _read(record: type[_R], value: dict[str, Json]) -> _R:
    """Return a record from a JSON object; null counts as left out, and unknown fields go into `other`."""
    names = _names(record)
    given = {names[key]: item for key, item in value.items() if key in names and item is not None}
    if missing := [_camel(f.name) for f in fields(record) if _is_required(f) and f.name not in given]:
        raise CallerError(f"{missing[0]}: a text that has to be there")
    return record(**given, other={key: item for key, item in value.items() if key not in names})


def _written(record: _Record) -> dict[str, Json]:
    """Return a record as JSON. Empty fields are left out, except for the keys that are always present."""
    made: dict[str, Json] = {}
    for known in fields(record):
        name, value = _camel(known.name), getattr(record, known.name)
        says_nothing = not value and value == (known.default if known.default_factory is MISSING else {})
        if known.name == "other" or (says_nothing and name not in _ALWAYS):
            continue
        is_list = isinstance(value, tuple)
        made[name] = [_written(item) if isinstance(item, _Record) else item for item in value] if is_list else value
    return made | record.other


def _with_plain_tasks(document: dict[str, Json]) -> dict[str, Json]:
    """Return the document with the objects in `pendingTasks` replaced by their titles and moved to `pendingTaskDetails`,
    all in order.

    Other writers give objects with a priority; the titles are sorted by it, stably.
    """
    pending = document.get("pendingTasks")
    if not isinstance(pending, list) or not any(isinstance(task, dict) for task in pending):
        return document
    ranked: list[tuple[float, Json, Json]] = []
    for place, task in enumerate(pending):
        if not isinstance(task, dict):
            ranked.append((_rank(None), task, None))
            continue
        title = next((task[key] for key in _TITLES if isinstance(task.get(key), str) and task[key].strip()), None)
        if title is None:
            raise CallerError(f"pendingTasks[{place}]: a text, or an object with a title")
        ranked.append((_rank(task.get("priority")), title, {**task, "title": title}))
    ranked.sort(key=lambda task: task[0])
    details = document.get("pendingTaskDetails") or []
    if isinstance(details, list):
        details = details + [detail for _, _, detail in ranked if detail is not None]
    return {**document, "pendingTasks": [title for _, title, _ in ranked], "pendingTaskDetails": details}


_TITLES = ("title", "task", "name", "what", "description", "content", "id")
_RANKS = {"critical": 0, "urgent": 0, "highest": 0, "high": 1, "medium": 2, "normal": 2, "low": 3, "lowest": 4}


def _rank(priority: Json) -> float:
    """Return a task's rank: 1 comes before 2, high before low, and a task without priority in between."""
    if isinstance(priority, int | float) and not isinstance(priority, bool):
        return priority
    word = priority.strip().lower().removeprefix("p") if isinstance(priority, str) else ""
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else _RANKS.get(word, 2)


@cache
def _camel(name: str) -> str:
    """Return a field's name in JSON."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _names(record: type[_Record]) -> dict[str, str]:
    """Return the JSON names, each with our name."""
    return {_camel(known.name): known.name for known in fields(record) if known.name != "other"}


def _is_required(known: Field[Json]) -> bool:
    return known.default is MISSING and known.default_factory is MISSING


def _kind(value: Json) -> str:
    """Return the JSON name of a value's type, for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return f"the number {escape.clip(repr(value), 32)}" if abs(value) < 1e300 else "a number of that size"
        case str():
            return f"the text {escape.clip(value, 32)!r}"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def _text(value: Json, name: str) -> str:
    """Return a text, or raise `CallerError` with the field's name; the readers below do the same for their types."""
    if not isinstance(value, str):
        raise CallerError(f"{name}: a text, not {_kind(value)}")
    return passed_on(value)


def _whole(value: Json, name: str) -> int | None:
    if value is None or (type(value) is int and value.bit_length() < _MAX_BITS):
        return value
    raise CallerError(f"{name}: a whole number, not {_kind(value)}")


def _count(value: Json, name: str) -> int:
    count = _whole(value, name) if type(value) is int else None
    if count is None or count < 0:
        raise CallerError(f"{name}: a whole number from 0 on, not {_kind(value)}")
    return count


def _name(value: Json, name: str) -> str | int:
    return value if type(value) is int and _whole(value, name) is not None else _text(value, name)


def _texts(value: Json, name: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise CallerError(f"{name}: a list of texts, not {_kind(value)}")
    return tuple(_text(item, f"{name}[{place}]") for place, item in enumerate(value))


def _object(value: Json, name: str) -> dict[str, Json]:
    """Return a JSON object, copied."""
    if not isinstance(value, dict):
        raise CallerError(f"{name}: an object, not {_kind(value)}")
    made: dict[str, Json] = _foreign(value, name, 0)
    return made


def _foreign(value: Json, name: str, depth: int) -> Json:
    """Return a copy of any JSON; an error names the position of what JSON cannot hold."""
    if depth > _DEEPEST:
        raise CallerError(f"{_place(name).partition('.')[0]}: at most {_DEEPEST} levels deep")
    match value:
        case str():
            return passed_on(value)
        case dict():
            keys = {key: _text(key, f"a key of {name}") for key in value}
            return {
                keys[key]: _foreign(item, f"{name}.{escape.clip(keys[key], 32)}", depth + 1)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_foreign(item, f"{name}[{place}]", depth + 1) for place, item in enumerate(value)]
        case bool() | None:
            return value
        case int() if value.bit_length() < _MAX_BITS:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise CallerError(f"{_place(name)}: what JSON can hold, not {_kind(value)}")


def _place(name: str) -> str:
    """Return a field's path as its writer knows it: `other` is our own name."""
    return name.removeprefix("other.")


def _records(record: type[_R], value: Json, name: str) -> tuple[_R, ...]:
    """Return a list of records; a bare text is the record's subject."""
    if not isinstance(value, list | tuple):
        raise CallerError(f"{name}: a list of objects, not {_kind(value)}")
    made: list[_R] = []
    for place, item in enumerate(value):
        first = next(iter(_names(record)))
        given = {first: item} if isinstance(item, str) else item
        if not isinstance(given, dict | record):
            raise CallerError(f"{name}[{place}]: an object with {first}, not {_kind(item)}")
        try:
            made.append(_read(record, given) if isinstance(given, dict) else given)
        except CallerError as error:
            raise CallerError(f"{name}[{place}].{error}") from None
    return tuple(made)


_READERS: dict[str, Callable[[Json, str], Json]] = {
    "str": _text,
    "int": _count,
    "int | None": _whole,
    "str | int": _name,
    "tuple[str, ...]": _texts,
    "dict[str, Json]": _object,
    **{
        f"tuple[{record.__name__}, ...]": partial(_records, record)
        for record in (Decision, Task, Failure, Command, FileEvent)
    },
}
"""How a field is checked, by its annotated type: values from a caller and from a file alike."""
