// On a phone the navigation and the tabs scroll sideways: the one that is open is brought into view.
for (const link of document.querySelectorAll(".site nav [aria-current], .tabs [aria-current]")) {
  const bar = link.parentElement;
  bar.scrollLeft += link.getBoundingClientRect().left - bar.getBoundingClientRect().left - (bar.clientWidth - link.offsetWidth) / 2;
}
