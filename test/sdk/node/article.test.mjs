// The article's own caller with its URLs changed to POST /api/agent.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ArticleCaller, parseAnswer } from "./build/caller.js";
import { stack, templateText } from "./harness/stack.mjs";

const card = { failureThreshold: 5, resetTimeoutMs: 60_000, requestTimeoutMs: 4_500 };
const cardFirstToken = "4500ms";

test("a healthy primary answers the article's caller", async (t) => {
  const s = await stack(t, { firstToken: cardFirstToken });
  const caller = new ArticleCaller(card);
  const reply = await caller.executeWithFallback("name a colour", s.agent, s.agent);
  assert.deepEqual(reply, { text: await s.primary.says("model-a", "name a colour"), from: "primary", fallback: false });
  assert.equal((await s.backup.attempts()).length, 0);
});

test("with the card's 4.5 s on both sides, calls that wait together on a silent primary are answered by the backup in time", async (t) => {
  const s = await stack(t, { firstToken: cardFirstToken });
  await s.primary.fault("hang");
  const caller = new ArticleCaller(card);
  const prompts = Array.from({ length: 12 }, (_, i) => `question ${i}`);
  const replies = await Promise.all(prompts.map((p) => caller.executeWithFallback(p, s.agent, s.agent)));
  for (const [i, reply] of replies.entries()) {
    assert.deepEqual(reply, { text: await s.backup.says("model-b", prompts[i]), from: "primary", fallback: false });
  }
  assert.equal(caller.open, false);

  const start = performance.now();
  const next = await caller.executeWithFallback("one more", s.agent, s.agent);
  const took = performance.now() - start;
  assert.equal(next.text, await s.backup.says("model-b", "one more"));
  assert.ok(took < 1_000, `with the breaker open the call took ${took} ms`);
});

test("a lone call on a silent primary is answered by the backup after first_token", async (t) => {
  const s = await stack(t, { firstToken: "1500ms" });
  await s.primary.fault("hang");
  const reply = await new ArticleCaller(card).executeWithFallback("anyone there?", s.agent, s.agent);
  assert.deepEqual(reply, { text: await s.backup.says("model-b", "anyone there?"), from: "primary", fallback: false });
});

for (const fault of ["504", "429", "429:retry-after=2", "reset", "html", "malformed:all", "empty", "error-in-200"]) {
  test(`a primary with the fault ${fault} costs the article's caller nothing`, async (t) => {
    const s = await stack(t);
    await s.primary.fault(fault);
    const reply = await new ArticleCaller(card).executeWithFallback("name a river", s.agent, s.agent);
    assert.deepEqual(reply, { text: await s.backup.says("model-b", "name a river"), from: "primary", fallback: false });
  });
}

test("the primary's return is noticed without a call that has to wait for it", async (t) => {
  const s = await stack(t, {
    config: { defaults: { allow_private: true, proxy: "off", timeouts: { first_token: "500ms" }, breaker: { failures: 2, reset: "2s" } } },
  });
  const caller = new ArticleCaller(card);
  const ask = async () => (await caller.executeWithFallback("who answers?", s.agent, s.agent)).text;
  const [first, second] = await Promise.all([s.primary.says("model-a", "who answers?"), s.backup.says("model-b", "who answers?")]);
  await s.primary.fault("hang");
  for (let i = 0; i < 4; i++) assert.equal(await ask(), second);
  await s.primary.fault("");
  const last = Date.now() + 10_000;
  for (;;) {
    const start = performance.now();
    const text = await ask();
    const took = performance.now() - start;
    assert.ok(took < 400, `a call took ${took} ms`);
    if (text === first) break;
    assert.equal(text, second);
    assert.ok(Date.now() < last, "ten seconds after its return the primary still gets no calls");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("with both upstreams dead the article's caller reads the template", async (t) => {
  const s = await stack(t);
  await s.primary.fault("503");
  await s.backup.fault("hang");
  const caller = new ArticleCaller(card);
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await caller.executeWithFallback("hello", s.agent, s.agent), { text: templateText, from: "primary", fallback: false });
  }
});

test("an upstream that nobody listens for is a dead one", async (t) => {
  const s = await stack(t);
  await s.primary.end();
  const reply = await new ArticleCaller(card).executeWithFallback("still there?", s.agent, s.agent);
  assert.equal(reply.text, await s.backup.says("model-b", "still there?"));
});

test("where every answer is promised JSON, a fence never reaches the caller", async (t) => {
  const s = await stack(t, { config: { agent: { json: true } } });
  await s.primary.fault("fenced");
  const { text } = await new ArticleCaller(card).executeWithFallback("list a fruit as JSON", s.agent, s.agent);
  assert.equal(typeof JSON.parse(text).answer, "string");
  assert.deepEqual(parseAnswer(text), JSON.parse(text));
});

test("where every answer is promised JSON, JSON of the backup stands in for noise", async (t) => {
  const s = await stack(t, { config: { agent: { json: true } } });
  await s.primary.fault("html");
  const { text } = await new ArticleCaller(card).executeWithFallback("list a fruit as JSON", s.agent, s.agent);
  assert.equal(typeof JSON.parse(text).answer, "string");
});

test("where every answer is promised JSON, the last resort is JSON too", async (t) => {
  const s = await stack(t, { config: { agent: { json: true } } });
  await s.primary.fault("503");
  await s.backup.fault("503");
  const { text } = await new ArticleCaller(card).executeWithFallback("list a fruit as JSON", s.agent, s.agent);
  assert.deepEqual(parseAnswer(text), { fallback: true });
});

test("where no JSON was promised, a fence passes as it is and the caller's own repair still works", async (t) => {
  const s = await stack(t);
  await s.primary.fault("fenced");
  const { text } = await new ArticleCaller(card).executeWithFallback("list a fruit as JSON", s.agent, s.agent);
  assert.match(text, /^```json\n/);
  assert.equal(typeof parseAnswer(text).answer, "string");
});
