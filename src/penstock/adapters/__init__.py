"""Which agent frameworks can it serve? One module each: `pydantic_ai`, `openai_agents`, `langchain` (and deepagents), `strands`.

Each has a `ContextWindow` that goes in by the framework's own hooks, and imports the framework only when it is imported itself.
Keeps out: the frameworks, which are the user's own dependencies.
"""
