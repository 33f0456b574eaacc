"""Which number means what? Counts of a sentence are bound by the words beside them, never by position or size.

Providers put the same numbers in any order: "213462 tokens > 200000 maximum", "maximum context length is 4097 tokens. However, you
requested 4116 tokens (116 in the messages, 4000 in the completion)". Their size does not tell either: a reply that is asked too
long is smaller than the limit. So every number gets the role that its neighbours give it, in five steps:

1. Expressions (`A + B > C`, `[1, N]`) have their words somewhere before them. They are bound first, and cut out of the text.
2. Each other number is read with its unit. What is no whole count of tokens or characters (128k, 5 MB, 0.5, gpt-4-32k) has no
   value, but still ends the words of its neighbours.
3. The words between two numbers belong to both: those before a number (`_left`) and those behind it (`_right`) each propose a
   role, and `_role` decides between them.
4. Of several numbers in one role one remains or none (`_settle`): equal ones are one, different ones contradict each other.
5. `checked` drops what could not have been refused: a request below its limit, parts that do not make their total.

Law: a number is right or absent. What the words leave open, what contradicts another number and what could not have been refused is
dropped. The cost is linear in the text, which `walk` bounds at 8,192 characters. Keeps out: whether the sentence speaks of an
overflow at all (`kinds`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LIMIT: Final = "limit"
"""The role of a number that says how much fits."""
INPUT: Final = "input"
"""The role of a number that counts instructions, messages and tools together."""
PART: Final = "part"
"""The role of a number that counts a part of the input: so many in the messages, so many in the functions."""
OUTPUT: Final = "output"
"""The role of a number that counts the reply that is asked for."""
TOTAL: Final = "total"
"""The role of a number that counts input and reply together."""
EXCESS: Final = "excess"
"""The role of a number that says by how much the request is above the limit."""

SMALLEST_LIMIT = 16
"""The smallest number that is taken for a limit: smaller ones count images, items or attempts."""
LARGEST = 10**10
"""The largest number that is taken for a count; where one is larger, no number of that text is believed."""


class Bound(NamedTuple):
    """The numbers of one refusal, each None where it does not say; the fields are those of `Overflow`."""

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
        """Whether the numbers alone show that a request was above a limit: `checked` leaves no such pair that does not."""
        return self.limit is not None and self.requested

    @property
    def largest_input(self) -> int | None:
        """The input, as stated, else what the total leaves beside the reply; None where neither is known."""
        if self.input is None and self.total is not None and self.output is not None:
            return max(0, self.total - self.output)
        return self.input


class _Found(NamedTuple):
    """A number that has a role."""

    value: int
    weight: int
    """How sure its words are: of two limits "context length of N" wins over "limit N", for input and reply may have caps too."""
    unit: str | None
    before: str
    """The words before it, where "at least" and "about" stand."""


class _Number(NamedTuple):
    """A number as it stands in a text, from `start` to `end`, its unit not included."""

    value: int | None
    """None for what is not written plainly, or counts something else."""
    start: int
    end: int
    unit: str | None
    """`tokens`, `chars`, or None where none stands behind it."""


# "exceeds N" proposes a limit, if nothing nearer says otherwise: a weight that is a question to `_role`, and never kept.
_COMPARED_ONLY = -1


class _Role(NamedTuple):
    """What the words propose for a number."""

    name: str
    weight: int = 1


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────

# Nouns and verbs that lend a number its role, in English and Chinese. Names of fields are among them (`n_ctx`, `max_tokens`),
# since messages and dumps of fields use them alike.

_HEDGE = r"(?:about|approximately|approx\.?|around|roughly|at least|an? estimated|estimated|some|~|≈)"
_OUTPUT_NAME = (
    r"max_(?:completion_|new_|output_|gen_)?(?:tokens|len|length)(?:_to_sample)?(?!\w)|max_?outputtokens|maxtokens|"
    r"maxtokencount|max_gen_len|num_predict"
)
_OUTPUT_NOUN = (
    rf"(?:{_OUTPUT_NAME}|completion_tokens|output_tokens|completions?|outputs?|responses?|repl(?:y|ies)|generat(?:ion|"
    rf"ed)|reserved?|输出|补全)"
)
_LIMIT_NOUN = (
    r"(?:max(?!_(?:completion_|new_|output_)?tokens\b|tokens|_?output)\w*|limit(?!ed\b)\w*|context[ _-]?(?:length|"
    r"window|size|limit|budget|capacity)|"
    r"n_ctx(?:_\w+)?|\bctx|model[ _]length|window|capacity|ceiling|quota|allow(?:s|ed)|permitted|supports?|accepts?|"
    r"\bcan (?:only )?(?:hold|handle|take|process|fit)|holds|handles|takes at most|最大|上限|限制|不超过|不能超过|最多)"
)
_INPUT_NOUN = (
    r"(?:inputs?|input_\w+|prompts?|messages?|quer(?:y|ies)|conversation|history|requests?|contains?|contained|"
    r"resulted|actual|current(?:ly)?|"
    r"passed|given|received|got|sent|provided|consum\w+|used|uses|using|token count|length|sequence|texts?|"
    r"contents?|documents?|body|chat|counted|"
    r"n_(?:prompt_)?tokens|has|have|is using|输入|提示词?|当前|实际|请求|消息)"
)
_TOTAL_NOUN = r"(?:requested|requesting|total(?:s|ing|led)?|sum|combined|altogether|overall|needs?|requires|共|总计|总)"
# What numbers stand behind that count nothing of the request: codes, statuses, places, attempts, parameters.
_NO_COUNT = (
    r"(?:n_keep|\w*error|code|status|http|retr\w*|attempts?|line|column|index|position|port|version|draft|top_k|seed|"
    r"parameter=\w+, value|value|param|id|(?<!resulted )in|after|step|turn|item|batch|page|part|chunk|"
    r"query length|cached|tier|level)"
)
_COMPARISON = (
    r"(?:exceed\w*|surpass\w*|(?:long|great|larg|high|bigg|small|short|few|low)er than|more than|less than|"
    r"above|over|beyond|under|below|"
    r"at most|up to|limited to|\bvs\b\.?|versus|not exceed|>=?|<=?|≥|≤|超过|超出|大于|小于)"
)


@cache
def _number() -> re.Pattern[str]:
    """Match a number that is written plainly as `value`, and any other as `odd`.

    Groups of digits count where they cannot mean two things: "131,072", "1.048.576" and "1 048 576", also the Indian "10,48,576".
    "128.000" may be 128 or 128,000 and is odd, as are "5000/4096", "2024-01-01", "12:30", "4k" and digits within names.
    """
    grouped = (
        r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:[_'\u00a0\u202f\u2009]\d{3})+|\d{1,3}(?:\.\d{3}){2,}|"
        r"\d{1,3}(?: \d{3}){2,}"
    )
    return re.compile(
        rf"(?<![\w.\-/#$@\\%])(?<![\d][,:])(?:(?P<value>(?:{grouped}|\d{{1,12}})(?:\.0{{1,2}})?)"
        r"(?![\d%])(?![.,:/]\d)(?!,$)(?![a-z_])(?!-\d)"
        r"|(?P<odd>\d[\w.,/:%-]*))"
        r"(?P<after>\s*\)?[\s`'\"-]{0,3}(?P<unit>[a-z]+|字符|字|tokens?)?)"
    )


# A bare number of these is a status unless words behind it say what it counts: "400: prompt of 9000 tokens".
_STATUSES = frozenset({*range(400, 432), *range(500, 512), *range(520, 531)})
_TOKEN_UNITS = frozenset({"token", "tokens", "tok", "toks"})
_CHAR_UNITS = frozenset({"char", "chars", "character", "characters", "字符", "字"})
_OTHER_UNITS = frozenset(
    {
        *(
            "byte",
            "bytes",
            "b",
            "kb",
            "mb",
            "gb",
            "kib",
            "mib",
            "gib",
            "px",
            "pixel",
            "pixels",
            "s",
            "ms",
            "sec",
            "secs",
            "second",
            "seconds",
        ),
        *(
            "minute",
            "minutes",
            "min",
            "mins",
            "hour",
            "hours",
            "h",
            "day",
            "days",
            "times",
            "image",
            "images",
            "file",
            "files",
            "page",
        ),
        *(
            "pages",
            "retries",
            "attempts",
            "requests",
            "words",
            "k",
            "m",
            "thousand",
            "million",
            "draft",
            "cached",
            "reasoning",
            "items",
            "tools",
        ),
        *("messages", "turns", "percent", "usd", "dollars", "credits", "status", "bad", "error"),
    }
)


@cache
def _left() -> dict[str, re.Pattern[str]]:
    """The patterns over the words before a number. Those that end in `$` must touch it; the others are searched in its clause."""
    return {
        # "exceeded by 954", "reduce it by", "over by": `by` makes the difference between a limit and what is above it.
        "excess": re.compile(
            rf"(?:(?:exceed\w*|over|too \w+|long|reduce\w*|shorten\w*|larger|longer|trim\w*|remove)\b[^.;]*\bby|"
            rf"over by|(?:limit|window|length|size|maximum|context) by|excess(?: of)?|"
            rf"overflow(?:ed|s)?(?: of| by)?|超出了|多出)\s*{_HEDGE}?\W*$"
        ),
        # Codes and places; "must be at least N", a minimum; "need 9000, have 8192", where it is not said what has so much.
        "ignore": re.compile(
            rf"(?:(?:^|[^\w]){_NO_COUNT}|must be at least)\W{{0,4}}$|^\W*(?:but )?(?:only )?ha(?:ve|s|d)\W*$"
        ),
        # "has 9000", "passed 9000": a verb that touches the number and says that the request is so large.
        "verb": re.compile(
            rf"(?:\bwith|has|have|had|having|contains?|contained|resulted in|passed|given|received|got|"
            rf"sent|used|uses|using|provided|"
            rf"requested|actual|current)(?: a total of)?[\s:(=]*{_HEDGE}?[\s:(=~`'\"]*$"
        ),
        # ", limit: 8192": words behind a number that name the next one, and so belong to it alone.
        "named": re.compile(r"[\s,;)]+[a-z][\w`'\" ]{0,25}(?<=[\w`'\"])[=:]\s?\d"),
        "told": re.compile(r"exceed\w*[^:;]*:\s*$"),  # "exceeds the window: N input tokens" counts what exceeds it
        # "too large for model with 32768 maximum context length": this `with` is the model's, not the request's.
        "model with": re.compile(r"\b(?:model|endpoint|deployment|window) with\W*$"),
        "split": re.compile(
            r",|;|:|\bbut\b|\bhowever\b|\bwhile\b|\bwhereas\b|\byet\b|\band\b|\bwhich\b|\bresulting in\b|，|；|但"
        ),
        "comparison": re.compile(_COMPARISON),
        # In this order: `max_tokens` and "max_output_tokens" are the reply's before they are a maximum.
        "noun": re.compile(
            rf"(?<![a-z])(?:(?P<output>{_OUTPUT_NOUN})|(?P<limit>{_LIMIT_NOUN})|(?P<total>{_TOTAL_NOUN})|"
            rf"(?P<input>{_INPUT_NOUN}))(?![a-z])"
        ),
        # "prompt tokens + max_tokens (8500)" counts the sum.
        "joint": re.compile(
            rf"(?:input|prompt|messages?)\w*[`'\"]*(?: length| tokens?| token count)?,? (?:\+|and|plus) (?:max\w* )?"
            rf"(?:{_OUTPUT_NOUN}|prediction)[`'\"]*(?: length| tokens?| token count)?[\s(:=]*$"
        ),
        "context": re.compile(r"context|window|n_ctx|model"),
    }


@cache
def _right() -> list[tuple[str, re.Pattern[str]]]:
    """The patterns over the words behind a number, with the roles that they propose: the first that matches counts.

    All begin at the number. An excess comes first, since its words hold those of a limit ("tokens over the limit"); a whole input
    ("9000 tokens in the prompt") before a part of it ("116 in the messages", which other parts may follow).
    """
    tokens = r"^[\s`'\"]*\)?[\s`'\"-]*"
    count = r"(?:tokens?|characters?|chars?)\b(?! count)"
    the = r"(?:the |your |this |its |all )?"
    return [
        (
            EXCESS,
            re.compile(
                rf"{tokens}(?:{count} )?(?:too (?:many|long|large)|(?:over|above|beyond|past|more than|"
                rf"in excess of) {the}(?:max\w* |allowed |"
                r"model'?s? |context |token )*(?:limit|maximum|max\b|context|window|length|size|budget)|"
                r"over(?=\W*$|[.,;])|excess\b)"
            ),
        ),
        (
            OUTPUT,
            re.compile(
                rf"{tokens}(?:{count} )?(?:(?:in|for|from|of|as) {the}(?:max\w* |requested )?(?:completion|"
                rf"output|response|reply|generation|answer)"
                rf"|(?:{_OUTPUT_NAME}|(?:requested |max\w* )*(?:output|completion|generated|generation|response|new)\b))"
            ),
        ),
        (
            LIMIT,
            re.compile(
                rf"{tokens}(?:{count}[ -])?(?:(?:input|prompt) (?:token )?)?(?:(?:is|was) {the}(?:model'?s? )?)?(?:maximum|"
                rf"max\b|limit\b|context[ -](?:window|length|limit|size)|"
                r"window\b|cap\b|ceiling|allowed|at most|token (?:limit|maximum|context|window)|(?:max|maximum) )"
            ),
        ),
        (
            INPUT,
            re.compile(
                rf"{tokens}(?:(?:input|prompt|message|context)s?[`'\"]?(?: {count}|(?=\W*$|\s*[+,&]|\s+and\b))|"
                rf"{count} (?:were |was |are |is )?"
                r"(?:provided|sent|given|passed|received|used)\b|"
                rf"{count} (?:prompt|input|request|message|conversation)s?\b|{count} (?:in|from|of|for) {the}(?:(?:text|"
                rf"input|user|chat|system|new) )*(?:inputs?|prompt|messages?|request|conversation|history|"
                rf"chat|query|text)\b"
                r"|[`'\"]?inputs?[`'\"]? tokens)"
            ),
        ),
        (
            PART,
            re.compile(
                rf"{tokens}(?:{count} )?(?:in|from|of|for|as) {the}(?!total)(?:[a-z_`']+ ){{0,2}}(?:inputs?|"
                rf"prompts?|messages?|functions?|tools?|"
                r"schemas?|response_format|format|history|conversation|system|images?|audio|files?|documents?|"
                r"definitions?|instructions?)\b"
            ),
        ),
        (
            TOTAL,
            re.compile(
                rf"{tokens}(?:total {count}|{count} (?:in total|altogether|combined|total\b|requested|(?:were |was )requested))"
            ),
        ),
    ]


@cache
def _joint() -> re.Pattern[str]:
    """Match a sentence that limits the input and the reply together: a size that it counts is then the total."""
    return re.compile(
        r"(?:input|prompt|messages?|context)\w*[`'\"]*(?:\s\w+){0,2}\s*(?:\+|\band\b|\bplus\b|,)[^.\d]{0,25}"
        r"(?:output|completion|prediction|max_?\w*tokens?|max_?new|generat\w+|response|reply)"
    )


@cache
def _expressions() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a sum above a limit, a difference, a range, and llama-cpp-python's sentence."""
    n = r"(\d[\d,_]*)"
    # Anthropic: "199759 + 8192 > 200000". vLLM: "(8192 > 8192 - 1000)". Qwen: "should be [1, 129024]".
    return (
        re.compile(rf"{n}(?: tokens)? ?\+ ?{n}(?: tokens)? ?(?:>=?|≥) ?{n}(?![\d.])"),
        re.compile(rf"{n} ?>=? ?{n} ?- ?{n}(?![\d.])"),
        re.compile(rf"\[ ?\d+ ?, ?{n} ?\]"),
        re.compile(rf"requested tokens \(?{n}\)? exceed(?:s)? (?:the )?context window of {n}(?![\d.])"),
    )


@cache
def _modifiers() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of "about" and "at least" before a number, and of vLLM's sentence with a capped count."""
    return (
        re.compile(r"(?:\babout|approx\w*\.?|\baround|\broughly|\bestimated\b[^.\d]{0,60}|~|≈|大约|约)[\s(]*$"),
        re.compile(r"(?:at least|more than|no less than|>=|≥|至少)[\s(]*$"),
        # vLLM stops its tokenizer one token above what the input may be, and then reports that count (renderers/params.py)
        re.compile(r"you passed .{0,200}resulting in a maximum input length of"),
    )


# ── binding ──────────────────────────────────────────────────────────────────────────────────────────────────────


def bind(text: str) -> Bound:
    """Return the numbers of one flattened text, bound by the words beside them and checked against one another.

    >>> bind("prompt is too long: 213462 tokens > 200000 maximum")[:2]
    (200000, 213462)

    Args:
        text: as `walk.flatten` returns it.

    Returns:
        What the text states of limit, input, output, total and excess; nothing that it leaves open or contradicts.
    """
    found: dict[str, list[_Found]] = {}

    def note(role: str, value: int, weight: int = 1, unit: str | None = None, before: str = "") -> None:
        found.setdefault(role, []).append(_Found(value, weight, unit, before))

    rest = _expression_numbers(text, note)
    joint = _joint().search(text) is not None
    numbers = [_read(match) for match in _number().finditer(rest)]
    # Each number sees at most 160 characters back to the number before it, and 60 ahead to the one behind it, whose first digit
    # it sees too: "9000 tokens, limit: 8" shows that "limit:" names the next.
    previous = 0
    for index, number in enumerate(numbers):
        before = rest[max(previous, number.start - 160) : number.start]
        following = numbers[index + 1].start if index + 1 < len(numbers) else len(rest)
        after = rest[number.end : min(following + 1, number.end + 60)]
        previous = number.end
        if number.value is None:
            continue
        if (
            number.value in _STATUSES
            and number.unit is None
            and not any(pattern.search(after) for _, pattern in _right())
        ):
            continue
        role = _role(_last_sentence(before), after, joint=joint, compared=_is_compared(after))
        if role is not None:
            note(role.name, number.value, role.weight, number.unit or _unit_before(before), before)
    return _settle(found, text)


def _expression_numbers(text: str, note: Callable[..., None]) -> str:
    """Note the numbers of `A + B > C` and `[1, N]`, whose words stand before them; return the text without these expressions."""
    sum_over, difference, span, llama = _expressions()
    for match in difference.finditer(text):  # repeats numbers that the sentence has named
        text = text.replace(match[0], " ")
    for match in sum_over.finditer(text):
        first, second, limit = (_integer(part) for part in match.groups())
        before = text[: match.start()]
        # The words before name the summands in their order ("input length and `max_tokens` exceed …"). Without both names the
        # order is a guess, and only the limit is taken.
        output = [m.start() for m in re.finditer(_OUTPUT_NOUN, before)]
        given = [m.start() for m in re.finditer(r"input|prompt|messages?", before)]
        if output and given:
            if min(output) < min(given):
                first, second = second, first
            note(INPUT, first)
            note(OUTPUT, second)
        note(LIMIT, limit, 2)
        text = text.replace(match[0], " ")
    for match in span.finditer(text):  # a range of the input is a limit; of `max_tokens` it is another refusal
        before = text[max(0, match.start() - 60) : match.start()]
        if re.search(r"input|prompt|messages?|context|length", before) and not re.search(_OUTPUT_NAME, before):
            note(LIMIT, _integer(match[1]))
        text = text.replace(match[0], " ")
    for match in llama.finditer(text):  # llama-cpp-python counts the prompt alone here
        note(INPUT, _integer(match[1]))
        note(LIMIT, _integer(match[2]), 2)
        text = text.replace(match[0], " ")
    return text


def _read(match: re.Match[str]) -> _Number:
    """Return a match of `_number` with the unit that stands behind it; bytes, seconds, images and the like count nothing here."""
    unit = match["unit"]
    if match["value"] is None:
        return _Number(None, match.start(), match.end("odd"), None)
    end = match.end("value")
    if unit in _OTHER_UNITS:
        return _Number(None, match.start(), end, None)
    known = "tokens" if unit in _TOKEN_UNITS else "chars" if unit in _CHAR_UNITS else None
    if known is None and re.match(
        r"[\s`']*(?:input|prompt|output|completion) (?:characters|chars)", match.string[end : end + 30]
    ):
        known = "chars"
    return _Number(_integer(match["value"]), match.start(), end, known)


def _unit_before(before: str) -> str | None:
    """Return `chars` where the unit stands before the number: "the max input characters is N"."""
    return (
        "chars"
        if re.search(r"\bchar(?:acter)?s?\b(?: limit| count| length)?[\s:(=]*(?:is|of)?[\s:(=]*$", before)
        else None
    )


def _integer(written: str) -> int:
    """Return a plain number without its separators and without `.0`, as TensorRT-LLM writes ("prompt length (72417.0)")."""
    written = re.sub(r"\.0{1,2}$", "", written) if written.count(".") == 1 else written
    digits = re.sub(r"\D", "", written)
    return int(digits) if len(digits) <= 12 else LARGEST + 1  # no count is so long


def _last_sentence(before: str) -> str:
    """Return the words since the last end of a sentence: what an earlier one said does not tell what this number counts."""
    cut = max(before.rfind(". "), before.rfind("? "), before.rfind("! "), before.rfind("。"), before.rfind("; "))
    return before[cut + 1 :] if cut >= 0 else before


def _is_compared(after: str) -> bool:
    """Whether a sign behind a number says that it is above the next one: "213462 tokens > 200000"."""
    return re.match(r"^\s*(?:tokens?|characters?)?\s*\)?\s*(?:>=?|≥)\s*[\w]*\W*\d?", after) is not None


def _role(before: str, after: str, *, joint: bool, compared: bool) -> _Role | None:
    """Return what a number counts, or None where its words leave that open.

    Words that touch the number and can mean one thing only come first: an excess, a code, a sum, a limit behind it. What is left
    are nouns on both sides that may belong to the number's neighbours as well. There a limit before the number wins ("the maximum
    is N tokens in the prompt" limits), unless a verb says that the request has so much, or a colon that it is told now; then
    the words behind win, being the nearer ones; then those before.

    Args:
        before: the words of its sentence before it, back to the number before.
        after: the words behind it, as far as the next number.
        joint: whether the text limits input and reply together, so that what is above the limit is their total.
        compared: whether a sign says that it is above the next number.
    """
    left = _left()
    if left["excess"].search(before):
        return _Role(EXCESS)
    if left["ignore"].search(before):
        return None
    if left["joint"].search(before):
        return _Role(TOTAL)
    belongs_to_next = left["named"].match(after) is not None
    right = None if belongs_to_next else next((name for name, pattern in _right() if pattern.search(after)), None)
    if right == EXCESS:
        return _Role(EXCESS, 0)  # "5000 tokens over the limit" may mean the request where it is larger than the limit
    if right == LIMIT:
        return _Role(LIMIT, 2 if left["context"].search(after[:40]) else 1)
    verb = left["verb"].search(before) is not None and not left["model with"].search(before)
    beside = _left_role(before)
    # "213462 tokens > 200000 maximum": what is above the next number is no limit, whatever noun stands before it.
    if compared and (beside is None or beside.name == LIMIT):
        beside = _Role(TOTAL if joint else INPUT)
    if beside is not None and beside.weight == _COMPARED_ONLY:
        beside = _Role(TOTAL if joint else INPUT) if verb else _Role(LIMIT)
    if right is not None and left["told"].search(before):
        return _Role(right)
    # "a maximum of 4096 output tokens": a cap on the reply, which is no number of this refusal.
    if beside is not None and beside.name == LIMIT and not (verb and right is not None):
        return None if right == OUTPUT else beside
    if right is not None:
        return _Role(right)
    # "tokens (prompt and prediction) cannot exceed 2048 - received 6354": where both are limited, a noun that names neither of
    # them counts both.
    if beside is not None and beside.name == INPUT and joint and not re.search(r"input|prompt|messages?", before):
        return _Role(TOTAL)
    return beside


def _left_role(before: str) -> _Role | None:
    """Return the role by the words before a number: of the last clause that says anything, there of what follows a comparison.

    "the prompt exceeds the limit of N": behind "exceeds" only "limit" is left, so that "prompt" does not claim N. Only the
    last three clauses are looked at; one of nothing but words without a noun ends the search, since what stands before it is
    about something else.
    """
    left = _left()
    clauses = left["split"].split(before)
    for clause in reversed(clauses[-3:]):
        ends = [match.end() for match in left["comparison"].finditer(clause)]
        tail = clause[ends[-1] :] if ends else clause
        nouns = [(match.lastgroup, match) for match in left["noun"].finditer(tail)]
        limits = [match for name, match in nouns if name == "limit"]
        if limits:
            if any(name == "output" and match.start() > limits[0].start() for name, match in nouns):
                return None  # a cap on the reply: no number of this refusal
            if left["context"].search(tail):
                return _Role(LIMIT, 2)
            # A limit of the input in a later clause may be what the reply leaves of the context ("resulting in a maximum input
            # length of N"): it counts only where no other limit is stated.
            return _Role(LIMIT, 0 if re.search(r"input|prompt", tail[limits[0].start() :]) and len(clauses) > 1 else 1)
        if nouns:
            return _Role(str(nouns[-1][0]))
        if re.fullmatch(r"\W*(?:number of )?tokens?\W*", tail) and not ends:
            return _Role(INPUT)
        if ends:
            return _Role(LIMIT, _COMPARED_ONLY)
        if clause.strip(" \t:('\"`") and re.search(r"\w{3}", clause) and "token" not in clause:
            return None
    return None


def _settle(found: dict[str, list[_Found]], text: str) -> Bound:
    """Return one value per role, or none, of all the numbers that were found; what contradicts is left out.

    The unit of the limit is the unit of the refusal: counts in another one are no part of it (a request's tokens beside a limit in
    characters), except the reply, which is in tokens everywhere.
    """
    limit, limit_unit = _limit_of(found.get(LIMIT, []))
    wanted = limit_unit or ("chars" if "maxlength" in text and "token" not in text else None)
    kept = {
        role: [item for item in items if item.unit in {None, wanted} or wanted is None] for role, items in found.items()
    }
    given = _single([item.value for item in kept.get(INPUT, [])])
    parts = [item.value for item in kept.get(PART, [])]
    output = _single([item.value for item in found.get(OUTPUT, []) if item.unit != "chars"], keep_zero=True)
    total = _single([item.value for item in kept.get(TOTAL, [])])
    muddled = output is None and total is None and OUTPUT in found  # the reply is counted, and how much is not clear
    if parts:
        given = _sum_of_parts(parts, [item.value for item in kept.get(INPUT, [])], output, total)
    # Tokens here and characters there: of such a text only the limit is sure, and only where it is in tokens.
    units = {item.unit for role in (LIMIT, INPUT, TOTAL) for item in kept.get(role, [])} - {None}
    if len(units) > 1:
        return Bound(limit=limit if limit_unit == "tokens" else None)
    chars = units == {"chars"} or wanted == "chars"
    words = [item.before for role in (INPUT, TOTAL, PART, EXCESS) for item in kept.get(role, [])]
    about, floor, capped = _modifiers()
    bound = "exact"
    if any(floor.search(before) for before in words) or (given is not None and capped.search(text) is not None):
        bound = "lower_bound"
    elif any(about.search(before) for before in words):
        bound = "approx"
    # "N tokens over the limit" (weight 0) may mean the request itself where N is larger than the limit.
    stated = _single(
        [item.value for item in kept.get(EXCESS, []) if item.weight or limit is None or item.value <= limit]
    )
    if limit is not None and given is None and total is None and _is_a_code(limit, text):
        limit = None
    numbers = Bound(
        limit,
        given,
        output,
        total,
        stated,
        bound if given or total or stated else "exact",
        "chars" if chars else "tokens",
    )
    settled = checked(numbers)
    # What `checked` works out as excess would leave the reply out, whose size is not clear: only a stated one stays.
    return settled._replace(excess=stated) if muddled else settled


def _sum_of_parts(parts: list[int], inputs: list[int], output: int | None, total: int | None) -> int | None:
    """Return the input of `P in the messages, Q in the functions`; a sentence that stands there twice is counted once.

    A body and the exception around it often say the same sentence in one text: P, Q, P, Q. So the parts are tried as one period
    that repeats, the shortest first, and a period counts where its sum with the reply makes the stated total. Two equal parts
    (100 and 100) are therefore two where the total says so. Without a total only the whole row is believed.
    """
    for period in range(1, len(parts) + 1):
        if parts == parts[:period] * (len(parts) // period):
            once = sum(parts[:period])
            if any(inputs):
                whole = _single(inputs)
                if total is None or whole is None or whole + (output or 0) == total:
                    return whole
                once += whole
            if once + (output or 0) == total or (total is None and period == len(parts)):
                return once
    return None


def _is_a_code(limit: int, text: str) -> bool:
    """Whether a limit is the code of the error: `context window exceeds limit (2013)`, as MiniMax writes it.

    Such a number is small, stands in brackets alone, and is neither round nor near a multiple of 16, as every window is.
    """
    return limit < 10_000 and limit % 16 not in {0, 1, 15} and limit % 1000 != 0 and f"({limit})" in text


def _limit_of(candidates: list[_Found]) -> tuple[int | None, str | None]:
    """Return the limit named by the weightiest words, with its unit; two different ones of equal weight are none.

    One in tokens goes before one in characters, where a text names both.
    """
    tokens = [item for item in candidates if item.unit != "chars"]
    candidates = tokens or candidates
    if not candidates:
        return None, None
    top = max(item.weight for item in candidates)
    values = {item.value for item in candidates if item.weight == top}
    if len(values) != 1:
        return None, None
    value = values.pop()
    unit = next((item.unit for item in candidates if item.value == value and item.unit), None)
    return value, unit


def _single(values: list[int], *, keep_zero: bool = False) -> int | None:
    """Return the one value that all of these have; zeros beside others do not count, and alone only where they mean something."""
    different = set(values)
    if not keep_zero or len(different) > 1:
        different.discard(0)
    return different.pop() if len(different) == 1 else None


def checked(numbers: Bound) -> Bound:
    """Return the numbers that could have been refused: the request must be above the limit, and parts must make their total.

    Args:
        numbers: limit, input, output, total and excess as a text, a body's fields or a user's rule state them.

    Returns:
        The same, with the excess worked out where it is not stated. No numbers at all where the request would fit, since then it
        is not known which of them was misread; only the limit where a stated excess contradicts the rest.
    """
    limit, given, output, total, excess, bound, unit = numbers
    if any(value is not None and value > LARGEST for value in (limit, given, output, total, excess)):
        return Bound()
    if limit is not None and limit < SMALLEST_LIMIT:
        limit = None
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

# Fields that servers send beside their sentence, by name: llama.cpp's `n_ctx` and `n_prompt_tokens`, and the snake and camel case
# of the others in lower case. `max_tokens` is the reply here; as a limit it would be a guess.
_FIELDS: dict[str, str] = {
    **dict.fromkeys(
        (
            *(
                "n_ctx",
                "n_ctx_slot",
                "context_length",
                "max_context_length",
                "context_window",
                "max_context_tokens",
                "max_model_len",
                "context_size",
            ),
            *(
                "context_limit",
                "max_input_tokens",
                "maxinputtokens",
                "max_prompt_tokens",
                "token_limit",
                "max_allowed_tokens",
                "contextlength",
            ),
            *(
                "max_tokens_allowed",
                "contextwindow",
                "maxcontextlength",
                "maxcontexttokens",
                "tokenlimit",
                "max_context",
                "limit_tokens",
            ),
        ),
        LIMIT,
    ),
    **dict.fromkeys(
        (
            *(
                "n_prompt_tokens",
                "prompt_tokens",
                "input_tokens",
                "num_prompt_tokens",
                "prompt_token_count",
                "input_token_count",
            ),
            *(
                "num_input_tokens",
                "inputtokens",
                "prompttokens",
                "inputtokencount",
                "prompttokencount",
                "actual_tokens",
                "input_length",
            ),
        ),
        INPUT,
    ),
    **dict.fromkeys(("total_tokens", "requested_tokens", "totaltokens", "requestedtokens", "total_token_count"), TOTAL),
    **dict.fromkeys(
        ("requested_output_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "max_tokens"),
        OUTPUT,
    ),
}


def with_fields(numbers: Bound, fields: Mapping[str, int]) -> Bound:
    """Return the numbers with what the sentence left open, from fields of the same body that say it by their name.

    Args:
        numbers: what the sentence states; it is never overruled.
        fields: whole numbers by the name of their field, in lower case.

    Returns:
        The merged numbers where they hold together, else those of the sentence alone. Fields have no unit: a sentence that counts
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
    # The reply counts only where the input alone would fit: a body may echo `max_tokens` beside an overflow of the input.
    if output is None and limit is not None and given is not None and given <= limit:
        output = _only(roles.get(OUTPUT, ()))
    merged = checked(numbers._replace(limit=limit, input=given, output=output, total=total))
    return merged if merged.weight >= numbers.weight else numbers


def _only(values: Iterable[int]) -> int | None:
    """Return the one value that all of these fields have, None where they differ or there is none."""
    different = set(values)
    return different.pop() if len(different) == 1 else None
