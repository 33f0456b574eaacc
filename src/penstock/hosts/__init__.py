"""Stand where other agents work: behind the hooks of their hosts.

`results` knows what each host says of a finished call and how it takes an answer, `hook` is the process that a host starts
after a call. Keeps out: how a text is cut (`text.fitting`) and where the whole lies (`store`).
"""
