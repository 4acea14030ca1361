// What a person typed is never lost: drafts on the server and in this browser, and
// signing, which knows what became of it.
"use strict";

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
  form.addEventListener("ruled", () => { keep(); save(); }); // by a key or button, which tell nobody else
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
}

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
