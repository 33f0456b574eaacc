"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const [slots, steps, refusals, columns, limit] = JSON.parse(byId("data").textContent);
  // The data has each kind's tokens as differences from turn to turn.
  const tokens = steps.map((row) => { let sum = 0; return row.map((step) => (sum += step)); });
  const refused = new Set(refusals);
  const slider = byId("turn"), chart = byId("chart"), here = byId("here");
  const turns = Number(slider.max);
  const bars = byId("bar").querySelectorAll("rect"), kinds = byId("kinds").children;
  const number = (value) => value.toLocaleString("en-US");
  const percent = (part, whole) => {
    const rounded = whole ? Math.floor((200 * part + whole) / (2 * whole)) : 0;
    return part && !rounded ? "under 1 %" : number(rounded) + " %";
  };

  const show = (turn) => {
    const amounts = tokens.map((row) => row[turn - 1]);
    const all = amounts.reduce((sum, one) => sum + one, 0);
    const share = limit ? `, ${percent(all, limit)} of the window` : "";
    byId("told").textContent = `Turn ${number(turn)} of ${number(turns)}: ${number(all)} token${all === 1 ? "" : "s"}${share}.`
      + (refused.has(turn) ? " It was refused." : "");
    let before = 0;
    amounts.forEach((amount, at) => {
      const x = all ? Math.floor(1000 * before / all) : 0;
      before += amount;
      bars[at].setAttribute("x", x);
      bars[at].setAttribute("width", (all ? Math.floor(1000 * before / all) : 0) - x);
      const [, , figure, part] = kinds[at].children;
      figure.textContent = number(amount);
      part.textContent = percent(amount, all);
    });
    const place = 100 * (Math.floor((turn - 1) * columns.length / turns) + 0.5) / columns.length + "%";
    here.setAttribute("x1", place);
    here.setAttribute("x2", place);
  };
  const choose = (turn) => {
    if (turn === Number(slider.value)) return;
    slider.value = turn;
    show(turn);
  };
  const point = (event) => {
    const box = chart.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / box.width * columns.length);
    choose(columns[Math.min(columns.length - 1, Math.max(0, column))]);
  };

  slider.hidden = false;
  here.removeAttribute("hidden");
  slider.addEventListener("input", () => show(Number(slider.value)));
  chart.addEventListener("pointermove", point);
  chart.addEventListener("pointerdown", (event) => { point(event); slider.focus({ preventScroll: true }); event.preventDefault(); });
  slider.value = turns;
  show(turns);
})();
