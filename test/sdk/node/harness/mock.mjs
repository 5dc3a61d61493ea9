// One mock model server, started from the built binary.
import { Child } from "./child.mjs";

// Background probes are tiny calls; they tell themselves apart by this limit.
const probeTokens = 16;

export class Mock {
  static async start(binary, seed) {
    const mock = new Mock();
    mock.child = new Child(binary, ["mock", "--listen", "127.0.0.1:0", "--seed", String(seed)]);
    mock.url = await mock.child.until("the mock's address", (out) => /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0]);
    return mock;
  }

  get base() {
    return `${this.url}/v1`;
  }

  // fault puts a fault into force for a model, "*" for all; "" takes it back.
  async fault(word, model = "*") {
    await this.control("POST", "/mock/faults", { model, fault: word });
  }

  // attempts are the requests seen, oldest first, without background probes.
  async attempts() {
    const { attempts } = await this.control("GET", "/mock/log");
    return attempts.filter((a) => a.max_tokens === 0 || a.max_tokens > probeTokens);
  }

  // says is the text of the mock's healthy answer, asked directly.
  async says(model, prompt) {
    const answer = await this.control("POST", "/v1/chat/completions", {
      model,
      messages: [{ role: "user", content: prompt }],
    });
    return answer.choices[0].message.content;
  }

  async forget() {
    await this.control("DELETE", "/mock/log");
  }

  async control(method, path, body) {
    const response = await fetch(this.url + path, {
      method,
      headers: { "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`mock ${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  async end() {
    await this.child.end("SIGTERM");
  }
}
