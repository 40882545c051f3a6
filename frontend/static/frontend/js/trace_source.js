// Where rows come from: the server's pages of events in order, or the events that a search has found.
// Both speak of events by number, and say where in the whole an event lies (0 to 1), which is what the scroll bar shows.

const STEP = 12; // rows asked for at once

async function json(url) {
  const answer = await fetch(url, { headers: { Accept: "application/json" } });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error ?? `The server answered ${answer.status}.`);
  return told;
}

const asking = (path, query, more) => { const all = new URLSearchParams(query); for (const [name, value] of Object.entries(more)) all.set(name, value); return json(`${path}?${all}`); };

export function events(query, count) {
  let total = count;
  const ask = async (where) => { const told = await asking("rows.json", query, where); total = told.events; return told; };
  return {
    after: (seq, more = {}) => ask({ after: seq, ...more }),
    before: (seq) => ask({ before: seq }),
    around: (seq) => ask({ around: seq }),
    size: () => total,
    grow: (size) => { total = size; },
    fraction: (seq) => (seq - 1) / Math.max(1, total),
    at: (fraction) => 1 + Math.round(fraction * Math.max(0, total - 1)),
    excerpt: () => "",
  };
}

export function matches(query, words) {
  const seqs = [], excerpts = new Map();
  let through = 0, more = true, busy = null;
  const search = async () => {
    const told = await asking("search.json", query, { after: through });
    for (const [seq, excerpt] of told.hits) if (!excerpts.has(seq)) { excerpts.set(seq, excerpt); seqs.push(seq); }
    seqs.sort((a, b) => a - b); // a result's call may lie before a match that was found earlier
    more = told.more && told.through > through;
    through = Math.max(through, told.through);
  };
  const find = () => (busy ??= search().finally(() => { busy = null; }));
  const place = (seq) => { let low = 0, high = seqs.length; while (low < high) { const middle = (low + high) >> 1; if (seqs[middle] < seq) low = middle + 1; else high = middle; } return low; };
  const rows = async (from, to, extra) => {
    const wanted = seqs.slice(Math.max(0, from), to);
    const outside = extra && !wanted.includes(extra) ? extra : null;
    if (outside) { wanted.push(outside); wanted.sort((a, b) => a - b); }
    const told = wanted.length ? await asking("rows.json", query, { seqs: wanted.join(",") }) : { html: "" };
    return { ...told, renewed: "", outside, before: from > 0, after: to < seqs.length || more };
  };
  return {
    words,
    find, rest: () => more, through: () => through,
    again: () => { more = true; }, // the trace has grown
    async after(seq) {
      const from = place(seq + 1);
      while (more && seqs.length < from + STEP) await find();
      return rows(from, from + STEP);
    },
    before: (seq) => rows(place(seq) - STEP, place(seq)),
    async around(seq) {
      while (more && through < seq) await find();
      return rows(place(seq) - STEP / 3, place(seq) + STEP, seq);
    },
    size: () => seqs.length,
    grow() {},
    rank: (seq) => (excerpts.has(seq) ? place(seq) + 1 : 0),
    fraction: (seq) => place(seq) / Math.max(1, seqs.length),
    at: (fraction) => seqs[Math.min(seqs.length - 1, Math.round(fraction * seqs.length))] ?? 1,
    excerpt: (seq) => excerpts.get(seq) ?? "",
  };
}

export const count = (query) => json(`search.json?${query}`);
export const find = (query, words) => asking("place.json", query, { to: words });
