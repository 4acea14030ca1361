// Ruling by keys, and agreeing with the judge on a part.
"use strict";

// Agreeing with the judge on one part inks its choices over and goes on.
addEventListener("click", (e) => {
  const button = e.target.closest("[data-agree]");
  if (!button || !form || button.form !== form) return;
  e.preventDefault();
  const unit = button.closest("[data-unit]") || form;
  for (const input of $$(".option.judged input", unit)) {
    input.checked = true;
    input.closest("fieldset")?.setAttribute("aria-busy", "true");
  }
  form.dispatchEvent(new Event("ruled"));
  go(units.indexOf(unit) + 1);
});

// Keys of rulings: a letter moves on in its question, U and R uphold and reject,
// numbers choose.
const tick = (input) => { if (input && !input.disabled) press(input); };
keys.push((e, digit) => {
  if (!form) return false;
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
