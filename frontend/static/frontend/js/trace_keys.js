// The keyboard. Keys do nothing while somebody writes, or while a dialogue is open.

const WRITES = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

export function keyboard(actions) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    const place = event.target instanceof Element ? event.target : document.body;
    if (place.closest("dialog[open]")) return;
    if (place.matches(WRITES)) { if (event.key === "Escape") place.blur(); return; }
    if (event.key === "Enter" && place.closest("a, button, summary, label, input, pre")) return;
    const name = event.key.length === 1 && event.key >= "0" && event.key <= "9" ? "digit" : event.key;
    const action = actions[name];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
