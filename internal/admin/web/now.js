// The first screen: what is broken, what was done about it, what to do.
import { html, useState } from "./vendor/preact.js";
import { feed, now } from "./feed.js";
import { t } from "./words.js";
import { clock, millis, percent, rate, recent, since, tone, until, word } from "./show.js";
import { causeOf, verdicts, worst } from "./verdict.js";
import { Chart } from "./chart.js";

function Verdict() {
  const [first, ...rest] = verdicts();
  const said = (v) => html`${v.did} ${v.todo} ${v.to && html`<a href=${v.to}>${v.link}</a>`}`;
  return html`<section class=${"verdict tone-" + first.tone} role="status" aria-live="polite" id="verdict">
    <h1>${first.title}</h1><p>${said(first)}</p>
    ${rest.length > 0 && html`<ul>${rest.slice(0, 4).map((v) => html`<li class=${"tone-" + v.tone} key=${v.title}><b>${v.title}.</b> ${said(v)}</li>`)}
      ${rest.length > 4 && html`<li>${t("more", { n: rest.length - 4 })}</li>`}</ul>`}
  </section>`;
}

function Figures() {
  const sum = recent(feed.seconds, 10), minute = recent(feed.seconds, 60);
  const list = [
    ["rate", rate((sum.calls + sum.other) / sum.n), ""],
    ["share", sum.calls ? percent(sum.primary / sum.calls) : "–", sum.calls && sum.primary < sum.calls ? "tone-backup" : ""],
    ["p50", millis(sum.p50), ""], ["p99", millis(sum.p99), ""], ["first", millis(sum.first50), ""],
    ["failed", String(minute.failed), minute.failed ? "tone-failed" : ""],
  ];
  return html`<dl class="figures">${list.map(([key, value, mood]) => html`<div key=${key} class=${mood}><dt>${t("fig." + key)}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const round = 2 * Math.PI * 25;

// Ring counts down to the next probe, or counts the failures in a row.
function Ring({ scope }) {
  let share = 0, label = "", text = "";
  if (scope.next && scope.state !== "closed") {
    const begin = Date.parse(scope.since), end = Date.parse(scope.next);
    share = Math.min(1, Math.max(0, (end - now()) / Math.max(end - begin, 1000)));
    text = end - now() > 500 ? until(scope.next).match(/^\d+ \S+/)[0] : t("tile.soon");
    label = t(scope.state.startsWith("forced") ? "tile.free" : "tile.next");
  } else if (scope.need) {
    share = Math.min(1, scope.run / scope.need);
    text = scope.run + "/" + scope.need;
    label = t("tile.run");
  }
  return html`<div class="ring"><svg viewBox="0 0 60 60" aria-hidden="true">
      <circle cx="30" cy="30" r="25" class="track" /><circle cx="30" cy="30" r="25" class="arc" stroke-dasharray=${round} stroke-dashoffset=${round * (1 - share)} /></svg>
    <span><b>${text || "–"}</b></span><small>${label}</small></div>`;
}

export function Tile({ upstream: u, heading = "h3" }) {
  const scope = worst(u);
  const others = scope.state.startsWith("forced") ? 0 : u.scopes.filter((s) => s !== scope && s.state !== "closed").length;
  return html`<li class="place"><article class=${"tile tone-" + tone(scope.state)} key=${scope.state} data-upstream=${u.name} data-state=${scope.state} aria-label=${u.name + ", " + word("state", scope.state)}>
    <header><${heading} class="name" title=${u.name}>${u.name}<//><span class=${"chip state-" + scope.state}>${word("state", scope.state)}</span></header>
    <div class="face"><${Ring} scope=${scope} />
      <dl>
        ${scope.state !== "closed" && html`<div class="cause"><dt>${t("tile.cause")}</dt><dd>${causeOf(scope)}</dd></div>`}
        ${scope.state !== "closed" && html`<div><dt>${scope.model || (scope.scope ? word("scope", scope.scope) : t("tile.all"))}</dt><dd>${t("tile.since", { span: since(scope.since) })}</dd></div>`}
        <div><dt>${t("tile.inflight")}</dt><dd>${u.inflight}${scope.waiting > 0 && html` <em>(${scope.waiting} ${t("tile.waiting")})</em>`}</dd></div>
        <div><dt>${t("tile.p95")}</dt><dd>${millis(scope.first_token_p95_ms)}</dd></div>
        ${others > 0 && html`<div class="cause"><dd>${t("tile.scopes", { n: others })}</dd></div>`}
      </dl></div>
  </article></li>`;
}

function Routes() {
  const states = new Map(feed.state.upstreams.map((u) => [u.name, u.state]));
  const list = feed.state.routes;
  return html`<section class="panel routes"><h2>${t("routes")}</h2><ul>${list.slice(0, 12).map((r, i) => html`<li key=${i}><code>${r.model}</code>
    <ol>${r.tiers.map((tier, j) => html`<li key=${j}><i class=${"dot tone-" + (tier.local ? "local" : tone(states.get(tier.name)))}></i>${tier.name}${tier.model && html` <small>${tier.model}</small>`}</li>`)}</ol></li>`)}
    ${list.length > 12 && html`<li>${t("more", { n: list.length - 12 })}</li>`}</ul></section>`;
}

// together joins what happened to several scopes of one upstream at once.
function together(list) {
  const out = [];
  for (const turn of list) {
    const last = out[out.length - 1];
    if (last && ["upstream", "model", "from", "to", "cause"].every((k) => last[k] === turn[k]) && Math.abs(Date.parse(last.time) - Date.parse(turn.time)) < 50) last.n++;
    else out.push({ ...turn, n: 1 });
  }
  return out;
}

function Happened() {
  return html`<section class="panel happened"><h2>${t("happened")}</h2>
    ${feed.transitions.length === 0 && html`<p class="soft">${t("happened.none")}</p>`}
    <ol tabindex="0" aria-label=${t("happened")}>${together(feed.transitions).slice(0, 40).map((turn) => html`<li key=${turn.time + turn.upstream + turn.scope + turn.model}>
      <time>${clock(turn.time)}</time><i class=${"dot tone-" + tone(turn.to)}></i>
      <span><b>${turn.upstream}</b>${turn.model && html` <small>${turn.model}</small>`} ${t("turn", { from: word("state", turn.from), to: word("state", turn.to) })}
      <small class="why">${causeOf({ cause: turn.cause, state: turn.to })}</small></span></li>`)}</ol></section>`;
}

export function Now({ theme }) {
  const [minutes, setMinutes] = useState(5);
  const seconds = feed.seconds.slice(-minutes * 60);
  return html`<div class="now">
    <${Verdict} /><${Figures} />
    <div class="pair"><section aria-label=${t("tiles")}><h2 class="hidden">${t("tiles")}</h2><ul class="tiles">${feed.state.upstreams.map((u) => html`<${Tile} key=${u.name} upstream=${u} />`)}</ul></section><${Happened} /></div>
    <section class="charts panel">
      <div class="range" role="group" aria-label=${t("chart.range")}>${[1, 5, 15].map((n) => html`<button key=${n} aria-pressed=${String(n === minutes)} onClick=${() => setMinutes(n)}>${t("chart.min", { n })}</button>`)}</div>
      <${Chart} kind="traffic" seconds=${seconds} transitions=${feed.transitions} minutes=${minutes} theme=${theme} />
      <${Chart} kind="times" seconds=${seconds} transitions=${feed.transitions} minutes=${minutes} theme=${theme} />
      <p class="soft hint">${seconds.some((s) => s.primary + s.backup + s.local + s.failed) ? t("chart.marks") : t("chart.none")}</p>
    </section>
    <${Routes} />
  </div>`;
}
