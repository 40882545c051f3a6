// The trace explorer. Others hook into it by events on #trace: trace:select, trace:note {first, last, seq} and
// trace:type {type, first, last, seq} bubble from the selection; `type` is the digit that was pressed.
import { around } from "./trace_strip.js";
import { folding, unfold, unfoldRaw } from "./trace_fold.js";
import { keyboard } from "./trace_keys.js";
import { list as makeList } from "./trace_list.js";
import { live } from "./trace_live.js";
import { count, events, find, matches } from "./trace_source.js";
import { excerpt, highlight } from "./trace_words.js";

const root = document.getElementById("trace");
const byId = (id) => document.getElementById(id);
const form = byId("tr-bar"), box = byId("tr-list"), problem = byId("tr-problem"), tally = byId("tr-count");
const NARROW = matchMedia("(width < 48rem)");
const strip = around(root);
let source = null, current = 0, held = 0, total = Number(root.dataset.events), matching = null;

const number = (value) => value.toLocaleString("en");
const words = () => form.elements.q.value.trim();
const kinds = () => [...form.querySelectorAll("[name=kind]:checked")].map((one) => one.value);

// The filters as a query; the transcript is always named to the server, in links only where there are several. So is the
// task of a run with several.
function query({ link = false } = {}) {
  const asked = new URLSearchParams();
  if (!link || Number(root.dataset.several) > 1) asked.set("trace", root.dataset.trace);
  if (root.dataset.task) asked.set("task", root.dataset.task);
  if (words()) asked.set("q", words());
  kinds().forEach((kind) => asked.append("kind", kind));
  return asked;
}

const list = makeList({
  box, above: byId("tr-above"), rows: byId("tr-events"), below: byId("tr-below"),
  onRows(rows) {
    rows.forEach(dress);
    highlight(list.rows(), words());
    strip.showWindow(list.visible());
  },
  onScroll() { strip.showWindow(list.visible()); follower.say(); },
  onError(error) { complain(error.message); },
});

function dress(row) {
  const seq = list.seqOf(row), told = strip.marks.get(seq);
  row.classList.toggle("cur", seq === current);
  if (told && !row.querySelector(".sub-mark")) {
    const mark = document.createElement("p");
    mark.className = "sub-mark";
    mark.textContent = told;
    row.querySelector(".what").append(mark);
  }
  if (source?.words) excerpt(row, source.words, source.excerpt(seq));
  paint(row);
}

function paint(row) {
  const seq = list.seqOf(row), [low, high] = span();
  row.classList.toggle("in-span", low !== high && seq >= low && seq <= high);
}

const span = () => [Math.min(held, current), Math.max(held, current)];

function complain(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

function select(row, { extend = false, gently = false, focus = true } = {}) {
  current = list.seqOf(row);
  if (!extend || !held) held = current;
  list.rows().forEach((one) => { one.classList.toggle("cur", one === row); paint(one); });
  list.show(row, gently);
  const { top, bottom } = row.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) scrollBy({ top: (NARROW.matches ? box : root).getBoundingClientRect().top, behavior: "instant" });
  row.querySelector(".what").append(tools);
  if (focus) row.focus({ preventScroll: true });
  strip.showCurrent(row);
  say();
  const [first, last] = span();
  root.dispatchEvent(new CustomEvent("trace:select", { bubbles: true, detail: { first, last, seq: current, trace: root.dataset.trace } }));
}

async function go(seq, { focus = true } = {}) {
  complain("");
  if (!list.row(seq)) await list.fill(seq, box.clientHeight / 4);
  const row = list.row(seq) ?? list.rows().find((one) => list.seqOf(one) >= seq);
  if (row) select(row, { focus });
}

async function goTo(text) {
  try { await go((await find(query(), text)).seq); } catch (error) { complain(error.message); }
}

async function step(by, extend) {
  const rows = list.rows();
  if (!rows.length) return;
  const at = rows.findIndex((one) => list.seqOf(one) === current);
  if (at < 0) { select(list.visible()[0] ?? rows[0], { extend }); return; }
  if (!rows[at + by]) { if (!(by > 0 ? list.ends().after : list.ends().before) || list.isBusy()) return; await list.extend(by > 0); }
  const next = list.rows()[list.rows().indexOf(rows[at]) + by];
  if (next) select(next, { extend, gently: true });
}

// Filters and search: a new source, the list around where the reader was.
async function refilter() {
  complain("");
  const here = current || (list.visible()[0] ? list.seqOf(list.visible()[0]) : 1);
  history.replaceState(null, "", `?${query({ link: true })}`);
  const fresh = words() ? matches(query(), words()) : events(query(), total);
  source = fresh;
  matching = null;
  list.use(fresh);
  if (words()) {
    try { await fresh.find(); } catch (error) { complain(error.message); return; }
    if (fresh !== source) return;
    await list.fill(fresh.at(0), 0);
    box.scrollTop = 0;
  } else await list.fill(here, box.clientHeight / 4);
  if (fresh === source) await tell();
}

async function tell() {
  const fresh = source;
  say();
  if (fresh.words) {
    while (fresh === source && fresh.rest() && fresh.size() < 20000) { await fresh.find(); say(); }
    list.soon();
  } else {
    const told = await count(query());
    if (fresh === source) matching = told.count;
  }
  say();
}

function say() {
  const found = source?.words !== undefined;
  for (const id of ["tr-prev", "tr-next"]) byId(id).hidden = !found;
  if (found) {
    const rank = source.rank(current), size = `${number(source.size())}${source.rest() ? "+" : ""}`;
    tally.textContent = source.size() || source.rest() ? `${rank ? `match ${number(rank)} of ${size}` : `${size} match${source.size() === 1 ? "" : "es"}`} in ${number(total)} events` : `no match in ${number(total)} events`;
  } else tally.textContent = kinds().length && matching !== null ? `${number(matching)} of ${number(total)} events` : `${number(total)} events`;
}

function link(row) {
  const url = new URL(row.querySelector(".gut a").getAttribute("href"), location.href), all = query({ link: true });
  all.delete("trace");
  for (const [name, value] of all) url.searchParams.append(name, value);
  return url;
}

function announce(name, detail) {
  if (!current && list.visible()[0]) select(list.visible()[0], { focus: false });
  const [first, last] = span();
  root.dispatchEvent(new CustomEvent(name, { bubbles: true, detail: { first, last, seq: current, trace: root.dataset.trace, ...detail } }));
}

const row = () => list.row(current);
const raw = (one) => unfoldRaw(one, `${root.dataset.trace}/${list.seqOf(one)}/`);

async function copy(one) {
  history.replaceState(null, "", link(one));
  try { await navigator.clipboard.writeText(location.href); } catch { /* the address bar has it */ }
}

// What can be done with the selected event, for those without a keyboard.
const tools = document.createElement("p");
tools.className = "tools";
for (const [name, act] of [["Raw record", raw], ["Copy link", copy]]) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn quiet";
  button.textContent = name;
  button.addEventListener("click", () => row() && act(row()));
  tools.append(button);
}
const end = (first) => (source.words ? go(source.at(first ? 0 : 1)) : go(first ? 1 : total));
keyboard({
  j: () => step(1), k: () => step(-1), J: () => step(1, true), K: () => step(-1, true),
  "]": () => step(1), "[": () => step(-1), g: () => end(true), G: () => end(false),
  e: () => row() && unfold(row()), Enter: () => row() && unfold(row()), r: () => row() && raw(row()),
  "/": () => { form.elements.q.focus(); form.elements.q.select(); },
  t: () => { form.elements.to.focus(); form.elements.to.select(); },
  o: () => (byId("tr-out").querySelector(".cur a, a") ?? byId("tr-out")).focus(),
  c: () => row() && copy(row()),
  n: () => announce("trace:note", {}),
  digit: ({ key }) => announce("trace:type", { type: Number(key) }),
  "?": () => byId("tr-keys").showModal(),
  Escape: () => { held = current; list.rows().forEach(paint); complain(""); },
});

byId("tr-events").addEventListener("click", (event) => {
  const one = event.target.closest("li.ev"), permalink = event.target.closest(".gut a");
  if (!one || event.ctrlKey || event.metaKey) return;
  if (permalink) { event.preventDefault(); history.replaceState(null, "", link(one)); }
  if (permalink || !event.target.closest("a, summary, pre, button") || event.shiftKey) select(one, { extend: event.shiftKey, gently: true });
});

root.addEventListener("click", (event) => {
  const place = event.target.closest("#tr-strip a[data-seq], #tr-out a[data-seq]");
  if (place && !event.ctrlKey && !event.metaKey) { event.preventDefault(); go(Number(place.dataset.seq)); return; }
  const moment = strip.wordsAt(event);
  if (moment) goTo(moment);
});

let typing = null;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  if (document.activeElement === form.elements.to && form.elements.to.value.trim()) goTo(form.elements.to.value);
  else refilter();
});
form.addEventListener("input", ({ target }) => {
  clearTimeout(typing);
  if (target.name === "q") typing = setTimeout(refilter, 150);
});
form.addEventListener("change", ({ target }) => { if (target.name === "kind") refilter(); });
form.elements.q.addEventListener("search", () => { clearTimeout(typing); refilter(); });
byId("tr-prev").addEventListener("click", () => step(-1));
byId("tr-next").addEventListener("click", () => step(1));
folding(byId("tr-events"), () => { highlight(list.rows(), words()); list.trim(); });

const follower = live({
  root, list, source: () => source, button: byId("tr-new"),
  async ask() {
    const told = await count(new URLSearchParams({ trace: root.dataset.trace }));
    return { events: told.events, reading: told.reading };
  },
  onGrown(size) { total = size; root.dataset.events = size; say(); outline(); },
});

// At most one fresh outline every few seconds: a growing trace asks often.
let outlined = 0, pending = null;
function outline() {
  pending ??= setTimeout(async () => {
    pending = null;
    outlined = Date.now();
    await strip.load(`outline/?${query()}`);
    list.rows().forEach(dress);
    if (row()) strip.showCurrent(row());
    strip.showWindow(list.visible());
    list.soon();
  }, Math.max(0, outlined + 5000 - Date.now()));
}

function begin() {
  source = words() ? matches(query(), words()) : events(query(), total);
  list.start(source, { before: root.dataset.before === "1", after: root.dataset.after === "1" });
  const target = Number(root.dataset.target ?? 0);
  if (target && list.row(target)) {
    if (root.dataset.outside) list.row(target).classList.add("outside");
    select(list.row(target));
    if (form.elements.to.value) history.replaceState(null, "", `?${query({ link: true })}`);
  } else if (root.dataset.reading) list.toEnd();
  if (words() && !target) refilter(); else if (words() || kinds().length) tell().catch(({ message }) => complain(message)); else say();
  outline();
}
begin();
