// Reloads the page when the workspace has changed, unless somebody is in the middle of typing.
const seen = document.currentScript.dataset.seen;

function isTouched(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.options) {
    const chosen = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(chosen, 0);
  }
  return field.value !== field.defaultValue;
}

function isTyping() {
  return [...document.querySelectorAll("input, textarea, select")].some(isTouched);
}

async function watch() {
  try {
    const answer = await fetch(`/changes?seen=${encodeURIComponent(seen)}`);
    const { changed } = await answer.json();
    if (changed && !isTyping()) {
      location.reload();
      return;
    }
    setTimeout(watch, changed ? 1000 : 0);
  } catch {
    setTimeout(watch, 2000); // the double is gone or restarting
  }
}

watch();
