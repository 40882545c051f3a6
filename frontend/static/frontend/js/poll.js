// Pieces of a page that the server renders anew every few seconds: <div id="…" data-poll="/url" data-every="3">.
import { morph } from "./morph.js";

const SLOW = 5; // times slower while the server does not answer

async function renew(piece) {
  const answer = await fetch(piece.dataset.poll, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.status);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(piece.id);
  if (fresh) morph(piece, fresh);
}

function start(piece) {
  const every = 1000 * Number(piece.dataset.every);
  const again = async () => {
    let pause = every;
    if (!document.hidden) try { await renew(piece); } catch { pause = every * SLOW; }
    setTimeout(again, pause);
  };
  setTimeout(again, every);
}

document.querySelectorAll("[data-poll]").forEach(start);
