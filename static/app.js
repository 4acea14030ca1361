// Countersign's keyboard, claim timer and drafts. Every page works without it:
// this script only presses what is on the page already.
"use strict";
const $ = (s, r = document) => r.querySelector(s);
const $$ = (s, r = document) => [...r.querySelectorAll(s)];
const root = document.documentElement;

// Units are the parts of an item that J and K step through; one is current.
const units = $$("[data-unit]");
let here = Math.max(0, units.findIndex((u) => u.open || u.matches(".here")));
function go(i) {
  if (!units[i]) return;
  units[here].classList.remove("here");
  here = i;
  units[here].classList.add("here");
  if ("open" in units[here]) units[here].open = true;
  units[here].scrollIntoView({ block: "nearest" });
  const at = $("summary, a[href]", units[here]) || units[here];
  at.focus({ preventScroll: true });
}

// Opening a citation, by key or by hand, marks its claim in the trace.
addEventListener("toggle", (e) => {
  if (!e.target.open || !units.includes(e.target)) return;
  here = units.indexOf(e.target);
  const n = e.target.dataset.unit;
  $$("[data-claim]").forEach((c) => c.classList.toggle("here", c.dataset.claim === n));
}, true);

// A chip in the trace opens its citation, wherever the browser scrolls to.
function openTarget() {
  const at = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (at && "open" in at) at.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

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
    el.click();
  }
}

function cycle(set) {
  const all = $$("input[type=radio]", set);
  press(all[(all.findIndex((i) => i.checked) + 1) % all.length]);
}

// Letters do nothing while typing, or when the person has turned them off.
// Ctrl+Enter is not a letter and always works.
let prefix = 0;
addEventListener("keydown", (e) => {
  const typing = e.target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  const digit = /^Digit\d$/.test(e.code) ? e.code[5] : "";
  const stop = (then) => { e.preventDefault(); if (then) then(); };
  const hot = (name) => $$(`[aria-keyshortcuts="${name}"]`).find((el) => !el.closest("[hidden]"));
  if (e.key === "Escape" && typing) return typing.blur();
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
  if (e.key === "/") return stop(() => hot("/")?.focus());

  const unit = units[here];
  if (unit && e.key === "j") return stop(() => go(here + 1));
  if (unit && e.key === "k") return stop(() => go(here - 1));
  const row = unit && /^[a-z]$/.test(e.key) && $(`[data-key="${e.key}"]`, unit);
  if (row) return stop(() => cycle(row));

  const combo = (e.shiftKey && digit ? "Shift+" : "") + (digit || (e.key.length === 1 ? e.key.toUpperCase() : e.key));
  const control = /^([A-Z]|Shift\+\d)$/.test(combo) && hot(combo);
  if (control) stop(() => press(control));
});

// A comment is kept in this browser while it is typed, and thrown away once a
// page says that the item is signed. What the server sent is never overwritten.
for (const el of $$("[data-draft-done]")) localStorage.removeItem("draft-" + el.dataset.draftDone);
for (const box of $$("textarea[data-draft]")) {
  const id = "draft-" + box.dataset.draft;
  const note = document.getElementById(box.getAttribute("aria-describedby")?.split(" ").pop() || "");
  const kept = localStorage.getItem(id);
  if (!box.value && kept) {
    box.value = kept;
    if (note) note.textContent = "Your draft was restored.";
  }
  let wait;
  const save = () => {
    if (box.value) localStorage.setItem(id, box.value);
    else localStorage.removeItem(id);
    if (note) note.textContent = "Draft kept in this browser, " + new Date().toTimeString().slice(0, 5) + ".";
  };
  box.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(save, 600); });
  addEventListener("pagehide", () => { if (wait) save(); });
}

// The claim: a silent timer, a polite notice at five minutes, and renewal by
// activity, at most once a minute.
const timer = $("[data-lease]");
if (timer) {
  let end = Date.now() + 1000 * Number(timer.dataset.lease);
  let renewed = Date.now(), told = false;
  const say = $("#lease-note");
  const renew = async () => {
    if (Date.now() - renewed < 60_000 || Date.now() > end) return;
    renewed = Date.now();
    try {
      const answer = await fetch(timer.dataset.renew, {
        method: "POST",
        headers: { "X-CSRF-Token": timer.dataset.csrf, Accept: "application/json" },
      });
      if (!answer.ok) return;
      const body = await answer.json();
      const until = Date.parse(body.lease_expires_at);
      if (!until) return;
      end = until;
      told = false;
      if (say) say.hidden = true;
    } catch { /* The timer runs on, and the notice comes at five minutes. */ }
  };
  for (const kind of ["keydown", "pointerdown", "input"]) addEventListener(kind, renew, { passive: true });
  setInterval(() => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    timer.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
    if (left <= 300 && !told && say) {
      told = true;
      say.hidden = false;
      say.textContent = "Five minutes are left on your claim. It renews by itself while you read or type.";
    }
    if (left === 0 && say) {
      say.hidden = false;
      say.textContent = "Your claim has ended. What you typed is kept in this browser. Load the page again to claim the item again.";
    }
  }, 1000);
}
