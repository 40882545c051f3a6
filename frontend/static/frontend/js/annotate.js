// The labelling form by keyboard: digits choose the failure type, n goes to the note, Ctrl+Enter stores.
import { keyboard } from "./trace_keys.js";

const form = document.getElementById("annotate");

keyboard({
  digit(event) {
    const choice = form.querySelector(`[name=type][value="${event.key}"]`);
    if (choice) { choice.checked = true; choice.focus(); }
  },
  n() { form.elements.note.focus(); },
});

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[type=submit]"));
});
