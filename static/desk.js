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

// An offer that ends, such as undo, goes when it has.
for (const el of $$("[data-ends]")) setTimeout(() => { el.hidden = true; }, 1000 * Number(el.dataset.ends));

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
async function fill(unit) {
  const body = $("[data-body]", unit);
  if (!body || body.ariaBusy) return;
  body.ariaBusy = "true";
  try {
    const answer = await fetch(`${home}/citations?at=${body.dataset.body}`, { headers: { Accept: "text/html" } });
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

// A part has its own address: #c3 opens the third citation.
function openTarget() {
  const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!at) return;
  if ("open" in at) at.open = true;
  at.closest("details:not([open])")?.setAttribute("open", "");
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

const clock = (iso) => new Date(iso).toISOString().slice(11, 19);
const note = (text) => { const at = $("#draft-note"); if (at) at.textContent = text; };

if (form) {
  const key = form.dataset.draftKey;
  const tab = crypto.randomUUID?.() ?? String(Math.random());
  let version = Number(form.elements.draft_version.value) || 0;
  let seq = 0, busy = false, again = false, texts, slow, leaving = false, stuck = false;

  const fields = () => [...new FormData(form)].filter(([name, value]) =>
    typeof value === "string" && value !== "" && !["_csrf", "shown", "draft_version"].includes(name));
  const stamp = () => JSON.stringify(fields().sort());
  // What a refused form shows is nowhere else yet.
  let saved = "refused" in form.dataset ? "" : stamp();

  // This browser's own copy, until the server has acknowledged the same.
  const keep = () => {
    try { localStorage.setItem(key, JSON.stringify({ version, at: Date.now(), fields: fields() })); } catch { /* no room, or not allowed: the server has it soon */ }
  };
  const forget = () => { try { localStorage.removeItem(key); } catch { /* not allowed */ } };
  const body = () => {
    const b = new URLSearchParams(new FormData(form));
    b.set("draft_version", version);
    b.set("draft_tab", tab);
    b.set("draft_seq", ++seq);
    return b;
  };

  async function save() {
    if (stuck) return;
    if (busy) { again = true; return; }
    const sent = stamp();
    if (sent === saved) return;
    busy = true;
    note("Saving…");
    try {
      const answer = await fetch(form.dataset.draft, {
        method: "POST", body: body(), headers: { "X-CSRF-Token": csrf(), Accept: "application/json" }, redirect: "manual",
      });
      const read = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : {};
      if (answer.ok && read.version) acknowledged(sent, read);
      else if (answer.status === 409 && read.draft) conflict(read.draft);
      else if (answer.type === "opaqueredirect" || answer.status === 401) signedOut();
      else trouble("The draft was not saved on the server", (read.detail ? read.detail + " " : "") + "What you typed is kept in this browser.");
    } catch {
      trouble("The draft was not saved on the server", "The server could not be reached. What you typed is kept in this browser, and what the server had before is still there.");
    } finally {
      busy = false;
      if (again) { again = false; save(); }
    }
  }

  function acknowledged(sent, read) {
    version = read.version;
    form.elements.draft_version.value = version;
    saved = sent;
    if (stamp() === sent) {
      forget();
      $$("[aria-busy=true]").forEach((el) => el.removeAttribute("aria-busy"));
    }
    calm();
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

  // Trouble is told in one place, with what to do.
  const box = $("#draft-trouble");
  function say(title, text, buttons, both = []) {
    $(".notice-title", box).textContent = title;
    $("[data-text]", box).textContent = text;
    $("[data-both]", box).replaceChildren(...both.flatMap(([who, what]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = who;
      dd.textContent = what;
      return [dt, dd];
    }));
    for (const b of ["again", "mine", "theirs"]) $(`[data-${b}]`, box).hidden = !buttons.includes(b);
    box.hidden = false;
  }
  const calm = () => { box.hidden = true; };
  let retry = save;
  function trouble(title, text) {
    keep();
    retry = save;
    note("Kept in this browser only.");
    say(title, text, ["again"]);
  }
  function signedOut() {
    keep();
    note("Kept in this browser only.");
    say("You are signed out", "What you typed is kept in this browser. Sign in, and you come back to this part of the item with it.", ["again"]);
    $("[data-again]", box).textContent = "Sign in";
    retry = () => { leaving = true; location.assign("/login?next=" + encodeURIComponent(home + (location.hash || units[current] && "#" + units[current].id || ""))); };
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
  function conflict(other) {
    keep();
    stuck = true;
    note("Not saved: two drafts.");
    say("Another page of yours saved a draft of this item", "Nothing was overwritten. Choose the one to go on with.", ["mine", "theirs"],
      [["This page", inWords(fields())], ["The other, " + clock(other.saved_at), inWords(draftList(other))]]);
    $("[data-mine]", box).onclick = () => { stuck = false; version = other.version; saved = ""; calm(); save(); };
    $("[data-theirs]", box).onclick = () => { stuck = false; leaving = true; forget(); location.assign(home); };
    box.querySelector("[data-mine]").focus();
  }
  $("[data-again]", box).addEventListener("click", () => retry());

  // Restoring: a copy that the server has not got (a crash, a lost network).
  const copy = (() => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } })();
  if (copy?.fields && JSON.stringify(copy.fields.sort()) !== stamp()) {
    const restore = () => {
      for (const [name, value] of copy.fields) {
        for (const el of [...form.elements].filter((x) => x.name === name)) {
          if (el.disabled || el.type === "hidden" || el.type === "submit") continue;
          if (el.type === "radio" || el.type === "checkbox") el.checked = el.value === value || el.checked && el.type === "checkbox";
          else el.value = value;
        }
      }
      save().then(() => { if (box.hidden) note("What you typed before is restored."); });
    };
    if (copy.version === version) restore();
    else {
      stuck = true;
      say("This browser kept words that the server does not have", "They are from before the draft that is shown. Choose the one to go on with.", ["mine", "theirs"],
        [["In this browser, " + clock(copy.at), inWords(copy.fields)], ["On this page", inWords(fields())]]);
      $("[data-mine]", box).textContent = "Take what this browser kept";
      $("[data-theirs]", box).textContent = "Keep what is shown";
      $("[data-mine]", box).onclick = () => { stuck = false; calm(); restore(); };
      $("[data-theirs]", box).onclick = () => { stuck = false; forget(); calm(); };
    }
  } else if (copy) forget();
  if (!saved && !stuck) save();

  // Rulings are saved at once; texts to this browser after a pause of 600 ms, and
  // to the server every 5 s and when the field is left.
  const mine = (el) => el.form === form;
  addEventListener("change", (e) => {
    if (!mine(e.target)) return;
    if (e.target.name === "verdict" || e.target.name === "label") form.dataset.chosen = "";
    if (e.target.name?.startsWith("ruling.")) e.target.closest("fieldset")?.setAttribute("aria-busy", "true");
    keep();
    save();
  });
  addEventListener("input", (e) => {
    if (!mine(e.target) || !e.target.matches("textarea, input:not([type=radio], [type=checkbox])")) return;
    clearTimeout(texts);
    texts = setTimeout(keep, 600);
    slow ??= setTimeout(() => { slow = undefined; save(); }, 5000);
  });
  addEventListener("pagehide", () => {
    if (leaving || stuck || stamp() === saved) return;
    keep();
    const b = body();
    b.set("draft_by", "script");
    navigator.sendBeacon(form.dataset.draft, b);
  });
  addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden" && !leaving) { keep(); save(); } });

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

  // Signing. The form is sent by script so that a lost network leaves the page as
  // it is; the server knows a second try of what it has already.
  form.addEventListener("submit", (e) => {
    const button = e.submitter;
    if (leaving) return;
    if (button?.name === "thread" || button?.hasAttribute("data-part")) return part();
    if (button?.hasAttribute("formaction")) return;
    e.preventDefault();
    sign(button);
  });
  // A part of the form is sent: the server keeps the rest as this page's draft,
  // whatever is under way.
  function part() {
    for (const [name, value] of [["draft_tab", tab], ["draft_seq", ++seq]]) {
      const el = form.elements[name] ?? form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name }));
      el.value = value;
    }
    leaving = true;
    forget();
  }
  addEventListener("pageshow", (e) => { if (e.persisted) { leaving = false; form.elements.draft_tab?.remove(); form.elements.draft_seq?.remove(); } });
  async function sign(button) {
    const b = body();
    if (button?.name) b.set(button.name, button.value);
    keep();
    leaving = true; // nothing is saved beside it
    button?.setAttribute("aria-busy", "true");
    const failed = (title, text) => {
      leaving = false;
      button?.removeAttribute("aria-busy");
      retry = () => { calm(); sign(button); };
      say(title, text, ["again"]);
    };
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body: b, headers: { "X-CSRF-Token": csrf(), Accept: "application/json" }, redirect: "manual" });
      if (answer.ok) {
        const { location: to } = await answer.json();
        forget();
        return location.assign(to);
      }
      if (answer.type === "opaqueredirect" || answer.status === 401) { leaving = false; button?.removeAttribute("aria-busy"); return signedOut(); }
      if (answer.status === 422) return resend(button);
      const read = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : {};
      failed("Not signed", (read.detail ? read.detail + " " : "The server answered with a fault. ") + "What you typed is kept.");
    } catch {
      failed("Not signed: the server could not be reached", "Nothing was lost: what you typed is in this browser" + (version ? " and, as last saved, on the server" : "") +
        ". Countersign does not retry by itself; trying again cannot sign twice.");
    }
  }
  // A form with faults is sent again as a form, to be shown with them.
  function resend(button) {
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
    const at = document.activeElement?.closest?.("fieldset");
    if (e.key === "a") {
      const agree = $("[data-agree]", unit);
      if (!agree) return false;
      agree.click();
      return true;
    }
    const word = { u: "uphold", r: "reject" }[e.key];
    if (word) {
      const sets = $$("fieldset", unit).filter((f) => $(`input[value=${word}]`, f));
      const set = sets.find((f) => f === at) || sets.find((f) => !$("input:checked", f)) || sets[0];
      if (set) { tick($(`input[value=${word}]`, set)); return true; }
    }
    const row = /^[a-z]$/.test(e.key) && $(`[data-key="${e.key}"]`, unit);
    if (row) { cycle(row); return true; }
    if (digit) {
      const inFocus = at && unit.contains(at) ? at : null;
      const set = inFocus || $("[data-digits]", unit);
      const input = set && $$("input[type=radio]", set)[Number(digit) - 1];
      if (input) { tick(input); return true; }
    }
    return false;
  });
}

// While this item is read the server gets the next one ready. It is told to nobody and
// claimed for nobody before this one is signed.
if (form && desk.dataset.standing === "yours") {
  const ahead = () => fetch("/queue/ahead", { priority: "low" }).catch(() => {}); // without it the next page takes a little longer
  addEventListener("load", () => setTimeout(ahead, 500));
}

// Drafts of an item that is signed are thrown away.
for (const el of $$("[data-draft-done]")) try { localStorage.removeItem(el.dataset.draftDone); } catch { /* not allowed */ }

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
      if (!answer.ok) return;
      const body = await answer.json();
      if (body.lease_seconds > 0) hold(body.lease_seconds);
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
const kept = () => (form && new FormData(form).get("comment") ? " What you typed is kept." : "");

// What the desk shows is true until the claim is another than it was drawn for.
addEventListener("claim", ({ detail: now }) => {
  if (now.state === "yours" && desk.dataset.standing === "yours") return hold(now.seconds || 0);
  if (now.state === desk.dataset.standing) return tell("");
  lose();
  tell(now.text + kept(), true);
});
