// Rows: shown while a key is typed; opened, copied, changed and deleted in a dialog.

import { copy, debounce, read, send, tell } from "./console.js";

const part = document.getElementById("rows");
const form = document.querySelector("[data-keys]");

// The rows for a key, as it is typed.

let asked;
async function show() {
  asked?.abort();
  asked = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...fields]) {
    if (value === "") fields.delete(name);
  }
  const query = fields.toString();
  try {
    const answer = await fetch(`${part.dataset.part}?${query}`, { signal: asked.signal });
    part.innerHTML = await read(answer);
    const target = form.getAttribute("action");
    history.replaceState(null, "", query ? `${target}?${query}` : target);
  } catch (error) {
    if (error.name !== "AbortError") tell(error.message);
  }
}

if (part && form) {
  form.addEventListener("input", debounce(show, 40));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
}

// One row.

const dialog = document.getElementById("row");
const title = document.getElementById("row-title");
const shown = document.getElementById("row-form");
const edit = document.getElementById("row-edit");
const text = document.getElementById("row-text");
const effects = document.getElementById("row-effects");
const opened = { key: null, forms: null, form: "document", adding: false };

function button(name) {
  return dialog.querySelector(`[data-do="${name}"]`);
}

function choose(form) {
  opened.form = form;
  for (const tab of dialog.querySelectorAll("[role=tab]")) {
    const isChosen = tab.dataset.form === form;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  shown.setAttribute("aria-labelledby", `tab-${form}`);
  shown.firstElementChild.textContent = opened.forms?.[form] ?? "";
}

function editing(isEditing) {
  edit.hidden = !isEditing;
  shown.hidden = isEditing;
  dialog.querySelector("[role=tablist]").hidden = isEditing;
  button("save").hidden = !isEditing;
  for (const name of ["copy", "edit", "duplicate", "delete"]) {
    button(name).hidden = isEditing || (name !== "copy" && !opened.forms?.writable);
  }
  effects.replaceChildren();
}

async function open(key) {
  try {
    opened.key = key;
    opened.forms = await send(`${part.dataset.act}/forms`, { key });
    opened.adding = false;
    title.textContent = "Row";
    choose("document");
    editing(false);
    if (!dialog.open) dialog.showModal();
  } catch (error) {
    tell(error.message);
  }
}

function write(content, adding) {
  opened.adding = adding;
  title.textContent = adding ? "New row" : "Edit the row";
  text.value = content;
  editing(true);
  if (!dialog.open) dialog.showModal();
  text.focus();
  foresee();
}

function refuse(error) {
  const told = document.createElement("p");
  told.className = "fault";
  told.setAttribute("role", "alert");
  told.textContent = error.message;
  effects.replaceChildren(told);
}

// What saving would do, told while the text is edited.
const foresee = debounce(async () => {
  if (edit.hidden) return;
  const was = opened.adding ? "" : opened.forms?.document ?? "";
  try {
    effects.innerHTML = await send(`${part.dataset.act}/effects`, { text: text.value, was });
  } catch (error) {
    refuse(error);
  }
}, 150);

async function save() {
  const was = opened.adding ? "" : opened.forms.document;
  try {
    await send(`${part.dataset.act}/put`, { text: text.value, was });
    dialog.close();
    tell(opened.adding ? "Added." : "Saved.");
    await show();
  } catch (error) {
    refuse(error);
  }
}

async function remove() {
  const was = opened.forms.document;
  const sure = button("delete");
  if (sure.dataset.sure !== "yes") {
    effects.innerHTML = await send(`${part.dataset.act}/effects`, { text: "", was });
    sure.dataset.sure = "yes";
    sure.textContent = "Delete it";
    return;
  }
  try {
    await send(`${part.dataset.act}/delete`, { key: opened.key, was });
    dialog.close();
    tell("Deleted.");
    await show();
  } catch (error) {
    refuse(error);
  }
}

function calm() {
  const sure = button("delete");
  delete sure.dataset.sure;
  sure.textContent = "Delete";
}

if (dialog) {
  part.addEventListener("click", (event) => {
    const row = event.target.closest("button.open")?.closest("tr");
    if (row) open(JSON.parse(row.dataset.row));
  });
  document.querySelector("[data-add]")?.addEventListener("click", () => {
    opened.forms = { writable: true };
    write("{\n  \n}", true);
  });
  dialog.addEventListener("close", calm);
  text.addEventListener("input", foresee);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !edit.hidden) save();
    const tabs = [...dialog.querySelectorAll("[role=tab]")];
    const at = tabs.indexOf(event.target);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at >= 0 && step) {
      const next = tabs[(at + step + tabs.length) % tabs.length];
      choose(next.dataset.form);
      next.focus();
    }
  });
  dialog.addEventListener("click", (event) => {
    const form = event.target.dataset.form;
    if (form) choose(form);
    const done = {
      copy: () => copy(opened.forms[opened.form]),
      edit: () => write(opened.forms.document, false),
      duplicate: () => write(opened.forms.document, true),
      delete: remove,
      save,
      close: () => dialog.close(),
    }[event.target.dataset.do];
    done?.();
  });
}
