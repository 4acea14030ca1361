// The queue's list: selecting rows, and a refresh every 30 seconds that never
// takes a selection or the focus away. The page works without it.
"use strict";
(() => {
  const main = document.querySelector("main");
  const boxes = () => [...main.querySelectorAll("tbody input[name=item]")];
  const all = () => main.querySelector("[data-select-all]");
  const said = () => main.querySelector("[data-selected]");

  function tell() {
    const list = boxes(), n = list.filter((b) => b.checked).length, head = all();
    if (head) {
      head.hidden = false;
      head.checked = n > 0 && n === list.length;
      head.indeterminate = n > 0 && n < list.length;
    }
    if (said()) said().textContent = n + " selected";
  }
  main.addEventListener("change", (e) => {
    if (e.target.matches("[data-select-all]")) for (const b of boxes()) b.checked = e.target.checked;
    if (e.target.matches("[data-select-all], input[name=item]")) tell();
  });
  tell();

  // X ticks the row that J and K stand on.
  addEventListener("keydown", (e) => {
    if (e.key !== "x" || e.ctrlKey || e.altKey || e.metaKey || document.documentElement.dataset.shortcuts === "off") return;
    if (e.target.closest("textarea, select, input:not([type=checkbox])") || document.querySelector("[popover]:popover-open")) return;
    const box = main.querySelector("tr.here input[name=item]") || e.target.closest("tr")?.querySelector("input[name=item]");
    if (!box) return;
    e.preventDefault();
    box.checked = !box.checked;
    tell();
  });

  // A panel's own button must know that something was chosen before it is sent.
  main.addEventListener("submit", (e) => {
    if (e.target.querySelector("input[name=item]") && !boxes().some((b) => b.checked)) e.preventDefault();
  });

  const busy = () => document.visibilityState !== "visible" || boxes().some((b) => b.checked) || document.querySelector("[popover]:popover-open") ||
    main.contains(document.activeElement) && document.activeElement !== main || main.querySelector("[role=alert]");

  async function refresh() {
    if (busy()) return;
    let answer;
    try {
      answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    } catch { return; } // the page says elsewhere that the server is away
    if (!answer.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (busy()) return; // somebody began while it came
    for (const old of main.querySelectorAll("[data-refresh]")) {
      const now = fresh.querySelector(`[data-refresh="${old.dataset.refresh}"]`);
      if (now) swap(old, now);
    }
    tell();
  }

  // Rows stay the elements they are, because keys step through them; all else is
  // replaced where it differs.
  function swap(old, now) {
    const was = [...old.querySelectorAll("tr[data-unit]")], is = [...now.querySelectorAll("tr[data-unit]")];
    if (old.dataset.refresh !== "list" || was.length === 0 || was.length !== is.length) {
      if (old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
      return;
    }
    was.forEach((row, i) => {
      if (row.innerHTML !== is[i].innerHTML) row.replaceChildren(...is[i].childNodes);
    });
  }

  setInterval(refresh, 30_000);
  addEventListener("visibilitychange", refresh);
})();
