"""Who may see a queue's page? Anyone on this machine, or anyone who shows the token.

`/penstock/` is the page, `/penstock/metrics` what Prometheus reads; the queue is queried anew each time. Laws: if there is a
token, nothing is shown without it; a page of another origin gets nothing; nothing is changed. Leaves to others: what is shown
(`queue.page`).
"""

from __future__ import annotations

import hmac
import json
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import click

from penstock.inspection.page import PAGE_HEADERS
from penstock.store import StoreFault

if TYPE_CHECKING:
    import socket

    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.progress import RunProgress
    from penstock.serving.listening import ServedNames

PAGE = "/penstock/"
METRICS = f"{PAGE}metrics"
_SILENT_SECONDS = 10.0  # after which an idle connection is closed


def serve_pages(database: Database, address: str, token_file: str | None) -> int:
    """Serve a queue's page until a signal, and return the exit status.

    Args:
        database: The queue.
        address: HOST:PORT; one that others can reach needs a token.
        token_file: The file with the token, created if missing.

    Raises:
        CallerError: The address is invalid, or is in use.
    """
    from penstock.serving.listening import ServedNames, listen, served_url
    from penstock.serving.token import load

    token = load(token_file)[0] if token_file else b""
    listening = listen(address, i_know=bool(token), flag="--listen", opened_by="--token-file FILE")
    host, port = listening.getsockname()[:2]
    server = page_server(database, listening, token, None if token else ServedNames(host, port))
    ended: list[int] = []

    def end(number: int, _frame: object) -> None:
        ended.append(number)
        threading.Thread(target=server.shutdown).start()  # it waits for the loop that this handler interrupts

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    click.echo(f"penstock queue: {served_url(listening, PAGE)}{' (its token after a #)' if token else ''}", err=True)
    try:
        server.serve_forever()
    finally:
        server.server_close()
    return 128 + ended[0] if ended else 0


def page_server(
    database: Database, listening: socket.socket, token: bytes, names: ServedNames | None
) -> ThreadingHTTPServer:
    """Return a server on a listening socket."""

    class Handler(BaseHTTPRequestHandler):
        timeout = _SILENT_SECONDS

        def do_GET(self) -> None:
            status, kind, body = _answer(database, self.path.partition("?")[0], dict(self.headers), token, names)
            self.send_response(status)
            for name, value in (*PAGE_HEADERS, (b"content-type", kind), (b"content-length", b"%d" % len(body))):
                self.send_header(name.decode(), value.decode())
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def version_string(self) -> str:
            return "penstock"

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(listening.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.daemon_threads = True
    return server


def _answer(
    database: Database, path: str, headers: dict[str, str], token: bytes, names: ServedNames | None
) -> tuple[int, bytes, bytes]:
    """Return status, type and body for a request."""
    from penstock.scribe.queue import metrics, page
    from penstock.serving.listening import is_of_another_site
    from penstock.text import prometheus

    pairs = [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    refusal = names.refusal(pairs) if names is not None else None
    given = dict(pairs)
    if refusal is None and is_of_another_site(given):
        refusal = 403, "This server does not serve pages of that Origin"
    if refusal is not None:
        return _error(*refusal)
    if path not in {PAGE, METRICS}:
        return _error(404, f"There is {PAGE} and {METRICS}")
    html = b"text/html; charset=utf-8"
    shown = given.get(b"x-penstock-token", b"") or given.get(b"authorization", b"").removeprefix(b"Bearer ")
    if token and not hmac.compare_digest(shown, token):
        # The page itself asks again with the token, which is after the # and is never sent in an address.
        if path == PAGE and not shown:
            return 200, html, page.wanted_page().encode()
        return _error(401, "This wants its token: in the header x-penstock-token, or as Authorization: Bearer TOKEN")
    try:
        seen = _seen(database)
    except StoreFault as fault:
        return _error(503, str(fault))
    if path == METRICS:
        return 200, prometheus.CONTENT_TYPE, metrics.metrics(seen).encode()
    return 200, html, page.queue_page(seen).encode()


def _seen(database: Database) -> list[RunProgress]:
    from penstock.scribe.queue.progress import progress, runs

    return [progress(database, run) for run in runs(database)]


def _error(status: int, sentence: str) -> tuple[int, bytes, bytes]:
    return status, b"application/json", json.dumps({"error": {"message": sentence, "type": "penstock"}}).encode()
