// What unfolds below a row: the whole event, a piece at a time, fetched when it is first asked for.

async function put(details, url) {
  const answer = await fetch(url).catch(() => null);
  const told = document.createElement("div");
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return place(details, document.adoptNode(page.querySelector(".full")));
  }
  told.className = "full note";
  told.textContent = answer ? await answer.text() : "The server does not answer. Close and open this again.";
  return place(details, told);
}

function place(details, content) {
  details.querySelector(".full")?.remove();
  details.append(content);
}

export function folding(rows, onChange) {
  // `toggle` does not bubble, so it is caught on its way down.
  rows.addEventListener("toggle", async ({ target }) => {
    if (!target.dataset?.src) return;
    if (target.open) await put(target, target.dataset.src + (target.dataset.raw ? "?of=raw" : ""));
    else target.querySelector(".full")?.remove();
    onChange();
  }, true);

  rows.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-piece]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const details = link.closest("details");
    await put(details, new URL(link.getAttribute("href"), new URL(link.dataset.src ?? details.dataset.src, location.href)));
    details.querySelector(".full a[data-piece]")?.focus({ preventScroll: true });
    onChange();
  });
}

export function unfold(row) {
  const details = row.querySelector("details");
  if (details) { delete details.dataset.raw; details.open = !details.open; }
}

// The record as it stands in the transcript; rows that do not fold get a place for it.
export function unfoldRaw(row, src) {
  let details = row.querySelector("details");
  if (!details) {
    const summary = document.createElement("summary");
    summary.textContent = "Raw record";
    details = document.createElement("details");
    details.dataset.src = src;
    details.append(summary);
    row.querySelector(".what").append(details);
  }
  if (details.open) { details.querySelector('a[data-piece][href="?of=raw"]')?.click(); return; }
  details.dataset.raw = "1";
  details.open = true;
}
