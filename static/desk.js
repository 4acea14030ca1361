// The review desk: rulings, drafts, the claim's timer, and signing. It presses
// what is on the page already; without it the same forms work. Nothing is
// optimistic: ink appears when the server has answered.
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

// What this browser keeps of an item for one person: the newest copy of the form
// that the server has not acknowledged (fields, version, at), and older ones that
// wait for a choice (older). Reading what is not allowed, or not there, is null.
const local = {
  read(key) {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  },
  write(key, value) {
    try {
      if (value) localStorage.setItem(key, JSON.stringify(value));
      else localStorage.removeItem(key);
      return true;
    } catch { return false; } // no room, or not allowed
  },
};

// follow goes to an address that the server gave, also when this page has it.
function follow(to) {
  const there = new URL(to, location.href);
  if (there.pathname + there.search !== location.pathname + location.search) return location.assign(to);
  history.replaceState(null, "", to);
  location.reload();
}

// Opening a unit, by key or by hand, marks its place in the trace, and the other
// way round.
function show(unit) {
  for (const c of $$("[data-claim].here")) c.classList.remove("here");
  for (const c of $$(`[data-claim~="${CSS.escape(unit.id)}"]`)) c.classList.add("here");
}
addEventListener("unit", (e) => show(e.detail));
if (units[current]) show(units[current]);

// Of very many citations what is inside comes from the server when one is opened,
// a block at a time. Without a script there is a link in its place.
// fill resolves when it came, or did not; what comes already is waited for.
function fill(unit) {
  const body = $("[data-body]", unit);
  return body && (body.coming ??= bring(body));
}
async function bring(body, which = "at=" + body.dataset.body) {
  body.ariaBusy = "true";
  try {
    const answer = await fetch(`${home}/citations?${which}`, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const inside of $$("[data-body-of]", page)) {
      const at = document.getElementById(inside.dataset.bodyOf);
      const was = at && $("[data-body]", at);
      if (!was) continue;
      const drawn = document.importNode(inside, true);
      was.replaceWith(drawn);
      // What this page holds of them counts, whatever the server has had so far.
      for (const held of [...$$("input[type=hidden]", was), ...(form ? $$("[data-held]", form) : [])]) {
        const fields = $$(`[name="${CSS.escape(held.name)}"]`, drawn);
        if (!fields.length) continue;
        held.remove();
        for (const el of fields) set(el, held.value);
      }
    }
  } catch {
    body.ariaBusy = body.coming = null; // the link in it leads to the same
  }
}

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

// set gives a field a value, as choosing or typing it does.
function set(el, value) {
  if (el.type === "radio" || el.type === "checkbox") el.checked = el.value === value;
  else el.value = value;
}

const clock = (iso) => new Date(iso).toISOString().slice(11, 19);
const note = (text) => { const at = $("#draft-note"); if (at) at.textContent = text; };

if (form) {
  const key = form.dataset.draftKey;
  const tab = crypto.randomUUID?.() ?? String(Math.random());
  let version = Number(form.elements.draft_version.value) || 0;
  let seq = 0, last = "", busy = false, again = false, texts, slow, later, tries = 0, leaving = false, stuck = false;

  const ofPage = ["_csrf", "shown", "draft_version", "person"];
  const fields = () => [...new FormData(form)].filter(([name, value]) =>
    typeof value === "string" && value !== "" && !ofPage.includes(name));
  const stamp = () => JSON.stringify(fields().sort());
  const stageOf = (list) => list.find(([n]) => n === "stage")?.[1] ?? "";
  // What a refused form shows is nowhere else yet.
  let saved = "refused" in form.dataset ? "" : stamp();

  // This browser's own copy, until the server has acknowledged the same. It says what
  // was sent last, so that a page after it knows an answer that this one never heard.
  let older = local.read(key)?.older ?? [];
  const keep = () => local.write(key, { version, at: Date.now(), fields: fields(), last, older });
  const forget = () => local.write(key, older.length ? { older } : null);
  const kept = () => (keep() ? "What you typed is kept in this browser."
    : "This browser keeps nothing for this site, so what you typed is on this page alone: leave it open.");
  const body = () => {
    const b = new URLSearchParams(new FormData(form));
    b.set("draft_version", version);
    b.set("draft_tab", tab);
    b.set("draft_seq", ++seq);
    return b;
  };
  const post = (to, b) => fetch(to, { method: "POST", body: b, headers: { "X-CSRF-Token": csrf(), Accept: "application/json" }, redirect: "manual" });
  const told = async (answer) => (answer.headers.get("Content-Type")?.includes("json") ? answer.json() : {});

  async function save() {
    if (stuck || leaving) return;
    if (busy) { again = true; return; }
    clearTimeout(later);
    const sent = stamp();
    if (sent === saved) return calm("save");
    busy = true;
    last = sent;
    keep();
    note("Saving…");
    try {
      const answer = await post(form.dataset.draft, body());
      const read = await told(answer);
      if (leaving) { // what is sent now has it all
        version = read.version ?? version;
        return;
      }
      if (answer.ok && read.version) acknowledged(sent, read);
      else if (answer.status === 409 && read.draft) conflict(read.draft);
      else if (!refusedPage(answer)) trouble(read.detail, answer.status >= 500 || answer.status === 429);
    } catch {
      if (!leaving) trouble("The server could not be reached.", true);
    } finally {
      busy = false;
      if (again) { again = false; save(); }
    }
  }

  function acknowledged(sent, read) {
    version = read.version;
    form.elements.draft_version.value = version;
    saved = sent;
    tries = 0;
    if (stamp() === sent) {
      forget();
      $$("fieldset[aria-busy=true]").forEach((el) => el.removeAttribute("aria-busy"));
    }
    calm("save");
    note("Draft saved " + clock(read.saved_at) + ".");
    stand(read);
  }

  // The bar and the units say how the item stands, as the server has it.
  function stand(s) {
    const progress = $("[data-progress]");
    if (progress) progress.textContent = s.progress;
    $("#hint").textContent = s.hint;
    for (const el of $$("[data-outcome]")) el.textContent = s[el.dataset.outcome === "text" ? "outcome" : el.dataset.outcome] ?? "";
    const ruled = new Map(s.units.map((u) => [u.key, u]));
    for (const el of ruled.size ? $$("[data-progress-of]") : []) {
      const u = ruled.get(el.dataset.progressOf);
      if (!u) continue;
      if (el.textContent !== u.text) el.textContent = u.text;
      el.classList.toggle("done", u.done);
    }
    const confirm = $("[name=action][value=confirm]", form);
    if (confirm) {
      confirm.disabled = !s.confirmable;
      if (!s.confirmable) confirm.checked = false;
    }
    if (s.verdict && !form.dataset.chosen) {
      const whole = stamp() === saved;
      const v = $(`[name=verdict][value=${s.verdict}]`, form);
      if (v && form.elements.stage) v.checked = true;
      const label = form.elements.label;
      if (label && s.label && form.elements.stage) label.value = s.label;
      if (whole) saved = stamp();
    }
  }

  // Trouble is told in one place, with what to do. What a person sent themselves
  // and was not taken stands there until they try again, whatever is saved meanwhile.
  const box = $("#draft-trouble");
  let about = "", from;
  function say(what, title, text, buttons, both = []) {
    if (about === "sent" && what === "save" && !box.hidden) return;
    if (!box.hidden && about === what && $("[data-text]", box).textContent === text) return; // told once
    about = what;
    $(".notice-title", box).textContent = title;
    $("[data-text]", box).textContent = text;
    $("[data-both]", box).replaceChildren(...both.flatMap(([who, what]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = who;
      dd.textContent = what;
      return [dt, dd];
    }));
    for (const b of ["again", "mine", "theirs"]) {
      const button = $(`[data-${b}]`, box);
      button.hidden = !buttons[b];
      if (buttons[b]) [button.textContent, button.onclick] = buttons[b];
    }
    box.hidden = false;
  }
  function calm(what) {
    if (about !== what) return;
    hide(box, from);
    about = "";
    if (what !== "older") offer();
  }
  function trouble(why, passes) {
    note("Kept in this browser only.");
    // What passes is tried again by itself: nothing is signed by that.
    if (passes) later = setTimeout(save, 1000 * Math.min(60, 5 * 2 ** tries++));
    say("save", "The draft is not saved on the server", (why ? why + " " : "") + kept() + (passes ? " It is saved by itself when the server answers again." : ""), { again: ["Try again", save] });
  }
  addEventListener("online", () => { tries = 0; save(); });
  // The server takes nothing from this page any more: nobody is signed in, or the
  // page is too old. What was typed waits in this browser for the page that follows.
  function refusedPage(answer) {
    const out = answer.type === "opaqueredirect" || answer.status === 401, old = answer.status === 403;
    if (!out && !old) return false;
    const words = kept();
    const here = home + (location.hash || (units[current] ? "#" + units[current].id : ""));
    note("Kept in this browser only.");
    about = "";
    if (out) say("sent", "You are signed out", words + " Sign in, and you come back to this part of the item with it.",
      { again: ["Sign in", () => { keep(); leaving = true; location.assign("/login?next=" + encodeURIComponent(here)); }] });
    else say("sent", "This page has gone stale", words + " Nothing was recorded. Load the page again to go on with it.",
      { again: ["Load it again", () => { keep(); leaving = true; follow(here); }] });
    return true;
  }
  const inWords = (list) => {
    const get = (name) => list.filter(([n]) => n === name).map(([, v]) => v).join(" ");
    const rulings = list.filter(([n]) => n.startsWith("ruling.")).length;
    return [get("action"), get("verdict"), get("comment") && "“" + get("comment") + "”", get("question") && "a question", get("correction_explanation") && "a correction", rulings && rulings + (rulings === 1 ? " ruling" : " rulings")].filter(Boolean).join(", ") || "nothing";
  };
  const draftList = (d) => [
    ...["action", "verdict", "label", "reason_code", "comment", "confidence"].map((n) => [n, d[n] || ""]),
    ["question", d.question || ""], ["correction_explanation", d.correction?.explanation || ""],
    ...(d.rulings || []).map((r) => ["ruling." + r.part, r.value]),
  ].filter(([, v]) => v);
  // Two drafts: which counts is the person's to say. Until then nothing is saved on
  // the server, and nothing is signed.
  function conflict(other) {
    stuck = true;
    const words = kept();
    note("Not saved: two drafts.");
    about = "";
    say("choice", "Another page of yours saved a draft of this item", "Nothing was overwritten. " + words + " Choose the one to go on with.", {
      mine: ["Keep what is on this page", () => { stuck = false; version = other.version; saved = ""; calm("choice"); save(); }],
      theirs: ["Take the other", () => { leaving = true; forget(); follow(home); }],
    }, [["This page", inWords(fields())], ["The other, " + clock(other.saved_at), inWords(draftList(other))]]);
  }
  // The choice shows this page as it is now.
  const shown = () => { if (stuck) $("[data-both] dd", box).textContent = inWords(fields()); };
  // The focus goes there when the person wants to go on, and never while they type.
  function choose() {
    if (!box.contains(document.activeElement)) from = document.activeElement;
    $("[data-mine]", box).focus();
  }

  // Restoring: a copy that the server has not got (a crash, a lost network).
  function restore(list, whole) {
    const by = new Map();
    for (const el of form.elements) by.set(el.name, [...(by.get(el.name) ?? []), el]);
    const free = (el) => !el.disabled && el.type !== "submit" && el.type !== "button" && (el.type !== "hidden" || el.name.startsWith("ruling"));
    if (whole) { // also what was emptied
      for (const el of [...form.elements]) if (free(el) && el.tagName !== "FIELDSET") set(el, "");
    }
    for (const [name, value] of list) {
      const at = by.get(name)?.filter(free);
      if (at) for (const el of at) set(el, value);
      else if (name.startsWith("ruling")) {
        const held = Object.assign(document.createElement("input"), { type: "hidden", name, value });
        held.dataset.held = "";
        form.append(held);
      }
      if (name === "verdict" || name === "label") form.dataset.chosen = "";
    }
    keep();
    return save().then(() => { if (box.hidden) note("What you typed before is restored."); });
  }
  // Words from before another page's draft, or for another form of the item, wait
  // until the person says what becomes of them. The page works meanwhile.
  function offer() {
    const last = older.at(-1);
    if (!last) return;
    const done = () => { older.pop(); if (stamp() === saved) forget(); else keep(); calm("older"); offer(); };
    say("older", "This browser kept words that the server does not have", "The server has had another draft since. Choose what to go on with; until then they are kept.", {
      mine: ["Take what this browser kept", () => { done(); restore(last.fields, false); }],
      theirs: ["Keep what is shown", done],
    }, [["In this browser, " + clock(last.at), inWords(last.fields)], ["On this page", inWords(fields())]]);
  }
  const copy = local.read(key);
  if (copy?.fields && JSON.stringify(copy.fields.sort()) !== stamp()) {
    if ((copy.version === version || copy.last === stamp()) && stageOf(copy.fields) === stageOf(fields())) restore(copy.fields, true);
    else {
      older.push({ at: copy.at, fields: copy.fields });
      forget();
    }
  } else if (copy?.fields) forget();
  offer();
  if (!saved) save();

  // Rulings are saved at once; texts to this browser after a pause of 600 ms, and
  // to the server every 5 s and when the field is left.
  const mine = (el) => el.form === form;
  addEventListener("change", (e) => {
    if (!mine(e.target)) return;
    if (e.target.name === "verdict" || e.target.name === "label") form.dataset.chosen = "";
    if (e.target.name?.startsWith("ruling.")) e.target.closest("fieldset")?.setAttribute("aria-busy", "true");
    keep();
    shown();
    save();
  });
  addEventListener("input", (e) => {
    if (!mine(e.target) || !e.target.matches("textarea, input:not([type=radio], [type=checkbox])")) return;
    shown();
    clearTimeout(texts);
    texts = setTimeout(keep, 600);
    slow ??= setTimeout(() => { slow = undefined; save(); }, 5000);
  });
  addEventListener("pagehide", () => {
    if (leaving || stamp() === saved) return;
    last = stamp();
    keep();
    if (stuck) return;
    const b = body();
    b.set("draft_by", "script");
    navigator.sendBeacon(form.dataset.draft, b);
  });
  addEventListener("visibilitychange", () => { if (document.visibilityState !== "hidden" || leaving || stamp() === saved) return; keep(); save(); });

  // Enter in a field would press the form's first button, whatever that is.
  addEventListener("keypress", (e) => {
    if (e.key === "Enter" && !e.ctrlKey && !e.metaKey && e.target.matches?.("input") && mine(e.target)) e.preventDefault();
  });

  // Agreeing with the judge on one part inks its choices over and goes on.
  addEventListener("click", (e) => {
    const button = e.target.closest("[data-agree]");
    if (!button || !mine(button)) return;
    e.preventDefault();
    const unit = button.closest("[data-unit]") || form;
    for (const input of $$(".option.judged input", unit)) {
      input.checked = true;
      input.closest("fieldset")?.setAttribute("aria-busy", "true");
    }
    keep();
    save();
    go(units.indexOf(unit) + 1);
  });

  // Signing, and sending a part: by script, so that a lost network leaves the page
  // as it is; the server knows a second try of what it has already.
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    if (!leaving) send(e.submitter);
  });
  addEventListener("pageshow", (e) => { if (e.persisted) leaving = false; });
  async function send(button) {
    if (stuck) return choose();
    const part = button?.getAttribute("formaction"), skips = part === home + "/skip";
    const sent = stamp(), b = body(), words = kept();
    if (button?.name) b.set(button.name, button.value);
    leaving = true; // nothing is saved beside it
    button?.setAttribute("aria-busy", "true");
    const failed = (title, text) => {
      about = "";
      say("sent", title, text, { again: ["Try again", () => { calm("sent"); send(button); }] });
    };
    const not = part ? "Not sent" : "Not signed";
    try {
      const answer = await post(part || form.getAttribute("action"), b);
      const read = await told(answer);
      if (answer.ok && read.location) {
        if (!skips) forget();
        if (part) {
          // The rest is the page's draft now; what was typed since is not.
          leaving = false;
          if (!skips) saved = sent;
        }
        return follow(read.location);
      }
      leaving = false;
      button?.removeAttribute("aria-busy");
      if (refusedPage(answer)) return;
      if (answer.status === 422 && !part) return resend(button);
      if (answer.status === 409 && read.draft) return conflict(read.draft);
      failed(not, (read.detail || "The server answered with a fault.") + " " + words);
    } catch {
      leaving = false;
      button?.removeAttribute("aria-busy");
      failed(not + ", as far as this page knows: the server could not be reached", "Nothing was lost. " + words + (version ? " The server has what was last saved." : "") +
        " Countersign does not send it again by itself; trying again cannot " + (part ? "lose anything." : "sign twice."));
    }
  }
  // A form with faults is sent again as a form, to be shown with them.
  function resend(button) {
    leaving = true;
    if (button?.name) {
      const field = document.createElement("input");
      [field.type, field.name, field.value] = ["hidden", button.name, button.value];
      form.append(field);
    }
    form.submit();
  }

  // Keys of rulings: a letter moves on in its question, U and R uphold and reject,
  // numbers choose.
  const tick = (input) => { if (input && !input.disabled) press(input); };
  keys.push((e, digit) => {
    const unit = units[current];
    if (!unit || e.shiftKey) return false;
    if ($("[data-body]", unit) && /^[aefqs1-9]$/.test(digit || e.key)) {
      // Its choices are still on their way: the key waits for them.
      fill(unit).then(() => {
        if ($("[data-body]", unit)) return tell("This citation could not be loaded, so nothing was ruled. Open it by its link, or try again.");
        tell("");
        if (units[current] === unit) rule(unit, e.key, digit);
      });
      return true;
    }
    return rule(unit, e.key, digit);
  });
  function rule(unit, key, digit) {
    const at = document.activeElement?.closest?.("fieldset");
    if (key === "a") {
      const agree = $("[data-agree]", unit);
      if (!agree) return false;
      agree.click();
      return true;
    }
    const word = { u: "uphold", r: "reject" }[key];
    if (word) {
      const sets = $$("fieldset", unit).filter((f) => $(`input[value=${word}]`, f));
      const set = sets.find((f) => f === at) || sets.find((f) => !$("input:checked", f)) || sets[0];
      if (set) { tick($(`input[value=${word}]`, set)); return true; }
    }
    const row = /^[a-z]$/.test(key) && $(`[data-key="${key}"]`, unit);
    if (row) { cycle(row); return true; }
    if (digit) {
      const inFocus = at && unit.contains(at) ? at : null;
      const set = inFocus || $("[data-digits]", unit);
      const input = set && $$("input[type=radio]", set)[Number(digit) - 1];
      if (input) { tick(input); return true; }
    }
    return false;
  }
}

// What is not loaded yet can't be searched: finding waits for it.
addEventListener("findtext", (e) => {
  const body = $("[data-body]");
  if (body) e.detail.wait(bring(body, "all=1"));
});

// A copy of an item that its person signed is thrown away. One of an item that they
// can't sign now goes to the server, and the page shows it from there.
if (desk.dataset.draftDone) local.write(desk.dataset.draftDone, null);
if (desk.dataset.draftKept) sendKept(desk.dataset.draftKept);
async function sendKept(key) {
  const copy = local.read(key);
  if (!copy?.fields?.length) return;
  const b = new URLSearchParams(copy.fields);
  b.set("draft_version", copy.version);
  try {
    const answer = await fetch(home + "/draft", { method: "POST", body: b, headers: { "X-CSRF-Token": csrf(), Accept: "application/json" }, redirect: "manual" });
    if (!answer.ok) return; // it stays in this browser, and is offered when the item can be decided
    local.write(key, copy.older?.length ? { older: copy.older } : null);
    if ((await answer.json()).version !== copy.version) follow(home); // else the page has it already
  } catch { /* it stays in this browser */ }
}

// While this item is read the server gets the next one ready. It is told to nobody and
// claimed for nobody before this one is signed.
if (form && desk.dataset.standing === "yours") {
  const ahead = () => fetch("/queue/ahead", { priority: "low" }).catch(() => {}); // without it the next page takes a little longer
  addEventListener("load", () => setTimeout(ahead, 500));
}

// After a refused form, its first fault is where the person goes on.
$("#decision[data-refused]") && $("[aria-invalid=true], .error")?.closest(".field, fieldset")?.querySelector("select, textarea, input")?.focus();

// The claim: a silent timer, a polite notice at five minutes, and renewal by
// activity, at most once a minute.
const timer = $("[data-lease]");
let hold = () => {}, lose = () => {}; // what news of the claim does to the timer
if (timer) {
  const total = Number(timer.dataset.leaseTotal), ring = $(".lease circle:last-of-type");
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
const kept = () => ($$("textarea").some((el) => form && el.form === form && el.value) ? " What you typed is kept." : "");

// What the desk shows is true until the claim is another than it was drawn for.
addEventListener("claim", ({ detail: now }) => {
  if (now.state === "yours" && desk.dataset.standing === "yours") return hold(now.seconds || 0);
  if (now.state === desk.dataset.standing) return tell("");
  lose();
  tell(now.text + kept(), true);
});
