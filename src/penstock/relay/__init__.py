"""Stand before any MCP server: everything passes as it came, and a result that is too large is cut and kept (Y-1).

The core takes bytes of either side and says what goes out: `json_slices` finds values in JSON without making them anew, `messages`
reads what a message is, `listing` and `shown` say what of a list and of a result changes, and `conversation` remembers who waits
for what. Around it `guarding` keeps what is cut, `own_tools` gives it back, and the transports carry bytes.
"""
