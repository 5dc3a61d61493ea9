// What the dashboard says, in the reader's language.
import { english } from "./english.js";
import { chinese } from "./chinese.js";

const tables = { en: english, zh: chinese };

function stored() {
  try { return localStorage.getItem("lang"); } catch { return null; }
}

let chosen = stored() || ((navigator.languages || [navigator.language]).find((l) => /^(en|zh)/i.test(l)) || "en").slice(0, 2).toLowerCase();
if (!Object.hasOwn(tables, chosen)) chosen = "en";

export const lang = () => (chosen === "zh" ? "zh-CN" : "en");

export function setLang(code) {
  chosen = code;
  try { localStorage.setItem("lang", code); } catch { /* it holds for this page */ }
  document.documentElement.lang = lang();
}

document.documentElement.lang = lang();

// t is a text with its {places} filled.
export function t(key, values) {
  const table = tables[chosen];
  const text = Object.hasOwn(table, key) ? table[key] : Object.hasOwn(english, key) ? english[key] : key;
  return values ? text.replace(/\{(\w+)\}/g, (all, name) => (Object.hasOwn(values, name) ? String(values[name]) : all)) : text;
}
