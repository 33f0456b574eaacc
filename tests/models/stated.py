"""What does each form of refusal state? Written independently of the product: the numbers that a reader has to find."""

from __future__ import annotations

FORMS = ("openai", "anthropic", "vllm", "vllm-input", "vllm-lower-bound")
WIRES = ("openai-chat", "openai-responses", "anthropic")


def stated(form: str, wire: str, size: tuple[int, int, int], limit: int) -> dict[str, object] | None:
    """Return the overflow in the refusal of a request of that size; None if only the reply's length is mentioned."""
    prompt, tools, reply = size
    given = prompt + tools
    numbers: dict[str, object] = {"kind": "context_total", "limit": limit, "input": given, "output": reply or None}
    numbers |= {"total": given + reply, "excess": given + reply - limit, "bound": "exact", "unit": "tokens"}
    input_alone = {"kind": "context_input", "output": None, "total": None, "excess": given - limit}
    if form == "openai" and wire == "openai-responses":
        return numbers | input_alone | {"limit": None, "input": None, "excess": None}
    if form == "vllm-lower-bound":
        if reply > limit:
            return None
        floor = {"input": limit - reply + 1, "output": reply, "total": limit + 1, "excess": 1, "bound": "lower_bound"}
        return numbers | floor | ({} if reply else {"kind": "context_input"})
    if form in {"anthropic", "vllm-input"}:
        return numbers | (input_alone if given > limit else {"total": None})
    return numbers if reply else numbers | input_alone
