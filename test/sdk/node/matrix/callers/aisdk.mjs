// The AI SDK with each of its packages that speaks to us.
import { createRequire } from "node:module";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";

import { Answer, ended, Place, versionOf, weather } from "./words.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const require = createRequire(import.meta.url);

class Caller {
  constructor(models, providerOptions) {
    this.models = models;
    this.providerOptions = providerOptions;
  }

  asked(model, prompt) {
    return { model: this.models(model), prompt, providerOptions: this.providerOptions };
  }

  async ask(model, prompt) {
    const got = await generateText(this.asked(model, prompt));
    return { text: got.text, finish: ended(got.finishReason), tokens: got.usage.outputTokens };
  }

  async stream(model, prompt) {
    const got = { text: "", finish: "none", pieces: 0 };
    for await (const part of streamText({ ...this.asked(model, prompt), onError: () => {} }).fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "finish") got.finish = ended(part.finishReason);
      if (part.type !== "text-delta") continue;
      got.pieces++;
      got.text += part.text;
    }
    return got;
  }

  async call(model, prompt) {
    const tools = { weather: tool({ description: weather.description, inputSchema: Place }) };
    const calls = await streamText({ ...this.asked(model, prompt), tools }).toolCalls;
    return calls.map((c) => ({ name: c.toolName, input: c.input }));
  }

  async loop(model, prompt, run) {
    return { text: (await generateText(this.turns(model, prompt, run))).text };
  }

  async loopStream(model, prompt, run) {
    const steps = await streamText(this.turns(model, prompt, run)).steps;
    return { text: steps.at(-1).text };
  }

  turns(model, prompt, run) {
    const tools = { weather: tool({ description: weather.description, inputSchema: Place, execute: async (input) => run(input) }) };
    const prepareStep = ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "auto" });
    return { ...this.asked(model, prompt), tools, prepareStep, stopWhen: stepCountIs(3) };
  }

  async parse(model, prompt) {
    return (await generateObject({ ...this.asked(model, prompt), schema: Answer })).object;
  }

  async parseStream(model, prompt) {
    const streamed = streamObject({ ...this.asked(model, prompt), schema: Answer, onError: () => {} });
    for await (const _ of streamed.partialObjectStream); // nothing moves unless it is read
    return streamed.object;
  }

  failed(err) {
    if (!APICallError.isInstance(err)) return undefined;
    return { status: err.statusCode, message: err.message, id: err.responseHeaders["x-request-id"] };
  }

  // Inside a stream its error part holds the error frame as it was read;
  // Anthropic's SDK package leaves the code out of it.
  broke(err, code) {
    return (err?.code ?? code) === code ? err?.message : undefined;
  }
}

// These two look at the first event of a stream, and treat an error there as
// one that has to be tried again.
const cannot = { "@ai-sdk/openai": ["late error"], "@ai-sdk/anthropic": ["late error"] };

// The SDK's packages ask without structured outputs unless they know the model
// by its name, or are told.
const made = [
  ["@ai-sdk/openai", "", "responses", (url) => new Caller(createOpenAI({ baseURL: `${url}/v1`, apiKey: "sk-any" }))],
  ["@ai-sdk/openai", ", chat", "chat", (url) => new Caller(createOpenAI({ baseURL: `${url}/v1`, apiKey: "sk-any" }).chat)],
  ["@ai-sdk/openai-compatible", "", "chat", (url) => new Caller(createOpenAICompatible({ name: "backstop", baseURL: `${url}/v1`, apiKey: "sk-any", supportsStructuredOutputs: true }))],
  ["@ai-sdk/anthropic", "", "messages", (url) => new Caller(createAnthropic({ baseURL: `${url}/v1`, apiKey: "sk-any" }), { anthropic: { structuredOutputMode: "outputFormat" } })],
];

export const callers = made.map(([name, more, form, open]) => ({
  name: name + more, package: name, version: versionOf(require, name), form, signal: "adaptive", cannot: cannot[name], open,
}));
