// Follows a check: the page is renewed until the server says that it is over.
import { morph } from "./morph.js";

const SLOW = 5; // times slower while the server does not answer
const page = document.getElementById("bundle");

async function renew() {
  const answer = await fetch(page.dataset.live, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.status);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("bundle");
  if (fresh) morph(page, fresh);
}

async function follow() {
  if (!page?.dataset.live) return;
  let pause = 1000 * Number(page.dataset.every);
  if (!document.hidden) try { await renew(); } catch { pause *= SLOW; }
  setTimeout(follow, pause);
}

follow();
