// LangChain's ChatOpenAI, with chat completions and with Responses.
import { createRequire } from "node:module";

import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { Answer, ended, Place, versionOf, weather } from "./words.mjs";

// LangChain's tracing is off unless its variables are set.
for (const name of Object.keys(process.env)) if (/^LANG(CHAIN|SMITH)_/.test(name)) delete process.env[name];

const version = versionOf(createRequire(import.meta.url), "@langchain/openai");
const tools = [{ name: weather.name, description: weather.description, schema: Place }];

// finishOf: chat says a reason, Responses a status.
const finishOf = ({ response_metadata: m }) => ended(m.finish_reason ?? m.status);

// joined is the message that the pieces of a stream are.
async function joined(stream) {
  let whole;
  for await (const chunk of stream) whole = whole ? whole.concat(chunk) : chunk;
  return whole;
}

class Caller {
  constructor(url, useResponsesApi) {
    this.url = url;
    this.useResponsesApi = useResponsesApi;
  }

  model(model) {
    return new ChatOpenAI({ model, apiKey: "sk-any", useResponsesApi: this.useResponsesApi, configuration: { baseURL: `${this.url}/v1` } });
  }

  async ask(model, prompt) {
    const answer = await this.model(model).invoke(prompt);
    return { text: answer.text, finish: finishOf(answer), tokens: answer.usage_metadata.output_tokens };
  }

  async stream(model, prompt) {
    const got = { text: "", finish: "none", pieces: 0 };
    let whole;
    for await (const chunk of await this.model(model).stream(prompt)) {
      if (chunk.text) got.pieces++;
      got.text += chunk.text;
      whole = whole ? whole.concat(chunk) : chunk;
    }
    return { ...got, finish: finishOf(whole) };
  }

  async call(model, prompt) {
    const whole = await joined(await this.model(model).bindTools(tools).stream(prompt));
    return whole.tool_calls.map((c) => ({ name: c.name, input: c.args }));
  }

  loop(model, prompt, run) {
    return this.turns(model, prompt, run, (bound, messages) => bound.invoke(messages));
  }

  loopStream(model, prompt, run) {
    return this.turns(model, prompt, run, async (bound, messages) => joined(await bound.stream(messages)));
  }

  async turns(model, prompt, run, ask) {
    const asked = [new HumanMessage(prompt)];
    const first = await ask(this.model(model).bindTools(tools, { tool_choice: weather.name }), asked);
    const results = first.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: run(c.args) }));
    return { text: (await ask(this.model(model).bindTools(tools), [...asked, first, ...results])).text };
  }

  async parse(model, prompt) {
    return this.model(model).withStructuredOutput(Answer, { method: "jsonSchema", name: "answer" }).invoke(prompt);
  }

  async parseStream(model, prompt) {
    let last;
    for await (const value of await this.model(model).withStructuredOutput(Answer, { method: "jsonSchema", name: "answer" }).stream(prompt)) last = value;
    return last;
  }

  failed(err) {
    if (typeof err?.status !== "number") return undefined;
    return { status: err.status, message: err.message, id: err.requestID };
  }

  broke(err, code) {
    return err instanceof Error && err.code === code ? err.message : undefined;
  }
}

export const callers = [
  { name: "@langchain/openai", form: "chat", open: (url) => new Caller(url, false) },
  { name: "@langchain/openai, useResponsesApi", form: "responses", open: (url) => new Caller(url, true) },
].map((caller) => ({ package: "@langchain/openai", version, signal: "adaptive", ...caller }));
