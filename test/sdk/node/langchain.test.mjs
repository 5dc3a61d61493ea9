// LangChain: chat, tools, embeddings, and structured output, for which it asks
// again up to seven times when the text does not parse.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { z } from "zod";

import { counted } from "./harness/counted.mjs";
import { stack, templateText } from "./harness/stack.mjs";

// LangChain's tracing is off unless its variables are set.
for (const name of Object.keys(process.env)) if (/^LANG(CHAIN|SMITH)_/.test(name)) delete process.env[name];

function chat(s, options = {}) {
  const traffic = counted();
  const model = new ChatOpenAI({ model: "assistant", apiKey: "sk-any", configuration: { baseURL: s.base, fetch: traffic.fetch }, ...options });
  return { model, traffic };
}

const City = z.object({ city: z.string(), people: z.number().int() });

test("invoke and stream: a healthy primary", async (t) => {
  const s = await stack(t);
  const { model, traffic } = chat(s);
  const answer = await model.invoke("a short poem");
  assert.equal(answer.content, await s.primary.says("model-a", "a short poem"));
  assert.ok(answer.usage_metadata.total_tokens > 0);
  let text = "";
  for await (const chunk of await model.stream("a short poem")) text += chunk.content;
  assert.equal(text, answer.content);
  assert.equal(traffic.answers.length, 2);
});

for (const fault of ["hang", "503", "429:retry-after=30"]) {
  test(`invoke and stream: a primary with the fault ${fault} costs no second request`, async (t) => {
    const s = await stack(t);
    const { model, traffic } = chat(s);
    await s.primary.fault(fault);
    const want = await s.backup.says("model-b", "a short poem");
    assert.equal((await model.invoke("a short poem")).content, want);
    let text = "";
    for await (const chunk of await model.stream("a short poem")) text += chunk.content;
    assert.equal(text, want);
    assert.equal(traffic.answers.length, 2);
  });
}

test("invoke: the last resort", async (t) => {
  const s = await stack(t);
  const { model, traffic } = chat(s);
  await s.primary.fault("503");
  await s.backup.fault("503");
  assert.equal((await model.invoke("a short poem")).content, templateText);
  assert.equal(traffic.answers.length, 1);
});

for (const method of ["jsonSchema", "jsonMode", "functionCalling"]) {
  test(`withStructuredOutput (${method}): a healthy primary`, async (t) => {
    const s = await stack(t);
    const { model, traffic } = chat(s);
    const shape = method === "jsonMode" ? z.object({ answer: z.string() }) : City;
    const value = await model.withStructuredOutput(shape, { method, name: "city" }).invoke("tell me about Rome, as JSON");
    assert.ok(shape.safeParse(value).success, JSON.stringify(value));
    assert.equal(traffic.answers.length, 1);
  });
}

for (const method of ["jsonSchema", "jsonMode"]) {
  for (const fault of ["fenced", "prose", "badjson", "html", "hang"]) {
    test(`withStructuredOutput (${method}): a primary with the fault ${fault} costs no second request`, async (t) => {
      const s = await stack(t);
      const { model, traffic } = chat(s);
      await s.primary.fault(fault);
      const shape = method === "jsonMode" ? z.object({ answer: z.string() }) : City;
      const value = await model.withStructuredOutput(shape, { method, name: "city" }).invoke("tell me about Rome, as JSON");
      assert.ok(shape.safeParse(value).success, JSON.stringify(value));
      assert.equal(traffic.answers.length, 1);
      if (["fenced", "prose", "badjson"].includes(fault)) assert.equal((await s.backup.attempts()).length, 0, "what can be mended needs no second upstream");
    });
  }
}

test("bindTools: a tool call, plain and streamed", async (t) => {
  const s = await stack(t);
  const { model, traffic } = chat(s);
  await s.primary.fault("toolcall");
  const tools = model.bindTools([{ name: "weather", description: "weather of a city", schema: z.object({ city: z.string() }) }]);
  const plain = await tools.invoke("weather in Rome?");
  assert.equal(plain.tool_calls[0].name, "weather");
  let whole;
  for await (const chunk of await tools.stream("weather in Rome?")) whole = whole ? whole.concat(chunk) : chunk;
  assert.deepEqual(whole.tool_calls[0].args, plain.tool_calls[0].args);
  assert.equal(traffic.answers.length, 2);
});

test("embeddings come from a tier with the same model", async (t) => {
  const s = await stack(t);
  const vectors = new OpenAIEmbeddings({ model: "vectors", apiKey: "sk-any", configuration: { baseURL: s.base } });
  const healthy = await vectors.embedDocuments(["red", "green"]);
  assert.equal(healthy.length, 2);
  await s.primary.fault("503");
  assert.equal((await vectors.embedQuery("red")).length, healthy[0].length);
});

test("all dead with retry_signal adaptive: LangChain asks once instead of seven times", async (t) => {
  const s = await stack(t, { config: { errors: { retry_signal: "adaptive" } } });
  const { model, traffic } = chat(s, { model: "bare" });
  await s.primary.fault("503");
  await s.backup.fault("503");
  await assert.rejects(model.invoke("hello", { signal: AbortSignal.timeout(5_000) }));
  assert.equal(traffic.answers.length, 1);
  assert.equal(traffic.answers[0].status, 429);
  assert.equal(traffic.answers[0].headers.get("retry-after"), null);
});
