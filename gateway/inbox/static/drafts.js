// What somebody is writing stays when the page comes anew: after "show", or after they have answered
// something else on it. It is kept for this window, this person, and the very thing that was shown.

const who = document.querySelector(".bar .who")?.textContent ?? "";
const PLACE = `drafts of ${who} on ${location.pathname}`;
// Edits are not among them: who leaves those has dropped them.
const FORMS = "form[data-act], form[data-answer]:not([data-answer=edit], [data-answer=review])";
const CHOSEN = ["radio", "checkbox"];

function fields() {
  return [...document.querySelectorAll(FORMS)]
    .filter((form) => !form.dataset.sent)
    .flatMap((form) => [...form.elements])
    .filter((one) => one.matches("textarea, input:not([type=hidden])"));
}

function nameOf({ form, name, type, value }) {
  const shown = form.elements.namedItem("shown")?.value ?? "";
  return JSON.stringify([form.getAttribute("action"), shown, name, CHOSEN.includes(type) ? value : ""]);
}

function draftOf(field) {
  const { type, value, defaultValue, checked, defaultChecked } = field;
  if (CHOSEN.includes(type)) return checked === defaultChecked ? null : checked;
  return value === defaultValue ? null : value;
}

let isLeaving = false;
addEventListener("submit", ({ target }) => {
  isLeaving = target.getAttribute("action") === "/signout";
});

addEventListener("pagehide", () => {
  if (isLeaving) return sessionStorage.clear();
  const drafts = fields().map((one) => [nameOf(one), draftOf(one)]).filter(([, draft]) => draft !== null);
  if (drafts.length) sessionStorage.setItem(PLACE, JSON.stringify(drafts));
  else sessionStorage.removeItem(PLACE);
});

const kept = new Map(JSON.parse(sessionStorage.getItem(PLACE) ?? "[]"));
for (const one of fields()) {
  const draft = kept.get(nameOf(one));
  if (typeof draft === "boolean") one.checked = draft;
  else if (draft !== undefined) one.value = draft;
}
