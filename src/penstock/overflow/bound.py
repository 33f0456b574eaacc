"""What are the numbers of a refusal worth together? `Bound`, and the check that every number must pass.

Law: a number is right or absent. A request that would fit was misread, and parts that do not add up to their total count two
different things: `checked` drops them, wherever they come from (a sentence, accompanying fields, a user's rule). Leaves to others:
how a text is read (`numbers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIMIT: Final = "limit"
"""The role of a number that says how much fits."""
INPUT: Final = "input"
"""The role of a number that counts instructions, messages and tools together."""
PART: Final = "part"
"""The role of a number that counts part of the input: so many in the messages, so many in the functions."""
OUTPUT: Final = "output"
"""The role of a number that counts the requested reply."""
TOTAL: Final = "total"
"""The role of a number that counts input and reply together."""
EXCESS: Final = "excess"
"""The role of a number that says by how much the request is above the limit."""

SMALLEST_LIMIT = 16
"""The smallest number that is taken for a limit: smaller ones count images, items or attempts."""
LARGEST = 10**10
"""The largest number that is taken for a count; if one is larger, no number of that text is believed."""


class Bound(NamedTuple):
    """The numbers of one refusal, each None if it is not stated; the fields are those of `Overflow`."""

    limit: int | None = None
    input: int | None = None
    output: int | None = None
    total: int | None = None
    excess: int | None = None
    bound: str = "exact"
    """How exact the size of the request is: `exact`, `approx` or `lower_bound`."""
    unit: str = "tokens"
    """`tokens` or `chars`, of all but `output`, which is always tokens."""

    @property
    def weight(self) -> int:
        """How much is known, to choose between texts of one error: a limit with a request's size outweighs all other numbers."""
        return sum(value is not None for value in self[:5]) + 4 * (self.limit is not None and self.requested)

    @property
    def requested(self) -> bool:
        """Whether the size of the request is known, with or without the reply."""
        return self.input is not None or self.total is not None

    @property
    def proven(self) -> bool:
        """Whether the numbers alone prove that a request exceeded a limit; `checked` leaves no other pairs."""
        return self.limit is not None and self.requested

    @property
    def largest_input(self) -> int | None:
        """The input as stated, else what the total leaves without the reply; None if neither is known."""
        if self.input is None and self.total is not None and self.output is not None:
            return max(0, self.total - self.output)
        return self.input


def checked(numbers: Bound) -> Bound:
    """Return the numbers that could have been refused: the request must exceed the limit, and parts must add up to their total.

    Args:
        numbers: limit, input, output, total and excess as stated by a text, a body's fields or a user's rule.

    Returns:
        The same numbers, with the excess computed if it is not stated. No numbers at all if the request would fit, since it is
        unknown which of them was misread; only the limit if a stated excess contradicts the rest.
    """
    limit, given, output, total, excess, bound, unit = numbers
    if any(value is not None and value > LARGEST for value in (limit, given, output, total, excess)):
        return Bound()
    if limit is not None and limit < SMALLEST_LIMIT:
        limit = None
    # "between 1 and 8192": a request that small was never refused.
    if given is not None and given < SMALLEST_LIMIT and output is None and total is None:
        given = None
    # An estimate need not add up: "about 212745 tokens (122163 of text input, …)".
    if total is not None and given is not None and output is not None and given + output != total and bound == "exact":
        given = output = None
    if limit is not None:
        size = total if total is not None else given + (output or 0) if given is not None else output
        known = given is not None or total is not None
        if known and size is not None and size <= limit:
            return Bound(unit=unit)
        if known and size is not None:
            computed = size - limit
            if excess is not None and bound == "exact" and excess != computed:
                return Bound(limit=limit, unit=unit)
            excess = computed if excess is None else excess
    return Bound(limit, given, output, total, excess, bound, unit)


# ── fields ───────────────────────────────────────────────────────────────────────────────────────────────────────

# Fields that servers send along with their sentence, by name: llama.cpp's `n_ctx` and `n_prompt_tokens`, and the others' names in
# snake and camel case, lower-cased. `max_tokens` is the reply here; as a limit it would be a guess.
_LIMIT_FIELDS = """
n_ctx n_ctx_slot context_length max_context_length context_window max_context_tokens max_model_len context_size context_limit
max_input_tokens maxinputtokens max_prompt_tokens token_limit max_allowed_tokens contextlength max_tokens_allowed contextwindow
maxcontextlength maxcontexttokens tokenlimit max_context limit_tokens
"""
_INPUT_FIELDS = """
n_prompt_tokens prompt_tokens input_tokens num_prompt_tokens prompt_token_count input_token_count num_input_tokens inputtokens
prompttokens inputtokencount prompttokencount actual_tokens input_length
"""
_TOTAL_FIELDS = "total_tokens requested_tokens totaltokens requestedtokens total_token_count"
_OUTPUT_FIELDS = "requested_output_tokens max_output_tokens max_completion_tokens max_new_tokens max_tokens"
_FIELDS: dict[str, str] = {
    name: role
    for role, names in (
        (LIMIT, _LIMIT_FIELDS),
        (INPUT, _INPUT_FIELDS),
        (TOTAL, _TOTAL_FIELDS),
        (OUTPUT, _OUTPUT_FIELDS),
    )
    for name in names.split()
}


def with_fields(numbers: Bound, fields: Mapping[str, int]) -> Bound:
    """Return the numbers, completed from fields of the same body whose names say what they are.

    Args:
        numbers: what the sentence states; it is never overruled.
        fields: whole numbers by their field names, in lower case.

    Returns:
        The merged numbers if they are consistent, else those of the sentence alone. Fields have no unit: a sentence that counts
        characters takes nothing from them.
    """
    roles: dict[str, set[int]] = {}
    for name, value in fields.items():
        if (role := _FIELDS.get(name)) is not None:
            roles.setdefault(role, set()).add(value)
    if not roles or numbers.unit != "tokens":
        return numbers
    limit = numbers.limit if numbers.limit is not None else _only(roles.get(LIMIT, ()))
    given = numbers.input if numbers.input is not None else _only(roles.get(INPUT, ()))
    total = numbers.total if numbers.total is not None or given is not None else _only(roles.get(TOTAL, ()))
    output = numbers.output
    # The reply counts only if the input alone would fit: a body may echo `max_tokens` next to an overflow of the input.
    if output is None and limit is not None and given is not None and given <= limit:
        output = _only(roles.get(OUTPUT, ()))
    merged = checked(numbers._replace(limit=limit, input=given, output=output, total=total))
    return merged if merged.weight >= numbers.weight else numbers


def _only(values: Iterable[int]) -> int | None:
    """Return the one value that all of these fields have, None if they differ or there is none."""
    different = set(values)
    return different.pop() if len(different) == 1 else None
