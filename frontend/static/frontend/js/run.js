// The page of one run, kept up to date: events ask for a fresh rendering of the page and, when they move it, the curve.
import { chart } from "./chart.js";
import { follow } from "./live.js";
import { morphChildren } from "./morph.js";

const CURVE_KINDS = new Set(["submission", "run.baseline", "run.state", "tokens"]);
const CURVE_WAIT = 100, CURVE_EVERY = 15000; // ms
const NAMES = { live: "live", ended: "ended", reconnecting: "reconnecting", lost: "not connected" };
const MARKS = { live: "running", ended: "finished", reconnecting: "preparing", lost: "failed" };

const root = document.getElementById("run");
const byId = (id) => document.getElementById(id);
const curve = byId("curve") ? chart(byId("curve")) : null; // tabs without a curve follow their tables alone
let ahead = 0, lastAt = Date.parse(root.dataset.last ?? "") || null, status = "", shown = "", drawing = null;

const clock = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds)), hours = Math.floor(whole / 3600);
  const two = (value) => String(value).padStart(2, "0");
  const minutes = Math.floor((whole % 3600) / 60);
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
};

// One rendering at a time; what arrives meanwhile asks for exactly one more.
const refresh = (() => {
  let busy = false, again = false;
  return async () => {
    if (busy) { again = true; return; }
    busy = true;
    do {
      again = false;
      try {
        const answer = await fetch(root.dataset.fragment + location.search);
        if (answer.ok) {
          const page = new DOMParser().parseFromString(`<div>${await answer.text()}</div>`, "text/html");
          morphChildren(root, page.body.firstChild);
        }
      } catch { /* the connection is gone; its return brings new events */ }
    } while (again);
    busy = false;
    tick();
  };
})();

function redraw() {
  if (!curve) return;
  clearTimeout(drawing);
  drawing = setTimeout(() => curve.load(), CURVE_WAIT);
}

function onEvents(events, seq) {
  lastAt = Date.parse(events.at(-1).at);
  root.dataset.seq = seq;
  root.dataset.received = Number(root.dataset.received ?? 0) + events.length;
  refresh();
  if (events.some(({ kind }) => CURVE_KINDS.has(kind))) redraw();
}

function onLog({ size, tail }) {
  const place = byId("log");
  if (!place) return;
  const atEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 24;
  place.replaceChildren(...tail.map(([name, text]) => {
    if (!name) return document.createTextNode(text);
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    return span;
  }));
  const shown = place.textContent.length;
  byId("log-note").textContent = size > shown ? `the last ${shown.toLocaleString("en")} of ${size.toLocaleString("en")} characters` : `${size.toLocaleString("en")} characters`;
  if (atEnd) place.scrollTop = place.scrollHeight;
}

const ago = (seconds) => (seconds < 90 ? `${Math.max(0, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);

// Only a change of state touches the text that a screen reader speaks.
function showStatus() {
  const now = status === "live" && byId("head").dataset.terminal ? "ended" : status;
  if (!now || now === shown) return;
  shown = now;
  const mark = document.createElement("span"), note = document.createElement("span");
  mark.className = `state ${MARKS[now]}`;
  mark.textContent = NAMES[now];
  note.id = "live-note";
  note.ariaHidden = "true";
  byId("live").replaceChildren(mark, " ", note);
}

function tick() {
  showStatus();
  const now = Date.now() + ahead, left = byId("left"), note = byId("live-note");
  if (left) {
    const seconds = (Date.parse(left.dataset.deadline) - now) / 1000;
    left.textContent = clock(seconds);
    byId("used").value = Number(left.dataset.budget) - Math.max(0, seconds);
  }
  if (note) note.textContent = shown === "live" && lastAt ? `last event ${ago((now - lastAt) / 1000)} ago` : "";
}

if (byId("log")) byId("log").scrollTop = byId("log").scrollHeight;
curve?.load();
setInterval(tick, 1000);
setInterval(() => { if (byId("left") && !document.hidden) redraw(); }, CURVE_EVERY);
follow({
  slug: root.dataset.slug,
  after: Number(root.dataset.seq),
  onEvents,
  onLog,
  onStatus: (now) => { status = now; tick(); },
  onNow: (now) => { ahead = now - Date.now(); },
});
