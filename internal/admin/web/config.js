// The plan in force, and what the last reloads changed.
import { html, useEffect, useState } from "./vendor/preact.js";
import { get, post } from "./feed.js";
import { t } from "./words.js";
import { clock } from "./show.js";
import { ask, say } from "./notice.js";

function Reload({ x }) {
  return html`<div class="reload"><p><i class=${"dot tone-" + (x.ok ? "primary" : "failed")}></i><time>${clock(x.time)}</time> ${t(x.ok ? "config.ok" : "config.bad")}</p>
    ${x.error && html`<pre tabindex="0">${x.error}</pre>`}
    ${x.ok && html`<ul class="changes">${x.changes.length === 0 && html`<li class="soft">${t("config.nochange")}</li>`}${x.changes.map((c, i) => html`<li key=${i}><code>${c}</code></li>`)}</ul>`}</div>`;
}

// grouped are the settings by what they are part of, in the order of the file.
function grouped(settings, find) {
  const groups = new Map(), needle = find.toLowerCase();
  for (const s of settings) {
    if (needle && !(s.path + " " + s.value).toLowerCase().includes(needle)) continue;
    const name = s.group || "";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(s);
  }
  return [...groups];
}

export function Config() {
  const [config, setConfig] = useState(null), [find, setFind] = useState(""), [busy, setBusy] = useState(false);
  const load = () => get("/api/config").then(setConfig, (e) => say(e.message, "failed"));
  useEffect(() => { load(); }, []);
  const reload = async () => {
    setBusy(true);
    try {
      const { changes } = await post("/api/reload");
      say(changes.length ? t("config.reloaded", { n: changes.length }) : t("config.same"), "primary");
    } catch { say(t("config.failed"), "failed"); }
    await load();
    setBusy(false);
  };
  const drain = async () => {
    if (!(await ask(t("config.drain"), t("config.drain.sure"), t("config.drain.yes")))) return;
    post("/api/drain").then(() => say(t("config.draining"), "backup"), (e) => say(e.message, "failed"));
  };
  if (!config) return html`<h1 class="hidden">${t("nav.config")}</h1>`;
  const [last, ...earlier] = config.reloads;
  const groups = grouped(config.settings, find);
  return html`<div class="config"><h1 class="hidden">${t("nav.config")}</h1>
    <section class="panel"><div class="bar"><p>${t("config.source")} <code>${config.source}</code></p>
      <button class="main" disabled=${busy} onClick=${reload}>${t(busy ? "config.reloading" : "config.reload")}</button><button class="risky" onClick=${drain}>${t("config.drain")}</button></div>
      <h2>${t("config.last")}</h2>${last ? html`<${Reload} x=${last} />` : html`<p class="soft">${t("config.never")}</p>`}
      ${earlier.length > 0 && html`<details><summary>${t("config.earlier")} (${earlier.length})</summary>${earlier.map((x) => html`<${Reload} key=${x.time} x=${x} />`)}</details>`}</section>
    <section class="panel"><div class="bar"><h2>${t("config.plan")}</h2><input type="search" id="find" aria-label=${t("config.find")} placeholder=${t("config.find")} value=${find} onInput=${(e) => setFind(e.target.value)} /></div>
      ${groups.length === 0 && html`<p class="soft">${t("config.none")}</p>`}
      <div class="groups">${groups.map(([name, list]) => html`<details key=${name} open=${find !== "" || !name.startsWith("routes") || groups.length < 12}><summary>${name || t("config.general")}</summary>
        <table><tbody>${list.map((s) => html`<tr key=${s.path}><th scope="row">${name && s.path.startsWith(name) ? s.path.slice(name.length + 1) : s.path}</th><td>${s.hidden ? html`<em>${t("config.hidden")}</em>` : s.value || "–"}</td></tr>`)}</tbody></table></details>`)}</div></section></div>`;
}
