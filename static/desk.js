// The review desk: where a person is in the item, and how their claim on it stands.
// Beside it citations.js, draft.js and rulings.js. They press what is on the page
// already; without them the same forms work. Nothing is optimistic: ink appears when
// the server has answered.
"use strict";
const desk = $("[data-review]");
const form = $("#decision[data-draft]");
const home = "/reviews/" + encodeURIComponent(desk.dataset.review); // a refused form's own address can't be loaded again
const csrf = () => $("[name=_csrf]").value;

// What the desk has to say stands in one place: what became of the claim, and a
// way to see more.
function tell(text, again = false) {
  const note = $("#lease-note");
  note.hidden = !text;
  $("span", note).textContent = text;
  $("a", note).hidden = !again;
}

// What goes away takes no focus with it: that moves to the part that is current.
function hide(el, back) {
  const inside = el.contains(document.activeElement);
  el.hidden = true;
  if (!inside) return;
  if (back?.isConnected && !el.contains(back)) back.focus({ preventScroll: true });
  else if (units.length) go(current);
  else $(".pane")?.focus({ preventScroll: true });
}

// An offer that ends, such as undo, goes when it has.
for (const el of $$("[data-ends]")) setTimeout(() => hide(el), 1000 * Number(el.dataset.ends));

// A drawer that a key or a button opens is where the person goes on.
for (const drawer of $$(".drawer[popover]")) drawer.addEventListener("toggle", (e) => {
  if (e.newState === "open") ($("textarea", drawer) || $("button", drawer))?.focus();
});

// follow goes to an address that the server gave, also when this page has it.
function follow(to) {
  const there = new URL(to, location.href);
  if (there.pathname + there.search !== location.pathname + location.search) return location.assign(to);
  history.replaceState(null, "", to);
  location.reload();
}

// The next item stands there at once: no fading from this page, which costs time and
// clicks.
addEventListener("pageswap", (e) => e.viewTransition?.skipTransition());

// set gives a field a value, as choosing or typing it does.
function set(el, value) {
  if (el.type === "radio" || el.type === "checkbox") el.checked = el.value === value;
  else el.value = value;
}

// Opening a unit, by key or by hand, marks its place in the trace, and the other
// way round.
function show(unit) {
  for (const c of $$("[data-claim].here")) c.classList.remove("here");
  for (const c of $$(`[data-claim~="${CSS.escape(unit.id)}"]`)) c.classList.add("here");
}
addEventListener("unit", (e) => show(e.detail));
if (units[current]) show(units[current]);

// A part has its own address: #c3 opens the third citation.
function openTarget() {
  const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!at) return;
  if ("open" in at) at.open = true;
  at.closest("details:not([open])")?.setAttribute("open", "");
  at.closest("[popover]:not(:popover-open)")?.showPopover(); // a comment stands in a drawer
  const i = units.indexOf(at);
  if (i >= 0) go(i);
}
addEventListener("hashchange", openTarget);
openTarget();
addEventListener("toggle", (e) => {
  if (!e.target.open || !units.includes(e.target)) return;
  const i = units.indexOf(e.target);
  // What a key opened is heard of late: keys may have gone on by then.
  if (!opening.delete(units[i])) here(i);
  fill(e.target);
  if (units[i + 1]) fill(units[i + 1]);
}, true);
addEventListener("focusin", (e) => {
  const unit = e.target.closest?.("[data-unit]");
  if (unit && units.includes(unit)) here(units.indexOf(unit));
});

// While this item is read the server gets the next one ready. It is told to nobody and
// claimed for nobody before this one is signed.
if (form && desk.dataset.standing === "yours") {
  const ahead = () => fetch("/queue/ahead", { priority: "low" }).catch(() => {}); // without it the next page takes a little longer
  addEventListener("load", () => setTimeout(ahead, 500));
}

// After a refused form, its first fault is where the person goes on.
$("#decision[data-refused]") && $("[aria-invalid=true], .error")?.closest(".field, fieldset")?.querySelector("select, textarea, input")?.focus();

// The claim: a silent timer, a polite notice before its end, and renewal by
// activity, at most once a minute, or three times a claim.
const timer = $("[data-lease]");
let hold = () => {}, lose = () => {}; // what news of the claim does to the timer
if (timer) {
  const total = Number(timer.dataset.leaseTotal), ring = $(".lease circle:last-of-type");
  const warn = Math.min(300, total / 3); // seconds before the end
  let end = Date.now() + 1000 * Number(timer.dataset.lease);
  let renewed = Date.now(), told = false, lost = false;
  hold = (seconds) => {
    end = Date.now() + 1000 * seconds;
    told = lost = timer.closest(".lease").hidden = false;
    tell("");
  };
  lose = () => { lost = timer.closest(".lease").hidden = true; };
  const renew = async () => {
    if (Date.now() - renewed < 1000 * Math.min(60, warn) || Date.now() > end || lost) return;
    renewed = Date.now();
    try {
      const answer = await fetch(timer.dataset.renew, { method: "POST", headers: { "X-CSRF-Token": timer.dataset.csrf, Accept: "application/json" } });
      const body = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : {};
      if (answer.ok && body.lease_seconds > 0) hold(body.lease_seconds);
      if (answer.status !== 409) return;
      lose();
      tell((body.holder ? body.holder + " holds this item now. You can read it; you can’t sign it." : "You hold this item no longer.") + kept(), true);
    } catch { /* The timer runs on, and the notice comes at five minutes. */ }
  };
  for (const kind of ["keydown", "pointerdown", "input", "wheel"]) addEventListener(kind, renew, { passive: true });
  setInterval(() => {
    if (lost) return;
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    timer.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
    if (ring && total) ring.setAttribute("stroke-dasharray", (37.7 * Math.min(1, left / total)).toFixed(1) + " 37.7");
    if (left <= warn && !told) {
      told = true;
      tell((warn < 60 ? "Less than a minute is" : warn === 300 ? "Five minutes are" : "Little time is") + " left on your claim. It renews by itself while you read or type.");
    }
    if (left === 0) {
      lost = true;
      tell("Your claim has ended. You can claim the item again." + kept(), true);
    }
  }, 1000);
}
const kept = () => ($$("textarea").some((el) => form && el.form === form && el.value) ? " What you typed is kept." : "");

// What the desk shows is true until the claim is another than it was drawn for.
addEventListener("claim", ({ detail: now }) => {
  if (now.state === "yours" && desk.dataset.standing === "yours") return hold(now.seconds || 0);
  if (now.state === desk.dataset.standing) return tell("");
  lose();
  tell(now.text + kept(), true);
});
