"""How does Penstock stand in front of any MCP server: all messages pass unchanged, but an oversized result is cut and kept (Y-1)?

The core takes bytes from either side and says what goes out: `json_slices` finds values in JSON without rebuilding them, `messages`
reads what a message is, `listing` and `shown` decide what changes in a list and in a result, and `conversation` remembers which
requests are open. Around it `guarding` keeps what is cut, `own_tools` gives it back, and the transports carry bytes.
"""
