"""Which number means what? Counts of a sentence are bound by the words beside them, never by position or size.

Law: a number is right or absent. What the words leave open, what contradicts another number and what could not have been refused is
dropped. Keeps out: whether the sentence speaks of an overflow at all.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LIMIT: Final = "limit"
INPUT: Final = "input"
PART: Final = "part"  # of the input: messages here, functions there
OUTPUT: Final = "output"
TOTAL: Final = "total"
EXCESS: Final = "excess"

SMALLEST_LIMIT = 16
LARGEST = 10**10


class Bound(NamedTuple):
    """The numbers of one refusal; None is what it does not say."""

    limit: int | None = None
    input: int | None = None
    output: int | None = None
    total: int | None = None
    excess: int | None = None
    bound: str = "exact"
    unit: str = "tokens"

    @property
    def weight(self) -> int:
        """How much is known: to choose between two texts of one error."""
        return sum(value is not None for value in self[:5]) + 4 * (self.limit is not None and self.requested)

    @property
    def requested(self) -> bool:
        """Whether the size of the request is known."""
        return self.input is not None or self.total is not None

    @property
    def proven(self) -> bool:
        """Whether the numbers alone show that a request was above a limit."""
        return self.limit is not None and self.requested

    @property
    def largest_input(self) -> int | None:
        """The input, as stated or as what the total leaves."""
        if self.input is None and self.total is not None and self.output is not None:
            return max(0, self.total - self.output)
        return self.input


class _Found(NamedTuple):
    """A number that has a role: of two limits the weightier words win."""

    value: int
    weight: int
    unit: str | None
    before: str


class _Number(NamedTuple):
    value: int | None  # None: a number that is not written plainly
    start: int
    end: int
    unit: str | None


_COMPARED_ONLY = -1  # "exceeds N": a limit, if nothing nearer says otherwise


class _Role(NamedTuple):
    name: str
    weight: int = 1


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    return {
        "excess": re.compile(
            rf"(?:(?:exceed\w*|over|too \w+|long|reduce\w*|shorten\w*|larger|longer|trim\w*|remove)\b[^.;]*\bby|"
            rf"over by|(?:limit|window|length|size|maximum|context) by|excess(?: of)?|"
            rf"overflow(?:ed|s)?(?: of| by)?|超出了|多出)\s*{_HEDGE}?\W*$"
        ),
        "ignore": re.compile(
            rf"(?:(?:^|[^\w]){_NO_COUNT}|must be at least)\W{{0,4}}$|^\W*(?:but )?(?:only )?ha(?:ve|s|d)\W*$"
        ),
        "verb": re.compile(
            rf"(?:\bwith|has|have|had|having|contains?|contained|resulted in|passed|given|received|got|"
            rf"sent|used|uses|using|provided|"
            rf"requested|actual|current)(?: a total of)?[\s:(=]*{_HEDGE}?[\s:(=~`'\"]*$"
        ),
        "named": re.compile(r"[\s,;)]+[a-z][\w`'\" ]{0,25}(?<=[\w`'\"])[=:]\s?\d"),
        "told": re.compile(r"exceed\w*[^:;]*:\s*$"),  # "exceeds the window: N input tokens" counts what exceeds it
        "model with": re.compile(r"\b(?:model|endpoint|deployment|window) with\W*$"),
        "split": re.compile(
            r",|;|:|\bbut\b|\bhowever\b|\bwhile\b|\bwhereas\b|\byet\b|\band\b|\bwhich\b|\bresulting in\b|，|；|但"
        ),
        "comparison": re.compile(_COMPARISON),
        "noun": re.compile(
            rf"(?<![a-z])(?:(?P<output>{_OUTPUT_NOUN})|(?P<limit>{_LIMIT_NOUN})|(?P<total>{_TOTAL_NOUN})|"
            rf"(?P<input>{_INPUT_NOUN}))(?![a-z])"
        ),
        "joint": re.compile(
            rf"(?:input|prompt|messages?)\w*[`'\"]*(?: length| tokens?| token count)?,? (?:\+|and|plus) (?:max\w* )?"
            rf"(?:{_OUTPUT_NOUN}|prediction)[`'\"]*(?: length| tokens?| token count)?[\s(:=]*$"
        ),
        "context": re.compile(r"context|window|n_ctx|model"),
    }


@cache
def _right() -> list[tuple[str, re.Pattern[str]]]:
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
    """The sentence limits the input and the reply together."""
    return re.compile(
        r"(?:input|prompt|messages?|context)\w*[`'\"]*(?:\s\w+){0,2}\s*(?:\+|\band\b|\bplus\b|,)[^.\d]{0,25}"
        r"(?:output|completion|prediction|max_?\w*tokens?|max_?new|generat\w+|response|reply)"
    )


@cache
def _expressions() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    n = r"(\d[\d,_]*)"
    return (
        re.compile(rf"{n}(?: tokens)? ?\+ ?{n}(?: tokens)? ?(?:>=?|≥) ?{n}(?![\d.])"),
        re.compile(rf"{n} ?>=? ?{n} ?- ?{n}(?![\d.])"),
        re.compile(rf"\[ ?\d+ ?, ?{n} ?\]"),
        re.compile(rf"requested tokens \(?{n}\)? exceed(?:s)? (?:the )?context window of {n}(?![\d.])"),
    )


@cache
def _modifiers() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(r"(?:\babout|approx\w*\.?|\baround|\broughly|\bestimated\b[^.\d]{0,60}|~|≈|大约|约)[\s(]*$"),
        re.compile(r"(?:at least|more than|no less than|>=|≥|至少)[\s(]*$"),
        # vLLM stops its tokenizer one token above what the input may be, and then reports that count (renderers/params.py)
        re.compile(r"you passed .{0,200}resulting in a maximum input length of"),
    )


# ── binding ──────────────────────────────────────────────────────────────────────────────────────────────────────


def bind(text: str) -> Bound:
    """The numbers of one flattened text."""
    found: dict[str, list[_Found]] = {}

    def note(role: str, value: int, weight: int = 1, unit: str | None = None, before: str = "") -> None:
        found.setdefault(role, []).append(_Found(value, weight, unit, before))

    rest = _expression_numbers(text, note)
    joint = _joint().search(text) is not None
    numbers = [_read(match) for match in _number().finditer(rest)]
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
    """Binds `A + B > C` and `[1, N]`, whose words stand before them, and takes them out of the text."""
    sum_over, difference, span, llama = _expressions()
    for match in difference.finditer(text):  # repeats numbers that the sentence has named
        text = text.replace(match[0], " ")
    for match in sum_over.finditer(text):
        first, second, limit = (_integer(part) for part in match.groups())
        before = text[: match.start()]
        output = [m.start() for m in re.finditer(_OUTPUT_NOUN, before)]
        given = [m.start() for m in re.finditer(r"input|prompt|messages?", before)]
        if output and given:
            if min(output) < min(given):
                first, second = second, first
            note(INPUT, first)
            note(OUTPUT, second)
        note(LIMIT, limit, 2)
        text = text.replace(match[0], " ")
    for match in span.finditer(text):
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
    """`the max input characters is N`: the unit stands before the number."""
    return (
        "chars"
        if re.search(r"\bchar(?:acter)?s?\b(?: limit| count| length)?[\s:(=]*(?:is|of)?[\s:(=]*$", before)
        else None
    )


def _integer(written: str) -> int:
    written = re.sub(r"\.0{1,2}$", "", written) if written.count(".") == 1 else written
    digits = re.sub(r"\D", "", written)
    return int(digits) if len(digits) <= 12 else LARGEST + 1  # no count is so long


def _last_sentence(before: str) -> str:
    cut = max(before.rfind(". "), before.rfind("? "), before.rfind("! "), before.rfind("。"), before.rfind("; "))
    return before[cut + 1 :] if cut >= 0 else before


def _is_compared(after: str) -> bool:
    """Whether a sign says that this number is above the next one."""
    return re.match(r"^\s*(?:tokens?|characters?)?\s*\)?\s*(?:>=?|≥)\s*[\w]*\W*\d?", after) is not None


def _role(before: str, after: str, *, joint: bool, compared: bool) -> _Role | None:
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
    if compared and (beside is None or beside.name == LIMIT):
        beside = _Role(TOTAL if joint else INPUT)
    if beside is not None and beside.weight == _COMPARED_ONLY:
        beside = _Role(TOTAL if joint else INPUT) if verb else _Role(LIMIT)
    if right is not None and left["told"].search(before):
        return _Role(right)
    if beside is not None and beside.name == LIMIT and not (verb and right is not None):
        return None if right == OUTPUT else beside
    if right is not None:
        return _Role(right)
    if beside is not None and beside.name == INPUT and joint and not re.search(r"input|prompt|messages?", before):
        return _Role(TOTAL)
    return beside


def _left_role(before: str) -> _Role | None:
    """The role by the words before: of the last clause that says anything, and there of what follows the last comparison."""
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
    """One value per role, or none; then what contradicts goes."""
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
    return settled._replace(excess=stated) if muddled else settled


def _sum_of_parts(parts: list[int], inputs: list[int], output: int | None, total: int | None) -> int | None:
    """The input of `P in the messages, Q in the functions`; a sentence that stands there twice is counted once."""
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
    """`… exceeds limit (2013)`: a bare small number in brackets that no window has is the code of the error."""
    return limit < 10_000 and limit % 16 not in {0, 1, 15} and limit % 1000 != 0 and f"({limit})" in text


def _limit_of(candidates: list[_Found]) -> tuple[int | None, str | None]:
    """The limit named by the weightiest words; two different ones of equal weight are none."""
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
    different = set(values)
    if not keep_zero or len(different) > 1:
        different.discard(0)
    return different.pop() if len(different) == 1 else None


def checked(numbers: Bound) -> Bound:
    """The numbers that could have been refused: the request must be above the limit, and parts must make their total."""
    limit, given, output, total, excess, bound, unit = numbers
    if any(value is not None and value > LARGEST for value in (limit, given, output, total, excess)):
        return Bound()
    if limit is not None and limit < SMALLEST_LIMIT:
        limit = None
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
    """What the sentence left open, from fields of the same body that say it by their name."""
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
    if output is None and limit is not None and given is not None and given <= limit:
        output = _only(roles.get(OUTPUT, ()))
    merged = checked(numbers._replace(limit=limit, input=given, output=output, total=total))
    return merged if merged.weight >= numbers.weight else numbers


def _only(values: Iterable[int]) -> int | None:
    different = set(values)
    return different.pop() if len(different) == 1 else None
