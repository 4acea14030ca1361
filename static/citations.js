// Citations that come late. What it uses of desk.js is there once the page is at work.
"use strict";

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

// What is not loaded yet can't be searched: finding waits for it.
addEventListener("findtext", (e) => {
  const body = $("[data-body]");
  if (body) e.detail.wait(bring(body, "all=1"));
});
