"use strict";
// Diagrams: a graph, or the neighbourhood of one of its boxes, in layers from left to right.
//
// The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981):
// edges that close a cycle are reversed for the layering, each box is one layer after the last box that leads to it, and layers
// are ordered by the positions of neighbours. Law: no two boxes overlap, every box is inside the drawing, equal graphs give equal
// drawings, and the number of boxes left out is stated. Why no library: docs/adr/0013-diagrams-by-hand.md.
penstock.graphs = (() => {
  const { element, button, address, load } = penstock;
  const HEIGHT = 24; // of every box, in pixels: one line of text
  const GAP = 10; // between the boxes of a layer
  const STEP = 56; // between layers: room for a curve to turn in
  const MARGIN = 8;
  const LETTER = 7.3; // width of the 12 px monospace in style.css: enough for every platform's font
  const ROW = 900; // maximum width of the rows of single boxes
  const LABEL = 30; // characters of a label
  const WHOLE = 60; // boxes of a graph that is drawn whole: it fits on two screens and can be followed with a finger
  const MOST = 150; // boxes of a neighbourhood
  const FOLD = 12; // boxes of one kind with the same single neighbour that are not yet folded into one box
  const SWEEPS = 6;
  const DEEPEST = 6;
  const RUNNING = ["program", "outside", "transaction", "job", "step"]; // kinds in the first view of an estate
  const LISTED = 500; // sentences in the list

  const svg = (name, attributes = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // ── places ────────────────────────────────────────────────────────────────────────────────────────────────────

  // Names in one folder differ at the end, so the end keeps more room.
  const cut = (label) => (label.length <= LABEL ? label : label.slice(0, LABEL / 3) + "…" + label.slice(1 - 2 * LABEL / 3));
  const labelOf = ({ label, brief }) => cut(brief ?? label);
  const widthOf = (node) => Math.max(labelOf(node).length, 3) * LETTER + 16 + (node.more ? 16 : 0);

  // Connected components, largest first, then boxes without edges. `edges` are [source, target, weak, verb], by index in `nodes`.
  const components = (nodes, edges) => {
    const group = nodes.map((_, at) => at);
    const top = (at) => { while (group[at] !== at) at = group[at] = group[group[at]]; return at; };
    for (const [a, b] of edges) group[top(a)] = top(b);
    const touched = new Set(edges.flatMap(([a, b]) => [a, b]));
    const found = new Map();
    nodes.forEach((_, at) => { if (touched.has(at)) { const of = top(at); if (!found.has(of)) found.set(of, []); found.get(of).push(at); } });
    return [[...found.values()].sort((a, b) => b.length - a.length), nodes.map((_, at) => at).filter((at) => !touched.has(at))];
  };

  // Edges that close a cycle in a depth-first walk from the boxes that nothing leads to.
  const backEdges = (members, after) => {
    const back = new Set();
    const state = new Map();
    const reached = new Set(members.flatMap((at) => after.get(at).filter((to) => to !== at)));
    for (const start of [...members.filter((at) => !reached.has(at)), ...members]) {
      if (state.has(start)) continue;
      const stack = [[start, 0]];
      state.set(start, 1);
      while (stack.length) {
        const top = stack[stack.length - 1];
        const next = after.get(top[0])[top[1]++];
        if (next === undefined) { state.set(top[0], 2); stack.pop(); }
        else if (state.get(next) === 1) back.add(top[0] + " " + next);
        else if (!state.has(next)) { state.set(next, 1); stack.push([next, 0]); }
      }
    }
    return back;
  };

  const placed = (nodes, members, edges) => {
    const after = new Map(members.map((at) => [at, []]));
    for (const [a, b] of edges) if (a !== b && !after.get(a).includes(b)) after.get(a).push(b);
    const back = backEdges(members, after);
    const down = new Map(members.map((at) => [at, new Set()]));
    for (const at of members) for (const to of after.get(at)) back.has(at + " " + to) ? down.get(to).add(at) : down.get(at).add(to);
    // Layers by the longest path: a box is placed once all boxes that lead to it are.
    const open = new Map(members.map((at) => [at, 0]));
    for (const at of members) for (const to of down.get(at)) open.set(to, open.get(to) + 1);
    const layer = new Map();
    let wave = members.filter((at) => !open.get(at));
    for (const at of wave) layer.set(at, 0);
    while (wave.length) {
      const next = [];
      for (const at of wave) for (const to of down.get(at)) {
        layer.set(to, Math.max(layer.get(to) ?? 0, layer.get(at) + 1));
        open.set(to, open.get(to) - 1);
        if (!open.get(to)) next.push(to);
      }
      wave = next;
    }
    // Slots: for boxes, and for edges that pass through a layer.
    const layers = [];
    const slotIn = (depth, node) => {
      const slot = { depth, node, before: [], after: [], y: 0, x: 0, height: node === null ? 2 : HEIGHT };
      (layers[depth] ??= []).push(slot);
      return slot;
    };
    const slots = new Map(members.map((at) => [at, slotIn(layer.get(at), at)]));
    const ways = new Map();
    for (const at of members) for (const to of down.get(at)) {
      const way = [slots.get(at)];
      for (let depth = layer.get(at) + 1; depth <= layer.get(to); depth++) {
        const slot = depth === layer.get(to) ? slots.get(to) : slotIn(depth, null);
        way[way.length - 1].after.push(slot);
        slot.before.push(way[way.length - 1]);
        way.push(slot);
      }
      ways.set(at + " " + to, way);
    }
    const widths = layers.map((one) => Math.max(...one.map((slot) => (slot.node === null ? 0 : widthOf(nodes[slot.node])))));
    const mean = (slot, beside) => (beside.length ? beside.reduce((sum, one) => sum + one.y, 0) / beside.length : slot.y);
    const number = (one) => one.forEach((slot, at) => { slot.y = at; });
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const forth = sweep % 2 === 0;
      for (const one of forth ? layers : [...layers].reverse()) {
        number(one);
        const keyed = one.map((slot) => [mean(slot, forth ? slot.before : slot.after), slot]);
        keyed.sort((a, b) => a[0] - b[0]);
        keyed.forEach((pair, at) => { one[at] = pair[1]; });
        number(one);
      }
    }
    // Heights: as near to the neighbours as the boxes above allow, then all shifted by the mean remainder.
    const stack = (one, wanted) => {
      let free = -Infinity;
      one.forEach((slot, at) => { slot.y = Math.max(wanted[at], free); free = slot.y + slot.height + GAP; });
      const shift = one.reduce((sum, slot, at) => sum + wanted[at] - slot.y, 0) / one.length;
      for (const slot of one) slot.y += shift;
    };
    for (const one of layers) stack(one, one.map((_, at) => at * (HEIGHT + GAP)));
    for (let turn = 0; turn < 4; turn++) {
      const forth = turn % 2 === 0;
      for (const one of forth ? layers : [...layers].reverse()) stack(one, one.map((slot) => {
        const beside = forth ? slot.before : slot.after;
        return beside.length ? beside.reduce((sum, other) => sum + other.y + other.height / 2, 0) / beside.length - slot.height / 2 : slot.y;
      }));
    }
    let x = MARGIN;
    layers.forEach((one, at) => { for (const slot of one) slot.x = x; x += widths[at] + STEP; });
    const top = Math.min(...layers.flat().map((slot) => slot.y));
    const boxes = members.map((at) => ({ node: at, x: slots.get(at).x, y: slots.get(at).y - top, width: widthOf(nodes[at]) }));
    const middle = (slot) => slot.y + slot.height / 2 - top;
    const routes = edges.map((edge) => {
      const [a, b] = edge;
      const own = slots.get(a);
      const right = own.x + widthOf(nodes[a]);
      if (a === b) return { edge, points: [[right, own.y - top + 6], [right, own.y - top + HEIGHT - 6]] };
      const isForth = ways.has(a + " " + b);
      const way = ways.get(isForth ? a + " " + b : b + " " + a);
      const aside = isForth ? 0 : HEIGHT / 2 - 6; // a back edge leaves and arrives near the lower border
      const points = [[way[0].x + widthOf(nodes[way[0].node]), middle(way[0]) + aside]];
      for (const slot of way.slice(1)) {
        points.push([slot.x, middle(slot) + (slot.node === null ? 0 : aside)]);
        if (slot.node === null) points.push([slot.x + widths[slot.depth], middle(slot)]);
      }
      return { edge, points: isForth ? points : points.reverse() };
    });
    const loops = edges.some(([a, b]) => a === b);
    return {
      boxes, routes,
      width: Math.max(...boxes.map((box) => box.x + box.width), ...routes.flatMap(({ points }) => points.map((point) => point[0]))) + (loops ? 30 : 0),
      height: Math.max(...boxes.map((box) => box.y + HEIGHT), ...routes.flatMap(({ points }) => points.map((point) => point[1]))),
    };
  };

  // The layout of a whole graph: components below each other, then single boxes in rows.
  const layout = (nodes, edges) => {
    const [groups, singles] = components(nodes, edges);
    const boxes = [];
    const routes = [];
    let width = 0;
    let top = MARGIN;
    for (const members of groups) {
      const within = new Set(members);
      const part = placed(nodes, members, edges.filter(([a]) => within.has(a)));
      for (const box of part.boxes) boxes.push({ ...box, y: box.y + top });
      for (const route of part.routes) routes.push({ ...route, points: route.points.map(([x, y]) => [x, y + top]) });
      width = Math.max(width, part.width);
      top += part.height + 2 * GAP;
    }
    let x = MARGIN;
    for (const node of singles) {
      const box = { node, width: widthOf(nodes[node]) };
      if (x > MARGIN && x + box.width > Math.max(width, ROW)) { x = MARGIN; top += HEIGHT + GAP; }
      boxes.push({ ...box, x, y: top });
      x += box.width + GAP;
      width = Math.max(width, x);
    }
    return { boxes, routes, width: width + MARGIN, height: (singles.length ? top + HEIGHT : top - 2 * GAP) + MARGIN };
  };

  // ── neighbourhoods ────────────────────────────────────────────────────────────────────────────────────────────

  // A graph with the outgoing and incoming arrows of each box.
  const graphOf = (nodes, edges) => {
    const forth = nodes.map(() => []);
    const back = nodes.map(() => []);
    edges.forEach(([a, b], at) => { forth[a].push(at); back[b].push(at); });
    return { nodes, edges, forth, back };
  };

  // What a box leads to and what leads to it, wave by wave, each direction separately: what else a caller calls is not a
  // neighbour, or everything would be one within three steps.
  const around = (graph, center, depth, kinds) => {
    const kept = new Set([center]);
    for (const [arrows, end] of [[graph.forth, 1], [graph.back, 0]]) {
      let wave = [center];
      const seen = new Set(wave);
      for (let step = 0; step < depth && wave.length; step++) {
        const next = [];
        for (const at of wave) for (const arrow of arrows[at]) {
          const to = graph.edges[arrow][end];
          if (seen.has(to) || !kinds.has(graph.nodes[to].kind)) continue;
          seen.add(to);
          kept.add(to);
          next.push(to);
        }
        wave = next;
      }
    }
    return kept;
  };

  // The components of the boxes of some kinds, largest first: what a drawing leaves out is then in the smallest.
  const componentsOf = (graph, kinds) => {
    const wanted = graph.nodes.map((_, at) => at).filter((at) => kinds.has(graph.nodes[at].kind));
    const place = new Map(wanted.map((at, place) => [at, place]));
    const edges = graph.edges.filter(([a, b]) => place.has(a) && place.has(b)).map(([a, b]) => [place.get(a), place.get(b)]);
    const [joined, single] = components(wanted, edges);
    return [...joined, ...single.map((at) => [at])].map((members) => members.map((at) => wanted[at]));
  };

  // The part of a graph that is drawn: the wanted boxes, at most MOST; many that share one single neighbour are folded into one.
  const drawn = (graph, wanted, center, unfolded) => {
    const arrows = graph.edges.filter(([a, b]) => wanted.has(a) && wanted.has(b));
    const beside = new Map([...wanted].map((at) => [at, new Set()]));
    for (const [a, b] of arrows) { beside.get(a).add(b); beside.get(b).add(a); }
    const groups = new Map();
    for (const at of wanted) {
      const others = beside.get(at);
      if (at === center || others.size !== 1) continue;
      const [hub] = others;
      const name = hub + " " + graph.nodes[at].kind + " " + (arrows.some(([a, b]) => a === hub && b === at) ? "to" : "from");
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(at);
    }
    const nodes = [];
    const place = new Map();
    for (const [name, members] of groups) {
      if (members.length <= FOLD || unfolded.has(name)) continue;
      for (const at of members) place.set(at, nodes.length);
      nodes.push({ label: members.length + " " + plural(graph.nodes[members[0]].kind), kind: graph.nodes[members[0]].kind, fold: name, members });
    }
    let left = 0;
    for (const at of wanted) {
      if (place.has(at)) continue;
      if (nodes.length >= MOST && at !== center) { left++; continue; }
      place.set(at, nodes.length);
      const hidden = [...graph.forth[at].map((one) => graph.edges[one][1]), ...graph.back[at].map((one) => graph.edges[one][0])];
      nodes.push({ ...graph.nodes[at], at, more: new Set(hidden.filter((one) => !wanted.has(one))).size, isMain: at === center });
    }
    const edges = new Map();
    for (const [a, b, weak, verb, line] of arrows) {
      if (!place.has(a) || !place.has(b)) continue;
      const ends = place.get(a) + " " + place.get(b);
      const known = edges.get(ends) ?? [place.get(a), place.get(b), true, new Map()];
      known[2] = known[2] && weak;
      if (verb && !known[3].has(verb)) known[3].set(verb, line);
      edges.set(ends, known);
    }
    return { nodes, edges: [...edges.values()], left };
  };

  const plural = (kind) => (kind === "outside" ? "programs of others" : kind === "dead" ? "dead paragraphs" : kind + "s");

  // ── drawing ───────────────────────────────────────────────────────────────────────────────────────────────────

  let figures = 0;
  const curve = (points) => {
    let path = "M" + points[0].map(Math.round).join(" ");
    for (let at = 1; at < points.length; at++) {
      const [[x0, y0], [x1, y1]] = [points[at - 1], points[at]];
      const middle = x0 === x1 ? x0 + STEP / 2 : (x0 + x1) / 2;
      path += "C" + [middle, y0, middle, y1, x1, y1].map(Math.round).join(" ");
    }
    return path;
  };

  const picture = (shown, title, name, acts) => {
    const { boxes, routes, width, height } = layout(shown.nodes, shown.edges);
    const made = svg("svg", { class: "graph", role: "group", "aria-label": title, width: Math.ceil(width), height: Math.ceil(height), viewBox: "0 0 " + Math.ceil(width) + " " + Math.ceil(height) });
    made.append(svg("defs", {}, svg("marker", { id: name, viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: "tip", d: "M0 .8 8 4 0 7.2Z" }))));
    for (const { edge, points } of routes) {
      const arrow = svg("path", { class: (edge[2] ? "weak " : "") + "arrow", "marker-end": "url(#" + name + ")", d: curve(points) });
      if (edge[3].size) arrow.append(svg("title", {}, [...edge[3].keys()].join(", ")));
      made.append(arrow);
    }
    for (const box of boxes) {
      const node = shown.nodes[box.node];
      const link = node.page ? address(node.page) : node.anchor ? "#" + node.anchor : "";
      const shape = [
        svg("title", {}, node.label + " (" + node.kind + ")"),
        svg("rect", { class: "box " + node.kind + (node.isMain ? " main" : ""), x: Math.round(box.x), y: Math.round(box.y), width: Math.round(box.width), height: HEIGHT, rx: node.kind === "transaction" ? 12 : 3 }),
        svg("text", { x: Math.round(box.x + (box.width - (node.more ? 16 : 0)) / 2), y: Math.round(box.y + 16) }, labelOf(node)),
      ];
      if (node.fold) made.append(acts.press(svg("g", { class: "fold", role: "button", tabindex: 0, "aria-label": "Show " + node.label }, ...shape), () => acts.unfold(node.fold)));
      else made.append(link ? svg("a", { href: link }, ...shape) : svg("g", {}, ...shape));
      if (node.more) {
        const [x, y] = [Math.round(box.x + box.width - 11), Math.round(box.y + 12)];
        made.append(acts.press(svg("g", { class: "more", role: "button", tabindex: 0, "aria-label": "Around " + node.label + ", " + node.more + " more" },
          svg("title", {}, node.more + " more: see what is around it"), svg("circle", { cx: x, cy: y, r: 7 }), svg("path", { d: "M" + (x - 3) + " " + y + "h6M" + x + " " + (y - 3) + "v6" })), () => acts.center(node.at)));
      }
    }
    return made;
  };

  // A figure with controls for depth, kinds and size, and all of it as a list for readers who cannot see it.
  const figure = (data, caption, title) => {
    const places = new Map(data[0].map(([id], at) => [id, at]));
    const nodes = data[0].map(([, label, kind, page, line]) => ({ label, kind, page: page ? "programs/" + page : "", anchor: line ? "p" + line : "" }));
    const main = nodes.findIndex((node) => node.kind === "main");
    return explorer(graphOf(nodes, data[1].map(([a, b, weak]) => [places.get(a), places.get(b), weak, ""])), caption, title,
      { center: nodes.length > WHOLE ? Math.max(main, 0) : null });
  };

  // Programs of one name are told apart by the paths of their files: a box has room for the folders that differ.
  const withBriefs = (nodes) => {
    const alike = new Map();
    for (const node of nodes) {
      const name = node.label.split("@", 1)[0], one = node.kind + " " + name; // a file is named after its program: PROG@path.FILE
      if (name !== node.label) alike.set(one, [...(alike.get(one) ?? []), node]);
    }
    for (const those of alike.values()) {
      const name = those[0].label.split("@", 1)[0];
      const paths = those.map(({ label }) => label.slice(name.length + 1).split("/"));
      const isShared = (at) => paths.every((path) => path.at(at) === paths[0].at(at));
      const most = Math.min(...paths.map((path) => path.length)) - 1;
      let first = 0, last = 0;
      while (first < most && isShared(first)) first++;
      while (first + last < most && isShared(-1 - last)) last++;
      if (those.length > 1) those.forEach((node, at) => { node.brief = name + "@" + paths[at].slice(first, paths[at].length - last).join("/"); });
    }
    return nodes;
  };

  // A graph that was encoded as numbers with tables of their meanings (wiring.py).
  const ofTable = ({ kinds, verbs, nodes, edges }) => graphOf(
    withBriefs(nodes.map(([label, kind, page]) => ({ label, kind: kinds[kind] === "program" && !page ? "outside" : kinds[kind], page }))),
    edges.map(([a, b, verb, sure, line]) => [a, b, sure > 0, verbs[verb], line]));

  // The estate's graph, loaded on demand. Without a page it is drawn whole, up to MOST boxes, if it falls into small parts, as it
  // does where jobs run programs that call none: around any one box there would be little. Else it is centred on the program with
  // the most arrows in that view.
  let estate = null;
  const ofEstate = async (page, caption, title) => {
    estate ??= ofTable(await load("estate.js", "estate"));
    const isRunning = ([one, other]) => RUNNING.includes(estate.nodes[one].kind) && RUNNING.includes(estate.nodes[other].kind);
    const weight = (at) => (estate.nodes[at].kind === "program"
      ? [...estate.forth[at], ...estate.back[at]].filter((arrow) => isRunning(estate.edges[arrow])).length : 0);
    const center = page
      ? estate.nodes.findIndex((node) => node.page === page)
      : estate.nodes.reduce((best, _, at) => (weight(at) > weight(best) ? at : best), 0);
    const kinds = page ? undefined : RUNNING;
    const isInParts = !page && (componentsOf(estate, new Set(RUNNING))[0] ?? []).length <= WHOLE;
    return explorer(estate, caption, title, { center: isInParts ? null : Math.max(center, 0), depth: page ? 1 : 2, kinds });
  };
  const replaced = (figure, made) => { figure.replaceWith(made); made.dispatchEvent(new Event("shown")); };

  // The figure of a graph: that of a page's neighbours offers to continue into the estate, that of the estate loads by itself.
  const shownAs = (data, caption, title, from) => {
    if (from !== "estate") {
      const made = figure(data, caption, title);
      if (from) made.querySelector(".tools").append(button("Further around", async () => replaced(made, await ofEstate(from, "What programs, jobs and data do to each other. Dashed: it may.", title))));
      return made;
    }
    const made = element("figure", {}, element("div", { class: "canvas" }));
    made.addEventListener("shown", async () => replaced(made, await ofEstate("", caption, title)), { once: true });
    return made;
  };

  // What touches a field or a paragraph of a program, from the graph that its source file contains.
  const touches = (table, name) => {
    const graph = ofTable(table);
    const wanted = name.toUpperCase();
    const center = graph.nodes.findIndex((node) => node.label === wanted || node.label.endsWith("." + wanted));
    return center < 0 ? null : explorer(graph, "Fields and paragraphs of this program. Dashed: it may.", "What touches what", { center, depth: 1, isOwn: true });
  };

  const explorer = (graph, caption, title, start) => {
    const kinds = [...new Set(graph.nodes.map((node) => node.kind))];
    const state = { center: start.center, depth: start.depth ?? 2, kinds: new Set(start.kinds ?? kinds), unfolded: new Set(), zoom: 1 };
    const name = "tip-" + ++figures;
    const canvas = element("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": title + ", drawn" });
    const told = element("span", { role: "status" });
    const list = element("ul");
    let image = null;
    // A link to the first line that a sentence cites, on this page or on the page of the program that the sentence is about.
    const cited = (node, line) => (start.isOwn || node.page
      ? element("a", { class: "at", href: address(start.isOwn ? "" : node.page, "L" + line) }, String(line))
      : element("span", { class: "at" }, String(line)));

    const zoom = (by) => {
      state.zoom = by === 0 ? Math.min(1, (canvas.clientWidth - 18) / image.viewBox.baseVal.width) : Math.max(0.2, Math.min(3, state.zoom * by));
      image.setAttribute("width", Math.ceil(image.viewBox.baseVal.width * state.zoom));
      image.setAttribute("height", Math.ceil(image.viewBox.baseVal.height * state.zoom));
    };
    const press = (shape, act) => {
      shape.addEventListener("click", act);
      shape.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } });
      return shape;
    };
    const acts = {
      press,
      unfold: (fold) => { state.unfolded.add(fold); draw(); },
      center: (at) => { state.center = at; state.unfolded.clear(); draw(); canvas.focus({ preventScroll: true }); },
    };
    const draw = () => {
      const wanted = state.center === null
        ? new Set(componentsOf(graph, state.kinds).flat())
        : around(graph, state.center, state.depth, state.kinds);
      const shown = drawn(graph, wanted, state.center, state.unfolded);
      image = picture(shown, title, name, acts);
      canvas.replaceChildren(image);
      zoom(1);
      const boxes = wanted.size === 1 ? "1 box" : wanted.size + " boxes";
      told.textContent = (state.center === null ? boxes : "Around " + graph.nodes[state.center].label + ": " + boxes) + (shown.left ? ", " + shown.left + " not drawn: " + (state.center === null ? "" : "less depth or ") + "fewer kinds show them" : "");
      depthTold.textContent = "Depth " + state.depth;
      less.disabled = state.depth <= 1;
      deeper.disabled = state.depth >= DEEPEST;
      list.replaceChildren(...shown.edges.slice(0, LISTED).map(([a, b, weak, verbs]) => {
        const said = element("li", {}, shown.nodes[a].label + " " + ([...verbs.keys()].join(", ") || "→") + " " + shown.nodes[b].label + (weak ? " (may)" : ""));
        for (const line of new Set(verbs.values())) if (line) said.append(" ", cited(shown.nodes[a], line));
        return said;
      }));
      scroll();
    };
    // A drawing larger than its frame is scrolled to its main box, or to the leftmost.
    const scroll = () => {
      const first = image.querySelector(".box.main") ?? [...image.querySelectorAll(".box")].reduce((a, b) => (b && (!a || b.x.baseVal.value < a.x.baseVal.value) ? b : a), null);
      if (!first) return;
      canvas.scrollTop = first.y.baseVal.value * state.zoom - canvas.clientHeight / 2;
      canvas.scrollLeft = first.x.baseVal.value * state.zoom - canvas.clientWidth / 2;
    };
    const depthTold = element("span");
    const less = button("−", () => { state.depth--; draw(); }, { "aria-label": "Less deep" });
    const deeper = button("+", () => { state.depth++; draw(); }, { "aria-label": "Deeper" });
    const tools = [told];
    if (state.center !== null) tools.push(element("span", { class: "group" }, less, depthTold, deeper));
    if (kinds.length > 1) tools.push(element("fieldset", {}, element("legend", {}, "Kinds"), ...kinds.map((kind) => {
      const box = element("input", { type: "checkbox", checked: state.kinds.has(kind) });
      box.addEventListener("change", () => { box.checked ? state.kinds.add(kind) : state.kinds.delete(kind); draw(); });
      return element("label", {}, box, " " + kind);
    })));
    tools.push(element("span", { class: "group" }, button("−", () => zoom(1 / 1.25), { "aria-label": "Smaller" }), button("+", () => zoom(1.25), { "aria-label": "Larger" }), button("Fit", () => zoom(0))));
    const made = element("figure", {}, element("div", { class: "tools" }, ...tools), canvas,
      element("details", { class: "aside" }, element("summary", {}, "As a list"), list), element("figcaption", {}, caption));
    // Drawn once it is on the page: before that nothing has a size.
    made.addEventListener("shown", draw, { once: true });
    canvas.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1); } }, { passive: false });
    made.center = acts.center;
    return made;
  };

  return { figure: shownAs, touches, layout };
})();
