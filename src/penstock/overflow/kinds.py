"""Which refusal do these words name? Tables of codes and sentences, in the order in which they outrank one another.

1. sentences that name their own subject: a field, an image, a cap on the reply, a broken history, a plan (`SUBJECTS`);
2. a code that says overflow (`OVERFLOW_CODES`);
3. waiting and paying (`WAITING`), and what other languages than English have for both (`FOREIGN`);
4. sentences that say overflow (`OVERFLOWS`);
5. everything else (`OTHERS`, `CODES`), at last by the HTTP status (`STATUSES`).

The order is the algorithm: the same words mean different things, and the more specific reading comes first. "string too long"
appears under LiteLLM's ContextWindowExceededError, and is about a field; "Too many tokens, please wait" is a rate limit, and an
overflow only without the waiting; "too large" means bytes where bytes are counted.

All patterns read text that `walk.flatten` produced: lower case, on one line. The gaps between their words are bounded
(`[^.;]{0,60}`), so that no text makes them slow. The words come from providers' documentation, sources and issues;
tests/overflow/samples.py holds the sentences, with labels. Law: what is not an overflow is never called one. Leaves to others:
where the words were (`walk`), which numbers they hold (`numbers`), and how the tables are used (`verdict`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from penstock.overflow import languages

RECOVERIES: Final[dict[str, str]] = {
    "context_input": "shrink_input",
    "context_total": "shrink_output",
    "output_cap": "shrink_output",
    "rate_limit": "wait",
    "rate_limit_single_request": "shrink_input",
    "quota": "none",
    "overloaded": "retry",
    "server_error": "retry",
    "connection": "retry",
    "payload_too_large": "shrink_payload",
    "image_limit": "shrink_image",
    "field_length": "fix_request",
    "malformed_history": "repair_history",
    "long_context_tier": "reduce_window_or_plan",
    "content_policy": "none",
    "bad_request": "fix_request",
    "auth": "none",
    "tool_refusal": "none",
    "output_stopped": "continue_answer",
    "unknown": "none",
}
"""Every kind that `diagnose` names, with its default cure; docs/overflow.md explains each one."""


class Sentence(NamedTuple):
    """Words that mean one kind of refusal."""

    kind: str
    """What a matching text means: a key of `RECOVERIES`, or `context` for overflows, whose kind the numbers decide."""
    cues: tuple[str, ...]
    """Substrings of which one must be present, if there are any: a check of microseconds that spares most texts the pattern."""
    pattern: str
    """The regular expression that decides, searched in flattened text."""
    recovery: str | None = None
    """The cure, if it differs from the kind's own."""
    unless: str | None = None
    """A regular expression that cancels the meaning: the words that turn this sentence into another kind's."""
    within_chars: int | None = None
    """How much of a text's head and of its tail is searched; None for all of it."""


# Names of the reply's length, as OpenAI, Anthropic, TGI, Llama and others write it, quoted or not.
_MAX_TOKENS = (
    r"[`'\"]?max[_ ]?(?:(?:completion|new|output|gen)[_ ]?)?(?:tokens?|(?<=_)len(?:gth)?)(?:_to_sample|count)?[`'\"]?"
)
# What holds a request: the context, under its various names.
_CONTEXT = (
    r"(?:context(?: of)?[ _-]?(?:length|window|size|limit|budget|capacity)|n_ctx|max_model_len|max_num_tokens|"
    r"model'?s? (?:max\w* )?"
    r"(?:length|token limit|input (?:limit|length)))"
)
# "larger than it may be", as a verb, a comparison or a demand.
_TOO = (
    r"(?:exceed\w*|surpass\w*|overflow\w*|overr[au]n\w*|too (?:long|large|big|many)|(?:long|great|larg|bigg|"
    r"high)er than|more than|over\b|above|beyond|does(?: not|n't) fit|do(?: not|n't) fit|(?:can|will)(?:not|"
    r"'t| not) (?:fit|exceed)|won't fit|outside|must (?:be (?:less|fewer|smaller|shorter|at most|no more|<)|"
    r"not exceed|have (?:less|fewer|at most))|(?:should|may) not exceed|is at most)"
)
# What a caller sends.
_GIVEN = (
    r"(?:prompts?|inputs?|messages?|requests?|query|queries|conversation|chat history|history|tokens?|token count|"
    r"sequence|documents?|system prompt|context)"
)
# "the input and max_tokens": both count, so the sentence is an overflow and not a cap on the reply.
_JOINED = (
    rf"(?:input|prompt|messages?|context)\w*[`'\"]*[^.;]{{0,40}}(?:\+|\band\b|\bplus\b)[^.;]{{0,30}}(?:{_MAX_TOKENS}|"
    rf"output|completion|prediction|new tokens)"
)

TOOL: Final = Sentence(
    "tool_refusal",
    (":", "file", "tool", "result", "output"),
    r"^(?:error: )?(?:tool[ _])?(?:run|read|write|edit|view|list|search|find|grep|rg|bash|shell|sh|exec|"
    r"execute|open|fetch|glob|apply|create|delete|"
    r"move|ls|cat|web|ctx|get|set|outline|page|count|mcp|python|todo)(?:_\w+)*(?:\([^)]*\))?\s?:(?!//)|"
    # "Read(a.md) Error: File content …": a host's transcript, with the call before its answer
    r"^(?:\W{0,8}\w{1,40}\([^()]{0,200}\)\W{0,8})?"
    r"(?:\w*error: )?(?:the )?(?:file content|file|tool (?:result|response|output)|mcp tool|response from tool|"
    r"result|output of)\b[^.]{0,60}"
    r"(?:exceed|too (?:large|long)|larger than)",
)
"""A refusal by a tool of ours or of a host: "read_file: …", "File content (29375 tokens) exceeds …".

Checked only if no HTTP status and no code shows that a provider spoke: tools count tokens in the same words.
"""

SUBJECTS: Final[tuple[Sentence, ...]] = (
    # "The model `big-32k` (window 32768) does not exist": what a name says of a window was never compared with a request.
    Sentence(
        "bad_request",
        ("model",),
        r"model_?not_?found|(?:model|deployment)s?\b(?:[^.;]|\.\d){0,80}?(?:does not exist|doesn't exist|"
        r"not found|no longer available|has been (?:deprecated|retired|decommissioned)|is not (?:available|supported|a valid))|"
        r"(?:unknown|no such|invalid|could not find(?: the)?) model\b",
        unless=rf"{_GIVEN}[^.;]{{0,80}}\b{_TOO}[^.;]{{0,80}}{_CONTEXT}",
    ),
    # Anthropic's answer to long requests on plans without them: nothing is too long for the model, so shrinking is one of two ways.
    Sentence(
        "long_context_tier",
        ("long context", "long-context", "1m context", "context beta"),
        r"extra usage is required|long[- ]context (?:requests?|beta|usage|pricing|tier)[^.]{0,60}(?:require|"
        r"not (?:yet )?(?:available|enabled|included)|upgrade|"
        r"unavailable|need)|(?:1m context|context beta)[^.]{0,60}(?:require|not (?:yet )?(?:available|"
        r"enabled|included|supported)|upgrade)",
    ),
    # How many tokens one image may cost: no text is too long.
    Sentence(
        "image_limit",
        ("image",),
        r"\bimage item with length \d|(?:image|vision|visual) tokens?\b[^.;]{0,60}(?:exceed\w*|over|above|>)[^.;]{0,40}"
        r"\bper[- ]image\b",
    ),
    # A table of weights whose keys are numbers of tokens: their maximum is the vocabulary's.
    Sentence(
        "bad_request",
        ("logit",),
        r"(?:invalid|unsupported|unknown)[^.;]{0,40}logit[_ ]bias|(?:\bin )logit[_ ]bias|"
        r"logit[_ ]bias[`'\"]?:? (?:tokens?|keys?|values?|maximum|must|should|contains?|has|is)\b",
        unless=_CONTEXT,
    ),
    # "Reduzca max_tokens a 4096": how other languages cap the reply, unless they mention a context.
    Sentence(
        "output_cap",
        ("max",),
        rf"(?:{languages.LOWER})\W{{1,3}}(?:\w{{1,10}} ){{0,2}}[`'\"]?max_\w*tokens|"
        rf"max_\w*tokens[`'\"]?[를을を]?[^.;。\d]{{0,4}}(?:\d[^.;。]{{0,12}})?{languages.LOWERED}",
        unless=rf"{languages.CONTEXT}|{_CONTEXT}|{languages.GIVEN}[^.;。]{{0,40}}{languages.EXCEEDS}",
    ),
    # Before the overflows, since images have sizes and maxima too. "Total tokens of image and text exceed …" (Volcengine) is
    # still an overflow.
    Sentence(
        "image_limit",
        ("image", "media", "picture", "photo"),
        r"(?:image|picture|photo)s?\b[^.]{0,80}(?:\d\s?(?:[kmg]i?b|bytes|px|pixels|megapixels)\b|dimension|"
        r"resolution|pixels|megapixels)|"
        r"(?:image|picture|photo)s? (?:dimensions |size |file )?(?:exceeds?|is too|are too|too) |"
        r"too many images|maximum number of (?:image|picture|photo)s|\bper image\b|"
        r"(?:at most|maximum of|up to|more than) \d+ (?:image|picture|photo|media)s?|(?:image|"
        r"media) (?:count|limit) |images? (?:exceeds?|over) the (?:limit|maximum)",
        unless=r"tokens? of image|image and text|image tokens|context (?:length|window)",
    ),
    # "thinking.budget_tokens: 9000 must be less than max_tokens 8192" compares two fields of the request; nothing in it is long.
    Sentence(
        "bad_request",
        ("budget", "thinking tokens", "reasoning tokens"),
        r"budget_tokens|(?:thinking|reasoning) budget|max\w*[^.;]{0,20} \d+ (?:thinking|reasoning) tokens",
        unless=rf"{_GIVEN}[^.]{{0,60}}{_TOO}[^.]{{0,60}}{_CONTEXT}",
    ),
    # An answer that ended, not a request that was refused: "could not finish the message because max_tokens … was reached".
    Sentence(
        "output_stopped",
        ("reached", "hit", "truncat", "stopped", "cut off", "incomplete"),
        r"(?:response|output|generation|answer|completion)\b[^.]{0,60}(?:truncated|cut off|stopped|incomplete)[^.]{0,60}"
        r"(?:max|length|limit)|"
        r"(?:response|output|generat\w+|answer|completion|reply)\b[^.;]{0,40}\b(?:hit|reached) (?:the|its) "
        r"(?:(?!context)\w+ ){0,2}limit|"
        r"length limit was reached|could not finish the message|model output limit was reached",
    ),
    Sentence(
        "payload_too_large",
        ("pdf",),
        r"(?:maximum of|at most|more than|up to) \d+ pdf pages|pdf[^.]{0,40}(?:too large|exceeds|too many pages)",
    ),
    # One field is too long, often under a code that says overflow elsewhere (LiteLLM wraps it as ContextWindowExceededError).
    Sentence(
        "field_length",
        ("string", "array", "list", "maxitems", "maxlength", "at most", "name", "#/"),
        r"string[_ ](?:too[_ ]long|above[_ ]max)|expected a string with maximum length|string should have at most|"
        r"string length \(?\d+\)? exceeds|"
        r"(?:tool|function)(?:'s)? ?(?:name|description)[^.]{0,60}(?:too long|exceed|at most|longer than)|"
        r"should have at most \d+ characters|"
        r"malformed input request: #/(?!prompt|inputtext|messages)[\w/]+: expected maxlength",
        "shrink_field",
    ),
    # We cannot cut too many items: which tool to leave out is the caller's choice.
    Sentence(
        "field_length",
        ("array", "list", "maxitems", "too many tools", "tools"),
        r"array[_ ](?:too[_ ]long|above[_ ]max)|expected an array with maximum length|(?:list|array|tuple) should have at most|"
        r"maxitems|"
        r"too many (?:tools|functions|stop sequences)|(?:maximum|at most|up to|more than) \d+ (?:tools|functions|stop sequences)",
        "fix_request",
    ),
    # Too small for a cache: two counts and a limit, but the opposite of an overflow.
    Sentence(
        "bad_request",
        ("cache", "cached"),
        r"cached? content is too small|min_total_token_count|(?:minimum|at least)[^.]{0,60}(?:cach|token)[^.]{0,60}cach|"
        r"too (?:small|short)[^.]{0,40}cach|cache[^.]{0,80}too (?:small|short)|"
        r"cach\w*[^.]{0,60}(?:minimum|at least|fewer than|less than)",
    ),
    # Orphaned results, broken alternation, changed signatures. A sentence that also says that the conversation does not fit its
    # context ("messages … too long for the context") is an overflow.
    Sentence(
        "malformed_history",
        (
            "tool",
            "role",
            "thinking",
            "assistant",
            "function",
            "signature",
            "alternat",
            "user message",
            "text content",
            "messages",
        ),
        r"tool_use_id|tool_use[`'\"]? (?:ids?|blocks?)|tool_result[`'\"]? block|unexpected [`'\"]?tool_|"
        r"role [`'\"]?tool[`'\"]? must|tool_call_ids? |tool_calls?[`'\"]? must be followed|"
        r"must be a response to a prec|(?:redacted_)?thinking[`'\"]? blocks?|invalid [`'\"]?signature|"
        r"thought_signature|roles? must alternate|alternate between|"
        r"unexpected role|expected last role|number of function (?:calls|response)|function (?:response|"
        r"call) (?:parts|turn)|no tool (?:call|output) found|"
        r"no function call found|text content blocks? must (?:be non-empty|contain)|all messages must have non-empty|"
        r"first message must|"
        r"last message must|final assistant (?:message|content)|reasoning[`'\"]? item|without its required following|"
        r"missing (?:a )?corresponding|"
        r"conversation must (?:start|end|alternate)|consecutive (?:user|assistant)|must end with a user|"
        r"does not support assistant message prefill|reasoning_content",
        unless=rf"{_GIVEN}[^.]{{0,60}}{_TOO}[^.]{{0,60}}{_CONTEXT}",
    ),
)
"""Sentences that say themselves what is too long, too many or broken; they outrank codes, which several kinds of refusal share."""

OUTPUT_CAP: Final = Sentence(
    "output_cap",
    ("token", "max_", "max"),
    rf"{_MAX_TOKENS}(?: or {_MAX_TOKENS})?(?: parameter| param| value)?[^.;>]{{0,30}}(?:(?:is|are) too (?:large|"
    rf"high|big)|(?:is|are) (?:limited|capped|restricted) to|"
    rf"must be|should be|cannot|can't|may not|exceeds?|(?:is|are) (?:greater|larger|higher|above|"
    rf"more)|"
    rf"out of range|in the range|between|should not|has to be|> ?=? ?\d|value of \d|{languages.EXCEEDS}|{languages.LIMIT}|"
    rf"{languages.TOO_HIGH})|"
    r"(?:completion|output|generation|reply) (?:is |would be )?too long\b|"
    rf"{_MAX_TOKENS}: ?\d+ ?>|"
    rf"invalid (?:value (?:for|of) )?(?:parameter )?{_MAX_TOKENS}|{_MAX_TOKENS}\W{{1,4}}\d+[.;] ?(?:it )?must be|"
    r"maximum tokens you requested exceed|(?:at most|up to|maximum of|only) \d+ (?:output|completion|new|"
    r"generated|response) tokens|"
    r"max(?:imum)? (?:allowed )?(?:number of )?(?:output|completion|new|generated|response) (?:tokens|"
    r"length)[^.]{0,40}(?:exceed|allowed|limit|is \d)|"
    rf"(?:exceeds?|above|over|greater than|larger than|higher than) (?:the )?(?:model'?s? )?max(?:imum)? "
    rf"(?:allowed )?(?:number of )?(?:output|"
    rf"completion|generation)|"
    rf"range of {_MAX_TOKENS} should|(?:output|completion|response) (?:tokens?|length)[^.]{{0,30}}(?:limit|"
    rf"exceed|too (?:large|high|many))|"
    r"maximum allowed number of output tokens",
    unless=rf"{_JOINED}|got -\d{{2,}}|"
    rf"{_MAX_TOKENS}[^.;]{{0,30}}(?:exceed\w*|{languages.EXCEEDS})[^.;]{{0,40}}(?:context|{languages.CONTEXT})|"
    rf"(?:output|completion)[^.;]{{0,40}}exceed\w*[^.;]{{0,40}}context",
)
"""Only the requested reply is too long, and the history is not at fault; a sentence that counts the input too is not among these.

"got -37" is vLLM's way to say that the input leaves less than nothing for the reply: an overflow.
"""

# Codes and types as providers write them (`context_length_exceeded`, `ContextWindowExceededError`, `prompt_tokens_exceeded`); the
# underscores are optional, since names of exceptions have none.
OVERFLOW_CODES: Final = (
    r"context_?(?:length|window|size|limit|token|budget)s?_?(?:limit_?)?(?:exceed|overflow|too_long)|exceed(?:ed|"
    r"s)?_context|prompt_tokens_exceeded|context_?overflow|"
    r"tokens?_limit_(?:reached|exceeded)|token_quantity_exceeded|(?:prompt|input|tokens?|messages?|context|"
    r"characters)_?too_?(?:long|many)|max_context|input_length_exceed|"
    r"prompt_length_exceed|model_context_window|max_prompt_tokens|out_?of_?context"
)
"""Codes, types and names of exceptions that say overflow, as a regular expression over an error's lower-cased codes."""
NO_MODEL_CODES: Final = r"(?:model|deployment)_?not_?found|no_?such_?model|unknown_?model|invalid_?model\b"
"""Codes that say that the model does not exist: such an error refuses no request, but may still mention a window."""
OVERFLOW_NAMES: Final = (
    r"context_?overflow(?:error|exception)\b|"
    r"context_?(?:window|length|size|limit)_?(?:limit_?)?(?:exceeded|overflow(?:ed)?)(?:error|exception)?\b"
)
"""Names of exceptions that say overflow within a text: stricter than the codes, since a text may only talk about them."""

# Words of a pace: so much in a minute or day, too many at once, wait.
_TEMPO = (
    r"rate[ _-]?limit|rate increased|too[ _]many[ _]requests|throttl|(?:\b|_)per[ _-]?(?:minute|min|day|"
    r"hour|second|sec)(?![a-z])|per(?:minute|day|hour)|tokens?/min|"
    r"\b[tri]?[tr]p[md]\b|\b[io]tpm\b|please wait|wait before|try again in \d|retry (?:in|after) \d|"
    r"resource[ _](?:has been )?exhausted|"
    r"requests? in flight|tokens in flight|concurren(?:t|cy)|daily (?:limit|quota)|限流|频率|请求过于频繁"
)
PACE: Final = Sentence(
    "rate_limit",
    (
        "rate",
        "too",
        "throttl",
        "per",
        "wait",
        "again",
        "tpm",
        "rpm",
        "tpd",
        "rpd",
        "exhausted",
        "retry",
        "flight",
        "concurren",
        "daily",
        "限",
        "频",
    ),
    _TEMPO,
)
"""A pace that was too fast, in its own words."""

WAITING: Final[tuple[Sentence, ...]] = (
    # "Request too large for gpt-4o … tokens per min: Limit 60000, Requested 99812": no minute will ever hold it.
    Sentence(
        "rate_limit_single_request",
        ("too large", "limit", "requested"),
        rf"(?:request|prompt|message)s? (?:is |was )?too large[^\n]{{0,200}}(?:{_TEMPO})|(?:{_TEMPO})[^\n]{{0,200}}(?:request|"
        rf"prompt) (?:is |was )?too large",
    ),
    # A limit that says when it ends, or that covers hours, days or a week, is waited out whatever it is called: "You've hit your
    # limit · resets 1:30am", "usage limit … try again at 8:15 PM", "exhausted your daily quota". A month or money is not.
    Sentence(
        "rate_limit",
        ("reset", "again", "daily", "hour", "session", "weekly", "|"),
        r"(?:limit|quota|usage|allowance|capacity)\b[^;]{0,120}\breset(?:s|ting)?\b[^.;]{0,24}(?:\d|midnight|tomorrow)|"
        r"(?:usage|session|rate|token|request)s? limit\b[^;]{0,200}\btry again (?:(?:at|in|on|after) )?(?:\d|tomorrow|"
        r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d)|"
        r"usage limit reached\|\d{10}|"
        r"(?:daily|hourly|weekly|session|\d-hour) (?:\w+ ){0,2}(?:limit|quota|allowance)\b",
        unless=r"(?:out of|no more|enough) credits|credits? (?:balance|reset|limit)|insufficient|balance|payment required|"
        r"billing (?:cycle|period)|month|spend|budget",
    ),
    # Google calls its pace a quota too ("Quota exceeded for … per minute"): that is waited out.
    Sentence(
        "quota",
        (
            "quota",
            "credit",
            "balance",
            "billing",
            "fund",
            "payment",
            "afford",
            "spend",
            "usage limit",
            "余额",
            "欠费",
            "额度",
            "subscription",
            "budget",
            "allowance",
            "limit",
            "usage",
        ),
        r"insufficient[_ ](?:quota|balance|credits?|funds|account)|credit balance|payment[_ ]required|"
        r"(?:out of|more|no|not enough|enough) credits|can only afford|"
        r"exceeded (?:your|the|its) (?:current |monthly |daily |account |token )*quota|quota[_ ](?:has been |"
        r"was |is )?(?:exceeded|exhausted|reached|used up)|quota is used up|exceeded_current_quota|usage limit|"
        r"spend(?:ing)? limit|balance is (?:too low|insufficient|not enough)|billing[_ ](?:hard[_ ]limit|"
        r"not[_ ]active|error)|credit[_ ]?limit|余额不足|欠费|额度(?:已|不足)|"
        # What a gateway may spend, and a subscription gives.
        r"budget_exceeded|budget has been exceeded! |(?:exceeded|crossed) budget\b|exceededbudget|"
        r"exceeded your [\w ]{0,30}allowance|(?:reached|exceeded) your monthly limit|out of extra usage|hit your limit\b",
        unless=r"per[ _-]?(?:minute|min|second|sec|hour)(?![a-z])|perminute|persecond|perhour",
    ),
    PACE,
    Sentence(
        "overloaded",
        ("overload", "capacity", "busy", "unavailable"),
        r"overloaded|(?:at|over|out of|insufficient) capacity|(?:server|engine|model|service) (?:is )?(?:currently )?(?:too )?busy|"
        r"temporarily unavailable",
        unless=r"context (?:length|window|size|limit)",
    ),
)
"""Sentences that ask to wait or to pay, the more specific first; they outrank overflows, whose words they use."""

OVERFLOWS: Final[tuple[Sentence, ...]] = (
    # What was sent, "too", and a context in one sentence, in either order. A server that failed to compute its context is a fault.
    Sentence(
        "context",
        ("context", "n_ctx", "max_model_len", "max_num_tokens", "model"),
        rf"{_GIVEN}[^.;]{{0,80}}>=? ?{_CONTEXT}|(?:reached|hit|hits|filled(?: up)?) (?:its|the|your|this model'?s?) "
        rf"(?:max\w* |full )?{_CONTEXT}|(?:ran|run|running) out of (?:room|space|tokens)[^.;]{{0,30}}{_CONTEXT}|"
        rf"\bcontext (?:the )?overflow(?:s|ed)\b|{_GIVEN}[^.;]{{0,80}}\b{_TOO}[^.;]{{0,80}}{_CONTEXT}|"
        rf"{_TOO}[^.;]{{0,60}}{_CONTEXT}|{_CONTEXT}[^.;]{{0,40}}(?:exceeded|"
        rf"overflow(?:ed|s)?\b(?! bug)|is full|reached|exceeds|too small for)|"
        rf"remove[^.;]{{0,40}}tokens?[^.;]{{0,20}}\bto fit\b[^.;]{{0,40}}{_CONTEXT}|"
        rf"{_CONTEXT} (?:\(?\d[^.;]{{0,20}})?(?:is|was) (?:smaller|less|shorter|lower) than",
        unless=r"internal error|fail(?:ed|ure) to (?:compute|validate|determine|load)|too small \(|is not configured|not set",
    ),
    # A maximum with its number, as in "maximum context length is 4096 tokens". For the reply's tokens or per minute it is another
    # refusal; "must be at least" is the opposite.
    Sentence(
        "context",
        ("max", "context", "limit"),
        r"max(?:imum)?[ _]?(?:context|prompt|model|sequence|input|total|allowed|token)[\w ]{0,24}?(?:length|"
        r"window|size|tokens?|limit|count)?(?: is| of|:| was|=| =)? ?(?:only )?[(`]?~?\d|"
        # Some servers do not know their own window: -1, None.
        r"max(?:imum)?[ _]?(?:context|prompt|model|input) (?:length|window|size) is (?:-\d|none\b|null\b)[^;]{0,80}requested \d|"
        r"^\W*(?:error\W*)?context overflow\b|context overflow:|context (?:length|window|size|limit) (?:of [^.;]{0,40})?(?:is|"
        r"of|was|:) ?(?:only )?~?\d+k?\b|"
        r"limited to (?:a )?(?:maximum )?(?:context|prompt|input)|exceed[^.;]{0,20}limit[^.;]{0,20}\d+ > ?\d+",
        unless=(
            r"(?:output|completion|new|generated|response) (?:tokens|length)[^.]{0,12}$|per (?:min|day|hour)|"
            r"must be at least|min(?:imum)? (?:is|of)|too small"
        ),
    ),
    # Google's own servers, through proxies: "Cannot truncate to 89998, required 355220".
    Sentence("context", ("truncate",), r"cannot truncate (?:the \w+ )?to \d+[^.;]{0,20}\brequire[sd]? \d"),
    # "prompt is too long" and its kin without a number; about a URL or a header it is something else.
    Sentence(
        "context",
        ("too", "long", "fit"),
        r"\b(?:prompt|inputs?|messages?|conversation|chat history|history|context|query|input text|text input|"
        r"input token(?:s)?(?: length)?|input length|prompt length|prompt tokens?)"
        r"[`'\"]? (?:you \w+ )?(?:is |are |was |were |has become |got )?(?:much |far |way )?(?:too (?:long|large|big)|"
        r"does(?: not|n't) fit)|too many (?:input |prompt |context |total )?tokens|"
        r"(?:prompt|input|messages)\w* tokens?(?: is| are)? too (?:many|large|long)|token length too long|"
        r"^inputs? \(\d+ tokens\) is too large to process",
        unless=r"too many tokens in the (?:output|completion)|fields? too long|header|url|uri|"
        r"(?:audio|voice|video|speech)\b[^.;]{0,40}\d s",
    ),
    # Everything that MiniMax says, as an error's whole text.
    Sentence("context", ("token limit",), r"^(?:invalid params, )?token limit(?: \(\d{1,6}\))?$"),
    # Everything that a server of llama.cpp says, as an error's whole text, whose window was full before its reply was done.
    Sentence("context", ("context shift",), r"^(?:error: )?context shift is disabled\W*$"),
    # Only the advice shows it.
    Sentence(
        "context",
        ("reduce", "shorten", "decrease", "trim", "shorter"),
        r"(?:reduce|shorten|decrease|trim|cut) (?:the |your )?(?:(?:length|size|number|amount) of (?:the |"
        r"your )?(?:tokens in (?:the |your )?)?(?:input )?(?:messages?|prompt|inputs?|conversation|history|"
        r"context)|"
        r"(?:prompt|inputs?|messages?|conversation|context)(?: (?:length|size|tokens))?\b)|(?:use|try using|"
        r"try) a shorter (?:prompt|input)",
    ),
    # Counts of tokens or characters of the input, above a limit that is not called a context.
    Sentence(
        "context",
        ("token", "length", "char"),
        rf"(?:input|prompt|request|message|sequence|context|query|total)\w*'?s?[^.;]{{0,60}}(?:tokens?|"
        rf"length|characters?|size|count)[^.;]{{0,60}}\b{_TOO}[^.;]{{0,60}}(?:\d|max|limit|allowed)|"
        rf"tokens? (?:in|from|of) (?:the |your |this )?(?:input|prompt|request|messages?)[^.;]{{0,40}}\b{_TOO}|"
        rf"(?:input|prompt|request|messages?)\b[^.;]{{0,60}}\b{_TOO}[^.;]{{0,60}}\b(?:tokens?|token limit|characters)\b|"
        r"(?:model )?token limit(?: of \d+)? (?:was |is |has been )?(?:exceeded|reached)|exceed\w* (?:the |"
        r"your |its )?(?:model'?s? )?(?:max\w* )?(?:token|message token|input token|prompt token)s?(?: limit|"
        r" count)?|"
        r"number of (?:input |prompt )?tokens[^.;]{0,60}(?:exceed|more than|greater|larger)|tokens? (?:count )?(?:is |"
        r"are )?(?:above|over|beyond) the (?:limit|maximum)|"
        rf"{_GIVEN} (?:length |size )?(?:exceeds?|exceeded|is over|is above|is longer than) (?:the )?(?:allowed |"
        rf"model'?s? )?max(?:imum)? (?:length|size|limit)\b(?! \d+ ?(?:bytes|[kmg]i?b))|"
        r"(?:range of )?(?:input|prompt) (?:length|tokens?)\w* (?:should|must) be|expected maxlength: ?\d+, actual|"
        r"max(?:imum)? (?:number of )?input (?:characters|tokens|length)|input characters? limit|"
        r"\d+ tokens? (?:over|above|beyond|past) (?:the|your|its)\b[^.;]{0,30}(?:limit|window|context|maximum)|"
        r"(?:prompt|input|sequence|context)[ _](?:length|tokens?|size)[ :=(]{0,3}\d+ ?>=? ?\d|"
        r"\d+ tokens? ?(?:>|>=|exceeds?|is (?:over|above|more than|greater than)) ?(?:the )?\w* ?\d+|"
        r"(?:max(?:imum)?|limit)\w*(?: size| of|:| is)* ?\d+ tokens?\b|tokens to keep from the initial prompt|"
        r"max_tokens must be at least 1, got -\d{2,}",
        unless=(
            rf"(?:output|completion|generated|response) (?:tokens?|length)[^.;]{{0,40}}{_TOO}(?![^.;]*context)|"
            rf"\bimages? must|file (?:size|content)"
        ),
    ),
)
"""Sentences that say that a request is larger than its context; one is enough. Ask through `says_overflow`."""

NAMES_ITS_INPUT: Final = r"^inputs? \(\d+ tokens\) is too large to process|输入(?:内容)?(?:超长|过长)"
"""Sentences that say overflow even with a server error: they name the input and nothing else that could be too long."""

_FOREIGN_OVERFLOW = Sentence(
    "context", languages.CUES, languages.TOO_LARGE, unless=languages.NO_REQUEST, within_chars=languages.WITHIN_CHARS
)
FOREIGN: Final = (
    Sentence("output_cap", ("token", *languages.CUES), languages.REPLY_CAP, within_chars=languages.WITHIN_CHARS),
    Sentence("rate_limit", (), languages.PACE, within_chars=languages.WITHIN_CHARS),
    Sentence("quota", (), languages.PLAN, within_chars=languages.WITHIN_CHARS),
)
"""What outranks an overflow in languages other than English; never an English one, which may quote a prompt in any language."""

PAYLOAD: Final = Sentence(
    "payload_too_large",
    ("large", "size", "bytes", "mb", "payload", "body", "entity", "larger"),
    r"(?:request|payload|entity|body|content|file|upload|message)\b[^.]{0,40}(?:too[ _]large|exceeds|larger than|"
    r"over)[^.]{0,60}(?:size|bytes|\d ?[kmg]i?b\b|limit|max|$)|"
    r"(?:request|payload|entity|body|content)[ _](?:entity |body |payload )?(?:is )?too[ _]large|request_too_large|"
    r"content_too_large|"
    r"exceeds? (?:the )?(?:max\w* |allowed )*(?:size|payload|body)|\d ?(?:bytes|[kmg]i?b)\b[^.]{0,30}(?:exceed|"
    r"limit|max|larger|over)|(?:exceed|limit|max|larger than)[^.]{0,40}\d ?(?:bytes|[kmg]i?b)\b|received message larger than max",
)
"""The body has too many bytes, which no count of tokens cures: 413, nginx, gRPC, Google's 20 MB."""
_BYTES = r"\d ?(?:bytes|[kmg]i?b)\b|megabytes|kilobytes"

_COUNTS = (
    r"tok(?:en)?s?\b|context|トークン|上下文|输入|(?:text|prompts?|inputs?|messages?)\b[^.]{0,40}\d+ char(?:acter)?s"
)
# A token that grants access is not one that is counted: "access token too long" is about a key.
_CREDENTIAL = r"(?:access|auth\w*|api|bearer|session|refresh|security|id|csrf) token"

OTHERS: Final[tuple[Sentence, ...]] = (
    PAYLOAD,
    Sentence(
        "content_policy",
        ("content", "safety", "policy", "filter", "moderat", "flagged", "prohibited", "sensitive", "blocked", "敏感"),
        r"content[_ -]?(?:policy|filter|management|moderation)|responsible ?ai|safety (?:system|settings|"
        r"reasons|filter)|usage polic|prohibited_content|moderation|flagged|"
        r"potentially unsafe|sensitive (?:content|words|information)|blocked (?:by|due|because)|敏感",
    ),
    Sentence(
        "auth",
        ("api key", "api_key", "auth", "permission", "credential", "token", "forbidden", "access"),
        r"(?:invalid|incorrect|missing|no|expired)[^.]{0,12}(?:api[ _-]?key|x-api-key|credential|access token|"
        r"auth)|authenticat(?:ion|e)(?:_error| failed|error)?|unauthori[sz]ed|"
        r"permission[_ ]?(?:error|denied)|access ?denied|forbidden",
    ),
    Sentence(
        "connection",
        ("connect", "timed out", "timeout", "disconnect", "reset by peer", "eof"),
        r"connection (?:error|refused|reset|aborted|closed|timed out)|connect(?:ion)? ?(?:error|timeout)|"
        r"disconnected|timed out|time(?:d)?[ -]?out|reset by peer|unexpected eof|remoteprotocolerror",
    ),
    Sentence(
        "server_error",
        ("internal", "server", "upstream", "gateway"),
        r"internal[_ ](?:server[_ ])?error|server[_ ]error|internalservererror|bad gateway|gateway time-?out|"
        r"upstream (?:error|connect|connection)|internalserverexception",
    ),
)
"""Sentences of every other kind, tried if nothing above matched."""

SETTINGS_CODE: Final = "connection_by_settings"
"""The code of our own failures to connect that no later try cures: a certificate that is not trusted, a proxy's 407."""

# The order counts: `too_long$` means a list only because `string_too_long` was tried before it, and `invalid` is in almost every
# code of OpenAI ("invalid_request_error"), so it comes last.
CODES: Final[tuple[tuple[str, str, str | None], ...]] = (
    ("field_length", r"string_above_max_length|string_too_long", "shrink_field"),
    ("field_length", r"array_above_max_length|too_long$", "fix_request"),
    ("quota", r"spend_?limit", None),  # before the type of such an error, which is `rate_limit_error` at Anthropic
    ("rate_limit", r"rate_?limit|too_?many_?requests|throttl|resource_exhausted|slow_down", None),
    (
        "quota",
        (
            r"insufficient_quota|insufficient_balance|billing|quota_exceeded|payment_required|insufficient_credits|"
            r"exceeded_current_quota"
        ),
        None,
    ),
    ("overloaded", r"overload|service_?unavailable|capacity", None),
    ("payload_too_large", r"request_(?:body_)?too_large|content_?too_?large|payload_too_large|entitytoolarge", None),
    ("image_limit", r"image_(?:file_|dimensions_)?too_large", None),
    (
        "content_policy",
        r"content_filter|content_policy|bio_policy|policy_violation|moderation|responsibleaipolicy|data_inspection_failed|safety",
        None,
    ),
    ("auth", r"authentication|permission|unauthori|invalid_api_key|access_?denied|forbidden", None),
    ("connection", r"connect|timeout|timedout|remoteprotocol", None),
    ("server_error", r"server_?error|internal_?(?:server)?_?error|api_error$|internalserver", None),
    ("bad_request", r"bad_?request|invalid|validation|not_?found|unprocessable", None),
)
"""Kinds by a code, a type or the name of an exception, if no sentence decided."""

# From specific statuses to ranges: the first row that holds a status counts.
STATUSES: Final[tuple[tuple[int, int, str], ...]] = (
    (401, 401, "auth"),
    (403, 403, "auth"),
    (408, 408, "connection"),
    # 409 and 425 ask for the same request again, and both official SDKs send it again after 409. 424 does not: SageMaker answers
    # so to whatever its model refused.
    (409, 409, "overloaded"),
    (425, 425, "overloaded"),
    (413, 413, "payload_too_large"),
    (503, 503, "overloaded"),
    (400, 499, "bad_request"),
    (500, 599, "server_error"),
)
"""What an HTTP status alone means: first and last status, kind. 402, 429 and 529 are handled with `WAITING`, before other words."""
STOPS: Final = {
    "length": "output_stopped",
    "max_tokens": "output_stopped",
    "max_output_tokens": "output_stopped",
    "continuation": "output_stopped",  # Gemini's limit for one request, after which google-genai itself asks for the rest
    "model_context_window_exceeded": "context_total",
    "context_window_exceeded": "context_total",
    "model_length": "context_total",
    "content_filter": "content_policy",
    "content_filtered": "content_policy",
    "guardrail_intervened": "content_policy",
    "safety": "content_policy",
    "recitation": "content_policy",
    "blocklist": "content_policy",
    "prohibited_content": "content_policy",
    "spii": "content_policy",
    "image_safety": "content_policy",
    "image_prohibited_content": "content_policy",
    "image_recitation": "content_policy",
    "model_armor": "content_policy",
    "jailbreak": "content_policy",
    "refusal": "content_policy",
}
"""What the reason for which an answer stopped means, as wires write it; reasons of a normal end are in `ENDS`."""
ENDS: Final = frozenset(
    {
        *("", "stop", "end_turn", "stop_sequence", "tool_use", "tool_call", "tool_calls", "function_call"),
        *("complete", "completed", "eos", "eos_token", "end", "stop_token", "finish_reason_unspecified"),
    }
)
"""Reasons for which an answer stops that is whole, in small letters, as wires, compatible servers and frameworks write them."""
PAUSES: Final = frozenset({"pause_turn", "compaction", "steered"})
"""Reasons for which a provider hands over an unfinished turn: what came goes back as it is, whatever it says."""


def says(sentence: Sentence, text: str) -> bool:
    """Whether a flattened text is this sentence: it has a cue and matches the pattern, and nothing cancels the meaning."""
    if sentence.cues and not any(cue in text for cue in sentence.cues):
        return False
    if (near := sentence.within_chars) is not None and len(text) > 2 * near:
        text = f"{text[:near]}. {text[-near:]}"
    if compiled(sentence.pattern).search(text) is None:
        return False
    return sentence.unless is None or compiled(sentence.unless).search(text) is None


def says_counts(text: str) -> bool:
    """Whether a flattened text speaks of tokens or characters of a request, and not of a key called token.

    If its numbers alone prove an overflow, such a text needs no known sentence: that is how wordings are read that nobody has
    collected.
    """
    return compiled(_COUNTS).search(text) is not None and compiled(_CREDENTIAL).search(text) is None


def says_overflow(text: str, *, in_english: bool = False) -> bool:
    """Whether a flattened text says that a request is larger than its context; bytes and keys do not count.

    Args:
        text: the text.
        in_english: whether other languages do not count either.
    """
    if compiled(_BYTES).search(text) is not None and "token" not in text and "context" not in text:
        return False
    if compiled(_CREDENTIAL).search(text) is not None:
        return False
    if any(says(sentence, text) for sentence in OVERFLOWS):
        return True
    return not in_english and says(_FOREIGN_OVERFLOW, text)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern, compiled once and only when first needed: all of them at import would cost some 50 ms."""
    return re.compile(pattern)
