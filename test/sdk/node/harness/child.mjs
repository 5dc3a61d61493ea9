// Child processes that end with the test process, whatever ends it.
import { spawn } from "node:child_process";
import { once } from "node:events";

const alive = new Set();

process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});
for (const [signal, number] of [["SIGINT", 2], ["SIGTERM", 15], ["SIGHUP", 1]]) {
  process.on(signal, () => process.exit(128 + number));
}

const keptOutput = 256 * 1024;

export class Child {
  constructor(binary, args, options = {}) {
    this.output = "";
    this.process = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    alive.add(this.process);
    this.process.on("exit", () => alive.delete(this.process));
    this.process.on("error", (err) => {
      alive.delete(this.process);
      this.output += `${err}\n`;
    });
    for (const pipe of [this.process.stdout, this.process.stderr]) {
      pipe.setEncoding("utf8");
      pipe.on("data", (text) => {
        this.output = (this.output + text).slice(-keptOutput);
        if (process.env.BACKSTOP_SDK_OUTPUT) process.stderr.write(text);
      });
    }
  }

  get ended() {
    return this.process.pid === undefined || this.process.exitCode !== null || this.process.signalCode !== null;
  }

  // until waits for find to return something; the child must live so long.
  async until(what, find, limitMs = 60_000) {
    const last = Date.now() + limitMs;
    for (;;) {
      const found = await find(this.output);
      if (found) return found;
      if (this.ended) throw new Error(`${what}: the process ended:\n${this.output}`);
      if (Date.now() > last) throw new Error(`${what}: not within ${limitMs} ms:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  // end asks the process to stop and, if it does not, kills it.
  async end(signal = "SIGINT") {
    if (this.ended) return;
    const over = once(this.process, "exit");
    this.process.kill(signal);
    const hard = setTimeout(() => this.process.kill("SIGKILL"), 5_000);
    await over;
    clearTimeout(hard);
  }
}
