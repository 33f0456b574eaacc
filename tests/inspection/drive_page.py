"""What does Chromium show of pages of stories on disk? `drive_page.py CHROMIUM FOLDER [PICTURE…]` prints it as JSON.

It runs in its own environment, which has Playwright. FOLDER has `story.html`, `overview.html`, `hostile.html`,
`hostile-overview.html` and `large.html`; PICTURE is the path for the picture of the docs: the light one, and the dark one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STORIES = ("story", "hostile", "large")
SHAPES = {"narrow dark": (390, "dark"), "narrow": (390, "light"), "light": (1280, "light"), "dark": (1280, "dark")}
ALL_SHAPES = ("story", "overview")
"""The pages that are checked in all four shapes; the others have the same style."""
TWO_SHAPES = ("narrow dark", "light")
"""The shapes in which all pages are checked: both widths and both colour schemes."""
MAX_LOADS = 5
"""How often a page is loaded until it is painted in time: a busy machine slows single loads."""
AT = """() => {
    const rects = [...document.querySelectorAll("#bar rect")];
    return {
        told: document.getElementById("told").textContent,
        kinds: [...document.querySelectorAll("#kinds li")].map((row) => row.querySelector("b").textContent),
        shares: [...document.querySelectorAll("#kinds li")].map((row) => row.querySelector("i").textContent),
        bar: rects.map((rect) => [Number(rect.getAttribute("x")), Number(rect.getAttribute("width"))]),
        here: document.getElementById("here").getBoundingClientRect().x,
        focused: document.activeElement.id,
    };
}"""
# What an accessibility checker looks for first: names, ordered headings, unique ids, text in contrast to its background.
FAULTS = """() => {
    const faults = [];
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`id ${id} stands twice`);
    for (const name of ["aria-labelledby", "aria-describedby"])
        for (const one of document.querySelectorAll(`[${name}]`))
            if (!document.getElementById(one.getAttribute(name))) faults.push(`${name} leads nowhere`);
    if (!document.documentElement.lang || !document.title.trim()) faults.push("no language or title");
    for (const one of document.querySelectorAll("[role=img], [role=region], input"))
        if (!one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby"))
            faults.push(`${one.outerHTML.slice(0, 80)} has no name`);
    for (const svg of document.querySelectorAll("svg"))
        if (!svg.closest("[role=img], [aria-hidden=true]")) faults.push("a drawing is neither named nor hidden");
    let level = 0;
    for (const head of document.querySelectorAll("h1, h2, h3")) {
        const its = Number(head.tagName[1]);
        if (its > level + 1) faults.push(`${head.textContent} skips a level`);
        level = its;
    }
    for (const head of document.querySelectorAll("th")) if (!head.scope) faults.push("a heading of a table has no scope");
    for (const one of document.querySelectorAll("a[href], button, input, [tabindex]")) {
        if (!one.getClientRects().length) continue;
        one.focus();
        if (document.activeElement !== one) faults.push(`${one.tagName} takes no focus`);
    }
    document.activeElement.blur();
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * x + .7152 * y + .0722 * z;
    };
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const behind = (one) => {
        for (let at = one; at; at = at.parentElement) {
            const colour = numbers(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    for (const one of document.querySelectorAll("body *")) {
        if (![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
        if (!one.getClientRects().length || one.closest("script, style")) continue;
        const style = getComputedStyle(one);
        const [a, b] = [light(numbers(one.closest("svg") ? style.fill : style.color)), light(behind(one))];
        const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (contrast < 4.5) faults.push(`${one.tagName} "${one.textContent.trim().slice(0, 30)}": ${contrast.toFixed(1)}`);
    }
    return [...new Set(faults)];
}"""
WIDTHS = """() => ({
    wide: document.documentElement.scrollWidth > innerWidth,
    cut: [...document.querySelectorAll(".wide")].filter((one) => one.scrollWidth > one.clientWidth + 1).length,
    heads: [...document.querySelectorAll("thead th")].filter((one) => one.getClientRects().length).map((one) => one.textContent),
    columns: getComputedStyle(document.querySelector(".tiles") || document.body).gridTemplateColumns.split(" ").length,
    paper: getComputedStyle(document.body).backgroundColor,
    drawn: [...document.querySelectorAll("svg[role=img]")].every((one) => one.getBoundingClientRect().width > 60),
})"""
PAINTED = """() => new Promise((done) => {
    const look = () => {
        const [paint] = performance.getEntriesByName("first-contentful-paint");
        if (paint) done(paint.startTime); else setTimeout(look, 10);
    };
    look();
})"""


class Seen:
    """What a page requests and complains about, whatever is done with it."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def watch(self, page: Page) -> Page:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page


def typed(page: Page) -> dict[str, Any]:
    """Use only the keyboard: the first stop of Tab is the turn; then go to both ends and between."""
    told = {"begun": page.evaluate(AT)}
    page.keyboard.press("Tab")
    for name, keys in (
        ("left", ["ArrowLeft"]),
        ("home", ["Home"]),
        ("right", ["ArrowRight"] * 3),
        ("up", ["ArrowUp"]),
        ("page", ["PageUp"]),
        ("end", ["End"]),
    ):
        for key in keys:
            page.keyboard.press(key)
        told[name] = page.evaluate(AT)
    return told


def pointed(page: Page) -> dict[str, Any]:
    """Move the pointer over the drawing, to its ends and a tenth of it, and click in the middle; the keys continue from there."""
    page.evaluate("() => document.activeElement.blur()")
    box = page.locator("#chart").bounding_box()
    assert box is not None
    y, told = box["y"] + box["height"] / 2, {"box": box}
    for name, part in (("first", 0.001), ("tenth", 0.1), ("last", 0.999), ("pressed", 0.4993)):
        # Browsers give the pointer whole pixels.
        x = round(box["x"] + box["width"] * part)
        page.mouse.move(x, y)
        if name == "pressed":
            page.mouse.click(x, y)
        told[name] = {**page.evaluate(AT), "x": x}
    page.keyboard.press("ArrowRight")
    told["then"] = page.evaluate(AT)
    return told


def plain(browser: Browser, seen: Seen, address: str) -> dict[str, Any]:
    """Return what can be seen without scripts, and what is not offered."""
    page = seen.watch(browser.new_context(java_script_enabled=False).new_page())
    page.goto(address)
    return {
        "told": page.locator("#told").inner_text(),
        "slider": page.locator("#turn").is_visible(),
        "chart": page.locator("#chart").is_visible(),
        "rows": page.locator("tbody tr").count(),
    }


def give_shape(page: Page, shape: str) -> None:
    """Give a page the width and the colours of a shape."""
    width, scheme = SHAPES[shape]
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)


def is_at_once(painted: dict[str, list[float]]) -> bool:
    """Return whether the large page took less than a fifth of a second, or twice what the small one took, each at its best."""
    return min(painted["large"]) < max(200, 2 * min(painted["story"]))


def main(chromium: str, folder: str, *pictures: str) -> None:
    seen = Seen()
    told: dict[str, Any] = {"shapes": {}, "faults": {}, "acted": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)

        page = seen.watch(browser.new_page())  # one tab for all: starting it takes longer than a page
        for file in sorted(Path(folder).glob("*.html")):
            give_shape(page, "narrow dark")
            page.goto(f"file://{file}")
            # It changes its shape as on a screen that is turned, which is quicker than to load it anew; below it is loaded wide.
            for shape in SHAPES if file.stem in ALL_SHAPES else TWO_SHAPES:
                give_shape(page, shape)
                told["shapes"][f"{file.stem} {shape}"] = page.evaluate(WIDTHS)
                told["faults"][f"{file.stem} {shape}"] = page.evaluate(FAULTS)
                if file.stem in STORIES:
                    page.keyboard.press("Home")
                    page.locator("#chart").hover()
                told["acted"].append(
                    page.evaluate("() => [window.acted ?? null, document.images.length, document.scripts.length]")
                )
        give_shape(page, "light")
        for name in ("story", "large"):
            page.mouse.move(0, 0)  # else it points at a turn of the next page
            page.goto(f"file://{folder}/{name}.html")
            told[f"typed {name}"] = typed(page)
            told[f"pointed {name}"] = pointed(page)
        told["plain"] = plain(browser, seen, f"file://{folder}/story.html")
        painted: dict[str, list[float]] = {"story": [], "large": []}
        for _ in range(MAX_LOADS):
            for name, loads in painted.items():
                page.goto(f"file://{folder}/{name}.html")
                loads.append(page.evaluate(PAINTED))
            if is_at_once(painted):
                break
        told["painted"] = is_at_once(painted), painted
        for path, scheme in zip(pictures, ("light", "dark"), strict=False):
            page = browser.new_page(viewport={"width": 1180, "height": 985}, color_scheme=scheme)
            page.goto(f"file://{folder}/story.html")
            page.screenshot(path=path)
        browser.close()
    print(json.dumps({**told, "requests": sorted(set(seen.requests)), "complaints": seen.complaints}))


if __name__ == "__main__":
    main(*sys.argv[1:])
