// The frame around the screens: where one is, keys, theme, language.
import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { connect, feed, hear } from "./feed.js";
import { setLang, t, lang } from "./words.js";
import { span } from "./show.js";
import { Now } from "./now.js";
import { Upstreams } from "./upstreams.js";
import { Calls } from "./calls.js";
import { Config } from "./config.js";
import { Drill } from "./drill.js";
import { Notices } from "./notice.js";

const screens = { now: Now, upstreams: Upstreams, calls: Calls, config: Config, drill: Drill };
const names = Object.keys(screens);

// place reads #/calls/ID?tier=none.
function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, id] = path.split("/");
  let wanted = "";
  try { wanted = id ? decodeURIComponent(id) : ""; } catch { /* no id then */ }
  return { name: Object.hasOwn(screens, name) ? name : "now", id: wanted, query: new URLSearchParams(query || "") };
}

const themes = ["auto", "dark", "light"];

function storedTheme() {
  try { return themes.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto"; } catch { return "auto"; }
}

function useTheme() {
  const [theme, setTheme] = useState(storedTheme()), [, setSystem] = useState(0);
  useEffect(() => {
    const root = document.documentElement;
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* it holds for this page */ }
    setSystem((n) => n + 1); // charts take their colours again
  }, [theme]);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)"), turn = () => setSystem((n) => n + 1);
    system.addEventListener("change", turn);
    return () => system.removeEventListener("change", turn);
  }, []);
  const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  return [theme, () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]), (document.documentElement.dataset.theme || "auto") + dark];
}

const typing = (e) => e.target.closest("input, select, textarea, dialog");

function useKeys(act) {
  const now = useRef(act);
  now.current = act;
  useEffect(() => {
    const key = (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "Escape" && e.target.closest("input")) e.target.blur();
      if (typing(e)) return;
      if (/^[1-5]$/.test(e.key)) location.hash = "#/" + names[e.key - 1];
      else if (e.key === "/" && document.getElementById("find")) { e.preventDefault(); document.getElementById("find").focus(); }
      else if (e.key === "t") now.current.theme();
      else if (e.key === "l") now.current.lang();
      else if (e.key === "?") now.current.help();
      else if (e.key === "Escape" && place().id) location.hash = "#/calls";
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
}

function Help({ onClose }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  const keys = [["1 – 5", "screens"], ["/", "find"], ["j k", "move"], ["Enter", "open"], ["Esc", "back"], ["t", "theme"], ["l", "lang"], ["?", "help"]];
  return html`<dialog ref=${box} aria-labelledby="keys" onClose=${onClose}><h2 id="keys">${t("help.title")}</h2>
    <dl class="keyslist">${keys.map(([k, what]) => html`<div key=${what}><dt>${k.split(" ").map((x) => (x === "–" ? " – " : html`<kbd>${x}</kbd> `))}</dt><dd>${t("help." + what)}</dd></div>`)}</dl>
    <div class="buttons"><button class="main" autofocus onClick=${() => box.current.close()}>${t("help.close")}</button></div></dialog>`;
}

function App() {
  const [, draw] = useState(0), [at, setAt] = useState(place()), [help, setHelp] = useState(false);
  const [theme, nextTheme, colours] = useTheme();
  const nextLang = () => { setLang(lang() === "en" ? "zh" : "en"); draw((n) => n + 1); };
  useEffect(() => hear(() => draw((n) => n + 1)), []);
  useEffect(() => {
    const moved = () => { setAt(place()); scrollTo(0, 0); };
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useKeys({ theme: nextTheme, lang: nextLang, help: () => setHelp(true) });
  const worstTone = feed.state ? feed.state.upstreams.some((u) => u.state === "open" || u.state === "forced-open") : false;
  useEffect(() => { document.title = (worstTone ? "● " : "") + t("nav." + at.name) + " · Backstop"; }, [worstTone, at.name, lang()]);
  const Screen = screens[at.name];
  return html`
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById("main").focus(); }}>${t("skip")}</a>
    <header class="top"><a class="brand" href="#/now"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M9 8v16M15 11v10M21 14l4 2-4 2" /></svg>Backstop</a>
      <nav aria-label=${t("nav.label")}>${names.map((name, i) => html`<a key=${name} href=${"#/" + name} aria-current=${name === at.name ? "page" : undefined} aria-keyshortcuts=${i + 1}>${t("nav." + name)}</a>`)}</nav>
      <p class=${"link " + feed.link} id="link">${t(feed.link === "locked" ? "link.lost" : "link." + feed.link)}</p>
      <div class="tools"><button onClick=${() => setHelp(true)} aria-keyshortcuts="?">${t("help")}</button><button onClick=${nextTheme} aria-keyshortcuts="t" id="theme">${t("theme")}: ${t("theme." + theme)}</button>
        <button onClick=${nextLang} aria-keyshortcuts="l" lang=${lang() === "en" ? "zh-CN" : "en"} aria-label=${t("lang") + ", " + t("lang.label")} id="lang">${t("lang")}</button></div></header>
    ${feed.link === "locked" && html`<p class="banner tone-failed" role="alert">${t("link.locked")}</p>`}
    <main id="main" tabindex="-1" class=${feed.link === "lost" || feed.link === "locked" ? "stale" : ""}>${feed.state && html`<${Screen} id=${at.id} query=${at.query} theme=${colours} />`}</main>
    <footer>${feed.state && html`${feed.state.version && t("version", { v: feed.state.version }) + " · "}${t("up", { span: span(1000 * feed.state.uptime_s) })}`}</footer>
    <${Notices} />${help && html`<${Help} onClose=${() => setHelp(false)} />`}`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
connect();
