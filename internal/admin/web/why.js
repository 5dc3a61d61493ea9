// The timeline of one call: what was tried, when, and what came of it.
import { html, useEffect, useState } from "./vendor/preact.js";
import { get } from "./feed.js";
import { t } from "./words.js";
import { clock, millis, tone, word } from "./show.js";

const skipped = (s) => word("skip", s.why) + (s.kind ? " (" + s.kind + ")" : "") + (s.until_ms ? t("why.again", { span: millis(s.until_ms) }) : "");
const tierTone = (n) => (n === 0 ? "primary" : "backup");
const ended = (a) => {
  const [cls, kind] = a.outcome.split("/");
  return word("class", cls) + (kind ? " (" + kind + ")" : "") + (a.status ? ", " + t("why.http", { status: a.status }) : "");
};
const turned = (c) => t("why.turned", { name: c.upstream, from: word("state", c.from), to: word("state", c.to), cause: c.cause === "probe" && c.to === "open" ? t("cause.open.probe") : word("cause", c.cause) });

function sentence(c) {
  const took = millis(c.first_token_ms || c.duration_ms);
  if (c.op === "pass") return t("why.passed", { who: c.upstream, outcome: word("class", c.outcome), status: c.status, span: took });
  if (c.tier) {
    if (c.tier === "primary" && !c.reason) return t("why.first", { who: c.upstream, span: took });
    const because = c.reason ? t(c.attempts.some((a) => a.tier === 0) ? "why.becausefail" : "why.because", { reason: word("skip", c.reason) === c.reason ? word("class", c.reason.split("/")[0]) + (c.reason.includes("/") ? " (" + c.reason.split("/")[1] + ")" : "") : word("skip", c.reason) }) : "";
    return t("why.answered", { who: c.upstream, span: took }) + because;
  }
  if (c.outcome === "canceled") return t("why.canceled", { span: millis(c.duration_ms) });
  if (c.outcome === "rejected") return t("why.rejected", { status: c.status });
  return t("why.noanswer", { status: c.status, span: millis(c.duration_ms) });
}

// steps are all that happened, in the order of time.
function steps(c) {
  const list = [{ at: 0, text: t("why.accepted"), tone: "soft", rank: 0 }];
  const add = (at, rank, mood, text) => list.push({ at, text, tone: mood, rank });
  for (const s of c.skipped || []) add(s.at_ms, 1, "backup", t("why.skip", { name: s.upstream, why: skipped(s) }));
  for (const x of c.changes || []) add(x.at_ms, 4, tone(x.to), turned(x));
  for (const a of c.attempts) {
    const notes = [a.probe && t("why.probe"), a.hedge && t("why.hedge"), a.waited_ms && t("why.waited", { span: millis(a.waited_ms) }), a.replays && t("why.replays", { n: a.replays })].filter(Boolean);
    add(a.start_ms, 2, tierTone(a.tier), t(a.retry ? "why.retry" : "why.try", { n: a.attempt, name: a.upstream, model: a.model }) + (notes.length ? " (" + notes.join(", ") + ")" : ""));
    if (a.first_byte_ms) add(a.start_ms + a.first_byte_ms, 3, "soft", t("why.headers", { name: a.upstream }));
    if (a.first_token_ms) add(a.start_ms + a.first_token_ms, 3, tierTone(a.tier), t("why.token", { name: a.upstream }));
    add(a.start_ms + a.duration_ms, 5, tone(a.outcome.split("/")[0]), t("why.end", { name: a.upstream, outcome: ended(a) }) + (a.gap_ms ? ", " + t("why.gap", { span: millis(a.gap_ms) }) : ""));
  }
  if (c.tier === "local") add(c.duration_ms, 6, "local", t("why.served", { name: c.upstream }));
  if (c.tier) add(c.duration_ms, 7, "soft", t("why.over") + ", " + t("why.http", { status: c.status }));
  else add(c.duration_ms, 7, c.outcome === "ok" ? "soft" : "failed", sentence(c) + (c.message ? ": " + c.message : ""));
  return list.sort((a, b) => a.at - b.at || a.rank - b.rank);
}

// A bar is one attempt: its wait, the time to the headers, to the first token,
// and the answer.
function Bar({ a, whole }) {
  const left = (ms) => (100 * ms) / whole + "%";
  const part = (kind, from, to, mood) => to > from && html`<i key=${kind} class=${"part " + kind + " tone-" + mood} style=${{ left: left(from), width: left(to - from) }} title=${t("phase." + kind) + " " + millis(to - from)}></i>`;
  const begin = a.start_ms, end = begin + a.duration_ms, bad = a.outcome !== "ok";
  const headers = a.first_byte_ms ? begin + a.first_byte_ms : end, first = a.first_token_ms ? begin + a.first_token_ms : end;
  const mood = bad ? "failed" : tierTone(a.tier);
  return html`<div class="lane">${[part("wait", begin - (a.waited_ms || 0), begin, "soft"), part("headers", begin, Math.min(headers, first), mood), part("first", headers, first, mood), part("answer", first, end, mood)]}
    ${a.duration_ms / whole < 0.004 && html`<i class=${"part answer least tone-" + mood} style=${{ left: left(begin) }}></i>`}</div>`;
}

// ticks are round times on the axis.
function ticks(whole) {
  const raw = whole / 5, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((x) => x >= raw);
  const list = [];
  for (let at = 0; at <= whole * 0.9; at += step) list.push(at);
  return list;
}

function Timeline({ c }) {
  const whole = Math.max(c.duration_ms, ...c.attempts.map((a) => a.start_ms + a.duration_ms), 1);
  const rows = [
    ...(c.skipped || []).map((s) => ({ at: s.at_ms, tier: s.tier, name: s.upstream, note: skipped(s), mark: "skip", mood: "backup" })),
    ...c.attempts.map((a) => ({ at: a.start_ms, tier: a.tier, name: a.upstream, note: ended(a), attempt: a, mood: tone(a.outcome.split("/")[0]) })),
  ].sort((a, b) => a.at - b.at || a.tier - b.tier);
  if (c.tier === "local") rows.push({ at: c.duration_ms, name: c.upstream, note: t("tier.local"), mark: "served", mood: "local" });
  return html`<div class="timeline" role="img" aria-label=${t("why.timeline")}>
    <div class="row axis"><span></span><div class="lane">${ticks(whole).map((at) => html`<b key=${at} style=${{ left: (100 * at) / whole + "%" }}>${at ? millis(at).replace(/\.0+ /, " ") : "0"}</b>`)}</div><span></span></div>
    ${rows.map((r, i) => html`<div class="row" key=${i}><span class="name" title=${r.name}>${r.name}</span>
      ${r.attempt ? html`<${Bar} a=${r.attempt} whole=${whole} />` : html`<div class="lane"><i class=${"mark " + r.mark + " tone-" + r.mood} style=${{ left: (100 * Math.min(r.at, whole)) / whole + "%" }}></i></div>`}
      <span class=${"note tone-" + r.mood}>${r.note}</span></div>`)}
    ${(c.changes || []).map((x, i) => html`<div class="row turn" key=${"turn" + i}><span class="name" title=${x.upstream}>${x.upstream}</span><div class="lane"><i class=${"mark turn tone-" + tone(x.to)} style=${{ left: (100 * x.at_ms) / whole + "%" }}></i></div><span class=${"note tone-" + tone(x.to)}>${word("state", x.to)}</span></div>`)}
    <p class="phases" aria-hidden="true">${["wait", "headers", "first", "answer"].map((k) => html`<span key=${k}><i class=${"part tone-primary " + k}></i>${t("phase." + k)}</span>`)}</p></div>`;
}

function Facts({ c }) {
  const list = [
    ["asked", c.asked], ["route", c.route], ["caller", c.caller], ["kind", [c.op, c.dialect, t(c.stream ? "why.stream" : "why.whole"), c.json && t("why.json")].filter(Boolean).join(", ")],
    ["status", c.status], ["firsttoken", millis(c.first_token_ms)], ["took", millis(c.duration_ms)], ["upstreamed", millis(c.upstream_ms)],
    ["tokens", (c.input_tokens < 0 ? "–" : c.input_tokens) + " / " + (c.output_tokens < 0 ? "–" : c.output_tokens)],
    ["code", c.code && c.code + (c.message ? ": " + c.message : "")], ["repaired", (c.repaired || []).join(", ")], ["dropped", (c.dropped || []).join(", ")],
    ["rescued", c.rescued], ["truncated", c.truncated && t("why.yes")], ["stale", c.stale_s && millis(1000 * c.stale_s)],
  ];
  return html`<dl class="facts">${list.filter(([, v]) => v).map(([k, v]) => html`<div key=${k}><dt>${t("why." + k)}</dt><dd>${v}</dd></div>`)}</dl>`;
}

export function Why({ id }) {
  const [call, setCall] = useState(null), [fault, setFault] = useState("");
  useEffect(() => { get("/api/calls/" + encodeURIComponent(id)).then(setCall, (e) => setFault(e.message)); }, [id]);
  return html`<div class="why"><p><a href="#/calls" class="back">← ${t("why.back")}</a></p>
    ${fault && html`<h1>${t("why.title")}</h1><p role="alert">${fault}</p>`}
    ${call && html`<h1 id="sentence">${sentence(call)}</h1><p class="soft"><time>${clock(call.time)}</time> <code>${call.id}</code></p>
      <section class="panel"><h2>${t("why.timeline")}</h2><${Timeline} c=${call} /></section>
      <div class="pair"><section class="panel"><h2>${t("why.steps")}</h2><ol class="steps">${steps(call).map((s, i) => html`<li key=${i}><time>${millis(s.at) === "–" ? "0 ms" : millis(s.at)}</time><i class=${"dot tone-" + s.tone}></i><span>${s.text}</span></li>`)}</ol></section>
      <section class="panel"><h2>${t("why.facts")}</h2><${Facts} c=${call} /></section></div>`}</div>`;
}
