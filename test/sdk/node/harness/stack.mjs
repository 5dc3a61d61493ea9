// A whole stack for one test: two mocks and the gateway in front of them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";

import { Child } from "./child.mjs";
import { Mock } from "./mock.mjs";

export const templateText = "The assistant is busy, please try again in a minute.";

const primary = { upstream: "primary", model: "model-a" };
const backup = { upstream: "backup", model: "model-b" };
const local = { local: { template: { text: templateText, json: { fallback: true } } } };

// Routes: assistant ends in a template, bare does not, vectors has one model
// name on both tiers, as embeddings need it.
const routes = [
  { model: "assistant", tiers: [primary, backup, local] },
  { model: "bare", tiers: [primary, backup] },
  { model: "vectors", tiers: [{ ...primary, model: "embed-1" }, { ...backup, model: "embed-1" }] },
];

// stack starts everything and ends it with the test. Options: firstToken, and
// config, whose top-level keys replace those of the configuration below.
export async function stack(t, { firstToken = "700ms", config = {} } = {}) {
  const binary = process.env.BACKSTOP_BIN;
  if (!binary) throw new Error("BACKSTOP_BIN is not set: run the suite with `npm test`, which builds the binary");
  const folder = await mkdtemp(path.join(os.tmpdir(), "backstop-sdk-"));
  const started = [];
  t.after(async () => {
    await Promise.all(started.reverse().map((part) => part.end()));
    await rm(folder, { recursive: true, force: true });
  });
  const begin = async (make) => {
    const part = await make;
    started.push(part);
    return part;
  };
  const mocks = await Promise.all([begin(Mock.start(binary, 1)), begin(Mock.start(binary, 2))]);
  const file = path.join(folder, "backstop.yaml"); // JSON is YAML
  await writeFile(file, JSON.stringify({ ...plan(mocks, firstToken), ...config }, null, 2));
  const gateway = await begin(Gateway.start(binary, file));
  return { gateway, url: gateway.url, base: `${gateway.url}/v1`, agent: `${gateway.url}/api/agent`, primary: mocks[0], backup: mocks[1] };
}

function plan([first, second], firstToken) {
  return {
    admin: { token: "a-token-for-tests-only" },
    defaults: { allow_private: true, proxy: "off", timeouts: { first_token: firstToken } },
    upstreams: {
      primary: { base_url: first.base, key: "key-of-the-primary" },
      backup: { base_url: second.base, key: "key-of-the-backup" },
    },
    routes,
    drain: { delay: "0s", limit: "1s" },
    log: { format: "json" },
  };
}

export class Gateway {
  // start finds free ports; if another process is faster, it tries others.
  static async start(binary, file) {
    for (let tries = 3; ; tries--) {
      const [data, admin] = await freePorts(2);
      const gateway = new Gateway();
      gateway.url = `http://127.0.0.1:${data}`;
      gateway.child = new Child(binary, ["serve", "-c", file, "--listen", `127.0.0.1:${data}`, "--admin", `127.0.0.1:${admin}`]);
      try {
        await gateway.child.until("the gateway's readiness", () => ready(gateway.url));
        return gateway;
      } catch (err) {
        await gateway.end();
        if (tries === 0 || !/port is in use/.test(err.message)) throw err;
      }
    }
  }

  async end() {
    await this.child.end();
  }
}

async function ready(url) {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

async function freePorts(n) {
  const servers = Array.from({ length: n }, () => net.createServer());
  await Promise.all(servers.map((s) => new Promise((resolve) => s.listen(0, "127.0.0.1", resolve))));
  const ports = servers.map((s) => s.address().port);
  await Promise.all(servers.map((s) => new Promise((resolve) => s.close(resolve))));
  return ports;
}
