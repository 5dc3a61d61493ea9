// What all callers ask for: one tool, and one form of JSON.
import { z } from "zod";

export const Answer = z.object({ answer: z.string() });
export const Place = z.object({ city: z.string() });

export const weather = {
  name: "weather",
  description: "the weather of a city",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
};

// ends gives the words of the SDKs for a clean end one spelling.
export function ended(word) {
  return ["stop", "end_turn", "completed", "STOP"].includes(word) ? "stop" : (word ?? "none");
}

// versionOf reads which version of a package is installed.
export function versionOf(require, name) {
  for (const folder of require.resolve.paths(name)) {
    try {
      return require(`${folder}/${name}/package.json`).version;
    } catch {
      continue;
    }
  }
  throw new Error(`${name} is not installed: run npm ci`);
}
