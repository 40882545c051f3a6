// The cost of what the form holds, told anew whenever a field changes. Without this script the button does it.
import { morph } from "./morph.js";

const form = document.getElementById("start");
let asked = 0;

async function tell() {
  const mine = ++asked;
  const fields = new FormData(form);
  fields.delete("csrfmiddlewaretoken");
  const answer = await fetch(`${form.dataset.cost}?${new URLSearchParams(fields)}`, { headers: { Accept: "text/html" } });
  if (!answer.ok || mine !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("cost");
  if (fresh) morph(document.getElementById("cost"), fresh);
}

form.addEventListener("change", () => { tell().catch(() => {}); });
tell().catch(() => {});
