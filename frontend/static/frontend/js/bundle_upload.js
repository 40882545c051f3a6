// Sends one archive by the tus protocol, in pieces. What has arrived stays there: the same file chosen again goes on.
const PIECE = 16 * 1024 * 1024;
const PAUSES = [500, 1000, 2000, 5000, 10000, 20000];
const TUS = { "Tus-Resumable": "1.0.0" };

const form = document.getElementById("upload");
const shown = Object.fromEntries(["sending", "sending-name", "sending-told", "sending-bar", "pause", "forget", "problem"]
  .map((id) => [id, document.getElementById(id)]));
let sending = null;

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const keyOf = (file) => `upload:${form.dataset.versionOf ?? ""}:${file.name}:${file.size}:${file.lastModified}`;
const csrf = () => form.querySelector("[name=csrfmiddlewaretoken]").value;
const NAMED = ["agent", "driver", "base_model", "contact"]; // objects with a name in a manifest; the others are text

// What the submitter states beside the archive.
function details() {
  const told = {};
  for (const field of form.querySelectorAll("[data-detail]")) {
    const value = field.value.trim(), name = field.dataset.detail;
    if (value) told[name] = NAMED.includes(name) ? { name: value } : value;
  }
  return Object.keys(told).length ? JSON.stringify(told) : "";
}

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

class Refused extends Error { constructor(status, text) { super(text || `The server answered ${status}.`); this.status = status; } }

// One request. Rejects with Refused when the server answers anything but success, with another Error when it cannot be reached.
function ask(method, url, headers, body, onProgress, hold) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries({ ...TUS, "X-CSRFToken": csrf(), ...headers })) request.setRequestHeader(name, value);
    if (onProgress) request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () => (request.status < 300 ? resolve(request) : reject(new Refused(request.status, request.responseText)));
    request.onerror = request.ontimeout = () => reject(new Error("The server cannot be reached."));
    request.onabort = () => reject(new DOMException("paused", "AbortError"));
    if (hold) hold(request);
    request.send(body ?? null);
  });
}

class Sending {
  constructor(file) { this.file = file; this.key = keyOf(file); this.offset = 0; this.paused = false; this.over = false; this.began = null; }

  async start() {
    this.url = localStorage.getItem(this.key);
    if (this.url && !(await this.ahead())) this.url = null;
    if (!this.url) await this.announce();
  }

  async announce() {
    const metadata = [`filename ${base64(this.file.name)}`];
    if (form.dataset.versionOf) metadata.push(`version_of ${base64(form.dataset.versionOf)}`);
    if (details()) metadata.push(`details ${base64(details())}`);
    const answer = await ask("POST", form.dataset.url, { "Upload-Length": this.file.size, "Upload-Metadata": metadata.join(",") });
    this.url = answer.getResponseHeader("Location");
    localStorage.setItem(this.key, this.url);
  }

  // How much has arrived; false when the upload is not known any more.
  async ahead() {
    try {
      const answer = await ask("HEAD", this.url, {});
      this.offset = Number(answer.getResponseHeader("Upload-Offset"));
      this.place = answer.getResponseHeader("Bundle-Location");
      return true;
    } catch (error) {
      if (error instanceof Refused && [404, 410].includes(error.status)) return false;
      throw error;
    }
  }

  async piece() {
    const part = this.file.slice(this.offset, this.offset + PIECE);
    const headers = { "Upload-Offset": this.offset, "Content-Type": "application/offset+octet-stream" };
    const answer = await ask("PATCH", this.url, headers, part, (sent) => tell(this, this.offset + sent), (request) => { this.request = request; });
    this.offset = Number(answer.getResponseHeader("Upload-Offset"));
    this.place = answer.getResponseHeader("Bundle-Location");
  }

  async go() {
    let failures = 0;
    while (!this.paused && !this.over) {
      try {
        if (!this.url) await this.start();
        if (this.place) { localStorage.removeItem(this.key); location.assign(this.place); return; }
        this.began ??= { at: performance.now(), offset: this.offset };
        await this.piece();
        failures = 0;
        tell(this, this.offset);
      } catch (error) {
        if (error.name === "AbortError") return;
        const again = !(error instanceof Refused) || [408, 409, 423, 502, 503, 504].includes(error.status);
        if (!again || failures >= PAUSES.length) { this.fail(error, again); return; }
        tell(this, this.offset, `${error.message} Trying again.`);
        await wait(PAUSES[failures++]);
        try { if (this.url && !(await this.ahead())) { this.url = null; localStorage.removeItem(this.key); } } catch { /* next round */ }
      }
    }
  }

  fail(error, again) {
    if (!again) { localStorage.removeItem(this.key); this.over = true; }
    problem(error.message);
    shown.pause.textContent = "Go on";
    this.paused = true;
  }
}

function tell(sent, at, text) {
  shown["sending-bar"].value = at / sent.file.size;
  const seconds = sent.began ? (performance.now() - sent.began.at) / 1000 : 0;
  const speed = seconds > 0.5 ? `, ${megabytes((at - sent.began.offset) / seconds)} a second` : "";
  shown["sending-told"].textContent = text ?? `${megabytes(at)} of ${megabytes(sent.file.size)}${speed}`;
}

function problem(text) { shown.problem.textContent = text; shown.problem.hidden = !text; }

function choose(file) {
  problem("");
  if (!file) return;
  const suffixes = form.dataset.suffixes.split(" ");
  if (!suffixes.some((end) => file.name.toLowerCase().endsWith(end))) { problem(`${file.name} must end in one of ${suffixes.join(", ")}.`); return; }
  if (!file.size) { problem(`${file.name} is empty.`); return; }
  if (file.size > Number(form.dataset.most)) { problem(`${file.name} has ${megabytes(file.size)}; at most ${megabytes(Number(form.dataset.most))} are taken.`); return; }
  if (sending) { sending.paused = true; sending.request?.abort(); }
  sending = new Sending(file);
  shown["sending-name"].textContent = file.name;
  shown.sending.hidden = false;
  shown.pause.textContent = "Pause";
  tell(sending, 0);
  sending.go();
}

shown.pause.addEventListener("click", () => {
  if (!sending || sending.over) return;
  sending.paused = !sending.paused;
  shown.pause.textContent = sending.paused ? "Go on" : "Pause";
  if (sending.paused) { sending.request?.abort(); tell(sending, sending.offset, "Paused; what has arrived stays there."); return; }
  problem("");
  sending.began = null;
  sending.url = null; // asks the server how much it has
  sending.go();
});

shown.forget.addEventListener("click", async () => {
  if (!sending) return;
  const { url, key, request } = sending;
  sending.over = true;
  request?.abort();
  localStorage.removeItem(key);
  sending = null;
  shown.sending.hidden = true;
  problem("");
  if (url) try { await ask("DELETE", url, {}); } catch { /* it expires */ }
});

document.getElementById("file").addEventListener("change", (event) => choose(event.target.files[0]));
form.addEventListener("submit", (event) => event.preventDefault());
for (const name of ["dragenter", "dragover"]) form.addEventListener(name, (event) => { event.preventDefault(); form.classList.add("over"); });
for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => form.classList.remove("over"));
form.addEventListener("drop", (event) => { event.preventDefault(); choose(event.dataTransfer.files[0]); });
