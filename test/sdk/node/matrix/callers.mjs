// All SDKs, in the order of the table. Each caller: name, package, version,
// form (how it speaks), signal (the retry signal that its users should set),
// cannot (scenarios that the SDK itself rules out), open(url). What open returns:
//
//   ask(model, prompt)          {text, finish, tokens}
//   stream(model, prompt)       {text, finish, pieces}
//   call(model, prompt)         [{name, input}], streamed
//   loop, loopStream            {text}, after one forced call of run(input)
//   parse, parseStream          the JSON that was promised, parsed by the SDK
//   failed(err)                 {status, message, id} of the SDK's own error class;
//                               no id where the SDK cannot know it
//   broke(err, code)            the message of its error for an error frame in a stream
import { callers as aisdk } from "./callers/aisdk.mjs";
import { callers as agents } from "./callers/agents.mjs";
import { callers as anthropic } from "./callers/anthropic.mjs";
import { callers as genai } from "./callers/genai.mjs";
import { callers as langchain } from "./callers/langchain.mjs";
import { callers as openai } from "./callers/openai.mjs";

export const callers = [...openai, ...agents, ...aisdk, ...langchain, ...anthropic, ...genai];
