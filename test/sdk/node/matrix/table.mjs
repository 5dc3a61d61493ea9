// The tables of docs/sdks.md, made from the callers and the scenarios.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { callers } from "./callers.mjs";
import { reached, scenarios } from "./scenarios.mjs";

const page = fileURLToPath(new URL("../../../../docs/sdks.md", import.meta.url));

// How the page calls the forms of a call.
const spoken = {
  chat: { letter: "C", name: "OpenAI chat" },
  responses: { letter: "R", name: "OpenAI Responses" },
  messages: { letter: "A", name: "Anthropic" },
  gemini: { letter: "G", name: "Gemini" },
};

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

const tables = {
  callers: () => table(
    ["SDK", "version", "speaks", "`errors.retry_signal`"],
    callers.map((c) => [c.name, c.version, spoken[c.form].name, c.signal]),
  ),
  scenarios: () => table(["", "scenario", "what it shows"], scenarios.map((s, i) => [i + 1, s.name, s.shows])),
  grid: () => table(
    ["SDK", ...scenarios.map((_, i) => i + 1)],
    callers.map((c) => [c.name, ...scenarios.map((s) => reached(c, s).map((at) => spoken[at].letter).join("") || "–")]),
  ),
};

// stale lists the tables of the page that say something else than the suite;
// none, if it is to write them.
export async function stale(write) {
  const was = await readFile(page, "utf8");
  let is = was;
  const old = [];
  for (const [name, make] of Object.entries(tables)) {
    const [begin, end] = [`<!-- ${name}:begin -->\n`, `\n<!-- ${name}:end -->`];
    const [from, to] = [is.indexOf(begin) + begin.length, is.indexOf(end)];
    if (from < begin.length || to < from) throw new Error(`docs/sdks.md has no place for the table ${name}`);
    if (is.slice(from, to) !== make()) old.push(name);
    is = is.slice(0, from) + make() + is.slice(to);
  }
  if (!write) return old;
  if (is !== was) await writeFile(page, is);
  return [];
}
