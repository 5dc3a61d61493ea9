// Break something on purpose, and watch the next tier answer.
import { html, useEffect, useState } from "./vendor/preact.js";
import { feed, get, post } from "./feed.js";
import { lang, t } from "./words.js";
import { chineseFaults } from "./chinese_faults.js";
import { percent, recent, word } from "./show.js";
import { worst } from "./verdict.js";
import { Tile } from "./now.js";
import { say } from "./notice.js";

const spans = ["1m", "5m", "15m", "1h", ""];

function Force({ u }) {
  const [span, setSpan] = useState("5m");
  const force = (state) => post("/api/breakers/" + encodeURIComponent(u.name), state !== "auto" && span ? { state, for: span } : { state })
    .then(() => say(state === "auto" ? t("drill.released", { name: u.name }) : t("drill.done", { name: u.name, state: t("state.forced-" + state) }), "primary"), (e) => say(e.message, "failed"));
  const held = worst(u).state.startsWith("forced");
  return html`<fieldset><legend>${t("drill.breaker")}</legend>
    <label>${t("drill.for")} <select value=${span} onChange=${(e) => setSpan(e.target.value)}>${spans.map((s) => html`<option key=${s} value=${s} selected=${s === span}>${s || t("drill.ever")}</option>`)}</select></label>
    <div class="buttons"><button class="risky" onClick=${() => force("open")}>${t("drill.open")}</button><button onClick=${() => force("closed")}>${t("drill.closed")}</button>
    <button class=${held ? "main" : ""} onClick=${() => force("auto")}>${t("drill.auto")}</button></div></fieldset>`;
}

const usual = ["hang", "503", "429:retry-after=2"]; // what one tries first

function Fault({ u, mock, onChange }) {
  const [text, setText] = useState("hang"), [model, setModel] = useState("*");
  if (!mock) return html`<fieldset><legend>${t("drill.fault")}</legend><p class="soft">${t("drill.looking")}</p></fieldset>`;
  if (!mock.mock) return html`<fieldset><legend>${t("drill.fault")}</legend><p class="soft">${t("drill.nomock")}</p></fieldset>`;
  const set = (fault, on) => post("/api/faults/" + encodeURIComponent(u.name), { model: on, fault })
    .then((now) => { onChange(now); say(fault && fault !== "ok" ? t("drill.injected", { name: u.name, fault }) : t("drill.healed", { name: u.name }), fault && fault !== "ok" ? "backup" : "primary"); }, (e) => say(e.message, "failed"));
  const active = Object.entries(mock.faults).filter(([, f]) => f !== "ok");
  const words = [...new Set([...usual, ...mock.words.map((w) => w.example)])];
  const about = mock.words.find((w) => w.example === text || w.word === text.split(/[:@]/)[0]);
  const chinese = lang() === "zh-CN" && about && Object.hasOwn(chineseFaults, about.word) ? chineseFaults[about.word] : "";
  return html`<fieldset><legend>${t("drill.fault")}</legend>
    <label>${t("drill.word")} <select value=${words.includes(text) ? text : ""} onChange=${(e) => setText(e.target.value)}>${words.map((w) => html`<option key=${w} value=${w} selected=${w === text}>${w}</option>`)}</select></label>
    <label>${t("drill.args")} <input value=${text} maxlength="200" onInput=${(e) => setText(e.target.value)} /></label>
    <label>${t("drill.model")} <input value=${model} maxlength="200" onInput=${(e) => setModel(e.target.value)} /></label>
    <div class="buttons"><button class="risky" onClick=${() => set(text, model)}>${t("drill.inject")}</button><button class=${active.length ? "main" : ""} onClick=${() => set("", model)}>${t("drill.heal")}</button></div>
    ${about && html`<p class="soft" lang=${chinese ? "zh-CN" : "en"}>${chinese || about.about}</p>`}
    <p class="soft" data-active>${t("drill.active")}: ${active.length ? active.map(([m, f]) => (m === "*" ? t("drill.every") : m) + " → " + f).join(", ") : t("drill.healthy")}</p></fieldset>`;
}

function Live() {
  const sum = recent(feed.seconds, 10);
  const parts = ["primary", "backup", "local", "failed"].filter((k) => sum[k]);
  return html`<div class="lately"><span class="soft">${t("drill.live")}</span>
    <div class="stack" aria-hidden="true">${parts.map((k) => html`<i key=${k} class=${"tone-" + k} style=${{ width: (100 * sum[k]) / sum.calls + "%" }}></i>`)}</div>
    <ul>${parts.map((k) => html`<li key=${k}><i class=${"dot tone-" + k}></i>${word("tier", k)} <b>${percent(sum[k] / sum.calls)}</b></li>`)}</ul></div>`;
}

export function Drill() {
  const [mocks, setMocks] = useState({});
  const keep = (list) => setMocks((old) => ({ ...old, ...Object.fromEntries(list.map((m) => [m.upstream, m])) }));
  useEffect(() => { get("/api/faults").then((a) => keep(a.upstreams), (e) => say(e.message, "failed")); }, []);
  return html`<div class="drill"><h1 class="hidden">${t("nav.drill")}</h1><section class="panel"><p>${t("drill.intro")}</p><${Live} /></section>
    ${feed.state.upstreams.map((u) => html`<section class="panel drillrow" key=${u.name} data-upstream=${u.name} aria-label=${u.name}>
      <ul class="tiles"><${Tile} upstream=${u} heading="h2" /></ul><${Force} u=${u} /><${Fault} u=${u} mock=${mocks[u.name]} onChange=${(m) => keep([m])} /></section>`)}</div>`;
}
