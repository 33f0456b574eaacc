"""Which kind is it, all things considered? One layer of evidence in the order of `kinds`, with the numbers of the best text.

Words, codes, names of exceptions and the HTTP status often disagree: LiteLLM names an exception after words that it saw, a 429
comes with a body about a context, a 500 quotes the sentence of another request. `Judge._from_wording` defines the order in which
they are believed; each exception to it is a small method with the case that made it necessary.

Laws: what is not an overflow is never called one; evidence is never changed; nothing raises. Leaves to others: the words of the
kinds (`kinds`) and the roles of the numbers (`numbers`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.overflow import kinds, numbers
from penstock.overflow.bound import Bound, checked, with_fields
from penstock.overflow.refusal import Diagnosis, Overflow
from penstock.overflow.waiting import retry_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.overflow.rules import RefusalRule
    from penstock.overflow.walk import Evidence

# Kinds that waiting may cure; for the others a waiting time would be a wrong promise.
_WHEN_IT_ENDS = frozenset({"resets_at", "resets_in_seconds"})  # fields that accompany a plan's limit
_WAITS = frozenset(
    {
        "rate_limit",
        "rate_limit_single_request",
        "quota",
        "overloaded",
        "server_error",
        "connection",
        "long_context_tier",
    }
)
# Input and reply are named together, so the reply counts towards the limit even if no number of it is stated.
_BOTH = (
    r"(?:input|prompt|messages?|context)\w*[`'\"]*(?: length| tokens| token count)?\s*(?:\+|and|plus)\s[^.\d]{0,25}(?:output|"
    r"max_?\w*tokens?|prediction|completion tokens|max_new)"
    r"|max_?\w*tokens?[`'\"]? (?:would |will )?exceeds?[^.]{0,40}context"
)


class Judge:
    """One layer of evidence under judgement, examined in the order of `kinds`.

    Args:
        evidence: what one layer of an error says, as yielded by `walk.layers`.
        http_status: the status that the caller knows, None if unknown.
        rules: the user's own sentences, which outrank everything.
    """

    def __init__(self, evidence: Evidence, http_status: int | None, rules: Sequence[RefusalRule]) -> None:
        self.evidence = evidence
        # An error in a stream came under HTTP 200, and its body says 400: below 300 the evidence's status takes precedence.
        self.rules = rules
        stated = http_status if http_status is not None and http_status >= 300 else None
        self.spoken_by_provider = http_status is not None or bool(evidence.statuses)
        self.status = stated or next((s for s in evidence.statuses if s >= 400), None) or http_status
        self.codes = " ".join(evidence.codes)
        self.certain = True

    def judge(self) -> tuple[Diagnosis, bool]:
        """Return the diagnosis, and whether this layer itself said so (True) or only its status or a vague code did.

        For a layer that is not certain, the exception that it wraps is examined (`diagnose`).
        """
        if (told := self._by_rules()) is not None:
            return told, True
        # Before all words: they are those of a proxy or of a certificate, and no provider has spoken.
        if kinds.SETTINGS_CODE in self.evidence.codes:
            return self._plain("connection", "none"), True
        said = self._from_wording()
        if said is not None:
            return said, self.certain
        # A 503 with the type "server_error" is a fault of the server, not too much load: the code is more specific.
        if (
            self.status is not None
            and self.status >= 500
            and (told := self._by_code({"server_error"}, only=True)) is not None
        ):
            return told, False
        for low, high, kind in kinds.STATUSES:
            if self.status is not None and low <= self.status <= high:
                return self._plain(kind), False
        by_code = self._by_code({"bad_request", "server_error"})
        return (by_code or Diagnosis(kind="unknown", recovery="none")), False

    def _by_rules(self) -> Diagnosis | None:
        """Return what the first rule says that matches any text; its numbers are checked like those that are read."""
        for rule in self.rules:
            for text in self.evidence.texts:
                if (match := rule.match(text, self.status)) is not None:
                    if not rule.kind.startswith("context_"):
                        return self._plain(rule.kind, rule.recovery)
                    bound = checked(
                        Bound(
                            limit=match.get("limit"),
                            input=match.get("input"),
                            output=match.get("output"),
                            total=match.get("total"),
                            excess=match.get("excess"),
                            unit=rule.unit,
                        )
                    )
                    return self._overflow(bound, rule.kind, rule.recovery)
        return None

    def _from_wording(self) -> Diagnosis | None:
        """Return what the words and codes of this layer say, None if only the HTTP status is left.

        The order of belief, and what breaks without each step:

        1. A tool that refuses, if nothing points to a provider: "File content (29375 tokens) exceeds maximum allowed tokens".
        2. A sentence or a code that names its subject: "string too long" under a ContextWindowExceededError is about one field,
           and a model that was not found has refused nothing, whatever is said of its window.
        3. A cap on the reply: "max_tokens: 128001 > 128000" has two numbers and a maximum, as an overflow has.
        4. A code that says overflow: newer SDKs hide the sentence, and the code holds under a 429 too.
        5. The reason for which an answer stopped, if an answer came in place of an error.
        6. Waiting and paying: "Too many tokens, please wait" has the words of 7 and another cure. A 429 is decided here. Languages
           other than English come after it: a refusal in English may quote a prompt that speaks of prices per day.
        7. A sentence that says overflow; or numbers that prove one, if a status or a code shows that a provider spoke.
        8. Everything else by its sentence, then by its code.
        """
        texts = self.evidence.texts
        if not self.spoken_by_provider and not self.codes and texts and kinds.says(kinds.TOOL, texts[0]):
            return self._plain("tool_refusal")
        for sentence in kinds.SUBJECTS:
            if self._any(sentence):
                return self._plain(sentence.kind, sentence.recovery)
        if (told := self._by_code({"field_length"}, only=True)) is not None:
            return told
        if kinds.compiled(kinds.NO_MODEL_CODES).search(self.codes) is not None:
            return self._plain("bad_request")
        if self._caps_the_reply():
            return self._plain("output_cap")
        if kinds.compiled(kinds.OVERFLOW_CODES).search(self.codes) is not None and not self._tempo_by_name_only():
            return self._overflow_of(texts)
        for stop in self.evidence.stops:
            if (kind := kinds.STOPS.get(stop)) is not None:
                return self._overflow(Bound(), kind) if kind == "context_total" else self._plain(kind)
        if (told := self._waiting() or self._foreign()) is not None:
            return told
        speaking = [
            text for text in texts if kinds.says_overflow(text) or kinds.compiled(kinds.OVERFLOW_NAMES).search(text)
        ]
        if not speaking and (self.status is not None or self.codes):
            speaking = [text for text in texts if kinds.says_counts(text) and numbers.bind(text).proven]
        if speaking and self._believable(speaking):
            return self._overflow_of(speaking)
        for sentence in kinds.OTHERS:
            if self._any(sentence):
                return self._plain(sentence.kind, sentence.recovery)
        return self._by_code(set())

    def _any(self, sentence: kinds.Sentence) -> bool:
        """Whether any text is this sentence."""
        return any(kinds.says(sentence, text) for text in self.evidence.texts)

    def _caps_the_reply(self) -> bool:
        """Whether a sentence caps the reply, and does not also count an input that does not fit together with it.

        vLLM says both at once: "'max_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your
        request has 1000 input tokens" is an overflow of the two together.
        """
        for text in self.evidence.texts:
            if kinds.says(kinds.OUTPUT_CAP, text):
                bound = numbers.bind(text)
                counted = kinds.compiled(r"(?:input|prompt|message)s? tokens|context (?:length|window)").search(text)
                return not (counted and bound.limit is not None and bound.input is not None)
        return False

    def _tempo_by_name_only(self) -> bool:
        """Whether only the name of a wrapper says overflow (LiteLLM guesses it from words), and the sentence asks to wait.

        A provider's own code is not such a name: `context_length_exceeded` has no "error", ContextWindowExceededError does.
        """
        named = [c for c in self.evidence.codes if re.search(kinds.OVERFLOW_CODES, c)]
        return all("error" in code or "exception" in code for code in named) and self._any(kinds.PACE)

    def _waiting(self) -> Diagnosis | None:
        """Return the rate limit, quota or overload that words, the status or a code report; None if they do not."""
        for sentence in kinds.WAITING:
            if self._any(sentence):
                if sentence.kind == "quota" and not _WHEN_IT_ENDS.isdisjoint(self.evidence.fields):
                    return self._plain("rate_limit")
                if sentence.kind == "rate_limit" and self._asks_more_than_a_minute_gives():
                    return self._plain("rate_limit_single_request")
                # Google's quota id says what it is per: "GenerateContentInputTokensPerModelPerMinute" is waited out.
                if sentence.kind == "quota" and re.search("perminute|persecond|perhour|perday", self.codes):
                    return self._plain("rate_limit")
                return self._plain(sentence.kind, sentence.recovery)
        # A 429 without words for it is a rate limit, but not certainly: what it wraps may say more.
        if self.status == 429:
            self.certain = False
            told = self._by_code({"rate_limit", "quota"}, only=True)
            return told if told is not None and told.kind == "quota" else self._plain("rate_limit")
        if self.status in {402, 529}:
            return self._plain("quota" if self.status == 402 else "overloaded")
        told = self._by_code({"rate_limit", "quota", "overloaded"}, only=True)
        # A code of this group under a status below 429 is doubtful: numbers that prove an overflow outrank it.
        return (
            None
            if told is not None and self.status is not None and self.status < 429 and self._numbers_say_overflow()
            else told
        )

    def _foreign(self) -> Diagnosis | None:
        """Return what a text in a language other than English says instead of an overflow; None if it may say one."""
        if any(kinds.says_overflow(text, in_english=True) for text in self.evidence.texts):
            return None
        return next((self._plain(sentence.kind) for sentence in kinds.FOREIGN if self._any(sentence)), None)

    def _numbers_say_overflow(self) -> bool:
        """Whether a sentence says overflow and states both limit and size."""
        return any(kinds.says_overflow(text) and numbers.bind(text).proven for text in self.evidence.texts)

    def _asks_more_than_a_minute_gives(self) -> bool:
        """Whether one request exceeds a whole minute's allowance ("Limit 8000, requested: 12000"): waiting never cures that."""
        stated = (numbers.minute_in(text) for text in self.evidence.texts)
        return next((asked > allowed for allowed, asked in filter(None, stated)), False)

    def _believable(self, speaking: list[str]) -> bool:
        """Whether sentences that say overflow are about this request: a failing server may use the same words.

        Below 500 they are, and also under a wrapper's 5xx if the error that it quotes is below 429. A 5xx counts with a name,
        numbers or a sentence that names the input; a plain 500 (Ollama answers that way) also if it says in one sentence that a
        prompt or a context is too long, and does not call itself internal.

        Args:
            speaking: the texts that say overflow, at least one.
        """
        quoted = any(400 <= status < 429 for status in self.evidence.statuses)
        if self.status is None or self.status < 500 or quoted:
            return True
        if any(
            kinds.compiled(kinds.OVERFLOW_NAMES).search(text)
            or kinds.compiled(kinds.NAMES_ITS_INPUT).search(text)
            or numbers.bind(text).proven
            for text in speaking
        ):
            return True
        return self.status == 500 and any(
            kinds.compiled(
                r"(?:prompt|input|messages?|request|context(?: (?:size|length|window))?)[^.]{0,30}(?:too long|"
                r"exceed|longer than|greater than)|prompt is too (?:big|large)|context shift is disabled"
            ).search(text)
            and "internal" not in text
            for text in speaking
        )

    def _overflow_of(self, texts: Sequence[str]) -> Diagnosis:
        """Return the overflow with the numbers of the text that says most, completed from fields of the body.

        Texts are not combined: a message and its wrapper may count two different things, and one of them is right as a whole.
        """
        best, best_text = Bound(), " ".join(texts[:2])
        for text in texts:
            bound = numbers.bind(text)
            if bound.weight > best.weight:
                best, best_text = bound, text
        best = with_fields(best, self.evidence.fields)
        # With the reply in it the kind is `context_total`. A reply of 0 tokens adds nothing, and characters never count one.
        both = best.output is not None or kinds.compiled(_BOTH).search(best_text) is not None
        kind = "context_total" if both and best.output != 0 and best.unit == "tokens" else "context_input"
        if (
            best.output is not None
            and best.input is None
            and best.total is None
            and best.limit is not None
            and best.output < best.limit
        ):
            # A reply that leaves room below a limit, and no input in its unit: what is too long was counted in another unit.
            kind = "context_input"
        return self._overflow(best, kind)

    def _overflow(self, bound: Bound, kind: str, recovery: str | None = None) -> Diagnosis:
        """Return the diagnosis of an overflow, with the given cure or else the one that its numbers decide."""
        overflow = Overflow(kind=kind, **bound._asdict())
        return Diagnosis(kind=kind, recovery=recovery or _cure(overflow, bound.largest_input), overflow=overflow)

    def _by_code(self, also: set[str], *, only: bool = False) -> Diagnosis | None:
        """Return what a code, a type or the name of an exception says, in the order of `kinds.CODES`.

        Args:
            also: additional kinds that count: `bad_request` and `server_error` are in almost every error of some providers, and
                decide only if nothing else is left.
            only: whether the kinds in `also` are the only ones that count.
        """
        for kind, pattern, recovery in kinds.CODES:
            decides = kind in also if only else kind not in {"bad_request", "server_error"} or kind in also
            if decides and kinds.compiled(pattern).search(self.codes) is not None:
                return self._plain(kind, recovery)
        return None

    def _plain(self, kind: str, recovery: str | None = None) -> Diagnosis:
        """Return a diagnosis without an overflow, with the kind's own cure unless another is named."""
        return Diagnosis(
            kind=kind,
            recovery=recovery or kinds.RECOVERIES.get(kind, "none"),
            retry_after_seconds=retry_after(self.evidence) if kind in _WAITS else None,
        )


def _cure(overflow: Overflow, given: int | None) -> str:
    """Return what cures an overflow: lowering the reply if it is counted, unless the input alone exceeds the limit.

    Of an input that was not counted to its end, only a lower bound is known, namely what the reply leaves: the larger part goes
    first.

    Args:
        overflow: what was refused.
        given: the size of the input as stated, or as the total leaves it; None if neither is known.
    """
    if overflow.kind != "context_total":
        return "shrink_input"
    if overflow.limit is None or given is None:
        return "shrink_output"
    if overflow.bound == "lower_bound":
        return "shrink_output" if (overflow.output or 0) * 2 >= overflow.limit else "shrink_input"
    return "shrink_output" if given < overflow.limit else "shrink_input"
