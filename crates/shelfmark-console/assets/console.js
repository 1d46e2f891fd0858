// What every page has: keys, the list's current row, words for who listens.

/** Tells something that happened to who listens and to who looks. */
export function tell(text) {
  const told = document.getElementById("told");
  told.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => (told.textContent = ""), 4000);
}

/** Sends JSON and returns the answer: JSON or text by its type. Throws what the server says no with. */
export async function send(path, body, signal) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  return read(answer);
}

/** Reads an answer. */
export async function read(answer) {
  if (answer.status === 401) {
    location.assign("/sign-in");
  }
  const type = answer.headers.get("content-type") ?? "";
  const content = type.startsWith("application/json") ? await answer.json() : await answer.text();
  if (!answer.ok) {
    throw new Error(content?.error ?? content ?? answer.statusText);
  }
  return content;
}

/** Calls `work` once nobody asked for it for `wait` milliseconds. */
export function debounce(work, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}

/** Copies a text, and says so. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch {
    tell("The browser does not let this page copy; select the text.");
  }
}

const dialog = document.getElementById("keys");
document.getElementById("keys-button").addEventListener("click", () => dialog.showModal());

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable], dialog");
}

function rows() {
  return [...document.querySelectorAll("[data-list] tbody tr")];
}

function move(step) {
  const all = rows();
  const at = all.findIndex((row) => row.hasAttribute("data-current"));
  const next = all[Math.max(0, Math.min(all.length - 1, at + step))];
  if (!next) return;
  all[at]?.removeAttribute("data-current");
  next.setAttribute("data-current", "");
  const first = next.querySelector("a, button");
  first?.focus();
  next.scrollIntoView({ block: "nearest" });
}

function follow(name) {
  document.querySelector(`[data-page="${name}"]`)?.click();
}

let isGoing = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (isGoing) {
    isGoing = false;
    const link = document.querySelector(`header nav a[data-key="${CSS.escape(event.key)}"]`);
    if (link) link.click();
    return;
  }
  const done = {
    g: () => (isGoing = true),
    j: () => move(1),
    k: () => move(-1),
    n: () => follow("next"),
    p: () => (document.querySelector('[data-page="previous"]') ? follow("previous") : history.back()),
    "/": () => document.querySelector("[data-focus]")?.focus(),
    "?": () => dialog.showModal(),
  }[event.key];
  if (!done) return;
  event.preventDefault();
  done();
});
