// The official openai package, with chat completions and with Responses. It is
// here twice: version 6, and version 7 as @openai/agents brings it.
import { createRequire } from "node:module";

import { Answer, ended, versionOf, weather } from "./words.mjs";

const here = createRequire(import.meta.url);
const agents = createRequire(here.resolve("@openai/agents"));

export const callers = [here, agents].flatMap((require) => {
  const version = versionOf(require, "openai");
  const sdk = { OpenAI: require("openai").default, zod: require("openai/helpers/zod") };
  return [
    { name: `openai ${major(version)}, chat`, package: "openai", version, form: "chat", signal: "fixed", open: (url) => new Chat(sdk, url) },
    { name: `openai ${major(version)}, Responses`, package: "openai", version, form: "responses", signal: "fixed", open: (url) => new Responses(sdk, url) },
  ];
});

function major(version) {
  return version.split(".")[0];
}

class Caller {
  constructor({ OpenAI, zod }, url) {
    this.OpenAI = OpenAI;
    this.zod = zod;
    this.openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-any" });
  }

  failed(err) {
    if (!(err instanceof this.OpenAI.APIError)) return undefined;
    return { status: err.status, message: err.message, id: err.requestID };
  }

  broke(err, code) {
    return err instanceof this.OpenAI.APIError && err.code === code ? err.message : undefined;
  }
}

class Chat extends Caller {
  static tool = { type: "function", function: { name: weather.name, description: weather.description, parameters: weather.schema } };

  async ask(model, prompt) {
    const { choices, usage } = await this.openai.chat.completions.create(question(model, prompt));
    return { text: choices[0].message.content, finish: ended(choices[0].finish_reason), tokens: usage.completion_tokens };
  }

  async stream(model, prompt) {
    const got = { text: "", finish: "none", pieces: 0 };
    for await (const chunk of await this.openai.chat.completions.create({ ...question(model, prompt), stream: true })) {
      const [choice] = chunk.choices;
      if (choice?.delta.content) got.pieces++;
      got.text += choice?.delta.content ?? "";
      if (choice?.finish_reason) got.finish = ended(choice.finish_reason);
    }
    return got;
  }

  async call(model, prompt) {
    const { choices } = await this.openai.chat.completions.stream({ ...question(model, prompt), tools: [Chat.tool] }).finalChatCompletion();
    return choices[0].message.tool_calls.map((c) => ({ name: c.function.name, input: JSON.parse(c.function.arguments) }));
  }

  loop(model, prompt, run) {
    return this.turns(model, prompt, run, (body) => this.openai.chat.completions.create(body));
  }

  loopStream(model, prompt, run) {
    return this.turns(model, prompt, run, (body) => this.openai.chat.completions.stream(body).finalChatCompletion());
  }

  async turns(model, prompt, run, ask) {
    const asked = { ...question(model, prompt), tools: [Chat.tool] };
    const first = await ask({ ...asked, tool_choice: "required" });
    const { message } = first.choices[0];
    const results = message.tool_calls.map((c) => ({ role: "tool", tool_call_id: c.id, content: run(JSON.parse(c.function.arguments)) }));
    const second = await ask({ ...asked, messages: [...asked.messages, message, ...results] });
    return { text: second.choices[0].message.content };
  }

  async parse(model, prompt) {
    const { choices } = await this.openai.chat.completions.parse({ ...question(model, prompt), response_format: this.zod.zodResponseFormat(Answer, "answer") });
    return choices[0].message.parsed;
  }

  async parseStream(model, prompt) {
    const asked = { ...question(model, prompt), response_format: this.zod.zodResponseFormat(Answer, "answer") };
    return (await this.openai.chat.completions.stream(asked).finalChatCompletion()).choices[0].message.parsed;
  }
}

const question = (model, prompt) => ({ model, messages: [{ role: "user", content: prompt }] });

class Responses extends Caller {
  static tool = { type: "function", name: weather.name, description: weather.description, parameters: weather.schema, strict: true };

  async ask(model, input) {
    const answer = await this.openai.responses.create({ model, input });
    return { text: answer.output_text, finish: ended(answer.status), tokens: answer.usage.output_tokens };
  }

  async stream(model, input) {
    const got = { text: "", finish: "none", pieces: 0 };
    let number = -1;
    for await (const event of await this.openai.responses.create({ model, input, stream: true })) {
      if (event.sequence_number !== ++number) throw new Error(`event ${number} has the number ${event.sequence_number}`);
      if (event.type === "response.output_text.delta") {
        got.pieces++;
        got.text += event.delta;
      }
      if (event.type === "response.completed") {
        got.finish = ended(event.response.status);
        const last = event.response.output.flatMap((item) => item.content ?? []).map((part) => part.text).join("");
        if (last !== got.text) throw new Error(`the last event has another text: ${last}`);
      }
    }
    return got;
  }

  async call(model, input) {
    const { output } = await this.openai.responses.stream({ model, input, tools: [Responses.tool] }).finalResponse();
    return output.filter((item) => item.type === "function_call").map((c) => ({ name: c.name, input: JSON.parse(c.arguments) }));
  }

  loop(model, prompt, run) {
    return this.turns(model, prompt, run, (body) => this.openai.responses.create(body));
  }

  loopStream(model, prompt, run) {
    return this.turns(model, prompt, run, (body) => this.openai.responses.stream(body).finalResponse());
  }

  async turns(model, prompt, run, ask) {
    const asked = { model, tools: [Responses.tool] };
    const input = [{ role: "user", content: prompt }];
    const { output } = await ask({ ...asked, input, tool_choice: "required" });
    const results = output
      .filter((item) => item.type === "function_call")
      .map((c) => ({ type: "function_call_output", call_id: c.call_id, output: run(JSON.parse(c.arguments)) }));
    return { text: (await ask({ ...asked, input: [...input, ...output, ...results] })).output_text };
  }

  async parse(model, input) {
    return (await this.openai.responses.parse({ model, input, text: { format: this.zod.zodTextFormat(Answer, "answer") } })).output_parsed;
  }

  async parseStream(model, input) {
    const asked = { model, input, text: { format: this.zod.zodTextFormat(Answer, "answer") } };
    return (await this.openai.responses.stream(asked).finalResponse()).output_parsed;
  }
}
