// The article's caller: an application that guards itself with a breaker of
// its own, asks a model by POST {prompt}, falls back to a second URL and mends
// a fenced JSON answer. It knows nothing of the gateway; only its URLs change.
import axios from "axios";

export interface Settings {
  failureThreshold: number; // consecutive failures that open the breaker
  resetTimeoutMs: number; // how long it then stays open
  requestTimeoutMs: number; // bound of one request
}

export interface Reply {
  text: string;
  from: "primary" | "fallback" | "none";
  fallback: boolean; // nobody answered
}

interface Completion {
  choices: { text: string }[];
}

export class ArticleCaller {
  private failures = 0;
  private openUntil = 0;

  constructor(private readonly settings: Settings) {}

  get open(): boolean {
    return Date.now() < this.openUntil;
  }

  // executeWithFallback asks the primary unless its breaker is open, then the
  // fallback; it never rejects.
  async executeWithFallback(prompt: string, primaryUrl: string, fallbackUrl: string): Promise<Reply> {
    if (!this.open) {
      try {
        const text = await this.ask(primaryUrl, prompt);
        this.failures = 0;
        return { text, from: "primary", fallback: false };
      } catch {
        this.count();
      }
    }
    try {
      return { text: await this.ask(fallbackUrl, prompt), from: "fallback", fallback: false };
    } catch {
      return { text: "", from: "none", fallback: true };
    }
  }

  private async ask(url: string, prompt: string): Promise<string> {
    const response = await axios.post<Completion>(url, { prompt }, { timeout: this.settings.requestTimeoutMs });
    const text = response.data.choices[0]?.text;
    if (!text) throw new Error("the answer has no text");
    return text;
  }

  private count(): void {
    this.failures += 1;
    if (this.failures >= this.settings.failureThreshold) {
      this.failures = 0;
      this.openUntil = Date.now() + this.settings.resetTimeoutMs;
    }
  }
}

// parseAnswer reads JSON that a model may have put into a Markdown fence.
export function parseAnswer(text: string): unknown {
  const fenced = /^\s*```[a-z]*\s*\n([\s\S]*?)\n?```\s*$/i.exec(text);
  return JSON.parse(fenced?.[1] ?? text);
}
