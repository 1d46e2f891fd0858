// Watch: opens a model to compare requests with, and shows the report as it changes.

import { send } from "./console.js";

const form = document.getElementById("watch");
const part = document.getElementById("watch-part");
const refusal = document.getElementById("watch-refusal");

function refuse(message) {
  refusal.textContent = message;
  refusal.hidden = message === "";
}

// What somebody reads or has opened is not taken away under them.
function isRead() {
  const selected = String(document.getSelection() ?? "") !== "";
  return selected || part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}

async function act(what, body = {}) {
  try {
    const told = await send(`/watch/${what}`, body);
    part.innerHTML = told.html;
    refuse("");
  } catch (error) {
    refuse(error.message);
  }
}

form.elements.file.addEventListener("change", async () => {
  const file = form.elements.file.files[0];
  if (!file) return;
  part.setAttribute("aria-busy", "true");
  await act("open", { name: file.name, text: await file.text(), schema: form.elements.schema.value });
  part.removeAttribute("aria-busy");
  // The same file can be chosen again once it has changed.
  form.elements.file.value = "";
});

form.addEventListener("submit", (event) => event.preventDefault());

for (const button of form.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => act(button.dataset.do));
}

setInterval(async () => {
  if (document.hidden || isRead()) return;
  try {
    const answer = await fetch("/watch/part");
    if (answer.ok) part.innerHTML = (await answer.json()).html;
  } catch {
    // The server is away; the next look tells.
  }
}, Number(part.dataset.every));
