// Draws every figure of the page, and saves one as an image when its button asks for it.
/* global Plotly */
import { chart } from "./chart.js";

const SCALE = 2; // pixels of a PNG for each pixel of the page

for (const place of document.querySelectorAll(".plot[data-src]")) chart(place).load();

async function save(button) {
  const place = document.getElementById(button.dataset.of), format = button.dataset.save;
  const { width, height } = place.getBoundingClientRect();
  const url = await Plotly.toImage(place, { format, width: Math.round(width), height: Math.round(height), scale: format === "png" ? SCALE : 1 });
  const link = document.createElement("a");
  link.href = url;
  link.download = `${place.dataset.name ?? place.id}.${format}`;
  link.click();
}

for (const button of document.querySelectorAll("button[data-save]")) {
  button.hidden = false;
  button.addEventListener("click", () => save(button));
}
