// The one source of what the screens show: the event stream, and the few
// questions that it does not answer.
const keptSeconds = 900, keptTransitions = 100;
const quiet = 6000; // ms without an event: the stream is dead although nobody closed it

export const feed = {
  link: "connecting", // live | lost | locked
  state: null,
  seconds: [],
  transitions: [], // newest first
  skew: 0, // server's clock minus ours, ms
};

const hearers = new Set();
let source = null, retry = 0, watchdog = 0;

export function hear(hearer) {
  hearers.add(hearer);
  return () => hearers.delete(hearer);
}

// Characters that are not seen, or that turn the text around them, are shown as
// what they are: a model name must not look like another one.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const seen = (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
const read = (text) => JSON.parse(text, (key, value) => (typeof value === "string" ? value.replace(unseen, seen) : value));

function tell() {
  for (const hearer of hearers) hearer();
}

export const now = () => Date.now() + feed.skew;

function onState(event) {
  const state = read(event.data);
  feed.state = state;
  feed.skew = Date.parse(state.now) - Date.now();
  feed.link = "live";
  retry = 0;
  watch();
  tell();
}

const second = (s) => ({
  t: Date.parse(s.time) / 1000,
  primary: s.primary || 0, backup: s.backup || 0, local: s.local || 0, failed: s.failed || 0, other: s.other || 0,
  p50: s.p50_ms || null, p99: s.p99_ms || null, first50: s.first_token_p50_ms || null, first99: s.first_token_p99_ms || null,
  attempts: s.attempts || 0, failures: s.failed_attempts || 0,
});

function onHistory(event) {
  const history = read(event.data);
  feed.seconds = history.seconds.map(second);
  feed.transitions = history.transitions.reverse().filter((t) => !t.trial);
  tell();
}

function onTraffic(event) {
  const last = feed.seconds.length ? feed.seconds[feed.seconds.length - 1].t : 0;
  const next = read(event.data).seconds.map(second).filter((s) => s.t > last);
  feed.seconds = feed.seconds.concat(next).slice(-keptSeconds);
}

function onTransition(event) {
  const t = read(event.data);
  if (t.trial) return;
  feed.transitions = [t, ...feed.transitions].slice(0, keptTransitions);
  tell();
}

export function connect() {
  clearTimeout(watchdog);
  if (source) source.close();
  source = new EventSource("/api/events");
  source.addEventListener("state", onState);
  source.addEventListener("history", onHistory);
  source.addEventListener("traffic", onTraffic);
  source.addEventListener("transition", onTransition);
  source.onerror = again;
  watch();
}

function watch() {
  clearTimeout(watchdog);
  watchdog = setTimeout(again, quiet);
}

// again opens a new stream after a while that grows. A gateway that started
// anew may have a new token: then only its new URL helps.
async function again() {
  clearTimeout(watchdog);
  if (source) source.close();
  source = null;
  feed.link = "lost";
  tell();
  const wait = Math.min(500 * 2 ** retry++, 5000);
  try {
    const answer = await fetch("/api/state", { cache: "no-store", signal: AbortSignal.timeout(3000) });
    if (answer.status === 401) {
      feed.link = "locked";
      tell();
    }
  } catch { /* nobody answers yet */ }
  watchdog = setTimeout(connect, wait);
}

async function answered(answer) {
  let body = null;
  try { body = read(await answer.text()); } catch { /* no JSON: the status says it */ }
  if (!answer.ok) throw new Error(body && body.error ? body.error.message : "HTTP " + answer.status);
  return body;
}

export async function get(path) {
  return answered(await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(10000) }));
}

export async function post(path, body) {
  return answered(await fetch(path, {
    method: "POST", cache: "no-store", signal: AbortSignal.timeout(30000),
    headers: { "Content-Type": "application/json" }, body: body ? JSON.stringify(body) : undefined,
  }));
}
