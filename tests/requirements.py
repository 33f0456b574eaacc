"""The manifest: every item of the behaviour that Penstock must have, and whether it is built yet.

A test proves items by `@pytest.mark.proves("V-3")`; `test_requirements.py` checks both directions: an item that is built has
a test that names it, and a test names only items that are. What is pending is counted there, and printed.
"""

from __future__ import annotations

BUILT: dict[str, str] = {
    "V-1": "view(file_path, offset=0, limit=100); the default is written once",
    "V-2": "offset is lines to skip",
    "V-3": "the result says `showing lines X-Y of Z total`",
    "V-4": "the next call is given only when there is more",
    "V-5": "a larger limit is honoured up to the budget; the bound that won is named; view_lines is a setting",
    "V-6": "the total is exact to 64 MiB and wherever the index is complete, else `at least`; any shape of file",
    "V-7": "line numbers in a compact gutter; tabs and printable characters unchanged",
    "V-8": "a line over 2,000 characters is clipped between characters, says what is hidden and how to read it",
    "V-9": "NAVIGATION is a text for system prompts",
    "V-10": "bounds apply to the section, never to the file",
    "V-11": "a missing file names similar paths; a directory points at list_files",
    "V-12": "a view costs 93 % and 94.5 % less than the whole; a header at most 60 tokens",
    "B-1": "read_file: line mode, byte mode, whole or outline; all 16 combinations",
    "B-2": "line mode: 1-based, inclusive, numbered as cat -n, stops at a line start above 256 KiB",
    "B-3": "64 KiB by default, 256 KiB at most, the cap in force printed",
    "B-4": "whole lines only: start snaps back, end rounds up, or down at the cap",
    "B-5": "a line longer than the cap is read as characters; paging always advances",
    "B-6": "the end of the file; max_bytes=0 gives a line",
    "B-7": "offsets on disk, BOM, base64, UTF-16/32, binary refused",
    "B-8": "paging back, versions, stale pages, files that grew",
    "B-9": "a page costs its window",
    "B-10": "never raises on any integer",
    "B-11": "outlines: nested, paged, content instead, first KiB",
    "B-12": "counters: reads per task, sizes, repeats, rate-limit failures",
    "B-13": "a 400 KiB file takes at least 5 times fewer calls than 220-line paging",
    "L-1": "list_files: files only, sorted, globs over the path, regex unanchored",
    "L-2": "up to 20 matches plainly, else the seed's warning",
    "L-3": "pages of at most 100 with header and footer",
    "L-4": "count_files: totals and a table by extension",
    "L-5": ".gitignore and hidden files respected, counted, included on demand",
    "L-6": "one million files: bounded memory, loops ended, vanished files counted",
    "L-7": "search: linear time, bounded, counts per file, pages",
    "L-8": "bad patterns, negative numbers, paths outside: what to do; nothing outside is named or read; secrets refused",
    "L-9": "the contract of every tool: deadline, memory, size, nothing silent, strict types",
    "L-10": "content is inert: escapes counted, names open files, no forged header or entry",
    "G-1": "guard_output: 28,000 characters, the notice first; settings read at call time",
    "G-2": "fit: text and notice within the allowance; fitting twice changes nothing",
    "G-3": "the whole is kept; page and find read it back, bounded; an expired handle says so",
    "G-4": "wrap_tool: sync, async, generators; signature kept; objects returned as they are when they fit",
    "G-5": "totals in notices are exact; JSON on one line is paged by record",
    "G-6": "escape sequences neutralised; no forged header or notice",
    "G-7": "one allowance for results that arrive together, the largest cut first",
    "G-8": "paging tools are not cut again; a child agent has smaller limits",
    "O-1": "classify_overflow: minor, major, catastrophic, unknown",
    "O-2": "diagnose and parse: any provider's refusal, its kind and cure, numbers right or absent",
    "O-3": "silent overflow, from reported usage",
    "O-4": "the ladder: reserve, flood, old results, finished spans, a summary, a handoff, an error that itemises",
    "O-5": "every rung is measured, shrinks, and stops as soon as it fits; nothing is sent again unchanged",
    "O-6": "a catastrophe: handoff first, the flood offloaded, one smaller request; else the seed's message and a fresh start",
    "O-7": "RecoveryResult; other errors pass through untouched; a summary is one of the two calls",
    "O-8": "every request sent is valid: pairs whole, signed blocks whole, instructions and newest words verbatim",
    "O-9": "50,000 files in a window of 32,768 tokens: the session goes on",
    "LAW-Count": "low <= tokens <= high; high never falls; calibration is safe",
    "LAW-Window": "windows tile the file; text is valid; size <= cap; cost <= two caps",
    "LAW-Page": "joined pages equal the list",
    "LAW-Guarded": "text and notice within the allowance; idempotent; the rest is at the handle",
    "LAW-Transcript": "a visible result has its call; round-trips through every codec",
    "LAW-Overflow": "any text is answered or None; a number is right or absent",
    "LAW-Plan": "applied, it meets its limit or said that it cannot; idempotent; never larger; nothing lost",
    "LAW-Handoff": "decode(encode(h)) == h; unknown fields survive",
    "LAW-Allowance": "the unit is part of the type; a result is within its allowance",
}

_SESSIONS = "sessions, limits, handoff, resume, agent"
_COBOL = "documenting COBOL programs"

PENDING: dict[str, str] = {
    **{f"S-{n}": _SESSIONS for n in range(1, 14)},
    **{f"LAW-{name}": _SESSIONS for name in ("Budget", "Limits", "Step")},
    **{f"C-{n}": _COBOL for n in range(1, 14)},
    **{f"LAW-{name}": _COBOL for name in ("Chunk", "Template")},
}
