"""Who gets the gateway's own pages, what do they request, and how do they look in a real browser (W-7, W-8)?

`python -m tests.gateway.test_page` takes the picture for the docs.
"""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway import page
from penstock.gateway.provider import Windows
from penstock.models.steps import say
from penstock.testing import LoopbackProvider
from tests.browser import path_of_chromium, python_of_playwright
from tests.gateway.standing import Standing, standing
from tests.gateway.stories import body_of, story
from tests.testing.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.proves("W-7"), pytest.mark.timeout(300)]  # the first builds an environment
TOKEN = "a-token-of-more-than-thirty-two-characters"
PICTURE = REPOSITORY / "docs" / "pictures" / "gateway-light.png"
WINDOW = 12_000
SECRET = "the-words-of-a-client"
KEY = "the-key-of-a-client"


def ask(gateway: Standing, messages: list[Any], model: str, key: str = KEY) -> int:
    """Send an agent's history, and return the status."""
    headers = {"content-type": "application/json", "x-api-key": key, "x-penstock-token": TOKEN}
    return gateway.ask("/v1/messages", {**body_of("anthropic", messages), "model": model}, headers).status


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """Provide a gateway that requires a token and has passed two sessions, and a small request that passed unread."""
    folder = tmp_path_factory.mktemp("gateway")
    double = LoopbackProvider("anthropic", WINDOW, policy=lambda _: say("Fine."))
    windows = Windows((("known-*", WINDOW),))
    with double, standing(folder, double.base_url, token=TOKEN.encode(), names=None, windows=windows) as gateway:
        for turns in (50, 51, 52):
            assert ask(gateway, story(turns, 1_000, first=SECRET), "claude-sonnet-4-5") == 200
        for turns in (20, 30, 40):
            assert ask(gateway, story(turns, 1_000, first="Another."), "known-model") == 200
        assert ask(gateway, [{"role": "user", "content": "Hello."}], "known-model") == 200
        yield gateway


@pytest.fixture(scope="module")
def seen(gateway: Standing) -> dict[str, Any]:
    """Return what the browser saw: it runs once for all tests of this file."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "RENEWED_SECONDS", 0.5)
        return driven(gateway)


def driven(gateway: Standing, *picture: str) -> dict[str, Any]:
    """Return what the browser saw."""
    driver = str(Path(__file__).with_name("drive_gateway.py"))
    command = [python_of_playwright(), driver, path_of_chromium(), gateway.url, TOKEN, *picture]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


# ── without a browser ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("W-8")
@pytest.mark.parametrize("path", ["", "sessions/0123456789ab", "metrics"])
def test_nothing_is_shown_without_the_token(path: str, gateway: Standing) -> None:
    """Without it a page only asks for it, the same for every session; a header with a wrong token gets 401."""
    bare = gateway.post(f"/penstock/{path}", b"", {}, method="GET")
    wrong = gateway.post(f"/penstock/{path}", b"", {"x-penstock-token": "wrong"}, method="GET")
    assert (bare.status, wrong.status) == (401 if path == "metrics" else 200, 401)
    for got in (bare, wrong):
        assert b"claude-sonnet" not in got.body
        assert b"known-model" not in got.body
        assert b"sessions/" not in got.body
    known = gateway.post("/penstock/", b"", {"x-penstock-token": TOKEN}, method="GET")
    assert b"claude-sonnet" in known.body


@pytest.mark.proves("W-8")
@pytest.mark.parametrize(
    ("site", "to", "status"),
    [("cross-site", "empty", 403), ("same-site", "iframe", 403), ("cross-site", "document", 200), ("none", "", 200)],
)
def test_a_page_of_another_site_gets_nothing(site: str, to: str, status: int, gateway: Standing) -> None:
    """This holds even with the token; a link to ours may be followed."""
    headers = {"x-penstock-token": TOKEN, "sec-fetch-site": site, "sec-fetch-dest": to}
    got = gateway.post("/penstock/", b"", headers, method="GET")
    assert got.status == status
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert got.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in got.headers


@pytest.mark.proves("W-8")
def test_only_the_scripts_of_the_page_run_and_ask_its_own_server_alone(gateway: Standing) -> None:
    """Its policy allows two scripts and one style by their hashes, and connections to its own origin."""
    body = gateway.post("/penstock/", b"", {"x-penstock-token": TOKEN}, method="GET").body.decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', body)
    rules = [rule.split() for rule in unescape(policy).split("; ")]
    assert [(name, [re.sub("sha256-.*'", "sha256'", source) for source in sources]) for name, *sources in rules] == [
        ("default-src", ["'none'"]),
        ("style-src", ["'sha256'"]),
        ("script-src", ["'sha256'", "'sha256'"]),
        ("connect-src", ["'self'"]),
        ("base-uri", ["'none'"]),
        ("form-action", ["'none'"]),
    ]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "", 405), ("OPTIONS", "metrics", 405), ("GET", "nothing", 404), ("GET", "sessions/none", 404)],
)
def test_a_missing_page_is_reported(method: str, path: str, status: int, gateway: Standing) -> None:
    """It gets a sentence, and is not passed to a provider."""
    got = gateway.post(f"/penstock/{path}", b"", {"x-penstock-token": TOKEN}, method=method)
    assert got.status == status
    assert got.json["error"]["message"]


def test_no_word_of_a_request_is_on_a_page(gateway: Standing) -> None:
    """Nor is its key; the page has figures, digests, handles and the names of models."""
    names = [session.name for session in gateway.gateway.seen.sessions()]
    for path in ("", "metrics", *(f"sessions/{name}" for name in names)):
        body = gateway.post(f"/penstock/{path}", b"", {"x-penstock-token": TOKEN}, method="GET").body.decode()
        assert SECRET not in body
        assert "compute(" not in body
        assert KEY not in body


# ── in a browser ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_token_after_the_hash_opens_the_page_and_is_never_sent(seen: dict[str, Any]) -> None:
    """Without it the page asks for it; with it everything is shown, including a session's page and the way back."""
    assert "needs its token" in seen["unknown"]["lead"]
    assert seen["unknown"]["sessions"] == []
    assert seen["wrong"]["sessions"] == []
    assert "401" in seen["wrong"]["silent"]
    told = seen["renewed"]
    assert len(told["begun"]["sessions"]) == 2
    assert told["address"].endswith(f"/penstock/sessions/{told['then']['sessions'][0]}#{TOKEN}")
    assert told["back"].endswith(f"/penstock/#{TOKEN}")
    assert not [url for url in seen["requests"] if TOKEN in url.partition("#")[0]]


def test_the_page_renews_itself(seen: dict[str, Any]) -> None:
    """It shows one more request, without a reload."""
    begun, then = seen["renewed"]["begun"], seen["renewed"]["then"]
    assert int(then["tiles"]["Requests"]) == int(begun["tiles"]["Requests"]) + 1
    assert int(begun["tiles"]["Refusals avoided"]) >= 2


def test_a_session_can_be_gone_through(seen: dict[str, Any]) -> None:
    """It is shown turn by turn, as in the page of `inspect`, whose script runs here too."""
    told = seen["renewed"]
    assert told["newest"].startswith("Turn 3 of 3: ")
    assert told["first"].startswith("Turn 1 of 3: ")
    assert told["kept"] == 1


def test_nothing_else_is_asked_for_and_nothing_complains(seen: dict[str, Any]) -> None:
    """Only the pages themselves are requested; the policy allows their own scripts, and no other."""
    assert {url.partition("#")[0].split("/", 3)[3].split("/")[0] for url in seen["requests"]} == {"penstock"}
    assert seen["complaints"] == []
    assert seen["plain complaints"] == []


@pytest.mark.proves("W-8")
def test_a_page_of_others_in_the_same_browser_gets_nothing(seen: dict[str, Any]) -> None:
    """It gets nothing by fetch, permitted or not, as a script, or in a frame, even if it knows the token."""
    assert seen["stolen"] == [["", "", "", ""]] * 3


def test_all_of_it_is_there_without_scripts(seen: dict[str, Any]) -> None:
    """The token is then in the path."""
    assert seen["plain"] == {"rows": 3, "tiles": 6, "chart": True}


def test_each_shape_has_room_and_is_accessible(seen: dict[str, Any]) -> None:
    """Light, dark and 390 px have room; names, scopes and contrast have no faults."""
    for name, shape in seen["shapes"].items():
        assert (shape["wide"], shape["cut"], shape["drawn"]) == (False, 0, True), name
        assert shape["columns"] == (2 if "narrow" in name else 6), name
    assert {name: faults for name, faults in seen["faults"].items() if faults} == {}


def test_the_picture_of_the_docs_is_small() -> None:
    """It exists, is a PNG, and does not make the docs slow."""
    picture = PICTURE.read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000


def main() -> None:
    """Take the picture: an agent whose window fills and is cut repeatedly, and others next to it."""
    import tempfile

    double = LoopbackProvider("anthropic", 60_000, policy=lambda _: say("Fine."))
    windows = Windows((("claude-haiku-*", 60_000),))
    settings = {"token": TOKEN.encode(), "names": None, "windows": windows}
    with (
        tempfile.TemporaryDirectory() as folder,
        double,
        standing(Path(folder), double.base_url, **settings) as gateway,
    ):
        for turns in range(60, 150, 2):
            ask(gateway, story(turns, 2_000, first="Mend the bug."), "claude-sonnet-4-5")
            if turns < 110:
                ask(gateway, story(turns - 30, 3_000, first="Write the docs."), "claude-haiku-4-5")
            ask(gateway, [{"role": "user", "content": "A title, please."}], "claude-haiku-4-5")
        ask(gateway, [{"role": "user", "content": "word " * 120_000}], "claude-sonnet-4-5")
        driven(gateway, str(PICTURE))


if __name__ == "__main__":
    main()
