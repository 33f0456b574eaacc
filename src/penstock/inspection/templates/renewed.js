"use strict";
(() => {
  // A token is in the address's fragment, which no browser sends: it is sent as a header and added to links to other pages.
  const token = location.hash.slice(1);
  const headers = token ? { "x-penstock-token": token } : {};
  const seconds = Number(document.body.dataset.seconds);
  let timer;

  const show = (page) => {
    const isStory = !page.body.dataset.seconds;
    for (const one of document.querySelectorAll("header, main, footer")) one.remove();
    document.body.prepend(...page.querySelectorAll("header, main, footer"));
    document.title = page.title;
    for (const link of document.querySelectorAll("header a, main a")) link.hash = location.hash;
    if (!isStory) return;
    // One session's page is not refreshed while somebody reads it. Scripts that were parsed as text run only once re-created.
    clearInterval(timer);
    for (const old of page.querySelectorAll("#data, #reader")) {
      const made = document.createElement("script");
      for (const { name, value } of old.attributes) made.setAttribute(name, value);
      made.textContent = old.textContent;
      document.body.append(made);
    }
  };
  const renew = async () => {
    // Do not interrupt a reader who is using the keyboard or has selected text.
    if (document.hidden || document.querySelector("main :focus-visible") || !getSelection().isCollapsed) return;
    let said = "The gateway does not answer.";
    try {
      const answer = await fetch(location.pathname, { headers, cache: "no-store" });
      if (answer.ok) return show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      said = `The gateway answers ${answer.status}.`;
    } catch {}
    const silent = document.getElementById("silent");
    if (silent) silent.textContent = said;
  };

  addEventListener("hashchange", () => location.reload());
  if (token || document.querySelector(".tiles")) timer = setInterval(renew, 1000 * seconds);
  if (token) renew();
})();
