"""Is a text a report of an error, or does it only talk about one? A page that explains refusals is not a report.

Only bare text is checked: passing an exception, a body or a status already says that something failed. Pages and chats use the same
sentences as providers, so the words of a refusal decide nothing here; what surrounds them decides. A machine writes marks
(`Error code: 400`, `{"error": …`, a logger's level) or one to three sentences about this request. A person writes headings and
tables, asks, supposes, says I and we.

Law: a text that holds a mark of a machine is prose only if it is laid out as a page. Leaves to others: what a refusal says
(`kinds`).
"""

from __future__ import annotations

import re
from functools import cache

MAX_SENTENCES = 3
"""How many sentences without a machine's mark may be a refusal: Ollama, LM Studio and Codex write up to three."""
MIN_PAGE_CHARS = 400
"""The shortest text that its layout can make a page: a short note with a heading may hold one pasted error."""


def is_prose(text: str) -> bool:
    """Whether a text only talks about errors: a page of documentation, a chat, a question that quotes a refusal.

    >>> is_prose("What does 'prompt is too long: 213462 tokens > 200000 maximum' mean, and how do I get out of it?")
    True
    >>> is_prose("prompt is too long: 213462 tokens > 200000 maximum")
    False

    Args:
        text: as it was written; its lines distinguish a page from a log. Only the first 8,192 characters are examined.
    """
    head = text[:8192]
    if len(head) >= MIN_PAGE_CHARS and _page().search(head) is not None and not head.lstrip().startswith(("{", "[")):
        return True
    if _mark().search(head) is not None:
        return False
    if _person().search(head) is not None or _is_statement(head):
        return True
    return len(_sentence_end().findall(head)) > MAX_SENTENCES


@cache
def _page() -> re.Pattern[str]:
    """Headings, table rules, fences and links of Markdown, each at the beginning of a line; a chapter of reStructuredText."""
    return re.compile(
        r"(?m)^(?:#{1,6} \S.*\n\s*\n|\|[ :-]*-{3,}[ :|-]*\|?\s*$|```\w*\s*$|\[!?\[?[^\]\n]+\]\([^)\n]+\)|"
        r"[=~^-]{4,}\n\n)"
    )


@cache
def _mark() -> re.Pattern[str]:
    """What only a machine writes around a refusal: codes, levels, names of exceptions, fields, traces."""
    return re.compile(
        r"[{\[]\s*[\"']\w+[\"']\s*:|^\W{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b(?:ERROR|WARN|WARNING|FATAL)\b|"
        r"\b\w*(?:Error|Exception|EXCEPTION)\b\s*[:(\]|=-]|"
        r"\b(?:[a-z]+[_.])+error\b|(?i:\berror (?:code|status)?:? ?\d|\berror[:=]|\bapi error\b|"
        r"\bhttp/?[\d.]* ?[45]\d\d\b|\bstatus(?: code|_code)?\W{1,3}[45]\d\d\b|\btraceback \(most recent|\blevel=|"
        r"\bmsg=|\bcode\W{1,3}\d|\bcode=|\brequest[ _-]?id\b|^\W*[45]\d\d\b|\bfailed (?:with|to)\b|"
        r"\bexception\b.{0,20}:|^\W*(?:sorry, )?you(?:'ve| have) (?:hit|reached|exceeded) (?:a|your)\b|"
        r"\boccurred \(|_exceeded\b|_error\b|\berr(?:no)?\b\W|\bwarn(?:ing)?:)"
    )


_APOLOGY = r"(?! (?:couldn't|could not|can't|cannot|had a problem|am unable|were unable|are unable))"


@cache
def _person() -> re.Pattern[str]:
    """What only a person writes: a question, a supposition, an example, a first-person word that is not a program's apology."""
    return re.compile(
        rf"\bI\b(?![.'])(?<!sorry, I){_APOLOGY}|\bI(?:'ve|'d)\b|\b(?i:we|my|our|we've|let's)\b{_APOLOGY}"
        r"|\?(?=\s|$|[\"')])|(?i:\bfor example\b|\be\.g\.|\bsuppose\b|\bimagine\b|\bas follows\b)"
        r"|^(?i:when|whenever|if|how|why|what|which|should|could|can|does|is it|tell|explain|summari[sz]e|write|"
        r"please (?:explain|tell|write|summari[sz]e))\b"
    )


@cache
def _sentence_end() -> re.Pattern[str]:
    """The end of a sentence before another one, or before the end of the text."""
    return re.compile(r"[a-z\d)`\"'][.!](?=\s+[\"'`(]?[A-Z]|\s*$)|。")


def _is_statement(text: str) -> bool:
    """Whether a text only says what a model holds, or what happens to requests in general, so that no request was refused.

    A refusal complains: something exceeds, does not fit, should be shortened, or was counted.
    """
    return _in_general().search(text) is not None or (
        _holds().search(text) is not None and _complaint().search(text) is None
    )


@cache
def _in_general() -> re.Pattern[str]:
    """Requests in general instead of this request: "Prompts longer than 200,000 tokens are …", "A request may not exceed …"."""
    return re.compile(
        r"(?i)^\s*(?:any |all |each |every )?(?:requests|prompts|inputs|messages|conversations|documents) "
        r"(?:that|which|whose|longer|larger|bigger|exceeding|over|above|beyond|with (?:more|over))\b"
        r"|^\s*(?:a|an|each|every|any) (?:request|prompt|input|message|conversation) (?:may|can|must|should|cannot|that|which)\b"
    )


@cache
def _holds() -> re.Pattern[str]:
    """What a model holds: "has a context window of 200,000 tokens", "the maximum context length is 8192 tokens"."""
    return re.compile(
        r"(?i)\b(?:context (?:window|length|size|limit)|token limit|input limit|max\w* (?:input|tokens))\b"
    )


@cache
def _complaint() -> re.Pattern[str]:
    """What a refusal says besides a limit: what is wrong with this request, what it counted, or what to do."""
    return re.compile(
        r"(?i)\b(?:exceed\w*|surpass\w*|over\w*|too|(?:long|larg|bigg|great|small|short|few)er|less|more|above|beyond|fits?|"
        r"reduc\w*|shorten\w*|trim\w*|truncat\w*|however|but|your?|request\w*|result\w*|got|given|received|provided|contains?|"
        r"reached|full|please|try|fail\w*|errors?|refus\w*|reject\w*|can ?not|can't|unable|invalid|must|should|not|ran|out|"
        r"this|prompt|messages|current\w*|used|left|remain\w*|compact\w*)\b|[<>]|[a-z]_[a-z]|\d+ ?/ ?\d"
    )
