// Ask: runs what is typed, shows the answer beside its picture, offers names, remembers.

import { debounce, send, tell } from "./console.js";

const form = document.getElementById("ask");
const text = document.getElementById("ask-text");
const answer = document.getElementById("ask-answer");
const list = document.getElementById("ask-names");
const past = document.getElementById("ask-past");
const pastButton = document.getElementById("ask-history");

const KEPT = "shelfmark.ask.history";
const DRAFT = "shelfmark.ask.draft";
const KEPT_MAX = 100;

function field(name) {
  return form.elements[name];
}

// What belongs to another language is not shown.
function adapt() {
  for (const label of form.querySelectorAll("[data-for]")) {
    label.hidden = label.dataset.for !== field("language").value;
  }
}

function stored(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function store(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A full or closed store forgets; nothing else depends on it.
  }
}

function entry() {
  return {
    language: field("language").value,
    keyspace: field("keyspace").value,
    operation: field("operation").value,
    text: text.value,
  };
}

function fill(kept) {
  field("language").value = kept.language ?? "cql";
  field("keyspace").value = kept.keyspace ?? "";
  field("operation").value = kept.operation ?? "Query";
  text.value = kept.text ?? "";
  adapt();
}

function remember(kept) {
  const same = (other) => JSON.stringify(other) === JSON.stringify(kept);
  const all = stored(KEPT, []).filter((other) => !same(other));
  store(KEPT, [kept, ...all].slice(0, KEPT_MAX));
}

// Running.

let running;
async function run(page) {
  close();
  running?.abort();
  running = new AbortController();
  const asked = entry();
  answer.setAttribute("aria-busy", "true");
  text.removeAttribute("aria-invalid");
  try {
    const told = await send("/ask/run", { ...asked, page: page ?? "" }, running.signal);
    answer.innerHTML = told.html;
    answer.dataset.page = told.page ?? "";
    if (told.place) mark(told.place);
    if (told.ok && !page) remember(asked);
  } catch (error) {
    if (error.name === "AbortError") return;
    const said = document.createElement("p");
    said.className = "fault";
    said.setAttribute("role", "alert");
    said.textContent = error.message;
    answer.replaceChildren(said);
  } finally {
    answer.removeAttribute("aria-busy");
  }
}

// Puts the cursor where the error is.
function mark({ line, column }) {
  const lines = text.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, own) => sum + own.length + 1, 0);
  const at = Math.min(text.value.length, before + column - 1);
  text.setAttribute("aria-invalid", "true");
  text.focus();
  text.setSelectionRange(at, Math.min(text.value.length, at + 1));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
answer.addEventListener("click", (event) => {
  if (event.target.closest("[data-next-page]")) run(answer.dataset.page);
});
field("language").addEventListener("change", adapt);

// Names that fit.

let offered = { names: [], typed: 0, at: -1 };

function close() {
  list.hidden = true;
  text.removeAttribute("aria-activedescendant");
  offered.at = -1;
}

function choose(at) {
  offered.at = at;
  [...list.children].forEach((item, number) => {
    item.setAttribute("aria-selected", String(number === at));
  });
  text.setAttribute("aria-activedescendant", at < 0 ? "" : `ask-name-${at}`);
}

function take(at) {
  const name = offered.names[at];
  const end = text.selectionStart;
  text.setRangeText(name, end - offered.typed, end, "end");
  close();
  text.focus();
}

const offer = debounce(async () => {
  const end = text.selectionStart;
  const at = [...text.value.slice(0, end)].length;
  if (!/[\w.-]$/.test(text.value.slice(0, end)) || document.activeElement !== text) return close();
  try {
    const { names, typed } = await send("/ask/names", { text: text.value, at });
    if (text.selectionStart !== end || names.length === 0) return close();
    offered = { names, typed, at: -1 };
    list.replaceChildren(
      ...names.map((name, number) => {
        const item = document.createElement("li");
        item.id = `ask-name-${number}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.textContent = name;
        return item;
      }),
    );
    list.hidden = false;
  } catch {
    close();
  }
}, 120);

list.addEventListener("mousedown", (event) => {
  event.preventDefault();
  take([...list.children].indexOf(event.target.closest("li")));
});
text.addEventListener("blur", close);
text.addEventListener("input", () => {
  text.removeAttribute("aria-invalid");
  store(DRAFT, entry());
  offer();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
    return;
  }
  if (list.hidden) return;
  const count = offered.names.length;
  const done = {
    ArrowDown: () => choose((offered.at + 1) % count),
    ArrowUp: () => choose((offered.at - 1 + count) % count),
    Tab: () => take(Math.max(0, offered.at)),
    Escape: close,
    Enter: offered.at >= 0 ? () => take(offered.at) : null,
  }[event.key];
  if (!done) return close();
  event.preventDefault();
  done();
});

// History.

function showPast() {
  const all = stored(KEPT, []);
  past.hidden = !past.hidden;
  pastButton.setAttribute("aria-expanded", String(!past.hidden));
  const items = all.map((kept) => {
    const item = document.createElement("button");
    item.type = "button";
    item.className = "past";
    const what = kept.language === "dynamodb" ? `${kept.operation} ` : "";
    item.textContent = what + kept.text;
    item.addEventListener("click", () => {
      fill(kept);
      showPast();
      text.focus();
    });
    return item;
  });
  if (items.length === 0) past.textContent = "Nothing was asked yet.";
  else past.replaceChildren(...items);
}
pastButton.addEventListener("click", showPast);

const given = new URLSearchParams(location.search);
if (given.has("text")) fill({ ...entry(), ...Object.fromEntries(given) });
else fill(stored(DRAFT, entry()));
if (given.has("run")) run();
if (given.has("text")) tell("The request is ready: Ctrl Enter runs it.");
