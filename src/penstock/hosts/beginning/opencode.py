"""How is a session of opencode started? By a file that `opencode import` reads, because its database is never written.

Every message names a model, and the host continues with that one: it is the model that the host itself would choose, by its
settings or by recent use.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts import jsonc
from penstock.hosts.handing_on import folder_for
from penstock.hosts.rescue.opencode import NOTHING, identifier
from penstock.text.json_access import field, objects, string
from penstock.wires.placeholders import NOTED
from penstock.workspace.own_files import read_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sibling(_folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious file that waits for its import: among our own files."""
    return os.path.join(folder_for(environment), "none")


def records(first: First) -> list[Record]:
    """Return the one document of a new session.

    Raises:
        CallerError: The host has noted no model.
    """
    milliseconds = time.time_ns() // 1_000_000
    provider, model = _model(first.environment)
    spoken = {"agent": "build", "sessionID": first.session}
    asked, said = (identifier("msg", (milliseconds << 12) + number) for number in (1, 2))
    person = {**spoken, "role": "user", "id": asked, "model": {"providerID": provider, "modelID": model}}
    speaker = {"providerID": provider, "modelID": model, "mode": "build", "cost": 0, "tokens": NOTHING}
    answer = {**spoken, **speaker, "role": "assistant", "id": said, "parentID": asked, "finish": "stop"}
    answer["path"] = {"cwd": first.folder, "root": "/"}
    ended = {"created": milliseconds, "completed": milliseconds}
    about = {"id": first.session, "slug": "penstock", "projectID": "global", "directory": first.folder}
    times = {"created": milliseconds, "updated": milliseconds}
    return [
        {
            "info": {**about, "title": "Continues another session", "version": first.version, "time": times},
            "messages": [
                _message({**person, "time": {"created": milliseconds}}, first.text, milliseconds),
                _message({**answer, "time": ended}, NOTED, milliseconds + 1),
            ],
        }
    ]


def _message(info: Record, text: str, milliseconds: int) -> Record:
    held = {"id": identifier("prt", milliseconds << 12), "sessionID": info["sessionID"], "messageID": info["id"]}
    return {"info": info, "parts": [{"type": "text", "text": text, **held}]}


def _model(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the provider and the name of the model that the host would choose.

    Raises:
        CallerError: It has noted none.
    """
    home = environment.get("HOME", "")
    configuration = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    state = environment.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    names = [os.path.join(configuration, "opencode", f"opencode.{ending}") for ending in ("json", "jsonc")]
    for path in (environment.get("OPENCODE_CONFIG") or "", *names):
        with suppress(CallerError, ValueError, RecursionError):
            held = jsonc.to_value(jsonc.parse((read_own(path) or b"").decode())) if path else None
            provider, _, model = string(field(held, "model")).partition("/")
            if model:
                return provider, model
    with suppress(CallerError, ValueError, RecursionError):
        noted = json.loads(read_own(os.path.join(state, "opencode", "model.json")) or b"{}")
        for used in objects(field(noted, "recent")):
            if string(used.get("providerID")) and string(used.get("modelID")):
                return string(used["providerID"]), string(used["modelID"])
    raise CallerError(
        "opencode has noted no model yet. Choose one in it first, or name one as model in its opencode.json."
    )
