// Follows a run's event log over a websocket and never loses its place: it asks for what comes after the last number
// it has seen, again after every break, drops what it has seen already and asks anew when a number is missing.

const FIRST_PAUSE = 300, LONGEST_PAUSE = 5000; // ms between attempts
const FINAL = new Set([4400, 4404]); // the server will not have us

export function follow({ slug, after, onEvents, onLog, onNow, onStatus }) {
  let last = after, pause = FIRST_PAUSE, socket = null, timer = null;

  function connect() {
    clearTimeout(timer);
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/runs/${slug}/`);
    socket.onopen = () => { ask(); };
    socket.onmessage = (message) => { pause = FIRST_PAUSE; receive(JSON.parse(message.data)); };
    socket.onclose = ({ code }) => {
      if (FINAL.has(code)) { onStatus("lost"); return; }
      onStatus("reconnecting");
      timer = setTimeout(connect, pause * (0.75 + Math.random() / 2));
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    };
  }

  function ask() { socket.send(JSON.stringify({ after: last })); }

  function receive({ events, now, log }) {
    if (log) onLog(log);
    if (!events) return;
    onNow(Date.parse(now));
    onStatus("live");
    const fresh = events.filter((event) => event.seq > last);
    if (fresh.length && fresh[0].seq !== last + 1) { ask(); return; }
    if (!fresh.length) return;
    last = fresh.at(-1).seq;
    onEvents(fresh, last);
  }

  addEventListener("online", () => { if (socket.readyState === WebSocket.CLOSED) connect(); });
  connect();
}
