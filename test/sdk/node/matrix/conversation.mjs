// A conversation as an upstream got it: the tool calls and the results in it,
// whatever the dialect.

const read = {
  "/chat/completions": (body) => ({
    calls: body.messages.flatMap((m) => m.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) })),
    results: body.messages.filter((m) => m.role === "tool").map((m) => ({ id: m.tool_call_id, text: text(m.content) })),
  }),
  "/responses": (body) => ({
    calls: items(body).filter((i) => i.type === "function_call").map((c) => ({ id: c.call_id, name: c.name, input: JSON.parse(c.arguments) })),
    results: items(body).filter((i) => i.type === "function_call_output").map((r) => ({ id: r.call_id, text: text(r.output) })),
  }),
  "/messages": (body) => ({
    calls: blocks(body, "tool_use").map((c) => ({ id: c.id, name: c.name, input: c.input })),
    results: blocks(body, "tool_result").map((r) => ({ id: r.tool_use_id, text: text(r.content) })),
  }),
  // The id is optional in Gemini's calls; without one the name connects both.
  "enerateContent": (body) => ({
    calls: parts(body, "functionCall").map((c) => ({ id: c.id ?? c.name, name: c.name, input: c.args })),
    results: parts(body, "functionResponse").map((r) => ({ id: r.id ?? r.name, text: JSON.stringify(r.response) })),
  }),
};

const items = (body) => (Array.isArray(body.input) ? body.input : []);
const blocks = (body, type) => body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === type);
const parts = (body, key) => body.contents.flatMap((c) => c.parts).filter((p) => p[key]).map((p) => p[key]);
const text = (content) => (typeof content === "string" ? content : content.map((p) => p.text).join(""));

// conversation is {calls: [{id, name, input}], results: [{id, text}]}.
export function conversation({ path, body }) {
  const form = Object.keys(read).find((end) => path.split("?")[0].endsWith(end));
  if (!form) throw new Error(`no conversation goes to ${path}`);
  return read[form](body);
}
