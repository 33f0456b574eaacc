"""How is text measured, shown and cut? Tokens, allowances, fitting, escapes, windows, and notices that rooms share.

The lowest room: it knows nothing of files, providers or sessions, and every other room uses it.
"""
