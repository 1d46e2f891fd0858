// Models: checks while a model is typed, and shows proofs, pictures, plans and calls of it.

import { debounce, send, tell } from "./console.js";

const text = document.getElementById("model-text");
const state = document.getElementById("model-state");
const part = document.getElementById("model-part");
const form = document.getElementById("models");
const tabs = [...document.querySelectorAll("[role=tab]")];

const DRAFT = "shelfmark.models.text";
let chosen = "findings";
let planned = null;
let asked;

function schema() {
  return form.elements.schema.value;
}

function refuse(error) {
  const told = document.createElement("p");
  told.className = "fault";
  told.setAttribute("role", "alert");
  told.textContent = error.message;
  part.replaceChildren(told);
}

function schemas(names) {
  const select = form.elements.schema;
  const was = select.value;
  const options = [["", "all"], ...names.map((name) => [name, name])];
  select.replaceChildren(...options.map(([value, word]) => new Option(word, value)));
  select.value = names.includes(was) ? was : "";
}

async function check() {
  try {
    localStorage.setItem(DRAFT, text.value);
  } catch {
    // The draft is not kept, then.
  }
  if (text.value.trim() === "") {
    state.textContent = "Open a file, type a model, or begin with the example.";
    part.replaceChildren();
    return;
  }
  asked?.abort();
  asked = new AbortController();
  try {
    const told = await send("/models/check", { text: text.value, schema: schema() }, asked.signal);
    state.textContent = told.state;
    text.setAttribute("aria-invalid", String(!told.ok));
    if (told.schemas) schemas(told.schemas);
    if (chosen === "findings" || !told.ok) part.innerHTML = told.html;
    else await show();
  } catch (error) {
    if (error.name !== "AbortError") refuse(error);
  }
}

function pictures(drawn) {
  part.replaceChildren(
    ...drawn.map(({ title, svg }) => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      const image = document.createElement("img");
      image.alt = title;
      image.className = "picture";
      image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
      figure.append(caption, image);
      return figure;
    }),
  );
}

// Only what was asked last is shown, however the answers overtake each other.
let showing;
async function show(more = {}) {
  showing?.abort();
  if (chosen === "findings") return check();
  const own = (showing = new AbortController());
  part.setAttribute("aria-busy", "true");
  try {
    const body = { text: text.value, schema: schema(), ...more };
    const told = await send(`/models/${chosen}`, body, own.signal);
    if (told.pictures) pictures(told.pictures);
    else part.innerHTML = told.html;
    if (chosen === "plan") planned = told;
  } catch (error) {
    if (error.name === "AbortError") return;
    refuse(error);
  }
  part.removeAttribute("aria-busy");
}

function choose(tab) {
  chosen = tab.dataset.part;
  for (const own of tabs) {
    own.setAttribute("aria-selected", String(own === tab));
    own.tabIndex = own === tab ? 0 : -1;
  }
  part.setAttribute("aria-labelledby", tab.id);
  show();
}

function go(line) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, own) => sum + own.length + 1, 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const height = text.scrollHeight / Math.max(1, lines.length);
  text.scrollTop = Math.max(0, (line - 4) * height);
}

function replace(content) {
  text.value = content;
  check();
}

async function apply() {
  const field = (name) => part.querySelector(`[data-field="${name}"]`)?.value ?? "";
  const place = document.getElementById("applied");
  try {
    const told = await send("/models/apply", {
      text: text.value,
      schema: schema(),
      keyspace: field("keyspace"),
      scale: Number(field("scale")),
    });
    place.innerHTML = told.html;
  } catch (error) {
    const said = document.createElement("p");
    said.className = "fault";
    said.setAttribute("role", "alert");
    said.textContent = error.message;
    place.replaceChildren(said);
  }
}

async function remake(what) {
  try {
    const told = await send(`/models/${what}`, { text: text.value });
    replace(told.text);
  } catch (error) {
    tell(error.message.split("\n")[0]);
  }
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text.value], { type: "text/plain" }));
  link.download = "model.shelf";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const done = {
  starter: () => remake("starter"),
  format: () => remake("format"),
  save,
  apply,
  append: () => planned && replace(`${text.value.trimEnd()}\n\n${planned.schema}`),
  replace: () => planned && replace(planned.whole),
};

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-do], [data-line]");
  if (target?.dataset.line) go(Number(target.dataset.line));
  else done[target?.dataset.do]?.();
});
part.addEventListener("change", (event) => {
  if (event.target.matches("[data-target]")) show({ target: event.target.value });
});
form.addEventListener("submit", (event) => event.preventDefault());
form.elements.schema.addEventListener("change", () => show());
form.elements.file.addEventListener("change", async (event) => {
  const file = event.target.files[0];
  if (file) replace(await file.text());
});
tabs.forEach((tab, at) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    next.focus();
    choose(next);
  });
});
const typed = debounce(check, 250);
text.addEventListener("input", typed);
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) check();
});

try {
  text.value = localStorage.getItem(DRAFT) ?? "";
} catch {
  // Nothing was kept.
}
check();
