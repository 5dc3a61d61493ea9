// The official openai package: what works when all is well and what its user
// does not notice when the primary fails.
import assert from "node:assert/strict";
import { test } from "node:test";

import OpenAI from "openai";

import { counted } from "./harness/counted.mjs";
import { stack, templateText } from "./harness/stack.mjs";

function sdk(s, options = {}) {
  const traffic = counted();
  return { openai: new OpenAI({ baseURL: s.base, apiKey: "sk-any", fetch: traffic.fetch, ...options }), traffic };
}

const ask = (prompt, model = "assistant") => ({ model, messages: [{ role: "user", content: prompt }] });

async function collect(stream) {
  const got = { text: "", finish: [], chunks: [], usage: [] };
  for await (const chunk of stream) {
    got.chunks.push(chunk);
    got.text += chunk.choices[0]?.delta.content ?? "";
    if (chunk.choices[0]?.finish_reason) got.finish.push(chunk.choices[0].finish_reason);
    if (chunk.usage) got.usage.push(chunk.usage);
  }
  return got;
}

const one = (values) => [...new Set(values)].length === 1;

test("chat: a healthy primary", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  const { data, response } = await openai.chat.completions.create(ask("a short poem")).withResponse();
  assert.equal(data.choices[0].message.content, await s.primary.says("model-a", "a short poem"));
  assert.equal(data.choices[0].finish_reason, "stop");
  assert.equal(data.choices[0].message.role, "assistant");
  assert.equal(data.object, "chat.completion");
  assert.equal(data.model, "model-a");
  assert.ok(data.usage.total_tokens > 0);
  assert.equal(response.headers.get("x-backstop-tier"), "primary");
  assert.equal(response.headers.get("x-backstop-upstream"), "primary");
  assert.equal(response.headers.get("x-backstop-attempts"), "1");
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.ok(data._request_id);
  assert.equal(data._request_id, response.headers.get("request-id"));
  assert.equal(traffic.answers.length, 1);
});

test("chat: the base URL works without /v1", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s, { baseURL: s.url });
  const answer = await openai.chat.completions.create(ask("a short poem"));
  assert.equal(answer.choices[0].message.content, await s.primary.says("model-a", "a short poem"));
});

for (const [fault, reason] of [
  ["hang", /^hang/],
  ["503", /^broken/],
  ["429:retry-after=7", /^limited/],
  ["reset", /^broken/],
  ["stall@5", /^hang/],
  ["cut@5", /^(broken|garbled)/],
  ["nofinish@5", /./],
  ["blank", /./],
]) {
  test(`chat: a primary with the fault ${fault} is not noticed`, async (t) => {
    const s = await stack(t, { config: { defaults: { allow_private: true, proxy: "off", timeouts: { first_token: "700ms", idle: "700ms" } } } });
    const { openai, traffic } = sdk(s);
    await s.primary.fault(fault);
    const { data, response } = await openai.chat.completions.create(ask("a short poem")).withResponse();
    assert.equal(data.choices[0].message.content, await s.backup.says("model-b", "a short poem"));
    assert.equal(data.model, "model-b");
    assert.equal(response.headers.get("x-backstop-tier"), "backup");
    assert.match(response.headers.get("x-backstop-reason") ?? "(none)", reason);
    assert.equal(traffic.answers.length, 1);
  });
}

test("chat: the last resort is a complete answer", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("503");
  await s.backup.fault("hang");
  const { data, response } = await openai.chat.completions.create(ask("a short poem")).withResponse();
  assert.equal(data.choices[0].message.content, templateText);
  assert.equal(data.choices[0].finish_reason, "stop");
  assert.equal(data.model, "backstop-template");
  assert.equal(typeof data.x_backstop, "object");
  assert.equal(typeof data.usage.total_tokens, "number");
  assert.equal(response.headers.get("x-backstop-tier"), "local");
  assert.equal(response.headers.get("x-backstop-upstream"), "template");
  assert.equal(traffic.answers.length, 1);
});

test("stream: the same text as the plain answer, with one id and model, and usage only if asked for", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  const plain = await collect(await openai.chat.completions.create({ ...ask("a short poem"), stream: true }));
  assert.equal(plain.text, await s.primary.says("model-a", "a short poem"));
  assert.deepEqual(plain.finish, ["stop"]);
  assert.ok(one(plain.chunks.map((c) => c.id)));
  assert.ok(one(plain.chunks.map((c) => c.model)));
  assert.equal(plain.usage.length, 0);
  assert.ok(plain.chunks.every((c) => c.choices.length === 1), "a usage chunk that nobody asked for");

  const counting = await collect(
    await openai.chat.completions.create({ ...ask("a short poem"), stream: true, stream_options: { include_usage: true } }),
  );
  assert.equal(counting.usage.length, 1);
  assert.deepEqual(counting.chunks.at(-1).choices, []);
  assert.equal(traffic.answers.length, 2);
});

for (const fault of ["hang", "503", "keepalive:200ms", "role-only", "empty", "error-first", "html"]) {
  test(`stream: a primary with the fault ${fault} before the first token is not noticed`, async (t) => {
    const s = await stack(t);
    const { openai, traffic } = sdk(s);
    await s.primary.fault(fault);
    const got = await collect(await openai.chat.completions.create({ ...ask("a short poem"), stream: true }));
    assert.equal(got.text, await s.backup.says("model-b", "a short poem"));
    assert.deepEqual(got.finish, ["stop"]);
    assert.ok(one(got.chunks.map((c) => c.model)));
    assert.equal(traffic.answers.length, 1);
    assert.equal(traffic.answers[0].headers.get("x-backstop-tier"), "backup");
  });
}

test("chat: two choices and their logprobs arrive", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  const two = { ...ask("a short poem"), n: 2, max_tokens: 20 };
  for (const more of [{}, { logprobs: true, top_logprobs: 1 }]) {
    const { choices } = await openai.chat.completions.create({ ...two, ...more });
    assert.deepEqual(choices.map((c) => c.index), [0, 1]);
    assert.notEqual(choices[0].message.content, choices[1].message.content);
    for (const choice of choices) {
      assert.equal(choice.finish_reason, "length");
      if (more.logprobs) assert.equal(choice.logprobs.content.map((e) => e.token).join(""), choice.message.content);
    }
  }
});

test("stream: the last resort is a whole stream, with usage if asked for", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  await s.primary.fault("503");
  await s.backup.fault("503");
  for (const include_usage of [false, true]) {
    const got = await collect(await openai.chat.completions.create({ ...ask("hello"), stream: true, stream_options: { include_usage } }));
    assert.equal(got.text, templateText);
    assert.deepEqual(got.finish, ["stop"]);
    assert.equal(got.usage.length, include_usage ? 1 : 0);
    assert.equal(got.chunks[0].choices[0].delta.role, "assistant");
  }
});

test("stream: the end mark that an upstream forgets is there for the caller", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  await s.primary.fault("nodone");
  const got = await collect(await openai.chat.completions.create({ ...ask("a short poem"), stream: true }));
  assert.equal(got.text, await s.primary.says("model-a", "a short poem"));
  assert.deepEqual(got.finish, ["stop"]);
});

for (const fault of ["cut@8", "stall@8", "nofinish@8", "error-mid@8"]) {
  test(`stream: after the first token ${fault} with rescue off is an error, never a short text`, async (t) => {
    const s = await stack(t, {
      config: {
        defaults: { allow_private: true, proxy: "off", timeouts: { first_token: "700ms", idle: "700ms" } },
        routes: [{ model: "assistant", stream: { rescue: "off" }, tiers: [{ upstream: "primary", model: "model-a" }, { upstream: "backup", model: "model-b" }] }],
      },
    });
    const { openai, traffic } = sdk(s);
    await s.primary.fault(fault);
    await assert.rejects(
      async () => collect(await openai.chat.completions.create({ ...ask("a short poem"), stream: true })),
      (err) => err instanceof OpenAI.APIError && typeof err.code === "string" && err.code.length > 0,
    );
    assert.equal(traffic.answers.length, 1);
  });
}

test("stream: the SDK's own accumulator is content, and the caller who leaves frees the upstream within a second", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  const whole = openai.chat.completions.stream(ask("a short poem"));
  assert.equal(await whole.finalContent(), await s.primary.says("model-a", "a short poem"));

  await s.primary.forget();
  await s.primary.fault("drip:300ms");
  const left = await openai.chat.completions.create({ ...ask("a short poem"), stream: true });
  for await (const chunk of left) if (chunk.choices[0]?.delta.content) break;
  const last = Date.now() + 1_000;
  let ended;
  do {
    await new Promise((resolve) => setTimeout(resolve, 50));
    ended = (await s.primary.attempts())[0].ended;
  } while (ended === "open" && Date.now() < last);
  assert.equal(ended, "canceled");
});

test("tools: a streamed tool call arrives whole", async (t) => {
  const s = await stack(t);
  const { openai, traffic } = sdk(s);
  await s.primary.fault("toolcall");
  const tools = [weather()];
  const got = await collect(await openai.chat.completions.create({ ...ask("weather in Rome?"), tools, stream: true }));
  const parts = got.chunks.flatMap((c) => c.choices[0]?.delta.tool_calls ?? []);
  assert.match(parts[0].id, /^call_/);
  assert.equal(parts[0].function.name, "weather");
  assert.ok(parts.every((p) => p.index === 0));
  const streamed = JSON.parse(parts.map((p) => p.function.arguments).join(""));
  assert.equal(typeof streamed.city, "string");
  assert.deepEqual(got.finish, ["tool_calls"]);

  const helped = openai.chat.completions.stream({ ...ask("weather in Rome?"), tools });
  const call = await helped.finalFunctionToolCall();
  assert.deepEqual(JSON.parse(call.arguments), streamed);

  const plain = await openai.chat.completions.create({ ...ask("weather in Rome?"), tools });
  assert.deepEqual(JSON.parse(plain.choices[0].message.tool_calls[0].function.arguments), streamed);
  assert.equal(plain.choices[0].finish_reason, "tool_calls");
  assert.equal(traffic.answers.length, 3);
});

test("tools: a call of the backup stands in for a silent primary", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  await s.primary.fault("hang");
  await s.backup.fault("toolcall");
  const call = await openai.chat.completions.stream({ ...ask("weather in Rome?"), tools: [weather()] }).finalFunctionToolCall();
  assert.equal(call.name, "weather");
  assert.equal(typeof JSON.parse(call.arguments).city, "string");
});

test("tools: arguments that were cut off never look finished", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  await s.primary.fault("toolcall:truncated");
  await s.backup.fault("toolcall:truncated");
  const plain = await openai.chat.completions.create({ ...ask("weather in Rome?", "bare"), tools: [weather()] });
  assert.equal(plain.choices[0].finish_reason, "length");
  const got = await collect(await openai.chat.completions.create({ ...ask("weather in Rome?", "bare"), tools: [weather()], stream: true }));
  assert.deepEqual(got.finish, ["length"]);
});

test("embeddings: numbers and base64 are the same vectors, and only a tier with the same model stands in", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  const input = ["red", "green"];
  const packed = await openai.embeddings.create({ model: "vectors", input });
  const listed = await openai.embeddings.create({ model: "vectors", input, encoding_format: "float" });
  assert.equal(packed.data.length, 2);
  assert.equal(packed.data[0].embedding.length, 64);
  for (const [i, vector] of listed.data.entries()) {
    for (const [j, number] of vector.embedding.entries()) assert.ok(Math.abs(number - packed.data[i].embedding[j]) < 1e-6);
  }
  await s.primary.fault("503");
  const { data, response } = await openai.embeddings.create({ model: "vectors", input }).withResponse();
  assert.equal(data.data.length, 2);
  assert.equal(response.headers.get("x-backstop-tier"), "backup");
  await assert.rejects(openai.embeddings.create({ model: "assistant", input }), OpenAI.APIError);
});

test("models: the exact names of the routes", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  const names = [];
  for await (const model of openai.models.list()) names.push(model.id);
  assert.deepEqual(names.sort(), ["assistant", "bare", "vectors"]);
  assert.equal((await openai.models.retrieve("bare")).id, "bare");
  await assert.rejects(openai.models.retrieve("nobody"), OpenAI.NotFoundError);
});

test("completions: the older endpoint, plain and streamed", async (t) => {
  const s = await stack(t);
  const { openai } = sdk(s);
  const plain = await openai.completions.create({ model: "assistant", prompt: "a short poem" });
  assert.ok(plain.choices[0].text.length > 0);
  let text = "";
  for await (const chunk of await openai.completions.create({ model: "assistant", prompt: "a short poem", stream: true })) {
    text += chunk.choices[0]?.text ?? "";
  }
  assert.equal(text, plain.choices[0].text);
  await s.primary.fault("hang");
  const saved = await openai.completions.create({ model: "assistant", prompt: "a short poem" });
  assert.notEqual(saved.choices[0].text, plain.choices[0].text);
  await s.backup.fault("503");
  assert.equal((await openai.completions.create({ model: "assistant", prompt: "a short poem" })).choices[0].text, templateText);
});

function weather() {
  return {
    type: "function",
    function: {
      name: "weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
    },
  };
}
