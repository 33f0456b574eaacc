"""Which words give a number its role? The nouns, verbs, signs and units next to counts, as patterns.

Patterns are compiled when they are first needed. Leaves to others: which of several proposals wins (`numbers`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from penstock.overflow import languages
from penstock.overflow.bound import EXCESS, INPUT, LIMIT, OUTPUT, PART, TOTAL

# Nouns and verbs that give a number its role, in English and Chinese. Names of fields are among them (`n_ctx`, `max_tokens`),
# since messages and dumps of fields use them alike.

_HEDGE = r"(?:about|approximately|approx\.?|around|roughly|at least|an? estimated|estimated|some|~|≈)"
OUTPUT_NAME = (
    r"max_(?:completion_|new_|output_|gen_)?(?:tokens|len|length)(?:_to_sample)?(?!\w)|max_?outputtokens|maxtokens|"
    r"maxtokencount|max_gen_len|num_predict"
)
OUTPUT_NOUN = (
    rf"(?:{OUTPUT_NAME}|completion_tokens|output_tokens|completions?|outputs?|responses?|repl(?:y|ies)|generat(?:ion|"
    rf"ed)|reserved?|输出|补全)"
)
_LIMIT_NOUN = (
    r"(?:max(?!_(?:completion_|new_|output_)?tokens\b|tokens|_?output)\w*|limit(?!ed\b)\w*|context[ _-]?(?:length|"
    r"window|size|limit|budget|capacity)|"
    r"n_ctx(?:_\w+)?|\bctx|model[ _]length|window|capacity|ceiling|quota|allow(?:s|ed)|permitted|supports?|accepts?|"
    r"\bcan (?:only )?(?:hold|handle|take|process|fit)|holds|handles|takes at most|最大|上限|限制|不超过|不能超过|最多|"
    rf"{languages.CONTEXT}|{languages.LIMIT})"
)
_INPUT_NOUN = (
    r"(?:inputs?|input_\w+|prompts?|messages?|quer(?:y|ies)|conversation|history|requests?|contains?|contained|"
    r"resulted|actual|current(?:ly)?|"
    r"passed|given|received|got|sent|provided|consum\w+|used|uses|using|token count|length|sequence|texts?|"
    r"contents?|documents?|body|chat|counted|"
    r"n_(?:prompt_)?tokens|has|have|is using|输入|提示词?|当前|实际|请求|消息)"
)
_TOTAL_NOUN = r"(?:requested|requesting|total(?:s|ing|led)?|sum|combined|altogether|overall|needs?|requires|共|总计|总)"
# What precedes numbers that do not count anything of the request: codes, statuses, positions, attempts, parameters.
_NO_COUNT = (
    r"(?:n_keep|keep(?: the)? first|\w*error|code|status|http|retr\w*|attempts?|line|column|index|position|port|version|draft|"
    r"top_k|seed|parameter=\w+, value|value|param|id|(?<!resulted )in|after|step|turn|item|batch|page|part|chunk|"
    r"query length|cached|tier|level)"
)
_COMPARISON = (
    r"(?:exceed\w*|surpass\w*|(?:long|great|larg|high|bigg|small|short|few|low)er than|more than|less than|"
    r"above|over|beyond|under|below|"
    rf"at most|up to|limited to|\bvs\b\.?|versus|not exceed|>=?|<=?|≥|≤|大于|小于|{languages.EXCEEDS})"
)


@cache
def number() -> re.Pattern[str]:
    """Match a plainly written number as `value`, and any other as `odd`.

    Groups of digits count if they cannot mean two things: "131,072", "1.048.576" and "1 048 576", also the Indian "10,48,576".
    "9 000" counts before its unit. "128.000" may be 128 or 128,000 and is odd, as are "5000/4096", "2024-01-01", "12:30", "4k"
    and digits within names.
    """
    grouped = (
        r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:[_'\u00a0\u202f\u2009]\d{3})+|\d{1,3}(?:\.\d{3}){2,}|"
        r"\d{1,3}(?: \d{3}){2,}|(?![45]\d\d )\d{1,3} \d{3}(?= (?:tokens?|jetons?|токен))"
    )
    return re.compile(
        rf"(?<!{languages.LETTER})(?<![.\-/#$@\\%])(?<![\d][,:])(?:(?P<value>(?:{grouped}|\d{{1,12}})(?:\.0{{1,2}})?)"
        r"(?![\d%])(?! \d{3}(?!\d))(?![.,:/]\d)(?!,$)(?!(?!tokens?\b)[a-z_])(?!-\d)"
        r"|(?P<odd>\d{1,3}(?: \d{3})+(?!\d)|\d[\w.,/:%-]*))"
        r"(?P<after>\s*\)?[\s`'\"-]{0,3}个?(?P<unit>[a-z]+|токен[а-я]*|トークン|토큰|令牌|字符|字)?)"
    )


# A bare number among these is a status unless words after it say what it counts: "400: prompt of 9000 tokens".
STATUSES: Final = frozenset({*range(400, 432), *range(500, 512), *range(520, 531)})
TOKEN_UNITS = frozenset(
    {
        "token",
        "tokens",
        "tok",
        "toks",
        "jeton",
        "jetons",
        "токен",
        "токена",
        "токены",
        "токенов",
        "トークン",
        "토큰",
        "令牌",
    }
)
CHAR_UNITS = frozenset({"char", "chars", "character", "characters", "字符", "字"})
_OTHER_UNITS = """
byte bytes b kb mb gb kib mib gib px pixel pixels s ms sec secs second seconds minute minutes min mins hour hours h day days
times image images file files page pages retries attempts requests words k m thousand million draft cached reasoning items
tools messages turns percent usd dollars credits status bad error
"""
OTHER_UNITS: Final = frozenset(_OTHER_UNITS.split())
"""Units that do not count a request's size: sizes, times, money, and what a request has several of."""


@cache
def left() -> dict[str, re.Pattern[str]]:
    """The patterns over the words before a number. Those that end in `$` must touch it; the others are searched in its clause."""
    return {
        # "exceeded by 954", "reduce it by", "over by": `by` marks the difference between a limit and what exceeds it.
        "excess": re.compile(
            rf"(?:(?:exceed\w*|over|too \w+|long|reduce\w*|shorten\w*|larger|longer|trim\w*|remove)\b[^.;]*\bby|"
            rf"over by|(?:limit|window|length|size|maximum|context) by|excess(?: of)?|"
            rf"overflow(?:ed|s)?(?: of| by)?|超出了|多出|{languages.BY})\s*{_HEDGE}?\W*$"
        ),
        # "request 12345 has 9000 tokens", "user 678": a name of the request, not a size, if no unit follows.
        "name": re.compile(
            r"\b(?:(?:requests?|messages?|conversation|chat|document|query|session|job|task|user|worker|thread|slot)(?: id)?|"
            rf"{languages.NAME}) ?[#№:：]? ?$"
        ),
        # "shorten it to 8192 tokens": the size that is asked for.
        "wanted": re.compile(
            rf"\b(?:shorten|reduce|trim|cut|limit|decrease|shrink)\b[^.;\d]*(?:\d[^.;]*)?\bto(?: at most| under| below| less than)?"
            r"\W*$"
            rf"|{languages.SHORTEN}\W*$"
        ),
        # "Die Anfrage hat 9000", "入力トークン数（9000）": a name of the request that touches its size.
        "own": re.compile(rf"(?<!{languages.LETTER}){languages.GIVEN}{languages.HAS}\W*$"),
        # "Dépassement du contexte : 45000": what was sent, or what is allowed.
        "open": re.compile(rf"{languages.EXCEEDS}[^:：.;\d]*[:：]\W*$"),
        # "mit 9000 Token überschritten", "exceeded with 9000": so much was sent. "Ein Fenster mit 8192 Token" may be either.
        "with": re.compile(rf"(?:exceed\w*\W+with|{languages.WITH})\W*{_HEDGE}?\W*$"),
        "window with": re.compile(
            rf"(?:{languages.CONTEXT}|{languages.LIMIT}|{languages.MODEL})\w*\W*{languages.WITH}\W*$"
        ),
        # Codes and positions; "must be at least N", a minimum; "need 9000, have 8192", which does not say what has so much.
        "ignore": re.compile(
            rf"(?:(?:^|[^\w]){_NO_COUNT}|must be at least)\W{{0,4}}$|^\W*(?:but )?(?:only )?ha(?:ve|s|d)\W*$"
        ),
        # `RestProxyBase.java:390`, `serving_chat.py:198`: a line of a source, whatever words its name consists of.
        "source line": re.compile(
            r"\w\.(?:java|kt|scala|py|pyx|jsx?|mjs|cjs|tsx?|go|rs|rb|php|cs|fs|swift|exs?|erl|lua|zig|dart|m|mm|cc?|cpp|cxx|h|hpp):$"
        ),
        # "leaves 0 output tokens", "only 12 tokens remaining": what is left over was neither asked for nor sent.
        "left over": re.compile(
            r"(?:\bleav(?:es|ing|e)|\bleft|\bremain(?:s|ing|der)?|\bavailable|\bspare)(?: with| for| is| are)?(?: only| just)?\W*$"
            # and of a new message: only a part was sent
            r"|(?:剩余|仅剩|只剩|还剩|新消息(?:需要?|共有?|有|为)?)\W*$"
        ),
        "left": re.compile(r"\s?(?:tokens? )?(?:still )?(?:remain(?:s|ing)?|(?:are |is )?left)\b"),
        # "上限を808トークン超過": an excess; "8192トークンを超過": a limit.
        "by": re.compile(r"[を을를]\s?$"),
        "by behind": re.compile(rf"\s?(?:トークン|토큰|tokens?)?\s?(?:{languages.EXCEEDS}|オーバー|上回)"),
        # "answering your request will take 39732 tokens": the request with its answer.
        "answering": re.compile(
            r"\b(?:answer|complet|serv|fulfil|process|generat|respond)\w*[^.;]{0,40}\b(?:takes?|needs?|requires?|uses?|costs?)\s"
            rf"{_HEDGE}?\W*$"
        ),
        # `maxTokens(4096)` after "was not less than": the bare name is the ceiling of what is compared with it.
        "ceiling": re.compile(rf"{_COMPARISON}(?: the| its)?[\s`'\"]*max_?tokens[`'\"]?[\s(:=]*$"),
        # `prompt=2782 limit=2048`: a name with an assigned value says what the value is, whatever the previous sentence was about.
        "assigned": re.compile(
            r"(?:^|[\s,;(\"'])(?P<name>(?:prompt|input|limit|requested|used|output|completion|total|window|n_ctx)(?:_tokens|_len|_size)?)=$"
        ),
        # "has 9000", "passed 9000": a verb that touches the number and says that the request has that size.
        "verb": re.compile(
            rf"(?:\bwith|has|have|had|having|contains?|contained|resulted in|passed|given|received|got|"
            rf"sent|used|uses|using|provided|"
            rf"requested|actual|current)(?: a total of)?[\s:(=]*{_HEDGE}?[\s:(=~`'\"]*$"
        ),
        # ", limit: 8192": words after a number that name the next one, and so belong only to that.
        "named": re.compile(r"[\s,;)]+[a-z][\w`'\" ]{0,25}(?<=[\w`'\"])[=:]\s?\d"),
        "told": re.compile(r"exceed\w*[^:;]*:\s*$"),  # "exceeds the window: N input tokens" counts what exceeds it
        # "too large for model with 32768 maximum context length": this `with` is the model's, not the request's.
        "model with": re.compile(r"\b(?:model|endpoint|deployment|window) with\W*$"),
        # "213462 tokens > 200000", "9000 tokens, which exceeds the maximum of 8192": the number is above the next one.
        "above": re.compile(
            r"[\s,]{0,2}(?:tokens?|jetons?|токен\w*|characters?)?\s*[)）]?[\s,]*"
            r"(?:>=?|≥|(?:and |which )?(?:exceeds?|surpass(?:es)?)\b|"
            rf"(?:and |which )?(?:is|are) (?:(?:long|great|larg|high|bigg)er than|more than|above|over|beyond)\b|{languages.ABOVE})"
        ),
        "split": re.compile(
            r",|、|。|;|:|\bbut\b|\bhowever\b|\bwhile\b|\bwhereas\b|\byet\b|\band\b|\bwhich\b|\bresulting in\b|，|；|但"
        ),
        "comparison": re.compile(_COMPARISON),
        # "over: 70000 of 65536": after the colon comes what is too large; a demand ("at most: 4096") names the limit.
        "too large": re.compile(
            r"(?:exceed\w*|surpass\w*|(?:long|great|larg|high|bigg)er than|more than|above|over|beyond|超过|超出)\W*$"
        ),
        # In this order: `max_tokens` and "max_output_tokens" are the reply's before they are a maximum.
        "noun": re.compile(
            rf"(?<![a-z])(?:(?P<output>{OUTPUT_NOUN})|(?P<limit>{_LIMIT_NOUN})|(?P<total>{_TOTAL_NOUN})|"
            rf"(?P<input>{_INPUT_NOUN}))(?![a-z])"
        ),
        # "prompt tokens + max_tokens (8500)" counts the sum.
        "joint": re.compile(
            rf"(?:input|prompt|messages?)\w*[`'\"]*(?: length| tokens?| token count)?,? (?:\+|and|plus) (?:max\w* )?"
            rf"(?:{OUTPUT_NOUN}|prediction)[`'\"]*(?: length| tokens?| token count)?[\s(:=]*$"
        ),
        "context": re.compile(r"context|window|n_ctx|model"),
    }


@cache
def above() -> re.Pattern[str]:
    """Match the verbs for exceeding a limit, in any language."""
    return re.compile(rf"exceed|{languages.EXCEEDS}|too (?:long|large|big)")


@cache
def right() -> list[tuple[str, re.Pattern[str]]]:
    """The patterns over the words after a number, with the roles that they propose: the first that matches counts.

    All begin at the number. An excess comes first, since its words contain those of a limit ("tokens over the limit"); a whole
    input ("9000 tokens in the prompt") before a part of it ("116 in the messages", which other parts may follow).
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
                rf"|(?:{OUTPUT_NAME}|(?:requested |max\w* )*(?:output|completion|generated|generation|response|new)\b))"
            ),
        ),
        (
            LIMIT,
            re.compile(
                rf"{tokens}(?:{count}[ -])?(?:(?:input|prompt) (?:token )?)?(?:(?:is|was) {the}(?:model'?s? )?)?(?:maximum|"
                rf"max\b|limit\b|context[ -](?:window|length|limit|size)|"
                r"window\b|cap\b|ceiling|allowed|at most|or (?:less|fewer|lower)\b|"
                r"token (?:limit|maximum|context|window)|(?:max|maximum) )"
                rf"|{tokens}(?:tokens?|jetons?|токен\w*|トークン|个?token|토큰)?\W?(?:{languages.AT_MOST}|{languages.CONTEXT})"
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
def joint() -> re.Pattern[str]:
    """Match a sentence that limits the input and the reply together: a size that it counts is then the total."""
    return re.compile(
        r"(?:input|prompt|messages?|context)\w*[`'\"]*(?:\s\w+){0,2}\s*(?:\+|\band\b|\bplus\b|,)[^.\d]{0,25}"
        r"(?:output|completion|prediction|max_?\w*tokens?|max_?new|generat\w+|response|reply)"
    )


@cache
def expressions() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a sum above a limit, a difference, a range, two programs' sentences, a share, a sum by names."""
    # At most forty digits, from the first one: otherwise a search would begin at each digit of a long number and read to its end.
    n = r"(?<!\d)(\d[\d,_]{0,39})"
    word = r"(?<!\w)\w{1,40} ?\(\d[\d,_]{0,39}\)"
    # Anthropic: "199759 + 8192 > 200000". vLLM: "(8192 > 8192 - 1000)". Qwen: "should be [1, 129024]".
    return (
        re.compile(rf"{n}(?: tokens)? ?\+ ?{n}(?: tokens)? ?(?:>=?|≥) ?{n}(?![\d.])"),
        re.compile(rf"{n} ?>=? ?{n} ?- ?{n}(?![\d.])"),
        re.compile(rf"\[ ?\d+ ?, ?{n} ?\]"),
        re.compile(rf"requested tokens \(?{n}\)? exceed(?:s)? (?:the )?context window of {n}(?![\d.])"),
        # Google: "Cannot truncate to 89998, required 355220: text:355351"
        re.compile(rf"cannot truncate (?:the \w+ )?to {n}[^.;\d]{{0,20}}\brequire[sd]? {n}(?::[\w:, ]*)?"),
        # "over: 70000 of 65536", "(70000 von 65536 tokens)", "(70000 / 65536)": the amount sent, of the amount available
        re.compile(
            rf"(?<![\w.,:/-]){n}(?: tokens?)? (?:(?:out )?of|/|{languages.OF}) (?:(?:the |a |max\w* |allowed )*)"
            rf"{n}(?! ?(?:[a-z]?b|bytes|%))(?![\d.%])"
        ),
        # MediaPipe: "current_step(740) + input_size(1068) was not less than maxTokens(1024)"
        re.compile(
            rf"{word} ?\+ ?{word} (?:was |is )?(?:not less than|greater than|more than|exceeds|>=?) \w+ ?\({n}\)"
        ),
    )
