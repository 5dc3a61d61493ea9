// Builds the article's caller and the binary, then runs the suites:
//
//   npm test                     all suites
//   npm test -- openai           those whose names contain a word
//   BACKSTOP_BIN=PATH npm test   a binary that is there already
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../../..");
const words = process.argv.slice(2);
const suites = readdirSync(here)
  .filter((name) => name.endsWith(".test.mjs"))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  .map((name) => path.join(here, name));
if (suites.length === 0) {
  console.error(`no suite has a name with ${words.join(" or ")}`);
  process.exit(2);
}

const scratch = mkdtempSync(path.join(os.tmpdir(), "backstop-sdk-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

step(process.execPath, [path.join(here, "node_modules/typescript/bin/tsc"), "-p", here], here);
const env = { ...process.env, NO_PROXY: "127.0.0.1,localhost", TMPDIR: scratch }; // what tests leave behind goes with scratch
delete env.NODE_TEST_CONTEXT;
if (env.BACKSTOP_BIN) env.BACKSTOP_BIN = path.resolve(env.BACKSTOP_BIN);
else {
  env.BACKSTOP_BIN = path.join(scratch, "backstop");
  step("go", ["build", "-o", env.BACKSTOP_BIN, "./cmd/backstop"], root);
}

const tests = spawn(process.execPath, ["--test", "--test-concurrency=3", "--test-timeout=600000", "--test-reporter=spec", ...suites], { cwd: here, env, stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => tests.kill(signal));
tests.on("exit", (code) => process.exit(code ?? 1));

function step(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
