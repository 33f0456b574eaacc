"""Who acts? The loop that drives a session, its toolbox, edits, commands behind a wall, and what its journal says.

`loop` asks a session what is next and does it; `toolbox` runs the calls of a model, with `editing` and `shell` where
their user allows them; `sandbox` is the wall around a command; `file_check` compares files when a session goes on;
`figures` and `picture` read its journal. This is the only room of the agent that has a clock, files and processes.
"""
