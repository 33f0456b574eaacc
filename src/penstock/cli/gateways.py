"""What may pass to a provider? `penstock gateway`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.gateway.app import Gateway
    from penstock.gateway.provider import Offering, Windows
    from penstock.gateway.telemetry import Telemetry
    from penstock.serving.listening import ServedNames

_MIN_WINDOW_TOKENS = 1_000
_NEVER_IN_A_BASE = set(' "<>\\^`{|}?#')  # RFC 3986, section 2: no address holds them, or they end its path
_SHOWN_CHARS = 200


@command("gateway")
@click.option(
    "--listen", "address", default="127.0.0.1:4000", show_default=True, metavar="HOST:PORT", help="Address to serve on."
)
@click.option(
    "--upstream",
    type=options.URL,
    metavar="URL",
    help="The provider; by default the public one that each path belongs to.",
)
@click.option(
    "--token-file",
    type=options.OWN_FILE,
    metavar="FILE",
    help="File with the token that clients must send; created if missing.",
)
@click.option(
    "--window",
    "windows",
    multiple=True,
    metavar="MODEL=TOKENS",
    help="The context window of a model; * in MODEL matches anything. Repeatable.",
)
@options.kept_option
@click.option(
    "--tools",
    "offering",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="When to offer the two tools that read back what was cut: from the first cut, always, or never.",
)
@click.option("--reuse-port", is_flag=True, help="Share the port with other gateways, such as one about to be stopped.")
@click.option("--otel", is_flag=True, help="Report to the OpenTelemetry SDK, which must be configured in the process.")
@click.option("--observe", is_flag=True, help="Change nothing; report what would have been done.")
@options.served_json_option
def gateway_command(
    address: str,
    upstream: str | None,
    token_file: str | None,
    windows: tuple[str, ...],
    store_url: str | None,
    offering: Offering,
    reuse_port: bool,
    otel: bool,
    observe: bool,
    as_json: bool,
) -> int:
    """Proxy model APIs so that every request fits.

    Point a client's base URL at it. A request that fits passes byte for byte; in one that does not, oversized parts are kept
    whole and cut in place, and cut the same way in every later turn. A provider's refusal for size is recovered before the
    client sees it. Supports the APIs of OpenAI, Anthropic, Google and Bedrock. Needs penstock[gateway].

    Examples:
      penstock gateway
        then, in another shell: ANTHROPIC_BASE_URL=http://127.0.0.1:4000 claude
      penstock gateway --window 'claude-*=200000'
        cut before the provider refuses; otherwise its first refusal tells
    """
    known, upstream = _windows(windows), _checked(upstream)
    telemetry = _telemetry(observes=observe) if otel else None
    try:
        import asyncio

        from penstock.gateway.serving import serve
        from penstock.serving.listening import ServedNames, listen, served_url
        from penstock.serving.signals import until_signal

        listening = listen(
            address,
            i_know=token_file is not None,
            flag="--listen",
            opened_by="--token-file FILE",
            is_shared=reuse_port,
        )
        host, port = listening.getsockname()[:2]
        # With the token, clients may use any name: that of a balancer, or of its service.
        names = None if token_file else ServedNames(host, port)
        gateway = _gateway(upstream, token_file, known, store_url, names, offering, telemetry, observes=observe)
        shown = served_url(listening)
        click.echo(f"penstock gateway: {shown} forwards to {upstream or 'the public providers'}", err=True)
        wanted = " (its token after a #)" if token_file else ""
        click.echo(f"What passes is shown at {shown}/penstock/{wanted}", err=True)
        if as_json:
            answer.print_json({"url": shown, "page": f"{shown}/penstock/", "upstream": upstream})
        return asyncio.run(until_signal(partial(serve, gateway, listening)))
    except ImportError as error:
        raise CallerError(f"penstock gateway needs the extra: pip install 'penstock[gateway]' ({error})") from error


def _gateway(
    base_url: str | None,
    token_file: str | None,
    windows: Windows,
    store_url: str | None,
    names: ServedNames | None,
    offering: Offering,
    telemetry: Telemetry | None,
    *,
    observes: bool,
) -> Gateway:
    from penstock.gateway.app import Gateway
    from penstock.gateway.upstream import Upstream
    from penstock.serving.token import load
    from penstock.store import open_store

    return Gateway(
        Upstream(),
        open_store(store_url),
        base_url=base_url,
        windows=windows,
        token=load(token_file)[0] if token_file else None,
        names=names,
        offering=offering,
        observes=observes,
        telemetry=telemetry,
        say=_say,
    )


def _telemetry(*, observes: bool) -> Telemetry:
    from penstock.gateway.telemetry import Telemetry

    telemetry = Telemetry(observes=observes)
    if not telemetry.is_exported:
        _say(
            "--otel has no effect without an OpenTelemetry SDK (opentelemetry-instrument penstock gateway --otel brings one)"
        )
    return telemetry


def _say(sentence: str) -> None:
    click.echo(f"penstock gateway: {sentence}", err=True)


def _checked(upstream: str | None) -> str | None:
    from urllib.parse import urlsplit

    if upstream is None:
        return None
    if "@" in upstream.partition("//")[2].partition("/")[0]:  # it would be shown on the page and in process lists
        raise CallerError("--upstream contains a user name: keys come with requests, in their headers")
    try:
        parts = urlsplit(upstream)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets or an impossible port
        is_one = False
    # The path and the query of each request are appended: it has none of its own.
    if not is_one or not upstream.isascii() or not upstream.isprintable() or set(upstream) & _NEVER_IN_A_BASE:
        said = escape.clip(upstream, _SHOWN_CHARS)
        raise CallerError(
            f"--upstream takes an address such as https://api.openai.com/v1, by http or https, not {said}"
        )
    return upstream


def _windows(named: tuple[str, ...]) -> Windows:
    """Return the windows of models, as a person writes them."""
    from penstock.gateway.provider import Windows

    made = []
    for text in named:
        model, equals, tokens = text.rpartition("=")
        if not equals or not model or not tokens.isdecimal() or int(tokens) < _MIN_WINDOW_TOKENS:
            raise CallerError(
                f"--window {text}: MODEL=TOKENS from {_MIN_WINDOW_TOKENS} on, for example 'claude-*=200000'"
            )
        made.append((model, int(tokens)))
    return Windows(tuple(made))
