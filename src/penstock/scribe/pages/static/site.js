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
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
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
