// The labelling form beside a trace: a type or a note that was keyed in the list brings the selected events along.
const form = document.getElementById("annotate");

function take({ first, last, seq, trace }) {
  form.elements.first_seq.value = first;
  form.elements.last_seq.value = last;
  form.elements.critical_seq.value = seq;
  if (form.elements.trace) form.elements.trace.value = trace;
}

addEventListener("trace:note", ({ detail }) => {
  take(detail);
  form.elements.note.focus();
});

addEventListener("trace:type", ({ detail }) => {
  const choice = form.querySelector(`[name=type][value="${detail.type}"]`);
  if (!choice) return;
  take(detail);
  choice.checked = true;
  form.elements.note.focus();
});

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[type=submit]"));
});
