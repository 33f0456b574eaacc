"""What does docs/configuration.md say? It is written from the records that are read: names and defaults from the code, sentences
from here.

Law: a setting that the code reads and this page does not name, or the other way round, is an error. Leaves to others: how a setting
is read.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

from penstock import settings
from penstock.agent.command_limits import MAX_FILE_BYTES, MAX_OPEN_FILES, MAX_PROCESSES
from penstock.guard.output import MAX_TOOL_OUTPUT_CHARS
from penstock.scribe import MAX_PROMPT_TOKENS
from penstock.session.limits import PROFILES, ErrorLimits, Limits
from penstock.store.kept import LIFE_SECONDS, LIMIT_BYTES
from penstock.text.fitting import CHARS_PER_TOKEN
from penstock.wires import WIRES, wire_named

SOURCE = Path(__file__).parent.parent / "src" / "penstock"
VARIABLE = re.compile(r"(?:PENSTOCK|QQ|SCRIBE)_[A-Z_]+")
MODEL_VARIABLE = re.compile(r"(?:AWS|ANTHROPIC|GEMINI(?!_CLI)|GOOGLE)_[A-Z_]+|OPENAI_(?!CHAT|RESPONSES)[A-Z_]+")
INTERNAL = {
    *("PENSTOCK_COMPLETE", "PENSTOCK_LINE", "PENSTOCK_BREAKS", "PENSTOCK_GUARDED"),
    *("PENSTOCK_RELAY_URL", "PENSTOCK_RELAY_HEADER"),
}
"""Variables set by the scripts of `penstock completion` for one call, by the file of `penstock guard --shell-file`, and by the
entries of `penstock install --relay`; nobody sets them by hand.
"""

ENVIRONMENT = {
    "PENSTOCK_STORE": (
        "`~/.local/state/penstock`",
        "Where outputs and sessions are [kept](store.md): a folder, `sqlite:///path` or `postgresql://…`; `--store` wins.",
    ),
    "PENSTOCK_STORE_LIMIT_BYTES": (
        f"{LIMIT_BYTES}",
        "What outputs and journals may take together; the oldest outputs that no session names go first.",
    ),
    "PENSTOCK_STORE_OBJECTS": (
        "",
        "Where outputs of 1 MiB and more are kept: [`s3://BUCKET/FOLDER`](store.md#large-outputs-in-an-object-store), `gs://…` or `az://…`.",
    ),
    "PENSTOCK_STORE_LIFE_DAYS": (f"{LIFE_SECONDS / 86_400:g}", "How many days an output is kept."),
    "PENSTOCK_ALLOW_SECRETS": (
        "0",
        "1 lets every command and server read files whose names suggest credentials; no settings file can.",
    ),
    "PENSTOCK_STORE_REDACT": (
        "0",
        "1 keeps outputs with [marks in place of secrets](store.md#secrets-in-what-is-kept); no settings file can.",
    ),
    "PENSTOCK_NO_CACHE": (
        "0",
        "1 lets `impact` use and keep [nothing of earlier questions](impact.md#what-is-kept-for-the-next-question).",
    ),
    "PENSTOCK_STORE_KEEP_DAYS": (
        "",
        "Sessions unused for this many days go when another begins, and so do outputs that none names. If not set, they stay.",
    ),
    "PENSTOCK_STORE_KEEP_BYTES": (
        "",
        "Above this many bytes in all, the least recently used go, down to nine tenths. If not set, only the limit applies.",
    ),
    "PENSTOCK_STORE_KEEP_SESSIONS": ("", "How many sessions stay, the most recently used. If not set, all stay."),
    "PENSTOCK_QUEUE": ("", "The PostgreSQL database that holds [the work of many machines](queue.md); `--queue` wins."),
    "PENSTOCK_QUEUE_LEASE_SECONDS": (
        "45",
        "After how many seconds of silence a worker's jobs go to others. The same for all workers; below 30, live ones lose jobs.",
    ),
    "PENSTOCK_COMMAND_PROCESSES": (
        f"{MAX_PROCESSES}",
        "How many processes and threads a [command](acting.md#the-shell) may have at once; `--command-limit processes=N` wins.",
    ),
    "PENSTOCK_COMMAND_MEMORY_BYTES": (
        "three quarters of the machine's",
        "How much memory it may use; `--command-limit memory-bytes=N` wins.",
    ),
    "PENSTOCK_COMMAND_OPEN_FILES": (
        f"{MAX_OPEN_FILES}",
        "How many files each of its processes may have open; `--command-limit open-files=N` wins.",
    ),
    "PENSTOCK_COMMAND_FILE_BYTES": (
        f"{MAX_FILE_BYTES}",
        "How large a file it may write; `--command-limit file-bytes=N` wins. No settings file can set these four.",
    ),
    "PENSTOCK_MAX_TOOL_OUTPUT": (
        f"{MAX_TOOL_OUTPUT_CHARS}",
        "How many characters a [guarded](guard.md) result may have. Read on every call; an invalid value causes a warning.",
    ),
    "PENSTOCK_CHARS_PER_TOKEN": (
        f"{CHARS_PER_TOKEN:g}",
        "How many characters the guard's notices assume per token when nothing was counted.",
    ),
    "SCRIBE_MAX_PROMPT_TOKENS": (
        f"{MAX_PROMPT_TOKENS}",
        "How many tokens a complete prompt of `chunk` and [`document`](document.md) may have; `--max-prompt-tokens` wins.",
    ),
    "QQ_MAX_TOOL_OUTPUT": ("", "Another name for `PENSTOCK_MAX_TOOL_OUTPUT`, which wins."),
    "QQ_CHARS_PER_TOKEN": ("", "Another name for `PENSTOCK_CHARS_PER_TOKEN`, which wins."),
}
FOREIGN = {
    "XDG_STATE_HOME": "Where the folder `penstock` with the store and the token of `mcp --http` is, instead of `~/.local/state`.",
    "NO_COLOR": "If set to anything, turns colours off on a terminal.",
    "TERM": "`dumb` turns tables, progress and colours off.",
    "TMPDIR": "Where the private folder of a session's [commands](acting.md) is created, instead of `/tmp`; scratch files too, if "
    "`/var/tmp` is not writable.",
}
MODELS = {
    "AWS_REGION": "The region of Amazon Bedrock.",
    "AWS_DEFAULT_REGION": "The same, if `AWS_REGION` is not set.",
    "AWS_ACCESS_KEY_ID": "Together with the next one, the keys that sign requests to Bedrock if there is no bearer token; they "
    "take precedence over those that boto3, which has to be installed, finds.",
    "AWS_SECRET_ACCESS_KEY": "The secret of that key.",
    "AWS_SESSION_TOKEN": "The session token of temporary keys.",
    "AWS_ENDPOINT_URL": "The address of an S3-compatible server, for [large "
    "outputs](store.md#large-outputs-in-an-object-store).",
    "AWS_ALLOW_HTTP": "1 if that address begins with `http://`.",
    "OPENAI_ORG_ID": "The organisation that OpenAI bills.",
    "OPENAI_PROJECT_ID": "The project that OpenAI bills.",
}
CONNECTIONS = {
    "HTTPS_PROXY": "The proxy for providers with an `https://…` address; a server on this machine is contacted directly.",
    "HTTP_PROXY": "The same for `http://…` addresses.",
    "ALL_PROXY": "The proxy if neither is set.",
    "NO_PROXY": "Hosts that are contacted directly, separated by commas; `*` for all. All four are also read in lower case.",
    "SSL_CERT_FILE": "A file with the trusted certificate authorities, instead of the system's.",
    "SSL_CERT_DIR": "The same as a folder, if no file is named.",
}
LIMITS = {
    "name": "The profile's name in reports.",
    "window_tokens": "The context window for which the limits are stated; `--window`, the model and refusals scale them.",
    "reserve_tokens": "What is kept free for the reply, at most a quarter of the window.",
    "rungs": "What happens from how many tokens of a window of 128,000, or from which turn: a list of tables with "
    "`pressure` (`WATCH`, `COMPACT`, `COMPACT_HARD`, `HAND_OFF`, `RESET`), `tokens`, `turns`, and `above` if the number "
    "has to be exceeded.",
    "compress_share": "Above this share of the window, old results are cleared, whatever the rungs say.",
    "turns": "How many turns a typical session takes, `[least, most]`; advice in reports, not a limit.",
    "errors": "When failures end the work; see the table below.",
    "loop_advice": "After how many equal calls with equal results the model is told.",
    "loop_end": "After how many the work ends.",
    "domain_boundaries": "Whether turning to another part of the project is a point to hand off.",
}
ERRORS = {
    "row": "How many failures in a row pause calls.",
    "total": "How many failures end the session.",
    "within_turns": "Only failures within this many recent turns count; without it, all do.",
    "cured_count": "Whether a failure that a retry cured counts.",
    "cooldown_seconds": "How long calls are paused after failures in a row.",
}

HEAD = """\
# Configuration: every setting and environment variable

Generated by `scripts/docs` from the records that the program reads. Defaults come first, then `penstock.toml` in the root, then the
environment, then flags and arguments: the last one wins. An empty variable counts as one that is not set: it never widens what may
be read, and every limit keeps its default. An invalid variable or flag is an error that names what would be valid; an invalid file
is reported on standard error and ignored, because it may belong to somebody else's project.
The flags are on [the page of the command line](cli.md).

## `penstock.toml`

The file is in the folder that `--root` names. It may be a stranger's, so it can set only what does no harm: nothing in it
widens what may be read, or empties your store ([why](adr/0008-settings-cannot-widen.md)).

"""
PROFILE = """
## Profiles

A session's limits are a profile: `penstock run --profile NAME`. There are {names};
[sessions](sessions.md) says what they do. A table `[profiles.NAME]` in `penstock.toml`
defines another one, with only what differs from its `base` (`default` if none is named):

```toml
view_lines = 200

[profiles.careful]
base = "default"
reserve_tokens = 12000
loop_advice = 2
errors = {{ total = 3 }}
```

| Name | Default | What it is |
|---|---|---|
"""
ERRORS_HEAD = """
In `errors`:

| Name | Default | What it is |
|---|---|---|
"""
ENVIRONMENT_HEAD = """
## Environment

| Variable | Default | What it is |
|---|---|---|
"""
MODELS_HEAD = """
## Models

A model over HTTP takes its key and its address from the variables that the provider's own SDK reads; `--base-url` wins.

| Wire | Key | Address | Default address |
|---|---|---|---|
"""
MODELS_ALSO = """
Further variables, for the connection and for single providers:

| Variable | What it is |
|---|---|
"""
SERVER = """
## An MCP server

A host starts `penstock mcp` with its own environment, often nearly empty. Put what the server needs to know
into the host's configuration:

```json
{
  "mcpServers": {
    "penstock": {"command": "penstock", "args": ["mcp", "--root", "."], "env": {"PENSTOCK_STORE": "/path/to/store"}}
  }
}
```
"""


def page() -> str:
    """Return the page. An `AssertionError` names a setting that the code reads and the page lacks, or the other way round."""
    of_records = {f"PENSTOCK_{name.upper()}" for name in settings.Settings._fields}
    _must_equal(_strings_of_source(VARIABLE) - of_records - INTERNAL, set(ENVIRONMENT), "variables")
    _must_equal(_strings_of_source(MODEL_VARIABLE) - _in_the_table_of_models(), set(MODELS), "variables of models")
    _must_equal({field.name for field in fields(Limits)}, set(LIMITS), "limits")
    _must_equal({field.name for field in fields(ErrorLimits)}, set(ERRORS), "limits of errors")
    names = ", ".join(f"`{name}`" for name in PROFILES)
    return "".join(
        (
            HEAD,
            "| Name | Variable | Default | What it is |\n|---|---|---|---|\n",
            *_settings_rows(),
            PROFILE.format(names=names),
            *_record_rows(Limits, LIMITS),
            ERRORS_HEAD,
            *_record_rows(ErrorLimits, ERRORS),
            ENVIRONMENT_HEAD,
            *(f"| `{name}` | {default} | {what} |\n" for name, (default, what) in ENVIRONMENT.items()),
            *(f"| `{name}` | | {what} |\n" for name, what in FOREIGN.items()),
            MODELS_HEAD,
            *_model_rows(),
            MODELS_ALSO,
            *(f"| `{name}` | {what} |\n" for name, what in (MODELS | CONNECTIONS).items()),
            SERVER,
        )
    )


def _settings_rows() -> list[str]:
    rows = []
    words = _attribute_docstrings(SOURCE / "settings.py", "Settings")
    for name, default in settings.Settings._field_defaults.items():
        rows.append(f"| `{name}` | `PENSTOCK_{name.upper()}` | {default:g} | {words[name]} |\n")
    return rows


def _record_rows(record: type, words: dict[str, str]) -> list[str]:
    """The rows of a record; a default is that of the profile `default`, which is the record's own."""
    own = PROFILES["default"] if record is Limits else PROFILES["default"].errors
    rows = []
    for field in fields(record):
        value = getattr(own, field.name)
        shown = "" if value is None or isinstance(value, tuple | ErrorLimits) else str(value)
        shown = shown.lower() if isinstance(value, bool) else shown  # as in TOML
        rows.append(f"| `{field.name}` | {shown} | {words[field.name]} |\n")
    return rows


def _model_rows() -> list[str]:
    rows = []
    for wire in WIRES:
        service = wire_named(wire).service
        keys = ", ".join(f"`{key.variable}`" for key in service.keys)
        rows.append(f"| `{wire}` | {keys} | `{service.base_url_variable}` | `{service.base_url}` |\n")
    return rows


def _attribute_docstrings(path: Path, name: str) -> dict[str, str]:
    """Return the docstring of each attribute of a class."""
    tree = ast.parse(path.read_text("utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    found = {}
    for attribute, below in pairwise(body):
        if (
            isinstance(attribute, ast.AnnAssign)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            assert isinstance(attribute.target, ast.Name)
            found[attribute.target.id] = str(below.value.value)
    return found


def _strings_of_source(pattern: re.Pattern[str]) -> set[str]:
    """Return the names matching a pattern that occur in the source's strings."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        source = path.read_text("utf-8")
        if not pattern.search(source):  # nine files of ten, and walking a tree takes a hundred times as long
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(pattern.findall(node.value))
    return {name for name in found if not name.endswith("_")}


def _in_the_table_of_models() -> set[str]:
    """Return the variables of keys and addresses, which have columns of their own."""
    services = [wire_named(wire).service for wire in WIRES]
    return {key.variable for service in services for key in service.keys} | {
        service.base_url_variable for service in services
    }


def _must_equal(read: set[str], told: set[str], what: str) -> None:
    assert read == told, (
        f"{what}: the code has {sorted(read - told)} and docs/configuration.md {sorted(told - read)} more"
    )
