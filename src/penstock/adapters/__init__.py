"""Which agent frameworks can it serve? One module each: `pydantic_ai`, `openai_agents`, `langchain` (and deepagents), `strands`.

Each has a `ContextWindow` that plugs into the framework's own hooks, and imports the framework only when it is imported itself:

    from penstock.adapters.pydantic_ai import ContextWindow

What they share is in `fitting` (what a request may be) and `parts` (a framework's messages as a request's). Leaves to others: the
frameworks, which are the user's own dependencies. docs/adapters.md says how to set each one up.
"""
