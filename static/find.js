// Finding words in the text of a page: counts them, marks them, goes from one to the
// next, into what is closed or not loaded yet. Without it the browser's own search
// finds what is drawn.
"use strict";
(() => {
  const box = document.querySelector("#find"), opener = document.querySelector("[data-find-open]");
  if (!box || !opener) return;
  opener.hidden = !window.CSS?.highlights; // then the browser has its own
  if (opener.hidden) return;
  const input = box.querySelector("input"), said = box.querySelector("output");
  const most = 2000;
  let found = [], at = -1, soon, run = 0;

  // Words that stand for a picture, a key or a control are no text of the page.
  const outside = ".hush, kbd, button, select, textarea, .cite, .flag, .pencil, .text-switch, [popover]";
  function pieces() {
    const list = [];
    let text = "", block = null;
    for (const scope of document.querySelectorAll("[data-findable]")) {
      const walk = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
      for (let node; (node = walk.nextNode());) {
        if (node.parentElement.closest(outside)) continue;
        const of = node.parentElement.closest("p, li, td, th, pre, h2, h3, blockquote, summary, div");
        if (of !== block) text += "\n\n"; // words of two blocks are not one phrase
        block = of;
        list.push([text.length, node]);
        text += node.data;
      }
    }
    return { list, text };
  }

  async function search() {
    const mine = ++run, words = input.value.trim();
    clear();
    if (!words) return tell("");
    const waits = [];
    dispatchEvent(new CustomEvent("findtext", { detail: { wait: (p) => waits.push(p) } }));
    if (waits.length) tell("Searching…");
    await Promise.all(waits);
    if (mine !== run) return;
    const { list, text } = pieces();
    const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "[^\\S\\n]*\\n?[^\\S\\n]*"), "giu");
    let i = 0;
    for (const m of text.matchAll(pattern)) {
      while (i + 1 < list.length && list[i + 1][0] <= m.index) i++;
      let j = i;
      const end = m.index + m[0].length;
      while (j + 1 < list.length && list[j + 1][0] < end) j++;
      const range = new Range();
      range.setStart(list[i][1], m.index - list[i][0]);
      range.setEnd(list[j][1], Math.min(end - list[j][0], list[j][1].length));
      found.push(range);
      if (found.length === most) break;
    }
    CSS.highlights.set("found", new Highlight(...found));
    if (found.length) go(0); else tell("Not found");
  }

  function go(n) {
    if (!found.length) return;
    at = (n + found.length) % found.length;
    const range = found[at];
    for (let el = range.startContainer.parentElement; el; el = el.parentElement) if (el.localName === "details") el.open = true;
    CSS.highlights.set("found-here", new Highlight(range));
    range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
    const place = range.getBoundingClientRect(), bar = document.querySelector(".decision")?.getBoundingClientRect().top ?? innerHeight;
    if (place.top < 120 || place.bottom > Math.min(bar, innerHeight) - 8) range.startContainer.parentElement.scrollIntoView({ block: "center" });
    tell(at + 1 + " of " + found.length + (found.length === most ? " or more" : ""));
  }
  const tell = (text) => { said.textContent = text; };
  function clear() {
    found = [];
    at = -1;
    CSS.highlights.delete("found");
    CSS.highlights.delete("found-here");
  }
  function close() {
    clear();
    tell("");
    box.hidden = true;
    opener.focus({ preventScroll: true });
  }

  opener.addEventListener("click", () => {
    box.hidden = false;
    input.focus();
    input.select();
    if (input.value) search();
  });
  input.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(search, 150);
  });
  box.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { e.preventDefault(); e.stopPropagation(); close(); }
    if (e.key !== "Enter" || e.target !== input || e.ctrlKey) return;
    e.preventDefault();
    go(at + (e.shiftKey ? -1 : 1));
  });
  for (const b of box.querySelectorAll("[data-step]")) b.addEventListener("click", () => go(at + Number(b.dataset.step)));
  box.querySelector("[data-close]").addEventListener("click", close);
})();

// A long attempt of a judge is brought when it is opened; its link leads to the same.
for (const link of document.querySelectorAll("[data-load]")) {
  link.closest("details").addEventListener("toggle", async () => {
    if (link.ariaBusy) return;
    link.ariaBusy = "true";
    try {
      const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      link.parentElement.replaceWith(document.importNode(page.querySelector("[data-loaded]"), true));
    } catch {
      link.ariaBusy = null;
    }
  });
}
