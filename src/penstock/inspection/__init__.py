"""Where did a session's context go? What its record says, its story, and a page that shows the story (X-2).

Whoever can read a record reports what happened in it, one thing after another (`timeline`): the files of other agents
(`hosts.sessions`) and our own journal. Everything after that is the same for all of them. Law: what fills the window is the sum of
what is listed. Leaves to others: files, hosts, and what should be done about it.
"""
