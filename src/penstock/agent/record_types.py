"""Which records does the journal of a session hold besides the events of its state? Readers recognise them by these types.

The content of a record is documented where it is written: the beginning and children in `loop` and `children`, edits in `edits`,
changes on disk in `disk_changes`, spending in `purse`.
"""

from __future__ import annotations

BEGUN = "Begun"
"""The type of the first record of a session: its header, and what it was begun with."""
SEEN, TRACKED = "Seen", "Tracked"
"""Which files a tool showed or changed (`Seen`), and what they were then (`Tracked`)."""
EDITED = "Edited"
"""An edit, and the handles of both contents."""
UNDONE = "Undone"
"""An edit that a person has undone, by the id of its effect."""
CHANGED = "Changed"
"""Files that a call has changed, and what the session had found there."""
SPENDING = "Spending"
"""A change of the tree of budgets."""
MOVED = "Moved"
"""Where the session works from now on: another root than the one it began in, with its device and inode."""
TAKEN = "Taken"
"""Which process continues the session from here, by a unique name."""
CHILD, ENDED = "Child", "Ended"
"""A record of a child agent, which holds one of its own (`Child`), and the last of those (`Ended`)."""
BESIDE = frozenset({SEEN, TRACKED, EDITED, UNDONE, CHANGED, CHILD, SPENDING, MOVED, TAKEN})
"""The types of records that are not events of the session's state."""
