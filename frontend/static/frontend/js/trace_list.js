// The list of events: a window of rows between two empty spaces that stand for all the others. Rows come and go with the
// scroll position, so that the page never has more than BUDGET elements, and the space is capped, so that the browser's
// own limit on heights is never met. What is on the screen stays where it is while rows come and go around it.

const BUDGET = 960, HIGH = 46, HIGHEST = 6e6; // elements; pixels of a row, and of all rows together
const AHEAD = 250, KEEP = 350; // pixels beyond the screen that are loaded, and kept

export const elements = () => document.getElementsByTagName("*").length;

export function list({ box, above, rows, below, onRows, onScroll, onError }) {
  let source = null, before = false, after = false, busy = false, waiting = null, generation = 0;

  const all = () => rows.children;
  const seqOf = (row) => Number(row.dataset.seq);
  const first = () => rows.firstElementChild, last = () => rows.lastElementChild;
  const row = (seq) => document.getElementById(`e${seq}`);
  const parsed = (html) => [...new DOMParser().parseFromString(`<ol>${html}</ol>`, "text/html").querySelectorAll("li.ev")].map((one) => document.adoptNode(one));

  function anchor() {
    const top = box.getBoundingClientRect().top;
    return [...all()].find((one) => one.getBoundingClientRect().bottom > top) ?? last();
  }

  function steadily(change) {
    const held = anchor(), place = held?.getBoundingClientRect().top;
    change();
    if (held?.isConnected) box.scrollTop += held.getBoundingClientRect().top - place;
  }

  function spaces() {
    const high = Math.min(source.size() * HIGH, HIGHEST), some = (is, fraction) => (is ? Math.max(HIGH * 8, fraction * high) : 0);
    above.style.height = `${first() ? some(before, source.fraction(seqOf(first()))) : 0}px`;
    below.style.height = `${last() ? some(after, 1 - source.fraction(seqOf(last()) + 1)) : 0}px`;
  }

  // Away with rows at the far end, as long as there are too many elements and they are well off the screen.
  function prune(forward) {
    const screen = box.getBoundingClientRect();
    let left = elements() - BUDGET;
    for (const end of [forward, !forward]) {
      while (left > 0 && all().length > 2) {
        const one = end ? first() : last(), { top, bottom } = one.getBoundingClientRect();
        if (end ? bottom > screen.top - KEEP : top < screen.bottom + KEEP) break;
        left -= one.getElementsByTagName("*").length + 1;
        one.remove();
        if (end) before = true; else after = true;
      }
    }
  }

  function renew(html) {
    for (const fresh of parsed(html)) {
      const old = row(seqOf(fresh));
      if (old && !old.querySelector("details[open]")) { old.replaceWith(fresh); onRows([fresh]); }
    }
  }

  async function guarded(work) {
    busy = true;
    const mine = generation;
    try { await work(() => mine === generation); } catch (error) { onError(error); } finally { if (mine === generation) busy = false; }
  }

  const extend = (forward, more) => guarded(async (current) => {
    const edge = forward ? last() : first();
    const told = forward ? await source.after(edge ? seqOf(edge) : 0, more) : await source.before(seqOf(edge));
    if (!current()) return;
    const fresh = parsed(told.html).filter((one) => !row(seqOf(one)));
    steadily(() => {
      if (forward) { rows.append(...fresh); after = told.after; } else { rows.prepend(...fresh); before = told.before; }
      renew(told.renewed ?? "");
      onRows(fresh);
      prune(forward);
      spaces();
    });
    return told;
  });

  const fill = (seq, place) => {
    generation += 1;
    return guarded(async (current) => {
      const told = await source.around(seq);
      if (!current()) return;
      const fresh = parsed(told.html);
      rows.replaceChildren(...fresh);
      before = told.before;
      after = told.after;
      if (told.outside) row(told.outside)?.classList.add("outside");
      spaces();
      onRows(fresh);
      const held = row(seq) ?? fresh.find((one) => seqOf(one) >= seq) ?? last();
      if (held) box.scrollTop += held.getBoundingClientRect().top - box.getBoundingClientRect().top - place;
    });
  };

  // One look a frame: is there anything to load where the screen is now?
  async function look() {
    waiting = null;
    onScroll();
    if (busy || !source || !first()) return;
    const screen = box.getBoundingClientRect(), top = first().getBoundingClientRect().top - screen.top, bottom = last().getBoundingClientRect().bottom - screen.top;
    const high = box.clientHeight;
    if ((before && top > high) || (after && bottom < 0)) {
      const fraction = box.scrollTop / Math.max(1, box.scrollHeight - high);
      await fill(source.at(fraction), high / 3);
    } else if (after && bottom < high + AHEAD) await extend(true);
    else if (before && top > -AHEAD) await extend(false);
    else return;
    soon();
  }

  const soon = () => { waiting ??= requestAnimationFrame(look); };
  box.addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);

  return {
    row, seqOf, soon,
    rows: () => [...all()],
    start(from, state) { source = from; before = state.before; after = state.after; spaces(); onRows(this.rows()); soon(); },
    use(from) { source = from; },
    trim() { steadily(() => { prune(true); spaces(); }); soon(); }, // rows have grown
    fill: async (seq, place = 0) => { await fill(seq, place); soon(); },
    extend: (forward, more) => extend(forward, more),
    visible() { const { top, bottom } = box.getBoundingClientRect(); return [...all()].filter((one) => { const at = one.getBoundingClientRect(); return at.bottom > top + 4 && at.top < bottom - 4; }); },
    atEnd: () => !after && box.scrollHeight - box.scrollTop - box.clientHeight < 48,
    toEnd() { box.scrollTop = box.scrollHeight; },
    grown(is) { after ||= is; spaces(); },
    ends: () => ({ before, after }),
    isBusy: () => busy,
    show(one, gently) {
      const at = one.getBoundingClientRect(), screen = box.getBoundingClientRect(), edge = gently ? 8 : screen.height / 4;
      if (at.top < screen.top + 4) box.scrollTop += at.top - screen.top - Math.min(edge, screen.height / 4);
      else if (at.bottom > screen.bottom - 4) box.scrollTop += gently ? Math.min(at.bottom - screen.bottom + edge, at.top - screen.top) : at.top - screen.top - edge;
    },
  };
}
