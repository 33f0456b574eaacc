"""What do the pages of a gateway show in Chromium? `drive_gateway.py CHROMIUM URL TOKEN [PICTURE]` prints it as JSON.

It runs in its own environment, which has Playwright, from the folder of the repository. URL is a gateway that requires TOKEN and
has passed requests; PICTURE is the path for the picture of the docs.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]

from tests.inspection.drive_page import FAULTS, FLAGS, TWO_SHAPES, WIDTHS, Seen, give_shape

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHOWN = """() => ({
    lead: document.querySelector("header").innerText,
    sessions: [...document.querySelectorAll(".sessions tbody th a")].map((one) => one.textContent),
    tiles: Object.fromEntries([...document.querySelectorAll(".tiles li")].map((one) =>
        [one.querySelector(".label").textContent, one.querySelector("strong").textContent])),
    silent: document.getElementById("silent")?.textContent ?? "",
})"""
# What a page of another site can get of ours, by each way that does not need the server's permission.
STOLEN = """async (url) => {
    const text = (answer) => answer.text();
    const got = [await fetch(url).then(text, () => "")];
    got.push(await fetch(url, { mode: "no-cors" }).then(text, () => ""));
    got.push(await new Promise((done) => {
        const script = document.createElement("script");
        script.src = url;
        script.onload = () => done("ran");
        script.onerror = () => done("");
        document.body.append(script);
    }));
    const frame = document.createElement("iframe");
    frame.src = url;
    const loaded = new Promise((done) => { frame.onload = done; });
    document.body.append(frame);
    await loaded;
    let inside = "";
    try { inside = frame.contentDocument ? frame.contentDocument.body.innerText : ""; } catch {}
    return [...got, inside];
}"""


def post(url: str, token: str, model: str) -> None:
    """Send one more request, which passes unread."""
    body = json.dumps({"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "Hello."}]}).encode()
    headers = {"content-type": "application/json", "x-api-key": "k1", "x-penstock-token": token}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/messages", body, headers)) as answer:
        answer.read()


def renewed(browser: Browser, seen: Seen, url: str, token: str) -> dict[str, Any]:
    """Open the page with the token after the `#`, send a request, and open a session's page and return from it."""
    page = seen.watch(browser.new_page())
    page.goto(f"{url}/penstock/#{token}")
    page.wait_for_selector(".sessions a")
    told = {"begun": page.evaluate(SHOWN)}
    post(url, token, "one-more")
    page.wait_for_function("() => document.body.innerText.includes('one-more')")
    told["then"] = page.evaluate(SHOWN)
    page.click(".sessions a")
    page.wait_for_selector("#turn:not([hidden])")
    told["address"] = page.url
    told["newest"] = page.inner_text("#told")
    page.focus("#turn")
    page.keyboard.press("Home")
    told["first"] = page.inner_text("#told")
    told["kept"] = page.locator("th", has_text="Handle").count()
    page.click("header a")
    page.wait_for_selector(".sessions a")
    told["back"] = page.url
    page.close()
    return told


def main(chromium: str, url: str, token: str, *picture: str) -> None:
    seen, plain = Seen(), Seen()
    told: dict[str, Any] = {"shapes": {}, "faults": {}}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = seen.watch(browser.new_page())
        page.goto(f"{url}/penstock/")
        told["unknown"] = page.evaluate(SHOWN)
        page.goto("about:blank")
        told["renewed"] = renewed(browser, seen, url, token)
        told["requests"], told["complaints"] = sorted(set(seen.requests)), list(seen.complaints)
        page.goto(f"{url}/penstock/#wrong")
        page.wait_for_function("() => document.getElementById('silent').textContent")
        told["wrong"] = page.evaluate(SHOWN)
        page.close()

        page = browser.new_page()
        page.route(
            "http://elsewhere.example/",
            lambda route: route.fulfill(body="<p>a page of others", content_type="text/html"),
        )
        page.goto("http://elsewhere.example/")
        ways = ("penstock/", f"~{token}/penstock/", f"~{token}/penstock/metrics")
        told["stolen"] = [page.evaluate(STOLEN, f"{url}/{way}") for way in ways]
        page.close()

        page = plain.watch(browser.new_context(java_script_enabled=False).new_page())
        page.goto(f"{url}/~{token}/penstock/")
        told["plain"] = {"rows": page.locator(".sessions tbody tr").count(), "tiles": page.locator(".tiles li").count()}
        page.click(".sessions a")
        told["plain"]["chart"] = page.locator("#chart").is_visible()

        page = plain.watch(browser.new_page())
        for name in ("overview", "session"):
            give_shape(page, TWO_SHAPES[0])
            if name == "overview":
                page.goto(f"{url}/~{token}/penstock/")
            else:
                page.click(".sessions a")
                page.wait_for_selector("#chart")
            for shape in TWO_SHAPES:
                give_shape(page, shape)
                told["shapes"][f"{name} {shape}"] = page.evaluate(WIDTHS)
                told["faults"][f"{name} {shape}"] = page.evaluate(FAULTS)
        for path in picture:
            page = browser.new_page(viewport={"width": 1180, "height": 900})
            page.goto(f"{url}/~{token}/penstock/")
            height = page.evaluate("() => Math.ceil(document.body.getBoundingClientRect().height)")
            page.set_viewport_size({"width": 1180, "height": height + 24})
            page.screenshot(path=path)
        browser.close()
    print(json.dumps({**told, "plain complaints": plain.complaints}))


if __name__ == "__main__":
    main(*sys.argv[1:])
