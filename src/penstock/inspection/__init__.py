"""Where did a session's context go? What its record tells, the story of it, and a page of that (X-2).

Whoever can read a record says what happened in it, one thing after another (`happenings`): the files of other agents
(`hosts.sessions`) and our own journal. Everything behind that is the same for all of them. Law: what fills the window is the sum
of what is listed. Keeps out: files, hosts, and what should be done about it.
"""
