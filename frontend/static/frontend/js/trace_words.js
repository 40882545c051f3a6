// Marks what was searched for without touching the page's elements, and shows the text around a match that is folded away.

export function highlight(rows, words) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete("found");
  const wanted = words.toLowerCase();
  if (!wanted) return;
  const ranges = [];
  for (const row of rows) {
    const walk = document.createTreeWalker(row.querySelector(".what"), NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node && ranges.length < 500; node = walk.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue; // offsets would not fit
      for (let at = text.indexOf(wanted); at >= 0 && ranges.length < 500; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
  }
  if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
}

export function excerpt(row, words, text) {
  const what = row.querySelector(".what");
  if (!text || what.querySelector(".hit") || what.textContent.toLowerCase().includes(words.toLowerCase())) return;
  const told = document.createElement("p");
  told.className = "hit";
  told.dir = "auto";
  told.textContent = text;
  what.append(told);
}
