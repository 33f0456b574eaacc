"""How is text measured, cut, escaped and shown? Tokens, allowances, windows, calls: the words and measures of every room."""
