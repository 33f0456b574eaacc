"""What does every page share? One style, one script; no font, no library and no picture from anywhere.

Keeps out: what pages say.
"""

from __future__ import annotations

STYLE = """\
:root {
  --paper: #fff; --raised: #f6f8fa; --ink: #1b2530; --quiet: #5a6775; --rule: #dde3e9; --accent: #14598c;
  --mark: #fff3c4;
  --model: #6b4a94; --good: #1c6b3c; --doubt: #8a5a00; --bad: #a32b2b; --box: #eef4f9; --job: #f3f0e6; --trans: #eaf4ee;
  color-scheme: light;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {
  --paper: #11161c; --raised: #19212a; --ink: #dfe6ed; --quiet: #97a5b3; --rule: #2c3743; --accent: #7fbce8;
  --mark: #4a4012;
  --model: #c3a6e6; --good: #7ac797; --doubt: #e0b25a; --bad: #f09090; --box: #1c2a38; --job: #2b281c; --trans: #1a2d24;
  color-scheme: dark;
} }
:root[data-theme="dark"] {
  --paper: #11161c; --raised: #19212a; --ink: #dfe6ed; --quiet: #97a5b3; --rule: #2c3743; --accent: #7fbce8;
  --mark: #4a4012;
  --model: #c3a6e6; --good: #7ac797; --doubt: #e0b25a; --bad: #f09090; --box: #1c2a38; --job: #2b281c; --trans: #1a2d24;
  color-scheme: dark;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
code, .listing, .graph text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
  monospace; }
code { font-size: 12.5px; overflow-wrap: break-word; }
.w, .name { white-space: nowrap; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -999px; top: 0; background: var(--paper); padding: .5rem 1rem; z-index: 3; }
.skip:focus { left: 0; }
.bar { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center;
  gap: .4rem 1.4rem; min-height: 3rem;
  padding: .4rem 1.5rem; background: var(--raised); border-bottom: 1px solid var(--rule); }
.site { font-weight: 650; letter-spacing: .01em; }
.tabs { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.tabs a { color: var(--quiet); padding: .2rem 0; border-bottom: 2px solid transparent; }
.tabs a[aria-current] { color: var(--ink); border-color: var(--accent); }
.find { position: relative; flex: 1 1 14rem; max-width: 30rem; margin-left: auto; }
.find input { width: 100%; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--rule); border-radius: 4px;
  padding: .3rem .6rem; }
#found { position: absolute; left: 0; right: 0; top: 100%; max-height: 70vh; overflow: auto; margin-top: 2px;
  background: var(--paper);
  border: 1px solid var(--rule); border-radius: 4px; box-shadow: 0 6px 24px rgba(0, 0, 0, .14); }
#found a, #found p { display: flex; gap: .8rem; justify-content: space-between; align-items: baseline; margin: 0;
  padding: .3rem .6rem; color: inherit; }
#found a[aria-selected="true"], #found a:hover { background: var(--box); text-decoration: none; }
#found small { color: var(--quiet); white-space: nowrap; }
#theme { font: inherit; color: var(--quiet); background: none; border: 1px solid var(--rule);
  border-radius: 4px; padding: .25rem .6rem;
  cursor: pointer; }
.page { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2.5rem; max-width: 96rem;
  margin: 0 auto; padding: 0 1.5rem 4rem; }
.contents { position: sticky; top: 4rem; align-self: start; max-height: calc(100vh - 5rem); overflow: auto;
  padding-top: 1.9rem; }
.contents ol { list-style: none; margin: 0; padding: 0; border-left: 1px solid var(--rule); }
.contents a { display: block; padding: .12rem .8rem; color: var(--quiet); }
.contents a:hover { color: var(--ink); }
h1 { font-size: 1.65rem; line-height: 1.2; margin: 1.8rem 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.08rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--rule); }
.lead { margin: 0; color: var(--quiet); }
p { margin: .5rem 0; max-width: 60rem; }
.aside, figcaption { color: var(--quiet); font-size: 13px; }
noscript .aside { padding: 0 1.5rem; }
dl { margin: 0; }
dl div { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 1rem; padding: .16rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
.wide { overflow-x: auto; margin: .6rem 0 1.2rem; }
table { border-collapse: separate; border-spacing: 0; min-width: min(100%, 48rem); font-size: 13px; }
th { text-align: left; font-weight: 600; color: var(--quiet); white-space: nowrap; }
th, td { padding: .26rem 1.1rem .26rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
tbody tr { scroll-margin-top: 5rem; }
tbody tr:hover { background: var(--raised); }
td { min-width: 3.5rem; max-width: 34rem; overflow-wrap: break-word; }
td:has(> a:nth-of-type(3)) { min-width: 15rem; }
td:has(> a:nth-of-type(9)) { min-width: 26rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th button::after { content: " \\2195"; opacity: .35; }
th[aria-sort="ascending"] button::after { content: " \\2191"; opacity: 1; }
th[aria-sort="descending"] button::after { content: " \\2193"; opacity: 1; }
.d1 { padding-left: 1rem; } .d2 { padding-left: 2rem; } .d3 { padding-left: 3rem; } .d4 { padding-left: 4rem; }
.d5 { padding-left: 5rem; } .d6 { padding-left: 6rem; } .d7 { padding-left: 7rem; } .d8 { padding-left: 8rem; }
.at { font-variant-numeric: tabular-nums; white-space: nowrap; }
.name, td .name { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: 12.5px; }
.said { border-left: 2px solid var(--model); padding-left: .45rem; }
.held { color: var(--model); font-size: 11.5px; }
.tag { display: inline-block; font-size: 11.5px; line-height: 1.35; padding: 0 .4rem;
  border: 1px solid currentColor; border-radius: 3px;
  color: var(--quiet); white-space: nowrap; }
.tag.good { color: var(--good); } .tag.doubt { color: var(--doubt); } .tag.bad { color: var(--bad); }
figure { margin: .6rem 0 1.2rem; }
.canvas { overflow: auto; max-height: 80vh; border: 1px solid var(--rule); border-radius: 4px; padding: .5rem; }
.graph { display: block; }
.graph text { font-size: 12px; fill: var(--ink); text-anchor: middle; }
.box { fill: var(--box); stroke: var(--accent); stroke-width: 1; }
.box.main { stroke-width: 2.5; }
.box.job { fill: var(--job); stroke: var(--doubt); }
.box.transaction { fill: var(--trans); stroke: var(--good); }
.box.outside { fill: var(--paper); stroke: var(--quiet); stroke-dasharray: 4 3; }
.box.dead { fill: var(--paper); stroke: var(--bad); stroke-dasharray: 2 2; }
.graph a:hover .box, .graph a:focus-visible .box { stroke-width: 2.5; }
.arrow { fill: none; stroke: var(--quiet); stroke-width: 1.1; opacity: .75; }
.arrow.weak { stroke-dasharray: 4 3; }
.tip { fill: var(--quiet); }
summary { cursor: pointer; color: var(--quiet); }
.listing { max-height: 75vh; overflow: auto; margin: .6rem 0; padding: .4rem 0; border: 1px solid var(--rule);
  border-radius: 4px;
  list-style: none; font-size: 12.5px; line-height: 1.45; }
.listing li { white-space: pre; min-height: 1.45em; scroll-margin: 8rem;
  content-visibility: auto;
  contain-intrinsic-size: auto 18px; }
.listing li::before { content: attr(data-line); display: inline-block; width: 4.5em; padding-right: 1.2em;
  text-align: right; color: var(--quiet); }
.listing code { font-size: inherit; white-space: pre; }
.listing li:target, tr:target { background: var(--mark); }
@media (max-width: 60rem) {
  .page { grid-template-columns: minmax(0, 1fr); gap: 0; padding: 0 1rem 3rem; }
  .contents { display: none; }
  .canvas { max-height: 60vh; }
  .bar { position: static; padding: .4rem 1rem; }
  .site { flex: 1; }
  #theme { order: 1; }
  .tabs { order: 2; flex-basis: 100%; }
  .find { order: 3; flex-basis: 100%; max-width: none; }
  dl div { grid-template-columns: 1fr; gap: 0; padding: .3rem 0; }
}
@media (min-width: 60rem) {
  th:first-child, td:first-child { position: sticky; left: 0; z-index: 1; background: var(--paper); }
  tbody tr:hover td { background: var(--raised); }
  tbody tr:target td { background: var(--mark); }
}
@media print {
  .bar, .contents, .listing, summary, #source, .skip { display: none; }
  body { font-size: 10pt; }
  .page { display: block; max-width: none; padding: 0; }
  .wide, .canvas { overflow: visible; max-height: none; border: 0; }
  .graph { max-width: 100%; height: auto; }
  tr, figure { break-inside: avoid; }
  thead { display: table-header-group; }
  a { color: inherit; }
}
"""

SCRIPT = """\
"use strict";
(() => {
  const up = document.body.dataset.up;
  const root = document.documentElement;

  // Light or dark, remembered where the browser lets a page from disk remember.
  const theme = document.getElementById("theme");
  const remember = (value) => { try { localStorage.setItem("theme", value); } catch { /* not here */ } };
  try { const kept = localStorage.getItem("theme"); if (kept) root.dataset.theme = kept; } catch { /* not here */ }
  theme.hidden = false;
  theme.addEventListener("click", () => {

     const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(root.dataset.theme);
  });

  // Tables are sorted by their columns.
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  for (const table of document.querySelectorAll("main table")) {
    const body = table.tBodies[0];
    if (body.rows.length < 2) continue;
    table.querySelectorAll("th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up === 1 ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [row.cells[column].textContent, row]);
        rows.sort((a, b) => up * order.compare(a[0], b[0]));
        body.replaceChildren(...rows.map((pair) => pair[1]));
      });
    });
  }

  // A citation opens the listing that it leads to.
  const opened = () => {
    const line = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = line && line.closest("details");
    if (fold && !fold.open) { fold.open = true; line.scrollIntoView({ block: "center" }); }
  };
  addEventListener("hashchange", opened);
  opened();

  // A drawing that is larger than its frame begins where it can be seen: at its own box, or at the leftmost.
  for (const canvas of document.querySelectorAll(".canvas")) {
    const boxes = [...canvas.querySelectorAll(".box")];
    const left = (box) => box.x.baseVal.value;
    const first = canvas.querySelector(".box.main") || boxes.reduce((a, b) => (left(b) < left(a) ? b : a));
    const frame = canvas.getBoundingClientRect();
    const place = first.getBoundingClientRect();
    if (place.bottom > frame.bottom) canvas.scrollTop = place.top - frame.top - frame.height / 2;
    if (place.right > frame.right) canvas.scrollLeft = place.left - frame.left - frame.width / 2;
  }

  // Search over search.js, which is read when it is first needed.
  const input = document.getElementById("find");
  const found = document.getElementById("found");
  input.parentElement.hidden = false;
  let wanted = false;
  let shown = [];
  let at = -1;
  const load = () => {
    if (wanted) return;
    wanted = true;
    const script = document.createElement("script");
    script.src = up + "search.js";
    script.addEventListener("load", look);
    document.head.append(script);
  };
  const rank = (name, words) => {
    let worst = 0;
    for (const word of words) {
      const place = name.indexOf(word);
      if (place < 0) return -1;
      const start = place === 0 || !/[a-z0-9]/.test(name[place - 1]);
      worst = Math.max(worst, name === word ? 0 : place === 0 ? 1 : start ? 2 : 3);
    }
    return worst;
  };
  const select = (next) => {
    if (at >= 0) shown[at].setAttribute("aria-selected", "false");
    at = next;
    input.setAttribute("aria-activedescendant", at < 0 ? "" : shown[at].id);
    if (at >= 0) { shown[at].setAttribute("aria-selected", "true"); shown[at].scrollIntoView({ block: "nearest" }); }
  };
  const close = () => { found.hidden = true; input.setAttribute("aria-expanded", "false"); at = -1; };
  function look() {
    const index = window.penstockIndex;
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    if (!index || !words.length) { close(); return; }
    const hits = [];
    index.entries.forEach((entry, number) => {
      const worst = rank(entry[0].toLowerCase(), words);
      if (worst >= 0) hits.push([worst, entry[1], entry[0].length, number]);
    });
    hits.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]);
    shown = hits.slice(0, 50).map((hit, place) => {
      const [name, kind, page, anchor] = index.entries[hit[3]];
      const link = document.createElement("a");
      const where = document.createElement("small");
      link.id = "hit" + place;
      link.href = up + index.pages[page][0] + (anchor ? "#" + anchor : "");
      link.setAttribute("role", "option");
      link.setAttribute("aria-selected", "false");
      link.tabIndex = -1;
      const of = index.pages[page][1];
      where.textContent = index.kinds[kind] + (of && of.toLowerCase() !== name.toLowerCase() ? " · " + of : "");
      link.append(name, where);
      return link;
    });
    const none = document.createElement("p");
    none.textContent = "Nothing of that name.";
    found.replaceChildren(...(shown.length ? shown : [none]));
    found.hidden = false;
    input.setAttribute("aria-expanded", "true");
    at = -1;
    if (shown.length) select(0);
  }
  input.addEventListener("focus", load);
  input.addEventListener("input", () => { load(); look(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); return; }
    if (found.hidden || !shown.length) return;
    if (event.key === "ArrowDown") { event.preventDefault(); select((at + 1) % shown.length); }
    if (event.key === "ArrowUp") { event.preventDefault(); select((at + shown.length - 1) % shown.length); }
    if (event.key === "Enter" && at >= 0) { event.preventDefault(); shown[at].click(); close(); }
  });
  found.addEventListener("click", close);
  document.addEventListener("click", (event) => { if (!input.parentElement.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement === document.body) { event.preventDefault(); input.focus(); }
  });
})();
"""
