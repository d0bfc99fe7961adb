// Keeps the page as the server renders it now: hears of changes, fetches the page, and changes what
// is different, so that nobody loses the field they are typing in. Forms are sent without a reload.
// Without this file the page still works: forms post, and the page comes anew.

// An XMLHttpRequest parses HTML without a sink that Trusted Types guard, and runs nothing of it.
function fetchPage(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => (request.response ? resolve(request.response) : reject(new Error("no page")));
    request.onerror = () => reject(new Error("gone"));
    request.send();
  });
}

function key(node) {
  return node.nodeType === Node.ELEMENT_NODE ? `${node.nodeName}#${node.id}` : node.nodeName;
}

function syncAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(old.nodeName === "DETAILS" && name === "open")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

// Text that a person has typed stays; a field that nobody has touched shows what the server says.
function syncField(old, fresh) {
  const isTouched = old.value !== old.defaultValue;
  syncAttributes(old, fresh);
  if (old.nodeName === "TEXTAREA") old.defaultValue = fresh.defaultValue;
  if (!isTouched && old.type !== "hidden") old.value = fresh.defaultValue;
}

function syncChildren(old, fresh) {
  const named = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = wanted.id && named.get(wanted.id);
    const match = known || (at && key(at) === key(wanted) ? at : null);
    if (match) {
      if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      sync(match, wanted);
    } else {
      old.insertBefore(document.importNode(wanted, true), at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function sync(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
  } else if (old.matches("input, textarea")) {
    syncField(old, fresh);
  } else {
    syncAttributes(old, fresh);
    syncChildren(old, fresh);
  }
}

const shown = document.getElementById("live");
const offline = document.getElementById("offline");
const NOTE_MS = 8000; // so long stands what a form was answered
let isFetching = false;
let isStale = false;
let address = "/";

async function refresh() {
  if (isFetching) {
    isStale = true;
    return;
  }
  isFetching = true;
  try {
    const page = await fetchPage(address);
    const bottoms = [...document.querySelectorAll(".slack .scroll")].filter(
      (box) => box.scrollHeight - box.scrollTop - box.clientHeight < 60,
    );
    sync(shown, page.getElementById("live"));
    for (const box of bottoms) box.scrollTop = box.scrollHeight;
  } finally {
    isFetching = false;
  }
  if (isStale) {
    isStale = false;
    await refresh();
  }
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const answer = await fetch(submitter?.getAttribute("formaction") || form.getAttribute("action"), { method: "POST", body });
  form.reset();
  for (const field of form.querySelectorAll("input:not([type=hidden]), textarea")) field.value = field.defaultValue;
  const there = new URL(answer.url);
  address = there.searchParams.has("note") ? there.pathname + there.search : "/";
  if (address !== "/") setTimeout(() => { address = "/"; refresh().catch(() => {}); }, NOTE_MS);
  await refresh();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.closest("#live")) return;
  event.preventDefault();
  const pressed = event.submitter;
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  send(form, pressed)
    .catch(() => { offline.hidden = false; })
    .finally(() => delete form.dataset.busy);
});

const changes = new EventSource("/live");
changes.onmessage = () => {
  offline.hidden = true;
  refresh().catch(() => {});
};
changes.onerror = () => {
  offline.hidden = false;
};
