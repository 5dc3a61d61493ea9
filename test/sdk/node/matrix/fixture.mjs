// The world of the matrix: one mock that speaks all dialects, a relay that
// remembers requests, and two gateways that differ in their retry signal. A
// route's name says what happens to a call.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { Gateway, templateText } from "../harness/stack.mjs";
import { Mock } from "../harness/mock.mjs";
import { Relay } from "./relay.mjs";

export { templateText };

// The four forms of a call. An upstream of the form responses is one of the
// OpenAI dialect that serves /responses itself.
export const forms = ["chat", "responses", "messages", "gemini"];

// The one model that is asked for JSON: its name has the structured outputs of
// Anthropic's vendor switched on, and the mock fences what it says.
const fencing = "claude-sonnet-4-5";

const speaks = {
  chat: { dialect: "openai", vendor: "generic", path: "/v1" },
  responses: { dialect: "openai", vendor: "openai", path: "/v1" },
  messages: { dialect: "anthropic", vendor: "anthropic", path: "" },
  gemini: { dialect: "gemini", vendor: "gemini", path: "" },
};

// Breakers and limits stay out of the way: a route is asked many times, and
// each call has to meet its fault.
const defaults = {
  allow_private: true,
  proxy: "off",
  key: "key-of-the-upstream",
  breaker: { failures: 1000, window: "1s", hang: false },
  timeouts: { first_token: "20s", idle: "20s" },
};

export class Fixture {
  static async open() {
    const fixture = new Fixture();
    fixture.binary = process.env.BACKSTOP_BIN;
    if (!fixture.binary) throw new Error("BACKSTOP_BIN is not set: run the suite with `npm test`, which builds the binary");
    fixture.folder = await mkdtemp(path.join(os.tmpdir(), "backstop-sdk-"));
    try {
      fixture.mock = await Mock.start(fixture.binary, 1);
      await fixture.mock.fault("fenced", fencing);
      fixture.relay = await Relay.start(fixture.mock.url);
      [fixture.fixed, fixture.adaptive] = await Promise.all(["fixed", "adaptive"].map((signal) => fixture.gateway(signal)));
    } catch (err) {
      await fixture.close();
      throw err;
    }
    return fixture;
  }

  async gateway(signal) {
    const file = path.join(this.folder, `${signal}.yaml`); // JSON is YAML
    await writeFile(file, JSON.stringify(plan(this.mock.url, this.relay, signal), null, 1));
    return Gateway.start(this.binary, file);
  }

  // says is the healthy text for a prompt, whatever the dialect and model.
  says(prompt) {
    return this.mock.says("model", prompt);
  }

  async close() {
    await Promise.all([this.fixed?.end(), this.adaptive?.end()]);
    this.relay?.end();
    await this.mock?.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function plan(mock, relay, signal) {
  const upstreams = {};
  for (const form of forms) {
    const { path: base, ...rest } = speaks[form];
    upstreams[form] = { ...rest, base_url: mock + base };
    upstreams[`${form}-seen`] = { ...rest, base_url: relay.url + base };
    upstreams[`${form}-late`] = { ...rest, base_url: relay.late + base };
    upstreams[`${form}-limited`] = { ...rest, base_url: mock + base, key: `key-of-the-upstream-for-${form}` }; // parked with its key
    upstreams[`${form}-quick`] = { ...rest, base_url: mock + base, timeouts: { first_token: "400ms" } };
  }
  return {
    admin: { token: "a-token-for-tests-only" },
    defaults,
    upstreams,
    routes: [...routes()],
    errors: { retry_signal: signal },
    drain: { delay: "0s", limit: "1s" },
    log: { format: "json", level: "error" },
  };
}

// Route names: what happens, where, and who stands in.
export const route = {
  well: (at) => `well-${at}`,
  tool: (at) => `tool-${at}`,
  thinks: (at) => `thinks-${at}`,
  fenced: (at) => `fenced-${at}`,
  loop: (at) => `loop-${at}`,
  moved: (at, by) => `moved-${at}-${by}`,
  silent: (at, by) => `silent-${at}-${by}`,
  dead: (at, by) => `dead-${at}-${by}`,
  cut: (at, by) => `cut-${at}-${by}`,
  broken: (at) => `broken-${at}`,
  mistake: (at) => `mistake-${at}`,
  waits: (at) => `waits-${at}`,
  resumes: (at) => `resumes-${at}`,
  late: (at, by) => `late-${at}-${by}`,
  limited: (at, by) => `limited-${at}-${by}`,
  gone: (at, by) => `gone-${at}-${by}`,
  last: (at, by) => `last-${at}-${by}`,
};

function* routes() {
  const local = { local: { template: { text: templateText, json: { answer: "none" } } } };
  const tier = (upstream, model) => ({ upstream, model });
  const make = (model, tiers, more = {}) => ({ model, tiers, ...more });
  for (const at of forms) {
    yield make(route.well(at), [tier(at, "model-a")]);
    yield make(route.tool(at), [tier(at, "toolcall")]);
    yield make(route.thinks(at), [tier(at, "thinking@8")]);
    yield make(route.fenced(at), [tier(at, fencing)]);
    yield make(route.loop(at), [tier(`${at}-seen`, "model-a")]);
    yield make(route.broken(at), [tier(at, "cut@8"), tier(at, "model-b")], { stream: { rescue: "off" } });
    yield make(route.mistake(at), [tier(at, "400:message=no-such-colour"), tier(at, "model-b")]);
    yield make(route.waits(at), [tier(at, "slow:300ms")], { stream: { keepalive: "60ms" } });
    yield make(route.resumes(at), [tier(at, "cut@8"), tier(at, "slow:300ms")], { stream: { keepalive: "60ms" } });
    for (const by of forms) {
      yield make(route.moved(at, by), [tier(`${at}-late`, "model-a"), tier(`${by}-seen`, "model-b")]);
      yield make(route.silent(at, by), [tier(`${at}-quick`, "hang"), tier(by, "model-b")]);
      yield make(route.dead(at, by), [tier(at, "503"), tier(by, "model-b")]);
      yield make(route.cut(at, by), [tier(at, "cut@8"), tier(by, "model-b")]);
      yield make(route.late(at, by), [tier(`${at}-quick`, "hang"), tier(by, "503")], { stream: { keepalive: "60ms" } });
      yield make(route.limited(at, by), [tier(`${at}-limited`, "429:retry-after=90"), tier(`${by}-limited`, "429:retry-after=90")]);
      yield make(route.gone(at, by), [tier(at, "503"), tier(by, "503")]);
      yield make(route.last(at, by), [tier(at, "503"), tier(by, "503"), local]);
    }
  }
}
