"""Which words and fields does an error carry? Any object in, plain evidence out, one layer per exception of a chain.

Exceptions of any SDK, response bodies, stream events, dicts, bytes, JSON inside strings and texts cut in the middle are read alike.
No SDK is imported: the parts of errors have the same few names everywhere (`_ATTRIBUTES`), and what has none of them still says
something in `str()`. The same words arrive wrapped in any order, as a dict within an exception, as JSON within a string within
JSON, as the repr of a dict that a logger cut off, so the walk goes by what a value is, not by where it is.

The provider's own words are distinguished from words that only travel with them. A body may echo the request, and an answer may
talk about context windows: `_ECHO_KEYS` are not opened, and of an answer only its stop reason is taken.

Laws: never raises; survives cycles, attributes that raise and mocks that have every attribute; never does I/O (an unread body stays
unread); bounded in depth, in nodes and in characters, so that 10 MB cost milliseconds. Leaves to others: what the words mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 8
"""How many values deep an error is opened, as in Cline; below that, a string is read as plain text, and nothing else is."""
MAX_NODES = 300
"""How many objects of one layer are opened."""
MAX_ITEMS = 40
"""How many items of one container are examined, and how many codes and fields are kept."""
MAX_PARSED_CHARS = 65_536
"""The longest text that is parsed as JSON; a longer one is read as plain text."""
MAX_TEXT_CHARS = 8_192
"""How many characters of one text are read: half of them from its head, half from its tail."""
MAX_TEXTS = 24
"""How many different texts of one layer are kept."""
MAX_LAYERS = 8
"""How many exceptions of a chain are examined, groups included."""

_ATTRIBUTES = (
    "status_code",
    "http_status",
    "status",
    "code",
    "type",
    "reason",
    "message",
    "error",
    "errors",
    "detail",
    "details",
    "body",
    "response",
    "headers",
    "content",  # before text: bytes need no guess of an encoding
    "text",
)
_CODE_KEYS = frozenset(
    {
        "code",
        "type",
        "status",
        "error_type",
        "error_code",
        "__type",
        "reason",
        "name",
        "errorcode",
        "errortype",
        "quotaid",
    }
)
_STATUS_KEYS = frozenset({"status_code", "statuscode", "http_status", "httpstatuscode", "status", "code"})
_STOP_KEYS = frozenset({"finish_reason", "finishreason", "stop_reason", "stopreason"})
_DIGITS = "0123456789,._"
_DELAY_KEYS = frozenset({"retrydelay", "retry_delay"})
_HEADER_KEYS = frozenset({"headers", "httpheaders", "response_headers"})
_ANSWER_KEYS = frozenset({"choices", "candidates", "output", "outputs", "delta"})
# What the caller or the model said, and names: not the provider's words. Validation errors of FastAPI carry the `input`.
_ECHO_KEYS = frozenset(
    {
        *("messages", "input", "inputs", "prompt", "contents", "content", "system", "tools", "request", "request_body"),
        *("params", "kwargs", "model", "id", "request_id", "requestid", "url", "doc_url", "more_info", "loc", "param"),
        *("usage", "usagemetadata", "trace", "traceback", "stack", "instructions", "provider_name", "metrics"),
    }
)
_KEPT_HEADERS = frozenset({"retry-after", "retry-after-ms"})


class Evidence:
    """What one layer of an error says: flattened texts, codes, numbers by field, HTTP statuses, headers and stop reasons.

    Everything except the values of fields is in lower case. Texts are in the order in which they were found, each only once; if a
    field occurs several times, the first counts. Only those headers are kept that say how long to wait.
    """

    __slots__ = ("codes", "fields", "headers", "statuses", "stops", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.codes: list[str] = []
        self.fields: dict[str, int] = {}
        self.headers: dict[str, str] = {}
        self.statuses: list[int] = []
        self.stops: list[str] = []


def layers(error: object) -> Iterator[Evidence]:
    """Yield the evidence of an error, then of each exception that it wraps: outermost first.

    An exception wraps its cause, else the one during whose handling it was raised (unless `from None` says that it is unrelated),
    and the members of a group. The walk is lazy, since most errors speak for themselves and the rest is never examined.
    """
    seen: list[object] = []  # the objects, not their ids: the id of a collected object may be reused
    waiting: list[object] = [error]
    while waiting and len(seen) < MAX_LAYERS:
        current = waiting.pop(0)
        if current is None or any(current is other for other in seen):
            continue
        seen.append(current)
        yield _Walker().collect(current)
        if isinstance(current, BaseException):
            cause = _attribute(current, "__cause__")
            if cause is None and _attribute(current, "__suppress_context__") is not True:
                cause = _attribute(current, "__context__")
            waiting.append(cause)
            inner = _attribute(current, "exceptions")  # an ExceptionGroup
            if isinstance(inner, tuple | list):
                waiting.extend(inner[:MAX_LAYERS])


class _Walker:
    """One bounded walk over one layer.

    `visit` takes any value and dispatches it by its type: numbers to `number`, strings to `string`, containers and objects to
    `open`. `key` is the name of a value, in lower case, and decides what a leaf means: 429 under `code` is a status, under `limit`
    a field; "rate_limit_exceeded" under `type` is a code, under `message` a text. Items of a list have the key of the list.
    """

    def __init__(self) -> None:
        self.found = Evidence()
        self.seen: dict[int, object] = {}

    def collect(self, error: object) -> Evidence:
        """Return what one layer of an error says."""
        self.visit(error, "", 0)
        return self.found

    def visit(self, value: object, key: str, depth: int) -> None:
        """Examine a value found under `key`, unless it is too deep or the limit is reached."""
        if value is None or len(self.seen) >= MAX_NODES:
            return
        if depth > MAX_DEPTH:
            if isinstance(value, str) and key not in _CODE_KEYS:
                self.text(value)  # flat reading goes no deeper
            return
        if isinstance(value, bool):  # before int, which it is in Python: `true` is not a count
            return
        if isinstance(value, int):
            self.number(key, int(value))
        elif isinstance(value, str):
            self.string(value, key, depth)
        elif isinstance(value, bytes | bytearray | memoryview):
            self.string(_decode(value), key, depth)
        elif isinstance(value, float):
            if value.is_integer():
                self.number(key, int(value))
        # Each object once: cycles end, and what is reachable in two places is read in the first. The object is kept, not only its
        # id: an object made on the way (a computed attribute) may be collected before the walk ends, and its id reused.
        elif id(value) not in self.seen:
            self.seen[id(value)] = value
            self.open(value, key, depth)

    def open(self, value: object, key: str, depth: int) -> None:
        """Look into a container or an object, `depth` values below the error."""
        try:
            if isinstance(value, Mapping):
                for _, (name, item) in zip(range(MAX_ITEMS), value.items(), strict=False):
                    self.entry(str(name).lower(), item, depth)
            elif isinstance(value, list | tuple | set | frozenset):
                # A list of objects is not a level (`errors: [{…}]`); lists in lists are, or their nesting would have no end.
                for _, item in zip(range(MAX_ITEMS), value, strict=False):
                    self.visit(item, key, depth if isinstance(item, Mapping) else depth + 1)
            else:
                self.attributes(value, key, depth)
        except Exception:  # noqa: BLE001 - a hostile container ends its own walk, not ours
            return

    def entry(self, name: str, item: object, depth: int) -> None:
        """Examine one entry of a mapping: headers and answers are read for what they report, echoes of the request are not."""
        if name in _HEADER_KEYS:
            self.header_lines(item)
        elif name in _ANSWER_KEYS:
            self.answer(item)
        elif name not in _ECHO_KEYS:
            self.visit(item, name, depth + 1)

    def attributes(self, value: object, key: str, depth: int) -> None:
        """Read an exception, a response or an SDK model by the attributes that errors have, and by its `str()`."""
        # A message or a completion passed by mistake, or wrapped in an error: its words are the model's.
        if isinstance(choices := _attribute(value, "choices"), list) or isinstance(_attribute(value, "role"), str):
            self.answer(choices if isinstance(choices, list) else value)
            return
        unread = _attribute(value, "_content") is False  # the body has not been read yet; accessing it would be I/O
        texts = len(self.found.texts)
        for name in _ATTRIBUTES:
            if unread and name in {"text", "content"}:
                continue
            item = _attribute(value, name)
            if item is None or callable(item):
                continue
            if name == "headers":
                self.header_lines(item)
            elif not (name == "text" and len(self.found.texts) > texts):  # the same body again, decoded by a guess
                self.visit(item, name, depth + 1)
        if isinstance(value, BaseException):
            self.code(type(value).__name__)
            for argument in value.args[:MAX_ITEMS]:
                self.visit(argument, "", depth + 1)
        # SDKs put words into the message alone; for other objects the repr is noise if an attribute has spoken.
        if isinstance(value, BaseException) or len(self.found.texts) == texts:
            self.string(str(value), key, depth)

    def number(self, key: str, value: int) -> None:
        """Keep a number as a status if its key may hold one and it can be one, else as a field."""
        if key in _STATUS_KEYS and 100 <= value <= 599:
            self.found.statuses.append(value)
        elif key and len(self.found.fields) < MAX_ITEMS:
            self.found.fields.setdefault(_snake(key), value)

    def code(self, value: str) -> None:
        """Keep a code, unless it is a sentence."""
        if 0 < len(value) <= 100 and len(self.found.codes) < MAX_ITEMS:
            self.found.codes.append(value.lower())

    def string(self, value: str, key: str, depth: int) -> None:
        """Keep a string as what its key makes of it; else open it as JSON or a stream; else read it as text."""
        if key in _STOP_KEYS:
            self.found.stops.append(value[:40].lower())
            return
        if key in _DELAY_KEYS:
            self.found.headers["retry-delay"] = value[:40].lower()
            return
        if key in _CODE_KEYS and len(value) <= 100:
            if value.isdigit() and key in _STATUS_KEYS and len(value) == 3:
                self.number(key, int(value))
            self.code(value)
            if (
                " " not in value
            ):  # words under `code` are read as words too: xAI's is "Client specified an invalid argument"
                return
        if len(value) <= MAX_PARSED_CHARS and self.structured(value, key, depth):
            return
        self.text(value)

    def structured(self, value: str, key: str, depth: int) -> bool:
        """Read JSON, alone or after some words, and server-sent events; False if the string is neither.

        "Error code: 400 - {…} trailing words" is all three: the words before, the object, the words after. A repr of a Python dict
        or JSON that was cut off does not parse; `text` then extracts fields from it by pattern.
        """
        if lines := [line[5:] for line in value.splitlines() if line.startswith("data:")]:
            for line in lines[:MAX_ITEMS]:
                self.string(line.strip(), key, depth + 1)
            return True
        start = value.find("{")
        if start < 0 or depth >= MAX_DEPTH:
            return False
        try:
            parsed, end = json.JSONDecoder().raw_decode(value, start)
        except (ValueError, RecursionError):
            return False
        if not isinstance(parsed, dict) or not parsed:
            return False
        before, after = value[:start].strip(" \n\t\r[("), value[end:].strip(" \n\t\r])")
        if before:
            self.text(before)
        if len(after) > 2:
            self.text(after)
        self.open(parsed, key, depth)
        return True

    def text(self, value: str) -> None:
        """Keep one text: bounded, escapes of any nesting undone, and fields that look like JSON or a Python repr extracted.

        Numbers in such fields are kept as fields and removed from the words, where they would be misread: the 400 of `"code": 400`
        next to a count of tokens is not a second count.
        """
        if len(value) > MAX_TEXT_CHARS:
            head, tail = value[: MAX_TEXT_CHARS // 2], value[-MAX_TEXT_CHARS // 2 :]
            value = f"{head.rstrip(_DIGITS)} … {tail.lstrip(_DIGITS)}"  # a number that was cut does not count
        flat = flatten(value)
        if flat.count("{") > flat.count("}"):  # the end was cut off, perhaps within a number
            flat = flat.rstrip(_DIGITS + " ")
        if not flat or flat in self.found.texts or len(self.found.texts) >= MAX_TEXTS:
            return
        if ":" in flat:  # the repr of a dict, or JSON that was cut off: its fields by pattern
            for match in _field().finditer(flat):
                name = match["key"]
                if match["text"] is not None:
                    if name in _CODE_KEYS:
                        self.code(match["text"])
                    elif name in _DELAY_KEYS:
                        self.found.headers["retry-delay"] = match["text"][:40]
                elif match["number"] is not None:
                    self.number(name, int(match["number"]))
            flat = _field_number().sub(" ", flat)
        # "Error code: 400 - …": a status that a wrapper put into words goes to the statuses, and out of the sentence.
        if (status := _spoken_status().search(flat)) is not None:
            self.found.statuses.append(int(status[1] or status[2]))
            flat = f"{flat[: status.start()]} {flat[status.end() :]}"
        for match in _leading_status().finditer(flat):
            self.found.statuses.append(int(match[1] or match[2]))
        self.found.texts.append(_leading_status().sub(" ", flat))

    def header_lines(self, value: object) -> None:
        """Keep the headers that say how long to wait, from a mapping or from pairs of text or bytes."""
        try:
            items: Any = value.items() if hasattr(value, "items") else value
            for _, (name, item) in zip(range(200), items, strict=False):
                lower = (name.decode("latin-1") if isinstance(name, bytes) else str(name)).lower()
                if lower in _KEPT_HEADERS:
                    self.found.headers[lower] = (item.decode("latin-1") if isinstance(item, bytes) else str(item))[:40]
        except Exception:  # noqa: BLE001 - headers of any shape may raise; then there are none
            return

    def answer(self, value: object) -> None:
        """Keep why an answer stopped, which may be an error; what the model said is not."""
        items = value if isinstance(value, list | tuple) else [value]
        for item in items[:4]:
            for key in ("finish_reason", "stop_reason", "finishReason", "stopReason"):
                stop = item.get(key) if isinstance(item, Mapping) else _attribute(item, key)
                if isinstance(stop, str):
                    self.found.stops.append(stop[:40].lower())


def flatten(text: str) -> str:
    r"""Return a text as every pattern of this package expects it: in lower case, on one line, without mere wrapping.

    Escapes of any depth (`\\"`), entities and typographic quotes are undone; markup and addresses are removed, since a URL holds
    words and digits ("/errors/context_length_exceeded") that nobody said. White space of any length becomes one blank.
    """
    if "\\" in text:
        text = _escape().sub(_unescape, text)
    if "&" in text:
        for entity, char in (
            ("&gt;", ">"),
            ("&lt;", "<"),
            ("&quot;", '"'),
            ("&#39;", "'"),
            ("&#x27;", "'"),
            ("&amp;", "&"),
        ):
            text = text.replace(entity, char)
    text = text.lower().replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
    if "</" in text:  # markup only if a tag closes somewhere: "n <ctx and ctx> n" is none
        text = _tag().sub(" ", text)
    if "://" in text:
        text = _address().sub(" ", text)
    return " ".join(text.split())


def _unescape(match: re.Match[str]) -> str:
    """Return what a run of backslashes and the character after it represent: JSON in JSON doubles them at every level."""
    escaped = match[1]
    if not escaped:
        return " "
    if escaped[0] == "u" and len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return " " if escaped in "nrt" else escaped if escaped in "\"'/`" else " "


# Patterns are compiled when they are first needed: most programs import this package and never meet an error.
@cache
def _escape() -> re.Pattern[str]:
    """A run of backslashes with what it escapes."""
    return re.compile(r"\\+(u[0-9a-fA-F]{4}|[\s\S]|$)")


@cache
def _tag() -> re.Pattern[str]:
    """A tag of markup, opening or closing."""
    return re.compile(r"</?[a-z!][^<>]{0,200}>")


@cache
def _address() -> re.Pattern[str]:
    """A URL of any scheme."""
    return re.compile(r"\b[a-z][a-z+.-]{1,10}://[^\s\"'<>)\]]+")


@cache
def _field() -> re.Pattern[str]:
    """A quoted name with a short text or a whole number: a field of JSON or of a repr."""
    return re.compile(
        r"""["'](?P<key>[a-z_]\w{0,40})["']\s*:\s*(?:["'](?P<text>[^"'\\]{0,100})["']|(?P<number>\d{1,12})(?![\w.]))"""
    )


@cache
def _field_number() -> re.Pattern[str]:
    """The same with any number, to remove it; only before a comma, a bracket or the end, where a value ends."""
    return re.compile(r"""["'][a-z_]\w{0,40}["']\s*:\s*-?\d+(?:\.\d+)?(?=\s*[,}\]]|\s*$)""")


@cache
def _spoken_status() -> re.Pattern[str]:
    """A status in words ("HTTP 429", "status code: 400"), or at the very beginning where no tokens are counted."""
    return re.compile(
        r"(?:status(?:[ _]?code)?|http(?:/\d(?:\.\d)?)?|error code|code)\W{1,3}([1-5]\d\d)\b|^\W{0,2}([1-5]\d\d)\b(?! tokens)"
    )


@cache
def _leading_status() -> re.Pattern[str]:
    """A status before a sentence: `"message": "400 Input is too long"`, `<400> InternalError.Algo`.

    "400 tokens" is a count, "9000 > 522" a comparison.
    """
    status = r"(40\d|41[0-8]|42[2-9]|50[0-4]|52\d)"
    return re.compile(
        rf"(?:(?<=^)|(?<=[\"'])|(?<=[^\s\d]>))\s?{status}\b[>\])]?:?(?=\s[a-z`'\"<](?!okens\b))|<{status}>(?=\s[a-z])"
    )


def _snake(name: str) -> str:
    """Return a name as fields have it in Python: headers and some bodies use dashes."""
    return name.replace("-", "_")


def _decode(value: bytes | bytearray | memoryview) -> str:
    """Return bytes as text, of many only head and tail; a character that is cut in half becomes U+FFFD."""
    is_long = len(value) > MAX_PARSED_CHARS
    raw = bytes(value[:MAX_TEXT_CHARS]) + b" ... " + bytes(value[-MAX_TEXT_CHARS:]) if is_long else bytes(value)
    return raw.decode("utf-8", "replace")


def _attribute(value: object, name: str) -> object:
    """Return an attribute, None if it is missing or reading it raises."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property that raises counts as missing
        return None
