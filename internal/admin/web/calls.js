// The recent calls, and the way to the timeline of each.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { feed, get } from "./feed.js";
import { t } from "./words.js";
import { clock, millis, tone, word } from "./show.js";
import { Why } from "./why.js";

const tiers = ["primary", "backup", "local", "none"];
const outcomes = ["ok", "hang", "limited", "broken", "garbled", "refused", "rejected", "canceled"];

function Choice({ label, value, words, kind, onPick }) {
  return html`<label>${label} <select value=${value} onChange=${(e) => onPick(e.target.value)}>
    <option value="">${t("calls.all")}</option>${words.map((w) => html`<option key=${w} value=${w} selected=${w === value}>${t(kind + "." + w)}</option>`)}</select></label>`;
}

function Row({ call }) {
  const to = "#/calls/" + encodeURIComponent(call.id);
  const tier = call.tier || "none";
  return html`<tr>
    <td><a href=${to} aria-label=${clock(call.time) + " " + t("calls.open", { id: call.id })}><time>${clock(call.time)}</time></a></td>
    <td><span class=${"chip tone-" + tone(call.outcome)}>${word("class", call.outcome)}</span></td>
    <td class="roomy"><i class=${"dot tone-" + tone(tier)}></i>${word("tier", tier)}</td>
    <td class="who">${call.upstream || "–"}</td>
    <td class="wide">${call.asked || ""}</td>
    <td class="mid">${call.reason || call.code || ""}</td>
    <td class="num mid">${call.attempts.length}</td>
    <td class="num mid">${millis(call.first_token_ms)}</td>
    <td class="num">${millis(call.duration_ms)}</td>
    <td class="num mid">${call.status || "–"}</td>
    <td class="wide id">${call.id}</td></tr>`;
}

function follow(table, step) {
  const links = [...table.querySelectorAll("tbody a")];
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
}

function List({ query }) {
  const [tier, setTier] = useState(query.get("tier") || ""), [outcome, setOutcome] = useState(query.get("outcome") || "");
  const [find, setFind] = useState(query.get("find") || ""), [paused, setPaused] = useState(false);
  const [calls, setCalls] = useState(null), [fault, setFault] = useState("");
  const table = useRef(null), busy = useRef(false);
  const load = async () => {
    if (busy.current) return;
    busy.current = true;
    const q = new URLSearchParams({ limit: find ? "1000" : "200" });
    if (tiers.includes(tier)) q.set("tier", tier);
    if (outcomes.includes(outcome)) q.set("outcome", outcome);
    try {
      setCalls((await get("/api/calls?" + q)).calls);
      setFault("");
    } catch (e) { setFault(e.message); } finally { busy.current = false; }
  };
  useEffect(() => { load(); }, [tier, outcome, find]);
  useEffect(() => { if (!paused && !document.hidden) load(); }, [feed.state, paused]);
  useEffect(() => {
    const key = (e) => { if ((e.key === "j" || e.key === "k") && !e.target.closest("input, select, textarea") && !e.ctrlKey && !e.metaKey && table.current) follow(table.current, e.key === "j" ? 1 : -1); };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const needle = find.toLowerCase();
  const shown = (calls || []).filter((c) => !needle || [c.id, c.asked, c.model, c.upstream, c.route, c.caller, c.reason, c.code].some((x) => (x || "").toLowerCase().includes(needle))).slice(0, 200);
  return html`<div class="calls"><h1 class="hidden">${t("nav.calls")}</h1><div class="bar">
      <${Choice} label=${t("calls.tier")} value=${tier} words=${tiers} kind="tier" onPick=${setTier} />
      <${Choice} label=${t("calls.outcome")} value=${outcome} words=${outcomes} kind="class" onPick=${setOutcome} />
      <input type="search" id="find" aria-label=${t("calls.find")} placeholder=${t("calls.find")} value=${find} onInput=${(e) => setFind(e.target.value)} />
      <button aria-pressed=${String(paused)} onClick=${() => setPaused(!paused)}>${t(paused ? "calls.go" : "calls.pause")}</button>
      <span class="soft">${calls && t("calls.count", { n: shown.length })}</span></div>
    ${fault && html`<p class="tone-failed" role="alert">${fault}</p>`}
    ${calls && shown.length === 0 && html`<p class="soft">${t("calls.none")}</p>`}
    ${shown.length > 0 && html`<div class="panel scroll" tabindex="0" role="region" aria-label=${t("nav.calls")}><table ref=${table}><thead><tr>
      ${[["time"], ["outcome"], ["tier", "roomy"], ["upstream"], ["asked", "wide"], ["reason", "mid"], ["attempts", "num mid"], ["first", "num mid"], ["took", "num"], ["status", "num mid"], ["id", "wide"]].map(([k, c]) => html`<th key=${k} scope="col" class=${c || ""}>${t("calls." + k)}</th>`)}
      </tr></thead><tbody>${shown.map((c) => html`<${Row} key=${c.id + c.time} call=${c} />`)}</tbody></table></div>`}</div>`;
}

export function Calls({ id, query }) {
  return id ? html`<${Why} id=${id} key=${id} />` : html`<${List} query=${query} key=${query.toString()} />`;
}
