// Draws a figure that the server made. Its colours are names of CSS tokens ("token:--accent"); the theme decides.
/* global Plotly */

const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };
const NARROW = matchMedia("(width < 48rem)"); // no room for labels beside the marks

function resolver() {
  const probe = document.createElement("span"), known = new Map();
  probe.hidden = true;
  document.body.append(probe);
  const look = (name) => {
    if (name === "--sans") return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const resolve = (name) => { if (!known.has(name)) known.set(name, look(name)); return known.get(name); };
  return { resolve, done: () => probe.remove() };
}

function coloured(value, resolve) {
  if (typeof value === "string") return value.startsWith("token:") ? resolve(value.slice(6)) : value;
  if (Array.isArray(value)) return value.map((item) => coloured(item, resolve));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, resolve)]));
  return value;
}

// To a submission's row, on the page that lists them all where this one does not.
function go(place, row) {
  if (document.getElementById(row) || !place.dataset.rows) location.hash = row;
  else location.assign(`${place.dataset.rows}#${row}`);
}

export function chart(place) {
  let figure = null, listening = false;

  async function draw() {
    if (!figure) return;
    const { resolve, done } = resolver();
    const { data, layout, narrow } = coloured(figure, resolve);
    done();
    const shown = data.map(({ narrow: own, ...trace }) => (NARROW.matches ? { ...trace, mode: trace.mode?.replace("+text", ""), ...own } : trace));
    await Plotly.react(place, shown, { ...layout, ...(NARROW.matches ? narrow : {}), autosize: true }, CONFIG);
    if (!listening) place.on("plotly_click", ({ points }) => { const row = points[0]?.customdata; if (typeof row === "number") go(place, `s${row}`); else if (row) location.assign(row); });
    listening = true;
  }

  async function load() {
    try {
      const answer = await fetch(place.dataset.src);
      if (!answer.ok) return;
      figure = await answer.json();
    } catch { return; } // the server is away; what it says on its return asks again
    await draw();
  }

  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  NARROW.addEventListener("change", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return { load };
}
