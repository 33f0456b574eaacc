"""Opens a site from disk in Chromium and prints what it saw as JSON: `drive_site.py CHROMIUM SITE HOSTILE [PICTURE]`.

Runs in its own environment, which has Playwright. SITE is examples/cobol as pages, HOSTILE the same with hostile texts;
PICTURE is the file for the picture in docs/pictures.
"""

from __future__ import annotations

import json
import os
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
BOXES = """() => [...document.querySelectorAll("svg.graph")].map((svg) => {
    const frame = svg.getBoundingClientRect();
    const view = svg.parentElement.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("rect.box")].map((box) => box.getBoundingClientRect());
    const within = (box) => box.left >= frame.left && box.right <= frame.right + 1
        && box.top >= frame.top && box.bottom <= frame.bottom + 1;
    return { boxes: boxes.length, within: boxes.every(within), sized: boxes.every((box) => box.width > 20 && box.height > 20),
        arrows: [...svg.querySelectorAll("path.arrow")].every((path) => path.getTotalLength() > 0),
        seen: view.left >= 0 && view.right <= innerWidth && boxes.some((box) => box.left >= view.left && box.right <= view.right) };
})"""
BOX_IN_FRAME = """() => [...document.querySelectorAll(".canvas")].map((canvas) => {
    const view = canvas.getBoundingClientRect();
    const within = (box) => box.left >= view.left && box.right <= view.right && box.top >= view.top && box.bottom <= view.bottom;
    return [...canvas.querySelectorAll("rect.box")].some((box) => within(box.getBoundingClientRect()));
})"""
IN_VIEW = """(line) => {
    const box = line.getBoundingClientRect();
    const list = (line.closest("ol") || document.documentElement).getBoundingClientRect();
    return box.top >= Math.max(0, list.top) - 1 && box.bottom <= Math.min(innerHeight, list.bottom) + 1;
}"""


APART = """() => {
    let seed = 7;
    const dice = (sides) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % sides; };
    const wrong = [];
    for (let round = 0; round < 200; round++) {
        const nodes = Array.from({ length: 1 + dice(25) }, () => ({ label: "A".repeat(dice(40)), kind: "program" }));
        const edges = Array.from({ length: dice(60) }, () => [dice(nodes.length), dice(nodes.length), dice(2) === 1, new Map()]);
        const drawn = penstock.graphs.layout(nodes, edges);
        const again = penstock.graphs.layout(nodes, edges);
        if (JSON.stringify(drawn) !== JSON.stringify(again)) wrong.push("another drawing");
        const found = drawn.boxes.map((box) => box.node).sort((a, b) => a - b);
        if (found.join() !== nodes.map((_, at) => at).join()) wrong.push("boxes");
        if (drawn.routes.length !== edges.length) wrong.push("arrows");
        const places = new Map(drawn.boxes.map((box) => [box.node, box]));
        drawn.boxes.forEach((a, at) => {
            if (a.x < 0 || a.y < 0 || a.x + a.width > drawn.width || a.y + 24 > drawn.height) wrong.push("outside");
            for (const b of drawn.boxes.slice(at + 1))
                if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + 24 && b.y < a.y + 24) wrong.push("overlap");
        });
        for (const { edge, points } of drawn.routes)
            for (const [[x, y], node] of [[points[0], edge[0]], [points[points.length - 1], edge[1]]]) {
                const box = places.get(node);
                const aside = Math.min(Math.abs(x - box.x), Math.abs(x - box.x - box.width));
                if (aside > 0.01 || y < box.y || y > box.y + 24) wrong.push("loose");
            }
    }
    return wrong;
}"""
ALIKE = """() => {
    const paths = ["LIBS/A-1/pgm/p.cbl", "LIBS/A-2/pgm/p.cbl", "LIBS/A-2/old/pgm/p.cbl"];
    const nodes = ["X", ...paths.map((path) => "P@" + path), "Q@Q/only.cbl"].map((name) => [name, 0, "page"]);
    nodes.push(["P@" + paths[0] + ".FILE", 1, ""]);
    const edges = nodes.slice(1).map((_, at) => [0, at + 1, 0, 0, 1]);
    const figure = penstock.graphs.touches({ kinds: ["program", "file"], verbs: ["calls"], nodes, edges }, "X");
    document.body.append(figure);
    figure.dispatchEvent(new Event("shown"));
    return [...figure.querySelectorAll("svg.graph text")].map((text) => text.textContent).sort();
}"""
TOLD = "body[data-told]"


def looked_at(site: str) -> list[Path]:
    """Return one page of each kind that occurs once, and the two largest and the smallest of the others; all in the long form."""
    pages = sorted(Path(site).rglob("*.html"))
    if os.environ.get("PENSTOCK_EVERY_CELL") == "1":
        return pages
    kinds: dict[Path, list[Path]] = {}
    for path in sorted(pages, key=lambda path: path.stat().st_size):
        kinds.setdefault(path.parent, []).append(path)
    alone = kinds.pop(Path(site))
    return sorted([*alone, *(path for kind in kinds.values() for path in (kind[0], *kind[-2:]))])


def opened(page: Page, address: str) -> None:
    """Go to a page, and wait until its script has built it."""
    if page.url.partition("#")[0] == address.partition("#")[0]:
        page.goto("about:blank")  # else an address that differs only in its anchor would load nothing
    page.goto(address)
    page.wait_for_selector(TOLD, state="attached")


class Seen:
    """What a page requests and complains about, whatever is done with it."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def watch(self, page: Page) -> Page:
        page.on("request", lambda request: self.requests.append(request.url.split(":")[0]))
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page


def searched(page: Page, index: str) -> dict[str, Any]:
    """Search by keyboard alone: / focuses the search, a paragraph is found, Enter opens it."""
    opened(page, index)
    page.keyboard.press("/")
    page.keyboard.type("mwb")
    page.wait_for_selector("#found a")
    programs = page.locator("#found a", has=page.get_by_text("program")).all_inner_texts()
    page.keyboard.press("Control+A")
    page.keyboard.type("2000-bill")
    page.get_by_role("option", name="2000-BILL").first.wait_for()
    first = page.locator("#found a").first.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/MWB020.html#p*")
    row = page.locator("tr.target")
    row.wait_for()
    return {
        "programs": [text.split("\n")[0] for text in programs],
        "first": first,
        "row": row.inner_text(),
        "in_view": row.evaluate(IN_VIEW.replace("line.parentElement", "document.body")),
    }


def copied(page: Page, index: str) -> dict[str, Any]:
    """Go by keyboard to a copybook and to a data item that only a copybook has, then to the COPY in a program."""
    told: dict[str, Any] = {}
    for name, words, address in (("page", "mwcust", "MWCUST.html"), ("item", ":tag:-town", "MWADDR.html#d*")):
        opened(page, index)
        page.keyboard.press("/")
        page.keyboard.type(words)
        page.get_by_role("option", name=words).first.wait_for()  # not what its first letters find
        told[f"{name}_first"] = page.locator("#found a").first.inner_text()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/copybooks/{address}")
        page.wait_for_selector(TOLD, state="attached")
        told[name] = page.locator("h1" if name == "page" else "tr.target").inner_text()
    page.locator("section[aria-labelledby=used-by] a.at").first.click()
    page.wait_for_url("**/programs/MWB020.html#L*")
    line = page.locator("li.target")
    line.wait_for()
    # The inner text is empty until a line outside the view is painted (`content-visibility`).
    return {**told, "line": line.text_content(), "in_view": line.evaluate(IN_VIEW)}


def cited(page: Page) -> dict[str, Any]:
    """Follow a citation of a program's page, which opens the folded listing at its line."""
    folded = page.locator("#lines").get_attribute("open") is None and page.locator("#lines li").count() == 0
    link = page.locator("a.at").nth(5)
    target = link.get_attribute("href") or ""
    link.click()
    line = page.locator(target)
    line.wait_for(state="visible")
    page.locator("li.target").wait_for()
    return {"folded": folded, "in_view": line.evaluate(IN_VIEW), "marked": page.locator("li.target").count()}


def ordered(page: Page) -> dict[str, Any]:
    """Sort a column of the first page by its numbers, in both directions."""
    table = page.locator("section[aria-labelledby=programs] table")
    button, cells = table.locator("th button").filter(has_text="Lines"), "tbody td:nth-child(4)"
    button.click()
    up = [int(text) for text in table.locator(cells).all_inner_texts()]
    button.click()
    down = [int(text) for text in table.locator(cells).all_inner_texts()]
    return {"up": up, "down": down, "says": table.locator("th[aria-sort]").get_attribute("aria-sort")}


def explored(page: Page) -> dict[str, Any]:
    """Go from a program into the estate's graph: deeper, without a kind, larger; then list what touches a field, by keyboard."""
    calls = page.locator("section[aria-labelledby=calls]")
    calls.get_by_role("button", name="Further around").click()
    calls.locator("rect.main").wait_for()
    boxes = [calls.locator("rect.box").count()]
    calls.get_by_role("button", name="Deeper").click()
    boxes.append(calls.locator("rect.box").count())
    calls.get_by_label("copybook").uncheck()
    boxes.append(calls.locator("rect.box").count())
    width = int(calls.locator("svg.graph").get_attribute("width") or 0)
    calls.get_by_role("button", name="Larger").click()
    larger = int(calls.locator("svg.graph").get_attribute("width") or 0) > width
    page.locator("#touching input").focus()
    page.keyboard.type("cu-balance")
    page.keyboard.press("Enter")
    page.locator("#touching rect.main").wait_for()
    page.locator("#touching summary").click()
    said = page.locator("#touching li").all_inner_texts()
    page.locator("#touching li a.at").first.click()
    page.locator("li.target").wait_for()
    return {"boxes": boxes, "larger": larger, "said": said, "line": page.locator("li.target").text_content()}


def untouched(page: Page, copybook: str) -> dict[str, Any]:
    """Ask what touches a field of a copybook, and follow the answer."""
    opened(page, copybook)
    page.get_by_role("button", name="What touches").first.click()
    said = page.locator("#touching p")
    told = said.inner_text()
    said.locator("a").click()
    return {"said": told, "place": page.evaluate("location.hash")}


def turned(page: Page, program: str) -> dict[str, Any]:
    """In a long table, open the next page, filter the rows by a word, and find a row of a later page by its address."""
    data = page.locator("section[aria-labelledby=paragraphs]")
    said = [data.locator("[role=status]").inner_text()]
    data.get_by_role("button", name="Next").click()
    said.append(data.locator("[role=status]").inner_text())
    data.locator(".turn input").fill("sewage")
    said.append(data.locator("[role=status]").inner_text())
    data.locator(".turn input").fill("")
    data.get_by_role("button", name="Next").click()
    last = data.locator("tbody tr").last.get_attribute("id")
    opened(page, f"{program}#{last}")
    return {"said": said, "row": page.locator("tr.target").count()}


def coloured(page: Page, index: str) -> list[str]:
    """Return the colours: light, then dark, and still dark when the page is loaded again."""
    background = "() => getComputedStyle(document.body).backgroundColor"
    seen = [page.evaluate(background)]
    page.locator("#theme").click()
    seen.append(page.evaluate(background))
    opened(page, index)
    return [*seen, page.evaluate(background)]


def plain(browser: Browser, seen: Seen, program: str) -> dict[str, Any]:
    """Read without scripts: the facts are there, what needs scripts is hidden, and a link leads to everything as text."""
    page = seen.watch(browser.new_context(java_script_enabled=False).new_page())
    page.goto(f"{program}#L100")
    return {
        "search": page.locator("#find").is_visible(),
        "facts": page.get_by_text("237 lines: 225 of code").is_visible(),
        "leads_to": page.locator("noscript a").get_attribute("href"),
    }


def narrow(page: Page, site: str) -> dict[str, Any]:
    """On a phone, check that only tables and drawings scroll sideways, and that a box of each drawing is in view at once."""
    told: dict[str, Any] = {"drawings": []}
    page.set_viewport_size({"width": 390, "height": 800})
    for path in looked_at(site):
        page.goto(f"file://{path}")
        page.wait_for_selector(TOLD, state="attached")
        told[str(path.relative_to(site))] = page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        told["drawings"] += page.evaluate(BOX_IN_FRAME)
    return told


def main(chromium: str, site: str, hostile: str, picture: str = "") -> None:
    index, program, large = (f"file://{site}/{name}.html" for name in ("index", "programs/MWB020", "programs/MWRATE"))
    seen, acted = Seen(), []
    told: dict[str, Any] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = seen.watch(browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light"))
        told["searched"] = searched(page, index)
        told["copied"] = copied(page, index)
        # What needs no page of its own is done on one that is open: most of what this program takes is loading pages.
        opened(page, program)
        told["drawn_program"] = page.evaluate(BOXES)
        told["explored"] = explored(page)
        opened(page, program)
        told["cited"] = cited(page)
        opened(page, large)
        told["drawn_large"] = page.evaluate(BOXES)
        told["turned"] = turned(page, large)
        told["untouched"] = untouched(page, f"file://{site}/copybooks/MWCUST.html")
        opened(page, program.replace("MWB020", "MWI010"))
        told["values"] = page.evaluate(
            "() => [...document.querySelectorAll('td code')].map((value) => value.innerText)"
        )
        opened(page, index)
        told["drawn_index"] = page.evaluate(BOXES)
        told["ordered"] = ordered(page)
        told["apart"] = page.evaluate(APART)
        told["alike"] = page.evaluate(ALIKE)
        told["coloured"] = coloured(page, index)
        told["plain"] = plain(browser, seen, program)
        for path in looked_at(hostile):
            page.goto(f"file://{path}#%")  # which no program escapes so
            page.wait_for_selector(TOLD, state="attached")
            page.fill("#find", "x")
            page.wait_for_selector("#found *")
            acted.append(page.evaluate("() => [window.acted ?? null, document.images.length]"))
        told["narrow"] = narrow(page, site)
        if picture:
            page = browser.new_page(viewport={"width": 1280, "height": 1060}, color_scheme="light")
            opened(page, index)
            page.screenshot(path=picture)
        browser.close()
    print(json.dumps({**told, "acted": acted, "requests": sorted(set(seen.requests)), "complaints": seen.complaints}))


if __name__ == "__main__":
    main(*sys.argv[1:])
