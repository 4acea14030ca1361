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
  const unit = units[here];
  const at = $(":scope > summary", unit) || (unit.hasAttribute("tabindex") ? unit : $("summary, a[href]", unit)) || unit;
  at.focus({ preventScroll: true });
  showWords(units[here].id);
}

// The words of the trace that a unit is about are marked and in view.
function showWords(id, into = true) {
  for (const c of $$("[data-claim].here")) c.classList.remove("here");
  const words = id ? $$(`[data-claim~="${CSS.escape(id)}"]`) : [];
  for (const c of words) c.classList.add("here");
  if (into) words[0]?.scrollIntoView({ block: "nearest" });
}
if (units[here]?.open) showWords(units[here].id, false);

// Opening a citation, by key or by hand, marks its claim in the trace.
addEventListener("toggle", (e) => {
  if (!e.target.open || !units.includes(e.target)) return;
  here = units.indexOf(e.target);
  showWords(e.target.id);
  fill(e.target);
}, true);

// Of very many citations what is inside comes from the server when one is opened,
// a block at a time. Without a script there is a link in its place.
async function fill(unit) {
  const body = $("[data-body]", unit);
  if (!body || body.ariaBusy) return;
  body.ariaBusy = "true";
  try {
    const answer = await fetch(body.dataset.body, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const inside of $$("[data-body-of]", page)) {
      const at = document.getElementById(inside.dataset.bodyOf);
      if (at) $("[data-body]", at)?.replaceWith(document.importNode(inside, true));
    }
  } catch {
    body.ariaBusy = null; // the link in it leads to the same
  }
}

// A chip in the trace opens its citation, wherever the browser scrolls to.
function openTarget() {
  const at = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (at && "open" in at) at.open = true;
  if (units.includes(at)) go(units.indexOf(at));
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
  // Digits choose a value of the part, U and R uphold and reject a finding.
  const value = unit && { u: "uphold", r: "reject" }[e.key];
  const choice = value && $(`input[value="${value}"]`, unit);
  if (choice) return stop(() => press(choice));
  const nth = unit && digit && !e.shiftKey && $$("[data-digits] input", unit)[Number(digit) - 1];
  if (nth) return stop(() => press(nth));
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

// The desk's one notice: what became of the claim, and a way to see more.
const desk = $("[data-review]");
function tell(text, again = false) {
  const note = $("#lease-note");
  note.hidden = !text;
  $("span", note).textContent = text;
  $("a", note).hidden = !again;
}

// The claim: a silent timer, a polite notice at five minutes, and renewal by
// activity, at most once a minute.
const timer = $("[data-lease]");
let hold = () => {}, lose = () => {}; // what news of the claim does to the timer
if (timer) {
  let end = Date.now() + 1000 * Number(timer.dataset.lease);
  let renewed = Date.now(), told = false, lost = false;
  hold = (seconds) => {
    end = Date.now() + 1000 * seconds;
    told = lost = timer.closest(".lease").hidden = false;
    tell("");
  };
  lose = () => { lost = timer.closest(".lease").hidden = true; };
  const renew = async () => {
    if (Date.now() - renewed < 60_000 || Date.now() > end || lost) return;
    renewed = Date.now();
    try {
      const answer = await fetch(timer.dataset.renew, {
        method: "POST",
        headers: { "X-CSRF-Token": timer.dataset.csrf, Accept: "application/json" },
      });
      if (!answer.ok) return;
      const body = await answer.json();
      if (body.lease_seconds > 0) hold(body.lease_seconds);
    } catch { /* The timer runs on, and the notice comes at five minutes. */ }
  };
  for (const kind of ["keydown", "pointerdown", "input"]) addEventListener(kind, renew, { passive: true });
  setInterval(() => {
    if (lost) return;
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    timer.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
    if (left <= 300 && !told) {
      told = true;
      tell("Five minutes are left on your claim. It renews by itself while you read or type.");
    }
    if (left === 0) {
      lost = true;
      tell("Your claim has ended. You can claim the item again." + kept(), true);
    }
  }, 1000);
}
const kept = () => ($("textarea[data-draft]")?.value ? " Your comment is kept in this browser." : "");

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
    stream = new EventSource(source + (desk ? "&review=" + encodeURIComponent(desk.dataset.review) : ""));
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
    on("claim", claimed);
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

// What the desk shows is true until the claim is another than it was drawn for.
function claimed(now) {
  if (!desk) return;
  if (now.state === "yours" && desk.dataset.standing === "yours") return hold(now.seconds || 0);
  if (now.state === desk.dataset.standing) return tell("");
  lose();
  tell(now.text + kept(), true);
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
