// Stands between a gateway and the mock and remembers what was sent, so that a
// test can read a conversation as the upstream got it.
import { once } from "node:events";
import http from "node:http";

import { conversation } from "./conversation.mjs";

const mostRequests = 1_000;

// Below this path the relay is an upstream that is down when a conversation
// begins and up when the result of a tool comes.
const late = "/late";

export class Relay {
  static async start(to) {
    const relay = new Relay();
    relay.requests = []; // {path, body}
    relay.agent = new http.Agent({ keepAlive: true });
    relay.server = http.createServer((request, response) => relay.pass(request, response, to));
    relay.server.listen(0, "127.0.0.1");
    await once(relay.server, "listening");
    relay.url = `http://127.0.0.1:${relay.server.address().port}`;
    relay.late = relay.url + late;
    return relay;
  }

  pass(request, response, to) {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const path = request.url.replace(late, "");
      const seen = { path, body: JSON.parse(body) };
      if (path !== request.url && conversation(seen).results.length === 0) {
        response.writeHead(503, { "content-type": "application/json" }).end('{"error":{"message":"not yet"}}');
        return;
      }
      this.remember(seen);
      const options = { method: request.method, headers: { ...request.headers, host: new URL(to).host }, agent: this.agent };
      const onward = http.request(to + path, options, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      onward.on("error", () => response.destroy());
      response.on("close", () => onward.destroy());
      onward.end(body);
    });
  }

  remember(seen) {
    this.requests.push(seen);
    this.requests.splice(0, this.requests.length - mostRequests);
  }

  // about lists the requests whose conversation holds a text.
  about(text) {
    return this.requests.filter(({ body }) => JSON.stringify(body).includes(text));
  }

  end() {
    this.agent.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }
}
