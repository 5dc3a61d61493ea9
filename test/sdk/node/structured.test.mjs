// Structured output with the openai package: a fence, or an upstream that does
// not send JSON, never becomes a parse error or a second request of the caller.
import assert from "node:assert/strict";
import { test } from "node:test";

import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

import { counted } from "./harness/counted.mjs";
import { stack } from "./harness/stack.mjs";

const City = z.object({ city: z.string(), people: z.number().int(), tags: z.array(z.string()).min(1) });

function sdk(s) {
  const traffic = counted();
  return { openai: new OpenAI({ baseURL: s.base, apiKey: "sk-any", fetch: traffic.fetch }), traffic };
}

const ask = (model = "assistant") => ({ model, messages: [{ role: "user", content: "tell me about Rome, as JSON" }] });
const promised = { response_format: zodResponseFormat(City, "city") };

test("parse: a healthy primary passes byte for byte", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  const answer = await openai.chat.completions.parse({ ...ask(), ...promised });
  assert.ok(City.safeParse(answer.choices[0].message.parsed).success);
  assert.equal(traffic.answers[0].headers.get("x-backstop-repaired"), null);
  assert.equal(traffic.answers.length, 1);
});

test("parse: a fenced answer is unwrapped, once, and reported", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("fenced");
  const answer = await openai.chat.completions.parse({ ...ask(), ...promised });
  assert.ok(City.safeParse(answer.choices[0].message.parsed).success);
  assert.equal(answer.model, "model-a");
  assert.match(traffic.answers[0].headers.get("x-backstop-repaired") ?? "(none)", /fence/);
  assert.equal(traffic.answers.length, 1);
  assert.equal((await s.primary.attempts()).length, 1);
  assert.equal((await s.backup.attempts()).length, 0);
});

for (const fault of ["prose", "badjson", "truncated", "html", "hang"]) {
  test(`parse: a primary with the fault ${fault} costs the caller one request`, async (t) => {
    const s = await stack(t);
    const { openai, traffic } = sdk(s);
    await s.primary.fault(fault);
    const answer = await openai.chat.completions.parse({ ...ask(), ...promised });
    assert.ok(City.safeParse(answer.choices[0].message.parsed).success);
    assert.equal(traffic.answers.length, 1);
    const mended = fault === "prose" || fault === "badjson";
    assert.equal((await s.backup.attempts()).length, mended ? 0 : 1);
  });
}

test("parse: JSON that nobody can give is a typed error, told once", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  for (const mock of [s.primary, s.backup]) await mock.fault("refusal:filter");
  await assert.rejects(openai.chat.completions.parse({ ...ask("bare"), ...promised }), OpenAI.OpenAIError);
  assert.equal(traffic.answers.length, 1);
});

test("parse: arguments of a tool call", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("toolcall");
  const tools = [zodFunction({ name: "remember", parameters: City })];
  const answer = await openai.chat.completions.parse({ ...ask(), tools });
  assert.ok(City.safeParse(answer.choices[0].message.tool_calls[0].function.parsed_arguments).success);
  assert.equal(traffic.answers.length, 1);
});

test("the JSON mode without a schema: a fence is taken off", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("fenced");
  const answer = await openai.chat.completions.create({ ...ask(), response_format: { type: "json_object" } });
  assert.equal(typeof JSON.parse(answer.choices[0].message.content).answer, "string");
  assert.equal(traffic.answers.length, 1);
});

test("the last resort of a call that was promised JSON is the configured JSON", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  await s.primary.fault("503");
  await s.backup.fault("503");
  const answer = await openai.chat.completions.create({ ...ask(), response_format: { type: "json_object" } });
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), { fallback: true });
});

for (const fault of ["ok", "fenced", "prose", "badjson", "hang"]) {
  test(`stream: promised JSON of a primary with the fault ${fault} parses`, async (t) => {
    const s = await stack(t);
    const { openai, traffic } = sdk(s);
    await s.primary.fault(fault);
    const whole = await openai.chat.completions.stream({ ...ask(), ...promised }).finalChatCompletion();
    assert.ok(City.safeParse(whole.choices[0].message.parsed).success);
    assert.equal(traffic.answers.length, 1);
  });
}

test("stream: JSON that was cut off is closed, and says so by its finish reason, which the SDK raises", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("truncated:stop");
  const stream = openai.chat.completions.stream({ ...ask(), ...promised });
  await assert.rejects(stream.finalChatCompletion(), OpenAI.LengthFinishReasonError);
  assert.equal(traffic.answers.length, 1);
  const text = [];
  for await (const chunk of await openai.chat.completions.create({ ...ask(), ...promised, stream: true })) text.push(chunk.choices[0]?.delta?.content ?? "");
  assert.equal(typeof JSON.parse(text.join("")), "object");
});
