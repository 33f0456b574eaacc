"""How is text measured, shown and cut? Tokens, allowances, fitting, escapes, windows, and the notices that several
rooms share.

The lowest room: it knows nothing of files, providers or sessions, and every other room uses it.
"""
