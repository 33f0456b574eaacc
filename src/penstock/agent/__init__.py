"""Who acts? The loop that drives a session, its toolbox, edits, sandboxed commands, and what its journal says.

`loop` asks a session what is next and does it; `toolbox` runs the calls of a model, with `editing` and `shell` if the user
allows them; `sandbox` confines a command; `file_check` compares files when a session resumes; `figures` and `picture` read its
journal. This is the only room of the agent that has a clock, files and processes.
"""
