// The AI SDK with its OpenAI-compatible package.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateObject, generateText, streamObject, streamText, tool } from "ai";
import { z } from "zod";

import { counted } from "./harness/counted.mjs";
import { stack, templateText } from "./harness/stack.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

function sdk(s, options = {}) {
  const traffic = counted();
  return { models: createOpenAICompatible({ name: "backstop", baseURL: s.base, apiKey: "sk-any", fetch: traffic.fetch, ...options }), traffic };
}

const City = z.object({ city: z.string(), people: z.number().int() });

test("generateText and streamText: a healthy primary", async (t) => {
  const s = await stack(t);
  const { models, traffic } = sdk(s, { includeUsage: true });
  const want = await s.primary.says("model-a", "a short poem");
  const plain = await generateText({ model: models("assistant"), prompt: "a short poem" });
  assert.equal(plain.text, want);
  assert.equal(plain.finishReason, "stop");
  assert.ok(plain.usage.outputTokens > 0);
  assert.equal(plain.response.headers["x-backstop-tier"], "primary");
  const streamed = streamText({ model: models("assistant"), prompt: "a short poem" });
  assert.equal(await streamed.text, want);
  assert.equal(await streamed.finishReason, "stop");
  assert.ok((await streamed.usage).outputTokens > 0);
  assert.equal(traffic.answers.length, 2);
});

for (const fault of ["hang", "503", "429:retry-after=30"]) {
  test(`generateText and streamText: a primary with the fault ${fault} costs no second request`, async (t) => {
    const s = await stack(t);
    const { models, traffic } = sdk(s);
    await s.primary.fault(fault);
    const want = await s.backup.says("model-b", "a short poem");
    assert.equal((await generateText({ model: models("assistant"), prompt: "a short poem" })).text, want);
    assert.equal(await streamText({ model: models("assistant"), prompt: "a short poem" }).text, want);
    assert.equal(traffic.answers.length, 2);
  });
}

test("generateText and streamText: the last resort passes the SDK's checks", async (t) => {
  const s = await stack(t);
  const { models, traffic } = sdk(s);
  await s.primary.fault("503");
  await s.backup.fault("503");
  assert.equal((await generateText({ model: models("assistant"), prompt: "hello" })).text, templateText);
  const streamed = streamText({ model: models("assistant"), prompt: "hello" });
  assert.equal(await streamed.text, templateText);
  assert.equal(await streamed.finishReason, "stop");
  assert.equal(traffic.answers.length, 2);
});

for (const fault of ["ok", "fenced", "prose", "badjson", "html", "hang"]) {
  test(`generateObject: a primary with the fault ${fault} costs one request`, async (t) => {
    const s = await stack(t);
    const { models, traffic } = sdk(s, { supportsStructuredOutputs: true });
    await s.primary.fault(fault);
    const { object } = await generateObject({ model: models("assistant"), schema: City, prompt: "tell me about Rome" });
    assert.ok(City.safeParse(object).success);
    assert.equal(traffic.answers.length, 1);
    if (["fenced", "prose", "badjson"].includes(fault)) assert.equal((await s.backup.attempts()).length, 0, "what can be mended needs no second upstream");
  });
}

test("generateObject: without structured outputs only the JSON mode is asked for, and a fence is still taken off", async (t) => {
  const s = await stack(t);
  const { models, traffic } = sdk(s);
  await s.primary.fault("fenced");
  const { object } = await generateObject({ model: models("assistant"), schema: z.object({ answer: z.string() }), prompt: "a word" });
  assert.equal(typeof object.answer, "string");
  assert.equal(traffic.answers.length, 1);
});

test("generateObject: with everything dead the template's JSON is what was configured", async (t) => {
  const s = await stack(t);
  const { models } = sdk(s);
  await s.primary.fault("503");
  await s.backup.fault("503");
  const { object } = await generateObject({ model: models("assistant"), schema: z.object({ fallback: z.boolean() }), prompt: "a word" });
  assert.deepEqual(object, { fallback: true });
});

for (const fault of ["ok", "fenced", "prose", "hang"]) {
  test(`streamObject: a primary with the fault ${fault}`, async (t) => {
    const s = await stack(t);
    const { models, traffic } = sdk(s, { supportsStructuredOutputs: true });
    await s.primary.fault(fault);
    const streamed = streamObject({ model: models("assistant"), schema: City, prompt: "tell me about Rome" });
    const seen = [];
    for await (const part of streamed.partialObjectStream) seen.push(part);
    assert.deepEqual(seen.at(-1), await streamed.object);
    assert.ok(City.safeParse(await streamed.object).success);
    assert.equal(traffic.answers.length, 1);
  });
}

test("tools: a call with its arguments, plain and streamed", async (t) => {
  const s = await stack(t);
  const { models, traffic } = sdk(s);
  await s.primary.fault("toolcall");
  const tools = { weather: tool({ description: "weather of a city", inputSchema: z.object({ city: z.string() }) }) };
  const plain = await generateText({ model: models("assistant"), tools, prompt: "weather in Rome?" });
  assert.equal(plain.toolCalls[0].toolName, "weather");
  assert.equal(typeof plain.toolCalls[0].input.city, "string");
  assert.equal(plain.finishReason, "tool-calls");
  const streamed = streamText({ model: models("assistant"), tools, prompt: "weather in Rome?" });
  assert.deepEqual((await streamed.toolCalls)[0].input, plain.toolCalls[0].input);
  assert.equal(traffic.answers.length, 2);
});

test("embedMany comes from a tier with the same model", async (t) => {
  const s = await stack(t);
  const { models } = sdk(s);
  await s.primary.fault("503");
  const { embeddings } = await embedMany({ model: models.textEmbeddingModel("vectors"), values: ["red", "green"] });
  assert.equal(embeddings.length, 2);
  assert.equal(embeddings[0].length, 64);
});

test("all dead with retry_signal adaptive: the AI SDK asks once instead of three times", async (t) => {
  const s = await stack(t, { config: { errors: { retry_signal: "adaptive" } } });
  const { models, traffic } = sdk(s);
  await s.primary.fault("503");
  await s.backup.fault("503");
  await assert.rejects(generateText({ model: models("bare"), prompt: "hello", abortSignal: AbortSignal.timeout(5_000) }));
  assert.equal(traffic.answers.length, 1);
  assert.equal(traffic.answers[0].status, 424);
});

test("a stream that breaks after its first token with rescue off ends in an error part", async (t) => {
  const s = await stack(t, {
    config: { routes: [{ model: "assistant", stream: { rescue: "off" }, tiers: [{ upstream: "primary", model: "model-a" }, { upstream: "backup", model: "model-b" }] }] },
  });
  const { models } = sdk(s);
  await s.primary.fault("cut@8");
  const errors = [];
  const parts = [];
  const streamed = streamText({ model: models("assistant"), prompt: "a short poem", onError: ({ error }) => void errors.push(error) });
  for await (const part of streamed.fullStream) parts.push(part.type);
  assert.equal(errors.length, 1);
  assert.ok(parts.includes("error"));
});
