// The OpenAI Agents SDK, with Responses and with chat completions. It runs its
// tool loop itself.
import { createRequire } from "node:module";

import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";

import { Answer, Place, versionOf, weather } from "./words.mjs";

setTracingDisabled(true);

const here = createRequire(import.meta.url);
const OpenAI = createRequire(here.resolve("@openai/agents-openai"))("openai").default;
const version = versionOf(here, "@openai/agents");

class Caller {
  constructor(url, useResponses) {
    const openAIClient = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-any" });
    this.runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }), tracingDisabled: true });
  }

  async ask(model, prompt) {
    const { finalOutput, rawResponses } = await this.runner.run(new Agent({ name: "asker", model }), prompt);
    return { text: finalOutput, finish: "stop", tokens: rawResponses[0].usage.outputTokens };
  }

  async stream(model, prompt) {
    const got = { text: "", finish: "none", pieces: 0 };
    const run = await this.runner.run(new Agent({ name: "asker", model }), prompt, { stream: true });
    for await (const text of run.toTextStream()) {
      got.pieces++;
      got.text += text;
    }
    await run.completed;
    if (run.finalOutput === got.text) got.finish = "stop"; // it has no word for the reason
    return got;
  }

  async call(model, prompt) {
    const calls = [];
    const agent = new Agent({ name: "caller", model, tools: [tooled((input) => String(calls.push({ name: weather.name, input })))], toolUseBehavior: "stop_on_first_tool" });
    const run = await this.runner.run(agent, prompt, { stream: true });
    for await (const _ of run);
    await run.completed;
    return calls;
  }

  async loop(model, prompt, run) {
    return { text: (await this.runner.run(looping(model, run), prompt)).finalOutput };
  }

  async loopStream(model, prompt, run) {
    const streamed = await this.runner.run(looping(model, run), prompt, { stream: true });
    await streamed.completed;
    return { text: streamed.finalOutput };
  }

  async parse(model, prompt) {
    return (await this.runner.run(new Agent({ name: "asker", model, outputType: Answer }), prompt)).finalOutput;
  }

  async parseStream(model, prompt) {
    const run = await this.runner.run(new Agent({ name: "asker", model, outputType: Answer }), prompt, { stream: true });
    await run.completed;
    return run.finalOutput;
  }

  failed(err) {
    if (!(err instanceof OpenAI.APIError)) return undefined;
    return { status: err.status, message: err.message, id: err.requestID };
  }

  broke(err, code) {
    return err instanceof OpenAI.APIError && err.code === code ? err.message : undefined;
  }
}

const tooled = (run) => tool({ name: weather.name, description: weather.description, parameters: Place, execute: async (input) => run(input) });


// looping has to call its tool once: the SDK takes that back itself.
const looping = (model, run) => new Agent({ name: "caller", model, tools: [tooled(run)], modelSettings: { toolChoice: "required" } });

export const callers = [
  { name: "@openai/agents", form: "responses", open: (url) => new Caller(url, true) },
  { name: "@openai/agents, chat", form: "chat", open: (url) => new Caller(url, false) },
].map((caller) => ({ package: "@openai/agents", version, signal: "fixed", ...caller }));
