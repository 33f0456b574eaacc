"""What do the gateway's own paths show: `/penstock/`, a page of each session below it, and `/penstock/metrics` (W-7)?

The pages are those of `penstock inspect --html`, refreshed while they are viewed. Laws: a client that the gateway would not serve
learns only that a token is required; a page of another origin gets nothing; clients appear as digests, and no text of a request is
shown. Leaves to others: what was done (`seen`), and who is served (`app`).
"""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.gateway.metrics import metrics
from penstock.inspection import words
from penstock.inspection.page import PAGE_HEADERS, PageFrame, Tile, overview_page, story_page
from penstock.inspection.tables import PageListing, PageTable, Row, TableColumn, tokens_gone
from penstock.serving import asgi
from penstock.serving.listening import is_of_another_site
from penstock.text import prometheus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.gateway.seen import Seen, SeenSession
    from penstock.inspection.story import Story
    from penstock.serving.asgi import Pairs

    Page = tuple[int, Pairs, bytes | Callable[[], str]]
    """A status, headers, and the body or a function that renders it: from immutable values, so that any thread may."""

PAGES: Final = "/penstock/"
"""The prefix of the gateway's own paths."""
METRICS: Final = f"{PAGES}metrics"
SESSIONS: Final = f"{PAGES}sessions/"
RENEWED_SECONDS: Final = 5
"""How often a page refreshes itself."""

_HTML: Final = (b"content-type", b"text/html; charset=utf-8")
_WANTED: Final = (
    "This gateway needs its token. Put it after a # at the end of this page's address: it is not sent with it."
)


def answer_page(seen: Seen, method: str, path: str, headers: Pairs, *, is_known: bool) -> Page:
    """Return the answer to a request for one of the gateway's own paths: status, headers and body.

    Args:
        seen: what was done with the requests that passed.
        method: the HTTP method.
        path: from `PAGES` on.
        headers: names in lower case.
        is_known: whether its sender has shown the gateway's token, or needs none.
    """
    if method not in {"GET", "HEAD"}:
        return _error(405, "These pages are read with GET", [(b"allow", b"GET, HEAD")])
    if is_of_another_site(dict(headers)):
        return _error(403, "This server does not serve pages of that Origin")
    if path == METRICS:
        if not is_known:
            return _error(
                401, "Metrics want the gateway's token: in the header x-penstock-token, or as http://HOST/~TOKEN/…"
            )
        return 200, [*PAGE_HEADERS, (b"content-type", prometheus.CONTENT_TYPE)], metrics(seen).encode()
    if path != PAGES and not path.startswith(SESSIONS):
        return _error(404, f"The gateway's own paths are {PAGES} and {METRICS}")
    if not is_known:
        # Without the token's header, which only the page's script can send, the answer is only that script.
        asked = any(name == b"x-penstock-token" for name, _ in headers)
        return (401 if asked else 200), [*PAGE_HEADERS, _HTML], overview_page([], _frame(_WANTED)).encode()
    if path == PAGES:
        return 200, [*PAGE_HEADERS, _HTML], gateway_page(seen)
    session = seen.session(path.removeprefix(SESSIONS))
    if session is None:
        return _error(
            404, "No session of that name was seen since the gateway began, or newer ones have taken its place"
        )
    return 200, [*PAGE_HEADERS, _HTML], session_page(session, observes=seen.observes)


def _error(status: int, sentence: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> Page:
    body = json.dumps({"error": {"message": sentence, "type": "penstock"}}).encode()
    return status, [*PAGE_HEADERS, *headers, asgi.JSON], body


def _frame(lead: str) -> PageFrame:
    return PageFrame(
        title="What passed the gateway", brow="penstock gateway", lead=lead, renewed_seconds=RENEWED_SECONDS
    )


# ── all sessions ─────────────────────────────────────────────────────────────────────────────────────────────────


def gateway_page(seen: Seen) -> Callable[[], str]:
    """Return a function that renders the page of all sessions as HTML."""
    sessions = seen.sessions()
    frame = _frame(_lead(seen, len(sessions)))
    frame = frame._replace(tiles=_tiles(seen, sessions), tables=(_asked(seen),))
    return partial(overview_page, [session.row() for session in sessions], frame)


def _lead(seen: Seen, sessions: int) -> str:
    read = (
        f"{words.many(sessions, 'session')} of which requests were read"
        if sessions
        else "No request has had to be read yet"
    )
    if seen.observes:
        return f"Observing: nothing is changed, and cuts are what would have been cut. {read}."
    return f"{read}. What has fewer bytes than its window has tokens fits unread, and is counted below."


def _tiles(seen: Seen, sessions: Sequence[SeenSession]) -> tuple[Tile, ...]:
    """Return the six figures at the top."""
    by_outcome: Counter[str] = Counter()
    for one, count in seen.asked.items():
        by_outcome[one.outcome] += count
    to_models = sum(by_outcome[name] for name in ("unread", "fits", "cut", "recovered", "refused"))
    # A history only grows: a request that was cut once would not fit in any later turn either.
    recovered, cut = by_outcome["recovered"], by_outcome["cut"]
    avoided, not_sent = ("avoidable", "to spare") if seen.observes else ("avoided", "not sent")
    stuck = "for {}, nothing smaller could be sent".format(words.number(by_outcome["refused"]))
    paid = [money for session in sessions if (money := session.money) is not None]
    dollars = sum(money.dollars for money in paid)
    return (
        Tile("Requests", words.number(to_models), f"{words.number(by_outcome['unread'])} fit unread"),
        Tile("Cuts", words.number(sum(seen.cuts.values())), "results and spans, each counted once"),
        Tile(
            f"Refusals {avoided}",
            words.number(recovered + cut),
            f"{words.number(recovered)} by recovery, {words.number(cut)} by cuts made before",
        ),
        Tile("Refusals passed on", words.number(seen.passed_on), stuck if seen.passed_on else ""),
        Tile(
            f"Tokens {not_sent}", words.number(seen.cut_tokens), "by our count, in all turns" if seen.cut_tokens else ""
        ),
        Tile(
            "Money",
            words.price(paid[0]._replace(dollars=dollars, priced_turns=1)) if paid else words.UNKNOWN,
            f"{words.many(sum(money.priced_turns for money in paid), 'request')} at list prices of {paid[0].as_of}"
            if paid
            else "",
        ),
    )


def _asked(seen: Seen) -> PageTable:
    """Return the number of requests to each model, and their outcomes."""
    title = "What was asked"
    columns = (
        TableColumn("Model", is_number=False),
        TableColumn("Requests"),
        TableColumn("Unread", is_spare=True),
        TableColumn("Cut", is_spare=True),
        TableColumn("Recovered", is_spare=True),
        TableColumn("Refused"),
        TableColumn("Errors"),
        TableColumn("Input tokens", is_spare=True),
    )
    counts: dict[tuple[str, str], Counter[str]] = {}
    for one, count in seen.asked.items():
        if one.wire:
            known = counts.setdefault((one.wire, one.model), Counter())
            known.update({"all": count, one.outcome: count, "errors": count if one.status >= 400 else 0})
    if not counts:
        return PageTable(title, "No model has been asked yet.")
    names = ("all", "unread", "cut", "recovered", "refused", "errors")
    rows = []
    for (wire, model), known in sorted(counts.items(), key=lambda pair: -pair[1]["all"]):
        reported = seen.tokens.get((wire, model), [0])[0]
        cells = (*(words.number(known[name]) for name in names), words.number(reported) if reported else words.UNKNOWN)
        rows.append(Row((words.shown(model) or words.UNKNOWN, *cells), wire))
    sums = [words.number(sum(known[name] for known in counts.values())) for name in names]
    others = sum(count for one, count in seen.asked.items() if not one.wire)
    lead = "Counts of tokens are among the requests."
    if others:
        lead += f" {words.many(others, 'more request')} asked for no model."
    total = Row(("Together", *sums, words.number(sum(known[0] for known in seen.tokens.values()))))
    return PageTable(title, lead, columns, (PageListing(tuple(rows), total),))


# ── one session ──────────────────────────────────────────────────────────────────────────────────────────────────


def session_page(session: SeenSession, *, observes: bool) -> Callable[[], str]:
    """Return a function that renders the page of one session as HTML.

    Args:
        session: the session.
        observes: whether reported cuts are hypothetical.
    """
    story = session.story()
    window = f"{words.number(session.window_tokens)} tokens" if session.window_tokens else words.UNKNOWN
    facts = (
        ("API", session.wire),
        ("Model", words.shown(session.model) or words.UNKNOWN),
        ("Window", window),
        ("Provider", words.shown(session.provider)),
        ("Read back", words.many(session.answered_calls, "time")),
        ("Last seen", session.subject().updated.replace("T", " ").replace("Z", " UTC")),
    )
    remarks = ["Turns are requests of one conversation, known by a digest of who sends it and of how it begins."]
    if session.stride > 1:
        remarks.append(
            f"There were {words.number(session.requests)} turns; of every {words.number(session.stride)} the fullest is shown."
        )
    if observes:
        remarks.append("Nothing was changed: cuts are what would have been cut, and the turns are what was sent.")
    frame = PageFrame(facts=facts, remarks=tuple(remarks), tables=(_cut(session, story), _kept(session)), up="../")
    return partial(story_page, session.subject(), story, frame)


def _cut(session: SeenSession, story: Story) -> PageTable:
    """Return what each cut removed, by kind."""
    title = "What was cut"
    if not story.compactions:
        return PageTable(title, "Nothing was.")
    columns = (
        TableColumn("With turn", is_number=False),
        TableColumn("From", is_spare=True),
        TableColumn("To", is_spare=True),
        TableColumn("Left out"),
    )
    rows = []
    for cut in story.compactions:
        went = ", ".join(f"{kind} {words.number(tokens)}" for kind, tokens in cut.by_kind.items())
        sizes = (cut.before_tokens, cut.after_tokens, tokens_gone(cut))
        rows.append(Row((words.number(cut.turn + 1), *map(words.number, sizes)), went))
    gone = sum(map(tokens_gone, story.compactions))
    total = Row(("Together", "", "", words.number(gone)))
    lead = f"{words.many(session.cuts, 'cut')} of results and spans at {words.many(len(rows), 'turn')}, by our count."
    return PageTable(title, lead, columns, (PageListing(tuple(rows), total),))


def _kept(session: SeenSession) -> PageTable:
    """Return where what is not shown is kept."""
    title = "Where the whole is kept"
    if not session.handles:
        return PageTable(title, "Everything is shown.")
    rows = tuple(Row((handle, f"penstock page {handle}")) for handle in session.handles)
    columns = (TableColumn("Handle", is_number=False), TableColumn("Read it back with", is_number=False))
    return PageTable(
        title,
        f"The {words.many(len(rows), 'newest handle')} of what its newest request does not show.",
        columns,
        (PageListing(rows, None),),
    )
