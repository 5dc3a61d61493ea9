// Every upstream with its keys, limits, budget and what went wrong lately.
import { html, useState } from "./vendor/preact.js";
import { feed } from "./feed.js";
import { t } from "./words.js";
import { count, millis, rate, since, tone, until, word } from "./show.js";
import { causeOf, worst } from "./verdict.js";

const classes = ["ok", "hang", "limited", "broken", "garbled", "refused", "rejected", "canceled"];

function Meter({ share, mood, label }) {
  return html`<div class="meter" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(share * 100)}>
    <i class=${"tone-" + mood} style=${{ width: Math.min(100, share * 100) + "%" }}></i></div>`;
}

function why(park) {
  const known = ["rate", "quota", "auth", "ramp", "overload"].find((k) => park.why.includes(k));
  return (known ? t("why." + known) : park.why) + (park.model ? " " + park.model : "");
}

function Keys({ u }) {
  if (!u.keys && !u.parked.length) return html`<p class="soft">${t("up.nokeys")}</p>`;
  const parked = (n) => u.parked.filter((p) => p.key === n);
  const rows = [];
  if (parked(-1).length) rows.push([t("up.everykey"), parked(-1)]);
  for (let n = 0; n < Math.min(u.keys, 50); n++) rows.push([t("up.key", { n: n + 1 }), parked(n)]);
  return html`<ul class="keys">${rows.map(([name, list]) => html`<li key=${name}><i class=${"dot tone-" + (list.length ? "backup" : "primary")}></i>${name}
    <span>${list.length ? list.map((p) => t("up.parkedfor", { why: why(p), span: until(p.until) })).join("; ") : t("up.free")}</span></li>`)}</ul>`;
}

function Errors({ counts, name }) {
  const total = classes.reduce((n, c) => n + (counts[c] || 0), 0);
  if (!total) return html`<p class="soft">${t("up.noattempts")}</p>`;
  const there = classes.filter((c) => counts[c]);
  return html`<div class="errors"><div class="stack" aria-hidden="true">${there.map((c) => html`<i key=${c} class=${"tone-" + tone(c)} style=${{ width: (100 * counts[c]) / total + "%" }}></i>`)}</div>
    <ul aria-label=${t("up.errors") + ", " + name}>${there.map((c) => html`<li key=${c}><i class=${"dot tone-" + tone(c)}></i>${t("class." + c)} <b>${count(counts[c])}</b></li>`)}</ul></div>`;
}

function Trouble({ x }) {
  if (!x) return html`<p class="soft">${t("up.never")}</p>`;
  return html`<p><a href=${"#/calls/" + encodeURIComponent(x.call)}>${x.outcome}</a>${x.status ? " " + t("why.http", { status: x.status }) : ""} <span class="soft">${x.model}, ${t("up.ago", { span: since(x.time) })}</span></p>`;
}

function Scopes({ list }) {
  if (!list.length) return html`<p class="soft">${t("up.noscopes")}</p>`;
  const told = list.filter((s) => s.state !== "closed" || s.run > 0 || s.samples > 0 || s.scope === "endpoint" || s.scope === "model");
  return html`<ul class="scopes">${told.slice(0, 30).map((s, i) => html`<li key=${i}><span class=${"chip state-" + s.state}>${word("state", s.state)}</span>
    ${word("scope", s.scope)} ${s.model && html`<code>${s.model}</code>`}
    <small>${s.state === "closed" ? (s.need ? s.run + "/" + s.need + " " + t("tile.run") : "") : causeOf(s)}${s.suspicion_ms ? ", " + t("up.suspicion", { span: millis(s.suspicion_ms) }) : ""}${s.first_token_p95_ms ? ", " + t("tile.p95") + " " + millis(s.first_token_p95_ms) : ""}</small></li>`)}</ul>`;
}

function Card({ u }) {
  const tiers = feed.state.routes.flatMap((r) => r.tiers.map((tier, i) => ({ tier, i, r })).filter((x) => x.tier.name === u.name));
  const limit = (value, used, label) => html`<div><dt>${label}</dt><dd>${value ? count(value) : t("up.nolimit")}${value > 0 && used !== null && html`<${Meter} share=${used / value} mood=${used / value > 0.8 ? "backup" : "primary"} label=${label} />`}</dd></div>`;
  return html`<article class="panel card" data-upstream=${u.name}>
    <header><h2>${u.name}</h2><span class=${"chip state-" + worst(u).state}>${word("state", worst(u).state)}</span>
      <p class="soft">${u.dialect}${u.vendor !== u.dialect ? " · " + u.vendor : ""} · <code>${u.base_url || ""}</code></p></header>
    <div class="columns">
      <section><h3>${t("up.scopes")}</h3><${Scopes} list=${u.scopes} /></section>
      <section><h3>${t("up.keys")}</h3><${Keys} u=${u} />${u.account && html`<p class="soft">${t("up.account")}: ${u.account}</p>`}</section>
      <section><h3>${t("up.errors")}</h3><${Errors} counts=${u.attempts_5m} name=${u.name} /><h3>${t("up.last")}</h3><${Trouble} x=${u.trouble} /></section>
      <section><h3>${t("up.limits")}</h3><dl class="limits">
        ${limit(u.limits.inflight, u.inflight, t("up.inflight") + " " + u.inflight)}
        ${limit(u.limits.rate, null, t("up.rate"))}
        <div><dt>${t("up.budget")}</dt><dd>${t("up.of10", { n: rate(u.retry_budget) })}<${Meter} share=${u.retry_budget / 10} mood=${u.retry_budget < 1 ? "failed" : "primary"} label=${t("up.budget")} /></dd></div>
        <div><dt>${t("up.first")}</dt><dd>${u.first_token_ms ? millis(u.first_token_ms) : "–"}</dd></div>
      </dl><p class="soft">${t("up.tiers")}: ${tiers.slice(0, 6).map((x) => x.r.model + " (" + (x.i + 1) + ")").join(", ")}</p></section>
    </div></article>`;
}

export function Upstreams() {
  const [find, setFind] = useState("");
  const list = feed.state.upstreams.filter((u) => (u.name + " " + u.vendor + " " + u.state).toLowerCase().includes(find.toLowerCase()));
  return html`<div class="upstreams"><h1 class="hidden">${t("nav.upstreams")}</h1>
    ${feed.state.upstreams.length > 4 && html`<div class="bar"><input type="search" id="find" aria-label=${t("up.find")} placeholder=${t("up.find")} value=${find} onInput=${(e) => setFind(e.target.value)} /></div>`}
    ${list.map((u) => html`<${Card} key=${u.name} u=${u} />`)}
    ${list.length === 0 && html`<p class="soft">${t("up.none")}</p>`}</div>`;
}
