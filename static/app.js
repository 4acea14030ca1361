// Countersign's keyboard and news from the server. Every page works without it:
// this script only presses what is on the page already.
"use strict";
const $ = (s, r = document) => r.querySelector(s);
const $$ = (s, r = document) => [...r.querySelectorAll(s)];
const root = document.documentElement;

// Units are the parts of a page that J and K step through; one is current. A
// script of a page may have keys of its own (keys).
const units = $$("[data-unit]");
const keys = [];
const opening = new Set(); // units that a key has opened, until that is heard of
let current = Math.max(0, units.findIndex((u) => u.open || u.matches(".here")));
function here(i) {
  if (!units[i]) return;
  units[current].classList.remove("here");
  current = i;
  units[i].classList.add("here");
  dispatchEvent(new CustomEvent("unit", { detail: units[i] }));
}
function go(i) {
  if (!units[i]) return;
  here(i);
  if (units[i].open === false) {
    opening.add(units[i]);
    units[i].open = true;
  }
  units[i].scrollIntoView({ block: "nearest" });
  const at = $(":scope > summary", units[i])
    || (units[i].hasAttribute("tabindex") ? units[i] : $("summary, input:checked:not(:disabled), input:not(:disabled), a[href]", units[i])) || units[i];
  at.focus({ preventScroll: true });
}

// On a phone the bar of tabs scrolls: the current one must be in view.
$(".mainnav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

function press(el) {
  if (el.disabled) return;
  if (el.type === "radio") {
    el.checked = true;
    el.dispatchEvent(new Event("change", { bubbles: true }));
    el.focus({ preventScroll: true });
  } else if (el.matches("input, select, textarea")) {
    el.focus();
  } else {
    if (el.hasAttribute("popovertarget")) el.focus({ preventScroll: true }); // where the focus is when it closes
    el.click();
  }
}

function cycle(set) {
  const all = $$("input[type=radio]", set);
  press(all[(all.findIndex((i) => i.checked) + 1) % all.length]);
}

// leave takes the focus out of a field to where letters work, in sight: to what is
// chosen beside it, or to the part that it is in. A drawer is left by its own key.
function leave(field) {
  if (field.closest("[popover]")) return;
  const unit = field.closest("[data-unit]");
  const beside = unit ? $("summary", unit) || unit : $("fieldset input:checked", field.form ?? document.createElement("form"));
  if (beside) beside.focus({ preventScroll: true });
  if (!beside || document.activeElement === field) field.blur();
}

// Letters do nothing while typing, or when the person has turned them off.
// Ctrl+Enter is not a letter and always works.
let prefix = 0;
addEventListener("keydown", (e) => {
  const typing = e.target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  const digit = /^Digit\d$/.test(e.code) ? e.code[5] : "";
  const stop = (then) => { e.preventDefault(); if (then) then(); };
  const hot = (name) => $$(`[aria-keyshortcuts="${name}"]`).find((el) => !el.closest("[hidden]"));
  if (e.key === "Escape" && typing) return leave(typing);
  if (e.ctrlKey && !e.altKey && e.key === "Enter") {
    const button = hot("Control+Enter");
    return button ? stop(() => button.click()) : undefined;
  }
  if (root.dataset.shortcuts === "off" || typing || e.altKey || e.metaKey || e.ctrlKey) return;

  if (Date.now() - prefix < 900) {
    prefix = 0;
    if (e.key === "o") return stop(() => location.assign("/"));
    if (e.key === "q") return stop(() => location.assign("/queue"));
    if (e.key === "n") return stop(() => $("#claim-next")?.requestSubmit());
  }
  if (e.key === "g") { prefix = Date.now(); return; }
  if (e.key === "?") return stop(() => $("#help")?.togglePopover());
  if (e.key === "/") return stop(() => { const find = $("[data-find-open]:not([hidden])"); find ? find.click() : hot("/")?.focus(); });

  if (units.length && e.key === "j") return stop(() => go(current + 1));
  if (units.length && e.key === "k") return stop(() => go(current - 1));
  if (keys.some((taken) => taken(e, digit))) return stop();

  const combo = (e.shiftKey && digit ? "Shift+" : "") + (digit || (e.key.length === 1 ? e.key.toUpperCase() : e.key));
  const control = /^([A-Z]|Shift\+\d)$/.test(combo) && hot(combo);
  if (control) stop(() => press(control));
});

// News from the server: how much waits, and who holds this item. Only a page
// in sight listens, because browsers allow six connections to a server.
const source = $("[data-events]")?.dataset.events;
if (source) {
  let stream, retry, broken, over = false, tries = 0, since = Date.now();
  const old = $("#old-news");
  const stale = (why) => {
    if (!old) return;
    old.hidden = !why;
    old.textContent = why && why + " What you see is of " + new Date(since).toISOString().slice(11, 16) + " UTC.";
  };
  const close = () => {
    stream?.close();
    stream = undefined;
    clearTimeout(retry);
    clearTimeout(broken);
    broken = undefined;
  };
  const open = () => {
    close();
    const item = $("[data-review]")?.dataset.review;
    stream = new EventSource(source + (item ? "&review=" + encodeURIComponent(item) : ""));
    stream.onopen = () => {
      clearTimeout(broken);
      broken = undefined;
      tries = 0;
      stale("");
    };
    stream.onerror = () => {
      if (!broken) {
        since = Date.now();
        broken = setTimeout(() => stale("No news from the server."), 5000);
      }
      // Refused, and not only cut off: the browser does not try again by itself.
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(open, 10_000 * 2 ** Math.min(tries++, 5));
    };
    const on = (name, then) => stream.addEventListener(name, (e) => then(JSON.parse(e.data)));
    on("queue", (counts) => { stale(""); count(counts); });
    on("claim", (now) => dispatchEvent(new CustomEvent("claim", { detail: now })));
    on("trouble", (t) => { since = Date.now(); stale(t.message); });
    on("end", (t) => { over = true; since = Date.now(); close(); stale(t.message); });
  };
  const look = () => (document.visibilityState === "visible" && !over ? open() : close());
  addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (e) => { if (e.persisted) look(); });
  // What a form does is told by the page that follows.
  addEventListener("submit", (e) => { if (!e.defaultPrevented) close(); });
  look();
}

// Counts change in place; the queue's page also says so, every ten seconds at
// most, and leaves its list as it is.
const listed = $("main [data-live=open]")?.textContent;
let resting;
function count(counts) {
  for (const at of $$("[data-live]")) at.textContent = counts[at.dataset.live].toLocaleString("en-GB");
  $(".tab-count").hidden = counts.open === 0;
  if (!resting) sayCount();
}
function sayCount() {
  const note = $("#queue-news"), now = $("main [data-live=open]")?.textContent;
  resting = undefined;
  const text = now === listed ? "" : now + " open now, " + listed + " when this list was loaded.";
  if (!note || $("span", note).textContent === text) return;
  note.hidden = !text;
  $("span", note).textContent = text;
  resting = setTimeout(sayCount, 10_000);
}

// Copies what is selected in the trace, or the trace, and says where it is from.
for (const button of $$("[data-copy]")) {
  const said = button.nextElementSibling;
  button.hidden = false;
  button.addEventListener("pointerdown", (e) => e.preventDefault()); // the selection stays
  button.addEventListener("click", async () => {
    const selected = getSelection(), words = selected.toString(), trace = button.closest(".trace");
    const inTrace = words && trace && trace.contains(selected.getRangeAt(0).commonAncestorContainer);
    const steps = inTrace ? $$(".step", trace).filter((s) => selected.containsNode(s, true)).map((s) => s.id.slice(1)) : [];
    const where = steps.length === 0 ? "" : ", step " + steps[0] + (steps.length > 1 ? " to " + steps.at(-1) : "");
    try {
      await navigator.clipboard.writeText(inTrace ? words + "\n[" + button.dataset.copy + where + "]" : button.dataset.copy);
      said.textContent = inTrace ? "Copied with its reference." : "Reference copied.";
    } catch {
      said.textContent = "The browser does not let this page copy. The reference is: " + button.dataset.copy + where;
    }
  });
}
