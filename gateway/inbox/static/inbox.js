// Live updates and keys for the inbox. Everything works without it: pages are forms and links.
// No markup is ever made from text: nodes are cloned from templates and filled by textContent.

const main = document.getElementById("main");
const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- times in the reader's own zone ---------------------------------------------------------------

const clock = new Intl.DateTimeFormat("en-GB", {
  day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

function localise(root) {
  for (const one of all("time[datetime]:not([data-keep])", root)) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    one.title = at.toISOString();
    one.textContent = clock.format(at);
  }
}

localise(document);
const zone = find("[data-zone]");
if (zone) zone.textContent = `Times are in ${clock.resolvedOptions().timeZone}.`;

// --- what is told aloud, and what is new ----------------------------------------------------------

const spoken = find("[data-say]");
const news = find("[data-news]");

function say(words) {
  if (spoken) spoken.textContent = words;
}

function offer(words) {
  if (!news) return;
  news.textContent = words;
  news.hidden = false;
  say(words);
}

news?.addEventListener("click", () => location.reload());

// --- the stream: what was missed comes first, and silence is noticed ------------------------------

const SILENCE = 40_000; // the server says that it lives every 15 s
const light = find("[data-live]");
let seen = Number(main.dataset.after || 0);

function shine(state, words) {
  if (!light) return;
  const before = light.dataset.state;
  light.dataset.state = state;
  light.firstElementChild.textContent = words;
  if (before && before !== state) say(words);
}

// Whoever has no session any more is led to another page: no trying again brings them back.
async function isSignedOut(address) {
  const answer = await fetch(address, { method: "HEAD", redirect: "manual" }).catch(() => null);
  return answer?.type === "opaqueredirect";
}

function listen(address, hear) {
  let source, watch, tries = 0;

  function alive() {
    clearTimeout(watch);
    watch = setTimeout(again, SILENCE);
    tries = 0;
    shine("on", "Live");
  }

  function again() {
    source.close();
    clearTimeout(watch);
    shine("off", "Disconnected — trying again");
    tries += 1;
    setTimeout(open, Math.min(15_000, 500 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()));
  }

  async function open() {
    if (tries && (await isSignedOut(address))) return shine("off", "Signed out — reload to sign in");
    source = new EventSource(`${address}?after=${seen}`);
    source.onopen = alive;
    source.onerror = again; // ours is quicker than the browser's, and tells what was seen
    source.addEventListener("beat", alive);
    for (const [name, take] of Object.entries(hear)) {
      source.addEventListener(name, (event) => {
        alive();
        take(JSON.parse(event.data));
      });
    }
  }

  addEventListener("pagehide", () => { clearTimeout(watch); source.close(); });
  open();
}

// --- one thread -----------------------------------------------------------------------------------

function clone(name) {
  return document.getElementById(`${name}-template`).content.firstElementChild.cloneNode(true);
}

function fill(root, selector, text) {
  const node = find(selector, root);
  if (text) node.textContent = text;
  else node.remove();
  return node;
}

const counted = new Intl.NumberFormat("en");

function blockNode({ text, label = "", is_code: isCode = false }) {
  const node = clone("block");
  if (label) find(".label bdi", node).textContent = label;
  else find(".label", node).remove();
  const body = find("[dir]", node);
  if (isCode) body.className = "code";
  find(".text-head", body).textContent = text.head;
  if (text.rest) {
    find("summary", body).textContent = `Show the rest (${counted.format([...text.rest].length)} characters)`;
    find(".text-rest", body).textContent = text.rest;
  } else find(".fold", body).remove();
  if (text.cut) find(".cut", body).textContent = `${counted.format(text.cut)} more characters are in the log.`;
  else find(".cut", body).remove();
  return node;
}

function copyNode(copy) {
  const node = clone("copy");
  const pill = find(".pill", node);
  pill.classList.add(`copy-${copy.status}`);
  pill.textContent = copy.status;
  const to = find(".copy-to", node);
  find("bdi", to).textContent = copy.to;
  for (const more of [copy.channel, copy.error]) if (more) to.append(` · ${more}`);
  return node;
}

function entryNode(entry) {
  const node = clone("entry");
  node.id = `e${entry.seq}`;
  node.classList.add(`tone-${entry.tone}`);
  node.dataset.kind = entry.kind;
  const seq = fill(node, ".seq", String(entry.seq));
  seq.href = `#e${entry.seq}`;
  seq.setAttribute("aria-label", `Event ${entry.seq}`);
  fill(node, ".who", entry.who);
  fill(node, ".what", entry.what);
  fill(node, ".via", entry.by);
  fill(node, ".note", entry.note);
  const time = fill(node, "time", entry.at);
  time.dateTime = entry.iso;
  node.append(...entry.blocks.map(blockNode));
  if (entry.copies.length) {
    const list = clone("copies");
    list.append(...entry.copies.map(copyNode));
    node.append(list);
  }
  if (entry.question) {
    const about = clone("about");
    find("a", about).href = `/questions/${encodeURIComponent(entry.question)}`;
    node.append(about);
  }
  localise(node);
  return node;
}

function followThread() {
  const timeline = find("[data-timeline]");
  let missed = 0;

  function isBelow() {
    return timeline.getBoundingClientRect().bottom > innerHeight + 40;
  }

  listen(main.dataset.stream, {
    entry(entry) {
      if (entry.seq <= seen) return;
      seen = entry.seq;
      timeline.append(entryNode(entry)); // at the end: nothing that is in sight moves
      if (isBelow()) offer(`${(missed += 1)} new below`);
      else say(`${entry.who} ${entry.what}`);
    },
    head(head) {
      find("[data-tokens]").textContent = counted.format(head.tokens);
      find("[data-cost]").textContent = head.cost.toFixed(4);
      const pill = find("[data-status]", main);
      pill.textContent = head.status;
      pill.className = `pill status-${head.status}`;
      const changed = head.status !== main.dataset.status || String(head.waiting) !== main.dataset.waiting;
      if (changed) offer(head.waiting ? "It waits for an answer — show" : `Now ${head.status} — show what you can do`);
    },
  });
}

// --- the queue ------------------------------------------------------------------------------------

function followQueue() {
  let known = new Set(main.dataset.queue.split(" ").filter(Boolean).map(decodeURIComponent));
  let isFirst = main.dataset.more !== undefined; // then the page does not hold all that is old

  listen(main.dataset.stream, {
    queue({ count, ids, votes, is_all: isAll }) {
      const open = new Map(ids.map((id, at) => [id, votes[at]]));
      if (isFirst) known = new Set(ids);
      isFirst = false;
      const fresh = ids.filter((id) => !known.has(id)).length;
      let changed = 0;
      for (const card of all("[data-item]")) {
        if (!open.has(card.dataset.id)) {
          if (isAll) settle(card);
        } else if (String(open.get(card.dataset.id)) !== card.dataset.votes) {
          changed += 1;
        }
      }
      document.title = document.title.replace(/^(\(\d+\+?\) )?/, count ? `(${count}) ` : "");
      if (fresh) offer(`${fresh} new — show`);
      else if (changed) offer("Somebody has voted — show");
    },
  });
}

function settle(card) {
  if (card.dataset.settled) return;
  card.dataset.settled = "yes"; // in its place: what is under somebody's finger must not move
  for (const one of all("button, textarea, input", card)) one.disabled = true;
  const pill = find(".pill", card);
  pill.className = "pill";
  pill.textContent = "Settled";
  say("A question was settled.");
  offer("Settled elsewhere — show what waits now");
}

if (main.dataset.stream) (main.dataset.queue === undefined ? followThread : followQueue)();

// --- keys -----------------------------------------------------------------------------------------

const help = document.getElementById("help");
const GO = { w: "/", t: "/threads", f: "/figures" };
let going = 0;

find("[data-help]")?.removeAttribute("hidden");
find("[data-help]")?.addEventListener("click", () => help.showModal());

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function items() {
  return all("[data-item]");
}

function current() {
  return document.activeElement?.closest("[data-item]") ?? null;
}

function step(by) {
  const list = items();
  if (!list.length) return;
  const at = list.indexOf(current());
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function arm(decision) {
  const card = current() ?? (items().length === 1 ? items()[0] : null);
  const button = card && find(`[data-do="${decision}"]`, card);
  if (!button || button.disabled) return say("Choose a question first, with j and k.");
  all("[data-intent]").forEach((form) => delete form.dataset.intent);
  if (decision === "edit") return button.click();
  button.form.dataset.intent = decision;
  if (decision === "deny") {
    find("textarea[name=comment]", button.form).focus();
    say("Write a reason, then Control or Command and Enter denies.");
  } else {
    button.focus();
    say("Enter approves.");
  }
}

function send(form) {
  const intent = form.dataset.intent;
  const button = find(`[data-do="${intent ?? "send"}"]`, form);
  if (button) form.requestSubmit(button);
  else say("Approve or deny? Press Escape, then a or d.");
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  a: () => arm("approve"),
  d: () => arm("deny"),
  e: () => arm("edit"),
  r: () => news && !news.hidden && location.reload(),
  g: () => { going = Date.now(); },
  "?": () => help?.showModal(),
  "/": () => {
    const search = find("[data-search]");
    if (search) search.focus();
    else location.assign("/threads#q");
  },
  Enter: () => find("[data-open]", current() ?? document.createElement("p"))?.click(),
};

addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing || event.altKey) return;
  if ((event.metaKey || event.ctrlKey) && key === "Enter") {
    const form = target.closest("form[data-answer], form[data-act]");
    if (form) { event.preventDefault(); send(form); }
    return;
  }
  if (event.metaKey || event.ctrlKey || help?.open) return;
  if (isTyping(target)) {
    if (key === "Escape") target.blur();
    return;
  }
  if (going && Date.now() - going < 1500 && GO[key]) {
    event.preventDefault();
    location.assign(GO[key]);
    return;
  }
  going = 0;
  if (key === "Enter" && target.closest("a, button, summary")) return;
  if (KEYS[key]) {
    event.preventDefault();
    KEYS[key]();
  }
});

if (location.hash === "#q") find("[data-search]")?.focus();

// A form is sent once, however often it is clicked.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  else if (form.method === "post") {
    form.dataset.sent = "yes";
    addEventListener("pageshow", () => delete form.dataset.sent, { once: true });
  }
});
