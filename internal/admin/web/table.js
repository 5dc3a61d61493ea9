// The live table: asks for the state once a second and writes it as text.
// Nothing that comes from the gateway is ever read as markup.
"use strict";

const colours = {
  closed: "good", ok: "good", primary: "good",
  "half-open": "warn", "forced-closed": "warn", backup: "warn", canceled: "warn", rejected: "warn", refused: "warn",
  open: "bad", "forced-open": "bad", local: "bad", hang: "bad", broken: "bad", garbled: "bad", limited: "bad",
};

function row(cells) {
  const tr = document.createElement("tr");
  for (const cell of cells) {
    const td = document.createElement("td");
    td.textContent = cell === undefined || cell === null ? "" : String(cell);
    if (Object.hasOwn(colours, td.textContent)) td.className = colours[td.textContent];
    tr.append(td);
  }
  return tr;
}

function clock(text) {
  return text ? new Date(text).toLocaleTimeString() : "";
}

function millis(n) {
  return n ? (n >= 1000 ? (n / 1000).toFixed(2) + " s" : n.toFixed(1) + " ms") : "";
}

function parks(list) {
  return list.map((p) => p.why + (p.model ? " " + p.model : "") + " until " + clock(p.until)).join(", ");
}

function upstreamRows(state) {
  const rows = [];
  for (const u of state.upstreams) {
    const scopes = u.scopes.length ? u.scopes : [{ scope: "", state: u.state, run: 0, need: 0 }];
    scopes.forEach((s, i) => rows.push(row([
      i ? "" : u.name, s.scope, s.model, s.state, s.cause, clock(s.since), clock(s.next),
      s.need ? s.run + " of " + s.need : "", millis(s.first_token_p95_ms), s.waiting,
      i ? "" : u.inflight, i ? "" : u.retry_budget.toFixed(1), i ? "" : parks(u.parked),
    ])));
  }
  return rows;
}

function callRow(c) {
  return row([
    clock(c.time), c.id, c.asked, c.tier || "none", c.upstream, c.model, c.outcome, c.status, c.reason || c.code,
    c.attempts.length, millis(c.first_token_ms), millis(c.duration_ms),
  ]);
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(5000) });
  if (answer.status === 401) throw new Error("not signed in: open the dashboard URL that was printed at the start");
  if (!answer.ok) throw new Error("the admin plane answered " + answer.status);
  return answer.json();
}

async function refresh() {
  const about = document.getElementById("about");
  try {
    const [state, recent] = await Promise.all([get("/api/state"), get("/api/calls?limit=25")]);
    document.getElementById("upstreams").replaceChildren(...upstreamRows(state));
    document.getElementById("calls").replaceChildren(...recent.calls.map(callRow));
    about.textContent = (state.version ? "version " + state.version + ", " : "") + "up " + state.uptime_s + " s, at " + clock(state.now);
    about.className = "";
  } catch (fault) {
    about.textContent = fault.message;
    about.className = "bad";
  }
  setTimeout(refresh, 1000);
}

refresh();
