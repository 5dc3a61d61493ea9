// Numbers and times as people read them.
import { now } from "./feed.js";
import { t, lang } from "./words.js";

export function millis(n) {
  if (n === null || n === undefined || n === 0) return "–";
  if (n < 10) return n.toFixed(1) + " ms";
  if (n < 1000) return Math.round(n) + " ms";
  if (n < 60000) return (n / 1000).toFixed(n < 10000 ? 2 : 1) + " s";
  return span(n);
}

// span is a stretch of time in its two largest units.
export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min" + (s % 60 ? " " + (s % 60) + " s" : "");
  if (s < 86400) return Math.floor(s / 3600) + " h" + (s % 3600 >= 60 ? " " + Math.floor((s % 3600) / 60) + " min" : "");
  return Math.floor(s / 86400) + " d " + Math.floor((s % 86400) / 3600) + " h";
}

export const since = (time) => (time ? span(now() - Date.parse(time)) : "–");
export const until = (time) => (time ? span(Date.parse(time) - now()) : "–");

export function clock(time) {
  return time ? new Date(time).toLocaleTimeString(lang(), { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }) : "–";
}

export function rate(n) {
  return n >= 100 ? String(Math.round(n)) : n >= 10 ? n.toFixed(1).replace(/\.0$/, "") : n.toFixed(n ? 1 : 0);
}

export const percent = (n) => (n > 0.995 && n < 1 ? "> 99 %" : n > 0 && n < 0.005 ? "< 1 %" : Math.round(100 * n) + " %");

export const count = (n) => Number(n || 0).toLocaleString(lang());

// tones are the four colours of the dashboard, and the quiet one.
const tones = {
  closed: "primary", ok: "primary", primary: "primary",
  "half-open": "backup", backup: "backup", "forced-closed": "local", canceled: "soft", rejected: "soft", refused: "backup",
  local: "local", open: "failed", "forced-open": "failed", none: "failed",
  hang: "failed", broken: "failed", garbled: "failed", limited: "backup",
};

export const tone = (word) => (Object.hasOwn(tones, word) ? tones[word] : "soft");

// word is a fixed word of the gateway in the reader's language; what is not
// known is shown as it came.
export function word(kind, text) {
  const key = kind + "." + text;
  const said = t(key);
  return said === key ? String(text ?? "") : said;
}

// recent sums up the last seconds.
export function recent(seconds, n) {
  const sum = { n: 0, calls: 0, primary: 0, backup: 0, local: 0, failed: 0, other: 0, p50: null, p99: null, first50: null, first99: null };
  const part = seconds.slice(-n);
  const spread = { p50: [], p99: [], first50: [], first99: [] };
  for (const s of part) {
    for (const k of ["primary", "backup", "local", "failed", "other"]) sum[k] += s[k];
    for (const k in spread) if (s[k]) spread[k].push(s[k]);
  }
  sum.n = part.length || 1;
  sum.calls = sum.primary + sum.backup + sum.local + sum.failed;
  // The middle second's median stands for all; of the slowest ones the worst counts.
  const middle = (list) => (list.length ? list.sort((a, b) => a - b)[list.length >> 1] : null);
  sum.p50 = middle(spread.p50);
  sum.first50 = middle(spread.first50);
  sum.p99 = spread.p99.length ? Math.max(...spread.p99) : null;
  sum.first99 = spread.first99.length ? Math.max(...spread.first99) : null;
  return sum;
}
