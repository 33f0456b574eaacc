"""How does a whole file of ours start the hook in opencode, which has plugins instead of hooks (H-3)?"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING

from penstock.hosts.entries import our_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.entries import OurCommand

_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


def plugin(program: Sequence[str]) -> str:
    """Return the plugin for opencode that starts our hook."""
    text = resources.files("penstock.hosts").joinpath("opencode_plugin.js").read_text("utf-8")
    words = json.dumps([*program, "hook", "opencode"], ensure_ascii=False)
    return _COMMAND.sub(lambda _: f"const COMMAND = {words}", text, count=1)


def is_plugin(text: str) -> bool:
    """Return whether a text is our plugin for opencode, whatever it starts."""
    return command_of(text) is not None


def is_as_written(text: str) -> bool:
    """Return whether a text is exactly our plugin for opencode, except for what it starts."""
    ours = command_of(text)
    return ours is not None and text == plugin(ours.program)


def command_of(text: str) -> OurCommand | None:
    """Return what a plugin of ours starts; None for any other text."""
    found = _COMMAND.search(text)
    try:
        words = json.loads(found[1]) if found is not None else []
    except ValueError:
        return None
    return our_command(words, "hook") if all(isinstance(word, str) for word in words) else None
