"use strict";
// What a page does: it turns its data into elements, finds names, sorts and pages tables, and shows sources on demand.
// Law: text of a program becomes a text node or the value of an attribute that is not an address; it is never parsed as markup.
const penstock = (() => {
  const up = document.body.dataset.up;
  const here = document.body.dataset.here;
  const root = document.documentElement;
  const ROWS = 100; // rows of a table shown at once
  const HITS = 50; // hits of a search shown
  const MANY = 48; // pieces of a cell: two dozen citations and their separators

  // ── elements ──────────────────────────────────────────────────────────────────────────────────────────────────

  // Attributes are set one by one, so that no part of a text can become another attribute.
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    made.append(...children);
    return made;
  };
  const button = (label, act, attributes = {}) => {
    const made = element("button", { type: "button", ...attributes }, label);
    made.addEventListener("click", act);
    return made;
  };
  const encode = (path) => path.split("/").map(encodeURIComponent).join("/");
  const address = (path, anchor = "") => (path ? up + encode(path) + ".html" : "") + (anchor ? "#" + encodeURIComponent(anchor) : "");

  // The value of JSON that was deflated and encoded in base64.
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  };

  // Load a file of the site that calls penstock[what] with its content: a page from disk may load scripts but not fetch.
  const loads = new Map();
  const load = (path, what) => {
    if (!loads.has(path)) {
      loads.set(path, new Promise((resolve, reject) => {
        const script = element("script", { src: up + encode(path) });
        waiting[what] = resolve;
        script.addEventListener("error", reject);
        document.head.append(script);
      }).then(unpack));
    }
    return loads.get(path);
  };
  const waiting = {};

  // ── cells ─────────────────────────────────────────────────────────────────────────────────────────────────────

  let spans = [];
  const isListed = (line) => spans.some(([first, last]) => first <= line && line <= last);
  const PIECES = {
    c: ([text]) => element("code", { class: text.length <= 40 ? "w" : undefined }, text),
    l: ([first, last, path]) => {
      const shown = first === last ? String(first) : first + "–" + last;
      const isLink = path || isListed(first);
      return element(isLink ? "a" : "span", { class: "at", href: isLink ? address(path, "L" + first) : undefined }, shown);
    },
    d: ([name, path, anchor]) => element("a", { href: address(path, anchor) }, name),
    g: ([name, line, path]) => element("a", { class: "name", href: address(path, "p" + line) }, name),
    w: ([text, share]) => {
      const said = element("span", { class: "said", title: "The words of a model" }, text);
      if (share !== null) said.append(" ", element("span", { class: "held" }, Math.round(share * 100) + "%"));
      return said;
    },
    t: ([text, tone]) => element("span", { class: "tag " + tone }, text),
  };
  const piece = (one) => (one === "\n" ? element("br") : typeof one === "string" ? one : PIECES[one[one.length - 1]](one));
  // A cell with hundreds of citations shows the first of them, and all on demand.
  const pieces = (cell) => {
    if (cell.length <= MANY) return cell.map(piece);
    const more = button("and " + Math.ceil((cell.length - MANY) / 2) + " more", () => more.replaceWith(...cell.slice(MANY).map(piece)), { class: "rest" });
    return [...cell.slice(0, MANY).map(piece), more];
  };
  const textOf = (cell) => cell.map((one) => (typeof one === "string" ? one : one[0])).join("");

  // The pieces of a cell, for each kind of column.
  const commas = (found) => found.flatMap((one, at) => (at && typeof one !== "string" ? [", ", one] : [one]));
  const cited = (at) => (typeof at === "string" ? at : typeof at === "number" ? [at, at, "", "l"] : [...at, "", "l"]);
  const CELLS = {
    pieces: (cell) => cell,
    code: (text) => (text ? [[text, "c"]] : []),
    codes: (texts) => commas(texts.map((text) => [text, "c"])),
    plain: (text) => (text ? [text] : []),
    lines: (ats) => commas(ats.map(cited)),
  };

  // ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────

  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const anchors = new Map(); // of rows, shown or not: each to the function that shows its row

  // A table shows one page of its rows; sorting and filtering apply to all rows.
  const table = ([columns, numbers, ids, depths], title) => {
    const rows = columns.length === 0 ? [] : columns[0][2].map((_, at) =>
      [columns.map(([, kind, cells]) => CELLS[kind](cells[at])), ids[at] || "", depths[at] || 0]);
    let order_ = rows;
    let first = 0;
    let marked = null;
    const body = element("tbody");
    const heads = columns.map(([name], at) => element("th", { scope: "col", class: numbers.includes(at) ? "n" : undefined },
      rows.length > 1 ? button(name, () => sort(at)) : name));
    const wide = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": title },
      element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
    const place = element("span", { role: "status" });
    const back = button("Previous", () => show(first - ROWS));
    const on = button("Next", () => show(first + ROWS));
    const only = element("input", { type: "search", placeholder: "Only rows with …", "aria-label": "Only rows of " + title + " with" });
    only.addEventListener("input", () => {
      const word = only.value.toLowerCase();
      order_ = word ? rows.filter(([cells]) => cells.some((cell) => textOf(cell).toLowerCase().includes(word))) : rows;
      show(0);
    });

    const row = (one) => {
      const [cells, anchor, depth] = one;
      const isNamed = /^[dp]\d+$/.test(anchor) && document.getElementById("touching");
      const made = element("tr", { id: anchor || undefined, class: one === marked ? "target" : undefined });
      cells.forEach((cell, at) => made.append(element("td",
        { class: numbers.includes(at) ? "n" : at === 0 && depth ? "d" + Math.min(depth, 8) : undefined, "data-of": columns[at][0] },
        ...pieces(cell))));
      if (isNamed) {
        const name = textOf(cells[0].slice(0, 1)).replace(/^\d+ /, "");
        made.cells[0].append(" ", button("◎", () => touch(name), { class: "rest", title: "What touches it", "aria-label": "What touches " + name }));
      }
      return made;
    };
    const show = (from) => {
      first = Math.max(0, Math.min(from, Math.floor(Math.max(0, order_.length - 1) / ROWS) * ROWS));
      body.replaceChildren(...order_.slice(first, first + ROWS).map(row));
      place.textContent = order_.length ? (first + 1) + "–" + Math.min(first + ROWS, order_.length) + " of " + order_.length : "None of " + rows.length;
      back.disabled = first === 0;
      on.disabled = first + ROWS >= order_.length;
    };
    const sort = (at) => {
      const down = heads[at].getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[at].setAttribute("aria-sort", down === 1 ? "ascending" : "descending");
      const keyed = order_.map((one) => [textOf(one[0][at]), one]);
      keyed.sort((a, b) => down * order.compare(a[0], b[0]));
      order_ = keyed.map((pair) => pair[1]);
      show(0);
    };
    const reveal = (one) => {
      marked = one;
      if (!order_.includes(one)) { only.value = ""; order_ = rows; }
      show(Math.floor(order_.indexOf(one) / ROWS) * ROWS);
    };
    for (const one of rows) if (one[1] && !anchors.has(one[1])) anchors.set(one[1], () => reveal(one));
    show(0);
    return rows.length > ROWS ? [element("div", { class: "turn" }, place, back, on, only), wide] : [wide];
  };

  const BLOCKS = {
    text: ([cell, isAside]) => [element("p", { class: isAside ? "aside" : undefined }, ...cell.map(piece))],
    facts: ([rows]) => [element("dl", {}, ...rows.map(([name, cell]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, ...cell.map(piece)))))],
    table,
    graph: ([graph, caption, around], title) => [penstock.graphs.figure(graph, caption, title, around)],
  };

  // ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────

  const told = async () => {
    touching();
    const holder = document.getElementById("told");
    if (holder) {
      const data = await unpack(document.getElementById("data").content.textContent);
      spans = data.spans;
      holder.replaceChildren(...data.sections.map(([title, slug, blocks]) => element("section", { "aria-labelledby": slug },
        element("h2", { id: slug }, title), ...blocks.flatMap((block) => BLOCKS[block[block.length - 1]](block, title)))));
      for (const figure of holder.querySelectorAll("figure")) figure.dispatchEvent(new Event("shown"));
    }
    const fold = document.getElementById("lines");
    if (fold) fold.addEventListener("toggle", () => { if (fold.open) source(); });
    await go();
    document.body.dataset.told = "";
  };

  // The lines of the source: a separate file, loaded on demand.
  let listed = null;
  const source = () => {
    listed ??= load(here.replace(/\.html$/, ".js"), "source").then(({ spans: shown, lines, graph }) => {
      const numbers = shown.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
      document.getElementById("lines").append(element("ol", { class: "listing", tabindex: "0" }, ...numbers.map((number, at) =>
        element("li", { id: "L" + number, "data-line": number }, element("code", {}, lines[at])))));
      return graph;
    });
    return listed;
  };

  // Show what touches a name of this program: the graph is in the source's file.
  const touch = async (name) => {
    const graph = await source();
    const made = graph && penstock.graphs.touches(graph, name);
    const place = document.getElementById("touching");
    place.querySelector("input").value = name;
    const shown = made || element("p", { class: "aside", role: "status" }, "Nothing here is called " + name + ", or nothing touches it.");
    // A copybook declares, and the programs that copy it do the rest.
    if (!made && document.getElementById("used-by")) shown.append(" What programs do with it is on ", element("a", { href: "#used-by" }, "their pages"), ".");
    place.querySelector(".shown").replaceChildren(shown);
    if (made) made.dispatchEvent(new Event("shown"));
    document.getElementById("what-touches-what").scrollIntoView();
  };
  const touching = () => {
    const place = document.getElementById("touching");
    if (!place) return;
    const input = element("input", { type: "search", "aria-label": "A field or paragraph", placeholder: "A field or paragraph", list: "names" });
    const names = element("datalist", { id: "names" });
    input.addEventListener("focus", async () => {
      const graph = await source();
      if (graph) names.replaceChildren(...graph.nodes.map(([label]) => element("option", { value: label })));
    }, { once: true });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") touch(input.value.trim()); });
    place.append(element("div", { class: "tools" }, input, names, button("Show", () => touch(input.value.trim()))), element("div", { class: "shown" }));
  };

  // Go to the address's fragment: a line of the source, a row of a table, possibly on another page of it, or a heading.
  const go = async () => {
    let wanted;
    try { wanted = decodeURIComponent(location.hash.slice(1)); } catch { /* a `%` that begins no byte */ }
    if (!wanted) return;
    const fold = document.getElementById("lines");
    if (fold && /^L\d+$/.test(wanted)) {
      await source();
      fold.open = true;
    } else if (anchors.has(wanted)) {
      anchors.get(wanted)();
    }
    const found = document.getElementById(wanted);
    if (!found) return;
    for (const one of document.querySelectorAll(".target")) one.classList.remove("target");
    if (found.matches("tr, li")) found.classList.add("target");
    found.scrollIntoView({ block: found.matches("h2") ? "start" : "center" });
  };
  addEventListener("hashchange", go);

  // Light or dark, remembered if the browser gives a page from disk storage.
  const theme = document.getElementById("theme");
  const remember = (value) => { try { localStorage.setItem("theme", value); } catch { /* not here */ } };
  try { const kept = localStorage.getItem("theme"); if (kept) root.dataset.theme = kept; } catch { /* not here */ }
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(root.dataset.theme);
  });

  // ── search ────────────────────────────────────────────────────────────────────────────────────────────────────

  const input = document.getElementById("find");
  const found = document.getElementById("found");
  input.parentElement.hidden = false;
  let index = null;
  let shown = [];
  let at = -1;
  // All names in one text, one per line: a browser finds a word in ten million characters within a frame, but not in an array of
  // three hundred thousand names.
  const want = () => {
    if (index) return;
    index = {};
    load("search.js", "index").then((loaded) => {
      const text = "\n" + loaded.names.join("\n").toLowerCase() + "\n";
      const starts = [];
      for (let from = 0; (from = text.indexOf("\n", from)) >= 0 && from < text.length - 1; from++) starts.push(from + 1);
      index = { ...loaded, text, starts };
      look();
    });
  };
  const entryAt = (place) => { // the last name that starts at or before that place
    let low = 0;
    let high = index.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (index.starts[middle] <= place) low = middle; else high = middle - 1;
    }
    return low;
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
  const MOST = 20000; // names that are ranked: one or two letters match nearly all names
  const hitsOf = (words) => {
    const hits = [];
    const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
    // First names that begin with the word, then those that contain it: if there are too many, the better ones are included.
    const seen = new Set();
    for (const wanted of ["\n" + longest, longest]) {
      for (let place = index.text.indexOf(wanted); place >= 0 && seen.size < MOST; ) {
        const number = entryAt(wanted === longest ? place : place + 1);
        if (!seen.has(number)) {
          seen.add(number);
          const name = index.names[number].toLowerCase();
          const worst = rank(name, words);
          if (worst >= 0) hits.push([worst, index.kindOf[number], name.length, number]);
        }
        const next = index.starts[number + 1];
        if (next === undefined) break;
        place = index.text.indexOf(wanted, next - 1);
      }
    }
    const named = ([, , , number]) => index.names[number];
    return hits.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || order.compare(named(a), named(b)) || a[3] - b[3]);
  };
  const select = (next) => {
    if (at >= 0) shown[at].setAttribute("aria-selected", "false");
    at = next;
    input.setAttribute("aria-activedescendant", at < 0 ? "" : shown[at].id);
    if (at >= 0) { shown[at].setAttribute("aria-selected", "true"); shown[at].scrollIntoView({ block: "nearest" }); }
  };
  const close = () => { found.hidden = true; input.setAttribute("aria-expanded", "false"); at = -1; };
  function look() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!index || !index.text || !words.length) { close(); return; }
    const hits = hitsOf(words);
    shown = hits.slice(0, HITS).map((hit, number) => {
      const [page, of] = index.pages[index.pageOf[hit[3]]];
      const name = index.names[hit[3]];
      const anchor = index.anchors[hit[3]];
      const told = index.kinds[hit[1]] + (of && of.toLowerCase() !== name.toLowerCase() ? " · " + of : "");
      return element("a", { id: "hit" + number, href: up + encode(page) + (anchor ? "#" + anchor : ""), role: "option", "aria-selected": "false", tabindex: "-1" },
        name, element("small", {}, told));
    });
    const rest = hits.length - shown.length;
    const note = !shown.length ? "Nothing of that name." : rest > 0 ? rest + " more: type more of the name." : "";
    found.replaceChildren(...shown, ...(note ? [element("p", {}, note)] : []));
    found.hidden = false;
    input.setAttribute("aria-expanded", "true");
    at = -1;
    if (shown.length) select(0);
  }
  input.addEventListener("focus", want);
  input.addEventListener("input", () => { want(); look(); });
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

  addEventListener("DOMContentLoaded", told);
  return {
    element, button, address, load,
    source: (text) => waiting.source(text),
    index: (text) => waiting.index(text),
    estate: (text) => waiting.estate(text),
  };
})();
