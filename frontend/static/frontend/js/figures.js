// Draws every figure of the page, and saves one as an image when its button asks for it.
/* global Plotly */
import { chart } from "./chart.js";

const SCALE = 2; // pixels of a PNG for each pixel of the page

for (const place of document.querySelectorAll(".plot[data-src]")) chart(place).load();

// The SVG is painted on a canvas here: Plotly's own way to a PNG goes over a blob: image, which the page's policy forbids.
async function painted(svg, width, height) {
  const image = new Image();
  image.src = svg;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * SCALE, height: height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

async function save(button) {
  const place = document.getElementById(button.dataset.of), format = button.dataset.save;
  const width = Math.round(place.clientWidth), height = Math.round(place.clientHeight);
  const svg = await Plotly.toImage(place, { format: "svg", width, height });
  const link = document.createElement("a");
  link.href = format === "png" ? await painted(svg, width, height) : svg;
  link.download = `${place.dataset.name ?? place.id}.${format}`;
  link.click();
}

for (const button of document.querySelectorAll("button[data-save]")) {
  button.hidden = false;
  button.addEventListener("click", () => save(button));
}
