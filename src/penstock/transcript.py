"""One history for the message lists of every API: the public path of `penstock.wires`.

`load` reads a list of messages of any wire, `dump` writes it back byte for byte; `violations` lists what a provider would reject,
and `repair` repairs it (R-8, R-9).

    >>> from penstock.transcript import dump, load
    >>> messages = [{"role": "user", "content": "Hi."}]
    >>> dump(load(messages, "openai-chat"), "openai-chat") == messages
    True

For a request as a whole: `load_request`, `compose_request`, `dump_request`, `reply_tokens`. For an answer: `answer_messages`,
`answer_words`, `output_tokens`. For a conversation: `begin`, `text_message`, `result_messages`. For tools: `tool_definitions`.
`WIRES` lists the supported APIs, `wire_of` detects the API of a body.

Forgetting is an edit: `Cleared`, `Collapsed` and `Pinned` change what is shown, never what was said.
"""

from __future__ import annotations

from penstock.wires import *  # noqa: F403 - the very names of that room
from penstock.wires import __all__  # noqa: F401
