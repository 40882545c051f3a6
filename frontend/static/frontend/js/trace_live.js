// A trace that still grows: the list follows while its end is on the screen, else it says how much is new.

const EVERY = 2000, SLOW = 10000; // ms

export function live({ root, list, source, button, ask, onGrown }) {
  let seen = Number(root.dataset.events), shown = seen;

  async function look() {
    const told = await ask();
    if (told.events > seen) {
      source().grow(told.events);
      source().again?.();
      if (list.atEnd()) await follow();
      else list.grown(true);
      seen = told.events;
      onGrown(told.events);
    }
    say();
    return told.reading;
  }

  async function follow() {
    await list.extend(true, { seen });
    list.toEnd();
    shown = source().size();
    for (let more = 0; list.ends().after && more < 4; more += 1) { await list.extend(true); list.toEnd(); }
  }

  function say() {
    if (list.atEnd()) shown = seen;
    const fresh = seen - shown;
    button.hidden = fresh <= 0;
    button.textContent = `${fresh.toLocaleString("en")} new event${fresh === 1 ? "" : "s"} ↓`;
  }

  async function again() {
    let pause = EVERY, reading = true;
    if (!document.hidden) try { reading = await look(); } catch { pause = SLOW; }
    if (reading) setTimeout(again, pause); else root.removeAttribute("data-reading");
  }

  button.addEventListener("click", async () => { await list.fill(seen, 0); list.toEnd(); shown = seen; say(); });
  if (root.dataset.reading) setTimeout(again, EVERY);
  return { say };
}
