// The official @anthropic-ai/sdk.
import { createRequire } from "node:module";

import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";

import { Answer, ended, versionOf, weather } from "./words.mjs";

const version = versionOf(createRequire(import.meta.url), "@anthropic-ai/sdk");
const tools = [{ name: weather.name, description: weather.description, input_schema: weather.schema }];
const question = (model, prompt) => ({ model, max_tokens: 1_000, messages: [{ role: "user", content: prompt }] });
const textOf = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");
const callsOf = (message) => message.content.filter((b) => b.type === "tool_use");

class Caller {
  constructor(url) {
    this.anthropic = new Anthropic({ baseURL: url, apiKey: "sk-any" });
  }

  async ask(model, prompt) {
    const message = await this.anthropic.messages.create(question(model, prompt));
    return { text: textOf(message), finish: ended(message.stop_reason), tokens: message.usage.output_tokens };
  }

  async stream(model, prompt) {
    const got = { text: "", finish: "none", pieces: 0 };
    for await (const event of await this.anthropic.messages.create({ ...question(model, prompt), stream: true })) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
        got.pieces++;
        got.text += event.delta.text;
      }
      if (event.type === "message_delta") got.finish = ended(event.delta.stop_reason);
    }
    return got;
  }

  async call(model, prompt) {
    const message = await this.anthropic.messages.stream({ ...question(model, prompt), tools }).finalMessage();
    return callsOf(message).map(({ name, input }) => ({ name, input }));
  }

  loop(model, prompt, run) {
    return this.turns(model, prompt, run, (body) => this.anthropic.messages.create(body));
  }

  loopStream(model, prompt, run) {
    return this.turns(model, prompt, run, (body) => this.anthropic.messages.stream(body).finalMessage());
  }

  async turns(model, prompt, run, ask) {
    const asked = { ...question(model, prompt), tools };
    const first = await ask({ ...asked, tool_choice: { type: "any" } });
    const results = callsOf(first).map((c) => ({ type: "tool_result", tool_use_id: c.id, content: run(c.input) }));
    const messages = [...asked.messages, { role: "assistant", content: first.content }, { role: "user", content: results }];
    return { text: textOf(await ask({ ...asked, messages })) };
  }

  async parse(model, prompt) {
    return (await this.anthropic.messages.parse({ ...question(model, prompt), output_config: { format: zodOutputFormat(Answer) } })).parsed_output;
  }

  async parseStream(model, prompt) {
    const asked = { ...question(model, prompt), output_config: { format: zodOutputFormat(Answer) } };
    return (await this.anthropic.messages.stream(asked).finalMessage()).parsed_output;
  }

  failed(err) {
    if (!(err instanceof Anthropic.APIError)) return undefined;
    return { status: err.status, message: err.message, id: err.requestID };
  }

  broke(err, code) {
    return err instanceof Anthropic.APIError && err.error?.error?.code === code ? err.error.error.message : undefined;
  }
}

export const callers = [
  { name: "@anthropic-ai/sdk", package: "@anthropic-ai/sdk", version, form: "messages", signal: "fixed", open: (url) => new Caller(url) },
];
