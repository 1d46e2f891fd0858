// Trades the token for a cookie.

const form = document.getElementById("sign-in");
const refusal = document.getElementById("sign-in-refusal");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  refusal.hidden = true;
  const token = new FormData(form).get("token").trim();
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) {
    location.assign("/tables");
    return;
  }
  refusal.textContent = await answer.text();
  refusal.hidden = false;
});
