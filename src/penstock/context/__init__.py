"""How does a request fit into a context window? Counting, planning, recovering, handing off (S-4, S-9, R-1 to R-3).

`sized` and `counts` measure, `bill` itemises, `compaction` plans what is forgotten before a window is full, `recovery`
what is sent after a refusal (over the `ladder`, by `provider_counts`), `handoff` what a fresh session begins with, and
`activity` reads from foreign tools' calls what was done. All of it is pure: no clock, no disk, no model.
"""
