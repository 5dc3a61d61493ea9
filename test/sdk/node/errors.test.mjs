// Errors as users of the openai package see them: typed, told once, and with
// the cause in words.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import OpenAI from "openai";

import { counted } from "./harness/counted.mjs";
import { stack } from "./harness/stack.mjs";

function sdk(s, options = {}) {
  const traffic = counted();
  return { openai: new OpenAI({ baseURL: s.base, apiKey: "sk-any", fetch: traffic.fetch, ...options }), traffic };
}

const ask = (model = "bare") => ({ model, messages: [{ role: "user", content: "hello" }] });

async function failure(promise) {
  try {
    await promise;
  } catch (err) {
    return err;
  }
  assert.fail("the call was answered");
}

for (const stream of [false, true]) {
  test(`all dead, no local tier, ${stream ? "streamed" : "plain"}: one request and one typed error`, async (t) => {
    const s = await stack(t);
    const { openai, traffic } = sdk(s);
    await s.primary.fault("hang");
    await s.backup.fault("503");
    const err = await failure(openai.chat.completions.create({ ...ask(), stream }));
    assert.ok(err instanceof OpenAI.InternalServerError, String(err));
    assert.equal(err.status, 503);
    assert.equal(err.code, "upstreams_exhausted");
    assert.equal(typeof err.type, "string");
    assert.equal(err.requestID, err.headers.get("x-request-id"));
    assert.ok(err.requestID);
    assert.equal(err.headers.get("x-should-retry"), "false");
    assert.match(err.headers.get("content-type"), /^application\/json/);
    assert.match(err.message, /primary/);
    assert.match(err.message, /backup/);
    assert.doesNotMatch(err.message, /127\.0\.0\.1|key-of-|\/v1|dial tcp|EOF/);
    assert.equal(traffic.answers.length, 1);
  });
}

test("one upstream, no other: its own code", async (t) => {
  const s = await stack(t, { config: { routes: [{ model: "bare", tiers: [{ upstream: "primary", model: "model-a" }] }] } });
  const { openai, traffic } = sdk(s);
  await s.primary.fault("hang");
  const silent = await failure(openai.chat.completions.create(ask()));
  assert.ok(silent instanceof OpenAI.InternalServerError, String(silent));
  assert.equal(silent.status, 504);
  assert.equal(silent.code, "upstream_timeout");
  assert.equal(silent.type, "timeout_error");
  await s.primary.fault("status:529");
  const busy = await failure(openai.chat.completions.create(ask()));
  assert.equal(busy.status, 529);
  await s.primary.fault("html");
  const noise = await failure(openai.chat.completions.create(ask()));
  assert.equal(noise.status, 502);
  assert.doesNotMatch(noise.message, /</);
  assert.equal(traffic.answers.length, 3);
});

test("all rate-limited: the time to wait is told, bounded, and not slept by the SDK", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("429:retry-after=90");
  await s.backup.fault("429:retry-after=90");
  const start = performance.now();
  const err = await failure(openai.chat.completions.create(ask()));
  assert.ok(performance.now() - start < 5_000);
  assert.equal(err.code, "upstreams_exhausted");
  assert.ok(Number(err.headers.get("retry-after-ms")) <= 10_000);
  assert.ok(Number(err.headers.get("retry-after")) <= 10);
  assert.equal(traffic.answers.length, 1);
});

test("an upstream's 400 is the caller's business: its status and words, no second upstream", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("400:code=bad_colour:message=no such colour");
  const err = await failure(openai.chat.completions.create(ask("assistant")));
  assert.ok(err instanceof OpenAI.BadRequestError, String(err));
  assert.match(err.message, /no such colour/);
  assert.equal((await s.backup.attempts()).length, 0);
  assert.equal(traffic.answers.length, 1);
});

test("an upstream's auth wall is answered by the backup, and without one in words of our own", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  await s.primary.fault("401:message=Incorrect key key-of-the-primary");
  const saved = await openai.chat.completions.create(ask());
  assert.equal(saved.model, "model-b");
  await s.backup.fault("401:message=Incorrect key key-of-the-backup");
  const err = await failure(openai.chat.completions.create(ask()));
  assert.ok(err instanceof OpenAI.APIError);
  assert.doesNotMatch(JSON.stringify(err.error), /key-of-/);
});

test("an unknown model is a 404 of ours", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  const err = await failure(openai.chat.completions.create(ask("nobody")));
  assert.ok(err instanceof OpenAI.NotFoundError, String(err));
  assert.equal(err.code, "not_found");
  assert.equal(traffic.answers.length, 1);
});

test("a body that is no chat request is a 400 of ours", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  const err = await failure(openai.chat.completions.create({ model: "assistant", messages: "hello" }));
  assert.ok(err instanceof OpenAI.BadRequestError, String(err));
  assert.equal(err.code, "invalid_request");
  assert.equal(traffic.answers.length, 1);
});

test("with callers declared, the right key passes and a wrong one is a 401", async (t) => {
  const key = "caller-key-of-the-web-app";
  const s = await stack(t, { config: { callers: [{ name: "web", key }] } });
  const right = sdk(s, { apiKey: key });
  assert.ok((await right.openai.chat.completions.create(ask())).choices[0].message.content);
  const wrong = sdk(s, { apiKey: "caller-key-of-somebody-else" });
  const err = await failure(wrong.openai.chat.completions.create(ask()));
  assert.ok(err instanceof OpenAI.AuthenticationError, String(err));
  assert.equal(err.code, "unauthorized");
  assert.ok(err.requestID);
  assert.equal(wrong.traffic.answers.length, 1);
  const attempts = await s.primary.attempts();
  assert.equal(attempts.length, 1);
  assert.equal(attempts[0].key, createHash("sha256").update("key-of-the-primary").digest("hex").slice(0, 8));
});
