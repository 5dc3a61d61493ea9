// The official @google/genai.
import { createRequire } from "node:module";

import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from "@google/genai";
import { z } from "zod";

import { Answer, ended, versionOf, weather } from "./words.mjs";

const version = versionOf(createRequire(import.meta.url), "@google/genai");
const tools = [{ functionDeclarations: [{ name: weather.name, description: weather.description, parametersJsonSchema: weather.schema }] }];
const promised = { responseMimeType: "application/json", responseJsonSchema: z.toJSONSchema(Answer) };

class Caller {
  constructor(url) {
    this.models = new GoogleGenAI({ apiKey: "key-of-nobody", httpOptions: { baseUrl: url } }).models;
  }

  async ask(model, contents) {
    const answer = await this.models.generateContent({ model, contents });
    return { text: answer.text, finish: ended(answer.candidates[0].finishReason), tokens: answer.usageMetadata.candidatesTokenCount };
  }

  async stream(model, contents) {
    const got = { text: "", finish: "none", pieces: 0 };
    for await (const chunk of await this.models.generateContentStream({ model, contents })) {
      if (chunk.text) got.pieces++;
      got.text += chunk.text ?? "";
      const reason = chunk.candidates?.[0]?.finishReason;
      if (reason) got.finish = ended(reason);
    }
    return got;
  }

  async call(model, contents) {
    const calls = [];
    for await (const chunk of await this.models.generateContentStream({ model, contents, config: { tools } })) {
      for (const { name, args } of chunk.functionCalls ?? []) calls.push({ name, input: args });
    }
    return calls;
  }

  loop(model, prompt, run) {
    return this.turns(model, prompt, run, async (body) => (await this.models.generateContent(body)).candidates[0].content);
  }

  loopStream(model, prompt, run) {
    return this.turns(model, prompt, run, async (body) => {
      const parts = [];
      for await (const chunk of await this.models.generateContentStream(body)) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      return { role: "model", parts };
    });
  }

  async turns(model, prompt, run, ask) {
    const contents = [{ role: "user", parts: [{ text: prompt }] }];
    const toolConfig = { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } };
    const first = await ask({ model, contents, config: { tools, toolConfig } });
    const calls = first.parts.filter((p) => p.functionCall).map((p) => p.functionCall);
    const results = calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: run(args) } } }));
    contents.push(first, { role: "user", parts: results });
    const last = await ask({ model, contents, config: { tools } });
    return { text: last.parts.map((p) => p.text ?? "").join("") };
  }

  async parse(model, contents) {
    return Answer.parse(JSON.parse((await this.models.generateContent({ model, contents, config: promised })).text));
  }

  async parseStream(model, contents) {
    let text = "";
    for await (const chunk of await this.models.generateContentStream({ model, contents, config: promised })) text += chunk.text ?? "";
    return Answer.parse(JSON.parse(text));
  }

  failed(err) {
    if (!(err instanceof ApiError)) return undefined;
    const told = { status: err.status, message: err.message };
    const info = JSON.parse(err.message).error.details?.[0]; // it shows no headers, and an upstream's own words have no id of ours
    return info ? { ...told, id: info.metadata.request_id } : told;
  }

  broke(err, code) {
    return err instanceof ApiError && err.message.includes(code) ? err.message : undefined;
  }
}

export const callers = [
  { name: "@google/genai", package: "@google/genai", version, form: "gemini", signal: "fixed", open: (url) => new Caller(url) },
];
