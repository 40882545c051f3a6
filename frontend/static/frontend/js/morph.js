// Makes `old` equal to `fresh` in place: what has not changed keeps its focus, selection and scroll position.
// Elements are matched by id, else by position and name. `data-own` marks what the page's scripts fill themselves:
// there only data-* and aria-* attributes follow. An open <details> stays open.

export function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
  const own = old.hasAttribute("data-own");
  attributes(old, fresh, own ? (name) => /^(data|aria)-/.test(name) : (name) => name !== "open");
  if (!own) morphChildren(old, fresh);
}

export function morphChildren(old, fresh) {
  const known = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let cursor = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const match = matching(child, cursor, known);
    if (!match) { old.insertBefore(child, cursor); continue; }
    if (match === cursor) cursor = cursor.nextSibling;
    else old.insertBefore(match, cursor);
    morph(match, child);
  }
  while (cursor) { const next = cursor.nextSibling; cursor.remove(); cursor = next; }
}

function matching(child, cursor, known) {
  if (child.id) { const found = known.get(child.id); return found?.nodeName === child.nodeName ? found : null; }
  return cursor && !cursor.id && cursor.nodeName === child.nodeName ? cursor : null;
}

function attributes(old, fresh, follows) {
  for (const { name } of [...old.attributes]) if (follows(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (follows(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
}
