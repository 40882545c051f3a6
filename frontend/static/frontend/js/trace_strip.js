// The curve above the list and the outline beside it: where the screen is, which submission is meant, and the way there.

export function around(root) {
  const marks = new Map(); // event → what the submission came to
  let current = 0;

  const byId = (id) => document.getElementById(id);
  const strip = () => root.querySelector(".strip");

  async function load(url) {
    const answer = await fetch(url);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["tr-strip", "tr-out"]) byId(id).replaceWith(document.adoptNode(page.getElementById(id)));
    marks.clear();
    root.querySelectorAll("#tr-strip a[data-seq]").forEach((one) => marks.set(Number(one.dataset.seq), one.getAttribute("aria-label")));
    root.querySelectorAll("#tr-out [data-label]").forEach((one) => marks.set(Number(one.dataset.seq), one.dataset.label));
  }

  // Per cent of the width at which a row stands.
  function x(row) {
    const { by, end } = strip().dataset, value = by === "time" ? row.dataset.t : row.dataset.seq;
    return value === undefined ? null : Math.min(100, Math.max(0, (100 * Number(value)) / Number(end)));
  }

  function showWindow(rows) {
    if (!strip() || !rows.length) return;
    const places = rows.map(x).filter((one) => one !== null);
    if (!places.length) return;
    const left = Math.min(...places), right = Math.max(...places), area = byId("tr-window");
    area.setAttribute("x", `${left}%`);
    area.setAttribute("width", `${Math.max(0.2, right - left)}%`);
  }

  function showCurrent(row) {
    current = Number(row.dataset.seq);
    if (strip()) {
      const place = x(row), cursor = byId("tr-cursor"), ring = byId("tr-sel");
      for (const name of ["x1", "x2"]) cursor.setAttribute(name, `${place ?? 0}%`);
      const mark = root.querySelector(`#tr-strip a[data-seq="${current}"] use`);
      cursor.classList.toggle("on", place !== null);
      ring.classList.toggle("on", mark !== null);
      if (mark) { ring.setAttribute("cx", mark.getAttribute("x")); ring.setAttribute("cy", mark.getAttribute("y")); }
    }
    showOutline();
  }

  function showOutline() {
    const phases = [...root.querySelectorAll(".outline > li")];
    const here = phases.findLast((one) => Number(one.dataset.seq) <= current) ?? phases[0];
    phases.forEach((one) => one.classList.toggle("cur", one === here));
    root.querySelectorAll(".osub a").forEach((one) => { if (Number(one.dataset.seq) === current) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current"); });
  }

  // A click beside the marks: the moment there, as a person would write it.
  function wordsAt(event) {
    const plane = event.target.closest?.(".plane");
    if (!plane || event.target.closest("a")) return null;
    const { left, width } = plane.getBoundingClientRect(), { by, end } = strip().dataset;
    const value = Math.floor(Math.min(1, Math.max(0, (event.clientX - left) / width)) * Number(end));
    const two = (number) => String(number).padStart(2, "0");
    return by === "time" ? `${Math.floor(value / 3600)}:${two(Math.floor((value % 3600) / 60))}:${two(value % 60)}` : String(Math.max(1, value));
  }

  return { load, marks, showWindow, showCurrent, wordsAt };
}
